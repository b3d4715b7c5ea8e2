/* test_finereg.c: vt, finereg, regdram, regmutex and unified on a machine, with residency, rows and traffic
 * counted on paper. A warp of a script takes 16 rows; a CTA of four warps 64. */
#include "script_kit.h"

#define UNIT   "sm.register_unit=512"
#define WHOLE  "sm.register_partitions=1"
#define BIG_L1 "l1.size=16K"
enum { WARP_ROWS = 16 };

/* A setting of sm.registers: this many rows. */
static const char *rows_of(uint32_t rows)
{
    static char text[4][64];
    static uint32_t next;
    char *t = text[next++ % 4];
    snprintf(t, 64, "sm.registers=%u", rows * 32);
    return t;
}

static const char *bytes_of(const char *name, uint32_t rows)
{
    static char text[4][64];
    static uint32_t next;
    char *t = text[next++ % 4];
    snprintf(t, 64, "%s=%u", name, rows * 128);
    return t;
}

/* ---- vt ---- */

/* 16 CTAs of 8 warps on 64 slots: all are resident, and none of their registers go to memory. */
static void registers_bound_the_ctas_of_vt(void **state)
{
    const struct play p = {.script = "#",
                           .mechs = {"vt"},
                           .sets = {UNIT, WHOLE, rows_of(16 * 8 * WARP_ROWS), "sm.warps=64", "sm.ctas=32",
                                    "sm.threads=2048", "sm.schedulers=2"},
                           .grid = 20,
                           .block = 256};
    play(&p);
    expect_stats((struct wanted[]){
        {"vt.resident_max", 16}, {"dram.context_reads", 0}, {"dram.context_writes", 0}, {0}});
    assert_true(stat_of("vt.swaps") > 0);
    play_close();
}

/* Four CTAs on an SM with one slot: while one CTA is stalled, another runs. */
static void vt_hides_a_stall(void **state)
{
    struct play p = {.script = "abcdefgh", .sets = {"sm.warps=1", BIG_L1}, .grid = 4};
    const uint64_t plain = play_cycles(&p);
    p.mechs[0] = "vt";
    assert_true(play_cycles(&p) < plain);
}

/* ---- finereg ---- */

/* 33 rows: entries for this many, and an ACRF that holds one CTA of one warp. */
static struct play one_and(uint32_t entries, uint32_t grid)
{
    return (struct play){
        .script = "#",
        .mechs = {"finereg"},
        .settings = {bytes_of("finereg.acrf", 33 - entries), bytes_of("finereg.pcrf", entries)},
        .sets = {UNIT, WHOLE, rows_of(33)},
        .grid = grid};
}

/* A CTA stalls with three live rows, the loaded value and the pair of the result's address: with three
 * entries it makes room for the next, with two it stays, and the machine waits for registers. The first CTA
 * goes on before its vector has come from memory. */
static void a_cta_leaves_if_its_live_rows_fit(void **state)
{
    struct play p = one_and(3, 4);
    play(&p);
    expect_stats((struct wanted[]){{"finereg.resident_max", 2}, {"finereg.pcrf_max", 3}, {0}});
    assert_true(stat_of("finereg.launches") >= 1);
    assert_int_equal(stat_of("finereg.rows_out"), stat_of("finereg.rows_in"));
    play_close();
    p = one_and(2, 4);
    play(&p);
    assert_true(stat_of("finereg.depletions") > 0);
    assert_true(stat_of("finereg.depleted_cycles") > 0);
    expect_stats((struct wanted[]){{"finereg.launches", 0}, {"finereg.rows_out", 0}, {0}});
    play_close();
}

/* Exactly the registers that are needed are saved, in programs that diverge, wait at barriers, store and
 * update. */
