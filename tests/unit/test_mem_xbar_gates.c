/* test_mem_xbar_gates.c: packets of gated SMs wait while the gate of their slice is closed; those of other
 * SMs go on (src/mem/xbar.h). */
#include "mem/xbar_ahead.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PERIOD = 10, SMS = 3, SLICES = 2, GATED = 2, DEPTH = 8, CYCLES = 100 };

struct rig {
    struct xbar *x;
    struct clock_domain clock;
    struct req_pool pool;
    struct link from_sm[SMS], to_slice[SLICES], from_slice[SLICES], to_sm[SMS];
    uint32_t came[SMS][SLICES];
};

static struct link **make_links(struct link *links, struct link **at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) at[i] = &links[i];
    return at;
}

static void rig_open(struct rig *r, const struct xbar_params *p)
{
    struct link *at[4][SMS];
    memset(r, 0, sizeof *r);
    r->clock = clock_domain_of(PERIOD);
    req_pool_init(&r->pool, 64);
    r->x = xbar_create(p, SMS, SLICES, &r->clock, &r->pool, make_links(r->from_sm, at[0], SMS),
                       make_links(r->to_slice, at[1], SLICES), make_links(r->from_slice, at[2], SLICES),
                       make_links(r->to_sm, at[3], SMS));
    for (uint32_t i = 0; i < SMS; i++) {
        link_init(&r->from_sm[i], "from SM", DEPTH, PERIOD, NULL, xbar_wake(r->x));
        link_init(&r->to_sm[i], "to SM", DEPTH, PERIOD, xbar_wake(r->x), NULL);
    }
    for (uint32_t i = 0; i < SLICES; i++) {
        link_init(&r->to_slice[i], "to slice", DEPTH, PERIOD, xbar_wake(r->x), NULL);
        link_init(&r->from_slice[i], "from slice", DEPTH, PERIOD, NULL, xbar_wake(r->x));
    }
    xbar_take_notes(r->x);
}

static void rig_close(struct rig *r)
{
    xbar_destroy(r->x);
    for (uint32_t i = 0; i < SMS; i++) {
        link_free(&r->from_sm[i]);
        link_free(&r->to_sm[i]);
    }
    for (uint32_t i = 0; i < SLICES; i++) {
        link_free(&r->to_slice[i]);
        link_free(&r->from_slice[i]);
    }
    req_pool_free(&r->pool);
}

static void send(struct rig *r, uint32_t sm, uint32_t slice)
{
    const struct req q = {.kind = REQ_READ, .sectors = 1, .sm = (uint16_t)sm, .slice = (uint16_t)slice};
    link_push(&r->from_sm[sm], 0, req_new(&r->pool, &q));
}

static void run(struct rig *r, uint64_t from, uint64_t to)
{
    for (tick now = from * PERIOD; now < to * PERIOD; now += PERIOD) {
        xbar_tick(r->x, now);
        for (uint32_t i = 0; i < SLICES; i++) {
            uint32_t id;
            if (!link_peek(&r->to_slice[i], now, &id)) continue;
            link_pop(&r->to_slice[i], now);
            r->came[req_at(&r->pool, id)->sm][i]++;
        }
    }
}

static void a_closed_gate_holds_back_gated_sms_alone(void **state)
{
    for (uint32_t k = 0; k < 3; k++) { /* one virtual channel, two, no limits */
        struct xbar_params p;
        struct rig r;
        param_set_defaults(xbar_rows, &p);
        p.vcs = k == 1 ? 2 : 1;
        p.infinite = k == 2;
        p.gated_sms = GATED;
        rig_open(&r, &p);
        xbar_set_gate(r.x, 0, 0);
        send(&r, 0, 0);
        send(&r, 1, 1);
        send(&r, GATED, 0);
        run(&r, 0, CYCLES);
        assert_int_equal(r.came[0][0], 0);
        assert_int_equal(r.came[1][1], 1); /* its slice has an open gate */
        assert_int_equal(r.came[GATED][0], 1);
        xbar_set_gate(r.x, 0, (CYCLES + 50) * PERIOD);
        run(&r, CYCLES, CYCLES + 50);
        assert_int_equal(r.came[0][0], 1);
        assert_true(xbar_idle(r.x));
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_closed_gate_holds_back_gated_sms_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
