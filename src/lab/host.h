/* host.h: the machine that this process runs on. */
#ifndef HEDDLE_HOST_H
#define HEDDLE_HOST_H

#include "base/base.h"

enum { HOST_NAME_BYTES = 64 };

/* Seconds of a clock that never goes back. */
double host_now(void);
/* The cores that this process may use: affinity, and the processor quota of its group. */
uint32_t host_cores(void);
/* Memory that can be had without swapping, within the limits of its group. */
uint64_t host_free_bytes(void);
void host_name(char out[HOST_NAME_BYTES]);

#endif
