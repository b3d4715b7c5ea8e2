/* cache.h: a tag array with sectors, and a file of miss-status registers: what L1, L2 and the small read-only caches are built of.
 *
 * A line is INVALID, RESERVED (allocated for a miss that is under way) or VALID; sectors (32 bytes) are tracked by masks. A cache without
 * sectors has one mask bit for the whole line. Data is not held: results come from execution. */
#ifndef HEDDLE_CACHE_H
#define HEDDLE_CACHE_H

#include "base/rng.h"
#include "base/tick.h"
#include "mem/cache_index.h"

enum cache_replace { CACHE_LRU, CACHE_FIFO, CACHE_RANDOM };
enum cache_outcome {
    CACHE_HIT,
    CACHE_HIT_RESERVED /* pending hit */,
    CACHE_MISS,
    CACHE_SECTOR_MISS,
    CACHE_RESERVATION_FAIL
};

struct cache_geometry {
    uint32_t sets, ways, line_bytes;
    bool sectored;
    uint8_t index, replace; /* enums above */
};

struct cache_line {                  /* half a cache line of the host */
    uint64_t addr;                   /* line address */
    uint32_t valid, reserved, dirty; /* sector masks */
    uint16_t owner_warp;             /* warp that allocated it, for intra- and inter-warp hits */
    bool used;                       /* holds an address */
    bool is_prefetch;                /* filled by a prefetch and not used since */
    uint32_t owner_pc;
    uint32_t mshr; /* the caller's: of the miss that reserved it */
};
_Static_assert(sizeof(struct cache_line) == 32, "two to a cache line of the host");

enum { CACHE_SECTOR_BYTES = 32 };
#define CACHE_NO_LINE UINT32_MAX
#define CACHE_UNKNOWN (UINT32_MAX - 1) /* no line's number either */

/* Of a cache with more ways than one wants to look at one by one: what cache_wide.c knows of its sets. */
struct cache_wide {
    char *blocks; /* of the sets; NULL: it has few ways */
    uint32_t block_bytes, slots_from;
    uint32_t sets, ways, words; /* words: of bits */
    uint32_t slot_mask;
    uint8_t home_shift; /* 16 - log2 of the slots */
    uint8_t way_shift;  /* log2 of the ways, where they are a power of two; else 0 */
};

struct cache {
    /* of a lookup: one cache line of the host, where the cache begins at one */
    uint64_t found_number; /* line number of the newest search; UINT64_MAX: none yet */
    uint32_t found_line;   /* and what it found; CACHE_UNKNOWN: tags have changed since */
    uint32_t found_set;
    char *narrow;             /* [sets] of cache_narrow.h; NULL: it has many ways, see wide */
    struct cache_line *lines; /* [set * ways_max + way] */
    struct cache_indexer indexer;
    uint32_t way_inverse;  /* 2^31 / ways_max, rounded up */
    uint32_t full_sectors; /* mask of a whole line; 1 without sectors */
    uint16_t ways_max;     /* as it was made; g.ways are in use */
    uint16_t ways_mask;    /* of few ways: a bit for each in use */
    uint8_t narrow_bytes;  /* of a set */
    uint8_t line_shift, replace;
    bool sectored;
    /* of some */
    struct cache_wide wide;
    struct cache_geometry g;
    uint64_t
        clock; /* counts what happens to lines, for draws; is no time, and stands still where the oldest leaves */
    struct rng rng;
};
_Static_assert(offsetof(struct cache, wide) == HOST_LINE, "a lookup touches one cache line of the host");

void cache_init(struct cache *c, const struct cache_geometry *g);
void cache_free(struct cache *c);
void cache_clear(struct cache *c);
/* Lookups and victims see the first `ways` ways of each set, 1 to ways_max, from now on. What lies in the others is the
 * caller's to deal with: it keeps its number. */
void cache_set_ways(struct cache *c, uint32_t ways);
static inline uint32_t cache_lines(const struct cache *c)
{
    return c->g.sets * c->ways_max;
} /* numbers below this */
uint32_t cache_set_of(const struct cache *c, uint64_t addr);
/* The host fetches the tags of the address, which are asked for soon. */
void cache_prefetch(struct cache *c, uint64_t addr);
/* Sector masks that are passed in mean the line's 32-byte sectors, whether or not the cache has sectors. */
/* Looks up without changing any line. *line: the line on hit, pending hit and sector miss; CACHE_NO_LINE otherwise. A sector miss wants
 * sectors that are neither valid nor under way. */
