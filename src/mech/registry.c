/* registry.c: the list of built-in mechanisms: the only place that names them all. */
#include "mech/registry.h"

const struct mechanism *const mech_builtin[] = {
    &mechanism_gto, &mechanism_lrr,       &mechanism_mascar, &mechanism_oldest,
    &mechanism_pa,  &mechanism_two_level, &mechanism_srrip,  &mechanism_ccws,
    &mechanism_str, &mechanism_swl,       &mechanism_victim, NULL,
};

const char *const mech_default_policy = "gto";
