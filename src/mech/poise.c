/* poise.c: Poise (thesis chapter 5): a warp tuple {N, p} that is predicted from counters and then corrected
 * by a short search, on each SM by itself.
 *
 * 5.6.1 Prediction. An inference epoch begins with the kernel, and again every T_period cycles. The SM runs
 * with all warps, then with (1, 1): each time T_warmup cycles pass, and T_feature cycles are counted. Where
 * more than I_max instructions come for each load, the kernel is bound by computation: all warps run until
 * the epoch ends. Otherwise the regression gives N and p (poise_model.h), scaled to the warps that are there.
 *
 * 5.6.2 Correction. The predicted tuple is measured, T_correct cycles after a warm-up, and so are its two
 * neighbours in N, at a stride. The better neighbour becomes the present tuple if it is faster, and the
 * search goes on around it; otherwise the stride is halved. At stride 0 the same begins for p. A tuple beyond
 * 1 <= p <= N <= warps is not visited; on a tie the present one stays.
 *
 * 5.6.3 The scheduler: warp_tuple.h. The tuple that was found stays until the epoch or the kernel ends. */
#include "mech/poise_model.h"
#include "mech/warp_tuple.h"

#include <stdio.h>
#include <string.h>

struct poise_params {
    uint32_t period, warmup, feature, correct, i_max, stride_n, stride_p;
    char model[PARAM_PATH_BYTES];
};

enum poise_state {
    POISE_WARM_ALL,
    POISE_COUNT_ALL,
    POISE_WARM_ONE,
    POISE_COUNT_ONE,
    POISE_WARM_POINT,
    POISE_COUNT_POINT,
    POISE_HOLD
};
/* Which point of the search is being measured. */
enum poise_side { POISE_HERE, POISE_BELOW, POISE_ABOVE };

struct poise {
    /* first: its hooks get the state */
    struct warp_tuple warps;
    const struct poise_params *params;
    struct poise_model model;
    enum poise_state state;
    /* a kernel has begun, and no epoch yet */
    bool begins;
    uint64_t epoch_end;
    /* the most warps of a scheduler since the kernel began */
    uint32_t most;
    struct mech_counters from;
    struct poise_window all;
    /* the search: the present tuple and its speed, the better neighbour and its speed */
    struct poise_tuple here, best, visited;
    uint64_t here_speed, best_speed;
    enum poise_side side;
    uint32_t stride;
    bool is_for_p;
    /* statistics */
    uint64_t epochs, cut_off, predictions, predicted_n, predicted_p, visits, moves, settled, settled_n,
        settled_p;
};

enum poise_note { POISE_NOTE_PREDICT, POISE_NOTE_VISIT, POISE_NOTE_SETTLE };
static const char *const poise_notes[] = {"predict", "visit", "settle", NULL};

static const struct param_row poise_params[] = {
    PARAM_NUMBER(poise_params, period, "poise.period", "cycles", "200000", 1, UINT32_MAX,
                 "T_period: an inference epoch"),
    PARAM_NUMBER(poise_params, warmup, "poise.warmup", "cycles", "2000", 1, UINT32_MAX,
                 "T_warmup: after each change of the tuple, before anything is counted"),
    PARAM_NUMBER(poise_params, feature, "poise.feature", "cycles", "10000", 1, UINT32_MAX,
                 "T_feature: counting for the prediction"),
    PARAM_NUMBER(poise_params, correct, "poise.correct", "cycles", "4000", 1, UINT32_MAX,
                 "T_correct: counting for the correction"),
    PARAM_NUMBER(poise_params, i_max, "poise.i_max", "instructions", "49", 0, UINT32_MAX,
                 "I_max: with more instructions for each load, all warps run"),
    PARAM_NUMBER(poise_params, stride_n, "poise.stride_n", "warps", "2", 0, TUPLE_ALL,
                 "first stride of the search for N; 0: N is not corrected"),
    PARAM_NUMBER(poise_params, stride_p, "poise.stride_p", "warps", "4", 0, TUPLE_ALL,
                 "first stride of the search for p; 0: p is not corrected"),
    PARAM_PATH(poise_params, model, "poise.model",
               "weights of the regression (docs/papers.md); none: the thesis's, Table 5.3"),
    {0},
};

static const struct stat_row poise_stats[] = {
    STAT_COUNT(poise, epochs, "poise.epochs", "epochs", "inference epochs that began", NULL),
    STAT_COUNT(poise, cut_off, "poise.cut_off", "epochs", "epochs that ended early: bound by computation",
               NULL),
    STAT_COUNT(poise, predictions, "poise.predictions", "predictions", "tuples predicted", NULL),
    STAT_COUNT(poise, predicted_n, "poise.predicted_n", "warps", "N of the predictions, summed", NULL),
    STAT_COUNT(poise, predicted_p, "poise.predicted_p", "warps", "p of the predictions, summed", NULL),
    STAT_COUNT(poise, visits, "poise.visits", "windows", "tuples measured by the search", NULL),
    STAT_COUNT(poise, moves, "poise.moves", "moves", "times that a neighbour was faster", NULL),
    STAT_COUNT(poise, settled, "poise.settled", "searches", "searches that ended before their epoch", NULL),
    STAT_COUNT(poise, settled_n, "poise.settled_n", "warps", "N after these searches, summed", NULL),
    STAT_COUNT(poise, settled_p, "poise.settled_p", "warps", "p after these searches, summed", NULL),
    STAT_COUNT(poise, warps.bypasses, "poise.bypasses", "misses",
               "misses of warps beyond the p oldest, which took no line", NULL),
    {0},
};

