/* test_mech_ccn.c: the request throttler of ccn, and what an SM does with what it sees, on an SM that is
 * nothing but its ports. */
#include "mech_kit.h"

enum { LINE = 0x1000, ASKER = 1, TOKEN = 7, HOPS = 2, AGE = 55 };

static struct {
    uint64_t insts;
    bool has_seen[2], buffer_full, response_full, holds, cannot_send;
    struct mech_ring_message seen[2], pushed;
    uint32_t pushes, pops, passes, reads, answers, forwards;
    uint64_t copy_as_of, as_of;
} sm;

static bool fake_push(void *host, enum mech_ring_channel channel, const struct mech_ring_message *m)
{
    if (channel == MECH_RING_REQUEST ? sm.buffer_full : sm.response_full) return false;
    sm.pushed = *m;
    sm.pushes++;
    return true;
}
static bool fake_peek(void *host, enum mech_ring_channel channel, struct mech_ring_message *m)
{
    *m = sm.seen[channel];
    return sm.has_seen[channel];
}
static void fake_pop(void *host, enum mech_ring_channel channel)
{
    sm.has_seen[channel] = false;
    sm.pops++;
}
static void fake_pass(void *host, enum mech_ring_channel channel)
{
    sm.has_seen[channel] = false;
    sm.passes++;
}
static uint64_t fake_insts(void *host) { return sm.insts; }
static bool fake_probe(void *host, uint64_t line) { return sm.holds && line == LINE; }
static bool fake_read(void *host, uint64_t line) { return ++sm.reads; }
static void fake_answer(void *host, uint32_t token) { sm.answers += token; }
static void fake_as_of(void *host, uint32_t token, uint64_t as_of) { sm.as_of = as_of; }
static uint64_t fake_copy(void *host, uint32_t of_sm, uint64_t line)
{
    assert_int_equal(of_sm, 0);
    assert_int_equal(line, LINE);
    return sm.copy_as_of;
}
static bool fake_forward(void *host, uint32_t token)
{
    sm.forwards++;
    return !sm.cannot_send;
}

static const struct mech_host_ops fake_ops = {.ring_push = fake_push,
                                              .ring_peek = fake_peek,
                                              .ring_pop = fake_pop,
                                              .ring_pass = fake_pass,
                                              .thread_insts = fake_insts,
                                              .l1_probe = fake_probe,
                                              .l1_read = fake_read,
                                              .miss_answer = fake_answer,
                                              .miss_as_of = fake_as_of,
                                              .copy_as_of = fake_copy,
                                              .miss_forward = fake_forward};

static void open_ccn(struct mech_kit *k, const char *settings)
{
    memset(&sm, 0, sizeof sm);
    *k = (struct mech_kit){.last = MECH_NO_WARP};
    assert_true(kit_try_set(k, "ccn", settings));
    kit_attach(k, &fake_ops, 48, 1);
}

static bool goes_into_ring(struct mech_kit *k, uint32_t token)
{
    return mech_take_miss(k->sm, &(struct mech_l1_access){.line = LINE, .cycle = 100}, token).answer ==
           MECH_MISS_CLAIM;
}

/* The request of SM `asker` is here, or the response to this SM. */
static void show(enum mech_ring_channel channel, uint32_t asker, uint32_t token)
{
    sm.has_seen[channel] = true;
    sm.seen[channel] = (struct mech_ring_message){
        .words = {LINE, 100, token | (uint64_t)asker << 32 | (uint64_t)HOPS << 48, sm.copy_as_of},
        .to = channel == MECH_RING_REQUEST ? MECH_RING_HOLDERS : 0,
        .hops = 3};
}

/* ---- 4.4.4 ---- */

/* `hits` of 100 misses of the sample are answered: is the ring used after it? */
static bool is_on_after(struct mech_kit *k, uint32_t hits)
{
    for (uint32_t i = 0; i < 100; i++) {
        assert_true(goes_into_ring(k, i));
        if (i >= hits) continue;
        show(MECH_RING_RESPONSE, 0, i);
        mech_on_ring(k->sm, 142);
    }
    sm.insts += 1000;
    const bool is_on = goes_into_ring(k, 200);
    sm.insts += 9000 - 1;
    assert_int_equal(goes_into_ring(k, 201), is_on); /* to the last instruction of the epoch */
    sm.insts++;
    return is_on;
}

static void more_hits_than_the_least_keep_the_ring_in_use(void **unused)
{
    struct mech_kit k;
    open_ccn(&k, "ccn.sample=1000 ccn.period=10000");
    assert_false(is_on_after(&k, 4));
    assert_false(is_on_after(&k, 5));
    assert_true(is_on_after(&k, 6));
    assert_int_equal(kit_stat(&k, "ccn.epochs"), 3);
    assert_int_equal(kit_stat(&k, "ccn.epochs_off"), 2);
    assert_int_equal(kit_stat(&k, "ccn.direct_throttled"), 4);
    kit_close(&k);
}

static void a_sample_without_a_miss_keeps_the_ring_in_use(void **unused)
{
    struct mech_kit k;
    open_ccn(&k, "ccn.sample=1000 ccn.period=10000");
    sm.insts = 5000;
    assert_true(goes_into_ring(&k, 0));
    kit_close(&k);
}

static void ccn_b_has_no_throttler(void **unused)
{
    struct mech_kit k;
    open_ccn(&k, "ccn.mode=basic ccn.sample=1000 ccn.period=10000");
    assert_true(is_on_after(&k, 0));
    kit_close(&k);
}

