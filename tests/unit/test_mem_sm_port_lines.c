/* test_mem_sm_port_lines.c: the SM's port between caches and an L2 whose lines are of other sizes: how
 * requests are named on the way, in how many parts and when they leave, when their client is answered; and
 * which line a small read-only cache replaces. The crossbar is played by the test. */
#include "base/rng.h"
#include "mem/rocache.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PERIOD = 2, BASE = 0x8000 };
#define NOTHING UINT32_MAX

struct client {
    struct req replies[8];
    uint32_t ids[8], count;
};

struct bench {
    struct clock_domain clock;
    struct req_pool pool;
    struct link out, in;
    struct sm_port *port;
    struct client l1, tex;
    uint64_t cycle;
};

/* take_reply ends requests in its pool */
static struct bench *current;

static void take_reply(void *ctx, tick now, uint32_t id)
{
    struct client *c = ctx;
    c->ids[c->count] = id;
    c->replies[c->count++] = *req_at(&current->pool, id);
    req_del(&current->pool, id);
}

static void start(struct bench *b, uint32_t l1_line, uint32_t tex_line, uint32_t l2_line)
{
    memset(b, 0, sizeof *b);
    current = b;
    b->clock = clock_domain_of(PERIOD);
    req_pool_init(&b->pool, 64);
    link_init(&b->out, "out", 16, PERIOD, NULL, NULL);
    link_init(&b->in, "in", 16, PERIOD, NULL, NULL);
    b->port = sm_port_create(&(struct sm_port_setup){.to_xbar = &b->out,
                                                     .from_xbar = &b->in,
                                                     .clock = &b->clock,
                                                     .pool = &b->pool,
                                                     .queue = 4,
                                                     .line_bytes = l2_line});
    sm_port_connect(b->port, SM_PORT_L1,
                    &(struct sm_port_handler){.ctx = &b->l1, .reply = take_reply, .line_bytes = l1_line});
    sm_port_connect(b->port, SM_PORT_TEX,
                    &(struct sm_port_handler){.ctx = &b->tex, .reply = take_reply, .line_bytes = tex_line});
}

static void finish(struct bench *b)
{
    assert_int_equal(b->pool.live, 0);
    assert_int_equal(b->port->out, 0);
    assert_int_equal(b->port->to_send, 0);
    sm_port_destroy(b->port);
    link_free(&b->out);
    link_free(&b->in);
    req_pool_free(&b->pool);
}

static void cycle(struct bench *b)
{
    sm_port_receive(b->port, b->cycle * PERIOD);
    sm_port_forward(b->port, b->cycle * PERIOD);
    b->cycle++;
}

/* What left in the newest cycle, or NOTHING. */
static uint32_t left(struct bench *b)
{
    uint32_t id;
    return link_peek(&b->out, b->cycle * PERIOD, &id) ? link_pop(&b->out, b->cycle * PERIOD) : NOTHING;
}

static void answer(struct bench *b, uint32_t id) { link_push(&b->in, b->cycle * PERIOD, id); }

static void expect_name(struct bench *b, uint32_t id, uint64_t addr, uint32_t sectors)
{
    assert_int_not_equal(id, NOTHING);
    assert_int_equal(req_at(&b->pool, id)->addr, addr);
    assert_int_equal(req_at(&b->pool, id)->sectors, sectors);
}

static uint32_t miss(struct bench *b, enum req_kind kind, uint64_t addr, uint32_t sectors)
{
    const struct req r = {.addr = addr,
                          .sectors = sectors,
                          .kind = (uint8_t)kind,
                          .write_bytes = kind == REQ_READ ? 0 : 32 * req_sector_count(sectors),
                          .warp = 7,
                          .token = 99};
    const uint32_t id = req_new(&b->pool, &r);
    sm_port_send_miss(b->port, id);
    return id;
}

static void expect_reply(const struct client *c, uint32_t n, uint32_t id, uint64_t addr, uint32_t sectors)
{
    assert_true(n < c->count);
    assert_int_equal(c->ids[n], id);
    assert_int_equal(c->replies[n].addr, addr);
    assert_int_equal(c->replies[n].sectors, sectors);
    assert_int_equal(c->replies[n].token, 99);
    assert_int_equal(c->replies[n].warp, 7);
}

/* ---- names ---- */

static void a_narrow_line_is_named_by_its_sectors_of_the_wide_one(void **state)
{
    struct bench b;
    start(&b, 64, 128, 256);
    const uint32_t id = miss(&b, REQ_READ, BASE + 3 * 64, 2);
    cycle(&b);
    assert_int_equal(left(&b), id);
    expect_name(&b, id, BASE, 2u << 6);
    answer(&b, id);
    b.cycle++;
    cycle(&b);
    expect_reply(&b.l1, 0, id, BASE + 3 * 64, 2);
    finish(&b);
}

