/* mech_gpu.c: see mech_gpu.h.
 *
 * (1) Timers that are due at the same cycle are called in the order in which mechanisms were attached; each
 * touches only its own state, so the order does not matter. (2) A timer is called with the cycle at which it
 * was due. */
#include "core/mech/mech_gpu.h"

/* One mechanism. */
struct mech_gpu_seat {
    const struct mechanism *mech;
    struct mech_caller caller;
    const void *params;
    void *state;
    /* enum mech_uses */
    uint32_t uses;
    /* SMs that may be in cache mode; SMs that are; the state of choose_sms */
    uint32_t cache_sms, chosen_sms;
    void *choice;
    /* core cycles; 0 = no timer */
    uint32_t period;
    /* UINT64_MAX = never */
    uint64_t due;
};

struct mech_gpu {
    const struct mech_set *set;
    uint32_t count, sm_count;
    struct mech_gpu_seat *seats;
    /* when the last timer was due, and when the next one is */
    uint64_t now, next_timer;
    struct mech_notes *notes;
    bool has_failed;
    struct mech_failure failure;
};

/* ---- creation ---- */

/* While the machine runs, signals are already caught (mech_guard_arm): slices start with the first kernel. */
void mech_gpu_try(struct mech_gpu *g, void (*hooks)(void *ctx), void *ctx)
{
    const bool arms = mech_set_has_plugin(g->set) && !mech_guard_is_armed();
    if (g->has_failed) return;
    if (arms) mech_guard_arm();
    g->has_failed = !mech_guard_call(hooks, ctx, &g->failure);
    if (arms) mech_guard_disarm();
}

const struct mech_failure *mech_gpu_failure(const struct mech_gpu *g)
{
    return g->has_failed ? &g->failure : NULL;
}

static void gpu_seat_fill(struct mech_gpu *g, uint32_t i)
{
    const struct mechanism *mech = mech_set_at(g->set, i);
    g->seats[i] = (struct mech_gpu_seat){.mech = mech,
                                         .caller = {.mechanism = mech->name, .cycle = &g->now},
                                         .params = mech_set_params(g->set, i),
                                         .due = UINT64_MAX};
    if (mech->gpu_state_bytes) g->seats[i].state = mem_zalloc_lines(mech->gpu_state_bytes);
    if (mech->choice_bytes) g->seats[i].choice = mem_zalloc_lines(mech->choice_bytes);
}

static uint32_t ask_period(const struct mech_gpu_seat *seat)
{
    if (!seat->mech->gpu_timer_period) return seat->mech->gpu_timer_cycles;
    const struct mech_mark outer = mech_mark_begin(&seat->caller, "gpu_timer_period");
    const uint32_t period = seat->mech->gpu_timer_period(seat->params);
    mech_mark_end(outer);
    return period;
}

static uint32_t ask_uses(const struct mech_gpu_seat *seat)
{
    const struct mech_mark outer = mech_mark_begin(&seat->caller, "uses");
    const uint32_t uses = seat->mech->uses(seat->params);
    mech_mark_end(outer);
    return uses;
}

static uint32_t ask_cache_sms(const struct mech_gpu *g, const struct mech_gpu_seat *seat)
{
    const struct mech_mark outer = mech_mark_begin(&seat->caller, "cache_sms");
    const uint32_t count = seat->mech->cache_sms(seat->params, g->sm_count);
    mech_mark_end(outer);
    return count;
}

static void fail(const struct mech_gpu_seat *seat, const char *hook, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mech_guard_fail(&seat->caller, hook, fmt, ap);
}

static void ask_choice(struct mech_gpu_seat *seat, const struct mech_grid_run *ran)
{
    const struct mech_mark outer = mech_mark_begin(&seat->caller, "choose_sms");
    seat->chosen_sms = seat->mech->choose_sms(seat->choice, seat->params, ran);
    mech_mark_end(outer);
    if (seat->chosen_sms > seat->cache_sms)
        fail(seat, "choose_sms", "%u SMs in cache mode, and cache_sms says that at most %u may be",
             seat->chosen_sms, seat->cache_sms);
}

static void choose_all(struct mech_gpu *g, const struct mech_grid_run *ran)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->seats[i].mech->choose_sms) ask_choice(&g->seats[i], ran);
}

static void choose_first(void *gpu) { choose_all(gpu, NULL); }

