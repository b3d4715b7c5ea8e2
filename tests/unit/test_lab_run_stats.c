/* test_lab_run_stats.c: the longest kernel and the loads with the most references, from the JSON of a run. */
#include "lab/run_stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct seen {
    struct {
        char name[32];
        double value;
    } numbers[64];
    uint32_t count, room;
};

static bool note(void *context, const char *name, double value)
{
    struct seen *s = context;
    if (s->count == s->room) return false;
    snprintf(s->numbers[s->count].name, sizeof s->numbers[0].name, "%s", name);
    s->numbers[s->count++].value = value;
    return true;
}

static bool look(const char *text, struct seen *s)
{
    struct json_tree tree = {0};
    struct diag_list diags = {0};
    assert_true(json_tree_parse(&tree, "test", text, strlen(text), &diags));
    bool ok = run_stats_each(tree.root, note, s);
    json_tree_free(&tree);
    return ok;
}

static double value(const struct seen *s, const char *name)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!strcmp(s->numbers[i].name, name)) return s->numbers[i].value;
    fail_msg("no %s", name);
    return NAN;
}

#define LOAD(pc, lines, unique, miss, stride, share)                                                         \
    "{\"pc\":" #pc ",\"lines\":" #lines ",\"unique_share\":" #unique ",\"miss_rate\":" #miss                 \
    ",\"stride\":" #stride ",\"stride_share\":" #share "}"
#define KERNEL(name, cycles, registers, limit, loads)                                                        \
    "{\"name\":\"" name "\",\"cycles\":" #cycles ",\"registers\":" #registers                                \
    ",\"block\":[15,3,1],\"ctas\":700,\"ctas_per_sm\":6,\"limit\":\"" limit "\",\"loads\":[" loads "]}"

/* `a` is launched twice; its load at pc 7 has 30 lines, then 10. */
static const char run[] = "{\"kernels\":[" KERNEL(
    "a", 100, 20, "warps",
    LOAD(7, 30, 0.5, 1, 128, 0.8) "," LOAD(
        9, 5, 1, 0, 4, 1)) "," KERNEL("b", 300, 40, "registers",
                                      LOAD(7, 45, 0.1, 0.5, 0, 0.3)) "," KERNEL("a", 90, 20, "warps",
                                                                                LOAD(7, 10, 0.1, 0.6, 64,
                                                                                     0.1)) "]}";

static void the_longest_kernel_is_found(void **state)
{
    struct seen s = {.room = 64};
    assert_true(look(run, &s));
    assert_true(value(&s, "longest.cycles") == 300);
    assert_true(value(&s, "longest.registers") == 40);
    assert_true(value(&s, "longest.warps") == 2); /* 45 threads */
    assert_true(value(&s, "longest.ctas") == 700);
    assert_true(value(&s, "longest.ctas_per_sm") == 6);
    assert_string_equal(run_limit_names[(int)value(&s, "longest.limit")], "registers");
}

static void loads_are_joined_over_launches_and_ordered(void **state)
{
    struct seen s = {.room = 64};
    assert_true(look(run, &s));
    assert_true(value(&s, "load1.lines") == 45);
    assert_true(value(&s, "load1.share") == 0.5);
    assert_true(value(&s, "load2.lines") == 40);
    assert_true(fabs(value(&s, "load2.unique") - 16.0 / 40) < 1e-12);
    assert_true(fabs(value(&s, "load2.miss_rate") - 36.0 / 40) < 1e-12);
    assert_true(value(&s, "load2.stride") == 128); /* of the launch with the most references */
    assert_true(value(&s, "load2.stride_share") == 0.8);
    assert_true(value(&s, "load3.pc") == 9);
    for (uint32_t i = 0; i < s.count; i++) assert_null(strstr(s.numbers[i].name, "load4"));
}

static void what_is_given_has_a_name_in_the_list(void **state)
{
    struct seen s = {.room = 64};
    assert_true(look(run, &s));
    for (uint32_t i = 0; i < s.count; i++) {
        uint32_t k = 0;
        while (run_stat_name(k) && strcmp(run_stat_name(k), s.numbers[i].name)) k++;
        if (!run_stat_name(k)) fail_msg("%s is not listed", s.numbers[i].name);
    }
}

/* Of 15 SMs: the first grid fills its 6 CTAs of 2 warps, the second has one CTA for each, of 8 warps. */
static void the_most_warps_of_an_sm_are_resident(void **state)
{
    static const char run_of_two[] =
        "{\"machine\":{\"sms\":15},\"kernels\":["
        "{\"name\":\"a\",\"cycles\":1,\"block\":[64,1,1],\"ctas\":700,\"ctas_per_sm\":6},"
        "{\"name\":\"b\",\"cycles\":9,\"block\":[16,16,1],\"ctas\":15,\"ctas_per_sm\":6}]}";
    struct seen s = {.room = 64};
    assert_true(look(run_of_two, &s));
    assert_true(value(&s, "resident.warps") == 12);
}

static void a_run_without_kernels_has_none_of_it(void **state)
{
    struct seen s = {.room = 64};
    assert_true(look("{}", &s));
    assert_true(look("{\"kernels\":[]}", &s));
    assert_int_equal(s.count, 0);
}

static void a_failure_to_write_is_passed_on(void **state)
{
    for (uint32_t room = 0; room < 8; room++) {
        struct seen s = {.room = room};
        assert_false(look(run, &s));
        assert_int_equal(s.count, room);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_kernel_is_found),
        cmocka_unit_test(loads_are_joined_over_launches_and_ordered),
        cmocka_unit_test(what_is_given_has_a_name_in_the_list),
        cmocka_unit_test(the_most_warps_of_an_sm_are_resident),
        cmocka_unit_test(a_run_without_kernels_has_none_of_it),
        cmocka_unit_test(a_failure_to_write_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
