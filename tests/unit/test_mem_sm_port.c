/* test_mem_sm_port.c: the SM's port to the crossbar, and the small read-only caches that are its clients. The
 * crossbar is played by the test. A cycle is two ticks, both links take one cycle. */
#include "mem/rocache.h"
#include "mem/sm_port_sleep.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PERIOD = 2, NOTHING = -1, LINE = 128 };

struct client {
    uint32_t replies[8], count;
    uint32_t sent;
};

struct bench {
    struct clock_domain clock;
    struct req_pool pool;
    struct link out, in;
    struct sm_port *port;
    struct client l1, inst;
};

static void take_reply(void *ctx, tick now, uint32_t req)
{
    struct client *c = ctx;
    c->replies[c->count++] = req;
}

static void note_sent(void *ctx, tick now) { ((struct client *)ctx)->sent++; }

static void start(struct bench *b, uint32_t places, uint32_t reply_step)
{
    memset(b, 0, sizeof *b);
    b->clock = clock_domain_of(PERIOD);
    req_pool_init(&b->pool, 64);
    link_init(&b->out, "out", places, PERIOD, NULL, NULL);
    link_init(&b->in, "in", 8, PERIOD, NULL, NULL);
    b->port = sm_port_create(&(struct sm_port_setup){.to_xbar = &b->out,
                                                     .from_xbar = &b->in,
                                                     .clock = &b->clock,
                                                     .pool = &b->pool,
                                                     .queue = 2,
                                                     .reply_step = reply_step,
                                                     .line_bytes = LINE});
    sm_port_connect(
        b->port, SM_PORT_L1,
        &(struct sm_port_handler){.ctx = &b->l1, .reply = take_reply, .sent = note_sent, .line_bytes = LINE});
    sm_port_connect(b->port, SM_PORT_INST,
                    &(struct sm_port_handler){.ctx = &b->inst, .reply = take_reply, .line_bytes = LINE});
}

static void finish(struct bench *b)
{
    sm_port_destroy(b->port);
    link_free(&b->out);
    link_free(&b->in);
    req_pool_free(&b->pool);
}

static void cycle(struct bench *b, uint64_t at)
{
    sm_port_receive(b->port, at * PERIOD);
    sm_port_forward(b->port, at * PERIOD);
}

static int leaves(struct bench *b, uint64_t at)
{
    uint32_t id;
    return link_peek(&b->out, at * PERIOD, &id) ? (int)link_pop(&b->out, at * PERIOD) : NOTHING;
}

static uint32_t request(struct bench *b, tick born)
{
    return req_new(&b->pool, &(struct req){.addr = 0x8000, .born = born});
}

static void the_small_caches_go_first_and_one_request_leaves_a_cycle(void **state)
{
    struct bench b;
    start(&b, 8, 0);
    uint32_t miss = request(&b, 0), inst = request(&b, 0);
    sm_port_send_miss(b.port, miss);
    sm_port_send(b.port, SM_PORT_INST, inst);
    assert_int_equal(b.port->other_requests, 1);
    cycle(&b, 1);
    cycle(&b, 2);
    assert_int_equal(leaves(&b, 2), inst);
    assert_int_equal(leaves(&b, 2), NOTHING);
    assert_int_equal(leaves(&b, 3), miss);
    assert_int_equal(b.l1.sent, 1); /* the others' requests are not the L1's */
    finish(&b);
}

static void each_queue_is_as_deep_as_the_setup_says(void **state)
{
    struct bench b;
    start(&b, 8, 0);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(sm_port_room(b.port), 2 - i);
        assert_true(sm_port_has_room(b.port));
        sm_port_send_miss(b.port, request(&b, 0));
        sm_port_send(b.port, SM_PORT_INST, request(&b, 0));
    }
    assert_int_equal(sm_port_room(b.port), 0);
    assert_false(sm_port_has_room(b.port));
    finish(&b);
}

