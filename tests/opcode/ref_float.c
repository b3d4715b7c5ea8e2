/* ref_float.c: floating-point arithmetic and comparison, with MPFR as the judge of rounding.
 *
 * The exact instructions only; the approximate ones are judged by error bounds (approx.c). NaN results: the
 * manual fixes them for f32 (0x7fffffff) and the half types (0x7fff); for f64 see nan_result. */
#include "ref_fp.h"
#include "reference.h"

static bool is_op(const struct ref_op *op, const char *name) { return !strcmp(op->word[0], name); }

static mpfr_rnd_t round_of(const struct ref_op *op)
{
    return ref_has(op, "rz")   ? MPFR_RNDZ
           : ref_has(op, "rm") ? MPFR_RNDD
           : ref_has(op, "rp") ? MPFR_RNDU
                               : MPFR_RNDN;
}

/* What stands for a NaN result. f64 keeps the payload of a NaN operand, made quiet ("NaN payloads are
 * preserved"); which one of several is silicon's choice: b, then c, then a; in a division a comes first.
 * Without a NaN operand, the default NaN, which is negative. */
static uint64_t nan_result(const struct ref_op *op, const struct fp_format *f, const uint64_t *v, uint32_t n)
{
    static const uint8_t order[2][3] = {{1, 2, 0}, {0, 1, 2}};
    if (f->frac_bits != 52) return f->nan;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t k = order[is_op(op, "div")][i];
        if (k < n && fp_is_nan(f, v[k])) return v[k] | 1ull << 51;
    }
    return 0xfff8000000000000ull;
}

static uint64_t saturate(const struct fp_format *f, uint64_t r)
{
    if (fp_is_nan(f, r) || fp_sign(f, r)) return 0;
    return r > fp_one(f) ? fp_one(f) : r;
}

static uint64_t finish(const struct ref_op *op, const struct fp_format *f, uint64_t r)
{
    if (ref_has(op, "ftz")) r = fp_flush(f, r);
    if (ref_has(op, "sat")) r = saturate(f, r);
    if (ref_has(op, "relu")) r = fp_is_nan(f, r) ? f->nan : fp_sign(f, r) ? 0 : r;
    return r;
}

static bool compute(const struct ref_op *op, mpfr_t r, mpfr_t *x, mpfr_rnd_t round, int *inexact)
{
    if (is_op(op, "add"))
        *inexact = mpfr_add(r, x[0], x[1], round);
    else if (is_op(op, "sub"))
        *inexact = mpfr_sub(r, x[0], x[1], round);
    else if (is_op(op, "mul"))
        *inexact = mpfr_mul(r, x[0], x[1], round);
    else if (is_op(op, "div"))
        *inexact = mpfr_div(r, x[0], x[1], round);
    else if (is_op(op, "fma") || is_op(op, "mad"))
        *inexact = mpfr_fma(r, x[0], x[1], x[2], round);
    else if (is_op(op, "sqrt"))
        *inexact = mpfr_sqrt(r, x[0], round);
    else if (is_op(op, "rcp"))
        *inexact = mpfr_ui_div(r, 1, x[0], round);
    else
        return false;
    return true;
}

/* add ... rcp on one value of the format. */
static bool eval_rounded(const struct ref_op *op, const struct fp_format *f, const uint64_t *src,
                         uint32_t count, uint64_t *out)
{
    uint64_t v[3] = {0};
    mpfr_t x[3], r;
    mpfr_init2(r, f->frac_bits + 1);
    for (uint32_t i = 0; i < 3; i++) {
        mpfr_init2(x[i], f->frac_bits + 1);
        if (i >= count) continue;
        v[i] = ref_has(op, "ftz") ? fp_flush(f, src[i]) : src[i];
        fp_decode(f, v[i], x[i]);
    }
    mpfr_rnd_t round = round_of(op);
    struct fp_range saved = fp_begin(f);
    int inexact = 0;
    bool known = compute(op, r, x, round, &inexact);
    bool tiny = fp_is_tiny(f, r);
    if (known) *out = mpfr_nan_p(r) ? nan_result(op, f, v, count) : fp_encode(f, r, inexact, round);
    fp_end(saved);
    if (tiny && ref_has(op, "ftz")) *out &= fp_sign_bit(f);
    for (uint32_t i = 0; i < 3; i++) mpfr_clear(x[i]);
    mpfr_clear(r);
    if (known) *out = finish(op, f, *out);
    return known;
}

/* Values of a format in the order of numbers, -0 before +0. No NaNs. */
static int64_t order_key(const struct fp_format *f, uint64_t v)
{
    int64_t magnitude = (int64_t)(v & (fp_sign_bit(f) - 1));
    return fp_sign(f, v) ? -magnitude - 1 : magnitude;
}

