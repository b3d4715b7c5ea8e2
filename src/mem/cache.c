/* cache.c: the tag array.
 *
 * Invariants. (1) An address is in at most one way of its set. (2) A way with a reserved sector is never a
 * victim. (3) valid and reserved of one line have no sector in common. */
#include "base/hugepage.h"
#include "mem/cache_narrow.h"
#include "mem/cache_wide.h"

const char *const cache_index_names[] = {"linear", "fermi", "xor", "ipoly", NULL};
const char *const cache_replace_names[] = {"lru", "fifo", "random", NULL};

/* The most lines for which way_inverse is exact. */
enum { CACHE_LINES_MAX = 1 << 27 };

static inline struct narrow_set *cache_narrow(const struct cache *c, uint32_t set)
{
    return (struct narrow_set *)(void *)(c->narrow + (size_t)set * c->narrow_bytes);
}

/* The lines and sets are empty. */
static void cache_reset(struct cache *c)
{
    c->found_number = UINT64_MAX;
    c->found_line = CACHE_UNKNOWN;
    c->changes++;
    if (c->has_policy && c->policy.on_clear) c->policy.on_clear(c->policy.ctx);
}

void cache_init(struct cache *c, const struct cache_geometry *g)
{
    assert(g->sets >= 1 && g->ways >= 1 && g->ways <= UINT16_MAX);
    assert(is_pow2_u64(g->line_bytes) && g->line_bytes > 1);
    assert(!g->sectored ||
           (g->line_bytes >= CACHE_SECTOR_BYTES && g->line_bytes <= CACHE_SECTORS_MAX * CACHE_SECTOR_BYTES));
    assert((uint64_t)g->sets * g->ways <= CACHE_LINES_MAX);
    *c = (struct cache){.g = *g,
                        .ways_max = (uint16_t)g->ways,
                        .way_inverse = (uint32_t)INT32_MAX / g->ways + 1,
                        .sectored = g->sectored,
                        .full_sectors = 1};
    c->lines = mem_zalloc_huge(sizeof *c->lines * g->sets * g->ways);
    if (g->ways > CACHE_NARROW_WAYS)
        cache_wide_init(&c->wide, g->sets, g->ways);
    else {
        c->narrow_bytes = (uint8_t)narrow_bytes(g->ways);
        c->narrow = mem_zalloc_huge((size_t)g->sets * c->narrow_bytes);
    }
    if (g->sectored) c->full_sectors = (uint32_t)((1ull << (g->line_bytes / CACHE_SECTOR_BYTES)) - 1);
    c->line_shift = (uint8_t)__builtin_ctz(g->line_bytes);
    cache_indexer_init(&c->indexer, (enum cache_index)g->index, g->sets);
    if (g->replace != CACHE_LRU)
        c->built_in = cache_policy_make((enum cache_replace)g->replace, g->sets, g->ways);
    cache_reset(c);
    cache_use_policy(c, NULL);
    cache_set_ways(c, g->ways);
}

void cache_use_policy(struct cache *c, const struct cache_policy *policy)
{
    c->policy = policy ? *policy : c->built_in;
    c->has_policy = c->policy.victim != NULL;
    if (!c->has_policy || c->choices) return;
    c->choices = mem_zalloc_huge(sizeof *c->choices * c->g.sets);
    c->replaceable = mem_zalloc_huge(sizeof *c->replaceable * ((c->ways_max + 63u) / 64));
}

void cache_free(struct cache *c)
{
    cache_wide_free(&c->wide);
    cache_indexer_free(&c->indexer);
    mem_free_huge(c->lines);
    mem_free_huge(c->narrow);
    mem_free_huge(c->choices);
    mem_free_huge(c->replaceable);
    cache_policy_free(&c->built_in);
    c->lines = NULL;
    c->narrow = NULL;
}

void cache_clear(struct cache *c)
{
    memset(c->lines, 0, sizeof *c->lines * cache_lines(c));
    if (c->narrow)
        memset(c->narrow, 0, (size_t)c->g.sets * c->narrow_bytes);
    else
        cache_wide_clear(&c->wide);
    cache_reset(c);
}

void cache_set_ways(struct cache *c, uint32_t ways)
{
    assert(ways >= 1 && ways <= c->ways_max);
    c->g.ways = ways;
    c->ways_mask = (uint16_t)((1u << MIN(ways, (uint32_t)CACHE_NARROW_WAYS)) - 1);
    c->found_line = CACHE_UNKNOWN;
    c->changes++;
}