static void a_reply_goes_to_the_client_that_asked_one_a_cycle(void **state)
{
    struct bench b;
    start(&b, 8, 0);
    uint32_t miss = request(&b, 0), inst = request(&b, 0);
    sm_port_send_miss(b.port, miss);
    sm_port_send(b.port, SM_PORT_INST, inst);
    cycle(&b, 1);
    cycle(&b, 2);
    link_push(&b.in, 3 * PERIOD, miss);
    link_push(&b.in, 3 * PERIOD, inst);
    cycle(&b, 3);
    assert_int_equal(b.l1.count + b.inst.count, 0);
    cycle(&b, 4);
    assert_int_equal(b.l1.count, 1);
    assert_int_equal(b.l1.replies[0], miss);
    assert_int_equal(b.inst.count, 0);
    assert_int_equal(b.port->out, 1);
    cycle(&b, 5);
    assert_int_equal(b.inst.count, 1);
    assert_int_equal(b.port->out, 0);
    finish(&b);
}

static void a_reply_waits_for_a_whole_number_of_steps_since_its_request(void **state)
{
    struct bench b;
    start(&b, 8, 3);
    uint32_t miss = request(&b, 1 * PERIOD);
    sm_port_send_miss(b.port, miss);
    cycle(&b, 2);
    link_push(&b.in, 4 * PERIOD, miss); /* seen at 5: four cycles after the request */
    assert_int_equal(sm_port_reply_at(b.port), 7 * PERIOD);
    for (uint64_t t = 5; t < 7; t++) cycle(&b, t);
    assert_int_equal(b.l1.count, 0);
    cycle(&b, 7);
    assert_int_equal(b.l1.count, 1);
    finish(&b);
}

static void a_full_crossbar_holds_requests_back(void **state)
{
    struct bench b;
    start(&b, 1, 0);
    uint32_t first = request(&b, 0), second = request(&b, 0);
    sm_port_send_miss(b.port, first);
    sm_port_send_miss(b.port, second);
    assert_true(sm_port_has_work(b.port));
    cycle(&b, 1);
    assert_false(sm_port_has_work(b.port)); /* the link says when there is room */
    cycle(&b, 2);
    assert_int_equal(sm_port_room(b.port), 1);
    assert_int_equal(leaves(&b, 2), first);
    cycle(&b, 3);
    assert_int_equal(leaves(&b, 4), second);
    finish(&b);
}

/* ---- read-only caches ---- */

struct filled {
    uint32_t waiters[8], count;
};
static void note_filled(void *ctx, const uint32_t *waiters, uint32_t count)
{
    struct filled *f = ctx;
    for (uint32_t i = 0; i < count; i++) f->waiters[f->count++] = waiters[i];
}

static void misses_of_one_line_are_sent_once_and_all_waiters_are_told(void **state)
{
    struct bench b;
    struct rocache c;
    struct filled f = {0};
    start(&b, 8, 0);
    rocache_init(&c, &(struct rocache_setup){.bytes = 512,
                                             .ways = 2,
                                             .line_bytes = 64,
                                             .misses = 2,
                                             .merges = 2,
                                             .cls = REQ_CONST,
                                             .client = SM_PORT_CONST,
                                             .pool = &b.pool,
                                             .port = b.port,
                                             .on_fill = note_filled,
                                             .ctx = &f});
    assert_int_equal(rocache_access(&c, 1000, 5, 0, 0), ROCACHE_MISS);
    assert_int_equal(rocache_access(&c, 1020, 6, 0, 0), ROCACHE_MISS);  /* the same line */
    assert_int_equal(rocache_access(&c, 1008, 7, 0, 0), ROCACHE_STALL); /* two may wait */
    assert_int_equal(rocache_access(&c, 4096, 7, 0, 0), ROCACHE_MISS);
    assert_int_equal(rocache_access(&c, 8192, 8, 0, 0), ROCACHE_STALL); /* two misses */
    assert_int_equal(c.unsent, 2);
    assert_true(rocache_send(&c, 0));
    assert_true(rocache_send(&c, 0));
    assert_false(rocache_send(&c, 0));
    cycle(&b, 1);
    int id = leaves(&b, 2);
    const struct req *r = req_at(&b.pool, (uint32_t)id);
    assert_int_equal(r->addr, 896); /* line 960 is the upper half of it */
    assert_int_equal(r->sectors, 0xc);
    assert_int_equal(r->cls, REQ_CONST);
    link_push(&b.in, 2 * PERIOD, (uint32_t)id);
    cycle(&b, 3);
    assert_int_equal(f.count, 2);
    assert_int_equal(f.waiters[0], 5);
    assert_int_equal(f.waiters[1], 6);
    assert_int_equal(rocache_access(&c, 1000, 5, 0, 0), ROCACHE_HIT);
    assert_int_equal(c.accesses, 4);
    assert_int_equal(c.missed, 3);
    assert_int_equal(b.pool.live, 1);
    rocache_free(&c);
    finish(&b);
}

