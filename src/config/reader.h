/* reader.h: parameter files and --set over any groups of parameter tables. */
#ifndef HEDDLE_READER_H
#define HEDDLE_READER_H

#include "config/param.h"

struct config_target {
    const struct param_group *groups;
    void *object;
    /* holds machines/ */
    const char *dir;
};

/* `name` is NAME of dir/machines/NAME.yaml, or a path (with a slash or ending in .yaml). False with
 * diagnostics. */
bool config_load(const struct config_target *t, const char *name, struct diag_list *diags);
/* "key=value", as --set takes it. */
void config_override(const struct config_target *t, const char *text, struct diag_list *diags);

#endif
