/* store_json.c: a run as the JSON object of the report page (docs/store.md). */
#include "lab/store_impl.h"

#include "stats/json.h"

#include <math.h>

/* ---- the run itself ---- */

/* What comes before a path in a setting, a command or a list of these. */
static bool is_before_path(char c) { return strchr("\"'= \t\n", c) != NULL; }

void store_leave_out_folders(const char *text, struct strbuf *out)
{
    static const char work[] = ".work/";
    for (const char *at; (at = strstr(text, work)) != NULL;) {
        const char *path = at, *end = at + strlen(work);
        while (at > text && at[-1] != '/' && !is_before_path(at[-1])) at--;
        while (path > text && !is_before_path(path[-1])) path--;
        strbuf_add(out, text, (size_t)(path - text));
        strbuf_add(out, at, (size_t)(end - at));
        text = end;
    }
    strbuf_puts(out, text);
}

static void put_column(sqlite3_stmt *q, int i, struct strbuf *out)
{
    const char *text = (const char *)sqlite3_column_text(q, i);
    if (sqlite3_column_type(q, i) == SQLITE_TEXT)
        json_string(out, text);
    else
        strbuf_puts(out, text ? text : "null");
}

/* The columns by their names: numbers and texts as they are, those of `lists` are JSON already. */
static bool put_run(struct store *s, const char *key, enum store_detail detail, struct strbuf *out,
                    int64_t *run)
{
#define WHAT "key, workload, size, machine, settings, mechs, mech_settings, seed, state, error, command"
    sqlite3_stmt *q = store_prepare(
        s,
        detail == STORE_BRIEF
            ? "SELECT " WHAT ", hash, id FROM run WHERE key = ?1"
            : "SELECT " WHAT ", sample, status, simulator, host, seconds, peak_bytes, started, finished, log,"
              " hash, id FROM run WHERE key = ?1",
        "t", key);
#undef WHAT
    bool ok = q && store_step(s, q) == SQLITE_ROW;
    int columns = ok ? sqlite3_column_count(q) - 1 : 0;
    for (int i = 0; i < columns; i++) {
        const char *name = sqlite3_column_name(q, i);
        const char *text = (const char *)sqlite3_column_text(q, i);
        strbuf_printf(out, "%s\"%s\":", i ? "," : "{", name);
        if (sqlite3_column_type(q, i) != SQLITE_TEXT) {
            put_column(q, i, out);
            continue;
        }
        struct strbuf shown = {0};
        store_leave_out_folders(text, &shown);
        if (!strcmp(name, "settings") || !strcmp(name, "mechs") || !strcmp(name, "mech_settings"))
            strbuf_puts(out, strbuf_text(&shown));
        else
            json_string(out, strbuf_text(&shown));
        strbuf_free(&shown);
    }
    if (ok) *run = sqlite3_column_int64(q, columns);
    sqlite3_finalize(q);
    return ok;
}

/* ---- statistics ---- */

static void put_stats(struct store *s, int64_t run, struct strbuf *out)
{
    sqlite3_stmt *q = store_prepare(s,
                                    "SELECT name.name, stat.value FROM stat JOIN name ON name.id = stat.name"
                                    " WHERE stat.run = ?1 AND name.name NOT LIKE '%]' ORDER BY name.name",
                                    "i", run);
    strbuf_puts(out, ",\"stats\":{");
    for (bool first = true; q && store_step(s, q) == SQLITE_ROW; first = false) {
        if (!first) strbuf_putc(out, ',');
        put_column(q, 0, out);
        strbuf_putc(out, ':');
        put_column(q, 1, out);
    }
    strbuf_putc(out, '}');
    sqlite3_finalize(q);
}

/* A stack: the statistics whose names begin with `prefix`, each in percent of all of them. Such as
 * sm.slots_issued: cause "issued". */
static void put_stack(struct store *s, const char *key, const char *member, const char *prefix,
                      const char *const *causes, struct strbuf *out)
{
    double sum = 0;
    char name[64];
    for (uint32_t i = 0; causes[i]; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, causes[i]);
        double v = store_stat(s, key, name);
        if (!isnan(v)) sum += v;
    }
    strbuf_printf(out, ",\"%s\":[", member);
    for (uint32_t i = 0; causes[i] && sum > 0; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, causes[i]);
        double v = store_stat(s, key, name);
        strbuf_printf(out, "%s{\"cause\":\"%s\",\"share\":", i ? "," : "", causes[i]);
        json_number(out, isnan(v) ? 0 : 100 * v / sum);
        strbuf_putc(out, '}');
    }
    strbuf_putc(out, ']');
}

static void put_stacks(struct store *s, const char *key, struct strbuf *out)
{
    static const char *const slots[] = {"issued", "data_mem", "data_alu", "str_mem", "str_alu",
                                        "fetch",  "barrier",  "idle",     NULL};
    static const char *const l1[] = {"line", "mshr", "queue", "port", NULL};
    static const char *const l2[] = {"icnt", "dram", "port", "line", "mshr", NULL};
    put_stack(s, key, "stall", "sm.slots_", slots, out);
    put_stack(s, key, "l1_stall", "l1.stall_", l1, out);
    put_stack(s, key, "l2_stall", "l2.stall_", l2, out);
}

/* ---- lists of rows ---- */