/* ---- windows ---- */

static void poise_note(struct poise *s, uint64_t cycle, enum poise_note kind, struct poise_tuple t)
{
    const struct mech_ports *ports = s->warps.ports;
    ports->note(ports->host, cycle, kind, t.n, t.p);
}

/* A window of `cycles` begins; the epoch may end before it. */
static void poise_begin(struct poise *s, uint64_t cycle, enum poise_state state, uint64_t cycles)
{
    const struct mech_ports *ports = s->warps.ports;
    const uint64_t left = s->epoch_end - cycle;
    s->state = state;
    ports->set_timer(ports->host, cycle, (uint32_t)(cycles < left ? cycles : left));
}

static void poise_warm_up(struct poise *s, uint64_t cycle, enum poise_state state, struct poise_tuple t)
{
    warp_tuple_set(&s->warps, t.n, t.p);
    poise_begin(s, cycle, state, s->params->warmup);
}

static void poise_count(struct poise *s, uint64_t cycle, enum poise_state state, uint32_t cycles)
{
    s->from = *s->warps.ports->counters(s->warps.ports->host);
    poise_begin(s, cycle, state, cycles);
}

static struct poise_window poise_counted(const struct poise *s)
{
    return poise_window_between(&s->from, s->warps.ports->counters(s->warps.ports->host));
}

static void poise_hold(struct poise *s, uint64_t cycle, struct poise_tuple t)
{
    warp_tuple_set(&s->warps, t.n, t.p);
    poise_begin(s, cycle, POISE_HOLD, UINT32_MAX);
}

static const struct poise_tuple poise_all = {TUPLE_ALL, TUPLE_ALL}, poise_one = {1, 1};

static void poise_begin_epoch(struct poise *s, uint64_t cycle)
{
    s->epochs++;
    s->epoch_end = cycle + s->params->period;
    poise_warm_up(s, cycle, POISE_WARM_ALL, poise_all);
}

/* ---- correction (5.6.2) ---- */

static void poise_visit(struct poise *s, uint64_t cycle, enum poise_side side, struct poise_tuple t)
{
    s->side = side;
    s->visited = t;
    s->visits++;
    poise_note(s, cycle, POISE_NOTE_VISIT, t);
    poise_warm_up(s, cycle, POISE_WARM_POINT, t);
}

/* The neighbour of the present tuple on one side; false: there is none. */
static bool poise_neighbour(const struct poise *s, enum poise_side side, struct poise_tuple *t)
{
    const int64_t by = side == POISE_ABOVE ? s->stride : -(int64_t)s->stride;
    const int64_t n = s->here.n + (s->is_for_p ? 0 : by), p = s->here.p + (s->is_for_p ? by : 0);
    if (p < 1 || p > n || n > s->most) return false;
    *t = (struct poise_tuple){(uint32_t)n, (uint32_t)p};
    return true;
}

static void poise_settle(struct poise *s, uint64_t cycle)
{
    s->settled++;
    s->settled_n += s->here.n;
    s->settled_p += s->here.p;
    poise_note(s, cycle, POISE_NOTE_SETTLE, s->here);
    poise_hold(s, cycle, s->here);
}

/* Goes on with the next neighbour after `side` that exists, or around a faster tuple, or with half the
 * stride. */
static void poise_search(struct poise *s, uint64_t cycle, enum poise_side side)
{
    struct poise_tuple t;
    for (;;) {
        while (s->stride && side != POISE_ABOVE)
            if (poise_neighbour(s, ++side, &t)) {
                poise_visit(s, cycle, side, t);
                return;
            }
        if (s->stride && s->best_speed > s->here_speed) {
            s->here = s->best;
            s->here_speed = s->best_speed;
            s->moves++;
        } else if (s->stride) {
            s->stride /= 2;
        } else if (!s->is_for_p) {
            s->is_for_p = true;
            s->stride = s->params->stride_p;
        } else {
            poise_settle(s, cycle);
            return;
        }
        side = POISE_HERE;
    }
}

static void poise_measured(struct poise *s, uint64_t cycle)
{
    const uint64_t speed = poise_counted(s).issued;
    if (s->side == POISE_HERE) {
        s->here_speed = s->best_speed = speed;
    } else if (speed > s->best_speed) {
        s->best = s->visited;
        s->best_speed = speed;
    }
    poise_search(s, cycle, s->side);
}

/* ---- prediction (5.6.1) ---- */

