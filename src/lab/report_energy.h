/* report_energy.h: what the runs of a report cost, by the tables of their columns' machines. */
#ifndef HEDDLE_REPORT_ENERGY_H
#define HEDDLE_REPORT_ENERGY_H

#include "lab/report.h"

/* Which column each run belongs to. */
struct run_columns {
    struct run_column {
        const char *key;
        const struct lab_column *column;
        const struct machine *machine;
    } * items;
    uint32_t count;
};
void run_columns_open(struct run_columns *c, const struct report *r);
void run_columns_close(struct run_columns *c);

/* Appends `,"energy":{...}` to the object of a run; nothing where its machine names no table, or where it has
 * not ended. */
void report_put_energy(const struct run_columns *c, struct store *s, const char *key, struct strbuf *out);

#endif
