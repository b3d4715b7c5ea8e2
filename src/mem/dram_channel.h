/* dram_channel.h: the state of a DRAM channel, shared by the files that are its parts. Inside mem/ only. */
#ifndef HEDDLE_DRAM_CHANNEL_H
#define HEDDLE_DRAM_CHANNEL_H

#include "mem/dram_queue.h"

enum {
    IDEAL_RETURNS = 4096
}; /* requests under way in a channel of infinite bandwidth: more than all MSHRs of its slices */

struct dram_way {
    tick came, ready;
    uint32_t req;
    uint16_t slice;
};

struct dram_channel {
    tick wake, ticked;
    uint64_t ticked_clock;            /* the clock of `ticked` */
    uint64_t command_next;            /* no command may go before this clock */
    uint64_t bank_at[DRAM_BANKS_MAX]; /* of a busy bank: nor to it before this one */
    bool is_held;                     /* a read waits for a place in the return queue */
    uint64_t busy_banks;              /* that work on a request */
    uint32_t current[DRAM_BANKS_MAX];
    struct dram_chips chips;
    struct dram_queue queue;
    struct dram_way *way; /* ring: requests on the fixed way */
    uint32_t way_head, way_count;
    struct dram_way *returns; /* ring, by ready time */
    uint32_t returns_head, returns_count, returns_cap;
    uint32_t returns_taken;      /* with those that have a place but are not complete */
    uint32_t inside, inside_max; /* requests in the channel */
    uint32_t turn;               /* slice that is asked first */
    uint64_t refresh_due[DRAM_RANKS_MAX], refresh_next; /* of each rank; the least of them */
    uint64_t pending_since;
    tick latency, latency_min; /* ticks */
    uint32_t burst_sectors;    /* 32-byte sectors of one burst */

    struct dram_params params;
    struct dram_stats stats;
    const struct addrmap *map;
    const struct clock_domain *clock;
    struct req_pool *pool;
    struct link **in, **out;
    uint32_t slices, index;
};

static inline uint32_t dram_ring_at(uint32_t head, uint32_t i, uint32_t cap)
{
    return head + i < cap ? head + i : head + i - cap;
}

static inline uint64_t dram_channel_free_banks(const struct dram_channel *d)
{
    uint64_t all = d->params.banks == 64 ? UINT64_MAX : (1ull << d->params.banks) - 1;
    return all & ~d->busy_banks;
}

/* A read that has no place in the return queue yet, and there is none. */
static inline bool dram_channel_is_held(const struct dram_channel *d, const struct dram_entry *e,
                                        enum dram_command c)
{
    return c == DRAM_READ && !e->begun && d->returns_taken == d->returns_cap;
}

static inline void dram_channel_wake(struct dram_channel *d, uint64_t clock)
{
    if (clock != UINT64_MAX) wake_at(&d->wake, clock * d->clock->period);
}

/* dram.c: a read whose data is complete at its ready time. Its place is taken already. */
void dram_channel_add_return(struct dram_channel *d, const struct dram_way *r);
/* dram_work.c: free banks take requests; a command goes to the chips; refreshes that have come due. */
void dram_channel_take(struct dram_channel *d, uint64_t clock);
void dram_channel_command(struct dram_channel *d, uint64_t clock);
void dram_channel_refresh(struct dram_channel *d, uint64_t clock);

#endif
