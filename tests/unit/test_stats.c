/* test_stats.c: sums, differences and values of statistics; JSON pieces; the per-PC load table. */
#include "json_check.h"
#include "stats/json.h"
#include "stats/loads.h"
#include "stats_kit.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void counts_and_histograms_add_up_and_maxima_do_not(void **state)
{
    struct kit_sm a = {.issued = 3, .most = 7, .hist = {1, 2, 3}},
                  b = {.issued = 4, .most = 5, .hist = {10, 20, 30}};
    stat_add(kit_sm_rows, &a, &b);
    assert_int_equal(a.issued, 7);
    assert_int_equal(a.most, 7);
    assert_int_equal(a.hist[0], 11);
    assert_int_equal(a.hist[2], 33);
    b.most = 9;
    stat_add(kit_sm_rows, &a, &b);
    assert_int_equal(a.most, 9);
}

static void what_happened_between_two_snapshots_is_their_difference(void **state)
{
    struct kit_sm before = KIT_SM_VALUES, after = KIT_SM_VALUES,
                  more = {.issued = 5, .most = 11, .hist = {0, 0, 9}};
    stat_add(kit_sm_rows, &after, &more);
    stat_sub(kit_sm_rows, &after, &before);
    assert_int_equal(after.issued, 5);
    assert_int_equal(after.slots, 0);
    assert_int_equal(after.hist[2], 9);
    assert_int_equal(after.hist[1], 0);
    assert_int_equal(after.most, 11); /* up to then; that of the interval is not known */
}

static const struct stat_row *row(const char *name)
{
    for (const struct stat_row *r = kit_sm_rows; r->name; r++)
        if (!strcmp(r->name, name)) return r;
    fail_msg("no row %s", name);
    return NULL;
}

static void a_ratio_in_percent_is_times_100_and_of_nothing_is_0(void **state)
{
    struct kit_sm s = KIT_SM_VALUES;
    assert_float_equal(stat_value(row("sm.share_issued"), &s), 30.0, 1e-9);
    assert_float_equal(stat_value(row("sm.lanes"), &s), 20.0, 1e-9);
    assert_float_equal(stat_value(row("sm.most"), &s), 5.0, 0);
    assert_float_equal(stat_value(row("sm.hist"), &s), 6.0, 0);
    s.slots = 0;
    assert_float_equal(stat_value(row("sm.share_issued"), &s), 0.0, 0);
}

static void text_is_escaped_so_that_it_can_be_read_back(void **state)
{
    struct strbuf out = {0};
    json_string(&out, "a\"b\\c\n\x01\x1f \xc3\xa9 \xff\xc0\x80");
    assert_string_equal(strbuf_text(&out),
                        "\"a\\\"b\\\\c\\u000a\\u0001\\u001f \xc3\xa9 \\ufffd\\ufffd\\ufffd\"");
    assert_true(json_is_valid(strbuf_text(&out)));
    strbuf_free(&out);
}

static void a_number_that_is_none_is_null(void **state)
{
    struct strbuf out = {0};
    json_number(&out, 0.0 / 1.0);
    strbuf_putc(&out, ' ');
    json_number(&out, 1e308 * 10);
    assert_string_equal(strbuf_text(&out), "0 null");
    strbuf_free(&out);
}

static void a_table_of_rows_is_an_object(void **state)
{
    struct kit_sm s = KIT_SM_VALUES;
    struct strbuf out = {0};
    s.slots = UINT64_MAX; /* an integer keeps all its digits */
    json_stats(&out, kit_sm_rows, &s);
    const char *text = strbuf_text(&out);
    assert_true(json_is_valid(text));
    assert_true(json_text_is(text, "sm.slots", "18446744073709551615"));
    assert_float_equal(json_number_at(text, "sm.hist/2"), 3, 0);
    assert_float_equal(json_number_at(text, "sm.lanes"), 20, 0);
    strbuf_free(&out);
}

