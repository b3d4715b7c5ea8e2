/* test_mech_prefetchers.c: prefetchers, from hand-made events: sld, and which warps str prefetches for. */
#include "mech_kit.h"

enum {
    LINE = 128,
    /* where a macro block begins */
    BASE = 0x10000,
    PC = 7
};

static uint64_t line_at(uint32_t i) { return BASE + (uint64_t)i * LINE; }

static void access_line(struct mech_kit *k, struct mech_l1_access a, uint32_t line)
{
    a.line = a.lane_address = line_at(line);
    a.pc = PC;
    a.is_first_line = true;
    mech_on_l1_access(k->sm, &a);
}

static void load_lines(struct mech_kit *k, const uint32_t *lines, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        access_line(k, (struct mech_l1_access){.warp = 3, .outcome = MECH_L1_MISS}, lines[i]);
}
#define LOAD(k, ...)                                                                                         \
    load_lines(k, (const uint32_t[]){__VA_ARGS__}, sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))

/* The prefetches since the last call are of these lines, in this order. */
static void expect_lines(struct mech_kit *k, const uint32_t *lines, uint32_t count)
{
    assert_int_equal(k->prefetch_count, count);
    for (uint32_t i = 0; i < count; i++) assert_int_equal(k->prefetches[i].address, line_at(lines[i]));
    k->prefetch_count = 0;
}
#define EXPECT(k, ...)                                                                                       \
    expect_lines(k, (const uint32_t[]){__VA_ARGS__}, sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))
#define EXPECT_NONE(k) assert_int_equal((k)->prefetch_count, 0)

/* ---- sld ---- */

static void two_lines_of_a_block_bring_the_other_two(void **state)
{
    struct mech_kit k;
    kit_open(&k, "sld", "", 1);
    LOAD(&k, 0);
    EXPECT_NONE(&k);
    LOAD(&k, 3);
    assert_int_equal(k.prefetches[0].pc, PC);
    assert_int_equal(k.prefetches[0].warp, 3);
    EXPECT(&k, 1, 2);
    LOAD(&k, 6, 5);
    EXPECT(&k, 4, 7);
    assert_int_equal(kit_stat(&k, "sld.detected"), 2);
    assert_int_equal(kit_stat(&k, "sld.prefetches"), 4);
    kit_close(&k);
}

static void one_line_twice_is_one_line(void **state)
{
    struct mech_kit k;
    kit_open(&k, "sld", "", 1);
    LOAD(&k, 2, 2, 2);
    EXPECT_NONE(&k);
    LOAD(&k, 3);
    EXPECT(&k, 0, 1);
    kit_close(&k);
}

static void neighbours_across_the_border_of_a_block_bring_nothing(void **state)
{
    struct mech_kit k;
    kit_open(&k, "sld", "", 1);
    LOAD(&k, 3, 4, 11, 12);
    EXPECT_NONE(&k);
    kit_close(&k);
}

static void a_block_is_prefetched_once_while_it_has_an_entry(void **state)
{
    struct mech_kit k;
    kit_open(&k, "sld", "sld.entries=1", 1);
    LOAD(&k, 0, 1);
    EXPECT(&k, 2, 3);
    LOAD(&k, 2, 3, 0, 1);
    EXPECT_NONE(&k);
    LOAD(&k, 4, 0, 1); /* another block had the entry */
    EXPECT(&k, 2, 3);
    kit_close(&k);
}

static void the_block_used_least_recently_makes_room(void **state)
{
    struct mech_kit k;
    kit_open(&k, "sld", "sld.entries=2", 1);
    LOAD(&k, 0, 4, 0, 8); /* block 2 takes the entry of block 1 */
    assert_int_equal(kit_stat(&k, "sld.replaced"), 1);
    LOAD(&k, 1);
    EXPECT(&k, 2, 3);
    LOAD(&k, 5); /* block 1 again, in the entry of block 2: its first line is forgotten */
    EXPECT_NONE(&k);
    assert_int_equal(kit_stat(&k, "sld.replaced"), 2);
    kit_close(&k);
}

static void loads_of_global_memory_alone_train_it(void **state)
{
    static const struct mech_l1_access others[] = {{.is_store = true, .outcome = MECH_L1_MISS},
                                                   {.is_atomic = true, .outcome = MECH_L1_SENT},
                                                   {.is_prefetch = true, .outcome = MECH_L1_MISS},
                                                   {.is_local = true, .outcome = MECH_L1_MISS},
                                                   {.outcome = MECH_L1_SENT}};
    struct mech_kit k;
    kit_open(&k, "sld", "", 1);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        for (uint32_t line = 0; line < 4; line++) access_line(&k, others[i], line);
    EXPECT_NONE(&k);
    assert_int_equal(kit_stat(&k, "sld.loads"), 0);
    access_line(&k, (struct mech_l1_access){.outcome = MECH_L1_HIT}, 0);
    access_line(&k, (struct mech_l1_access){.outcome = MECH_L1_PENDING}, 1);
    EXPECT(&k, 2, 3);
    kit_close(&k);
}

static void blocks_and_thresholds_are_parameters(void **state)
{
    struct mech_kit k;
    kit_open(&k, "sld", "sld.lines=8 sld.threshold=3", 1);
    LOAD(&k, 0, 7);
    EXPECT_NONE(&k);
    LOAD(&k, 2);
    EXPECT(&k, 1, 3, 4, 5, 6);
    kit_close(&k);
}

