/* store_put.c: a run's outcome into the store, whole or not at all. */
#include "lab/store_impl.h"

#include "base/hash.h"
#include "stats/json.h"

#include <errno.h>
#include <math.h>
#include <time.h>

enum { LOG_BYTES_MAX = 16 * 1024 };

/* ---- texts of a job ---- */

static void word_list(const char *const *words, struct strbuf *out)
{
    strbuf_putc(out, '[');
    for (uint32_t i = 0; words[i]; i++) {
        if (i) strbuf_putc(out, ',');
        json_string(out, words[i]);
    }
    strbuf_putc(out, ']');
}

/* machines/mine.yaml is called mine. */
static void machine_name(const char *machine, struct strbuf *out)
{
    const char *slash = strrchr(machine, '/'), *name = slash ? slash + 1 : machine;
    size_t n = strlen(name);
    strbuf_add(out, name, n > 5 && !strcmp(name + n - 5, ".yaml") ? n - 5 : n);
}

/* False with s->error when files or sources that determine the run have changed since its key was made. */
bool store_row_texts(struct store *s, const struct lab_job *job, struct store_row_texts *t)
{
    *t = (struct store_row_texts){0};
    assert(!job->simulator); /* only that version makes its runs */
    word_list(job->run.sets, &t->settings);
    word_list(job->run.mechs, &t->mechs);
    word_list(job->run.mech_sets, &t->mech_settings);
    machine_name(job->run.machine, &t->machine);
    job_command(job, &t->command);
    struct diag_list diags = {0};
    char key[HASH128_CHARS + 1] = "";
    if (job_identity(job, &t->identity, &diags))
        hash128_hex(hash128_bytes(strbuf_text(&t->identity), t->identity.len), key);
    diag_free(&diags);
    if (!strcmp(key, job->key)) return true;
    store_fail(s, "the program, the machine or a mechanism of %s changed since this run was planned",
               job->workload->name);
    t->identity.len = 0;
    return false;
}

void store_row_texts_free(struct store_row_texts *t)
{
    strbuf_free(&t->identity);
    strbuf_free(&t->settings);
    strbuf_free(&t->mechs);
    strbuf_free(&t->mech_settings);
    strbuf_free(&t->command);
    strbuf_free(&t->machine);
}

/* ---- files of an outcome ---- */

static bool read_file(const char *path, struct strbuf *out)
{
    FILE *f = path ? fopen(path, "rb") : NULL;
    if (!f) return false;
    char block[1 << 16];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) strbuf_add(out, block, n);
    bool ok = !ferror(f);
    fclose(f);
    return ok;
}

/* The end of what the run printed, from the beginning of a line on. */
static void read_tail(const char *path, struct strbuf *out)
{
    struct strbuf all = {0};
    if (read_file(path, &all) && all.len) {
        size_t from = all.len > LOG_BYTES_MAX ? all.len - LOG_BYTES_MAX : 0;
        const char *line = from ? memchr(all.data + from, '\n', all.len - from) : NULL;
        if (line) from = (size_t)(line + 1 - all.data);
        for (size_t i = from; i < all.len; i++)
            if (!all.data[i]) all.data[i] = ' '; /* a zero byte would end the text */
        strbuf_add(out, all.data + from, all.len - from);
    }
    strbuf_free(&all);
}

static bool line_has(const char *line, size_t len, const char *word)
{
    const char *found = strstr(line, word);
    return found && found < line + len;
}

/* Is the line an error message, or a fault that the simulator reports? */
static bool is_telling(const char *line, size_t len)
{
    static const char ours[] = "heddle: ";
    return line_has(line, len, "error") ||
           (!strncmp(line, ours, sizeof ours - 1) && !line_has(line, len, "warning"));
}

/* The most useful line of the log: the first that reports an error, else the last line. */
static void telling_line(const char *log, struct strbuf *out)
{
    const char *best = NULL, *last = NULL;
    for (const char *line = log; *line;) {
        size_t n = strcspn(line, "\n");
        if (strspn(line, " \t\r") < n) last = line;
        if (!best && is_telling(line, n)) best = line;
        line += n + (line[n] == '\n');
    }
    if (!best) best = last;
    if (best) strbuf_printf(out, ": %.*s", (int)strcspn(best, "\n"), best);
}

/* ---- the outcome ---- */

struct outcome {
    bool done;
    /* text: of the JSON */
    struct strbuf error, log, text;
    struct json_tree tree;
    /* of the statistics; NULL for a failed run */
    const char *hash;
};

