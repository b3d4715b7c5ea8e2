/* test_alu_float.c: floating-point rows against MPFR: every rounding mode of the exact operations and
 * conversions, and the error of the approximate functions against the bounds of the PTX manual. */
#include "test_alu.h"

#include <mpfr.h>

/* ---- formats between bits and MPFR ---- */

struct format {
    int bits, mant, emin;
    uint64_t nan;
}; /* mant = stored bits of significand, emin = exponent of the least normal */
static const struct format f64 = {64, 52, -1022, 0}, f32 = {32, 23, -126, 0x7fffffff},
                           f16 = {16, 10, -14, 0x7fff}, bf16 = {16, 7, -126, 0x7fff};

static uint64_t inf_bits(const struct format *f)
{
    return ((1ull << (f->bits - 1)) - 1) >> f->mant << f->mant;
}
static uint64_t mag_bits(const struct format *f, uint64_t b) { return b & ((1ull << (f->bits - 1)) - 1); }
static bool is_nan(const struct format *f, uint64_t b) { return mag_bits(f, b) > inf_bits(f); }
static bool is_tiny(const struct format *f, uint64_t b) { return mag_bits(f, b) >> f->mant == 0; }
static uint64_t flush(const struct format *f, uint64_t b)
{
    return is_tiny(f, b) ? b & 1ull << (f->bits - 1) : b;
}

static void decode(const struct format *f, uint64_t b, mpfr_t x)
{
    const uint64_t mag = mag_bits(f, b), exp = mag >> f->mant, frac = mag & ((1ull << f->mant) - 1);
    const bool negative = b >> (f->bits - 1) & 1;
    if (mag == inf_bits(f))
        mpfr_set_inf(x, 1);
    else
        mpfr_set_ui_2exp(x, exp ? frac | 1ull << f->mant : frac, (long)MAX(exp, 1ull) - 1 + f->emin - f->mant,
                         MPFR_RNDN);
    if (negative) mpfr_neg(x, x, MPFR_RNDN);
}

/* x, made by an operation with ternary value t at the format's precision, to bits. */
static uint64_t encode(const struct format *f, mpfr_t x, int t, mpfr_rnd_t round)
{
    const mpfr_exp_t lo = mpfr_get_emin(), hi = mpfr_get_emax();
    mpfr_set_emin(f->emin - f->mant + 1);
    mpfr_set_emax(2 - f->emin);
    t = mpfr_check_range(x, t, round);
    mpfr_subnormalize(x, t, round);
    mpfr_set_emin(lo);
    mpfr_set_emax(hi);
    const uint64_t sign = (uint64_t)(mpfr_signbit(x) != 0) << (f->bits - 1);
    if (mpfr_inf_p(x)) return sign | inf_bits(f);
    if (mpfr_zero_p(x)) return sign;
    mpfr_t m;
    mpfr_init2(m, 64);
    mpfr_exp_t e = MAX(mpfr_get_exp(x) - 1, f->emin);
    mpfr_mul_2si(m, x, (long)(f->mant - e), MPFR_RNDN);
    mpfr_abs(m, m, MPFR_RNDN);
    const uint64_t units = mpfr_get_uj(m, MPFR_RNDN);
    mpfr_clear(m);
    return sign | (units + ((uint64_t)(e - f->emin) << f->mant));
}

static const mpfr_rnd_t modes[] = {
    [ISA_RN] = MPFR_RNDN, [ISA_RZ] = MPFR_RNDZ, [ISA_RM] = MPFR_RNDD, [ISA_RP] = MPFR_RNDU};

/* Operands of a format: edges, neighbours of each other, anything. */
static uint64_t operand(struct rng *r, const struct format *f, uint64_t other)
{
    const uint64_t all = f->bits == 64 ? UINT64_MAX : (1ull << f->bits) - 1, sign = rng_u64(r)
                                                                                    << (f->bits - 1);
    switch (rng_below(r, 8)) {
    case 0: return (inf_bits(f) - rng_below(r, 3) * (1ull << f->mant) - rng_below(r, 4)) | (sign & all);
    case 1: return rng_below(r, 1ull << (f->mant + 1)) | (sign & all); /* subnormals and the first normals */
    case 2: return (other ^ (sign & all)) + rng_below(r, 5) - 2;
    case 3: return other + ((rng_below(r, 2u * (unsigned)f->mant) - (uint64_t)f->mant) << f->mant);
    case 4: return 1ull << rng_below(r, (uint64_t)f->bits);
    default: return rng_u64(r) & all;
    }
}

/* ---- exact operations ---- */

