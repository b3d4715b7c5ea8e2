/* test_mem_xbar.c: the crossbar between mock SMs and mock slices: exact cycles, bandwidth, fairness, order.
 */
#include "base/rng.h"
#include "mem/xbar_ahead.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PERIOD = 10, PORTS_MAX = 140, WIRE = PERIOD };

struct rig {
    struct xbar_params p;
    struct xbar *x;
    struct clock_domain clock;
    struct req_pool pool;
    uint32_t sms, slices;
    struct link from_sm[PORTS_MAX], to_slice[PORTS_MAX], from_slice[PORTS_MAX], to_sm[PORTS_MAX];
    struct link *ptr[4][PORTS_MAX];
    uint64_t cycle;
    /* each port is looked at in each cycle */
    bool no_notes;
    /* port that run_list uses */
    uint32_t first;
};

static void rig_defaults(struct rig *r)
{
    memset(r, 0, sizeof *r);
    param_set_defaults(xbar_rows, &r->p);
}

static void rig_start(struct rig *r, uint32_t sms, uint32_t slices, uint32_t depth)
{
    r->clock = clock_domain_of(PERIOD);
    r->sms = sms;
    r->slices = slices;
    req_pool_init(&r->pool, 65536);
    for (uint32_t i = 0; i < PORTS_MAX; i++) {
        r->ptr[0][i] = &r->from_sm[i];
        r->ptr[1][i] = &r->to_slice[i];
        r->ptr[2][i] = &r->from_slice[i];
        r->ptr[3][i] = &r->to_sm[i];
    }
    r->x = xbar_create(&r->p, sms, slices, &r->clock, &r->pool, r->ptr[0], r->ptr[1], r->ptr[2], r->ptr[3]);
    struct link *gone[PORTS_MAX] = {NULL}; /* the arrays are the caller's, and may go */
    memcpy(r->ptr[0], gone, sizeof gone);
    tick *wake = xbar_wake(r->x);
    for (uint32_t i = 0; i < PORTS_MAX; i++) {
        link_init(&r->from_sm[i], "from SM", depth, WIRE, NULL, wake);
        link_init(&r->to_slice[i], "to slice", depth, WIRE, wake, NULL);
        link_init(&r->from_slice[i], "from slice", depth, WIRE, NULL, wake);
        link_init(&r->to_sm[i], "to SM", depth, WIRE, wake, NULL);
    }
    if (!r->no_notes) xbar_take_notes(r->x);
}

static void rig_end(struct rig *r)
{
    xbar_destroy(r->x);
    for (uint32_t i = 0; i < PORTS_MAX; i++) {
        link_free(&r->from_sm[i]);
        link_free(&r->to_slice[i]);
        link_free(&r->from_slice[i]);
        link_free(&r->to_sm[i]);
    }
    req_pool_free(&r->pool);
}

static uint32_t rig_request(struct rig *r, uint32_t sm, uint32_t slice, enum req_kind kind,
                            uint32_t write_bytes)
{
    const struct req q = {.sectors = 0xf,
                          .kind = (uint8_t)kind,
                          .write_bytes = write_bytes,
                          .sm = (uint16_t)sm,
                          .slice = (uint16_t)slice};
    return req_new(&r->pool, &q);
}

static tick rig_now(const struct rig *r) { return r->cycle * PERIOD; }

/* Runs one cycle and says at which link a value can first be popped. */
static void rig_tick(struct rig *r) { xbar_tick(r->x, rig_now(r)); }

/* Sends one request at cycle 0 and gives the crossbar cycles between its links. */
static uint64_t idle_cycles(struct rig *r, struct link *from, struct link *to, uint32_t id)
{
    uint32_t got;
    link_push(from, 0, id); /* seen at cycle 1 */
    for (r->cycle = 0; r->cycle < 1000; r->cycle++) {
        rig_tick(r);
        if (!link_peek(to, rig_now(r), &got)) continue;
        assert_int_equal(got, id);
        link_pop(to, rig_now(r));
        return r->cycle - 1 - 1; /* less the two wires */
    }
    fail_msg("the packet was lost");
    return 0;
}

