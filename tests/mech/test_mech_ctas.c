/* test_mech_ctas.c: what a mechanism that admits CTAs is asked and told, each with a mechanism of a few
 * lines: what admit knows and decides, warps that lose their slots, results that come without rows, where the
 * parts of a warp go on, and how many reads of memory it may have under way. Exchanges themselves:
 * test_cta_swap.c. */
#include "hooks_kit.h"

enum { WARP_ROWS = 16, CTAS_MAX = 128 };
/* A warp of a script has 16 rows. */
#define UNIT "sm.register_unit=512"

/* ---- admit ---- */

enum { ADMITTED = 3, CTA_WARPS = 2 };
static uint64_t admit_mistakes, admit_calls;

/* n: resident CTAs, the highest number of them, when CTAs started. */
static bool admit_three(void *state, struct mech_admit *a) { return ((struct tiny *)state)->n[0] < ADMITTED; }
static void count_residents(void *state, const struct mech_cta *e)
{
    struct tiny *t = state;
    if (e->kind == MECH_CTA_START) {
        if (++t->n[0] > t->n[1]) t->n[1] = t->n[0];
        tell(t, 2, e->cycle, e->cta);
    }
    if (e->kind == MECH_CTA_END) t->n[0]--;
}

static bool compare_shares(void *state, struct mech_admit *a)
{
    const uint64_t in_use = ((struct tiny *)state)->n[0];
    admit_calls++;
    admit_mistakes += a->ctas.in_use != in_use || a->ctas.asked != 1 || a->ctas.limit != 8;
    admit_mistakes += a->warps.asked != CTA_WARPS || a->cta_warps != CTA_WARPS || a->warps.limit != 48;
    admit_mistakes += a->warps.in_use > in_use * CTA_WARPS;
    admit_mistakes += a->threads.in_use != in_use * CTA_WARPS * 32 || a->threads.asked != CTA_WARPS * 32;
    admit_mistakes += a->registers.asked != CTA_WARPS * WARP_ROWS * 32;
    admit_mistakes += a->registers.in_use != in_use * a->registers.asked || a->registers.limit != 32768;
    admit_mistakes += a->gets_registers != a->registers.asked;
    admit_mistakes += !a->thread_registers || a->thread_registers > WARP_ROWS;
    admit_mistakes += a->shared.in_use != 0 || a->shared.asked != 0;
    return admit_three(state, a);
}

/* Eight CTAs would fit. No more start than the mechanism admits, and it is told what they have. */
static void admit_knows_what_is_in_use_and_decides(void **state)
{
    admit_mistakes = admit_calls = 0;
    attach((struct mechanism){.admit = compare_shares, .on_cta = count_residents});
    struct play p = with_blank("ab");
    p.grid = 10;
    p.block = CTA_WARPS * 32;
    p.sets[0] = UNIT;
    play(&p);
    expect_stats((struct wanted[]){{"blank.n0", 0}, {"blank.n1", ADMITTED}, {0}});
    assert_true(admit_calls >= p.grid);
    assert_int_equal(admit_mistakes, 0);
    play_close();
    attach((struct mechanism){.admit = admit_three, .on_cta = count_residents});
    p = with_blank("ab#A_cd*#");
    p.grid = 20;
    expect_same_everywhere(&p);
}

static uint64_t rows_seen;
static bool give_half(void *state, struct mech_admit *a)
{
    a->gets_registers = a->registers.asked / 2;
    return true;
}
static void see_rows(void *state, const struct mech_cta *e)
{
    count_residents(state, e);
    if (e->kind == MECH_CTA_START) rows_seen = e->rows;
}

/* The register file has room for two CTAs of a warp. With half of their registers four fit. */
static void a_cta_gets_the_registers_that_admit_gives(void **state)
{
    attach((struct mechanism){.admit = give_half, .on_cta = see_rows});
    struct play p = with_blank("ab");
    p.grid = 10;
    p.sets[0] = UNIT;
    p.sets[1] = "sm.registers=1024";
    play(&p);
    expect_stats((struct wanted[]){{"blank.n1", 4}, {0}});
    assert_int_equal(rows_seen, WARP_ROWS / 2);
    play_close();
    attach((struct mechanism){.admit = give_half, .on_cta = count_residents});
    p.script = "ab#A_cd*#";
    expect_same_everywhere(&p);
}

static bool heard_cooperative, heard_other;
static bool admit_none(void *state, struct mech_admit *a)
{
    admit_calls++;
    return false;
}
static void hear_launch(void *state, const struct mech_launch *e)
{
    *(e->is_cooperative ? &heard_cooperative : &heard_other) = true;
}

/* The occupancy rule lets CTAs of a cooperative grid in, and the mechanism is not asked. It admits none of
 * another grid, which therefore cannot end. */
