/* texture.c: texture objects: fetch, filter, query.
 *
 * Formulas: CUDA C++ Programming Guide, "Texture Fetching": nearest takes texel floor(x); linear weighs the
 * texels around x - 0.5 with fractions of 8 bits. How weights and sums are rounded was measured on an H200
 * (tests/unit/texture_h200.h); what is not exact yet: normalized coordinates half way between two fractions,
 * and the last of 16 bits in signed normalized formats. Wrap and mirror exist with normalized coordinates
 * only and act as clamp otherwise. Integer coordinates take the texel itself. Only level 0 exists: levels of
 * detail and gradients are accepted and have no effect. A layer outside of a layered texture is the nearest
 * one. A direction picks the face of a cube map and a place on it, as OpenGL has it (CUDA C++ Programming
 * Guide, "Cubemap Textures"); faces are sampled one by one, without the texels of their neighbours. Left out:
 * seamless cube maps, sRGB of anything but 8-bit channels. */
#include "base/bits.h"
#include "emu/fault.h"
#include "emu/memory.h"
#include "emu/ops.h"
#include "emu/step.h"

#include <math.h>

uint64_t emu_texture_create(struct emu_device *d, const struct emu_texture *t)
{
    if (d->texture_count == d->texture_cap) {
        d->texture_cap = d->texture_cap ? d->texture_cap * 2 : 16;
        d->textures = mem_realloc(d->textures, sizeof *d->textures * d->texture_cap);
    }
    struct emu_texture *copy = mem_alloc(sizeof *copy);
    *copy = *t;
    d->textures[d->texture_count++] = copy;
    return d->texture_count;
}

bool emu_texture_destroy(struct emu_device *d, uint64_t handle)
{
    if (!handle || handle > d->texture_count || !d->textures[handle - 1]) return false;
    free(d->textures[handle - 1]);
    d->textures[handle - 1] = NULL;
    return true;
}

const struct emu_texture *emu_texture_get(const struct emu_device *d, uint64_t handle)
{
    return handle && handle <= d->texture_count ? d->textures[handle - 1] : NULL;
}

/* ---- texels ---- */

/* A texel as floats, and as the integers or bits that it is stored as. */
struct texel {
    float f[4];
    uint32_t u[4];
};

/* The fetch of one lane. */
struct fetch {
    struct warp *w;
    const struct emu_texture *t;
    uint32_t lane;
    uint32_t layer;
    /* the texture has no such layer: this is the nearest */
    bool beyond;
    /* a texel lies outside of device memory */
    bool bad;
};

static float half_value(uint32_t h)
{
    float mag = (h >> 10 & 31) == 31 ? (h & 0x3ff ? NAN : INFINITY)
                : h >> 10 & 31       ? ldexpf((float)(0x400 | (h & 0x3ff)), (int)(h >> 10 & 31) - 25)
                                     : ldexpf((float)(h & 0x3ff), -24);
    return h & 0x8000 ? -mag : mag;
}

static float srgb_to_linear(float v)
{
    return v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f);
}

static void read_channel(const struct emu_texture *t, const uint8_t *p, uint32_t c, struct texel *out)
{
    uint32_t bits = t->channel_bits, raw = 0;
    memcpy(&raw, p, bits / 8);
    if (t->channel_kind == EMU_CHAN_FLOAT) {
        out->f[c] = bits == 16 ? half_value(raw) : f32_of(raw);
        memcpy(&out->u[c], &out->f[c], sizeof out->u[c]);
        return;
    }
    int32_t value = bits == 32 ? (int32_t)raw : (int32_t)(raw << (32 - bits)) >> (32 - bits);
    bool is_signed = t->channel_kind == EMU_CHAN_SIGNED;
    out->u[c] = is_signed ? (uint32_t)value : raw;
    if (!t->read_normalized || bits == 32) { /* 32-bit integers are never normalized */
        memcpy(&out->f[c], &out->u[c], sizeof out->f[c]);
        return;
    }
    float max = is_signed ? (float)((1u << (bits - 1)) - 1) : (float)((1u << bits) - 1);
    out->f[c] = is_signed ? fmaxf((float)value / max, -1.0f) : (float)raw / max;
    if (t->srgb && bits == 8 && !is_signed && c < 3) out->f[c] = srgb_to_linear(out->f[c]);
}

