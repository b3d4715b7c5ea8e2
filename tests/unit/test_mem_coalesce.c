/* test_mem_coalesce.c: transactions of global and local accesses, and passes through shared memory. */
#include "mem/coalesce.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/rng.h"

static uint64_t addr[COALESCE_LANES];
static struct coalesce_txn out[COALESCE_TXN_MAX];

static void stride(uint64_t base, uint64_t bytes)
{
    for (uint64_t i = 0; i < COALESCE_LANES; i++) addr[i] = base + i * bytes;
}

static struct coalesce_access load(uint32_t bytes, bool sectored)
{
    return (struct coalesce_access){.addr = addr,
                                    .mask = ~0u,
                                    .bytes = bytes,
                                    .line_bytes = 128,
                                    .sectored = sectored,
                                    .atomic_bytes = 128};
}

static uint32_t count(struct coalesce_access a) { return coalesce_global(&a, out); }

static void consecutive_words_make_one_transaction(void **state)
{
    stride(0x10000, 4);
    assert_int_equal(count(load(4, false)), 1);
    assert_int_equal(out[0].line, 0x10000);
    assert_int_equal(out[0].sectors, 0xf);
    assert_int_equal(out[0].lanes, ~0u);
    assert_int_equal(out[0].write_bytes, 0);
}

static void scattered_lanes_make_one_each_in_lane_order(void **state)
{
    for (uint64_t i = 0; i < COALESCE_LANES; i++) addr[i] = 0x100000 + (31 - i) * 4096;
    assert_int_equal(count(load(4, false)), 32);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(out[i].line, addr[i]);
        assert_int_equal(out[i].lanes, 1u << i);
    }
}

static void lines_far_apart_are_never_taken_for_one(void **state)
{
    for (uint64_t i = 0; i < COALESCE_LANES; i++)
        addr[i] = 0x100000 + (i % 2 << 39) + (i % 8 << 45) +
                  i / 16 * 64; /* the same low half of the line's number */
    assert_int_equal(count(load(4, false)), 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(out[i].line, addr[i]);
        assert_int_equal(out[i].lanes, 0x01010101u << i);
    }
    struct coalesce_access a = load(4, true);
    a.mask = 0x00ff00f0;
    assert_int_equal(count(a), 8);
    assert_int_equal(out[0].lanes, 0x00100010);
    assert_int_equal(out[0].sectors, 5);
    assert_int_equal(out[4].lanes, 0x00010000);
    assert_int_equal(out[4].sectors, 4);
}

static void line_mode_fetches_lines_and_sector_mode_sectors(void **state)
{
    stride(0x1000, 4);
    struct coalesce_access a = load(4, false);
    a.mask = 0xff; /* the first 32 bytes */
    assert_int_equal(count(a), 1);
    assert_int_equal(out[0].sectors, 0xf);
    a.sectored = true;
    assert_int_equal(count(a), 1);
    assert_int_equal(out[0].sectors, 1);
    a.mask = 0x80000001;
    assert_int_equal(count(a), 1);
    assert_int_equal(out[0].sectors, 9);
}

static void a_misaligned_warp_takes_two_lines(void **state)
{
    stride(0x1020, 4);
    assert_int_equal(count(load(4, true)), 2);
    assert_int_equal(out[0].sectors, 0xe);
    assert_int_equal(out[1].sectors, 1);
    assert_int_equal(out[0].lanes, 0x00ffffff);
}

static void wide_accesses_make_more_transactions_only_where_lines_differ(void **state)
{
    stride(0, 8);
    assert_int_equal(count(load(8, false)), 2);
    assert_int_equal(out[0].lanes, 0xffff);
    stride(0, 16);
    assert_int_equal(count(load(16, false)), 4);
    for (int i = 0; i < COALESCE_LANES; i++) addr[i] = 0x200;
    struct coalesce_access a = load(16, false);
    assert_int_equal(count(a), 1);
    a.is_store = true;
    assert_int_equal(count(a), 1);
    assert_int_equal(out[0].write_bytes, 32);
    assert_true(out[0].partial);
}

