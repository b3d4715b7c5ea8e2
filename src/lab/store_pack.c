/* store_pack.c: runs as lines of JSON, compressed. The first line names the format, the second holds the
 * legend, each further one a run, and the last says how many runs there are. See store_pack.h. */
#include "lab/store_pack.h"

#include "base/hash.h"
#include "base/output.h"
#include "lab/document_cut.h"
#include "lab/store_impl.h"
#include "stats/json.h"

#include <errno.h>
#include <zstd.h>

enum { PACK_FORMAT = 1, PACK_LEVEL = 15, PACK_WINDOW_BITS = 27, BLOCK_BYTES = 1 << 16 };

/* ---- writing ---- */

struct packer {
    struct output file;
    ZSTD_CCtx *stream;
    struct strbuf line;
    /* launches of a run that keep their statistics */
    uint32_t launches;
    bool ok;
};

static void pack_bytes(struct packer *p, const char *text, size_t len, ZSTD_EndDirective mode)
{
    char block[BLOCK_BYTES];
    ZSTD_inBuffer in = {text, len, 0};
    for (size_t left = 1; p->ok && (left || in.pos < in.size);) {
        ZSTD_outBuffer out = {block, sizeof block, 0};
        left = ZSTD_compressStream2(p->stream, &out, &in, mode);
        assert(!ZSTD_isError(left)); /* cannot fail: the memory is there and the parameters are constants */
        p->ok = fwrite(block, 1, out.pos, p->file.file) == out.pos;
        if (mode == ZSTD_e_continue) left = 0; /* the rest is written later */
    }
}

static void pack_line(struct packer *p)
{
    strbuf_putc(&p->line, '\n');
    pack_bytes(p, p->line.data, p->line.len, ZSTD_e_continue);
    p->line.len = 0;
}

static void member(struct strbuf *out, const char *name, sqlite3_stmt *q, int column)
{
    const int kind = sqlite3_column_type(q, column);
    struct strbuf text = {0};
    if (kind == SQLITE_NULL) return;
    strbuf_printf(out, "%s\"%s\":", out->len > 1 ? "," : "", name);
    if (kind == SQLITE_INTEGER)
        strbuf_printf(out, "%lld", (long long)sqlite3_column_int64(q, column));
    else if (kind == SQLITE_FLOAT)
        strbuf_printf(out, "%.17g", sqlite3_column_double(q, column));
    else {
        store_leave_out_folders((const char *)sqlite3_column_text(q, column), &text);
        json_string(out, strbuf_text(&text));
    }
    strbuf_free(&text);
}

static bool pack_legend(struct store *s, struct packer *p)
{
    sqlite3_stmt *q = store_prepare(s, "SELECT name, unit, help FROM legend ORDER BY name", "");
    int rc = q ? SQLITE_ROW : -1;
    strbuf_puts(&p->line, "{\"legend\":{");
    for (bool is_first = true; rc == SQLITE_ROW && (rc = store_step(s, q)) == SQLITE_ROW; is_first = false) {
        if (!is_first) strbuf_putc(&p->line, ',');
        json_string(&p->line, (const char *)sqlite3_column_text(q, 0));
        struct strbuf entry = {0};
        strbuf_putc(&entry, '{');
        member(&entry, "unit", q, 1);
        member(&entry, "help", q, 2);
        strbuf_printf(&p->line, ":%s}", strbuf_text(&entry));
        strbuf_free(&entry);
    }
    sqlite3_finalize(q);
    strbuf_puts(&p->line, "}}");
    pack_line(p);
    return rc == SQLITE_DONE;
}

/* The document as it is, or with the statistics of fewer launches. */
static void pack_document(struct packer *p, const char *key, const struct strbuf *document)
{
    const char *text = strbuf_text(document);
    struct json_tree tree = {0};
    struct diag_list diags = {0};
    struct strbuf cut = {0};
    if (p->launches != PACK_ALL_LAUNCHES && json_tree_parse(&tree, key, text, document->len, &diags)) {
        document_cut_launches(tree.root, text, document->len, p->launches, &cut);
        text = strbuf_text(&cut);
    }
    strbuf_puts(&p->line, ",\"document\":");
    json_string(&p->line, text);
    strbuf_free(&cut);
    diag_free(&diags);
    json_tree_free(&tree);
}