static void nothing_that_is_needed_is_lost(void **state)
{
    static const char *const scripts[] = {"ab#_cA*d", "#_#_#", "!abc#", "aBcDeF*_#"};
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        play(&(struct play){.script = scripts[i],
                            .mechs = {"finereg"},
                            .settings = {bytes_of("finereg.acrf", 64), bytes_of("finereg.pcrf", 64)},
                            .sets = {UNIT, WHOLE, rows_of(128)},
                            .grid = 8,
                            .block = 128});
        assert_true(stat_of("finereg.rows_out") > 0);
        play_close();
    }
}

/* Shared memory limits the CTAs of the program: no new CTA would find room, so no CTA leaves for one. */
static void what_shared_memory_bounds_stays(void **state)
{
    const struct play p = {.script = "ab#",
                           .mechs = {"finereg"},
                           .settings = {bytes_of("finereg.acrf", 128), bytes_of("finereg.pcrf", 128)},
                           .sets = {UNIT, WHOLE, rows_of(256), "sm.shared=48K", "cta.shared_reserved=24K"},
                           .grid = 6,
                           .block = 128};
    play_and_expect(&p,
                    (struct wanted[]){
                        {"finereg.resident_max", 2}, {"finereg.launches", 0}, {"finereg.rows_out", 0}, {0}});
}

/* All warps wait at the same PC: one read of memory, however many warps and CTAs look it up. */
static void vectors_are_read_once(void **state)
{
    struct play p = one_and(9, 6);
    play(&p);
    assert_true(stat_of("finereg.vector_lookups") > 6);
    assert_int_equal(stat_of("finereg.vector_misses"), 1);
    play_close();
}

/* walk calls itself `left` times; the last call loads a word of its lane's own line, and waits for it. Each
 * of the others stores `left`, which it needs after the call, and the kernel stores its thread's number. */
static const char calls_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".func walk(.param .u64 in, .param .u64 out, .param .u32 left)\n{\n"
    ".reg .u64 %i, %o; .reg .u32 %v, %n, %c; .reg .pred %p;\n"
    "ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; ld.param.u32 %n, [left];\n"
    "setp.eq.u32 %p, %n, 0;\n@%p bra last;\n"
    "{ .param .u64 a; .param .u64 b; .param .u32 c; sub.u32 %c, %n, 1;\n"
    "st.param.u64 [a], %i; st.param.u64 [b], %o; st.param.u32 [c], %c; call walk, (a, b, c); }\n"
    "mul.wide.u32 %i, %n, 4; add.u64 %o, %o, %i; st.global.u32 [%o], %n;\nbra end;\n"
    "last:\nld.global.u32 %v, [%i];\nadd.u32 %v, %v, 1; st.global.u32 [%o], %v;\n"
    "end:\nret;\n}\n"
    ".visible .entry calls(.param .u64 in, .param .u64 out, .param .u32 depth)\n{\n"
    ".reg .u64 %i, %o, %x; .reg .u32 %t, %n, %c, %b;\n"
    "ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; ld.param.u32 %n, [depth];\n"
    "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %b, %ntid.x; mad.lo.u32 %t, %c, %b, %t;\n"
    "mul.wide.u32 %x, %t, 128; add.u64 %i, %i, %x; mul.wide.u32 %x, %t, 16; add.u64 %o, %o, %x;\n"
    "{ .param .u64 a; .param .u64 b; .param .u32 c;\n"
    "st.param.u64 [a], %i; st.param.u64 [b], %o; st.param.u32 [c], %n; call walk, (a, b, c); }\n"
    "st.global.u32 [%o+12], %t;\nret;\n}\n";

/* The set of PCs at which parts of stalled warps go on. Of the CTAs that left: their number, the most such
 * PCs of a warp, and the registers that are live at these. */
static struct {
    const struct mech_ports *ports;
    uint64_t pcs;
    uint32_t outs, pcs_max, live_rows;
} left;

static void left_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    memset(&left, 0, sizeof left);
    left.ports = ports;
}

