/* test_mech_ccws.c: victim tag arrays, lost-locality scores and the gate of ccws, from hand-made events,
 * with every value and cycle computed on paper. On a machine: tests/mech/test_gates.c. */
#include "mech_kit.h"

enum { LINE = 128, K = 8, BASE = 100 };

static void issue(struct mech_kit *k, int warp, int count)
{
    for (int i = 0; i < count; i++)
        mech_on_issue(k->sm, &(struct mech_issue){.cycle = k->cycle, .warp = warp});
}
static struct mech_l1_access access_to(const struct mech_kit *k, int warp, uint64_t line)
{
    return (struct mech_l1_access){
        .cycle = k->cycle, .warp = warp, .line = line * LINE, .outcome = MECH_L1_MISS};
}
static void miss(struct mech_kit *k, int warp, uint64_t line)
{
    const struct mech_l1_access a = access_to(k, warp, line);
    mech_on_l1_access(k->sm, &a);
}
static struct mech_l1_evict eviction_of(const struct mech_kit *k, int warp, uint64_t line)
{
    return (struct mech_l1_evict){.cycle = k->cycle,
                                  .line = line * LINE,
                                  .cause = MECH_EVICT_REPLACED,
                                  .owner_warp = warp,
                                  .was_used = true};
}
static void evict(struct mech_kit *k, int warp, uint64_t line)
{
    const struct mech_l1_evict e = eviction_of(k, warp, line);
    mech_on_l1_evict(k->sm, &e);
}
static uint64_t gated(const struct mech_kit *k) { return ~k->sm->masks[0].load; }

/* Warps 0, 1 and 2 are here and have issued two instructions each. */
static void open_three(struct mech_kit *k)
{
    kit_open(k, "ccws oldest", "", 1);
    for (int w = 0; w < 3; w++) kit_start(k, w);
    for (int w = 0; w < 3; w++) issue(k, w, 2);
}

/* Can the warp issue, with a load next, or with another instruction next? */
static bool can_issue(struct mech_kit *k, int warp, bool is_load)
{
    struct mech_sched_view v = {.ready = W(warp),
                                .resident = k->resident,
                                .memory_next = is_load ? W(warp) : 0,
                                .load_next = is_load ? W(warp) : 0,
                                .age = k->age,
                                .cta = k->cta,
                                .last = MECH_NO_WARP,
                                .scheduler_count = 1};
    return mech_pick(k->sm, &v) == warp;
}

/* At cycle 1000 warp 0 misses a line that it lost. One hit, six instructions, cutoff 300: its score is
 * 1 * 8 * 300 / 6 = 400, which alone reaches the cutoff: 1 and 2 are held back. It is 299 at cycle 1101: with
 * 1 the sum is 399. That is 299 at cycle 1201: 2 is free. */
static void a_hit_gates_the_loads_of_others_until_the_score_has_fallen(void **unused)
{
    struct mech_kit k;
    open_three(&k);
    evict(&k, 0, 5);
    k.cycle = 1000;
    miss(&k, 0, 5);
    assert_int_equal(kit_stat(&k, "ccws.vta_hits"), 1);
    assert_int_equal(kit_stat(&k, "ccws.score_max"), 1 * K * 3 * BASE / 6);
    assert_int_equal(gated(&k), W(1) | W(2));
    assert_int_equal(k.sm->next_timer, 1101);
    for (int w = 0; w < 3; w++) {
        assert_int_equal(can_issue(&k, w, true), w == 0);
        assert_true(can_issue(&k, w, false)); /* arithmetic goes on */
    }
    mech_on_timer(k.sm, 1101);
    assert_int_equal(gated(&k), W(2));
    assert_int_equal(k.sm->next_timer, 1201);
    assert_false(can_issue(&k, 2, true));
    mech_on_timer(k.sm, 1201);
    assert_int_equal(gated(&k), 0);
    assert_int_equal(k.sm->next_timer, UINT64_MAX);
    assert_true(can_issue(&k, 2, true));
    assert_int_equal(kit_stat(&k, "ccws.gate_changes"), 3);
    assert_int_equal(kit_stat(&k, "ccws.gated_cycles"), 2 * 101 + 100);
    kit_close(&k);
}

