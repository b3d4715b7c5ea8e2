/* param.c: tables of parameters: finding a row by its name and setting its value. */
#include "config/param.h"

const struct param_row *param_find(const struct param_row *rows, const char *name)
{
    for (; rows->name; rows++)
        if (!strcmp(rows->name, name)) return rows;
    return NULL;
}

/* Names that parameters had before, and have now. */
static const struct {
    const char *before, *now;
} param_renamed[] = {
    {"l2.replace", "l2.replacement"},
    {"l2.latency", "l2.tag_latency"},
};

/* The new name of a parameter that was renamed, or NULL. */
static const char *param_new_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(param_renamed); i++)
        if (!strcmp(param_renamed[i].before, name)) return param_renamed[i].now;
    return NULL;
}

const char *param_nearest(const struct param_row *rows, const char *name)
{
    enum { NAMES_MAX = 512 };
    const char *names[NAMES_MAX];
    size_t n = 0;
    for (; rows[n].name && n < NAMES_MAX; n++) names[n] = rows[n].name;
    return diag_nearest(name, names, n);
}

void param_set_defaults(const struct param_row *rows, void *object)
{
    for (; rows->name; rows++) {
        struct strbuf wanted = {0};
        if (!param_store(rows, object, rows->default_text, &wanted)) UNREACHABLE(rows->name);
        strbuf_free(&wanted);
    }
}

static bool param_unknown(const char *name, const char *near, const struct diag_source *src, int line,
                          int col, struct diag_list *diags)
{
    struct strbuf hint = {0};
    if (near)
        strbuf_printf(&hint, "did you mean '%s'?", near);
    else
        strbuf_puts(&hint, "`heddle explain` lists the parameters");
    diag_add(diags, DIAG_ERROR, src, line, col, (int)strlen(name), strbuf_text(&hint),
             "unknown parameter '%s'", name);
    strbuf_free(&hint);
    return false;
}

static bool param_set_row(const struct param_row *row, void *object, const char *value,
                          const struct diag_source *src, int line, int value_col, struct diag_list *diags)
{
    struct strbuf wanted = {0};
    bool ok = param_store(row, object, value, &wanted);
    if (!ok)
        diag_add(diags, DIAG_ERROR, src, line, value_col, (int)strlen(value), NULL, "%s must be %s, got '%s'",
                 row->name, strbuf_text(&wanted), value);
    strbuf_free(&wanted);
    return ok;
}

bool param_set(const struct param_row *rows, void *object, const char *name, const char *value,
               const struct diag_source *src, int line, int col, int value_col, struct diag_list *diags)
{
    const struct param_row *row = param_find(rows, name);
    if (!row) return param_unknown(name, param_nearest(rows, name), src, line, col, diags);
    return param_set_row(row, object, value, src, line, value_col, diags);
}

/* ---- groups ---- */

void params_set_defaults(const struct param_group *groups, void *object)
{
    for (; groups->rows; groups++) param_set_defaults(groups->rows, (char *)object + groups->offset);
}

const struct param_row *params_find(const struct param_group *groups, const char *name, size_t *offset)
{
    for (; groups->rows; groups++) {
        const struct param_row *row = param_find(groups->rows, name);
        if (!row) continue;
        if (offset) *offset = groups->offset;
        return row;
    }
    return NULL;
}

const char *params_nearest(const struct param_group *groups, const char *name)
{
    enum { NAMES_MAX = 1024 };
    const char *names[NAMES_MAX], *now = param_new_name(name);
    size_t n = 0;
    if (now && params_find(groups, now, NULL)) return now;
    for (; groups->rows; groups++)
        for (const struct param_row *r = groups->rows; r->name && n < NAMES_MAX; r++) names[n++] = r->name;
    return diag_nearest(name, names, n);
}

bool params_set(const struct param_group *groups, void *object, const char *name, const char *value,
                const struct diag_source *src, int line, int col, int value_col, struct diag_list *diags)
{
    size_t offset = 0;
    const struct param_row *row = params_find(groups, name, &offset);
    if (!row) return param_unknown(name, params_nearest(groups, name), src, line, col, diags);
    return param_set_row(row, (char *)object + offset, value, src, line, value_col, diags);
}
