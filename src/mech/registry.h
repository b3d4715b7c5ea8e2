/* registry.h: the mechanisms that come with Heddle. */
#ifndef HEDDLE_MECH_REGISTRY_H
#define HEDDLE_MECH_REGISTRY_H

#include "heddle/mechanism.h"

/* NULL-terminated; policies first. */
extern const struct mechanism *const mech_builtin[];
/* Which of them picks when none is named. */
extern const char *const mech_default_policy;

/* policies */
extern const struct mechanism mechanism_gto, mechanism_lrr, mechanism_oldest, mechanism_two_level;
extern const struct mechanism mechanism_laws, mechanism_apres, mechanism_mascar, mechanism_pa;
extern const struct mechanism mechanism_srrip;
/* modifiers */
extern const struct mechanism mechanism_ccws, mechanism_sld, mechanism_str, mechanism_swl, mechanism_victim;
extern const struct mechanism mechanism_reuse;
extern const struct mechanism mechanism_tuple, mechanism_pcal, mechanism_poise;
extern const struct mechanism mechanism_linebacker, mechanism_cacheext, mechanism_cerf, mechanism_loads;
extern const struct mechanism mechanism_ccn, mechanism_sharing;

/* CTAs beyond the slots of the schedulers */
extern const struct mechanism mechanism_vt, mechanism_finereg, mechanism_regdram, mechanism_regmutex;
/* on-chip memory as one store */
extern const struct mechanism mechanism_unified;
/* SMs in cache mode */
extern const struct mechanism mechanism_morpheus;
/* observers */
extern const struct mechanism mechanism_cta_stalls, mechanism_register_use;

#endif
