/* test_mem_l2.c: an L2 slice between a mock crossbar and a mock DRAM: exact cycles for hits, misses, merges
 * and each kind of stall, write policies, atomics, bandwidth, and the laws under random traffic with every
 * queue at depth one. */
#include "mem/l2.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { CORE = 10, L2P = 20, NOTES_MAX = 64 };

struct note { /* something that came out of a link, or an atomic that took effect */
    uint32_t id;
    uint64_t cycle; /* L2 cycle */
};

struct rig {
    struct l2_params p;
    struct l2_slice *s;
    struct clock_domain core, clock;
    struct req_pool pool;
    struct link in, out, to_dram, from_dram;
    uint64_t cycle;
    uint32_t dram_cycles; /* the mock DRAM answers a read this long after it took it */
    bool dram_stopped, out_stopped;
    struct note dram[NOTES_MAX]; /* reads under way */
    uint32_t dram_count;
    struct note replies[NOTES_MAX], fetches[NOTES_MAX], writes[NOTES_MAX], atomics[NOTES_MAX];
    uint32_t reply_count, fetch_count, write_count, atomic_count;
    struct req fetch_req[NOTES_MAX], write_req[NOTES_MAX];
};

static void rig_defaults(struct rig *r)
{
    memset(r, 0, sizeof *r);
    param_set_defaults(l2_rows, &r->p);
    r->p.latency = 20; /* 10 L2 cycles */
    r->p.fill_port = false;
    r->dram_cycles = 50;
}

static void on_atomic(void *ctx, const struct req *q)
{
    struct rig *r = ctx;
    r->atomics[r->atomic_count++] = (struct note){.id = q->token, .cycle = r->cycle};
}

static void rig_start(struct rig *r)
{
    r->core = (struct clock_domain){.period = CORE};
    r->clock = (struct clock_domain){.period = L2P};
    req_pool_init(&r->pool, 8192);
    r->s = l2_create(&r->p, 0, &r->clock, &r->core, &r->pool, &r->in, &r->out, &r->to_dram, &r->from_dram);
    tick *wake = l2_wake(r->s);
    link_init(&r->in, "access queue", r->p.access_queue, L2P, NULL, wake);
    link_init(&r->out, "response queue", r->p.response_queue, L2P, wake, NULL);
    link_init(&r->to_dram, "miss queue", r->p.miss_queue, L2P, wake, NULL);
    link_init(&r->from_dram, "fill queue", r->p.fill_queue, L2P, NULL, wake);
    l2_on_atomic(r->s, on_atomic, r);
}

static void rig_end(struct rig *r)
{
    l2_destroy(r->s);
    link_free(&r->in);
    link_free(&r->out);
    link_free(&r->to_dram);
    link_free(&r->from_dram);
    req_pool_free(&r->pool);
}

static tick rig_now(const struct rig *r) { return r->cycle * L2P; }
static struct l2_stats *stats(struct rig *r) { return l2_stats(r->s); }
static uint64_t stalls(struct rig *r)
{
    uint64_t sum = 0;
    for (int i = 0; i < L2_STALL_COUNT; i++) sum += stats(r)->stall[i];
    return sum;
}

/* The mock DRAM: takes one request a cycle, remembers it, answers reads in order after dram_cycles. */
static void rig_dram(struct rig *r)
{
    uint32_t id;
    tick now = rig_now(r);
    if (!r->dram_stopped && r->dram_count < NOTES_MAX && link_peek(&r->to_dram, now, &id)) {
        link_pop(&r->to_dram, now);
        struct req *q = req_at(&r->pool, id);
        if (q->kind == REQ_WRITE) {
            r->write_req[r->write_count % NOTES_MAX] = *q;
            r->writes[r->write_count++ % NOTES_MAX] = (struct note){id, r->cycle};
            req_del(&r->pool, id);
        } else {
            r->fetch_req[r->fetch_count % NOTES_MAX] = *q;
            r->fetches[r->fetch_count++ % NOTES_MAX] = (struct note){id, r->cycle};
            r->dram[r->dram_count++] = (struct note){id, r->cycle + r->dram_cycles};
        }
    }
    if (r->dram_count && r->dram[0].cycle <= r->cycle && link_can_push(&r->from_dram, now)) {
        link_push(&r->from_dram, now, r->dram[0].id);
        memmove(r->dram, r->dram + 1, sizeof r->dram[0] * --r->dram_count);
    }
}

static void rig_replies(struct rig *r)
{
    uint32_t id;
    tick now = rig_now(r);
    if (r->out_stopped || !link_peek(&r->out, now, &id)) return;
    link_pop(&r->out, now);
    r->replies[r->reply_count++ % NOTES_MAX] = (struct note){req_at(&r->pool, id)->token, r->cycle};
}

static void rig_cycle(struct rig *r)
{
    l2_tick(r->s, rig_now(r));
    rig_dram(r);
    rig_replies(r);
    r->cycle++;
}

