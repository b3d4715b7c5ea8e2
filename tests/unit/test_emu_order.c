/* Orders that programs can see, though CUDA promises none of them: of the lanes of an atomic, and of the
 * paths of a warp that has diverged. */
#include "emu_kit.h"

#include "emu/step.h"

/* ---- atomics ---- */

/* Every lane puts its number plus one into one word and keeps what was there: a chain through the lanes. */
static struct isa_inst *emit_exchange(struct kit *k, enum isa_op op, enum isa_space space, uint16_t address)
{
    s2r(k, R(0), ISA_SREG_LANEID, 0);
    emit(k, ISA_OP_ADD_32, D(R(2)), S(R(0), imm(k, 1)));
    emit(k, ISA_OP_MOV_32, D(R(3)), S(imm(k, 0)));
    struct isa_inst *i = emit(k, op, D(R(4)), S(address, R(2)));
    i->mod = (uint8_t)space;
    i->mod2 = ISA_ATOM_EXCH;
    i->type = op == ISA_OP_ATOM_64 ? ISA_U64 : op == ISA_OP_ATOM_32 ? ISA_U32 : ISA_U16;
    return i;
}

static void store_result(struct kit *k, uint16_t base, uint16_t value)
{
    s2r(k, R(30), ISA_SREG_TID, 0);
    index_word(k, RD(28), base, R(30), 4);
    st32(k, RD(28), value, ISA_GLOBAL);
    exit_(k);
}

static void the_lanes_of_an_atomic_come_in_ascending_order(void **state)
{
    static const struct {
        enum isa_op op;
        enum isa_space space;
    } cases[] = {{ISA_OP_ATOM_16, ISA_GLOBAL},
                 {ISA_OP_ATOM_32, ISA_GLOBAL},
                 {ISA_OP_ATOM_64, ISA_GLOBAL},
                 {ISA_OP_ATOM_32, ISA_SHARED}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kit k;
        kit_open(&k);
        const uint32_t *word = kit_buffer(&k, 2, 0), *out = kit_buffer(&k, 32, 2);
        const bool is_shared = cases[i].space == ISA_SHARED;
        k.proto.shared_bytes = 4;
        struct isa_inst *exchange =
            emit_exchange(&k, cases[i].op, cases[i].space, is_shared ? imm(&k, 0) : param64(&k, 0));
        if (is_shared) exchange->flags = ISA_A32;
        store_result(&k, param64(&k, 2), R(4));
        kit_run(&k, 1, 32);
        for (uint32_t l = 0; l < 32; l++) assert_int_equal(out[l], l);
        assert_int_equal(*word, is_shared ? 0 : 32);
        kit_close(&k);
    }
}

static void the_lanes_of_a_128_bit_atomic_come_in_ascending_order(void **state)
{
    struct kit k;
    kit_open(&k);
    const uint32_t *word = kit_buffer(&k, 4, 0), *out = kit_buffer(&k, 32, 2);
    struct isa_inst *i = emit_exchange(&k, ISA_OP_ATOM_128, ISA_GLOBAL, param64(&k, 0));
    i->src[2] = RD(2);
    i->dst[1] = RD(6);
    i->type = ISA_B128;
    emit(&k, ISA_OP_MAD_LO_32, D(R(4)), S(R(6), imm(&k, 100), R(4)));
    store_result(&k, param64(&k, 2), R(4));
    kit_run(&k, 1, 32);
    for (uint32_t l = 0; l < 32; l++) assert_int_equal(out[l], 101 * l);
    assert_int_equal(word[0], 32);
    assert_int_equal(word[2], 32);
    kit_close(&k);
}

/* The atomic leaves the warp and happens later, some lanes first. */
static void the_lanes_of_a_deferred_atomic_that_happen_together_come_in_ascending_order(void **state)
{
    struct kit k;
    kit_open(&k);
    const uint32_t *word = kit_buffer(&k, 2, 0), *out = kit_buffer(&k, 32, 2);
    emit_exchange(&k, ISA_OP_ATOM_32, ISA_GLOBAL, param64(&k, 0));
    store_result(&k, param64(&k, 2), R(4));
    const struct isa_kernel *kernel = kit_load(&k);
    struct emu_launch l = {
        .module = k.module, .kernel = kernel, .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = k.params};
    struct emu_grid *g = emu_grid_open(k.device, &l, &k.fault);
    assert_non_null(g);
    struct warp *w = emu_cta_warp(emu_cta_open(g, 0, 0), 0);
    while (emu_warp_state(w) == EMU_WARP_READY) {
        struct emu_access a;
        assert_true(emu_warp_step(w, true, &a));
        if (!a.deferred) continue;
        emu_atomic_apply(g, a.atomic_record, 0xffff0000);
        assert_int_equal(*word, 32);
        emu_atomic_apply(g, a.atomic_record, 0x0000ffff);
        assert_int_equal(*word, 16);
    }
    emu_grid_close(g, NULL);
    for (uint32_t t = 0; t < 32; t++) assert_int_equal(out[t], t == 16 ? 0 : t == 0 ? 32 : t);
    kit_close(&k);
}

