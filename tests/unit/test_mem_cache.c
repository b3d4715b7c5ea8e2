/* test_mem_cache.c: tags (index functions, replacement, sectors), MSHRs, and the set of lines seen. */
#include "mem/cache.h"
#include "mem/lineset.h"
#include "mem/mshr.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct cache make(uint32_t sets, uint32_t ways, bool sectored, enum cache_index index,
                         enum cache_replace replace)
{
    struct cache c;
    struct cache_geometry g = {.sets = sets,
                               .ways = ways,
                               .line_bytes = 128,
                               .sectored = sectored,
                               .index = (uint8_t)index,
                               .replace = (uint8_t)replace};
    cache_init(&c, &g);
    return c;
}

static uint32_t set_of(uint32_t sets, enum cache_index index, uint64_t addr)
{
    struct cache c = make(sets, 1, false, index, CACHE_LRU);
    uint32_t set = cache_set_of(&c, addr);
    cache_free(&c);
    return set;
}

static uint64_t bit(uint64_t a, int i) { return a >> i & 1; }

/* ---- index ---- */

static void linear_index_is_the_low_bits_or_the_remainder(void **state)
{
    assert_int_equal(set_of(32, CACHE_INDEX_LINEAR, 128 * 33 + 5), 1);
    assert_int_equal(set_of(1, CACHE_INDEX_LINEAR, 128 * 33), 0);
    assert_int_equal(set_of(48, CACHE_INDEX_LINEAR, 128 * 100), 100 % 48);
    assert_int_equal(set_of(48, CACHE_INDEX_FERMI_HASH, 128 * 100), 100 % 48);
    struct rng r = {.state = 7};
    for (int i = 0; i < 20000; i++) {
        uint32_t sets = 3 + (uint32_t)rng_below(&r, 5000);
        uint64_t addr = rng_u64(&r) >> rng_below(&r, 64);
        if (sets & (sets - 1)) assert_int_equal(set_of(sets, CACHE_INDEX_LINEAR, addr), addr / 128 % sets);
    }
}

static void fermi_hash_is_the_published_one(void **state)
{
    struct rng r = {.state = 1};
    for (int i = 0; i < 1000; i++) {
        uint64_t a = rng_u64(&r);
        uint64_t want = (a >> 7 & 31) ^
                        (bit(a, 19) << 4 | bit(a, 17) << 3 | bit(a, 15) << 2 | bit(a, 14) << 1 | bit(a, 13));
        assert_int_equal(set_of(32, CACHE_INDEX_FERMI_HASH, a), want);
        assert_int_equal(set_of(64, CACHE_INDEX_FERMI_HASH, a), want | bit(a, 12) << 5);
        assert_int_equal(set_of(16, CACHE_INDEX_FERMI_HASH, a), want & 15);
    }
}

static void xor_index_takes_the_next_bits(void **state)
{
    assert_int_equal(set_of(32, CACHE_INDEX_XOR, (3ull | 5 << 5) << 7), 3 ^ 5);
}

/* The equations of the 32-set form for the lower bits, as published (Khairy et al., TPDS'17). */
static void ipoly_index_is_the_remainder_of_the_polynomial(void **state)
{
    struct rng r = {.state = 2};
    for (int i = 0; i < 1000; i++) {
        uint64_t n = rng_u64(&r) & 0xfffff, h = n >> 5; /* 15 bits above the index */
        uint64_t b0 = bit(h, 13) ^ bit(h, 12) ^ bit(h, 11) ^ bit(h, 10) ^ bit(h, 9) ^ bit(h, 6) ^ bit(h, 5) ^
                      bit(h, 3) ^ bit(h, 0) ^ bit(n, 0);
        uint64_t b4 = bit(h, 12) ^ bit(h, 11) ^ bit(h, 10) ^ bit(h, 9) ^ bit(h, 8) ^ bit(h, 5) ^ bit(h, 4) ^
                      bit(h, 2) ^ bit(n, 4);
        uint32_t set = set_of(32, CACHE_INDEX_IPOLY, n << 7);
        assert_int_equal(set & 1, b0);
        assert_int_equal(set >> 4, b4);
    }
}

