/* test_mech_l1.c: the hooks and ports of the L1 and of the stages before it: lines, ports, misses, the
 * re-execution queue, claims. test_mech_hooks.c names the files of the others. */
#include "hooks_kit.h"

/* The cycle at which a test stops holding something back. */
enum { LATER = 700 };

/* ---- lines of the L1 ---- */

static struct mech_l1_evict evict_log[16];
static uint32_t evict_count;

static void log_evict(void *state, const struct mech_l1_evict *e)
{
    if (evict_count < ARRAY_LEN(evict_log)) evict_log[evict_count++] = *e;
}
static void sum_evict(void *state, const struct mech_l1_evict *e)
{
    tell(state, 0, e->cycle, (e->line - script_buf) * 4 + e->cause);
    tell(state, 1, e->cycle, (uint64_t)(e->owner_warp * 64 + e->last_warp) * 16 + e->sectors);
    tell(state, 2, e->cycle, (e->owner_launch * 64 + e->owner_pc) * 64 + e->last_pc);
    tell(state, 3, e->cycle, e->was_prefetch + 2 * e->was_used + 4 * e->is_local);
}
static void shrink_at_d(void *state, const struct mech_l1_access *e)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    if (e->line == line_at('d') && e->outcome == MECH_L1_HIT) p->l1_lines(p->host, 3);
}

/* e replaces a; B drops b; d is hit and the fourth way is removed, with its line; the other lines leave at
 * the end. */
static void a_line_leaves_for_one_of_four_causes(void **state)
{
    static const struct {
        char line;
        enum mech_evict_cause cause;
    } want[] = {{'a', MECH_EVICT_REPLACED},
                {'b', MECH_EVICT_STORE},
                {'d', MECH_EVICT_RESIZE},
                {'e', MECH_EVICT_FLUSH},
                {'c', MECH_EVICT_FLUSH}};
    evict_count = 0;
    attach((struct mechanism){.on_l1_evict = log_evict, .on_l1_access = shrink_at_d});
    struct play p = with_blank("abcdeBdc");
    play(&p);
    assert_int_equal(evict_count, ARRAY_LEN(want));
    for (uint32_t i = 0; i < evict_count; i++) {
        assert_int_equal(evict_log[i].line, line_at(want[i].line));
        assert_int_equal(evict_log[i].cause, want[i].cause);
        assert_int_equal(evict_log[i].sectors, 0xf);
        assert_true(evict_log[i].was_used && !evict_log[i].was_prefetch && !evict_log[i].is_local);
        assert_true(!i || evict_log[i].cycle >= evict_log[i - 1].cycle);
    }
    assert_int_equal(stat_of("l1.resizes"), 1);
    assert_in_range(evict_log[3].cycle, evict_log[2].cycle + 1,
                    rig_cycles(&rig, 0)); /* stores are under way */
    assert_int_equal(evict_log[4].cycle, evict_log[3].cycle);
    play_close();
    attach((struct mechanism){.on_l1_evict = sum_evict, .on_l1_access = shrink_at_d});
    p = with_blank("abcdeBdc#d_abc$");
    expect_same_everywhere(&p);
}

/* ---- changes of the capacity ---- */

static uint32_t extra_accesses, extra_fills;

/* x takes two of four lines away, y gives them back, z asks for twice as many. */
static void resize_at_x_y_z(void *state, const struct mech_l1_access *a)
{
    static const struct {
        char line;
        uint32_t lines;
    } sizes[] = {{'x', 2}, {'y', 4}, {'z', 8}};
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    extra_accesses += a->is_extra;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        if (a->line == line_at(sizes[i].line)) p->l1_lines(p->host, sizes[i].lines);
}
static void resize_alone(void *state, const struct mech_l1_access *a)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    const uint32_t own = p->l1_sets * p->l1_ways;
    tell(state, 0, a->cycle, a->is_extra);
    if (a->line == line_at('x')) p->l1_lines(p->host, own / 2);
    if (a->line == line_at('y')) p->l1_lines(p->host, own);
    if (a->line == line_at('z')) p->l1_lines(p->host, own + p->l1_sets);
}
static void count_extra_fill(void *state, const struct mech_l1_fill *e) { extra_fills += e->is_extra; }
static void sum_extra_fill(void *state, const struct mech_l1_fill *e)
{
    tell(state, 1, e->cycle, e->is_extra);
}
static void double_l1(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    tiny_init(state, gpu_state, params, ports);
    ports->l1_lines_max(ports->host, 2 * ports->l1_sets * ports->l1_ways);
}

