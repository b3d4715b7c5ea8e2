/* sleep.h: when an SM need not tick: what its stages say of a cycle, and the time of the next one.
 *
 * A stage that changes something that another stage can see says so (sleep_changed), and one that makes room
 * says so (sleep_look_if). A cycle in which nobody said anything, and nothing is under way in the collectors
 * or the load-store unit, leaves a state that only time or the memory system can change: until then the SM
 * sleeps. sleep.c finds that time; ahead.c lets an SM run on before the others.
 *
 * Of cycles that an SM does not have, three more files know: lsu_sleep.c foresees hits and refusals of the
 * L1, account.c charges slept cycles to their causes, fetch.c makes up for turns that went round (catch_up).
 * Beside these, a part says whether it moves in the next cycle (`moved` and `awaits_queue` of execute.h,
 * `awaits_unit` of scheduler.h, `is_busy` of prefetch.h, lsu_set_transfer), the scheduler whether an SM that
 * is ahead may issue (sched_may_see), residency.c asks whether it is ahead (sm_fits), and what comes from
 * outside of a cycle wakes the SM (sleep_disturb, sleep_wake_at). */
#ifndef HEDDLE_SM_SLEEP_H
#define HEDDLE_SM_SLEEP_H

#include "base/base.h"
#include "base/tick.h"

enum sm_ahead {
    AHEAD_RUNS = 1,
    /* before the schedulers of the newest cycle, whose step is to come */
    AHEAD_PAUSED = 2,
    /* it has left something for the end of that step */
    AHEAD_EVENTS = 4
};

struct sleep {
    /* where the SM says when it next has something to do: beside those of the other SMs, or in
     * sleep_cold.wake */
    tick *wake;
    /* time of the newest tick; when something other than the L1 moves, after a tick in which nothing did */
    tick now, next_own;
    /* number of the cycle at `now` */
    uint64_t cycle;
    union {
        struct {
            /* the newest cycle moved something; if not, before next_own only the L1 has something to do */
            bool is_busy;
            /* something has changed in this cycle: before issue, so that schedulers look; from issue on, so
             * that the SM stays awake */
            bool changed;
            /* the schedulers may find something else than when they looked last */
            bool must_look;
            /* the votes of mechanisms or their next timer have changed */
            bool votes_changed;
        };
        /* not 0: one of these is set */
        uint32_t is_awake;
    };
    bool has_ticked;
    /* the L1 took the acknowledgement of a store in this cycle, or let a store go */
    bool has_reply;
    /* enum sm_ahead, a mask */
    uint8_t ahead;
    /* a warp is here; messages may come over the SMs' ring */
    bool has_warps : 1, has_ring : 1;
};

struct sleep_cold {
    /* the wake of an SM whose set-up gives no `wake` */
    tick wake;
};

static inline void sleep_changed(struct sleep *s) { s->changed = true; }
static inline void sleep_changed_if(struct sleep *s, bool is) { s->changed |= is; }
static inline void sleep_look_if(struct sleep *s, bool is) { s->must_look |= is; }
static inline void sleep_votes_changed(struct sleep *s) { s->votes_changed = true; }
/* Something was said for which the schedulers have to look; sleep_looked: they do. */
static inline bool sleep_has_look(const struct sleep *s)
{
    return s->must_look | s->changed | s->votes_changed;
}
static inline void sleep_looked(struct sleep *s) { s->must_look = s->changed = s->votes_changed = false; }
/* Whether the L1 took the acknowledgement of a store in this cycle, or let a store go. */
static inline void sleep_reply(struct sleep *s, bool has_reply) { s->has_reply = has_reply; }
static inline void sleep_warps(struct sleep *s, bool has_warps) { s->has_warps = has_warps; }
/* The SM has something to do at this time, or before. */
static inline void sleep_wake_at(struct sleep *s, tick at) { wake_at(s->wake, at); }

struct sm;
/* wake: where the SM says when it next has something to do; NULL: in itself. */
void sleep_init(struct sm *m, tick *wake, bool has_ring);
/* A cycle begins at `now`; true: the SM had it already and only ends it now (ahead.c). */
bool sleep_begin(struct sm *m, tick now);
/* True: this cycle is like the last one but for what the L1 sends and for answers that ended no load; no
 * other stage has to be looked at, and the time of the next tick is set. */
bool sleep_is_l1_alone(struct sm *m);
/* The cycle has ended: sets the time of the next tick. */
void sleep_end(struct sm *m);
/* ahead.c: the others have come to a cycle that the SM had already: it ends that cycle, if it paused in
 * it. */
void sleep_cycle_again(struct sm *m, tick now);
/* The schedulers are about to look. True: an SM that runs ahead must wait for the others before they do. */
bool sleep_pauses(struct sm *m);
/* Cycles that are over; one that has not come to the schedulers is not. */
uint64_t sleep_cycles_done(const struct sm *m);
/* Something came from outside of the cycle (a CTA, the end of a kernel): the next tick looks at
 * everything. */
void sleep_disturb(struct sm *m);

#endif
