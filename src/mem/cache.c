/* cache.c: the tag array.
 *
 * Index functions, over the line number n (address / line size), for sets that are a power of two; other
 * numbers of sets (48 in Maxwell's L1) take n modulo the sets, whatever the index: linear      the low bits
 * of n; Fermi hash  Nugteren et al., HPCA'14, for 32 sets of 128 bytes: index[4:0] = addr[11:7] xor
 * addr[19,17,15,14,13]; of 64 sets, bit 5 is addr[12]. Fewer sets take the low bits of this, more sets the
 * next plain bits; xor         the low bits xor the next ones; IPOLY       Rau, ISCA'91: n as a polynomial
 * over GF(2), modulo an irreducible one. The remainder is linear, so each index bit is the parity of some
 * bits of n; those masks are made once. 16, 32 and 64 sets use x^4+x+1, x^5+x^2+1 and x^6+x+1.
 *
 * Invariants. (1) An address is in at most one way of its set. (2) A way with a reserved sector is never a
 * victim. (3) valid and reserved of one line have no sector in common. */
#include "mem/cache_wide.h"

/* Irreducible polynomials by degree, bit i = coefficient of x^i. */
static const uint32_t ipoly_of_degree[CACHE_INDEX_BITS_MAX + 1] = {
    0,     0x3,    0x7,    0xb,    0x13,   0x25,    0x43,    0x83,    0x11b,   0x211,   0x409,
    0x805, 0x1053, 0x201b, 0x4443, 0x8003, 0x1100b, 0x20009, 0x40081, 0x80027, 0x100009};

enum { RNG_SEED = 0x5eed, CACHE_NARROW_WAYS = 16 /* so many are looked at one by one */ };

static void cache_make_ipoly(struct cache *c)
{
    uint32_t degree = c->index_bits;
    assert(degree <= CACHE_INDEX_BITS_MAX);
    uint32_t rest = 1; /* x^bit modulo the polynomial */
    for (uint32_t bit = 0; degree && bit < 64; bit++) {
        for (uint32_t i = 0; i < degree; i++)
            if (rest >> i & 1) c->index_rows[i] |= 1ull << bit;
        rest <<= 1;
        if (rest >> degree & 1) rest ^= ipoly_of_degree[degree];
    }
}

void cache_init(struct cache *c, const struct cache_geometry *g)
{
    assert(g->sets >= 1 && g->ways >= 1 && is_pow2_u64(g->line_bytes));
    assert(!g->sectored || (g->line_bytes >= CACHE_SECTOR_BYTES && g->line_bytes <= 32 * CACHE_SECTOR_BYTES));
    *c = (struct cache){.g = *g, .ways_max = g->ways, .rng.state = RNG_SEED, .full_sectors = 1};
    c->lines = mem_zalloc_lines(sizeof *c->lines * g->sets * g->ways);
    if (g->ways > CACHE_NARROW_WAYS)
        cache_wide_init(&c->wide, g->sets, g->ways);
    else
        c->tags = mem_zalloc_lines(sizeof *c->tags * ((size_t)g->sets * g->ways + 3)); /* for the search */
    if (g->sectored) c->full_sectors = (uint32_t)((1ull << (g->line_bytes / CACHE_SECTOR_BYTES)) - 1);
    c->line_shift = (uint8_t)__builtin_ctz(g->line_bytes);
    c->index_bits = is_pow2_u64(g->sets) ? (uint8_t)__builtin_ctz(g->sets) : 0;
    c->set_inverse = UINT64_MAX / g->sets + 1;
    if (g->index == CACHE_INDEX_IPOLY) cache_make_ipoly(c);
}

void cache_free(struct cache *c)
{
    cache_wide_free(&c->wide);
    free(c->lines);
    free(c->tags);
    c->lines = NULL;
    c->tags = NULL;
}

void cache_clear(struct cache *c)
{
    memset(c->lines, 0, sizeof *c->lines * cache_lines(c));
    if (c->tags)
        memset(c->tags, 0, sizeof *c->tags * cache_lines(c));
    else
        cache_wide_clear(&c->wide);
    c->clock = 0;
    c->found_tag = 0;
    c->rng.state = RNG_SEED;
}

void cache_set_ways(struct cache *c, uint32_t ways)
{
    assert(ways >= 1 && ways <= c->ways_max);
    c->g.ways = ways;
    c->found_tag = 0;
}

/* n with its lowest five bits turned by bits 6, 7, 8, 10 and 12. */
static uint64_t cache_fermi_hash(uint64_t n) { return n ^ ((n >> 6 & 7) | (n >> 7 & 8) | (n >> 8 & 16)); }

