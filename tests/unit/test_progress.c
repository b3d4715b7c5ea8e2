/* test_progress.c: the text of the progress line. */
#include "cuda/progress_line.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char *line_of(const char *kernel, uint64_t cycles, double rate, double left, uint32_t columns)
{
    static char out[PROGRESS_BYTES];
    struct timed_progress p = {.kernel = kernel, .ctas = 640, .ctas_done = 12, .cycles = cycles};
    progress_line(&p, rate, left, columns, out);
    return out;
}

static void it_says_kernel_ctas_cycles_speed_and_time_left(void **state)
{
    assert_string_equal(line_of("saxpy", 1234567, 2500, 75, 79),
                        "saxpy: 12/640 CTAs, 1.23M cycles, 2.50k insts/s, left 1:15");
    assert_string_equal(line_of("saxpy", 999, 0, -1, 79),
                        "saxpy: 12/640 CTAs, 999 cycles, 0 insts/s, left ?");
    assert_string_equal(line_of("saxpy", 5000000000000, 7e9, 7261, 79),
                        "saxpy: 12/640 CTAs, 5.00T cycles, 7.00G insts/s, left 2:01:01");
}

static void a_long_name_gives_way_first(void **state)
{
    const char *name = "_Z21a_kernel_of_many_charsPKfS0_Pfiiiiii";
    assert_string_equal(line_of(name, 1000, 1000, 5, 72),
                        "_Z21a_kernel_of_m..: 12/640 CTAs, 1.00k cycles, 1.00k insts/s, left 0:05");
    for (uint32_t columns = 1; columns < 300; columns++)
        assert_true(strlen(line_of(name, 123456789, 1e6, 3600, columns)) <= columns);
}

static void no_name_is_too_long(void **state)
{
    char name[1000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    for (uint32_t columns = 1; columns < 1000; columns++)
        assert_true(strlen(line_of(name, UINT64_MAX, 1e300, 1e300, columns)) < PROGRESS_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_says_kernel_ctas_cycles_speed_and_time_left),
                                       cmocka_unit_test(a_long_name_gives_way_first),
                                       cmocka_unit_test(no_name_is_too_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