enum { ADD, SUB, MUL, FMA, DIV, RCP, SQRT };
static int compute(int what, mpfr_t x, mpfr_t a, mpfr_t b, mpfr_t c, mpfr_rnd_t m)
{
    switch (what) {
    case ADD: return mpfr_add(x, a, b, m);
    case SUB: return mpfr_sub(x, a, b, m);
    case MUL: return mpfr_mul(x, a, b, m);
    case FMA: return mpfr_fma(x, a, b, c, m);
    case DIV: return mpfr_div(x, a, b, m);
    case RCP: return mpfr_ui_div(x, 1, a, m);
    default: return mpfr_sqrt(x, a, m);
    }
}
static const struct {
    enum isa_op op;
    int what;
    const struct format *f;
} exact[] = {{ISA_OP_ADD_F32, ADD, &f32},   {ISA_OP_SUB_F32, SUB, &f32},   {ISA_OP_MUL_F32, MUL, &f32},
             {ISA_OP_FMA_F32, FMA, &f32},   {ISA_OP_DIV_F32, DIV, &f32},   {ISA_OP_RCP_F32, RCP, &f32},
             {ISA_OP_SQRT_F32, SQRT, &f32}, {ISA_OP_ADD_F64, ADD, &f64},   {ISA_OP_SUB_F64, SUB, &f64},
             {ISA_OP_MUL_F64, MUL, &f64},   {ISA_OP_FMA_F64, FMA, &f64},   {ISA_OP_DIV_F64, DIV, &f64},
             {ISA_OP_RCP_F64, RCP, &f64},   {ISA_OP_SQRT_F64, SQRT, &f64}, {ISA_OP_ADD_F16, ADD, &f16},
             {ISA_OP_SUB_F16, SUB, &f16},   {ISA_OP_MUL_F16, MUL, &f16},   {ISA_OP_FMA_F16, FMA, &f16},
             {ISA_OP_ADD_BF16, ADD, &bf16}, {ISA_OP_SUB_BF16, SUB, &bf16}, {ISA_OP_MUL_BF16, MUL, &bf16},
             {ISA_OP_FMA_BF16, FMA, &bf16}};

static void check_exact(struct alu_case *c, int what, const struct format *f, bool ftz)
{
    mpfr_t a, b, d, x;
    mpfr_inits2(f->mant + 1, a, b, d, x, (mpfr_ptr)0);
    for (int l = 0; l < ISA_LANES; l++) {
        uint64_t v[3], got = c->out[0][l];
        for (int k = 0; k < 3; k++) v[k] = ftz ? flush(f, c->src[k][l]) : c->src[k][l];
        const int sources = what == FMA ? 3 : what >= RCP ? 1 : 2;
        bool nan = false;
        for (int k = 0; k < sources; k++) nan |= is_nan(f, v[k]);
        decode(f, v[0], a);
        decode(f, v[1], b);
        decode(f, v[2], d);
        const int t = nan ? 0 : compute(what, x, a, b, d, modes[c->inst.round]);
        if (nan || mpfr_nan_p(x)) {
            assert_true(f->nan ? got == f->nan : is_nan(f, got));
            continue;
        }
        const bool tiny =
            mpfr_regular_p(x) && mpfr_get_exp(x) <= f->emin; /* after rounding, with any exponent */
        uint64_t want = encode(f, x, t, modes[c->inst.round]);
        if (ftz && tiny) want &= 1ull << (f->bits - 1);
        if (got != want)
            fail_msg("%s round %d: %llx %llx %llx gives %llx, not %llx", isa_ops[c->inst.op].name,
                     c->inst.round, (unsigned long long)v[0], (unsigned long long)v[1],
                     (unsigned long long)v[2], (unsigned long long)got, (unsigned long long)want);
    }
    mpfr_clears(a, b, d, x, (mpfr_ptr)0);
}
static void operations_round_once(void **state)
{
    (void)state;
    struct rng r = {21};
    for (size_t n = 0; n < ARRAY_LEN(exact); n++) {
        const struct format *f = exact[n].f;
        struct alu_case *c = alu_case_new(exact[n].op);
        for (int round = 0; round < 240; round++) {
            const bool ftz = f->bits < 64 && f != &bf16 && round % 3 == 0;
            for (int l = 0; l < ISA_LANES; l++)
                for (int k = 0; k < 3; k++) {
                    c->src[k][l] = operand(&r, f, k ? c->src[k - 1][l] : 0);
                    if (f->bits < 64) c->src[k][l] &= (1ull << f->bits) - 1;
                }
            if (exact[n].what == MUL ||
                exact[n].what == FMA) /* products next to the smallest normal number */
                for (int l = 0; l < ISA_LANES; l += 2) {
                    const uint64_t e = 2 + rng_below(&r, (uint64_t)-f->emin),
                                   one_exp = (uint64_t)(1 - f->emin) - 1;
                    c->src[0][l] = (e << f->mant) + rng_below(&r, 3);
                    c->src[1][l] = ((one_exp + 1 - e) << f->mant) - 1 - rng_below(&r, 5);
                    if (exact[n].what == FMA && rng_below(&r, 2)) c->src[2][l] = 0;
                }
            c->inst.round = (uint8_t)(f->bits == 16 ? ISA_RN : round % 4);
            c->inst.flags = ftz ? ISA_FTZ : 0;
            alu_case_run(c, emu_alu_table());
            check_exact(c, exact[n].what, f, ftz);
        }
        free(c);
    }
}

