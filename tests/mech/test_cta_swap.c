/* test_cta_swap.c: CTAs without slots (src/core/sm/cta_swap.c): the hooks admit and on_cta, the ports
 * cta_swap, cta_park, cta_unpark, warp_pcs and cta_live, each with a mechanism that uses only it. */
#include "script_kit.h"

enum { EVENTS = 256 };

/* The events that the mechanism of a test got, and its actions. */
static struct {
    const struct mech_ports *ports;
    struct mech_cta events[EVENTS];
    uint32_t count;
    /* cycles of a swap; the CTA that is ready and waits */
    uint32_t cycles, ready;
    uint64_t begun;
    /* which parked registers are kept: none, or the live ones */
    bool keeps;
    /* calls of cta_swap that should be refused */
    uint32_t refusals;
    uint32_t live_rows, pcs;
} seen;

static void see_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    seen.ports = ports;
    seen.count = 0;
    seen.ready = MECH_NO_CTA;
    seen.refusals = 0;
}

static void see(const struct mech_cta *e)
{
    assert_true(seen.count < EVENTS);
    seen.events[seen.count++] = *e;
}

static uint32_t count_of(enum mech_cta_kind kind)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < seen.count; i++) n += seen.events[i].kind == kind;
    return n;
}

/* The i-th event of a kind. */
static const struct mech_cta *event_of(enum mech_cta_kind kind, uint32_t i)
{
    for (uint32_t k = 0; k < seen.count; k++)
        if (seen.events[k].kind == kind && i-- == 0) return &seen.events[k];
    fail_msg("there is no such event of kind %d", (int)kind);
    return NULL;
}

static bool admit_all(void *state, struct mech_admit *a) { return true; }

/* ---- in order ---- */

/* A CTA that is ready enters when another has ended. */
static void enter_on_cta(void *state, const struct mech_cta *e)
{
    see(e);
    if (e->kind == MECH_CTA_READY) seen.ready = seen.ready == MECH_NO_CTA ? e->cta_slot : seen.ready;
    if (e->kind != MECH_CTA_END || seen.ready == MECH_NO_CTA) return;
    assert_true(seen.ports->cta_swap(seen.ports->host, MECH_NO_CTA, seen.ready, 5));
    seen.ready = MECH_NO_CTA;
}

#define TWO_SLOTS "sm.warps=2"

static void a_cta_that_finds_no_slots_starts_inactive(void **state)
{
    blank_fill((struct mechanism){.init = see_init, .admit = admit_all, .on_cta = enter_on_cta});
    play(&(struct play){.script = "ab", .mechs = {blank_file}, .sets = {TWO_SLOTS}, .grid = 3});
    assert_int_equal(count_of(MECH_CTA_START), 3);
    assert_int_equal(count_of(MECH_CTA_END), 3);
    assert_int_equal(count_of(MECH_CTA_READY), 1); /* the third, at once */
    assert_int_equal(event_of(MECH_CTA_READY, 0)->cta, 2);
    assert_int_equal(event_of(MECH_CTA_IN, 0)->cta, 2);
    assert_int_equal(event_of(MECH_CTA_IN, 0)->cycle, event_of(MECH_CTA_END, 0)->cycle + 5);
    assert_int_equal(count_of(MECH_CTA_OUT), 0);
    /* it has slots from the end of another CTA on, and enters when the slots are its own */
    assert_int_equal(stat_of("sm.pending_cta_cycles"),
                     event_of(MECH_CTA_END, 0)->cycle - event_of(MECH_CTA_START, 2)->cycle);
    assert_int_equal(stat_of("sm.saved_cta_cycles"), 0);
    play_close();
}

/* Without `admit` no CTA is without slots, and an attached on_cta changes nothing. */
static void see_on_cta(void *state, const struct mech_cta *e) { see(e); }

