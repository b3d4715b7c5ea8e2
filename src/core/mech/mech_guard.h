/* mech_guard.h: an error of a mechanism ends the run, not the process.
 *
 * While a hook runs, its thread has a *mark*, which names the mechanism and the hook. After a bad answer or
 * call (mech_fail) and after a crash (a signal), control leaves the hook and all its callers up to the
 * innermost *guard* of the thread, which gets the mechanism's name, the hook, the SM and the cycle. The
 * simulation cannot go on from that state; its counts can be read.
 *
 * (1) A crash is attributed to a mechanism if its thread has a mark; all other signals are passed on to the
 * handler before ours. (2) Signals are caught between mech_guard_arm and mech_guard_disarm, in the thread
 * that armed and in those that call mech_guard_call in that time. (3) Only one machine of a process is armed
 * at a time. */
#ifndef HEDDLE_MECH_GUARD_H
#define HEDDLE_MECH_GUARD_H

#include "base/base.h"

#include <stdarg.h>

/* The mechanism whose hooks are called, the SM, and the cycle; both pointers may be NULL. */
struct mech_caller {
    const char *mechanism;
    const uint32_t *sm;
    const uint64_t *cycle;
};

/* hook NULL: no hook runs. */
struct mech_mark {
    const struct mech_caller *who;
    const char *hook;
};

/* The mark of this thread, and its guard. Code that a signal handler enters cannot allocate: the TLS model
 * gives the variable its memory when the thread starts. */
struct mech_thread {
    struct mech_mark mark;
    struct mech_guard *guard;
    /* the handler's stack, where the thread had none */
    void *stack;
};
extern _Thread_local struct mech_thread mech_thread __attribute__((tls_model("initial-exec")));

/* Marks that a hook begins; returns the mark to restore when it has ended. A hook may cause another one (by a
 * port that tells an event). */
static inline struct mech_mark mech_mark_begin(const struct mech_caller *who, const char *hook)
{
    const struct mech_mark outer = mech_thread.mark;
    mech_thread.mark = (struct mech_mark){who, hook};
    return outer;
}
static inline void mech_mark_end(struct mech_mark outer) { mech_thread.mark = outer; }

/* Why a guarded call was left. */
struct mech_failure {
    /* "mechanism 'x', pick, SM 3, cycle 100: ..." */
    char text[400];
    /* signal of a crash; 0: a bad answer or call */
    int signal_number;
    struct mech_mark mark;
    const void *address;
};

/* Calls body(ctx). False: a mechanism failed in it, and the call was left. */
bool mech_guard_call(void (*body)(void *ctx), void *ctx, struct mech_failure *failure);
/* Leaves the innermost guarded call of this thread, with a failure that happened in another thread. */
NORETURN void mech_guard_leave(const struct mech_failure *failure);
/* Leaves it because of this mechanism; where: its hook or port. Without a guard the process ends. */
NORETURN COLD void mech_guard_fail(const struct mech_caller *who, const char *where, const char *fmt,
                                   va_list ap);

/* From this call to mech_guard_disarm, crashes in hooks are failures of mechanisms. */
void mech_guard_arm(void);
bool mech_guard_is_armed(void);
void mech_guard_disarm(void);

#endif