static void left_on_cta(void *state, const struct mech_cta *e)
{
    const struct mech_ports *p = left.ports;
    uint64_t live = 0;
    uint32_t pcs[8];
    if (e->kind != MECH_CTA_OUT && e->kind != MECH_CTA_STALLED) return;
    const uint32_t count = p->warp_pcs(p->host, e->cta_slot, 0, pcs, ARRAY_LEN(pcs));
    assert_in_range(count, 1, ARRAY_LEN(pcs));
    for (uint32_t i = 0; i < count; i++) {
        assert_true(pcs[i] < 64);
        left.pcs |= 1ull << pcs[i];
        live |= p->cta_live(p->host, e->cta_slot, pcs[i])[0];
    }
    if (e->kind == MECH_CTA_STALLED) return;
    left.outs++;
    left.live_rows += (uint32_t)__builtin_popcountll(live);
    if (count > left.pcs_max) left.pcs_max = count;
}

/* Two CTAs of one warp, an ACRF for one of them. */
static void call(uint32_t depth, uint32_t entries)
{
    enum { GRID = 2, THREADS = GRID * 32 };
    blank_fill((struct mechanism){.init = left_init, .on_cta = left_on_cta});
    const char *const mechs[] = {"finereg", blank_file};
    const char *const settings[] = {bytes_of("finereg.acrf", 32), bytes_of("finereg.pcrf", entries)};
    const char *const sets[] = {"sm.count=1", "sm.perfect_icache=true", BIG_L1, "l1.mshrs=1", UNIT,
                                WHOLE,        rows_of(32 + entries)};
    rig_open(&rig, calls_ptx,
             &(struct rig_options){.sets = sets,
                                   .set_count = ARRAY_LEN(sets),
                                   .timed = {.mechs = mechs,
                                             .mech_count = ARRAY_LEN(mechs),
                                             .mech_settings = settings,
                                             .mech_setting_count = ARRAY_LEN(settings)}});
    const uint64_t in = rig_alloc(&rig, THREADS * LINE_BYTES), out = rig_alloc(&rig, THREADS * 16);
    for (uint32_t i = 0; i < THREADS; i++) *(uint32_t *)(uintptr_t)(in + i * LINE_BYTES) = 1000 * i;
    rig_run(&rig, "calls", GRID, 32, (const uint64_t[]){in, out, depth});
    for (uint32_t i = 0; i < THREADS; i++) {
        const uint32_t *got = (const uint32_t *)(uintptr_t)out + 4ull * i;
        assert_int_equal(got[0], 1000 * i + 1);
        assert_int_equal(got[1], depth >= 1 ? 1 : 0);
        assert_int_equal(got[2], depth >= 2 ? 2 : 0);
        assert_int_equal(got[3], i);
    }
}

/* walk stalls with four live rows: the loaded value, the pair of the result's address, and the frame pointer,
 * which its callers need. Other values that these need are in local memory, and take no rows. A CTA leaves at
 * the load, and behind each call, where it waits for three saved registers beside the frame pointer: 2 +
 * depth times. While it waits for its arguments six rows are live, too many for four entries. Three entries
 * are too few for all of these waits. */
static void registers_of_callers_are_saved(void **state)
{
    for (uint32_t depth = 0; depth <= 2; depth++) {
        const uint64_t moves = 2ull * (2 + depth);
        call(depth, 4);
        expect_stats((struct wanted[]){{"finereg.launches", 1},
                                       {"finereg.exchanges", moves - 1},
                                       {"finereg.rows_out", 4 * moves},
                                       {"finereg.rows_in", 4 * moves},
                                       {"finereg.pcrf_max", 4},
                                       {0}});
        assert_int_equal(left.outs, moves);
        assert_int_equal(left.live_rows, 4 * moves);
        /* in walk, behind the call in walk, behind that in the kernel */
        assert_int_equal(left.pcs_max, depth ? 3 : 2);
        /* the vector of each was read; it was read again if it arrived after another one had been asked
         * for */
        assert_true(stat_of("finereg.vector_misses") >= (uint64_t)__builtin_popcountll(left.pcs));
        play_close();
        call(depth, 3);
        expect_stats((struct wanted[]){{"finereg.launches", 0}, {"finereg.rows_out", 0}, {0}});
        play_close();
    }
}

