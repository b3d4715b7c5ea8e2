/* test_mech_hooks.c: each hook and port of the interface on a machine, with a mechanism of a few lines:
 * when it is called, and what its answer does. Where an answer changes time, the run must not depend on
 * what is skipped nor on threads. GPU timers: tests/timing/test_gpu_timer.c. Notes: machine.sh. */
#include "script_kit.h"

/* The state of all mechanisms here: a few numbers, which are statistics too. */
enum { COUNTS = 4 };
struct tiny {
    const struct mech_ports *ports;
    uint64_t n[COUNTS];
};
#define N(i) STAT_COUNT(tiny, n[i], "blank.n" #i, "", "for the test", NULL)
static const struct stat_row tiny_stats[] = {N(0), N(1), N(2), N(3), {0}};

/* Where to stop holding something back. */
enum { LATER = 700 };

static void tiny_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    ((struct tiny *)state)->ports = ports;
}

/* Attaches these hooks; init is tiny_init unless they have one. */
static void attach(struct mechanism hooks)
{
    hooks.state_bytes = sizeof(struct tiny);
    hooks.stats = tiny_stats;
    if (!hooks.init) hooks.init = tiny_init;
    blank_fill(hooks);
}

static struct play with_blank(const char *script)
{
    return (struct play){.script = script, .mechs = {blank_file}};
}

/* ---- check ---- */

static enum mech_fit fit_answer;
static uint32_t fit_queue;

static enum mech_fit judge_machine(const void *params, const struct mech_machine *m, char *reason)
{
    fit_queue = m->prefetch_queue;
    snprintf(reason, MECH_REASON_BYTES, "%u SMs of %u warps, %u schedulers, lines of %u", m->sm_count,
             m->warps, m->schedulers, m->line_bytes);
    return fit_answer;
}

/* Makes a machine with the mechanism, and returns whether that went well; *said is what was said of it. */
static bool machine_is_made(struct strbuf *said)
{
    static const char *const sets[] = {"sm.count=3", "sm.prefetch_queue=11"};
    struct diag_list d = {0};
    static struct machine machine;
    assert_true(machine_load("fermi", sets, ARRAY_LEN(sets), &machine, &d));
    const struct emu_limits limits = limits_from_machine(&machine);
    struct emu_device *device = emu_device_create(&limits, 1 << 20);
    struct timed_gpu *gpu =
        timed_create(&machine, device, &(struct timed_options){.mechs = &blank_file, .mech_count = 1}, &d);
    const bool is_made = gpu != NULL;
    diag_render(&d, said);
    diag_free(&d);
    timed_destroy(gpu);
    emu_device_destroy(device);
    return is_made;
}

static void check_warns_of_a_machine_or_refuses_it(void **state)
{
    static const struct {
        enum mech_fit answer;
        bool is_made;
        const char *said;
    } runs[] = {
        {MECH_FITS, true, ""},
        {MECH_FITS_POORLY, true, "warning: mechanism 'blank': 3 SMs of 48 warps, 2 schedulers, lines of 128"},
        {MECH_MISFIT, false, "error: mechanism 'blank': 3 SMs of 48 warps"}};
    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        struct strbuf said = {0};
        attach((struct mechanism){.check = judge_machine});
        fit_answer = runs[i].answer;
        assert_int_equal(machine_is_made(&said), runs[i].is_made);
        assert_non_null(strstr(strbuf_text(&said), runs[i].said));
        if (!*runs[i].said) assert_int_equal(strlen(strbuf_text(&said)), 0);
        assert_int_equal(fit_queue, 11);
        strbuf_free(&said);
    }
}

/* ---- masks ---- */

static uint64_t first_of[MECH_WARPS_MAX], loads_from;

static void see_first_issue(void *state, const struct mech_issue *e)
{
    uint64_t *first = &first_of[e->warp];
    if (!*first) *first = e->cycle;
    if (e->is_load && e->is_global && !loads_from) loads_from = e->cycle;
}

static void hold_warp_1(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    tiny_init(state, gpu_state, params, ports);
    ports->allow_issue(ports->host, 0, ~2ull);
}
static void free_warps(void *state, uint64_t cycle)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    p->allow_issue(p->host, 0, UINT64_MAX);
    p->allow_memory(p->host, 0, UINT64_MAX);
    p->allow_load(p->host, 0, UINT64_MAX);
}