static void an_idle_packet_takes_a_cycle_its_flits_and_the_latency(void **state)
{
    static const struct {
        uint32_t request_flit, reply_flit, read, write, reply, ack;
    } rows[] = {{32, 32, 1, 5, 5, 1},
                {16, 48, 1, 9, 3, 1},
                {16, 68, 1, 9, 2, 1},
                {32, 52, 1, 5, 3, 1},
                {128, 128, 1, 2, 2, 1}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (uint32_t latency = 0; latency < 4; latency++) {
            struct rig r;
            rig_defaults(&r);
            r.p.request_flit = rows[i].request_flit;
            r.p.reply_flit = rows[i].reply_flit;
            r.p.latency = latency;
            for (int inf = 0; inf < 2; inf++) {
                r.p.infinite = inf;
                rig_start(&r, 15, 12, 8);
                uint32_t read = rig_request(&r, 3, 7, REQ_READ, 0);
                struct link *req_in = &r.from_sm[3], *req_out = &r.to_slice[7], *rep_in = &r.from_slice[7],
                            *rep_out = &r.to_sm[3];
                uint32_t base = 1 + latency;
                assert_int_equal(idle_cycles(&r, req_in, req_out, read), base + rows[i].read);
                rig_end(&r);
                rig_start(&r, 15, 12, 8);
                assert_int_equal(idle_cycles(&r, req_in, req_out, rig_request(&r, 3, 7, REQ_WRITE, 128)),
                                 base + rows[i].write);
                rig_end(&r);
                rig_start(&r, 15, 12, 8);
                assert_int_equal(idle_cycles(&r, rep_in, rep_out, rig_request(&r, 3, 7, REQ_READ, 0)),
                                 base + rows[i].reply);
                rig_end(&r);
                rig_start(&r, 15, 12, 8);
                assert_int_equal(idle_cycles(&r, rep_in, rep_out, rig_request(&r, 3, 7, REQ_WRITE, 128)),
                                 base + rows[i].ack);
                const struct xbar_stats *st = xbar_stats(r.x);
                assert_int_equal(st->reply.packets, 1);
                assert_int_equal(st->reply.flits, 1);
                assert_int_equal(st->reply.latency_cycles, base + 1);
                assert_int_equal(st->reply.stall_cycles, 0);
                assert_true(xbar_idle(r.x));
                rig_end(&r);
            }
        }
}

static void an_atomic_carries_its_data_both_ways(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.latency = 0;
    rig_start(&r, 2, 2, 8);
    assert_int_equal(idle_cycles(&r, &r.from_sm[0], &r.to_slice[1], rig_request(&r, 0, 1, REQ_ATOMIC, 64)),
                     1 + 3);
    rig_end(&r);
    rig_start(&r, 2, 2, 8);
    assert_int_equal(idle_cycles(&r, &r.from_slice[1], &r.to_sm[0], rig_request(&r, 0, 1, REQ_ATOMIC, 64)),
                     1 + 3);
    rig_end(&r);
}

/* Longer than the wheel of events: the output is free when the packet is through, not when its event comes
 * round. */
static void a_packet_of_many_flits_keeps_its_output_to_the_end(void **state)
{
    enum { FLITS = 8 + 4 * 32 };
    struct rig r;
    rig_defaults(&r);
    r.p.reply_flit = 1;
    r.p.injection = r.p.vc_buffer = FLITS;
    r.p.input_speedup = r.p.output_speedup = 1;
    rig_start(&r, 2, 2, 8);
    uint64_t came[2];
    uint32_t id, count = 0;
    for (uint32_t i = 0; i < 2; i++) link_push(&r.from_slice[i], 0, rig_request(&r, 0, i, REQ_READ, 0));
    for (r.cycle = 0; r.cycle < 1000 && count < 2; r.cycle++) {
        rig_tick(&r);
        if (!link_peek(&r.to_sm[0], rig_now(&r), &id)) continue;
        link_pop(&r.to_sm[0], rig_now(&r));
        came[count++] = r.cycle;
    }
    assert_int_equal(count, 2);
    assert_int_equal(came[0], 1 + 1 + FLITS + r.p.latency + 1);
    assert_int_equal(came[1], came[0] + FLITS);
    assert_int_equal(((const struct xbar_stats *)xbar_stats(r.x))->reply.stall_cycles, FLITS);
    rig_end(&r);
}

/* ---- traffic: every slice answers whom it is told to, SMs take everything ---- */
struct traffic {
    uint64_t cycles, flits, packets, worst_output;
    uint64_t by_input[PORTS_MAX];
};

typedef uint32_t pick_fn(struct rig *r, struct rng *rng, uint32_t input);

static uint32_t pick_any(struct rig *r, struct rng *rng, uint32_t input)
{
    return (uint32_t)rng_below(rng, r->sms);
}
static uint32_t pick_same(struct rig *r, struct rng *rng, uint32_t input) { return input % r->sms; }
static uint32_t pick_first(struct rig *r, struct rng *rng, uint32_t input) { return 0; }
static uint32_t pick_next(struct rig *r, struct rng *rng, uint32_t input)
{
    return (uint32_t)(rng->state++ % r->sms);
}

/* Reply network, all slices always with something to send. Checks that no output passes one flit a cycle. */
static struct traffic saturate(struct rig *r, pick_fn *pick, uint64_t cycles, uint32_t flits)
{
    struct traffic t = {.cycles = cycles};
    struct rng rng = {7};
    uint64_t packets_at[PORTS_MAX] = {0};
    for (r->cycle = 0; r->cycle < cycles; r->cycle++) {
        tick now = rig_now(r);
        for (uint32_t i = 0; i < r->slices; i++)
            if (link_can_push(&r->from_slice[i], now)) {
                uint32_t id = rig_request(r, pick(r, &rng, i), i, REQ_READ, 0);
                req_at(&r->pool, id)->sectors = (1u << (flits - 1)) - 1; /* 8 + 32 * (flits - 1) bytes */
                link_push(&r->from_slice[i], now, id);
            }
        rig_tick(r);
        for (uint32_t o = 0; o < r->sms; o++) {
            uint32_t id;
            while (link_peek(&r->to_sm[o], now, &id)) {
                link_pop(&r->to_sm[o], now);
                assert_int_equal(req_at(&r->pool, id)->sm, o);
                t.by_input[req_at(&r->pool, id)->slice]++;
                t.packets++;
                packets_at[o]++;
                req_del(&r->pool, id);
            }
            assert_true(packets_at[o] * flits <= r->cycle + 1); /* one flit a cycle, from the first on */
        }
    }
    t.flits = t.packets * flits;
    return t;
}

static void disjoint_flows_reach_one_flit_a_cycle(void **state)
{
    for (uint32_t flits = 1; flits <= 5; flits++)
        for (uint32_t speedup = 1; speedup <= 2; speedup++) {
            struct rig r;
            rig_defaults(&r);
            r.p.input_speedup = speedup;
            rig_start(&r, 8, 8, 8);
            struct traffic t = saturate(&r, pick_same, 4000, flits);
            assert_true(t.flits >= 8 * 4000 * 98 / 100);
            assert_true(t.flits <= 8 * 4000);
            const struct xbar_stats *s = xbar_stats(r.x);
            assert_true(s->reply.output_busy_cycles <= 8 * 4000 + 8 * 5);
            assert_int_equal(s->reply.stall_cycles, 0); /* nobody is in the way */
            rig_end(&r);
        }
}

static void one_hot_output_is_kept_full_and_shared_evenly(void **state)
{
    struct rig r;
    rig_defaults(&r);
    rig_start(&r, 15, 12, 8);
    struct traffic t = saturate(&r, pick_first, 12000, 5);
    assert_true(t.flits >= 12000 * 98 / 100);
    assert_true(t.flits <= 12000);
    for (uint32_t i = 0; i < 12; i++) assert_in_range(t.by_input[i], t.packets / 12 - 1, t.packets / 12 + 1);
    assert_true(((struct xbar_stats *)xbar_stats(r.x))->reply.stall_cycles > 0);
    rig_end(&r);
}

static void iterations_and_virtual_channels_raise_the_throughput_of_random_traffic(void **state)
{
    uint64_t flits[3];
    for (int k = 0; k < 3; k++) {
        struct rig r;
        rig_defaults(&r);
        r.p.input_speedup = 1;
        r.p.vcs = k == 0 ? 1 : 16;
        r.p.injection = 64;
        r.p.iterations = k == 2 ? 4 : 1;
        rig_start(&r, 16, 16, 64);
        struct traffic t = saturate(&r, pick_any, 6000, 1);
        flits[k] = t.flits;
        rig_end(&r);
    }
    assert_in_range(flits[0], 16 * 6000 * 55 / 100,
                    16 * 6000 * 70 / 100); /* blocking at the head: about 2 - sqrt 2 */
    assert_true(flits[1] > flits[0] * 120 / 100);
    assert_true(flits[2] >= flits[1]);
    assert_true(flits[2] >= 16 * 6000 * 90 / 100);
}

/* Random replies of five flits, one channel: an output that takes them twice as fast as it sends them,
 * into its buffer, frees the inputs sooner. What it sends stays one flit a cycle (saturate checks it). */
static void output_speedup_raises_the_throughput_of_random_traffic(void **state)
{
    uint64_t flits[2];
    for (uint32_t k = 0; k < 2; k++) {
        struct rig r;
        rig_defaults(&r);
        r.p.output_speedup = k + 1;
        rig_start(&r, 15, 12, 8);
        flits[k] = saturate(&r, pick_any, 6000, 5).flits;
        rig_end(&r);
    }
    assert_in_range(flits[0], 12 * 6000 * 60 / 100, 12 * 6000 * 80 / 100);
    assert_in_range(flits[1], 12 * 6000 * 85 / 100, 12 * 6000);
}

/* Arrivals of three replies of five flits: from slices 0 and 1 to SM 0, then from slice 1 to SM 1. */
static void three_arrivals(uint32_t output_speedup, uint64_t at[3])
{
    struct rig r;
    uint32_t got, count = 0;
    rig_defaults(&r);
    r.p.output_speedup = output_speedup;
    r.p.vc_buffer = 16;
    rig_start(&r, 2, 2, 8);
    link_push(&r.from_slice[0], 0, rig_request(&r, 0, 0, REQ_READ, 0));
    link_push(&r.from_slice[1], 0, rig_request(&r, 0, 1, REQ_READ, 0));
    link_push(&r.from_slice[1], 0, rig_request(&r, 1, 1, REQ_READ, 0));
    for (r.cycle = 0; r.cycle < 100 && count < 3; r.cycle++) {
        rig_tick(&r);
        for (uint32_t sm = 0; sm < 2; sm++) {
            if (!link_peek(&r.to_sm[sm], rig_now(&r), &got)) continue;
            link_pop(&r.to_sm[sm], rig_now(&r));
            at[sm ? 2 : req_at(&r.pool, got)->slice] = r.cycle;
            count++;
        }
    }
    assert_int_equal(count, 3);
    rig_end(&r);
}

/* The second reply follows the first on the wires in either case. With speedup 2 it has left its input two
 * cycles sooner, and the one behind it too. */
static void an_output_with_speedup_sends_as_before_and_frees_its_inputs_sooner(void **state)
{
    uint64_t plain[3], fast[3];
    three_arrivals(1, plain);
    three_arrivals(2, fast);
    assert_int_equal(plain[1], plain[0] + 5);
    assert_int_equal(fast[0], plain[0]);
    assert_int_equal(fast[1], plain[1]);
    assert_int_equal(plain[2], fast[2] + 2);
}

/* SM 0 takes nothing. The replies for it fill what lies before it; one for SM 1 behind them gets through
 * where it has another channel. */
static void a_virtual_channel_that_is_blocked_holds_up_no_other(void **state)
{
    for (uint32_t vcs = 1; vcs <= 2; vcs++) {
        struct rig r;
        uint32_t got;
        bool came = false;
        rig_defaults(&r);
        r.p.vcs = vcs;
        r.p.ejection = 1;
        rig_start(&r, 2, 1, 4);
        for (uint32_t sent = r.cycle = 0; r.cycle < 200; r.cycle++) {
            tick now = rig_now(&r);
            if (sent < 3 &&
                link_can_push(&r.from_slice[0], now)) /* one in the ejection buffer, one in the channel */
                link_push(&r.from_slice[0], now, rig_request(&r, sent++ == 2, 0, REQ_READ, 0));
            rig_tick(&r);
            if (r.cycle == 0) /* nor has its link room */
                while (link_can_push(&r.to_sm[0], now)) link_push(&r.to_sm[0], now, 0);
            came |= link_peek(&r.to_sm[1], now, &got);
        }
        assert_int_equal(came, vcs == 2);
        rig_end(&r);
    }
}

static void one_input_sends_one_flit_a_cycle_whatever_the_speedup(void **state)
{
    for (uint32_t speedup = 1; speedup <= 4; speedup++) {
        struct rig r;
        rig_defaults(&r);
        r.p.input_speedup = speedup;
        rig_start(&r, 8, 1, 8);
        struct traffic t = saturate(&r, pick_next, 5000, 5);
        assert_in_range(t.flits, 5000 * 98 / 100, 5000);
        rig_end(&r);
    }
}

static void more_than_64_ports_work(void **state)
{
    struct rig r;
    rig_defaults(&r);
    rig_start(&r, 3, 80, 2);
    struct traffic t = saturate(&r, pick_first, 20000, 1);
    assert_true(t.flits >= 20000 * 98 / 100);
    for (uint32_t i = 0; i < 80; i++) assert_in_range(t.by_input[i], t.packets / 80 - 1, t.packets / 80 + 1);
    rig_end(&r);
}

/* Pushes a fixed list of packets, takes them slowly, and gives a hash of every arrival time; order of each
 * pair is checked. */
static uint64_t run_list(struct rig *r, bool skip, uint32_t slow, uint32_t *arrived)
{
    enum { PACKETS = 600 };
    uint64_t hash = 1469598103934665603ull;
    uint32_t next[PORTS_MAX] = {0}, last[PORTS_MAX][PORTS_MAX];
    memset(last, 0, sizeof last);
    *arrived = 0;
    for (r->cycle = 0; r->cycle < 60000 && *arrived < PACKETS; r->cycle++) {
        tick now = rig_now(r);
        for (uint32_t i = 0; i < r->sms; i++)
            while (next[i] < PACKETS / r->sms && next[i] * 3 <= r->cycle &&
                   link_can_push(&r->from_sm[r->first + i], now)) {
                uint64_t h = hash_mix(next[i] * 977 + i);
                uint32_t id = rig_request(r, r->first + i, r->first + (uint32_t)(h % r->slices),
                                          h & 64 ? REQ_WRITE : REQ_READ, (uint32_t)(h >> 8) % 128 + 1);
                req_at(&r->pool, id)->token = ++next[i];
                link_push(&r->from_sm[r->first + i], now, id);
            }
        if (!skip || *xbar_wake(r->x) <= now) rig_tick(r);
        for (uint32_t o = 0; o < r->slices; o++) {
            uint32_t id;
            if (r->cycle % slow || !link_peek(&r->to_slice[r->first + o], now, &id)) continue;
            link_pop(&r->to_slice[r->first + o], now);
            struct req *q = req_at(&r->pool, id);
            uint32_t sm = q->sm - r->first;
            if (!r->p.infinite) assert_true(q->token > last[sm][o]);
            last[sm][o] = q->token;
            hash = hash_mix(hash ^ (r->cycle * 1000003 + sm * 101 + q->token * 7919 + o));
            (*arrived)++;
        }
    }
    struct xbar_stats *st = xbar_stats(r->x);
    hash = hash_mix(hash ^ st->request.stall_cycles);
    hash = hash_mix(hash ^ st->request.latency_cycles);
    return hash_mix(hash ^ st->request.eject_wait_cycles);
}

static void nothing_is_lost_at_depth_one_and_skipping_changes_nothing(void **state)
{
    for (uint32_t depth = 1; depth <= 3; depth++)
        for (uint32_t slow = 1; slow <= 41; slow += 8)
            for (int inf = 0; inf < 2; inf++) {
                uint64_t hash[2];
                for (int skip = 0; skip < 2; skip++) {
                    struct rig r;
                    rig_defaults(&r);
                    r.p.injection = r.p.vc_buffer = r.p.ejection = depth;
                    r.p.vcs = depth;
                    r.p.iterations = depth;
                    r.p.output_speedup = 1 + slow / 8 % 3;
                    r.p.infinite = inf;
                    r.no_notes = !skip;
                    rig_start(&r, 6, 4, depth);
                    uint32_t arrived;
                    hash[skip] = run_list(&r, skip, slow, &arrived);
                    assert_int_equal(arrived, 600);
                    assert_true(xbar_idle(r.x));
                    rig_end(&r);
                }
                assert_true(hash[0] == hash[1]);
            }
}

/* Few ports have code of their own (xbar_net.h): with more that nobody uses, before and behind them, in
 * the same word of masks or in others, all comes at the same time. */
static void ports_that_are_idle_change_nothing(void **state)
{
    static const struct {
        uint32_t sms, slices, first;
    } rows[] = {{6, 4, 0},     {64, 64, 0},   {64, 64, 58}, {70, 4, 0},    {6, 70, 0},     {70, 70, 61},
                {140, 70, 64}, {70, 140, 64}, {140, 9, 5},  {140, 140, 0}, {140, 140, 126}};
    for (uint32_t depth = 1; depth <= 9; depth += 4)
        for (uint32_t slow = 1; slow <= 33; slow += 16)
            for (int skip = 0; skip < 2; skip++) {
                uint64_t hash[ARRAY_LEN(rows)];
                for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                    struct rig r;
                    rig_defaults(&r);
                    r.p.injection = r.p.vc_buffer = r.p.ejection = depth;
                    r.p.output_speedup = 1 + slow / 16;
                    r.no_notes = !skip;
                    rig_start(&r, rows[i].sms, rows[i].slices, depth);
                    r.sms = 6;
                    r.slices = 4;
                    r.first = rows[i].first;
                    uint32_t arrived;
                    hash[i] = run_list(&r, skip, slow, &arrived);
                    assert_int_equal(arrived, 600);
                    assert_true(xbar_idle(r.x));
                    assert_true(hash[i] == hash[0]);
                    rig_end(&r);
                }
            }
}

