/* test_mech_plugin.c: mechanisms built as shared objects: they load, vote, count and keep time; errors in one
 * are reported. The folder of the shared objects is the first argument. */
#include "../unit/mech_kit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *folder;

/* Translates words: ":a swl" -> the path of mech_probe_a.so, and swl as it is; "@every_hook" -> the path of
 * every_hook.so. */
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
        else if (word[i][0] == '@')
            snprintf(out + at, size - at, "%s/%s.so ", folder, word[i] + 1);
        else
            snprintf(out + at, size - at, "%s ", word[i]);
    }
    return out;
}

static void open_probes(struct mech_kit *k, const char *words, const char *settings)
{
    char names[1024];
    kit_open(k, probes(words, names, sizeof names), settings, 1);
}

static void refused(const char *words, const char *settings, const char *message)
{
    struct mech_kit k = {0};
    char names[1024];
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
                    "probe-b.forbid_memory=32 probe-a.forbid_load=3 probe-b.forbid_load=8 swl.warps=5");
        for (int w = 0; w < 8; w++) kit_start(&k, w);
        assert_int_equal(k.sm->masks[0].issue, 0x1f & ~7u);
        assert_int_equal(k.sm->masks[0].memory, ~(uint64_t)0x30);
        assert_int_equal(k.sm->masks[0].load, ~(uint64_t)0xb);
        assert_int_equal(votes_allow(&k.sm->masks[0], 0xff, 0), 0x8);
        assert_int_equal(votes_allow(&k.sm->masks[0], 0xff, 0xff), 0);
        assert_int_equal(votes_allow(&k.sm->masks[0], 0, 0), 0x18);
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

static void a_miss_needs_the_yes_of_all_and_all_are_asked(void **unused)
{
    static const char *const orders[] = {":a :b", ":b :a"};
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct mech_kit k;
        open_probes(&k, orders[i], "probe-a.deny_miss=128 probe-b.deny_miss=256");
        assert_false(mech_may_miss(k.sm, &(struct mech_l1_access){.line = 128}));
        assert_false(mech_may_miss(k.sm, &(struct mech_l1_access){.line = 256}));
        assert_true(mech_may_miss(k.sm, &(struct mech_l1_access){.line = 384}));
        assert_int_equal(kit_stat(&k, "probe-a.asked_miss"), 3);
        assert_int_equal(kit_stat(&k, "probe-b.asked_miss"), 3);
        kit_close(&k);
    }
}

static void limits_take_the_minimum_and_the_tags_the_maximum(void **unused)
{
    static const char *const orders[] = {":a :b gto", ":b gto :a"};
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct mech_kit k;
        open_probes(&k, orders[i],
                    "probe-a.ctas=3 probe-b.ctas=5 probe-a.lines=300 probe-a.lines_max=320 probe-b.lines=64 "
                    "probe-b.lines_max=256 probe-a.reexec=32 probe-b.reexec=16");
        assert_int_equal(k.sm->cta_limit, 3);
        assert_int_equal(k.sm->l1_lines, 64);
        assert_int_equal(k.sm->l1_lines_max, 320);
        assert_int_equal(k.sm->reexec_entries, 16);
        kit_close(&k);
        open_probes(&k, orders[i], "probe-b.reexec=16"); /* 0 does not count */
        assert_int_equal(k.sm->cta_limit, UINT32_MAX);
        assert_int_equal(k.sm->l1_lines, UINT32_MAX);
        assert_int_equal(k.sm->l1_lines_max, 0);
        assert_int_equal(k.sm->reexec_entries, 16);
        kit_close(&k);
    }
}

static void timers_come_when_due_and_can_be_set_again(void **unused)
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
    struct mech_sm_setup setup = k.sm->setup;
    setup.index = 1;
    struct mech_sm *second = mech_sm_create(&setup), *first = k.sm;
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

/* ---- every hook ---- */

