/* test_lab_profile.c: profiles of warp tuples: the file and what is wrong with one, the grid, the score. */
#include "lab/profile.h"

#include "lab/profile_score.h"
#include "lab/profile_table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char small_file[] = "heddle-profile 1\n"
                                 "machine kepler l1.size=32K\n"
                                 "simulator 0.1.0 abc\n"
                                 "warps 24\n"
                                 "kernel bfs small 7 5 5000 void f<int, 3>(int*)\n"
                                 "all 1 2 3 4 5 6 7\n"
                                 "one 11 12 13 14 15 16 17\n"
                                 "n 1 1:9000\n"
                                 "n 4 1:6000 4:4000\n"
                                 "n 5 1:7000 4:4500 5:5000\n"
                                 "kernel nn tiny 1 1 800 g\n"
                                 "all 1 2 3 4 5 6 7\n"
                                 "one 1 2 3 4 5 6 7\n"
                                 "n 1 1:800\n";

static bool read(struct profile *p, const char *text, struct diag_list *diags)
{
    return profile_read(p, "x.profile", text, strlen(text), diags);
}

static void a_file_reads_as_it_was_written(void **unused)
{
    struct diag_list diags = {0};
    struct profile p;
    struct strbuf out = {0};
    assert_true(read(&p, small_file, &diags));
    assert_int_equal(p.kernels.len, 2);
    const struct profile_kernel *k = &p.kernels.data[0];
    assert_string_equal(k->name, "void f<int, 3>(int*)");
    assert_int_equal(k->launch, 7);
    assert_int_equal(k->points.len, 6);
    assert_int_equal(k->all.latency_count, 7);
    assert_int_equal(k->one.issued, 11);
    assert_int_equal(profile_find(k, 4, 4)->cycles, 4000);
    assert_null(profile_find(k, 4, 3));
    assert_true(fabs(profile_speedup(k, profile_find(k, 4, 4)) - 1.25) < 1e-12);
    profile_write(&p, &out);
    assert_string_equal(strbuf_text(&out), small_file);
    strbuf_free(&out);
    profile_free(&p);
}

static void comments_and_empty_lines_are_skipped(void **unused)
{
    struct diag_list diags = {0};
    struct profile p;
    struct strbuf text = {0};
    strbuf_puts(&text, "# made by hand\n\n");
    strbuf_puts(&text, small_file);
    strbuf_puts(&text, "  \t\n# end");
    assert_true(read(&p, strbuf_text(&text), &diags));
    assert_int_equal(p.kernels.len, 2);
    strbuf_free(&text);
    profile_free(&p);
}

/* small_file with the first `from` replaced by `to`. */
static void changed(const char *from, const char *to, struct strbuf *out)
{
    const char *at = strstr(small_file, from);
    assert_non_null(at);
    strbuf_add(out, small_file, (size_t)(at - small_file));
    strbuf_puts(out, to);
    strbuf_puts(out, at + strlen(from));
}

static void refused_at(const char *text, int line, const char *what)
{
    struct diag_list diags = {0};
    struct profile p;
    assert_false(read(&p, text, &diags));
    assert_int_equal(diags.items.len, 1);
    const struct diag *d = &diags.items.data[0];
    if (d->line != line || !strstr(d->message, what)) fail_msg("%d: %s, not %s", d->line, d->message, what);
    assert_string_equal(d->file, "x.profile");
    diag_free(&diags);
    profile_free(&p);
}

static void what_is_wrong_is_named_with_its_line(void **unused)
{
    static const struct {
        const char *from, *to;
        int line;
        const char *what;
    } cases[] = {
        {"heddle-profile 1", "heddle-profile 2", 1, "a profile begins with"},
        {"warps 24", "warps 65", 4, "a number from 1 to 64"},
        {"warps 24", "warps 24 25", 4, "too long"},
        {"warps 24", "warps -3", 4, "a number from 1 to 64"},
        {"warps 24\n", "", 4, "stand before the kernels"},
        {"7 5 5000", "0 5 5000", 5, "a number from 1"},
        {"7 5 5000", "7 25 5000", 5, "a number from 1 to 24"},
        {" void f<int, 3>(int*)", "", 5, "name is missing"},
        {"all 1 2 3 4 5 6 7", "all 1 2 3 4 5 6", 6, "a number from 0"},
        {"all 1 2 3 4 5 6 7", "all 1 2 3 4 5 6 7 8", 6, "too long"},
        {"one 11", "all 11", 7, "twice"},
        {"one 11 12 13 14 15 16 17\n", "", 10, "no line 'all' or 'one'"},
        {"n 1 1:9000", "n 1 2:9000", 8, "p from 1 to N"},
        {"n 1 1:9000", "n 1 1=9000", 8, "p from 1 to N"},
        {"n 1 1:9000", "n 1 1:0", 8, "p from 1 to N"},
        {"n 1 1:9000", "n 1", 8, "must be here"},
        {"n 1 1:9000", "n 6 1:9000", 8, "a number from 1 to 5"},
        {"n 4 1:6000", "n 1 1:6000", 9, "twice"},
        {" 5:5000\n", "\n", 11, "no cycles at its largest tuple"},
        {"n 1 1:9000", "m 1 1:9000", 8, "no line begins with this word"},
        {"simulator 0.1.0 abc", "one 1 2 3 4 5 6 7", 3, "no kernel above"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct strbuf text = {0};
        changed(cases[i].from, cases[i].to, &text);
        refused_at(strbuf_text(&text), cases[i].line, cases[i].what);
        strbuf_free(&text);
    }
    refused_at("heddle-profile 1\nmachine kepler\nwarps 24\n", 3, "no kernel");
    refused_at("", 1, "no kernel");
}

static void a_missing_file_is_named(void **unused)
{
    struct diag_list diags = {0};
    struct profile p;
    assert_false(profile_load(&p, "/nonexistent/x.profile", &diags));
    assert_non_null(strstr(diags.items.data[0].message, "/nonexistent/x.profile"));
    diag_free(&diags);
    profile_free(&p);
}

static void the_grid_has_one_and_all(void **unused)
{
    uint32_t values[PROFILE_WARPS_MAX];
    assert_int_equal(profile_grid(24, 1, values), 24);
    assert_int_equal(profile_grid(24, 3, values), 9);
    assert_int_equal(values[7], 22);
    assert_int_equal(values[8], 24);
    assert_int_equal(profile_grid(7, 3, values), 3);
    assert_int_equal(values[2], 7);
    assert_int_equal(profile_grid(1, 5, values), 1);
    assert_int_equal(profile_grid(64, 1, values), 64);
}

/* ---- the score ---- */

/* All tuples up to `warps`, each with the speed-up that `of` gives it. */
static struct profile_kernel surface(uint32_t warps, uint32_t step, double (*of)(uint32_t n, uint32_t p))
{
    struct profile_kernel k = {.warps = warps, .cycles = 1000000, .workload = "", .name = ""};
    uint32_t values[PROFILE_WARPS_MAX], count = profile_grid(warps, step, values);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j <= i; j++)
            profile_add_point(
                &k, (struct profile_point){values[i], values[j], (uint64_t)(1e6 / of(values[i], values[j]))});
    return k;
}

