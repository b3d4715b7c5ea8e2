/* test_base_hugepage.c: memory for the state of machines: lines, zeros, whole chunks that go back. */
#include "base/hugepage.h"
#include "base/rng.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* FITS: beside the header; HALF: twice in a chunk, wherever its blocks begin */
enum {
    CHUNK = HUGE_CHUNK_BYTES,
    FITS = CHUNK - HOST_LINE,
    HALF = (HUGE_CHUNK_BYTES - HUGE_SPREAD_BYTES) / 2
};

static bool all_are(const unsigned char *p, size_t bytes, unsigned char value)
{
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != value) return false;
    return true;
}

static void blocks_are_clear_lines_of_their_own(void **state)
{
    static const size_t sizes[] = {0,        1,      63,       64,    65,        4096,      100000,
                                   FITS - 1, FITS,   FITS + 1, CHUNK, CHUNK + 1, 3 * CHUNK, 5 * CHUNK - 64,
                                   7,        1 << 20};
    unsigned char *blocks[2 * ARRAY_LEN(sizes)];
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
        size_t bytes = sizes[i % ARRAY_LEN(sizes)];
        blocks[i] = mem_zalloc_huge(bytes);
        assert_int_equal((uintptr_t)blocks[i] % HOST_LINE, 0);
        assert_true(all_are(blocks[i], bytes, 0));
        memset(blocks[i], (int)i + 1, bytes);
    }
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++) /* no block was given twice */
        assert_true(all_are(blocks[i], sizes[i % ARRAY_LEN(sizes)], (unsigned char)(i + 1)));
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++) mem_free_huge(blocks[i]);
    mem_free_huge(NULL);
    assert_int_equal(mem_huge_bytes(), 0);
}

static void a_chunk_goes_back_with_its_last_block(void **state)
{
    if (HUGE_IS_HEAP) skip();
    void *a = mem_zalloc_huge(100), *b = mem_zalloc_huge(HALF - 128), *b2 = mem_zalloc_huge(HALF);
    assert_int_equal(mem_huge_bytes(), CHUNK);
    assert_ptr_equal(b, (char *)a + 128);
    assert_ptr_equal(b2, (char *)b + HALF - 128);
    void *c = mem_zalloc_huge(HUGE_SPREAD_BYTES); /* more than can be left */
    assert_int_equal(mem_huge_bytes(), 2 * CHUNK);
    mem_free_huge(a);
    mem_free_huge(b2);
    assert_int_equal(mem_huge_bytes(), 2 * CHUNK);
    mem_free_huge(b);
    assert_int_equal(mem_huge_bytes(), CHUNK);
    mem_free_huge(c); /* that of the chunk where the next one would have gone */
    assert_int_equal(mem_huge_bytes(), 0);
    c = mem_zalloc_huge(64);
    assert_true(all_are(c, 64, 0));
    assert_int_equal(mem_huge_bytes(), CHUNK);
    mem_free_huge(c);
}

static void a_large_block_leaves_the_open_chunk_open(void **state)
{
    if (HUGE_IS_HEAP) skip();
    char *a = mem_zalloc_huge(64), *large = mem_zalloc_huge(2 * CHUNK), *b = mem_zalloc_huge(64);
    assert_int_equal((uintptr_t)large % CHUNK, 0);
    assert_int_equal(mem_huge_bytes(), 4 * CHUNK); /* the large one has another one for its header */
    assert_ptr_equal(b, a + 64);
    char *half = mem_zalloc_huge(HALF + 1); /* no two of these fit into a chunk */
    assert_int_equal((uintptr_t)half % CHUNK, 0);
    assert_int_equal(mem_huge_bytes(), 6 * CHUNK);
    mem_free_huge(half);
    mem_free_huge(large);
    assert_int_equal(mem_huge_bytes(), CHUNK);
    mem_free_huge(a);
    mem_free_huge(b);
    assert_int_equal(mem_huge_bytes(), 0);
}

static void chunks_begin_in_different_sets_of_a_cache(void **state)
{
    enum { CHUNKS = 24 };
    if (HUGE_IS_HEAP) skip();
    void *blocks[2 * CHUNKS];
    uintptr_t begins[CHUNKS];
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++) blocks[i] = mem_zalloc_huge(HALF);
    for (size_t i = 0; i < CHUNKS; i++) {
        begins[i] = (uintptr_t)blocks[2 * i] % CHUNK;
        assert_ptr_equal(blocks[2 * i + 1], (char *)blocks[2 * i] + HALF);
        assert_true(begins[i] >= HOST_LINE && begins[i] <= HUGE_SPREAD_BYTES);
        for (size_t k = 0; k < i; k++) /* further apart than a few hot lines */
            assert_true(begins[i] >= begins[k] + 16 * HOST_LINE || begins[k] >= begins[i] + 16 * HOST_LINE);
    }
    assert_int_equal(mem_huge_bytes(), CHUNKS * CHUNK);
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++) mem_free_huge(blocks[i]);
    assert_int_equal(mem_huge_bytes(), 0);
}

/* Makes and frees blocks in any order; each keeps its number in all of its words. */
static void *come_and_go(void *seed)
{
    enum { BLOCKS = 64, TURNS = 4000 };
    struct rng rng = {.state = (uintptr_t)seed};
    uint64_t *blocks[BLOCKS] = {0};
    size_t words[BLOCKS] = {0};
    void *bad = NULL;
    for (uint64_t turn = 0; turn < TURNS + BLOCKS; turn++) {
        size_t i = turn < TURNS ? rng_below(&rng, BLOCKS) : turn - TURNS;
        for (size_t w = 0; blocks[i] && w < words[i]; w++)
            if (blocks[i][w] != (uintptr_t)seed + i) bad = seed;
        mem_free_huge(blocks[i]);
        blocks[i] = NULL;
        if (turn >= TURNS) continue;
        words[i] = 1 + rng_below(&rng, turn % 100 ? 500 : 300000);
        blocks[i] = mem_zalloc_huge(words[i] * sizeof *blocks[i]);
        for (size_t w = 0; w < words[i]; w++) {
            if (blocks[i][w]) bad = seed;
            blocks[i][w] = (uintptr_t)seed + i;
        }
    }
    return bad;
}

static void threads_share_it(void **state)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, (void *)(1000 * (i + 1))), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
    assert_int_equal(mem_huge_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_clear_lines_of_their_own),
        cmocka_unit_test(a_chunk_goes_back_with_its_last_block),
        cmocka_unit_test(a_large_block_leaves_the_open_chunk_open),
        cmocka_unit_test(chunks_begin_in_different_sets_of_a_cache),
        cmocka_unit_test(threads_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