/* The second hit finds hits = 2 and issued = 8: 2 * 8 * 300 / 8 = 600, for warp 1. It comes first now; at
 * cycle 1050 the score of warp 0 is 350. */
static void the_highest_scores_come_first(void **unused)
{
    struct mech_kit k;
    open_three(&k);
    evict(&k, 0, 5);
    evict(&k, 1, 6);
    k.cycle = 1000;
    miss(&k, 0, 5);
    issue(&k, 0, 2);
    k.cycle = 1050;
    miss(&k, 1, 6);
    assert_int_equal(kit_stat(&k, "ccws.score_max"), 600);
    assert_int_equal(gated(&k), W(0) | W(2));
    assert_int_equal(k.sm->next_timer, 1300); /* warp 0 is at the base; 600 falls below 300 at 1351 */
    mech_on_timer(k.sm, 1300);
    assert_int_equal(gated(&k), W(0) | W(2));
    mech_on_timer(k.sm, 1351);
    assert_int_equal(gated(&k), W(2)); /* equal scores: the lower slot */
    kit_close(&k);
}

/* Two hits with six and twelve instructions: 1 * 8 * 300 / 6 = 2 * 8 * 300 / 12. Warp 2 has it first. */
static void of_equal_scores_the_lower_slot_comes_first(void **unused)
{
    struct mech_kit k;
    open_three(&k);
    evict(&k, 1, 5);
    evict(&k, 2, 6);
    miss(&k, 2, 6);
    assert_int_equal(gated(&k), W(0) | W(1));
    issue(&k, 0, 6);
    miss(&k, 1, 5);
    assert_int_equal(gated(&k), W(0) | W(2));
    kit_close(&k);
}

static void a_score_below_the_base_stays_at_the_base(void **unused)
{
    struct mech_kit k;
    open_three(&k);
    issue(&k, 2, 18); /* 1 * 8 * 300 / 24 = 100 */
    evict(&k, 0, 5);
    miss(&k, 0, 5);
    assert_int_equal(kit_stat(&k, "ccws.vta_hits"), 1);
    assert_int_equal(gated(&k), 0);
    assert_int_equal(kit_stat(&k, "ccws.gate_changes"), 0);
    assert_int_equal(k.sm->next_timer, UINT64_MAX);
    kit_close(&k);
}

static void without_lost_locality_the_gate_never_changes(void **unused)
{
    struct mech_kit k;
    open_three(&k);
    for (uint64_t i = 0; i < 100; i++) {
        miss(&k, (int)(i % 3), i); /* a stream: no line comes back */
        evict(&k, (int)(i % 3), i);
        miss(&k, (int)((i + 1) % 3), i); /* another warp's line: that is not lost locality */
    }
    assert_int_equal(kit_stat(&k, "ccws.vta_inserts"), 100);
    assert_int_equal(kit_stat(&k, "ccws.vta_probes"), 200);
    assert_int_equal(kit_stat(&k, "ccws.vta_hits"), 0);
    assert_int_equal(kit_stat(&k, "ccws.gate_changes"), 0);
    assert_int_equal(gated(&k), 0);
    kit_close(&k);
}

static void a_store_or_atomic_drops_the_tag_from_all_arrays(void **unused)
{
    for (int is_atomic = 0; is_atomic < 2; is_atomic++) {
        struct mech_kit k;
        open_three(&k);
        for (int w = 0; w < 3; w++) evict(&k, w, 5);
        evict(&k, 0, 7);
        struct mech_l1_access a = access_to(&k, 2, 5);
        a.is_store = !is_atomic;
        a.is_atomic = is_atomic;
        a.outcome = MECH_L1_SENT;
        mech_on_l1_access(k.sm, &a);
        assert_int_equal(kit_stat(&k, "ccws.vta_invalidations"), 3);
        for (int w = 0; w < 3; w++) miss(&k, w, 5);
        assert_int_equal(kit_stat(&k, "ccws.vta_hits"), 0);
        miss(&k, 0, 7);
        assert_int_equal(kit_stat(&k, "ccws.vta_hits"), 1);
        kit_close(&k);
    }
}

