/* query_filter.c: fields and conditions. Everything is checked against the store, so that a wrong name is
 * an error and not an empty table. */
#include "cli/query_filter.h"

#include <ctype.h>
#include <math.h>

#define WITH_SQL                                                                                             \
    "(SELECT group_concat(value, ' ') FROM (SELECT value FROM json_each(run.settings) UNION ALL SELECT"      \
    " value FROM json_each(run.mechs) UNION ALL SELECT value FROM json_each(run.mech_settings)))"
#define MECHS_SQL "(SELECT group_concat(value, ',') FROM json_each(run.mechs))"

#define STAT_SQL(name)                                                                                       \
    "(SELECT value FROM stat WHERE stat.run = run.id AND stat.name = (SELECT id FROM name WHERE name = "     \
    "'" name "'))"

/* Cycles and IPC are here, so that they can be shown where no run is done yet. */
static const struct {
    const char *name, *sql;
} columns[] = {
    {"key", "run.key"},
    {"workload", "run.workload"},
    {"size", "run.size"},
    {"machine", "run.machine"},
    {"with", WITH_SQL},
    {"mech", MECHS_SQL},
    {"state", "run.state"},
    {"status", "run.status"},
    {"cycles", STAT_SQL("cycles")},
    {"ipc", STAT_SQL("ipc")},
    {"error", "run.error"},
    {"log", "run.log"},
    {"seconds", "run.seconds"},
    {"peak_bytes", "run.peak_bytes"},
    {"host", "run.host"},
    {"seed", "run.seed"},
    {"sample", "run.sample"},
    {"simulator", "run.simulator"},
    {"hash", "run.hash"},
    {"command", "run.command"},
    {"who", "run.who"},
    {"started", "datetime(run.started, 'unixepoch')"},
    {"finished", "datetime(run.finished, 'unixepoch')"},
};

void query_quote(const char *text, size_t len, struct strbuf *out)
{
    strbuf_putc(out, '\'');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\'') strbuf_putc(out, '\'');
        strbuf_putc(out, text[i]);
    }
    strbuf_putc(out, '\'');
}

/* ---- names ---- */

struct name_list {
    VEC(char *) names;
};

static bool gather_name(void *context, int count, const char *const *values, const char *const *titles)
{
    (void)count, (void)titles;
    struct name_list *list = context;
    vec_push(&list->names, mem_strdup(values[0]));
    return true;
}

static void name_list_free(struct name_list *list)
{
    for (uint32_t i = 0; i < list->names.len; i++) free(list->names.data[i]);
    vec_free(&list->names);
}

/* All names that the table (stat or param) holds. */
static void gather_names(struct store *s, const char *table, struct name_list *out)
{
    struct strbuf sql = {0};
    char *error = NULL;
    strbuf_printf(&sql,
                  "SELECT name FROM name WHERE name NOT LIKE '%%]' AND id IN (SELECT DISTINCT name FROM %s)",
                  table);
    store_query(s, strbuf_text(&sql), gather_name, out, &error);
    free(error);
    strbuf_free(&sql);
}

static bool count_row(void *context, int count, const char *const *values, const char *const *titles)
{
    (void)count, (void)titles, (void)values;
    *(bool *)context = true;
    return false;
}

static bool has_name(struct store *s, const char *table, const char *name, size_t len)
{
    struct strbuf sql = {0};
    char *error = NULL;
    bool found = false;
    strbuf_puts(&sql, "SELECT 1 FROM name WHERE name = ");
    query_quote(name, len, &sql);
    strbuf_printf(&sql, " AND EXISTS (SELECT 1 FROM %s WHERE %s.name = name.id)", table, table);
    store_query(s, strbuf_text(&sql), count_row, &found, &error);
    free(error);
    strbuf_free(&sql);
    return found;
}

static void unknown_name(struct store *s, const struct query_place *at, const char *table, const char *name,
                         size_t len)
{
    bool is_param = !strcmp(table, "param");
    struct name_list list = {0};
    char *word = mem_strdup(name), hint[160] = "heddle query STORE --legend lists the statistics";
    word[len] = 0;
    gather_names(s, table, &list);
    uint32_t own = list.names.len;
    for (size_t i = 0; i < ARRAY_LEN(columns) && !is_param; i++)
        vec_push(&list.names, mem_strdup(columns[i].name));
    const char *near =
        list.names.len ? diag_nearest(word, (const char *const *)list.names.data, list.names.len) : NULL;
    if (near)
        snprintf(hint, sizeof hint, "did you mean '%s%.100s'?", is_param ? "set:" : "", near);
    else if (!own)
        snprintf(hint, sizeof hint, "no run of this store has any");
    else if (is_param)
        snprintf(hint, sizeof hint, "heddle list params shows them");
    cli_error(at->argc, at->argv, at->arg, at->offset, (int)len, hint, "no run has a %s '%s'",
              is_param ? "parameter" : "field or statistic", word);
    free(word);
    name_list_free(&list);
}

static void name_sql(const char *table, const char *name, size_t len, struct strbuf *out)
{
    strbuf_printf(
        out,
        "(SELECT value FROM %s WHERE %s.run = run.id AND %s.name = (SELECT id FROM name WHERE name = ", table,
        table, table);
    query_quote(name, len, out);
    strbuf_puts(out, "))");
}

