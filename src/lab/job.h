/* job.h: one run of a sweep: everything that determines its result, and the key that follows from it. Two jobs with the same key are
 * the same run, wherever and whenever they are made. */
#ifndef HEDDLE_JOB_H
#define HEDDLE_JOB_H

#include "base/diag.h"
#include "base/strbuf.h"
#include "lab/workload.h"

enum { JOB_KEY_CHARS = 32 };

struct lab_job {
    const struct workload *workload;
    const char *size;
    const char *machine;          /* a name or a path, as `heddle run -m` takes it */
    const char *const *sets;      /* key=value of the machine, in order; NULL ends them; never NULL itself */
    const char *const *mechs;     /* mechanisms, in order; the same */
    const char *const *mech_sets; /* name.param=value; the same */
    uint64_t seed;                /* of the workload's input; 0 = its own default */
    uint64_t sample;              /* cycles of a time series' step; 0 = none */
    char key[JOB_KEY_CHARS + 1];  /* job_seal() */
};

/* Fills in the key: a hash of the simulator's sources (JOB_SIMULATOR), the whole machine with every parameter as it will be, the mechanisms
 * with theirs (a shared object by its bytes), the program's and the PTX file's bytes, its arguments, seed and sample. False with diagnostics when the machine or
 * a parameter is wrong. */
bool job_seal(struct lab_job *job, struct diag_list *diags);
/* Version of the simulator and a hash of its sources. */
const char *job_simulator(void);
/* The same as text, one `name: value` a line: what the key is the hash of. For `heddle query` and for people who ask why a run was made anew. */
bool job_identity(const struct lab_job *job, struct strbuf *out, struct diag_list *diags);
/* The words of `heddle run ... --stats STATS`; `heddle` first, NULL last. The caller frees the list, not the words. */
const char **job_argv(const struct lab_job *job, const char *heddle, const char *stats);
/* The command that a person would type, quoted for a shell. */
void job_command(const struct lab_job *job, struct strbuf *out);
/* Host memory that it will need, as far as can be told: machine and data of this size. */
uint64_t job_memory(const struct lab_job *job);

#endif
