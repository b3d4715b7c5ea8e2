/* test_stats_rows.c: the statistic tables of all components: names that the printers rely on exist, every row
 * can be explained, no two share a name, and docs/statistics.md is what the tables say. */
#include "base/base.h"
#include "core/stat_tables.h"
#include "stats/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct stat_row *find(const char *name, int *times)
{
    const struct stat_row *found = NULL;
    struct stats_table t;
    *times = 0;
    for (uint32_t i = 0; machine_stats_at(i, &t); i++)
        for (const struct stat_row *r = t.rows; r->name; r++)
            if (!strcmp(r->name, name)) {
                found = r;
                ++*times;
            }
    return found;
}

static void every_statistic_that_a_printer_names_is_counted(void **state)
{
    int times;
    for (uint32_t i = 0; i < STATS_NAME_COUNT; i++) {
        const struct stat_row *r = find(stats_names[i], &times);
        if (!r) fail_msg("no component counts %s", stats_names[i]);
        assert_true(r->type == STAT_COUNT || r->type == STAT_HISTOGRAM);
    }
}

static void every_row_has_a_name_of_its_own_a_unit_and_a_meaning(void **state)
{
    struct stats_table t;
    for (uint32_t i = 0; machine_stats_at(i, &t); i++)
        for (const struct stat_row *r = t.rows; r->name; r++) {
            int times;
            size_t n = strlen(t.group);
            find(r->name, &times);
            if (times != 1) fail_msg("%d rows are called %s", times, r->name);
            if (strncmp(r->name, t.group, n) || r->name[n] != '.')
                fail_msg("%s does not begin with %s.", r->name, t.group);
            if (!r->unit) fail_msg("%s has no unit", r->name);
            if (!r->help || !*r->help) fail_msg("%s has no meaning", r->name);
            if (r->type == STAT_HISTOGRAM && r->length < 2) fail_msg("%s has %u buckets", r->name, r->length);
        }
}

static bool counts_at(const struct stat_row *rows, size_t offset)
{
    for (const struct stat_row *r = rows; r->name; r++)
        if (r->type == STAT_COUNT && r->offset == offset) return true;
    return false;
}

/* Otherwise sums and differences of snapshots, which go by rows, would leave the ratio behind. */
static void both_sides_of_every_ratio_have_rows_of_their_own(void **state)
{
    struct stats_table t;
    for (uint32_t i = 0; machine_stats_at(i, &t); i++)
        for (const struct stat_row *r = t.rows; r->name; r++)
            if (r->type == STAT_RATIO && (!counts_at(t.rows, r->offset) || !counts_at(t.rows, r->offset2)))
                fail_msg("%s divides what no row counts", r->name);
}

static void explain_says_meaning_unit_place_and_the_nearest_ncu_metric(void **state)
{
    struct strbuf out = {0};
    assert_true(stats_explain(machine_stats_at, "sm.occupancy", &out));
    const char *text = strbuf_text(&out);
    assert_non_null(strstr(text, "sm.occupancy\n"));
    assert_non_null(strstr(text, "unit     %"));
    assert_non_null(strstr(text, "ratio    sm.warp_cycles / sm.warp_slot_cycles"));
    assert_non_null(strstr(text, "counted  streaming multiprocessors"));
    assert_non_null(strstr(text, "sm__warps_active.avg.pct_of_peak_sustained_active"));
    strbuf_free(&out);
    assert_false(stats_explain(machine_stats_at, "sm.ocupancy", &out));
    assert_int_equal(out.len, 0);
    assert_string_equal(stats_nearest(machine_stats_at, "sm.ocupancy"), "sm.occupancy");
    assert_null(stats_nearest(machine_stats_at, "nothing like any of them at all"));
}

static void the_list_has_a_line_for_each_row(void **state)
{
    struct strbuf out = {0};
    struct stats_table t;
    uint32_t rows = 0, lines = 0;
    stats_list(machine_stats_at, &out);
    for (uint32_t i = 0; machine_stats_at(i, &t); i++)
        for (const struct stat_row *r = t.rows; r->name; r++) rows++;
    for (const char *p = strbuf_text(&out); *p; p++) lines += *p == '\n';
    assert_int_equal(lines, rows);
    strbuf_free(&out);
}

static void the_page_in_docs_is_up_to_date(void **state)
{
    struct strbuf out = {0}, page = {0};
    char block[4096];
    stats_docs(machine_stats_at, &out);
    FILE *f = fopen(HEDDLE_SOURCE_DIR "/docs/statistics.md", "rb");
    assert_non_null(f);
    for (size_t n; (n = fread(block, 1, sizeof block, f));) strbuf_add(&page, block, n);
    fclose(f);
    if (strcmp(strbuf_text(&page), strbuf_text(&out)))
        fail_msg("run: heddle list stats --markdown > docs/statistics.md");
    strbuf_free(&out);
    strbuf_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statistic_that_a_printer_names_is_counted),
        cmocka_unit_test(every_row_has_a_name_of_its_own_a_unit_and_a_meaning),
        cmocka_unit_test(both_sides_of_every_ratio_have_rows_of_their_own),
        cmocka_unit_test(explain_says_meaning_unit_place_and_the_nearest_ncu_metric),
        cmocka_unit_test(the_list_has_a_line_for_each_row),
        cmocka_unit_test(the_page_in_docs_is_up_to_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
