/* l1_impl.h: the state of an L1. Only its own files include this header:
 *   l1.c          creation and end, the cycle, loads that are done, statistics
 *   l1_pipe.c     the pipeline to the tags
 *   l1_admit.h    which way an access goes, and whether it is taken
 *   l1_miss.h     the steps of a miss: line, MSHR, request
 *   l1_access.c   an access, and what loads do: hit, merge, miss, bypass
 *   l1_store.c    what stores and atomics do, and the accesses of ideal machines
 *   l1_line.c     lines that are taken and leave, requests
 *   l1_prefetch.c prefetches: their room and their outcomes
 *   l1_take.c     misses that a mechanism takes, and what else it may ask
 *   l1_reply.c    replies
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

/* A load that waits for sectors, or is done and has not been popped. */
struct l1_node {
    /* while it waits: the time since when it waits */
    tick ready;
    uint32_t token, next, need;
    /* the last load of an MSHR that is held until its loads are popped */
    bool frees_mshr;
};
struct l1_timed {
    tick ready;
    uint32_t value;
};
RING_TYPE(l1_ring, struct l1_timed) /* an item that becomes due in the order of arrival */
struct l1_pipe_item {
    /* when the tags are looked up */
    tick ready;
    struct l1_txn txn;
};
RING_TYPE(l1_pipe, struct l1_pipe_item) /* the accesses between the load-store unit and the tags */

/* The way that an access takes, as tags and MSHRs decide it (l1_plan). */
enum l1_way {
    L1_WAY_HIT,
    /* all missing sectors are under way */
    L1_WAY_MERGE,
    /* something has to be fetched */
    L1_WAY_MISS,
    /* a load that does not look up the L1 */
    L1_WAY_BYPASS,
    /* a store or atomic that is sent on */
    L1_WAY_THROUGH,
    /* a local store whose line is in the cache or under way */
    L1_WAY_STORE_HELD,
    /* a local store that takes a line and fetches nothing */
    L1_WAY_STORE_LINE,
    /* an atomic of a machine whose misses answer themselves */
    L1_WAY_FIXED_ATOMIC,
    /* a perfect L1 answers */
    L1_WAY_IDEAL,
    /* dirty lines of ways that are removed are leaving: nothing is taken */
    L1_WAY_CLOSED
};
struct l1_plan {
    /* enum l1_way */
    uint8_t way;
    /* not a prefetch */
    bool is_demand;
    /* an instruction waits for the answer */
    bool waits;
    /* ---- L1_WAY_THROUGH ---- */

    /* it goes to the L2 */
    bool travels;
    /* a line that it finds stays */
    bool keeps;
    /* ---- L1_WAY_MISS ---- */

    /* hooks.may_miss says no */
    bool is_held;
    /* hooks.take_miss has yet to be asked */
    bool asks_taker;
    /* result of the vote: its line may stay */
    bool may_keep;
    /* replaces a line, as L1_WAY_STORE_LINE does */
    bool takes_line;
    /* L1_WAY_STORE_HELD: enum cache_outcome */
    uint8_t outcome;
    /* the line that holds the address, or CACHE_NO_LINE */
    uint32_t line;
    /* its MSHR, or MSHR_NONE */
    uint32_t entry;
    /* sectors that the load waits for, some of which may be under way */
    uint32_t need;
    /* sectors to fetch */
    uint32_t missing;
    /* takes_line: set of the address */
    uint32_t set;
};

/* What may have changed since an access was refused (l1_sleep.c). */
enum l1_change {
    /* a reply came: lines, MSHRs */
    L1_CHANGE_REPLY = 1,
    /* a load that was done was popped: room for loads that wait, MSHRs */
    L1_CHANGE_DONE = 2,
    /* a prefetch was taken, lines left by themselves, or the capacity changed */
    L1_CHANGE_OTHER = 4,
    L1_CHANGE_ANY = 7
};
/* The refused access at the head of the load-store unit, or of the pipeline. */
struct l1_stall {
    bool open;
    /* only an offer can tell whether it is refused again */
    bool asks_always;
    /* enum l1_answer, l1_type */
    uint8_t cause, type;
    /* enum l1_change, a mask: without these changes the answer stays the same */
    uint8_t waits_for;
    /* port->sent at the refusal: when it changes, the miss queue has room */
    uint32_t sent;
    tick charged_until;
    /* cycles up to this one are refused and have not been charged */
    tick offered_until;
    struct l1_plan plan;
    /* of a predicted refusal: the cycle of its first offer */
    tick foreseen;
#ifndef NDEBUG
    /* the access, so that an assertion can plan it again */
    struct l1_txn txn;
#endif
};

