/* dram_channel.h: the state of a DRAM channel. Only its own files include this header. Inside mem/ only. */
#ifndef HEDDLE_DRAM_CHANNEL_H
#define HEDDLE_DRAM_CHANNEL_H

#include "mem/dram_queue.h"
#include "mem/ring.h"

/* Requests under way in a channel of infinite bandwidth: more than all MSHRs of its slices. */
enum { IDEAL_RETURNS = 4096 };

struct dram_way {
    tick came, ready;
    uint32_t req;
    uint16_t slice;
    /* side of the queue */
    uint8_t side;
};

RING_TYPE(dram_ways, struct dram_way) /* requests with times */

/* Fields are ordered by host cache lines: the first says what may have to be done and when, the others come
 * in the order in which a clock with work needs them. A time that is not set is TICK_NEVER. */
struct dram_channel {
    /* ticked: the newest tick; one period before tick 0 where there was none */
    tick wake, ticked;
    /* the command clock at `ticked` */
    uint64_t ticked_clock;
    /* no command may go before this clock */
    uint64_t command_next;
    /* mask of banks that work on a request */
    uint64_t busy_banks;
    /* when the head of `way` is at the queue */
    tick way_ready;
    /* when the data of the head of `returns` is complete */
    tick return_ready;
    /* least ticks from the last command of a read to the end of its data; latency of the links to the
     * slices */
    uint32_t read_time, out_latency;

    /* second line */
    /* requests on the fixed way to the queue */
    struct dram_ways way;
    /* reads, sorted by ready time */
    struct dram_ways returns;
    /* the least of refresh_due */
    uint64_t refresh_next;
    /* period of the command clock */
    uint32_t period;
    /* a link from the slices holds a request: set by the link, cleared by the channel */
    uint8_t has_requests;
    /* a read waits for a slot of the return queue */
    bool is_held;
    bool is_infinite;
    /* the machine has one rank and no refresh */
    bool is_simple;

    /* third line */
    uint64_t all_banks;
    uint64_t pending_since;
    /* ticks on the way to the queue */
    tick latency;
    /* requests in the channel */
    uint32_t inside, inside_max;
    struct link **in, **out;
    struct req_pool *pool;
    /* turn: the slice that is asked first */
    uint16_t slices, turn;
    /* slots of the return queue in use, with those of reads that are not complete */
    uint32_t returns_taken;
    struct dram_queue queue;
    /* [bank that works]: no command to it before this clock; the entry that it works on */
    uint64_t bank_at[DRAM_BANKS_MAX];
    uint32_t current[DRAM_BANKS_MAX];
    struct dram_chips chips;
    struct dram_stats stats;
    /* [enum req_kind]: sectors of the requests that came, for the laws */
    uint64_t sectors[REQ_WRITE + 1];
    const struct addrmap *map;
    /* ticks */
    tick latency_min;
    /* 32-byte sectors of one burst, and bursts of one sector: one of the two is 1 */
    uint32_t burst_sectors, sector_bursts;

    /* fields that are seldom used */
    uint32_t index;
    uint64_t refresh_due[DRAM_RANKS_MAX];
    struct dram_params params;
};
static_assert(offsetof(struct dram_channel, way) == HOST_LINE &&
                  offsetof(struct dram_channel, all_banks) == 2 * HOST_LINE &&
                  offsetof(struct dram_channel, queue) == 3 * HOST_LINE,
              "the fields lie in the host's cache lines as the comments say");

static inline struct dram_way *dram_way_at(const struct dram_ways *w, uint32_t i)
{
    return &w->items[ring_index(&w->ring, i)];
}
static inline tick dram_way_head(const struct dram_ways *w)
{
    return w->ring.count ? dram_ways_front(w)->ready : TICK_NEVER;
}

static inline uint64_t dram_channel_free_banks(const struct dram_channel *d)
{
    return d->all_banks & ~d->busy_banks;
}

/* Does the read's first command have to wait because no slot of the return queue is free? */
static inline bool dram_channel_is_held(const struct dram_channel *d, const struct dram_entry *e,
                                        enum dram_command c)
{
    return c == DRAM_READ && !e->begun && d->returns_taken == d->returns.ring.capacity;
}

static inline void dram_channel_wake(struct dram_channel *d, uint64_t clock)
{
    if (clock != UINT64_MAX) wake_at(&d->wake, clock * d->period);
}

/* dram.c: adds a read whose data is complete at its ready time; it already has its slot. */
void dram_channel_add_return(struct dram_channel *d, const struct dram_way *r);
/* dram_work.c: free banks take requests; one command goes to the chips; due refreshes are performed. */
void dram_channel_take(struct dram_channel *d, uint64_t clock);
void dram_channel_command(struct dram_channel *d, uint64_t clock);
void dram_channel_refresh(struct dram_channel *d, uint64_t clock);

#endif
