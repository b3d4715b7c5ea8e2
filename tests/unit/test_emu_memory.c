/* Loads, stores, atomics, and what happens to bad addresses. */
#include "emu_kit.h"

#include "base/rng.h"
#include "emu/atomic.h"

enum { G_P0 = 0 };

static void tid_pair(struct kit *k, uint16_t pair, uint16_t base, uint32_t bytes)
{
    s2r(k, R(30), ISA_SREG_TID, 0);
    index_word(k, pair, base, R(30), bytes);
}

/* Each lane copies by an address of its own out of a table, for all widths, with full and with partial masks.
 */
struct width {
    enum isa_op load, store;
    uint32_t bytes;
};
static const struct width widths[] = {{ISA_OP_LD_U8, ISA_OP_ST_8, 1},   {ISA_OP_LD_S8, ISA_OP_ST_8, 1},
                                      {ISA_OP_LD_U16, ISA_OP_ST_16, 2}, {ISA_OP_LD_S16, ISA_OP_ST_16, 2},
                                      {ISA_OP_LD_32, ISA_OP_ST_32, 4},  {ISA_OP_LD_64, ISA_OP_ST_64, 8}};

static void copy_case(const struct width *w, uint32_t vec, uint32_t pattern, bool partial)
{
    struct kit k;
    kit_open(&k);
    uint32_t *table = kit_buffer(&k, 1024, 0), *out = kit_buffer(&k, 1024, 2), *where = kit_buffer(&k, 32, 4);
    uint32_t unit = w->bytes * vec;
    struct rng r = {pattern * 77 + unit};
    for (uint32_t i = 0; i < 1024; i++) table[i] = rng_u32(&r), out[i] = 0xeeeeeeee;
    for (uint32_t l = 0; l < 32; l++)
        where[l] = unit * (pattern == 0   ? l
                           : pattern == 1 ? 5
                           : pattern == 2 ? 31 - l
                                          : (uint32_t)rng_below(&r, 4096 / unit));
    tid_pair(&k, RD(26), param64(&k, 4), 4);
    ld32(&k, R(1), RD(26), ISA_GLOBAL);
    index_word(&k, RD(2), param64(&k, 0), R(1), 1);
    tid_pair(&k, RD(4), param64(&k, 2), unit);
    emit(&k, ISA_OP_AND_32, D(R(25)), S(R(30), imm(&k, 3)));
    emit(&k, ISA_OP_SETP_U32, D(P(0), NO), S(R(25), imm(&k, partial ? 2 : 9)))->mod = ISA_NE;
    uint32_t step = w->bytes == 8 ? 2 : 1;
    struct isa_inst *ld = emit(&k, w->load, D(R(8), R(8 + step), R(8 + 2 * step), R(8 + 3 * step)), S(RD(2)));
    ld->vec = (uint8_t)vec;
    ld->mod = ISA_GLOBAL;
    ld->guard = G_P0;
    struct isa_inst *st =
        emit(&k, w->store, D(NO), S(RD(4), R(8), R(8 + step), R(8 + 2 * step), R(8 + 3 * step)));
    st->vec = (uint8_t)vec;
    st->mod = ISA_GLOBAL;
    st->guard = G_P0;
    exit_(&k);
    kit_run(&k, 1, 32);
    for (uint32_t l = 0; l < 32; l++) {
        uint8_t expect[32];
        memset(expect, 0xee, sizeof expect);
        if (!partial || l % 4 != 2) memcpy(expect, (uint8_t *)table + where[l], unit);
        assert_memory_equal((uint8_t *)out + l * unit, expect, unit);
    }
    kit_close(&k);
}

static void test_copies(void **state)
{
    for (uint32_t w = 0; w < ARRAY_LEN(widths); w++)
        for (uint32_t vec = 1; vec <= (widths[w].bytes == 8 ? 2u : 4u); vec *= 2)
            for (uint32_t pattern = 0; pattern < 4; pattern++)
                for (uint32_t partial = 0; partial < 2; partial++)
                    copy_case(&widths[w], vec, pattern, partial);
}