static uint32_t cache_ipoly(const struct cache *c, uint64_t n)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < c->index_bits; i++)
        index |= (uint32_t)__builtin_parityll(n & c->index_rows[i]) << i;
    return index;
}

/* n modulo the sets, by multiplication: exact while n times the sets is below 2^64 (Granlund and Montgomery, PLDI'94). */
static uint32_t cache_remainder(const struct cache *c, uint64_t n)
{
    uint64_t sets = c->g.sets;
    if (n >> 32 && n > UINT64_MAX / sets) return (uint32_t)(n % sets);
    __extension__ unsigned __int128 product = c->set_inverse;
    uint64_t quotient = (uint64_t)(product * n >> 64);
    return (uint32_t)(n - quotient * sets);
}

static inline uint32_t cache_index_of(const struct cache *c, uint64_t addr)
{
    uint64_t n = addr >> c->line_shift;
    uint32_t mask = c->g.sets - 1;
    if (!c->index_bits) return mask ? cache_remainder(c, n) : 0;
    switch ((enum cache_index)c->g.index) {
    case CACHE_INDEX_LINEAR: return (uint32_t)n & mask;
    case CACHE_INDEX_FERMI_HASH: return (uint32_t)cache_fermi_hash(n) & mask;
    case CACHE_INDEX_XOR: return (uint32_t)(n ^ n >> c->index_bits) & mask;
    case CACHE_INDEX_IPOLY: return cache_ipoly(c, n);
    }
    UNREACHABLE("a cache index that does not exist");
}

uint32_t cache_set_of(const struct cache *c, uint64_t addr) { return cache_index_of(c, addr); }

void cache_prefetch(const struct cache *c, uint64_t addr)
{
    if (!c->tags) return;
    const struct cache_tag *set = &c->tags[cache_index_of(c, addr) * c->ways_max];
    __builtin_prefetch(set);
    __builtin_prefetch((const char *)set + HOST_LINE);
}

static inline uint64_t cache_tag_of(const struct cache *c, uint64_t addr)
{
    return (addr >> c->line_shift << c->line_shift) + 1;
}

static uint32_t cache_search_wide(const struct cache *c, uint64_t addr)
{
    uint32_t set = cache_index_of(c, addr), first = set * c->ways_max;
    uint32_t way = cache_wide_find(&c->wide, &c->lines[first], set, addr);
    return way < c->g.ways ? first + way : CACHE_NO_LINE;
}

/* Which of four ways hold the tag. */
static inline uint32_t cache_match(const struct cache_tag *t, uint64_t tag)
{
    return (uint32_t)(t[0].tag == tag) | (uint32_t)(t[1].tag == tag) << 1 | (uint32_t)(t[2].tag == tag) << 2 |
           (uint32_t)(t[3].tag == tag) << 3;
}

/* Four at a time, whatever they hold, so that the host has no branch to guess; what lies behind the set does not count. */
static uint32_t cache_search(struct cache *c, uint64_t addr, uint64_t tag)
{
    uint32_t first = cache_index_of(c, addr) * c->ways_max, ways = c->g.ways, found = 0;
    c->found_first = first;
    for (uint32_t i = 0; i < ways; i += 4) found |= cache_match(&c->tags[first + i], tag) << i;
    found &= (1u << ways) - 1;
    return found ? first + (uint32_t)__builtin_ctz(found) : CACHE_NO_LINE;
}

/* The line that holds the address, or CACHE_NO_LINE. An access that is refused asks again, mostly with the same tags as before. */
static inline uint32_t cache_find(struct cache *c, uint64_t addr)
{
    uint64_t tag = cache_tag_of(c, addr);
    if (c->found_tag == tag) return c->found_line;
    c->found_tag = tag;
    return c->found_line = c->tags ? cache_search(c, addr, tag) : cache_search_wide(c, tag - 1);
}

/* Where the set of an address begins. */
static inline uint32_t cache_first_of(const struct cache *c, uint64_t addr)
{
    if (c->tags && c->found_tag == cache_tag_of(c, addr)) return c->found_first;
    return cache_index_of(c, addr) * c->ways_max;
}

enum cache_outcome cache_look_up(struct cache *c, uint64_t addr, uint32_t sectors, uint32_t *line)
{
    *line = cache_find(c, addr);
    if (*line == CACHE_NO_LINE) return CACHE_MISS;
    const struct cache_line *l = &c->lines[*line];
    uint32_t missing = cache_mask(c, sectors) & ~l->valid;
    if (!missing) return CACHE_HIT;
    return missing & ~l->reserved ? CACHE_SECTOR_MISS : CACHE_HIT_RESERVED;
}