/* ---- regdram ---- */

/* Every row of a CTA travels, both ways. */
static void all_registers_travel(void **state)
{
    play(&(struct play){
        .script = "ab#c", .mechs = {"regdram"}, .sets = {UNIT, WHOLE, rows_of(64)}, .grid = 4, .block = 128});
    const uint64_t moved = stat_of("regdram.rows_out");
    assert_true(moved > 0);
    assert_int_equal(moved % 64, 0);
    assert_int_equal(moved, 64 * (stat_of("regdram.launches") + stat_of("regdram.exchanges")));
    assert_int_equal(stat_of("regdram.rows_in"), moved);
    assert_int_equal(stat_of("l2.context_accesses"), 2 * moved + stat_of("sm.rows_late"));
    play_close();
    play_and_expect(&(struct play){.script = "ab#c",
                                   .mechs = {"regdram"},
                                   .settings = {"regdram.ctas=0"},
                                   .sets = {UNIT, WHOLE, rows_of(64)},
                                   .grid = 4,
                                   .block = 128},
                    (struct wanted[]){{"regdram.rows_out", 0}, {"regdram.resident_max", 1}, {0}});
}

/* ---- regmutex ---- */

/* Half of a thread's registers are its base set: more CTAs fit than with all registers. The pool has one
 * section: warps take turns. */
static void warps_share_sections(void **state)
{
    play(&(struct play){.script = "ab#c#d",
                        .mechs = {"regmutex"},
                        .settings = {"regmutex.base=0.3", "regmutex.srp=0.2"},
                        .sets = {"sm.register_unit=128", WHOLE, rows_of(80)},
                        .grid = 4,
                        .block = 64});
    assert_true(stat_of("regmutex.acquires") > 0);
    assert_true(stat_of("regmutex.section_stalls") > 0);
    assert_true(stat_of("regmutex.depleted_cycles") > 0);
    assert_int_equal(stat_of("regmutex.pool_rows"), 80 / 5);
    play_close();
    play(&(struct play){.script = "ab#c#d", /* all registers are its base set: there is no pool */
                        .mechs = {"regmutex"},
                        .settings = {"regmutex.base=1", "regmutex.srp=0.2"},
                        .sets = {"sm.register_unit=128", WHOLE, rows_of(80)},
                        .grid = 4,
                        .block = 64});
    expect_stats((struct wanted[]){{"regmutex.acquires", 0}, {"regmutex.pool_rows", 0}, {0}});
    play_close();
}

