/* plan_count.c: how many runs experiments need, computed from their texts: for lists, where sealing every
 * job would take long. */
#include "base/map.h"
#include "lab/plan.h"

static void add_texts(struct strbuf *out, const char *const *texts)
{
    for (; *texts; texts++) strbuf_printf(out, " %s", *texts);
    strbuf_putc(out, '\n');
}

static void column_text(const struct lab_column *c, struct strbuf *out)
{
    strbuf_printf(out, "%s\n", c->machine);
    add_texts(out, c->sets);
    add_texts(out, c->mechs);
    add_texts(out, c->mech_sets);
    if (c->table) strbuf_printf(out, "%s of %s\n", c->table->key, c->name);
}

static void add_run(struct map *runs, const struct experiment *e, uint32_t workload, uint32_t column)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%s %s %llu\n", e->workloads[workload]->name, e->sizes[workload],
                  (unsigned long long)e->seed);
    for (const struct run_option *row = run_option_rows; row->name; row++) {
        if (row->effect == RUN_CHANGES) run_option_format(row, &e->run, &text);
        strbuf_putc(&text, '\n');
    }
    column_text(&e->columns[column], &text);
    map_put(runs, strbuf_text(&text), runs);
    strbuf_free(&text);
}

static void add_runs(struct map *runs, const struct experiment *e)
{
    for (uint32_t c = 0; c < e->column_count; c++)
        for (uint32_t w = 0; w < e->workload_count && !column_is_choice(&e->columns[c]); w++)
            add_run(runs, e, w, c);
}

static uint32_t count_and_free(struct map *runs)
{
    const uint32_t n = runs->entries.len;
    map_free(runs);
    return n;
}

uint32_t plan_count(const struct experiment *const *experiments, uint32_t count)
{
    struct map runs = {0};
    for (uint32_t i = 0; i < count; i++) add_runs(&runs, experiments[i]);
    return count_and_free(&runs);
}

uint32_t plan_count_later(const struct plan *plans, uint32_t count)
{
    struct map runs = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct experiment *e = plans[i].experiment;
        for (uint32_t cell = 0; cell < e->workload_count * e->column_count; cell++)
            if (plans[i].cell[cell] == PLAN_LATER)
                add_run(&runs, e, cell / e->column_count, cell % e->column_count);
    }
    return count_and_free(&runs);
}
