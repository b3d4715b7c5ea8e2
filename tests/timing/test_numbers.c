/* test_numbers.c: the numbers that the machine must meet, on `fermi`: latencies of an idle machine, ceilings
 * of bandwidth, pipeline latencies, transactions, occupancy. */
#include "timing_kit.h"

#include "core/occupancy.h"
#include "core/sm/sm.h"

#define HEAD ".version 7.0\n.target sm_52\n.address_size 64\n"

static const char chase_ptx[] =
    HEAD ".visible .entry chase(.param .u64 start, .param .u32 steps)\n{\n"
         ".reg .u64 %p; .reg .u32 %n; .reg .pred %q;\n"
         "ld.param.u64 %p, [start]; ld.param.u32 %n, [steps];\n"
         "loop:\nld.global.u64 %p, [%p];\nsub.u32 %n, %n, 1;\nsetp.ne.u32 %q, %n, 0;\n@%q bra loop;\n"
         "ld.param.u32 %n, [steps];\nsetp.eq.u64 %q, %p, 0;\n@%q st.global.u32 [%p], %n;\nret;\n}\n";

/* 128 KB: eight times the L1, a sixth of the L2 */
enum { LINE = 128, CHASE_LINES = 1024 };

static uint64_t make_ring(struct rig *r)
{
    uint64_t a = rig_alloc(r, (uint64_t)CHASE_LINES * LINE);
    for (uint64_t i = 0; i < CHASE_LINES; i++)
        *(uint64_t *)(uintptr_t)(a + i * LINE) = a + (i + 1) % CHASE_LINES * LINE;
    return a;
}

/* The first lap finds every line in DRAM, the second in L2. */
static void run_chase(struct rig *r, const char *machine)
{
    rig_open(r, chase_ptx, &(struct rig_options){.machine = machine});
    uint64_t params[] = {make_ring(r), CHASE_LINES};
    rig_run(r, "chase", 1, 1, params);
    rig_run(r, "chase", 1, 1, params);
    assert_true(rig_stat(r, 1, "dram.reads") <= 8); /* code */
}

static void an_l2_hit_takes_120_cycles_and_dram_100_more(void **state)
{
    static struct rig r; /* At file scope: the teardown may need it. */
    run_chase(&r, "fermi");
    assert_true(rig_stat(&r, 1, "l1.misses") == CHASE_LINES);
    double l2 = rig_stat(&r, 1, "l1.aml"), dram = rig_stat(&r, 0, "l1.aml");
    print_message("L2 hit %.2f, DRAM %.2f core cycles\n", l2, dram);
    assert_true(l2 == 120);
    assert_true(dram == 220);
    rig_close(&r);
}

/* What the papers of the other machines say. */
static void the_other_machines_have_their_papers_latencies(void **state)
{
    static const struct {
        const char *machine;
        double l2, dram; /* core cycles from the L1; dram 0: the paper says nothing */
    } cases[] = {{"fermi-apres", 200, 440}, {"kepler", 120, 220}, {"maxwell", 200, 0}, {"rtx3080", 274, 0}};
    static struct rig r;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        run_chase(&r, cases[i].machine);
        double l2 = rig_stat(&r, 1, "l1.aml"), dram = rig_stat(&r, 0, "l1.aml");
        print_message("%s: L2 hit %.2f, DRAM %.2f core cycles\n", cases[i].machine, l2, dram);
        assert_true(l2 == cases[i].l2);
        if (cases[i].dram != 0) assert_true(dram == cases[i].dram);
        rig_close(&r);
    }
}

/* Reads the clock before each load and, by a predicate that needs its result, after it; `adds` additions
 * between two steps move the step against the crossbar's clock. Writes the first, the last, the least and the
 * most cycles of a step; the very first, which fetches the code, does not count. */
