/* Which caches of an SM a memory instruction asks for what: textures and their filters, read-only loads,
 * banks of shared memory. */
#include "sm_rig.h"

/* ---- textures ---- */

enum { PITCH = 4096, SLICE = 16 * PITCH };

/* the coordinates of lane l are x + l, y, z */
struct sample {
    float x, y, z;
    uint32_t dims;
    bool is_linear, is_border;
};

struct counts {
    uint64_t cycles, lines, misses, l1_other;
};

static void put_coordinates(struct rig *r, const struct sample *s)
{
    float *in = (float *)kit_buffer(&r->kit, 96, 10);
    for (uint32_t l = 0; l < 32; l++) {
        in[l] = s->x + (float)l;
        in[32 + l] = s->y;
        in[64 + l] = s->z;
    }
}

static uint64_t make_texture(struct rig *r, const struct sample *s)
{
    struct emu_texture t = {.address = (uint64_t)(uintptr_t)kit_buffer(&r->kit, 4 * SLICE / 4, 12),
                            .width = 512,
                            .height = s->dims > 1 ? 16 : 0,
                            .depth = s->dims > 2 ? 4 : 0,
                            .pitch_bytes = PITCH,
                            .slice_bytes = SLICE,
                            .channels = 1,
                            .channel_bits = 32,
                            .channel_kind = EMU_CHAN_FLOAT,
                            .linear_filter = s->is_linear};
    for (uint32_t d = 0; d < 3; d++) t.addr_mode[d] = s->is_border ? EMU_TEX_BORDER : EMU_TEX_CLAMP;
    return emu_texture_create(r->kit.device, &t);
}

static struct counts fetch(struct sample s, enum sm_read_path path, bool sectored)
{
    struct rig r;
    rig_open(&r);
    r.machine.sm.tex_path = path;
    r.machine.sm.tex_latency = 50;
    r.machine.l1.sectored = sectored;
    rig_make(&r);
    put_coordinates(&r, &s);
    uint64_t handle = make_texture(&r, &s);
    s2r(&r.kit, R(0), ISA_SREG_TID, 0);
    index_word(&r.kit, RD(2), param64(&r.kit, 10), R(0), 4);
    for (uint32_t d = 0; d < 3; d++) ld32(&r.kit, R(4 + d), RD(2), ISA_GLOBAL)->imm = 128 * d;
    struct isa_inst *tex =
        emit(&r.kit, ISA_OP_TEX, D(R(8), R(9), R(10), R(11)), S(imm64(&r.kit, handle), R(4), R(5), R(6)));
    tex->mod = (uint8_t)s.dims;
    tex->type = ISA_F32;
    tex->mod2 = ISA_F32;
    emit(&r.kit, ISA_OP_ADD_32, D(R(12)), S(R(8), R(9))); /* waits for it */
    exit_(&r.kit);
    struct counts c = {.cycles = rig_run(&r, 1, 32),
                       .lines = rig_stats(&r)->tex_accesses,
                       .misses = rig_stats(&r)->tex_misses,
                       .l1_other = ((const struct l1_stats *)sm_l1_stats(r.sm))->accesses[L1_OTHER]};
    assert_int_equal(rig_stats(&r)->tex_insts, 1);
    assert_int_equal(r.requests[REQ_TEX], c.misses);
    assert_true(emu_texture_destroy(r.kit.device, handle));
    rig_close(&r);
    return c;
}

static uint64_t lines(struct sample s) { return fetch(s, READ_PATH_TEX, false).lines; }