static void masked_lanes_do_not_count(void **state)
{
    stride(0, 128);
    struct coalesce_access a = load(4, false);
    a.mask = 0x10001;
    assert_int_equal(count(a), 2);
    assert_int_equal(out[1].line, 16 * 128);
    a.mask = 0;
    assert_int_equal(count(a), 0);
}

static void stores_carry_the_sectors_they_touch_and_say_whether_they_cover_them(void **state)
{
    stride(0, 4);
    struct coalesce_access a = load(4, false);
    a.is_store = true;
    assert_int_equal(count(a), 1);
    assert_int_equal(out[0].sectors, 0xf);
    assert_int_equal(out[0].write_bytes, 128);
    assert_false(out[0].partial);
    a.mask = 0xff;
    assert_int_equal(count(a), 1);
    assert_int_equal(out[0].sectors, 1);
    assert_int_equal(out[0].write_bytes, 32);
    assert_false(out[0].partial);
    a.mask = 0x1ff;
    assert_int_equal(count(a), 1);
    assert_int_equal(out[0].sectors, 3);
    assert_int_equal(out[0].write_bytes, 64);
    assert_true(out[0].partial);
    for (int i = 0; i < COALESCE_LANES; i++) addr[i] = 0; /* all lanes on one word */
    a.mask = ~0u;
    assert_int_equal(count(a), 1);
    assert_true(out[0].partial);
}

static void the_highest_line_may_come_first(void **state)
{
    stride(0x10000, 4096);
    struct coalesce_access a = load(4, false);
    a.descending = true;
    assert_int_equal(count(a), 32);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i].line, addr[31 - i]);
}

static void split_atomics_have_one_for_each_sector_and_each_conflict(void **state)
{
    for (uint64_t i = 0; i < COALESCE_LANES; i++) addr[i] = i < 8 ? i * 4 : i < 16 ? 0x20 + i * 4 : 0x80;
    struct coalesce_access a = load(4, false);
    a.is_atomic = a.split_atomic = true;
    assert_int_equal(count(a), 2 + 16); /* two sectors, and sixteen lanes that want one word */
    assert_int_equal(out[0].lanes, 0xff);
    assert_int_equal(out[1].lanes, 0xff00);
    assert_int_equal(out[1].sectors, 4);
    for (uint32_t i = 2; i < 18; i++) assert_int_equal(out[i].lanes, 1u << (14 + i));
    a.descending = true;
    assert_int_equal(count(a), 18);
    assert_int_equal(out[0].lanes, 1u << 31); /* the last one of the highest sector */
    assert_int_equal(out[17].lanes, 0xff);
}

static void atomics_keep_the_lanes_of_each_line(void **state)
{
    for (uint64_t i = 0; i < COALESCE_LANES; i++) addr[i] = i % 2 ? 0x80 : 0x100;
    struct coalesce_access a = load(4, false);
    a.is_atomic = true;
    assert_int_equal(count(a), 2);
    assert_int_equal(out[0].line, 0x100);
    assert_int_equal(out[0].lanes, 0x55555555);
    assert_int_equal(out[1].lanes, 0xaaaaaaaa);
    assert_int_equal(out[0].write_bytes, 16 * 4);
    assert_int_equal(out[0].sectors, 1);
}

static void local_memory_is_interleaved_by_word(void **state)
{
    assert_int_equal(coalesce_local_address(0x1000, 0, 0), 0x1000);
    assert_int_equal(coalesce_local_address(0x1000, 6, 3), 0x1000 + 128 + 12 + 2);
    for (int i = 0; i < COALESCE_LANES; i++) addr[i] = 20; /* the same offset in all threads */
    struct coalesce_access a = load(4, false);
    a.is_store = true;
    assert_int_equal(coalesce_local(&a, 0x4000, out), 1);
    assert_int_equal(out[0].line, 0x4000 + 5 * 128);
    assert_int_equal(out[0].lanes, ~0u);
    assert_false(out[0].partial);
    a.bytes = 1; /* a byte of each word */
    assert_int_equal(coalesce_local(&a, 0x4000, out), 1);
    assert_int_equal(out[0].write_bytes, 128);
    assert_true(out[0].partial);
}

