/* figure_json.c: an experiment and its figures as the JSON object that the report page reads
 * (docs/report.md). */
#include "core/machine.h"
#include "lab/column_param.h"
#include "lab/figure_impl.h"
#include "stats/json.h"

#include <math.h>

static void key_text(struct strbuf *out, const char *key, const char *text)
{
    strbuf_printf(out, "\"%s\":", key);
    json_string(out, text);
}

static void key_number(struct strbuf *out, const char *key, double v)
{
    strbuf_printf(out, "\"%s\":", key);
    json_number(out, v);
}

/* null for NULL. */
static void key_maybe(struct strbuf *out, const char *key, const char *text)
{
    if (text)
        key_text(out, key, text);
    else
        strbuf_printf(out, "\"%s\":null", key);
}

static void json_texts(struct strbuf *out, const char *const *texts, bool *first)
{
    for (; *texts; texts++, *first = false) {
        if (!*first) strbuf_putc(out, ',');
        json_string(out, *texts);
    }
}

static void json_workloads(const struct experiment *e, struct strbuf *out)
{
    strbuf_puts(out, "\"workloads\":[");
    for (uint32_t i = 0; i < e->workload_count; i++) {
        const struct workload *w = e->workloads[i];
        const struct workload_paper *p = workload_paper(w, e->paper);
        strbuf_puts(out, i ? ",\n  {" : "\n  {");
        key_text(out, "name", w->name);
        strbuf_putc(out, ',');
        key_text(out, "as", p ? p->as : w->name);
        strbuf_putc(out, ',');
        key_maybe(out, "class", p && *p->class_of ? p->class_of : NULL);
        strbuf_putc(out, ',');
        key_text(out, "suite", w->suite);
        strbuf_putc(out, ',');
        key_text(out, "size", e->sizes[i]);
        strbuf_putc(out, '}');
    }
    strbuf_puts(out, "],\n");
}

static void json_column(const struct lab_column *c, struct strbuf *out)
{
    bool first = true;
    strbuf_putc(out, '{');
    key_text(out, "name", c->name);
    strbuf_putc(out, ',');
    key_text(out, "machine", c->machine);
    strbuf_puts(out, ",\"settings\":[");
    json_texts(out, c->sets, &first);
    json_texts(out, c->mech_sets, &first);
    strbuf_puts(out, "],\"mechs\":[");
    first = true;
    json_texts(out, c->mechs, &first);
    strbuf_puts(out, "],");
    key_number(out, "x", c->x);
    strbuf_puts(out, c->hidden ? ",\"hidden\":true}" : ",\"hidden\":false}");
}

/* `heddle reproduce` finds it by its name, or by its path when it is not in the data folder. */
static void key_command(const struct experiment *e, struct strbuf *out)
{
    struct strbuf shared = {0}, command = {0};
    if (e->command) {
        key_text(out, "command", e->command);
        return;
    }
    strbuf_printf(&shared, "%s/experiments/%s.yaml", machine_data_dir(), e->name);
    strbuf_printf(&command, "heddle reproduce %s", strcmp(strbuf_text(&shared), e->path) ? e->path : e->name);
    key_text(out, "command", strbuf_text(&command));
    strbuf_free(&shared);
    strbuf_free(&command);
}

/* ---- a figure ---- */

static const char *const kind_names[] = {"bars", "stacked", "lines", "heatmap", "scatter", "table"};

static bool is_numeric(const struct experiment *e, const struct lab_figure *f)
{
    for (uint32_t i = 0; i < f->column_count; i++)
        if (isnan(e->columns[f->columns[i]].x)) return false;
    return f->column_count > 0;
}

/* For a heat map over two parameters: their names, and the position of each column. */
static void json_axes(const struct experiment *e, const struct lab_figure *f, struct strbuf *out)
{
    if (!f->axes[0]) return;
    strbuf_puts(out, ",\"axes\":[");
    json_string(out, f->axes[0]);
    strbuf_putc(out, ',');
    json_string(out, f->axes[1]);
    strbuf_puts(out, "],\"places\":[");
    for (uint32_t i = 0; i < f->column_count; i++) {
        const struct lab_column *c = &e->columns[f->columns[i]];
        strbuf_puts(out, i ? ",[" : "[");
        json_number(out, column_param(c, f->axes[0]));
        strbuf_putc(out, ',');
        json_number(out, column_param(c, f->axes[1]));
        strbuf_putc(out, ']');
    }
    strbuf_putc(out, ']');
}

static void json_head(const struct experiment *e, const struct lab_figure *f, struct strbuf *out)
{
    key_text(out, "id", f->id);
    strbuf_putc(out, ',');
    key_text(out, "title", f->title);
    strbuf_putc(out, ',');
    key_text(out, "where", f->where);
    strbuf_printf(out, ",\"draw\":\"%s\",\"percent\":%s,\"x\":{", kind_names[f->kind],
                  f->percent ? "true" : "false");
    key_text(out, "title", f->x_title);
    strbuf_printf(out, ",\"numeric\":%s},\"y\":{", is_numeric(e, f) ? "true" : "false");
    key_text(out, "title", f->y_title);
    strbuf_puts(out, "},");
    key_maybe(out, "mean", f->mean == MEAN_NONE ? NULL : mean_names[f->mean]);
    strbuf_putc(out, ',');
    key_text(out, "note", f->note);
    strbuf_puts(out, ",\n  \"columns\":[");
    for (uint32_t i = 0; i < f->column_count; i++) {
        if (i) strbuf_putc(out, ',');
        json_string(out, e->columns[f->columns[i]].name);
    }
    strbuf_puts(out, "],\"measures\":[");
    for (uint32_t i = 0; i < f->measure_count; i++) {
        const struct lab_measure *m = &e->measures[f->measures[i]];
        strbuf_puts(out, i ? ",{" : "{");
        key_text(out, "name", m->name);
        strbuf_putc(out, ',');
        key_text(out, "title", m->title);
        strbuf_putc(out, ',');
        key_text(out, "unit", m->unit);
        strbuf_putc(out, '}');
    }
    strbuf_putc(out, ']');
    json_axes(e, f, out);
}

