/* lsu.h: the load-store unit: a queue of memory instructions, what the caches are asked for, and the loads
 * that wait for answers. lsu.c serves the queue, lsu_build.c makes its accesses, lsu_reply.c takes the
 * answers, lsu_reexec.c holds loads that wait beside the queue, and lsu_sleep.c finds cycles that need not be
 * run. */
#ifndef HEDDLE_SM_LSU_H
#define HEDDLE_SM_LSU_H

#include "core/sm/context.h"
#include "core/sm/lsu_sleep.h"
#include "core/sm/readonly.h"
#include "mem/coalesce.h"
#include "mem/l1_hooks.h"
#include "mem/ring.h"

/* Accesses of one instruction, at most: filtered texels of a volume; the coalescer makes fewer. */
enum { SM_TXN_MAX = ISA_LANES * EMU_TEXELS_MAX };

/* Tokens of L1 transactions: what an answer is for. */
enum lsu_token { TOKEN_LOAD, TOKEN_ATOMIC };
enum { TOKEN_SHIFT = 28, TOKEN_MASK = (1 << TOKEN_SHIFT) - 1 };

/* A memory instruction until the caches have taken all of its accesses: a line of the host's cache, and one
 * for four transactions. The address and the sectors of `ask` are those of a transaction, which are set in a
 * copy of it: their space holds the rest. */
struct lsu_access {
    union {
        struct {
            /* transactions; those taken; from here on they are to local memory */
            _Alignas(HOST_LINE) uint16_t count;
            uint16_t done, local_from;
            /* passes through shared memory that are left */
            uint16_t passes;
            uint32_t pending;
            /* enum sm_ro, RO_COUNT = the L1 */
            uint8_t ro;
            bool has_shared, is_texture;
            /* cp.async.bulk: when its transactions are taken, lsu_bulk may have more */
            bool is_bulk;
        };
        /* fields that all of its transactions share */
        struct l1_txn ask;
        /* free list */
        uint32_t next;
    };
    struct coalesce_txn txns[SM_TXN_MAX];
};
_Static_assert(offsetof(struct lsu_access, is_bulk) < offsetof(struct l1_txn, partial) &&
                   offsetof(struct l1_txn, write_bytes) < offsetof(struct l1_txn, partial),
               "what `ask` says lies behind the access's own fields");

/* A memory instruction that waits for answers: half a line of the host's cache. */
struct lsu_pending {
    const struct uop *op;
    /* cycle of its issue */
    uint64_t issued;
    /* free list, queue of writebacks */
    uint32_t next;
    /* the emulator's record of a deferred atomic; SM_NONE: there is none */
    uint32_t record;
    uint16_t context;
    /* answers still to come; how many of them are hits in the L1 (0, unless sleep.past_hits) */
    uint16_t left, hits;
    /* group and epoch of cp.async, as scoreboard.c gave it */
    uint8_t group;
    /* a load from global or local memory: its latency counts */
    bool is_timed;
};
_Static_assert(sizeof(struct lsu_pending) == HOST_LINE / 2, "two of them are a line");

/* The ranges that a bulk copy still has to ask for, one for each lane. */
struct lsu_bulk {
    struct {
        uint64_t addr, end;
    } range[ISA_LANES];
    uint32_t count, at;
};

/* One transaction of an atomic. */
struct lsu_atomic {
    uint32_t pending, lanes, next;
};

/* What every cycle looks at; the parameters that it reads lie beside it. */
struct lsu_hot {
    /* transactions in the queue that no cache has taken; sm.lsu_requests */
    uint32_t untaken, untaken_max;
    /* chain of pendings */
    uint32_t writeback_head;
    uint32_t access_free, pending_free;
    /* instructions in the queue; sm.lsu_queue */
    uint16_t queue_count, queue_max;
    struct lsu_sleep sleep;
    /* sm.lsu_ports, lsu_replies, lsu_writebacks */
    uint8_t ports, replies, writebacks;
    /* the re-execution queue is not empty; there is one */
    bool has_reexec : 1, reexecutes : 1;
    /* registers of a CTA move (transfer.c) */
    bool has_transfer : 1;
};
struct lsu {
    struct lsu_access *accesses;
    struct lsu_pending *pendings;
    struct lsu_atomic *atomics;
    /* [access]: the ranges of a bulk copy */
    struct lsu_bulk *bulks;
    /* accesses, a ring; its count lies in lsu_hot, where mem/ring.h cannot have it without cost */
    uint32_t *queue;
    /* the access at the queue's head, while there is one */
    uint32_t head;
    uint32_t queue_head, writeback_tail, atomic_free;
    /* transactions of the head that statistics have */
    uint32_t counted;
    uint32_t access_live, pending_live;
    /* number of the newest memory instruction, for mechanisms */
    uint64_t issue_id;
};

/* The re-execution queue: see lsu_reexec.c. */
/* An access, and its transactions that statistics have. */
struct lsu_reexec_entry {
    uint32_t access, counted;
    struct lsu_foreseen foreseen;
};
RING_TYPE(lsu_reexec_queue, struct lsu_reexec_entry)