/* Lines 0, 2, 4, ... are of set 0, the others of set 1. The ninth tag of a set drops the first; a tag that
 * is there already is not renewed. */
static void an_array_has_two_sets_of_eight_tags_first_in_first_out(void **unused)
{
    struct mech_kit k;
    open_three(&k);
    for (uint64_t i = 0; i < 8; i++) evict(&k, 0, 2 * i);
    evict(&k, 0, 1);
    evict(&k, 0, 0);
    miss(&k, 0, 0);
    assert_int_equal(kit_stat(&k, "ccws.vta_hits"), 1);
    evict(&k, 0, 16);
    miss(&k, 0, 0);
    assert_int_equal(kit_stat(&k, "ccws.vta_hits"), 1);
    for (uint64_t i = 1; i <= 8; i++) miss(&k, 0, 2 * i);
    miss(&k, 0, 1);
    assert_int_equal(kit_stat(&k, "ccws.vta_hits"), 1 + 8 + 1);
    kit_close(&k);
}

/* Only what a load of the warp brought and another line replaced. */
static void other_evictions_and_accesses_do_not_count(void **unused)
{
    struct mech_kit k;
    open_three(&k);
    for (int cause = MECH_EVICT_STORE; cause <= MECH_EVICT_RESIZE; cause++) {
        struct mech_l1_evict e = eviction_of(&k, 0, 5);
        e.cause = (enum mech_evict_cause)cause;
        mech_on_l1_evict(k.sm, &e);
    }
    struct mech_l1_evict unused_prefetch = eviction_of(&k, 0, 5);
    unused_prefetch.was_prefetch = true;
    unused_prefetch.was_used = false;
    mech_on_l1_evict(k.sm, &unused_prefetch);
    assert_int_equal(kit_stat(&k, "ccws.vta_inserts"), 0);
    evict(&k, 0, 5);
    for (int i = 0; i < 3; i++) {
        struct mech_l1_access a = access_to(&k, 0, 5);
        if (i == 0) a.outcome = MECH_L1_HIT;
        if (i == 1) a.outcome = MECH_L1_PENDING;
        if (i == 2) a.is_prefetch = true;
        mech_on_l1_access(k.sm, &a);
    }
    assert_int_equal(kit_stat(&k, "ccws.vta_probes"), 0);
    kit_close(&k);
}

/* Warps 0 and 1 have one hit each. When warp 1 has ended, a hit of warp 0 finds hits 2, issued 4, cutoff 200:
 * 2 * 8 * 200 / 4 = 800. A warp that starts in slot 1 has an empty array and the score of the base. */
static void a_warp_that_ends_takes_its_score_and_counts_with_it(void **unused)
{
    struct mech_kit k;
    open_three(&k);
    for (int w = 0; w < 2; w++) {
        evict(&k, w, 5);
        miss(&k, w, 5);
    }
    assert_int_equal(gated(&k), W(0) | W(2)); /* 800 and 400 */
    kit_end(&k, 1);
    assert_int_equal(gated(&k), W(2));
    miss(&k, 0, 5);
    assert_int_equal(kit_stat(&k, "ccws.score_max"), 800);
    assert_int_equal(k.sm->next_timer, 601); /* 800 falls below 200 */
    kit_start(&k, 1);
    miss(&k, 1, 5);
    assert_int_equal(kit_stat(&k, "ccws.vta_hits"), 3);
    for (int w = 0; w < 3; w++) kit_end(&k, w);
    assert_int_equal(gated(&k), 0);
    assert_int_equal(k.sm->next_timer, UINT64_MAX);
    kit_close(&k);
}