/* ---- conversions ---- */

static const struct {
    enum isa_op op;
    const struct format *to, *from;
} narrowings[] = {{ISA_OP_CVT_F32_F64, &f32, &f64},   {ISA_OP_CVT_F16_F64, &f16, &f64},
                  {ISA_OP_CVT_BF16_F64, &bf16, &f64}, {ISA_OP_CVT_F16_F32, &f16, &f32},
                  {ISA_OP_CVT_BF16_F32, &bf16, &f32}, {ISA_OP_CVT_F16_BF16, &f16, &bf16},
                  {ISA_OP_CVT_BF16_F16, &bf16, &f16}, {ISA_OP_CVT_F32_F16, &f32, &f16},
                  {ISA_OP_CVT_F64_F16, &f64, &f16},   {ISA_OP_CVT_F64_F32, &f64, &f32},
                  {ISA_OP_CVT_F32_BF16, &f32, &bf16}, {ISA_OP_CVT_F64_BF16, &f64, &bf16}};

static void float_conversions_round_once(void **state)
{
    (void)state;
    struct rng r = {22};
    mpfr_t a, x;
    for (size_t n = 0; n < ARRAY_LEN(narrowings); n++) {
        const struct format *to = narrowings[n].to, *from = narrowings[n].from;
        struct alu_case *c = alu_case_new(narrowings[n].op);
        mpfr_init2(a, from->mant + 1);
        mpfr_init2(x, to->mant + 1);
        for (int round = 0; round < 400; round++) {
            for (int l = 0; l < ISA_LANES; l++) {
                uint64_t v = operand(&r, from, 0);
                if (from->mant > to->mant &&
                    rng_below(&r, 2)) { /* within the target's range, near its halfway points */
                    const uint64_t exp = (uint64_t)(to->emin - from->emin) - (uint64_t)to->mant +
                                         rng_below(&r, (uint64_t)(2 - 2 * to->emin + to->mant));
                    const uint64_t frac = (rng_u64(&r) & ((1ull << (to->mant + 1)) - 1))
                                          << (from->mant - to->mant - 1);
                    v = ((exp << from->mant) + frac + rng_below(&r, 3) - 1) | rng_below(&r, 2)
                                                                                  << (from->bits - 1);
                }
                c->src[0][l] = from->bits < 64 ? v & ((1ull << from->bits) - 1) : v;
            }
            c->inst.round = (uint8_t)(round % 4);
            alu_case_run(c, emu_alu_table());
            for (int l = 0; l < ISA_LANES; l++) {
                const uint64_t v = c->src[0][l], got = c->out[0][l];
                if (is_nan(from, v)) {
                    assert_true(is_nan(to, got));
                    continue;
                }
                decode(from, v, a);
                const int t = mpfr_set(x, a, modes[c->inst.round]);
                const uint64_t want = encode(to, x, t, modes[c->inst.round]);
                if (got != want)
                    fail_msg("%s round %d: %llx gives %llx, not %llx", isa_ops[c->inst.op].name,
                             c->inst.round, (unsigned long long)v, (unsigned long long)got,
                             (unsigned long long)want);
            }
        }
        mpfr_clears(a, x, (mpfr_ptr)0);
        free(c);
    }
}

