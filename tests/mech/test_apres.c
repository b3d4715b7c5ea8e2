/* test_apres.c: LAWS and APRES on a machine: hits of small kernels counted on paper, and results that
 * depend neither on skipped cycles nor on threads. Orders of the queue, tables and readings:
 * unit/test_mech_laws.c. */
#include "script_kit.h"

#include "stats/loads.h"

/* Two kernels. Lines: the shared one first, then those of the warps. Each thread stores the sum of the words
 * that it loaded: line i holds i in its first word. */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    /* Each warp loads the shared line and waits for it and for the other warps. After a loop of `delay` turns
     * for each warp before it, it issues two loads that it does not wait for: a line of its own, at a stride
     * of one line, and the shared line again. */
    ".visible .entry two(.param .u64 lines, .param .u64 out, .param .u32 delay)\n{\n"
    ".reg .u64 %a, %b, %o, %x; .reg .u32 %t, %w, %d, %u, %v, %s; .reg .pred %p;\n"
    "ld.param.u64 %a, [lines]; ld.param.u64 %o, [out]; ld.param.u32 %d, [delay]; mov.u32 %t, %tid.x;\n"
    "shr.u32 %w, %t, 5; mul.wide.u32 %x, %w, 128; add.u64 %b, %a, %x; mul.lo.u32 %d, %d, %w;\n"
    "mul.wide.u32 %x, %t, 4; add.u64 %o, %o, %x;\n"
    "ld.global.u32 %s, [%a]; add.u32 %s, %s, 1;\nbar.sync 0;\n"
    "setp.eq.u32 %p, %d, 0;\n@%p bra go;\n"
    "wait:\nsub.u32 %d, %d, 1; setp.ne.u32 %p, %d, 0;\n@%p bra wait;\ngo:\n"
    "ld.global.u32 %u, [%b+128]; ld.global.u32 %v, [%a];\n"
    "add.u32 %s, %s, %u; add.u32 %s, %s, %v; st.global.u32 [%o], %s;\nret;\n}\n"
    /* `rounds` times: loads a line of its own, then one that all warps load in this round; waits for both. */
    ".visible .entry loop(.param .u64 lines, .param .u64 out, .param .u32 rounds)\n{\n"
    ".reg .u64 %a, %b, %o, %x; .reg .u32 %t, %w, %n, %u, %s; .reg .pred %p;\n"
    "ld.param.u64 %a, [lines]; ld.param.u64 %o, [out]; ld.param.u32 %n, [rounds]; mov.u32 %t, %tid.x;\n"
    "shr.u32 %w, %t, 5; mul.wide.u32 %x, %w, 128; add.u64 %b, %a, %x; mov.u32 %s, 0;\n"
    "mul.wide.u32 %x, %t, 4; add.u64 %o, %o, %x; mul.wide.u32 %x, %n, 128; add.u64 %b, %b, %x;\n"
    "again:\nld.global.u32 %u, [%b]; add.u32 %s, %s, %u;\n"
    "ld.global.u32 %u, [%a]; add.u32 %s, %s, %u;\n"
    "mov.u32 %w, %ntid.x; shl.b32 %w, %w, 2; cvt.u64.u32 %x, %w; add.u64 %b, %b, %x; add.u64 %a, %a, 128;\n"
    "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0;\n@%p bra again;\n"
    "st.global.u32 [%o], %s;\nret;\n}\n";

enum { WARPS = 4, MANY_WARPS = 24, ROUNDS = 20, LINES = ROUNDS + ROUNDS * MANY_WARPS };

static uint64_t open_lines(const char *const *mechs, const char *const *sets, uint32_t set_count)
{
    rig_open(&rig, ptx,
             &(struct rig_options){.sets = sets,
                                   .set_count = set_count,
                                   .timed = {.mechs = mechs, .mech_count = script_count(mechs)}});
    const uint64_t lines = rig_alloc(&rig, LINES * LINE_BYTES);
    for (uint32_t i = 0; i < LINES; i++) *(uint32_t *)(uintptr_t)(lines + i * LINE_BYTES) = i;
    return lines;
}

/* ---- figure 6 ---- */

/* One scheduler, an L1 of one set of four lines. */
static void run_two(const char *mech, uint32_t delay)
{
    static const char *const sets[] = {"sm.count=1", "sm.schedulers=1",        "l1.size=512",
                                       "l1.ways=4",  "sm.perfect_icache=true", "sm.prefetch_queue=64"};
    const uint64_t lines = open_lines((const char *const[SCRIPT_LIST]){mech}, sets, ARRAY_LEN(sets));
    const uint64_t out = rig_alloc(&rig, WARPS * 32 * 4);
    rig_run(&rig, "two", 1, WARPS * 32, (const uint64_t[]){lines, out, delay});
    for (uint32_t i = 0; i < WARPS * 32; i++) assert_int_equal(((uint32_t *)(uintptr_t)out)[i], i / 32 + 2);
}

/* The shared line is there when the four warps go on. LRR takes turns: the four lines of the warps fill the
 * set, the shared line leaves, and of its four loads one misses and three merge with that miss. LAWS stays
 * with the first warp of the queue: three warps find the shared line before the fourth line of a warp takes
 * its way. Three merges are those of the first loads. */
static void figure_6_laws_hits_before_the_line_is_evicted(void **state)
{
    run_two("lrr", 0);
    expect_stats((struct wanted[]){
        {"l1.global_load_hits", 0}, {"l1.global_load_pending", 3 + 3}, {"l1.requests_read", 6}, {0}});
    rig_close(&rig);
    run_two("laws", 0);
    expect_stats((struct wanted[]){
        {"l1.global_load_hits", 3}, {"l1.global_load_pending", 3}, {"l1.requests_read", 6}, {0}});
    rig_close(&rig);
}

