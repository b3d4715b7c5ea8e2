/* The search for races: what each kind of order hides and what its absence shows, with the exact report. */
#include "ptx_kit.h"

/* %p1: not of warp 0, %p2: not thread 0. What is in %r4, %r5 and %r8 at the end is stored where no other
 * thread writes, so that no load is without use. */
#define ENTRY                                                                                                \
    ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<8>; .reg .b32 %r<20>;\n"                           \
    ".reg .b64 %rd<10>; .shared .align 4 .b8 s[1024];\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n"    \
    "mov.u32 %r2, %ctaid.x; shr.u32 %r3, %r1, 5; setp.ne.u32 %p1, %r3, 0; setp.ne.u32 %p2, %r1, 0;\n"        \
    "mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r8, 0;\n"
/* The next line of the kernel is line 12 of t.ptx. */
#define HEAD PTX_HEAD ENTRY
#define TAIL                                                                                                 \
    "\nmov.u32 %r10, %ntid.x; mad.lo.u32 %r10, %r10, %r2, %r1; mul.wide.u32 %rd8, %r10, 4;\n"                \
    "add.s64 %rd8, %rd1, %rd8; xor.b32 %r4, %r4, %r5; xor.b32 %r4, %r4, %r8;\n"                              \
    "st.global.u32 [%rd8+1024], %r4; ret;\n}\n"

/* Runs the kernel and returns how many pairs were found; the report is in k->err. */
static uint64_t search(struct ptx_kit *k, const char *ptx, uint32_t grid, uint32_t block)
{
    ptx_kit_open(k, ptx);
    emu_device_find_races(k->device);
    ptx_kit_buffer(k, 0, 16384, SPACE_DEVICE);
    ptx_kit_run(k, "k", grid, block);
    return emu_device_races(k->device);
}

static void expect_none(const char *ptx, uint32_t grid, uint32_t block)
{
    struct ptx_kit k;
    uint64_t found = search(&k, ptx, grid, block);
    if (found || k.err.len) fail_msg("%s", strbuf_text(&k.err));
    ptx_kit_close(&k);
}

static void expect_report(const char *ptx, uint32_t grid, uint32_t block, const char *want)
{
    struct ptx_kit k;
    assert_int_equal(search(&k, ptx, grid, block), 1);
    assert_string_equal(strbuf_text(&k.err), want);
    ptx_kit_close(&k);
}

static void expect_global(const char *ptx, uint32_t grid, uint32_t block, uint32_t bytes, uint32_t offset,
                          const char *accesses)
{
    struct ptx_kit k;
    struct strbuf want = {0};
    assert_int_equal(search(&k, ptx, grid, block), 1);
    unsigned long long base = k.params[0];
    strbuf_printf(
        &want,
        "heddle: kernel 'k': race on %u byte%s of global memory at 0x%llx, in buffer (0x%llx, 65536 "
        "bytes)\n%s",
        bytes, bytes == 1 ? "" : "s", base + offset, base, accesses);
    assert_string_equal(strbuf_text(&k.err), strbuf_text(&want));
    strbuf_free(&want);
    ptx_kit_close(&k);
}

/* ---- barriers ---- */

#define REDUCE(FIRST)                                                                                        \
    HEAD "mov.u32 %r4, s; shl.b32 %r5, %r1, 2; add.s32 %r4, %r4, %r5;\n"                                     \
         "st.shared.u32 [%r4], %r1;\n" FIRST "mov.u32 %r6, 64;\n"                                            \
         "L: setp.ge.u32 %p3, %r1, %r6; @%p3 bra SKIP;\n"                                                    \
         "shl.b32 %r7, %r6, 2; add.s32 %r7, %r4, %r7;\n"                                                     \
         "ld.shared.u32 %r8, [%r7];\nld.shared.u32 %r9, [%r4];\n"                                            \
         "add.s32 %r9, %r9, %r8; st.shared.u32 [%r4], %r9;\n"                                                \
         "SKIP: bar.sync 0; shr.u32 %r6, %r6, 1; setp.ne.s32 %p4, %r6, 0; @%p4 bra L;" TAIL

