/* test_machine.c: what holds for the whole machine whatever it runs: sleeping changes nothing, streams
 * overlap, samples add up, a stuck machine explains itself, a stop ends with what there is. */
#include "timing_kit.h"

#include "core/timed_impl.h"

#define HEAD ".version 7.0\n.target sm_52\n.address_size 64\n"

/* Loads, shared memory, a barrier, divergence, atomics with and without result, stores: a little of
 * everything. */
static const char mix_ptx[] =
    HEAD ".visible .entry mix(.param .u64 data, .param .u64 bins, .param .u64 out)\n{\n"
         ".shared .align 4 .b8 tile[1024];\n"
         ".reg .u64 %d, %b, %o, %a; .reg .u32 %t, %c, %n, %i, %v, %s, %w; .reg .pred %q;\n"
         "ld.param.u64 %d, [data]; ld.param.u64 %b, [bins]; ld.param.u64 %o, [out];\n"
         "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %c, %n, %t;\n"
         "mul.wide.u32 %a, %i, 4;\nadd.u64 %a, %d, %a;\nld.global.u32 %v, [%a];\n"
         "mov.u32 %s, tile;\nshl.b32 %w, %t, 2;\nadd.u32 %s, %s, %w;\nst.shared.u32 [%s], %v;\nbar.sync 0;\n"
         "mov.u32 %s, tile;\nxor.b32 %w, %w, 4;\nadd.u32 %s, %s, %w;\nld.shared.u32 %w, [%s];\nadd.u32 %v, "
         "%v, %w;\n"
         "and.b32 %w, %v, 15;\nmul.wide.u32 %a, %w, 4;\nadd.u64 %a, %b, %a;\nred.global.add.u32 [%a], 1;\n"
         "setp.gt.u32 %q, %w, 7;\n@%q bra odd;\natom.global.add.u32 %w, [%b+64], 1;\nmul.lo.u32 %v, %v, "
         "3;\nbra.uni end;\n"
         "odd:\nmul.lo.u32 %v, %v, 5;\nend:\nmul.wide.u32 %a, %i, 4;\nadd.u64 %a, %o, %a;\nst.global.u32 "
         "[%a], %v;\nret;\n}\n"
         ".visible .entry wait(.param .u64 flag)\n{\n.reg .u64 %f; .reg .u32 %v; .reg .pred "
         "%q;\nld.param.u64 %f, [flag];\n"
         "loop:\nld.volatile.global.u32 %v, [%f];\nsetp.eq.u32 %q, %v, 0;\n@%q bra loop;\nret;\n}\n"
         ".visible .entry tell(.param .u64 flag)\n{\n.reg .u64 %f;\nld.param.u64 %f, "
         "[flag];\nst.volatile.global.u32 [%f], 1;\nret;\n}\n";

enum { CTAS = 40, THREADS = 256, WORDS = CTAS * THREADS };

struct mix {
    struct rig rig;
    uint64_t data, bins, out;
};

static void mix_open(struct mix *m, const struct rig_options *o)
{
    rig_open(&m->rig, mix_ptx, o);
    m->data = rig_alloc(&m->rig, WORDS * 4);
    m->bins = rig_alloc(&m->rig, 128);
    m->out = rig_alloc(&m->rig, WORDS * 4);
    for (uint32_t i = 0; i < WORDS; i++) ((uint32_t *)(uintptr_t)m->data)[i] = i * 2654435761u >> 7;
}

static void mix_run(struct mix *m)
{
    uint64_t params[] = {m->data, m->bins, m->out};
    rig_run(&m->rig, "mix", CTAS, THREADS, params);
}

static void expect_mix_result(const struct mix *m)
{
    uint32_t bins[17] = {0};
    const uint32_t *data = (const uint32_t *)(uintptr_t)m->data, *out = (const uint32_t *)(uintptr_t)m->out;
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t v = data[i] + data[i ^ 1], low = v & 15;
        bins[low]++;
        if (low <= 7) bins[16]++;
        assert_int_equal(out[i], low > 7 ? v * 5 : v * 3);
    }
    assert_memory_equal((const void *)(uintptr_t)m->bins, bins, sizeof bins);
}

static uint64_t mix_hash(const struct rig_options *o)
{
    static struct mix m;
    mix_open(&m, o);
    mix_run(&m);
    mix_run(&m); /* with a warm L2 */
    uint64_t h = timed_hash(m.rig.gpu);
    rig_close(&m.rig);
    return h;
}

static void a_timed_run_leaves_the_right_memory(void **state)
{
    static struct mix m;
    mix_open(&m, &(struct rig_options){0});
    mix_run(&m);
    expect_mix_result(&m);
    assert_true(rig_stat(&m.rig, 0, "gpu.ctas") == CTAS);
    rig_close(&m.rig);
}

