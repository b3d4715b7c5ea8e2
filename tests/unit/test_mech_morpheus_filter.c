/* test_mech_morpheus_filter.c: the predictor of Morpheus against exact LRU sets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "mech/morpheus_filter.h"

static const struct morpheus_filter_shape paper = {
    .sets = 256, .filter_bytes = 32, .hashes = 4, .blocks = 32};

static void open_filter(struct morpheus_filter *f, const struct morpheus_filter_shape *shape)
{
    assert_null(morpheus_filter_refuses(shape));
    morpheus_filter_init(f, shape, calloc(1, morpheus_filter_memory(shape)));
}
static void close_filter(struct morpheus_filter *f) { free(f->sets); }

/* An LRU set, the block used last first. */
enum { LRU_MAX = 128 };
struct lru {
    uint64_t blocks[LRU_MAX];
    uint32_t count, ways;
};

static int lru_find(const struct lru *l, uint64_t block)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->blocks[i] == block) return (int)i;
    return -1;
}

static void lru_use(struct lru *l, uint64_t block)
{
    int at = lru_find(l, block);
    if (at < 0) at = (int)(l->count < l->ways ? l->count++ : l->ways - 1);
    for (; at > 0; at--) l->blocks[at] = l->blocks[at - 1];
    l->blocks[0] = block;
}

struct outcome {
    uint32_t hits, false_hits, misses, false_misses, swaps;
};

/* Random blocks, of which a few are used often; each access is predicted, then made. */
static struct outcome run_random(const struct morpheus_filter_shape *shape, uint32_t accesses,
                                 uint32_t universe)
{
    struct morpheus_filter f;
    struct outcome o = {0};
    struct rng r = {7};
    struct lru *sets = calloc(shape->sets, sizeof *sets);
    open_filter(&f, shape);
    for (uint32_t i = 0; i < shape->sets; i++) sets[i].ways = shape->blocks;
    for (uint32_t i = 0; i < accesses; i++) {
        const uint32_t set = (uint32_t)rng_below(&r, shape->sets);
        const uint64_t range = rng_u32(&r) % 4 ? shape->blocks : universe;
        const uint64_t block = rng_below(&r, range) * shape->sets + set;
        const bool is_in = lru_find(&sets[set], block) >= 0, is_hit = morpheus_filter_query(&f, set, block);
        o.hits += is_in && is_hit;
        o.false_misses += is_in && !is_hit;
        o.misses += !is_in && !is_hit;
        o.false_hits += !is_in && is_hit;
        lru_use(&sets[set], block);
        o.swaps += morpheus_filter_enter(&f, set, block);
    }
    close_filter(&f);
    free(sets);
    return o;
}

static void a_million_accesses_have_no_false_miss(void **unused)
{
    const struct morpheus_filter_shape shapes[] = {
        {.sets = 8, .filter_bytes = 32, .hashes = 4, .blocks = 32},
        {.sets = 3, .filter_bytes = 32, .hashes = 1, .blocks = 42},
        {.sets = 1, .filter_bytes = 4, .hashes = 2, .blocks = 12}, /* most blocks look like others */
        {.sets = 2, .filter_bytes = 64, .hashes = 4, .blocks = 128},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct outcome o = run_random(&shapes[i], i ? 100000 : 1000000, 4 * shapes[i].blocks);
        assert_int_equal(o.false_misses, 0);
        assert_true(o.hits > 0 && o.misses > 0 && o.false_hits > 0 && o.swaps > 0);
        if (!i)
            print_message("hits %u, misses %u, false hits %u: %.3f of the misses, swaps %u\n", o.hits,
                          o.misses, o.false_hits, o.false_hits / (double)(o.misses + o.false_hits), o.swaps);
    }
}

/* As the controller uses it: requests that are predicted to hit wait in a queue; the set tells later whether
 * the block was there, and one that was not is inserted behind all others. */
