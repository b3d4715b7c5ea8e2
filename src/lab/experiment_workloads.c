/* experiment_workloads.c: which workloads an experiment runs, and at which size. */
#include "lab/experiment_read.h"

#include <math.h>

struct chosen {
    VEC(const struct workload *) items;
    VEC(const char *) sizes;
};

static const struct workload *find_workload(struct experiment_reading *r, const struct yaml_node *at)
{
    const struct workload *w = workload_find(r->workloads, at->text);
    if (w) return w;
    VEC(const char *) names = {0};
    for (uint32_t i = 0; i < r->workloads->items.len; i++) vec_push(&names, r->workloads->items.data[i].name);
    experiment_unknown(r, at, "workload", names.data, names.len, "`heddle list workloads` shows them");
    vec_free(&names);
    return NULL;
}

static void choose(struct experiment_reading *r, struct chosen *c, const struct workload *w, const char *size,
                   const struct yaml_node *at)
{
    for (uint32_t i = 0; i < c->items.len; i++)
        if (c->items.data[i] == w) {
            yaml_error(&r->e->file, at, r->diags, NULL, "workload '%s' is there twice", w->name);
            return;
        }
    if (!workload_size(w, size)) {
        struct strbuf hint = {0};
        workload_list_sizes(w, &hint);
        yaml_error(&r->e->file, at, r->diags, strbuf_text(&hint), "workload '%s' has no size '%s'", w->name,
                   size);
        strbuf_free(&hint);
        return;
    }
    vec_push(&c->items, w);
    vec_push(&c->sizes, size);
}

/* ---- [bfs, {name: cfd, size: tiny}] ---- */

static void choose_one(struct experiment_reading *r, struct chosen *c, const struct yaml_node *n)
{
    static const char *const keys[] = {"name", "size"};
    const struct yaml_node *name = n;
    const char *size = r->e->size;
    if (n->kind == YAML_MAP) {
        experiment_only(r, n, keys, ARRAY_LEN(keys));
        name = yaml_get(n, "name");
        size = yaml_text(&r->e->file, n, "size", size, r->diags);
    }
    if (!name || name->kind != YAML_TEXT) {
        yaml_error(&r->e->file, n, r->diags, "for example [bfs, {name: cfd, size: tiny}]",
                   "a workload is its name");
        return;
    }
    const struct workload *w = find_workload(r, name);
    if (w) choose(r, c, w, size, name);
}

/* ---- {paper: NAME, class: S, having: figure, except: [..], order: figure} ---- */

static bool is_excepted(const struct yaml_node *except, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(except[i].text, name)) return true;
    return false;
}

/* The larger first; those without the figure last, in the order of their names. */
static void sort_by_figure(struct chosen *c, const char *paper, const char *figure)
{
    for (uint32_t i = 1; i < c->items.len; i++)
        for (uint32_t k = i; k > 0; k--) {
            double a = workload_figure(c->items.data[k - 1], paper, figure);
            double b = workload_figure(c->items.data[k], paper, figure);
            if (isnan(b) || a >= b) break;
            const struct workload *w = c->items.data[k];
            const char *size = c->sizes.data[k];
            c->items.data[k] = c->items.data[k - 1];
            c->sizes.data[k] = c->sizes.data[k - 1];
            c->items.data[k - 1] = w;
            c->sizes.data[k - 1] = size;
        }
}

static void unknown_paper(struct experiment_reading *r, const struct yaml_node *at)
{
    VEC(const char *) names = {0};
    for (uint32_t i = 0; i < r->workloads->items.len; i++) {
        const struct workload *w = &r->workloads->items.data[i];
        for (uint32_t p = 0; p < w->paper_count; p++) vec_push(&names, w->papers[p].paper);
    }
    experiment_unknown(r, at, "paper", names.data, names.len,
                       "the workloads' descriptions have them under 'papers:'");
    vec_free(&names);
}

static bool paper_is_known(const struct experiment_reading *r, const char *paper)
{
    for (uint32_t i = 0; i < r->workloads->items.len; i++)
        if (workload_paper(&r->workloads->items.data[i], paper)) return true;
    return false;
}