static const struct {
    enum isa_op op;
    const struct format *f;
    int bits;
    bool is_signed;
} to_float[] = {{ISA_OP_CVT_F32_U64, &f32, 64, false},   {ISA_OP_CVT_F32_S64, &f32, 64, true},
                {ISA_OP_CVT_F64_U64, &f64, 64, false},   {ISA_OP_CVT_F64_S64, &f64, 64, true},
                {ISA_OP_CVT_F32_U32, &f32, 32, false},   {ISA_OP_CVT_F32_S32, &f32, 32, true},
                {ISA_OP_CVT_F64_U32, &f64, 32, false},   {ISA_OP_CVT_F16_S32, &f16, 32, true},
                {ISA_OP_CVT_F16_U64, &f16, 64, false},   {ISA_OP_CVT_BF16_S32, &bf16, 32, true},
                {ISA_OP_CVT_BF16_U64, &bf16, 64, false}, {ISA_OP_CVT_BF16_S64, &bf16, 64, true},
                {ISA_OP_CVT_F32_S8, &f32, 8, true},      {ISA_OP_CVT_F16_U16, &f16, 16, false},
                {ISA_OP_CVT_BF16_S16, &bf16, 16, true}};

static void integers_become_floats_in_one_rounding(void **state)
{
    (void)state;
    struct rng r = {23};
    mpfr_t x;
    for (size_t n = 0; n < ARRAY_LEN(to_float); n++) {
        struct alu_case *c = alu_case_new(to_float[n].op);
        mpfr_init2(x, to_float[n].f->mant + 1);
        for (int round = 0; round < 400; round++) {
            for (int l = 0; l < ISA_LANES; l++)
                c->src[0][l] = (alu_operand(&r) & ~(UINT64_MAX >> rng_below(&r, 64))) + rng_below(&r, 3) - 1;
            c->inst.round = (uint8_t)(round % 4);
            alu_case_run(c, emu_alu_table());
            for (int l = 0; l < ISA_LANES; l++) {
                const int drop = 64 - to_float[n].bits;
                const uint64_t v = c->src[0][l];
                const mpfr_rnd_t m = modes[c->inst.round];
                const int t = to_float[n].is_signed ? mpfr_set_sj(x, (int64_t)(v << drop) >> drop, m)
                                                    : mpfr_set_uj(x, v << drop >> drop, m);
                const uint64_t want = encode(to_float[n].f, x, t, m);
                if (c->out[0][l] != want)
                    fail_msg("%s round %d: %llx gives %llx, not %llx", isa_ops[c->inst.op].name,
                             c->inst.round, (unsigned long long)v, (unsigned long long)c->out[0][l],
                             (unsigned long long)want);
            }
        }
        mpfr_clear(x);
        free(c);
    }
}

#define TO_INT(T, S, f, bits, sign)                                                                          \
    {                                                                                                        \
        ISA_OP_CVT_##T##_##S, f, bits, sign                                                                  \
    }
#define TO_INTS(S, f)                                                                                        \
    TO_INT(U8, S, f, 8, false), TO_INT(S8, S, f, 8, true), TO_INT(U16, S, f, 16, false),                     \
        TO_INT(S16, S, f, 16, true), TO_INT(U32, S, f, 32, false), TO_INT(S32, S, f, 32, true),              \
        TO_INT(U64, S, f, 64, false), TO_INT(S64, S, f, 64, true)
static const struct {
    enum isa_op op;
    const struct format *f;
    int bits;
    bool is_signed;
} to_int[] = {TO_INTS(F16, &f16), TO_INTS(BF16, &bf16), TO_INTS(F32, &f32), TO_INTS(F64, &f64)};

static void floats_become_bounded_integers(void **state)
{
    (void)state;
    struct rng r = {24};
    mpfr_t x;
    for (size_t n = 0; n < ARRAY_LEN(to_int); n++) {
        const struct format *f = to_int[n].f;
        struct alu_case *c = alu_case_new(to_int[n].op);
        mpfr_init2(x, 64);
        for (int round = 0; round < 120; round++) {
            for (int l = 0; l < ISA_LANES; l++) {
                uint64_t v = operand(&r, f, 0);
                if (rng_below(&r, 3)) { /* 2^-2 to 2^66, often integers and halves */
                    const uint64_t exp = (uint64_t)(-f->emin - 1) + rng_below(&r, 68),
                                   keep = rng_below(&r, (uint64_t)f->mant + 1);
                    v = ((exp << f->mant) |
                         (rng_u64(&r) & ((1ull << f->mant) - 1) & ~((1ull << (f->mant - (int)keep)) - 1))) |
                        rng_below(&r, 2) << (f->bits - 1);
                }
                c->src[0][l] = f->bits < 64 ? v & ((1ull << f->bits) - 1) : v;
            }
            c->inst.round = (uint8_t)(ISA_RNI + round % 4);
            alu_case_run(c, emu_alu_table());
            for (int l = 0; l < ISA_LANES; l++) {
                if (is_nan(f, c->src[0][l])) continue; /* left to the values recorded on silicon */
                decode(f, c->src[0][l], x);
                mpfr_rint(x, x, modes[round % 4]);
                const int bits = to_int[n].bits;
                const uint64_t hi = UINT64_MAX >> (64 - bits + to_int[n].is_signed);
                const int64_t lo = to_int[n].is_signed ? -(int64_t)hi - 1 : 0;
                const uint64_t want = (mpfr_cmp_ui(x, hi) > 0   ? hi
                                       : mpfr_cmp_si(x, lo) < 0 ? (uint64_t)lo
                                       : mpfr_signbit(x)        ? (uint64_t)mpfr_get_sj(x, MPFR_RNDN)
                                                                : mpfr_get_uj(x, MPFR_RNDN)) &
                                      UINT64_MAX >> (64 - bits);
                if (c->out[0][l] != want)
                    fail_msg("%s round %d: %llx gives %llx, not %llx", isa_ops[c->inst.op].name,
                             c->inst.round, (unsigned long long)c->src[0][l],
                             (unsigned long long)c->out[0][l], (unsigned long long)want);
            }
        }
        mpfr_clear(x);
        free(c);
    }
}

