/* mech_host.c: the attached mechanisms of one SM: their states, votes and timers, and the one place where
 * each hook is called.
 *
 * Invariants. (1) Votes are kept by mechanism and combined anew when one changes: the result is a function of
 * the set of votes, not of the order in which they came or in which mechanisms were attached. (2) Every voter
 * is asked, also after a "no": a voter that counts what it is asked counts the same beside any other. (3) A
 * mechanism's ports speak in its own name; it cannot touch the vote of another. (4) A timer is called with
 * the cycle at which it was due, as often as it was due, so a late call changes nothing for it. */
#include "core/mech_host.h"

#include "base/hugepage.h"

struct mech_seat {
    struct mech_sm *sm;
    const struct mechanism *mech;
    struct mech_ports ports; /* what this mechanism was given */
    uint32_t index;
    uint32_t period; /* core cycles; 0 = no timer */
    uint64_t due;    /* next timer; UINT64_MAX = none */
    uint64_t fired;  /* when the timer was last due */
};

/* ---- ports ---- */

static uint64_t mech_and(const uint64_t *votes, uint32_t count)
{
    uint64_t all = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) all &= votes[i];
    return all;
}

static void mech_vote(struct mech_seat *seat, uint64_t *votes, uint64_t warps, uint64_t *combined,
                      void (*tell)(void *host, uint64_t warps))
{
    struct mech_sm *m = seat->sm;
    if (votes[seat->index] == warps) return;
    votes[seat->index] = warps;
    uint64_t now = mech_and(votes, m->count);
    if (now == *combined) return;
    *combined = now;
    if (m->news) *m->news = true;
    if (tell) tell(m->ports.host, now);
}

static void mech_port_allow_issue(void *host, uint64_t warps)
{
    struct mech_seat *seat = host;
    mech_vote(seat, seat->sm->issue_votes, warps, &seat->sm->issue_mask, seat->sm->ports.allow_issue);
}

static void mech_port_allow_memory(void *host, uint64_t warps)
{
    struct mech_seat *seat = host;
    mech_vote(seat, seat->sm->memory_votes, warps, &seat->sm->memory_mask, seat->sm->ports.allow_memory);
}

static bool mech_port_prefetch(void *host, uint64_t address, uint32_t pc, int target_warp)
{
    const struct mech_ports *sm = &((struct mech_seat *)host)->sm->ports;
    return sm->prefetch && sm->prefetch(sm->host, address, pc, target_warp);
}

static const struct mech_counters *mech_port_counters(void *host)
{
    static const struct mech_counters nothing;
    const struct mech_ports *sm = &((struct mech_seat *)host)->sm->ports;
    return sm->counters ? sm->counters(sm->host) : &nothing;
}

static void mech_find_next_timer(struct mech_sm *m)
{
    m->next_timer = UINT64_MAX;
    if (m->news) *m->news = true;
    for (uint32_t i = 0; i < m->count; i++) m->next_timer = MIN(m->next_timer, m->seats[i].due);
}

static void mech_port_set_timer(void *host, uint64_t now, uint32_t cycles)
{
    struct mech_seat *seat = host;
    seat->period = seat->mech->on_timer ? cycles : 0;
    seat->due = seat->period ? MAX(now, seat->fired) + seat->period : UINT64_MAX;
    mech_find_next_timer(seat->sm);
}

/* ---- making ---- */

static void mech_seat_fill(struct mech_sm *m, uint32_t i)
{
    const struct mechanism *mech = mech_set_at(m->set, i);
    struct mech_seat *seat = &m->seats[i];
    *seat = (struct mech_seat){.sm = m, .mech = mech, .ports = m->ports, .index = i, .due = UINT64_MAX};
    seat->ports.host = seat;
    seat->ports.allow_issue = mech_port_allow_issue;
    seat->ports.allow_memory = mech_port_allow_memory;
    seat->ports.prefetch = mech_port_prefetch;
    seat->ports.counters = mech_port_counters;
    seat->ports.set_timer = mech_port_set_timer;
    if (mech->on_timer && mech->timer_cycles) seat->due = seat->period = mech->timer_cycles;
    m->states[i] = mem_zalloc_huge(MAX(mech->state_bytes, 1));
    m->issue_votes[i] = m->memory_votes[i] = UINT64_MAX;
    m->has_access = m->has_access || mech->on_l1_access;
    m->has_evict = m->has_evict || mech->on_l1_evict;
    m->has_fill = m->has_fill || mech->on_l1_fill;
    m->has_issue = m->has_issue || mech->on_issue;
    m->has_warp = m->has_warp || mech->on_warp;
    m->has_barrier = m->has_barrier || mech->on_barrier;
    m->has_allocate = m->has_allocate || mech->may_allocate;
    if (mech->pick) m->policy = (int)i;
}

