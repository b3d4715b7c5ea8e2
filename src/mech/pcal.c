/* pcal.c: priority-based cache allocation (Li et al., HPCA'15; thesis 5.3.2): a warp tuple {N, p} for the
 * whole GPU, found by voting and hill climbing (pcal_search.c).
 *
 * Time goes in windows that all SMs share. A kernel starts at a tuple that is given, that of a sweep of swl
 * (PCAL-SWL) or all warps, or where CCWS leads to (`pcal.start`): CCWS gates loads for one whole window, and
 * the search begins with as many warps as it let through. At the end of a window each SM tells the search
 * what it measured; at the beginning of the next one it takes the tuple that the search has found.
 *
 * The papers say neither how long a window is nor what the bounds are: these are parameters. Busy is the
 * share of cycles in which a request waits to leave the SM, or a reply comes in, whichever is larger. CCWS
 * has the parameters that are ccws's own defaults. */
#include "mech/ccws.h"
#include "mech/cost.h"
#include "mech/pcal_search.h"
#include "mech/warp_tuple.h"

#include <stdio.h>

struct pcal_params {
    uint32_t window, start, start_n, start_p;
    struct pcal_bounds bounds;
    char file[PARAM_PATH_BYTES];
};

/* pcal.start */
enum { PCAL_START_TUPLE, PCAL_START_CCWS };
static const char *const pcal_starts[] = {"tuple", "ccws", NULL};
static const struct ccws_params pcal_ccws = {.tags = 16, .ways = 8, .base = 100, .k = 8};

struct pcal {
    /* first: its hooks get the state */
    struct warp_tuple warps;
    const struct pcal_params *params;
    struct pcal_search *search;
    struct pcal_sm *entry;
    struct tuple_row *rows;
    uint32_t row_count;
    struct mech_counters from;
    /* gates loads at the start of a kernel; what it had held back when the window began */
    struct ccws ccws;
    bool has_ccws;
    uint64_t gated_from;
    /* the cycle at which the window ends or begins */
    uint64_t window_at;
    /* an SM has had warps since the window began */
    bool is_whole;
    /* the next timer ends a window; otherwise it begins one */
    bool ends;
    /* for statistics, on SM 0: of the whole GPU */
    struct pcal_counts counts;
};

static const struct param_row pcal_params[] = {
    PARAM_NUMBER(pcal_params, window, "pcal.window", "cycles", "50000", 2, UINT32_MAX,
                 "cycles in which the speed of a tuple is measured"),
    PARAM_CHOICE(pcal_params, start, "pcal.start", "tuple", pcal_starts,
                 "where a kernel starts: at pcal.start_n and pcal.start_p, or where ccws leads to"),
    PARAM_NUMBER(pcal_params, start_n, "pcal.start_n", "warps", "64", 1, TUPLE_ALL,
                 "N at the start of a kernel, as a sweep of swl found it; 64: all warps"),
    PARAM_NUMBER(pcal_params, start_p, "pcal.start_p", "warps", "64", 1, TUPLE_ALL,
                 "p at the start of a kernel, at most N; 64: N"),
    PARAM_FRACTION(pcal_params, bounds.busy, "pcal.busy", "", "0.7", 0, 1000,
                   "N grows only while the way to the L2 is busy for less than this share of the cycles"),
    PARAM_FRACTION(pcal_params, bounds.gain, "pcal.gain", "", "0", 0, 1000,
                   "a step of N has to gain more than this"),
    PARAM_FRACTION(pcal_params, bounds.drop, "pcal.drop", "", "0.1", 0, 1000,
                   "an SM that loses more than this between two windows calls for a vote"),
    PARAM_PATH(pcal_params, file, "pcal.file",
               "starts as rows KERNEL LAUNCH N p, * for any; others have pcal.start_n and pcal.start_p"),
    {0},
};

static const struct stat_row pcal_stats[] = {
    STAT_COUNT(pcal, counts.votes, "pcal.votes", "votes", "votes for p, of the whole GPU", NULL),
    STAT_COUNT(pcal, counts.steps, "pcal.steps", "steps", "steps of N that were faster", NULL),
    STAT_COUNT(pcal, counts.steps_back, "pcal.steps_back", "steps", "steps of N that were taken back", NULL),
    STAT_COUNT(pcal, counts.holds, "pcal.holds", "searches", "searches that ended, of the whole GPU", NULL),
    STAT_COUNT(pcal, counts.held_n, "pcal.held_n", "warps", "N after these searches, summed", NULL),
    STAT_COUNT(pcal, counts.held_p, "pcal.held_p", "warps", "p after these searches, summed", NULL),
    STAT_COUNT(pcal, warps.bypasses, "pcal.bypasses", "misses",
               "misses of warps beyond the p oldest, which took no line", NULL),
    {0},
};