static void allow_issue_holds_a_warp_until_it_is_set_again(void **state)
{
    const struct mechanism hooks = {
        .timer_cycles = LATER, .init = hold_warp_1, .on_timer = free_warps, .on_issue = see_first_issue};
    memset(first_of, 0, sizeof first_of);
    attach(hooks);
    struct play p = with_blank("ab");
    p.block = 64;
    play(&p);
    assert_in_range(first_of[0], 1, 100);
    assert_int_equal(first_of[1], LATER);
    assert_true(stat_of("sm.slots_held") > 0);
    play_close();
    p = with_blank("ab#A_cd");
    expect_same_everywhere(&p);
}

static uint64_t stored_at;
static void see_store(void *state, const struct mech_issue *e)
{
    if (e->is_store && !stored_at) stored_at = e->cycle;
    see_first_issue(state, e);
}
static void hold_memory(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    tiny_init(state, gpu_state, params, ports);
    ports->allow_memory(ports->host, 0, 0);
}
static void hold_loads(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    tiny_init(state, gpu_state, params, ports);
    ports->allow_load(ports->host, 0, 0);
}

static void allow_memory_and_allow_load_hold_such_instructions_alone(void **state)
{
    static const struct {
        void (*init)(void *, void *, const void *, const struct mech_ports *);
        bool holds_stores;
    } rows[] = {{hold_memory, true}, {hold_loads, false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        memset(first_of, 0, sizeof first_of);
        stored_at = loads_from = 0;
        attach((struct mechanism){
            .timer_cycles = LATER, .init = rows[i].init, .on_timer = free_warps, .on_issue = see_store});
        struct play p = with_blank("Aa");
        play(&p);
        play_close();
        assert_in_range(first_of[0], 1, 100);
        assert_true(rows[i].holds_stores == (stored_at >= LATER));
        assert_in_range(loads_from, LATER, LATER + 20);
        p = with_blank("A_ab#*cd");
        expect_same_everywhere(&p);
    }
}

/* ---- launches ---- */

static struct {
    uint64_t launches, starts, launch_cycle[4], starts_before[4];
    bool was_right, was_in_kernel;
    int depth;
} heard[3];

static void see_launch(void *state, const struct mech_launch *e)
{
    const uint32_t sm = ((struct tiny *)state)->ports->sm;
    heard[sm].launch_cycle[heard[sm].launches] = e->cycle;
    heard[sm].starts_before[heard[sm].launches++] = heard[sm].starts;
    heard[sm].was_right = e->launch == heard[sm].launches && !strcmp(e->kernel, "play") &&
                          e->block[0] == 64 && e->grid[0] == 4 * e->launch && e->registers > 4 &&
                          e->ctas_fit == 8;
}
static void see_warp(void *state, const struct mech_warp_event *e)
{
    heard[((struct tiny *)state)->ports->sm].starts += e->is_start;
}
static void see_kernel(void *state, bool is_start)
{
    const uint32_t sm = ((struct tiny *)state)->ports->sm;
    heard[sm].depth += is_start ? 1 : -1;
    heard[sm].was_in_kernel |= is_start;
}

/* Two grids of two streams, which overlap: of each every SM hears before its first CTA, and all of it lies
 * in one kernel of the SM. */
static void on_launch_comes_for_each_grid_and_sm_before_its_first_cta(void **state)
{
    memset(heard, 0, sizeof heard);
    attach((struct mechanism){.on_launch = see_launch, .on_warp = see_warp, .on_kernel = see_kernel});
    struct play p = with_blank("abcdefgh");
    p.sets[0] = "sm.count=3";
    play_open(&p);
    const uint64_t out = rig_alloc(&rig, 4 * 64 * 8);
    rig_launch(&rig, "play", 4, 64, (const uint64_t[]){script_buf, out}, 3);
    rig_launch(&rig, "play", 8, 64, (const uint64_t[]){script_buf, out}, 4);
    rig_sync(&rig);
    uint64_t starts = 0;
    for (int sm = 0; sm < 3; sm++) {
        assert_int_equal(heard[sm].launches, 2);
        assert_true(heard[sm].was_right && heard[sm].was_in_kernel);
        assert_int_equal(heard[sm].depth, 0);
        assert_int_equal(heard[sm].starts_before[0], 0);
        assert_true(heard[sm].starts_before[1] <= 4);
        assert_int_equal(heard[sm].launch_cycle[1], heard[0].launch_cycle[1]);
        starts += heard[sm].starts;
    }
    assert_int_equal(starts, 12 * 2);
    const struct timed_kernel *one = timed_kernel_at(rig.gpu, 0), *two = timed_kernel_at(rig.gpu, 1);
    assert_true(two->start_cycle < one->end_cycle); /* they overlap */
    play_close();
}

/* ---- instructions ---- */

static struct {
    uint32_t pc;
    uint64_t live[MECH_REGISTER_WORDS];
} next_of[MECH_WARPS_MAX];
static uint64_t issues, mistakes, issued_by[MECH_WARPS_MAX];

static bool is_subset(const uint64_t *a, const uint64_t *b)
{
    for (int i = 0; i < MECH_REGISTER_WORDS; i++)
        if (a[i] & ~b[i]) return false;
    return true;
}
static void keep_next(void *state, const struct mech_next *e)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    next_of[e->warp].pc = e->pc;
    memcpy(next_of[e->warp].live, e->live, sizeof next_of[0].live);
    mistakes += memcmp(p->live_registers(p->host, e->warp, e->pc), e->live, sizeof next_of[0].live) != 0;
}
static void compare_issue(void *state, const struct mech_issue *e)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    static const uint64_t none[MECH_REGISTER_WORDS];
    issues++;
    mistakes += next_of[e->warp].pc != e->pc;
    mistakes += !is_subset(e->reads, next_of[e->warp].live);
    mistakes += p->warp_issued(p->host, e->warp) != ++issued_by[e->warp];
    mistakes += e->is_load && e->is_global && is_subset(e->writes, none);
    mistakes += e->is_store && !is_subset(e->writes, none);
}