/* Votes of mechanisms on the refused access, which are asked once. */
struct l1_kept {
    /* hooks.may_allocate */
    bool has_vote, may;
    /* hooks.may_miss said yes */
    bool may_go;
    /* hooks.take_miss let it go the ordinary way at once */
    bool passes;
    uint16_t warp;
    uint32_t token;
    uint64_t addr;
};

enum { L1_ARRIVALS = 256 };

/* A miss that hooks.take_miss has taken, indexed by MSHR. */
struct l1_taken {
    struct l1_txn txn;
    /* sectors that it is to bring; 0 = there is no such miss */
    uint32_t sectors;
    /* a HIT, in an entry beyond l1.mshrs */
    bool is_hit;
    /* age of its data, if the mechanism answers it */
    tick as_of;
};
/* When a PASS goes on, or a HIT or FILL is answered. */
struct l1_due {
    tick ready;
    uint32_t entry;
    enum l1_take take;
};

/* Fields are in the order of use: each group is one cache line of the host, and a tick or an access touches
 * as few of them as possible. A group repeats the parameters that it needs. */
struct l1 {
    /* ---- every tick: is there anything to do? ---- */

    /* newest time seen */
    _Alignas(HOST_LINE) tick last;
    /* when the first hit is ready; TICK_NEVER = there is none */
    tick hit_ready;
    /* when the first load that is done is ready; TICK_NEVER = there is none */
    tick fill_ready;
    struct sm_port *port;
    struct clock_domain clock;
    /* requests that exist and have not been freed */
    uint32_t requests_out;
    /* the refused access has to be offered in the next cycle (l1_sleep.c) */
    bool offers_next;
    /* l1_has_acknowledged */
    bool has_acknowledged;
    /* enum l1_change, a mask: changes since the newest refusal */
    uint8_t changes;
    union {
        struct {
            /* dirty lines of ways from flush_from on are leaving */
            bool is_flushing;
            /* accesses wait until they have left */
            bool is_shrinking;
            /* l1.tag_latency */
            bool has_pipe;
            /* p.fixed_miss_latency */
            bool answers_itself;
            /* misses that hooks.take_miss delays */
            bool has_due;
        };
        /* any of the flags above */
        uint64_t is_special;
    };
    /* stats.demand_wait_sum in ticks; kept in this host line because every reply adds to it */
    tick demand_wait;

    /* from here on: fields that an access touches */
    _Alignas(HOST_LINE) tick port_time;
    struct req_pool *pool;
    uint32_t ports_used, ports;
    /* MSHRs that are not free: those that are filled but whose loads are not popped, and those kept for HITs
     * of mechanisms */
    uint32_t mshrs_held;
    /* MSHRs in use that no line waits for */
    uint32_t mshrs_lineless;
    /* cycles from the tags to the data */
    uint32_t hit_latency;
    uint32_t read_places;
    /* mask of all 32-byte sectors of a line */
    uint32_t line_sectors;
    /* the first node that was never used */
    uint32_t node_fresh;
    uint16_t sm;
    /* copies of parameters */
    bool is_perfect, caches_global, is_sectored, allocates_on_miss, holds_mshrs;
    /* `kept` belongs to the refused access */
    bool has_kept;
    /* an observer needs to know who touched a line last */
    bool notes_touches;
    /* the newest demand load missed or merged */
    bool last_missed;
    /* hooks.may_miss or hooks.take_miss is set */
    bool asks_of_misses;
    /* hooks.on_level is set */
    bool tells_level;
    /* hooks.on_fill is set */
    bool tells_fill;
    /* wasted_lines is not 0 */
    bool has_wasted;
    /* entries of the miss queue that only claim_waits may take */
    uint16_t queue_kept;

