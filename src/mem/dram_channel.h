/* dram_channel.h: the state of a DRAM channel, shared by the files that are its parts. Inside mem/ only. */
#ifndef HEDDLE_DRAM_CHANNEL_H
#define HEDDLE_DRAM_CHANNEL_H

#include "mem/dram_queue.h"
#include "mem/ring.h"

enum {
    IDEAL_RETURNS = 4096
}; /* requests under way in a channel of infinite bandwidth: more than all MSHRs of its slices */

struct dram_way {
    tick came, ready;
    uint32_t req;
    uint16_t slice;
    uint8_t side; /* of the queue */
};

/* A queue of these. */
struct dram_ways {
    struct dram_way *at;
    struct ring ring;
};

/* By lines of the host's cache: the first says what there may be to do and when, the others come in the order in which a clock with something to do
 * needs them. Times that are not set are TICK_NEVER. */
struct dram_channel {
    tick wake, ticked;
    uint64_t ticked_clock; /* the clock of `ticked` */
    uint64_t command_next; /* no command may go before this clock */
    uint64_t busy_banks;   /* that work on a request */
    uint64_t refresh_next; /* the least of refresh_due */
    tick way_ready;        /* the head of `way` is at the queue */
    tick return_ready;     /* the data of the head of `returns` is complete */
    /* second line */
    struct dram_ways way;        /* requests on the fixed way */
    struct dram_ways returns;    /* reads, by ready time */
    uint32_t inside, inside_max; /* requests in the channel */
    uint32_t period;             /* of the command clock */
    uint8_t has_requests;        /* something is in a link of the slices, which says so; we take it back */
    bool is_held;                /* a read waits for a place in the return queue */
    bool is_infinite;
    bool is_simple; /* one rank, no refresh */
    /* third line */
    uint64_t all_banks;
    uint64_t pending_since;
    tick latency, latency_min; /* ticks */
    struct link **in, **out;
    struct req_pool *pool;
    uint16_t slices, turn;  /* turn: slice that is asked first */
    uint32_t returns_taken; /* with those that have a place but are not complete */
    struct dram_queue queue;
    uint64_t bank_at[DRAM_BANKS_MAX]; /* of a busy bank: no command to it before this clock */
    uint32_t current[DRAM_BANKS_MAX]; /* and the entry that it works on */
    struct dram_chips chips;
    struct dram_stats stats;
    const struct addrmap *map;
    uint32_t burst_sectors; /* 32-byte sectors of one burst */
    /* cold */
    uint32_t index;
    uint64_t refresh_due[DRAM_RANKS_MAX];
    struct dram_params params;
};
static_assert(offsetof(struct dram_channel, way) == HOST_LINE &&
                  offsetof(struct dram_channel, all_banks) == 2 * HOST_LINE &&
                  offsetof(struct dram_channel, queue) == 3 * HOST_LINE,
              "a channel's lines are what the comment says");

static inline struct dram_way *dram_way_at(const struct dram_ways *w, uint32_t i)
{
    return &w->at[ring_place(&w->ring, i)];
}
static inline tick dram_way_head(const struct dram_ways *w)
{
    return w->ring.count ? w->at[w->ring.head].ready : TICK_NEVER;
}

static inline uint64_t dram_channel_free_banks(const struct dram_channel *d)
{
    return d->all_banks & ~d->busy_banks;
}

/* A read that has no place in the return queue yet, and there is none. */
static inline bool dram_channel_is_held(const struct dram_channel *d, const struct dram_entry *e,
                                        enum dram_command c)
{
    return c == DRAM_READ && !e->begun && d->returns_taken == d->returns.ring.capacity;
}

static inline void dram_channel_wake(struct dram_channel *d, uint64_t clock)
{
    if (clock != UINT64_MAX) wake_at(&d->wake, clock * d->period);
}

/* dram.c: a read whose data is complete at its ready time. Its place is taken already. */
void dram_channel_add_return(struct dram_channel *d, const struct dram_way *r);
/* dram_work.c: free banks take requests; a command goes to the chips; refreshes that have come due. */
void dram_channel_take(struct dram_channel *d, uint64_t clock);
void dram_channel_command(struct dram_channel *d, uint64_t clock);
void dram_channel_refresh(struct dram_channel *d, uint64_t clock);

#endif
