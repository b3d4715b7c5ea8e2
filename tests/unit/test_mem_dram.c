/* test_mem_dram.c: one DRAM channel between mock L2 slices (dram_kit.h): exact clocks of the command
 * sequences, bandwidth, order, nothing lost. */
#include "dram_kit.h"

/* ---- exact clocks (defaults: CCD 2 CCDL 3 RRD 6 RCD 12 RAS 28 RP 12 RC 40 CL 12 WL 4 CDLR 5 WR 12, burst 2
 * clocks) ---- */

/* ACT 1, RD 13, data 25..26. */
static void first_access_takes_rcd_cl_and_a_burst(void **state)
{
    struct bench b;
    bench_init(&b);
    add(&b, 0, REQ_READ, address(0, 0, 0), 1);
    bench_run(&b);
    assert_int_equal(b.back[0], 1 + 12 + 12 + 2);
    assert_int_equal(b.stats.activates, 1);
    assert_int_equal(b.stats.read_bursts, 1);
    assert_int_equal(b.stats.row_hits, 0);
    assert_int_equal(b.stats.busy, 2);
    assert_int_equal(b.stats.pending, 12 + 12 + 2);
    bench_free(&b);
}

/* Two column commands, CCDL apart because they are for one bank. */
static void line_of_128_bytes_takes_two_bursts(void **state)
{
    struct bench b;
    bench_init(&b);
    add(&b, 0, REQ_READ, address(0, 0, 0), 0xf);
    bench_run(&b);
    assert_int_equal(b.back[0], 1 + 12 + 3 + 12 + 2);
    assert_int_equal(b.stats.read_bursts, 2);
    bench_free(&b);
}

static void sector_costs_a_whole_burst(void **state)
{
    static const struct {
        uint32_t sectors, bursts;
    } rows[] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 2}, {9, 2}, {6, 2}, {0xf, 2}, {0xff, 4}};
    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct bench b;
        bench_init(&b);
        add(&b, 0, REQ_READ, address(0, 0, 0), rows[i].sectors);
        bench_run(&b);
        assert_int_equal(b.stats.read_bursts, rows[i].bursts);
        bench_free(&b);
    }
}

static void sector_bursts_make_every_sector_read_a_burst(void **state)
{
    struct bench b;
    bench_init(&b);
    b.params.sector_bursts = true;
    add(&b, 0, REQ_READ, address(0, 0, 0), 0xf);
    bench_run(&b);
    assert_int_equal(b.back[0], 1 + 12 + 3 * 3 + 12 + 2);
    assert_int_equal(b.stats.read_bursts, 4);
    bench_free(&b);
    bench_init(&b);
    b.params.sector_bursts = true;
    add(&b, 0, REQ_WRITE, address(0, 0, 0), 0xf);
    bench_run(&b);
    assert_int_equal(b.stats.write_bursts, 2);
    bench_free(&b);
}

/* Row opened by the first; the second is pushed when all is quiet: RD at the clock at which it is seen. */
static void row_hit_takes_cl_and_a_burst(void **state)
{
    struct bench b;
    bench_init(&b);
    add(&b, 0, REQ_READ, address(0, 0, 0), 1);
    add(&b, 100, REQ_READ, address(0, 0, 5), 1);
    bench_run(&b);
    assert_int_equal(b.back[1], 101 + 12 + 2);
    assert_int_equal(b.stats.row_hits, 1);
    assert_int_equal(b.stats.activates, 1);
    bench_free(&b);
}

static void check_pair(uint32_t bank, uint32_t groups_by, uint32_t apart)
{
    struct bench b;
    bench_init(&b);
    b.params.group_by = groups_by;
    add(&b, 0, REQ_READ, address(0, 0, 0), 1);
    add(&b, 0, REQ_READ, address(0, bank, 0), 1);
    add(&b, 200, REQ_READ, address(0, 0, 1), 1);
    add(&b, 200, REQ_READ, address(0, bank, 1), 1);
    bench_run(&b);
    assert_int_equal(b.back[2], 201 + 14);
    assert_int_equal(b.back[3], 201 + apart + 14);
    bench_free(&b);
}

