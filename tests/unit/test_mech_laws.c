/* test_mech_laws.c: LAWS (src/mech/laws_core.c) event by event: the example of APRES's figure 8 with the
 * paper's numbers, the limits of its tables, each reading of what the paper leaves open, and what is
 * refused. */
#include "laws_kit.h"

/* ---- the queue ---- */

static void the_first_ready_warp_of_the_queue_issues_again_and_again(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "laws", "", 1);
    kit_start(&k, 2);
    kit_start(&k, 0);
    kit_start(&k, 1);
    static const struct {
        uint64_t ready;
        int warp;
    } steps[] = {{7, 2}, {7, 2}, {3, 0}, {7, 2}, {2, 1}, {3, 0}};
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        assert_int_equal(kit_pick(&k, steps[i].ready), steps[i].warp);
    kit_close(&k);
}

/* One queue for two banks of 64 slots: warp 70 is grouped with warp 1 and moves with it. */
static void the_queue_is_of_the_whole_sm(void **unused)
{
    struct mech_kit k = {.last = MECH_NO_WARP};
    assert_true(kit_try_set(&k, "laws", "laws.llt=128"));
    kit_attach(&k, &kit_ops, 128, 2);
    last_id = 0;
    static const int warps[] = {0, 1, 64, 70};
    for (size_t i = 0; i < ARRAY_LEN(warps); i++)
        mech_on_warp(k.sm, &(struct mech_warp_event){.warp = warps[i], .is_start = true});
    pass(&k, 0, 0x10);
    pass(&k, 64, 0x10);
    load(&k, 1, 0x10, MECH_L1_HIT, 0); /* the LLPC of 1 and 70 is empty */
    struct mech_sched_view v = {.age = k.age, .cta = k.cta, .last = MECH_NO_WARP, .scheduler_count = 2};
    v.ready = v.resident = W(0) | W(1);
    assert_int_equal(mech_pick(k.sm, &v), 1);
    v.bank = v.scheduler = 1;
    v.ready = v.resident = W(0) | W(6);
    assert_int_equal(mech_pick(k.sm, &v), 6);
    kit_close(&k);
}

/* ---- figure 8 ---- */

/* Warps 0, 2 and 3 have executed the load at 0x10 last; warp 0 issues that at 0x20. */
static uint64_t open_figure_8_with(struct mech_kit *k, const char *names, const char *settings)
{
    open_with_warps(k, names, settings, 4);
    pass(k, 0, 0x10);
    pass(k, 1, 0x18);
    pass(k, 2, 0x10);
    pass(k, 3, 0x10);
    return issue(k, 0, 0x20);
}
static uint64_t open_figure_8(struct mech_kit *k, const char *names)
{
    return open_figure_8_with(k, names, "");
}

static void figure_8_a_hit_moves_the_group_to_the_head(void **unused)
{
    static const char *const names[] = {"laws", "apres"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct mech_kit k;
        const uint64_t id = open_figure_8(&k, names[i]);
        expect_order(&k, "0123"); /* the issue alone moves nothing */
        answer(&k, 0, 0x20, id, MECH_L1_HIT, 0);
        expect_order(&k, "0231");
        kit_close(&k);
    }
}

static void figure_8_a_miss_moves_the_group_to_the_tail(void **unused)
{
    struct mech_kit k;
    const uint64_t id = open_figure_8(&k, "laws");
    answer(&k, 0, 0x20, id, MECH_L1_MISS, 0);
    expect_order(&k, "1023");
    assert_int_equal(kit_stat(&k, "laws.loads"), 5);
    assert_int_equal(kit_stat(&k, "laws.groups"), 1);
    assert_int_equal(kit_stat(&k, "laws.grouped"), 3);
    assert_int_equal(kit_stat(&k, "laws.miss_groups"), 1);
    assert_int_equal(kit_stat(&k, "laws.demotions"), 3);
    assert_int_equal(kit_stat(&k, "laws.unanswered"), 4);
    kit_close(&k);
}

/* Warp 0 has 0x20 in the table now: when warp 2 issues that load too, its group is 2 and 3. */
static void figure_8_the_next_of_the_group_finds_those_that_are_left(void **unused)
{
    struct mech_kit k;
    answer(&k, 0, 0x20, open_figure_8(&k, "laws"), MECH_L1_HIT, 0);
    load(&k, 2, 0x20, MECH_L1_MISS, 0);
    expect_order(&k, "0123");
    load(&k, 0, 0x30, MECH_L1_MISS, 0); /* 0 and 2 have executed 0x20 */
    expect_order(&k, "1302");
    kit_close(&k);
}

/* ---- the tables ---- */

