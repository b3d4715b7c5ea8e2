/* test_transfer.c: registers of a CTA that a mechanism sends to memory and back (cta_registers, on_cta;
 * src/core/sm/transfer.c), on a machine. A warp has 16 rows here. */
#include "script_kit.h"

enum { WARP_ROWS = 16, EVENTS = 32, AT = 300 };
#define UNIT "sm.register_unit=512"

/* The actions of a test's mechanism, and the events that it got. */
static struct {
    uint32_t slot, rows, buffer;
    bool drains;
    struct mech_cta events[EVENTS];
    uint32_t count;
    uint64_t asked, issued_while_out, lost_rows;
    bool is_out[8];
    uint32_t yes, no;
} seen;

struct mover {
    const struct mech_ports *ports;
};

static void mover_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    ((struct mover *)state)->ports = ports;
}

static bool move(const struct mech_ports *p, uint32_t slot, bool is_out)
{
    const struct mech_transfer t = {.cta_slot = slot,
                                    .is_out = is_out,
                                    .drains = seen.drains,
                                    .rows = seen.rows ? seen.rows : UINT32_MAX,
                                    .buffer = seen.buffer ? seen.buffer : 6};
    const bool is_taken = p->cta_registers(p->host, &t);
    *(is_taken ? &seen.yes : &seen.no) += 1;
    if (is_taken) seen.is_out[slot] = true;
    return is_taken;
}

static void see_cta(void *state, const struct mech_cta *e)
{
    if (seen.count < EVENTS) seen.events[seen.count++] = *e;
    if (e->kind == MECH_CTA_REGISTERS_IN) seen.is_out[e->cta_slot] = false;
}

/* Brings registers back as soon as they are out. */
static void see_and_bring_back(void *state, const struct mech_cta *e)
{
    see_cta(state, e);
    if (e->kind == MECH_CTA_REGISTERS_OUT) move(((struct mover *)state)->ports, e->cta_slot, false);
}

static void send_once(void *state, uint64_t cycle)
{
    if (seen.asked) return;
    seen.asked = cycle;
    move(((struct mover *)state)->ports, seen.slot, true);
}

/* CTAs have two warps each, in consecutive slots. */
static void see_issue(void *state, const struct mech_issue *e)
{
    seen.issued_while_out += seen.is_out[e->warp / 2];
}

static void attach(struct mechanism hooks)
{
    memset(&seen, 0, sizeof seen);
    hooks.state_bytes = sizeof(struct mover);
    hooks.init = mover_init;
    blank_fill(hooks);
}

static const struct mech_cta *event_of(enum mech_cta_kind kind, uint32_t slot)
{
    for (uint32_t i = 0; i < seen.count; i++)
        if (seen.events[i].kind == kind && seen.events[i].cta_slot == slot) return &seen.events[i];
    fail_msg("no event %d of CTA slot %u", (int)kind, slot);
    return NULL;
}

static struct play two_ctas(const char *script)
{
    return (struct play){.script = script, .mechs = {blank_file}, .sets = {UNIT}, .grid = 2, .block = 64};
}

static const char long_script[] = "ab#c_d#ef_gh#ij_kl#mn_op#qr";

/* ---- on_cta ---- */

static void a_cta_starts_and_ends_with_its_rows(void **state)
{
    attach((struct mechanism){.on_cta = see_cta});
    const struct play p = two_ctas("ab_c");
    play(&p);
    play_close();
    assert_int_equal(seen.count, 4);
    for (uint32_t i = 0; i < 2; i++) {
        const struct mech_cta *start = event_of(MECH_CTA_START, i), *end = event_of(MECH_CTA_END, i);
        assert_int_equal(start->cta, i);
        assert_int_equal(start->rows, 2 * WARP_ROWS);
        assert_int_equal(start->first_row, i * 2 * WARP_ROWS);
        assert_int_equal(start->last_row, (i + 1) * 2 * WARP_ROWS - 1);
        assert_int_equal(end->first_row, start->first_row);
        assert_int_equal(end->last_row, start->last_row);
        assert_true(end->cycle > start->cycle);
    }
}

/* ---- moves ---- */

