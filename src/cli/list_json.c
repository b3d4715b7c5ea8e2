/* list_json.c: `heddle list KIND --json`: everything that is known of each, for programs. */
#include "cli/list.h"
#include "cli/workloads.h"
#include "core/stat_tables.h"
#include "lab/plan.h"
#include "mech/registry.h"
#include "stats/json.h"

#include <inttypes.h>

/* ---- pieces; each is begun by the caller's '{' or '[' ---- */

static void put_key(struct strbuf *out, const char *key)
{
    char last = out->len ? out->data[out->len - 1] : 0;
    assert(last);
    if (last != '{' && last != '[') strbuf_puts(out, ", ");
    json_string(out, key);
    strbuf_puts(out, ": ");
}

static void put_text(struct strbuf *out, const char *key, const char *text)
{
    put_key(out, key);
    json_string(out, text);
}

static void put_number(struct strbuf *out, const char *key, double value)
{
    put_key(out, key);
    json_number(out, value);
}

static void put_texts(struct strbuf *out, const char *key, const char *const *texts, uint32_t count)
{
    put_key(out, key);
    strbuf_putc(out, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i) strbuf_puts(out, ", ");
        json_string(out, texts[i]);
    }
    strbuf_putc(out, ']');
}

/* A new element of the list that is the whole text. */
static void begin_item(struct strbuf *out) { strbuf_puts(out, out->len > 1 ? ",\n  {" : "\n  {"); }

static void begin_list(struct strbuf *out) { strbuf_putc(out, '['); }
static void end_list(struct strbuf *out) { strbuf_puts(out, "\n]\n"); }

/* ---- parameters and statistics ---- */

static void put_thousandths(struct strbuf *out, uint64_t n)
{
    strbuf_printf(out, "%" PRIu64 ".%03" PRIu64, n / 1000, n % 1000);
}

static void put_param(struct strbuf *out, const struct param_row *r)
{
    static const char *const types[] = {
        [PARAM_FLAG] = "bool",  [PARAM_NUMBER] = "number",    [PARAM_NUMBER64] = "number",
        [PARAM_SIZE] = "bytes", [PARAM_STRING] = "text",      [PARAM_CHOICE] = "choice",
        [PARAM_PATH] = "file",  [PARAM_FRACTION] = "fraction"};
    assert(r->type < ARRAY_LEN(types));
    put_text(out, "name", r->name);
    put_text(out, "type", types[r->type]);
    put_text(out, "unit", r->unit);
    put_text(out, "default", r->default_text);
    if (r->type == PARAM_NUMBER || r->type == PARAM_NUMBER64 || r->type == PARAM_SIZE) {
        put_key(out, "min");
        strbuf_printf(out, "%" PRIu64, r->min);
        put_key(out, "max");
        strbuf_printf(out, "%" PRIu64, r->max);
    }
    if (r->type == PARAM_FRACTION) {
        put_key(out, "min");
        put_thousandths(out, r->min);
        put_key(out, "max");
        put_thousandths(out, r->max);
    }
    if (r->type == PARAM_CHOICE) {
        uint32_t count = 0;
        while (r->choices[count]) count++;
        put_texts(out, "choices", r->choices, count);
    }
    put_text(out, "help", r->help);
}

bool list_json_params(struct strbuf *out)
{
    begin_list(out);
    for (const struct param_group *g = machine_groups; g->rows; g++)
        for (const struct param_row *r = g->rows; r->name; r++) {
            begin_item(out);
            put_param(out, r);
            strbuf_putc(out, '}');
        }
    end_list(out);
    return true;
}

bool list_json_stats(struct strbuf *out)
{
    struct stats_table t;
    begin_list(out);
    for (uint32_t i = 0; machine_stats_at(i, &t); i++)
        for (const struct stat_row *r = t.rows; r && r->name; r++) {
            if (!r->help) continue;
            begin_item(out);
            put_text(out, "name", r->name);
            put_text(out, "group", t.group);
            put_text(out, "unit", r->unit);
            if (r->type == STAT_HISTOGRAM) put_number(out, "bins", r->length);
            put_text(out, "help", r->help);
            strbuf_putc(out, '}');
        }
    end_list(out);
    return true;
}

bool list_json_options(struct strbuf *out)
{
    begin_list(out);
    for (const struct run_option *r = run_option_rows; r->name; r++) {
        begin_item(out);
        put_text(out, "name", r->name);
        put_text(out, "flag", r->flag);
        if (r->variable) put_text(out, "variable", r->variable);
        if (r->value) put_text(out, "value", r->value);
        put_key(out, "changes_results");
        strbuf_puts(out, r->effect == RUN_SAME ? "false" : "true");
        put_text(out, "help", r->help);
        strbuf_putc(out, '}');
    }
    end_list(out);
    return true;
}

/* ---- machines and mechanisms ---- */

