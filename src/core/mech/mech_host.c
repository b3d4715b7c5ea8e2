/* mech_host.c: the mechanisms of one SM: their states and timers, and for each hook the only place that calls
 * it.
 *
 * Invariants. (1) Every voter is asked, also after a "no": a voter that counts its questions counts the same
 * with any other voters. (2) A timer is called with the cycle at which it was due, as often as it was due, so
 * a late call makes no difference to it. (3) An answer that the machine cannot follow ends the run
 * (mech_fail). (4) A hook runs under its mark (mech_guard.h), except for a built-in pick, which is called in
 * every cycle. */
#include "core/mech/mech_seat.h"

#include "base/bitset.h"
#include "base/hugepage.h"

/* ---- creation ---- */

static void find_filled_hooks(struct mech_sm *m, const struct mechanism *h)
{
    m->has_take_miss |= h->take_miss != NULL;
    m->claims_lines |= h->take_miss && h->claims_lines;
    m->has_victim |= h->victim != NULL;
    m->has_admit |= h->admit != NULL;
    m->has_line_touched |= h->line_touched != NULL;
    m->has_line_inserted |= h->line_inserted != NULL;
    m->has_allocate |= h->may_allocate != NULL;
    m->has_may_miss |= h->may_miss != NULL;
    m->has_extra_hit |= h->extra_hit != NULL;
    m->has_kernel |= h->on_kernel != NULL;
    m->has_launch |= h->on_launch != NULL;
    m->has_issue |= h->on_issue != NULL;
    m->has_next |= h->on_next != NULL;
    m->has_access |= h->on_l1_access != NULL;
    m->has_evict |= h->on_l1_evict != NULL;
    m->has_fill |= h->on_l1_fill != NULL;
    m->has_level |= h->on_l1_level != NULL;
    m->has_prefetch |= h->on_prefetch != NULL;
    m->has_warp |= h->on_warp != NULL;
    m->has_barrier |= h->on_barrier != NULL;
    m->has_rows_lost |= h->on_rows_lost != NULL;
    m->has_cta |= h->on_cta != NULL;
    m->hears_stalls |= h->on_cta && h->hears_stalls;
}

static int pick_of_plugin(void *seat_of_policy, const struct mech_sched_view *view)
{
    const struct mech_seat *seat = seat_of_policy;
    const struct mech_mark outer = mech_mark_begin(&seat->caller, "pick");
    const int bit = seat->mech->pick(seat->sm->states[seat->index], view);
    mech_mark_end(outer);
    return bit;
}

static void policy_fill(struct mech_sm *m, uint32_t i)
{
    const bool is_plugin = mech_set_is_plugin(m->setup.set, i);
    m->policy = (int)i;
    m->pick = is_plugin ? pick_of_plugin : m->seats[i].mech->pick;
    m->pick_state = is_plugin ? &m->seats[i] : m->states[i];
}

static void seat_fill(struct mech_sm *m, uint32_t i)
{
    const struct mechanism *mech = mech_set_at(m->setup.set, i);
    struct mech_seat *seat = &m->seats[i];
    *seat = (struct mech_seat){.sm = m,
                               .mech = mech,
                               .caller = {mech->name, &m->setup.index, m->setup.cycle},
                               .index = i,
                               .votes = mech_votes_all(),
                               .due = UINT64_MAX};
    while (mech->note_names && mech->note_names[seat->note_kinds]) seat->note_kinds++;
    if (mech->on_timer && mech->timer_cycles) seat->due = seat->period = mech->timer_cycles;
    mech_ports_fill(seat);
    m->states[i] = mem_zalloc_huge(MAX(mech->state_bytes, 1));
    find_filled_hooks(m, mech);
    if (mech->pick) policy_fill(m, i);
    if (mech->take_miss) m->miss_policy = (int)i;
    if (mech->victim) m->victim_policy = (int)i;
    if (mech->on_ring && mech_gpu_uses(m->setup.gpu, i) & MECH_USES_RING) m->ring_user = (int)i;
    if (mech->admit) m->admit_policy = (int)i;
}

static void find_next_timer(struct mech_sm *m)
{
    m->next_timer = UINT64_MAX;
    for (uint32_t i = 0; i < m->count; i++) m->next_timer = MIN(m->next_timer, m->seats[i].due);
    mech_tell_votes(m);
}