static void on_next_names_the_instruction_that_issues_and_what_is_live(void **state)
{
    memset(next_of, 0, sizeof next_of);
    memset(issued_by, 0, sizeof issued_by);
    issues = mistakes = 0;
    attach((struct mechanism){.on_next = keep_next, .on_issue = compare_issue});
    struct play p = with_blank("ab#A_!cd");
    p.block = 96;
    play(&p);
    assert_int_equal(issues, stat_of("sm.warp_insts"));
    assert_int_equal(mistakes, 0);
    play_close();
}

static struct mech_issue issue_log[64];
static struct mech_l1_access access_log[256];
static uint32_t issue_count, access_count;

static void log_issue(void *state, const struct mech_issue *e)
{
    if (e->l1_lines && issue_count < ARRAY_LEN(issue_log)) issue_log[issue_count++] = *e;
}
static void log_access(void *state, const struct mech_l1_access *e)
{
    if (access_count < ARRAY_LEN(access_log)) access_log[access_count++] = *e;
}

static void an_access_has_the_id_of_its_instruction(void **state)
{
    static const uint32_t lines[] = {1, 32, 1, 1, 1}; /* a, #, A, *, and the store of the result */
    issue_count = access_count = 0;
    attach((struct mechanism){.on_issue = log_issue, .on_l1_access = log_access});
    struct play p = with_blank("a#A*");
    play(&p);
    assert_int_equal(issue_count, ARRAY_LEN(lines));
    assert_int_equal(access_count, 1 + 32 + 1 + 1 + 1);
    uint32_t at = 0;
    for (uint32_t i = 0; i < issue_count; i++) {
        assert_int_equal(issue_log[i].l1_lines, lines[i]);
        for (uint32_t k = 0; k < lines[i]; k++, at++) {
            const struct mech_l1_access *a = &access_log[at];
            assert_int_equal(a->id, issue_log[i].id);
            assert_int_equal(a->pc, issue_log[i].pc);
            assert_int_equal(a->is_first_line, k == 0);
            assert_int_equal(a->is_store, i == 2 || i == 4);
            assert_int_equal(a->is_atomic, i == 3);
            assert_int_equal(a->outcome, i < 2 ? MECH_L1_MISS : MECH_L1_SENT);
        }
    }
    assert_int_equal(access_log[0].line, line_at('a'));
    assert_int_equal(access_log[0].lane_address, line_at('a'));
    play_close();
}

