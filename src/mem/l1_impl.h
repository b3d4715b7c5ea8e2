/* l1_impl.h: the state of an L1, shared by its files alone.
 *   l1.c          life, the cycle, what is done, statistics
 *   l1_pipe.c     the way to the tags
 *   l1_admit.h    which way an access goes, and whether it is taken
 *   l1_miss.h     the steps of a miss: line, MSHR, request
 *   l1_access.c   an access, and what loads do: hit, merge, miss, bypass
 *   l1_store.c    what stores and atomics do, and the accesses of ideal machines
 *   l1_line.c     lines that are taken and leave, requests
 *   l1_prefetch.c prefetches: their room, and what becomes of them
 *   l1_take.c     misses that a mechanism takes, and what else it may ask
 *   l1_reply.c    what comes back
 *   l1_resize.c   flush, capacity
 *   l1_sleep.c    what lets the SM sleep
 *   l1_rows.c     parameters and statistics */
#ifndef HEDDLE_L1_IMPL_H
#define HEDDLE_L1_IMPL_H

#include "mem/l1_hooks.h"
#include "mem/l1_prefetch.h"
#include "mem/l1_sleep.h"
#include "mem/lineset.h"
#include "mem/mshr.h"
#include "mem/ring.h"
#include "mem/sm_port.h"

enum {
    /* In req.token of a write: whose acknowledgement a fence waits for. */
    L1_STORE = 0,
    L1_WRITE_BACK_STORE = 1
};
#define L1_NONE UINT32_MAX

/* A load that waits for sectors, or is done and not taken yet. */
struct l1_node {
    /* while it waits: since when */
    tick ready;
    uint32_t token, next, need;
    /* the last one of an MSHR that is held until its loads are taken */
    bool frees_mshr;
};
struct l1_timed {
    tick ready;
    uint32_t value;
};
RING_TYPE(l1_ring, struct l1_timed) /* what becomes due in the order in which it came */
struct l1_pipe_item {
    /* when the tags are looked up */
    tick ready;
    struct l1_txn txn;
};
RING_TYPE(l1_pipe, struct l1_pipe_item) /* between the load-store unit and the tags */

/* The way that an access takes: what the tags and MSHRs say of it (l1_plan). */
enum l1_way {
    L1_WAY_HIT,
    /* all that is missing is under way */
    L1_WAY_MERGE,
    /* something has to be fetched */
    L1_WAY_MISS,
    /* a load that does not look into the L1 */
    L1_WAY_BYPASS,
    /* a store or atomic that is sent on */
    L1_WAY_THROUGH,
    /* a local store whose line is here or under way */
    L1_WAY_STORE_HELD,
    /* a local store that takes a line and fetches nothing */
    L1_WAY_STORE_LINE,
    /* an atomic of a machine whose misses answer themselves */
    L1_WAY_FIXED_ATOMIC,
    /* a perfect L1 answers */
    L1_WAY_IDEAL,
    /* dirty lines of ways that go are leaving: nothing is taken */
    L1_WAY_CLOSED
};
struct l1_plan {
    /* enum l1_way */
    uint8_t way;
    /* no prefetch */
    bool is_demand;
    /* somebody waits for the answer */
    bool waits;
    /* ---- L1_WAY_THROUGH ---- */

    /* to the L2 */
    bool travels;
    /* a line that it finds stays */
    bool keeps;
    /* ---- L1_WAY_MISS ---- */

    /* hooks.may_miss says no */
    bool is_held;
    /* hooks.take_miss is to be asked, and was not yet */
    bool asks_taker;
    /* what the vote says: its line may stay */
    bool may_keep;
    /* replaces a line; L1_WAY_STORE_LINE does, too */
    bool takes_line;
    /* L1_WAY_STORE_HELD: enum cache_outcome */
    uint8_t outcome;
    /* that holds the address, or CACHE_NO_LINE */
    uint32_t line;
    /* its MSHR, or MSHR_NONE */
    uint32_t entry;
    /* sectors that the load waits for, some of which may be under way */
    uint32_t need;
    /* those to fetch */
    uint32_t missing;
    /* takes_line: of the address */
    uint32_t set;
};

