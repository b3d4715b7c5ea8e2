/* test_ideal.c: the ideal machines of limit studies. Infinite DRAM (P_DRAM), infinite memory (P_inf) and
 * perfect memory (PerfX) are each faster than the one before where bandwidth is the limit, and the same to
 * the cycle where nothing is; the fixed miss latency is what was asked for; a larger L1 hits more. */
#include "timing_kit.h"

#include "mem/dram.h"

#define HEAD ".version 7.0\n.target sm_52\n.address_size 64\n"

enum { CHASE_LINES = 512, LINE = 128, LINES = 1 << 15 };

#define LOAD(i)                                                                                              \
    "mad.lo.u32 %v" i ", %w, 8, " i ";\nmul.lo.u32 %v" i ", %v" i ", 40503;\nand.b32 %v" i ", %v" i          \
    ", 32767;\nmad.lo.u32 %v" i ", %v" i ", 32, %l;\nmul.wide.u32 %a" i ", %v" i ", 4;\nadd.u64 %a" i        \
    ", %a" i ", %p;\nld.global.u32 %v" i ", [%a" i "];\n"
#define ADD(i) "add.u32 %v0, %v0, %v" i ";\n"

/* chase: a lap of dependent loads. scatter: each warp reads eight lines that lie far apart, so that hardly
 * two of them share a DRAM row. reuse: each CTA reads the same lines over and over. spin: arithmetic only. */
static const char ptx[] = HEAD
    ".visible .entry chase(.param .u64 start, .param .u32 steps)\n{\n"
    ".reg .u64 %p; .reg .u32 %n, %l; .reg .pred %q;\n"
    "ld.param.u64 %p, [start]; ld.param.u32 %n, [steps]; mov.u32 %l, %tid.x; mad.wide.u32 %p, %l, 8, "
    "%p;\n"
    "loop:\nld.global.u64 %p, [%p];\nsub.u32 %n, %n, 1;\nsetp.ne.u32 %q, %n, 0;\n@%q bra loop;\n"
    "ld.param.u32 %n, [steps];\nsetp.eq.u64 %q, %p, 0;\n@%q st.global.u32 [%p], %n;\nret;\n}\n"
    ".visible .entry scatter(.param .u64 from, .param .u64 to)\n{\n"
    ".reg .u64 %p, %o, %a<8>; .reg .u32 %t, %c, %n, %w, %l, %v<8>; .reg .pred %q;\n"
    "ld.param.u64 %p, [from]; ld.param.u64 %o, [to]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 "
    "%n, %ntid.x;\n"
    "mad.lo.u32 %w, %c, %n, %t;\nshr.u32 %w, %w, 5;\nand.b32 %l, %t, 31;\n" LOAD("0") LOAD("1") LOAD("2")
        LOAD("3") LOAD("4") LOAD("5") LOAD("6") LOAD("7") ADD("1") ADD("2") ADD("3") ADD("4") ADD("5")
            ADD("6") ADD("7") "setp.eq.u32 %q, %v0, 77;\n@%q st.global.u32 [%o], %v0;\nret;\n}\n"
                              ".visible .entry reuse(.param .u64 from, .param .u64 to)\n{\n"
                              ".reg .u64 %p, %o, %a; .reg .u32 %t, %i, %v, %s; .reg .pred %q;\n"
                              "ld.param.u64 %p, [from]; ld.param.u64 %o, [to]; mov.u32 %t, %tid.x; mov.u32 "
                              "%i, 0; mov.u32 %s, 0;\n"
                              "loop:\nmad.lo.u32 %v, %i, 512, %t;\nand.b32 %v, %v, 16383;\nmul.wide.u32 %a, "
                              "%v, 4;\nadd.u64 %a, "
                              "%a, %p;\n"
                              "ld.global.u32 %v, [%a];\nadd.u32 %s, %s, %v;\nadd.u32 %i, %i, 1;\nsetp.lt.u32 "
                              "%q, %i, 64;\n@%q bra "
                              "loop;\n"
                              "setp.eq.u32 %q, %s, 77;\n@%q st.global.u32 [%o], %s;\nret;\n}\n"
                              ".visible .entry spin(.param .u32 n)\n{\n"
                              ".reg .u32 %n, %a; .reg .pred %q;\nld.param.u32 %n, [n];\nmov.u32 %a, %tid.x;\n"
                              "loop:\nmad.lo.u32 %a, %a, %a, %n;\nsub.u32 %n, %n, 1;\nsetp.ne.u32 %q, %n, "
                              "0;\n@%q bra loop;\n"
                              "setp.eq.u32 %q, %a, 77;\n@%q trap;\nret;\n}\n";

