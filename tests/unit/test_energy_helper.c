/* test_energy_helper.c: instructions on SMs in cache mode cost what those of a program cost (src/energy,
 * src/core/helper_counts.def). */
#include "core/helper_counts.h"
#include "energy/energy.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static bool has_row(const char *name)
{
    for (const struct stat_row *r = helper_stat_rows; r->name; r++)
        if (!strcmp(r->name, name)) return true;
    return false;
}

/* Answers 1 for each statistic of an SM, or of SMs in cache mode. */
struct asked {
    const char *prefix;
    uint32_t missing;
};

static double value_of(void *context, const char *name)
{
    struct asked *a = context;
    const bool is_helper = !strncmp(name, "helper.", 7);
    if (is_helper && !has_row(name)) {
        print_error("no statistic %s\n", name);
        a->missing++;
    }
    if (!strcmp(name, "gpu.cycles")) return 1;
    if (!strncmp(name, "l1.", 3) && !strncmp(a->prefix, "sm.", 3)) return 1;
    return !strncmp(name, a->prefix, strlen(a->prefix));
}

static struct energy_sum sum_of(const char *prefix, uint32_t *missing)
{
    struct energy_table t = {.by_sector = true, .static_sms = 80};
    struct asked asked = {.prefix = prefix};
    const struct energy_source s = {.value = value_of, .context = &asked, .core_khz = 1000, .sms = 4};
    struct energy_sum sum;
    for (enum energy_event e = 0; e < ENERGY_EVENTS; e++) t.picojoules[e] = 1 + e;
    energy_of(&t, &s, &sum);
    *missing = asked.missing;
    return sum;
}

static void each_event_of_an_sm_is_counted_in_cache_mode_too(void **state)
{
    uint32_t missing;
    sum_of("helper.", &missing);
    assert_int_equal(missing, 0);
}

static void it_costs_the_same_in_the_same_part(void **state)
{
    uint32_t missing;
    const struct energy_sum program = sum_of("sm.", &missing), helper = sum_of("helper.", &missing);
    double all = 0;
    for (enum energy_part p = 0; p < ENERGY_PARTS; p++) {
        assert_float_equal(program.joules[p], helper.joules[p], 1e-18);
        all += helper.joules[p];
    }
    assert_true(all > 0);
    assert_float_equal(helper.helper, all, 1e-18);
    assert_float_equal(program.helper, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_of_an_sm_is_counted_in_cache_mode_too),
        cmocka_unit_test(it_costs_the_same_in_the_same_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
