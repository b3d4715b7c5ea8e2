/* crew.c: rounds of work on several threads.
 *
 * A round is a number. The caller writes it into the `call` of each member that has a part in it; whoever raises the `taken` of that
 * part to it does the part, then raises its `done`. A member keeps to its own part, since what it works on lies in the cache of its core; the
 * caller does a part that nobody has begun a while after its own, so a member that has lost its core to another process holds
 * nobody up. (1) Every part is done once: `taken` only grows. (2) A call may come while its member goes to sleep: then the caller does the
 * part, and the next call finds the member among the `sleepers`. So no round needs a full fence. (3) Members begin in the
 * default floating-point environment, whatever the program around us does with its own. */
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
        4000, /* looks before a member sleeps: some 100 us, longer than the serial part of any cycle */
    CREW_YIELDS = 64,  /* the same where members share cores */
    CREW_PATIENCE = 64 /* looks before the caller does a part that was not begun: some 2 us */
};

struct crew_member {
    _Alignas(CREW_LINE) atomic_uint call; /* newest round that it is called to: written by the caller */
    _Alignas(CREW_LINE)
        atomic_uint taken; /* newest round in which its part was begun: written by who does it */
    atomic_uint done;      /* the same, finished */
    struct crew *crew;
    uint32_t number;
    pthread_t thread;
};

struct crew {
    _Alignas(CREW_LINE) atomic_uint sleepers;
    atomic_bool over;
    _Alignas(CREW_LINE) uint32_t members, round;
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

static void sleep_until_called(struct crew_member *m, uint32_t seen)
{
    struct crew *c = m->crew;
    pthread_mutex_lock(&c->lock);
    atomic_fetch_add(&c->sleepers, 1);
    while (atomic_load(&m->call) == seen && !atomic_load(&c->over)) pthread_cond_wait(&c->wake, &c->lock);
    atomic_fetch_sub(&c->sleepers, 1);
    pthread_mutex_unlock(&c->lock);
}

/* The next call after `seen`; the same: the crew is dismissed. */
static uint32_t await_call(struct crew_member *m, uint32_t seen)
{
    struct crew *c = m->crew;
    for (uint32_t looks = c->crowded ? CREW_YIELDS : CREW_SPINS; looks; looks--) {
        uint32_t round = atomic_load_explicit(&m->call, memory_order_acquire);
        if (round != seen || atomic_load_explicit(&c->over, memory_order_relaxed)) return round;
        breathe(c);
    }
    sleep_until_called(m, seen);
    return atomic_load(&m->call);
}

/* Does a part of a round, if nobody has begun it. */
static void try_part(struct crew *c, uint32_t part, uint32_t round)
{
    struct crew_member *m = &c->list[part];
    uint32_t before = atomic_load_explicit(&m->taken, memory_order_relaxed);
    if ((int32_t)(round - before) <= 0 || !atomic_compare_exchange_strong(&m->taken, &before, round)) return;
    c->work(c->ctx, part);
    atomic_store_explicit(&m->done, round, memory_order_release);
}

/* Where cores are shared: a part of another member whose turn has not come. */
static void help_others(struct crew_member *m, uint32_t round)
{
    struct crew *c = m->crew;
    for (uint32_t i = 1; i < c->members; i++) {
        uint32_t part = (m->number + i) % c->members;
        if (part && atomic_load_explicit(&c->list[part].call, memory_order_acquire) == round)
            try_part(c, part, round);
    }
}

static void *member_run(void *arg)
{
    struct crew_member *m = arg;
    fenv_t mine;
    emu_env_enter(&mine);
    for (uint32_t seen = 0;;) {
        uint32_t round = await_call(m, seen);
        if (round == seen) return NULL;
        seen = round;
        try_part(m->crew, m->number, round);
        if (m->crew->crowded) help_others(m, round);
    }
}

static bool is_in(const uint64_t *parts, uint32_t part) { return parts[part / 64] >> (part % 64) & 1; }

static void call_members(struct crew *c, const uint64_t *parts)
{
    for (uint32_t i = 1; i < c->members; i++)
        if (is_in(parts, i)) atomic_store_explicit(&c->list[i].call, c->round, memory_order_release);
    if (LIKELY(!atomic_load_explicit(&c->sleepers, memory_order_relaxed))) return;
    pthread_mutex_lock(&c->lock);
    pthread_cond_broadcast(&c->wake);
    pthread_mutex_unlock(&c->lock);
}

/* Until its part is done, by its member as a rule. */
static void await_part(struct crew *c, uint32_t part)
{
    struct crew_member *m = &c->list[part];
    const uint32_t patience = c->crowded ? 0 : CREW_PATIENCE;
    for (uint32_t looks = 0; atomic_load_explicit(&m->done, memory_order_acquire) != c->round; looks++) {
        if (looks >= patience) try_part(c, part, c->round);
        if (looks < CREW_SPINS)
            breathe(c);
        else
            sched_yield(); /* it has lost its core in the middle of its part */
    }
}

void crew_round(struct crew *c, const uint64_t *parts)
{
    c->round++;
    call_members(c, parts);
    if (is_in(parts, 0)) c->work(c->ctx, 0);
    for (uint32_t i = 1; i < c->members; i++)
        if (is_in(parts, i)) await_part(c, i);
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
