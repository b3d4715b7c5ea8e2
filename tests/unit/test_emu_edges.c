/* The edges of what a program may do: barriers that threads leave, groups that meet at different places, reads
 * of the bytes of an atomic that is under way, lanes of a copy that copy nothing, the heap, printf. */
#include "emu_kit.h"

#include "emu/step.h"

enum { G_P0 = 0, G_NOT = ISA_GUARD_NOT };

static void store_at_tid(struct kit *k, uint16_t base, uint16_t value)
{
    s2r(k, R(30), ISA_SREG_TID, 0);
    index_word(k, RD(28), base, R(30), 4);
    st32(k, RD(28), value, ISA_GLOBAL);
}

/* ---- barriers ---- */

static void bar(struct kit *k, enum isa_op op, uint32_t number, uint32_t count)
{
    emit(k, op, D(NO), S(imm(k, number), count ? imm(k, count) : NO, NO));
}

/* Of three warps, the first arrives and ends. The second must still wait for the third, which writes before
 * it arrives. */
static void a_thread_that_arrives_and_ends_counts_once(void **state)
{
    struct kit k;
    kit_open(&k);
    const uint32_t *out = kit_buffer(&k, 96, 0);
    k.proto.shared_bytes = 4;
    s2r(&k, R(0), ISA_SREG_WARPID, 0);
    setp(&k, ISA_EQ, 0, R(0), imm(&k, 0));
    setp(&k, ISA_EQ, 1, R(0), imm(&k, 2));
    const uint32_t first = bra(&k, 0, 0, ISA_NO_RECONV);
    st32(&k, imm(&k, 0), imm(&k, 5), ISA_SHARED)->flags = ISA_A32;
    k.insts.data[here(&k) - 1].guard = 1;
    bar(&k, ISA_OP_BAR_SYNC, 1, 96);
    ld32(&k, R(1), imm(&k, 0), ISA_SHARED)->flags = ISA_A32;
    store_at_tid(&k, param64(&k, 0), R(1));
    exit_(&k);
    patch(&k, first, here(&k), ISA_NO_RECONV);
    bar(&k, ISA_OP_BAR_ARRIVE, 1, 96);
    exit_(&k);
    kit_run(&k, 1, 96);
    for (uint32_t t = 32; t < 96; t++) assert_int_equal(out[t], 5);
    kit_close(&k);
}

static void a_count_of_all_threads_is_no_count(void **state)
{
    struct kit k;
    kit_open(&k);
    const uint32_t *out = kit_buffer(&k, 64, 0);
    k.proto.shared_bytes = 256;
    s2r(&k, R(0), ISA_SREG_TID, 0);
    emit(&k, ISA_OP_SHL_32, D(R(1)), S(R(0), imm(&k, 2)));
    st32(&k, R(1), R(0), ISA_SHARED)->flags = ISA_A32;
    setp(&k, ISA_LT, 0, R(0), imm(&k, 32));
    const uint32_t counted = bra(&k, 0, 0, ISA_NO_RECONV);
    bar(&k, ISA_OP_BAR_SYNC, 1, 0);
    const uint32_t skip = bra(&k, ISA_PT, 0, ISA_NO_RECONV);
    patch(&k, counted, here(&k), ISA_NO_RECONV);
    bar(&k, ISA_OP_BAR_SYNC, 1, 64);
    patch(&k, skip, here(&k), ISA_NO_RECONV);
    emit(&k, ISA_OP_SUB_32, D(R(1)), S(imm(&k, 252), R(1)));
    ld32(&k, R(2), R(1), ISA_SHARED)->flags = ISA_A32;
    store_at_tid(&k, param64(&k, 0), R(2));
    exit_(&k);
    kit_run(&k, 1, 64);
    for (uint32_t t = 0; t < 64; t++) assert_int_equal(out[t], 63 - t);
    kit_close(&k);
}

