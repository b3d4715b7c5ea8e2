/* test_srrip.c: SRRIP (src/mech/srrip.c) in an L1 of one set of four lines, with hits counted on paper. */
#include "script_kit.h"

/* a and b are used twice, then four lines pass: {a0 b0 c2 d2}; e ages the set by one and takes the way of c,
 * f that of d. Under LRU the scan takes the ways of a and b. */
static const char scan[] = "abab cdef ab";

static void lines_used_twice_survive_a_scan(void **state)
{
    play_and_expect(&(struct play){.script = scan},
                    (struct wanted[]){{"l1.global_load_hits", 2}, {"l1.global_load_misses", 8}, {0}});
    play_and_expect(&(struct play){.script = scan, .mechs = {"srrip"}},
                    (struct wanted[]){{"l1.global_load_hits", 4},
                                      {"l1.global_load_misses", 6},
                                      {"srrip.hits", 4},
                                      {"srrip.inserts", 6},
                                      {"srrip.victims", 2},
                                      {"srrip.agings", 1},
                                      {0}});
}

/* With one bit a line comes in with 0: e ages {a0 b0 c0 d0} to 1 and takes the lowest way. */
static void one_bit_is_not_recently_used(void **state)
{
    play_and_expect(
        &(struct play){.script = scan, .mechs = {"srrip"}, .settings = {"srrip.bits=1"}},
        (struct wanted[]){{"l1.global_load_hits", 2}, {"srrip.victims", 4}, {"srrip.agings", 1}, {0}});
}

/* With three bits a line comes in with 6: {a0 b0 c6 d6}. e makes it {a1 b1 e6 d7}, f {a1 b1 e6 f6}, g and h
 * {a2 b2 g6 h6}: each pair ages a and b by one, until they are as old as a line that comes in. */
static void more_bits_hold_out_longer(void **state)
{
    static const struct {
        const char *bits, *script;
        uint64_t hits;
    } rows[] = {
        {"srrip.bits=2", "abab cdefghij ab", 2},         /* {a2 b2 g2 h2} when i comes */
        {"srrip.bits=3", "abab cdefghij ab", 4},         /* {a3 b3 i6 j6} */
        {"srrip.bits=3", "abab cdefghijklmnop ab", 4},   /* {a6 b6 o6 p6} */
        {"srrip.bits=3", "abab cdefghijklmnopqr ab", 2}, /* q and r took the ways of a and b */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        play_and_expect(
            &(struct play){.script = rows[i].script, .mechs = {"srrip"}, .settings = {rows[i].bits}},
            (struct wanted[]){{"l1.global_load_hits", rows[i].hits}, {0}});
}

/* 32 misses at once: nearly all ways wait for their fills, and the victim must be a way that does not. The
 * host checks each answer. */
static void the_victim_is_a_way_that_may_be_replaced(void **state)
{
    play_and_expect(&(struct play){.script = "ab#ab##ab", .mechs = {"srrip"}, .block = 256},
                    (struct wanted[]){{"l1.global_load_accesses", 8 * (6 + 3 * 32)}, {0}});
}

static void runs_are_the_same_whatever_is_skipped(void **state)
{
    expect_same_everywhere(&(struct play){.script = "abab#cdAef_ab#*gh#ab", .mechs = {"srrip"}});
    expect_same_everywhere(&(struct play){.script = "abab#cdAef_ab#*gh#ab",
                                          .mechs = {"srrip"},
                                          .settings = {"srrip.bits=3"},
                                          .sets = {"l1.ways=2"}});
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(lines_used_twice_survive_a_scan),
        RIG_TEST(one_bit_is_not_recently_used),
        RIG_TEST(more_bits_hold_out_longer),
        RIG_TEST(the_victim_is_a_way_that_may_be_replaced),
        RIG_TEST(runs_are_the_same_whatever_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
