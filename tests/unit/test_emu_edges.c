/* The edges of what a program may do: barriers that threads leave, groups that meet at different places,
 * reads of the bytes of an atomic that is under way, lanes of a copy that copy nothing, the heap, printf. */
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

/* match.any.b64 compares all 64 bits: values that differ in the high word alone are different. */
static void wide_values_match_in_both_words(void **state)
{
    struct kit k;
    kit_open(&k);
    const uint32_t *out = kit_buffer(&k, 32, 0);
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    emit(&k, ISA_OP_MOV_32, D(R(2)), S(imm(&k, 9)));
    emit(&k, ISA_OP_AND_32, D(R(3)), S(R(0), imm(&k, 1)));
    emit(&k, ISA_OP_MATCH_ANY_64, D(R(4)), S(RD(2), imm(&k, UINT32_MAX)));
    store_at_tid(&k, param64(&k, 0), R(4));
    exit_(&k);
    kit_run(&k, 1, 32);
    for (uint32_t l = 0; l < 32; l++) assert_int_equal(out[l], l % 2 ? 0xaaaaaaaa : 0x55555555);
    kit_close(&k);
}

/* ---- steps ---- */

struct stepped {
    struct emu_grid *grid;
    struct warp *warp;
};

/* logs: NULL, or that of the one SM. */
static struct stepped step_open(struct kit *k, uint32_t dynamic_bytes, struct emu_log *const *logs)
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
    if (logs) emu_grid_share(s.grid, logs, 1);
    s.warp = emu_cta_warp(emu_cta_open(s.grid, 0, 0), 0);
    return s;
}

struct bytes_case {
    enum isa_op atomic, load;
    uint32_t atomic_offset, load_offset, result;
};

/* Lane 0 adds 2 (of 64 bits: and 3 to the high word), and reads while the atomic is under way. */
static void read_beside_atomic(const struct bytes_case *c, struct emu_log *const *logs)
{
    struct kit k;
    kit_open(&k);
    kit_buffer(&k, 4, 0);
    const uint32_t *out = kit_buffer(&k, 2, 2);
    const uint16_t base = param64(&k, 0);
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    setp(&k, ISA_NE, 0, R(0), imm(&k, 0));
    emit(&k, ISA_OP_EXIT, D(NO), S(NO))->guard = G_P0;
    struct isa_inst *red = emit(&k, c->atomic, D(NO), S(base, imm64(&k, 3ull << 32 | 2)));
    red->mod = ISA_GLOBAL;
    red->mod2 = ISA_ATOM_ADD;
    red->type = c->atomic == ISA_OP_ATOM_64 ? ISA_U64 : ISA_U32;
    red->imm = c->atomic_offset;
    struct isa_inst *load = emit(&k, c->load, D(RD(2)), S(base));
    load->mod = ISA_GLOBAL;
    load->imm = c->load_offset;
    st32(&k, param64(&k, 2), R(c->load == ISA_OP_LD_64 ? 3 : 2), ISA_GLOBAL);
    exit_(&k);
    struct stepped s = step_open(&k, 0, logs);
    uint32_t deferred = 0;
    while (emu_warp_state(s.warp) == EMU_WARP_READY) {
        struct emu_access a;
        assert_true(emu_warp_step(s.warp, true, &a));
        deferred += a.deferred; /* what nobody applies, the end of the grid does */
    }
    assert_int_equal(deferred, 1);
    if (logs) assert_true(emu_log_apply(logs[0]));
    assert_int_equal(out[0], c->result);
    emu_grid_close(s.grid, NULL);
    kit_close(&k);
}

/* The read begins inside of the atomic's bytes, is the same ones, or ends there; the SM's effects happen at
 * once, or at the end of the cycle. */
static void a_read_of_some_bytes_of_an_atomic_sees_it(void **state)
{
    static const struct bytes_case cases[] = {{ISA_OP_ATOM_64, ISA_OP_LD_32, 8, 12, 3},
                                              {ISA_OP_ATOM_64, ISA_OP_LD_32, 8, 8, 2},
                                              {ISA_OP_ATOM_32, ISA_OP_LD_64, 4, 0, 2}};
    struct event_flag written = {0};
    struct emu_log *log = emu_log_create(&written);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        read_beside_atomic(&cases[i], NULL);
        read_beside_atomic(&cases[i], &log);
    }
    emu_log_destroy(log);
}