static void call_each_hook(struct mech_sm *m)
{
    const uint64_t candidates[] = {0x6};
    const uint64_t age[MECH_BANK_WARPS] = {3, 2, 1};
    const uint32_t cta[MECH_BANK_WARPS] = {0};
    struct mech_sched_view v = {
        .ready = 7, .resident = 7, .age = age, .cta = cta, .last = MECH_NO_WARP, .scheduler_count = 1};
    assert_int_equal(mech_pick(m, &v), 2);
    assert_int_equal(mech_take_miss(m, &(struct mech_l1_access){0}, 9).answer, MECH_MISS_PASS);
    mech_line_inserted(m, 5, 1);
    mech_line_inserted(m, 5, 2);
    mech_line_touched(m, 5, 1);
    assert_int_equal(
        mech_victim(m, &(struct mech_victim_view){.set = 5, .ways = 4, .candidates = candidates}), 2);
    assert_true(mech_may_allocate(m, &(struct mech_l1_access){0}));
    assert_true(mech_may_miss(m, &(struct mech_l1_access){0}));
    assert_int_equal(mech_holds(m, 1), MECH_HOLD_NO);
    mech_on_held(m, 3);
    assert_int_equal(mech_extra_hit(m, 5, 6), 0);
    mech_on_kernel(m, true);
    mech_on_launch(m, &(struct mech_launch){.kernel = "k"});
    mech_on_issue(m, &(struct mech_issue){0});
    mech_on_next(m, &(struct mech_next){0});
    mech_on_l1_access(m, &(struct mech_l1_access){0});
    mech_on_l1_evict(m, &(struct mech_l1_evict){0});
    mech_on_l1_fill(m, &(struct mech_l1_fill){0});
    mech_on_l1_level(m, &(struct mech_l1_level){0});
    mech_on_prefetch(m, &(struct mech_prefetch){0});
    mech_on_warp(m, &(struct mech_warp_event){0});
    mech_on_barrier(m, &(struct mech_barrier){0});
    mech_on_rows_lost(m, &(struct mech_rows_lost){0});
    mech_on_cta(m, &(struct mech_cta){0});
    assert_true(mech_admit(m, &(struct mech_admit){0}));
    mech_on_memory_read(m, 0, 0);
    mech_on_timer(m, m->next_timer);
    mech_on_ring(m, 7);
}

static void each_hook_is_called_as_often_as_the_sm_says(void **unused)
{
    struct mech_kit k;
    open_probes(&k, "@every_hook", "every_hook.gpu_period=300");
    call_each_hook(k.sm);
    mech_gpu_timer(k.gpu, mech_gpu_next_timer(k.gpu));
    const struct mechanism *m = mech_set_at(k.set, 0);
    for (const struct stat_row *r = m->stats; r->name; r++) {
        uint64_t wanted = !strcmp(r->name, "every_hook.line_inserted") ? 2 : 1;
        if (kit_stat(&k, r->name) != wanted)
            fail_msg("%s is %llu", r->name, (unsigned long long)kit_stat(&k, r->name));
    }
    kit_close(&k);
}

static void what_nobody_fills_is_known_before(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "lrr", "", 1);
    const struct mech_sm *m = k.sm;
    assert_false(m->has_take_miss | m->has_victim | m->has_line_touched | m->has_line_inserted |
                 m->has_allocate | m->has_may_miss | m->has_extra_hit | m->has_kernel | m->has_launch |
                 m->has_issue | m->has_next | m->has_access | m->has_evict | m->has_fill | m->has_level |
                 m->has_prefetch | m->has_warp | m->has_barrier | m->has_rows_lost | m->has_cta);
    assert_int_equal(m->ring_user, -1);
    assert_int_equal(mech_take_miss(k.sm, &(struct mech_l1_access){0}, 1).answer, MECH_MISS_PASS);
    assert_true(mech_may_miss(k.sm, &(struct mech_l1_access){0}));
    kit_close(&k);
    open_probes(&k, "@every_hook_beside", "");
    m = k.sm;
    assert_true(m->has_take_miss & m->has_victim & m->has_line_touched & m->has_line_inserted &
                m->has_allocate & m->has_may_miss & m->has_extra_hit & m->has_kernel & m->has_launch &
                m->has_issue & m->has_next & m->has_access & m->has_evict & m->has_fill & m->has_level &
                m->has_prefetch & m->has_warp & m->has_barrier & m->has_rows_lost & m->has_cta);
    assert_int_equal(m->ring_user, 0);
    assert_string_equal(mech_set_at(k.set, (uint32_t)m->policy)->name, "gto");
    kit_close(&k);
}

static void rows_are_lost_by_their_owner_alone(void **unused)
{
    struct mech_kit k;
    open_probes(&k, ":a @every_hook", "");
    mech_on_rows_lost(k.sm, &(struct mech_rows_lost){.rows = 4});
    assert_int_equal(kit_stat(&k, "every_hook.on_rows_lost"), 1);
    assert_int_equal(kit_stat(&k, "probe-a.rows_lost"), 0);
    kit_close(&k);
}