static void the_infinite_crossbar_has_no_bandwidth_limit(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.infinite = true;
    r.p.latency = 3;
    rig_start(&r, 4, 8, 64);
    uint32_t got, count = 0;
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t k = 0; k < 8; k++) link_push(&r.from_slice[i], 0, rig_request(&r, 2, i, REQ_READ, 0));
    for (r.cycle = 0; r.cycle <= 11; r.cycle++) {
        rig_tick(&r);
        while (link_peek(&r.to_sm[2], rig_now(&r), &got)) link_pop(&r.to_sm[2], rig_now(&r)), count++;
        assert_int_equal(count, r.cycle < 1 + (1 + 5 + 3) + 1 ? 0 : 64);
    }
    rig_end(&r);
}

static void an_idle_crossbar_sleeps(void **state)
{
    struct rig r;
    rig_defaults(&r);
    rig_start(&r, 4, 4, 4);
    rig_tick(&r);
    assert_true(*xbar_wake(r.x) == TICK_NEVER);
    link_push(&r.from_sm[0], 0, rig_request(&r, 0, 3, REQ_READ, 0));
    assert_int_equal(*xbar_wake(r.x), PERIOD);
    rig_end(&r);
}

static void a_stuck_crossbar_says_who_waits_for_what(void **state)
{
    struct rig r;
    rig_defaults(&r);
    rig_start(&r, 2, 2, 1);
    for (r.cycle = 0; r.cycle < 50; r.cycle++) {
        if (link_can_push(&r.from_sm[1], rig_now(&r)))
            link_push(&r.from_sm[1], rig_now(&r), rig_request(&r, 1, 0, REQ_READ, 0));
        rig_tick(&r);
    }
    struct strbuf out = {0};
    xbar_explain(r.x, rig_now(&r), &out);
    assert_non_null(strstr(strbuf_text(&out), "waits for room in to slice"));
    assert_non_null(strstr(strbuf_text(&out), "input 1"));
    strbuf_free(&out);
    rig_end(&r);
}

