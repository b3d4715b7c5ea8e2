/* test_morpheus_choose.c: SMs that change between computing and caching while a program runs
 * (src/core/roles.c, src/mech/morpheus_choose.c): what the choice comes to, and that no change loses a
 * byte. */
#include "timing_kit.h"

#include "core/sm/sm.h"

/* Words of a buffer, threads of a grid: one each. */
enum { WORDS = 4096, THREADS = 64, CTAS = WORDS / THREADS, ROUNDS = 6, LINE_BYTES = 128 };

/* Each thread reads words of several lines, and writes the word of its own in another buffer. */
#define STEP                                                                                                 \
    ".visible .entry step(.param .u64 in, .param .u64 out, .param .u32 rounds)\n{\n"                         \
    ".reg .u64 %b, %o, %x; .reg .u32 %i, %t, %n, %r, %v, %a; .reg .pred %p;\n"                               \
    "ld.param.u64 %b, [in]; ld.param.u64 %o, [out]; ld.param.u32 %n, [rounds];\n"                            \
    "mov.u32 %i, %ctaid.x; mov.u32 %t, %ntid.x; mov.u32 %r, %tid.x; mad.lo.u32 %i, %i, %t, %r;\n"            \
    "mov.u32 %r, 0; mov.u32 %a, 1;\n"                                                                        \
    "again: mad.lo.u32 %t, %r, 1312, %i; and.b32 %t, %t, 4095; mul.wide.u32 %x, %t, 4; add.u64 %x, %b, "     \
    "%x;\n"                                                                                                  \
    "ld.global.cg.u32 %v, [%x]; mad.lo.u32 %a, %a, 5, %v;\n"                                                 \
    "add.u32 %r, %r, 1; setp.lt.u32 %p, %r, %n; @%p bra again;\n"                                            \
    "mul.wide.u32 %x, %i, 4; add.u64 %x, %o, %x; st.global.u32 [%x], %a; ret;\n}\n"
/* Each thread computes; one of each CTA writes. */
#define CRUNCH                                                                                               \
    ".visible .entry crunch(.param .u64 out, .param .u32 rounds)\n{\n"                                       \
    ".reg .u64 %o, %x; .reg .u32 %i, %t, %n, %r, %a; .reg .pred %p;\n"                                       \
    "ld.param.u64 %o, [out]; ld.param.u32 %n, [rounds];\n"                                                   \
    "mov.u32 %i, %ctaid.x; mov.u32 %t, %ntid.x; mov.u32 %r, %tid.x; mad.lo.u32 %i, %i, %t, %r;\n"            \
    "mov.u32 %r, 0; mov.u32 %a, 1;\n"                                                                        \
    "again: mad.lo.u32 %a, %a, 5, %i; mad.lo.u32 %a, %a, 7, %r; mad.lo.u32 %a, %a, 3, %t;\n"                 \
    "add.u32 %r, %r, 1; setp.lt.u32 %p, %r, %n; @%p bra again;\n"                                            \
    "and.b32 %r, %i, 63; setp.ne.u32 %p, %r, 0; @%p exit;\n"                                                 \
    "shr.u32 %i, %i, 6; mul.wide.u32 %x, %i, 4; add.u64 %x, %o, %x; st.global.u32 [%x], %a; ret;\n}\n"
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n" STEP CRUNCH;

/* Two slices of 8 lines; a buffer has 128. DRAM is slow, so that lines are worth keeping. */
static const char *const small[] = {"sm.count=8",       "addr.channels=2", "addr.slices=1",
                                    "l2.slice_size=1K", "l2.ways=2",       "sm.perfect_icache=true",
                                    "clock.dram=100000"};
/* An SM in cache mode has room for 64 lines. */
static const char *const online[] = {"morpheus.choose=online", "morpheus.cache_sms=6", "morpheus.warps=8",
                                     "morpheus.blocks=8",      "morpheus.l1_warps=0",  "morpheus.step=2",
                                     "morpheus.step_min=1"};

static struct rig rig;
static uint64_t buffers[2];

struct choose_run {
    const char *settings[6];
    struct timed_options timed;
};