/* if (lane < 16) __syncwarp(); else __syncwarp(): two instructions, one meeting (unlike votes). */
static void lanes_meet_at_different_warp_barriers(void **state)
{
    struct kit k;
    kit_open(&k);
    const uint32_t *out = kit_buffer(&k, 32, 0);
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    setp(&k, ISA_LT, 0, R(0), imm(&k, 16));
    const uint32_t low = bra(&k, 0, 0, 0);
    emit(&k, ISA_OP_WARPSYNC, D(NO), S(imm(&k, UINT32_MAX)));
    emit(&k, ISA_OP_MOV_32, D(R(1)), S(imm(&k, 7)));
    const uint32_t skip = bra(&k, ISA_PT, 0, 0), target = here(&k);
    emit(&k, ISA_OP_WARPSYNC, D(NO), S(imm(&k, UINT32_MAX)));
    emit(&k, ISA_OP_MOV_32, D(R(1)), S(imm(&k, 8)));
    patch(&k, low, target, here(&k));
    patch(&k, skip, here(&k), here(&k));
    store_at_tid(&k, param64(&k, 0), R(1));
    exit_(&k);
    kit_run(&k, 1, 32);
    for (uint32_t l = 0; l < 32; l++) assert_int_equal(out[l], l < 16 ? 8 : 7);
    kit_close(&k);
}

/* ---- steps ---- */

struct stepped {
    struct emu_grid *grid;
    struct warp *warp;
};

static struct stepped step_open(struct kit *k, uint32_t dynamic_bytes)
{
    const struct isa_kernel *kernel = kit_load(k);
    struct emu_launch l = {.module = k->module,
                           .kernel = kernel,
                           .grid = {1, 1, 1},
                           .block = {32, 1, 1},
                           .params = k->params,
                           .shared_dynamic_bytes = dynamic_bytes};
    struct stepped s = {.grid = emu_grid_open(k->device, &l, &k->fault)};
    assert_non_null(s.grid);
    s.warp = emu_cta_warp(emu_cta_open(s.grid, 0, 0), 0);
    return s;
}

/* Both ways round: the read begins inside of the atomic's eight bytes, or ends there. */
static void a_read_of_some_bytes_of_an_atomic_sees_it(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *words = kit_buffer(&k, 4, 0);
    const uint32_t *out = kit_buffer(&k, 2, 2);
    const uint16_t base = param64(&k, 0), result = param64(&k, 2), sum = imm64(&k, 3ull << 32 | 2);
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    setp(&k, ISA_NE, 0, R(0), imm(&k, 0));
    emit(&k, ISA_OP_EXIT, D(NO), S(NO))->guard = G_P0;
    for (uint32_t i = 0; i < 2; i++) {
        struct isa_inst *red = emit(&k, ISA_OP_ATOM_64, D(NO), S(base, sum));
        red->mod = ISA_GLOBAL;
        red->mod2 = ISA_ATOM_ADD;
        red->type = ISA_U64;
        red->imm = 8;
        ld32(&k, R(2), base, ISA_GLOBAL)->imm = i ? 8 : 12;
        st32(&k, result, R(2), ISA_GLOBAL)->imm = 4 * (int64_t)i;
    }
    exit_(&k);
    struct stepped s = step_open(&k, 0);
    uint32_t deferred = 0;
    while (emu_warp_state(s.warp) == EMU_WARP_READY) {
        struct emu_access a;
        assert_true(emu_warp_step(s.warp, true, &a));
        deferred += a.deferred; /* what nobody applies, the end of the grid does */
    }
    assert_int_equal(deferred, 2);
    assert_int_equal(out[0], 3);
    assert_int_equal(out[1], 4);
    emu_grid_close(s.grid, NULL);
    assert_int_equal(words[2], 4);
    assert_int_equal(words[3], 6);
    kit_close(&k);
}

