/* cli.h: what the commands share: options as tables, errors that point into the command line, the exit
 * statuses. */
#ifndef HEDDLE_CLI_H
#define HEDDLE_CLI_H

#include "base/diag.h"
#include "base/vec.h"
#include "core/machine.h"
#include "core/run_options.h"

enum {
    CLI_OK = 0,
    /* the program or kernel faulted */
    CLI_FAILED = 1,
    CLI_BAD_INPUT = 2
};

enum cli_kind {
    /* bool */
    CLI_FLAG,
    /* const char * */
    CLI_STRING,
    /* const char *: the text behind `=`, or "" without one */
    CLI_MAYBE,
    /* uint64_t */
    CLI_NUMBER64,
    /* struct cli_list */
    CLI_LIST,
    /* struct cli_run_flag (run_flags.h), without and with a value */
    CLI_RUN_FLAG,
    CLI_RUN_VALUE
};

struct cli_value {
    const char *text;
    /* Which argv it stood in. */
    int arg;
};
struct cli_list {
    VEC(struct cli_value) items;
};

struct cli_option {
    /* "--grid" and "-g"; a NULL name ends a table, the second may be NULL. */
    const char *name, *short_name;
    enum cli_kind kind;
    void *out;
    /* What the help calls the value: "X[,Y[,Z]]". */
    const char *value;
    const char *help;
};

struct cli_command {
    const char *name;
    /* What follows the name. */
    const char *usage;
    /* One line. */
    const char *summary;
    /* Lines, each with its meaning. */
    const char *examples;
    int (*run)(int argc, char **argv);
};

extern const struct cli_command cli_commands[];
/* A row of cli_commands. */
const struct cli_command *cli_command(const char *name);

/* Joins two tables; free() the result. */
struct cli_option *cli_join_options(const struct cli_option *first, const struct cli_option *second);

/* Reads options of argv[1..]; words that are not options are gathered in `words`. With stop_at_dashes,
 * everything after "--" is left: *rest is the index of the first word behind it (argc when there is none).
 * False: an error was printed, or help was asked for (*status says which). */
struct cli_parse {
    const struct cli_command *command;
    const struct cli_option *options;
    struct cli_list words;
    int rest;
    int status;
};
bool cli_parse(struct cli_parse *p, int argc, char **argv);

/* An error at argv[arg] + offset, with the command line shown and a caret below it. Printed at once. */
void cli_error(int argc, char **argv, int arg, int offset, int len, const char *hint, const char *fmt, ...)
    PRINTF_LIKE(7, 8);
void cli_print_diags(const struct diag_list *diags);
/* Words and a line end, wrapped at 80 columns: the first begins at column `col`, further lines at
 * `indent`. */
void cli_print_wrapped(const char *text, int col, int indent);

/* "64", "64,2" or "64,2,1" (also with x) into three numbers from 1 on. */
bool cli_read_dims(const char *text, uint32_t dims[3]);

/* The path of this command, and the folder that it is in; "" where the system does not say. They live as
 * long as the process. */
const char *cli_self(void);
const char *cli_self_dir(void);

/* The file that execvp would take: as named, or found in PATH. False with errno. */
bool cli_find_program(const char *name, struct strbuf *out);
/* Reads a whole file; NULL with an error printed when it cannot be read. */
char *cli_read_file(const char *path, size_t *len);
/* The machine of these options, with its settings. False: an error was printed. */
bool cli_load_machine(const struct run_options *o, struct machine *out);
bool cli_load_named_machine(const char *name, struct machine *out);

int cli_cmd_run(int argc, char **argv);
int cli_cmd_kernel(int argc, char **argv);
int cli_cmd_disasm(int argc, char **argv);
int cli_cmd_list(int argc, char **argv);
int cli_cmd_explain(int argc, char **argv);
int cli_cmd_config(int argc, char **argv);
int cli_cmd_query(int argc, char **argv);
int cli_cmd_report(int argc, char **argv);
int cli_cmd_store(int argc, char **argv);
int cli_cmd_new(int argc, char **argv);
int cli_cmd_sweep(int argc, char **argv);
int cli_cmd_reproduce(int argc, char **argv);
int cli_cmd_compare(int argc, char **argv);
int cli_cmd_profile(int argc, char **argv);
int cli_cmd_train(int argc, char **argv);
int cli_cmd_map(int argc, char **argv);

#define CLI_DEFAULT_MACHINE RUN_DEFAULT_MACHINE

#endif
