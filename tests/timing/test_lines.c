/* test_lines.c: caches whose lines are not of one size. For every pair of lines of the L1 and the L2, with
 * and without sectors: results are right, what the L1 fetches is what the L2 gives, what the L2 fetches is
 * what DRAM reads (laws 10 and 11, checked by the machine), and the bytes are those that the kernel wants.
 * Pairs that the address map cannot hold are refused. */
#include "core/timed_impl.h"
#include "timing_kit.h"

enum { THREADS = 256, CTAS = 8, WORDS = THREADS * CTAS, BINS = 64, SECTOR = 32, LINE_MAX = 512 };

/* nothing: only its parameters are read. read: each word once. mix: constants, local memory, stores of half
 * of each sector, atomics of whole warps. */
static const char ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".const .align 4 .u32 table[256];\n"
    ".visible .entry nothing(.param .u64 from, .param .u64 to, .param .u64 bins)\n{\n"
    ".reg .u64 %p, %o; .reg .pred %q;\nld.param.u64 %p, [from]; ld.param.u64 %o, [to];\n"
    "setp.eq.u64 %q, %p, %o;\n@%q trap;\nret;\n}\n"
    ".visible .entry read(.param .u64 from, .param .u64 to, .param .u64 bins)\n{\n"
    ".reg .u64 %p, %o, %a; .reg .u32 %t, %c, %n, %v; .reg .pred %q;\n"
    "ld.param.u64 %p, [from]; ld.param.u64 %o, [to];\n"
    "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %c, %n, %t;\n"
    "mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %p; ld.global.u32 %v, [%a];\n"
    "setp.eq.u32 %q, %v, 0xffffffff;\n@%q st.global.u32 [%o], %v;\nret;\n}\n"
    ".visible .entry mix(.param .u64 from, .param .u64 to, .param .u64 bins)\n{\n"
    ".local .align 4 .b8 own[32];\n"
    ".reg .u64 %p, %o, %b, %a, %l, %k; .reg .u32 %t, %c, %n, %v, %w, %i; .reg .pred %q;\n"
    "ld.param.u64 %p, [from]; ld.param.u64 %o, [to]; ld.param.u64 %b, [bins];\n"
    "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %c, %n, %t;\n"
    "mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %p; ld.global.u32 %v, [%a];\n"
    "and.b32 %i, %t, 255; mul.wide.u32 %a, %i, 4; mov.u64 %k, table; add.u64 %a, %a, %k;\n"
    "ld.const.u32 %w, [%a]; add.u32 %v, %v, %w;\n"
    "mov.u64 %l, own; and.b32 %i, %t, 7; mul.wide.u32 %a, %i, 4; add.u64 %a, %a, %l; st.local.u32 [%a], %v;\n"
    "ld.local.u32 %w, [%a];\n"
    "mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %o; and.b32 %i, %t, 4; setp.eq.u32 %q, %i, 0;\n"
    "@%q st.global.u32 [%a], %w;\n"
    "rem.u32 %i, %t, 64; mul.wide.u32 %a, %i, 4; add.u64 %a, %a, %b; red.global.add.u32 [%a], %v;\n"
    "ret;\n}\n";

/* At file scope: the teardown may need it. */
static struct rig r;

/* dramid@10 and no B or R below bit 10: any line of the L2 fits. */
static const char wide_map[] = "addr.map=dramid@10;0000RRRR.RRRRRRRR.BBBBCC.CCCCSSSSSS";

struct shape {
    uint32_t l1_line, l2_line;
    bool l1_sectored, l2_sectored;
    /* of the small caches */
    uint32_t other_line;
};

static void open_shape_so(const struct shape *s, const struct timed_options *timed)
{
    char texts[7][64];
    const char *sets[10] = {wide_map, "sm.count=4", "sm.perfect_icache=false"};
    snprintf(texts[0], sizeof texts[0], "l1.line=%u", s->l1_line);
    snprintf(texts[1], sizeof texts[1], "l2.line=%u", s->l2_line);
    snprintf(texts[2], sizeof texts[2], "l1.sectored=%s", s->l1_sectored ? "true" : "false");
    snprintf(texts[3], sizeof texts[3], "l2.sectored=%s", s->l2_sectored ? "true" : "false");
    snprintf(texts[4], sizeof texts[4], "sm.icache_line=%u", s->other_line);
    snprintf(texts[5], sizeof texts[5], "sm.const_line=%u", s->other_line);
    snprintf(texts[6], sizeof texts[6], "sm.tex_line=%u", s->other_line);
    for (uint32_t i = 0; i < 7; i++) sets[3 + i] = texts[i];
    rig_open(&r, ptx, &(struct rig_options){.sets = sets, .set_count = ARRAY_LEN(sets), .timed = *timed});
}

