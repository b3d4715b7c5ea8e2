/* cache_index.h: which set of a cache holds a line. The functions, over the line number n (address / line
 * size), for sets that are a power of two; other numbers of sets (48 in Maxwell's L1) take n modulo the sets,
 * whatever the function.
 *   linear      the low bits of n
 *   Fermi hash  Nugteren et al., HPCA'14, for 32 sets of 128 bytes:
 *               index[4:0] = addr[11:7] xor addr[19,17,15,14,13]; with 64 sets, bit 5 is addr[12].
 *               Fewer sets take the low bits of this, more sets the next plain bits
 *   xor         the low bits xor the next ones
 *   IPOLY       Rau, ISCA'91: n as a polynomial over GF(2), modulo an irreducible one. 16, 32 and 64 sets
 *               use x^4+x+1, x^5+x^2+1 and x^6+x+1 */
#ifndef HEDDLE_CACHE_INDEX_H
#define HEDDLE_CACHE_INDEX_H

#include "base/base.h"

enum cache_index { CACHE_INDEX_LINEAR, CACHE_INDEX_FERMI_HASH, CACHE_INDEX_XOR, CACHE_INDEX_IPOLY };
enum { CACHE_INDEX_BITS_MAX = 27, CACHE_INDEX_REMAINDER = CACHE_INDEX_IPOLY + 1 };

/* The remainder is linear over GF(2): those of parts of n, xored, are that of n. The bits of the index itself
 * are their own remainder; the next ones have tables; the upper ones are mostly those of the lookup before,
 * so their remainder is kept. */
enum { CACHE_POLY_PARTS = 3, CACHE_POLY_PART_BITS = 4 };
/* Up to its rows one cache line of the host. */
struct cache_poly {
    /* n >> high_shift, of the newest lookup */
    uint64_t high;
    uint8_t high_shift;
    /* the part of the remainder that comes from it */
    uint32_t high_rest;
    uint8_t rest[CACHE_POLY_PARTS][1 << CACHE_POLY_PART_BITS];
    /* the bits of n whose parity is index bit i */
    uint64_t rows[CACHE_INDEX_BITS_MAX];
};
_Static_assert(offsetof(struct cache_poly, rows) == HOST_LINE,
               "a question touches one cache line of the host");

struct cache_indexer {
    union {
        /* 2^64 / sets, rounded up: of a remainder */
        uint64_t inverse;
        struct cache_poly *poly;
    };
    /* sets - 1 */
    uint32_t mask;
    /* enum cache_index or CACHE_INDEX_REMAINDER; log2 of the sets */
    uint8_t kind, bits;
};

void cache_indexer_init(struct cache_indexer *x, enum cache_index index, uint32_t sets);
void cache_indexer_free(struct cache_indexer *x);
uint32_t cache_index_rare(const struct cache_indexer *x, uint64_t n);

/* n with its lowest five bits xored with bits 6, 7, 8, 10 and 12. */
static inline uint64_t cache_fermi_hash(uint64_t n)
{
    return n ^ ((n >> 6 & 7) | (n >> 7 & 8) | (n >> 8 & 16));
}

static inline bool cache_ipoly(const struct cache_indexer *x, uint64_t n, uint32_t *set)
{
    const struct cache_poly *p = x->poly;
    if (UNLIKELY(n >> p->high_shift != p->high)) return false;
    uint32_t next = (uint32_t)(n >> x->bits);
    *set = ((uint32_t)n & x->mask) ^ p->high_rest ^ p->rest[0][next & 15] ^ p->rest[1][next >> 4 & 15] ^
           p->rest[2][next >> 8 & 15];
    return true;
}

/* n modulo the sets, by multiplication: exact while n times the sets is below 2^64 (Granlund and Montgomery,
 * PLDI'94). */
static inline bool cache_remainder(const struct cache_indexer *x, uint64_t n, uint32_t *set)
{
    if (UNLIKELY(n >= x->inverse)) return false;
    __extension__ unsigned __int128 product = x->inverse;
    uint32_t quotient = (uint32_t)(uint64_t)(product * n >> 64); /* the lower half is enough to compute the
                                                                  * remainder */
    *set = (uint32_t)n - quotient * (x->mask + 1);
    return true;
}

/* False: call cache_index_rare. The caller makes that its last step, so that the common case saves no
 * registers for the call. */
static inline bool cache_index_of(const struct cache_indexer *x, uint64_t n, uint32_t *set)
{
    if (x->kind == CACHE_INDEX_REMAINDER) return cache_remainder(x, n, set);
    if (x->kind == CACHE_INDEX_IPOLY) return cache_ipoly(x, n, set);
    if (x->kind == CACHE_INDEX_LINEAR)
        *set = (uint32_t)n & x->mask;
    else if (x->kind == CACHE_INDEX_FERMI_HASH)
        *set = (uint32_t)cache_fermi_hash(n) & x->mask;
    else
        *set = (uint32_t)(n ^ n >> x->bits) & x->mask;
    return true;
}

#endif
