/* store_document.c: the JSON of --stats (docs/statistics.md) as rows: totals, kernels, loads, a few
 * statistics of the time series; and whole, compressed. */
#include "lab/document_cut.h"
#include "lab/run_stats.h"
#include "lab/store_impl.h"

#include <math.h>
#include <zstd.h>

enum {
    ZSTD_LEVEL = 9,
    /* SQLite's own limit of a value */
    DOCUMENT_BYTES_MAX = 1000000000
};

/* The statistics of the time series that become rows; the document has all. */
static const char *const series_names[] = {"sm.occupancy",
                                           "sm.share_issued",
                                           "sm.share_data_mem",
                                           "sm.share_data_alu",
                                           "sm.share_str_mem",
                                           "sm.pending_ctas",
                                           "sm.saved_ctas",
                                           "finereg.pcrf_rows",
                                           "sm.share_str_alu",
                                           "sm.share_fetch",
                                           "sm.share_barrier",
                                           "sm.share_held",
                                           "sm.share_idle",
                                           "l1.hit_rate",
                                           "l1.aml",
                                           "l1.stall_cycles",
                                           "l2.miss_rate",
                                           "l2.hit_latency",
                                           "l2.hits",
                                           "l2.accesses",
                                           "dram.utilization",
                                           "dram.efficiency",
                                           "dram.row_hit_rate",
                                           "helper.sms",
                                           "helper.busy",
                                           "l2.stall_claim",
                                           "morpheus.hit_share",
                                           "morpheus.queue_wait",
                                           "morpheus.queue_length"};

bool store_is_partial(const struct json_node *root) { return json_get_number(root, "partial", 0) != 0; }

const char *store_check_document(const struct json_node *root)
{
    enum { SCHEMA = 1 };
    if (json_get_number(root, "schema", 0) != SCHEMA) return "this is not the summary of a run (schema 1)";
    if (store_is_partial(root)) return "the run was ended before its end";
    const struct json_node *total = json_get(root, "total"), *kernels = json_get(root, "kernels");
    if (!total || !json_get(total, "stats") || !json_get(root, "hash")) return "the totals are missing";
    if (!kernels || kernels->kind != JSON_LIST) return "the kernels are missing";
    return NULL;
}

/* ---- values ---- */

static void bind_node(sqlite3_stmt *q, int at, const struct json_node *n)
{
    if (!n || n->kind == JSON_NULL)
        sqlite3_bind_null(q, at);
    else if (n->kind == JSON_TEXT)
        sqlite3_bind_text(q, at, n->text, -1, SQLITE_TRANSIENT);
    else if (n->kind == JSON_BOOL || n->is_integer)
        sqlite3_bind_int64(q, at, n->kind == JSON_BOOL ? n->number != 0 : n->integer);
    else
        sqlite3_bind_double(q, at, n->number);
}

/* Rows (run, [step,] name, value) through two statements: the name is interned, then the row refers to it. */
struct value_writer {
    struct store *store;
    /* of row: ?1 run, ?2 name, ?3 value, ?4 step */
    sqlite3_stmt *name, *row;
};

static bool writer_open(struct value_writer *w, struct store *s, int64_t run, const char *sql)
{
    *w = (struct value_writer){.store = s};
    w->name = store_prepare(s, "INSERT OR IGNORE INTO name(name) VALUES(?1)", "");
    w->row = store_prepare(s, sql, "i", run);
    return w->name && w->row;
}

static void writer_close(struct value_writer *w)
{
    sqlite3_finalize(w->name);
    sqlite3_finalize(w->row);
}

