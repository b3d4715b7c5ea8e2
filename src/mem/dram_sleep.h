/* dram_sleep.h: how long a channel may put off its clocks. It affects only the speed of the host: a channel
 * that runs at each of its edges has the same counts, and its slices see the same at the same time. */
#ifndef HEDDLE_DRAM_SLEEP_H
#define HEDDLE_DRAM_SLEEP_H

#include "mem/dram.h"

/* The edge at which a channel with this wake has its next tick. */
tick dram_next_edge(const struct dram_channel *d, tick wake);
/* A time before which no slice can see any effect of a channel with this wake: the channel may run its ticks
 * before that time as late as then, in order, without a difference to the slices. */
tick dram_seen_at(const struct dram_channel *d, tick wake);

#endif