static void ipoly_spreads_every_power_of_two_stride_over_all_sets(void **state)
{
    static const uint32_t sizes[] = {16, 32, 64, 1024};
    for (uint32_t s = 0; s < ARRAY_LEN(sizes); s++) {
        struct cache c = make(sizes[s], 1, false, CACHE_INDEX_IPOLY, CACHE_LRU);
        for (int stride = 7; stride < 30; stride++) {
            uint64_t hit[1024 / 64] = {0};
            uint32_t distinct = 0;
            for (uint64_t i = 0; i < sizes[s]; i++) {
                uint32_t set = cache_set_of(&c, i << stride);
                assert_true(set < sizes[s]);
                distinct += !(hit[set / 64] >> set % 64 & 1);
                hit[set / 64] |= 1ull << set % 64;
            }
            assert_int_equal(distinct, sizes[s]);
        }
        cache_free(&c);
    }
}

/* ---- lines ---- */

static void put(struct cache *c, uint64_t addr)
{
    uint32_t v = cache_victim(c, addr);
    assert_int_not_equal(v, CACHE_NO_LINE);
    cache_reserve(c, v, addr, 0xf);
    cache_fill(c, v, 0xf);
}

static void a_line_is_missing_then_pending_then_there(void **state)
{
    struct cache c = make(4, 2, false, CACHE_INDEX_LINEAR, CACHE_LRU);
    uint32_t line;
    assert_int_equal(cache_probe(&c, 0x1000, 1, &line), CACHE_MISS);
    assert_int_equal(line, CACHE_NO_LINE);
    uint32_t v = cache_victim(&c, 0x1000);
    cache_reserve(&c, v, 0x1010, 2);
    assert_int_equal(cache_probe(&c, 0x1000, 8, &line), CACHE_HIT_RESERVED);
    assert_int_equal(line, v);
    cache_fill(&c, v, 0xf);
    assert_int_equal(cache_probe(&c, 0x1040, 1, &line), CACHE_HIT);
    cache_invalidate(&c, v);
    assert_int_equal(cache_probe(&c, 0x1000, 1, &line), CACHE_MISS);
    cache_free(&c);
}

static void sectors_are_valid_one_by_one(void **state)
{
    struct cache c = make(4, 2, true, CACHE_INDEX_LINEAR, CACHE_LRU);
    uint32_t line;
    uint32_t v = cache_victim(&c, 0);
    cache_reserve(&c, v, 0, 3);
    cache_fill(&c, v, 1);
    assert_int_equal(cache_probe(&c, 0, 1, &line), CACHE_HIT);
    assert_int_equal(cache_probe(&c, 0, 3, &line), CACHE_HIT_RESERVED);
    assert_int_equal(cache_probe(&c, 0, 4, &line), CACHE_SECTOR_MISS);
    assert_int_equal(cache_probe(&c, 0, 7, &line), CACHE_SECTOR_MISS);
    cache_reserve(&c, v, 0, 7); /* keeps sector 0 */
    assert_int_equal(c.lines[v].valid, 1);
    assert_int_equal(c.lines[v].reserved, 6);
    cache_fill(&c, v, 6);
    assert_int_equal(cache_probe(&c, 0, 7, &line), CACHE_HIT);
    cache_free(&c);
}

static void reserved_lines_are_never_victims(void **state)
{
    struct cache c = make(1, 2, false, CACHE_INDEX_LINEAR, CACHE_LRU);
    uint32_t line, a = cache_victim(&c, 0);
    cache_reserve(&c, a, 0, 1);
    uint32_t b = cache_victim(&c, 128);
    assert_int_not_equal(a, b);
    cache_reserve(&c, b, 128, 1);
    assert_int_equal(cache_victim(&c, 256), CACHE_NO_LINE);
    assert_int_equal(cache_probe(&c, 256, 1, &line), CACHE_RESERVATION_FAIL);
    cache_fill(&c, a, 1);
    assert_int_equal(cache_victim(&c, 256), a);
    assert_int_equal(cache_probe(&c, 256, 1, &line), CACHE_MISS);
    cache_free(&c);
}

static void lru_replaces_the_least_used_and_fifo_the_oldest(void **state)
{
    for (int fifo = 0; fifo < 2; fifo++) {
        struct cache c = make(1, 3, false, CACHE_INDEX_LINEAR, fifo ? CACHE_FIFO : CACHE_LRU);
        uint32_t line;
        for (uint64_t i = 0; i < 3; i++) put(&c, i * 128);
        cache_probe(&c, 0, 1, &line);
        cache_touch(&c, line);
        assert_int_equal(c.lines[cache_victim(&c, 999 * 128)].addr, fifo ? 0 : 128);
        cache_free(&c);
    }
}

