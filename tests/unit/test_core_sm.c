/* One SM, with exact cycles where the model gives them. */
#include "sm_mixed.h"

/* ---- arithmetic ---- */

/* A warp executes `count` FMAs that each need the result of the one before; cycles of the whole kernel. */
static uint64_t fma_chain(bool collectors, bool forwarding, uint32_t count)
{
    struct rig r;
    rig_open(&r);
    r.machine.sm.operand_collector = collectors;
    r.machine.sm.forwarding = forwarding;
    rig_make(&r);
    for (uint32_t i = 0; i < count; i++) emit(&r.kit, ISA_OP_FMA_F32, D(R(0)), S(R(0), R(0), R(0)));
    exit_(&r.kit);
    uint64_t cycles = rig_run(&r, 1, 32);
    assert_int_equal(rig_stats(&r)->warp_insts, count + 1);
    assert_int_equal(rig_stats(&r)->thread_insts, 32 * (count + 1));
    assert_true(rig_stats(&r)->slots[SLOT_DATA_ALU] > 0);
    assert_int_equal(rig_stats(&r)->slots[SLOT_DATA_MEM], 0);
    rig_close(&r);
    return cycles;
}

static void a_chain_of_fmas_runs_at_the_latency_of_the_pipeline(void **state)
{
    (void)state;
    assert_int_equal(fma_chain(false, false, 64) - fma_chain(false, false, 32), 32 * 5);
    assert_int_equal(fma_chain(true, true, 64) - fma_chain(true, true, 32), 32 * 5);
}

static void without_forwarding_a_chain_waits_for_collector_and_writeback(void **state)
{
    (void)state;
    assert_int_equal(fma_chain(true, false, 64) - fma_chain(true, false, 32), 32 * (5 + 5 + 1));
}

/* Cycles of one more round of FMAs that read three registers; their banks are b0, b1, b2 of 16. */
static uint64_t fma_round(uint32_t a, uint32_t b, uint32_t c, uint32_t reads)
{
    uint64_t cycles[2];
    for (int n = 0; n < 2; n++) {
        struct rig r;
        rig_open(&r);
        r.machine.sm.collector_reads = reads;
        r.machine.sm.forwarding = false;
        rig_make(&r);
        r.kit.proto.reg_count = 64;
        for (int i = 0; i < 8 + 8 * n; i++) emit(&r.kit, ISA_OP_FMA_F32, D(R(a)), S(R(a), R(b), R(c)));
        exit_(&r.kit);
        cycles[n] = rig_run(&r, 1, 32);
        rig_close(&r);
    }
    return (cycles[1] - cycles[0]) / 8;
}

static void registers_of_one_bank_are_read_one_after_the_other(void **state)
{
    (void)state;
    assert_int_equal(fma_round(0, 1, 2, 3), 5 + 5 + 1);   /* three banks, three reads a cycle */
    assert_int_equal(fma_round(0, 16, 32, 3), 5 + 5 + 3); /* one bank */
    assert_int_equal(fma_round(0, 1, 2, 1), 5 + 5 + 3);   /* one read a cycle and collector */
}

static void independent_fmas_issue_at_the_width_of_the_schedulers(void **state)
{
    (void)state;
    struct rig r;
    rig_ready(&r);
    for (uint32_t i = 0; i < 400; i++)
        emit(&r.kit, ISA_OP_FMA_F32, D(R(i % 24)), S(R((i + 7) % 24), R((i + 13) % 24), R((i + 18) % 24)));
    exit_(&r.kit);
    uint64_t cycles = rig_run(&r, 1, 32 * 32);
    uint64_t insts = rig_stats(&r)->warp_insts;
    assert_int_equal(insts, 32 * 401);
    assert_true(insts <= 2 * cycles);
    assert_true(insts * 100 >= 2 * cycles * 93); /* the start and the end included */
    rig_close(&r);
}

