/* surface.c: suld, sust and the addresses of sured: texels by row, slice or layer, and in x by byte offset
 * (.b, texels are bytes) or by texel (.p, texels have the surface's format).
 *
 * What lies outside of the surface: .trap faults, .clamp takes the nearest texel of each coordinate, .zero
 * reads zeros and writes nothing. The layer is unsigned. Values that sust.p cannot store, as on an H200:
 * integers saturate, f32 becomes f16 by truncation (its largest finite value beyond, NaNs with their leading
 * bits), channels that are not given are 0. sured.p takes surfaces whose texel is one integer of its size. */
#include "emu/surface.h"

#include "emu/alu_fp.h"
#include "emu/fault.h"
#include "emu/memory.h"
#include "emu/ops.h"

static uint32_t word_bytes(const struct isa_inst *i)
{
    if (i->op >= ISA_OP_SUST_P) return sizeof(uint32_t);
    return 1u << (i->op - (surface_is_store(i) ? ISA_OP_SUST_8 : ISA_OP_SULD_8));
}

static uint32_t texel_bytes(const struct emu_texture *t) { return t->channel_bits / 8u * t->channels; }

static const struct emu_texture *surface_of(const struct warp *w, const struct isa_inst *i, uint32_t lane)
{
    const struct emu_texture *t = emu_texture_get(w->run->device, row_u64(exec_src(&w->x, i->src[0]), lane));
    return t && t->is_surface ? t : NULL;
}

static uint32_t bytes_in(const struct isa_inst *i, const struct emu_texture *t)
{
    return isa_surface_formatted(i) ? texel_bytes(t) : word_bytes(i) * i->vec;
}

uint32_t surface_bytes(const struct warp *w, const struct isa_inst *i, uint32_t lane)
{
    const struct emu_texture *t = surface_of(w, i, lane);
    return t ? bytes_in(i, t) : 0;
}

/* Brings a coordinate into [0, n) in steps of `unit`. False: it is outside and the rule is not .clamp. */
static bool inside(int64_t *at, int64_t n, int64_t unit, enum isa_outside rule)
{
    if (*at >= 0 && *at + unit <= n) return true;
    if (rule != ISA_OUTSIDE_CLAMP) return false;
    *at = *at < 0 ? 0 : (n / unit - 1) * unit;
    return n >= unit;
}

static bool address_of(const struct emu_texture *t, const struct isa_inst *i, const int32_t c[3],
                       uint64_t *out)
{
    uint32_t dims = isa_surface_dims(i);
    bool layered = isa_surface_layered(i);
    enum isa_outside rule = isa_surface_outside(i);
    int64_t texel = texel_bytes(t), at[3] = {c[0], c[1], layered ? (int64_t)(uint32_t)c[2] : c[2]};
    if (isa_surface_formatted(i)) at[0] *= texel;
    if (!inside(&at[0], t->width * texel, bytes_in(i, t), rule)) return false;
    if (dims >= 2 && !inside(&at[1], MAX(t->height, 1u), 1, rule)) return false;
    if (dims == 3 && !inside(&at[2], MAX(t->depth, 1u), 1, rule)) return false;
    if (layered && !inside(&at[2], MAX(t->layers, 1u), 1, rule)) return false;
    *out = t->address + (uint64_t)at[0] + (dims >= 2 ? (uint64_t)at[1] * t->pitch_bytes : 0) +
           (dims == 3 || layered ? (uint64_t)at[2] * t->slice_bytes : 0);
    return true;
}

uint32_t surface_lanes(const struct warp *w, const struct isa_inst *i, uint32_t mask,
                       uint64_t addr[ISA_LANES])
{
    uint32_t there = 0;
    const uint32_t *c[3];
    for (int d = 0; d < 3; d++) c[d] = exec_src(&w->x, i->src[1 + d]);
    FOR_LANES (l, mask) {
        const struct emu_texture *t = surface_of(w, i, l);
        const int32_t at[3] = {(int32_t)c[0][l], (int32_t)c[1][l], (int32_t)c[2][l]};
        if (t && address_of(t, i, at, &addr[l])) there |= 1u << l;
    }
    return there;
}

