/* test_emu_step.c: the emulator one instruction at a time: what a step says of its access, who can run,
 * atomics that happen later, and that the order of warps changes no result. */
#include "emu_kit.h"

#include "lower/lower.h"
#include "step_kit.h"

static struct emu_launch launch_of(struct kit *k, uint32_t grid, uint32_t block)
{
    if (!k->module) kit_load(k);
    return (struct emu_launch){.module = k->module,
                               .kernel = emu_find_kernel(k->module, "k"),
                               .grid = {grid, 1, 1},
                               .block = {block, 1, 1},
                               .params = k->params};
}

static struct emu_grid *open_grid(struct kit *k, uint32_t grid, uint32_t block)
{
    struct emu_launch l = launch_of(k, grid, block);
    struct emu_grid *g = emu_grid_open(k->device, &l, &k->fault);
    if (!g) fail_msg("%s", k->fault.message);
    return g;
}

static struct emu_access step(struct kit *k, struct warp *w, bool defer)
{
    struct emu_access a;
    if (!emu_warp_step(w, defer, &a)) fail_msg("%s", k->fault.message);
    return a;
}

static struct emu_access step_to(struct kit *k, struct warp *w, uint32_t pc,
                                 bool defer) /* executes up to and with pc */
{
    for (;;) {
        struct emu_access a = step(k, w, defer);
        if (a.pc == pc) return a;
    }
}

