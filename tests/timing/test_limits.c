/* test_limits.c: limits of the dispatcher are reached and not passed: kernels at a time, CTAs that start in a
 * cycle, CTAs that the registers of an SM hold. */
#include "timing_kit.h"

static const char ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    /* `rounds` dependent multiply-adds */
    ".visible .entry work(.param .u64 out, .param .u32 rounds)\n{\n"
    ".reg .u64 %o; .reg .u32 %v, %r; .reg .pred %q;\n"
    "ld.param.u64 %o, [out]; ld.param.u32 %r, [rounds]; mov.u32 %v, %tid.x;\n"
    "loop:\nmad.lo.u32 %v, %v, 3, 1;\nsub.u32 %r, %r, 1;\nsetp.ne.u32 %q, %r, 0;\n@%q bra loop;\n"
    "st.global.u32 [%o], %v;\nret;\n}\n";

/* ---- kernels ---- */

/* Kernels that run when this one begins, itself included. */
static uint32_t together_with(struct rig *r, const struct timed_kernel *k)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < timed_kernel_count(r->gpu); i++) {
        const struct timed_kernel *other = timed_kernel_at(r->gpu, i);
        n += other->start_cycle <= k->start_cycle && k->start_cycle < other->end_cycle;
    }
    return n;
}

/* Six kernels of one CTA and different length, on streams of their own. */
static uint32_t most_together(const char *setting)
{
    enum { KERNELS = 6 };
    static struct rig r;
    uint32_t most = 0;
    rig_open(&r, ptx, &(struct rig_options){.sets = &setting, .set_count = 1});
    const uint64_t out = rig_alloc(&r, 4);
    for (uint32_t i = 0; i < KERNELS; i++)
        rig_launch(&r, "work", 1, 32, (const uint64_t[]){out, 200 + 30 * i}, 5 + i);
    rig_sync(&r);
    assert_int_equal(timed_kernel_count(r.gpu), KERNELS);
    for (uint32_t i = 0; i < KERNELS; i++) most = MAX(most, together_with(&r, timed_kernel_at(r.gpu, i)));
    rig_close(&r);
    return most;
}

static void as_many_kernels_run_together_as_the_machine_allows(void **state)
{
    assert_int_equal(most_together("gpu.kernels=1"), 1);
    assert_int_equal(most_together("gpu.kernels=2"), 2);
    assert_int_equal(most_together("gpu.kernels=5"), 5);
    assert_int_equal(most_together("gpu.kernels=16"), 6); /* all */
}

/* ---- CTAs ---- */

/* The CTAs of 40 that began in the cycle in which the first one did, and the most that began in one. */
static void expect_starts(const char *setting, uint32_t in_first, uint32_t in_any)
{
    enum { CTAS = 40, CYCLES = 100000 };
    static struct rig r;
    static uint32_t starts[CYCLES];
    memset(starts, 0, sizeof starts);
    rig_open(&r, ptx, &(struct rig_options){.sets = &setting, .set_count = 1, .timed.timeline = true});
    rig_run(&r, "work", CTAS, 32, (const uint64_t[]){rig_alloc(&r, 4), 200});
    assert_int_equal(timed_cta_count(r.gpu), CTAS);
    uint64_t first = CYCLES;
    uint32_t most = 0;
    for (uint32_t i = 0; i < CTAS; i++) {
        const uint64_t cycle = timed_cta_at(r.gpu, i)->start_cycle;
        assert_true(cycle < CYCLES);
        starts[cycle]++;
        most = MAX(most, starts[cycle]);
        first = MIN(first, cycle);
    }
    assert_int_equal(starts[first], in_first);
    assert_int_equal(most, in_any);
    rig_close(&r);
}

static void as_many_ctas_start_in_a_cycle_as_the_machine_allows(void **state)
{
    expect_starts("gpu.ctas_per_cycle=1", 1, 1);
    expect_starts("gpu.ctas_per_cycle=2", 2, 2);
    expect_starts("gpu.ctas_per_cycle=7", 7, 7);
    expect_starts("gpu.ctas_per_cycle=0", 15, 15); /* one on each SM */
}

/* ---- registers ---- */

/* CTAs of an SM, as the launch says it and as the run shows it. The kernel gets more registers than it
 * needs. */
static void expect_ctas(const char *machine, uint32_t registers, uint32_t threads, uint32_t ctas)
{
    static struct rig r;
    rig_open(&r, ptx, &(struct rig_options){.machine = machine});
    ((struct isa_kernel *)(uintptr_t)emu_find_kernel(r.module, "work"))->reg_count = registers;
    rig_run(&r, "work", 3 * ctas * r.machine.sm_count, threads, (const uint64_t[]){rig_alloc(&r, 4), 50});
    assert_int_equal(timed_kernel_at(r.gpu, 0)->ctas_per_sm, ctas);
    /* full from the first CTAs to nearly the last */
    const double mean = rig_stat(&r, 0, "sm.cta_cycles") / rig_stat(&r, 0, "sm.active_cycles");
    if (mean > ctas || mean < ctas * 0.75)
        fail_msg("%s, %u registers: not %u CTAs, but %g on the mean", machine, registers, ctas, mean);
    rig_close(&r);
}

static void each_part_of_an_sm_has_its_share_of_the_registers(void **state)
{
    /* 2 halves of 16384: 12 warps of 1280 in each, 24; of 32768 in one: 25 */
    expect_ctas("fermi", 40, 160, 4);
    /* 4 quarters of 16384: 12 warps of 1280 in each, 48; of 65536 in one: 51 */
    expect_ctas("maxwell", 40, 96, 16);
    expect_ctas("maxwell", 40, 544, 2); /* 17 warps; 3 CTAs of 51 */
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(as_many_kernels_run_together_as_the_machine_allows),
        RIG_TEST(as_many_ctas_start_in_a_cycle_as_the_machine_allows),
        RIG_TEST(each_part_of_an_sm_has_its_share_of_the_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
