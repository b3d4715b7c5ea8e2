/* mech_set.h: the mechanisms chosen for a run: names (or ./file.so) with parameter settings ("swl.warps=4").
 * The core knows no mechanism by name; mech/registry.c lists the built-in ones, and plug-ins are shared
 * objects. */
#ifndef HEDDLE_MECH_SET_H
#define HEDDLE_MECH_SET_H

#include "base/base.h"
#include "base/diag.h"
#include "heddle/mechanism.h"
#include "mech/registry.h"

/* Returns the mechanism of this name, or NULL. The second function returns the nearest name, for hints, or
 * NULL. */
const struct mechanism *mech_builtin_find(const char *name);
const char *mech_builtin_nearest(const char *name);

struct mech_set;
/* Returns NULL with diagnostics when a name, file or setting is wrong, or when two mechanisms answer one
 * question. If no mechanism of the list is a scheduling policy, mech_default_policy is added. */
struct mech_set *mech_set_create(const char *const *names, uint32_t count, const char *const *settings,
                                 uint32_t setting_count, struct diag_list *diags);
/* Like mech_set_create, with the machine's own scheduler (a name, file or NULL) instead of
 * mech_default_policy. */
struct mech_set *mech_set_create_for(const char *default_policy, const char *const *names, uint32_t count,
                                     const char *const *settings, uint32_t setting_count,
                                     struct diag_list *diags);
void mech_set_destroy(struct mech_set *s);
uint32_t mech_set_count(const struct mech_set *s);
const struct mechanism *mech_set_at(const struct mech_set *s, uint32_t i);
/* Was the mechanism loaded from a file? Was any? */
bool mech_set_is_plugin(const struct mech_set *s, uint32_t i);
bool mech_set_has_plugin(const struct mech_set *s);
/* Returns the values of its parameter rows; NULL where it has none. */
const void *mech_set_params(const struct mech_set *s, uint32_t i);

#endif
