/* faulty.c: a plug-in that fills the hooks of an SM and fails in one of them: faulty.hook selects the hook,
 * faulty.call the number of the call on an SM, faulty.how the kind of failure. Before the failure it changes
 * only the cycles that its prefetches and rows cost. faulty_slice.c has the hooks of a slice. */
/* mech_assert is evaluated with NDEBUG too. */
#undef NDEBUG
#define NDEBUG
#include "heddle/mechanism.h"

#include <signal.h>
#include <stdlib.h>

#define HOOKS(X)                                                                                             \
    X(init)                                                                                                  \
    X(gpu_init)                                                                                              \
    X(check)                                                                                                 \
    X(cost)                                                                                                  \
    X(uses)                                                                                                  \
    X(gpu_timer_period)                                                                                      \
    X(on_kernel)                                                                                             \
    X(on_launch)                                                                                             \
    X(pick)                                                                                                  \
    X(take_miss)                                                                                             \
    X(victim)                                                                                                \
    X(line_touched)                                                                                          \
    X(line_inserted)                                                                                         \
    X(may_allocate)                                                                                          \
    X(may_miss)                                                                                              \
    X(on_issue)                                                                                              \
    X(on_next)                                                                                               \
    X(on_l1_access)                                                                                          \
    X(on_l1_evict)                                                                                           \
    X(on_l1_fill)                                                                                            \
    X(on_l1_level)                                                                                           \
    X(on_prefetch)                                                                                           \
    X(on_warp)                                                                                               \
    X(on_barrier)                                                                                            \
    X(on_rows_lost)                                                                                          \
    X(on_cta)                                                                                                \
    X(on_memory_read)                                                                                        \
    X(on_ring)                                                                                               \
    X(extra_hit)                                                                                             \
    X(admit)                                                                                                 \
    X(on_timer)                                                                                              \
    X(on_gpu_timer)

enum hook {
#define HOOK_ENUM(name) HOOK_##name,
    HOOKS(HOOK_ENUM) HOOK_COUNT
};
static const char *const hook_names[] = {
#define HOOK_NAME(name) #name,
    HOOKS(HOOK_NAME) NULL};

/* The first six are crashes, in any hook; then wrong calls of ports, in the hooks of an SM; then wrong
 * answers, each in its own hook. */
enum how {
    HOW_SEGV,
    HOW_ABORT,
    HOW_DIVIDE,
    HOW_OVERFLOW,
    HOW_FREE,
    HOW_ASSERT,
    HOW_GIVE_ROWS,
    HOW_GIVE_TWICE,
    HOW_ANSWER_MISS,
    HOW_FORWARD_MISS,
    HOW_FAR_TIMER,
    HOW_FAR_PREFETCH,
    HOW_BIG_MEMORY,
    HOW_BIG_QUEUE,
    HOW_NOTE,
    HOW_BANK,
    HOW_ROW,
    HOW_LINES,
    HOW_WARP,
    HOW_BAD_ANSWER,
    HOW_LATE_ANSWER
};
static const char *const how_names[] = {
    "segv",       "abort",       "divide",       "overflow",  "free",         "assert",     "give_rows",
    "give_twice", "answer_miss", "forward_miss", "far_timer", "far_prefetch", "big_memory", "big_queue",
    "note",       "allow_issue", "bank_access",  "l1_lines",  "warp_issued",  "bad_answer", "late_answer",
    NULL};

struct faulty_params {
    uint32_t hook, call, how;
};

struct faulty {
    const struct faulty_params *params;
    const struct mech_ports *ports;
    uint64_t calls[HOOK_COUNT];
};

struct faulty_gpu {
    const struct faulty_params *params;
    uint64_t calls;
};

static const struct param_row faulty_params[] = {
    PARAM_CHOICE(faulty_params, hook, "faulty.hook", "pick", hook_names, "that fails"),
    PARAM_NUMBER(faulty_params, call, "faulty.call", "", "1", 0, 1000000, "which of its calls; 0 = none"),
    PARAM_CHOICE(faulty_params, how, "faulty.how", "segv", how_names, "it fails"),
    {0},
};

#define COUNT(name) STAT_COUNT(faulty, calls[HOOK_##name], "faulty." #name, "calls", "calls of " #name, NULL),
static const struct stat_row faulty_stats[] = {HOOKS(COUNT){0}};

/* ---- kinds of failure ---- */

