/* test_ccn_stale.c: hits of ccn whose copy is older than the newest store (ccn.stale_hits), on machines whose
 * SMs do what a list says: who loads or stores when. Requests travel from each SM to the next one. */
#include "timing_kit.h"

#include "base/hash.h"

enum { SMS = 15, LINES = 64, LINE_BYTES = 128, SECTORS = 4, STEPS = 5 };

/* A warp of SECTORS lanes for each SM. LOAD: a word of the line; LOAD_ALL: one of each of its sectors; STORE,
 * ATOMIC: another word of it; ELSEWHERE: a store to the next line. */
enum act_kind { NOTHING, LOAD, LOAD_ALL, STORE, ATOMIC, ELSEWHERE };
struct act {
    uint32_t sm, cycle;
    enum act_kind kind;
};

#define DO(n)                                                                                                \
    "ld.param.u64 %s, [act" #n "]; cvt.u32.u64 %k, %s; shr.u64 %s, %s, 32; cvt.u32.u64 %w, %s;\n"            \
    "shr.u32 %m, %k, 16; and.b32 %k, %k, 65535;\n"                                                           \
    "setp.ne.u32 %p, %m, %i;\n@%p bra next" #n ";\n"                                                         \
    "wait" #n ":\nmov.u32 %c, %clock; sub.u32 %c, %c, %t; setp.lt.u32 %p, %c, %w;\n@%p bra wait" #n ";\n"    \
    "setp.eq.u32 %p, %k, 1;\n@%p ld.global.ca.u32 %v, [%b];\n"                                               \
    "setp.eq.u32 %p, %k, 2;\n@%p ld.global.ca.u32 %v, [%a];\n"                                               \
    "setp.eq.u32 %p, %k, 3;\n@%p st.global.u32 [%b+4], %w;\n"                                                \
    "setp.eq.u32 %p, %k, 4;\n@%p atom.global.add.u32 %v, [%b+8], 1;\n"                                       \
    "setp.eq.u32 %p, %k, 5;\n@%p st.global.u32 [%b+128], %w;\n"                                              \
    "add.u32 %n, %n, %v;\nnext" #n ":\n"
#define ACTS                                                                                                 \
    ".visible .entry acts(.param .u64 buf, .param .u64 out, .param .u64 act0, .param .u64 act1, .param "     \
    ".u64 act2,\n"                                                                                           \
    ".param .u64 act3, .param .u64 act4)\n{\n"                                                               \
    ".reg .u64 %a, %b, %s; .reg .u32 %v, %k, %m, %i, %c, %t, %w, %n; .reg .pred %p;\n"                       \
    "ld.param.u64 %b, [buf]; mov.u32 %c, %tid.x; mul.wide.u32 %a, %c, 32; add.u64 %a, %a, %b;\n"             \
    "mov.u32 %i, %smid; mov.u32 %t, %clock; mov.u32 %v, 0; mov.u32 %n, 0;\n" DO(0) DO(1) DO(2) DO(3)         \
        DO(4) "ld.param.u64 %b, [out]; st.global.u32 [%b], %n;\nret;\n}\n"
/* Every warp loads lines that its neighbours load too, and stores into every fourth. What is loaded goes to
 * `out`: loads without a use are left out. */
#define STORM                                                                                                \
    ".visible .entry storm(.param .u64 buf, .param .u64 out, .param .u32 rounds)\n{\n"                       \
    ".reg .u64 %b, %x; .reg .u32 %v, %l, %c, %n, %r, %i, %t, %s; .reg .pred %p;\n"                           \
    "ld.param.u64 %b, [buf]; ld.param.u32 %n, [rounds]; mov.u32 %r, 0; mov.u32 %s, 0;\n"                     \
    "mov.u32 %c, %ctaid.x; mov.u32 %i, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %c, %i, %t;\n"            \
    "loop:\nmad.lo.u32 %l, %r, 5, %t; mad.lo.u32 %l, %c, 3, %l; and.b32 %l, %l, 63;\n"                       \
    "mul.wide.u32 %x, %l, 128; add.u64 %x, %b, %x; ld.global.ca.u32 %v, [%x]; add.u32 %s, %s, %v;\n"         \
    "and.b32 %v, %r, 3; setp.eq.u32 %p, %v, 3;\n@%p st.global.u32 [%x+64], %i;\n"                            \
    "setp.eq.u32 %p, %v, 1;\n@%p atom.global.add.u32 %v, [%x+32], 1;\n"                                      \
    "add.u32 %r, %r, 1; setp.lt.u32 %p, %r, %n;\n@%p bra loop;\n"                                            \
    "ld.param.u64 %b, [out]; st.global.u32 [%b], %s;\nret;\n}\n"
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n" ACTS STORM;

