/* rocache.c: see rocache.h. Known from GPGPU-Sim's read_only_cache (allocate on fill). */
#include "core/rocache.h"

#include "base/hugepage.h"

void rocache_init(struct rocache *c, uint64_t bytes, uint32_t ways, uint32_t line_bytes, uint32_t misses,
                  uint32_t merges)
{
    uint64_t lines = MAX(bytes / line_bytes, 1u);
    ways = (uint32_t)MIN(ways, lines);
    struct cache_geometry g = {.sets = (uint32_t)(lines / ways),
                               .ways = ways,
                               .line_bytes = line_bytes,
                               .index = CACHE_INDEX_LINEAR,
                               .replace = CACHE_LRU};
    *c = (struct rocache){.line_bytes = line_bytes, .miss_count = misses, .merges = merges};
    cache_init(&c->tags, &g);
    c->misses = mem_zalloc_huge(misses * sizeof *c->misses);
    c->waiters = mem_zalloc_huge((size_t)misses * merges * sizeof *c->waiters);
}

void rocache_free(struct rocache *c)
{
    cache_free(&c->tags);
    mem_free_huge(c->misses);
    mem_free_huge(c->waiters);
}

void rocache_clear(struct rocache *c)
{
    assert(!c->live);
    cache_clear(&c->tags);
}

static uint32_t find_miss(const struct rocache *c, uint64_t line, uint32_t *free_miss)
{
    *free_miss = UINT32_MAX;
    for (uint32_t i = 0; i < c->miss_count; i++) {
        if (c->misses[i].used && c->misses[i].line == line) return i;
        if (!c->misses[i].used && *free_miss == UINT32_MAX) *free_miss = i;
    }
    return UINT32_MAX;
}

enum rocache_answer rocache_access(struct rocache *c, uint64_t addr, uint32_t waiter, uint16_t warp,
                                   uint32_t pc)
{
    uint64_t line = addr / c->line_bytes * c->line_bytes;
    uint32_t at, room;
    if (cache_probe(&c->tags, line, 1, &at) == CACHE_HIT) {
        cache_touch(&c->tags, at);
        c->accesses++;
        return ROCACHE_HIT;
    }
    uint32_t miss = find_miss(c, line, &room);
    if (miss == UINT32_MAX) {
        if (room == UINT32_MAX) return ROCACHE_STALL;
        miss = room;
        c->misses[miss] = (struct rocache_miss){.line = line, .used = true, .warp = warp, .pc = pc};
        c->live++;
        c->unsent++;
    }
    struct rocache_miss *m = &c->misses[miss];
    if (m->waiting == c->merges) return ROCACHE_STALL;
    c->waiters[miss * c->merges + m->waiting++] = waiter;
    c->accesses++;
    c->missed++;
    return ROCACHE_MISS;
}

uint32_t rocache_unsent(const struct rocache *c)
{
    for (uint32_t i = 0; c->unsent && i < c->miss_count; i++)
        if (c->misses[i].used && !c->misses[i].sent) return i;
    return UINT32_MAX;
}

void rocache_sent(struct rocache *c, uint32_t miss)
{
    assert(c->misses[miss].used && !c->misses[miss].sent);
    c->misses[miss].sent = true;
    c->unsent--;
}

uint32_t rocache_fill(struct rocache *c, uint32_t miss, const uint32_t **waiters)
{
    struct rocache_miss *m = &c->misses[miss];
    assert(m->used && m->sent);
    uint32_t at = cache_victim(&c->tags, m->line);
    cache_reserve(&c->tags, at, m->line, 1);
    cache_fill(&c->tags, at, 1);
    m->used = false;
    c->live--;
    *waiters = &c->waiters[miss * c->merges];
    return m->waiting;
}