static void gpu_timers_come_when_due_and_free_the_state_from_one_thread(void **unused)
{
    struct mech_kit k;
    open_probes(&k, "@every_hook :a", "every_hook.gpu_period=300");
    assert_false(mech_gpu_is_shared_freely(mech_set_at(k.set, 0)));
    assert_true(mech_gpu_is_shared_freely(mech_set_at(k.set, 1)));
    assert_string_equal(mech_gpu_shares(k.gpu), "probe-a");
    assert_int_equal(mech_gpu_next_timer(k.gpu), 300);
    mech_gpu_timer(k.gpu, 299);
    assert_int_equal(kit_stat(&k, "every_hook.on_gpu_timer"), 0);
    mech_gpu_timer(k.gpu, 950);
    assert_int_equal(kit_stat(&k, "every_hook.on_gpu_timer"), 3);
    assert_int_equal(mech_gpu_next_timer(k.gpu), 1200);
    kit_close(&k);
    open_probes(&k, "@every_hook", "every_hook.gpu_period=0");
    assert_int_equal(mech_gpu_next_timer(k.gpu), UINT64_MAX);
    assert_null(mech_gpu_shares(k.gpu));
    kit_close(&k);
}

/* ---- notes ---- */

static void notes_are_merged_by_cycle_and_sm_and_bounded(void **unused)
{
    struct mech_kit k;
    open_probes(&k, "gto :notes", "probe-notes.period=10");
    struct mech_sm_setup setup = k.sm->setup;
    setup.index = 1;
    struct mech_sm *second = mech_sm_create(&setup);
    mech_on_timer(second, 30);
    mech_on_timer(k.sm, 20);
    uint32_t count;
    uint64_t dropped;
    struct timed_note *n = mech_gpu_merge_notes(k.gpu, &count, &dropped);
    static const struct {
        uint64_t cycle, a;
        uint32_t sm;
    } want[] = {{10, 1, 0}, {10, 1, 1}, {20, 2, 0}, {20, 2, 1}, {30, 3, 1}};
    assert_int_equal(count, ARRAY_LEN(want));
    assert_int_equal(dropped, 0);
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_int_equal(n[i].cycle, want[i].cycle);
        assert_int_equal(n[i].sm, want[i].sm);
        assert_int_equal(n[i].a, want[i].a);
        assert_int_equal(n[i].b, 7);
        assert_string_equal(n[i].kind, "down");
        assert_string_equal(n[i].mechanism_name, "probe-notes");
    }
    free(n);
    mech_on_timer(k.sm, 20 * (MECH_NOTES_MAX + 5)); /* the period doubles after the third */
    free(mech_gpu_merge_notes(k.gpu, &count, &dropped));
    assert_int_equal(count, MECH_NOTES_MAX + 3);
    assert_true(dropped > 0);
    assert_int_equal(kit_stat(&k, "probe-notes.timers"), MECH_NOTES_MAX + dropped);
    mech_sm_destroy(second);
    kit_close(&k);
}

/* ---- what a mechanism must not do ---- */

/* The run ends when these mechanisms are attached, or when act is done, with this message. */
static void ends(const char *words, void (*act)(struct mech_kit *), const char *message)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        dup2(ends[1], 2);
        signal(SIGABRT, SIG_DFL); /* not cmocka's */
        struct mech_kit k;
        open_probes(&k, words, "");
        k.cycle = 100;
        const struct mech_failure *failure = mech_gpu_failure(k.gpu);
        if (failure) fputs(failure->text, stderr);
        if (act) act(&k);
        _exit(failure != NULL);
    }
    close(ends[1]);
    char text[512] = "";
    ssize_t n = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    assert_true(n > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 0));
    if (!strstr(text, message)) fail_msg("wanted '%s' in:\n%s", message, text);
}

static void act_pick(struct mech_kit *k)
{
    kit_start(k, 0);
    kit_pick(k, 1);
}
static void act_victim(struct mech_kit *k)
{
    mech_victim(k->sm, &(struct mech_victim_view){.set = 6, .ways = 4, .candidates = (uint64_t[]){0x7}});
}
static void act_miss(struct mech_kit *k) { mech_take_miss(k->sm, &(struct mech_l1_access){0}, 4); }
static void act_timer(struct mech_kit *k) { mech_on_timer(k->sm, 100); }

