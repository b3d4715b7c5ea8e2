/* report_energy.c: see report_energy.h. */
#include "lab/report_energy.h"

#include "lab/column_energy.h"
#include "stats/json.h"

#include <math.h>

/* ---- columns by run ---- */

static int compare_columns(const void *a, const void *b)
{
    return strcmp(((const struct run_column *)a)->key, ((const struct run_column *)b)->key);
}

void run_columns_open(struct run_columns *c, const struct report *r)
{
    VEC(struct run_column) all = {0};
    for (uint32_t i = 0; i < r->experiment_count; i++) {
        const struct plan *p = r->experiments[i].plan;
        const struct experiment *e = p->experiment;
        for (uint32_t cell = 0; cell < e->workload_count * e->column_count; cell++)
            if (p->cell[cell] < p->job_count) {
                const struct lab_job *job = &p->jobs[p->cell[cell]];
                vec_push(&all,
                         ((struct run_column){job->key, &e->columns[cell % e->column_count], job->machine}));
            }
    }
    if (all.len) qsort(all.data, all.len, sizeof *all.data, compare_columns);
    *c = (struct run_columns){.items = all.data, .count = all.len};
}

void run_columns_close(struct run_columns *c)
{
    free(c->items);
    *c = (struct run_columns){0};
}

/* ---- the energy of a run ---- */

struct stored_run {
    struct store *store;
    const char *key;
};

static double stored_value(void *context, const char *name)
{
    const struct stored_run *r = context;
    return store_stat(r->store, r->key, name);
}

/* Parts as the page stacks them: shares in percent. */
static void put_sum(const struct energy_table *t, const struct energy_sum *e, struct strbuf *out)
{
    const double total = energy_total(e, true);
    strbuf_puts(out, ",\"energy\":{\"table\":");
    json_string(out, t->name);
    strbuf_puts(out, ",\"joules\":");
    json_number(out, total);
    strbuf_puts(out, ",\"watts\":");
    json_number(out, total / e->seconds);
    strbuf_puts(out, ",\"parts\":[");
    for (enum energy_part p = 0; p < ENERGY_PARTS; p++) {
        strbuf_puts(out, p ? ",{\"cause\":" : "{\"cause\":");
        json_string(out, energy_part_names[p]);
        strbuf_puts(out, ",\"share\":");
        json_number(out, 100 * e->joules[p] / total);
        strbuf_putc(out, '}');
    }
    strbuf_puts(out, "]}");
}

void report_put_energy(const struct run_columns *c, struct store *s, const char *key, struct strbuf *out)
{
    const struct run_column wanted = {.key = key};
    const struct run_column *found =
        c->count ? bsearch(&wanted, c->items, c->count, sizeof wanted, compare_columns) : NULL;
    struct stored_run stored = {s, key};
    struct energy_table t;
    struct energy_sum e;
    struct diag_list diags = {0};
    if (!found || !*column_energy_table(found->column)) return;
    const struct column_run run = {found->column, found->machine, stored_value, &stored};
    if (column_energy_load(found->column, &t, &diags) && column_energy_sum(&run, &t, &e) && e.seconds > 0)
        put_sum(&t, &e, out);
    diag_free(&diags);
}
