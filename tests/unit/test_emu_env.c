/* test_emu_env.c: results do not depend on the floating-point environment of the program around the emulator,
 * and it gets its own back. */
#include "emu/emu.h"
#include "lower/lower.h"
#include "ptx/ptx.h"

#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char kernel[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n .reg .f32 %f<4>; .reg .b64 %rd<2>;\n"
    " ld.param.u64 %rd1, [out];\n ld.global.f32 %f1, [%rd1];\n ld.global.f32 %f2, [%rd1+4];\n"
    " add.rn.f32 %f3, %f1, %f2;\n st.global.f32 [%rd1+8], %f3;\n"
    " div.rn.f32 %f3, %f1, %f2;\n st.global.f32 [%rd1+12], %f3;\n ret;\n}\n";

static void run(uint32_t out[4])
{
    struct emu_limits limits = {.threads_per_cta_max = 1024,
                                .grid_max = {9, 9, 9},
                                .block_max = {1024, 1024, 64},
                                .shared_per_cta_max = 1024,
                                .regs_per_cta_max = 65536,
                                .sm_count = 1,
                                .clock_khz = 1000};
    struct emu_device *d = emu_device_create(&limits, 1 << 20);
    struct diag_list diags = {0};
    struct ptx_module *ptx = ptx_parse("k.ptx", kernel, strlen(kernel), &diags);
    assert_non_null(ptx);
    struct emu_module *m = emu_module_load(
        d, lower_module(ptx, &(struct lower_options){.opt_level = 1}, &diags), NULL, NULL, &diags);
    assert_non_null(m);
    uint64_t at = space_alloc(emu_device_space(d), 16, 256, SPACE_DEVICE, "out");
    static const uint32_t in[4] = {0x3f800001, 0x33000001}; /* 1 + 2^-23, just above half a unit of it */
    memcpy((void *)(uintptr_t)at, in, sizeof in);
    struct emu_launch l = {
        .module = m, .kernel = emu_find_kernel(m, "k"), .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = &at};
    struct emu_fault fault;
    assert_int_equal(emu_run(d, &l, NULL, &fault), EMU_OK);
    memcpy(out, (void *)(uintptr_t)at, 16);
    ptx_module_free(ptx);
    emu_module_unload(d, m);
    emu_device_destroy(d);
}

static void rounding_of_the_host_does_not_reach_the_kernel(void **state)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    uint32_t want[4], got[4];
    run(want);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        fesetround(modes[i]);
        run(got);
        assert_int_equal(fegetround(), modes[i]);
        fesetround(FE_TONEAREST);
        assert_memory_equal(got, want, sizeof want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounding_of_the_host_does_not_reach_the_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
