/* What a warp holds belongs to its context, not to its slot; what CTAs hold is theirs alone. */
#include "sm_mixed.h"

#include "base/bitset.h"
#include "base/rng.h"
#include "core/sm/sm_impl.h"

/* ---- contexts that differ from slots ---- */

struct outcome {
    struct sm_stats sm;
    struct l1_stats l1;
    uint64_t ticks;
};

static struct outcome outcome_of(struct rig *r)
{
    return (struct outcome){*rig_stats(r), *(struct l1_stats *)sm_l1_stats(r->sm), r->now};
}

static void the_number_of_a_context_changes_nothing(void **state)
{
    static const char *const policies[] = {"lrr", "gto", "two-level", "pa", "mascar"};
    for (size_t p = 0; p < ARRAY_LEN(policies); p++)
        for (uint32_t warps = 40; warps <= 80; warps += 40) {
            struct outcome o[2];
            for (int from_top = 0; from_top < 2; from_top++) {
                struct rig r;
                rig_open(&r);
                r.latency = 300;
                r.policy = policies[p];
                r.machine.sm_warps = warps;
                r.machine.sm_threads = 4096;
                r.machine.sm_ctas = 16;
                r.machine.sm_registers = 1 << 17;
                r.machine.sm.perfect_icache = false;
                r.machine.sm.bank_by_warp = false; /* registers lie in the context */
                r.contexts_from_top = from_top;
                rig_make(&r);
                run_mixed(&r);
                assert_null(sm_leaks(r.sm, NULL));
                o[from_top] = outcome_of(&r);
                rig_close(&r);
            }
            assert_int_equal(o[0].ticks, o[1].ticks);
            assert_memory_equal(&o[0].sm, &o[1].sm, sizeof o[0].sm);
            assert_memory_equal(&o[0].l1, &o[1].l1, sizeof o[0].l1);
        }
}

static void local_memory_is_right_whatever_the_context(void **state)
{
    enum { CTAS = 24, BLOCK = 96 };
    for (int from_top = 0; from_top < 2; from_top++) {
        struct rig r;
        rig_open(&r);
        r.contexts_from_top = from_top;
        rig_make(&r);
        uint32_t *out = kit_buffer(&r.kit, CTAS * BLOCK, 0);
        r.kit.proto.frame_bytes = 256;
        s2r(&r.kit, R(2), ISA_SREG_TID, 0);
        s2r(&r.kit, R(3), ISA_SREG_CTAID, 0);
        emit(&r.kit, ISA_OP_MAD_LO_32, D(R(4)), S(R(3), imm(&r.kit, BLOCK), R(2)));
        for (uint32_t i = 0; i < 8; i++) {
            emit(&r.kit, ISA_OP_MOV_32, D(R(5)), S(imm(&r.kit, 32 * i)));
            st32(&r.kit, R(5), R(4), ISA_LOCAL)->flags |= ISA_A32;
        }
        for (uint32_t i = 0; i < 8; i++) {
            emit(&r.kit, ISA_OP_MOV_32, D(R(5)), S(imm(&r.kit, 32 * i)));
            ld32(&r.kit, R(6), R(5), ISA_LOCAL)->flags |= ISA_A32;
            emit(&r.kit, ISA_OP_ADD_32, D(R(7)), S(R(7), R(6)));
        }
        index_word(&r.kit, RD(0), param64(&r.kit, 0), R(4), 4);
        st32(&r.kit, RD(0), R(7), ISA_GLOBAL);
        exit_(&r.kit);
        rig_run(&r, CTAS, BLOCK);
        for (uint32_t i = 0; i < CTAS * BLOCK; i++) assert_int_equal(out[i], 8 * i);
        assert_true(((const struct l1_stats *)sm_l1_stats(r.sm))->accesses[L1_LOCAL_LOAD] > 0);
        rig_close(&r);
    }
}