static void open_run(const struct choose_run *r)
{
    static const char *const morpheus = "morpheus";
    const char *settings[ARRAY_LEN(online) + ARRAY_LEN(r->settings)];
    uint32_t count = ARRAY_LEN(online);
    memcpy(settings, online, sizeof online);
    for (uint32_t i = 0; i < ARRAY_LEN(r->settings) && r->settings[i]; i++)
        settings[count++] = r->settings[i];
    struct rig_options o = {.sets = small, .set_count = ARRAY_LEN(small), .timed = r->timed};
    o.timed.mechs = &morpheus;
    o.timed.mech_count = 1;
    o.timed.mech_settings = settings;
    o.timed.mech_setting_count = count;
    rig_open(&rig, ptx, &o);
    for (uint32_t b = 0; b < 2; b++) {
        buffers[b] = rig_alloc(&rig, WORDS * sizeof(uint32_t));
        for (uint32_t i = 0; i < WORDS; i++) ((uint32_t *)(uintptr_t)buffers[b])[i] = i * 2654435761u;
    }
}

/* A statistic of the whole run. */
static uint64_t total_of(const char *name)
{
    const struct timed_group *groups;
    const uint32_t n = timed_groups(rig.gpu, &groups);
    void **totals = timed_totals(rig.gpu);
    for (uint32_t g = 0; g < n; g++)
        for (const struct stat_row *row = groups[g].rows; row->name; row++)
            if (!strcmp(row->name, name)) {
                const uint64_t value = (uint64_t)stat_value(row, totals[g]);
                timed_free_stats(rig.gpu, totals);
                return value;
            }
    fail_msg("no statistic is called %s", name);
    return 0;
}

static uint32_t newest(void) { return timed_kernel_count(rig.gpu) - 1; }
static uint32_t sms_of(uint32_t kernel) { return (uint32_t)rig_stat(&rig, kernel, "helper.sms"); }

/* What happened between launches, while roles changed. */
static uint64_t between_of(const char *name)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= newest(); i++) sum += (uint64_t)rig_stat(&rig, i, name);
    return total_of(name) - sum;
}

static void run_step(uint32_t i)
{
    rig_run(&rig, "step", CTAS, THREADS, (const uint64_t[]){buffers[i % 2], buffers[(i + 1) % 2], ROUNDS});
}

/* ---- the choice ---- */

static void more_cache_helps_so_the_choice_climbs_and_stays(void **state)
{
    enum { STEPS = 16, SETTLED = 10 };
    open_run(&(struct choose_run){0});
    for (uint32_t i = 0; i < STEPS; i++) run_step(i);
    assert_int_equal(sms_of(0), 0);
    assert_int_equal(sms_of(1), 0);
    assert_int_equal(sms_of(2), 2);
    assert_in_range(sms_of(SETTLED), 3, 5);
    for (uint32_t i = SETTLED; i < STEPS; i++) assert_int_equal(sms_of(i), sms_of(SETTLED));
    assert_true(2 * rig_cycles(&rig, STEPS - 1) < rig_cycles(&rig, 1));
    assert_true(total_of("helper.change_cycles") > total_of("helper.changes") * 100);
}

/* Cycles of the fourth launch with a fixed number of SMs in cache mode. */
static uint64_t fixed_cycles(uint32_t cache_sms)
{
    char setting[32];
    snprintf(setting, sizeof setting, "morpheus.cache_sms=%u", cache_sms);
    open_run(&(struct choose_run){.settings = {"morpheus.choose=fixed", setting}});
    for (uint32_t i = 0; i < 4; i++) run_step(i);
    const uint64_t cycles = rig_cycles(&rig, 3);
    rig_close(&rig);
    return cycles;
}

/* Its oracle: the best of all numbers. */
static void the_choice_is_nearly_as_fast_as_the_best_fixed_number(void **state)
{
    /* enough steps that the choice is made and the sets are full again */
    enum { STEPS = 16 };
    uint64_t best = UINT64_MAX;
    for (uint32_t n = 0; n <= 6; n += IS_SANITIZED ? 3 : 1) best = MIN(best, fixed_cycles(n));
    open_run(&(struct choose_run){0});
    for (uint32_t i = 0; i < STEPS; i++) run_step(i);
    assert_true(rig_cycles(&rig, STEPS - 1) * 100 < best * 110);
}