/* cp.async with a size of zero fills with zeros and reads nothing: such lanes make no access. */
static void lanes_of_a_copy_that_copy_nothing_read_nothing(void **state)
{
    struct kit k;
    kit_open(&k);
    kit_buffer(&k, 32, 0);
    k.proto.shared_bytes = 128;
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    emit(&k, ISA_OP_SHL_32, D(R(1)), S(R(0), imm(&k, 2)));
    emit(&k, ISA_OP_AND_32, D(R(2)), S(R(1), imm(&k, 4))); /* 4 bytes in odd lanes, none in even ones */
    index_word(&k, RD(4), param64(&k, 0), R(0), 4);
    struct isa_inst *copy = emit(&k, ISA_OP_CPASYNC, D(NO), S(R(1), RD(4), R(2)));
    copy->vec = 4;
    copy->flags = ISA_A32;
    exit_(&k);
    struct stepped s = step_open(&k, 0);
    uint32_t copies = 0;
    while (emu_warp_state(s.warp) == EMU_WARP_READY) {
        struct emu_access a;
        assert_true(emu_warp_step(s.warp, true, &a));
        if (a.inst->op != ISA_OP_CPASYNC) continue;
        copies++;
        assert_int_equal(a.mask, 0xaaaaaaaa);
    }
    assert_int_equal(copies, 1);
    emu_grid_close(s.grid, NULL);
    kit_close(&k);
}

static void dynamic_shared_memory_begins_at_its_offset(void **state)
{
    struct kit k;
    kit_open(&k);
    k.proto.shared_bytes = 20;
    k.proto.shared_dynamic_offset = 32; /* aligned */
    exit_(&k);
    struct stepped s = step_open(&k, 100);
    assert_int_equal(emu_grid_shared_bytes(s.grid), 132);
    emu_grid_close(s.grid, NULL);
    s = step_open(&k, 0);
    assert_int_equal(emu_grid_shared_bytes(s.grid), 20);
    emu_grid_close(s.grid, NULL);
    kit_close(&k);
}

/* ---- services ---- */

static void the_whole_heap_can_be_taken_again_after_a_free(void **state)
{
    struct kit k;
    kit_open(&k);
    const uint32_t *out = kit_buffer(&k, 3, 0);
    const uint16_t base = param64(&k, 0);
    for (uint32_t i = 0; i < 3; i++) { /* all of it, nothing more, all of it again */
        if (i == 2) emit(&k, ISA_OP_FREE, D(NO), S(RD(10)));
        emit(&k, ISA_OP_MALLOC, D(RD(i == 0 ? 10 : 12)), S(imm64(&k, i == 1 ? 1 : kit_limits()->heap_bytes)));
        emit(&k, ISA_OP_SETP_U64, D(P(0), NO), S(RD(i == 0 ? 10 : 12), imm64(&k, 0)))->mod = ISA_NE;
        emit(&k, ISA_OP_P2R, D(R(1)), S(P(0)));
        st32(&k, base, R(1), ISA_GLOBAL)->imm = 4 * (int64_t)i;
    }
    exit_(&k);
    kit_run(&k, 1, 1);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 0);
    assert_int_equal(out[2], 1);
    kit_close(&k);
}

static void printf_takes_the_low_bits_of_short_arguments(void **state)
{
    static const char format[] = "%hhd %hhu %hd %hu";
    static const int32_t args[] = {300, 511, 70000, 70000};
    struct kit k;
    kit_open(&k);
    const uint64_t text = space_alloc(emu_device_space(k.device), 256, 256, SPACE_MODULE, "text");
    memcpy((void *)(uintptr_t)text, format, sizeof format);
    memcpy((void *)(uintptr_t)(text + 128), args, sizeof args);
    emit(&k, ISA_OP_PRINTF, D(R(1)), S(imm64(&k, text), imm64(&k, text + 128)));
    exit_(&k);
    kit_run(&k, 1, 1);
    assert_string_equal(strbuf_text(&k.out), "44 255 4464 4464");
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_arrives_and_ends_counts_once),
        cmocka_unit_test(a_count_of_all_threads_is_no_count),
        cmocka_unit_test(lanes_meet_at_different_warp_barriers),
        cmocka_unit_test(a_read_of_some_bytes_of_an_atomic_sees_it),
        cmocka_unit_test(lanes_of_a_copy_that_copy_nothing_read_nothing),
        cmocka_unit_test(dynamic_shared_memory_begins_at_its_offset),
        cmocka_unit_test(the_whole_heap_can_be_taken_again_after_a_free),
        cmocka_unit_test(printf_takes_the_low_bits_of_short_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
