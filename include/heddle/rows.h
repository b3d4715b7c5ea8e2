/* rows.h: parameters, statistics and energies are declared once, as rows of a table in the file that uses
 * them. The YAML reader, --set, the dump, the printers, `heddle explain` and the docs page all read these
 * rows, those of the simulator and those of plug-ins alike.
 *
 *     static const struct param_row rows[] = {
 *         PARAM_NUMBER(swl_params, warps, "swl.warps", "warps", "64", 1, 64, "warps that may issue"),
 *         {0}};
 *     static const struct stat_row stats[] = {
 *         STAT_COUNT(swl, held, "swl.held", "issues", "issues that were held back", NULL),
 *         {0}}; */
#ifndef HEDDLE_ROWS_H
#define HEDDLE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- parameters ---- */

enum param_type {
    PARAM_FLAG,
    PARAM_NUMBER,
    PARAM_NUMBER64,
    /* uint64_t; K, M and G may follow the number */
    PARAM_SIZE,
    /* char[PARAM_STRING_BYTES] */
    PARAM_STRING,
    /* uint32_t; names in row.choices */
    PARAM_CHOICE,
    /* char[PARAM_PATH_BYTES]: path of a file that can be read; "" = none */
    PARAM_PATH,
    /* uint32_t: thousandths of a number with up to three decimals */
    PARAM_FRACTION
};
enum { PARAM_STRING_BYTES = 64, PARAM_PATH_BYTES = 256 };

struct param_row {
    /* "sm.count"; NULL ends a table */
    const char *name;
    enum param_type type;
    /* in the struct that the table describes */
    size_t offset;
    /* "cycles", "bytes", "" ... */
    const char *unit;
    /* as it would be written */
    const char *default_text;
    /* bounds of a number; PARAM_FRACTION: in thousandths */
    uint64_t min, max;
    /* PARAM_CHOICE: names, NULL-terminated; the value is the position */
    const char *const *choices;
    /* one line */
    const char *help;
};

/* A row of any type but PARAM_CHOICE. st: the struct's name without `struct`; nm: the parameter's name. */
#define PARAM_ROW(type, st, field, nm, unit, def, lo, hi, help)                                              \
    {                                                                                                        \
        nm, type, offsetof(struct st, field), unit, def, lo, hi, NULL, help                                  \
    }

/* uint32_t */
#define PARAM_NUMBER(st, field, nm, unit, def, lo, hi, help)                                                 \
    PARAM_ROW(PARAM_NUMBER, st, field, nm, unit, def, lo, hi, help)
/* uint64_t */
#define PARAM_NUMBER64(st, field, nm, unit, def, lo, hi, help)                                               \
    PARAM_ROW(PARAM_NUMBER64, st, field, nm, unit, def, lo, hi, help)
/* uint64_t, in bytes */
#define PARAM_SIZE(st, field, nm, def, lo, hi, help)                                                         \
    PARAM_ROW(PARAM_SIZE, st, field, nm, "bytes", def, lo, hi, help)
/* bool */
#define PARAM_FLAG(st, field, nm, def, help) PARAM_ROW(PARAM_FLAG, st, field, nm, "", def, 0, 1, help)
/* uint32_t; names: of its values, NULL-terminated */
#define PARAM_CHOICE(st, field, nm, def, names, help)                                                        \
    {                                                                                                        \
        nm, PARAM_CHOICE, offsetof(struct st, field), "", def, 0, 0, names, help                             \
    }
/* char[PARAM_STRING_BYTES] */
#define PARAM_STRING(st, field, nm, unit, def, help)                                                         \
    PARAM_ROW(PARAM_STRING, st, field, nm, unit, def, 0, 0, help)
/* char[PARAM_PATH_BYTES]; no file unless one is named */
#define PARAM_PATH(st, field, nm, help) PARAM_ROW(PARAM_PATH, st, field, nm, "file", "", 0, 0, help)
/* uint32_t, in thousandths, the bounds too: 0, 1000 is from 0 to 1 */
#define PARAM_FRACTION(st, field, nm, unit, def, lo, hi, help)                                               \
    PARAM_ROW(PARAM_FRACTION, st, field, nm, unit, def, lo, hi, help)

/* ---- statistics: u64 fields of a component's struct, incremented in place ---- */

enum stat_type {
    /* a count: summed over instances and over kernels */
    STAT_COUNT,
    /* the largest */
    STAT_LARGEST,
    /* u64[row.length]: a histogram, summed element by element */
    STAT_HISTOGRAM,
    /* not stored: numerator and denominator are offsets of two counters */
    STAT_RATIO
};

struct stat_row {
    /* "l1.mshr_full"; NULL ends a table */
    const char *name;
    enum stat_type type;
    /* in the stats struct; STAT_RATIO: numerator, denominator */
    size_t offset, offset2;
    /* STAT_HISTOGRAM */
    uint32_t length;
    /* "requests", "cycles", "%" ... */
    const char *unit;
    /* one line: what it means */
    const char *help;
    /* nearest Nsight Compute metric, or NULL */
    const char *ncu;
};

#define STAT_COUNT(st, field, nm, unit, help, ncu)                                                           \
    {                                                                                                        \
        nm, STAT_COUNT, offsetof(struct st, field), 0, 1, unit, help, ncu                                    \
    }
#define STAT_LARGEST(st, field, nm, unit, help)                                                              \
    {                                                                                                        \
        nm, STAT_LARGEST, offsetof(struct st, field), 0, 1, unit, help, NULL                                 \
    }
#define STAT_HISTOGRAM(st, field, nm, n, unit, help)                                                         \
    {                                                                                                        \
        nm, STAT_HISTOGRAM, offsetof(struct st, field), 0, n, unit, help, NULL                               \
    }
#define STAT_RATIO(st, num, den, nm, unit, help, ncu)                                                        \
    {                                                                                                        \
        nm, STAT_RATIO, offsetof(struct st, num), offsetof(struct st, den), 1, unit, help, ncu               \
    }

/* ---- energy: what events of a mechanism cost (docs/energy.md) ---- */

struct energy_row {
    /* "linebacker.vtt"; NULL ends a table */
    const char *name;
    /* the statistic that counts the events: the mechanism's own, or one of the machine */
    const char *stat;
    /* picojoules of one; with `like`: how many events of that row of the energy table one is */
    double amount;
    /* a row of energy tables ("register_read"), or NULL */
    const char *like;
    /* one line: what an event is, and where the value is known from */
    const char *help;
};

/* picojoules */
#define ENERGY_PJ(nm, stat, pj, help)                                                                        \
    {                                                                                                        \
        nm, stat, pj, NULL, help                                                                             \
    }
/* as much as n events of a row of the energy table, to whose part it is added */
#define ENERGY_LIKE(nm, stat, n, event, help)                                                                \
    {                                                                                                        \
        nm, stat, n, event, help                                                                             \
    }

#endif
