/* lab.h: experiments as the command line names them, and what the commands of the lab share. */
#ifndef HEDDLE_CLI_LAB_H
#define HEDDLE_CLI_LAB_H

#include "cli/cli.h"
#include "lab/figure_bars.h"
#include "lab/figure_scores.h"
#include "lab/sweep.h"

#define CLI_DEFAULT_STORE "results.db"

typedef VEC(const struct experiment *) experiment_list;

/* A study, and the experiments that it names, those of its studies included. */
struct cli_study {
    struct experiment *study;
    experiment_list members;
};

/* Experiments with their plans; a study is its experiments. */
struct cli_lab {
    struct workload_set workloads;
    VEC(struct experiment *) experiments;
    VEC(struct cli_study) studies;
    VEC(struct plan) plans;
    /* The figures of each plan, and the bars of experiments, then of studies: from cli_lab_figures() on. */
    VEC(struct figure_set) figures;
    VEC(struct bar_result) bars;
    struct scoreboard scores;
};
/* `workloads` (names with commas between them) and `size` narrow them; NULL: as the files say. False:
 * errors were printed. */
bool cli_lab_load(struct cli_lab *lab, const struct cli_list *names, const char *workloads, const char *size);
/* Adds an experiment that is not in a file (experiment_read) to a lab whose workloads are loaded. False:
 * errors were printed. */
bool cli_lab_add(struct cli_lab *lab, const char *name, const char *text);
void cli_lab_free(struct cli_lab *lab);

/* Prints why store_open() failed, and says which exit status that is. */
int cli_store_refused(const char *error);
/* A store to read. NULL: an error was printed. */
struct store *cli_open_store(const char *path);

/* What sweep and reproduce take alike. */
struct cli_sweep {
    const char *store, *size, *workloads, *slurm;
    uint64_t jobs;
    bool dry_run, again, json, detach;
    /* The outcome as JSON has scoreboard and bars. */
    bool bars;
};
/* The options of both, and behind them a command's own; free() it. */
struct cli_option *cli_sweep_options(struct cli_sweep *s, const struct cli_option *own);

/* Adds the runs that follow from the results in a store (plan_advance). False: errors were printed. */
bool cli_lab_advance(struct cli_lab *lab, struct store *store, const char *store_path);
/* The runs of a lab, into its store: an exit status; 130 when stopped. *store is open where figures can be
 * made of what is there, else NULL. */
int cli_sweep(const struct cli_sweep *s, struct cli_lab *lab, struct store **store);
/* Computes figures, bars and the scoreboard from the runs in the store. False: errors were printed. */
bool cli_lab_figures(struct cli_lab *lab, struct store *store);
/* Claims of all figures on standard output, and their tables where asked for. */
void cli_print_figures(const struct cli_lab *lab, bool with_tables);
/* The scoreboard and the table of all bars on standard output; nothing where there are none. */
void cli_print_bars(const struct cli_lab *lab);

#endif
