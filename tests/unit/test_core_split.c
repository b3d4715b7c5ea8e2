/* One array for L1 and shared memory: which split a kernel gets, who may be resident with whom, what the L1
 * has then. */
#include "sm_rig.h"

#include "core/occupancy.h"
#include "core/sm/split.h"

static struct machine machine_of(const char *name)
{
    struct machine m;
    struct diag_list diags = {0};
    assert_true(machine_load(name, NULL, 0, &m, &diags));
    assert_true(split_check(&m, &diags));
    diag_free(&diags);
    return m;
}

static const struct isa_kernel small_kernel = {.name = "k", .reg_count = 16};

static uint64_t kilobytes(const struct machine *m, uint32_t threads, uint64_t shared, uint32_t wish)
{
    struct split_launch l = {
        .kernel = &small_kernel, .threads = threads, .shared_bytes = shared, .wish = wish};
    return split_shared_bytes_of(m, &l) >> 10;
}

static void auto_takes_the_smallest_size_that_costs_no_cta(void **state)
{
    (void)state;
    struct machine m = machine_of("rtx3080");
    assert_int_equal(kilobytes(&m, 1536, 0, 0), 8);         /* one CTA: the system's KB */
    assert_int_equal(kilobytes(&m, 96, 0, 0), 16);          /* 16 CTAs */
    assert_int_equal(kilobytes(&m, 256, 4 << 10, 0), 32);   /* 6 CTAs of 5 KB */
    assert_int_equal(kilobytes(&m, 256, 16 << 10, 0), 100); /* 5 of 17 KB: shared memory is the limit */
    assert_int_equal(kilobytes(&m, 1024, 48 << 10, 0), 64); /* one of 49 KB: threads are */
    for (uint32_t threads = 32; threads <= 1024; threads += 32)
        for (uint64_t shared = 0; shared <= 99 << 10; shared += 777) {
            struct split_launch l = {.kernel = &small_kernel, .threads = threads, .shared_bytes = shared};
            uint32_t most = occupancy_ctas(&m, &small_kernel, threads, shared);
            uint64_t chosen = split_shared_bytes_of(&m, &l);
            assert_int_equal(occupancy_ctas_within(&m, &small_kernel, threads, shared, chosen), most);
            struct split_sizes s;
            assert_true(split_read(&m.sm, &s));
            for (uint32_t i = 0; i < s.count && s.bytes[i] < chosen; i++) /* no smaller one would do */
                assert_true(occupancy_ctas_within(&m, &small_kernel, threads, shared, s.bytes[i]) < most);
        }
}

static void a_wish_is_rounded_up_and_holds_one_cta_at_least(void **state)
{
    (void)state;
    struct machine m = machine_of("h200");
    assert_int_equal(kilobytes(&m, 256, 0, 1 + 0), 8); /* the system's KB of one CTA */
    assert_int_equal(kilobytes(&m, 256, 0, 1 + 100), 228);
    assert_int_equal(kilobytes(&m, 256, 0, 1 + 50), 132); /* 114 KB */
    assert_int_equal(kilobytes(&m, 256, 150 << 10, 1 + 0), 164);
    m = machine_of("rtx3080"); /* of 100 KB: a percent is a KB */
    assert_int_equal(kilobytes(&m, 256, 0, 1 + 8), 8);
    assert_int_equal(kilobytes(&m, 256, 0, 1 + 9), 16);
    assert_int_equal(kilobytes(&m, 256, 0, 1 + 16), 16);
    assert_int_equal(kilobytes(&m, 256, 0, 1 + 32), 32);
    assert_int_equal(kilobytes(&m, 256, 0, 1 + 64), 64);
    assert_int_equal(kilobytes(&m, 256, 0, 1 + 65), 100);
    m = machine_of("h200");
    struct split_sizes s;
    assert_true(split_read(&m.sm, &s));
    assert_int_equal(split_l1_bytes(&m, &s, 228 << 10), 28 << 10);
}

static void a_fixed_split_and_separate_arrays_ask_nobody(void **state)
{
    (void)state;
    struct machine m = machine_of("rtx3080");
    m.sm.shared_split = SPLIT_FIXED;
    m.sm_shared_bytes = 64 << 10;
    assert_int_equal(kilobytes(&m, 256, 0, 0), 64);
    assert_int_equal(kilobytes(&m, 256, 0, 1 + 100), 64);
    m = machine_of("fermi");
    assert_int_equal(kilobytes(&m, 256, 0, 1), 48);
    struct split_sizes none = {0};
    assert_int_equal(split_l1_bytes(&m, &none, 48 << 10), 16 << 10);
}

static void refuse(const char *sizes, uint64_t shared, uint64_t array, const char *why)
{
    struct machine m = machine_of("rtx3080");
    struct diag_list diags = {0};
    snprintf(m.sm.shared_sizes, sizeof m.sm.shared_sizes, "%s", sizes);
    m.sm_shared_bytes = shared;
    m.l1.size = array;
    assert_false(split_check(&m, &diags));
    assert_non_null(strstr(diags.items.data[0].message, why));
    diag_free(&diags);
}

static void sizes_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    const char *list = "rising numbers of KB";
    refuse("16,8", 8 << 10, 128 << 10, list);
    refuse("8,,16", 16 << 10, 128 << 10, list);
    refuse("8,16,", 16 << 10, 128 << 10, list);
    refuse("8;16", 16 << 10, 128 << 10, list);
    refuse("a lot", 16 << 10, 128 << 10, list);
    refuse("0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", 16 << 10, 128 << 10, list);
    refuse("0,8,16", 8 << 10, 128 << 10, "must be the largest");
    refuse("0,64,128", 128 << 10, 128 << 10, "no way of 512 bytes is left");
}

