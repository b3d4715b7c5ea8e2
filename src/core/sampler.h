/* sampler.h: the time series: what the machine did in each interval of a fixed number of core cycles. */
#ifndef HEDDLE_SAMPLER_H
#define HEDDLE_SAMPLER_H

#include "core/records.h"
#include "core/snapshot.h"

/* Written by sampler.c alone. */
struct sampler {
    /* when the next sample is taken; TICK_NEVER: none is */
    tick next;
    tick interval;
    /* snapshot at the last sample */
    void **before;
};

/* cycles 0: no time series. */
void sampler_init(struct sampler *s, const struct snapshots *snapshots, uint64_t cycles);
void sampler_close(struct sampler *s, uint32_t group_count);
/* Takes the sample that is due now. All components have settled. */
void sampler_take(struct sampler *s, const struct snapshots *snapshots, struct records *records);

#endif