static void write_timed_chase(struct strbuf *ptx, uint32_t adds)
{
    strbuf_puts(ptx, HEAD
                ".visible .entry chase(.param .u64 start, .param .u32 steps, .param .u64 to)\n{\n"
                ".reg .u64 %p, %o, %a, %b, %d<4>; .reg .u32 %n, %m; .reg .pred %q, %l;\n"
                "ld.param.u64 %p, [start]; ld.param.u32 %n, [steps]; mov.u32 %m, %n; ld.param.u64 %o, [to];\n"
                "mov.u64 %d0, 0; mov.u64 %d2, 0xffffffff; mov.u64 %d3, 0;\n"
                "loop:\nmov.u64 %a, %clock64;\nld.global.u64 %p, [%p];\nsetp.ne.u64 %q, %p, 0;\n"
                "@%q mov.u64 %b, %clock64;\nsub.u64 %d1, %b, %a;\nsetp.eq.u64 %l, %d0, 0;\n"
                "selp.u64 %d0, %d1, %d0, %l;\nmin.u64 %d2, %d2, %d1;\nmax.u64 %d3, %d3, %d1;\n"
                "setp.eq.u32 %l, %n, %m;\n@%l mov.u64 %d0, 0;\n@%l mov.u64 %d2, 0xffffffff;\n@%l "
                "mov.u64 %d3, 0;\n");
    for (uint32_t i = 0; i < adds; i++) strbuf_puts(ptx, "add.u64 %b, %b, %d3;\n");
    strbuf_puts(ptx, "sub.u32 %n, %n, 1;\nsetp.ne.u32 %q, %n, 0;\n@%q bra loop;\n"
                     "st.global.u64 [%o], %d0; st.global.u64 [%o+8], %d1; st.global.u64 [%o+16], %d2;\n"
                     "st.global.u64 [%o+24], %d3; st.global.u64 [%o+32], %b;\nret;\n}\n");
}

/* Every step is as long as every other, whatever lies between two of them, and what it takes beyond the miss
 * is the same few cycles of the SM wherever the line was. */
static void check_timed_chase(const char *machine, const char *set, uint32_t adds, uint64_t l2, uint64_t dram)
{
    static struct rig r; /* At file scope: the teardown may need it. */
    struct strbuf ptx = {0};
    uint64_t beyond[2];
    write_timed_chase(&ptx, adds);
    rig_open(&r, strbuf_text(&ptx), &(struct rig_options){.machine = machine, .sets = &set, .set_count = 1});
    uint64_t params[] = {make_ring(&r), CHASE_LINES, rig_alloc(&r, 64)};
    for (uint32_t lap = 0; lap < 2; lap++) {
        rig_run(&r, "chase", 1, 1, params);
        const uint64_t *step = (const uint64_t *)(uintptr_t)params[2];
        uint64_t miss = lap ? l2 : dram;
        assert_true(rig_stat(&r, lap, "l1.aml") == (double)miss);
        for (uint32_t k = 1; k < 4; k++) assert_int_equal(step[k], step[0]); /* last, least, most */
        beyond[lap] = step[0] - miss;
    }
    print_message("%s, %s: a step takes %u core cycles more than the miss\n", machine, set,
                  (unsigned)beyond[0]);
    assert_int_equal(beyond[0], beyond[1]);
    assert_true(beyond[0] > 0 && beyond[0] < 40);
    rig_close(&r);
    strbuf_free(&ptx);
}

/* On the machines as they are and on their ideal variants, which keep the latencies and lose the limits. */
static void a_pointer_chase_shows_exactly_the_latencies(void **state)
{
    static const struct {
        const char *machine;
        uint64_t l2, dram;
    } cases[] = {{"fermi", 120, 220}, {"kepler", 120, 220}, {"fermi-apres", 200, 440}};
    static const char *const sets[] = {"ideal.memory=none", "ideal.memory=dram", "ideal.memory=infinite"};
    for (uint32_t i = 0; i < ARRAY_LEN(cases); i++)
        for (uint32_t k = 0; k < ARRAY_LEN(sets); k++)
            for (uint32_t adds = 0; adds < (k ? 2 : 4); adds++)
                check_timed_chase(cases[i].machine, sets[k], adds, cases[i].l2, cases[i].dram);
}