/* ---- approximate functions ---- */

static int fn_rcp(mpfr_t x, mpfr_t a) { return mpfr_ui_div(x, 1, a, MPFR_RNDN); }
static int fn_sqrt(mpfr_t x, mpfr_t a) { return mpfr_sqrt(x, a, MPFR_RNDN); }
static int fn_rsqrt(mpfr_t x, mpfr_t a) { return mpfr_rec_sqrt(x, a, MPFR_RNDN); }
static int fn_sin(mpfr_t x, mpfr_t a) { return mpfr_sin(x, a, MPFR_RNDN); }
static int fn_cos(mpfr_t x, mpfr_t a) { return mpfr_cos(x, a, MPFR_RNDN); }
static int fn_lg2(mpfr_t x, mpfr_t a) { return mpfr_log2(x, a, MPFR_RNDN); }
static int fn_ex2(mpfr_t x, mpfr_t a) { return mpfr_exp2(x, a, MPFR_RNDN); }
static int fn_tanh(mpfr_t x, mpfr_t a) { return mpfr_tanh(x, a, MPFR_RNDN); }

/* Bound 2^bound_log2, relative or absolute, over [lo, hi]. */
static const struct {
    enum isa_op op;
    int (*fn)(mpfr_t, mpfr_t);
    const struct format *f;
    double lo, hi;
    double bound_log2;
    bool relative;
} approx[] = {
    {ISA_OP_RCP_APPROX_F32, fn_rcp, &f32, 1e-30, 1e30, -23, true},
    {ISA_OP_SQRT_APPROX_F32, fn_sqrt, &f32, 1e-30, 1e30, -23, true},
    {ISA_OP_RSQRT_APPROX_F32, fn_rsqrt, &f32, 1e-30, 1e30, -22.9, true},
    {ISA_OP_SIN_F32, fn_sin, &f32, -3.1415927, 3.1415927, -20.9, false},
    {ISA_OP_COS_F32, fn_cos, &f32, -3.1415927, 3.1415927, -20.9, false},
    {ISA_OP_SIN_F32, fn_sin, &f32, -314, 314, -14.7, false},
    {ISA_OP_COS_F32, fn_cos, &f32, -314, 314, -14.7, false},
    {ISA_OP_LG2_F32, fn_lg2, &f32, 0.5, 2, -22, false},
    {ISA_OP_LG2_F32, fn_lg2, &f32, 2, 1e30, -22, true},
    {ISA_OP_LG2_F32, fn_lg2, &f32, 1e-30, 0.5, -22, true},
    {ISA_OP_EX2_F32, fn_ex2, &f32, -126, 127.99, -22.5, true},
    {ISA_OP_TANH_F32, fn_tanh, &f32, -20, 20, -11, true},
    {ISA_OP_TANH_F32, fn_tanh, &f32, -0.05, 0.05, -11, true},
    {ISA_OP_RCP_APPROX_F64, fn_rcp, &f64, 1e-30, 1e30, -19.9, true},
    {ISA_OP_RSQRT_APPROX_F64, fn_rsqrt, &f64, 1e-30, 1e30, -52, true},
    {ISA_OP_EX2_F16, fn_ex2, &f16, -14, 15.9, -9.9, true},
    {ISA_OP_TANH_F16, fn_tanh, &f16, -4, 4, -10.987, false},
    {ISA_OP_EX2_BF16, fn_ex2, &bf16, -126, 127, -7, true},
    {ISA_OP_TANH_BF16, fn_tanh, &bf16, -4, 4, -8, false},
};