static void note_texel(struct emu_texels *t, uint32_t lane, uint64_t address)
{
    assert(t->count[lane] < EMU_TEXELS_MAX);
    t->addr[lane][t->count[lane]++] = address;
}

static struct texel read_texel(struct fetch *f, const int64_t at[3])
{
    const struct emu_texture *t = f->t;
    struct texel out = {{0}, {0}}; /* channels that the texture lacks read as 0, as an H200 has it */
    uint32_t bytes = t->channel_bits / 8u * t->channels;
    uint64_t address = t->address + (uint64_t)at[0] * bytes + (uint64_t)at[1] * t->pitch_bytes +
                       ((uint64_t)at[2] + f->layer) * t->slice_bytes;
    if (f->w->texels) note_texel(f->w->texels, f->lane, address);
    if (!memory_readable(f->w, address, address + bytes)) {
        f->bad = true;
        return out;
    }
    for (uint32_t c = 0; c < t->channels && c < 4; c++)
        read_channel(t, (const uint8_t *)(uintptr_t)address + c * (t->channel_bits / 8u), c, &out);
    return out;
}

/* The border colour in the precision of the texture's format: for a normalized integer format the nearest
 * value, the lower of two (as on an H200). */
static float border_channel(const struct emu_texture *t, uint32_t c)
{
    if (t->channel_kind == EMU_CHAN_FLOAT || !t->read_normalized || t->channel_bits > 16) return t->border[c];
    bool is_signed = t->channel_kind == EMU_CHAN_SIGNED;
    float max = (float)((1u << (t->channel_bits - is_signed)) - 1);
    float v = fminf(fmaxf(t->border[c], is_signed ? -1.0f : 0.0f), 1.0f);
    return ceilf(v * max - 0.5f) / max;
}

/* For an integer format that is not normalized, the border is the low bits of the value given. */
static uint32_t border_word(const struct emu_texture *t, uint32_t c)
{
    uint32_t word, unused = 32u - t->channel_bits;
    memcpy(&word, &t->border[c], sizeof word);
    if (t->channel_kind == EMU_CHAN_SIGNED) return (uint32_t)((int32_t)(word << unused) >> unused);
    return word << unused >> unused;
}

static struct texel border_texel(const struct emu_texture *t)
{
    struct texel out = {{0}, {0}};
    for (uint32_t c = 0; c < t->channels && c < 4; c++) {
        out.f[c] = border_channel(t, c);
        if (t->channel_kind == EMU_CHAN_FLOAT || t->read_normalized)
            memcpy(&out.u[c], &out.f[c], sizeof out.u[c]);
        else
            out.u[c] = border_word(t, c);
    }
    return out;
}

/* ---- coordinates ---- */
static uint32_t extent(const struct emu_texture *t, uint32_t dim)
{
    uint32_t n = dim == 0 ? t->width : dim == 1 ? t->height : t->depth;
    return n ? n : 1;
}

static enum emu_tex_addr address_mode(const struct emu_texture *t, uint32_t dim)
{
    enum emu_tex_addr mode = (enum emu_tex_addr)t->addr_mode[dim];
    bool needs_normalized = mode == EMU_TEX_WRAP || mode == EMU_TEX_MIRROR;
    return needs_normalized && !t->normalized_coords ? EMU_TEX_CLAMP : mode;
}

/* A texel index brought into range; false: the border. */
static bool address_index(enum emu_tex_addr mode, int64_t n, int64_t *i)
{
    int64_t k;
    switch (mode) {
    case EMU_TEX_WRAP: *i = ((*i % n) + n) % n; return true;
    case EMU_TEX_MIRROR:
        k = ((*i % (2 * n)) + 2 * n) % (2 * n);
        *i = k < n ? k : 2 * n - 1 - k;
        return true;
    case EMU_TEX_CLAMP: *i = *i < 0 ? 0 : *i >= n ? n - 1 : *i; return true;
    case EMU_TEX_BORDER: return *i >= 0 && *i < n;
    }
    return false;
}

