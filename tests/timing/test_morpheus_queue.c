/* test_morpheus_queue.c: a Morpheus controller that is full pushes back, and its helper's results pass what
 * waits (src/mech/morpheus.c, src/mem/l2_pipes.c, the gates of src/mem/xbar.h). Queues, pipelines and the
 * crossbar's buffers are as small as they can be: with results behind requests in any of them nothing would
 * move again. */
#include "timing_kit.h"

enum { LINES = 64, LINE_BYTES = 128, CTAS = 12, THREADS = 64, ROUNDS = 16, SUMS = 4 };

/* Each thread loads and stores all over the buffer, and adds to a few words. */
#define MIX                                                                                                  \
    ".visible .entry mix(.param .u64 buf, .param .u64 sums, .param .u32 rounds)\n{\n"                        \
    ".reg .u64 %b, %s, %x; .reg .u32 %i, %t, %n, %r, %v; .reg .pred %p;\n"                                   \
    "ld.param.u64 %b, [buf]; ld.param.u64 %s, [sums]; ld.param.u32 %n, [rounds];\n"                          \
    "mov.u32 %i, %ctaid.x; mov.u32 %t, %ntid.x; mov.u32 %r, %tid.x; mad.lo.u32 %i, %i, %t, %r;\n"            \
    "mov.u32 %r, 0;\n"                                                                                       \
    "again: mad.lo.u32 %t, %r, 37, %i; and.b32 %t, %t, 511; mul.wide.u32 %x, %t, 16; add.u64 %x, %b, %x;\n"  \
    "ld.global.cg.u32 %v, [%x]; st.global.u32 [%x + 4], %v;\n"                                               \
    "and.b32 %t, %r, 3; mul.wide.u32 %x, %t, 512; add.u64 %x, %s, %x; atom.global.add.u32 %v, [%x], 1;\n"    \
    "add.u32 %r, %r, 1; setp.lt.u32 %p, %r, %n; @%p bra again; ret;\n}\n"
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n" MIX;

static struct rig rig;
static uint64_t buf, sums;

/* Two slices of 8 lines, and as little room as there can be. */
static const char *const tight[] = {"sm.count=4",       "addr.channels=2",   "addr.slices=1",
                                    "l2.slice_size=1K", "l2.ways=2",         "sm.perfect_icache=true",
                                    "l2.pipeline=1",    "l2.access_queue=1", "xbar.ejection=1",
                                    "xbar.injection=1", "xbar.vc_buffer=1",  "l2.response_queue=1"};

struct queue_run {
    const char *queue, *mshrs;
    const char *machine[2];
    struct timed_options timed;
};

static void open_run(const struct queue_run *r)
{
    static const char *const morpheus = "morpheus";
    const char *settings[] = {"morpheus.cache_sms=2",
                              "morpheus.warps=2",
                              "morpheus.l1_warps=0",
                              "morpheus.blocks=16",
                              "morpheus.inserts=1",
                              r->queue,
                              r->mshrs};
    const char *sets[ARRAY_LEN(tight) + 2];
    struct rig_options o = {.sets = sets, .set_count = ARRAY_LEN(tight), .timed = r->timed};
    memcpy(sets, tight, sizeof tight);
    for (uint32_t i = 0; i < ARRAY_LEN(r->machine) && r->machine[i]; i++) sets[o.set_count++] = r->machine[i];
    o.timed.mechs = &morpheus;
    o.timed.mech_count = 1;
    o.timed.mech_settings = settings;
    o.timed.mech_setting_count = ARRAY_LEN(settings);
    rig_open(&rig, ptx, &o);
    buf = rig_alloc(&rig, LINES * LINE_BYTES);
    sums = rig_alloc(&rig, SUMS * 512);
    for (uint32_t i = 0; i < LINES * LINE_BYTES / 4; i++) ((uint32_t *)(uintptr_t)buf)[i] = i;
}

static uint64_t stat_of(const char *name)
{
    return (uint64_t)rig_stat(&rig, timed_kernel_count(rig.gpu) - 1, name);
}

static void run_mix(void)
{
    rig_run(&rig, "mix", CTAS, THREADS, (const uint64_t[]){buf, sums, ROUNDS});
    for (uint32_t i = 0; i < SUMS; i++)
        assert_int_equal(((const uint32_t *)(uintptr_t)sums)[i * 128], CTAS * THREADS * ROUNDS / SUMS);
    assert_int_equal(stat_of("morpheus.false_negatives"), 0);
}

static void a_full_controller_pushes_back_and_the_run_ends(void **state)
{
    open_run(&(struct queue_run){.queue = "morpheus.queue=1", .mshrs = "morpheus.mshrs=1"});
    run_mix();
    assert_int_equal(stat_of("morpheus.queue_max"), 1);
    assert_true(stat_of("l2.stall_claim") > 1000);
    assert_true(stat_of("morpheus.hits") > 100 && stat_of("morpheus.atomics") > 100);
}

static void so_it_does_behind_several_channels_and_an_infinite_crossbar(void **state)
{
    static const char *const machines[] = {"xbar.vcs=2", "xbar.infinite=true", "l2.late_queue=false"};
    for (uint32_t i = 0; i < ARRAY_LEN(machines); i++) {
        open_run(&(struct queue_run){
            .queue = "morpheus.queue=1", .mshrs = "morpheus.mshrs=1", .machine = {machines[i]}});
        run_mix();
        assert_true(stat_of("l2.stall_claim") > 0);
        rig_close(&rig);
    }
}

static void the_queue_holds_no_more_than_its_slots(void **state)
{
    static const char *const queues[] = {"morpheus.queue=3", "morpheus.queue=65536"};
    for (uint32_t i = 0; i < ARRAY_LEN(queues); i++) {
        open_run(&(struct queue_run){.queue = queues[i], .mshrs = "morpheus.mshrs=64"});
        run_mix();
        if (!i) assert_int_equal(stat_of("morpheus.queue_max"), 3);
        if (i) assert_true(stat_of("morpheus.queue_max") > 3 && !stat_of("l2.stall_claim"));
        rig_close(&rig);
    }
}

static uint64_t hash_of(const struct timed_options *timed)
{
    open_run(&(struct queue_run){.queue = "morpheus.queue=2", .mshrs = "morpheus.mshrs=2", .timed = *timed});
    run_mix();
    const uint64_t hash = timed_hash(rig.gpu);
    rig_close(&rig);
    return hash;
}

static void threads_and_skipping_change_nothing(void **state)
{
    const uint64_t hash = hash_of(&(struct timed_options){0});
    assert_int_equal(hash_of(&(struct timed_options){.no_skip = true}), hash);
    assert_int_equal(hash_of(&(struct timed_options){.threads = 3, .threads_always = true}), hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_full_controller_pushes_back_and_the_run_ends),
        RIG_TEST(so_it_does_behind_several_channels_and_an_infinite_crossbar),
        RIG_TEST(the_queue_holds_no_more_than_its_slots),
        RIG_TEST(threads_and_skipping_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
