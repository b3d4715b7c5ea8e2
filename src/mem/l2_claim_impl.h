/* l2_claim_impl.h: claims, for the stages of a slice. Inside mem/ only. */
#ifndef HEDDLE_L2_CLAIM_IMPL_H
#define HEDDLE_L2_CLAIM_IMPL_H

#include "mem/l2_claim.h"
#include "mem/l2_slice.h"

/* req.client of the taker's DRAM accesses; the slice's own requests have 0. */
enum { L2_TAKER_CLIENT = 1 };

/* Requests chained by req.next. */
struct l2_chain {
    uint32_t head, tail, count;
};

/* The pipeline that is not at the tags, and the state of its head, in fields like those of l2_slice. */
struct l2_pipeline {
    struct l2_ring pipe;
    tick head_ready;
    uint64_t head_local;
    bool head_passed, head_failed;
};

struct l2_claims {
    struct l2_taker taker;
    struct l2_chain replies, sends;
    /* claims that are not answered; those of them that are parked; reads of DRAM under way */
    uint32_t live, parked, reads;
    /* the taker has passed the head to the slice; a reply or a DRAM access of the taker left in this cycle */
    bool head_passed, has_sent;
    /* l2_slice.pipe, the pipeline whose head is at the tags, is that of messages; the other pipeline */
    bool has_messages;
    struct l2_pipeline other;
    /* l2_drop_lines: the next line to look at, and the function that says which lines stay; NULL: no lines
     * leave */
    uint32_t drop_cursor;
    bool (*keeps)(void *ctx, uint64_t local);
    /* number of requests in the program's pipeline that closes it; number of requests at the tags that closes
     * it */
    uint32_t stages, late_slots;
    /* the gate is closed from this time on, as the crossbar was told */
    tick gate_closed_from;
};

bool l2_claims_idle(const struct l2_claims *c);
enum l2_take l2_offer_head(struct l2_slice *s, uint32_t id, tick now);
/* Gives data from DRAM to the taker that asked for it. True: the taker had asked. */
bool l2_claim_fill(struct l2_slice *s, uint32_t id, tick now);
/* Sends replies and DRAM accesses of the taker. */
void l2_claims_cycle(struct l2_slice *s, tick now);
/* l2_pipes.c: makes the two pipelines. */
void l2_make_pipes(struct l2_slice *s);
/* Puts the pipeline whose head goes first at the tags. */
void l2_choose_pipe(struct l2_slice *s, tick now);
/* Moves one request a cycle from the access queue into its pipeline. */
void l2_enter_pipe(struct l2_slice *s, tick now);
/* A request has left the pipeline at the tags. */
void l2_left_pipe(struct l2_slice *s);
/* When the head of the other pipeline is at the tags. */
static inline tick l2_other_ready(const struct l2_claims *c) { return c->other.head_ready; }
static inline bool l2_claims_wait(const struct l2_claims *c)
{
    return c->replies.count || c->sends.count || c->keeps;
}

#endif
