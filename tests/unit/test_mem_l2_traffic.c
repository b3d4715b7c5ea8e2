/* test_mem_l2_traffic.c: an L2 slice under load: bandwidth, ideal slices, and the laws under random
 * traffic with every queue at depth one. */
#include "l2_kit.h"

#include "base/rng.h"

/* ---- bandwidth ---- */
static void streaming_hits_fill_the_port_and_never_pass_it(void **state)
{
    static const struct {
        uint32_t sectors, cycles;
    } rows[] = {{0xf, 4}, {0x3, 2}, {0x1, 1}};
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct rig r;
        rig_defaults(&r);
        r.p.tag_latency = 88;
        rig_start(&r);
        for (uint32_t i = 0; i < 256; i++) l2_fill_from_host(r.s, i * 128);
        for (uint32_t i = 0; r.cycle < 4000;) {
            if (link_can_push(&r.in, rig_now(&r))) rig_send(&r, REQ_READ, i++ % 256, rows[k].sectors, 0);
            rig_cycle(&r);
        }
        uint64_t busy = (uint64_t)r.reply_count * rows[k].cycles;
        assert_in_range(busy, 4000 * 98 / 100, 4000);
        assert_true(stats(&r)->port_busy_cycles <= 4000 + 4);
        assert_int_equal(stats(&r)->all.misses, 0);
        rig_end(&r);
    }
}

static void streaming_misses_keep_the_port_full_of_fills(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.mshrs = 64;
    rig_start(&r);
    for (uint32_t i = 0; r.cycle < 6000;) {
        if (link_can_push(&r.in, rig_now(&r))) rig_send(&r, REQ_READ, i++, 0xf, 0);
        rig_cycle(&r);
    }
    assert_in_range(r.reply_count * 4, 6000 * 95 / 100, 6000);
    rig_end(&r);
}

/* ---- ideal slices ---- */
static void the_infinite_slice_takes_idle_times_for_any_number_at_once(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.infinite = true;
    r.p.infinite_miss = 100;
    r.p.access_queue = r.p.response_queue = 64;
    rig_start(&r);
    for (uint32_t i = 0; i < 8; i++) l2_fill_from_host(r.s, i * 128);
    for (uint32_t i = 0; i < 16; i++) rig_read(&r, i, i); /* eight hits, eight misses */
    rig_read(&r, 15, 16);                                 /* on its way */
    rig_send(&r, REQ_WRITE, 99, 0xf, 17);
    uint64_t first = 0, last = 0;
    uint32_t n = 0;
    for (; r.cycle < 120; r.cycle++) {
        uint32_t id;
        l2_tick(r.s, rig_now(&r));
        while (link_peek(&r.out, rig_now(&r), &id)) {
            link_pop(&r.out, rig_now(&r));
            uint32_t token = req_at(&r.pool, id)->token;
            uint64_t due = token == 17 ? TAGS + 1 : token < 8 ? HIT : HIT + 50; /* 100 core cycles */
            assert_int_equal(r.cycle, due);
            first = first ? first : r.cycle;
            last = r.cycle;
            n++;
        }
    }
    assert_int_equal(n, 18);
    assert_int_equal(last - first, 50 + 4);
    assert_int_equal(stats(&r)->all.hits, 8);
    assert_int_equal(stats(&r)->all.pending_hits, 1);
    assert_int_equal(link_pushes(&r.to_dram), 0);
    assert_true(l2_idle(r.s));
    rig_end(&r);
}

static void the_perfect_slice_always_hits(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.perfect = true;
    rig_start(&r);
    for (uint32_t i = 0; i < 3; i++) rig_send(&r, (enum req_kind)i, 1000 * i, 0x1, i);
    rig_run(&r, 60);
    assert_int_equal(r.reply_count, 3);
    assert_int_equal(stats(&r)->all.hits, 3);
    assert_int_equal(link_pushes(&r.to_dram), 0);
    rig_end(&r);
}

