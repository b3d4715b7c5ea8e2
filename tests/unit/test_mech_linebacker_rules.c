/* test_mech_linebacker_rules.c: which rows Linebacker takes and whom it throttles (src/mech/linebacker.c),
 * hook by hook, beside an SM that only writes down what it is asked. */
#include "mech_kit.h"

#include "mech/linebacker.h"
#include "mech/registry.h"

/* Partitions of 16 rows from row 32 on: 14 of them. CTAs of 64 rows: slots 0 to 3 fill the file. */
enum {
    SETS = 4,
    WAYS = 4,
    FIRST_ROW = 32,
    PARTITION = SETS * WAYS,
    ROWS = 256,
    CTA_ROWS = 64,
    WINDOW = 1000
};

static struct {
    bool is_held[ROWS];
    uint32_t transfers;
    struct mech_counters counters;
} sm;

static unsigned char blocks[1 << 16];
static size_t blocks_used;

static void *give_memory(void *host, size_t bytes)
{
    void *block = blocks + blocks_used;
    blocks_used += (bytes + 15) / 16 * 16;
    assert_true(blocks_used <= sizeof blocks);
    return memset(block, 0, bytes);
}
static void hold(uint32_t first, uint32_t rows, bool is_held)
{
    for (uint32_t i = first; i < first + rows; i++) {
        assert_int_not_equal(sm.is_held[i], is_held);
        sm.is_held[i] = is_held;
    }
}
static bool take_rows(void *host, uint32_t from, uint32_t rows, uint32_t *first)
{
    *first = from;
    hold(from, rows, true);
    return true;
}
static void give_rows(void *host, uint32_t first, uint32_t rows) { hold(first, rows, false); }
static bool note_transfer(void *host, const struct mech_transfer *t)
{
    sm.transfers++;
    return true;
}
static void ignore_limit(void *host, uint32_t n) {}
static void ignore_timer(void *host, uint64_t now, uint32_t cycles) {}
static void ignore_note(void *host, uint64_t cycle, uint32_t kind, uint64_t a, uint64_t b) {}
static const struct mech_counters *count(void *host) { return &sm.counters; }

static const struct mech_ports ports = {.ctas = 8,
                                        .l1_sets = SETS,
                                        .l1_ways = 4,
                                        .line_bytes = MECH_ROW_BYTES,
                                        .register_rows = ROWS,
                                        .memory = give_memory,
                                        .registers_take = take_rows,
                                        .registers_give = give_rows,
                                        .cta_registers = note_transfer,
                                        .limit_ctas = ignore_limit,
                                        .set_timer = ignore_timer,
                                        .note = ignore_note,
                                        .counters = count};

static struct linebacker_params params;
static struct linebacker lb;

static int reset(void **state)
{
    blocks_used = 0;
    memset(&sm, 0, sizeof sm);
    memset(&lb, 0, sizeof lb);
    params = (struct linebacker_params){.select = true,
                                        .throttle = true,
                                        .window = WINDOW,
                                        .threshold = 20,
                                        .first_row = FIRST_ROW,
                                        .ways = WAYS,
                                        .partitions = 14,
                                        .upper = 10,
                                        .lower = 10,
                                        .buffer = 6,
                                        .restore_rows = 6};
    return 0;
}

static void begin(bool is_cooperative)
{
    mechanism_linebacker.init(&lb, NULL, &params, &ports);
    mechanism_linebacker.on_launch(&lb, &(struct mech_launch){.is_cooperative = is_cooperative});
    mechanism_linebacker.on_kernel(&lb, true);
}

static void tell(enum mech_cta_kind kind, uint32_t slot)
{
    const uint32_t first = slot * CTA_ROWS;
    mechanism_linebacker.on_cta(&lb, &(struct mech_cta){.kind = kind,
                                                        .cta_slot = slot,
                                                        .first_row = first,
                                                        .last_row = first + CTA_ROWS - 1,
                                                        .rows = CTA_ROWS});
}