static void rig_run(struct rig *r, uint64_t until)
{
    while (r->cycle < until) rig_cycle(r);
}

static uint32_t rig_make(struct rig *r, enum req_kind kind, uint64_t line, uint32_t sectors, uint32_t token)
{
    const struct req q = {.addr = line * r->p.line,
                          .sectors = sectors,
                          .kind = (uint8_t)kind,
                          .write_bytes = kind == REQ_READ ? 0 : 32 * (uint32_t)__builtin_popcount(sectors),
                          .token = token};
    return req_new(&r->pool, &q);
}

/* Into the access queue now: the slice sees it a cycle later. */
static uint32_t rig_send(struct rig *r, enum req_kind kind, uint64_t line, uint32_t sectors, uint32_t token)
{
    assert_true(link_can_push(&r->in, rig_now(r)));
    uint32_t id = rig_make(r, kind, line, sectors, token);
    link_push(&r->in, rig_now(r), id);
    return id;
}
static uint32_t rig_read(struct rig *r, uint64_t line, uint32_t token)
{
    return rig_send(r, REQ_READ, line, 0xf, token);
}

/* Times when all goes well, from a push at cycle 0: entered at 1, tags at 11, 4 cycles on the port, the wire
 * out. */
enum { ENTER = 1, TAGS = ENTER + 10, PORT = 4, HIT = TAGS + PORT + 1 };

static void a_hit_takes_the_latency_and_its_time_on_the_port(void **state)
{
    for (uint32_t sectors = 1; sectors < 16; sectors++)
        for (uint32_t latency = 0; latency < 12; latency++) {
            struct rig r;
            rig_defaults(&r);
            r.p.latency = latency;
            rig_start(&r);
            l2_fill_from_host(r.s, 5 * 128);
            uint32_t id = rig_send(&r, REQ_READ, 5, sectors, 77);
            rig_run(&r, 40);
            assert_int_equal(r.reply_count, 1);
            assert_int_equal(r.replies[0].id, 77);
            uint32_t pass = MAX(1u, (latency + 1) / 2), port = (uint32_t)__builtin_popcount(sectors);
            assert_int_equal(r.replies[0].cycle, ENTER + pass + port + 1);
            const struct req *q = req_at(&r.pool, id);
            assert_true(q->l2_hit);
            assert_int_equal(q->at_l2, ENTER * L2P);
            assert_int_equal(q->served, (ENTER + pass + port) * L2P);
            assert_int_equal(stats(&r)->all.hits, 1);
            assert_int_equal(stats(&r)->hit_latency, 2 * (pass + port));
            assert_int_equal(stats(&r)->port_busy_cycles, port);
            assert_int_equal(stalls(&r), 0);
            assert_int_equal(r.fetch_count, 0);
            assert_true(l2_idle(r.s));
            rig_end(&r);
        }
}

static void a_miss_takes_dram_and_the_fill_more(void **state)
{
    struct rig r;
    rig_defaults(&r);
    rig_start(&r);
    uint32_t id = rig_read(&r, 9, 1);
    rig_run(&r, 100);
    assert_int_equal(r.fetches[0].cycle, TAGS + 1);
    assert_int_equal(r.fetch_req[0].addr, 9 * 128);
    assert_int_equal(r.fetch_req[0].sectors, 0xf);
    /* answered after 50 cycles, seen a cycle later, four on the port, the wire out */
    assert_int_equal(r.replies[0].cycle, TAGS + 1 + 50 + 1 + PORT + 1);
    assert_false(req_at(&r.pool, id)->l2_hit);
    assert_int_equal(stats(&r)->all.misses, 1);
    assert_int_equal(stats(&r)->port_fill_cycles, 4);
    assert_true(l2_idle(r.s));
    /* and then it is there */
    uint64_t start = r.cycle;
    rig_read(&r, 9, 2);
    rig_run(&r, start + 40);
    assert_int_equal(r.replies[1].cycle, start + HIT);
    rig_end(&r);
}

static void merged_requests_leave_one_a_cycle_after_one_fill(void **state)
{
    struct rig r;
    rig_defaults(&r);
    rig_start(&r);
    for (uint32_t i = 0; i < 4; i++) rig_read(&r, 9, i);
    rig_run(&r, 100);
    assert_int_equal(r.fetch_count, 1);
    assert_int_equal(r.reply_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(r.replies[i].id, i);
        assert_int_equal(r.replies[i].cycle, TAGS + 1 + 50 + 1 + PORT + 1 + i);
    }
    assert_int_equal(stats(&r)->all.misses, 1);
    assert_int_equal(stats(&r)->all.pending_hits, 3);
    assert_int_equal(stalls(&r), 0);
    rig_end(&r);
}

