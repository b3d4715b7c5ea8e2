/* probe.c: a plug-in for the tests: hooks count calls, votes are parameters. It is built several times under
 * different names, with other answers, and in some builds with one error. */
#include "heddle/mechanism.h"

#ifndef PROBE_API
#define PROBE_API HEDDLE_MECHANISM_API
#endif
#ifndef PROBE_PREFIX
#define PROBE_PREFIX PROBE_NAME
#endif
#ifndef PROBE_STAT_PREFIX
#define PROBE_STAT_PREFIX PROBE_NAME
#endif
#ifndef PROBE_DEFAULT
#define PROBE_DEFAULT "0"
#endif
#ifndef PROBE_OWNS
#define PROBE_OWNS 0
#endif
#ifndef PROBE_FIRST_STAT
#define PROBE_FIRST_STAT PROBE_STAT_PREFIX ".asked"
#endif
#ifndef PROBE_STATE_BYTES
#define PROBE_STATE_BYTES sizeof(struct probe)
#endif
#ifndef PROBE_GPU_BYTES
#define PROBE_GPU_BYTES sizeof(struct probe_gpu)
#endif
#ifndef PROBE_PARAM_BYTES
#define PROBE_PARAM_BYTES sizeof(struct probe_params)
#endif
/* Actions of init and on_timer beside counting, in terms of p, ports, host and cycle. */
#ifndef PROBE_INIT
#define PROBE_INIT
#endif
#ifndef PROBE_TIMER
#define PROBE_TIMER
#endif

struct probe_params {
    uint64_t issue, memory, load, deny_line, deny_miss;
    uint32_t period, ctas, lines, lines_max, reexec;
};

struct probe_gpu {
    uint64_t sms;
};

struct probe {
    const struct probe_params *params;
    const struct mech_ports *ports;
    struct probe_gpu *gpu;
    uint64_t asked, asked_miss, rows_lost, accesses, evicts, fills, issues, warps, barriers, kernels, timers,
        last_timer, issued_counter, sms;
};

static const struct param_row probe_params[] = {
    PARAM_ROW(PARAM_NUMBER64, probe_params, issue, PROBE_PREFIX ".forbid_issue", "", PROBE_DEFAULT, 0,
              UINT64_MAX, "warps that may not issue"),
    PARAM_ROW(PARAM_NUMBER64, probe_params, memory, PROBE_PREFIX ".forbid_memory", "", "0", 0, UINT64_MAX,
              "warps that may not access memory"),
    PARAM_ROW(PARAM_NUMBER64, probe_params, deny_line, PROBE_PREFIX ".deny_line", "", "1", 0, UINT64_MAX,
              "line that may not be allocated"),
    PARAM_ROW(PARAM_NUMBER, probe_params, period, PROBE_PREFIX ".period", "cycles", "100", 0, 100000,
              "of the timer"),
    PARAM_ROW(PARAM_NUMBER64, probe_params, load, PROBE_PREFIX ".forbid_load", "", "0", 0, UINT64_MAX,
              "warps that may not load"),
    PARAM_ROW(PARAM_NUMBER64, probe_params, deny_miss, PROBE_PREFIX ".deny_miss", "", "1", 0, UINT64_MAX,
              "line that may not miss"),
    PARAM_ROW(PARAM_NUMBER, probe_params, ctas, PROBE_PREFIX ".ctas", "", "0", 0, 1000,
              "limit_ctas; 0 = none"),
    PARAM_ROW(PARAM_NUMBER, probe_params, lines, PROBE_PREFIX ".lines", "", "0", 0, 10000,
              "l1_lines; 0 = none"),
    PARAM_ROW(PARAM_NUMBER, probe_params, lines_max, PROBE_PREFIX ".lines_max", "", "0", 0, 10000,
              "l1_lines_max; 0 = none"),
    PARAM_ROW(PARAM_NUMBER, probe_params, reexec, PROBE_PREFIX ".reexec", "", "0", 0, 1000, "reexec_queue"),
#ifdef PROBE_TWICE
    PARAM_ROW(PARAM_NUMBER, probe_params, reexec, PROBE_PREFIX ".reexec", "", "0", 0, 1000, "a second time"),
#endif
    {0},
};

#define COUNT(field) STAT_COUNT(probe, field, PROBE_STAT_PREFIX "." #field, "times", "for the test", NULL)
#ifdef PROBE_ENERGY
static const struct energy_row probe_energy[] = {PROBE_ENERGY, {0}};
#endif

static const struct stat_row probe_stats[] = {
    STAT_COUNT(probe, asked, PROBE_FIRST_STAT, "times", "for the test", NULL),
    COUNT(asked_miss),
    COUNT(rows_lost),
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
#ifdef PROBE_STAT_TWICE
    COUNT(sms),
#endif
    {0}};

