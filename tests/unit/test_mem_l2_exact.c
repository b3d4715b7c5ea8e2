/* test_mem_l2_exact.c: an L2 slice in detail: which line is replaced, how long ports of other widths are
 * busy, what the hit latency of an ideal slice is. */
#include "l2_kit.h"

/* ---- replacement ---- */

/* Reads a line and runs on until all is quiet. True: it hit. */
static bool hits(struct rig *r, uint64_t line)
{
    const uint64_t before = stats(r)->all.hits;
    rig_read(r, line, 0);
    rig_run(r, r->cycle + 150);
    assert_true(l2_idle(r->s));
    return stats(r)->all.hits > before;
}

/* Of three lines in a set of two, the one that was not read again leaves. */
static void a_read_hit_makes_its_line_the_youngest(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.ways = 2;
    rig_start(&r);
    const uint64_t sets = l2_sets(&r.p), a = 3, b = 3 + sets, c = 3 + 2 * sets;
    assert_false(hits(&r, a));
    assert_false(hits(&r, b));
    assert_true(hits(&r, a));
    assert_false(hits(&r, c));
    assert_true(hits(&r, a));
    assert_false(hits(&r, b));
    rig_end(&r);
}

/* A write renews its line, too. */
static void a_write_makes_its_line_the_youngest(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.ways = 2;
    rig_start(&r);
    const uint64_t sets = l2_sets(&r.p), a = 3, b = 3 + sets, c = 3 + 2 * sets;
    assert_false(hits(&r, a));
    assert_false(hits(&r, b));
    rig_send(&r, REQ_WRITE, a, 0xf, 0);
    rig_run(&r, r.cycle + 150);
    assert_false(hits(&r, c));
    assert_true(hits(&r, a));
    assert_false(hits(&r, b));
    rig_end(&r);
}

/* ---- the port ---- */

/* Bytes that are not a multiple of the port take a whole cycle more. */
static void a_part_of_the_port_takes_a_whole_cycle(void **state)
{
    static const struct {
        uint32_t line, port_bytes, sectors, cycles;
    } rows[] = {{128, 64, 0x1, 1},   {128, 64, 0x3, 1},  {128, 64, 0x7, 2},
                {128, 64, 0xf, 2},   {128, 128, 0x7, 1}, {256, 128, 0x1f, 2},
                {256, 128, 0xff, 2}, {128, 48, 0xf, 3},  {128, 1, 0x1, 32}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r;
        rig_defaults(&r);
        r.p.line = rows[i].line;
        r.p.port_bytes = rows[i].port_bytes;
        rig_start(&r);
        l2_fill_from_host(r.s, 0);
        rig_send(&r, REQ_READ, 0, rows[i].sectors, 0);
        rig_run(&r, 100);
        assert_int_equal(r.reply_count, 1);
        assert_int_equal(r.replies[0].cycle, TAGS + rows[i].cycles + 1);
        assert_int_equal(stats(&r)->port_read_cycles, rows[i].cycles);
        rig_send(&r, REQ_WRITE, 0, rows[i].sectors, 1);
        rig_run(&r, 200);
        assert_int_equal(stats(&r)->port_write_cycles, rows[i].cycles);
        rig_end(&r);
    }
}

/* ---- ideal slices ---- */

/* From the access queue's end to the response queue: ten cycles to the tags, four on the port. */
static void the_hit_latency_of_an_infinite_slice_is_that_of_an_idle_one(void **state)
{
    for (uint32_t infinite = 0; infinite < 2; infinite++) {
        struct rig r;
        rig_defaults(&r);
        r.p.infinite = infinite;
        r.p.infinite_miss = 100;
        rig_start(&r);
        l2_fill_from_host(r.s, 5 * 128);
        rig_read(&r, 5, 0);
        rig_read(&r, 6, 1); /* a miss is not counted */
        rig_run(&r, 200);
        assert_int_equal(r.replies[0].cycle, HIT);
        assert_int_equal(stats(&r)->hits_timed, 1);
        assert_int_equal(stats(&r)->hit_latency, 2 * (10 + PORT));
        rig_end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_hit_makes_its_line_the_youngest),
        cmocka_unit_test(a_write_makes_its_line_the_youngest),
        cmocka_unit_test(a_part_of_the_port_takes_a_whole_cycle),
        cmocka_unit_test(the_hit_latency_of_an_infinite_slice_is_that_of_an_idle_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
