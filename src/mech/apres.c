/* apres.c: APRES (Oh et al., ISCA'16, section IV; figure 5): LAWS and SAP in one state, so that each can use
 * the results of the other. LAWS sends the group of a load that missed to SAP; SAP prefetches for it, and
 * sends the warps that it prefetched for back, which go to the head of the queue: their loads merge with the
 * prefetches or find the lines before these are evicted.
 *
 * (1) A miss moves the whole group to the tail first; each target goes to the head when its line has been
 * asked for, behind those of its group that are there already. (2) A load trains the Prefetch Table with its
 * first access; prefetches follow its misses. (3) The outcomes that on_prefetch tells are those of all
 * prefetches of the SM: with another prefetcher attached they contain its own. */
#include "mech/cost.h"
#include "mech/laws_core.h"
#include "mech/sap.h"

#include <stdio.h>

struct apres_params {
    /* first: LAWS_PARAM_ROWS */
    struct laws_params laws;
    struct sap_params sap;
};

struct apres {
    /* first: LAWS_STAT_ROWS */
    struct laws laws;
    struct sap sap;
};
_Static_assert(offsetof(struct apres_params, laws) == 0 && offsetof(struct apres, laws) == 0, "");

static const char *const warp_id_names[] = {"slot", "grid", NULL};
static const char *const requests_names[] = {"lowest", "all", NULL};
static const char *const training_names[] = {"executions", "misses", NULL};
static const char *const pace_names[] = {"one", "all", NULL};
static const char *const targets_names[] = {"cta", "group", NULL};

static const struct param_row apres_param_rows[] = {
    LAWS_PARAM_ROWS("apres"),
    PARAM_NUMBER(
        apres_params, sap.drq, "apres.drq", "addresses", "32", 1, SAP_REQUESTS_MAX,
        "entries of the Demand Request Queue: requests of a load that are prefetched from (table II: "
        "32)"),
    PARAM_NUMBER(apres_params, sap.wq, "apres.wq", "warps", "48", 1, MECH_WARPS_MAX,
                 "entries of the Warp Queue: warps that one miss prefetches for (table II: 48)"),
    PARAM_NUMBER(apres_params, sap.pt, "apres.pt", "loads", "10", 1, SAP_TABLE_MAX,
                 "entries of the Prefetch Table (table II: 10)"),
    PARAM_CHOICE(apres_params, sap.warp_id, "apres.warp_id", "slot", warp_id_names,
                 "the number of a warp in a stride: slot of the SM (table II: a byte), or index in the grid "
                 "(table I)"),
    PARAM_CHOICE(apres_params, sap.requests, "apres.requests", "lowest", requests_names,
                 "what a load of many lines prefetches from: the address of its lowest thread, or all lines "
                 "that missed"),
    PARAM_CHOICE(apres_params, sap.training, "apres.training", "executions", training_names,
                 "loads that train the Prefetch Table: all executions, or misses alone"),
    PARAM_CHOICE(apres_params, sap.pace, "apres.pace", "one", pace_names,
                 "prefetches of a group go to the SM one by one, until the next group comes, or all at once"),
    PARAM_CHOICE(apres_params, sap.targets, "apres.targets", "cta", targets_names,
                 "warps of the group that a miss prefetches for: those of its CTA, or the whole group"),
    {0},
};

#define SAP_COUNT(field, name, unit, help) STAT_COUNT(apres, sap.stats.field, "apres." name, unit, help, NULL)
static const struct stat_row apres_stat_rows[] = {
    LAWS_STAT_ROWS("apres"),
    SAP_COUNT(trained, "trained", "loads", "loads that trained the Prefetch Table"),
    SAP_COUNT(matches, "matches", "loads", "of these, that showed the stride of their entry"),
    SAP_COUNT(strides_stored, "strides_stored", "loads", "of these, that stored another stride"),
    SAP_COUNT(bursts, "bursts", "loads", "strided loads whose miss made prefetches for their group"),
    SAP_COUNT(cut, "bursts_cut", "loads", "of these, whose group was replaced before all was asked for"),
    SAP_COUNT(asked, "prefetches", "requests", "prefetches that the SM took"),
    SAP_COUNT(refused, "prefetch_refused", "requests",
              "prefetches that the SM refused; their warps are not promoted"),
    SAP_COUNT(shared, "prefetch_shared", "warps", "targets whose line was asked for already in the burst"),
    SAP_COUNT(sent, "prefetch_sent", "requests", "prefetches that the L1 sent"),
    SAP_COUNT(redundant, "prefetch_redundant", "requests",
              "prefetches of lines that were there or on their way"),
    SAP_COUNT(dropped, "prefetch_dropped", "requests", "prefetches that the L1 could not take"),
    SAP_COUNT(used, "prefetch_used", "lines", "prefetched lines that a load wanted, there or on their way"),
    {0},
};