/* What may have changed since an access was refused (l1_sleep.c). */
enum l1_change {
    /* something came back: lines, MSHRs */
    L1_CHANGE_REPLY = 1,
    /* a load that waited was taken: room for loads that wait, MSHRs */
    L1_CHANGE_DONE = 2,
    /* a prefetch was taken, lines left by themselves, the capacity changed */
    L1_CHANGE_OTHER = 4,
    L1_CHANGE_ANY = 7
};
/* The access at the head of the load-store unit, or of the pipeline, is being refused. */
struct l1_stall {
    bool open;
    /* only an offer tells whether it is refused again */
    bool asks_always;
    /* enum l1_answer, l1_type */
    uint8_t cause, type;
    /* enum l1_change, a mask: without these the answer is the same */
    uint8_t waits_for;
    /* port->sent at the refusal: the miss queue has room when it changes */
    uint32_t sent;
    tick charged_until;
    /* refused since then, and not charged yet */
    tick offered_until;
    struct l1_plan plan;
    /* of one that was predicted: the cycle of its first offer */
    tick foreseen;
#ifndef NDEBUG
    /* the access, so that an assert can plan it again */
    struct l1_txn txn;
#endif
};

/* What mechanisms said of an access that is being refused: they are asked once. */
struct l1_kept {
    /* hooks.may_allocate */
    bool has_vote, may;
    /* hooks.may_miss said yes */
    bool may_go;
    /* hooks.take_miss said that it goes the ordinary way at once */
    bool passes;
    uint16_t warp;
    uint32_t token;
    uint64_t addr;
};

enum { L1_ARRIVALS = 256 };

/* A miss that hooks.take_miss has taken, by MSHR. */
struct l1_taken {
    struct l1_txn txn;
    /* that it is to bring; 0 = there is none */
    uint32_t sectors;
    /* a HIT, in an entry beside the l1.mshrs */
    bool is_hit;
    /* of its data, if it is answered */
    tick as_of;
};
/* When a PASS goes on, or a HIT or FILL is answered. */
struct l1_due {
    tick ready;
    uint32_t entry;
    enum l1_take take;
};

/* In the order of use: each group is one cache line of the host, and a tick or an access touches as few of
 * them as it can. Parameters that it asks for are repeated there. */
struct l1 {
    /* ---- every tick: is there anything to do? ---- */

    /* newest time seen */
    _Alignas(HOST_LINE) tick last;
    /* of the first of the hits; TICK_NEVER = there is none */
    tick hit_ready;
    /* the same of the loads that are done */
    tick fill_ready;
    struct sm_port *port;
    struct clock_domain clock;
    /* requests that exist and have not been freed */
    uint32_t requests_out;
    /* the refused access has to be offered in the next cycle: see l1_sleep.c */
    bool offers_next;
    /* l1_has_acknowledged */
    bool has_acknowledged;
    /* enum l1_change, a mask: since the newest refusal */
    uint8_t changes;
    union {
        struct {
            /* dirty lines of ways from flush_from on are leaving */
            bool is_flushing;
            /* and accesses wait for that */
            bool is_shrinking;
            /* l1.tag_latency */
            bool has_pipe;
            /* p.fixed_miss_latency */
            bool answers_itself;
            /* misses that hooks.take_miss delays */
            bool has_due;
        };
        /* one of these */
        uint64_t is_special;
    };
    /* stats.demand_wait_sum in ticks; kept in this host line because every reply adds to it */
    tick demand_wait;

    /* an access */
    _Alignas(HOST_LINE) tick port_time;
    struct req_pool *pool;
    uint32_t ports_used, ports;
    /* not free: filled, but their loads are not taken; kept for hits elsewhere */
    uint32_t mshrs_held;
    /* of those in use: without a line that waits for them */
    uint32_t mshrs_lineless;
    /* cycles, after the tags */
    uint32_t hit_latency;
    uint32_t read_places;
    /* mask of all 32-byte sectors of a line */
    uint32_t line_sectors;
    /* of nodes */
    uint32_t node_fresh;
    uint16_t sm;
    /* of p */
    bool is_perfect, caches_global, is_sectored, allocates_on_miss, holds_mshrs;
    /* `kept` is of the access that is being refused */
    bool has_kept;
    /* somebody wants to know who touched a line last */
    bool notes_touches;
    /* the newest demand load did, or merged */
    bool last_missed;
    /* hooks.may_miss or hooks.take_miss */
    bool asks_of_misses;
    /* hooks.on_level */
    bool tells_level;
    /* hooks.on_fill */
    bool tells_fill;
    /* wasted_lines is not 0 */
    bool has_wasted;
    /* entries of the miss queue that only claim_waits may take */
    uint16_t queue_kept;

