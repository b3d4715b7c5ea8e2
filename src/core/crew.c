/* crew.c: rounds of work on several threads.
 *
 * A round is a number. The caller writes it, with the mask of those that have a part in it, into the word that all members look at; whoever raises
 * the `taken` of a part to it does the part, then raises its `done`. A member keeps to its own part, since what it works on lies in the cache of its core; the
 * caller does a part that nobody has begun a while after its own, so a member that has lost its core to another process holds
 * nobody up. (1) Every part is done once: `taken` only grows. (2) A call may come while its member goes to sleep: then the caller does the
 * part, and the next call finds the member asleep. So no round needs a full fence. (3) Members begin in the
 * default floating-point environment, whatever the program around us does with its own. (4) What the caller says in a round is read by who has
 * raised a `taken` to it, for until that part is done the caller writes nothing. (5) In a round without trouble the line of the call and that of
 * each report change hands, and no other: `taken` is touched by its member alone. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "core/crew.h"

#include "emu/step.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
    CREW_SPINS =
        4000, /* looks before a member sleeps: some 100 us, longer than the serial part of any cycle */
    CREW_YIELDS = 64,  /* the same where members share cores */
    CREW_PATIENCE = 64 /* looks before the caller does a part that was not begun: some 2 us */
};

/* A word by which one side waits for the other, and what it has to say. */
struct crew_line {
    _Alignas(CREW_LINE) _Atomic uint64_t word;
    unsigned char said[];
};

struct crew_member {
    _Alignas(CREW_LINE)
        atomic_uint taken; /* newest round in which its part was begun: written by who does it */
    uint32_t number;
    struct crew_line *report; /* its word: the same, finished */
    struct crew *crew;
    pthread_t thread;
};

struct crew {
    /* as it is made */
    _Alignas(CREW_LINE) struct crew_line *call; /* its word: the newest round, and who has a part in it */
    struct crew_member *list;                   /* [members] */
    uint32_t members;
    bool crowded; /* more members than cores */
    void (*work)(void *ctx, uint32_t member);
    void *ctx;
    uint32_t running; /* threads: of members 1 .. */
    /* seldom written */
    _Alignas(CREW_LINE) atomic_uint sleepers; /* mask, as that of the call */
    atomic_bool over;
    uint32_t asleep[CREW_BITS]; /* members; under the lock, as is any change of `sleepers` */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* the caller's */
    _Alignas(CREW_LINE) uint32_t round;
};

static struct crew_line *make_line(size_t said_bytes)
{
    size_t bytes = round_up_u64(offsetof(struct crew_line, said) + said_bytes, CREW_LINE);
    struct crew_line *l = aligned_alloc(CREW_LINE, bytes);
    if (!l) UNREACHABLE("memory for threads");
    memset(l, 0, bytes);
    return l;
}

static uint32_t round_of(uint64_t call) { return (uint32_t)(call >> CREW_BITS); }
/* Is it a call for this member, and a newer one than `seen`? */
static bool is_call(const struct crew_member *m, uint64_t call, uint32_t seen)
{
    return round_of(call) != seen && crew_is_called((uint32_t)call, m->number);
}

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
    const uint32_t place = m->number % CREW_BITS;
    pthread_mutex_lock(&c->lock);
    if (!c->asleep[place]++) atomic_fetch_or(&c->sleepers, 1u << place);
    while (!is_call(m, atomic_load(&c->call->word), seen) && !atomic_load(&c->over))
        pthread_cond_wait(&c->wake, &c->lock);
    if (!--c->asleep[place]) atomic_fetch_and(&c->sleepers, ~(1u << place));
    pthread_mutex_unlock(&c->lock);
}

/* A call that is newer than `seen`; else the crew is dismissed. */
static uint64_t await_call(struct crew_member *m, uint32_t seen)
{
    struct crew *c = m->crew;
    for (uint32_t looks = c->crowded ? CREW_YIELDS : CREW_SPINS; looks; looks--) {
        uint64_t call = atomic_load_explicit(&c->call->word, memory_order_acquire);
        if (is_call(m, call, seen) || atomic_load_explicit(&c->over, memory_order_relaxed)) return call;
        breathe(c);
    }
    sleep_until_called(m, seen);
    return atomic_load(&c->call->word);
}

