/* sweep_impl.h: what the parts of a sweep share: its tasks, the files of its folder, and the interface of
 * what makes the runs. */
#ifndef HEDDLE_SWEEP_IMPL_H
#define HEDDLE_SWEEP_IMPL_H

#include "base/map.h"
#include "lab/bar.h"
#include "lab/child.h"
#include "lab/host.h"
#include "lab/sweep.h"

enum task_state {
    TASK_WAITING,
    /* Ours: on this machine, or handed to Slurm. */
    TASK_RUNNING,
    /* Another sweep has it. */
    TASK_ELSEWHERE,
    TASK_DONE,
    TASK_FAILED
};

struct sweep_task {
    const struct lab_job *job;
    /* The first that needs it. */
    const char *column;
    uint64_t memory;
    /* Warp instructions, or a guess at them. */
    double work;
    /* Seconds that such a run took before; 0 = not known. */
    double known;
    enum task_state state;
    /* It was in the store before this sweep. */
    bool had;
    /* This sweep made it. */
    bool made;
    /* host_now() of its start; of Slurm: 0 while it waits in the queue. */
    double start;
    /* How long it took. */
    double seconds;
    /* On Slurm: index of its array in struct slurm_sweep, and its task number, from 1. */
    uint32_t array, index;
    uint32_t tries;
    /* since when Slurm does not have it and its end is not visible; 0 = it is not missing. */
    double missing_since;
};

struct sweep_run {
    struct store *store;
    const struct sweep_options *o;
    /* Longest first. */
    VEC(struct sweep_task) tasks;
    /* key -> struct sweep_task * */
    struct map by_key;
    /* The holder of the leases; NULL = this process. */
    char *who;
    uint32_t lease_seconds, workers;
    double start, held_at, looked_at;
    /* Warp instructions a second and worker; of this sweep's runs, or of earlier ones. */
    double rate;
    double work_done, seconds_done;
    /* How many tasks are in each state: sweep_count(). */
    uint32_t count[TASK_FAILED + 1];
    struct bar bar;
    /* The store could not be written. */
    bool broken;
};

/* ---- tasks: sweep_tasks.c ---- */
void sweep_tasks_make(struct sweep_run *r, const struct plan *plans, uint32_t plan_count);
void sweep_tasks_free(struct sweep_run *r);
void sweep_count(struct sweep_run *r);
/* An estimate of how long the task will take. */
double sweep_task_seconds(const struct sweep_run *r, const struct sweep_task *t);
double sweep_seconds_left(const struct sweep_run *r, double now);

/* ---- leases and states: sweep.c ---- */
/* True: this sweep makes the run. Otherwise its state is set. */
bool sweep_claim(struct sweep_run *r, struct sweep_task *t);
/* Holds our leases, and looks at what others make. */
void sweep_keep(struct sweep_run *r);
/* Takes the end of a task's run into the store, and its outcome into the task. */
void sweep_end_task(struct sweep_run *r, struct sweep_task *t);

/* ---- the folder: sweep_files.c ---- */
void sweep_path(struct strbuf *out, const char *folder, const char *key, const char *suffix);
/* Waits for it; close() opens it; < 0: it cannot be. */
int sweep_lock(const char *folder);
/* The keys of all KEY.end. */
void sweep_find_ends(const char *folder, struct map *keys);
bool sweep_has_end(const char *folder, const char *key);
/* Gives KEY.json its name and writes KEY.end. False with errno. */
bool sweep_write_end(const char *folder, const char *key, const char *part, const struct lab_child_end *end);
/* Under the lock. 1: it is in the store, 0: there is no end, -1: the store could not be written (printed). */
int sweep_take_end(struct store *s, const struct lab_job *job, const char *folder, int *status,
                   double *seconds);
void sweep_append_log(const char *folder, const char *key, const char *fmt, ...) PRINTF_LIKE(3, 4);
void sweep_clear(const char *folder, const char *key);

/* ---- memory: sweep_local.c ---- */
struct sweep_memory {
    /* Bytes: for all runs at a time, and estimated for those that run. */
    uint64_t budget, used;
};
/* The memory for all runs, of what is free at the start. */
uint64_t sweep_budget(uint64_t free_bytes);
/* Is there memory for one more run beside `runs` others? A run alone may always start: it may need less than
 * estimated, and if it fails, the failure is stored. */
bool sweep_fits(const struct sweep_memory *m, uint32_t runs, uint64_t needs, uint64_t free_now);

/* ---- who makes the runs. False: printed why. ---- */
bool sweep_local(struct sweep_run *r);
bool sweep_slurm(struct sweep_run *r);

#endif
