/* rows.h: how a parameter and a statistic are declared: once, as a row of a table in the file that uses it.
 * The YAML reader, --set, the dump, the printers, `heddle explain` and the docs page are all read from such
 * rows, the built-in ones and those of plug-ins alike.
 *
 *     static const struct param_row rows[] = {
 *         PARAM_ROW(PARAM_U32, swl_params, warps, "swl.warps", "warps", "64", 1, 64, "warps that may issue"),
 * {0}}; */
#ifndef HEDDLE_ROWS_H
#define HEDDLE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- parameters ---- */

enum param_type {
    PARAM_BOOL,
    PARAM_U32,
    PARAM_U64,
    PARAM_BYTES /* u64; K, M, G suffixes */,
    PARAM_TEXT /* char[PARAM_TEXT_BYTES] */,
    PARAM_ENUM /* u32; choices in row.choices */
};
enum { PARAM_TEXT_BYTES = 64 };

struct param_row {
    const char *name; /* "sm.count"; NULL ends a table */
    enum param_type type;
    size_t offset;            /* in the struct that the table describes */
    const char *unit;         /* "cycles", "bytes", ""... */
    const char *default_text; /* as it would be written */
    uint64_t min, max;
    const char *const *choices; /* ENUM: names, NULL-terminated; value = position */
    const char *help;           /* one line */
};

#define PARAM_ROW(type, st, field, nm, unit, def, lo, hi, help)                                              \
    {                                                                                                        \
        nm, type, offsetof(struct st, field), unit, def, lo, hi, NULL, help                                  \
    }

/* ---- statistics: u64 fields of a component's struct, incremented in place ---- */

enum stat_type {
    STAT_U64,  /* a count: summed over instances and over kernels */
    STAT_MAX,  /* u64: the largest */
    STAT_HIST, /* u64[row.length]: a histogram, summed element by element */
    STAT_RATIO /* not stored: numerator and denominator are offsets of two counters */
};

struct stat_row {
    const char *name; /* "l1.mshr_full"; NULL ends a table */
    enum stat_type type;
    size_t offset, offset2; /* in the stats struct; RATIO: numerator, denominator */
    uint32_t length;        /* HIST */
    const char *unit;       /* "requests", "cycles", "%"... */
    const char *help;       /* one line: what it means */
    const char *ncu;        /* nearest Nsight Compute metric, or NULL */
};

#define STAT_COUNT(st, field, nm, unit, help, ncu)                                                           \
    {                                                                                                        \
        nm, STAT_U64, offsetof(struct st, field), 0, 1, unit, help, ncu                                      \
    }
#define STAT_HISTOGRAM(st, field, nm, n, unit, help)                                                         \
    {                                                                                                        \
        nm, STAT_HIST, offsetof(struct st, field), 0, n, unit, help, NULL                                    \
    }
#define STAT_RATIO_OF(st, num, den, nm, unit, help, ncu)                                                     \
    {                                                                                                        \
        nm, STAT_RATIO, offsetof(struct st, num), offsetof(struct st, den), 1, unit, help, ncu               \
    }

#endif
