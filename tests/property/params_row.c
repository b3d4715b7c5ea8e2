/* params_row.c: a row's machine runs one kernel of a few CTAs, whose results are known. */
#include "property/params_row.h"

#include "core/timed.h"
#include "cuda/limits.h"
#include "lower/lower.h"

#include <stdio.h>

enum {
    THREADS = 64,
    CTAS = 3,
    WORDS = THREADS * CTAS,
    /* words */
    STRIDE = 32,
    BINS = 16,
    MEMORY_BYTES = 16 << 20
};

/* ---- the kernel ---- */

/* Every unit and every kind of memory: scattered loads, a line for each lane; shared memory and a barrier,
 * constants, read-only data, local memory, double precision, a special function, an exchange of lanes,
 * atomics, a loop. */
static const char ptx_text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".const .align 4 .u32 table[4] = {1, 2, 3, 4};\n"
    ".visible .entry all(.param .u64 from, .param .u64 to, .param .u64 bins)\n{\n"
    ".shared .align 4 .b8 tile[256];\n.local .align 4 .b8 own[16];\n"
    ".reg .u64 %p, %o, %b, %a, %k; .reg .u32 %t, %i, %c, %n, %v, %w, %x; .reg .f64 %d; .reg .f32 %f;\n"
    ".reg .pred %q;\n"
    "ld.param.u64 %p, [from]; ld.param.u64 %o, [to]; ld.param.u64 %b, [bins];\n"
    "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %c, %n, %t;\n"
    "mul.wide.u32 %a, %i, 128; add.u64 %a, %a, %p; ld.global.u32 %v, [%a];\n"
    "mul.wide.u32 %a, %t, 4; mov.u64 %k, tile; add.u64 %a, %a, %k; st.shared.u32 [%a], %v;\n"
    "bar.sync 0;\n"
    "sub.u32 %w, %n, %t; sub.u32 %w, %w, 1; mul.wide.u32 %a, %w, 4; add.u64 %a, %a, %k;\n"
    "ld.shared.u32 %v, [%a];\n"
    "and.b32 %w, %t, 3; mul.wide.u32 %a, %w, 4; mov.u64 %k, table; add.u64 %a, %a, %k;\n"
    "ld.const.u32 %w, [%a]; add.u32 %v, %v, %w;\n"
    "mul.wide.u32 %a, %t, 128; add.u64 %a, %a, %p; ld.global.nc.u32 %w, [%a]; add.u32 %v, %v, %w;\n"
    "and.b32 %w, %t, 3; mul.wide.u32 %a, %w, 4; mov.u64 %k, own; add.u64 %a, %a, %k;\n"
    "st.local.u32 [%a], %v; ld.local.u32 %v, [%a];\n"
    "cvt.rn.f64.u32 %d, %v; add.rn.f64 %d, %d, 0d3FF0000000000000; cvt.rzi.u32.f64 %v, %d;\n"
    "mov.f32 %f, 0f00000000; ex2.approx.f32 %f, %f; cvt.rzi.u32.f32 %w, %f; add.u32 %v, %v, %w;\n"
    "shfl.sync.bfly.b32 %w, %v, 1, 31, -1; add.u32 %v, %v, %w;\n"
    "mov.u32 %x, 4;\nloop: mad.lo.u32 %v, %v, 3, %x; sub.u32 %x, %x, 1; setp.ne.u32 %q, %x, 0; @%q bra "
    "loop;\n"
    "mul.wide.u32 %a, %i, 4; add.u64 %a, %a, %o; st.global.u32 [%a], %v;\n"
    "and.b32 %w, %i, 15; mul.wide.u32 %a, %w, 4; add.u64 %a, %a, %b; atom.global.add.u32 %x, [%a], %i;\n"
    "setp.eq.u32 %q, %x, 0xffffffff; @%q trap;\nret;\n}\n";

static uint32_t before_exchange(const uint32_t *from, uint32_t i)
{
    const uint32_t t = i % THREADS, cta = i / THREADS * THREADS;
    return from[STRIDE * (cta + THREADS - 1 - t)] + 1 + t % 4 + from[STRIDE * t] + 1 + 1;
}

static uint32_t expected(const uint32_t *from, uint32_t i)
{
    uint32_t v = before_exchange(from, i) + before_exchange(from, i ^ 1);
    for (uint32_t x = 4; x; x--) v = v * 3 + x;
    return v;
}

struct memory {
    uint32_t *from, *to, *bins;
    uint64_t params[3];
};

static uint64_t alloc(struct emu_device *d, uint32_t bytes)
{
    const uint64_t a = space_alloc(emu_device_space(d), bytes, 256, SPACE_DEVICE, "test");
    if (a) memset((void *)(uintptr_t)a, 0, bytes);
    return a;
}

static bool memory_make(struct memory *m, struct emu_device *d)
{
    m->params[0] = alloc(d, 4 * STRIDE * WORDS);
    m->params[1] = alloc(d, 4 * WORDS);
    m->params[2] = alloc(d, 4 * BINS);
    if (!m->params[0] || !m->params[1] || !m->params[2]) return false;
    m->from = (uint32_t *)(uintptr_t)m->params[0];
    m->to = (uint32_t *)(uintptr_t)m->params[1];
    m->bins = (uint32_t *)(uintptr_t)m->params[2];
    for (uint32_t i = 0; i < WORDS; i++) m->from[STRIDE * i] = 1000 * i + 7;
    return true;
}

static bool memory_is_right(const struct memory *m)
{
    uint32_t bins[BINS] = {0};
    for (uint32_t i = 0; i < WORDS; i++) {
        bins[i % BINS] += i;
        if (m->to[i] != expected(m->from, i)) return false;
    }
    return memcmp(bins, m->bins, sizeof bins) == 0;
}