static uint64_t bits_of(const struct format *f, double v, mpfr_t scratch)
{
    mpfr_set_prec(scratch, f->mant + 1);
    return encode(f, scratch, mpfr_set_d(scratch, v, MPFR_RNDN), MPFR_RNDN);
}
static void approximations_keep_the_bounds(void **state)
{
    (void)state;
    mpfr_t a, got, want, bound;
    mpfr_inits2(120, a, got, want, bound, (mpfr_ptr)0);
    for (size_t n = 0; n < ARRAY_LEN(approx); n++) {
        struct alu_case *c = alu_case_new(approx[n].op);
        const double lo = approx[n].lo, hi = approx[n].hi, steps = 4096;
        for (int k = 0; k < (int)steps; k += ISA_LANES) {
            for (int l = 0; l < ISA_LANES; l++) { /* even steps; over decades, even steps of the exponent */
                const double at = (k + l + 0.37) / steps;
                double v = lo + (hi - lo) * at;
                if (lo > 0 && hi / lo > 1e3) { /* lo * (hi/lo)^at, by MPFR */
                    mpfr_set_d(a, hi / lo, MPFR_RNDN);
                    mpfr_set_d(got, at, MPFR_RNDN);
                    mpfr_pow(a, a, got, MPFR_RNDN);
                    v = lo * mpfr_get_d(a, MPFR_RNDN);
                }
                c->src[0][l] = bits_of(approx[n].f, v, got);
            }
            mpfr_set_prec(got, 120);
            alu_case_run(c, emu_alu_table());
            for (int l = 0; l < ISA_LANES; l++) {
                uint64_t in = c->src[0][l];
                if (approx[n].op == ISA_OP_RCP_APPROX_F64) in &= 0xffffffff00000000ull;
                decode(approx[n].f, in, a);
                approx[n].fn(want, a);
                decode(approx[n].f, c->out[0][l], got);
                mpfr_sub(got, got, want, MPFR_RNDN);
                if (approx[n].relative) mpfr_div(got, got, want, MPFR_RNDN);
                mpfr_set_d(bound, approx[n].bound_log2, MPFR_RNDN);
                mpfr_exp2(bound, bound, MPFR_RNDN);
                if (mpfr_cmpabs(got, bound) > 0)
                    fail_msg("%s: %llx gives %llx, error %g", isa_ops[approx[n].op].name,
                             (unsigned long long)in, (unsigned long long)c->out[0][l],
                             mpfr_get_d(got, MPFR_RNDN));
            }
        }
        free(c);
    }
    mpfr_clears(a, got, want, bound, (mpfr_ptr)0);
}