static void a_bad_answer_ends_the_run_and_names_mechanism_hook_and_cycle(void **unused)
{
    ends(":wrong_pick", act_pick,
         "mechanism 'probe-wrong-pick', pick, SM 0, cycle 101: picked warp 5 of bank 0, which is not ready");
    ends(":wrong_victim", act_victim,
         "mechanism 'probe-wrong-victim', victim, SM 0, cycle 100: chose way 3 of set 6");
    ends(":late_hit", act_miss,
         "mechanism 'probe-late-hit', take_miss, SM 0, cycle 100: answered after 65537");
    ends(":odd_miss", act_miss, "mechanism 'probe-odd-miss', take_miss, SM 0, cycle 100: answered 7");
}

static void a_port_that_may_not_be_called_ends_the_run(void **unused)
{
    ends(":wrong_note", act_timer,
         "'probe-wrong-note', note in on_timer, SM 0, cycle 100: kind 1, but note_names has 1");
    ends(":takes_rows", act_timer,
         "'probe-takes-rows', registers_take in on_timer, SM 0, cycle 100: only a mechanism");
    ends(":late_memory", act_timer,
         "'probe-late-memory', memory in on_timer, SM 0, cycle 100: may be called in init alone");
    ends(":early_prefetch", NULL,
         "'probe-early-prefetch', prefetch in init, SM 0, cycle 0: may not be called in init");
    ends(":early_probe", NULL,
         "'probe-early-probe', l1_probe in init, SM 0, cycle 0: may not be called in init");
    ends(":wrong_bank", act_timer,
         "'probe-wrong-bank', allow_issue in on_timer, SM 0, cycle 100: bank 1, but the SM has 1");
    ends(":wrong_wait", act_timer,
         "'probe-wrong-wait', memory_wait in on_timer, SM 0, cycle 100: bank 1, but the SM has 1");
    ends(":wrong_cta", act_timer,
         "'probe-wrong-cta', cta_registers in on_timer, SM 0, cycle 100: CTA slot 8, but the SM has 8");
    ends(":no_buffer", act_timer,
         "'probe-no-buffer', cta_registers in on_timer, SM 0, cycle 100: a buffer of 0 rows; 1 to 64");
    ends(":many_lines", act_timer,
         "'probe-many-lines', l1_lines in on_timer, SM 0, cycle 100: 1000 lines, but the L1 has 128");
    ends(":no_ring", act_timer,
         "'probe-no-ring', ring_pop in on_timer, SM 0, cycle 100: only a mechanism whose `uses` answers "
         "MECH_USES_RING");
    ends(":no_sharers", act_timer,
         "'probe-no-sharers', sharers in on_timer, SM 0, cycle 100: only a mechanism whose `uses` answers "
         "MECH_USES_SHARERS");
    ends(":no_ages", act_timer,
         "'probe-no-ages', copy_as_of in on_timer, SM 0, cycle 100: only a mechanism whose `uses` answers "
         "MECH_USES_AGES");
    ends(":far_copy", act_timer,
         "'probe-far-copy', copy_as_of in on_timer, SM 0, cycle 100: SM 2, but there are 2");
    ends(":ages_none", act_timer,
         "'probe-ages-none', miss_as_of in on_timer, SM 0, cycle 100: token 4: it has claimed no such miss");
    ends(":ring_to_self", act_timer,
         "'probe-ring-to-self', ring_push in on_timer, SM 0, cycle 100: a message for SM 0; it must be for "
         "another one of 2");
    ends(":claims", act_timer,
         "'probe-claims', miss_answer in on_timer, SM 0, cycle 100: token 4: it has claimed no such miss");
}

/* ---- parts of the machine that mechanisms use ---- */

static void misused(const char *words, const char *message)
{
    struct mech_kit k;
    struct strbuf out = {0};
    open_probes(&k, words, "");
    assert_false(mech_gpu_check(k.gpu, &(struct mech_machine){.sm_count = 2}, &k.diags));
    diag_render(&k.diags, &out);
    if (!strstr(strbuf_text(&out), message)) fail_msg("wanted '%s' in:\n%s", message, strbuf_text(&out));
    strbuf_free(&out);
    kit_close(&k);
}

