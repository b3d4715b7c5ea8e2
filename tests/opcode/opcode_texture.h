/* opcode_texture.h: the textures of the opcode tests: what a description of forms.tsv means, and the texels.
 *
 * A description is shape-format-filter-address-coordinates, for example 2d-u8x4n-linear-wrap-norm: 2
 * dimensions, four unsigned 8-bit channels that are read as floats in [0, 1] (the n), linear filtering,
 * wrapped, normalized coordinates. The shape lin is a 1-dimensional texture over linear memory, all others
 * lie in arrays: 1d, 2d, 3d; a1d, a2d layered ones; cube, acube cube maps and an array of them; s1d, s2d,
 * s3d, sa1d, sa2d surfaces, for which only the format counts. */
#ifndef OPCODE_TEXTURE_H
#define OPCODE_TEXTURE_H

#include "base/base.h"

enum tex_filter { TEX_POINT, TEX_LINEAR };
/* the values of CUDA's address modes */
enum tex_address { TEX_WRAP, TEX_CLAMP, TEX_MIRROR, TEX_BORDER };

struct tex_desc {
    /* height and depth 0 where there are none */
    uint32_t dims, width, height, depth;
    /* 0: not layered; a cube map has 6 for each cube */
    uint32_t layers;
    bool is_cube, is_surface;
    /* 'f', 'u' or 's' */
    char kind;
    uint32_t bits, channels;
    bool linear_memory;
    bool read_normalized, normalized_coords;
    uint8_t filter, address;
    float border[4];
};

bool tex_parse(const char *text, struct tex_desc *t);
uint32_t tex_texel_bytes(const struct tex_desc *t);
/* rows and slices without gaps */
size_t tex_bytes(const struct tex_desc *t);
void tex_fill(const struct tex_desc *t, void *texels);

#endif
