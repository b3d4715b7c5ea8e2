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
    /* The version whose runs the plans name; NULL: this one. It must outlive the lab. */
    const struct simulator *simulator;
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

/* Finds the version that --simulator names in an open store; `digits` NULL, or this version's own: v->name is
 * NULL. False: an error was printed. */
bool cli_find_simulator(struct simulator *v, struct store *s, const char *path, const char *digits);
/* The same in a store that is not open; path NULL: the default one. */
bool cli_open_simulator(struct simulator *v, const char *path, const char *digits);
/* Version and hash of the simulator that the runs are of. */
const char *cli_lab_simulator(const struct cli_lab *lab);
#define CLI_SIMULATOR_HELP                                                                                   \
    "the runs of another version of the simulator, by the first digits of its hash (heddle query STORE "     \
    "--simulators)"

/* How the runs of a sweep are made, and what is said of them. */
struct cli_sweep {
    const char *store, *size, *workloads, *slurm, *simulator;
    uint64_t jobs;
    bool dry_run, again, json, detach;
    /* The outcome as JSON has scoreboard and bars. */
    bool bars;
};
/* The options of each command that makes runs for a store, and behind them a command's own; free() it. */
struct cli_option *cli_batch_options(struct cli_sweep *s, const struct cli_option *own);
/* As well those of the commands that take experiments. */
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
