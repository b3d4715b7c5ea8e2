/* alu_setp.c: comparison of integers and floats into predicates, and classes of floats.
 *
 * Semantics: PTX ISA, setp, set, testp. All comparisons come from five: equal, unequal, less, less or equal
 * (all false for NaN), and "both are numbers", with sources swapped and the result inverted as cmp_plans
 * says. */
#include "emu/alu_fp.h"

enum cmp_base { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_NUM };
static const struct cmp_plan {
    uint8_t base, swap, invert;
} cmp_plans[] = {[ISA_EQ] = {CMP_EQ, 0, 0},   [ISA_NE] = {CMP_NE, 0, 0},  [ISA_LT] = {CMP_LT, 0, 0},
                 [ISA_LE] = {CMP_LE, 0, 0},   [ISA_GT] = {CMP_LT, 1, 0},  [ISA_GE] = {CMP_LE, 1, 0},
                 [ISA_EQU] = {CMP_NE, 0, 1},  [ISA_NEU] = {CMP_EQ, 0, 1}, [ISA_LTU] = {CMP_LE, 1, 1},
                 [ISA_LEU] = {CMP_LT, 1, 1},  [ISA_GTU] = {CMP_LE, 0, 1}, [ISA_GEU] = {CMP_LT, 0, 1},
                 [ISA_NUM] = {CMP_NUM, 0, 0}, [ISA_NAN] = {CMP_NUM, 0, 1}};

#define CMP_LOOP(COND)                                                                                       \
    for (int l = 0; l < ISA_LANES; l++) f[l] = (COND) ? UINT32_MAX : 0;                                      \
    break;
/* compare_T: a lane mask out of two arrays of T. */
#define CMP_FUNCTION(T)                                                                                      \
    static ALU_NOINLINE uint32_t compare_##T(const T *a, const T *b, int cmp)                                \
    {                                                                                                        \
        const struct cmp_plan plan = cmp_plans[cmp];                                                         \
        ALU_ALIGNED uint32_t f[ISA_LANES];                                                                   \
        if (plan.swap) {                                                                                     \
            const T *t = a;                                                                                  \
            a = b;                                                                                           \
            b = t;                                                                                           \
        }                                                                                                    \
        switch (plan.base) {                                                                                 \
        case CMP_EQ: CMP_LOOP(a[l] == b[l])                                                                  \
        case CMP_NE: CMP_LOOP((a[l] < b[l]) | (a[l] > b[l]))                                                 \
        case CMP_LT: CMP_LOOP(a[l] < b[l])                                                                   \
        case CMP_LE: CMP_LOOP(a[l] <= b[l])                                                                  \
        default: CMP_LOOP((a[l] == a[l]) & (b[l] == b[l])) /* CMP_NUM */                                     \
        }                                                                                                    \
        const uint32_t m = alu_pack_mask(f);                                                                 \
        return plan.invert ? ~m : m;                                                                         \
    }
CMP_FUNCTION(int32_t)
CMP_FUNCTION(uint32_t)
CMP_FUNCTION(int64_t)
CMP_FUNCTION(uint64_t)
CMP_FUNCTION(float)
CMP_FUNCTION(double)

ALU_INLINE uint32_t combine(uint32_t v, const struct exec *x, const struct isa_inst *i)
{
    switch (i->mod2) {
    case ISA_BOOL_AND: return v & exec_pred(x, i->src[2]);
    case ISA_BOOL_OR: return v | exec_pred(x, i->src[2]);
    case ISA_BOOL_XOR: return v ^ exec_pred(x, i->src[2]);
    default: return v;
    }
}
ALU_INLINE void put_both(struct exec *x, const struct isa_inst *i, uint32_t mask, uint32_t p, uint32_t q)
{
    p = combine(p, x, i);
    q = combine(q, x, i);
    exec_set_pred(x, i->dst[0], p, mask);
    exec_set_pred(x, i->dst[1], q, mask);
}

/* Rows whose lanes are the compared values already. */
#define SETP_PLAIN(OP, T)                                                                                    \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]);                           \
        const uint32_t m = compare_##T((const T *)pa, (const T *)pb, i->mod);                                \
        put_both(x, i, mask, m, ~m);                                                                         \
    }
/* Rows that first convert lane l of row p to T. */
#define SETP_MADE(OP, T, LANE)                                                                               \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const bool ftz = ALU_HAS(FTZ);                                                                       \
        ALU_ALIGNED T v[2][ISA_LANES];                                                                       \
        for (int k = 0; k < 2; k++) {                                                                        \
            const uint32_t *p = exec_src(x, i->src[k]);                                                      \
            (void)ftz;                                                                                       \
            for (int l = 0; l < ISA_LANES; l++) v[k][l] = (LANE);                                            \
        }                                                                                                    \
        const uint32_t m = compare_##T(v[0], v[1], i->mod);                                                  \
        put_both(x, i, mask, m, ~m);                                                                         \
    }