static void wide_local_accesses_touch_a_line_for_each_word(void **state)
{
    for (int i = 0; i < COALESCE_LANES; i++) addr[i] = 16;
    struct coalesce_access a = load(16, false);
    assert_int_equal(coalesce_local(&a, 0, out), 4);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(out[i].line, (4 + i) * 128);
    for (uint64_t i = 0; i < COALESCE_LANES; i++) addr[i] = i * 16; /* every thread elsewhere */
    assert_int_equal(coalesce_local(&a, 0, out), 128);
}

/* ---- shared memory ---- */

static uint32_t banked(uint32_t mask, uint32_t bytes, uint32_t banks, uint32_t bank_bytes)
{
    return coalesce_shared_passes(&(struct shared_access){
        .addr = addr, .mask = mask, .bytes = bytes, .banks = banks, .bank_bytes = bank_bytes});
}

static uint32_t passes(uint32_t bytes) { return banked(~0u, bytes, 32, 4); }

static void consecutive_words_take_one_pass_and_power_strides_as_many_as_the_stride(void **state)
{
    stride(0, 4);
    assert_int_equal(passes(4), 1);
    for (uint32_t s = 2; s <= 32; s *= 2) {
        stride(0, 4 * s);
        assert_int_equal(passes(4), s);
    }
    stride(0, 4 * 33); /* the padded column */
    assert_int_equal(passes(4), 1);
}

static void one_word_goes_to_all_lanes_that_want_it(void **state)
{
    for (int i = 0; i < COALESCE_LANES; i++) addr[i] = 64;
    assert_int_equal(passes(4), 1);
    for (int i = 0; i < COALESCE_LANES; i++) addr[i] = (uint64_t)(i % 2) * 128; /* two words of one bank */
    assert_int_equal(passes(4), 2);
    stride(0, 1); /* four lanes in each word */
    assert_int_equal(passes(1), 1);
    struct shared_access a = {
        .addr = addr, .mask = ~0u, .bytes = 1, .is_atomic = true, .banks = 32, .bank_bytes = 4};
    assert_int_equal(coalesce_shared_passes(&a), 4); /* atomics take turns */
}

static void wide_shared_accesses_go_by_half_and_quarter_warps(void **state)
{
    stride(0, 8);
    assert_int_equal(passes(8), 2);
    stride(0, 16);
    assert_int_equal(passes(16), 4);
    assert_int_equal(banked(0xff, 16, 32, 4), 1);
    stride(0, 16);
    assert_int_equal(passes(8), 4); /* half warps of stride two */
    assert_int_equal(banked(0, 4, 32, 4), 0);
}

static void sixteen_banks_serve_half_a_warp_at_a_time(void **state)
{
    stride(0, 4);
    assert_int_equal(banked(~0u, 4, 16, 4), 2);
    assert_int_equal(banked(0xffff, 4, 16, 4), 1);
    stride(0, 64); /* one bank of 16, every other one of 32 */
    assert_int_equal(banked(~0u, 4, 16, 4), 32);
    assert_int_equal(banked(~0u, 4, 32, 4), 16);
    stride(0, 8);
    assert_int_equal(banked(~0u, 8, 16, 4), 4);
    stride(0, 16);
    assert_int_equal(banked(~0u, 16, 16, 4), 8);
    for (int i = 0; i < COALESCE_LANES; i++) addr[i] = 64; /* each half is told apart */
    assert_int_equal(banked(~0u, 4, 16, 4), 2);
}

