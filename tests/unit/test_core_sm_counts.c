/* What an SM counts, in numbers worked out by hand: instructions, occupancy, registers, fetches, and the
 * cause that an issue slot is charged to where there are several. */
#include "sm_rig.h"

#include "core/occupancy.h"
#include "core/sm/sm_impl.h"

/* ---- instructions ---- */

/* 40 threads: a warp of 32 lanes and one of 8. Ten lanes of the first one take the branch. */
static void lanes_that_execute_an_instruction_are_counted_and_no_others(void **state)
{
    struct rig r;
    rig_ready(&r);
    s2r(&r.kit, R(2), ISA_SREG_TID, 0);
    setp(&r.kit, ISA_LT, 0, R(2), imm(&r.kit, 10));
    const uint32_t branch = bra(&r.kit, 0, 0, 0);
    emit(&r.kit, ISA_OP_ADD_32, D(R(3)), S(R(2), R(2)));
    patch(&r.kit, branch, here(&r.kit), here(&r.kit));
    emit(&r.kit, ISA_OP_ADD_32, D(R(3)), S(R(3), R(2)))->flags |= ISA_JOIN;
    emit(&r.kit, ISA_OP_ADD_32, D(R(3)), S(R(3), R(2)))->guard = 0;
    exit_(&r.kit);
    rig_run(&r, 1, 40);
    assert_int_equal(rig_stats(&r)->warp_insts, 2 * 7);
    assert_int_equal(rig_stats(&r)->thread_insts,
                     /* read, compare, branch, add, joined, guarded, exit */
                     32 + 32 + 10 + 22 + 32 + 10 + 32 + 8 + 8 + 0 + 8 + 8 + 0 + 8);
    rig_close(&r);
}

/* ---- occupancy ---- */

/* Warps of a CTA end one after the other: warp n of a CTA makes n + 1 rounds. */
static void uneven_program(struct kit *k)
{
    s2r(k, R(3), ISA_SREG_WARPID, 0);
    const uint32_t loop = here(k);
    emit(k, ISA_OP_ADD_32, D(R(4)), S(R(4), imm(k, 1)));
    setp(k, ISA_LE, 0, R(4), R(3));
    bra(k, 0, loop, ISA_NO_RECONV);
    exit_(k);
}

/* Counted here cycle by cycle; the SM counts when the number changes. A CTA begins after its cycle. */
static void occupancy_is_the_warps_of_each_cycle(void **state)
{
    enum { CTAS = 5 };
    struct rig r;
    rig_open(&r);
    r.machine.sm_ctas = 2;
    rig_make(&r);
    uneven_program(&r.kit);
    struct emu_grid *g = rig_grid(&r, CTAS, 96);
    uint64_t warps = 0, most = 0, next = 0;
    while (r.ctas_done < CTAS) {
        sm_tick(r.sm, r.now);
        warps += r.sm->state.warp_count;
        most = MAX(most, r.sm->state.warp_count);
        if (next < CTAS && sm_fits(r.sm, g)) assert_true(sm_start_cta(r.sm, r.now, g, next++, 0));
        rig_cycle(&r);
    }
    sm_settle(r.sm, r.now);
    assert_int_equal(most, 6);
    assert_int_equal(rig_stats(&r)->warp_cycles, warps);
    assert_int_equal(rig_stats(&r)->warp_slot_cycles, rig_stats(&r)->active_cycles * r.machine.sm_warps);
    emu_grid_close(g, NULL);
    rig_close(&r);
}

/* The CUDA Occupancy Calculator's rules by hand. Compute capability 2.0: 32768 registers in units of 64 a
 * warp, 16384 for each of two halves; 48 warps, 8 CTAs; shared memory in units of 128 bytes, of 48 KB.
 * Compute capability 5.2: 65536 registers in units of 256, 16384 for each quarter; 64 warps, 32 CTAs; shared
 * memory in units of 256 bytes, of 96 KB.
 * GPGPU-Sim 3.2.2 on the same SMs: registers of a thread rounded up to 4, all of them in one file; shared
 * memory by the byte. */
