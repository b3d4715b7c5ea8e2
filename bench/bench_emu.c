/* bench_emu.c: how fast the functional emulator is: million warp instructions a second, one thread of the
 * host.
 *
 *   emu [KERNEL]      all kernels, or the one named
 *
 * Each kernel is PTX text that goes the whole way: parse, lower, load, run. The best of a few runs counts,
 * since the machine may be busy with other work. Aims: fma loop 30, vector addition 10. */
#include <time.h>

#include "emu/emu.h"
#include "lower/lower.h"
#include "ptx/ptx.h"

#define PTX_HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

struct bench {
    const char *name, *what;
    /* million warp instructions a second; 0 = none */
    double aim;
    /* buffers: pointers of `words` words that are the first parameters */
    uint32_t grid, block, buffers;
    /* one .u32 behind the pointers */
    uint32_t words, last_param;
    const char *ptx;
};

static const struct bench benches[] = {
    {"fma", "arithmetic loop: 16 chained fma.f32 and mad a round", 30, 64, 256, 1, 16384, 400,
     PTX_HEAD ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
              ".reg .pred %p<2>; .reg .f32 %f<10>; .reg .b32 %r<10>; .reg .b64 %rd<5>;\n"
              "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n];\n"
              "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.s32 %r4, %r3, 256, %r2;\n"
              "cvt.rn.f32.u32 %f1, %r4; mov.f32 %f2, 0f3F800001; mov.f32 %f3, 0f3F000000; mov.f32 %f4, %f1;\n"
              "mov.u32 %r5, 0; mov.u32 %r6, %r4;\n"
              "L:\n"
              "fma.rn.f32 %f1, %f1, %f2, %f3; fma.rn.f32 %f4, %f4, %f2, %f1; mad.lo.s32 %r6, %r6, %r4, 7;\n"
              "fma.rn.f32 %f1, %f1, %f2, %f4; fma.rn.f32 %f4, %f4, %f2, %f1; mad.lo.s32 %r6, %r6, %r4, 5;\n"
              "fma.rn.f32 %f1, %f1, %f2, %f3; fma.rn.f32 %f4, %f4, %f2, %f1; mad.lo.s32 %r6, %r6, %r4, 3;\n"
              "fma.rn.f32 %f1, %f1, %f2, %f4; fma.rn.f32 %f4, %f4, %f2, %f1; mad.lo.s32 %r6, %r6, %r4, 1;\n"
              "add.s32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r1; @%p1 bra L;\n"
              "add.f32 %f1, %f1, %f4; cvt.rn.f32.s32 %f5, %r6; add.f32 %f1, %f1, %f5;\n"
              "mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f1;\nret;\n}\n"},
    {"vecadd", "c[i] = a[i] + b[i], 1M elements", 10, 4096, 256, 3, 1 << 20, 1 << 20,
     PTX_HEAD
     ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n{\n"
     ".reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<11>;\n"
     "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r2, [n];\n"
     "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.s32 %r1, %r3, %r4, %r5;\n"
     "setp.ge.s32 %p1, %r1, %r2; @%p1 bra END;\n"
     "cvta.to.global.u64 %rd4, %rd1; mul.wide.s32 %rd5, %r1, 4; add.s64 %rd6, %rd4, %rd5;\n"
     "cvta.to.global.u64 %rd7, %rd2; add.s64 %rd8, %rd7, %rd5;\n"
     "ld.global.f32 %f1, [%rd8]; ld.global.f32 %f2, [%rd6]; add.f32 %f3, %f2, %f1;\n"
     "cvta.to.global.u64 %rd9, %rd3; add.s64 %rd10, %rd9, %rd5; st.global.f32 [%rd10], %f3;\n"
     "END: ret;\n}\n"},
    {"gather", "c[i] = a[hash(i)]: scattered loads", 0, 1024, 256, 2, 1 << 20, 1 << 18,
     PTX_HEAD
     ".visible .entry k(.param .u64 a, .param .u64 c, .param .u32 n)\n{\n"
     ".reg .f32 %f<4>; .reg .b32 %r<8>; .reg .b64 %rd<9>;\n"
     "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [c];\n"
     "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.s32 %r1, %r3, %r4, %r5;\n"
     "mul.lo.s32 %r6, %r1, -1640531527; shr.u32 %r6, %r6, 12;\n"
     "mul.wide.u32 %rd5, %r6, 4; add.s64 %rd6, %rd1, %rd5; ld.global.f32 %f1, [%rd6];\n"
     "mul.wide.u32 %rd7, %r1, 4; add.s64 %rd8, %rd2, %rd7; st.global.f32 [%rd8], %f1;\nret;\n}\n"},
    {"diverge", "a loop that each lane runs for a number of rounds of its own, with a branch in it", 0, 256,
     256, 1, 1 << 16, 64,
     PTX_HEAD
     ".visible .entry k(.param .u64 c, .param .u32 n)\n{\n"
     ".reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<5>;\n"
     "ld.param.u64 %rd1, [c]; ld.param.u32 %r2, [n];\n"
     "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.s32 %r1, %r3, %r4, %r5;\n"
     "and.b32 %r6, %r5, 31; add.s32 %r6, %r6, %r2; mov.u32 %r7, %r1;\n"
     "L: and.b32 %r8, %r7, 1; setp.eq.s32 %p1, %r8, 0; @%p1 bra EVEN;\n"
     "mad.lo.s32 %r7, %r7, 3, 1; bra NEXT;\n"
     "EVEN: shr.u32 %r7, %r7, 1;\n"
     "NEXT: sub.s32 %r6, %r6, 1; setp.ne.s32 %p2, %r6, 0; @%p2 bra L;\n"
     "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r7;\nret;\n}\n"},
    {"shared", "shared memory: store, barrier, tree reduction with barriers", 0, 1024, 256, 1, 1 << 16, 0,
     PTX_HEAD
     ".visible .entry k(.param .u64 c, .param .u32 n)\n{\n"
     ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<5>; .shared .align 4 .b8 s[1024];\n"
     "ld.param.u64 %rd1, [c]; mov.u32 %r1, %tid.x; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.s32 %r4, %r2, "
     "%r3;\n"
     "st.shared.u32 [%r4], %r1; bar.sync 0; mov.u32 %r5, 128;\n"
     "L: setp.ge.u32 %p1, %r1, %r5; @%p1 bra SKIP;\n"
     "shl.b32 %r6, %r5, 2; add.s32 %r7, %r4, %r6; ld.shared.u32 %r8, [%r7]; ld.shared.u32 %r9, [%r4];\n"
     "add.s32 %r9, %r9, %r8; st.shared.u32 [%r4], %r9;\n"
     "SKIP: bar.sync 0; shr.u32 %r5, %r5, 1; setp.ne.s32 %p2, %r5, 0; @%p2 bra L;\n"
     "setp.ne.s32 %p3, %r1, 0; @%p3 bra END; mov.u32 %r10, %ctaid.x; mul.wide.u32 %rd2, %r10, 4; add.s64 "
     "%rd3, %rd1, %rd2;\n"
     "ld.shared.u32 %r11, [s]; st.global.u32 [%rd3], %r11;\nEND: ret;\n}\n"},
    {"shuffle", "warp sums by shfl.sync", 0, 64, 256, 1, 1 << 16, 64,
     PTX_HEAD ".visible .entry k(.param .u64 c, .param .u32 n)\n{\n"
              ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<5>;\n"
              "ld.param.u64 %rd1, [c]; ld.param.u32 %r2, [n]; mov.u32 %r1, %tid.x; mov.u32 %r3, %r1;\n"
              "L: shfl.sync.bfly.b32 %r4, %r3, 16, 31, -1; add.s32 %r3, %r3, %r4;\n"
              "shfl.sync.down.b32 %r4, %r3, 8, 31, -1; add.s32 %r3, %r3, %r4;\n"
              "shfl.sync.idx.b32 %r4, %r3, %r2, 31, -1; add.s32 %r3, %r3, %r4;\n"
              "shfl.sync.up.b32 %r4, %r3, 1, 0, -1; add.s32 %r3, %r3, %r4;\n"
              "sub.s32 %r2, %r2, 1; setp.ne.s32 %p1, %r2, 0; @%p1 bra L;\n"
              "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r3;\nret;\n}\n"},
    {"atomics", "histogram: atom.add on 256 counters in global memory", 0, 256, 256, 1, 256, 16,
     PTX_HEAD ".visible .entry k(.param .u64 c, .param .u32 n)\n{\n"
              ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<5>;\n"
              "ld.param.u64 %rd1, [c]; ld.param.u32 %r2, [n]; mov.u32 %r1, %tid.x; mov.u32 %r3, %r1;\n"
              "L: mad.lo.s32 %r3, %r3, 1664525, 1013904223; shr.u32 %r4, %r3, 24; mul.wide.u32 %rd2, %r4, 4; "
              "add.s64 %rd3, %rd1, %rd2;\n"
              "red.global.add.u32 [%rd3], 1;\n"
              "sub.s32 %r2, %r2, 1; setp.ne.s32 %p1, %r2, 0; @%p1 bra L;\nret;\n}\n"},
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct emu_module *load(struct emu_device *d, const struct bench *b)
{
    struct diag_list diags = {0};
    struct emu_module *m = NULL;
    struct ptx_module *ptx = ptx_parse(b->name, b->ptx, strlen(b->ptx), &diags);
    struct isa_module *isa = ptx ? lower_module(ptx, &(struct lower_options){.opt_level = 1}, &diags) : NULL;
    if (isa) m = emu_module_load(d, isa, NULL, NULL, &diags);
    if (!m) {
        struct strbuf text = {0};
        diag_render(&diags, &text);
        fprintf(stderr, "%s", strbuf_text(&text));
        strbuf_free(&text);
    }
    if (ptx) ptx_module_free(ptx);
    diag_free(&diags);
    return m;
}

static bool run(struct emu_device *d, const struct bench *b)
{
    enum { REPEATS = 5 };
    struct emu_module *m = load(d, b);
    if (!m) return false;
    uint32_t params[32] = {0};
    for (uint32_t i = 0; i < b->buffers; i++) {
        uint64_t at = space_alloc(emu_device_space(d), b->words * 4ull, 256, SPACE_DEVICE, "buffer");
        memset((void *)(uintptr_t)at, 0, b->words * 4ull);
        memcpy(&params[2 * i], &at, sizeof at);
    }
    params[2 * b->buffers] = b->last_param;
    struct emu_launch l = {.module = m,
                           .kernel = emu_find_kernel(m, "k"),
                           .grid = {b->grid, 1, 1},
                           .block = {b->block, 1, 1},
                           .params = params};
    double best = 0;
    uint64_t insts = 0;
    for (uint32_t i = 0; i < REPEATS; i++) {
        struct emu_stats stats = {0};
        struct emu_fault fault;
        double start = now_s();
        if (emu_run(d, &l, &stats, &fault) != EMU_OK) {
            fprintf(stderr, "%s", fault.message);
            return false;
        }
        double speed = (double)stats.warp_insts / (now_s() - start) * 1e-6;
        best = MAX(best, speed);
        insts = stats.warp_insts;
    }
    printf("%-8s %8.1f M warp instructions/s  %9.1f k a run  %s", b->name, best, (double)insts * 1e-3,
           b->what);
    if (b->aim > 0) printf("  (aim %.0f: %s)", b->aim, best >= b->aim ? "met" : "MISSED");
    printf("\n");
    emu_module_unload(d, m);
    return b->aim <= 0 || best >= b->aim;
}

int main(int argc, char **argv)
{
    const struct emu_limits limits = {.threads_per_cta_max = 1024,
                                      .grid_max = {2147483647, 65535, 65535},
                                      .block_max = {1024, 1024, 64},
                                      .shared_per_cta_max = 48 << 10,
                                      .regs_per_cta_max = 65536,
                                      .sm_count = 16,
                                      .stack_bytes = 1024,
                                      .heap_bytes = 8 << 20,
                                      .clock_khz = 1000000};
    struct emu_device *d = emu_device_create(&limits, 1ull << 32);
    bool ok = d != NULL;
    for (uint32_t i = 0; ok && i < ARRAY_LEN(benches); i++)
        if (argc < 2 || !strcmp(argv[1], benches[i].name)) ok &= run(d, &benches[i]);
    emu_device_destroy(d);
    return ok ? 0 : 1;
}
