/* The parts of an SM that stand alone: decoded instructions, units and result buses, operand collectors,
 * small caches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bitset.h"
#include "core/sm/collector.h"
#include "core/sm/pipes.h"
#include "core/sm/uop_table.h"
#include "isa/isa.h"

static struct sm_params fermi(void)
{
    struct sm_params p;
    param_set_defaults(sm_rows, &p);
    return p;
}

/* dsts, srcs: operands that are given. */
static struct uop decode(struct isa_inst inst, uint32_t dsts, uint32_t srcs)
{
    struct sm_params p = fermi();
    struct uop u;
    if (!inst.vec) inst.vec = 1;
    for (uint32_t i = dsts; i < ISA_DST_MAX; i++) inst.dst[i] = ISA_NONE;
    for (uint32_t i = srcs; i < ISA_SRC_MAX; i++) inst.src[i] = ISA_NONE;
    uop_decode(&p, &inst, &u);
    return u;
}
#define P(n) ((uint16_t)(ISA_KIND_P | (n)))
#define C(n) ((uint16_t)(ISA_KIND_C | (n)))

/* The registers of an instruction, as two sets. */
struct sets {
    uint64_t hazard[REG_WORDS], def[REG_WORDS];
};
static struct sets sets_of(const struct uop *u)
{
    struct sets s;
    for (uint32_t i = 0; i < REG_WORDS; i++) {
        s.hazard[i] = u->registers[i].hazard;
        s.def[i] = u->registers[i].def;
    }
    return s;
}
static uint32_t registers(const uint64_t *set) { return bitset_count(set, REG_WORDS); }

/* ---- instructions ---- */

static void an_instruction_waits_for_sources_destinations_and_guard(void **state)
{
    (void)state;
    struct uop u = decode(
        (struct isa_inst){
            .op = ISA_OP_FMA_F32, .guard = 3 | ISA_GUARD_NOT, .dst = {9}, .src = {70, 200, C(5)}},
        1, 3);
    const struct sets r = sets_of(&u);
    assert_int_equal(registers(r.hazard), 3);
    assert_true(bitset_has(r.hazard, 9) && bitset_has(r.hazard, 70) && bitset_has(r.hazard, 200));
    assert_int_equal(registers(r.def), 1);
    assert_true(bitset_has(r.def, 9));
    assert_int_equal(u.hazard_preds, 1 << 3);
    assert_int_equal(u.def_preds, 0);
    assert_int_equal(u.read_count, 2);
    assert_int_equal(u.cls, CLASS_SP);
    assert_int_equal(u.latency, 5);
    assert_int_equal(u.interval, 1);
}

static void wide_values_are_two_registers_and_vectors_are_several(void **state)
{
    (void)state;
    struct uop u = decode(
        (struct isa_inst){
            .op = ISA_OP_LD_64, .guard = ISA_PT, .vec = 2, .mod = ISA_GLOBAL, .dst = {4, 6}, .src = {10}},
        2, 1);
    struct sets r = sets_of(&u);
    assert_int_equal(registers(r.def), 4);
    assert_true(bitset_has(r.def, 4) && bitset_has(r.def, 5) && bitset_has(r.def, 6) && bitset_has(r.def, 7));
    assert_int_equal(registers(r.hazard), 6); /* and the address */
    assert_int_equal(u.flags, UOP_LOAD | UOP_DEVICE | UOP_SEES);
    assert_int_equal(u.cls, CLASS_MEM);
    u = decode((struct isa_inst){.op = ISA_OP_ST_32,
                                 .guard = ISA_PT,
                                 .flags = ISA_A32,
                                 .vec = 4,
                                 .mod = ISA_SHARED,
                                 .src = {10, 20, 21, 22, 23}},
               0, 5);
    r = sets_of(&u);
    assert_int_equal(registers(r.hazard), 5); /* an address of one register */
    assert_int_equal(registers(r.def), 0);
    assert_int_equal(u.flags, UOP_STORE);
}