static void listening_changes_nothing(void **state)
{
    blank_fill((struct mechanism){.init = see_init, .on_cta = see_on_cta, .hears_stalls = true});
    const struct play p = {.script = "b"};
    const uint64_t cycles = play_cycles(&p);
    struct play heard = p;
    heard.mechs[0] = blank_file;
    assert_int_equal(play_cycles(&heard), cycles);
    assert_int_equal(count_of(MECH_CTA_START), 1);
    assert_int_equal(count_of(MECH_CTA_READY), 0);
    assert_int_equal(count_of(MECH_CTA_STALLED), 1); /* it waits for b */
    assert_int_equal(count_of(MECH_CTA_RESUMED), 1);
    blank_fill((struct mechanism){.init = see_init, .on_cta = see_on_cta});
    assert_int_equal(play_cycles(&heard), cycles);
    assert_int_equal(count_of(MECH_CTA_START), 1);
    assert_int_equal(count_of(MECH_CTA_STALLED), 0); /* no mechanism watches stalls */
}

/* ---- swaps ---- */

/* The first CTA that stalls is exchanged for the one that is ready, once. */
static void swap_on_cta(void *state, const struct mech_cta *e)
{
    see(e);
    if (e->kind == MECH_CTA_READY && seen.ready == MECH_NO_CTA) seen.ready = e->cta_slot;
    if (e->kind == MECH_CTA_STALLED && seen.ready != MECH_NO_CTA && !seen.begun) {
        seen.begun = e->cycle;
        assert_true(seen.ports->cta_swap(seen.ports->host, e->cta_slot, seen.ready, seen.cycles));
        /* it has left: it may not leave again, nor may the other enter twice */
        seen.refusals += seen.ports->cta_swap(seen.ports->host, e->cta_slot, MECH_NO_CTA, 1);
        seen.refusals += seen.ports->cta_swap(seen.ports->host, MECH_NO_CTA, seen.ready, 1);
    }
    if (e->kind == MECH_CTA_END)
        for (uint32_t i = 0; i < seen.ports->ctas; i++)
            if (seen.ports->cta_swap(seen.ports->host, MECH_NO_CTA, i, 1)) return;
}

static void a_swap_takes_its_cycles(void **state)
{
    static const uint32_t cycles[] = {1, 7, 400};
    blank_fill((struct mechanism){.init = see_init, .admit = admit_all, .on_cta = swap_on_cta});
    for (size_t i = 0; i < ARRAY_LEN(cycles); i++) {
        seen.cycles = cycles[i];
        seen.begun = 0;
        play(&(struct play){.script = "abcA*", .mechs = {blank_file}, .sets = {TWO_SLOTS}, .grid = 3});
        assert_int_not_equal(seen.begun, 0);
        assert_int_equal(event_of(MECH_CTA_OUT, 0)->cycle, seen.begun + cycles[i]);
        assert_int_equal(event_of(MECH_CTA_IN, 0)->cycle, seen.begun + cycles[i]);
        assert_int_equal(event_of(MECH_CTA_IN, 0)->cta, 2);
        assert_int_equal(seen.refusals, 0);
        play_close();
    }
}

/* The result comes while the CTA has no slot: it is reported once, and counted for no other CTA. */
static void a_result_for_a_cta_without_slots_makes_it_ready_once(void **state)
{
    blank_fill((struct mechanism){.init = see_init, .admit = admit_all, .on_cta = swap_on_cta});
    seen.cycles = 1;
    seen.begun = 0;
    play(&(struct play){.script = "#_b", .mechs = {blank_file}, .sets = {TWO_SLOTS}, .grid = 3});
    uint32_t ready = 0;
    for (uint32_t i = 0; i < seen.count; i++)
        ready +=
            seen.events[i].kind == MECH_CTA_READY && seen.events[i].cta == event_of(MECH_CTA_OUT, 0)->cta;
    assert_int_equal(ready, 1);
    play_close();
}

/* ---- registers ---- */

/* PARKED: the rows that it had; UNPARKED: the rows that it has, which are as many. Both at the time of
 * `now`. */
static void expect_rows_of_start(const struct mech_cta *e, const struct mech_cta *now)
{
    const struct mech_cta *start = event_of(MECH_CTA_START, 0);
    assert_int_equal(e->cycle, now->cycle);
    assert_int_equal(e->cta_slot, now->cta_slot);
    assert_int_equal(e->cta, now->cta);
    assert_int_equal(e->warps, now->warps);
    assert_true(e->rows > 0);
    assert_int_equal(e->rows, start->rows);
    assert_int_equal(e->first_row, start->first_row);
    assert_int_equal(e->last_row, start->last_row);
}

/* A CTA that stalls leaves; its rows are freed, and registers that are not kept are lost; it comes back when
 * it is ready. */
