/* fatbin.h: PTX out of the containers that nvcc makes. Known from measurement of nvcc 13.0 (see fatbin.c). */
#ifndef HEDDLE_FATBIN_H
#define HEDDLE_FATBIN_H

#include "base/arena.h"
#include "base/diag.h"

/* libheddle.so exports these symbols to libcuda.so.1 and libcudart.so. */
#pragma GCC visibility push(default)

struct fatbin_entry {
    bool is_ptx;   /* else a cubin */
    uint32_t arch; /* 75 */
    uint32_t version_major, version_minor;
    const char *text; /* PTX, decompressed, zero-terminated; NULL for a cubin */
    size_t len;
    const char *options;     /* ptxas options, "-O3 -maxrregcount=32", or "" */
    const char *source_name; /* or "" */
};
struct fatbin {
    struct arena arena;
    struct fatbin_entry *entries;
    uint32_t count;
};

/* Reads a fatbin at data; len = bytes that may be read (SIZE_MAX when only the header can say). False on
 * error. */
bool fatbin_read(const char *name, const void *data, size_t len, struct fatbin *out, struct diag_list *diags);
void fatbin_free(struct fatbin *f);
bool fatbin_is(const void *data); /* has the magic */
/* The lowest architecture that the fatbin has PTX for; 0 = none, or it is damaged. Reads headers alone. */
uint32_t fatbin_lowest_ptx(const void *data, size_t len);
/* The PTX entry to run: the highest architecture not above max_arch, or NULL. */
const struct fatbin_entry *fatbin_best_ptx(const struct fatbin *f, uint32_t max_arch);

/* The 24-byte record of .nvFatBinSegment, whose address is the argument of __cudaRegisterFatBinary. */
struct fatbin_wrapper {
    uint32_t magic, version;   /* version 2: made by the device linker */
    const void *data;          /* the fatbin */
    const void *const *linked; /* version 2: the fatbins that were linked, ended by NULL; version 1: unused */
};
enum { FATBIN_WRAPPER_MAGIC = 0x466243b1 };
bool fatbin_is_wrapper(const void *data);

#pragma GCC visibility pop

#endif