static void registers_go_and_come_back_as_traffic(void **state)
{
    attach((struct mechanism){
        .timer_cycles = AT, .on_timer = send_once, .on_cta = see_and_bring_back, .on_issue = see_issue});
    seen.slot = 1;
    seen.drains = true;
    struct play p = two_ctas(long_script);
    p.sets[1] = "l1.miss_queue=2"; /* loads and rows take turns */
    play(&p);
    const struct mech_cta *out = event_of(MECH_CTA_REGISTERS_OUT, 1);
    const struct mech_cta *in = event_of(MECH_CTA_REGISTERS_IN, 1);
    const uint32_t rows = 2 * WARP_ROWS;
    assert_true(out->cycle > seen.asked + rows && in->cycle > out->cycle + rows);
    assert_int_equal(out->rows, rows);
    assert_int_equal(out->first_row, rows);
    assert_int_equal(seen.issued_while_out, 0);
    expect_stats((struct wanted[]){{"sm.rows_out", rows},
                                   {"sm.rows_in", rows},
                                   {"l2.context_accesses", 2 * rows},
                                   {"l1.resizes", 0},
                                   {0}});
    assert_true(stat_of("sm.slots_held") > 0);
    play_close();
}

/* The L2 has no room for the rows, so DRAM writes and reads them. */
static void rows_that_leave_the_l2_are_counted_at_dram(void **state)
{
    attach((struct mechanism){.timer_cycles = AT, .on_timer = send_once, .on_cta = see_and_bring_back});
    struct play p = two_ctas(long_script);
    p.sets[1] = "l2.slice_size=256";
    p.sets[2] = "l2.ways=1";
    play(&p);
    assert_true(stat_of("dram.context_writes") > 0 && stat_of("dram.context_reads") > 0);
    assert_true(stat_of("dram.context_writes") <= (2 * WARP_ROWS + stat_of("sm.rows_late")) * 4);
    play_close();
}

/* Only the rows that hold values travel; the others are free all the same. */
static void a_part_of_the_rows_can_travel(void **state)
{
    attach((struct mechanism){.timer_cycles = AT, .on_timer = send_once, .on_cta = see_and_bring_back});
    seen.rows = 5;
    struct play p = two_ctas(long_script);
    play(&p);
    expect_stats((struct wanted[]){{"sm.rows_out", 5}, {"sm.rows_in", 5}, {0}});
    assert_int_equal(event_of(MECH_CTA_REGISTERS_IN, 0)->rows, 2 * WARP_ROWS);
    play_close();
}

static uint64_t cycles_back(uint32_t buffer)
{
    attach((struct mechanism){.timer_cycles = AT, .on_timer = send_once, .on_cta = see_and_bring_back});
    seen.buffer = buffer;
    struct play p = two_ctas(long_script);
    play(&p);
    play_close();
    return event_of(MECH_CTA_REGISTERS_IN, 0)->cycle - event_of(MECH_CTA_REGISTERS_OUT, 0)->cycle;
}

/* A row that comes back holds an entry of the buffer from its request on: with one entry, rows come one after
 * another. */
static void the_buffer_bounds_the_rows_that_come_back(void **state)
{
    const uint64_t one = cycles_back(1), two = cycles_back(2), all = cycles_back(64);
    assert_true(one > 2 * WARP_ROWS * 100); /* an L2 hit of fermi takes longer than this */
    assert_in_range(two, one / 2 - one / 20, one / 2 + one / 20);
    assert_true(all < one / 8);
}

/* ---- refusals ---- */

static void ask_for_all_that_is_refused(void *state, uint64_t cycle)
{
    const struct mech_ports *p = ((struct mover *)state)->ports;
    if (seen.asked) return;
    seen.asked = cycle;
    assert_false(move(p, 0, false)); /* it is here */
    assert_false(move(p, 5, true));  /* no CTA is there */
    assert_true(move(p, 0, true));
    assert_false(move(p, 0, true));  /* it leaves already */
    assert_false(move(p, 1, true));  /* one leaves at a time */
    assert_false(move(p, 0, false)); /* it has not left yet */
}

static void a_move_that_cannot_be_is_refused(void **state)
{
    attach((struct mechanism){
        .timer_cycles = AT, .on_timer = ask_for_all_that_is_refused, .on_cta = see_and_bring_back});
    const struct play p = two_ctas(long_script);
    play(&p);
    play_close();
    assert_int_equal(seen.yes, 2);
    assert_int_equal(seen.no, 5);
}

/* The last instruction of a warp is a store, which the L1 takes after the warp has ended. */
static void ask_after_the_last_store(void *state, const struct mech_l1_access *e)
{
    if (e->is_store && ++seen.asked == 2) move(((struct mover *)state)->ports, 0, true);
}

static void a_cta_whose_warps_have_ended_stays(void **state)
{
    attach((struct mechanism){.on_l1_access = ask_after_the_last_store, .on_cta = see_and_bring_back});
    play(&(struct play){.script = "ab", .mechs = {blank_file}, .sets = {UNIT}, .block = 64});
    play_close();
    assert_int_equal(seen.yes, 0);
    assert_int_equal(seen.no, 1);
}

/* ---- rows ---- */

static uint32_t took_at_out, took_before;

