/* An SM of more than 64 warps: each scheduler has a bank of 64 slots. */
#include "sm_mixed.h"

#include "core/occupancy.h"
#include "core/sm/sm_impl.h"

/* A machine that has room for `warps` warps of whatever needs are usual. */
static void open_wide(struct rig *r, uint32_t warps, uint32_t schedulers)
{
    rig_open(r);
    r->machine.sm_warps = warps;
    r->machine.sm_threads = warps * 32;
    r->machine.sm_ctas = 256;
    r->machine.sm_registers = 1 << 18;
    r->machine.sm_shared_bytes = 1 << 18;
    r->machine.sm.schedulers = schedulers;
    r->machine.l1.size = 4 << 20;
    r->machine.l1.mshrs = 1024;
}

/* ---- occupancy and latency ---- */

static void ctas_are_resident_as_occupancy_says(void **state)
{
    static const struct {
        uint32_t warps, schedulers, block;
    } cases[] = {{64, 2, 128},  {96, 2, 128},  {128, 2, 128}, {96, 4, 96},
                 {128, 4, 160}, {192, 3, 224}, {256, 4, 32},  {256, 4, 1024}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig r;
        open_wide(&r, cases[i].warps, cases[i].schedulers);
        rig_make(&r);
        exit_(&r.kit);
        const struct isa_kernel *k = kit_load(&r.kit);
        struct emu_grid *g = rig_grid(&r, 1000, cases[i].block);
        uint64_t n = 0;
        while (sm_fits(r.sm, g)) assert_true(rig_start_cta(r.sm, 0, g, n++));
        assert_int_equal(n, cases[i].warps / ((cases[i].block + 31) / 32));
        assert_int_equal(n, occupancy_ctas(&r.machine, k, cases[i].block, 0));
        for (uint32_t b = 0; b < cases[i].schedulers && cases[i].warps > 64; b++) /* spread alike */
            assert_in_range(__builtin_popcountll(r.sm->banks[b].warp.resident),
                            n * ((cases[i].block + 31) / 32) / cases[i].schedulers,
                            (n * ((cases[i].block + 31) / 32) - 1) / cases[i].schedulers + 1);
        while (!sm_idle(r.sm)) rig_cycle(&r);
        assert_null(sm_leaks(r.sm, g));
        assert_int_equal(rig_stats(&r)->warps, n * ((cases[i].block + 31) / 32));
        emu_grid_close(g, NULL);
        rig_close(&r);
    }
}

enum { CHAIN_LOADS = 8, CHAIN_WARPS = 384, CHAIN_BLOCK = 128 };

/* Each warp executes loads of which each needs the result of the one before, all of them misses. */
static uint64_t chain(uint32_t warps, uint32_t run_warps)
{
    struct rig r;
    open_wide(&r, warps, 4);
    r.latency = 1000;
    r.machine.sm.fetch_width = r.machine.sm.ibuffer = 8; /* fetch is not what they wait for */
    rig_make(&r);
    kit_buffer(&r.kit, CHAIN_WARPS * CHAIN_LOADS * 32, 0);
    s2r(&r.kit, R(2), ISA_SREG_TID, 0);
    s2r(&r.kit, R(3), ISA_SREG_CTAID, 0);
    emit(&r.kit, ISA_OP_MAD_LO_32, D(R(4)), S(R(3), imm(&r.kit, CHAIN_BLOCK), R(2)));
    emit(&r.kit, ISA_OP_SHR_U32, D(R(4)), S(R(4), imm(&r.kit, 5)));
    emit(&r.kit, ISA_OP_MAD_LO_32, D(R(4)), S(R(4), imm(&r.kit, CHAIN_LOADS), imm(&r.kit, 0)));
    for (uint32_t i = 0; i < CHAIN_LOADS; i++) {
        index_word(&r.kit, RD(6), param64(&r.kit, 0), R(4), 128);
        ld32(&r.kit, R(8), RD(6), ISA_GLOBAL);
        emit(&r.kit, ISA_OP_ADD_32, D(R(4)), S(R(4), R(8)));
        emit(&r.kit, ISA_OP_ADD_32, D(R(4)), S(R(4), imm(&r.kit, 1)));
    }
    exit_(&r.kit);
    const uint64_t cycles = rig_run(&r, run_warps * 32 / CHAIN_BLOCK, CHAIN_BLOCK);
    assert_int_equal(rig_stats(&r)->loads_done, (uint64_t)run_warps * CHAIN_LOADS);
    rig_close(&r);
    return cycles;
}

