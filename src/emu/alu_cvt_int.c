/* alu_cvt_int.c: cvt between integers: extension and truncation, or with SAT the nearest value of the
 * destination type.
 *
 * Semantics: PTX ISA, cvt. Results narrower than 32 bits are zero-extended in their row, signed ones too. */
#include "emu/alu_cvt.h"

/* The nearest value of T to v, in 64 bits. */
ALU_INLINE uint64_t clamp_from_signed(int64_t v, int64_t lo, int64_t hi)
{
    return (uint64_t)(v < lo ? lo : v > hi ? hi : v);
}
ALU_INLINE uint64_t clamp_from_unsigned(uint64_t v, uint64_t hi) { return v > hi ? hi : v; }
#define CLAMP_FROM_U8(v, T)  clamp_from_unsigned(v, CVT_MAX_##T)
#define CLAMP_FROM_U16(v, T) clamp_from_unsigned(v, CVT_MAX_##T)
#define CLAMP_FROM_U32(v, T) clamp_from_unsigned(v, CVT_MAX_##T)
#define CLAMP_FROM_U64(v, T) clamp_from_unsigned(v, CVT_MAX_##T)
#define CLAMP_FROM_S8(v, T)  clamp_from_signed(v, CVT_MIN_##T, (int64_t)MIN(CVT_MAX_##T, (uint64_t)INT64_MAX))
#define CLAMP_FROM_S16(v, T) CLAMP_FROM_S8(v, T)
#define CLAMP_FROM_S32(v, T) CLAMP_FROM_S8(v, T)
#define CLAMP_FROM_S64(v, T) CLAMP_FROM_S8(v, T)

#define CVT_ROW(T, S)                                                                                        \
    ALU_ROW(CVT_##T##_##S)                                                                                   \
    {                                                                                                        \
        const uint32_t *p = exec_src(x, i->src[0]);                                                          \
        ALU_ALIGNED CVT_ROW_##T o[ISA_LANES];                                                                \
        if (ALU_HAS(SAT))                                                                                    \
            for (int l = 0; l < ISA_LANES; l++)                                                              \
                o[l] = CVT_CUT_##T((CVT_ROW_##T)CLAMP_FROM_##S(CVT_INT_##S(p, l), T));                       \
        else                                                                                                 \
            for (int l = 0; l < ISA_LANES; l++) o[l] = CVT_CUT_##T((CVT_ROW_##T)CVT_INT_##S(p, l));          \
        CVT_PUT_##T(x, i->dst[0], o, mask);                                                                  \
    }
#define CVT_ROWS(R, T) R(T, U8) R(T, S8) R(T, U16) R(T, S16) R(T, U32) R(T, S32) R(T, U64) R(T, S64)
#define CVT_ALL(R)                                                                                           \
    CVT_ROWS(R, U8)                                                                                          \
    CVT_ROWS(R, S8)                                                                                          \
    CVT_ROWS(R, U16)                                                                                         \
    CVT_ROWS(R, S16)                                                                                         \
    CVT_ROWS(R, U32)                                                                                         \
    CVT_ROWS(R, S32)                                                                                         \
    CVT_ROWS(R, U64)                                                                                         \
    CVT_ROWS(R, S64)
CVT_ALL(CVT_ROW)

void ALU_NAME(alu_cvt_int_rows)(exec_fn **table) { CVT_ALL(CVT_SET) }