/* Each CTA reads 4 KB in a row, four loads a thread. */
static const char stream_ptx[] =
    HEAD ".visible .entry stream(.param .u64 from, .param .u64 to)\n{\n"
         ".reg .u64 %p, %d, %o; .reg .u32 %t, %c; .reg .f32 %a<4>; .reg .pred %q;\n"
         "ld.param.u64 %p, [from]; ld.param.u64 %o, [to]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;\n"
         "mad.lo.u32 %t, %c, 1024, %t;\nmul.wide.u32 %d, %t, 4;\nadd.u64 %p, %p, %d;\n"
         "ld.global.f32 %a0, [%p];\nld.global.f32 %a1, [%p+1024];\nld.global.f32 %a2, "
         "[%p+2048];\nld.global.f32 %a3, [%p+3072];\n"
         "add.f32 %a0, %a0, %a1;\nadd.f32 %a2, %a2, %a3;\nadd.f32 %a0, %a0, %a2;\n"
         "setp.eq.f32 %q, %a0, 0f3f800000;\n@%q st.global.f32 [%o], %a0;\nret;\n}\n";

static void streaming_reads_reach_85_percent_of_the_pins(void **state)
{
    enum { CTAS = 4000, THREADS = 256 };
    static struct rig r;
    rig_open(&r, stream_ptx, &(struct rig_options){0});
    uint64_t params[] = {rig_alloc(&r, (uint64_t)CTAS * 4096), rig_alloc(&r, 4)};
    rig_run(&r, "stream", CTAS, THREADS, params);
    double used = rig_stat(&r, 0, "dram.utilization"), efficiency = rig_stat(&r, 0, "dram.efficiency");
    print_message("DRAM utilization %.1f%%, efficiency %.1f%%\n", used, efficiency);
    assert_true(used >= 85 && used <= 100);
    rig_close(&r);
}

/* Each warp writes whole lines: in a row, or, by a generator of its own, anywhere in 512 KB. */
static const char fill_ptx[] =
    HEAD ".visible .entry fill(.param .u64 to, .param .u32 lines, .param .u32 factor, .param .u32 sum)\n{\n"
         ".reg .u64 %p, %d; .reg .u32 %t, %c, %n, %f, %g, %s, %o; .reg .pred %q;\n"
         "ld.param.u64 %p, [to]; ld.param.u32 %n, [lines]; ld.param.u32 %f, [factor]; mov.u32 %t, %tid.x;\n"
         "ld.param.u32 %g, [sum]; mov.u32 %c, %ctaid.x; and.b32 %o, %t, 31; mul.wide.u32 %d, %o, 4; add.u64 "
         "%p, %p, %d;\n"
         "mov.u32 %o, %ntid.x; mad.lo.u32 %s, %c, %o, %t; shr.u32 %s, %s, 5;\nshl.b32 %s, %s, 8;\n"
         "loop:\nshr.u32 %o, %s, 8;\nand.b32 %o, %o, 4095;\nmul.wide.u32 %d, %o, 128;\nadd.u64 %d, %p, %d;\n"
         "st.global.u32 [%d], %t;\nmad.lo.u32 %s, %s, %f, %g;\nsub.u32 %n, %n, 1;\nsetp.ne.u32 %q, %n, 0;\n"
         "@%q bra loop;\nret;\n}\n";

/* Lines that stay in L2, a packet of five flits each: the crossbar into the slices is the bottleneck. At
 * random, since warps that write in a row move from slice to slice together. */
