/* cache_index.c: see cache_index.h. */
#include "mem/cache_index.h"

#include "base/hugepage.h"

/* Irreducible polynomials by degree, bit i = coefficient of x^i. */
static const uint32_t ipoly_of_degree[CACHE_INDEX_BITS_MAX + 1] = {
    0,        0x3,      0x7,      0xb,      0x13,      0x25,      0x43,      0x83,     0x11b,   0x211,
    0x409,    0x805,    0x1053,   0x201b,   0x4443,    0x8003,    0x1100b,   0x20009,  0x40081, 0x80027,
    0x100009, 0x200005, 0x400003, 0x800021, 0x100001b, 0x2000009, 0x400001b, 0x8000027};

static uint32_t poly_rest(const struct cache_poly *p, uint64_t n, uint32_t bits)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < bits; i++) index |= (uint32_t)__builtin_parityll(n & p->rows[i]) << i;
    return index;
}

static void poly_make_rows(struct cache_poly *p, uint32_t degree)
{
    uint32_t rest = 1; /* x^bit modulo the polynomial */
    for (uint32_t bit = 0; bit < 64; bit++) {
        for (uint32_t i = 0; i < degree; i++)
            if (rest >> i & 1) p->rows[i] |= 1ull << bit;
        rest <<= 1;
        if (rest >> degree & 1) rest ^= ipoly_of_degree[degree];
    }
}

/* Up to 8 bits the tables are used; wider indices have none, and upper bits that no line number has. */
static struct cache_poly *poly_new(uint32_t bits)
{
    assert(bits >= 1 && bits <= CACHE_INDEX_BITS_MAX);
    struct cache_poly *p = mem_zalloc_huge(sizeof *p);
    poly_make_rows(p, bits);
    p->high = bits > 8 ? UINT64_MAX : 0;
    if (bits > 8) return p;
    p->high_shift = (uint8_t)(bits + CACHE_POLY_PARTS * CACHE_POLY_PART_BITS);
    for (uint32_t k = 0; k < CACHE_POLY_PARTS; k++)
        for (uint64_t v = 0; v < ARRAY_LEN(p->rest[k]); v++)
            p->rest[k][v] = (uint8_t)poly_rest(p, v << (bits + k * CACHE_POLY_PART_BITS), bits);
    return p;
}

static void poly_keep_high(struct cache_poly *p, uint64_t n, uint32_t bits)
{
    p->high = n >> p->high_shift;
    p->high_rest = poly_rest(p, p->high << p->high_shift, bits);
}

COLD uint32_t cache_index_rare(const struct cache_indexer *x, uint64_t n)
{
    if (x->kind != CACHE_INDEX_IPOLY) return (uint32_t)(n % (x->mask + 1ull));
    if (x->poly->high_shift) poly_keep_high(x->poly, n, x->bits);
    return poly_rest(x->poly, n, x->bits);
}

void cache_indexer_init(struct cache_indexer *x, enum cache_index index, uint32_t sets)
{
    *x = (struct cache_indexer){.mask = sets - 1, .kind = (uint8_t)index};
    if (!is_pow2_u64(sets)) {
        x->kind = CACHE_INDEX_REMAINDER;
        x->inverse = UINT64_MAX / sets + 1;
        return;
    }
    x->bits = (uint8_t)__builtin_ctz(sets);
    if (!x->bits) x->kind = CACHE_INDEX_LINEAR; /* one set, whatever the function */
    if (x->kind == CACHE_INDEX_IPOLY) x->poly = poly_new(x->bits);
}

void cache_indexer_free(struct cache_indexer *x)
{
    if (x->kind == CACHE_INDEX_IPOLY) mem_free_huge(x->poly);
    *x = (struct cache_indexer){0};
}
