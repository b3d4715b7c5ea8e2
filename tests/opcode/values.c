/* values.c: what the operands are.
 *
 * One source: the long list of edges of its type, then mixed values. Two: every pair of the short list, then
 * mixed. More: mixed, where about half of the operands are edges. Mixed floating-point values are drawn so
 * that the interesting things happen often: exponents near each other, few significant bits (ties), products
 * and quotients at the ends of the exponent range, sums that cancel. Forms with the same sources get the same
 * values, whatever their modifiers: differences between modifiers show. */
#include "values.h"

#include "base/rng.h"

#include <math.h>

/* ---- formats of floating point ---- */

struct format {
    uint32_t exp_bits, frac_bits;
};

static struct format type_format(enum form_type t)
{
    switch (t) {
    case T_F16:
    case T_F16X2: return (struct format){5, 10};
    case T_BF16:
    case T_BF16X2: return (struct format){8, 7};
    case T_F64: return (struct format){11, 52};
    default: return (struct format){8, 23};
    }
}

static uint64_t make_float(struct format f, uint64_t sign, int64_t exp, uint64_t frac)
{
    int64_t top = (1ll << f.exp_bits) - 1;
    exp = MAX(0, MIN(exp, top));
    return sign << (f.exp_bits + f.frac_bits) | (uint64_t)exp << f.frac_bits |
           (frac & ((1ull << f.frac_bits) - 1));
}

/* The nearest value of the format towards zero: exact for all edges below that the format can hold. */
static uint64_t from_double(struct format f, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    if (f.exp_bits == 11) return bits;
    int64_t bias = (1 << (f.exp_bits - 1)) - 1, exp = (int64_t)(bits >> 52 & 2047) - 1023 + bias;
    uint64_t frac = (bits & ((1ull << 52) - 1)) >> (52 - f.frac_bits);
    if ((bits << 1) == 0) return make_float(f, bits >> 63, 0, 0);
    if (exp <= 0) return make_float(f, bits >> 63, 0, (frac | 1ull << f.frac_bits) >> MIN(1 - exp, 63));
    if (exp >= (1 << f.exp_bits) - 1) return make_float(f, bits >> 63, (1 << f.exp_bits) - 2, ~0ull);
    return make_float(f, bits >> 63, exp, frac);
}

typedef VEC(uint64_t) values;

static void float_short_edges(struct format f, values *v)
{
    int64_t top = (1 << f.exp_bits) - 1, bias = top >> 1;
    uint64_t quiet = 1ull << (f.frac_bits - 1), ones = ~0ull;
    uint64_t list[] = {
        make_float(f, 0, 0, 0),
        make_float(f, 1, 0, 0),
        make_float(f, 0, bias, 0),
        make_float(f, 1, bias, 0),
        make_float(f, 0, 0, 1),
        make_float(f, 1, 0, ones),
        make_float(f, 0, 1, 0),
        make_float(f, 1, 1, 1),
        make_float(f, 0, top - 1, ones),
        make_float(f, 1, top - 1, ones),
        make_float(f, 0, top, 0),
        make_float(f, 1, top, 0),
        make_float(f, 0, top, quiet),
        make_float(f, 0, top, 1),
        make_float(f, 1, top, quiet | 5),
        make_float(f, 1, top, quiet / 2 + 3),
        make_float(f, 0, top, ones),
        make_float(f, 1, top, ones),
        make_float(f, 0, bias, 1),
        make_float(f, 1, bias - 1, ones),
        make_float(f, 0, bias - f.frac_bits - 1, 0),
        make_float(f, 0, bias, 1ull << (f.frac_bits - 1)),
    };
    for (size_t i = 0; i < ARRAY_LEN(list); i++) vec_push(v, list[i]);
}

static void push_neighbours(struct format f, values *v, double x)
{
    uint64_t bits = from_double(f, x);
    for (int sign = 0; sign < 2; sign++)
        for (int d = -1; d <= 1; d++) {
            uint64_t magnitude = bits + (uint64_t)(int64_t)d;
            vec_push(v, magnitude | (uint64_t)sign << (f.exp_bits + f.frac_bits));
        }
}

