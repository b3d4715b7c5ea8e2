/* experiment.c: reads experiments/NAME.yaml: the top of the file, and what its parts share. */
#include "lab/experiment.h"

#include "core/machine.h"
#include "core/mech/mech_set.h"
#include "lab/experiment_read.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <unistd.h>

#define SHAPE "an experiment is 'title:', 'machine:', 'workloads:', 'columns:', 'measures:' and 'figures:'"

/* ---- what the parts share ---- */

void experiment_unknown(struct experiment_reading *r, const struct yaml_node *at, const char *what,
                        const char *const *names, size_t count, const char *otherwise)
{
    const char *near = count ? diag_nearest(at->text, names, count) : NULL;
    char hint[160];
    if (near) snprintf(hint, sizeof hint, "did you mean '%.120s'?", near);
    yaml_error(&r->e->file, at, r->diags, near ? hint : otherwise, "no %s is called '%s'", what, at->text);
}

void experiment_forward(struct experiment_reading *r, const struct yaml_node *at,
                        const struct diag_list *from)
{
    for (uint32_t i = 0; i < from->items.len; i++) {
        const struct diag *d = &from->items.data[i];
        if (d->file && d->line)
            yaml_error(&r->e->file, at, r->diags, d->hint, "%s:%d: %s", d->file, d->line, d->message);
        else
            yaml_error(&r->e->file, at, r->diags, d->hint, "%s", d->message);
    }
}

void experiment_only(struct experiment_reading *r, const struct yaml_node *map, const char *const *known,
                     size_t count)
{
    for (uint32_t i = 0; i < map->count; i++) {
        const struct yaml_node *key = &map->keys[i], *item = &map->items[i];
        const struct yaml_node one = {YAML_MAP, key->line, key->col, "", 1, key, item};
        bool is_known = false;
        for (size_t k = 0; k < count && !is_known; k++) is_known = !strcmp(key->text, known[k]);
        if (!is_known && item->kind == YAML_TEXT && !*item->text && strpbrk(key->text, " )"))
            yaml_error(&r->e->file, key, r->diags, "a text with a comma needs quotes here",
                       "'%s' is taken for a key", key->text);
        else
            yaml_only(&r->e->file, &one, known, count, r->diags);
    }
}

bool experiment_number(struct experiment_reading *r, const struct yaml_node *n, double *out)
{
    char *end = NULL;
    double v = n->kind == YAML_TEXT ? strtod(n->text, &end) : 0;
    if (end && end != n->text && !*end && isfinite(v)) {
        *out = v;
        return true;
    }
    yaml_error(&r->e->file, n, r->diags, NULL, "a number is needed here");
    return false;
}

bool experiment_texts(struct experiment_reading *r, const struct yaml_node *n, const struct yaml_node **items,
                      uint32_t *count)
{
    *items = n->kind == YAML_LIST ? n->items : n;
    *count = n->kind == YAML_LIST ? n->count : 1;
    for (uint32_t i = 0; i < *count; i++) {
        if ((*items)[i].kind == YAML_TEXT && *(*items)[i].text) continue;
        yaml_error(&r->e->file, &(*items)[i], r->diags, NULL, "a name, or a list of names, is needed here");
        return false;
    }
    return true;
}

/* ---- where experiments are ---- */

static bool is_path(const char *name)
{
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 5 && !strcmp(name + n - 5, ".yaml"));
}

static void find_path(const char *name, struct strbuf *out)
{
    if (is_path(name))
        strbuf_puts(out, name);
    else
        strbuf_printf(out, "%s/experiments/%s.yaml", machine_data_dir(), name);
}

static const char *name_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    if (n > 5 && !strcmp(name + n - 5, ".yaml")) n -= 5;
    return arena_strndup(a, name, n);
}

static bool names_in(const char *folder, struct arena *a, const char ***names, uint32_t *count)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    if (n < 0) return false;
    *names = ARENA_ARRAY(a, const char *, n);
    for (int i = 0; i < n; i++) {
        size_t len = strlen(entries[i]->d_name);
        if (len > 5 && !strcmp(entries[i]->d_name + len - 5, ".yaml"))
            (*names)[(*count)++] = arena_strndup(a, entries[i]->d_name, len - 5);
        free(entries[i]);
    }
    free(entries);
    return true;
}

uint32_t experiment_names(struct arena *a, const char ***names)
{
    struct strbuf folder = {0};
    uint32_t count = 0;
    strbuf_printf(&folder, "%s/experiments", machine_data_dir());
    names_in(strbuf_text(&folder), a, names, &count);
    strbuf_free(&folder);
    return count;
}

