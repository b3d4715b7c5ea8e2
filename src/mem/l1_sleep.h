/* l1_sleep.h: what lets the SM sleep through cycles whose outcome is known. Nothing that is simulated
 * depends on it: an SM that ticks in every cycle and asks none of this has the same statistics.
 *
 * to_xbar and from_xbar wake the SM: begin its tick with its wake time at TICK_NEVER, and end it with
 * wake_at(l1_wake), or l1_wake_past_hits while no load waits for hits alone. */
#ifndef HEDDLE_L1_SLEEP_H
#define HEDDLE_L1_SLEEP_H

#include "mem/l1.h"

/* When the L1 next has something to do by itself; TICK_NEVER: only when asked or replied to. */
tick l1_wake(const struct l1 *c);
/* l1_wake, if hits can wait. */
tick l1_wake_past_hits(const struct l1 *c);

/* It has a port left in this cycle. A prefetch that does not fit all the same (l1_prefetch.h) lacks a line,
 * an MSHR or a slot of a queue: it does until the L1 ticks or takes something. */
bool l1_has_port(const struct l1 *c, tick now);
/* A store or an atomic was acknowledged in the newest tick, or a store left the pipeline: l1_writes_pending
 * may have changed. */
bool l1_has_acknowledged(const struct l1 *c);

/* When l1_next_done has a load; TICK_NEVER: none is done. */
tick l1_next_done_at(const struct l1 *c);
/* The load that l1_next_done would pop is a hit. */
bool l1_next_is_hit(const struct l1 *c);
/* For a load-store unit that takes as many loads a cycle as can hit in one, and slept while nothing but hits
 * was due (l1_wake_past_hits): pops one that was due before now, each in a cycle of its own. */
bool l1_missed_hit(struct l1 *c, tick now, uint32_t *token);

/* No MSHR is free, or nothing can leave: l1_refuses_ahead may predict a refusal. */
bool l1_is_full(const struct l1 *c);
/* Predicts whether a load that is offered in the next cycle is refused if no reply arrives before. True: it
 * counts as offered from then on; ask l1_still_refuses. */
bool l1_refuses_ahead(struct l1 *c, tick now, const struct l1_txn *t);
/* Would an access that was refused, and was the newest to be offered but for prefetches, be refused again?
 * Counts as an offer of it if so. */
bool l1_still_refuses(struct l1 *c, tick now);
/* What a load that was not found remembers, so that the tags need not be searched again: the set of its line,
 * and how many lines had come when they were. All 0: nothing. */
struct l1_absence {
    uint32_t arrivals, set;
    bool is_known;
};
static inline void l1_forget_absence(struct l1_absence *a) { a->is_known = false; }
/* Predicts why the L1 would refuse this load, now or in the next cycles, if nothing changes. is_held: what
 * hooks.may_miss would say. L1_HIT: it would be taken, or this is not known. */
enum l1_answer l1_foresee(struct l1 *c, const struct l1_txn *t, bool is_held, struct l1_absence *a);
/* The same of a load at this address that hooks.may_miss holds back, as far as its absence is known. */
enum l1_answer l1_foresee_held(struct l1 *c, uint64_t addr, const struct l1_absence *a);
/* Refuses a load of which l1_foresee says that it is held back: as l1_access does. False: it does not, for
 * want of a port. */
bool l1_refuse_held(struct l1 *c, tick now, const struct l1_txn *t);
/* Was an access refused in the cycle at `now`? */
bool l1_has_refused(const struct l1 *c, tick now);
/* The SM sleeps though loads are to be offered, of which l1_foresee says that they would be refused. */
void l1_rest(struct l1 *c);
/* Charges `cycles` of the cycles slept through to this cause and to loads like t. The last call is for the
 * load that was offered last. */
void l1_charge_foreseen(struct l1 *c, enum l1_answer cause, const struct l1_txn *t, uint64_t cycles);
/* Mechanisms were asked about this load last (hooks.may_miss), and said so. */
void l1_keep_vote(struct l1 *c, const struct l1_txn *t, bool may_go);
/* Charges the cycles that the SM slept through while an access was refused, for statistics at this moment. */
void l1_settle(struct l1 *c, tick now);

#endif
