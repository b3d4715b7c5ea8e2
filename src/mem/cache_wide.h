/* cache_wide.h: what a cache of many ways (rtx3080's L1 has 4 sets of 256) keeps instead of tags, so that a
 * lookup and the search for a victim cost the same whatever the ways: for each set its ways by address, and
 * in the order of replacement. */
#ifndef HEDDLE_CACHE_WIDE_H
#define HEDDLE_CACHE_WIDE_H

#include "mem/cache.h"

enum { CACHE_WIDE_WAYS_MAX = 1 << 15 };

void cache_wide_init(struct cache_wide *w, uint32_t sets, uint32_t ways);
void cache_wide_free(struct cache_wide *w);
void cache_wide_clear(struct cache_wide *w);
/* lines: of the set, see cache.h. The way that holds a line address, or CACHE_NO_LINE. */
uint32_t cache_wide_find(const struct cache_wide *w, const struct cache_line *lines, uint32_t set,
                         uint64_t addr);
/* A line that was in use leaves. */
__attribute__((noinline)) void cache_wide_drop(struct cache_wide *w, uint32_t line, uint64_t addr);
/* These make it the newest of its set: a line that was not in use, one that held another address, one that
 * stays as it is. */
void cache_wide_put(struct cache_wide *w, uint32_t line, uint64_t addr);
void cache_wide_replace(struct cache_wide *w, uint32_t line, uint64_t old, uint64_t addr);
__attribute__((noinline)) void cache_wide_renew(struct cache_wide *w, uint32_t line);
/* The lowest line of the set that is not in use, else the oldest that no fill is awaited for, of the first
 * `ways`; or CACHE_NO_LINE. lines: of the cache. */
__attribute__((noinline)) uint32_t
cache_wide_victim(const struct cache_wide *w, const struct cache_line *lines, uint32_t set, uint32_t ways);

#endif