static void row_hits_follow_at_ccd_and_in_one_group_at_ccdl(void **state)
{
    check_pair(1, DRAM_GROUPS_LOW, 2);  /* groups 0 and 1 */
    check_pair(4, DRAM_GROUPS_LOW, 3);  /* both in group 0 */
    check_pair(1, DRAM_GROUPS_HIGH, 3); /* both in group 0 */
    check_pair(4, DRAM_GROUPS_HIGH, 2);
}

/* ACT 1, RD 13; PRE at 1 + RAS = 29, ACT at 29 + RP = 41 (= 1 + RC), RD 53. */
static void row_conflict_waits_for_ras_rp_and_rcd(void **state)
{
    struct bench b;
    bench_init(&b);
    add(&b, 0, REQ_READ, address(0, 0, 0), 1);
    add(&b, 0, REQ_READ, address(1, 0, 0), 1);
    bench_run(&b);
    assert_int_equal(b.back[1], 1 + 28 + 12 + 12 + 12 + 2);
    assert_int_equal(b.stats.precharges, 1);
    bench_free(&b);
}

static void row_conflict_on_a_quiet_bank_takes_rp_rcd_cl_and_a_burst(void **state)
{
    struct bench b;
    bench_init(&b);
    add(&b, 0, REQ_READ, address(0, 0, 0), 1);
    add(&b, 100, REQ_READ, address(1, 0, 0), 1);
    bench_run(&b);
    assert_int_equal(b.back[1], 101 + 12 + 12 + 12 + 2);
    bench_free(&b);
}

/* With a longer RC the second activate waits for it. */
static void activates_of_one_bank_are_rc_apart(void **state)
{
    struct bench b;
    bench_init(&b);
    b.params.trc = 60;
    add(&b, 0, REQ_READ, address(0, 0, 0), 1);
    add(&b, 0, REQ_READ, address(1, 0, 0), 1);
    bench_run(&b);
    assert_int_equal(b.back[1], 1 + 60 + 12 + 12 + 2);
    bench_free(&b);
}

static void banks_work_in_parallel_activates_rrd_apart(void **state)
{
    struct bench b;
    bench_init(&b);
    b.params.dual_bus = true; /* on a single bus the third activate steps back for the first read */
    for (uint32_t i = 0; i < 4; i++) add(&b, 0, REQ_READ, address(0, i, 0), 1);
    bench_run(&b);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(b.back[i], 1 + 6 * i + 12 + 12 + 2);
    bench_free(&b);
}

/* Banks 0 and 1 open. Read at 201; the write of bank 1 may go CL + burst + 2 - WL = 12 later, at 213; the
 * read that comes then may go WL + burst + CDLR = 11 after the write, at 224. */
static void bus_turns_round_between_reads_and_writes(void **state)
{
    struct bench b;
    bench_init(&b);
    add(&b, 0, REQ_READ, address(0, 0, 0), 1);
    add(&b, 0, REQ_READ, address(0, 1, 0), 1);
    add(&b, 200, REQ_READ, address(0, 0, 1), 1);
    add(&b, 200, REQ_WRITE, address(0, 1, 1), 1);
    add(&b, 213, REQ_READ, address(0, 0, 2), 1);
    bench_run(&b);
    assert_int_equal(b.back[2], 201 + 14);
    assert_int_equal(b.back[4], 201 + 12 + 11 + 14);
    assert_int_equal(b.stats.writes, 1);
    bench_free(&b);
}

/* Write at 101, PRE WL + burst + WR = 18 later, then RP, RCD. */
static void row_that_was_written_closes_after_write_recovery(void **state)
{
    struct bench b;
    bench_init(&b);
    add(&b, 0, REQ_READ, address(0, 0, 0), 1);
    add(&b, 100, REQ_WRITE, address(0, 0, 1), 1);
    add(&b, 100, REQ_READ, address(1, 0, 1), 1);
    bench_run(&b);
    assert_int_equal(b.back[2], 101 + 18 + 12 + 12 + 14);
    bench_free(&b);
}

/* Activate to write is RCD - WL - 1 = 7 (or as the machine says); after the data WL, burst, CDLR before the
 * read. */
static void write_may_follow_its_activate_sooner_than_a_read(void **state)
{
    for (uint32_t said = 0; said <= 10; said += 10) {
        struct bench b;
        bench_init(&b);
        b.params.trcdwr = said;
        add(&b, 0, REQ_WRITE, address(0, 0, 0), 1);
        add(&b, 9, REQ_READ, address(0, 0, 1), 1);
        bench_run(&b);
        assert_int_equal(b.back[1], 1 + (said ? said : 7) + 11 + 14);
        bench_free(&b);
    }
}