static void a_compare_writes_predicates_and_reads_them(void **state)
{
    (void)state;
    struct uop u = decode((struct isa_inst){.op = ISA_OP_SETP_U32,
                                            .guard = ISA_PT,
                                            .dst = {P(1), P(2)},
                                            .src = {4, C(1), (uint16_t)(P(5) | ISA_P_NOT)}},
                          2, 3);
    assert_int_equal(u.def_preds, 1 << 1 | 1 << 2);
    assert_int_equal(u.hazard_preds, 1 << 1 | 1 << 2 | 1 << 5);
    const struct sets r = sets_of(&u);
    assert_int_equal(registers(r.hazard), 1);
}

static void sms_share_the_instructions_of_a_grid_until_the_last_has_dropped_them(void **state)
{
    (void)state;
    const struct sm_params p = fermi();
    struct isa_inst insts[2] = {
        {.op = ISA_OP_BRA, .guard = ISA_PT, .vec = 1},
        {.op = ISA_OP_FMA_F32, .guard = ISA_PT, .vec = 1, .dst = {9}, .src = {1, 2, 3}}};
    for (uint32_t i = 0; i < ARRAY_LEN(insts); i++)
        for (uint32_t k = i ? 1 : 0; k < ISA_DST_MAX; k++) insts[i].dst[k] = ISA_NONE;
    for (uint32_t k = 0; k < ISA_SRC_MAX; k++) insts[0].src[k] = ISA_NONE;
    for (uint32_t k = 3; k < ISA_SRC_MAX; k++) insts[1].src[k] = ISA_NONE;
    const struct isa_kernel k = {.insts = insts, .inst_count = ARRAY_LEN(insts)};
    struct uop_tables *t = uop_tables_create(&p);
    const struct uop *first = uop_table_take(t, 1, &k), *again = uop_table_take(t, 1, &k),
                     *other = uop_table_take(t, 2, &k);
    assert_ptr_equal(first, again);
    assert_ptr_not_equal(first, other); /* the kernel of an older grid may have been unloaded */
    assert_int_equal(first[1].read_count, 3);
    assert_int_equal(first[1].registers[0].def, 1 << 9);
    uop_table_drop(t, first);
    assert_true(first[0].flags & UOP_BRANCH); /* the other user still has them */
    uop_table_drop(t, other);
    assert_ptr_equal(uop_table_take(t, 1, &k), again);
    uop_table_drop(t, again);
    uop_table_drop(t, again);
    uop_tables_destroy(t); /* with an assertion: none is left */
}

