/* test_victim.c: the victim cache in idle registers (src/mech/victim.c) behind an L1 of one set of four
 * lines, with hits counted on paper. */
#include "script_kit.h"

/* Three rounds over six lines: LRU always drops the line that comes next. With the victim cache e and f push
 * a and b into rows, where the next rounds find them; c to f stay in the L1. */
static const char rounds[] = "abcdef abcdef abcdef";

static void a_loop_that_does_not_fit_hits(void **state)
{
    play_and_expect(&(struct play){.script = rounds},
                    (struct wanted[]){{"l1.global_load_hits", 0}, {"l1.requests_read", 18}, {0}});
    play_and_expect(&(struct play){.script = rounds, .mechs = {"victim"}},
                    (struct wanted[]){{"l1.global_load_hits", 8},
                                      {"l1.requests_read", 6},
                                      {"victim.inserts", 2},
                                      {"victim.lookups", 10},
                                      {"victim.hits", 4},
                                      {"victim.invalidations", 0},
                                      {"sm.lent_max", 2},
                                      {0}});
}

/* Four hits, one after the other: each takes `latency`, and one cycle more where its bank is busy. */
static void a_hit_takes_its_latency(void **state)
{
    uint64_t cycles[3], conflicts[3];
    static const char *const latencies[] = {"victim.latency=1", "victim.latency=11", "victim.latency=300"};
    for (size_t i = 0; i < ARRAY_LEN(latencies); i++) {
        play(&(struct play){.script = rounds, .mechs = {"victim"}, .settings = {latencies[i]}});
        cycles[i] = rig_cycles(&rig, 0);
        conflicts[i] = stat_of("sm.lent_conflicts");
        assert_int_equal(stat_of("victim.hits"), 4);
        play_close();
    }
    assert_int_equal(cycles[1] - conflicts[1], cycles[0] - conflicts[0] + 4 * 10);
    assert_int_equal(cycles[2] - conflicts[2], cycles[0] - conflicts[0] + 4 * 299);
}

static void stores_and_atomics_drop_a_line(void **state)
{
    /* e pushes a out; A drops it; a comes from memory again, and pushes b out */
    play_and_expect(&(struct play){.script = "abcde A a b", .mechs = {"victim"}},
                    (struct wanted[]){{"victim.invalidations", 1},
                                      {"victim.inserts", 2},
                                      {"victim.hits", 1},
                                      {"l1.requests_read", 6},
                                      {0}});
    play_and_expect(&(struct play){.script = "abcde * a", .mechs = {"victim"}},
                    (struct wanted[]){{"victim.invalidations", 1}, {"victim.hits", 0}, {0}});
    /* a line that a store evicts does not come in either */
    play_and_expect(&(struct play){.script = "aA a", .mechs = {"victim"}},
                    (struct wanted[]){{"victim.inserts", 0}, {"l1.requests_read", 2}, {0}});
}

/* Registers are allocated in units of this many rows: a warp of a short script has one unit. */
enum { WARPS = 4, WARP_ROWS = 16 };
#define UNIT "sm.register_unit=512"

/* A setting of sm.registers: rows for this many CTAs of four warps, and more that are idle. */
static const char *registers_of(uint32_t ctas, uint32_t idle)
{
    static char text[64];
    snprintf(text, sizeof text, "sm.registers=%u", (ctas * WARPS * WARP_ROWS + idle) * 32);
    return text;
}

/* Only the first of four warps loads; all of them have registers. Two rows are idle: e and f push a and b
 * there; a is used; g pushes c into the row of b. */
static void the_line_used_least_recently_makes_room(void **state)
{
    static const char script[] = "!abcdef a g a c b";
    play_and_expect(
        &(struct play){
            .script = script, .mechs = {"victim"}, .sets = {UNIT, registers_of(1, 2)}, .block = 128},
        (struct wanted[]){{"sm.lent_max", 2}, {"victim.hits", 3}, {"l1.requests_read", 8}, {0}});
    play_and_expect(
        &(struct play){
            .script = script, .mechs = {"victim"}, .sets = {UNIT, registers_of(1, 0)}, .block = 128},
        (struct wanted[]){{"sm.lent_max", 0}, {"victim.inserts", 0}, {"victim.hits", 0}, {0}});
}

/* The L1 keeps c to f for the next kernel, but a and b are in neither: they come from memory, and push c and
 * d into rows. */
static void the_end_of_a_kernel_empties_it(void **state)
{
    play(&(struct play){.script = rounds, .mechs = {"victim"}, .sets = {"l1.flush=false"}});
    rig_run(&rig, "play", 1, 32, (const uint64_t[]){script_buf, rig_alloc(&rig, 128)});
    assert_int_equal(rig_stat(&rig, 1, "l1.requests_read"), 2);
    assert_int_equal(rig_stat(&rig, 1, "victim.lookups"), 8);
    assert_int_equal(rig_stat(&rig, 1, "victim.hits"), 6);
    play_close();
}

/* ---- rows that a CTA takes back ---- */

struct gate {
    const struct mech_ports *ports;
    uint64_t evictions;
};

static void gate_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    ((struct gate *)state)->ports = ports;
    ports->limit_ctas(ports->host, 1);
}

/* The fourth line has left the L1: the second CTA may come. */
static void gate_on_l1_evict(void *state, const struct mech_l1_evict *e)
{
    struct gate *g = state;
    if (++g->evictions == 4) g->ports->limit_ctas(g->ports->host, 2);
}

/* A CTA pushes a to d into rows and finds them there. If a second CTA comes as soon as d is there, and needs
 * all rows, the lines are gone, and no row is idle until the first CTA has ended. */
static void a_cta_takes_its_rows_back(void **state)
{
    static const char script[] = "!abcdefgh abcd";
    blank_fill((struct mechanism){
        .state_bytes = sizeof(struct gate), .init = gate_init, .on_l1_evict = gate_on_l1_evict});
    play_and_expect(
        &(struct play){
            .script = script, .mechs = {"victim"}, .sets = {UNIT, registers_of(2, 0)}, .block = 128},
        (struct wanted[]){{"victim.inserts", 4}, {"victim.hits", 4}, {"sm.lent_max", 4}, {0}});
    play(&(struct play){.script = script,
                        .mechs = {"victim", blank_file},
                        .sets = {UNIT, registers_of(2, 0)},
                        .grid = 2,
                        .block = 128});
    assert_int_equal(stat_of("sm.lent_max"), 4);
    assert_true(stat_of("victim.hits") < 4); /* the rows of the second CTA, when the first one has left */
    play_close();
}

static void runs_are_the_same_whatever_is_skipped(void **state)
{
    static const char script[] = "abcdef#ABa_*bc#def_#abcdef";
    expect_same_everywhere(&(struct play){.script = script, .mechs = {"victim"}});
    expect_same_everywhere(&(struct play){.script = script, .mechs = {"victim", "srrip", "lrr"}});
    expect_same_everywhere(
        &(struct play){.script = script, .mechs = {"victim"}, .sets = {"l1.sectored=true", "l1.ways=2"}});
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_loop_that_does_not_fit_hits),         RIG_TEST(a_hit_takes_its_latency),
        RIG_TEST(stores_and_atomics_drop_a_line),        RIG_TEST(the_line_used_least_recently_makes_room),
        RIG_TEST(the_end_of_a_kernel_empties_it),        RIG_TEST(a_cta_takes_its_rows_back),
        RIG_TEST(runs_are_the_same_whatever_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