static void test_sign_extension(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 5, 0);
    out[0] = 0xfedcba98;
    static const enum isa_op ops[] = {ISA_OP_LD_U8, ISA_OP_LD_S8, ISA_OP_LD_U16, ISA_OP_LD_S16};
    uint16_t base = param64(&k, 0);
    for (uint32_t n = 0; n < 4; n++) {
        emit(&k, ops[n], D(R(n)), S(base))->mod = ISA_GENERIC;
        st32(&k, base, R(n), ISA_GLOBAL)->imm = 4 + 4 * n;
    }
    exit_(&k);
    kit_run(&k, 1, 1);
    assert_int_equal(out[1], 0x98);
    assert_int_equal(out[2], 0xffffff98);
    assert_int_equal(out[3], 0xba98);
    assert_int_equal(out[4], 0xffffba98);
    kit_close(&k);
}

/* One generic load of which some lanes go to shared, some to local and some to global memory. */
static void test_mixed_generic_addresses(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *buf = kit_buffer(&k, 64, 0);
    k.proto.shared_bytes = 128;
    k.proto.frame_bytes = 16;
    for (uint32_t l = 0; l < 32; l++) buf[l] = 1000 + l;
    tid_pair(&k, RD(2), param64(&k, 0), 4);
    emit(&k, ISA_OP_MUL_LO_32, D(R(4)), S(R(30), imm(&k, 4)));
    emit(&k, ISA_OP_ADD_32, D(R(5)), S(R(30), imm(&k, 2000)));
    emit(&k, ISA_OP_ADD_32, D(R(6)), S(R(30), imm(&k, 3000)));
    st32(&k, R(4), R(5), ISA_SHARED)->flags = ISA_A32;
    struct isa_inst *st = st32(&k, imm(&k, 8), R(6), ISA_LOCAL);
    st->flags = ISA_A32;
    emit(&k, ISA_OP_MOV_64, D(RD(8)), S(RD(2)));
    emit(&k, ISA_OP_REM_U32, D(R(7)), S(R(30), imm(&k, 3)));
    setp(&k, ISA_EQ, 0, R(7), imm(&k, 1));
    setp(&k, ISA_EQ, 1, R(7), imm(&k, 2));
    emit(&k, ISA_OP_MOV_32, D(R(8)), S(R(4)))->guard = 0;
    emit(&k, ISA_OP_MOV_32, D(R(9)), S(imm(&k, (uint32_t)(ISA_SHARED_WINDOW >> 32))))->guard = 0;
    emit(&k, ISA_OP_MOV_64, D(RD(8)), S(imm64(&k, ISA_LOCAL_WINDOW + 8)))->guard = 1;
    ld32(&k, R(10), RD(8), ISA_GENERIC);
    for (uint32_t s = 0; s < 3; s++) { /* isspacep */
        static const uint8_t spaces[] = {ISA_GLOBAL, ISA_SHARED, ISA_LOCAL};
        emit(&k, ISA_OP_ISSPACEP, D(P(2)), S(RD(8)))->mod = spaces[s];
        emit(&k, ISA_OP_P2R, D(R(11)), S(P(2)));
        emit(&k, ISA_OP_MAD_LO_32, D(R(10)), S(R(11), imm(&k, 10000 * (s + 1)), R(10)));
    }
    st32(&k, RD(2), R(10), ISA_GLOBAL)->imm = 128;
    exit_(&k);
    kit_run(&k, 1, 32);
    for (uint32_t l = 0; l < 32; l++)
        assert_int_equal(buf[32 + l], 1000 * (l % 3 + 1) + 10000 * (l % 3 + 1) + l);
    kit_close(&k);
}

static void test_parameters(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 4, 0);
    k.params[10] = 4242;
    uint16_t base = param64(&k, 0);
    st32(&k, base, param(&k, 10), ISA_GLOBAL);
    ld32(&k, R(1), imm64(&k, 40), ISA_PARAM); /* by offset */
    st32(&k, base, R(1), ISA_GLOBAL)->imm = 4;
    uint16_t lo = env(&k, ISA_ENV_PARAM_BASE_LO);
    env(&k, ISA_ENV_PARAM_BASE_HI);
    ld32(&k, R(1), lo, ISA_GENERIC)->imm = 40; /* by address */
    st32(&k, base, R(1), ISA_GLOBAL)->imm = 8;
    ld32(&k, R(1), lo, ISA_PARAM)->imm = 40;
    st32(&k, base, R(1), ISA_GLOBAL)->imm = 12;
    exit_(&k);
    kit_run(&k, 1, 1);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(out[i], 4242);
    kit_close(&k);
}

