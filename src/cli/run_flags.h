/* run_flags.h: run options (core/run_options.h) on the command line. A command that runs something takes them
 * all: the environment first, then the flags, which replace what a variable says. Another command takes some
 * of them, such as the machine and its settings, and does not read the environment. */
#ifndef HEDDLE_RUN_FLAGS_H
#define HEDDLE_RUN_FLAGS_H

#include "cli/cli.h"
#include "core/run_options.h"

enum { CLI_RUN_ROWS_MAX = 64 };

/* A row of the table and where its value goes. */
struct cli_run_flag {
    struct cli_run *run;
    const struct run_option *row;
};

struct cli_run {
    struct run_options options;
    struct arena texts;
    /* Rows that the command line has set, a bit each. */
    uint64_t given;
    struct cli_run_flag flags[CLI_RUN_ROWS_MAX];
};

/* An option that a command takes, by the name of its row. */
struct cli_run_pick {
    const char *name;
    /* What stands before the row's help, and what stands in its place, where the command does something else
     * with the value; NULL: nothing. */
    const char *prefix, *help;
};

/* Defaults and the environment. False: an error was printed. */
bool cli_run_begin(struct cli_run *r);
/* A command's own options and behind them a flag for each row; free() it. */
struct cli_option *cli_run_options(struct cli_run *r, const struct cli_option *own);
/* Defaults; flags for the rows in `picks` alone (a NULL name ends it), and behind them a command's own
 * options; free() it. */
struct cli_option *cli_run_pick_options(struct cli_run *r, const struct cli_run_pick *picks,
                                        const struct cli_option *own);
/* Was one of the rows given on the command line? */
bool cli_run_is_given(const struct cli_run *r);
/* One flag with its value, or NULL where it takes none. False with what is allowed in `why`. */
bool cli_run_store(struct cli_run_flag *flag, const char *value, struct strbuf *why);
/* After the last flag. False: an error was printed: the machine, a mechanism or the table of energies is
 * wrong, or a file cannot be written. All of this is checked before anything runs. */
bool cli_run_finish(struct cli_run *r, struct machine *machine);
void cli_run_free(struct cli_run *r);

#endif
