/* registry.c: the list of built-in mechanisms: the only place that names them all. */
#include "mech/registry.h"

const struct mechanism *const mech_builtin[] = {
    &mechanism_gto,          &mechanism_lrr,        &mechanism_oldest,
    &mechanism_two_level,    &mechanism_pa,         &mechanism_mascar,
    &mechanism_laws,         &mechanism_apres,      &mechanism_srrip,
    &mechanism_ccws,         &mechanism_sld,        &mechanism_str,
    &mechanism_swl,          &mechanism_tuple,      &mechanism_pcal,
    &mechanism_poise,        &mechanism_victim,     &mechanism_vt,
    &mechanism_finereg,      &mechanism_regdram,    &mechanism_regmutex,
    &mechanism_unified,      &mechanism_ccn,        &mechanism_sharing,
    &mechanism_reuse,        &mechanism_linebacker, &mechanism_cacheext,
    &mechanism_cerf,         &mechanism_loads,      &mechanism_cta_stalls,
    &mechanism_register_use, &mechanism_morpheus,   NULL,
};

const char *const mech_default_policy = "gto";
