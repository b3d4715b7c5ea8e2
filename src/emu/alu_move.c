/* alu_move.c: moves, selection, packing of narrow values into wide ones and back, predicates as values. */
#include "emu/alu.h"

/* First source = least significant, in all packs. */
#define MOVE_ROWS(F1, F2, F4)                                                                                \
    F1(MOV_32, r, r, a)                                                                                      \
    F4(PACK_64_16, d, r, r, r, r,                                                                            \
       (uint64_t)(a & 0xffff) | (uint64_t)(b & 0xffff) << 16 | (uint64_t)(c & 0xffff) << 32 |                \
           (uint64_t)e << 48)                                                                                \
    F2(PACK_32_16, r, r, r, (a & 0xffff) | b << 16)                                                          \
    F4(PACK_32_8, r, r, r, r, r, (a & 0xff) | (b & 0xff) << 8 | (c & 0xff) << 16 | e << 24)                  \
    F2(PACK_16_8, r, r, r, (a & 0xff) | (b & 0xff) << 8)
MOVE_ROWS(ALU_FN1, ALU_FN2, ALU_FN4)

ALU_PAIR1(MOV_64, al, ah)

ALU_ROW(PACK_64_32)
{
    ALU_ALIGNED uint32_t lo[ISA_LANES], hi[ISA_LANES];
    memcpy(lo, exec_src(x, i->src[0]), sizeof lo);
    memcpy(hi, exec_src(x, i->src[1]), sizeof hi);
    alu_put_pair(x, i->dst[0], lo, hi, mask);
}

/* Both words are read before either destination is written: one may be a source row. */
ALU_ROW(UNPACK_64_32)
{
    const uint32_t *pa = exec_src(x, i->src[0]);
    ALU_ALIGNED uint32_t lo[ISA_LANES], hi[ISA_LANES];
    memcpy(lo, pa, sizeof lo);
    memcpy(hi, pa + ISA_LANES, sizeof hi);
    alu_put32(x, i->dst[0], lo, mask);
    alu_put32(x, i->dst[1], hi, mask);
}

/* Cuts 64-bit lanes into count fields of bits each, one destination a field. */
ALU_INLINE void unpack(struct exec *x, const struct isa_inst *i, uint32_t mask, const uint64_t *v, int count,
                       int bits)
{
    ALU_ALIGNED uint32_t o[ISA_LANES];
    for (int k = 0; k < count; k++) {
        for (int l = 0; l < ISA_LANES; l++)
            o[l] = (uint32_t)(v[l] >> (k * bits)) & (uint32_t)(UINT64_MAX >> (64 - bits));
        alu_put32(x, i->dst[k], o, mask);
    }
}
#define UNPACK(OP, A, count, bits)                                                                           \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const uint32_t *pa = exec_src(x, i->src[0]);                                                         \
        ALU_ALIGNED uint64_t v[ISA_LANES];                                                                   \
        for (int l = 0; l < ISA_LANES; l++) v[l] = ALU_AT_##A(pa, l);                                        \
        unpack(x, i, mask, v, count, bits);                                                                  \
    }
#define UNPACK_ROWS(U)                                                                                       \
    U(UNPACK_64_16, d, 4, 16)                                                                                \
    U(UNPACK_32_16, r, 2, 16)                                                                                \
    U(UNPACK_32_8, r, 4, 8)                                                                                  \
    U(UNPACK_16_8, r, 2, 8)
UNPACK_ROWS(UNPACK)

ALU_ROW(SEL_32)
{
    const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]);
    const uint32_t p = exec_pred(x, i->src[2]);
    ALU_ALIGNED uint32_t o[ISA_LANES];
    for (int l = 0; l < ISA_LANES; l++) o[l] = p & 1u << l ? pa[l] : pb[l];
    alu_put32(x, i->dst[0], o, mask);
}

ALU_ROW(SEL_64)
{
    const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]);
    const uint32_t p = exec_pred(x, i->src[2]);
    ALU_ALIGNED uint32_t lo[ISA_LANES], hi[ISA_LANES];
    for (int l = 0; l < ISA_LANES; l++) {
        lo[l] = p & 1u << l ? pa[l] : pb[l];
        hi[l] = p & 1u << l ? pa[l + ISA_LANES] : pb[l + ISA_LANES];
    }
    alu_put_pair(x, i->dst[0], lo, hi, mask);
}

ALU_ROW(P2R)
{
    const uint32_t p = exec_pred(x, i->src[0]);
    ALU_ALIGNED uint32_t o[ISA_LANES];
    for (int l = 0; l < ISA_LANES; l++) o[l] = p & 1u << l ? 1 : 0;
    alu_put32(x, i->dst[0], o, mask);
}

ALU_ROW(R2P)
{
    const uint32_t *pa = exec_src(x, i->src[0]);
    ALU_ALIGNED uint32_t f[ISA_LANES];
    for (int l = 0; l < ISA_LANES; l++) f[l] = pa[l] ? UINT32_MAX : 0;
    exec_set_pred(x, i->dst[0], alu_pack_mask(f), mask);
}

#define PRED_ROW(OP, EXPR)                                                                                   \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const uint32_t a = exec_pred(x, i->src[0]), b = exec_pred(x, i->src[1]);                             \
        exec_set_pred(x, i->dst[0], EXPR, mask);                                                             \
    }
#define PRED_ROWS(P) P(AND_P, (a & b)) P(OR_P, a | b) P(XOR_P, a ^ b)
PRED_ROWS(PRED_ROW)

ALU_ROW(MOV_P) { exec_set_pred(x, i->dst[0], exec_pred(x, i->src[0]), mask); }

void ALU_NAME(alu_move_rows)(exec_fn **table)
{
    MOVE_ROWS(ALU_SET, ALU_SET, ALU_SET)
    UNPACK_ROWS(ALU_SET)
    PRED_ROWS(ALU_SET)
    ALU_ENTER(MOV_64);
    ALU_ENTER(PACK_64_32);
    ALU_ENTER(UNPACK_64_32);
    ALU_ENTER(SEL_32);
    ALU_ENTER(SEL_64);
    ALU_ENTER(P2R);
    ALU_ENTER(R2P);
    ALU_ENTER(MOV_P);
}