enum occupancy_rules { CC20, CC52, CC20_SIM, CC52_SIM };
static const struct occupancy_case {
    enum occupancy_rules rules;
    uint32_t regs, threads, shared, registers, ctas;
} occupancy_cases[] = {
    {CC20, 16, 256, 0, 8 * 512, 6},      /* 48 warps */
    {CC20, 32, 256, 0, 8 * 1024, 4},     /* 32 warps: 16 in each half */
    {CC20, 63, 192, 0, 6 * 2048, 2},     /* 63 * 32 = 2016, a multiple of 32 only: 2048; 16 warps */
    {CC20, 20, 1024, 0, 32 * 640, 1},    /* 25 warps in each half: 50 */
    {CC20, 8, 32, 0, 256, 8},            /* CTA slots */
    {CC20, 8, 64, 9000, 2 * 256, 5},     /* 9088 bytes of 49152 */
    {CC20, 8, 64, 9830, 2 * 256, 4},     /* 9856 bytes of 49152 */
    {CC20, 40, 96, 3000, 3 * 1280, 8},   /* 12 warps in each half: 24 */
    {CC20, 21, 160, 100, 5 * 704, 8},    /* 21 * 32 = 672: 704; 23 warps in each half: 46 */
    {CC20, 40, 160, 0, 5 * 1280, 4},     /* 24 warps; 25 if the halves were one: 5 CTAs */
    {CC20, 41, 96, 0, 3 * 1344, 8},      /* 12 warps in each half: 24 */
    {CC52, 40, 64, 0, 2 * 1280, 24},     /* 12 warps in each quarter: 48; 51 if they were one: 25 CTAs */
    {CC52, 21, 96, 0, 3 * 768, 21},      /* 672: 768; 21 warps in each quarter: 84, but 64 warps */
    {CC52, 33, 32, 0, 1280, 32},         /* 1056: 1280 */
    {CC52, 72, 224, 0, 7 * 2304, 4},     /* 7 warps in each quarter: 28 */
    {CC52, 8, 32, 5000, 256, 19},        /* 5120 bytes of 98304 */
    {CC20_SIM, 40, 160, 0, 5 * 1280, 5}, /* 32768 / (160 * 40) = 5.1 */
    {CC20_SIM, 41, 96, 0, 3 * 1408, 7},  /* 32768 / (96 * 44) = 7.8 */
    {CC20_SIM, 63, 192, 0, 6 * 2048, 2}, /* 32768 / (192 * 64) = 2.7 */
    {CC20_SIM, 50, 65, 0, 3 * 1664, 6},  /* 96 threads: 32768 / (96 * 52) = 6.6 */
    {CC20_SIM, 8, 64, 9830, 512, 5},     /* 49152 / 9830 = 5.0002 */
    {CC52_SIM, 40, 64, 0, 2 * 1280, 25}, /* 65536 / (64 * 40) = 25.6 */
    {CC52_SIM, 33, 32, 0, 1152, 32},     /* CTA slots; 65536 / (32 * 36) = 56.9 */
    {CC52_SIM, 62, 192, 0, 6 * 2048, 5}, /* 65536 / (192 * 64) = 5.3 */
    {CC52_SIM, 26, 256, 0, 8 * 896, 8},  /* 64 warps; 65536 / (256 * 28) = 9.1 */
};

static void occupancy_machine(struct machine *m, enum occupancy_rules rules)
{
    const bool is_fermi = rules == CC20 || rules == CC20_SIM, is_sim = rules == CC20_SIM || rules == CC52_SIM;
    m->sm_registers = is_fermi ? 32768 : 65536;
    m->sm_register_unit = is_sim ? 128 : is_fermi ? 64 : 256;
    m->sm_register_partitions = is_sim ? 1 : is_fermi ? 2 : 4;
    m->sm_warps = is_fermi ? 48 : 64;
    m->sm_threads = is_fermi ? 1536 : 2048;
    m->sm_ctas = is_fermi ? 8 : 32;
    m->sm_shared_bytes = is_fermi ? 48 << 10 : 96 << 10;
    m->sm_shared_unit = is_sim ? 1 : is_fermi ? 128 : 256;
    m->sm.schedulers = is_fermi ? 2 : 4;
}

