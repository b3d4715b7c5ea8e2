/* copy.h: the copy engines' parameters. See copy.c. */
#ifndef HEDDLE_COPY_H
#define HEDDLE_COPY_H

#include "config/param.h"

struct copy_params {
    bool timed;
    uint32_t engines;
    uint32_t to_device, to_host, on_device; /* MB/s */
    uint32_t latency_ns;
};
extern const struct param_row copy_param_rows[];

#endif
