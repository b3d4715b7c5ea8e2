/* ref_int.c: integers, bits and moves of bits, after the pseudo-code of the PTX manual (chapters "Integer
 * Arithmetic", "Extended-Precision", "Logic and Shift"). Wide arithmetic does what tricks do elsewhere. */
#include "reference.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

static uint64_t mask_of(uint32_t bits) { return bits >= 64 ? ~0ull : (1ull << bits) - 1; }

static bool is_op(const struct ref_op *op, const char *name) { return !strcmp(op->word[0], name); }
static bool is_signed(const char *type) { return *type == 's'; }

/* The mathematical value of the low bits of v. */
static wide value_of(const char *type, uint64_t v)
{
    uint32_t bits = ref_type_bits(type);
    v &= mask_of(bits);
    if (is_signed(type) && v >> (bits - 1)) return (wide)v - ((wide)1 << bits);
    return (wide)v;
}

static wide clamp(wide x, wide lo, wide hi) { return x < lo ? lo : x > hi ? hi : x; }
static wide clamp_s32(wide x) { return clamp(x, INT32_MIN, INT32_MAX); }

/* ---- add, sub, mul, mad and their carries ---- */

static bool eval_add(const struct ref_op *op, struct ref_args *a, const char *type)
{
    uint32_t bits = ref_type_bits(type);
    bool with = is_op(op, "addc") || is_op(op, "subc"), sub = is_op(op, "sub") || is_op(op, "subc");
    uwide x = a->src[0] & mask_of(bits), y = a->src[1] & mask_of(bits), in = with && a->carry;
    uwide total = sub ? x - y - in : x + y + in;
    a->dst[0] = (uint64_t)total & mask_of(bits);
    if (ref_has(op, "sat")) {
        wide p = value_of(type, a->src[0]), q = value_of(type, a->src[1]);
        a->dst[0] = (uint64_t)clamp_s32(sub ? p - q : p + q);
    }
    if (ref_has(op, "cc")) a->carry = total >> bits & 1;
    return true;
}

static bool eval_mul(const struct ref_op *op, struct ref_args *a, const char *type)
{
    uint32_t bits = ref_type_bits(type);
    bool mad = is_op(op, "mad") || is_op(op, "madc"), wide_result = ref_has(op, "wide");
    /* Products of two signed or two unsigned 64-bit numbers fit their 128 bits; the bits are what counts
     * below. */
    uwide product = is_signed(type) ? (uwide)(value_of(type, a->src[0]) * value_of(type, a->src[1]))
                                    : (uwide)(a->src[0] & mask_of(bits)) * (a->src[1] & mask_of(bits));
    if (wide_result) {
        a->dst[0] = (uint64_t)product + (mad ? a->src[2] : 0);
        return true;
    }
    uint64_t part = (uint64_t)(ref_has(op, "hi") ? product >> bits : product) & mask_of(bits);
    uwide total = (uwide)part;
    if (mad) total += (a->src[2] & mask_of(bits)) + (uwide)(is_op(op, "madc") && a->carry);
    a->dst[0] = (uint64_t)total & mask_of(bits);
    if (mad && ref_has(op, "sat")) a->dst[0] = (uint64_t)clamp_s32((wide)(int32_t)part + (int32_t)a->src[2]);
    if (ref_has(op, "cc")) a->carry = total >> bits & 1;
    return true;
}

static int64_t low24(const char *type, uint64_t v)
{
    int64_t x = (int64_t)(v & 0xffffff);
    return is_signed(type) && x >> 23 ? x - (1 << 24) : x;
}

static bool eval_mul24(const struct ref_op *op, struct ref_args *a, const char *type)
{
    int64_t product = low24(type, a->src[0]) * low24(type, a->src[1]);
    uint32_t part = (uint32_t)(ref_has(op, "hi") ? product >> 16 : product);
    a->dst[0] = part;
    if (is_op(op, "mad24")) {
        a->dst[0] = (uint32_t)(part + (uint32_t)a->src[2]);
        if (ref_has(op, "sat")) a->dst[0] = (uint64_t)clamp_s32((wide)(int32_t)part + (int32_t)a->src[2]);
    }
    return true;
}

/* Division by zero is "an unspecified, machine-specific value": silicon gives all ones, as quotient and as
 * remainder. */
static bool eval_div(const struct ref_op *op, struct ref_args *a, const char *type)
{
    wide x = value_of(type, a->src[0]), y = value_of(type, a->src[1]);
    bool rem = is_op(op, "rem");
    a->dst[0] = y == 0 ? ~0ull : (uint64_t)(rem ? x % y : x / y);
    return true;
}

