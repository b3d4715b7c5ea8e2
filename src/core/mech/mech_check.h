/* mech_check.h: whether the host can rely on a mechanism's struct, and which questions the mechanism answers
 * alone. */
#ifndef HEDDLE_MECH_CHECK_H
#define HEDDLE_MECH_CHECK_H

#include "base/diag.h"
#include "heddle/mechanism.h"

/* An error that does not point into a text. hint may be NULL. */
void mech_error(struct diag_list *diags, const char *hint, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Letters, digits, '-' and '_': a word that needs no quotes in a shell, a query, JSON or CSV. */
bool mech_is_word(const char *text);
/* Checks interface version, name, rows, sizes, timers and names of notes; where: the file, or the built-in
 * name. */
bool mech_check(const struct mechanism *m, const char *where, struct diag_list *diags);

/* For a plug-in: neither a built-in mechanism nor a group of built-in statistics has its name. */
bool mech_check_name_is_free(const struct mechanism *m, struct diag_list *diags);

/* Returns the question that both answer though only one mechanism can ("pick the warp that issues"), or
 * NULL. */
const char *mech_contest(const struct mechanism *a, const struct mechanism *b);

#endif