struct lsu_reexec {
    struct lsu_reexec_queue queue;
    struct lsu_rest rest;
    /* contexts that have one in it, a bit set */
    uint64_t contexts[SM_CONTEXTS_MAX / 64];
};

struct sm;
struct sm_params;
struct req;
void lsu_init(struct sm *m, const struct sm_params *p);
void lsu_free(struct sm *m);
bool lsu_idle(const struct sm *m);

static inline void lsu_set_transfer(struct lsu_hot *u, bool has_transfer, bool is_busy)
{
    u->has_transfer = has_transfer;
    u->sleep.transfers_now = is_busy;
}
/* Is there room for one more memory instruction at issue, and in the queue? */
static inline bool lsu_has_room(const struct lsu_hot *u)
{
    return u->access_free != SM_NONE && u->pending_free != SM_NONE;
}
static inline bool lsu_is_full(const struct lsu_hot *u)
{
    return u->queue_count == u->queue_max || u->untaken >= u->untaken_max;
}
/* Makes an access and its pending load from what an instruction did. */
uint32_t lsu_build(struct sm *m, struct context *x, const struct uop *u, const struct emu_access *e);
/* Fills the access's transactions with the next lines of a bulk copy, and counts those of a load. Returns how
 * many. */
uint32_t lsu_bulk_next(struct sm *m, struct lsu_bulk *b, struct lsu_access *a);
/* Where the local memory of a context begins. The first 64 contexts of all SMs lie side by side, then the
 * next 64 of each. */
uint64_t lsu_local_base(uint32_t sm, uint32_t sm_count, uint32_t context);
/* False: the queue is full. */
bool lsu_enqueue(struct sm *m, uint32_t access);
/* The stages of a cycle: answers to pendings to writeback; accesses to the caches. They do nothing where
 * lsu_has_replies and lsu_has_work say no. */
void lsu_replies(struct sm *m);
void lsu_cycle(struct sm *m);
/* The line that these pending loads of an SM wait for has come to a small cache. */
void lsu_filled(void *sm, const uint32_t *pendings, uint32_t count);
/* Inside of the load-store unit (lsu_reexec.c): a queue beside it for instructions that a mechanism holds
 * back (may_miss) or the L1 refuses. lsu_reexec_take: the head of the queue goes there; false: the queue is
 * full, or its warp has one there already. lsu_reexec_is_next: the oldest of them is to be offered before the
 * head; lsu_reexec_serve offers it. */
void lsu_reexec_init(struct sm *m, uint32_t entries);
bool lsu_reexec_is_full(const struct sm *m);
bool lsu_reexec_take(struct sm *m);
bool lsu_reexec_is_next(const struct sm *m);
void lsu_reexec_serve(struct sm *m);
/* The i-th from the head of the queue. */
static inline struct lsu_reexec_entry *lsu_reexec_at(const struct lsu_reexec *q, uint32_t i)
{
    return &q->queue.items[ring_index(&q->queue.ring, i)];
}
static inline uint32_t lsu_reexec_count(const struct lsu_reexec *q) { return q->queue.ring.count; }
/* The head was refused: it goes to the tail. */
static inline void lsu_reexec_to_tail(struct lsu_reexec *q)
{
    lsu_reexec_queue_push(&q->queue, lsu_reexec_queue_pop(&q->queue));
}
/* Inside of the load-store unit: offers the next transaction of an access. False: refused; *steps_aside: it
 * may wait in the re-execution queue. */
bool lsu_offer(struct sm *m, struct lsu_access *a, bool *steps_aside);
/* Inside of the load-store unit: makes the access's next transaction for the L1. */
static inline void lsu_next_transaction(const struct lsu_access *a, struct l1_txn *t)
{
    const struct coalesce_txn *c = &a->txns[a->done];
    *t = a->ask;
    t->addr = c->line;
    t->sectors = c->sectors;
    t->write_bytes = c->write_bytes;
    t->partial = c->partial;
    t->is_first = a->done == 0;
    if (a->done >= a->local_from) t->cls = REQ_LOCAL; /* textures have no such part */
}
/* lsu_end_access: all transactions of an access are taken, so it ends or waits for its answers. lsu_pop_head:
 * the head leaves the queue. */
void lsu_end_access(struct sm *m, uint32_t access);
void lsu_pop_head(struct sm *m);
void lsu_count_taken(struct sm *m, struct lsu_access *a);
/* Inside of the load-store unit: one of the answers that a pending load waits for has come. lsu_hit_done: it
 * is one that its `hits` counts. */
void lsu_part_done(struct sm *m, uint32_t pending);
void lsu_hit_done(struct sm *m, uint32_t pending);
/* Counts the transactions of the head that are taken, for statistics at this moment. */
void lsu_count(struct sm *m);
/* An ideal L1 performs an atomic in the SM's own cycle. */
void lsu_log_atomic(struct sm *m, const struct req *r);

#endif