static void random_writes_reach_80_percent_of_the_crossbar_into_slices(void **state)
{
    enum { CTAS = 15, THREADS = 256, LINES = 1024 };
    static struct rig r; /* At file scope: the teardown may need it. */
    rig_open(&r, fill_ptx, &(struct rig_options){0});
    const struct machine *m = &r.machine;
    uint64_t to = rig_alloc(&r, 512 << 10), warm[] = {to, 64, 1, 30720},
             params[] = {to, LINES, 1664525, 1013904223};
    rig_run(&r, "fill", CTAS, THREADS, warm);
    rig_run(&r, "fill", CTAS, THREADS, params);
    double lines = (double)CTAS * THREADS / 32 * LINES,
           seconds = (double)rig_cycles(&r, 1) / m->core_clock_khz * 1e-3;
    uint32_t flits = (m->xbar.header + LINE + m->xbar.request_flit - 1) / m->xbar.request_flit;
    double slices = m->addrmap.channels * m->addrmap.slices, rate = lines * LINE / seconds * 1e-9;
    double ceiling = slices * LINE / flits * m->xbar_clock_khz * 1e-6;
    print_message("writes: %.1f of %.1f GB/s\n", rate, ceiling);
    assert_true(rig_stat(&r, 1, "dram.reads") <= 8); /* code */
    assert_true(rate >= 0.8 * ceiling && rate <= ceiling);
    rig_close(&r);
}

/* Cycles of the kernel with a loop of n times 64 multiply-adds. */
static uint64_t fma_cycles(bool dependent, uint32_t warps, uint32_t loops, const char *set)
{
    struct strbuf ptx = {0};
    static struct rig r; /* At file scope: the teardown may need it. */
    strbuf_puts(&ptx, HEAD ".visible .entry fma(.param .u64 to, .param .u32 n)\n{\n.reg .u64 %o; .reg .u32 "
                           "%n; .reg .f32 %f<20>; "
                           ".reg .pred %q;\nld.param.u64 %o, [to]; ld.param.u32 %n, [n];\n");
    for (int i = 0; i < 20; i++) strbuf_printf(&ptx, "cvt.rn.f32.u32 %%f%d, %%n;\n", i);
    strbuf_puts(&ptx, "loop:\n");
    for (int i = 0; i < 64;
         i++) { /* independent ones read neighbours, so that no register bank is asked more than the others */
        int f = dependent ? 0 : i % 16;
        strbuf_printf(&ptx, "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n", f, f, dependent ? 18 : (f + 5) % 16,
                      dependent ? 19 : (f + 10) % 16);
    }
    strbuf_puts(&ptx, "sub.u32 %n, %n, 1;\nsetp.ne.u32 %q, %n, 0;\n@%q bra loop;\n");
    for (int i = 1; i < 16; i++) strbuf_printf(&ptx, "add.f32 %%f0, %%f0, %%f%d;\n", i);
    strbuf_puts(&ptx, "st.global.f32 [%o], %f0;\nret;\n}\n");
    rig_open(&r, strbuf_text(&ptx), &(struct rig_options){.sets = &set, .set_count = set ? 1 : 0});
    uint64_t params[] = {rig_alloc(&r, 4), loops};
    rig_run(&r, "fma", 1, warps * 32, params);
    uint64_t cycles = rig_cycles(&r, 0);
    rig_close(&r);
    strbuf_free(&ptx);
    return cycles;
}

static void dependent_multiply_adds_run_at_the_pipeline_latency(void **state)
{
    double per = (double)(fma_cycles(true, 1, 64, NULL) - fma_cycles(true, 1, 32, NULL)) / (32 * 64);
    print_message("%.2f cycles a dependent multiply-add, loop overhead included\n", per);
    assert_true(per >= 5 && per < 5.6); /* sm.fp_latency_mad; the loop around 64 of them adds a little */
}

static void independent_multiply_adds_run_at_the_issue_width(void **state)
{
    uint64_t cycles = fma_cycles(false, 16, 64, NULL) - fma_cycles(false, 16, 32, NULL);
    double per = (double)cycles * 2 / (32 * 67 * 16); /* slots of two schedulers for each instruction */
    print_message("%.3f issue slots an independent instruction\n", per);
    assert_true(per >= 1 && per < 1.15);
}

static const char lanes_ptx[] =
    HEAD ".visible .entry lanes(.param .u64 from, .param .u64 to, .param .u32 stride)\n{\n"
         ".reg .u64 %p, %o, %d; .reg .u32 %t, %s, %v;\n"
         "ld.param.u64 %p, [from]; ld.param.u64 %o, [to]; ld.param.u32 %s, [stride]; mov.u32 %t, %tid.x;\n"
         "mul.lo.u32 %s, %s, %t;\ncvt.u64.u32 %d, %s;\nadd.u64 %p, %p, %d;\nld.global.u32 %v, [%p];\n"
         "mul.wide.u32 %d, %t, 4;\nadd.u64 %o, %o, %d;\nst.global.u32 [%o], %v;\nret;\n}\n";