/* Its line may be replaced long after its end, when its slot holds another warp. */
static void a_line_of_a_warp_that_has_ended_goes_nowhere(void **unused)
{
    struct mech_kit k;
    open_three(&k);
    kit_end(&k, 1);
    mech_on_warp(k.sm, &(struct mech_warp_event){.warp = 1, .is_start = true, .launch = 9});
    evict(&k, 1, 5); /* of launch 0 */
    assert_int_equal(kit_stat(&k, "ccws.vta_inserts"), 0);
    struct mech_l1_evict e = eviction_of(&k, 1, 5);
    e.owner_launch = 9;
    mech_on_l1_evict(k.sm, &e);
    assert_int_equal(kit_stat(&k, "ccws.vta_inserts"), 1);
    kit_close(&k);
}

/* ---- against a model that looks at every cycle ---- */

enum { MODEL_WARPS = 12, MODEL_CYCLES = 6000 };
struct model {
    uint64_t score[MODEL_WARPS], hits[MODEL_WARPS], issued[MODEL_WARPS];
    bool is_here[MODEL_WARPS];
};

static uint64_t model_sum(const struct model *m, const uint64_t *of)
{
    uint64_t sum = 0;
    for (int w = 0; w < MODEL_WARPS; w++) sum += m->is_here[w] ? of[w] : 0;
    return sum;
}
static uint64_t model_cutoff(const struct model *m)
{
    uint64_t n = 0;
    for (int w = 0; w < MODEL_WARPS; w++) n += m->is_here[w];
    return MAX(n * BASE, 1);
}
static uint64_t model_gate(const struct model *m)
{
    uint64_t rest = 0, sum = 0;
    for (int w = 0; w < MODEL_WARPS; w++) rest |= m->is_here[w] ? W(w) : 0;
    while (rest && sum < model_cutoff(m)) {
        int best = -1;
        for (int w = 0; w < MODEL_WARPS; w++)
            if (rest & W(w) && (best < 0 || m->score[w] > m->score[best])) best = w;
        sum += m->score[best];
        rest &= ~W(best);
    }
    return rest;
}
static void model_hit(struct model *m, int w)
{
    m->hits[w]++;
    const uint64_t score = model_sum(m, m->hits) * K * model_cutoff(m) / model_sum(m, m->issued);
    m->score[w] = MAX(score, BASE);
}

/* What happens at random in a cycle, to both. */
static void model_step(struct mech_kit *k, struct model *m, uint64_t rng, uint64_t *next_line)
{
    const int w = (int)(rng >> 40) % MODEL_WARPS;
    const uint64_t what = rng >> 56;
    if (!m->is_here[w]) {
        if (what > 8) return;
        kit_start(k, w);
        m->is_here[w] = true;
        m->score[w] = BASE;
        m->hits[w] = m->issued[w] = 0;
    } else if (what < 120) {
        issue(k, w, 1);
        m->issued[w]++;
    } else if (what < 123 && model_sum(m, m->issued)) {
        evict(k, w, ++*next_line);
        miss(k, w, *next_line);
        model_hit(m, w);
    } else if (what == 255) {
        kit_end(k, w);
        m->is_here[w] = false;
    }
}

static void the_gate_is_that_of_a_model_that_looks_at_every_cycle(void **unused)
{
    struct mech_kit k;
    struct model m = {0};
    uint64_t rng = 7, next_line = 0, held = 0;
    kit_open(&k, "ccws oldest", "", 1);
    for (k.cycle = 0; k.cycle < MODEL_CYCLES; k.cycle++) {
        for (int w = 0; w < MODEL_WARPS; w++) m.score[w] -= m.score[w] > BASE;
        mech_on_timer(k.sm, k.cycle);
        assert_int_equal(gated(&k), model_gate(&m));
        rng = rng * 6364136223846793005ull + 1442695040888963407ull;
        model_step(&k, &m, rng, &next_line);
        assert_int_equal(gated(&k), model_gate(&m));
        held += (uint64_t)__builtin_popcountll(gated(&k));
    }
    assert_true(kit_stat(&k, "ccws.gate_changes") > 20);
    assert_in_range(kit_stat(&k, "ccws.gated_cycles"), held / 2, held);
    kit_close(&k);
}