/* Does a part of a round, if nobody has begun it. */
static void try_part(struct crew *c, uint32_t part, uint32_t round)
{
    struct crew_member *m = &c->list[part];
    uint32_t before = atomic_load_explicit(&m->taken, memory_order_relaxed);
    if ((int32_t)(round - before) <= 0 || !atomic_compare_exchange_strong(&m->taken, &before, round)) return;
    c->work(c->ctx, part);
    atomic_store_explicit(&m->report->word, round, memory_order_release);
}

/* Where cores are shared: a part of another member whose turn has not come. */
static void help_others(const struct crew_member *m, uint64_t call)
{
    struct crew *c = m->crew;
    for (uint32_t i = 1; i < c->members; i++) {
        uint32_t part = (m->number + i) % c->members;
        if (part && crew_is_called((uint32_t)call, part)) try_part(c, part, round_of(call));
    }
}

static void *member_run(void *arg)
{
    struct crew_member *m = arg;
    fenv_t mine;
    emu_env_enter(&mine);
    for (uint32_t seen = 0;;) {
        uint64_t call = await_call(m, seen);
        if (!is_call(m, call, seen)) return NULL;
        seen = round_of(call);
        try_part(m->crew, m->number, seen);
        if (m->crew->crowded) help_others(m, call);
    }
}

static void call_members(struct crew *c, uint32_t parts)
{
    atomic_store_explicit(&c->call->word, (uint64_t)c->round << CREW_BITS | parts, memory_order_release);
    if (LIKELY(!(atomic_load_explicit(&c->sleepers, memory_order_relaxed) & parts))) return;
    pthread_mutex_lock(&c->lock);
    pthread_cond_broadcast(&c->wake);
    pthread_mutex_unlock(&c->lock);
}

/* Until its part is done, by its member as a rule. */
static void await_part(struct crew *c, uint32_t part)
{
    const struct crew_member *m = &c->list[part];
    const uint32_t patience = c->crowded ? 0 : CREW_PATIENCE;
    for (uint32_t looks = 0; atomic_load_explicit(&m->report->word, memory_order_acquire) != c->round;
         looks++) {
        if (looks >= patience) try_part(c, part, c->round);
        if (looks < CREW_SPINS)
            breathe(c);
        else
            sched_yield(); /* it has lost its core in the middle of its part */
    }
}

void *crew_call(struct crew *c) { return c->call->said; }
void *crew_report(struct crew *c, uint32_t part) { return c->list[part].report->said; }

void crew_round(struct crew *c, uint32_t parts)
{
    c->round++;
    call_members(c, parts);
    if (crew_is_called(parts, 0)) c->work(c->ctx, 0);
    for (uint32_t i = 1; i < c->members; i++)
        if (crew_is_called(parts, i)) await_part(c, i);
}

static uint32_t host_cores(void)
{
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) return (uint32_t)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

struct crew *crew_create(uint32_t members, size_t call_bytes, size_t report_bytes,
                         void (*work)(void *ctx, uint32_t member), void *ctx)
{
    assert(members);
    struct crew *c = aligned_alloc(CREW_LINE, round_up_u64(sizeof *c, CREW_LINE));
    struct crew_member *list = aligned_alloc(CREW_LINE, sizeof *list * members);
    if (!c || !list) UNREACHABLE("memory for threads");
    memset(c, 0, sizeof *c);
    memset(list, 0, sizeof *list * members);
    c->call = make_line(call_bytes);
    c->members = members;
    c->crowded = members > host_cores();
    c->work = work;
    c->ctx = ctx;
    c->list = list;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, NULL);
    for (uint32_t i = 0; i < members; i++) {
        list[i].crew = c;
        list[i].number = i;
        list[i].report = make_line(report_bytes);
    }
    sigset_t all, before; /* signals are for the program's own threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = true;
    for (uint32_t i = 1; ok && i < members; i++) {
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
    for (uint32_t i = 0; i < c->members; i++) free(c->list[i].report);
    free(c->call);
    free(c->list);
    free(c);
}