/* Two replies of 128 bytes to one SM, sent at the same time: cycles between the first arrival and the
 * second. */
static uint64_t arrivals_apart(uint32_t reply_data)
{
    struct rig r;
    rig_defaults(&r);
    r.p.reply_flit = 40;
    r.p.reply_data = reply_data;
    rig_start(&r, 4, 4, 8);
    for (uint32_t slice = 1; slice < 3; slice++)
        link_push(&r.from_slice[slice], 0, rig_request(&r, 2, slice, REQ_READ, 0));
    uint64_t at[2] = {0};
    uint32_t count = 0, got;
    for (r.cycle = 0; r.cycle < 100 && count < 2; r.cycle++) {
        rig_tick(&r);
        if (!link_peek(&r.to_sm[2], rig_now(&r), &got)) continue;
        link_pop(&r.to_sm[2], rig_now(&r));
        at[count++] = r.cycle;
    }
    assert_int_equal(count, 2);
    const struct xbar_stats *st = xbar_stats(r.x);
    assert_int_equal(st->reply.flits, 8);
    assert_int_equal(st->reply.output_busy_cycles, 8);
    assert_true(xbar_idle(r.x));
    rig_end(&r);
    return at[1] - at[0];
}

/* An input is granted once a cycle: what stands behind a head that goes waits for the next one, also where
 * its output comes later in the same cycle's arbitration and is free. Another input that asks for that
 * output has it meanwhile. */