/* An SM whose first warp has the last context and slot 0, with a memory that does not answer yet. */
static struct emu_grid *open_waiting(struct rig *r, bool perfect_icache, void (*program)(struct kit *k))
{
    rig_open(r);
    r->latency = 1000;
    r->contexts_from_top = true;
    r->machine.sm.perfect_icache = perfect_icache;
    rig_make(r);
    kit_buffer(&r->kit, 64, 0);
    program(&r->kit);
    struct emu_grid *g = rig_grid(r, 1, 32);
    assert_true(rig_start_cta(r->sm, 0, g, 0));
    for (uint32_t i = 0; i < 200; i++) rig_cycle(r);
    assert_int_equal(slot_context(&r->sm->state, 0)->id, r->machine.sm_warps - 1);
    assert_ptr_equal(slot_context(&r->sm->state, 0), &r->sm->state.contexts[r->machine.sm_warps - 1]);
    assert_int_equal(slot_context(&r->sm->state, 0)->slot, 0);
    return g;
}

static void close_waiting(struct rig *r, struct emu_grid *g)
{
    while (!sm_idle(r->sm)) rig_cycle(r);
    assert_int_equal(r->ctas_done, 1);
    emu_grid_close(g, NULL);
    rig_close(r);
}

static void load_program(struct kit *k)
{
    emit(k, ISA_OP_MOV_64, D(RD(0)), S(param64(k, 0)));
    ld32(k, R(7), RD(0), ISA_GLOBAL);
    emit(k, ISA_OP_ADD_32, D(R(8)), S(R(7), R(7)));
    exit_(k);
}

static void a_pending_load_finds_its_context(void **state)
{
    struct rig r;
    struct emu_grid *g = open_waiting(&r, true, load_program);
    const struct context *x = slot_context(&r.sm->state, 0);
    assert_int_equal(x->board_memory, 1);
    assert_int_equal(x->board_pending[0].memory, 1u << 7);
    assert_int_equal(r.sm->banks[0].board.hazard_mem, 1);
    while (r.sm->banks[0].board.hazard_mem) rig_cycle(&r);
    assert_int_equal(x->board_memory, 0);
    assert_int_equal(x->board_pending[0].memory, 0);
    close_waiting(&r, g);
}

static void store_program(struct kit *k)
{
    emit(k, ISA_OP_MOV_64, D(RD(0)), S(param64(k, 0)));
    st32(k, RD(0), R(5), ISA_GLOBAL);
    emit(k, ISA_OP_MEMBAR, D(NO), S(NO))->mod = ISA_SCOPE_GPU;
    exit_(k);
}

static void an_unacknowledged_store_finds_its_context(void **state)
{
    struct rig r;
    struct emu_grid *g = open_waiting(&r, true, store_program);
    const uint32_t context = r.machine.sm_warps - 1;
    assert_int_equal(l1_writes_pending(r.sm->l1, context), 1);
    assert_int_equal(l1_writes_pending(r.sm->l1, 0), 0);
    assert_int_equal(r.sm->banks[0].board.fenced, 1);
    while (l1_writes_pending(r.sm->l1, context)) rig_cycle(&r);
    rig_cycle(&r);
    assert_int_equal(r.sm->banks[0].board.fenced, 0);
    close_waiting(&r, g);
}

static void an_instruction_miss_finds_its_context(void **state)
{
    struct rig r;
    struct emu_grid *g = open_waiting(&r, false, load_program);
    assert_int_equal(r.sm->banks[0].fetch.missed, 1);
    assert_int_equal(emu_warp_insts(slot_context(&r.sm->state, 0)->emu), 0);
    while (r.sm->banks[0].fetch.missed) rig_cycle(&r);
    for (uint32_t i = 0; i < 10; i++) rig_cycle(&r);
    assert_true(emu_warp_insts(slot_context(&r.sm->state, 0)->emu) > 0);
    close_waiting(&r, g);
}

static void local_memory_of_different_contexts_and_sms_never_overlaps(void **state)
{
    static const uint32_t counts[] = {1, 15, 132, 1024};
    static uint64_t seen[SM_CONTEXTS_MAX * 1024 / 64];
    for (size_t n = 0; n < ARRAY_LEN(counts); n++) {
        memset(seen, 0, sizeof seen);
        for (uint32_t sm = 0; sm < counts[n]; sm++)
            for (uint32_t context = 0; context < SM_CONTEXTS_MAX; context++) {
                const uint64_t base = lsu_local_base(sm, counts[n], context);
                assert_true(base >= SM_LOCAL_BASE);
                const uint64_t offset = base - SM_LOCAL_BASE, index = offset >> SM_LOCAL_BITS;
                assert_int_equal(offset, index << SM_LOCAL_BITS); /* whole ranges */
                assert_true(index < SM_CONTEXTS_MAX * counts[n]); /* no range is left out */
                assert_false(bitset_has(seen, (uint32_t)index));
                bitset_add(seen, (uint32_t)index);
            }
    }
}

