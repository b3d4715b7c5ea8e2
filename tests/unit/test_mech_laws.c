/* test_mech_laws.c: LAWS and SAP (src/mech/laws_core.c, sap.c) event by event: the examples of APRES's
 * figures 6, 8 and 9 with the paper's numbers, the limits of each table, and each reading of what the paper
 * leaves open. */
#include "mech_kit.h"

enum { LINE = 128 };

static uint64_t last_id;
/* prefetches of a kit that the L1 has taken */
static uint32_t taken;

static void open_with_warps(struct mech_kit *k, const char *names, const char *settings, int warps)
{
    kit_open(k, names, settings, 1);
    last_id = 0;
    taken = 0;
    for (int w = 0; w < warps; w++) kit_start(k, w);
}

/* The L1 takes the oldest prefetch that it has not taken. False: there is none. */
static bool take_prefetch(struct mech_kit *k, enum mech_prefetch_outcome outcome)
{
    if (taken == k->prefetch_count) return false;
    const uint32_t i = taken++;
    mech_on_prefetch(k->sm, &(struct mech_prefetch){.line = k->prefetches[i].address / LINE * LINE,
                                                    .pc = k->prefetches[i].pc,
                                                    .warp = k->prefetches[i].warp,
                                                    .outcome = outcome});
    return true;
}
static void take_prefetches(struct mech_kit *k)
{
    while (take_prefetch(k, MECH_PREFETCH_SENT)) continue;
}

/* A global load issues; the L1 will answer it with this many accesses. Returns its id. */
static uint64_t issue_lines(struct mech_kit *k, int warp, uint32_t pc, uint32_t lines)
{
    mech_on_issue(k->sm, &(struct mech_issue){.id = ++last_id,
                                              .warp = warp,
                                              .pc = pc,
                                              .is_load = true,
                                              .is_global = true,
                                              .lanes = UINT32_MAX,
                                              .l1_lines = lines});
    return last_id;
}
static uint64_t issue(struct mech_kit *k, int warp, uint32_t pc) { return issue_lines(k, warp, pc, 1); }

/* A load that the L1 never sees: it sets the LLPC and moves nothing. */
static void pass(struct mech_kit *k, int warp, uint32_t pc) { issue_lines(k, warp, pc, 0); }

static struct mech_l1_access access_to(int warp, uint32_t pc, uint64_t id, enum mech_l1_outcome outcome,
                                       uint64_t address)
{
    return (struct mech_l1_access){.id = id,
                                   .warp = warp,
                                   .pc = pc,
                                   .line = address / LINE * LINE,
                                   .is_first_line = true,
                                   .outcome = outcome,
                                   .lane_address = address};
}
static void answer(struct mech_kit *k, int warp, uint32_t pc, uint64_t id, enum mech_l1_outcome outcome,
                   uint64_t address)
{
    const struct mech_l1_access a = access_to(warp, pc, id, outcome, address);
    mech_on_l1_access(k->sm, &a);
}
/* Issue and answer of a load in one; the L1 takes no prefetch yet. */
static void load_only(struct mech_kit *k, int warp, uint32_t pc, enum mech_l1_outcome outcome,
                      uint64_t address)
{
    answer(k, warp, pc, issue(k, warp, pc), outcome, address);
}
/* ... and the L1 takes what is prefetched. */
static void load(struct mech_kit *k, int warp, uint32_t pc, enum mech_l1_outcome outcome, uint64_t address)
{
    load_only(k, warp, pc, outcome, address);
    take_prefetches(k);
}

/* The whole queue: warps of one digit, in order. */
static void expect_order(struct mech_kit *k, const char *order)
{
    uint64_t ready = 0;
    char got[16] = "";
    for (const char *c = order; *c; c++) ready |= W(*c - '0');
    for (size_t i = 0; order[i]; i++) {
        const int w = kit_pick(k, ready);
        got[i] = (char)('0' + w);
        ready &= ~W(w);
    }
    assert_string_equal(got, order);
}

