/* query_run.c: heddle query STORE --run KEY. */
#include "cli/query_run.h"

#include "cli/query_table.h"

/* ---- the key ---- */

bool query_find_run(struct store *s, const struct query_place *at, const char *prefix,
                    char key[JOB_KEY_CHARS + 1])
{
    size_t len = strlen(prefix);
    if (!len || len > JOB_KEY_CHARS || strspn(prefix, "0123456789abcdef") != len) {
        cli_error(at->argc, at->argv, at->arg, at->offset, (int)MAX(len, (size_t)1),
                  "heddle query STORE shows the keys; the first digits are enough",
                  "a key is up to %d digits 0-9 and a-f", (int)JOB_KEY_CHARS);
        return false;
    }
    struct strbuf sql = {0};
    struct query_table t = {0};
    char *error = NULL;
    strbuf_printf(&sql, "SELECT key FROM run WHERE key GLOB '%s*' ORDER BY key LIMIT 2", prefix);
    bool ok = store_query(s, strbuf_text(&sql), query_table_row, &t, &error);
    uint32_t rows = query_table_rows(&t);
    if (!ok)
        fprintf(stderr, "heddle: error: %s\n", error);
    else if (rows == 1)
        snprintf(key, JOB_KEY_CHARS + 1, "%s", t.cells.data[0]);
    else
        cli_error(at->argc, at->argv, at->arg, at->offset, (int)len,
                  rows ? "write more of its digits" : "heddle query STORE shows the keys",
                  rows ? "several runs have a key that begins with '%s'"
                       : "no run has a key that begins with '%s'",
                  prefix);
    free(error);
    query_table_free(&t);
    strbuf_free(&sql);
    return ok && rows == 1;
}

/* ---- parts of the page ---- */

/* Runs a query about this run: %s in the text stands for its quoted key. */
static bool ask(struct store *s, const char *key, const char *sql, struct query_table *out)
{
    struct strbuf text = {0};
    char *error = NULL;
    const char *at = strstr(sql, "%s");
    strbuf_add(&text, sql, (size_t)(at - sql));
    query_quote(key, strlen(key), &text);
    strbuf_puts(&text, at + 2);
    bool ok = store_query(s, strbuf_text(&text), query_table_row, out, &error);
    if (!ok) fprintf(stderr, "heddle: error: %s\n", error);
    free(error);
    strbuf_free(&text);
    return ok;
}

static void print_head(const struct query_table *t)
{
    for (uint32_t i = 0; i < t->names.len && i < t->cells.len; i++) {
        struct strbuf value = {0};
        if (!t->cells.data[i]) continue;
        strbuf_visible(&value, t->cells.data[i], strlen(t->cells.data[i]));
        printf("%-13s %s\n", t->names.data[i], strbuf_text(&value));
        strbuf_free(&value);
    }
}

/* Prints a text of several lines, indented. */
static void print_block(const char *title, const char *text)
{
    printf("\n%s\n", title);
    while (*text) {
        size_t n = strcspn(text, "\n");
        struct strbuf line = {0};
        strbuf_visible(&line, text, n);
        printf("  %s\n", strbuf_text(&line));
        strbuf_free(&line);
        text += n + (text[n] == '\n');
    }
}

static bool print_section(struct store *s, const char *key, const char *title, const char *sql,
                          uint32_t width)
{
    struct query_table t = {0};
    bool ok = ask(s, key, sql, &t);
    if (ok && query_table_rows(&t)) {
        printf("\n%s\n", title);
        query_table_print(&t, QUERY_TABLE, width, stdout);
    }
    query_table_free(&t);
    return ok;
}

static bool print_texts(struct store *s, const char *key, const char *title, const char *sql)
{
    struct query_table t = {0};
    bool ok = ask(s, key, sql, &t);
    if (ok && t.cells.len && t.cells.data[0] && *t.cells.data[0]) print_block(title, t.cells.data[0]);
    query_table_free(&t);
    return ok;
}

bool query_print_run(struct store *s, const char *key, uint32_t width)
{
    struct query_table head = {0};
    bool ok =
        ask(s, key,
            "SELECT key, workload, size, machine, settings, mechs, mech_settings, nullif(seed, 0) AS seed,"
            " nullif(sample, 0) AS sample, command, simulator, state, status, error, hash, host,"
            " round(seconds, 2) AS seconds, peak_bytes, datetime(started, 'unixepoch') AS started,"
            " datetime(finished, 'unixepoch') AS finished, who FROM run WHERE key = %s",
            &head);
    if (ok) print_head(&head);
    query_table_free(&head);
    return ok && print_texts(s, key, "what it printed (the end):", "SELECT log FROM run WHERE key = %s") &&
           print_section(
               s, key, "kernels",
               "SELECT name, count(*) AS launches, sum(cycles) AS cycles, round(sum(ipc * cycles) /"
               " sum(cycles), 3) AS ipc, max(registers) AS registers, min(bound) AS bound FROM kernel"
               " WHERE run = (SELECT id FROM run WHERE key = %s) GROUP BY name ORDER BY sum(cycles) DESC",
               width) &&
           print_section(
               s, key, "loads",
               "SELECT kernel.name AS kernel, pc, sum(executions) AS executions, 1.0 * sum(lines) /"
               " sum(executions) AS lines_per_load, sum(miss_rate * lines) / sum(lines) AS miss_rate"
               " FROM load JOIN kernel ON kernel.run = load.run AND kernel.id = load.kernel WHERE"
               " load.run = (SELECT id FROM run WHERE key = %s) GROUP BY kernel.name, pc ORDER BY"
               " sum(lines) DESC LIMIT 12",
               width) &&
           print_section(
               s, key, "statistics",
               "SELECT name.name, stat.value, legend.unit, legend.help FROM stat JOIN name ON name.id ="
               " stat.name LEFT JOIN legend ON legend.name = name.name WHERE stat.run = (SELECT id FROM"
               " run WHERE key = %s) AND name.name NOT LIKE '%]' ORDER BY name.name",
               width) &&
           print_section(
               s, key, "histograms",
               "SELECT substr(name.name, 1, instr(name.name, '[') - 1) AS name, group_concat(stat.value,"
               " ' ') AS bins FROM stat JOIN name ON name.id = stat.name WHERE stat.run = (SELECT id FROM"
               " run WHERE key = %s) AND name.name LIKE '%]' GROUP BY 1 ORDER BY 1",
               width) &&
           print_texts(s, key, "identity (the key is its hash):", "SELECT identity FROM run WHERE key = %s");
}