static void random_draws_repeat_until_the_cache_changes(void **state)
{
    struct cache c = make(1, 8, false, CACHE_INDEX_LINEAR, CACHE_RANDOM);
    uint32_t drawn = 0;
    for (uint64_t i = 0; i < 8; i++) put(&c, i * 128);
    for (uint64_t i = 8; i < 200; i++) {
        uint32_t v = cache_victim(&c, i * 128);
        assert_int_equal(cache_victim(&c, i * 128), v);
        drawn |= 1u << v;
        put(&c, i * 128);
    }
    assert_int_equal(drawn, 0xff);
    cache_free(&c);
}

/* The rules, in plain words, over a list of lines: what any number of ways must agree with. */
struct plain_line {
    uint64_t addr, last_use, taken;
    bool used, awaited;
};

static uint32_t plain_find(const struct plain_line *set, uint32_t ways, uint64_t addr)
{
    for (uint32_t i = 0; i < ways; i++)
        if (set[i].used && set[i].addr == addr) return i;
    return CACHE_NO_LINE;
}

static uint32_t plain_victim(const struct plain_line *set, uint32_t ways, bool fifo)
{
    uint32_t best = CACHE_NO_LINE;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < ways; i++)
        if (!set[i].used) return i;
    for (uint32_t i = 0; i < ways; i++) {
        uint64_t order = fifo ? set[i].taken : set[i].last_use;
        if (!set[i].awaited && order < least) least = order, best = i;
    }
    return best;
}

static void any_number_of_ways_finds_and_replaces_as_a_plain_list_does(void **state)
{
    enum { SETS = 3, WAYS_MAX = 100, STEPS = 20000 };
    static const uint32_t all_ways[] = {1, 3, 8, 16, 17, 64, WAYS_MAX};
    for (uint32_t k = 0; k < 2 * ARRAY_LEN(all_ways); k++) {
        bool fifo = k & 1;
        uint32_t most = all_ways[k / 2], ways = most, line;
        struct cache c = make(SETS, most, false, CACHE_INDEX_LINEAR, fifo ? CACHE_FIFO : CACHE_LRU);
        struct plain_line plain[SETS][WAYS_MAX] = {0};
        struct rng r = {.state = k};
        for (uint64_t now = 1; now < STEPS; now++) {
            uint64_t number = rng_below(&r, 2 * SETS * most);
            uint32_t set = (uint32_t)(number % SETS), at = plain_find(plain[set], ways, number * 128);
            uint32_t want = at == CACHE_NO_LINE ? CACHE_NO_LINE : set * most + at;
            cache_probe(&c, number * 128, 1, &line);
            assert_int_equal(line, want);
            uint32_t victim = plain_victim(plain[set], ways, fifo);
            assert_int_equal(cache_victim(&c, number * 128),
                             victim == CACHE_NO_LINE ? CACHE_NO_LINE : set * most + victim);
            struct plain_line *l = &plain[set][at == CACHE_NO_LINE ? 0 : at];
            if (at == CACHE_NO_LINE && victim != CACHE_NO_LINE) {
                cache_reserve(&c, set * most + victim, number * 128, 1);
                plain[set][victim] = (struct plain_line){number * 128, now, now, true, true};
            } else if (at != CACHE_NO_LINE && l->awaited) {
                cache_fill(&c, line, 1);
                l->awaited = false;
            } else if (at != CACHE_NO_LINE && rng_below(&r, 4)) {
                cache_touch(&c, line);
                l->last_use = now;
            } else if (at != CACHE_NO_LINE) {
                cache_invalidate(&c, line);
                l->used = false;
            }
            if (now % 1000) continue;
            ways = 1 + (uint32_t)rng_below(&r, most); /* what lies beyond is emptied, as the owner would */
            for (uint32_t i = 0; i < SETS * most; i++) {
                struct plain_line *gone = &plain[i / most][i % most];
                if (i % most < ways || !gone->used) continue;
                if (gone->awaited) cache_fill(&c, i, 1);
                cache_invalidate(&c, i);
                *gone = (struct plain_line){0};
            }
            cache_set_ways(&c, ways);
        }
        cache_free(&c);
    }
}