/* ---- prefetches ---- */

static uint32_t outcomes[4], first_uses, taken, refused;

static void ask_for_b(void *state, const struct mech_l1_access *e)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    if (e->is_prefetch || e->is_store) return;
    first_uses += e->is_first_use;
    for (int i = 0; i < 2; i++) {
        if (p->prefetch(p->host, line_at('b') + 4, 7, 0))
            taken++;
        else
            refused++;
    }
}
static void count_outcome(void *state, const struct mech_prefetch *e)
{
    outcomes[e->outcome]++;
    assert_int_equal(e->line, line_at('b'));
    assert_int_equal(e->pc, 7);
}

/* The queue holds one prefetch and the L1 has one MSHR. When a misses, the first of two prefetches of b waits
 * for the MSHR of a, and is sent when that is free; the second is merged with it. The load of b finds it on
 * its way or there, for the first time. Later ones are merged too, or find b on its way or there. Outcomes
 * that do not occur here: test_prefetch.c. */
static void on_prefetch_says_what_became_of_it(void **state)
{
    memset(outcomes, 0, sizeof outcomes);
    first_uses = taken = refused = 0;
    attach((struct mechanism){.on_l1_access = ask_for_b, .on_prefetch = count_outcome});
    struct play p = with_blank("aabb");
    p.sets[0] = "sm.prefetch_queue=1";
    p.sets[1] = "l1.mshrs=1";
    play(&p);
    assert_int_equal(taken, 8);
    assert_int_equal(refused, 0);
    assert_int_equal(outcomes[MECH_PREFETCH_SENT], 1);
    assert_int_equal(outcomes[MECH_PREFETCH_REDUNDANT], 7);
    assert_int_equal(first_uses, 1);
    expect_stats((struct wanted[]){{"l1.prefetch_issued", 1},
                                   {"l1.prefetch_redundant", 3},
                                   {"sm.prefetches_merged", 4},
                                   {"sm.prefetches", 8},
                                   {0}});
    play_close();
}

/* ---- lines of the L1 ---- */

static struct mech_l1_evict evict_log[16];
static uint32_t evict_count;

static void log_evict(void *state, const struct mech_l1_evict *e)
{
    if (evict_count < ARRAY_LEN(evict_log)) evict_log[evict_count++] = *e;
}
static void shrink_at_d(void *state, const struct mech_l1_access *e)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    if (e->line == line_at('d') && e->outcome == MECH_L1_HIT) p->l1_lines(p->host, 3);
}

/* e replaces a; B drops b; d is hit and the fourth way goes, with what it holds; the rest goes at the end. */
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
    p = with_blank("abcdeBdc#d_abc");
    expect_same_everywhere(&p);
}

/* Of each line: the launch number of the warp whose load brought it. */
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
    attach((struct mechanism){.may_allocate = deny_b});
    p = with_blank("abb#cAb_ab");
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
    attach((struct mechanism){.victim = choose_highest});
    p = with_blank("abcdea#ab_cd#Aab");
    expect_same_everywhere(&p);
}

/* ---- ports of the L1 ---- */

/* In every second cycle it reads a, as soon as that is there. */
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

/* A load that may not miss is offered in each cycle until it may. */
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

/* The load of warp 1, which comes first, is held. Without the queue it holds up warp 0; with it warp 0
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

/* ---- what waits for memory ---- */

/* In every cycle, beside a policy whose view says the same. */
static uint64_t wait_seen, wait_mistakes;
static int pick_first_and_compare(void *state, const struct mech_sched_view *view)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    const uint64_t mine = view->scheduler ? 0xaaaaaaaaaaaaaaaa : 0x5555555555555555;
    wait_mistakes += (p->memory_wait(p->host, view->bank) & mine) != view->memory_wait;
    wait_seen |= view->memory_wait;
    return __builtin_ctzll(view->ready);
}

