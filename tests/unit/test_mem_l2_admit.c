/* test_mem_l2_admit.c: what l2_admit says of the request at the tags is what the slice then does, and a
 * slice that sleeps has nothing to do. Random traffic, with every queue, MSHR file and set tiny. */
#include "l2_kit.h"

#include "base/rng.h"
#include "mem/l2_admit.h"

enum { REQUESTS = 300, CYCLES_MAX = 200000, CONFIGS = 96 };

struct driver {
    struct rng rng;
    uint64_t seed;
    uint32_t sent, got;
    /* waits for the access queue, or REQ_NONE */
    uint32_t next;
};

/* Everything is tiny, and the combinations of the options take turns. */
static void squeeze(struct rig *r, uint32_t k)
{
    rig_defaults(r);
    uint32_t depth = 1 + k % 2;
    r->p.slice_size = 128 * (k & 2 ? 2 : 16);
    r->p.ways = k & 2 ? 1 : 4;
    r->p.sectored = k & 4;
    r->p.write_miss = k / 8 % 3;
    r->p.replacement = k / 24 % 3;
    r->p.fill_port = k / 5 % 2;
    r->p.wait_for_all = k / 7 % 2;
    r->p.late_queue = k / 11 % 2;
    r->p.mshrs = r->p.merges = depth;
    r->p.tag_latency = k & 1 ? 0 : 13;
    r->p.pipeline = k % 3;
    r->p.atomic_cycles = 1 + k % 5;
    r->p.access_queue = r->p.response_queue = r->p.miss_queue = r->p.fill_queue = depth;
    r->p.response_queue += k / 13 % 3;
    rig_start(r);
}

static void send_some(struct rig *r, struct driver *d)
{
    tick now = rig_now(r);
    if (d->next == REQ_NONE && d->sent < REQUESTS) {
        uint64_t h = rng_u64(&d->rng);
        enum req_kind kind = h % 8 < 5 ? REQ_READ : h % 8 < 7 ? REQ_WRITE : REQ_ATOMIC;
        d->next = rig_make(r, kind, (h >> 8) % 40, 1 + (uint32_t)(h >> 20) % 15, d->sent++);
        req_at(&r->pool, d->next)->is_fill_partial = h >> 30 & 1;
    }
    if (d->next == REQ_NONE || hash_mix(r->cycle / 64 + d->seed) % 4 == 0 || !link_can_push(&r->in, now))
        return;
    link_push(&r->in, now, d->next);
    d->next = REQ_NONE;
}

static void take_some(struct rig *r, struct driver *d)
{
    uint32_t id;
    if (hash_mix(r->cycle / 30 + 7 * d->seed) % 3 == 0 || !link_peek(&r->out, rig_now(r), &id)) return;
    link_pop(&r->out, rig_now(r));
    req_del(&r->pool, id);
    d->got++;
    r->atomic_count = 0;
}

/* Runs traffic to its end; `step` is the slice's cycle. */
static void drive(struct rig *r, uint64_t seed, void (*step)(struct rig *r, void *ctx), void *ctx)
{
    struct driver d = {.rng = {seed}, .seed = seed, .next = REQ_NONE};
    for (; r->cycle < CYCLES_MAX && d.got < REQUESTS; r->cycle++) {
        send_some(r, &d);
        if (seed & 1) take_some(r, &d); /* the crossbar before the slice, or after it */
        step(r, ctx);
        r->dram_stopped = hash_mix(r->cycle / 40 + 3 * seed) % 3 == 0;
        rig_dram(r);
        if (!(seed & 1)) take_some(r, &d);
    }
    assert_int_equal(d.got, REQUESTS);
}

/* All stages run, whatever the slice expects of this cycle. */
static void run_all_stages(struct rig *r)
{
    r->s->act_at = 0;
    l2_tick(r->s, rig_now(r));
}

