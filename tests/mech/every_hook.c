/* every_hook.c: a plug-in that fills every hook of an SM, counts each call (statistic every_hook.NAME), and
 * answers so that nothing changes: misses go on at once, votes are yes, the victim is the line used least
 * recently, the pick is greedy-then-oldest, and its messages only go round the ring. It shows the cost of
 * calling hooks, and that a machine's own statistics do not depend on attached hooks. Built with
 * EVERY_HOOK_BESIDE it leaves `pick` to the machine's own scheduler. A run calls neither holds and on_held,
 * which need a re-execution queue, nor on_memory_read: both ports would change the machine. Left out: cost,
 * which no run calls, and the hooks of slices and of SMs in cache mode, which take SMs away from the program
 * (test_mech_slices.c). */
#include "heddle/mechanism.h"

struct every_hook_params {
    uint32_t period, gpu_period;
    /* not read by the mechanism: the content of the file is part of a run's key */
    char table[PARAM_PATH_BYTES];
};

/* the warp that one scheduler issued from last */
struct every_hook_greedy {
    uint64_t age;
    int bit;
    bool is_set;
};

struct every_hook {
    const struct every_hook_params *params;
    const struct mech_ports *ports;
    struct every_hook_greedy greedy[MECH_SCHEDULERS_MAX];
    /* [set][way]: when the line was used last, counted in uses of all lines */
    uint64_t *used;
    uint64_t uses;
    uint32_t ways;
    uint64_t init, gpu_init, on_kernel, on_launch, pick, take_miss, victim, line_touched, line_inserted;
    uint64_t may_allocate, may_miss, holds, on_held, extra_hit, on_issue, on_next, on_l1_access, on_l1_evict,
        on_l1_fill, on_l1_level;
    uint64_t on_prefetch, on_warp, on_barrier, on_rows_lost, on_cta, on_timer, admit, on_memory_read, on_ring,
        on_gpu_timer;
};

/* Counts of the GPU-wide hooks, which are a statistic of SM 0. */
struct every_hook_gpu {
    uint64_t inits;
    struct every_hook *first;
};

static const struct param_row every_hook_params[] = {
    PARAM_PATH(every_hook_params, table, "every_hook.table", "a file whose content is part of the key"),
    PARAM_ROW(PARAM_NUMBER, every_hook_params, period, "every_hook.period", "cycles", "1000", 0, 1000000,
              "of the timer; 0 = never"),
    PARAM_ROW(PARAM_NUMBER, every_hook_params, gpu_period, "every_hook.gpu_period", "cycles", "5000", 0,
              1000000, "of the GPU timer; 0 = never"),
    {0},
};

#define COUNT(hook) STAT_COUNT(every_hook, hook, "every_hook." #hook, "calls", "calls of " #hook, NULL)
static const struct stat_row every_hook_stats[] = {COUNT(init),
                                                   COUNT(gpu_init),
                                                   COUNT(on_kernel),
                                                   COUNT(on_launch),
                                                   COUNT(pick),
                                                   COUNT(take_miss),
                                                   COUNT(victim),
                                                   COUNT(line_touched),
                                                   COUNT(line_inserted),
                                                   COUNT(may_allocate),
                                                   COUNT(may_miss),
                                                   COUNT(holds),
                                                   COUNT(on_held),
                                                   COUNT(extra_hit),
                                                   COUNT(on_issue),
                                                   COUNT(on_next),
                                                   COUNT(on_l1_access),
                                                   COUNT(on_l1_evict),
                                                   COUNT(on_l1_fill),
                                                   COUNT(on_l1_level),
                                                   COUNT(on_prefetch),
                                                   COUNT(on_warp),
                                                   COUNT(on_barrier),
                                                   COUNT(on_rows_lost),
                                                   COUNT(on_cta),
                                                   COUNT(on_timer),
                                                   COUNT(on_ring),
                                                   COUNT(admit),
                                                   COUNT(on_memory_read),
                                                   COUNT(on_gpu_timer),
                                                   {0}};

/* ---- creation ---- */

static void every_hook_gpu_init(void *gpu_state, const void *params, uint32_t sm_count)
{
    ((struct every_hook_gpu *)gpu_state)->inits++;
}

static enum mech_fit every_hook_check(const void *params, const struct mech_machine *machine, char *reason)
{
    return MECH_FITS;
}