static void sectors_of_a_wide_line_that_lie_in_one_narrow_line_are_one_request(void **state)
{
    struct bench b;
    start(&b, 128, 128, 64);
    const uint32_t id = miss(&b, REQ_READ, BASE, 0x8);
    cycle(&b);
    assert_int_equal(left(&b), id);
    expect_name(&b, id, BASE + 64, 2);
    answer(&b, id);
    b.cycle++;
    cycle(&b);
    expect_reply(&b.l1, 0, id, BASE, 0x8);
    finish(&b);
}

/* ---- parts ---- */

/* One a cycle, from the lowest on; the client is answered with the last, in whichever order they come. */
static void a_wide_line_travels_in_parts(void **state)
{
    struct bench b;
    start(&b, 128, 128, 32);
    const uint32_t id = miss(&b, REQ_READ, BASE, 0xb);
    uint32_t parts[3];
    static const uint32_t lines[] = {0, 1, 3};
    for (uint32_t i = 0; i < 3; i++) {
        cycle(&b);
        parts[i] = left(&b);
        expect_name(&b, parts[i], BASE + 32 * lines[i], 1);
        req_at(&b.pool, parts[i])->l2_hit = i != 1;
    }
    cycle(&b);
    assert_int_equal(left(&b), NOTHING);
    answer(&b, parts[2]);
    answer(&b, parts[0]);
    answer(&b, parts[1]);
    b.cycle++;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(b.l1.count, 0);
        cycle(&b);
    }
    expect_reply(&b.l1, 0, id, BASE, 0xb);
    assert_false(b.l1.replies[0].l2_hit); /* one of them missed */
    assert_int_equal(b.port->sectors_asked, 3);
    assert_int_equal(b.port->sectors_got, 3);
    finish(&b);
}

static void a_part_may_be_answered_before_the_next_has_left(void **state)
{
    struct bench b;
    start(&b, 128, 128, 64);
    const uint32_t id = miss(&b, REQ_READ, BASE, 0xf);
    cycle(&b);
    const uint32_t first = left(&b);
    link_push(&b.in, 0, first);
    cycle(&b); /* takes the answer, sends the second part */
    const uint32_t second = left(&b);
    assert_int_equal(b.l1.count, 0);
    expect_name(&b, second, BASE + 64, 3);
    answer(&b, second);
    b.cycle++;
    cycle(&b);
    expect_reply(&b.l1, 0, id, BASE, 0xf);
    finish(&b);
}

/* Of parts, the first that was accepted. The map, which routes each name, writes to the same word. */
static void the_reply_says_when_the_l2_accepted_the_request(void **state)
{
    static const tick accepted[2][2] = {{70, 50}, {60}};
    struct addrmap_params p;
    struct diag_list diags = {0};
    struct bench b;
    param_set_defaults(addrmap_rows, &p);
    struct addrmap *map = addrmap_create(&p, &diags);
    for (uint32_t i = 0; i < 2; i++) {
        start(&b, 128, 128, i ? 256 : 64);
        b.pool.map = map;
        const uint32_t id = miss(&b, REQ_READ, p.base + BASE, 0xf);
        for (uint32_t k = 0; k < 2 - i; k++) {
            cycle(&b);
            const uint32_t part = left(&b);
            req_at(&b.pool, part)->at_l2 = accepted[i][k];
            answer(&b, part);
        }
        for (uint32_t k = 0; k < 3; k++) cycle(&b);
        expect_reply(&b.l1, 0, id, p.base + BASE, 0xf);
        assert_int_equal(b.l1.replies[0].at_l2, i ? 60 : 50);
        finish(&b);
    }
    addrmap_destroy(map);
    diag_free(&diags);
}

/* Small caches go first, but not between the parts of a request. */
static void parts_leave_together(void **state)
{
    struct bench b;
    start(&b, 128, 64, 64);
    miss(&b, REQ_READ, BASE, 0xf);
    cycle(&b);
    const uint32_t tex =
        req_new(&b.pool, &(struct req){.addr = BASE + 256, .sectors = 3, .token = 99, .warp = 7});
    sm_port_send(b.port, SM_PORT_TEX, tex);
    const uint32_t first = left(&b);
    cycle(&b);
    const uint32_t second = left(&b);
    expect_name(&b, second, BASE + 64, 3);
    cycle(&b);
    assert_int_equal(left(&b), tex);
    answer(&b, tex);
    answer(&b, first);
    answer(&b, second);
    b.cycle++;
    for (uint32_t i = 0; i < 3; i++) cycle(&b);
    assert_int_equal(b.tex.count, 1);
    assert_int_equal(b.l1.count, 1);
    finish(&b);
}