/* Values around which conversions change their mind. */
static void float_long_edges(struct format f, values *v)
{
    static const double around[] = {0.5,
                                    1,
                                    1.5,
                                    2.5,
                                    3.5,
                                    127,
                                    127.5,
                                    128,
                                    128.5,
                                    255,
                                    255.5,
                                    256,
                                    32767,
                                    32767.5,
                                    32768,
                                    65535,
                                    65535.5,
                                    65536,
                                    2147483647.0,
                                    2147483648.0,
                                    4294967295.0,
                                    4294967296.0,
                                    9223372036854775808.0,
                                    18446744073709551616.0,
                                    6.103515625e-05,
                                    448,
                                    57344,
                                    65504,
                                    65520};
    float_short_edges(f, v);
    for (size_t i = 0; i < ARRAY_LEN(around); i++) push_neighbours(f, v, around[i]);
}

static uint32_t int_bits(enum form_type t)
{
    switch (t) {
    case T_PRED: return 1;
    case T_U8:
    case T_S8:
    case T_B8: return 8;
    case T_U16:
    case T_S16:
    case T_B16: return 16;
    case T_U64:
    case T_S64:
    case T_B64: return 64;
    default: return 32;
    }
}

static uint64_t low_mask(uint32_t bits) { return bits == 64 ? ~0ull : (1ull << bits) - 1; }

static void int_short_edges(uint32_t bits, values *v)
{
    uint64_t mask = low_mask(bits), sign = 1ull << (bits - 1);
    uint64_t list[] = {0,
                       1,
                       2,
                       3,
                       mask,
                       mask - 1,
                       sign,
                       sign - 1,
                       sign + 1,
                       0x5555555555555555ull,
                       0xaaaaaaaaaaaaaaaaull,
                       0x7f,
                       0x80,
                       0x123456789abcdef0ull,
                       low_mask(bits / 2),
                       low_mask(bits / 2) + 1,
                       10,
                       mask - 6};
    for (size_t i = 0; i < ARRAY_LEN(list); i++) vec_push(v, list[i] & mask);
}

static void int_long_edges(uint32_t bits, values *v)
{
    int_short_edges(bits, v);
    for (uint32_t b = 0; b < bits; b++) {
        vec_push(v, 1ull << b);
        vec_push(v, ((1ull << b) - 1) & low_mask(bits));
        if (bits <= 32) vec_push(v, ~(1ull << b) & low_mask(bits));
    }
}

/* ---- the fixed lists of classes ---- */

static const uint64_t shift_list[] = {0,  1,   2,   7,   8,   9,          15,         16,        17,
                                      24, 30,  31,  32,  33,  47,         62,         63,        64,
                                      65, 127, 128, 255, 256, 0x7fffffff, 0x80000000, 0xffffffff};
static const uint64_t bits_list[] = {0,  1,  2,  5,  8,  15, 16,  17,  30,  31,    32,
                                     33, 48, 62, 63, 64, 65, 127, 255, 256, 0x11f, 0xffffffff};
static const uint64_t shfl_list[] = {0x1f,   0x1f,   0x1f,   0x181f, 0x1c1f, 0x1e1f,
                                     0x1003, 0x1807, 0x000f, 0x1f1f, 0x0017};
static const uint64_t shflup_list[] = {0, 0, 0, 0x1800, 0x1c00, 0x1e00, 0x1003, 0x1801, 0x0004, 0x1f00};
static const int64_t few_list[] = {0, 1, 2, 3, 4, 7, -1, -2, 100};

static bool is_float(enum form_type t) { return t >= T_F16; }
static bool is_class(const struct form_operand *o, const char *name) { return !strcmp(o->class_, name); }

static void edges_of(const struct form_operand *o, bool is_long, values *v)
{
    if (is_float(o->type)) {
        if (is_long)
            float_long_edges(type_format(o->type), v);
        else
            float_short_edges(type_format(o->type), v);
    } else if (is_class(o, "shift")) {
        for (size_t i = 0; i < ARRAY_LEN(shift_list); i++) vec_push(v, shift_list[i]);
    } else if (is_class(o, "bits")) {
        for (size_t i = 0; i < ARRAY_LEN(bits_list); i++) vec_push(v, bits_list[i]);
    } else if (is_long) {
        int_long_edges(int_bits(o->type), v);
    } else {
        int_short_edges(int_bits(o->type), v);
    }
}

/* ---- mixed values ---- */

static uint64_t double_bits(double x)
{
    uint64_t b;
    memcpy(&b, &x, 8);
    return b;
}

static uint64_t exp_of(struct format f, uint64_t v) { return v >> f.frac_bits & ((1ull << f.exp_bits) - 1); }

