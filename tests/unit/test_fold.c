/* test_fold.c: folding against the emulator. Each row of the table is a piece of PTX with one to three
 * operands. It is lowered with every subset of its operands as constants, and of the others loaded from
 * memory, once with folding and once without: the emulator must leave the same value for every combination of
 * edge operands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "emu/emu.h"
#include "lower/fold.h"
#include "lower/lower.h"

/* Where signs, widths, powers of two and amounts of shifts change sides. */
static const uint64_t values[] = {
    0, 1, 2, 5, 31, 32, 64, 0x80, 0x8000, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX, 0x923456789abcdef0};
enum { VALUES = ARRAY_LEN(values), OPERANDS_MAX = 3 };

/* $d0 is operand 0 as 64 bits, $r0 its low 32, $s0 its low 16, $p0 whether it is odd. The body leaves its
 * result in %d; %a to %c of each kind (%ra, %db, %pc...) are its own registers. */
static const char *const rows[] = {
    /* arithmetic */
    "add.u32 %ra, $r0, $r1; cvt.u64.u32 %d, %ra;",
    "add.u64 %d, $d0, $d1;",
    "sub.u32 %ra, $r0, $r1; cvt.u64.u32 %d, %ra;",
    "sub.u64 %d, $d0, $d1;",
    "mul.lo.u32 %ra, $r0, $r1; cvt.u64.u32 %d, %ra;",
    "mul.lo.u64 %d, $d0, $d1;",
    "mul.hi.u32 %ra, $r0, $r1; cvt.u64.u32 %d, %ra;",
    "mul.wide.u32 %d, $r0, $r1;",
    "mul.wide.s32 %d, $r0, $r1;",
    "mad.lo.u32 %ra, $r0, $r1, $r2; cvt.u64.u32 %d, %ra;",
    "mad.lo.u64 %d, $d0, $d1, $d2;",
    "mad.wide.u32 %d, $r0, $r1, $d2;",
    "mad.wide.s32 %d, $r0, $r1, $d2;",
    "neg.s32 %ra, $r0; cvt.u64.u32 %d, %ra;",
    "neg.s64 %d, $d0;",
    /* bits */
    "and.b32 %ra, $r0, $r1; cvt.u64.u32 %d, %ra;",
    "and.b64 %d, $d0, $d1;",
    "or.b32 %ra, $r0, $r1; cvt.u64.u32 %d, %ra;",
    "or.b64 %d, $d0, $d1;",
    "xor.b32 %ra, $r0, $r1; cvt.u64.u32 %d, %ra;",
    "xor.b64 %d, $d0, $d1;",
    "not.b32 %ra, $r0; cvt.u64.u32 %d, %ra;",
    "not.b64 %d, $d0;",
    "shl.b32 %ra, $r0, $r1; cvt.u64.u32 %d, %ra;",
    "shl.b64 %d, $d0, $r1;",
    "shr.u32 %ra, $r0, $r1; cvt.u64.u32 %d, %ra;",
    "shr.s32 %ra, $r0, $r1; cvt.u64.u32 %d, %ra;",
    "shr.u64 %d, $d0, $r1;",
    "shr.s64 %d, $d0, $r1;",
    "mov.b64 %d, {$r0, $r1};",
    /* predicates */
    "and.pred %pa, $p0, $p1; selp.u64 %d, 3, 4, %pa;",
    "or.pred %pa, $p0, $p1; selp.u64 %d, 3, 4, %pa;",
    "xor.pred %pa, $p0, $p1; selp.u64 %d, 3, 4, %pa;",
    "not.pred %pa, $p0; and.pred %pb, %pa, $p1; selp.u64 %d, 3, 4, %pb;",
    "selp.u32 %ra, $r0, $r1, $p2; cvt.u64.u32 %d, %ra;",
    "selp.u64 %d, $d0, $d1, $p2;",
    "selp.u64 %d, $d0, $d0, $p1;",
    "not.pred %pa, $p2; selp.u64 %d, $d0, $d1, %pa;",
    "selp.u32 %ra, 1, 0, $p0; setp.ne.u32 %pa, %ra, 0; selp.u64 %d, $d1, 7, %pa;",
    "selp.u32 %ra, 1, 0, $p0; setp.eq.s32 %pa, %ra, 0; selp.u64 %d, $d1, 7, %pa;",
    "selp.u32 %ra, 6, 0, $p0; setp.eq.u32 %pa, %ra, 0; selp.u64 %d, $d1, 7, %pa;",
    "selp.u32 %ra, 0, 6, $p0; setp.eq.u32 %pa, %ra, 0; selp.u64 %d, $d1, 7, %pa;",
    "mov.u64 %d, $d0; @$p1 mov.u64 %d, 9;",
    "mov.u64 %d, $d0; @!$p1 add.u64 %d, %d, $d2;",
    /* comparisons */
    "setp.lt.u16 %pa, $s0, $s1; selp.u64 %d, 3, 4, %pa;",
    "setp.lt.s16 %pa, $s0, $s1; selp.u64 %d, 3, 4, %pa;",
    "setp.eq.u32 %pa, $r0, $r1; selp.u64 %d, 3, 4, %pa;",
    "setp.ne.u32 %pa, $r0, $r1; selp.u64 %d, 3, 4, %pa;",
    "setp.lt.u32 %pa, $r0, $r1; selp.u64 %d, 3, 4, %pa;",
    "setp.le.u32 %pa, $r0, $r1; selp.u64 %d, 3, 4, %pa;",
    "setp.gt.u32 %pa, $r0, $r1; selp.u64 %d, 3, 4, %pa;",
    "setp.ge.u32 %pa, $r0, $r1; selp.u64 %d, 3, 4, %pa;",
    "setp.lt.s32 %pa, $r0, $r1; selp.u64 %d, 3, 4, %pa;",
    "setp.le.s32 %pa, $r0, $r1; selp.u64 %d, 3, 4, %pa;",
    "setp.gt.s32 %pa, $r0, $r1; selp.u64 %d, 3, 4, %pa;",
    "setp.ge.s32 %pa, $r0, $r1; selp.u64 %d, 3, 4, %pa;",
    "setp.lt.u64 %pa, $d0, $d1; selp.u64 %d, 3, 4, %pa;",
    "setp.lt.s64 %pa, $d0, $d1; selp.u64 %d, 3, 4, %pa;",
    "setp.ge.s64 %pa, $d0, $d1; selp.u64 %d, 3, 4, %pa;",
    "setp.eq.u64 %pa, $d0, $d1; selp.u64 %d, 3, 4, %pa;",
    "setp.lt.and.s32 %pa, $r0, $r1, $p2; selp.u64 %d, 3, 4, %pa;",
    "setp.lt.or.s32 %pa, $r0, $r1, $p2; selp.u64 %d, 3, 4, %pa;",
    "setp.lt.xor.s32 %pa, $r0, $r1, $p2; selp.u64 %d, 3, 4, %pa;",
    "setp.lt.and.u64 %pa, $d0, $d1, !$p2; selp.u64 %d, 3, 4, %pa;",
    "setp.lt.or.u64 %pa, $d0, $d1, !$p2; selp.u64 %d, 3, 4, %pa;",
    "setp.lt.xor.u64 %pa, $d0, $d1, !$p2; selp.u64 %d, 3, 4, %pa;",
    /* conversions */
    "cvt.u32.u8 %ra, $r0; cvt.u64.u32 %d, %ra;",
    "cvt.u32.s8 %ra, $r0; cvt.u64.u32 %d, %ra;",
    "cvt.s32.s8 %ra, $r0; cvt.s64.s32 %d, %ra;",
    "cvt.u32.u16 %ra, $s0; cvt.u64.u32 %d, %ra;",
    "cvt.s32.s16 %ra, $s0; cvt.s64.s32 %d, %ra;",
    "cvt.u32.u64 %ra, $d0; cvt.u64.u32 %d, %ra;",
    "cvt.s32.s64 %ra, $d0; cvt.s64.s32 %d, %ra;",
    "cvt.u64.u32 %d, $r0;",
    "cvt.s64.s32 %d, $r0;",
    "cvt.u64.s32 %d, $r0;",
    "cvt.s64.u32 %d, $r0;",
    "cvt.u64.u16 %d, $s0;",
    "cvt.s64.s16 %d, $s0;",
    "cvt.u16.u32 %sa, $r0; cvt.u64.u16 %d, %sa;",
    "cvt.u16.u64 %sa, $d0; cvt.u64.u16 %d, %sa;",
    "cvt.u16.u8 %sa, $s0; cvt.u64.u16 %d, %sa;",
    "cvt.s16.s8 %sa, $s0; cvt.s64.s16 %d, %sa;",
    "cvt.s16.s32 %sa, $r0; cvt.s64.s16 %d, %sa;",
    "cvt.sat.u32.s64 %ra, $d0; cvt.u64.u32 %d, %ra;",
    "cvt.sat.s32.u64 %ra, $d0; cvt.s64.s32 %d, %ra;",
    "cvt.u32.u8 %ra, $r0; cvt.u32.u16 %rb, %ra; cvt.u64.u32 %d, %rb;",
    "cvt.u32.u16 %ra, $s0; cvt.u32.u8 %rb, %ra; cvt.u64.u32 %d, %rb;",
    "cvt.u32.u16 %ra, $r0; cvt.u32.u8 %rb, %ra; cvt.u64.u32 %d, %rb;",
    "cvt.u32.u8 %ra, $r0; cvt.u16.u8 %sa, %ra; cvt.u64.u16 %d, %sa;",
    "st.shared.u32 [sv], $r0; ld.shared.u16 %ra, [sv]; cvt.u32.u8 %rb, %ra; cvt.u64.u32 %d, %rb;",
    "st.shared.u32 [sv], $r0; ld.shared.u16 %ra, [sv]; cvt.u32.u16 %rb, %ra; cvt.u64.u32 %d, %rb;",
    "st.shared.u32 [sv], $r0; ld.shared.u8 %ra, [sv]; cvt.u32.u16 %rb, %ra; cvt.u64.u32 %d, %rb;",
    "mov.b64 %da, {$r0, $r1}; cvt.u32.u64 %ra, %da; cvt.u64.u32 %d, %ra;",
    "mov.b64 %da, {$r0, $r1}; mov.b64 {_, %ra}, %da; cvt.u64.u32 %d, %ra;",
    "mov.b64 %da, {$r0, $r1}; mov.b64 {%ra, %rb}, %da; sub.u32 %ra, %ra, %rb; cvt.u64.u32 %d, %ra;",
    "cvt.s64.s32 %da, $r0; mov.b64 {_, %ra}, %da; cvt.u64.u32 %d, %ra;",
    "cvt.s64.s32 %da, $r0; cvt.u32.u64 %ra, %da; cvt.u64.u32 %d, %ra;",
    /* products, shifts and sums taken together */
    "cvt.u64.u32 %da, $r0; shl.b64 %d, %da, $r1;",
    "cvt.s64.s32 %da, $r0; shl.b64 %d, %da, $r1;",
    "cvt.u64.u32 %da, $r0; shl.b64 %d, %da, 4;",
    "cvt.s64.s32 %da, $r0; shl.b64 %d, %da, 4;",
    "cvt.u64.u32 %da, $r0; shl.b64 %d, %da, 30;",
    "cvt.s64.s32 %da, $r0; shl.b64 %d, %da, 31;",
    "cvt.u64.u32 %da, $r0; shl.b64 %db, %da, 3; add.u64 %d, %db, $d1;",
    "cvt.s64.s32 %da, $r0; shl.b64 %db, %da, 3; add.u64 %d, $d1, %db;",
    "shl.b32 %ra, $r0, 5; add.u32 %rb, %ra, $r1; cvt.u64.u32 %d, %rb;",
    "shl.b32 %ra, $r0, 32; add.u32 %rb, %ra, $r1; cvt.u64.u32 %d, %rb;",
    "shl.b64 %da, $d0, 33; add.u64 %d, $d1, %da;",
    "mul.lo.u32 %ra, $r0, $r1; add.u32 %rb, $r2, %ra; cvt.u64.u32 %d, %rb;",
    "mul.lo.u64 %da, $d0, $d1; add.u64 %d, %da, $d2;",
    "mul.wide.u32 %da, $r0, $r1; add.u64 %d, %da, $d2;",
    "mul.wide.s32 %da, $r0, $r1; add.u64 %d, $d2, %da;",
    "mul.wide.u32 %da, $r0, 8; add.u64 %d, %da, $d1;",
    "add.u32 %ra, $r0, 0x7fffffff; add.u32 %rb, %ra, 3; cvt.u64.u32 %d, %rb;",
    "add.u64 %da, $d0, 0x7fffffff; add.u64 %d, %da, 0x7fffffff;",
    "add.u64 %da, $d0, -5; sub.u64 %d, %da, $d1;",
    "mad.lo.u32 %ra, $r0, 16, $r1; cvt.u64.u32 %d, %ra;",
    "mad.lo.u64 %d, $d0, 0x100000000, $d1;",
    "mad.lo.u32 %ra, $r0, 1, $r1; cvt.u64.u32 %d, %ra;",
    "mad.wide.u32 %d, $r0, 1, $d1;",
    "mad.wide.s32 %d, $r0, 16, $d1;",
    /* addresses: the low bits of an operand choose a word */
    "and.b32 %ra, $r0, 28; mov.u32 %rb, sv; add.u32 %rc, %rb, %ra; st.shared.u32 [%rc+4], $r1; "
    "ld.shared.u32 %re, [%rc+4]; cvt.u64.u32 %d, %re;",
    "and.b32 %ra, $r0, 28; mov.u32 %rb, sv; add.u32 %rc, %rb, %ra; add.u32 %re, %rc, -4; "
    "st.shared.u32 [%re+8], $r1; ld.shared.u32 %rf, [%rc+4]; cvt.u64.u32 %d, %rf;",
    "and.b32 %ra, $r0, 28; cvt.u64.u32 %da, %ra; mov.u64 %db, sv; add.u64 %dc, %db, %da; "
    "add.u64 %de, %dc, 8; st.shared.u32 [%de-4], $r1; ld.shared.u32 %re, [%dc+4]; cvt.u64.u32 %d, %re;",
    "and.b32 %ra, $r0, 3; mul.wide.u32 %da, %ra, 4; mov.u64 %db, lv; add.u64 %dc, %db, %da; "
    "cvta.local.u64 %de, %dc; st.u32 [%de+4], $r1; ld.local.u32 %re, [%dc+4]; cvt.u64.u32 %d, %re;",
    "mov.u32 %ra, sv; add.u32 %rb, %ra, 12; sub.u32 %rc, %rb, 8; st.shared.u32 [%rc], $r0; "
    "ld.shared.u32 %re, [sv+4]; cvt.u64.u32 %d, %re;",
    "mov.u32 %ra, sv; add.u32 %rb, %ra, 40; add.u32 %rc, %rb, -36; st.shared.u32 [%rc+4], $r0; "
    "ld.shared.u32 %re, [sv+8]; cvt.u64.u32 %d, %re;",
};

