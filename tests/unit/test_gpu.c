/* test_gpu.c: the process's GPU: loading, launching, copying, faults that stick, reset, simulated time,
 * occupancy. */
#include "cuda/gpu.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char ptx[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                          ".visible .global .align 4 .u32 bias = 5;\n"
                          ".visible .entry add(.param .u64 out, .param .u32 n, .param .u64 in)\n{\n"
                          ".reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<2>;\n"
                          "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
                          "mad.lo.u32 %r4, %r1, %r2, %r3;\n"
                          "ld.param.u32 %r5, [n];\nsetp.ge.u32 %p1, %r4, %r5;\n@%p1 ret;\n"
                          "ld.param.u64 %d1, [out];\nld.param.u64 %d2, [in];\n"
                          "mul.wide.u32 %d3, %r4, 4;\nadd.u64 %d4, %d1, %d3;\nadd.u64 %d5, %d2, %d3;\n"
                          "ld.global.u32 %r6, [%d5];\nld.global.u32 %r7, [bias];\nadd.u32 %r6, %r6, %r7;\n"
                          "st.global.u32 [%d4], %r6;\nret;\n}\n"
                          ".visible .entry bounded() .maxntid 64, 1, 1\n{\nret;\n}\n";

static bool is_timed(void) { return !getenv("HEDDLE_FUNCTIONAL"); }

static struct gpu_module *load(struct gpu *g)
{
    struct gpu_module *m = NULL;
    assert_int_equal(gpu_module_load(g, "test", ptx, sizeof ptx, &m), GPU_OK);
    return m;
}

static uint64_t alloc(struct gpu *g, size_t bytes)
{
    uint64_t p = space_alloc(emu_device_space(gpu_device(g)), bytes, 256, SPACE_DEVICE, "test");
    assert_true(p != 0);
    return p;
}

enum { COUNT = 100 };

static enum gpu_status launch_add(struct gpu *g, struct gpu_module *m, uint64_t out, uint64_t in, bool packed)
{
    uint32_t n = COUNT;
    void *args[] = {&out, &n, &in};
    struct {
        uint64_t out;
        uint32_t n;
        uint64_t in;
    } block = {out, n, in};
    struct gpu_launch l = {.module = m,
                           .kernel = emu_find_kernel(gpu_module_emu(m), "add"),
                           .grid = {4, 1, 1},
                           .block = {32, 1, 1},
                           .args = packed ? NULL : args,
                           .packed = packed ? &block : NULL,
                           .packed_bytes = sizeof block};
    return gpu_launch(g, &l);
}

static void launches_with_both_forms_of_arguments(void **state)
{
    struct gpu *g = gpu_get();
    struct gpu_module *m = load(g);
    for (int packed = 0; packed < 2; packed++) {
        uint32_t values[COUNT];
        uint64_t in = alloc(g, sizeof values), out = alloc(g, sizeof values), before = gpu_now_ns(g);
        for (uint32_t i = 0; i < COUNT; i++) values[i] = i * 3;
        assert_int_equal(gpu_copy(g, (void *)(uintptr_t)in, values, sizeof values, GPU_SYNC), GPU_OK);
        assert_int_equal(launch_add(g, m, out, in, packed), GPU_OK);
        assert_int_equal(gpu_copy(g, values, (void *)(uintptr_t)out, sizeof values, GPU_SYNC), GPU_OK);
        for (uint32_t i = 0; i < COUNT; i++) assert_int_equal(values[i], i * 3 + 5);
        assert_true(gpu_now_ns(g) > before);
    }
    gpu_module_unload(g, m);
}