/* The numbers have one short tag, and differ in each part of a number: bits 0 to 15, 16 to 47, above. */
static void lines_with_one_tag_are_told_apart(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {0,          0x10001,    0x20002,        1ull << 32,
                                       1ull << 47, 1ull << 48, 0x1000000010001};
    for (uint32_t ways = 8; ways <= 16; ways += 8) {
        struct cache c = make(1, ways, false, CACHE_INDEX_LINEAR, CACHE_LRU);
        uint32_t line;
        for (uint32_t i = 0; i < ARRAY_LEN(numbers); i++) {
            assert_int_equal(cache_look_up(&c, numbers[i] * 128, 1, &line), CACHE_MISS);
            put(&c, numbers[i] * 128);
        }
        for (uint32_t i = 0; i < ARRAY_LEN(numbers); i++) {
            assert_int_equal(cache_look_up(&c, numbers[i] * 128, 1, &line), CACHE_HIT);
            assert_int_equal(c.lines[line].addr, numbers[i] * 128);
        }
        assert_int_equal(cache_look_up(&c, 0x30003ull * 128, 1, &line), CACHE_MISS);
        cache_free(&c);
    }
}

/* What a hit needs is kept beside the tags, once all sectors are there. */
static void a_way_that_was_whole_is_not_when_it_has_another_line(void **state)
{
    (void)state;
    struct cache c = make(1, 1, true, CACHE_INDEX_LINEAR, CACHE_LRU);
    uint32_t line;
    cache_reserve(&c, 0, 0, 15);
    cache_fill(&c, 0, 7);
    assert_int_equal(cache_look_up(&c, 0, 8, &line), CACHE_HIT_RESERVED);
    cache_fill(&c, 0, 8);
    assert_int_equal(cache_look_up(&c, 0, 15, &line), CACHE_HIT);
    cache_reserve(&c, 0, 128, 1);
    assert_int_equal(cache_look_up(&c, 0, 1, &line), CACHE_MISS);
    assert_int_equal(cache_look_up(&c, 128, 1, &line), CACHE_HIT_RESERVED);
    assert_int_equal(cache_look_up(&c, 128, 2, &line), CACHE_SECTOR_MISS);
    cache_fill(&c, 0, 1);
    assert_int_equal(cache_look_up(&c, 128, 3, &line), CACHE_SECTOR_MISS);
    cache_invalidate(&c, 0);
    assert_int_equal(cache_look_up(&c, 128, 1, &line), CACHE_MISS);
    cache_free(&c);
}

static void a_line_beyond_the_ways_in_use_is_not_found(void **state)
{
    static const uint32_t all_ways[] = {3, 6, 16, 40};
    for (uint32_t k = 0; k < ARRAY_LEN(all_ways); k++) {
        uint32_t ways = all_ways[k], line;
        struct cache c = make(2, ways, false, CACHE_INDEX_LINEAR, CACHE_LRU);
        for (uint64_t n = 0; n < 2 * ways; n++) { /* line n lies in way n / 2 */
            cache_reserve(&c, cache_victim(&c, n * 128), n * 128, 1);
            assert_int_equal(cache_look_up(&c, n * 128, 1, &line), CACHE_HIT_RESERVED);
            assert_int_equal(line, n % 2 * ways + n / 2);
            cache_fill(&c, line, 1);
        }
        cache_set_ways(&c, ways - 1);
        for (uint64_t n = 0; n < 2 * ways; n++)
            assert_int_equal(cache_look_up(&c, n * 128, 1, &line), n / 2 < ways - 1 ? CACHE_HIT : CACHE_MISS);
        cache_set_ways(&c, ways);
        assert_int_equal(cache_look_up(&c, 2 * (ways - 1) * 128, 1, &line), CACHE_HIT);
        cache_free(&c);
    }
}

/* ---- MSHRs ---- */

static void mshrs_are_found_merged_and_given_back(void **state)
{
    struct mshr m;
    mshr_init(&m, 2, 2);
    assert_int_equal(mshr_find(&m, 0x80), MSHR_NONE);
    uint32_t a = mshr_take(&m, 0x80, 1), b = mshr_take(&m, 0x100, 1);
    assert_false(mshr_has_room(&m));
    assert_int_equal(mshr_find(&m, 0x80), a);
    assert_int_equal(mshr_find(&m, 0x100), b);
    m.entries[a].merged = 1;
    assert_true(mshr_can_merge(&m, a));
    m.entries[a].merged = 2;
    assert_false(mshr_can_merge(&m, a));
    mshr_release(&m, a);
    assert_true(mshr_has_room(&m));
    assert_int_equal(mshr_find(&m, 0x80), MSHR_NONE);
    assert_int_equal(mshr_find(&m, 0x100), b);
    assert_int_equal(m.used_max, 2);
    mshr_free(&m);
}