/* In two lines, three lines that are used in turn never hit. In four lines they hit the second time, and in
 * eight all seven do; four of these lie in registers. */
static void the_l1_grows_again_and_into_registers(void **state)
{
    static const struct {
        const char *script;
        uint64_t hits, resizes;
        uint32_t extra;
    } rows[] = {{"x abcabcabc", 0, 1, 0},
                {"x abcabc y abcabc", 4, 2, 0},
                {"y abcdeabcde", 0, 0, 0},
                {"z abcdefgabcdefg", 7, 1, 4}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        extra_accesses = extra_fills = 0;
        attach((struct mechanism){
            .init = double_l1, .on_l1_access = resize_at_x_y_z, .on_l1_fill = count_extra_fill});
        struct play p = with_blank(rows[i].script);
        play(&p);
        expect_stats(
            (struct wanted[]){{"l1.global_load_hits", rows[i].hits}, {"l1.resizes", rows[i].resizes}, {0}});
        assert_int_equal(extra_accesses, rows[i].extra);
        assert_int_equal(extra_fills, rows[i].extra);
        play_close();
    }
    attach((struct mechanism){.init = double_l1, .on_l1_access = resize_alone, .on_l1_fill = sum_extra_fill});
    struct play p = with_blank("abx#A_cyb#cd*z#hab");
    expect_same_everywhere(&p);
}

/* ---- owners of lines ---- */

/* For each line: the launch number of the warp whose load brought it. */
static uint64_t brought_by[SCRIPT_LINES + SCRIPT_WIDE], owner_mistakes, reused;

static void keep_launch(void *state, const struct mech_l1_access *e)
{
    const uint64_t i = (e->line - script_buf) / LINE_BYTES;
    if (e->outcome == MECH_L1_MISS && i < ARRAY_LEN(brought_by)) brought_by[i] = e->launch;
}
static void compare_launch(void *state, const struct mech_l1_evict *e)
{
    owner_mistakes += e->owner_launch != brought_by[(e->line - script_buf) / LINE_BYTES];
    reused += e->owner_launch >= 8; /* eight CTAs fit: its slot was another warp's before */
}

static void an_eviction_names_the_warp_that_brought_the_line(void **state)
{
    owner_mistakes = reused = 0;
    attach((struct mechanism){.on_l1_access = keep_launch, .on_l1_evict = compare_launch});
    struct play p = with_blank("abcde#fg");
    p.grid = 20;
    play(&p);
    assert_int_equal(owner_mistakes, 0);
    assert_true(reused > 0);
    play_close();
}

static bool deny_b(void *state, const struct mech_l1_access *a) { return a->line != line_at('b'); }
static uint32_t fills[2];
static void count_fill(void *state, const struct mech_l1_fill *e)
{
    fills[e->kept]++;
    assert_int_equal(e->kept, e->line != line_at('b'));
    assert_in_range(e->latency_cycles, 50, 1000);
}
static void sum_fill(void *state, const struct mech_l1_fill *e)
{
    tell(state, 0, e->cycle, e->line - script_buf);
    tell(state, 1, e->cycle, e->latency_cycles);
    tell(state, 2, e->cycle, e->is_prefetch + 2 * e->is_local + 4 * e->kept + 8 * e->is_extra);
}

static void a_line_that_may_not_be_allocated_is_not_kept(void **state)
{
    memset(fills, 0, sizeof fills);
    attach((struct mechanism){.may_allocate = deny_b, .on_l1_fill = count_fill});
    struct play p = with_blank("abbcb");
    play_and_expect(
        &p, (struct wanted[]){
                {"l1.global_load_misses", 5}, {"l1.global_load_hits", 0}, {"l1.fills_not_kept", 3}, {0}});
    assert_int_equal(fills[true], 2);
    assert_int_equal(fills[false], 3);
    attach((struct mechanism){.may_allocate = deny_b, .on_l1_fill = sum_fill});
    p = with_blank("abb#cAb_ab$");
    expect_same_everywhere(&p);
}

static uint32_t level_peak, level_last, level_calls;
static void see_level(void *state, const struct mech_l1_level *e)
{
    level_calls++;
    if (e->mshrs_used > level_peak) level_peak = e->mshrs_used;
    level_last = e->mshrs_used + e->queue_used;
    assert_true(e->mshrs_used <= e->mshrs && e->queue_used <= e->queue && e->mshrs == 8);
}