/* Memory takes a request a cycle, far more than the warps ask for: the time is that of one CTA, times the
 * rounds. */
static void each_round_of_resident_warps_takes_the_latency_of_one(void **state)
{
    const uint64_t alone = chain(64, CHAIN_BLOCK / 32);
    assert_in_range(alone, CHAIN_LOADS * 1000, CHAIN_LOADS * 1100);
    static const uint32_t warps[] = {64, 96, 128, 192};
    for (size_t i = 0; i < ARRAY_LEN(warps); i++) {
        const uint64_t expected = alone * (CHAIN_WARPS / warps[i]), cycles = chain(warps[i], CHAIN_WARPS);
        assert_in_range(cycles, expected, expected * 110 / 100);
    }
}

/* ---- one bank or several ---- */

struct outcome {
    struct sm_stats sm;
    struct l1_stats l1;
    uint64_t ticks;
};

static struct outcome run_with(struct rig *r)
{
    rig_make(r);
    run_mixed(r);
    assert_null(sm_leaks(r->sm, NULL));
    struct outcome o = {*rig_stats(r), *(struct l1_stats *)sm_l1_stats(r->sm), r->now};
    rig_close(r);
    return o;
}

static void expect_same(const struct outcome *a, const struct outcome *b)
{
    assert_int_equal(a->ticks, b->ticks);
    assert_memory_equal(&a->sm, &b->sm, sizeof a->sm);
    assert_memory_equal(&a->l1, &b->l1, sizeof a->l1);
}

/* Slot s of one bank is bit s / schedulers of bank s modulo schedulers: the same scheduler, the same
 * order. */
static void a_bank_for_each_scheduler_changes_nothing(void **state)
{
    static const char *const policies[] = {"lrr", "gto", "oldest", "two-level", "pa", "mascar"};
    static const struct {
        uint32_t warps, schedulers;
        bool collectors, past_branch;
    } machines[] = {{48, 2, true, false}, {48, 4, false, true}, {64, 4, true, true}, {40, 3, true, false}};
    for (size_t p = 0; p < ARRAY_LEN(policies); p++)
        for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
            struct outcome o[2];
            for (int by_scheduler = 0; by_scheduler < 2; by_scheduler++) {
                struct rig r;
                open_wide(&r, machines[i].warps, machines[i].schedulers);
                r.latency = 300;
                r.policy = policies[p];
                r.machine.sm.perfect_icache = false;
                r.machine.sm.fetch_warps = 1 + i;
                r.machine.sm.operand_collector = machines[i].collectors;
                r.machine.sm.fetch_past_branch = machines[i].past_branch;
                r.bank_by_scheduler = by_scheduler;
                o[by_scheduler] = run_with(&r);
            }
            expect_same(&o[0], &o[1]);
        }
}

static void sleeping_changes_nothing_with_many_warps(void **state)
{
    static const char *const policies[] = {"lrr", "gto", "oldest", "two-level", "pa", "mascar"};
    for (size_t p = 0; p < ARRAY_LEN(policies); p++)
        for (uint32_t warps = 96; warps <= 256; warps += 80) { /* 96, 176, 256 */
            struct outcome o[2];
            for (int no_skip = 0; no_skip < 2; no_skip++) {
                struct rig r;
                open_wide(&r, warps, 4);
                r.latency = 300;
                r.policy = policies[p];
                r.no_skip = no_skip;
                r.machine.sm.perfect_icache = false;
                r.machine.sm.fetch_warps = 1 + p % 4;
                o[no_skip] = run_with(&r);
            }
            expect_same(&o[0], &o[1]);
        }
}

/* ---- turns ---- */

/* Fetch is the bottleneck: fetch_warps warps get an instruction in a cycle. After any number of cycles no
 * warp is ahead of another. */
