/* test_warps.c: machines whose SMs hold more than 64 warps: every mechanism, with and without sleeping, on
 * several threads. */
#include "timing_kit.h"

#include "base/hash.h"
#include "mech/registry.h"

/* Each warp follows a chain of words, of which each says where the next one lies; its threads add what they
 * meet to their numbers, exchange sums through shared memory, and each warp counts its first sum in a bin. */
static const char ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry walk(.param .u64 data, .param .u64 bins, .param .u64 out)\n{\n"
    ".shared .align 4 .b8 tile[1024];\n"
    ".reg .u64 %d, %b, %o, %a; .reg .u32 %t, %c, %n, %i, %v, %s, %w, %k; .reg .pred %q;\n"
    "ld.param.u64 %d, [data]; ld.param.u64 %b, [bins]; ld.param.u64 %o, [out];\n"
    "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %c, %n, %t;\n"
    "shr.u32 %v, %i, 5; mov.u32 %s, %i; mov.u32 %k, 0;\nloop:\n"
    "and.b32 %v, %v, 65535; mul.wide.u32 %a, %v, 4; add.u64 %a, %d, %a; ld.global.u32 %v, [%a];\n"
    "add.u32 %s, %s, %v; add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 24;\n@%q bra loop;\n"
    "mov.u32 %w, tile; shl.b32 %n, %t, 2; add.u32 %w, %w, %n; st.shared.u32 [%w], %s;\nbar.sync 0;\n"
    "xor.b32 %n, %n, 4; mov.u32 %w, tile; add.u32 %w, %w, %n; ld.shared.u32 %n, [%w]; add.u32 %s, %s, %n;\n"
    "and.b32 %w, %s, 15; mul.wide.u32 %a, %w, 4; add.u64 %a, %b, %a;\n"
    "and.b32 %t, %t, 31; setp.eq.u32 %q, %t, 0;\n@%q red.global.add.u32 [%a], 1;\n"
    "mul.wide.u32 %a, %i, 4; add.u64 %a, %o, %a; st.global.u32 [%a], %s;\nret;\n}\n";

/* CTAS: of the test of latency; SOME_CTAS: of the others, still more than the SMs hold at a time. */
enum { CTAS = 96, SOME_CTAS = 40, BLOCK = 256, THREADS = CTAS * BLOCK, DATA = 65536, STEPS = 24 };

struct outcome {
    uint64_t hash, memory, cycles;
};

static uint32_t data_at(uint32_t i) { return i * 2654435761u >> 5; }

static void expect_right(const uint32_t *bins, const uint32_t *out, uint32_t threads)
{
    static uint32_t sums[THREADS];
    uint32_t expected[16] = {0};
    for (uint32_t i = 0; i < threads; i++) {
        sums[i] = i;
        for (uint32_t k = 0, v = i / 32; k < STEPS; k++) sums[i] += v = data_at(v % DATA);
    }
    for (uint32_t i = 0; i < threads; i++) {
        assert_int_equal(out[i], sums[i] + sums[i ^ 1]);
        if (i % 32 == 0) expected[out[i] % 16]++;
    }
    assert_memory_equal(bins, expected, sizeof expected);
}

static struct outcome run(const struct rig_options *o, uint32_t ctas)
{
    const uint32_t threads = ctas * BLOCK;
    static struct rig r;
    rig_open(&r, ptx, o);
    const uint64_t data = rig_alloc(&r, DATA * 4), bins = rig_alloc(&r, 64), out = rig_alloc(&r, threads * 4);
    for (uint32_t i = 0; i < DATA; i++) ((uint32_t *)(uintptr_t)data)[i] = data_at(i);
    rig_run(&r, "walk", ctas, BLOCK, (const uint64_t[]){data, bins, out});
    expect_right((const uint32_t *)(uintptr_t)bins, (const uint32_t *)(uintptr_t)out, threads);
    const struct outcome got = {.hash = timed_hash(r.gpu),
                                .cycles = rig_cycles(&r, 0),
                                .memory = hash_bytes(HASH_SEED, (const void *)(uintptr_t)out, threads * 4)};
    rig_close(&r);
    return got;
}

/* Two SMs, so that all CTAs of the kernel are more than they hold. */
#define WIDE(warps, threads)                                                                                 \
    "sm.count=2", "sm.warps=" #warps, "sm.threads=" #threads, "sm.ctas=64", "sm.registers=262144",           \
        "sm.shared=98304", "l1.mshrs=256", "sm.fetch_width=8", "sm.ibuffer=8", "l1.reply_step=0",            \
        "ideal.memory=infinite"
static const char *const wide[][11] = {{WIDE(64, 2048)}, {WIDE(96, 3072)}, {WIDE(128, 4096)}};

/* The last two settings are for the test of latency alone. */
static struct rig_options options(const char *const *sets)
{
    return (struct rig_options){.machine = "maxwell", .sets = sets, .set_count = ARRAY_LEN(wide[0]) - 2};
}

/* With a memory of unlimited bandwidth: 48 CTAs an SM, of which 8, 12 or 16 are there at a time. 128 warps
 * come near to the rate at which the SM issues. */
static void more_warps_hide_more_latency(void **state)
{
    uint64_t cycles[ARRAY_LEN(wide)];
    for (size_t i = 0; i < ARRAY_LEN(wide); i++) {
        struct rig_options o = options(wide[i]);
        o.set_count += 2;
        cycles[i] = run(&o, CTAS).cycles;
    }
    assert_true(cycles[1] < cycles[0] * 9 / 10 && cycles[2] < cycles[1]);
}

static void every_mechanism_works_on_128_warps(void **state)
{
    /* two halves of the file of this machine */
    static const char *const register_files[] = {"finereg.acrf=512K", "finereg.pcrf=512K"};
    for (uint32_t i = 0; mech_builtin[i]; i++) {
        struct rig_options o = options(wide[2]);
        o.timed.mechs = &mech_builtin[i]->name;
        o.timed.mech_count = 1;
        o.timed.mech_settings = register_files;
        if (!strcmp(mech_builtin[i]->name, "finereg")) o.timed.mech_setting_count = ARRAY_LEN(register_files);
        const struct outcome skip = run(&o, SOME_CTAS);
        o.timed.no_skip = true;
        const struct outcome all = run(&o, SOME_CTAS);
        if (all.hash != skip.hash || all.cycles != skip.cycles)
            fail_msg("%s: --no-skip differs", mech_builtin[i]->name);
    }
}

static void a_limit_of_warps_slows_a_machine_of_128_warps(void **state)
{
    static const char *const mech = "swl", *const setting = "swl.warps=2";
    struct rig_options o = options(wide[2]);
    const uint64_t free = run(&o, SOME_CTAS).cycles;
    o.timed.mechs = &mech;
    o.timed.mech_settings = &setting;
    o.timed.mech_count = o.timed.mech_setting_count = 1;
    assert_true(run(&o, SOME_CTAS).cycles > free * 3 / 2);
}

static void every_number_of_threads_gives_the_same_result(void **state)
{
    for (size_t i = 1; i < ARRAY_LEN(wide); i++) {
        struct rig_options o = options(wide[i]);
        o.timed.threads_always = true;
        o.timed.threads = 1;
        const struct outcome one = run(&o, SOME_CTAS);
        for (uint32_t threads = 2; threads <= 3; threads++) {
            o.timed.threads = threads;
            const struct outcome many = run(&o, SOME_CTAS);
            assert_int_equal(many.hash, one.hash);
            assert_int_equal(many.cycles, one.cycles);
            assert_int_equal(many.memory, one.memory);
        }
    }
}

static void more_warps_than_the_schedulers_hold_are_refused_when_the_machine_is_loaded(void **state)
{
    static const char *const sets[] = {"sm.warps=129"};
    struct diag_list d = {0};
    struct machine m;
    assert_false(machine_load("fermi", sets, 1, &m, &d));
    assert_int_equal(d.errors, 1);
    assert_string_equal(d.items.data[0].file, "fermi");
    assert_non_null(strstr(d.items.data[0].hint, "sm.schedulers to at least 3"));
    diag_free(&d);
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(more_warps_hide_more_latency),
        RIG_TEST(every_mechanism_works_on_128_warps),
        RIG_TEST(a_limit_of_warps_slows_a_machine_of_128_warps),
        RIG_TEST(every_number_of_threads_gives_the_same_result),
        RIG_TEST(more_warps_than_the_schedulers_hold_are_refused_when_the_machine_is_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