static void sum_level(void *state, const struct mech_l1_level *e)
{
    tell(state, 0, e->cycle, e->mshrs_used * 64 + e->queue_used);
    tell(state, 1, e->cycle, e->mshrs * 64 + e->queue);
}

static void on_l1_level_tells_mshrs_and_queue(void **state)
{
    level_peak = level_last = level_calls = 0;
    attach((struct mechanism){.on_l1_level = see_level});
    struct play p = with_blank("a#");
    p.sets[0] = "l1.mshrs=8";
    p.sets[1] = "l1.size=8K";
    play(&p);
    assert_int_equal(level_peak, 8);
    assert_int_equal(level_last, 0);
    assert_true(level_calls >= 4 * 33);
    play_close();
    attach((struct mechanism){.on_l1_level = sum_level});
    p = with_blank("ab#A_cd*#$");
    expect_same_everywhere(&p);
}

static uint32_t touched, inserted, asked_victim;
static uint32_t choose_last(void *state, const struct mech_victim_view *v)
{
    asked_victim++;
    assert_true(v->set == 0 && v->ways == 4 && v->candidates[0] == 0xf && v->line == line_at('e'));
    return 3;
}
static void count_touch(void *state, uint32_t set, uint32_t way)
{
    touched++;
    assert_true(set == 0 && way == 0);
}
static void count_insert(void *state, uint32_t set, uint32_t way)
{
    assert_true(set == 0 && way == (inserted < 4 ? inserted : 3));
    inserted++;
}
static void sum_touch(void *state, uint32_t set, uint32_t way) { tell(state, 0, set, way); }
static void sum_insert(void *state, uint32_t set, uint32_t way) { tell(state, 1, set, way); }

static uint32_t choose_highest(void *state, const struct mech_victim_view *v)
{
    for (uint32_t way = v->ways; way--;)
        if (v->candidates[way / 64] >> way % 64 & 1) return way;
    return 0;
}

/* e takes the way of d, not that of a. */
static void the_policy_chooses_the_line_that_leaves(void **state)
{
    touched = inserted = asked_victim = 0;
    attach((struct mechanism){
        .victim = choose_last, .line_touched = count_touch, .line_inserted = count_insert});
    struct play p = with_blank("abcdea");
    play_and_expect(&p, (struct wanted[]){{"l1.global_load_hits", 1}, {0}});
    assert_int_equal(touched, 1);
    assert_int_equal(inserted, 5);
    assert_int_equal(asked_victim, 1);
    attach(
        (struct mechanism){.victim = choose_highest, .line_touched = sum_touch, .line_inserted = sum_insert});
    p = with_blank("abcdea#ab_cd#Aab");
    expect_same_everywhere(&p);
}

static void sum_access(void *state, const struct mech_l1_access *e)
{
    tell(state, 0, e->cycle, (e->line - script_buf) * 4 + e->outcome);
    tell(state, 1, e->cycle, (e->id * 64 + (uint64_t)e->warp) * 64 + e->pc);
    tell(state, 2, e->cycle, e->launch * 16 + e->sectors + (e->lane_address - script_buf));
    tell(state, 3, e->cycle,
         e->is_first_line + 2 * e->intra_warp + 4 * e->is_first_use + 8 * e->is_store + 16 * e->is_atomic +
             32 * e->is_local + 64 * e->is_prefetch + 128 * e->is_extra);
}

static void an_access_is_the_same_whatever_is_skipped(void **state)
{
    attach((struct mechanism){.on_l1_access = sum_access});
    const struct play p = with_blank("ab$#A_!cd*#$");
    expect_same_everywhere(&p);
}

/* ---- ports of the L1 ---- */

/* Reads a in every second cycle, as soon as a is there. */
static void steal_port(void *state, uint64_t cycle)
{
    struct tiny *t = state;
    const bool is_there = t->ports->l1_probe(t->ports->host, script_buf);
    const bool was_read = t->ports->l1_read(t->ports->host, script_buf);
    t->n[0] += is_there;
    t->n[1] += was_read;
    t->n[2] += was_read && t->ports->l1_read(t->ports->host, script_buf);
}