/* One warp has the same load twice under way: only the id tells the answers apart. */
static void an_answer_belongs_to_the_load_with_its_id(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "laws", "", 3);
    pass(&k, 0, 0x10);
    pass(&k, 1, 0x10);
    pass(&k, 2, 0x20);
    const uint64_t first = issue(&k, 0, 0x20);  /* 0 and 1 */
    const uint64_t second = issue(&k, 0, 0x20); /* 0 and 2 */
    answer(&k, 0, 0x20, second, MECH_L1_MISS, 0);
    expect_order(&k, "102");
    answer(&k, 0, 0x20, second, MECH_L1_HIT, 0); /* it is answered already */
    answer(&k, 0, 0x20, 99, MECH_L1_HIT, 0);
    expect_order(&k, "102");
    answer(&k, 0, 0x20, first, MECH_L1_MISS, 0);
    expect_order(&k, "210");
    kit_close(&k);
}

/* Warps 0 to 3 with a load under way each, all with LLPCs of their own; then the answer to each. */
static void four_loads_under_way(struct mech_kit *k, const char *settings, const char *order)
{
    uint64_t ids[4];
    open_with_warps(k, "laws", settings, 4);
    for (int w = 0; w < 4; w++) pass(k, w, 0x10 + (uint32_t)w);
    for (int w = 0; w < 4; w++) ids[w] = issue(k, w, 0x20);
    for (int w = 0; w < 4; w++) answer(k, w, 0x20, ids[w], MECH_L1_HIT, 0);
    expect_order(k, order);
}

static void a_load_that_finds_the_group_table_full_makes_no_group(void **unused)
{
    static const struct {
        const char *settings, *order;
        uint64_t groups, overflows;
    } runs[] = {{"", "2103", 3, 1},
                {"laws.wgt_full=replace", "3210", 4, 1},
                {"laws.wgt=16", "3210", 4, 0},
                {"laws.wgt=1", "0123", 1, 3}};
    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        struct mech_kit k;
        four_loads_under_way(&k, runs[i].settings, runs[i].order);
        assert_int_equal(kit_stat(&k, "laws.groups"), runs[i].groups);
        assert_int_equal(kit_stat(&k, "laws.wgt_overflows"), runs[i].overflows);
        kit_close(&k);
    }
}

/* Neither a load that takes another path nor one that bypasses the L1 keeps an entry. */
static void a_load_without_hit_or_miss_frees_its_group(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "laws", "laws.wgt=1", 4);
    pass(&k, 0, 0x10);
    for (int i = 0; i < 3; i++) load(&k, 1, 0x10, MECH_L1_SENT, 0);
    expect_order(&k, "0123");
    assert_int_equal(kit_stat(&k, "laws.unanswered"), 4);
    assert_int_equal(kit_stat(&k, "laws.wgt_overflows"), 0);
    load(&k, 1, 0x20, MECH_L1_HIT, 0); /* 0 and 1 */
    expect_order(&k, "0123");
    load(&k, 0, 0x20, MECH_L1_MISS, 0);
    expect_order(&k, "1230");
    kit_close(&k);
}

static void only_global_loads_count(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "laws", "", 2);
    const struct mech_issue others[] = {
        {.id = 1, .warp = 1, .is_load = true, .is_local = true, .l1_lines = 1},
        {.id = 2, .warp = 1, .is_store = true, .is_global = true, .l1_lines = 1},
        {.id = 3, .warp = 1}};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        mech_on_issue(k.sm, &others[i]);
        answer(&k, 1, 0, others[i].id, MECH_L1_MISS, 0);
    }
    assert_int_equal(kit_stat(&k, "laws.loads"), 0);
    expect_order(&k, "01");
    kit_close(&k);
}

/* Slot 2 gets another warp while its group waits: that one is in no group, has no LLPC, and is last. */
static void another_warp_in_the_slot_starts_empty(void **unused)
{
    struct mech_kit k;
    const uint64_t id = open_figure_8(&k, "laws");
    kit_end(&k, 2);
    expect_order(&k, "013");
    kit_start(&k, 2);
    expect_order(&k, "0132");
    answer(&k, 0, 0x20, id, MECH_L1_MISS, 0);
    expect_order(&k, "1203");
    load(&k, 3, 0x20, MECH_L1_MISS, 0); /* LLPC 0x10: no longer that of slot 2 */
    expect_order(&k, "1203");
    load(&k, 2, 0x20, MECH_L1_HIT, 0); /* empty: alone */
    expect_order(&k, "2103");
    kit_close(&k);
}

static void a_warp_beyond_the_last_load_table_is_never_grouped(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "laws", "laws.llt=3", 4);
    pass(&k, 0, 0x18);
    load(&k, 3, 0x10, MECH_L1_HIT, 0); /* its LLPC is empty, as those of 1 and 2 */
    expect_order(&k, "0123");
    load(&k, 1, 0x10, MECH_L1_MISS, 0);
    expect_order(&k, "0312");
    kit_close(&k);
}

