/* lsu_sleep.h: cycles that the load-store unit need not have, because what would happen in them is known. See
 * lsu_sleep.c. */
#ifndef HEDDLE_SM_LSU_SLEEP_H
#define HEDDLE_SM_LSU_SLEEP_H

#include "base/tick.h"
#include "mem/l1_sleep.h"

/* What every cycle looks at. */
struct lsu_sleep {
    /* pendings that wait for nothing but hits */
    uint16_t only_hits;
    /* the L1 refused the head, or will; only the L1 can change that */
    bool blocked;
    /* hits in the L1 that end no load are taken when the SM wakes for something else */
    bool past_hits : 1;
    /* the next cycle may not be slept through: registers of a CTA move (transfer.c) */
    bool transfers_now : 1;
    /* the SM sleeps though loads of the re-execution queue would be offered: in vain */
    bool rests : 1;
};

/* A load of the re-execution queue. */
struct lsu_foreseen {
    /* while the queue rests: enum l1_answer, why it would be refused */
    uint8_t cause;
    /* of its next transaction */
    struct l1_absence absence;
};

/* The re-execution queue, while it rests. */
struct lsu_rest {
    /* the first cycle slept through that is not accounted for; when a load is to be offered again */
    tick accounted, until;
    /* cycles of the newest sleep */
    uint32_t slept;
};

struct sm;
struct lsu_reexec_entry;
void lsu_sleep_init(struct sm *m);

/* ---- the SM's sleep (sleep.c) ---- */

/* When the L1 next has something for the load-store unit. */
tick lsu_wake(const struct sm *m);
/* True: nothing is refused, or it is refused as before; nothing waits to be offered again. */
bool lsu_is_unchanged(struct sm *m);
/* The SM slept until now: takes the hits that were due meanwhile, and charges the loads that were refused. */
void lsu_catch_up(struct sm *m, tick now);
/* Charges refusals of cycles slept through, up to this one. */
void lsu_settle(struct sm *m, tick until);
/* The SM has nothing else to do: may it sleep, because all that the re-execution queue would offer is
 * refused? Counts as offered from then on. */
bool lsu_reexec_may_rest(struct sm *m);

/* ---- inside of the load-store unit ---- */

/* Will the L1 refuse the head's next load in the next cycle? Then that cycle need not come. */
bool lsu_is_refusal_ahead(struct sm *m);
/* A load of the re-execution queue that a mechanism still holds back: refused without an offer. False: it is
 * to be offered. */
bool lsu_reexec_is_held(struct sm *m, struct lsu_reexec_entry *e);
/* The load has been taken: its next transaction is another one. */
static inline void lsu_forget_foreseen(struct lsu_foreseen *f) { l1_forget_absence(&f->absence); }

#endif