/* ---- the run ---- */

static struct rig rig;
static uint64_t buf, out;

struct stale_run {
    /* NULL: basic; NULL: fermi */
    const char *mode, *machine;
    const char *sets[3];
    struct timed_options timed;
};

static void open_run(const struct stale_run *r)
{
    static const char *const ccn = "ccn";
    char mode[32];
    snprintf(mode, sizeof mode, "ccn.mode=%s", r->mode ? r->mode : "basic");
    const char *settings = mode;
    struct rig_options o = {.machine = r->machine, .sets = r->sets, .timed = r->timed};
    while (o.set_count < ARRAY_LEN(r->sets) && r->sets[o.set_count]) o.set_count++;
    if (!o.timed.mech_count) {
        o.timed.mechs = &ccn;
        o.timed.mech_count = 1;
        o.timed.mech_settings = &settings;
        o.timed.mech_setting_count = 1;
    }
    rig_open(&rig, ptx, &o);
    buf = rig_alloc(&rig, LINES * LINE_BYTES);
    out = rig_alloc(&rig, LINE_BYTES);
}

static void run_acts(const struct act acts[STEPS])
{
    uint64_t params[2 + STEPS] = {buf, out};
    for (uint32_t i = 0; i < STEPS; i++)
        params[2 + i] = (uint64_t)acts[i].cycle << 32 | acts[i].sm << 16 | acts[i].kind;
    rig_run(&rig, "acts", timed_compute_sms(rig.gpu), SECTORS, params);
}

/* i: which of the runs of a test this is, for the message. */
static void expect(uint32_t i, uint32_t kernel, uint32_t hits, uint32_t stale)
{
    const uint32_t found = (uint32_t)rig_stat(&rig, kernel, "ccn.hits");
    const uint32_t old = (uint32_t)rig_stat(&rig, kernel, "ccn.stale_hits");
    if (found != hits || old != stale)
        fail_msg("run %u: %u of %u hits are stale, not %u of %u", i, old, found, stale, hits);
}

struct stale_case {
    struct act acts[STEPS];
    uint32_t hits, stale;
};

static void expect_cases(const struct stale_run *r, const struct stale_case *cases, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        open_run(r);
        run_acts(cases[i].acts);
        expect(i, 0, cases[i].hits, cases[i].stale);
        rig_close(&rig);
    }
}

/* The host has written to the line, and SM 0 loads it after that. */
static void expect_new_after_host(const struct stale_run *r)
{
    open_run(r);
    run_acts((const struct act[STEPS]){{0}});
    timed_host_copy(rig.gpu, buf, 8);
    run_acts((const struct act[STEPS]){{0, 0, LOAD_ALL}, {2, 4000, LOAD}});
    expect(0, 1, 1, 0);
    rig_close(&rig);
}

/* ---- stores ---- */

/* SM 0 loads the line, SM 1 does something, SM 2 gets the line from SM 0. */
static const struct stale_case plain[] = {
    {{{0, 0, LOAD}, {2, 4000, LOAD}}, 1, 0},
    {{{0, 0, LOAD}, {1, 2000, STORE}, {2, 4000, LOAD}}, 1, 1},
    {{{0, 0, LOAD}, {1, 2000, ATOMIC}, {2, 4000, LOAD}}, 1, 1},
    {{{0, 0, LOAD}, {1, 2000, ELSEWHERE}, {2, 4000, LOAD}}, 1, 0},
    {{{1, 0, STORE}, {0, 2000, LOAD}, {2, 4000, LOAD}}, 1, 0},
};

static void a_copy_is_stale_once_another_sm_has_stored(void **state)
{
    expect_cases(&(struct stale_run){0}, plain, ARRAY_LEN(plain));
    expect_cases(&(struct stale_run){.mode = "ideal"}, plain, ARRAY_LEN(plain));
}

