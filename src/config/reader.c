/* reader.c: parameter files.
 *
 * A file is a two-level YAML mapping: section, then parameter (`sm:` / `  count: 15` is sm.count). `base:
 * NAME` at the top starts from another file. Every value knows its line and column, so that an error can show
 * it. */
#include "config/reader.h"

#include "config/yaml_tree.h"

#include <dirent.h>

static bool config_load_at(const char *name, const struct config_target *t, struct diag_list *diags,
                           int depth);

static void config_apply(const struct yaml_tree *f, const struct config_target *t, const char *name,
                         const struct yaml_node *key, const struct yaml_node *value, struct diag_list *diags)
{
    if (value->kind != YAML_TEXT)
        yaml_error(f, value, diags, NULL, "a parameter takes one value, not a list or a mapping");
    else
        params_set(t->groups, t->object, name, value->text, &f->src, key->line, key->col, value->col, diags);
}

static void config_apply_section(const struct yaml_tree *f, const struct config_target *t,
                                 const struct yaml_node *key, const struct yaml_node *section,
                                 struct diag_list *diags)
{
    for (uint32_t i = 0; i < section->count; i++) {
        struct strbuf name = {0};
        strbuf_printf(&name, "%s.%s", key->text, section->keys[i].text);
        config_apply(f, t, strbuf_text(&name), &section->keys[i], &section->items[i], diags);
        strbuf_free(&name);
    }
}

static void config_apply_root(const struct yaml_tree *f, const struct config_target *t,
                              struct diag_list *diags, int depth)
{
    for (uint32_t i = 0; i < f->root->count; i++) {
        const struct yaml_node *k = &f->root->keys[i], *v = &f->root->items[i];
        if (!strcmp(k->text, "base") && v->kind == YAML_TEXT)
            config_load_at(v->text, t, diags, depth + 1);
        else if (v->kind == YAML_MAP)
            config_apply_section(f, t, k, v, diags);
        else
            config_apply(f, t, k->text, k, v, diags);
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
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "machine '%s': 'base' leads back to itself", name);
        return false;
    }
    struct strbuf path = {0};
    struct yaml_tree f;
    config_path(t, name, &path);
    uint32_t errors = diags->errors;
    if (yaml_tree_load(
            &f, strbuf_text(&path),
            "a machine file is 'section:' lines with indented 'key: value' lines, as in machines/fermi.yaml",
            diags))
        config_apply_root(&f, t, diags, depth);
    else if (!f.content)
        config_no_machine(t, name, strbuf_text(&path), diags);
    yaml_tree_free(&f);
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
