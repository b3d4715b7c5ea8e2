/* hugepage.h: memory for state that lives as long as a machine, on huge pages where the host gives them.
 *
 * The state of a machine with many SMs is larger than what the host's TLB reaches with pages of 4 KB, and every step walks over much of
 * it. The malloc of the program that Heddle is loaded into is not ours to tune, so this memory has mappings of its own.
 *
 * Made for what is made once and freed once: the place of a freed block is not used again before all of its chunk is free. What is
 * mostly never touched does not belong here either: a huge page is there as a whole. */
#ifndef HEDDLE_HUGEPAGE_H
#define HEDDLE_HUGEPAGE_H

#include "base/base.h"

enum { HUGE_CHUNK_BYTES = 2 << 20 }; /* a huge page of x86-64; elsewhere it is as good a size as another */

/* Under the address sanitizer every block is one of the heap, so that overruns and leaks are found. */
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

/* Cleared, begins at a cache line of the host and fills whole ones; there, or the process ends saying so. Any thread may call these. */
void *mem_zalloc_huge(size_t bytes);
void mem_free_huge(void *block); /* NULL: nothing to do */

size_t mem_huge_bytes(void); /* mapped now; 0 where it is the heap */

#endif
