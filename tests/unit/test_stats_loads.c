/* test_stats_loads.c: the page of loads (src/stats/print_loads.c), the classes of loads (loads.c) and the
 * most frequent values that both count with (top.c). */
#include "stats/loads.h"
#include "stats/print.h"
#include "stats/top.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void frequent_values_stay_and_a_new_one_takes_the_rarest(void **state)
{
    static const int64_t values[] = {7, 7, 7, -1, -1, 5, 9, 9, 3};
    struct top t = {0};
    for (size_t i = 0; i < ARRAY_LEN(values); i++) top_note(&t, values[i]);
    assert_int_equal(t.at[top_first(&t)].value, 7);
    assert_int_equal(t.at[top_first(&t)].count, 3);
    uint64_t of_three = 0, of_five = 0;
    for (uint32_t i = 0; i < TOP_VALUES; i++) {
        of_three += t.at[i].value == 3 ? t.at[i].count : 0;
        of_five += t.at[i].value == 5 ? t.at[i].count : 0;
    }
    assert_int_equal(of_three, 2); /* the counter of 5, and one more */
    assert_int_equal(of_five, 0);
}

static void two_summaries_add_up_in_either_order(void **state)
{
    const struct top a = {.at = {{1, 9}, {2, 1}, {3, 5}, {4, 2}}},
                     b = {.at = {{2, 7}, {5, 2}, {6, 2}, {7, 1}}};
    struct top ab = a, ba = b;
    top_add(&ab, &b);
    top_add(&ba, &a);
    assert_memory_equal(&ab, &ba, sizeof ab);
    static const struct top_value sums[] = {{1, 9}, {2, 8}, {3, 5}, {4, 2}};
    assert_memory_equal(ab.at, sums, sizeof sums);
}

static void a_load_is_of_one_class(void **state)
{
    static const struct {
        struct load_line load;
        enum load_class is;
    } cases[] = {{{.unique = 0.03, .miss_rate = 0.99, .stride_share = 0.78}, LOAD_THRASHED}, /* KM, 0xE8 */
                 {{.unique = 0.04, .miss_rate = 0.04, .stride_share = 0.47}, LOAD_REUSED},   /* MUM, 0x460 */
                 {{.unique = 0.99, .miss_rate = 0.99, .stride_share = 0.78}, LOAD_STRIDED},  /* SRAD, 0x250 */
                 {{.unique = 1.0, .miss_rate = 1.0, .stride_share = 0.21}, LOAD_IRREGULAR}, /* HISTO, 0x168 */
                 {{.unique = 0.5, .miss_rate = 0.5, .stride_share = 0.5}, LOAD_REUSED},
                 {{.unique = 0.51, .miss_rate = 0.0, .stride_share = 0.5}, LOAD_STRIDED}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_int_equal(loads_class(&cases[i].load), cases[i].is);
}

/* Two launches of `scan` and one of `copy`: three loads, those of `scan` over both launches. */
static void the_page_has_a_line_for_each_load_of_each_kernel(void **state)
{
    struct pc_load_stats scan[2][4] = {0}, copy[2] = {0};
    for (int i = 0; i < 2; i++) {
        scan[i][1] = (struct pc_load_stats){.executions = 50,
                                            .lines = 100,
                                            .accesses = 100,
                                            .misses = 90,
                                            .merges = 10,
                                            .unique_lines = 90,
                                            .strides = 40,
                                            .stride = {.at = {{4352, 30}}},
                                            .evicted = 60,
                                            .evictor = {.at = {{3, 45}, {1, 15}}},
                                            .prefetches = 20,
                                            .prefetch_useful = 4,
                                            .prefetch_late = 12,
                                            .ptx_line = 40,
                                            .cuda_line = 7};
        scan[i][3] = (struct pc_load_stats){.executions = 10, .lines = 10, .accesses = 10, .ptx_line = 44};
    }
    copy[0] = (struct pc_load_stats){
        .executions = 80, .lines = 80, .accesses = 80, .misses = 80, .unique_lines = 80};
    const struct timed_kernel kernels[] = {{.name = "scan", .loads = scan[0], .load_count = 4},
                                           {.name = "copy", .loads = copy, .load_count = 2},
                                           {.name = "scan", .loads = scan[1], .load_count = 4},
                                           {.name = "no loads are kept"}};
    const struct timed_kernel *list[ARRAY_LEN(kernels)];
    for (size_t i = 0; i < ARRAY_LEN(kernels); i++) list[i] = &kernels[i];
    const struct stats_view v = {.kernels = list, .kernel_count = ARRAY_LEN(list)};
    struct strbuf out = {0};
    view_print_loads(&v, &out);
    static const char *const lines[] = {"kernel                      pc      line class     share% "
                                        "executions  lines  #L/#R  miss% merge%       "
                                        "stride pairs% prefetches  used%  late%   evicted  by pc",
                                        "scan                         1         7 strided     66.7        "
                                        "100   2.00   0.90   90.0   10.0         "
                                        "4352   75.0         40   80.0   75.0       120  3 (75%)",
                                        "copy                         0         - irregular   26.7         "
                                        "80   1.00   1.00  100.0    0.0         "
                                        "   0    0.0          0    0.0    0.0         0",
                                        "scan                         3    ptx 44 reused       6.7         "
                                        "20   1.00   0.00    0.0    0.0         "
                                        "   0    0.0          0    0.0    0.0         0"};
    struct strbuf wanted = {0};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) strbuf_printf(&wanted, "%s\n", lines[i]);
    assert_string_equal(strbuf_text(&out), strbuf_text(&wanted));
    strbuf_free(&wanted);
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequent_values_stay_and_a_new_one_takes_the_rarest),
        cmocka_unit_test(two_summaries_add_up_in_either_order),
        cmocka_unit_test(a_load_is_of_one_class),
        cmocka_unit_test(the_page_has_a_line_for_each_load_of_each_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