static uint32_t every_hook_uses(const void *params)
{
    return MECH_USES_RING | MECH_USES_SHARERS | MECH_USES_AGES;
}

static uint32_t every_hook_gpu_period(const void *params)
{
    return ((const struct every_hook_params *)params)->gpu_period;
}

static void every_hook_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct every_hook *s = state;
    struct every_hook_gpu *gpu = gpu_state;
    s->params = params;
    s->ports = ports;
    s->ways = ports->l1_ways;
    s->used = ports->memory(ports->host, sizeof *s->used * ports->l1_sets * ports->l1_ways);
    s->init++;
    ports->set_timer(ports->host, 0, s->params->period);
    if (ports->sm) return;
    gpu->first = s;
    s->gpu_init = gpu->inits;
}

/* ---- policies ---- */

#ifndef EVERY_HOOK_BESIDE
static int every_hook_oldest(uint64_t warps, const uint64_t *age)
{
    int best = __builtin_ctzll(warps);
    for (uint64_t rest = warps & (warps - 1); rest; rest &= rest - 1)
        if (age[__builtin_ctzll(rest)] < age[best]) best = __builtin_ctzll(rest);
    return best;
}

static int every_hook_pick(void *state, const struct mech_sched_view *view)
{
    struct every_hook *s = state;
    struct every_hook_greedy *g = &s->greedy[view->scheduler];
    s->pick++;
    if (g->is_set && view->ready >> g->bit & 1 && view->age[g->bit] == g->age) return g->bit;
    int bit = every_hook_oldest(view->ready, view->age);
    *g = (struct every_hook_greedy){.age = view->age[bit], .bit = bit, .is_set = true};
    return bit;
}
#endif

static void every_hook_take_miss(void *state, const struct mech_l1_access *a, uint32_t token,
                                 struct mech_miss *answer)
{
    ((struct every_hook *)state)->take_miss++;
    *answer = (struct mech_miss){.answer = MECH_MISS_PASS, .cycles = 0};
}

static void every_hook_use(struct every_hook *s, uint32_t set, uint32_t way)
{
    if (way < s->ways) s->used[set * s->ways + way] = ++s->uses;
}

static uint32_t every_hook_victim(void *state, const struct mech_victim_view *view)
{
    struct every_hook *s = state;
    uint32_t best = UINT32_MAX;
    uint64_t best_used = UINT64_MAX;
    s->victim++;
    for (uint32_t way = 0; way < view->ways; way++) {
        uint64_t used = way < s->ways ? s->used[view->set * s->ways + way] : 0;
        if (!(view->candidates[way / 64] >> way % 64 & 1) || used >= best_used) continue;
        best = way;
        best_used = used;
    }
    return best;
}

static void every_hook_line_touched(void *state, uint32_t set, uint32_t way)
{
    ((struct every_hook *)state)->line_touched++;
    every_hook_use(state, set, way);
}

static void every_hook_line_inserted(void *state, uint32_t set, uint32_t way)
{
    ((struct every_hook *)state)->line_inserted++;
    every_hook_use(state, set, way);
}

/* ---- votes ---- */

static bool every_hook_may_allocate(void *state, const struct mech_l1_access *a)
{
    ((struct every_hook *)state)->may_allocate++;
    return true;
}

static bool every_hook_may_miss(void *state, const struct mech_l1_access *a)
{
    ((struct every_hook *)state)->may_miss++;
    return true;
}

/* may_miss would say yes. */
static enum mech_hold every_hook_holds(void *state, int warp)
{
    ((struct every_hook *)state)->holds++;
    return MECH_HOLD_NO;
}
static void every_hook_on_held(void *state, uint64_t offers) { ((struct every_hook *)state)->on_held++; }

static uint32_t every_hook_extra_hit(void *state, uint32_t set, uint32_t way)
{
    ((struct every_hook *)state)->extra_hit++;
    return 0;
}

/* ---- events ---- */

#define EVENT(hook, type)                                                                                    \
    static void every_hook_##hook(void *state, const struct type *e) { ((struct every_hook *)state)->hook++; }
EVENT(on_launch, mech_launch)
EVENT(on_issue, mech_issue)
EVENT(on_next, mech_next)
EVENT(on_l1_access, mech_l1_access)
EVENT(on_l1_evict, mech_l1_evict)
EVENT(on_l1_fill, mech_l1_fill)
EVENT(on_l1_level, mech_l1_level)
EVENT(on_prefetch, mech_prefetch)
EVENT(on_warp, mech_warp_event)
EVENT(on_barrier, mech_barrier)
EVENT(on_rows_lost, mech_rows_lost)
EVENT(on_cta, mech_cta)