static const struct energy_row apres_energy_rows[] = {
    LAWS_ENERGY_ROWS("apres"),
    ENERGY_PJ("apres.drq", "apres.bursts", COST_SMALL_TABLE_PJ, "entry of the Demand Request Queue"),
    ENERGY_PJ("apres.wq", "apres.prefetches", COST_SMALL_TABLE_PJ, "entry of the Warp Queue"),
    ENERGY_PJ("apres.pt", "apres.trained", COST_SMALL_TABLE_PJ, "access to the Prefetch Table"),
    {0},
};

/* At pace `all` SAP asks for a line for each other warp of a group at once. */
static enum mech_fit apres_check(const void *params, const struct mech_machine *m, char *reason)
{
    const struct apres_params *p = params;
    const enum mech_fit fit = laws_check(&p->laws, m, "apres", reason);
    const bool has_room = p->sap.pace != SAP_PACE_ALL || m->prefetch_queue + 1 >= m->warps;
    if (fit != MECH_FITS || has_room) return fit;
    snprintf(reason, MECH_REASON_BYTES,
             "sm.prefetch_queue is %u: a miss can ask for %u lines, one for each other warp of the SM, and "
             "those that find no room are lost",
             (unsigned)m->prefetch_queue, (unsigned)(m->warps - 1));
    return MECH_FITS_POORLY;
}

/* Table II. */
static void apres_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    enum { PC = 32, WARP = 8, ADDRESS = 64, STRIDE = 64 };
    const struct apres_params *p = params;
    laws_cost(&p->laws, c);
    mech_cost_add(c, MECH_EACH_SM, "drq", p->sap.drq, ADDRESS, "Demand Request Queue");
    mech_cost_add(c, MECH_EACH_SM, "wq", p->sap.wq, WARP, "Warp Queue");
    mech_cost_add(c, MECH_EACH_SM, "pt", p->sap.pt, PC + WARP + ADDRESS + STRIDE,
                  "Prefetch Table: PC, warp, address, stride");
}

static void apres_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct apres *a = state;
    const struct apres_params *p = params;
    laws_init(&a->laws, &p->laws);
    sap_init(&a->sap, &p->sap, ports);
}

static void apres_on_kernel(void *state, bool is_start)
{
    struct apres *a = state;
    if (is_start) sap_clear(&a->sap);
}

static void apres_on_warp(void *state, const struct mech_warp_event *e)
{
    struct apres *a = state;
    laws_on_warp(&a->laws, e);
    sap_on_warp(&a->sap, e);
}

static bool is_global_load(const struct mech_l1_access *e)
{
    return !e->is_store && !e->is_atomic && !e->is_prefetch && !e->is_local;
}

static void apres_work(struct apres *a)
{
    if (sap_work(&a->sap)) laws_prioritize(&a->laws, sap_targets(&a->sap));
}

static void apres_on_issue(void *state, const struct mech_issue *e)
{
    struct apres *a = state;
    laws_on_issue(&a->laws, e);
    if (e->is_load && e->is_global) sap_on_load(&a->sap, e->warp);
}

static void apres_on_l1_access(void *state, const struct mech_l1_access *e)
{
    struct apres *a = state;
    if (!is_global_load(e)) return;
    a->sap.stats.used += e->is_first_use;
    struct warp_set group;
    const enum laws_feedback feedback = laws_take_answer(&a->laws, e, &group);
    if (e->outcome == MECH_L1_SENT) return;
    const bool is_miss = !laws_is_hit(a->laws.params, e->outcome);
    if (e->is_first_line) sap_begin(&a->sap, e, is_miss || a->sap.params->training == SAP_TRAIN_EXECUTIONS);
    if (feedback == LAWS_MISS) sap_take_group(&a->sap, e, &group);
    if (!is_miss) return;
    sap_take_miss(&a->sap, e);
    apres_work(a);
}

static void apres_on_prefetch(void *state, const struct mech_prefetch *e)
{
    struct apres *a = state;
    sap_on_prefetch(&a->sap, e);
    apres_work(a);
}

const struct mechanism mechanism_apres = {
    .api = HEDDLE_MECHANISM_API,
    .name = "apres",
    .summary = "laws and a stride prefetcher for its groups: warps that were prefetched for go first",
    .paper = "Oh et al. (APRES), ISCA'16, section IV",
    .params = apres_param_rows,
    .param_bytes = sizeof(struct apres_params),
    .stats = apres_stat_rows,
    .energy = apres_energy_rows,
    .state_bytes = sizeof(struct apres),
    .check = apres_check,
    .cost = apres_cost,
    .init = apres_init,
    .pick = laws_pick,
    .on_kernel = apres_on_kernel,
    .on_warp = apres_on_warp,
    .on_issue = apres_on_issue,
    .on_l1_access = apres_on_l1_access,
    .on_prefetch = apres_on_prefetch,
};