static void an_input_is_granted_once_a_cycle(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.input_speedup = r.p.output_speedup = 1;
    rig_start(&r, 2, 2, 8);
    uint32_t id;
    uint64_t seen[2][2] = {{0}};                                        /* [SM][slice] */
    link_push(&r.from_sm[1], 0, rig_request(&r, 1, 0, REQ_WRITE, 128)); /* holds output 0 and input 1 */
    link_push(&r.from_sm[1], 0, rig_request(&r, 1, 1, REQ_READ, 0));
    for (r.cycle = 0; r.cycle < 40; r.cycle++) {
        tick now = rig_now(&r);
        if (r.cycle == 1) link_push(&r.from_sm[0], now, rig_request(&r, 0, 0, REQ_READ, 0));
        if (r.cycle == 2) link_push(&r.from_sm[0], now, rig_request(&r, 0, 1, REQ_READ, 0));
        rig_tick(&r);
        for (uint32_t o = 0; o < 2; o++)
            if (link_peek(&r.to_slice[o], now, &id)) {
                link_pop(&r.to_slice[o], now);
                seen[req_at(&r.pool, id)->sm][o] = r.cycle;
            }
    }
    assert_int_equal(seen[0][0], seen[1][0] + 1); /* right behind the write */
    assert_int_equal(seen[1][1], seen[0][0]);
    assert_int_equal(seen[0][1], seen[0][0] + 1);
    rig_end(&r);
}