/* ---- the laws, under random traffic ---- */
static uint32_t soak_take(struct rig *r)
{
    uint32_t id;
    return link_peek(&r->out, rig_now(r), &id) ? link_pop(&r->out, rig_now(r)) : REQ_NONE;
}

/* What a link has counted, times included. */
static uint64_t soak_link(uint64_t hash, const struct link *l)
{
    hash = hash_mix(hash ^ l->refusals) ^ hash_mix(l->blocked_ticks);
    uint64_t levels[LINK_LEVELS] = {0};
    link_add_levels(l, levels);
    for (uint32_t i = 0; i < LINK_LEVELS; i++) hash = hash_mix(hash ^ levels[i]);
    return hash;
}

static uint64_t soak(struct rig *r, bool skip, uint64_t seed)
{
    enum { REQUESTS = 1500 };
    struct rng rng = {seed};
    uint64_t hash = seed;
    uint32_t sent = 0, got = 0, id, next = REQ_NONE;
    static uint8_t answered[REQUESTS];
    memset(answered, 0, sizeof answered);
    for (; r->cycle < 400000 && got < REQUESTS; r->cycle++) {
        tick now = rig_now(r);
        if (next == REQ_NONE && sent < REQUESTS) {
            uint64_t h = rng_u64(&rng);
            enum req_kind kind = h % 8 < 5 ? REQ_READ : h % 8 < 7 ? REQ_WRITE : REQ_ATOMIC;
            next = rig_make(r, kind, (h >> 8) % 40, 1 + (uint32_t)(h >> 20) % 15, sent++);
            req_at(&r->pool, next)->is_fill_partial = h >> 30 & 1;
            req_at(&r->pool, next)->cls = (uint8_t)((h >> 32) % REQ_CLASS_COUNT);
        }
        if (next != REQ_NONE && hash_mix(r->cycle / 64 + seed) % 4 && link_can_push(&r->in, now)) {
            link_push(&r->in, now, next);
            next = REQ_NONE;
        }
        bool takes = hash_mix(r->cycle / 30 + 7 * seed) % 3 != 0, first = seed & 1;
        id = takes && first ? soak_take(r) : REQ_NONE; /* the crossbar before the slice, or after it */
        if (!skip || *l2_wake(r->s) <= now) l2_tick(r->s, now);
        r->dram_stopped = hash_mix(r->cycle / 40 + 3 * seed) % 3 == 0;
        rig_dram(r);
        if (takes && !first) id = soak_take(r);
        if (id == REQ_NONE) continue;
        struct req *q = req_at(&r->pool, id);
        assert_false(answered[q->token]);
        answered[q->token] = 1;
        hash = hash_mix(hash ^ (r->cycle * 7919 + q->token));
        req_del(&r->pool, id);
        got++;
        r->atomic_count = 0;
    }
    assert_int_equal(got, REQUESTS);
    for (uint64_t end = r->cycle + 2000; r->cycle < end; r->cycle++) { /* fetches of writes, write-backs */
        if (!skip || *l2_wake(r->s) <= rig_now(r)) l2_tick(r->s, rig_now(r));
        r->dram_stopped = false;
        rig_dram(r);
    }
    assert_true(l2_idle(r->s));
    assert_int_equal(r->pool.live, 0);
    const struct l2_stats *st = stats(r);
    assert_int_equal(st->all.accesses, REQUESTS);
    assert_int_equal(st->all.accesses, st->all.hits + st->all.pending_hits + st->all.misses);
    assert_int_equal(st->replies, REQUESTS);
    uint64_t on_port = st->port_read_cycles + st->port_write_cycles + st->port_evict_cycles;
    assert_int_equal(st->port_busy_cycles, on_port + (r->p.fill_port ? 0 : st->port_fill_cycles));
    const uint64_t *words = (const uint64_t *)(const void *)st;
    for (size_t i = 0; i < sizeof *st / sizeof *words; i++) hash = hash_mix(hash ^ words[i]);
    return soak_link(soak_link(soak_link(hash, &r->in), &r->out), &r->to_dram);
}

