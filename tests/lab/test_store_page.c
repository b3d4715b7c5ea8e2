/* What the page of a run shows: launches of one kernel are added up, and what a load does not have is left
 * out; who shares with whom, SM by SM; where Poise went. */
#include "lab_kit.h"

#include "../unit/json_check.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

/* page_stats.json: the kernel `a` is launched twice. Its load at 8 loses 40 + 60 lines: 30 to the load at 16,
 * then 24 to that at 24. */
static const char stats[] = HEDDLE_SOURCE_DIR "/tests/lab/page_stats.json";
static char folder[] = "/tmp/heddle-page-XXXXXX";

static int set_up(void **state) { return mkdtemp(folder) ? 0 : -1; }

static int tear_down(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void get_run_of(const struct store_outcome *o, struct strbuf *out)
{
    static char self[] = "/proc/self/exe";
    const struct workload w = kit_workload("bfs", self);
    struct lab_job job = kit_job(&w, 1);
    char path[64], *error = NULL;
    snprintf(path, sizeof path, "%s/s.db", folder);
    assert_true(kit_seal(&job));
    struct store *s = store_open(path, true, &error);
    assert_non_null(s);
    assert_true(store_put(s, &job, o, &error));
    assert_true(store_run_json(s, job.key, STORE_WHOLE, out));
    store_close(s);
}

/* The run of these statistics as JSON. */
static void get_run(struct strbuf *out)
{
    get_run_of(&(struct store_outcome){.stats = stats, .host = "h"}, out);
}

static void expect_number(const char *text, const char *at, double wanted)
{
    const double got = json_number_at(text, at);
    if (!(fabs(got - wanted) < 1e-9)) fail_msg("%s is %g, not %g", at, got, wanted);
}

static void launches_of_a_kernel_are_added_up(void **state)
{
    struct strbuf run = {0};
    get_run(&run);
    const char *t = strbuf_text(&run);
    assert_true(json_is_valid(t));
    assert_true(json_text_is(t, "loads/0/kernel", "\"a\""));
    expect_number(t, "loads/0/pc", 8);
    expect_number(t, "loads/0/executions", 20);
    expect_number(t, "loads/0/lines", 400);
    expect_number(t, "loads/0/share", 400.0 / 460);
    expect_number(t, "loads/0/lines_per_load", 20);
    expect_number(t, "loads/0/miss_rate", (50.0 + 30) / 400);
    expect_number(t, "loads/0/merge_rate", 0.5);
    expect_number(t, "loads/0/stride", 64);
    expect_number(t, "loads/0/evicted", 100);
    expect_number(t, "loads/0/evictor_pc", 16);
    expect_number(t, "loads/0/evictor_share", 0.3);
    expect_number(t, "loads/0/prefetches", 40);
    expect_number(t, "loads/0/prefetch_useful", 10);
    expect_number(t, "loads/0/prefetch_late", 10);
    expect_number(t, "loads/0/cuda_line", 3);
    strbuf_free(&run);
}

static void what_a_load_does_not_have_is_left_out(void **state)
{
    struct strbuf run = {0};
    get_run(&run);
    const char *t = strbuf_text(&run);
    expect_number(t, "loads/1/pc", 16);
    expect_number(t, "loads/1/ptx_line", 9);
    assert_null(json_at(t, "loads/1/evicted"));
    assert_null(json_at(t, "loads/1/prefetches"));
    assert_null(json_at(t, "loads/1/cuda_line"));
    assert_true(json_text_is(t, "loads/2/kernel", "\"b\""));
    assert_null(json_at(t, "loads/3"));
    strbuf_free(&run);
}

/* Of four SMs that the statistic has room for, the first two are in it. */
static void the_matrix_of_sharing_has_the_sms_that_are_in_it(void **state)
{
    struct strbuf run = {0};
    get_run(&run);
    const char *t = strbuf_text(&run);
    assert_true(json_text_is(t, "sharing", "[[0,7],[5,0]]"));
    strbuf_free(&run);
}

/* Predicted twice at {3, 3} and once at {1, 1}; the path is that of SM 4 until it settles. */
static void poise_tells_where_it_went(void **state)
{
    struct strbuf run = {0};
    get_run(&run);
    assert_true(json_text_is(strbuf_text(&run), "tuples",
                             "{\"places\":[[3,3,2,0],[5,3,0,1],[2,1,0,1],[1,1,1,0]],"
                             "\"path\":[[3,3],[5,3],[5,3]]}"));
    strbuf_free(&run);
}

/* What a sweep made is named without the folders above its store; other paths stay. */
static void folders_of_a_store_are_not_shown(void **state)
{
    static const char log[] = "a \"b=/home/u/big.db.work/t-1.txt\" r.db.work/m /x/y.yaml /big.db.work/k.json";
    char path[64];
    struct strbuf run = {0};
    snprintf(path, sizeof path, "%s/run.log", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(log, file);
    assert_int_equal(fclose(file), 0);
    get_run_of(&(struct store_outcome){.status = 1, .log = path, .host = "h"}, &run);
    const char *t = strbuf_text(&run);
    assert_true(json_is_valid(t));
    assert_non_null(strstr(t, "a \\\"b=big.db.work/t-1.txt\\\" r.db.work/m /x/y.yaml big.db.work/k.json"));
    assert_null(strstr(t, "/home/u"));
    strbuf_free(&run);
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_of_a_store_are_not_shown),
        cmocka_unit_test(launches_of_a_kernel_are_added_up),
        cmocka_unit_test(what_a_load_does_not_have_is_left_out),
        cmocka_unit_test(poise_tells_where_it_went),
        cmocka_unit_test(the_matrix_of_sharing_has_the_sms_that_are_in_it),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
