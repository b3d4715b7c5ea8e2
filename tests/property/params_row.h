/* params_row.h: a row of settings: a machine that is made of them, from its file to the end of a kernel that
 * uses every part. */
#ifndef HEDDLE_PARAMS_ROW_H
#define HEDDLE_PARAMS_ROW_H

#include <stdbool.h>
#include <stdint.h>

/* Settings of a row, including those that every row has. */
enum { ROW_MAX = 128 };

struct row {
    const char *machine;
    const char *sets[ROW_MAX];
    uint32_t count;
};

/* Begins a row: the machine, and the settings that every row has. */
void row_begin(struct row *r, const char *machine);
void row_add(struct row *r, const char *set);
/* nothing was added */
bool row_is_empty(const struct row *r);
/* Those that were added, as the arguments of `test_params try`. */
void row_show(const struct row *r);

enum verdict {
    RUNS,
    /* the machine, when it is loaded or made; with a reason */
    REFUSED,
    /* by a machine that has no room for it; with a reason */
    LAUNCH_REFUSED,
    /* it was shown why */
    WRONG
};
enum verdict row_run(const struct row *r, bool show);
/* The cycles that the row takes; 0 where it is refused. */
uint64_t row_cycles(const struct row *r);
/* The machine is refused when it is loaded: much quicker than running the row. */
bool row_is_refused_at_load(const struct row *r);

#endif
