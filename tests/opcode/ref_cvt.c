/* ref_cvt.c: cvt and cvt.pack, after the manual: sources are cut to their type, results extended to the
 * register. */
#include "ref_fp.h"
#include "reference.h"

#include <math.h>

__extension__ typedef __int128 wide;

static wide int_value(const char *type, uint64_t v)
{
    uint32_t bits = ref_type_bits(type);
    if (bits < 64) v &= (1ull << bits) - 1;
    if (*type == 's' && v >> (bits - 1) & 1) return (wide)v - ((wide)1 << bits);
    return (wide)v;
}

static wide int_min(const char *type) { return *type == 's' ? -((wide)1 << (ref_type_bits(type) - 1)) : 0; }
static wide int_max(const char *type) { return ((wide)1 << (ref_type_bits(type) - (*type == 's'))) - 1; }

static wide clamp_to(const char *type, wide x)
{
    return x < int_min(type) ? int_min(type) : x > int_max(type) ? int_max(type) : x;
}

/* The low bits of x as the type, extended to 64 bits. */
static uint64_t to_register(const char *type, wide x) { return (uint64_t)int_value(type, (uint64_t)x); }

static bool is_int(const char *type) { return strchr("usb", *type) && strncmp(type, "bf", 2); }

static mpfr_rnd_t integer_round(const struct ref_op *op, bool *given)
{
    *given = true;
    if (ref_has(op, "rni")) return MPFR_RNDN;
    if (ref_has(op, "rzi")) return MPFR_RNDZ;
    if (ref_has(op, "rmi")) return MPFR_RNDD;
    if (ref_has(op, "rpi")) return MPFR_RNDU;
    *given = false;
    return MPFR_RNDN;
}

static mpfr_rnd_t float_round(const struct ref_op *op)
{
    return ref_has(op, "rz")   ? MPFR_RNDZ
           : ref_has(op, "rm") ? MPFR_RNDD
           : ref_has(op, "rp") ? MPFR_RNDU
                               : MPFR_RNDN;
}

/* NaN becomes 0; from f64, and to 64 bits, silicon gives the sign bit alone. */
static uint64_t nan_to_int(const char *to, const char *from)
{
    uint32_t bits = ref_type_bits(to);
    return bits == 64 || !strcmp(from, "f64") ? to_register(to, (wide)1 << (bits - 1)) : 0;
}

static bool float_to_int(const struct ref_op *op, const char *to, const char *from, struct ref_args *a)
{
    struct fp_format f;
    if (!fp_format_of(from, &f)) return false;
    bool given;
    mpfr_rnd_t round = integer_round(op, &given);
    uint64_t v = ref_has(op, "ftz") ? fp_flush(&f, a->src[0]) : a->src[0];
    if (fp_is_nan(&f, v)) {
        a->dst[0] = nan_to_int(to, from);
        return true;
    }
    mpfr_t x;
    mpfr_init2(x, 64);
    fp_decode(&f, v, x);
    if (mpfr_inf_p(x) || mpfr_cmpabs_ui(x, 1) < 0 || mpfr_get_exp(x) < 66) mpfr_rint(x, x, round);
    wide r;
    if (mpfr_inf_p(x) || (!mpfr_zero_p(x) && mpfr_get_exp(x) > 70))
        r = mpfr_signbit(x) ? int_min(to) : int_max(to);
    else
        r = clamp_to(to, mpfr_signbit(x) ? (wide)mpfr_get_sj(x, MPFR_RNDZ) : (wide)mpfr_get_uj(x, MPFR_RNDZ));
    if (!mpfr_zero_p(x) && !mpfr_inf_p(x) && mpfr_get_exp(x) > 64)
        r = mpfr_signbit(x) ? int_min(to) : int_max(to);
    mpfr_clear(x);
    a->dst[0] = to_register(to, r);
    return true;
}

static uint64_t clamp_unit(const struct fp_format *f, uint64_t r)
{
    if (fp_is_nan(f, r) || fp_sign(f, r)) return 0;
    return r > fp_one(f) ? fp_one(f) : r;
}

static bool int_to_float(const struct ref_op *op, const char *to, const char *from, struct ref_args *a)
{
    struct fp_format f;
    if (!fp_format_of(to, &f)) return false;
    wide v = int_value(from, a->src[0]);
    mpfr_t x;
    mpfr_init2(x, 64);
    if (v < 0)
        mpfr_set_sj(x, (intmax_t)v, MPFR_RNDN);
    else
        mpfr_set_uj(x, (uintmax_t)v, MPFR_RNDN);
    a->dst[0] = fp_round(&f, x, float_round(op));
    if (ref_has(op, "sat")) a->dst[0] = clamp_unit(&f, a->dst[0]);
    mpfr_clear(x);
    return true;
}

/* NaN to NaN. The manual fixes the NaN of f32 and half results of f32 and half sources; where f64 takes part
 * silicon keeps sign and leading payload bits, and makes the NaN quiet. bf16 to f32 is a move of bits, unless
 * .ftz asks for more. */
