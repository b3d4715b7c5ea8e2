/* test_mech_hooks.c: each hook and port of the interface on a machine, with a mechanism of a few lines:
 * when it is called, and what its answer does. Where an answer changes time, the run must not depend on
 * what is skipped nor on threads. The others:
 *
 *   the L1                                  test_mech_l1.c, test_mech_misses.c; prefetches: test_prefetch.c
 *   what an instruction is told of          test_mech_issue.c
 *   ports that say something of the SM      test_mech_ports.c
 *   barriers, stalls, GPU timers            test_mech_events.c, timing/test_gpu_timer.c
 *   the SMs' ring, copies in other L1s      test_mech_ring.c, test_mech_copies.c
 *   admit, CTAs without slots               test_mech_ctas.c, test_cta_swap.c, test_contexts.c
 *   transfers of registers, free rows       test_transfer.c, test_cta_away.c, test_shared_rows.c
 *   slices of the L2, SMs in cache mode     test_mech_slices.c
 *   what is stored, notes                   test_storage.c, machine.sh */
#include "hooks_kit.h"

/* The cycle at which a test stops holding something back. */
enum { LATER = 700 };

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

/* Makes a machine with the mechanism, and returns whether that succeeded; *said is the text of the
 * diagnostics. */
static bool machine_is_made(struct strbuf *said)
{
    static const char *const sets[] = {"sm.count=3", "sm.prefetch_queue=11"};
    struct diag_list d = {0};
    static struct machine machine;
    assert_true(machine_load("fermi", sets, ARRAY_LEN(sets), &machine, &d));
    const struct emu_limits limits = limits_from_machine(&machine);
    struct emu_device *device = emu_device_create(&limits, 1 << 20);
    struct timed_gpu *gpu = timed_create(
        &machine, device,
        &(struct timed_options){.mechs = &blank_file, .mech_count = 1, .compile = helper_compile}, &d);
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

/* ---- a helper kernel that fails ---- */

/* The last three of eight SMs. */
static uint32_t some_cache_sms(const void *params, uint32_t sm_count) { return (sm_count - 1) / 2; }

/* Loads that a waiting warp has parked: struct mech_helper. */
static uint32_t window_loads = 1;

/* Traps in thread 40 of the CTA on the second SM in cache mode. */
static size_t trapping_helper(const void *params, struct mech_helper *helper, char *ptx, size_t room)
{
    *helper = (struct mech_helper){.parts = {{.entry = "waits", .warps = 4}},
                                   .part_count = 1,
                                   .window_lines = 1,
                                   .window_loads = window_loads};
    return (size_t)snprintf(ptx, room, "%s",
                            ".version 7.0\n.target sm_70\n.address_size 64\n"
                            ".visible .entry waits(.param .u64 table)\n{\n"
                            ".reg .u32 %i, %t, %n; .reg .pred %p;\n"
                            "mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x;\n"
                            "mad.lo.u32 %i, %i, %n, %t; setp.eq.u32 %p, %i, 168; @%p trap; ret;\n}\n");
}

static void no_slice_init(void *state, const void *params, const struct mech_slice_ports *ports) {}
static enum mech_take pass_all(void *state, const struct mech_request *r) { return MECH_PASS; }
static void see_no_dram(void *state, uint64_t cycle, uint32_t tag) {}
static void retire_nobody(void *state) {}

static void attach_helper(void)
{
    attach((struct mechanism){.slice_state_bytes = sizeof(struct tiny),
                              .cache_sms = some_cache_sms,
                              .helper = trapping_helper,
                              .slice_init = no_slice_init,
                              .take_request = pass_all,
                              .on_dram = see_no_dram,
                              .on_retire = retire_nobody});
}

/* The machine is idle when all waiting loads are parked: if the helper declared none, the machine would be
 * idle while the helper works. */
static void a_helper_that_parks_no_load_is_refused(void **state)
{
    for (window_loads = 0; window_loads < 2; window_loads++) {
        struct strbuf said = {0};
        attach_helper();
        assert_int_equal(machine_is_made(&said), window_loads);
        if (!window_loads)
            assert_non_null(strstr(strbuf_text(&said), "mechanism 'blank': a warp of its helper kernel waits "
                                                       "for work without a load that is parked"));
        strbuf_free(&said);
    }
    window_loads = 1;
}

/* Warp 4 + 1 of all: with four slices it is the second warp of the second slice. */
static void a_fault_of_a_helper_says_whose_it_is_and_where(void **state)
{
    attach_helper();
    struct play p = with_blank("abcdefgh");
    p.sets[0] = "sm.count=8";
    p.sets[1] = "addr.channels=2";
    p.sets[2] = "addr.slices=2";
    play_open(&p);
    const uint64_t out = rig_alloc(&rig, 128);
    rig_launch(&rig, "play", 1, 32, (const uint64_t[]){script_buf, out}, 0);
    assert_int_not_equal(timed_sync(rig.gpu, UINT64_MAX, &rig.fault), EMU_OK);
    const char *said = timed_report(rig.gpu);
    assert_non_null(strstr(said, "kernel 'waits'"));
    if (!strstr(said, "it is the helper kernel of mechanism 'blank', SM 6, warp 1 of L2 slice 1\n"))
        fail_msg("%s", said);
    play_close();
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

/* ---- pick ---- */

static uint64_t picks, pick_mistakes, issues_seen, asked_in[MECH_SCHEDULERS_MAX];
static struct {
    int warp, last;
    uint64_t cycle;
} picked[MECH_SCHEDULERS_MAX];

static int pick_highest(void *state, const struct mech_sched_view *view)
{
    const uint32_t i = view->scheduler;
    const int warp = 63 - __builtin_clzll(view->ready);
    pick_mistakes += !view->ready || view->ready & ~(view->resident & view->allowed);
    pick_mistakes += view->cycle <= asked_in[i];
    pick_mistakes += view->last != picked[i].last;
    asked_in[i] = view->cycle;
    picked[i].warp = picked[i].last = warp;
    picked[i].cycle = view->cycle;
    picks++;
    return warp;
}
static void compare_with_pick(void *state, const struct mech_issue *e)
{
    pick_mistakes += e->warp != picked[e->scheduler].warp || e->cycle != picked[e->scheduler].cycle;
    issues_seen++;
}

static int pick_highest_alone(void *state, const struct mech_sched_view *view)
{
    struct tiny *t = state;
    t->n[0] += view->cycle * view->ready;
    t->n[1] += view->cycle * (view->memory_next + view->load_next);
    t->n[2] += view->cycle * (view->resident + view->memory_wait + view->barrier_wait);
    t->n[3] += (uint64_t)(view->last + 2);
    return 63 - __builtin_clzll(view->ready);
}

/* Each scheduler asks at most once a cycle, and only with warps that can issue; the warp of the answer issues
 * in that cycle, and is `last` from then on. */
static void the_warp_that_pick_answers_issues_in_that_cycle(void **state)
{
    picks = pick_mistakes = issues_seen = 0;
    memset(asked_in, 0, sizeof asked_in);
    for (uint32_t i = 0; i < MECH_SCHEDULERS_MAX; i++) picked[i].last = picked[i].warp = MECH_NO_WARP;
    attach((struct mechanism){.pick = pick_highest, .on_issue = compare_with_pick});
    struct play p = with_blank("ab#A_cd*#");
    p.block = 256;
    play(&p);
    assert_int_equal(pick_mistakes, 0);
    assert_true(picks > 100);
    assert_int_equal(picks, stat_of("sm.slots_issued"));
    assert_int_equal(issues_seen, stat_of("sm.warp_insts"));
    play_close();
    attach((struct mechanism){.pick = pick_highest_alone});
    expect_same_everywhere(&p);
}

/* Warp 1 does not get a slot before LATER. */
static int pick_warp_0_first(void *state, const struct mech_sched_view *view)
{
    struct tiny *t = state;
    uint64_t ready = view->ready;
    if (view->cycle < LATER) ready &= ~2ull;
    if (ready) return __builtin_ctzll(ready);
    t->n[0]++;
    t->n[1] += view->cycle;
    return MECH_NO_WARP;
}

/* In the meantime its scheduler asks again in each cycle. Each of these slots is charged to the policy's
 * choice, although warp 0 waits for memory. */
static void a_slot_that_pick_leaves_empty_is_held(void **state)
{
    memset(first_of, 0, sizeof first_of);
    attach((struct mechanism){.pick = pick_warp_0_first, .on_issue = see_first_issue});
    struct play p = with_blank("ab");
    p.block = 64;
    p.sets[0] = "sm.schedulers=1";
    play(&p);
    assert_in_range(first_of[0], 1, 100);
    assert_int_equal(first_of[1], LATER);
    assert_in_range(stat_of("blank.n0"), LATER / 2, LATER);
    assert_int_equal(stat_of("sm.slots_held"), stat_of("blank.n0"));
    play_close();
    attach((struct mechanism){.pick = pick_warp_0_first});
    p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
}

/* ---- what the view says ---- */

/* The masks of the newest view of a scheduler; the warps that wait at a barrier. */
static uint64_t told_memory[MECH_SCHEDULERS_MAX], told_load[MECH_SCHEDULERS_MAX], at_barrier;
static uint64_t view_mistakes, memory_issues, load_issues, barrier_views;

static int pick_and_keep_view(void *state, const struct mech_sched_view *view)
{
    told_memory[view->scheduler] = view->memory_next;
    told_load[view->scheduler] = view->load_next;
    barrier_views += view->barrier_wait != 0;
    view_mistakes += (at_barrier & view->resident) != view->barrier_wait;
    view_mistakes += (view->ready & (view->memory_wait | view->barrier_wait)) != 0;
    return __builtin_ctzll(view->ready);
}
static void compare_with_view(void *state, const struct mech_issue *e)
{
    const bool is_memory = e->is_global || e->is_local, is_load = is_memory && e->is_load;
    view_mistakes += (told_memory[e->scheduler] >> e->warp & 1) != is_memory;
    view_mistakes += (told_load[e->scheduler] >> e->warp & 1) != is_load;
    memory_issues += is_memory;
    load_issues += is_load;
}
static void keep_barrier(void *state, const struct mech_barrier *e)
{
    at_barrier = e->is_wait ? at_barrier | e->warps : at_barrier & ~e->warps;
}

/* What a warp issues is what the view said that it would; who waits at a barrier is as on_barrier told. */
static void the_view_says_what_warps_issue_and_wait_for(void **state)
{
    view_mistakes = memory_issues = load_issues = barrier_views = at_barrier = 0;
    attach((struct mechanism){
        .pick = pick_and_keep_view, .on_issue = compare_with_view, .on_barrier = keep_barrier});
    struct play p = with_blank("ab$_#A_cd*_#");
    p.block = 256;
    play(&p);
    play_close();
    assert_true(load_issues > 0 && memory_issues > load_issues && barrier_views > 0);
    assert_int_equal(view_mistakes, 0);
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

/* The same in the state of the SM, for runs on several threads. */
static void sum_launch(void *state, const struct mech_launch *e)
{
    ((struct tiny *)state)->n[0] += e->cycle + e->launch * e->ctas_fit;
}

/* Two grids of two streams, which overlap: every SM is told of each grid before the first CTA of the grid,
 * and within one kernel of the SM. */
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
    attach((struct mechanism){.on_launch = sum_launch});
    p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
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

static void sum_next(void *state, const struct mech_next *e)
{
    struct tiny *t = state;
    t->n[0] += e->cycle * (uint64_t)(e->warp + 1);
    t->n[1] += e->pc + e->live[0];
    t->n[2] += e->cycle * t->ports->warp_issued(t->ports->host, e->warp);
    t->n[3] += e->cycle + t->ports->live_registers(t->ports->host, e->warp, e->pc)[0];
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
    attach((struct mechanism){.on_next = sum_next});
    p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
}

static struct mech_issue issue_log[64];
static uint32_t issue_count;

static void log_issue(void *state, const struct mech_issue *e)
{
    if (e->l1_lines && issue_count < ARRAY_LEN(issue_log)) issue_log[issue_count++] = *e;
}

static void sum_issue_ids(void *state, const struct mech_issue *e)
{
    ((struct tiny *)state)->n[0] += e->cycle * e->id;
}
static void sum_access_ids(void *state, const struct mech_l1_access *e)
{
    ((struct tiny *)state)->n[1] += e->cycle * e->id;
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
    attach((struct mechanism){.on_issue = sum_issue_ids, .on_l1_access = sum_access_ids});
    p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
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

static void ask_for_b_alone(void *state, const struct mech_l1_access *e)
{
    struct tiny *t = state;
    if (!e->is_prefetch && !e->is_store) t->n[3] += t->ports->prefetch(t->ports->host, line_at('b'), 7, 0);
}
static void sum_outcome(void *state, const struct mech_prefetch *e)
{
    struct tiny *t = state;
    t->n[0] += e->cycle;
    t->n[1] += e->outcome * (e->cycle + 1);
}

/* The queue holds one prefetch and the L1 has one MSHR. When a misses, the first of two prefetches of b waits
 * for the MSHR of a, and is sent when that is free; the second is merged with it. The load of b finds the
 * line on its way or in the L1, as its first use. Later prefetches are merged too, or find b on its way or in
 * the L1. Outcomes that do not occur here: test_prefetch.c. */
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
    attach((struct mechanism){.on_l1_access = ask_for_b_alone, .on_prefetch = sum_outcome});
    p = with_blank("a#bA_cb*#");
    expect_same_everywhere(&p);
}

/* ---- what waits for memory ---- */

/* Checked in every cycle, beside a policy whose view has the same mask. */
static uint64_t wait_seen, wait_mistakes;
static int pick_first_and_compare(void *state, const struct mech_sched_view *view)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    const uint64_t mine = view->scheduler ? 0xaaaaaaaaaaaaaaaa : 0x5555555555555555;
    wait_mistakes += (p->memory_wait(p->host, view->bank) & mine) != view->memory_wait;
    wait_seen |= view->memory_wait;
    return __builtin_ctzll(view->ready);
}

static int pick_first_and_sum(void *state, const struct mech_sched_view *view)
{
    struct tiny *t = state;
    t->n[0] += view->cycle * (t->ports->memory_wait(t->ports->host, view->bank) + 1);
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
    attach((struct mechanism){.pick = pick_first_and_sum});
    p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
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

static void take_rows(void *state, bool is_start)
{
    struct tiny *t = state;
    uint32_t first;
    if (!is_start) return;
    for (uint32_t row = 0; t->ports->registers_take(t->ports->host, row, 1, &first); row = first + 1)
        t->n[0]++;
    if (t->n[0] > 8) t->ports->registers_give(t->ports->host, 4, 2);
}
static void sum_lost(void *state, const struct mech_rows_lost *e)
{
    struct tiny *t = state;
    t->n[1] += e->rows;
    t->n[2] += e->cycle * (e->first + 1);
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
    attach((struct mechanism){.owns = MECH_OWNS_REGISTERS, .on_kernel = take_rows, .on_rows_lost = sum_lost});
    p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
}

/* Asks for the bank of row 5 twice, and for another bank once, in a cycle in which no instruction reads or
 * writes registers. */
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
    struct play p = with_blank("abcdefgh"); /* it waits for a load at that time */
    play_and_expect(&p, (struct wanted[]){{"blank.n0", 1}, {"blank.n1", 0}, {"blank.n2", 1}, {0}});
    p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
}

/* Asks for bank after bank in every cycle: instructions have priority. */
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

/* Two CTAs at first, six from the first timer on, no further CTA while one is resident from the second timer
 * on. A CTA has one warp. */
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

static void limit_to_1_or_4(void *state, uint64_t cycle)
{
    struct tiny *t = state;
    t->ports->limit_ctas(t->ports->host, ++t->n[0] % 2 ? 1 : 4);
}

/* The limit rises in cycles that an SM runs before the others; CTAs that end elsewhere make the dispatcher
 * look at all SMs in the meantime. No CTA comes before the cycle in which the limit rose. */
static void a_limit_that_rises_ahead_of_time_lets_nobody_in_early(void **state)
{
    static const char *const scripts[] = {"abcd", "a#b#A_cd*#", "aaaaaaaa", "*#*#"};
    for (uint32_t i = 0; i < ARRAY_LEN(scripts); i++) {
        attach((struct mechanism){.timer_cycles = 13, .init = limit_to_2, .on_timer = limit_to_1_or_4});
        struct play p = with_blank(scripts[i]);
        p.grid = 96;
        expect_same_everywhere(&p);
    }
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

static void sum_counters(void *state, bool is_start)
{
    struct tiny *t = state;
    const struct mech_counters *c = t->ports->counters(t->ports->host);
    if (is_start) return;
    t->n[0] += c->cycles + c->issued + c->loads;
    t->n[1] += c->load_accesses + 3 * c->load_hits + 5 * c->load_pending + 7 * c->load_misses;
    t->n[2] += c->l1_accesses + 3 * c->l1_hits + 5 * c->l1_intra_warp_hits + 7 * c->l1_stall_cycles;
    t->n[3] += c->miss_latency_sum + 3 * c->miss_queue_busy + 5 * c->reply_busy;
}

/* Counts of the second kernel only: a to e miss, a hits twice, 32 lines miss; A and the result are stores. */
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
    attach((struct mechanism){.on_kernel = sum_counters});
    p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
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
        RIG_TEST(the_warp_that_pick_answers_issues_in_that_cycle),
        RIG_TEST(a_slot_that_pick_leaves_empty_is_held),
        RIG_TEST(the_view_says_what_warps_issue_and_wait_for),
        RIG_TEST(a_helper_that_parks_no_load_is_refused),
        RIG_TEST(a_fault_of_a_helper_says_whose_it_is_and_where),
        RIG_TEST(on_launch_comes_for_each_grid_and_sm_before_its_first_cta),
        RIG_TEST(on_next_names_the_instruction_that_issues_and_what_is_live),
        RIG_TEST(an_access_has_the_id_of_its_instruction),
        RIG_TEST(on_prefetch_says_what_became_of_it),
        RIG_TEST(memory_wait_is_that_of_the_view),
        RIG_TEST(a_cta_takes_rows_that_a_mechanism_has),
        RIG_TEST(a_bank_is_given_once_in_a_cycle),
        RIG_TEST(operands_have_their_banks_first),
        RIG_TEST(residency_follows_limit_ctas),
        RIG_TEST(a_limit_that_rises_ahead_of_time_lets_nobody_in_early),
        RIG_TEST(counters_are_those_of_the_kernel),
        RIG_TEST(memory_is_zeroed_for_each_sm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
