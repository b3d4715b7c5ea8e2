/* test_mech_misses.c: what a miss of the L1 is asked for, and when, and what the events of accesses, fills
 * and evictions say of it, each with a mechanism of a few lines. The other hooks and ports of the L1:
 * test_mech_l1.c. */
#include "hooks_kit.h"

/* ---- take_miss: when ---- */

/* By line: when take_miss was asked, when the L1 took the access, when a line left for it. */
static struct {
    uint64_t asked, taken;
    uint32_t times;
} seen[SCRIPT_LINES + SCRIPT_WIDE];
static uint64_t left_before;
static bool answers_hit;

static uint32_t line_number(uint64_t line)
{
    const uint64_t i = (line - script_buf) / LINE_BYTES;
    assert_true(i < ARRAY_LEN(seen));
    return (uint32_t)i;
}

static void note_asked(void *state, const struct mech_l1_access *a, uint32_t token, struct mech_miss *answer)
{
    const uint32_t i = line_number(a->line);
    seen[i].asked = a->cycle;
    seen[i].times++;
    if (answers_hit) *answer = (struct mech_miss){MECH_MISS_HIT, 20};
}
static void note_taken(void *state, const struct mech_l1_access *a)
{
    if (a->outcome == MECH_L1_MISS) seen[line_number(a->line)].taken = a->cycle;
}
static void note_left(void *state, const struct mech_l1_evict *e)
{
    left_before += e->cause == MECH_EVICT_REPLACED;
}

/* Counts the misses among lines of # that the L1 took later than take_miss was asked for them. */
static uint32_t late_misses(bool hits)
{
    uint32_t late = 0;
    memset(seen, 0, sizeof seen);
    left_before = 0;
    answers_hit = hits;
    attach((struct mechanism){.take_miss = note_asked, .on_l1_access = note_taken, .on_l1_evict = note_left});
    struct play p = with_blank("#");
    p.sets[0] = "l1.miss_queue=1";
    p.sets[1] = "gpu.sm_out_queue=1";
    play(&p);
    play_close();
    for (uint32_t i = SCRIPT_LINES; i < SCRIPT_LINES + SCRIPT_WIDE; i++) {
        assert_int_equal(seen[i].times, 1);
        late += seen[i].taken > seen[i].asked;
    }
    return late;
}

/* 32 misses, a miss queue of one entry and an L1 of four lines. Each is asked for once, when it has an MSHR:
 * those that pass then wait for room in the queue and for a line, those that are answered wait for neither,
 * and nothing is evicted for them. */
static void take_miss_is_asked_before_line_eviction_and_miss_queue(void **state)
{
    assert_in_range(late_misses(false), 20, SCRIPT_WIDE);
    assert_int_equal(left_before, SCRIPT_WIDE - 4);
    assert_int_equal(late_misses(true), 0);
    assert_int_equal(left_before, 0);
}

/* ---- may_allocate: how often ---- */

static bool count_asked(void *state, const struct mech_l1_access *a)
{
    struct tiny *t = state;
    t->n[0]++;
    tell(t, 1, a->cycle, a->line - script_buf);
    return a->line / LINE_BYTES % 2;
}

/* With one MSHR, each miss of # is refused for hundreds of cycles. */
static void may_allocate_is_asked_once_however_often_the_l1_refuses(void **state)
{
    attach((struct mechanism){.may_allocate = count_asked});
    struct play p = with_blank("#a");
    p.sets[0] = "l1.mshrs=1";
    play(&p);
    assert_true(stat_of("l1.stall_mshr") > 32 * 100);
    assert_int_equal(stat_of("blank.n0"), stat_of("l1.global_load_misses"));
    play_close();
    p = with_blank("ab#A_cd*#$");
    expect_same_everywhere(&p);
}

/* ---- accesses ---- */

/* Both warps load a; the second merges with the first. Then the first to come has brought it, which is a hit
 * of its own, and that of the other is not. */
