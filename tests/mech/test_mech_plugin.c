/* test_mech_plugin.c: mechanisms built as shared objects: they load, vote, count and keep time; what is wrong
 * with one is said. The folder of the shared objects is the first argument. */
#include "../unit/mech_kit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *folder;

/* "a swl" -> the paths of mech_probe_a.so, and swl as it is: words of one letter or with ':' in front are
 * probes. */
static const char *probes(const char *words, char *out, size_t size)
{
    char text[256];
    const char *word[8];
    snprintf(text, sizeof text, "%s", words);
    uint32_t n = kit_split(text, word, 8);
    out[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t at = strlen(out);
        if (word[i][0] == ':')
            snprintf(out + at, size - at, "%s/mech_probe_%s.so ", folder, word[i] + 1);
        else
            snprintf(out + at, size - at, "%s ", word[i]);
    }
    return out;
}

static void open_probes(struct mech_kit *k, const char *words, const char *settings)
{
    char names[512];
    kit_open(k, probes(words, names, sizeof names), settings, 1);
}

static void refused(const char *words, const char *settings, const char *message)
{
    struct mech_kit k = {0};
    char names[512];
    assert_false(kit_try_set(&k, probes(words, names, sizeof names), settings));
    struct strbuf out = {0};
    diag_render(&k.diags, &out);
    if (!strstr(strbuf_text(&out), message)) fail_msg("wanted '%s' in:\n%s", message, strbuf_text(&out));
    strbuf_free(&out);
    diag_free(&k.diags);
}

static void a_shared_object_loads_votes_and_counts(void **unused)
{
    struct mech_kit k;
    open_probes(&k, "oldest :a", "probe-a.forbid_issue=1 probe-a.deny_line=256");
    for (int w = 0; w < 3; w++) kit_start(&k, w);
    assert_int_equal(kit_pick(&k, 7), 1); /* 0 is forbidden */
    assert_true(mech_may_allocate(k.sm, &(struct mech_l1_access){.line = 128}));
    assert_false(mech_may_allocate(k.sm, &(struct mech_l1_access){.line = 256}));
    mech_on_issue(k.sm, &(struct mech_issue){0});
    mech_on_l1_access(k.sm, &(struct mech_l1_access){0});
    mech_on_l1_evict(k.sm, &(struct mech_l1_evict){0});
    mech_on_l1_fill(k.sm, &(struct mech_l1_fill){0});
    kit_barrier(&k, 1, true);
    mech_on_kernel(k.sm, true);
    mech_on_kernel(k.sm, false);
    static const struct {
        const char *name;
        uint64_t value;
    } want[] = {{"probe-a.asked", 2}, {"probe-a.issues", 1},   {"probe-a.accesses", 1}, {"probe-a.evicts", 1},
                {"probe-a.fills", 1}, {"probe-a.barriers", 1}, {"probe-a.kernels", 2},  {"probe-a.warps", 3}};
    for (size_t i = 0; i < ARRAY_LEN(want); i++) assert_int_equal(kit_stat(&k, want[i].name), want[i].value);
    kit_close(&k);
}

static void votes_are_anded_in_any_order(void **unused)
{
    static const char *const orders[] = {":a :b swl", ":b :a swl", "swl :b :a", ":b swl :a"};
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct mech_kit k;
        open_probes(&k, orders[i],
                    "probe-a.forbid_issue=1 probe-b.forbid_issue=6 probe-a.forbid_memory=16 "
                    "probe-b.forbid_memory=32 swl.warps=5");
        for (int w = 0; w < 8; w++) kit_start(&k, w);
        assert_int_equal(k.sm->issue_mask, 0x1f & ~7u);
        assert_int_equal(k.sm->memory_mask, ~(uint64_t)0x30);
        assert_int_equal(mech_allowed(k.sm, 0xff), 0x8);
        assert_int_equal(mech_allowed(k.sm, 0), 0x18);
        kit_close(&k);
    }
}

static void every_voter_on_allocation_is_asked_also_after_a_no(void **unused)
{
    static const char *const orders[] = {":a :b", ":b :a"};
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct mech_kit k;
        open_probes(&k, orders[i], "probe-a.deny_line=128 probe-b.deny_line=256");
        assert_false(mech_may_allocate(k.sm, &(struct mech_l1_access){.line = 128}));
        assert_false(mech_may_allocate(k.sm, &(struct mech_l1_access){.line = 256}));
        assert_true(mech_may_allocate(k.sm, &(struct mech_l1_access){.line = 384}));
        assert_int_equal(kit_stat(&k, "probe-a.asked"), 3);
        assert_int_equal(kit_stat(&k, "probe-b.asked"), 3);
        kit_close(&k);
    }
}

