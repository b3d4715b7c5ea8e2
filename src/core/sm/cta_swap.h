/* cta_swap.h: CTAs beyond the slots of the schedulers: those that are resident without slots, what they wait
 * for, and their way into slots and out of them. See cta_swap.c. */
#ifndef HEDDLE_SM_CTA_SWAP_H
#define HEDDLE_SM_CTA_SWAP_H

#include "base/base.h"
#include "core/sm/context.h"
#include "isa/isa.h"

/* Where the warps of a CTA are: in slots; on their way out of them; without slots; on their way into slots
 * that are reserved. */
enum cta_place { CTA_ACTIVE, CTA_LEAVING, CTA_INACTIVE, CTA_ENTERING };

/* A CTA slot. */
struct swap_cta {
    uint8_t place;
    /* as mechanisms were told: STALLED, while active; READY, while inactive */
    bool is_stalled, is_ready;
    /* inactive or leaving: one of its warps could go on */
    bool could_go_on;
    /* results that came while it owned no rows, since it lost them last */
    uint32_t results;
    /* leaving or entering: the cycle at which the move ends. Active: the cycle at which mechanisms are told
     * that it has stalled, if it does not go on before; UINT64_MAX: it has not stalled, or they were told */
    uint64_t due;
};

struct swaps {
    /* a mechanism fills admit, or hears of stalled CTAs: they are looked at in every cycle */
    bool is_on;
    /* by CTA slot; slots that hold a CTA, a bit set */
    struct swap_cta *ctas;
    uint64_t *used;
    /* the first `due` of all CTAs; UINT64_MAX: none */
    uint64_t due;
    /* by bank of slots, as of the last cycle: warps that could issue; warps that await memory */
    uint64_t running[SM_BANKS_MAX], awaiting[SM_BANKS_MAX];
    /* while these warps stay the same, mechanisms are told nothing before `due` */
    bool is_settled;
};

struct sm;
struct context;
/* After residency_init. */
void swap_init(struct sm *m);
void swap_free(struct sm *m);
/* A CTA has started, with slots or without; has ended. */
void swap_started(struct sm *m, uint32_t cta, bool is_active);
void swap_ended(struct sm *m, uint32_t cta);
/* The stage of a cycle, after writeback: CTAs leave and enter, and mechanisms are told of their changes. */
void swap_cycle(struct sm *m);
/* The port cta_swap. CTA slots; MECH_NO_CTA: none. False: they cannot; nothing has changed. */
bool swap_begin(struct sm *m, uint32_t out, uint32_t in, uint32_t cycles);
/* The ports cta_park and cta_unpark. */
bool swap_park(struct sm *m, uint32_t cta, const isa_live_set *kept);
bool swap_unpark(struct sm *m, uint32_t cta);
/* The rows of its registers have gone: results are counted from 0 again. */
void swap_lost_rows(struct sm *m, uint32_t cta);
/* A warp without a slot has got a result. */
void swap_result(struct sm *m, const struct context *x);

#endif
