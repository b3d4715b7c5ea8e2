/* cache_wide.c: see cache_wide.h. Each set has one block of memory: a hash table of its ways with linear probing, at most half full,
 * whose slots hold part of the hash so that other lines are not looked at; a list in which newer ways follow older ones; a bit for
 * each way that is not in use. Ways are 16-bit numbers: 256 of them take 3 KB.
 *
 * Invariants. (1) A way is in use, in one slot and in the list, or not in use and in none. (2) The list is a
 * ring through a node of its own, number `ways`, so that the oldest and the newest way have neighbours too. */
#include "mem/cache_wide.h"

#include "base/hash.h"

struct neighbours {
    uint16_t older, newer;
};

struct wide_set {     /* parts of a set's block */
    uint64_t *unused; /* [words] */
    uint32_t *slots;  /* upper 16 bits of the address's hash, way + 1; 0 = empty */
    struct neighbours *ring;
};

struct cache_wide {
    char *blocks;
    uint32_t block_bytes;
    uint32_t sets, ways, words; /* words: of bits */
    uint32_t slot_mask, slots_from, ring_from;
    uint32_t home_shift; /* 16 - log2 of the slots */
    uint32_t way_shift;  /* log2 of the ways, where they are a power of two; else 0 */
};

static struct wide_set wide_set(const struct cache_wide *w, uint32_t set)
{
    char *block = w->blocks + (size_t)set * w->block_bytes;
    return (struct wide_set){.unused = (uint64_t *)(void *)block,
                             .slots = (uint32_t *)(void *)(block + w->slots_from),
                             .ring = (struct neighbours *)(void *)(block + w->ring_from)};
}

struct cache_wide *cache_wide_create(uint32_t sets, uint32_t ways)
{
    struct cache_wide *w = mem_zalloc(sizeof *w);
    uint32_t slots = 1;
    assert(ways <= CACHE_WIDE_WAYS_MAX);
    while (slots < 2 * ways) slots *= 2;
    *w = (struct cache_wide){.sets = sets, .ways = ways, .words = (ways + 63) / 64, .slot_mask = slots - 1};
    w->home_shift = 16 - (uint32_t)__builtin_ctz(slots);
    w->way_shift = is_pow2_u64(ways) ? (uint32_t)__builtin_ctz(ways) : 0;
    w->slots_from = w->words * (uint32_t)sizeof(uint64_t);
    w->ring_from = w->slots_from + slots * (uint32_t)sizeof(uint32_t);
    w->block_bytes = (uint32_t)round_up_u64(w->ring_from + (ways + 1) * sizeof(struct neighbours), HOST_LINE);
    w->blocks = mem_zalloc_lines((size_t)w->block_bytes * sets);
    cache_wide_clear(w);
    return w;
}

void cache_wide_destroy(struct cache_wide *w)
{
    if (!w) return;
    free(w->blocks);
    free(w);
}

void cache_wide_clear(struct cache_wide *w)
{
    for (uint32_t i = 0; i < w->sets; i++) {
        struct wide_set s = wide_set(w, i);
        memset(s.slots, 0, sizeof *s.slots * (w->slot_mask + 1ull));
        s.ring[w->ways] = (struct neighbours){(uint16_t)w->ways, (uint16_t)w->ways};
        for (uint32_t k = 0; k < w->words; k++)
            s.unused[k] = w->ways - 64 * k < 64 ? (1ull << (w->ways - 64 * k)) - 1 : ~0ull;
    }
}

static uint32_t part_of(uint64_t addr) { return hash_index(addr, 48); }
static uint32_t slot_part(uint32_t slot) { return slot >> 16; }
static uint32_t home_of(const struct cache_wide *w, uint32_t part) { return part >> w->home_shift; }
static uint32_t slot_way(uint32_t slot) { return (slot & UINT16_MAX) - 1; }
static uint32_t set_of(const struct cache_wide *w, uint32_t line)
{
    return w->way_shift ? line >> w->way_shift : line / w->ways;
}

