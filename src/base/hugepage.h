/* hugepage.h: memory for state that lives as long as a machine, on huge pages where the host offers them.
 *
 * The state of a machine with many SMs is larger than what the host's TLB covers with pages of 4 KB, and
 * every step walks over much of it. The malloc of the program that Heddle is loaded into is not ours to tune,
 * so this memory has mappings of its own.
 *
 * Meant for blocks that are allocated once and freed once: the space of a freed block is not used again
 * before its whole chunk is free. Blocks that are mostly never touched do not belong here either, because a
 * huge page is always backed as a whole. */
#ifndef HEDDLE_HUGEPAGE_H
#define HEDDLE_HUGEPAGE_H

#include "base/base.h"

/* The size of a huge page of x86-64. On other hosts any size will do. */
enum { HUGE_CHUNK_BYTES = 2 << 20 };
/* Blocks begin within this many bytes of the start of their chunk: more than any header, and as much as the
 * sets of a second-level cache hold, one line each. */
enum { HUGE_SPREAD_BYTES = 1 << 16 };

/* Under the address sanitizer every block comes from the heap, so that overruns and leaks are found. */
#if defined(__has_feature)
#define HUGE_HAS_FEATURE(x) __has_feature(x)
#else
#define HUGE_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HUGE_HAS_FEATURE(address_sanitizer)
#define HUGE_IS_HEAP 1
#else
#define HUGE_IS_HEAP 0
#endif

/* Returns a cleared block that starts at a cache line of the host and fills whole ones; without memory the
 * process ends with a message. Any thread may call these functions. */
void *mem_zalloc_huge(size_t bytes);
/* `block` may be NULL. */
void mem_free_huge(void *block);
/* Bytes mapped now; 0 where blocks come from the heap. */
size_t mem_huge_bytes(void);

#endif
