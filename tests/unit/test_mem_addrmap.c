/* test_mem_addrmap.c: the address map: examples worked out by hand, no two addresses in one location, wrong
 * masks diagnosed. */
#include "mem/addrmap.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct addrmap_params defaults(void)
{
    struct addrmap_params p;
    param_set_defaults(addrmap_rows, &p);
    return p;
}

static struct addrmap *make(const struct addrmap_params *p)
{
    struct diag_list diags = {0};
    struct addrmap *m = addrmap_create(p, &diags);
    struct strbuf text = {0};
    diag_render(&diags, &text);
    if (!m) fail_msg("%s", strbuf_text(&text));
    strbuf_free(&text);
    diag_free(&diags);
    return m;
}

static void device_memory_starts_in_slice_0_row_0(void **state)
{
    struct addrmap_params p = defaults();
    struct addrmap *m = make(&p);
    struct addr_place at = addrmap_place(m, 0x7e9000000000ull);
    assert_int_equal(at.channel, 0);
    assert_int_equal(at.slice, 0);
    assert_int_equal(at.bank, 0);
    assert_int_equal(at.row, 0);
    assert_int_equal(at.column, 0);
    assert_int_equal(addrmap_channels(m), 6);
    assert_int_equal(addrmap_slices(m), 12);
    addrmap_destroy(m);
}

static void blocks_of_256_bytes_go_round_the_channels(void **state)
{
    struct addrmap_params p = defaults();
    struct addrmap *m = make(&p);
    for (uint32_t i = 0; i < 30; i++) {
        assert_int_equal(addrmap_place(m, p.base + 256ull * i).channel, i % 6);
        assert_int_equal(addrmap_place(m, p.base + 256ull * i + 255).channel, i % 6);
    }
    addrmap_destroy(m);
}

/* rest = 0x0A5B9D47 = 0000.1010 0101.1011 1001.1101 0100.0111 under 0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS:
 * row 1010.0101.1011 = 0xA5B; bank bits 15,14,13 = 100 and bit 8 = 1: 1001 = 9; column bits 12..9 =
 * 1110, 7..6 = 01: 111001 = 57. */
static void fermi_example_by_hand(void **state)
{
    struct addrmap_params p = defaults();
    struct addrmap *m = make(&p);
    uint64_t rest = 0x0A5B9D47, block = (rest >> 8) * 6 + 4;
    struct addr_place at = addrmap_place(m, p.base + (block << 8 | (rest & 255)));
    assert_int_equal(at.channel, 4);
    assert_int_equal(at.chip_addr, rest);
    assert_int_equal(at.row, 0xA5B);
    assert_int_equal(at.bank, 9);
    assert_int_equal(at.column, 57);
    assert_int_equal(at.slice, 4 * 2 + 1);
    /* bit 8 names the slice: 0x0A5B9D47 without it is 0x0A5B9C >> 1 in place of the upper 24 bits */
    assert_int_equal(at.slice_addr, (rest >> 9) << 8 | 0x47);
    addrmap_destroy(m);
}

/* Four slices a channel take the two lowest bank bits: 8 and 13 in this mask. */
static void two_bank_bits_choose_one_of_four_slices(void **state)
{
    struct addrmap_params p = defaults();
    p.slices = 4;
    struct addrmap *m = make(&p);
    assert_int_equal(addrmap_place(m, p.base + 6 * 256).slice, 1);
    assert_int_equal(addrmap_place(m, p.base + 6 * 8192ull).slice, 2);
    assert_int_equal(addrmap_place(m, p.base + 6 * 8192ull + 6 * 256).slice, 3);
    assert_int_equal(addrmap_place(m, p.base + 6 * 16384ull).slice, 0);
    assert_int_equal(addrmap_place(m, p.base + 6 * 16384ull).bank, 4);
    addrmap_destroy(m);
}

static void bank_bit_below_the_interleave(void **state)
{
    struct addrmap_params p = defaults();
    p.channels = 20;
    snprintf(p.mask, sizeof p.mask, "dramid@8;0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS");
    struct addrmap *m = make(&p);
    assert_int_equal(addrmap_place(m, p.base).slice, 0);
    assert_int_equal(addrmap_place(m, p.base + 128).slice, 1);
    assert_int_equal(addrmap_place(m, p.base + 256).slice, 2);
    assert_int_equal(addrmap_place(m, p.base + 20 * 256).column, 4); /* bit 8 is the third C from the right */
    addrmap_destroy(m);
}