static void a_throttled_sm_answers_others(void **unused)
{
    struct mech_kit k;
    open_ccn(&k, "ccn.sample=1000 ccn.period=10000");
    assert_false(is_on_after(&k, 0));
    sm.insts -= 10;
    assert_false(goes_into_ring(&k, 300));
    sm.holds = true;
    show(MECH_RING_REQUEST, ASKER, TOKEN);
    mech_on_ring(k.sm, 150);
    assert_int_equal(kit_stat(&k, "ccn.answered"), 1);
    kit_close(&k);
}

/* ---- 4.4.2 ---- */

static void a_request_is_answered_passed_or_waits(void **unused)
{
    struct mech_kit k;
    open_ccn(&k, "");
    show(MECH_RING_REQUEST, ASKER, TOKEN);
    mech_on_ring(k.sm, 150);
    assert_int_equal(sm.passes, 1);
    sm.holds = sm.response_full = true;
    show(MECH_RING_REQUEST, ASKER, TOKEN);
    mech_on_ring(k.sm, 151);
    mech_on_ring(k.sm, 152);
    assert_int_equal(sm.pops + sm.reads, 0); /* no cycle is stolen for an answer that cannot be sent */
    assert_int_equal(kit_stat(&k, "ccn.held"), 2);
    sm.response_full = false;
    mech_on_ring(k.sm, 153);
    assert_int_equal(sm.pops, 1);
    assert_int_equal(sm.reads, 1);
    assert_int_equal(sm.pushed.to, ASKER);
    assert_int_equal(sm.pushed.bytes, 128);
    assert_int_equal(sm.pushed.words[2] >> 48, 3); /* hops of the request */
    kit_close(&k);
}

/* SM 0 is the asker: what comes round is not looked up. */
static void a_request_that_comes_round_goes_to_the_l2_when_it_can(void **unused)
{
    struct mech_kit k;
    open_ccn(&k, "");
    assert_true(goes_into_ring(&k, TOKEN));
    sm.holds = sm.cannot_send = true;
    show(MECH_RING_REQUEST, 0, TOKEN);
    mech_on_ring(k.sm, 117);
    assert_int_equal(sm.pops, 0);
    assert_int_equal(kit_stat(&k, "ccn.send_waits"), 1);
    sm.cannot_send = false;
    mech_on_ring(k.sm, 118);
    assert_int_equal(sm.pops, 1);
    assert_int_equal(kit_stat(&k, "ccn.returned"), 1);
    assert_int_equal(kit_stat(&k, "ccn.overhead_cycles"), 18);
    assert_int_equal(k.sm->claimed, 0);
    kit_close(&k);
}

static void a_full_buffer_sends_misses_to_the_l2(void **unused)
{
    struct mech_kit k;
    open_ccn(&k, "");
    sm.buffer_full = true;
    assert_false(goes_into_ring(&k, TOKEN));
    assert_int_equal(kit_stat(&k, "ccn.direct_full"), 1);
    sm.buffer_full = false;
    assert_true(goes_into_ring(&k, TOKEN));
    assert_int_equal(sm.pushed.to, MECH_RING_HOLDERS);
    assert_int_equal(sm.pushed.bytes, 4);
    kit_close(&k);
}

static void local_memory_and_prefetches_stay_out(void **unused)
{
    struct mech_kit k;
    open_ccn(&k, "");
    mech_take_miss(k.sm, &(struct mech_l1_access){.is_local = true}, 1);
    mech_take_miss(k.sm, &(struct mech_l1_access){.is_prefetch = true}, 2);
    assert_int_equal(sm.pushes, 0);
    assert_int_equal(kit_stat(&k, "ccn.misses"), 0);
    kit_close(&k);
}

/* ---- how old a line is ---- */

/* The holder says it in its answer, and the response brings it to the miss. */
static void an_answer_has_the_age_of_its_copy(void **unused)
{
    static const uint64_t ages[] = {AGE, 0};
    for (uint32_t i = 0; i < ARRAY_LEN(ages); i++) {
        struct mech_kit k;
        open_ccn(&k, "");
        sm.holds = true;
        sm.copy_as_of = ages[i];
        show(MECH_RING_REQUEST, ASKER, TOKEN);
        mech_on_ring(k.sm, 150);
        assert_int_equal(sm.pushed.words[3], ages[i]);
        assert_int_equal(kit_stat(&k, "ccn.stale_hits"), 0); /* it is the hit of another SM */
        assert_true(goes_into_ring(&k, TOKEN));
        sm.as_of = 1;
        show(MECH_RING_RESPONSE, 0, TOKEN);
        mech_on_ring(k.sm, 160);
        assert_int_equal(sm.as_of, ages[i]);
        assert_int_equal(kit_stat(&k, "ccn.hits"), 1);
        assert_int_equal(kit_stat(&k, "ccn.hops"), HOPS + 3);
        assert_int_equal(kit_stat(&k, "ccn.stale_hits"), !ages[i]);
        kit_close(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_hits_than_the_least_keep_the_ring_in_use),
        cmocka_unit_test(a_sample_without_a_miss_keeps_the_ring_in_use),
        cmocka_unit_test(ccn_b_has_no_throttler),
        cmocka_unit_test(a_throttled_sm_answers_others),
        cmocka_unit_test(a_request_is_answered_passed_or_waits),
        cmocka_unit_test(a_request_that_comes_round_goes_to_the_l2_when_it_can),
        cmocka_unit_test(a_full_buffer_sends_misses_to_the_l2),
        cmocka_unit_test(local_memory_and_prefetches_stay_out),
        cmocka_unit_test(an_answer_has_the_age_of_its_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
