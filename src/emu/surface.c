/* surface.c: suld and sust: texels as bytes, by byte offset in x and by row, slice or layer.
 *
 * What lies outside of the surface: .trap faults, .clamp takes the nearest texel of each coordinate, .zero
 * reads zeros and writes nothing. The layer is unsigned. */
#include "emu/surface.h"

#include "emu/fault.h"
#include "emu/memory.h"
#include "emu/ops.h"

static uint32_t word_bytes(const struct isa_inst *i)
{
    return 1u << (i->op - (surface_is_store(i) ? ISA_OP_SUST_8 : ISA_OP_SULD_8));
}

uint32_t surface_bytes(const struct isa_inst *i) { return word_bytes(i) * i->vec; }

static const struct emu_texture *surface_of(const struct warp *w, const struct isa_inst *i, uint32_t lane)
{
    const struct emu_texture *t = emu_texture_get(w->run->device, row_u64(exec_src(&w->x, i->src[0]), lane));
    return t && t->is_surface ? t : NULL;
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
    int64_t texel = t->channel_bits / 8 * t->channels,
            at[3] = {c[0], c[1], layered ? (int64_t)(uint32_t)c[2] : c[2]};
    if (!inside(&at[0], t->width * texel, surface_bytes(i), rule)) return false;
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
    FOR_LANES (l, mask & ~there) {
        const struct emu_texture *t = surface_of(w, i, l);
        if (!t) {
            fault_raise(w, l, EMU_BAD_TEXTURE, "%s with 0x%llx, which is not a surface object",
                        isa_ops[i->op].name, (unsigned long long)row_u64(exec_src(&w->x, i->src[0]), l));
            return false;
        }
        if (isa_surface_outside(i) != ISA_OUTSIDE_TRAP) continue;
        fault_raise(
            w, l, EMU_OUT_OF_BOUNDS,
            "%s at byte %d of row %d, slice or layer %d: the surface has %u bytes in a row, %u rows, %u "
            "slices or layers",
            isa_ops[i->op].name, (int)exec_src(&w->x, i->src[1])[l], (int)exec_src(&w->x, i->src[2])[l],
            (int)exec_src(&w->x, i->src[3])[l], t->width * t->channel_bits / 8 * t->channels,
            MAX(t->height, 1u), MAX(MAX(t->depth, t->layers), 1u));
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
                                  .bytes = surface_bytes(i)};
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

void ops_surface(exec_fn **table)
{
    for (uint32_t op = ISA_OP_SULD_8; op <= ISA_OP_SULD_64; op++) table[op] = op_load;
    for (uint32_t op = ISA_OP_SUST_8; op <= ISA_OP_SUST_64; op++) table[op] = op_store;
}