static void memory_wait_is_that_of_the_view(void **state)
{
    wait_seen = wait_mistakes = 0;
    attach((struct mechanism){.pick = pick_first_and_compare});
    struct play p = with_blank("ab#A_cd*#");
    p.block = 128;
    play(&p);
    assert_int_equal(wait_seen, 0xf);
    assert_int_equal(wait_mistakes, 0);
    play_close();
}

/* ---- the re-execution queue and what the L1 refuses ---- */

static void ask_for_2_reexec(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    tiny_init(state, gpu_state, params, ports);
    ports->reexec_queue(ports->host, 2);
}

/* Two warps bring 32 lines each with one MSHR. The loads that the L1 refuses step aside, so that the load of
 * line a of a warp that is behind, which is there, does not wait for them. */
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

static struct mech_miss miss_answer;
static uint32_t miss_asked;
static void answer_miss(void *state, const struct mech_l1_access *a, uint32_t token, struct mech_miss *answer)
{
    __atomic_fetch_add(&miss_asked, 1, __ATOMIC_RELAXED); /* SMs may run on several threads */
    *answer = miss_answer;
}

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
    assert_int_equal(cycles_with((struct mech_miss){MECH_MISS_HIT, 0}, "ab"), one); /* one at least */
    assert_int_equal(cycles_with((struct mech_miss){MECH_MISS_HIT, 101}, "ab"), one + 2 * 100);
    const uint64_t pass = cycles_with((struct mech_miss){MECH_MISS_PASS, 400}, "ab");
    assert_in_range(pass, alone + 2 * 399, alone + 2 * 402); /* the crossbar has a slower clock */
    /* no line is taken for an answer, so that each load asks again */
    cycles_with((struct mech_miss){MECH_MISS_HIT, 9}, "aaa");
    assert_int_equal(miss_asked, 3);
    cycles_with((struct mech_miss){MECH_MISS_PASS, 9}, "aaa");
    assert_int_equal(miss_asked, 1);
    static const struct mech_miss answers[] = {
        {MECH_MISS_PASS, 0}, {MECH_MISS_PASS, 33}, {MECH_MISS_HIT, 1}, {MECH_MISS_HIT, 77}};
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        miss_answer = answers[i];
        attach((struct mechanism){.take_miss = answer_miss});
        const struct play p = with_blank("ab#A_ca*#d");
        expect_same_everywhere(&p);
    }
}

/* ---- claims ---- */

enum { CLAIM_CYCLES = 50, CLAIMS = 128 };
struct claims {
    const struct mech_ports *ports;
    uint64_t forwards, answers, waits;
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

static void play_claims(struct play p, uint64_t *cycles)
{
    blank_fill((struct mechanism){.state_bytes = sizeof(struct claims),
                                  .stats = claims_stats,
                                  .init = claims_init,
                                  .take_miss = claim,
                                  .on_timer = end_claims});
    play(&p);
    *cycles = rig_cycles(&rig, 0);
}

/* A claim that is answered n cycles later keeps its line, and is otherwise like a hit after n cycles; one
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

/* ---- registers ---- */

static uint32_t rows_taken, rows_lost, lost_from;
static void take_all_rows(void *state, bool is_start)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    uint32_t first;
    if (!is_start) return;
    for (uint32_t row = 0; p->registers_take(p->host, row, 1, &first); row = first + 1) rows_taken++;
    assert_false(p->registers_take(p->host, 0, 1, &first));
    p->registers_give(p->host, 100, 8);
    assert_false(p->registers_take(p->host, 0, 9, &first));
    assert_true(p->registers_take(p->host, 0, 5, &first));
    assert_int_equal(first, 100);
    assert_true(p->registers_take(p->host, 0, 3, &first));
    assert_int_equal(first, 105);
}
static void lose_rows(void *state, const struct mech_rows_lost *e)
{
    lost_from = e->first;
    rows_lost += e->rows;
}

static void a_cta_takes_rows_that_a_mechanism_has(void **state)
{
    rows_taken = rows_lost = 0;
    attach((struct mechanism){
        .owns = MECH_OWNS_REGISTERS, .on_kernel = take_all_rows, .on_rows_lost = lose_rows});
    struct play p = with_blank("a");
    p.sets[0] = "sm.register_unit=512";
    p.block = 96;
    play(&p);
    assert_int_equal(rows_taken, 32768 / 32);
    assert_int_equal(rows_lost, 3 * 16);
    assert_int_equal(lost_from, 0);
    play_close();
}

