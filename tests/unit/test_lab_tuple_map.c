/* test_lab_tuple_map.c: maps of warp tuples: launches of several sizes together, Poise's notes, what is
 * printed. */
#include "lab/tuple_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Two launches, one with fewer warps. */
static const char profile_text[] = "heddle-profile 1\n"
                                   "machine kepler\n"
                                   "warps 24\n"
                                   "kernel app tiny 1 4 1000 f\n"
                                   "all 1 1 1 1 1 1 1\n"
                                   "one 1 1 1 1 1 1 1\n"
                                   "n 1 1:2000\n"
                                   "n 4 1:500 4:1000\n"
                                   "kernel app tiny 3 2 3000 g\n"
                                   "all 1 1 1 1 1 1 1\n"
                                   "one 1 1 1 1 1 1 1\n"
                                   "n 1 1:4000\n"
                                   "n 2 1:1500 2:3000\n";

/* Launch 2 is not in the profile: its notes do not count. */
static const char run_text[] =
    "{\"kernels\": [{\"id\": 1, \"name\": \"f\", \"start_cycle\": 0, \"end_cycle\": 900, \"cycles\": 900},"
    "{\"id\": 2, \"name\": \"x\", \"start_cycle\": 901, \"end_cycle\": 1000, \"cycles\": 99},"
    "{\"id\": 3, \"name\": \"g\", \"start_cycle\": 1001, \"end_cycle\": 2101, \"cycles\": 1100}],"
    "\"events\": [{\"cycle\": 10, \"sm\": 2, \"mechanism\": \"poise\", \"kind\": \"predict\", \"a\": 4, "
    "\"b\": 1},"
    "{\"cycle\": 10, \"sm\": 2, \"mechanism\": \"poise\", \"kind\": \"visit\", \"a\": 4, \"b\": 1},"
    "{\"cycle\": 11, \"sm\": 3, \"mechanism\": \"other\", \"kind\": \"predict\", \"a\": 4, \"b\": 1},"
    "{\"cycle\": 20, \"sm\": 2, \"mechanism\": \"poise\", \"kind\": \"visit\", \"a\": 3, \"b\": 1},"
    "{\"cycle\": 30, \"sm\": 2, \"mechanism\": \"poise\", \"kind\": \"settle\", \"a\": 3, \"b\": 1},"
    "{\"cycle\": 950, \"sm\": 2, \"mechanism\": \"poise\", \"kind\": \"predict\", \"a\": 1, \"b\": 1},"
    "{\"cycle\": 1500, \"sm\": 2, \"mechanism\": \"poise\", \"kind\": \"predict\", \"a\": 2, \"b\": 1}],"
    "\"events_dropped\": 5}";

static struct profile profile;
static struct tuple_map map;
static struct json_tree run;

static int setup(void **unused)
{
    struct diag_list diags = {0};
    assert_true(profile_read(&profile, "p", profile_text, strlen(profile_text), &diags));
    assert_true(json_tree_parse(&run, "run", run_text, strlen(run_text), &diags));
    tuple_map_make(&map, &profile);
    tuple_map_add_poise(&map, &profile, run.root);
    return 0;
}

static int teardown(void **unused)
{
    tuple_map_free(&map);
    json_tree_free(&run);
    profile_free(&profile);
    return 0;
}

static const struct map_tuple *at(uint32_t n, uint32_t p)
{
    for (uint32_t i = 0; i < map.tuples.len; i++)
        if (map.tuples.data[i].n == n && map.tuples.data[i].p == p) return &map.tuples.data[i];
    return NULL;
}

static void near(double got, double want)
{
    if (!(fabs(got - want) < 1e-9)) fail_msg("%.9g instead of %.9g", got, want);
}

static void launches_count_together_each_at_its_own_tuple(void **unused)
{
    near(at(1, 1)->speedup, 4000.0 / 6000);
    near(at(4, 1)->speedup, 4000.0 / 2000); /* the second launch runs at (2, 1) */
    near(at(4, 4)->speedup, 1);
    assert_ptr_equal(tuple_map_fastest(&map), at(4, 1));
    assert_int_equal(map.warps, 4);
    assert_int_equal(map.launches, 2);
    assert_int_equal(map.left_out, 0);
    assert_int_equal(map.cycles, 4000);
}

/* A third launch that was only seen with all warps. */
static void launches_that_some_run_lacks_are_left_out(void **unused)
{
    struct profile half;
    struct tuple_map m;
    struct diag_list diags = {0};
    struct strbuf text = {0}, out = {0};
    strbuf_puts(&text, profile_text);
    strbuf_puts(&text, "kernel app tiny 5 4 7000 f\nall 1 1 1 1 1 1 1\none 1 1 1 1 1 1 1\nn 4 4:7000\n");
    assert_true(profile_read(&half, "p", strbuf_text(&text), text.len, &diags));
    tuple_map_make(&m, &half);
    assert_int_equal(m.launches, 2);
    assert_int_equal(m.left_out, 1);
    assert_int_equal(m.cycles, 4000);
    tuple_map_print(&m, &out);
    assert_non_null(strstr(strbuf_text(&out), "1 launch is left out: not in all runs"));
    tuple_map_free(&m);
    profile_free(&half);
    strbuf_free(&text);
    strbuf_free(&out);
}

static void notes_of_poise_count_where_they_were_made(void **unused)
{
    assert_int_equal(at(4, 1)->predicted, 1);
    assert_int_equal(at(4, 1)->visited, 1);
    assert_int_equal(at(3, 1)->settled, 1);
    assert_true(isnan(at(3, 1)->speedup));
    assert_int_equal(at(1, 1)->predicted, 0);
    assert_int_equal(at(2, 1)->predicted, 1);
    assert_int_equal(map.path.len, 5);
    assert_int_equal(map.dropped, 5);
    near(map.poise_speedup, 4000.0 / 2000);
}