static void residency_equals_the_published_rules_of_occupancy(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(occupancy_cases); i++) {
        const struct occupancy_case *c = &occupancy_cases[i];
        struct rig r;
        rig_open(&r);
        occupancy_machine(&r.machine, c->rules);
        rig_make(&r);
        r.kit.proto.reg_count = c->regs;
        r.kit.proto.shared_bytes = c->shared;
        exit_(&r.kit);
        const struct isa_kernel *k = kit_load(&r.kit);
        assert_int_equal(occupancy_ctas(&r.machine, k, c->threads, c->shared), c->ctas);
        struct emu_grid *g = rig_grid(&r, 100, c->threads);
        uint64_t n = 0;
        for (; sm_fits(r.sm, g); n++) {
            assert_true(rig_start_cta(r.sm, 0, g, n));
            assert_int_equal(sm_registers_used(r.sm), (n + 1) * c->registers);
        }
        assert_int_equal(n, c->ctas);
        assert_int_equal(sm_ctas(r.sm), n);
        while (!sm_idle(r.sm)) rig_cycle(&r);
        assert_int_equal(sm_registers_used(r.sm), 0);
        assert_int_equal(rig_stats(&r)->ctas, n);
        emu_grid_close(g, NULL);
        rig_close(&r);
    }
}

/* ---- fetch ---- */

/* A branch to instruction `target`; the last one is `last`. Lines of 128 bytes hold 16 instructions. */
static uint64_t fetches_from(uint32_t target, uint32_t last)
{
    struct rig r;
    rig_open(&r);
    r.machine.sm.perfect_icache = false;
    r.machine.sm.icache_line = 128;
    r.machine.sm.fetch_width = r.machine.sm.ibuffer = 2;
    rig_make(&r);
    bra(&r.kit, ISA_PT, target, ISA_NO_RECONV);
    while (here(&r.kit) < last) emit(&r.kit, ISA_OP_NOP, D(NO), S(NO));
    exit_(&r.kit);
    rig_run(&r, 1, 32); /* with misses */
    const uint64_t cold = rig_stats(&r)->fetches, misses = rig_stats(&r)->icache_misses;
    rig_run(&r, 1, 32);
    assert_int_equal(rig_stats(&r)->icache_misses, misses);
    const uint64_t warm = rig_stats(&r)->fetches - cold;
    assert_int_equal(cold, warm + misses); /* a fetch that missed is made again */
    rig_close(&r);
    return warm;
}

static void a_fetch_ends_with_its_line(void **state)
{
    assert_int_equal(fetches_from(15, 20), 5); /* 0 and 1; 15; 16 and 17; 18 and 19; 20 */
    assert_int_equal(fetches_from(14, 20), 5); /* 0 and 1; 14 and 15; 16 and 17; 18 and 19; 20 */
    assert_int_equal(fetches_from(13, 20), 6); /* 0 and 1; 13 and 14; 15; 16 and 17; 18 and 19; 20 */
}

/* ---- loads ---- */

/* Requests that two loads of one word make, the second one after the first is back. */
static uint64_t requests_of_two_loads(uint8_t cache_operator, uint8_t flags)
{
    struct rig r;
    rig_ready(&r);
    kit_buffer(&r.kit, 64, 0);
    emit(&r.kit, ISA_OP_MOV_64, D(RD(0)), S(param64(&r.kit, 0)));
    for (uint32_t i = 0; i < 2; i++) {
        struct isa_inst *load = ld32(&r.kit, R(4), RD(0), ISA_GLOBAL);
        load->mod2 = cache_operator;
        load->flags = flags;
        emit(&r.kit, ISA_OP_ADD_32, D(R(5)), S(R(4), R(4))); /* waits */
    }
    exit_(&r.kit);
    rig_run(&r, 1, 32);
    const uint64_t requests = r.requests[REQ_GLOBAL];
    rig_close(&r);
    return requests;
}

static void loads_that_name_the_l2_are_not_cached_in_the_l1(void **state)
{
    assert_int_equal(requests_of_two_loads(ISA_CA, 0), 1);
    assert_int_equal(requests_of_two_loads(ISA_CG, 0), 2);
    assert_int_equal(requests_of_two_loads(ISA_CV, 0), 2);
    assert_int_equal(requests_of_two_loads(ISA_CA, ISA_VOLATILE), 2);
}

