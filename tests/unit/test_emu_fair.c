/* Whose turn it is without a clock: resident CTAs run side by side and their warps in turns, and a grid in
 * which nothing will change any more is told from one that only waits long. */
#include "ptx_kit.h"

#include <pthread.h>
#include <unistd.h>

/* Each thread 0 counts rounds in progress[its number] and keeps the greatest lead over its neighbour. Number:
 * of the warp (`by_warp`) or of the CTA. */
static const char leads[] =
    PTX_HEAD ".visible .entry k(.param .u64 progress, .param .u64 rounds, .param .u64 by_warp)\n{\n"
             ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<10>;\n"
             "ld.param.u64 %rd1, [progress]; ld.param.u64 %rd2, [rounds]; ld.param.u64 %rd3, [by_warp];\n"
             "cvt.u32.u64 %r1, %rd2; cvt.u32.u64 %r2, %rd3;\n"
             "mov.u32 %r3, %tid.x; and.b32 %r4, %r3, 31; setp.ne.u32 %p1, %r4, 0; @%p1 bra END;\n"
             "shr.u32 %r5, %r3, 5; mov.u32 %r6, %ctaid.x; setp.eq.u32 %p2, %r2, 0;\n"
             "selp.u32 %r7, %r6, %r5, %p2; xor.b32 %r8, %r7, 1;\n"
             "mul.wide.u32 %rd4, %r7, 4; add.s64 %rd5, %rd1, %rd4;\n"
             "mul.wide.u32 %rd6, %r8, 4; add.s64 %rd7, %rd1, %rd6;\n"
             "mov.u32 %r9, 0; mov.u32 %r10, 0;\n"
             "L: add.u32 %r9, %r9, 1; st.global.u32 [%rd5], %r9; ld.global.u32 %r11, [%rd7];\n"
             "sub.u32 %r12, %r9, %r11; max.s32 %r10, %r10, %r12;\n"
             "setp.lt.u32 %p3, %r9, %r1; @%p3 bra L;\n"
             "st.global.u32 [%rd5+256], %r10;\nEND: ret;\n}\n";

static void measure_leads(bool by_warp, uint32_t lead[2])
{
    struct ptx_kit k;
    ptx_kit_open(&k, leads);
    volatile uint32_t *out = ptx_kit_buffer(&k, 0, 128, SPACE_DEVICE);
    k.params[1] = 20000;
    k.params[2] = by_warp;
    ptx_kit_run(&k, "k", by_warp ? 1 : 2, by_warp ? 64 : 32);
    for (uint32_t n = 0; n < 2; n++) {
        assert_int_equal(out[n], 20000);
        lead[n] = out[64 + n];
    }
    ptx_kit_close(&k);
}

static void warps_of_a_cta_advance_together(void **state)
{
    uint32_t lead[2];
    measure_leads(true, lead);
    assert_in_range(lead[0], 1, 64); /* a turn has 128 instructions, a round 7 */
    assert_in_range(lead[1], 0, 64);
}

static void ctas_advance_together(void **state)
{
    uint32_t lead[2];
    measure_leads(false, lead);
    assert_in_range(lead[0], 1, 512); /* a turn has 1024 instructions for each warp */
    assert_in_range(lead[1], 0, 512);
}

/* The most CTAs that are between their begin and their end at one time, and how many began in all. */
static void as_many_are_resident_as_the_machine_holds(void **state)
{
    static const char ptx[] = PTX_HEAD
        ".visible .entry k(.param .u64 out)\n{\n"
        ".reg .pred %p<2>; .reg .b32 %r<10>; .reg .b64 %rd<4>;\n"
        "ld.param.u64 %rd1, [out]; atom.global.add.u32 %r1, [%rd1], 1; mov.u32 %r2, 0;\n"
        "L: ld.volatile.global.u32 %r3, [%rd1]; ld.volatile.global.u32 %r4, [%rd1+4]; sub.u32 %r5, %r3, "
        "%r4;\n"
        "red.global.max.u32 [%rd1+8], %r5; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3000; @%p1 bra L;\n"
        "red.global.add.u32 [%rd1+4], 1; ret;\n}\n";
    struct ptx_kit k;
    ptx_kit_open(&k, ptx);
    volatile uint32_t *out = ptx_kit_buffer(&k, 0, 4, SPACE_DEVICE);
    k.ctas_per_sm = 3;
    ptx_kit_run(&k, "k", 50, 1);
    assert_int_equal(out[0], 50);
    assert_int_equal(out[1], 50);
    assert_int_equal(out[2], 4 * 3);
    ptx_kit_close(&k);
}