static void a_fifth_merge_waits_for_the_fill_and_is_charged_to_the_mshr(void **state)
{
    struct rig r;
    rig_defaults(&r);
    rig_start(&r);
    for (uint32_t i = 0; i < 5; i++) rig_read(&r, 9, i);
    rig_run(&r, 120);
    uint64_t filled = TAGS + 1 + 50 + 1 + PORT;
    assert_int_equal(r.reply_count, 5);
    /* at the tags at TAGS + 4; when the fill is complete it is a hit, and the port is free */
    assert_int_equal(stats(&r)->stall[L2_STALL_MSHR], filled - (TAGS + 4));
    assert_int_equal(stalls(&r), stats(&r)->stall[L2_STALL_MSHR]);
    assert_int_equal(stats(&r)->all.hits, 1);
    assert_int_equal(stats(&r)->all.fails, 1);
    assert_int_equal(r.replies[4].cycle, filled + PORT + 1);
    rig_end(&r);
}

static void a_miss_without_an_mshr_is_charged_to_the_mshr(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.mshrs = 2;
    rig_start(&r);
    for (uint32_t i = 0; i < 3; i++) rig_read(&r, 10 + i, i);
    rig_run(&r, 200);
    /* the first fill ends at filled, and its entry is free in that cycle, with the reply */
    uint64_t filled = TAGS + 1 + 50 + 1 + PORT;
    assert_int_equal(stats(&r)->stall[L2_STALL_MSHR], filled - (TAGS + 2));
    assert_int_equal(stalls(&r), stats(&r)->stall[L2_STALL_MSHR]);
    assert_int_equal(r.fetches[2].cycle, filled + 1);
    assert_int_equal(stats(&r)->mshr_max, 2);
    rig_end(&r);
}

static void a_set_full_of_pending_lines_is_charged_to_the_line(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.ways = 2;
    rig_start(&r);
    uint32_t sets = l2_sets(&r.p);
    for (uint32_t i = 0; i < 3; i++) rig_read(&r, 3 + i * sets, i);
    rig_run(&r, 200);
    uint64_t filled = TAGS + 1 + 50 + 1 + PORT;
    assert_int_equal(stats(&r)->stall[L2_STALL_LINE], filled - (TAGS + 2));
    assert_int_equal(stalls(&r), stats(&r)->stall[L2_STALL_LINE]);
    assert_int_equal(r.reply_count, 3);
    rig_end(&r);
}

static void a_full_miss_queue_is_charged_to_dram(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.miss_queue = 2;
    rig_start(&r);
    r.dram_stopped = true;
    for (uint32_t i = 0; i < 3; i++) rig_read(&r, 10 + i, i);
    rig_run(&r, 30);
    r.dram_stopped = false; /* takes one at 30: room from 31 on */
    rig_run(&r, 200);
    assert_int_equal(stats(&r)->stall[L2_STALL_DRAM], 31 - (TAGS + 2));
    assert_int_equal(stalls(&r), stats(&r)->stall[L2_STALL_DRAM]);
    assert_int_equal(r.reply_count, 3);
    rig_end(&r);
}

static void a_full_response_queue_is_charged_to_the_interconnect(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.response_queue = 1;
    rig_start(&r);
    for (uint32_t i = 0; i < 3; i++) {
        l2_fill_from_host(r.s, (10 + i) * 128);
        rig_send(&r, REQ_READ, 10 + i, 1, i);
    }
    r.out_stopped = true;
    rig_run(&r, 50);
    r.out_stopped = false;
    rig_run(&r, 100);
    /* First: tags 11, queue from 12. Second: tags at 12 is too late, the queue is full. Popped at 50: room
     * at 51. */
    assert_int_equal(r.replies[0].cycle, 50);
    assert_int_equal(r.replies[1].cycle, 51 + 1 + 1);
    assert_int_equal(r.reply_count, 3);
    assert_int_equal(stats(&r)->stall[L2_STALL_ICNT],
                     (51 - 12) + 2); /* third: 52 and 53, while the second is in it */
    assert_int_equal(stats(&r)->stall[L2_STALL_PORT], 0);
    rig_end(&r);
}

static void hits_in_a_row_wait_for_the_port(void **state)
{
    struct rig r;
    rig_defaults(&r);
    rig_start(&r);
    for (uint32_t i = 0; i < 4; i++) {
        l2_fill_from_host(r.s, (10 + i) * 128);
        rig_read(&r, 10 + i, i);
    }
    rig_run(&r, 60);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(r.replies[i].cycle, HIT + 4 * i);
    assert_int_equal(stats(&r)->stall[L2_STALL_PORT], 9); /* three each for three */
    assert_int_equal(stalls(&r), 9);
    assert_int_equal(stats(&r)->port_read_cycles, 16);
    rig_end(&r);
}

