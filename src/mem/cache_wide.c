/* cache_wide.c: see cache_wide.h. A hash table of lines with linear probing, at most half full, whose slots hold part of the hash
 * so that other lines are not looked at; a list for each set in which newer lines follow older ones; a bit for each line
 * that is not in use.
 *
 * Invariants. (1) A line is in use, in one slot and in the list of its set, or not in use and in none. (2) The list of a set is a
 * ring through a node of its own, so that the oldest and the newest line have neighbours too. */
#include "mem/cache_wide.h"

#include "base/hash.h"

struct cache_wide {
    uint32_t sets, ways, lines, words; /* words: of bits, for a set */
    uint32_t slot_mask;
    uint64_t *slots; /* upper half of the address's hash, line + 1; 0 = empty */
    struct neighbours {
        uint32_t older, newer;
    } * ring;         /* by line; those of the sets follow */
    uint64_t *unused; /* [set * words] */
};

struct cache_wide *cache_wide_create(uint32_t sets, uint32_t ways)
{
    struct cache_wide *w = mem_zalloc(sizeof *w);
    uint32_t slots = 1;
    *w = (struct cache_wide){.sets = sets, .ways = ways, .lines = sets * ways, .words = (ways + 63) / 64};
    while (slots < 2 * w->lines) slots *= 2;
    w->slot_mask = slots - 1;
    w->slots = mem_alloc(sizeof *w->slots * slots);
    w->ring = mem_alloc(sizeof *w->ring * (w->lines + sets));
    w->unused = mem_alloc(sizeof *w->unused * sets * w->words);
    cache_wide_clear(w);
    return w;
}

void cache_wide_destroy(struct cache_wide *w)
{
    if (!w) return;
    free(w->slots);
    free(w->ring);
    free(w->unused);
    free(w);
}

void cache_wide_clear(struct cache_wide *w)
{
    memset(w->slots, 0, sizeof *w->slots * (w->slot_mask + 1ull));
    for (uint32_t i = 0; i < w->sets; i++) {
        w->ring[w->lines + i] = (struct neighbours){w->lines + i, w->lines + i};
        for (uint32_t k = 0; k < w->words; k++)
            w->unused[i * w->words + k] = w->ways - 64 * k < 64 ? (1ull << (w->ways - 64 * k)) - 1 : ~0ull;
    }
}

static uint32_t part_of(uint64_t addr) { return (uint32_t)(hash_mix(addr) >> 32); }
static uint32_t slot_part(uint64_t slot) { return (uint32_t)(slot >> 32); }
static uint32_t slot_line(uint64_t slot) { return (uint32_t)slot - 1; }

uint32_t cache_wide_find(const struct cache_wide *w, const struct cache_line *lines, uint64_t addr)
{
    uint32_t part = part_of(addr);
    for (uint32_t i = part & w->slot_mask; w->slots[i]; i = (i + 1) & w->slot_mask) {
        uint32_t line = slot_line(w->slots[i]);
        if (slot_part(w->slots[i]) == part && lines[line].addr == addr) return line;
    }
    return CACHE_NO_LINE;
}

static void slots_put(struct cache_wide *w, uint32_t line, uint64_t addr)
{
    uint32_t part = part_of(addr), i = part & w->slot_mask;
    while (w->slots[i]) i = (i + 1) & w->slot_mask;
    w->slots[i] = (uint64_t)part << 32 | (line + 1);
}

/* Empties the line's slot and moves up what was pushed past it, so that a search still finds an empty slot only at the end
 * of its run. */
static void slots_drop(struct cache_wide *w, uint32_t line, uint64_t addr)
{
    uint32_t hole = part_of(addr) & w->slot_mask;
    while (slot_line(w->slots[hole]) != line) hole = (hole + 1) & w->slot_mask;
    for (uint32_t i = (hole + 1) & w->slot_mask; w->slots[i]; i = (i + 1) & w->slot_mask) {
        uint32_t home = slot_part(w->slots[i]) & w->slot_mask;
        if (((i - home) & w->slot_mask) < ((i - hole) & w->slot_mask)) continue;
        w->slots[hole] = w->slots[i];
        hole = i;
    }
    w->slots[hole] = 0;
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

void cache_wide_put(struct cache_wide *w, uint32_t line, uint64_t addr)
{
    slots_put(w, line, addr);
    ring_put(w, line);
    flip_unused(w, line);
}

void cache_wide_drop(struct cache_wide *w, uint32_t line, uint64_t addr)
{
    slots_drop(w, line, addr);
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