/* Two barriers of all CTAs in an ordinary launch; thread 0 waits with plain loads, which do not look like
 * waiting, the others at a barrier of the CTA. What each CTA wrote before is there behind it. */
static const char grid_barrier[] = PTX_HEAD
    ".visible .entry k(.param .u64 sync, .param .u64 data)\n{\n"
    ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<10>;\n"
    "ld.param.u64 %rd1, [sync]; ld.param.u64 %rd2, [data];\n"
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; mov.u32 %r4, 0;\n"
    "setp.ne.u32 %p1, %r1, 0; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd2, %rd3;\n"
    "add.u32 %r5, %r2, 1; rem.u32 %r5, %r5, %r3; mul.wide.u32 %rd5, %r5, 4; add.s64 %rd6, %rd2, %rd5;\n"
    "ROUND: @%p1 bra WAIT;\n"
    "ld.global.u32 %r6, [%rd6]; add.u32 %r6, %r6, 1;\n" /* of the neighbour, from the round before */
    "st.global.u32 [%rd4+1024], %r6; membar.gl; red.global.add.u32 [%rd1], 1;\n"
    "add.u32 %r7, %r4, 1; mul.lo.u32 %r8, %r7, %r3;\n"
    "SPIN: ld.global.u32 %r9, [%rd1]; setp.lt.u32 %p2, %r9, %r8; @%p2 bra SPIN;\n"
    "WAIT: bar.sync 0; add.s64 %rd4, %rd4, 1024; add.s64 %rd6, %rd6, 1024;\n"
    "add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 2; @%p3 bra ROUND;\nret;\n}\n";

static void a_barrier_across_resident_ctas_ends(void **state)
{
    enum { CTAS = 4 * 16 };
    struct ptx_kit k;
    ptx_kit_open(&k, grid_barrier);
    volatile uint32_t *sync = ptx_kit_buffer(&k, 0, 1, SPACE_DEVICE),
                      *data = ptx_kit_buffer(&k, 1, 1024, SPACE_DEVICE);
    k.ctas_per_sm = CTAS / 4;
    emu_device_limits(k.device)->warp_insts_max = 1000000;
    ptx_kit_run(&k, "k", CTAS, 128);
    assert_int_equal(*sync, 2 * CTAS);
    for (uint32_t c = 0; c < CTAS; c++) {
        assert_int_equal(data[256 + c], 1);
        assert_int_equal(data[512 + c], 2);
    }
    ptx_kit_close(&k);
}

static void expect_text(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("no '%s' in:\n%s", part, text);
}

static void a_wait_for_a_cta_that_has_no_room_is_found(void **state)
{
    struct ptx_kit k;
    ptx_kit_open(&k, grid_barrier);
    volatile uint32_t *sync = ptx_kit_buffer(&k, 0, 1, SPACE_DEVICE);
    ptx_kit_buffer(&k, 1, 1024, SPACE_DEVICE);
    k.ctas_per_sm = 1;
    assert_int_equal(ptx_kit_launch(&k, "k", 6, 64), EMU_DEADLOCK);
    assert_true(k.stats.warp_insts < 1 << 23);
    assert_int_equal(k.fault.ptx_line, 15);
    struct strbuf want = {0};
    strbuf_printf(
        &want,
        "heddle: kernel 'k': deadlock of the grid: its threads wait for something that none of them "
        "will ever write\n"
        "  4 CTAs resident, 2 cannot start before one of them ends\n"
        "  1 thread of CTA (0,0,0), first (0,0,0), at t.ptx:15, read 4 bytes of global memory at "
        "0x%llx again and again: always 0x4\n"
        "  31 threads of CTA (0,0,0), first (1,0,0), at t.ptx:16, wait at barrier 0\n"
        "  and 10 more groups of threads at these or other places\n",
        (unsigned long long)(uintptr_t)sync);
    assert_string_equal(k.fault.message, strbuf_text(&want));
    strbuf_free(&want);
    ptx_kit_close(&k);
}

