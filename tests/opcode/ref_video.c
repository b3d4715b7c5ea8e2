/* ref_video.c: the scalar and SIMD video instructions, after the pseudo-code of the PTX manual (chapters
 * "Scalar Video Instructions" and "SIMD Video Instructions"), in mathematical integers.
 *
 * What the manual leaves open, read off silicon: a result that is not saturated keeps its low bits; a
 * second operation takes the 32 bits of the result, as a number of the destination's sign; an accumulation
 * adds the elements whole. */
#include "reference.h"

__extension__ typedef __int128 wide;

static bool is_op(const struct ref_op *op, const char *name) { return !strcmp(op->word[0], name); }

/* The k-th type word, from 0. */
static const char *type_word(const struct ref_op *op, uint32_t k)
{
    for (uint32_t i = 1; i < op->count; i++)
        if ((!strcmp(op->word[i], "u32") || !strcmp(op->word[i], "s32")) && k-- == 0) return op->word[i];
    return "u32";
}

static wide number(uint64_t v, uint32_t bits, bool is_signed)
{
    v &= (1ull << bits) - 1;
    return is_signed && v >> (bits - 1) ? (wide)v - ((wide)1 << bits) : (wide)v;
}

static wide clamp(wide x, wide lo, wide hi) { return x < lo ? lo : x > hi ? hi : x; }

static wide saturate(wide x, uint32_t bits, bool is_signed)
{
    wide one = 1;
    return is_signed ? clamp(x, -(one << (bits - 1)), (one << (bits - 1)) - 1)
                     : clamp(x, 0, (one << bits) - 1);
}

static bool compare(const struct ref_op *op, wide x, wide y)
{
    if (ref_has(op, "eq")) return x == y;
    if (ref_has(op, "ne")) return x != y;
    if (ref_has(op, "lt")) return x < y;
    if (ref_has(op, "le")) return x <= y;
    if (ref_has(op, "gt")) return x > y;
    return x >= y;
}

/* name: the opcode without the number of its elements. */
static wide arithmetic(const struct ref_op *op, const char *name, wide x, wide y)
{
    if (!strcmp(name, "vadd")) return x + y;
    if (!strcmp(name, "vsub")) return x - y;
    if (!strcmp(name, "vavrg")) return x + y >= 0 ? (x + y + 1) >> 1 : (x + y) >> 1;
    if (!strcmp(name, "vabsdiff")) return x > y ? x - y : y - x;
    if (!strcmp(name, "vmin")) return x < y ? x : y;
    if (!strcmp(name, "vmax")) return x > y ? x : y;
    if (!strcmp(name, "vset")) return compare(op, x, y);
    wide by = ref_has(op, "wrap") ? y & 31 : y > 32 ? 32 : y;
    return !strcmp(name, "vshl") ? x * ((wide)1 << by) : x >> by;
}

/* ---- scalar ---- */

static uint32_t part_bits(const char *part) { return !*part ? 32 : *part == 'b' ? 8 : 16; }
static uint32_t part_shift(const char *part)
{
    return *part ? (uint32_t)(part[1] - '0') * part_bits(part) : 0;
}

static wide selected(uint64_t v, const char *part, bool is_signed)
{
    return number(v >> part_shift(part), part_bits(part), is_signed);
}

static uint64_t second(const struct ref_op *op, wide x, wide c)
{
    if (ref_has(op, "add")) return (uint64_t)(x + c);
    return (uint64_t)(ref_has(op, "min") == (x < c) ? x : c);
}

