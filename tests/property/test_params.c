/* test_params.c: values of machine parameters at their bounds. Whatever a machine's parameters are within
 * their bounds, the machine is refused with a reason, or a kernel that uses every part runs to its end with
 * the right results and no law broken: no crash, no assert, no hang.
 *
 *   test_params               every parameter at each of its bounds by itself, and random rows: several
 *                             parameters at random bounds
 *   test_params SEED ROWS     as many random rows of another seed
 *   test_params pairs         every pair of parameters at every pair of bounds: more than an hour
 *   test_params pairs I of N  part I of these, from 0, of N equal ones
 *   test_params pairs random SEED ROWS     as many random ones of these
 *   test_params try MACHINE KEY=VALUE...   one machine, and what becomes of it
 *
 * Rows run in a child process, which says where it is: a crash names its row, and a new child goes on behind
 * it. */
#include "base/rng.h"
#include "core/timed.h"
#include "cuda/limits.h"
#include "lower/lower.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROWS = 120,        /* of the ordinary test, with several parameters each */
    ROW_PARAMS = 3,    /* of a random row */
    ROW_MAX = 40,      /* settings of a row, those of the base included */
    ROW_SECONDS = 60,  /* of processor time: a row that takes longer hangs */
    FAILURES_MAX = 20, /* that are shown */
    THREADS = 64,
    CTAS = 3,
    WORDS = THREADS * CTAS,
    STRIDE = 32, /* words */
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

struct row {
    const char *machine;
    const char *sets[ROW_MAX];
    uint32_t count;
};

/* Small, so that making one takes little time. Settings of a row come after these. */
static const char *const base_sets[] = {"sm.count=2", "addr.channels=2", "l2.slice_size=16K", "emu.heap=64K"};

enum verdict { RUNS, REFUSED, LAUNCH_REFUSED, WRONG };

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
                               struct diag_list *diags, bool show)
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

static enum verdict run_row(const struct row *r, bool show)
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
        v = run_kernel(&m, d, module, &diags, show);
    else if (d)
        v = refused(&diags, show);
    else
        fprintf(stderr, "no device\n");
    if (module) emu_module_unload(d, module);
    emu_device_destroy(d);
    diag_free(&diags);
    return v;
}

/* ---- bounds ---- */

struct value {
    uint32_t param; /* parameters are numbered */
    char text[96];
};

static VEC(struct value) values;
static uint32_t param_count;

static void add_value(const struct param_row *row, const char *text)
{
    struct value v = {.param = param_count};
    snprintf(v.text, sizeof v.text, "%s=%s", row->name, text);
    vec_push(&values, v);
}

static void add_bound(const struct param_row *row, uint64_t bound)
{
    char text[32];
    if (row->type == PARAM_MILLI)
        snprintf(text, sizeof text, "%llu.%03llu", (unsigned long long)bound / 1000,
                 (unsigned long long)bound % 1000);
    else
        snprintf(text, sizeof text, "%llu", (unsigned long long)bound);
    add_value(row, text);
}

/* Texts have no bounds: some that mean something. */
static void add_texts(const struct param_row *row)
{
    static const char *const known[][2] = {
        {"addr.map", "dramid@5;RCS"},     {"addr.map", "dramid@32;RRRRRRRR.BBBBBBCC.CCCSSSSS"},
        {"sm.scheduler", "lrr"},          {"sm.scheduler", "two-level"},
        {"sm.shared_sizes", "0,8,16,32"}, {"sm.shared_sizes", "48"}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(known[i][0], row->name) == 0) add_value(row, known[i][1]);
}

static void add_values(const struct param_row *row)
{
    switch (row->type) {
    case PARAM_BOOL:
        add_value(row, "false");
        add_value(row, "true");
        break;
    case PARAM_ENUM:
        for (const char *const *c = row->choices; *c; c++) add_value(row, *c);
        break;
    case PARAM_TEXT: add_texts(row); break;
    case PARAM_FILE: break;
    default:
        add_bound(row, row->min);
        add_bound(row, row->max);
        break;
    }
    param_count++;
}

static void find_values(void)
{
    for (const struct param_group *g = machine_groups; g->rows; g++)
        for (const struct param_row *row = g->rows; row->name; row++) add_values(row);
}

/* ---- plans: the row of a number ---- */

struct plan {
    void (*make)(const struct plan *p, uint64_t i, struct row *out);
    uint64_t first, end;
    uint64_t seed;
};

static void row_add(struct row *r, const char *set)
{
    assert(r->count < ROW_MAX);
    r->sets[r->count++] = set;
}

/* Rows take turns on these. */
static const char *const machines[] = {"fermi", "rtx3080", "gtx480-peer", "maxwell"};

static void row_begin(struct row *r, const char *machine)
{
    r->machine = machine;
    r->count = 0;
    for (size_t i = 0; i < ARRAY_LEN(base_sets); i++) row_add(r, base_sets[i]);
}

static void make_single(const struct plan *p, uint64_t i, struct row *out)
{
    row_begin(out, machines[i % ARRAY_LEN(machines)]);
    row_add(out, values.data[i].text);
}

