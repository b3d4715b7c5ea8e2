/* rng.h: splitmix64: a seed, a stream, the same on every host. */
#ifndef HEDDLE_RNG_H
#define HEDDLE_RNG_H

#include "base/hash.h"

struct rng {
    uint64_t state;
};

static inline uint64_t rng_u64(struct rng *r) { return hash_mix(r->state += 0x9e3779b97f4a7c15ull); }
static inline uint32_t rng_u32(struct rng *r) { return (uint32_t)(rng_u64(r) >> 32); }
static inline uint64_t rng_below(struct rng *r, uint64_t n) { return n ? rng_u64(r) % n : 0; }
/* [0, 1) */
static inline double rng_unit(struct rng *r) { return (double)(rng_u64(r) >> 11) * 0x1p-53; }

#endif