/* ---- the text of a kernel ---- */

static uint32_t operands_of(const char *body)
{
    uint32_t n = 0;
    for (const char *c = body; (c = strchr(c, '$')); c++) n = MAX(n, (uint32_t)(c[2] - '0') + 1);
    return n;
}

/* A way to run a row: which of its operands are constants. Constants differ from block to block of the
 * kernel, the others from thread to thread: all pairs of two, and a third that goes around. */
struct way {
    const char *body;
    uint32_t operands, constants;
};

static uint32_t choices(uint32_t operands)
{
    return operands == 0 ? 1 : operands == 1 ? VALUES : VALUES * VALUES;
}
static uint32_t blocks_of(const struct way *w) { return choices((uint32_t)__builtin_popcount(w->constants)); }
static uint32_t threads_of(const struct way *w)
{
    return choices(w->operands - (uint32_t)__builtin_popcount(w->constants));
}

/* The value of operand k where its kind, constant or not, has its choice number i. */
static uint64_t value_of(const struct way *w, uint32_t k, uint32_t i)
{
    const uint32_t kind = w->constants >> k & 1 ? w->constants : ~w->constants;
    const uint32_t before = (uint32_t)__builtin_popcount(kind & ((1u << k) - 1));
    return values[(before == 0 ? i : before == 1 ? i / VALUES : i + i / VALUES) % VALUES];
}