static void test_cp_async(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *in = kit_buffer(&k, 128, 0), *out = kit_buffer(&k, 128, 2);
    k.proto.shared_bytes = 512;
    for (uint32_t i = 0; i < 128; i++) in[i] = i + 1;
    tid_pair(&k, RD(2), param64(&k, 0), 16);
    emit(&k, ISA_OP_SHL_32, D(R(4)), S(R(30), imm(&k, 4)));
    emit(&k, ISA_OP_AND_32, D(R(5)), S(R(30), imm(&k, 15))); /* bytes to copy: 0 to 15 */
    struct isa_inst *cp = emit(&k, ISA_OP_CPASYNC, D(NO), S(R(4), RD(2), R(5)));
    cp->vec = 16;
    cp->flags = ISA_A32;
    emit(&k, ISA_OP_CPASYNC_COMMIT, D(NO), S(NO));
    emit(&k, ISA_OP_CPASYNC_WAIT, D(NO), S(NO))->imm = -1;
    struct isa_inst *ld = emit(&k, ISA_OP_LD_32, D(R(8), R(9), R(10), R(11)), S(R(4)));
    ld->mod = ISA_SHARED;
    ld->flags = ISA_A32;
    ld->vec = 4;
    tid_pair(&k, RD(6), param64(&k, 2), 16);
    struct isa_inst *st = emit(&k, ISA_OP_ST_32, D(NO), S(RD(6), R(8), R(9), R(10), R(11)));
    st->mod = ISA_GLOBAL;
    st->vec = 4;
    exit_(&k);
    kit_run(&k, 1, 32);
    for (uint32_t l = 0; l < 32; l++) {
        uint8_t expect[16] = {0};
        memcpy(expect, in + 4 * l, l & 15);
        assert_memory_equal(out + 4 * l, expect, 16);
    }
    kit_close(&k);
}

/* ---- faults ---- */
static void expect_fault(struct kit *k, uint32_t block, enum emu_fault_kind kind, const char *const *texts)
{
    assert_int_equal(kit_launch(k, 1, block, false), kind);
    for (; *texts; texts++)
        if (!strstr(k->fault.message, *texts)) fail_msg("no '%s' in:\n%s", *texts, k->fault.message);
}
#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_out_of_bounds(void **state)
{
    struct kit k;
    kit_open(&k);
    kit_buffer(&k, 20, 0);
    tid_pair(&k, RD(2), param64(&k, 0), 4);
    st32(&k, RD(2), R(30), ISA_GLOBAL);
    exit_(&k);
    expect_fault(&k, 64, EMU_OUT_OF_BOUNDS,
                 TEXTS("heddle: kernel 'k': out-of-bounds 4-byte store to global memory at 0x7e90",
                       "  at t.ptx:103, CTA (0,0,0), thread (20,0,0)\n",
                       "  0 bytes past the end of cudaMalloc #1 (0x7e90", ", 80 bytes)"));
    assert_int_equal(k.fault.address, ((uint64_t)k.params[1] << 32 | k.params[0]) + 80);
    assert_int_equal(k.fault.thread[0], 20);
    kit_close(&k);
}

static void test_cuda_line(void **state)
{
    struct kit k;
    kit_open(&k);
    ld32(&k, R(1), imm64(&k, 16), ISA_GLOBAL);
    exit_(&k);
    k.locs.data[1] = (struct isa_loc){.ptx_line = 88, .cuda_line = 12, .cuda_file = "t.cu"};
    expect_fault(&k, 1, EMU_OUT_OF_BOUNDS,
                 TEXTS("out-of-bounds 4-byte load from global memory at 0x10",
                       "  at t.cu:12 (t.ptx:88), CTA (0,0,0), thread (0,0,0)", "  a null pointer"));
    kit_close(&k);
}