static void operations_have_the_latencies_of_their_kind(void **state)
{
    (void)state;
    static const struct {
        enum isa_op op;
        enum sm_class cls;
        uint32_t latency, interval;
    } rows[] = {
        {ISA_OP_ADD_32, CLASS_SP, 4, 1},       {ISA_OP_MAX_S32, CLASS_SP, 13, 2},
        {ISA_OP_MUL_LO_32, CLASS_SP, 4, 2},    {ISA_OP_MAD_LO_32, CLASS_SP, 5, 1},
        {ISA_OP_DIV_U32, CLASS_SFU, 145, 8},   {ISA_OP_REM_S32, CLASS_SFU, 145, 8},
        {ISA_OP_MUL_F32, CLASS_SP, 4, 1},      {ISA_OP_DIV_F32, CLASS_SFU, 39, 4},
        {ISA_OP_MIN_F32, CLASS_SP, 13, 2},     {ISA_OP_ADD_F64, CLASS_SFU, 8, 8},
        {ISA_OP_DIV_F64, CLASS_SFU, 330, 130}, {ISA_OP_SIN_F32, CLASS_SFU, 8, 8},
        {ISA_OP_BRA, CLASS_SP, 4, 1},          {ISA_OP_SHFL, CLASS_SP, 4, 1},
        {ISA_OP_TEX, CLASS_MEM, 1, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct uop u = decode((struct isa_inst){.op = (uint16_t)rows[i].op, .guard = ISA_PT}, 0, 0);
        assert_int_equal(u.cls, rows[i].cls);
        assert_int_equal(u.latency, rows[i].latency);
        assert_int_equal(u.interval, rows[i].interval);
    }
}

static bool sees(uint16_t op, uint8_t mod)
{
    return decode((struct isa_inst){.op = op, .guard = ISA_PT, .mod = mod}, 0, 0).flags & UOP_SEES;
}

static void what_other_sms_do_is_seen_by_loads_of_their_memory_clocks_and_barriers(void **state)
{
    (void)state;
    assert_true(sees(ISA_OP_LD_32, ISA_GLOBAL) && sees(ISA_OP_LD_32, ISA_GENERIC) &&
                sees(ISA_OP_ATOM_32, ISA_GLOBAL));
    assert_true(sees(ISA_OP_CPASYNC, 0) && sees(ISA_OP_S2R_32, ISA_SREG_CLOCK) && sees(ISA_OP_EXIT, 0));
    assert_true(sees(ISA_OP_S2R_64, ISA_SREG_GLOBALTIMER) && sees(ISA_OP_S2R_32, ISA_SREG_GLOBALTIMER_HI));
    assert_false(sees(ISA_OP_LD_32, ISA_SHARED) || sees(ISA_OP_LD_32, ISA_LOCAL) ||
                 sees(ISA_OP_LD_32, ISA_CONST));
    assert_false(sees(ISA_OP_LD_32, ISA_PARAM) || sees(ISA_OP_ATOM_32, ISA_SHARED) ||
                 sees(ISA_OP_FMA_F32, 0));
    assert_false(sees(ISA_OP_S2R_32, ISA_SREG_TID) || sees(ISA_OP_S2R_32, ISA_SREG_LANEMASK_GT));
}

/* ---- units ---- */

static void a_unit_is_busy_for_its_interval_and_answers_after_its_latency(void **state)
{
    (void)state;
    struct sm_params params = fermi();
    struct pipes p;
    pipes_init(&p, &params, 64, 64);
    struct uop u = {.cls = CLASS_SFU, .latency = 20, .interval = 8};
    assert_true(pipes_accepts(&p, CLASS_SFU, 100));
    assert_true(pipes_start(&p, &u, 7, 100, 0));
    assert_false(pipes_accepts(&p, CLASS_SFU, 107));
    assert_true(pipes_accepts(&p, CLASS_SFU, 108));
    assert_int_equal(pipes_next_free(&p, 100), 108);
    assert_int_equal(p.next, 120);
    assert_int_equal(pipes_result(&p, 119), PIPES_NONE);
    assert_int_equal(pipes_result(&p, 120), 7);
    assert_int_equal(pipes_result(&p, 120), PIPES_NONE);
    assert_int_equal(p.next, UINT64_MAX);
    pipes_free(&p);
}

static void no_cycle_has_more_results_than_buses(void **state)
{
    (void)state;
    struct sm_params params = fermi();
    params.sp_units = 8;
    params.result_buses = 2;
    struct pipes p;
    pipes_init(&p, &params, 64, 64);
    struct uop u = {.cls = CLASS_SP, .latency = 4, .interval = 1};
    for (uint32_t id = 0; id < 5; id++) assert_true(pipes_start(&p, &u, id, 10, 0));
    const uint32_t expect[] = {2, 2, 1};
    for (uint32_t c = 0; c < 3; c++) {
        uint32_t n = 0;
        while (pipes_result(&p, 14 + c) != PIPES_NONE) n++;
        assert_int_equal(n, expect[c]);
    }
    pipes_free(&p);
}

static void narrow_lanes_take_a_warp_in_several_passes(void **state)
{
    (void)state;
    struct sm_params params = fermi();
    params.simd_width = 16;
    struct pipes p;
    pipes_init(&p, &params, 64, 64);
    struct uop u = {.cls = CLASS_SFU, .latency = 4, .interval = 3};
    pipes_start(&p, &u, 0, 50, 0);
    assert_int_equal(p.next, 55);
    assert_false(pipes_accepts(&p, CLASS_SFU, 55));
    assert_true(pipes_accepts(&p, CLASS_SFU, 56));
    pipes_free(&p);
}

static void the_calendar_finds_what_is_next_from_any_cycle(void **state)
{
    (void)state;
    struct sm_params params = fermi();
    struct pipes p;
    pipes_init(&p, &params, 64, 64);
    for (uint64_t cycle = 1; cycle < 5000; cycle += 37) {
        for (uint64_t delay = 1; delay < 360; delay += 11) {
            pipes_delay(&p, 3, cycle, cycle + delay);
            assert_int_equal(p.next, cycle + delay);
            assert_int_equal(pipes_delayed(&p, cycle + delay), 3);
        }
    }
    pipes_free(&p);
}

/* ---- collectors ---- */

/* Both reads are of one bank. */
static struct uop two_reads = {.cls = CLASS_SP, .read_count = 2, .reads = {0, 16}};
static const struct uop *two_reads_of(void *ctx, uint32_t flight, struct collector_reader *reader)
{
    (void)ctx, (void)flight;
    *reader = (struct collector_reader){0};
    return &two_reads;
}

static void a_collector_waits_for_its_bank_and_writebacks_go_first(void **state)
{
    (void)state;
    for (uint32_t writes = 0; writes < 2; writes++) {
        struct sm_params params = fermi();
        struct collector c;
        collector_init(&c, &params);
        collector_put(&c, CLASS_SP, 42);
        uint64_t cycle = 0;
        while (!c.out[CLASS_SP].count) {
            struct uop write = {.write_count = 1, .writes = {32}};
            if (writes && cycle == 2) collector_write(&c, 0, &write, cycle);
            assert_true(collector_cycle(&c, ++cycle, two_reads_of, NULL));
        }
        assert_int_equal(cycle, 4 + writes); /* into the collector, two reads of one bank, out */
        assert_int_equal(c.conflict_cycles, 1 + writes);
        assert_int_equal(collector_take(&c, CLASS_SP), 42);
        assert_int_equal(c.work, 0);
    }
}

/* Flight n of class SP reads the registers in row n of `ctx`. */
struct reads {
    uint8_t count, regs[4];
};
static const struct uop *reads_of(void *ctx, uint32_t flight, struct collector_reader *reader)
{
    static struct uop u;
    const struct reads *r = (const struct reads *)ctx + flight;
    u = (struct uop){.cls = CLASS_SP, .read_count = r->count};
    memcpy(u.reads, r->regs, sizeof r->regs);
    *reader = (struct collector_reader){0};
    return &u;
}

/* Three reads a cycle, 16 banks: in cycle 1 all enter units, in cycle 2 they read. */
static void a_read_waits_for_the_bank_that_another_unit_has_and_the_others_do_not(void **state)
{
    static const struct {
        struct reads reads[2];
        uint32_t conflicts;
        /* the cycles in which they are in the output latch */
        uint64_t out[2];
    } rows[] = {
        {{{3, {0, 1, 2}}, {3, {3, 4, 5}}}, 0, {3, 3}},    /* no bank in common */
        {{{3, {0, 1, 2}}, {3, {3, 4, 18}}}, 1, {3, 4}},   /* 18 is of bank 2 */
        {{{3, {0, 1, 2}}, {3, {16, 17, 18}}}, 1, {3, 4}}, /* all in common */
        {{{2, {0, 16}}, {1, {32}}}, 3, {4, 5}},           /* one bank, three reads */
        {{{4, {0, 1, 2, 3}}, {1, {1}}}, 0, {4, 3}},       /* a cycle has three of four: 0, 3, 2 */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sm_params params = fermi();
        struct collector c;
        uint64_t out[2] = {0};
        collector_init(&c, &params);
        assert_int_equal(c.reads, 3);
        for (uint32_t n = 0; n < 2; n++) collector_put(&c, CLASS_SP, n);
        for (uint64_t cycle = 1; c.work; cycle++) {
            assert_true(cycle < 10);
            collector_cycle(&c, 64 + cycle, reads_of, (void *)(uintptr_t)rows[i].reads);
            while (c.out[CLASS_SP].count) out[collector_take(&c, CLASS_SP)] = cycle;
        }
        assert_int_equal(c.conflict_cycles, rows[i].conflicts);
        for (uint32_t n = 0; n < 2; n++) assert_int_equal(out[n], rows[i].out[n]);
    }
}

/* Put into the latch as long as there is room, until nothing moves; returns how many went in. */
static uint32_t collector_stuff(struct collector *c, enum sm_class cls, uint64_t *cycle)
{
    uint32_t count = 0;
    bool moved = true;
    for (uint32_t quiet = 0; moved || quiet < 2; quiet = moved ? 0 : quiet + 1) {
        while (c->room >> cls & 1) collector_put(c, cls, count++);
        moved = collector_cycle(c, ++*cycle, two_reads_of, NULL);
    }
    return count;
}

/* Takes `count` of a class, each of which is there once; something moves in every cycle that one is waited
 * for. */
static void collector_empty(struct collector *c, enum sm_class cls, uint32_t count, uint64_t *cycle)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        while (!c->out[cls].count) assert_true(collector_cycle(c, ++*cycle, two_reads_of, NULL));
        seen |= 1ull << collector_take(c, cls);
    }
    assert_true(count < 64 && seen == (1ull << count) - 1);
}

