/* test_morpheus_levels.c: the extended LLC kernel with compressed blocks (src/mech/morpheus_levels.c): how
 * many blocks a set holds by what they are, blocks that grow, and what the predictor has to know. */
#include "morpheus_kit.h"

#include "base/rng.h"

/* One set of 12 rows. After two epochs without a request it has allotted them by what came before. */
enum { ROWS = 12, BIG = 70000 };
static const struct morpheus_run one = {.settings = {"morpheus.blocks=12", "morpheus.compression=true",
                                                     "morpheus.epoch=1500", "morpheus.filter_bytes=128"}};

static int find_compressed(void **state)
{
    find_lines_of(&one);
    assert_true(extended_count > 70);
    return 0;
}

static uint32_t *words_of(uint32_t i) { return (uint32_t *)(uintptr_t)line_at(i); }

/* Line i: a base, and in one lane a word that is `delta` from it. */
static void fill(uint32_t i, uint32_t delta)
{
    for (uint32_t k = 0; k < 32; k++) words_of(i)[k] = 1000000 + i;
    words_of(i)[i % 31 + 1] += delta;
}

static void fill_all(uint32_t delta)
{
    for (uint32_t i = 0; i < extended_count; i++) fill(i, delta);
}

static uint64_t sum_of(const char *name)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < timed_kernel_count(rig.gpu); i++) sum += stat_at(i, name);
    return sum;
}

/* Loads lines [first, end), and says how many hit. */
static uint32_t load_lines(uint32_t first, uint32_t end)
{
    uint32_t count = 0;
    for (uint32_t i = first; i < end; i++) count += hits(i);
    return count;
}

/* ---- levels ---- */

struct level {
    uint32_t delta;
    /* blocks that the set holds then, rows at each level */
    uint32_t blocks, none, low, high;
    const char *stored;
};
static const struct level levels[] = {
    {127, 1 + 4 * 11, 1, 0, 11, "morpheus.stored_high"},
    {(uint32_t)-128, 1 + 4 * 11, 1, 0, 11, "morpheus.stored_high"},
    {128, 1 + 2 * 11, 1, 11, 0, "morpheus.stored_low"},
    {(uint32_t)-129, 1 + 2 * 11, 1, 11, 0, "morpheus.stored_low"},
    {32767, 1 + 2 * 11, 1, 11, 0, "morpheus.stored_low"},
    {32768, 12, 12, 0, 0, "morpheus.stored_none"},
};

static void a_set_holds_as_many_blocks_as_their_level_allows(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        const struct level *l = &levels[i];
        open_run(&one);
        fill_all(l->delta);
        for (uint32_t round = 0; round < 3; round++) load_lines(0, 48);
        assert_true(sum_of(l->stored) > 40);
        assert_int_equal(sum_of(l->stored), sum_of("morpheus.stored_high") + sum_of("morpheus.stored_low") +
                                                sum_of("morpheus.stored_none"));
        const uint64_t allotments = sum_of("morpheus.allotments");
        assert_true(allotments > 1);
        assert_int_equal(sum_of("morpheus.rows_none"), allotments * l->none);
        assert_int_equal(sum_of("morpheus.rows_low"), allotments * l->low);
        assert_int_equal(sum_of("morpheus.rows_high"), allotments * l->high);
        assert_int_equal(sum_of("morpheus.slots"), allotments * l->blocks);
        /* the newest blocks are there, and no other */
        load_lines(0, l->blocks);
        assert_int_equal(load_lines(0, l->blocks), l->blocks);
        assert_int_equal(load_lines(l->blocks, l->blocks + 1), 0);
        assert_int_equal(load_lines(0, 1), 0);
        assert_int_equal(sum_of("morpheus.stale_reads") + sum_of("morpheus.false_negatives"), 0);
        rig_close(&rig);
    }
}

