/* test_imov_time.c: the indirect move on the machine: as brx computes it, in fewer cycles; its second read of
 * a register; what it waits for. */
#include "timing_kit.h"

#define HEAD                                                                                                 \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                                        \
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"                                                \
    ".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b32 %a<8>;\n"                                    \
    "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4;\n"      \
    "add.u64 %d0, %d0, %d2; mov.u32 %r1, 0; mov.u32 %r2, 0;\n"                                               \
    "ld.global.u32 %a0, [%d1]; ld.global.u32 %a1, [%d1+4]; ld.global.u32 %a2, [%d1+8]; ld.global.u32 %a3, "  \
    "[%d1+12];\n"                                                                                            \
    "ld.global.u32 %a4, [%d1+16]; ld.global.u32 %a5, [%d1+20]; ld.global.u32 %a6, [%d1+24]; ld.global.u32 "  \
    "%a7, [%d1+28];\n"
#define TAIL "st.global.u32 [%d0], %r2;\nret;\n}\n"

/* The array is a list: each element is the index of the next one. r2 follows it for HOPS hops. */
static const uint32_t links[8] = {3, 6, 5, 7, 1, 4, 0, 2};
/* Hops; the last one does not lead back to the first element. */
enum { HOPS = 61 };

static const char by_imov[] = HEAD "loop:\nimov.b32 %r3, %a<8>, %r2;\nmov.b32 %r2, %r3;\n"
                                   "add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 61;\n@%p bra loop;\n" TAIL;
/* Algorithm 2 of the paper. */
static const char by_brx[] =
    HEAD "t: .branchtargets L0, L1, L2, L3, L4, L5, L6, L7;\nloop:\nbrx.idx %r2, t;\n"
         "L0: mov.b32 %r2, %a0; bra.uni next;\nL1: mov.b32 %r2, %a1; bra.uni next;\n"
         "L2: mov.b32 %r2, %a2; bra.uni next;\nL3: mov.b32 %r2, %a3; bra.uni next;\n"
         "L4: mov.b32 %r2, %a4; bra.uni next;\nL5: mov.b32 %r2, %a5; bra.uni next;\n"
         "L6: mov.b32 %r2, %a6; bra.uni next;\nL7: mov.b32 %r2, %a7; bra.uni next;\n"
         "next:\nadd.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 61;\n@%p bra loop;\n" TAIL;

struct outcome {
    uint32_t result[32];
    uint64_t cycles, hash;
    double insts, reads;
};

static struct outcome run(const char *ptx, const char *machine, const struct timed_options *timed)
{
    struct rig r;
    struct outcome o;
    const char *sets[] = {"sm.indirect_move=true"};
    rig_open(&r, ptx,
             &(struct rig_options){.machine = machine, .sets = sets, .set_count = 1, .timed = *timed});
    const uint64_t out = rig_alloc(&r, 4096), in = rig_alloc(&r, 4096);
    memcpy((void *)(uintptr_t)in, links, sizeof links);
    rig_run(&r, "k", 1, 32, (const uint64_t[]){out, in});
    memcpy(o.result, (const void *)(uintptr_t)out, sizeof o.result);
    o.cycles = rig_cycles(&r, 0);
    o.hash = timed_hash(r.gpu);
    o.insts = rig_stat(&r, 0, "sm.warp_insts");
    o.reads = rig_stat(&r, 0, "sm.register_reads");
    rig_close(&r);
    return o;
}

static void it_computes_what_brx_does_in_fewer_cycles(void **state)
{
    static const char *const machines[] = {"fermi", "maxwell", "rtx3080"};
    uint32_t at = 0;
    for (uint32_t i = 0; i < HOPS; i++) at = links[at];
    assert_int_not_equal(at, 0);
    for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
        const struct timed_options plain = {0};
        const struct outcome a = run(by_imov, machines[i], &plain), b = run(by_brx, machines[i], &plain);
        print_message("%s: %.1f cycles a hop by imov, %.1f by brx\n", machines[i], (double)a.cycles / HOPS,
                      (double)b.cycles / HOPS);
        assert_memory_equal(a.result, b.result, sizeof a.result);
        for (uint32_t l = 0; l < 32; l++) assert_int_equal(a.result[l], at);
        assert_true(a.cycles < b.cycles && a.insts < b.insts);
    }
}