static bool eval_minmax(const struct ref_op *op, struct ref_args *a, const char *type)
{
    bool packed = strstr(type, "16x2"), max = is_op(op, "max");
    const char *part = !packed ? type : is_signed(type) ? "s16" : "u16";
    a->dst[0] = 0;
    for (uint32_t shift = 0; shift < (packed ? 32u : 1u); shift += 16) {
        wide x = value_of(part, a->src[0] >> shift), y = value_of(part, a->src[1] >> shift);
        wide r = max == (x > y) ? x : y;
        if (ref_has(op, "relu") && r < 0) r = 0;
        a->dst[0] |= ((uint64_t)r & mask_of(packed ? 16 : 64)) << shift;
    }
    return true;
}

static bool eval_packed_add(const struct ref_op *op, struct ref_args *a)
{
    uint64_t x = a->src[0], y = a->src[1];
    a->dst[0] = ((x + y) & 0xffff) | ((((x >> 16) + (y >> 16)) & 0xffff) << 16);
    return is_op(op, "add");
}

static bool eval_unary(const struct ref_op *op, struct ref_args *a, const char *type)
{
    wide x = value_of(type, a->src[0]);
    if (is_op(op, "sad")) {
        wide y = value_of(type, a->src[1]);
        a->dst[0] = a->src[2] + (uint64_t)(x > y ? x - y : y - x);
    } else {
        a->dst[0] = (uint64_t)(is_op(op, "abs") && x > 0 ? x : -x);
    }
    return true;
}

/* ---- dot products ---- */

static int64_t byte_of(const char *type, uint64_t v, uint32_t i)
{
    return (int64_t)value_of(is_signed(type) ? "s8" : "u8", v >> (8 * i));
}

static bool eval_dot(const struct ref_op *op, struct ref_args *a)
{
    const char *ta = op->word[op->count - 2], *tb = ref_last(op);
    int64_t total = (int64_t)a->src[2];
    if (is_op(op, "dp4a")) {
        for (uint32_t i = 0; i < 4; i++) total += byte_of(ta, a->src[0], i) * byte_of(tb, a->src[1], i);
    } else {
        uint32_t first = ref_has(op, "hi") ? 2 : 0;
        for (uint32_t i = 0; i < 2; i++)
            total += (int64_t)value_of(is_signed(ta) ? "s16" : "u16", a->src[0] >> (16 * i)) *
                     byte_of(tb, a->src[1], first + i);
    }
    a->dst[0] = (uint32_t)total;
    return true;
}

/* ---- bits ---- */

static bool bit(uint64_t v, uint32_t i) { return v >> i & 1; }

static bool eval_bfe(struct ref_args *a, const char *type)
{
    uint32_t msb = ref_type_bits(type) - 1, pos = a->src[1] & 0xff, len = a->src[2] & 0xff;
    bool sign = is_signed(type) && len && bit(a->src[0], MIN(pos + len - 1, msb));
    a->dst[0] = 0;
    for (uint32_t i = 0; i <= msb; i++)
        if (i < len && pos + i <= msb ? bit(a->src[0], pos + i) : sign) a->dst[0] |= 1ull << i;
    return true;
}

static bool eval_bfi(struct ref_args *a, const char *type)
{
    uint32_t msb = ref_type_bits(type) - 1, pos = a->src[2] & 0xff, len = a->src[3] & 0xff;
    a->dst[0] = a->src[1];
    for (uint32_t i = 0; i < len && pos + i <= msb; i++)
        a->dst[0] = (a->dst[0] & ~(1ull << (pos + i))) | (uint64_t)bit(a->src[0], i) << (pos + i);
    return true;
}

static bool eval_bfind(const struct ref_op *op, struct ref_args *a, const char *type)
{
    int32_t msb = (int32_t)ref_type_bits(type) - 1;
    uint64_t x = a->src[0];
    if (is_signed(type) && bit(x, (uint32_t)msb)) x = ~x;
    int32_t at = msb;
    while (at >= 0 && !bit(x, (uint32_t)at)) at--;
    a->dst[0] = (uint32_t)(at < 0 ? -1 : ref_has(op, "shiftamt") ? msb - at : at);
    return true;
}

static bool eval_count(const struct ref_op *op, struct ref_args *a, const char *type)
{
    uint32_t bits = ref_type_bits(type), n = 0;
    if (is_op(op, "popc"))
        for (uint32_t i = 0; i < bits; i++) n += bit(a->src[0], i);
    else
        while (n < bits && !bit(a->src[0], bits - 1 - n)) n++;
    a->dst[0] = n;
    return true;
}

