/* One SM and memory: loads, coalescing, shared memory, atomics, fences, the read-only caches. */
#include "sm_rig.h"

/* A chain of dependent loads through a table of pointers. */
static uint64_t pointer_chase(uint32_t latency, uint32_t loads, struct sm_stats *stats)
{
    struct rig r;
    rig_open(&r);
    r.latency = latency;
    rig_make(&r);
    uint32_t *words = kit_buffer(&r.kit, 64 * 32 * 2, 0);
    for (uint32_t i = 0; i < 63; i++) {
        uint64_t next = (uint64_t)(uintptr_t)(words + (i + 1) * 32);
        memcpy(words + i * 32, &next, 8);
    }
    emit(&r.kit, ISA_OP_MOV_64, D(RD(0)), S(param64(&r.kit, 0)));
    for (uint32_t i = 0; i < loads; i++) emit(&r.kit, ISA_OP_LD_64, D(RD(0)), S(RD(0)))->mod = ISA_GLOBAL;
    exit_(&r.kit);
    uint64_t cycles = rig_run(&r, 1, 1);
    *stats = *rig_stats(&r);
    rig_close(&r);
    return cycles;
}

static void a_load_takes_what_memory_takes_and_the_stages_around_it(void **state)
{
    (void)state;
    struct sm_stats s;
    uint64_t at100 = pointer_chase(100, 20, &s) - pointer_chase(100, 10, &s);
    uint64_t at250 = pointer_chase(250, 20, &s) - pointer_chase(250, 10, &s);
    assert_int_equal(at250 - at100, 10 * 150);
    assert_int_equal(s.loads, 10);
    assert_int_equal(s.transactions, 10);
    assert_true(s.slots[SLOT_DATA_MEM] >= 10 * 250);
    assert_int_equal(s.loads_done, 10);
    assert_true(s.load_cycles >= 10 * 250 && s.load_cycles < 10 * 280);
}

/* Sixteen lines, of which the first hits: memory takes longer than that, so that the hit ends nothing. */
static uint64_t one_hit_of_many(bool no_skip, struct sm_stats *s)
{
    struct rig r;
    rig_open(&r);
    r.no_skip = no_skip;
    r.latency = 300;
    r.machine.l1.latency = 80;
    rig_make(&r);
    kit_buffer(&r.kit, 32 * 32 * 8, 0);
    s2r(&r.kit, R(2), ISA_SREG_TID, 0);
    emit(&r.kit, ISA_OP_MOV_64, D(RD(0)), S(param64(&r.kit, 0)));
    ld32(&r.kit, R(4), RD(0), ISA_GLOBAL);
    emit(&r.kit, ISA_OP_ADD_32, D(R(2)), S(R(2), R(4))); /* it was 0 */
    index_word(&r.kit, RD(2), param64(&r.kit, 0), R(2), 64);
    ld32(&r.kit, R(5), RD(2), ISA_GLOBAL);
    exit_(&r.kit);
    struct emu_grid *g = rig_grid(&r, 1, 32);
    assert_true(rig_start_cta(r.sm, r.now, g, 0));
    while (r.requests[REQ_GLOBAL] < 16) rig_cycle(&r);
    if (!no_skip) assert_true(*sm_wake(r.sm) == TICK_NEVER); /* for replies alone */
    while (!sm_idle(r.sm)) rig_cycle(&r);
    *s = *rig_stats(&r);
    assert_int_equal(((struct l1_stats *)sm_l1_stats(r.sm))->hits[L1_GLOBAL_LOAD], 1);
    uint64_t cycles = r.now / RIG_PERIOD;
    emu_grid_close(g, NULL);
    rig_close(&r);
    return cycles;
}

static void a_hit_that_ends_no_load_wakes_nobody(void **state)
{
    (void)state;
    struct sm_stats slept, awake;
    assert_int_equal(one_hit_of_many(false, &slept), one_hit_of_many(true, &awake));
    assert_int_equal(slept.load_cycles, awake.load_cycles);
    assert_int_equal(slept.loads_done, 2);
}

static void loads_of(uint32_t stride_words, struct sm_stats *s, struct pc_load_stats *pc)
{
    struct rig r;
    rig_ready(&r);
    kit_buffer(&r.kit, 32 * 32 * 8, 0);
    s2r(&r.kit, R(2), ISA_SREG_TID, 0);
    index_word(&r.kit, RD(0), param64(&r.kit, 0), R(2), 4 * stride_words);
    uint32_t at = here(&r.kit);
    ld32(&r.kit, R(4), RD(0), ISA_GLOBAL);
    exit_(&r.kit);
    struct emu_grid *g = rig_grid(&r, 1, 128);
    assert_true(rig_start_cta(r.sm, r.now, g, 0));
    while (!sm_idle(r.sm)) rig_cycle(&r);
    *s = *rig_stats(&r);
    *pc = *sm_pc_load(r.sm, g, at);
    emu_grid_close(g, NULL);
    rig_close(&r);
}