static struct texel texel_at(struct fetch *f, uint32_t dims, const int64_t index[3])
{
    int64_t at[3] = {0, 0, 0};
    for (uint32_t d = 0; d < dims; d++) {
        at[d] = index[d];
        if (!address_index(address_mode(f->t, d), extent(f->t, d), &at[d])) return border_texel(f->t);
    }
    return read_texel(f, at);
}

/* The coordinate in texels. A NaN reads as 0. A coordinate far outside is moved closer, which changes no
 * texel. */
static double unnormalized(const struct emu_texture *t, uint32_t dim, float coordinate)
{
    double n = extent(t, dim), x = isnan(coordinate) ? 0.0 : (double)coordinate;
    enum emu_tex_addr mode = address_mode(t, dim);
    if (t->normalized_coords) {
        if (mode == EMU_TEX_WRAP && isfinite(x)) x -= floor(x);
        if (mode == EMU_TEX_MIRROR && isfinite(x)) x -= 2.0 * floor(x * 0.5); /* the index is mirrored */
        x *= n;
    }
    if (mode == EMU_TEX_CLAMP) return fmin(fmax(x, 0.5), n - 0.5); /* the middles of the outermost texels */
    return fmin(fmax(x, -2.0 * n - 4.0), 3.0 * n + 4.0);
}

static struct texel fetch_point(struct fetch *f, uint32_t dims, const float x[3])
{
    int64_t index[3] = {0, 0, 0};
    for (uint32_t d = 0; d < dims; d++) index[d] = (int64_t)floor(unnormalized(f->t, d, x[d]));
    return texel_at(f, dims, index);
}

/* ---- linear filtering: weights and precision as measured on an H200 ---- */

/* Weights of the 2, 4 or 8 texels in 1/256, from the fractions of the coordinates. A weight is split by one
 * dimension after the other (a plane: y, x; a volume: z, x, y) and the upper part is rounded: the sum is
 * always 256. Bit d of an index says which of the two texels along dimension d it is. */
static void split_weights(uint32_t dims, const uint32_t part[3], uint32_t weight[8])
{
    static const uint8_t order[3][3] = {{0}, {1, 0}, {2, 0, 1}};
    memset(weight, 0, 8 * sizeof *weight);
    weight[0] = 256;
    for (uint32_t step = 0; step < dims; step++) {
        uint32_t d = order[dims - 1][step];
        for (uint32_t k = 0; k < 8; k++) {
            if (k >> d & 1) continue;
            uint32_t upper = (weight[k] * part[d] + 128) >> 8;
            weight[k | 1u << d] = upper;
            weight[k] -= upper;
        }
    }
}

static float round_to_f32(double v) /* to nearest, halves away from zero */
{
    float f = (float)v, away = nextafterf(f, v < 0 ? -INFINITY : INFINITY);
    bool is_half = isfinite(v) && isfinite(away) && v - (double)f == (double)away - v;
    return is_half ? away : f;
}

static float round_to_f16(double v)
{
    int exponent;
    if (!isfinite(v) || v == 0) return (float)v;
    (void)frexp(v, &exponent);
    double unit = ldexp(1.0, MAX(exponent - 11, -24)), rounded = rint(v / unit) * unit;
    return fabs(rounded) > 65504.0 ? (float)copysign(INFINITY, v) : (float)rounded;
}

/* The weighted sum in the precision that the format is filtered in. sum: of weight / 256 times value. */
static float filtered(const struct emu_texture *t, double sum)
{
    if (t->channel_kind == EMU_CHAN_FLOAT)
        return t->channel_bits == 16 ? round_to_f16(sum) : round_to_f32(sum);
    if (t->srgb) return (float)sum;
    double max = t->channel_kind == EMU_CHAN_SIGNED ? 32767.0 : 65535.0; /* normalized integers: 16 bits */
    return (float)(round(sum * max) / max);
}