static bool eval_brev(struct ref_args *a, const char *type)
{
    uint32_t bits = ref_type_bits(type);
    a->dst[0] = 0;
    for (uint32_t i = 0; i < bits; i++) a->dst[0] |= (uint64_t)bit(a->src[0], i) << (bits - 1 - i);
    return true;
}

static bool eval_fns(struct ref_args *a)
{
    int32_t base = (int32_t)a->src[1], offset = (int32_t)a->src[2];
    a->dst[0] = 0xffffffff;
    if (offset == 0) {
        if (base >= 0 && base < 32 && bit(a->src[0], (uint32_t)base)) a->dst[0] = (uint32_t)base;
        return true;
    }
    int32_t count = (offset < 0 ? -offset : offset) - 1;
    for (int32_t pos = base; pos >= 0 && pos<32; pos += offset> 0 ? 1 : -1)
        if (bit(a->src[0], (uint32_t)pos) && count-- == 0) {
            a->dst[0] = (uint32_t)pos;
            break;
        }
    return true;
}

static bool eval_szext(const struct ref_op *op, struct ref_args *a, const char *type)
{
    uint32_t x = (uint32_t)a->src[0], b1 = a->src[1] & 0x1f;
    bool too_large = a->src[1] >= 32 && ref_has(op, "clamp");
    uint32_t mask = too_large ? 0 : ~0u << b1;
    bool sign = b1 && !too_large && is_signed(type) && bit(x, (b1 - 1) & 0x1f);
    a->dst[0] = (x & ~mask) | (sign ? mask : 0);
    return true;
}

static bool eval_bmsk(const struct ref_op *op, struct ref_args *a)
{
    uint32_t a1 = a->src[0] & 0x1f, b1 = a->src[1] & 0x1f, sum = a1 + b1;
    uint32_t mask0 = ~0u << a1, mask1 = sum >= 32 ? 0 : ~0u << sum;
    bool over = sum >= 32;
    if (ref_has(op, "clamp")) {
        if (a->src[0] >= 32) {
            over = true;
            mask0 = 0;
        }
        if (a->src[1] >= 32) over = true;
    }
    if (over)
        mask1 = 0;
    else if (b1 == 0)
        mask1 = ~0u;
    a->dst[0] = mask0 & ~mask1;
    return true;
}

static bool eval_shift(const struct ref_op *op, struct ref_args *a, const char *type)
{
    uint32_t bits = ref_type_bits(type);
    uint64_t n = MIN(a->src[1] & 0xffffffff, (uint64_t)bits);
    wide x = value_of(type, a->src[0]);
    a->dst[0] = is_op(op, "shl") ? (uint64_t)((uwide)x << n) & mask_of(bits) : (uint64_t)(x >> n);
    return true;
}

static bool eval_funnel(const struct ref_op *op, struct ref_args *a)
{
    uint64_t n = ref_has(op, "wrap") ? a->src[2] & 31 : MIN(a->src[2], 32ull);
    uint64_t both = a->src[1] << 32 | a->src[0];
    a->dst[0] = (uint32_t)(ref_has(op, "l") ? (uint64_t)((uwide)both << n >> 32) : both >> n);
    return true;
}

static bool eval_prmt(const struct ref_op *op, struct ref_args *a)
{
    static const struct {
        const char *name;
        uint16_t sel[4];
    } modes[] = {
        {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
        {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
        {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}},
    };
    uint32_t select = (uint32_t)a->src[2];
    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        if (ref_has(op, modes[i].name)) select = modes[i].sel[a->src[2] & 3];
    uint64_t bytes = a->src[1] << 32 | a->src[0];
    a->dst[0] = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t s = select >> (4 * i) & 0xf;
        uint64_t b = bytes >> (8 * (s & 7)) & 0xff;
        if (s & 8) b = b & 0x80 ? 0xff : 0;
        a->dst[0] |= b << (8 * i);
    }
    return true;
}

static bool eval_lop3(const struct ref_op *op, struct ref_args *a)
{
    a->dst[0] = 0;
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t row =
            (uint32_t)bit(a->src[0], i) << 2 | (uint32_t)bit(a->src[1], i) << 1 | bit(a->src[2], i);
        a->dst[0] |= (uint64_t)bit(a->src[3], row) << i;
    }
    a->dst[1] = ref_has(op, "or") ? a->dst[0] || a->src[4] : a->dst[0] && a->src[4];
    return true;
}