/* volatile, so that the compiler cannot know the values. */
static volatile int zero, *volatile nowhere = (int *)8;
static volatile size_t inside = 8;
static int overflow(volatile char *above);
static int (*volatile deeper)(volatile char *) = overflow;

static int overflow(volatile char *above)
{
    volatile char frame[4096];
    frame[0] = above[0];
    return deeper(frame) + frame[0];
}

static void crash(enum how how)
{
    switch (how) {
    case HOW_SEGV: *nowhere = 1; break;
    case HOW_ABORT: abort();
    case HOW_DIVIDE: zero = (int)inside / zero; break;
    case HOW_OVERFLOW: overflow((volatile char *)&inside); break;
    case HOW_FREE: free((char *)malloc(64) + inside); break;
    case HOW_ASSERT: mech_assert(inside == 9); break;
    default: break;
    }
}

static void misuse(const struct mech_ports *p, enum how how)
{
    uint32_t first;
    switch (how) {
    case HOW_GIVE_ROWS: p->registers_give(p->host, 3, 2); break;
    case HOW_GIVE_TWICE:
        if (!p->registers_take(p->host, 0, 1, &first)) break;
        p->registers_give(p->host, first, 1);
        p->registers_give(p->host, first, 1);
        break;
    case HOW_ANSWER_MISS: p->miss_answer(p->host, 1u << 30); break;
    case HOW_FORWARD_MISS: p->miss_forward(p->host, 0); break;
    case HOW_FAR_TIMER: p->set_timer(p->host, UINT64_MAX - 3, 1000); break;
    case HOW_FAR_PREFETCH: p->prefetch(p->host, UINT64_MAX, UINT32_MAX, -5); break;
    case HOW_BIG_MEMORY: p->memory(p->host, SIZE_MAX); break;
    case HOW_BIG_QUEUE: p->reexec_queue(p->host, UINT32_MAX); break;
    case HOW_NOTE: p->note(p->host, 0, 0, 0, 0); break;
    case HOW_BANK: p->allow_issue(p->host, p->banks, 0); break;
    case HOW_ROW: p->bank_access(p->host, p->register_rows, true); break;
    case HOW_LINES: p->l1_lines(p->host, UINT32_MAX); break;
    case HOW_WARP: p->warp_issued(p->host, -1); break;
    default: break;
    }
}

/* True: this call is to fail. */
static bool is_due(struct faulty *s, enum hook hook)
{
    return ++s->calls[hook] == s->params->call && s->params->hook == (uint32_t)hook;
}

static bool strike(void *state, enum hook hook)
{
    struct faulty *s = state;
    if (!is_due(s, hook)) return false;
    crash((enum how)s->params->how);
    misuse(s->ports, (enum how)s->params->how);
    return true;
}

static void strike_gpu(struct faulty_gpu *g, enum hook hook)
{
    if (g->params->hook == (uint32_t)hook && ++g->calls == g->params->call) crash((enum how)g->params->how);
}

/* ---- hooks ---- */

static void faulty_gpu_init(void *gpu_state, const void *params, uint32_t sm_count)
{
    struct faulty_gpu *g = gpu_state;
    g->params = params;
    strike_gpu(g, HOOK_gpu_init);
}

static enum mech_fit faulty_check(const void *params, const struct mech_machine *machine, char *reason)
{
    const struct faulty_params *p = params;
    if (p->hook == HOOK_check) crash((enum how)p->how);
    return MECH_FITS;
}

static void faulty_cost(const void *params, const struct mech_machine *machine, struct mech_cost *cost)
{
    const struct faulty_params *p = params;
    if (p->hook == HOOK_cost) crash((enum how)p->how);
}

/* With the ring SMs do not run ahead, so it is used only where a test asks for it. */
static uint32_t faulty_uses(const void *params)
{
    const struct faulty_params *p = params;
    if (p->hook == HOOK_uses) crash((enum how)p->how);
    return p->hook == HOOK_on_ring ? MECH_USES_RING : 0;
}

static uint32_t faulty_gpu_timer_period(const void *params)
{
    const struct faulty_params *p = params;
    if (p->hook == HOOK_gpu_timer_period) crash((enum how)p->how);
    return 500;
}

static void faulty_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct faulty *s = state;
    s->params = params;
    s->ports = ports;
    ports->set_timer(ports->host, 0, 100);
    strike(state, HOOK_init);
}

static void faulty_on_kernel(void *state, bool is_start) { strike(state, HOOK_on_kernel); }