/* $r0 -> %rx0, the register of the operand. */
static void put_body(struct strbuf *out, const char *body)
{
    for (const char *c = body; *c; c++) {
        if (*c != '$') {
            strbuf_putc(out, *c);
            continue;
        }
        strbuf_printf(out, "%%%cx%c", c[1], c[2]);
        c += 2;
    }
}

/* A constant is written in each width: a conversion of it might not be folded. */
static void put_constant(struct strbuf *out, uint32_t k, uint64_t v)
{
    strbuf_printf(out,
                  "mov.u64 %%dx%u, 0x%llx; mov.u32 %%rx%u, 0x%x; mov.u16 %%sx%u, 0x%x; "
                  "setp.ne.u32 %%px%u, %u, 0;\n",
                  k, (unsigned long long)v, k, (unsigned)(uint32_t)v, k, (unsigned)(uint16_t)v, k,
                  (unsigned)(v & 1));
}

static void put_load(struct strbuf *out, uint32_t k)
{
    strbuf_printf(out,
                  "ld.global.u64 %%dx%u, [%%in+%u]; cvt.u32.u64 %%rx%u, %%dx%u; cvt.u16.u64 %%sx%u, %%dx%u; "
                  "and.b32 %%odd, %%rx%u, 1; setp.ne.u32 %%px%u, %%odd, 0;\n",
                  k, 8 * k, k, k, k, k, k, k);
}