static void run_crunch(uint32_t i)
{
    rig_run(&rig, "crunch", 64, THREADS, (const uint64_t[]){buffers[i % 2], 200});
}

/* The number of SMs decides: the choice falls from where it starts, and never rises. */
static void a_program_that_computes_gets_all_sms(void **state)
{
    open_run(&(struct choose_run){.settings = {"morpheus.start=5"}});
    for (uint32_t i = 0; i < 14; i++) run_crunch(i);
    assert_int_equal(sms_of(0), 5);
    for (uint32_t i = 1; i < 14; i++) assert_true(sms_of(i) <= sms_of(i - 1));
    for (uint32_t i = 8; i < 14; i++) assert_int_equal(sms_of(i), 0);
    assert_int_equal(total_of("helper.changes"), 3);
}

/* DRAM has nothing to do: nothing is tried, and the CTAs are on all SMs. */
static void where_dram_is_idle_no_sm_is_put_into_cache_mode(void **state)
{
    open_run(&(struct choose_run){0});
    for (uint32_t i = 0; i < 6; i++) run_crunch(i);
    assert_int_equal(total_of("helper.changes") + total_of("helper.cycles"), 0);
    for (uint32_t i = 0; i < 8; i++)
        assert_true(((const struct sm_stats *)sm_stats(timed_sm_at(rig.gpu, i)))->ctas > 0);
    rig_close(&rig);
    open_run(&(struct choose_run){.settings = {"morpheus.dram_low=0"}});
    for (uint32_t i = 0; i < 6; i++) run_crunch(i);
    assert_true(total_of("helper.changes") > 0);
}

/* ---- changes of roles ---- */

static uint32_t expected[2][WORDS];

static void begin_expected(void)
{
    for (uint32_t b = 0; b < 2; b++)
        memcpy(expected[b], (const void *)(uintptr_t)buffers[b], sizeof expected[b]);
}

static void expect_step(uint32_t n)
{
    const uint32_t *in = expected[n % 2];
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t a = 1;
        for (uint32_t r = 0; r < ROUNDS; r++) a = a * 5 + in[(r * 1312 + i) % WORDS];
        expected[(n + 1) % 2][i] = a;
    }
}

/* Blocks that were read, and that left, were what memory was; memory is what it should be. */
static void check_step(uint32_t i)
{
    run_step(i);
    expect_step(i);
    for (uint32_t b = 0; b < 2; b++)
        assert_memory_equal((const void *)(uintptr_t)buffers[b], expected[b], sizeof expected[b]);
    assert_int_equal(rig_stat(&rig, newest(), "morpheus.stale_reads"), 0);
    assert_int_equal(rig_stat(&rig, newest(), "morpheus.false_negatives"), 0);
}

static void check_conserves(const struct choose_run *r)
{
    open_run(r);
    begin_expected();
    for (uint32_t i = 0; i < 9; i++) check_step(i);
    assert_true(total_of("helper.changes") >= 3);
    assert_true(total_of("morpheus.flushed") > 50 && total_of("morpheus.hits") > 1000);
    assert_int_equal(between_of("morpheus.stale_victims"), 0);
    rig_close(&rig);
}

static void no_change_of_roles_loses_a_byte(void **state)
{
    check_conserves(&(struct choose_run){0});
    check_conserves(&(struct choose_run){.settings = {"morpheus.start=6", "morpheus.blocks=40",
                                                      "morpheus.warps=3", "morpheus.filter_bytes=64"}});
    check_conserves(&(struct choose_run){.settings = {"morpheus.l1_warps=4", "morpheus.l1_blocks=8",
                                                      "morpheus.warps=4", "morpheus.predictor=none"}});
    check_conserves(&(struct choose_run){
        .settings = {"morpheus.warps=0", "morpheus.shared_warps=8", "morpheus.shared_blocks=8"}});
}

static void nor_does_one_of_compressed_sets(void **state)
{
    check_conserves(&(struct choose_run){.settings = {"morpheus.start=4", "morpheus.compression=true",
                                                      "morpheus.blocks=6", "morpheus.epoch=500"}});
}

/* Dirty blocks of the helper go to DRAM, and so do dirty lines that a slice may not keep: some of its 8. What
 * the helper loads when it starts drives out 3 of the 16 lines of both slices. */