static bool pack_run(struct store *s, struct packer *p, sqlite3_stmt *q)
{
    strbuf_putc(&p->line, '{');
    for (int i = 0; i < sqlite3_column_count(q); i++) member(&p->line, sqlite3_column_name(q, i), q, i);
    struct strbuf document = {0};
    const char *key = (const char *)sqlite3_column_text(q, 0);
    if (store_document(s, key, &document)) pack_document(p, key, &document);
    strbuf_free(&document);
    strbuf_putc(&p->line, '}');
    pack_line(p);
    return !s->error;
}

#define PACK_COLUMNS                                                                                         \
    STORE_JOB_COLUMNS ", state, status, error, log, hash, host, seconds, peak_bytes, started, finished"

static bool pack_runs(struct store *s, struct packer *p, const char *where, uint64_t *runs)
{
    struct strbuf sql = {0};
    strbuf_printf(&sql,
                  "SELECT " PACK_COLUMNS " FROM run WHERE state <> 'running' AND (%s)"
                  " ORDER BY workload, size, machine, mechs, settings, mech_settings, key",
                  where);
    sqlite3_stmt *q = store_prepare(s, strbuf_text(&sql), "");
    strbuf_free(&sql);
    int rc = q ? SQLITE_ROW : -1;
    bool ok = q != NULL;
    while (ok && p->ok && (rc = store_step(s, q)) == SQLITE_ROW) {
        ok = pack_run(s, p, q);
        ++*runs;
    }
    sqlite3_finalize(q);
    return ok && p->ok && rc == SQLITE_DONE;
}

bool store_pack(struct store *s, const char *where, uint32_t launches, const char *path, uint64_t *runs,
                char **error)
{
    struct packer p = {.launches = launches, .ok = true};
    *runs = 0;
    store_clear_error(s);
    if (!output_open(&p.file, path)) {
        store_fail(s, "cannot write %s: %s", path, strerror(errno));
        *error = store_take_error(s);
        return false;
    }
    p.stream = ZSTD_createCCtx();
    assert(p.stream);
    ZSTD_CCtx_setParameter(p.stream, ZSTD_c_compressionLevel, PACK_LEVEL);
    ZSTD_CCtx_setParameter(p.stream, ZSTD_c_enableLongDistanceMatching, 1);
    ZSTD_CCtx_setParameter(p.stream, ZSTD_c_windowLog, PACK_WINDOW_BITS);
    ZSTD_CCtx_setParameter(p.stream, ZSTD_c_checksumFlag, 1);
    strbuf_printf(&p.line, "{\"heddle-pack\":%d}", PACK_FORMAT);
    pack_line(&p);
    bool ok = pack_legend(s, &p) && pack_runs(s, &p, where, runs);
    strbuf_printf(&p.line, "{\"runs\":%llu}", (unsigned long long)*runs);
    pack_line(&p);
    pack_bytes(&p, "", 0, ZSTD_e_end);
    ZSTD_freeCCtx(p.stream);
    strbuf_free(&p.line);
    if (!ok && s->error)
        output_drop(&p.file);
    else if (!output_close(&p.file)) {
        ok = false;
        store_fail(s, "cannot write %s: %s", path, strerror(errno));
    }
    if (!ok) *error = store_take_error(s);
    return ok;
}

/* ---- reading ---- */

struct unpacker {
    FILE *file;
    ZSTD_DCtx *stream;
    char block[BLOCK_BYTES];
    ZSTD_inBuffer in;
    /* what was unpacked and not yet read, from `at` on */
    struct strbuf text;
    size_t at;
    /* the newest line and its number */
    struct strbuf line;
    uint64_t line_number;
    bool is_damaged;
};