/* first = the tuple's first operand, which later ones are drawn near to. */
static uint64_t mixed_float(struct format f, struct rng *r, uint32_t kind, uint32_t k, uint64_t first)
{
    int64_t top = (1 << f.exp_bits) - 1, bias = top >> 1, first_exp = (int64_t)exp_of(f, first);
    uint64_t sign = rng_u64(r) & 1, frac = rng_u64(r);
    int64_t wobble = (int64_t)rng_below(r, 7) - 3;
    uint64_t few = frac << (f.frac_bits - MIN(f.frac_bits, 4u)); /* 4 significant bits: ties are common */
    switch (kind) {
    case 0: return make_float(f, sign, (int64_t)rng_below(r, (uint64_t)top), frac);
    case 1: return make_float(f, sign, bias + wobble, frac);
    case 2:
        return make_float(f, sign, bias + (int64_t)rng_below(r, 2 * f.frac_bits + 4) - (int64_t)f.frac_bits,
                          few);
    case 3: return make_float(f, sign, (int64_t)rng_below(r, 3), frac);
    case 4:
        return make_float(f, sign, k ? bias + 1 - first_exp + wobble : (int64_t)rng_below(r, (uint64_t)bias),
                          frac);
    case 5:
        return make_float(f, sign, k ? first_exp + bias - 1 + wobble : (int64_t)rng_below(r, (uint64_t)bias),
                          frac);
    case 6:
        return k ? (first ^ sign << (f.exp_bits + f.frac_bits)) + (uint64_t)wobble
                 : make_float(f, sign, bias + wobble, frac);
    default:
        return make_float(
            f, sign, k ? 3 * bias - first_exp + wobble : bias + (int64_t)rng_below(r, (uint64_t)bias), frac);
    }
}

static uint64_t mixed_int(uint32_t bits, struct rng *r, uint32_t kind)
{
    uint64_t x = rng_u64(r);
    switch (kind) {
    case 0:
    case 1:
    case 2: break;
    case 3: x >>= rng_below(r, 64); break; /* all magnitudes */
    case 4: x = (uint64_t)((int64_t)x >> rng_below(r, 64)); break;
    case 5: x = (uint64_t)((int64_t)rng_below(r, 41) - 20); break;
    case 6: x = 1ull << rng_below(r, 64); break;
    default: x &= rng_u64(r) & rng_u64(r); break;
    }
    return x & low_mask(bits);
}

static double uniform(struct rng *r, double lo, double hi) { return lo + (hi - lo) * rng_unit(r); }

/* Note on all draws: one a statement, since C leaves the order of two in one expression open. */

/* A number in (-span, span) times a power of two from 2^low on, `count` of them. */
static double scaled(struct rng *r, double span, int low, uint64_t count)
{
    double x = uniform(r, -span, span);
    return ldexp(x, low + (int)rng_below(r, count));
}

/* Few significant bits, so that ties of 8-bit formats are common; or many. */
static double scaled_integer(struct rng *r, bool few)
{
    double x = (double)(int64_t)rng_below(r, few ? 64 : 1 << 20);
    if (rng_u64(r) & 1) x = -x;
    return ldexp(x, (int)rng_below(r, 36) - 24 - (few ? 4 : 18));
}

/* The classes of floating-point values; false when the class leaves this value to the mixed kinds. */
static bool class_float(const struct form_operand *o, struct format f, struct rng *r, uint32_t tuple,
                        uint64_t *out)
{
    uint64_t u = rng_below(r, 8);
    double x;
    if (is_class(o, "nan")) { /* every NaN in turn, and both infinities */
        *out = make_float(f, tuple >> f.frac_bits & 1, 1ll << f.exp_bits, tuple);
        return true;
    }
    if (is_class(o, "pos")) { /* mostly positive, all magnitudes; an eighth of any sign */
        if (u == 0) return false;
        int64_t top = (1 << f.exp_bits) - 1, bias = top >> 1;
        int64_t exp = u < 4 ? bias + (int64_t)rng_below(r, 4) - 2 : (int64_t)rng_below(r, (uint64_t)top);
        *out = make_float(f, 0, exp, rng_u64(r));
        return true;
    }
    if (is_class(o, "trig"))
        x = u < 5 ? uniform(r, -3.14159265, 3.14159265) : u < 7 ? uniform(r, -200, 200) : scaled(r, 1, 0, 40);
    else if (is_class(o, "exp"))
        x = u < 3 ? uniform(r, -1, 1) : u < 6 ? uniform(r, -20, 20) : uniform(r, -152, 130);
    else if (is_class(o, "int"))
        x = (double)((int64_t)rng_below(r, 401) - 200);
    else if (is_class(o, "cube")) /* directions, ties of two or three axes among them */
        x = u < 3 ? (double)((int64_t)rng_below(r, 5) - 2) * 0.5 : uniform(r, -1.5, 1.5);
    else if (is_class(o, "tex"))
        x = uniform(r, -1.5, 2.5);
    else if (is_class(o, "texel"))
        x = u < 2 ? (double)((int64_t)rng_below(r, 50) - 10) * 0.5 : uniform(r, -4, 20);
    else if (is_class(o, "narrow") && u >= 2)
        x = u < 5 ? scaled(r, 2, -28, 44) : scaled(r, 2, -160, 310);
    else if (is_class(o, "fp8") && u >= 2)
        x = scaled_integer(r, u < 5);
    else
        return false;
    *out = from_double(f, x);
    return true;
}

