/* test_morpheus_stores.c: where the extended LLC kernel keeps its blocks (src/mech/morpheus_store.c,
 * src/core/helper_fit.c): registers, the L1, shared memory, and several of them side by side. */
#include "morpheus_kit.h"

/* One set of 32 blocks in each store. */
struct store {
    const char *name, *warps, *blocks;
    const char *others[2];
};
static const struct store stores[] = {
    {"registers",
     "morpheus.warps=1",
     "morpheus.blocks=32",
     {"morpheus.l1_warps=0", "morpheus.shared_warps=0"}},
    {"shared",
     "morpheus.shared_warps=1",
     "morpheus.shared_blocks=32",
     {"morpheus.warps=0", "morpheus.l1_warps=0"}},
    {"l1", "morpheus.l1_warps=1", "morpheus.l1_blocks=32", {"morpheus.warps=0", "morpheus.shared_warps=0"}},
};

static struct morpheus_run run_of(const struct store *s)
{
    return (struct morpheus_run){.settings = {s->warps, s->blocks, s->others[0], s->others[1]}};
}

static void open_store(const struct store *s)
{
    const struct morpheus_run r = run_of(s);
    open_run(&r);
}

/* ---- each store ---- */

static void a_miss_is_inserted_and_then_hits(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(stores); i++) {
        open_store(&stores[i]);
        load_own();
        load(0);
        assert_int_equal(stat_of("morpheus.predicted_misses"), 1);
        assert_int_equal(stat_of("morpheus.inserts"), 1);
        assert_int_equal(stat_of("dram.reads"), 1);
        assert_true(hits(0));
        assert_int_equal(stat_of("morpheus.inserts") + stat_of("dram.reads"), 0);
        assert_int_equal(stat_of("morpheus.stale_reads"), 0);
        ((uint32_t *)(uintptr_t)line_at(0))[3] = 99; /* behind its back */
        assert_true(hits(0));
        assert_int_equal(stat_of("morpheus.stale_reads"), 1);
        rig_close(&rig);
    }
}

static void the_block_used_longest_ago_leaves(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(stores); i++) {
        open_store(&stores[i]);
        for (uint32_t k = 0; k < BLOCKS; k++) assert_false(hits(k));
        assert_true(hits(0));
        assert_false(hits(BLOCKS));
        for (uint32_t k = 2; k < BLOCKS; k++) assert_true(hits(k));
        assert_true(hits(0) && hits(BLOCKS) && !hits(1));
        rig_close(&rig);
    }
}

/* The first request after the copy inserts a line that the warp still has. */
static void a_host_copy_empties_a_set(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(stores); i++) {
        open_store(&stores[i]);
        load(0);
        timed_host_copy(rig.gpu, line_at(0), 4);
        assert_false(hits(0));
        assert_true(hits(0));
        assert_int_equal(stat_of("morpheus.stale_reads"), 0);
        rig_close(&rig);
    }
}

static void a_dirty_victim_is_written_once(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(stores); i++) {
        open_store(&stores[i]);
        touch(line_at(0), STORE);
        touch(line_at(0) + 64, ATOMIC);
        assert_int_equal(stat_of("morpheus.atomics"), 1);
        for (uint32_t k = 1; k < BLOCKS; k++) load(k);
        assert_int_equal(stat_of("dram.writes"), 0);
        load(BLOCKS);
        assert_int_equal(stat_of("morpheus.dirty_evictions"), 1);
        assert_int_equal(stat_of("dram.writes"), 1);
        rig_close(&rig);
    }
}

