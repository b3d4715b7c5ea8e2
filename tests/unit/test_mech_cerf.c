/* test_mech_cerf.c: registers that make room for lines, and come back (src/mech/cerf.c), hook by hook, beside
 * an SM that only writes down what it is asked. */
#include "mech_kit.h"

#include "mech/registry.h"

enum { ROWS = 64, REGISTERS = 8, PERIOD = 1000, IDLE = 500, RESTORE = 200 };

static struct {
    uint64_t votes, timer;
    uint32_t lines, asked_row;
    bool is_taken;
} sm;

static uint64_t blocks[1 << 16];
static size_t blocks_used;

static void *give_memory(void *host, size_t bytes)
{
    uint64_t *block = blocks + blocks_used;
    blocks_used += (bytes + 7) / 8;
    assert_true(blocks_used <= ARRAY_LEN(blocks));
    return memset(block, 0, bytes);
}
static void note_vote(void *host, uint32_t bank, uint64_t warps) { sm.votes = warps; }
static void note_timer(void *host, uint64_t now, uint32_t cycles) { sm.timer = now + cycles; }
static void note_lines(void *host, uint32_t lines) { sm.lines = lines; }
static bool ask_bank(void *host, uint32_t row, bool is_write)
{
    sm.asked_row = row;
    return !sm.is_taken;
}

static const struct mech_ports ports = {.banks = 1,
                                        .ctas = 8,
                                        .l1_sets = 4,
                                        .l1_ways = 2,
                                        .line_bytes = MECH_ROW_BYTES,
                                        .register_rows = ROWS,
                                        .memory = give_memory,
                                        .allow_issue = note_vote,
                                        .set_timer = note_timer,
                                        .l1_lines = note_lines,
                                        .l1_lines_max = note_lines,
                                        .bank_access = ask_bank};

static _Alignas(16) unsigned char cerf[4096];
static uint32_t params[3];
/* Registers 0 to 3; 4 to 7 are dead. */
static const uint64_t live[MECH_REGISTER_WORDS] = {0x0f};

static int reset(void **state)
{
    blocks_used = 0;
    memset(&sm, 0, sizeof sm);
    sm.votes = UINT64_MAX;
    assert_true(mechanism_cerf.state_bytes <= sizeof cerf && mechanism_cerf.param_bytes == sizeof params);
    memset(cerf, 0, sizeof cerf);
    memcpy(params, (const uint32_t[]){PERIOD, IDLE, RESTORE}, sizeof params);
    mechanism_cerf.init(cerf, NULL, params, &ports);
    assert_int_equal(sm.timer, PERIOD);
    mechanism_cerf.on_launch(cerf, &(struct mech_launch){.registers = REGISTERS});
    mechanism_cerf.on_warp(cerf, &(struct mech_warp_event){.warp = 3, .is_start = true});
    mechanism_cerf.on_next(cerf, &(struct mech_next){.warp = 3, .live = live});
    mechanism_cerf.on_cta(cerf, &(struct mech_cta){.kind = MECH_CTA_START, .rows = REGISTERS});
    return 0;
}

static void issue(uint64_t cycle, uint64_t reads, uint64_t writes)
{
    const uint64_t read[MECH_REGISTER_WORDS] = {reads}, written[MECH_REGISTER_WORDS] = {writes};
    mechanism_cerf.on_issue(
        cerf, &(struct mech_issue){.cycle = cycle, .warp = 3, .reads = read, .writes = written});
}

static uint64_t stat_of(const char *name)
{
    for (const struct stat_row *r = mechanism_cerf.stats; r->name; r++)
        if (!strcmp(r->name, name)) return *(const uint64_t *)(const void *)(cerf + r->offset);
    fail_msg("%s", name);
    return 0;
}

/* 56 rows are nobody's, 4 hold dead registers: 60 lines of four sets. At 1000, registers 2 and 3 were not
 * used for more than 500 cycles: 62, of which whole ways count. */
static void idle_registers_make_room(void **state)
{
    assert_int_equal(sm.lines, 8 + 60);
    issue(600, 1 << 0, 1 << 1);
    mechanism_cerf.on_timer(cerf, PERIOD);
    assert_int_equal(stat_of("cerf.dormant_rows"), 6);
    assert_int_equal(sm.lines, 8 + 60);
    mechanism_cerf.on_timer(cerf, 2 * PERIOD);
    assert_int_equal(sm.lines, 8 + 64);
}

/* Registers 2 and 3 come back together; the timer is that of the warp, then of the sample. */
static void a_warp_that_reads_one_waits_for_the_l2(void **state)
{
    issue(600, 1 << 0, 1 << 1);
    mechanism_cerf.on_timer(cerf, PERIOD);
    assert_int_equal(sm.timer, 2 * PERIOD);
    issue(1100, 1 << 0 | 1 << 1, 0); /* they are here */
    assert_int_equal(sm.votes, UINT64_MAX);
    issue(1200, 1 << 2 | 1 << 3, 0);
    assert_int_equal(sm.votes, ~W(3));
    assert_int_equal(sm.timer, 1200 + RESTORE);
    mechanism_cerf.on_timer(cerf, 1200 + RESTORE);
    assert_int_equal(sm.votes, UINT64_MAX);
    assert_int_equal(sm.timer, 2 * PERIOD);
    issue(1500, 1 << 2 | 1 << 3, 0);
    assert_int_equal(sm.votes, UINT64_MAX);
    assert_int_equal(stat_of("cerf.restores"), 2);
    assert_int_equal(stat_of("cerf.restore_waits"), 1);
}

static void a_register_that_is_written_need_not_come_back(void **state)
{
    issue(600, 1 << 0, 1 << 1);
    mechanism_cerf.on_timer(cerf, PERIOD);
    issue(1200, 0, 1 << 2);
    issue(1300, 1 << 2, 0);
    assert_int_equal(sm.votes, UINT64_MAX);
    assert_int_equal(stat_of("cerf.restores"), 0);
}

static void a_warp_that_ends_is_not_held(void **state)
{
    mechanism_cerf.on_timer(cerf, PERIOD);
    issue(1200, 1 << 2, 0);
    assert_int_equal(sm.votes, ~W(3));
    mechanism_cerf.on_warp(cerf, &(struct mech_warp_event){.warp = 3, .cycle = 1210});
    assert_int_equal(sm.votes, UINT64_MAX);
}

static void every_hit_takes_a_bank(void **state)
{
    assert_int_equal(mechanism_cerf.extra_hit(cerf, 1, 0), 0);
    assert_int_equal(sm.asked_row, ROWS - 1 - 1);
    sm.is_taken = true;
    assert_int_equal(mechanism_cerf.extra_hit(cerf, 1, 3), 1); /* the second way in rows */
    assert_int_equal(sm.asked_row, ROWS - 1 - 5);
    assert_int_equal(stat_of("cerf.hits"), 2);
    assert_int_equal(stat_of("cerf.reads"), 1);
    assert_int_equal(stat_of("cerf.conflicts"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(idle_registers_make_room, reset),
        cmocka_unit_test_setup(a_warp_that_reads_one_waits_for_the_l2, reset),
        cmocka_unit_test_setup(a_register_that_is_written_need_not_come_back, reset),
        cmocka_unit_test_setup(a_warp_that_ends_is_not_held, reset),
        cmocka_unit_test_setup(every_hit_takes_a_bank, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