/* The second row command and the first column command are both possible at clock 13; one bus does one of
 * them. */
static void dual_command_bus_takes_a_row_and_a_column_command_in_one_clock(void **state)
{
    for (uint32_t dual = 0; dual < 2; dual++) {
        struct bench b;
        bench_init(&b);
        b.params.dual_bus = dual;
        add(&b, 0, REQ_READ, address(0, 0, 0), 1);
        add(&b, 12, REQ_READ, address(0, 1, 0), 1); /* seen at 13 */
        bench_run(&b);
        assert_int_equal(b.back[0], 1 + 12 + 14);
        assert_int_equal(b.back[1], (dual ? 13 : 14) + 12 + 14);
        bench_free(&b);
    }
}

/* ---- order ---- */

static void check_order(uint32_t sched, const uint32_t *want)
{
    struct bench b;
    bench_init(&b);
    b.params.sched = sched;
    add(&b, 0, REQ_READ, address(0, 0, 0), 0xf);
    add(&b, 0, REQ_READ, address(1, 0, 0), 0xf);
    add(&b, 0, REQ_READ, address(0, 0, 1), 0xf);
    add(&b, 0, REQ_READ, address(1, 0, 1), 0xf);
    bench_run(&b);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(b.order[i], want[i]);
    bench_free(&b);
}

static void fr_fcfs_takes_the_open_row_first(void **state)
{
    check_order(DRAM_FRFCFS, (const uint32_t[]){0, 2, 1, 3});
}
static void fcfs_does_not_reorder(void **state) { check_order(DRAM_FCFS, (const uint32_t[]){0, 1, 2, 3}); }

/* An entry of the queue is free again when a bank takes the request: bank 0 has one and the queue holds
 * `queue` more. */
static void window_of_the_scheduler_is_the_queue(void **state)
{
    for (uint32_t queue = 1; queue <= 2; queue++) {
        struct bench b;
        bench_init(&b);
        b.params.queue = queue;
        add(&b, 0, REQ_READ, address(0, 0, 0), 0xf);
        add(&b, 0, REQ_READ, address(1, 0, 0), 0xf);
        add(&b, 0, REQ_READ, address(0, 0, 1), 0xf); /* a row hit, seen only by the larger queue */
        bench_run(&b);
        assert_int_equal(b.order[1], queue == 1 ? 1 : 2);
        bench_free(&b);
    }
}

static void drained_writes_let_the_reads_go_first(void **state)
{
    for (uint32_t drain = 0; drain < 2; drain++) {
        struct bench b;
        bench_init(&b);
        b.params.write_drain = drain;
        b.params.write_queue = 8;
        b.params.write_high = 6;
        b.params.write_low = 2;
        add(&b, 0, REQ_READ, address(0, 0, 0), 0xf);
        add(&b, 0, REQ_WRITE, address(5, 0, 0), 0xf);
        add(&b, 0, REQ_READ, address(1, 0, 0), 0xf);
        bench_run(&b);
        uint64_t conflict = 1 + 40 + 12 + 3 + 14;
        if (drain)
            assert_int_equal(b.back[2], conflict);
        else
            assert_true(b.back[2] > conflict + 30); /* a write to a third row came before it */
        assert_int_equal(b.stats.writes, 1);
        bench_free(&b);
    }
}

/* ---- bandwidth ---- */

static void check_stream(uint32_t slices, bool writes, double at_least)
{
    enum { LINES = 8000 };
    struct bench b;
    bench_init(&b);
    b.slices = slices;
    b.params.latency = 30;
    b.params.latency_min = 96;
    b.map_params.slices = slices;
    for (uint32_t i = 0; i < LINES; i++) add(&b, 0, writes ? REQ_WRITE : REQ_READ, 128ull * i, 0xf);
    bench_run(&b);
    double pins = b.params.bus_bytes * b.params.ratio; /* bytes a clock */
    double rate = 128.0 * LINES / (double)b.end;
    assert_true(rate >= at_least * pins);
    assert_true(rate <= pins);
    assert_true(b.stats.busy <= b.stats.pending && b.stats.pending <= b.stats.cycles);
    assert_true((double)b.stats.row_hits > 0.9 * LINES);
    bench_free(&b);
}

