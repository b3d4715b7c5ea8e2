/* test_prefetch.c: the path of prefetches on a machine (src/core/sm/prefetch.c, src/mem/l1_prefetch.c), with
 * a mechanism that asks for given lines, and with the prefetchers; the law that each prefetch ends in one
 * way. */
#include "script_kit.h"

#include "core/sm/sm_impl.h"
#include "core/timed_impl.h"

/* A miss, and hits that take longer than another miss. */
#define LONG_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct asker {
    const struct mech_ports *ports;
};

/* The lines that the mechanism asks for when the L1 takes its first load, as letters, and the outcomes;
 * `before`: loads that the L1 had taken when the first prefetch was sent. */
static const char *wanted_lines;
static uint32_t loads, before, answers[2], outcomes[4];
static char last_of[4];

static void asker_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    ((struct asker *)state)->ports = ports;
}
static void asker_on_l1_access(void *state, const struct mech_l1_access *e)
{
    const struct mech_ports *p = ((struct asker *)state)->ports;
    if (e->is_prefetch || e->is_store || loads++) return;
    for (const char *c = wanted_lines; *c; c++) {
        const uint64_t address = *c == '?' ? 0x1000 : line_at(*c) + 4;
        answers[p->prefetch(p->host, address, 7, 0)]++;
    }
}
static void asker_on_prefetch(void *state, const struct mech_prefetch *e)
{
    if (e->outcome == MECH_PREFETCH_SENT && !outcomes[e->outcome]) before = loads;
    outcomes[e->outcome]++;
    last_of[e->outcome] = (char)('a' + (e->line - script_buf) / LINE_BYTES);
    assert_int_equal(e->pc, 7);
}

static void ask(const char *lines)
{
    wanted_lines = lines;
    loads = before = 0;
    memset(answers, 0, sizeof answers);
    memset(outcomes, 0, sizeof outcomes);
    blank_fill((struct mechanism){.state_bytes = sizeof(struct asker),
                                  .init = asker_init,
                                  .on_l1_access = asker_on_l1_access,
                                  .on_prefetch = asker_on_prefetch});
}

static struct play asking(const char *script)
{
    return (struct play){.script = script, .mechs = {blank_file}, .sets = {"l1.mshrs=1"}};
}

/* ---- the queue ---- */

/* a has the only MSHR: b waits for it, and is there when it is loaded. */
static void a_prefetch_waits_until_the_l1_has_room(void **state)
{
    ask("b");
    struct play p = asking("aaaab");
    play_and_expect(&p, (struct wanted[]){{"l1.prefetch_offered", 1},
                                          {"l1.prefetch_issued", 1},
                                          {"l1.prefetch_dropped", 0},
                                          {"l1.load_misses", 1},
                                          {0}});
    assert_int_equal(outcomes[MECH_PREFETCH_SENT], 1);
}

static void one_of_a_line_that_waits_is_merged(void **state)
{
    ask("bbcb");
    struct play p = asking("ab");
    play_and_expect(&p, (struct wanted[]){{"sm.prefetches", 4}, {"sm.prefetches_merged", 2}, {0}});
    assert_int_equal(answers[true], 4);
    assert_int_equal(outcomes[MECH_PREFETCH_REDUNDANT], 2);
    assert_int_equal(last_of[MECH_PREFETCH_REDUNDANT], 'b');
}

static void a_newer_one_takes_the_slot_of_the_oldest(void **state)
{
    ask("bcd");
    struct play p = asking(LONG_A);
    p.sets[1] = "sm.prefetch_queue=2";
    play_and_expect(&p, (struct wanted[]){{"sm.prefetches_dropped", 1}, {"l1.prefetch_offered", 2}, {0}});
    assert_int_equal(answers[true], 3);
    assert_int_equal(outcomes[MECH_PREFETCH_DROPPED], 1);
    assert_int_equal(last_of[MECH_PREFETCH_DROPPED], 'b');
}