static void banks_of_eight_bytes_serve_both_halves_of_their_word(void **state)
{
    stride(0, 4);
    assert_int_equal(banked(~0u, 4, 32, 8), 1);
    stride(0, 8); /* 32 words of 8 bytes: two of each bank of 4 bytes */
    assert_int_equal(banked(~0u, 4, 32, 8), 1);
    assert_int_equal(banked(~0u, 4, 32, 4), 2);
    assert_int_equal(banked(~0u, 8, 32, 8), 1);
    assert_int_equal(banked(~0u, 8, 32, 4), 2);
    stride(0, 16);
    assert_int_equal(banked(~0u, 8, 32, 8), 2);
    assert_int_equal(banked(~0u, 16, 32, 8), 2);
    assert_int_equal(banked(~0u, 16, 32, 4), 4);
    for (int i = 0; i < COALESCE_LANES; i++) addr[i] = (uint64_t)(i % 2) * 4; /* two halves of one word */
    assert_int_equal(banked(~0u, 4, 32, 8), 1);
    for (int i = 0; i < COALESCE_LANES; i++) addr[i] = (uint64_t)(i % 2) * 256; /* two words of one bank */
    assert_int_equal(banked(~0u, 4, 32, 8), 2);
}

static void any_number_of_words_is_multicast_in_one_pass(void **state)
{
    for (uint64_t i = 0; i < COALESCE_LANES; i++) addr[i] = i / 4 * 4 * 5; /* eight words, four lanes each */
    assert_int_equal(passes(4), 1);
    for (uint64_t i = 0; i < COALESCE_LANES; i++) addr[i] = i / 16 * 8; /* wide: a word for each half */
    assert_int_equal(passes(8), 2);
    for (uint64_t i = 0; i < COALESCE_LANES; i++) addr[i] = i % 2 * 128; /* two rows: the same banks */
    assert_int_equal(passes(16), 8);
}

static void more_banks_than_lanes_spread_wide_accesses(void **state)
{
    stride(0, 8);
    assert_int_equal(banked(~0u, 8, 64, 4), 1);
    stride(0, 128);
    assert_int_equal(banked(~0u, 4, 64, 4), 16);
    stride(0, 32); /* four 64-bit words a lane */
    assert_int_equal(banked(~0u, 32, 32, 4), 8);
    assert_int_equal(banked(1, 16, 1, 4), 4); /* a single bank */
}

static uint32_t reversed(uint32_t lanes)
{
    uint32_t r = 0;
    for (uint32_t l = 0; l < COALESCE_LANES; l++) r |= (lanes >> l & 1) << (COALESCE_LANES - 1 - l);
    return r;
}

/* Contiguous lanes go by lines, others lane by lane: the same lanes in reverse order make the same
 * transactions, last first. */
static void check_reversed(struct coalesce_access a, uint64_t base)
{
    struct coalesce_txn forward[COALESCE_TXN_MAX];
    stride(base, a.bytes);
    uint32_t n = coalesce_global(&a, forward);
    for (uint32_t l = 0; l < COALESCE_LANES; l++) addr[l] = base + (COALESCE_LANES - 1 - l) * a.bytes;
    assert_int_equal(count(a), n);
    for (uint32_t i = 0; i < n; i++) {
        const struct coalesce_txn *f = &forward[i], *r = &out[n - 1 - i];
        assert_int_equal(f->line, r->line);
        assert_int_equal(f->sectors, r->sectors);
        assert_int_equal(f->lanes, reversed(r->lanes));
        assert_int_equal(f->write_bytes, r->write_bytes);
        assert_int_equal(f->partial, r->partial);
    }
}

static void contiguous_lanes_are_no_special_case(void **state)
{
    for (uint32_t bytes = 1; bytes <= 16; bytes *= 2)
        for (uint32_t line = 32; line <= 128; line *= 2)
            for (uint64_t base = 0x4000; base < 0x4100; base += bytes)
                for (uint32_t kind = 0; kind < 4; kind++) {
                    struct coalesce_access a = load(bytes, kind == 1);
                    a.line_bytes = line;
                    a.is_store = kind == 2;
                    a.is_atomic = kind == 3;
                    check_reversed(a, base);
                }
}