static void expect_prefetches(const struct mech_kit *k, uint32_t count, const uint64_t (*wanted)[2])
{
    assert_int_equal(k->prefetch_count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(k->prefetches[i].warp, wanted[i][0]);
        assert_int_equal(k->prefetches[i].address, wanted[i][1]);
    }
}
#define EXPECT_PREFETCHES(k, ...)                                                                            \
    do {                                                                                                     \
        const uint64_t list[][2] = {__VA_ARGS__};                                                            \
        expect_prefetches(k, ARRAY_LEN(list), list);                                                         \
    } while (0)

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

/* ---- figure 9 ---- */

/* The entry of PC 200 holds warp 10, address 2800 and stride 100; warp 2 misses at 2000 with warp 1 in its
 * group. 1900 lies in another line. */
static void figure_9_warp_1_gets_1900(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 12);
    load(&k, 11, 200, MECH_L1_HIT, 2900);
    load(&k, 10, 200, MECH_L1_HIT, 2800);
    assert_int_equal(kit_stat(&k, "apres.strides_stored"), 1);
    for (int w = 0; w < 12; w++) pass(&k, w, 300 + (uint32_t)w);
    pass(&k, 1, 100);
    pass(&k, 2, 100);
    load(&k, 2, 200, MECH_L1_MISS, 2000);
    EXPECT_PREFETCHES(&k, {1, 1900});
    assert_int_equal(k.prefetches[0].pc, 200);
    assert_int_equal(kit_stat(&k, "apres.matches"), 1);
    assert_int_equal(kit_stat(&k, "apres.bursts"), 1);
    assert_int_equal(kit_stat(&k, "apres.prefetches"), 1);
    assert_int_equal(kit_pick(&k, 0xfff), 1);       /* the target is first */
    assert_int_equal(kit_pick(&k, W(2) | W(9)), 9); /* the warp that missed is last */
    kit_close(&k);
}

/* Another stride is stored and nothing is prefetched; its second time is a match. */
static void another_stride_is_stored_and_not_prefetched(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "apres.empty_llpc=match", 6);
    load(&k, 0, 200, MECH_L1_MISS, 1000 * LINE);
    load(&k, 1, 200, MECH_L1_MISS, 1001 * LINE); /* 1 line */
    load(&k, 2, 200, MECH_L1_MISS, 1004 * LINE); /* 3 lines */
    assert_int_equal(k.prefetch_count, 0);
    load(&k, 3, 200, MECH_L1_MISS, 1007 * LINE);
    EXPECT_PREFETCHES(&k, {4, 1010 * LINE}, {5, 1013 * LINE});
    assert_int_equal(kit_stat(&k, "apres.strides_stored"), 2);
    expect_order(&k, "450123");
    kit_close(&k);
}

static void hits_train_but_prefetch_nothing(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 6);
    for (int w = 0; w < 5; w++) load(&k, w, 200, MECH_L1_HIT, (uint64_t)w * LINE);
    assert_int_equal(kit_stat(&k, "apres.matches"), 3);
    assert_int_equal(k.prefetch_count, 0);
    kit_close(&k);
}

/* ---- figure 6 ---- */

/* Warps 0 and 3 share an LLPC; the load of 1000 at PC 100 hits: warp 3 goes ahead of warps 1 and 2. */
static void figure_6_laws_issues_warp_3_after_warp_0(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "laws", "", 4);
    pass(&k, 0, 50);
    pass(&k, 1, 60);
    pass(&k, 2, 60);
    pass(&k, 3, 50);
    load(&k, 0, 100, MECH_L1_HIT, 1000);
    expect_order(&k, "0312");
    kit_close(&k);
}

/* PC 200 has a stride of 1000. Warps 1 and 2 load 12000 and 13000; the group of warp 2 is 0, 2, 3 (LLPC 100).
 * Its miss prefetches 11000 for warp 0, which goes ahead of warp 1, and 14000 for warp 3. */