struct mech_sm *mech_sm_create(struct mech_set *set, const struct mech_ports *ports, void *const *gpu_states)
{
    uint32_t n = mech_set_count(set);
    assert(ports->warps <= MECH_WARPS_MAX && ports->schedulers <= MECH_SCHEDULERS_MAX);
    struct mech_sm *m = mem_zalloc_huge(sizeof *m);
    m->set = set;
    m->count = n;
    m->ports = *ports;
    m->policy = -1;
    m->issue_mask = m->memory_mask = UINT64_MAX;
    m->states = mem_zalloc_huge(n * sizeof *m->states);
    m->issue_votes = mem_zalloc_huge(n * sizeof *m->issue_votes);
    m->memory_votes = mem_zalloc_huge(n * sizeof *m->memory_votes);
    m->seats = mem_zalloc_huge(n * sizeof *m->seats);
    for (uint32_t i = 0; i < n; i++) mech_seat_fill(m, i);
    assert(m->policy >= 0); /* mech_set_create sees to it */
    mech_find_next_timer(m);
    /* All seats are there before the first init: a vote cast in it is combined with the others. */
    for (uint32_t i = 0; i < n; i++) {
        const struct mech_seat *seat = &m->seats[i];
        if (seat->mech->init)
            seat->mech->init(m->states[i], gpu_states ? gpu_states[i] : NULL, mech_set_params(set, i),
                             &seat->ports);
    }
    return m;
}

void mech_sm_destroy(struct mech_sm *m)
{
    if (!m) return;
    for (uint32_t i = 0; i < m->count; i++) mem_free_huge(m->states[i]);
    mem_free_huge(m->states);
    mem_free_huge(m->issue_votes);
    mem_free_huge(m->memory_votes);
    mem_free_huge(m->seats);
    mem_free_huge(m);
}

/* ---- hooks ---- */

static NORETURN void mech_bad_pick(const struct mechanism *mech)
{
    char text[160];
    snprintf(text, sizeof text, "mechanism '%.60s' picked a warp that is not ready", mech->name);
    base_unreachable(__FILE__, __LINE__, text);
}

int mech_pick(struct mech_sm *m, struct mech_sched_view *v)
{
    v->allowed = v->resident & mech_allowed(m, v->memory_next);
    v->ready &= v->allowed;
    if (!v->ready) return MECH_NO_WARP;
    const struct mechanism *mech = m->seats[m->policy].mech;
    int warp = mech->pick(m->states[m->policy], v);
    if (warp == MECH_NO_WARP) return warp;
    if (UNLIKELY(warp < 0 || warp >= MECH_WARPS_MAX || !(v->ready >> warp & 1))) mech_bad_pick(mech);
    return warp;
}

bool mech_may_allocate(struct mech_sm *m, const struct mech_l1_access *a)
{
    bool all = true;
    if (!m->has_allocate) return true;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->seats[i].mech->may_allocate && !m->seats[i].mech->may_allocate(m->states[i], a)) all = false;
    return all;
}

/* Tells an event to every mechanism that has the hook. */
#define MECH_TELL(has, hook, ...)                                                                            \
    do {                                                                                                     \
        if (!(has)) return;                                                                                  \
        for (uint32_t i = 0, n = m->count; i < n; i++)                                                       \
            if (m->seats[i].mech->hook) m->seats[i].mech->hook(m->states[i], __VA_ARGS__);                   \
    } while (0)

void mech_on_issue(struct mech_sm *m, const struct mech_issue *e) { MECH_TELL(m->has_issue, on_issue, e); }
void mech_on_l1_access(struct mech_sm *m, const struct mech_l1_access *e)
{
    MECH_TELL(m->has_access, on_l1_access, e);
}
void mech_on_l1_evict(struct mech_sm *m, const struct mech_l1_evict *e)
{
    MECH_TELL(m->has_evict, on_l1_evict, e);
}
void mech_on_l1_fill(struct mech_sm *m, const struct mech_l1_fill *e)
{
    MECH_TELL(m->has_fill, on_l1_fill, e);
}
void mech_on_warp(struct mech_sm *m, const struct mech_warp_event *e) { MECH_TELL(m->has_warp, on_warp, e); }
void mech_on_barrier(struct mech_sm *m, const struct mech_barrier *e)
{
    MECH_TELL(m->has_barrier, on_barrier, e);
}
void mech_on_kernel(struct mech_sm *m, bool is_start) { MECH_TELL(true, on_kernel, is_start); }

/* The seat whose timer is due first, if any is due by cycle. */
static struct mech_seat *mech_due_seat(struct mech_sm *m, uint64_t cycle)
{
    struct mech_seat *first = NULL;
    for (uint32_t i = 0; i < m->count; i++) {
        struct mech_seat *seat = &m->seats[i];
        if (seat->due <= cycle && (!first || seat->due < first->due)) first = seat;
    }
    return first;
}

void mech_on_timer(struct mech_sm *m, uint64_t cycle)
{
    if (m->next_timer > cycle) return;
    for (struct mech_seat *seat; (seat = mech_due_seat(m, cycle));) {
        seat->fired = seat->due;
        seat->due += seat->period; /* before the call, which may set another timer */
        seat->mech->on_timer(m->states[seat->index], seat->fired);
    }
    mech_find_next_timer(m);
}
