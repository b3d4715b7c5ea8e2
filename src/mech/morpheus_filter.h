/* morpheus_filter.h: the hit/miss predictor of Morpheus (Darabi et al., MICRO'22, section 4.1.2): two Bloom
 * filters for each set of the extended LLC.
 *
 * A set keeps the n blocks that were used last (LRU, n = associativity). BF1 answers queries; each use of a
 * block enters it into both filters. When n blocks have been entered that BF2 did not have, BF2 knows all
 * that the set can hold: BF1 is cleared and the two change their names.
 *
 * (1) BF1 has every block that is in the set: a miss is never predicted for one of them. (2) BF2 has every
 * block used since the last swap. A block that BF2 seems to have already is not counted, so that a swap may
 * come late, never early; where a filter has too few bits for n blocks it may never come, and all are
 * predicted to hit. Blocks that leave the set otherwise (a host copy, fewer ways) harm neither.
 *
 * BF1 has n to 2n blocks. With 256 bits and 4 hashes (1 - exp(-4 blocks / 256))^4 of the blocks that are not
 * there seem to be: 2 to 16% for n = 32, 14 to 51% for n = 60. The paper calls the rate negligible. */
#ifndef HEDDLE_MECH_MORPHEUS_FILTER_H
#define HEDDLE_MECH_MORPHEUS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the predictor is made of. */
struct morpheus_filter_shape {
    /* sets of the extended LLC that the controller serves: 256 a partition in the paper */
    uint32_t sets;
    /* of one filter, a power of two: 32 in the paper */
    uint32_t filter_bytes;
    /* bits that a block sets in a filter; the paper does not say: 4 */
    uint32_t hashes;
    /* n: the most blocks that a set can hold */
    uint32_t blocks;
};

enum {
    MORPHEUS_FILTER_BYTES_MAX = 1 << 12,
    MORPHEUS_FILTER_HASHES_MAX = 8,
    MORPHEUS_FILTER_BLOCKS_MAX = 1 << 15,
};

/* The two filters of a set. */
struct morpheus_filter_set {
    /* swaps so far, and losses of all blocks */
    uint32_t swaps;
    /* blocks entered into BF2 since the last swap that it did not have */
    uint32_t count;
    /* which of the two filters is BF1 */
    uint32_t first;
    /* n of this set */
    uint32_t blocks;
};

struct morpheus_filter {
    struct morpheus_filter_shape shape;
    struct morpheus_filter_set *sets;
    /* [set][filter][byte] */
    uint8_t *bits;
};

/* Why a predictor cannot have this shape, or NULL. */
const char *morpheus_filter_refuses(const struct morpheus_filter_shape *shape);
/* Memory of the host for it. */
size_t morpheus_filter_memory(const struct morpheus_filter_shape *shape);
/* Over zeroed memory, aligned as a uint64_t: all sets are empty. The shape is not refused. */
void morpheus_filter_init(struct morpheus_filter *f, const struct morpheus_filter_shape *shape, void *memory);

/* A set that holds fewer blocks than the shape says. */
void morpheus_filter_hold(struct morpheus_filter *f, uint32_t set, uint32_t blocks);

/* May the block be in the set? The block is its line's address, or any other number of its own. */
bool morpheus_filter_query(const struct morpheus_filter *f, uint32_t set, uint64_t block);
/* A block of the set was used, or came into it. Have the filters been swapped? */
bool morpheus_filter_enter(struct morpheus_filter *f, uint32_t set, uint64_t block);
/* A block is looked up, and it will be known later whether it is there: it is in both filters at once, and
 * counts when it is found. One that is not there must not count: a swap would come early. */
struct morpheus_filter_mark {
    uint32_t swaps;
    bool is_new;
};
struct morpheus_filter_mark morpheus_filter_look_up(struct morpheus_filter *f, uint32_t set, uint64_t block);
bool morpheus_filter_found(struct morpheus_filter *f, uint32_t set, struct morpheus_filter_mark mark);
/* The set has lost all its blocks. */
void morpheus_filter_clear(struct morpheus_filter *f, uint32_t set);

#endif
