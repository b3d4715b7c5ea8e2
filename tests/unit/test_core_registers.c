/* The rows of the register file: who owns them, and which a mechanism has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bitset.h"
#include "base/rng.h"
#include "core/sm/registers.h"

enum { ROWS = 200, WORDS = (ROWS + 63) / 64, LOSSES_MAX = 16 };

/* Runs of rows that the mechanism has lost. */
struct losses {
    uint32_t count;
    struct {
        uint32_t first, rows;
    } runs[LOSSES_MAX];
};

static void note_loss(void *ctx, uint32_t first, uint32_t rows)
{
    struct losses *l = ctx;
    assert_true(l->count < LOSSES_MAX);
    l->runs[l->count].first = first;
    l->runs[l->count++].rows = rows;
}

static struct register_file file_open(void)
{
    struct register_file f;
    registers_init(&f, ROWS * 32 + 31); /* what is less than a row does not count */
    assert_int_equal(f.rows, ROWS);
    return f;
}

static void own(struct register_file *f, uint32_t rows, uint64_t *set)
{
    registers_own(f, ROWS, rows, set, NULL, NULL);
    assert_int_equal(bitset_count(set, WORDS), rows);
}

static void expect_run(const uint64_t *set, uint32_t first, uint32_t rows)
{
    for (uint32_t i = 0; i < ROWS; i++) assert_int_equal(bitset_has(set, i), i >= first && i < first + rows);
}

static void a_cta_gets_the_lowest_gap_that_holds_all_of_its_rows(void **state)
{
    struct register_file f = file_open();
    uint64_t a[WORDS], b[WORDS], c[WORDS], d[WORDS];
    own(&f, 70, a);
    own(&f, 30, b);
    own(&f, 70, c);
    expect_run(a, 0, 70);
    expect_run(b, 70, 30);
    expect_run(c, 100, 70);
    registers_disown(&f, b);
    own(&f, 30, d); /* the gap of b, exactly */
    expect_run(d, 70, 30);
    registers_disown(&f, d);
    registers_disown(&f, a);
    own(&f, 100, a); /* the gap of both */
    expect_run(a, 0, 100);
    assert_int_equal(registers_owned(&f), 170);
    registers_free(&f);
}

/* Two kernels of different sizes leave gaps of which none holds a CTA of the larger one. */
static void where_no_gap_is_large_enough_a_cta_gets_the_lowest_free_rows(void **state)
{
    struct register_file f = file_open();
    uint64_t small[10][WORDS], large[WORDS];
    for (uint32_t i = 0; i < 10; i++) own(&f, 20, small[i]);
    assert_int_equal(registers_owned(&f), ROWS);
    registers_disown(&f, small[1]);
    registers_disown(&f, small[4]);
    registers_disown(&f, small[8]);
    own(&f, 50, large);
    for (uint32_t i = 0; i < ROWS; i++)
        assert_int_equal(bitset_has(large, i),
                         (i >= 20 && i < 40) || (i >= 80 && i < 100) || (i >= 160 && i < 170));
    registers_disown(&f, large);
    assert_int_equal(registers_owned(&f), 140);
    own(&f, 20, large);
    expect_run(large, 20, 20);
    registers_free(&f);
}

static void a_mechanism_gets_free_rows_in_one_piece(void **state)
{
    struct register_file f = file_open();
    uint64_t a[WORDS];
    uint32_t first = 99;
    own(&f, 50, a);
    assert_true(registers_take(&f, 0, 40, &first));
    assert_int_equal(first, 50);
    assert_true(registers_take(&f, 100, 10, &first));
    assert_int_equal(first, 100);
    assert_true(registers_take(&f, 95, 10, &first)); /* rows 95 to 99 are too few */
    assert_int_equal(first, 110);
    assert_true(registers_take(&f, 0, 10, &first));
    assert_int_equal(first, 90);
    assert_true(registers_take(&f, 0, 80, &first)); /* to the last row */
    assert_int_equal(first, 120);
    assert_int_equal(f.lent_count, ROWS - 50);
    assert_false(registers_take(&f, 0, 1, &first));
    assert_true(registers_give(&f, 120, 80));
    assert_false(registers_take(&f, 0, 0, &first));
    assert_false(registers_take(&f, 0, 81, &first));
    assert_false(registers_take(&f, 121, 80, &first));
    assert_false(registers_take(&f, ROWS, 1, &first));
    assert_false(registers_take(&f, UINT32_MAX, 2, &first));
    assert_false(registers_take(&f, 2, UINT32_MAX, &first));
    assert_int_equal(first, 120); /* a refusal leaves it */
    registers_free(&f);
}