/* Asks for the line until it is there, the test playing the memory. Returns the first answer. */
static enum rocache_answer want(struct bench *b, struct rocache *c, uint64_t addr, uint64_t *at)
{
    const enum rocache_answer answer = rocache_access(c, addr, 0, 0, 0);
    if (answer != ROCACHE_MISS) return answer;
    assert_true(rocache_send(c, *at * PERIOD));
    int id = NOTHING;
    while (id == NOTHING) {
        cycle(b, ++*at);
        id = leaves(b, *at);
    }
    link_push(&b->in, *at * PERIOD, (uint32_t)id);
    cycle(b, ++*at);
    return answer;
}

static void a_line_that_another_has_replaced_is_missed_though_it_was_hit_last(void **state)
{
    struct bench b;
    struct rocache c;
    struct filled f = {0};
    uint64_t at = 0;
    start(&b, 8, 0);
    rocache_init(&c, &(struct rocache_setup){.bytes = 2 * LINE, /* two sets of one way */
                                             .ways = 1,
                                             .line_bytes = LINE,
                                             .misses = 2,
                                             .merges = 2,
                                             .cls = REQ_CONST,
                                             .client = SM_PORT_CONST,
                                             .pool = &b.pool,
                                             .port = b.port,
                                             .on_fill = note_filled,
                                             .ctx = &f});
    enum { A = 0, B = LINE, A2 = 2 * LINE };
    assert_int_equal(want(&b, &c, A, &at), ROCACHE_MISS);
    assert_int_equal(want(&b, &c, B, &at), ROCACHE_MISS);
    for (int i = 0; i < 2; i++) assert_int_equal(want(&b, &c, A + 4 * (uint64_t)i, &at), ROCACHE_HIT);
    assert_int_equal(want(&b, &c, A2, &at), ROCACHE_MISS);
    assert_int_equal(want(&b, &c, A, &at), ROCACHE_MISS);
    assert_int_equal(want(&b, &c, A, &at), ROCACHE_HIT);
    rocache_clear(&c);
    assert_int_equal(want(&b, &c, A, &at), ROCACHE_MISS);
    assert_int_equal(c.accesses, 8);
    assert_int_equal(c.missed, 5);
    rocache_free(&c);
    finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_small_caches_go_first_and_one_request_leaves_a_cycle),
        cmocka_unit_test(each_queue_is_as_deep_as_the_setup_says),
        cmocka_unit_test(a_reply_goes_to_the_client_that_asked_one_a_cycle),
        cmocka_unit_test(a_reply_waits_for_a_whole_number_of_steps_since_its_request),
        cmocka_unit_test(a_full_crossbar_holds_requests_back),
        cmocka_unit_test(misses_of_one_line_are_sent_once_and_all_waiters_are_told),
        cmocka_unit_test(a_line_that_another_has_replaced_is_missed_though_it_was_hit_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
