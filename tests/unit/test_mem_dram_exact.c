/* test_mem_dram_exact.c: a DRAM channel in detail: which bursts a request takes, what counts as a row hit,
 * when a batch of writes begins and ends. */
#include "dram_kit.h"

/* ---- bursts ---- */

static void check_bursts(uint32_t bus_bytes, uint32_t burst, uint32_t sectors, uint32_t bursts)
{
    for (uint32_t writes = 0; writes < 2; writes++) {
        struct bench b;
        bench_init(&b);
        b.params.bus_bytes = bus_bytes;
        b.params.burst = burst;
        add(&b, 0, writes ? REQ_WRITE : REQ_READ, address(0, 0, 0), sectors);
        bench_run(&b);
        assert_int_equal(writes ? b.stats.write_bursts : b.stats.read_bursts, bursts);
        bench_free(&b);
    }
}

static void bursts_between_the_wanted_sectors_are_not_transferred(void **state)
{
    check_bursts(8, 4, 0x9, 2); /* 32 bytes each: two of four */
    check_bursts(8, 4, 0xf, 4);
    check_bursts(8, 4, 0x81, 2);
    check_bursts(8, 8, 0x9, 2); /* 64 bytes each */
    check_bursts(8, 8, 0xc3, 2);
    check_bursts(8, 8, 0x41, 2);
    check_bursts(16, 8, 0x9, 1); /* one holds all four */
    check_bursts(16, 8, 0x801, 2);
}

static void a_sector_that_is_longer_than_a_burst_takes_several(void **state)
{
    check_bursts(2, 8, 0x1, 2); /* 16 bytes each */
    check_bursts(2, 8, 0x9, 4);
    check_bursts(2, 4, 0xf, 16);
    check_bursts(1, 4, 0xf, 32);
}

/* ---- row hits ---- */

static void another_row_that_is_open_is_not_a_hit(void **state)
{
    struct bench b;
    bench_init(&b);
    add(&b, 0, REQ_READ, address(0, 0, 0), 1);
    add(&b, 200, REQ_READ, address(1, 0, 0), 1); /* closes row 0 */
    add(&b, 400, REQ_READ, address(1, 0, 1), 1);
    add(&b, 600, REQ_READ, address(1, 2, 1), 1); /* another bank, closed */
    bench_run(&b);
    assert_int_equal(b.stats.requests, 4);
    assert_int_equal(b.stats.precharges, 1);
    assert_int_equal(b.stats.row_hits, 1);
    bench_free(&b);
}

/* ---- batches of writes ---- */

struct columns {
    /* r or w for each request, in the order of their last column commands */
    char text[64];
    uint32_t count, commands;
};

static void note_column(void *ctx, uint64_t clock, uint32_t bank, enum dram_command command, uint32_t row)
{
    /* bursts of a line */
    enum { BURSTS = 2 };
    struct columns *c = ctx;
    if (command != DRAM_READ && command != DRAM_WRITE) return;
    if (++c->commands % BURSTS == 0) c->text[c->count++] = command == DRAM_READ ? 'r' : 'w';
}

/* Four reads, then writes, to rows of one bank; they have all come when the first read is done. */
static void check_batches(uint32_t writes, uint32_t high, uint32_t low, const char *order)
{
    struct bench b;
    struct columns c = {0};
    bench_init(&b);
    b.params.write_drain = true;
    b.params.write_queue = 8;
    b.params.write_high = high;
    b.params.write_low = low;
    b.observer = (struct dram_observer){note_column, &c};
    for (uint32_t i = 0; i < 4; i++) add(&b, 0, REQ_READ, address(0, 0, i), 0xf);
    for (uint32_t i = 0; i < writes; i++) add(&b, 0, REQ_WRITE, address(1, 0, i), 0xf);
    bench_run(&b);
    assert_string_equal(c.text, order);
    bench_free(&b);
}

static void a_batch_begins_at_the_high_mark_and_ends_at_the_low_one(void **state)
{
    check_batches(6, 4, 2, "rwwwwrrrww");
    check_batches(6, 6, 2, "rwwwwrrrww");
    check_batches(6, 6, 3, "rwwwrrrwww");
    check_batches(6, 6, 0, "rwwwwwwrrr");
    check_batches(6, 7, 2, "rrrrwwwwww"); /* too few writes: they wait for the reads */
    check_batches(1, 1, 0, "rwrrr");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts_between_the_wanted_sectors_are_not_transferred),
        cmocka_unit_test(a_sector_that_is_longer_than_a_burst_takes_several),
        cmocka_unit_test(another_row_that_is_open_is_not_a_hit),
        cmocka_unit_test(a_batch_begins_at_the_high_mark_and_ends_at_the_low_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