static void a_unit_takes_an_operation_each_initiation_interval(void **state)
{
    (void)state;
    uint64_t cycles[2];
    for (uint32_t n = 0; n < 2; n++) {
        struct rig r;
        rig_ready(&r);
        for (uint32_t i = 0; i < 16 * (n + 1); i++) emit(&r.kit, ISA_OP_SIN_F32, D(R(i % 16)), S(R(20)));
        exit_(&r.kit);
        cycles[n] = rig_run(&r, 1, 256);
        assert_true(rig_stats(&r)->slots[SLOT_STR_ALU] > 0);
        assert_int_equal(rig_stats(&r)->slots[SLOT_STR_MEM], 0);
        rig_close(&r);
    }
    /* 16 more for each of 8 warps, one unit, interval 8 */
    assert_int_equal(cycles[1] - cycles[0], 16 * 8 * 8);
}

static void a_branch_that_is_taken_empties_the_instruction_buffer(void **state)
{
    (void)state;
    uint64_t cycles[2];
    for (uint32_t taken = 0; taken < 2; taken++) {
        struct rig r;
        rig_ready(&r);
        for (uint32_t i = 0; i < 10; i++) { /* over a NOP that nobody executes, or to the next instruction */
            uint32_t at = bra(&r.kit, ISA_PT, 0, ISA_NO_RECONV);
            if (taken) emit(&r.kit, ISA_OP_NOP, D(NO), S(NO));
            patch(&r.kit, at, here(&r.kit), ISA_NO_RECONV);
        }
        exit_(&r.kit);
        cycles[taken] = rig_run(&r, 1, 32);
        assert_int_equal(rig_stats(&r)->branches, 11);
        rig_close(&r);
    }
    /* Fetched in the cycle in which the branch issues, decoded, issued: two cycles each. In a straight run
     * two instructions share three. */
    assert_int_equal(cycles[1] - cycles[0], 10 * 2 - 5 * 3);
}

/* ---- CTAs ---- */

static void warps_wait_at_a_barrier_for_the_last_one(void **state)
{
    (void)state;
    struct rig r;
    rig_ready(&r);
    kit_buffer(&r.kit, 64, 0);
    s2r(&r.kit, R(2), ISA_SREG_TID, 0);
    setp(&r.kit, ISA_LT, 0, R(2), imm(&r.kit, 32));
    uint32_t skip = bra(&r.kit, 0 | ISA_GUARD_NOT, 0, 0);
    emit(&r.kit, ISA_OP_MOV_64, D(RD(0)), S(param64(&r.kit, 0)));
    for (uint32_t i = 0; i < 4; i++) emit(&r.kit, ISA_OP_DIV_U32, D(R(4)), S(R(4), R(4)));
    patch(&r.kit, skip, here(&r.kit), here(&r.kit));
    emit(&r.kit, ISA_OP_BAR_SYNC, D(NO), S(imm(&r.kit, 0), NO));
    exit_(&r.kit);
    rig_run(&r, 1, 256);
    assert_int_equal(rig_stats(&r)->barriers, 8);
    /* The scheduler without warp 0 waits for three of the four divisions: the last one is still under way
     * when its warp arrives. */
    assert_in_range(rig_stats(&r)->slots[SLOT_BARRIER], 3 * 145 - 30, 3 * 145 + 30);
    rig_close(&r);
}

static void a_fault_of_the_program_stops_the_sm(void **state)
{
    (void)state;
    struct rig r;
    rig_ready(&r);
    emit(&r.kit, ISA_OP_MOV_64, D(RD(0)), S(imm64(&r.kit, 0x1234)));
    ld32(&r.kit, R(4), RD(0), ISA_GLOBAL);
    exit_(&r.kit);
    struct emu_grid *g = rig_grid(&r, 1, 32);
    assert_true(rig_start_cta(r.sm, 0, g, 0));
    for (uint32_t i = 0; i < 100; i++) rig_cycle(&r);
    assert_true(sm_faulted(r.sm));
    assert_int_equal(r.fault.kind, EMU_OUT_OF_BOUNDS);
    sm_destroy(r.sm); /* with the CTA still on it */
    r.sm = NULL;
    emu_grid_close(g, NULL);
    rig_close(&r);
}

