/* test_mem_smring.c: the ring between the SMs by itself: when a message is seen, who goes first, how much
 * room it needs, and that any traffic ends. The SMs are a few lines each. */
#include "mem/smring.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { SMS = 15, PERIOD = 33, LINE = 128, REQUEST = 4 };
static const struct clock_domain core = {.period = PERIOD};
/* Table 4.3 of the thesis. */
static const struct smring_params thesis = {
    .latency = 1, .request_bytes = 4, .response_bytes = 32, .queue = 8, .request_buffer = 8};

static struct smring *ring;
static uint64_t cycle;

static void open_ring(const struct smring_params *p, uint32_t sms)
{
    ring = smring_create(p, sms, &core);
    cycle = 0;
}

static tick now(void) { return cycle * PERIOD; }

static bool send(uint32_t sm, enum smring_channel c, uint32_t to, uint32_t bytes, uint64_t word)
{
    return smring_push(ring, sm, c, now(), &(struct smring_message){{word}, bytes, to, 0});
}

static const struct smring_message *see(uint32_t sm, enum smring_channel c)
{
    return smring_peek(ring, sm, c, now());
}

static void end_cycle(void)
{
    smring_tick(ring, now());
    cycle++;
}

/* Ends cycles until the SM sees a message; every other SM lets pass what it sees. */
static const struct smring_message *run_until_seen(uint32_t sm, enum smring_channel c)
{
    const struct smring_message *m = NULL;
    while (!(m = see(sm, c)) && cycle < 10000) {
        for (uint32_t i = 0; i < SMS; i++)
            if (i != sm && see(i, c)) smring_pass(ring, i, c);
        end_cycle();
    }
    assert_non_null(m);
    return m;
}

static void stat_is(const char *name, uint64_t value)
{
    const struct stat_row *r = smring_stat_rows;
    while (strcmp(r->name, name) != 0) assert_non_null((++r)->name);
    assert_int_equal(*(const uint64_t *)(const void *)((const char *)smring_stats(ring) + r->offset), value);
}

/* ---- latency ---- */

/* A cycle in the buffer, one in its own queue, then `latency` for each hop. */
static void a_request_takes_its_latency_for_each_hop(void **state)
{
    static const uint32_t latencies[] = {1, 3, 5};
    for (size_t l = 0; l < ARRAY_LEN(latencies); l++)
        for (uint32_t hops = 1; hops <= SMS; hops++) {
            struct smring_params p = thesis;
            p.latency = latencies[l];
            open_ring(&p, SMS);
            assert_true(send(3, SMRING_REQUEST, SMRING_ALL, REQUEST, 7));
            const struct smring_message *m = run_until_seen((3 + hops) % SMS, SMRING_REQUEST);
            assert_int_equal(m->words[0], 7);
            assert_int_equal(m->hops, hops);
            assert_int_equal(cycle, 2 + hops * latencies[l]);
            stat_is("ring.request_hops", hops);
            smring_destroy(ring);
        }
}

/* Four flits are complete three cycles after the first; the other way round. */
static void a_line_takes_three_cycles_more_for_each_hop(void **state)
{
    static const uint32_t latencies[] = {1, 3, 5};
    for (size_t l = 0; l < ARRAY_LEN(latencies); l++)
        for (uint32_t hops = 1; hops < SMS; hops++) {
            struct smring_params p = thesis;
            p.latency = latencies[l];
            open_ring(&p, SMS);
            const uint32_t to = (3 + SMS - hops) % SMS;
            assert_true(send(3, SMRING_RESPONSE, to, LINE, 7));
            run_until_seen(to, SMRING_RESPONSE);
            assert_int_equal(cycle, 1 + hops * (latencies[l] + 3));
            stat_is("ring.response_flits", 4 * hops);
            smring_pop(ring, to, SMRING_RESPONSE, now());
            assert_true(smring_idle(ring));
            smring_destroy(ring);
        }
}

/* The first goes on from SM 2; the second, which is for SM 2, leaves in the fifth cycle instead of the
 * second. */
