/* copy.h: copy engines: their parameters, and how long a copy takes. See copy.c. */
#ifndef HEDDLE_COPY_H
#define HEDDLE_COPY_H

#include "config/param.h"
#include "stats/run.h"

struct copy_params {
    bool timed;
    uint32_t engines;
    /* MB/s */
    uint32_t to_device, to_host, on_device;
    uint32_t latency_ns;
};
extern const struct param_row copy_param_rows[];

struct machine;
struct timed_copy;
/* Core cycles from the begin of a copy to its end; 0: the copy takes no time. */
uint64_t copy_cycles(const struct machine *m, const struct timed_copy *c);
/* The engine that does copies of this kind. */
uint32_t copy_engine(const struct machine *m, enum timed_copy_kind kind);

#endif