/* Eight values that are live from their definition to their use, with a loop between; repeated. */
static const char rounds_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry rounds(.param .u64 out, .param .u32 rounds, .param .u32 steps)\n{\n"
    ".reg .u64 %o, %x; .reg .u32 %s, %t, %r, %n, %a<9>; .reg .pred %p;\n"
    "ld.param.u64 %o, [out]; ld.param.u32 %r, [rounds];\n"
    "mov.u32 %t, %tid.x; mul.wide.u32 %x, %t, 4; add.u64 %o, %o, %x; mov.u32 %s, %t;\n"
    "round:\n"
    "xor.b32 %a1, %s, 1; xor.b32 %a2, %s, 2; xor.b32 %a3, %s, 3; xor.b32 %a4, %s, 4;\n"
    "xor.b32 %a5, %s, 5; xor.b32 %a6, %s, 6; xor.b32 %a7, %s, 7; xor.b32 %a8, %s, 8;\n"
    "ld.param.u32 %n, [steps];\n"
    "many:\nmad.lo.u32 %s, %s, %s, 1; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0;\n@%p bra many;\n"
    "add.u32 %s, %s, %a1; add.u32 %s, %s, %a2; add.u32 %s, %s, %a3; add.u32 %s, %s, %a4;\n"
    "add.u32 %s, %s, %a5; add.u32 %s, %s, %a6; add.u32 %s, %s, %a7; add.u32 %s, %s, %a8;\n"
    "sub.u32 %r, %r, 1; setp.ne.u32 %p, %r, 0;\n@%p bra round;\n"
    "st.global.u32 [%o], %s;\nret;\n}\n";

enum { ROUNDS = 3, BASE = 8 };

/* For two warps and each round: the cycle from which on more than the base set is live before the next
 * instruction, the cycle of the issue of this instruction, and the cycle from which on only the base set is
 * live again. */
static struct {
    bool is_above;
    uint32_t rounds;
    uint64_t asks[ROUNDS], issues[ROUNDS], ends[ROUNDS];
} turns[2];

static void turns_on_next(void *state, const struct mech_next *e)
{
    const bool is_above = __builtin_popcountll(e->live[0]) > BASE;
    uint32_t *round = &turns[e->warp].rounds;
    if (is_above == turns[e->warp].is_above) return;
    turns[e->warp].is_above = is_above;
    assert_true(*round < ROUNDS);
    if (is_above)
        turns[e->warp].asks[*round] = e->cycle;
    else
        turns[e->warp].ends[(*round)++] = e->cycle;
}

static void turns_on_issue(void *state, const struct mech_issue *e)
{
    const uint32_t round = turns[e->warp].rounds;
    if (turns[e->warp].is_above && !turns[e->warp].issues[round]) turns[e->warp].issues[round] = e->cycle;
}

/* Opens, runs and checks the sums; the rig stays open. Returns the number of cycles. */
static uint64_t take_turns(const char *srp, uint32_t steps)
{
    enum { THREADS = 64 };
    memset(turns, 0, sizeof turns);
    blank_fill((struct mechanism){.on_next = turns_on_next, .on_issue = turns_on_issue});
    const char *const mechs[] = {"regmutex", blank_file}, *const settings[] = {"regmutex.base=0.4", srp};
    const char *const sets[] = {
        "sm.count=1", "sm.schedulers=1", "sm.perfect_icache=true", "sm.register_unit=128",
        WHOLE,        rows_of(80)};
    rig_open(&rig, rounds_ptx,
             &(struct rig_options){.sets = sets,
                                   .set_count = ARRAY_LEN(sets),
                                   .timed = {.mechs = mechs,
                                             .mech_count = ARRAY_LEN(mechs),
                                             .mech_settings = settings,
                                             .mech_setting_count = ARRAY_LEN(settings)}});
    const uint64_t out = rig_alloc(&rig, 4 * THREADS);
    rig_run(&rig, "rounds", 1, THREADS, (const uint64_t[]){out, ROUNDS, steps});
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t sum = i;
        for (uint32_t r = 0; r < ROUNDS; r++) {
            uint32_t values = 0;
            for (uint32_t k = 1; k <= 8; k++) values += sum ^ k;
            for (uint32_t k = 0; k < steps; k++) sum = sum * sum + 1;
            sum += values;
        }
        assert_int_equal(((uint32_t *)(uintptr_t)out)[i], sum);
    }
    return rig_cycles(&rig, 0);
}

/* 18 registers, 8 of them in the base set: a section has 10 rows, and the pool 12. Two warps of one scheduler
 * ask for the section three times each. The first finds it free; from then on each asks while the other holds
 * it, and issues in the cycle after the other has given it back. A longer loop lengthens only each of the six
 * turns, which follow one another. With a pool of 20 rows, two sections, no warp waits. */