static void every_hook_on_memory_read(void *state, uint64_t cycle, uint32_t token)
{
    ((struct every_hook *)state)->on_memory_read++;
}

static bool every_hook_fits(const struct mech_share *s) { return s->in_use + s->asked <= s->limit; }

/* Same as the occupancy rule. */
static bool every_hook_admit(void *state, struct mech_admit *a)
{
    ((struct every_hook *)state)->admit++;
    return every_hook_fits(&a->ctas) && every_hook_fits(&a->threads) && every_hook_fits(&a->warps) &&
           every_hook_fits(&a->registers) && every_hook_fits(&a->shared);
}

static void every_hook_on_kernel(void *state, bool is_start)
{
    struct every_hook *s = state;
    const struct mech_ring_message m = {.words = {s->ports->sm}, .bytes = 4, .to = MECH_RING_ALL};
    s->on_kernel++;
    if (is_start) s->ports->ring_push(s->ports->host, MECH_RING_REQUEST, &m);
}
/* Its own message has come round. */
static void every_hook_on_ring(void *state, uint64_t cycle)
{
    struct every_hook *s = state;
    struct mech_ring_message m;
    s->on_ring++;
    if (!s->ports->ring_peek(s->ports->host, MECH_RING_REQUEST, &m)) return;
    if (m.words[0] == s->ports->sm)
        s->ports->ring_pop(s->ports->host, MECH_RING_REQUEST);
    else
        s->ports->ring_pass(s->ports->host, MECH_RING_REQUEST);
}
static void every_hook_on_timer(void *state, uint64_t cycle) { ((struct every_hook *)state)->on_timer++; }
static void every_hook_on_gpu_timer(void *gpu_state, uint64_t cycle)
{
    ((struct every_hook_gpu *)gpu_state)->first->on_gpu_timer++;
}

extern const struct mechanism heddle_mechanism;
HEDDLE_MECHANISM_EXPORT const struct mechanism heddle_mechanism = {
    .api = HEDDLE_MECHANISM_API,
    .name = "every_hook",
    .summary = "counts the calls of every hook and changes nothing",
    .paper = "",
    .params = every_hook_params,
    .param_bytes = sizeof(struct every_hook_params),
    .stats = every_hook_stats,
    .state_bytes = sizeof(struct every_hook),
    .gpu_state_bytes = sizeof(struct every_hook_gpu),
    .gpu_timer_period = every_hook_gpu_period,
    .owns = MECH_OWNS_REGISTERS,
    .check = every_hook_check,
    .uses = every_hook_uses,
    .init = every_hook_init,
    .gpu_init = every_hook_gpu_init,
    .on_kernel = every_hook_on_kernel,
    .on_launch = every_hook_on_launch,
#ifndef EVERY_HOOK_BESIDE
    .pick = every_hook_pick,
#endif
    .take_miss = every_hook_take_miss,
    .victim = every_hook_victim,
    .line_touched = every_hook_line_touched,
    .line_inserted = every_hook_line_inserted,
    .may_allocate = every_hook_may_allocate,
    .may_miss = every_hook_may_miss,
    .holds = every_hook_holds,
    .on_held = every_hook_on_held,
    .extra_hit = every_hook_extra_hit,
    .on_issue = every_hook_on_issue,
    .on_next = every_hook_on_next,
    .on_l1_access = every_hook_on_l1_access,
    .on_l1_evict = every_hook_on_l1_evict,
    .on_l1_fill = every_hook_on_l1_fill,
    .on_l1_level = every_hook_on_l1_level,
    .on_prefetch = every_hook_on_prefetch,
    .on_warp = every_hook_on_warp,
    .on_barrier = every_hook_on_barrier,
    .on_rows_lost = every_hook_on_rows_lost,
    .on_cta = every_hook_on_cta,
    .hears_stalls = true,
    .admit = every_hook_admit,
    .on_memory_read = every_hook_on_memory_read,
    .on_timer = every_hook_on_timer,
    .on_ring = every_hook_on_ring,
    .on_gpu_timer = every_hook_on_gpu_timer,
};
