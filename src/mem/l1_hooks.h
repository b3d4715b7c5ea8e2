/* l1_hooks.h: how something beside the L1 watches it and takes part: observers, votes, a taker of misses, a
 * replacement policy, and what they may ask. Plain function pointers, so that mem/ does not know mechanisms;
 * the SM connects them. NULL: nobody; that costs nothing.
 *
 * In the order of an access that misses: may_miss, may_allocate, take_miss (once an MSHR is free), victim. */
#ifndef HEDDLE_L1_HOOKS_H
#define HEDDLE_L1_HOOKS_H

#include "mem/l1.h"

/* What became of an access. */
struct l1_result {
    /* L1_HIT, L1_MISS, L1_PENDING or L1_SENT */
    enum l1_answer answer;
    /* a hit on a line that the same warp brought */
    bool intra_warp;
    /* the first demand of a line that a prefetch brought or is bringing */
    bool is_first_use;
    /* L1_MISS: take_miss answers it, or holds it for a while */
    bool taken;
    /* L1_MISS: a line has left for it, which an access at this PC had brought */
    bool has_evicted;
    uint32_t evicted_pc;
};

enum l1_evict_cause {
    /* another line takes its way */
    L1_EVICT_REPLACED,
    /* a store or atomic wrote to it */
    L1_EVICT_STORE,
    L1_EVICT_FLUSH,
    /* its way goes */
    L1_EVICT_RESIZE
};
struct l1_eviction {
    uint64_t line;
    enum l1_evict_cause cause;
    bool is_unused_prefetch;
    /* it lay in a way beyond l1.size */
    bool is_extra;
    uint16_t owner_warp, last_warp;
    /* of the access that brought the line, and of the last one that hit it */
    uint32_t owner_pc, last_pc;
    /* that were valid */
    uint32_t sectors;
    /* txn.launch of the owner */
    uint32_t owner_launch;
};

struct l1_fill_event {
    uint64_t line;
    /* ticks, from the miss */
    tick latency;
    /* of the first that missed */
    uint32_t pc;
    uint16_t warp;
    bool is_prefetch, is_local;
    /* the line is in the cache now */
    bool kept;
    /* when the L2 accepted the read; of a taken miss: l1_miss_as_of */
    tick as_of;
};

enum l1_prefetch_outcome { L1_PREFETCH_SENT, L1_PREFETCH_REDUNDANT, L1_PREFETCH_DROPPED };

enum l1_take { L1_TAKE_PASS, L1_TAKE_HIT, L1_TAKE_CLAIM, L1_TAKE_FILL };
struct l1_take_answer {
    enum l1_take take;
    /* PASS, HIT, FILL: from now */
    uint32_t cycles;
};

struct l1_hooks {
    void *ctx;
    /* May the miss keep its line? Asked once for each access, also by the prediction in the cycle before its
     * offer; of a prefetch each time. A load that merges with a miss that may not is asked as well. */
    bool (*may_allocate)(void *ctx, const struct l1_txn *t);
    /* Once for each access, when its tags were looked up and it was taken. */
    void (*on_access)(void *ctx, tick now, const struct l1_txn *t, const struct l1_result *r);
    /* A line that was valid leaves. */
    void (*on_evict)(void *ctx, tick now, const struct l1_eviction *e);
    void (*on_fill)(void *ctx, tick now, const struct l1_fill_event *e);
    /* With perfect or fixed_miss_latency set, atomics take effect here instead of at the L2. NULL: they
     * travel to the L2 all the same. */
    void (*on_atomic)(void *ctx, const struct req *r);

    /* May a load that misses go on? False refuses it (L1_STALL_HELD), and it is offered and asked for in
     * every cycle. True holds until the L1 has taken it. Not asked of a prefetch. */
    bool (*may_miss)(void *ctx, const struct l1_txn *t);
    /* Who brings the data of a load that misses and finds a free MSHR, number `entry`? Asked once for each
     * miss, before a line is taken or the miss queue looked at; with claims_lines once a line can be replaced
     * as well.
     *   PASS   the ordinary way, after `cycles`; it takes its line then, and waits while no line is free or
     *          the miss queue is full. 0: in this cycle
     *   HIT    the data is there after `cycles`, at least one; no line is taken, and no MSHR from now on
     *   FILL   as HIT, and the line is kept, if it may be, as the line of a reply is
     *   CLAIM  the mechanism holds the miss, until l1_miss_answer or l1_miss_forward
     * Meanwhile the miss holds its MSHR without a line, and later loads of the line merge with it. With
     * claims_lines a FILL or CLAIM holds a line as well, as a miss that goes to the L2 does; a CLAIM that
     * has none, since its warp may not allocate, never waits for one. */
    bool claims_lines;
    void (*take_miss)(void *ctx, tick now, const struct l1_txn *t, uint32_t entry, struct l1_take_answer *a);
    /* A load hits a line in this way, l1.ways and above in registers: cycles that it takes more than
     * l1.latency. */
    uint32_t (*extra_hit)(void *ctx, uint32_t set, uint32_t way);
    /* What became of a prefetch that was offered. */
    void (*on_prefetch)(void *ctx, tick now, const struct l1_txn *t, enum l1_prefetch_outcome outcome);
    /* An MSHR or an entry of the miss queue was taken or freed. */
    void (*on_level)(void *ctx, tick now, uint32_t mshrs_used, uint32_t mshrs, uint32_t queue_used,
                     uint32_t queue);
    /* Which line a miss replaces; NULL: l1.replacement. Rules: cache_policy.h. */
    const struct cache_policy *policy;
};

/* Another client of the port has put a request into the miss queue, or one of its requests has left it: tells
 * hooks.on_level. */
void l1_queue_changed(struct l1 *c, tick now);

/* Before the first access. */
void l1_hook(struct l1 *c, const struct l1_hooks *hooks);

/* Are these sectors of the line in the cache? Changes nothing, takes no port. */
bool l1_probe(struct l1 *c, uint64_t line, uint32_t sectors);
/* Takes an access port of this cycle; false: none is free. An access that is refused for it is charged to
 * L1_STALL_STOLEN. */
bool l1_read(struct l1 *c, tick now);
/* The set of a line. */
uint32_t l1_set_of(const struct l1 *c, uint64_t line);
/* Does the line lie in a way beyond l1.size? */
bool l1_line_is_extra(struct l1 *c, uint64_t line);
/* The data of a claimed miss is here: the loads that wait are done in this cycle, the line is kept if it may
 * be. */
void l1_miss_answer(struct l1 *c, tick now, uint32_t entry);
/* l1_fill_event.as_of of a taken miss, if it is answered: in take_miss, or while it is claimed. 0 without it.
 */
void l1_miss_as_of(struct l1 *c, uint32_t entry, tick as_of);
/* A claimed miss goes to the L2. False: no line or no entry of the miss queue is free; try again. One that
 * lacks an entry has the next that is free: other accesses of the L1 find the queue full until then. */
bool l1_miss_forward(struct l1 *c, tick now, uint32_t entry);

#endif
