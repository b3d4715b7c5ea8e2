/* The loads of a run's page: launches of one kernel are added up, and what a load does not have is left
 * out. */
#include "lab_kit.h"

#include "../unit/json_check.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#define LOAD(pc, lines, misses, rest)                                                                        \
    "{\"pc\":" #pc ",\"executions\":10,\"lines\":" #lines ",\"share\":1,\"miss_rate\":" #misses              \
    ",\"merge_rate\":0.5,\"unique_share\":0.25,\"stride_share\":0.5" rest "}"
#define KERNEL(id, name, loads) "{\"id\":" #id ",\"name\":\"" name "\",\"loads\":[" loads "]}"

/* `a` is launched twice. Its load at 8 loses 40 + 60 lines: 30 to the load at 16, then 24 to that at 24. */
static const char document[] = "{\"schema\":1,\"hash\":\"1\",\"total\":{\"stats\":{\"sm.cycles\":1}},"
                               "\"kernels\":[" KERNEL(
                                   1, "a",
                                   LOAD(
                                       8, 100, 0.5,
                                       ",\"stride\":128,\"evicted\":40,\"evictor_pc\":16,\"evictor_share\":0."
                                       "75,\"prefetches\":10,"
                                       "\"prefetch_useful\":4,\"prefetch_late\":1,\"ptx_line\":7,\"cuda_"
                                       "line\":3") "," LOAD(16, 50, 1,
                                                            ",\"stride\":4,\"evicted\":0,\"ptx_line\":9,"
                                                            "\"cuda_line\":0")) "," KERNEL(2, "b",
                                                                                           LOAD(
                                                                                               8, 10, 0,
                                                                                               ",\"stride\":"
                                                                                               "0")) "," KERNEL(3,
                                                                                                                "a",
                                                                                                                LOAD(
                                                                                                                    8,
                                                                                                                    300,
                                                                                                                    0.1,
                                                                                                                    ",\"stride\":64,\"evicted\":60,\"evictor_pc\":24,\"evictor_share\":0.4,\"prefetches\":30,"
                                                                                                                    "\"prefetch_useful\":6,\"prefetch_late\":9,\"ptx_line\":7,\"cuda_line\":3")) "]}";

static char folder[] = "/tmp/heddle-loads-XXXXXX";

static int set_up(void **state) { return mkdtemp(folder) ? 0 : -1; }

static int tear_down(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* The run of the document as JSON. */
static void get_run(struct strbuf *out)
{
    static char self[] = "/proc/self/exe";
    const struct workload w = kit_workload("bfs", self);
    struct lab_job job = kit_job(&w, 1);
    char path[64], stats[64], *error = NULL;
    snprintf(path, sizeof path, "%s/s.db", folder);
    snprintf(stats, sizeof stats, "%s/s.json", folder);
    FILE *f = fopen(stats, "w");
    assert_non_null(f);
    fputs(document, f);
    fclose(f);
    assert_true(kit_seal(&job));
    struct store *s = store_open(path, true, &error);
    assert_non_null(s);
    assert_true(store_put(s, &job, &(struct store_outcome){.stats = stats, .host = "h"}, &error));
    assert_true(store_run_json(s, job.key, out));
    store_close(s);
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

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_a_kernel_are_added_up),
        cmocka_unit_test(what_a_load_does_not_have_is_left_out),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
