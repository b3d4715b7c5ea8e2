/* Texture fetches against values recorded on silicon. */
#include "emu_kit.h"
#include "texture_h200.h"

static uint64_t put(struct kit *k, const uint32_t *words, size_t bytes)
{
    uint64_t at = space_alloc(emu_device_space(k->device), bytes, 256, SPACE_DEVICE, "texels");
    memcpy((void *)(uintptr_t)at, words, bytes);
    return at;
}

static struct emu_texture describe(const uint64_t texels[8], const struct recorded_fetch *r)
{
    bool bytes = r->texture == 4 || r->texture == 5 || r->texture == 7;
    struct emu_texture t = {.address = texels[bytes ? 4 : r->texture],
                            .width = r->texture == 2   ? 6
                                     : r->texture == 3 ? 5
                                                       : 8,
                            .height = r->texture == 2 || r->texture == 3 ? 4 : 0,
                            .depth = r->texture == 3 ? 3 : 0,
                            .pitch_bytes = r->texture == 2 ? 24 : 20,
                            .slice_bytes = 80,
                            .channels = bytes ? 4 : 1,
                            .channel_bits = bytes             ? 8
                                            : r->texture == 6 ? 16
                                                              : 32,
                            .linear_filter = r->mode & 4,
                            .normalized_coords = r->mode & 8,
                            .read_normalized = r->texture == 4 || r->texture == 5,
                            .border = {0.25f, 0.5f, 0.75f, 1.0f}};
    t.channel_kind = !bytes ? EMU_CHAN_FLOAT : r->texture == 5 ? EMU_CHAN_SIGNED : EMU_CHAN_UNSIGNED;
    for (uint32_t d = 0; d < 3; d++) t.addr_mode[d] = r->mode & 3;
    return t;
}

/* A kernel for each shape and type: handle in parameters 0 and 1, coordinates in 2 to 4, result at 6. */
static void build(struct kit *k, uint32_t dims, bool is_int, enum isa_type result)
{
    k->insts.len = 0;
    k->consts.len = 1;
    struct isa_inst *tex = emit(k, ISA_OP_TEX, D(R(0), R(1), R(2), R(3)),
                                S(param64(k, 0), param(k, 2), param(k, 3), param(k, 4)));
    tex->mod = (uint8_t)dims;
    tex->type = is_int ? ISA_S32 : ISA_F32;
    tex->mod2 = (uint8_t)result;
    for (uint32_t c = 0; c < 4; c++) st32(k, param64(k, 6), R(c), ISA_GLOBAL)->imm = 4 * c;
    exit_(k);
    kit_load(k);
}

static void test_recorded_fetches(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 4, 6), shape = UINT32_MAX;
    uint64_t texels[8] = {0};
    texels[1] = put(&k, texels_1, sizeof texels_1);
    texels[2] = put(&k, texels_2, sizeof texels_2);
    texels[3] = put(&k, texels_3, sizeof texels_3);
    texels[4] = put(&k, texels_4, sizeof texels_4);
    texels[6] = put(&k, texels_6, sizeof texels_6);
    for (uint32_t n = 0; n < ARRAY_LEN(recorded_fetches); n++) {
        const struct recorded_fetch *r = &recorded_fetches[n];
        uint32_t dims = r->texture == 2 ? 2 : r->texture == 3 ? 3 : 1;
        enum isa_type result = r->texture == 7 ? ISA_U32 : ISA_F32;
        if (shape != (dims << 8 | (uint32_t)r->is_int << 7 | result)) build(&k, dims, r->is_int, result);
        shape = dims << 8 | (uint32_t)r->is_int << 7 | result;
        struct emu_texture t = describe(texels, r);
        uint64_t handle = emu_texture_create(k.device, &t);
        memcpy(&k.params[0], &handle, sizeof handle);
        memcpy(&k.params[2], r->x, sizeof r->x);
        kit_run(&k, 1, 1);
        if (memcmp(out, r->rgba, sizeof r->rgba))
            fail_msg("fetch %u (texture %u, mode %u): %08x %08x %08x %08x, not %08x %08x %08x %08x", n,
                     r->texture, r->mode, out[0], out[1], out[2], out[3], r->rgba[0], r->rgba[1], r->rgba[2],
                     r->rgba[3]);
        emu_texture_destroy(k.device, handle);
    }
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_recorded_fetches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
