/* test_gpu_variant.c: on fermi, whose SMs have half of the registers that nvcc's targets have: a launch whose
 * registers do not fit runs a variant of its kernel with fewer, or is refused with the numbers. */
#include "cuda/gpu.h"
#include "cuda/gpu_impl.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "said_kit.h"

enum { VALUES = 40 };

/* out[tid] = a sum of VALUES words of `in`, all of them loaded before the first is used, so that they live at
 * the same time. */
static void put_kernel(struct strbuf *ptx, const char *name, const char *directives)
{
    strbuf_printf(ptx, ".visible .entry %s(.param .u64 in, .param .u64 out) %s {\n", name, directives);
    strbuf_printf(ptx, ".reg .b32 %%r<%d>, %%t, %%s; .reg .b64 %%d<5>;\n", VALUES);
    strbuf_puts(ptx, "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %t, %tid.x;\n"
                     "mul.wide.u32 %d3, %t, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;\n");
    for (int i = 0; i < VALUES; i++)
        strbuf_printf(ptx, "ld.volatile.global.u32 %%r%d, [%%d1+%d];\n", i, 4 * i);
    strbuf_puts(ptx, "mov.u32 %s, 0;\n");
    for (int i = VALUES; i-- > 0;) strbuf_printf(ptx, "mad.lo.u32 %%s, %%s, 31, %%r%d;\n", i);
    strbuf_puts(ptx, "st.global.u32 [%d2], %s; ret; }\n");
}

static struct gpu_module *load(struct gpu *g, const char *target)
{
    struct strbuf ptx = {0};
    struct gpu_module *m = NULL;
    strbuf_printf(&ptx, ".version 8.0\n.target %s\n.address_size 64\n", target);
    put_kernel(&ptx, "heavy", "");
    put_kernel(&ptx, "bounded", ".maxntid 1024, 1, 1");
    put_kernel(&ptx, "small", ".maxntid 64, 1, 1");
    assert_int_equal(gpu_module_load(g, "regs", strbuf_text(&ptx), ptx.len, &m), GPU_OK);
    strbuf_free(&ptx);
    return m;
}

struct run {
    enum gpu_status status;
    struct strbuf said;
    uint32_t out[1024];
};

static struct run launch(struct gpu *g, struct gpu_module *m, const char *kernel, uint32_t threads)
{
    struct run r = {0};
    struct space *space = emu_device_space(gpu_device(g));
    uint64_t in = space_alloc(space, 8192, 256, SPACE_DEVICE, "in");
    uint64_t out = space_alloc(space, sizeof r.out, 256, SPACE_DEVICE, "out");
    uint32_t *words = (uint32_t *)(uintptr_t)in;
    for (uint32_t i = 0; i < 2048; i++) words[i] = i * 2654435761u;
    void *args[] = {&in, &out};
    struct gpu_launch l = {.module = m,
                           .kernel = emu_find_kernel(gpu_module_emu(m), kernel),
                           .grid = {1, 1, 1},
                           .block = {threads, 1, 1},
                           .args = args};
    said_begin();
    r.status = gpu_launch(g, &l);
    if (r.status == GPU_OK) r.status = gpu_settle(g);
    said_end(&r.said);
    memcpy(r.out, (void *)(uintptr_t)out, sizeof r.out);
    for (uint32_t t = 0; t < threads && r.status == GPU_OK; t++) {
        uint32_t sum = 0;
        for (uint32_t i = VALUES; i-- > 0;) sum = sum * 31 + words[t + i];
        assert_int_equal(r.out[t], sum);
    }
    space_free(space, in);
    space_free(space, out);
    return r;
}