static void a_reduction_without_its_first_barrier(void **state)
{
    expect_none(REDUCE("bar.sync 0;"), 2, 128);
    expect_report(REDUCE(""), 1, 128,
                  "heddle: kernel 'k': race on 4 bytes of shared memory at 0x100\n"
                  "  read at t.ptx:17, CTA (0,0,0), thread (0,0,0)\n"
                  "  write at t.ptx:13, CTA (0,0,0), thread (64,0,0)\n");
}

static void accesses_behind_the_same_barrier(void **state)
{
    expect_report(HEAD "bar.sync 0; st.shared.u32 [s+4], %r1;" TAIL, 1, 64,
                  "heddle: kernel 'k': race on 4 bytes of shared memory at 0x4\n"
                  "  write at t.ptx:12, CTA (0,0,0), thread (63,0,0)\n"
                  "  write at t.ptx:12, CTA (0,0,0), thread (0,0,0)\n");
}

/* The last warp of a reduction needs no barriers: the threads of a warp are not compared. */
static void warp_synchronous_code(void **state)
{
    expect_none(
        HEAD
        "mov.u32 %r4, s; shl.b32 %r5, %r1, 2; add.s32 %r4, %r4, %r5; st.volatile.shared.u32 [%r4], %r1;\n"
        "ld.volatile.shared.u32 %r6, [%r4+64]; st.volatile.shared.u32 [%r4], %r6;\n"
        "ld.volatile.shared.u32 %r6, [%r4+32]; st.volatile.shared.u32 [%r4], %r6;" TAIL,
        1, 32);
}

/* .volatile does not order warps. */
static void volatile_shared_memory_is_plain(void **state)
{
    expect_report(HEAD "@%p1 bra OTHER; st.volatile.shared.u32 [s+8], %r1; bra END;\n"
                       "OTHER: ld.volatile.shared.u32 %r4, [s+8];\nEND:" TAIL,
                  1, 64,
                  "heddle: kernel 'k': race on 4 bytes of shared memory at 0x8\n"
                  "  write at t.ptx:12, CTA (0,0,0), thread (31,0,0)\n"
                  "  read at t.ptx:13, CTA (0,0,0), thread (32,0,0)\n");
}

/* Warp 0 writes and arrives, warp 1 waits and reads; then warp 1 arrives before it reads. */
static void named_barriers_order_those_that_wait_behind_those_that_arrive(void **state)
{
    expect_none(HEAD "@%p1 bra READ; st.shared.u32 [s], %r1; bar.arrive 1, 64; bra END;\n"
                     "READ: bar.sync 1, 64; ld.shared.u32 %r4, [s];\nEND:" TAIL,
                1, 64);
    expect_report(HEAD "@%p1 bra READ; st.shared.u32 [s], %r1; bar.sync 1, 64; bra END;\n"
                       "READ: bar.arrive 1, 64; ld.shared.u32 %r4, [s];\nEND:" TAIL,
                  1, 64,
                  "heddle: kernel 'k': race on 4 bytes of shared memory at 0x0\n"
                  "  write at t.ptx:12, CTA (0,0,0), thread (31,0,0)\n"
                  "  read at t.ptx:13, CTA (0,0,0), thread (32,0,0)\n");
}

static void threads_that_ended_have_arrived(void **state)
{
    expect_none(HEAD "@%p1 bra REST; st.shared.u32 [s], %r1; ret;\n"
                     "REST: bar.sync 0; ld.shared.u32 %r4, [s];" TAIL,
                1, 64);
}

/* ---- bytes ---- */

/* Each warp writes a byte of one word; each CTA a byte of one word of global memory. */
static void neighbouring_bytes_are_apart(void **state)
{
    expect_none(HEAD
                "mov.u32 %r4, s; add.s32 %r4, %r4, %r3; st.shared.u8 [%r4], %r1;\n"
                "@%p2 bra END; cvt.u64.u32 %rd2, %r2; add.s64 %rd3, %rd1, %rd2; st.global.u8 [%rd3], %r1;\n"
                "END:" TAIL,
                4, 128);
}