static void nothing_is_lost_when_all_is_tiny_and_skipping_changes_nothing(void **state)
{
    for (uint32_t k = 0; k < 104; k++) {
        uint64_t hash[2];
        for (int skip = 0; skip < 2; skip++) {
            struct rig r;
            rig_defaults(&r);
            uint32_t depth = 1 + k % 2;
            r.p.slice_size = 128 * (k & 2 ? 2 : 16);
            r.p.ways = k & 2 ? 1 : 4;
            r.p.sectored = k & 4;
            r.p.write_miss = k / 8 % 3;
            r.p.replacement = k / 24 % 3;
            r.p.infinite = k >= 96;
            r.p.fill_port = k / 5 % 2;
            r.p.wait_for_all = k / 7 % 2;
            r.p.late_queue = k / 11 % 2;
            r.p.mshrs = depth;
            r.p.merges = depth;
            r.p.tag_latency = k & 1 ? 0 : 13;
            r.p.pipeline = k % 3;
            r.p.atomic_cycles = 1 + k % 5;
            r.p.access_queue = r.p.response_queue = r.p.miss_queue = r.p.fill_queue = depth;
            r.p.response_queue += k / 13 % 3;
            rig_start(&r);
            hash[skip] = soak(&r, skip, 1000 + k);
            assert_int_equal(stalls(&r) > 0, !r.p.infinite);
            rig_end(&r);
        }
        assert_true(hash[0] == hash[1]);
    }
}

static void a_stall_is_charged_once_however_often_it_is_settled(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.mshrs = 1;
    rig_start(&r);
    r.dram_stopped = true;
    rig_read(&r, 1, 0);
    rig_read(&r, 2, 1);
    for (; r.cycle < 50; r.cycle++) /* skipping, with a look at the counts in between */
        if (*l2_wake(r.s) <= rig_now(&r)) l2_tick(r.s, rig_now(&r));
    for (uint64_t c = 20; c <= 50; c += 10) {
        l2_settle(r.s, c * L2P);
        l2_settle(r.s, c * L2P);
        assert_int_equal(stats(&r)->stall[L2_STALL_MSHR], c - (TAGS + 1));
    }
    rig_end(&r);
}

static void wrong_geometry_is_refused(void **state)
{
    struct l2_params p;
    struct diag_list diags = {0};
    param_set_defaults(l2_rows, &p);
    assert_true(l2_check(&p, &diags));
    p.slice_size = 1000;
    assert_false(l2_check(&p, &diags));
    param_set_defaults(l2_rows, &p);
    p.line = 96;
    assert_false(l2_check(&p, &diags));
    assert_int_equal(diags.errors, 2);
    diag_free(&diags);
}

static void a_stuck_slice_says_what_it_waits_for(void **state)
{
    struct rig r;
    rig_defaults(&r);
    r.p.mshrs = 1;
    rig_start(&r);
    r.dram_stopped = true;
    rig_read(&r, 1, 0);
    rig_read(&r, 2, 1);
    rig_run(&r, 50);
    struct strbuf out = {0};
    l2_explain(r.s, rig_now(&r), &out);
    assert_non_null(strstr(strbuf_text(&out), "waits for an MSHR"));
    assert_non_null(strstr(strbuf_text(&out), "waits for DRAM: line 0x80"));
    strbuf_free(&out);
    rig_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streaming_hits_fill_the_port_and_never_pass_it),
        cmocka_unit_test(streaming_misses_keep_the_port_full_of_fills),
        cmocka_unit_test(the_infinite_slice_takes_idle_times_for_any_number_at_once),
        cmocka_unit_test(the_perfect_slice_always_hits),
        cmocka_unit_test(nothing_is_lost_when_all_is_tiny_and_skipping_changes_nothing),
        cmocka_unit_test(a_stall_is_charged_once_however_often_it_is_settled),
        cmocka_unit_test(wrong_geometry_is_refused),
        cmocka_unit_test(a_stuck_slice_says_what_it_waits_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
