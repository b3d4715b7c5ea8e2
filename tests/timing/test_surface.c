/* test_surface.c: what stops a program that uses a surface or a texture wrongly; surface accesses are
 * coalesced. */
#include "timing_kit.h"

#define KERNEL(body)                                                                                         \
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 s)\n{\n"                   \
    ".reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %s;\nld.param.u64 %s, [s]; mov.u32 %r1, %tid.x;\n"          \
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

int main(void)
{
    const struct CMUnitTest tests[] = {RIG_TEST(wrong_uses_are_named), RIG_TEST(a_row_is_one_transaction)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
