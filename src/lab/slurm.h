/* slurm.h: job arrays of Slurm: submit, ask, and what a task of one does (docs/cluster.md). */
#ifndef HEDDLE_SLURM_H
#define HEDDLE_SLURM_H

#include "base/strbuf.h"
#include "base/vec.h"

enum slurm_state {
    /* Slurm does not know it (any more). */
    SLURM_GONE,
    /* Waits. */
    SLURM_QUEUED,
    /* Also while it starts or is cleaned up after. */
    SLURM_RUNNING,
    /* Its script came to its end. */
    SLURM_ENDED,
    /* Cancelled, timed out, preempted, its node failed, its script failed. */
    SLURM_LOST
};
/* "PENDING", "CANCELLED by 0", ... as squeue and sacct write them. */
enum slurm_state slurm_state_of(const char *text);

/* One task of an array as Slurm sees it. */
struct slurm_task_state {
    /* The job's number. */
    char name[64];
    unsigned long job, index;
    enum slurm_state state;
    /* Slurm's own word. */
    char text[32];
};
struct slurm_answer {
    VEC(struct slurm_task_state) tasks;
};

/* The largest array; 0: Slurm does not answer, *error says why (to be freed). */
uint32_t slurm_array_max(char **error);
/* What an array is submitted with. */
struct slurm_request {
    /* Output: sbatch's pattern. */
    const char *name, *script, *output;
    /* at_a_time 0: as many as Slurm likes. */
    uint32_t tasks, at_a_time;
    uint64_t memory_bytes;
    /* The user's, NULL ends them; they come last and so win. */
    const char *const *options;
};
bool slurm_submit(const struct slurm_request *q, char job[24], char **error);
/* All tasks of jobs of these names (with commas between them), as squeue reports them. False: Slurm does not
 * answer. */
bool slurm_ask(const char *names, struct slurm_answer *out, char **error);
/* Adds what squeue has forgotten and accounting knows. False: this cluster has no accounting. */
bool slurm_ask_accounting(const char *names, struct slurm_answer *out);
const struct slurm_task_state *slurm_find(const struct slurm_answer *a, const char *name,
                                          unsigned long index);

/* What a task does: line SLURM_ARRAY_TASK_ID of the list is a key, the file for statistics, and the words
 * of the command, with tabs between them. Returns an exit status: 0 when KEY.end is written, however the
 * run ended. Touches no store. */
int slurm_task(const char *list);

#endif