static void an_address_in_no_allocation_is_refused(void **state)
{
    ask("?b?");
    struct play p = asking("ab");
    play_and_expect(&p, (struct wanted[]){{"sm.prefetches_refused", 2}, {"l1.prefetch_offered", 1}, {0}});
    assert_int_equal(answers[false], 2);
    assert_int_equal(outcomes[MECH_PREFETCH_REFUSED], 2);
}

/* A load of 32 lines, and one MSHR: each time that the MSHR is free, the next line is waiting for it. */
static void prefetches_take_turns_with_loads_or_come_last(void **state)
{
    static const struct {
        const char *priority;
        uint32_t before;
    } rows[] = {{"l1.prefetch_priority=alternate", 1}, {"l1.prefetch_priority=low", 32}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        ask("b");
        struct play p = asking("#");
        p.sets[1] = rows[i].priority;
        play_and_expect(&p, (struct wanted[]){{"l1.prefetch_issued", 1}, {0}});
        assert_int_equal(before, rows[i].before);
    }
}

/* The second warp's load of a may not merge with the first one's, and waits; MSHRs are free. */
static void what_the_head_waits_for_alone_holds_no_prefetch_back(void **state)
{
    ask("b");
    struct play p = {.script = "a",
                     .mechs = {blank_file},
                     .sets = {"l1.merges=1", "l1.prefetch_priority=low"},
                     .block = 64};
    play(&p);
    assert_true(stat_of("l1.stall_mshr") > 0);
    assert_int_equal(outcomes[MECH_PREFETCH_SENT], 1);
    assert_int_equal(before, 1);
    play_close();
}

/* ---- how they end ---- */

/* The line is under way when a load wants it; it is there; or it has left before (a set of one line), wanted
 * or not. */
