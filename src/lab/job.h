/* job.h: one run of a sweep: everything that determines its result, and the key that follows from it. Two
 * jobs with the same key are the same run, wherever and whenever they are made. */
#ifndef HEDDLE_JOB_H
#define HEDDLE_JOB_H

#include "base/diag.h"
#include "base/strbuf.h"
#include "core/run_options.h"
#include "lab/simulator.h"
#include "lab/workload.h"

enum { JOB_KEY_CHARS = 32 };

struct lab_job {
    const struct workload *workload;
    const char *size;
    /* The seed of the workload's input; 0 = its own default. */
    uint64_t seed;
    /* Machine, mechanisms and all else that `heddle run` takes. */
    struct run_options run;
    /* What the machine and its settings in `run` come to; NULL: their files are read. */
    const struct machine *machine;
    /* The version of the simulator that made it; NULL: this one. A run of another one can only be looked for
     * in a store. */
    const struct simulator *simulator;
    /* Filled in by job_seal(). */
    char key[JOB_KEY_CHARS + 1];
};

/* Fills in the key: a hash of job_identity(). False with diagnostics when the machine or a parameter is
 * wrong. */
bool job_seal(struct lab_job *job, struct diag_list *diags);
/* Version of this simulator and a hash of its sources. */
const char *job_simulator(void);
/* All that determines the run, one `name: value` a line: the simulator's sources, the bytes of the program
 * and of its PTX file, its arguments and seed, the run options that change results, the whole machine with
 * every parameter as it will be, the mechanisms with theirs (a shared object by its bytes). For `heddle
 * query`, and to see why a run was repeated. Of another version of the simulator, parameters that it did not
 * have are left out where they have their default. False with diagnostics. */
bool job_identity(const struct lab_job *job, struct strbuf *out, struct diag_list *diags);
/* The words of `heddle run ... --stats STATS`; `heddle` first, NULL last. Made in the arena; texts of the
 * job are not copied. `stats` may be NULL. */
const char **job_argv(const struct lab_job *job, const char *heddle, const char *stats, struct arena *a);
/* A word of a command line, quoted where a shell needs it. */
void job_put_word(const char *word, struct strbuf *out);
/* The command that a person would type, quoted for a shell. */
void job_command(const struct lab_job *job, struct strbuf *out);
/* An estimate of the host memory that it will need: for the machine, and for data of this size. */
uint64_t job_memory(const struct lab_job *job);

#endif