/* Rounds a channel to an exact multiple of the format's step. */
static double exact_value(const struct emu_texture *t, float f)
{
    if (t->channel_kind == EMU_CHAN_FLOAT || t->srgb) return f;
    double max = (double)((1u << (t->channel_bits - (t->channel_kind == EMU_CHAN_SIGNED))) - 1);
    return rint((double)f * max) / max;
}

static struct texel fetch_linear(struct fetch *f, uint32_t dims, const float x[3])
{
    const float plane[3] = {x[0], 0, 0};
    if (dims == 1 && !f->t->layers && address_mode(f->t, 1) == EMU_TEX_BORDER) {
        dims = 2; /* a line is a plane of height 1, and y = 0 is its edge */
        x = plane;
    }
    int64_t low[3] = {0, 0, 0};
    uint32_t part[3] = {0, 0, 0}, weight[8];
    for (uint32_t d = 0; d < dims; d++) {
        double b = unnormalized(f->t, d, x[d]) - 0.5, whole = floor(b);
        low[d] = (int64_t)whole;
        part[d] = (uint32_t)floor((b - whole) * 256.0 + 0.5);
    }
    split_weights(dims, part, weight);
    double sum[4] = {0, 0, 0, 0};
    for (uint32_t corner = 0; corner < 1u << dims; corner++) {
        int64_t at[3] = {0, 0, 0};
        if (!weight[corner]) continue; /* a texel that does not count is not read */
        for (uint32_t d = 0; d < dims; d++) at[d] = low[d] + (corner >> d & 1);
        struct texel t = texel_at(f, dims, at);
        for (uint32_t c = 0; c < 4; c++) sum[c] += weight[corner] / 256.0 * exact_value(f->t, t.f[c]);
    }
    struct texel out;
    for (uint32_t c = 0; c < 4; c++) {
        out.f[c] = filtered(f->t, sum[c]);
        memcpy(&out.u[c], &out.f[c], sizeof out.u[c]);
    }
    return out;
}

/* Integer coordinates know no addressing modes: outside of the texture are zeros (on an H200 too). */
static struct texel fetch_integer(struct fetch *f, uint32_t dims, const int32_t x[3])
{
    int64_t index[3] = {0, 0, 0};
    if (f->beyond) return (struct texel){{0}, {0}};
    for (uint32_t d = 0; d < dims; d++) {
        index[d] = x[d];
        if (index[d] < 0 || index[d] >= extent(f->t, d)) return (struct texel){{0}, {0}};
    }
    return read_texel(f, index);
}

/* ---- layers and faces ---- */

/* The nearest layer: the index is unsigned. */
static uint32_t layer_of(uint32_t index, uint32_t count) { return count ? MIN(index, count - 1) : 0; }

/* The face that a direction points to, and the coordinates on it, in [0, 1]. Of axes of the same length z
 * comes first, then y (as on an H200). */
static uint32_t cube_face(const float d[3], float at[3])
{
    float x = fabsf(d[0]), y = fabsf(d[1]), z = fabsf(d[2]), s, t, major;
    uint32_t face;
    if (z >= x && z >= y) {
        face = d[2] < 0 ? 5 : 4;
        major = z;
        s = d[2] < 0 ? -d[0] : d[0];
        t = -d[1];
    } else if (y >= x) {
        face = d[1] < 0 ? 3 : 2;
        major = y;
        s = d[0];
        t = d[1] < 0 ? -d[2] : d[2];
    } else {
        face = d[0] < 0 ? 1 : 0;
        major = x;
        s = d[0] < 0 ? d[2] : -d[2];
        t = -d[1];
    }
    at[0] = (s / major + 1.0f) * 0.5f;
    at[1] = (t / major + 1.0f) * 0.5f;
    at[2] = 0;
    return face;
}

/* Where one lane samples. */
struct place {
    uint32_t dims;
    int32_t n[3];
    float x[3];
};