static bool write_value(struct value_writer *w, const char *name, const struct json_node *value)
{
    if (value->kind == JSON_NULL) return true; /* a ratio of nothing to nothing */
    sqlite3_bind_text(w->name, 1, name, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(w->row, 2, name, -1, SQLITE_TRANSIENT);
    bind_node(w->row, 3, value);
    bool ok = store_step(w->store, w->name) >= 0 && store_step(w->store, w->row) >= 0;
    sqlite3_reset(w->name);
    sqlite3_reset(w->row);
    return ok;
}

/* A number, or a histogram: a row a bin. */
static bool write_stat(struct value_writer *w, const char *name, const struct json_node *n)
{
    if (n->kind != JSON_LIST) return write_value(w, name, n);
    bool ok = true;
    for (uint32_t i = 0; i < n->count && ok; i++) {
        char bin[160];
        snprintf(bin, sizeof bin, "%.128s[%u]", name, i);
        ok = write_value(w, bin, &n->items[i]);
    }
    return ok;
}

/* ---- the parts ---- */

/* Stores all numbers of a scope: its own, then those of each group. */
static bool put_totals(struct store *s, int64_t run, const struct json_node *total)
{
    struct value_writer w;
    bool ok =
        writer_open(&w, s, run, "INSERT OR REPLACE INTO stat SELECT ?1, id, ?3 FROM name WHERE name = ?2");
    const struct json_node *groups = json_get(total, "stats");
    for (uint32_t i = 0; i < total->count && ok; i++)
        if (total->items[i].kind == JSON_NUMBER) ok = write_stat(&w, total->items[i].key, &total->items[i]);
    for (uint32_t g = 0; groups && g < groups->count && ok; g++) {
        const struct json_node *group = &groups->items[g];
        for (uint32_t i = 0; group->kind == JSON_MAP && i < group->count && ok; i++)
            ok = write_stat(&w, group->items[i].key, &group->items[i]);
    }
    writer_close(&w);
    return ok;
}

static bool write_number(void *context, const char *name, double value)
{
    const struct json_node n = {.kind = isnan(value) ? JSON_NULL : JSON_NUMBER, .number = value};
    return write_value(context, name, &n);
}

/* Stores the numbers that follow from kernels and loads: run_stats.h. */
static bool put_run_stats(struct store *s, int64_t run, const struct json_node *root)
{
    struct value_writer w;
    bool ok =
        writer_open(&w, s, run, "INSERT OR REPLACE INTO stat SELECT ?1, id, ?3 FROM name WHERE name = ?2") &&
        run_stats_each(root, write_number, &w);
    writer_close(&w);
    return ok;
}

static const struct json_node *find_stat(const struct json_node *scope, const char *name)
{
    const struct json_node *groups = json_get(scope, "stats"), *found = NULL;
    for (uint32_t g = 0; groups && groups->kind == JSON_MAP && g < groups->count && !found; g++)
        found = json_get(&groups->items[g], name);
    return found;
}

static bool put_samples(struct store *s, int64_t run, const struct json_node *samples)
{
    static const char *const own[] = {"start_cycle", "end_cycle", "ipc"};
    if (!samples || samples->kind != JSON_LIST) return true;
    struct value_writer w;
    bool ok = writer_open(&w, s, run,
                          "INSERT OR REPLACE INTO sample SELECT ?1, ?4, id, ?3 FROM name WHERE name = ?2");
    for (uint32_t i = 0; i < samples->count && ok; i++) {
        const struct json_node *at = &samples->items[i], *n;
        sqlite3_bind_int64(w.row, 4, i);
        for (size_t k = 0; k < ARRAY_LEN(own) && ok; k++)
            if ((n = json_get(at, own[k]))) ok = write_value(&w, own[k], n);
        for (size_t k = 0; k < ARRAY_LEN(series_names) && ok; k++)
            if ((n = find_stat(at, series_names[k]))) ok = write_value(&w, series_names[k], n);
    }
    writer_close(&w);
    return ok;
}

/* The members of an object as the columns of a row, from ?`at` on. A list is kept as its JSON text. */
static void bind_members(sqlite3_stmt *q, int at, const struct json_node *object, const char *const *names,
                         size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        const struct json_node *n = json_get(object, names[i]);
        if (n && n->kind == JSON_LIST)
            sqlite3_bind_text(q, at + (int)i, text + n->start, (int)(n->end - n->start), SQLITE_TRANSIENT);
        else
            bind_node(q, at + (int)i, n);
    }
}

static bool step_once(struct store *s, sqlite3_stmt *q)
{
    bool ok = store_step(s, q) >= 0;
    sqlite3_reset(q);
    return ok;
}