/* # hits 32 times in a row, one a cycle: half of the cycles belong to the mechanism. */
static void l1_read_takes_a_port_from_the_load_store_unit(void **state)
{
    attach((struct mechanism){.timer_cycles = 2, .on_timer = steal_port});
    struct play p = with_blank("#a#");
    p.sets[0] = "l1.size=8K";
    const uint64_t alone = play_cycles(&(struct play){.script = p.script, .sets = {p.sets[0]}});
    play(&p);
    assert_true(stat_of("blank.n0") > 40);
    assert_int_equal(stat_of("blank.n1"), stat_of("blank.n0"));
    assert_int_equal(stat_of("blank.n2"), 0); /* there is one port */
    assert_in_range(stat_of("l1.stall_stolen"), 31, 33);
    assert_in_range(rig_cycles(&rig, 0), alone + 31, alone + 33);
    play_close();
    p = with_blank("#a#bA_#cd");
    expect_same_everywhere(&p);
}

/* ---- misses ---- */

static bool not_before_later(void *state, const struct mech_l1_access *a)
{
    ((struct tiny *)state)->n[0]++;
    return a->cycle >= LATER;
}
static bool not_warp_1_before_later(void *state, const struct mech_l1_access *a)
{
    return a->warp != 1 || a->cycle >= LATER;
}
static void ask_for_reexec(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    tiny_init(state, gpu_state, params, ports);
    ports->reexec_queue(ports->host, 4);
}

/* A load that may not miss is offered in each cycle until it may miss. */
static void may_miss_holds_a_load_before_the_l1(void **state)
{
    access_count = 0;
    attach((struct mechanism){.may_miss = not_before_later, .on_l1_access = log_access});
    struct play p = with_blank("ab");
    play(&p);
    assert_int_equal(access_log[0].cycle, LATER);
    assert_int_equal(stat_of("blank.n0"), stat_of("l1.stall_held") + 2);
    assert_in_range(stat_of("l1.stall_held"), LATER - 100, LATER);
    play_close();
    attach((struct mechanism){.may_miss = not_before_later});
    p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
}

/* The load of warp 1, which comes first, is held. Without the queue it blocks warp 0; with the queue warp 0
 * goes on, and brings the line. */
static void what_may_not_miss_waits_beside_the_load_store_unit(void **state)
{
    for (int has_queue = 0; has_queue < 2; has_queue++) {
        access_count = 0;
        attach((struct mechanism){.may_miss = not_warp_1_before_later,
                                  .init = has_queue ? ask_for_reexec : tiny_init,
                                  .on_l1_access = log_access});
        struct play p = with_blank("a");
        p.block = 64;
        play(&p);
        assert_int_equal(access_log[0].warp, !has_queue);
        assert_true(has_queue == (access_log[0].cycle < LATER));
        assert_int_equal(stat_of("sm.reexecutions"), has_queue);
        play_close();
        attach((struct mechanism){.may_miss = not_warp_1_before_later,
                                  .init = has_queue ? ask_for_reexec : tiny_init});
        p = with_blank("ab#A_ca*#");
        expect_same_everywhere(&p);
    }
}

/* ---- the re-execution queue and what the L1 refuses ---- */

static void ask_for_2_reexec(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    tiny_init(state, gpu_state, params, ports);
    ports->reexec_queue(ports->host, 2);
}

/* Two warps bring 32 lines each with one MSHR. The loads that the L1 refuses move to the queue, so a load of
 * line a, which is in the L1, does not wait for them although its warp is behind. */
static void what_the_l1_refuses_steps_aside(void **state)
{
    attach((struct mechanism){.init = ask_for_2_reexec});
    struct play p = with_blank("a_#a");
    p.block = 128;
    p.sets[0] = "l1.mshrs=1";
    p.sets[1] = "l1.size=16K";
    play(&p);
    assert_true(stat_of("sm.reexecutions") > 0);
    play_close();
    p = with_blank("ab#A_ca*#");
    expect_same_everywhere(&p);
}

static void ask_for_1_reexec(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    tiny_init(state, gpu_state, params, ports);
    ports->reexec_queue(ports->host, 1);
}

/* The load of warp 1, which comes first, is held and fills a queue of one entry. It is offered again in each
 * cycle, and the load of warp 0 waits for it, although there is a second port. With room in the queue the
 * load of warp 0 goes on. */