/* Reads more text after the text that is there. False: the file has ended. */
static bool unpack_more(struct unpacker *u)
{
    char out_block[BLOCK_BYTES];
    for (;;) {
        ZSTD_outBuffer out = {out_block, sizeof out_block, 0};
        const size_t rc = ZSTD_decompressStream(u->stream, &out, &u->in);
        u->is_damaged |= ZSTD_isError(rc) != 0;
        if (u->is_damaged) return false;
        strbuf_add(&u->text, out_block, out.pos);
        if (out.pos) return true;
        if (u->in.pos < u->in.size) continue;
        u->in = (ZSTD_inBuffer){u->block, fread(u->block, 1, sizeof u->block, u->file), 0};
        if (!u->in.size) return false;
    }
}

static bool unpack_line(struct unpacker *u)
{
    u->line.len = 0;
    for (size_t searched = u->at;;) {
        const char *end =
            u->text.len > searched ? memchr(u->text.data + searched, '\n', u->text.len - searched) : NULL;
        if (end) {
            const size_t len = (size_t)(end - u->text.data) - u->at;
            strbuf_add(&u->line, u->text.data + u->at, len);
            u->at += len + 1;
            u->line_number++;
            return true;
        }
        if (u->at) { /* lines that were read make room */
            memmove(u->text.data, u->text.data + u->at, u->text.len - u->at);
            u->text.len -= u->at;
            u->at = 0;
        }
        searched = u->text.len;
        if (!unpack_more(u)) return false;
    }
}

static struct store_run read_run(const struct json_node *n)
{
    const char *state = json_get_text(n, "state", "");
    return (struct store_run){.key = json_get_text(n, "key", ""),
                              .identity = json_get_text(n, "identity", ""),
                              .simulator = json_get_text(n, "simulator", ""),
                              .workload = json_get_text(n, "workload", ""),
                              .size = json_get_text(n, "size", ""),
                              .machine = json_get_text(n, "machine", ""),
                              .settings = json_get_text(n, "settings", ""),
                              .mechs = json_get_text(n, "mechs", ""),
                              .mech_settings = json_get_text(n, "mech_settings", ""),
                              .command = json_get_text(n, "command", ""),
                              .seed = (int64_t)json_get_number(n, "seed", 0),
                              .sample = (int64_t)json_get_number(n, "sample", 0),
                              .status = (int64_t)json_get_number(n, "status", 0),
                              .is_done = !strcmp(state, "done"),
                              .error = json_get_text(n, "error", NULL),
                              .log = json_get_text(n, "log", NULL),
                              .hash = json_get_text(n, "hash", ""),
                              .host = json_get_text(n, "host", NULL),
                              .seconds = json_get_number(n, "seconds", 0),
                              .peak_bytes = (int64_t)json_get_number(n, "peak_bytes", 0),
                              .started = (int64_t)json_get_number(n, "started", 0),
                              .finished = (int64_t)json_get_number(n, "finished", 0)};
}

/* Returns what is wrong with the run; NULL = nothing. */
static const char *check_run(const struct store_run *r, const struct json_node *document)
{
    char key[HASH128_CHARS + 1];
    hash128_hex(hash128_bytes(r->identity, strlen(r->identity)), key);
    /* a failed run may have none: its program was gone when the outcome was kept */
    if ((r->is_done || *r->identity) && strcmp(key, r->key) != 0)
        return "its key is not that of its identity";
    if (!r->is_done) return strlen(r->key) == HASH128_CHARS ? NULL : "it has no key";
    if (!document || store_check_document(document)) return "it has no statistics";
    if (strcmp(json_get_text(document, "hash", ""), r->hash) != 0) return "its statistics have another hash";
    return NULL;
}

