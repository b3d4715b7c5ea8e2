/* test_mech_pcal.c: PCAL's votes and climbs, on a GPU of four SMs whose speeds are functions of the tuple. */
#include "mech_kit.h"

#include "mech/warp_tuple.h"

enum { SMS = 4, WINDOW = 1000 };

struct pcal_bench {
    struct diag_list diags;
    struct mech_set *set;
    struct mech_gpu *gpu;
    struct mech_sm *sms[SMS];
    struct counted {
        struct mech_counters counters;
        uint64_t cycle;
        bool is_idle;
    } on[SMS];
    /* instructions of an SM in a window */
    uint64_t (*speed)(uint32_t sm, uint32_t n, uint32_t p);
    /* cycles of a window in which a request waits */
    uint64_t busy;
    bool backwards;
    uint64_t now;
};

static const struct mech_counters *counted(void *host) { return &((struct counted *)host)->counters; }
static const struct mech_host_ops bench_ops = {.counters = counted};

static const struct warp_tuple *tuple_of(const struct pcal_bench *b, uint32_t sm)
{
    return b->sms[sm]->states[0];
}

static void open_bench(struct pcal_bench *b, const char *settings)
{
    const char *names[] = {"pcal"}, *words[8];
    char text[256];
    *b = (struct pcal_bench){0};
    snprintf(text, sizeof text, "pcal.window=%d %s", WINDOW, settings);
    b->set = mech_set_create(names, 1, words, kit_split(text, words, 8), &b->diags);
    assert_non_null(b->set);
    b->gpu = mech_gpu_create(b->set, SMS);
    for (uint32_t i = 0; i < SMS; i++) {
        b->sms[i] = mech_sm_create(&(struct mech_sm_setup){.set = b->set,
                                                           .gpu = b->gpu,
                                                           .sm = &b->on[i],
                                                           .ops = &bench_ops,
                                                           .cycle = &b->on[i].cycle,
                                                           .index = i,
                                                           .sm_count = SMS,
                                                           .warps = 24,
                                                           .banks = 1,
                                                           .schedulers = 1,
                                                           .line_bytes = 128,
                                                           .l1_sets = 32,
                                                           .l1_ways = 4,
                                                           .register_rows = 1024,
                                                           .register_banks = 16});
        mech_on_launch(b->sms[i], &(struct mech_launch){.kernel = "k", .launch = 1});
        mech_on_kernel(b->sms[i], true);
    }
}

static void close_bench(struct pcal_bench *b)
{
    for (uint32_t i = 0; i < SMS; i++) mech_sm_destroy(b->sms[i]);
    mech_gpu_destroy(b->gpu);
    mech_set_destroy(b->set);
    diag_free(&b->diags);
}

static void tell_timers(struct pcal_bench *b, uint64_t cycle)
{
    for (uint32_t k = 0; k < SMS; k++) {
        const uint32_t i = b->backwards ? SMS - 1 - k : k;
        b->on[i].cycle = cycle;
        if (!b->on[i].is_idle) mech_on_timer(b->sms[i], cycle);
    }
}

/* One window: SMs count, tell, and the GPU's timer comes between two windows. */
static void run_window(struct pcal_bench *b)
{
    for (uint32_t i = 0; i < SMS; i++) {
        const struct warp_tuple *t = tuple_of(b, i);
        struct mech_counters *c = &b->on[i].counters;
        if (b->on[i].is_idle) continue;
        c->cycles += WINDOW;
        c->issued += b->speed(i, t->n, t->p);
        c->miss_queue_busy += b->busy;
    }
    b->now += WINDOW;
    tell_timers(b, b->now - 1);
    mech_gpu_timer(b->gpu, b->now);
    tell_timers(b, b->now);
}

static void expect_tuple(const struct pcal_bench *b, uint32_t sm, uint32_t n, uint32_t p)
{
    const struct warp_tuple *t = tuple_of(b, sm);
    if (t->n != n || t->p != p) fail_msg("SM %u is at (%u, %u), not (%u, %u)", sm, t->n, t->p, n, p);
}
static void expect_all(const struct pcal_bench *b, uint32_t n, uint32_t p)
{
    for (uint32_t i = 0; i < SMS; i++) expect_tuple(b, i, n, p);
}