static void expect_turns(uint32_t schedulers, uint32_t fetch_warps)
{
    enum { WARPS = 128, INSTS = 64 };
    struct rig r;
    open_wide(&r, WARPS, schedulers);
    r.policy = "lrr";
    r.machine.sm.fetch_warps = fetch_warps;
    r.machine.sm.fetch_width = r.machine.sm.ibuffer = 1;
    r.machine.sm.operand_collector = false;
    r.machine.sm.sp_units = 4;
    rig_make(&r);
    for (uint32_t i = 0; i < INSTS; i++) emit(&r.kit, ISA_OP_FMA_F32, D(R(i % 24)), S(R(25), R(26), R(27)));
    exit_(&r.kit);
    struct emu_grid *g = rig_grid(&r, WARPS / 32, 1024);
    for (uint32_t i = 0; i < WARPS / 32; i++) assert_true(rig_start_cta(r.sm, 0, g, i));
    for (uint32_t cycle = 0; cycle < WARPS * INSTS / fetch_warps; cycle++) {
        rig_cycle(&r);
        uint64_t least = UINT64_MAX, most = 0;
        for (uint32_t i = 0; i < WARPS; i++) {
            const uint64_t n = emu_warp_insts(r.sm->state.contexts[i].emu);
            least = MIN(least, n);
            most = MAX(most, n);
        }
        assert_true(most - least <= 1);
    }
    /* those that are between fetch and issue */
    assert_true(rig_stats(&r)->warp_insts >= WARPS * INSTS - 4 * fetch_warps);
    while (!sm_idle(r.sm)) rig_cycle(&r);
    emu_grid_close(g, NULL);
    rig_close(&r);
}

static void fetch_takes_turns_across_banks(void **state)
{
    for (uint32_t schedulers = 2; schedulers <= 4; schedulers++)
        for (uint32_t fetch_warps = 1; fetch_warps <= 2; fetch_warps++) expect_turns(schedulers, fetch_warps);
}

/* Short and long CTAs of an odd number of warps leave the banks with different numbers of free slots. */
static void banks_that_empty_unevenly_fill_again(void **state)
{
    enum { CTAS = 400 };
    struct rig r;
    open_wide(&r, 256, 4);
    rig_make(&r);
    uint32_t *out = kit_buffer(&r.kit, CTAS * 96, 0);
    s2r(&r.kit, R(2), ISA_SREG_TID, 0);
    s2r(&r.kit, R(3), ISA_SREG_CTAID, 0);
    emit(&r.kit, ISA_OP_MAD_LO_32, D(R(4)), S(R(3), imm(&r.kit, 96), R(2)));
    emit(&r.kit, ISA_OP_AND_32, D(R(5)), S(R(3), imm(&r.kit, 63)));
    const uint32_t loop = here(&r.kit);
    emit(&r.kit, ISA_OP_ADD_32, D(R(6)), S(R(6), imm(&r.kit, 1)));
    setp(&r.kit, ISA_LT, 0, R(6), R(5));
    bra(&r.kit, 0, loop, ISA_NO_RECONV);
    index_word(&r.kit, RD(8), param64(&r.kit, 0), R(4), 4);
    st32(&r.kit, RD(8), R(6), ISA_GLOBAL);
    exit_(&r.kit);
    rig_run(&r, CTAS, 96);
    for (uint32_t i = 0; i < CTAS * 96; i++) assert_int_equal(out[i], MAX(i / 96 % 64, 1u));
    assert_null(sm_leaks(r.sm, NULL));
    rig_close(&r);
}

/* ---- what a machine may not have ---- */

static void more_warps_than_the_schedulers_hold_are_an_error_that_says_what_to_do(void **state)
{
    static const struct {
        uint32_t warps, schedulers;
        const char *message, *hint;
    } cases[] = {{65, 1, "sm.warps is 65, but 1 scheduler of 64 warps holds 64",
                  "set sm.warps to at most 64, or sm.schedulers to at least 2"},
                 {129, 2, "sm.warps is 129, but 2 schedulers of 64 warps hold 128",
                  "set sm.warps to at most 128, or sm.schedulers to at least 3"}};
    struct machine m = {.name = "mine"};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct diag_list diags = {0};
        m.sm_warps = cases[i].warps;
        m.sm.schedulers = cases[i].schedulers;
        assert_false(residency_check(&m, &diags));
        assert_int_equal(diags.errors, 1);
        assert_string_equal(diags.items.data[0].file, "mine");
        assert_string_equal(diags.items.data[0].message, cases[i].message);
        assert_string_equal(diags.items.data[0].hint, cases[i].hint);
        diag_free(&diags);
    }
    struct diag_list none = {0};
    m.sm_warps = 256, m.sm.schedulers = 4;
    assert_true(residency_check(&m, &none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ctas_are_resident_as_occupancy_says),
        cmocka_unit_test(each_round_of_resident_warps_takes_the_latency_of_one),
        cmocka_unit_test(a_bank_for_each_scheduler_changes_nothing),
        cmocka_unit_test(sleeping_changes_nothing_with_many_warps),
        cmocka_unit_test(fetch_takes_turns_across_banks),
        cmocka_unit_test(banks_that_empty_unevenly_fill_again),
        cmocka_unit_test(more_warps_than_the_schedulers_hold_are_an_error_that_says_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
