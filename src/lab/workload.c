/* workload.c: the descriptions of workloads, read from YAML. */
#include "lab/workload.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#define SHAPE                                                                                                \
    "a workload is 'name:', 'suite:', 'summary:', 'sizes:' and, for a program of your own, 'program:'"

struct reading {
    struct workload_set *set;
    const struct yaml_tree *tree;
    struct diag_list *diags;
    const char *programs;
};

/* loads: [[share, lines per reference, miss rate, stride, share of that stride], ...] */
static void read_loads(struct reading *r, struct workload_paper *p, const struct yaml_node *list)
{
    for (uint32_t i = 0; list->kind == YAML_LIST && i < list->count && p->load_count < WORKLOAD_LOADS_MAX;
         i++) {
        const struct yaml_node *row = &list->items[i];
        if (row->kind != YAML_LIST || row->count != 5) {
            yaml_error(r->tree, row, r->diags, NULL, "a load has five numbers");
            continue;
        }
        double v[5];
        for (int k = 0; k < 5; k++) v[k] = strtod(row->items[k].text, NULL);
        p->loads[p->load_count++] = (struct workload_load){v[0], v[1], v[2], v[3], v[4]};
    }
}

/* `size: fill`: at which the paper's studies run it. */
static const char *read_paper_size(struct reading *r, const struct workload *w, const struct yaml_node *n)
{
    const char *size = yaml_text(r->tree, n, "size", NULL, r->diags);
    if (!size || workload_size(w, size)) return size;
    struct strbuf hint = {0};
    workload_list_sizes(w, &hint);
    yaml_error(r->tree, yaml_get(n, "size"), r->diags, strbuf_text(&hint), "workload '%s' has no size '%s'",
               w->name, size);
    strbuf_free(&hint);
    return NULL;
}

/* `training: true`: the paper trains a model on it. */
static bool read_training(struct reading *r, const struct yaml_node *n)
{
    const char *text = yaml_text(r->tree, n, "training", "false", r->diags);
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        yaml_error(r->tree, yaml_get(n, "training"), r->diags, NULL, "'training' is true or false");
    return !strcmp(text, "true");
}

static void read_paper(struct reading *r, struct workload *w, const char *paper, const struct yaml_node *n)
{
    if (n->kind != YAML_MAP) {
        yaml_error(r->tree, n, r->diags, "for example apres: {as: BFS, class: S}",
                   "a paper's figures are a mapping");
        return;
    }
    if (w->paper_count == WORKLOAD_PAPERS_MAX) {
        yaml_error(r->tree, n, r->diags, NULL, "more than %d papers", WORKLOAD_PAPERS_MAX);
        return;
    }
    struct workload_paper *p = &w->papers[w->paper_count++];
    p->paper = paper;
    p->as = yaml_text(r->tree, n, "as", w->name, r->diags);
    p->class_of = yaml_text(r->tree, n, "class", "", r->diags);
    p->size = read_paper_size(r, w, n);
    p->is_training = read_training(r, n);
    const struct yaml_node *loads = yaml_get(n, "loads");
    if (loads) read_loads(r, p, loads);
    for (uint32_t i = 0; i < n->count && p->figure_count < WORKLOAD_FIGURES_MAX; i++) {
        char *end = NULL;
        double v = n->items[i].kind == YAML_TEXT ? strtod(n->items[i].text, &end) : 0;
        if (end && end != n->items[i].text && !*end)
            p->figures[p->figure_count++] = (struct workload_figure){n->keys[i].text, v};
    }
}

/* `args: [--n, 1024]` or `args: --n 1024`; without either the program is given --size NAME. */
static void read_args(struct reading *r, struct workload_size *s, const struct yaml_node *n)
{
    uint32_t count = 0;
    const struct yaml_node *args = n->kind == YAML_MAP ? yaml_get(n, "args") : NULL;
    if (!args) {
        s->args[count++] = "--size";
        s->args[count++] = s->name;
    } else if (args->kind == YAML_TEXT) {
        char *text = arena_strdup(&r->set->arena, args->text), *save = NULL;
        for (char *word = strtok_r(text, " ", &save); word && count < WORKLOAD_ARGS_MAX;
             word = strtok_r(NULL, " ", &save))
            s->args[count++] = word;
    } else {
        for (uint32_t i = 0; i < args->count && count < WORKLOAD_ARGS_MAX; i++) {
            if (args->items[i].kind != YAML_TEXT)
                yaml_error(r->tree, &args->items[i], r->diags, NULL, "an argument is a text");
            s->args[count++] = args->items[i].text;
        }
        if (args->count > WORKLOAD_ARGS_MAX)
            yaml_error(r->tree, args, r->diags, NULL, "more than %d arguments", WORKLOAD_ARGS_MAX);
    }
}

