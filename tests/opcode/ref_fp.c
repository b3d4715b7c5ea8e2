/* ref_fp.c: see ref_fp.h. Subnormal results are rounded by mpfr_subnormalize, which knows the direction of
 * the first rounding, so that no value is rounded twice. */
#include "ref_fp.h"

#include <math.h>

bool fp_format_of(const char *type, struct fp_format *f)
{
    static const struct {
        const char *name;
        struct fp_format f;
    } table[] = {
        {"f64", {11, 52, 0x7ff8000000000000ull, false}},
        {"f32", {8, 23, 0x7fffffff, false}},
        {"f16", {5, 10, 0x7fff, false}},
        {"f16x2", {5, 10, 0x7fff, false}},
        {"bf16", {8, 7, 0x7fff, false}},
        {"bf16x2", {8, 7, 0x7fff, false}},
        {"e4m3x2", {4, 3, 0x7f, true}},
        {"e5m2x2", {5, 2, 0x7f, false}},
        {"tf32", {8, 10, 0x3ffff, false}}, /* in 19 bits */
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (!strcmp(table[i].name, type)) {
            *f = table[i].f;
            return true;
        }
    return false;
}

static uint64_t frac_mask(const struct fp_format *f) { return (1ull << f->frac_bits) - 1; }
static uint64_t exp_max(const struct fp_format *f) { return (1ull << f->exp_bits) - 1; }
static uint64_t exp_of(const struct fp_format *f, uint64_t b) { return b >> f->frac_bits & exp_max(f); }
static int64_t bias_of(const struct fp_format *f) { return (int64_t)(exp_max(f) >> 1); }

uint64_t fp_sign_bit(const struct fp_format *f) { return 1ull << (f->exp_bits + f->frac_bits); }
bool fp_sign(const struct fp_format *f, uint64_t b) { return b & fp_sign_bit(f); }
bool fp_is_zero(const struct fp_format *f, uint64_t b) { return (b & (fp_sign_bit(f) - 1)) == 0; }
bool fp_is_subnormal(const struct fp_format *f, uint64_t b)
{
    return exp_of(f, b) == 0 && (b & frac_mask(f));
}
uint64_t fp_flush(const struct fp_format *f, uint64_t b)
{
    return fp_is_subnormal(f, b) ? b & fp_sign_bit(f) : b;
}
uint64_t fp_one(const struct fp_format *f) { return (uint64_t)bias_of(f) << f->frac_bits; }

bool fp_is_nan(const struct fp_format *f, uint64_t b)
{
    if (f->no_inf) return (b & (fp_sign_bit(f) - 1)) == fp_sign_bit(f) - 1;
    return exp_of(f, b) == exp_max(f) && (b & frac_mask(f));
}

bool fp_is_inf(const struct fp_format *f, uint64_t b)
{
    return !f->no_inf && exp_of(f, b) == exp_max(f) && !(b & frac_mask(f));
}

uint64_t fp_max_finite(const struct fp_format *f)
{
    return f->no_inf ? fp_sign_bit(f) - 2 : (exp_max(f) << f->frac_bits) - 1;
}

void fp_decode(const struct fp_format *f, uint64_t b, mpfr_t x)
{
    int sign = fp_sign(f, b) ? -1 : 1;
    if (fp_is_nan(f, b)) {
        mpfr_set_nan(x);
    } else if (fp_is_inf(f, b)) {
        mpfr_set_inf(x, sign);
    } else if (fp_is_zero(f, b)) {
        mpfr_set_zero(x, sign);
    } else {
        uint64_t frac = b & frac_mask(f), e = exp_of(f, b);
        if (e) frac |= frac_mask(f) + 1;
        mpfr_set_ui_2exp(x, frac, (mpfr_exp_t)((int64_t)MAX(e, 1ull) - bias_of(f) - (int64_t)f->frac_bits),
                         MPFR_RNDN);
        if (sign < 0) mpfr_neg(x, x, MPFR_RNDN);
    }
}

struct fp_range fp_begin(const struct fp_format *f)
{
    struct fp_range saved = {mpfr_get_emin(), mpfr_get_emax()};
    /* MPFR's exponents belong to significands in [1/2, 1). */
    mpfr_set_emin((mpfr_exp_t)(2 - bias_of(f) - (int64_t)f->frac_bits));
    mpfr_set_emax((mpfr_exp_t)(bias_of(f) + 1 + f->no_inf));
    return saved;
}

void fp_end(struct fp_range saved)
{
    mpfr_set_emin(saved.emin);
    mpfr_set_emax(saved.emax);
}

/* x is a value of the format. */
static uint64_t bits_of(const struct fp_format *f, mpfr_t x)
{
    uint64_t sign = mpfr_signbit(x) ? fp_sign_bit(f) : 0;
    if (mpfr_nan_p(x)) return f->nan;
    if (mpfr_inf_p(x)) return f->no_inf ? f->nan | sign : exp_max(f) << f->frac_bits | sign;
    if (mpfr_zero_p(x)) return sign;
    long e;
    double m = fabs(mpfr_get_d_2exp(&e, x, MPFR_RNDZ)); /* [1/2, 1) with at most 53 bits: exact */
    int64_t exp = e - 1 + bias_of(f);
    int64_t shift = exp < 1 ? exp - 1 : 0; /* subnormal: fewer bits */
    uint64_t frac = (uint64_t)ldexp(m, (int)(f->frac_bits + 1 + shift));
    return sign | (exp < 1 ? frac : (uint64_t)exp << f->frac_bits | (frac & frac_mask(f)));
}

bool fp_is_tiny(const struct fp_format *f, mpfr_t x)
{
    return mpfr_regular_p(x) && mpfr_get_exp(x) < (mpfr_exp_t)(2 - bias_of(f));
}

uint64_t fp_encode(const struct fp_format *f, mpfr_t x, int inexact, mpfr_rnd_t round)
{
    inexact = mpfr_check_range(x, inexact, round);
    mpfr_subnormalize(x, inexact, round);
    return bits_of(f, x);
}

uint64_t fp_round(const struct fp_format *f, mpfr_t x, mpfr_rnd_t round)
{
    mpfr_t y;
    mpfr_init2(y, f->frac_bits + 1);
    struct fp_range saved = fp_begin(f);
    int inexact = mpfr_set(y, x, round);
    uint64_t bits = fp_encode(f, y, inexact, round);
    fp_end(saved);
    mpfr_clear(y);
    return bits;
}
