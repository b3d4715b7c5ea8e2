/* test_stats_print.c: the table, JSON, GPGPU-Sim's lines, the time series and the timeline of a made-up run.
 */
#include "json_check.h"
#include "stats/print.h"
#include "stats_kit.h"
#include "trace/timeline.h"

#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static bool has(const struct strbuf *out, const char *text) { return strstr(strbuf_text(out), text) != NULL; }

static void no_line_is_longer_than_80_columns(const struct strbuf *out)
{
    for (const char *line = strbuf_text(out); *line;) {
        size_t n = strcspn(line, "\n");
        if (n > 80) fail_msg("%zu columns: %.*s", n, (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static void the_table_has_a_block_for_each_kernel_and_one_for_the_run(void **state)
{
    struct kit k;
    struct strbuf out = {0};
    kit_init(&k);
    view_print_table(&k.view, &out);
    assert_true(has(&out, "kernel 1  first"));
    assert_true(has(&out, "kernel 2  second"));
    assert_true(has(&out, "total of 2 kernels"));
    assert_true(has(&out, "IPC 0.600"));
    assert_true(has(&out, "%   30.0     10.0     10.0    10.0    10.0   10.0    10.0   10.0\n"));
    assert_true(has(&out, "hit 25.0%  pending 25.0%  miss 50.0%  AML 345"));
    assert_true(has(&out, "  line 10% MSHR 20% bp-L2 60% port 10%"));
    assert_true(has(&out, "  bp-ICNT 30% bp-DRAM 70%"));
    assert_true(has(&out, "25.0%  busy  efficiency 50.0%"));
    assert_true(has(&out, "L2 access 25.0%  DRAM 40.0%"));
    assert_false(has(&out, "PARTIAL"));
    no_line_is_longer_than_80_columns(&out);
    strbuf_free(&out);
}

static void the_table_shows_what_mechanisms_counted(void **state)
{
    struct kit k;
    struct strbuf out = {0};
    struct timed_group groups[2] = {kit_groups[0], kit_groups[1]};
    kit_init(&k);
    groups[1].name = "l1";
    groups[0].name = "my-mechanism";
    k.view.groups = groups;
    view_print_table(&k.view, &out);
    assert_true(has(&out, "  sm.share_issued                        30.00  %\n"));
    assert_true(has(&out, "  sm.most                                    5  things\n"));
    assert_false(has(&out, "  dram.busy "));
    strbuf_free(&out);
}

static void the_table_fits_with_long_names_and_huge_numbers(void **state)
{
    struct kit k;
    struct strbuf out = {0};
    kit_init(&k);
    char name[400];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    k.kernels[0].name = name;
    k.kernels[0].end_cycle = 999999999999999;
    k.sm[0].warp_insts = 999999999999;
    k.sm[0].thread_insts = 31999999999968;
    k.mem[0].line = k.mem[0].icnt = k.mem[0].l1 = k.mem[0].l2 = 999999999999;
    k.mem[0].reads = k.mem[0].writes = 999999999999;
    k.loads[3] = (struct pc_load_stats){.executions = 99999999999,
                                        .lines = 3199999999968,
                                        .accesses = 1,
                                        .misses = 1,
                                        .strides = 1,
                                        .stride = {.at = {{-1234567890123, 1}}}};
    k.kernels[0].loads = k.loads;
    k.kernels[0].load_count = 8;
    k.view.partial = true;
    view_print_table(&k.view, &out);
    no_line_is_longer_than_80_columns(&out);
    assert_true(has(&out, "xxx..."));
    assert_true(has(&out, "31,999,999,999,968"));
    assert_true(has(&out, "-1234567890123"));
    assert_true(has(&out, "PARTIAL"));
    strbuf_free(&out);
}

static void many_launches_become_a_line_for_each_name_the_longest_first(void **state)
{
    struct kit k;
    struct strbuf out = {0};
    const struct timed_kernel *list[12];
    kit_init(&k);
    k.kernels[1].end_cycle = 5500;
    for (int i = 0; i < 12; i++) list[i] = &k.kernels[i == 3];
    k.view.kernels = list;
    k.view.kernel_count = 12;
    view_print_table(&k.view, &out);
    const char *first = strstr(strbuf_text(&out), "\nfirst "),
               *second = strstr(strbuf_text(&out), "\nsecond ");
    assert_non_null(first);
    assert_non_null(second);
    assert_true(first < second); /* 11 launches of 500 cycles against one of 5000 */
    int launches = 0;
    char cycles[32];
    assert_int_equal(sscanf(first, " first %d %31s", &launches, cycles), 2);
    assert_int_equal(launches, 11);
    assert_string_equal(cycles, "5,500");
    assert_false(has(&out, "kernel 1 "));
    no_line_is_longer_than_80_columns(&out);
    strbuf_free(&out);
}

static void json_holds_every_row_of_every_kernel_and_of_the_run(void **state)
{
    struct kit k;
    struct strbuf out = {0};
    kit_init(&k);
    k.kernels[1].name = "tem<\"plate\">";
    k.loads[3] = (struct pc_load_stats){.executions = 4, .lines = 8};
    k.kernels[0].loads = k.loads;
    k.kernels[0].load_count = 8;
    k.view.samples = k.sample_list;
    k.view.sample_count = 2;
    view_print_json(&k.view, &out);
    const char *text = strbuf_text(&out);
    assert_true(json_is_valid(text));
    assert_float_equal(json_number_at(text, "schema"), 1, 0);
    assert_true(json_text_is(text, "machine/name", "\"made-up\""));
    assert_true(json_text_is(text, "hash", "\"000000001234abcd\""));
    assert_true(json_text_is(text, "partial", "false"));
    assert_true(json_text_is(text, "kernels/1/name", "\"tem<\\\"plate\\\">\""));
    assert_float_equal(json_number_at(text, "kernels/0/ipc"), 0.6, 1e-9);
    assert_float_equal(json_number_at(text, "kernels/0/loads/0/lines_per_load"), 2, 0);
    assert_null(json_at(text, "kernels/1/loads"));
    assert_float_equal(json_number_at(text, "total/stats/sm/sm.warp_insts"), 600, 0);
    assert_float_equal(json_number_at(text, "samples/1/start_cycle"), 500, 0);
    for (uint32_t g = 0; g < k.view.group_count; g++)
        for (const struct stat_row *r = kit_groups[g].rows; r->name; r++) {
            char path[160];
            snprintf(path, sizeof path, "kernels/1/stats/%s/%s", kit_groups[g].name, r->name);
            assert_non_null(json_at(text, path));
            snprintf(path, sizeof path, "legend/%s/unit", r->name);
            assert_non_null(json_at(text, path));
        }
    strbuf_free(&out);
}

static void json_of_a_run_without_kernels_is_valid(void **state)
{
    struct kit k;
    struct strbuf out = {0};
    kit_init(&k);
    k.view.kernel_count = 0;
    k.view.partial = true;
    view_print_json(&k.view, &out);
    assert_true(json_is_valid(strbuf_text(&out)));
    assert_true(json_text_is(strbuf_text(&out), "partial", "true"));
    strbuf_free(&out);
}

/* The n-th value that a pattern captures, counted from 0; -1: no match. POSIX patterns: \s is [[:space:]]. */
static double captured(const char *text, const char *pattern, int n)
{
    regex_t re;
    regmatch_t m[2];
    double value = -1;
    assert_int_equal(regcomp(&re, pattern, REG_EXTENDED | REG_NEWLINE), 0);
    while (n >= 0 && !regexec(&re, text, 2, m, 0)) {
        if (n-- == 0) value = strtod(text + m[1].rm_so, NULL);
        text += m[0].rm_eo;
    }
    regfree(&re);
    return value;
}

#define S "[[:space:]]*"
static void gpgpusim_lines_match_the_patterns_of_get_stats(void **state)
{
    static const struct {
        const char *pattern;
        double first, second; /* of the two kernels: most counts run on */
    } lines[] = {
        {"gpu_tot_sim_insn" S "=" S "(.*)", 6000, 12000},
        {"gpgpu_simulation_time" S "=.*\\(([0-9]+) sec\\).*", 2, 2},
        {"gpu_tot_sim_cycle" S "=" S "(.*)", 500, 1000},
        {"[[:space:]]+L2_cache_stats_breakdown\\[GLOBAL_ACC_R\\]\\[HIT\\]" S "=" S "(.*)", 30, 60},
        {"[[:space:]]+L2_cache_stats_breakdown\\[GLOBAL_ACC_R\\]\\[TOTAL_ACCESS\\]" S "=" S "(.*)", 60, 120},
        {"[[:space:]]+L2_cache_stats_breakdown\\[GLOBAL_ACC_W\\]\\[HIT\\]" S "=" S "(.*)", 5, 10},
        {"[[:space:]]+L2_cache_stats_breakdown\\[GLOBAL_ACC_W\\]\\[TOTAL_ACCESS\\]" S "=" S "(.*)", 30, 60},
        {"[[:space:]]+Total_core_cache_stats_breakdown\\[GLOBAL_ACC_R\\]\\[TOTAL_ACCESS\\]" S "=" S "(.*)",
         150, 300},
        {"[[:space:]]+Total_core_cache_stats_breakdown\\[GLOBAL_ACC_R\\]\\[HIT\\]" S "=" S "(.*)", 50, 100},
        {"[[:space:]]+Total_core_cache_stats_breakdown\\[GLOBAL_ACC_R\\]\\[RESERVATION_FAIL\\]" S "=" S
         "(.*)",
         4, 8},
        {"gpgpu_n_tot_w_icount" S "=" S "(.*)", 300, 600},
        {"total dram reads" S "=" S "(.*)", 120, 240},
        {"total dram writes" S "=" S "(.*)", 40, 80},
        {"^gpu_ipc" S "=" S "(.*)", 12, 12},
        {"^gpu_tot_ipc" S "=" S "(.*)", 12, 12},
        {"^gpu_occupancy" S "=" S "(.*)%", 90, 90},
        {"L2_BW" S "=" S "(.*)+GB/Sec", 25.6, 25.6}, /* 400 sectors of 32 bytes in 500 ns */
        {"gpgpu_simulation_rate[[:space:]]+=[[:space:]]+(.*)[[:space:]]+\\(inst/sec\\)", 3000, 6000},
        {"gpgpu_simulation_rate[[:space:]]+=[[:space:]]+(.*)[[:space:]]+\\(cycle/sec\\)", 250, 500},
        {"gpgpu_silicon_slowdown" S "=" S "(.*)x", 4000000, 2000000},
        {"gpu_stall_dramfull" S "=" S "(.*)", 70, 140},
        {"gpu_stall_icnt2sh" S "=" S "(.*)", 30, 60},
        {"partiton_level_parallism" S "=" S "(.*)", 0.2, 0.2},
        {"L1D_total_cache_accesses" S "=" S "(.*)", 200, 400},
        {"L1D_total_cache_misses" S "=" S "(.*)", 100, 200},
        {"L1D_total_cache_miss_rate" S "=" S "(.*)", 0.5, 0.5},
        {"Stall:([0-9]+)" S "W0_Idle:[0-9]+" S "W0_Scoreboard:[0-9]+.*", 200, 400},
        {"kernel_launch_uid" S "=" S "(.*)", 1, 2},
        {"kernel_stream_id" S "=" S "(.*)", 0, 4},
    };
    struct kit k;
    struct strbuf out = {0};
    kit_init(&k);
    view_print_gpgpusim(&k.view, &out);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        double first = captured(strbuf_text(&out), lines[i].pattern, 0),
               second = captured(strbuf_text(&out), lines[i].pattern, 1);
        if (first != lines[i].first || second != lines[i].second)
            fail_msg("%s: %g and %g, not %g and %g", lines[i].pattern, first, second, lines[i].first,
                     lines[i].second);
    }
    strbuf_free(&out);
}

static void gpgpusim_lines_are_spaced_as_there(void **state)
{
    struct kit k;
    struct strbuf out = {0};
    kit_init(&k);
    view_print_gpgpusim(&k.view, &out);
    assert_true(has(&out, "kernel_name = first \n"));
    assert_true(has(&out, "gpu_ipc =      12.0000\n"));
    assert_true(has(&out, "gpu_occupancy = 90.0000% \n"));
    assert_true(has(&out, "gpu_stall_icnt2sh    = 30\n"));
    assert_true(has(&out, "partiton_level_parallism_total  =       0.2000\n"));
    assert_true(has(&out, "L2_BW  =      25.6000 GB/Sec\n"));
    assert_true(has(&out, "gpu_total_sim_rate="));
    assert_true(has(&out, "L2_cache_bank[1]: Access = 100, Miss = 60, Miss_rate = 0.600, Pending_hits = 0, "
                          "Reservation_fails = 0\n"));
    assert_true(
        has(&out, "\tL1D_cache_core[0]: Access = 200, Miss = 100, Miss_rate = 0.500, Pending_hits = 50, "));
    assert_true(has(&out, "gpgpu_simulation_time = 0 days, 0 hrs, 0 min, 2 sec (2 sec)\n"));
    assert_true(has(&out, "GPGPU-Sim: *** exit detected ***\n"));
    strbuf_free(&out);
}

static void the_series_has_a_line_for_each_sample_and_a_column_for_each_number(void **state)
{
    struct kit k;
    struct strbuf out = {0};
    kit_init(&k);
    k.view.samples = k.sample_list;
    k.view.sample_count = 2;
    k.sm[1].warp_insts = 77;
    view_print_series_csv(&k.view, &out);
    int lines = 0, columns = -1;
    for (const char *p = strbuf_text(&out); *p; lines++) {
        int commas = 0;
        for (; *p != '\n'; p++) commas += *p == ',';
        if (columns < 0) columns = commas;
        assert_int_equal(commas, columns);
        p++;
    }
    assert_int_equal(lines, 3);
    assert_true(has(&out, "start_cycle,end_cycle,ipc,sm.slots,"));
    assert_true(has(&out, "\n500,1000,0.154,1000,300,"));
    assert_false(has(&out, "sm.hist"));
    strbuf_free(&out);
    view_print_series_json(&k.view, &out);
    assert_float_equal(json_number_at(strbuf_text(&out), "1/stats/sm/sm.warp_insts"), 77, 0);
    assert_float_equal(json_number_at(strbuf_text(&out), "0/stats/sm/sm.hist/1"), 2, 0);
    strbuf_free(&out);
}

static void the_end_of_a_run_inside_an_interval_is_a_shorter_sample(void **state)
{
    struct kit k;
    kit_init(&k);
    k.view.samples = k.sample_list;
    k.view.sample_count = 1; /* up to cycle 500 of 1000 */
    k.sm[2].warp_insts += 11;
    view_add_rest(&k.view);
    assert_int_equal(k.view.sample_count, 2);
    assert_int_equal(k.view.samples[1]->start_cycle, 500);
    assert_int_equal(k.view.samples[1]->end_cycle, 1000);
    assert_int_equal(((struct kit_sm *)k.view.samples[1]->stats[0])->warp_insts, 311);
    view_free_stats(&k.view, k.view.rest.stats);
    k.sample_list[1] = &k.samples[1];
    view_add_rest(&k.view); /* the second sample ends with the run: nothing is left */
    assert_int_equal(k.view.sample_count, 2);
}

static void the_mark_of_a_whole_run_is_missing_after_a_partial_one(void **state)
{
    struct kit k;
    struct strbuf out = {0};
    kit_init(&k);
    k.view.partial = true;
    view_print_gpgpusim(&k.view, &out);
    assert_false(has(&out, "exit detected"));
    assert_true(has(&out, "gpu_tot_sim_cycle = 1000"));
    strbuf_free(&out);
}

static void the_timeline_has_kernels_by_stream_ctas_by_sm_and_counters(void **state)
{
    struct kit k;
    struct strbuf out = {0};
    kit_init(&k);
    k.ctas[0] = (struct timed_cta){.sm = 1, .kernel = 1, .cta = 0, .start_cycle = 0, .end_cycle = 300};
    k.ctas[1] = (struct timed_cta){.sm = 1, .kernel = 1, .cta = 1, .start_cycle = 100, .end_cycle = 200};
    k.ctas[2] = (struct timed_cta){.sm = 1, .kernel = 2, .cta = 7, .start_cycle = 200, .end_cycle = 400};
    k.view.ctas = k.cta_list;
    k.view.cta_count = 3;
    k.view.samples = k.sample_list;
    k.view.sample_count = 2;
    timeline_print(&k.view, &out);
    const char *text = strbuf_text(&out);
    assert_true(json_is_valid(text));
    assert_true(json_text_is(text, "traceEvents/0/ph", "\"M\""));
    /* A cycle is a nanosecond here; time stamps are microseconds. */
    assert_true(has(&out, "\"name\":\"second\",\"pid\":1,\"tid\":4,\"ts\":0.500000,\"dur\":0.500000"));
    assert_true(has(&out, "\"name\":\"CTA 0\",\"pid\":11,\"tid\":0,\"ts\":0.000000,\"dur\":0.300000"));
    /* The second CTA overlaps the first and takes another lane; the third starts when that lane is free
     * again. */
    assert_true(has(&out, "\"name\":\"CTA 1\",\"pid\":11,\"tid\":1,"));
    assert_true(has(&out, "\"name\":\"CTA 7\",\"pid\":11,\"tid\":1,"));
    assert_true(
        has(&out,
            "{\"ph\":\"C\",\"name\":\"L1 miss rate %\",\"pid\":2,\"ts\":0.500000,\"args\":{\"value\":50}}"));
    assert_true(has(
        &out,
        "{\"ph\":\"C\",\"name\":\"DRAM utilization %\",\"pid\":2,\"ts\":0.000000,\"args\":{\"value\":25}}"));
    assert_true(
        has(&out, "{\"ph\":\"C\",\"name\":\"IPC\",\"pid\":2,\"ts\":1.000000,\"args\":{\"value\":0}}"));
    strbuf_free(&out);
}

static void notes_are_events_of_the_json_and_tracks_of_the_timeline(void **state)
{
    struct kit k;
    struct strbuf out = {0};
    struct timed_note notes[] = {
        {.cycle = 100, .sm = 1, .mechanism = 2, .mechanism_name = "poise", .kind = "move", .a = 3, .b = 4},
        {.cycle = 100, .sm = 1, .order = 1, .mechanism = 0, .mechanism_name = "laws", .kind = "group"},
        {.cycle = 250, .sm = 0, .mechanism = 2, .mechanism_name = "poise", .kind = "stay", .a = 5}};
    kit_init(&k);
    view_print_json(&k.view, &out);
    assert_false(has(&out, "\"events"));
    strbuf_free(&out);
    k.view.notes = notes;
    k.view.note_count = 3;
    view_print_json(&k.view, &out);
    assert_true(json_is_valid(strbuf_text(&out)));
    assert_true(json_text_is(strbuf_text(&out), "events/0/cycle", "100"));
    assert_true(json_text_is(strbuf_text(&out), "events/0/mechanism", "\"poise\""));
    assert_true(json_text_is(strbuf_text(&out), "events/0/b", "4"));
    assert_true(json_text_is(strbuf_text(&out), "events/2/kind", "\"stay\""));
    assert_false(has(&out, "events_dropped"));
    strbuf_free(&out);
    k.view.notes_dropped = 12;
    view_print_json(&k.view, &out);
    assert_true(json_text_is(strbuf_text(&out), "events_dropped", "12"));
    strbuf_free(&out);
    timeline_print(&k.view, &out);
    assert_true(json_is_valid(strbuf_text(&out)));
    assert_true(has(&out, "\"events_dropped\":12"));
    assert_true(has(
        &out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":11,\"tid\":0,\"args\":{\"name\":\"SM 1\"}}"));
    assert_true(has(&out, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":11,\"tid\":65538,"
                          "\"args\":{\"name\":\"poise\"}}"));
    assert_true(has(&out, "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"move\",\"pid\":11,\"tid\":65538,"
                          "\"ts\":0.100000,\"args\":{\"cycle\":100,\"a\":3,\"b\":4}}"));
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_has_a_block_for_each_kernel_and_one_for_the_run),
        cmocka_unit_test(the_table_shows_what_mechanisms_counted),
        cmocka_unit_test(the_table_fits_with_long_names_and_huge_numbers),
        cmocka_unit_test(many_launches_become_a_line_for_each_name_the_longest_first),
        cmocka_unit_test(json_holds_every_row_of_every_kernel_and_of_the_run),
        cmocka_unit_test(json_of_a_run_without_kernels_is_valid),
        cmocka_unit_test(gpgpusim_lines_match_the_patterns_of_get_stats),
        cmocka_unit_test(gpgpusim_lines_are_spaced_as_there),
        cmocka_unit_test(the_series_has_a_line_for_each_sample_and_a_column_for_each_number),
        cmocka_unit_test(the_end_of_a_run_inside_an_interval_is_a_shorter_sample),
        cmocka_unit_test(the_mark_of_a_whole_run_is_missing_after_a_partial_one),
        cmocka_unit_test(the_timeline_has_kernels_by_stream_ctas_by_sm_and_counters),
        cmocka_unit_test(notes_are_events_of_the_json_and_tracks_of_the_timeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