static void outcome_error(struct outcome *o, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void outcome_error(struct outcome *o, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    strbuf_vprintf(&o->error, fmt, ap);
    va_end(ap);
    o->done = false;
}

static void read_stats(struct outcome *o, const char *path)
{
    if (!read_file(path, &o->text)) {
        outcome_error(o, "its statistics cannot be read: %s: %s", path ? path : "no file", strerror(errno));
        return;
    }
    struct diag_list diags = {0};
    if (!json_tree_parse(&o->tree, path, strbuf_text(&o->text), o->text.len, &diags)) {
        outcome_error(o, "its statistics cannot be read: %s:%d:%d: %s", path, diags.items.data[0].line,
                      diags.items.data[0].col, diags.items.data[0].message);
    } else {
        const char *missing = store_check_document(o->tree.root);
        if (store_is_partial(o->tree.root)) { /* a program may take no notice of a fault of its kernel */
            outcome_error(o, "a kernel did not finish");
            telling_line(strbuf_text(&o->log), &o->error);
        } else if (missing) {
            outcome_error(o, "its statistics cannot be read: %s: %s", path, missing);
        }
        o->hash = json_get_text(o->tree.root, "hash", "");
    }
    diag_free(&diags);
}

bool store_can_read(const char *path)
{
    struct strbuf text = {0};
    struct json_tree tree = {0};
    struct diag_list diags = {0};
    bool ok = read_file(path, &text) && json_tree_parse(&tree, path, strbuf_text(&text), text.len, &diags);
    diag_free(&diags);
    json_tree_free(&tree);
    strbuf_free(&text);
    return ok;
}

static void outcome_make(struct outcome *o, const struct store_outcome *from)
{
    *o = (struct outcome){.done = from->status == 0};
    read_tail(from->log, &o->log);
    if (from->status > 128)
        outcome_error(o, "killed by signal %d", from->status - 128);
    else if (from->status)
        outcome_error(o, "exit status %d", from->status);
    if (from->status)
        telling_line(strbuf_text(&o->log), &o->error);
    else
        read_stats(o, from->stats);
}

static void outcome_free(struct outcome *o)
{
    json_tree_free(&o->tree);
    strbuf_free(&o->error);
    strbuf_free(&o->log);
    strbuf_free(&o->text);
}

/* ---- into the tables ---- */

/* A number, also one with a unit (16K), is kept as a number; other values as text. */
static void bind_value(sqlite3_stmt *q, int at, const char *text, size_t len)
{
    char word[64], *end;
    snprintf(word, sizeof word, "%.*s", (int)MIN(len, sizeof word - 1), text);
    errno = 0;
    long long v = strtoll(word, &end, 10);
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    bool is_number = len && len < sizeof word && end != word && !errno && !end[shift != 0];
    if (is_number && v <= INT64_MAX >> shift && v >= 0)
        sqlite3_bind_int64(q, at, (int64_t)v << shift);
    else
        sqlite3_bind_text(q, at, text, (int)len, SQLITE_TRANSIENT);
}

/* Lines "machine NAME: VALUE" and "mechanism NAME: VALUE" of the identity. */
static bool put_params(struct store *s, int64_t run, const char *identity)
{
    sqlite3_stmt *name = store_prepare(s, "INSERT OR IGNORE INTO name(name) VALUES(?1)", "");
    sqlite3_stmt *value = store_prepare(
        s, "INSERT OR REPLACE INTO param SELECT ?1, id, ?3 FROM name WHERE name = ?2", "i", run);
    bool ok = name && value;
    for (const char *line = identity; *line && ok;) {
        size_t n = strcspn(line, "\n"), key = strcspn(line, " :");
        const char *colon = memchr(line, ':', n);
        if (colon && line[key] == ' ' && colon > line + key) {
            const char *from = line + key + 1;
            sqlite3_bind_text(name, 1, from, (int)(colon - from), SQLITE_TRANSIENT);
            sqlite3_bind_text(value, 2, from, (int)(colon - from), SQLITE_TRANSIENT);
            bind_value(value, 3, colon + 2, n - (size_t)(colon + 2 - line));
            ok = store_step(s, name) >= 0 && store_step(s, value) >= 0;
            sqlite3_reset(name);
            sqlite3_reset(value);
        }
        line += n + (line[n] == '\n');
    }
    sqlite3_finalize(name);
    sqlite3_finalize(value);
    return ok;
}

#define PUT_SQL                                                                                              \
    "INSERT INTO run(" STORE_JOB_COLUMNS ", state, status, error, log, hash, host, seconds, peak_bytes,"     \
    " started, finished)"                                                                                    \
    " VALUES(" STORE_JOB_VALUES ", ?13, ?14, ?15, ?16, ?17, ?18, ?19, nullif(?20, 0), ?21, ?22)"             \
    " ON CONFLICT(key) DO UPDATE SET state = excluded.state, status = excluded.status,"                      \
    " error = excluded.error, log = excluded.log, hash = excluded.hash, host = excluded.host,"               \
    " seconds = excluded.seconds, peak_bytes = excluded.peak_bytes,"                                         \
    " started = coalesce(run.started, excluded.started), finished = excluded.finished,"                      \
    " who = NULL, lease = NULL WHERE run.state <> 'done' RETURNING id"

/* The row of the run; its id, 0 where it was done before, -1 with s->error. */
static int64_t put_row(struct store *s, const struct store_run *r)
{
    sqlite3_stmt *q = store_prepare(
        s, PUT_SQL, STORE_JOB_TYPES "tittttdiii", r->key, r->identity, r->simulator, r->workload, r->size,
        r->machine, r->settings, r->mechs, r->mech_settings, r->seed, r->sample, r->command,
        r->is_done ? "done" : "failed", r->status, r->error, r->log, r->is_done ? r->hash : NULL, r->host,
        r->seconds, r->peak_bytes, r->started, r->finished);
    int rc = q ? store_step(s, q) : -1;
    int64_t id = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : rc < 0 ? -1 : 0;
    sqlite3_finalize(q);
    return id;
}

/* The run was done before: by design it gave the same statistics. */
static bool check_twin(struct store *s, const struct store_run *r)
{
    if (!r->is_done) return true;
    sqlite3_stmt *q = store_prepare(s, "SELECT hash FROM run WHERE key = ?1", "t", r->key);
    bool found = q && store_step(s, q) == SQLITE_ROW;
    bool same = found && !strcmp((const char *)sqlite3_column_text(q, 0), r->hash);
    if (found && !same)
        store_fail(s, "run %s was made twice and gave different statistics (hashes %s and %s)", r->key,
                   (const char *)sqlite3_column_text(q, 0), r->hash);
    sqlite3_finalize(q);
    return same;
}

static bool put_host_stats(struct store *s, int64_t run, const struct store_run *r)
{
    static const char *const names[] = {"host.seconds", "host.peak_bytes"};
    const double values[] = {r->seconds, r->peak_bytes ? (double)r->peak_bytes : NAN};
    bool ok = true;
    for (size_t i = 0; i < ARRAY_LEN(names) && ok; i++)
        ok = isnan(values[i]) ||
             (store_exec(s, "INSERT OR IGNORE INTO name(name) VALUES(?1)", "t", names[i]) &&
              store_exec(s, "INSERT INTO stat SELECT ?1, id, ?3 FROM name WHERE name = ?2", "itd", run,
                         names[i], values[i]));
    return ok;
}

bool store_put_run(struct store *s, const struct store_run *r, const struct json_node *root, const char *text,
                   size_t len, bool *is_new)
{
    int64_t run = put_row(s, r);
    *is_new = run > 0;
    if (run <= 0) return run == 0 && check_twin(s, r);
    if (!put_params(s, run, r->identity)) return false;
    return !r->is_done || (store_put_document(s, run, root, text, len) && put_host_stats(s, run, r));
}

static const char *text_or_null(const struct strbuf *text) { return text->len ? text->data : NULL; }

static bool put_outcome(struct store *s, const struct lab_job *job, const struct store_row_texts *t,
                        const struct store_outcome *o, const struct outcome *made)
{
    const int64_t now = (int64_t)time(NULL);
    const struct store_run r = {.key = job->key,
                                .identity = strbuf_text(&t->identity),
                                .simulator = job_simulator(),
                                .workload = job->workload->name,
                                .size = job->size,
                                .machine = strbuf_text(&t->machine),
                                .settings = strbuf_text(&t->settings),
                                .mechs = strbuf_text(&t->mechs),
                                .mech_settings = strbuf_text(&t->mech_settings),
                                .seed = (int64_t)job->seed,
                                .sample = (int64_t)job->run.timed.sample_cycles,
                                .command = strbuf_text(&t->command),
                                .is_done = made->done,
                                .status = o->status,
                                .error = text_or_null(&made->error),
                                .log = text_or_null(&made->log),
                                .hash = made->hash,
                                .host = o->host,
                                .seconds = o->seconds,
                                .peak_bytes = (int64_t)o->peak_bytes,
                                .started = now - (int64_t)o->seconds,
                                .finished = now};
    bool is_new;
    return store_put_run(s, &r, made->tree.root, strbuf_text(&made->text), made->text.len, &is_new);
}

bool store_put(struct store *s, const struct lab_job *job, const struct store_outcome *o, char **error)
{
    assert(strlen(job->key) == JOB_KEY_CHARS);
    struct outcome made;
    struct store_row_texts t;
    store_clear_error(s);
    outcome_make(&made, o);
    if (!store_row_texts(s, job, &t) && made.done) outcome_error(&made, "%s", s->error);
    store_clear_error(s);
    bool ok = store_script(s, "BEGIN IMMEDIATE");
    if (ok) {
        ok = put_outcome(s, job, &t, o, &made) && store_script(s, "COMMIT");
        if (!ok) sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    }
    if (!ok) *error = store_take_error(s);
    store_row_texts_free(&t);
    outcome_free(&made);
    return ok;
}
