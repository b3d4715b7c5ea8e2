/* crew.c: rounds of work on several threads.
 *
 * A round is a number, and has as many parts as there are members. Whoever raises the `taken` of a part from the round before to
 * this one does it, then raises its `done`. The caller does what nobody else has begun, so a member that has lost its core to another process
 * holds nobody up. (1) Every part is taken once in every round: a member that comes late finds `taken` raised and goes
 * back to waiting. (2) A member that sleeps has counted itself in `sleepers` before it looked at `round` for the last time,
 * and the caller looks at `sleepers` after it raised `round`: one of the two sees the other. (3) Members begin in the default
 * floating-point environment, whatever the program around us does with its own. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "core/crew.h"

#include "emu/step.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
    CREW_LINE =
        128, /* bytes that the host's cores hand to each other at a time: two lines, for the prefetcher */
    CREW_SPINS =
        4000,        /* looks before a member sleeps: some 100 us, longer than the serial part of any cycle */
    CREW_YIELDS = 64 /* the same where members share cores */
};

struct crew_member {
    _Alignas(CREW_LINE) atomic_uint taken; /* newest round in which its part was begun */
    atomic_uint done;                      /* the same, finished */
    struct crew *crew;
    uint32_t number;
    pthread_t thread;
};

struct crew {
    _Alignas(CREW_LINE) atomic_uint round;
    atomic_uint sleepers;
    atomic_bool over;
    _Alignas(CREW_LINE) uint32_t members;
    bool crowded; /* more members than cores */
    void (*work)(void *ctx, uint32_t member);
    void *ctx;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct crew_member *list; /* [members] */
    uint32_t running;         /* threads: of members 1 .. */
};

static void breathe(const struct crew *c)
{
    if (c->crowded) {
        sched_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void sleep_until_called(struct crew *c, uint32_t seen)
{
    pthread_mutex_lock(&c->lock);
    atomic_fetch_add(&c->sleepers, 1);
    while (atomic_load(&c->round) == seen && !atomic_load(&c->over)) pthread_cond_wait(&c->wake, &c->lock);
    atomic_fetch_sub(&c->sleepers, 1);
    pthread_mutex_unlock(&c->lock);
}

/* The next round after `seen`. */
static uint32_t await_round(struct crew *c, uint32_t seen)
{
    uint32_t looks = c->crowded ? CREW_YIELDS : CREW_SPINS;
    while (looks--) {
        uint32_t round = atomic_load_explicit(&c->round, memory_order_acquire);
        if (round != seen || atomic_load_explicit(&c->over, memory_order_relaxed)) return round;
        breathe(c);
    }
    sleep_until_called(c, seen);
    return atomic_load(&c->round);
}

/* Does a part of a round, if nobody has begun it. */
static void try_part(struct crew *c, uint32_t part, uint32_t round)
{
    struct crew_member *m = &c->list[part];
    uint32_t before = round - 1;
    if (atomic_load_explicit(&m->taken, memory_order_relaxed) != before ||
        !atomic_compare_exchange_strong(&m->taken, &before, round))
        return;
    c->work(c->ctx, part);
    atomic_store_explicit(&m->done, round, memory_order_release);
}

static void *member_run(void *arg)
{
    struct crew_member *m = arg;
    struct crew *c = m->crew;
    fenv_t mine;
    emu_env_enter(&mine);
    for (uint32_t seen = 0;;) {
        uint32_t round = await_round(c, seen);
        if (round == seen) {
            if (atomic_load(&c->over)) return NULL;
            continue;
        }
        seen = round;
        try_part(c, m->number, round);
        for (uint32_t i = 1; c->crowded && i < c->members; i++)
            try_part(c, (m->number + i) % c->members, round);
    }
}

void crew_round(struct crew *c)
{
    uint32_t round = atomic_load_explicit(&c->round, memory_order_relaxed) + 1;
    atomic_store(&c->round, round);
    if (atomic_load(&c->sleepers)) {
        pthread_mutex_lock(&c->lock);
        pthread_cond_broadcast(&c->wake);
        pthread_mutex_unlock(&c->lock);
    }
    for (uint32_t i = 0; i < c->members; i++) try_part(c, i, round);
    for (uint32_t i = 0; i < c->members; i++) { /* where cores are shared, another may have part 0, too */
        uint32_t looks = 0;
        while (atomic_load_explicit(&c->list[i].done, memory_order_acquire) != round) {
            if (++looks < CREW_SPINS)
                breathe(c);
            else
                sched_yield(); /* it has lost its core in the middle of its part */
        }
    }
}

static uint32_t host_cores(void)
{
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) return (uint32_t)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

struct crew *crew_create(uint32_t members, void (*work)(void *ctx, uint32_t member), void *ctx)
{
    assert(members);
    struct crew *c = aligned_alloc(CREW_LINE, round_up_u64(sizeof *c, CREW_LINE));
    struct crew_member *list = aligned_alloc(CREW_LINE, sizeof *list * members);
    if (!c || !list) UNREACHABLE("memory for threads");
    memset(c, 0, sizeof *c);
    memset(list, 0, sizeof *list * members);
    c->members = members;
    c->crowded = members > host_cores();
    c->work = work;
    c->ctx = ctx;
    c->list = list;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, NULL);
    sigset_t all, before; /* signals are for the program's own threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = true;
    for (uint32_t i = 1; ok && i < members; i++) {
        list[i].crew = c;
        list[i].number = i;
        ok = !pthread_create(&list[i].thread, NULL, member_run, &list[i]);
        c->running += ok;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok) return c;
    crew_destroy(c);
    return NULL;
}

void crew_destroy(struct crew *c)
{
    if (!c) return;
    pthread_mutex_lock(&c->lock);
    atomic_store(&c->over, true);
    pthread_cond_broadcast(&c->wake);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 1; i <= c->running; i++) pthread_join(c->list[i].thread, NULL);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
    free(c->list);
    free(c);
}