static void a_second_line_follows_when_the_last_flit_of_the_first_has_left(void **state)
{
    open_ring(&thesis, SMS);
    assert_true(send(3, SMRING_RESPONSE, 0, LINE, 1));
    end_cycle();
    assert_true(send(3, SMRING_RESPONSE, 2, LINE, 2));
    assert_int_equal(run_until_seen(2, SMRING_RESPONSE)->words[0], 2);
    assert_int_equal(cycle, 5 + 4);
    stat_is("ring.response_wait", 3);
    smring_destroy(ring);
}

/* Nobody on the way sees what is for one SM. */
static void what_is_for_one_sm_is_seen_by_it_alone(void **state)
{
    open_ring(&thesis, SMS);
    assert_true(send(5, SMRING_RESPONSE, 1, LINE, 9));
    for (; !see(1, SMRING_RESPONSE); end_cycle())
        for (uint32_t i = 0; i < SMS; i++) assert_true(i == 1 || !see(i, SMRING_RESPONSE));
    assert_int_equal(smring_next(ring, 1), now());
    smring_destroy(ring);
}

/* ---- who goes first ---- */

/* SM 0 sends in each cycle and SM 1 wants to: what passes SM 1 goes first, so its own waits. */
static void requests_that_pass_go_before_new_ones(void **state)
{
    open_ring(&thesis, SMS);
    for (uint32_t i = 0; i < 6; i++) {
        assert_true(send(0, SMRING_REQUEST, SMRING_ALL, REQUEST, i));
        if (i == 1) assert_true(send(1, SMRING_REQUEST, SMRING_ALL, REQUEST, 100));
        if (see(1, SMRING_REQUEST)) smring_pass(ring, 1, SMRING_REQUEST);
        end_cycle();
    }
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(run_until_seen(2, SMRING_REQUEST)->words[0], i);
        smring_pass(ring, 2, SMRING_REQUEST);
        end_cycle();
    }
    assert_int_equal(run_until_seen(2, SMRING_REQUEST)->words[0], 100);
    smring_destroy(ring);
}

/* A response of SM 2 to SM 0 would enter the queue of SM 1 in the cycle in which SM 1 sends its own. */
static void new_responses_go_before_those_that_pass(void **state)
{
    open_ring(&thesis, SMS);
    assert_true(send(2, SMRING_RESPONSE, 0, LINE, 1));
    end_cycle();
    assert_true(send(1, SMRING_RESPONSE, 0, LINE, 2));
    assert_int_equal(run_until_seen(0, SMRING_RESPONSE)->words[0], 2);
    smring_pop(ring, 0, SMRING_RESPONSE, now());
    assert_int_equal(run_until_seen(0, SMRING_RESPONSE)->words[0], 1);
    smring_destroy(ring);
}

/* ---- room ---- */

static void a_new_message_needs_two_slots_and_one_that_passes_one(void **state)
{
    struct smring_params p = thesis;
    p.queue = 3;
    open_ring(&p, SMS);
    /* SM 4 looks at nothing; those of SM 3 come into its queue up to the last slot */
    for (uint32_t i = 0; i < 8; i++) assert_true(send(3, SMRING_REQUEST, SMRING_ALL, REQUEST, i));
    for (uint32_t i = 0; i < 20; i++) end_cycle();
    stat_is("ring.request_queue_max", 3);
    /* two stay in the queue of SM 3, where a third new one does not enter; three are in the buffer */
    assert_int_equal(smring_held(ring), 8);
    for (uint32_t i = 0; i < 5; i++) assert_true(send(3, SMRING_REQUEST, SMRING_ALL, REQUEST, i));
    assert_false(send(3, SMRING_REQUEST, SMRING_ALL, REQUEST, 9));
    stat_is("ring.request_refused", 1);
    struct strbuf out = {0};
    smring_explain(ring, now(), &out);
    assert_non_null(strstr(strbuf_text(&out), "request channel at SM 3: queue 2 of 3, 8 wait to enter, head "
                                              "waits for the next queue, which is full"));
    assert_non_null(
        strstr(strbuf_text(&out), "at SM 4: queue 3 of 3, 0 wait to enter, head waits for its SM's"));
    strbuf_free(&out);
    smring_destroy(ring);
}

