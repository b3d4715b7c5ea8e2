/* l1_impl.h: the state of an L1, shared by its files alone: l1.c (life, ports, stalls), l1_pipe.c (the way to the tags),
 * l1_access.c (what an access does: loads), l1_store.c (stores, atomics, ideal machines), l1_reply.c (what comes back, and the way
 * out), l1_resize.c (flush, capacity), l1_rows.c (parameters and statistics). */
#ifndef HEDDLE_L1_IMPL_H
#define HEDDLE_L1_IMPL_H

#include "mem/l1.h"
#include "mem/lineset.h"

enum {
    L1_WARPS_MAX = 256,
    /* In req.token of a write: whose acknowledgement a fence waits for. */
    L1_STORE = 0,
    L1_WRITE_BACK_STORE = 1,
    /* In req.l1_outcome: a request of another cache (l1_send). The others hold the enum l1_answer. */
    L1_OTHER_REQUEST = 255
};
#define L1_NONE     UINT32_MAX
#define L1_NO_TOKEN UINT32_MAX

struct l1_node { /* a load that waits for sectors, or is done and waits to be fetched */
    tick ready;
    uint32_t token, next, need;
    bool frees_mshr; /* the last one of an MSHR that is held until its loads are taken */
};
struct l1_timed {
    tick ready;
    uint32_t value;
};
struct l1_ring { /* bounded, first in first out */
    struct l1_timed *items;
    uint32_t cap, head, count;
};
struct l1_queue { /* the same, of request ids that wait for others, not for a time */
    uint32_t *items;
    uint32_t cap, head, count;
};
struct l1_pipe { /* between the load-store unit and the tags; cap 0 = there is none */
    struct l1_pipe_item {
        tick ready; /* when the tags are looked up */
        struct l1_txn txn;
    } * items;
    uint32_t cap, head, count;
};
/* What has happened since an access was refused. Each cause waits for some of it: without that, the answer is the same. */
enum l1_news {
    L1_NEWS_REPLY = 1, /* something came back: lines, MSHRs */
    L1_NEWS_DONE = 2,  /* a load that is done was taken: room for loads that wait, for hits, MSHRs */
    L1_NEWS_SENT = 4,  /* the miss queue has room */
    L1_NEWS_OTHER = 8, /* a prefetch was taken, lines left by themselves, the capacity changed */
    L1_NEWS_ANY = 15
};
/* What a refused miss lacks, where that alone tells whether it would be refused again: tags and queue were in order, or come after. */
enum l1_lack { L1_LACKS_MORE, L1_LACKS_LINE, L1_LACKS_QUEUE, L1_LACKS_MSHR };
struct l1_stall {
    bool open; /* the access at the head of the load-store unit, or of the pipeline, is being refused */
    uint8_t cause, type;
    uint8_t waits_for;                 /* enum l1_news, a mask */
    uint8_t lack;                      /* enum l1_lack */
    uint64_t addr;                     /* of the access */
    tick charged_until, offered_until; /* offered_until: asked in vain since, and not charged yet */
};

struct l1_vote { /* what hooks.may_allocate said of the access that is being refused: it is asked once */
    bool may;
    uint16_t warp;
    uint32_t token;
    uint64_t addr;
};

/* In the order of use: each group is one cache line of the host, and a tick or an access touches as few of them as it can. Parameters that
 * it asks for are repeated there. */
struct l1 {
    /* every tick: is there anything to do? */
    _Alignas(HOST_LINE) tick last; /* newest time seen */
    tick hit_ready;                /* of the first of the hits; TICK_NEVER = there is none */
    tick fill_ready;               /* the same of the loads that are done */
    struct link *to_xbar, *from_xbar;
    struct clock_domain clock;
    uint32_t reply_step; /* ticks: of p */
    uint32_t to_send;    /* in miss_queue and others */
    bool is_blocked;     /* the crossbar is full, now or in the next cycle; its link wakes the SM */
    bool
        has_room; /* a fetched load made room for the access that is being refused, and that was not offered since */
    uint8_t news; /* enum l1_news, a mask: since the newest refusal */
    uint8_t lack; /* enum l1_lack: of the lookup that is under way */
    union {
        struct {
            bool is_flushing;    /* dirty lines of ways from flush_from on are leaving */
            bool is_shrinking;   /* and accesses wait for that */
            bool has_pipe;       /* pipe.cap */
            bool answers_itself; /* p.fixed_miss_latency */
        };
        uint32_t is_special; /* one of these */
    };

