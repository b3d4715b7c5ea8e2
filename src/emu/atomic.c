/* atomic.c: atom and red: read, compute, write back, lane by lane in ascending order.
 *
 * PTX ISA, "atom": add of f32, f64, f16 and bf16 rounds to nearest even. add.f32 in global memory flushes
 * subnormal inputs and results to zero of the same sign, in shared memory it does not; f16 and bf16 are
 * .noftz. inc counts up to the operand and then back to 0; dec counts down from the operand and also goes
 * there from above it. */
#include "emu/atomic.h"

#include "base/bits.h"
#include "emu/fault.h"
#include "emu/memory.h"
#include "emu/ops.h"

/* ---- floating point ---- */
enum { F32_NAN = 0x7fffffff, F16_NAN = 0x7fff };

static uint32_t flush_f32(uint32_t bits) { return bits & 0x7f800000u ? bits : bits & 0x80000000u; }

static uint32_t add_f32(uint32_t a, uint32_t b, bool flush)
{
    if (flush) {
        a = flush_f32(a);
        b = flush_f32(b);
    }
    float sum = f32_of(a) + f32_of(b);
    if (sum != sum) return F32_NAN;
    return flush ? flush_f32(f32_bits(sum)) : f32_bits(sum);
}

/* NaNs as on an H200: the memory system hands on a NaN as it is, the operand's first; in shared memory the
 * sum is an ordinary addition, which keeps the old NaN first and makes it quiet. */
static uint64_t add_f64(uint64_t old, uint64_t a, bool in_global)
{
    const uint64_t quiet = 1ull << 51, order[2] = {in_global ? a : old, in_global ? old : a};
    for (int i = 0; i < 2; i++)
        if (f64_of(order[i]) != f64_of(order[i])) return in_global ? order[i] : order[i] | quiet;
    double sum = f64_of(old) + f64_of(a);
    return sum != sum ? 0xfff8000000000000ull : f64_bits(sum);
}

/* f16 as f32, exactly. */
static float f16_value(uint32_t h)
{
    uint32_t sign = (h & 0x8000u) << 16, exp = h >> 10 & 31, frac = h & 0x3ff;
    if (exp == 31) return f32_of(sign | 0x7f800000u | frac << 13);
    if (exp) return f32_of(sign | (exp + 112) << 23 | frac << 13);
    float f = (float)frac * 0x1p-24f;
    return sign ? -f : f;
}

/* Rounds to nearest even. The sum of two f16 in f32 and then in f16 rounds as if once, since f32 has more
 * than twice the bits of f16 plus two. */
static uint32_t f16_round(float f)
{
    uint32_t bits = f32_bits(f), sign = bits >> 16 & 0x8000u, mag = bits & 0x7fffffffu;
    if (mag > 0x7f800000u) return F16_NAN;
    if (mag >= 0x477ff000u) return sign | 0x7c00u; /* from 65520 on */
    if (mag < 0x38800000u) {                       /* subnormal: units of 2^-24; adding 2^-1 rounds there */
        float shifted = f32_of(mag) + 0.5f;
        return sign | (f32_bits(shifted) - f32_bits(0.5f));
    }
    uint32_t half = mag - (112u << 23);
    return sign | (half + 0xfffu + (half >> 13 & 1)) >> 13;
}

static float bf16_value(uint32_t h) { return f32_of(h << 16); }

