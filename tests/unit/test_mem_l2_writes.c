/* test_mem_l2_writes.c: an L2 slice: write policies, write-back, sets, atomics. */
#include "l2_kit.h"

/* ---- writes ---- */
static void a_write_is_answered_when_it_is_accepted(void **state)
{
    struct rig r;
    rig_open(&r);
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

static void with_a_fill_port_a_write_that_misses_leaves_the_data_port_free(void **state)
{
    for (int own = 0; own < 2; own++) {
        struct rig r;
        rig_defaults(&r);
        r.p.fill_port = own;
        rig_start(&r);
        l2_fill_from_host(r.s, 20 * 128);
        rig_send(&r, REQ_WRITE, 10, 0xf, 5); /* a miss */
        rig_send(&r, REQ_WRITE, 20, 0xf, 6); /* a hit */
        rig_run(&r, 150);
        assert_int_equal(stats(&r)->port_write_cycles, own ? 4 : 8);
        assert_int_equal(stats(&r)->stall[L2_STALL_PORT], own ? 0 : 3);
        assert_int_equal(r.reply_count, 2);
        rig_end(&r);
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_is_answered_when_it_is_accepted),
        cmocka_unit_test(with_a_fill_port_a_write_that_misses_leaves_the_data_port_free),
        cmocka_unit_test(which_write_misses_fetch_is_a_policy),
        cmocka_unit_test(a_sector_written_in_part_is_fetched_when_it_is_read),
        cmocka_unit_test(a_sectored_slice_fetches_only_what_is_missing),
        cmocka_unit_test(a_dirty_line_is_written_back_when_it_is_replaced),
        cmocka_unit_test(sets_are_chosen_by_the_address_within_the_slice),
        cmocka_unit_test(atomics_take_effect_at_the_tags_or_with_the_fill_in_arrival_order),
        cmocka_unit_test(the_atomic_unit_has_a_throughput),
        cmocka_unit_test(merged_atomics_leave_at_the_pace_of_the_atomic_unit),
        cmocka_unit_test(an_atomic_makes_its_line_dirty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
