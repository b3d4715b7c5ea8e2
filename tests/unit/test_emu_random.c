/* Random programs: what a thread computes depends neither on the lanes beside it nor on where lanes meet
 * again.
 *
 * Each program is PTX text with nested branches, loops with breaks and continues, early returns, switch
 * tables and real calls, all decided by a hash of the thread's number. It is run with one thread a CTA, where
 * nothing ever diverges, and that is the reference for: full warps; odd warps; no known place to meet (every
 * reconvergence point taken out); and wrong places (each one replaced by any instruction). The last two may
 * cost time, never results, and must never hang. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "emu/emu.h"
#include "lower/lower.h"
#include "ptx/ptx.h"

enum { THREADS = 96 };

struct gen {
    struct strbuf text;
    struct rng r;
    uint32_t labels;
    bool in_func;
};

static uint32_t pick(struct gen *g, uint32_t n) { return (uint32_t)rng_below(&g->r, n); }

/* %p = a bit of a hash of the running value %a and of a constant. */
static void gen_condition(struct gen *g, uint32_t p)
{
    strbuf_printf(&g->text,
                  "mul.lo.u32 %%t, %%a, %u; xor.b32 %%t, %%t, %u; shr.u32 %%t, %%t, %u; and.b32 %%t, %%t, 1; "
                  "setp.ne.u32 %%p%u, %%t, 0;\n",
                  rng_u32(&g->r) | 1, rng_u32(&g->r), pick(g, 31), p);
}

static void gen_step(struct gen *g)
{
    strbuf_printf(&g->text, "mad.lo.u32 %%a, %%a, %u, %u; xor.b32 %%a, %%a, %%id;\n", rng_u32(&g->r) | 1,
                  rng_u32(&g->r));
}

static void gen_block(struct gen *g, uint32_t depth, uint32_t exit_label, uint32_t counters);

static void gen_if(struct gen *g, uint32_t depth, uint32_t exit_label, uint32_t counters)
{
    uint32_t other = g->labels++, join = g->labels++;
    gen_condition(g, 0);
    strbuf_printf(&g->text, "@%%p0 bra L%u;\n", other);
    gen_block(g, depth + 1, exit_label, counters);
    strbuf_printf(&g->text, "bra L%u;\nL%u:\n", join, other);
    if (pick(g, 3)) gen_block(g, depth + 1, exit_label, counters);
    strbuf_printf(&g->text, "L%u:\n", join);
}

static void gen_loop(struct gen *g, uint32_t depth, uint32_t exit_label, uint32_t counters)
{
    uint32_t head = g->labels++, leave = g->labels++, next = g->labels++;
    strbuf_printf(&g->text, "and.b32 %%c%u, %%a, %u;\nL%u:\n", counters, (2u << pick(g, 3)) - 1, head);
    gen_block(g, depth + 1, pick(g, 2) ? leave : exit_label, counters + 1);
    gen_condition(g, 1);
    strbuf_printf(&g->text, "@%%p1 bra L%u;\n", pick(g, 2) ? leave : next);
    gen_step(g);
    strbuf_printf(
        &g->text,
        "L%u:\nsetp.eq.u32 %%p2, %%c%u, 0; @%%p2 bra L%u; sub.u32 %%c%u, %%c%u, 1; bra L%u;\nL%u:\n", next,
        counters, leave, counters, counters, head, leave);
}

static void gen_switch(struct gen *g, uint32_t depth, uint32_t exit_label, uint32_t counters)
{
    uint32_t first = g->labels, join = first + 4;
    g->labels += 5;
    strbuf_printf(&g->text,
                  "shr.u32 %%t, %%a, %u; and.b32 %%t, %%t, 3;\nT%u: .branchtargets L%u, L%u, L%u, "
                  "L%u;\nbrx.idx %%t, T%u;\n",
                  pick(g, 28), first, first, first + 1, first + 2, first + 3, first);
    for (uint32_t c = 0; c < 4; c++) {
        strbuf_printf(&g->text, "L%u:\n", first + c);
        gen_block(g, depth + 2, exit_label, counters);
        if (pick(g, 4)) strbuf_printf(&g->text, "bra L%u;\n", join); /* else it falls through */
    }
    strbuf_printf(&g->text, "L%u:\n", join);
}