static void park_on_cta(void *state, const struct mech_cta *e)
{
    static uint64_t kept[64][MECH_REGISTER_WORDS];
    const struct mech_ports *p = seen.ports;
    see(e);
    if (e->kind == MECH_CTA_STALLED) p->cta_swap(p->host, e->cta_slot, MECH_NO_CTA, 1);
    if (e->kind == MECH_CTA_READY) assert_true(p->cta_swap(p->host, MECH_NO_CTA, e->cta_slot, 1));
    if (e->kind != MECH_CTA_OUT) return;
    memset(kept, 0, sizeof kept);
    for (uint32_t w = 0; seen.keeps && w < e->warps; w++) {
        uint32_t pcs[32], n = p->warp_pcs(p->host, e->cta_slot, w, pcs, 32);
        seen.pcs += n;
        for (uint32_t i = 0; i < n; i++)
            for (int k = 0; k < MECH_REGISTER_WORDS; k++)
                kept[w][k] |= p->cta_live(p->host, e->cta_slot, pcs[i])[k];
        seen.live_rows += (uint32_t)__builtin_popcountll(kept[w][0]);
    }
    const uint32_t parked = count_of(MECH_CTA_PARKED), unparked = count_of(MECH_CTA_UNPARKED);
    p->cta_park(p->host, e->cta_slot, kept[0]);
    assert_int_equal(count_of(MECH_CTA_PARKED), parked + 1); /* told before the port returns */
    expect_rows_of_start(event_of(MECH_CTA_PARKED, parked), e);
    assert_true(p->cta_unpark(p->host, e->cta_slot));
    assert_int_equal(count_of(MECH_CTA_UNPARKED), unparked + 1);
    expect_rows_of_start(event_of(MECH_CTA_UNPARKED, unparked), e);
    assert_false(p->cta_unpark(p->host, e->cta_slot));
    assert_int_equal(count_of(MECH_CTA_UNPARKED), unparked + 1);
}

static void park(const char *script, bool keeps, uint32_t block)
{
    blank_fill((struct mechanism){.init = see_init, .admit = admit_all, .on_cta = park_on_cta});
    seen.keeps = keeps;
    seen.live_rows = seen.pcs = 0;
    play_open(&(struct play){.script = script, .mechs = {blank_file}});
    const uint64_t out = rig_alloc(&rig, 4ull * block);
    timed_sync(rig.gpu, 0, &rig.fault);
    rig_launch(&rig, "play", 1, block, (const uint64_t[]){script_buf, out}, 0);
    const enum emu_fault_kind end = timed_sync(rig.gpu, UINT64_MAX, &rig.fault);
    bool is_right = end == EMU_OK;
    for (uint32_t i = 0; i < block; i++)
        is_right &= ((uint32_t *)(uintptr_t)out)[i] == script_sum(script, i % block);
    assert_int_equal(is_right, keeps);
    assert_true(count_of(MECH_CTA_OUT) > 0 || !keeps);
    play_close();
}

static void what_is_kept_comes_back_and_the_rest_is_lost(void **state)
{
    park("ab#_cA*", true, 64);
    park("ab#_cA*", false, 64);
}

/* Counted by hand, as in FineReg's Figure 7. The load of b is the last: before the addition that waits for
 * it, the values of a and b and the address of the result, which is a pair, are live. Both registers of the
 * base address are written, or not read, before the end. */
static void live_registers_as_counted_by_hand(void **state)
{
    park("b", true, 32);
    assert_int_equal(count_of(MECH_CTA_OUT), 1);
    assert_int_equal(seen.pcs, 1);
    assert_int_equal(seen.live_rows, 3); /* b, and the pair of the result's address */
    park("ab", true, 32);
    assert_int_equal(count_of(MECH_CTA_OUT), 2);
    assert_int_equal(seen.pcs, 2);
    assert_int_equal(seen.live_rows, 5 + 4); /* a, two pairs; a, b and one pair */
}

/* ---- same results whatever is skipped ---- */