static void one_mechanism_uses_the_ring(void **unused)
{
    struct mech_kit k;
    misused(":ring_a :ring_b", "'probe-ring-a' and 'probe-ring-b' both use the SMs' ring");
    misused(":uses_all", "mechanism 'probe-uses-all' uses 0xffffffff, which this Heddle does not know");
    open_probes(&k, ":a :ring_b", "");
    assert_true(mech_gpu_check(k.gpu, &(struct mech_machine){.sm_count = 2}, &k.diags));
    assert_int_equal(mech_gpu_uses_all(k.gpu), MECH_USES_RING);
    assert_int_equal(mech_gpu_uses(k.gpu, 0), 0);
    kit_close(&k);
}

/* ---- a mock SM behind the ports ---- */

/* The arguments of the calls of ports, in order. */
static VEC(uint64_t) calls;
static bool is_queue_full;
#define CALLED(...)                                                                                          \
    do {                                                                                                     \
        const uint64_t words[] = {__VA_ARGS__};                                                              \
        for (size_t i = 0; i < ARRAY_LEN(words); i++) vec_push(&calls, words[i]);                            \
    } while (0)

static bool mock_prefetch(void *sm, uint64_t address, uint32_t pc, int warp)
{
    CALLED(1, address, pc, (uint64_t)warp);
    return true;
}
static uint64_t mock_warp_issued(void *sm, int warp)
{
    CALLED(2, (uint64_t)warp);
    return 100;
}
static uint64_t mock_memory_wait(void *sm, uint32_t bank)
{
    CALLED(11, bank);
    return 66;
}
static const uint64_t *mock_live_registers(void *sm, int warp, uint32_t pc)
{
    static const uint64_t live[MECH_REGISTER_WORDS] = {0, 0, 0, 77};
    CALLED(3, (uint64_t)warp, pc);
    return live;
}
static void mock_miss_answer(void *sm, uint32_t token) { CALLED(4, token); }
static void mock_miss_as_of(void *sm, uint32_t token, uint64_t as_of) { CALLED(29, token, as_of); }
static bool mock_miss_forward(void *sm, uint32_t token)
{
    CALLED(5, token);
    return !is_queue_full;
}
static uint32_t mock_l1_set(void *sm, uint64_t line)
{
    CALLED(18, line);
    return 44;
}
static bool mock_l1_probe(void *sm, uint64_t line)
{
    CALLED(6, line);
    return true;
}
static bool mock_l1_read(void *sm, uint64_t line)
{
    CALLED(7, line);
    return true;
}
static bool mock_registers_take(void *sm, uint32_t from, uint32_t rows, uint32_t *first)
{
    CALLED(8, from, rows);
    *first = 55;
    return true;
}
static bool mock_registers_give(void *sm, uint32_t first, uint32_t rows)
{
    CALLED(9, first, rows);
    return true;
}
static bool mock_registers_keep(void *sm, uint32_t row)
{
    CALLED(27, row);
    return true;
}
static bool mock_registers_release(void *sm, uint32_t row)
{
    CALLED(28, row);
    return true;
}
static bool mock_bank_access(void *sm, uint32_t row, bool is_write)
{
    CALLED(10, row, is_write);
    return true;
}

static bool mock_ring_push(void *sm, enum mech_ring_channel channel, const struct mech_ring_message *m)
{
    CALLED(12, channel, m->words[3], m->bytes, m->to);
    return true;
}
static bool mock_ring_peek(void *sm, enum mech_ring_channel channel, struct mech_ring_message *m)
{
    *m = (struct mech_ring_message){.words = {88}, .to = MECH_RING_ALL, .hops = 3};
    CALLED(13, channel);
    return true;
}
static void mock_ring_pop(void *sm, enum mech_ring_channel channel) { CALLED(14, channel); }
static void mock_ring_pass(void *sm, enum mech_ring_channel channel) { CALLED(15, channel); }
static const uint64_t *mock_sharers(void *sm, uint64_t line)
{
    static const uint64_t mask[MECH_SM_WORDS] = {99};
    CALLED(16, line);
    return mask;
}
static uint64_t mock_copy_as_of(void *sm, uint32_t of_sm, uint64_t line)
{
    CALLED(30, of_sm, line);
    return 35;
}
static uint64_t mock_thread_insts(void *sm)
{
    CALLED(17);
    return 111;
}
static bool mock_cta_registers(void *sm, const struct mech_transfer *t)
{
    CALLED(11, t->cta_slot, t->is_out, t->buffer);
    return true;
}