/* All seats exist before the first init, so that a vote in init is combined with the others. */
static void call_inits(void *sm)
{
    struct mech_sm *m = sm;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct mech_seat *seat = &m->seats[i];
        if (!seat->mech->init) continue;
        const struct mech_mark outer = mech_mark_begin(&seat->caller, "init");
        seat->mech->init(m->states[i], mech_gpu_state(m->setup.gpu, i), mech_set_params(m->setup.set, i),
                         &seat->ports);
        mech_mark_end(outer);
    }
}

struct mech_sm *mech_sm_create(const struct mech_sm_setup *setup)
{
    assert(setup->warps <= MECH_WARPS_MAX && setup->schedulers <= MECH_SCHEDULERS_MAX && setup->gpu);
    assert(setup->banks <= MECH_BANKS_MAX && setup->ops);
    struct mech_sm *m = mem_zalloc_huge(sizeof *m);
    m->setup = *setup;
    m->setup.banks = MAX(setup->banks, 1);
    m->count = mech_set_count(setup->set);
    m->policy = m->miss_policy = m->victim_policy = m->admit_policy = m->ring_user = -1;
    m->states = mem_zalloc_huge(m->count * sizeof *m->states);
    m->seats = mem_zalloc_huge(m->count * sizeof *m->seats);
    for (uint32_t i = 0; i < m->count; i++) seat_fill(m, i);
    assert(m->policy >= 0); /* mech_set_create checks this */
    mech_combine_masks(m);
    mech_combine_limits(m);
    find_next_timer(m);
    m->in_init = true;
    mech_gpu_try(m->setup.gpu, call_inits, m);
    m->in_init = false;
    return m;
}

void mech_sm_destroy(struct mech_sm *m)
{
    if (!m) return;
    for (uint32_t i = 0; i < m->count; i++) {
        struct mech_seat *seat = &m->seats[i];
        for (uint32_t j = 0; j < seat->memory.len; j++) mem_free_huge(seat->memory.data[j]);
        vec_free(&seat->memory);
        mem_free_huge(m->states[i]);
    }
    vec_free(&m->claims);
    mem_free_huge(m->states);
    mem_free_huge(m->seats);
    mem_free_huge(m);
}

/* ---- claims ---- */

static void claim(struct mech_sm *m, uint32_t token)
{
    while (m->claims.len <= token / 64) vec_push(&m->claims, 0);
    bitset_add(m->claims.data, token);
    m->claimed++;
}

bool mech_has_claimed(const struct mech_sm *m, uint32_t token)
{
    return token / 64 < m->claims.len && bitset_has(m->claims.data, token);
}

void mech_end_claim(struct mech_sm *m, uint32_t token)
{
    bitset_del(m->claims.data, token);
    m->claimed--;
}

/* ---- policies ---- */

int mech_pick(struct mech_sm *m, struct mech_sched_view *v)
{
    v->allowed = v->resident & votes_allow(&m->masks[v->bank], v->memory_next, v->load_next);
    v->ready &= v->allowed;
    if (!v->ready) return MECH_NO_WARP;
    int bit = m->pick(m->pick_state, v);
    if (bit == MECH_NO_WARP) return bit;
    if (UNLIKELY(bit < 0 || bit >= MECH_BANK_WARPS || !(v->ready >> bit & 1)))
        mech_fail(&m->seats[m->policy], "pick", "picked warp %d of bank %u, which is not ready", bit,
                  v->bank);
    return bit;
}

struct mech_miss mech_take_miss(struct mech_sm *m, const struct mech_l1_access *a, uint32_t token)
{
    struct mech_miss answer = {.answer = MECH_MISS_PASS};
    if (!m->has_take_miss) return answer;
    const struct mech_seat *seat = &m->seats[m->miss_policy];
    const struct mech_mark outer = mech_mark_begin(&seat->caller, "take_miss");
    m->asks_miss = true;
    m->asked_token = token;
    seat->mech->take_miss(m->states[m->miss_policy], a, token, &answer);
    m->asks_miss = false;
    mech_mark_end(outer);
    if (UNLIKELY((unsigned)answer.answer > MECH_MISS_FILL))
        mech_fail(seat, "take_miss", "answered %u, which is none of enum mech_miss_answer", answer.answer);
    if (UNLIKELY(answer.cycles > MECH_MISS_CYCLES_MAX))
        mech_fail(seat, "take_miss", "answered after %u cycles; %d are the most", answer.cycles,
                  (int)MECH_MISS_CYCLES_MAX);
    if (answer.answer == MECH_MISS_CLAIM) claim(m, token);
    return answer;
}