/* The store of SM 0 drops its own copy; it loads the line again from the L2. */
static void a_new_fill_is_not_stale(void **state)
{
    static const struct stale_case cases[] = {
        {{{0, 0, LOAD}, {1, 1500, STORE}, {0, 3000, STORE}, {0, 4500, LOAD}, {2, 6000, LOAD}}, 1, 0}};
    expect_cases(&(struct stale_run){0}, cases, ARRAY_LEN(cases));
    expect_cases(&(struct stale_run){.mode = "ideal"}, cases, ARRAY_LEN(cases));
}

/* SM 2 gets its copy from SM 0, and SM 1 from SM 2: a copy is as old as the one that it was made of. */
static void a_copy_of_a_copy_has_its_age(void **state)
{
    static const struct stale_case cases[] = {
        {{{0, 0, LOAD}, {2, 4000, LOAD}, {1, 6000, LOAD}}, 2, 0},
        {{{0, 0, LOAD}, {1, 2000, STORE}, {2, 4000, LOAD}, {1, 6000, LOAD}}, 2, 2},
        {{{0, 0, LOAD}, {2, 2000, LOAD}, {1, 4000, STORE}, {1, 6000, LOAD}}, 2, 1},
        {{{1, 0, STORE}, {0, 2000, LOAD}, {2, 4000, LOAD}, {1, 6000, LOAD}}, 2, 0},
    };
    expect_cases(&(struct stale_run){0}, cases, ARRAY_LEN(cases));
    expect_cases(&(struct stale_run){.mode = "ideal"}, cases, ARRAY_LEN(cases));
}

/* SMs 5 and 9 have the line, and 9 stores to it. SM 7 finds the copy of 9, SM 2 that of 5. */
static void an_l1_that_updates_its_lines_has_its_own_stores(void **state)
{
    static const struct stale_case cases[] = {
        {{{5, 0, LOAD}, {9, 1500, LOAD}, {9, 3000, STORE}, {7, 4500, LOAD}, {2, 6000, LOAD}}, 3, 1}};
    expect_cases(&(struct stale_run){.sets = {"l1.write_global=update"}}, cases, ARRAY_LEN(cases));
    expect_cases(&(struct stale_run){.mode = "ideal", .sets = {"l1.write_global=update"}}, cases,
                 ARRAY_LEN(cases));
}

/* ---- machines ---- */

/* Lines of the L1 that are two of the L2, or half of one; an L2 without queues. */
static void lines_of_the_l2_may_have_another_size(void **state)
{
    static const char *const sets[] = {"l2.line=64", "l1.line=64", "l2.infinite=true"};
    for (uint32_t i = 0; i < ARRAY_LEN(sets); i++)
        expect_cases(&(struct stale_run){.sets = {sets[i]}}, plain, ARRAY_LEN(plain));
}

/* Morpheus, with a third of the SMs in cache mode, takes reads and writes before they are at the tags. */
static void a_mechanism_at_the_l2_may_take_the_store(void **state)
{
    static const char *const both[] = {"ccn", "morpheus"}, *const cache = "morpheus.cache_sms=24";
    const struct timed_options o = {
        .mechs = both, .mech_count = 2, .mech_settings = &cache, .mech_setting_count = 1};
    const struct stale_case cases[] = {
        {{{0, 0, LOAD_ALL}, {1, 4000, STORE}, {2, 8000, LOAD}}, 1, 1},
        {{{1, 0, STORE}, {0, 4000, LOAD_ALL}, {2, 8000, LOAD}}, 1, 0},
    };
    const struct stale_run r = {.machine = "rtx3080", .timed = o};
    expect_cases(&r, cases, ARRAY_LEN(cases));
    expect_new_after_host(&r);
}

