/* run_options.h: what a user may say about a run. Each option is one row, and everything reads the rows:
 * the command line and its help, the HEDDLE_* variables that `heddle run` sets and the CUDA libraries
 * read, the commands and the keys of a sweep's runs, the keys that an experiment may set. A new option is
 * a row and the field that it fills.
 *
 * (1) A value reads the same wherever it was written. (2) Writing the options to the environment and
 * reading them from there gives the same options. */
#ifndef HEDDLE_RUN_OPTIONS_H
#define HEDDLE_RUN_OPTIONS_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "core/timed.h"

#define RUN_DEFAULT_MACHINE "maxwell"

/* How the summary is printed. */
enum run_format { RUN_FORMAT_TABLE, RUN_FORMAT_JSON, RUN_FORMAT_GPGPUSIM, RUN_FORMAT_LOADS };

struct run_options {
    /* A name of machines/ or a path to a .yaml file. */
    const char *machine;
    /* KEY=VALUE of the machine; names of mechanisms or ./file.so; NAME.PARAM=VALUE of mechanisms. NULL
     * ends each list; no list is NULL. */
    const char *const *sets, *const *mechs, *const *mech_sets;
    /* Registers of a thread at most; 0 = as the machine says. */
    uint32_t registers_max;
    /* Results only, no clock. */
    bool functional;
    /* Look for accesses that race: without a clock too. */
    bool races;
    /* No summary on the terminal. */
    bool quiet;
    /* enum run_format. */
    uint32_t format;
    /* A file for the summary (as JSON when it ends in .json), and one for the timeline; NULL = none. */
    const char *stats, *timeline;
    /* What the timed GPU reads. run_options_complete() fills in what follows from the fields above. */
    struct timed_options timed;
};

enum run_kind {
    /* bool */
    RUN_FLAG,
    /* uint32_t */
    RUN_NUMBER,
    /* uint64_t */
    RUN_NUMBER64,
    /* const char * */
    RUN_STRING,
    /* uint32_t: the position in row.choices */
    RUN_CHOICE,
    /* const char *const *, in several parts */
    RUN_LIST
};

/* How an option affects the statistics of a run. */
enum run_effect {
    /* It does not affect them. */
    RUN_SAME,
    /* It changes them, so its value is in the key of a run, and an experiment may set it by its name. */
    RUN_CHANGES,
    /* It says which machine and mechanisms run: these, with every parameter as it will be, are in the key
     * of a run. */
    RUN_RESOLVED,
    /* The run has no statistics: the option is not for experiments. */
    RUN_UNTIMED
};

struct run_option {
    /* NULL ends the table. */
    const char *name;
    enum run_kind kind;
    enum run_effect effect;
    /* Where the field is in struct run_options. */
    size_t offset;
    /* Bounds of a number. The default may lie outside: "not given". */
    uint64_t min, max;
    /* The default as text; NULL = 0, false, no text, an empty list. */
    const char *fallback;
    /* RUN_CHOICE: names, NULL at the end. */
    const char *const *choices;
    /* RUN_LIST: the characters between two elements. */
    const char *separators;
    /* "--threads" and "-t"; the second may be NULL. */
    const char *flag, *short_flag;
    /* The value that a flag without an argument stands for; NULL: it takes an argument, or the row is a
     * RUN_FLAG. */
    const char *means;
    /* "HEDDLE_THREADS"; NULL: another row's variable carries the field. */
    const char *variable;
    /* What the help calls the value, and the help itself. */
    const char *value, *help;
    /* It has no effect in a run without a clock. */
    bool needs_clock;
};
extern const struct run_option run_option_rows[];

/* Every field at its default. */
void run_options_init(struct run_options *o);
/* Reads a value; a list is added to. Texts are copied into the arena. False with what is allowed in `why`,
 * such as "must be a whole number from 1 to 256". */
bool run_option_set(const struct run_option *row, struct run_options *o, const char *text, struct arena *a,
                    struct strbuf *why);
/* Sets the field to its default. */
void run_option_reset(const struct run_option *row, struct run_options *o);
/* The value as run_option_set() reads it. False, and no text: it is the default. */
bool run_option_format(const struct run_option *row, const struct run_options *o, struct strbuf *out);

/* Reads the variables of all rows into o; fields without a variable keep their values. False with an error
 * that names the variable. Ends with run_options_complete(). */
bool run_options_from_environment(struct run_options *o, struct arena *a, struct strbuf *error);
/* Writes the options to the environment; the variable of an option at its default is removed. */
void run_options_to_environment(const struct run_options *o);
/* Writes the options as words of a command line into the arena. Returns how many. */
uint32_t run_options_to_words(const struct run_options *o, struct arena *a, const char ***words);
/* Elements of a list. */
uint32_t run_list_count(const char *const *list);
/* The machine with its settings. False with diagnostics. */
bool run_options_machine(const struct run_options *o, struct machine *out, struct diag_list *diags);
/* False: results only. */
bool run_options_has_clock(const struct run_options *o);
/* Fills in o->timed from the other fields, and the format that `--stats gpgpusim` stands for. */
void run_options_complete(struct run_options *o);

#endif
