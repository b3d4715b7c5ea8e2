/* report.c: the JSON of experiments and of their runs, put into the page that was built of web/. The page
 * has one marker where the data goes.
 * (1) '<' never reaches the page as itself, so that no text of a run can end the script element that holds
 * the data: JSON has it in strings only, where \u003c means the same.
 * (2) One run at a time is in memory. */
#include "base/output.h"
#include "lab/report_energy.h"
#include "lab/report_impl.h"
#include "stats/json.h"

#include <errno.h>
#include <unistd.h>

#define DATA_MARKER "@HEDDLE-DATA@"
enum { REPORT_SCHEMA = 1 };

bool report_fail(char **error, const char *fmt, ...)
{
    struct strbuf text = {0};
    va_list ap;
    va_start(ap, fmt);
    strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    *error = text.data;
    return false;
}

/* ---- the data ---- */

static void put_escaped(FILE *out, const struct strbuf *json)
{
    for (size_t from = 0; from < json->len;) {
        const char *text = json->data + from, *less = memchr(text, '<', json->len - from);
        size_t n = less ? (size_t)(less - text) : json->len - from;
        fwrite(text, 1, n, out);
        if (less) fputs("\\u003c", out);
        from += n + (less != NULL);
    }
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Keys of all plans' runs, each once. */
static uint32_t gather_keys(const struct report *r, const char ***out)
{
    uint32_t all = 0, count = 0;
    for (uint32_t i = 0; i < r->experiment_count; i++) all += r->experiments[i].plan->job_count;
    const char **keys = mem_alloc(MAX(all, 1u) * sizeof *keys);
    for (uint32_t i = 0; i < r->experiment_count; i++) {
        const struct plan *p = r->experiments[i].plan;
        for (uint32_t j = 0; j < p->job_count; j++) keys[count++] = p->jobs[j].key;
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!kept || strcmp(keys[kept - 1], keys[i])) keys[kept++] = keys[i];
    *out = keys;
    return kept;
}

static bool put_runs(const struct report *r, FILE *out, char **error)
{
    const char **keys;
    uint32_t count = gather_keys(r, &keys);
    struct run_columns columns;
    struct strbuf json = {0};
    run_columns_open(&columns, r);
    bool first = true, ok = true;
    for (uint32_t i = 0; i < count && ok; i++) {
        json.len = 0;
        if (!first) strbuf_puts(&json, ",\n");
        if (store_run_json(r->store, keys[i], r->is_brief ? STORE_BRIEF : STORE_WHOLE, &json)) {
            assert(json.data[json.len - 1] == '}');
            json.len--;
            if (!r->is_brief) report_put_energy(&columns, r->store, keys[i], &json);
            strbuf_putc(&json, '}');
            put_escaped(out, &json);
            first = false;
        } else if (store_error(r->store)) { /* otherwise it has not been made */
            ok = report_fail(error, "run %s: %s", keys[i], store_error(r->store));
        }
    }
    strbuf_free(&json);
    run_columns_close(&columns);
    free(keys);
    return ok;
}

static void put_experiment(const struct report *r, uint32_t i, FILE *out)
{
    assert(i < r->experiment_count);
    struct strbuf json = {0};
    if (i) strbuf_puts(&json, ",\n");
    experiment_json(&r->experiments[i], &json);
    put_escaped(out, &json);
    strbuf_free(&json);
}

static bool put_data(const struct report *r, FILE *out, char **error)
{
    struct strbuf head = {0};
    strbuf_printf(&head, "{\"schema\":%d,\"heddle\":", REPORT_SCHEMA);
    json_string(&head, r->version);
    strbuf_puts(&head, ",\"simulator\":");
    json_string(&head, r->simulator);
    if (r->is_brief) strbuf_puts(&head, ",\"brief\":true");
    strbuf_puts(&head, ",\"experiments\":[\n");
    put_escaped(out, &head);
    strbuf_free(&head);
    for (uint32_t i = 0; i < r->experiment_count; i++) put_experiment(r, i, out);
    fputs("],\"runs\":[\n", out);
    if (!put_runs(r, out, error)) return false;
    fputs("]}\n", out);
    return true;
}

/* ---- files ---- */

/* Writes by `put`: the file is complete, or is not there. */
typedef bool (*report_put)(const struct report *r, const struct strbuf *page, FILE *out, char **error);

static bool put_file(const struct report *r, const struct strbuf *page, report_put put, const char *path,
                     char **error)
{
    struct output out;
    if (!output_open(&out, path)) return report_fail(error, "cannot write %s: %s", path, strerror(errno));
    if (!put(r, page, out.file, error)) {
        output_drop(&out);
        return false;
    }
    return output_close(&out) || report_fail(error, "cannot write %s: %s", path, strerror(errno));
}

static bool read_page(const struct report *r, struct strbuf *page, char **error)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/report.html", r->page_dir);
    FILE *in = fopen(path.data, "rb");
    bool ok = in != NULL;
    if (!in) {
        report_fail(error, "cannot read %s: %s\n" REPORT_PAGE_HINT, path.data, strerror(errno));
    } else {
        char block[1 << 16];
        for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;) strbuf_add(page, block, n);
        fclose(in);
        if (!strstr(strbuf_text(page), DATA_MARKER))
            ok = report_fail(error, "%s is not the page of a report: it has no " DATA_MARKER, path.data);
    }
    strbuf_free(&path);
    return ok;
}

static bool put_page(const struct report *r, const struct strbuf *page, FILE *out, char **error)
{
    const char *marker = strstr(page->data, DATA_MARKER);
    const char *rest = marker + strlen(DATA_MARKER);
    fwrite(page->data, 1, (size_t)(marker - page->data), out);
    if (!put_data(r, out, error)) return false;
    fwrite(rest, 1, (size_t)(page->data + page->len - rest), out);
    return true;
}

bool report_write(const struct report *r, const char *path, char **error)
{
    struct strbuf page = {0};
    bool ok = read_page(r, &page, error) && put_file(r, &page, put_page, path, error);
    strbuf_free(&page);
    return ok;
}

static bool put_json(const struct report *r, const struct strbuf *page, FILE *out, char **error)
{
    return put_data(r, out, error);
}

bool report_json(const struct report *r, const char *path, char **error)
{
    return put_file(r, NULL, put_json, path, error);
}
