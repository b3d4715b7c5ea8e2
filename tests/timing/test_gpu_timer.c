/* test_gpu_timer.c: mechanisms with a timer for the whole GPU (gate.c): it is called at each multiple of
 * its period, before the SMs have that cycle, and the run is the same with skipping and without, on one
 * thread and on several, with samples that fall on the same cycles. */
#include "timing_kit.h"

#include "base/hash.h"
#include "core/timed_impl.h"
#include "core/units_impl.h"
#include "gate.h"

enum { CTAS = 40, BLOCK = 96, WORDS = 256, SLOW_CYCLES = 64, QUICK_CYCLES = 5 };

/* The two gates of the run, and their periods. */
static const char *const gates[] = {GATE_SLOW_FILE, GATE_QUICK_FILE};
static const uint32_t periods[] = {SLOW_CYCLES, QUICK_CYCLES};

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    /* rounds of: read a word, compute for a while, store to a word that depends on it */
    ".visible .entry race(.param .u64 buf, .param .u32 rounds)\n{\n"
    ".reg .u64 %b, %x; .reg .u32 %i, %t, %n, %r, %a, %k; .reg .pred %p;\n"
    "ld.param.u64 %b, [buf]; ld.param.u32 %n, [rounds];\n"
    "mov.u32 %i, %ctaid.x; mov.u32 %t, %ntid.x; mov.u32 %a, %tid.x; mad.lo.u32 %i, %i, %t, %a;\n"
    "mov.u32 %r, 0;\nloop:\n"
    "mad.lo.u32 %a, %i, 7, %r; and.b32 %a, %a, 255; mul.wide.u32 %x, %a, 4; add.u64 %x, %b, %x;\n"
    "ld.volatile.global.u32 %a, [%x];\nmov.u32 %k, 0;\nalone:\n"
    "mad.lo.u32 %a, %a, 1664525, %i; add.u32 %k, %k, 1; setp.lt.u32 %p, %k, 4;\n@%p bra alone;\n"
    "and.b32 %t, %a, 255; mul.wide.u32 %x, %t, 4; add.u64 %x, %b, %x;\n"
    "st.volatile.global.u32 [%x], %a;\nbar.sync 0;\n"
    "add.u32 %r, %r, 1; setp.lt.u32 %p, %r, %n;\n@%p bra loop;\nret;\n}\n";

struct outcome {
    uint64_t hash, memory, cycles;
};

static const struct gate_gpu *gate_of(const struct rig *r, uint32_t i)
{
    return mech_gpu_state(r->gpu->wiring.mech_gpu, i);
}

/* The gates did something, and their timers came in time. */
static void expect_timers(struct rig *r)
{
    uint64_t changes = 0;
    for (uint32_t i = 0; i < ARRAY_LEN(gates); i++) {
        const struct gate_gpu *g = gate_of(r, i);
        assert_int_equal(g->calls, timed_cycles(r->gpu) / periods[i]);
        assert_int_equal(g->last_cycle, g->calls * periods[i]);
    }
    for (uint32_t k = 0; k < timed_kernel_count(r->gpu); k++) {
        assert_int_equal(rig_stat(r, k, "gate-slow.missed"), 0);
        assert_int_equal(rig_stat(r, k, "gate-quick.missed"), 0);
        changes += (uint64_t)rig_stat(r, k, "gate-slow.changes");
    }
    assert_true(changes > 0);
}

static struct outcome run(const struct rig_options *base, uint32_t threads, bool no_skip)
{
    static struct rig r;
    struct rig_options o = *base;
    o.timed.mechs = gates;
    o.timed.mech_count = ARRAY_LEN(gates);
    o.timed.threads = threads;
    o.timed.threads_always = threads > 1;
    o.timed.no_skip = no_skip;
    rig_open(&r, ptx, &o);
    const uint32_t workers = MIN(threads, timed_sm_count(r.gpu));
    assert_int_equal(r.gpu->wiring.units->worker_count, workers > 1 ? workers : 0);
    const uint64_t buf = rig_alloc(&r, WORDS * 4);
    for (uint32_t i = 0; i < WORDS; i++) ((uint32_t *)(uintptr_t)buf)[i] = i * 2654435761u;
    rig_launch(&r, "race", CTAS, BLOCK, (const uint64_t[]){buf, 4}, 0);
    rig_launch(&r, "race", CTAS / 4, BLOCK, (const uint64_t[]){buf, 3}, 3);
    rig_launch(&r, "race", CTAS / 4, BLOCK, (const uint64_t[]){buf, 2}, 4); /* together with it */
    rig_sync(&r);
    expect_timers(&r);
    const struct outcome got = {.hash = timed_hash(r.gpu),
                                .cycles = timed_cycles(r.gpu),
                                .memory = hash_bytes(HASH_SEED, (const void *)(uintptr_t)buf, WORDS * 4)};
    rig_close(&r);
    return got;
}

static void expect_same(const struct rig_options *o)
{
    const struct outcome all = run(o, 1, true);
    for (uint32_t threads = 1; threads <= 3; threads += IS_SANITIZED ? 2 : 1) {
        const struct outcome got = run(o, threads, false);
        assert_int_equal(got.cycles, all.cycles);
        assert_int_equal(got.memory, all.memory);
        assert_int_equal(got.hash, all.hash);
    }
    assert_int_equal(run(o, 3, true).hash, all.hash);
}

static void the_timer_comes_before_the_sms_of_its_cycle_on_any_number_of_threads(void **state)
{
    static const char *const machines[] = {HEDDLE_SOURCE_DIR "/tests/timing/squeeze.yaml", "fermi",
                                           "maxwell"};
    for (size_t i = 0; i < (IS_SANITIZED ? 1 : ARRAY_LEN(machines)); i++)
        expect_same(&(struct rig_options){.machine = machines[i]});
}

static void a_sample_of_the_same_cycle_comes_after_the_timer(void **state)
{
    if (!IS_SANITIZED) expect_same(&(struct rig_options){.timed.sample_cycles = SLOW_CYCLES});
    expect_same(&(struct rig_options){.timed.sample_cycles = 3 * QUICK_CYCLES});
}

/* A state for the whole GPU without a timer: SMs may write all of it in any cycle. */
static void without_a_timer_sms_run_one_after_the_other(void **state)
{
    static struct rig r;
    static const char *const untimed = GATE_UNTIMED_FILE;
    rig_open(&r, ptx, &(struct rig_options){.timed = {.mechs = &untimed, .mech_count = 1, .threads = 3}});
    assert_int_equal(r.gpu->wiring.units->worker_count, 0);
    assert_true(r.gpu->wiring.units->is_coupled);
    assert_int_equal(r.gpu->loop.next_gpu_timer, TICK_NEVER);
    rig_close(&r);
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(the_timer_comes_before_the_sms_of_its_cycle_on_any_number_of_threads),
        RIG_TEST(a_sample_of_the_same_cycle_comes_after_the_timer),
        RIG_TEST(without_a_timer_sms_run_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
