/* printf, assert, malloc and free of the device, and textures. */
#include "emu_kit.h"

#include <math.h>

static uint64_t put_bytes(struct kit *k, const void *data, uint64_t bytes)
{
    uint64_t at = space_alloc(emu_device_space(k->device), bytes, 256, SPACE_MODULE, "text");
    memcpy((void *)(uintptr_t)at, data, bytes);
    return at;
}
static uint64_t put_text(struct kit *k, const char *text) { return put_bytes(k, text, strlen(text) + 1); }

/* ---- printf ---- */
static void print(struct kit *k, const char *format, const void *args, uint64_t bytes, uint32_t threads)
{
    uint32_t *out = kit_buffer(k, 1, 20);
    emit(k, ISA_OP_PRINTF, D(R(1)), S(imm64(k, put_text(k, format)), imm64(k, put_bytes(k, args, bytes))));
    st32(k, param64(k, 20), R(1), ISA_GLOBAL);
    exit_(k);
    kit_run(k, 1, threads);
    k->params[22] = *out;
}

static void test_printf_formats(void **state)
{
    struct kit k;
    kit_open(&k);
    struct {
        int32_t i;
        uint32_t u;
        int64_t l;
        double d;
        uint64_t s;
        int32_t width;
        int32_t w;
        int32_t c;
        uint32_t x;
        uint64_t p;
    } args = {-5, 4000000000u, -1234567890123, 3.25,          put_text(&k, "word"), 6,
              42, 'Q',         0xbeef,         0x7e9000000000};
    print(&k, "%d|%u|%lld|%.2f|%-6s|%*d|%c|%#x|%p|100%%|%q", &args, sizeof args, 1);
    assert_string_equal(strbuf_text(&k.out),
                        "-5|4000000000|-1234567890123|3.25|word  |    42|Q|0xbeef|0x7e9000000000|100%|%q");
    assert_int_equal(k.params[22], 10);
    kit_close(&k);
}

/* What an H200 prints for the same calls. */
static void test_printf_as_on_silicon(void **state)
{
    struct kit k;
    kit_open(&k);
    struct {
        int32_t width, value;
    } a = {6, 12};
    print(&k, "%*d|%.*f\n", &a, sizeof a, 1);
    assert_string_equal(strbuf_text(&k.out), "    12|%.*f\n");
    assert_int_equal(k.params[22], 2);
    kit_close(&k);
    kit_open(&k);
    int32_t b[] = {70000, 7, 8, 9};
    print(&k, "%hd|%-5d|%05d|%+d|%q %5\n", b, sizeof b, 1);
    assert_string_equal(strbuf_text(&k.out), "4464|7    |00008|+9|%q %5\n");
    kit_close(&k);
}

static void test_printf_by_lane(void **state)
{
    struct kit k;
    kit_open(&k);
    k.proto.frame_bytes = 16;
    s2r(&k, R(0), ISA_SREG_TID, 0);
    st32(&k, imm(&k, 8), R(0), ISA_LOCAL)->flags =
        ISA_A32; /* the arguments lie in local memory, as nvcc has them */
    emit(&k, ISA_OP_PRINTF, D(R(1)), S(imm64(&k, put_text(&k, "t%d\n")), imm64(&k, ISA_LOCAL_WINDOW + 8)));
    exit_(&k);
    kit_run(&k, 2, 3);
    assert_string_equal(strbuf_text(&k.out), "t0\nt1\nt2\nt0\nt1\nt2\n");
    kit_close(&k);
}

static void test_printf_bad_pointers(void **state)
{
    struct kit k;
    kit_open(&k);
    emit(&k, ISA_OP_PRINTF, D(R(1)), S(imm64(&k, 0x1234567), imm64(&k, 0)));
    exit_(&k);
    assert_int_equal(kit_launch(&k, 1, 1, false), EMU_OUT_OF_BOUNDS);
    assert_non_null(
        strstr(k.fault.message, "printf with a format string that is not in memory, at 0x1234567"));
    kit_close(&k);
    kit_open(&k);
    emit(&k, ISA_OP_PRINTF, D(R(1)), S(imm64(&k, put_text(&k, "%d")), imm64(&k, 0)));
    exit_(&k);
    assert_int_equal(kit_launch(&k, 1, 1, false), EMU_OUT_OF_BOUNDS);
    kit_close(&k);
}