static void a_full_queue_lets_nothing_pass(void **state)
{
    for (int is_full = 0; is_full < 2; is_full++) {
        access_count = 0;
        attach((struct mechanism){.may_miss = not_warp_1_before_later,
                                  .init = is_full ? ask_for_1_reexec : ask_for_2_reexec,
                                  .on_l1_access = log_access});
        struct play p = with_blank("a");
        p.block = 64;
        p.sets[0] = "sm.lsu_ports=2";
        p.sets[1] = "l1.ports=2";
        play(&p);
        assert_int_equal(stat_of("sm.reexecutions"), 1);
        assert_int_equal(access_log[0].warp, is_full);
        assert_true(is_full == (access_log[0].cycle >= LATER));
        play_close();
    }
}

/* ---- answers to misses ---- */

static struct mech_miss miss_answer;
static uint32_t miss_asked;
static void answer_miss(void *state, const struct mech_l1_access *a, uint32_t token, struct mech_miss *answer)
{
    __atomic_fetch_add(&miss_asked, 1, __ATOMIC_RELAXED); /* SMs may run on several threads */
    *answer = miss_answer;
}

static void count_taken_fill(void *state, const struct mech_l1_fill *e) { fills[e->kept]++; }

static uint64_t cycles_with(struct mech_miss answer, const char *script)
{
    miss_answer = answer;
    miss_asked = 0;
    attach((struct mechanism){.take_miss = answer_miss});
    const struct play p = with_blank(script);
    return play_cycles(&p);
}

/* Each of the two misses takes its delay. */
static void take_miss_delays_or_answers(void **state)
{
    const uint64_t alone = play_cycles(&(struct play){.script = "ab"});
    assert_int_equal(cycles_with((struct mech_miss){MECH_MISS_PASS, 0}, "ab"), alone);
    assert_int_equal(miss_asked, 2);
    const uint64_t one = cycles_with((struct mech_miss){MECH_MISS_HIT, 1}, "ab");
    assert_true(one < alone);
    assert_int_equal(cycles_with((struct mech_miss){MECH_MISS_HIT, 0}, "ab"), one); /* at least one cycle */
    assert_int_equal(cycles_with((struct mech_miss){MECH_MISS_HIT, 101}, "ab"), one + 2 * 100);
    const uint64_t pass = cycles_with((struct mech_miss){MECH_MISS_PASS, 400}, "ab");
    assert_in_range(pass, alone + 2 * 399, alone + 2 * 402); /* the crossbar has a slower clock */
    /* no line is taken for an answer, so that each load asks again */
    cycles_with((struct mech_miss){MECH_MISS_HIT, 9}, "aaa");
    assert_int_equal(miss_asked, 3);
    cycles_with((struct mech_miss){MECH_MISS_PASS, 9}, "aaa");
    assert_int_equal(miss_asked, 1);
    static const struct mech_miss answers[] = {{MECH_MISS_PASS, 0}, {MECH_MISS_PASS, 33},
                                               {MECH_MISS_HIT, 1},  {MECH_MISS_HIT, 77},
                                               {MECH_MISS_FILL, 1}, {MECH_MISS_FILL, 77}};
    for (size_t i = 0; i < 2 * ARRAY_LEN(answers); i++) {
        miss_answer = answers[i / 2];
        attach((struct mechanism){.take_miss = answer_miss, .claims_lines = i % 2});
        const struct play p = with_blank("ab#A_ca*#d$");
        expect_same_everywhere(&p);
    }
}

/* A FILL is as late as a HIT, and its line stays: the second load of a hits. No request leaves the SM. */
static void a_miss_that_is_filled_keeps_its_line(void **state)
{
    const uint64_t hit = cycles_with((struct mech_miss){MECH_MISS_HIT, 30}, "ab");
    for (int claims_lines = 0; claims_lines < 2; claims_lines++) {
        miss_answer = (struct mech_miss){MECH_MISS_FILL, 30};
        miss_asked = 0;
        fills[true] = fills[false] = 0;
        attach((struct mechanism){
            .take_miss = answer_miss, .claims_lines = claims_lines, .on_l1_fill = count_taken_fill});
        struct play p = with_blank("ab");
        assert_in_range(play_cycles(&p), hit, hit + 2);
        p = with_blank("aabab");
        play_and_expect(&p,
                        (struct wanted[]){
                            {"l1.global_load_hits", 3}, {"l1.taken_hits", 2}, {"l1.requests_read", 0}, {0}});
        assert_int_equal(miss_asked, 2 + 2);
        assert_int_equal(fills[true], 2 + 2);
        assert_int_equal(fills[false], 0);
    }
}

