/* test_core_sharers.c: which L1s hold a line, how old their copies are, and the newest store to each line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "core/newest_store.h"
#include "core/sharers.h"

enum { LINE = 0x1000, LINE_BYTES = 128 };

/* ---- a table against plain arrays ---- */

enum { SMS = 70, LINES = 3000, STEPS = 40, NOTES = 400, STORES = 20 };

/* What one L1 has of a line, and the oldest of it. */
struct model_copy {
    enum sharers_part holds;
    tick oldest;
};
static struct {
    struct model_copy copies[SMS][LINES];
    tick stores[LINES];
} model;

static void model_note(uint32_t sm, uint32_t line, enum sharers_part holds, tick as_of)
{
    struct model_copy *c = &model.copies[sm][line];
    if (!holds)
        *c = (struct model_copy){.oldest = TICK_NEVER};
    else
        *c = (struct model_copy){MAX(c->holds, holds), MIN(c->oldest, as_of)};
}

/* Lines are filled with data of up to ten steps ago, in part or as a whole, or dropped. */
static void random_notes(struct sharers *s, struct rng *rng, uint32_t step)
{
    for (uint32_t i = 0; i < NOTES; i++) {
        const uint64_t draw = rng_u64(rng);
        const uint32_t sm = draw % SMS, line = draw / SMS % LINES;
        const enum sharers_part holds = draw >> 40 & (step < STEPS / 2 ? 3 : 1) ? 1 + (draw >> 50 & 1) : 0;
        const tick as_of = 1000 * (step + 1 - (draw >> 52) % MIN(step + 1, 10));
        sharers_note(s, sm, line * (uint64_t)LINE_BYTES, holds, as_of);
        model_note(sm, line, holds, as_of);
    }
}

static void random_stores(struct sharers *s, struct rng *rng, uint32_t step)
{
    for (uint32_t i = 0; i < STORES; i++) {
        const uint32_t line = rng_u64(rng) % LINES;
        const tick date = 1000 * (step + 1) + 1 + i;
        sharers_store(s, (int)(i % SMS), line * (uint64_t)LINE_BYTES + i, date);
        model.stores[line] = date;
    }
}

static void compare(const struct sharers *s, uint32_t sm, uint32_t line)
{
    const uint64_t address = line * (uint64_t)LINE_BYTES;
    const struct model_copy *c = &model.copies[sm][line];
    const tick newest = MAX(model.stores[line], NEWEST_STORE_NEVER);
    const tick as_of = c->holds && c->oldest < newest ? 0 : newest;
    if ((sharers_of(s, address)[sm / 64] >> sm % 64 & 1) != (c->holds == SHARERS_ALL))
        fail_msg("SM %u, line %u: does it have all of it?", sm, line);
    if (sharers_as_of(s, sm, address, false) != as_of)
        fail_msg("SM %u, line %u: as of %llu", sm, line, (unsigned long long)as_of);
}

static void the_table_knows_all_holders_and_their_ages(void **unused)
{
    struct sharers *s = sharers_create(SMS);
    struct rng rng = {11};
    memset(&model, 0, sizeof model);
    for (uint32_t sm = 0; sm < SMS; sm++)
        for (uint32_t line = 0; line < LINES; line++) model_note(sm, line, SHARERS_NONE, 0);
    sharers_date_copies(s, LINE_BYTES, false);
    for (uint32_t step = 0; step < STEPS; step++) {
        random_stores(s, &rng, step);
        random_notes(s, &rng, step);
        sharers_commit(s);
        for (uint32_t line = 0; line < LINES; line++)
            for (uint32_t sm = step % 2; sm < SMS; sm += 2) compare(s, sm, line);
    }
    for (uint32_t sm = 0; sm < SMS; sm++) {
        uint64_t lines = 0;
        for (uint32_t line = 0; line < LINES; line++) lines += model.copies[sm][line].holds == SHARERS_ALL;
        assert_int_equal(sharers_lines(s, sm), lines);
    }
    sharers_destroy(s);
}

/* ---- when ---- */

static void what_is_noted_is_seen_when_the_step_has_ended(void **unused)
{
    struct sharers *s = sharers_create(2);
    sharers_note(s, 1, LINE, SHARERS_ALL, 10);
    assert_int_equal(sharers_of(s, LINE)[0], 0);
    sharers_commit(s);
    assert_int_equal(sharers_of(s, LINE)[0], 2);
    sharers_destroy(s);
}

static struct sharers *dated(bool updates)
{
    struct sharers *s = sharers_create(3);
    sharers_date_copies(s, LINE_BYTES, updates);
    return s;
}

