/* test_mech_slices.c: the hooks and ports of SMs in cache mode and of the L2's slices, each with a mechanism
 * of a few lines: the helper kernel waits for a word of its window that is not 0, and ends.
 * timing/test_morpheus.c tests a mechanism with all of them. */
#include "hooks_kit.h"

enum { CACHE_SMS = 2, LOADS = 64, WORD = 4 };

/* State of a slice. Its counts are the statistics of the mechanism. */
struct slice {
    struct tiny counts;
    const struct mech_slice_ports *ports;
    /* loads of the window that wait */
    uint32_t tokens[LOADS], windows[LOADS], load_count;
    /* a request of the program that is claimed */
    uint32_t claimed;
    uint32_t before;
    uint64_t claimed_line;
    bool has_retired;
};

/* ---- the helper ---- */

static uint32_t two_cache_sms(const void *params, uint32_t sm_count) { return CACHE_SMS; }
static uint32_t one_cache_sm(const void *params, uint32_t sm_count) { return 1; }

static size_t waiting_helper(const void *params, struct mech_helper *helper, char *ptx, size_t room)
{
    *helper = (struct mech_helper){
        .parts = {{.entry = "waits", .warps = 2}}, .part_count = 1, .window_lines = 1, .window_loads = 1};
    return (size_t)snprintf(ptx, room, "%s",
                            ".version 7.0\n.target sm_70\n.address_size 64\n"
                            ".visible .entry waits(.param .u64 table)\n{\n"
                            ".reg .b64 %row; .reg .b32 %x, %n, %t; .reg .pred %p;\n"
                            "ld.param.u64 %row, [table]; mov.u32 %x, %ctaid.x; mov.u32 %n, %ntid.x;\n"
                            "mov.u32 %t, %tid.x; mad.lo.u32 %x, %x, %n, %t; shr.u32 %x, %x, 5;\n"
                            "mad.wide.u32 %row, %x, 8, %row; ld.global.cg.u64 %row, [%row];\n"
                            "next: ld.volatile.global.u32 %x, [%row];\n"
                            "setp.eq.u32 %p, %x, 0; @%p bra.uni next;\nret;\n}\n");
}

static void slice_begin(void *state, const void *params, const struct mech_slice_ports *ports)
{
    struct slice *s = state;
    s->ports = ports;
    s->load_count = 0;
    s->has_retired = false;
    s->claimed = UINT32_MAX;
}

/* A load of the window gets the word, which is not 0: its warp ends. */
static void answer_load(struct slice *s, uint32_t token, uint32_t window)
{
    memset(s->ports->window(s->ports->host, window), 1, WORD);
    s->ports->apply(s->ports->host, token);
    s->ports->reply(s->ports->host, token);
}
static void slice_retire(void *state)
{
    struct slice *s = state;
    s->has_retired = true;
    while (s->load_count) {
        s->load_count--;
        answer_load(s, s->tokens[s->load_count], s->windows[s->load_count]);
    }
}

static bool parks = true;
static enum mech_take take_window(struct slice *s, const struct mech_request *r)
{
    if (s->has_retired) {
        answer_load(s, r->token, r->window);
        return MECH_CLAIM;
    }
    assert_true(s->load_count < LOADS);
    s->windows[s->load_count] = r->window;
    s->tokens[s->load_count++] = r->token;
    if (parks) s->ports->park(s->ports->host, r->token);
    return MECH_CLAIM;
}

static enum mech_take pass_program(void *state, const struct mech_request *r)
{
    return r->is_window ? take_window(state, r) : MECH_PASS;
}
static void ignore_dram(void *state, uint64_t cycle, uint32_t tag) {}

/* The machine has two SMs that compute. */
static struct play with_slices(struct mechanism hooks, const char *script)
{
    hooks.slice_state_bytes = sizeof(struct slice);
    if (!hooks.cache_sms) hooks.cache_sms = two_cache_sms;
    hooks.helper = waiting_helper;
    if (!hooks.slice_init) hooks.slice_init = slice_begin;
    hooks.on_retire = slice_retire;
    if (!hooks.take_request) hooks.take_request = pass_program;
    if (!hooks.on_dram) hooks.on_dram = ignore_dram;
    attach(hooks);
    blank->state_bytes = 0;
    blank->init = NULL;
    struct play p = with_blank(script);
    p.sets[0] = "sm.count=4";
    p.sets[1] = "addr.channels=2";
    p.sets[2] = "addr.slices=1";
    return p;
}