static void a_kernel_begins_with_an_empty_table(void **state)
{
    struct mech_kit k;
    kit_open(&k, "sld", "", 1);
    LOAD(&k, 0);
    mech_on_kernel(k.sm, false);
    mech_on_kernel(k.sm, true);
    LOAD(&k, 1);
    EXPECT_NONE(&k);
    assert_int_equal(kit_stat(&k, "sld.replaced"), 0);
    kit_close(&k);
}

/* An entry: the number of a block of 512 bytes in 48 bits of address, a bit for each of four lines, one for
 * the burst, six for the order of 64 entries. */
static void the_cost_follows_from_the_parameters(void **state)
{
    struct mech_kit k;
    kit_open(&k, "sld", "", 1);
    assert_int_equal(kit_cost(&k), 64 * (39 + 4 + 1 + 6));
    kit_close(&k);
    kit_open(&k, "sld", "sld.entries=1 sld.lines=8", 1);
    assert_int_equal(kit_cost(&k), 38 + 8 + 1);
    kit_close(&k);
}

static void a_wrong_setting_is_refused(void **state)
{
    static const char *const settings[] = {"sld.lines=6",     "sld.lines=2",     "sld.entries=0",
                                           "sld.threshold=0", "sld.threshold=4", "str.warp_id=cta"};
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        struct mech_kit k = {0};
        assert_false(kit_try_set(&k, "sld str", settings[i]));
        struct strbuf said = {0};
        diag_render(&k.diags, &said);
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(settings[i], "="), settings[i]);
        assert_non_null(strstr(strbuf_text(&said), name));
        strbuf_free(&said);
        diag_free(&k.diags);
    }
}

/* ---- the warps of str ---- */

static void load(struct mech_kit *k, int warp, uint64_t address)
{
    mech_on_l1_access(
        k->sm,
        &(struct mech_l1_access){
            .warp = warp, .pc = PC, .is_first_line = true, .outcome = MECH_L1_MISS, .lane_address = address});
}

static void str_prefetches_for_no_warp_that_has_ended(void **state)
{
    struct mech_kit k;
    kit_open(&k, "str", "str.degree=3", 1);
    for (int w = 0; w < 5; w++) kit_start(&k, w);
    kit_end(&k, 3);
    for (int w = 0; w < 3; w++) load(&k, w, 1000ull * (uint64_t)w);
    assert_int_equal(k.prefetch_count, 1); /* 3 has ended, 5 has not begun */
    assert_int_equal(k.prefetches[0].address, 4000);
    assert_int_equal(k.prefetches[0].warp, 4);
    assert_int_equal(kit_stat(&k, "str.absent"), 2);
    kit_close(&k);
}

static void start_in_grid(struct mech_kit *k, int slot, uint64_t cta, uint32_t index)
{
    mech_on_warp(k->sm, &(struct mech_warp_event){
                            .warp = slot, .is_start = true, .cta = cta, .index = index, .cta_warps = 2});
}

/* CTAs 0 and 15 of two warps each: warps 0, 1, 30 and 31 of the grid, whose addresses are 1000 apart. By
 * slots the step from warp 1 to warp 30 is not a stride that was seen before. */
static void str_numbers_warps_by_slot_or_in_the_grid(void **state)
{
    static const uint64_t number[] = {0, 1, 30, 31};
    for (int is_grid = 0; is_grid < 2; is_grid++) {
        struct mech_kit k;
        kit_open(&k, "str", is_grid ? "str.warp_id=grid" : "str.warp_id=slot", 1);
        for (int slot = 0; slot < 4; slot++) start_in_grid(&k, slot, number[slot] / 2, number[slot] % 2);
        for (int slot = 0; slot < 3; slot++) load(&k, slot, 1000 * number[slot]);
        assert_int_equal(k.prefetch_count, is_grid);
        if (is_grid) {
            assert_int_equal(k.prefetches[0].address, 31000);
            assert_int_equal(k.prefetches[0].warp, 3);
        }
        load(&k, 3, 31000); /* the next warp of the grid is not on this SM */
        assert_int_equal(k.prefetch_count, is_grid);
        assert_int_equal(kit_stat(&k, "str.absent"), is_grid);
        kit_close(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_lines_of_a_block_bring_the_other_two),
        cmocka_unit_test(one_line_twice_is_one_line),
        cmocka_unit_test(neighbours_across_the_border_of_a_block_bring_nothing),
        cmocka_unit_test(a_block_is_prefetched_once_while_it_has_an_entry),
        cmocka_unit_test(the_block_used_least_recently_makes_room),
        cmocka_unit_test(loads_of_global_memory_alone_train_it),
        cmocka_unit_test(blocks_and_thresholds_are_parameters),
        cmocka_unit_test(a_kernel_begins_with_an_empty_table),
        cmocka_unit_test(the_cost_follows_from_the_parameters),
        cmocka_unit_test(a_wrong_setting_is_refused),
        cmocka_unit_test(str_prefetches_for_no_warp_that_has_ended),
        cmocka_unit_test(str_numbers_warps_by_slot_or_in_the_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