static void bytes_that_overlap(void **state)
{
    static const char *const accesses = "  write at t.ptx:12, CTA (0,0,0), thread (0,0,0)\n"
                                        "  write at t.ptx:13, CTA (1,0,0), thread (0,0,0)\n";
    expect_global(HEAD "setp.eq.u32 %p3, %r2, 1; @%p3 bra OTHER; st.global.u32 [%rd1+8], %r1; bra END;\n"
                       "OTHER: st.global.u8 [%rd1+10], %r1;\nEND:" TAIL,
                  2, 1, 1, 10, accesses);
    expect_global(HEAD "setp.eq.u32 %p3, %r2, 1; @%p3 bra OTHER; st.global.u8 [%rd1+10], %r1; bra END;\n"
                       "OTHER: st.global.v2.u32 [%rd1+8], {%r1, %r2};\nEND:" TAIL,
                  2, 1, 1, 10, accesses);
    expect_global(
        HEAD
        "setp.eq.u32 %p3, %r2, 1; @%p3 bra OTHER; st.global.v4.u32 [%rd1+16], {%r1,%r1,%r1,%r1}; bra END;\n"
        "OTHER: st.global.u32 [%rd1+28], %r1;\nEND:" TAIL,
        2, 1, 4, 28, accesses);
}

/* ---- CTAs ---- */

static void two_ctas_on_one_word(void **state)
{
    expect_global(HEAD "@%p2 bra END; st.global.u32 [%rd1+4], %r2;\nEND:" TAIL, 2, 64, 4, 4,
                  "  write at t.ptx:12, CTA (0,0,0), thread (0,0,0)\n"
                  "  write at t.ptx:12, CTA (1,0,0), thread (0,0,0)\n");
}

/* A barrier orders the warps of one CTA only; the older of two readers in another CTA is found. */
static void a_write_behind_a_barrier_and_a_reader_elsewhere(void **state)
{
    expect_global(HEAD "setp.ne.u32 %p3, %r2, 0; @%p3 bra OTHER;\nld.global.u32 %r4, [%rd1]; bra END;\n"
                       "OTHER: ld.global.u32 %r4, [%rd1]; bar.sync 0; @%p1 bra END;\n"
                       "st.global.u32 [%rd1], %r4;\nEND:" TAIL,
                  2, 64, 4, 0,
                  "  read at t.ptx:13, CTA (0,0,0), thread (63,0,0)\n"
                  "  write at t.ptx:15, CTA (1,0,0), thread (0,0,0)\n");
}

static void launches_follow_each_other(void **state)
{
    struct ptx_kit k;
    assert_int_equal(search(&k,
                            HEAD "@%p2 bra END; ld.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, 1; "
                                 "st.global.u32 [%rd1], %r4;\nEND:" TAIL,
                            1, 64),
                     0);
    ptx_kit_run(&k, "k", 1, 64);
    assert_int_equal(emu_device_races(k.device), 0);
    ptx_kit_close(&k);
}

static void each_pair_is_told_once(void **state)
{
    struct ptx_kit k;
    assert_int_equal(search(&k, HEAD "st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r1;" TAIL, 8, 256),
                     2);
    size_t len = k.err.len;
    ptx_kit_run(&k, "k", 8, 256);
    assert_int_equal(emu_device_races(k.device), 2);
    assert_int_equal(k.err.len, len);
    ptx_kit_close(&k);
}

/* ---- atomics ---- */

static void atomics_do_not_race_with_each_other(void **state)
{
    expect_none(HEAD "red.global.add.u32 [%rd1], 1; atom.global.max.u32 %r4, [%rd1], %r1;\n"
                     "atom.shared.add.u32 %r4, [s], 1; ld.volatile.global.u32 %r5, [%rd1];" TAIL,
                4, 128);
}

static void an_atomic_and_a_plain_read(void **state)
{
    expect_global(HEAD "@%p2 bra END; red.global.add.u32 [%rd1], 1;\nld.global.u32 %r4, [%rd1];\nEND:" TAIL,
                  2, 32, 4, 0,
                  "  read at t.ptx:13, CTA (0,0,0), thread (0,0,0)\n"
                  "  atomic at t.ptx:12, CTA (1,0,0), thread (0,0,0)\n");
}

/* ---- release and acquire ---- */