static bool mock_cta_swap(void *sm, uint32_t out, uint32_t in, uint32_t cycles)
{
    CALLED(19, out, in, cycles);
    return true;
}
static uint32_t mock_warp_pcs(void *sm, uint32_t cta_slot, uint32_t index, uint32_t *pcs, uint32_t max)
{
    CALLED(20, cta_slot, index, max);
    pcs[1] = 30;
    return 2;
}
static const uint64_t *mock_cta_live(void *sm, uint32_t cta_slot, uint32_t pc)
{
    static const uint64_t live[MECH_REGISTER_WORDS] = {0, 0, 0, 33};
    CALLED(21, cta_slot, pc);
    return live;
}
static bool mock_cta_park(void *sm, uint32_t cta_slot, const uint64_t *kept)
{
    CALLED(22, cta_slot, kept[0]);
    return true;
}
static bool mock_cta_unpark(void *sm, uint32_t cta_slot)
{
    CALLED(23, cta_slot);
    return true;
}
static bool mock_ctas_left(void *sm)
{
    CALLED(24);
    return true;
}
static uint64_t mock_code_address(void *sm, uint32_t cta_slot, uint32_t pc)
{
    CALLED(25, cta_slot, pc);
    return 34;
}
static bool mock_memory_read(void *sm, uint64_t offset, uint32_t token)
{
    CALLED(26, offset, token);
    return true;
}

static const struct mech_host_ops mock_ops = {.prefetch = mock_prefetch,
                                              .counters = kit_counters,
                                              .warp_issued = mock_warp_issued,
                                              .memory_wait = mock_memory_wait,
                                              .live_registers = mock_live_registers,
                                              .miss_answer = mock_miss_answer,
                                              .miss_as_of = mock_miss_as_of,
                                              .miss_forward = mock_miss_forward,
                                              .l1_set = mock_l1_set,
                                              .l1_probe = mock_l1_probe,
                                              .l1_read = mock_l1_read,
                                              .registers_take = mock_registers_take,
                                              .registers_give = mock_registers_give,
                                              .registers_keep = mock_registers_keep,
                                              .registers_release = mock_registers_release,
                                              .bank_access = mock_bank_access,
                                              .ring_push = mock_ring_push,
                                              .ring_peek = mock_ring_peek,
                                              .ring_pop = mock_ring_pop,
                                              .ring_pass = mock_ring_pass,
                                              .sharers = mock_sharers,
                                              .copy_as_of = mock_copy_as_of,
                                              .thread_insts = mock_thread_insts,
                                              .cta_registers = mock_cta_registers,
                                              .cta_swap = mock_cta_swap,
                                              .warp_pcs = mock_warp_pcs,
                                              .cta_live = mock_cta_live,
                                              .cta_park = mock_cta_park,
                                              .cta_unpark = mock_cta_unpark,
                                              .ctas_left = mock_ctas_left,
                                              .code_address = mock_code_address,
                                              .memory_read = mock_memory_read};

static void open_port_caller(struct mech_kit *k, const struct mech_host_ops *ops)
{
    char names[1024];
    *k = (struct mech_kit){.counters.issued = 11};
    assert_true(kit_try_set(k, probes("@every_port", names, sizeof names), ""));
    kit_attach(k, ops, 48, 1);
    for (uint32_t token = 10; token < 12; token++)
        assert_int_equal(mech_take_miss(k->sm, &(struct mech_l1_access){0}, token).answer, MECH_MISS_CLAIM);
    assert_int_equal(k->sm->claimed, 2);
}

