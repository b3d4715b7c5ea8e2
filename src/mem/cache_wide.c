/* cache_wide.c: see cache_wide.h. Each set has one block of memory: a bit for each way that is not in use,
 * and where to look for the first of them; a list in which newer ways follow older ones; a hash table of its
 * ways with linear probing, at most half full, whose slots hold part of the hash so that other lines are not
 * looked at. Ways are 16-bit numbers: 256 of them take 3 KB.
 *
 * Invariants. (1) A way is in use, in one slot and in the list, or not in use and in none. (2) The list is a
 * ring of nodes: 0 is the end, so that the oldest and the newest way have neighbours too, and way + 1 is that
 * of a way. (3) All ways below unused_from are in use. */
#include "mem/cache_wide.h"

#include "base/hash.h"
#include "base/hugepage.h"

struct neighbours {
    uint16_t older, newer;
};

/* Parts of a set's block. */
struct wide_set {
    /* one number, beside the end of the ring, since the search for a victim reads both */
    uint64_t *unused_from;
    /* [words] */
    uint64_t *unused;
    /* [ways + 1] */
    struct neighbours *ring;
    /* upper 16 bits of the address's hash, way + 1; 0 = empty */
    uint32_t *slots;
};

static inline struct wide_set wide_set(const struct cache_wide *w, uint32_t set)
{
    char *block = w->blocks + (size_t)set * w->block_bytes;
    uint64_t *words = (uint64_t *)(void *)block;
    return (struct wide_set){.unused_from = words,
                             .unused = words + 1,
                             .ring = (struct neighbours *)(void *)(words + 1 + w->words),
                             .slots = (uint32_t *)(void *)(block + w->slots_from)};
}

void cache_wide_init(struct cache_wide *w, uint32_t sets, uint32_t ways)
{
    uint32_t slots = 1;
    assert(ways <= CACHE_WIDE_WAYS_MAX);
    while (slots < 2 * ways) slots *= 2;
    *w = (struct cache_wide){.sets = sets, .ways = ways, .words = (ways + 63) / 64, .slot_mask = slots - 1};
    w->home_shift = (uint8_t)(16 - __builtin_ctz(slots));
    w->way_shift = is_pow2_u64(ways) ? (uint8_t)__builtin_ctz(ways) : 0;
    w->slots_from = (uint32_t)((1 + w->words) * sizeof(uint64_t) + (ways + 1) * sizeof(struct neighbours));
    w->block_bytes = (uint32_t)round_up_u64(w->slots_from + slots * sizeof(uint32_t), HOST_LINE);
    w->blocks = mem_zalloc_huge((size_t)w->block_bytes * sets);
    cache_wide_clear(w);
}

void cache_wide_free(struct cache_wide *w)
{
    mem_free_huge(w->blocks);
    w->blocks = NULL;
}

void cache_wide_clear(struct cache_wide *w)
{
    for (uint32_t i = 0; i < w->sets; i++) {
        struct wide_set s = wide_set(w, i);
        memset(s.slots, 0, sizeof *s.slots * (w->slot_mask + 1ull));
        s.ring[0] = (struct neighbours){0, 0};
        *s.unused_from = 0;
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

/* Empties the way's slot and moves up what was pushed past it, so that a search still finds an empty slot
 * only at the end of its run. */
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

static void ring_take(struct neighbours *ring, uint32_t node)
{
    struct neighbours n = ring[node];
    ring[n.older].newer = n.newer;
    ring[n.newer].older = n.older;
}

static void ring_put(struct neighbours *ring, uint32_t node)
{
    uint16_t newest = ring[0].older;
    ring[node] = (struct neighbours){.older = newest, .newer = 0};
    ring[newest].newer = ring[0].older = (uint16_t)node;
}

static void ring_renew(struct neighbours *ring, uint32_t node)
{
    if (ring[0].older == node) return; /* it is the newest already */
    ring_take(ring, node);
    ring_put(ring, node);
}

void cache_wide_put(struct cache_wide *w, uint32_t line, uint64_t addr)
{
    uint32_t set = set_of(w, line), way = line - set * w->ways;
    struct wide_set s = wide_set(w, set);
    slots_put(w, s, way, addr);
    ring_put(s.ring, way + 1);
    s.unused[way / 64] &= ~(1ull << way % 64);
}

void cache_wide_drop(struct cache_wide *w, uint32_t line, uint64_t addr)
{
    uint32_t set = set_of(w, line), way = line - set * w->ways;
    struct wide_set s = wide_set(w, set);
    slots_drop(w, s, way, addr);
    ring_take(s.ring, way + 1);
    s.unused[way / 64] |= 1ull << way % 64;
    *s.unused_from = MIN(*s.unused_from, (uint64_t)way);
}

void cache_wide_replace(struct cache_wide *w, uint32_t line, uint64_t old, uint64_t addr)
{
    uint32_t set = set_of(w, line), way = line - set * w->ways;
    struct wide_set s = wide_set(w, set);
    slots_drop(w, s, way, old);
    slots_put(w, s, way, addr);
    ring_renew(s.ring, way + 1);
}

void cache_wide_renew(struct cache_wide *w, uint32_t line)
{
    uint32_t set = set_of(w, line);
    ring_renew(wide_set(w, set).ring, line - set * w->ways + 1);
}

/* The lowest way that is not in use, or one past the last. */
static uint32_t first_unused(const struct cache_wide *w, struct wide_set s)
{
    uint32_t k = (uint32_t)*s.unused_from / 64;
    while (k < w->words && !s.unused[k]) k++;
    uint32_t way = k < w->words ? 64 * k + (uint32_t)__builtin_ctzll(s.unused[k]) : w->ways;
    *s.unused_from = way;
    return way;
}

uint32_t cache_wide_victim(const struct cache_wide *w, const struct cache_line *lines, uint32_t set,
                           uint32_t ways)
{
    struct wide_set s = wide_set(w, set);
    uint32_t first = set * w->ways;
    if (*s.unused_from < ways) {
        uint32_t way = first_unused(w, s);
        if (way < ways) return first + way;
    }
    for (uint32_t node = s.ring[0].newer; node; node = s.ring[node].newer)
        if (node <= ways && !lines[first + node - 1].reserved) return first + node - 1;
    return CACHE_NO_LINE;
}