uint32_t mech_victim(struct mech_sm *m, const struct mech_victim_view *v)
{
    assert(m->has_victim);
    const struct mech_seat *seat = &m->seats[m->victim_policy];
    const struct mech_mark outer = mech_mark_begin(&seat->caller, "victim");
    uint32_t way = seat->mech->victim(m->states[m->victim_policy], v);
    mech_mark_end(outer);
    if (UNLIKELY(way >= v->ways || !(v->candidates[way / 64] >> way % 64 & 1)))
        mech_fail(seat, "victim", "chose way %u of set %u, which may not be replaced", way, v->set);
    return way;
}

bool mech_admit(struct mech_sm *m, struct mech_admit *a)
{
    assert(m->has_admit);
    const struct mech_seat *seat = &m->seats[m->admit_policy];
    const struct mech_mark outer = mech_mark_begin(&seat->caller, "admit");
    const bool answer = seat->mech->admit(m->states[m->admit_policy], a);
    mech_mark_end(outer);
    if (UNLIKELY(answer && a->gets_registers > a->registers.asked))
        mech_fail(seat, "admit", "gave %llu registers to a CTA that asks for %llu",
                  (unsigned long long)a->gets_registers, (unsigned long long)a->registers.asked);
    return answer;
}

/* ---- votes ---- */

typedef bool mech_vote(void *state, const struct mech_l1_access *a);

static bool ask(const struct mech_sm *m, uint32_t i, const char *hook, mech_vote *vote,
                const struct mech_l1_access *a)
{
    const struct mech_mark outer = mech_mark_begin(&m->seats[i].caller, hook);
    const bool answer = vote(m->states[i], a);
    mech_mark_end(outer);
    return answer;
}

bool mech_may_allocate(struct mech_sm *m, const struct mech_l1_access *a)
{
    bool all = true;
    if (!m->has_allocate) return true;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->seats[i].mech->may_allocate)
            all &= ask(m, i, "may_allocate", m->seats[i].mech->may_allocate, a);
    return all;
}

bool mech_may_miss(struct mech_sm *m, const struct mech_l1_access *a)
{
    bool all = true;
    if (!m->has_may_miss) return true;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->seats[i].mech->may_miss) all &= ask(m, i, "may_miss", m->seats[i].mech->may_miss, a);
    return all;
}

/* Returns the only mechanism that fills may_miss, or NULL. */
static const struct mech_seat *only_holder(const struct mech_sm *m)
{
    const struct mech_seat *found = NULL;
    for (uint32_t i = 0; i < m->count; i++) {
        if (!m->seats[i].mech->may_miss) continue;
        if (found) return NULL;
        found = &m->seats[i];
    }
    return found;
}

enum mech_hold mech_holds(struct mech_sm *m, int warp)
{
    if (!m->has_may_miss) return MECH_HOLD_NO;
    const struct mech_seat *seat = only_holder(m);
    if (!seat || !seat->mech->holds) return MECH_HOLD_UNKNOWN;
    const struct mech_mark outer = mech_mark_begin(&seat->caller, "holds");
    const enum mech_hold answer = seat->mech->holds(m->states[seat->index], warp);
    mech_mark_end(outer);
    return answer;
}

void mech_on_held(struct mech_sm *m, uint64_t offers)
{
    const struct mech_seat *seat = only_holder(m);
    if (!seat || !seat->mech->on_held) return;
    const struct mech_mark outer = mech_mark_begin(&seat->caller, "on_held");
    seat->mech->on_held(m->states[seat->index], offers);
    mech_mark_end(outer);
}

uint32_t mech_extra_hit(struct mech_sm *m, uint32_t set, uint32_t way)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct mech_seat *seat = &m->seats[i];
        if (!seat->mech->extra_hit) continue;
        const struct mech_mark outer = mech_mark_begin(&seat->caller, "extra_hit");
        const uint32_t cycles = seat->mech->extra_hit(m->states[i], set, way);
        most = MAX(most, cycles);
        mech_mark_end(outer);
        if (UNLIKELY(most > MECH_MISS_CYCLES_MAX))
            mech_fail(seat, "extra_hit", "answered %u cycles; %d are the most", most,
                      (int)MECH_MISS_CYCLES_MAX);
    }
    return most;
}