/* ---- on an SM ---- */

static void open_unified(struct rig *r)
{
    rig_open(r);
    r->machine.l1.size = 64 << 10;
    r->machine.l1.ways = 16;
    r->machine.l1.flush = false;
    r->machine.sm_shared_bytes = 48 << 10;
    snprintf(r->machine.sm.shared_sizes, sizeof r->machine.sm.shared_sizes, "16,48");
}

enum { MAX_L1 = 1 + 0, MAX_SHARED = 1 + 100 };

/* Each thread reads its local memory and stores to it: dirty lines stay in the L1. */
static void local_program(struct rig *r)
{
    r->kit.proto.frame_bytes = 64;
    emit(&r->kit, ISA_OP_MOV_32, D(R(3)), S(imm(&r->kit, 8)));
    ld32(&r->kit, R(5), R(3), ISA_LOCAL)->flags |= ISA_A32;
    st32(&r->kit, R(3), R(5), ISA_LOCAL)->flags |= ISA_A32;
    exit_(&r->kit);
}

static void another_split_empties_the_l1_and_writes_dirty_lines_back(void **state)
{
    (void)state;
    for (uint32_t no_skip = 0; no_skip < 2; no_skip++) {
        struct rig r;
        open_unified(&r);
        r.no_skip = no_skip;
        rig_make(&r);
        local_program(&r);
        r.shared_wish = MAX_L1;
        rig_run(&r, 2, 64);
        const struct l1_stats *l1 = sm_l1_stats(r.sm);
        assert_int_equal(l1->misses[L1_LOCAL_LOAD], 4);
        assert_int_equal(l1->resizes, 1);
        struct sm_stats first = *rig_stats(&r);
        assert_int_equal(first.shared_size_cycles, first.active_cycles * (16 << 10));
        assert_int_equal(first.l1_size_cycles, first.active_cycles * (48 << 10));
        rig_run(&r, 2, 64); /* the same split: nothing changes */
        l1 = sm_l1_stats(r.sm);
        assert_int_equal(l1->resizes, 1);
        assert_int_equal(l1->write_backs, 0);
        assert_int_equal(l1->misses[L1_LOCAL_LOAD], 4);
        struct sm_stats second = *rig_stats(&r);
        r.shared_wish = MAX_SHARED;
        rig_run(&r, 2, 64);
        l1 = sm_l1_stats(r.sm);
        assert_int_equal(l1->resizes, 2);
        assert_int_equal(l1->write_backs, 4);
        assert_int_equal(r.kinds[REQ_WRITE], 4); /* real traffic */
        assert_int_equal(l1->misses[L1_LOCAL_LOAD], 8);
        const struct sm_stats *third = rig_stats(&r);
        uint64_t cycles = third->active_cycles - second.active_cycles;
        assert_int_equal(third->l1_size_cycles - second.l1_size_cycles, cycles * (16 << 10));
        assert_int_equal(third->shared_size_cycles - second.shared_size_cycles, cycles * (48 << 10));
        rig_close(&r);
    }
}

static struct emu_grid *open_grid(struct rig *r, struct emu_fault *fault, uint32_t wish)
{
    struct emu_launch l = {.module = r->kit.module,
                           .kernel = emu_find_kernel(r->kit.module, "k"),
                           .grid = {4, 1, 1},
                           .block = {64, 1, 1},
                           .params = r->kit.params,
                           .shared_wish = wish};
    return emu_grid_open(r->kit.device, &l, fault);
}

static void ctas_of_two_splits_are_not_resident_together(void **state)
{
    (void)state;
    struct rig r;
    struct emu_fault faults[2];
    open_unified(&r);
    rig_make(&r);
    r.kit.proto.shared_bytes = 12 << 10; /* one CTA in 16 KB, four in 48 KB */
    local_program(&r);
    kit_load(&r.kit);
    struct emu_grid *narrow = open_grid(&r, &faults[0], MAX_L1),
                    *wide = open_grid(&r, &faults[1], MAX_SHARED);
    assert_true(sm_fits(r.sm, narrow) && sm_fits(r.sm, wide));
    assert_true(rig_start_cta(r.sm, r.now, narrow, 0));
    assert_false(sm_fits(r.sm, narrow)); /* occupancy counts with the split */
    assert_false(sm_fits(r.sm, wide));
    while (sm_ctas(r.sm)) rig_cycle(&r);
    for (uint64_t i = 0; i < 4; i++) {
        assert_true(sm_fits(r.sm, wide));
        assert_true(rig_start_cta(r.sm, r.now, wide, i));
        assert_false(sm_fits(r.sm, narrow));
        rig_cycle(&r);
    }
    assert_int_equal(sm_ctas(r.sm), 4);
    while (sm_ctas(r.sm) || !sm_idle(r.sm)) rig_cycle(&r);
    assert_true(sm_fits(r.sm, narrow));
    emu_grid_close(narrow, NULL);
    emu_grid_close(wide, NULL);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_takes_the_smallest_size_that_costs_no_cta),
        cmocka_unit_test(a_wish_is_rounded_up_and_holds_one_cta_at_least),
        cmocka_unit_test(a_fixed_split_and_separate_arrays_ask_nobody),
        cmocka_unit_test(sizes_that_make_no_sense_are_refused),
        cmocka_unit_test(another_split_empties_the_l1_and_writes_dirty_lines_back),
        cmocka_unit_test(ctas_of_two_splits_are_not_resident_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