/* Each lane writes a word, in order or not, and reads another lane's in the same cycle: the store is in the
 * SM's log and in no memory yet. */
static void read_beside_store(uint32_t permute, struct emu_log *const *logs)
{
    struct kit k;
    kit_open(&k);
    uint32_t *words = kit_buffer(&k, 32, 0);
    const uint32_t *out = kit_buffer(&k, 32, 2);
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    emit(&k, ISA_OP_XOR_32, D(R(1)), S(R(0), imm(&k, permute)));
    index_word(&k, RD(4), param64(&k, 0), R(1), 4);
    st32(&k, RD(4), R(0), ISA_GLOBAL);
    emit(&k, ISA_OP_XOR_32, D(R(1)), S(R(0), imm(&k, 31)));
    index_word(&k, RD(4), param64(&k, 0), R(1), 4);
    ld32(&k, R(2), RD(4), ISA_GLOBAL);
    store_at_tid(&k, param64(&k, 2), R(2));
    exit_(&k);
    memset(words, 0xff, 128);
    struct stepped s = step_open(&k, 0, logs);
    struct emu_access a;
    while (emu_warp_state(s.warp) == EMU_WARP_READY) assert_true(emu_warp_step(s.warp, true, &a));
    assert_int_equal(words[0], UINT32_MAX);
    assert_true(emu_log_apply(logs[0]));
    for (uint32_t l = 0; l < 32; l++) {
        assert_int_equal(words[l], l ^ permute);
        assert_int_equal(out[l], l ^ 31 ^ permute);
    }
    emu_grid_close(s.grid, NULL);
    kit_close(&k);
}

static void an_sm_sees_what_it_stored_in_the_same_cycle(void **state)
{
    struct event_flag written = {0};
    struct emu_log *log = emu_log_create(&written);
    read_beside_store(0, &log);
    read_beside_store(5, &log);
    emu_log_destroy(log);
}

/* The address of an access to a texture is that of its first texel. */
static void a_texture_access_has_the_address_of_its_texel(void **state)
{
    struct kit k;
    kit_open(&k);
    const uint32_t *data = kit_buffer(&k, 32, 0);
    const struct emu_texture t = {.address = (uint64_t)(uintptr_t)data,
                                  .width = 32,
                                  .channels = 1,
                                  .channel_bits = 32,
                                  .channel_kind = EMU_CHAN_UNSIGNED,
                                  .is_linear_memory = true};
    const uint64_t handle = emu_texture_create(k.device, &t);
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    emit(&k, ISA_OP_XOR_32, D(R(4)), S(R(0), imm(&k, 31)));
    struct isa_inst *tex =
        emit(&k, ISA_OP_TEX, D(R(8), R(9), R(10), R(11)), S(imm64(&k, handle), R(4), R(5), R(6)));
    tex->mod = 1;
    tex->type = ISA_S32;
    tex->mod2 = ISA_U32;
    exit_(&k);
    struct stepped s = step_open(&k, 0, NULL);
    uint32_t fetches = 0;
    while (emu_warp_state(s.warp) == EMU_WARP_READY) {
        struct emu_access a;
        assert_true(emu_warp_step(s.warp, true, &a));
        if (!a.is_texture) continue;
        fetches++;
        for (uint32_t l = 0; l < 32; l++) assert_int_equal(a.addr[l], t.address + 4 * (31 - l));
    }
    assert_int_equal(fetches, 1);
    emu_grid_close(s.grid, NULL);
    assert_true(emu_texture_destroy(k.device, handle));
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
    struct stepped s = step_open(&k, 0, NULL);
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
    struct stepped s = step_open(&k, 100, NULL);
    assert_int_equal(emu_grid_shared_bytes(s.grid), 132);
    emu_grid_close(s.grid, NULL);
    s = step_open(&k, 0, NULL);
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
        cmocka_unit_test(wide_values_match_in_both_words),
        cmocka_unit_test(a_read_of_some_bytes_of_an_atomic_sees_it),
        cmocka_unit_test(an_sm_sees_what_it_stored_in_the_same_cycle),
        cmocka_unit_test(a_texture_access_has_the_address_of_its_texel),
        cmocka_unit_test(lanes_of_a_copy_that_copy_nothing_read_nothing),
        cmocka_unit_test(dynamic_shared_memory_begins_at_its_offset),
        cmocka_unit_test(the_whole_heap_can_be_taken_again_after_a_free),
        cmocka_unit_test(printf_takes_the_low_bits_of_short_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