static void lent_rows_are_lost_to_a_cta_exactly_where_they_overlap(void **state)
{
    struct register_file f = file_open();
    uint64_t a[WORDS], b[WORDS];
    uint32_t first;
    struct losses lost = {0};
    assert_true(registers_take(&f, 60, 10, &first)); /* 60 to 69, over the end of a word */
    assert_true(registers_take(&f, 75, 40, &first)); /* 75 to 114 */
    registers_own(&f, ROWS, 50, a, note_loss, &lost);
    assert_int_equal(lost.count, 0);
    registers_own(&f, ROWS, 50, b, note_loss, &lost); /* 50 to 99 */
    expect_run(b, 50, 50);
    assert_int_equal(lost.count, 2);
    assert_true(lost.runs[0].first == 60 && lost.runs[0].rows == 10);
    assert_true(lost.runs[1].first == 75 && lost.runs[1].rows == 25);
    assert_int_equal(f.lent_count, 15);
    expect_run(f.lent, 100, 15);
    registers_disown(&f, b);
    assert_int_equal(f.lent_count, 15); /* what is lost stays lost */
    registers_free(&f);
}

static void rows_that_are_not_lent_are_not_taken_back(void **state)
{
    struct register_file f = file_open();
    uint64_t a[WORDS];
    uint32_t first;
    own(&f, 10, a);
    assert_true(registers_take(&f, 20, 10, &first));
    assert_false(registers_give(&f, 0, 1));    /* a CTA's */
    assert_false(registers_give(&f, 10, 1));   /* nobody's */
    assert_false(registers_give(&f, 19, 2));   /* only the second is */
    assert_false(registers_give(&f, 29, 2));   /* only the first is */
    assert_false(registers_give(&f, ROWS, 1)); /* beyond the file */
    assert_false(registers_give(&f, 20, UINT32_MAX));
    assert_int_equal(f.lent_count, 10);
    expect_run(f.lent, 20, 10);
    assert_true(registers_give(&f, 22, 3));
    assert_false(registers_give(&f, 22, 3)); /* not twice */
    assert_int_equal(f.lent_count, 7);
    registers_free(&f);
}

/* A row that keeps registers is nobody else's, and who had borrowed it is told. */
static void kept_rows_are_lost_to_a_borrower_one_by_one(void **state)
{
    struct register_file f = file_open();
    uint64_t a[WORDS];
    uint32_t first;
    struct losses lost = {0};
    own(&f, 50, a);
    assert_true(registers_take(&f, 60, 10, &first));
    assert_false(registers_keep(&f, 49, note_loss, &lost)); /* a CTA's */
    assert_true(registers_keep(&f, 59, note_loss, &lost));
    assert_int_equal(lost.count, 0);
    assert_true(registers_keep(&f, 63, note_loss, &lost));
    assert_false(registers_keep(&f, 63, note_loss, &lost)); /* not twice */
    assert_int_equal(lost.count, 1);
    assert_true(lost.runs[0].first == 63 && lost.runs[0].rows == 1);
    assert_true(registers_is_lent(&f, 62) && !registers_is_lent(&f, 63));
    assert_true(f.lent_count == 9 && f.kept_count == 2);
    assert_true(registers_take(&f, 50, 10, &first)); /* 50 to 58 are too few */
    assert_int_equal(first, 70);
    assert_false(registers_release(&f, 62));
    assert_true(registers_release(&f, 63));
    assert_false(registers_release(&f, 63));
    assert_true(registers_take(&f, 63, 1, &first));
    assert_int_equal(first, 63);
    registers_free(&f);
}