static void a_hit_waits_for_a_fill_on_the_port(void **state)
{
    struct rig r;
    rig_defaults(&r);
    rig_start(&r);
    l2_fill_from_host(r.s, 20 * 128);
    rig_read(&r, 10, 0);
    uint64_t fill_starts = TAGS + 1 + 50 + 1;
    rig_run(&r, fill_starts - TAGS + 1); /* arrives at the tags a cycle after the fill has begun */
    rig_read(&r, 20, 1);
    rig_run(&r, 150);
    assert_int_equal(stats(&r)->stall[L2_STALL_PORT], 3);
    assert_int_equal(r.replies[0].id, 0);
    assert_int_equal(r.replies[0].cycle, fill_starts + PORT + 1);
    assert_int_equal(r.replies[1].cycle, fill_starts + 2 * PORT + 1);
    rig_end(&r);
}

static void a_fill_waits_for_a_hit_on_the_port(void **state)
{
    struct rig r;
    rig_defaults(&r);
    rig_start(&r);
    l2_fill_from_host(r.s, 20 * 128);
    rig_read(&r, 10, 0);
    uint64_t fill_is_there = TAGS + 1 + 50 + 1;
    rig_run(&r, fill_is_there - TAGS - 1); /* the hit has the port from a cycle earlier on */
    rig_read(&r, 20, 1);
    rig_run(&r, 150);
    assert_int_equal(stalls(&r), 0);
    assert_int_equal(r.replies[0].id, 1);
    assert_int_equal(r.replies[0].cycle, fill_is_there - 1 + PORT + 1);
    assert_int_equal(r.replies[1].cycle, fill_is_there - 1 + 2 * PORT + 1);
    rig_end(&r);
}

static void with_a_port_of_their_own_fills_and_hits_do_not_meet(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.fill_port = true;
    rig_start(&r);
    l2_fill_from_host(r.s, 20 * 128);
    rig_read(&r, 10, 0);
    uint64_t fill_starts = TAGS + 1 + 50 + 1;
    rig_run(&r, fill_starts - TAGS + 1);
    rig_read(&r, 20, 1);
    rig_run(&r, 150);
    assert_int_equal(stalls(&r), 0);
    assert_int_equal(r.replies[0].cycle, fill_starts + PORT + 1);
    assert_int_equal(r.replies[1].cycle, fill_starts + 1 + PORT + 1);
    assert_int_equal(stats(&r)->port_busy_cycles, 4);
    assert_int_equal(stats(&r)->port_fill_cycles, 4);
    rig_end(&r);
}

static void a_wider_port_is_faster(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.port_bytes = 128;
    rig_start(&r);
    l2_fill_from_host(r.s, 0);
    rig_read(&r, 0, 0);
    rig_run(&r, 40);
    assert_int_equal(r.replies[0].cycle, TAGS + 1 + 1);
    rig_end(&r);
}

/* ---- writes ---- */
static void a_write_is_answered_when_it_is_accepted(void **state)
{
    struct rig r;
    rig_defaults(&r);
    rig_start(&r);
    rig_send(&r, REQ_WRITE, 10, 0xf, 5); /* a miss */
    rig_run(&r, 200);
    assert_int_equal(r.replies[0].id, 5);
    assert_int_equal(r.replies[0].cycle, TAGS + 1);
    assert_int_equal(r.reply_count, 1);
    assert_int_equal(r.fetch_count, 1); /* fetch on write */
    assert_int_equal(stats(&r)->write_allocs, 1);
    assert_int_equal(stats(&r)->global_writes.misses, 1);
    assert_true(l2_idle(r.s));
    rig_end(&r);
}

static void which_write_misses_fetch_is_a_policy(void **state)
{
    static const struct {
        uint32_t policy;
        bool sectored;
        uint32_t sectors;
        bool partial;
        uint32_t fetched;
    } rows[] = {{L2_FETCH_ON_WRITE, false, 0xf, false, 0xf}, {L2_FETCH_ON_WRITE, true, 0x3, false, 0x3},
                {L2_LAZY_FETCH, false, 0x1, true, 0},        {L2_LAZY_FETCH, true, 0x1, true, 0},
                {L2_FETCH_PARTIAL, false, 0xf, false, 0},    {L2_FETCH_PARTIAL, false, 0x7, false, 0xf},
                {L2_FETCH_PARTIAL, false, 0xf, true, 0xf},   {L2_FETCH_PARTIAL, true, 0x6, false, 0},
                {L2_FETCH_PARTIAL, true, 0x6, true, 0x6}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r;
        rig_defaults(&r);
        r.p.write_miss = rows[i].policy;
        r.p.sectored = rows[i].sectored;
        rig_start(&r);
        uint32_t id = rig_send(&r, REQ_WRITE, 10, rows[i].sectors, 5);
        req_at(&r.pool, id)->is_fill_partial = rows[i].partial;
        rig_run(&r, 100);
        assert_int_equal(r.reply_count, 1);
        assert_int_equal(r.fetch_count, rows[i].fetched != 0);
        if (rows[i].fetched) assert_int_equal(r.fetch_req[0].sectors, rows[i].fetched);
        assert_true(l2_idle(r.s));
        rig_end(&r);
    }
}