/* Takes all rows: the first CTA takes some of them away. */
static void faulty_on_launch(void *state, const struct mech_launch *e)
{
    struct faulty *s = state;
    uint32_t first;
    if (s->params->hook == HOOK_on_rows_lost)
        s->ports->registers_take(s->ports->host, 0, s->ports->register_rows, &first);
    strike(state, HOOK_on_launch);
}

static int faulty_pick(void *state, const struct mech_sched_view *v)
{
    const int good = __builtin_ctzll(v->ready);
    if (!strike(state, HOOK_pick)) return good;
    return ((struct faulty *)state)->params->how == HOW_BAD_ANSWER ? __builtin_ctzll(~v->ready) : 1000;
}

static void faulty_take_miss(void *state, const struct mech_l1_access *a, uint32_t token,
                             struct mech_miss *answer)
{
    if (!strike(state, HOOK_take_miss)) return;
    if (((struct faulty *)state)->params->how == HOW_BAD_ANSWER)
        answer->answer = (enum mech_miss_answer)17;
    else
        *answer = (struct mech_miss){MECH_MISS_HIT, UINT32_MAX};
}

static uint32_t faulty_victim(void *state, const struct mech_victim_view *v)
{
    if (strike(state, HOOK_victim)) return UINT32_MAX;
    uint32_t way = 0;
    while (!(v->candidates[way / 64] >> way % 64 & 1)) way++;
    return way;
}

static void faulty_line_touched(void *state, uint32_t set, uint32_t way) { strike(state, HOOK_line_touched); }
static void faulty_line_inserted(void *state, uint32_t set, uint32_t way)
{
    strike(state, HOOK_line_inserted);
}
static bool faulty_may_allocate(void *state, const struct mech_l1_access *a)
{
    strike(state, HOOK_may_allocate);
    return true;
}
static bool faulty_may_miss(void *state, const struct mech_l1_access *a)
{
    strike(state, HOOK_may_miss);
    return true;
}

#define EVENT(hook, event)                                                                                   \
    static void faulty_##hook(void *state, const struct event *e) { strike(state, HOOK_##hook); }
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

/* The occupancy rule. */
static bool has_share(struct mech_share s) { return s.in_use + s.asked <= s.limit; }
static bool faulty_admit(void *state, struct mech_admit *a)
{
    const struct faulty *s = state;
    if (s->params->hook == HOOK_admit) strike(state, HOOK_admit);
    return has_share(a->ctas) && has_share(a->threads) && has_share(a->warps) && has_share(a->registers) &&
           has_share(a->shared);
}

static uint32_t faulty_extra_hit(void *state, uint32_t set, uint32_t way)
{
    return strike(state, HOOK_extra_hit) ? UINT32_MAX : 0;
}

static void faulty_on_memory_read(void *state, uint64_t cycle, uint32_t token)
{
    strike(state, HOOK_on_memory_read);
}

static void faulty_on_ring(void *state, uint64_t cycle)
{
    const struct mech_ports *p = ((struct faulty *)state)->ports;
    strike(state, HOOK_on_ring);
    p->ring_pop(p->host, MECH_RING_RESPONSE);
}

static void faulty_on_timer(void *state, uint64_t cycle)
{
    const struct faulty *s = state;
    if (s->params->hook == HOOK_on_prefetch) s->ports->prefetch(s->ports->host, cycle * 128, 0, 0);
    if (s->params->hook == HOOK_on_memory_read) s->ports->memory_read(s->ports->host, 0, 0);
    if (s->params->hook == HOOK_on_ring)
        s->ports->ring_push(s->ports->host, MECH_RING_RESPONSE,
                            &(struct mech_ring_message){.bytes = 32, .to = !s->ports->sm});
    strike(state, HOOK_on_timer);
}

static void faulty_on_gpu_timer(void *gpu_state, uint64_t cycle) { strike_gpu(gpu_state, HOOK_on_gpu_timer); }

#define FILL(name) .name = faulty_##name,
HEDDLE_MECHANISM_EXPORT const struct mechanism heddle_mechanism = {
    .api = HEDDLE_MECHANISM_API,
    .name = "faulty",
    .summary = "fails where it is told to",
    .paper = "",
    .params = faulty_params,
    .param_bytes = sizeof(struct faulty_params),
    .stats = faulty_stats,
    .state_bytes = sizeof(struct faulty),
    .gpu_state_bytes = sizeof(struct faulty_gpu),
    .owns = MECH_OWNS_REGISTERS,
    HOOKS(FILL)};