static void addresses_below_the_base_have_a_place(void **state)
{
    struct addrmap_params p = defaults();
    struct addrmap *m = make(&p);
    assert_int_equal(addrmap_place(m, 256 * 3).channel, 3);
    addrmap_destroy(m);
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void check_no_two_share(const struct addrmap_params *p)
{
    enum { LINES = 1 << 15 };
    struct addrmap *m = make(p);
    uint64_t *by_slice = mem_alloc(sizeof *by_slice * LINES), *by_chip = mem_alloc(sizeof *by_chip * LINES);
    uint32_t load[4096] = {0};
    for (uint32_t i = 0; i < LINES; i++) {
        struct addr_place at = addrmap_place(m, p->base + 128ull * i);
        assert_true(at.slice < addrmap_slices(m));
        assert_int_equal(at.slice / p->slices, at.channel);
        by_slice[i] = (uint64_t)at.slice << 48 | at.slice_addr;
        by_chip[i] = (uint64_t)at.channel << 48 | at.chip_addr;
        load[at.slice]++;
    }
    qsort(by_slice, LINES, sizeof *by_slice, compare_u64);
    qsort(by_chip, LINES, sizeof *by_chip, compare_u64);
    for (uint32_t i = 1; i < LINES; i++) {
        assert_true(by_slice[i] != by_slice[i - 1]);
        assert_true(by_chip[i] != by_chip[i - 1]);
    }
    for (uint32_t s = 0; s < addrmap_slices(m); s++)
        assert_in_range(load[s], LINES / addrmap_slices(m) * 7 / 10, LINES / addrmap_slices(m) * 13 / 10);
    free(by_slice);
    free(by_chip);
    addrmap_destroy(m);
}

static void no_two_lines_share_a_place_whatever_the_hash(void **state)
{
    struct addrmap_params p = defaults();
    for (uint32_t slices = 1; slices <= 8; slices *= 2) {
        p.slices = slices;
        p.channels = 6;
        p.hash = ADDRMAP_PLAIN;
        check_no_two_share(&p);
        p.hash = ADDRMAP_ROTATE;
        check_no_two_share(&p);
        p.channels = 8;
        p.hash = ADDRMAP_XOR;
        check_no_two_share(&p);
        p.hash = ADDRMAP_IPOLY;
        check_no_two_share(&p);
    }
}

/* Without the slice's bits, which are bits 8, 13 and 14 of rest in this order: bit by bit. */
static uint64_t without_slice(uint64_t rest, uint32_t slices, uint32_t *sub)
{
    static const uint32_t bits[] = {8, 13, 14};
    uint64_t taken = 0, out = 0;
    *sub = 0;
    for (uint32_t i = 0; 1u << i < slices; i++) {
        taken |= 1ull << bits[i];
        *sub |= (uint32_t)(rest >> bits[i] & 1) << i;
    }
    for (uint32_t bit = 0, to = 0; bit < 64; bit++)
        if (!(taken >> bit & 1)) out |= (rest >> bit & 1) << to++;
    return out;
}

static void routes_and_places_agree_with_the_map_bit_by_bit(void **state)
{
    static const uint32_t channels[] = {1, 5, 6, 8, 10};
    struct rng rng = {7};
    for (uint32_t i = 0; i < 20 * ARRAY_LEN(channels); i++) {
        struct addrmap_params p = defaults();
        p.channels = channels[i % ARRAY_LEN(channels)];
        p.slices = 1u << i / ARRAY_LEN(channels) % 4;
        struct addrmap *m = make(&p);
        for (uint32_t n = 0; n < 50; n++) {
            uint64_t offset = rng_u64(&rng) >> (n % 40 + 20), block = offset >> 8;
            uint32_t sub, channel = (uint32_t)(block % p.channels);
            uint64_t local = without_slice(block / p.channels << 8 | (offset & 255), p.slices, &sub),
                     addr = p.base + offset;
            uint16_t slice, to_channel;
            assert_int_equal(addrmap_route(m, addr, &slice, &to_channel), local);
            assert_int_equal(slice, channel * p.slices + sub);
            assert_int_equal(to_channel, channel);
            assert_int_equal(addrmap_slice_addr(m, addr), local);
            struct addr_place at = addrmap_place(m, addr);
            assert_int_equal(at.slice_addr, local);
            assert_int_equal(at.slice, slice);
            assert_int_equal(at.channel, channel);
        }
        addrmap_destroy(m);
    }
}

/* A stride of channels * slices * 2^k blocks that hits one slice without a hash is spread by each of them. */
static void hashes_spread_a_stride_that_hits_one_slice(void **state)
{
    static const uint32_t hashes[] = {ADDRMAP_PLAIN, ADDRMAP_XOR, ADDRMAP_IPOLY, ADDRMAP_ROTATE};
    for (uint32_t h = 0; h < ARRAY_LEN(hashes); h++) {
        struct addrmap_params p = defaults();
        p.channels = 8;
        p.hash = hashes[h];
        struct addrmap *m = make(&p);
        uint64_t seen = 0;
        for (uint32_t i = 0; i < 64; i++) seen |= 1ull << addrmap_place(m, p.base + 4096ull * i).slice;
        assert_in_range(__builtin_popcountll(seen), h ? 8 : 1, h ? 16 : 1);
        addrmap_destroy(m);
    }
}

static void check_wrong(const char *mask, uint32_t slices, uint32_t hash, const char *says)
{
    struct addrmap_params p = defaults();
    struct diag_list diags = {0};
    struct strbuf text = {0};
    snprintf(p.mask, sizeof p.mask, "%s", mask);
    p.slices = slices;
    p.hash = hash;
    assert_null(addrmap_create(&p, &diags));
    assert_int_equal(diags.errors, 1);
    diag_render(&diags, &text);
    if (!strstr(strbuf_text(&text), says)) fail_msg("'%s' is not said:\n%s", says, strbuf_text(&text));
    strbuf_free(&text);
    diag_free(&diags);
}

static void wrong_masks_are_diagnosed(void **state)
{
    check_wrong("RRRRBBBBCCCCSSSSS", 2, 0, "must begin with dramid@BIT;");
    check_wrong("dramid@x;RRRRBBBBCCCCSSSSS", 2, 0, "a number from 5 to 32");
    check_wrong("dramid@40;RRRRBBBBCCCCSSSSS", 2, 0, "a number from 5 to 32");
    check_wrong("dramid@8", 2, 0, "followed by ';'");
    check_wrong("dramid@8;RRRRBBBBDDCCCCSSSSS", 2, 0, "letters are R (row)");
    check_wrong("dramid@8;RRRRBBBBSCCCCSSSSS", 2, 0, "the S bits must be the lowest ones");
    check_wrong("dramid@8;BBBBCCCCSSSSS", 2, 0, "at least one R and one C");
    check_wrong("dramid@8;RRRRBCCCCSSSSS", 4, 0, "addr.slices must be a power of two");
    check_wrong("dramid@8;RRRRBBBCCCCSSSSS", 3, 0, "addr.slices must be a power of two");
    check_wrong("dramid@8;RRRRBBBCCCCSSSSS", 2, ADDRMAP_IPOLY,
                "needs a power of two of slices, and there are 12");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_memory_starts_in_slice_0_row_0),
        cmocka_unit_test(blocks_of_256_bytes_go_round_the_channels),
        cmocka_unit_test(fermi_example_by_hand),
        cmocka_unit_test(two_bank_bits_choose_one_of_four_slices),
        cmocka_unit_test(bank_bit_below_the_interleave),
        cmocka_unit_test(addresses_below_the_base_have_a_place),
        cmocka_unit_test(no_two_lines_share_a_place_whatever_the_hash),
        cmocka_unit_test(routes_and_places_agree_with_the_map_bit_by_bit),
        cmocka_unit_test(hashes_spread_a_stride_that_hits_one_slice),
        cmocka_unit_test(wrong_masks_are_diagnosed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