    /* the way out */
    _Alignas(HOST_LINE) struct l1_queue miss_queue;
    struct l1_queue others;            /* requests of the other caches */
    uint32_t requests_out, others_out; /* requests that exist and have not been freed */

    /* an access */
    _Alignas(HOST_LINE) tick port_time;
    struct req_pool *pool;
    uint32_t ports_used, ports;
    uint32_t mshrs_held;     /* filled, but their loads are not taken: they are not free yet */
    uint32_t mshrs_lineless; /* of those in use: without a line that waits for them */
    uint32_t hit_latency;    /* cycles, after the tags */
    uint32_t read_places;
    uint32_t line_sectors; /* mask of all 32-byte sectors of a line */
    uint32_t node_fresh;   /* of nodes */
    uint16_t sm;
    bool is_perfect, caches_global, is_sectored, allocates_on_miss, holds_mshrs; /* of p */
    bool has_vote; /* vote is of the access that is being refused */

    /* a miss: MSHRs, and loads that wait or are done */
    _Alignas(HOST_LINE) struct mshr mshr;
    struct l1_node *nodes; /* those from node_fresh on were never used: their memory is not there yet */
    uint32_t node_free, nodes_left; /* nodes_left: not promised to anybody */
    _Alignas(HOST_LINE) struct l1_stall stall;
    struct l1_ring hits;           /* tokens, ready after the hit latency */
    uint32_t done_head, done_tail; /* loads that are done, while there are any */
    _Alignas(HOST_LINE) struct lineset seen;
    struct l1_hooks hooks; /* up to on_fill in the same line */
    _Alignas(HOST_LINE) struct cache cache;

    /* seldom */
    struct l1_ring answers; /* fixed_miss_latency: request ids that answer themselves */
    struct l1_pipe pipe;
    struct l1_vote vote;
    struct l1_params p;
    uint32_t flush_cursor, flush_from;
    tick *sm_wake;
    _Alignas(HOST_LINE) struct l1_stats stats;
    uint32_t writes_pending[L1_WARPS_MAX];
};

static inline bool l1_ring_has_room(const struct l1_ring *r) { return r->count < r->cap; }
static inline const struct l1_timed *l1_ring_head(const struct l1_ring *r) { return &r->items[r->head]; }
static inline void l1_ring_push(struct l1_ring *r, tick ready, uint32_t value)
{
    assert(l1_ring_has_room(r));
    uint32_t at = r->head + r->count++;
    r->items[at >= r->cap ? at - r->cap : at] = (struct l1_timed){ready, value};
}
static inline uint32_t l1_ring_pop(struct l1_ring *r)
{
    assert(r->count);
    uint32_t value = r->items[r->head].value;
    if (++r->head == r->cap) r->head = 0;
    r->count--;
    return value;
}

static inline bool l1_queue_has_room(const struct l1_queue *q) { return q->count < q->cap; }
static inline void l1_queue_push(struct l1 *c, struct l1_queue *q, uint32_t id)
{
    assert(l1_queue_has_room(q));
    uint32_t at = q->head + q->count++;
    q->items[at >= q->cap ? at - q->cap : at] = id;
    c->to_send++;
}
static inline uint32_t l1_queue_pop(struct l1 *c, struct l1_queue *q)
{
    assert(q->count);
    uint32_t id = q->items[q->head];
    if (++q->head == q->cap) q->head = 0;
    q->count--;
    c->to_send--;
    return id;
}

static inline bool l1_is_stall(enum l1_answer a) { return a >= L1_STALL_LINE; }
static inline bool l1_answers_itself(const struct l1 *c) { return c->answers_itself; }

/* When the reply at the head of its link may be taken: at once, or after a whole number of steps since its request was
 * made, the first that comes after the reply. The core's clock and the crossbar's differ: taken at once, the same way
 * takes longer or shorter by the cycles from the request to the crossbar's next edge. */
