/* alu_logic.c: bitwise logic, any function of three operands, byte permutation.
 *
 * Semantics: PTX ISA, and, or, xor, not, cnot, lop3, prmt. */
#include "emu/alu.h"

#define LOGIC_ROWS(F1, F2)                                                                                   \
    F2(AND_32, r, r, r, (a & b))                                                                             \
    F2(OR_32, r, r, r, a | b)                                                                                \
    F2(XOR_32, r, r, r, a ^ b)                                                                               \
    F1(NOT_16, r, r, ~a & 0xffff)                                                                            \
    F1(NOT_32, r, r, ~a)                                                                                     \
    F1(CNOT_16, r, r, !(a & 0xffff))                                                                         \
    F1(CNOT_32, r, r, !a)                                                                                    \
    F1(CNOT_64, d, d, !a)
LOGIC_ROWS(ALU_FN1, ALU_FN2)

#define PAIR_ROWS(P1, P2)                                                                                    \
    P1(NOT_64, ~al, ~ah)                                                                                     \
    P2(AND_64, (al & bl), (ah & bh))                                                                         \
    P2(OR_64, al | bl, ah | bh)                                                                              \
    P2(XOR_64, al ^ bl, ah ^ bh)
PAIR_ROWS(ALU_PAIR1, ALU_PAIR2)

/* Bit k of the truth table is the result where the three operands' bits, first operand highest, spell k. A
 * tree of selections: by c between neighbours of the table, then by b, then by a. */
ALU_INLINE uint32_t pick(uint32_t by, uint32_t one, uint32_t zero) { return zero ^ (by & (one ^ zero)); }
ALU_INLINE void lop3(uint32_t *o, struct exec *x, const struct isa_inst *i)
{
    const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]), *pc = exec_src(x, i->src[2]);
    uint32_t t[8];
    for (int k = 0; k < 8; k++) t[k] = 0u - (uint32_t)(i->imm >> k & 1);
    for (int l = 0; l < ISA_LANES; l++) {
        const uint32_t a = pa[l], b = pb[l], c = pc[l];
        const uint32_t a1 = pick(b, pick(c, t[7], t[6]), pick(c, t[5], t[4]));
        const uint32_t a0 = pick(b, pick(c, t[3], t[2]), pick(c, t[1], t[0]));
        o[l] = pick(a, a1, a0);
    }
}

ALU_ROW(LOP3)
{
    ALU_ALIGNED uint32_t o[ISA_LANES];
    lop3(o, x, i);
    alu_put32(x, i->dst[0], o, mask);
}

/* Also p = (result != 0) boolop q, with boolop in inst.mod; without one, q is ignored. */
ALU_ROW(LOP3_P)
{
    const uint32_t q = exec_pred(x, i->src[3]);
    ALU_ALIGNED uint32_t o[ISA_LANES], f[ISA_LANES];
    lop3(o, x, i);
    for (int l = 0; l < ISA_LANES; l++) f[l] = o[l] ? UINT32_MAX : 0;
    uint32_t p = alu_pack_mask(f);
    if (i->mod == ISA_BOOL_AND) p &= q;
    if (i->mod == ISA_BOOL_OR) p |= q;
    if (i->mod == ISA_BOOL_XOR) p ^= q;
    alu_put32(x, i->dst[0], o, mask);
    exec_set_pred(x, i->dst[1], p, mask);
}

/* Selectors of the named modes of prmt, by the low two bits of the third source (PTX ISA, prmt). */
static const uint16_t prmt_selectors[ISA_PRMT_RC16 + 1][4] = {
    [ISA_PRMT_F4E] = {0x3210, 0x4321, 0x5432, 0x6543}, [ISA_PRMT_B4E] = {0x5670, 0x6701, 0x7012, 0x0123},
    [ISA_PRMT_RC8] = {0x0000, 0x1111, 0x2222, 0x3333}, [ISA_PRMT_ECL] = {0x3210, 0x3211, 0x3222, 0x3333},
    [ISA_PRMT_ECR] = {0x0000, 0x1110, 0x2210, 0x3210}, [ISA_PRMT_RC16] = {0x1010, 0x3232, 0x1010, 0x3232}};

/* Byte n of the result: the byte of b:a that nibble n names; bit 3 of the nibble asks for its sign in all
 * bits. */
ALU_INLINE uint32_t prmt_byte(uint64_t bytes, uint32_t selector, int n)
{
    const uint32_t s = selector >> (4 * n);
    const uint32_t v = (uint32_t)(bytes >> ((s & 7) * 8)) & 0xff;
    return (s & 8 ? (v & 0x80 ? 0xffu : 0) : v) << (8 * n);
}
ALU_INLINE uint32_t prmt(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint64_t bytes = a | (uint64_t)b << 32;
    return prmt_byte(bytes, selector, 0) | prmt_byte(bytes, selector, 1) | prmt_byte(bytes, selector, 2) |
           prmt_byte(bytes, selector, 3);
}

ALU_ROW(PRMT)
{
    const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]), *pc = exec_src(x, i->src[2]);
    ALU_ALIGNED uint32_t o[ISA_LANES], named[ISA_LANES];
    if (i->mod != ISA_PRMT_INDEX) {
        for (int l = 0; l < ISA_LANES; l++) named[l] = prmt_selectors[i->mod][pc[l] & 3];
        pc = named;
    }
    for (int l = 0; l < ISA_LANES; l++) o[l] = prmt(pa[l], pb[l], pc[l]);
    alu_put32(x, i->dst[0], o, mask);
}

void ALU_NAME(alu_logic_rows)(exec_fn **table)
{
    LOGIC_ROWS(ALU_SET, ALU_SET)
    PAIR_ROWS(ALU_SET, ALU_SET)
    ALU_ENTER(LOP3);
    ALU_ENTER(LOP3_P);
    ALU_ENTER(PRMT);
}
