/* store_kernel.c: numbers of single launches. Cycles and rates are rows of the table `kernel`; all else comes
 * from the document of the run, of which the one read last is kept. */
#include "lab/store_impl.h"

#include <math.h>

struct store_kernels {
    char key[JOB_KEY_CHARS + 1];
    struct strbuf text;
    struct json_tree tree;
};

/* ---- rows ---- */

static bool is_row_number(const char *name)
{
    static const char *const names[] = {"cycles", "ipc", "thread_ipc"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

static double row_number(struct store *s, const char *key, uint64_t launch, const char *name)
{
    if (!s->kernel_of)
        s->kernel_of = store_prepare(s,
                                     "SELECT cycles, ipc, thread_ipc FROM kernel WHERE run ="
                                     " (SELECT id FROM run WHERE key = ?1) AND id = ?2",
                                     "");
    if (!s->kernel_of) return NAN;
    sqlite3_bind_text(s->kernel_of, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s->kernel_of, 2, (int64_t)launch);
    const int column = !strcmp(name, "cycles") ? 0 : !strcmp(name, "ipc") ? 1 : 2;
    const bool found =
        store_step(s, s->kernel_of) == SQLITE_ROW && sqlite3_column_type(s->kernel_of, column) != SQLITE_NULL;
    const double value = found ? sqlite3_column_double(s->kernel_of, column) : NAN;
    sqlite3_reset(s->kernel_of);
    return value;
}

uint64_t store_kernel_launch(struct store *s, const char *key, const char *kernel, uint32_t nth)
{
    assert(nth);
    store_clear_error(s);
    sqlite3_stmt *q = store_prepare(s,
                                    "SELECT id FROM kernel WHERE run = (SELECT id FROM run WHERE key = ?1)"
                                    " AND name = ?2 ORDER BY id LIMIT 1 OFFSET ?3",
                                    "tti", key, kernel, (int64_t)nth - 1);
    const uint64_t launch = q && store_step(s, q) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(q, 0) : 0;
    sqlite3_finalize(q);
    return launch;
}

bool store_kernels(struct store *s, const char *key, store_launch tell, void *context)
{
    store_clear_error(s);
    sqlite3_stmt *q = store_prepare(
        s, "SELECT id, name FROM kernel WHERE run = (SELECT id FROM run WHERE key = ?1) ORDER BY id", "t",
        key);
    int rc = q ? SQLITE_ROW : -1;
    while (rc == SQLITE_ROW && (rc = store_step(s, q)) == SQLITE_ROW)
        tell(context, (uint64_t)sqlite3_column_int64(q, 0), (const char *)sqlite3_column_text(q, 1));
    sqlite3_finalize(q);
    return rc >= 0;
}

/* ---- the document ---- */

static void forget(struct store_kernels *k)
{
    json_tree_free(&k->tree);
    strbuf_free(&k->text);
    *k = (struct store_kernels){0};
}

void store_kernels_free(struct store *s)
{
    if (s->kernels) forget(s->kernels);
    free(s->kernels);
    s->kernels = NULL;
}

const struct json_node *store_document_root(struct store *s, const char *key)
{
    if (!s->kernels) s->kernels = mem_zalloc(sizeof *s->kernels);
    struct store_kernels *k = s->kernels;
    if (strcmp(k->key, key)) {
        struct diag_list diags = {0};
        forget(k);
        if (store_document(s, key, &k->text) &&
            json_tree_parse(&k->tree, key, strbuf_text(&k->text), k->text.len, &diags))
            snprintf(k->key, sizeof k->key, "%s", key);
        diag_free(&diags);
    }
    return *k->key ? k->tree.root : NULL;
}

/* "queue.l2_access_level[3]" is an item of the list of that name. */
static double number_of(const struct json_node *group, const char *name)
{
    const size_t len = strcspn(name, "[");
    char plain[160];
    snprintf(plain, sizeof plain, "%.*s", (int)len, name);
    const struct json_node *n = json_get(group, plain);
    if (n && name[len] && n->kind == JSON_LIST) {
        const unsigned long bin = strtoul(name + len + 1, NULL, 10);
        n = bin < n->count ? &n->items[bin] : NULL;
    }
    return n && n->kind == JSON_NUMBER ? n->number : NAN;
}

double store_kernel_stat(struct store *s, const char *key, uint64_t launch, const char *name)
{
    store_clear_error(s);
    if (is_row_number(name)) return row_number(s, key, launch, name);
    const struct json_node *kernels = json_get(store_document_root(s, key), "kernels");
    for (uint32_t i = 0; kernels && i < kernels->count; i++) {
        const struct json_node *groups = json_get(&kernels->items[i], "stats");
        if (json_get_number(&kernels->items[i], "id", 0) != (double)launch || !groups) continue;
        double value = NAN;
        for (uint32_t g = 0; g < groups->count && isnan(value); g++)
            value = number_of(&groups->items[g], name);
        return value;
    }
    return NAN;
}