static void streaming_reads_reach_85_percent_of_the_pins_and_no_more(void **state)
{
    check_stream(1, false, 0.85);
    check_stream(2, false, 0.85);
}
static void streaming_writes_too(void **state) { check_stream(2, true, 0.85); }

/* CCD smaller than a burst: the bus is still the ceiling. */
static void data_never_overlap_on_the_bus(void **state)
{
    struct bench b;
    bench_init(&b);
    b.params.tccd = b.params.tccdl = 1;
    for (uint32_t i = 0; i < 4000; i++) add(&b, 0, REQ_READ, 128ull * i, 0xf);
    bench_run(&b);
    assert_true(b.end >= 4000 * 4);
    assert_true(b.stats.busy == 4000 * 4);
    bench_free(&b);
}

/* One bank, another row each time: one request in RC clocks. */
static void random_rows_of_one_bank_are_bound_by_rc(void **state)
{
    struct bench b;
    bench_init(&b);
    for (uint32_t i = 0; i < 100; i++) add(&b, 0, REQ_READ, address(i, 0, 0), 1);
    bench_run(&b);
    assert_int_equal(b.back[99], 1 + 99 * 40 + 12 + 14);
    bench_free(&b);
}

/* ---- latencies of the machine ---- */

/* Open row, closed row, conflict: the same, at a core clock faster than the command clock (10 : 7, nearly as
 * 1400 : 924 MHz). */
static void idle_latency_is_the_same_for_every_row_state(void **state)
{
    struct bench b;
    bench_init(&b);
    b.params.latency = 30;
    b.params.latency_min = 96;
    b.core.period = 7;
    add(&b, 0, REQ_READ, address(0, 0, 0), 0xf);
    add(&b, 500, REQ_READ, address(0, 0, 1), 0xf);
    add(&b, 1000, REQ_READ, address(3, 0, 1), 0xf);
    bench_run(&b);
    uint64_t clocks = (96 * 7 + 9) / 10;
    assert_int_equal(b.back[0], 1 + clocks);
    assert_int_equal(b.back[1], 501 + clocks);
    assert_int_equal(b.back[2], 1001 + clocks);
    bench_free(&b);
}

static void fixed_latency_comes_before_the_queue(void **state)
{
    struct bench b;
    bench_init(&b);
    b.params.latency = 100;
    add(&b, 0, REQ_READ, address(0, 0, 0), 1);
    bench_run(&b);
    assert_int_equal(b.back[0], 1 + 100 + 12 + 14);
    assert_int_equal(b.stats.pending, 12 + 14);
    bench_free(&b);
}

static void infinite_bandwidth_gives_every_request_the_idle_latency(void **state)
{
    struct bench b;
    bench_init(&b);
    b.params.infinite = true;
    b.params.latency_min = 96;
    for (uint32_t i = 0; i < 64; i++) add(&b, 7, REQ_READ, 128ull * i * 999, 0xf);
    add(&b, 7, REQ_WRITE, 0, 0xf);
    bench_run(&b);
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(b.back[i], 8 + 96);
    assert_int_equal(b.stats.reads, 64);
    assert_int_equal(b.stats.writes, 1);
    bench_free(&b);
}

/* ---- refresh ---- */

/* Due at 1000 with the row open: PRE 1000, refresh 1012, banks ready at 1112; the read of 1005 activates
 * then. */
static void refresh_closes_the_rows_and_holds_the_banks(void **state)
{
    struct bench b;
    bench_init(&b);
    b.params.trefi = 1000;
    b.params.trfc = 100;
    add(&b, 0, REQ_READ, address(0, 0, 0), 1);
    add(&b, 900, REQ_READ, address(0, 0, 1), 1);
    add(&b, 1004, REQ_READ, address(0, 0, 2), 1);
    add(&b, 9500, REQ_READ, address(0, 0, 3), 1);
    bench_run(&b);
    assert_int_equal(b.back[1], 901 + 14);
    assert_int_equal(b.back[2], 1000 + 12 + 100 + 12 + 14);
    assert_int_equal(b.back[3], 9501 + 12 + 14); /* the last one was long ago, the row is closed */
    assert_int_equal(b.stats.refreshes, 9);
    bench_free(&b);
}