static void put_block(struct strbuf *out, const struct way *w, uint32_t block)
{
    strbuf_puts(out, "{\n.reg .pred %px<3>, %pa, %pb; .reg .b16 %sx<3>, %sa;\n"
                     ".reg .b32 %rx<3>, %ra, %rb, %rc, %re, %rf, %odd;\n"
                     ".reg .b64 %dx<3>, %da, %db, %dc, %de, %d;\n");
    for (uint32_t k = 0; k < w->operands; k++)
        if (w->constants >> k & 1)
            put_constant(out, k, value_of(w, k, block));
        else
            put_load(out, k);
    put_body(out, w->body);
    strbuf_printf(out, "\nst.global.u64 [%%out+%u], %%d;\n}\n", 8 * block);
}

/* Thread t has in[t][operand] and out[t][block]. */
static void put_kernel(struct strbuf *out, const struct way *w)
{
    strbuf_puts(out, ".version 8.3\n.target sm_90\n.address_size 64\n.shared .align 8 .b8 sv[64];\n"
                     ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n.reg .b32 %t;\n"
                     ".reg .b64 %in, %out, %offset;\n.local .align 8 .b8 lv[32];\nmov.u32 %t, %tid.x;\n"
                     "ld.param.u64 %in, [p0]; mul.wide.u32 %offset, %t, 24; add.u64 %in, %in, %offset;\n"
                     "ld.param.u64 %out, [p1];\n");
    strbuf_printf(out, "mul.wide.u32 %%offset, %%t, %u; add.u64 %%out, %%out, %%offset;\n", 8 * blocks_of(w));
    for (uint32_t b = 0; b < blocks_of(w); b++) put_block(out, w, b);
    strbuf_puts(out, "ret;\n}\n");
}

