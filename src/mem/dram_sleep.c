/* dram_sleep.c: how long a channel may put off its clocks. See dram_sleep.h. */
#include "mem/dram_sleep.h"

#include "mem/dram_channel.h"

tick dram_next_edge(const struct dram_channel *d, tick wake)
{
    const tick next = d->ticked + d->period;
    if (LIKELY(wake <= next)) return next;
    return wake == TICK_NEVER ? TICK_NEVER : round_up_u64(wake, d->period);
}

/* Does a slice of the channel wait for room in its link? */
static bool channel_has_waiting_slice(const struct dram_channel *d)
{
    bool waits = false;
    for (uint32_t s = 0; s < d->slices; s++) waits |= d->in[s]->producer_waits;
    return waits;
}

/* Slices see data that comes back, and room that is made for them where they wait for it. Data comes from a
 * read that is complete, or from one whose last command is not given before the wake. A complete read for
 * which its slice has no room is not given back before the wake either: the link wakes the channel. */
tick dram_seen_at(const struct dram_channel *d, tick wake)
{
    if (wake == TICK_NEVER) return TICK_NEVER;
    if (d->has_requests && channel_has_waiting_slice(d)) return wake;
    const tick complete = d->return_ready > d->ticked ? d->return_ready : wake;
    return MIN(complete, wake + d->read_time) + d->out_latency;
}