static void regret_is_against_the_best_tuple_of_the_launch(void **unused)
{
    const struct profile_kernel *f = &profile.kernels.data[0], *g = &profile.kernels.data[1];
    near(tuple_regret(f, 4, 1), 0);
    near(tuple_regret(f, 4, 4), 1000.0 / 500 - 1);
    near(tuple_regret(f, 2, 1), 2000.0 / 500 - 1); /* (1, 1) is nearer than (4, 1) */
    near(tuple_regret(g, 2, 2), 3000.0 / 1500 - 1);
}

/* Two SMs in launch 1: the first predicts (4, 4) and settles at (4, 1), then predicts (4, 1); the second
 * predicts (1, 1). */
static void regret_is_a_mean_of_the_sms_by_epoch(void **unused)
{
#define NOTE(sm, kind, n, p)                                                                                 \
    "{\"cycle\": 10, \"sm\": " sm ", \"mechanism\": \"poise\", \"kind\": \"" kind "\", \"a\": " n            \
    ", \"b\": " p "}"
    static const char text[] =
        "{\"kernels\": [{\"id\": 1, \"name\": \"f\", \"start_cycle\": 0, \"end_cycle\": 900, \"cycles\": "
        "900}], \"events\": [" NOTE("0", "predict", "4", "4") "," NOTE("1", "predict", "1", "1") "," NOTE(
            "0", "settle", "4", "1") "," NOTE("0", "predict", "4", "1") "]}";
    struct json_tree tree;
    struct tuple_map m;
    struct diag_list diags = {0};
    struct strbuf out = {0};
    assert_true(json_tree_parse(&tree, "run", text, strlen(text), &diags));
    tuple_map_make(&m, &profile);
    tuple_map_add_poise(&m, &profile, tree.root);
    assert_int_equal(m.epochs.len, 2);
    const struct map_epoch *first = &m.epochs.data[0], *second = &m.epochs.data[1];
    assert_true(first->epoch == 1 && first->predictions == 2 && first->settlements == 1);
    near(first->predicted, (1.0 + 3.0) / 2);
    near(first->settled, 0);
    assert_true(second->epoch == 2 && second->predictions == 1 && !second->settlements);
    near(second->predicted, 0);
    tuple_map_print(&m, &out);
    assert_non_null(strstr(strbuf_text(&out), "     1      1     200.0%       0.0%  f\n"));
    assert_non_null(strstr(strbuf_text(&out), "     1      2       0.0%          -  f\n"));
    strbuf_free(&out);
    tuple_map_free(&m);
    json_tree_free(&tree);
}

static void the_table_marks_the_fastest_and_poises_tuples(void **unused)
{
    struct strbuf out = {0};
    tuple_map_print(&map, &out);
    const char *text = strbuf_text(&out);
    /* rows of p, columns of N; the mark of (3, 1) stands at the nearest tuple that was measured, (4, 1) */
    assert_non_null(strstr(text, "   4 |           100  \n"));
    assert_non_null(strstr(text, "   1 |    67 +   200*@\n"));
    assert_non_null(strstr(text, "   N       1       4  \n"));
    assert_non_null(strstr(text, "fastest    2.000 at (4, 1)\n"));
    assert_non_null(strstr(text, "Poise      2.000\n"));
    assert_non_null(strstr(text, "predicted (2, 1) 50%, (4, 1) 50%; 2 in all\n"));
    assert_non_null(
        strstr(text, "SM 2, first epoch: predicted (4, 1) then (4, 1) then (3, 1) settled at (3, 1)\n"));
    assert_non_null(strstr(text, "5 more notes were not kept\n"));
    strbuf_free(&out);
}

static void the_json_can_be_read(void **unused)
{
    struct strbuf out = {0};
    struct json_tree tree;
    struct diag_list diags = {0};
    tuple_map_json(&map, &out);
    assert_true(json_tree_parse(&tree, "map", strbuf_text(&out), out.len, &diags));
    assert_int_equal(json_get(tree.root, "tuples")->count, map.tuples.len);
    assert_int_equal(json_get(tree.root, "path")->count, 5);
    assert_string_equal(json_get_text(&json_get(tree.root, "path")->items[3], "kind", ""), "settle");
    assert_true(json_get_number(tree.root, "poise_speedup", 0) == 2);
    json_tree_free(&tree);
    strbuf_free(&out);
}

static void the_picture_has_a_circle_a_tuple(void **unused)
{
    struct strbuf out = {0};
    uint32_t circles = 0, rings = 0, crosses = 0;
    tuple_map_svg(&map, &out);
    for (const char *c = strbuf_text(&out); (c = strstr(c, "<circle")); c++) circles++;
    for (const char *c = strbuf_text(&out); (c = strstr(c, "settled 1 times")); c++) rings++;
    for (const char *c = strbuf_text(&out); (c = strstr(c, "predicted 1 times")); c++) crosses++;
    assert_int_equal(rings, 1);
    assert_int_equal(crosses, 2);
    assert_int_equal(circles, 4); /* (1, 1), (4, 1), (4, 4), and the ring */
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_count_together_each_at_its_own_tuple),
        cmocka_unit_test(launches_that_some_run_lacks_are_left_out),
        cmocka_unit_test(notes_of_poise_count_where_they_were_made),
        cmocka_unit_test(regret_is_against_the_best_tuple_of_the_launch),
        cmocka_unit_test(regret_is_a_mean_of_the_sms_by_epoch),
        cmocka_unit_test(the_table_marks_the_fastest_and_poises_tuples),
        cmocka_unit_test(the_json_can_be_read),
        cmocka_unit_test(the_picture_has_a_circle_a_tuple),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
