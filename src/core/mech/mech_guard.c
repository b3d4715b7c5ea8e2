/* mech_guard.c: see mech_guard.h.
 *
 * A hook that overflows its stack leaves no room for a handler, so handlers run on another stack: the one
 * that the thread has, or one of ours. The handler only records what happened and jumps; texts are written at
 * the target of the jump. */
#define _GNU_SOURCE /* sigabbrev_np */
#include "core/mech/mech_guard.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

enum { HANDLER_STACK_BYTES = 64 << 10 };

_Thread_local struct mech_thread mech_thread __attribute__((tls_model("initial-exec")));

struct mech_guard {
    sigjmp_buf env;
    struct mech_guard *outer;
    struct mech_failure *failure;
};

/* ---- texts ---- */

/* A hook calls a port, and the mark knows the hook. */
static void describe(struct mech_failure *f, const struct mech_caller *who, const char *where,
                     const char *what)
{
    const struct mech_mark *mark = &f->mark;
    const bool is_port = mark->hook && strcmp(mark->hook, where);
    char sm[32] = "", cycle[32] = "";
    if (who->sm) snprintf(sm, sizeof sm, ", SM %u", *who->sm);
    if (who->cycle) snprintf(cycle, sizeof cycle, ", cycle %llu", (unsigned long long)*who->cycle);
    snprintf(f->text, sizeof f->text, "mechanism '%.60s', %s%s%s%s%s: %s", who->mechanism, where,
             is_port ? " in " : "", is_port ? mark->hook : "", sm, cycle, what);
}

static void describe_crash(struct mech_failure *f)
{
    const char *name = sigabbrev_np(f->signal_number);
    char what[96];
    if (f->signal_number == SIGABRT)
        snprintf(what, sizeof what, "it aborted");
    else
        snprintf(what, sizeof what, "it crashed (SIG%s at address %p)", name ? name : "?", f->address);
    describe(f, f->mark.who, f->mark.hook, what);
}

/* ---- the handler's stack ---- */

static bool is_armed;
static pthread_key_t stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;

/* Called at the end of a thread, or when it disarms. */
static void drop_stack(void *stack)
{
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    free(stack);
}

static void make_stack_key(void)
{
    if (pthread_key_create(&stack_key, drop_stack)) UNREACHABLE("a key for the data of threads");
}

static void give_stack(void)
{
    stack_t now;
    if (mech_thread.stack || sigaltstack(NULL, &now) || !(now.ss_flags & SS_DISABLE)) return;
    mech_thread.stack = mem_alloc(HANDLER_STACK_BYTES);
    sigaltstack(&(stack_t){.ss_sp = mech_thread.stack, .ss_size = HANDLER_STACK_BYTES}, NULL);
    pthread_once(&stack_once, make_stack_key);
    pthread_setspecific(stack_key, mech_thread.stack);
}

static void take_stack(void)
{
    if (!mech_thread.stack) return;
    pthread_setspecific(stack_key, NULL);
    drop_stack(mech_thread.stack);
    mech_thread.stack = NULL;
}

/* ---- guarded calls ---- */

bool mech_guard_call(void (*body)(void *ctx), void *ctx, struct mech_failure *failure)
{
    const struct mech_mark before = mech_thread.mark;
    struct mech_guard guard = {.outer = mech_thread.guard, .failure = failure};
    if (UNLIKELY(is_armed && !mech_thread.stack)) give_stack();
    failure->signal_number = 0;
    mech_thread.guard = &guard;
    if (!sigsetjmp(guard.env, 0)) {
        body(ctx);
        mech_thread.guard = guard.outer;
        return true;
    }
    mech_thread.guard = guard.outer;
    mech_thread.mark = before;
    if (failure->signal_number) describe_crash(failure);
    return false;
}

void mech_guard_leave(const struct mech_failure *failure)
{
    struct mech_guard *guard = mech_thread.guard;
    if (!guard) {
        fprintf(stderr, "heddle: error: %s\n", failure->text);
        _Exit(EXIT_FAILURE);
    }
    *guard->failure = *failure;
    guard->failure->signal_number = 0; /* the text is written already */
    siglongjmp(guard->env, 1);
}

void mech_guard_fail(const struct mech_caller *who, const char *where, const char *fmt, va_list ap)
{
    struct mech_failure f = {.mark = mech_thread.mark};
    char what[200];
    vsnprintf(what, sizeof what, fmt, ap);
    describe(&f, who, where, what);
    mech_guard_leave(&f);
}

/* ---- signals ---- */

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* The handlers before ours. */
static struct sigaction handled_before[ARRAY_LEN(crash_signals)];

/* The handler before ours gets the signal again: a fault when its instruction is executed again, a signal
 * that was sent when it is sent again. */
static void pass_on(int signal_number, const siginfo_t *info)
{
    for (size_t i = 0; i < ARRAY_LEN(crash_signals); i++)
        if (crash_signals[i] == signal_number) sigaction(signal_number, &handled_before[i], NULL);
    if (info->si_code <= 0 || signal_number == SIGABRT) raise(signal_number);
}

static void on_crash(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    struct mech_guard *guard = mech_thread.guard;
    if (!guard || !mech_thread.mark.hook) {
        pass_on(signal_number, info);
        return;
    }
    guard->failure->signal_number = signal_number;
    guard->failure->address = info->si_addr;
    guard->failure->mark = mech_thread.mark;
    siglongjmp(guard->env, 1);
}

void mech_guard_arm(void)
{
    assert(!is_armed); /* rule 3 */
    give_stack();
    struct sigaction mine = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    for (size_t i = 0; i < ARRAY_LEN(crash_signals); i++)
        sigaction(crash_signals[i], &mine, &handled_before[i]);
    is_armed = true;
}

bool mech_guard_is_armed(void) { return is_armed; }

void mech_guard_disarm(void)
{
    is_armed = false;
    for (size_t i = 0; i < ARRAY_LEN(crash_signals); i++)
        sigaction(crash_signals[i], &handled_before[i], NULL);
    take_stack();
}