/* Fast SMs and slow ones: only what each gains over itself counts. p = 2 gains a half. */
static uint64_t two_is_best(uint32_t sm, uint32_t n, uint32_t p)
{
    const uint64_t own = sm % 2 ? 400 : 100;
    return p == 2 ? own * 3 / 2 : own;
}

static void vote_of(bool backwards)
{
    struct pcal_bench b;
    open_bench(&b, "pcal.start_n=8");
    b.speed = two_is_best;
    b.backwards = backwards;
    b.busy = WINDOW; /* N does not climb */
    expect_all(&b, 8, 8);
    run_window(&b); /* the launch has come in this one */
    expect_all(&b, 8, 8);
    run_window(&b); /* base */
    expect_tuple(&b, 0, 8, 1);
    expect_tuple(&b, 1, 8, 2);
    expect_tuple(&b, 2, 8, 4);
    expect_tuple(&b, 3, 8, 8);
    run_window(&b); /* vote */
    expect_all(&b, 8, 2);
    run_window(&b); /* settle */
    run_window(&b);
    expect_all(&b, 8, 2);
    close_bench(&b);
}

static void sms_vote_by_what_they_gain(void **unused)
{
    vote_of(false);
    vote_of(true); /* whatever the order of SMs */
}

/* Thesis Figure 5.2: from (2, 2), p = 1 gains, N = 3 loses, and N = 15 would be best. */
static uint64_t valley(uint32_t sm, uint32_t n, uint32_t p)
{
    if (n >= 15) return 3000;
    return 1000 - 50 * n + (p == 1 ? 200 : 0);
}

static void a_valley_stops_the_climb(void **unused)
{
    struct pcal_bench b;
    open_bench(&b, "pcal.start_n=2");
    b.speed = valley;
    for (int i = 0; i < 3; i++) run_window(&b); /* launch, base, vote */
    expect_all(&b, 2, 1);
    run_window(&b); /* settle */
    expect_all(&b, 3, 1);
    run_window(&b); /* a step that is not faster */
    expect_all(&b, 2, 1);
    for (int i = 0; i < 5; i++) run_window(&b);
    expect_all(&b, 2, 1);
    close_bench(&b);
}

static uint64_t more_is_better(uint32_t sm, uint32_t n, uint32_t p) { return 1000 + 100 * n; }

static void n_climbs_while_the_way_to_the_l2_is_free(void **unused)
{
    struct pcal_bench b;
    open_bench(&b, "pcal.start_n=2");
    b.speed = more_is_better;
    b.busy = 699;
    for (int i = 0; i < 4; i++) run_window(&b);
    expect_all(&b, 3, 2); /* of equal gains the largest p */
    run_window(&b);
    expect_all(&b, 4, 2);
    b.busy = 700;
    run_window(&b);
    run_window(&b);
    expect_all(&b, 4, 2);
    close_bench(&b);
}

static uint64_t at_most_24(uint32_t sm, uint32_t n, uint32_t p) { return 1000 + 10 * n; }

static void n_ends_at_the_warps_of_a_scheduler(void **unused)
{
    struct pcal_bench b;
    open_bench(&b, "pcal.start_n=23");
    b.speed = at_most_24;
    for (int i = 0; i < 8; i++) run_window(&b);
    assert_int_equal(tuple_of(&b, 0)->n, 24);
    close_bench(&b);
}

static uint64_t falls[SMS] = {1000, 1000, 1000, 1000};
static uint64_t as_told(uint32_t sm, uint32_t n, uint32_t p) { return falls[sm]; }