/* CTAs get rows below a bound, and none that keeps registers. */
static void ctas_stay_below_the_rows_that_are_set_apart(void **state)
{
    struct register_file f = file_open();
    uint64_t a[WORDS], b[WORDS];
    struct losses lost = {0};
    uint32_t first;
    assert_true(registers_keep(&f, 10, NULL, NULL));
    assert_int_equal(registers_room(&f, 10), 10);
    assert_int_equal(registers_room(&f, 64), 63);
    assert_int_equal(registers_room(&f, ROWS), ROWS - 1);
    assert_true(registers_take(&f, 60, 20, &first));
    registers_own(&f, 70, 50, a, note_loss, &lost);
    expect_run(a, 11, 50);
    assert_int_equal(registers_room(&f, 70), 19);
    registers_own(&f, 70, 19, b, note_loss, &lost); /* no gap below row 70 holds all: 0 to 9 and 61 to 69 */
    assert_true(bitset_has(b, 9) && !bitset_has(b, 10) && bitset_has(b, 61) && bitset_has(b, 69));
    assert_int_equal(registers_room(&f, 70), 0);
    assert_int_equal(lost.count, 2); /* row 60 to the first, 61 to 69 to the second */
    assert_int_equal(f.lent_count, 10);
    assert_true(registers_have_one_owner(&f));
    registers_free(&f);
}

static void a_row_with_two_owners_is_found(void **state)
{
    struct register_file f = file_open();
    uint64_t *const sets[] = {f.owned, f.kept, f.lent};
    for (uint32_t i = 0; i < ARRAY_LEN(sets); i++) {
        bitset_add(sets[i], ROWS - 1);
        assert_true(registers_have_one_owner(&f));
        bitset_add(sets[(i + 1) % 3], ROWS - 1);
        assert_false(registers_have_one_owner(&f));
        bitset_del(sets[i], ROWS - 1);
        bitset_del(sets[(i + 1) % 3], ROWS - 1);
    }
    registers_free(&f);
}

/* CTAs and the mechanism, against a plain array of owners. */
static void rows_have_one_owner_whatever_comes_and_goes(void **state)
{
    enum { CTAS = 12, FREE = 0, LENT = 1, CTA = 2 };
    struct register_file f = file_open();
    struct rng random = {12345};
    uint64_t sets[CTAS][WORDS];
    uint32_t size[CTAS] = {0}, owner[ROWS] = {0}, owned = 0;
    for (uint32_t step = 0; step < 20000; step++) {
        const uint32_t cta = (uint32_t)rng_below(&random, CTAS), rows = 1 + (uint32_t)rng_below(&random, 40);
        uint32_t first, expected_lent = 0;
        if (rng_below(&random, 2)) {
            if (size[cta]) {
                registers_disown(&f, sets[cta]);
                owned -= size[cta];
                size[cta] = 0;
                for (uint32_t i = 0; i < ROWS; i++)
                    if (owner[i] == CTA + cta) owner[i] = FREE;
            } else if (owned + rows <= ROWS) {
                struct losses lost = {0};
                registers_own(&f, ROWS, rows, sets[cta], note_loss, &lost);
                owned += size[cta] = rows;
                uint32_t lost_rows = 0, were_lent = 0;
                for (uint32_t i = 0; i < lost.count; i++) lost_rows += lost.runs[i].rows;
                for (uint32_t i = 0; i < ROWS; i++) {
                    if (!bitset_has(sets[cta], i)) continue;
                    assert_true(owner[i] == FREE || owner[i] == LENT);
                    were_lent += owner[i] == LENT;
                    owner[i] = CTA + cta;
                }
                assert_int_equal(lost_rows, were_lent);
            }
        } else if (registers_take(&f, rows, rows, &first)) {
            assert_true(first >= rows);
            for (uint32_t i = first; i < first + rows; i++) {
                assert_int_equal(owner[i], FREE);
                owner[i] = LENT;
            }
        } else if (registers_give(&f, rows, 3))
            for (uint32_t i = rows; i < rows + 3; i++) owner[i] = FREE;
        for (uint32_t i = 0; i < ROWS; i++) expected_lent += owner[i] == LENT;
        assert_int_equal(f.lent_count, expected_lent);
        assert_int_equal(registers_owned(&f), owned);
    }
    registers_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cta_gets_the_lowest_gap_that_holds_all_of_its_rows),
        cmocka_unit_test(where_no_gap_is_large_enough_a_cta_gets_the_lowest_free_rows),
        cmocka_unit_test(a_mechanism_gets_free_rows_in_one_piece),
        cmocka_unit_test(lent_rows_are_lost_to_a_cta_exactly_where_they_overlap),
        cmocka_unit_test(rows_that_are_not_lent_are_not_taken_back),
        cmocka_unit_test(kept_rows_are_lost_to_a_borrower_one_by_one),
        cmocka_unit_test(ctas_stay_below_the_rows_that_are_set_apart),
        cmocka_unit_test(a_row_with_two_owners_is_found),
        cmocka_unit_test(rows_have_one_owner_whatever_comes_and_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