/* ---- running it ---- */

static struct emu_device *make_device(void)
{
    struct emu_limits limits = {.threads_per_cta_max = 1024,
                                .grid_max = {1, 1, 1},
                                .block_max = {1024, 1, 1},
                                .shared_per_cta_max = 48 << 10,
                                .regs_per_cta_max = 65536,
                                .sm_count = 1,
                                .stack_bytes = 4096,
                                .heap_bytes = 1 << 20,
                                .warp_insts_max = 1000000,
                                .clock_khz = 1000000};
    return emu_device_create(&limits, 64 << 20);
}

/* Instructions of the kernel, for the test of the test; 0: refused, and the reason was printed. */
static uint32_t run(struct emu_device *d, const struct way *w, uint32_t opt_level, uint64_t *out)
{
    struct strbuf text = {0}, said = {0};
    struct diag_list diags = {0};
    put_kernel(&text, w);
    struct ptx_module *ptx = ptx_parse("t.ptx", strbuf_text(&text), text.len, &diags);
    struct lower_options options = {.opt_level = opt_level};
    struct isa_module *isa = ptx ? lower_module(ptx, &options, &diags) : NULL;
    struct emu_module *m = isa ? emu_module_load(d, isa, NULL, NULL, &diags) : NULL;
    uint32_t insts = 0;
    if (m) {
        const uint32_t threads = threads_of(w), blocks = blocks_of(w);
        struct space *space = emu_device_space(d);
        struct {
            uint64_t in, out;
        } p = {space_alloc(space, threads * 24, 256, SPACE_DEVICE, "in"),
               space_alloc(space, (uint64_t)threads * blocks * 8, 256, SPACE_DEVICE, "out")};
        uint64_t *in = (uint64_t *)(uintptr_t)p.in;
        for (uint32_t i = 0; i < threads * OPERANDS_MAX; i++)
            in[i] = value_of(w, i % OPERANDS_MAX, i / OPERANDS_MAX);
        struct emu_launch l = {.module = m,
                               .kernel = emu_find_kernel(m, "k"),
                               .grid = {1, 1, 1},
                               .block = {threads, 1, 1},
                               .params = &p};
        struct emu_stats stats = {0};
        struct emu_fault fault = {0};
        insts = emu_run(d, &l, &stats, &fault) == EMU_OK ? l.kernel->inst_count : 0;
        if (!insts) print_error("%s\n%s\n", w->body, fault.message);
        memcpy(out, (void *)(uintptr_t)p.out, (size_t)threads * blocks * 8);
        space_free(space, p.in);
        space_free(space, p.out);
        emu_module_unload(d, m);
    } else {
        diag_render(&diags, &said);
        print_error("%s\n%s\n", w->body, strbuf_text(&said));
    }
    if (ptx) ptx_module_free(ptx);
    diag_free(&diags);
    strbuf_free(&text);
    strbuf_free(&said);
    return insts;
}