bool list_json_machines(struct strbuf *out)
{
    struct cli_names names = {0};
    bool ok = true;
    cli_machine_names(&names);
    begin_list(out);
    for (uint32_t i = 0; i < names.items.len; i++) {
        struct machine m;
        if (!cli_load_named_machine(names.items.data[i], &m)) {
            ok = false;
            continue;
        }
        begin_item(out);
        put_text(out, "name", m.name);
        put_text(out, "summary", m.summary);
        put_number(out, "sms", m.sm_count);
        put_number(out, "warps", m.sm_warps);
        put_number(out, "registers", m.sm_registers);
        put_number(out, "shared_bytes", (double)m.sm_shared_bytes);
        put_number(out, "l2_bytes", (double)m.l2_bytes);
        strbuf_putc(out, '}');
    }
    end_list(out);
    cli_names_free(&names);
    return ok;
}

bool list_json_mechanisms(struct strbuf *out)
{
    begin_list(out);
    for (const struct mechanism *const *b = mech_builtin; *b; b++) {
        const struct mechanism *m = *b;
        begin_item(out);
        put_text(out, "name", m->name);
        put_text(out, "kind", m->pick ? "policy" : "modifier");
        put_text(out, "summary", m->summary);
        put_text(out, "paper", m->paper);
        put_key(out, "params");
        strbuf_putc(out, '[');
        for (const struct param_row *r = m->params; r && r->name; r++) {
            strbuf_puts(out, r == m->params ? "{" : ", {");
            put_param(out, r);
            strbuf_putc(out, '}');
        }
        strbuf_puts(out, "]}");
    }
    end_list(out);
    return true;
}

/* ---- workloads ---- */

static void put_size(struct strbuf *out, const struct workload_size *s)
{
    put_key(out, s->name);
    strbuf_putc(out, '{');
    put_text(out, "input", s->input);
    put_number(out, "warp_instructions", (double)s->warp_instructions);
    strbuf_putc(out, '}');
}

static void put_paper(struct strbuf *out, const struct workload_paper *p)
{
    put_key(out, p->paper);
    strbuf_putc(out, '{');
    put_text(out, "as", p->as);
    if (*p->class_of) put_text(out, "class", p->class_of);
    for (uint32_t i = 0; i < p->figure_count; i++) put_number(out, p->figures[i].name, p->figures[i].value);
    strbuf_putc(out, '}');
}

static void put_workload(struct strbuf *out, const struct workload *w)
{
    put_text(out, "name", w->name);
    put_text(out, "suite", w->suite);
    put_text(out, "summary", w->summary);
    put_text(out, "follows", w->follows);
    put_texts(out, "kernels", w->kernels, w->kernel_count);
    put_key(out, "sizes");
    strbuf_putc(out, '{');
    for (uint32_t i = 0; i < w->size_count; i++) put_size(out, &w->sizes[i]);
    strbuf_putc(out, '}');
    put_key(out, "papers");
    strbuf_putc(out, '{');
    for (uint32_t i = 0; i < w->paper_count; i++) put_paper(out, &w->papers[i]);
    strbuf_putc(out, '}');
}

bool list_json_workloads(struct strbuf *out)
{
    struct workload_set set = {0};
    bool ok = cli_load_workloads(&set);
    begin_list(out);
    for (uint32_t i = 0; i < set.items.len; i++) {
        begin_item(out);
        put_workload(out, &set.items.data[i]);
        strbuf_putc(out, '}');
    }
    end_list(out);
    workloads_free(&set);
    return ok;
}

/* ---- experiments ---- */

static void put_experiment(struct strbuf *out, const struct experiment *e)
{
    uint32_t members = 0;
    while (e->study && e->study[members]) members++;
    put_text(out, "name", e->name);
    put_text(out, "title", e->title);
    put_text(out, "about", e->about);
    put_text(out, "paper", e->paper);
    if (e->study) {
        put_texts(out, "study", e->study, members);
        return;
    }
    put_text(out, "machine", e->machine);
    put_text(out, "size", e->size);
    put_number(out, "workloads", e->workload_count);
    put_number(out, "runs", plan_count(&e, 1));
}

bool list_json_experiments(struct strbuf *out)
{
    struct arena arena = {0};
    struct workload_set workloads = {0};
    struct diag_list diags = {0};
    const char **names = NULL;
    uint32_t count = experiment_names(&arena, &names);
    bool ok = cli_load_workloads(&workloads);
    begin_list(out);
    for (uint32_t i = 0; i < count; i++) {
        struct experiment e = {0};
        if (experiment_load(&e, names[i], &workloads, &diags)) {
            begin_item(out);
            put_experiment(out, &e);
            strbuf_putc(out, '}');
        } else {
            ok = false;
        }
        experiment_free(&e);
    }
    end_list(out);
    cli_print_diags(&diags);
    diag_free(&diags);
    workloads_free(&workloads);
    arena_free(&arena);
    return ok;
}
