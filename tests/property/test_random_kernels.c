/* test_random_kernels.c: random kernels, lowered in many ways (with and without folding, few registers and
 * many, calls inlined and real), run on the emulator as a whole and one instruction at a time in a random
 * order of warps, and compared with an evaluator that shares no code with either. */
#include "emu/emu.h"
#include "lower/lower.h"
#include "program_gen.h"
#include "ptx/ptx.h"
#include "unit/step_kit.h"

enum { THREADS = 96, BLOCK = 48 };

static const struct {
    struct lower_options options;
    const char *name;
    bool stepped;
} ways[] = {
    {{.opt_level = 1}, "folded", false},
    {{.opt_level = 0}, "as selected", false},
    {{.opt_level = 1, .regs_max = 24}, "24 registers", false},
    {{.opt_level = 0, .regs_max = 18}, "18 registers, as selected", false},
    {{.opt_level = 1, .no_inline = true}, "real calls", false},
    {{.opt_level = 1, .no_inline = true, .regs_max = 20}, "real calls, 20 registers", false},
    {{.one_to_one = true}, "one to one", false},
    {{.one_to_one = true, .regs_max = 20}, "one to one, 20 registers, stepped", true},
    {{.opt_level = 1}, "stepped", true},
    {{.opt_level = 1, .no_inline = true}, "real calls, stepped", true},
};

static struct emu_device *device;

static void fail(const struct gen_program *p, const char *ptx, const char *way, const char *why)
{
    fprintf(stderr, "seed %llu, %s: %s\n", (unsigned long long)p->seed, way, why);
    FILE *f = fopen("random_kernel_failed.ptx", "w");
    if (f) {
        fputs(ptx, f);
        fclose(f);
        fprintf(stderr, "the kernel is in random_kernel_failed.ptx\n");
    }
    exit(1);
}

static void run_way(const struct gen_program *p, const char *ptx, const char *way,
                    const struct lower_options *options, bool stepped)
{
    struct diag_list diags = {0};
    struct strbuf text = {0};
    struct ptx_module *m = ptx_parse("random.ptx", ptx, strlen(ptx), &diags);
    struct isa_module *isa = m ? lower_module(m, options, &diags) : NULL;
    struct emu_module *module = isa ? emu_module_load(device, isa, NULL, NULL, &diags) : NULL;
    diag_render(&diags, &text);
    if (!module) fail(p, ptx, way, strbuf_text(&text));

    struct space *space = emu_device_space(device);
    uint64_t params[2] = {space_alloc(space, THREADS * 4, 256, SPACE_DEVICE, "in"),
                          space_alloc(space, THREADS * GEN_OUT_WORDS * 4, 256, SPACE_DEVICE, "out")};
    uint32_t *in = (uint32_t *)(uintptr_t)params[0], *out = (uint32_t *)(uintptr_t)params[1];
    struct rng rng = {p->seed};
    for (int t = 0; t < THREADS; t++) in[t] = rng_u32(&rng) >> (t % 31);
    struct emu_launch l = {.module = module,
                           .kernel = emu_find_kernel(module, "k"),
                           .grid = {THREADS / BLOCK, 1, 1},
                           .block = {BLOCK, 1, 1},
                           .params = params};
    struct emu_stats stats = {0};
    struct emu_fault fault;
    enum emu_fault_kind bad = stepped ? step_grid(device, &l, p->seed, true, 2, &stats, &fault)
                                      : emu_run(device, &l, &stats, &fault);
    if (bad != EMU_OK) fail(p, ptx, way, fault.message);
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t want[GEN_OUT_WORDS];
        gen_evaluate(p, t, in[t], want);
        for (uint32_t i = 0; i < GEN_OUT_WORDS; i++) {
            if (out[t * GEN_OUT_WORDS + i] == want[i]) continue;
            char why[128];
            snprintf(why, sizeof why, "thread %u, word %u: got 0x%08x, want 0x%08x", t, i,
                     out[t * GEN_OUT_WORDS + i], want[i]);
            fail(p, ptx, way, why);
        }
    }
    space_free(space, params[0]);
    space_free(space, params[1]);
    emu_module_unload(device, module);
    ptx_module_free(m);
    diag_free(&diags);
    strbuf_free(&text);
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
             count = argc > 2 ? strtoull(argv[2], NULL, 0) : 150;
    struct emu_limits limits = {.threads_per_cta_max = 1024,
                                .grid_max = {65535, 65535, 65535},
                                .block_max = {1024, 1024, 64},
                                .shared_per_cta_max = 48 << 10,
                                .regs_per_cta_max = 65536,
                                .sm_count = 4,
                                .stack_bytes = 4096,
                                .heap_bytes = 1 << 20,
                                .warp_insts_max = 10000000,
                                .clock_khz = 1000000};
    device = emu_device_create(&limits, 256 << 20);
    if (!device) return 1;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct gen_program p;
        struct strbuf ptx = {0};
        gen_make(&p, seed);
        gen_print_ptx(&p, &ptx);
        for (size_t w = 0; w < ARRAY_LEN(ways); w++)
            run_way(&p, strbuf_text(&ptx), ways[w].name, &ways[w].options, ways[w].stepped);
        strbuf_free(&ptx);
        gen_free(&p);
    }
    emu_device_destroy(device);
    printf("%llu random kernels, %zu ways each: all agree\n", (unsigned long long)count, ARRAY_LEN(ways));
    return 0;
}