static uint64_t class_int(const struct form_operand *o, struct rng *r, uint32_t tuple, uint32_t kind)
{
    uint32_t bits = int_bits(o->type);
    uint64_t x = mixed_int(bits, r, kind);
    if (is_class(o, "shift"))
        x = rng_below(r, 4) ? rng_below(r, 70) : shift_list[rng_below(r, ARRAY_LEN(shift_list))];
    else if (is_class(o, "bits"))
        x = rng_below(r, 4) ? rng_below(r, bits + 34) : bits_list[rng_below(r, ARRAY_LEN(bits_list))];
    else if (is_class(o, "lane"))
        x = rng_below(r, 8) ? rng_below(r, 32) : rng_below(r, 64);
    else if (is_class(o, "shfl"))
        x = shfl_list[tuple / 32 % ARRAY_LEN(shfl_list)];
    else if (is_class(o, "shflup"))
        x = shflup_list[tuple / 32 % ARRAY_LEN(shflup_list)];
    else if (is_class(o, "few"))
        x = (uint64_t)few_list[rng_below(r, ARRAY_LEN(few_list))] & low_mask(bits);
    else if (is_class(o, "fewbits"))
        x = rng_u32(r) & rng_u32(r);
    else if (is_class(o, "fns"))
        x = (uint32_t)((int32_t)rng_below(r, 25) - 12);
    else if (is_class(o, "small"))
        x = (uint32_t)((int32_t)(uint32_t)x >> rng_below(r, 32));
    else if (is_class(o, "layer"))
        x = rng_below(r, 8) ? rng_below(r, 5) : (uint32_t)((int32_t)rng_below(r, 12) - 3);
    else if (is_class(o, "count"))
        x = rng_below(r, 4) ? 1 + rng_below(r, 40) : 1 + rng_below(r, (1 << 20) - 8);
    else if (is_class(o, "texel"))
        x = (uint32_t)((int32_t)rng_below(r, 26) - 5);
    else if (is_class(o, "warp")) {
        /* warps that agree, that agree but for one lane, that have few values, that differ */
        uint64_t w = hash_mix(tuple / 32 + 77) & low_mask(bits);
        switch (tuple / 32 % 4) {
        case 0: return w;
        case 1: return tuple % 32 == 13 ? w ^ 1 : w;
        case 2: return (w + rng_below(r, 3)) & low_mask(bits);
        default: break;
        }
    }
    return x;
}

static uint64_t mixed_value(const struct form_operand *o, struct rng *r, uint32_t tuple, uint32_t kind,
                            uint32_t k, uint64_t first)
{
    if (!is_float(o->type)) return class_int(o, r, tuple, kind);
    struct format f = type_format(o->type);
    uint64_t v;
    if (*o->class_ && class_float(o, f, r, tuple, &v)) return v;
    return mixed_float(f, r, kind, k, first) & low_mask(1 + f.exp_bits + f.frac_bits);
}