static void test_misaligned(void **state)
{
    struct kit k;
    kit_open(&k);
    kit_buffer(&k, 64, 0);
    struct isa_inst *ld = emit(&k, ISA_OP_LD_32, D(R(4), R(5), R(6), R(7)), S(param64(&k, 0)));
    ld->vec = 4;
    ld->mod = ISA_GLOBAL;
    ld->imm = 8;
    exit_(&k);
    expect_fault(&k, 32, EMU_MISALIGNED, TEXTS("misaligned 16-byte load from global memory at 0x7e90"));
    kit_close(&k);
}

static void test_use_after_free(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *buf = kit_buffer(&k, 64, 0);
    space_free(emu_device_space(k.device), (uint64_t)(uintptr_t)buf);
    ld32(&k, R(1), param64(&k, 0), ISA_GLOBAL);
    exit_(&k);
    expect_fault(&k, 32, EMU_FREED,
                 TEXTS("use-after-free 4-byte load from global memory", "in freed allocation cudaMalloc #1"));
    kit_close(&k);
}

static void test_shared_and_local_bounds(void **state)
{
    for (uint32_t n = 0; n < 2; n++) {
        struct kit k;
        kit_open(&k);
        k.proto.shared_bytes = 100;
        k.proto.frame_bytes = 48;
        s2r(&k, R(30), ISA_SREG_TID, 0);
        emit(&k, ISA_OP_SHL_32, D(R(1)), S(R(30), imm(&k, 2)));
        st32(&k, R(1), R(30), n ? ISA_LOCAL : ISA_SHARED)->flags = ISA_A32;
        exit_(&k);
        if (n)
            expect_fault(&k, 32, EMU_OUT_OF_BOUNDS,
                         TEXTS("store to local memory at 0x30", "thread (12,0,0)",
                               "the thread has 48 bytes of local memory"));
        else
            expect_fault(&k, 32, EMU_OUT_OF_BOUNDS,
                         TEXTS("store to shared memory at 0x64", "thread (25,0,0)",
                               "the CTA has 100 bytes of shared memory"));
        kit_close(&k);
    }
}

static void test_read_only(void **state)
{
    struct kit k;
    kit_open(&k);
    uint64_t at = space_alloc(emu_device_space(k.device), 64, 256, SPACE_CONST, "table");
    ld32(&k, R(1), imm64(&k, at), ISA_CONST);
    st32(&k, imm64(&k, at), R(1), ISA_GENERIC);
    exit_(&k);
    expect_fault(&k, 32, EMU_READ_ONLY,
                 TEXTS("forbidden 4-byte store to global memory", "in table (0x7e90", "which is read-only"));
    kit_close(&k);
}

static void test_refused_launches(void **state)
{
    struct kit k;
    kit_open(&k);
    exit_(&k);
    const struct isa_kernel *kernel = kit_load(&k);
    struct emu_launch good = {.module = k.module,
                              .kernel = kernel,
                              .grid = {1, 1, 1},
                              .block = {32, 1, 1},
                              .params = k.params},
                      l;
    struct emu_fault *f = &k.fault;
#define REFUSED(text)                                                                                        \
    assert_int_equal(emu_check_launch(k.device, &l, f), EMU_BAD_LAUNCH);                                     \
    if (!strstr(f->message, text)) fail_msg("no '%s' in %s", text, f->message);                              \
    l = good
    assert_int_equal(emu_check_launch(k.device, &good, f), EMU_OK);
    l = good;
    l.grid[1] = 65536;
    REFUSED("grid.y = 65536, must be from 1 to 65535");
    l.block[2] = 0;
    REFUSED("block.z = 0, must be from 1 to 64");
    l.block[0] = 1024, l.block[1] = 2;
    REFUSED("2048 threads per block, the device allows 1024");
    l.shared_dynamic_bytes = 100000;
    REFUSED("100000 bytes of shared memory per block (0 static, 100000 dynamic), the device allows 98304");
    l.params = NULL;
    REFUSED("parameters are missing");
    kit_close(&k);
    kit_open(&k);
    exit_(&k);
    k.proto.reg_count = 100;
    k.proto.maxntid[0] = 640;
    kernel = kit_load(&k);
    good.module = k.module, good.kernel = kernel;
    l = good;
    l.block[0] = 640;
    REFUSED("66560 registers per block (100 per thread, 640 threads), the device allows 65536");
    l.block[0] = 641;
    REFUSED("641 threads per block, but the kernel was compiled for at most 640 (.maxntid)");
    kit_close(&k);
}