static void a_sector_written_in_part_is_fetched_when_it_is_read(void **state)
{
    for (int partial = 0; partial < 2; partial++) {
        struct rig r;
        rig_defaults(&r);
        r.p.write_miss = L2_LAZY_FETCH;
        r.p.sectored = true;
        rig_start(&r);
        req_at(&r.pool, rig_send(&r, REQ_WRITE, 10, 0x2, 0))->is_fill_partial = partial;
        rig_send(&r, REQ_READ, 10, 0x2, 1);
        rig_run(&r, 150);
        assert_int_equal(r.fetch_count, partial);
        assert_int_equal(stats(&r)->sector_misses, partial);
        assert_int_equal(r.reply_count, 2);
        rig_end(&r);
    }
}

static void a_sectored_slice_fetches_only_what_is_missing(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.sectored = true;
    rig_start(&r);
    rig_send(&r, REQ_READ, 10, 0x1, 0);
    rig_run(&r, 100);
    rig_send(&r, REQ_READ, 10, 0x3, 1);
    rig_send(&r, REQ_READ, 10, 0x6, 2); /* 0x2 is on its way by then */
    rig_run(&r, 250);
    assert_int_equal(r.fetch_count, 3);
    assert_int_equal(r.fetch_req[0].sectors, 0x1);
    assert_int_equal(r.fetch_req[1].sectors, 0x2);
    assert_int_equal(r.fetch_req[2].sectors, 0x4);
    assert_int_equal(r.reply_count, 3);
    assert_int_equal(stats(&r)->sector_misses, 2);
    assert_int_equal(stats(&r)->fetched_sectors, 3);
    assert_true(l2_idle(r.s));
    rig_end(&r);
}

static void a_dirty_line_is_written_back_when_it_is_replaced(void **state)
{
    for (int sectored = 0; sectored < 2; sectored++) {
        struct rig r;
        rig_defaults(&r);
        r.p.ways = 1;
        r.p.write_miss = L2_LAZY_FETCH;
        r.p.sectored = sectored;
        rig_start(&r);
        uint32_t sets = l2_sets(&r.p);
        rig_send(&r, REQ_WRITE, 7, 0x6, 0);
        rig_run(&r, 50);
        rig_read(&r, 7 + sets, 1); /* replaces it: read out over the port, behind the fetch */
        rig_read(&r, 7, 2);        /* replaces a clean line */
        rig_run(&r, 300);
        assert_int_equal(r.write_count, 1);
        assert_int_equal(r.write_req[0].addr, 7 * 128);
        assert_int_equal(r.write_req[0].sectors, sectored ? 0x6 : 0xf);
        assert_int_equal(r.write_req[0].write_bytes, sectored ? 64 : 128);
        assert_int_equal(r.fetches[0].cycle, 50 + TAGS + 1);
        assert_int_equal(r.writes[0].cycle, 50 + TAGS + 2);
        assert_int_equal(stats(&r)->writebacks, 1);
        assert_int_equal(stats(&r)->port_evict_cycles, sectored ? 2 : 4);
        assert_int_equal(r.reply_count, 3);
        rig_end(&r);
    }
}

static uint64_t every_fourth_line(const void *ctx, uint64_t addr) { return addr / 512 * 128; }

static void sets_are_chosen_by_the_address_within_the_slice(void **state)
{
    for (int mapped = 0; mapped < 2; mapped++) {
        struct rig r;
        rig_defaults(&r);
        r.p.slice_size = 16 * 128;
        r.p.ways = 1;
        r.p.write_miss = L2_LAZY_FETCH;
        rig_start(&r);
        if (mapped) l2_use_map(r.s, every_fourth_line, NULL);
        for (uint32_t i = 0; i < 16;
             i++) { /* as many lines as there are, each the fourth of the address space */
            rig_send(&r, REQ_WRITE, 4 * i, 0xf, i);
            rig_run(&r, r.cycle + 40);
        }
        assert_int_equal(r.write_count, mapped ? 0 : 12);
        if (mapped) {
            rig_send(&r, REQ_WRITE, 4 * 17, 0xf, 16);
            rig_run(&r, r.cycle + 40);
            assert_int_equal(r.write_count, 1);
            assert_int_equal(r.write_req[0].addr, 4 * 128); /* a device address again */
        }
        rig_end(&r);
    }
}

/* ---- atomics ---- */
static void atomics_take_effect_at_the_tags_or_with_the_fill_in_arrival_order(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.merges = 2;
    rig_start(&r);
    l2_fill_from_host(r.s, 20 * 128);
    rig_send(&r, REQ_ATOMIC, 20, 1, 100); /* hit */
    rig_send(&r, REQ_ATOMIC, 10, 1, 101); /* miss */
    rig_send(&r, REQ_ATOMIC, 10, 1, 102); /* merged */
    rig_send(&r, REQ_ATOMIC, 10, 1, 103); /* no merge left: hits after the fill */
    rig_run(&r, 150);
    uint64_t filled = TAGS + 1 + 1 + 50 + 1 + PORT;
    assert_int_equal(r.atomic_count, 4);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(r.atomics[i].id, 100 + i);
    assert_int_equal(r.atomics[0].cycle, TAGS);
    assert_int_equal(r.atomics[1].cycle, filled);
    assert_int_equal(r.atomics[2].cycle, filled);
    assert_true(r.atomics[3].cycle > filled);
    assert_int_equal(r.reply_count, 4);
    assert_int_equal(stats(&r)->atomics, 4);
    rig_end(&r);
}

