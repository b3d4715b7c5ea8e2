/* slurm_head.h: the head of a sweep on a cluster: its state, and its two halves, which submit tasks and
 * follow them. */
#ifndef HEDDLE_SLURM_HEAD_H
#define HEDDLE_SLURM_HEAD_H

#include "lab/slurm.h"
#include "lab/slurm_files.h"
#include "lab/sweep_impl.h"

struct slurm_head {
    struct sweep_run *r;
    struct slurm_arrays arrays;
    struct slurm_answer answer;
    /* Arrays whose tasks we know. */
    uint32_t attached;
    uint32_t array_max, made;
    double asked_at, looked_at, refused_at;
    bool has_no_accounting;
    /* Slurm does not answer, and the user was told. */
    bool is_silent;
};

/* Reads slurm.jobs, and takes the tasks of arrays that are new to us. Under the folder's lock. */
void slurm_attach(struct slurm_head *h);
/* Submits every waiting task that no other process has submitted meanwhile. Under the folder's lock. False:
 * *error is sbatch's. */
bool slurm_submit_all(struct slurm_head *h, char **error);

#endif