/* Each CTA writes its part, the last one to come reads all and resets the counter. */
#define LAST_CTA(FENCE)                                                                                      \
    HEAD "@%p2 bra WAIT; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\n"                             \
         "st.global.u32 [%rd3+64], %r2; " FENCE "\n"                                                         \
         "mov.u32 %r4, %nctaid.x; atom.global.inc.u32 %r5, [%rd1], %r4; sub.u32 %r4, %r4, 1;\n"              \
         "st.shared.u32 [s], %r5;\n"                                                                         \
         "WAIT: bar.sync 0; ld.shared.u32 %r6, [s]; mov.u32 %r7, %nctaid.x; sub.u32 %r7, %r7, 1;\n"          \
         "setp.ne.u32 %p3, %r6, %r7; @%p3 bra END; setp.gt.u32 %p4, %r1, %r7; @%p4 bra RESET;\n"             \
         "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r8, [%rd5+64];\n"              \
         "RESET: @%p2 bra END; st.global.u32 [%rd1], 0;\nEND:" TAIL

static void the_last_cta_reads_what_all_released(void **state)
{
    expect_none(LAST_CTA("membar.gl;"), 100, 128);
    expect_none(LAST_CTA("fence.acq_rel.gpu;"), 3, 32);
}

static void the_last_cta_without_a_fence(void **state)
{
    struct ptx_kit k;
    assert_int_equal(search(&k, LAST_CTA(""), 3, 32), 2); /* the parts, and the reset of the counter */
    assert_non_null(strstr(strbuf_text(&k.err), "  write at t.ptx:13, CTA (0,0,0), thread (0,0,0)\n"
                                                "  read at t.ptx:18, CTA (2,0,0), thread (0,0,0)\n"));
    ptx_kit_close(&k);
    assert_int_equal(search(&k, LAST_CTA("membar.cta;"), 3, 32), 2); /* of no use to other CTAs */
    ptx_kit_close(&k);
}

/* CTA 0 writes data, then a flag; CTA 1 waits for the flag, then reads the data. */
#define FLAG(STORE, LOAD)                                                                                    \
    HEAD "@%p2 bra END; setp.ne.u32 %p3, %r2, 0; @%p3 bra READ;\n"                                           \
         "st.global.u32 [%rd1+8], 5;\n" STORE " bra END;\n"                                                  \
         "READ: " LOAD " setp.eq.u32 %p4, %r4, 0; @%p4 bra READ;\n"                                          \
         "ld.global.u32 %r5, [%rd1+8];\nEND:" TAIL

static void a_flag_that_releases(void **state)
{
    expect_none(FLAG("membar.gl; st.volatile.global.u32 [%rd1], 1;", "ld.volatile.global.u32 %r4, [%rd1];"),
                2, 32);
    expect_none(FLAG("st.release.gpu.global.u32 [%rd1], 1;", "ld.acquire.gpu.global.u32 %r4, [%rd1];"), 2,
                32);
    expect_none(
        FLAG("atom.release.gpu.global.exch.b32 %r6, [%rd1], 1;", "ld.acquire.gpu.global.u32 %r4, [%rd1];"), 2,
        32);
}

static void a_flag_that_does_not(void **state)
{
    expect_global(FLAG("st.relaxed.gpu.global.u32 [%rd1], 1;", "ld.acquire.gpu.global.u32 %r4, [%rd1];"), 2,
                  32, 4, 8,
                  "  write at t.ptx:13, CTA (0,0,0), thread (0,0,0)\n"
                  "  read at t.ptx:16, CTA (1,0,0), thread (0,0,0)\n");
}

/* A write behind the fence is not released by the flag. */
static void what_comes_behind_the_fence(void **state)
{
    expect_global(HEAD "@%p2 bra END; setp.ne.u32 %p3, %r2, 0; @%p3 bra READ; membar.gl;\n"
                       "st.global.u32 [%rd1+8], 5; st.volatile.global.u32 [%rd1], 1; bra END;\n"
                       "READ: ld.volatile.global.u32 %r4, [%rd1]; setp.eq.u32 %p4, %r4, 0; @%p4 bra READ;\n"
                       "ld.global.u32 %r5, [%rd1+8];\nEND:" TAIL,
                  2, 32, 4, 8,
                  "  write at t.ptx:13, CTA (0,0,0), thread (0,0,0)\n"
                  "  read at t.ptx:15, CTA (1,0,0), thread (0,0,0)\n");
}

/* ---- places ---- */