/* ---- nothing is lost, and nothing depends on how often it is ticked ---- */

static void skipping_idle_clocks_changes_nothing(void **state)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct bench skip, all;
        for (uint32_t i = 0; i < 2; i++) {
            struct bench *b = i ? &all : &skip;
            bench_init(b);
            random_params(b, seed);
            b->no_skip = i;
            fill_random(b, seed, 600, seed % 3 ? 100 : 3000);
            bench_run(b);
        }
        assert_int_equal(skip.end, all.end);
        assert_memory_equal(skip.back, all.back, sizeof *all.back * all.event_count);
        assert_memory_equal(&skip.stats, &all.stats, sizeof all.stats);
        assert_true(skip.stats.reads + skip.stats.writes == 600);
        bench_free(&skip);
        bench_free(&all);
    }
}

/* A channel that has its clocks no sooner than its slices can see what it did in them. */
static void late_clocks_change_nothing(void **state)
{
    for (uint64_t seed = 0; seed < 120; seed++) {
        struct bench at_once, late;
        for (uint32_t i = 0; i < 2; i++) {
            struct bench *b = i ? &late : &at_once;
            bench_init(b);
            random_params(b, seed);
            b->is_lazy = i;
            fill_random(b, seed, 600, seed % 3 ? 100 : 3000);
            if (i)
                bench_run_for(b, at_once.end + 1);
            else
                bench_run(b);
        }
        assert_memory_equal(late.back, at_once.back, sizeof *late.back * late.event_count);
        assert_memory_equal(late.order, at_once.order, sizeof *late.order * late.event_count);
        late.stats.cycles = at_once.stats.cycles; /* the lazy one runs to its limit */
        assert_memory_equal(&late.stats, &at_once.stats, sizeof late.stats);
        bench_free(&at_once);
        bench_free(&late);
    }
}

static void nothing_is_lost_at_depth_1(void **state)
{
    for (uint32_t drain = 0; drain < 2; drain++) {
        struct bench b;
        bench_init(&b);
        b.params.queue = b.params.return_queue = b.link_depth = 1;
        b.params.write_drain = drain;
        b.params.write_queue = b.params.write_high = 1;
        b.params.write_low = 0;
        b.drain_every = 37;
        fill_random(&b, 11, 1000, 10);
        bench_run(&b);
        for (uint32_t i = 0; i < b.event_count; i++)
            assert_true(b.events[i].req.kind == REQ_WRITE || b.back[i] > 0);
        assert_int_equal(b.stats.reads + b.stats.writes, 1000);
        bench_free(&b);
    }
}

/* Answers wait in the return queue and reads wait for a slot there, while the L2 takes none. */
static void full_link_to_the_l2_stops_the_channel(void **state)
{
    struct bench b;
    bench_init(&b);
    b.link_depth = 2;
    b.params.return_queue = 4;
    b.slices = 1;
    b.drain_every = 1 << 30;
    b.no_skip = true;
    for (uint32_t i = 0; i < 60; i++) add(&b, 1, REQ_READ, 128ull * i, 0xf);
    bench_run_for(&b, 3000);
    assert_int_equal(b.stats.reads, 2 + 4); /* in the link, in the return queue */
    bench_free(&b);
}

static void queue_statistics_cover_its_usage(void **state)
{
    struct bench b;
    bench_init(&b);
    b.params.queue = 4;
    for (uint32_t i = 0; i < 5; i++) add(&b, 0, REQ_READ, address(i, 0, 0), 1);
    bench_run(&b);
    /* Bank 0 takes the first at 1; the others come at 2, 3, 4, 5 (one a clock) and leave after the column
     * command before: 14, 54, 94, 134. */
    uint64_t want[LINK_LEVELS] = {0};
    want[2] = 1 + (134 - 94); /* 1 of 4: above 20% */
    want[4] = 1 + (94 - 54);  /* 2 of 4 */
    want[7] = 1 + (54 - 14);  /* 3 of 4 */
    want[10] = 14 - 5;        /* full */
    assert_memory_equal(b.stats.queue_level, want, sizeof want);
    assert_int_equal(b.stats.queue_cycles, 12 + (53 - 2) + (93 - 3) + (133 - 4) + (173 - 5));
    assert_int_equal(b.stats.requests, 5);
    bench_free(&b);
}

