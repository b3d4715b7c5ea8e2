/* reader.c: parameter files.
 *
 * A file is a two-level YAML mapping: section, then parameter (`sm:` / `  count: 15` is sm.count). `base: NAME` at the
 * top starts from another file. Every value has its place, so that an error can show it. */
#include "config/reader.h"

#include <dirent.h>
#include <yaml.h>

struct config_file {
    struct diag_source src;
    char *text;
    yaml_document_t doc;
};

static char *config_read_text(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    struct strbuf s = {0};
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) strbuf_add(&s, block, n);
    fclose(f);
    *len = s.len;
    return s.data ? s.data : mem_strdup("");
}

static bool config_parse_yaml(struct config_file *f, struct diag_list *diags)
{
    yaml_parser_t parser;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)f->text, f->src.len);
    bool ok = yaml_parser_load(&parser, &f->doc);
    if (!ok)
        diag_add(diags, DIAG_ERROR, &f->src, (int)parser.problem_mark.line + 1,
                 (int)parser.problem_mark.column + 1, 1,
                 "a machine file is 'section:' lines with indented 'key: value' lines", "not valid YAML: %s",
                 parser.problem ? parser.problem : "unknown problem");
    yaml_parser_delete(&parser);
    return ok;
}

static void config_error_at(struct config_file *f, const yaml_node_t *n, struct diag_list *diags,
                            const char *hint, const char *what)
{
    diag_add(diags, DIAG_ERROR, &f->src, (int)n->start_mark.line + 1, (int)n->start_mark.column + 1, 1, hint,
             "%s", what);
}

static const char *config_scalar(const yaml_node_t *n) { return (const char *)n->data.scalar.value; }

static void config_apply(struct config_file *f, const struct config_target *t, const char *name,
                         const yaml_node_t *key, const yaml_node_t *value, struct diag_list *diags)
{
    if (value->type != YAML_SCALAR_NODE) {
        config_error_at(f, value, diags, NULL, "a parameter takes one value, not a list or a mapping");
        return;
    }
    params_set(t->groups, t->object, name, config_scalar(value), &f->src, (int)key->start_mark.line + 1,
               (int)key->start_mark.column + 1, (int)value->start_mark.column + 1, diags);
}

static bool config_load_at(const char *name, const struct config_target *t, struct diag_list *diags,
                           int depth);

static void config_apply_section(struct config_file *f, const struct config_target *t, const yaml_node_t *key,
                                 const yaml_node_t *section, struct diag_list *diags)
{
    for (yaml_node_pair_t *p = section->data.mapping.pairs.start; p < section->data.mapping.pairs.top; p++) {
        yaml_node_t *k = yaml_document_get_node(&f->doc, p->key),
                    *v = yaml_document_get_node(&f->doc, p->value);
        if (k->type != YAML_SCALAR_NODE) {
            config_error_at(f, k, diags, NULL, "a parameter's name must be plain text");
            continue;
        }
        struct strbuf name = {0};
        strbuf_printf(&name, "%s.%s", config_scalar(key), config_scalar(k));
        config_apply(f, t, strbuf_text(&name), k, v, diags);
        strbuf_free(&name);
    }
}

static void config_apply_root(struct config_file *f, const struct config_target *t, struct diag_list *diags,
                              int depth)
{
    yaml_node_t *root = yaml_document_get_root_node(&f->doc);
    if (!root || root->type != YAML_MAPPING_NODE) {
        diag_add(diags, DIAG_ERROR, &f->src, 1, 1, 1, "see machines/fermi.yaml",
                 "a machine file must be a mapping");
        return;
    }
    for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top; p++) {
        yaml_node_t *k = yaml_document_get_node(&f->doc, p->key),
                    *v = yaml_document_get_node(&f->doc, p->value);
        if (k->type != YAML_SCALAR_NODE)
            config_error_at(f, k, diags, NULL, "a section's name must be plain text");
        else if (!strcmp(config_scalar(k), "base") && v->type == YAML_SCALAR_NODE)
            config_load_at(config_scalar(v), t, diags, depth + 1);
        else if (v->type == YAML_MAPPING_NODE)
            config_apply_section(f, t, k, v, diags);
        else
            config_apply(f, t, config_scalar(k), k, v, diags);
    }
}

/* What ends in .yaml is a path; anything else ("fermi", "overlays/l1x4") is a name in the machines folder. */
static void config_path(const struct config_target *t, const char *name, struct strbuf *out)
{
    size_t n = strlen(name);
    if (n > 5 && !strcmp(name + n - 5, ".yaml"))
        strbuf_puts(out, name);
    else
        strbuf_printf(out, "%s/machines/%s.yaml", t->dir, name);
}

/* The names of the machine files of a folder. */
static void config_list_folder(const char *folder, char ***names, size_t *count)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n <= 5 || strcmp(e->d_name + n - 5, ".yaml")) continue;
        *names = mem_realloc(*names, (*count + 1) * sizeof **names);
        (*names)[*count] = mem_strdup(e->d_name);
        (*names)[(*count)++][n - 5] = 0;
    }
    if (d) closedir(d);
}

static void config_no_machine(const struct config_target *t, const char *name, const char *file,
                              struct diag_list *diags)
{
    struct strbuf folder = {0}, hint = {0};
    char **names = NULL;
    size_t count = 0;
    strbuf_printf(&folder, "%s/machines", t->dir);
    config_list_folder(strbuf_text(&folder), &names, &count);
    const char *near = diag_nearest(name, (const char *const *)names, count);
    if (near) strbuf_printf(&hint, "did you mean '%s'? ", near);
    strbuf_puts(&hint, "`heddle list machines` shows what there is; a path to a .yaml file works too");
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, strbuf_text(&hint), "no machine '%s': %s cannot be read", name,
             file);
    for (size_t i = 0; i < count; i++) free(names[i]);
    free(names);
    strbuf_free(&folder);
    strbuf_free(&hint);
}

static bool config_load_at(const char *name, const struct config_target *t, struct diag_list *diags,
                           int depth)
{
    enum { BASE_DEPTH_MAX = 8 };
    if (depth > BASE_DEPTH_MAX) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "machine '%s': 'base' goes round in a circle", name);
        return false;
    }
    struct strbuf path = {0};
    config_path(t, name, &path);
    struct config_file f = {.src.file = strbuf_text(&path)};
    uint32_t errors = diags->errors;
    f.text = config_read_text(f.src.file, &f.src.len);
    f.src.text = f.text;
    if (!f.text) {
        config_no_machine(t, name, f.src.file, diags);
    } else if (config_parse_yaml(&f, diags)) {
        config_apply_root(&f, t, diags, depth);
        yaml_document_delete(&f.doc);
    }
    free(f.text);
    strbuf_free(&path);
    return diags->errors == errors;
}

void config_override(const struct config_target *t, const char *text, struct diag_list *diags)
{
    struct diag_source src = {.file = "--set", .text = text, .len = strlen(text)};
    const char *eq = strchr(text, '=');
    if (!eq) {
        diag_add(diags, DIAG_ERROR, &src, 1, 1, (int)strlen(text), "write --set sm.count=30",
                 "'%s' is not of the form key=value", text);
        return;
    }
    char *key = mem_strdup(text);
    key[eq - text] = 0;
    params_set(t->groups, t->object, key, eq + 1, &src, 1, 1, (int)(eq - text) + 2, diags);
    free(key);
}

bool config_load(const struct config_target *t, const char *name, struct diag_list *diags)
{
    return config_load_at(name, t, diags, 0);
}