    /* from here on: fields that a miss touches: MSHRs, and loads that wait or are done */
    _Alignas(HOST_LINE) struct mshr mshr;
    /* nodes from node_fresh on were never used: their memory is not mapped yet */
    struct l1_node *nodes;
    /* nodes_left: nodes that are not promised */
    uint32_t node_free, nodes_left;
    /* tokens of hits, ready after the hit latency */
    _Alignas(HOST_LINE) struct l1_ring hits;
    /* list of loads that are done */
    uint32_t done_head, done_tail;
    /* its fields up to plan lie in the same host line */
    struct l1_stall stall;
    _Alignas(HOST_LINE) struct lineset seen;
    /* its fields up to on_fill lie in the same host line */
    struct l1_hooks hooks;
    _Alignas(HOST_LINE) struct cache cache;

    /* ---- seldom ---- */

    /* fixed_miss_latency: ids of requests that answer themselves */
    struct l1_ring answers;
    struct l1_pipe pipe;
    struct l1_kept kept;
    /* used where there is a may_miss: l1_arrivals_of */
    uint32_t arrivals[L1_ARRIVALS];
    /* indexed by entry, where there is a take_miss */
    struct l1_taken *taken;
    /* free entries beyond l1.mshrs, for HITs of mechanisms */
    uint32_t hits_kept;
    /* in the order of their times */
    struct l1_due *due;
    /* their number; the number of those that are overdue and had to wait */
    uint32_t due_count, due_late;
    /* a claimed miss that found the miss queue full, or MSHR_NONE */
    uint32_t claim_waits;
    /* when a claimed miss was last answered, or last tried to go on */
    tick claim_time;
    /* prefetched lines that left without a load in this kernel, and did not come back */
    struct lineset wasted;
    /* number of lines in `wasted` */
    uint64_t wasted_lines;
    /* ways of l1.size */
    uint32_t own_ways;
    /* time of the newest l1_read */
    tick stolen_time;
    struct l1_params p;
    uint32_t flush_cursor, flush_from;
    _Alignas(HOST_LINE) struct l1_stats stats;
    uint32_t writes_pending[L1_WARPS_MAX];
};

/* Counts the lines with such an address that were requested or put into the tags. */
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
 * MSHRs without a line are listed. */
static inline uint32_t l1_find_mshr(const struct l1 *c, uint64_t addr, uint32_t line)
{
    if (line != CACHE_NO_LINE && c->cache.lines[line].reserved) return c->cache.lines[line].mshr;
    return UNLIKELY(c->mshrs_lineless) ? mshr_find(&c->mshr, addr) : MSHR_NONE;
}

/* Takes a node that was promised: the caller adjusts nodes_left. */
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

/* Records who touched a line last, for observers of evictions. For a line that waits for its MSHR, the MSHR
 * records it. */
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
/* Looks up the tags for an access, and does what follows. */
enum l1_answer l1_look_up(struct l1 *c, tick now, const struct l1_txn *t);

/* l1_prefetch.c */
/* Counts a prefetch that was answered; l1_prefetched: one that the tags answered. */
void l1_count_prefetch(struct l1 *c, tick now, const struct l1_txn *t, enum l1_answer a);
void l1_prefetched(struct l1 *c, tick now, const struct l1_txn *t, enum l1_answer a);
/* A prefetched line, given by its number, leaves before a load wanted it, and may still be wanted in this
 * kernel. */
void l1_waste_prefetch(struct l1 *c, uint64_t number);
/* A prefetch ends without a load, and its line is forgotten. */
void l1_end_prefetch(struct l1 *c);
/* A load or a prefetch misses the line: was it prefetched in vain? */
void l1_judge_wasted(struct l1 *c, uint64_t number, bool is_demand);
/* A prefetch brings further sectors of a line that is in the cache. */
void l1_mark_prefetch(struct l1 *c, uint32_t line);

/* Does hooks.may_allocate let the access keep its line? It is asked once for each access. */
bool l1_may_keep(struct l1 *c, const struct l1_txn *t);
/* Do mechanisms let this load miss (hooks.may_miss)? */
bool l1_may_go(struct l1 *c, const struct l1_txn *t);
/* Votes that mechanisms gave on this access before. */
struct l1_kept *l1_kept_of(struct l1 *c, const struct l1_txn *t);

/* Performs an access that was admitted: l1_commit_read for loads and for stores that read, l1_commit_other
 * (l1_store.c) for stores, atomics and ideal machines. Returns the answer of l1_admit, or L1_STALL_QUEUE: see
 * l1_make_room. */