static void test_assert(void **state)
{
    struct kit k;
    kit_open(&k);
    uint16_t message = imm64(&k, put_text(&k, "x > 0")), file = imm64(&k, put_text(&k, "a.cu")),
             func = imm64(&k, put_text(&k, "void k()"));
    s2r(&k, R(0), ISA_SREG_TID, 0);
    setp(&k, ISA_GE, 0, R(0), imm(&k, 2));
    emit(&k, ISA_OP_ASSERTFAIL, D(NO), S(message, file, imm(&k, 17), func, imm64(&k, 1)))->guard = 0;
    exit_(&k);
    assert_int_equal(kit_launch(&k, 1, 4, false), EMU_ASSERT);
    assert_string_equal(strbuf_text(&k.err),
                        "a.cu:17: void k(): block: [0,0,0], thread: [2,0,0] Assertion `x > 0` failed.\n"
                        "a.cu:17: void k(): block: [0,0,0], thread: [3,0,0] Assertion `x > 0` failed.\n");
    assert_int_equal(k.fault.thread[0], 2);
    kit_close(&k);
}

/* ---- malloc and free ---- */
static void test_device_malloc(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 128, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    emit(&k, ISA_OP_MALLOC, D(RD(2)), S(imm64(&k, 4096)));
    index_word(&k, RD(4), param64(&k, 0), R(0), 8);
    struct isa_inst *st = emit(&k, ISA_OP_ST_64, D(NO), S(RD(4), RD(2)));
    st->mod = ISA_GLOBAL;
    setp(&k, ISA_LT, 0, R(0), imm(&k, 16));
    st32(&k, RD(2), R(0), ISA_GENERIC)->guard = 0;
    emit(&k, ISA_OP_FREE, D(NO), S(RD(2)));
    emit(&k, ISA_OP_MALLOC, D(RD(2)), S(imm64(&k, 1 << 17))); /* more than the heap has */
    struct isa_inst *again = emit(&k, ISA_OP_ST_64, D(NO), S(RD(4), RD(2)));
    again->mod = ISA_GLOBAL;
    again->imm = 256;
    exit_(&k);
    kit_run(&k, 1, 32);
    uint64_t *p = (uint64_t *)out;
    for (uint32_t t = 0; t < 32; t++) assert_int_equal(p[t] != 0, t < 16); /* 64 KB hold sixteen of them */
    for (uint32_t t = 0; t < 32; t++) assert_int_equal(p[32 + t], 0);
    kit_close(&k);
}

static void test_bad_free(void **state)
{
    struct kit k;
    kit_open(&k);
    emit(&k, ISA_OP_MALLOC, D(RD(2)), S(imm64(&k, 64)));
    emit(&k, ISA_OP_FREE, D(NO), S(RD(2)));
    emit(&k, ISA_OP_FREE, D(NO), S(RD(2)));
    exit_(&k);
    assert_int_equal(kit_launch(&k, 1, 1, false), EMU_FREED);
    assert_non_null(strstr(k.fault.message, "which is freed already"));
    assert_non_null(strstr(k.fault.message, "device malloc #1"));
    kit_close(&k);
    kit_open(&k);
    kit_buffer(&k, 4, 0);
    emit(&k, ISA_OP_FREE, D(NO), S(param64(&k, 0)));
    exit_(&k);
    assert_int_equal(kit_launch(&k, 1, 1, false), EMU_OUT_OF_BOUNDS);
    assert_non_null(strstr(k.fault.message, "no pointer that malloc on the device gave"));
    kit_close(&k);
}

