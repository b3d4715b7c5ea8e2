/* test_async.c: asynchronous copies that arrive at an mbarrier: when they do, what they ask the memory
 * for, and what stops a program that uses a barrier wrongly. */
#include "timing_kit.h"

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"
/* Threads of one warp; %in and %out are pointers, %n a size; bar is an mbarrier of one arrival. */
#define BEGIN                                                                                                \
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"                                 \
    ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<8>; .reg .b32 %n, %start, %end;\n"                     \
    ".reg .b64 %in, %out;\n.shared .align 16 .b8 buf[40960]; .shared .align 8 .b64 bar;\n"                   \
    "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n];\n"                              \
    "mbarrier.init.shared.b64 [bar], 1;\nmov.u32 %start, %clock;\n"
#define WAIT "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra W;\n"
#define END  "mov.u32 %end, %clock; sub.u32 %r1, %end, %start; st.global.u32 [%out], %r1;\nret;\n}\n"
#define BULK                                                                                                 \
    "mbarrier.arrive.expect_tx.shared.b64 %d1, [bar], %n;\n"                                                 \
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [buf], [%in], %n, [bar];\n"

enum { COPY_MAX = 40960 };

/* Cycles that the kernel measured, with one thread and cold caches. */
static uint32_t cycles_of(const char *ptx, uint32_t bytes)
{
    struct rig r;
    rig_open(&r, ptx, &(struct rig_options){0});
    uint64_t in = rig_alloc(&r, COPY_MAX), out = rig_alloc(&r, COPY_MAX + 16);
    rig_run(&r, "k", 1, 1, (uint64_t[]){in, out, bytes});
    uint32_t cycles = *(uint32_t *)(uintptr_t)out;
    rig_close(&r);
    return cycles;
}

static const char plain_load[] = HEAD BEGIN "ld.global.cg.u32 %r2, [%in]; st.shared.u32 [buf], %r2;\n"
                                            "add.u32 %r3, %r2, 1; st.global.u32 [%out+4], %r3;\n" END;
static const char bulk_waits[] = HEAD BEGIN BULK WAIT END;
static const char bulk_goes_on[] = HEAD BEGIN BULK
    "mov.u32 %end, %clock;\n" WAIT "sub.u32 %r1, %end, %start; st.global.u32 [%out], %r1; ret;\n}\n";
static const char copy_waits[] = HEAD BEGIN
    "cp.async.ca.shared.global [buf], [%in], 16;\ncp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n" WAIT
        END;

static void arrivals_wait_for_the_memory(void **state)
{
    uint32_t load = cycles_of(plain_load, 16), bulk = cycles_of(bulk_waits, 16),
             copy = cycles_of(copy_waits, 16);
    print_message("load %u, bulk copy %u, cp.async %u cycles\n", load, bulk, copy);
    assert_in_range(bulk, load - 60, load + 120); /* polling and the last instructions differ a little */
    assert_in_range(copy, load - 60, load + 120);
}

static void the_issuing_warp_goes_on(void **state)
{
    uint32_t issue = cycles_of(bulk_goes_on, 4096), all = cycles_of(bulk_waits, 4096);
    print_message("issued in %u cycles, arrived in %u\n", issue, all);
    assert_true(issue * 3 < all);
}

/* More lines than the load-store unit holds of one instruction. */
static void a_long_copy_asks_for_every_line_once(void **state)
{
    struct rig r;
    rig_open(&r,
             HEAD BEGIN BULK WAIT "cp.async.bulk.global.shared::cta.bulk_group [%out], [buf], %n;\n"
                                  "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n",
             &(struct rig_options){0});
    uint64_t in = rig_alloc(&r, COPY_MAX), out = rig_alloc(&r, COPY_MAX);
    uint32_t *from = (uint32_t *)(uintptr_t)in, *to = (uint32_t *)(uintptr_t)out;
    for (uint32_t i = 0; i < COPY_MAX / 4; i++) from[i] = i * 2654435761u;
    rig_run(&r, "k", 1, 1, (uint64_t[]){in, out, COPY_MAX});
    assert_memory_equal(to, from, COPY_MAX);
    assert_int_equal(rig_stat(&r, 0, "sm.load_transactions"), COPY_MAX / 128);
    assert_int_equal(rig_stat(&r, 0, "sm.transactions"), 2 * COPY_MAX / 128); /* there and back */
    rig_close(&r);
}

static void expect_fault(const char *body, const char *text)
{
    struct rig r;
    struct strbuf ptx = {0};
    strbuf_printf(&ptx, "%s%s%s\nret;\n}\n", HEAD, BEGIN, body);
    rig_open(&r, strbuf_text(&ptx), &(struct rig_options){0});
    strbuf_free(&ptx);
    uint64_t in = rig_alloc(&r, 4096), out = rig_alloc(&r, 4096);
    rig_launch(&r, "k", 1, 32, (uint64_t[]){in, out, 16}, 0);
    assert_int_not_equal(timed_sync(r.gpu, UINT64_MAX, &r.fault), EMU_OK);
    if (!strstr(timed_report(r.gpu), text)) fail_msg("%s\nwanted: %s", timed_report(r.gpu), text);
    rig_close(&r);
}

static void wrong_uses_are_named(void **state)
{
    expect_fault("mbarrier.arrive.shared.b64 %d1, [buf];", "not initialised");
    expect_fault("mbarrier.arrive.shared.b64 %d1, [bar], 2;", "more threads arrive");
    expect_fault("mbarrier.arrive.noComplete.shared.b64 %d1, [bar], 1;", "noComplete completes the phase");
    expect_fault("mbarrier.init.shared.b64 [buf], 0;", "outside of 1 to 1048575");
    expect_fault("mbarrier.expect_tx.shared.b64 [bar], 1048576;", "1048575 bytes at most");
    expect_fault("mbarrier.arrive.b64 %d1, [%in];", "lies in shared memory");
    expect_fault("mbarrier.arrive.shared.b64 %d1, [bar+4];", "misaligned");
    expect_fault("cp.async.bulk.global.shared::cta.bulk_group [%out], [buf], 24;", "multiples of 16");
    expect_fault("cp.async.bulk.global.shared::cta.bulk_group [%out], [buf], 8192;", "out-of-bounds");
    expect_fault("mbarrier.inval.shared.b64 [bar];\n"
                 "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [buf], [%in], 16, [bar];",
                 "not initialised"); /* when the copy arrives */
}

static void a_wait_that_never_ends_is_not_called_stuck(void **state)
{
    struct rig r;
    rig_open(&r, HEAD BEGIN "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra W;\nret;\n}\n",
             &(struct rig_options){.sets = (const char *[]){"gpu.stuck_cycles=2000"}, .set_count = 1});
    emu_device_limits(r.device)->warp_insts_max = 20000;
    uint64_t in = rig_alloc(&r, 64), out = rig_alloc(&r, 64);
    rig_launch(&r, "k", 1, 32, (uint64_t[]){in, out, 16}, 0);
    assert_int_equal(timed_sync(r.gpu, UINT64_MAX, &r.fault), EMU_ENDLESS);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(arrivals_wait_for_the_memory),
        RIG_TEST(the_issuing_warp_goes_on),
        RIG_TEST(a_long_copy_asks_for_every_line_once),
        RIG_TEST(wrong_uses_are_named),
        RIG_TEST(a_wait_that_never_ends_is_not_called_stuck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