static void an_access_says_who_brought_the_line(void **state)
{
    access_count = 0;
    attach((struct mechanism){.on_l1_access = log_access});
    struct play p = with_blank("aa");
    p.block = 64;
    play(&p);
    play_close();
    assert_true(access_count >= 4);
    assert_int_equal(access_log[0].outcome, MECH_L1_MISS);
    assert_int_equal(access_log[1].outcome, MECH_L1_PENDING);
    assert_int_not_equal(access_log[0].warp, access_log[1].warp);
    for (uint32_t i = 2; i < 4; i++) {
        assert_int_equal(access_log[i].outcome, MECH_L1_HIT);
        assert_int_equal(access_log[i].intra_warp, access_log[i].warp == access_log[0].warp);
        assert_int_equal(access_log[i].sectors, 0xf);
        assert_false(access_log[i].is_prefetch || access_log[i].is_first_use);
    }
}

/* ---- what prefetches and last users leave ---- */

static struct mech_l1_evict gone[SCRIPT_LINES];
static bool was_told[SCRIPT_LINES], was_filled[SCRIPT_LINES][2];
static uint32_t pc_of[SCRIPT_LINES], warp_of[SCRIPT_LINES], bringer_of[SCRIPT_LINES],
    bring_pc_of[SCRIPT_LINES];

enum { PREFETCH_PC = 7, PREFETCH_WARP = 1 };

/* When the first warp loads a, x and y are prefetched, of which x is wanted later. */
static void prefetch_two(void *state, const struct mech_l1_access *a)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    const uint64_t i = (a->line - script_buf) / LINE_BYTES;
    if (i >= SCRIPT_LINES || a->is_store) return;
    pc_of[i] = a->pc;
    warp_of[i] = (uint32_t)a->warp;
    if (a->outcome == MECH_L1_MISS) {
        bring_pc_of[i] = a->pc;
        bringer_of[i] = (uint32_t)a->warp;
    }
    if (a->line != line_at('a') || a->outcome != MECH_L1_MISS) return;
    p->prefetch(p->host, line_at('x'), PREFETCH_PC, PREFETCH_WARP);
    p->prefetch(p->host, line_at('y'), PREFETCH_PC, PREFETCH_WARP);
}
static void keep_gone(void *state, const struct mech_l1_evict *e)
{
    const uint64_t i = (e->line - script_buf) / LINE_BYTES;
    if (i >= SCRIPT_LINES || was_told[i]) return;
    was_told[i] = true;
    gone[i] = *e;
}
static void see_fill(void *state, const struct mech_l1_fill *e)
{
    const uint64_t i = (e->line - script_buf) / LINE_BYTES;
    if (i < SCRIPT_LINES) was_filled[i][e->is_prefetch] = true;
}

/* Loads bring and use all lines but y, which nobody wants. A line names who brought it and who used it last,
 * as the accesses did. */
static void an_eviction_says_who_used_the_line(void **state)
{
    memset(was_told, 0, sizeof was_told);
    memset(was_filled, 0, sizeof was_filled);
    attach(
        (struct mechanism){.on_l1_access = prefetch_two, .on_l1_evict = keep_gone, .on_l1_fill = see_fill});
    struct play p = with_blank("a_x_a_b");
    p.sets[0] = "l1.size=4K";
    p.block = 64;
    play(&p);
    play_close();
    static const char lines[] = "abxy";
    for (const char *c = lines; *c; c++) {
        const uint32_t i = (uint32_t)(*c - 'a');
        const bool is_prefetched = *c == 'x' || *c == 'y';
        assert_true(was_told[i]);
        assert_int_equal(gone[i].was_used, *c != 'y');
        assert_int_equal(gone[i].was_prefetch, *c == 'y');
        assert_true(was_filled[i][is_prefetched] && !was_filled[i][!is_prefetched]);
        if (*c != 'y') {
            assert_int_equal(gone[i].last_warp, warp_of[i]);
            assert_int_equal(gone[i].last_pc, pc_of[i]);
        }
        assert_int_equal(gone[i].owner_pc, is_prefetched ? PREFETCH_PC : bring_pc_of[i]);
        if (!is_prefetched) assert_int_equal(gone[i].owner_warp, bringer_of[i]);
    }
    assert_int_not_equal(pc_of[0], bring_pc_of[0]); /* a was used again, by another load */
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(take_miss_is_asked_before_line_eviction_and_miss_queue),
        RIG_TEST(may_allocate_is_asked_once_however_often_the_l1_refuses),
        RIG_TEST(an_access_says_who_brought_the_line),
        RIG_TEST(an_eviction_says_who_used_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