static void a_fault_sticks_until_reset(void **state)
{
    struct gpu *g = gpu_get();
    struct gpu_module *m = load(g);
    uint64_t in = alloc(g, 4 * COUNT), generation = gpu_generation(g);
    uint32_t word;
    /* A timed launch is only queued: what waits for it meets the fault. */
    assert_int_equal(launch_add(g, m, 16, in, false), is_timed() ? GPU_OK : GPU_ILLEGAL_ADDRESS);
    assert_int_equal(gpu_sticky(g), is_timed() ? GPU_OK : GPU_ILLEGAL_ADDRESS);
    assert_int_equal(gpu_copy(g, &word, (void *)(uintptr_t)in, 4, GPU_SYNC), GPU_ILLEGAL_ADDRESS);
    assert_int_equal(launch_add(g, m, in, in, false), GPU_ILLEGAL_ADDRESS);
    gpu_reset(g);
    assert_int_equal(gpu_sticky(g), GPU_OK);
    assert_true(gpu_generation(g) == generation + 1);
    assert_null(gpu_module_emu(m)); /* the handle outlives the reset, the module does not */
    gpu_module_unload(g, m);
    m = load(g);
    in = alloc(g, 4 * COUNT);
    assert_int_equal(launch_add(g, m, in, in, false), GPU_OK);
    gpu_module_unload(g, m);
}

/* The module that faulted goes first, then the memory, then the rest: the machine holds on to neither. */
static void a_module_may_go_between_a_fault_and_the_reset(void **state)
{
    struct gpu *g = gpu_get();
    struct gpu_module *m = load(g);
    uint64_t in = alloc(g, 4 * COUNT);
    launch_add(g, m, 16, in, false);
    launch_add(g, m, in, in, false); /* behind it */
    assert_int_equal(gpu_settle(g), GPU_ILLEGAL_ADDRESS);
    gpu_module_unload(g, m);
    space_free(emu_device_space(gpu_device(g)), in);
    gpu_reset(g);
    m = load(g);
    uint32_t values[COUNT] = {1, 2, 3};
    in = alloc(g, sizeof values);
    assert_int_equal(gpu_copy(g, (void *)(uintptr_t)in, values, sizeof values, GPU_SYNC), GPU_OK);
    assert_int_equal(launch_add(g, m, in, in, false), GPU_OK);
    assert_int_equal(gpu_copy(g, values, (void *)(uintptr_t)in, sizeof values, GPU_SYNC), GPU_OK);
    assert_int_equal(values[2], 8);
    gpu_module_unload(g, m);
}

static void launches_that_do_not_fit_are_refused(void **state)
{
    struct gpu *g = gpu_get();
    struct gpu_module *m = load(g);
    struct gpu_launch l = {.module = m,
                           .kernel = emu_find_kernel(gpu_module_emu(m), "bounded"),
                           .grid = {1, 1, 1},
                           .block = {64, 1, 1}};
    assert_int_equal(gpu_launch(g, &l), GPU_OK);
    l.block[0] = 65;
    assert_int_equal(gpu_launch(g, &l), GPU_TOO_MANY_RESOURCES);
    l.block[0] = 2048;
    assert_int_equal(gpu_launch(g, &l), GPU_BAD_LAUNCH);
    l.block[0] = 0;
    assert_int_equal(gpu_launch(g, &l), GPU_BAD_LAUNCH);
    l.block[0] = 32;
    l.shared_dynamic_bytes = 1 << 24;
    assert_int_equal(gpu_launch(g, &l), GPU_INVALID_VALUE);
    l.kernel = emu_find_kernel(gpu_module_emu(m), "add");
    l.shared_dynamic_bytes = 0;
    assert_int_equal(gpu_launch(g, &l), GPU_INVALID_VALUE); /* no arguments */
    assert_int_equal(gpu_sticky(g), GPU_OK);
    gpu_module_unload(g, m);
}

static void bad_images_say_why(void **state)
{
    struct gpu *g = gpu_get();
    struct gpu_module *m = NULL;
    struct strbuf log = {0};
    struct gpu_load_options options = {.log = &log};
    const void *image =
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { frob.u32 a; }\n";
    size_t len = strlen(image);
    assert_int_equal(gpu_module_link_with(g, "bad.ptx", &image, &len, 1, &options, &m), GPU_INVALID_PTX);
    assert_null(m);
    assert_non_null(strstr(strbuf_text(&log), "bad.ptx:4:"));
    strbuf_free(&log);
    static const uint8_t cubin_only[16 + 72] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0,  72, 0, 0, 0, 0,
                                                0,    0,    0,    2,    0, 1, 1,  64, 0,  0, 0, 8};
    image = cubin_only;
    len = sizeof cubin_only;
    log = (struct strbuf){0};
    assert_int_equal(gpu_module_link_with(g, "app", &image, &len, 1, &options, &m), GPU_NO_BINARY);
    assert_non_null(strstr(strbuf_text(&log), "code=compute_75"));
    strbuf_free(&log);
}