static void a_kernel_begins_with_empty_caches_after_the_end_of_another(void **state)
{
    (void)state;
    struct rig r;
    rig_ready(&r);
    kit_buffer(&r.kit, 1024, 0);
    emit(&r.kit, ISA_OP_MOV_64, D(RD(0)), S(param64(&r.kit, 0)));
    ld32(&r.kit, R(4), RD(0), ISA_GLOBAL);
    exit_(&r.kit);
    r.machine.l1.flush = true;
    uint64_t first = rig_run(&r, 3, 32), again = rig_run(&r, 3, 32);
    assert_true(again + 90 < first); /* hits */
    sm_kernel_end(r.sm, r.now);
    while (!sm_idle(r.sm)) rig_cycle(&r);
    assert_int_equal(rig_run(&r, 3, 32), first);
    assert_int_equal(rig_stats(&r)->ctas, 9);
    rig_close(&r);
}

/* ---- whole programs ---- */

static void sleeping_changes_no_statistic(void **state)
{
    (void)state;
    for (int collectors = 0; collectors < 2; collectors++) {
        struct sm_stats s[2];
        struct l1_stats l1[2];
        uint64_t ticks[2];
        for (int no_skip = 0; no_skip < 2; no_skip++) {
            struct rig r;
            rig_open(&r);
            r.latency = 300;
            r.machine.sm.perfect_icache = false;
            r.machine.sm.operand_collector = collectors;
            rig_make(&r);
            r.no_skip = no_skip;
            run_mixed(&r);
            s[no_skip] = *rig_stats(&r);
            l1[no_skip] = *(struct l1_stats *)sm_l1_stats(r.sm);
            ticks[no_skip] = r.ticks;
            rig_close(&r);
        }
        assert_memory_equal(&s[0], &s[1], sizeof s[0]);
        assert_memory_equal(&l1[0], &l1[1], sizeof l1[0]);
        assert_true(ticks[0] < ticks[1]);
    }
}

static void everything_at_depth_one_finishes_with_the_right_answer(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r);
    struct sm_params *p = &r.machine.sm;
    p->perfect_icache = false;
    p->schedulers = p->issue_width = p->fetch_width = p->ibuffer = 1;
    p->icache_mshrs = p->icache_merges = p->const_mshrs = p->const_merges = 1;
    p->sp_collectors = p->sfu_collectors = p->mem_collectors = p->register_banks = 1;
    p->sp_units = p->sfu_units = p->mem_width = p->result_buses = 1;
    p->simd_width = 1;
    p->lsu_queue = p->lsu_requests = p->lsu_pending = 1;
    r.machine.l1.mshrs = r.machine.l1.merges = r.machine.l1.miss_queue = 1;
    rig_make(&r);
    run_mixed(&r);
    rig_close(&r);
}

static void wide_machines_finish_with_the_right_answer(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r);
    struct sm_params *p = &r.machine.sm;
    p->schedulers = 4;
    p->issue_width = 2;
    p->int_units = 4, p->dp_units = 4, p->sp_units = 4, p->sfu_units = 4, p->result_buses = 8;
    p->gen_collectors = 8, p->sp_collectors = 0, p->sfu_collectors = 0, p->mem_collectors = 0;
    p->bank_by_warp = true;
    p->lsu_ports = p->lsu_replies = p->lsu_writebacks = 4;
    r.machine.l1.ports = 4;
    r.machine.sm_warps = 64;
    r.machine.sm_threads = 2048;
    rig_make(&r);
    run_mixed(&r);
    assert_true(rig_stats(&r)->extra_issues > 0);
    rig_close(&r);
}

/* What a memory of endless latency owes comes at once. */
static void answer_all(struct rig *r)
{
    r->latency = 1;
    while (!sm_idle(r->sm)) {
        r->replies[r->reply_head].due = 0;
        rig_cycle(r);
    }
}

