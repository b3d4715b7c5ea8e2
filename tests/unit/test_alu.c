/* test_alu.c: what all rows of the arithmetic have in common: each exists, writes the lanes of its mask and
 * no others, does not mind a destination that is one of its sources, and gives the same bits in every
 * variant. */
#include "test_alu.h"

static const uint16_t all_flags[] = {0,
                                     ISA_FTZ,
                                     ISA_SAT,
                                     ISA_FTZ | ISA_SAT,
                                     ISA_RELU,
                                     ISA_NANPROP,
                                     ISA_XORSIGN,
                                     ISA_XORSIGN | ISA_NANPROP | ISA_FTZ,
                                     ISA_OOB,
                                     ISA_OOB | ISA_RELU,
                                     ISA_SATFINITE,
                                     ISA_SATFINITE | ISA_RELU};

/* Modifiers in the range that the row's family knows. */
static void draw(struct alu_case *c, struct rng *r, bool plain)
{
    const int op = c->inst.op;
    const char *name = isa_ops[op].name;
    for (int k = 0; isa_ops[op].src[k]; k++)
        for (int l = 0; l < ISA_LANES; l++) c->src[k][l] = alu_operand(r);
    c->inst.flags = plain ? 0 : all_flags[rng_below(r, ARRAY_LEN(all_flags))];
    c->inst.round = (uint8_t)rng_below(r, strncmp(name, "cvt.", 4) ? 4 : 9);
    c->inst.mod = (uint8_t)rng_below(r, 4);
    c->inst.mod2 = (uint8_t)rng_below(r, 4);
    c->inst.imm = (int64_t)rng_below(r, 256);
    if (!strncmp(name, "set", 3)) c->inst.mod = (uint8_t)rng_below(r, ISA_NAN + 1);
    if (!strncmp(name, "testp", 5)) c->inst.mod = (uint8_t)rng_below(r, ISA_TESTP_SUBNORMAL + 1);
    if (op == ISA_OP_PRMT) c->inst.mod = (uint8_t)rng_below(r, ISA_PRMT_RC16 + 1);
    if (op == ISA_OP_CVT_PACK) {
        c->inst.mod = (uint8_t)(2u << rng_below(r, 4));
        c->inst.type = rng_below(r, 2) ? ISA_S8 : ISA_U8;
    }
}

static void every_row_exists(void **state)
{
    (void)state;
    for (int op = 0; op < ISA_OP_COUNT; op++)
        for (int t = 0; t < 2; t++) {
            exec_fn *const *table = t ? emu_alu_table() : emu_alu_table_baseline();
            if (alu_is_arithmetic(op) != (table[op] != NULL)) fail_msg("%s", isa_ops[op].name);
        }
}

static void mask_bounds_what_is_written(void **state)
{
    (void)state;
    struct rng r = {1};
    for (int op = 0; op < ISA_OP_COUNT; op++) {
        if (!alu_is_arithmetic(op)) continue;
        struct alu_case *full = alu_case_new((enum isa_op)op), *part = alu_case_new((enum isa_op)op);
        for (int round = 0; round < 8; round++) {
            draw(full, &r, false);
            *part = *full;
            part->mask = round < 4 ? 1u << rng_below(&r, 32) : rng_u32(&r);
            alu_case_run(full, emu_alu_table());
            alu_case_run(part, emu_alu_table());
            for (int k = 0; isa_ops[op].dst[k]; k++)
                for (int l = 0; l < ISA_LANES; l++) {
                    const char letter = isa_ops[op].dst[k];
                    const uint64_t before = letter == 'p'   ? 0xa5a5a5a5u >> l & 1
                                            : letter == 'd' ? 0xa5a5a5a5a5a5a5a5ull
                                                            : 0xa5a5a5a5u;
                    const uint64_t want = part->mask >> l & 1 ? full->out[k][l] : before;
                    if (part->out[k][l] != want) fail_msg("%s lane %d", isa_ops[op].name, l);
                }
            const uint16_t end =
                ALU_FIRST_DST + 2 * ISA_DST_MAX; /* rows that nothing names stay as they were */
            for (size_t k = end * ISA_LANES; k < ALU_FIRST_SRC * ISA_LANES; k++)
                assert_int_equal(part->rows[k], 0xa5a5a5a5u);
        }
        free(full);
        free(part);
    }
}

