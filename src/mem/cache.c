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
#include "mem/cache.h"

/* Irreducible polynomials by degree, bit i = coefficient of x^i. */
static const uint32_t ipoly_of_degree[CACHE_INDEX_BITS_MAX + 1] = {
    0,     0x3,    0x7,    0xb,    0x13,   0x25,    0x43,    0x83,    0x11b,   0x211,   0x409,
    0x805, 0x1053, 0x201b, 0x4443, 0x8003, 0x1100b, 0x20009, 0x40081, 0x80027, 0x100009};

enum { RNG_SEED = 0x5eed };

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
    c->lines = mem_zalloc(sizeof(struct cache_line) * g->sets * g->ways);
    c->tags = mem_zalloc(sizeof(uint64_t) * g->sets * g->ways);
    if (g->sectored) c->full_sectors = (uint32_t)((1ull << (g->line_bytes / CACHE_SECTOR_BYTES)) - 1);
    c->line_shift = (uint32_t)__builtin_ctz(g->line_bytes);
    c->index_bits = is_pow2_u64(g->sets) ? (uint32_t)__builtin_ctz(g->sets) : 0;
    if (g->index == CACHE_INDEX_IPOLY) cache_make_ipoly(c);
}

void cache_free(struct cache *c)
{
    free(c->lines);
    free(c->tags);
    c->lines = NULL;
    c->tags = NULL;
}

void cache_clear(struct cache *c)
{
    memset(c->lines, 0, sizeof(struct cache_line) * cache_lines(c));
    memset(c->tags, 0, sizeof(uint64_t) * cache_lines(c));
    c->clock = 0;
    c->rng.state = RNG_SEED;
}

void cache_set_ways(struct cache *c, uint32_t ways)
{
    assert(ways >= 1 && ways <= c->ways_max);
    c->g.ways = ways;
}

static uint64_t cache_fermi_hash(uint64_t n)
{
    uint64_t upper =
        (n >> 6 & 1) | (n >> 7 & 1) << 1 | (n >> 8 & 1) << 2 | (n >> 10 & 1) << 3 | (n >> 12 & 1) << 4;
    return n ^ upper;
}

static uint32_t cache_ipoly(const struct cache *c, uint64_t n)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < c->index_bits; i++)
        index |= (uint32_t)__builtin_parityll(n & c->index_rows[i]) << i;
    return index;
}

uint32_t cache_set_of(const struct cache *c, uint64_t addr)
{
    uint64_t n = addr >> c->line_shift;
    uint32_t mask = c->g.sets - 1;
    if (c->g.sets == 1) return 0;
    if (!c->index_bits) return (uint32_t)(n % c->g.sets);
    switch ((enum cache_index)c->g.index) {
    case CACHE_INDEX_LINEAR: return (uint32_t)n & mask;
    case CACHE_INDEX_FERMI_HASH: return (uint32_t)cache_fermi_hash(n) & mask;
    case CACHE_INDEX_XOR: return (uint32_t)(n ^ n >> c->index_bits) & mask;
    case CACHE_INDEX_IPOLY: return cache_ipoly(c, n);
    }
    UNREACHABLE("a cache index that does not exist");
}

enum cache_outcome cache_probe(const struct cache *c, uint64_t addr, uint32_t sectors, uint32_t *line)
{
    uint64_t line_addr = addr >> c->line_shift << c->line_shift;
    uint32_t first = cache_set_of(c, addr) * c->ways_max, wanted = cache_mask(c, sectors);
    *line = CACHE_NO_LINE;
    for (uint32_t i = first; i < first + c->g.ways; i++) {
        if (c->tags[i] != line_addr + 1) continue;
        const struct cache_line *l = &c->lines[i];
        *line = i;
        if (!(wanted & ~l->valid)) return CACHE_HIT;
        return wanted & ~l->valid & ~l->reserved ? CACHE_SECTOR_MISS : CACHE_HIT_RESERVED;
    }
    for (uint32_t i = first; i < first + c->g.ways; i++)
        if (cache_is_way_free(&c->lines[i])) return CACHE_MISS;
    return CACHE_RESERVATION_FAIL;
}

void cache_touch(struct cache *c, uint32_t line) { c->lines[line].last_use = ++c->clock; }

/* The one of the set's replaceable ways that is `skip` replaceable ways from the first. */
static uint32_t cache_nth_free_way(const struct cache *c, uint32_t first, uint64_t skip)
{
    for (uint32_t i = first; i < first + c->g.ways; i++)
        if (cache_is_way_free(&c->lines[i]) && !skip--) return i;
    UNREACHABLE("fewer replaceable ways than were counted");
}

uint32_t cache_victim(struct cache *c, uint64_t addr)
{
    uint32_t first = cache_set_of(c, addr) * c->ways_max, best = CACHE_NO_LINE, candidates = 0;
    uint64_t best_order = UINT64_MAX;
    for (uint32_t i = first; i < first + c->g.ways; i++) {
        const struct cache_line *l = &c->lines[i];
        if (!l->used) return i;
        if (l->reserved) continue;
        candidates++;
        uint64_t order = c->g.replace == CACHE_LRU ? l->last_use : l->filled;
        if (order < best_order) best_order = order, best = i;
    }
    if (c->g.replace == CACHE_RANDOM && candidates) {
        /* A draw that depends on what the cache has done, not on how often a blocked miss has asked. */
        struct rng draw = {.state = c->rng.state + c->clock};
        return cache_nth_free_way(c, first, rng_below(&draw, candidates));
    }
    return best;
}

void cache_reserve(struct cache *c, uint32_t line, uint64_t addr, uint32_t sectors)
{
    struct cache_line *l = &c->lines[line];
    uint64_t line_addr = addr >> c->line_shift << c->line_shift;
    if (!l->used || l->addr != line_addr) {
        assert(cache_is_way_free(l)); /* invariant 2 */
        *l = (struct cache_line){.addr = line_addr, .used = true, .filled = ++c->clock};
        c->tags[line] = line_addr + 1;
    }
    l->reserved |= cache_mask(c, sectors) & ~l->valid; /* invariant 3 */
    cache_touch(c, line);
}

void cache_fill(struct cache *c, uint32_t line, uint32_t sectors)
{
    struct cache_line *l = &c->lines[line];
    uint32_t mask = cache_mask(c, sectors);
    assert(l->used);
    l->reserved &= ~mask;
    l->valid |= mask;
}

void cache_invalidate(struct cache *c, uint32_t line)
{
    assert(!c->lines[line].reserved);
    c->lines[line] = (struct cache_line){0};
    c->tags[line] = 0;
}
