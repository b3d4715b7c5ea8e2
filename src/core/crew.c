/* crew.c: rounds of work on several threads.
 *
 * A round is a number. The caller writes it, with the mask of the workers that it calls, into a word that all
 * workers watch. Each worker has a share, with two numbers: `taken`, the last round in which the share was
 * begun, and `done` (the word of its report), the last round in which it was finished. A thread that raises
 * `taken` to the number of the round does the share. Workers do their own share, since its data is in the
 * cache of their core. When the caller has finished its own share and another has not been begun for a while,
 * the caller does that one: a worker that has lost its core to another process delays nobody.
 *
 * (1) Each share is done once in a round, since `taken` only rises.
 * (2) A call may come while a worker goes to sleep. Then the caller does the share, and the next call
 *     wakes the worker. So no round needs a full memory fence.
 * (3) Workers begin in the default floating-point environment, whatever the program does with its own.
 * (4) The call is read only by a thread that has raised a `taken` to the round: the caller writes the next
 *     call only when all shares of the round are done.
 * (5) In an undisturbed round only the line of the call and the lines of the reports move between cores:
 *     `taken` is touched by its own worker alone. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "core/crew.h"

#include "emu/step.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
    /* looks before a worker sleeps: some 100 us, longer than the serial part of any cycle */
    CREW_SPINS = 4000,
    /* looks before a worker sleeps where workers share cores */
    CREW_YIELDS = 64,
    /* looks before the caller does a share that was not begun: some 2 us */
    CREW_PATIENCE = 64
};

/* A word that one side waits for, and the data that comes with it. */
struct crew_line {
    _Alignas(CREW_LINE) _Atomic uint64_t word;
    unsigned char data[];
};

struct crew_worker {
    /* the last round in which its share was begun */
    _Alignas(CREW_LINE) atomic_uint taken;
    uint32_t number;
    /* the word is `done`: the last round in which its share was finished */
    struct crew_line *report;
    struct crew *crew;
    pthread_t thread;
};

struct crew {
    /* constant after crew_create; the word of the call is the last round and the mask of its workers */
    _Alignas(CREW_LINE) struct crew_line *call;
    struct crew_worker *workers;
    uint32_t worker_count;
    /* more workers than cores */
    bool is_crowded;
    void (*work)(void *ctx, uint32_t worker);
    void *ctx;
    /* threads that were made: those of workers 1 and up */
    uint32_t thread_count;
    /* seldom written; mask of workers that sleep, by bits as in the call */
    _Alignas(CREW_LINE) atomic_uint sleepers;
    atomic_bool is_over;
    /* [bit]: workers that sleep; changed under the lock, as `sleepers` is */
    uint32_t asleep[CREW_BITS];
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* the caller's */
    _Alignas(CREW_LINE) uint32_t round;
};

static struct crew_line *make_line(size_t data_bytes)
{
    size_t bytes = round_up_u64(offsetof(struct crew_line, data) + data_bytes, CREW_LINE);
    struct crew_line *l = aligned_alloc(CREW_LINE, bytes);
    if (!l) UNREACHABLE("memory for threads");
    memset(l, 0, bytes);
    return l;
}

static uint32_t round_of(uint64_t call) { return (uint32_t)(call >> CREW_BITS); }

/* Does the word call this worker, and later than `seen`? */
static bool is_call(const struct crew_worker *w, uint64_t call, uint32_t seen)
{
    return round_of(call) != seen && crew_is_called((uint32_t)call, w->number);
}