/* ---- the instructions ---- */

/* Each lane has a surface, and with .trap lies inside of it. */
static bool check_lanes(struct warp *w, const struct isa_inst *i, uint32_t mask, uint32_t there)
{
    const char *unit = isa_surface_formatted(i) ? "texel" : "byte";
    FOR_LANES (l, mask & ~there) {
        const struct emu_texture *t = surface_of(w, i, l);
        if (!t) {
            fault_raise(w, l, EMU_BAD_TEXTURE, "%s with 0x%llx, which is not a surface object",
                        isa_ops[i->op].name, (unsigned long long)row_u64(exec_src(&w->x, i->src[0]), l));
            return false;
        }
        if (isa_surface_outside(i) != ISA_OUTSIDE_TRAP) continue;
        fault_raise(w, l, EMU_OUT_OF_BOUNDS,
                    "%s at %s %d of row %d, slice or layer %d: the surface has %u %ss in a row, %u rows, %u "
                    "slices or layers",
                    isa_ops[i->op].name, unit, (int)exec_src(&w->x, i->src[1])[l],
                    (int)exec_src(&w->x, i->src[2])[l], (int)exec_src(&w->x, i->src[3])[l],
                    t->width * (isa_surface_formatted(i) ? 1u : texel_bytes(t)), unit, MAX(t->height, 1u),
                    MAX(MAX(t->depth, t->layers), 1u));
        return false;
    }
    return true;
}

static bool reach(struct warp *w, const struct isa_inst *i, uint32_t mask, uint32_t *there, struct reach *r)
{
    uint64_t addr[ISA_LANES] = {0};
    uint32_t lo[ISA_LANES], hi[ISA_LANES];
    *there = surface_lanes(w, i, mask, addr);
    if (!check_lanes(w, i, mask, *there)) return false;
    for (uint32_t l = 0; l < ISA_LANES; l++) {
        lo[l] = (uint32_t)addr[l];
        hi[l] = (uint32_t)(addr[l] >> 32);
    }
    const struct access_desc d = {.space = ISA_GLOBAL,
                                  .access = surface_is_store(i) ? ACCESS_STORE : ACCESS_LOAD,
                                  .bytes = surface_bytes(w, i, lane_first(mask))};
    return !*there || memory_reach_rows(w, &d, lo, hi, *there, r);
}

static void op_load(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach r;
    uint32_t there, bytes = word_bytes(i);
    if (!reach(x->warp, i, mask, &there, &r)) return;
    for (uint32_t v = 0; v < i->vec; v++) {
        if (i->dst[v] == ISA_NONE) continue;
        uint32_t *dst = exec_dst(x, i->dst[v]);
        FOR_LANES (l, mask) {
            uint64_t word = 0;
            if (there >> l & 1) memcpy(&word, reach_lane(&r, l) + v * bytes, bytes);
            if (bytes == 8)
                set_row_u64(dst, l, word);
            else
                dst[l] = (uint32_t)word;
        }
    }
}

static void op_store(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach r;
    uint32_t there, bytes = word_bytes(i);
    if (!reach(x->warp, i, mask, &there, &r)) return;
    for (uint32_t v = 0; v < i->vec; v++) {
        const uint32_t *src = exec_src(x, i->src[4 + v]);
        FOR_LANES (l, there) {
            uint64_t word = bytes == 8 ? row_u64(src, l) : src[l];
            memcpy(reach_lane(&r, l) + v * bytes, &word, bytes);
        }
    }
}

static uint32_t f16_truncated(uint32_t f32)
{
    const uint32_t payload = f32 >> 13 & 0x3ff;
    if (f32_is_nan(f32)) return (f32 >> 16 & 0x8000) | 0x7c00 | MAX(payload, 1u);
    return f16_from_f32(f32, ISA_RZ);
}