/* A third operand that cancels the product of the first two, give or take a bit. */
static uint64_t cancel(enum form_type t, uint64_t a, uint64_t b, uint64_t wobble)
{
    double x, y;
    if (t == T_F64) {
        memcpy(&x, &a, 8);
        memcpy(&y, &b, 8);
        return isnan(x * y) ? 0x7ff8000000000000ull
                            : double_bits(-(x * y)) + wobble; /* hosts differ in their NaNs */
    }
    uint32_t wa = (uint32_t)a, wb = (uint32_t)b;
    float fa, fb;
    memcpy(&fa, &wa, 4);
    memcpy(&fb, &wb, 4);
    if (isnan(fa * fb)) return 0x7fc00000;
    float fc = -(fa * fb);
    memcpy(&wa, &fc, 4);
    return (uint32_t)(wa + (uint32_t)wobble);
}

/* Products that are tiny before they are rounded to the format's range and not after: what .ftz makes of
 * them. */
static void draw_boundary(struct format f, struct rng *r, uint32_t count, uint64_t *out)
{
    static const uint8_t addend[] = {0, 0, 1, 1, 2, 3};
    int64_t bias = (1 << (f.exp_bits - 1)) - 1, k = (int64_t)rng_below(r, f.frac_bits);
    uint64_t signs = rng_u64(r), low = rng_u64(r);
    out[0] = make_float(f, signs & 1, 1 + k, low % 3);
    out[1] = make_float(f, signs >> 1 & 1, bias - 1 - k, ~((low >> 8) % 3));
    if (count > 2) out[2] = make_float(f, signs >> 2 & 1, 0, addend[(low >> 16) % ARRAY_LEN(addend)]);
}

struct drawn {
    values edges[FORM_OPERANDS_MAX];
};

static bool is_pair(enum form_type t) { return t == T_F16X2 || t == T_BF16X2; }

/* One tuple of scalar values; packed operands get one half. */
static void draw_tuple(const struct form *f, const struct drawn *d, uint32_t i, struct rng *r, uint64_t *out)
{
    uint32_t first_edges = d->edges[0].len, second_edges = f->in_count > 1 ? d->edges[1].len : 1;
    uint32_t kind = (uint32_t)rng_below(r, 8);
    if (f->in_count > 1 && i % 32 == 9 && i > 64 && is_float(f->ins[0].type) &&
        f->ins[1].type == f->ins[0].type && !*f->ins[0].class_ &&
        (f->in_count == 2 || f->ins[2].type == f->ins[0].type)) {
        draw_boundary(type_format(f->ins[0].type), r, f->in_count, out);
        return;
    }
    bool plain = !*f->ins[0].class_ || is_float(f->ins[0].type);
    for (uint32_t k = 0; k < f->in_count; k++) {
        const struct form_operand *o = &f->ins[k];
        uint64_t v = mixed_value(o, r, i, kind, k, out[0]);
        bool listed = !*o->class_ || is_class(o, "shift") || is_class(o, "bits");
        if (f->in_count == 1 && plain && i < first_edges && !is_class(o, "int") && !is_class(o, "tex") &&
            !is_class(o, "texel"))
            v = d->edges[0].data[i];
        else if (f->in_count == 2 && plain && listed && i < first_edges * second_edges)
            v = k == 0 ? d->edges[0].data[i / second_edges] : d->edges[1].data[i % second_edges];
        else if (f->in_count > 2 && listed && rng_below(r, 16) < (i % 4 == 0 ? 16 : 3))
            v = d->edges[k].data[rng_below(r, d->edges[k].len)];
        if (k == 2 && i % 8 == 7 && !*o->class_ && (o->type == T_F32 || o->type == T_F64) &&
            f->ins[1].type == o->type)
            v = cancel(o->type, out[0], out[1], rng_below(r, 3) - 1);
        out[k] = v;
    }
}

void values_fill(const struct form *f, uint64_t *cells)
{
    struct drawn d = {0};
    for (uint32_t k = 0; k < f->in_count; k++) edges_of(&f->ins[k], f->in_count == 1, &d.edges[k]);
    struct rng r = {hash_text(f->ins_text) ^ f->n};
    for (uint32_t i = 0; i < f->n; i++) {
        uint64_t low[FORM_OPERANDS_MAX] = {0}, high[FORM_OPERANDS_MAX] = {0};
        draw_tuple(f, &d, i, &r, low);
        draw_tuple(f, &d, f->n - 1 - i, &r, high);
        for (uint32_t k = 0; k < f->in_count; k++)
            cells[(size_t)k * f->n + i] = is_pair(f->ins[k].type) ? low[k] | high[k] << 16 : low[k];
    }
    for (uint32_t k = 0; k < f->in_count; k++) vec_free(&d.edges[k]);
}