/* Passes by their definition: of each part of the warp, the most distinct words that one bank is wanted
 * for. */
static uint32_t passes_by_definition(const struct shared_access *a)
{
    uint32_t words = MAX(a->bytes / a->bank_bytes, 1u), part = MIN(a->banks / words, 32u), sum = 0;
    for (uint32_t first = 0; first < COALESCE_LANES; first += part) {
        uint32_t worst = 0;
        for (uint32_t bank = 0; bank < a->banks; bank++) {
            uint64_t found[COALESCE_LANES];
            uint32_t n = 0;
            for (uint32_t l = first; l < first + part; l++)
                for (uint64_t w = a->addr[l] / a->bank_bytes, k = 0; k < words; w++, k++) {
                    if (!(a->mask >> l & 1) || w % a->banks != bank) continue;
                    uint32_t at = 0;
                    while (at < n && (found[at] != w || a->is_atomic)) at++;
                    if (at == n) found[n++] = w;
                }
            worst = MAX(worst, n);
        }
        sum += worst;
    }
    return sum;
}

static void passes_are_those_of_the_definition(void **state)
{
    struct rng r = {1};
    for (uint32_t i = 0; i < 20000; i++) {
        struct shared_access a = {.addr = addr,
                                  .mask = rng_below(&r, 2) ? ~0u : rng_u32(&r),
                                  .bytes = 1u << rng_below(&r, 5),
                                  .is_atomic = rng_below(&r, 4) == 0,
                                  .banks = 16u << rng_below(&r, 3),
                                  .bank_bytes = 4u << rng_below(&r, 2)};
        uint64_t step = rng_below(&r, 40), range = rng_below(&r, 3) ? 1 + rng_below(&r, 3) : 256;
        for (uint32_t l = 0; l < COALESCE_LANES; l++)
            addr[l] = (l * step + rng_below(&r, range)) % 2048 * a.bytes;
        assert_int_equal(coalesce_shared_passes(&a), passes_by_definition(&a));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(consecutive_words_make_one_transaction),
        cmocka_unit_test(scattered_lanes_make_one_each_in_lane_order),
        cmocka_unit_test(lines_far_apart_are_never_taken_for_one),
        cmocka_unit_test(line_mode_fetches_lines_and_sector_mode_sectors),
        cmocka_unit_test(a_misaligned_warp_takes_two_lines),
        cmocka_unit_test(wide_accesses_make_more_transactions_only_where_lines_differ),
        cmocka_unit_test(masked_lanes_do_not_count),
        cmocka_unit_test(stores_carry_the_sectors_they_touch_and_say_whether_they_cover_them),
        cmocka_unit_test(atomics_keep_the_lanes_of_each_line),
        cmocka_unit_test(the_highest_line_may_come_first),
        cmocka_unit_test(split_atomics_have_one_for_each_sector_and_each_conflict),
        cmocka_unit_test(local_memory_is_interleaved_by_word),
        cmocka_unit_test(wide_local_accesses_touch_a_line_for_each_word),
        cmocka_unit_test(consecutive_words_take_one_pass_and_power_strides_as_many_as_the_stride),
        cmocka_unit_test(one_word_goes_to_all_lanes_that_want_it),
        cmocka_unit_test(wide_shared_accesses_go_by_half_and_quarter_warps),
        cmocka_unit_test(sixteen_banks_serve_half_a_warp_at_a_time),
        cmocka_unit_test(banks_of_eight_bytes_serve_both_halves_of_their_word),
        cmocka_unit_test(any_number_of_words_is_multicast_in_one_pass),
        cmocka_unit_test(more_banks_than_lanes_spread_wide_accesses),
        cmocka_unit_test(contiguous_lanes_are_no_special_case),
        cmocka_unit_test(passes_are_those_of_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