static void without_a_buffer_a_message_is_refused_at_once(void **state)
{
    struct smring_params p = thesis;
    p.queue = 2;
    open_ring(&p, SMS);
    assert_true(send(3, SMRING_RESPONSE, 0, LINE, 1));
    assert_false(send(3, SMRING_RESPONSE, 0, LINE, 2)); /* one a cycle */
    end_cycle();
    assert_false(send(3, SMRING_RESPONSE, 0, LINE, 2)); /* one slot is free */
    end_cycle();                                        /* it leaves now */
    assert_true(send(3, SMRING_RESPONSE, 0, LINE, 2));
    stat_is("ring.response_refused", 2);
    smring_destroy(ring);
}

/* SM 4 holds two requests and SM 3 a third one, which enters in the cycle after the first was taken. */
static void room_is_used_from_the_next_cycle_on(void **state)
{
    struct smring_params p = thesis;
    p.queue = 2;
    open_ring(&p, SMS);
    for (uint32_t i = 0; i < 3; i++) assert_true(send(3, SMRING_REQUEST, SMRING_ALL, REQUEST, i));
    for (uint32_t i = 0; i < 20; i++) end_cycle();
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(see(4, SMRING_REQUEST)->words[0], i);
        smring_pop(ring, 4, SMRING_REQUEST, now());
        if (i) assert_null(see(4, SMRING_REQUEST));
        end_cycle();
    }
    assert_int_equal(see(4, SMRING_REQUEST)->words[0], 2);
    smring_destroy(ring);
}

/* ---- random traffic ---- */

/* Each SM sends requests, which some SMs on the way answer, and takes what comes back. An answer waits for
 * its response. */
struct traffic {
    struct rng rng;
    uint32_t to_send[SMS], open, done, left;
    bool has_acted;
};

static bool answers(uint32_t sm, uint64_t word) { return (word * 2654435761u >> 7) % 9 == sm % 9; }

static void take(struct traffic *t, uint32_t sm, enum smring_channel c)
{
    smring_pop(ring, sm, c, now());
    t->done++;
    t->has_acted = true;
}

/* It comes round, or somebody answers it, as soon as the response has room. */
static void look_at_request(struct traffic *t, uint32_t sm, const struct smring_message *m)
{
    const uint64_t word = m->words[0];
    const uint32_t asker = (uint32_t)(word % SMS);
    if (asker == sm) {
        assert_int_equal(m->hops, SMS);
        take(t, sm, SMRING_REQUEST);
        return;
    }
    if (!answers(sm, word))
        smring_pass(ring, sm, SMRING_REQUEST);
    else if (send(sm, SMRING_RESPONSE, asker, LINE, word))
        smring_pop(ring, sm, SMRING_REQUEST, now());
    else
        return;
    t->has_acted = true;
}

static void act(struct traffic *t, uint32_t sm, bool sends)
{
    const struct smring_message *m = see(sm, SMRING_RESPONSE);
    if (m) {
        assert_int_equal(m->words[0] % SMS, sm);
        take(t, sm, SMRING_RESPONSE);
    }
    if ((m = see(sm, SMRING_REQUEST))) look_at_request(t, sm, m);
    if (!sends || !t->to_send[sm]) return;
    if (!send(sm, SMRING_REQUEST, SMRING_ALL, REQUEST, (uint64_t)t->to_send[sm] * SMS + sm)) return;
    t->to_send[sm]--;
    t->left--;
    t->open++;
    t->has_acted = true;
}

/* A hash of how many had ended in each cycle. order: of the SMs in a cycle; skips: the ring has no cycle in
 * which nobody acted and nothing can move. */
static uint64_t run_traffic(const struct smring_params *p, uint64_t seed, uint32_t order, bool skips)
{
    enum { EACH = 30 };
    struct traffic t = {.rng = {seed}, .left = EACH * SMS};
    uint64_t hash = 0;
    for (uint32_t i = 0; i < SMS; i++) t.to_send[i] = EACH;
    open_ring(p, SMS);
    while (t.left || t.done < t.open) {
        const uint64_t draw = rng_u64(&t.rng);
        t.has_acted = false;
        for (uint32_t i = 0; i < SMS; i++) act(&t, i * order % SMS, draw >> i * order % SMS & 1);
        if (!skips || t.has_acted || smring_wake(ring) <= now()) smring_tick(ring, now());
        cycle++;
        hash = hash * 31 + t.done;
        assert_true(cycle < 200000);
    }
    assert_true(smring_idle(ring));
    assert_int_equal(smring_open(ring), 0);
    smring_destroy(ring);
    return hash * 31 + cycle;
}