/* ---- study: other experiments ---- */

/* A name of the data folder or a file beside this one: what experiment_load() takes. NULL with an error. */
static const char *study_member(struct experiment_reading *r, const struct yaml_node *at)
{
    struct experiment *e = r->e;
    const char *slash = strrchr(e->path, '/');
    const char *beside =
        arena_printf(&e->arena, "%.*s%s.yaml", slash ? (int)(slash - e->path) + 1 : 0, e->path, at->text);
    struct strbuf path = {0};
    find_path(at->text, &path);
    const char *found = access(strbuf_text(&path), R_OK) == 0 ? at->text : NULL;
    strbuf_free(&path);
    if (!is_path(at->text) && access(beside, R_OK) == 0 && !found) found = beside;
    if (found) return found;
    const char **names = NULL;
    uint32_t count = experiment_names(&e->arena, &names);
    experiment_unknown(r, at, "experiment", names, count, "`heddle list experiments` shows them");
    return NULL;
}

static void read_study(struct experiment_reading *r, const struct yaml_node *n)
{
    static const char *const keys[] = {"title", "about", "paper", "study", "bars"};
    const struct yaml_node *items;
    uint32_t count;
    experiment_only(r, r->e->file.root, keys, ARRAY_LEN(keys));
    if (!experiment_texts(r, n, &items, &count)) return;
    const char **study = ARENA_ARRAY(&r->e->arena, const char *, count + 1);
    for (uint32_t i = 0, k = 0; i < count; i++) {
        const char *member = study_member(r, &items[i]);
        if (member) study[k++] = member;
    }
    r->e->study = study;
    experiment_read_bars(r);
}

/* ---- the file ---- */

/* Run options that change results (core/run_options.h) are keys of the file. */
static void read_run_options(struct experiment_reading *r)
{
    struct experiment *e = r->e;
    run_options_init(&e->run);
    for (const struct run_option *row = run_option_rows; row->name; row++) {
        const struct yaml_node *n = row->effect == RUN_CHANGES ? yaml_get(e->file.root, row->name) : NULL;
        struct strbuf why = {0};
        if (n && n->kind != YAML_TEXT)
            yaml_error(&e->file, n, r->diags, NULL, "'%s' takes one value", row->name);
        else if (n && !run_option_set(row, &e->run, n->text, &e->arena, &why))
            yaml_error(&e->file, n, r->diags, NULL, "'%s' %s, got '%s'", row->name, strbuf_text(&why),
                       n->text);
        strbuf_free(&why);
    }
}

static void read_top(struct experiment_reading *r)
{
    struct experiment *e = r->e;
    const struct yaml_node *root = e->file.root;
    e->title = yaml_text(&e->file, root, "title", e->name, r->diags);
    e->about = yaml_text(&e->file, root, "about", "", r->diags);
    e->paper = yaml_text(&e->file, root, "paper", "", r->diags);
    e->size = yaml_text(&e->file, root, "size", "small", r->diags);
    e->has_size = yaml_get(root, "size") != NULL;
    e->seed = yaml_count(&e->file, root, "seed", 0, r->diags);
    if (e->seed > INT64_MAX) /* the largest number in a store */
        yaml_error(&e->file, yaml_get(root, "seed"), r->diags, NULL,
                   "seed must be a whole number from 0 to %lld", (long long)INT64_MAX);
    read_run_options(r);
    e->machine = yaml_text(&e->file, root, "machine", "", r->diags);
}

/* The facts of the data folder, and those beside the file when it is elsewhere. */
static void read_facts(struct experiment_reading *r)
{
    struct experiment *e = r->e;
    const char *slash = strrchr(e->path, '/');
    const char *shared = arena_printf(&e->arena, "%s/experiments/claims.tsv", machine_data_dir());
    const char *beside =
        arena_printf(&e->arena, "%.*sclaims.tsv", slash ? (int)(slash - e->path) + 1 : 0, e->path);
    char *real = realpath(beside, NULL), *real_shared = realpath(shared, NULL);
    if (real && (!real_shared || strcmp(real, real_shared))) claims_load(&e->claims, beside, r->diags);
    if (real_shared) claims_load(&e->claims, shared, r->diags);
    free(real);
    free(real_shared);
}