/* Heads of two virtual channels of input 0 wait for outputs 0 and 1, which two long packets keep until the
 * same cycle. Both outputs then grant it in every cycle; it accepts them in turn. */
static void an_input_accepts_its_outputs_in_turn(void **state)
{
    enum { EACH = 3, BEHIND = 4 };
    struct rig r;
    rig_defaults(&r);
    r.p.vcs = 2;
    r.p.input_speedup = r.p.output_speedup = 1;
    rig_start(&r, 3, 2, 8);
    uint64_t seen[2][EACH];
    uint32_t id, count[2] = {0};
    link_push(&r.from_sm[1], 0, rig_request(&r, 1, 0, REQ_WRITE, 256));
    link_push(&r.from_sm[2], 0, rig_request(&r, 2, 1, REQ_WRITE, 256));
    for (r.cycle = 0; r.cycle < 60; r.cycle++) {
        if (r.cycle == BEHIND)
            for (uint32_t i = 0; i < 2 * EACH; i++)
                link_push(&r.from_sm[0], rig_now(&r), rig_request(&r, 0, i % 2, REQ_READ, 0));
        rig_tick(&r);
        for (uint32_t o = 0; o < 2; o++)
            if (link_peek(&r.to_slice[o], rig_now(&r), &id)) {
                link_pop(&r.to_slice[o], rig_now(&r));
                if (req_at(&r.pool, id)->sm == 0) seen[o][count[o]++] = r.cycle;
            }
    }
    for (uint32_t i = 0; i < EACH; i++) {
        assert_int_equal(seen[0][i], seen[0][0] + 2 * i);
        assert_int_equal(seen[1][i], seen[0][0] + 2 * i + 1);
    }
    rig_end(&r);
}