static void pause_briefly(const struct crew *c)
{
    if (c->is_crowded) {
        sched_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void sleep_until_called(struct crew_worker *w, uint32_t seen)
{
    struct crew *c = w->crew;
    const uint32_t slot = w->number % CREW_BITS;
    pthread_mutex_lock(&c->lock);
    if (!c->asleep[slot]++) atomic_fetch_or(&c->sleepers, 1u << slot);
    while (!is_call(w, atomic_load(&c->call->word), seen) && !atomic_load(&c->is_over))
        pthread_cond_wait(&c->wake, &c->lock);
    if (!--c->asleep[slot]) atomic_fetch_and(&c->sleepers, ~(1u << slot));
    pthread_mutex_unlock(&c->lock);
}

/* Waits for a call that is newer than `seen`. Returns another one if the crew is being destroyed. */
static uint64_t await_call(struct crew_worker *w, uint32_t seen)
{
    struct crew *c = w->crew;
    for (uint32_t looks = c->is_crowded ? CREW_YIELDS : CREW_SPINS; looks; looks--) {
        uint64_t call = atomic_load_explicit(&c->call->word, memory_order_acquire);
        if (is_call(w, call, seen) || atomic_load_explicit(&c->is_over, memory_order_relaxed)) return call;
        pause_briefly(c);
    }
    sleep_until_called(w, seen);
    return atomic_load(&c->call->word);
}

/* Does a worker's share of a round, unless it was begun. */
static void try_share(struct crew *c, uint32_t worker, uint32_t round)
{
    struct crew_worker *w = &c->workers[worker];
    uint32_t before = atomic_load_explicit(&w->taken, memory_order_relaxed);
    if ((int32_t)(round - before) <= 0 || !atomic_compare_exchange_strong(&w->taken, &before, round)) return;
    c->work(c->ctx, worker);
    atomic_store_explicit(&w->report->word, round, memory_order_release);
}

/* Where workers share cores: does the shares that other workers have not begun. */
static void help_others(const struct crew_worker *w, uint64_t call)
{
    struct crew *c = w->crew;
    for (uint32_t i = 1; i < c->worker_count; i++) {
        const uint32_t other = (w->number + i) % c->worker_count;
        if (other && crew_is_called((uint32_t)call, other)) try_share(c, other, round_of(call));
    }
}

static void *worker_run(void *arg)
{
    struct crew_worker *w = arg;
    fenv_t mine;
    emu_env_enter(&mine);
    for (uint32_t seen = 0;;) {
        uint64_t call = await_call(w, seen);
        if (!is_call(w, call, seen)) return NULL;
        seen = round_of(call);
        try_share(w->crew, w->number, seen);
        if (w->crew->is_crowded) help_others(w, call);
    }
}

static void call_workers(struct crew *c, uint32_t called)
{
    atomic_store_explicit(&c->call->word, (uint64_t)c->round << CREW_BITS | called, memory_order_release);
    if (LIKELY(!(atomic_load_explicit(&c->sleepers, memory_order_relaxed) & called))) return;
    pthread_mutex_lock(&c->lock);
    pthread_cond_broadcast(&c->wake);
    pthread_mutex_unlock(&c->lock);
}

/* Waits until a worker's share is done, and does it if the worker is late. */
static void await_share(struct crew *c, uint32_t worker)
{
    const struct crew_worker *w = &c->workers[worker];
    const uint32_t patience = c->is_crowded ? 0 : CREW_PATIENCE;
    for (uint32_t looks = 0; atomic_load_explicit(&w->report->word, memory_order_acquire) != c->round;
         looks++) {
        if (looks >= patience) try_share(c, worker, c->round);
        if (looks < CREW_SPINS)
            pause_briefly(c);
        else
            sched_yield(); /* the worker has lost its core in the middle of its share */
    }
}

void *crew_call(struct crew *c) { return c->call->data; }
void *crew_report(struct crew *c, uint32_t worker) { return c->workers[worker].report->data; }

void crew_round(struct crew *c, uint32_t called)
{
    c->round++;
    call_workers(c, called);
    if (crew_is_called(called, 0)) c->work(c->ctx, 0);
    for (uint32_t i = 1; i < c->worker_count; i++)
        if (crew_is_called(called, i)) await_share(c, i);
}

static uint32_t host_cores(void)
{
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) return (uint32_t)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

/* False: the host refuses one of them. Workers block all signals, so that the program's own threads get them,
 * except those that an instruction of the worker raises (SIGSEGV): blocked, these would end the process
 * without a message. */
static bool start_threads(struct crew *c)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigset_t others, before;
    sigfillset(&others);
    for (size_t i = 0; i < ARRAY_LEN(own); i++) sigdelset(&others, own[i]);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    bool ok = true;
    for (uint32_t i = 1; ok && i < c->worker_count; i++) {
        ok = !pthread_create(&c->workers[i].thread, NULL, worker_run, &c->workers[i]);
        c->thread_count += ok;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

struct crew *crew_create(uint32_t workers, size_t call_bytes, size_t report_bytes,
                         void (*work)(void *ctx, uint32_t worker), void *ctx)
{
    assert(workers);
    struct crew *c = aligned_alloc(CREW_LINE, round_up_u64(sizeof *c, CREW_LINE));
    struct crew_worker *list = aligned_alloc(CREW_LINE, sizeof *list * workers);
    if (!c || !list) UNREACHABLE("memory for threads");
    memset(c, 0, sizeof *c);
    memset(list, 0, sizeof *list * workers);
    c->call = make_line(call_bytes);
    c->workers = list;
    c->worker_count = workers;
    c->is_crowded = workers > host_cores();
    c->work = work;
    c->ctx = ctx;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, NULL);
    for (uint32_t i = 0; i < workers; i++) {
        list[i].crew = c;
        list[i].number = i;
        list[i].report = make_line(report_bytes);
    }
    if (start_threads(c)) return c;
    crew_destroy(c);
    return NULL;
}

void crew_destroy(struct crew *c)
{
    if (!c) return;
    pthread_mutex_lock(&c->lock);
    atomic_store(&c->is_over, true);
    pthread_cond_broadcast(&c->wake);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 1; i <= c->thread_count; i++) pthread_join(c->workers[i].thread, NULL);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
    for (uint32_t i = 0; i < c->worker_count; i++) free(c->workers[i].report);
    free(c->call);
    free(c->workers);
    free(c);
}
