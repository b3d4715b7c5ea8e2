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
    c->lines = mem_zalloc(sizeof *c->lines * g->sets * g->ways);
    c->tags = mem_zalloc(sizeof *c->tags * g->sets * g->ways);
    c->order = mem_zalloc(sizeof *c->order * g->sets * g->ways);
    if (g->ways > CACHE_NARROW_WAYS) c->wide = cache_wide_create(g->sets, g->ways);
    if (g->sectored) c->full_sectors = (uint32_t)((1ull << (g->line_bytes / CACHE_SECTOR_BYTES)) - 1);
    c->line_shift = (uint32_t)__builtin_ctz(g->line_bytes);
    c->index_bits = is_pow2_u64(g->sets) ? (uint32_t)__builtin_ctz(g->sets) : 0;
    c->set_inverse = UINT64_MAX / g->sets + 1;
    if (g->index == CACHE_INDEX_IPOLY) cache_make_ipoly(c);
}

void cache_free(struct cache *c)
{
    cache_wide_destroy(c->wide);
    free(c->lines);
    free(c->tags);
    free(c->order);
    c->wide = NULL;
    c->lines = NULL;
    c->tags = c->order = NULL;
}

void cache_clear(struct cache *c)
{
    memset(c->lines, 0, sizeof *c->lines * cache_lines(c));
    memset(c->tags, 0, sizeof *c->tags * cache_lines(c));
    memset(c->order, 0, sizeof *c->order * cache_lines(c));
    if (c->wide) cache_wide_clear(c->wide);
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

static uint64_t cache_tag_of(const struct cache *c, uint64_t addr)
{
    return (addr >> c->line_shift << c->line_shift) + 1;
}

static uint32_t cache_search(const struct cache *c, uint64_t addr, uint64_t tag)
{
    if (c->wide) {
        uint32_t line = cache_wide_find(c->wide, c->lines, tag - 1);
        return line == CACHE_NO_LINE || line % c->ways_max < c->g.ways ? line : CACHE_NO_LINE;
    }
    uint32_t first = cache_index_of(c, addr) * c->ways_max, end = first + c->g.ways;
    for (uint32_t i = first; i < end; i++)
        if (c->tags[i] == tag) return i;
    return CACHE_NO_LINE;
}

/* The line that holds the address, or CACHE_NO_LINE. An access that is refused asks again, mostly with the same tags as before. */
static inline uint32_t cache_find(struct cache *c, uint64_t addr)
{
    uint64_t tag = cache_tag_of(c, addr);
    if (c->found_tag == tag) return c->found_line;
    c->found_tag = tag;
    return c->found_line = cache_search(c, addr, tag);
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

enum cache_outcome cache_probe(struct cache *c, uint64_t addr, uint32_t sectors, uint32_t *line)
{
    enum cache_outcome outcome = cache_look_up(c, addr, sectors, line);
    if (outcome != CACHE_MISS) return outcome;
    uint32_t first = cache_index_of(c, addr) * c->ways_max, end = first + c->g.ways;
    for (uint32_t i = first; i < end; i++)
        if (!(c->order[i] & CACHE_AWAITED)) return CACHE_MISS;
    return CACHE_RESERVATION_FAIL;
}

static void cache_set_order(struct cache *c, uint32_t line, uint64_t order)
{
    c->order[line] = (c->order[line] & CACHE_AWAITED) | order;
    if (c->wide) cache_wide_renew(c->wide, line);
}

void cache_touch(struct cache *c, uint32_t line)
{
    uint64_t order = ++c->clock;
    if (c->g.replace == CACHE_LRU) cache_set_order(c, line, order);
}

/* ---- victims ---- */

/* A draw that depends on what the cache has done, not on how often a blocked miss has asked. */
static uint32_t cache_draw(const struct cache *c, uint32_t first)
{
    uint32_t candidates = 0, end = first + c->g.ways;
    for (uint32_t i = first; i < end; i++) {
        if (!c->order[i]) return i;
        candidates += !(c->order[i] & CACHE_AWAITED);
    }
    if (!candidates) return CACHE_NO_LINE;
    struct rng draw = {.state = c->rng.state + c->clock};
    uint64_t skip = rng_below(&draw, candidates);
    for (uint32_t i = first; i < end; i++)
        if (!(c->order[i] & CACHE_AWAITED) && !skip--) return i;
    UNREACHABLE("fewer replaceable ways than were counted");
}

uint32_t cache_victim(struct cache *c, uint64_t addr)
{
    uint32_t set = cache_index_of(c, addr), first = set * c->ways_max, best = first;
    if (c->g.replace == CACHE_RANDOM) return cache_draw(c, first);
    if (c->wide) return cache_wide_victim(c->wide, c->order, set, c->g.ways);
    for (uint32_t i = first + 1; i < first + c->g.ways;
         i++) /* the first that is not in use, else the oldest */
        best = c->order[i] < c->order[best] ? i : best;
    return c->order[best] & CACHE_AWAITED ? CACHE_NO_LINE : best;
}

/* ---- changes ---- */

static void cache_take(struct cache *c, uint32_t line, uint64_t line_addr)
{
    assert(!(c->order[line] & CACHE_AWAITED)); /* invariant 2 */
    if (c->wide) {
        if (c->lines[line].used) cache_wide_drop(c->wide, line, c->lines[line].addr);
        cache_wide_put(c->wide, line, line_addr);
    }
    c->lines[line] = (struct cache_line){.addr = line_addr, .used = true};
    c->tags[line] = line_addr + 1;
    c->found_tag = 0;
    cache_set_order(c, line, ++c->clock);
}

void cache_reserve(struct cache *c, uint32_t line, uint64_t addr, uint32_t sectors)
{
    struct cache_line *l = &c->lines[line];
    uint64_t line_addr = addr >> c->line_shift << c->line_shift;
    if (c->tags[line] != line_addr + 1) cache_take(c, line, line_addr);
    l->reserved |= cache_mask(c, sectors) & ~l->valid; /* invariant 3 */
    if (l->reserved) c->order[line] |= CACHE_AWAITED;
    cache_touch(c, line);
}

void cache_fill(struct cache *c, uint32_t line, uint32_t sectors)
{
    struct cache_line *l = &c->lines[line];
    uint32_t mask = cache_mask(c, sectors);
    assert(l->used);
    l->reserved &= ~mask;
    l->valid |= mask;
    if (!l->reserved) c->order[line] &= ~CACHE_AWAITED;
}

void cache_invalidate(struct cache *c, uint32_t line)
{
    assert(!c->lines[line].reserved);
    if (c->wide && c->lines[line].used) cache_wide_drop(c->wide, line, c->lines[line].addr);
    c->lines[line] = (struct cache_line){0};
    c->tags[line] = c->order[line] = 0;
    c->found_tag = 0;
}
