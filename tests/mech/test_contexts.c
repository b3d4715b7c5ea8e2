/* test_contexts.c: the largest number of contexts that an SM can have: 128 CTAs with 512 warps, of which 4 x
 * 64 have slots (wide.yaml), with a mechanism that admits CTAs, exchanges them and picks. */
#include "script_kit.h"

#define WIDE HEDDLE_SOURCE_DIR "/tests/mech/wide.yaml"
enum { SMS = 2, CTA_WARPS = 4, CTAS_MAX = 128, GRID = 2 * SMS * CTAS_MAX };

struct wide {
    const struct mech_ports *ports;
    /* resident now; swaps of CTAs, with their cycles; the highest number of CTAs and of their warps at a
     * time, and of warps of a scheduler */
    uint64_t ctas, warps, swapped, ctas_most, warps_most, active_most[MECH_SCHEDULERS_MAX];
    bool is_ready[CTAS_MAX];
};
#define COUNT(field) STAT_COUNT(wide, field, "blank." #field, "", "for the test", NULL)
static const struct stat_row wide_stats[] = {
    COUNT(swapped),
    COUNT(ctas_most),
    COUNT(warps_most),
    STAT_COUNT(wide, active_most[0], "blank.active0", "", "for the test", NULL),
    STAT_COUNT(wide, active_most[1], "blank.active1", "", "for the test", NULL),
    STAT_COUNT(wide, active_most[2], "blank.active2", "", "for the test", NULL),
    STAT_COUNT(wide, active_most[3], "blank.active3", "", "for the test", NULL),
    {0}};

static void wide_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    ((struct wide *)state)->ports = ports;
    assert_int_equal(ports->banks, 4);
    assert_int_equal(ports->warps, 256);
    assert_int_equal(ports->ctas, CTAS_MAX);
}

static bool admit_all(void *state, struct mech_admit *a) { return true; }

static void keep_most(uint64_t *most, uint64_t value)
{
    if (value > *most) *most = value;
}

static int pick_youngest(void *state, const struct mech_sched_view *view)
{
    struct wide *w = state;
    int best = -1;
    keep_most(&w->active_most[view->scheduler], (uint64_t)__builtin_popcountll(view->resident));
    for (uint64_t left = view->ready; left; left &= left - 1) {
        const int bit = __builtin_ctzll(left);
        if (best < 0 || view->age[bit] > view->age[best]) best = bit;
    }
    return best;
}

static uint32_t find_ready(const struct wide *w)
{
    for (uint32_t i = 0; i < CTAS_MAX; i++)
        if (w->is_ready[i]) return i;
    return MECH_NO_CTA;
}

/* A CTA that stalls gives its slots to a CTA that is ready, and so does a CTA that has ended. */
static void wide_on_cta(void *state, const struct mech_cta *e)
{
    struct wide *w = state;
    const bool is_end = e->kind == MECH_CTA_END;
    if (e->kind == MECH_CTA_START || is_end) {
        w->ctas = is_end ? w->ctas - 1 : w->ctas + 1;
        w->warps = is_end ? w->warps - e->warps : w->warps + e->warps;
        keep_most(&w->ctas_most, w->ctas);
        keep_most(&w->warps_most, w->warps);
    }
    if (e->kind == MECH_CTA_READY) w->is_ready[e->cta_slot] = true;
    if (e->kind == MECH_CTA_OUT || e->kind == MECH_CTA_IN) w->swapped += e->cycle * (e->cta_slot + 1);
    if (e->kind != MECH_CTA_STALLED && !is_end && e->kind != MECH_CTA_READY) return;
    const uint32_t in = find_ready(w);
    const uint32_t out = e->kind == MECH_CTA_STALLED ? e->cta_slot : MECH_NO_CTA;
    if (in != MECH_NO_CTA && w->ports->cta_swap(w->ports->host, out, in, 2)) w->is_ready[in] = false;
}

/* play checks the results. */
static void an_sm_reaches_512_contexts_in_128_ctas(void **state)
{
    blank_fill((struct mechanism){.state_bytes = sizeof(struct wide),
                                  .stats = wide_stats,
                                  .init = wide_init,
                                  .admit = admit_all,
                                  .pick = pick_youngest,
                                  .on_cta = wide_on_cta});
    struct play p = {
        .script = "ab$A_c", .mechs = {blank_file}, .machine = WIDE, .grid = GRID, .block = CTA_WARPS * 32};
    play(&p);
    expect_stats((struct wanted[]){{"blank.ctas_most", SMS * CTAS_MAX},
                                   {"blank.warps_most", SMS * CTAS_MAX * CTA_WARPS},
                                   {"blank.active0", SMS * 64},
                                   {"blank.active1", SMS * 64},
                                   {"blank.active2", SMS * 64},
                                   {"blank.active3", SMS * 64},
                                   {0}});
    assert_true(stat_of("blank.swapped") > 0);
    const uint64_t hash = timed_hash(rig.gpu);
    play_close();
    assert_int_equal(play_hash(&p, WIDE, 2, false), hash);
    assert_int_equal(play_hash(&p, WIDE, 1, true), hash);
    if (!IS_SANITIZED) assert_int_equal(play_hash(&p, WIDE, 2, true), hash);
}

/* Without a mechanism that admits more CTAs, only those with slots are resident. */
static void an_sm_has_4_x_64_active_warps(void **state)
{
    struct play p = {
        .script = "ab$A_c#", .mechs = {"two-level"}, .machine = WIDE, .grid = GRID, .block = 128};
    play(&p);
    assert_true(stat_of("sm.warp_cycles") > 0 && stat_of("sm.pending_cta_cycles") == 0);
    const uint64_t hash = timed_hash(rig.gpu);
    play_close();
    assert_int_equal(play_hash(&p, WIDE, 2, false), hash);
    assert_int_equal(play_hash(&p, WIDE, 1, true), hash);
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(an_sm_reaches_512_contexts_in_128_ctas),
        RIG_TEST(an_sm_has_4_x_64_active_warps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