/* Times further away than the wheel of events reaches: long latencies, and packets of many flits behind
 * one another. */
static void long_times_are_exact(void **state)
{
    static const uint32_t latencies[] = {61, 62, 63, 64, 65, 200};
    for (size_t i = 0; i < ARRAY_LEN(latencies); i++) {
        struct rig r;
        rig_defaults(&r);
        r.p.latency = latencies[i];
        r.p.request_flit = 1;
        rig_start(&r, 3, 2, 8);
        uint64_t flits = r.p.header + 128, seen[2] = {0};
        uint32_t id, got = 0;
        for (int k = 0; k < 2; k++) link_push(&r.from_sm[2], 0, rig_request(&r, 2, 1, REQ_WRITE, 128));
        for (r.cycle = 1; r.cycle < 1000; r.cycle++) {
            if (*xbar_wake(r.x) <= rig_now(&r)) rig_tick(&r);
            if (!link_peek(&r.to_slice[1], rig_now(&r), &id)) continue;
            link_pop(&r.to_slice[1], rig_now(&r));
            assert_true(got < 2);
            seen[got++] = r.cycle;
        }
        assert_int_equal(seen[0], 1 + 1 + flits + latencies[i] + 1);
        assert_int_equal(seen[1], seen[0] + flits);
        assert_true(xbar_idle(r.x));
        rig_end(&r);
    }
}