static void call_gpu_inits(void *gpu)
{
    struct mech_gpu *g = gpu;
    for (uint32_t i = 0; i < g->count; i++) {
        struct mech_gpu_seat *seat = &g->seats[i];
        if (seat->mech->on_gpu_timer) seat->period = ask_period(seat);
        if (seat->period) seat->due = seat->period;
        if (seat->mech->uses) seat->uses = ask_uses(seat);
        if (seat->mech->cache_sms) seat->chosen_sms = seat->cache_sms = ask_cache_sms(g, seat);
        if (!seat->mech->gpu_init) continue;
        const struct mech_mark outer = mech_mark_begin(&seat->caller, "gpu_init");
        seat->mech->gpu_init(seat->state, seat->params, g->sm_count);
        mech_mark_end(outer);
    }
}

/* ---- check ---- */

/* The question whether one mechanism fits the machine. */
struct mech_gpu_question {
    struct mech_gpu_seat *seat;
    const struct mech_machine *machine;
    enum mech_fit fit;
    char reason[MECH_REASON_BYTES];
};

static void ask_fit(void *question)
{
    struct mech_gpu_question *q = question;
    const struct mech_mark outer = mech_mark_begin(&q->seat->caller, "check");
    q->fit = q->seat->mech->check(q->seat->params, q->machine, q->reason);
    mech_mark_end(outer);
}

/* Only one mechanism can use the ring. */
static bool check_uses(const struct mech_gpu *g, struct diag_list *diags)
{
    const char *user = NULL;
    for (uint32_t i = 0; i < g->count; i++) {
        const uint32_t uses = g->seats[i].uses;
        const char *name = g->seats[i].mech->name;
        if (uses & ~(uint32_t)(MECH_USES_RING | MECH_USES_SHARERS | MECH_USES_AGES)) {
            diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "enum mech_uses",
                     "mechanism '%s' uses 0x%x, which this Heddle does not know", name, (unsigned)uses);
            return false;
        }
        if (!(uses & MECH_USES_RING)) continue;
        if (user)
            diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "keep one of them",
                     "'%s' and '%s' both use the SMs' ring; only one mechanism can", user, name);
        if (user) return false;
        user = name;
    }
    return true;
}

/* The program needs at least one SM. */
static bool check_cache_sms(const struct mech_gpu *g, struct diag_list *diags)
{
    const uint32_t count = mech_gpu_cache_sms(g);
    if (!count || count < g->sm_count) return true;
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "leave SMs to the program",
             "%u SMs are to be in cache mode, and the machine has %u", count, g->sm_count);
    return false;
}

/* The machine as one mechanism sees it, with the other mechanisms. */
static struct mech_machine machine_for(const struct mech_gpu *g, uint32_t index,
                                       const struct mech_machine *machine)
{
    struct mech_machine m = *machine;
    for (uint32_t i = 0; i < g->count; i++) {
        const struct mechanism *other = g->seats[i].mech;
        if (i == index) continue;
        if (other->admit) m.admits = other->name;
        if (other->owns & MECH_OWNS_REGISTERS) m.takes_rows = other->name;
    }
    return m;
}

bool mech_gpu_check(struct mech_gpu *g, const struct mech_machine *machine, struct diag_list *diags)
{
    bool fits = check_uses(g, diags) && check_cache_sms(g, diags);
    for (uint32_t i = 0; i < g->count; i++) {
        const struct mech_machine seen = machine_for(g, i, machine);
        struct mech_gpu_question q = {.seat = &g->seats[i], .machine = &seen};
        if (!q.seat->mech->check) continue;
        mech_gpu_try(g, ask_fit, &q);
        if (g->has_failed || q.fit == MECH_FITS) continue;
        q.reason[MECH_REASON_BYTES - 1] = 0;
        const bool is_error = q.fit != MECH_FITS_POORLY;
        diag_add(diags, is_error ? DIAG_ERROR : DIAG_WARNING, NULL, 0, 0, 0, NULL, "mechanism '%s': %s",
                 q.seat->mech->name, q.reason);
        fits = fits && !is_error;
    }
    if (fits) mech_gpu_try(g, choose_first, g);
    return fits;
}

/* ---- the helper kernel ---- */

struct mech_gpu_text {
    const struct mech_gpu_seat *seat;
    struct mech_helper *wants;
    /* NULL: only the length is asked for */
    char *ptx;
    size_t room, length;
};

static void ask_helper(void *text)
{
    struct mech_gpu_text *t = text;
    const struct mech_mark outer = mech_mark_begin(&t->seat->caller, "helper");
    t->length = t->seat->mech->helper(t->seat->params, t->wants, t->ptx, t->room);
    mech_mark_end(outer);
}