/* Its data was read before a store that the L2 has performed while it was under way. */
static void a_line_can_come_old(void **unused)
{
    struct sharers *s = dated(false);
    sharers_store(s, 2, LINE + 8, 100);
    sharers_note(s, 0, LINE, SHARERS_ALL, 99);
    sharers_note(s, 1, LINE, SHARERS_ALL, 101);
    sharers_commit(s);
    assert_int_equal(sharers_as_of(s, 0, LINE, false), 0);
    assert_int_equal(sharers_as_of(s, 1, LINE, false), 100);
    sharers_note(s, 0, LINE, SHARERS_NONE, 0);
    sharers_note(s, 0, LINE, SHARERS_ALL, sharers_as_of(s, 1, LINE, false)); /* a copy of the copy */
    sharers_commit(s);
    assert_int_equal(sharers_as_of(s, 0, LINE, false), 100);
    sharers_store(s, SHARERS_HOST, LINE, 200);
    assert_int_equal(sharers_as_of(s, 0, LINE, false), 0);
    assert_int_equal(sharers_as_of(s, 1, LINE, false), 0);
    sharers_destroy(s);
}

static void an_sm_sees_its_own_notes_at_once(void **unused)
{
    struct sharers *s = dated(false);
    sharers_store(s, 2, LINE, 100);
    sharers_note(s, 0, LINE, SHARERS_ALL, 50);
    assert_int_equal(sharers_as_of(s, 0, LINE, true), 0);
    assert_int_equal(sharers_as_of(s, 0, LINE, false), 100);
    sharers_commit(s);
    sharers_note(s, 0, LINE, SHARERS_NONE, 0);
    assert_int_equal(sharers_as_of(s, 0, LINE, true), 100);
    assert_int_equal(sharers_as_of(s, 0, LINE, false), 0);
    sharers_note(s, 0, LINE + LINE_BYTES, SHARERS_ALL, 0);
    sharers_note(s, 0, LINE, SHARERS_SOME, 50);
    sharers_note(s, 0, LINE, SHARERS_ALL, 150);
    assert_int_equal(sharers_as_of(s, 0, LINE, true), 0);
    sharers_destroy(s);
}

/* A store of its own does not make an old copy new. */
static void an_l1_that_updates_lines_has_its_own_stores(void **unused)
{
    for (uint32_t updates = 0; updates < 2; updates++) {
        struct sharers *s = dated(updates);
        for (uint32_t sm = 0; sm < 2; sm++) sharers_note(s, sm, LINE, SHARERS_ALL, 10);
        sharers_commit(s);
        sharers_store(s, 0, LINE, 20);
        assert_int_equal(sharers_as_of(s, 0, LINE, false), updates ? 20 : 0);
        assert_int_equal(sharers_as_of(s, 1, LINE, false), 0);
        sharers_store(s, 1, LINE, 30);
        assert_int_equal(sharers_as_of(s, 0, LINE, false), 0);
        assert_int_equal(sharers_as_of(s, 1, LINE, false), 0);
        sharers_destroy(s);
    }
}

/* ---- stores ---- */

static void the_newest_store_to_each_line_is_known(void **unused)
{
    enum { MANY = 10000 };
    struct newest_store n;
    newest_store_init(&n);
    for (uint64_t i = 0; i < MANY; i++) newest_store_note(&n, false, i * LINE_BYTES, 10 + i);
    newest_store_note(&n, false, 5 * LINE_BYTES, 3); /* not the newest */
    newest_store_note(&n, false, 6 * LINE_BYTES, 3 * MANY);
    newest_store_note(&n, false, MANY * (uint64_t)LINE_BYTES, 0);
    for (uint64_t i = 0; i < MANY; i++)
        assert_int_equal(newest_store_of(&n, i * LINE_BYTES), i == 6 ? 3 * MANY : 10 + i);
    assert_int_equal(newest_store_of(&n, MANY * (uint64_t)LINE_BYTES), NEWEST_STORE_NEVER);
    assert_int_equal(newest_store_of(&n, 2 * MANY * (uint64_t)LINE_BYTES), NEWEST_STORE_NEVER);
    assert_true(newest_store_is_after(&n, 6 * LINE_BYTES, 3 * MANY - 1));
    assert_false(newest_store_is_after(&n, 6 * LINE_BYTES, 3 * MANY));
    newest_store_free(&n);
}

static void stores_of_the_host_count_for_their_line_alone(void **unused)
{
    struct newest_store n;
    newest_store_init(&n);
    newest_store_note(&n, false, 0, 10);
    newest_store_note(&n, true, LINE_BYTES, 20);
    newest_store_note(&n, true, 2 * LINE_BYTES, 30);
    assert_true(newest_store_is_after(&n, LINE_BYTES, 19));
    assert_false(newest_store_is_after(&n, LINE_BYTES, 20));
    assert_false(newest_store_is_after(&n, 0, 10));
    assert_false(newest_store_is_after(&n, 3 * LINE_BYTES, NEWEST_STORE_NEVER));
    for (uint64_t line = 0; line < 4; line++) assert_int_equal(newest_store_of(&n, line * LINE_BYTES), 30);
    newest_store_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_knows_all_holders_and_their_ages),
        cmocka_unit_test(what_is_noted_is_seen_when_the_step_has_ended),
        cmocka_unit_test(a_line_can_come_old),
        cmocka_unit_test(an_sm_sees_its_own_notes_at_once),
        cmocka_unit_test(an_l1_that_updates_lines_has_its_own_stores),
        cmocka_unit_test(the_newest_store_to_each_line_is_known),
        cmocka_unit_test(stores_of_the_host_count_for_their_line_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
