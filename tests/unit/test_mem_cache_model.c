/* test_mem_cache_model.c: the tag array against a plain model of it, which keeps a clock for each line and
 * looks at all of them: all shapes, index functions and replacements, random operations, addresses far apart
 * and of equal short tags. */
#include "mem/cache.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { LINE_BYTES = 128, SECTORS = 4, LINES_MAX = 64 * 40, NUMBERS = 400, STEPS = 6000, DRAW_SEED = 0x5eed };

struct model_line {
    uint64_t number, order;
    uint32_t valid, reserved;
    bool used;
};

struct model {
    /* ways: those in use */
    struct cache_geometry g;
    uint32_t ways_max;
    uint64_t clock;
    struct model_line lines[LINES_MAX];
};

/* ---- the model ---- */

/* The rest of a division of polynomials over GF(2), one bit after the other. */
static uint32_t model_ipoly(uint64_t n, uint32_t sets)
{
    static const uint32_t divisors[] = {[2] = 3, [4] = 7, [16] = 0x13, [64] = 0x43};
    uint32_t rest = 0;
    for (int bit = 63; bit >= 0; bit--) {
        rest = rest << 1 | (uint32_t)(n >> bit & 1);
        if (rest & sets) rest ^= divisors[sets];
    }
    return rest;
}

static uint32_t model_set(const struct model *m, uint64_t n)
{
    uint32_t sets = m->g.sets;
    if (!is_pow2_u64(sets)) return (uint32_t)(n % sets);
    uint64_t turned =
        (n >> 6 & 1) | (n >> 7 & 1) << 1 | (n >> 8 & 1) << 2 | (n >> 10 & 1) << 3 | (n >> 12 & 1) << 4;
    switch ((enum cache_index)m->g.index) {
    case CACHE_INDEX_LINEAR: return (uint32_t)(n % sets);
    case CACHE_INDEX_FERMI_HASH: return (uint32_t)((n ^ turned) % sets);
    case CACHE_INDEX_XOR: return (uint32_t)((n ^ n / sets) % sets);
    case CACHE_INDEX_IPOLY: return sets == 1 ? 0 : model_ipoly(n, sets);
    }
    UNREACHABLE("an index that does not exist");
}

static uint32_t model_mask(const struct model *m, uint32_t sectors)
{
    return m->g.sectored ? sectors & ((1u << SECTORS) - 1) : sectors != 0;
}

static uint32_t model_find(const struct model *m, uint64_t n)
{
    uint32_t first = model_set(m, n) * m->ways_max;
    for (uint32_t i = first; i < first + m->g.ways; i++)
        if (m->lines[i].used && m->lines[i].number == n) return i;
    return CACHE_NO_LINE;
}

static uint32_t model_draw(const struct model *m, uint32_t first, uint32_t candidates)
{
    struct rng draw = {.state = DRAW_SEED + m->clock};
    uint64_t skip = rng_below(&draw, candidates);
    for (uint32_t i = first;; i++)
        if (!m->lines[i].reserved && !skip--) return i;
}

static uint32_t model_victim(const struct model *m, uint64_t n)
{
    uint32_t first = model_set(m, n) * m->ways_max, end = first + m->g.ways, oldest = CACHE_NO_LINE;
    uint32_t candidates = 0;
    for (uint32_t i = first; i < end; i++)
        if (!m->lines[i].used) return i;
    for (uint32_t i = first; i < end; i++) {
        if (m->lines[i].reserved) continue;
        candidates++;
        if (oldest == CACHE_NO_LINE || m->lines[i].order < m->lines[oldest].order) oldest = i;
    }
    if (m->g.replace == CACHE_RANDOM && candidates) return model_draw(m, first, candidates);
    return oldest;
}

static enum cache_outcome model_probe(const struct model *m, uint64_t n, uint32_t sectors)
{
    uint32_t line = model_find(m, n), first = model_set(m, n) * m->ways_max;
    if (line != CACHE_NO_LINE) {
        const struct model_line *l = &m->lines[line];
        uint32_t missing = model_mask(m, sectors) & ~l->valid;
        if (!missing) return CACHE_HIT;
        return missing & ~l->reserved ? CACHE_SECTOR_MISS : CACHE_HIT_RESERVED;
    }
    for (uint32_t i = first; i < first + m->g.ways; i++)
        if (!m->lines[i].reserved) return CACHE_MISS;
    return CACHE_RESERVATION_FAIL;
}

static void model_touch(struct model *m, uint32_t line)
{
    m->clock++;
    if (m->g.replace == CACHE_LRU) m->lines[line].order = m->clock;
}

static void model_reserve(struct model *m, uint32_t line, uint64_t n, uint32_t sectors)
{
    struct model_line *l = &m->lines[line];
    if (!l->used || l->number != n) *l = (struct model_line){.used = true, .number = n, .order = ++m->clock};
    l->reserved |= model_mask(m, sectors) & ~l->valid;
    model_touch(m, line);
}

/* ---- both, side by side ---- */