static void test_use_after_device_free(void **state)
{
    struct kit k;
    kit_open(&k);
    emit(&k, ISA_OP_MALLOC, D(RD(2)), S(imm64(&k, 64)));
    uint32_t loop = here(&k);
    st32(&k, RD(2), R(0), ISA_GLOBAL); /* good the first time, bad the second */
    emit(&k, ISA_OP_FREE, D(NO), S(RD(2)));
    bra(&k, ISA_PT, loop, ISA_NO_RECONV);
    assert_int_equal(kit_launch(&k, 1, 1, false), EMU_FREED);
    assert_int_equal(k.fault.pc, loop);
    kit_close(&k);
}

/* ---- textures ---- */

/* Fetches at the coordinates of each lane (x, y, z rows of 32 in the input) and writes four channels. */
static void fetch(struct kit *k, const struct emu_texture *t, uint32_t dims, enum isa_type coords,
                  enum isa_type result, const void *x, uint32_t lanes, uint32_t out[4][32])
{
    uint64_t handle = emu_texture_create(k->device, t);
    uint32_t *in = kit_buffer(k, 96, 10), *res = kit_buffer(k, 128, 12);
    memcpy(in, x, dims * 128);
    k->insts.len = 0;
    s2r(k, R(0), ISA_SREG_TID, 0);
    index_word(k, RD(2), param64(k, 10), R(0), 4);
    for (uint32_t d = 0; d < dims; d++) ld32(k, R(4 + d), RD(2), ISA_GLOBAL)->imm = 128 * d;
    struct isa_inst *tex =
        emit(k, ISA_OP_TEX, D(R(8), R(9), R(10), R(11)), S(imm64(k, handle), R(4), R(5), R(6)));
    tex->mod = (uint8_t)dims;
    tex->type = (uint8_t)coords;
    tex->mod2 = (uint8_t)result;
    index_word(k, RD(2), param64(k, 12), R(0), 4);
    for (uint32_t c = 0; c < 4; c++) st32(k, RD(2), R(8 + c), ISA_GLOBAL)->imm = 128 * c;
    exit_(k);
    kit_load(k);
    kit_run(k, 1, lanes);
    memcpy(out, res, 512);
    assert_true(emu_texture_destroy(k->device, handle));
    assert_false(emu_texture_destroy(k->device, handle));
}

static float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static void test_texture_linear_memory(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *data = kit_buffer(&k, 8, 0), out[4][32];
    for (uint32_t i = 0; i < 8; i++) data[i] = 100 + i;
    struct emu_texture t = {.address = (uint64_t)(uintptr_t)data,
                            .width = 8,
                            .channels = 1,
                            .channel_bits = 32,
                            .channel_kind = EMU_CHAN_UNSIGNED,
                            .is_linear_memory = true};
    int32_t x[96] = {0, 7, 8, -1, 3};
    fetch(&k, &t, 1, ISA_S32, ISA_U32, x, 5, out);
    assert_int_equal(out[0][0], 100);
    assert_int_equal(out[0][1], 107);
    assert_int_equal(out[0][2], 0);
    assert_int_equal(out[0][3], 0);
    assert_int_equal(out[0][4], 103);
    kit_close(&k);
}

