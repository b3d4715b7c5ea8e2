/* The store: what is put is there, whole; leases; files that are none. */
#include "lab_kit.h"

#include "../unit/json_check.h"
#include "base/json_tree.h"

#include <math.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *stats_path;
static char folder[] = "/tmp/heddle-store-XXXXXX";
static char path[96];
static struct workload w;

static int set_up(void **state)
{
    (void)state;
    static char self[] = "/proc/self/exe";
    w = kit_workload("bfs", self);
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* A store of its own for each test. */
static struct store *fresh(const char *name)
{
    char *error = NULL;
    snprintf(path, sizeof path, "%s/%s.db", folder, name);
    struct store *s = store_open(path, true, &error);
    if (!s) fail_msg("%s", error);
    return s;
}

static struct lab_job job_of(uint64_t seed)
{
    struct lab_job job = kit_job(&w, seed);
    assert_true(kit_seal(&job));
    return job;
}

static char *slurp(const char *file, size_t *len)
{
    struct strbuf text = {0};
    FILE *f = fopen(file, "r");
    assert_non_null(f);
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) strbuf_add(&text, block, n);
    fclose(f);
    if (len) *len = text.len;
    return text.data;
}

static void spill(const char *name, const char *text, char out[128])
{
    snprintf(out, 128, "%s/%s", folder, name);
    FILE *f = fopen(out, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void put(struct store *s, const struct lab_job *job, const struct store_outcome *o)
{
    char *error = NULL;
    if (!store_put(s, job, o, &error)) fail_msg("%s", error);
}

static const struct store_outcome *good(void)
{
    static struct store_outcome o;
    o = (struct store_outcome){.stats = stats_path, .seconds = 2.5, .peak_bytes = 4096, .host = "here"};
    return &o;
}

static bool keep_first(void *context, int columns, const char *const *values, const char *const *names)
{
    (void)columns, (void)names;
    snprintf(context, 256, "%s", values[0] ? values[0] : "NULL");
    return false;
}

/* The first value of the answer. */
static const char *ask(struct store *s, const char *sql)
{
    static char answer[256];
    char *error = NULL;
    *answer = 0;
    if (!store_query(s, sql, keep_first, answer, &error)) snprintf(answer, sizeof answer, "error: %s", error);
    free(error);
    return answer;
}

/* ---- what is put is there ---- */

static void check_number(struct store *s, const char *key, const char *name, const struct json_node *n,
                         uint32_t *checked)
{
    double got = store_stat(s, key, name);
    if (n->kind == JSON_NULL ? !isnan(got) : got != n->number) fail_msg("%s: stored as %g", name, got);
    ++*checked;
}

/* Every number of the total, bin by bin, against the JSON of a real run. */
static void every_statistic_of_a_real_run_comes_back(void **state)
{
    (void)state;
    size_t len;
    char *text = slurp(stats_path, &len);
    struct json_tree tree;
    struct diag_list diags = {0};
    assert_true(json_tree_parse(&tree, stats_path, text, len, &diags));
    struct store *s = fresh("every");
    struct lab_job job = job_of(1);
    put(s, &job, good());
    assert_int_equal(store_state(s, job.key), STORE_DONE);
    uint32_t checked = 0;
    const struct json_node *total = json_get(tree.root, "total"), *groups = json_get(total, "stats");
    for (uint32_t i = 0; i < total->count; i++)
        if (total->items[i].kind == JSON_NUMBER)
            check_number(s, job.key, total->items[i].key, &total->items[i], &checked);
    for (uint32_t g = 0; g < groups->count; g++)
        for (uint32_t i = 0; i < groups->items[g].count; i++) {
            const struct json_node *n = &groups->items[g].items[i];
            for (uint32_t k = 0; n->kind == JSON_LIST && k < n->count; k++) {
                char bin[160];
                snprintf(bin, sizeof bin, "%s[%u]", n->key, k);
                check_number(s, job.key, bin, &n->items[k], &checked);
            }
            if (n->kind != JSON_LIST) check_number(s, job.key, n->key, n, &checked);
        }
    assert_true(checked > 300);
    assert_true(store_stat(s, job.key, "host.seconds") == 2.5);
    assert_true(store_stat(s, job.key, "host.peak_bytes") == 4096);
    assert_true(isnan(store_stat(s, job.key, "l1.nothing")));
    assert_true(isnan(store_stat(s, "0123", "ipc")));
    store_close(s);
    json_tree_free(&tree);
    free(text);
}

static void the_document_is_the_json_without_its_legend(void **state)
{
    (void)state;
    size_t len;
    char *text = slurp(stats_path, &len);
    struct store *s = fresh("document");
    struct lab_job job = job_of(1);
    put(s, &job, good());
    struct strbuf got = {0};
    assert_true(store_document(s, job.key, &got));
    assert_true(json_is_valid(got.data));
    assert_null(json_at(got.data, "legend"));
    const char *cut = strstr(text, ",\n  \"legend\"");
    assert_non_null(cut);
    assert_memory_equal(text, got.data, (size_t)(cut - text));
    assert_string_equal(ask(s, "SELECT unit FROM legend WHERE name = 'sm.cycles'"), "cycles");
    strbuf_free(&got);
    store_close(s);
    free(text);
}

static void a_run_as_json(void **state)
{
    (void)state;
    struct store *s = fresh("json");
    struct lab_job job = job_of(1);
    put(s, &job, good());
    struct strbuf got = {0};
    assert_true(store_run_json(s, job.key, STORE_WHOLE, &got));
    const char *t = strbuf_text(&got);
    assert_true(json_is_valid(t));
    assert_true(json_text_is(t, "state", "\"done\""));
    assert_true(json_text_is(t, "settings", "[]"));
    assert_true(json_number_at(t, "cycles") == store_stat(s, job.key, "cycles"));
    assert_true(json_number_at(t, "stats/l1.aml") == store_stat(s, job.key, "l1.aml"));
    assert_non_null(json_at(t, "kernels/0/grid/2"));
    assert_non_null(json_at(t, "loads/0/miss_rate"));
    double shares = 0;
    for (int i = 0; i < 8; i++) {
        char at[32];
        snprintf(at, sizeof at, "stall/%d/share", i);
        shares += json_number_at(t, at);
    }
    assert_true(fabs(shares - 100) < 1e-6);
    assert_non_null(json_at(t, "series/cycles/2"));
    assert_non_null(json_at(t, "series/ipc/2"));
    assert_non_null(json_at(t, "series/l1.hit_rate/2"));
    got.len = 0;
    assert_false(store_run_json(s, "no such key", STORE_WHOLE, &got));
    strbuf_free(&got);
    store_close(s);
}

static void failed_runs_are_kept_with_error_and_log(void **state)
{
    (void)state;
    char log[128], bad[128];
    struct store *s = fresh("failed");
    struct lab_job a = job_of(1), b = job_of(2), c = job_of(3), d = job_of(4);
    spill("log", "first\nx.ptx:3: error: it's wrong\nlast\n", log);
    put(s, &a, &(struct store_outcome){.status = 2, .log = log, .host = "h"});
    assert_int_equal(store_state(s, a.key), STORE_FAILED);
    assert_string_equal(ask(s, "SELECT error FROM run"), "exit status 2: x.ptx:3: error: it's wrong");
    assert_string_equal(ask(s, "SELECT log FROM run"), "first\nx.ptx:3: error: it's wrong\nlast\n");
    spill("bad.json", "{\"schema\": 1,\n \"total\": }", bad);
    put(s, &b, &(struct store_outcome){.stats = bad});
    assert_int_equal(store_state(s, b.key), STORE_FAILED);
    assert_non_null(strstr(ask(s, "SELECT error FROM run WHERE seed = 2"), "bad.json:2:11: not valid JSON"));
    put(s, &c, &(struct store_outcome){.stats = "/nonexistent.json"});
    assert_non_null(strstr(ask(s, "SELECT error FROM run WHERE seed = 3"), "/nonexistent.json"));
    put(s, &d, &(struct store_outcome){.status = 128 + 9});
    assert_string_equal(ask(s, "SELECT error FROM run WHERE seed = 4"), "killed by signal 9");
    struct strbuf text = {0};
    assert_true(store_run_json(s, a.key, STORE_WHOLE, &text));
    assert_true(json_is_valid(strbuf_text(&text)));
    assert_true(json_text_is(strbuf_text(&text), "state", "\"failed\""));
    strbuf_free(&text);
    /* made again, and this time well */
    put(s, &a, good());
    assert_int_equal(store_state(s, a.key), STORE_DONE);
    assert_string_equal(ask(s, "SELECT coalesce(error, 'none') FROM run WHERE seed = 1"), "none");
    /* a done one stays */
    put(s, &a, &(struct store_outcome){.status = 2});
    assert_int_equal(store_state(s, a.key), STORE_DONE);
    store_close(s);
}

static void two_results_of_one_key_must_be_the_same(void **state)
{
    (void)state;
    char other[128], *text = slurp(stats_path, NULL), *hash = strstr(text, "\"hash\":\"") + 8, *error = NULL;
    struct store *s = fresh("twice");
    struct lab_job job = job_of(1);
    put(s, &job, good());
    put(s, &job, good());
    *hash = *hash == '0' ? '1' : '0';
    spill("other.json", text, other);
    assert_false(store_put(s, &job, &(struct store_outcome){.stats = other}, &error));
    assert_non_null(strstr(error, "different statistics"));
    free(error);
    assert_string_equal(ask(s, "SELECT count(*) FROM run"), "1");
    store_close(s);
    free(text);
}

static void parameters_are_there_as_they_were_resolved(void **state)
{
    (void)state;
    struct store *s = fresh("params");
    struct lab_job job = kit_job(&w, 0);
    const char *const sets[] = {"l1.mshrs=77", NULL}, *const mechs[] = {"swl", NULL},
                      *const of[] = {"swl.warps=5", NULL};
    job.run.sets = sets, job.run.mechs = mechs, job.run.mech_sets = of;
    assert_true(kit_seal(&job));
    put(s, &job, good());
    assert_string_equal(ask(s, "SELECT value FROM params WHERE name = 'l1.mshrs'"), "77");
    assert_string_equal(ask(s, "SELECT value + 0 FROM params WHERE name = 'l1.size'"), "16384");
    assert_string_equal(ask(s, "SELECT value FROM params WHERE name = 'swl.warps'"), "5");
    assert_string_equal(ask(s, "SELECT settings || mechs || mech_settings FROM run"),
                        "[\"l1.mshrs=77\"][\"swl\"][\"swl.warps=5\"]");
    store_close(s);
}

/* ---- leases ---- */

static void a_run_is_taken_once(void **state)
{
    (void)state;
    struct store *s = fresh("lease");
    struct lab_job job = job_of(1);
    assert_int_equal(store_state(s, job.key), STORE_ABSENT);
    assert_true(store_take(s, &job, "batch 1", 600));
    assert_int_equal(store_state(s, job.key), STORE_RUNNING);
    assert_false(store_take(s, &job, "batch 2", 600));
    assert_null(store_error(s));
    assert_true(store_take(s, &job, "batch 1", 600)); /* its own */
    store_give_up(s, job.key, "batch 2");             /* not its own */
    assert_int_equal(store_state(s, job.key), STORE_RUNNING);
    store_give_up(s, job.key, "batch 1");
    assert_int_equal(store_state(s, job.key), STORE_ABSENT);
    assert_string_equal(ask(s, "SELECT count(*) FROM run"), "0");
    assert_true(store_take(s, &job, "batch 2", 600));
    put(s, &job, good());
    assert_false(store_take(s, &job, "batch 1", 600));
    assert_string_equal(ask(s, "SELECT coalesce(who, 'nobody') FROM run"), "nobody");
    store_close(s);
}

static void a_failed_run_can_be_taken_and_given_up(void **state)
{
    (void)state;
    struct store *s = fresh("again");
    struct lab_job job = job_of(1);
    put(s, &job, &(struct store_outcome){.status = 3});
    assert_true(store_take(s, &job, "a", 600));
    assert_int_equal(store_state(s, job.key), STORE_RUNNING);
    store_give_up(s, job.key, "a");
    assert_int_equal(store_state(s, job.key), STORE_FAILED);
    assert_string_equal(ask(s, "SELECT error FROM run"), "exit status 3");
    store_close(s);
}

/* Time that has run out, without waiting for it. */
static void set_lease(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void old_leases_are_taken_over(void **state)
{
    (void)state;
    struct store *s = fresh("old");
    struct lab_job job = job_of(1);
    assert_true(store_take(s, &job, "batch 1", 600));
    set_lease("UPDATE run SET lease = lease - 700");
    assert_int_equal(store_state(s, job.key), STORE_ABSENT);
    store_hold(s, job.key, "batch 1", 600); /* late, but nobody took it */
    assert_int_equal(store_state(s, job.key), STORE_RUNNING);
    set_lease("UPDATE run SET lease = lease - 700");
    assert_true(store_take(s, &job, "batch 2", 600));
    store_hold(s, job.key, "batch 1", 6000);
    assert_string_equal(ask(s, "SELECT who FROM run WHERE lease < strftime('%s') + 601"), "batch 2");
    store_close(s);
}

static void the_lease_of_a_process_ends_with_it(void **state)
{
    (void)state;
    struct store *s = fresh("gone");
    struct lab_job job = job_of(1);
    assert_true(store_take(s, &job, NULL, 600));
    store_close(s);
    pid_t child = fork();
    if (child == 0) { /* another process: the lease of its parent, which lives, is not its own */
        char *error = NULL;
        struct store *mine = store_open(path, true, &error);
        bool taken = store_take(mine, &job, NULL, 600);
        struct lab_job second = kit_job(&w, 2);
        bool own = kit_seal(&second) && store_take(mine, &second, NULL, 600);
        _exit(taken ? 1 : own ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    char *error = NULL;
    s = store_open(path, true, &error);
    assert_non_null(s);
    struct lab_job second = job_of(2);
    assert_string_equal(ask(s, "SELECT count(*) FROM run WHERE state = 'running'"), "2");
    assert_int_equal(store_state(s, job.key), STORE_RUNNING);
    assert_int_equal(store_state(s, second.key), STORE_ABSENT); /* the child is gone */
    assert_true(store_take(s, &second, NULL, 600));
    store_close(s);
}

/* ---- changed inputs ---- */

static void a_program_that_changed_while_it_ran_is_no_result(void **state)
{
    (void)state;
    char program[128];
    spill("program", "one", program);
    struct workload own = kit_workload("own", program);
    struct lab_job job = kit_job(&own, 0);
    assert_true(kit_seal(&job));
    struct store *s = fresh("changed");
    spill("program", "two", program);
    assert_false(store_take(s, &job, NULL, 600));
    assert_non_null(strstr(store_error(s), "changed"));
    put(s, &job, good());
    assert_int_equal(store_state(s, job.key), STORE_FAILED);
    assert_non_null(strstr(ask(s, "SELECT error FROM run"), "changed"));
    store_close(s);
}

/* ---- questions ---- */

static void questions_cannot_change_the_store(void **state)
{
    (void)state;
    static const char *const wrong[] = {"DELETE FROM run",
                                        "DROP TABLE run",
                                        "CREATE TEMP TABLE x(a)",
                                        "PRAGMA user_version = 7",
                                        "ATTACH 'x.db' AS x",
                                        "BEGIN",
                                        "SELECT 1; DELETE FROM run",
                                        "WITH x AS (SELECT 1) UPDATE run SET seed = 3",
                                        "SELEC",
                                        "",
                                        "SELECT load_extension('x')"};
    struct store *s = fresh("questions");
    struct lab_job job = job_of(1);
    put(s, &job, good());
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        if (strncmp(ask(s, wrong[i]), "error: ", 7)) fail_msg("went through: %s", wrong[i]);
    assert_string_equal(ask(s, "SELECT count(*) FROM runs"), "1");
    assert_string_equal(ask(s, "SELECT workload FROM stats WHERE name = 'ipc'"), "bfs");
    store_close(s);
}

/* ---- files that are none ---- */

static void refused(const char *file, bool may_write, const char *says)
{
    char *error = NULL;
    struct store *s = store_open(file, may_write, &error);
    assert_null(s);
    if (!strstr(error, says)) fail_msg("no \"%s\" in: %s", says, error);
    free(error);
}

static void make_sqlite(char file[128], const char *name, const char *sql)
{
    sqlite3 *db;
    snprintf(file, 128, "%s/%s", folder, name);
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void other_files_are_refused_and_stay_as_they_are(void **state)
{
    (void)state;
    char text[128], foreign[128], newer[128], *before, *after;
    size_t n, m;
    spill("notes.txt",
          "This is a letter to my grandmother, and longer than a hundred bytes, so that it cannot be "
          "taken for an empty file.\n",
          text);
    make_sqlite(foreign, "foreign.db", "CREATE TABLE t(a)");
    make_sqlite(newer, "newer.db",
                "PRAGMA application_id = 0x48645374; PRAGMA user_version = 99; CREATE TABLE t(a)");
    const char *const files[] = {text, foreign, newer};
    const char *const says[] = {"not an SQLite file", "of another program",
                                "schema 99, made by a newer Heddle"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        before = slurp(files[i], &n);
        refused(files[i], true, says[i]);
        refused(files[i], false, says[i]);
        after = slurp(files[i], &m);
        assert_int_equal(n, m);
        assert_memory_equal(before, after, n);
        free(before);
        free(after);
    }
    refused("/nonexistent/x.db", true, "x.db");
    refused("/nonexistent/x.db", false, "cannot open /nonexistent/x.db: No such file");
    refused(folder, true, "not a plain file");
}

static void a_damaged_store_is_an_error(void **state)
{
    (void)state;
    struct store *s = fresh("damaged");
    for (uint64_t seed = 1; seed < 5; seed++) {
        struct lab_job job = job_of(seed);
        put(s, &job, good());
    }
    store_close(s);
    char copy[128];
    snprintf(copy, sizeof copy, "%s", path);
    assert_int_equal(truncate(copy, 4096 * 3), 0);
    char *error = NULL;
    s = store_open(copy, false, &error);
    if (s) { /* the first pages are whole: the damage is found where it is read */
        assert_non_null(strstr(ask(s, "SELECT count(*), sum(value) FROM stat"), "error: "));
        store_close(s);
    } else {
        assert_non_null(strstr(error, copy));
        free(error);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    stats_path = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statistic_of_a_real_run_comes_back),
        cmocka_unit_test(the_document_is_the_json_without_its_legend),
        cmocka_unit_test(a_run_as_json),
        cmocka_unit_test(failed_runs_are_kept_with_error_and_log),
        cmocka_unit_test(two_results_of_one_key_must_be_the_same),
        cmocka_unit_test(parameters_are_there_as_they_were_resolved),
        cmocka_unit_test(a_run_is_taken_once),
        cmocka_unit_test(a_failed_run_can_be_taken_and_given_up),
        cmocka_unit_test(old_leases_are_taken_over),
        cmocka_unit_test(the_lease_of_a_process_ends_with_it),
        cmocka_unit_test(a_program_that_changed_while_it_ran_is_no_result),
        cmocka_unit_test(questions_cannot_change_the_store),
        cmocka_unit_test(other_files_are_refused_and_stay_as_they_are),
        cmocka_unit_test(a_damaged_store_is_an_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