static void lookups_that_find_nothing_make_no_swap_early(void **unused)
{
    enum { QUEUE = 8, BLOCKS = 12 };
    const struct morpheus_filter_shape shape = {.sets = 1, .filter_bytes = 16, .hashes = 2, .blocks = BLOCKS};
    struct {
        uint64_t block;
        bool is_insert;
        struct morpheus_filter_mark mark;
    } queue[QUEUE * 64];
    struct morpheus_filter f;
    struct lru real = {.ways = BLOCKS}, ahead = {.ways = BLOCKS};
    struct rng r = {11};
    uint32_t head = 0, tail = 0, found = 0, in_vain = 0, swaps = 0;
    open_filter(&f, &shape);
    for (uint32_t i = 0; i < 200000; i++) {
        const uint64_t block = rng_below(&r, rng_u32(&r) % 3 ? BLOCKS : 4 * BLOCKS);
        /* what the set will hold when all that is queued is served */
        ahead = real;
        for (uint32_t k = head; k < tail; k++)
            if (queue[k].is_insert || lru_find(&ahead, queue[k].block) >= 0) lru_use(&ahead, queue[k].block);
        const bool is_hit = morpheus_filter_query(&f, 0, block);
        if (lru_find(&ahead, block) >= 0) assert_true(is_hit);
        queue[tail].block = block;
        queue[tail].is_insert = !is_hit;
        if (is_hit)
            queue[tail].mark = morpheus_filter_look_up(&f, 0, block);
        else
            swaps += morpheus_filter_enter(&f, 0, block);
        tail++;
        while (tail - head >= QUEUE || (head < tail && rng_u32(&r) % 2)) {
            const uint64_t served = queue[head].block;
            const bool is_there = lru_find(&real, served) >= 0;
            if (queue[head].is_insert) {
                lru_use(&real, served);
            } else if (is_there) {
                lru_use(&real, served);
                swaps += morpheus_filter_found(&f, 0, queue[head].mark);
                found++;
            } else {
                in_vain++;
                queue[tail].block = served;
                queue[tail].is_insert = true;
                tail++;
                swaps += morpheus_filter_enter(&f, 0, served);
            }
            head++;
        }
        if (tail > QUEUE * 60) {
            memmove(queue, queue + head, (tail - head) * sizeof *queue);
            tail -= head;
            head = 0;
        }
    }
    assert_true(found > 1000 && in_vain > 1000 && swaps > 100);
    close_filter(&f);
}

/* Filters so large that no two blocks look alike. */
static void swaps_after_exactly_n_blocks(void **unused)
{
    const struct morpheus_filter_shape shape = {.sets = 2, .filter_bytes = 4096, .hashes = 4, .blocks = 32};
    struct morpheus_filter f;
    open_filter(&f, &shape);
    for (uint64_t round = 0; round < 5; round++)
        for (uint64_t i = 0; i < 32; i++) {
            assert_false(morpheus_filter_enter(&f, 0, round << 32)); /* the first, again and again */
            const bool is_last = i == 31;
            if (i) assert_int_equal(morpheus_filter_enter(&f, 0, round << 32 | i), is_last);
        }
    /* The other set has not been touched. */
    assert_false(morpheus_filter_query(&f, 1, 0));
    close_filter(&f);
}

/* What BF1 knows after the swap: the n blocks before it, and no older one. */
static void a_swap_forgets_what_has_left(void **unused)
{
    const struct morpheus_filter_shape shape = {.sets = 1, .filter_bytes = 4096, .hashes = 4, .blocks = 4};
    struct morpheus_filter f;
    open_filter(&f, &shape);
    for (uint64_t b = 0; b < 4; b++) morpheus_filter_enter(&f, 0, b);
    for (uint64_t b = 10; b < 13; b++) morpheus_filter_enter(&f, 0, b);
    assert_true(morpheus_filter_query(&f, 0, 0)); /* has left, but BF1 is older than that */
    assert_true(morpheus_filter_enter(&f, 0, 13));
    for (uint64_t b = 0; b < 4; b++) assert_false(morpheus_filter_query(&f, 0, b));
    for (uint64_t b = 10; b < 14; b++) assert_true(morpheus_filter_query(&f, 0, b));
    morpheus_filter_clear(&f, 0);
    for (uint64_t b = 10; b < 14; b++) assert_false(morpheus_filter_query(&f, 0, b));
    for (uint64_t b = 20; b < 23; b++) assert_false(morpheus_filter_enter(&f, 0, b));
    assert_true(morpheus_filter_enter(&f, 0, 23));
    close_filter(&f);
}