static void eval_scalar(const struct ref_op *op, struct ref_video *v)
{
    bool set = is_op(op, "vset");
    bool d_signed = !set && *type_word(op, 0) == 's';
    wide a = selected(v->src[0], v->part[1], *type_word(op, set ? 0 : 1) == 's');
    wide b = selected(v->src[1], v->part[2], *type_word(op, set ? 1 : 2) == 's');
    const char *to = v->part[0];
    wide x = arithmetic(op, op->word[0], a, b);
    if (ref_has(op, "sat")) x = saturate(x, part_bits(to), d_signed);
    if (ref_has(op, "add") || ref_has(op, "min") || ref_has(op, "max")) {
        v->dst = second(op, number((uint64_t)x, 32, d_signed), number(v->src[2], 32, d_signed));
    } else if (*to) {
        uint64_t mask = ((1ull << part_bits(to)) - 1) << part_shift(to);
        v->dst = (v->src[2] & ~mask) | ((uint64_t)x << part_shift(to) & mask);
    } else {
        v->dst = (uint64_t)x;
    }
}

static void eval_mad(const struct ref_op *op, struct ref_video *v)
{
    bool a_signed = *type_word(op, 1) == 's', b_signed = *type_word(op, 2) == 's';
    bool minus = v->minus[1] != v->minus[2];
    bool is_signed = a_signed || b_signed || minus || v->minus[3];
    wide x = selected(v->src[0], v->part[1], a_signed) * selected(v->src[1], v->part[2], b_signed);
    wide c = number(v->src[2], 32, is_signed), one = ref_has(op, "po");
    if (minus) x = -x;
    if (v->minus[3]) c = -c;
    x += c + one;
    if (ref_has(op, "shr7")) x >>= 7;
    if (ref_has(op, "shr15")) x >>= 15;
    v->dst = (uint64_t)(ref_has(op, "sat") ? saturate(x, 32, is_signed) : x);
}

/* ---- SIMD ---- */

/* Element i of n, out of the 2n of b:a. */
static wide element(const struct ref_video *v, const char *part, const char *usual, uint32_t n, uint32_t i,
                    bool is_signed)
{
    uint64_t both = (v->src[0] & 0xffffffff) | v->src[1] << 32;
    const char *digits = *part ? part + 1 : usual;
    return number(both >> (uint32_t)(digits[n - 1 - i] - '0') * (32 / n), 32 / n, is_signed);
}

static bool is_masked(const char *mask, uint32_t i) { return !*mask || strchr(mask, (int)('0' + i)); }

static void eval_simd(const struct ref_op *op, struct ref_video *v, uint32_t n)
{
    char name[16];
    bool set = !strncmp(op->word[0], "vset", 4), d_signed = !set && *type_word(op, 0) == 's';
    snprintf(name, sizeof name, "%.*s", (int)strlen(op->word[0]) - 1, op->word[0]);
    uint32_t bits = 32 / n;
    uint64_t ones = (1ull << bits) - 1, total = v->src[2], merged = 0;
    for (uint32_t i = 0; i < n; i++) {
        wide a = element(v, v->part[1], n == 2 ? "10" : "3210", n, i, *type_word(op, set ? 0 : 1) == 's');
        wide b = element(v, v->part[2], n == 2 ? "32" : "7654", n, i, *type_word(op, set ? 1 : 2) == 's');
        wide x = arithmetic(op, name, a, b);
        if (ref_has(op, "sat")) x = saturate(x, bits, d_signed);
        bool in = is_masked(v->part[0], i);
        if (in) total += (uint64_t)x;
        merged |= in ? ((uint64_t)x & ones) << bits * i : v->src[2] & ones << bits * i;
    }
    v->dst = ref_has(op, "add") ? total : merged;
}

bool ref_is_video(const char *name)
{
    static const char *const names[] = {"vadd", "vsub", "vavrg", "vabsdiff", "vmin",
                                        "vmax", "vset", "vshl",  "vshr",     "vmad"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strncmp(name, names[i], strlen(names[i]))) return true;
    return false;
}

void ref_video(const struct ref_op *op, struct ref_video *v)
{
    char last = op->word[0][strlen(op->word[0]) - 1];
    if (is_op(op, "vmad"))
        eval_mad(op, v);
    else if (last == '2' || last == '4')
        eval_simd(op, v, (uint32_t)(last - '0'));
    else
        eval_scalar(op, v);
}
