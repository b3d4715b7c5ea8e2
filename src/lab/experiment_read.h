/* experiment_read.h: what the files that read an experiment share. */
#ifndef HEDDLE_EXPERIMENT_READ_H
#define HEDDLE_EXPERIMENT_READ_H

#include "base/map.h"
#include "lab/experiment.h"
#include "lab/expr.h"
#include "stats/stat.h"

/* A name of `columns:` and the columns that came of it: one, or one for each value of `over`. */
struct column_group {
    const char *name;
    uint32_t first, count;
};

/* Defined in experiment_draft.c. */
struct column_draft;

/* `over` of a column: a column for each combination of the values. */
struct over {
    /* Parameters and their values. */
    const struct yaml_node *map;
    /* Lists, or NULL. */
    const struct yaml_node *labels, *x;
    /* Combinations. */
    uint32_t count;
    /* A value of each parameter, and which it is. */
    const struct yaml_node *picked[OVER_MAX];
    uint32_t place[OVER_MAX];
};

/* key=value, and where it stands. */
struct setting {
    const char *key, *value;
    const struct yaml_node *key_at, *value_at;
};
typedef VEC(struct setting) setting_list;

struct experiment_reading {
    struct experiment *e;
    const struct workload_set *workloads;
    struct diag_list *diags;
    /* Every statistic that a run can have: name -> bins of a histogram + 1. */
    struct map stats;
    VEC(struct lab_column) columns;
    /* The draft of each column; an oracle has NULL. */
    VEC(struct column_draft *) drafts;
    VEC(struct column_group) groups;
    /* `set` of the experiment: what every column starts from. */
    setting_list common;
    /* The machine that was read last, as its file has it, and its name; NULL: none was. */
    struct machine *machine;
    const char *machine_name;
};

/* `threshold`, `classes` and `words` of a measure. */
void experiment_read_judging(struct experiment_reading *r, struct lab_measure *m, const struct yaml_node *n);

/* Each reads its part of the file into r->e. Errors are added to r->diags. */
void experiment_read_workloads(struct experiment_reading *r);
void experiment_read_models(struct experiment_reading *r);
void experiment_read_columns(struct experiment_reading *r);
void experiment_read_measures(struct experiment_reading *r);
void experiment_read_figures(struct experiment_reading *r);
void experiment_read_bars(struct experiment_reading *r);

/* Can the experiment's own machine be read, and does it take the experiment's own settings? Reported once,
 * not by every column. */
bool draft_check_machine(struct experiment_reading *r);
/* `where` of a column with `over`: experiment_where.c. Conditions on the swept parameters alone say which
 * combinations there are; the others, which need runs, are those of every column. */
struct where {
    const struct expr **own, **later;
    uint32_t own_count, later_count;
};
/* False with errors. `n` may be NULL: no conditions. */
bool where_read(struct experiment_reading *r, const struct yaml_node *n, const struct over *o,
                struct where *out);
/* Do the conditions on parameters hold for what is picked? False with an error: one compares what is not a
 * number. */
bool where_holds(struct experiment_reading *r, const struct yaml_node *n, const struct where *w,
                 const struct over *o, bool *holds);
/* "0.5", "700000", "16K" as a number of an axis; NAN when it is not a number. */
double over_number(const char *text);

/* chosen(COLUMN, PARAM) as the value of a setting: experiment_chosen.c. Is it one? */
bool chosen_is(const char *value);
/* Reads it, and the value that it has when the oracle takes its first choice. False with an error. */
bool chosen_read(struct experiment_reading *r, const struct setting *s, struct lab_chosen *out,
                 const char **first_value);

/* model(NAME) as the value of a setting: experiment_models.c. Is it one? */
bool model_is(const char *value);
/* Reads it. False with an error. */
bool model_read(struct experiment_reading *r, const struct setting *s, struct lab_trained *out);
/* Does the setting name a file? False with an error. */
bool model_check(struct experiment_reading *r, const struct lab_column *c, const struct setting *s);
/* A weight by the name that weight() takes. False: there is no such model or weight. */
bool model_weight(const struct experiment *e, const char *name, double *out);

/* What a column sets, before it is one. NULL with errors. */
struct column_draft *draft_read(struct experiment_reading *r, const struct yaml_node *at,
                                const struct yaml_node *n);
struct column_draft *draft_copy(struct experiment_reading *r, const struct column_draft *from);
/* A parameter of the machine, or else of a mechanism. */
void draft_put(struct column_draft *d, const struct yaml_node *key, const struct yaml_node *value);
/* Makes a column of it and adds both to the reading. False with errors at the settings that the machine
 * refuses. */
bool draft_finish(struct experiment_reading *r, struct column_draft *d, struct lab_column *c);
void draft_free(struct column_draft *d);

/* The columns that a name stands for, or NULL with an error at `at`. */
const struct column_group *experiment_columns(struct experiment_reading *r, const struct yaml_node *at);
/* One column; UINT32_MAX with an error at `at` when there is no such column, or when the name stands for
 * several. */
uint32_t experiment_column(struct experiment_reading *r, const struct yaml_node *at);
/* A measure; UINT32_MAX with an error at `at`. */
uint32_t experiment_measure(struct experiment_reading *r, const struct yaml_node *at);
/* Without an error. */
uint32_t experiment_column_find(const struct experiment_reading *r, const char *name);

/* Reads and binds an expression; NULL with errors. In `oracle` it may use neither measures nor other
 * oracles. */
const struct expr *experiment_expr(struct experiment_reading *r, const struct yaml_node *n, bool oracle);
/* The same of a condition of `where`: names of `over` are parameters. */
const struct expr *experiment_condition(struct experiment_reading *r, const struct yaml_node *n,
                                        const struct yaml_node *over);
/* The statistics that every run has: of the machine, of the built-in mechanisms, and the run's own. */
void experiment_stats(struct map *stats);
/* `rows` may be NULL. */
void experiment_add_stats(struct map *stats, const struct stat_row *rows);

/* Every key of the map must be one of `known`, and none may be there twice. */
void experiment_only(struct experiment_reading *r, const struct yaml_node *map, const char *const *known,
                     size_t count);
/* An error at `at` that names the nearest of `names`, or says `otherwise`. */
void experiment_unknown(struct experiment_reading *r, const struct yaml_node *at, const char *what,
                        const char *const *names, size_t count, const char *otherwise);
/* Reports what the readers of other files say, at a position of this file. */
void experiment_forward(struct experiment_reading *r, const struct yaml_node *at,
                        const struct diag_list *from);
/* The position of a word in a list of words; `absent` where the key is missing or wrong (an error then). */
uint32_t experiment_choice(struct experiment_reading *r, const struct yaml_node *map, const char *key,
                           const char *const *names, size_t count, uint32_t absent);
/* The number of a node; false with an error. */
bool experiment_number(struct experiment_reading *r, const struct yaml_node *n, double *out);
/* The node must be a list, or a single text that is then a list of one. False with an error: one of its
 * members is not a text. */
bool experiment_texts(struct experiment_reading *r, const struct yaml_node *n, const struct yaml_node **items,
                      uint32_t *count);

#endif