bool query_field(struct store *s, const struct query_place *at, const char *name, size_t len,
                 struct strbuf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        if (strlen(columns[i].name) == len && !strncmp(columns[i].name, name, len)) {
            strbuf_puts(out, columns[i].sql);
            return true;
        }
    static const char prefix[] = "set:";
    size_t skip =
        len > sizeof prefix - 1 && !strncmp(name, prefix, sizeof prefix - 1) ? sizeof prefix - 1 : 0;
    const char *table = skip ? "param" : "stat";
    if (!has_name(s, table, name + skip, len - skip)) {
        struct query_place inner = *at;
        inner.offset += (int)skip;
        unknown_name(s, &inner, table, name + skip, len - skip);
        return false;
    }
    name_sql(table, name + skip, len - skip, out);
    return true;
}

/* ---- conditions ---- */

/* Long ones first. */
static const char *const operators[] = {"!=", "<=", ">=", "=", "<", ">", "~"};

static const char *find_operator(const char *term, const char **op)
{
    const char *at = term + strcspn(term, "!<>=~");
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (!strncmp(at, operators[i], strlen(operators[i]))) {
            *op = operators[i];
            return at;
        }
    return NULL;
}

/* 400, 0.5, -3, 16K. */
static bool read_number(const char *text, double *out)
{
    char *end;
    if (!isdigit((unsigned char)*text) && *text != '-' && *text != '.') return false;
    *out = strtod(text, &end);
    static const char units[] = "KMG";
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        for (const char *u = units; u <= unit; u++) *out *= 1024;
        end++;
    }
    return end != text && !*end;
}

/* A text: exactly, or by a pattern with * and ?. */
static void text_condition(const char *field, const char *op, const char *value, struct strbuf *out)
{
    size_t len = strlen(value);
    bool pattern = strpbrk(value, "*?") != NULL, is_not = *op == '!';
    if (*op == '~') {
        strbuf_printf(out, "instr(lower(%s), lower(", field);
        query_quote(value, len, out);
        strbuf_puts(out, ")) > 0");
        return;
    }
    strbuf_printf(out, "%s %s ", field, pattern ? (is_not ? "NOT GLOB" : "GLOB") : (is_not ? "<>" : "="));
    query_quote(value, len, out);
}

static void number_condition(const char *field, const char *op, const char *value, double number,
                             struct strbuf *out)
{
    strbuf_printf(out, "(%s %s %.17g", field, *op == '!' ? "<>" : op, number);
    if (*op == '=') { /* a text may look like a number: a size called 1024 */
        strbuf_printf(out, " OR %s = ", field);
        query_quote(value, strlen(value), out);
    }
    strbuf_putc(out, ')');
}

/* Any of the run's mechanisms. */
static void mech_condition(const char *op, const char *value, struct strbuf *out)
{
    strbuf_printf(out, "%sEXISTS (SELECT 1 FROM json_each(run.mechs) WHERE ", *op == '!' ? "NOT " : "");
    text_condition("value", *op == '!' ? "=" : op, value, out);
    strbuf_putc(out, ')');
}

static bool is_field(const char *name, const char *term, const char *end)
{
    return strlen(name) == (size_t)(end - term) && !strncmp(name, term, strlen(name));
}

bool query_term(struct store *s, const struct query_place *at, const char *term, struct strbuf *out)
{
    const char *op = NULL, *end = find_operator(term, &op);
    if (!end || end == term) {
        cli_error(at->argc, at->argv, at->arg, at->offset, (int)MAX(strlen(term), (size_t)1),
                  "as in workload=bfs, l1.aml>400, set:l1.mshrs=128, state=failed",
                  "a filter is FIELD and one of = != < <= > >= ~ and a value");
        return false;
    }
    const char *value = end + strlen(op);
    struct strbuf field = {0};
    double number = 0;
    bool ok = query_field(s, at, term, (size_t)(end - term), &field);
    bool is_date = is_field("started", term, end) || is_field("finished", term, end);
    bool is_number = !is_date && read_number(value, &number), orders = *op == '<' || *op == '>';
    if (ok && is_number && !isfinite(number)) {
        cli_error(at->argc, at->argv, at->arg, at->offset + (int)(value - term), (int)strlen(value), NULL,
                  "'%s' is larger than any number here", value);
        ok = false;
    } else if (ok && orders && !is_number && !is_date) {
        cli_error(at->argc, at->argv, at->arg, at->offset + (int)(value - term),
                  (int)MAX(strlen(value), (size_t)1), NULL, "%s takes a number", op);
        ok = false;
    } else if (ok && is_field("mech", term, end)) {
        mech_condition(op, value, out);
    } else if (ok && is_number && *op != '~') {
        number_condition(strbuf_text(&field), op, value, number, out);
    } else if (ok && orders) { /* 2026-11-15 07:00: as far as it is written */
        strbuf_printf(out, "%s %s ", strbuf_text(&field), op);
        query_quote(value, strlen(value), out);
    } else if (ok) {
        text_condition(strbuf_text(&field), op, value, out);
    }
    strbuf_free(&field);
    return ok;
}
