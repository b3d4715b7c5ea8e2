/* ref_fp.h: floating-point formats between bits and MPFR numbers, for the reference. */
#ifndef OPCODE_REF_FP_H
#define OPCODE_REF_FP_H

#include "base/base.h"

#include <mpfr.h>

struct fp_format {
    uint32_t exp_bits, frac_bits;
    /* the NaN that operations make */
    uint64_t nan;
    /* e4m3: the top exponent holds numbers, and one NaN */
    bool no_inf;
};

/* The format of a type word ("f32", "f16x2": of one half). False: not a floating-point type. */
bool fp_format_of(const char *type, struct fp_format *f);

bool fp_is_nan(const struct fp_format *f, uint64_t bits);
bool fp_is_inf(const struct fp_format *f, uint64_t bits);
bool fp_is_subnormal(const struct fp_format *f, uint64_t bits);
bool fp_is_zero(const struct fp_format *f, uint64_t bits);
bool fp_sign(const struct fp_format *f, uint64_t bits);
uint64_t fp_sign_bit(const struct fp_format *f);
/* subnormal -> zero of its sign */
uint64_t fp_flush(const struct fp_format *f, uint64_t bits);
uint64_t fp_one(const struct fp_format *f);
uint64_t fp_max_finite(const struct fp_format *f);

/* x gets precision enough for any value of the format. */
void fp_decode(const struct fp_format *f, uint64_t bits, mpfr_t x);

/* Between begin and end MPFR rounds as the format does: x must have the format's precision. `inexact` is the
 * ternary value of the operation that made x. fp_encode gives bits; overflow as the rounding mode says. */
struct fp_range {
    mpfr_exp_t emin, emax;
};
struct fp_range fp_begin(const struct fp_format *f);
void fp_end(struct fp_range saved);
uint64_t fp_encode(const struct fp_format *f, mpfr_t x, int inexact, mpfr_rnd_t round);
/* x, rounded to the format's precision but not yet to its range, lies below the smallest normal number: what
 * .ftz flushes ("tiny after rounding" of IEEE 754). */
bool fp_is_tiny(const struct fp_format *f, mpfr_t x);
/* x of any precision, exact, rounded once. Call it outside begin and end. */
uint64_t fp_round(const struct fp_format *f, mpfr_t x, mpfr_rnd_t round);

#endif