static void poise_predicted(struct poise *s, uint64_t cycle)
{
    const struct poise_window one = poise_counted(s);
    int64_t x[POISE_FEATURES];
    poise_features(&s->all, &one, x);
    s->here = poise_predict(&s->model, x, s->most);
    s->predictions++;
    s->predicted_n += s->here.n;
    s->predicted_p += s->here.p;
    poise_note(s, cycle, POISE_NOTE_PREDICT, s->here);
    s->is_for_p = !s->params->stride_n;
    s->stride = s->is_for_p ? s->params->stride_p : s->params->stride_n;
    if (s->stride)
        poise_visit(s, cycle, POISE_HERE, s->here);
    else
        poise_settle(s, cycle);
}

static void poise_counted_all(struct poise *s, uint64_t cycle)
{
    s->all = poise_counted(s);
    if (poise_is_compute_bound(&s->all, s->params->i_max)) {
        s->cut_off++;
        poise_hold(s, cycle, poise_all);
        return;
    }
    poise_warm_up(s, cycle, POISE_WARM_ONE, poise_one);
}

/* ---- hooks ---- */

static void poise_on_timer(void *state, uint64_t cycle)
{
    struct poise *s = state;
    if (cycle >= s->epoch_end) {
        poise_begin_epoch(s, cycle);
        return;
    }
    switch (s->state) {
    case POISE_WARM_ALL: poise_count(s, cycle, POISE_COUNT_ALL, s->params->feature); break;
    case POISE_COUNT_ALL: poise_counted_all(s, cycle); break;
    case POISE_WARM_ONE: poise_count(s, cycle, POISE_COUNT_ONE, s->params->feature); break;
    case POISE_COUNT_ONE: poise_predicted(s, cycle); break;
    case POISE_WARM_POINT: poise_count(s, cycle, POISE_COUNT_POINT, s->params->correct); break;
    case POISE_COUNT_POINT: poise_measured(s, cycle); break;
    case POISE_HOLD: break;
    }
}

static void poise_on_kernel(void *state, bool is_start)
{
    struct poise *s = state;
    s->begins = is_start;
    s->most = 0;
    if (is_start) return;
    s->warps.ports->set_timer(s->warps.ports->host, 0, 0);
    warp_tuple_set(&s->warps, TUPLE_ALL, TUPLE_ALL);
}

/* The first warp of a kernel tells when it began. */
static void poise_on_warp(void *state, const struct mech_warp_event *e)
{
    struct poise *s = state;
    warp_tuple_on_warp(&s->warps, e);
    const uint32_t resident = warp_tuple_resident(&s->warps);
    if (resident > s->most) s->most = resident;
    if (!s->begins) return;
    s->begins = false;
    poise_begin_epoch(s, e->cycle);
}

static enum mech_fit poise_check(const void *params, const struct mech_machine *machine, char *reason)
{
    const struct poise_params *p = params;
    const uint64_t sampling = 2 * ((uint64_t)p->warmup + p->feature);
    struct poise_model m = poise_published;
    if (sampling > p->period) {
        snprintf(reason, MECH_REASON_BYTES,
                 "sampling takes 2 * (poise.warmup + poise.feature) = %llu cycles, poise.period is %u",
                 (unsigned long long)sampling, p->period);
        return MECH_MISFIT;
    }
    if (*p->model && !poise_model_read(&m, p->model, reason)) return MECH_MISFIT;
    if (m.warps * machine->schedulers != machine->warps)
        snprintf(reason, MECH_REASON_BYTES, "the model is of %u warps a scheduler, the machine has %u",
                 m.warps, machine->warps / machine->schedulers);
    else if (*m.machine && machine->name && strcmp(m.machine, machine->name) != 0)
        snprintf(reason, MECH_REASON_BYTES, "the model was trained on %s, the machine is %s", m.machine,
                 machine->name);
    else
        return MECH_FITS;
    return MECH_FITS_POORLY;
}

/* 5.7.9, which does not count the bits of the warps. */
static void poise_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    mech_cost_add(c, MECH_EACH_SM, "counters", 4, 32, "performance counters");
    mech_cost_add(c, MECH_EACH_SM, "states", 2, 3, "state registers of prediction and search");
    warp_tuple_cost(m, c);
}

static void poise_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct poise *s = state;
    char reason[MECH_REASON_BYTES];
    s->params = params;
    s->model = poise_published;
    if (*s->params->model)
        poise_model_read(&s->model, s->params->model, reason); /* poise_check has read it */
    warp_tuple_init(&s->warps, ports);
}

const struct mechanism mechanism_poise = {
    .api = HEDDLE_MECHANISM_API,
    .name = "poise",
    .summary = "Poise: predicts the warp tuple {N, p} from counters and corrects it by a short search",
    .paper = "thesis chapter 5; Dublish et al., HPCA'19",
    .params = poise_params,
    .param_bytes = sizeof(struct poise_params),
    .stats = poise_stats,
    .note_names = poise_notes,
    .state_bytes = sizeof(struct poise),
    .check = poise_check,
    .cost = poise_cost,
    .init = poise_init,
    .on_kernel = poise_on_kernel,
    .on_warp = poise_on_warp,
    .on_barrier = warp_tuple_on_barrier,
    .on_issue = warp_tuple_on_issue,
    .may_allocate = warp_tuple_may_allocate,
    .on_timer = poise_on_timer,
};
