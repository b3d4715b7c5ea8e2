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

/* The pipeline that is not at the tags, and what the slice knows of its head: as the fields of l2_slice. */
struct l2_pipeline {
    struct l2_ring pipe;
    tick head_ready;
    uint64_t head_local;
    bool head_passed, head_failed;
};

struct l2_claims {
    struct l2_taker taker;
    struct l2_chain replies, sends;
    /* claimed and not answered; those of them that are parked; lines that are to come from DRAM */
    uint32_t live, parked, reads;
    /* the taker lets the slice have the head; a reply or a DRAM access of its own left in this cycle */
    bool head_passed, has_sent;
    /* the pipeline whose head is at the tags, l2_slice.pipe, is that of messages; the other one */
    bool has_messages;
    struct l2_pipeline other;
    /* l2_drop_lines: the next line to look at, and who says what stays; NULL: no lines leave */
    uint32_t drop_cursor;
    bool (*keeps)(void *ctx, uint64_t local);
    /* requests in the program's pipeline that close it; those at the tags that do */
    uint32_t stages, late_slots;
    /* the gate is closed from this time on, as the crossbar was told */
    tick gate_closed_from;
};

bool l2_claims_idle(const struct l2_claims *c);
enum l2_take l2_offer_head(struct l2_slice *s, uint32_t id, tick now);
/* What has come from DRAM is the taker's: it has it. */
bool l2_claim_fill(struct l2_slice *s, uint32_t id, tick now);
/* Replies and DRAM accesses leave. */
void l2_claims_cycle(struct l2_slice *s, tick now);
/* l2_pipes.c. Two pipelines from now on. */
void l2_make_pipes(struct l2_slice *s);
/* The pipeline whose head goes first is at the tags. */
void l2_choose_pipe(struct l2_slice *s, tick now);
/* From the access queue into its pipeline: one request a cycle. */
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
