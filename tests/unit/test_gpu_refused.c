/* test_gpu_refused.c: kernels that need what is not modelled: their module is loaded, one line names them,
 * and their launch is refused in words that say what they would need and where. */
#include "cuda/gpu.h"
#include "cuda/gpu_impl.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "said_kit.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* helper needs tensor cores, and so does what calls it; good calls nothing. */
static const char ptx[] =
    HEAD ".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 a, .param .b64 b);\n"
         ".func helper() {\n"
         " wgmma.fence.sync.aligned;\n"
         " ret; }\n"
         ".visible .entry good(.param .u64 out) {\n"
         " .reg .b64 %d1; ld.param.u64 %d1, [out]; st.global.u32 [%d1], 7; ret; }\n"
         ".visible .entry tensor(.param .u64 a, .param .u32 b) .maxntid 128, 2, 1 {\n"
         " .reg .b32 %r<9>; .shared .align 16 .b8 tile[1000];\n"
         "  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1}, {%r2}, {%r3}, {%r4};\n"
         " ret; }\n"
         ".visible .entry caller() {\n call helper, ();\n ret; }\n"
         ".visible .entry parent() {\n"
         " .param .b32 r; .param .b64 a; .param .b64 b;\n"
         " call (r), cudaLaunchDeviceV2, (a, b);\n ret; }\n"
         ".visible .entry clustered() .reqnctapercluster 2 { ret; }\n"
         ".visible .entry sixth() { mapa.u64 x, y, z; }\n";

static struct gpu_module *load(struct gpu *g, struct strbuf *said)
{
    struct gpu_module *m = NULL;
    said_begin();
    enum gpu_status status = gpu_module_load(g, "mixed", ptx, sizeof ptx, &m);
    said_end(said);
    assert_int_equal(status, GPU_OK);
    return m;
}

static const struct isa_kernel *find(struct gpu_module *m, const char *name)
{
    const struct isa_kernel *k = emu_find_kernel(gpu_module_emu(m), name);
    assert_non_null(k);
    return k;
}

static enum gpu_status launch(struct gpu *g, struct gpu_module *m, const char *name, uint64_t *out,
                              struct strbuf *said)
{
    uint32_t number = 0;
    void *args[] = {out, &number};
    struct gpu_launch l = {
        .module = m, .kernel = find(m, name), .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = args};
    said_begin();
    enum gpu_status status = gpu_launch(g, &l);
    said_end(said);
    return status;
}

static void one_line_names_them(void **state)
{
    struct gpu *g = gpu_get();
    struct strbuf said = {0};
    struct gpu_module *m = load(g, &said);
    assert_string_equal(
        strbuf_text(&said),
        "heddle: note: mixed: 5 of 6 kernels cannot run and will be refused when launched: 'tensor' "
        "(tensor cores are not modelled), 'caller' (tensor cores are not modelled), 'parent' "
        "(launches from the device are not modelled), 'clustered' (thread-block clusters are not "
        "modelled) and 1 more\n");
    strbuf_free(&said);
    gpu_module_unload(g, m);
}

static void a_launch_says_what_it_needs(void **state)
{
    static const struct {
        const char *kernel, *words;
    } rows[] = {
        {"tensor",
         "heddle: launch of tensor refused: tensor cores are not modelled (grid 1,1,1, block 32,1,1)\n"
         "mixed:12:3: error: instruction 'mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32' is not "
         "supported\n"
         "    12 |   mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1}, {%r2}, {%r3}, {%r4};\n"
         "       |   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ tensor cores are not modelled; "
         "build for a code path without them\n"},
        {"caller",
         "heddle: launch of caller refused: tensor cores are not modelled (grid 1,1,1, block 32,1,1)\n"
         "mixed:6:2: error: instruction 'wgmma.fence.sync.aligned' is not supported\n"
         "     6 |  wgmma.fence.sync.aligned;\n"
         "       |  ^~~~~~~~~~~~~~~~~~~~~~~~ tensor cores are not modelled; build for a code path "
         "without them\n"},
        {"parent",
         "heddle: launch of parent refused: launches from the device are not modelled (grid 1,1,1, block "
         "32,1,1)\n"
         "mixed:19:2: error: 'cudaLaunchDeviceV2' is part of the device-side CUDA runtime (dynamic "
         "parallelism), which is not supported\n"
         "    19 |  call (r), cudaLaunchDeviceV2, (a, b);\n"
         "       |  ^~~~ launches from the device are not modelled: launch from the host instead\n"},
        {"clustered",
         "heddle: launch of clustered refused: thread-block clusters are not modelled (grid 1,1,1, "
         "block 32,1,1)\n"
         "mixed:21:29: error: clusters of 2x1x1 CTAs are not supported\n"
         "    21 | .visible .entry clustered() .reqnctapercluster 2 { ret; }\n"
         "       |                             ^~~~~~~~~~~~~~~~~~ thread-block clusters are not "
         "modelled: build the kernel without them\n"},
    };
    struct gpu *g = gpu_get();
    struct strbuf said = {0};
    struct gpu_module *m = load(g, &said);
    uint64_t out = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        strbuf_free(&said);
        assert_int_equal(launch(g, m, rows[i].kernel, &out, &said), GPU_NOT_SUPPORTED);
        assert_string_equal(strbuf_text(&said), rows[i].words);
    }
    strbuf_free(&said);
    gpu_module_unload(g, m);
}