/* A window in which one load hits. */
static void pass_window(void)
{
    mechanism_linebacker.on_l1_access(&lb, &(struct mech_l1_access){.pc = 3, .outcome = MECH_L1_HIT});
    sm.counters.issued += WINDOW;
    mechanism_linebacker.on_timer(&lb, 0);
}

static void choose(void)
{
    pass_window();
    pass_window();
    assert_int_equal(lb.phase, LB_CACHES);
}

/* Rows first to last are held, and no others. */
static void expect_rows(uint32_t first, uint32_t end)
{
    for (uint32_t i = 0; i < ROWS; i++) assert_int_equal(sm.is_held[i], i >= first && i < end);
}

/* CTAs in slots 0 and 2: rows 192 on are idle; those of slot 1, which are idle as well, lie below the last
 * row of an active CTA. When slot 2 ends and another CTA starts in slot 1, the last row is 127. */
static void a_partition_lies_above_the_last_row_of_all_ctas(void **state)
{
    params.throttle = false;
    begin(false);
    tell(MECH_CTA_START, 0);
    tell(MECH_CTA_START, 2);
    choose();
    expect_rows(192, ROWS);
    tell(MECH_CTA_END, 2);
    expect_rows(192, ROWS); /* compared when a CTA starts */
    tell(MECH_CTA_START, 1);
    expect_rows(128, ROWS);
    mechanism_linebacker.on_kernel(&lb, false);
    expect_rows(0, 0);
}

/* Slot 1 is throttled: rows 64 to 127 are its own, those above were idle before. */
static void rows_of_throttled_ctas_alone_may_hold_lines(void **state)
{
    params.rows = ROWS_DYNAMIC;
    begin(false);
    tell(MECH_CTA_START, 0);
    tell(MECH_CTA_START, 1);
    choose();
    expect_rows(0, 0);
    assert_int_equal(sm.transfers, 1);
    tell(MECH_CTA_REGISTERS_OUT, 1);
    expect_rows(64, 128);
}

static void all_idle_rows_may_hold_lines(void **state)
{
    begin(false);
    tell(MECH_CTA_START, 0);
    tell(MECH_CTA_START, 1);
    choose();
    expect_rows(128, ROWS);
    tell(MECH_CTA_REGISTERS_OUT, 1);
    expect_rows(64, ROWS);
}

/* Its CTAs may wait for each other: lines are kept, but no CTA is throttled, whatever the IPC says. */
static void ctas_of_a_cooperative_grid_are_not_throttled(void **state)
{
    begin(true);
    tell(MECH_CTA_START, 0);
    tell(MECH_CTA_START, 1);
    choose();
    expect_rows(128, ROWS);
    sm.counters.issued += 10 * WINDOW;
    pass_window();
    assert_int_equal(sm.transfers, 0);
    assert_int_equal(lb.refusals, 0);
    assert_int_equal(lb.kernels_cooperative, 1);
    tell(MECH_CTA_END, 0);
    tell(MECH_CTA_END, 1);
    mechanism_linebacker.on_kernel(&lb, false);
    mechanism_linebacker.on_launch(&lb, &(struct mech_launch){.is_cooperative = false});
    mechanism_linebacker.on_kernel(&lb, true);
    tell(MECH_CTA_START, 0);
    tell(MECH_CTA_START, 1);
    choose();
    assert_int_equal(sm.transfers, 1);
    assert_int_equal(lb.kernels_cooperative, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_partition_lies_above_the_last_row_of_all_ctas, reset),
        cmocka_unit_test_setup(rows_of_throttled_ctas_alone_may_hold_lines, reset),
        cmocka_unit_test_setup(all_idle_rows_may_hold_lines, reset),
        cmocka_unit_test_setup(ctas_of_a_cooperative_grid_are_not_throttled, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