static void the_atomic_unit_has_a_throughput(void **state)
{
    for (uint32_t cycles = 1; cycles <= 7; cycles++) {
        struct rig r;
        rig_defaults(&r);
        r.p.atomic_cycles = cycles;
        rig_start(&r);
        l2_fill_from_host(r.s, 20 * 128);
        for (uint32_t i = 0; i < 6; i++) rig_send(&r, REQ_ATOMIC, 20, 1, i);
        rig_run(&r, 100);
        for (uint32_t i = 0; i < 6; i++) assert_int_equal(r.atomics[i].cycle, TAGS + i * cycles);
        rig_end(&r);
    }
}

static void merged_atomics_leave_at_the_pace_of_the_atomic_unit(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.atomic_cycles = 5;
    rig_start(&r);
    for (uint32_t i = 0; i < 4; i++) rig_send(&r, REQ_ATOMIC, 20, 1, i);
    rig_run(&r, 120);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(r.replies[i].cycle, TAGS + 1 + 50 + 1 + PORT + 1 + 5 * i);
    rig_end(&r);
}

static void an_atomic_makes_its_line_dirty(void **state)
{
    for (int hits = 0; hits < 2; hits++) {
        struct rig r;
        rig_defaults(&r);
        r.p.ways = 1;
        rig_start(&r);
        if (hits) l2_fill_from_host(r.s, 7 * 128);
        rig_send(&r, REQ_ATOMIC, 7, 1, 0);
        rig_run(&r, 100);
        rig_read(&r, 7 + l2_sets(&r.p), 1);
        rig_run(&r, 200);
        assert_int_equal(r.write_count, 1);
        assert_int_equal(r.write_req[0].addr, 7 * 128);
        rig_end(&r);
    }
}

/* ---- bandwidth ---- */
static void streaming_hits_fill_the_port_and_never_pass_it(void **state)
{
    static const struct {
        uint32_t sectors, cycles;
    } rows[] = {{0xf, 4}, {0x3, 2}, {0x1, 1}};
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct rig r;
        rig_defaults(&r);
        r.p.latency = 88;
        rig_start(&r);
        for (uint32_t i = 0; i < 256; i++) l2_fill_from_host(r.s, i * 128);
        for (uint32_t i = 0; r.cycle < 4000;) {
            if (link_can_push(&r.in, rig_now(&r))) rig_send(&r, REQ_READ, i++ % 256, rows[k].sectors, 0);
            rig_cycle(&r);
        }
        uint64_t busy = (uint64_t)r.reply_count * rows[k].cycles;
        assert_in_range(busy, 4000 * 98 / 100, 4000);
        assert_true(stats(&r)->port_busy_cycles <= 4000 + 4);
        assert_int_equal(stats(&r)->all.misses, 0);
        rig_end(&r);
    }
}

static void streaming_misses_keep_the_port_full_of_fills(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.mshrs = 64;
    rig_start(&r);
    for (uint32_t i = 0; r.cycle < 6000;) {
        if (link_can_push(&r.in, rig_now(&r))) rig_send(&r, REQ_READ, i++, 0xf, 0);
        rig_cycle(&r);
    }
    assert_in_range(r.reply_count * 4, 6000 * 95 / 100, 6000);
    rig_end(&r);
}

/* ---- ideal slices ---- */
static void the_infinite_slice_takes_idle_times_for_any_number_at_once(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.infinite = true;
    r.p.infinite_miss = 100;
    r.p.access_queue = r.p.response_queue = 64;
    rig_start(&r);
    for (uint32_t i = 0; i < 8; i++) l2_fill_from_host(r.s, i * 128);
    for (uint32_t i = 0; i < 16; i++) rig_read(&r, i, i); /* eight hits, eight misses */
    rig_read(&r, 15, 16);                                 /* on its way */
    rig_send(&r, REQ_WRITE, 99, 0xf, 17);
    uint64_t first = 0, last = 0;
    uint32_t n = 0;
    for (; r.cycle < 120; r.cycle++) {
        uint32_t id;
        l2_tick(r.s, rig_now(&r));
        while (link_peek(&r.out, rig_now(&r), &id)) {
            link_pop(&r.out, rig_now(&r));
            uint32_t token = req_at(&r.pool, id)->token;
            uint64_t due = token == 17 ? TAGS + 1 : token < 8 ? HIT : HIT + 50; /* 100 core cycles */
            assert_int_equal(r.cycle, due);
            first = first ? first : r.cycle;
            last = r.cycle;
            n++;
        }
    }
    assert_int_equal(n, 18);
    assert_int_equal(last - first, 50 + 4);
    assert_int_equal(stats(&r)->all.hits, 8);
    assert_int_equal(stats(&r)->all.pending_hits, 1);
    assert_int_equal(r.to_dram.pushes, 0);
    assert_true(l2_idle(r.s));
    rig_end(&r);
}

