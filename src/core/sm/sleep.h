/* sleep.h: when an SM need not tick: how its stages report changes in a cycle, and the time of the next
 * cycle.
 *
 * A stage that changes something that another stage can see calls sleep_changed, and a stage that makes room
 * calls sleep_look_if. After a cycle in which no stage called these, and with nothing under way in the
 * collectors or the load-store unit, only time or the memory system can change the state: until then the SM
 * sleeps. sleep.c finds that time; ahead.c lets an SM run on before the others.
 *
 * Three more files depend on cycles that an SM skips: lsu_sleep.c predicts hits and refusals of the L1,
 * account.c charges slept cycles to their causes, and fetch.c makes up for turns that went round (catch_up).
 * In addition, parts say whether they move in the next cycle (`moved` and `awaits_queue` of execute.h,
 * `awaits_unit` of scheduler.h, `is_busy` of prefetch.h, lsu_set_transfer), the scheduler says whether an SM
 * that is ahead may issue (sched_may_see), residency.c asks whether the SM is ahead (sm_fits), and events
 * from outside of a cycle wake the SM (sleep_disturb, sleep_wake_at). */
#ifndef HEDDLE_SM_SLEEP_H
#define HEDDLE_SM_SLEEP_H

#include "base/base.h"
#include "base/tick.h"

enum sm_ahead {
    AHEAD_RUNS = 1,
    /* paused before the schedulers of the newest cycle, whose step is to come */
    AHEAD_PAUSED = 2,
    /* it keeps effects for the end of that step */
    AHEAD_EVENTS = 4
};

struct sleep {
    /* where the SM writes when it next has something to do: beside those of the other SMs, or
     * sleep_cold.wake */
    tick *wake;
    /* time of the newest tick; when something other than the L1 moves, after a tick in which nothing moved */
    tick now, next_own;
    /* number of the cycle at `now` */
    uint64_t cycle;
    union {
        struct {
            /* the newest cycle moved something; if not, only the L1 has something to do before next_own */
            bool is_busy;
            /* something has changed in this cycle: before issue, schedulers have to look; from issue on, the
             * SM has to stay awake */
            bool changed;
            /* the schedulers may find another result than when they looked last */
            bool must_look;
            /* the votes of mechanisms or their next timer have changed */
            bool votes_changed;
        };
        /* not 0: one of these flags is set */
        uint32_t is_awake;
    };
    bool has_ticked;
    /* in this cycle the L1 took the acknowledgement of a store, or a store left the L1 */
    bool has_reply;
    /* enum sm_ahead, a mask */
    uint8_t ahead;
    /* the SM has a warp; messages may come over the SMs' ring */
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
/* Did something change for which the schedulers have to look? sleep_looked: they have looked. */
static inline bool sleep_has_look(const struct sleep *s)
{
    return s->must_look | s->changed | s->votes_changed;
}
static inline void sleep_looked(struct sleep *s) { s->must_look = s->changed = s->votes_changed = false; }
/* has_reply: the L1 took the acknowledgement of a store in this cycle, or a store left the L1. */
static inline void sleep_reply(struct sleep *s, bool has_reply) { s->has_reply = has_reply; }
static inline void sleep_warps(struct sleep *s, bool has_warps) { s->has_warps = has_warps; }
/* The SM has something to do at this time, or earlier. */
static inline void sleep_wake_at(struct sleep *s, tick at) { wake_at(s->wake, at); }

struct sm;
/* wake: where the SM writes when it next has something to do; NULL: in its own state. */
void sleep_init(struct sm *m, tick *wake, bool has_ring);
/* A cycle begins at `now`; true: the SM has already run it and only ends it now (ahead.c). */
bool sleep_begin(struct sm *m, tick now);
/* True: this cycle is like the last one except for what the L1 sends and for answers that ended no load; the
 * other stages can be skipped, and the time of the next tick is set. */
bool sleep_is_l1_alone(struct sm *m);
/* The cycle has ended: sets the time of the next tick. */
void sleep_end(struct sm *m);
/* ahead.c: the others have come to a cycle that the SM has already run: it ends that cycle, if it paused in
 * it. */
void sleep_cycle_again(struct sm *m, tick now);
/* Called before the schedulers look. True: an SM that runs ahead must wait for the others first. */
bool sleep_pauses(struct sm *m);
/* Returns the cycles that are over; a cycle that has not come to the schedulers is not over. */
uint64_t sleep_cycles_done(const struct sm *m);
/* A change came from outside of the cycle (a CTA, the end of a kernel): the next tick looks at everything. */
void sleep_disturb(struct sm *m);

#endif
