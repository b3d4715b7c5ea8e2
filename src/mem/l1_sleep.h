/* l1_sleep.h: lets the SM sleep through cycles whose outcome is known. No simulated result depends on it: an
 * SM that ticks in every cycle and calls none of these functions has the same statistics.
 *
 * to_xbar and from_xbar wake the SM: begin its tick with its wake time at TICK_NEVER, and end it with
 * wake_at(l1_wake), or with l1_wake_past_hits while no load waits for hits alone. */
#ifndef HEDDLE_L1_SLEEP_H
#define HEDDLE_L1_SLEEP_H

#include "mem/l1.h"

/* When the L1 next has something to do by itself; TICK_NEVER: only when it is called or gets a reply. */
tick l1_wake(const struct l1 *c);
/* Like l1_wake, if hits can wait. */
tick l1_wake_past_hits(const struct l1 *c);

/* Does the L1 have a free port in this cycle? A prefetch that still does not fit (l1_prefetch.h) lacks a
 * line, an MSHR or a slot of a queue, and lacks it until the L1 ticks or takes an access. */
bool l1_has_port(const struct l1 *c, tick now);
/* In the newest tick a store or an atomic was acknowledged, or a store left the pipeline: l1_writes_pending
 * may have changed. */
bool l1_has_acknowledged(const struct l1 *c);

/* When l1_next_done has a load; TICK_NEVER: no load is done. */
tick l1_next_done_at(const struct l1 *c);
/* Is the load that l1_next_done would pop a hit? */
bool l1_next_is_hit(const struct l1 *c);
/* For a load-store unit that pops as many loads in a cycle as can hit in one, and that slept while only
 * hits were due (l1_wake_past_hits): pops one hit that was due before now, each for an earlier cycle of its
 * own. */
bool l1_missed_hit(struct l1 *c, tick now, uint32_t *token);

/* No MSHR is free, or nothing can leave: l1_refuses_ahead may predict a refusal. */
bool l1_is_full(const struct l1 *c);
/* Predicts whether a load that is offered in the next cycle is refused if no reply arrives before. True: it
 * counts as offered from then on; ask l1_still_refuses. */
bool l1_refuses_ahead(struct l1 *c, tick now, const struct l1_txn *t);
/* Would an access be refused again? It was refused, and was the newest access to be offered except for
 * prefetches. If so, the call counts as an offer of it. */
bool l1_still_refuses(struct l1 *c, tick now);
/* What a load remembers after its line was not found, so that the tags need not be searched again: the set of
 * the line, and how many lines had come by then. All 0: nothing is remembered. */
struct l1_absence {
    uint32_t arrivals, set;
    bool is_known;
};
static inline void l1_forget_absence(struct l1_absence *a) { a->is_known = false; }
/* Predicts why the L1 would refuse this load, now or in the next cycles, if nothing changes. is_held: the
 * load is one that hooks.may_miss would refuse. L1_HIT: it would be taken, or the answer is not known. */
enum l1_answer l1_foresee(struct l1 *c, const struct l1_txn *t, bool is_held, struct l1_absence *a);
/* Predicts the same for a load at this address that hooks.may_miss holds back, as far as its absence is
 * known. */
enum l1_answer l1_foresee_held(struct l1 *c, uint64_t addr, const struct l1_absence *a);
/* Refuses a load as l1_access does, if l1_foresee says that it is held back. False: not refused, because no
 * port is free. */
bool l1_refuse_held(struct l1 *c, tick now, const struct l1_txn *t);
/* Was an access refused in the cycle at `now`? */
bool l1_has_refused(const struct l1 *c, tick now);
/* The SM sleeps although loads are to be offered: l1_foresee says that all of them would be refused. */
void l1_rest(struct l1 *c);
/* Charges `cycles` of the cycles slept through to this cause and to loads like t. The last call is for the
 * load that was offered last. */
void l1_charge_foreseen(struct l1 *c, enum l1_answer cause, const struct l1_txn *t, uint64_t cycles);
/* Keeps the answer of hooks.may_miss on this load, which mechanisms were asked about last. */
void l1_keep_vote(struct l1 *c, const struct l1_txn *t, bool may_go);
/* Charges the cycles that the SM slept through while an access was refused, so that statistics are correct
 * now. */
void l1_settle(struct l1 *c, tick now);

#endif