/* The bank of row 5 twice, another one once, in a cycle in which no instruction reads or writes registers. */
static void ask_for_banks(void *state, uint64_t cycle)
{
    struct tiny *t = state;
    if (cycle != LATER) return;
    t->n[0] = t->ports->bank_access(t->ports->host, 5, false);
    t->n[1] = t->ports->bank_access(t->ports->host, 5 + t->ports->register_banks, true);
    t->n[2] = t->ports->bank_access(t->ports->host, 6, true);
}

static void a_bank_is_given_once_in_a_cycle(void **state)
{
    attach((struct mechanism){.timer_cycles = LATER, .on_timer = ask_for_banks});
    const struct play p = with_blank("abcdefgh"); /* it waits for a load at that time */
    play_and_expect(&p, (struct wanted[]){{"blank.n0", 1}, {"blank.n1", 0}, {"blank.n2", 1}, {0}});
}

/* In every cycle it asks for bank after bank: instructions come first. */
static void ask_for_a_bank(void *state, const struct mech_issue *e)
{
    struct tiny *t = state;
    for (uint32_t i = 0; i < t->ports->register_banks; i++)
        t->n[t->ports->bank_access(t->ports->host, i, false)]++;
}
static void operands_have_their_banks_first(void **state)
{
    attach((struct mechanism){.on_issue = ask_for_a_bank});
    struct play p = with_blank("ab#A_cd*#");
    p.block = 256;
    const struct play without = {.script = p.script, .block = p.block};
    const uint64_t alone = play_cycles(&without);
    play(&p);
    assert_true(stat_of("blank.n0") > 0 && stat_of("blank.n1") > 0);
    assert_int_equal(rig_cycles(&rig, 0), alone);
    play_close();
    expect_same_everywhere(&p);
}

/* ---- CTAs ---- */

static uint32_t resident, resident_peak[3], phase;
static void count_ctas(void *state, const struct mech_warp_event *e)
{
    resident += e->is_start ? 1u : -1u;
    if (resident > resident_peak[phase]) resident_peak[phase] = resident;
}
static void limit_to_2(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    tiny_init(state, gpu_state, params, ports);
    ports->limit_ctas(ports->host, 2);
}
static void limit_to_6_then_1(void *state, uint64_t cycle)
{
    struct tiny *t = state;
    const uint64_t calls = ++t->n[0];
    if (calls <= 2) t->ports->limit_ctas(t->ports->host, calls == 1 ? 6 : 1);
}
static void count_phases(void *state, uint64_t cycle)
{
    limit_to_6_then_1(state, cycle);
    if (phase < 2) phase++;
    resident_peak[phase] = phase == 2 ? 0 : resident;
}

/* Two CTAs at first, six from the first timer on, none more while one is resident from the second on. A
 * CTA has one warp. */
static void residency_follows_limit_ctas(void **state)
{
    resident = phase = 0;
    memset(resident_peak, 0, sizeof resident_peak);
    attach((struct mechanism){
        .timer_cycles = LATER, .init = limit_to_2, .on_timer = count_phases, .on_warp = count_ctas});
    struct play p = with_blank("abcde");
    p.grid = 20;
    play(&p);
    assert_int_equal(resident_peak[0], 2);
    assert_int_equal(resident_peak[1], 6);
    assert_int_equal(resident, 0);
    assert_true(resident_peak[2] <= 6);
    play_close();
    attach((struct mechanism){.timer_cycles = LATER, .init = limit_to_2, .on_timer = limit_to_6_then_1});
    p = with_blank("ab#A_cd*#");
    p.grid = 24;
    expect_same_everywhere(&p);
}

/* ---- counters ---- */

static struct mech_counters at_end;
static uint64_t fill_cycles;
static void read_counters(void *state, bool is_start)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    if (!is_start) at_end = *p->counters(p->host);
}
static void sum_latency(void *state, const struct mech_l1_fill *e) { fill_cycles += e->latency_cycles; }