static void a_class_that_is_stuck_goes_on_when_one_is_taken_and_holds_up_no_other(void **state)
{
    (void)state;
    struct sm_params params = fermi();
    struct collector c;
    collector_init(&c, &params);
    uint64_t cycle = 0;
    uint32_t stuck = collector_stuff(&c, CLASS_MEM, &cycle), others = collector_stuff(&c, CLASS_SP, &cycle);
    assert_int_equal(c.work, stuck + others);
    assert_true(c.is_stuck && stuck > 2 * params.mem_width && others > 2 * params.sp_units);
    collector_empty(&c, CLASS_SP, others, &cycle);
    assert_int_equal(c.work, stuck);
    collector_empty(&c, CLASS_MEM, stuck, &cycle);
    assert_int_equal(c.work, 0);
}

/* Widths below, at and between powers of two; 16 units are the most. */
static void a_latch_holds_an_instruction_for_each_unit(void **state)
{
    (void)state;
    const uint32_t widths[] = {1, 3, 8, 9, 12, 16};
    for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
        struct sm_params params = fermi();
        struct collector c;
        params.sp_units = widths[i];
        collector_init(&c, &params);
        uint64_t cycle = 0;
        for (int round = 0; round < 3; round++) {
            const uint32_t count = collector_stuff(&c, CLASS_SP, &cycle);
            assert_int_equal(count, 2 * widths[i] + params.sp_collectors);
            collector_empty(&c, CLASS_SP, count, &cycle);
        }
    }
}

