/* opcode_texture.c: see opcode_texture.h. */
#include "opcode_texture.h"

#include "base/rng.h"

static bool word_is(const char *w, size_t len, const char *name)
{
    return strlen(name) == len && !memcmp(w, name, len);
}

static bool parse_format(const char *w, size_t len, struct tex_desc *t)
{
    char text[16], tail = 0;
    if (len >= sizeof text) return false;
    memcpy(text, w, len);
    text[len] = 0;
    int got = sscanf(text, "%c%ux%u%c", &t->kind, &t->bits, &t->channels, &tail);
    t->read_normalized = got == 4 && tail == 'n';
    return got >= 3;
}

enum { SURFACE_WIDTH = 32, SURFACE_HEIGHT = 16, CUBE_WIDTH = 7, LAYERS = 5, CUBES = 3, FACES = 6 };

static bool parse_shape(const char *w, size_t len, struct tex_desc *t)
{
    t->linear_memory = word_is(w, len, "lin");
    t->is_surface = *w == 's';
    if (t->is_surface) w++, len--;
    t->is_cube = word_is(w, len, "cube") || word_is(w, len, "acube");
    bool is_array = *w == 'a';
    t->dims = t->linear_memory ? 1 : t->is_cube ? 2 : (uint32_t)(w[is_array] - '0');
    if (is_array) t->layers = t->is_cube ? FACES * CUBES : LAYERS;
    if (t->is_cube && !is_array) t->layers = FACES;
    return t->dims >= 1 && t->dims <= 3;
}

/* No powers of two, so that a wrong wrap shows; surfaces have a texel for each thread of a block. */
static void set_sizes(struct tex_desc *t)
{
    t->width = t->dims == 3 ? 9 : 13;
    t->height = t->dims >= 2 ? t->dims == 3 ? 6 : 7 : 0;
    t->depth = t->dims == 3 ? 5 : 0;
    if (t->is_cube) t->width = t->height = CUBE_WIDTH;
    if (!t->is_surface) return;
    t->width = SURFACE_WIDTH;
    t->height = t->dims >= 2 ? SURFACE_HEIGHT : 0;
    if (t->dims == 1) t->width *= SURFACE_HEIGHT;
}

static bool parse_word(int place, const char *w, size_t len, struct tex_desc *t)
{
    static const char *const addresses[] = {"wrap", "clamp", "mirror", "border"};
    switch (place) {
    case 0: return parse_shape(w, len, t);
    case 1: return parse_format(w, len, t);
    case 2: t->filter = word_is(w, len, "linear"); return t->filter || word_is(w, len, "point");
    case 3:
        for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
            t->address = (uint8_t)i;
            if (word_is(w, len, addresses[i])) return true;
        }
        return false;
    case 4:
        t->normalized_coords = word_is(w, len, "norm");
        return t->normalized_coords || word_is(w, len, "texel");
    default: return false;
    }
}

bool tex_parse(const char *text, struct tex_desc *t)
{
    *t = (struct tex_desc){0};
    int place = 0;
    for (const char *p = text; *p; place++) {
        size_t len = strcspn(p, "-");
        if (!parse_word(place, p, len, t)) return false;
        p += len + (p[len] == '-');
    }
    set_sizes(t);
    if (t->kind == 'f' || t->read_normalized)
        memcpy(t->border, (float[4]){0.25f, 0.5f, 0.75f, 0.125f}, sizeof t->border);
    return place == (t->is_surface ? 2 : 5);
}

uint32_t tex_texel_bytes(const struct tex_desc *t) { return t->bits / 8 * t->channels; }

size_t tex_bytes(const struct tex_desc *t)
{
    return (size_t)tex_texel_bytes(t) * t->width * MAX(t->height, 1u) * MAX(t->depth, 1u) *
           MAX(t->layers, 1u);
}

void tex_fill(const struct tex_desc *t, void *texels)
{
    struct rng r = {t->bits * 8 + t->channels};
    unsigned char *p = texels;
    for (size_t i = 0; i < tex_bytes(t) / (t->bits / 8); i++) {
        uint32_t v = rng_u32(&r);
        if (t->kind == 'f' && t->bits == 16) {
            v = (v & 0x83ff) | ((v >> 16 & 3) + 14) << 10; /* +-[1/2, 8) */
        } else if (t->kind == 'f') {
            float x = (float)(int32_t)(v >> 8) * 0x1p-20f - 8.0f; /* [-8, 8) */
            memcpy(&v, &x, 4);
        }
        memcpy(p + i * (t->bits / 8), &v, t->bits / 8); /* little-endian hosts */
    }
}