/* ---- claims_lines ---- */

static uint64_t taken_at, left_at;
static uint32_t victims_asked;
static struct mech_miss answer_of_e;

static void take_e(void *state, const struct mech_l1_access *a, uint32_t token, struct mech_miss *answer)
{
    if (a->line != line_at('e')) return;
    taken_at = a->cycle;
    *answer = answer_of_e;
}
static void see_a_leave(void *state, const struct mech_l1_evict *e)
{
    if (e->line == line_at('a') && e->cause == MECH_EVICT_REPLACED) left_at = e->cycle;
}
static uint32_t choose_first(void *state, const struct mech_victim_view *v)
{
    victims_asked++;
    return (uint32_t)__builtin_ctzll(v->candidates[0]);
}

/* e finds all four lines taken. It gets one of them when its data comes or, with claims_lines, when it is
 * taken. With claims_lines the victim is chosen before take_miss, in vain where take_miss answers HIT; where
 * the miss goes on, the choice holds. */
static void a_miss_that_is_taken_holds_a_line_with_claims_lines(void **state)
{
    static const struct {
        struct mech_miss answer;
        bool claims_lines;
        uint32_t victims;
        /* a leaves: never, when its data comes, when it is taken */
        enum { STAYS, LATE, AT_ONCE } leaves;
    } rows[] = {
        {{MECH_MISS_FILL, 60}, false, 1, LATE},   {{MECH_MISS_FILL, 60}, true, 1, AT_ONCE},
        {{MECH_MISS_HIT, 60}, false, 0, STAYS},   {{MECH_MISS_HIT, 60}, true, 1, STAYS},
        {{MECH_MISS_PASS, 0}, false, 1, AT_ONCE}, {{MECH_MISS_PASS, 0}, true, 1, AT_ONCE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        taken_at = left_at = 0;
        victims_asked = 0;
        answer_of_e = rows[i].answer;
        attach((struct mechanism){.take_miss = take_e,
                                  .claims_lines = rows[i].claims_lines,
                                  .victim = choose_first,
                                  .on_l1_evict = see_a_leave});
        const struct play p = with_blank("abcde");
        play(&p);
        play_close();
        assert_int_equal(victims_asked, rows[i].victims);
        const uint64_t want = rows[i].leaves == LATE ? taken_at + rows[i].answer.cycles : taken_at;
        assert_int_equal(left_at, rows[i].leaves == STAYS ? 0 : want);
    }
}

/* ---- claims ---- */

enum { CLAIM_CYCLES = 50, CLAIMS = 128 };
struct claims {
    const struct mech_ports *ports;
    uint64_t forwards, answers, waits, most;
    struct {
        uint32_t token;
        uint64_t due;
    } queue[CLAIMS];
    uint32_t head, count;
};
static const struct stat_row claims_stats[] = {
    STAT_COUNT(claims, forwards, "blank.forwards", "", "for the test", NULL),
    STAT_COUNT(claims, answers, "blank.answers", "", "for the test", NULL),
    STAT_COUNT(claims, waits, "blank.waits", "", "for the test", NULL),
    STAT_COUNT(claims, most, "blank.most", "", "for the test", NULL),
    {0}};
static bool forwards;

static void claims_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    ((struct claims *)state)->ports = ports;
}
static void claim(void *state, const struct mech_l1_access *a, uint32_t token, struct mech_miss *answer)
{
    struct claims *c = state;
    assert_true(c->count < CLAIMS);
    c->queue[(c->head + c->count) % CLAIMS].token = token;
    c->queue[(c->head + c->count) % CLAIMS].due = a->cycle + CLAIM_CYCLES;
    if (!c->count++) c->ports->set_timer(c->ports->host, a->cycle, CLAIM_CYCLES);
    if (c->count > c->most) c->most = c->count;
    answer->answer = MECH_MISS_CLAIM;
}
static void end_claims(void *state, uint64_t cycle)
{
    struct claims *c = state;
    for (; c->count && c->queue[c->head].due <= cycle; c->head = (c->head + 1) % CLAIMS, c->count--) {
        if (!forwards) {
            c->ports->miss_answer(c->ports->host, c->queue[c->head].token);
            c->answers++;
        } else if (c->ports->miss_forward(c->ports->host, c->queue[c->head].token)) {
            c->forwards++;
        } else {
            c->waits++;
            break;
        }
    }
    c->ports->set_timer(c->ports->host, cycle, c->count ? 1 : 0);
}

