/* test_mem_dram.c: one DRAM channel between mock L2 slices: exact clocks of the command sequences, bandwidth,
 * order, nothing lost.
 *
 * A mock slice pushes what it is told at a clock; its link shows it one clock later. Where not said otherwise
 * the fixed latencies are 0, so a request that is pushed at clock 0 has its first command at clock 1. A read
 * is back at the clock at which its data is complete. */
#include "mem/dram.h"

#include "base/rng.h"
#include "mem/dram_bank.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PERIOD = 10, EVENTS_MAX = 20000, SLICES_MAX = 4 };

struct event {
    uint32_t slice, clock;
    struct req req;
};

struct bench {
    struct dram_params params;
    struct addrmap_params map_params;
    struct clock_domain clock, core;
    uint32_t slices, link_depth, drain_every; /* the mock takes an answer every so many clocks */
    bool no_skip;
    /* what happens */
    struct event *events; /* in order of clock */
    uint32_t event_count;
    /* what came out of it */
    uint64_t *back; /* by token: clock at which it was back, 0 = not */
    uint32_t *order;
    uint32_t back_count;
    struct dram_stats stats;
    uint64_t end; /* clock at which all was done */
    uint32_t live;
};

static void bench_init(struct bench *b)
{
    memset(b, 0, sizeof *b);
    param_set_defaults(dram_rows, &b->params);
    param_set_defaults(addrmap_rows, &b->map_params);
    b->params.latency = b->params.latency_min = 0;
    b->map_params.channels = 1;
    b->map_params.base = 0;
    b->clock = (struct clock_domain){PERIOD, 924000};
    b->core = b->clock;
    b->slices = 2;
    b->link_depth = 64;
    b->drain_every = 1;
    b->events = mem_zalloc(sizeof *b->events * EVENTS_MAX);
    b->back = mem_zalloc(sizeof *b->back * EVENTS_MAX);
    b->order = mem_zalloc(sizeof *b->order * EVENTS_MAX);
}

static void bench_free(struct bench *b)
{
    free(b->events);
    free(b->back);
    free(b->order);
}

/* Address of (row, bank, column in lines of 128 bytes) under 0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS. */
static uint64_t address(uint32_t row, uint32_t bank, uint32_t line)
{
    return (uint64_t)row << 16 | (uint64_t)(bank >> 1) << 13 | (uint64_t)(line >> 1) << 9 |
           (uint64_t)(bank & 1) << 8 | (uint64_t)(line & 1) << 7;
}

static void add(struct bench *b, uint32_t clock, enum req_kind kind, uint64_t addr, uint32_t sectors)
{
    uint32_t slices = b->slices;
    struct event e = {.slice = (uint32_t)(addr >> 8 & 1) % slices, .clock = clock};
    e.req = (struct req){.addr = addr, .sectors = sectors, .kind = (uint8_t)kind, .token = b->event_count};
    assert_true(b->event_count < EVENTS_MAX);
    b->events[b->event_count++] = e;
}

static void bench_receive(struct bench *b, struct req_pool *pool, struct link *out, tick now)
{
    uint32_t id;
    if (now / PERIOD % b->drain_every) return;
    while (link_peek(out, now, &id)) {
        uint32_t token = req_at(pool, id)->token;
        link_pop(out, now);
        assert_int_equal(b->back[token], 0);        /* once only */
        b->back[token] = now / b->clock.period - 1; /* the link takes one clock */
        b->order[b->back_count++] = token;
        req_del(pool, id);
    }
}