static struct place place_of(struct exec *x, const struct isa_inst *i, struct fetch *f)
{
    struct place p = {.dims = i->mod & ISA_TEX_DIMS};
    bool layered = i->mod & ISA_TEX_LAYERED, cube = i->mod & ISA_TEX_CUBE;
    uint32_t layers = cube ? f->t->layers / 6 : f->t->layers;
    uint32_t l = f->lane;
    if (layered) {
        f->layer = layer_of(exec_src(x, i->src[1])[l], layers);
        f->beyond = exec_src(x, i->src[1])[l] >= layers;
    }
    for (uint32_t d = 0; d < p.dims && d < 3; d++) {
        p.n[d] = (int32_t)exec_src(x, i->src[1 + layered + d])[l];
        memcpy(&p.x[d], &p.n[d], sizeof p.x[d]);
    }
    if (!cube) return p;
    const float direction[3] = {p.x[0], p.x[1], p.x[2]};
    f->layer = f->layer * 6 + cube_face(direction, p.x);
    p.dims = 2;
    return p;
}

/* ---- the instructions ---- */
static const struct emu_texture *texture_of(struct warp *w, const struct isa_inst *i, uint32_t lane)
{
    uint64_t handle = row_u64(exec_src(&w->x, i->src[0]), lane);
    const struct emu_texture *t = emu_texture_get(w->run->device, handle);
    if (t && t->is_surface && i->op != ISA_OP_TXQ) t = NULL;
    if (!t)
        fault_raise(w, lane, EMU_BAD_TEXTURE, "%s with 0x%llx, which is not a texture object",
                    isa_ops[i->op].name, (unsigned long long)handle);
    return t;
}

static bool can_filter(const struct emu_texture *t) /* linear filtering exists for what reads as a float */
{
    return t->linear_filter &&
           (t->channel_kind == EMU_CHAN_FLOAT || (t->read_normalized && t->channel_bits <= 16));
}

/* A layer or a face beyond what the texture has would lie outside of its memory. */
static bool has_shape(struct warp *w, const struct isa_inst *i, const struct emu_texture *t, uint32_t lane)
{
    bool layered = i->mod & ISA_TEX_LAYERED, cube = i->mod & ISA_TEX_CUBE;
    if ((!cube || t->is_cube) && (!layered || t->layers)) return true;
    fault_raise(w, lane, EMU_BAD_TEXTURE, "tex of a %s%s on a texture that is none; make its array with %s",
                layered ? "layered " : "", cube ? "cube map" : "texture",
                cube ? "cudaArrayCubemap" : "cudaArrayLayered");
    return false;
}

static void op_tex(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct warp *w = x->warp;
    struct texel texels[ISA_LANES];
    FOR_LANES (l, mask) {
        struct fetch f = {.w = w, .t = texture_of(w, i, l), .lane = l};
        if (!f.t || !has_shape(w, i, f.t, l)) return;
        if (w->texels) w->texels->count[l] = 0;
        const struct place p = place_of(x, i, &f);
        texels[l] = i->type == ISA_S32 ? fetch_integer(&f, p.dims, p.n)
                    : can_filter(f.t)  ? fetch_linear(&f, p.dims, p.x)
                                       : fetch_point(&f, p.dims, p.x);
        if (!f.bad) continue;
        struct strbuf more = {0};
        space_explain(w->run->device->space, f.t->address, &more);
        fault_address(w, l, EMU_BAD_TEXTURE, f.t->address, strbuf_text(&more),
                      "texture fetch outside of device memory; its texels are at 0x%llx",
                      (unsigned long long)f.t->address);
        strbuf_free(&more);
        return;
    }
    for (uint32_t c = 0; c < ISA_DST_MAX; c++) {
        if (i->dst[c] == ISA_NONE) continue;
        uint32_t *dst = exec_dst(x, i->dst[c]);
        FOR_LANES (l, mask) {
            if (i->mod2 == ISA_F32)
                memcpy(&dst[l], &texels[l].f[c], sizeof dst[l]);
            else
                dst[l] = texels[l].u[c];
        }
    }
}