/* ---- paths ---- */

/* The lanes that are here take a number each, in ascending order. */
static void take_number(struct kit *k, uint16_t dst)
{
    struct isa_inst *i = emit(k, ISA_OP_ATOM_32, D(dst), S(param64(k, 0), imm(k, 1)));
    i->mod = ISA_GLOBAL;
    i->mod2 = ISA_ATOM_ADD;
    i->type = ISA_U32;
}

static void lane_is(struct kit *k, uint32_t predicate, uint32_t lane)
{
    setp(k, ISA_EQ, predicate, R(0), imm(k, lane));
}

/* if (lane != 2) { if (lane != 0) b; else a; ab; } else c; abc. The youngest path runs first, and the one
 * that falls through is younger than the one that branches: c waits until a and b have met. */
static void the_youngest_path_runs_first(void **state)
{
    struct kit k;
    kit_open(&k);
    kit_buffer(&k, 1, 0);
    const uint32_t *out = kit_buffer(&k, 3, 2);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    lane_is(&k, 0, 2);
    lane_is(&k, 1, 0);
    const uint32_t outer = bra(&k, 0, 0, 0), inner = bra(&k, 1, 0, 0);
    take_number(&k, R(1)); /* b */
    const uint32_t skip_a = bra(&k, ISA_PT, 0, 0), a = here(&k);
    take_number(&k, R(1));
    const uint32_t ab = here(&k);
    take_number(&k, R(2));
    const uint32_t skip_c = bra(&k, ISA_PT, 0, 0), c = here(&k);
    take_number(&k, R(1));
    const uint32_t abc = here(&k);
    take_number(&k, R(3));
    patch(&k, outer, c, abc);
    patch(&k, inner, a, ab);
    patch(&k, skip_a, ab, ab);
    patch(&k, skip_c, abc, abc);
    emit(&k, ISA_OP_MAD_LO_32, D(R(1)), S(R(2), imm(&k, 10), R(1)));
    emit(&k, ISA_OP_MAD_LO_32, D(R(1)), S(R(3), imm(&k, 100), R(1)));
    store_result(&k, param64(&k, 2), R(1));
    kit_run(&k, 1, 3);
    assert_int_equal(out[0], 500 + 20 + 1); /* abc, ab, a */
    assert_int_equal(out[1], 600 + 30 + 0); /* abc, ab, b */
    assert_int_equal(out[2], 700 + 4);      /* abc, c */
    kit_close(&k);
}

/* if (lane != 3) { if (lane == 0) exit; ab; } else c; abc. Lanes 1 and 2 wait for lane 0 and go on when it
 * has ended, before c. */
static void lanes_that_end_are_not_waited_for(void **state)
{
    struct kit k;
    kit_open(&k);
    kit_buffer(&k, 1, 0);
    const uint32_t *out = kit_buffer(&k, 4, 2);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    lane_is(&k, 0, 3);
    lane_is(&k, 1, 0);
    const uint32_t outer = bra(&k, 0, 0, 0), inner = bra(&k, 1 | ISA_GUARD_NOT, 0, 0);
    exit_(&k);
    const uint32_t ab = here(&k);
    take_number(&k, R(1));
    const uint32_t skip_c = bra(&k, ISA_PT, 0, 0), c = here(&k);
    take_number(&k, R(1));
    const uint32_t abc = here(&k);
    patch(&k, outer, c, abc);
    patch(&k, inner, ab, ab);
    patch(&k, skip_c, abc, abc);
    emit(&k, ISA_OP_ACTIVEMASK, D(R(2)), S(NO));
    emit(&k, ISA_OP_MAD_LO_32, D(R(1)), S(R(2), imm(&k, 10), R(1)));
    store_result(&k, param64(&k, 2), R(1));
    kit_run(&k, 1, 4);
    assert_int_equal(out[0], 0);
    for (uint32_t l = 1; l < 4; l++) assert_int_equal(out[l], 10 * 0xe + l - 1);
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lanes_of_an_atomic_come_in_ascending_order),
        cmocka_unit_test(the_lanes_of_a_128_bit_atomic_come_in_ascending_order),
        cmocka_unit_test(the_lanes_of_a_deferred_atomic_that_happen_together_come_in_ascending_order),
        cmocka_unit_test(the_youngest_path_runs_first),
        cmocka_unit_test(lanes_that_end_are_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