    /* a miss: MSHRs, and loads that wait or are done */
    _Alignas(HOST_LINE) struct mshr mshr;
    /* those from node_fresh on were never used: their memory is not there yet */
    struct l1_node *nodes;
    /* nodes_left: not promised to anybody */
    uint32_t node_free, nodes_left;
    /* tokens, ready after the hit latency */
    _Alignas(HOST_LINE) struct l1_ring hits;
    /* loads that are done, while there are any */
    uint32_t done_head, done_tail;
    /* up to its plan in the same line */
    struct l1_stall stall;
    _Alignas(HOST_LINE) struct lineset seen;
    /* up to on_fill in the same line */
    struct l1_hooks hooks;
    _Alignas(HOST_LINE) struct cache cache;

    /* ---- seldom ---- */

    /* fixed_miss_latency: request ids that answer themselves */
    struct l1_ring answers;
    struct l1_pipe pipe;
    struct l1_kept kept;
    /* where there is a may_miss: l1_arrivals_of */
    uint32_t arrivals[L1_ARRIVALS];
    /* by entry, where there is a take_miss */
    struct l1_taken *taken;
    /* entries beside the l1.mshrs that are free, for hits elsewhere */
    uint32_t hits_kept;
    /* in the order of their times */
    struct l1_due *due;
    /* in all; those whose time has come, and that had to wait */
    uint32_t due_count, due_late;
    /* a claimed miss that found the miss queue full, or MSHR_NONE */
    uint32_t claim_waits;
    /* when a claimed miss was answered, or tried to go on */
    tick claim_time;
    /* prefetched lines that left without a load in this kernel, and did not come back */
    struct lineset wasted;
    /* in it */
    uint64_t wasted_lines;
    /* of l1.size */
    uint32_t own_ways;
    /* of the newest l1_read */
    tick stolen_time;
    struct l1_params p;
    uint32_t flush_cursor, flush_from;
    _Alignas(HOST_LINE) struct l1_stats stats;
    uint32_t writes_pending[L1_WARPS_MAX];
};

/* How many lines with such an address have come under way or into the tags. */
static inline uint32_t *l1_arrivals_of(struct l1 *c, uint64_t addr)
{
    return &c->arrivals[addr / 128 % L1_ARRIVALS];
}

static inline void l1_note(struct l1 *c, enum l1_change what) { c->changes |= (uint8_t)what; }

static inline bool l1_answers_itself(const struct l1 *c) { return c->answers_itself; }

/* MSHRs that are not free. */
static inline uint32_t l1_mshrs_used(const struct l1 *c)
{
    return c->mshr.used + c->mshrs_held - (c->mshr.count - c->p.mshrs);
}

/* The MSHR of an address that the tags have in `line`, or MSHR_NONE. A line that waits for its MSHR names it;
 * those without a line are listed. */
static inline uint32_t l1_find_mshr(const struct l1 *c, uint64_t addr, uint32_t line)
{
    if (line != CACHE_NO_LINE && c->cache.lines[line].reserved) return c->cache.lines[line].mshr;
    return UNLIKELY(c->mshrs_lineless) ? mshr_find(&c->mshr, addr) : MSHR_NONE;
}

/* One that was promised: nodes_left is the caller's. */
static inline uint32_t l1_node_new(struct l1 *c, uint32_t token, uint32_t need)
{
    uint32_t n = c->node_free;
    if (n != L1_NONE)
        c->node_free = c->nodes[n].next;
    else
        n = c->node_fresh++;
    c->nodes[n] = (struct l1_node){.token = token, .next = L1_NONE, .need = need};
    return n;
}

static inline void l1_done(struct l1 *c, uint32_t node, tick now)
{
    c->nodes[node].ready = now;
    c->nodes[node].next = L1_NONE;
    if (c->fill_ready == TICK_NEVER) {
        c->fill_ready = now;
        c->done_head = node;
    } else
        c->nodes[c->done_tail].next = node;
    c->done_tail = node;
}

static inline uint32_t l1_pop_hit(struct l1 *c)
{
    uint32_t token = l1_ring_pop(&c->hits).value;
    c->hit_ready = c->hits.ring.count ? l1_ring_front(&c->hits)->ready : TICK_NEVER;
    return token;
}

