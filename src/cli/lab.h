/* lab.h: experiments as the command line names them, and what the commands of the lab share. */
#ifndef HEDDLE_CLI_LAB_H
#define HEDDLE_CLI_LAB_H

#include "cli/cli.h"
#include "lab/figure.h"
#include "lab/sweep.h"

#define CLI_DEFAULT_STORE "results.db"

/* Experiments with their plans; a study is its experiments. */
struct cli_lab {
    struct workload_set workloads;
    VEC(struct experiment *) experiments;
    VEC(struct plan) plans;
    /* Of each plan: cli_lab_figures(). */
    VEC(struct figure_set) figures;
};
/* `workloads` (names with commas between them) and `size` narrow them; NULL: as the files say. False: errors were printed. */
bool cli_lab_load(struct cli_lab *lab, const struct cli_list *names, const char *workloads, const char *size);
void cli_lab_free(struct cli_lab *lab);

/* A store to read. NULL: an error was printed. */
struct store *cli_open_store(const char *path);

/* What sweep and reproduce take alike. */
struct cli_sweep {
    const char *store, *size, *workloads, *slurm;
    uint64_t jobs;
    bool dry_run, again, json, detach;
};
#define CLI_SWEEP_OPTIONS(s)                                                                                   \
    {"--store", NULL, CLI_TEXT, &(s).store, "FILE", "the store of results (default " CLI_DEFAULT_STORE ")"},   \
        {"--dry-run",  "-n", CLI_FLAG,                                                                         \
         &(s).dry_run, NULL, "list the runs, which of them the store has, and how long the others will take"}, \
        {"--jobs",  "-j", CLI_U64,                                                                             \
         &(s).jobs, "N",  "runs at a time (default: as cores and memory allow; on Slurm: as it likes)"},       \
        {"--again", NULL, CLI_FLAG, &(s).again, NULL, "make failed runs again"},                               \
        {"--size", NULL, CLI_TEXT, &(s).size, "NAME", "another size of all workloads: tiny, small, paper"},    \
        {"--workloads", NULL, CLI_TEXT, &(s).workloads, "A,B", "these workloads alone"},                       \
        {"--slurm",  NULL,         CLI_MAYBE,                                                                  \
         &(s).slurm, "[=OPTIONS]", "submit a job array to Slurm, with these options of sbatch"},               \
        {"--slurm-detach", NULL, CLI_FLAG,                                                                     \
         &(s).detach,      NULL, "submit to Slurm and leave; the same command without it gathers"},            \
    {                                                                                                          \
        "--json", NULL, CLI_FLAG, &(s).json, NULL, "write the list or the outcome as JSON"                     \
    }

/* The runs of a lab, into its store: an exit status; 130 when stopped. *store is open where figures can be made of
 * what is there, else NULL. */
int cli_sweep(const struct cli_sweep *s, const struct cli_lab *lab, struct store **store);
/* Computes the figures from the runs in the store. False: errors were printed. */
bool cli_lab_figures(struct cli_lab *lab, struct store *store);
/* Claims of all figures on standard output, and their tables where asked for. */
void cli_print_figures(const struct cli_lab *lab, bool with_tables);

#endif