static uint64_t nan_to_float(const struct fp_format *to, const struct fp_format *from, uint64_t v, bool ftz)
{
    bool from_bf16 = from->frac_bits == 7 && to->frac_bits == 23;
    if (from_bf16 && !ftz) return v << 16;
    if (ftz && from->frac_bits == 23) v = from->nan;
    if (to->frac_bits != 52 && from->frac_bits != 52) return to->nan;
    uint64_t frac = v & ((1ull << from->frac_bits) - 1);
    frac = to->frac_bits > from->frac_bits ? frac << (to->frac_bits - from->frac_bits)
                                           : frac >> (from->frac_bits - to->frac_bits);
    uint64_t exp = ((1ull << to->exp_bits) - 1) << to->frac_bits, quiet = 1ull << (to->frac_bits - 1);
    return (fp_sign(from, v) ? fp_sign_bit(to) : 0) | exp | frac | quiet;
}

/* One floating-point value to another format. */
static uint64_t float_to_float(const struct ref_op *op, const struct fp_format *to,
                               const struct fp_format *from, uint64_t v)
{
    /* .ftz: "subnormal inputs and results of .f32 are flushed" */
    bool ftz = ref_has(op, "ftz");
    if (ftz && from->frac_bits == 23) v = fp_flush(from, v);
    bool nan = fp_is_nan(from, v), given;
    mpfr_rnd_t integer = integer_round(op, &given);
    mpfr_t x;
    mpfr_init2(x, 64);
    fp_decode(from, v, x);
    if (given && !mpfr_nan_p(x)) mpfr_rint(x, x, integer);
    uint64_t r;
    if (nan) {
        r = nan_to_float(to, from, v, ftz);
    } else {
        r = fp_round(to, x, float_round(op));
        bool over = ref_has(op, "satfinite") && (r & (fp_sign_bit(to) - 1)) > fp_max_finite(to);
        if (over) r = (r & fp_sign_bit(to)) | fp_max_finite(to);
    }
    mpfr_clear(x);
    if (ftz && to->frac_bits == 23) r = fp_flush(to, r);
    if (ref_has(op, "sat")) r = clamp_unit(to, r);
    if (ref_has(op, "relu") && !nan && fp_sign(to, r)) r = 0;
    return r;
}

/* tf32 lives in the upper 19 bits of a word. Silicon's .rna knows no NaN: it cuts the low bits of one off,
 * and .satfinite steps down from all that is not finite. */
static uint64_t to_tf32(const struct ref_op *op, uint64_t v)
{
    struct fp_format f32, tf32;
    fp_format_of("f32", &f32);
    fp_format_of("tf32", &tf32);
    if (!ref_has(op, "rna")) return float_to_float(op, &tf32, &f32, v) << 13;
    uint64_t r = v & 0x7fffffff;
    if (!fp_is_nan(&f32, v)) r += 0x1000; /* ties away from zero: add half, cut */
    r &= ~0x1fffull;
    if (ref_has(op, "satfinite") && r >= 0x7f800000) r -= 0x2000;
    return r | (v & 0x80000000);
}

/* Packed destinations from two sources (first = upper) or from a packed source; fp8 in bytes, the rest in
 * halves. */
static bool packed(const struct ref_op *op, const char *to, const char *from, struct ref_args *a)
{
    struct fp_format t, f;
    if (!fp_format_of(to, &t) || !fp_format_of(from, &f)) return false;
    uint32_t to_bits = ref_type_bits(to) / 2, from_bits = strstr(from, "x2") ? ref_type_bits(from) / 2 : 0;
    uint64_t mask = (1ull << to_bits) - 1;
    uint64_t hi = from_bits ? a->src[0] >> from_bits & ((1ull << from_bits) - 1) : a->src[0];
    uint64_t lo = from_bits ? a->src[0] & ((1ull << from_bits) - 1) : a->src[1];
    a->dst[0] = (float_to_float(op, &t, &f, hi) & mask) << to_bits | (float_to_float(op, &t, &f, lo) & mask);
    return true;
}

static bool eval_pack(const struct ref_op *op, struct ref_args *a)
{
    const char *to = op->word[3]; /* cvt.pack.sat.TO.s32[.b32] */
    uint32_t bits = ref_type_bits(to);
    uint64_t mask = (1ull << bits) - 1;
    uint64_t hi = (uint64_t)clamp_to(to, int_value("s32", a->src[0])) & mask;
    uint64_t lo = (uint64_t)clamp_to(to, int_value("s32", a->src[1])) & mask;
    a->dst[0] = hi << bits | lo;
    if (a->count > 2) a->dst[0] |= a->src[2] << (2 * bits); /* the rest of c moves up */
    a->dst[0] &= 0xffffffff;
    return true;
}

bool ref_eval_cvt(const struct ref_op *op, struct ref_args *a)
{
    const char *to = op->word[op->count - 2], *from = ref_last(op);
    struct fp_format t, f;
    if (ref_has(op, "pack")) return eval_pack(op, a);
    if (!strcmp(to, "tf32")) return a->dst[0] = to_tf32(op, a->src[0]), true;
    if (strstr(to, "x2")) return packed(op, to, from, a);
    if (is_int(to) && is_int(from)) {
        wide v = int_value(from, a->src[0]);
        a->dst[0] = to_register(to, ref_has(op, "sat") ? clamp_to(to, v) : v);
        return true;
    }
    if (is_int(to)) return float_to_int(op, to, from, a);
    if (is_int(from)) return int_to_float(op, to, from, a);
    if (!fp_format_of(to, &t) || !fp_format_of(from, &f)) return false;
    a->dst[0] = float_to_float(op, &t, &f, a->src[0]);
    return true;
}