/* Who touched a line last, for observers of evictions. A line that waits for its MSHR leaves this to it. */
static inline void l1_touched(struct l1 *c, uint32_t line, const struct l1_txn *t)
{
    if (LIKELY(!c->notes_touches)) return;
    struct cache_line *l = &c->cache.lines[line];
    if (l->reserved) {
        c->mshr.entries[l->mshr].last_pc = t->pc;
        c->mshr.entries[l->mshr].last_warp = t->warp;
    } else {
        l->last_pc = t->pc;
        l->last_warp = t->warp;
    }
}

static inline enum l1_type l1_type_of(const struct l1_txn *t)
{
    static const uint8_t types[][8] = {
        [REQ_READ] = {L1_GLOBAL_LOAD, L1_LOCAL_LOAD, L1_OTHER, L1_OTHER, L1_OTHER},
        [REQ_WRITE] = {L1_GLOBAL_STORE, L1_LOCAL_STORE, L1_OTHER, L1_OTHER, L1_OTHER},
        [REQ_ATOMIC] = {L1_ATOMIC, L1_ATOMIC, L1_ATOMIC, L1_ATOMIC, L1_ATOMIC},
    }; /* by class: global, local, the others */
    return (enum l1_type)types[t->kind][t->cls];
}

static inline void l1_count_in(struct l1_stats *s, enum l1_type type, enum cache_outcome outcome)
{
    switch (outcome) {
    case CACHE_HIT: s->hits[type]++; break;
    case CACHE_HIT_RESERVED: s->pending[type]++; break;
    default: s->misses[type]++; break;
    }
}

static inline void l1_count(struct l1 *c, const struct l1_txn *t, enum cache_outcome outcome)
{
    if (UNLIKELY(t->is_prefetch)) return;
    enum l1_type type = l1_type_of(t);
    l1_count_in(t->own ? t->own : &c->stats, type, outcome);
}

/* l1_access.c */
/* What the tags say of an access, and what follows. */
enum l1_answer l1_look_up(struct l1 *c, tick now, const struct l1_txn *t);

/* l1_prefetch.c */
/* A prefetch was answered; l1_prefetched: by the tags. */
void l1_count_prefetch(struct l1 *c, tick now, const struct l1_txn *t, enum l1_answer a);
void l1_prefetched(struct l1 *c, tick now, const struct l1_txn *t, enum l1_answer a);
/* A prefetched line, by its number, leaves without a load, and may still be wanted in this kernel. */
void l1_waste_prefetch(struct l1 *c, uint64_t number);
/* A prefetch ends without a load, and its line is forgotten. */
void l1_end_prefetch(struct l1 *c);
/* The line is missed, by a load or a prefetch: was it prefetched in vain? */
void l1_judge_wasted(struct l1 *c, uint64_t number, bool is_demand);
/* A prefetch brings more of a line that is there. */
void l1_mark_prefetch(struct l1 *c, uint32_t line);

/* Does hooks.may_allocate let the access keep its line? It is asked once for each access. */
bool l1_may_keep(struct l1 *c, const struct l1_txn *t);
/* Do mechanisms let this load miss (hooks.may_miss)? */
bool l1_may_go(struct l1 *c, const struct l1_txn *t);
/* What mechanisms said of this access before. */
struct l1_kept *l1_kept_of(struct l1 *c, const struct l1_txn *t);

/* What an access does that was admitted: l1_commit_read for loads and for stores that read, l1_commit_other
 * (l1_store.c) for stores, atomics and ideal machines. The answer is that of l1_admit, or L1_STALL_QUEUE: see
 * l1_make_room. */
enum l1_answer l1_commit_read(struct l1 *c, tick now, const struct l1_txn *t, struct l1_plan *p);
enum l1_answer l1_commit_other(struct l1 *c, tick now, const struct l1_txn *t, struct l1_plan *p,
                               enum l1_answer a);