static void the_others_run(void **state)
{
    struct gpu *g = gpu_get();
    struct strbuf said = {0};
    struct gpu_module *m = load(g, &said);
    uint64_t out = space_alloc(emu_device_space(gpu_device(g)), 4, 256, SPACE_DEVICE, "out");
    uint32_t value = 0;
    assert_int_equal(launch(g, m, "tensor", &out, &said), GPU_NOT_SUPPORTED);
    assert_int_equal(launch(g, m, "good", &out, &said), GPU_OK);
    assert_int_equal(gpu_settle(g), GPU_OK);
    assert_int_equal(gpu_copy(g, &value, (void *)(uintptr_t)out, 4, GPU_SYNC), GPU_OK);
    assert_int_equal(value, 7);
    strbuf_free(&said);
    gpu_module_unload(g, m);
}

/* A program that sizes its grid by the occupancy must come as far as the launch. */
static void what_a_program_can_ask(void **state)
{
    struct gpu *g = gpu_get();
    struct strbuf said = {0};
    struct gpu_module *m = load(g, &said);
    const struct isa_kernel *k = find(m, "tensor");
    assert_int_equal(k->param_count, 2);
    assert_int_equal(k->param_bytes, 12);
    assert_int_equal(k->shared_bytes, 1000);
    assert_int_equal(k->reg_count, 0);
    assert_int_equal(gpu_kernel_threads_max(g, k), 256);
    assert_true(gpu_occupancy(g, k, 128, 0) > 0);
    strbuf_free(&said);
    gpu_module_unload(g, m);
}

static void what_is_wrong_refuses_the_module(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {HEAD ".entry a() { mma.sync.aligned.m8n8k4 x; }\n.entry b() { foo 1; }",
         "unknown instruction 'foo'"},
        {HEAD ".func f();\n.entry a() { mma.sync.aligned.m8n8k4 x; }\n.entry b() { call f, (); ret; }",
         "function 'f' is declared but not defined"},
        {HEAD ".extern .global .u32 v;\n.entry a() { mma.sync.aligned.m8n8k4 x; }\n"
              ".entry b() { .reg .u32 %r; ld.global.u32 %r, [v]; st.global.u32 [v], %r; ret; }",
         "symbol 'v' is declared extern but not defined"},
    };
    struct gpu *g = gpu_get();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct gpu_module *m = NULL;
        struct strbuf said = {0};
        said_begin();
        enum gpu_status status = gpu_module_load(g, "wrong", rows[i].text, 0, &m);
        said_end(&said);
        assert_int_equal(status, GPU_INVALID_PTX);
        assert_null(m);
        if (!strstr(strbuf_text(&said), rows[i].words)) fail_msg("%s", strbuf_text(&said));
        strbuf_free(&said);
    }
}

/* This program's file has no PTX: programs see at least 7.5. */
static void capability_of_a_program_without_ptx(void **state)
{
    static const struct {
        uint32_t major, minor;
        bool exact;
        uint32_t seen;
    } rows[] = {{2, 0, false, 75}, {5, 2, false, 75}, {8, 6, false, 86}, {9, 0, false, 90}, {2, 0, true, 20}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct machine m = {.cc_major = rows[i].major, .cc_minor = rows[i].minor, .cc_exact = rows[i].exact};
        gpu_capability_set(&m);
        assert_int_equal(m.cc_major * 10 + m.cc_minor, rows[i].seen);
    }
}

int main(void)
{
    setenv("HEDDLE_QUIET", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_names_them),
        cmocka_unit_test(a_launch_says_what_it_needs),
        cmocka_unit_test(the_others_run),
        cmocka_unit_test(what_a_program_can_ask),
        cmocka_unit_test(what_is_wrong_refuses_the_module),
        cmocka_unit_test(capability_of_a_program_without_ptx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
