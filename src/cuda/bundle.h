/* bundle.h: several images in one block of bytes: what cuLinkComplete returns as a "cubin" and the module
 * loader takes. +0 magic, +8 u64 bytes in all, then for each image: u64 bytes, the bytes, padding to 8. */
#ifndef HEDDLE_BUNDLE_H
#define HEDDLE_BUNDLE_H

#include "base/vec.h"

/* libheddle.so exports these symbols to libcuda.so.1 and libcudart.so. */
#pragma GCC visibility push(default)

#define BUNDLE_MAGIC "HEDDLELK"
enum { BUNDLE_HEADER_BYTES = 16 };

struct bundle_writer {
    VEC(uint8_t) bytes;
};

void bundle_begin(struct bundle_writer *w);
void bundle_add(struct bundle_writer *w, const void *image, size_t len);

bool bundle_is(const void *data);
/* Returns the image at *cursor (0 at first) and advances it. False at the end, or where a size exceeds it. */
bool bundle_next(const void *data, size_t *cursor, const void **image, size_t *len);

#pragma GCC visibility pop

#endif