/* No stage behind the tags can change what the head finds in this cycle. */
static bool only_the_head_acts(const struct l2_slice *s, tick now)
{
    return s->pipe.ring.count && s->head_ready <= now && s->victim == REQ_NONE && !s->drains &&
           !s->has_fills && s->fill_ready > now && (s->latch_ready > now || s->latch_ready == TICK_NEVER);
}

/* ---- the rule and the access ---- */

/* Answers of l2_admit, by what they were. */
struct answers {
    uint64_t count[L2_STALL_COUNT + 1];
};

static void step_as_admitted(struct rig *r, void *ctx)
{
    struct l2_slice *s = r->s;
    struct answers *answers = ctx;
    tick now = rig_now(r);
    if (!only_the_head_acts(s, now)) {
        run_all_stages(r);
        return;
    }
    uint32_t id = l2_ring_front(&s->pipe)->id;
    struct l2_plan plan, again;
    struct l2_slice before;
    l2_probe_head(s, req_at(&r->pool, id));
    memcpy(&before, s, sizeof before);
    enum l2_stall answer = l2_admit(s, req_at(&r->pool, id), now, &plan);
    assert_int_equal(l2_admit(s, req_at(&r->pool, id), now, &again), answer);
    assert_memory_equal(&before, s, sizeof before);
    run_all_stages(r);
    bool has_left = !s->pipe.ring.count || l2_ring_front(&s->pipe)->id != id;
    assert_int_equal(has_left, answer == L2_GOES_ON);
    if (!has_left) assert_int_equal(s->stall_cause, answer);
    answers->count[answer]++;
}

static void the_access_does_what_admit_says(void **state)
{
    struct answers answers = {0};
    for (uint32_t k = 0; k < CONFIGS; k++) {
        struct rig r;
        squeeze(&r, k);
        drive(&r, 1000 + k, step_as_admitted, &answers);
        rig_end(&r);
    }
    for (uint32_t i = 0; i <= L2_STALL_COUNT; i++) /* a mechanism is asked before l2_admit is */
        assert_true(i == L2_STALL_CLAIM ? !answers.count[i] : answers.count[i] > 50);
}

/* ---- the prediction and the access ---- */

struct sleeps {
    /* cycles in which the slice slept, and those of them with a stall that no cycle had found: it was
     * predicted */
    uint64_t all, predicted;
    /* the newest cycle that was not slept through */
    tick ran;
};

static void step_asleep(struct rig *r, void *ctx)
{
    struct l2_slice *s = r->s;
    struct sleeps *sleeps = ctx;
    tick now = rig_now(r);
    if (*l2_wake(s) <= now) {
        l2_tick(s, now);
        sleeps->ran = now;
        return;
    }
    const bool is_stalled = s->is_stalled, is_predicted = is_stalled && s->stall_since > sleeps->ran;
    const uint8_t cause = s->stall_cause;
    const uint64_t out = link_pushes(&r->out), dram = link_pushes(&r->to_dram), in = r->in.pops;
    if (s->head_ready <= now) assert_true(is_stalled);
    run_all_stages(r);
    assert_int_equal(s->is_stalled && s->stall_since <= now, is_stalled && s->head_ready <= now);
    if (is_stalled && s->head_ready <= now) assert_int_equal(s->stall_cause, cause);
    assert_int_equal(link_pushes(&r->out), out);
    assert_int_equal(link_pushes(&r->to_dram), dram);
    assert_int_equal(r->in.pops, in);
    sleeps->all++;
    sleeps->predicted += is_predicted && s->head_ready <= now;
    sleeps->ran = now;
}

static void a_slice_that_sleeps_would_have_done_nothing(void **state)
{
    struct sleeps sleeps = {0};
    for (uint32_t k = 0; k < CONFIGS; k++) {
        struct rig r;
        squeeze(&r, k);
        sleeps.ran = 0;
        drive(&r, 5000 + k, step_asleep, &sleeps);
        rig_end(&r);
    }
    assert_true(sleeps.all > 1000);
    assert_true(sleeps.predicted > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_access_does_what_admit_says),
        cmocka_unit_test(a_slice_that_sleeps_would_have_done_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
