/* random_kit.h: for the tests of random kernels: a device, a kernel from its seed to a loaded module, and the
 * comparison of what it left in memory with what it must leave. */
#ifndef HEDDLE_RANDOM_KIT_H
#define HEDDLE_RANDOM_KIT_H

#include "emu/emu.h"
#include "lower/lower.h"
#include "program_gen.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>

static struct emu_device *device;

struct random_kernel {
    struct gen_program program;
    struct strbuf ptx;
    /* what memory holds, and what it must hold then */
    uint32_t *before, *after;
    /* in device memory: GEN_MEMORY_WORDS */
    uint64_t memory;
    struct emu_module *module;
};

_Noreturn static inline void random_fail(const struct random_kernel *k, const char *way, const char *why)
{
    fprintf(stderr, "seed %llu, %s: %s\n", (unsigned long long)k->program.seed, way, why);
    FILE *f = fopen("random_kernel_failed.ptx", "w");
    if (f) {
        fputs(strbuf_text(&k->ptx), f);
        fclose(f);
        fprintf(stderr, "the kernel is in random_kernel_failed.ptx\n");
    }
    exit(1);
}

static inline void random_open_device(void)
{
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
    if (!device) {
        fprintf(stderr, "there is no device\n");
        exit(1);
    }
}

static inline void random_make(struct random_kernel *k, uint64_t seed)
{
    *k = (struct random_kernel){0};
    gen_make(&k->program, seed);
    gen_print_ptx(&k->program, &k->ptx);
    k->before = mem_alloc(GEN_MEMORY_WORDS * sizeof(uint32_t));
    k->after = mem_alloc(GEN_MEMORY_WORDS * sizeof(uint32_t));
    gen_fill(&k->program, k->before);
    memcpy(k->after, k->before, GEN_MEMORY_WORDS * sizeof(uint32_t));
    gen_evaluate(&k->program, k->after);
    k->memory = space_alloc(emu_device_space(device), GEN_MEMORY_WORDS * sizeof(uint32_t), 256, SPACE_DEVICE,
                            "memory");
}

static inline void random_free(struct random_kernel *k)
{
    space_free(emu_device_space(device), k->memory);
    strbuf_free(&k->ptx);
    gen_free(&k->program);
    free(k->before);
    free(k->after);
}

static inline void random_load(struct random_kernel *k, const char *way, const struct lower_options *options)
{
    struct diag_list diags = {0};
    struct strbuf text = {0};
    struct ptx_module *m = ptx_parse("random.ptx", k->ptx.data, k->ptx.len, &diags);
    struct isa_module *isa = m ? lower_module(m, options, &diags) : NULL;
    k->module = isa ? emu_module_load(device, isa, NULL, NULL, &diags) : NULL;
    diag_render(&diags, &text);
    if (!k->module) random_fail(k, way, strbuf_text(&text));
    ptx_module_free(m);
    diag_free(&diags);
    strbuf_free(&text);
}

/* Memory as it is before the kernel, and the launch of it. */
static inline struct emu_launch random_begin(const struct random_kernel *k)
{
    memcpy((void *)(uintptr_t)k->memory, k->before, GEN_MEMORY_WORDS * sizeof(uint32_t));
    return (struct emu_launch){.module = k->module,
                               .kernel = emu_find_kernel(k->module, "k"),
                               .grid = {k->program.ctas, 1, 1},
                               .block = {k->program.block, 1, 1},
                               .params = &k->memory};
}

static inline void random_check(const struct random_kernel *k, const char *way)
{
    static const struct {
        const char *name;
        uint32_t at;
    } parts[] = {{"input", GEN_AT_IN},
                 {"table", GEN_AT_TABLE},
                 {"bins", GEN_AT_BINS},
                 {"cells", GEN_AT_CELLS},
                 {"results", GEN_AT_OUT},
                 {"exchange", GEN_AT_EXCHANGE},
                 {"shared bins", GEN_AT_SHARED_BINS}};
    const uint32_t *got = (const uint32_t *)(uintptr_t)k->memory;
    if (!memcmp(got, k->after, GEN_MEMORY_WORDS * sizeof(uint32_t))) return;
    uint32_t i = 0, part = 0;
    while (got[i] == k->after[i]) i++;
    while (part + 1 < ARRAY_LEN(parts) && parts[part + 1].at <= i) part++;
    char why[128];
    snprintf(why, sizeof why, "%s, word %lld: got 0x%08x, want 0x%08x", parts[part].name,
             (long long)i - parts[part].at, got[i], k->after[i]);
    random_fail(k, way, why);
}

#endif
