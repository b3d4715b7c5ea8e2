/* registry.h: the mechanisms that come with Heddle. */
#ifndef HEDDLE_MECH_REGISTRY_H
#define HEDDLE_MECH_REGISTRY_H

#include "heddle/mechanism.h"

extern const struct mechanism *const mech_builtin[]; /* NULL-terminated; policies first */
extern const char *const mech_default_policy;        /* which of them picks when none is named */

extern const struct mechanism mechanism_gto, mechanism_lrr, mechanism_oldest,
    mechanism_two_level;                                    /* policies */
extern const struct mechanism mechanism_str, mechanism_swl; /* modifiers */

#endif