/* Runs all events to the end, at most `limit` clocks. */
static void bench_run_for(struct bench *b, uint64_t limit)
{
    struct diag_list diags = {0};
    struct req_pool pool;
    struct link in[SLICES_MAX], out[SLICES_MAX], *ins[SLICES_MAX], *outs[SLICES_MAX];
    req_pool_init(&pool, EVENTS_MAX);
    struct addrmap *map = addrmap_create(&b->map_params, &diags);
    assert_non_null(map);
    assert_true(dram_check(&b->params, map, &diags));
    for (uint32_t s = 0; s < b->slices; s++) ins[s] = &in[s], outs[s] = &out[s];
    struct dram_channel *d =
        dram_create(&b->params, 0, map, &b->clock, &b->core, &pool, ins, outs, b->slices);
    for (uint32_t s = 0; s < b->slices; s++) {
        link_init(&in[s], "in", b->link_depth, b->clock.period, NULL, dram_wake(d));
        link_init(&out[s], "out", b->link_depth, b->clock.period, dram_wake(d), NULL);
    }
    bool *sent = mem_zalloc(b->event_count + 1);
    uint32_t first = 0;
    tick now = 0;
    for (; now < limit * b->clock.period; now += b->clock.period) {
        bool blocked[SLICES_MAX] = {false};
        for (uint32_t i = first; i < b->event_count && b->events[i].clock * (tick)b->clock.period <= now;
             i++) {
            struct event *e = &b->events[i];
            if (sent[i] || blocked[e->slice]) continue;
            if (!link_can_push(&in[e->slice], now)) {
                blocked[e->slice] = true;
                if (b->slices == 1 || (blocked[0] && blocked[1])) break;
                continue;
            }
            link_push(&in[e->slice], now, req_new(&pool, &e->req));
            sent[i] = true;
        }
        while (first < b->event_count && sent[first]) first++;
        if (b->no_skip || *dram_wake(d) <= now) dram_tick(d, now);
        for (uint32_t s = 0; s < b->slices; s++) bench_receive(b, &pool, &out[s], now);
        if (first == b->event_count && pool.live == 0 && dram_idle(d)) break;
    }
    b->end = now / b->clock.period;
    b->live = pool.live;
    dram_settle(d, now);
    b->stats = *(struct dram_stats *)dram_stats(d);
    if (first == b->event_count && pool.live == 0) assert_true(dram_idle(d));
    for (uint32_t s = 0; s < b->slices; s++) {
        link_free(&in[s]);
        link_free(&out[s]);
    }
    free(sent);
    dram_destroy(d);
    addrmap_destroy(map);
    req_pool_free(&pool);
    diag_free(&diags);
}

static void bench_run(struct bench *b)
{
    bench_run_for(b, 4000000);
    assert_int_equal(b->live, 0);
}

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

/* A place in the queue is free again when a bank takes the request: bank 0 has one and the queue holds
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

static void fill_random(struct bench *b, uint64_t seed, uint32_t count, uint32_t spread)
{
    struct rng rng = {seed};
    uint32_t clock = 0;
    for (uint32_t i = 0; i < count; i++) {
        clock +=
            (uint32_t)rng_below(&rng, 8) ? (uint32_t)rng_below(&rng, 4) : (uint32_t)rng_below(&rng, spread);
        enum req_kind kind = rng_below(&rng, 3) ? REQ_READ : REQ_WRITE;
        uint64_t addr = address((uint32_t)rng_below(&rng, 4), (uint32_t)rng_below(&rng, 16),
                                (uint32_t)rng_below(&rng, 32));
        add(b, clock, kind, addr, 1 + (uint32_t)rng_below(&rng, 15));
    }
}

static void random_params(struct bench *b, uint64_t seed)
{
    struct rng rng = {seed * 77 + 5};
    b->params.queue = 1 + (uint32_t)rng_below(&rng, 16);
    b->params.return_queue = 1 + (uint32_t)rng_below(&rng, 8);
    b->params.sched = (uint32_t)rng_below(&rng, 2);
    b->params.dual_bus = rng_below(&rng, 2);
    b->params.group_by = (uint32_t)rng_below(&rng, 2);
    b->params.write_drain = b->params.sched == DRAM_FRFCFS && rng_below(&rng, 2);
    b->params.write_queue = 4;
    b->params.write_high = 1 + (uint32_t)rng_below(&rng, 4);
    b->params.write_low = (uint32_t)rng_below(&rng, b->params.write_high);
    b->params.latency = (uint32_t)rng_below(&rng, 40);
    b->params.latency_min = (uint32_t)rng_below(&rng, 120);
    b->params.infinite = rng_below(&rng, 8) == 0;
    if (rng_below(&rng, 2)) b->params.trefi = 700 + (uint32_t)rng_below(&rng, 300), b->params.trfc = 90;
    b->core.period = 3 + (uint32_t)rng_below(&rng, 12);
    b->link_depth = 1 + (uint32_t)rng_below(&rng, 8);
    b->drain_every = 1 + (uint32_t)rng_below(&rng, 12);
}

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

/* Answers wait in the return queue and reads wait for a place there, while the L2 takes none. */
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