struct pair {
    struct cache c;
    struct model *m;
    struct rng r;
    uint64_t numbers[NUMBERS];
};

static uint64_t pair_below(struct pair *p, uint64_t limit) { return rng_below(&p->r, limit); }

/* Numbers of lines: side by side, with the same short tag as another, and anywhere. */
static void pair_choose_numbers(struct pair *p, uint64_t base)
{
    for (uint32_t i = 0; i < NUMBERS; i++) {
        uint64_t other = p->numbers[i ? pair_below(p, i) : 0], flip = pair_below(p, 1 << 16);
        switch (pair_below(p, 4)) {
        case 0: p->numbers[i] = rng_u64(&p->r) >> (7 + pair_below(p, 57)); break;
        case 1: p->numbers[i] = other ^ (flip << 16 | flip); break;
        default: p->numbers[i] = base + pair_below(p, NUMBERS); break;
        }
    }
}

static void pair_check_line(const struct pair *p, uint32_t line)
{
    const struct cache_line *l = &p->c.lines[line];
    const struct model_line *want = &p->m->lines[line];
    assert_int_equal(l->used, want->used);
    assert_int_equal(l->valid, want->valid);
    assert_int_equal(l->reserved, want->reserved);
    if (want->used) assert_int_equal(l->addr, want->number * LINE_BYTES);
}

static void pair_check(struct pair *p, uint64_t n, uint32_t sectors)
{
    uint64_t addr = n * LINE_BYTES + pair_below(p, LINE_BYTES);
    uint32_t line, want = model_find(p->m, n);
    enum cache_outcome outcome = model_probe(p->m, n, sectors);
    assert_int_equal(cache_set_of(&p->c, addr), model_set(p->m, n));
    if (pair_below(p, 4) == 0) cache_prefetch(&p->c, p->numbers[pair_below(p, NUMBERS)] * LINE_BYTES);
    assert_int_equal(cache_probe(&p->c, addr, sectors, &line), outcome);
    assert_int_equal(line, want);
    assert_int_equal(cache_look_up(&p->c, addr, sectors, &line),
                     outcome == CACHE_RESERVATION_FAIL ? CACHE_MISS : outcome);
    assert_int_equal(line, want);
    assert_int_equal(cache_victim(&p->c, addr), model_victim(p->m, n));
}

static void pair_fill(struct pair *p, uint32_t line, uint32_t sectors)
{
    struct model_line *l = &p->m->lines[line];
    cache_fill(&p->c, line, sectors);
    l->reserved &= ~model_mask(p->m, sectors);
    l->valid |= model_mask(p->m, sectors);
}

static void pair_set_ways(struct pair *p, uint32_t ways)
{
    p->m->g.ways = ways;
    cache_set_ways(&p->c, ways);
}

/* Ways that go for a while keep what they hold: it is not found, nor replaced. */
static void pair_hide(struct pair *p)
{
    uint32_t ways = p->m->g.ways;
    pair_set_ways(p, 1 + (uint32_t)pair_below(p, ways));
    for (uint32_t i = 0; i < 100; i++) pair_check(p, p->numbers[pair_below(p, NUMBERS)], 1);
    pair_set_ways(p, ways);
}

/* A line leaves with what was to come, or after it came. */
static void pair_let_go(struct pair *p, uint32_t line)
{
    if (pair_below(p, 2))
        pair_fill(p, line, 0xf);
    else
        p->c.lines[line].reserved = 0;
    cache_invalidate(&p->c, line);
    p->m->lines[line] = (struct model_line){0};
}

/* Ways that others may come to are emptied when they go, as their owner would. */
static void pair_resize(struct pair *p)
{
    pair_set_ways(p, 1 + (uint32_t)pair_below(p, p->m->ways_max));
    for (uint32_t i = 0; i < cache_lines(&p->c); i++)
        if (i % p->m->ways_max >= p->m->g.ways && p->m->lines[i].used) pair_let_go(p, i);
}

static void pair_step(struct pair *p)
{
    uint64_t n = p->numbers[pair_below(p, NUMBERS)];
    uint32_t sectors = (uint32_t)pair_below(p, 16), line = model_find(p->m, n);
    pair_check(p, n, sectors);
    if (line == CACHE_NO_LINE) line = model_victim(p->m, n);
    if (line == CACHE_NO_LINE) { /* all are awaited: something comes */
        line = model_set(p->m, n) * p->m->ways_max + (uint32_t)pair_below(p, p->m->g.ways);
        pair_fill(p, line, 0xf);
    } else if (model_find(p->m, n) == CACHE_NO_LINE || pair_below(p, 8) == 0) {
        cache_reserve(&p->c, line, n * LINE_BYTES, sectors);
        model_reserve(p->m, line, n, sectors);
    } else if (p->m->lines[line].reserved) {
        pair_fill(p, line, sectors);
    } else if (pair_below(p, 6)) {
        cache_touch(&p->c, line);
        model_touch(p->m, line);
    } else {
        cache_invalidate(&p->c, line);
        p->m->lines[line] = (struct model_line){0};
    }
    pair_check_line(p, line);
    pair_check(p, n, sectors);
}