static void a_lock_that_nobody_holds_is_found(void **state)
{
    static const char ptx[] =
        PTX_HEAD ".visible .entry k(.param .u64 lock)\n{\n"
                 ".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
                 "ld.param.u64 %rd1, [lock];\n"
                 "L: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nret;\n}\n";
    struct ptx_kit k;
    ptx_kit_open(&k, ptx);
    *ptx_kit_buffer(&k, 0, 1, SPACE_DEVICE) = 1;
    assert_int_equal(ptx_kit_launch(&k, "k", 3, 96), EMU_DEADLOCK);
    expect_text(k.fault.message, "\n  3 CTAs resident, 0 cannot start before one of them ends\n"
                                 "  32 threads of CTA (0,0,0), first (0,0,0), at t.ptx:8, read 4 bytes of");
    expect_text(k.fault.message, ": always 0x1\n  and 8 more groups of threads at these or other places\n");
    ptx_kit_close(&k);
}

/* Each thread of a warp waits for a word of its own in a loop of its own, one after another entered. */
static void threads_that_wait_each_for_itself_are_found(void **state)
{
    struct strbuf ptx = {0};
    strbuf_puts(&ptx, PTX_HEAD ".visible .entry k(.param .u64 flags)\n{\n"
                               ".reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
                               "ld.param.u64 %rd1, [flags]; mov.u32 %r1, %tid.x;\n");
    for (int t = 0; t < 8; t++)
        strbuf_printf(
            &ptx,
            "setp.ne.u32 %%p1, %%r1, %d; @%%p1 bra N%d;\n"
            "L%d: ld.volatile.global.u32 %%r2, [%%rd1+%d]; setp.eq.u32 %%p2, %%r2, 0; @%%p2 bra L%d;\n"
            "N%d:\n",
            t, t, t, 4 * t, t, t);
    strbuf_puts(&ptx, "ret;\n}\n");
    struct ptx_kit k;
    ptx_kit_open(&k, strbuf_text(&ptx));
    ptx_kit_buffer(&k, 0, 8, SPACE_DEVICE);
    assert_int_equal(ptx_kit_launch(&k, "k", 2, 8), EMU_DEADLOCK);
    expect_text(k.fault.message, "\n  and 10 more groups of threads at these or other places\n");
    strbuf_free(&ptx);
    ptx_kit_close(&k);
}

/* ---- what only looks stuck ---- */

/* Reads a word until it is not 0, up to `limit` times: the counter changes, nothing else does. */
static const char polls[] =
    PTX_HEAD ".visible .entry k(.param .u64 flag, .param .u64 limit)\n{\n"
             ".reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
             "ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [limit]; cvt.u32.u64 %r1, %rd2; mov.u32 %r2, 0;\n"
             "L: ld.volatile.global.u32 %r3, [%rd1]; setp.ne.u32 %p1, %r3, 0; @%p1 bra END;\n"
             "setp.eq.u32 %p2, %r1, 0; @%p2 bra L; add.u32 %r2, %r2, 1;\n"
             "setp.lt.u32 %p2, %r2, %r1; @%p2 bra L;\nEND: ret;\n}\n";

static void a_wait_that_counts_its_rounds_is_left_alone(void **state)
{
    struct ptx_kit k;
    ptx_kit_open(&k, polls);
    ptx_kit_buffer(&k, 0, 1, SPACE_DEVICE);
    k.params[1] = 800000;
    ptx_kit_run(&k, "k", 1, 32);
    assert_true(k.stats.warp_insts > 2 * (1 << 21)); /* it was checked more than once */
    ptx_kit_close(&k);
}

static void *raise_flag(void *flag)
{
    usleep(400000); /* the first check comes long before */
    *(volatile uint32_t *)flag = 1;
    return NULL;
}

static void a_wait_for_the_host_is_left_alone(void **state)
{
    static const enum space_kind kinds[] = {SPACE_HOST, SPACE_MANAGED};
    for (uint32_t n = 0; n < 2; n++) {
        struct ptx_kit k;
        pthread_t other;
        ptx_kit_open(&k, polls);
        volatile uint32_t *flag = ptx_kit_buffer(&k, 0, 1, kinds[n]);
        assert_int_equal(pthread_create(&other, NULL, raise_flag, (void *)(uintptr_t)flag), 0);
        ptx_kit_run(&k, "k", 2, 64);
        pthread_join(other, NULL);
        ptx_kit_close(&k);
    }
}

static void the_same_wait_in_device_memory_is_found(void **state)
{
    struct ptx_kit k;
    ptx_kit_open(&k, polls);
    ptx_kit_buffer(&k, 0, 1, SPACE_DEVICE);
    assert_int_equal(ptx_kit_launch(&k, "k", 2, 64), EMU_DEADLOCK);
    ptx_kit_close(&k);
}