static bool cache_is_awaited(const struct cache *c, uint32_t line) { return c->lines[line].reserved != 0; }

enum cache_outcome cache_probe(struct cache *c, uint64_t addr, uint32_t sectors, uint32_t *line)
{
    enum cache_outcome outcome = cache_look_up(c, addr, sectors, line);
    if (outcome != CACHE_MISS) return outcome;
    uint32_t first = cache_first_of(c, addr), end = first + c->g.ways;
    for (uint32_t i = first; i < end; i++)
        if (c->tags ? !(c->tags[i].order & CACHE_AWAITED) : !cache_is_awaited(c, i)) return CACHE_MISS;
    return CACHE_RESERVATION_FAIL;
}

static inline void cache_set_order(struct cache *c, uint32_t line, uint64_t order)
{
    if (c->tags)
        c->tags[line].order = (c->tags[line].order & CACHE_AWAITED) | order;
    else
        cache_wide_renew(&c->wide, line);
}

void cache_touch(struct cache *c, uint32_t line)
{
    uint64_t order = ++c->clock;
    if (c->g.replace == CACHE_LRU) cache_set_order(c, line, order);
}

/* ---- victims ---- */

/* A draw that depends on what the cache has done, not on how often a blocked miss has asked. */
COLD static uint32_t cache_draw(const struct cache *c, uint32_t first)
{
    uint32_t candidates = 0, end = first + c->g.ways;
    for (uint32_t i = first; i < end; i++) {
        if (!c->lines[i].used) return i;
        candidates += !cache_is_awaited(c, i);
    }
    if (!candidates) return CACHE_NO_LINE;
    struct rng draw = {.state = c->rng.state + c->clock};
    uint64_t skip = rng_below(&draw, candidates);
    for (uint32_t i = first; i < end; i++)
        if (!cache_is_awaited(c, i) && !skip--) return i;
    UNREACHABLE("fewer replaceable ways than were counted");
}

uint32_t cache_victim(struct cache *c, uint64_t addr)
{
    uint32_t first = cache_first_of(c, addr), best = 0;
    if (UNLIKELY(c->g.replace == CACHE_RANDOM)) return cache_draw(c, first);
    if (!c->tags) return cache_wide_victim(&c->wide, c->lines, first, c->g.ways);
    const struct cache_tag *set = &c->tags[first];
    uint64_t least = set->order;
    for (uint32_t i = 1, ways = c->g.ways; i < ways;
         i++) { /* the first that is not in use, else the oldest */
        uint64_t order = set[i].order;
        best = order < least ? i : best;
        least = order < least ? order : least;
    }
    return least & CACHE_AWAITED ? CACHE_NO_LINE : first + best;
}

/* ---- changes ---- */

/* What the search knows of a line: that it holds this address now, or none (tag 0). */
static void cache_set_tag(struct cache *c, uint32_t line, uint64_t tag)
{
    struct cache_line *l = &c->lines[line];
    assert(!l->reserved); /* invariant 2 */
    if (c->tags)
        c->tags[line] = (struct cache_tag){.tag = tag};
    else {
        if (l->used) cache_wide_drop(&c->wide, line, l->addr);
        if (tag) cache_wide_put(&c->wide, line, tag - 1);
    }
    *l = (struct cache_line){.addr = tag ? tag - 1 : 0, .used = tag != 0};
    c->found_tag = 0;
}

void cache_reserve(struct cache *c, uint32_t line, uint64_t addr, uint32_t sectors)
{
    struct cache_line *l = &c->lines[line];
    uint64_t tag = cache_tag_of(c, addr);
    if (!l->used || l->addr + 1 != tag) {
        cache_set_tag(c, line, tag);
        cache_set_order(c, line, ++c->clock);
    }
    l->reserved |= cache_mask(c, sectors) & ~l->valid; /* invariant 3 */
    if (l->reserved && c->tags) c->tags[line].order |= CACHE_AWAITED;
    cache_touch(c, line);
}

void cache_fill(struct cache *c, uint32_t line, uint32_t sectors)
{
    struct cache_line *l = &c->lines[line];
    uint32_t mask = cache_mask(c, sectors);
    assert(l->used);
    l->reserved &= ~mask;
    l->valid |= mask;
    if (!l->reserved && c->tags) c->tags[line].order &= ~CACHE_AWAITED;
}

void cache_invalidate(struct cache *c, uint32_t line) { cache_set_tag(c, line, 0); }