static void the_perfect_slice_always_hits(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.perfect = true;
    rig_start(&r);
    for (uint32_t i = 0; i < 3; i++) rig_send(&r, (enum req_kind)i, 1000 * i, 0x1, i);
    rig_run(&r, 60);
    assert_int_equal(r.reply_count, 3);
    assert_int_equal(stats(&r)->all.hits, 3);
    assert_int_equal(r.to_dram.pushes, 0);
    rig_end(&r);
}

/* ---- the laws, under random traffic ---- */
static uint64_t soak(struct rig *r, bool skip, uint64_t seed)
{
    enum { REQUESTS = 1500 };
    struct rng rng = {seed};
    uint64_t hash = seed;
    uint32_t sent = 0, got = 0, id, next = REQ_NONE;
    static uint8_t answered[REQUESTS];
    memset(answered, 0, sizeof answered);
    for (; r->cycle < 400000 && got < REQUESTS; r->cycle++) {
        tick now = rig_now(r);
        if (next == REQ_NONE && sent < REQUESTS) {
            uint64_t h = rng_u64(&rng);
            enum req_kind kind = h % 8 < 5 ? REQ_READ : h % 8 < 7 ? REQ_WRITE : REQ_ATOMIC;
            next = rig_make(r, kind, (h >> 8) % 40, 1 + (uint32_t)(h >> 20) % 15, sent++);
            req_at(&r->pool, next)->is_fill_partial = h >> 30 & 1;
            req_at(&r->pool, next)->cls = (uint8_t)((h >> 32) % REQ_CLASS_COUNT);
        }
        if (next != REQ_NONE && hash_mix(r->cycle / 64 + seed) % 4 && link_can_push(&r->in, now)) {
            link_push(&r->in, now, next);
            next = REQ_NONE;
        }
        if (!skip || *l2_wake(r->s) <= now) l2_tick(r->s, now);
        r->dram_stopped = hash_mix(r->cycle / 40 + 3 * seed) % 3 == 0;
        rig_dram(r);
        if (hash_mix(r->cycle / 30 + 7 * seed) % 3 == 0 || !link_peek(&r->out, now, &id)) continue;
        link_pop(&r->out, now);
        struct req *q = req_at(&r->pool, id);
        assert_false(answered[q->token]);
        answered[q->token] = 1;
        hash = hash_mix(hash ^ (r->cycle * 7919 + q->token + q->served));
        req_del(&r->pool, id);
        got++;
        r->atomic_count = 0;
    }
    assert_int_equal(got, REQUESTS);
    for (uint64_t end = r->cycle + 2000; r->cycle < end; r->cycle++) { /* fetches of writes, write-backs */
        if (!skip || *l2_wake(r->s) <= rig_now(r)) l2_tick(r->s, rig_now(r));
        r->dram_stopped = false;
        rig_dram(r);
    }
    assert_true(l2_idle(r->s));
    assert_int_equal(r->pool.live, 0);
    const struct l2_stats *st = stats(r);
    assert_int_equal(st->all.accesses, REQUESTS);
    assert_int_equal(st->all.accesses, st->all.hits + st->all.pending_hits + st->all.misses);
    assert_int_equal(st->replies, REQUESTS);
    uint64_t on_port = st->port_read_cycles + st->port_write_cycles + st->port_evict_cycles;
    assert_int_equal(st->port_busy_cycles, on_port + (r->p.fill_port ? 0 : st->port_fill_cycles));
    const uint64_t *words = (const uint64_t *)(const void *)st;
    for (size_t i = 0; i < sizeof *st / sizeof *words; i++) hash = hash_mix(hash ^ words[i]);
    return hash_mix(hash ^ r->out.refusals ^ r->to_dram.refusals);
}

static void nothing_is_lost_when_all_is_tiny_and_skipping_changes_nothing(void **state)
{
    for (uint32_t k = 0; k < 104; k++) {
        uint64_t hash[2];
        for (int skip = 0; skip < 2; skip++) {
            struct rig r;
            rig_defaults(&r);
            uint32_t depth = 1 + k % 2;
            r.p.slice_size = 128 * (k & 2 ? 2 : 16);
            r.p.ways = k & 2 ? 1 : 4;
            r.p.sectored = k & 4;
            r.p.write_miss = k / 8 % 3;
            r.p.replace = k / 24 % 3;
            r.p.infinite = k >= 96;
            r.p.fill_port = k / 5 % 2;
            r.p.mshrs = depth;
            r.p.merges = depth;
            r.p.latency = k & 1 ? 0 : 13;
            r.p.pipeline = k % 3;
            r.p.atomic_cycles = 1 + k % 5;
            r.p.access_queue = r.p.response_queue = r.p.miss_queue = r.p.fill_queue = depth;
            rig_start(&r);
            hash[skip] = soak(&r, skip, 1000 + k);
            assert_int_equal(stalls(&r) > 0, !r.p.infinite);
            rig_end(&r);
        }
        assert_true(hash[0] == hash[1]);
    }
}