/* ---- atomics ---- */
static uint64_t atom(enum isa_atom op, enum isa_type t, uint32_t bits, uint64_t old, uint64_t a)
{
    return atomic_compute(op, t, bits, false, old, a, 0);
}

static void test_atomic_arithmetic(void **state)
{
    assert_int_equal(atom(ISA_ATOM_ADD, ISA_U32, 32, UINT32_MAX, 2), 1);
    assert_int_equal(atom(ISA_ATOM_ADD, ISA_U64, 64, UINT64_MAX, 2), 1);
    assert_int_equal(atom(ISA_ATOM_INC, ISA_U32, 32, 6, 7), 7);
    assert_int_equal(atom(ISA_ATOM_INC, ISA_U32, 32, 7, 7), 0);
    assert_int_equal(atom(ISA_ATOM_INC, ISA_U32, 32, 9, 7), 0);
    assert_int_equal(atom(ISA_ATOM_DEC, ISA_U32, 32, 0, 7), 7);
    assert_int_equal(atom(ISA_ATOM_DEC, ISA_U32, 32, 9, 7), 7);
    assert_int_equal(atom(ISA_ATOM_DEC, ISA_U32, 32, 7, 7), 6);
    assert_int_equal(atom(ISA_ATOM_MIN, ISA_S32, 32, 0xffffffff, 1), 0xffffffff);
    assert_int_equal(atom(ISA_ATOM_MIN, ISA_U32, 32, 0xffffffff, 1), 1);
    assert_int_equal(atom(ISA_ATOM_MAX, ISA_S64, 64, (uint64_t)-5, 3), 3);
    assert_int_equal(atom(ISA_ATOM_MAX, ISA_U64, 64, (uint64_t)-5, 3), (uint64_t)-5);
    assert_int_equal(atomic_compute(ISA_ATOM_CAS, ISA_U32, 32, false, 5, 5, 9), 9);
    assert_int_equal(atomic_compute(ISA_ATOM_CAS, ISA_U32, 32, false, 6, 5, 9), 6);
    assert_int_equal(atom(ISA_ATOM_EXCH, ISA_U32, 32, 6, 5), 5);
    assert_int_equal(atom(ISA_ATOM_ADD, ISA_F32, 32, 0x3f800000, 0x3f800000), 0x40000000);
    assert_int_equal(atom(ISA_ATOM_ADD, ISA_F32, 32, 1, 1), 2); /* subnormals: kept in shared memory, */
    assert_int_equal(atomic_compute(ISA_ATOM_ADD, ISA_F32, 32, true, 0x80000001, 0x80000001, 0),
                     0x80000000); /* not in global */
    assert_int_equal(atom(ISA_ATOM_ADD, ISA_F32, 32, 0x7f800000, 0xff800000), 0x7fffffff);
    assert_int_equal(atom(ISA_ATOM_ADD, ISA_F64, 64, 0x3ff0000000000000, 0x3ff0000000000000),
                     0x4000000000000000);
    assert_int_equal(atom(ISA_ATOM_ADD, ISA_F16, 16, 0x3c00, 0x3c00), 0x4000);
    assert_int_equal(atom(ISA_ATOM_ADD, ISA_F16, 16, 0x0001, 0x0001), 0x0002);
    assert_int_equal(atom(ISA_ATOM_ADD, ISA_F16, 16, 0x7bff, 0x7bff), 0x7c00);
    assert_int_equal(atom(ISA_ATOM_ADD, ISA_F16, 16, 0x3c00, 0x0c00),
                     0x3c00); /* 1 + 2^-12: a quarter of a unit */
    assert_int_equal(atom(ISA_ATOM_ADD, ISA_F16, 16, 0x3c01, 0x1000), 0x3c02); /* half a unit, to even */
    assert_int_equal(atom(ISA_ATOM_ADD, ISA_F16X2, 32, 0x3c004000, 0x3c003c00), 0x40004200);
    assert_int_equal(atom(ISA_ATOM_ADD, ISA_BF16, 16, 0x3f80, 0x3f80), 0x4000);
    assert_int_equal(atom(ISA_ATOM_ADD, ISA_BF16X2, 32, 0x3f804000, 0x3f803f80), 0x40004040);
    assert_int_equal(atom(ISA_ATOM_MAX, ISA_F16, 16, 0x8000, 0x0000), 0x0000);
    assert_int_equal(atom(ISA_ATOM_MIN, ISA_F16, 16, 0x7fff, 0x3c00), 0x3c00);
    assert_false(atomic_known(ISA_ATOM_AND, ISA_F32, 32));
    assert_true(atomic_known(ISA_ATOM_ADD, ISA_F16X2, 32));
}

