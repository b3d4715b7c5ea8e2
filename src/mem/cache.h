/* cache.h: a tag array with sectors: what L1, L2 and the small read-only caches are built of.
 *
 * A line is INVALID, RESERVED (allocated for a miss that is under way) or VALID; sectors (32 bytes) are
 * tracked by masks. A cache without sectors has one mask bit for the whole line. Data is not held: results
 * come from execution. */
#ifndef HEDDLE_CACHE_H
#define HEDDLE_CACHE_H

#include "base/tick.h"
#include "mem/cache_index.h"
#include "mem/cache_policy.h"

/* The names in parameters of the values of enum cache_index and enum cache_replace; NULL ends a list. */
extern const char *const cache_index_names[], *const cache_replace_names[];
enum cache_outcome {
    CACHE_HIT,
    /* pending hit */
    CACHE_HIT_RESERVED,
    CACHE_MISS,
    CACHE_SECTOR_MISS,
    CACHE_RESERVATION_FAIL
};

struct cache_geometry {
    uint32_t sets, ways, line_bytes;
    bool sectored;
    /* enums above */
    uint8_t index, replace;
};

/* Half a cache line of the host. */
struct cache_line {
    /* line address */
    uint64_t addr;
    /* sector masks */
    uint16_t valid, reserved, dirty;
    /* holds an address */
    bool used;
    /* filled by a prefetch and not used since */
    bool is_prefetch;
    /* ---- the owner's ---- */

    /* warp and PC of the access that allocated it */
    uint32_t owner_pc;
    uint16_t owner_warp;
    /* the warp that touched it last */
    uint16_t last_warp;
    union {
        /* while it is reserved: the MSHR of the miss */
        uint32_t mshr;
        /* otherwise: warp and PC of the access that touched it last */
        uint32_t last_pc;
    };
    /* for intra- and inter-warp hits */
    uint32_t owner_launch;
};
_Static_assert(sizeof(struct cache_line) == 32, "two to a cache line of the host");

enum { CACHE_SECTOR_BYTES = 32, CACHE_SECTORS_MAX = 16 };
#define CACHE_NO_LINE UINT32_MAX
#define CACHE_UNKNOWN (UINT32_MAX - 1) /* no line's number either */

/* Data of cache_wide.c on the sets of a cache with too many ways to search one by one. */
struct cache_wide {
    /* blocks of the sets; NULL: the cache has few ways */
    char *blocks;
    uint32_t block_bytes, slots_from;
    /* words: of bits */
    uint32_t sets, ways, words;
    uint32_t slot_mask;
    /* 16 - log2 of the slots */
    uint8_t home_shift;
    /* log2 of the ways, where they are a power of two; else 0 */
    uint8_t way_shift;
};

struct cache {
    /* ---- of a lookup: one cache line of the host, where the cache begins at one ---- */

    /* line number of the newest search; UINT64_MAX: none yet */
    uint64_t found_number;
    /* the result of that search; CACHE_UNKNOWN: tags have changed since */
    uint32_t found_line;
    uint32_t found_set;
    /* [sets] of cache_narrow.h; NULL: the cache has many ways, see `wide` */
    char *narrow;
    /* [set * ways_max + way] */
    struct cache_line *lines;
    struct cache_indexer indexer;
    /* 2^31 / ways_max, rounded up */
    uint32_t way_inverse;
    /* mask of a whole line; 1 without sectors */
    uint32_t full_sectors;
    /* ways that the cache was made with; g.ways of them are in use */
    uint16_t ways_max;
    /* a cache of few ways: a bit for each way in use */
    uint16_t ways_mask;
    /* bytes of a set in `narrow` */
    uint8_t narrow_bytes;
    uint8_t line_shift;
    /* `policy` chooses what is replaced; otherwise the oldest line is */
    bool has_policy;
    bool sectored;
    /* for caches of many ways */
    struct cache_wide wide;
    struct cache_geometry g;
    struct cache_policy policy;
    /* the policy of FIFO or random replacement */
    struct cache_policy built_in;
    /* mask for the view that the policy sees */
    uint64_t *replaceable;
    /* counts changes of the cache, while it has a policy */
    uint64_t changes;
    /* [sets] */
    struct cache_choice {
        /* `changes` when the policy was asked; it is asked again when that is not the same */
        uint64_t at;
        uint32_t way;
    } * choices;
};
_Static_assert(offsetof(struct cache, wide) == HOST_LINE, "a lookup touches one cache line of the host");

void cache_init(struct cache *c, const struct cache_geometry *g);
void cache_free(struct cache *c);
void cache_clear(struct cache *c);
/* Replaces lines by this policy; NULL: by the geometry's. The cache must be empty. */
void cache_use_policy(struct cache *c, const struct cache_policy *policy);
/* From now on lookups and victims see the first `ways` ways of each set, 1 to ways_max. The caller deals with
 * what lies in the others, whose line numbers do not change. */
void cache_set_ways(struct cache *c, uint32_t ways);
static inline uint32_t cache_lines(const struct cache *c)
{
    return c->g.sets * c->ways_max;
} /* numbers below this */
uint32_t cache_set_of(const struct cache *c, uint64_t addr);
/* Prefetches the tags of the address into the host's cache, since they will be looked up soon. */
void cache_prefetch(struct cache *c, uint64_t addr);
/* Sector masks that are passed in mean the line's 32-byte sectors, whether or not the cache has sectors. */
/* Looks up without changing any line. *line: the line on hit, pending hit and sector miss; CACHE_NO_LINE
 * otherwise. A sector miss wants sectors that are neither valid nor under way. */
enum cache_outcome cache_look_up(struct cache *c, uint64_t addr, uint32_t sectors, uint32_t *line);
/* cache_look_up, but RESERVATION_FAIL: not there, and all ways wait for a fill. */
enum cache_outcome cache_probe(struct cache *c, uint64_t addr, uint32_t sectors, uint32_t *line);
void cache_touch(struct cache *c, uint32_t line);
/* Is there a way of the set that no fill is awaited for? */
bool cache_has_victim(const struct cache *c, uint32_t set);
/* The line that a miss would replace, or CACHE_NO_LINE when all ways are reserved; the same until the cache
 * changes. The caller has to check whether it is dirty. */
uint32_t cache_victim(struct cache *c, uint64_t addr);
/* Reserves `line` for addr (allocate on miss); the caller has dealt with what was in it. A line that holds
 * addr already keeps its other sectors. */
void cache_reserve(struct cache *c, uint32_t line, uint64_t addr, uint32_t sectors);
/* Marks sectors valid (a fill, or a write that allocates). */
void cache_fill(struct cache *c, uint32_t line, uint32_t sectors);

/* Forgets the line. It must not wait for a fill. */
void cache_invalidate(struct cache *c, uint32_t line);
static inline uint32_t cache_mask(const struct cache *c, uint32_t sectors)
{
    return c->sectored ? sectors & c->full_sectors : sectors != 0;
}

#endif