static void figure_6_apres_prefetches_11000_for_warp_0(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 4);
    load(&k, 0, 200, MECH_L1_HIT, 11000);
    for (int w = 0; w < 4; w++) pass(&k, w, 100);
    load(&k, 1, 200, MECH_L1_HIT, 12000);
    load(&k, 2, 200, MECH_L1_MISS, 13000);
    EXPECT_PREFETCHES(&k, {0, 11000}, {3, 14000});
    expect_order(&k, "0312");
    kit_close(&k);
}

/* ---- strides ---- */

static void random_addresses_make_no_prefetch(void **unused)
{
    struct mech_kit k;
    uint64_t seed = 1;
    open_with_warps(&k, "apres", "", 48);
    for (uint32_t i = 0; i < 2000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        load(&k, (int)(i % 48), 200 + i / 48 % 5 * 8, MECH_L1_MISS, seed >> 34 << 2);
    }
    assert_int_equal(kit_stat(&k, "apres.trained"), 2000);
    assert_int_equal(k.prefetch_count, 0);
    assert_int_equal(kit_stat(&k, "apres.prefetch_refused"), 0);
    kit_close(&k);
}

/* 1000 bytes over 3 warps: no whole number explains it, and the stride before is forgotten. */
static void a_stride_is_a_whole_number(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 10);
    load(&k, 0, 200, MECH_L1_MISS, 0);
    load(&k, 1, 200, MECH_L1_MISS, 333);
    load(&k, 4, 200, MECH_L1_MISS, 1333); /* 1000 / 3 = 333, the rest is 1 */
    assert_int_equal(k.prefetch_count, 0);
    load(&k, 5, 200, MECH_L1_MISS, 1666); /* 333: stored again */
    assert_int_equal(k.prefetch_count, 0);
    load(&k, 6, 200, MECH_L1_MISS, 1999);
    assert_true(k.prefetch_count > 0);
    kit_close(&k);
}

/* A loop: warp 1 executes the load again; the next warp's stride is from there. */
static void a_warp_that_comes_again_only_moves_the_entry_on(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 5);
    load(&k, 0, 200, MECH_L1_MISS, 0);
    load(&k, 1, 200, MECH_L1_MISS, 1000);
    load(&k, 1, 200, MECH_L1_MISS, 9000);
    assert_int_equal(k.prefetch_count, 0);
    load(&k, 2, 200, MECH_L1_MISS, 10000);
    EXPECT_PREFETCHES(&k, {3, 11000}, {4, 12000});
    kit_close(&k);
}

/* All warps want the line that the load misses: no request, but they are targets. */
static void a_line_is_asked_for_once(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 6);
    for (int w = 0; w < 3; w++) load(&k, w, 200, MECH_L1_MISS, 4096);
    assert_int_equal(k.prefetch_count, 0);
    assert_int_equal(kit_stat(&k, "apres.prefetch_shared"), 3);
    expect_order(&k, "345012");
    kit_close(&k);
    open_with_warps(&k, "apres", "", 6); /* 64 bytes: two warps a line */
    for (int w = 0; w < 3; w++) load(&k, w, 200, MECH_L1_MISS, (uint64_t)w * LINE / 2);
    EXPECT_PREFETCHES(&k, {4, 2 * LINE});
    assert_int_equal(kit_stat(&k, "apres.prefetch_shared"), 2);
    kit_close(&k);
}

/* ---- limits of SAP ---- */

static void three_strided_misses(struct mech_kit *k, const char *settings, int warps)
{
    open_with_warps(k, "apres", settings, warps);
    for (int w = 0; w < 3; w++) load(k, w, 200, MECH_L1_MISS, (uint64_t)w * 1000);
}

static void the_warp_queue_cuts_a_group_off(void **unused)
{
    struct mech_kit k;
    three_strided_misses(&k, "apres.wq=2", 8);
    EXPECT_PREFETCHES(&k, {3, 3000}, {4, 4000});
    expect_order(&k, "34012567");
    kit_close(&k);
}