static void the_order_of_units_does_not_matter(void **state)
{
    const struct outcome one = run(by_imov, "rtx3080", &(struct timed_options){0});
    const struct outcome no_skip = run(by_imov, "rtx3080", &(struct timed_options){.no_skip = true});
    const struct outcome threads = run(by_imov, "rtx3080", &(struct timed_options){.threads = 3});
    assert_int_equal(one.hash, no_skip.hash);
    assert_int_equal(one.hash, threads.hash);
}

/* The clock around HOPS dependent instructions of one kind. */
#define CHAIN(inst)                                                                                          \
    HEAD "add.u32 %r4, %a0, %a1; add.u32 %r4, %r4, %a2; add.u32 %r4, %r4, %a3; add.u32 %r4, %r4, %a4;\n"     \
         "add.u32 %r4, %r4, %a5; add.u32 %r4, %r4, %a6; add.u32 %r4, %r4, %a7; min.u32 %r2, %r4, 0;\n"       \
         "mov.u32 %r5, %clock;\n" inst inst inst inst inst inst inst inst "mov.u32 %r6, %clock;\n"           \
         "sub.u32 %r6, %r6, %r5; add.u32 %r2, %r2, %r6;\n" TAIL

static void its_second_read_takes_a_cycle_more(void **state)
{
    static const char *const machines[] = {"fermi", "rtx3080"};
    for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
        const struct timed_options plain = {0};
        const struct outcome imov = run(CHAIN("imov.b32 %r2, %a<8>, %r2;\n"), machines[i], &plain);
        const struct outcome none = run(CHAIN("not.b32 %r2, %r2;\n"), machines[i], &plain);
        assert_int_equal(imov.result[0] - none.result[0], 7); /* the clock does not wait for the eighth */
        assert_int_equal(imov.reads - none.reads, 8);
    }
}

/* The clock around one instruction that does not need what is loaded before it. */
#define BESIDE_LOAD(inst)                                                                                    \
    HEAD "add.u32 %r4, %a0, %a1; add.u32 %r4, %r4, %a2; add.u32 %r4, %r4, %a3; add.u32 %r4, %r4, %a4;\n"     \
         "add.u32 %r4, %r4, %a5; add.u32 %r4, %r4, %a6; add.u32 %r4, %r4, %a7; min.u32 %r4, %r4, 1;\n"       \
         "mov.u32 %r5, %clock;\nld.global.u32 %a5, [%d1+2048];\n" inst "mov.u32 %r6, %clock;\n"              \
         "sub.u32 %r2, %r6, %r5; imov.b32 %r6, %a<8>, %r4; add.u32 %r3, %r3, %r6; min.u32 %r3, %r3, 0;\n"    \
         "add.u32 %r2, %r2, %r3;\n" TAIL

static void it_waits_for_every_register_of_its_array(void **state)
{
    enum { BEFORE_L2 = 60 };
    const struct timed_options plain = {0};
    const uint32_t move = run(BESIDE_LOAD("mov.b32 %r3, %a1;\n"), "fermi", &plain).result[0];
    const uint32_t imov = run(BESIDE_LOAD("imov.b32 %r3, %a<8>, %r4;\n"), "fermi", &plain).result[0];
    assert_true(move < BEFORE_L2 && imov > 2 * BEFORE_L2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(it_computes_what_brx_does_in_fewer_cycles),
        RIG_TEST(the_order_of_units_does_not_matter),
        RIG_TEST(its_second_read_takes_a_cycle_more),
        RIG_TEST(it_waits_for_every_register_of_its_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