uint32_t cache_wide_find(const struct cache_wide *w, const struct cache_line *lines, uint32_t set,
                         uint64_t addr)
{
    struct wide_set s = wide_set(w, set);
    uint32_t part = part_of(addr);
    for (uint32_t i = home_of(w, part); s.slots[i]; i = (i + 1) & w->slot_mask) {
        uint32_t way = slot_way(s.slots[i]);
        if (slot_part(s.slots[i]) == part && lines[way].addr == addr) return way;
    }
    return CACHE_NO_LINE;
}

static void slots_put(const struct cache_wide *w, struct wide_set s, uint32_t way, uint64_t addr)
{
    uint32_t part = part_of(addr), i = home_of(w, part);
    while (s.slots[i]) i = (i + 1) & w->slot_mask;
    s.slots[i] = part << 16 | (way + 1);
}

/* Empties the way's slot and moves up what was pushed past it, so that a search still finds an empty slot only at the end
 * of its run. */
static void slots_drop(const struct cache_wide *w, struct wide_set s, uint32_t way, uint64_t addr)
{
    uint32_t hole = home_of(w, part_of(addr));
    while (slot_way(s.slots[hole]) != way) hole = (hole + 1) & w->slot_mask;
    for (uint32_t i = (hole + 1) & w->slot_mask; s.slots[i]; i = (i + 1) & w->slot_mask) {
        uint32_t home = home_of(w, slot_part(s.slots[i]));
        if (((i - home) & w->slot_mask) < ((i - hole) & w->slot_mask)) continue;
        s.slots[hole] = s.slots[i];
        hole = i;
    }
    s.slots[hole] = 0;
}

static void ring_take(struct neighbours *ring, uint32_t way)
{
    struct neighbours n = ring[way];
    ring[n.older].newer = n.newer;
    ring[n.newer].older = n.older;
}

static void ring_put(struct neighbours *ring, uint32_t way, uint32_t end)
{
    uint16_t newest = ring[end].older;
    ring[way] = (struct neighbours){newest, (uint16_t)end};
    ring[newest].newer = ring[end].older = (uint16_t)way;
}

void cache_wide_put(struct cache_wide *w, uint32_t line, uint64_t addr)
{
    uint32_t set = set_of(w, line), way = line - set * w->ways;
    struct wide_set s = wide_set(w, set);
    slots_put(w, s, way, addr);
    ring_put(s.ring, way, w->ways);
    s.unused[way / 64] &= ~(1ull << way % 64);
}

void cache_wide_drop(struct cache_wide *w, uint32_t line, uint64_t addr)
{
    uint32_t set = set_of(w, line), way = line - set * w->ways;
    struct wide_set s = wide_set(w, set);
    slots_drop(w, s, way, addr);
    ring_take(s.ring, way);
    s.unused[way / 64] |= 1ull << way % 64;
}

void cache_wide_renew(struct cache_wide *w, uint32_t line)
{
    uint32_t set = set_of(w, line), way = line - set * w->ways;
    struct neighbours *ring = wide_set(w, set).ring;
    if (ring[w->ways].older == way) return; /* it is the newest */
    ring_take(ring, way);
    ring_put(ring, way, w->ways);
}

uint32_t cache_wide_victim(const struct cache_wide *w, const struct cache_line *lines, uint32_t set,
                           uint32_t ways)
{
    struct wide_set s = wide_set(w, set);
    for (uint32_t k = 0; 64 * k < ways; k++) {
        uint32_t way = s.unused[k] ? 64 * k + (uint32_t)__builtin_ctzll(s.unused[k]) : ways;
        if (way < ways) return way;
    }
    for (uint32_t i = s.ring[w->ways].newer; i != w->ways; i = s.ring[i].newer)
        if (i < ways && !lines[i].reserved) return i;
    return CACHE_NO_LINE;
}