/* ---- banks, cost, bad input ---- */

/* Two banks of 64: slots 0 and 64. Warp 64 loses locality; its score holds back warp 0. */
static void an_sm_of_several_banks_has_one_gate(void **unused)
{
    struct mech_kit k = {.last = MECH_NO_WARP};
    assert_true(kit_try_set(&k, "ccws oldest", ""));
    kit_attach(&k, &kit_ops, 128, 2);
    kit_start(&k, 0);
    mech_on_warp(k.sm, &(struct mech_warp_event){.warp = 64, .is_start = true, .scheduler = 1});
    issue(&k, 64, 4);
    evict(&k, 64, 5);
    miss(&k, 64, 5); /* 1 * 8 * 200 / 4 = 400 */
    assert_int_equal(~k.sm->masks[0].load, W(0));
    assert_int_equal(~k.sm->masks[1].load, 0);
    kit_close(&k);
}

/* 48 warps, 32 sets of 4 lines: a tag of 48 - 7 - 1 bits and a valid bit, 16 of them, and two pointers of 3
 * bits; 6 bits for each line; three counters of 32 bits for each warp, and two sums. */
static void the_cost_follows_from_the_parameters(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "ccws", "", 1);
    assert_int_equal(kit_cost(&k), 48 * (16 * 41 + 2 * 3 + 96) + 128 * 6 + 64);
    kit_close(&k);
    kit_open(&k, "ccws", "ccws.tags=8 ccws.ways=8", 1);
    assert_int_equal(kit_cost(&k), 48 * (8 * 42 + 3 + 96) + 128 * 6 + 64);
    kit_close(&k);
}

static void tags_that_ways_do_not_divide_are_refused(void **unused)
{
    struct mech_kit k = {0};
    const struct mech_machine machine = {.sm_count = 1, .warps = 48, .schedulers = 1, .line_bytes = LINE};
    assert_true(kit_try_set(&k, "ccws", "ccws.tags=20"));
    k.gpu = mech_gpu_create(k.set, 1);
    assert_false(mech_gpu_check(k.gpu, &machine, &k.diags));
    struct strbuf out = {0};
    diag_render(&k.diags, &out);
    assert_non_null(strstr(strbuf_text(&out), "ccws.tags is 20, which is not a multiple of ccws.ways, 8"));
    strbuf_free(&out);
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hit_gates_the_loads_of_others_until_the_score_has_fallen),
        cmocka_unit_test(the_highest_scores_come_first),
        cmocka_unit_test(of_equal_scores_the_lower_slot_comes_first),
        cmocka_unit_test(a_score_below_the_base_stays_at_the_base),
        cmocka_unit_test(without_lost_locality_the_gate_never_changes),
        cmocka_unit_test(a_store_or_atomic_drops_the_tag_from_all_arrays),
        cmocka_unit_test(an_array_has_two_sets_of_eight_tags_first_in_first_out),
        cmocka_unit_test(other_evictions_and_accesses_do_not_count),
        cmocka_unit_test(a_warp_that_ends_takes_its_score_and_counts_with_it),
        cmocka_unit_test(a_line_of_a_warp_that_has_ended_goes_nowhere),
        cmocka_unit_test(the_gate_is_that_of_a_model_that_looks_at_every_cycle),
        cmocka_unit_test(an_sm_of_several_banks_has_one_gate),
        cmocka_unit_test(the_cost_follows_from_the_parameters),
        cmocka_unit_test(tags_that_ways_do_not_divide_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
