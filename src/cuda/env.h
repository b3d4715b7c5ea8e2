/* env.h: what the environment says about the GPU of this process; `heddle run` sets these for the program. */
#ifndef HEDDLE_ENV_H
#define HEDDLE_ENV_H

#include "base/base.h"

enum stats_format { STATS_TABLE, STATS_JSON, STATS_GPGPUSIM };

struct gpu_env {
    const char
        *machine; /* HEDDLE_MACHINE: a name of machines/ or a path to a .yaml file; default "maxwell" */
    const char **overrides; /* HEDDLE_SET: key=value, one a line */
    uint32_t override_count;
    const char *stats_path; /* HEDDLE_STATS: file for the summary (.json: as JSON); NULL = stderr */
    bool quiet;             /* HEDDLE_QUIET=1: no summary on stderr */
    uint32_t regs_max;      /* HEDDLE_MAXRREGCOUNT; 0 = no limit */
    bool functional;        /* HEDDLE_FUNCTIONAL=1: no clock */
    const char **mechs;     /* HEDDLE_MECH: names or ./file.so, one a line */
    uint32_t mech_count;
    const char **mech_settings; /* HEDDLE_MECH_SET: name.param=value, one a line */
    uint32_t mech_setting_count;
    bool no_skip;              /* HEDDLE_NO_SKIP=1: every component ticks at every edge */
    uint64_t sample_cycles;    /* HEDDLE_SAMPLE: time series, core cycles; 0 = none */
    uint64_t threads;          /* HEDDLE_THREADS: that run the SMs; 0 = the caller alone */
    const char *timeline_path; /* HEDDLE_TIMELINE: a file that Perfetto opens */
    enum stats_format format;  /* HEDDLE_FORMAT: table, json or gpgpusim */
    char *text[3];             /* back the lists */
};

/* False when a value makes no sense; *error then says which, in a static text. */
bool env_read(struct gpu_env *out, const char **error);
void env_free(struct gpu_env *e);

#endif
