/* shadow.h: inside the emulator: for each byte of memory that a grid touched, who accessed it last.
 *
 * Memory is known by the host's addresses, so that shared and device memory are treated alike. A *cell*
 * stands for a word of four bytes; on pages with an access of less than a word, cells stand for single bytes,
 * so that neighbouring bytes are never taken for one another. */
#ifndef HEDDLE_EMU_SHADOW_H
#define HEDDLE_EMU_SHADOW_H

#include "base/vec.h"

enum access_kind_bits {
    ACCESS_WRITES = 1,
    /* Atomics, and loads and stores by which threads may wait for each other: two of them do not race. */
    ACCESS_STRONG = 2
};

/* One access of one thread. */
struct shadow_access {
    /* number in the grid, from 1 on; 0 = no access */
    uint64_t warp : 56;
    uint64_t lane : 5;
    /* enum access_kind_bits */
    uint64_t kind : 3;
    uint32_t clock, pc;
};

/* The last accesses by two different warps, of different CTAs where there were such; the newest first. */
struct shadow_pair {
    struct shadow_access of[2];
};

/* After a plain write, earlier accesses need not be kept. An access that races with one of them but not with
 * the write is impossible: it comes after the write, and so after them, unless they raced with the write,
 * which was reported. */
struct shadow_cell {
    struct shadow_pair writes, reads;
};

struct shadow_page;

struct shadow {
    /* by the upper bits of an address, then by the number of its page */
    struct shadow_page ***top;
    VEC(struct shadow_page *) pages;
    VEC(struct shadow_page **) tables;
    /* warps of a CTA: of several accesses, those by warps of one CTA are forgotten first */
    uint64_t cta_warps;
};

void shadow_open(struct shadow *s, uint32_t cta_warps);
void shadow_close(struct shadow *s);
/* Forgets all accesses to [lo, lo + bytes). */
void shadow_clear(struct shadow *s, uint64_t lo, uint64_t bytes);
/* The cell of a byte; *step = bytes from there to the next cell. Cells are those of `bytes` bytes at least if
 * the page has no smaller ones yet. */
struct shadow_cell *shadow_at(struct shadow *s, uint64_t address, uint32_t bytes, uint32_t *step);
/* When the word at this address was last written so as to release other threads; 0 = never. */
uint64_t *shadow_released(struct shadow *s, uint64_t address);
/* Adds an access to a cell. */
void shadow_add(const struct shadow *s, struct shadow_cell *c, const struct shadow_access *a);

#endif
