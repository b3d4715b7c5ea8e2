/* approx.c: see approx.h. Bounds: the manual of the PTX ISA, the section that stands beside each row (numbers
 * as of version 8.8). Where the manual gives none (rcp and rsqrt of f64), the bound is what silicon keeps,
 * with room.
 *
 * A value is special when a source is zero, infinite or NaN (or is flushed to zero), or when silicon's result
 * is zero, infinite or NaN: then the answer must be silicon's, bit for bit, except that a result at the very
 * end of the range may fall on either side of it. Elsewhere the error counts against the largest of the
 * bounds of the row. */
#include "approx.h"

#include "ref_fp.h"

#include <math.h>

enum approx_fn { FN_DIV, FN_RCP, FN_SQRT, FN_RSQRT, FN_SIN, FN_COS, FN_LG2, FN_EX2, FN_TANH };

static const struct bound {
    const char *check, *type;
    enum approx_fn fn;
    double rel, abs, ulp;
} bounds[] = {
    {"div.approx", "f32", FN_DIV, 0, 0, 2},            /* 9.7.3.8: for |b| up to 2^126; see out_of_range */
    {"div.full", "f32", FN_DIV, 0, 0, 2},              /* 9.7.3.8 */
    {"rcp.f32", "f32", FN_RCP, 0, 0, 1},               /* 9.7.3.13 */
    {"sqrt.f32", "f32", FN_SQRT, 0x1p-23, 0, 0},       /* 9.7.3.15 */
    {"rsqrt.f32", "f32", FN_RSQRT, 0x1.125p-23, 0, 0}, /* 9.7.3.16: 2^-22.9 */
    {"sin.f32", "f32", FN_SIN, 0, 0x1.6ap-21,
     0}, /* 9.7.3.18: 2^-20.5 in [-2 pi, 2 pi], 2^-14.7 in [-100 pi, 100 pi] */
    {"cos.f32", "f32", FN_COS, 0, 0x1.6ap-21, 0}, /* 9.7.3.19: the same */
    {"lg2.f32", "f32", FN_LG2, 0x1p-22, 0x1p-22,
     0}, /* 9.7.3.20: absolute within (0.5, 2), relative outside */
    {"ex2.f32", "f32", FN_EX2, 0, 0,
     2.5}, /* 9.7.3.21: 2 ulp from the correctly rounded result, itself half an ulp off */
    {"tanh.f32", "f32", FN_TANH, 0x1p-11, 0, 0}, /* 9.7.3.22 */
    {"rcp.f64", "f64", FN_RCP, 0x1p-19, 0,
     0}, /* 9.7.3.14, a gross approximation: from the upper words alone */
    {"rsqrt.f64", "f64", FN_RSQRT, 0x1p-51, 0, 0}, /* 9.7.3.16, a sequence of instructions: nearly exact */
    {"rsqrt.ftz.f64", "f64", FN_RSQRT, 0x1p-19, 0, 0}, /* 9.7.3.17, gross, too */
    {"ex2.f16", "f16", FN_EX2, 0x1.125p-10, 0, 0},     /* 9.7.4.10: 2^-9.9 */
    {"ex2.bf16", "bf16", FN_EX2, 0x1p-7, 0, 0},        /* 9.7.4.10 */
    {"tanh.f16", "f16", FN_TANH, 0, 0x1.025p-11, 0},   /* 9.7.4.9: 2^-10.987 */
    {"tanh.bf16", "bf16", FN_TANH, 0, 0x1.02p-8, 0},   /* 9.7.4.9: 2^-8; silicon passes it by a hair */
};

static void true_value(enum approx_fn fn, mpfr_t r, mpfr_t x, mpfr_t y)
{
    switch (fn) {
    case FN_DIV: mpfr_div(r, x, y, MPFR_RNDN); break;
    case FN_RCP: mpfr_ui_div(r, 1, x, MPFR_RNDN); break;
    case FN_SQRT: mpfr_sqrt(r, x, MPFR_RNDN); break;
    case FN_RSQRT: mpfr_rec_sqrt(r, x, MPFR_RNDN); break;
    case FN_SIN: mpfr_sin(r, x, MPFR_RNDN); break;
    case FN_COS: mpfr_cos(r, x, MPFR_RNDN); break;
    case FN_LG2: mpfr_log2(r, x, MPFR_RNDN); break;
    case FN_EX2: mpfr_exp2(r, x, MPFR_RNDN); break;
    case FN_TANH: mpfr_tanh(r, x, MPFR_RNDN); break;
    }
}

static bool is_special(const struct fp_format *f, uint64_t v)
{
    return fp_is_zero(f, v) || fp_is_inf(f, v) || fp_is_nan(f, v);
}

