/* timing_kit.h: for the tests of the whole machine: a machine, a module from PTX text, launches, statistics
 * by name. */
#ifndef HEDDLE_TIMING_KIT_H
#define HEDDLE_TIMING_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../sanitized.h"

#include "core/timed.h"
#include "cuda/helper_compile.h"
#include "cuda/limits.h"
#include "lower/lower.h"

struct rig {
    struct machine machine;
    struct emu_device *device;
    struct emu_module *module;
    struct timed_gpu *gpu;
    struct emu_fault fault;
};

struct rig_options {
    /* NULL: fermi */
    const char *machine;
    const char *const *sets;
    uint32_t set_count;
    struct timed_options timed;
};

static inline void rig_show(struct diag_list *d)
{
    struct strbuf text = {0};
    diag_render(d, &text);
    if (d->errors) fail_msg("%s", strbuf_text(&text));
    strbuf_free(&text);
    diag_free(d);
}

/* There is one device at a time: what a failed test left open is closed by its teardown. */
static struct rig *rig_current;

static inline void rig_open(struct rig *r, const char *ptx_text, const struct rig_options *o)
{
    struct diag_list d = {0};
    memset(r, 0, sizeof *r);
    assert_null(rig_current);
    machine_load(o->machine ? o->machine : "fermi", o->sets, o->set_count, &r->machine, &d);
    rig_show(&d);
    r->machine.memory_bytes = 256u << 20;
    struct emu_limits limits = limits_from_machine(&r->machine);
    r->device = emu_device_create(&limits, r->machine.memory_bytes);
    assert_non_null(r->device);
    rig_current = r;
    struct lower_options lo = {.opt_level = 1,
                               .sm_regs = r->machine.sm_registers,
                               .regs_max = r->machine.sm_thread_registers_max,
                               .indirect_move = r->machine.sm_indirect_move};
    struct ptx_module *ptx = ptx_parse("test.ptx", ptx_text, strlen(ptx_text), &d);
    struct isa_module *isa = ptx ? lower_module(ptx, &lo, &d) : NULL;
    if (ptx) ptx_module_free(ptx);
    if (isa) r->module = emu_module_load(r->device, isa, NULL, NULL, &d);
    rig_show(&d);
    struct timed_options timed = o->timed;
    timed.compile = helper_compile;
    r->gpu = timed_create(&r->machine, r->device, &timed, &d);
    rig_show(&d);
    assert_non_null(r->gpu);
}

static inline void rig_close(struct rig *r)
{
    timed_destroy(r->gpu);
    if (r->module) emu_module_unload(r->device, r->module);
    emu_device_destroy(r->device);
    rig_current = NULL;
}

static inline int rig_teardown(void **state)
{
    if (rig_current) rig_close(rig_current);
    return 0;
}

#define RIG_TEST(name) cmocka_unit_test_teardown(name, rig_teardown)

static inline uint64_t rig_alloc(struct rig *r, uint64_t bytes)
{
    uint64_t a = space_alloc(emu_device_space(r->device), bytes, 256, SPACE_DEVICE, "test");
    assert_int_not_equal(a, 0);
    memset((void *)(uintptr_t)a, 0, bytes);
    return a;
}

/* params: 64-bit words, one for each parameter of the kernel (u64 or u32). */
static inline void rig_launch(struct rig *r, const char *kernel, uint32_t grid, uint32_t block,
                              const uint64_t *params, uint64_t stream)
{
    const struct isa_kernel *k = emu_find_kernel(r->module, kernel);
    assert_non_null(k);
    unsigned char bytes[256] = {0};
    for (uint32_t i = 0; i < k->param_count; i++)
        memcpy(bytes + k->params[i].offset, &params[i], k->params[i].bytes);
    struct emu_launch l = {
        .module = r->module, .kernel = k, .grid = {grid, 1, 1}, .block = {block, 1, 1}, .params = bytes};
    timed_launch(r->gpu, &l, stream);
}

static inline void rig_sync(struct rig *r)
{
    if (timed_sync(r->gpu, UINT64_MAX, &r->fault) != EMU_OK) fail_msg("%s", timed_report(r->gpu));
}

static inline void rig_run(struct rig *r, const char *kernel, uint32_t grid, uint32_t block,
                           const uint64_t *params)
{
    rig_launch(r, kernel, grid, block, params, 0);
    rig_sync(r);
}

/* A statistic of the i-th kernel, by its name. */
static inline double rig_stat(struct rig *r, uint32_t kernel, const char *name)
{
    const struct timed_group *groups;
    uint32_t n = timed_groups(r->gpu, &groups);
    assert_true(kernel < timed_kernel_count(r->gpu));
    for (uint32_t g = 0; g < n; g++)
        for (const struct stat_row *row = groups[g].rows; row->name; row++)
            if (!strcmp(row->name, name)) return stat_value(row, timed_kernel_at(r->gpu, kernel)->stats[g]);
    fail_msg("no statistic is called %s", name);
    return 0;
}

static inline uint64_t rig_cycles(struct rig *r, uint32_t kernel)
{
    const struct timed_kernel *k = timed_kernel_at(r->gpu, kernel);
    return k->end_cycle - k->start_cycle;
}

#endif