static void the_same_run_gives_the_same_hash(void **state)
{
    assert_true(mix_hash(&(struct rig_options){0}) == mix_hash(&(struct rig_options){0}));
}

static void sleeping_changes_nothing(void **state)
{
    static const char *const machines[] = {"fermi", "maxwell",
                                           HEDDLE_SOURCE_DIR "/tests/timing/squeeze.yaml"};
    for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
        struct rig_options skip = {.machine = machines[i]},
                           all = {.machine = machines[i], .timed.no_skip = true};
        if (mix_hash(&skip) != mix_hash(&all)) fail_msg("%s: --no-skip differs", machines[i]);
    }
}

/* What fermi does not use of the memory below the L1. */
static void sleeping_changes_nothing_in_other_memories(void **state)
{
    static const char *const sets[][5] = {
        {"xbar.vcs=4", "xbar.output_speedup=1", "l1.reply_step=0", "l2.fill_port=false",
         "l2.wait_for_all=false"},
        {"xbar.vcs=16", "xbar.output_speedup=3", "xbar.iterations=2", "xbar.reply_data=32",
         "l2.fill_port=false"},
        {"dram.ranks=4", "dram.tfaw=50", "dram.trefi=700", "dram.trfc=90", "l2.wait_for_all=false"},
        {"dram.ranks=2", "dram.sched=fcfs", "dram.trtrs=4", "l1.reply_step=3", "l2.response_queue=1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
        struct rig_options skip = {.sets = sets[i], .set_count = 5},
                           all = {.sets = sets[i], .set_count = 5, .timed.no_skip = true};
        if (mix_hash(&skip) != mix_hash(&all)) fail_msg("%s and so on: --no-skip differs", sets[i][0]);
    }
}

static void sampling_changes_nothing_and_adds_up(void **state)
{
    struct rig_options o = {.timed.sample_cycles = 500};
    assert_true(mix_hash(&o) == mix_hash(&(struct rig_options){0}));
    static struct mix m;
    mix_open(&m, &o);
    mix_run(&m);
    const struct timed_group *groups;
    timed_groups(m.rig.gpu, &groups);
    uint64_t last = 0;
    for (uint32_t i = 0; i < timed_sample_count(m.rig.gpu); i++) {
        const struct timed_sample *s = timed_sample_at(m.rig.gpu, i);
        assert_int_equal(s->start_cycle, last);
        assert_int_equal(s->end_cycle - s->start_cycle, 500);
        last = s->end_cycle;
    }
    assert_true(last > 0 && timed_cycles(m.rig.gpu) - last < 500);
    rig_close(&m.rig);
}

static void a_squeezed_machine_finishes_with_the_right_answer(void **state)
{
    static struct mix m;
    mix_open(&m, &(struct rig_options){.machine = HEDDLE_SOURCE_DIR "/tests/timing/squeeze.yaml"});
    mix_run(&m);
    expect_mix_result(&m);
    rig_close(&m.rig);
}

static void a_slower_part_never_makes_it_faster(void **state)
{
    static const char *const slower[] = {"l2.tag_latency=400", "dram.latency=400", "xbar.latency=40"};
    uint64_t base = 0;
    for (size_t i = 0; i <= ARRAY_LEN(slower); i++) {
        static struct mix m;
        mix_open(&m, &(struct rig_options){.sets = i ? &slower[i - 1] : NULL, .set_count = i ? 1 : 0});
        mix_run(&m);
        if (!i) base = rig_cycles(&m.rig, 0);
        assert_true(rig_cycles(&m.rig, 0) >= base);
        rig_close(&m.rig);
    }
}

/* Atomics on a few words are the limit here, so that memory decides only when each warp comes to its first
 * one: after one load. That load may be faster on the plain machine than on P_DRAM, which takes the latency
 * of a closed row for all, by the activation that an open row saves; and by a cycle of the slowest clock for
 * each of the links that it then takes at another edge: four to DRAM and four back. (test_ideal.c has the
 * kernels where bandwidth is the limit.) */
static void ideal_memories_are_ordered(void **state)
{
    static const char *const ideals[] = {"ideal.memory=none", "ideal.memory=dram", "ideal.memory=infinite",
                                         "ideal.memory=perfect"};
    uint64_t before = 0;
    for (size_t i = 0; i < ARRAY_LEN(ideals); i++) {
        static struct mix m;
        mix_open(&m, &(struct rig_options){.sets = &ideals[i], .set_count = 1});
        mix_run(&m);
        expect_mix_result(&m);
        const struct machine *fermi = &m.rig.machine;
        uint64_t cycles = rig_cycles(&m.rig, 0), khz = fermi->core_clock_khz;
        uint64_t open_row = (fermi->dram.trcd * khz + fermi->dram_clock_khz - 1) / fermi->dram_clock_khz,
                 edges = 8 * ((khz + fermi->l2_clock_khz - 1) / fermi->l2_clock_khz);
        print_message("%s: %llu cycles\n", ideals[i], (unsigned long long)cycles);
        if (i) assert_true(cycles <= before + open_row + edges);
        before = cycles;
        rig_close(&m.rig);
    }
}

/* ---- streams ---- */

static void kernels_of_different_streams_run_together(void **state)
{
    static struct rig r; /* At file scope: the teardown may need it. */
    rig_open(&r, mix_ptx, &(struct rig_options){0});
    uint64_t flag[] = {rig_alloc(&r, 4)};
    rig_launch(&r, "wait", 1, 32, flag, 5); /* ends only when the other one has run */
    rig_launch(&r, "tell", 1, 32, flag, 6);
    rig_sync(&r);
    assert_int_equal(timed_kernel_count(r.gpu), 2);
    rig_close(&r);
}

static void kernels_of_one_stream_run_one_after_another(void **state)
{
    static struct mix m;
    mix_open(&m, &(struct rig_options){0});
    uint64_t params[] = {m.data, m.bins, m.out};
    rig_launch(&m.rig, "mix", CTAS, THREADS, params, 5);
    rig_launch(&m.rig, "mix", CTAS, THREADS, params, 5);
    rig_sync(&m.rig);
    const struct timed_kernel *a = timed_kernel_at(m.rig.gpu, 0), *b = timed_kernel_at(m.rig.gpu, 1);
    assert_true(a->id < b->id && a->end_cycle <= b->start_cycle);
    rig_close(&m.rig);
}

static void the_default_stream_waits_for_all_others(void **state)
{
    static struct mix m;
    mix_open(&m, &(struct rig_options){0});
    uint64_t params[] = {m.data, m.bins, m.out};
    rig_launch(&m.rig, "mix", CTAS, THREADS, params, 5);
    rig_launch(&m.rig, "mix", CTAS, THREADS, params, 0);
    rig_launch(&m.rig, "mix", CTAS, THREADS, params, 6);
    rig_sync(&m.rig);
    for (uint32_t i = 1; i < 3; i++)
        assert_true(timed_kernel_at(m.rig.gpu, i - 1)->end_cycle <=
                    timed_kernel_at(m.rig.gpu, i)->start_cycle);
    rig_close(&m.rig);
}

static void the_launch_latency_comes_before_the_first_cta(void **state)
{
    static const char *const sets[] = {"gpu.launch_latency=1000"};
    static struct mix m;
    uint64_t cycles[2];
    for (uint32_t i = 0; i < 2; i++) {
        rig_open(&m.rig, mix_ptx, &(struct rig_options){.sets = sets, .set_count = i});
        uint64_t flag[] = {rig_alloc(&m.rig, 4)};
        rig_run(&m.rig, "tell", 1, 32, flag);
        cycles[i] = rig_cycles(&m.rig, 0);
        rig_close(&m.rig);
    }
    assert_in_range(cycles[1] - cycles[0], 990, 1010); /* the domains meet at other edges */
}

/* ---- ends ---- */

static void a_stop_ends_with_what_there_is(void **state)
{
    static volatile sig_atomic_t stop = 1;
    static struct rig r; /* At file scope: the teardown may need it. */
    rig_open(&r, mix_ptx, &(struct rig_options){.timed.stop = &stop});
    uint64_t flag[] = {rig_alloc(&r, 4)};
    rig_launch(&r, "wait", 1, 32, flag, 0);
    assert_int_equal(timed_sync(r.gpu, UINT64_MAX, &r.fault), EMU_INTERRUPTED);
    assert_true(timed_partial(r.gpu));
    assert_int_equal(timed_kernel_count(r.gpu), 1);
    assert_true(timed_kernel_at(r.gpu, 0)->partial);
    assert_true(rig_stat(&r, 0, "gpu.cycles") > 0);
    rig_close(&r);
}

static void a_kernel_that_reads_outside_ends_the_run(void **state)
{
    static struct rig r; /* At file scope: the teardown may need it. */
    rig_open(&r, mix_ptx, &(struct rig_options){0});
    uint64_t flag[] = {16};
    rig_launch(&r, "tell", 1, 32, flag, 0);
    assert_int_equal(timed_sync(r.gpu, UINT64_MAX, &r.fault), EMU_OUT_OF_BOUNDS);
    assert_non_null(strstr(r.fault.message, "tell"));
    rig_close(&r);
}

/* The wedge: response queues without a slot. */
static void a_stuck_machine_names_who_waits_for_whom(void **state)
{
    static struct rig r;
    rig_open(&r, mix_ptx, &(struct rig_options){0});
    uint64_t flag[] = {rig_alloc(&r, 4)};
    for (uint32_t i = 0; i < r.gpu->wiring.slice_count; i++)
        r.gpu->wiring.links.slice_to_xbar[i].capacity = 0;
    rig_launch(&r, "wait", 1, 32, flag, 0);
    assert_int_equal(timed_sync(r.gpu, UINT64_MAX, &r.fault), EMU_DEADLOCK);
    const char *report = timed_report(r.gpu);
    print_message("%s", report);
    assert_non_null(strstr(report, "the machine is stuck"));
    assert_non_null(strstr(report, "kernel 1 'wait'"));
    assert_non_null(strstr(report, "warp"));
    assert_non_null(strstr(report, "waits for"));
    assert_non_null(strstr(report, "L2 slice"));
    assert_non_null(strstr(report, "under way"));
    rig_close(&r);
}

static void a_lost_request_breaks_a_law(void **state)
{
    static struct rig r;
    rig_open(&r, mix_ptx, &(struct rig_options){0});
    uint64_t flag[] = {rig_alloc(&r, 4)};
    rig_run(&r, "tell", 1, 32, flag);
    r.gpu->wiring.links.dram_to_slice[3].count = 1; /* something that nobody will take */
    laws_check_empty(&r.gpu->wiring, timed_cycles(r.gpu), &r.gpu->end);
    r.gpu->wiring.links.dram_to_slice[3].count = 0;
    assert_non_null(strstr(timed_report(r.gpu), "link 'DRAM to L2' 3 holds 1"));
    rig_close(&r);
}

static void a_cooperative_grid_must_fit_as_a_whole(void **state)
{
    static struct rig r; /* At file scope: the teardown may need it. */
    rig_open(&r, mix_ptx, &(struct rig_options){0});
    uint64_t flag = rig_alloc(&r, 4);
    struct emu_launch l = {.module = r.module,
                           .kernel = emu_find_kernel(r.module, "tell"),
                           .grid = {121, 1, 1},
                           .block = {32, 1, 1},
                           .params = &flag,
                           .cooperative = true};
    timed_launch(r.gpu, &l, 0); /* 15 SMs of 8 CTAs hold 120 */
    assert_int_equal(timed_sync(r.gpu, UINT64_MAX, &r.fault), EMU_BAD_LAUNCH);
    assert_non_null(strstr(timed_report(r.gpu), "120"));
    rig_close(&r);
}

static void a_timeline_has_every_cta_once(void **state)
{
    static struct mix m;
    mix_open(&m, &(struct rig_options){.timed.timeline = true});
    mix_run(&m);
    assert_int_equal(timed_cta_count(m.rig.gpu), CTAS);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < CTAS; i++) {
        const struct timed_cta *c = timed_cta_at(m.rig.gpu, i);
        assert_true(c->end_cycle > c->start_cycle && c->sm < 15);
        seen |= 1ull << c->cta;
    }
    assert_true(seen == (1ull << CTAS) - 1);
    rig_close(&m.rig);
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 1);
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_timed_run_leaves_the_right_memory),
        RIG_TEST(the_same_run_gives_the_same_hash),
        RIG_TEST(sleeping_changes_nothing),
        RIG_TEST(sleeping_changes_nothing_in_other_memories),
        RIG_TEST(sampling_changes_nothing_and_adds_up),
        RIG_TEST(a_squeezed_machine_finishes_with_the_right_answer),
        RIG_TEST(a_slower_part_never_makes_it_faster),
        RIG_TEST(ideal_memories_are_ordered),
        RIG_TEST(kernels_of_different_streams_run_together),
        RIG_TEST(kernels_of_one_stream_run_one_after_another),
        RIG_TEST(the_default_stream_waits_for_all_others),
        RIG_TEST(the_launch_latency_comes_before_the_first_cta),
        RIG_TEST(a_stop_ends_with_what_there_is),
        RIG_TEST(a_kernel_that_reads_outside_ends_the_run),
        RIG_TEST(a_cooperative_grid_must_fit_as_a_whole),
        RIG_TEST(a_stuck_machine_names_who_waits_for_whom),
        RIG_TEST(a_lost_request_breaks_a_law),
        RIG_TEST(a_timeline_has_every_cta_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