/* The manual's tables of special values: source, result, result with .ftz. */
static void approximations_know_special_values(void **state)
{
    (void)state;
    static const struct {
        enum isa_op op;
        uint32_t in, out, ftz;
    } rows[] = {
        {ISA_OP_RCP_APPROX_F32, 0xff800000, 0x80000000, 0x80000000},
        {ISA_OP_RCP_APPROX_F32, 0x80000001, 0xff800000, 0xff800000},
        {ISA_OP_RCP_APPROX_F32, 0x80000000, 0xff800000, 0xff800000},
        {ISA_OP_RCP_APPROX_F32, 0, 0x7f800000, 0x7f800000},
        {ISA_OP_RCP_APPROX_F32, 0x7f800000, 0, 0},
        {ISA_OP_RCP_APPROX_F32, 0x7f800001, 0x7fffffff, 0x7fffffff},
        {ISA_OP_SQRT_APPROX_F32, 0xff800000, 0x7fffffff, 0x7fffffff},
        {ISA_OP_SQRT_APPROX_F32, 0xbf800000, 0x7fffffff, 0x7fffffff},
        {ISA_OP_SQRT_APPROX_F32, 0x80000000, 0x80000000, 0x80000000},
        {ISA_OP_SQRT_APPROX_F32, 0, 0, 0},
        {ISA_OP_SQRT_APPROX_F32, 0x7f800000, 0x7f800000, 0x7f800000},
        {ISA_OP_RSQRT_APPROX_F32, 0x80000000, 0xff800000, 0xff800000},
        {ISA_OP_RSQRT_APPROX_F32, 0, 0x7f800000, 0x7f800000},
        {ISA_OP_RSQRT_APPROX_F32, 0x7f800000, 0, 0},
        {ISA_OP_RSQRT_APPROX_F32, 0xbf800000, 0x7fffffff, 0x7fffffff},
        {ISA_OP_SIN_F32, 0x7f800000, 0x7fffffff, 0x7fffffff},
        {ISA_OP_SIN_F32, 0x80000000, 0x80000000, 0x80000000},
        {ISA_OP_SIN_F32, 0x80000001, 0x80000000, 0x80000000},
        {ISA_OP_SIN_F32, 0, 0, 0},
        {ISA_OP_COS_F32, 0x80000001, 0x3f800000, 0x3f800000},
        {ISA_OP_COS_F32, 0xff800000, 0x7fffffff, 0x7fffffff},
        {ISA_OP_LG2_F32, 0xff800000, 0x7fffffff, 0x7fffffff},
        {ISA_OP_LG2_F32, 0x80000000, 0xff800000, 0xff800000},
        {ISA_OP_LG2_F32, 0, 0xff800000, 0xff800000},
        {ISA_OP_LG2_F32, 1, 0xc3150000, 0xff800000},
        {ISA_OP_LG2_F32, 0x7f800000, 0x7f800000, 0x7f800000},
        {ISA_OP_LG2_F32, 0x80000001, 0x7fffffff, 0xff800000},
        {ISA_OP_EX2_F32, 0xff800000, 0, 0},
        {ISA_OP_EX2_F32, 0x80000001, 0x3f800000, 0x3f800000},
        {ISA_OP_EX2_F32, 0, 0x3f800000, 0x3f800000},
        {ISA_OP_EX2_F32, 0x7f800000, 0x7f800000, 0x7f800000},
        {ISA_OP_EX2_F32, 0xc3000000, 0x00200000, 0},
        {ISA_OP_TANH_F32, 0x7f800000, 0x3f800000, 0x3f800000},
        {ISA_OP_TANH_F32, 0xff800000, 0xbf800000, 0xbf800000},
        {ISA_OP_TANH_F32, 0x80000000, 0x80000000, 0x80000000},
    };
    for (size_t n = 0; n < ARRAY_LEN(rows); n++)
        for (int ftz = 0; ftz < 2; ftz++) {
            struct alu_case *c = alu_case_new(rows[n].op);
            c->inst.flags = ftz ? ISA_FTZ : 0;
            c->src[0][5] = rows[n].in;
            alu_case_run(c, emu_alu_table());
            if (c->out[0][5] != (ftz ? rows[n].ftz : rows[n].out))
                fail_msg("%s%s: %x gives %llx", isa_ops[rows[n].op].name, ftz ? ".ftz" : "", rows[n].in,
                         (unsigned long long)c->out[0][5]);
            free(c);
        }
}

/* ---- minimum, maximum, comparison, 8-bit formats ---- */