static void test_texture_2d(void **state)
{
    struct kit k;
    kit_open(&k);
    float *data = (float *)kit_buffer(&k, 64, 0); /* 4 x 2, rows 32 bytes apart */
    uint32_t out[4][32];
    for (uint32_t y = 0; y < 2; y++)
        for (uint32_t x = 0; x < 4; x++) data[y * 8 + x] = (float)(x + 10 * y);
    struct emu_texture t = {.address = (uint64_t)(uintptr_t)data,
                            .width = 4,
                            .height = 2,
                            .pitch_bytes = 32,
                            .channels = 1,
                            .channel_bits = 32,
                            .channel_kind = EMU_CHAN_FLOAT,
                            .addr_mode = {EMU_TEX_CLAMP, EMU_TEX_CLAMP, EMU_TEX_CLAMP}};
    float x[96] = {0.0f, 1.5f, 3.999f, 9.0f, -3.0f, 2.0f};
    float *y = x + 32;
    y[1] = 1.0f, y[3] = 5.0f;
    fetch(&k, &t, 2, ISA_F32, ISA_F32, x, 6, out);
    static const float nearest[] = {0, 11, 3, 13, 0, 2};
    for (uint32_t l = 0; l < 6; l++) assert_true(as_float(out[0][l]) == nearest[l]);
    assert_true(as_float(out[3][0]) == 0.0f); /* channels that are not there: 0 (as an H200 has it) */
    t.linear_filter = true;
    x[0] = 1.0f, y[0] = 0.5f; /* between texels 0 and 1 */
    x[1] = 1.0f, y[1] = 1.0f; /* the middle of four */
    x[2] = 1.5f + 0.25f, y[2] = 0.5f;
    x[3] = 1.5f + 1.0f / 512, y[3] = 0.5f; /* half of the smallest fraction: rounds up */
    x[4] = -5.0f, y[4] = 0.5f;
    fetch(&k, &t, 2, ISA_F32, ISA_F32, x, 5, out);
    static const float linear[] = {0.5f, 5.5f, 1.25f, 1.0f + 1.0f / 256, 0};
    for (uint32_t l = 0; l < 5; l++)
        if (as_float(out[0][l]) != linear[l])
            fail_msg("lane %u: %a, not %a", l, (double)as_float(out[0][l]), (double)linear[l]);
    kit_close(&k);
}

static void test_texture_addressing(void **state)
{
    struct kit k;
    kit_open(&k);
    float *data = (float *)kit_buffer(&k, 4, 0);
    uint32_t out[4][32];
    for (uint32_t i = 0; i < 4; i++) data[i] = (float)i;
    struct emu_texture t = {.address = (uint64_t)(uintptr_t)data,
                            .width = 4,
                            .channels = 1,
                            .channel_bits = 32,
                            .channel_kind = EMU_CHAN_FLOAT,
                            .normalized_coords = true,
                            .border = {-7, 0, 0, 0}};
    static const float x[96] = {0.125f, 0.875f, 1.125f, -0.125f, 1.375f, -0.625f, 2.625f, NAN};
    static const float expect[4][8] = {[EMU_TEX_WRAP] = {0, 3, 0, 3, 1, 1, 2, 0},
                                       [EMU_TEX_CLAMP] = {0, 3, 3, 0, 3, 0, 3, 0},
                                       [EMU_TEX_MIRROR] = {0, 3, 3, 0, 2, 2, 2, 0},
                                       [EMU_TEX_BORDER] = {0, 3, -7, -7, -7, -7, -7, 0}};
    for (uint8_t mode = 0; mode < 4; mode++) {
        t.addr_mode[0] = mode;
        fetch(&k, &t, 1, ISA_F32, ISA_F32, x, 8, out);
        for (uint32_t l = 0; l < 8; l++)
            if (as_float(out[0][l]) != expect[mode][l])
                fail_msg("mode %u lane %u: %g", mode, l, (double)as_float(out[0][l]));
    }
    /* Linear filtering wraps around the edge. */
    t.addr_mode[0] = EMU_TEX_WRAP;
    t.linear_filter = true;
    fetch(&k, &t, 1, ISA_F32, ISA_F32, (const float[96]){0.0f}, 1, out);
    assert_true(as_float(out[0][0]) == 1.5f);
    kit_close(&k);
}