static inline uint64_t cache_number(const struct cache *c, uint64_t addr) { return addr >> c->line_shift; }

uint32_t cache_set_of(const struct cache *c, uint64_t addr)
{
    uint64_t number = cache_number(c, addr);
    uint32_t set;
    return cache_index_of(&c->indexer, number, &set) ? set : cache_index_rare(&c->indexer, number);
}

static inline void cache_keep_set(struct cache *c, uint64_t number, uint32_t set)
{
    c->found_number = number;
    c->found_line = CACHE_UNKNOWN;
    c->found_set = set;
}

/* Sets found_set to the set of the line number; the choice of a victim after a lookup needs it again. False:
 * cache_find_rare has to find it. */
static inline bool cache_find_set(struct cache *c, uint64_t number)
{
    uint32_t set;
    if (c->found_number == number) return true;
    if (UNLIKELY(!cache_index_of(&c->indexer, number, &set))) return false;
    cache_keep_set(c, number, set);
    return true;
}

COLD static void cache_find_rare(struct cache *c, uint64_t number)
{
    cache_keep_set(c, number, cache_index_rare(&c->indexer, number));
}

void cache_prefetch(struct cache *c, uint64_t addr)
{
    uint64_t number = cache_number(c, addr);
    if (c->narrow && cache_find_set(c, number)) __builtin_prefetch(cache_narrow(c, c->found_set));
}

/* Ways of the set that may hold the line: those with its short tag. */
static inline uint32_t cache_matches(const struct cache *c, const struct narrow_set *s, uint64_t number)
{
    return narrow_match(s, c->narrow_bytes, narrow_tag(number)) & s->used & c->ways_mask;
}

/* Does a way in use that has the tag of the line hold it? */
static inline bool cache_way_holds(const struct cache *c, const struct narrow_set *s, uint32_t way,
                                   uint64_t number)
{
    if (UNLIKELY(narrow_is_unsure(s, way, number)))
        return cache_number(c, c->lines[c->found_set * c->ways_max + way].addr) == number;
    return narrow_holds(s, c->narrow_bytes, way, number);
}

static inline enum cache_outcome cache_outcome_of(const struct cache *c, uint32_t line, uint32_t sectors)
{
    if (line == CACHE_NO_LINE) return CACHE_MISS;
    const struct cache_line *l = &c->lines[line];
    uint32_t missing = cache_mask(c, sectors) & ~l->valid;
    if (!missing) return CACHE_HIT;
    return missing & ~l->reserved ? CACHE_SECTOR_MISS : CACHE_HIT_RESERVED;
}

/* Not inlined, as is all code for many ways, so that the code for few ways keeps its registers. */
NOINLINE static enum cache_outcome cache_look_up_wide(struct cache *c, uint64_t number, uint32_t sectors,
                                                      uint32_t *line)
{
    uint32_t set = c->found_set, first = set * c->ways_max;
    uint32_t way = cache_wide_find(&c->wide, &c->lines[first], set, number << c->line_shift);
    *line = c->found_line = way < c->g.ways ? first + way : CACHE_NO_LINE;
    return cache_outcome_of(c, *line, sectors);
}

COLD static enum cache_outcome cache_look_up_rare(struct cache *c, uint64_t addr, uint32_t sectors,
                                                  uint32_t *line)
{
    cache_find_rare(c, cache_number(c, addr));
    return cache_look_up(c, addr, sectors, line);
}

/* The slow case of a search: the first way with the right tag holds another line. */
COLD static enum cache_outcome cache_look_further(struct cache *c, uint32_t matches, uint32_t sectors,
                                                  uint32_t *line)
{
    const struct narrow_set *s = cache_narrow(c, c->found_set);
    c->found_line = CACHE_NO_LINE;
    while (c->found_line == CACHE_NO_LINE && (matches &= matches - 1)) {
        uint32_t way = (uint32_t)__builtin_ctz(matches);
        if (cache_way_holds(c, s, way, c->found_number)) c->found_line = c->found_set * c->ways_max + way;
    }
    *line = c->found_line;
    return cache_outcome_of(c, *line, sectors);
}

/* Returns the newest result again, if nothing has changed: an access that was refused asks again and
 * again. */
