/* mech_check.h: whether a mechanism's struct can be relied on, and which questions it answers alone. */
#ifndef HEDDLE_MECH_CHECK_H
#define HEDDLE_MECH_CHECK_H

#include "base/diag.h"
#include "heddle/mechanism.h"

/* An error that does not point into a text. hint may be NULL. */
void mech_error(struct diag_list *diags, const char *hint, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Letters, digits, '-' and '_': what needs no quotes in a shell, a query, JSON or CSV. */
bool mech_is_word(const char *text);
/* Interface version, name, rows, sizes, timers and names of notes; where: the file, or the built-in name. */
bool mech_check(const struct mechanism *m, const char *where, struct diag_list *diags);

/* Of a plug-in: neither a built-in mechanism nor a group of built-in statistics has its name. */
bool mech_check_name_is_free(const struct mechanism *m, struct diag_list *diags);

/* What both answer though only one mechanism can ("pick the warp that issues"); NULL: nothing. */
const char *mech_contest(const struct mechanism *a, const struct mechanism *b);

#endif