/* Of the second kernel alone: a to e miss, a hits twice, 32 lines miss; A and the result are stores. */
static void counters_are_those_of_the_kernel(void **state)
{
    attach((struct mechanism){.on_kernel = read_counters, .on_l1_fill = sum_latency});
    struct play p = with_blank("abaacde#A");
    p.sets[0] = "l1.size=8K";
    play(&p);
    fill_cycles = 0;
    rig_run(&rig, "play", 1, 32, (const uint64_t[]){script_buf, rig_alloc(&rig, 128)});
    assert_int_equal(at_end.load_accesses, 7 + 32);
    assert_int_equal(at_end.load_hits, 2);
    assert_int_equal(at_end.load_pending, 0);
    assert_int_equal(at_end.load_misses, 5 + 32);
    assert_int_equal(at_end.l1_accesses, 7 + 32 + 2);
    assert_int_equal(at_end.l1_hits, 2);
    assert_int_equal(at_end.l1_intra_warp_hits, 2);
    assert_int_equal(at_end.l1_misses, 5 + 32);
    assert_int_equal(at_end.loads, 8);
    assert_int_equal(at_end.issued, rig_stat(&rig, 1, "sm.warp_insts"));
    assert_int_equal(at_end.misses_done, 5 + 32);
    assert_int_equal(at_end.miss_latency_sum, fill_cycles);
    assert_int_equal(at_end.l1_stall_cycles, rig_stat(&rig, 1, "l1.stall_cycles"));
    assert_int_equal(at_end.reply_busy, rig_stat(&rig, 1, "l1.replies"));
    assert_true(at_end.miss_queue_busy >= 5 + 32 && at_end.miss_queue_busy < at_end.cycles);
    /* the kernel ends for the machine when its last stores are done */
    assert_in_range(at_end.cycles, rig_cycles(&rig, 1) - 200, rig_cycles(&rig, 1));
    play_close();
}

/* ---- memory ---- */

static bool was_zero;
static void fill_memory(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    enum { BYTES = 100000 };
    unsigned char *block = ports->memory(ports->host, BYTES);
    tiny_init(state, gpu_state, params, ports);
    for (int i = 0; i < BYTES; i++) {
        was_zero &= block[i] == 0;
        block[i] = 1;
    }
}
static void memory_is_zeroed_for_each_sm(void **state)
{
    was_zero = true;
    attach((struct mechanism){.init = fill_memory});
    struct play p = with_blank("a");
    p.sets[0] = "sm.count=3";
    play(&p);
    assert_true(was_zero);
    play_close();
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(check_warns_of_a_machine_or_refuses_it),
        RIG_TEST(allow_issue_holds_a_warp_until_it_is_set_again),
        RIG_TEST(allow_memory_and_allow_load_hold_such_instructions_alone),
        RIG_TEST(on_launch_comes_for_each_grid_and_sm_before_its_first_cta),
        RIG_TEST(on_next_names_the_instruction_that_issues_and_what_is_live),
        RIG_TEST(an_access_has_the_id_of_its_instruction),
        RIG_TEST(on_prefetch_says_what_became_of_it),
        RIG_TEST(a_line_leaves_for_one_of_four_causes),
        RIG_TEST(an_eviction_names_the_warp_that_brought_the_line),
        RIG_TEST(a_line_that_may_not_be_allocated_is_not_kept),
        RIG_TEST(on_l1_level_tells_mshrs_and_queue),
        RIG_TEST(the_policy_chooses_the_line_that_leaves),
        RIG_TEST(l1_read_takes_a_port_from_the_load_store_unit),
        RIG_TEST(may_miss_holds_a_load_before_the_l1),
        RIG_TEST(what_may_not_miss_waits_beside_the_load_store_unit),
        RIG_TEST(memory_wait_is_that_of_the_view),
        RIG_TEST(what_the_l1_refuses_steps_aside),
        RIG_TEST(take_miss_delays_or_answers),
        RIG_TEST(a_claimed_miss_is_answered_or_goes_on),
        RIG_TEST(a_cta_takes_rows_that_a_mechanism_has),
        RIG_TEST(a_bank_is_given_once_in_a_cycle),
        RIG_TEST(operands_have_their_banks_first),
        RIG_TEST(residency_follows_limit_ctas),
        RIG_TEST(counters_are_those_of_the_kernel),
        RIG_TEST(memory_is_zeroed_for_each_sm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