/* The machines of expect_same_everywhere have three SMs and two. */
static void expect_same_slices(struct mechanism hooks)
{
    hooks.cache_sms = one_cache_sm;
    const struct play p = with_slices(hooks, "ab#A_cd*#");
    expect_same_everywhere(&p);
}

static void run_again(void)
{
    rig_run(&rig, "play", 1, 32, (const uint64_t[]){script_buf, rig_alloc(&rig, 128)});
}

/* ---- cache_sms ---- */

static const char where_ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                ".visible .entry where(.param .u64 buf)\n{\n.reg .u64 %a, %b; .reg .u32 %i;\n"
                                "mov.u32 %i, %smid; mul.wide.u32 %b, %i, 4; ld.param.u64 %a, [buf];\n"
                                "add.u64 %b, %a, %b; red.global.add.u32 [%b], 1;\nret;\n}\n";

/* The last two of four SMs get no CTA of the program. */
static void sms_in_cache_mode_get_no_cta(void **state)
{
    enum { CTAS = 20, SMS = 4 };
    const struct play p = with_slices((struct mechanism){0}, "");
    rig_open(
        &rig, where_ptx,
        &(struct rig_options){.sets = p.sets, .set_count = 3, .timed = {.mechs = p.mechs, .mech_count = 1}});
    const uint64_t buf = rig_alloc(&rig, SMS * WORD);
    rig_run(&rig, "where", CTAS, 32, (const uint64_t[]){buf});
    const uint32_t *threads = (const uint32_t *)(uintptr_t)buf;
    assert_int_equal(threads[0] + threads[1], CTAS * 32);
    assert_true(threads[0] > 0 && threads[1] > 0);
    assert_int_equal(threads[2] + threads[3], 0);
    play_close();
}

/* ---- park ---- */

/* A machine whose helper waits for work is idle; one whose helper waits for an answer is stuck. */
static void a_parked_load_waits_for_work(void **state)
{
    struct play p = with_slices((struct mechanism){0}, "ab");
    play(&p);
    play_close();
    expect_same_slices((struct mechanism){0});
    p = with_slices((struct mechanism){0}, "ab");
    parks = false;
    play_open(&p);
    rig_launch(&rig, "play", 1, 32, (const uint64_t[]){script_buf, rig_alloc(&rig, 128)}, 0);
    assert_int_not_equal(timed_sync(rig.gpu, UINT64_MAX, &rig.fault), EMU_OK);
    parks = true;
    play_close();
}

/* ---- apply ---- */

static uint32_t word_of(const struct slice *s, uint64_t line)
{
    return *(const uint32_t *)(const void *)s->ports->line(s->ports->host, line);
}

/* Claims the atomic, applies it at once and answers it when a read of DRAM is back. */
static enum mech_take take_atomic(void *state, const struct mech_request *r)
{
    struct slice *s = state;
    if (r->is_window) return take_window(s, r);
    if (r->kind != MECH_ATOMIC || s->claimed != UINT32_MAX) return MECH_PASS;
    s->claimed = r->token;
    s->claimed_line = r->line;
    s->counts.n[0]++;
    s->before = word_of(s, r->line);
    s->ports->apply(s->ports->host, r->token);
    s->counts.n[1] += word_of(s, r->line) - s->before;
    s->ports->dram_read(s->ports->host, r->line, r->sectors, 5);
    return MECH_CLAIM;
}
static void answer_atomic(void *state, uint64_t cycle, uint32_t tag)
{
    struct slice *s = state;
    assert_int_equal(tag, 5);
    s->counts.n[2] += word_of(s, s->claimed_line) - s->before;
    s->ports->reply(s->ports->host, s->claimed);
    s->claimed = UINT32_MAX;
}