/* ---- what CTAs hold ---- */

/* The number of rounds of a CTA is the low bits of its number. */
static void rounds_program(struct kit *k)
{
    s2r(k, R(3), ISA_SREG_CTAID, 0);
    emit(k, ISA_OP_AND_32, D(R(3)), S(R(3), imm(k, 31)));
    const uint32_t loop = here(k);
    emit(k, ISA_OP_ADD_32, D(R(4)), S(R(4), imm(k, 1)));
    setp(k, ISA_LT, 0, R(4), R(3));
    bra(k, 0, loop, ISA_NO_RECONV);
    exit_(k);
}

/* The rows of the CTAs that are here are disjoint, as many as their registers fill, and no others are
 * owned. */
static void check_rows(const struct rig *r)
{
    const struct residency *s = &r->sm->residency;
    uint64_t all[64] = {0};
    uint32_t rows = 0;
    assert_true(s->file.words <= ARRAY_LEN(all));
    for (uint32_t i = 0; i < s->cta_slots; i++) {
        const struct sm_cta *c = &s->ctas[i];
        if (!c->emu) continue;
        assert_int_equal(bitset_count(c->rows, s->file.words), c->registers / 32);
        rows += c->registers / 32;
        bitset_union(all, c->rows, s->file.words);
    }
    assert_int_equal(bitset_count(all, s->file.words), rows);
    assert_int_equal(rows, sm_registers_used(r->sm) / 32);
    assert_memory_equal(all, s->file.owned, s->file.words * sizeof *all);
    assert_null(sm_leaks(r->sm, NULL));
}

static void rows_of_all_ctas_are_disjoint_at_any_time(void **state)
{
    enum { GRIDS = 4, CTAS = 200 };
    static const uint32_t blocks[GRIDS] = {32, 96, 224, 512};
    struct rig r;
    rig_open(&r);
    r.machine.sm_ctas = 32;
    rig_make(&r);
    r.kit.proto.reg_count = 21;
    rounds_program(&r.kit);
    struct emu_grid *grids[GRIDS];
    for (uint32_t i = 0; i < GRIDS; i++) grids[i] = rig_grid(&r, CTAS, blocks[i]);
    struct rng random = {7};
    uint64_t next[GRIDS] = {0}, started = 0, full = 0;
    for (uint32_t step = 0; started < (uint64_t)GRIDS * CTAS && step < 1000000; step++) {
        const uint64_t i = rng_below(&random, GRIDS);
        if (next[i] < CTAS && sm_fits(r.sm, grids[i])) {
            assert_true(rig_start_cta(r.sm, r.now, grids[i], next[i]++));
            started++;
            check_rows(&r);
        } else
            full += next[i] < CTAS;
        if (rng_below(&random, 4)) rig_cycle(&r);
        if (step % 16 == 0) check_rows(&r);
    }
    while (!sm_idle(r.sm)) rig_cycle(&r);
    check_rows(&r);
    assert_int_equal(sm_registers_used(r.sm), 0);
    assert_int_equal(r.ctas_done, GRIDS * CTAS);
    assert_true(full > 100); /* the SM was full often, so that gaps were made and used */
    for (uint32_t i = 0; i < GRIDS; i++) emu_grid_close(grids[i], NULL);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_of_a_context_changes_nothing),
        cmocka_unit_test(local_memory_is_right_whatever_the_context),
        cmocka_unit_test(a_pending_load_finds_its_context),
        cmocka_unit_test(an_unacknowledged_store_finds_its_context),
        cmocka_unit_test(an_instruction_miss_finds_its_context),
        cmocka_unit_test(local_memory_of_different_contexts_and_sms_never_overlaps),
        cmocka_unit_test(rows_of_all_ctas_are_disjoint_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