static void read_sizes(struct reading *r, struct workload *w, const struct yaml_node *n)
{
    static const char *const keys[] = {"input", "args", "warp_instructions"};
    if (!n || n->kind != YAML_MAP || !n->count) {
        yaml_error(r->tree, n ? n : r->tree->root, r->diags, "for example sizes: {tiny: {args: --n 1024}}",
                   "'sizes' must name at least one size");
        return;
    }
    for (uint32_t i = 0; i < n->count; i++) {
        if (w->size_count == WORKLOAD_SIZES_MAX) {
            yaml_error(r->tree, &n->keys[i], r->diags, NULL, "more than %d sizes", WORKLOAD_SIZES_MAX);
            return;
        }
        const struct yaml_node *size = &n->items[i];
        if (size->kind == YAML_LIST) {
            yaml_error(r->tree, size, r->diags, "for example tiny: {input: 1024 keys}",
                       "a size is a mapping");
            continue;
        }
        struct workload_size *s = &w->sizes[w->size_count++];
        s->name = n->keys[i].text;
        s->input = size->kind == YAML_MAP ? yaml_text(r->tree, size, "input", "", r->diags) : size->text;
        if (size->kind == YAML_MAP) {
            yaml_only(r->tree, size, keys, ARRAY_LEN(keys), r->diags);
            s->warp_instructions = yaml_count(r->tree, size, "warp_instructions", 0, r->diags);
        }
        read_args(r, s, size);
    }
}

static void read_kernels(struct reading *r, struct workload *w, const struct yaml_node *n)
{
    if (!n) return;
    if (n->kind != YAML_LIST) {
        yaml_error(r->tree, n, r->diags, "for example kernels: [bfs_level]", "'kernels' takes a list");
        return;
    }
    w->kernels = ARENA_ARRAY(&r->set->arena, const char *, n->count);
    w->kernel_count = n->count;
    for (uint32_t i = 0; i < n->count; i++) w->kernels[i] = n->items[i].text;
}

static const char *program_path(struct reading *r, const struct workload *w, const char *named)
{
    if (!named) return arena_printf(&r->set->arena, "%s/%s", r->programs, w->name);
    if (*named == '/') return named;
    return arena_printf(&r->set->arena, "%s/%s", w->folder, named);
}

static const char *folder_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_strndup(a, path, (size_t)(slash - path)) : ".";
}

static void read_workload(struct reading *r, struct workload *w)
{
    static const char *const keys[] = {"name",    "suite",   "summary", "follows",
                                       "program", "kernels", "sizes",   "papers"};
    const struct yaml_node *root = r->tree->root, *papers;
    yaml_only(r->tree, root, keys, ARRAY_LEN(keys), r->diags);
    w->folder = folder_of(&r->set->arena, r->tree->path);
    w->name = yaml_text(r->tree, root, "name", NULL, r->diags);
    if (!w->name || !*w->name) {
        yaml_error(r->tree, root, r->diags, SHAPE, "a workload must have a name");
        w->name = "";
    }
    w->suite = yaml_text(r->tree, root, "suite", "own", r->diags);
    w->summary = yaml_text(r->tree, root, "summary", "", r->diags);
    w->follows = yaml_text(r->tree, root, "follows", "", r->diags);
    w->program = program_path(r, w, yaml_text(r->tree, root, "program", NULL, r->diags));
    read_kernels(r, w, yaml_get(root, "kernels"));
    read_sizes(r, w, yaml_get(root, "sizes"));
    if (!(papers = yaml_get(root, "papers"))) return;
    if (papers->kind != YAML_MAP) yaml_error(r->tree, papers, r->diags, NULL, "'papers' is a mapping");
    for (uint32_t i = 0; papers->kind == YAML_MAP && i < papers->count; i++)
        read_paper(r, w, papers->keys[i].text, &papers->items[i]);
}

const struct workload *workload_load_file(struct workload_set *set, const char *path, const char *programs,
                                          struct diag_list *diags)
{
    struct yaml_tree tree;
    uint32_t errors = diags->errors;
    bool read = yaml_tree_load(&tree, path, SHAPE, diags);
    if (!read && !tree.content)
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "cannot read %s: %s", path, strerror(errno));
    if (read) {
        struct workload w = {0};
        struct reading r = {set, &tree, diags, programs};
        read_workload(&r, &w);
        const struct workload *twin = workload_find(set, w.name);
        if (twin)
            yaml_error(&tree, yaml_get(tree.root, "name"), diags, "names must differ",
                       "'%s' is already described in %s", w.name, twin->folder);
        if (diags->errors == errors) vec_push(&set->items, w);
    }
    vec_push(&set->files, tree); /* the texts of the description stay in it */
    return diags->errors == errors ? &set->items.data[set->items.len - 1] : NULL;
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

/* Warns of a file in the folder that looks like a description, but has a name that is not read. */
static void warn_of_loose(const char *folder, const char *name, struct diag_list *diags)
{
    diag_add(diags, DIAG_WARNING, NULL, 0, 0, 0,
             "of a folder, workload.yaml and FOLDER/workload.yaml are read; name other files themselves",
             "%s/%s is not read", folder, name);
}

