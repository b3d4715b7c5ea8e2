/* test_mem_l2.c: an L2 slice: exact cycles for hits, misses, merges and each kind of stall. */
#include "l2_kit.h"

static void a_hit_takes_the_latency_and_its_time_on_the_port(void **state)
{
    for (uint32_t sectors = 1; sectors < 16; sectors++)
        for (uint32_t latency = 0; latency < 12; latency++) {
            struct rig r;
            rig_defaults(&r);
            r.p.tag_latency = latency;
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
    rig_open(&r);
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
    rig_open(&r);
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
    rig_open(&r);
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

/* The first hit's data is on the port until TAGS + 4; what the second waits for is the only slot of the
 * queue. */
static void a_reply_holds_its_place_while_its_data_passes_the_port(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.response_queue = 1;
    rig_start(&r);
    for (uint32_t i = 0; i < 2; i++) {
        l2_fill_from_host(r.s, (10 + i) * 128);
        rig_read(&r, 10 + i, i);
    }
    r.out_stopped = true;
    rig_run(&r, 50);
    r.out_stopped = false;
    rig_run(&r, 100);
    assert_int_equal(r.replies[0].cycle, 50);
    assert_int_equal(r.replies[1].cycle, 51 + PORT + 1);
    assert_int_equal(stats(&r)->stall[L2_STALL_ICNT], 51 - (TAGS + 1));
    assert_int_equal(stalls(&r), stats(&r)->stall[L2_STALL_ICNT]);
    rig_end(&r);
}

/* Line 10 misses, line 20 hits, line 11 misses. */
static void with_wait_for_all_a_hit_waits_for_the_miss_queue(void **state)
{
    for (int all = 0; all < 2; all++) {
        struct rig r;
        rig_defaults(&r);
        r.p.miss_queue = 1;
        r.p.wait_for_all = all;
        rig_start(&r);
        l2_fill_from_host(r.s, 20 * 128);
        r.dram_stopped = true;
        rig_read(&r, 10, 0);
        rig_read(&r, 20, 1);
        rig_run(&r, 30);
        r.dram_stopped = false; /* takes one at 30: room from 31 on */
        rig_run(&r, 200);
        assert_int_equal(r.replies[0].id, 1);
        assert_int_equal(r.replies[0].cycle, (all ? 31 : TAGS + 1) + PORT + 1);
        assert_int_equal(stats(&r)->stall[L2_STALL_DRAM], all ? 31 - (TAGS + 1) : 0);
        assert_int_equal(stalls(&r), stats(&r)->stall[L2_STALL_DRAM]);
        rig_end(&r);
    }
}

static void with_wait_for_all_a_miss_waits_for_port_and_response_queue(void **state)
{
    for (int all = 0; all < 2; all++)
        for (uint32_t places = 1; places <= 2; places++) {
            struct rig r;
            rig_defaults(&r);
            r.p.response_queue = places;
            r.p.wait_for_all = all;
            rig_start(&r);
            l2_fill_from_host(r.s, 20 * 128);
            rig_read(&r, 20, 0);
            rig_read(&r, 11, 1);
            rig_run(&r, 200);
            /* the hit: port until TAGS + 4, then in the queue, out a cycle later, its slot free in the
             * next */
            uint64_t waits = !all ? 0 : places == 1 ? PORT + 2 - 1 : PORT - 1;
            assert_int_equal(r.fetches[0].cycle, TAGS + 1 + waits + 1);
            assert_int_equal(stats(&r)->stall[places == 1 ? L2_STALL_ICNT : L2_STALL_PORT], waits);
            assert_int_equal(stalls(&r), waits);
            assert_int_equal(r.reply_count, 2);
            rig_end(&r);
        }
}

/* Two wait for the response queue; the pipeline of ten slots takes the third, which is not there yet, and
 * with late_queue none after. */
static void with_a_late_queue_the_pipeline_closes_when_it_is_full(void **state)
{
    for (int late = 0; late < 2; late++) {
        struct rig r;
        rig_defaults(&r);
        r.p.response_queue = 1;
        r.p.access_queue = 2;
        r.p.late_queue = late;
        rig_start(&r);
        r.out_stopped = true;
        for (uint32_t i = 0; i < 5; i++) {
            l2_fill_from_host(r.s, (10 + i) * 128);
            rig_read(&r, 10 + i, i);
            rig_run(&r, r.cycle + (i == 2 ? 20 : 2)); /* the first is answered, two are at the tags */
        }
        rig_run(&r, 60);
        assert_int_equal(r.in.count, late ? 2 : 0);
        r.out_stopped = false;
        rig_run(&r, 200);
        for (uint32_t i = 0; i < 5; i++) assert_int_equal(r.replies[i].id, i);
        assert_int_equal(r.reply_count, 5);
        assert_true(l2_idle(r.s));
        rig_end(&r);
    }
}

static void hits_in_a_row_wait_for_the_port(void **state)
{
    struct rig r;
    rig_open(&r);
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
    rig_open(&r);
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
    rig_open(&r);
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
        cmocka_unit_test(a_reply_holds_its_place_while_its_data_passes_the_port),
        cmocka_unit_test(with_wait_for_all_a_hit_waits_for_the_miss_queue),
        cmocka_unit_test(with_wait_for_all_a_miss_waits_for_port_and_response_queue),
        cmocka_unit_test(with_a_late_queue_the_pipeline_closes_when_it_is_full),
        cmocka_unit_test(hits_in_a_row_wait_for_the_port),
        cmocka_unit_test(a_hit_waits_for_a_fill_on_the_port),
        cmocka_unit_test(a_fill_waits_for_a_hit_on_the_port),
        cmocka_unit_test(with_a_port_of_their_own_fills_and_hits_do_not_meet),
        cmocka_unit_test(a_wider_port_is_faster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
