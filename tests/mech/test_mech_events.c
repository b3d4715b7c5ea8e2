/* test_mech_events.c: hooks that report events on and between SMs: barriers, stalls of CTAs, reads of the
 * mechanism's memory, messages of the ring, the GPU timer's period. test_mech_hooks.c names the files of the
 * others. */
#include "hooks_kit.h"

enum { LATER = 700, EVENTS = 64 };

/* ---- on_barrier ---- */

static struct mech_barrier barrier_log[EVENTS];
static uint32_t barrier_count;
/* for each warp: the cycle of its newest issue; issues while it waits */
static uint64_t issued_at[MECH_WARPS_MAX], waiting, issued_in_wait;

static void log_barrier(void *state, const struct mech_barrier *e)
{
    if (barrier_count < EVENTS) barrier_log[barrier_count++] = *e;
    waiting = e->is_wait ? waiting | e->warps : waiting & ~e->warps;
}
static void see_issue(void *state, const struct mech_issue *e)
{
    issued_at[e->warp] = e->cycle;
    issued_in_wait += waiting >> e->warp & 1;
}
/* The barrier has just issued when the event comes. */
static void compare_with_issue(void *state, const struct mech_barrier *e)
{
    log_barrier(state, e);
    if (e->is_wait) assert_int_equal(issued_at[__builtin_ctzll(e->warps)], e->cycle);
}

static void count_barriers(void *state, const struct mech_barrier *e)
{
    ((struct tiny *)state)->n[e->is_wait] += e->cycle * e->warps;
}

/* Three warps meet twice. Each waits from the issue of its barrier on, the last one for a cycle at most; all
 * waiting warps go on together, and none of them issues while it waits. */
static void on_barrier_tells_who_waits_and_who_goes_on(void **state)
{
    uint64_t wait = 0, released = 0;
    barrier_count = 0;
    waiting = issued_in_wait = 0;
    attach((struct mechanism){.on_barrier = compare_with_issue, .on_issue = see_issue});
    struct play p = with_blank("a_b_");
    p.block = 96;
    play(&p);
    for (uint32_t i = 0; i < barrier_count; i++) {
        const struct mech_barrier *e = &barrier_log[i];
        assert_int_equal(e->bank, 0);
        if (!e->is_wait) {
            assert_int_equal(e->warps, wait);
            wait = 0;
            released++;
            continue;
        }
        assert_int_equal(e->warps & (e->warps - 1), 0);
        assert_int_equal(e->warps & wait, 0);
        wait |= e->warps;
    }
    assert_int_equal(wait, 0);
    assert_int_equal(released, 2);
    assert_in_range(barrier_count, 2 * 3, 2 * 4);
    assert_int_equal(issued_in_wait, 0);
    assert_int_equal(stat_of("sm.barriers"), 6);
    play_close();
    attach((struct mechanism){.on_barrier = count_barriers});
    p = with_blank("ab#A_cd*#_e");
    expect_same_everywhere(&p);
}

/* ---- stall_after ---- */

static uint32_t stall_cycles, stalls;
static uint64_t stalled_at;

static void set_stall(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    tiny_init(state, gpu_state, params, ports);
    if (stall_cycles) ports->stall_after(ports->host, stall_cycles);
}
static void see_stall(void *state, const struct mech_cta *e)
{
    struct tiny *t = state;
    if (e->kind == MECH_CTA_STALLED) t->n[0] += e->cycle;
    if (e->kind == MECH_CTA_RESUMED) t->n[1] += e->cycle;
}
static void log_stall(void *state, const struct mech_cta *e)
{
    if (e->kind != MECH_CTA_STALLED) return;
    stalls++;
    stalled_at = e->cycle;
}

/* The only CTA waits for a for some 400 cycles. */
static void a_stall_is_told_when_it_has_lasted_long_enough(void **state)
{
    static const uint32_t cycles[] = {0, 1, 50, 5000};
    uint64_t first = 0;
    for (size_t i = 0; i < ARRAY_LEN(cycles); i++) {
        stall_cycles = cycles[i];
        stalls = 0;
        attach((struct mechanism){.init = set_stall, .on_cta = log_stall, .hears_stalls = true});
        struct play p = with_blank("a");
        play(&p);
        play_close();
        assert_int_equal(stalls, cycles[i] < 5000);
        if (!i) first = stalled_at;
        if (stalls) assert_int_equal(stalled_at, first + cycles[i]);
        attach((struct mechanism){.init = set_stall, .on_cta = see_stall, .hears_stalls = true});
        p = with_blank("ab#A_cd*#_e");
        expect_same_everywhere(&p);
    }
}

/* ---- memory_read, on_memory_read ---- */

enum { TOKEN = 17 };
static uint64_t asked_at, come_at, first_issue;

static bool admit_by_slots(void *state, struct mech_admit *a)
{
    return a->ctas.in_use < a->ctas.limit && a->warps.in_use + a->warps.asked <= a->warps.limit &&
           a->threads.in_use + a->threads.asked <= a->threads.limit;
}
/* No warp issues until both reads are back. */
static void read_both(void *state, uint64_t cycle)
{
    struct tiny *t = state;
    if (t->n[0]) return;
    t->n[0] = cycle;
    t->ports->allow_issue(t->ports->host, 0, 0);
    assert_true(t->ports->memory_read(t->ports->host, 0, TOKEN));
    assert_true(t->ports->memory_read(t->ports->host, 4096, TOKEN + 1));
}
static void go_on(void *state, uint64_t cycle, uint32_t token)
{
    struct tiny *t = state;
    t->n[1] = cycle;
    t->n[2] += token;
    if (++t->n[3] == 2) t->ports->allow_issue(t->ports->host, 0, UINT64_MAX);
}
static void see_first_after(void *state, const struct mech_issue *e)
{
    const struct tiny *t = state;
    if (t->n[0] && e->cycle >= t->n[0] && !first_issue) first_issue = e->cycle;
    asked_at = t->n[0];
    come_at = t->n[1];
}