/* Figure 5.7a: the peak at (6, 5) stands at a cliff; around (8, 8) it is 6% everywhere. */
static double cliff(uint32_t n, uint32_t p)
{
    if (n == 6 && p == 5) return 1.08;
    if (n < 7) return 0.80;
    if (n <= 9 && p >= 7) return n == 8 && p == 8 ? 1.06 : 1.05;
    return 1.0;
}

static void the_score_avoids_cliffs(void **unused)
{
    struct profile_kernel k = surface(24, 1, cliff);
    const struct profile_point *target = profile_target(&k), *fastest = profile_fastest(&k);
    assert_true(fastest->n == 6 && fastest->p == 5);
    assert_true(target->n == 8 && target->p == 8);
    vec_free(&k.points);
}

/* Missing neighbours do not count: a corner is as good as the inside. */
static double flat(uint32_t n, uint32_t p) { return 1.25; }

static void scores_are_normalised_to_the_neighbours_there_are(void **unused)
{
    struct profile_kernel k = surface(8, 1, flat);
    for (uint32_t i = 0; i < k.points.len; i++)
        assert_true(fabs(profile_score(&k, &k.points.data[i]) - 1.25) < 1e-5);
    vec_free(&k.points);
}

static double ramp(uint32_t n, uint32_t p) { return 1 + 0.01 * n + 0.1 * p; }

static void weights_are_those_of_table_5_5(void **unused)
{
    struct profile_kernel k = surface(3, 1, ramp);
    /* (2, 1): itself; (1, 1), (3, 1), (2, 2) beside it; (3, 2) and no (1, 2) across */
    const double want = (ramp(2, 1) + 0.5 * (ramp(1, 1) + ramp(3, 1) + ramp(2, 2)) + 0.25 * ramp(3, 2)) /
                        (1 + 3 * 0.5 + 0.25);
    assert_true(fabs(profile_score(&k, profile_find(&k, 2, 1)) - want) < 1e-5);
    vec_free(&k.points);
}

static void neighbours_are_the_next_values_that_were_tried(void **unused)
{
    struct profile_kernel k = surface(8, 3, ramp); /* 1, 4, 7, 8 */
    const double want =
        (ramp(7, 1) + 0.5 * (ramp(4, 1) + ramp(8, 1) + ramp(7, 4)) + 0.25 * (ramp(4, 4) + ramp(8, 4))) /
        (1 + 3 * 0.5 + 2 * 0.25);
    assert_true(fabs(profile_score(&k, profile_find(&k, 7, 1)) - want) < 1e-5);
    vec_free(&k.points);
}

static void the_table_has_a_line_a_launch(void **unused)
{
    struct diag_list diags = {0};
    struct profile p;
    struct strbuf out = {0};
    assert_true(read(&p, small_file, &diags));
    profile_print(&p, &out);
    assert_non_null(strstr(strbuf_text(&out),
                           "bfs               7 void f<int, 3>(int*)       5       5000   (4, 4)  1.250"));
    strbuf_free(&out);
    profile_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_reads_as_it_was_written),
        cmocka_unit_test(comments_and_empty_lines_are_skipped),
        cmocka_unit_test(what_is_wrong_is_named_with_its_line),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(the_grid_has_one_and_all),
        cmocka_unit_test(the_score_avoids_cliffs),
        cmocka_unit_test(scores_are_normalised_to_the_neighbours_there_are),
        cmocka_unit_test(weights_are_those_of_table_5_5),
        cmocka_unit_test(neighbours_are_the_next_values_that_were_tried),
        cmocka_unit_test(the_table_has_a_line_a_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
