/* test_mem_hash.c: the hashes that no shipped machine uses, against their definitions: the set of a line by
 * xor, the slice of an address by xor and by polynomial. */
#include "base/rng.h"
#include "mem/addrmap.h"
#include "mem/cache_index.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void the_xor_index_is_two_neighbouring_fields(void **state)
{
    struct rng r = {11};
    for (uint32_t bits = 1; bits <= 12; bits++) {
        struct cache_indexer x;
        cache_indexer_init(&x, CACHE_INDEX_XOR, 1u << bits);
        for (uint32_t i = 0; i < 200; i++) {
            const uint64_t n = rng_u64(&r), low = n % (1u << bits), next = (n >> bits) % (1u << bits);
            uint32_t set;
            assert_true(cache_index_of(&x, n, &set));
            assert_int_equal(set, low ^ next);
        }
        cache_indexer_free(&x);
    }
}

/* ---- slices ---- */

/* Irreducible polynomials of degree 1 to 6, as coefficients: x + 1, x^2 + x + 1, x^3 + x + 1, x^4 + x + 1,
 * x^5 + x^2 + 1, x^6 + x + 1. */
static const uint32_t polynomials[] = {0, 3, 7, 11, 19, 37, 67};

/* v as a polynomial times x^degree, modulo the polynomial: the sum of the remainders of its powers. */
static uint32_t remainder_of(uint64_t v, uint32_t degree)
{
    uint32_t power = 1, sum = 0; /* x^k modulo the polynomial, from k = 0 on */
    for (uint32_t k = 0; k < 64 + degree; k++) {
        if (k >= degree && v >> (k - degree) & 1) sum ^= power;
        power <<= 1;
        if (power >> degree) power ^= polynomials[degree];
    }
    return sum;
}

static uint32_t log2_of(uint32_t v) { return (uint32_t)__builtin_ctz(v); }

/* Channels and slices are powers of two, "dramid@8", and the bank's lowest bit is bit 8 of rest; the
 * others are bits 13 and 14. */
static uint32_t slice_by_definition(uint64_t offset, const struct addrmap_params *p)
{
    static const uint32_t bits[] = {8, 13, 14};
    const uint64_t rest = offset >> 8 >> log2_of(p->channels) << 8;
    const uint32_t channel = (uint32_t)(offset >> 8) % p->channels, degree = log2_of(p->channels * p->slices);
    uint32_t sub = 0, at = 0;
    uint64_t above = 0;
    for (uint32_t i = 0; 1u << i < p->slices; i++) sub |= (uint32_t)(rest >> bits[i] & 1) << i;
    for (uint32_t bit = 8; bit < 64; bit++) {
        bool is_sub = false;
        for (uint32_t i = 0; 1u << i < p->slices; i++) is_sub |= bits[i] == bit;
        if (!is_sub) above |= (rest >> bit & 1) << at++;
    }
    const uint32_t plain = channel * p->slices + sub;
    return plain ^ (p->hash == ADDRMAP_XOR ? (uint32_t)above % (1u << degree) : remainder_of(above, degree));
}

static void check_slices(uint32_t hash, uint32_t channels, uint32_t slices, struct rng *r)
{
    struct addrmap_params p;
    struct diag_list diags = {0};
    param_set_defaults(addrmap_rows, &p);
    p.hash = hash;
    p.channels = channels;
    p.slices = slices;
    struct addrmap *m = addrmap_create(&p, &diags);
    assert_non_null(m);
    for (uint32_t i = 0; i < 300; i++) {
        const uint64_t offset = rng_u64(r) >> (20 + i % 30);
        const struct addr_place at = addrmap_place(m, p.base + offset);
        assert_int_equal(at.slice, slice_by_definition(offset, &p));
        assert_int_equal(at.channel, at.slice / slices);
    }
    addrmap_destroy(m);
    diag_free(&diags);
}

static void slices_are_moved_by_the_bits_above_them(void **state)
{
    struct rng r = {12};
    for (uint32_t channels = 2; channels <= 8; channels *= 2)
        for (uint32_t slices = 1; slices <= 8; slices *= 2) {
            check_slices(ADDRMAP_XOR, channels, slices, &r);
            check_slices(ADDRMAP_IPOLY, channels, slices, &r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_xor_index_is_two_neighbouring_fields),
        cmocka_unit_test(slices_are_moved_by_the_bits_above_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