static void each_port_reaches_the_sm_with_what_the_mechanism_said(void **unused)
{
    static const uint64_t want[] = {
        1,  0x1234, 5,     6,  2,    7,  11,    0,  3,  8,     9,  29, 10, 27, 4,  10,    5,
        11, 18,     0x180, 6,  0x80, 7,  0x100, 8,  12, 13,    9,  14, 15, 27, 36, 28,    37,
        10, 16,     1,     11, 3,    1,  17,    12, 1,  20,    4,  1,  13, 0,  13, 0,     15,
        0,  13,     1,     14, 1,    16, 0x180, 30, 1,  0x200, 17, 19, 1,  2,  21, 20,    3,
        22, 2,      21,    4,  23,   22, 5,     26, 23, 6,     24, 25, 7,  24, 26, 0x140, 25};
    struct mech_kit k;
    open_port_caller(&k, &mock_ops);
    calls.len = 0;
    mech_on_timer(k.sm, 50);
    assert_int_equal(calls.len, ARRAY_LEN(want));
    assert_memory_equal(calls.data, want, sizeof want);
    vec_free(&calls);
    assert_int_equal(kit_stat(&k, "every_port.yes"), 14);
    assert_int_equal(kit_stat(&k, "every_port.seen"), 88 + 3);
    assert_int_equal(kit_stat(&k, "every_port.sharers"), 99);
    assert_int_equal(kit_stat(&k, "every_port.insts"), 111);
    assert_int_equal(kit_stat(&k, "every_port.as_of"), 35);
    assert_int_equal(kit_stat(&k, "every_port.issued"), 111);
    assert_int_equal(kit_stat(&k, "every_port.waits"), 66);
    assert_int_equal(kit_stat(&k, "every_port.live"), 77);
    assert_int_equal(kit_stat(&k, "every_port.set"), 44);
    assert_int_equal(kit_stat(&k, "every_port.first"), 55);
    assert_int_equal(kit_stat(&k, "every_port.block_is_zero"), 1);
    assert_int_equal(kit_stat(&k, "every_port.pcs"), 2 + 30);
    assert_int_equal(kit_stat(&k, "every_port.cta_live"), 33);
    assert_int_equal(kit_stat(&k, "every_port.code"), 34);
    assert_int_equal(kit_stat(&k, "every_port.others_keep_rows"), 0);
    assert_int_equal(k.sm->stall_cycles, 29);
    assert_int_equal(k.sm->cta_rows, 35);
    assert_int_equal(k.sm->claimed, 0);
    kit_close(&k);
}

static void a_claim_stays_while_the_miss_queue_is_full(void **unused)
{
    struct mech_kit k;
    open_port_caller(&k, &mock_ops);
    is_queue_full = true;
    mech_on_timer(k.sm, 50);
    is_queue_full = false;
    vec_free(&calls);
    assert_int_equal(kit_stat(&k, "every_port.yes"), 13);
    assert_int_equal(k.sm->claimed, 1);
    kit_close(&k);
}

static void an_sm_without_a_port_refuses_it(void **unused)
{
    static const struct mech_host_ops none;
    struct mech_kit k;
    open_port_caller(&k, &none);
    mech_on_timer(k.sm, 50);
    assert_int_equal(kit_stat(&k, "every_port.yes"), 0);
    assert_int_equal(kit_stat(&k, "every_port.issued"), 0);
    assert_int_equal(kit_stat(&k, "every_port.live"), 0);
    assert_int_equal(kit_stat(&k, "every_port.pcs"), 0);
    assert_int_equal(kit_stat(&k, "every_port.cta_live"), 0);
    assert_int_equal(kit_stat(&k, "every_port.code"), 24);
    kit_close(&k);
}

static void two_that_answer_one_question_are_refused_with_both_names(void **unused)
{
    refused("lrr @every_hook", "", "'lrr' and 'every_hook' both pick the warp that issues");
    refused(":claims @every_hook", "", "'probe-claims' and 'every_hook' both decide what becomes of a miss");
    refused(":wrong_victim @every_hook", "", "'probe-wrong-victim' and 'every_hook' both choose the line");
    refused(":owner @every_hook", "",
            "'probe-owner' and 'every_hook' both own the free rows of the register");
    refused("vt @every_hook", "", "'vt' and 'every_hook' both decide which CTAs become resident (admit)");
    refused(":keeper_a :keeper_b", "",
            "'probe-keeper-a' and 'probe-keeper-b' both use rows of the register file that no CTA owns");
    refused("@every_hook :a lrr", "", "'every_hook' and 'lrr' both pick the warp that issues");
    refused("morpheus @faulty_slice", "",
            "'morpheus' and 'faulty-slice' both take requests at the L2's slices (take_request)");
}

