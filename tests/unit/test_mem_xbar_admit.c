/* test_mem_xbar_admit.c: a network of the crossbar that looks only at ports to which something can happen
 * does the same in every cycle as one that looks at all of them. Random traffic, with tiny buffers. */
#include "base/rng.h"
#include "mem/xbar_sleep.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PERIOD = 10, PORTS_MAX = 70, CYCLES = 3000 };

/* a network with its links */
struct side {
    struct xbar_params p;
    struct xbar_net net;
    struct xbar_net_stats stats;
    struct clock_domain clock;
    struct link from[PORTS_MAX], to[PORTS_MAX];
    tick wake;
};

struct pair {
    struct req_pool pool;
    struct side lazy, eager;
    uint32_t inputs, outputs;
    struct rng rng;
    uint64_t arrived, waited;
};

static void side_start(struct side *s, struct pair *t, uint32_t depth, bool is_reply)
{
    struct link *from[PORTS_MAX], *to[PORTS_MAX];
    s->clock = clock_domain_of(PERIOD);
    s->wake = TICK_NEVER;
    for (uint32_t i = 0; i < PORTS_MAX; i++) {
        link_init(from[i] = &s->from[i], "from", depth, PERIOD, NULL, &s->wake);
        link_init(to[i] = &s->to[i], "to", depth, PERIOD, &s->wake, NULL);
    }
    xbar_net_init(&s->net, &s->p, is_reply, t->inputs, t->outputs, &s->clock, &t->pool, from, to, &s->stats);
    xbar_net_take_notes(&s->net);
}

static void side_end(struct side *s)
{
    xbar_net_free(&s->net);
    for (uint32_t i = 0; i < PORTS_MAX; i++) {
        link_free(&s->from[i]);
        link_free(&s->to[i]);
    }
}

/* Requests of all sizes at random times, the same for both sides. */
static void send_some(struct pair *t, tick now)
{
    for (uint32_t i = 0; i < t->inputs; i++) {
        uint64_t h = rng_u64(&t->rng);
        if (h % 4 == 0 || !link_can_push(&t->lazy.from[i], now)) continue;
        assert_true(link_can_push(&t->eager.from[i], now));
        uint16_t dst = (uint16_t)((h >> 8) % t->outputs);
        const struct req q = {.sectors = 1 + (uint32_t)(h >> 40) % 15,
                              .kind = h >> 20 & 1 ? REQ_WRITE : REQ_READ,
                              .write_bytes = 1 + (uint32_t)(h >> 24) % 128,
                              .sm = dst,
                              .slice = dst};
        uint32_t id = req_new(&t->pool, &q);
        link_push(&t->lazy.from[i], now, id);
        link_push(&t->eager.from[i], now, id);
    }
}

static void take_some(struct pair *t, tick now)
{
    for (uint32_t o = 0; o < t->outputs; o++) {
        uint32_t lazy = REQ_NONE, eager = REQ_NONE;
        link_peek(&t->lazy.to[o], now, &lazy);
        link_peek(&t->eager.to[o], now, &eager);
        assert_int_equal(lazy, eager);
        if (lazy == REQ_NONE || rng_u64(&t->rng) % 3 == 0) continue;
        link_pop(&t->lazy.to[o], now);
        link_pop(&t->eager.to[o], now);
        req_del(&t->pool, lazy);
        t->arrived++;
    }
}

/* Forgets which heads wait, and looks at each port. */
static void look_at_all(struct xbar_net *n)
{
    for (uint32_t w = 0; w < n->words; w++) n->ports[w].waiting = 0;
    xbar_note_all(n);
}

static void tick_both(struct pair *t, tick now)
{
    if (t->lazy.wake <= now) {
        t->lazy.wake = TICK_NEVER;
        xbar_nets_tick(&t->lazy.net, 1, now, &t->lazy.wake);
    }
    look_at_all(&t->eager.net);
    t->eager.wake = TICK_NEVER;
    xbar_nets_tick(&t->eager.net, 1, now, &t->eager.wake);
    assert_int_equal(t->lazy.net.packets, t->eager.net.packets);
    for (uint32_t i = 0; i < t->inputs; i++) {
        assert_int_equal(t->lazy.from[i].count, t->eager.from[i].count);
        t->waited += t->lazy.net.ports[i / 64].waiting >> (i % 64) & 1;
    }
}

static void run_pair(uint32_t k, uint32_t inputs, uint32_t outputs)
{
    static struct pair t;
    memset(&t, 0, sizeof t);
    t.inputs = inputs;
    t.outputs = outputs;
    t.rng = (struct rng){100 + k};
    req_pool_init(&t.pool, 65536);
    param_set_defaults(xbar_rows, &t.lazy.p);
    uint32_t depth = 1 + k % 3;
    t.lazy.p.injection = depth + k % 7;
    t.lazy.p.vc_buffer = t.lazy.p.ejection = depth;
    t.lazy.p.vcs = 1 + k / 3 % 3;
    t.lazy.p.iterations = 1 + k % 2;
    t.lazy.p.input_speedup = 1 + k / 2 % 2;
    t.lazy.p.output_speedup = 1 + k / 5 % 2;
    t.lazy.p.latency = k % 9 == 8 ? 70 : k % 4;
    t.lazy.p.reply_data = k % 2 ? 32 : 0;
    t.eager.p = t.lazy.p;
    side_start(&t.lazy, &t, depth, k & 4);
    side_start(&t.eager, &t, depth, k & 4);
    for (tick now = 0; now < CYCLES * PERIOD; now += PERIOD) {
        send_some(&t, now);
        if (k & 1) take_some(&t, now); /* the neighbours before the network, or after it */
        tick_both(&t, now);
        if (!(k & 1)) take_some(&t, now);
    }
    assert_true(t.arrived > 200);
    assert_true(t.waited > 200);
    assert_memory_equal(&t.lazy.stats, &t.eager.stats, sizeof t.lazy.stats);
    side_end(&t.lazy);
    side_end(&t.eager);
    req_pool_free(&t.pool);
}

static void a_port_that_is_not_looked_at_would_have_done_nothing(void **state)
{
    for (uint32_t k = 0; k < 36; k++) run_pair(k, 5, 4);
    for (uint32_t k = 0; k < 6; k++) run_pair(k, 3, 70);
    for (uint32_t k = 0; k < 6; k++) run_pair(k, 70, 3);
}

/* A packet enters when the flits that are on the channel have left: the rule asked of each cycle. */
static void flits_on_the_channel_leave_the_buffer_when_it_is_free(void **state)
{
    const struct xbar_net n = {.injection = 9};
    const struct xbar_input in = {.channel_free = 20, .injection = {.flits = 8, .on_channel = 5}};
    assert_true(xbar_can_inject(&n, &in, 1, 19));
    assert_false(xbar_can_inject(&n, &in, 2, 19));
    assert_true(xbar_can_inject(&n, &in, 6, 20));
    assert_false(xbar_can_inject(&n, &in, 7, 20));
    const struct xbar_input last = {.channel_free = 20, .injection = {.flits = 5, .on_channel = 5}};
    assert_false(xbar_can_inject(&n, &last, 12, 19));
    assert_true(xbar_can_inject(&n, &last, 12, 20)); /* longer than the buffer, which is empty */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_that_is_not_looked_at_would_have_done_nothing),
        cmocka_unit_test(flits_on_the_channel_leave_the_buffer_when_it_is_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