/* ---- events ---- */

/* MECH_TELL_ONE calls the hook of mechanism i; MECH_TELL that of every mechanism that fills it. */
#define MECH_TELL_ONE(hook, ...)                                                                             \
    do {                                                                                                     \
        const struct mech_mark outer = mech_mark_begin(&m->seats[i].caller, #hook);                          \
        m->seats[i].mech->hook(m->states[i], __VA_ARGS__);                                                   \
        mech_mark_end(outer);                                                                                \
    } while (0)
#define MECH_TELL(has, hook, ...)                                                                            \
    do {                                                                                                     \
        if (!(has)) return;                                                                                  \
        for (uint32_t i = 0, n = m->count; i < n; i++)                                                       \
            if (m->seats[i].mech->hook) MECH_TELL_ONE(hook, __VA_ARGS__);                                    \
    } while (0)

void mech_line_touched(struct mech_sm *m, uint32_t set, uint32_t way)
{
    MECH_TELL(m->has_line_touched, line_touched, set, way);
}
void mech_line_inserted(struct mech_sm *m, uint32_t set, uint32_t way)
{
    MECH_TELL(m->has_line_inserted, line_inserted, set, way);
}
void mech_on_kernel(struct mech_sm *m, bool is_start) { MECH_TELL(m->has_kernel, on_kernel, is_start); }
void mech_on_launch(struct mech_sm *m, const struct mech_launch *e)
{
    MECH_TELL(m->has_launch, on_launch, e);
}
void mech_on_issue(struct mech_sm *m, const struct mech_issue *e) { MECH_TELL(m->has_issue, on_issue, e); }
void mech_on_next(struct mech_sm *m, const struct mech_next *e) { MECH_TELL(m->has_next, on_next, e); }
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
void mech_on_l1_level(struct mech_sm *m, const struct mech_l1_level *e)
{
    MECH_TELL(m->has_level, on_l1_level, e);
}
void mech_on_prefetch(struct mech_sm *m, const struct mech_prefetch *e)
{
    MECH_TELL(m->has_prefetch, on_prefetch, e);
}
void mech_on_warp(struct mech_sm *m, const struct mech_warp_event *e) { MECH_TELL(m->has_warp, on_warp, e); }
void mech_on_barrier(struct mech_sm *m, const struct mech_barrier *e)
{
    MECH_TELL(m->has_barrier, on_barrier, e);
}

void mech_on_cta(struct mech_sm *m, const struct mech_cta *e) { MECH_TELL(m->has_cta, on_cta, e); }

void mech_on_memory_read(struct mech_sm *m, uint64_t cycle, uint32_t token)
{
    const uint32_t i = (uint32_t)m->admit_policy;
    if (m->seats[i].mech->on_memory_read) MECH_TELL_ONE(on_memory_read, cycle, token);
}

/* Only one mechanism can have rows. */
void mech_on_rows_lost(struct mech_sm *m, const struct mech_rows_lost *e)
{
    if (!m->has_rows_lost) return;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct mechanism *mech = m->seats[i].mech;
        if (mech->owns & MECH_OWNS_REGISTERS && mech->on_rows_lost) MECH_TELL_ONE(on_rows_lost, e);
    }
}

void mech_on_ring(struct mech_sm *m, uint64_t cycle)
{
    const uint32_t i = (uint32_t)m->ring_user;
    if (m->ring_user >= 0) MECH_TELL_ONE(on_ring, cycle);
}

/* ---- timers ---- */

void mech_set_timer(struct mech_seat *seat, uint64_t now, uint32_t cycles)
{
    seat->period = seat->mech->on_timer ? cycles : 0;
    seat->due = seat->period ? MAX(now, seat->fired) + seat->period : UINT64_MAX;
    find_next_timer(seat->sm);
}

/* Returns the seat whose timer is due first, if any timer is due by cycle. */
static struct mech_seat *first_due(struct mech_sm *m, uint64_t cycle)
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
    for (struct mech_seat *seat; (seat = first_due(m, cycle));) {
        seat->fired = seat->due;
        seat->due += seat->period; /* before the call, which may set another timer */
        const uint32_t i = seat->index;
        MECH_TELL_ONE(on_timer, seat->fired);
    }
    find_next_timer(m);
}
