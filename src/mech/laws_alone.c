/* laws_alone.c: LAWS without a prefetcher (APRES, ISCA'16, section IV-A; figures 7 and 8): grouped warps go
 * to the head of the scheduling queue when the load of one of them hits in the L1, to its tail when it
 * misses. laws_core.c has the rules; apres.c adds SAP. */
#include "mech/cost.h"
#include "mech/laws_core.h"

static const struct param_row laws_param_rows[] = {LAWS_PARAM_ROWS("laws"), {0}};
static const struct stat_row laws_stat_rows[] = {LAWS_STAT_ROWS("laws"), {0}};
static const struct energy_row laws_energy_rows[] = {LAWS_ENERGY_ROWS("laws"), {0}};

static enum mech_fit laws_alone_check(const void *params, const struct mech_machine *m, char *reason)
{
    return laws_check(params, m, "laws", reason);
}

static void laws_alone_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    laws_cost(params, c);
}

static void laws_alone_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    laws_init(state, params);
}

static void laws_alone_on_l1_access(void *state, const struct mech_l1_access *a)
{
    struct warp_set group;
    if (!a->is_store && !a->is_atomic) laws_take_answer(state, a, &group);
}

const struct mechanism mechanism_laws = {
    .api = HEDDLE_MECHANISM_API,
    .name = "laws",
    .summary =
        "locality-aware: warps that will run the same load go first after its hit, last after its miss",
    .paper = "Oh et al. (APRES), ISCA'16, section IV-A",
    .params = laws_param_rows,
    .param_bytes = sizeof(struct laws_params),
    .stats = laws_stat_rows,
    .energy = laws_energy_rows,
    .state_bytes = sizeof(struct laws),
    .check = laws_alone_check,
    .cost = laws_alone_cost,
    .init = laws_alone_init,
    .pick = laws_pick,
    .on_warp = laws_on_warp,
    .on_issue = laws_on_issue,
    .on_l1_access = laws_alone_on_l1_access,
};