/* A grid may lie in memory where an older one was (after a few rounds malloc gives the same address at once);
 * what the SM kept of the older one is not its own. */
static void a_grid_has_only_its_own_loads(void **state)
{
    (void)state;
    struct rig r;
    rig_ready(&r);
    kit_buffer(&r.kit, 32, 0);
    emit(&r.kit, ISA_OP_MOV_64, D(RD(0)), S(param64(&r.kit, 0)));
    ld32(&r.kit, R(4), RD(0), ISA_GLOBAL);
    exit_(&r.kit);
    for (int turn = 0; turn < 16; turn++) {
        rig_run(&r, 1, 32);
        sm_kernel_end(r.sm, r.now);
        struct emu_grid *g = rig_grid(&r, 1, 32);
        assert_null(sm_pc_load(r.sm, g, 1));
        emu_grid_close(g, NULL);
    }
    rig_close(&r);
}

/* Two loads of one line, one after the other, and a store: once for each of two kernels. */
static void mechanisms_are_told_what_happened_since_the_kernel_began(void **state)
{
    (void)state;
    struct rig r;
    rig_ready(&r);
    uint32_t *words = kit_buffer(&r.kit, 32, 0);
    uint64_t self = (uint64_t)(uintptr_t)words;
    memcpy(words, &self, sizeof self);
    emit(&r.kit, ISA_OP_MOV_64, D(RD(0)), S(param64(&r.kit, 0)));
    for (int i = 0; i < 2; i++) emit(&r.kit, ISA_OP_LD_64, D(RD(0)), S(RD(0)))->mod = ISA_GLOBAL;
    emit(&r.kit, ISA_OP_ST_64, D(NO), S(RD(0), RD(0)))->mod = ISA_GLOBAL;
    exit_(&r.kit);
    for (int kernel = 0; kernel < 2; kernel++) {
        uint64_t insts = rig_stats(&r)->warp_insts;
        rig_run(&r, 1, 1);
        const struct mech_counters *c = sm_mech_counters(r.sm);
        assert_int_equal(c->issued, rig_stats(&r)->warp_insts - insts);
        assert_int_equal(c->loads, 2);
        assert_int_equal(c->l1_accesses, 3);
        assert_int_equal(c->l1_misses, 1); /* the L1 is flushed at the end of a kernel */
        assert_int_equal(c->l1_hits, 1);
        assert_int_equal(c->l1_intra_warp_hits, 1);
        assert_int_equal(c->misses_done, 1);
        assert_true(c->miss_latency_sum >= 100 && c->miss_latency_sum < 130);
        assert_true(c->cycles > 100 && c->cycles < 1000);
        sm_kernel_end(r.sm, r.now);
    }
    rig_close(&r);
}

static void a_coalesced_load_makes_one_transaction_and_a_scattered_one_32(void **state)
{
    (void)state;
    struct sm_stats s;
    struct pc_load_stats pc;
    loads_of(1, &s, &pc);
    assert_int_equal(s.transactions, 4);
    assert_int_equal(pc.executions, 4);
    assert_int_equal(pc.lines, 4);
    assert_int_equal(pc.misses, 4);
    assert_int_equal(pc.strides, 3);
    assert_int_equal(pc.stride.at[0].value, 128);
    assert_int_equal(pc.stride.at[0].count, 3);
    loads_of(32, &s, &pc);
    assert_int_equal(s.transactions, 4 * 32);
    assert_int_equal(pc.lines, 4 * 32);
    assert_int_equal(s.loads, 4);
}

static void a_full_load_store_unit_is_charged_to_str_mem(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r);
    r.machine.l1.mshrs = 2;
    rig_make(&r);
    kit_buffer(&r.kit, 32 * 32 * 32, 0);
    s2r(&r.kit, R(2), ISA_SREG_TID, 0);
    index_word(&r.kit, RD(0), param64(&r.kit, 0), R(2), 128);
    for (uint32_t i = 0; i < 8; i++) ld32(&r.kit, R(4 + i), RD(0), ISA_GLOBAL);
    exit_(&r.kit);
    rig_run(&r, 1, 512);
    struct sm_stats *s = rig_stats(&r);
    assert_true(s->slots[SLOT_STR_MEM] > s->slots[SLOT_DATA_MEM]);
    assert_true(((struct l1_stats *)sm_l1_stats(r.sm))->stall_mshr > 1000);
    assert_true(r.ticks * 2 < s->cycles); /* and slept through */
    rig_close(&r);
}