static inline tick l1_reply_time(const struct l1 *c)
{
    const struct link *l = c->from_xbar;
    if (!c->reply_step || !l->count) return link_next(l);
    tick born = req_at(c->pool, l->head_value)->born, passed = link_next(l) - born;
    tick rest = passed >> 32 ? passed % c->reply_step : (uint32_t)passed % c->reply_step;
    return link_next(l) + c->reply_step - rest;
}

/* The MSHR of an address that the tags have in `line`, or MSHR_NONE. A line that waits for its MSHR names it; those without a line are
 * listed. */
static inline uint32_t l1_find_mshr(const struct l1 *c, uint64_t addr, uint32_t line)
{
    if (line != CACHE_NO_LINE && c->cache.lines[line].reserved) return c->cache.lines[line].mshr;
    return UNLIKELY(c->mshrs_lineless) ? mshr_find(&c->mshr, addr) : MSHR_NONE;
}

static inline bool l1_has_mshr(const struct l1 *c) { return c->mshr.used + c->mshrs_held < c->mshr.count; }

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

/* l1.c */
enum l1_answer l1_look_up(struct l1 *c, tick now, const struct l1_txn *t);
bool l1_stays_refused(struct l1 *c,
                      tick now); /* the access that was refused last; counts as an offer of it if so */
void l1_count_prefetch(struct l1 *c, enum l1_answer a);

/* l1_pipe.c */
void l1_pipe_init(struct l1_pipe *p, const struct l1_params *params);
enum l1_answer l1_pipe_put(struct l1 *c, tick now, const struct l1_txn *t);
bool l1_pipe_tick(struct l1 *c, tick now);        /* true: a store has left it */
tick l1_pipe_next(const struct l1 *c, tick next); /* when the head is to be looked at */

static inline bool l1_queue_has(const struct l1 *c, uint32_t places)
{
    return l1_answers_itself(c) || c->miss_queue.cap - c->miss_queue.count >= places;
}

static inline bool l1_can_wait(const struct l1 *c, const struct l1_txn *t)
{
    return t->token == L1_NO_TOKEN || c->nodes_left > 0;
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
    l1_count_in(&c->stats, type, outcome);
    if (t->own) l1_count_in(t->own, type, outcome);
}

/* l1_access.c */
enum l1_answer l1_route(struct l1 *c, tick now, const struct l1_txn *t, bool *intra_warp);
void l1_write_back(struct l1 *c, tick now, uint32_t line); /* needs room in the miss queue */
void l1_evict(struct l1 *c, tick now, uint32_t line);
/* Of a load in the next cycle, if nothing comes back before; L1_MISS: that cannot be told. */
enum l1_answer l1_foresee(struct l1 *c, const struct l1_txn *t);

bool l1_may_keep(struct l1 *c, const struct l1_txn *t); /* what the vote says: may it take a line? */
void l1_take_line(struct l1 *c, tick now, uint32_t line, const struct l1_txn *t, uint32_t sectors);
/* True: the victim is clean, and the queue still has the places that the caller needs. */
bool l1_clean_victim(struct l1 *c, tick now, uint32_t victim, uint32_t places);
struct req l1_req_of(const struct l1 *c, tick now, const struct l1_txn *t, uint32_t token,
                     enum l1_answer outcome);
void l1_request(struct l1 *c, tick now, const struct req *r);
/* A load of sectors that `line`, or no line, does not have: on their way, or missing. */
enum l1_answer l1_read(struct l1 *c, tick now, const struct l1_txn *t, uint32_t line);

/* l1_store.c */
enum l1_answer l1_write_through(struct l1 *c, tick now, const struct l1_txn *t, bool keeps);
enum l1_answer l1_local_store(struct l1 *c, tick now, const struct l1_txn *t);
enum l1_answer l1_perfect(struct l1 *c, tick now, const struct l1_txn *t);
enum l1_answer l1_fixed_atomic(struct l1 *c, tick now, const struct l1_txn *t);

/* l1_resize.c */
void l1_flush_step(struct l1 *c, tick now);

/* l1_reply.c */
void l1_drop_line(struct l1 *c,
                  uint32_t line); /* invalidates; a prefetched line that nobody used is counted */

#endif