static void a_class_without_collectors_uses_the_common_ones_or_gets_one(void **state)
{
    (void)state;
    struct sm_params params = fermi();
    struct collector c;
    params.sp_collectors = 0;
    collector_init(&c, &params);
    assert_int_equal(__builtin_popcountll(c.own[CLASS_SP]), 1);
    params.gen_collectors = 4;
    collector_init(&c, &params);
    assert_int_equal(__builtin_popcountll(c.own[CLASS_SP]), 4);
    assert_int_equal(c.own[CLASS_SP] & c.own[CLASS_MEM], c.own[CLASS_SP]);
    assert_int_equal(c.own[CLASS_INT], 0); /* no such units in this machine */
}

/* As many as there are in any machine may all be used at once; more are refused, not dropped. */
static void all_collectors_that_are_asked_for_are_there_or_the_machine_is_refused(void **state)
{
    (void)state;
    struct sm_params params = fermi();
    struct diag_list diags = {0};
    params.sp_collectors = 20, params.sfu_collectors = 20, params.mem_collectors = 20,
    params.gen_collectors = 4;
    assert_true(sm_params_check(&params, &diags));
    struct collector c;
    collector_init(&c, &params);
    assert_int_equal(c.unit_count, 64);
    assert_int_equal(__builtin_popcountll(c.own[CLASS_SP]), 24);
    assert_int_equal(c.own[CLASS_SP] | c.own[CLASS_SFU] | c.own[CLASS_MEM], ~0ull);
    params.dp_collectors = 9; /* no such units in this machine: they are not made */
    assert_true(sm_params_check(&params, &diags));
    params.gen_collectors = 5;
    assert_false(sm_params_check(&params, &diags));
    assert_non_null(
        strstr(diags.items.data[0].message, "at most 64 operand collectors of all kinds together, got 65"));
    params.operand_collector = false;
    assert_true(sm_params_check(&params, &diags));
    diag_free(&diags);
}