static bool is_same(const struct way *w, const uint64_t *plain, const uint64_t *folded)
{
    const uint32_t blocks = blocks_of(w);
    for (uint32_t i = 0; i < threads_of(w) * blocks; i++) {
        if (plain[i] == folded[i]) continue;
        print_error("%s\n", w->body);
        for (uint32_t k = 0; k < w->operands; k++) {
            const bool is_constant = w->constants >> k & 1;
            print_error("  operand %u: 0x%llx%s\n", k,
                        (unsigned long long)value_of(w, k, is_constant ? i % blocks : i / blocks),
                        is_constant ? ", a constant" : "");
        }
        print_error("  0x%llx, folded 0x%llx\n", (unsigned long long)plain[i], (unsigned long long)folded[i]);
        return false;
    }
    return true;
}

static void folded_code_computes_what_the_instructions_do(void **state)
{
    (void)state;
    static uint64_t plain[VALUES * VALUES * VALUES * VALUES], folded[ARRAY_LEN(plain)];
    struct emu_device *d = make_device();
    uint32_t bad = 0;
    assert_non_null(d);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct way w = {rows[i], operands_of(rows[i]), 0};
        for (; w.constants < 1u << w.operands; w.constants++) {
            const uint32_t as_written = run(d, &w, 0, plain), less = run(d, &w, 1, folded);
            bad += !as_written || !less || !is_same(&w, plain, folded);
            /* all constant: a store of a constant is left of each block, or nothing was folded */
            if (w.constants + 1 == 1u << w.operands) bad += less >= as_written;
        }
    }
    emu_device_destroy(d);
    assert_int_equal(bad, 0);
}

/* ---- what selection does not write ---- */

/* A 32-bit value is widened by `cvt`, then shifted left by 4 or, with lea, added to another one as well.
 * Returns what becomes of the second instruction. */
static struct mir_inst fold_widened(uint16_t cvt, bool lea)
{
    struct routine u = {.fp = MIR_NO_VREG};
    const uint32_t narrow = mir_new_vreg(&u.mir, MIR_R), wide = mir_new_vreg(&u.mir, MIR_D),
                   other = mir_new_vreg(&u.mir, MIR_D), result = mir_new_vreg(&u.mir, MIR_D);
    struct mir_inst widen = opnd_inst(cvt, 0);
    widen.dst[0] = mir_vreg(wide);
    widen.src[0] = mir_vreg(narrow);
    struct mir_inst shift = opnd_inst(lea ? ISA_OP_LEA_64 : ISA_OP_SHL_64, 0);
    shift.dst[0] = mir_vreg(result);
    shift.src[0] = mir_vreg(wide);
    shift.src[1] = lea ? mir_vreg(other) : mir_imm(4);
    shift.imm = lea ? 4 : 0;
    vec_push(&u.mir.insts, widen);
    vec_push(&u.mir.insts, shift);
    vec_push(&u.mir.insts, opnd_inst(ISA_OP_EXIT, 0));
    assert_true(routine_fold(&u));
    const struct mir_inst folded = u.mir.insts.data[1];
    assert_int_equal(folded.src[0].v, narrow);
    mir_func_free(&u.mir);
    return folded;
}

