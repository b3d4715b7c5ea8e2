/* test_mem_l2_drop.c: lines that leave a slice because a mechanism does not let it keep them
 * (l2_drop_lines in src/mem/l2_claim.h). Odd lines leave. */
#include "l2_kit.h"

#include "mem/l2_claim.h"

enum { LINES = 6, FILLED = 400 };

static void set_gate(void *ctx, tick closed_from) {}
static enum l2_take take(void *ctx, tick now, uint32_t id, const struct req *q, uint64_t local)
{
    return L2_TAKE_PASSES;
}
static bool keeps_even(void *ctx, uint64_t local)
{
    const struct rig *r = ctx;
    return local / r->p.line % 2 == 0;
}

/* Lines 0 to 5 are in the slice; 2 and 3 have two dirty sectors each, 5 has four. */
static void fill_with_queue(struct rig *r, uint32_t miss_queue)
{
    rig_defaults(r);
    r->p.miss_queue = miss_queue;
    rig_start(r);
    l2_use_taker(r->s, &(struct l2_taker){.ctx = r, .first_cache_sm = 1, .set_gate = set_gate, .take = take});
    for (uint32_t i = 0; i < LINES; i++) {
        rig_read(r, i, i);
        rig_run(r, r->cycle + 20);
    }
    rig_run(r, FILLED / 2);
    rig_send(r, REQ_WRITE, 2, 0x3, 10);
    rig_run(r, r->cycle + 20);
    rig_send(r, REQ_WRITE, 3, 0x6, 11);
    rig_run(r, r->cycle + 20);
    rig_send(r, REQ_WRITE, 5, 0xf, 12);
    rig_run(r, FILLED);
    assert_true(l2_idle(r->s));
    assert_int_equal(r->fetch_count, LINES);
    assert_int_equal(r->write_count, 0);
}

static void fill(struct rig *r) { fill_with_queue(r, 8); }

static void dirty_lines_that_leave_are_written_a_line_a_cycle(void **state)
{
    struct rig r;
    fill(&r);
    l2_drop_lines(r.s, keeps_even);
    assert_false(l2_idle(r.s));
    rig_run(&r, FILLED + 20);
    assert_true(l2_idle(r.s));
    assert_int_equal(r.write_count, 2);
    uint64_t lines = 0;
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t line = r.write_req[i].addr / r.p.line;
        lines |= 1u << line;
        assert_int_equal(r.write_req[i].sectors, !r.p.sectored || line == 5 ? 0xf : 0x6);
    }
    assert_int_equal(lines, 1u << 3 | 1u << 5);
    assert_true(r.writes[0].cycle < r.writes[1].cycle);
    assert_int_equal(stats(&r)->writebacks, 2);
    rig_end(&r);
}

static void what_has_left_misses_and_what_stays_hits(void **state)
{
    struct rig r;
    fill(&r);
    l2_drop_lines(r.s, keeps_even);
    rig_run(&r, FILLED + 20);
    for (uint32_t i = 0; i < LINES; i++) {
        const uint32_t before = r.fetch_count;
        rig_read(&r, i, i);
        rig_run(&r, r.cycle + 100);
        assert_int_equal(r.fetch_count - before, i % 2);
    }
    assert_int_equal(r.write_count, 2);
    rig_end(&r);
}

/* They wait for DRAM as everything does. */
static void without_room_to_dram_they_wait(void **state)
{
    struct rig r;
    fill(&r);
    r.dram_stopped = true;
    l2_drop_lines(r.s, keeps_even);
    rig_run(&r, FILLED + 50);
    assert_int_equal(r.write_count, 0);
    r.dram_stopped = false;
    rig_run(&r, FILLED + 100);
    assert_int_equal(r.write_count, 2);
    assert_true(l2_idle(r.s));
    rig_end(&r);
}

/* Line 3 fills the queue to DRAM, line 5 and a read of line 7 wait for it. The read goes first: line 7 is on
 * its way when it is its turn to leave. It answers the read, and leaves. */
static void a_line_that_waits_for_data_leaves_later(void **state)
{
    struct rig r;
    fill_with_queue(&r, 1);
    r.dram_stopped = true;
    l2_drop_lines(r.s, keeps_even);
    rig_read(&r, 7, LINES);
    rig_run(&r, FILLED + 50);
    r.dram_stopped = false;
    rig_run(&r, FILLED + 200);
    assert_true(l2_idle(r.s));
    assert_int_equal(r.write_count, 2);
    assert_int_equal(r.fetch_count, LINES + 1);
    assert_true(r.fetches[LINES].cycle < r.writes[1].cycle);
    assert_int_equal(r.replies[r.reply_count - 1].id, LINES);
    rig_read(&r, 7, LINES + 1);
    rig_run(&r, FILLED + 400);
    assert_int_equal(r.fetch_count, LINES + 2);
    rig_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dirty_lines_that_leave_are_written_a_line_a_cycle),
        cmocka_unit_test(what_has_left_misses_and_what_stays_hits),
        cmocka_unit_test(without_room_to_dram_they_wait),
        cmocka_unit_test(a_line_that_waits_for_data_leaves_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
