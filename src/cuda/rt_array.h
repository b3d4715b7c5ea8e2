/* rt_array.h: CUDA arrays: texture memory, kept here as rows in device memory. */
#ifndef HEDDLE_RT_ARRAY_H
#define HEDDLE_RT_ARRAY_H

#include "cuda/rt_state.h"

struct rt_array {
    struct rt_object object;
    struct cudaChannelFormatDesc desc;
    /* texels, as the program gave it: height 0 = 1D, depth 0 = no slices */
    struct cudaExtent extent;
    unsigned flags;
    uint32_t texel_bytes;
    uint64_t address;
    /* bytes from row to row; rows and slices are at least 1 */
    size_t pitch, rows, slices;
};

struct rt_format {
    uint32_t channels, channel_bits;
    /* enum emu_tex_chan */
    uint8_t kind;
    bool normalized;
};

/* Reads a channel description; false for one that no texture can have. */
bool rt_format_read(const struct cudaChannelFormatDesc *d, struct rt_format *out);
static inline uint32_t rt_format_bytes(const struct rt_format *f)
{
    return f->channels * f->channel_bits / 8;
}

#endif