/* More blocks than lanes: lanes have the metadata of two. */
static void a_set_can_have_more_blocks_than_lanes(void **state)
{
    static const char *const blocks[] = {"morpheus.blocks=40", "morpheus.shared_blocks=40",
                                         "morpheus.l1_blocks=40"};
    for (size_t i = 0; i < ARRAY_LEN(stores); i++) {
        struct morpheus_run r = run_of(&stores[i]);
        r.settings[1] = blocks[i];
        find_lines_of(&r);
        open_run(&r);
        for (uint32_t k = 0; k < 40; k++) assert_false(hits(k));
        touch(line_at(1), STORE);
        assert_true(hits(0));
        assert_false(hits(40));
        assert_true(hits(0) && hits(1) && hits(3) && hits(39) && hits(40));
        assert_false(hits(2));
        for (uint32_t k = 41; k < 41 + 35; k++) assert_false(hits(k));
        assert_int_equal(stat_of("dram.writes"), 0);
        for (uint32_t k = 76; k < 76 + 8; k++) load(k);
        assert_false(hits(1));
        rig_close(&rig);
    }
    find_lines(NULL);
}

/* ---- what they cost ---- */

/* Messages of the kernel: nothing of its blocks goes through the crossbar. */
static void blocks_in_the_l1_stay_there(void **state)
{
    uint64_t packets[ARRAY_LEN(stores)];
    for (size_t i = 0; i < ARRAY_LEN(stores); i++) {
        open_store(&stores[i]);
        packets[i] = 0;
        for (uint32_t k = 0; k < 2 * BLOCKS; k++) {
            touch(line_at(k), k % 3 ? LOAD : STORE);
            packets[i] += stat_of("xbar.request_packets");
            assert_int_equal(stat_of("l2.local_accesses"), 0);
        }
        assert_int_equal(packets[i], packets[0]);
        rig_close(&rig);
    }
}

static uint64_t service_of(const struct store *s, const char *setting, const char *set)
{
    struct morpheus_run r = run_of(s);
    r.settings[4] = setting;
    r.sets[0] = set;
    open_run(&r);
    load(0);
    assert_true(hits(0));
    const uint64_t cycles = stat_of("morpheus.service_cycles");
    rig_close(&rig);
    return cycles;
}

/* Section 5: registers before shared memory before the L1, which takes longest here. */
static void registers_are_quickest_and_the_l1_is_slowest(void **state)
{
    uint64_t cycles[ARRAY_LEN(stores)];
    for (size_t i = 0; i < ARRAY_LEN(stores); i++) cycles[i] = service_of(&stores[i], NULL, "l1.latency=60");
    print_message("a hit: %u cycles in registers, %u in shared memory, %u in the L1\n", (unsigned)cycles[0],
                  (unsigned)cycles[1], (unsigned)cycles[2]);
    assert_true(cycles[0] < cycles[1] && cycles[1] < cycles[2]);
    /* the latency of the L1 is in it, once */
    assert_int_equal(service_of(&stores[2], NULL, "l1.latency=90"), cycles[2] + 30);
    assert_int_equal(service_of(&stores[1], NULL, "l1.latency=90"), cycles[1]);
}

/* Cycles from the warp status table to the result. An insertion is that of a line that is not there. */
static uint64_t service_of_op(uint32_t op, bool is_there, const char *latency)
{
    struct morpheus_run r = run_of(&stores[0]);
    r.sets[0] = latency;
    open_run(&r);
    for (uint32_t k = 0; k < 4; k++) load(k);
    touch(line_at(is_there ? 2 : 5), op);
    assert_int_equal(stat_of("morpheus.served"), 1);
    const uint64_t cycles = stat_of("morpheus.service_cycles");
    rig_close(&rig);
    return cycles;
}

/* The bytes of a write or an insertion are with the warp as soon as the request is; what atomics add is asked
 * for. */
static void writes_and_insertions_take_one_trip_and_atomics_two(void **state)
{
    static const struct {
        uint32_t op, trips;
        bool is_there;
    } cases[] = {{LOAD, 1, true}, {STORE, 1, true}, {LOAD, 1, false}, {ATOMIC, 2, true}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const uint64_t near = service_of_op(cases[i].op, cases[i].is_there, "l2.tag_latency=50");
        const uint64_t far = service_of_op(cases[i].op, cases[i].is_there, "l2.tag_latency=150");
        assert_int_equal(far - near, 100 * cases[i].trips);
    }
}

/* ---- the indirect move ---- */