static void destination_may_be_a_source(void **state)
{
    (void)state;
    struct rng r = {2};
    for (int op = 0; op < ISA_OP_COUNT; op++) {
        const char letter = isa_ops[op].dst[0];
        if (!alu_is_arithmetic(op) || letter == 'p') continue;
        struct alu_case *apart = alu_case_new((enum isa_op)op), *same = alu_case_new((enum isa_op)op);
        for (int k = 0; isa_ops[op].src[k]; k++) {
            if (isa_ops[op].src[k] == 'p') continue;
            draw(apart, &r, false);
            *same = *apart;
            same->alias = k;
            alu_case_run(apart, emu_alu_table());
            alu_case_run(same, emu_alu_table());
            for (int l = 0; l < ISA_LANES; l++)
                if (apart->out[0][l] != same->out[0][l])
                    fail_msg("%s source %d lane %d", isa_ops[op].name, k, l);
        }
        free(apart);
        free(same);
    }
}

static void absent_destinations_are_skipped(void **state)
{
    (void)state;
    struct alu_case *c = alu_case_new(ISA_OP_UNPACK_64_32);
    struct exec x = {{c->rows, NULL}, c->pred, NULL};
    c->rows[4 * ISA_LANES] = 7;
    c->rows[5 * ISA_LANES] = 9;
    struct isa_inst i = {.op = ISA_OP_UNPACK_64_32, .dst = {ISA_NONE, 8}, .src = {4}};
    emu_alu_table()[i.op](&x, &i, UINT32_MAX);
    assert_int_equal(c->rows[8 * ISA_LANES], 9);
    struct isa_inst add = {.op = ISA_OP_ADDC_32, .dst = {9, ISA_NONE}, .src = {4, 5, ISA_NONE}};
    c->pred[ISA_PT] = UINT32_MAX;
    emu_alu_table()[add.op](&x, &add, UINT32_MAX);
    assert_int_equal(c->rows[9 * ISA_LANES], 16);
    free(c);
}

static void variants_agree_in_every_bit(void **state)
{
    (void)state;
    struct rng r = {3};
    for (int op = 0; op < ISA_OP_COUNT; op++) {
        if (!alu_is_arithmetic(op)) continue;
        struct alu_case *a = alu_case_new((enum isa_op)op), *b = alu_case_new((enum isa_op)op);
        for (int round = 0; round < 150; round++) {
            draw(a, &r, round < 20);
            *b = *a;
            alu_case_run(a, emu_alu_table());
            alu_case_run(b, emu_alu_table_baseline());
            for (int k = 0; isa_ops[op].dst[k]; k++)
                for (int l = 0; l < ISA_LANES; l++)
                    if (a->out[k][l] != b->out[k][l])
                        fail_msg("%s flags %x round %d mod %d: %llx %llx %llx gives %llx and %llx",
                                 isa_ops[op].name, a->inst.flags, a->inst.round, a->inst.mod,
                                 (unsigned long long)a->src[0][l], (unsigned long long)a->src[1][l],
                                 (unsigned long long)a->src[2][l], (unsigned long long)a->out[k][l],
                                 (unsigned long long)b->out[k][l]);
        }
        free(a);
        free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_exists),
        cmocka_unit_test(mask_bounds_what_is_written),
        cmocka_unit_test(destination_may_be_a_source),
        cmocka_unit_test(absent_destinations_are_skipped),
        cmocka_unit_test(variants_agree_in_every_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