static void a_wait_for_time_to_pass_is_left_alone(void **state)
{
    static const char ptx[] =
        PTX_HEAD ".visible .entry k(.param .u64 out, .param .u64 cycles)\n{\n"
                 ".reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<8>;\n"
                 "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [cycles]; mov.u64 %rd3, %clock64;\n"
                 "L: ld.volatile.global.u32 %r1, [%rd1]; nanosleep.u32 100; mov.u64 %rd4, %clock64;\n"
                 "sub.u64 %rd5, %rd4, %rd3; setp.lt.u64 %p1, %rd5, %rd2; @%p1 bra L;\n"
                 "st.global.u32 [%rd1], 7; ret;\n}\n";
    struct ptx_kit k;
    ptx_kit_open(&k, ptx);
    volatile uint32_t *out = ptx_kit_buffer(&k, 0, 1, SPACE_DEVICE);
    k.params[1] = 5000000;
    ptx_kit_run(&k, "k", 1, 32);
    assert_int_equal(*out, 7);
    assert_true(k.stats.warp_insts > 1 << 21);
    ptx_kit_close(&k);
}

/* The first look at a grid comes after 2^21 instructions. One of these ends with the last of them: then there
 * is nothing to look at. */
static void a_grid_that_ends_when_it_would_be_looked_at_just_ends(void **state)
{
    static const char ptx[] = PTX_HEAD ".visible .entry k(.param .u64 out, .param .u64 rounds)\n{\n"
                                       ".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;\n"
                                       "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [rounds];\n"
                                       "cvt.u32.u64 %r1, %rd2; mov.u32 %r2, 0;\n"
                                       "L: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra L;\n"
                                       "st.global.u32 [%rd1], %r2; ret;\n}\n";
    for (int64_t less = 0; less <= 15; less += 3) {
        struct ptx_kit k;
        ptx_kit_open(&k, ptx);
        volatile uint32_t *out = ptx_kit_buffer(&k, 0, 1, SPACE_DEVICE);
        k.params[1] = (uint64_t)((1 << 21) - less) / 3;
        ptx_kit_run(&k, "k", 1, 32);
        assert_int_equal(out[0], k.params[1]);
        ptx_kit_close(&k);
    }
}

/* All but one thread wait at barriers; that one computes for long, then lets them go. */
static void a_long_computation_is_left_alone(void **state)
{
    static const char ptx[] =
        PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n"
                 ".reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<2>;\n"
                 "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra WAIT;\n"
                 "mov.u32 %r2, 0; mov.u32 %r3, 1;\n"
                 "L: ld.global.u32 %r4, [%rd1]; mad.lo.u32 %r3, %r3, 1664525, %r4; add.u32 %r2, %r2, 1;\n"
                 "setp.lt.u32 %p2, %r2, 700000; @%p2 bra L; st.global.u32 [%rd1+4], %r3;\n"
                 "WAIT: bar.sync 0; ret;\n}\n";
    struct ptx_kit k;
    ptx_kit_open(&k, ptx);
    volatile uint32_t *out = ptx_kit_buffer(&k, 0, 2, SPACE_DEVICE);
    ptx_kit_run(&k, "k", 1, 128);
    uint32_t want = 1;
    for (uint32_t i = 0; i < 700000; i++) want = want * 1664525;
    assert_int_equal(out[1], want);
    ptx_kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_of_a_cta_advance_together),
        cmocka_unit_test(ctas_advance_together),
        cmocka_unit_test(as_many_are_resident_as_the_machine_holds),
        cmocka_unit_test(a_barrier_across_resident_ctas_ends),
        cmocka_unit_test(a_wait_for_a_cta_that_has_no_room_is_found),
        cmocka_unit_test(a_lock_that_nobody_holds_is_found),
        cmocka_unit_test(threads_that_wait_each_for_itself_are_found),
        cmocka_unit_test(a_wait_that_counts_its_rounds_is_left_alone),
        cmocka_unit_test(a_wait_for_the_host_is_left_alone),
        cmocka_unit_test(the_same_wait_in_device_memory_is_found),
        cmocka_unit_test(a_wait_for_time_to_pass_is_left_alone),
        cmocka_unit_test(a_long_computation_is_left_alone),
        cmocka_unit_test(a_grid_that_ends_when_it_would_be_looked_at_just_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
