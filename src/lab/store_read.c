/* store_read.c: statistics and rows out of the store. */
#include "lab/store_impl.h"

#include <math.h>

double store_stat(struct store *s, const char *key, const char *name)
{
    store_clear_error(s);
    if (!s->stat_of)
        s->stat_of = store_prepare(s,
                                   "SELECT value FROM stat WHERE run = (SELECT id FROM run WHERE key = ?1)"
                                   " AND name = (SELECT id FROM name WHERE name = ?2)",
                                   "");
    if (!s->stat_of) return NAN;
    sqlite3_bind_text(s->stat_of, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_text(s->stat_of, 2, name, -1, SQLITE_STATIC);
    double value = store_step(s, s->stat_of) == SQLITE_ROW ? sqlite3_column_double(s->stat_of, 0) : NAN;
    sqlite3_reset(s->stat_of);
    return value;
}

/* What a question may do: read. ATTACH, PRAGMA and every change are refused before they begin. */
static int only_reading(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)context, (void)a, (void)b, (void)c, (void)d;
    bool reads = action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
                 action == SQLITE_RECURSIVE;
    return reads ? SQLITE_OK : SQLITE_DENY;
}

static bool prepare_question(struct store *s, const char *sql, sqlite3_stmt **q, char **error)
{
    const char *rest = NULL;
    struct strbuf text = {0};
    sqlite3_set_authorizer(s->db, only_reading, NULL);
    int rc = sqlite3_prepare_v2(s->db, sql, -1, q, &rest);
    if (rc == SQLITE_AUTH)
        strbuf_puts(&text, "only SELECT is possible: a store is changed by runs alone");
    else if (rc != SQLITE_OK)
        strbuf_puts(&text, sqlite3_errmsg(s->db));
    else if (!*q)
        strbuf_puts(&text, "there is no statement");
    else if (rest[strspn(rest, " \t\n\r;")])
        strbuf_puts(&text, "one statement at a time");
    sqlite3_set_authorizer(s->db, NULL, NULL);
    if (text.len) *error = text.data;
    return !text.len;
}

bool store_query(struct store *s, const char *sql, store_row row, void *context, char **error)
{
    sqlite3_stmt *q = NULL;
    bool ok = prepare_question(s, sql, &q, error), more = ok;
    int columns = ok ? sqlite3_column_count(q) : 0;
    const char **values = mem_alloc(2 * ((size_t)columns + 1) * sizeof *values),
               **names = values + columns + 1;
    for (int i = 0; i < columns; i++) names[i] = sqlite3_column_name(q, i);
    while (more) {
        int rc = sqlite3_step(q);
        more = rc == SQLITE_ROW;
        for (int i = 0; i < columns && more; i++) values[i] = (const char *)sqlite3_column_text(q, i);
        if (more) more = row(context, columns, values, names);
        ok = rc == SQLITE_ROW || rc == SQLITE_DONE;
    }
    if (!ok && q && !*error) *error = mem_strdup(sqlite3_errmsg(s->db));
    sqlite3_finalize(q);
    free(values);
    return ok;
}
