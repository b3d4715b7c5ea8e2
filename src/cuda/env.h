/* env.h: what the environment says about the GPU of this process; `heddle run` sets these for the program. */
#ifndef HEDDLE_ENV_H
#define HEDDLE_ENV_H

#include "base/base.h"

struct gpu_env {
    const char
        *machine; /* HEDDLE_MACHINE: a name of machines/ or a path to a .yaml file; default "maxwell" */
    const char **overrides; /* HEDDLE_SET: key=value, one a line */
    uint32_t override_count;
    const char *stats_path; /* HEDDLE_STATS: file for the summary (.json: as JSON); NULL = stderr */
    bool quiet;             /* HEDDLE_QUIET=1: no summary on stderr */
    uint32_t regs_max;      /* HEDDLE_MAXRREGCOUNT; 0 = no limit */
    char *text;             /* backs the overrides */
};

/* False when a value makes no sense; *error then says which, in a static text. */
bool env_read(struct gpu_env *out, const char **error);
void env_free(struct gpu_env *e);

#endif