/* l1_line.c: lines and requests */
/* Needs room in the miss queue. */
void l1_write_back(struct l1 *c, tick now, uint32_t line);
/* A clean line leaves: if it was valid, it is counted and observers see it. */
void l1_evict(struct l1 *c, tick now, uint32_t line, enum l1_evict_cause cause);
/* l1_evict, and the line is invalid. */
void l1_drop_line(struct l1 *c, tick now, uint32_t line, enum l1_evict_cause cause);
/* A line leaves whose miss is under way or has just ended. Observers see it if it held something before. */
void l1_drop_awaited(struct l1 *c, tick now, uint32_t line, enum l1_evict_cause cause, bool was_valid);
/* Writes a dirty line back, if there is room. False: an access of this way has to wait for it. */
bool l1_clean(struct l1 *c, tick now, uint32_t victim, enum l1_way way);
/* What the L1 would ask for. */
struct req l1_req_of(const struct l1 *c, tick now, const struct l1_txn *t, uint32_t token,
                     enum l1_answer outcome);
/* The same in a request of the pool (req_take), which l1_request sends. */
static inline void l1_fill_request(const struct l1 *c, struct req *r, tick now, const struct l1_txn *t,
                                   uint32_t token, enum l1_answer outcome)
{
    r->addr = t->addr;
    r->sectors = t->sectors;
    r->write_bytes = t->write_bytes;
    r->kind = t->kind;
    r->cls = t->cls;
    r->is_prefetch = t->is_prefetch;
    r->is_fill_partial = t->partial;
    r->l1_outcome = (uint8_t)outcome;
    r->sm = c->sm;
    r->warp = t->warp;
    r->owner = t->owner;
    r->pc = t->pc;
    r->token = token;
    r->born = now;
}
void l1_request(struct l1 *c, tick now, uint32_t req);
/* Sends an access past the L1. */
void l1_send_as(struct l1 *c, tick now, const struct l1_txn *t, uint32_t token);

/* l1_take.c */
/* hooks.take_miss is asked. r->taken: it takes the miss; else p->asks_taker is false, and the answer is that
 * of l1_admit_miss. */
enum l1_answer l1_ask_taker(struct l1 *c, tick now, const struct l1_txn *t, struct l1_plan *p,
                            struct l1_result *r);
/* Misses whose delay is over. */
void l1_take_due(struct l1 *c, tick now);
tick l1_due_next(const struct l1 *c, tick next);
void l1_call_level(struct l1 *c, tick now);
/* The levels of MSHRs and miss queue have changed. */
static inline void l1_tell_level(struct l1 *c, tick now)
{
    if (UNLIKELY(c->tells_level)) l1_call_level(c, now);
}

/* l1_sleep.c */
/* An access was taken: what was refused before is refused no more. */
void l1_stall_ends(struct l1 *c, tick now);
static inline void l1_taken(struct l1 *c, tick now)
{
    c->has_kept = c->offers_next = false;
    if (UNLIKELY(c->stall.open)) l1_stall_ends(c, now);
}
/* The access was refused: charges the cycle. */
void l1_refused(struct l1 *c, tick now, enum l1_answer cause, const struct l1_txn *t,
                const struct l1_plan *p);
/* A mechanism takes a port: a refusal that was predicted, and would begin in this cycle, may have another
 * cause. */
static inline void l1_forget_foreseen(struct l1 *c, tick now)
{
    if (c->stall.open && c->stall.foreseen == now && c->stall.offered_until <= now) c->stall.open = false;
}
/* The access found its port stolen: charges the cycle. */
void l1_refused_port(struct l1 *c, tick now, const struct l1_txn *t);
/* Would the access that was refused last be refused again? Counts as an offer of it if so. */
bool l1_stays_refused(struct l1 *c, tick now);

/* l1_pipe.c */
void l1_pipe_create(struct l1_pipe *p, const struct l1_params *params);
/* It has a slot: l1_admit_port. */
enum l1_answer l1_pipe_put(struct l1 *c, tick now, const struct l1_txn *t);
void l1_pipe_tick(struct l1 *c, tick now);
/* When the head is to be looked at. */
tick l1_pipe_next(const struct l1 *c, tick next);

/* l1_reply.c */
/* The port's handler. */
void l1_reply(void *l1, tick now, uint32_t id);
/* The data of a miss is here: r is the reply, or names the miss as a reply does. */
void l1_fill(struct l1 *c, tick now, const struct req *r);
/* A mechanism has the data of a miss: its loads are done, and no line is kept. */
void l1_fill_taken(struct l1 *c, tick now, const struct req *r);
/* Misses of a machine with a fixed miss latency. */
void l1_take_answers(struct l1 *c, tick now);

/* l1_resize.c */
void l1_flush_step(struct l1 *c, tick now);

#endif
