/* l2_claim_impl.h: claims, for the stages of a slice. Inside mem/ only. */
#ifndef HEDDLE_L2_CLAIM_IMPL_H
#define HEDDLE_L2_CLAIM_IMPL_H

#include "mem/l2_claim.h"
#include "mem/l2_slice.h"

/* req.client of what a taker reads from DRAM and writes to it; the slice's own requests have 0. */
enum { L2_TAKER_CLIENT = 1 };

/* Requests chained by req.next. */
struct l2_chain {
    uint32_t head, tail, count;
};

struct l2_claims {
    struct l2_taker taker;
    struct l2_chain replies, sends;
    /* claimed and not answered; those of them that are parked; lines that are to come from DRAM */
    uint32_t live, parked, reads;
    /* the taker has been asked for the head */
    bool head_passed;
};

bool l2_claims_idle(const struct l2_claims *c);
/* True: the taker takes the head. */
bool l2_offer_head(struct l2_slice *s, uint32_t id, tick now);
/* What has come from DRAM is the taker's: it has it. */
bool l2_claim_fill(struct l2_slice *s, uint32_t id, tick now);
/* Replies and DRAM accesses leave. */
void l2_claims_cycle(struct l2_slice *s, tick now);
static inline bool l2_claims_wait(const struct l2_claims *c) { return c->replies.count || c->sends.count; }

#endif