static void shared_memory_takes_a_pass_for_each_conflicting_word(void **state)
{
    (void)state;
    for (uint32_t ways = 1; ways <= 32; ways *= 2) {
        struct rig r;
        rig_ready(&r);
        r.kit.proto.shared_bytes = 32 * 32 * 4;
        s2r(&r.kit, R(2), ISA_SREG_TID, 0);
        emit(&r.kit, ISA_OP_MUL_LO_32, D(R(0)), S(R(2), imm(&r.kit, 4 * ways)));
        ld32(&r.kit, R(4), R(0), ISA_SHARED)->flags |= ISA_A32;
        exit_(&r.kit);
        rig_run(&r, 1, 32);
        assert_int_equal(rig_stats(&r)->shared_conflict_cycles, ways - 1);
        assert_int_equal(rig_stats(&r)->transactions, 0);
        rig_close(&r);
    }
}

static void atomics_take_effect_at_memory_and_return_what_was_there(void **state)
{
    (void)state;
    struct rig r;
    rig_ready(&r);
    uint32_t *word = kit_buffer(&r.kit, 64, 0), *old = kit_buffer(&r.kit, 1024, 2);
    struct isa_inst *a = emit(&r.kit, ISA_OP_ATOM_32, D(R(6)), S(param64(&r.kit, 0), imm(&r.kit, 1)));
    a->mod = ISA_GLOBAL, a->mod2 = ISA_ATOM_ADD, a->type = ISA_U32;
    struct isa_inst *red = emit(&r.kit, ISA_OP_ATOM_32, D(NO), S(param64(&r.kit, 0), imm(&r.kit, 1000)));
    red->mod = ISA_GLOBAL, red->mod2 = ISA_ATOM_ADD, red->type = ISA_U32, red->imm = 128;
    s2r(&r.kit, R(2), ISA_SREG_TID, 0);
    index_word(&r.kit, RD(0), param64(&r.kit, 2), R(2), 4);
    st32(&r.kit, RD(0), R(6), ISA_GLOBAL);
    exit_(&r.kit);
    rig_run(&r, 1, 256);
    assert_int_equal(word[0], 256);
    assert_int_equal(word[32], 256000);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 256; i++) sum += old[i];
    assert_int_equal(sum, 255 * 256 / 2);
    assert_int_equal(r.kinds[REQ_ATOMIC], 16);
    assert_int_equal(rig_stats(&r)->atomics, 16);
    rig_close(&r);
}

static void a_fence_waits_for_the_stores_before_it(void **state)
{
    (void)state;
    uint64_t cycles[2];
    for (uint32_t fence = 0; fence < 2; fence++) {
        struct rig r;
        rig_open(&r);
        r.latency = 500;
        rig_make(&r);
        kit_buffer(&r.kit, 64, 0);
        emit(&r.kit, ISA_OP_MOV_64, D(RD(0)), S(param64(&r.kit, 0)));
        for (uint32_t i = 0; i < 4; i++) {
            st32(&r.kit, RD(0), R(5), ISA_GLOBAL);
            if (fence) emit(&r.kit, ISA_OP_MEMBAR, D(NO), S(NO))->mod = ISA_SCOPE_GPU;
        }
        exit_(&r.kit);
        cycles[fence] = rig_run(&r, 1, 32);
        rig_close(&r);
    }
    assert_true(cycles[1] >= cycles[0] + 3 * 500 && cycles[1] < cycles[0] + 3 * 530);
}

static void local_memory_is_interleaved_so_that_a_warp_shares_lines(void **state)
{
    (void)state;
    struct rig r;
    rig_ready(&r);
    uint32_t *out = kit_buffer(&r.kit, 64, 0);
    r.kit.proto.frame_bytes = 64;
    s2r(&r.kit, R(2), ISA_SREG_TID, 0);
    emit(&r.kit, ISA_OP_MOV_32, D(R(3)), S(imm(&r.kit, 8)));
    st32(&r.kit, R(3), R(2), ISA_LOCAL)->flags |= ISA_A32;
    ld32(&r.kit, R(5), R(3), ISA_LOCAL)->flags |= ISA_A32;
    index_word(&r.kit, RD(0), param64(&r.kit, 0), R(2), 4);
    st32(&r.kit, RD(0), R(5), ISA_GLOBAL);
    exit_(&r.kit);
    rig_run(&r, 1, 32);
    assert_int_equal(rig_stats(&r)->transactions, 3); /* one line each */
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], i);
    rig_close(&r);
}