static void a_reply_of_several_packets_takes_turns_with_others(void **state)
{
    assert_int_equal(arrivals_apart(0), 4); /* the second waits for the whole of the first */
    assert_int_equal(arrivals_apart(32), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_packet_takes_a_cycle_its_flits_and_the_latency),
        cmocka_unit_test(an_atomic_carries_its_data_both_ways),
        cmocka_unit_test(a_packet_of_many_flits_keeps_its_output_to_the_end),
        cmocka_unit_test(disjoint_flows_reach_one_flit_a_cycle),
        cmocka_unit_test(one_hot_output_is_kept_full_and_shared_evenly),
        cmocka_unit_test(iterations_and_virtual_channels_raise_the_throughput_of_random_traffic),
        cmocka_unit_test(output_speedup_raises_the_throughput_of_random_traffic),
        cmocka_unit_test(an_output_with_speedup_sends_as_before_and_frees_its_inputs_sooner),
        cmocka_unit_test(a_virtual_channel_that_is_blocked_holds_up_no_other),
        cmocka_unit_test(one_input_sends_one_flit_a_cycle_whatever_the_speedup),
        cmocka_unit_test(an_input_is_granted_once_a_cycle),
        cmocka_unit_test(an_input_accepts_its_outputs_in_turn),
        cmocka_unit_test(long_times_are_exact),
        cmocka_unit_test(a_reply_of_several_packets_takes_turns_with_others),
        cmocka_unit_test(more_than_64_ports_work),
        cmocka_unit_test(nothing_is_lost_at_depth_one_and_skipping_changes_nothing),
        cmocka_unit_test(ports_that_are_idle_change_nothing),
        cmocka_unit_test(the_infinite_crossbar_has_no_bandwidth_limit),
        cmocka_unit_test(an_idle_crossbar_sleeps),
        cmocka_unit_test(a_stuck_crossbar_says_who_waits_for_what),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