static uint64_t eval_minmax(const struct ref_op *op, const struct fp_format *f, uint64_t x, uint64_t y)
{
    if (ref_has(op, "ftz")) {
        x = fp_flush(f, x);
        y = fp_flush(f, y);
    }
    uint64_t sign = (x ^ y) & fp_sign_bit(f), r;
    if (ref_has(op, "xorsign")) {
        x &= ~fp_sign_bit(f);
        y &= ~fp_sign_bit(f);
    }
    bool nx = fp_is_nan(f, x), ny = fp_is_nan(f, y);
    if (nx && ny) return f->frac_bits == 52 ? y | 1ull << 51 : f->nan;
    if ((nx || ny) && ref_has(op, "NaN")) return f->nan;
    if (nx || ny)
        r = nx ? y : x;
    else
        r = is_op(op, "max") == (order_key(f, x) > order_key(f, y)) ? x : y;
    return ref_has(op, "xorsign") ? r | sign : r;
}

static bool eval_scalar(const struct ref_op *op, const struct fp_format *f, const uint64_t *src,
                        uint32_t count, uint64_t *out)
{
    uint64_t x = ref_has(op, "ftz") ? fp_flush(f, src[0]) : src[0];
    if ((is_op(op, "abs") || is_op(op, "neg")) && fp_is_nan(f, x))
        *out = nan_result(op, f, src, 1); /* sign kept in f64 */
    else if (is_op(op, "abs"))
        *out = x & ~fp_sign_bit(f);
    else if (is_op(op, "neg"))
        *out = x ^ fp_sign_bit(f);
    else if (is_op(op, "min") || is_op(op, "max"))
        *out = eval_minmax(op, f, src[0], src[1]);
    else if (is_op(op, "copysign"))
        *out = (src[1] & ~fp_sign_bit(f)) | (src[0] & fp_sign_bit(f));
    else
        return eval_rounded(op, f, src, count, out);
    return true;
}

/* ---- comparison ---- */

static bool compare_float(const char *cmp, const struct fp_format *f, uint64_t x, uint64_t y)
{
    bool unordered = fp_is_nan(f, x) || fp_is_nan(f, y);
    if (!strcmp(cmp, "num")) return !unordered;
    if (!strcmp(cmp, "nan")) return unordered;
    if (unordered) return strlen(cmp) == 3; /* equ, neu, ... */
    if (fp_is_zero(f, x)) x = 0;
    if (fp_is_zero(f, y)) y = 0;
    int64_t a = order_key(f, x), b = order_key(f, y);
    if (!strncmp(cmp, "eq", 2)) return a == b;
    if (!strncmp(cmp, "ne", 2)) return a != b;
    if (!strncmp(cmp, "lt", 2)) return a < b;
    if (!strncmp(cmp, "le", 2)) return a <= b;
    return !strncmp(cmp, "gt", 2) ? a > b : a >= b;
}

static bool compare_int(const char *cmp, const char *type, uint64_t x, uint64_t y)
{
    uint32_t bits = ref_type_bits(type);
    uint64_t flip = *type == 's' ? 1ull << (bits - 1) : 0; /* order of signed numbers as of unsigned ones */
    x ^= flip;
    y ^= flip;
    if (!strcmp(cmp, "eq")) return x == y;
    if (!strcmp(cmp, "ne")) return x != y;
    if (!strcmp(cmp, "lt") || !strcmp(cmp, "lo")) return x < y;
    if (!strcmp(cmp, "le") || !strcmp(cmp, "ls")) return x <= y;
    return !strcmp(cmp, "gt") || !strcmp(cmp, "hi") ? x > y : x >= y;
}

static bool compare(const struct ref_op *op, const char *type, uint64_t x, uint64_t y)
{
    struct fp_format f;
    if (!fp_format_of(type, &f)) return compare_int(op->word[1], type, x, y);
    if (ref_has(op, "ftz")) {
        x = fp_flush(&f, x);
        y = fp_flush(&f, y);
    }
    return compare_float(op->word[1], &f, x, y);
}

static bool combine(const struct ref_op *op, bool r, bool c)
{
    return ref_has(op, "and") ? r && c : ref_has(op, "or") ? r || c : ref_has(op, "xor") ? r != c : r;
}