char *mech_gpu_helper(struct mech_gpu *g, uint32_t mechanism, struct mech_helper *wants)
{
    struct mech_gpu_text t = {.seat = &g->seats[mechanism], .wants = wants};
    mech_gpu_try(g, ask_helper, &t);
    if (g->has_failed) return NULL;
    t.room = t.length + 1;
    t.ptx = mem_zalloc(t.room);
    mech_gpu_try(g, ask_helper, &t);
    if (!g->has_failed) return t.ptx;
    free(t.ptx);
    return NULL;
}

/* ---- uses ---- */

uint32_t mech_gpu_uses(const struct mech_gpu *g, uint32_t mechanism) { return g->seats[mechanism].uses; }

uint32_t mech_gpu_uses_all(const struct mech_gpu *g)
{
    uint32_t uses = 0;
    for (uint32_t i = 0; i < g->count; i++) uses |= g->seats[i].uses;
    return uses;
}

uint32_t mech_gpu_cache_sms(const struct mech_gpu *g)
{
    uint32_t count = 0; /* only one mechanism asks for SMs, because take_request is a policy */
    for (uint32_t i = 0; i < g->count; i++) count += g->seats[i].cache_sms;
    return count;
}

uint32_t mech_gpu_chosen_sms(const struct mech_gpu *g)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->count; i++) count += g->seats[i].chosen_sms;
    return count;
}

void mech_gpu_grid_ran(struct mech_gpu *g, uint64_t cycle, const struct mech_grid_run *ran)
{
    g->now = cycle;
    choose_all(g, ran);
}

static struct mech_gpu_seat *gpu_first_due(struct mech_gpu *g)
{
    struct mech_gpu_seat *first = &g->seats[0];
    for (uint32_t i = 1; i < g->count; i++)
        if (g->seats[i].due < first->due) first = &g->seats[i];
    return first;
}

struct mech_gpu *mech_gpu_create(const struct mech_set *set, uint32_t sm_count)
{
    struct mech_gpu *g = mem_zalloc(sizeof *g);
    g->set = set;
    g->count = mech_set_count(set);
    g->sm_count = sm_count;
    g->seats = mem_zalloc(sizeof *g->seats * g->count);
    for (uint32_t i = 0; i < g->count; i++) gpu_seat_fill(g, i);
    mech_gpu_try(g, call_gpu_inits, g);
    g->next_timer = gpu_first_due(g)->due;
    g->notes = mem_zalloc_lines(sizeof *g->notes * sm_count);
    for (uint32_t i = 0; i < sm_count; i++) mech_notes_init(&g->notes[i], g->count);
    return g;
}

void mech_gpu_destroy(struct mech_gpu *g)
{
    if (!g) return;
    for (uint32_t i = 0; i < g->count; i++) {
        free(g->seats[i].state);
        free(g->seats[i].choice);
    }
    for (uint32_t i = 0; i < g->sm_count; i++) mech_notes_free(&g->notes[i]);
    free(g->notes);
    free(g->seats);
    free(g);
}

void *mech_gpu_state(const struct mech_gpu *g, uint32_t mechanism) { return g->seats[mechanism].state; }

/* ---- timers ---- */

uint64_t mech_gpu_next_timer(const struct mech_gpu *g) { return g->next_timer; }

void mech_gpu_timer(struct mech_gpu *g, uint64_t cycle)
{
    while (g->next_timer <= cycle) {
        struct mech_gpu_seat *seat = gpu_first_due(g);
        g->now = seat->due;
        const struct mech_mark outer = mech_mark_begin(&seat->caller, "on_gpu_timer");
        seat->mech->on_gpu_timer(seat->state, seat->due);
        mech_mark_end(outer);
        seat->due += seat->period;
        g->next_timer = gpu_first_due(g)->due;
    }
}

bool mech_gpu_is_shared_freely(const struct mechanism *m)
{
    return m->gpu_state_bytes && !m->gpu_timer_cycles && !m->gpu_timer_period;
}

const char *mech_gpu_shares(const struct mech_gpu *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (mech_gpu_is_shared_freely(g->seats[i].mech)) return g->seats[i].mech->name;
    return NULL;
}

/* ---- notes ---- */

struct mech_notes *mech_gpu_notes(struct mech_gpu *g, uint32_t sm)
{
    assert(sm < g->sm_count);
    return &g->notes[sm];
}

struct timed_note *mech_gpu_merge_notes(const struct mech_gpu *g, uint32_t *count, uint64_t *dropped)
{
    *dropped = mech_notes_dropped(g->notes, g->sm_count);
    return mech_notes_merge(g->notes, g->sm_count, g->set, count);
}