static void a_cooperative_grid_is_not_asked_about(void **state)
{
    admit_calls = 0;
    heard_cooperative = heard_other = false;
    attach((struct mechanism){.admit = admit_none, .on_launch = hear_launch});
    struct play p = with_blank("ab");
    play_open(&p);
    const uint64_t params[] = {script_buf, rig_alloc(&rig, 512)};
    const struct emu_launch l = {.module = rig.module,
                                 .kernel = emu_find_kernel(rig.module, "play"),
                                 .grid = {4, 1, 1},
                                 .block = {32, 1, 1},
                                 .params = params,
                                 .cooperative = true};
    timed_launch(rig.gpu, &l, 0);
    rig_sync(&rig);
    assert_int_equal(admit_calls, 0);
    assert_true(heard_cooperative && !heard_other);
    rig_launch(&rig, "play", 4, 32, params, 0);
    assert_int_not_equal(timed_sync(rig.gpu, UINT64_MAX, &rig.fault), EMU_OK);
    assert_true(admit_calls > 0 && heard_other);
    play_close();
}

/* ---- on_warp with is_swap ---- */

/* Of an SM: which CTAs could go on without slots; which warp a slot has, by launch number, from 1. */
struct swapper {
    struct tiny tiny;
    uint64_t warp_in[MECH_WARPS_MAX];
    bool is_ready[CTAS_MAX];
};

/* What leaves has slots, what enters finds none; only a warp with a slot issues. */
static uint64_t swaps, swap_mistakes;

static void enter_ready(struct swapper *s)
{
    const struct mech_ports *p = s->tiny.ports;
    for (uint32_t i = 0; i < p->ctas; i++)
        if (s->is_ready[i] && p->cta_swap(p->host, MECH_NO_CTA, i, 3)) s->is_ready[i] = false;
}
static void swap_ctas(void *state, const struct mech_cta *e)
{
    struct swapper *s = state;
    const struct mech_ports *p = s->tiny.ports;
    if (e->kind == MECH_CTA_STALLED) p->cta_swap(p->host, e->cta_slot, MECH_NO_CTA, 2);
    if (e->kind == MECH_CTA_READY) s->is_ready[e->cta_slot] = true;
    enter_ready(s);
}
static void sum_swapped_warp(void *state, const struct mech_warp_event *e)
{
    tell(state, e->is_swap, e->cycle, e->launch * 256 + (uint64_t)e->warp * 2 + e->is_start);
}
static void follow_warp(void *state, const struct mech_warp_event *e)
{
    struct swapper *s = state;
    uint64_t *has = &s->warp_in[e->warp];
    swaps += e->is_swap;
    swap_mistakes += *has != (e->is_start ? 0 : e->launch + 1);
    *has = e->is_start ? e->launch + 1 : 0;
}
static void compare_with_slot(void *state, const struct mech_issue *e)
{
    swap_mistakes += ((struct swapper *)state)->warp_in[e->warp] != e->launch + 1;
}
static bool admit_all(void *state, struct mech_admit *a) { return true; }

static struct play with_swaps(struct mechanism hooks)
{
    hooks.admit = admit_all;
    hooks.on_cta = swap_ctas;
    attach(hooks);
    blank->state_bytes = sizeof(struct swapper);
    struct play p = with_blank("ab#A_cd*#");
    p.grid = 12;
    p.block = 64;
    return p;
}

/* Four slots: of twelve CTAs of two warps, each leaves when it stalls. */
static void on_warp_tells_which_warp_has_a_slot(void **state)
{
    swaps = swap_mistakes = 0;
    struct play p = with_swaps((struct mechanism){.on_warp = follow_warp, .on_issue = compare_with_slot});
    p.sets[0] = "sm.warps=4";
    play(&p);
    assert_true(swaps > 4 * 12);
    assert_int_equal(swap_mistakes, 0);
    play_close();
    p = with_swaps((struct mechanism){.on_warp = sum_swapped_warp});
    expect_same_everywhere(&p);
}

/* ---- results without rows ---- */

static uint64_t results_of[MECH_CTA_UNPARKED + 1];

/* The CTA leaves when it stalls, with all of its registers, and enters when it could go on. */
static void park_when_out(void *state, const struct mech_cta *e)
{
    static uint64_t all[CTA_WARPS][MECH_REGISTER_WORDS];
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    memset(all, 0xff, sizeof all);
    results_of[e->kind] = e->results;
    if (e->kind == MECH_CTA_STALLED) p->cta_swap(p->host, e->cta_slot, MECH_NO_CTA, 1);
    if (e->kind == MECH_CTA_OUT) p->cta_park(p->host, e->cta_slot, all[0]);
    if (e->kind != MECH_CTA_READY) return;
    assert_true(p->cta_unpark(p->host, e->cta_slot));
    assert_true(p->cta_swap(p->host, MECH_NO_CTA, e->cta_slot, 1));
}

/* The CTA waits for a, then for b, each time without rows: one result before it is back, then another. */
static void results_that_come_without_rows_are_counted(void **state)
{
    memset(results_of, 0, sizeof results_of);
    attach((struct mechanism){.admit = admit_all, .on_cta = park_when_out});
    struct play p = with_blank("ab");
    p.sets[0] = UNIT;
    play(&p);
    play_close();
    assert_int_equal(results_of[MECH_CTA_OUT], 1);   /* a, of the first time */
    assert_int_equal(results_of[MECH_CTA_READY], 1); /* b */
}