static const char *const machine_names[] = {"fermi", "rtx3080", "kepler", "fermi-apres", "maxwell"};
enum { MACHINES = IS_SANITIZED ? 2 : ARRAY_LEN(machine_names) };

enum ideal { NONE, DRAM, INFINITE, PERFECT, IDEALS };
static const char *const ideals[IDEALS] = {"ideal.memory=none", "ideal.memory=dram", "ideal.memory=infinite",
                                           "ideal.memory=perfect"};

/* At file scope: the teardown may need it. */
static struct rig r;

/* Instructions are there at once: what is compared is the data's way. */
static void open_ideal(const char *machine, enum ideal ideal)
{
    const char *sets[] = {ideals[ideal], "sm.perfect_icache=true"};
    rig_open(&r, ptx, &(struct rig_options){.machine = machine, .sets = sets, .set_count = 2});
}

static uint64_t run_scatter(uint32_t ctas)
{
    uint64_t params[] = {rig_alloc(&r, (uint64_t)LINES * LINE), rig_alloc(&r, 4)};
    rig_run(&r, "scatter", ctas, 256, params);
    return rig_cycles(&r, 0);
}

static void each_ideal_is_faster_where_dram_is_the_limit(void **state)
{
    /* CTAs of 64 lines each */
    enum { CTAS = 256 };
    for (size_t m = 0; m < MACHINES; m++) {
        uint64_t cycles[IDEALS];
        for (int i = 0; i < IDEALS; i++) {
            open_ideal(machine_names[m], (enum ideal)i);
            cycles[i] = run_scatter(CTAS);
            rig_close(&r);
        }
        print_message("%s: %llu cycles, P_DRAM %llu, P_inf %llu, PerfX %llu\n", machine_names[m],
                      (unsigned long long)cycles[NONE], (unsigned long long)cycles[DRAM],
                      (unsigned long long)cycles[INFINITE], (unsigned long long)cycles[PERFECT]);
        for (int i = 1; i < IDEALS; i++) assert_true(cycles[i] < cycles[i - 1]);
    }
}

static void arithmetic_knows_no_memory(void **state)
{
    for (size_t m = 0; m < MACHINES; m++) {
        uint64_t first = 0, n[] = {500};
        for (int i = 0; i < IDEALS; i++) {
            open_ideal(machine_names[m], (enum ideal)i);
            rig_run(&r, "spin", 40, 128, n);
            if (!i) first = rig_cycles(&r, 0);
            assert_int_equal(rig_cycles(&r, 0), first);
            rig_close(&r);
        }
    }
}

static void run_chase(void)
{
    uint64_t a = rig_alloc(&r, (uint64_t)CHASE_LINES * LINE);
    for (uint64_t i = 0; i < CHASE_LINES; i++)
        for (uint64_t l = 0; l < LINE; l += 8)
            *(uint64_t *)(uintptr_t)(a + i * LINE + l) = a + (i + 1) % CHASE_LINES * LINE + l;
    uint64_t params[] = {a, CHASE_LINES};
    rig_run(&r, "chase", 1, LINE / 8, params);
    rig_run(&r, "chase", 1, LINE / 8, params);
}

/* What an open row saves a read: the activation, in core cycles. P_DRAM has the latency of a closed one for
 * all. */
static uint64_t open_row_saving(void)
{
    const struct machine *m = &r.machine;
    return ((uint64_t)m->dram.trcd * m->core_clock_khz + m->dram_clock_khz - 1) / m->dram_clock_khz;
}