/* ---- a row: a machine, from its settings to the end of the kernel ---- */

/* Small, so that making one takes little time. Settings of a row come after these. */
static const char *const base_sets[] = {"sm.count=2", "addr.channels=2", "l2.slice_size=16K", "emu.heap=64K"};

void row_add(struct row *r, const char *set)
{
    assert(r->count < ROW_MAX);
    r->sets[r->count++] = set;
}

void row_begin(struct row *r, const char *machine)
{
    r->machine = machine;
    r->count = 0;
    for (size_t i = 0; i < ARRAY_LEN(base_sets); i++) row_add(r, base_sets[i]);
}

bool row_is_empty(const struct row *r) { return r->count == ARRAY_LEN(base_sets); }

void row_show(const struct row *r)
{
    fprintf(stderr, "test_params try %s", r->machine);
    for (uint32_t k = ARRAY_LEN(base_sets); k < r->count; k++) fprintf(stderr, " '%s'", r->sets[k]);
    fputc('\n', stderr);
}

static enum verdict refused(struct diag_list *d, bool show)
{
    struct strbuf text = {0};
    diag_render(d, &text);
    const bool has_reason = d->errors && text.len;
    if (show || !has_reason) fprintf(stderr, "refused: %s", has_reason ? strbuf_text(&text) : "no reason\n");
    strbuf_free(&text);
    return has_reason ? REFUSED : WRONG;
}

/* A launch that the machine has no room for is refused with the reason; nothing else may go wrong. */
static enum verdict judge(struct timed_gpu *g, const struct memory *m, enum emu_fault_kind end, bool show)
{
    const char *report = timed_report(g);
    if (end == EMU_OK && memory_is_right(m)) return RUNS;
    const bool is_refusal = end == EMU_BAD_LAUNCH && report && *report;
    if (show || !is_refusal) fprintf(stderr, "%s\n", end == EMU_OK ? "wrong results" : report);
    return is_refusal ? LAUNCH_REFUSED : WRONG;
}

/* The data is there already: the copy takes its time alone. */
static void copy_nothing(void *ctx) {}

static enum verdict run_kernel(const struct machine *m, struct emu_device *d, struct emu_module *module,
                               struct diag_list *diags, bool show, uint64_t *cycles)
{
    struct memory memory;
    struct emu_fault fault;
    struct timed_gpu *g = timed_create(m, d, &(struct timed_options){0}, diags);
    if (!g) return refused(diags, show);
    if (!memory_make(&memory, d)) {
        timed_destroy(g);
        fprintf(stderr, "no memory for the kernel's arrays\n");
        return WRONG;
    }
    const struct emu_launch l = {.module = module,
                                 .kernel = emu_find_kernel(module, "all"),
                                 .grid = {CTAS, 1, 1},
                                 .block = {THREADS, 1, 1},
                                 .params = memory.params};
    timed_copy(g, &(struct timed_copy){.kind = COPY_TO_DEVICE, .bytes = 4 * WORDS, .perform = copy_nothing},
               0);
    timed_host_copy(g, memory.params[0], 4 * STRIDE);
    timed_launch(g, &l, 0);
    const enum emu_fault_kind end = timed_sync(g, UINT64_MAX, &fault);
    const enum verdict v = judge(g, &memory, end, show);
    *cycles = timed_cycles(g);
    timed_destroy(g);
    return v;
}

static struct emu_module *load_module(const struct machine *m, struct emu_device *d, struct diag_list *diags)
{
    const struct lower_options lo = {.opt_level = 1,
                                     .one_to_one = m->lower_one_to_one,
                                     .sm_regs = m->sm_registers,
                                     .regs_max = m->sm_thread_registers_max};
    struct ptx_module *ptx = ptx_parse("all.ptx", ptx_text, sizeof ptx_text - 1, diags);
    struct isa_module *isa = ptx ? lower_module(ptx, &lo, diags) : NULL;
    if (ptx) ptx_module_free(ptx);
    return isa ? emu_module_load(d, isa, NULL, NULL, diags) : NULL;
}

static enum verdict run_machine(const struct row *r, bool show, uint64_t *cycles)
{
    struct machine m;
    struct diag_list diags = {0};
    if (!machine_load(r->machine, r->sets, r->count, &m, &diags)) {
        const enum verdict v = refused(&diags, show);
        diag_free(&diags);
        return v;
    }
    m.memory_bytes = MIN(m.memory_bytes, (uint64_t)MEMORY_BYTES);
    m.emu_heap_bytes = MIN(m.emu_heap_bytes, (uint64_t)MEMORY_BYTES / 4);
    const struct emu_limits limits = limits_from_machine(&m);
    struct emu_device *d = emu_device_create(&limits, m.memory_bytes);
    struct emu_module *module = d ? load_module(&m, d, &diags) : NULL;
    enum verdict v = WRONG;
    if (module)
        v = run_kernel(&m, d, module, &diags, show, cycles);
    else if (d)
        v = refused(&diags, show);
    else
        fprintf(stderr, "no device\n");
    if (module) emu_module_unload(d, module);
    emu_device_destroy(d);
    diag_free(&diags);
    return v;
}

enum verdict row_run(const struct row *r, bool show)
{
    uint64_t cycles;
    return run_machine(r, show, &cycles);
}

uint64_t row_cycles(const struct row *r)
{
    uint64_t cycles;
    return run_machine(r, false, &cycles) == RUNS ? cycles : 0;
}

bool row_is_refused_at_load(const struct row *r)
{
    struct machine m;
    struct diag_list diags = {0};
    const bool is_refused = !machine_load(r->machine, r->sets, r->count, &m, &diags);
    diag_free(&diags);
    return is_refused;
}
