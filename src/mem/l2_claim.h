/* l2_claim.h: requests that a mechanism takes at the tags of a slice, and what it sends from there.
 *
 * The mechanism keeps a claimed request until it answers the request. A *parked* request waits for work, not
 * for an answer that is under way: a slice whose claims are all parked is idle. Replies and accesses to DRAM
 * wait in two chains, each of which sends one a cycle after the slice's own traffic. The length of the chains
 * is bounded only by the mechanism.
 *
 * The mechanism may have no room. A request of the program then waits at the tags, and what it waits for may
 * be a message of an SM in cache mode. So a slice with a taker has two *pipelines* from the access queue to
 * the tags, one for requests of the program and one for messages, and messages have priority (l2_pipes.c).
 * The pipelines share the access queue. So that messages can pass the queue, it must never be full: while the
 * program's pipeline is closed, the slice closes its gate in the crossbar (xbar_set_gate), and its pipeline
 * has room for all requests that may still arrive.
 *
 * Invariants. (1) A message waits for DRAM, a line or the response queue, never for the mechanism, and none
 * of these waits for a message. (2) The program's pipeline takes every request that arrives. */
#ifndef HEDDLE_L2_CLAIM_H
#define HEDDLE_L2_CLAIM_H

#include "mem/l2.h"

enum l2_take {
    L2_TAKE_PASSES,
    L2_TAKE_CLAIMS,
    /* the mechanism has no room: the request waits at the tags, and the mechanism is asked again */
    L2_TAKE_WAITS
};

/* REQ_READ or REQ_WRITE; tag: argument of on_dram */
struct l2_dram_access {
    uint64_t addr;
    uint32_t sectors;
    enum req_kind kind;
    uint32_t tag;
};

struct l2_taker {
    void *ctx;
    /* requests of this SM and of higher ones are messages */
    uint32_t first_cache_sm;
    /* requests of the program that may still arrive after the gate has closed */
    uint32_t behind_gate;
    /* From this time on the slice's gate in the crossbar is closed; TICK_NEVER: it stays open, as it is at
     * first. */
    void (*set_gate)(void *ctx, tick closed_from);
    /* The request is at the tags: does the mechanism take it? A message never waits. */
    enum l2_take (*take)(void *ctx, tick now, uint32_t id, const struct req *r, uint64_t local);
    /* Data that l2_access_dram asked for has come. */
    void (*on_dram)(void *ctx, tick now, uint32_t tag);
};

/* Sets the taker, which is asked for each request from then on. */
void l2_use_taker(struct l2_slice *s, const struct l2_taker *taker);
/* What the taker may do, in its own calls: apply a claimed atomic; answer a claimed request; park a claimed
 * request; read sectors of a line from DRAM or write them (the whole line where the L2 has no sectors). */
void l2_apply_claim(struct l2_slice *s, uint32_t id);
void l2_answer_claim(struct l2_slice *s, uint32_t id);
void l2_park_claim(struct l2_slice *s, uint32_t id);
void l2_access_dram(struct l2_slice *s, tick now, const struct l2_dram_access *a);
/* Lines that the taker does not keep, named by their address within the slice, leave from now on: one line a
 * cycle, its dirty sectors to DRAM after what the taker sends. The taker is asked for every line of the
 * cache, in this call and in the slice's cycles. The slice is idle when the lines have left. */
void l2_drop_lines(struct l2_slice *s, bool (*keeps)(void *ctx, uint64_t local));
/* Returns the number of parked claims. */
uint32_t l2_parked(const struct l2_slice *s);

#endif