/* The script's atomic adds 0, so this test has its own kernel: each lane adds 1 to one word. */
static const char add_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry add(.param .u64 buf)\n{\n.reg .u64 %b; .reg .u32 %v;\n"
    "ld.param.u64 %b, [buf]; atom.global.add.u32 %v, [%b], 1; st.global.u32 [%b+128], %v;\nret;\n}\n";

/* The atomic takes effect once, at the end of the step, long before the reply. */
static void a_claimed_atomic_takes_effect_when_it_is_applied(void **state)
{
    const struct play p =
        with_slices((struct mechanism){.take_request = take_atomic, .on_dram = answer_atomic}, "");
    rig_open(
        &rig, add_ptx,
        &(struct rig_options){.sets = p.sets, .set_count = 3, .timed = {.mechs = p.mechs, .mech_count = 1}});
    const uint64_t buf = rig_alloc(&rig, 256);
    rig_run(&rig, "add", 1, 32, (const uint64_t[]){buf});
    assert_int_equal(*(const uint32_t *)(uintptr_t)buf, 32);
    expect_stats((struct wanted[]){{"blank.n0", 1}, {"blank.n1", 0}, {"blank.n2", 32}, {0}});
    play_close();
    expect_same_slices((struct mechanism){.take_request = take_atomic, .on_dram = answer_atomic});
}

/* ---- MECH_WAIT ---- */

/* While a line is on its way from DRAM for the mechanism, requests of the program wait; those of the helper
 * go on. */
struct waiting_slice {
    struct slice slice;
    bool reads;
    uint64_t asked_again, came_at;
};
static uint64_t waits, early, late, window_requests_in_wait;

static enum mech_take wait_for_dram(void *state, const struct mech_request *r)
{
    struct waiting_slice *w = state;
    struct slice *s = state;
    if (r->is_window) return take_window(s, r);
    if (w->reads) {
        w->asked_again++;
        return MECH_WAIT;
    }
    if (w->asked_again) tell(s, 0, r->cycle, r->cycle - w->came_at);
    w->asked_again = 0;
    if (r->kind != MECH_READ || !r->has_bytes) return MECH_PASS;
    w->reads = true;
    s->ports->dram_read(s->ports->host, r->line, r->sectors, 1);
    return MECH_PASS;
}
static void end_wait(void *state, uint64_t cycle, uint32_t tag)
{
    struct waiting_slice *w = state;
    w->reads = false;
    w->came_at = cycle;
    tell(state, 1, cycle, tag);
}

static enum mech_take wait_and_look(void *state, const struct mech_request *r)
{
    const struct waiting_slice *w = state;
    const bool had_waited = w->asked_again != 0, read = w->reads;
    const enum mech_take answer = wait_for_dram(state, r);
    waits += answer == MECH_WAIT;
    window_requests_in_wait += r->is_window && read;
    if (answer == MECH_WAIT) assert_true(read);
    if (answer != MECH_PASS || !had_waited) return answer;
    early += r->cycle < w->came_at;
    late += r->cycle > w->came_at + 4;
    return answer;
}

static struct play with_waits(enum mech_take (*take)(void *, const struct mech_request *), const char *script)
{
    struct play p = with_slices(
        (struct mechanism){.take_request = take, .on_dram = end_wait, .cache_sms = one_cache_sm}, script);
    blank->slice_state_bytes = sizeof(struct waiting_slice);
    return p;
}

/* Sixteen lines of each of two slices: after the first, each request of a slice waits for a read of DRAM, and
 * goes on as soon as that has come. */
static void a_request_waits_until_a_hook_of_the_slice_makes_room(void **state)
{
    waits = early = late = window_requests_in_wait = 0;
    struct play p = with_waits(wait_and_look, "#");
    const uint64_t alone =
        play_cycles(&(struct play){.script = "#", .sets = {p.sets[0], p.sets[1], p.sets[2]}});
    play(&p);
    assert_true(waits > 0);
    assert_int_equal(early, 0);
    assert_int_equal(late, 0);
    assert_true(rig_cycles(&rig, 0) > alone + 100);
    play_close();
    p = with_waits(wait_for_dram, "ab#A_cd*#");
    expect_same_everywhere(&p);
}

/* ---- dram_write ---- */

/* Sends one more write for each read of the program. */
static enum mech_take write_each(void *state, const struct mech_request *r)
{
    struct slice *s = state;
    if (r->is_window) return take_window(s, r);
    if (r->kind != MECH_READ || !r->has_bytes) return MECH_PASS;
    s->counts.n[0]++;
    s->ports->dram_write(s->ports->host, r->line, r->sectors);
    return MECH_PASS;
}

/* A write past the tags is traffic of DRAM, beside that of the program. */
static void dram_write_writes_past_the_tags(void **state)
{
    struct play p = with_slices((struct mechanism){0}, "abcd");
    play(&p);
    const uint64_t writes = stat_of("dram.writes"), reads = stat_of("dram.reads");
    play_close();
    p = with_slices((struct mechanism){.take_request = write_each}, "abcd");
    play(&p);
    expect_stats((struct wanted[]){
        {"blank.n0", 4}, {"l2.writebacks", 4}, {"dram.writes", writes + 4}, {"dram.reads", reads}, {0}});
    play_close();
    expect_same_slices((struct mechanism){.take_request = write_each});
}

/* ---- refuse ---- */

static enum mech_take refuse_atomics(void *state, const struct mech_request *r)
{
    struct slice *s = state;
    if (r->is_window) return take_window(s, r);
    if (r->kind == MECH_ATOMIC) s->ports->refuse(s->ports->host, "no atomics");
    return MECH_PASS;
}

/* The run ends with the sentence and the mechanism's name. */
static void refuse_ends_the_run(void **state)
{
    struct play p = with_slices((struct mechanism){.take_request = refuse_atomics}, "a*");
    play_open(&p);
    rig_launch(&rig, "play", 1, 32, (const uint64_t[]){script_buf, rig_alloc(&rig, 128)}, 0);
    assert_int_not_equal(timed_sync(rig.gpu, UINT64_MAX, &rig.fault), EMU_OK);
    const char *said = timed_report(rig.gpu);
    if (!strstr(said, "mechanism 'blank', refuse") || !strstr(said, "no atomics")) fail_msg("%s", said);
    play_close();
}

/* ---- on_host_write ---- */

/* [line of the script]: how often the hook was called. No kernel runs at that time, so one thread calls
 * it. */
static uint32_t written[SCRIPT_LINES];
static void see_host_write(void *state, uint64_t line, uint64_t number)
{
    const uint64_t i = (line - script_buf) / LINE_BYTES;
    assert_int_equal(line, script_buf + i * LINE_BYTES);
    if (i < SCRIPT_LINES) written[i]++;
}

/* Called for each line that the host writes to, at the line's slice; not before the helper has started. */
static void on_host_write_tells_each_line(void **state)
{
    static const uint32_t wanted[SCRIPT_LINES] = {[2] = 1, [3] = 1, [4] = 1, [7] = 1};
    struct play p = with_slices((struct mechanism){.on_host_write = see_host_write}, "ab");
    memset(written, 0, sizeof written);
    play_open(&p);
    timed_host_copy(rig.gpu, script_buf, 8 * LINE_BYTES);
    run_again();
    timed_host_copy(rig.gpu, line_at('c') + 4, 2 * LINE_BYTES);
    timed_host_fill(rig.gpu, line_at('h'), 4);
    assert_memory_equal(written, wanted, sizeof wanted);
    play_close();
}

static void sum_host_write(void *state, uint64_t line, uint64_t number)
{
    tell(state, 0, 0, 0);
    tell(state, 1, line - script_buf, number);
}

/* Sum over the whole run: what happens between two kernels belongs to neither. */
static uint64_t total_of(const char *name)
{
    const struct timed_group *groups;
    const uint32_t n = timed_groups(rig.gpu, &groups);
    void **stats = timed_totals(rig.gpu);
    double value = -1;
    for (uint32_t g = 0; g < n; g++)
        for (const struct stat_row *row = groups[g].rows; row->name; row++)
            if (!strcmp(row->name, name)) value = stat_value(row, stats[g]);
    timed_free_stats(rig.gpu, stats);
    assert_true(value >= 0);
    return (uint64_t)value;
}

/* Between two kernels the host writes to eight lines. */
static void on_host_write_is_the_same_whatever_is_skipped(void **state)
{
    static const char *const machines[] = {NULL, SQUEEZE};
    for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
        uint64_t first = 0;
        for (uint32_t way = 0; way < 4; way++) {
            struct play p = with_slices(
                (struct mechanism){.on_host_write = sum_host_write, .cache_sms = one_cache_sm}, "abcdefgh");
            p.machine = machines[i];
            p.threads = way ? way : 1;
            p.no_skip = !way;
            play(&p);
            timed_host_copy(rig.gpu, script_buf, 8 * LINE_BYTES);
            run_again();
            assert_int_equal(total_of("blank.n0"), 8);
            const uint64_t lines = total_of("blank.n1");
            play_close();
            if (!way) first = lines;
            assert_int_equal(lines, first);
        }
    }
}