/* Channel types and orders are numbered as in OpenCL (PTX ISA, "txq"). */
static uint32_t channel_type(const struct emu_texture *t)
{
    enum {
        SNORM_INT8 = 0x10d0,
        UNORM_INT8 = 0x10d2,
        SIGNED_INT8 = 0x10d7,
        UNSIGNED_INT8 = 0x10da,
        HALF_FLOAT = 0x10dd,
        FLOAT = 0x10de
    };
    uint32_t width = t->channel_bits == 8 ? 0 : t->channel_bits == 16 ? 1 : 2;
    if (t->channel_kind == EMU_CHAN_FLOAT) return t->channel_bits == 16 ? HALF_FLOAT : FLOAT;
    bool is_signed = t->channel_kind == EMU_CHAN_SIGNED;
    if (t->read_normalized && width < 2) return (is_signed ? SNORM_INT8 : UNORM_INT8) + width;
    return (is_signed ? SIGNED_INT8 : UNSIGNED_INT8) + width;
}

static uint32_t address_number(const struct emu_texture *t, uint32_t dim)
{
    enum { PTX_WRAP, PTX_MIRROR, PTX_CLAMP_OGL, PTX_CLAMP_TO_EDGE, PTX_CLAMP_TO_BORDER };
    static const uint8_t number[] = {[EMU_TEX_WRAP] = PTX_WRAP,
                                     [EMU_TEX_CLAMP] = PTX_CLAMP_TO_EDGE,
                                     [EMU_TEX_MIRROR] = PTX_MIRROR,
                                     [EMU_TEX_BORDER] = PTX_CLAMP_TO_BORDER};
    return number[t->addr_mode[dim] & 3];
}

/* Layers count as the dimension after the last, cube by cube; a single cube has none (as on an H200). */
static uint32_t layers_asked(const struct emu_texture *t)
{
    uint32_t cubes = t->layers / 6;
    return !t->is_cube ? t->layers : cubes > 1 ? cubes : 0;
}

/* A texture of one dimension has one row, a surface none (as on an H200). */
static uint32_t rows_asked(const struct emu_texture *t)
{
    if (t->height) return t->height;
    return t->layers ? t->layers : t->is_surface ? 0 : 1;
}

/* Mipmaps and multi-sample textures are refused when they are made: of levels and samples, which PTX counts
 * for those alone, there are none. */
static uint32_t query(const struct emu_texture *t, uint8_t what)
{
    enum { ORDER_R = 0x10b0, ORDER_RG = 0x10b2, ORDER_RGBA = 0x10b5 };
    switch ((enum isa_txq)what) {
    case ISA_TXQ_WIDTH: return t->width;
    case ISA_TXQ_HEIGHT: return rows_asked(t);
    case ISA_TXQ_DEPTH: return t->height && t->layers ? layers_asked(t) : t->depth;
    case ISA_TXQ_CHANNEL_TYPE: return channel_type(t);
    case ISA_TXQ_CHANNEL_ORDER: return t->channels == 1 ? ORDER_R : t->channels == 2 ? ORDER_RG : ORDER_RGBA;
    case ISA_TXQ_NORMALIZED: return t->normalized_coords;
    case ISA_TXQ_FILTER: return t->linear_filter;
    case ISA_TXQ_ADDR0: return address_number(t, 0);
    case ISA_TXQ_ADDR1: return address_number(t, 1);
    case ISA_TXQ_ADDR2: return address_number(t, 2);
    case ISA_TXQ_ARRAY_SIZE: return layers_asked(t);
    case ISA_TXQ_LEVELS:
    case ISA_TXQ_SAMPLES: return 0;
    case ISA_TXQ_LAYOUT: return t->is_linear_memory;
    }
    UNREACHABLE("texture query");
}

/* A level that a texture lacks has size 0 (as on an H200). */
static void op_txq(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    uint32_t value[ISA_LANES];
    const uint32_t *level = i->src[1] == ISA_NONE ? NULL : exec_src(x, i->src[1]);
    FOR_LANES (l, mask) {
        const struct emu_texture *t = texture_of(x->warp, i, l);
        if (!t) return;
        value[l] = level && level[l] ? 0 : query(t, i->mod);
    }
    if (i->dst[0] == ISA_NONE) return;
    uint32_t *dst = exec_dst(x, i->dst[0]);
    FOR_LANES (l, mask) dst[l] = value[l];
}

void ops_texture(exec_fn **table)
{
    table[ISA_OP_TEX] = op_tex;
    table[ISA_OP_TXQ] = op_txq;
}