static void a_drop_calls_for_a_vote(void **unused)
{
    struct pcal_bench b;
    open_bench(&b, "pcal.start_n=4");
    b.speed = as_told;
    b.busy = WINDOW;
    for (int i = 0; i < 5; i++) run_window(&b);
    expect_all(&b, 4, 4);
    falls[2] = 900; /* no more than a tenth */
    run_window(&b);
    expect_all(&b, 4, 4);
    falls[2] = 809;
    run_window(&b);
    expect_tuple(&b, 0, 4, 1);
    expect_tuple(&b, 1, 4, 2);
    expect_tuple(&b, 2, 4, 4);
    expect_tuple(&b, 3, 4, 1);
    close_bench(&b);
    falls[2] = 1000;
}

/* The idle SM would be the only one to try p = 4. */
static void an_idle_sm_has_no_vote(void **unused)
{
    struct pcal_bench b;
    open_bench(&b, "pcal.start_n=8");
    b.speed = two_is_best;
    b.busy = WINDOW;
    b.on[1].is_idle = true; /* the one that would try p = 2 */
    for (int i = 0; i < 3; i++) run_window(&b);
    expect_tuple(&b, 0, 8, 8); /* nobody gained: the largest p */
    close_bench(&b);
}

static void a_kernel_starts_again(void **unused)
{
    struct pcal_bench b;
    open_bench(&b, "pcal.start_n=8");
    b.speed = two_is_best;
    b.busy = WINDOW;
    for (int i = 0; i < 3; i++) run_window(&b);
    expect_all(&b, 8, 2);
    for (uint32_t i = 0; i < SMS; i++)
        mech_on_launch(b.sms[i], &(struct mech_launch){.kernel = "k", .launch = 2});
    expect_all(&b, 8, 8);
    run_window(&b);
    expect_all(&b, 8, 8);
    run_window(&b);
    expect_tuple(&b, 0, 8, 1);
    close_bench(&b);
}

/* On two SMs warp 0 misses a line that it had: of their 8 warps CCWS lets one load for longer than a window,
 * and on the other two all of them. The mean, 4.5, is nearest to 5. */
static void a_kernel_starts_where_ccws_leads_to(void **unused)
{
    enum { WARPS = 8, LINE = 0x1000 };
    struct pcal_bench b;
    open_bench(&b, "pcal.start=ccws");
    b.speed = two_is_best;
    b.busy = WINDOW;
    for (uint32_t i = 0; i < SMS; i++)
        for (int w = 0; w < WARPS; w++)
            mech_on_warp(b.sms[i],
                         &(struct mech_warp_event){.warp = w, .launch = (uint64_t)w + 1, .is_start = true});
    expect_all(&b, 24, 24);
    run_window(&b); /* the launch has come in this one */
    expect_all(&b, 24, 24);
    for (uint32_t i = 0; i < 2; i++) {
        mech_on_l1_evict(b.sms[i], &(struct mech_l1_evict){.cycle = b.now,
                                                           .line = LINE,
                                                           .cause = MECH_EVICT_REPLACED,
                                                           .owner_launch = 1,
                                                           .was_used = true});
        mech_on_l1_access(b.sms[i],
                          &(struct mech_l1_access){
                              .cycle = b.now, .id = 1, .line = LINE, .outcome = MECH_L1_MISS, .launch = 1});
        assert_int_equal(b.sms[i]->masks[0].load & 0xff, 1);
    }
    run_window(&b);
    expect_all(&b, 5, 5);
    for (uint32_t i = 0; i < SMS; i++)
        assert_int_equal(b.sms[i]->masks[0].load & 0xff, 0xff); /* it gates no more */
    run_window(&b);                                             /* base */
    expect_tuple(&b, 0, 5, 1);
    expect_tuple(&b, 1, 5, 2);
    expect_tuple(&b, 2, 5, 4);
    expect_tuple(&b, 3, 5, 5);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sms_vote_by_what_they_gain),
        cmocka_unit_test(a_valley_stops_the_climb),
        cmocka_unit_test(n_climbs_while_the_way_to_the_l2_is_free),
        cmocka_unit_test(n_ends_at_the_warps_of_a_scheduler),
        cmocka_unit_test(a_drop_calls_for_a_vote),
        cmocka_unit_test(an_idle_sm_has_no_vote),
        cmocka_unit_test(a_kernel_starts_again),
        cmocka_unit_test(a_kernel_starts_where_ccws_leads_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