static void two_warps_alternate(void **state)
{
    uint64_t cycles[2], held[2];
    for (uint32_t i = 0; i < 2; i++) {
        cycles[i] = take_turns("regmutex.srp=0.15", i ? 30 : 20);
        const uint32_t first = turns[1].asks[0] < turns[0].asks[0];
        uint64_t waited = 0;
        held[i] = 0;
        for (uint32_t turn = 0; turn < 2 * ROUNDS; turn++) {
            const uint32_t warp = (first + turn) % 2, round = turn / 2;
            const uint64_t asked = turns[warp].asks[round], issued = turns[warp].issues[round];
            const uint64_t given = turn ? turns[!warp].ends[(turn - 1) / 2] : asked;
            assert_int_equal(turns[warp].rounds, ROUNDS);
            assert_true(given > asked || !turn);
            assert_int_equal(issued, given + 1);
            waited += given - asked;
            held[i] += turns[warp].ends[round] - issued;
        }
        expect_stats((struct wanted[]){{"regmutex.sections", 1},
                                       {"regmutex.acquires", 2 * ROUNDS},
                                       {"regmutex.section_stalls", 2 * ROUNDS - 1},
                                       {"regmutex.section_cycles", waited},
                                       {"regmutex.depleted_cycles", waited},
                                       {0}});
        play_close();
    }
    assert_true(held[1] > held[0]);
    assert_int_equal(cycles[1] - cycles[0], held[1] - held[0]);
    take_turns("regmutex.srp=0.25", 20);
    expect_stats((struct wanted[]){{"regmutex.sections", 2},
                                   {"regmutex.acquires", 2 * ROUNDS},
                                   {"regmutex.section_stalls", 0},
                                   {"regmutex.section_cycles", 0},
                                   {0}});
    play_close();
}

/* ---- unified ---- */

/* 16 KB of separate registers hold those of all CTAs that fit: the whole unified store is L1. */
static void what_is_left_is_l1(void **state)
{
    play_and_expect(&(struct play){.script = "abcdefgh abcdefgh",
                                   .mechs = {"unified"},
                                   .settings = {"unified.bytes=16K", "unified.own_registers=16K"},
                                   .sets = {UNIT, WHOLE, rows_of(256)}},
                    (struct wanted[]){{"unified.lines_max", 128}, {"l1.global_load_hits", 8}, {0}});
    play_and_expect(&(struct play){.script = "abcdefgh abcdefgh",
                                   .mechs = {"unified"},
                                   .settings = {"unified.bytes=16K", "unified.own_registers=0",
                                                "unified.beside=vt", "unified.pcrf=15872"},
                                   .sets = {UNIT, WHOLE, rows_of(256)}},
                    (struct wanted[]){{"unified.lines_max", 1}, {"l1.global_load_hits", 0}, {0}});
}

/* ---- the same result ---- */

static void runs_are_the_same_whatever_is_skipped(void **state)
{
    static const char script[] = "ab#A_*c#";
    static const char *const mechs[] = {"vt", "finereg", "regdram", "regmutex"};
    for (size_t i = 0; i < ARRAY_LEN(mechs); i++) {
        struct play p = {.script = script, .mechs = {mechs[i]}, .sets = {"sm.warps=8"}, .grid = 9};
        if (!strcmp(mechs[i], "finereg")) {
            p.settings[0] = "finereg.acrf=64K";
            p.settings[1] = "finereg.pcrf=64K";
        }
        expect_same_everywhere(&p);
    }
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(registers_bound_the_ctas_of_vt),
        RIG_TEST(vt_hides_a_stall),
        RIG_TEST(a_cta_leaves_if_its_live_rows_fit),
        RIG_TEST(nothing_that_is_needed_is_lost),
        RIG_TEST(what_shared_memory_bounds_stays),
        RIG_TEST(vectors_are_read_once),
        RIG_TEST(registers_of_callers_are_saved),
        RIG_TEST(all_registers_travel),
        RIG_TEST(warps_share_sections),
        RIG_TEST(two_warps_alternate),
        RIG_TEST(what_is_left_is_l1),
        RIG_TEST(runs_are_the_same_whatever_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