static void each_ends_in_one_way(void **state)
{
    static const struct {
        const char *script, *lines, *size, *end;
    } rows[] = {{"ab", "b", "l1.size=512", "l1.prefetch_late"},
                {LONG_A "b", "b", "l1.size=512", "l1.prefetch_useful"},
                {LONG_A "cb", "b", "l1.size=128", "l1.prefetch_early"},
                {LONG_A "c", "b", "l1.size=128", "l1.prefetch_useless"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        ask(rows[i].lines);
        struct play p = {.script = rows[i].script, .mechs = {blank_file}, .sets = {rows[i].size}};
        play_and_expect(&p, (struct wanted[]){{"l1.prefetch_issued", 1}, {rows[i].end, 1}, {0}});
    }
}

/* After a kernel whose counts were tampered with, the next kernel breaks a law. */
static void a_prefetch_that_ends_in_no_way_breaks_a_law(void **state)
{
    ask("b");
    struct play p = asking("ab");
    play(&p);
    rig.gpu->wiring.sms[0]->stats.prefetches++;
    rig_launch(&rig, "play", 1, 32, (const uint64_t[]){script_buf, rig_alloc(&rig, 128)}, 0);
    assert_int_equal(timed_sync(rig.gpu, UINT64_MAX, &rig.fault), EMU_LAW_BROKEN);
    assert_non_null(
        strstr(timed_report(rig.gpu), "prefetches that have ended or are open, of SM 0: 1, should be 2"));
    play_close();
}

static void a_prefetch_that_stays_open_breaks_a_law(void **state)
{
    ask("b");
    struct play p = asking("ab");
    play(&p);
    rig.gpu->wiring.sms[0]->prefetches.count = 1;
    laws_check_empty(&rig.gpu->wiring, timed_cycles(rig.gpu), &rig.gpu->end);
    rig.gpu->wiring.sms[0]->prefetches.count = 0;
    assert_non_null(strstr(timed_report(rig.gpu), "prefetches that are open, of SM 0: 1, should be 0"));
    play_close();
}

/* ---- statistics ---- */

/* a misses and hits twice, b misses, b, a and b hit: the first hit after each miss follows a miss. */
static void hits_are_told_apart_by_the_load_before(void **state)
{
    play_and_expect(&(struct play){.script = "aaabbab"}, (struct wanted[]){{"l1.load_hits", 5},
                                                                           {"l1.hit_after_miss", 2},
                                                                           {"l1.hit_after_hit", 3},
                                                                           {"l1.cold_misses", 2},
                                                                           {0}});
    /* two warps: a misses and merges, a hits twice, b misses and merges; a merge is not a hit */
    play_and_expect(&(struct play){.script = "aab", .block = 64}, (struct wanted[]){{"l1.load_hits", 4},
                                                                                    {"l1.load_pending", 2},
                                                                                    {"l1.hit_after_miss", 1},
                                                                                    {"l1.hit_after_hit", 1},
                                                                                    {0}});
}

/* One warp alone: each miss waits for its line, and no load merges. With two warps the second merges, and
 * waits almost as long. */
static void loads_that_merge_count_as_waiting(void **state)
{
    play(&(struct play){.script = "abc"});
    assert_int_equal(stat_of("l1.demand_waits"), 3);
    assert_int_equal(stat_of("l1.demand_wait_sum"), stat_of("l1.miss_latency_sum"));
    play_close();
    play(&(struct play){.script = "abc", .block = 64});
    assert_int_equal(stat_of("l1.demand_waits"), 6);
    assert_int_equal(stat_of("l1.miss_latency_count"), 3);
    assert_in_range(stat_of("l1.demand_wait_sum"), 1.8 * stat_of("l1.miss_latency_sum"),
                    2 * stat_of("l1.miss_latency_sum") - 1);
    play_close();
}

/* ---- the prefetchers ---- */

/* The lines of a block of four, from wherever the script's memory begins. */
static void sld_brings_the_rest_of_a_block(void **state)
{
    struct play p = {.script = "eh", .mechs = {"sld"}, .sets = {"l1.size=4K"}};
    play_open(&p);
    const bool is_aligned = script_buf % (4 * LINE_BYTES) == 0;
    play_close();
    p.script = is_aligned ? "eh_fg" : "cf_de";
    play_and_expect(
        &p, (struct wanted[]){{"sld.detected", 1}, {"sld.prefetches", 2}, {"l1.load_misses", 2}, {0}});
}

static void runs_are_the_same_whatever_is_skipped(void **state)
{
    static const char script[] = "abdf#ABa_*bc#def_#abcdef";
    static const char *const machines[][2] = {{"l1.prefetch_priority=low", "sm.prefetch_queue=1"},
                                              {"l1.tag_latency=20", "l1.latency=30"},
                                              {"l1.sectored=true", "l1.allocate=fill"},
                                              {"l1.flush=false", "l1.mshrs=2"}};
    expect_same_everywhere(&(struct play){.script = script, .mechs = {"str", "sld", "lrr"}});
    for (size_t i = 0; i < ARRAY_LEN(machines); i++)
        expect_same_everywhere(&(struct play){.script = script,
                                              .mechs = {"sld", "str", "victim"},
                                              .settings = {"str.confidence=1", "str.degree=4"},
                                              .sets = {machines[i][0], machines[i][1]}});
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_prefetch_waits_until_the_l1_has_room),
        RIG_TEST(one_of_a_line_that_waits_is_merged),
        RIG_TEST(a_newer_one_takes_the_slot_of_the_oldest),
        RIG_TEST(an_address_in_no_allocation_is_refused),
        RIG_TEST(prefetches_take_turns_with_loads_or_come_last),
        RIG_TEST(what_the_head_waits_for_alone_holds_no_prefetch_back),
        RIG_TEST(each_ends_in_one_way),
        RIG_TEST(a_prefetch_that_ends_in_no_way_breaks_a_law),
        RIG_TEST(a_prefetch_that_stays_open_breaks_a_law),
        RIG_TEST(hits_are_told_apart_by_the_load_before),
        RIG_TEST(loads_that_merge_count_as_waiting),
        RIG_TEST(sld_brings_the_rest_of_a_block),
        RIG_TEST(runs_are_the_same_whatever_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