/* ---- what the paper leaves open in LAWS ---- */

static void an_empty_llpc_matches_empty_ones_or_none(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "laws", "", 4);
    pass(&k, 1, 0x10);
    load(&k, 0, 0x10, MECH_L1_MISS, 0);
    expect_order(&k, "1023");
    kit_close(&k);
    open_with_warps(&k, "laws", "laws.empty_llpc=alone", 4);
    pass(&k, 1, 0x10);
    load(&k, 0, 0x10, MECH_L1_MISS, 0);
    expect_order(&k, "1230");
    kit_close(&k);
}

static void a_merge_with_a_miss_is_a_miss_or_a_hit(void **unused)
{
    struct mech_kit k;
    answer(&k, 0, 0x20, open_figure_8(&k, "laws"), MECH_L1_PENDING, 0);
    expect_order(&k, "1023");
    kit_close(&k);
    open_with_warps(&k, "laws", "laws.pending=hit", 2);
    pass(&k, 0, 0x10);
    load(&k, 1, 0x10, MECH_L1_PENDING, 0);
    expect_order(&k, "10");
    kit_close(&k);
}

/* Three lines: hit, hit, and the third as given. */
/* Warp 3 is at the head when warps 0, 2 and 3 go to the tail. */
static void a_group_keeps_its_order_or_lies_by_warp(void **unused)
{
    static const char *const rows[][2] = {{"", "1302"}, {"laws.order=warp", "1023"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct mech_kit k;
        open_with_warps(&k, "laws", rows[i][0], 4);
        pass(&k, 3, 0x8);
        load(&k, 3, 0x10, MECH_L1_HIT, 0);
        expect_order(&k, "3012");
        pass(&k, 0, 0x10);
        pass(&k, 1, 0x18);
        pass(&k, 2, 0x10);
        load(&k, 0, 0x20, MECH_L1_MISS, 0);
        expect_order(&k, rows[i][1]);
        kit_close(&k);
    }
}

static void a_hit_moves_the_group_or_the_others_of_it(void **unused)
{
    struct mech_kit k;
    answer(&k, 0, 0x20, open_figure_8_with(&k, "laws", "laws.hit_moves=others"), MECH_L1_HIT, 0);
    expect_order(&k, "2301");
    kit_close(&k);
    answer(&k, 0, 0x20, open_figure_8_with(&k, "laws", "laws.hit_moves=others"), MECH_L1_MISS, 0);
    expect_order(&k, "1023");
    kit_close(&k);
}

/* another_warp_in_the_slot_starts_empty has the other reading. */
static void a_new_warp_starts_where_its_slot_was(void **unused)
{
    struct mech_kit k;
    const uint64_t id = open_figure_8_with(&k, "laws", "laws.start=slot");
    kit_end(&k, 2);
    expect_order(&k, "013");
    kit_start(&k, 2);
    expect_order(&k, "0123");
    answer(&k, 0, 0x20, id, MECH_L1_MISS, 0);
    expect_order(&k, "1203");
    kit_close(&k);
}

/* Warp 2 issues the load while it is in the group of warp 0. */
static void each_load_makes_a_group_or_that_of_the_first_warp(void **unused)
{
    static const struct {
        const char *settings, *order;
        uint64_t groups;
    } rows[] = {{"", "0123", 2}, {"laws.heads=first", "0231", 1}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct mech_kit k;
        const uint64_t first = open_figure_8_with(&k, "laws", rows[i].settings);
        const uint64_t second = issue(&k, 2, 0x20);
        answer(&k, 0, 0x20, first, MECH_L1_HIT, 0);
        expect_order(&k, "0231");
        answer(&k, 2, 0x20, second, MECH_L1_MISS, 0);
        expect_order(&k, rows[i].order);
        assert_int_equal(kit_stat(&k, "laws.groups"), rows[i].groups);
        kit_close(&k);
    }
}

static void three_lines(struct mech_kit *k, const char *settings, enum mech_l1_outcome third,
                        const char *order)
{
    open_with_warps(k, "laws", settings, 3);
    pass(k, 0, 0x10);
    pass(k, 2, 0x10);
    const uint64_t id = issue_lines(k, 1, 0x10, 3);
    for (uint32_t i = 0; i < 3; i++) {
        struct mech_l1_access a = access_to(1, 0x10, id, i < 2 ? MECH_L1_HIT : third, i * LINE);
        a.is_first_line = i == 0;
        mech_on_l1_access(k->sm, &a);
        if (i == 1) expect_order(k, *settings ? "012" : "102");
    }
    expect_order(k, order);
    kit_close(k);
}

static void a_load_of_many_lines_is_judged_by_the_first_or_by_all(void **unused)
{
    struct mech_kit k;
    three_lines(&k, "", MECH_L1_MISS, "102");
    three_lines(&k, "laws.answer=all", MECH_L1_MISS, "021");
    three_lines(&k, "laws.answer=all", MECH_L1_HIT, "102");
}

/* ---- what is refused ---- */

static void expect_text(struct mech_kit *k, const char *message)
{
    struct strbuf out = {0};
    diag_render(&k->diags, &out);
    if (!strstr(strbuf_text(&out), message)) fail_msg("wanted '%s' in:\n%s", message, strbuf_text(&out));
    strbuf_free(&out);
}

static void bad_settings_are_refused(void **unused)
{
    static const struct {
        const char *names, *settings, *message;
    } bad[] = {{"laws", "laws.llt=0", "laws.llt"},
               {"laws", "laws.wgt=0", "laws.wgt"},
               {"apres", "apres.llt=0", "apres.llt"},
               {"apres", "apres.wgt=0", "apres.wgt"},
               {"apres", "apres.drq=0", "apres.drq"},
               {"apres", "apres.wq=0", "apres.wq"},
               {"apres", "apres.pt=0", "apres.pt"},
               {"apres", "apres.pt=129", "apres.pt"},
               {"apres", "apres.answer=some", "apres.answer"},
               {"laws", "laws.pt=10", "unknown parameter 'laws.pt'"},
               {"laws", "apres.pt=10", "mechanism 'apres' is not attached"},
               {"laws apres", "", "both pick the warp that issues"}};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct mech_kit k = {0};
        assert_false(kit_try_set(&k, bad[i].names, bad[i].settings));
        expect_text(&k, bad[i].message);
        diag_free(&k.diags);
    }
}