/* The description of the folder itself and those of the folders in it. */
static void load_folder(struct workload_set *set, const char *folder, const char *programs,
                        struct diag_list *diags)
{
    struct dirent **entries;
    /* in order, so that messages do not depend on the file system */
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        struct strbuf path = {0};
        bool self = !strcmp(entries[i]->d_name, "workload.yaml");
        strbuf_printf(&path, self ? "%s/%s" : "%s/%s/workload.yaml", folder, entries[i]->d_name);
        struct stat st;
        if (*entries[i]->d_name != '.' && !stat(strbuf_text(&path), &st) && S_ISREG(st.st_mode))
            workload_load_file(set, strbuf_text(&path), programs, diags);
        else if (*entries[i]->d_name != '.' && ends_in(entries[i]->d_name, ".yaml"))
            warn_of_loose(folder, entries[i]->d_name, diags);
        strbuf_free(&path);
        free(entries[i]);
    }
    if (n < 0)
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "cannot read the folder %s: %s", folder,
                 strerror(errno));
    else
        free(entries);
}

static void load_more(struct workload_set *set, const struct workload_places *places, struct diag_list *diags)
{
    char *list = mem_strdup(places->more), *save = NULL;
    for (char *path = strtok_r(list, ":", &save); path; path = strtok_r(NULL, ":", &save)) {
        struct stat st;
        if (!stat(path, &st) && S_ISDIR(st.st_mode))
            load_folder(set, path, places->programs, diags);
        else
            workload_load_file(set, path, places->programs, diags);
    }
    free(list);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct workload *)a)->name, ((const struct workload *)b)->name);
}

bool workloads_load(struct workload_set *set, const struct workload_places *places, struct diag_list *diags)
{
    uint32_t errors = diags->errors;
    struct strbuf dir = {0};
    strbuf_printf(&dir, "%s/workloads", places->data_dir);
    load_folder(set, strbuf_text(&dir), places->programs, diags);
    strbuf_free(&dir);
    if (places->more && *places->more) load_more(set, places, diags);
    if (set->items.len) qsort(set->items.data, set->items.len, sizeof *set->items.data, by_name);
    return diags->errors == errors;
}

void workloads_free(struct workload_set *set)
{
    for (uint32_t i = 0; i < set->files.len; i++) yaml_tree_free(&set->files.data[i]);
    vec_free(&set->files);
    vec_free(&set->items);
    arena_free(&set->arena);
}

const struct workload *workload_find(const struct workload_set *set, const char *name)
{
    for (uint32_t i = 0; i < set->items.len; i++)
        if (!strcmp(set->items.data[i].name, name)) return &set->items.data[i];
    return NULL;
}

void workload_list_sizes(const struct workload *w, struct strbuf *out)
{
    strbuf_puts(out, "it has");
    for (uint32_t i = 0; i < w->size_count; i++) strbuf_printf(out, "%s %s", i ? "," : "", w->sizes[i].name);
}

const struct workload_size *workload_size(const struct workload *w, const char *name)
{
    for (uint32_t i = 0; i < w->size_count; i++)
        if (!strcmp(w->sizes[i].name, name)) return &w->sizes[i];
    return NULL;
}

const struct workload_paper *workload_paper(const struct workload *w, const char *paper)
{
    for (uint32_t i = 0; i < w->paper_count; i++)
        if (!strcmp(w->papers[i].paper, paper)) return &w->papers[i];
    return NULL;
}

/* "load2.miss_rate": a field of the second load; NAN where there is none. */
static double load_figure(const struct workload_paper *p, const char *figure)
{
    assert(p->load_count <= WORKLOAD_LOADS_MAX);
    static const struct {
        const char *name;
        size_t offset;
    } fields[] = {{"share", offsetof(struct workload_load, share)},
                  {"unique", offsetof(struct workload_load, unique)},
                  {"miss_rate", offsetof(struct workload_load, miss_rate)},
                  {"stride", offsetof(struct workload_load, stride)},
                  {"stride_share", offsetof(struct workload_load, stride_share)}};
    uint32_t rank;
    int used = 0;
    if (sscanf(figure, "load%u.%n", &rank, &used) != 1 || !used || !rank || rank > p->load_count) return NAN;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (!strcmp(fields[i].name, figure + used))
            return *(const double *)((const char *)&p->loads[rank - 1] + fields[i].offset);
    return NAN;
}

double workload_figure(const struct workload *w, const char *paper, const char *figure)
{
    assert(paper && figure);
    const struct workload_paper *p = workload_paper(w, paper);
    for (uint32_t i = 0; p && i < p->figure_count; i++)
        if (!strcmp(p->figures[i].name, figure)) return p->figures[i].value;
    return p ? load_figure(p, figure) : NAN;
}
