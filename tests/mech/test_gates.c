/* test_gates.c: ccws, mascar and pa on a machine: memory is that of the program, the result depends neither
 * on skipped cycles nor on threads, and warps that they hold back wait where they should. Their decisions,
 * event by event: tests/unit/test_mech_ccws.c, test_mech_mascar.c, test_mech_pa.c. */
#include "script_kit.h"

/* ---- all of them ---- */

static const struct {
    const char *mechs[SCRIPT_LIST], *settings[SCRIPT_LIST];
} rows[] = {
    {{"ccws", "gto"}, {"ccws.tags=3", "ccws.ways=1", "ccws.k=128"}},
    {{"pa"}, {"pa.group_warps=1"}},
    {{"mascar"}, {NULL}},
    {{"mascar"}, {"mascar.entries=1", "mascar.order=oldest"}},
    {{"mascar", "ccws", "str"}, {"mascar.margin=1000", "ccws.k=128"}},
};

static void no_result_depends_on_skipping_threads_or_jams(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct play p = {.script = "abcdef#A_ca*#abcdef_d"};
        memcpy(p.mechs, rows[i].mechs, sizeof p.mechs);
        memcpy(p.settings, rows[i].settings, sizeof p.settings);
        p.sets[0] = "l1.mshrs=4";
        expect_same_everywhere(&p);
    }
}

/* ---- ccws ---- */

/* An L1 of four lines. Each warp goes twice over six lines, which LRU always drops before they come again:
 * the warp has locality of its own. A stream over lines that come once has no locality. */
static void loads_are_held_back_where_warps_lose_their_lines(void **state)
{
    struct play p = {
        .script = "abcdefabcdef", .mechs = {"ccws", "gto"}, .settings = {"ccws.k=128"}, .block = 96};
    play(&p);
    assert_true(stat_of("ccws.vta_hits") > 0);
    assert_true(stat_of("ccws.gated_cycles") > 0);
    assert_true(stat_of("sm.slots_held") > 0);
    play_close();
    p.script = "abcdefghijkl";
    play_and_expect(&p, (struct wanted[]){{"ccws.vta_hits", 0},
                                          {"ccws.gate_changes", 0},
                                          {"ccws.gated_cycles", 0},
                                          {"sm.slots_held", 0},
                                          {0}});
}

/* e replaces a. In the second round a finds its tag and replaces b, b finds its tag and replaces c, and so
 * on; the tag of a, which e replaces again, is there already. If a store to a comes before that, it drops its
 * tag, and stores to b to e drop their lines: in the second round e replaces a, and no locality was lost. */
static void a_store_between_two_loads_leaves_nothing_to_lose(void **state)
{
    play_and_expect(&(struct play){.script = "abcde abcde", .mechs = {"ccws", "gto"}},
                    (struct wanted[]){{"ccws.vta_inserts", 5}, {"ccws.vta_hits", 5}, {0}});
    play_and_expect(
        &(struct play){.script = "abcde ABCDE_abcde", .mechs = {"ccws", "gto"}},
        (struct wanted[]){{"ccws.vta_inserts", 2}, {"ccws.vta_invalidations", 1}, {"ccws.vta_hits", 0}, {0}});
}

/* ---- mascar: warps with different parts ---- */

/* After a barrier, warp 0 loads 32 lines that are in no cache; warp 1, some cycles later, loads one such
 * line, and after a fence it stores; warp 2, later, and warp 3, before warp 1, load the line that all warps
 * loaded before the barrier. */
