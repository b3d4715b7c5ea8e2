/* hash.h: 64-bit hashes of bytes, for tables and for the fingerprints of runs; 128-bit ones for names that
 * must not collide. The value is the same on every host. Not for secrets: it is easy to make two texts with
 * one hash. */
#ifndef HEDDLE_HASH_H
#define HEDDLE_HASH_H

#include "base/base.h"

#define HASH_SEED 0xcbf29ce484222325ull

uint64_t hash_bytes(uint64_t seed, const void *data, size_t len);
uint64_t hash_text(const char *text);

/* Two lanes of hash_bytes with different seeds. Among a million texts the chance of any collision is below
 * 10^-26. */
struct hash128 {
    uint64_t high, low;
};
enum { HASH128_CHARS = 32 };
struct hash128 hash128_bytes(const void *data, size_t len);
void hash128_hex(struct hash128 h, char out[HASH128_CHARS + 1]);

/* One round of splitmix64's mixer: every input bit reaches every output bit. */
static inline uint64_t hash_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* An index into a table of 2^(64 - shift) entries, at least 2: the upper bits of x times 2^64 divided by the
 * golden ratio (Knuth, vol. 3, 6.4). For tables on a hot path, where hash_mix would cost more than the
 * search. */
static inline uint32_t hash_index(uint64_t x, uint32_t shift)
{
    return (uint32_t)(x * 0x9e3779b97f4a7c15ull >> shift);
}

#endif
