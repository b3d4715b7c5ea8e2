/* lsu_sleep.h: cycles that the load-store unit need not run, because their outcome is known beforehand. See
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
    /* the SM sleeps, and offers of the re-execution queue that would be refused are left out */
    bool rests : 1;
};

/* A load of the re-execution queue. */
struct lsu_foreseen {
    /* enum l1_answer: while the queue rests, the cause for which the L1 would refuse it */
    uint8_t cause;
    /* what the L1 knows of its next transaction */
    struct l1_absence absence;
};

/* The re-execution queue, while it rests. */
struct lsu_rest {
    /* the first cycle of the sleep whose refusals are not charged; when a load has to be offered again */
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
/* True: the L1 refuses nothing, or the same access as before; nothing has to be offered again. */
bool lsu_is_unchanged(struct sm *m);
/* The SM slept until now: takes the hits that were due meanwhile, and charges the loads that were refused. */
void lsu_catch_up(struct sm *m, tick now);
/* Charges refusals of cycles slept through, up to this one. */
void lsu_settle(struct sm *m, tick until);
/* The SM has nothing else to do. True: it may sleep, because the L1 would refuse all that the re-execution
 * queue offers; the offers are counted from then on. */
bool lsu_reexec_may_rest(struct sm *m);

/* ---- inside of the load-store unit ---- */

/* Will the L1 refuse the head's next load in the next cycle? Then that cycle need not be run. */
bool lsu_is_refusal_ahead(struct sm *m);
/* Does a mechanism still hold back this load of the re-execution queue? Then it is refused without an
 * offer. */
bool lsu_reexec_is_held(struct sm *m, struct lsu_reexec_entry *e);
/* The L1 has taken the transaction: forgets what was predicted of it. */
static inline void lsu_forget_foreseen(struct lsu_foreseen *f) { l1_forget_absence(&f->absence); }

#endif