/* ---- choose_sms and keeps_line ---- */

static struct mech_grid_run ran_log[8];
static uint32_t ran_count, asked_first;

/* Two SMs in cache mode for the first grid, then one. */
static uint32_t one_after_the_first(void *choice, const void *params, const struct mech_grid_run *ran)
{
    if (!ran) {
        asked_first++;
        return CACHE_SMS;
    }
    if (ran_count < ARRAY_LEN(ran_log)) ran_log[ran_count++] = *ran;
    return 1;
}

static void choose_sms_is_told_of_each_grid_and_sets_the_roles(void **state)
{
    ran_count = asked_first = 0;
    struct play p =
        with_slices((struct mechanism){.choose_sms = one_after_the_first, .choice_bytes = 1}, "abcd");
    play(&p);
    assert_int_equal(asked_first, 1);
    run_again();
    run_again();
    assert_int_equal(ran_count, 3);
    for (uint32_t i = 0; i < ran_count; i++) {
        const struct mech_grid_run *r = &ran_log[i];
        assert_int_equal(r->kernel, ran_log[0].kernel);
        assert_int_equal(r->cache_sms, i ? 1 : CACHE_SMS);
        assert_int_equal(r->cycles, rig_cycles(&rig, i));
        assert_int_equal(r->warp_insts, rig_stat(&rig, i, "sm.warp_insts"));
        assert_true(r->dram_busy > 0 && r->dram_busy < r->dram_cycles);
        assert_int_equal(rig_stat(&rig, i, "helper.sms"), r->cache_sms);
    }
    play_close();
}