static void copies_are_checked_on_the_device_side(void **state)
{
    struct gpu *g = gpu_get();
    uint64_t p = alloc(g, 64);
    uint8_t host[128] = {1, 2, 3};
    assert_int_equal(gpu_copy(g, (void *)(uintptr_t)p, host, 65, GPU_SYNC), GPU_INVALID_VALUE);
    assert_int_equal(gpu_copy(g, (void *)(uintptr_t)p, host, 64, GPU_SYNC), GPU_OK);
    uint16_t pattern = 0x1234;
    assert_int_equal(gpu_fill(g, (void *)(uintptr_t)p, 0, &pattern, 2, 32, 1, GPU_SYNC), GPU_OK);
    assert_int_equal(gpu_fill(g, (void *)(uintptr_t)p, 0, &pattern, 2, 33, 1, GPU_SYNC), GPU_INVALID_VALUE);
    assert_int_equal(gpu_settle(g), GPU_OK); /* fills do not wait */
    assert_int_equal(((uint16_t *)(uintptr_t)p)[31], 0x1234);
    /* rows of 8 bytes, 16 apart, to rows 12 apart */
    for (int i = 0; i < 64; i++) ((uint8_t *)(uintptr_t)p)[i] = (uint8_t)i;
    assert_int_equal(gpu_copy_2d(g, host, 12, (void *)(uintptr_t)p, 16, 8, 4, GPU_SYNC), GPU_OK);
    assert_int_equal(host[12], 16);
    assert_int_equal(host[36 + 7], 48 + 7);
    assert_int_equal(gpu_copy_2d(g, host, 12, (void *)(uintptr_t)p, 16, 8, 5, GPU_SYNC), GPU_INVALID_VALUE);
    assert_int_equal(gpu_copy_2d(g, host, 4, (void *)(uintptr_t)p, 16, 8, 2, GPU_SYNC),
                     GPU_INVALID_VALUE); /* pitch < width */
}

/* Against the CUDA Occupancy Calculator for compute capability 5.2, which the machine `maxwell` has the
 * limits of. */
static void occupancy_follows_the_cuda_rules(void **state)
{
    struct gpu *g = gpu_get();
    static const struct {
        uint32_t regs, shared, threads, dynamic, ctas;
    } rows[] = {
        {32, 0, 256, 0, 8},                             /* 64 warps: full */
        {33, 0, 256, 0, 6},                             /* 40 registers are allotted: 12 warps a partition */
        {64, 0, 256, 0, 4},                             /* 8 warps a partition */
        {255, 0, 256, 0, 1},                            /* 2 warps a partition */
        {16, 0, 32, 0, 32},                             /* CTA slots */
        {16, 0, 1024, 0, 2},                            /* warp slots */
        {16, 0, 33, 0, 32},                             /* 2 warps each */
        {16, 20000, 64, 0, 4},                          /* shared memory, 20224 allotted */
        {16, 20000, 64, 20000, 2}, {16, 0, 1025, 0, 0}, /* too many threads */
        {128, 0, 1024, 0, 0},                           /* registers for 16 warps only */
        {16, 49153, 64, 0, 0},                          /* more shared memory than a CTA can have */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct isa_kernel k = {.reg_count = rows[i].regs, .shared_bytes = rows[i].shared};
        assert_int_equal(gpu_occupancy(g, &k, rows[i].threads, rows[i].dynamic), rows[i].ctas);
    }
}

int main(void)
{
    setenv("HEDDLE_MACHINE", "maxwell", 1);
    setenv("HEDDLE_QUIET", "1", 1);
    unsetenv("HEDDLE_STATS");
    unsetenv("HEDDLE_SET");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_with_both_forms_of_arguments),
        cmocka_unit_test(a_fault_sticks_until_reset),
        cmocka_unit_test(a_module_may_go_between_a_fault_and_the_reset),
        cmocka_unit_test(launches_that_do_not_fit_are_refused),
        cmocka_unit_test(bad_images_say_why),
        cmocka_unit_test(copies_are_checked_on_the_device_side),
        cmocka_unit_test(occupancy_follows_the_cuda_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
