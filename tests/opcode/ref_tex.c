/* ref_tex.c: texture fetches after the CUDA programming guide, "Texture Fetching": point and linear
 * filtering, the four address modes, normalized coordinates. The weights of linear filtering have 8
 * fractional bits. Missing channels read as 0; the border colour has the precision of the texture's format
 * (both as silicon has it). */
#include "opcode_texture.h"
#include "reference.h"

#include <math.h>

static uint32_t float_bits(double x)
{
    float f = (float)x;
    uint32_t b;
    memcpy(&b, &f, 4);
    return b;
}

static double half_value(uint32_t h)
{
    int e = (int)(h >> 10 & 31);
    double m = (h & 0x3ff) / 1024.0;
    double v = e ? ldexp(1 + m, e - 15) : ldexp(m, -14);
    return h & 0x8000 ? -v : v;
}

/* Channel c of the texel at index i (of all texels): as a number, or with raw as its bits extended to 32. */
static double channel_value(const struct tex_desc *t, const uint8_t *texels, size_t i, uint32_t c)
{
    uint32_t bytes = t->bits / 8, raw = 0;
    memcpy(&raw, texels + i * tex_texel_bytes(t) + (size_t)c * bytes, bytes);
    if (t->kind == 'f') {
        if (t->bits == 16) return half_value(raw);
        float f;
        memcpy(&f, &raw, 4);
        return (double)f;
    }
    double top = ldexp(1, (int)t->bits - (t->kind == 's')) - 1;
    double v = t->kind == 's' && t->bits < 32 && raw >> (t->bits - 1) ? (double)raw - ldexp(1, (int)t->bits)
                                                                      : (double)raw;
    if (t->kind == 's' && t->bits == 32) v = (double)(int32_t)raw;
    return t->read_normalized ? fmax(v / top, -1) : v;
}

/* An index outside 0..n-1 brought back by the address mode; -1 = the border. */
static int64_t address(const struct tex_desc *t, int64_t i, int64_t n)
{
    if (i >= 0 && i < n) return i;
    if (t->linear_memory) return -1;
    int64_t wrapped = (i % n + n) % n, twice = (i % (2 * n) + 2 * n) % (2 * n);
    switch (t->address) {
    case TEX_WRAP: return wrapped;
    case TEX_CLAMP: return i < 0 ? 0 : n - 1;
    case TEX_MIRROR: return twice < n ? twice : 2 * n - 1 - twice;
    default: return -1;
    }
}

static double border_value(const struct tex_desc *t, uint32_t c)
{
    double top = ldexp(1, (int)t->bits - (t->kind == 's')) - 1;
    return t->read_normalized ? ceil((double)t->border[c] * top - 0.5) / top : (double)t->border[c];
}

static double texel_at(const struct tex_desc *t, const uint8_t *texels, const int64_t *index, uint32_t c)
{
    const int64_t n[3] = {t->width, MAX(t->height, 1u), MAX(t->depth, 1u)};
    int64_t at[3] = {0};
    for (uint32_t d = 0; d < t->dims; d++) {
        at[d] = address(t, index[d], n[d]);
        if (at[d] < 0) return t->linear_memory ? 0 : border_value(t, c);
    }
    return channel_value(t, texels, (size_t)((at[2] * n[1] + at[1]) * n[0] + at[0]), c);
}

static double sample(const struct tex_desc *t, const uint8_t *texels, const double *x, uint32_t c)
{
    int64_t index[3] = {0};
    double weight[3] = {0};
    for (uint32_t d = 0; d < t->dims; d++) {
        double at = t->filter == TEX_LINEAR ? x[d] - 0.5 : x[d], low = floor(at);
        if (t->filter == TEX_LINEAR) { weight[d] = floor((at - low) * 256 + 0.5) / 256; }
        index[d] = (int64_t)low;
    }
    double total = 0;
    uint32_t corners = t->filter == TEX_LINEAR ? 1u << t->dims : 1;
    for (uint32_t k = 0; k < corners; k++) {
        int64_t at[3];
        double w = 1;
        for (uint32_t d = 0; d < 3; d++) {
            at[d] = index[d] + (k >> d & 1);
            w *= k >> d & 1 ? weight[d] : 1 - weight[d];
        }
        if (w != 0) total += w * texel_at(t, texels, at, c);
    }
    return total;
}

