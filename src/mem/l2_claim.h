/* l2_claim.h: requests that a mechanism takes at the tags of a slice, and what it sends from there.
 *
 * A claimed request stays with the mechanism until it is answered. One that is *parked* waits for work, not
 * for an answer that is under way: a slice whose claims are all parked is idle. Replies and accesses to DRAM
 * wait in two chains and leave one a cycle each, behind what the slice itself sends. The chains are as long
 * as the mechanism's own bounds let them be.
 *
 * The mechanism may be full. Then a request of the program waits at the tags, and what it waits for may be a
 * message of an SM in cache mode. So a slice with a taker has two *pipelines* from the access queue to the
 * tags, one for each kind, and messages go first (l2_pipes.c). They share the access queue. For messages to
 * come through it, it must never be full: while the program's pipeline is closed, the slice closes its gate
 * in the crossbar (xbar_set_gate), and its pipeline has room for all that may still come.
 *
 * Invariants. (1) A message waits for DRAM, a line or the response queue, never for the mechanism, and none
 * of these waits for a message. (2) The program's pipeline takes whatever comes. */
#ifndef HEDDLE_L2_CLAIM_H
#define HEDDLE_L2_CLAIM_H

#include "mem/l2.h"

enum l2_take {
    L2_TAKE_PASSES,
    L2_TAKE_CLAIMS,
    /* The mechanism has no room: the request waits at the tags, and is asked for again. */
    L2_TAKE_WAITS
};

/* REQ_READ or REQ_WRITE; tag: for on_dram. */
struct l2_dram_access {
    uint64_t addr;
    uint32_t sectors;
    enum req_kind kind;
    uint32_t tag;
};

struct l2_taker {
    void *ctx;
    /* requests of SMs from here on are messages */
    uint32_t first_cache_sm;
    /* requests of the program that may still come when the gate has closed */
    uint32_t behind_gate;
    /* From this time on the slice's gate in the crossbar is closed; TICK_NEVER: it stays open, as it is at
     * first. */
    void (*set_gate)(void *ctx, tick closed_from);
    /* The request is at the tags: does the mechanism take it? A message never waits. */
    enum l2_take (*take)(void *ctx, tick now, uint32_t id, const struct req *r, uint64_t local);
    /* What l2_access_dram reads has come. */
    void (*on_dram)(void *ctx, tick now, uint32_t tag);
};

/* From now on the taker is asked for each request; it stays. */
void l2_use_taker(struct l2_slice *s, const struct l2_taker *taker);
/* What the taker may do, in its own calls: a claimed atomic takes effect; a claimed request is answered;
 * it is parked; sectors of a line are read from DRAM or written, all of them where the L2 has no sectors. */
void l2_apply_claim(struct l2_slice *s, uint32_t id);
void l2_answer_claim(struct l2_slice *s, uint32_t id);
void l2_park_claim(struct l2_slice *s, uint32_t id);
void l2_access_dram(struct l2_slice *s, tick now, const struct l2_dram_access *a);
/* Lines that the taker does not keep, by their address within the slice, leave from now on: a line a cycle,
 * the dirty sectors of it to DRAM behind what the taker sends. It is asked for every line of the cache, in
 * this call and in the slice's cycles. The slice is idle when they have left. */
void l2_drop_lines(struct l2_slice *s, bool (*keeps)(void *ctx, uint64_t local));
/* Claims that are parked. */
uint32_t l2_parked(const struct l2_slice *s);

#endif