static bool claims_lines;
static void play_claims(struct play p, uint64_t *cycles)
{
    blank_fill((struct mechanism){.state_bytes = sizeof(struct claims),
                                  .stats = claims_stats,
                                  .claims_lines = claims_lines,
                                  .init = claims_init,
                                  .take_miss = claim,
                                  .on_timer = end_claims});
    play(&p);
    *cycles = rig_cycles(&rig, 0);
}

/* A claim that is answered n cycles later keeps its line, and is otherwise like a hit after n cycles; a claim
 * that goes on is like a pass after n cycles. */
static void a_claimed_miss_is_answered_or_goes_on(void **state)
{
    const uint64_t hit = cycles_with((struct mech_miss){MECH_MISS_HIT, CLAIM_CYCLES}, "ab");
    const uint64_t pass = cycles_with((struct mech_miss){MECH_MISS_PASS, CLAIM_CYCLES}, "ab");
    uint64_t cycles;
    forwards = false;
    play_claims(with_blank("ab"), &cycles);
    expect_stats((struct wanted[]){{"blank.answers", 2}, {"l1.requests_read", 0}, {"l1.taken_hits", 2}, {0}});
    play_close();
    assert_in_range(cycles, hit, hit + 2);
    play_claims(with_blank("aa"), &cycles);
    expect_stats((struct wanted[]){{"blank.answers", 1}, {"l1.global_load_hits", 1}, {0}});
    play_close();
    forwards = true;
    play_claims(with_blank("ab"), &cycles);
    expect_stats((struct wanted[]){{"blank.forwards", 2}, {"l1.requests_read", 2}, {0}});
    play_close();
    assert_in_range(cycles, pass, pass + 2);
    for (int i = 0; i < 2; i++) {
        forwards = i;
        const struct play p = with_blank("ab#A_ca*#d");
        expect_same_everywhere(&p);
    }
}

/* 32 misses of an L1 of four lines: without claims_lines as many are claimed at a time as there are MSHRs,
 * with it as many as there are lines. */
static void claims_hold_lines_while_they_last(void **state)
{
    uint64_t cycles;
    forwards = false;
    for (int i = 0; i < 2; i++) {
        claims_lines = i;
        struct play p = with_blank("#");
        p.sets[0] = "l1.mshrs=16";
        play_claims(p, &cycles);
        expect_stats((struct wanted[]){{"blank.answers", 32}, {"blank.most", i ? 4 : 16}, {0}});
        play_close();
        for (int k = 0; k < 2; k++) {
            forwards = k;
            p = with_blank("ab#A_ca*#d$");
            expect_same_everywhere(&p);
        }
        forwards = false;
    }
    claims_lines = false;
}

/* ---- holds ---- */

static enum mech_hold hold_answer;
/* may_miss refuses warp 0 until the timer; n: refusals, how many of them the host skipped, calls of holds,
 * whether the timer has come. */
static bool refuse_warp_0(void *state, const struct mech_l1_access *a)
{
    struct tiny *t = state;
    if (a->warp != 0 || t->n[3]) return true;
    t->n[0]++;
    return false;
}
static enum mech_hold hold_warp_0(void *state, int warp)
{
    struct tiny *t = state;
    t->n[2]++;
    if (hold_answer != MECH_HOLD_YES) return MECH_HOLD_UNKNOWN;
    return warp == 0 && !t->n[3] ? MECH_HOLD_YES : MECH_HOLD_NO;
}
static void count_held(void *state, uint64_t offers)
{
    struct tiny *t = state;
    t->n[0] += offers;
    t->n[1] += offers;
}
static void end_hold(void *state, uint64_t cycle) { ((struct tiny *)state)->n[3] = 1; }

/* The test does not check calls of holds and on_held: an SM that sleeps makes fewer of them. */
static enum mech_hold hold_uncounted(void *state, int warp)
{
    const struct tiny *t = state;
    return warp == 0 && !t->n[3] ? MECH_HOLD_YES : MECH_HOLD_NO;
}
static void count_refusals(void *state, uint64_t offers) { ((struct tiny *)state)->n[0] += offers; }