/* ---- causes ---- */

/* Of two warps, 1 and 2 as bits. */
struct cause_case {
    enum issue_slot cause;
    uint64_t resident, done, held, asleep, buffered, hazard, hazard_mem, memory, free, ready;
};

static const struct cause_case cause_cases[] = {
    {.cause = SLOT_IDLE},
    {.cause = SLOT_HELD, .resident = 3, .buffered = 3, .free = 1, .ready = 1, .hazard = 2, .hazard_mem = 2},
    {.cause = SLOT_HELD, .resident = 3, .buffered = 3, .free = 3, .ready = 1, .memory = 2},
    {.cause = SLOT_STR_MEM, .resident = 3, .buffered = 3, .free = 3, .memory = 2},
    {.cause = SLOT_STR_MEM,
     .resident = 3,
     .buffered = 3,
     .free = 1,
     .memory = 1,
     .hazard = 2,
     .hazard_mem = 2},
    {.cause = SLOT_STR_ALU, .resident = 3, .buffered = 3, .free = 1, .hazard = 2, .hazard_mem = 2},
    {.cause = SLOT_STR_ALU, .resident = 3, .buffered = 3, .free = 1},
    {.cause = SLOT_HELD, .resident = 3, .buffered = 3, .hazard = 2, .hazard_mem = 2},
    {.cause = SLOT_DATA_MEM, .resident = 3, .buffered = 3, .hazard = 3, .hazard_mem = 2},
    {.cause = SLOT_DATA_MEM, .resident = 3, .buffered = 1, .hazard = 1, .hazard_mem = 1},
    {.cause = SLOT_DATA_ALU, .resident = 3, .buffered = 1, .hazard = 1},
    {.cause = SLOT_DATA_ALU, .resident = 3, .done = 1},
    {.cause = SLOT_FETCH, .resident = 3, .held = 1},
    {.cause = SLOT_FETCH, .resident = 3, .hazard = 3, .hazard_mem = 3},
    {.cause = SLOT_BARRIER, .resident = 3, .held = 1, .asleep = 2},
};

static void a_slot_with_several_causes_is_charged_to_the_first(void **state)
{
    struct rig r;
    rig_open(&r);
    r.machine.sm.schedulers = 1;
    rig_make(&r);
    exit_(&r.kit);
    struct emu_grid *g = rig_grid(&r, 1, 64);
    assert_true(rig_start_cta(r.sm, 0, g, 0)); /* two contexts */
    struct bank *b = &r.sm->banks[0];
    const struct bank kept = *b;
    for (size_t i = 0; i < ARRAY_LEN(cause_cases); i++) {
        const struct cause_case *c = &cause_cases[i];
        b->warp.resident = c->resident, b->warp.done = c->done;
        b->warp.held = c->held, b->warp.asleep = c->asleep;
        b->fetch.buffered = c->buffered;
        b->board.hazard = c->hazard, b->board.hazard_mem = c->hazard_mem;
        b->next.cls[CLASS_MEM] = c->memory;
        const struct chances chances = {.bank = b,
                                        .has_instruction =
                                            c->resident & c->buffered & ~(c->done | c->held | c->asleep),
                                        .free = c->free,
                                        .ready = c->ready};
        const enum issue_slot cause = account_cause(r.sm, 0, &chances);
        if (cause != c->cause) fail_msg("row %zu: charged to %d, not to %d", i, (int)cause, (int)c->cause);
    }
    *b = kept;
    while (!sm_idle(r.sm)) rig_cycle(&r);
    emu_grid_close(g, NULL);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_that_execute_an_instruction_are_counted_and_no_others),
        cmocka_unit_test(occupancy_is_the_warps_of_each_cycle),
        cmocka_unit_test(residency_equals_the_published_rules_of_occupancy),
        cmocka_unit_test(a_fetch_ends_with_its_line),
        cmocka_unit_test(loads_that_name_the_l2_are_not_cached_in_the_l1),
        cmocka_unit_test(a_slot_with_several_causes_is_charged_to_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
