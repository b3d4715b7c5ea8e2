/* probe.c: a plug-in for the tests: every hook counts, every vote is a parameter. Built several times under
 * different names and with one thing wrong in each of some. */
#include "heddle/mechanism.h"

#ifndef PROBE_API
#define PROBE_API HEDDLE_MECHANISM_API
#endif
#ifndef PROBE_PREFIX
#define PROBE_PREFIX PROBE_NAME
#endif
#ifndef PROBE_DEFAULT
#define PROBE_DEFAULT "0"
#endif

struct probe_params {
    uint64_t issue, memory, deny_line;
    uint32_t period;
};

struct probe_gpu {
    uint64_t sms;
};

struct probe {
    const struct probe_params *params;
    const struct mech_ports *ports;
    struct probe_gpu *gpu;
    uint64_t asked, accesses, evicts, fills, issues, warps, barriers, kernels, timers, last_timer,
        issued_counter, sms;
};

static const struct param_row probe_params[] = {
    PARAM_ROW(PARAM_U64, probe_params, issue, PROBE_PREFIX ".forbid_issue", "", PROBE_DEFAULT, 0, UINT64_MAX,
              "warps that may not issue"),
    PARAM_ROW(PARAM_U64, probe_params, memory, PROBE_PREFIX ".forbid_memory", "", "0", 0, UINT64_MAX,
              "warps that may not access memory"),
    PARAM_ROW(PARAM_U64, probe_params, deny_line, PROBE_PREFIX ".deny_line", "", "1", 0, UINT64_MAX,
              "line that may not be allocated"),
    PARAM_ROW(PARAM_U32, probe_params, period, PROBE_PREFIX ".period", "cycles", "100", 0, 100000,
              "of the timer"),
    {0},
};

#define COUNT(field) STAT_COUNT(probe, field, PROBE_NAME "." #field, "times", "for the test", NULL)
static const struct stat_row probe_stats[] = {COUNT(asked),
                                              COUNT(accesses),
                                              COUNT(evicts),
                                              COUNT(fills),
                                              COUNT(issues),
                                              COUNT(warps),
                                              COUNT(barriers),
                                              COUNT(kernels),
                                              COUNT(timers),
                                              COUNT(last_timer),
                                              COUNT(issued_counter),
                                              COUNT(sms),
                                              {0}};

static void probe_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct probe *p = state;
    p->params = params;
    p->ports = ports;
    p->gpu = gpu_state;
    p->sms = ++p->gpu->sms;
    ports->allow_issue(ports->host, ~p->params->issue);
    ports->allow_memory(ports->host, ~p->params->memory);
    ports->set_timer(ports->host, 0, p->params->period);
}

static bool probe_may_allocate(void *state, const struct mech_l1_access *a)
{
    struct probe *p = state;
    p->asked++;
    return a->line != p->params->deny_line;
}

static void probe_on_timer(void *state, uint64_t cycle)
{
    struct probe *p = state;
    p->timers++;
    p->last_timer = cycle;
    p->issued_counter = p->ports->counters(p->ports->host)->issued;
    if (p->timers == 3) p->ports->set_timer(p->ports->host, cycle, p->params->period * 2);
}

static void probe_on_issue(void *state, const struct mech_issue *e) { ((struct probe *)state)->issues++; }
static void probe_on_l1_access(void *state, const struct mech_l1_access *e)
{
    ((struct probe *)state)->accesses++;
}
static void probe_on_l1_evict(void *state, const struct mech_l1_evict *e)
{
    ((struct probe *)state)->evicts++;
}
static void probe_on_l1_fill(void *state, const struct mech_l1_fill *e) { ((struct probe *)state)->fills++; }
static void probe_on_warp(void *state, const struct mech_warp_event *e) { ((struct probe *)state)->warps++; }
static void probe_on_barrier(void *state, const struct mech_barrier *e)
{
    ((struct probe *)state)->barriers++;
}
static void probe_on_kernel(void *state, bool is_start) { ((struct probe *)state)->kernels++; }

#ifdef PROBE_PICK
static int probe_pick(void *state, const struct mech_sched_view *view) { return PROBE_PICK; }
#endif

#ifndef PROBE_SYMBOL
#define PROBE_SYMBOL heddle_mechanism
#endif
extern const struct mechanism PROBE_SYMBOL;
HEDDLE_MECHANISM_EXPORT const struct mechanism PROBE_SYMBOL = {
    .api = PROBE_API,
    .name = PROBE_NAME,
    .summary = "counts and votes",
    .paper = "",
    .params = probe_params,
    .param_bytes = sizeof(struct probe_params),
    .stats = probe_stats,
    .state_bytes = sizeof(struct probe),
    .gpu_state_bytes = sizeof(struct probe_gpu),
    .init = probe_init,
    .on_kernel = probe_on_kernel,
#ifdef PROBE_PICK
    .pick = probe_pick,
#endif
    .may_allocate = probe_may_allocate,
    .on_issue = probe_on_issue,
    .on_l1_access = probe_on_l1_access,
    .on_l1_evict = probe_on_l1_evict,
    .on_l1_fill = probe_on_l1_fill,
    .on_warp = probe_on_warp,
    .on_timer = probe_on_timer,
    .on_barrier = probe_on_barrier,
};
