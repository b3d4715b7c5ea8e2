/* expr.h: arithmetic over the numbers of runs, as experiments write it:
 *
 *     100 * sm.slots_str_mem / (sm.slots - sm.slots_issued)   statistics of this column's run
 *     ipc / base.ipc - 1      "L1+L2".ipc                     of another column's; odd names in quotes
 *     param(l1.mshrs)   base.param(l1.mshrs)   paper(p_inf)   a machine's parameter; what the paper says
 *     weight(ours.alpha.x1)                                   of a model that the experiment trains
 *     cost(apres)   LB.cost(linebacker.vtt)                   bytes that a mechanism stores
 *     energy(total)   base.energy(l1)                         joules of the run, by part
 *     queue.l2_access_level[3]   sum(queue.l2_access_level)   a bin of a histogram, and all of them
 *     kernel(112).l1.hits   base.kernel('Mapper', 2).cycles   of one launch of the run
 *     min max abs sqrt log exp ceil sum,  + - * / ^ ( ),  < <= > >= == != (1 or 0)
 *     harmonic(ipc / base.ipc)   pearson(gain, hits)          over all workloads: lab/mean.h
 *     at('bfs', ipc)   near(ipc)                              of another workload; with its neighbours
 *
 * This file does not know the meaning of names: the reader of an experiment binds them, and figure_values.c
 * gives their values. */
#ifndef HEDDLE_EXPR_H
#define HEDDLE_EXPR_H

#include "base/arena.h"
#include "base/diag.h"
#include "lab/mean.h"

enum expr_leaf_kind {
    /* Not bound yet: a statistic, a measure, or either of them behind a column's name and a dot. */
    EXPR_NAME,
    /* Bound: a statistic. */
    EXPR_STAT,
    /* Bound: another measure. */
    EXPR_MEASURE,
    EXPR_PARAM,
    EXPR_PAPER,
    /* A weight of a trained model. */
    EXPR_WEIGHT,
    /* Bytes that a mechanism stores. */
    EXPR_COST,
    /* Joules of the run. */
    EXPR_ENERGY,
    /* One number of the values that its arguments have for all workloads. */
    EXPR_OVER,
    /* The value of its argument for another workload, which `name` says. */
    EXPR_AT,
    /* The mean of its argument's values for this column and those next to it in the same `over`. */
    EXPR_NEAR
};

#define EXPR_THIS_COLUMN UINT32_MAX

struct expr;

/* A launch of a run: the `launch`-th of this name, or, without a name, of the program; from 1 on. */
struct expr_kernel {
    const char *name;
    /* 0: the whole run is asked. */
    uint32_t launch;
};

/* A number that is known only when the expression is evaluated. */
struct expr_leaf {
    enum expr_leaf_kind kind;
    /* The column's name where it stands apart (in quotes, or before .param); else NULL. */
    const char *owner;
    const char *name;
    /* An argument of sum(): a histogram's name stands for all of its bins. */
    bool in_sum;
    struct expr_kernel kernel;
    /* EXPR_OVER, EXPR_AT, EXPR_NEAR: the arguments; `y` NULL: one. */
    const struct over_function *over;
    struct expr *x, *y;
    /* Where it was written; len 0: only the beginning of the text is known. */
    int line, col, len;
    /* filled in by the binder */
    /* The column that is asked, or EXPR_THIS_COLUMN. */
    uint32_t column;
    /* EXPR_MEASURE: which one. */
    uint32_t measure;
    /* EXPR_STAT: sum of this many bins; 0 = a plain number. */
    uint32_t bins;
    /* EXPR_WEIGHT: its value. */
    double weight;
};

/* Where the text stands: `line` and `col` of its first character. Not exact (a text over several lines):
 * errors point at its beginning. */
struct expr_source {
    const struct diag_source *src;
    int line, col;
    bool exact;
};

/* NULL with a diagnostic. */
struct expr *expr_parse(struct arena *a, const char *text, const struct expr_source *where,
                        struct diag_list *diags);
/* Calls `bind` for every leaf, in the order of the text. False when any call was. */
typedef bool (*expr_binder)(void *context, struct expr_leaf *leaf);
bool expr_bind(struct expr *e, expr_binder bind, void *context);
/* Is there a leaf of this kind? Also among the arguments of leaves; expr_any_outside: not among these. */
typedef bool (*expr_question)(void *context, const struct expr_leaf *leaf);
bool expr_any(const struct expr *e, expr_question is, void *context);
bool expr_any_outside(const struct expr *e, expr_question is, void *context);
/* NAN where a leaf is, or where the result is not a number (x / 0). Every leaf is asked for, whatever the
 * others are. */
typedef double (*expr_values)(void *context, const struct expr_leaf *leaf);
double expr_eval(const struct expr *e, expr_values value, void *context);

#endif
