/* elf.h: where the fatbins of an ELF file are, and which CUDA libraries it uses. */
#ifndef HEDDLE_ELF_H
#define HEDDLE_ELF_H

#include "base/base.h"

struct elf_section {
    const uint8_t *data;
    size_t len;
};

/* A 64-bit little-endian ELF file. */
bool elf_is(const void *image, size_t len);
/* Finds the bytes of a section by name; false when it is missing or empty. Never reads outside of the
 * image. */
bool elf_find_section(const void *image, size_t len, const char *name, struct elf_section *out);

/* Walks the fatbins of a file: *cursor starts as {0}; each call gives the next one of .nv_fatbin and
 * __nv_relfatbin. */
struct elf_fatbin_cursor {
    uint32_t section;
    size_t offset;
};
bool elf_next_fatbin(const void *image, size_t len, struct elf_fatbin_cursor *cursor,
                     struct elf_section *out);

/* True when the program has CUDA kernels but does not load libcudart.so: nvcc linked the runtime into it. */
bool elf_has_static_cudart(const void *image, size_t len);
/* True when DT_NEEDED names a library that begins with prefix, "libcudart.so". */
bool elf_needs_library(const void *image, size_t len, const char *prefix);

#endif