static bool put_kernels(struct store *s, int64_t run, const struct json_node *kernels, const char *text)
{
    static const char *const columns[] = {
        "id",           "name",        "stream",      "grid",   "block",    "registers",
        "shared_bytes", "ctas",        "ctas_per_sm", "limit",  "requests", "partial",
        "overlapped",   "start_cycle", "end_cycle",   "cycles", "ipc",      "thread_ipc"};
    static const char *const load_columns[] = {"pc",           "executions",     "lines",
                                               "share",        "lines_per_load", "miss_rate",
                                               "unique_share", "stride",         "stride_share"};
    sqlite3_stmt *kernel = store_prepare(
        s, "INSERT OR REPLACE INTO kernel VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", "i", run);
    sqlite3_stmt *load =
        store_prepare(s, "INSERT OR REPLACE INTO load VALUES(?,?,?,?,?,?,?,?,?,?,?)", "i", run);
    bool ok = kernel && load;
    for (uint32_t i = 0; i < kernels->count && ok; i++) {
        const struct json_node *k = &kernels->items[i], *loads = json_get(k, "loads");
        bind_members(kernel, 2, k, columns, ARRAY_LEN(columns), text);
        ok = step_once(s, kernel);
        for (uint32_t l = 0; loads && loads->kind == JSON_LIST && l < loads->count && ok; l++) {
            bind_node(load, 2, json_get(k, "id"));
            bind_members(load, 3, &loads->items[l], load_columns, ARRAY_LEN(load_columns), text);
            ok = step_once(s, load);
        }
    }
    sqlite3_finalize(kernel);
    sqlite3_finalize(load);
    return ok;
}

bool store_put_legend(struct store *s, const struct json_node *legend)
{
    if (!legend || legend->kind != JSON_MAP) return true;
    /* The legend is written only if it has changed: most runs have the same one as the run before. */
    sqlite3_stmt *q = store_prepare(s,
                                    "INSERT INTO legend VALUES(?1, ?2, ?3) ON CONFLICT(name) DO UPDATE SET"
                                    " unit = ?2, help = ?3 WHERE unit <> ?2 OR help <> ?3",
                                    "");
    bool ok = q != NULL;
    for (uint32_t i = 0; i < legend->count && ok; i++) {
        const struct json_node *n = &legend->items[i];
        sqlite3_bind_text(q, 1, n->key, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(q, 2, json_get_text(n, "unit", ""), -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(q, 3, json_get_text(n, "help", ""), -1, SQLITE_TRANSIENT);
        ok = step_once(s, q);
    }
    sqlite3_finalize(q);
    return ok;
}

static bool put_whole(struct store *s, int64_t run, const struct json_node *root, const char *text,
                      size_t len)
{
    struct strbuf cut = {0};
    if (len > DOCUMENT_BYTES_MAX) {
        store_fail(s, "the statistics are too large to be kept: %zu bytes", len);
        return false;
    }
    document_cut_legend(root, text, len, &cut);
    size_t room = ZSTD_compressBound(cut.len);
    void *packed = mem_alloc(room);
    size_t bytes = ZSTD_compress(packed, room, strbuf_text(&cut), cut.len, ZSTD_LEVEL);
    sqlite3_stmt *q =
        store_prepare(s, "INSERT OR REPLACE INTO document VALUES(?1, ?2, ?3)", "ii", run, (int64_t)cut.len);
    bool ok = q && !ZSTD_isError(bytes);
    if (ok) {
        sqlite3_bind_blob64(q, 3, packed, bytes, SQLITE_STATIC);
        ok = store_step(s, q) >= 0;
    }
    sqlite3_finalize(q);
    free(packed);
    strbuf_free(&cut);
    return ok;
}

bool store_put_document(struct store *s, int64_t run, const struct json_node *root, const char *text,
                        size_t len)
{
    return put_totals(s, run, json_get(root, "total")) && put_run_stats(s, run, root) &&
           put_kernels(s, run, json_get(root, "kernels"), text) &&
           put_samples(s, run, json_get(root, "samples")) && store_put_legend(s, json_get(root, "legend")) &&
           put_whole(s, run, root, text, len);
}

bool store_document(struct store *s, const char *key, struct strbuf *out)
{
    store_clear_error(s);
    sqlite3_stmt *q = store_prepare(
        s, "SELECT bytes, zstd FROM document JOIN run ON run.id = document.run WHERE key = ?1", "t", key);
    bool ok = q && store_step(s, q) == SQLITE_ROW;
    if (ok) {
        size_t bytes = (size_t)sqlite3_column_int64(q, 0);
        char *text = mem_alloc(bytes + 1);
        size_t got =
            ZSTD_decompress(text, bytes, sqlite3_column_blob(q, 1), (size_t)sqlite3_column_bytes(q, 1));
        ok = got == bytes;
        if (ok)
            strbuf_add(out, text, bytes);
        else
            store_fail(s, "%s: the document of run %s is damaged", s->path, key);
        free(text);
    }
    sqlite3_finalize(q);
    return ok;
}