/* False: s->error; *is_file where the file is at fault. */
static bool put_line_run(struct store *s, const struct unpacker *u, const struct json_node *n,
                         struct store_unpacked *out, bool *is_file)
{
    const struct store_run r = read_run(n);
    const char *text = json_get_text(n, "document", "");
    struct json_tree tree = {0};
    struct diag_list diags = {0};
    const bool is_read = *text && json_tree_parse(&tree, r.key, text, strlen(text), &diags);
    const char *wrong = check_run(&r, is_read ? tree.root : NULL);
    bool ok = !wrong, is_new = false;
    if (wrong) {
        store_fail(s, "line %llu: run %.8s: %s", (unsigned long long)u->line_number, r.key, wrong);
        *is_file = true;
    } else if (r.is_done || store_state(s, r.key) == STORE_ABSENT) {
        ok = store_script(s, "BEGIN IMMEDIATE");
        if (ok) {
            ok = store_put_run(s, &r, tree.root, text, strlen(text), &is_new) && store_script(s, "COMMIT");
            if (!ok) sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        }
    }
    out->runs += ok;
    out->fresh += ok && is_new;
    diag_free(&diags);
    json_tree_free(&tree);
    return ok;
}

enum line_kind { LINE_BAD, LINE_HEAD, LINE_LEGEND, LINE_RUN, LINE_END };

static enum line_kind line_kind(const struct unpacker *u, const struct json_node *n)
{
    if (u->line_number == 1)
        return json_get_number(n, "heddle-pack", 0) == PACK_FORMAT ? LINE_HEAD : LINE_BAD;
    if (u->line_number == 2) return json_get(n, "legend") ? LINE_LEGEND : LINE_BAD;
    return json_get(n, "runs") ? LINE_END : json_get(n, "key") ? LINE_RUN : LINE_BAD;
}

/* One line into the store. False: s->error. */
static bool put_line(struct store *s, const struct unpacker *u, struct store_unpacked *out, bool *is_end,
                     bool *is_file)
{
    struct json_tree tree = {0};
    struct diag_list diags = {0};
    bool ok = false;
    enum line_kind kind = LINE_BAD;
    if (json_tree_parse(&tree, "line", strbuf_text(&u->line), u->line.len, &diags))
        kind = line_kind(u, tree.root);
    if (kind == LINE_LEGEND)
        ok = store_put_legend(s, json_get(tree.root, "legend"));
    else if (kind == LINE_RUN)
        ok = put_line_run(s, u, tree.root, out, is_file);
    else if (kind == LINE_END)
        ok = *is_end = json_get_number(tree.root, "runs", -1) == (double)out->runs;
    else
        ok = kind == LINE_HEAD;
    if (!ok && !s->error) {
        store_fail(s, "line %llu: not what a pack of runs has there", (unsigned long long)u->line_number);
        *is_file = true;
    }
    diag_free(&diags);
    json_tree_free(&tree);
    return ok;
}

bool store_unpack(struct store *s, const char *path, struct store_unpacked *out, bool *is_file, char **error)
{
    *out = (struct store_unpacked){0};
    *is_file = true;
    store_clear_error(s);
    struct unpacker *u = mem_zalloc(sizeof *u);
    u->file = fopen(path, "rb");
    if (!u->file) {
        store_fail(s, "%s", strerror(errno));
    } else {
        u->stream = ZSTD_createDCtx();
        assert(u->stream);
        *is_file = false;
        bool is_end = false;
        while (!s->error && !is_end && unpack_line(u)) put_line(s, u, out, &is_end, is_file);
        if (!s->error && !is_end) {
            *is_file = true;
            store_fail(s, "%s",
                       u->line_number == 0 && u->is_damaged ? "not a pack of runs"
                       : u->is_damaged                      ? "it is damaged"
                                                            : "it ends early");
        }
        ZSTD_freeDCtx(u->stream);
        fclose(u->file);
    }
    strbuf_free(&u->text);
    strbuf_free(&u->line);
    free(u);
    if (!s->error) return true;
    char *wrong = store_take_error(s);
    struct strbuf words = {0};
    strbuf_printf(&words, "%s%s%s", *is_file ? path : "", *is_file ? ": " : "", wrong);
    free(wrong);
    *error = words.data;
    return false;
}