static bool eval_setp(const struct ref_op *op, struct ref_args *a)
{
    const char *type = ref_last(op);
    bool c = a->count > 2 && a->src[2];
    if (strstr(type, "16x2")) {
        a->dst[0] = combine(op, compare(op, type, a->src[0] & 0xffff, a->src[1] & 0xffff), c);
        a->dst[1] = combine(op, compare(op, type, a->src[0] >> 16, a->src[1] >> 16), c);
    } else {
        bool r = compare(op, type, a->src[0], a->src[1]);
        a->dst[0] = combine(op, r, c);
        a->dst[1] = combine(op, !r, c);
    }
    return true;
}

/* True is 1.0 in a floating-point destination, all ones in an integer one. */
static uint64_t truth(const char *type)
{
    struct fp_format f;
    return fp_format_of(type, &f) ? fp_one(&f) : ~0ull >> (64 - ref_type_bits(type));
}

static bool eval_set(const struct ref_op *op, struct ref_args *a)
{
    const char *type = ref_last(op), *to = op->word[op->count - 2];
    bool c = a->count > 2 && a->src[2];
    if (strstr(type, "16x2")) {
        bool lo = combine(op, compare(op, type, a->src[0] & 0xffff, a->src[1] & 0xffff), c);
        bool hi = combine(op, compare(op, type, a->src[0] >> 16, a->src[1] >> 16), c);
        a->dst[0] = (lo ? truth(to) : 0) | (hi ? truth(to) << 16 : 0);
    } else {
        a->dst[0] = combine(op, compare(op, type, a->src[0], a->src[1]), c) ? truth(to) : 0;
    }
    return true;
}

/* slct: a where c >= 0 (with .f32: -0 counts, NaN does not). */
static bool eval_slct(const struct ref_op *op, struct ref_args *a)
{
    struct fp_format f;
    bool first;
    if (fp_format_of(ref_last(op), &f)) {
        uint64_t c = ref_has(op, "ftz") ? fp_flush(&f, a->src[2]) : a->src[2];
        first = !fp_is_nan(&f, c) && (!fp_sign(&f, c) || fp_is_zero(&f, c));
    } else {
        first = (int32_t)a->src[2] >= 0;
    }
    a->dst[0] = a->src[first ? 0 : 1];
    return true;
}

static bool eval_testp(const struct ref_op *op, struct ref_args *a)
{
    struct fp_format f;
    if (!fp_format_of(ref_last(op), &f)) return false;
    uint64_t x = a->src[0];
    bool nan = fp_is_nan(&f, x), inf = fp_is_inf(&f, x), sub = fp_is_subnormal(&f, x);
    const char *what = op->word[1];
    a->dst[0] = !strcmp(what, "finite")       ? !nan && !inf
                : !strcmp(what, "infinite")   ? inf
                : !strcmp(what, "number")     ? !nan
                : !strcmp(what, "notanumber") ? nan
                : !strcmp(what, "normal")     ? !nan && !inf && !sub
                                              : sub; /* zeros count as normal: the manual's special case */
    return true;
}

/* fma.oob: a factor that is the NaN which marks data out of bounds gives +0. The manual names no pattern: of
 * all f16 and bf16 NaNs silicon takes these two. */
static bool is_oob(const struct ref_op *op, uint64_t v)
{
    return ref_has(op, "oob") && (v & 0x7fff) == 0x7ff7;
}

bool ref_eval_float(const struct ref_op *op, struct ref_args *a)
{
    struct fp_format f;
    const char *type = ref_last(op);
    if (is_op(op, "setp")) return eval_setp(op, a);
    if (is_op(op, "set")) return eval_set(op, a);
    if (is_op(op, "slct")) return eval_slct(op, a);
    if (is_op(op, "testp")) return eval_testp(op, a);
    if (is_op(op, "selp")) {
        a->dst[0] = a->src[a->src[2] ? 0 : 1];
        return true;
    }
    if (!fp_format_of(type, &f) || ref_has(op, "approx") || ref_has(op, "full")) return false;
    if (!strstr(type, "x2")) {
        for (uint32_t i = 0; i + 1 < a->count; i++)
            if (is_oob(op, a->src[i])) return a->dst[0] = 0, true;
        return eval_scalar(op, &f, a->src, a->count, &a->dst[0]);
    }
    a->dst[0] = 0;
    for (uint32_t half = 0; half < 32; half += 16) {
        uint64_t src[3] = {0}, r = 0;
        bool oob = false;
        for (uint32_t i = 0; i < MIN(a->count, 3u); i++) {
            src[i] = a->src[i] >> half & 0xffff;
            oob |= i < 2 && is_oob(op, src[i]);
        }
        if (!oob && !eval_scalar(op, &f, src, a->count, &r)) return false;
        a->dst[0] |= r << half;
    }
    return true;
}