static float as_float(uint64_t word)
{
    uint32_t w = (uint32_t)word;
    float f;
    memcpy(&f, &w, 4);
    return f;
}

/* The table of the guide, "Cubemap Textures": major axis, face, and the coordinates (s, t) on the face.
 * Ties go to z, then y, as silicon has it. */
static uint32_t cube_face(const uint64_t *coords, double *x)
{
    double v[3], ma;
    for (int i = 0; i < 3; i++) v[i] = (double)as_float(coords[i]);
    uint32_t axis = fabs(v[2]) >= fabs(v[0]) && fabs(v[2]) >= fabs(v[1]) ? 2
                    : fabs(v[1]) >= fabs(v[0])                           ? 1
                                                                         : 0;
    bool negative = v[axis] < 0;
    double sign = negative ? -1 : 1;
    ma = fabs(v[axis]);
    x[0] = axis == 0 ? -sign * v[2] : axis == 1 ? v[0] : sign * v[0];
    x[1] = axis == 1 ? sign * v[2] : -v[1];
    for (int i = 0; i < 2; i++) x[i] = (double)(((float)x[i] / (float)ma + 1.0f) * 0.5f);
    return 2 * axis + negative;
}

/* The layer that the coordinates begin with, counted in faces for cube maps; they then begin behind it. */
static uint32_t take_layer(const struct tex_desc *t, const uint64_t **coords)
{
    bool is_array = t->layers && !(t->is_cube && t->layers == 6);
    if (!is_array) return 0;
    uint32_t index = (uint32_t) * (*coords)++, count = t->is_cube ? t->layers / 6 : t->layers;
    return MIN(index, count - 1) * (t->is_cube ? 6 : 1);
}

bool ref_texture(const struct ref_op *op, const char *description, const uint64_t *coords, uint64_t *out)
{
    struct tex_desc t;
    /* the texels of the newest texture: forms come in long runs */
    static _Thread_local char last[64];
    static _Thread_local uint8_t texels[16384];
    if (!description || !tex_parse(description, &t) || tex_bytes(&t) > sizeof texels ||
        strlen(description) >= sizeof last)
        return false;
    if (strcmp(last, description)) {
        tex_fill(&t, texels);
        strcpy(last, description);
    }
    bool is_integer = !strcmp(ref_last(op), "s32");
    double x[3] = {0};
    bool beyond = is_integer && t.layers && (uint32_t)coords[0] >= t.layers;
    uint32_t layer = take_layer(&t, &coords);
    if (t.is_cube) layer += cube_face(coords, x);
    if (is_integer) t.linear_memory = true; /* outside of the texture are zeros, whatever the address mode */
    const uint8_t *slice = texels + (size_t)layer * t.width * MAX(t.height, 1u) * tex_texel_bytes(&t);
    const uint32_t n[3] = {t.width, t.height, t.depth};
    for (uint32_t d = 0; d < t.dims; d++) {
        if (!t.is_cube) x[d] = is_integer ? (double)(int32_t)coords[d] : (double)as_float(coords[d]);
        if (t.normalized_coords) x[d] *= n[d];
    }
    bool to_int = t.kind != 'f' && !t.read_normalized;
    for (uint32_t c = 0; c < 4; c++) {
        double v = c < t.channels && !beyond ? sample(&t, slice, x, c) : 0;
        out[c] = to_int ? (uint32_t)(int64_t)v : float_bits(v);
    }
    return true;
}
