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

static void add_runs(struct map *runs, const struct experiment *e)
{
    for (uint32_t c = 0; c < e->column_count; c++) {
        if (column_is_choice(&e->columns[c])) continue;
        for (uint32_t w = 0; w < e->workload_count; w++) {
            struct strbuf text = {0};
            strbuf_printf(&text, "%s %s %llu\n", e->workloads[w]->name, e->sizes[w],
                          (unsigned long long)e->seed);
            for (const struct run_option *row = run_option_rows; row->name; row++) {
                if (row->effect == RUN_CHANGES) run_option_format(row, &e->run, &text);
                strbuf_putc(&text, '\n');
            }
            column_text(&e->columns[c], &text);
            map_put(runs, strbuf_text(&text), runs);
            strbuf_free(&text);
        }
    }
}

uint32_t plan_count(const struct experiment *const *experiments, uint32_t count)
{
    struct map runs = {0};
    for (uint32_t i = 0; i < count; i++) add_runs(&runs, experiments[i]);
    uint32_t n = runs.entries.len;
    map_free(&runs);
    return n;
}