/* ---- the chips alone: random commands, each as early as it may go, watched by a referee that knows only the
 * table ---- */

struct command {
    uint64_t clock;
    uint32_t bank;
    enum dram_command kind;
};

/* The span of the table that must lie between two commands, 0 = none. */
static uint32_t referee_span(const struct dram_params *p, const struct command *a, const struct command *b)
{
    bool same = a->bank == b->bank, group = (a->bank & (p->groups - 1)) == (b->bank & (p->groups - 1));
    uint32_t burst = p->burst / p->ratio, span = 1; /* one command bus */
    bool column = a->kind >= DRAM_READ && b->kind >= DRAM_READ;
    if (column) span = MAX(span, group ? MAX(p->tccd, p->tccdl) : p->tccd);
    if (a->kind == DRAM_READ && b->kind == DRAM_WRITE) span = MAX(span, p->tcl + burst + 2 - p->twl);
    if (a->kind == DRAM_WRITE && b->kind == DRAM_READ) span = MAX(span, p->twl + burst + p->tcdlr);
    if (a->kind == DRAM_ACTIVATE && b->kind == DRAM_ACTIVATE) span = MAX(span, same ? p->trc : p->trrd);
    if (group && a->kind == DRAM_READ && b->kind == DRAM_PRECHARGE) span = MAX(span, p->trtpl);
    if (!same) return span;
    if (a->kind == DRAM_ACTIVATE && b->kind == DRAM_READ) span = MAX(span, p->trcd);
    if (a->kind == DRAM_ACTIVATE && b->kind == DRAM_WRITE) span = MAX(span, p->trcd - p->twl - 1);
    if (a->kind == DRAM_ACTIVATE && b->kind == DRAM_PRECHARGE) span = MAX(span, p->tras);
    if (a->kind == DRAM_PRECHARGE && b->kind == DRAM_ACTIVATE) span = MAX(span, p->trp);
    if (a->kind == DRAM_READ && b->kind == DRAM_PRECHARGE) span = MAX(span, burst);
    if (a->kind == DRAM_WRITE && b->kind == DRAM_PRECHARGE) span = MAX(span, p->twl + burst + p->twr);
    return span;
}

static void every_pair_of_commands_keeps_its_span_and_no_more(void **state)
{
    enum { COMMANDS = 3000, LOOK_BACK = 60 };
    struct dram_params p;
    param_set_defaults(dram_rows, &p);
    struct dram_chips chips;
    dram_chips_init(&chips, &p);
    struct rng rng = {3};
    static struct command log[COMMANDS];
    uint64_t clock = 0;
    for (uint32_t i = 0; i < COMMANDS; i++) {
        struct command *c = &log[i];
        c->bank = (uint32_t)rng_below(&rng, p.banks);
        bool open = chips.banks[c->bank].row != DRAM_ROW_NONE;
        c->kind = !open                     ? DRAM_ACTIVATE
                  : rng_below(&rng, 4) == 0 ? DRAM_PRECHARGE
                  : rng_below(&rng, 2)      ? DRAM_READ
                                            : DRAM_WRITE;
        c->clock = MAX(clock, dram_chips_earliest(&chips, c->bank, c->kind));
        clock = c->clock;
        dram_chips_give(&chips, c->clock, c->bank, c->kind, 7);
        uint64_t earliest = i ? log[i - 1].clock : 0;
        for (uint32_t k = i > LOOK_BACK ? i - LOOK_BACK : 0; k < i; k++)
            earliest = MAX(earliest, log[k].clock + referee_span(&p, &log[k], c));
        assert_int_equal(c->clock, earliest);
    }
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
        cmocka_unit_test(nothing_is_lost_at_depth_1),
        cmocka_unit_test(full_link_to_the_l2_stops_the_channel),
        cmocka_unit_test(queue_statistics_cover_its_usage),
        cmocka_unit_test(wrong_parameters_are_diagnosed),
        cmocka_unit_test(every_pair_of_commands_keeps_its_span_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