enum l1_answer l1_commit_read(struct l1 *c, tick now, const struct l1_txn *t, struct l1_plan *p);
enum l1_answer l1_commit_other(struct l1 *c, tick now, const struct l1_txn *t, struct l1_plan *p,
                               enum l1_answer a);

/* l1_line.c: lines and requests */
/* Writes a line back. The miss queue has room. */
void l1_write_back(struct l1 *c, tick now, uint32_t line);
/* A clean line leaves: if it was valid, it is counted and reported to observers. */
void l1_evict(struct l1 *c, tick now, uint32_t line, enum l1_evict_cause cause);
/* Like l1_evict, and invalidates the line. */
void l1_drop_line(struct l1 *c, tick now, uint32_t line, enum l1_evict_cause cause);
/* A line leaves whose miss is under way or has just ended. It is reported to observers if it held data
 * before. */
void l1_drop_awaited(struct l1 *c, tick now, uint32_t line, enum l1_evict_cause cause, bool was_valid);
/* Writes a dirty line back, if there is room. False: an access of this way has to wait for room. */
bool l1_clean(struct l1 *c, tick now, uint32_t victim, enum l1_way way);
/* Returns the request that the L1 would send. */
struct req l1_req_of(const struct l1 *c, tick now, const struct l1_txn *t, uint32_t token,
                     enum l1_answer outcome);
/* Writes the same into a request of the pool (req_take), which l1_request sends. */
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
/* Asks hooks.take_miss. r->taken: the mechanism takes the miss; otherwise p->asks_taker is false, and the
 * answer is that of l1_admit_miss. */
enum l1_answer l1_ask_taker(struct l1 *c, tick now, const struct l1_txn *t, struct l1_plan *p,
                            struct l1_result *r);
/* Misses whose delay is over. */
void l1_take_due(struct l1 *c, tick now);
tick l1_due_next(const struct l1 *c, tick next);
void l1_call_level(struct l1 *c, tick now);
/* Reports the levels of MSHRs and miss queue after they changed. */
static inline void l1_tell_level(struct l1 *c, tick now)
{
    if (UNLIKELY(c->tells_level)) l1_call_level(c, now);
}

/* l1_sleep.c */
/* An access was taken: the account of the refused access is closed. */
void l1_stall_ends(struct l1 *c, tick now);
static inline void l1_taken(struct l1 *c, tick now)
{
    c->has_kept = c->offers_next = false;
    if (UNLIKELY(c->stall.open)) l1_stall_ends(c, now);
}
/* The access was refused: charges the cycle. */
void l1_refused(struct l1 *c, tick now, enum l1_answer cause, const struct l1_txn *t,
                const struct l1_plan *p);
/* A mechanism takes a port: a predicted refusal that would begin in this cycle may have another cause. */
static inline void l1_forget_foreseen(struct l1 *c, tick now)
{
    if (c->stall.open && c->stall.foreseen == now && c->stall.offered_until <= now) c->stall.open = false;
}
/* A mechanism took the port that the access needs: charges the cycle. */
void l1_refused_port(struct l1 *c, tick now, const struct l1_txn *t);
/* Would the access that was refused last be refused again? If so, the call counts as an offer of it. */
bool l1_stays_refused(struct l1 *c, tick now);

/* l1_pipe.c */
void l1_pipe_create(struct l1_pipe *p, const struct l1_params *params);
/* Puts an access into the pipeline. A slot is free (l1_admit_port). */
enum l1_answer l1_pipe_put(struct l1 *c, tick now, const struct l1_txn *t);
void l1_pipe_tick(struct l1 *c, tick now);
/* When the access at the head has to be looked at. */
tick l1_pipe_next(const struct l1 *c, tick next);

/* l1_reply.c */
/* Handler of the port for replies. */
void l1_reply(void *l1, tick now, uint32_t id);
/* The data of a miss is here: r is the reply, or describes the miss as a reply does. */
void l1_fill(struct l1 *c, tick now, const struct req *r);
/* A mechanism has the data of a miss: its loads are done, and no line is kept. */
void l1_fill_taken(struct l1 *c, tick now, const struct req *r);
/* Answers misses of a machine with a fixed miss latency. */
void l1_take_answers(struct l1 *c, tick now);

/* l1_resize.c */
void l1_flush_step(struct l1 *c, tick now);

#endif