static void a_texture_fetch_touches_the_lines_of_all_texels_that_it_reads(void **state)
{
    (void)state;
    /* In the middle of texels 0 to 31 of a row: nothing to filter. */
    assert_int_equal(lines((struct sample){0.5f, 1.5f, 0.5f, 2, false, false}), 1);
    assert_int_equal(lines((struct sample){0.5f, 1.5f, 0.5f, 2, true, false}), 1);
    /* Between texels: 33 of them, in two lines; of one row, two rows, two rows of two slices. */
    assert_int_equal(lines((struct sample){1.0f, 0, 0, 1, true, false}), 2);
    assert_int_equal(lines((struct sample){1.0f, 1.5f, 0, 2, true, false}), 2);
    assert_int_equal(lines((struct sample){1.0f, 1.0f, 0, 2, true, false}), 4);
    assert_int_equal(lines((struct sample){1.0f, 1.0f, 0.5f, 3, true, false}), 4);
    assert_int_equal(lines((struct sample){1.0f, 1.0f, 1.0f, 3, true, false}), 8);
    assert_int_equal(lines((struct sample){1.0f, 1.0f, 1.0f, 3, false, false}), 2); /* texels 1 to 32 */
    /* Row -1 is row 0 where it is clamped, and no memory where it is the border. */
    assert_int_equal(lines((struct sample){1.0f, 0.0f, 0, 2, true, false}), 2);
    assert_int_equal(lines((struct sample){1.0f, 0.0f, 0, 2, true, true}), 2);
    assert_int_equal(lines((struct sample){1.0f, -5.0f, 0, 2, true, true}), 0);
}

static void the_border_takes_the_time_of_the_texture_unit(void **state)
{
    (void)state;
    struct counts border = fetch((struct sample){1.0f, -5.0f, 0, 2, true, true}, READ_PATH_TEX, false);
    struct counts miss = fetch((struct sample){0.5f, 1.5f, 0, 2, false, false}, READ_PATH_TEX, false);
    assert_int_equal(border.misses, 0);
    assert_true(miss.cycles > border.cycles + 40); /* memory takes 100, the unit 50 */
    assert_true(border.cycles > 3 * 100 / 2);
}

static void texels_are_in_the_l1_where_it_is_the_texture_cache(void **state)
{
    (void)state;
    for (int sectored = 0; sectored < 2; sectored++) {
        struct counts c = fetch((struct sample){1.0f, 1.0f, 0, 2, true, false}, READ_PATH_L1, sectored);
        assert_int_equal(c.lines, 4);
        assert_int_equal(c.l1_other, 4);
        assert_int_equal(c.misses, 4);
    }
    assert_int_equal(fetch((struct sample){1.0f, 1.0f, 0, 2, true, false}, READ_PATH_TEX, false).l1_other, 0);
}

/* Every lane elsewhere, eight texels each: as many lines as there can be. */
static void the_most_lines_that_a_fetch_can_touch_are_all_taken(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r);
    rig_make(&r);
    float *in = (float *)kit_buffer(&r.kit, 96, 10);
    uint64_t at = (uint64_t)(uintptr_t)kit_buffer(&r.kit, 16 * 64 * 1024 / 4, 12);
    for (uint32_t l = 0; l < 32; l++) { /* texels 31 and 32 of a row lie in two lines; rows 2l, 2l + 1 */
        in[l] = 32.0f;
        in[32 + l] = 2.0f * (float)l + 1.0f;
        in[64 + l] = 1.0f;
    }
    struct emu_texture t = {.address = at,
                            .width = 64,
                            .height = 64,
                            .depth = 4,
                            .pitch_bytes = 256,
                            .slice_bytes = 64 * 256,
                            .channels = 1,
                            .channel_bits = 32,
                            .channel_kind = EMU_CHAN_FLOAT,
                            .linear_filter = true};
    for (uint32_t d = 0; d < 3; d++) t.addr_mode[d] = EMU_TEX_CLAMP;
    uint64_t handle = emu_texture_create(r.kit.device, &t);
    s2r(&r.kit, R(0), ISA_SREG_TID, 0);
    index_word(&r.kit, RD(2), param64(&r.kit, 10), R(0), 4);
    for (uint32_t d = 0; d < 3; d++) ld32(&r.kit, R(4 + d), RD(2), ISA_GLOBAL)->imm = 128 * d;
    struct isa_inst *tex =
        emit(&r.kit, ISA_OP_TEX, D(R(8), R(9), R(10), R(11)), S(imm64(&r.kit, handle), R(4), R(5), R(6)));
    tex->mod = 3;
    tex->type = ISA_F32;
    tex->mod2 = ISA_F32;
    exit_(&r.kit);
    rig_run(&r, 1, 32);
    assert_int_equal(rig_stats(&r)->tex_accesses, 32 * 8);
    assert_true(emu_texture_destroy(r.kit.device, handle));
    rig_close(&r);
}