/* The absolute error that is allowed around the true value t. */
static double allowance(const struct bound *b, const struct fp_format *f, mpfr_t t, double source, bool ftz)
{
    double magnitude = fabs(mpfr_get_d(t, MPFR_RNDN));
    int64_t bias = (1 << (f->exp_bits - 1)) - 1;
    double smallest = ldexp(1, (int)(1 - bias)), step = ldexp(smallest, -(int)f->frac_bits);
    double abs_bound = b->abs;
    if (b->fn == FN_LG2 && !(source > 0.5 && source < 2)) abs_bound = 0;
    if ((b->fn == FN_SIN || b->fn == FN_COS) && fabs(source) > 6.283)
        abs_bound = fabs(source) <= 314.15 ? 0x1.3bp-15 : INFINITY;
    double allowed = fmax(b->rel * magnitude, abs_bound);
    if (b->ulp > 0 && magnitude > 0 && isfinite(magnitude))
        allowed = fmax(allowed, b->ulp * fmax(step, ldexp(1, ilogb(magnitude) - (int)f->frac_bits)));
    allowed = fmax(allowed, step); /* results among the subnormals */
    if (ftz && magnitude < smallest * (1 + 0x1p-7)) allowed = fmax(allowed, smallest);
    return allowed;
}

/* div.approx by |b| in (2^126, 2^128) gives 0, or NaN for an infinite a: silicon's bits are the answer. For
 * subnormal divisors the manual has no bound; silicon keeps the one of the normal range. */
static bool out_of_range(const struct bound *b, double y)
{
    return b->fn == FN_DIV && !strcmp(b->check, "div.approx") && fabs(y) > 0x1p126;
}

static struct approx_report judge_value(const struct bound *b, const struct fp_format *f, bool ftz,
                                        uint64_t x, uint64_t y, uint64_t got, uint64_t silicon)
{
    struct approx_report r = {APPROX_OK, 0};
    if (ftz) {
        x = fp_flush(f, x);
        y = fp_flush(f, y);
    }
    mpfr_t mx, my, t, g;
    mpfr_inits2(200, mx, my, t, g, (mpfr_ptr)0);
    fp_decode(f, x, mx);
    fp_decode(f, y, my);
    fp_decode(f, got, g);
    true_value(b->fn, t, mx, my);
    double source = mpfr_get_d(mx, MPFR_RNDN), divisor = mpfr_get_d(my, MPFR_RNDN);
    bool special = is_special(f, x) || (b->fn == FN_DIV && is_special(f, y)) || out_of_range(b, divisor) ||
                   !mpfr_number_p(t) || fp_is_nan(f, silicon) || fp_is_nan(f, got);
    if (special) {
        if (got != silicon) r.verdict = APPROX_BAD_SPECIAL;
    } else if (fp_is_inf(f, got) || fp_is_inf(f, silicon)) {
        /* Overflow: the true value must lie at the end of the range, within the bound. */
        double end = ldexp(2 - ldexp(1, -(int)f->frac_bits), (1 << (f->exp_bits - 1)) - 1);
        double room = fmax(b->rel, b->ulp * ldexp(1, -(int)f->frac_bits));
        if (got != silicon && fabs(mpfr_get_d(t, MPFR_RNDN)) < end * (1 - room))
            r.verdict = APPROX_BAD_SPECIAL;
    } else {
        double allowed = allowance(b, f, t, source, ftz);
        mpfr_sub(g, g, t, MPFR_RNDN);
        r.error = fabs(mpfr_get_d(g, MPFR_RNDN)) / allowed;
        if (!(r.error <= 1)) r.verdict = APPROX_OUT_OF_BOUND;
        /* The gross approximations have no lower word. */
        if (f->frac_bits == 52 && ftz && (uint32_t)got) r.verdict = APPROX_OUT_OF_BOUND;
    }
    mpfr_clears(mx, my, t, g, (mpfr_ptr)0);
    return r;
}

bool approx_judge(const struct form *f, const uint64_t *in, uint64_t got, uint64_t silicon,
                  struct approx_report *r)
{
    const struct bound *b = NULL;
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
        if (!strcmp(bounds[i].check, f->check)) b = &bounds[i];
    struct fp_format fmt;
    if (!b || !fp_format_of(b->type, &fmt)) return false;
    bool ftz = strstr(f->body, ".ftz"), packed = strstr(form_type_name(f->outs[0].type), "x2");
    uint64_t y = f->in_count > 1 ? in[1] : 0;
    if (!packed) {
        *r = judge_value(b, &fmt, ftz, in[0], y, got, silicon);
        return true;
    }
    struct approx_report lo = judge_value(b, &fmt, ftz, in[0] & 0xffff, 0, got & 0xffff, silicon & 0xffff);
    struct approx_report hi = judge_value(b, &fmt, ftz, in[0] >> 16, 0, got >> 16, silicon >> 16);
    *r = lo.verdict != APPROX_OK || lo.error > hi.error ? lo : hi;
    if (lo.verdict == APPROX_OK && hi.verdict != APPROX_OK) *r = hi;
    return true;
}