static void what_leaves_is_written_to_dram(void **state)
{
    open_run(&(struct choose_run){.settings = {"morpheus.start=2"}});
    for (uint32_t i = 0; i < 3; i++) run_step(i);
    const uint64_t flushed = between_of("morpheus.flushed"), written = between_of("dram.writes");
    assert_int_equal(total_of("helper.changes"), 1);
    assert_true(flushed > 20);
    assert_in_range(written - flushed, 3 + 1, 16);
    assert_int_equal(between_of("l2.writebacks"), written);
    assert_int_equal(total_of("morpheus.flushed"), flushed);
}

/* A host copy makes blocks of its set worthless: they are not written over it. */
static void a_host_copy_before_a_change_is_not_overwritten(void **state)
{
    open_run(&(struct choose_run){.settings = {"morpheus.start=2"}});
    begin_expected();
    check_step(0);
    check_step(1);
    for (uint32_t i = 0; i < WORDS; i += 64) {
        uint32_t *word = &((uint32_t *)(uintptr_t)buffers[0])[i];
        *word = expected[0][i] = ~i;
        timed_host_copy(rig.gpu, (uint64_t)(uintptr_t)word, sizeof *word);
    }
    check_step(2);
    assert_int_equal(total_of("helper.changes"), 1);
    assert_true(total_of("morpheus.clears") > 0);
    assert_int_equal(between_of("morpheus.stale_victims"), 0);
}

static void after_a_reset_roles_are_what_they_were(void **state)
{
    open_run(&(struct choose_run){0});
    begin_expected();
    for (uint32_t i = 0; i < 3; i++) check_step(i);
    timed_leave_device(rig.gpu);
    timed_set_device(rig.gpu, rig.device);
    for (uint32_t i = 3; i < 6; i++) check_step(i);
    assert_int_equal(sms_of(2), 2);
    assert_int_equal(sms_of(3), 2);
    assert_int_equal(sms_of(4), 4);
}

/* An SM counts as one that computes while it does, and as one that caches while it does. */
static void what_sms_count_stays_with_their_roles(void **state)
{
    uint64_t insts = 0;
    open_run(&(struct choose_run){0});
    for (uint32_t i = 0; i < 8; i++) {
        run_step(i);
        insts += timed_kernel_emu(rig.gpu, i)->warp_insts;
        assert_int_equal(rig_stat(&rig, i, "sm.cycles") + rig_stat(&rig, i, "helper.cycles"),
                         8 * rig_stat(&rig, i, "gpu.cycles"));
    }
    assert_true(total_of("helper.changes") >= 3);
    assert_int_equal(total_of("sm.warp_insts"), insts);
    assert_int_equal(total_of("sm.cycles") + total_of("helper.cycles"), 8 * total_of("helper.elapsed"));
}

/* ---- streams ---- */

/* Kernels that overlap are not measured, and roles do not change under them. */
static void kernels_that_overlap_keep_the_roles(void **state)
{
    open_run(&(struct choose_run){.settings = {"morpheus.start=2"}});
    for (uint32_t i = 0; i < 8; i++)
        rig_launch(&rig, "crunch", 8, THREADS, (const uint64_t[]){buffers[i % 2], 40 + i}, 1 + i % 2);
    rig_sync(&rig);
    for (uint32_t i = 0; i < 7; i++) assert_int_equal(sms_of(i), 2);
    assert_int_equal(total_of("helper.changes"), 0);
}

/* ---- whole runs ---- */

static uint64_t hash_of(const struct choose_run *r)
{
    open_run(r);
    for (uint32_t i = 0; i < 7; i++) run_step(i);
    const uint64_t hash = timed_hash(rig.gpu);
    rig_close(&rig);
    return hash;
}

static void threads_and_skipping_change_nothing(void **state)
{
    struct choose_run r = {0};
    const uint64_t hash = hash_of(&r);
    r.timed.no_skip = true;
    assert_int_equal(hash_of(&r), hash);
    r.timed = (struct timed_options){.threads_always = true};
    for (r.timed.threads = 2; r.timed.threads <= 3; r.timed.threads++) assert_int_equal(hash_of(&r), hash);
}