static uint64_t insts_of_hit(const char *setting, uint32_t op, uint64_t *cycles)
{
    struct morpheus_run r = run_of(&stores[0]);
    r.settings[4] = setting;
    r.sets[0] = "sm.indirect_move=true";
    open_run(&r);
    for (uint32_t k = 0; k < BLOCKS; k++) load(k);
    touch(line_at(5), op);
    assert_int_equal(stat_of("morpheus.hits"), 1);
    assert_int_equal(stat_of("morpheus.stale_reads"), 0);
    const uint64_t insts = stat_of("helper.warp_insts");
    *cycles = stat_of("morpheus.service_cycles");
    rig_close(&rig);
    return insts;
}

/* A read that hits finds its block by the branch that it takes in any case, so the move comes on top. An
 * atomic saves the branch to the block that it adds to, while it waits for what it adds. */
static void the_indirect_move_replaces_a_branch(void **state)
{
    uint64_t branch_cycles, move_cycles;
    assert_int_equal(insts_of_hit("morpheus.indirect_move=false", LOAD, &branch_cycles), 11);
    assert_int_equal(insts_of_hit("morpheus.indirect_move=true", LOAD, &move_cycles), 12);
    print_message("a read: %u cycles by brx, %u by imov\n", (unsigned)branch_cycles, (unsigned)move_cycles);
    const uint64_t branch = insts_of_hit("morpheus.indirect_move=false", ATOMIC, &branch_cycles);
    const uint64_t move = insts_of_hit("morpheus.indirect_move=true", ATOMIC, &move_cycles);
    print_message("an atomic: %u instructions and %u cycles by brx, %u and %u by imov\n", (unsigned)branch,
                  (unsigned)branch_cycles, (unsigned)move, (unsigned)move_cycles);
    assert_int_equal(move, branch - 1);
}

/* ---- whole runs ---- */

static void check_end(const struct morpheus_run *r)
{
    open_run(r);
    run_mix();
    assert_true(stat_of("morpheus.atomics") > 50 && stat_of("morpheus.dirty_evictions") > 0);
    const struct blocks blocks = look_at_blocks();
    assert_int_equal(blocks.there, blocks_of_sets());
    assert_int_equal(blocks.stale, 0);
    check_mix();
    rig_close(&rig);
}

static void at_the_end_blocks_are_what_memory_is(void **state)
{
    check_end(&(struct morpheus_run){
        .settings = {"morpheus.warps=0", "morpheus.l1_warps=3", "morpheus.l1_blocks=32"}});
    check_end(&(struct morpheus_run){
        .settings = {"morpheus.warps=0", "morpheus.shared_warps=3", "morpheus.shared_blocks=35"}});
    check_end(&(struct morpheus_run){
        .settings = {"morpheus.warps=6", "morpheus.blocks=16", "morpheus.indirect_move=true"},
        .sets = {"sm.indirect_move=true"}});
    check_end(&(struct morpheus_run){.settings = {"morpheus.warps=2", "morpheus.blocks=34",
                                                  "morpheus.l1_warps=1", "morpheus.l1_blocks=20",
                                                  "morpheus.shared_warps=2", "morpheus.shared_blocks=12"}});
}

static void threads_and_skipping_change_nothing(void **state)
{
    check_hashes(
        (struct morpheus_run){.settings = {"morpheus.cache_sms=2", "morpheus.warps=3", "morpheus.blocks=16",
                                           "morpheus.l1_warps=2", "morpheus.l1_blocks=16",
                                           "morpheus.shared_warps=1", "morpheus.shared_blocks=16"},
                              .sets = {"addr.channels=2", "addr.slices=2"}},
        64, NULL);
}

/* The sets of a store have its share of the lines. */
static void lines_are_shared_by_capacity(void **state)
{
    const struct morpheus_run r = {.settings = {"morpheus.warps=2", "morpheus.blocks=8",
                                                "morpheus.l1_warps=1", "morpheus.l1_blocks=64"}};
    find_lines_of(&r);
    assert_in_range(extended_count, LINES * 80 / 88 - 2, LINES * 80 / 88 + 2);
    /* of lines that are loaded twice, those in the L1 are all there; a set of 8 holds few of its own */
    open_run(&r);
    uint32_t there = 0;
    for (uint32_t k = 0; k < 76; k++) load(k);
    for (uint32_t k = 0; k < 76; k++) there += hits(k);
    assert_in_range(there, 58, 76);
    rig_close(&rig);
    find_lines(NULL);
}

