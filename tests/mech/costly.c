/* costly.c: a plug-in that declares storage; costly.fault selects an error in its rows. */
#include "heddle/mechanism.h"

#include <stdlib.h>

enum { FAULT_NONE, FAULT_NAME, FAULT_TWICE, FAULT_HELP, FAULT_SCOPE, FAULT_MANY, FAULT_BITS, FAULT_CRASH };
static const char *const faults[] = {"none", "name", "twice", "help", "scope", "many", "bits", "crash", NULL};

struct costly_params {
    uint32_t fault;
};

static const struct param_row costly_params[] = {
    PARAM_CHOICE(costly_params, fault, "costly.fault", "none", faults, "what is wrong"), {0}};

static void costly_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    const uint32_t fault = ((const struct costly_params *)params)->fault;
    mech_cost_add(c, MECH_EACH_SM, "table", m->warps, 3, "of each warp");
    mech_cost_add(c, fault == FAULT_SCOPE ? (enum mech_scope)3 : MECH_EACH_SLICE,
                  fault == FAULT_NAME    ? "a b"
                  : fault == FAULT_TWICE ? "table"
                                         : "filter",
                  16, fault == FAULT_BITS ? UINT64_MAX : 8, fault == FAULT_HELP ? NULL : "of each slice");
    mech_cost_add(c, MECH_WHOLE_GPU, "sum", 1, 64, "of all");
    for (int i = 0; fault == FAULT_MANY && i < MECH_STORAGE_MAX; i++)
        mech_cost_add(c, MECH_EACH_SM, "more", 1, 1, "too many");
    if (fault == FAULT_CRASH) abort();
}

extern const struct mechanism heddle_mechanism;
HEDDLE_MECHANISM_EXPORT const struct mechanism heddle_mechanism = {
    .api = HEDDLE_MECHANISM_API,
    .name = "costly",
    .summary = "declares storage",
    .paper = "",
    .params = costly_params,
    .param_bytes = sizeof(struct costly_params),
    .cost = costly_cost,
};