static void wrong_parameters_are_diagnosed(void **state)
{
    struct bench b;
    bench_init(&b);
    struct diag_list diags = {0};
    struct addrmap *map = addrmap_create(&b.map_params, &diags);
    assert_true(dram_check(&b.params, map, &diags));
    struct dram_params p = b.params;
    p.banks = 8; /* the map has 4 B letters */
    p.groups = 3;
    p.ratio = 3;
    p.trefi = 20;
    p.bus_bytes = 12;
    assert_false(dram_check(&p, map, &diags));
    assert_int_equal(diags.errors, 5);
    addrmap_destroy(map);
    diag_free(&diags);
    bench_free(&b);
}

/* A refresh closes the rows: one that always comes before a row could be used would leave the memory with
 * refreshes alone. */
static void refresh_leaves_time_to_use_a_row(void **state)
{
    struct bench b;
    bench_init(&b);
    struct diag_list diags = {0};
    struct addrmap *map = addrmap_create(&b.map_params, &diags);
    const uint32_t slow = 1 << 20;
    b.params.trefi = slow;
    uint32_t *const needed[] = {&b.params.trcd, &b.params.trcdwr, &b.params.trrd, &b.params.tfaw,
                                &b.params.trfc, &b.params.trp,    &b.params.trc,  &b.params.twr};
    assert_true(dram_check(&b.params, map, &diags));
    for (uint32_t i = 0; i < ARRAY_LEN(needed); i++) {
        const uint32_t kept = *needed[i];
        *needed[i] = slow;
        assert_false(dram_check(&b.params, map, &diags));
        assert_int_equal(diags.errors, i + 1);
        *needed[i] = kept;
    }
    addrmap_destroy(map);
    diag_free(&diags);
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_access_takes_rcd_cl_and_a_burst),
        cmocka_unit_test(line_of_128_bytes_takes_two_bursts),
        cmocka_unit_test(sector_costs_a_whole_burst),
        cmocka_unit_test(sector_bursts_make_every_sector_read_a_burst),
        cmocka_unit_test(row_hit_takes_cl_and_a_burst),
        cmocka_unit_test(row_hits_follow_at_ccd_and_in_one_group_at_ccdl),
        cmocka_unit_test(row_conflict_waits_for_ras_rp_and_rcd),
        cmocka_unit_test(row_conflict_on_a_quiet_bank_takes_rp_rcd_cl_and_a_burst),
        cmocka_unit_test(activates_of_one_bank_are_rc_apart),
        cmocka_unit_test(banks_work_in_parallel_activates_rrd_apart),
        cmocka_unit_test(bus_turns_round_between_reads_and_writes),
        cmocka_unit_test(row_that_was_written_closes_after_write_recovery),
        cmocka_unit_test(write_may_follow_its_activate_sooner_than_a_read),
        cmocka_unit_test(dual_command_bus_takes_a_row_and_a_column_command_in_one_clock),
        cmocka_unit_test(fr_fcfs_takes_the_open_row_first),
        cmocka_unit_test(fcfs_does_not_reorder),
        cmocka_unit_test(window_of_the_scheduler_is_the_queue),
        cmocka_unit_test(drained_writes_let_the_reads_go_first),
        cmocka_unit_test(streaming_reads_reach_85_percent_of_the_pins_and_no_more),
        cmocka_unit_test(streaming_writes_too),
        cmocka_unit_test(data_never_overlap_on_the_bus),
        cmocka_unit_test(random_rows_of_one_bank_are_bound_by_rc),
        cmocka_unit_test(idle_latency_is_the_same_for_every_row_state),
        cmocka_unit_test(fixed_latency_comes_before_the_queue),
        cmocka_unit_test(infinite_bandwidth_gives_every_request_the_idle_latency),
        cmocka_unit_test(refresh_closes_the_rows_and_holds_the_banks),
        cmocka_unit_test(skipping_idle_clocks_changes_nothing),
        cmocka_unit_test(late_clocks_change_nothing),
        cmocka_unit_test(nothing_is_lost_at_depth_1),
        cmocka_unit_test(full_link_to_the_l2_stops_the_channel),
        cmocka_unit_test(queue_statistics_cover_its_usage),
        cmocka_unit_test(wrong_parameters_are_diagnosed),
        cmocka_unit_test(refresh_leaves_time_to_use_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
