/* l1_hooks.h: how other parts watch the L1 and change its decisions: observers, votes, hooks that take
 * misses, a replacement policy, and what they may ask. These are plain function pointers, so mem/ does not
 * depend on mechanisms; the SM connects them. A pointer that is NULL costs nothing.
 *
 * Order of calls for an access that misses: may_miss, may_allocate, take_miss (once an MSHR is free),
 * victim. */
#ifndef HEDDLE_L1_HOOKS_H
#define HEDDLE_L1_HOOKS_H

#include "mem/l1.h"

/* The outcome of an access. */
struct l1_result {
    /* L1_HIT, L1_MISS, L1_PENDING or L1_SENT */
    enum l1_answer answer;
    /* a hit on a line that the same warp brought */
    bool intra_warp;
    /* the first demand access to a line that a prefetch brought or is bringing */
    bool is_first_use;
    /* L1_MISS: take_miss answers the miss, or holds it for a while */
    bool taken;
    /* L1_MISS: the miss evicted a line that an access at this PC had brought */
    bool has_evicted;
    uint32_t evicted_pc;
};

enum l1_evict_cause {
    /* another line takes the way */
    L1_EVICT_REPLACED,
    /* a store or atomic wrote to the line */
    L1_EVICT_STORE,
    L1_EVICT_FLUSH,
    /* the way is removed */
    L1_EVICT_RESIZE
};
struct l1_eviction {
    uint64_t line;
    enum l1_evict_cause cause;
    bool is_unused_prefetch;
    /* the line lay in a way beyond l1.size */
    bool is_extra;
    uint16_t owner_warp, last_warp;
    /* PC of the access that brought the line, and of the last access that hit it */
    uint32_t owner_pc, last_pc;
    /* mask of the sectors that were valid */
    uint32_t sectors;
    /* txn.launch of the owner */
    uint32_t owner_launch;
};

struct l1_fill_event {
    uint64_t line;
    /* ticks since the miss */
    tick latency;
    /* PC of the first access that missed */
    uint32_t pc;
    uint16_t warp;
    bool is_prefetch, is_local;
    /* the line stays in the cache */
    bool kept;
    /* when the L2 accepted the read; for a taken miss: the value of l1_miss_as_of */
    tick as_of;
};

enum l1_prefetch_outcome { L1_PREFETCH_SENT, L1_PREFETCH_REDUNDANT, L1_PREFETCH_DROPPED };

enum l1_take { L1_TAKE_PASS, L1_TAKE_HIT, L1_TAKE_CLAIM, L1_TAKE_FILL };
struct l1_take_answer {
    enum l1_take take;
    /* PASS, HIT, FILL: delay from now */
    uint32_t cycles;
};

struct l1_hooks {
    void *ctx;
    /* May the miss keep its line? Asked once for each access, possibly one cycle early by the prediction
     * (l1_sleep.c); for a prefetch, each time. Also asked for a load that merges with a miss that may not
     * keep its line. */
    bool (*may_allocate)(void *ctx, const struct l1_txn *t);
    /* Called once for each access, when its tags were looked up and it was taken. */
    void (*on_access)(void *ctx, tick now, const struct l1_txn *t, const struct l1_result *r);
    /* A valid line leaves. */
    void (*on_evict)(void *ctx, tick now, const struct l1_eviction *e);
    void (*on_fill)(void *ctx, tick now, const struct l1_fill_event *e);
    /* With perfect or fixed_miss_latency, atomics take effect here instead of at the L2. NULL: they still
     * travel to the L2. */
    void (*on_atomic)(void *ctx, const struct req *r);

    /* May a load that misses go on? False: it is refused (L1_STALL_HELD), offered again in every cycle, and
     * the hook is asked again each time. True holds until the L1 has taken the load. Not asked for a
     * prefetch. */
    bool (*may_miss)(void *ctx, const struct l1_txn *t);
    /* Decides where the data of a load comes from that misses and finds a free MSHR, number `entry`. Asked
     * once for each miss, before a line is taken or the miss queue is checked; with claims_lines, when a line
     * can be replaced as well.
     *   PASS   the ordinary way, after `cycles`; it takes its line then, and waits while no line is free or
     *          the miss queue is full. 0: in this cycle
     *   HIT    the data is there after `cycles`, at least one; no line is taken, and its MSHR is free at once
     *   FILL   like HIT, but the line is kept, if it may be, as the line of a reply is
     *   CLAIM  the mechanism holds the miss, until l1_miss_answer or l1_miss_forward
     * In the meantime the miss holds its MSHR without a line, and later loads of the line merge with it. With
     * claims_lines a FILL or CLAIM holds a line as well, as a miss that goes to the L2 does; a CLAIM without
     * a line, because its warp may not allocate, never waits for one. */
    bool claims_lines;
    void (*take_miss)(void *ctx, tick now, const struct l1_txn *t, uint32_t entry, struct l1_take_answer *a);
    /* A load hits a line in this way; ways from l1.ways on are in registers. Returns how many cycles it takes
     * beyond l1.latency. */
    uint32_t (*extra_hit)(void *ctx, uint32_t set, uint32_t way);
    /* Reports the outcome of a prefetch that was offered. */
    void (*on_prefetch)(void *ctx, tick now, const struct l1_txn *t, enum l1_prefetch_outcome outcome);
    /* An MSHR or an entry of the miss queue was taken or freed. */
    void (*on_level)(void *ctx, tick now, uint32_t mshrs_used, uint32_t mshrs, uint32_t queue_used,
                     uint32_t queue);
    /* Chooses the line that a miss replaces; NULL: l1.replacement. cache_policy.h has the rules. */
    const struct cache_policy *policy;
};

/* Another client of the port has put a request into the miss queue, or one of its requests has left the
 * queue: calls hooks.on_level. */
void l1_queue_changed(struct l1 *c, tick now);

/* Called before the first access. */
void l1_hook(struct l1 *c, const struct l1_hooks *hooks);

/* Are these sectors of the line in the cache? Changes nothing and takes no port. */
bool l1_probe(struct l1 *c, uint64_t line, uint32_t sectors);
/* Takes an access port of this cycle; false: no port is free. A refusal that this causes is charged to
 * L1_STALL_STOLEN. */
bool l1_read(struct l1 *c, tick now);
/* Returns the set of a line. */
uint32_t l1_set_of(const struct l1 *c, uint64_t line);
/* Does the line lie in a way beyond l1.size? */
bool l1_line_is_extra(struct l1 *c, uint64_t line);
/* The data of a claimed miss is here: the loads that wait for it are done in this cycle, and the line is kept
 * if it may be. */
void l1_miss_answer(struct l1 *c, tick now, uint32_t entry);
/* Sets l1_fill_event.as_of of a taken miss, if the mechanism answers it: in take_miss, or while the miss is
 * claimed. 0 without this call. */
void l1_miss_as_of(struct l1 *c, uint32_t entry, tick as_of);
/* A claimed miss goes on to the L2. False: no line or no entry of the miss queue is free; try again. A miss
 * that lacks an entry gets the next free one: until then, other accesses of the L1 find the queue full. */
bool l1_miss_forward(struct l1 *c, tick now, uint32_t entry);

#endif