static void timers_come_when_due_and_can_be_set_anew(void **unused)
{
    struct mech_kit k;
    open_probes(&k, ":a :b", "probe-a.period=100 probe-b.period=70");
    assert_int_equal(k.sm->next_timer, 70);
    k.counters.issued = 11;
    mech_on_timer(k.sm, 69); /* nothing is due */
    assert_int_equal(kit_stat(&k, "probe-b.timers"), 0);
    mech_on_timer(k.sm, 70);
    assert_int_equal(kit_stat(&k, "probe-b.last_timer"), 70);
    assert_int_equal(kit_stat(&k, "probe-b.issued_counter"), 11);
    assert_int_equal(k.sm->next_timer, 100);
    mech_on_timer(k.sm, 290); /* late: as often as it was due, at the cycles at which it was due */
    assert_int_equal(kit_stat(&k, "probe-a.timers"), 2);
    assert_int_equal(kit_stat(&k, "probe-a.last_timer"), 200);
    assert_int_equal(kit_stat(&k, "probe-b.timers"), 3); /* 70, 140, 210: then the period was doubled */
    assert_int_equal(k.sm->next_timer, 300);
    mech_on_timer(k.sm, 300);
    assert_int_equal(k.sm->next_timer, 350);
    kit_close(&k);
    open_probes(&k, ":a", "probe-a.period=0");
    assert_int_equal(k.sm->next_timer, UINT64_MAX);
    kit_close(&k);
}

static void each_sm_has_its_own_zeroed_state_and_all_share_the_gpu_state(void **unused)
{
    struct mech_kit k;
    open_probes(&k, ":a", "");
    const struct mech_ports ports = {
        .host = &k, .sm = 1, .sm_count = 2, .warps = 48, .schedulers = 1, .line_bytes = 128};
    struct mech_sm *second = mech_sm_create(k.set, &ports, k.gpu_states), *first = k.sm;
    mech_on_kernel(first, true);
    k.sm = second;
    assert_int_equal(kit_stat(&k, "probe-a.kernels"), 0);
    assert_int_equal(kit_stat(&k, "probe-a.sms"), 2);
    k.sm = first;
    assert_int_equal(kit_stat(&k, "probe-a.kernels"), 1);
    assert_int_equal(kit_stat(&k, "probe-a.sms"), 1);
    mech_sm_destroy(second);
    kit_close(&k);
}

static void a_plug_in_may_be_the_policy(void **unused)
{
    struct mech_kit k;
    open_probes(&k, ":youngest_slot", "");
    for (int w = 0; w < 4; w++) kit_start(&k, w);
    assert_int_equal(mech_set_count(k.set), 1);
    assert_int_equal(kit_pick(&k, 0x7), 2);
    assert_int_equal(kit_pick(&k, 0), MECH_NO_WARP);
    kit_close(&k);
    refused(":youngest_slot lrr", "", "'probe-youngest-slot' and 'lrr' both pick");
}

static void picking_a_warp_that_is_not_ready_ends_the_run_and_names_the_culprit(void **unused)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        dup2(ends[1], 2);
        signal(SIGABRT, SIG_DFL); /* not cmocka's */
        struct mech_kit k;
        open_probes(&k, ":wrong_pick", "");
        kit_start(&k, 0);
        kit_pick(&k, 1);
        _exit(0);
    }
    close(ends[1]);
    char text[512] = "";
    ssize_t n = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    assert_true(n > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 0));
    assert_non_null(strstr(text, "'probe-wrong-pick' picked a warp that is not ready"));
}

static void a_bad_plug_in_is_refused_with_the_reason(void **unused)
{
    refused(":old_api", "", "was built for version 99 of the mechanism interface, this is version 1");
    refused(":no_symbol", "", "exports no 'heddle_mechanism'");
    refused(":bad_prefix", "",
            "its parameter 'other.forbid_issue' must be called 'probe-bad-prefix.something'");
    refused(":bad_default", "", "must be a whole number");
    refused(":a :a", "", "'probe-a' is attached twice");
    refused(":a", "probe-a.perio=3", "did you mean 'probe-a.period'?");
    char path[] = "/tmp/heddle-mech-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "text", 4) == 4);
    close(fd);
    refused(path, "", "cannot load the mechanism");
    unlink(path);
}

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : ".";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shared_object_loads_votes_and_counts),
        cmocka_unit_test(votes_are_anded_in_any_order),
        cmocka_unit_test(every_voter_on_allocation_is_asked_also_after_a_no),
        cmocka_unit_test(timers_come_when_due_and_can_be_set_anew),
        cmocka_unit_test(each_sm_has_its_own_zeroed_state_and_all_share_the_gpu_state),
        cmocka_unit_test(a_plug_in_may_be_the_policy),
        cmocka_unit_test(picking_a_warp_that_is_not_ready_ends_the_run_and_names_the_culprit),
        cmocka_unit_test(a_bad_plug_in_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