static void lines_of_the_cuda_file(void **state)
{
    expect_report(PTX_HEAD ".file 1 \"sum.cu\"\n.visible .entry k()\n{\n.reg .pred %p<2>; .reg .b32 %r<4>; "
                           ".shared .b32 s;\n"
                           "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra A;\n"
                           ".loc 1 30 5\nst.shared.u32 [s], %r1; ret;\n"
                           "A:\n.loc 1 20 5\nst.shared.u32 [s], %r1; ret;\n}\n",
                  1, 64,
                  "heddle: kernel 'k': race on 4 bytes of shared memory at 0x0\n"
                  "  write at sum.cu:20 (t.ptx:13), CTA (0,0,0), thread (31,0,0)\n"
                  "  write at sum.cu:30 (t.ptx:10), CTA (0,0,0), thread (32,0,0)\n");
}

static void threads_of_a_block_in_three_dimensions(void **state)
{
    struct ptx_kit k;
    ptx_kit_open(&k, HEAD "st.shared.u32 [s], %r1; ret;" TAIL);
    emu_device_find_races(k.device);
    ptx_kit_buffer(&k, 0, 1024, SPACE_DEVICE);
    struct emu_launch l = {.module = k.module,
                           .kernel = emu_find_kernel(k.module, "k"),
                           .grid = {2, 2, 1},
                           .block = {4, 4, 4},
                           .params = k.params};
    assert_int_equal(emu_run(k.device, &l, &k.stats, &k.fault), EMU_OK);
    assert_string_equal(strbuf_text(&k.err), "heddle: kernel 'k': race on 4 bytes of shared memory at 0x0\n"
                                             "  write at t.ptx:12, CTA (0,0,0), thread (3,3,1)\n"
                                             "  write at t.ptx:12, CTA (0,0,0), thread (0,0,2)\n");
    ptx_kit_close(&k);
}

static void asynchronous_copies(void **state)
{
#define COPY(BARRIER)                                                                                        \
    ".version 7.0\n.target sm_80\n.address_size 64\n" ENTRY "mov.u32 %r4, s;\n"                              \
    "@%p2 bra SKIP; cp.async.ca.shared.global [%r4], [%rd1], 4;\n"                                           \
    "cp.async.wait_all;\nSKIP: " BARRIER "\n@!%p1 bra END; ld.shared.u32 %r5, [s];\nEND:" TAIL
    expect_none(COPY("bar.sync 0;"), 1, 64);
    expect_report(COPY(""), 1, 64,
                  "heddle: kernel 'k': race on 4 bytes of shared memory at 0x0\n"
                  "  write at t.ptx:13, CTA (0,0,0), thread (0,0,0)\n"
                  "  read at t.ptx:16, CTA (0,0,0), thread (32,0,0)\n");
}

static void the_count_in_words(void **state)
{
    struct strbuf text = {0};
    for (uint64_t n = 0; n < 3; n++) emu_race_summary(n, &text);
    assert_string_equal(strbuf_text(&text),
                        "heddle: no races found\n"
                        "heddle: 1 race found: pairs of instructions without an order\n"
                        "heddle: 2 races found: pairs of instructions without an order\n");
    strbuf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reduction_without_its_first_barrier),
        cmocka_unit_test(accesses_behind_the_same_barrier),
        cmocka_unit_test(warp_synchronous_code),
        cmocka_unit_test(volatile_shared_memory_is_plain),
        cmocka_unit_test(named_barriers_order_those_that_wait_behind_those_that_arrive),
        cmocka_unit_test(threads_that_ended_have_arrived),
        cmocka_unit_test(neighbouring_bytes_are_apart),
        cmocka_unit_test(bytes_that_overlap),
        cmocka_unit_test(two_ctas_on_one_word),
        cmocka_unit_test(a_write_behind_a_barrier_and_a_reader_elsewhere),
        cmocka_unit_test(launches_follow_each_other),
        cmocka_unit_test(each_pair_is_told_once),
        cmocka_unit_test(atomics_do_not_race_with_each_other),
        cmocka_unit_test(an_atomic_and_a_plain_read),
        cmocka_unit_test(the_last_cta_reads_what_all_released),
        cmocka_unit_test(the_last_cta_without_a_fence),
        cmocka_unit_test(a_flag_that_releases),
        cmocka_unit_test(a_flag_that_does_not),
        cmocka_unit_test(what_comes_behind_the_fence),
        cmocka_unit_test(lines_of_the_cuda_file),
        cmocka_unit_test(threads_of_a_block_in_three_dimensions),
        cmocka_unit_test(asynchronous_copies),
        cmocka_unit_test(the_count_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