static void a_target_whose_prefetch_is_refused_is_not_promoted(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 6);
    k.prefetch_room = 1;
    for (int w = 0; w < 3; w++) load(&k, w, 200, MECH_L1_MISS, (uint64_t)w * 1000);
    EXPECT_PREFETCHES(&k, {3, 3000});
    assert_int_equal(kit_stat(&k, "apres.prefetch_refused"), 2);
    expect_order(&k, "301245");
    kit_close(&k);
}

/* Warp 2 misses with warps 3, 4 and 5 in its group: one prefetch at a time, and its warp goes to the head
 * with it. A target that has issued a load since stays where it is when the next one follows. */
static void prefetches_go_one_by_one(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 6);
    for (int w = 0; w < 3; w++) load_only(&k, w, 200, MECH_L1_MISS, (uint64_t)w * 1000);
    EXPECT_PREFETCHES(&k, {3, 3000});
    expect_order(&k, "301245");
    take_prefetch(&k, MECH_PREFETCH_REDUNDANT);
    EXPECT_PREFETCHES(&k, {3, 3000}, {4, 4000});
    expect_order(&k, "340125");
    load_only(&k, 3, 100, MECH_L1_SENT, 0);
    take_prefetch(&k, MECH_PREFETCH_DROPPED);
    EXPECT_PREFETCHES(&k, {3, 3000}, {4, 4000}, {5, 5000});
    expect_order(&k, "453012");
    kit_close(&k);
}

/* The queues hold one load: its group goes when the next miss brings another, strided or not. */
static void the_next_group_takes_the_warp_queue(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 6);
    for (int w = 0; w < 3; w++) load_only(&k, w, 200, MECH_L1_MISS, (uint64_t)w * 1000);
    load_only(&k, 3, 200, MECH_L1_MISS, 3000); /* 4 and 5 are left, and asked for from its address */
    EXPECT_PREFETCHES(&k, {3, 3000});
    take_prefetch(&k, MECH_PREFETCH_SENT);
    EXPECT_PREFETCHES(&k, {3, 3000}, {4, 4000});
    assert_int_equal(kit_stat(&k, "apres.bursts_cut"), 1);
    load_only(&k, 0, 300, MECH_L1_MISS, 77); /* PC 300 has no stride */
    take_prefetches(&k);
    assert_int_equal(k.prefetch_count, 2);
    assert_int_equal(kit_stat(&k, "apres.bursts_cut"), 2);
    assert_int_equal(kit_stat(&k, "apres.prefetch_shared"), 0);
    kit_close(&k);
    open_with_warps(&k, "apres", "apres.pace=all", 6);
    for (int w = 0; w < 3; w++) load_only(&k, w, 200, MECH_L1_MISS, (uint64_t)w * 1000);
    EXPECT_PREFETCHES(&k, {3, 3000}, {4, 4000}, {5, 5000});
    expect_order(&k, "345012");
    kit_close(&k);
}

/* Warps 0 to 2 and 3 to 5 are two CTAs; all of them are in the group of warp 1. */
static void a_miss_prefetches_for_its_cta_or_for_the_group(void **unused)
{
    static const char *const settings[] = {"", "apres.targets=group"};
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        struct mech_kit k;
        kit_open(&k, "apres", settings[i], 1);
        last_id = taken = 0;
        for (int w = 0; w < 6; w++)
            mech_on_warp(k.sm,
                         &(struct mech_warp_event){.warp = w, .is_start = true, .cta_slot = (uint32_t)w / 3});
        load(&k, 3, 200, MECH_L1_HIT, 3000);
        load(&k, 0, 200, MECH_L1_HIT, 0);
        load(&k, 1, 200, MECH_L1_MISS, 1000);
        if (i)
            EXPECT_PREFETCHES(&k, {2, 2000}, {4, 4000}, {5, 5000});
        else
            EXPECT_PREFETCHES(&k, {2, 2000});
        kit_close(&k);
    }
}