static void banks_and_lines_of_small_caches_are_powers_of_two(void **state)
{
    (void)state;
    struct sm_params params = fermi();
    struct diag_list diags = {0};
    params.shared_banks = 24;
    assert_false(sm_params_check(&params, &diags));
    params.shared_banks = 16;
    assert_true(sm_params_check(&params, &diags));
    params.shared_bank_bytes = 12;
    assert_false(sm_params_check(&params, &diags));
    assert_int_equal(diags.errors, 2);
    params.shared_bank_bytes = 4;
    uint32_t *const lines[] = {&params.icache_line, &params.const_line, &params.tex_line};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        const uint32_t line = *lines[i];
        *lines[i] = 96;
        assert_false(sm_params_check(&params, &diags));
        *lines[i] = line;
        assert_true(sm_params_check(&params, &diags));
    }
    assert_int_equal(diags.errors, 5);
    assert_string_equal(diags.items.data[2].message, "sm.icache_line must be a power of two, got 96");
    diag_free(&diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instruction_waits_for_sources_destinations_and_guard),
        cmocka_unit_test(wide_values_are_two_registers_and_vectors_are_several),
        cmocka_unit_test(what_other_sms_do_is_seen_by_loads_of_their_memory_clocks_and_barriers),
        cmocka_unit_test(a_compare_writes_predicates_and_reads_them),
        cmocka_unit_test(sms_share_the_instructions_of_a_grid_until_the_last_has_dropped_them),
        cmocka_unit_test(operations_have_the_latencies_of_their_kind),
        cmocka_unit_test(a_unit_is_busy_for_its_interval_and_answers_after_its_latency),
        cmocka_unit_test(no_cycle_has_more_results_than_buses),
        cmocka_unit_test(narrow_lanes_take_a_warp_in_several_passes),
        cmocka_unit_test(the_calendar_finds_what_is_next_from_any_cycle),
        cmocka_unit_test(a_collector_waits_for_its_bank_and_writebacks_go_first),
        cmocka_unit_test(a_read_waits_for_the_bank_that_another_unit_has_and_the_others_do_not),
        cmocka_unit_test(a_class_that_is_stuck_goes_on_when_one_is_taken_and_holds_up_no_other),
        cmocka_unit_test(a_latch_holds_an_instruction_for_each_unit),
        cmocka_unit_test(a_class_without_collectors_uses_the_common_ones_or_gets_one),
        cmocka_unit_test(all_collectors_that_are_asked_for_are_there_or_the_machine_is_refused),
        cmocka_unit_test(banks_and_lines_of_small_caches_are_powers_of_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