/* Bloom's formula for BF1 with `in` blocks: (1 - (1 - 1/m)^(k in))^k. */
static double expected_rate(const struct morpheus_filter_shape *s, uint32_t in)
{
    const double m = 8.0 * s->filter_bytes;
    return pow(1 - pow(1 - 1 / m, (double)s->hashes * in), s->hashes);
}

/* The share of blocks that are not there and seem to be, over many filters with `in` blocks each. */
static double measured_rate(const struct morpheus_filter_shape *s, uint32_t in, uint64_t stride)
{
    enum { FILTERS = 400, QUERIES = 1000 };
    struct morpheus_filter f;
    uint32_t found = 0;
    open_filter(&f, s);
    for (uint64_t i = 0; i < FILTERS; i++) {
        const uint64_t base = i << 32;
        morpheus_filter_clear(&f, 0);
        for (uint64_t b = 0; b < in; b++) morpheus_filter_enter(&f, 0, base + b * stride);
        for (uint64_t b = in; b < in + QUERIES; b++) found += morpheus_filter_query(&f, 0, base + b * stride);
    }
    close_filter(&f);
    return found / (double)(FILTERS * QUERIES);
}

static void false_hits_are_as_many_as_blooms_formula_says(void **unused)
{
    const uint64_t strides[] = {1, 128, 2448 * 128};
    for (uint32_t k = 1; k <= 4; k++)
        for (uint32_t in = 16; in <= 64; in *= 2) {
            /* n larger than `in`: no swap */
            const struct morpheus_filter_shape s = {.sets = 1, .filter_bytes = 32, .hashes = k, .blocks = 65};
            const double expected = expected_rate(&s, in);
            for (size_t i = 0; i < 3; i++) {
                const double measured = measured_rate(&s, in, strides[i]);
                if (!i) print_message("k %u, %u blocks: %.4f (formula %.4f)\n", k, in, measured, expected);
                assert_true(fabs(measured - expected) < 0.05 * expected + 0.0005);
            }
        }
}

static void shapes_that_cannot_be_are_refused(void **unused)
{
    const struct morpheus_filter_shape bad[] = {
        {.sets = 0, .filter_bytes = 32, .hashes = 4, .blocks = 32},
        {.sets = 1, .filter_bytes = 0, .hashes = 4, .blocks = 32},
        {.sets = 1, .filter_bytes = 48, .hashes = 4, .blocks = 32},
        {.sets = 1, .filter_bytes = 8192, .hashes = 4, .blocks = 32},
        {.sets = 1, .filter_bytes = 32, .hashes = 0, .blocks = 32},
        {.sets = 1, .filter_bytes = 32, .hashes = 9, .blocks = 32},
        {.sets = 1, .filter_bytes = 4096, .hashes = 5, .blocks = 32}, /* 75 bits of hashes */
        {.sets = 1, .filter_bytes = 32, .hashes = 4, .blocks = 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_non_null(morpheus_filter_refuses(&bad[i]));
    assert_null(morpheus_filter_refuses(&paper));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_accesses_have_no_false_miss),
        cmocka_unit_test(lookups_that_find_nothing_make_no_swap_early),
        cmocka_unit_test(swaps_after_exactly_n_blocks),
        cmocka_unit_test(a_swap_forgets_what_has_left),
        cmocka_unit_test(false_hits_are_as_many_as_blooms_formula_says),
        cmocka_unit_test(shapes_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