static void an_sm_says_which_warp_waits_for_what(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r);
    r.latency = 100000;
    rig_make(&r);
    kit_buffer(&r.kit, 64, 0);
    emit(&r.kit, ISA_OP_MOV_64, D(RD(0)), S(param64(&r.kit, 0)));
    ld32(&r.kit, R(7), RD(0), ISA_GLOBAL);
    emit(&r.kit, ISA_OP_ADD_32, D(R(8)), S(R(7), R(7)));
    exit_(&r.kit);
    struct emu_grid *g = rig_grid(&r, 1, 32);
    assert_true(rig_start_cta(r.sm, 0, g, 0));
    for (uint32_t i = 0; i < 1000; i++) rig_cycle(&r);
    assert_true(*sm_wake(r.sm) > r.now); /* it sleeps */
    struct strbuf text = {0};
    sm_explain(r.sm, r.now, &text);
    assert_non_null(strstr(strbuf_text(&text), "warp 0 (CTA 0, warp 0 of it, pc 2) waits for R7 (memory)"));
    strbuf_free(&text);
    answer_all(&r);
    emu_grid_close(g, NULL);
    rig_close(&r);
}

/* Eight warps load 32 lines each; the L1 has one MSHR, so one access is taken and 31 of the first load
 * wait. */
static void assert_queue_of_scattered_loads(uint32_t requests, const char *expected)
{
    struct rig r;
    rig_open(&r);
    r.latency = 100000;
    r.machine.sm.lsu_requests = requests;
    r.machine.l1.mshrs = 1;
    rig_make(&r);
    kit_buffer(&r.kit, 32 * 32, 0);
    s2r(&r.kit, R(2), ISA_SREG_LANEID, 0);
    index_word(&r.kit, RD(0), param64(&r.kit, 0), R(2), 128);
    ld32(&r.kit, R(8), RD(0), ISA_GLOBAL);
    exit_(&r.kit);
    struct emu_grid *g = rig_grid(&r, 1, 256);
    assert_true(rig_start_cta(r.sm, 0, g, 0));
    for (uint32_t i = 0; i < 1000; i++) rig_cycle(&r);
    struct strbuf text = {0};
    sm_explain(r.sm, r.now, &text);
    if (!strstr(strbuf_text(&text), expected)) fail_msg("%s", strbuf_text(&text));
    strbuf_free(&text);
    answer_all(&r);
    emu_grid_close(g, NULL);
    rig_close(&r);
}

static void pending_requests_keep_instructions_out_of_the_load_store_unit(void **state)
{
    (void)state;
    assert_queue_of_scattered_loads(0, "load-store queue 8 of 10 with 255 accesses");
    assert_queue_of_scattered_loads(31, "load-store queue 1 of 10 with 31 accesses");
    assert_queue_of_scattered_loads(32, "load-store queue 2 of 10 with 63 accesses");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_fmas_runs_at_the_latency_of_the_pipeline),
        cmocka_unit_test(without_forwarding_a_chain_waits_for_collector_and_writeback),
        cmocka_unit_test(registers_of_one_bank_are_read_one_after_the_other),
        cmocka_unit_test(independent_fmas_issue_at_the_width_of_the_schedulers),
        cmocka_unit_test(a_unit_takes_an_operation_each_initiation_interval),
        cmocka_unit_test(a_branch_that_is_taken_empties_the_instruction_buffer),
        cmocka_unit_test(warps_wait_at_a_barrier_for_the_last_one),
        cmocka_unit_test(a_fault_of_the_program_stops_the_sm),
        cmocka_unit_test(a_kernel_begins_with_empty_caches_after_the_end_of_another),
        cmocka_unit_test(sleeping_changes_no_statistic),
        cmocka_unit_test(everything_at_depth_one_finishes_with_the_right_answer),
        cmocka_unit_test(wide_machines_finish_with_the_right_answer),
        cmocka_unit_test(an_sm_says_which_warp_waits_for_what),
        cmocka_unit_test(pending_requests_keep_instructions_out_of_the_load_store_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