static uint32_t keep_share;
static bool keep_some(void *state, uint64_t number) { return number % 2 < keep_share; }
static uint32_t change_once(void *choice, const void *params, const struct mech_grid_run *ran)
{
    return ran ? 1 : CACHE_SMS;
}

/* Roles change between two grids: the result is the same whatever is skipped, on any number of threads. */
static void expect_same_changes(struct play p)
{
    static const char *const machines[] = {NULL, SQUEEZE};
    for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
        uint64_t first = 0;
        for (uint32_t way = 0; way < 4; way++) {
            p.machine = machines[i];
            p.threads = way ? way : 1;
            p.no_skip = !way;
            p.grid = 6;
            play(&p);
            run_again();
            const uint64_t hash = timed_hash(rig.gpu);
            play_close();
            if (!way) first = hash;
            assert_int_equal(hash, first);
        }
    }
}

/* ---- slice_init and memory ---- */

enum { BLOCK_BYTES = 1000 };
/* n: starts of the helper, bytes of new memory that are not 0. */
static void begin_with_memory(void *state, const void *params, const struct mech_slice_ports *ports)
{
    struct slice *s = state;
    slice_begin(state, params, ports);
    s->counts.n[0]++;
    unsigned char *block = ports->memory(ports->host, BLOCK_BYTES);
    for (int i = 0; i < BLOCK_BYTES; i++) s->counts.n[1] += block[i] != 0;
    memset(block, 1, BLOCK_BYTES);
}

/* Each time that the helper starts: before the first kernel, and when roles have changed. The state stays,
 * and memory is new. */
static void slice_init_comes_with_each_start_of_the_helper(void **state)
{
    enum { SLICES = 2 };
    struct play p = with_slices(
        (struct mechanism){.slice_init = begin_with_memory, .choose_sms = change_once, .choice_bytes = 1},
        "abcd");
    play(&p);
    assert_int_equal(total_of("blank.n0"), SLICES);
    run_again();
    run_again();
    assert_int_equal(total_of("blank.n0"), 2 * SLICES);
    assert_int_equal(total_of("blank.n1"), 0);
    play_close();
    expect_same_changes(p);
}

/* Four lines of a slice each, with numbers in a row: all stay, every second one, or none. */
static void keeps_line_says_what_stays_when_roles_change(void **state)
{
    uint64_t hits[3];
    for (keep_share = 0; keep_share < 3; keep_share++) {
        struct play p = with_slices(
            (struct mechanism){.choose_sms = change_once, .choice_bytes = 1, .keeps_line = keep_some},
            "abcdefgh");
        play(&p);
        run_again();
        hits[keep_share] = (uint64_t)rig_stat(&rig, 1, "l2.global_hits");
        play_close();
        expect_same_changes(p);
    }
    assert_int_equal(hits[1], hits[0] + 4);
    assert_int_equal(hits[2], hits[0] + 8);
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(sms_in_cache_mode_get_no_cta),
        RIG_TEST(a_parked_load_waits_for_work),
        RIG_TEST(a_claimed_atomic_takes_effect_when_it_is_applied),
        RIG_TEST(a_request_waits_until_a_hook_of_the_slice_makes_room),
        RIG_TEST(dram_write_writes_past_the_tags),
        RIG_TEST(refuse_ends_the_run),
        RIG_TEST(on_host_write_tells_each_line),
        RIG_TEST(on_host_write_is_the_same_whatever_is_skipped),
        RIG_TEST(choose_sms_is_told_of_each_grid_and_sets_the_roles),
        RIG_TEST(slice_init_comes_with_each_start_of_the_helper),
        RIG_TEST(keeps_line_says_what_stays_when_roles_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