/* ---- warp_pcs ---- */

/* Lanes 0 to 15 go one way, the others another one; then they meet. */
static const char apart_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry apart(.param .u64 buf)\n{\n"
    ".reg .u64 %b, %x; .reg .u32 %t, %v; .reg .pred %p;\n"
    "ld.param.u64 %b, [buf]; mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 16;\n@%p bra low;\n"
    "ld.global.u32 %v, [%b]; add.u32 %v, %v, 1; st.global.u32 [%b+128], %v;\nbra.uni all;\n"
    "low:\nld.global.u32 %v, [%b+4]; add.u32 %v, %v, 2; st.global.u32 [%b+256], %v;\n"
    "all:\nmul.wide.u32 %x, %t, 4; add.u64 %x, %b, %x; st.global.u32 [%x+512], %t;\nret;\n}\n";

static uint32_t parts_most, parts_mistakes, parts_last;

static void look_at_parts(void *state, const struct mech_next *e)
{
    enum { MOST = 8, UNWRITTEN = 12345 };
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    uint32_t pcs[MOST], one[2] = {UNWRITTEN, UNWRITTEN};
    const uint32_t n = p->warp_pcs(p->host, 0, 0, pcs, MOST);
    bool has = false;
    parts_last = n;
    if (n > parts_most) parts_most = n;
    for (uint32_t i = 0; i < n; i++) {
        has |= pcs[i] == e->pc;
        for (uint32_t k = 0; k < i; k++) parts_mistakes += pcs[i] == pcs[k];
    }
    parts_mistakes += !has;
    parts_mistakes += p->warp_pcs(p->host, 0, 0, one, 1) != n || one[0] == UNWRITTEN || one[1] != UNWRITTEN;
}
static void look_at_end(void *state, const struct mech_warp_event *e)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    uint32_t pc;
    if (!e->is_start) parts_mistakes += p->warp_pcs(p->host, e->cta_slot, e->index, &pc, 1) != 0;
}

/* The next instruction is one of them. While lanes are apart there are others, too; at the end there is one
 * again, and none of a warp that has ended. */
static void warp_pcs_are_those_of_all_parts(void **state)
{
    parts_most = parts_mistakes = parts_last = 0;
    attach((struct mechanism){.admit = admit_all, .on_next = look_at_parts, .on_warp = look_at_end});
    const struct play p = with_blank("");
    static const char *const sets[] = {"sm.count=1"};
    rig_open(
        &rig, apart_ptx,
        &(struct rig_options){.sets = sets, .set_count = 1, .timed = {.mechs = p.mechs, .mech_count = 1}});
    rig_run(&rig, "apart", 1, 32, (const uint64_t[]){rig_alloc(&rig, 1024)});
    play_close();
    assert_in_range(parts_most, 2, 3);
    assert_int_equal(parts_last, 1);
    assert_int_equal(parts_mistakes, 0);
}

/* ---- memory_read ---- */

/* n: reads that were taken, refused and answered, the sum of tokens. */
static void read_all(void *state, uint64_t cycle)
{
    struct tiny *t = state;
    if (t->n[0]) return;
    while (t->ports->memory_read(t->ports->host, t->n[0] * 4096, 1u << t->n[0])) t->n[0]++;
    t->n[1]++;
}
static void take_answer(void *state, uint64_t cycle, uint32_t token)
{
    struct tiny *t = state;
    t->n[2]++;
    t->n[3] += token;
    if (t->n[2] == t->n[0]) assert_true(t->ports->memory_read(t->ports->host, 0, 0));
}

/* Until there are too many; each that was taken is answered once, and then there is room again. */
static void reads_of_memory_are_refused_when_too_many_are_under_way(void **state)
{
    attach((struct mechanism){
        .timer_cycles = 40, .admit = admit_all, .on_timer = read_all, .on_memory_read = take_answer});
    struct play p = with_blank("abcdefgh");
    play(&p);
    const uint64_t taken = stat_of("blank.n0");
    assert_in_range(taken, 1, 30);
    expect_stats(
        (struct wanted[]){{"blank.n1", 1}, {"blank.n2", taken + 1}, {"blank.n3", (1u << taken) - 1}, {0}});
    play_close();
    p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(admit_knows_what_is_in_use_and_decides),
        RIG_TEST(a_cta_gets_the_registers_that_admit_gives),
        RIG_TEST(a_cooperative_grid_is_not_asked_about),
        RIG_TEST(on_warp_tells_which_warp_has_a_slot),
        RIG_TEST(results_that_come_without_rows_are_counted),
        RIG_TEST(warp_pcs_are_those_of_all_parts),
        RIG_TEST(reads_of_memory_are_refused_when_too_many_are_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
