/* space.h: device memory: one reserved range of the host's address space, committed as it is allocated.
 *
 * A device address is a host address of that range, so that a load is a load; pinned, managed and registered
 * host memory have the same address on both sides. The allocation map knows every live allocation (and the
 * freed ones for a while), so that a bad access can be told from a good one and explained. Invariants: (1)
 * live allocations do not overlap; (2) addresses are handed out in a fixed order: the same calls give the
 * same addresses in every run; (3) an allocation is followed by a gap that belongs to no allocation. */
#ifndef HEDDLE_SPACE_H
#define HEDDLE_SPACE_H

#include "base/base.h"
#include "base/strbuf.h"

/* libheddle.so exports these symbols to libcudart and libcuda. */
#pragma GCC visibility push(default)

enum space_kind {
    SPACE_DEVICE,
    SPACE_MANAGED,
    /* pinned */
    SPACE_HOST,
    /* the host's own, registered */
    SPACE_REGISTERED,
    /* variables of a module */
    SPACE_MODULE,
    /* .const variables */
    SPACE_CONST,
    /* device malloc */
    SPACE_HEAP,
    /* the window of a controller: only a privileged launch may touch it */
    SPACE_WINDOW,
    SPACE_INTERNAL
};

struct space_alloc {
    uint64_t base, bytes;
    /* enum space_kind */
    uint8_t kind;
    /* false: freed, kept for explanations */
    bool live;
    /* "cudaMalloc #3", a variable's name; owned by the space */
    const char *label;
    /* order of allocation */
    uint64_t serial;
};

struct space;

/* The reserved range: an address in it is device memory or nothing. (space.c defines the same macros:
 * the compiler checks that they agree.) */
#define SPACE_BASE  0x7e9000000000ull
#define SPACE_BYTES 0x004000000000ull
static inline bool space_reserved(uint64_t address) { return address - SPACE_BASE < SPACE_BYTES; }

/* NULL when the range cannot be reserved; bytes_max = the device's memory. */
struct space *space_create(uint64_t bytes_max);
void space_destroy(struct space *s);
/* 0 = out of memory. */
uint64_t space_alloc(struct space *s, uint64_t bytes, uint64_t align, enum space_kind kind,
                     const char *label);
/* False: not the base of a live allocation. */
bool space_free(struct space *s, uint64_t base);
/* Registers host memory under its own address. */
bool space_register(struct space *s, void *host, uint64_t bytes, const char *label);
bool space_unregister(struct space *s, void *host);
/* The live allocation that holds address, or NULL. Fast for repeated hits in one allocation. */
const struct space_alloc *space_find(struct space *s, uint64_t address);
/* True when [address, address+bytes) lies in one live allocation. */
bool space_valid(struct space *s, uint64_t address, uint64_t bytes);
/* "16 bytes past the end of cudaMalloc #3 (0x..., 4096 bytes)", or "in freed ...", for error texts. */
void space_explain(struct space *s, uint64_t address, struct strbuf *out);
uint64_t space_bytes_used(const struct space *s);
uint64_t space_bytes_max(const struct space *s);

#pragma GCC visibility pop

#endif
