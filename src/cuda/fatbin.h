/* fatbin.h: PTX out of the containers that nvcc makes. Known from measurement of nvcc 13.0 (see fatbin.c). */
#ifndef HEDDLE_FATBIN_H
#define HEDDLE_FATBIN_H

#include "base/arena.h"
#include "base/diag.h"

/* libheddle.so exports these symbols to libcuda.so.1 and libcudart.so. */
#pragma GCC visibility push(default)

struct fatbin_entry {
    /* else a cubin */
    bool is_ptx;
    /* 75 */
    uint32_t arch;
    uint32_t version_major, version_minor;
    /* PTX, decompressed, zero-terminated; NULL for a cubin */
    const char *text;
    size_t len;
    /* ptxas options, "-O3 -maxrregcount=32", or "" */
    const char *options;
    /* or "" */
    const char *source_name;
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
/* Has the magic. */
bool fatbin_is(const void *data);
/* The lowest architecture that the fatbin has PTX for; 0 = none, or it is damaged. Reads headers alone. */
uint32_t fatbin_lowest_ptx(const void *data, size_t len);
/* The PTX entry to run: the highest architecture not above max_arch, or NULL. */
const struct fatbin_entry *fatbin_best_ptx(const struct fatbin *f, uint32_t max_arch);

/* The 24-byte record of .nvFatBinSegment, whose address is the argument of __cudaRegisterFatBinary. */
struct fatbin_wrapper {
    /* version 2: made by the device linker */
    uint32_t magic, version;
    /* the fatbin */
    const void *data;
    /* version 2: the fatbins that were linked, ended by NULL; version 1: unused */
    const void *const *linked;
};
enum { FATBIN_WRAPPER_MAGIC = 0x466243b1 };
bool fatbin_is_wrapper(const void *data);

#pragma GCC visibility pop

#endif
