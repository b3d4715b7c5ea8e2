/* test_config.c: machines from YAML and --set: values, bases, and errors with line and column. */
#include "core/machine.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <unistd.h>

static bool load_text(const char *yaml, struct machine *m, struct strbuf *errors)
{
    char path[] = "/tmp/heddle-test-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, yaml, strlen(yaml)), (ssize_t)strlen(yaml));
    close(fd);
    struct diag_list d = {0};
    bool ok = machine_load(path, NULL, 0, m, &d);
    diag_render(&d, errors);
    diag_free(&d);
    unlink(path);
    return ok;
}

static void expect_error(const char *yaml, const char *text)
{
    struct machine m;
    struct strbuf errors = {0};
    assert_false(load_text(yaml, &m, &errors));
    if (!strstr(strbuf_text(&errors), text)) fail_msg("'%s' is not in:\n%s", text, strbuf_text(&errors));
    strbuf_free(&errors);
}

static void machines_have_the_papers_values(void **state)
{
    struct diag_list d = {0};
    struct machine m;
    assert_true(machine_load("fermi", NULL, 0, &m, &d));
    assert_string_equal(m.name, "fermi");
    assert_int_equal(m.sm_count, 15);
    assert_int_equal(m.sm_registers, 32768);
    assert_int_equal(m.l2_bytes, 768 << 10);
    assert_true(machine_load("kepler", NULL, 0, &m, &d)); /* by base: fermi */
    assert_int_equal(m.sm_count, 32);
    assert_int_equal(m.sm_shared_unit, 128);
    assert_true(machine_load("maxwell", NULL, 0, &m, &d));
    assert_int_equal(m.sm_warps, 64);
    assert_true(machine_load("rtx3080", NULL, 0, &m, &d));
    assert_int_equal(m.sm_count, 68);
    assert_true(machine_load("fermi-apres", NULL, 0, &m, &d));
    assert_true(machine_load("h200", NULL, 0, &m, &d));
    assert_int_equal(d.items.len, 0);
}

static void overrides_win(void **state)
{
    static const char *const sets[] = {"sm.count=3", "sm.shared=64K", "device.memory=2G"};
    struct diag_list d = {0};
    struct machine m;
    assert_true(machine_load("fermi", sets, 3, &m, &d));
    assert_int_equal(m.sm_count, 3);
    assert_int_equal(m.sm_shared_bytes, 64 << 10);
    assert_int_equal(m.memory_bytes, 2ull << 30);
}

static void errors_have_a_place(void **state)
{
    expect_error("sm:\n  cuont: 3\n", ":2:3: error: unknown parameter 'sm.cuont'");
    expect_error("sm:\n  cuont: 3\n", "did you mean 'sm.count'?");
    expect_error("sm:\n  count: many\n",
                 ":2:10: error: sm.count must be a whole number from 1 to 1024, got 'many'");
    expect_error("sm:\n  count: [1, 2]\n", ":2:10: error: a parameter takes one value");
    expect_error("sm:\n  count: 1\n  count: 2\n", ":3:3: error: 'count' appears twice, first in line 2");
    expect_error("- 1\n- 2\n", "must be a mapping");
    expect_error("a: {\n", "not valid YAML");
    expect_error("base: nowhere\n", "no machine 'nowhere'");
    expect_error("", "must be a mapping");
    expect_error("sm:\n  count: 99999999999999999999999\n", "must be a whole number");
}

static void an_old_name_leads_to_the_new_one(void **state)
{
    expect_error("l2:\n  replace: lru\n", ":2:3: error: unknown parameter 'l2.replace'");
    expect_error("l2:\n  replace: lru\n", "did you mean 'l2.replacement'?");
    expect_error("l2:\n  latency: 80\n", "did you mean 'l2.tag_latency'?");
}

static void parameters_print_as_they_are_read(void **state)
{
    struct machine m, again;
    struct diag_list d = {0};
    assert_true(machine_load("maxwell", NULL, 0, &m, &d));
    memset(&again, 0, sizeof again);
    for (const struct param_group *g = machine_groups; g->rows; g++)
        for (const struct param_row *r = g->rows; r->name; r++) {
            struct strbuf s = {0};
            param_format(r, (const char *)&m + g->offset, &s);
            assert_true(params_set(machine_groups, &again, r->name, strbuf_text(&s), NULL, 0, 0, 0, &d));
            strbuf_free(&s);
        }
    for (const struct param_group *g = machine_groups; g->rows; g++)
        for (const struct param_row *r = g->rows; r->name; r++) {
            struct strbuf a = {0}, b = {0};
            param_format(r, (const char *)&m + g->offset, &a);
            param_format(r, (const char *)&again + g->offset, &b);
            assert_string_equal(strbuf_text(&a), strbuf_text(&b));
            strbuf_free(&a);
            strbuf_free(&b);
        }
}

static void a_name_belongs_to_one_parameter(void **state)
{
    for (const struct param_group *g = machine_groups; g->rows; g++)
        for (const struct param_row *r = g->rows; r->name; r++)
            if (params_find(machine_groups, r->name, NULL) != r) fail_msg("%s is there twice", r->name);
}

static void ideal_memory_reaches_the_components(void **state)
{
    static const char *const sets[] = {"ideal.memory=infinite"};
    struct diag_list d = {0};
    struct machine m;
    assert_true(machine_load("fermi", sets, 1, &m, &d));
    assert_false(m.l2.infinite);
    machine_apply_ideal(&m);
    assert_true(m.l2.infinite && m.xbar.infinite && m.dram.infinite);
    assert_false(m.l1.perfect);
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_have_the_papers_values),
        cmocka_unit_test(overrides_win),
        cmocka_unit_test(errors_have_a_place),
        cmocka_unit_test(an_old_name_leads_to_the_new_one),
        cmocka_unit_test(parameters_print_as_they_are_read),
        cmocka_unit_test(a_name_belongs_to_one_parameter),
        cmocka_unit_test(ideal_memory_reaches_the_components),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
