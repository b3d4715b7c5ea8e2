/* sweep.h: makes the runs of plans: on this machine's cores, or on a cluster. */
#ifndef HEDDLE_SWEEP_H
#define HEDDLE_SWEEP_H

#include "lab/plan.h"
#include "lab/store.h"

enum sweep_slurm {
    SWEEP_HERE,
    SWEEP_SLURM,
    /* submit and leave */
    SWEEP_SLURM_DETACH
};

struct sweep_options {
    /* The command that the runs are made with. */
    const char *heddle;
    /* Where runs leave their files until they are in the store: STORE.work. */
    const char *folder;
    /* Runs at a time on this machine; 0 = as cores and memory allow. */
    uint32_t workers;
    /* Make failed runs again. */
    bool again;
    /* A progress bar, a line a worker. */
    bool is_terminal;
    /* Submit to Slurm instead: enum sweep_slurm. */
    uint32_t slurm;
    /* Options for sbatch; NULL ends them. */
    const char *const *slurm_options;
    /* Set by a signal. */
    volatile int *stop;
};

struct sweep_result {
    /* Runs: made now, in the store before; none that failed. */
    uint32_t made, had;
    /* Runs that failed, now or before. */
    uint32_t failed;
    /* Runs that another sweep made meanwhile, or still makes. */
    uint32_t elsewhere;
    /* Runs of another version of the simulator that are not in the store, and so cannot be made (sweep_look),
     * with those that would follow from them. */
    uint32_t missing;
    double seconds;
};

/* Failed runs are kept in the store with their error and do not stop the others. False: the sweep itself
 * could not go on; the error is printed. */
bool sweep(struct store *s, const struct plan *plans, uint32_t plan_count, const struct sweep_options *o,
           struct sweep_result *out);

/* The same, and then the runs that follow from the results (plan_advance), as long as there are any. Errors
 * of plans go to `diags`. */
bool sweep_stages(struct store *s, struct plan *plans, uint32_t plan_count, const struct sweep_options *o,
                  struct sweep_result *out, struct diag_list *diags);

/* Counts the runs that the store has of the plans; makes none. */
void sweep_look(struct store *s, const struct plan *plans, uint32_t plan_count, struct sweep_result *out);

/* The runs, which of them the store has, and how long the others will take: a table, or JSON. Those of
 * another version of the simulator are "missing" where the store does not have them. `s` NULL: there is no
 * store yet. */
void sweep_list(struct store *s, const struct plan *plans, uint32_t plan_count, uint32_t workers, bool json,
                struct strbuf *out);

/* What runs leave in the folder, so that a killed sweep loses nothing that was finished: KEY.json
 * (--stats), KEY.log (what was printed), KEY.end (one line: status seconds peak_bytes host; written last,
 * by rename). Takes every KEY.end of these plans into the store and removes its files. */
bool sweep_gather(struct store *s, const struct plan *plans, uint32_t plan_count, const char *folder,
                  uint32_t *gathered);

#endif