/* A member of a cell; one without a value is left out. */
static void cell_text(struct strbuf *out, const char *key, const char *text)
{
    if (!text) return;
    strbuf_putc(out, ',');
    key_text(out, key, text);
}

static void json_cell(const struct plan *p, const struct figure_cell *c, struct strbuf *out)
{
    const struct experiment *e = p->experiment;
    bool is_mean = c->workload == FIGURE_MEAN;
    uint32_t job = is_mean ? PLAN_NO_JOB : plan_job(p, c->workload, c->chosen);
    if (job == PLAN_LATER) job = PLAN_NO_JOB;
    strbuf_putc(out, '{');
    key_text(out, "column", e->columns[c->column].name);
    cell_text(out, "measure", e->measures[c->measure].name);
    cell_text(out, "workload", is_mean ? NULL : e->workloads[c->workload]->name);
    cell_text(out, "of", c->class_mean);
    strbuf_putc(out, ',');
    key_number(out, "value", c->value);
    if (!isnan(c->paper)) {
        strbuf_putc(out, ',');
        key_number(out, "paper", c->paper);
    }
    cell_text(out, "class", c->class_of);
    cell_text(out, "paper_class", c->paper_class);
    cell_text(out, "agreement", c->agreement == AGREEMENT_NONE ? NULL : agreement_text(c->agreement));
    cell_text(out, "chosen", c->chosen == c->column ? NULL : e->columns[c->chosen].name);
    cell_text(out, "run", job == PLAN_NO_JOB ? NULL : p->jobs[job].key);
    strbuf_putc(out, '}');
}

static void json_claim(const struct experiment *e, const struct figure_claim *c, struct strbuf *out)
{
    strbuf_putc(out, '{');
    key_text(out, "id", c->claim->id);
    strbuf_putc(out, ',');
    key_text(out, "metric", c->metric);
    strbuf_putc(out, ',');
    key_text(out, "where", c->where);
    strbuf_putc(out, ',');
    const bool is_excused = c->claim->excuse != NULL;
    key_maybe(out, "column", is_excused ? NULL : e->columns[c->claim->column].name);
    strbuf_putc(out, ',');
    key_maybe(out, "measure", is_excused ? NULL : e->measures[c->claim->measure].name);
    strbuf_putc(out, ',');
    key_maybe(out, "workload", c->claim->workload);
    strbuf_putc(out, ',');
    key_number(out, "paper", c->paper);
    strbuf_putc(out, ',');
    key_number(out, "ours", c->ours);
    strbuf_putc(out, ',');
    key_number(out, "difference", c->ours - c->paper);
    strbuf_printf(out, ",\"sign\":%s,\"order\":%s,", c->sign ? "true" : "false", c->order ? "true" : "false");
    key_text(out, "verdict", verdict_text(c->verdict));
    strbuf_putc(out, ',');
    key_text(out, "note", c->note);
    strbuf_putc(out, '}');
}

static void json_figure(const struct plan *p, const struct figure_data *d, struct strbuf *out)
{
    strbuf_puts(out, "\n {");
    json_head(p->experiment, d->figure, out);
    strbuf_puts(out, ",\n  \"cells\":[");
    for (uint32_t i = 0; i < d->cell_count; i++) {
        strbuf_puts(out, i ? ",\n   " : "\n   ");
        json_cell(p, &d->cells[i], out);
    }
    strbuf_puts(out, "],\n  \"claims\":[");
    for (uint32_t i = 0; i < d->claim_count; i++) {
        strbuf_puts(out, i ? ",\n   " : "\n   ");
        json_claim(p->experiment, &d->claims[i], out);
    }
    strbuf_printf(out, "],\n  \"missing\":%u,", d->missing);
    key_command(p->experiment, out);
    strbuf_putc(out, '}');
}

static void json_top(const struct experiment *e, struct strbuf *out)
{
    const char *const pairs[][2] = {{"name", e->name},   {"title", e->title},     {"about", e->about},
                                    {"paper", e->paper}, {"machine", e->machine}, {"size", e->size}};
    strbuf_putc(out, '{');
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        key_text(out, pairs[i][0], pairs[i][1]);
        strbuf_putc(out, ',');
    }
    key_command(e, out);
    strbuf_puts(out, ",\n ");
    json_workloads(e, out);
    strbuf_puts(out, " \"columns\":[");
    for (uint32_t i = 0; i < e->column_count; i++) {
        strbuf_puts(out, i ? ",\n  " : "\n  ");
        json_column(&e->columns[i], out);
    }
    strbuf_puts(out, "],\n \"figures\":[");
}

void experiment_json(const struct figure_set *set, struct strbuf *out)
{
    json_top(set->plan->experiment, out);
    for (uint32_t i = 0; i < set->count; i++) {
        if (i) strbuf_putc(out, ',');
        json_figure(set->plan, &set->figures[i], out);
    }
    strbuf_puts(out, "]}\n");
}