static void any_traffic_ends_with_short_queues(void **state)
{
    for (uint32_t queue = 2; queue <= 8; queue++)
        for (uint32_t buffer = 0; buffer <= 8; buffer += 4)
            for (uint32_t latency = 1; latency <= 5; latency += 4) {
                struct smring_params p = thesis;
                p.queue = queue;
                p.latency = latency;
                p.request_buffer = buffer;
                p.response_buffer = buffer / 4;
                run_traffic(&p, queue * 100 + latency, 1, false);
            }
}

/* 1, 2, 4, 7 and 14 have no factor in common with 15: all orders of SMs. */
static void the_order_of_sms_in_a_cycle_does_not_matter(void **state)
{
    static const uint32_t orders[] = {2, 4, 7, 14};
    struct smring_params p = thesis;
    p.queue = 3;
    const uint64_t first = run_traffic(&p, 5, 1, false);
    for (size_t i = 0; i < ARRAY_LEN(orders); i++)
        assert_int_equal(run_traffic(&p, 5, orders[i], false), first);
    assert_int_equal(run_traffic(&p, 5, 4, true), first);
    p.latency = 5; /* with cycles that can be skipped */
    assert_int_equal(run_traffic(&p, 5, 2, true), run_traffic(&p, 5, 1, false));
}

/* The machine may let it pass where the SM sees nothing else; its sender has to look. Returns when the
 * request is back. */
static tick ask_for_a_line(bool by_machine)
{
    open_ring(&thesis, 3);
    assert_true(send(0, SMRING_REQUEST, SMRING_HOLDERS, REQUEST, 77));
    for (uint32_t sm = 1; sm < 3; sm++) {
        while (!see(sm, SMRING_REQUEST)) end_cycle();
        const struct smring_message *m = smring_asks(ring, sm, SMRING_REQUEST, now());
        uint64_t seeing = 0;
        assert_true(smring_find_seeing(ring, now(), &seeing));
        assert_int_equal(seeing, 1u << sm);
        assert_ptr_equal(m, see(sm, SMRING_REQUEST));
        assert_int_equal(m->words[0], 77);
        (by_machine ? smring_let_pass : smring_pass)(ring, sm, SMRING_REQUEST);
        assert_null(smring_asks(ring, sm, SMRING_REQUEST, now()));
    }
    while (!see(0, SMRING_REQUEST)) end_cycle();
    assert_null(smring_asks(ring, 0, SMRING_REQUEST, now()));
    const tick back = now();
    smring_pop(ring, 0, SMRING_REQUEST, back);
    end_cycle();
    assert_true(smring_idle(ring));
    smring_destroy(ring);
    return back;
}

static void who_asks_for_a_line_is_shown_to_the_machine_which_may_let_it_pass(void **state)
{
    assert_int_equal(ask_for_a_line(true), ask_for_a_line(false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_asks_for_a_line_is_shown_to_the_machine_which_may_let_it_pass),
        cmocka_unit_test(a_request_takes_its_latency_for_each_hop),
        cmocka_unit_test(a_line_takes_three_cycles_more_for_each_hop),
        cmocka_unit_test(a_second_line_follows_when_the_last_flit_of_the_first_has_left),
        cmocka_unit_test(what_is_for_one_sm_is_seen_by_it_alone),
        cmocka_unit_test(requests_that_pass_go_before_new_ones),
        cmocka_unit_test(new_responses_go_before_those_that_pass),
        cmocka_unit_test(a_new_message_needs_two_slots_and_one_that_passes_one),
        cmocka_unit_test(without_a_buffer_a_message_is_refused_at_once),
        cmocka_unit_test(room_is_used_from_the_next_cycle_on),
        cmocka_unit_test(any_traffic_ends_with_short_queues),
        cmocka_unit_test(the_order_of_sms_in_a_cycle_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