static void pair_run(struct pair *p, const struct cache_geometry *g, uint64_t seed)
{
    p->r = (struct rng){.state = seed};
    *p->m = (struct model){.g = *g, .ways_max = g->ways};
    pair_choose_numbers(p, pair_below(p, 2) ? 0x7e9000000000 / LINE_BYTES : 0);
    cache_init(&p->c, g);
    for (uint32_t i = 1; i <= STEPS; i++) {
        pair_step(p);
        if (i % 500 == 0) pair_hide(p);
        if (i % 700 == 0) pair_resize(p);
        if (i != STEPS / 2) continue;
        cache_clear(&p->c);
        p->m->clock = 0;
        memset(p->m->lines, 0, sizeof p->m->lines);
    }
    for (uint32_t i = 0; i < cache_lines(&p->c); i++) pair_check_line(p, i);
    cache_free(&p->c);
}

static void every_shape_does_what_the_plain_model_does(void **state)
{
    static const uint32_t all_sets[] = {1, 2, 3, 4, 16, 48, 64};
    static const uint32_t all_ways[] = {1, 2, 3, 4, 6, 7, 8, 9, 12, 15, 16, 17, 40};
    struct pair p = {.m = mem_zalloc(sizeof *p.m)};
    uint64_t seed = 0;
    for (uint32_t w = 0; w < ARRAY_LEN(all_ways); w++)
        for (uint32_t replace = CACHE_LRU; replace <= CACHE_RANDOM; replace++)
            for (uint32_t s = 0; s < ARRAY_LEN(all_sets); s++) {
                seed++; /* index and sectors go round */
                pair_run(&p,
                         &(struct cache_geometry){.sets = all_sets[s],
                                                  .ways = all_ways[w],
                                                  .line_bytes = LINE_BYTES,
                                                  .sectored = seed / 4 & 1,
                                                  .index = seed & 3,
                                                  .replace = (uint8_t)replace},
                         seed);
            }
    free(p.m);
}

/* Beyond 256 sets, and where upper bits of the line number change with each question. */
static void polynomials_of_every_degree_agree_with_a_division(void **state)
{
    static const uint32_t divisors[] = {0x3,   0x7,   0xb,   0x13,  0x25,   0x43,   0x83,
                                        0x11b, 0x211, 0x409, 0x805, 0x1053, 0x201b, 0x4443};
    struct rng r = {.state = 5};
    for (uint32_t k = 0; k < ARRAY_LEN(divisors); k++) {
        uint32_t bits = k + 1;
        struct cache_geometry g = {
            .sets = 1u << bits, .ways = 1, .line_bytes = LINE_BYTES, .index = CACHE_INDEX_IPOLY};
        struct cache c;
        cache_init(&c, &g);
        for (uint32_t i = 0; i < 4000; i++) {
            uint64_t addr = rng_u64(&r) >> rng_below(&r, 64);
            uint32_t rest = 0, line;
            for (int bit = 63; bit >= 7; bit--) {
                rest = rest << 1 | (uint32_t)(addr >> bit & 1);
                if (rest >> bits) rest ^= divisors[k];
            }
            assert_int_equal(cache_set_of(&c, addr), rest);
            assert_int_equal(cache_look_up(&c, addr, 1, &line), CACHE_MISS);
            assert_int_equal(cache_victim(&c, addr), rest); /* a set has one line */
        }
        cache_free(&c);
    }
}

/* Up to the most sets that a cache can have; the index alone, without the lines. */
static void the_largest_polynomials_agree_with_a_division(void **state)
{
    static const uint32_t divisors[] = {0x8003,    0x1100b,   0x20009,  0x40081,  0x80027,
                                        0x100009,  0x200005,  0x400003, 0x800021, 0x100001b,
                                        0x2000009, 0x400001b, 0x8000027};
    struct rng r = {.state = 6};
    for (uint32_t k = 0; k < ARRAY_LEN(divisors); k++) {
        const uint32_t bits = k + 15;
        struct cache_indexer x;
        cache_indexer_init(&x, CACHE_INDEX_IPOLY, 1u << bits);
        for (uint32_t i = 0; i < 400; i++) {
            const uint64_t n = rng_u64(&r) >> rng_below(&r, 64);
            uint32_t rest = 0, set;
            for (int bit = 63; bit >= 0; bit--) {
                rest = rest << 1 | (uint32_t)(n >> bit & 1);
                if (rest >> bits) rest ^= divisors[k];
            }
            if (!cache_index_of(&x, n, &set)) set = cache_index_rare(&x, n);
            assert_int_equal(set, rest);
        }
        cache_indexer_free(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_does_what_the_plain_model_does),
        cmocka_unit_test(polynomials_of_every_degree_agree_with_a_division),
        cmocka_unit_test(the_largest_polynomials_agree_with_a_division),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