/* f(%a, depth): depth is how often it may call itself. */
static void gen_call(struct gen *g, const char *depth)
{
    strbuf_printf(&g->text,
                  "{ .param .b32 x; .param .b32 d; .param .b32 y; st.param.b32 [x], %%a; mov.u32 %%t, %s; "
                  "st.param.b32 [d], %%t; call (y), f, (x, d); ld.param.b32 %%a, [y]; }\n",
                  depth);
}

static void gen_block(struct gen *g, uint32_t depth, uint32_t exit_label, uint32_t counters)
{
    uint32_t parts = 1 + pick(g, 3);
    for (uint32_t i = 0; i < parts; i++) {
        gen_step(g);
        uint32_t kind = depth >= 4 ? 9 : pick(g, 10);
        if (kind < 3)
            gen_if(g, depth, exit_label, counters);
        else if (kind < 5 && counters < 3)
            gen_loop(g, depth, exit_label, counters);
        else if (kind == 5)
            gen_switch(g, depth, exit_label, counters);
        else if (kind == 6 && !g->in_func)
            gen_call(g, "5");
        else if (kind == 7 && depth) { /* out of everything, or of a loop */
            gen_condition(g, 3);
            strbuf_printf(&g->text, "@%%p3 bra L%u;\n", exit_label);
        }
    }
}

#define REGS ".reg .pred %p<4>; .reg .b32 %a, %t, %id, %n, %m, %c<4>; .reg .b64 %o, %x;\n"

/* f calls itself while a hash of its argument says so and its depth allows. */
static void gen_function(struct gen *g)
{
    uint32_t out = g->labels++, done = g->labels++;
    g->in_func = true;
    strbuf_puts(&g->text, ".func (.param .b32 res) f(.param .b32 arg, .param .b32 depth)\n{\n" REGS
                          "ld.param.b32 %a, [arg]; ld.param.b32 %n, [depth]; mov.u32 %id, %a;\n");
    gen_block(g, 1, out, 0);
    strbuf_printf(&g->text,
                  "L%u:\nshr.u32 %%t, %%a, 5; and.b32 %%t, %%t, 3; setp.ne.u32 %%p0, %%t, 0; @%%p0 bra L%u; "
                  "setp.eq.u32 %%p0, %%n, 0; @%%p0 bra L%u; sub.u32 %%n, %%n, 1;\n",
                  out, done, done);
    gen_step(g);
    gen_call(g, "%n");
    gen_step(g);
    strbuf_printf(&g->text, "L%u:\nst.param.b32 [res], %%a;\nret;\n}\n", done);
    g->in_func = false;
}

static char *gen_program(uint64_t seed)
{
    struct gen g = {.r = {seed}};
    strbuf_puts(&g.text, ".version 7.0\n.target sm_70\n.address_size 64\n.func (.param .b32 res) f(.param "
                         ".b32 arg, .param .b32 depth);\n");
    gen_function(&g);
    uint32_t out = g.labels++;
    strbuf_puts(
        &g.text,
        ".visible .entry k(.param .u64 out)\n{\n" REGS
        "ld.param.u64 %o, [out]; mov.u32 %id, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %m, %tid.x;\n"
        "mad.lo.u32 %id, %id, %n, %m; mul.wide.u32 %x, %id, 4; add.u64 %o, %o, %x; mov.u32 %a, %id;\n");
    gen_block(&g, 0, out, 0);
    strbuf_printf(&g.text, "L%u:\nst.global.u32 [%%o], %%a;\nret;\n}\n", out);
    return g.text.data;
}

static void dump_and_fail(const char *ptx, const char *what)
{
    FILE *f = fopen("random_failure.ptx", "w");
    if (f) {
        fputs(ptx, f);
        fclose(f);
    }
    fail_msg("%s (program in random_failure.ptx)", what);
}

