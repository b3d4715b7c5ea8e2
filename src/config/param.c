/* param.c: reading and writing parameters through their rows. */
#include "config/param.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

const struct param_row *param_find(const struct param_row *rows, const char *name)
{
    for (; rows->name; rows++)
        if (!strcmp(rows->name, name)) return rows;
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

/* A whole number with an optional K, M or G (powers of 1024, bytes only). */
static bool param_read_u64(const char *text, bool suffixes, uint64_t *out)
{
    if (!isdigit((unsigned char)text[0])) return false;
    char *end;
    errno = 0;
    uint64_t v = strtoull(text, &end, 0);
    if (errno) return false;
    static const char units[] = "KMG";
    const char *unit = *end && suffixes ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (unit) {
        int shift = 10 * (int)(unit - units + 1);
        if (v > UINT64_MAX >> shift) return false;
        v <<= shift;
        end++;
    }
    *out = v;
    return *end == 0;
}

static void param_store_u64(const struct param_row *row, void *object, uint64_t v)
{
    char *at = (char *)object + row->offset;
    switch (row->type) {
    case PARAM_BOOL: *(bool *)at = v != 0; break;
    case PARAM_U32:
    case PARAM_ENUM: *(uint32_t *)(void *)at = (uint32_t)v; break;
    case PARAM_U64:
    case PARAM_BYTES: *(uint64_t *)(void *)at = v; break;
    case PARAM_TEXT: UNREACHABLE("a text parameter has no number");
    }
}

/* The value of text for this row, or a message of what it should have been. */
static bool param_store(const struct param_row *row, void *object, const char *text, struct strbuf *wanted)
{
    uint64_t v;
    switch (row->type) {
    case PARAM_BOOL:
        if (!strcmp(text, "true") || !strcmp(text, "false")) {
            param_store_u64(row, object, text[0] == 't');
            return true;
        }
        strbuf_puts(wanted, "true or false");
        return false;
    case PARAM_TEXT:
        if (strlen(text) < PARAM_TEXT_BYTES) {
            strcpy((char *)object + row->offset, text);
            return true;
        }
        strbuf_printf(wanted, "at most %d characters", PARAM_TEXT_BYTES - 1);
        return false;
    case PARAM_ENUM:
        for (uint32_t i = 0; row->choices[i]; i++) {
            if (!strcmp(row->choices[i], text)) {
                param_store_u64(row, object, i);
                return true;
            }
            strbuf_printf(wanted, "%s%s", i ? ", " : "one of ", row->choices[i]);
        }
        return false;
    default:
        if (param_read_u64(text, row->type == PARAM_BYTES, &v) && v >= row->min && v <= row->max) {
            param_store_u64(row, object, v);
            return true;
        }
        strbuf_printf(wanted, "a whole number from %" PRIu64 " to %" PRIu64 "%s", row->min, row->max,
                      row->type == PARAM_BYTES ? " (K, M and G may follow)" : "");
        return false;
    }
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
    const char *names[NAMES_MAX];
    size_t n = 0;
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

static void param_format_bytes(uint64_t v, struct strbuf *out)
{
    static const char units[] = "GMK";
    for (int i = 0; i < 3; i++) {
        int shift = 30 - 10 * i;
        if (v && !(v & ((1ull << shift) - 1))) {
            strbuf_printf(out, "%" PRIu64 "%c", v >> shift, units[i]);
            return;
        }
    }
    strbuf_printf(out, "%" PRIu64, v);
}

void param_format(const struct param_row *row, const void *object, struct strbuf *out)
{
    const char *at = (const char *)object + row->offset;
    switch (row->type) {
    case PARAM_BOOL: strbuf_puts(out, *(const bool *)at ? "true" : "false"); break;
    case PARAM_U32: strbuf_printf(out, "%" PRIu32, *(const uint32_t *)(const void *)at); break;
    case PARAM_U64: strbuf_printf(out, "%" PRIu64, *(const uint64_t *)(const void *)at); break;
    case PARAM_BYTES: param_format_bytes(*(const uint64_t *)(const void *)at, out); break;
    case PARAM_TEXT: strbuf_puts(out, at); break;
    case PARAM_ENUM: strbuf_puts(out, row->choices[*(const uint32_t *)(const void *)at]); break;
    }
}