/* ---- what is refused ---- */

static void check_refused(const char *const settings[3], const char *set, const char *why)
{
    static const char *const morpheus = "morpheus";
    const char *all[] = {"morpheus.cache_sms=1", "morpheus.l1_warps=0", settings[0], settings[1],
                         settings[2]};
    const char *sets[ARRAY_LEN(small) + 1];
    struct machine m;
    struct diag_list d = {0};
    struct strbuf text = {0};
    memcpy(sets, small, sizeof small);
    sets[ARRAY_LEN(small)] = set;
    machine_load("fermi", sets, ARRAY_LEN(small) + 1, &m, &d);
    rig_show(&d);
    const struct timed_options o = {.mechs = &morpheus,
                                    .mech_count = 1,
                                    .mech_settings = all,
                                    .mech_setting_count = ARRAY_LEN(all),
                                    .compile = helper_compile};
    assert_null(timed_create(&m, NULL, &o, &d));
    diag_render(&d, &text);
    if (!strstr(strbuf_text(&text), why)) fail_msg("'%s' is not in: %s", why, strbuf_text(&text));
    strbuf_free(&text);
    diag_free(&d);
}

#define REFUSED(a, b, c, set, why) check_refused((const char *const[]){a, b, c}, set, why)

static void what_does_not_fit_is_refused(void **state)
{
    REFUSED("morpheus.warps=0", "morpheus.l1_warps=5", "morpheus.l1_blocks=32", "l1.latency=1",
            "keeps 5 lines in each set of the L1, and a set has 4 ways");
    REFUSED("morpheus.warps=0", "morpheus.shared_warps=4", "morpheus.shared_blocks=97", "l1.latency=1",
            "needs 49664 bytes of shared memory in a CTA of 4 warps, and there are 49152");
    REFUSED("morpheus.warps=0", "morpheus.l1_warps=0", "morpheus.shared_warps=0", "l1.latency=1",
            "no warp is left for a set");
    REFUSED("morpheus.warps=1", "morpheus.blocks=32", "morpheus.indirect_move=true", "l1.latency=1",
            "sm.indirect_move");
    REFUSED("morpheus.warps=1", "morpheus.blocks=33", "morpheus.compression=true", "l1.latency=1",
            "a set of compressed blocks has at most 32 rows");
    REFUSED("morpheus.blocks=8", "morpheus.compression=true", "morpheus.predictor=perfect", "l1.latency=1",
            "leave morpheus.compression out");
    REFUSED("morpheus.warps=1", "morpheus.compression=true", "morpheus.epoch=0", "l1.latency=1",
            "morpheus.epoch");
    REFUSED("morpheus.warps=17", "morpheus.blocks=4", "morpheus.l1_warps=0", "l1.mshrs=1",
            "each of the 17 warps of its helper kernel has 2 loads that wait, and an SM lets 16 wait");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_miss_is_inserted_and_then_hits),
        RIG_TEST(the_block_used_longest_ago_leaves),
        RIG_TEST(a_host_copy_empties_a_set),
        RIG_TEST(writes_and_insertions_take_one_trip_and_atomics_two),
        RIG_TEST(a_dirty_victim_is_written_once),
        RIG_TEST(a_set_can_have_more_blocks_than_lanes),
        RIG_TEST(blocks_in_the_l1_stay_there),
        RIG_TEST(registers_are_quickest_and_the_l1_is_slowest),
        RIG_TEST(the_indirect_move_replaces_a_branch),
        RIG_TEST(at_the_end_blocks_are_what_memory_is),
        RIG_TEST(threads_and_skipping_change_nothing),
        RIG_TEST(lines_are_shared_by_capacity),
        RIG_TEST(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, find_lines, NULL);
}
