/* rocache.c: see rocache.h. Known from GPGPU-Sim's read_only_cache (allocate on fill). */
#include "mem/rocache.h"

#define ROCACHE_NONE    UINT32_MAX
#define ROCACHE_NO_LINE UINT64_MAX

static void rocache_reply(void *cache, tick now, uint32_t id);

void rocache_init(struct rocache *c, const struct rocache_setup *setup)
{
    uint64_t lines = MAX(setup->bytes / setup->line_bytes, 1u);
    uint32_t ways = (uint32_t)MIN(setup->ways, lines);
    struct cache_geometry g = {.sets = (uint32_t)(lines / ways),
                               .ways = ways,
                               .line_bytes = setup->line_bytes,
                               .index = CACHE_INDEX_LINEAR,
                               .replace = CACHE_LRU};
    *c = (struct rocache){.setup = *setup, .newest = ROCACHE_NO_LINE};
    cache_init(&c->tags, &g);
    c->misses = mem_zalloc_huge(setup->misses * sizeof *c->misses);
    c->waiters = mem_zalloc_huge((size_t)setup->misses * setup->merges * sizeof *c->waiters);
    sm_port_connect(
        setup->port, setup->client,
        &(struct sm_port_handler){.ctx = c, .reply = rocache_reply, .line_bytes = setup->line_bytes});
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
    c->newest = ROCACHE_NO_LINE;
}

static uint32_t find_miss(const struct rocache *c, uint64_t line, uint32_t *free_miss)
{
    *free_miss = ROCACHE_NONE;
    for (uint32_t i = 0; i < c->setup.misses; i++) {
        if (c->misses[i].used && c->misses[i].line == line) return i;
        if (!c->misses[i].used && *free_miss == ROCACHE_NONE) *free_miss = i;
    }
    return ROCACHE_NONE;
}

enum rocache_answer rocache_access(struct rocache *c, uint64_t addr, uint32_t waiter, uint16_t warp,
                                   uint32_t pc)
{
    const uint64_t line = addr & ~(uint64_t)(c->setup.line_bytes - 1);
    uint32_t at, room;
    if (line == c->newest) {
        c->accesses++;
        return ROCACHE_HIT;
    }
    if (cache_probe(&c->tags, line, 1, &at) == CACHE_HIT) {
        cache_touch(&c->tags, at);
        c->newest = line;
        c->accesses++;
        return ROCACHE_HIT;
    }
    uint32_t miss = find_miss(c, line, &room);
    if (miss == ROCACHE_NONE) {
        if (room == ROCACHE_NONE) return ROCACHE_STALL;
        miss = room;
        c->misses[miss] = (struct rocache_miss){.line = line, .used = true, .warp = warp, .pc = pc};
        c->live++;
        c->unsent++;
    }
    struct rocache_miss *m = &c->misses[miss];
    if (m->waiting == c->setup.merges) return ROCACHE_STALL;
    c->waiters[miss * c->setup.merges + m->waiting++] = waiter;
    c->accesses++;
    c->missed++;
    return ROCACHE_MISS;
}

/* ---- the way to the L2 and back ---- */

static struct req request_of(const struct rocache *c, uint32_t miss, tick now)
{
    const struct rocache_miss *m = &c->misses[miss];
    return (struct req){.addr = m->line,
                        .sectors = (uint32_t)((1ull << c->setup.line_bytes / CACHE_SECTOR_BYTES) - 1),
                        .kind = REQ_READ,
                        .cls = (uint8_t)c->setup.cls,
                        .sm = (uint16_t)c->setup.sm,
                        .warp = m->warp,
                        .pc = m->pc,
                        .token = miss,
                        .born = now};
}

bool rocache_send(struct rocache *c, tick now)
{
    if (!c->unsent || !sm_port_has_room(c->setup.port)) return false;
    uint32_t miss = 0;
    while (!c->misses[miss].used || c->misses[miss].sent) miss++;
    assert(miss < c->setup.misses);
    struct req r = request_of(c, miss, now);
    sm_port_send(c->setup.port, c->setup.client, req_new(c->setup.pool, &r));
    c->misses[miss].sent = true;
    c->unsent--;
    return true;
}

/* The line of a miss is here: its waiters are notified, and the miss is over. */
static void rocache_reply(void *cache, tick now, uint32_t id)
{
    struct rocache *c = cache;
    uint32_t miss = req_at(c->setup.pool, id)->token;
    struct rocache_miss *m = &c->misses[miss];
    assert(m->used && m->sent);
    if (!c->setup.keeps_none) {
        uint32_t at = cache_victim(&c->tags, m->line);
        cache_reserve(&c->tags, at, m->line, 1);
        cache_fill(&c->tags, at, 1);
        c->newest = ROCACHE_NO_LINE;
    }
    m->used = false;
    c->live--;
    req_del(c->setup.pool, id);
    c->setup.on_fill(c->setup.ctx, &c->waiters[miss * c->setup.merges], m->waiting);
}
