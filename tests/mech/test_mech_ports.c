/* test_mech_ports.c: ports that read state of the SM, set the timer or end the run, each with a mechanism of
 * a few lines. test_mech_hooks.c names the files of the other ports. */
#include "hooks_kit.h"

/* ---- l1_set ---- */

enum { SETS = 4 };
static uint64_t sets_seen, set_mistakes;

static uint32_t choose_by_set(void *state, const struct mech_victim_view *v)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    set_mistakes += p->l1_set(p->host, v->line) != v->set;
    sets_seen |= 1ull << v->set;
    return (uint32_t)__builtin_ctzll(v->candidates[0]);
}
static void sum_sets(void *state, const struct mech_l1_access *a)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    tell(state, 0, a->cycle, p->l1_set(p->host, a->line));
}

/* A line leaves the set of the line that comes in. */
static void l1_set_is_the_set_of_a_line(void **state)
{
    sets_seen = set_mistakes = 0;
    attach((struct mechanism){.victim = choose_by_set});
    struct play p = with_blank("#abcd#");
    p.sets[0] = "l1.size=2K";
    play(&p);
    play_close();
    assert_int_equal(set_mistakes, 0);
    assert_int_equal(sets_seen, (1 << SETS) - 1);
    attach((struct mechanism){.on_l1_access = sum_sets});
    p = with_blank("ab#A_cd*#$");
    expect_same_everywhere(&p);
}

/* ---- thread_insts ---- */

static uint64_t lanes_issued, lane_mistakes;

static void count_lanes(void *state, const struct mech_issue *e)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    lanes_issued += (uint64_t)__builtin_popcount(e->lanes);
    lane_mistakes += p->thread_insts(p->host) != lanes_issued;
}
static void sum_lanes(void *state, const struct mech_issue *e)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    tell(state, 0, e->cycle, p->thread_insts(p->host));
}

/* Counted over two kernels, with the instruction that issues. */
static void thread_insts_counts_lanes_since_the_machine_was_made(void **state)
{
    lanes_issued = lane_mistakes = 0;
    attach((struct mechanism){.on_issue = count_lanes});
    struct play p = with_blank("a_!b#");
    p.block = 80;
    play(&p);
    const uint64_t first = lanes_issued;
    rig_run(&rig, "play", 1, 40, (const uint64_t[]){script_buf, rig_alloc(&rig, 512)});
    assert_int_equal(lane_mistakes, 0);
    assert_int_equal(first, rig_stat(&rig, 0, "sm.thread_insts"));
    assert_int_equal(lanes_issued - first, rig_stat(&rig, 1, "sm.thread_insts"));
    play_close();
    attach((struct mechanism){.on_issue = sum_lanes});
    p = with_blank("ab#A_!cd*#");
    expect_same_everywhere(&p);
}

/* ---- code_address ---- */

enum { INST_BYTES = 8 };
static uint64_t bases[4], base_count;

static void keep_base(void *state, const struct mech_cta *e)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    if (e->kind != MECH_CTA_START) return;
    const uint64_t base = p->code_address(p->host, e->cta_slot, 0);
    for (uint32_t pc = 1; pc < 4; pc++)
        assert_int_equal(p->code_address(p->host, e->cta_slot, pc), base + pc * INST_BYTES);
    bases[base_count++] = base;
}

static const char two_ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                              ".visible .entry one(.param .u64 out)\n{\n.reg .u64 %o; .reg .u32 %t;\n"
                              "ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; st.global.u32 [%o], %t;\nret;\n}\n"
                              ".visible .entry two(.param .u64 out)\n{\n.reg .u64 %o; .reg .u32 %t;\n"
                              "ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; add.u32 %t, %t, 1;\n"
                              "st.global.u32 [%o], %t;\nret;\n}\n";

/* The instructions of two kernels lie in different ranges; those of one kernel stay in theirs. */
static void code_address_tells_instructions_of_all_kernels_apart(void **state)
{
    base_count = 0;
    attach((struct mechanism){.on_cta = keep_base});
    const struct play p = with_blank("");
    static const char *const sets[] = {"sm.count=1"};
    rig_open(
        &rig, two_ptx,
        &(struct rig_options){.sets = sets, .set_count = 1, .timed = {.mechs = p.mechs, .mech_count = 1}});
    const uint64_t out = rig_alloc(&rig, LINE_BYTES);
    static const char *const kernels[] = {"one", "two", "one"};
    for (size_t i = 0; i < ARRAY_LEN(kernels); i++) rig_run(&rig, kernels[i], 1, 32, (const uint64_t[]){out});
    const uint64_t length = emu_find_kernel(rig.module, "one")->inst_count * (uint64_t)INST_BYTES;
    play_close();
    assert_int_equal(base_count, 3);
    assert_int_equal(bases[2], bases[0]);
    assert_true(bases[1] >= bases[0] + length || bases[0] >= bases[1] + length);
}