enum cache_outcome cache_look_up(struct cache *c, uint64_t addr, uint32_t sectors, uint32_t *line);
/* The same. RESERVATION_FAIL: not there, and all ways wait for a fill. */
enum cache_outcome cache_probe(struct cache *c, uint64_t addr, uint32_t sectors, uint32_t *line);
void cache_touch(struct cache *c, uint32_t line);
/* The line that a miss would replace, or CACHE_NO_LINE when all ways are reserved; the same until the cache changes. prefer_clean etc. are the caller's business. */
uint32_t cache_victim(struct cache *c, uint64_t addr);
/* Reserves `line` for addr (allocate on miss); the caller has dealt with what was in it. A line that holds addr already keeps its other sectors. */
void cache_reserve(struct cache *c, uint32_t line, uint64_t addr, uint32_t sectors);
/* Marks sectors valid (a fill, or a write that allocates). */
void cache_fill(struct cache *c, uint32_t line, uint32_t sectors);

/* Forgets the line. It must not wait for a fill. */
void cache_invalidate(struct cache *c, uint32_t line);
static inline uint32_t cache_mask(const struct cache *c, uint32_t sectors)
{
    return c->sectored ? sectors & c->full_sectors : sectors != 0;
}

/* ---- miss-status holding registers: one entry a line (or sector group), each with merged requests as a chain of ids ----
 * The chain's next-fields are the caller's: it keeps head, tail and merged (requests in the chain, the first one included) itself. Entries are
 * found by hashing, so that a file of any size costs the same; one whose line in the tags tells its number need not be listed there. */
struct mshr_entry { /* one cache line of the host, with what its owner knows of the miss */
    _Alignas(HOST_LINE) uint64_t addr;
    uint32_t sectors;
    uint32_t head, tail, merged;
    bool used;
    bool is_listed; /* mshr_find finds it */
    /* the owner's: the L1 alone keeps them */
    bool may_keep;    /* allocate on fill: the line may stay */
    bool is_prefetch; /* nobody has asked for it yet */
    bool doomed;      /* written by a store meanwhile: the fill must not stay */
    uint16_t warp;
    uint32_t pc;
    uint32_t line; /* reserved for it, or CACHE_NO_LINE */
    tick born;
};
_Static_assert(sizeof(struct mshr_entry) == HOST_LINE, "an entry is one cache line of the host");
struct mshr {
    struct mshr_entry *entries;
    uint32_t count, merge_max, used;
    uint32_t used_max;          /* statistic: the most in use at once */
    uint32_t *slots, slot_mask; /* open addressing: entry or MSHR_NONE */
    uint32_t slot_shift;        /* 64 - log2 of the slots */
    uint32_t *free;             /* stack of free entries: free[0 .. count-used-1] */
};
#define MSHR_NONE UINT32_MAX
void mshr_init(struct mshr *m, uint32_t entries, uint32_t merge_max);
void mshr_free(struct mshr *m);
void mshr_clear(struct mshr *m);
uint32_t mshr_find(const struct mshr *m, uint64_t addr); /* a listed entry, or MSHR_NONE */
static inline bool mshr_can_merge(const struct mshr *m, uint32_t entry)
{
    return m->entries[entry].merged < m->merge_max;
}
static inline bool mshr_has_room(const struct mshr *m) { return m->used < m->count; }
/* A new entry with an empty chain (merged 0, head and tail MSHR_NONE), not listed. Only with room, and when none of this address is in use. */
static inline uint32_t mshr_take_unlisted(struct mshr *m, uint64_t addr, uint32_t sectors)
{
    assert(mshr_has_room(m));
    uint32_t entry = m->free[m->count - ++m->used];
    m->used_max = MAX(m->used_max, m->used);
    m->entries[entry] = (struct mshr_entry){
        .addr = addr, .sectors = sectors, .head = MSHR_NONE, .tail = MSHR_NONE, .used = true};
    return entry;
}
void mshr_list(struct mshr *m, uint32_t entry);   /* one that is not */
void mshr_unlist(struct mshr *m, uint32_t entry); /* one that is */
/* The same, and listed. */
uint32_t mshr_take(struct mshr *m, uint64_t addr, uint32_t sectors);
static inline void mshr_release(struct mshr *m, uint32_t entry)
{
    assert(m->entries[entry].used);
    if (m->entries[entry].is_listed) mshr_unlist(m, entry);
    m->entries[entry].used = false;
    m->free[m->count - m->used--] = entry;
}

#endif