static void a_block_that_does_not_fit_gets_a_variant(void **state)
{
    struct gpu *g = gpu_get();
    struct gpu_module *m = load(g, "sm_75");
    const struct isa_kernel *k = emu_find_kernel(gpu_module_emu(m), "heavy");
    assert_true(k->reg_count > 32 && k->reg_count < 64);
    struct run r = launch(g, m, "heavy", 512); /* fits as it is */
    assert_int_equal(r.status, GPU_OK);
    assert_int_equal(r.said.len, 0);
    r = launch(g, m, "heavy", 1024);
    assert_int_equal(r.status, GPU_OK);
    assert_int_equal(m->variants.len, 1);
    const struct isa_kernel *variant = m->variants.data[0].kernel;
    assert_true(variant->reg_count <= 32 && variant->spill_bytes > 0);
    char words[400];
    snprintf(
        words, sizeof words,
        "heddle: note: kernel 'heavy' needs %u registers a thread, %u for a block of 1024 threads; an SM of "
        "fermi has 32768: lowered again with %u (%u bytes spilled), as a build for this machine would be\n",
        k->reg_count, k->reg_count * 1024, variant->reg_count, variant->spill_bytes);
    assert_string_equal(strbuf_text(&r.said), words);
    strbuf_free(&r.said);
    r = launch(g, m, "heavy", 1024); /* kept: said once */
    assert_int_equal(r.status, GPU_OK);
    assert_int_equal(r.said.len, 0);
    assert_int_equal(m->variants.len, 1);
    assert_int_equal(k->reg_count, emu_find_kernel(gpu_module_emu(m), "heavy")->reg_count);
    gpu_module_unload(g, m);
}

/* The code of a variant, as far as it does not hold addresses. */
static void the_same_each_time(void **state)
{
    struct gpu *g = gpu_get();
    struct gpu_module *m[2];
    const struct isa_kernel *k[2];
    said_begin();
    for (int i = 0; i < 2; i++) {
        m[i] = load(g, "sm_75");
        k[i] = gpu_variant_for(g, m[i], emu_find_kernel(gpu_module_emu(m[i]), "heavy"), 1024);
    }
    struct strbuf said = {0};
    said_end(&said);
    strbuf_free(&said);
    assert_int_equal(k[0]->inst_count, k[1]->inst_count);
    assert_memory_equal(k[0]->insts, k[1]->insts, sizeof *k[0]->insts * k[0]->inst_count);
    for (int i = 0; i < 2; i++) gpu_module_unload(g, m[i]);
}

/* Launch bounds were respected when the kernel was lowered; beyond them nothing may run. */
static void bounds_hold(void **state)
{
    struct gpu *g = gpu_get();
    struct gpu_module *m = load(g, "sm_75");
    assert_true(emu_find_kernel(gpu_module_emu(m), "bounded")->reg_count <= 32);
    struct run r = launch(g, m, "bounded", 1024);
    assert_int_equal(r.status, GPU_OK);
    assert_int_equal(r.said.len, 0);
    r = launch(g, m, "small", 1024);
    assert_int_equal(r.status, GPU_TOO_MANY_RESOURCES);
    assert_string_equal(
        strbuf_text(&r.said),
        "heddle: launch of small refused: 1024 threads, and the kernel was compiled for at most 64 "
        "(__launch_bounds__, .maxntid) (grid 1,1,1, block 1024,1,1)\n");
    strbuf_free(&r.said);
    assert_int_equal(m->variants.len, 0);
    gpu_module_unload(g, m);
}

/* PTX for a GPU that would refuse the launch too: it is refused, with the numbers. */
static void refused_as_on_its_target(void **state)
{
    struct gpu *g = gpu_get();
    struct gpu_module *m = load(g, "sm_20");
    uint32_t regs = emu_find_kernel(gpu_module_emu(m), "heavy")->reg_count;
    struct run r = launch(g, m, "heavy", 1024);
    assert_int_equal(r.status, GPU_TOO_MANY_RESOURCES);
    char words[300];
    snprintf(words, sizeof words,
             "heddle: launch of heavy refused: %u registers a thread are %u for 1024 threads, and an SM of "
             "fermi has "
             "32768 (room for %u threads); use smaller blocks, or build or run with --maxrregcount 32 ",
             regs, regs * 1024, gpu_kernel_threads_max(g, emu_find_kernel(gpu_module_emu(m), "heavy")));
    if (strncmp(strbuf_text(&r.said), words, strlen(words))) fail_msg("%s", strbuf_text(&r.said));
    strbuf_free(&r.said);
    gpu_module_unload(g, m);
}

int main(void)
{
    setenv("HEDDLE_MACHINE", "fermi", 1);
    setenv("HEDDLE_QUIET", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_that_does_not_fit_gets_a_variant),
        cmocka_unit_test(the_same_each_time),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(refused_as_on_its_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