/* All lanes add to one word, in order: each gets what was there before it. */
static void test_atomic_order(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *word = kit_buffer(&k, 2, 0), *out = kit_buffer(&k, 64, 2);
    uint16_t base = param64(&k, 0);
    tid_pair(&k, RD(2), param64(&k, 2), 4);
    struct isa_inst *a = emit(&k, ISA_OP_ATOM_32, D(R(1)), S(base, R(30)));
    a->mod = ISA_GLOBAL;
    a->mod2 = ISA_ATOM_ADD;
    a->type = ISA_U32;
    st32(&k, RD(2), R(1), ISA_GLOBAL);
    struct isa_inst *red = emit(&k, ISA_OP_ATOM_32, D(NO), S(base, imm(&k, 1)));
    red->mod = ISA_GENERIC;
    red->mod2 = ISA_ATOM_ADD;
    red->type = ISA_U32;
    red->imm = 4;
    exit_(&k);
    kit_run(&k, 1, 64);
    assert_int_equal(word[0], 63 * 64 / 2);
    assert_int_equal(word[1], 64);
    for (uint32_t t = 0; t < 64; t++) assert_int_equal(out[t], t * (t - 1) / 2);
    assert_int_equal(k.stats.atomics, 4);
    kit_close(&k);
}

static void test_atomic_128(void **state)
{
    struct kit k;
    kit_open(&k);
    uint64_t *word = (uint64_t *)kit_buffer(&k, 8, 0);
    word[0] = 1, word[1] = 2;
    uint16_t base = param64(&k, 0);
    struct isa_inst *cas = emit(&k, ISA_OP_ATOM_128, D(RD(2), RD(4)),
                                S(base, imm64(&k, 1), imm64(&k, 2), imm64(&k, 10), imm64(&k, 20)));
    cas->mod = ISA_GLOBAL;
    cas->mod2 = ISA_ATOM_CAS;
    cas->type = ISA_B128;
    struct isa_inst *st = emit(&k, ISA_OP_ST_64, D(NO), S(base, RD(2), RD(4)));
    st->mod = ISA_GLOBAL;
    st->vec = 2;
    st->imm = 16;
    exit_(&k);
    kit_run(&k, 1, 1);
    assert_int_equal(word[0], 10);
    assert_int_equal(word[1], 20);
    assert_int_equal(word[2], 1);
    assert_int_equal(word[3], 2);
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_sign_extension),
        cmocka_unit_test(test_mixed_generic_addresses),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_cp_async),
        cmocka_unit_test(test_out_of_bounds),
        cmocka_unit_test(test_cuda_line),
        cmocka_unit_test(test_misaligned),
        cmocka_unit_test(test_use_after_free),
        cmocka_unit_test(test_shared_and_local_bounds),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_refused_launches),
        cmocka_unit_test(test_atomic_arithmetic),
        cmocka_unit_test(test_atomic_order),
        cmocka_unit_test(test_atomic_128),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