static const char parts[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry parts(.param .u64 buf, .param .u64 out)\n{\n"
    ".reg .u64 %b, %o, %w, %x; .reg .u32 %v, %s, %t, %l, %i; .reg .pred %p;\n"
    "ld.param.u64 %b, [buf]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;\n"
    "mul.wide.u32 %x, %t, 4; add.u64 %o, %o, %x;\n"
    "and.b32 %l, %t, 31; mul.wide.u32 %w, %l, 128; add.u64 %w, %b, %w; shr.u32 %i, %t, 5;\n"
    "ld.global.u32 %s, [%b]; add.u32 %s, %s, 1;\n"
    "bar.sync 0;\n"
    "setp.eq.u32 %p, %i, 1;\n@%p bra one;\n"
    "setp.eq.u32 %p, %i, 2;\n@%p bra two;\n"
    "setp.eq.u32 %p, %i, 3;\n@%p bra three;\n"
    "ld.global.u32 %v, [%w+1024]; bra end;\n"
    "one:\n"
/* s is 1 and x is buf, but neither is known before the multiplications are done */
#define WAIT "mul.lo.u32 %s, %s, %s; mul.lo.u32 %s, %s, %s;\n"
#define THEN "sub.u32 %l, %s, 1; cvt.u64.u32 %x, %l; add.u64 %x, %b, %x;\n"
    WAIT WAIT THEN "ld.global.u32 %v, [%x+128];\n"
    "membar.gl;\n"
    "st.global.u32 [%b+512], %s;\n"
    "bra end;\n"
    "two:\n" WAIT WAIT WAIT WAIT THEN "ld.global.u32 %v, [%x];\n"
    "bra end;\n"
    "three:\n" WAIT THEN "ld.global.u32 %v, [%x];\n"
    "end:\nadd.u32 %v, %v, %s; st.global.u32 [%o], %v;\nret;\n}\n";

enum { PARTS_WARPS = 4, LINES = 64 };

/* When each access came, in the order in which the L1 took them; 0: never. */
static struct seen {
    uint64_t hit_of_3, hit_of_2, miss_of_1, last_of_0, filled_of_1, stored_by_1;
    uint64_t buf;
} seen;

static void see_access(void *state, const struct mech_l1_access *a)
{
    if (a->is_store) return;
    if (a->warp == 0 && a->line > seen.buf) seen.last_of_0 = a->cycle;
    if (a->warp == 1 && a->line == seen.buf + LINE_BYTES) seen.miss_of_1 = a->cycle;
    if (a->warp == 2 && a->line == seen.buf) seen.hit_of_2 = a->cycle;
    if (a->warp == 3 && a->line == seen.buf) seen.hit_of_3 = a->cycle;
}
static void see_fill(void *state, const struct mech_l1_fill *e)
{
    if (e->line == seen.buf + LINE_BYTES) seen.filled_of_1 = e->cycle;
}
static void see_issue(void *state, const struct mech_issue *e)
{
    if (e->warp == 1 && e->is_store && !seen.stored_by_1) seen.stored_by_1 = e->cycle;
}

/* Runs `parts` on an SM with eight MSHRs and two ports, and checks its results. The rig stays open. */
static void play_parts(const char *mech, const char *setting)
{
    const char *const mechs[] = {mech, blank_file}, *const settings[] = {setting};
    static const char *const sets[] = {
        "sm.count=1", "sm.perfect_icache=true", "sm.lsu_ports=2", "l1.size=16K", "l1.mshrs=8", "l1.ports=2"};
    blank_fill((struct mechanism){.on_l1_access = see_access, .on_l1_fill = see_fill, .on_issue = see_issue});
    rig_open(&rig, parts,
             &(struct rig_options){.sets = sets,
                                   .set_count = ARRAY_LEN(sets),
                                   .timed = {.mechs = mechs,
                                             .mech_count = 2,
                                             .mech_settings = settings,
                                             .mech_setting_count = setting != NULL}});
    seen = (struct seen){.buf = rig_alloc(&rig, LINES * LINE_BYTES)};
    for (uint32_t i = 0; i < LINES; i++) *(uint32_t *)(uintptr_t)(seen.buf + i * LINE_BYTES) = 10 * i;
    const uint64_t out = rig_alloc(&rig, 4 * 32 * PARTS_WARPS);
    rig_run(&rig, "parts", 1, 32 * PARTS_WARPS, (const uint64_t[]){seen.buf, out});
    for (uint32_t i = 0; i < 32 * PARTS_WARPS; i++) {
        const uint32_t value = i < 32 ? 10 * (8 + i) : i < 64 ? 10 : 0;
        assert_int_equal(((uint32_t *)(uintptr_t)out)[i], 1 + value);
    }
    assert_true(seen.hit_of_2 && seen.miss_of_1 && seen.last_of_0 && seen.filled_of_1 && seen.stored_by_1);
}

/* The load-store unit serves in order: without mascar the hit waits for all misses before it. */
static void a_hit_behind_a_blocked_miss_completes(void **state)
{
    play_parts("lrr", NULL);
    assert_true(seen.last_of_0 < seen.miss_of_1 && seen.miss_of_1 <= seen.hit_of_2);
    play_close();
    play_parts("mascar", NULL);
    assert_true(seen.hit_of_2 < seen.miss_of_1 && seen.hit_of_2 < seen.last_of_0);
    assert_true(stat_of("sm.reexecutions") >= 2);
    assert_true(stat_of("mascar.nacks") > 0 && stat_of("mascar.hits_under_miss") > 0);
    play_close();
}

/* The load of warp 1 is in the queue: its fence ends, and its store issues, when the data is there. */
static void a_fence_waits_for_a_load_in_the_queue(void **state)
{
    play_parts("mascar", NULL);
    assert_true(stat_of("mascar.nacks") > 0);
    assert_true(seen.stored_by_1 >= seen.filled_of_1);
    play_close();
}

/* The queue has one entry, which the 32 lines of warp 0 take; all other accesses are served behind them. */
static void a_queue_of_one_entry_is_served_alone_while_it_is_full(void **state)
{
    play_parts("mascar", "mascar.entries=1");
    assert_true(seen.last_of_0 < seen.hit_of_3 && seen.last_of_0 < seen.hit_of_2);
    assert_true(stat_of("sm.reexecutions") > 0);
    play_close();
}

/* Each warp of a CTA brings 32 lines with two MSHRs and then waits for the others at a barrier, or ends. */
static void owners_at_barriers_and_ends_hold_up_nobody(void **state)
{
    static const char *const scripts[] = {"#_#_a", "_#!#a", "#"};
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct play p = {.script = scripts[i], .mechs = {"mascar"}, .block = 256, .grid = 4};
        p.sets[0] = "l1.mshrs=2";
        play(&p);
        assert_true(stat_of("mascar.owners") > 0);
        play_close();
    }
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(no_result_depends_on_skipping_threads_or_jams),
        RIG_TEST(loads_are_held_back_where_warps_lose_their_lines),
        RIG_TEST(a_store_between_two_loads_leaves_nothing_to_lose),
        RIG_TEST(a_hit_behind_a_blocked_miss_completes),
        RIG_TEST(a_fence_waits_for_a_load_in_the_queue),
        RIG_TEST(a_queue_of_one_entry_is_served_alone_while_it_is_full),
        RIG_TEST(owners_at_barriers_and_ends_hold_up_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