/* The warps come one after the other, and the line that leaves is the first warp's: the shared line hits four
 * times. The third warp shows the stride again, and its miss prefetches the line of the fourth, which asks
 * for the line before it has arrived (14 turns) or after (100). */
static void figure_6_apres_prefetches_for_the_last_warp(void **state)
{
    static const struct {
        const char *mech;
        uint32_t delay;
        uint64_t hits, merges, late, useful;
    } runs[] = {{"lrr", 14, 4, 3, 0, 0},
                {"laws", 14, 4, 3, 0, 0},
                {"apres", 14, 4, 4, 1, 0},
                {"laws", 100, 4, 3, 0, 0},
                {"apres", 100, 5, 3, 0, 1}};
    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        run_two(runs[i].mech, runs[i].delay);
        expect_stats((struct wanted[]){{"l1.global_load_hits", runs[i].hits},
                                       {"l1.global_load_pending", runs[i].merges},
                                       {"l1.prefetch_late", runs[i].late},
                                       {"l1.prefetch_useful", runs[i].useful},
                                       {"l1.requests_read", 5},
                                       {0}});
        rig_close(&rig);
    }
}

/* ---- one broadcast and one strided load ---- */

static bool last_hit;
static uint64_t hits_after_hits;

/* Counts hits that come right after another hit; merges with a miss under way count as hits. */
static void count_hits(void *st, const struct mech_l1_access *e)
{
    if (e->is_store || e->is_prefetch) return;
    const bool is_hit = e->outcome != MECH_L1_MISS;
    hits_after_hits += is_hit && last_hit;
    last_hit = is_hit;
}

static void run_loop(const char *mech, const char *size)
{
    const char *const sets[] = {"sm.count=1", size, "l1.ways=4", "sm.prefetch_queue=64"};
    blank_fill((struct mechanism){.on_l1_access = count_hits});
    last_hit = false;
    hits_after_hits = 0;
    const uint64_t lines =
        open_lines((const char *const[SCRIPT_LIST]){mech, blank_file}, sets, ARRAY_LEN(sets));
    const uint64_t out = rig_alloc(&rig, MANY_WARPS * 32 * 4);
    rig_run(&rig, "loop", 1, MANY_WARPS * 32, (const uint64_t[]){lines, out, ROUNDS});
}

/* Sums over the loads of the kernel. */
static struct pc_load_stats all_loads(void)
{
    struct pc_load_stats sum = {0};
    const struct timed_kernel *k = timed_kernel_at(rig.gpu, 0);
    for (uint32_t pc = 0; pc < k->load_count; pc++) loads_add(&sum, &k->loads[pc], 1);
    return sum;
}

/* An L1 of 16 lines, with 24 warps. LAWS brings every line of memory once; under LRR lines of warps push
 * shared lines out before all warps have had them. */
static void laws_brings_a_shared_line_once(void **state)
{
    run_loop("lrr", "l1.size=2K");
    const uint64_t lrr = hits_after_hits;
    assert_true(stat_of("l1.requests_read") > LINES);
    assert_int_equal(all_loads().evicted, stat_of("l1.evictions"));
    rig_close(&rig);
    run_loop("laws", "l1.size=2K");
    assert_true(hits_after_hits > lrr);
    assert_int_equal(stat_of("l1.requests_read"), LINES);
    rig_close(&rig);
}

/* An L1 of 64 lines, which holds all lines under way. */
static void apres_prefetches_what_the_group_will_load(void **state)
{
    run_loop("apres", "l1.size=8K");
    const uint64_t own = ROUNDS * MANY_WARPS,
                   used = stat_of("l1.prefetch_late") + stat_of("l1.prefetch_useful");
    assert_true(used > own / 4);
    assert_int_equal(stat_of("apres.prefetch_used"), used);
    assert_int_equal(stat_of("apres.prefetches"), stat_of("apres.prefetch_sent") +
                                                      stat_of("apres.prefetch_redundant") +
                                                      stat_of("apres.prefetch_dropped"));
    assert_int_equal(stat_of("l1.requests_read"), LINES); /* no prefetch was wrong */
    assert_int_equal(all_loads().prefetches, stat_of("apres.prefetch_sent"));
    assert_int_equal(all_loads().prefetch_useful, stat_of("l1.prefetch_useful"));
    assert_int_equal(all_loads().prefetch_late, stat_of("l1.prefetch_late"));
    rig_close(&rig);
}

/* ---- the same everywhere ---- */

static void runs_are_the_same_whatever_is_skipped(void **state)
{
    static const char script[] = "abcdef#ABa_*bc#def_#abcdef";
    static const char *const mechs[][3] = {{"laws"}, {"apres"}, {"laws", "str"}, {"apres", "victim", "swl"}};
    static const char *const settings[] = {"apres.requests=all", "apres.answer=all", "apres.warp_id=grid"};
    for (size_t i = 0; i < ARRAY_LEN(mechs); i++)
        expect_same_everywhere(
            &(struct play){.script = script, .mechs = {mechs[i][0], mechs[i][1], mechs[i][2]}});
    expect_same_everywhere(&(struct play){
        .script = script, .mechs = {"apres"}, .settings = {settings[0], settings[1], settings[2]}});
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(figure_6_laws_hits_before_the_line_is_evicted),
        RIG_TEST(figure_6_apres_prefetches_for_the_last_warp),
        RIG_TEST(laws_brings_a_shared_line_once),
        RIG_TEST(apres_prefetches_what_the_group_will_load),
        RIG_TEST(runs_are_the_same_whatever_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