/* Half of the blocks need a row, the others a quarter of one: 4 to 1 of the room. */
static void rows_follow_the_blocks(void **state)
{
    open_run(&one);
    for (uint32_t i = 0; i < extended_count; i++) fill(i, i % 2 ? BIG : 1);
    for (uint32_t round = 0; round < 3; round++) load_lines(0, 48);
    const uint64_t allotments = sum_of("morpheus.allotments");
    assert_in_range(sum_of("morpheus.rows_none"), allotments * 9, allotments * 11);
    assert_in_range(sum_of("morpheus.rows_high"), allotments, allotments * 3);
    assert_int_equal(sum_of("morpheus.rows_low"), 0);
    assert_int_equal(sum_of("morpheus.stale_reads"), 0);
    rig_close(&rig);
}

/* ---- bytes ---- */

static void a_hit_has_the_bytes_of_its_own_block(void **state)
{
    open_run(&one);
    fill_all(100);
    for (uint32_t round = 0; round < 3; round++) load_lines(0, 44);
    assert_int_equal(load_lines(0, 44), 44);
    words_of(7)[31]++; /* behind its back: the bytes are compared */
    assert_true(hits(6) && !stat_of("morpheus.stale_reads"));
    assert_true(hits(7) && stat_of("morpheus.stale_reads"));
    assert_true(hits(8) && !stat_of("morpheus.stale_reads"));
    rig_close(&rig);
}

/* A store makes a block too large for its slot: it moves to the row that is not compressed, and is written to
 * DRAM when the next such block comes. */
static void a_block_that_grows_moves(void **state)
{
    open_run(&one);
    fill_all(1);
    for (uint32_t round = 0; round < 3; round++) load_lines(0, 44);
    assert_int_equal(load_lines(0, 44), 44);
    touch(line_at(5) + 64, STORE);
    assert_int_equal(stat_of("morpheus.hits"), 1);
    assert_int_equal(words_of(5)[16], 7);
    touch(line_at(6) + 8, ATOMIC);
    assert_int_equal(stat_of("morpheus.atomics"), 1);
    assert_int_equal(sum_of("dram.writes"), 0);
    assert_true(hits(5) && hits(6));
    assert_int_equal(sum_of("morpheus.stale_reads"), 0);
    touch(line_at(9) + 64, STORE);
    assert_int_equal(stat_of("morpheus.dirty_evictions"), 1);
    assert_int_equal(stat_of("dram.writes"), 1);
    assert_true(hits(9) && hits(6));
    assert_false(hits(5));
    assert_int_equal(sum_of("morpheus.stale_reads") + sum_of("morpheus.false_negatives"), 0);
    rig_close(&rig);
}

/* Dirty blocks of rows that change their level are written to DRAM, each once. */
static void rows_that_change_lose_no_store(void **state)
{
    open_run(&one);
    fill_all(1);
    for (uint32_t i = 0; i < ROWS; i++) touch(line_at(i), ATOMIC);
    for (uint32_t round = 0; round < 3; round++) load_lines(ROWS, extended_count);
    assert_true(sum_of("morpheus.allotments") > 0);
    assert_int_equal(sum_of("morpheus.dirty_evictions"), ROWS);
    assert_int_equal(sum_of("dram.writes"), ROWS);
    rig_close(&rig);
}

/* ---- the predictor ---- */

/* Loads block i, which is large, and writes to one of three small blocks, a word after the other. */
static void load_and_write(uint32_t i)
{
    load(i);
    touch(line_at(i % 3) + i / 3 % 32 * 4, ATOMIC);
}

/* A dirty block that stays in a high row while large blocks come and go leaves when the filters have
 * forgotten it. As many small blocks are written as large ones are loaded, so that rows keep their levels. */