/* What becomes of a conversion of the result of another one, between registers of 32 bits. */
static struct mir_inst fold_conversions(uint16_t first, uint16_t second)
{
    struct routine u = {.fp = MIR_NO_VREG};
    uint32_t v[3];
    for (uint32_t i = 0; i < 3; i++) v[i] = mir_new_vreg(&u.mir, MIR_R);
    for (uint32_t i = 0; i < 2; i++) {
        struct mir_inst in = opnd_inst(i ? second : first, 0);
        in.dst[0] = mir_vreg(v[i + 1]);
        in.src[0] = mir_vreg(v[i]);
        vec_push(&u.mir.insts, in);
    }
    vec_push(&u.mir.insts, opnd_inst(ISA_OP_EXIT, 0));
    routine_fold(&u);
    const struct mir_inst folded = u.mir.insts.data[1];
    assert_int_equal(folded.src[0].v, v[1]);
    mir_func_free(&u.mir);
    return folded;
}

static void a_narrowing_of_what_is_narrow_is_a_move_and_no_other(void **state)
{
    (void)state;
    static const struct {
        uint16_t first, second;
        bool is_move;
    } cases[] = {
        {ISA_OP_CVT_U32_U8, ISA_OP_CVT_U32_U8, true},   {ISA_OP_CVT_U32_U8, ISA_OP_CVT_U32_U16, true},
        {ISA_OP_CVT_U32_U8, ISA_OP_CVT_U16_U8, true},   {ISA_OP_CVT_U32_U16, ISA_OP_CVT_U32_U16, true},
        {ISA_OP_CVT_U32_U16, ISA_OP_CVT_U16_U16, true}, {ISA_OP_CVT_U32_U16, ISA_OP_CVT_U32_U8, false},
        {ISA_OP_CVT_U32_U16, ISA_OP_CVT_U16_U8, false}, {ISA_OP_CVT_U32_S8, ISA_OP_CVT_U32_U8, false},
        {ISA_OP_CVT_U32_S8, ISA_OP_CVT_U32_U16, false}, {ISA_OP_NOT_32, ISA_OP_CVT_U32_U8, false}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct mir_inst in = fold_conversions(cases[i].first, cases[i].second);
        assert_int_equal(in.op, cases[i].is_move ? ISA_OP_MOV_32 : cases[i].second);
    }
}

static void a_widening_shift_keeps_its_sign(void **state)
{
    (void)state;
    static const struct {
        uint16_t cvt;
        bool lea;
        uint16_t op;
        uint64_t value;
    } cases[] = {{ISA_OP_CVT_U64_U32, false, ISA_OP_MUL_WIDE_U32, 0x800000000},
                 {ISA_OP_CVT_S64_S32, false, ISA_OP_MUL_WIDE_S32, 0xfffffff800000000},
                 {ISA_OP_CVT_U64_U32, true, ISA_OP_MAD_WIDE_U32, 0x800000007},
                 {ISA_OP_CVT_S64_S32, true, ISA_OP_MAD_WIDE_S32, 0xfffffff800000007}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct mir_inst in = fold_widened(cases[i].cvt, cases[i].lea);
        const uint64_t src[ISA_SRC_MAX] = {0x80000000, (uint64_t)in.src[1].imm, cases[i].lea ? 7 : 0};
        uint64_t value;
        assert_int_equal(in.op, cases[i].op);
        assert_true(fold_eval(&in, src, &value));
        assert_int_equal(value, cases[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(folded_code_computes_what_the_instructions_do),
                                       cmocka_unit_test(a_narrowing_of_what_is_narrow_is_a_move_and_no_other),
                                       cmocka_unit_test(a_widening_shift_keeps_its_sign)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