/* Each row an object of the columns by their names; [x,y,z] is JSON already. */
static void put_rows(struct store *s, const char *member, sqlite3_stmt *q, struct strbuf *out)
{
    strbuf_printf(out, ",\"%s\":[", member);
    for (bool first = true; q && store_step(s, q) == SQLITE_ROW; first = false) {
        strbuf_puts(out, first ? "{" : ",{");
        for (int i = 0; i < sqlite3_column_count(q); i++) {
            const char *text = (const char *)sqlite3_column_text(q, i), *name = sqlite3_column_name(q, i);
            strbuf_printf(out, "%s\"%s\":", i ? "," : "", name);
            if (text && (!strcmp(name, "grid") || !strcmp(name, "block")))
                strbuf_puts(out, text);
            else
                put_column(q, i, out);
        }
        strbuf_putc(out, '}');
    }
    strbuf_putc(out, ']');
    sqlite3_finalize(q);
}

static void put_kernels(struct store *s, int64_t run, struct strbuf *out)
{
    put_rows(s, "kernels",
             store_prepare(s,
                           "SELECT id, name, grid, block, registers, shared_bytes, ctas, ctas_per_sm, bound,"
                           " start_cycle, cycles, ipc FROM kernel WHERE run = ?1 ORDER BY start_cycle, id",
                           "i", run),
             out);
}

/* ---- who shares with whom ---- */

/* The bins of sharing.matrix (src/mech/sharing.c), SM by SM; all of them, so that their number tells the
 * side. */
struct matrix {
    VEC(int64_t) bins;
    /* SMs up to the last one that misses or holds anything; SMs that the statistic has room for */
    uint32_t sms, side;
};

static void read_matrix(struct store *s, int64_t run, struct matrix *m)
{
    static const char name[] = "sharing.matrix[";
    sqlite3_stmt *q = store_prepare(s,
                                    "SELECT name.name, stat.value FROM stat JOIN name ON name.id = stat.name"
                                    " WHERE stat.run = ?1 AND name.name LIKE 'sharing.matrix[%'",
                                    "i", run);
    while (q && store_step(s, q) == SQLITE_ROW) {
        const uint32_t bin =
            (uint32_t)strtoul((const char *)sqlite3_column_text(q, 0) + sizeof name - 1, NULL, 10);
        while (m->bins.len <= bin) vec_push(&m->bins, 0);
        m->bins.data[bin] = sqlite3_column_int64(q, 1);
    }
    sqlite3_finalize(q);
    while (m->side * m->side < m->bins.len) m->side++;
    for (uint32_t i = 0; i < m->bins.len; i++)
        if (m->bins.data[i]) m->sms = MAX(m->sms, 1 + MAX(i / m->side, i % m->side));
}

/* [[...], ...]: a row for each SM that misses. A run that did not measure it has no such member. */
static void put_sharing(struct store *s, int64_t run, struct strbuf *out)
{
    struct matrix m = {0};
    read_matrix(s, run, &m);
    if (m.sms) strbuf_puts(out, ",\"sharing\":[");
    for (uint32_t row = 0; row < m.sms; row++) {
        strbuf_puts(out, row ? ",[" : "[");
        for (uint32_t column = 0; column < m.sms; column++) {
            const uint32_t bin = row * m.side + column;
            const int64_t value = bin < m.bins.len ? m.bins.data[bin] : 0;
            strbuf_printf(out, column ? ",%lld" : "%lld", (long long)value);
        }
        strbuf_putc(out, ']');
    }
    if (m.sms) strbuf_putc(out, ']');
    vec_free(&m.bins);
}

/* {"cycles": [...], "ipc": [...], "l1.hit_rate": [...]}: a list for each name, an element for each step. */
static void put_series(struct store *s, int64_t run, struct strbuf *out)
{
    sqlite3_stmt *q = store_prepare(
        s,
        "SELECT name.name, sample.value FROM (SELECT DISTINCT name AS id FROM sample WHERE run = ?1) n JOIN "
        "name"
        " ON name.id = n.id JOIN (SELECT DISTINCT step FROM sample WHERE run = ?1) t LEFT JOIN sample ON"
        " sample.run = ?1 AND sample.step = t.step AND sample.name = n.id WHERE name.name <> 'start_cycle'"
        " ORDER BY name.name <> 'end_cycle', name.name, t.step",
        "i", run);
    char last[160] = "";
    strbuf_puts(out, ",\"series\":{");
    while (q && store_step(s, q) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(q, 0);
        if (strcmp(name, last)) {
            if (*last) strbuf_puts(out, "],");
            json_string(out, strcmp(name, "end_cycle") ? name : "cycles");
            strbuf_puts(out, ":[");
            snprintf(last, sizeof last, "%s", name);
        } else {
            strbuf_putc(out, ',');
        }
        put_column(q, 1, out);
    }
    strbuf_puts(out, *last ? "]}" : "}");
    sqlite3_finalize(q);
}

static void put_details(struct store *s, const char *key, int64_t run, struct strbuf *out)
{
    put_stats(s, run, out);
    put_stacks(s, key, out);
    put_kernels(s, run, out);
    if (!s->error) store_put_loads(s, key, out); /* reading the document would forget the error */
    put_series(s, run, out);
}

bool store_run_json(struct store *s, const char *key, enum store_detail detail, struct strbuf *out)
{
    int64_t run;
    store_clear_error(s);
    if (!put_run(s, key, detail, out, &run)) return false;
    static const char *const known[] = {"cycles", "ipc"};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        strbuf_printf(out, ",\"%s\":", known[i]);
        json_number(out, store_stat(s, key, known[i]));
    }
    if (!s->error) store_put_tuples(s, key, out);
    put_sharing(s, run, out);
    if (detail == STORE_WHOLE) put_details(s, key, run, out);
    strbuf_putc(out, '}');
    return !s->error;
}