static void a_wait_for_copies_lets_the_newest_groups_run(void **state)
{
    (void)state;
    uint64_t cycles[2];
    for (int allowed = 0; allowed < 2;
         allowed++) { /* the copy of the second group may be outstanding, or not */
        struct rig r;
        rig_open(&r);
        r.latency = 4000;
        rig_make(&r);
        kit_buffer(&r.kit, 1024, 0);
        r.kit.proto.shared_bytes = 1024;
        emit(&r.kit, ISA_OP_MOV_64, D(RD(0)), S(param64(&r.kit, 0)));
        for (uint32_t i = 0; i < 2; i++) {
            struct isa_inst *c = emit(&r.kit, ISA_OP_CPASYNC, D(NO), S(imm(&r.kit, 0), RD(0), NO));
            c->flags |= ISA_A32, c->vec = 4, c->target = 128 * i;
            emit(&r.kit, ISA_OP_CPASYNC_COMMIT, D(NO), S(NO));
            for (uint32_t n = 0; n < 10; n++) emit(&r.kit, ISA_OP_DIV_U32, D(R(4)), S(R(4), R(4)));
        }
        emit(&r.kit, ISA_OP_CPASYNC_WAIT, D(NO), S(NO))->imm = allowed;
        for (uint32_t n = 0; n < 20; n++) emit(&r.kit, ISA_OP_DIV_U32, D(R(4)), S(R(4), R(4)));
        exit_(&r.kit);
        cycles[allowed] = rig_run(&r, 1, 1);
        rig_close(&r);
    }
    /* Nine divisions pass between the copies (the tenth is under way), and both are under way when the wait
     * is reached. */
    assert_in_range(cycles[0] - cycles[1], 9 * 145 - 20, 9 * 145 + 20);
}

static void constants_are_read_word_by_word_through_their_cache(void **state)
{
    (void)state;
    for (uint32_t words = 1; words <= 32; words *= 32) {
        struct rig r;
        rig_ready(&r);
        kit_buffer(&r.kit, 64, 0);
        s2r(&r.kit, R(2), ISA_SREG_TID, 0);
        index_word(&r.kit, RD(0), param64(&r.kit, 0), R(2), words == 1 ? 0 : 4);
        ld32(&r.kit, R(4), RD(0), ISA_CONST);
        exit_(&r.kit);
        rig_run(&r, 1, 32);
        assert_int_equal(rig_stats(&r)->const_accesses, words);
        assert_int_equal(r.requests[REQ_CONST], words == 1 ? 1 : 2); /* lines of 64 bytes */
        rig_close(&r);
    }
}

static void instruction_misses_are_read_from_memory_and_charged_to_fetch(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r);
    r.machine.sm.perfect_icache = false;
    rig_make(&r);
    for (uint32_t i = 0; i < 63; i++) emit(&r.kit, ISA_OP_NOP, D(NO), S(NO));
    exit_(&r.kit);
    uint64_t cycles = rig_run(&r, 1, 64);
    assert_int_equal(r.requests[REQ_INST], 4); /* 64 instructions of 8 bytes in lines of 128 */
    assert_true(rig_stats(&r)->slots[SLOT_FETCH] > 2 * 4 * 100);
    assert_true(cycles > 4 * 100);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_takes_what_memory_takes_and_the_stages_around_it),
        cmocka_unit_test(a_hit_that_ends_no_load_wakes_nobody),
        cmocka_unit_test(a_grid_has_only_its_own_loads),
        cmocka_unit_test(mechanisms_are_told_what_happened_since_the_kernel_began),
        cmocka_unit_test(a_coalesced_load_makes_one_transaction_and_a_scattered_one_32),
        cmocka_unit_test(a_full_load_store_unit_is_charged_to_str_mem),
        cmocka_unit_test(shared_memory_takes_a_pass_for_each_conflicting_word),
        cmocka_unit_test(atomics_take_effect_at_memory_and_return_what_was_there),
        cmocka_unit_test(a_fence_waits_for_the_stores_before_it),
        cmocka_unit_test(local_memory_is_interleaved_so_that_a_warp_shares_lines),
        cmocka_unit_test(a_wait_for_copies_lets_the_newest_groups_run),
        cmocka_unit_test(constants_are_read_word_by_word_through_their_cache),
        cmocka_unit_test(instruction_misses_are_read_from_memory_and_charged_to_fetch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