/* ---- an SM: CCWS at the start of a kernel ---- */

/* The next timer is the window's or the gate's. */
static void pcal_set_timer(struct pcal *s, uint64_t now)
{
    const struct mech_ports *ports = s->warps.ports;
    uint64_t at = s->window_at;
    if (s->ccws.next && s->ccws.next < at) at = s->ccws.next;
    ports->set_timer(ports->host, now, (uint32_t)(at - now));
}

static void pcal_follow_gate(struct pcal *s, uint64_t now, uint64_t before)
{
    if (s->ccws.next != before) pcal_set_timer(s, now);
}

/* Thousandths of the warps of a scheduler that the gate has let through since the window began. */
static uint32_t pcal_let(const struct pcal *s, uint64_t now, uint64_t cycles)
{
    if (!s->has_ccws || !cycles) return 0;
    const uint64_t all = s->ccws.here_count * cycles;
    const uint64_t gated = ccws_gated_cycles(&s->ccws, now) - s->gated_from;
    return all > gated ? (uint32_t)((all - gated) * 1000 / cycles / s->warps.ports->schedulers) : 0;
}

/* ---- an SM: the ends of a window ---- */

static void pcal_end_window(struct pcal *s, uint64_t cycle)
{
    const struct mech_counters *now = s->warps.ports->counters(s->warps.ports->host);
    const uint64_t queue = now->miss_queue_busy - s->from.miss_queue_busy;
    const uint64_t replies = now->reply_busy - s->from.reply_busy, cycles = now->cycles - s->from.cycles;
    s->entry->is_whole = s->is_whole;
    s->entry->issued = s->is_whole ? now->issued - s->from.issued : 0;
    s->entry->let = pcal_let(s, cycle, s->params->window - 1);
    s->entry->busy = cycles ? (uint32_t)((queue > replies ? queue : replies) * 1000 / cycles) : 0;
}

static void pcal_begin_window(struct pcal *s, uint64_t now)
{
    const struct pcal_search *search = s->search;
    s->from = *s->warps.ports->counters(s->warps.ports->host);
    s->is_whole = true;
    if (s->warps.ports->sm == 0) s->counts = search->counts;
    s->gated_from = ccws_gated_cycles(&s->ccws, now);
    if (search->launch != s->entry->launch) return; /* the kernel's start */
    if (s->has_ccws && search->phase != PCAL_CCWS) {
        s->has_ccws = false;
        ccws_forget(&s->ccws, now);
    }
    warp_tuple_set(&s->warps, search->n, pcal_search_p(search, s->warps.ports->sm));
}

/* A window ends in its last cycle. The GPU's timer comes with the first of the next one, before the SMs. */
static void pcal_on_timer(void *state, uint64_t cycle)
{
    struct pcal *s = state;
    if (s->ccws.next == cycle) ccws_gate(&s->ccws, cycle);
    if (s->window_at == cycle) {
        if (s->ends)
            pcal_end_window(s, cycle);
        else
            pcal_begin_window(s, cycle);
        s->ends = !s->ends;
        s->window_at = cycle + (s->ends ? s->params->window - 1 : 1);
    }
    pcal_set_timer(s, cycle);
}

/* ---- the other hooks ---- */

static void pcal_on_launch(void *state, const struct mech_launch *e)
{
    struct pcal *s = state;
    const struct tuple_row *row = tuple_rows_find(s->rows, s->row_count, e->kernel, e->launch);
    const uint32_t most = s->entry->warps;
    const bool is_all = s->params->start == PCAL_START_CCWS; /* CCWS holds back loads alone */
    const uint32_t n = is_all ? TUPLE_ALL : row ? row->n : s->params->start_n;
    const uint32_t p = is_all ? TUPLE_ALL : row ? row->p : s->params->start_p;
    s->entry->launch = e->launch;
    s->has_ccws = s->params->start == PCAL_START_CCWS;
    s->entry->start_n = n < most ? n : most;
    s->entry->start_p = p < s->entry->start_n ? p : s->entry->start_n;
    warp_tuple_set(&s->warps, s->entry->start_n, s->entry->start_p);
}

/* Counters begin again with a kernel: a window in which one begins or ends is not whole. */
static void pcal_on_kernel(void *state, bool is_start)
{
    struct pcal *s = state;
    s->is_whole = false;
    s->from = (struct mech_counters){0};
    s->entry->is_whole = false;
}