static void the_checker_of_these_tests_refuses_what_is_no_json(void **state)
{
    static const char *const bad[] = {"",      "{",     "[1,]", "{\"a\":}", "{\"a\" 1}",
                                      "[1 2]", "nan",   "01",   "\"\\x\"",  "\"\x01\"",
                                      "[1]]",  "{a:1}", "1.",   "-",        "{\"a\":1,}"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) assert_false(json_is_valid(bad[i]));
    assert_true(json_is_valid(" {\"a\" : [ 1 , -2.5e+3 , true , null , \"\\u00e9\" ] , \"b\" : { } } "));
}

static void loads_of_two_sms_add_up_and_the_commonest_stride_wins(void **state)
{
    struct pc_load_stats a[2] = {{0}}, b[2] = {{0}};
    a[1] = (struct pc_load_stats){.executions = 10,
                                  .lines = 20,
                                  .accesses = 20,
                                  .misses = 5,
                                  .strides = 9,
                                  .stride = {.at = {{128, 5}, {256, 4}}}};
    b[1] = (struct pc_load_stats){.executions = 30,
                                  .lines = 60,
                                  .accesses = 60,
                                  .misses = 35,
                                  .unique_lines = 3,
                                  .strides = 29,
                                  .stride = {.at = {{-64, 6}, {256, 8}}}};
    loads_add(a, b, 2);
    assert_int_equal(a[1].executions, 40);
    assert_int_equal(a[1].misses, 40);
    assert_int_equal(a[1].unique_lines, 3);
    assert_int_equal(a[1].stride.at[0].value, 256);
    assert_int_equal(a[1].stride.at[0].count, 12);
    assert_int_equal(a[1].stride.at[1].value, -64);
    assert_int_equal(a[1].stride.at[2].value, 128);
    assert_int_equal(a[1].stride.at[3].count, 0);
    assert_int_equal(a[0].executions, 0);
}

static void loads_are_listed_by_their_share_of_the_references(void **state)
{
    struct pc_load_stats l[8] = {{0}};
    l[2] = (struct pc_load_stats){.executions = 10,
                                  .lines = 10,
                                  .accesses = 10,
                                  .misses = 10,
                                  .strides = 4,
                                  .stride = {.at = {{128, 3}}}};
    l[5] =
        (struct pc_load_stats){.executions = 15, .lines = 30, .accesses = 30, .misses = 3, .unique_lines = 6};
    struct load_line lines[4];
    assert_int_equal(loads_sorted(l, 8, lines, 4), 2);
    assert_int_equal(lines[0].pc, 5);
    assert_float_equal(lines[0].share, 0.75, 1e-12);
    assert_float_equal(lines[0].lines_per_load, 2.0, 1e-12);
    assert_float_equal(lines[0].miss_rate, 0.1, 1e-12);
    assert_float_equal(lines[0].unique, 0.2, 1e-12);
    assert_int_equal(lines[1].stride, 128);
    assert_float_equal(lines[1].stride_share, 0.75, 1e-12);
    assert_int_equal(loads_sorted(l, 8, lines, 1), 2); /* says how many there are beyond what fits */
    struct strbuf out = {0};
    loads_json(l, 8, &out);
    assert_float_equal(json_number_at(strbuf_text(&out), "1/stride"), 128, 0);
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_histograms_add_up_and_maxima_do_not),
        cmocka_unit_test(what_happened_between_two_snapshots_is_their_difference),
        cmocka_unit_test(a_ratio_in_percent_is_times_100_and_of_nothing_is_0),
        cmocka_unit_test(text_is_escaped_so_that_it_can_be_read_back),
        cmocka_unit_test(a_number_that_is_none_is_null),
        cmocka_unit_test(a_table_of_rows_is_an_object),
        cmocka_unit_test(the_checker_of_these_tests_refuses_what_is_no_json),
        cmocka_unit_test(loads_of_two_sms_add_up_and_the_commonest_stride_wins),
        cmocka_unit_test(loads_are_listed_by_their_share_of_the_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
