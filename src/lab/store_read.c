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

/* Statements that SQLite treats as reading, but that change what this connection or another one sees. */
static int refuse_settings(void *context, int action, const char *a, const char *b, const char *c,
                           const char *d)
{
    (void)context, (void)a, (void)b, (void)c, (void)d;
    bool refused = action == SQLITE_ATTACH || action == SQLITE_DETACH || action == SQLITE_PRAGMA ||
                   action == SQLITE_TRANSACTION || action == SQLITE_SAVEPOINT;
    return refused ? SQLITE_DENY : SQLITE_OK;
}

/* NULL: the error is in *error. */
static sqlite3_stmt *prepare_question(struct store *s, const char *sql, char **error)
{
    const char *rest = "", *wrong = NULL;
    sqlite3_stmt *q = NULL;
    sqlite3_set_authorizer(s->db, refuse_settings, NULL);
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, &rest);
    if (rc == SQLITE_AUTH || (q && !sqlite3_stmt_readonly(q)))
        wrong = "only SELECT is possible: a store is changed by runs alone";
    else if (rc != SQLITE_OK)
        wrong = sqlite3_errmsg(s->db);
    else if (!q)
        wrong = "there is no statement";
    else if (rest[strspn(rest, " \t\n\r;")])
        wrong = "one statement at a time";
    if (wrong) *error = mem_strdup(wrong);
    sqlite3_set_authorizer(s->db, NULL, NULL);
    if (!wrong) return q;
    sqlite3_finalize(q);
    return NULL;
}

bool store_query(struct store *s, const char *sql, store_row row, void *context, char **error)
{
    sqlite3_stmt *q = prepare_question(s, sql, error);
    if (!q) return false;
    int columns = sqlite3_column_count(q), rc;
    const char **values = mem_alloc(2 * ((size_t)columns + 1) * sizeof *values);
    const char **names = values + columns + 1;
    for (int i = 0; i < columns; i++) names[i] = sqlite3_column_name(q, i);
    bool more = true;
    while (more && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++) values[i] = (const char *)sqlite3_column_text(q, i);
        more = row(context, columns, values, names);
    }
    bool ok = !more || rc == SQLITE_DONE;
    if (!ok) *error = mem_strdup(sqlite3_errmsg(s->db));
    sqlite3_finalize(q);
    free(values);
    return ok;
}