static void test_texture_formats(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *data = kit_buffer(&k, 4, 0), out[4][32];
    data[0] = 0x80ff7f01; /* bytes 1, 127, 255 or -1, 128 or -128 */
    struct emu_texture t = {.address = (uint64_t)(uintptr_t)data,
                            .width = 1,
                            .height = 1,
                            .pitch_bytes = 4,
                            .channels = 4,
                            .channel_bits = 8,
                            .channel_kind = EMU_CHAN_SIGNED,
                            .addr_mode = {EMU_TEX_CLAMP, EMU_TEX_CLAMP}};
    const float x[96] = {0};
    fetch(&k, &t, 2, ISA_F32, ISA_S32, x, 1, out);
    assert_int_equal((int32_t)out[2][0], -1);
    assert_int_equal((int32_t)out[3][0], -128);
    t.read_normalized = true;
    fetch(&k, &t, 2, ISA_F32, ISA_F32, x, 1, out);
    assert_true(as_float(out[1][0]) == 1.0f);
    assert_true(as_float(out[3][0]) == -1.0f);
    t.channel_kind = EMU_CHAN_UNSIGNED;
    fetch(&k, &t, 2, ISA_F32, ISA_F32, x, 1, out);
    assert_true(as_float(out[0][0]) == 1.0f / 255);
    assert_true(as_float(out[2][0]) == 1.0f);
    data[0] = 0xc0003c00; /* f16: 1, -2 */
    t.channel_kind = EMU_CHAN_FLOAT;
    t.read_normalized = false;
    t.channel_bits = 16;
    t.channels = 2;
    fetch(&k, &t, 2, ISA_F32, ISA_F32, x, 1, out);
    assert_true(as_float(out[0][0]) == 1.0f && as_float(out[1][0]) == -2.0f);
    kit_close(&k);
}

static void test_texture_3d(void **state)
{
    struct kit k;
    kit_open(&k);
    float *data = (float *)kit_buffer(&k, 8, 0);
    uint32_t out[4][32];
    for (uint32_t i = 0; i < 8; i++) data[i] = (float)(1 << i);
    struct emu_texture t = {.address = (uint64_t)(uintptr_t)data,
                            .width = 2,
                            .height = 2,
                            .depth = 2,
                            .pitch_bytes = 8,
                            .slice_bytes = 16,
                            .channels = 1,
                            .channel_bits = 32,
                            .channel_kind = EMU_CHAN_FLOAT,
                            .linear_filter = true,
                            .addr_mode = {EMU_TEX_CLAMP, EMU_TEX_CLAMP, EMU_TEX_CLAMP}};
    float x[96] = {1.0f, 0.5f};
    x[32] = 1.0f, x[33] = 1.5f;
    x[64] = 1.0f, x[65] = 1.5f;
    fetch(&k, &t, 3, ISA_F32, ISA_F32, x, 2, out);
    assert_true(as_float(out[0][0]) == 255.0f / 8);
    assert_true(as_float(out[0][1]) == 64.0f);
    kit_close(&k);
}

static void test_bad_texture(void **state)
{
    struct kit k;
    kit_open(&k);
    emit(&k, ISA_OP_TEX, D(R(8), R(9), R(10), R(11)), S(imm64(&k, 99), R(4)))->mod = 1;
    exit_(&k);
    assert_int_equal(kit_launch(&k, 1, 1, false), EMU_BAD_TEXTURE);
    assert_non_null(strstr(k.fault.message, "tex with 0x63, which is not a texture object"));
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_printf_formats),
        cmocka_unit_test(test_printf_as_on_silicon),
        cmocka_unit_test(test_printf_by_lane),
        cmocka_unit_test(test_printf_bad_pointers),
        cmocka_unit_test(test_assert),
        cmocka_unit_test(test_device_malloc),
        cmocka_unit_test(test_bad_free),
        cmocka_unit_test(test_use_after_device_free),
        cmocka_unit_test(test_texture_linear_memory),
        cmocka_unit_test(test_texture_2d),
        cmocka_unit_test(test_texture_addressing),
        cmocka_unit_test(test_texture_formats),
        cmocka_unit_test(test_texture_3d),
        cmocka_unit_test(test_bad_texture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