static uint64_t one(enum isa_op op, uint16_t flags, uint8_t mod, uint64_t a, uint64_t b)
{
    struct alu_case *c = alu_case_new(op);
    c->inst.flags = flags;
    c->inst.mod = mod;
    c->src[0][9] = a;
    c->src[1][9] = b;
    alu_case_run(c, emu_alu_table());
    const uint64_t out = c->out[0][9];
    free(c);
    return out;
}
static void minimum_and_maximum_of_special_values(void **state)
{
    (void)state;
    const uint32_t nan = 0xffc00001, inf = 0x7f800000, m1 = 0xbf800000, p1 = 0x3f800000, z = 0x80000000,
                   tiny = 1;
    assert_int_equal(one(ISA_OP_MIN_F32, 0, 0, nan, p1), p1);
    assert_int_equal(one(ISA_OP_MAX_F32, 0, 0, m1, nan), m1);
    assert_int_equal(one(ISA_OP_MAX_F32, 0, 0, nan, nan), 0x7fffffff);
    assert_int_equal(one(ISA_OP_MAX_F32, ISA_NANPROP, 0, nan, inf), 0x7fffffff);
    assert_int_equal(one(ISA_OP_MIN_F32, 0, 0, 0, z), z);
    assert_int_equal(one(ISA_OP_MAX_F32, 0, 0, z, 0), 0);
    assert_int_equal(one(ISA_OP_MAX_F32, ISA_FTZ, 0, tiny, z), 0);
    assert_int_equal(one(ISA_OP_MIN_F32, ISA_XORSIGN, 0, m1, inf), m1);
    assert_int_equal(one(ISA_OP_MAX_F32, ISA_XORSIGN, 0, m1, 0xc0000000), 0x40000000);
    assert_int_equal(one(ISA_OP_MIN_F16X2, 0, 0, 0x7e00bc00, 0x3c003c00), 0x3c00bc00);
    assert_int_equal(one(ISA_OP_MAX_BF16, ISA_NANPROP, 0, 0x7fc1, 0x3f80), 0x7fff);
    assert_true(one(ISA_OP_MIN_F64, 0, 0, 0x8000000000000000ull, 0) == 0x8000000000000000ull);
    assert_true(one(ISA_OP_MAX_F64, 0, 0, 0x7ff8000000000000ull, 0xbff0000000000000ull) ==
                0xbff0000000000000ull);
}
static void comparisons_of_floats_know_nan(void **state)
{
    (void)state;
    const double values[] = {-1, -0.0, 0, 1, 2, 0x1p-130, 3};
    for (int cmp = ISA_EQ; cmp <= ISA_NAN; cmp++)
        for (int k = 0; k < 8 * 8; k++) {
            const bool na = k / 8 == 7, nb = k % 8 == 7;
            const float a = na ? __builtin_nanf("") : (float)values[k / 8],
                        b = nb ? __builtin_nanf("") : (float)values[k % 8];
            const bool ordered = !na && !nb;
            const bool want[] = {a == b,  ordered && a != b, a<b, a <= b, a> b, a >= b,    !ordered || a == b,
                                 a != b,  !(a >= b),         !(a > b),          !(a <= b), !(a < b),
                                 ordered, !ordered};
            uint32_t ba, bb;
            uint64_t da, db;
            const double wa = a, wb = b;
            memcpy(&ba, &a, 4), memcpy(&bb, &b, 4), memcpy(&da, &wa, 8), memcpy(&db, &wb, 8);
            assert_int_equal(one(ISA_OP_SETP_F32, 0, (uint8_t)cmp, ba, bb), want[cmp]);
            assert_int_equal(one(ISA_OP_SETP_F64, 0, (uint8_t)cmp, da, db), want[cmp]);
            assert_int_equal(one(ISA_OP_SETP_BF16, 0, (uint8_t)cmp, ba >> 16, bb >> 16), want[cmp]);
        }
    assert_int_equal(one(ISA_OP_SETP_F32, ISA_FTZ, ISA_EQ, 1, 0x80000003), 1);
    assert_int_equal(one(ISA_OP_SETP_F16, 0, ISA_LT, 0xbc00, 0x3c00), 1);
}
/* Each 8-bit value to f16 and back; values between neighbours go to the nearer one. */
static void small_floats_round_trip(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (uint32_t v = 0; v < 256; v++) {
            const enum isa_op up = kind ? ISA_OP_CVT_F16X2_E5M2X2 : ISA_OP_CVT_F16X2_E4M3X2;
            const enum isa_op down = kind ? ISA_OP_CVT_E5M2X2_F16X2 : ISA_OP_CVT_E4M3X2_F16X2;
            const uint32_t h = (uint32_t)one(up, 0, 0, v << 8 | v, 0), mag = v & 0x7f;
            assert_int_equal(h >> 16, h & 0xffff);
            const bool nan = kind ? mag > 0x7c : mag == 0x7f, inf = kind && mag == 0x7c;
            const uint32_t back = nan ? 0x7f7f : (inf ? v - 1 : v) * 0x101;
            assert_int_equal(one(down, 0, 0, h, 0), back);
            if (nan) assert_int_equal(h & 0xffff, 0x7fff);
        }
    assert_int_equal(one(ISA_OP_CVT_E4M3X2_F32, 0, 0, 0x43e00001, 0xc7c35000), 0x7efe); /* beyond 448 */
    assert_int_equal(one(ISA_OP_CVT_E4M3X2_F32, 0, 0, 0x3f880000, 0x3f880001),
                     0x3839); /* 1.0625 is halfway */
    assert_int_equal(one(ISA_OP_CVT_E5M2X2_F32, ISA_RELU, 0, 0xbf800000, 0x3f800000), 0x003c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_round_once),
        cmocka_unit_test(float_conversions_round_once),
        cmocka_unit_test(integers_become_floats_in_one_rounding),
        cmocka_unit_test(floats_become_bounded_integers),
        cmocka_unit_test(approximations_keep_the_bounds),
        cmocka_unit_test(approximations_know_special_values),
        cmocka_unit_test(minimum_and_maximum_of_special_values),
        cmocka_unit_test(comparisons_of_floats_know_nan),
        cmocka_unit_test(small_floats_round_trip),
    };
    const int rc = cmocka_run_group_tests(tests, NULL, NULL);
    mpfr_free_cache();
    return rc;
}