static uint32_t bf16_round(float f)
{
    uint32_t bits = f32_bits(f);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return F16_NAN;
    return (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
}

/* One 16-bit float. min and max: a number wins against NaN, -0 is below +0 (PTX ISA, "min", "max"). */
static uint32_t half_op(enum isa_atom op, bool is_bf16, uint32_t a, uint32_t b)
{
    float x = is_bf16 ? bf16_value(a) : f16_value(a), y = is_bf16 ? bf16_value(b) : f16_value(b);
    if (op == ISA_ATOM_ADD) return is_bf16 ? bf16_round(x + y) : f16_round(x + y);
    if (x != x && y != y) return F16_NAN;
    if (x != x) return b;
    if (y != y) return a;
    bool a_less = x < y || (x == y && a & 0x8000u);
    return (op == ISA_ATOM_MIN) == a_less ? a : b;
}

static bool is_half(enum isa_type t)
{
    return t == ISA_F16 || t == ISA_BF16 || t == ISA_F16X2 || t == ISA_BF16X2;
}

static uint64_t compute_half(enum isa_atom op, enum isa_type t, uint64_t old, uint64_t a)
{
    bool is_bf16 = t == ISA_BF16 || t == ISA_BF16X2;
    uint32_t low = half_op(op, is_bf16, (uint32_t)old & 0xffff, (uint32_t)a & 0xffff);
    if (t == ISA_F16 || t == ISA_BF16) return low;
    return low | (uint64_t)half_op(op, is_bf16, (uint32_t)(old >> 16) & 0xffff, (uint32_t)(a >> 16) & 0xffff)
                     << 16;
}

/* ---- the table of operations ---- */
static int64_t as_signed(uint64_t v, uint32_t bits) { return (int64_t)(v << (64 - bits)) >> (64 - bits); }

static bool is_signed_type(enum isa_type t) { return t == ISA_S16 || t == ISA_S32 || t == ISA_S64; }

static uint64_t compute_min_max(enum isa_atom op, enum isa_type t, uint32_t bits, uint64_t old, uint64_t a)
{
    bool old_less = is_signed_type(t) ? as_signed(old, bits) < as_signed(a, bits) : old < a;
    return (op == ISA_ATOM_MIN) == old_less ? old : a;
}

uint64_t atomic_compute(enum isa_atom op, enum isa_type type, uint32_t bits, bool in_global, uint64_t old,
                        uint64_t a, uint64_t b)
{
    uint64_t keep = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    if (is_half(type) && (op == ISA_ATOM_ADD || op == ISA_ATOM_MIN || op == ISA_ATOM_MAX))
        return compute_half(op, type, old, a);
    switch (op) {
    case ISA_ATOM_AND: return old & a;
    case ISA_ATOM_OR: return old | a;
    case ISA_ATOM_XOR: return old ^ a;
    case ISA_ATOM_EXCH: return a;
    case ISA_ATOM_CAS: return old == a ? b : old;
    case ISA_ATOM_ADD:
        if (type == ISA_F32) return add_f32((uint32_t)old, (uint32_t)a, in_global);
        if (type == ISA_F64) return add_f64(old, a, in_global);
        return (old + a) & keep;
    case ISA_ATOM_INC: return old >= a ? 0 : old + 1;
    case ISA_ATOM_DEC: return old == 0 || old > a ? a : old - 1;
    case ISA_ATOM_MIN:
    case ISA_ATOM_MAX: return compute_min_max(op, type, bits, old, a);
    }
    UNREACHABLE("atomic operation");
}

bool atomic_known(enum isa_atom op, enum isa_type type, uint32_t bits)
{
    if (op > ISA_ATOM_MAX) return false;
    if (type == ISA_F32 || type == ISA_F64) {
        bool fits = bits == (type == ISA_F32 ? 32u : 64u);
        return fits && (op == ISA_ATOM_ADD || op == ISA_ATOM_EXCH || op == ISA_ATOM_CAS);
    }
    if (is_half(type)) {
        bool fits = bits == (type == ISA_F16 || type == ISA_BF16 ? 16u : 32u);
        return fits && (op == ISA_ATOM_ADD || op == ISA_ATOM_MIN || op == ISA_ATOM_MAX ||
                        op == ISA_ATOM_EXCH || op == ISA_ATOM_CAS);
    }
    return true;
}

/* ---- the instructions ---- */
static uint32_t atom_bytes(const struct isa_inst *i)
{
    switch (i->op) {
    case ISA_OP_ATOM_16: return 2;
    case ISA_OP_ATOM_32: return 4;
    case ISA_OP_ATOM_64: return 8;
    default: return 16;
    }
}

bool atomic_reach(struct warp *w, const struct isa_inst *i, uint32_t mask, struct reach *r)
{
    struct access_desc d = {.addr = i->src[0],
                            .is_32 = i->flags & ISA_A32,
                            .space = i->mod,
                            .access = ACCESS_ATOMIC,
                            .bytes = atom_bytes(i),
                            .offset = i->imm};
    if (i->dst[0] != ISA_NONE) w->sync_seen = 1; /* it may be a lock, or a flag that is waited for */
    return memory_reach(w, &d, mask, r);
}

bool atomic_counts(const struct isa_inst *i)
{
    return i->op == ISA_OP_ATOM_32 && i->mod2 == ISA_ATOM_ADD && (i->type == ISA_U32 || i->type == ISA_S32) &&
           i->dst[0] == ISA_NONE;
}

#define ATOM_SMALL(NAME, TYPE, BITS)                                                                         \
    static void NAME(struct exec *x, const struct isa_inst *i, uint32_t mask)                                \
    {                                                                                                        \
        struct reach r;                                                                                      \
        if (!atomic_reach(x->warp, i, mask, &r)) return;                                                     \
        const uint32_t *a = exec_src(x, i->src[1]);                                                          \
        if (BITS == 32 && atomic_counts(i)) {                                                                \
            FOR_LANES (c, mask) atomic_count(reach_lane(&r, c), a[c]);                                       \
            return;                                                                                          \
        }                                                                                                    \
        const uint32_t *b = i->src[2] == ISA_NONE ? a : exec_src(x, i->src[2]);                              \
        uint32_t *dst = i->dst[0] == ISA_NONE ? NULL : exec_dst(x, i->dst[0]);                               \
        FOR_LANES (l, mask) {                                                                                \
            uint8_t *p = reach_lane(&r, l);                                                                  \
            TYPE old;                                                                                        \
            memcpy(&old, p, sizeof old);                                                                     \
            bool in_global = !(r.shared >> l & 1);                                                           \
            TYPE made = (TYPE)atomic_compute((enum isa_atom)i->mod2, (enum isa_type)i->type, BITS,           \
                                             in_global, old, (TYPE)a[l], (TYPE)b[l]);                        \
            memcpy(p, &made, sizeof made);                                                                   \
            if (dst) dst[l] = old;                                                                           \
        }                                                                                                    \
    }
ATOM_SMALL(op_atom_16, uint16_t, 16)
ATOM_SMALL(op_atom_32, uint32_t, 32)

static void op_atom_64(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach r;
    if (!atomic_reach(x->warp, i, mask, &r)) return;
    const uint32_t *a = exec_src(x, i->src[1]);
    const uint32_t *b = i->src[2] == ISA_NONE ? a : exec_src(x, i->src[2]);
    uint32_t *dst = i->dst[0] == ISA_NONE ? NULL : exec_dst(x, i->dst[0]);
    FOR_LANES (l, mask) {
        uint8_t *p = reach_lane(&r, l);
        uint64_t old;
        memcpy(&old, p, sizeof old);
        bool in_global = !(r.shared >> l & 1);
        uint64_t made = atomic_compute((enum isa_atom)i->mod2, (enum isa_type)i->type, 64, in_global, old,
                                       row_u64(a, l), row_u64(b, l));
        memcpy(p, &made, sizeof made);
        if (dst) set_row_u64(dst, l, old);
    }
}

/* 128 bits: exch and cas. */
static void op_atom_128(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach r;
    if (!atomic_reach(x->warp, i, mask, &r)) return;
    bool is_cas = i->mod2 == ISA_ATOM_CAS;
    const uint32_t *lo = exec_src(x, i->src[1]), *hi = exec_src(x, i->src[2]);
    const uint32_t *new_lo = is_cas ? exec_src(x, i->src[3]) : lo,
                   *new_hi = is_cas ? exec_src(x, i->src[4]) : hi;
    FOR_LANES (l, mask) {
        uint8_t *p = reach_lane(&r, l);
        uint64_t old[2], made[2] = {row_u64(new_lo, l), row_u64(new_hi, l)};
        memcpy(old, p, sizeof old);
        bool writes = !is_cas || (old[0] == row_u64(lo, l) && old[1] == row_u64(hi, l));
        if (writes) memcpy(p, made, sizeof made);
        for (uint32_t d = 0; d < 2; d++)
            if (i->dst[d] != ISA_NONE) set_row_u64(exec_dst(x, i->dst[d]), l, old[d]);
    }
}

/* ---- a lane by itself ---- */
static bool is_wide(const struct isa_inst *i) { return i->op == ISA_OP_ATOM_64 || i->op == ISA_OP_ATOM_128; }

void atomic_operands(const struct exec *x, const struct isa_inst *i, struct atomic_rows *out)
{
    for (uint32_t s = 0; s < ATOMIC_VALUES; s++) {
        if (i->src[1 + s] == ISA_NONE) continue;
        const uint32_t *row = exec_src(x, i->src[1 + s]);
        memcpy(out->low[s], row, sizeof out->low[s]);
        if (is_wide(i)) memcpy(out->high[s], row + ISA_LANES, sizeof out->high[s]);
    }
}

static uint64_t operand(const struct isa_inst *i, const struct atomic_rows *v, uint32_t s, uint32_t lane)
{
    if (i->src[1 + s] == ISA_NONE) return 0;
    return v->low[s][lane] | (is_wide(i) ? (uint64_t)v->high[s][lane] << 32 : 0);
}

void atomic_lane(const struct isa_inst *i, bool in_global, uint8_t *p, const struct atomic_rows *v,
                 uint32_t lane, uint64_t old[2])
{
    uint32_t bytes = atom_bytes(i);
    const uint64_t value[ATOMIC_VALUES] = {operand(i, v, 0, lane), operand(i, v, 1, lane),
                                           operand(i, v, 2, lane), operand(i, v, 3, lane)};
    old[0] = old[1] = 0;
    memcpy(old, p, bytes); /* little-endian */
    if (bytes == 16) {
        bool is_cas = i->mod2 == ISA_ATOM_CAS;
        if (!is_cas || (old[0] == value[0] && old[1] == value[1])) memcpy(p, value + (is_cas ? 2 : 0), bytes);
        return;
    }
    uint64_t keep = bytes == 8 ? UINT64_MAX : (1ull << 8 * bytes) - 1;
    uint64_t made = atomic_compute((enum isa_atom)i->mod2, (enum isa_type)i->type, 8 * bytes, in_global,
                                   old[0], value[0] & keep, value[1] & keep);
    memcpy(p, &made, bytes);
}

void atomic_result(const struct exec *x, const struct isa_inst *i, uint32_t lane, const uint64_t old[2])
{
    for (uint32_t d = 0; d < 2; d++) {
        if (i->dst[d] == ISA_NONE) continue;
        uint32_t *dst = exec_dst(x, i->dst[d]);
        if (is_wide(i))
            set_row_u64(dst, lane, old[d]);
        else
            dst[lane] = (uint32_t)old[d];
    }
}

void ops_atomic(exec_fn **table)
{
    table[ISA_OP_ATOM_16] = op_atom_16;
    table[ISA_OP_ATOM_32] = op_atom_32;
    table[ISA_OP_ATOM_64] = op_atom_64;
    table[ISA_OP_ATOM_128] = op_atom_128;
}
