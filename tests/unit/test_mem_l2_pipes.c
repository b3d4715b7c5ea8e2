/* test_mem_l2_pipes.c: a slice whose requests a mechanism takes: what waits for room there lets the messages
 * of SMs in cache mode pass (src/mem/l2_claim.h). Lines from EXTENDED on are the mechanism's, and SM 1 is in
 * cache mode. */
#include "l2_kit.h"

#include "mem/l2_claim.h"

enum { EXTENDED = 100, BEHIND = 4 };

struct mechanism_mock {
    struct rig *r;
    bool is_full;
    tick gate;
    struct note taken[NOTES_MAX];
    uint32_t taken_count, asked;
};

/* A message makes room. */
static enum l2_take take(void *ctx, tick now, uint32_t id, const struct req *q, uint64_t local)
{
    struct mechanism_mock *m = ctx;
    m->asked++;
    if (q->sm == 1) m->is_full = false;
    if (q->sm == 0 && q->addr < EXTENDED * m->r->p.line) return L2_TAKE_PASSES;
    if (q->sm == 0 && m->is_full) return L2_TAKE_WAITS;
    m->taken[m->taken_count++] = (struct note){q->token, m->r->cycle};
    l2_answer_claim(m->r->s, id);
    return L2_TAKE_CLAIMS;
}

static void set_gate(void *ctx, tick closed_from) { ((struct mechanism_mock *)ctx)->gate = closed_from; }

static void use(struct rig *r, struct mechanism_mock *m)
{
    *m = (struct mechanism_mock){.r = r, .gate = TICK_NEVER};
    l2_use_taker(
        r->s, &(struct l2_taker){
                  .ctx = m, .first_cache_sm = 1, .behind_gate = BEHIND, .set_gate = set_gate, .take = take});
}

static void send_message(struct rig *r, uint32_t token)
{
    req_at(&r->pool, rig_read(r, EXTENDED, token))->sm = 1;
}

static void a_message_passes_what_waits_for_room(void **state)
{
    struct rig r;
    struct mechanism_mock m;
    rig_open(&r);
    use(&r, &m);
    m.is_full = true;
    rig_read(&r, EXTENDED + 1, 1);
    rig_cycle(&r);
    rig_read(&r, EXTENDED + 2, 2);
    rig_run(&r, 50);
    assert_int_equal(m.taken_count, 0);
    const uint64_t sent = r.cycle;
    send_message(&r, 3);
    rig_run(&r, 100);
    assert_int_equal(m.taken_count, 3);
    static const uint32_t order[] = {3, 1, 2};
    for (uint32_t i = 0; i < 3; i++) { /* the message as soon as it is at the tags, then one a cycle */
        assert_int_equal(m.taken[i].id, order[i]);
        assert_int_equal(m.taken[i].cycle, sent + TAGS + i);
    }
    assert_int_equal(stats(&r)->stall[L2_STALL_CLAIM], sent + TAGS - TAGS);
    assert_true(l2_idle(r.s));
    rig_end(&r);
}

/* It is asked again only in cycles in which something happens. */
static void one_that_waits_is_not_asked_for_in_vain(void **state)
{
    struct rig r;
    struct mechanism_mock m;
    rig_open(&r);
    use(&r, &m);
    m.is_full = true;
    rig_read(&r, EXTENDED, 1);
    for (uint64_t wake = 0; r.cycle < 1000;) {
        if (rig_now(&r) >= wake) {
            l2_tick(r.s, rig_now(&r));
            wake = *l2_wake(r.s);
        }
        r.cycle++;
        if (link_next(&r.in) < wake) wake = link_next(&r.in);
    }
    assert_int_equal(m.asked, 1);
    l2_settle(r.s, rig_now(&r));
    assert_int_equal(stats(&r)->stall[L2_STALL_CLAIM], 1000 - TAGS);
    rig_end(&r);
}

static void the_gate_closes_when_the_pipeline_is_full_and_the_rest_still_enters(void **state)
{
    struct rig r;
    struct mechanism_mock m;
    rig_defaults(&r);
    r.p.pipeline = 3;
    rig_start(&r);
    use(&r, &m);
    m.is_full = true;
    for (uint32_t i = 0; i < 3 + BEHIND; i++) {
        assert_int_equal(m.gate <= rig_now(&r), i > 3); /* seen a cycle after the third has entered */
        rig_read(&r, EXTENDED + i, i);
        rig_cycle(&r);
    }
    rig_run(&r, 60);
    assert_int_equal(r.in.count, 0);
    send_message(&r, 99);
    rig_run(&r, 120);
    assert_int_equal(m.taken_count, 3 + BEHIND + 1);
    assert_int_equal(m.gate, TICK_NEVER);
    rig_end(&r);
}

/* The slice's own request waits for the miss queue: messages pass it, and it is still for its line. */
static void a_head_that_lets_messages_pass_keeps_its_address(void **state)
{
    struct rig r;
    struct mechanism_mock m;
    struct diag_list diags = {0};
    struct addrmap_params p;
    param_set_defaults(addrmap_rows, &p);
    struct addrmap *map = addrmap_create(&p, &diags);
    assert_non_null(map);
    rig_defaults(&r);
    r.p.miss_queue = 1;
    rig_start(&r);
    r.pool.map = map; /* requests bring their addresses within the slice along */
    l2_use_map(r.s, addrmap_slice_addr, map);
    use(&r, &m);
    r.dram_stopped = true;
    rig_read(&r, 40, 1);
    rig_cycle(&r);
    rig_read(&r, 50, 2);
    rig_run(&r, 40);
    send_message(&r, 3);
    rig_run(&r, 80);
    assert_int_equal(m.taken_count, 1);
    r.dram_stopped = false;
    rig_run(&r, 300);
    assert_int_equal(r.fetch_count, 2);
    assert_int_equal(r.reply_count, 3);
    rig_read(&r, 50, 4);
    rig_run(&r, 400);
    assert_int_equal(r.fetch_count, 2); /* a hit */
    assert_int_equal(r.reply_count, 4);
    rig_end(&r);
    addrmap_destroy(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_passes_what_waits_for_room),
        cmocka_unit_test(one_that_waits_is_not_asked_for_in_vain),
        cmocka_unit_test(the_gate_closes_when_the_pipeline_is_full_and_the_rest_still_enters),
        cmocka_unit_test(a_head_that_lets_messages_pass_keeps_its_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