/* CCWS knows the warps also while it does not gate. */
static void pcal_on_warp(void *state, const struct mech_warp_event *e)
{
    struct pcal *s = state;
    const uint64_t before = s->ccws.next;
    warp_tuple_on_warp(&s->warps, e);
    if (s->params->start != PCAL_START_CCWS) return;
    ccws_on_warp(&s->ccws, e);
    pcal_follow_gate(s, e->cycle, before);
}

static void pcal_on_issue(void *state, const struct mech_issue *e)
{
    struct pcal *s = state;
    warp_tuple_on_issue(&s->warps, e);
    if (s->params->start == PCAL_START_CCWS) ccws_on_issue(&s->ccws, e);
}

static void pcal_on_l1_access(void *state, const struct mech_l1_access *a)
{
    struct pcal *s = state;
    const uint64_t before = s->ccws.next;
    if (!s->has_ccws) return;
    ccws_on_l1_access(&s->ccws, a);
    pcal_follow_gate(s, a->cycle, before);
}

static void pcal_on_l1_evict(void *state, const struct mech_l1_evict *e)
{
    struct pcal *s = state;
    if (s->has_ccws) ccws_on_l1_evict(&s->ccws, e);
}

static enum mech_fit pcal_check(const void *params, const struct mech_machine *machine, char *reason)
{
    const struct pcal_params *p = params;
    if (p->start_p > p->start_n && p->start_p != TUPLE_ALL) {
        snprintf(reason, MECH_REASON_BYTES,
                 "pcal.start_p is %u and pcal.start_n is %u: p warps are among the N", p->start_p,
                 p->start_n);
        return MECH_MISFIT;
    }
    return *p->file && tuple_rows_read(NULL, 0, p->file, reason) < 0 ? MECH_MISFIT : MECH_FITS;
}

static void pcal_gpu_init(void *gpu_state, const void *params, uint32_t sm_count)
{
    const struct pcal_params *p = params;
    struct pcal_search *s = gpu_state;
    s->bounds = &p->bounds;
    s->has_ccws = p->start == PCAL_START_CCWS;
    s->sm_count = sm_count;
}

static void pcal_on_gpu_timer(void *gpu_state, uint64_t cycle) { pcal_search_next(gpu_state); }

static void pcal_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    warp_tuple_cost(m, c);
    mech_cost_add(c, MECH_EACH_SM, "counters", 3, 32,
                  "instructions of this window and of the last, cycles in which the way to the L2 was busy");
    mech_cost_add(c, MECH_WHOLE_GPU, "tuple", 2, cost_index_bits(TUPLE_ALL), "N and p of all SMs");
    if (((const struct pcal_params *)params)->start == PCAL_START_CCWS) ccws_cost(&pcal_ccws, m, c);
}

static void pcal_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct pcal *s = state;
    s->params = params;
    s->search = gpu_state;
    s->entry = &s->search->sms[ports->sm];
    s->entry->warps = ports->warps / ports->schedulers;
    warp_tuple_init(&s->warps, ports);
    if (*s->params->file) s->rows = tuple_rows_keep(ports, s->params->file, &s->row_count);
    if (s->params->start == PCAL_START_CCWS) ccws_init(&s->ccws, &pcal_ccws, ports);
    s->ends = true;
    s->window_at = s->params->window - 1;
    ports->set_timer(ports->host, 0, s->params->window - 1);
}

static uint32_t pcal_period(const void *params) { return ((const struct pcal_params *)params)->window; }

const struct mechanism mechanism_pcal = {
    .api = HEDDLE_MECHANISM_API,
    .name = "pcal",
    .summary = "priority-based cache allocation: SMs vote for p, then N climbs",
    .paper = "Li et al., HPCA'15; thesis 5.3.2",
    .params = pcal_params,
    .param_bytes = sizeof(struct pcal_params),
    .stats = pcal_stats,
    .state_bytes = sizeof(struct pcal),
    .gpu_state_bytes = sizeof(struct pcal_search),
    .gpu_timer_period = pcal_period,
    .check = pcal_check,
    .cost = pcal_cost,
    .init = pcal_init,
    .gpu_init = pcal_gpu_init,
    .on_kernel = pcal_on_kernel,
    .on_launch = pcal_on_launch,
    .on_warp = pcal_on_warp,
    .on_barrier = warp_tuple_on_barrier,
    .on_issue = pcal_on_issue,
    .may_allocate = warp_tuple_may_allocate,
    .on_l1_access = pcal_on_l1_access,
    .on_l1_evict = pcal_on_l1_evict,
    .on_timer = pcal_on_timer,
    .on_gpu_timer = pcal_on_gpu_timer,
};