#define F16_LANE(h)  f32_of(f32_from_f16(ftz ? f16_flush(h) : (h)))
#define BF16_LANE(h) f32_of(f32_from_bf16(h))
#define SETP_ROWS(PLAIN, MADE)                                                                               \
    PLAIN(SETP_U32, uint32_t)                                                                                \
    PLAIN(SETP_S32, int32_t)                                                                                 \
    MADE(SETP_U16, uint32_t, p[l] & 0xffff)                                                                  \
    MADE(SETP_S16, int32_t, (int16_t)p[l])                                                                   \
    MADE(SETP_U64, uint64_t, alu_lane64(p, l))                                                               \
    MADE(SETP_S64, int64_t, (int64_t)alu_lane64(p, l))                                                       \
    MADE(SETP_F64, double, f64_of(alu_lane64(p, l)))                                                         \
    MADE(SETP_F16, float, F16_LANE(p[l] & 0xffff))                                                           \
    MADE(SETP_BF16, float, BF16_LANE(p[l] & 0xffff))
SETP_ROWS(SETP_PLAIN, SETP_MADE)

static ALU_NOINLINE void setp_f32_ftz(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    ALU_ALIGNED float v[2][ISA_LANES];
    for (int k = 0; k < 2; k++) {
        const uint32_t *p = exec_src(x, i->src[k]);
        for (int l = 0; l < ISA_LANES; l++) v[k][l] = f32_of(f32_flush(p[l]));
    }
    const uint32_t m = compare_float(v[0], v[1], i->mod);
    put_both(x, i, mask, m, ~m);
}
ALU_ROW(SETP_F32)
{
    if (ALU_HAS(FTZ)) {
        setp_f32_ftz(x, i, mask);
        return;
    }
    const uint32_t *pa = exec_src(x, i->src[0]), *pb = exec_src(x, i->src[1]);
    const uint32_t m = compare_float((const float *)pa, (const float *)pb, i->mod);
    put_both(x, i, mask, m, ~m);
}

/* Packed halves: one comparison for the low ones, one for the high ones. */
ALU_INLINE void compare_x2(uint32_t *m, struct exec *x, const struct isa_inst *i, bool is_bf16)
{
    const bool ftz = ALU_HAS(FTZ);
    ALU_ALIGNED float v[2][ISA_LANES];
    for (int half = 0; half < 2; half++) {
        for (int k = 0; k < 2; k++) {
            const uint32_t *p = exec_src(x, i->src[k]);
            for (int l = 0; l < ISA_LANES; l++) {
                const uint32_t h = p[l] >> (16 * half) & 0xffff;
                v[k][l] = is_bf16 ? BF16_LANE(h) : F16_LANE(h);
            }
        }
        m[half] = compare_float(v[0], v[1], i->mod);
    }
}
#define X2_ROW(SETP, SET, is_bf16, one)                                                                      \
    ALU_ROW(SETP)                                                                                            \
    {                                                                                                        \
        uint32_t m[2];                                                                                       \
        compare_x2(m, x, i, is_bf16);                                                                        \
        put_both(x, i, mask, m[0], m[1]);                                                                    \
    }                                                                                                        \
    ALU_ROW(SET)                                                                                             \
    {                                                                                                        \
        uint32_t m[2];                                                                                       \
        ALU_ALIGNED uint32_t o[ISA_LANES];                                                                   \
        compare_x2(m, x, i, is_bf16);                                                                        \
        m[0] = combine(m[0], x, i);                                                                          \
        m[1] = combine(m[1], x, i);                                                                          \
        for (int l = 0; l < ISA_LANES; l++)                                                                  \
            o[l] = (m[0] & 1u << l ? one : 0) | (m[1] & 1u << l ? one << 16 : 0);                            \
        alu_put32(x, i->dst[0], o, mask);                                                                    \
    }
X2_ROW(SETP_F16X2, SET_F16X2, false, 0x3c00u)
X2_ROW(SETP_BF16X2, SET_BF16X2, true, 0x3f80u)

/* testp: classes by the magnitude's bits; zeros count as normal. */
ALU_INLINE bool in_class(uint64_t mag, uint64_t inf, uint64_t normal_min, int class)
{
    switch (class) {
    case ISA_TESTP_FINITE: return mag < inf;
    case ISA_TESTP_INFINITE: return mag == inf;
    case ISA_TESTP_NUMBER: return mag <= inf;
    case ISA_TESTP_NOTANUMBER: return mag > inf;
    case ISA_TESTP_NORMAL: return !mag || (mag >= normal_min && mag < inf);
    default: return mag && mag < normal_min; /* ISA_TESTP_SUBNORMAL */
    }
}
#define TESTP_ROW(OP, MAG, inf, normal_min)                                                                  \
    ALU_ROW(OP)                                                                                              \
    {                                                                                                        \
        const uint32_t *pa = exec_src(x, i->src[0]);                                                         \
        uint32_t m = 0;                                                                                      \
        for (int l = 0; l < ISA_LANES; l++) m |= (uint32_t)in_class(MAG, inf, normal_min, i->mod) << l;      \
        exec_set_pred(x, i->dst[0], m, mask);                                                                \
    }
#define TESTP_ROWS(T)                                                                                        \
    T(TESTP_F32, pa[l] & 0x7fffffff, F32_INF, 0x00800000)                                                    \
    T(TESTP_F64, alu_lane64(pa, l) & F64_NAN, F64_INF, 0x0010000000000000)
TESTP_ROWS(TESTP_ROW)

void ALU_NAME(alu_setp_rows)(exec_fn **table)
{
    SETP_ROWS(ALU_SET, ALU_SET)
    TESTP_ROWS(ALU_SET)
    ALU_ENTER(SETP_F32);
    ALU_ENTER(SETP_F16X2);
    ALU_ENTER(SETP_BF16X2);
    ALU_ENTER(SET_F16X2);
    ALU_ENTER(SET_BF16X2);
}