static void a_bad_plug_in_is_refused_with_the_reason(void **unused)
{
    refused(":old_api", "", "was built for version 99 of the mechanism interface, this is version 9");
    refused(":no_symbol", "", "exports no 'heddle_mechanism'");
    refused(":bad_prefix", "",
            "its parameter 'other.forbid_issue' must be called 'probe-bad-prefix.something'");
    refused(":bad_stat_prefix", "",
            "its statistic 'other.asked' must be called 'probe-bad-stat-prefix.something'");
    refused(":two_params", "", "'probe-two-params' has two parameters called 'probe-two-params.reexec'");
    refused(":two_stats", "", "'probe-two-stats' has two statistics called 'probe-two-stats.sms'");
    refused(":energy_name", "",
            "its row of energy 'other.tags' must be called 'probe-energy-name.something'");
    refused(":energy_stat", "", "energy 'probe-energy-stat.tags': no statistic is called 'l1.hit'");
    refused(":energy_less", "", "the row of energy 'probe-energy-less.tags' is not complete, or its amount");
    refused(":energy_like", "", "energy 'probe-energy-like.rows': tables have no row 'register'");
    refused(":empty_note", "", "'probe-empty-note' has a kind of note without a name");
    refused(":two_notes", "", "'probe-two-notes' has two kinds of note called 'one'");
    refused(":lone_period", "", "'probe-lone-period' gives its GPU timer a period, but does not fill");
    refused(":owns_all", "", "'probe-owns-all' owns 0xffffffff");
    refused(":lone_slices", "", "'probe-lone-slices' has a state for slices, but does not fill take_request");
    refused(":lone_choice", "", "'probe-lone-choice' fills choose_sms, but not cache_sms");
    refused(":lone_role", "", "'probe-lone-role' fills one of cache_sms, helper and the hooks of slices");
    refused("@mech_named_l1", "", "mechanism 'l1': built-in statistics have this name ('l1.");
    refused("@mech_named_gto", "", "mechanism 'gto': built-in statistics have this name ('gto.");
    refused("@mech_named_odd", "", "'a b' is not the name of a mechanism");
    refused(":odd_stat", "", "its statistic 'probe-odd-stat.a=b.");
    refused(":empty_stat", "", "'probe-empty-stat': its statistic '' must be called 'probe-empty-stat.some");
    refused(":bare_stat", "", "'probe-bare-stat': its statistic 'probe-bare-stat.' must be called");
    refused(":odd_param", "", "'probe-odd-param': its parameter 'probe-odd-param.");
    refused(":big_state", "", "'probe-big-state': state_bytes is 17592186044416; at most 1073741824");
    refused(":big_gpu_state", "", "'probe-big-gpu-state': gpu_state_bytes is 17592186044416; at most");
    refused(":big_params", "", "'probe-big-params': param_bytes is 18446744073709551615; at most");
    refused(":bad_default", "", "must be a whole number");
    refused(":a :a", "", "'probe-a' is attached twice");
    refused(":a", "probe-a.perio=3", "did you mean 'probe-a.period'?");
    char path[] = "/tmp/heddle-mech-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "text", 4) == 4);
    refused(path, "", "it is too short for a shared object");
    for (int i = 0; i < 100; i++) assert_true(write(fd, "text", 4) == 4);
    close(fd);
    refused(path, "", "invalid ELF header"); /* the text of dlopen */
    unlink(path);
}

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : ".";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shared_object_loads_votes_and_counts),
        cmocka_unit_test(votes_are_anded_in_any_order),
        cmocka_unit_test(every_voter_on_allocation_is_asked_also_after_a_no),
        cmocka_unit_test(a_miss_needs_the_yes_of_all_and_all_are_asked),
        cmocka_unit_test(limits_take_the_minimum_and_the_tags_the_maximum),
        cmocka_unit_test(timers_come_when_due_and_can_be_set_again),
        cmocka_unit_test(each_sm_has_its_own_zeroed_state_and_all_share_the_gpu_state),
        cmocka_unit_test(a_plug_in_may_be_the_policy),
        cmocka_unit_test(each_hook_is_called_as_often_as_the_sm_says),
        cmocka_unit_test(what_nobody_fills_is_known_before),
        cmocka_unit_test(rows_are_lost_by_their_owner_alone),
        cmocka_unit_test(gpu_timers_come_when_due_and_free_the_state_from_one_thread),
        cmocka_unit_test(notes_are_merged_by_cycle_and_sm_and_bounded),
        cmocka_unit_test(a_bad_answer_ends_the_run_and_names_mechanism_hook_and_cycle),
        cmocka_unit_test(a_port_that_may_not_be_called_ends_the_run),
        cmocka_unit_test(one_mechanism_uses_the_ring),
        cmocka_unit_test(each_port_reaches_the_sm_with_what_the_mechanism_said),
        cmocka_unit_test(a_claim_stays_while_the_miss_queue_is_full),
        cmocka_unit_test(an_sm_without_a_port_refuses_it),
        cmocka_unit_test(two_that_answer_one_question_are_refused_with_both_names),
        cmocka_unit_test(a_bad_plug_in_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
