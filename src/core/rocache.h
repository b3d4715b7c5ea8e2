/* rocache.h: the small read-only caches of an SM: instructions, constants, textures. Tags, misses under way
 * and who waits for them. Misses travel to L2 as the owner sends them (rocache_unsent); a line is allocated
 * when it comes back. */
#ifndef HEDDLE_ROCACHE_H
#define HEDDLE_ROCACHE_H

#include "mem/cache.h"

struct rocache_miss {
    uint64_t line;
    uint32_t waiting; /* waiters */
    bool used, sent;
    uint16_t warp; /* who missed first, and where, for the request */
    uint32_t pc;
};

struct rocache {
    struct cache tags;
    uint32_t line_bytes, miss_count, merges;
    uint32_t live, unsent; /* misses */
    struct rocache_miss *misses;
    uint32_t *waiters; /* [miss * merges + n] */
    uint64_t accesses, missed;
};

enum rocache_answer { ROCACHE_HIT, ROCACHE_MISS /* the waiter is told when the line comes */, ROCACHE_STALL };

void rocache_init(struct rocache *c, uint64_t bytes, uint32_t ways, uint32_t line_bytes, uint32_t misses,
                  uint32_t merges);
void rocache_free(struct rocache *c);
void rocache_clear(struct rocache *c);
/* STALL changes nothing: ask again. */
enum rocache_answer rocache_access(struct rocache *c, uint64_t addr, uint32_t waiter, uint16_t warp,
                                   uint32_t pc);
/* A miss that is still to be sent, or UINT32_MAX. */
uint32_t rocache_unsent(const struct rocache *c);
void rocache_sent(struct rocache *c, uint32_t miss);
/* The line of a miss is here: its waiters in *waiters, their number as the answer; the miss is over. */
uint32_t rocache_fill(struct rocache *c, uint32_t miss, const uint32_t **waiters);

#endif