static void read_experiment(struct experiment_reading *r)
{
    static const char *const own[] = {"title",    "about",   "paper",     "machine",  "set",
                                      "size",     "seed",    "workloads", "baseline", "columns",
                                      "measures", "figures", "bars",      "study",    "models"};
    struct experiment *e = r->e;
    VEC(const char *) keys = {0};
    uint32_t errors = r->diags->errors;
    read_top(r);
    const struct yaml_node *study = yaml_get(e->file.root, "study");
    if (study) {
        read_study(r, study);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(own); i++) vec_push(&keys, own[i]);
    for (const struct run_option *row = run_option_rows; row->name; row++)
        if (row->effect == RUN_CHANGES) vec_push(&keys, row->name);
    experiment_only(r, e->file.root, keys.data, keys.len);
    vec_free(&keys);
    if (!*e->machine)
        yaml_error(&e->file, e->file.root, r->diags, SHAPE, "an experiment must name a machine");
    if (r->diags->errors != errors) return;
    read_facts(r);
    experiment_stats(&r->stats);
    experiment_read_workloads(r);
    experiment_read_models(r);
    if (r->diags->errors != errors) return;
    experiment_read_columns(r);
    if (r->diags->errors != errors) return; /* every user of a wrong column would repeat its error */
    experiment_read_measures(r);
    if (r->diags->errors == errors) experiment_read_figures(r);
    if (r->diags->errors == errors) experiment_read_bars(r);
}

static void cannot_read(struct experiment *e, const char *name, struct diag_list *diags)
{
    const char **names = NULL;
    int why = errno;
    uint32_t count = is_path(name) ? 0 : experiment_names(&e->arena, &names);
    const char *near = count ? diag_nearest(name, names, count) : NULL;
    char hint[200] = "`heddle list experiments` shows what there is; a path to a .yaml file works too";
    if (near) snprintf(hint, sizeof hint, "did you mean '%.100s'?", near);
    if (is_path(name))
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "cannot read %s: %s", name, strerror(why));
    else
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, hint, "no experiment is called '%s'", name);
}

static void begin(struct experiment *e, const char *path)
{
    *e = (struct experiment){.title = "", .about = "", .paper = "", .machine = "", .size = ""};
    e->path = arena_strdup(&e->arena, path);
    e->name = name_of(&e->arena, e->path);
}

/* e->file has been read. */
static void read_tree(struct experiment *e, const struct workload_set *workloads, struct diag_list *diags)
{
    struct experiment_reading r = {.e = e, .workloads = workloads, .diags = diags};
    read_experiment(&r);
    for (uint32_t i = 0; i < r.drafts.len; i++) draft_free(r.drafts.data[i]);
    if (!e->columns) { /* the reading stopped before they were handed over */
        e->columns = ARENA_ARRAY(&e->arena, struct lab_column, r.columns.len);
        e->column_count = r.columns.len;
        if (r.columns.len) memcpy(e->columns, r.columns.data, r.columns.len * sizeof *e->columns);
    }
    vec_free(&r.drafts);
    vec_free(&r.columns);
    vec_free(&r.groups);
    vec_free(&r.common);
    map_free(&r.stats);
}

bool experiment_load(struct experiment *e, const char *name, const struct workload_set *workloads,
                     struct diag_list *diags)
{
    struct strbuf path = {0};
    uint32_t errors = diags->errors;
    find_path(name, &path);
    begin(e, strbuf_text(&path));
    strbuf_free(&path);
    if (yaml_tree_load(&e->file, e->path, SHAPE, diags))
        read_tree(e, workloads, diags);
    else if (!e->file.content)
        cannot_read(e, name, diags);
    return diags->errors == errors;
}

bool experiment_is_study(const char *name)
{
    struct strbuf path = {0};
    struct yaml_tree file = {0};
    struct diag_list diags = {0};
    find_path(name, &path);
    const bool is_study = yaml_tree_load(&file, strbuf_text(&path), SHAPE, &diags) &&
                          file.root->kind == YAML_MAP && yaml_get(file.root, "study");
    yaml_tree_free(&file);
    diag_free(&diags);
    strbuf_free(&path);
    return is_study;
}

bool experiment_read(struct experiment *e, const char *name, const char *text,
                     const struct workload_set *workloads, struct diag_list *diags)
{
    uint32_t errors = diags->errors;
    begin(e, name);
    if (yaml_tree_read(&e->file, name, text, SHAPE, diags)) read_tree(e, workloads, diags);
    return diags->errors == errors;
}

void experiment_free(struct experiment *e)
{
    for (uint32_t i = 0; i < e->column_count; i++) mech_set_destroy(e->columns[i].attached);
    claims_free(&e->claims);
    yaml_tree_free(&e->file);
    arena_free(&e->arena);
    *e = (struct experiment){0};
}
