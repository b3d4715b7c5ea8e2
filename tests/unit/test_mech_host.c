/* test_mech_host.c: choosing mechanisms: names, policies, parameters, and errors that say what to do. */
#include "mech_kit.h"

static void refused(const char *names, const char *settings, const char *message, const char *hint)
{
    struct mech_kit k = {0};
    assert_false(kit_try_set(&k, names, settings));
    struct strbuf out = {0};
    diag_render(&k.diags, &out);
    if (!strstr(strbuf_text(&out), message)) fail_msg("wanted '%s' in:\n%s", message, strbuf_text(&out));
    if (!strstr(strbuf_text(&out), hint)) fail_msg("wanted '%s' in:\n%s", hint, strbuf_text(&out));
    strbuf_free(&out);
    diag_free(&k.diags);
}

static void every_built_in_is_complete_and_can_be_attached(void **unused)
{
    for (const struct mechanism *const *m = mech_builtin; *m; m++) {
        struct mech_kit k;
        kit_open(&k, (*m)->name, "", 2);
        assert_true(*(*m)->summary && *(*m)->paper);
        kit_close(&k);
    }
    assert_non_null(mech_builtin_find(mech_default_policy));
}

static void without_a_policy_gto_picks(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "swl", "", 1);
    assert_int_equal(mech_set_count(k.set), 2);
    assert_string_equal(mech_set_at(k.set, (uint32_t)k.sm->policy)->name, "gto");
    kit_close(&k);
    kit_open(&k, "", "", 1);
    assert_int_equal(mech_set_count(k.set), 1);
    kit_close(&k);
}

static void the_machine_may_bring_its_own_default_policy(void **unused)
{
    struct diag_list diags = {0};
    const char *const swl[] = {"swl"}, *const both[] = {"swl", "oldest"},
                      *const setting[] = {"two-level.active=8"};
    struct mech_set *s = mech_set_create_for("two-level", swl, 1, setting, 1, &diags);
    assert_non_null(s);
    assert_string_equal(mech_set_at(s, 1)->name, "two-level");
    assert_int_equal(*(const uint32_t *)mech_set_params(s, 1), 8);
    mech_set_destroy(s);
    s = mech_set_create_for("lrr", both, 2, NULL, 0, &diags); /* a named policy replaces it */
    assert_non_null(s);
    assert_int_equal(mech_set_count(s), 2);
    mech_set_destroy(s);
    assert_null(mech_set_create_for("str", swl, 1, NULL, 0, &diags));
    assert_int_equal(diags.errors, 1);
    diag_free(&diags);
}

static void two_policies_are_an_error_that_names_both(void **unused)
{
    refused("lrr swl gto", "", "'lrr' and 'gto' both pick", "keep one");
}

static void a_mechanism_is_attached_once(void **unused)
{
    refused("swl swl", "", "'swl' is attached twice", "once");
}

static void an_unknown_name_gets_the_nearest(void **unused)
{
    refused("two-levle", "", "no mechanism is called 'two-levle'", "did you mean 'two-level'?");
    refused("quartz", "", "no mechanism is called 'quartz'", "heddle list mechanisms");
    refused("./no-such.so", "", "cannot read the mechanism './no-such.so'", "./mine.so");
    refused("no-such.so", "", "cannot read the mechanism 'no-such.so'", "./mine.so");
}

static void parameters_have_defaults_and_are_set_by_name(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "str swl", "swl.warps=4 str.degree=3", 1);
    const uint32_t *str = mech_set_params(k.set, 0), *swl = mech_set_params(k.set, 1);
    assert_int_equal(swl[0], 4);
    assert_int_equal(str[0], 10);
    assert_int_equal(str[1], 3);
    assert_int_equal(str[2], 2);
    kit_close(&k);
}

static void a_wrong_setting_says_what_would_be_right(void **unused)
{
    refused("swl", "swl.warp=4", "unknown parameter 'swl.warp'", "did you mean 'swl.warps'?");
    refused("swl", "swl.warps=0", "swl.warps must be a whole number from 1 to 64, got '0'", "^");
    refused("swl", "swl.warps", "a setting is NAME.PARAM=VALUE", "as in swl.warps=4");
    refused("swl", "str.degree=2", "mechanism 'str' is not attached", "--mech str");
    refused("swl", "slw.warps=2", "no mechanism is called 'slw'", "did you mean 'swl'?");
    refused("swl", "gto.x=2", "unknown parameter 'gto.x'", "gto has no parameters");
}

static void votes_mask_the_picks_and_memory_votes_only_memory_instructions(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "oldest swl", "swl.warps=2", 1);
    for (int w = 0; w < 3; w++) kit_start(&k, w);
    k.sm->masks[0].memory = ~W(0);
    struct mech_sched_view v = {
        .ready = 7, .resident = 7, .memory_next = 1, .age = k.age, .cta = k.cta, .last = MECH_NO_WARP};
    assert_int_equal(mech_pick(k.sm, &v), 1);
    assert_int_equal(v.allowed, W(1));
    v.ready = 7;
    v.memory_next = 2;
    assert_int_equal(mech_pick(k.sm, &v), 0);
    assert_int_equal(v.allowed, W(0) | W(1));
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_built_in_is_complete_and_can_be_attached),
        cmocka_unit_test(without_a_policy_gto_picks),
        cmocka_unit_test(the_machine_may_bring_its_own_default_policy),
        cmocka_unit_test(two_policies_are_an_error_that_names_both),
        cmocka_unit_test(a_mechanism_is_attached_once),
        cmocka_unit_test(an_unknown_name_gets_the_nearest),
        cmocka_unit_test(parameters_have_defaults_and_are_set_by_name),
        cmocka_unit_test(a_wrong_setting_says_what_would_be_right),
        cmocka_unit_test(votes_mask_the_picks_and_memory_votes_only_memory_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