static uint32_t channel_of(const struct emu_texture *t, uint32_t value)
{
    if (t->channel_bits == 32) return value;
    if (t->channel_kind == EMU_CHAN_FLOAT) return f16_truncated(value);
    const int32_t top = (1 << (t->channel_bits - 1)) - 1;
    if (t->channel_kind == EMU_CHAN_UNSIGNED) return MIN(value, 2u * (uint32_t)top + 1);
    return (uint32_t)MAX(MIN((int32_t)value, top), -top - 1);
}

static void store_texel(const struct exec *x, const struct isa_inst *i, const struct emu_texture *t,
                        uint32_t lane, uint8_t *at)
{
    const uint32_t bytes = t->channel_bits / 8u;
    for (uint32_t c = 0; c < t->channels; c++) {
        uint32_t channel = channel_of(t, c < i->vec ? exec_src(x, i->src[4 + c])[lane] : 0);
        memcpy(at + c * bytes, &channel, bytes); /* little-endian */
    }
}

/* The lanes of one surface at a time, since each has its own format. */
static void op_store_formatted(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    const uint32_t *handles = exec_src(x, i->src[0]);
    for (uint32_t rest = mask, same = 0; rest; rest &= ~same) {
        uint32_t first = lane_first(rest), there;
        struct reach r;
        same = 0;
        FOR_LANES (l, rest)
            if (row_u64(handles, l) == row_u64(handles, first)) same |= 1u << l;
        if (!reach(x->warp, i, same, &there, &r)) return;
        FOR_LANES (l, there) store_texel(x, i, surface_of(x->warp, i, first), l, reach_lane(&r, l));
    }
}

/* sured.p takes texels that are one integer: of 32 bits, or two channels as one of 64. */
static bool check_samples(struct warp *w, const struct isa_inst *i, uint32_t mask)
{
    FOR_LANES (l, mask) {
        const struct emu_texture *t = surface_of(w, i, l);
        if (t->channel_kind != EMU_CHAN_FLOAT && t->channel_bits == 32 && t->channels == i->vec) continue;
        fault_raise(w, l, EMU_BAD_TEXTURE,
                    "sured.p of %u bits on a surface of %u channels of %u bits%s: it takes integers of 32 "
                    "bits, one for .b32, two for .b64",
                    32u * i->vec, t->channels, t->channel_bits,
                    t->channel_kind == EMU_CHAN_FLOAT ? ", floating point" : "");
        return false;
    }
    return true;
}

static void op_reduction_at(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct warp *w = x->warp;
    uint64_t addr[ISA_LANES] = {0};
    uint32_t there = surface_lanes(w, i, mask, addr), is_signed = 0;
    if (!check_lanes(w, i, mask, there)) return;
    if (isa_surface_formatted(i) && !check_samples(w, i, mask)) return;
    FOR_LANES (l, mask) {
        set_row_u64(exec_dst(x, i->dst[0]), l, addr[l]);
        if (surface_of(w, i, l)->channel_kind == EMU_CHAN_SIGNED) is_signed |= 1u << l;
    }
    bool by_sign = i->dst[2] != ISA_NONE;
    exec_set_pred(x, i->dst[1], by_sign ? there & ~is_signed : there, mask);
    if (by_sign) exec_set_pred(x, i->dst[2], there & is_signed, mask);
}

void ops_surface(exec_fn **table)
{
    table[ISA_OP_SUST_P] = op_store_formatted;
    table[ISA_OP_SURED_AT] = op_reduction_at;
    for (uint32_t op = ISA_OP_SULD_8; op <= ISA_OP_SULD_64; op++) table[op] = op_load;
    for (uint32_t op = ISA_OP_SUST_8; op <= ISA_OP_SUST_64; op++) table[op] = op_store;
}