HOT enum cache_outcome cache_look_up(struct cache *c, uint64_t addr, uint32_t sectors, uint32_t *line)
{
    uint64_t number = cache_number(c, addr);
    if (!cache_find_set(c, number)) return cache_look_up_rare(c, addr, sectors, line);
    uint32_t found = c->found_line;
    if (found == CACHE_UNKNOWN) {
        if (!c->narrow) return cache_look_up_wide(c, number, sectors, line);
        const struct narrow_set *s = cache_narrow(c, c->found_set);
        const uint32_t matches = cache_matches(c, s, number);
        found = CACHE_NO_LINE;
        if (matches) {
            const uint32_t way = (uint32_t)__builtin_ctz(matches);
            found = c->found_set * c->ways_max + way;
            if (UNLIKELY(!cache_way_holds(c, s, way, number)))
                return cache_look_further(c, matches, sectors, line);
            if (s->whole >> way & 1) {
                *line = c->found_line = found;
                return CACHE_HIT;
            }
        }
        c->found_line = found;
    }
    *line = found;
    return cache_outcome_of(c, found, sectors);
}

static bool cache_is_awaited(const struct cache *c, uint32_t line) { return c->lines[line].reserved != 0; }

bool cache_has_victim(const struct cache *c, uint32_t set)
{
    if (c->narrow) return (c->ways_mask & ~cache_narrow(c, set)->awaited) != 0;
    return cache_wide_victim(&c->wide, c->lines, set, c->g.ways) != CACHE_NO_LINE;
}

enum cache_outcome cache_probe(struct cache *c, uint64_t addr, uint32_t sectors, uint32_t *line)
{
    enum cache_outcome outcome = cache_look_up(c, addr, sectors, line);
    if (outcome != CACHE_MISS) return outcome;
    return cache_has_victim(c, c->found_set) ? CACHE_MISS : CACHE_RESERVATION_FAIL;
}

/* ---- victims ---- */

/* Makes the mask of ways that may be replaced. False: a way holds nothing; it is *unused. */
static bool cache_make_view(const struct cache *c, uint32_t first, uint32_t *unused)
{
    memset(c->replaceable, 0, sizeof *c->replaceable * ((c->g.ways + 63) / 64));
    for (uint32_t way = 0; way < c->g.ways; way++) {
        *unused = first + way;
        if (!c->lines[first + way].used) return false;
        if (!cache_is_awaited(c, first + way)) c->replaceable[way / 64] |= 1ull << way % 64;
    }
    return true;
}

/* Returns the policy's choice. The policy is asked once for each (rule 3 of cache_policy.h). */
COLD static uint32_t cache_choose(struct cache *c, uint32_t set, uint64_t addr)
{
    uint32_t first = set * c->ways_max, unused;
    if (!cache_has_victim(c, set)) return CACHE_NO_LINE;
    if (c->choices[set].at == c->changes) return first + c->choices[set].way;
    if (!cache_make_view(c, first, &unused)) return unused;
    struct cache_set_view v = {.set = set, .ways = c->g.ways, .replaceable = c->replaceable, .addr = addr};
    uint32_t way = c->policy.victim(c->policy.ctx, &v);
    assert(way < v.ways && cache_view_has(&v, way)); /* rule 2 */
    c->choices[set] = (struct cache_choice){.at = c->changes, .way = way};
    return first + way;
}

/* Notes that a line changes and, unless `hear` is NULL, tells the policy. */
COLD static void cache_tell_policy(struct cache *c, uint32_t line,
                                   void (*hear)(void *, uint32_t, uint32_t, uint64_t), uint64_t addr)
{
    uint32_t set = line / c->ways_max;
    c->changes++;
    if (hear) hear(c->policy.ctx, set, line % c->ways_max, addr);
}

COLD static uint32_t cache_victim_rare(struct cache *c, uint64_t addr)
{
    cache_find_rare(c, cache_number(c, addr));
    return cache_victim(c, addr);
}

HOT uint32_t cache_victim(struct cache *c, uint64_t addr)
{
    if (!cache_find_set(c, cache_number(c, addr))) return cache_victim_rare(c, addr);
    uint32_t set = c->found_set, first = set * c->ways_max;
    if (UNLIKELY(c->has_policy)) return cache_choose(c, set, addr);
    if (!c->narrow) return cache_wide_victim(&c->wide, c->lines, set, c->g.ways);
    uint32_t way = narrow_victim(cache_narrow(c, set), c->ways_mask);
    return way == NARROW_NO_WAY ? CACHE_NO_LINE : first + way;
}

/* ---- changes ---- */

/* A line of a cache with few ways. */
struct cache_place {
    struct narrow_set *set;
    uint32_t way;
};