static void probe_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct probe *p = state;
    p->params = params;
    p->ports = ports;
    p->gpu = gpu_state;
    p->sms = ++p->gpu->sms;
    ports->allow_issue(ports->host, 0, ~p->params->issue);
    ports->allow_memory(ports->host, 0, ~p->params->memory);
    ports->allow_load(ports->host, 0, ~p->params->load);
    ports->set_timer(ports->host, 0, p->params->period);
    if (p->params->ctas) ports->limit_ctas(ports->host, p->params->ctas);
    if (p->params->lines_max) ports->l1_lines_max(ports->host, p->params->lines_max);
    if (p->params->lines) ports->l1_lines(ports->host, p->params->lines);
    ports->reexec_queue(ports->host, p->params->reexec);
    PROBE_INIT;
}

static bool probe_may_allocate(void *state, const struct mech_l1_access *a)
{
    struct probe *p = state;
    p->asked++;
    return a->line != p->params->deny_line;
}

static bool probe_may_miss(void *state, const struct mech_l1_access *a)
{
    struct probe *p = state;
    p->asked_miss++;
    return a->line != p->params->deny_miss;
}

static void probe_on_timer(void *state, uint64_t cycle)
{
    struct probe *p = state;
    const struct mech_ports *ports = p->ports;
    void *host = ports->host;
    p->timers++;
    p->last_timer = cycle;
    p->issued_counter = ports->counters(host)->issued;
    if (p->timers == 3) ports->set_timer(host, cycle, p->params->period * 2);
    PROBE_TIMER;
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
static void probe_on_rows_lost(void *state, const struct mech_rows_lost *e)
{
    ((struct probe *)state)->rows_lost += e->rows;
}
static void probe_on_kernel(void *state, bool is_start) { ((struct probe *)state)->kernels++; }

#ifdef PROBE_PICK
static int probe_pick(void *state, const struct mech_sched_view *view) { return PROBE_PICK; }
#endif

#ifdef PROBE_VICTIM
static uint32_t probe_victim(void *state, const struct mech_victim_view *view) { return PROBE_VICTIM; }
#endif
#ifdef PROBE_MISS
static void probe_take_miss(void *state, const struct mech_l1_access *a, uint32_t token,
                            struct mech_miss *answer)
{
    *answer = (struct mech_miss){PROBE_MISS};
}
#endif
#ifdef PROBE_NOTES
static const char *const probe_notes[] = {PROBE_NOTES, NULL};
#endif

#ifdef PROBE_USES
static uint32_t probe_uses(const void *params) { return PROBE_USES; }
#endif

#ifndef PROBE_SYMBOL
#define PROBE_SYMBOL heddle_mechanism
#endif
extern const struct mechanism PROBE_SYMBOL;
#ifdef PROBE_CACHE_SMS
static uint32_t probe_cache_sms(const void *params, uint32_t sm_count) { return 1; }
#endif
#ifdef PROBE_CHOOSE_SMS
static uint32_t probe_choose_sms(void *choice, const void *params, const struct mech_grid_run *ran)
{
    return 1;
}
#endif

HEDDLE_MECHANISM_EXPORT const struct mechanism PROBE_SYMBOL = {
    .api = PROBE_API,
    .name = PROBE_NAME,
    .summary = "counts and votes",
    .paper = "",
    .params = probe_params,
    .param_bytes = PROBE_PARAM_BYTES,
#ifdef PROBE_ENERGY
    .energy = probe_energy,
#endif
    .stats = probe_stats,
    .state_bytes = PROBE_STATE_BYTES,
    .gpu_state_bytes = PROBE_GPU_BYTES,
    .init = probe_init,
    .on_kernel = probe_on_kernel,
#ifdef PROBE_PICK
    .pick = probe_pick,
#endif
#ifdef PROBE_VICTIM
    .victim = probe_victim,
#endif
#ifdef PROBE_MISS
    .take_miss = probe_take_miss,
#endif
#ifdef PROBE_NOTES
    .note_names = probe_notes,
#endif
#ifdef PROBE_USES
    .uses = probe_uses,
#endif
#ifdef PROBE_GPU_PERIOD
    .gpu_timer_cycles = PROBE_GPU_PERIOD,
#endif
    .owns = PROBE_OWNS,
#ifdef PROBE_SLICE_BYTES
    .slice_state_bytes = PROBE_SLICE_BYTES,
#endif
#ifdef PROBE_CACHE_SMS
    .cache_sms = probe_cache_sms,
#endif
#ifdef PROBE_CHOOSE_SMS
    .choose_sms = probe_choose_sms,
#endif
    .may_allocate = probe_may_allocate,
    .may_miss = probe_may_miss,
    .on_issue = probe_on_issue,
    .on_l1_access = probe_on_l1_access,
    .on_l1_evict = probe_on_l1_evict,
    .on_l1_fill = probe_on_l1_fill,
    .on_warp = probe_on_warp,
    .on_timer = probe_on_timer,
    .on_barrier = probe_on_barrier,
    .on_rows_lost = probe_on_rows_lost,
};