/* Of a line with sectors SM 0 has the first before the store, and the others after it. */
static void a_line_is_as_old_as_its_oldest_sector(void **state)
{
    static const struct stale_case cases[] = {
        {{{0, 0, LOAD_ALL}, {2, 4000, LOAD}}, 1, 0},
        {{{0, 0, LOAD_ALL}, {1, 2000, STORE}, {2, 4000, LOAD}}, 1, 1},
        {{{0, 0, LOAD}, {0, 2000, LOAD_ALL}, {2, 4000, LOAD}}, 1, 0},
        {{{0, 0, LOAD}, {1, 2000, STORE}, {0, 4000, LOAD_ALL}, {2, 6000, LOAD}}, 1, 1},
        {{{1, 0, STORE}, {0, 2000, LOAD}, {0, 4000, LOAD_ALL}, {2, 6000, LOAD}}, 1, 0},
    };
    expect_cases(&(struct stale_run){.machine = "rtx3080"}, cases, ARRAY_LEN(cases));
    expect_cases(&(struct stale_run){.mode = "ideal", .machine = "rtx3080"}, cases, ARRAY_LEN(cases));
}

/* ---- the host ---- */

/* SM 0 loads the line in one kernel, SM 2 gets it from there in the next one, unless L1s are flushed. */
static void what_the_host_writes_is_a_store(void **state)
{
    static const char *const flush[] = {"l1.flush=false", "l1.flush=true"};
    for (uint32_t i = 0; i < 8; i++) {
        open_run(&(struct stale_run){.mode = i < 4 ? NULL : "ideal", .sets = {flush[i % 4 == 3]}});
        run_acts((const struct act[STEPS]){{0, 0, LOAD}});
        if (i % 4 == 1) timed_host_copy(rig.gpu, buf + 100, 8);
        if (i % 4 != 1) timed_host_copy(rig.gpu, buf + LINE_BYTES, 8); /* the next line */
        if (i % 4 == 2) timed_host_fill(rig.gpu, buf, 1);
        run_acts((const struct act[STEPS]){{2, 0, LOAD}});
        expect(i, 1, i % 4 != 3, i % 4 == 1 || i % 4 == 2);
        rig_close(&rig);
    }
}

/* What an L1 answers itself is new. */
static void a_copy_that_never_saw_the_l2_has_an_age(void **state)
{
    expect_new_after_host(&(struct stale_run){.sets = {"l1.fixed_miss_latency=300"}});
}

/* ---- one result ---- */

struct storm {
    uint64_t stale, hash;
};

static struct storm storm_of(const char *mode, uint32_t threads, bool no_skip)
{
    open_run(&(struct stale_run){
        .mode = mode, .timed = {.threads = threads, .threads_always = threads > 1, .no_skip = no_skip}});
    rig_run(&rig, "storm", 2 * SMS, IS_SANITIZED ? 32 : 64,
            (const uint64_t[]){buf, out, IS_SANITIZED ? 8 : 16});
    const struct storm s = {(uint64_t)rig_stat(&rig, 0, "ccn.stale_hits"), timed_hash(rig.gpu)};
    assert_true(s.stale > 0);
    assert_true(s.stale < (uint64_t)rig_stat(&rig, 0, "ccn.hits"));
    rig_close(&rig);
    return s;
}

static void every_way_to_run_it_counts_the_same(void **state)
{
    static const char *const modes[] = {"basic", "ideal"};
    static const uint32_t threads[] = {2, 3, 8};
    for (uint32_t m = 0; m < ARRAY_LEN(modes); m++) {
        const struct storm one = storm_of(modes[m], 1, false);
        for (uint32_t i = 0; i <= ARRAY_LEN(threads); i++) {
            const bool no_skip = i == ARRAY_LEN(threads);
            const struct storm s = storm_of(modes[m], no_skip ? 1 : threads[i], no_skip);
            assert_int_equal(s.stale, one.stale);
            assert_int_equal(s.hash, one.hash);
        }
    }
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_copy_is_stale_once_another_sm_has_stored),
        RIG_TEST(a_new_fill_is_not_stale),
        RIG_TEST(a_copy_of_a_copy_has_its_age),
        RIG_TEST(an_l1_that_updates_its_lines_has_its_own_stores),
        RIG_TEST(lines_of_the_l2_may_have_another_size),
        RIG_TEST(a_line_is_as_old_as_its_oldest_sector),
        RIG_TEST(what_the_host_writes_is_a_store),
        RIG_TEST(a_copy_that_never_saw_the_l2_has_an_age),
        RIG_TEST(a_mechanism_at_the_l2_may_take_the_store),
        RIG_TEST(every_way_to_run_it_counts_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