static void each_part_of_a_write_carries_its_own_bytes(void **state)
{
    struct bench b;
    start(&b, 128, 128, 64);
    miss(&b, REQ_WRITE, BASE, 0xd);
    cycle(&b);
    const uint32_t low = left(&b);
    cycle(&b);
    const uint32_t high = left(&b);
    expect_name(&b, low, BASE, 1);
    expect_name(&b, high, BASE + 64, 3);
    assert_int_equal(req_at(&b.pool, low)->write_bytes, 32);
    assert_int_equal(req_at(&b.pool, high)->write_bytes, 64);
    assert_int_equal(b.port->bytes_sent, 96);
    answer(&b, low);
    answer(&b, high);
    b.cycle++;
    cycle(&b);
    cycle(&b);
    assert_int_equal(b.l1.count, 1);
    finish(&b);
}

/* Every sector of every pair of lines comes back under its own name, and no other does. */
static void every_pair_of_lines_keeps_every_sector(void **state)
{
    struct rng rng = {3};
    for (uint32_t l1 = 32; l1 <= 128; l1 *= 2)
        for (uint32_t l2 = 32; l2 <= 512; l2 *= 2)
            for (uint32_t sectors = 1; sectors < 1u << l1 / 32; sectors++) {
                struct bench b;
                start(&b, l1, 128, l2);
                const uint64_t addr = BASE + l1 * rng_below(&rng, 16);
                const uint32_t id = miss(&b, REQ_READ, addr, sectors);
                uint64_t asked = 0; /* sectors from BASE on */
                for (uint32_t part = 0; part < 8; part++) {
                    cycle(&b);
                    const uint32_t out = left(&b);
                    if (out == NOTHING) continue;
                    const struct req *r = req_at(&b.pool, out);
                    assert_int_equal(r->addr % l2, 0);
                    assert_int_equal((uint64_t)r->sectors >> l2 / 32, 0);
                    asked |= (uint64_t)r->sectors << (r->addr - BASE) / 32;
                    answer(&b, out);
                }
                assert_true(asked == (uint64_t)sectors << (addr - BASE) / 32);
                expect_reply(&b.l1, 0, id, addr, sectors);
                finish(&b);
            }
}

/* ---- small caches ---- */

static void note_fill(void *ctx, const uint32_t *waiters, uint32_t count) { *(uint32_t *)ctx += count; }

/* True: it hit. A miss is fetched at once. */
static bool ask(struct bench *b, struct rocache *c, uint64_t addr)
{
    if (rocache_access(c, addr, 0, 0, 0) == ROCACHE_HIT) return true;
    assert_true(rocache_send(c, b->cycle * PERIOD));
    cycle(b);
    const uint32_t id = left(b);
    assert_int_not_equal(id, NOTHING);
    answer(b, id);
    b->cycle++;
    cycle(b);
    return false;
}

/* Of three lines in a set of two, the one that was not read again leaves. */
static void a_small_cache_replaces_the_least_recently_used_line(void **state)
{
    struct bench b;
    struct rocache c;
    uint32_t filled = 0;
    start(&b, 128, 128, 128);
    rocache_init(&c, &(struct rocache_setup){.bytes = 128,
                                             .ways = 2,
                                             .line_bytes = 64,
                                             .misses = 1,
                                             .merges = 1,
                                             .cls = REQ_CONST,
                                             .client = SM_PORT_CONST,
                                             .pool = &b.pool,
                                             .port = b.port,
                                             .on_fill = note_fill,
                                             .ctx = &filled});
    assert_false(ask(&b, &c, 0));
    assert_false(ask(&b, &c, 64));
    assert_true(ask(&b, &c, 0));
    assert_false(ask(&b, &c, 128));
    assert_true(ask(&b, &c, 0));
    assert_false(ask(&b, &c, 64));
    assert_int_equal(filled, 4);
    rocache_free(&c);
    finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_narrow_line_is_named_by_its_sectors_of_the_wide_one),
        cmocka_unit_test(sectors_of_a_wide_line_that_lie_in_one_narrow_line_are_one_request),
        cmocka_unit_test(a_wide_line_travels_in_parts),
        cmocka_unit_test(a_part_may_be_answered_before_the_next_has_left),
        cmocka_unit_test(the_reply_says_when_the_l2_accepted_the_request),
        cmocka_unit_test(parts_leave_together),
        cmocka_unit_test(each_part_of_a_write_carries_its_own_bytes),
        cmocka_unit_test(every_pair_of_lines_keeps_every_sector),
        cmocka_unit_test(a_small_cache_replaces_the_least_recently_used_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