static void a_warp_makes_one_transaction_coalesced_and_32_scattered(void **state)
{
    static struct rig r; /* At file scope: the teardown may need it. */
    rig_open(&r, lanes_ptx, &(struct rig_options){0});
    uint64_t from = rig_alloc(&r, 32 * 4096), to = rig_alloc(&r, 128);
    uint64_t coalesced[] = {from, to, 4}, scattered[] = {from, to, 4096};
    rig_run(&r, "lanes", 1, 32, coalesced);
    rig_run(&r, "lanes", 1, 32, scattered);
    assert_true(rig_stat(&r, 0, "l1.global_load_accesses") == 1);
    assert_true(rig_stat(&r, 1, "l1.global_load_accesses") == 32);
    assert_true(rig_stat(&r, 0, "l1.global_store_accesses") == 1);
    rig_close(&r);
}

/* CTAs of one SM, counted by putting on as many as fit. */
static uint32_t resident_ctas(const char *const *sets, uint32_t n, uint32_t threads, uint32_t *rule)
{
    static struct rig r; /* At file scope: the teardown may need it. */
    rig_open(&r, lanes_ptx, &(struct rig_options){.sets = sets, .set_count = n});
    const struct isa_kernel *k = emu_find_kernel(r.module, "lanes");
    unsigned char params[64] = {0};
    struct emu_launch l = {
        .module = r.module, .kernel = k, .grid = {64, 1, 1}, .block = {threads, 1, 1}, .params = params};
    struct emu_grid *g = emu_grid_open(r.device, &l, &r.fault);
    struct sm *sm = timed_sm_at(r.gpu, 0);
    uint32_t count = 0;
    sm_tick(sm, 0);
    while (sm_fits(sm, g)) assert_true(sm_start_cta(sm, 0, g, count++, 0));
    *rule = occupancy_ctas(&r.machine, k, threads, emu_grid_shared_bytes(g));
    timed_destroy(r.gpu); /* the SM gives its CTAs back before the grid goes */
    r.gpu = NULL;
    emu_grid_close(g, NULL);
    rig_close(&r);
    return count;
}

static void occupancy_follows_the_rules(void **state)
{
    static const struct {
        const char *sets[1];
        uint32_t n, threads, ctas;
    } cases[] = {{{NULL}, 0, 256, 6},
                 {{NULL}, 0, 192, 8},
                 {{NULL}, 0, 33, 8},
                 {{NULL}, 0, 1024, 1},
                 {{"sm.ctas=3"}, 1, 64, 3},
                 {{"sm.warps=20"}, 1, 160, 4},
                 {{"sm.registers=1024"}, 1, 64, UINT32_MAX}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint32_t rule, got = resident_ctas(cases[i].sets, cases[i].n, cases[i].threads, &rule);
        assert_int_equal(got, rule);
        if (cases[i].ctas != UINT32_MAX) assert_int_equal(got, cases[i].ctas);
    }
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 1);
    const struct CMUnitTest tests[] = {
        RIG_TEST(an_l2_hit_takes_120_cycles_and_dram_100_more),
        RIG_TEST(the_other_machines_have_their_papers_latencies),
        RIG_TEST(a_pointer_chase_shows_exactly_the_latencies),
        RIG_TEST(streaming_reads_reach_85_percent_of_the_pins),
        RIG_TEST(random_writes_reach_80_percent_of_the_crossbar_into_slices),
        RIG_TEST(dependent_multiply_adds_run_at_the_pipeline_latency),
        RIG_TEST(independent_multiply_adds_run_at_the_issue_width),
        RIG_TEST(a_warp_makes_one_transaction_coalesced_and_32_scattered),
        RIG_TEST(occupancy_follows_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