enum { CTA_WARPS = 2, CTAS_MAX = 128 };
/* State of an SM: the CTAs that could go on without slots. */
struct swapper {
    const struct mech_ports *ports;
    uint64_t events[MECH_CTA_UNPARKED + 1];
    bool is_ready[CTAS_MAX];
    bool is_parked[CTAS_MAX];
};
#define EVENT(i) STAT_COUNT(swapper, events[i], "blank.event" #i, "", "for the test", NULL)
static const struct stat_row swapper_stats[] = {EVENT(0), EVENT(1), EVENT(2), EVENT(3), EVENT(4),  EVENT(5),
                                                EVENT(6), EVENT(7), EVENT(8), EVENT(9), EVENT(10), {0}};

static void swapper_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    ((struct swapper *)state)->ports = ports;
    assert_true(ports->ctas <= CTAS_MAX);
}

static bool admit_some(void *state, struct mech_admit *a)
{
    return a->ctas.in_use < a->ctas.limit && a->threads.in_use < a->threads.limit;
}

static void swapper_park(const struct swapper *s, const struct mech_cta *e)
{
    const struct mech_ports *p = s->ports;
    uint64_t kept[CTA_WARPS][MECH_REGISTER_WORDS] = {{0}};
    uint32_t pcs[32];
    for (uint32_t w = 0; w < e->warps; w++)
        for (uint32_t i = 0, n = p->warp_pcs(p->host, e->cta_slot, w, pcs, 32); i < n; i++)
            for (int k = 0; k < MECH_REGISTER_WORDS; k++)
                kept[w][k] |= p->cta_live(p->host, e->cta_slot, pcs[i])[k];
    p->cta_park(p->host, e->cta_slot, kept[0]);
}

/* The first CTA that is ready enters, if it finds rows and slots. */
static void swapper_enter(struct swapper *s)
{
    const struct mech_ports *p = s->ports;
    for (uint32_t i = 0; i < p->ctas; i++) {
        if (!s->is_ready[i] || (s->is_parked[i] && !p->cta_unpark(p->host, i))) continue;
        s->is_parked[i] = false;
        s->is_ready[i] = !p->cta_swap(p->host, MECH_NO_CTA, i, 3);
    }
}

/* A CTA that stalls leaves and is parked; a CTA that is ready enters. */
static void swap_always(void *state, const struct mech_cta *e)
{
    struct swapper *s = state;
    s->events[e->kind] += e->cycle * (e->cta_slot + 1) + e->rows + e->results;
    switch (e->kind) {
    case MECH_CTA_STALLED: s->ports->cta_swap(s->ports->host, e->cta_slot, MECH_NO_CTA, 2); break;
    case MECH_CTA_OUT:
        swapper_park(s, e);
        s->is_parked[e->cta_slot] = true;
        break;
    case MECH_CTA_READY: s->is_ready[e->cta_slot] = true; break;
    case MECH_CTA_END: break;
    default: return;
    }
    swapper_enter(s);
}

static void expect_some_of_each_kind(void)
{
    static const enum mech_cta_kind kinds[] = {MECH_CTA_START,  MECH_CTA_END,     MECH_CTA_STALLED,
                                               MECH_CTA_READY,  MECH_CTA_OUT,     MECH_CTA_IN,
                                               MECH_CTA_PARKED, MECH_CTA_UNPARKED};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        char name[32];
        snprintf(name, sizeof name, "blank.event%d", (int)kinds[i]);
        assert_true(stat_of(name) > 0);
    }
}

/* Every CTA that stalls leaves, with its registers, and comes back when it could go on. */
static void swaps_are_the_same_whatever_is_skipped(void **state)
{
    blank_fill((struct mechanism){.state_bytes = sizeof(struct swapper),
                                  .stats = swapper_stats,
                                  .init = swapper_init,
                                  .admit = admit_some,
                                  .on_cta = swap_always});
    struct play p = {.script = "ab#A_cd*#", .mechs = {blank_file}, .block = CTA_WARPS * 32, .grid = 20};
    expect_same_everywhere(&p);
    p.sets[0] = "sm.warps=4";
    play(&p);
    expect_some_of_each_kind();
    play_close();
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_cta_that_finds_no_slots_starts_inactive),
        RIG_TEST(listening_changes_nothing),
        RIG_TEST(a_swap_takes_its_cycles),
        RIG_TEST(a_result_for_a_cta_without_slots_makes_it_ready_once),
        RIG_TEST(what_is_kept_comes_back_and_the_rest_is_lost),
        RIG_TEST(live_registers_as_counted_by_hand),
        RIG_TEST(swaps_are_the_same_whatever_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