static void take_rows_when_out(void *state, const struct mech_cta *e)
{
    const struct mech_ports *p = ((struct mover *)state)->ports;
    uint32_t first;
    see_cta(state, e);
    if (e->kind != MECH_CTA_REGISTERS_OUT) return;
    took_at_out = p->registers_take(p->host, e->first_row, e->rows, &first) && first == e->first_row;
    move(p, e->cta_slot, false);
}
static void send_and_try(void *state, uint64_t cycle)
{
    const struct mech_ports *p = ((struct mover *)state)->ports;
    uint32_t first;
    if (!seen.asked) took_before = p->registers_take(p->host, 0, 1, &first) && first < 4 * WARP_ROWS;
    send_once(state, cycle);
}
static void see_rows_lost(void *state, const struct mech_rows_lost *e) { seen.lost_rows += e->rows; }

/* Rows are idle from the last acknowledgement to the request for them; a mechanism that has taken them loses
 * them. */
static void rows_are_free_while_the_registers_are_out(void **state)
{
    attach((struct mechanism){.timer_cycles = AT,
                              .owns = MECH_OWNS_REGISTERS,
                              .on_timer = send_and_try,
                              .on_cta = take_rows_when_out,
                              .on_rows_lost = see_rows_lost});
    took_at_out = took_before = 0;
    struct play p = two_ctas(long_script);
    p.sets[1] = "sm.registers=2560"; /* both CTAs, and a further warp */
    play(&p);
    play_close();
    assert_int_equal(took_before, 0);
    assert_int_equal(took_at_out, 1);
    assert_int_equal(seen.lost_rows, 2 * WARP_ROWS);
}

/* ---- both directions at once ---- */

static void swap(void *state, const struct mech_cta *e)
{
    const struct mech_ports *p = ((struct mover *)state)->ports;
    see_cta(state, e);
    if (e->kind != MECH_CTA_REGISTERS_OUT) return;
    if (e->cta_slot == 0) {
        assert_true(move(p, 1, true));
        assert_true(move(p, 0, false));
    } else
        assert_true(move(p, 1, false));
}

/* CTA 1 leaves while CTA 0 comes back: rows that come back have priority in the queue. */
static void rows_that_come_back_go_first(void **state)
{
    attach((struct mechanism){.timer_cycles = AT, .on_timer = send_once, .on_cta = swap});
    seen.buffer = 64;
    const struct play p = two_ctas(long_script);
    play(&p);
    play_close();
    assert_true(event_of(MECH_CTA_REGISTERS_IN, 0)->cycle < event_of(MECH_CTA_REGISTERS_OUT, 1)->cycle);
}

/* ---- the same result ---- */

/* Every CTA goes out and comes back again and again. */
static void move_all(void *state, uint64_t cycle)
{
    const struct mech_ports *p = ((struct mover *)state)->ports;
    for (uint32_t slot = 0; slot < p->ctas; slot++) {
        const struct mech_transfer t = {
            .cta_slot = slot, .drains = slot % 2, .rows = UINT32_MAX, .buffer = 1 + slot};
        struct mech_transfer out = t;
        out.is_out = true;
        if (!p->cta_registers(p->host, &t)) p->cta_registers(p->host, &out);
    }
}
static void hear_nothing(void *state, const struct mech_cta *e) {}

static void runs_are_the_same_whatever_is_skipped(void **state)
{
    blank_fill((struct mechanism){.state_bytes = sizeof(struct mover),
                                  .timer_cycles = 61,
                                  .init = mover_init,
                                  .on_timer = move_all,
                                  .on_cta = hear_nothing});
    struct play p = two_ctas("ab#A_*c#d_ef");
    play(&p);
    assert_true(stat_of("sm.rows_out") > 4 * 2 * WARP_ROWS); /* more than once each */
    play_close();
    expect_same_everywhere(&p);
    p = two_ctas("ab#A_*c#d_ef");
    p.sets[1] = "l1.latency=30";
    p.sets[2] = "l1.tag_latency=20";
    p.sets[3] = "l2.line=64";
    p.sets[4] = "l1.line=64";
    expect_same_everywhere(&p);
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_cta_starts_and_ends_with_its_rows),
        RIG_TEST(registers_go_and_come_back_as_traffic),
        RIG_TEST(rows_that_leave_the_l2_are_counted_at_dram),
        RIG_TEST(a_part_of_the_rows_can_travel),
        RIG_TEST(the_buffer_bounds_the_rows_that_come_back),
        RIG_TEST(a_move_that_cannot_be_is_refused),
        RIG_TEST(a_cta_whose_warps_have_ended_stays),
        RIG_TEST(rows_are_free_while_the_registers_are_out),
        RIG_TEST(rows_that_come_back_go_first),
        RIG_TEST(runs_are_the_same_whatever_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