/* ---- read-only loads ---- */

static void read_only_loads_go_where_the_machine_has_a_cache_for_them(void **state)
{
    (void)state;
    for (uint32_t path = READ_PATH_TEX; path <= READ_PATH_L1; path++) {
        struct rig r;
        rig_open(&r);
        r.machine.sm.nc_path = path;
        rig_make(&r);
        uint32_t *in = kit_buffer(&r.kit, 1024, 0), *out = kit_buffer(&r.kit, 1024, 2);
        for (uint32_t i = 0; i < 1024; i++) in[i] = i * 3;
        s2r(&r.kit, R(0), ISA_SREG_TID, 0);
        index_word(&r.kit, RD(2), param64(&r.kit, 0), R(0), 8); /* 32 lanes of 8 bytes: two lines */
        ld32(&r.kit, R(4), RD(2), ISA_GLOBAL)->flags |= ISA_NC;
        ld32(&r.kit, R(5), RD(2), ISA_GLOBAL)->flags |= ISA_NC;
        emit(&r.kit, ISA_OP_ADD_32, D(R(4)), S(R(4), R(5)));
        index_word(&r.kit, RD(6), param64(&r.kit, 2), R(0), 4);
        st32(&r.kit, RD(6), R(4), ISA_GLOBAL);
        exit_(&r.kit);
        rig_run(&r, 1, 32);
        bool is_tex = path == READ_PATH_TEX;
        const struct l1_stats *l1 = sm_l1_stats(r.sm);
        assert_int_equal(r.requests[REQ_TEX],
                         is_tex ? 2 : 0); /* the second load waits for the lines of the first */
        assert_int_equal(r.requests[REQ_GLOBAL], is_tex ? 1 : 3);
        assert_int_equal(l1->accesses[L1_GLOBAL_LOAD], is_tex ? 0 : 4);
        assert_int_equal(rig_stats(&r)->tex_accesses, is_tex ? 4 : 0);
        assert_int_equal(rig_stats(&r)->tex_insts, 0);
        assert_int_equal(rig_stats(&r)->loads, 2); /* loads all the same */
        assert_int_equal(rig_stats(&r)->loads_done, 2);
        assert_int_equal(rig_stats(&r)->load_transactions, 4);
        for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], 2 * in[2 * i]);
        rig_close(&r);
    }
}

/* ---- banks of shared memory ---- */

static uint64_t conflicts(uint32_t banks, uint32_t bank_bytes, uint32_t stride)
{
    struct rig r;
    rig_open(&r);
    r.machine.sm.shared_banks = banks;
    r.machine.sm.shared_bank_bytes = bank_bytes;
    rig_make(&r);
    r.kit.proto.shared_bytes = 32 * 128;
    s2r(&r.kit, R(2), ISA_SREG_TID, 0);
    emit(&r.kit, ISA_OP_MUL_LO_32, D(R(0)), S(R(2), imm(&r.kit, stride)));
    ld32(&r.kit, R(4), R(0), ISA_SHARED)->flags |= ISA_A32;
    exit_(&r.kit);
    rig_run(&r, 1, 32);
    uint64_t c = rig_stats(&r)->shared_conflict_cycles;
    rig_close(&r);
    return c;
}

static void shared_memory_has_the_banks_of_the_machine(void **state)
{
    (void)state;
    assert_int_equal(conflicts(32, 4, 4), 0);
    assert_int_equal(conflicts(16, 4, 4), 1);
    assert_int_equal(conflicts(32, 4, 8), 1);
    assert_int_equal(conflicts(32, 8, 8), 0);
    assert_int_equal(conflicts(32, 8, 128), 15);
    assert_int_equal(conflicts(32, 4, 128), 31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_texture_fetch_touches_the_lines_of_all_texels_that_it_reads),
        cmocka_unit_test(the_border_takes_the_time_of_the_texture_unit),
        cmocka_unit_test(texels_are_in_the_l1_where_it_is_the_texture_cache),
        cmocka_unit_test(the_most_lines_that_a_fetch_can_touch_are_all_taken),
        cmocka_unit_test(read_only_loads_go_where_the_machine_has_a_cache_for_them),
        cmocka_unit_test(shared_memory_has_the_banks_of_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