static bool eval_logic(const struct ref_op *op, struct ref_args *a, const char *type)
{
    uint64_t x = a->src[0], y = a->src[1], mask = mask_of(ref_type_bits(type));
    a->dst[0] = (is_op(op, "and")   ? x & y
                 : is_op(op, "or")  ? x | y
                 : is_op(op, "xor") ? x ^ y
                 : is_op(op, "not") ? ~x
                                    : (uint64_t)((x & mask) == 0)) &
                mask;
    return true;
}

/* ---- atomic operations ---- */

/* Sums of f32 in global memory flush subnormals (the manual says so; shared memory does not); f64 there hands
 * a NaN on as it is. In shared memory b + old is an ordinary addition. */
static bool float_atomic(const char *name, const char *type, uint64_t old, uint64_t b, bool in_global,
                         uint64_t *value)
{
    bool add = !strcmp(name, "add"), flush = add && in_global && !strcmp(type, "f32");
    struct ref_op op = {.word = {name, flush ? "ftz" : type, type}, .count = 3};
    struct ref_args a = {.src = {add ? b : old, add ? old : b}, .count = 2};
    if (add && in_global && !strcmp(type, "f64")) {
        for (int i = 0; i < 2; i++)
            if ((a.src[i] & ~(1ull << 63)) > 0x7ffull << 52) return *value = a.src[i], true;
    }
    bool known = ref_eval_float(&op, &a);
    *value = a.dst[0];
    return known;
}

bool ref_atomic(const char *name, const char *type, uint64_t old, uint64_t b, uint64_t c, bool in_global,
                uint64_t *value)
{
    uint32_t bits = ref_type_bits(type);
    bool is_float = *type == 'f' || !strncmp(type, "bf", 2);
    if (!strcmp(name, "exch"))
        *value = b;
    else if (!strcmp(name, "cas"))
        *value = old == (b & mask_of(bits)) ? c : old;
    else if (!strcmp(name, "inc"))
        *value = old >= b ? 0 : old + 1;
    else if (!strcmp(name, "dec"))
        *value = old == 0 || old > b ? b : old - 1;
    else if (is_float) {
        if (!float_atomic(name, type, old, b, in_global, value)) return false;
    } else {
        struct ref_op op = {.word = {name, type}, .count = 2};
        struct ref_args a = {.src = {old, b}, .count = 2};
        if (!ref_eval_int(&op, &a)) return false;
        *value = a.dst[0];
    }
    *value &= mask_of(bits);
    return true;
}

/* ---- which ---- */

static bool one_of(const struct ref_op *op, const char *names)
{
    size_t len = strlen(op->word[0]);
    for (const char *p = names; (p = strstr(p, op->word[0])); p += len)
        if ((p == names || p[-1] == ' ') && (p[len] == ' ' || !p[len])) return true;
    return false;
}

bool ref_eval_int(const struct ref_op *op, struct ref_args *a)
{
    const char *type = ref_last(op);
    if (is_op(op, "lop3")) return eval_lop3(op, a);
    if (is_op(op, "prmt")) return eval_prmt(op, a);
    if (is_op(op, "shf")) return eval_funnel(op, a);
    if (is_op(op, "fns")) return eval_fns(a);
    if (is_op(op, "bmsk")) return eval_bmsk(op, a);
    if (one_of(op, "dp4a dp2a")) return eval_dot(op, a);
    if (strcmp(type, "pred") && !strchr("usb", *type)) return false;
    if (!strncmp(type, "bf", 2) || !ref_type_bits(type)) return false;
    if (one_of(op, "min max")) return eval_minmax(op, a, type);
    if (strstr(type, "16x2")) return eval_packed_add(op, a);
    if (one_of(op, "add addc sub subc")) return eval_add(op, a, type);
    if (one_of(op, "mul mad madc")) return eval_mul(op, a, type);
    if (one_of(op, "mul24 mad24")) return eval_mul24(op, a, type);
    if (one_of(op, "div rem")) return eval_div(op, a, type);
    if (one_of(op, "abs neg sad")) return eval_unary(op, a, type);
    if (one_of(op, "popc clz")) return eval_count(op, a, type);
    if (one_of(op, "and or xor not cnot")) return eval_logic(op, a, type);
    if (one_of(op, "shl shr")) return eval_shift(op, a, type);
    if (is_op(op, "bfe")) return eval_bfe(a, type);
    if (is_op(op, "bfi")) return eval_bfi(a, type);
    if (is_op(op, "bfind")) return eval_bfind(op, a, type);
    if (is_op(op, "brev")) return eval_brev(a, type);
    if (is_op(op, "szext")) return eval_szext(op, a, type);
    return false;
}