/* Nothing of the choice shows where it is not asked for: parameters, and warps that send their blocks. */
static void a_fixed_number_of_sms_is_fixed(void **state)
{
    const uint64_t hash = hash_of(&(struct choose_run){.settings = {"morpheus.choose=fixed"}});
    assert_int_equal(
        hash_of(&(struct choose_run){.settings = {"morpheus.choose=fixed", "morpheus.start=3",
                                                  "morpheus.step_min=3", "morpheus.dram_low=0"}}),
        hash);
    open_run(&(struct choose_run){.settings = {"morpheus.choose=fixed"}});
    for (uint32_t i = 0; i < 3; i++) run_step(i);
    assert_int_equal(sms_of(0), 6);
    assert_int_equal(sms_of(2), 6);
    timed_leave_device(rig.gpu);
    assert_int_equal(total_of("helper.changes") + total_of("morpheus.flushed"), 0);
}

/* ---- what programs see ---- */

/* Two SMs compute whatever is chosen: eight CTAs each. */
static void programs_see_the_sms_that_always_compute(void **state)
{
    const uint64_t params[] = {0, 0};
    open_run(&(struct choose_run){0});
    assert_int_equal(timed_compute_sms(rig.gpu), 2);
    const struct emu_launch l = {.module = rig.module,
                                 .kernel = emu_find_kernel(rig.module, "crunch"),
                                 .grid = {17, 1, 1},
                                 .block = {32, 1, 1},
                                 .params = params,
                                 .cooperative = true};
    timed_launch(rig.gpu, &l, 0);
    assert_int_equal(timed_sync(rig.gpu, UINT64_MAX, &rig.fault), EMU_BAD_LAUNCH);
    assert_non_null(strstr(timed_report(rig.gpu), "17 blocks, but only 16 can be resident together"));
}

static void check_refused(const char *setting, const char *why)
{
    static const char *const morpheus = "morpheus";
    const char *settings[ARRAY_LEN(online) + 1];
    struct machine m;
    struct diag_list d = {0};
    struct strbuf text = {0};
    memcpy(settings, online, sizeof online);
    settings[ARRAY_LEN(online)] = setting;
    machine_load("fermi", small, 1, &m, &d);
    rig_show(&d);
    const struct timed_options o = {.mechs = &morpheus,
                                    .mech_count = 1,
                                    .mech_settings = settings,
                                    .mech_setting_count = ARRAY_LEN(settings),
                                    .compile = helper_compile};
    assert_null(timed_create(&m, NULL, &o, &d));
    diag_render(&d, &text);
    if (!strstr(strbuf_text(&text), why)) fail_msg("'%s' is not in: %s", why, strbuf_text(&text));
    strbuf_free(&text);
    diag_free(&d);
}

static void what_does_not_go_together_is_refused(void **state)
{
    check_refused("morpheus.cache_sms=7", "at most 75% of the SMs, 6 of 8");
    check_refused("morpheus.cache_sms=0", "morpheus.choose=online needs morpheus.cache_sms");
    check_refused("morpheus.start=7", "morpheus.start is more than morpheus.cache_sms");
    check_refused("morpheus.step_min=3", "morpheus.step_min is more than morpheus.step");
    check_refused("morpheus.step=0", "morpheus.step");
    check_refused("morpheus.margin=101", "morpheus.margin");
    check_refused("morpheus.choose=best", "'best'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(more_cache_helps_so_the_choice_climbs_and_stays),
        RIG_TEST(the_choice_is_nearly_as_fast_as_the_best_fixed_number),
        RIG_TEST(a_program_that_computes_gets_all_sms),
        RIG_TEST(where_dram_is_idle_no_sm_is_put_into_cache_mode),
        RIG_TEST(no_change_of_roles_loses_a_byte),
        RIG_TEST(nor_does_one_of_compressed_sets),
        RIG_TEST(what_leaves_is_written_to_dram),
        RIG_TEST(a_host_copy_before_a_change_is_not_overwritten),
        RIG_TEST(after_a_reset_roles_are_what_they_were),
        RIG_TEST(what_sms_count_stays_with_their_roles),
        RIG_TEST(kernels_that_overlap_keep_the_roles),
        RIG_TEST(threads_and_skipping_change_nothing),
        RIG_TEST(a_fixed_number_of_sms_is_fixed),
        RIG_TEST(programs_see_the_sms_that_always_compute),
        RIG_TEST(what_does_not_go_together_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
