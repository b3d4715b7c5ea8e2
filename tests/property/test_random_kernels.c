/* test_random_kernels.c: random kernels, lowered in many ways (with and without folding, few registers and
 * many, calls inlined and real), run on the emulator as a whole and one instruction at a time in a random
 * order of warps, and compared with an evaluator that shares no code with either. FIRST_SEED COUNT. */
#include "random_kit.h"
#include "unit/step_kit.h"

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

static void run_way(struct random_kernel *k, const char *way, const struct lower_options *options,
                    bool stepped)
{
    random_load(k, way, options);
    struct emu_launch l = random_begin(k);
    struct emu_stats stats = {0};
    struct emu_fault fault;
    enum emu_fault_kind bad = stepped ? step_grid(device, &l, k->program.seed, true, 2, &stats, &fault)
                                      : emu_run(device, &l, &stats, &fault);
    if (bad != EMU_OK) random_fail(k, way, fault.message);
    random_check(k, way);
    emu_module_unload(device, k->module);
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
             count = argc > 2 ? strtoull(argv[2], NULL, 0) : 150;
    random_open_device();
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct random_kernel k;
        random_make(&k, seed);
        for (size_t w = 0; w < ARRAY_LEN(ways); w++)
            run_way(&k, ways[w].name, &ways[w].options, ways[w].stepped);
        random_free(&k);
    }
    emu_device_destroy(device);
    printf("%llu random kernels, %zu ways each: all agree\n", (unsigned long long)count, ARRAY_LEN(ways));
    return 0;
}