/* line / ways_max by multiplication: exact below CACHE_LINES_MAX, with up to 16 ways. */
static inline struct cache_place cache_place(const struct cache *c, uint32_t line)
{
    uint32_t set = (uint32_t)((uint64_t)line * c->way_inverse >> 31);
    return (struct cache_place){cache_narrow(c, set), line - set * c->ways_max};
}

COLD static void cache_touch_policy(struct cache *c, uint32_t line)
{
    uint32_t set = line / c->ways_max;
    c->changes++;
    if (c->policy.on_touch) c->policy.on_touch(c->policy.ctx, set, line % c->ways_max);
}

HOT void cache_touch(struct cache *c, uint32_t line)
{
    if (UNLIKELY(c->has_policy)) {
        cache_touch_policy(c, line);
    } else if (c->narrow) {
        struct cache_place p = cache_place(c, line);
        narrow_renew(p.set, p.way, c->ways_max);
    } else {
        cache_wide_renew(&c->wide, line);
    }
}

NOINLINE static void cache_take_wide(struct cache *c, uint32_t line, uint64_t addr, uint32_t sectors)
{
    struct cache_line *l = &c->lines[line];
    if (l->used)
        cache_wide_replace(&c->wide, line, l->addr, addr);
    else
        cache_wide_put(&c->wide, line, addr);
    *l = (struct cache_line){.addr = addr, .used = true, .reserved = (uint16_t)cache_mask(c, sectors)};
    c->found_line = CACHE_UNKNOWN;
}

/* Gives the line this address. */
static inline void cache_take(struct cache *c, uint32_t line, uint64_t number, uint32_t sectors)
{
    uint64_t addr = number << c->line_shift;
    assert(!c->lines[line].reserved); /* invariant 2 */
    if (!c->narrow) {
        cache_take_wide(c, line, addr, sectors);
        return;
    }
    struct cache_place p = cache_place(c, line);
    uint32_t reserved = cache_mask(c, sectors);
    narrow_put(p.set, c->narrow_bytes, p.way, number, reserved);
    narrow_renew_victim(p.set, p.way, c->ways_max);
    c->lines[line] = (struct cache_line){.addr = addr, .used = true, .reserved = (uint16_t)reserved};
    c->found_line = CACHE_UNKNOWN;
}

/* Reserves more sectors of a line that holds the address already. */
NOINLINE static void cache_reserve_more(struct cache *c, uint32_t line, uint32_t sectors)
{
    struct cache_line *l = &c->lines[line];
    l->reserved |= (uint16_t)(cache_mask(c, sectors) & ~l->valid); /* invariant 3 */
    cache_touch(c, line);
    if (!c->narrow) return;
    struct cache_place p = cache_place(c, line);
    narrow_await(p.set, p.way, cache_is_awaited(c, line));
}

HOT void cache_reserve(struct cache *c, uint32_t line, uint64_t addr, uint32_t sectors)
{
    const struct cache_line *l = &c->lines[line];
    uint64_t number = cache_number(c, addr);
    if (l->used && cache_number(c, l->addr) == number) {
        cache_reserve_more(c, line, sectors);
        return;
    }
    if (UNLIKELY(c->has_policy)) {
        if (l->used) cache_tell_policy(c, line, c->policy.on_evict, l->addr);
        cache_tell_policy(c, line, c->policy.on_insert, number << c->line_shift);
    }
    cache_take(c, line, number, sectors);
}

HOT void cache_fill(struct cache *c, uint32_t line, uint32_t sectors)
{
    struct cache_line *l = &c->lines[line];
    uint32_t mask = cache_mask(c, sectors);
    assert(l->used);
    l->reserved &= (uint16_t)~mask;
    l->valid |= (uint16_t)mask;
    if (c->narrow) {
        struct cache_place p = cache_place(c, line);
        narrow_fill(p.set, p.way, cache_is_awaited(c, line), l->valid == c->full_sectors);
    }
    if (UNLIKELY(c->has_policy)) c->changes++;
}

void cache_invalidate(struct cache *c, uint32_t line)
{
    struct cache_line *l = &c->lines[line];
    assert(!l->reserved);
    if (UNLIKELY(c->has_policy)) cache_tell_policy(c, line, l->used ? c->policy.on_evict : NULL, l->addr);
    if (c->narrow) {
        struct cache_place p = cache_place(c, line);
        narrow_drop(p.set, p.way);
    } else if (l->used) {
        cache_wide_drop(&c->wide, line, l->addr);
    }
    *l = (struct cache_line){0};
    c->found_line = CACHE_UNKNOWN;
}