/* Warp 1 brings line a, and warp 0, which loads only b, waits beside the load-store unit. Where holds answers
 * yes, may_miss is not asked again: on_held tells how often it would have been asked, and nothing else
 * changes. */
static void holds_stands_in_for_may_miss(void **state)
{
    uint64_t refusals[2], cycles[2], stalls[2];
    for (int is_known = 0; is_known < 2; is_known++) {
        hold_answer = is_known ? MECH_HOLD_YES : MECH_HOLD_UNKNOWN;
        attach((struct mechanism){.timer_cycles = LATER,
                                  .init = ask_for_reexec,
                                  .may_miss = refuse_warp_0,
                                  .holds = hold_warp_0,
                                  .on_held = count_held,
                                  .on_timer = end_hold});
        struct play p = with_blank("a!b");
        p.block = 64;
        play(&p);
        refusals[is_known] = stat_of("blank.n0");
        stalls[is_known] = stat_of("l1.stall_held");
        cycles[is_known] = rig_cycles(&rig, 0);
        assert_true(stat_of("blank.n2") > 0);
        if (is_known)
            assert_in_range(stat_of("blank.n1"), LATER / 2, stat_of("blank.n0") - 1);
        else
            assert_int_equal(stat_of("blank.n1"), 0);
        play_close();
    }
    assert_int_equal(refusals[1], refusals[0]);
    assert_int_equal(stalls[1], stalls[0]);
    assert_int_equal(cycles[1], cycles[0]);
    attach((struct mechanism){.timer_cycles = LATER,
                              .init = ask_for_reexec,
                              .may_miss = refuse_warp_0,
                              .holds = hold_uncounted,
                              .on_held = count_refusals,
                              .on_timer = end_hold});
    const struct play p = with_blank("ab#A_ca*#");
    expect_same_everywhere(&p);
}

/* ---- extra_hit ---- */

static uint32_t extra_cycles;
static uint32_t hit_later(void *state, uint32_t set, uint32_t way)
{
    struct tiny *t = state;
    t->n[0]++;
    t->n[1] += set;
    t->n[2] += way;
    return extra_cycles;
}

/* Asked for each load that hits: a and b lie in ways 0 and 1. The program waits for each of the three
 * hits. */
static void extra_hit_delays_the_data_of_a_hit(void **state)
{
    uint64_t before = 0;
    static const uint32_t cycles[] = {0, 2, 30};
    for (size_t i = 0; i < ARRAY_LEN(cycles); i++) {
        extra_cycles = cycles[i];
        attach((struct mechanism){.extra_hit = hit_later});
        struct play p = with_blank("ababb");
        play(&p);
        expect_stats((struct wanted[]){
            {"l1.global_load_hits", 3}, {"blank.n0", 3}, {"blank.n1", 0}, {"blank.n2", 2}, {0}});
        if (!i) before = rig_cycles(&rig, 0);
        assert_int_equal(rig_cycles(&rig, 0), before + 3 * cycles[i]);
        play_close();
        p = with_blank("ab#A_ca*#aab");
        expect_same_everywhere(&p);
    }
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_line_leaves_for_one_of_four_causes),
        RIG_TEST(the_l1_grows_again_and_into_registers),
        RIG_TEST(an_eviction_names_the_warp_that_brought_the_line),
        RIG_TEST(a_line_that_may_not_be_allocated_is_not_kept),
        RIG_TEST(on_l1_level_tells_mshrs_and_queue),
        RIG_TEST(the_policy_chooses_the_line_that_leaves),
        RIG_TEST(an_access_is_the_same_whatever_is_skipped),
        RIG_TEST(l1_read_takes_a_port_from_the_load_store_unit),
        RIG_TEST(may_miss_holds_a_load_before_the_l1),
        RIG_TEST(what_may_not_miss_waits_beside_the_load_store_unit),
        RIG_TEST(what_the_l1_refuses_steps_aside),
        RIG_TEST(a_full_queue_lets_nothing_pass),
        RIG_TEST(holds_stands_in_for_may_miss),
        RIG_TEST(extra_hit_delays_the_data_of_a_hit),
        RIG_TEST(take_miss_delays_or_answers),
        RIG_TEST(a_miss_that_is_filled_keeps_its_line),
        RIG_TEST(a_miss_that_is_taken_holds_a_line_with_claims_lines),
        RIG_TEST(claims_hold_lines_while_they_last),
        RIG_TEST(a_claimed_miss_is_answered_or_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