/* Two lines of 32 bytes from DRAM, each with its token. Votes in the hook take effect at once. */
static void on_memory_read_tells_when_a_read_is_back(void **state)
{
    const struct mechanism hooks = {
        .timer_cycles = 40, .admit = admit_by_slots, .on_timer = read_both, .on_memory_read = go_on};
    struct mechanism seen = hooks;
    seen.on_issue = see_first_after;
    first_issue = 0;
    attach(seen);
    struct play p = with_blank("abcd");
    p.block = 256;
    play(&p);
    expect_stats((struct wanted[]){{"blank.n3", 2}, {"blank.n2", 2 * TOKEN + 1}, {0}});
    assert_int_equal(asked_at, 40);
    assert_in_range(come_at, asked_at + 100, asked_at + 1000);
    assert_in_range(first_issue, come_at, come_at + 1);
    play_close();
    attach(hooks);
    p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
}

/* ---- on_ring ---- */

enum { SMS = 3, SENDER = 0, HOLDER = 1, HELD_CYCLES = 4 };
static uint32_t use_ring(const void *params) { return MECH_USES_RING; }

static void send_round(void *state, bool is_start)
{
    const struct tiny *t = state;
    const struct mech_ring_message m = {.words = {99}, .bytes = 4, .to = MECH_RING_ALL};
    if (is_start && t->ports->sm == SENDER)
        assert_true(t->ports->ring_push(t->ports->host, MECH_RING_REQUEST, &m));
}
/* One SM looks at the message for some cycles, the others pass it at once; n: calls, cycles of these,
 * hops. */
static void look_and_pass(void *state, uint64_t cycle)
{
    struct tiny *t = state;
    const struct mech_ports *p = t->ports;
    struct mech_ring_message m;
    if (!p->ring_peek(p->host, MECH_RING_REQUEST, &m)) return;
    assert_int_equal(m.words[0], 99);
    if (t->n[0]++) assert_int_equal(cycle, t->n[1] + 1);
    t->n[1] = cycle;
    if (p->sm == HOLDER && t->n[0] < HELD_CYCLES) return;
    if (p->sm == SENDER) {
        t->n[2] = m.hops;
        p->ring_pop(p->host, MECH_RING_REQUEST);
    } else {
        p->ring_pass(p->host, MECH_RING_REQUEST);
    }
}

/* The hook is called in each cycle in which a message can be seen: HELD_CYCLES times at one SM, once at the
 * others. A message that all SMs pass comes back to its sender. */
static void on_ring_is_told_until_the_message_is_taken_or_passed(void **state)
{
    attach((struct mechanism){.uses = use_ring, .on_kernel = send_round, .on_ring = look_and_pass});
    struct play p = with_blank("abcdefgh");
    p.sets[0] = "sm.count=3";
    p.grid = SMS;
    play(&p);
    expect_stats((struct wanted[]){{"blank.n0", SMS - 1 + HELD_CYCLES}, {"blank.n2", SMS}, {0}});
    play_close();
    p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
}

/* ---- gpu_timer_period ---- */

struct timed_state {
    uint64_t calls, newest, mistakes;
};
static uint32_t period;
static const struct timed_state *timed_now;

static uint32_t give_period(const void *params) { return period; }
static void gpu_begin(void *gpu_state, const void *params, uint32_t sm_count) { timed_now = gpu_state; }
static void count_gpu_timer(void *gpu_state, uint64_t cycle)
{
    struct timed_state *s = gpu_state;
    s->mistakes += cycle != s->newest + period;
    s->newest = cycle;
    s->calls++;
}
struct timed_sm {
    struct tiny tiny;
    const struct timed_state *gpu;
};
static void timed_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    tiny_init(state, gpu_state, params, ports);
    ((struct timed_sm *)state)->gpu = gpu_state;
}
static void read_gpu(void *state, const struct mech_issue *e)
{
    struct timed_sm *s = state;
    s->tiny.n[0] += s->gpu->calls;
}

/* Replaces gpu_timer_cycles; 0: never. */
static void gpu_timer_period_gives_the_period(void **state)
{
    static const uint32_t periods[] = {0, 37, 150};
    for (size_t i = 0; i < ARRAY_LEN(periods); i++) {
        period = periods[i];
        attach((struct mechanism){.gpu_state_bytes = sizeof(struct timed_state),
                                  .gpu_timer_cycles = 5,
                                  .gpu_timer_period = give_period,
                                  .gpu_init = gpu_begin,
                                  .init = timed_init,
                                  .on_issue = read_gpu,
                                  .on_gpu_timer = count_gpu_timer});
        blank->state_bytes = sizeof(struct timed_sm);
        struct play p = with_blank("abcd");
        play(&p);
        const uint64_t end = timed_kernel_at(rig.gpu, 0)->end_cycle;
        assert_int_equal(timed_now->mistakes, 0);
        if (period)
            assert_in_range(timed_now->calls, end / period - 1, end / period);
        else
            assert_int_equal(timed_now->calls, 0);
        play_close();
        p = with_blank("ab#A_cd*#");
        expect_same_everywhere(&p);
    }
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(on_barrier_tells_who_waits_and_who_goes_on),
        RIG_TEST(a_stall_is_told_when_it_has_lasted_long_enough),
        RIG_TEST(on_memory_read_tells_when_a_read_is_back),
        RIG_TEST(on_ring_is_told_until_the_message_is_taken_or_passed),
        RIG_TEST(gpu_timer_period_gives_the_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