static void open_shape(const struct shape *s) { open_shape_so(s, &(struct timed_options){0}); }

static void for_each_shape(void (*check)(const struct shape *s))
{
    uint32_t n = 0;
    for (uint32_t l1 = 32; l1 <= 128; l1 *= 2)
        for (uint32_t l2 = 32; l2 <= 512; l2 *= 2)
            for (uint32_t sectors = 0; sectors < 4; sectors++) {
                const struct shape s = {l1, l2, sectors & 1, sectors >> 1, 32u << n++ % 3};
                open_shape(&s);
                check(&s);
                rig_close(&r);
            }
}

struct data {
    uint32_t *from, *to, *bins;
    uint64_t params[3];
};

/* No two arrays share a line. */
static uint64_t alloc_lines(uint64_t bytes)
{
    return round_up_u64(rig_alloc(&r, bytes + LINE_MAX), LINE_MAX);
}

static struct data make_data(void)
{
    struct data d = {.params = {alloc_lines(4 * WORDS), alloc_lines(4 * WORDS), alloc_lines(4 * BINS)}};
    d.from = (uint32_t *)(uintptr_t)d.params[0];
    d.to = (uint32_t *)(uintptr_t)d.params[1];
    d.bins = (uint32_t *)(uintptr_t)d.params[2];
    for (uint32_t i = 0; i < WORDS; i++) d.from[i] = 3 * i + 1;
    return d;
}

/* ---- results ---- */

static void check_results(const struct shape *s)
{
    struct data d = make_data();
    uint32_t bins[BINS] = {0};
    rig_run(&r, "mix", CTAS, THREADS, d.params);
    for (uint32_t i = 0; i < WORDS; i++) {
        bins[i % BINS] += d.from[i]; /* the table is zero */
        assert_int_equal(d.to[i], i & 4 ? 0 : d.from[i]);
    }
    assert_memory_equal(d.bins, bins, sizeof bins);
}

static void results_do_not_depend_on_lines(void **state) { for_each_shape(check_results); }

/* ---- bytes ---- */

/* What `read` moves beyond a kernel that only reads its parameters. */
static double beyond_nothing(const char *stat) { return rig_stat(&r, 1, stat) - rig_stat(&r, 0, stat); }

/* Both kernels fetch instructions and parameters; those of data are the rest. Lines are read as a whole, and
 * all of them are wanted, so that sectors change nothing. */
static void check_bytes(const struct shape *s)
{
    struct data d = make_data();
    rig_run(&r, "nothing", CTAS, THREADS, d.params);
    rig_run(&r, "read", CTAS, THREADS, d.params);
    const double sectors = 4.0 * WORDS / SECTOR;
    const double requests = 4.0 * WORDS / MIN(s->l1_line, s->l2_line);
    assert_true(rig_stat(&r, 1, "l1.requests_read") == 4.0 * WORDS / s->l1_line);
    assert_true(beyond_nothing("l2.global_accesses") == requests);
    const struct wiring *w = &r.gpu->wiring;
    uint64_t asked = 0, fetched = 0;
    for (uint32_t i = 0; i < w->sm_count; i++) asked += sm_traffic(w->sms[i]).sectors_asked;
    for (uint32_t i = 0; i < w->channel_count; i++) fetched += dram_sectors(w->channels[i], REQ_READ);
    assert_true(asked == rig_stat(&r, 0, "l2.read_sectors") + rig_stat(&r, 1, "l2.read_sectors"));
    assert_true(fetched == rig_stat(&r, 0, "l2.fetched_sectors") + rig_stat(&r, 1, "l2.fetched_sectors"));
    assert_true(rig_stat(&r, 1, "l2.read_sectors") >= sectors);
    assert_true(rig_stat(&r, 1, "l2.fetched_sectors") >= sectors);
}

static void bytes_are_conserved_for_every_pair_of_lines(void **state) { for_each_shape(check_bytes); }

/* Each sector of the data is asked for once and fetched once; instructions and parameters come to that, a
 * line of their cache or a part of it in each request. */