static void an_mshr_is_found_while_it_is_listed(void **state)
{
    struct mshr m;
    mshr_init(&m, 2, 1);
    uint32_t a = mshr_take_unlisted(&m, 0x80, 1), b = mshr_take_unlisted(&m, 0x100, 1);
    assert_false(mshr_has_room(&m));
    assert_int_equal(mshr_find(&m, 0x80), MSHR_NONE);
    mshr_list(&m, a);
    assert_int_equal(mshr_find(&m, 0x80), a);
    mshr_unlist(&m, a);
    assert_int_equal(mshr_find(&m, 0x80), MSHR_NONE);
    mshr_list(&m, a);
    mshr_release(&m, a);
    mshr_release(&m, b);
    assert_int_equal(m.used, 0);
    assert_int_equal(mshr_find(&m, 0x80), MSHR_NONE);
    mshr_free(&m);
}

static void mshrs_agree_with_a_plain_list_over_random_use(void **state)
{
    enum { ENTRIES = 37, ADDRS = 200 };
    struct mshr m;
    uint32_t held[ADDRS], used = 0;
    struct rng r = {.state = 3};
    mshr_init(&m, ENTRIES, 1);
    for (int i = 0; i < ADDRS; i++) held[i] = MSHR_NONE;
    for (int i = 0; i < 50000; i++) {
        uint32_t n = (uint32_t)rng_below(&r, ADDRS);
        assert_int_equal(mshr_find(&m, n * 128ull), held[n]);
        if (held[n] != MSHR_NONE) {
            mshr_release(&m, held[n]);
            held[n] = MSHR_NONE;
            used--;
        } else if (used < ENTRIES) {
            held[n] = mshr_take(&m, n * 128ull, 1);
            used++;
        }
        assert_int_equal(m.used, used);
        assert_int_equal(mshr_has_room(&m), used < ENTRIES);
    }
    mshr_free(&m);
}

/* ---- lines seen ---- */

static void a_line_is_new_once_until_the_set_is_emptied(void **state)
{
    struct lineset s;
    lineset_init(&s, 4); /* grows many times */
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 100000; i++) assert_true(lineset_add(&s, i * 7));
        for (uint64_t i = 0; i < 100000; i++) assert_false(lineset_add(&s, i * 7));
        assert_true(lineset_add(&s, 1));
        lineset_clear(&s);
    }
    for (int round = 0; round < 1000; round++) { /* epochs go round */
        assert_true(lineset_add(&s, 448) && lineset_add(&s, 447) && lineset_add(&s, UINT64_MAX >> 7));
        assert_false(lineset_add(&s, 448) || lineset_add(&s, 447) || lineset_add(&s, UINT64_MAX >> 7));
        lineset_clear(&s);
    }
    lineset_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_index_is_the_low_bits_or_the_remainder),
        cmocka_unit_test(fermi_hash_is_the_published_one),
        cmocka_unit_test(xor_index_takes_the_next_bits),
        cmocka_unit_test(ipoly_index_is_the_remainder_of_the_polynomial),
        cmocka_unit_test(ipoly_spreads_every_power_of_two_stride_over_all_sets),
        cmocka_unit_test(a_line_is_missing_then_pending_then_there),
        cmocka_unit_test(sectors_are_valid_one_by_one),
        cmocka_unit_test(reserved_lines_are_never_victims),
        cmocka_unit_test(lru_replaces_the_least_used_and_fifo_the_oldest),
        cmocka_unit_test(random_draws_repeat_until_the_cache_changes),
        cmocka_unit_test(any_number_of_ways_finds_and_replaces_as_a_plain_list_does),
        cmocka_unit_test(lines_with_one_tag_are_told_apart),
        cmocka_unit_test(a_way_that_was_whole_is_not_when_it_has_another_line),
        cmocka_unit_test(a_line_beyond_the_ways_in_use_is_not_found),
        cmocka_unit_test(mshrs_are_found_merged_and_given_back),
        cmocka_unit_test(an_mshr_is_found_while_it_is_listed),
        cmocka_unit_test(mshrs_agree_with_a_plain_list_over_random_use),
        cmocka_unit_test(a_line_is_new_once_until_the_set_is_emptied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