/* One request at a time waits for nobody. Its L2 hits take the same in all; a DRAM access takes the idle
 * latency, but for what open rows save, and for the edge of the DRAM's clock, which P_inf does not wait for:
 * less than a cycle of the slower clock each way. */
static void without_load_all_have_the_idle_latency(void **state)
{
    for (size_t m = 0; m < MACHINES; m++) {
        uint64_t dram[3], l2[3];
        for (int i = NONE; i <= INFINITE; i++) {
            open_ideal(machine_names[m], (enum ideal)i);
            run_chase();
            dram[i] = rig_cycles(&r, 0);
            l2[i] = rig_cycles(&r, 1);
            rig_close(&r);
        }
        print_message("%s: a step through DRAM %.1f, P_DRAM %.1f, P_inf %.1f\n", machine_names[m],
                      (double)dram[NONE] / CHASE_LINES, (double)dram[DRAM] / CHASE_LINES,
                      (double)dram[INFINITE] / CHASE_LINES);
        assert_int_equal(l2[DRAM], l2[NONE]);
        assert_int_equal(l2[INFINITE], l2[NONE]);
        uint64_t edges = (r.machine.core_clock_khz + r.machine.l2_clock_khz - 1) / r.machine.l2_clock_khz;
        assert_true(dram[NONE] <= dram[DRAM] + CHASE_LINES);
        assert_true(dram[DRAM] <= dram[NONE] + CHASE_LINES * open_row_saving());
        assert_true(dram[INFINITE] <= dram[DRAM] && dram[DRAM] <= dram[INFINITE] + CHASE_LINES * edges);
    }
}

static void a_fixed_miss_latency_is_exactly_that(void **state)
{
    static const uint32_t latencies[] = {1, 50, 333, 1000};
    for (size_t m = 0; m < MACHINES; m++)
        for (size_t i = 0; i < ARRAY_LEN(latencies); i++) {
            char set[64];
            snprintf(set, sizeof set, "l1.fixed_miss_latency=%u", latencies[i]);
            const char *sets[] = {set};
            rig_open(&r, ptx,
                     &(struct rig_options){.machine = machine_names[m], .sets = sets, .set_count = 1});
            run_scatter(64);
            if (rig_stat(&r, 0, "l1.aml") != latencies[i])
                fail_msg("%s: AML %g, not %u", machine_names[m], rig_stat(&r, 0, "l1.aml"), latencies[i]);
            assert_true(rig_stat(&r, 0, "l1.misses") > 0);
            rig_close(&r);
        }
}

/* Each SM reads 64 KB twice: in order, so that least recently used is the worst that a smaller cache can
 * do. */
static void a_larger_l1_hits_more(void **state)
{
    enum { SIZES = 4, CTAS = 15, LOADS = CTAS * 64 * 512 / 32 };
    static const char *const sizes[SIZES] = {"l1.size=16K", "l1.size=48K", "l1.size=64K", "l1.size=1M"};
    double hits[SIZES];
    for (size_t i = 0; i < SIZES; i++) {
        rig_open(&r, ptx, &(struct rig_options){.sets = &sizes[i], .set_count = 1});
        uint64_t params[] = {rig_alloc(&r, 1 << 16), rig_alloc(&r, 4)};
        rig_run(&r, "reuse", CTAS, 512, params);
        hits[i] = rig_stat(&r, 0, "l1.hits");
        print_message("%s: %.0f of %d hit\n", sizes[i], hits[i], LOADS);
        if (i) assert_true(hits[i] >= hits[i - 1]);
        rig_close(&r);
    }
    assert_true(hits[0] < LOADS / 2);
    assert_true(hits[SIZES - 1] == LOADS / 2); /* 64 times the cache: every line misses once */
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 1);
    const struct CMUnitTest tests[] = {
        RIG_TEST(each_ideal_is_faster_where_dram_is_the_limit),
        RIG_TEST(arithmetic_knows_no_memory),
        RIG_TEST(without_load_all_have_the_idle_latency),
        RIG_TEST(a_fixed_miss_latency_is_exactly_that),
        RIG_TEST(a_larger_l1_hits_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