/* ---- accesses ---- */
static void a_step_tells_the_address_of_each_lane(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *buf = kit_buffer(&k, 64, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    index_word(&k, RD(2), param64(&k, 0), R(0), 4);
    setp(&k, ISA_LT, 0, R(0), imm(&k, 5));
    struct isa_inst *ld = ld32(&k, R(4), RD(2), ISA_GLOBAL);
    ld->imm = 64;
    ld->guard = 0;
    uint32_t at = here(&k) - 1;
    st32(&k, RD(2), R(0), ISA_GLOBAL);
    exit_(&k);
    struct emu_grid *g = open_grid(&k, 1, 32);
    struct cta *c = emu_cta_open(g, 0, 0);
    struct warp *w = emu_cta_warp(c, 0);
    struct emu_access a = step(&k, w, false);
    assert_int_equal(a.space, ISA_GENERIC);
    assert_int_equal(a.mask, UINT32_MAX);
    a = step_to(&k, w, at, false);
    assert_int_equal(a.mask, 31);
    assert_int_equal(a.space, ISA_GLOBAL);
    assert_int_equal(a.bytes, 4);
    assert_false(a.is_store);
    for (uint32_t l = 0; l < 5; l++) assert_int_equal(a.addr[l], (uintptr_t)buf + 4 * l + 64);
    a = step(&k, w, false);
    assert_true(a.is_store);
    assert_int_equal(a.addr[31], (uintptr_t)&buf[31]);
    assert_int_equal(buf[31], 31);
    step(&k, w, false);
    assert_int_equal(emu_warp_state(w), EMU_WARP_DONE);
    emu_grid_close(g, &k.stats);
    assert_int_equal(k.stats.warps, 1);
    assert_int_equal(k.stats.warp_insts, 7);
    kit_close(&k);
}

static void a_load_may_overwrite_its_address_register(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *buf = kit_buffer(&k, 32, 0);
    emit(&k, ISA_OP_MOV_64, D(RD(2)), S(param64(&k, 0)));
    ld32(&k, R(2), RD(2), ISA_GLOBAL);
    exit_(&k);
    struct emu_grid *g = open_grid(&k, 1, 32);
    struct warp *w = emu_cta_warp(emu_cta_open(g, 0, 0), 0);
    struct emu_access a = step_to(&k, w, 1, false);
    assert_int_equal(a.addr[7], (uintptr_t)buf);
    emu_grid_close(g, NULL);
    kit_close(&k);
}

static void a_generic_access_is_resolved_lane_by_lane(void **state)
{
    struct kit k;
    kit_open(&k);
    k.proto.shared_bytes = 64;
    k.proto.frame_bytes = 32;
    kit_buffer(&k, 32, 0);
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    emit(&k, ISA_OP_MOV_64, D(RD(2)), S(param64(&k, 0)));
    setp(&k, ISA_EQ, 0, R(0), imm(&k, 3));
    setp(&k, ISA_EQ, 1, R(0), imm(&k, 4));
    emit(&k, ISA_OP_MOV_64, D(RD(2)), S(imm64(&k, ISA_SHARED_WINDOW + 8)))->guard = 0;
    emit(&k, ISA_OP_MOV_64, D(RD(2)), S(imm64(&k, ISA_LOCAL_WINDOW + 16)))->guard = 1;
    st32(&k, RD(2), R(0), ISA_GENERIC);
    exit_(&k);
    struct emu_grid *g = open_grid(&k, 1, 32);
    assert_int_equal(emu_grid_shared_bytes(g), 64);
    struct warp *w = emu_cta_warp(emu_cta_open(g, 0, 0), 0);
    struct emu_access a = step_to(&k, w, 6, false);
    assert_int_equal(a.space, ISA_GLOBAL);
    assert_int_equal(a.shared_lanes, 1 << 3);
    assert_int_equal(a.local_lanes, 1 << 4);
    assert_int_equal(a.addr[3], 8);
    assert_int_equal(a.addr[4], 16);
    emu_grid_close(g, NULL);
    kit_close(&k);
}

static void a_guard_that_is_false_everywhere_costs_a_step_and_does_nothing(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *buf = kit_buffer(&k, 32, 0);
    emit(&k, ISA_OP_MOV_64, D(RD(2)), S(param64(&k, 0)));
    st32(&k, RD(2), imm(&k, 7), ISA_GLOBAL)->guard = 0; /* p0 is false */
    exit_(&k);
    struct emu_grid *g = open_grid(&k, 1, 32);
    struct warp *w = emu_cta_warp(emu_cta_open(g, 0, 0), 0);
    struct emu_access a = step_to(&k, w, 1, false);
    assert_int_equal(a.mask, 0);
    assert_int_equal(a.space, ISA_GENERIC);
    assert_int_equal(buf[0], 0);
    emu_grid_close(g, NULL);
    kit_close(&k);
}

/* ---- who can run ---- */
static void a_barrier_holds_a_warp_until_the_other_has_come(void **state)
{
    struct kit k;
    kit_open(&k);
    emit(&k, ISA_OP_BAR_SYNC, D(NO), S(imm(&k, 0), NO));
    exit_(&k);
    struct emu_grid *g = open_grid(&k, 1, 64);
    struct cta *c = emu_cta_open(g, 0, 0);
    struct warp *a = emu_cta_warp(c, 0), *b = emu_cta_warp(c, 1);
    assert_int_equal(emu_cta_warps(c), 2);
    step(&k, a, false);
    assert_int_equal(emu_warp_state(a), EMU_WARP_AT_BARRIER);
    assert_int_equal(emu_warp_state(b), EMU_WARP_READY);
    step(&k, b, false);
    assert_int_equal(emu_warp_state(a), EMU_WARP_READY);
    uint32_t pc, mask;
    assert_int_equal(emu_warp_peek(a, &pc, &mask)->op, ISA_OP_EXIT);
    assert_int_equal(pc, 1);
    step(&k, b, false);
    step(&k, a, false);
    assert_int_equal(emu_warp_state(a), EMU_WARP_DONE);
    emu_grid_close(g, NULL);
    kit_close(&k);
}

static void peek_shows_lanes_that_met_as_one(void **state)
{
    struct kit k;
    kit_open(&k);
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    setp(&k, ISA_LT, 0, R(0), imm(&k, 8));
    uint32_t b = bra(&k, 0, 0, 0);
    emit(&k, ISA_OP_MOV_32, D(R(1)), S(imm(&k, 1)));
    uint32_t meet = here(&k);
    patch(&k, b, meet, meet);
    exit_(&k);
    struct emu_grid *g = open_grid(&k, 1, 32);
    struct warp *w = emu_cta_warp(emu_cta_open(g, 0, 0), 0);
    step_to(&k, w, b, false);
    uint32_t pc, mask;
    emu_warp_peek(w, &pc, &mask);
    assert_int_equal(pc, b + 1);
    assert_int_equal(mask, ~0xffu);
    step(&k, w, false);
    emu_warp_peek(w, &pc, &mask);
    assert_int_equal(pc, meet);
    assert_int_equal(mask, UINT32_MAX);
    emu_grid_close(g, NULL);
    kit_close(&k);
}

static void a_barrier_that_nobody_else_can_reach_is_a_deadlock(void **state)
{
    struct kit k;
    kit_open(&k);
    s2r(&k, R(0), ISA_SREG_WARPID, 0);
    setp(&k, ISA_EQ, 0, R(0), imm(&k, 0));
    struct isa_inst *bar = emit(&k, ISA_OP_BAR_SYNC, D(NO), S(imm(&k, 1), imm(&k, 64)));
    bar->guard = 0;
    bar = emit(&k, ISA_OP_BAR_SYNC, D(NO), S(imm(&k, 2), imm(&k, 64)));
    bar->guard = 0 | ISA_GUARD_NOT;
    exit_(&k);
    struct emu_grid *g = open_grid(&k, 1, 64);
    struct cta *c = emu_cta_open(g, 0, 0);
    struct emu_access a;
    for (uint32_t i = 0; i < 3; i++) step(&k, emu_cta_warp(c, 0), false);
    for (uint32_t i = 0; i < 3; i++) step(&k, emu_cta_warp(c, 1), false);
    assert_false(emu_warp_step(emu_cta_warp(c, 1), false, &a));
    assert_int_equal(k.fault.kind, EMU_DEADLOCK);
    emu_grid_close(g, NULL);
    kit_close(&k);
}

/* Half of warp 0 waits at the barrier, half behind it to meet the first half; warp 1 spins on what the second
 * half writes. */
static void lanes_that_wait_to_meet_go_on_when_a_warp_only_spins(void **state)
{
    struct kit k;
    kit_open(&k);
    kit_buffer(&k, 1, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    emit(&k, ISA_OP_MOV_64, D(RD(2)), S(param64(&k, 0)));
    setp(&k, ISA_GE, 1, R(0), imm(&k, 32));
    uint32_t to_spin = bra(&k, 1, 0, ISA_NO_RECONV);
    setp(&k, ISA_GE, 0, R(0), imm(&k, 16));
    uint32_t around = bra(&k, 0, 0, 0);
    emit(&k, ISA_OP_BAR_SYNC, D(NO), S(imm(&k, 0), NO));
    patch(&k, around, here(&k), here(&k));
    st32(&k, RD(2), imm(&k, 1), ISA_GLOBAL);
    emit(&k, ISA_OP_BAR_SYNC, D(NO), S(imm(&k, 0), NO))->guard = 0;
    exit_(&k);
    uint32_t spin = here(&k);
    patch(&k, to_spin, spin, ISA_NO_RECONV);
    ld32(&k, R(4), RD(2), ISA_GLOBAL)->flags = ISA_VOLATILE;
    setp(&k, ISA_EQ, 2, R(4), imm(&k, 0));
    bra(&k, 2, spin, spin + 3);
    emit(&k, ISA_OP_BAR_SYNC, D(NO), S(imm(&k, 0), NO));
    exit_(&k);
    emu_device_limits(k.device)->warp_insts_max = 100000;
    struct emu_launch l = launch_of(&k, 1, 64);
    if (step_grid(k.device, &l, 1, true, 1, NULL, &k.fault) != EMU_OK) fail_msg("%s", k.fault.message);
    kit_close(&k);
}

static void a_fault_is_the_one_of_a_run(void **state)
{
    struct kit k;
    kit_open(&k);
    kit_buffer(&k, 16, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    index_word(&k, RD(2), param64(&k, 0), R(0), 4);
    st32(&k, RD(2), R(0), ISA_GLOBAL);
    exit_(&k);
    assert_int_equal(kit_launch(&k, 1, 32, false), EMU_OUT_OF_BOUNDS);
    struct emu_fault want = k.fault, got;
    struct emu_launch l = launch_of(&k, 1, 32);
    assert_int_equal(step_grid(k.device, &l, 1, true, 1, NULL, &got), EMU_OUT_OF_BOUNDS);
    assert_string_equal(got.message, want.message);
    assert_int_equal(got.address, want.address);
    kit_close(&k);
}

static void a_launch_that_is_refused_opens_no_grid(void **state)
{
    struct kit k;
    kit_open(&k);
    exit_(&k);
    struct emu_launch l = launch_of(&k, 1, 2000);
    assert_null(emu_grid_open(k.device, &l, &k.fault));
    assert_int_equal(k.fault.kind, EMU_BAD_LAUNCH);
    kit_close(&k);
}

/* ---- several grids ---- */
static void two_open_grids_have_parameters_of_their_own(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *first = kit_buffer(&k, 32, 0);
    emit(&k, ISA_OP_MOV_64, D(RD(2)), S(param64(&k, 0)));
    ld32(&k, R(4), imm(&k, 8), ISA_PARAM)->flags = ISA_A32; /* word 2, by address */
    st32(&k, RD(2), R(4), ISA_GLOBAL);
    exit_(&k);
    k.params[2] = 11;
    struct emu_grid *a = open_grid(&k, 1, 32);
    uint32_t *second = kit_buffer(&k, 32, 0);
    k.params[2] = 22;
    struct emu_grid *b = open_grid(&k, 1, 32);
    struct warp *wa = emu_cta_warp(emu_cta_open(a, 0, 0), 0), *wb = emu_cta_warp(emu_cta_open(b, 0, 0), 0);
    for (uint32_t i = 0; i < 4; i++) {
        struct emu_access x = step(&k, wb, false), y = step(&k, wa, false);
        if (i == 1) {
            assert_int_equal(x.space, ISA_PARAM);
            assert_true(x.addr[0] != y.addr[0]);
        }
    }
    assert_int_equal(first[0], 11);
    assert_int_equal(second[0], 22);
    emu_grid_close(a, NULL);
    emu_grid_close(b, NULL);
    kit_close(&k);
}

static void the_clock_is_the_timing_models(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *buf = kit_buffer(&k, 32, 0);
    emit(&k, ISA_OP_MOV_64, D(RD(2)), S(param64(&k, 0)));
    s2r(&k, R(0), ISA_SREG_CLOCK, 0);
    s2r(&k, R(1), ISA_SREG_SMID, 0);
    st32(&k, RD(2), R(0), ISA_GLOBAL);
    st32(&k, RD(2), R(1), ISA_GLOBAL)->imm = 4;
    exit_(&k);
    struct emu_grid *g = open_grid(&k, 1, 1);
    uint64_t cycles = 0, ns = 0;
    emu_grid_clock(g, &cycles, &ns);
    struct warp *w = emu_cta_warp(emu_cta_open(g, 0, 3), 0);
    step(&k, w, false);
    cycles = 12345;
    for (uint32_t i = 0; i < 5; i++) step(&k, w, false);
    assert_int_equal(buf[0], 12345);
    assert_int_equal(buf[1], 3);
    emu_grid_close(g, NULL);
    kit_close(&k);
}

/* ---- atomics ---- */
static struct isa_inst *atom_add(struct kit *k, uint16_t dst, uint16_t addr, uint16_t value,
                                 enum isa_space space)
{
    struct isa_inst *i = emit(k, ISA_OP_ATOM_32, D(dst), S(addr, value, NO));
    i->mod = (uint8_t)space;
    i->mod2 = ISA_ATOM_ADD;
    i->type = ISA_U32;
    return i;
}

static void a_deferred_atomic_happens_when_it_is_applied(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *buf = kit_buffer(&k, 64, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    emit(&k, ISA_OP_MOV_64, D(RD(2)), S(param64(&k, 0)));
    atom_add(&k, R(4), RD(2), imm(&k, 10), ISA_GLOBAL);
    index_word(&k, RD(6), param64(&k, 0), R(0), 4);
    st32(&k, RD(6), R(4), ISA_GLOBAL)->imm = 128;
    exit_(&k);
    struct emu_grid *g = open_grid(&k, 1, 3);
    struct cta *c = emu_cta_open(g, 0, 0);
    struct warp *w = emu_cta_warp(c, 0);
    struct emu_access a = step_to(&k, w, 2, true);
    assert_true(a.deferred && a.is_atomic);
    assert_int_equal(a.mask, 7);
    assert_int_equal(buf[0], 0);
    buf[0] = 100; /* what others did before it arrived */
    emu_atomic_apply(g, a.atomic_record, 2);
    assert_int_equal(buf[0], 110);
    emu_atomic_apply(g, a.atomic_record, 5);
    assert_int_equal(buf[0], 130);
    while (emu_warp_state(w) == EMU_WARP_READY) step(&k, w, true);
    assert_int_equal(buf[32], 110);
    assert_int_equal(buf[33], 100);
    assert_int_equal(buf[34], 120);
    emu_cta_close(c);
    emu_grid_close(g, NULL);
    kit_close(&k);
}

static void a_shared_atomic_happens_at_once(void **state)
{
    struct kit k;
    kit_open(&k);
    k.proto.shared_bytes = 64;
    atom_add(&k, R(4), imm(&k, 0), imm(&k, 1), ISA_SHARED)->flags = ISA_A32;
    exit_(&k);
    struct emu_grid *g = open_grid(&k, 1, 32);
    struct emu_access a = step(&k, emu_cta_warp(emu_cta_open(g, 0, 0), 0), true);
    assert_false(a.deferred);
    assert_true(a.is_atomic);
    assert_int_equal(a.space, ISA_SHARED);
    emu_grid_close(g, NULL);
    kit_close(&k);
}

static void a_thread_sees_its_own_reduction(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *buf = kit_buffer(&k, 64, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    index_word(&k, RD(2), param64(&k, 0), R(0), 4);
    uint32_t red = here(&k);
    atom_add(&k, NO, RD(2), imm(&k, 5), ISA_GLOBAL);
    ld32(&k, R(4), RD(2), ISA_GLOBAL);
    st32(&k, RD(2), R(4), ISA_GLOBAL)->imm = 128;
    exit_(&k);
    struct emu_grid *g = open_grid(&k, 1, 32);
    struct warp *w = emu_cta_warp(emu_cta_open(g, 0, 0), 0);
    struct emu_access a = step_to(&k, w, red, true);
    assert_int_equal(buf[3], 0);
    while (emu_warp_state(w) == EMU_WARP_READY) step(&k, w, true);
    assert_int_equal(buf[32 + 3], 5);
    emu_atomic_apply(g, a.atomic_record, a.mask); /* it happens once all the same */
    assert_int_equal(buf[3], 5);
    emu_grid_close(g, NULL);
    kit_close(&k);
}

static void a_barrier_makes_reductions_visible(void **state)
{
    for (int fence = 0; fence < 2; fence++) {
        struct kit k;
        kit_open(&k);
        uint32_t *buf = kit_buffer(&k, 64, 0);
        emit(&k, ISA_OP_MOV_64, D(RD(2)), S(param64(&k, 0)));
        atom_add(&k, NO, RD(2), imm(&k, 1), ISA_GLOBAL);
        if (fence)
            emit(&k, ISA_OP_MEMBAR, D(NO), S(NO));
        else
            emit(&k, ISA_OP_BAR_SYNC, D(NO), S(imm(&k, 0), NO));
        exit_(&k);
        struct emu_grid *g = open_grid(&k, 1, 32);
        struct warp *w = emu_cta_warp(emu_cta_open(g, 0, 0), 0);
        struct emu_access a = step_to(&k, w, 1, true);
        assert_int_equal(buf[0], 0);
        step(&k, w, true);
        assert_int_equal(buf[0], 32);
        emu_atomic_apply(g, a.atomic_record, a.mask);
        assert_int_equal(buf[0], 32);
        emu_grid_close(g, NULL);
        kit_close(&k);
    }
}

static void atomics_of_a_thread_on_one_word_keep_their_order(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *buf = kit_buffer(&k, 64, 0);
    emit(&k, ISA_OP_MOV_64, D(RD(2)), S(param64(&k, 0)));
    for (uint32_t value = 1; value <= 2; value++)
        atom_add(&k, NO, RD(2), imm(&k, value), ISA_GLOBAL)->mod2 = ISA_ATOM_EXCH;
    exit_(&k);
    struct emu_grid *g = open_grid(&k, 1, 1);
    struct warp *w = emu_cta_warp(emu_cta_open(g, 0, 0), 0);
    struct emu_access first = step_to(&k, w, 1, true), second = step_to(&k, w, 2, true);
    emu_atomic_apply(g, second.atomic_record, 1);
    emu_atomic_apply(g, first.atomic_record, 1);
    assert_int_equal(buf[0], 2);
    emu_grid_close(g, NULL);
    kit_close(&k);
}

static void a_reduction_may_outlive_its_cta(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *buf = kit_buffer(&k, 64, 0);
    emit(&k, ISA_OP_MOV_64, D(RD(2)), S(param64(&k, 0)));
    atom_add(&k, NO, RD(2), imm(&k, 1), ISA_GLOBAL);
    exit_(&k);
    struct emu_grid *g = open_grid(&k, 2, 32);
    struct cta *c = emu_cta_open(g, 0, 0);
    struct emu_access a = step_to(&k, emu_cta_warp(c, 0), 1, true);
    step(&k, emu_cta_warp(c, 0), true);
    emu_cta_close(c);
    c = emu_cta_open(g, 1, 0);
    assert_int_equal(buf[0], 0);
    emu_atomic_apply(g, a.atomic_record, a.mask);
    assert_int_equal(buf[0], 32);
    emu_grid_close(g, NULL);
    kit_close(&k);
}

/* ---- whole kernels in any order ---- */
struct program {
    const char *file, *kernel;
    /* each buffer; the first one is filled at random */
    uint32_t grid, block, shared, buffers, bytes;
    /* behind the pointers */
    uint32_t word;
};

static const struct program programs[] = {
    {"reduce", "reduce_tree", 9, 256, 1024, 2, 16384, 2300},
    {"reduce", "reduce_shuffle", 5, 128, 0, 2, 16384, 4000},
    {"reduce", "reduce_atomic", 11, 96, 0, 2, 16384, 1000},
    {"histogram", "hist_shared", 5, 192, 0, 2, 16384, 9000},
    {"histogram", "hist_global", 10, 128, 0, 2, 16384, 1200},
    {"scan", "scan_blocks", 9, 256, 0, 3, 16384, 2200},
    {"sort", "bitonic_shared", 4, 256, 0, 1, 16384, 0},
    {"lanes", "lanes", 1, 96, 0, 2, 16384, 0},
};

static char *read_text(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, HEDDLE_SOURCE_DIR "/tests/programs/%s.ptx", name);
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s cannot be read", path);
    fseek(f, 0, SEEK_END);
    size_t n = (size_t)ftell(f);
    rewind(f);
    char *text = mem_zalloc(n + 1);
    assert_int_equal(fread(text, 1, n, f), n);
    fclose(f);
    return text;
}

static struct emu_module *load_file(struct emu_device *d, const char *name)
{
    struct diag_list diags = {0};
    struct strbuf shown = {0};
    char *text = read_text(name);
    struct ptx_module *ptx = ptx_parse(name, text, strlen(text), &diags);
    struct isa_module *isa = ptx ? lower_module(ptx, &(struct lower_options){.opt_level = 1}, &diags) : NULL;
    struct emu_module *m = isa ? emu_module_load(d, isa, NULL, NULL, &diags) : NULL;
    diag_render(&diags, &shown);
    if (!m) fail_msg("%s", strbuf_text(&shown));
    strbuf_free(&shown);
    ptx_module_free(ptx);
    diag_free(&diags);
    free(text);
    return m;
}

static void fill_buffers(const struct program *p, const uint64_t *at)
{
    struct rng rng = {7};
    for (uint32_t b = 0; b < p->buffers; b++) {
        uint32_t *words = (uint32_t *)(uintptr_t)at[b];
        for (uint32_t i = 0; i < p->bytes / 4; i++) words[i] = b ? 0 : rng_u32(&rng);
    }
}

static void any_order_of_warps_gives_the_same_memory(void **state)
{
    struct kit k;
    kit_open(&k);
    uint64_t at[3];
    for (uint32_t b = 0; b < 3; b++)
        at[b] = space_alloc(emu_device_space(k.device), 16384, 256, SPACE_DEVICE, "buffer");
    uint8_t *want = mem_alloc(3 * 16384);
    for (size_t n = 0; n < ARRAY_LEN(programs); n++) {
        const struct program *p = &programs[n];
        struct emu_module *m = load_file(k.device, p->file);
        uint8_t params[64] = {0};
        memcpy(params, at, 8 * p->buffers);
        memcpy(params + 8 * p->buffers, &p->word, 4);
        struct emu_launch l = {.module = m,
                               .kernel = emu_find_kernel(m, p->kernel),
                               .grid = {p->grid, 1, 1},
                               .block = {p->block, 1, 1},
                               .shared_dynamic_bytes = p->shared,
                               .params = params};
        struct emu_stats ran = {0};
        fill_buffers(p, at);
        if (emu_run(k.device, &l, &ran, &k.fault) != EMU_OK) fail_msg("%s", k.fault.message);
        for (uint32_t b = 0; b < p->buffers; b++)
            memcpy(want + b * 16384, (void *)(uintptr_t)at[b], p->bytes);
        for (uint64_t seed = 1; seed <= 6; seed++) {
            struct emu_stats stepped = {0};
            fill_buffers(p, at);
            if (step_grid(k.device, &l, seed, seed & 1, 1 + seed % 4, &stepped, &k.fault) != EMU_OK)
                fail_msg("%s", k.fault.message);
            for (uint32_t b = 0; b < p->buffers; b++)
                if (memcmp(want + b * 16384, (void *)(uintptr_t)at[b], p->bytes))
                    fail_msg("%s, seed %u, buffer %u differs", p->kernel, (unsigned)seed, b);
            assert_memory_equal(&stepped, &ran, sizeof ran);
        }
        emu_module_unload(k.device, m);
    }
    free(want);
    kit_close(&k);
}

static void locks_are_taken_and_given_in_any_fair_order(void **state)
{
    struct kit k;
    kit_open(&k);
    struct emu_module *m = load_file(k.device, "spinlock");
    uint64_t at = space_alloc(emu_device_space(k.device), 4096, 256, SPACE_DEVICE, "buffer");
    int *words = (int *)(uintptr_t)at;
    static const struct {
        const char *name;
        uint32_t grid, block;
    } kernels[] = {{"locked_sum", 3, 64}, {"ticket_chain", 1, 32}, {"wait_for_block", 2, 64}};
    for (uint32_t n = 0; n < 3; n++) {
        for (uint64_t seed = 1; seed <= 4; seed++) {
            uint64_t params[2] = {at, at + 256};
            struct emu_launch l = {.module = m,
                                   .kernel = emu_find_kernel(m, kernels[n].name),
                                   .grid = {kernels[n].grid, 1, 1},
                                   .block = {kernels[n].block, 1, 1},
                                   .params = params};
            memset(words, 0, 4096);
            if (step_grid(k.device, &l, seed, true, 2, NULL, &k.fault) != EMU_OK)
                fail_msg("%s", k.fault.message);
            if (n == 0) assert_int_equal(((uint64_t *)words)[33], 191 * 192 / 2);
            for (int t = 0; n == 1 && t < 32; t++) assert_int_equal(words[64 + (t * 7 + 3) % 32], t);
            for (int t = 0; n == 2 && t < 64; t++) assert_int_equal(words[64 + t], 41 + t);
        }
    }
    emu_module_unload(k.device, m);
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_tells_the_address_of_each_lane),
        cmocka_unit_test(a_load_may_overwrite_its_address_register),
        cmocka_unit_test(a_generic_access_is_resolved_lane_by_lane),
        cmocka_unit_test(a_guard_that_is_false_everywhere_costs_a_step_and_does_nothing),
        cmocka_unit_test(a_barrier_holds_a_warp_until_the_other_has_come),
        cmocka_unit_test(peek_shows_lanes_that_met_as_one),
        cmocka_unit_test(a_barrier_that_nobody_else_can_reach_is_a_deadlock),
        cmocka_unit_test(lanes_that_wait_to_meet_go_on_when_a_warp_only_spins),
        cmocka_unit_test(a_fault_is_the_one_of_a_run),
        cmocka_unit_test(a_launch_that_is_refused_opens_no_grid),
        cmocka_unit_test(two_open_grids_have_parameters_of_their_own),
        cmocka_unit_test(the_clock_is_the_timing_models),
        cmocka_unit_test(a_deferred_atomic_happens_when_it_is_applied),
        cmocka_unit_test(a_shared_atomic_happens_at_once),
        cmocka_unit_test(a_thread_sees_its_own_reduction),
        cmocka_unit_test(a_barrier_makes_reductions_visible),
        cmocka_unit_test(atomics_of_a_thread_on_one_word_keep_their_order),
        cmocka_unit_test(a_reduction_may_outlive_its_cta),
        cmocka_unit_test(any_order_of_warps_gives_the_same_memory),
        cmocka_unit_test(locks_are_taken_and_given_in_any_fair_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