static void check_exact_bytes(const struct shape *s)
{
    struct data d = make_data();
    rig_run(&r, "read", CTAS, THREADS, d.params);
    const uint32_t request = MIN(s->other_line, s->l2_line) / SECTOR;
    const uint32_t fetch = s->l2_sectored ? request : s->l2_line / SECTOR;
    const double sectors = 4.0 * WORDS / SECTOR;
    const double asked = rig_stat(&r, 0, "l2.const_accesses") + rig_stat(&r, 0, "l2.inst_accesses");
    const double missed = rig_stat(&r, 0, "l2.const_misses") + rig_stat(&r, 0, "l2.inst_misses");
    assert_true(rig_stat(&r, 0, "l2.read_sectors") == sectors + asked * request);
    assert_true(rig_stat(&r, 0, "l2.fetched_sectors") == sectors + missed * fetch);
}

static void each_byte_is_fetched_once_for_every_pair_of_lines(void **state)
{
    for_each_shape(check_exact_bytes);
}

/* ---- sleep and threads ---- */

static uint64_t hash_of(const struct shape *s, const struct timed_options *timed)
{
    open_shape_so(s, timed);
    struct data d = make_data();
    rig_run(&r, "mix", CTAS, THREADS, d.params);
    const uint64_t hash = timed_hash(r.gpu);
    rig_close(&r);
    return hash;
}

static void neither_sleep_nor_threads_change_anything(void **state)
{
    static const struct shape shapes[] = {{128, 32, false, false, 128},
                                          {128, 64, true, true, 32},
                                          {32, 512, false, false, 64},
                                          {64, 128, true, false, 128}};
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        const uint64_t hash = hash_of(&shapes[i], &(struct timed_options){0});
        assert_int_equal(hash_of(&shapes[i], &(struct timed_options){.no_skip = true}), hash);
        assert_int_equal(hash_of(&shapes[i], &(struct timed_options){.threads = 3, .threads_always = true}),
                         hash);
    }
}

/* ---- pairs that are refused ---- */

static void expect_refusal(const char *const *sets, uint32_t count, const char *why)
{
    struct diag_list d = {0};
    struct strbuf text = {0};
    struct machine m;
    assert_false(machine_load("fermi", sets, count, &m, &d));
    diag_render(&d, &text);
    if (!strstr(strbuf_text(&text), why)) fail_msg("expected \"%s\", got:\n%s", why, strbuf_text(&text));
    assert_non_null(strstr(strbuf_text(&text), "this is machine fermi with"));
    assert_non_null(strstr(strbuf_text(&text), sets[count - 1]));
    strbuf_free(&text);
    diag_free(&d);
}

static void a_line_that_lies_in_several_slices_is_refused(void **state)
{
    static const char *const channels[] = {"l2.line=512"};
    static const char *const slices[] = {"l2.line=256",
                                         "addr.map=dramid@8;0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS"};
    static const char *const rows[] = {"l2.line=256", "addr.map=dramid@8;RRRRRRRR.BBBCCCCB.RCSSSSSS",
                                       "addr.slices=1"};
    static const char *const base[] = {"addr.base=64"};
    expect_refusal(channels, 1, "several channels: l2.line is 512 bytes, addr.map deals 256 bytes");
    expect_refusal(slices, 2, "several slices, banks or rows: l2.line is 256 bytes");
    expect_refusal(rows, 3, "has a B or R among the lowest 8 bits");
    expect_refusal(base, 1, "addr.base must be a multiple of l2.line, which is 128 bytes, got 0x40");
}

/* ---- the laws themselves ---- */

static void lost_bytes_break_a_law(void **state)
{
    const struct shape s = {128, 64, false, false, 64};
    open_shape(&s);
    struct data d = make_data();
    rig_run(&r, "mix", CTAS, THREADS, d.params);
    laws_check_empty(&r.gpu->wiring, timed_cycles(r.gpu), &r.gpu->end);
    assert_false(run_has_ended(&r.gpu->end));
    struct l2_stats *stats = l2_stats(r.gpu->wiring.slices[5]);
    stats->fetched_sectors++;
    laws_check_empty(&r.gpu->wiring, timed_cycles(r.gpu), &r.gpu->end);
    stats->fetched_sectors--;
    assert_non_null(strstr(timed_report(r.gpu), "sectors read by DRAM channel 2"));
    rig_close(&r);
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 1);
    const struct CMUnitTest tests[] = {
        RIG_TEST(results_do_not_depend_on_lines),
        RIG_TEST(bytes_are_conserved_for_every_pair_of_lines),
        RIG_TEST(each_byte_is_fetched_once_for_every_pair_of_lines),
        RIG_TEST(neither_sleep_nor_threads_change_anything),
        RIG_TEST(a_line_that_lies_in_several_slices_is_refused),
        RIG_TEST(lost_bytes_break_a_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
