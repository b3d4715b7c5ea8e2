/* rt_texture.h: what texture objects and texture references share. */
#ifndef HEDDLE_RT_TEXTURE_H
#define HEDDLE_RT_TEXTURE_H

#include "cuda/rt_array.h"

/* Checks the descriptions and turns them into the emulator's form. */
cudaError_t rt_texture_build(struct gpu *g, const struct cudaResourceDesc *r, const struct cudaTextureDesc *t,
                             struct emu_texture *out);

#endif