static void what_the_filters_forget_leaves(void **state)
{
    struct morpheus_run r = one;
    r.settings[2] = "morpheus.epoch=12000";
    open_run(&r);
    for (uint32_t i = 0; i < extended_count; i++) fill(i, i < 4 ? 1 : BIG);
    for (uint32_t i = 4; i < 40; i++) load_and_write(i);
    assert_true(sum_of("morpheus.rows_high") > 0);
    touch(line_at(3), ATOMIC);
    const uint64_t swaps = sum_of("morpheus.swaps"), evictions = sum_of("morpheus.dirty_evictions");
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t i = 4; i < extended_count; i++) load_and_write(i);
    assert_true(sum_of("morpheus.swaps") >= swaps + 2);
    assert_int_equal(sum_of("morpheus.dirty_evictions"), evictions + 1);
    assert_false(hits(3));
    assert_int_equal(sum_of("morpheus.false_negatives"), 0);
    rig_close(&rig);
}

/* ---- whole runs ---- */

/* Words of all sizes, so that blocks change their level with each store. */
static void scatter(void)
{
    struct rng r = {.state = 7};
    for (uint32_t i = 0; i < LINES; i++)
        for (uint32_t k = 0; k < 32; k++)
            ((uint32_t *)(uintptr_t)buf)[i * 32 + k] = rng_u32(&r) & (i % 3 ? 127 : UINT32_MAX);
}

static void check_end(const struct morpheus_run *r)
{
    open_run(r);
    scatter();
    run_mix();
    assert_true(sum_of("morpheus.atomics") > 50 && sum_of("morpheus.dirty_evictions") > 0);
    assert_true(sum_of("morpheus.allotments") > 4);
    assert_true(sum_of("morpheus.rows_high") + sum_of("morpheus.rows_low") > 0);
    const struct blocks blocks = look_at_blocks();
    print_message("%u blocks, at most %u\n", (unsigned)blocks.there, (unsigned)blocks_of_sets());
    assert_in_range(blocks.there, 8, blocks_of_sets());
    assert_int_equal(blocks.stale, 0);
    check_mix();
    rig_close(&rig);
}

static void at_the_end_blocks_are_what_memory_is(void **state)
{
    check_end(&(struct morpheus_run){.settings = {"morpheus.blocks=16", "morpheus.compression=true",
                                                  "morpheus.epoch=2000", "morpheus.filter_bytes=128",
                                                  "morpheus.inserts=4"}});
    check_end(&(struct morpheus_run){.settings = {"morpheus.warps=2", "morpheus.blocks=12",
                                                  "morpheus.compression=true", "morpheus.epoch=2000",
                                                  "morpheus.inserts=4", "morpheus.indirect_move=true"},
                                     .sets = {"sm.indirect_move=true"}});
    check_end(&(struct morpheus_run){.settings = {"morpheus.warps=0", "morpheus.shared_warps=2",
                                                  "morpheus.shared_blocks=12", "morpheus.l1_warps=1",
                                                  "morpheus.l1_blocks=8", "morpheus.compression=true",
                                                  "morpheus.epoch=1000", "morpheus.inserts=8"}});
}

static void threads_and_skipping_change_nothing(void **state)
{
    const struct morpheus_run r = {.settings = {"morpheus.cache_sms=2", "morpheus.warps=4",
                                                "morpheus.blocks=8", "morpheus.compression=true",
                                                "morpheus.epoch=500"},
                                   .sets = {"addr.channels=2", "addr.slices=2"}};
    open_run(&r);
    scatter();
    run_mix();
    assert_true(sum_of("morpheus.allotments") > 4);
    rig_close(&rig);
    check_hashes(r, 64, scatter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_set_holds_as_many_blocks_as_their_level_allows),
        RIG_TEST(rows_follow_the_blocks),
        RIG_TEST(a_hit_has_the_bytes_of_its_own_block),
        RIG_TEST(a_block_that_grows_moves),
        RIG_TEST(rows_that_change_lose_no_store),
        RIG_TEST(what_the_filters_forget_leaves),
        RIG_TEST(at_the_end_blocks_are_what_memory_is),
        RIG_TEST(threads_and_skipping_change_nothing),
    };
    return cmocka_run_group_tests(tests, find_compressed, NULL);
}