static void a_machine_that_does_not_fit_is_warned_of(void **unused)
{
    static const struct {
        struct mech_machine machine;
        const char *settings, *names, *message;
    } poor[] = {
        {{.warps = 48, .prefetch_queue = 46}, "apres.pace=all", "apres", "a miss can ask for 47 lines"},
        {{.warps = 64, .prefetch_queue = 64}, "", "apres", "apres.llt is 48, but an SM has 64 warps"},
        {{.warps = 64, .prefetch_queue = 1}, "", "laws", "laws.llt is 48, but an SM has 64 warps"},
        {{.warps = 48, .prefetch_queue = 47}, "apres.pace=all", "apres", ""},
        {{.warps = 48, .prefetch_queue = 1}, "", "apres", ""},
        {{.warps = 48, .prefetch_queue = 1}, "", "laws", ""}};
    for (size_t i = 0; i < ARRAY_LEN(poor); i++) {
        struct mech_kit k;
        kit_open(&k, poor[i].names, poor[i].settings, 1);
        assert_true(mech_gpu_check(k.gpu, &poor[i].machine, &k.diags));
        assert_int_equal(k.diags.errors, 0);
        expect_text(&k, poor[i].message);
        if (!*poor[i].message) assert_int_equal(k.diags.items.len, 0);
        kit_close(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_ready_warp_of_the_queue_issues_again_and_again),
        cmocka_unit_test(the_queue_is_of_the_whole_sm),
        cmocka_unit_test(figure_8_a_hit_moves_the_group_to_the_head),
        cmocka_unit_test(figure_8_a_miss_moves_the_group_to_the_tail),
        cmocka_unit_test(figure_8_the_next_of_the_group_finds_those_that_are_left),
        cmocka_unit_test(an_answer_belongs_to_the_load_with_its_id),
        cmocka_unit_test(a_load_that_finds_the_group_table_full_makes_no_group),
        cmocka_unit_test(a_load_without_hit_or_miss_frees_its_group),
        cmocka_unit_test(only_global_loads_count),
        cmocka_unit_test(another_warp_in_the_slot_starts_empty),
        cmocka_unit_test(a_warp_beyond_the_last_load_table_is_never_grouped),
        cmocka_unit_test(an_empty_llpc_matches_empty_ones_or_none),
        cmocka_unit_test(a_merge_with_a_miss_is_a_miss_or_a_hit),
        cmocka_unit_test(a_group_keeps_its_order_or_lies_by_warp),
        cmocka_unit_test(a_hit_moves_the_group_or_the_others_of_it),
        cmocka_unit_test(a_new_warp_starts_where_its_slot_was),
        cmocka_unit_test(each_load_makes_a_group_or_that_of_the_first_warp),
        cmocka_unit_test(a_load_of_many_lines_is_judged_by_the_first_or_by_all),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(a_machine_that_does_not_fit_is_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