static void make_random(const struct plan *p, uint64_t i, struct row *out)
{
    struct rng r = {p->seed * 1000003 + i};
    row_begin(out, machines[i % ARRAY_LEN(machines)]);
    for (uint32_t k = 0; k < ROW_PARAMS; k++) row_add(out, values.data[rng_below(&r, values.len)].text);
}

/* Row i is the pair (a, b) of values, a > b, of different parameters; i = a * (a - 1) / 2 + b. */
static void make_pair(const struct plan *p, uint64_t i, struct row *out)
{
    uint64_t a = 1;
    while (a * (a + 1) / 2 <= i) a++;
    const struct value *x = &values.data[a], *y = &values.data[i - a * (a - 1) / 2];
    row_begin(out, machines[(a + i) % ARRAY_LEN(machines)]);
    if (x->param == y->param) return;
    row_add(out, y->text);
    row_add(out, x->text);
}

static uint64_t pair_count(void) { return (uint64_t)values.len * (values.len - 1) / 2; }

static void make_random_pair(const struct plan *p, uint64_t i, struct row *out)
{
    struct rng r = {p->seed * 1000003 + i};
    const uint64_t high = rng_u32(&r);
    make_pair(p, (high << 32 | rng_u32(&r)) % pair_count(), out);
}

/* ---- children ---- */

/* Shared between the parent and its child. */
struct progress {
    uint64_t next; /* the row that is running */
    uint64_t verdicts[WRONG + 1];
};

static void show_row(const struct plan *p, uint64_t i)
{
    struct row r;
    p->make(p, i, &r);
    fprintf(stderr, "row %llu: test_params try %s", (unsigned long long)i, r.machine);
    for (uint32_t k = ARRAY_LEN(base_sets); k < r.count; k++) fprintf(stderr, " '%s'", r.sets[k]);
    fputc('\n', stderr);
}

static void run_child(const struct plan *p, struct progress *at)
{
    for (; at->next < p->end; at->next++) {
        struct row r;
        p->make(p, at->next, &r);
        if (r.count == ARRAY_LEN(base_sets)) continue;
        setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = ROW_SECONDS}, NULL);
        const enum verdict v = run_row(&r, false);
        at->verdicts[v]++;
        if (v == WRONG) {
            at->next++;
            _exit(1);
        }
    }
    _exit(0);
}

/* Runs rows until the plan ends. Returns how many went wrong. */
static uint64_t run_plan(const struct plan *p, const char *name)
{
    struct progress *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(at != MAP_FAILED);
    at->next = p->first;
    uint64_t failures = 0;
    while (at->next < p->end && failures < FAILURES_MAX) {
        int status = 0;
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) run_child(p, at);
        if (child < 0 || waitpid(child, &status, 0) != child) abort();
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
        failures++;
        const bool is_signal = WIFSIGNALED(status);
        const int number = is_signal ? WTERMSIG(status) : 0;
        fprintf(stderr, "%s\n", !is_signal ? "^ wrong" : number == SIGPROF ? "^ hangs" : strsignal(number));
        show_row(p, is_signal ? at->next++ : at->next - 1);
    }
    printf("%s: %llu machines run, %llu are refused, %llu refuse the launch, %llu fail\n", name,
           (unsigned long long)at->verdicts[RUNS], (unsigned long long)at->verdicts[REFUSED],
           (unsigned long long)at->verdicts[LAUNCH_REFUSED], (unsigned long long)failures);
    munmap(at, sizeof *at);
    return failures;
}

static int try_row(const char *machine, int count, char **sets)
{
    static const char *const names[] = {"runs", "refused", "launch refused", "wrong"};
    struct row r;
    row_begin(&r, machine);
    for (int i = 0; i < count; i++) row_add(&r, sets[i]);
    const enum verdict v = run_row(&r, true);
    printf("%s\n", names[v]);
    return v == WRONG;
}

int main(int argc, char **argv)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    if (argc > 2 && !strcmp(argv[1], "try")) return try_row(argv[2], argc - 3, argv + 3);
    find_values();
    const uint64_t pairs = pair_count();
    if (argc > 4 && !strcmp(argv[1], "pairs") && !strcmp(argv[2], "random"))
        return run_plan(&(struct plan){make_random_pair, 0, strtoull(argv[4], NULL, 0),
                                       strtoull(argv[3], NULL, 0)},
                        "random pairs") != 0;
    if (argc > 1 && !strcmp(argv[1], "pairs")) {
        const uint64_t part = argc > 4 ? strtoull(argv[2], NULL, 0) : 0,
                       of = argc > 4 ? strtoull(argv[4], NULL, 0) : 1;
        return run_plan(&(struct plan){make_pair, pairs * part / of, pairs * (part + 1) / of, 0}, "pairs") !=
               0;
    }
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    uint64_t failures = 0;
    if (argc <= 1) failures += run_plan(&(struct plan){make_single, 0, values.len, 0}, "one parameter");
    failures += run_plan(&(struct plan){make_random, 0, argc > 2 ? strtoull(argv[2], NULL, 0) : ROWS, seed},
                         "several");
    vec_free(&values);
    return failures != 0;
}