struct world {
    struct emu_device *device;
    struct isa_kernel *kernel;
    struct emu_module *module;
    const char *ptx;
    uint32_t *out;
};

static void load(struct world *w, const char *ptx, bool no_inline)
{
    struct diag_list diags = {0};
    struct ptx_module *parsed = ptx_parse("random.ptx", ptx, strlen(ptx), &diags);
    struct lower_options opts = {.opt_level = 1, .no_inline = no_inline};
    struct isa_module *isa = parsed ? lower_module(parsed, &opts, &diags) : NULL;
    w->ptx = ptx;
    w->kernel = isa ? isa->kernels[0] : NULL;
    w->module = isa ? emu_module_load(w->device, isa, NULL, NULL, &diags) : NULL;
    if (!w->module) {
        struct strbuf text = {0};
        diag_render(&diags, &text);
        fprintf(stderr, "%s", strbuf_text(&text));
        dump_and_fail(ptx, "not loaded");
    }
    ptx_module_free(parsed);
    diag_free(&diags);
}

static uint64_t run(struct world *w, uint32_t block, uint32_t *result)
{
    struct emu_stats stats = {0};
    struct emu_fault fault;
    uint64_t at = (uint64_t)(uintptr_t)w->out;
    struct emu_launch l = {.module = w->module,
                           .kernel = w->kernel,
                           .grid = {THREADS / block, 1, 1},
                           .block = {block, 1, 1},
                           .params = &at};
    memset(w->out, 0, THREADS * 4);
    if (emu_run(w->device, &l, &stats, &fault) != EMU_OK) dump_and_fail(w->ptx, fault.message);
    memcpy(result, w->out, THREADS * 4);
    return stats.warp_insts;
}

static void compare(struct world *w, const uint32_t *reference, uint32_t block, const char *what)
{
    uint32_t got[THREADS];
    run(w, block, got);
    if (memcmp(got, reference, sizeof got)) dump_and_fail(w->ptx, what);
}

static void scramble(struct world *w, uint64_t seed, bool none)
{
    struct rng r = {seed};
    for (uint32_t pc = 0; pc < w->kernel->inst_count; pc++) {
        struct isa_inst *i = &w->kernel->insts[pc];
        if (i->op != ISA_OP_BRA && i->op != ISA_OP_BRX) continue;
        i->reconv = none ? ISA_NO_RECONV : (uint32_t)rng_below(&r, w->kernel->inst_count);
    }
}

static void test_random_programs(void **state)
{
    const struct emu_limits limits = {.threads_per_cta_max = 1024,
                                      .grid_max = {1 << 20, 1, 1},
                                      .block_max = {1024, 1, 1},
                                      .shared_per_cta_max = 1024,
                                      .regs_per_cta_max = 65536,
                                      .sm_count = 2,
                                      .stack_bytes = 1 << 16,
                                      .warp_insts_max = 3000000};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world w = {.device = emu_device_create(&limits, 1 << 24)};
        assert_non_null(w.device);
        w.out = (uint32_t *)(uintptr_t)space_alloc(emu_device_space(w.device), THREADS * 4, 256, SPACE_DEVICE,
                                                   "out");
        char *ptx = gen_program(seed);
        load(&w, ptx, seed & 1);
        uint32_t reference[THREADS], got[THREADS];
        uint64_t alone = run(&w, 1, reference), together = run(&w, 32, got);
        if (memcmp(got, reference, sizeof got)) dump_and_fail(ptx, "full warps");
        if (together > alone) dump_and_fail(ptx, "a warp takes more instructions than its lanes one by one");
        compare(&w, reference, 48, "odd warps");
        scramble(&w, seed, true);
        compare(&w, reference, 32, "no reconvergence");
        for (uint64_t n = 0; n < 4; n++) {
            scramble(&w, seed * 16 + n, false);
            compare(&w, reference, 32, "wrong reconvergence");
        }
        emu_module_unload(w.device, w.module);
        emu_device_destroy(w.device);
        free(ptx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