/* ---- ctas_left ---- */

enum { CTAS = 5 };
static uint32_t starts, left_mistakes;

static void look_for_ctas(void *state, const struct mech_cta *e)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    const bool is_left = p->ctas_left(p->host);
    if (e->kind == MECH_CTA_START) starts++;
    left_mistakes += is_left != (e->kind == MECH_CTA_START || starts < CTAS);
}
static void sum_left(void *state, const struct mech_cta *e)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    tell(state, 0, e->cycle, p->ctas_left(p->host) * 64u + e->kind);
}

/* Two of five CTAs fit at a time: there are others until on_cta has told the start of the last one. */
static void ctas_left_says_whether_others_will_start(void **state)
{
    starts = left_mistakes = 0;
    attach((struct mechanism){.on_cta = look_for_ctas});
    struct play p = with_blank("ab");
    p.grid = CTAS;
    p.sets[0] = "sm.ctas=2";
    play(&p);
    play_close();
    assert_int_equal(starts, CTAS);
    assert_int_equal(left_mistakes, 0);
    attach((struct mechanism){.on_cta = sum_left});
    p = with_blank("ab#A_cd*#");
    p.grid = 40;
    expect_same_everywhere(&p);
}

/* ---- set_timer ---- */

static uint64_t timer_log[8];
static uint32_t timer_count;

static void set_first(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    tiny_init(state, gpu_state, params, ports);
    ports->set_timer(ports->host, 0, 70);
}
static void set_again(void *state, uint64_t cycle)
{
    struct tiny *t = state;
    tell(t, 0, cycle, 0);
    if (cycle == 140) t->ports->set_timer(t->ports->host, cycle, 33);
    if (cycle == 140 + 3 * 33) t->ports->set_timer(t->ports->host, cycle, 0);
}
static void log_timer(void *state, uint64_t cycle)
{
    if (timer_count < ARRAY_LEN(timer_log)) timer_log[timer_count++] = cycle;
    set_again(state, cycle);
}
static void start_again(void *state, const struct mech_l1_fill *e)
{
    struct tiny *t = state;
    if (e->line == line_at('b')) t->ports->set_timer(t->ports->host, e->cycle, 5);
}

/* The period is that of set_timer from the call on, in place of timer_cycles; 0: never again. */
static void set_timer_gives_the_period_until_it_is_set_again(void **state)
{
    static const uint64_t wanted[] = {70, 140, 173, 206, 239};
    timer_count = 0;
    attach((struct mechanism){.timer_cycles = 11, .init = set_first, .on_timer = log_timer});
    struct play p = with_blank("abcd");
    play(&p);
    assert_true(rig_cycles(&rig, 0) > 1000);
    play_close();
    assert_int_equal(timer_count, ARRAY_LEN(wanted));
    assert_memory_equal(timer_log, wanted, sizeof wanted);
    attach((struct mechanism){.init = set_first, .on_timer = set_again, .on_l1_fill = start_again});
    p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
}

/* ---- refuse ---- */

static void refuse_blocks_of_64(void *state, const struct mech_launch *e)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    if (e->block[0] == 64) p->refuse(p->host, "blocks of 64 are too large");
}

/* The first kernel runs; the second one ends the run with the sentence, whatever is skipped. */
static void refuse_ends_the_run_with_its_sentence(void **state)
{
    for (uint32_t way = 0; way < 3; way++) {
        attach((struct mechanism){.on_launch = refuse_blocks_of_64});
        struct play p = with_blank("ab");
        p.sets[0] = "sm.count=3";
        p.threads = way == 2 ? 3 : 1;
        p.no_skip = way == 1;
        play(&p);
        rig_launch(&rig, "play", 3, 64, (const uint64_t[]){script_buf, rig_alloc(&rig, 1024)}, 0);
        assert_int_not_equal(timed_sync(rig.gpu, UINT64_MAX, &rig.fault), EMU_OK);
        const char *said = timed_report(rig.gpu);
        if (!strstr(said, "mechanism 'blank', refuse in on_launch, SM 0, cycle ") ||
            !strstr(said, "blocks of 64 are too large"))
            fail_msg("%s", said);
        play_close();
    }
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(l1_set_is_the_set_of_a_line),
        RIG_TEST(thread_insts_counts_lanes_since_the_machine_was_made),
        RIG_TEST(code_address_tells_instructions_of_all_kernels_apart),
        RIG_TEST(ctas_left_says_whether_others_will_start),
        RIG_TEST(set_timer_gives_the_period_until_it_is_set_again),
        RIG_TEST(refuse_ends_the_run_with_its_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
