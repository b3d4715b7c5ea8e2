/* test_surface.c: what stops a program that uses a surface or a texture wrongly; surface accesses are
 * coalesced; stores of texels and reductions in time. */
#include "timing_kit.h"

#define KERNEL(body)                                                                                         \
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 s)\n{\n"                   \
    ".reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %s, %d; .reg .pred %p;\nld.param.u64 %s, [s]; mov.u32 "     \
    "%r1, %tid.x;\n"                                                                                         \
    "shl.b32 %r2, %r1, 2; mov.f32 %f1, 0f3F000000;\n" body "\nret;\n}\n"

enum { W = 32, H = 4 };

static uint64_t make_object(struct rig *r, bool is_surface)
{
    return emu_texture_create(r->device, &(struct emu_texture){.address = rig_alloc(r, W * H * 4),
                                                               .width = W,
                                                               .height = H,
                                                               .pitch_bytes = W * 4,
                                                               .slice_bytes = W * H * 4,
                                                               .channels = 1,
                                                               .channel_bits = 32,
                                                               .is_surface = is_surface});
}

static void expect_fault(const char *ptx, bool is_surface, const char *text)
{
    struct rig r;
    rig_open(&r, ptx, &(struct rig_options){0});
    rig_launch(&r, "k", 1, 32, (uint64_t[]){make_object(&r, is_surface)}, 0);
    assert_int_not_equal(timed_sync(r.gpu, UINT64_MAX, &r.fault), EMU_OK);
    if (!strstr(timed_report(r.gpu), text)) fail_msg("%s\nwanted: %s", timed_report(r.gpu), text);
    rig_close(&r);
}

static void wrong_uses_are_named(void **state)
{
    expect_fault(KERNEL("sust.b.2d.b32.trap [%s, {%r2, 4}], %r1;"), true, "row 4");
    expect_fault(KERNEL("suld.b.2d.b32.trap %r3, [%s, {-4, 0}]; sust.b.2d.b32.trap [%s, {%r2, 0}], %r3;"),
                 true, "at byte -4");
    expect_fault(KERNEL("sust.b.2d.b32.trap [%s, {%r2, 0}], %r1;"), false, "not a surface object");
    expect_fault(KERNEL("sust.b.2d.b32.zero [%s, {2, 0}], %r1;"), true, "misaligned");
    expect_fault(KERNEL("tex.2d.v4.u32.s32 {%r3,%r4,%r5,%r6}, [%s, {%r1, %r1}];\n"
                        "sust.b.2d.b32.zero [%s, {%r2, 0}], %r3;"),
                 true, "not a texture object");
    expect_fault(KERNEL("tex.cube.v4.f32.f32 {%f2,%f3,%f4,%f5}, [%s, {%f1, %f1, %f1, %f1}];\n"
                        "mov.b32 %r3, %f2; st.shared.b32 [%r3], %r3;"),
                 false, "cube map on a texture that is none");
    expect_fault(KERNEL("sust.p.2d.b32.trap [%s, {%r1, 4}], %r1;"), true, "row 4");
    expect_fault(KERNEL("sust.p.2d.b32.trap [%s, {32, 0}], %r1;"), true, "at texel 32 of row 0");
    expect_fault(KERNEL("sured.b.add.2d.u32.trap [%s, {128, 0}], %r1;"), true, "at byte 128 of row 0");
    expect_fault(KERNEL("sured.p.add.2d.b32.trap [%s, {32, 0}], %r1;"), true, "has 32 texels in a row");
    expect_fault(KERNEL("sured.b.add.2d.u32.zero [%s, {2, 0}], %r1;"), true, "misaligned");
    expect_fault(KERNEL("sured.b.add.2d.u32.zero [%s, {%r2, 0}], %r1;"), false, "not a surface object");
    expect_fault(KERNEL("cvt.u64.u32 %d, %r1; sured.p.max.2d.b64.zero [%s, {%r1, 0}], %d;"), true,
                 "sured.p of 64 bits on a surface of 1 channels of 32 bits");
}

static void a_row_is_one_transaction(void **state)
{
    struct rig r;
    rig_open(&r, KERNEL("sust.b.2d.b32.zero [%s, {%r2, 2}], %r1; sust.b.2d.b32.zero [%s, {%r2, 7}], %r1;"),
             &(struct rig_options){0});
    rig_run(&r, "k", 1, 32, (uint64_t[]){make_object(&r, true)});
    assert_int_equal(rig_stat(&r, 0, "sm.transactions"), 1); /* the second is outside and asks for nothing */
    rig_close(&r);
}

static const uint32_t *texels_of(struct rig *r, uint64_t object)
{
    return (const uint32_t *)(uintptr_t)emu_texture_get(r->device, object)->address;
}

/* Two CTAs: odd lane l of each adds 100 - l to texel l of row 1. Even lanes do nothing: where they would go
 * beyond the surface, .trap of an instruction that they do not execute is not theirs. */
static void reductions_reach_memory_once_a_lane(void **state)
{
    struct rig r;
    rig_open(
        &r,
        KERNEL("and.b32 %r3, %r1, 1; setp.ne.u32 %p, %r3, 0; sub.u32 %r4, 100, %r1;\n"
               "@%p sured.b.add.2d.u32.trap [%s, {%r2, 1}], %r4; selp.u32 %r5, %r1, 99, %p;\n"
               "@%p sured.p.min.2d.b32.trap [%s, {%r5, 2}], -7; sured.p.or.2d.b32.zero [%s, {%r5, 3}], 5;"),
        &(struct rig_options){0});
    uint64_t object = make_object(&r, true);
    rig_run(&r, "k", 2, W, (uint64_t[]){object});
    const uint32_t *at = texels_of(&r, object);
    for (uint32_t l = 0; l < W; l++) {
        assert_int_equal(at[W + l], l % 2 ? 2 * (100 - l) : 0);
        assert_int_equal(at[2 * W + l], l % 2 ? (uint32_t)-7 : 0); /* the surface is of signed integers */
        assert_int_equal(at[3 * W + l], l % 2 ? 5 : 0);
    }
    assert_int_equal(rig_stat(&r, 0, "sm.transactions"), 6); /* a row is one, of each CTA and reduction */
    rig_close(&r);
}

/* Texels of four bytes from four words: a warp's row is one transaction of 128 bytes. */
static void a_formatted_store_moves_texels(void **state)
{
    struct rig r;
    rig_open(&r, KERNEL("mul.lo.u32 %r3, %r1, 9; sust.p.2d.v4.b32.clamp [%s, {%r1, 9}], {%r1, %r3, -1, 7};"),
             &(struct rig_options){0});
    struct emu_texture t = *emu_texture_get(r.device, make_object(&r, true));
    t.channels = 4, t.channel_bits = 8, t.channel_kind = EMU_CHAN_UNSIGNED;
    uint64_t object = emu_texture_create(r.device, &t);
    rig_run(&r, "k", 1, W, (uint64_t[]){object});
    for (uint32_t l = 0; l < W; l++)
        assert_int_equal(texels_of(&r, object)[(H - 1) * W + l], l | MIN(9 * l, 255u) << 8 | 0x07ff0000);
    assert_int_equal(rig_stat(&r, 0, "sm.transactions"), 1);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {RIG_TEST(wrong_uses_are_named), RIG_TEST(a_row_is_one_transaction),
                                       RIG_TEST(reductions_reach_memory_once_a_lane),
                                       RIG_TEST(a_formatted_store_moves_texels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
