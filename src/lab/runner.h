/* runner.h: many runs of `heddle run`, several at a time, each a process of its own whose statistics end in a JSON file. */
#ifndef HEDDLE_RUNNER_H
#define HEDDLE_RUNNER_H

#include "base/base.h"

enum { RUN_SETS_MAX = 8 };

struct lab_run {
    const char *workload, *size, *machine;
    const char *sets[RUN_SETS_MAX + 1]; /* key=value; NULL ends them */
    /* filled in */
    char *stats;    /* path of the JSON file */
    char *log;      /* path of what the run printed */
    int status;     /* exit status; -1 = not run */
    bool reused;    /* the file was there already, and newer than simulator and workload */
    double seconds; /* of the wall clock */
};

struct lab_runner {
    const char *heddle, *programs; /* the command; the folder of the workloads' programs */
    const char *folder;            /* where the JSON files go; made where it is missing */
    uint32_t jobs;                 /* at a time */
    bool reuse;
    void (*progress)(void *context, uint32_t done, uint32_t all, const struct lab_run *last);
    void *context;
};

/* Equal runs are made once and share their files. False: the folder cannot be written, or a process cannot be started (errno). A
 * run that fails does not stop the others; its status tells. */
bool lab_run_all(const struct lab_runner *r, struct lab_run *runs, uint32_t count);
void lab_run_free(struct lab_run *runs, uint32_t count);

#endif