/* Ten loads fit; the eleventh takes the entry of the one used least recently. */
static void the_prefetch_table_replaces_the_least_recently_used(void **unused)
{
    static const struct {
        const char *settings;
        uint64_t matches;
    } runs[] = {{"", 0}, {"apres.pt=11", 1}};
    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        struct mech_kit k;
        open_with_warps(&k, "apres", runs[i].settings, 4);
        load(&k, 0, 200, MECH_L1_MISS, 0);
        load(&k, 1, 200, MECH_L1_MISS, 1000);
        for (uint32_t pc = 300; pc < 310; pc++) load(&k, 0, pc, MECH_L1_MISS, 0);
        load(&k, 2, 200, MECH_L1_MISS, 2000);
        assert_int_equal(kit_stat(&k, "apres.matches"), runs[i].matches);
        kit_close(&k);
    }
}

/* Another kernel has other loads at the same PCs. */
static void a_kernel_starts_with_an_empty_table(void **unused)
{
    struct mech_kit k;
    three_strided_misses(&k, "", 3);
    mech_on_kernel(k.sm, false);
    mech_on_kernel(k.sm, true);
    load(&k, 1, 200, MECH_L1_MISS, 1000); /* 1000 less than warp 2 */
    assert_int_equal(kit_stat(&k, "apres.matches"), 1);
    kit_close(&k);
}

/* A target that has ended since is not prefetched for; the group is the one at the issue. */
static void nothing_is_prefetched_for_a_warp_that_has_ended(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 5);
    load(&k, 0, 200, MECH_L1_MISS, 0);
    load(&k, 1, 200, MECH_L1_MISS, 1000);
    const uint64_t id = issue(&k, 2, 200);
    kit_end(&k, 3);
    answer(&k, 2, 200, id, MECH_L1_MISS, 2000);
    take_prefetches(&k);
    EXPECT_PREFETCHES(&k, {4, 4000});
    kit_close(&k);
}

/* ---- what the paper leaves open in SAP ---- */

/* Slots 0 to 3 hold warps 0 and 1 of CTAs 5 and 9: by slot no stride is seen twice. */
static void warps_are_numbered_by_slot_or_in_the_grid(void **unused)
{
    static const char *const settings[] = {"", "apres.warp_id=grid"};
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        struct mech_kit k;
        kit_open(&k, "apres", settings[i], 1);
        last_id = taken = 0;
        for (int w = 0; w < 5; w++)
            mech_on_warp(k.sm, &(struct mech_warp_event){.warp = w,
                                                         .is_start = true,
                                                         .cta = 5 + 4u * (uint32_t)(w / 2),
                                                         .index = (uint32_t)w % 2,
                                                         .cta_warps = 2});
        load(&k, 0, 200, MECH_L1_MISS, 10 * 1000);
        load(&k, 1, 200, MECH_L1_MISS, 11 * 1000);
        load(&k, 2, 200, MECH_L1_MISS, 18 * 1000);
        if (i)
            EXPECT_PREFETCHES(&k, {3, 19 * 1000}, {4, 26 * 1000});
        else
            assert_int_equal(k.prefetch_count, 0);
        kit_close(&k);
    }
}

/* Warp 1 hits: trained by misses alone, the table sees warps 0 and 2. */
static void the_table_is_trained_by_executions_or_by_misses(void **unused)
{
    static const char *const settings[] = {"", "apres.training=misses"};
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        struct mech_kit k;
        open_with_warps(&k, "apres", settings[i], 4);
        load(&k, 0, 200, MECH_L1_MISS, 0);
        load(&k, 1, 200, MECH_L1_HIT, 1000);
        load(&k, 2, 200, MECH_L1_MISS, 2000);
        assert_int_equal(kit_stat(&k, "apres.trained"), i ? 2 : 3);
        assert_int_equal(k.prefetch_count, i ? 0 : 1);
        kit_close(&k);
    }
}

