/* morpheus_filter.c: see morpheus_filter.h. */
#include "mech/morpheus_filter.h"

#include "heddle/mechanism.h"

#include <string.h>

static uint32_t log2_of(uint32_t power_of_two) { return (uint32_t)__builtin_ctz(power_of_two); }
static bool is_power_of_two(uint32_t n) { return n && !(n & (n - 1)); }
static uint32_t index_bits(const struct morpheus_filter_shape *s) { return log2_of(s->filter_bytes * 8); }

const char *morpheus_filter_refuses(const struct morpheus_filter_shape *s)
{
    if (!s->sets) return "a predictor needs at least one set";
    if (!is_power_of_two(s->filter_bytes) || s->filter_bytes > MORPHEUS_FILTER_BYTES_MAX)
        return "the bytes of a Bloom filter must be a power of two of at most 4096";
    if (!s->hashes || s->hashes > MORPHEUS_FILTER_HASHES_MAX || s->hashes * index_bits(s) > 64)
        return "a Bloom filter needs 1 to 8 hashes, and all of them together at most 64 bits";
    if (!s->blocks || s->blocks > MORPHEUS_FILTER_BLOCKS_MAX)
        return "a set of the extended LLC must hold 1 to 32768 blocks";
    return NULL;
}

size_t morpheus_filter_memory(const struct morpheus_filter_shape *s)
{
    return s->sets * (sizeof(struct morpheus_filter_set) + 2 * (size_t)s->filter_bytes);
}

void morpheus_filter_init(struct morpheus_filter *f, const struct morpheus_filter_shape *shape, void *memory)
{
    mech_assert(!morpheus_filter_refuses(shape));
    f->shape = *shape;
    f->sets = memory;
    f->bits = (uint8_t *)(f->sets + shape->sets);
    for (uint32_t i = 0; i < shape->sets; i++) f->sets[i].blocks = shape->blocks;
}

void morpheus_filter_hold(struct morpheus_filter *f, uint32_t set, uint32_t blocks)
{
    mech_assert(set < f->shape.sets && blocks && blocks <= f->shape.blocks);
    f->sets[set].blocks = blocks;
}

/* BF1 (which = 0) or BF2 (1) of a set. */
static uint8_t *filter_of(const struct morpheus_filter *f, uint32_t set, uint32_t which)
{
    mech_assert(set < f->shape.sets);
    const size_t filter = 2 * (size_t)set + (f->sets[set].first ^ which);
    return f->bits + filter * f->shape.filter_bytes;
}

/* The hashes of a block are fields of one 64-bit number, the lowest first: the finalizer of MurmurHash3
 * (Appleby), in which each bit of the block reaches all others. */
static uint64_t hashes_of(uint64_t block)
{
    block ^= block >> 33;
    block *= 0xff51afd7ed558ccdull;
    block ^= block >> 33;
    block *= 0xc4ceb9fe1a85ec53ull;
    return block ^ block >> 33;
}

/* Are all bits of these hashes set in the filter? */
static bool has_all(const struct morpheus_filter *f, const uint8_t *filter, uint64_t hashes)
{
    const uint32_t width = index_bits(&f->shape);
    for (uint32_t i = 0; i < f->shape.hashes; i++) {
        const uint32_t bit = hashes >> i * width & (f->shape.filter_bytes * 8 - 1);
        if (!(filter[bit / 8] >> bit % 8 & 1)) return false;
    }
    return true;
}

static void set_all(const struct morpheus_filter *f, uint8_t *filter, uint64_t hashes)
{
    const uint32_t width = index_bits(&f->shape);
    for (uint32_t i = 0; i < f->shape.hashes; i++) {
        const uint32_t bit = hashes >> i * width & (f->shape.filter_bytes * 8 - 1);
        filter[bit / 8] |= (uint8_t)(1u << bit % 8);
    }
}

bool morpheus_filter_query(const struct morpheus_filter *f, uint32_t set, uint64_t block)
{
    return has_all(f, filter_of(f, set, 0), hashes_of(block));
}

/* One block more that BF2 did not have. */
static bool count_one(struct morpheus_filter *f, uint32_t set)
{
    if (++f->sets[set].count < f->sets[set].blocks) return false;
    memset(filter_of(f, set, 0), 0, f->shape.filter_bytes);
    f->sets[set].first ^= 1;
    f->sets[set].count = 0;
    f->sets[set].swaps++;
    return true;
}

struct morpheus_filter_mark morpheus_filter_look_up(struct morpheus_filter *f, uint32_t set, uint64_t block)
{
    uint8_t *bf2 = filter_of(f, set, 1);
    const uint64_t hashes = hashes_of(block);
    const struct morpheus_filter_mark mark = {f->sets[set].swaps, !has_all(f, bf2, hashes)};
    set_all(f, filter_of(f, set, 0), hashes);
    set_all(f, bf2, hashes);
    return mark;
}

bool morpheus_filter_enter(struct morpheus_filter *f, uint32_t set, uint64_t block)
{
    return morpheus_filter_look_up(f, set, block).is_new && count_one(f, set);
}

/* A look-up from before a swap does not count: blocks that were entered since were used after it. */
bool morpheus_filter_found(struct morpheus_filter *f, uint32_t set, struct morpheus_filter_mark mark)
{
    return mark.is_new && mark.swaps == f->sets[set].swaps && count_one(f, set);
}

void morpheus_filter_clear(struct morpheus_filter *f, uint32_t set)
{
    memset(filter_of(f, set, 0), 0, f->shape.filter_bytes);
    memset(filter_of(f, set, 1), 0, f->shape.filter_bytes);
    f->sets[set].count = 0;
    f->sets[set].swaps++;
}