static void choose_of_paper(struct experiment_reading *r, struct chosen *c, const struct yaml_node *n)
{
    static const char *const keys[] = {"paper", "class", "having", "except", "order"};
    experiment_only(r, n, keys, ARRAY_LEN(keys));
    const struct yaml_node *paper = yaml_get(n, "paper"), *except = yaml_get(n, "except"), *left_out = NULL;
    const char *class_of = yaml_text(&r->e->file, n, "class", NULL, r->diags);
    const char *having = yaml_text(&r->e->file, n, "having", NULL, r->diags);
    const char *order = yaml_text(&r->e->file, n, "order", NULL, r->diags);
    uint32_t except_count = 0;
    if (!paper || paper->kind != YAML_TEXT) {
        yaml_error(&r->e->file, n, r->diags, "for example workloads: {paper: thesis-ch3}",
                   "'workloads' needs a list, or a paper");
        return;
    }
    if (except && !experiment_texts(r, except, &left_out, &except_count)) return;
    for (uint32_t i = 0; i < except_count; i++)
        if (!find_workload(r, &left_out[i])) return;
    for (uint32_t i = 0; i < r->workloads->items.len; i++) {
        const struct workload *w = &r->workloads->items.data[i];
        const struct workload_paper *p = workload_paper(w, paper->text);
        if (p && (!class_of || !strcmp(p->class_of, class_of)) &&
            (!having || !isnan(workload_figure(w, paper->text, having))) &&
            !is_excepted(left_out, except_count, w->name))
            choose(r, c, w, p->size && !r->e->has_size ? p->size : r->e->size, paper);
    }
    if (!paper_is_known(r, paper->text))
        unknown_paper(r, paper);
    else if (!c->items.len)
        yaml_error(&r->e->file, n, r->diags, NULL, "no workload is left");
    if (order) sort_by_figure(c, paper->text, order);
}

void experiment_read_workloads(struct experiment_reading *r)
{
    struct experiment *e = r->e;
    const struct yaml_node *n = yaml_get(e->file.root, "workloads");
    struct chosen c = {0};
    if (*e->paper && !paper_is_known(r, e->paper)) unknown_paper(r, yaml_get(e->file.root, "paper"));
    if (!n) return; /* only parameters are computed with */
    if (n->kind == YAML_MAP)
        choose_of_paper(r, &c, n);
    else if (n->kind == YAML_LIST)
        for (uint32_t i = 0; i < n->count; i++) choose_one(r, &c, &n->items[i]);
    else
        choose_one(r, &c, n);
    e->workload_count = c.items.len;
    e->workloads = ARENA_ARRAY(&e->arena, const struct workload *, c.items.len);
    e->sizes = ARENA_ARRAY(&e->arena, const char *, c.items.len);
    for (uint32_t i = 0; i < c.items.len; i++) {
        e->workloads[i] = c.items.data[i];
        e->sizes[i] = c.sizes.data[i];
    }
    vec_free(&c.items);
    vec_free(&c.sizes);
}

/* ---- fewer of them, for a quick look ---- */

static uint32_t position(const struct experiment *e, const char *name)
{
    for (uint32_t i = 0; i < e->workload_count; i++)
        if (!strcmp(e->workloads[i]->name, name)) return i;
    return UINT32_MAX;
}

static void not_in_experiment(const struct experiment *e, const char *name, struct diag_list *diags)
{
    VEC(const char *) names = {0};
    for (uint32_t i = 0; i < e->workload_count; i++) vec_push(&names, e->workloads[i]->name);
    const char *near = diag_nearest(name, names.data, names.len);
    struct strbuf hint = {0};
    if (near) strbuf_printf(&hint, "did you mean '%s'?", near);
    for (uint32_t i = 0; !near && i < names.len; i++)
        strbuf_printf(&hint, "%s%s", i ? ", " : "it has ", names.data[i]);
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, hint.len ? strbuf_text(&hint) : NULL,
             "experiment '%s' has no workload '%s'", e->name, name);
    strbuf_free(&hint);
    vec_free(&names);
}

static void no_such_size(const struct workload *w, const char *size, struct diag_list *diags)
{
    struct strbuf hint = {0};
    workload_list_sizes(w, &hint);
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, strbuf_text(&hint), "workload '%s' has no size '%s'", w->name,
             size);
    strbuf_free(&hint);
}

bool experiment_narrow(struct experiment *e, const char *const *workloads, uint32_t count, const char *size,
                       struct diag_list *diags)
{
    assert(count == 0 || workloads);
    uint32_t errors = diags->errors, kept = 0;
    if (!e->workload_count) return true; /* of parameters alone: nothing is run */
    if (size) size = arena_strdup(&e->arena, size);
    for (uint32_t i = 0; i < count; i++)
        if (position(e, workloads[i]) == UINT32_MAX) not_in_experiment(e, workloads[i], diags);
    for (uint32_t i = 0; i < e->workload_count; i++) {
        bool keep = !count;
        for (uint32_t k = 0; k < count && !keep; k++) keep = !strcmp(workloads[k], e->workloads[i]->name);
        if (!keep) continue;
        if (size && !workload_size(e->workloads[i], size)) no_such_size(e->workloads[i], size, diags);
        e->workloads[kept] = e->workloads[i];
        e->sizes[kept++] = size ? size : e->sizes[i];
    }
    if (diags->errors != errors) return false;
    e->workload_count = kept;
    if (size) e->size = size;
    return true;
}