/* A load of three lines, 10 lines apart, of which the second hits; from one of them up to another. */
static void wide_lines(struct mech_kit *k, int warp, uint64_t id, uint64_t address, uint32_t from,
                       uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        struct mech_l1_access a =
            access_to(warp, 200, id, i == 1 ? MECH_L1_HIT : MECH_L1_MISS, address + i * 10ull * LINE);
        a.is_first_line = i == 0;
        a.lane_address = address;
        mech_on_l1_access(k->sm, &a);
    }
    take_prefetches(k);
}
static void wide_load(struct mech_kit *k, int warp, uint64_t address)
{
    wide_lines(k, warp, issue_lines(k, warp, 200, 3), address, 0, 3);
}

/* Warp 3 ends between the first and the third line. */
static void a_warp_that_ends_leaves_the_warp_queue(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "apres.requests=all", 5);
    for (int w = 0; w < 2; w++) wide_load(&k, w, (uint64_t)w * LINE);
    const uint64_t id = issue_lines(&k, 2, 200, 3);
    wide_lines(&k, 2, id, 2 * LINE, 0, 2);
    EXPECT_PREFETCHES(&k, {3, 3 * LINE}, {4, 4 * LINE});
    kit_end(&k, 3);
    wide_lines(&k, 2, id, 2 * LINE, 2, 3);
    EXPECT_PREFETCHES(&k, {3, 3 * LINE}, {4, 4 * LINE}, {4, 24 * LINE});
    kit_close(&k);
}

static void a_wide_load_prefetches_from_its_lowest_thread_or_from_all_misses(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 4);
    for (int w = 0; w < 3; w++) wide_load(&k, w, (uint64_t)w * LINE);
    EXPECT_PREFETCHES(&k, {3, 3 * LINE});
    kit_close(&k);
    open_with_warps(&k, "apres", "apres.requests=all", 4);
    for (int w = 0; w < 3; w++) wide_load(&k, w, (uint64_t)w * LINE);
    EXPECT_PREFETCHES(&k, {3, 3 * LINE}, {3, 23 * LINE});
    kit_close(&k);
    open_with_warps(&k, "apres", "apres.requests=all apres.drq=1", 4);
    for (int w = 0; w < 3; w++) wide_load(&k, w, (uint64_t)w * LINE);
    EXPECT_PREFETCHES(&k, {3, 3 * LINE});
    kit_close(&k);
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
        cmocka_unit_test(figure_9_warp_1_gets_1900),
        cmocka_unit_test(another_stride_is_stored_and_not_prefetched),
        cmocka_unit_test(hits_train_but_prefetch_nothing),
        cmocka_unit_test(figure_6_laws_issues_warp_3_after_warp_0),
        cmocka_unit_test(figure_6_apres_prefetches_11000_for_warp_0),
        cmocka_unit_test(random_addresses_make_no_prefetch),
        cmocka_unit_test(a_stride_is_a_whole_number),
        cmocka_unit_test(a_warp_that_comes_again_only_moves_the_entry_on),
        cmocka_unit_test(a_line_is_asked_for_once),
        cmocka_unit_test(the_warp_queue_cuts_a_group_off),
        cmocka_unit_test(a_target_whose_prefetch_is_refused_is_not_promoted),
        cmocka_unit_test(prefetches_go_one_by_one),
        cmocka_unit_test(the_next_group_takes_the_warp_queue),
        cmocka_unit_test(a_miss_prefetches_for_its_cta_or_for_the_group),
        cmocka_unit_test(the_prefetch_table_replaces_the_least_recently_used),
        cmocka_unit_test(a_kernel_starts_with_an_empty_table),
        cmocka_unit_test(nothing_is_prefetched_for_a_warp_that_has_ended),
        cmocka_unit_test(warps_are_numbered_by_slot_or_in_the_grid),
        cmocka_unit_test(the_table_is_trained_by_executions_or_by_misses),
        cmocka_unit_test(a_warp_that_ends_leaves_the_warp_queue),
        cmocka_unit_test(a_wide_load_prefetches_from_its_lowest_thread_or_from_all_misses),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(a_machine_that_does_not_fit_is_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
