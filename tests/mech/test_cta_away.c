/* test_cta_away.c: moves registers of CTAs that have no slots (src/core/sm/cta_swap.c) to memory
 * (src/core/sm/transfer.c): which of the two ports may be called when, and results that arrive for registers
 * that are in memory. A warp has 16 rows here. */
#include "script_kit.h"

enum { WARP_ROWS = 16 };
#define UNIT "sm.register_unit=512"

/* The mechanism of a test on an SM. */
struct traveller {
    const struct mech_ports *ports;
    /* the CTA that left; it could go on; its registers are in memory */
    uint32_t cta;
    bool is_ready, is_away;
};

/* Sums over all SMs: CTAs that came back; cta_swap answered yes where it should have answered no. */
static struct {
    _Atomic uint32_t trips, wrong;
} seen;

static void traveller_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    *(struct traveller *)state = (struct traveller){.ports = ports, .cta = MECH_NO_CTA};
}

static bool admit_all(void *state, struct mech_admit *a) { return true; }

static bool swap(const struct traveller *t, uint32_t out, uint32_t in)
{
    return t->ports->cta_swap(t->ports->host, out, in, 1);
}

static bool move(const struct traveller *t, bool is_out)
{
    return t->ports->cta_registers(
        t->ports->host,
        &(struct mech_transfer){.cta_slot = t->cta, .is_out = is_out, .rows = UINT32_MAX, .buffer = 6});
}

static void bring_back(struct traveller *t)
{
    if (!t->is_ready || !t->is_away) return;
    t->is_away = false;
    assert_true(move(t, false));
    seen.wrong += swap(t, MECH_NO_CTA, t->cta); /* its registers are coming back */
}

static void has_come_back(struct traveller *t)
{
    assert_true(swap(t, MECH_NO_CTA, t->cta));
    t->cta = MECH_NO_CTA;
    t->is_ready = false;
    seen.trips++;
}

/* A CTA that stalls leaves, then its registers leave; the registers come back when the CTA could go on, then
 * the CTA enters. */
static void travel(void *state, const struct mech_cta *e)
{
    struct traveller *t = state;
    if (e->kind == MECH_CTA_STALLED && t->cta == MECH_NO_CTA && swap(t, e->cta_slot, MECH_NO_CTA))
        t->cta = e->cta_slot;
    if (e->cta_slot != t->cta) return;
    switch (e->kind) {
    case MECH_CTA_OUT:
        assert_true(move(t, true));
        seen.wrong += swap(t, MECH_NO_CTA, e->cta_slot); /* its registers are leaving */
        break;
    case MECH_CTA_READY: t->is_ready = true; break;
    case MECH_CTA_REGISTERS_OUT:
        t->is_away = true;
        seen.wrong += swap(t, MECH_NO_CTA, e->cta_slot); /* they are in memory */
        break;
    case MECH_CTA_REGISTERS_IN: has_come_back(t); break;
    default: break;
    }
    bring_back(t);
}

static void attach(void (*on_cta)(void *, const struct mech_cta *))
{
    seen.trips = seen.wrong = 0;
    blank_fill((struct mechanism){.state_bytes = sizeof(struct traveller),
                                  .init = traveller_init,
                                  .admit = admit_all,
                                  .on_cta = on_cta});
}

/* The 32 lines of # take much longer than the rows on their way out. */
static void a_result_for_registers_in_memory_is_written_there(void **state)
{
    attach(travel);
    play(&(struct play){.script = "#", .mechs = {blank_file}, .sets = {UNIT}});
    assert_int_equal(seen.trips, 1);
    expect_stats((struct wanted[]){{"sm.rows_out", WARP_ROWS},
                                   {"sm.rows_in", WARP_ROWS},
                                   {"sm.rows_late", 1},
                                   {"l2.context_accesses", 2 * WARP_ROWS + 1},
                                   {0}});
    play_close();
}

static void a_cta_enters_with_its_registers_alone(void **state)
{
    attach(travel);
    play(&(struct play){.script = "#a_#b", .mechs = {blank_file}, .sets = {UNIT}, .grid = 3, .block = 64});
    assert_true(seen.trips > 2);
    assert_int_equal(seen.wrong, 0);
    play_close();
}

/* The CTA has slots while its registers leave: it keeps the slots until they are back. */
static void stay(void *state, const struct mech_cta *e)
{
    struct traveller *t = state;
    if (e->kind == MECH_CTA_STALLED && t->cta == MECH_NO_CTA) {
        t->cta = e->cta_slot;
        assert_true(move(t, true));
        seen.wrong += swap(t, e->cta_slot, MECH_NO_CTA);
    }
    if (e->kind == MECH_CTA_REGISTERS_OUT) {
        seen.wrong += swap(t, e->cta_slot, MECH_NO_CTA);
        assert_true(move(t, false));
    }
    seen.trips += e->kind == MECH_CTA_REGISTERS_IN;
}

static void a_cta_leaves_with_its_registers_alone(void **state)
{
    attach(stay);
    play(&(struct play){.script = "#ab", .mechs = {blank_file}, .sets = {UNIT}});
    assert_int_equal(seen.trips, 1);
    assert_int_equal(seen.wrong, 0);
    play_close();
}

static void runs_are_the_same_whatever_is_skipped(void **state)
{
    attach(travel);
    const struct play p = {
        .script = "#a_#bA*", .mechs = {blank_file}, .sets = {UNIT}, .grid = 3, .block = 64};
    expect_same_everywhere(&p);
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_result_for_registers_in_memory_is_written_there),
        RIG_TEST(a_cta_enters_with_its_registers_alone),
        RIG_TEST(a_cta_leaves_with_its_registers_alone),
        RIG_TEST(runs_are_the_same_whatever_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
