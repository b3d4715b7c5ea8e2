/* cache_wide.c: see cache_wide.h. A hash table of lines with chains, a list for each set in which newer lines follow older
 * ones, and a bit for each line that is not in use.
 *
 * Invariants. (1) A line is in use, in one chain and in the list of its set, or not in use and in none. (2) The list of a set is a
 * ring through a node of its own, so that the oldest and the newest line have neighbours too. */
#include "mem/cache_wide.h"

#include "base/hash.h"

struct cache_wide {
    uint32_t sets, ways, lines, words; /* words: of bits, for a set */
    uint32_t bucket_mask;
    uint32_t *buckets, *chain; /* first line; the next of the same bucket, by line */
    struct neighbours {
        uint32_t older, newer;
    } * ring;         /* by line; those of the sets follow */
    uint64_t *unused; /* [set * words] */
};

struct cache_wide *cache_wide_create(uint32_t sets, uint32_t ways)
{
    struct cache_wide *w = mem_zalloc(sizeof *w);
    uint32_t buckets = 1;
    *w = (struct cache_wide){.sets = sets, .ways = ways, .lines = sets * ways, .words = (ways + 63) / 64};
    while (buckets < 2 * w->lines) buckets *= 2;
    w->bucket_mask = buckets - 1;
    w->buckets = mem_alloc(sizeof *w->buckets * buckets);
    w->chain = mem_alloc(sizeof *w->chain * w->lines);
    w->ring = mem_alloc(sizeof *w->ring * (w->lines + sets));
    w->unused = mem_alloc(sizeof *w->unused * sets * w->words);
    cache_wide_clear(w);
    return w;
}

void cache_wide_destroy(struct cache_wide *w)
{
    if (!w) return;
    free(w->buckets);
    free(w->chain);
    free(w->ring);
    free(w->unused);
    free(w);
}

void cache_wide_clear(struct cache_wide *w)
{
    for (uint32_t i = 0; i <= w->bucket_mask; i++) w->buckets[i] = CACHE_NO_LINE;
    for (uint32_t i = 0; i < w->sets; i++) {
        w->ring[w->lines + i] = (struct neighbours){w->lines + i, w->lines + i};
        for (uint32_t k = 0; k < w->words; k++)
            w->unused[i * w->words + k] = w->ways - 64 * k < 64 ? (1ull << (w->ways - 64 * k)) - 1 : ~0ull;
    }
}

static uint32_t *bucket_of(const struct cache_wide *w, uint64_t tag)
{
    return &w->buckets[(uint32_t)hash_mix(tag) & w->bucket_mask];
}

uint32_t cache_wide_find(const struct cache_wide *w, const uint64_t *tags, uint64_t tag)
{
    uint32_t line = *bucket_of(w, tag);
    while (line != CACHE_NO_LINE && tags[line] != tag) line = w->chain[line];
    return line;
}

static void ring_take(struct cache_wide *w, uint32_t line)
{
    struct neighbours n = w->ring[line];
    w->ring[n.older].newer = n.newer;
    w->ring[n.newer].older = n.older;
}

static void ring_put(struct cache_wide *w, uint32_t line)
{
    uint32_t set = w->lines + line / w->ways, newest = w->ring[set].older;
    w->ring[line] = (struct neighbours){newest, set};
    w->ring[newest].newer = w->ring[set].older = line;
}

static void flip_unused(struct cache_wide *w, uint32_t line)
{
    uint32_t set = line / w->ways, way = line % w->ways;
    w->unused[set * w->words + way / 64] ^= 1ull << way % 64;
}

void cache_wide_put(struct cache_wide *w, uint32_t line, uint64_t tag)
{
    uint32_t *bucket = bucket_of(w, tag);
    w->chain[line] = *bucket;
    *bucket = line;
    ring_put(w, line);
    flip_unused(w, line);
}

void cache_wide_drop(struct cache_wide *w, const uint64_t *tags, uint32_t line)
{
    uint32_t *at = bucket_of(w, tags[line]);
    while (*at != line) at = &w->chain[*at];
    *at = w->chain[line];
    ring_take(w, line);
    flip_unused(w, line);
}

void cache_wide_renew(struct cache_wide *w, uint32_t line)
{
    ring_take(w, line);
    ring_put(w, line);
}

uint32_t cache_wide_victim(const struct cache_wide *w, const uint64_t *order, uint32_t set, uint32_t ways)
{
    uint32_t first = set * w->ways, end = w->lines + set;
    for (uint32_t k = 0; 64 * k < ways; k++) {
        uint64_t bits = w->unused[set * w->words + k];
        uint32_t way = bits ? 64 * k + (uint32_t)__builtin_ctzll(bits) : ways;
        if (way < ways) return first + way;
    }
    for (uint32_t i = w->ring[end].newer; i != end; i = w->ring[i].newer)
        if (i - first < ways && !(order[i] & CACHE_AWAITED)) return i;
    return CACHE_NO_LINE;
}
