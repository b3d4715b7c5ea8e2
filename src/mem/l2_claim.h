/* l2_claim.h: requests that a mechanism takes at the tags of a slice, and what it sends from there.
 *
 * A claimed request stays with the mechanism until it is answered. One that is *parked* waits for work, not
 * for an answer that is under way: a slice whose claims are all parked is idle. Replies and accesses to DRAM
 * wait in two chains and leave one a cycle each, behind what the slice itself sends. The chains are not
 * bounded: what is behind a claimed request in the access queue may be what answers it. */
#ifndef HEDDLE_L2_CLAIM_H
#define HEDDLE_L2_CLAIM_H

#include "mem/l2.h"

struct l2_taker {
    void *ctx;
    /* The request is at the tags. True: the mechanism takes it. */
    bool (*take)(void *ctx, tick now, uint32_t id, const struct req *r, uint64_t local);
    /* A line that l2_dram_access reads has come. */
    void (*on_dram)(void *ctx, tick now, uint32_t tag);
};

/* From now on the taker is asked for each request; it stays. */
void l2_use_taker(struct l2_slice *s, const struct l2_taker *taker);
/* What the taker may do, in its own calls: a claimed atomic takes effect; a claimed request is answered;
 * it is parked; a whole line is read from DRAM or written (tag: for on_dram). */
void l2_apply_claim(struct l2_slice *s, uint32_t id);
void l2_answer_claim(struct l2_slice *s, uint32_t id);
void l2_park_claim(struct l2_slice *s, uint32_t id);
void l2_dram_access(struct l2_slice *s, tick now, uint64_t addr, enum req_kind kind, uint32_t tag);
/* Claims that are parked. */
uint32_t l2_parked(const struct l2_slice *s);

#endif
