/* mech_host.c: the mechanisms of one SM: their states and timers, and the one place where each hook is
 * called.
 *
 * Invariants. (1) Every voter is asked, also after a "no": a voter that counts what it is asked counts the
 * same beside any other. (2) A timer is called with the cycle at which it was due, as often as it was due,
 * so a late call changes nothing for it. (3) An answer that the machine cannot follow ends the run
 * (mech_fail). */
#include "core/mech/mech_seat.h"

#include "base/hugepage.h"

/* ---- making ---- */

static void find_filled_hooks(struct mech_sm *m, const struct mechanism *h)
{
    m->has_take_miss |= h->take_miss != NULL;
    m->has_victim |= h->victim != NULL;
    m->has_line_touched |= h->line_touched != NULL;
    m->has_line_inserted |= h->line_inserted != NULL;
    m->has_allocate |= h->may_allocate != NULL;
    m->has_may_miss |= h->may_miss != NULL;
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
}

static void seat_fill(struct mech_sm *m, uint32_t i)
{
    const struct mechanism *mech = mech_set_at(m->setup.set, i);
    struct mech_seat *seat = &m->seats[i];
    *seat =
        (struct mech_seat){.sm = m, .mech = mech, .index = i, .votes = mech_votes_all(), .due = UINT64_MAX};
    while (mech->note_names && mech->note_names[seat->note_kinds]) seat->note_kinds++;
    if (mech->on_timer && mech->timer_cycles) seat->due = seat->period = mech->timer_cycles;
    mech_ports_fill(seat);
    m->states[i] = mem_zalloc_huge(MAX(mech->state_bytes, 1));
    find_filled_hooks(m, mech);
    if (mech->pick) {
        m->policy = (int)i;
        m->pick = mech->pick;
        m->pick_state = m->states[i];
    }
    if (mech->take_miss) m->miss_policy = (int)i;
    if (mech->victim) m->victim_policy = (int)i;
}

/* All seats are there before the first init: a vote in it is combined with the others. */
static void call_inits(struct mech_sm *m)
{
    m->in_init = true;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct mech_seat *seat = &m->seats[i];
        if (seat->mech->init)
            seat->mech->init(m->states[i], mech_gpu_state(m->setup.gpu, i), mech_set_params(m->setup.set, i),
                             &seat->ports);
    }
    m->in_init = false;
}

struct mech_sm *mech_sm_create(const struct mech_sm_setup *setup)
{
    assert(setup->warps <= MECH_WARPS_MAX && setup->schedulers <= MECH_SCHEDULERS_MAX && setup->gpu);
    assert(setup->banks <= MECH_BANKS_MAX && setup->ops);
    struct mech_sm *m = mem_zalloc_huge(sizeof *m);
    m->setup = *setup;
    m->setup.banks = MAX(setup->banks, 1);
    m->count = mech_set_count(setup->set);
    m->policy = m->miss_policy = m->victim_policy = -1;
    m->states = mem_zalloc_huge(m->count * sizeof *m->states);
    m->seats = mem_zalloc_huge(m->count * sizeof *m->seats);
    for (uint32_t i = 0; i < m->count; i++) seat_fill(m, i);
    assert(m->policy >= 0); /* mech_set_create sees to it */
    mech_combine_masks(m);
    mech_combine_limits(m);
    mech_find_next_timer(m);
    call_inits(m);
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
    mem_free_huge(m->states);
    mem_free_huge(m->seats);
    mem_free_huge(m);
}

/* ---- policies ---- */

int mech_pick(struct mech_sm *m, struct mech_sched_view *v)
{
    v->allowed = v->resident & mech_allowed(m, v->bank, v->memory_next, v->load_next);
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
    seat->mech->take_miss(m->states[m->miss_policy], a, token, &answer);
    if (UNLIKELY((unsigned)answer.answer > MECH_MISS_CLAIM))
        mech_fail(seat, "take_miss", "answered %u, which is none of enum mech_miss_answer", answer.answer);
    if (UNLIKELY(answer.cycles > MECH_MISS_CYCLES_MAX))
        mech_fail(seat, "take_miss", "answered after %u cycles; %d are the most", answer.cycles,
                  (int)MECH_MISS_CYCLES_MAX);
    m->claimed += answer.answer == MECH_MISS_CLAIM;
    return answer;
}

uint32_t mech_victim(struct mech_sm *m, const struct mech_victim_view *v)
{
    assert(m->has_victim);
    const struct mech_seat *seat = &m->seats[m->victim_policy];
    uint32_t way = seat->mech->victim(m->states[m->victim_policy], v);
    if (UNLIKELY(way >= v->ways || !(v->candidates[way / 64] >> way % 64 & 1)))
        mech_fail(seat, "victim", "chose way %u of set %u, which may not be replaced", way, v->set);
    return way;
}

/* ---- votes ---- */

bool mech_may_allocate(struct mech_sm *m, const struct mech_l1_access *a)
{
    bool all = true;
    if (!m->has_allocate) return true;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->seats[i].mech->may_allocate && !m->seats[i].mech->may_allocate(m->states[i], a)) all = false;
    return all;
}

bool mech_may_miss(struct mech_sm *m, const struct mech_l1_access *a)
{
    bool all = true;
    if (!m->has_may_miss) return true;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->seats[i].mech->may_miss && !m->seats[i].mech->may_miss(m->states[i], a)) all = false;
    return all;
}

/* ---- events ---- */

/* Calls the hook of every mechanism that fills it. */
#define MECH_TELL(has, hook, ...)                                                                            \
    do {                                                                                                     \
        if (!(has)) return;                                                                                  \
        for (uint32_t i = 0, n = m->count; i < n; i++)                                                       \
            if (m->seats[i].mech->hook) m->seats[i].mech->hook(m->states[i], __VA_ARGS__);                   \
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

/* No other mechanism can have rows. */
void mech_on_rows_lost(struct mech_sm *m, const struct mech_rows_lost *e)
{
    if (!m->has_rows_lost) return;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct mechanism *mech = m->seats[i].mech;
        if (mech->owns & MECH_OWNS_REGISTERS && mech->on_rows_lost) mech->on_rows_lost(m->states[i], e);
    }
}

/* ---- timers ---- */

void mech_find_next_timer(struct mech_sm *m)
{
    m->next_timer = UINT64_MAX;
    for (uint32_t i = 0; i < m->count; i++) m->next_timer = MIN(m->next_timer, m->seats[i].due);
    if (m->setup.votes_changed) *m->setup.votes_changed = true;
}

/* The seat whose timer is due first, if any is due by cycle. */
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
        seat->mech->on_timer(m->states[seat->index], seat->fired);
    }
    mech_find_next_timer(m);
}