static void a_stall_is_charged_once_however_often_it_is_settled(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.mshrs = 1;
    rig_start(&r);
    r.dram_stopped = true;
    rig_read(&r, 1, 0);
    rig_read(&r, 2, 1);
    for (; r.cycle < 50; r.cycle++) /* skipping, with a look at the counts in between */
        if (*l2_wake(r.s) <= rig_now(&r)) l2_tick(r.s, rig_now(&r));
    for (uint64_t c = 20; c <= 50; c += 10) {
        l2_settle(r.s, c * L2P);
        l2_settle(r.s, c * L2P);
        assert_int_equal(stats(&r)->stall[L2_STALL_MSHR], c - (TAGS + 1));
    }
    rig_end(&r);
}

static void wrong_geometry_is_refused(void **state)
{
    struct l2_params p;
    struct diag_list diags = {0};
    param_set_defaults(l2_rows, &p);
    assert_true(l2_check(&p, &diags));
    p.slice_size = 1000;
    assert_false(l2_check(&p, &diags));
    param_set_defaults(l2_rows, &p);
    p.line = 96;
    assert_false(l2_check(&p, &diags));
    assert_int_equal(diags.errors, 2);
    diag_free(&diags);
}

static void a_stuck_slice_says_what_it_waits_for(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.mshrs = 1;
    rig_start(&r);
    r.dram_stopped = true;
    rig_read(&r, 1, 0);
    rig_read(&r, 2, 1);
    rig_run(&r, 50);
    struct strbuf out = {0};
    l2_explain(r.s, rig_now(&r), &out);
    assert_non_null(strstr(strbuf_text(&out), "waits for an MSHR"));
    assert_non_null(strstr(strbuf_text(&out), "waits for DRAM: line 0x80"));
    strbuf_free(&out);
    rig_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hit_takes_the_latency_and_its_time_on_the_port),
        cmocka_unit_test(a_miss_takes_dram_and_the_fill_more),
        cmocka_unit_test(merged_requests_leave_one_a_cycle_after_one_fill),
        cmocka_unit_test(a_fifth_merge_waits_for_the_fill_and_is_charged_to_the_mshr),
        cmocka_unit_test(a_miss_without_an_mshr_is_charged_to_the_mshr),
        cmocka_unit_test(a_set_full_of_pending_lines_is_charged_to_the_line),
        cmocka_unit_test(a_full_miss_queue_is_charged_to_dram),
        cmocka_unit_test(a_full_response_queue_is_charged_to_the_interconnect),
        cmocka_unit_test(hits_in_a_row_wait_for_the_port),
        cmocka_unit_test(a_hit_waits_for_a_fill_on_the_port),
        cmocka_unit_test(a_fill_waits_for_a_hit_on_the_port),
        cmocka_unit_test(with_a_port_of_their_own_fills_and_hits_do_not_meet),
        cmocka_unit_test(a_wider_port_is_faster),
        cmocka_unit_test(a_write_is_answered_when_it_is_accepted),
        cmocka_unit_test(which_write_misses_fetch_is_a_policy),
        cmocka_unit_test(a_sector_written_in_part_is_fetched_when_it_is_read),
        cmocka_unit_test(a_sectored_slice_fetches_only_what_is_missing),
        cmocka_unit_test(a_dirty_line_is_written_back_when_it_is_replaced),
        cmocka_unit_test(sets_are_chosen_by_the_address_within_the_slice),
        cmocka_unit_test(atomics_take_effect_at_the_tags_or_with_the_fill_in_arrival_order),
        cmocka_unit_test(the_atomic_unit_has_a_throughput),
        cmocka_unit_test(merged_atomics_leave_at_the_pace_of_the_atomic_unit),
        cmocka_unit_test(an_atomic_makes_its_line_dirty),
        cmocka_unit_test(streaming_hits_fill_the_port_and_never_pass_it),
        cmocka_unit_test(streaming_misses_keep_the_port_full_of_fills),
        cmocka_unit_test(the_infinite_slice_takes_idle_times_for_any_number_at_once),
        cmocka_unit_test(the_perfect_slice_always_hits),
        cmocka_unit_test(nothing_is_lost_when_all_is_tiny_and_skipping_changes_nothing),
        cmocka_unit_test(a_stall_is_charged_once_however_often_it_is_settled),
        cmocka_unit_test(wrong_geometry_is_refused),
        cmocka_unit_test(a_stuck_slice_says_what_it_waits_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
