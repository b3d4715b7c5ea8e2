/* ptx_kit.h: for tests of the emulator whose kernels are PTX text: a device, a module, a launch. */
#ifndef HEDDLE_PTX_KIT_H
#define HEDDLE_PTX_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/emu.h"
#include "lower/lower.h"
#include "ptx/ptx.h"

#define PTX_HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

struct ptx_kit {
    struct emu_device *device;
    struct emu_module *module;
    /* each takes 8 bytes */
    uint64_t params[8];
    uint32_t ctas_per_sm;
    struct emu_stats stats;
    struct emu_fault fault;
    struct strbuf out, err;
};

static inline void ptx_kit_output(void *ctx, bool is_error, const char *text, size_t len)
{
    struct ptx_kit *k = ctx;
    strbuf_add(is_error ? &k->err : &k->out, text, len);
}

/* The device that is open: one that a failed test left behind keeps the address range of the next. */
static struct emu_device *ptx_kit_device;

/* A device of four SMs with the kernels of the text. */
static inline void ptx_kit_open(struct ptx_kit *k, const char *text)
{
    static const struct emu_limits limits = {.threads_per_cta_max = 1024,
                                             .grid_max = {2147483647, 65535, 65535},
                                             .block_max = {1024, 1024, 64},
                                             .shared_per_cta_max = 48 << 10,
                                             .regs_per_cta_max = 65536,
                                             .sm_count = 4,
                                             .stack_bytes = 1024,
                                             .heap_bytes = 1 << 16,
                                             .warp_insts_max = 100000000,
                                             .clock_khz = 1000000};
    memset(k, 0, sizeof *k);
    emu_device_destroy(ptx_kit_device);
    k->device = ptx_kit_device = emu_device_create(&limits, 1ull << 30);
    assert_non_null(k->device);
    emu_device_on_output(k->device, ptx_kit_output, k);
    struct diag_list diags = {0};
    struct ptx_module *ptx = ptx_parse("t.ptx", text, strlen(text), &diags);
    struct isa_module *isa = ptx ? lower_module(ptx, &(struct lower_options){.opt_level = 1}, &diags) : NULL;
    if (isa) k->module = emu_module_load(k->device, isa, NULL, NULL, &diags);
    if (!k->module) {
        struct strbuf why = {0};
        diag_render(&diags, &why);
        fail_msg("%s", strbuf_text(&why));
    }
    ptx_module_free(ptx);
    diag_free(&diags);
}

static inline void ptx_kit_close(struct ptx_kit *k)
{
    emu_module_unload(k->device, k->module);
    emu_device_destroy(k->device);
    ptx_kit_device = NULL;
    strbuf_free(&k->out);
    strbuf_free(&k->err);
}

/* A cleared buffer of words; its address is parameter n. */
static inline volatile uint32_t *ptx_kit_buffer(struct ptx_kit *k, uint32_t n, uint32_t words,
                                                enum space_kind kind)
{
    uint64_t at = space_alloc(emu_device_space(k->device), words * 4ull, 256, kind, "buffer");
    assert_true(at != 0);
    memset((void *)(uintptr_t)at, 0, words * 4ull);
    k->params[n] = at;
    return (volatile uint32_t *)(uintptr_t)at;
}

static inline enum emu_fault_kind ptx_kit_launch(struct ptx_kit *k, const char *kernel, uint32_t grid,
                                                 uint32_t block)
{
    struct emu_launch l = {.module = k->module,
                           .kernel = emu_find_kernel(k->module, kernel),
                           .grid = {grid, 1, 1},
                           .block = {block, 1, 1},
                           .params = k->params,
                           .ctas_per_sm = k->ctas_per_sm};
    assert_non_null(l.kernel);
    return emu_run(k->device, &l, &k->stats, &k->fault);
}

static inline void ptx_kit_run(struct ptx_kit *k, const char *kernel, uint32_t grid, uint32_t block)
{
    if (ptx_kit_launch(k, kernel, grid, block) != EMU_OK) fail_msg("%s", k->fault.message);
}

#endif
