/* test_mech_copies.c: what a mechanism can learn of the L1s of other SMs: which L1s hold a line (sharers),
 * the age of a copy (copy_as_of), and the age of data that is read from a copy (miss_as_of). */
#include "hooks_kit.h"

enum { SMS = 2, END = 4000 };

static uint32_t use_sharers(const void *params) { return MECH_USES_SHARERS; }
static uint32_t use_ages(const void *params) { return MECH_USES_SHARERS | MECH_USES_AGES; }

/* One warp on each of two SMs, and one line. SM 0: a load, a store and another load; SM 1: a load; each at
 * the given time of the clock, or never where that is 0. Both end at the cycle END. */
/* clang-format off */
#define UNTIL(name)                                                                                          \
    "ld.param.u32 %w, [" name "]; setp.eq.u32 %q, %w, 0;\n@%q bra no_" name ";\nwait_" name ":\n"            \
    "mov.u32 %c, %clock; setp.lt.u32 %p, %c, %w;\n@%p bra wait_" name ";\n"
static const char copies_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry copies(.param .u64 buf, .param .u64 out, .param .u32 load, .param .u32 store,\n"
    ".param .u32 again, .param .u32 other, .param .u32 end)\n{\n"
    ".reg .u64 %b, %o; .reg .u32 %c, %w, %v, %s, %i; .reg .pred %p, %q;\n"
    "ld.param.u64 %b, [buf]; ld.param.u64 %o, [out]; mov.u32 %i, %smid; mov.u32 %s, 0;\n"
    "setp.ne.u32 %p, %i, 0;\n@%p bra one;\n"
    UNTIL("load") "ld.global.ca.u32 %v, [%b]; add.u32 %s, %s, %v;\nno_load:\n"
    UNTIL("store") "st.global.u32 [%b], 7;\nno_store:\n"
    UNTIL("again") "ld.global.ca.u32 %v, [%b]; add.u32 %s, %s, %v;\nno_again:\nbra.uni last;\none:\n"
    UNTIL("other") "ld.global.ca.u32 %v, [%b]; add.u32 %s, %s, %v;\nno_other:\nlast:\n"
    UNTIL("end") "no_end:\nmul.wide.u32 %b, %i, 4; add.u64 %o, %o, %b; st.global.u32 [%o], %s;\nret;\n}\n";
/* clang-format on */

struct times {
    uint32_t load, store, again, other;
};

/* ---- what is seen ---- */

static uint64_t line;
/* [SM]: what it sees every SAMPLE cycles. */
enum { SAMPLE = 50, SAMPLES = END / SAMPLE };
static struct {
    uint64_t holders, as_of[SMS];
} seen[SMS][SAMPLES];

static void see_copies(void *state, uint64_t cycle)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    if (cycle / SAMPLE >= SAMPLES) return;
    seen[p->sm][cycle / SAMPLE].holders = p->sharers(p->host, line)[0];
    for (uint32_t i = 0; i < SMS; i++) seen[p->sm][cycle / SAMPLE].as_of[i] = p->copy_as_of(p->host, i, line);
}

static void play_copies(struct mechanism hooks, struct times t)
{
    static const char *const sets[] = {"sm.count=2"};
    hooks.timer_cycles = SAMPLE;
    hooks.on_timer = see_copies;
    hooks.uses = use_ages;
    attach(hooks);
    memset(seen, 0, sizeof seen);
    const struct play p = with_blank("");
    rig_open(
        &rig, copies_ptx,
        &(struct rig_options){.sets = sets, .set_count = 1, .timed = {.mechs = p.mechs, .mech_count = 1}});
    line = rig_alloc(&rig, LINE_BYTES);
    rig_run(&rig, "copies", SMS, 32,
            (const uint64_t[]){line, rig_alloc(&rig, LINE_BYTES), t.load, t.store, t.again, t.other, END});
    play_close();
}

/* At this cycle every SM sees the same holders of the line. */
static void expect_holders(uint64_t cycle, uint64_t holders)
{
    for (uint32_t sm = 0; sm < SMS; sm++)
        if (seen[sm][cycle / SAMPLE].holders != holders)
            fail_msg("SM %u at cycle %llu: %#llx, not %#llx", sm, (unsigned long long)cycle,
                     (unsigned long long)seen[sm][cycle / SAMPLE].holders, (unsigned long long)holders);
}
static uint64_t as_of(uint64_t cycle, uint32_t copy)
{
    const uint64_t first = seen[0][cycle / SAMPLE].as_of[copy];
    assert_int_equal(first, seen[1][cycle / SAMPLE].as_of[copy]);
    return first;
}

/* ---- sharers, copy_as_of ---- */

/* SM 0 loads the line, then SM 1; the store of SM 0 drops the line in its own L1, and the copy of SM 1 is old
 * when the L2 has performed the store. */
static void sharers_tells_who_holds_a_line_and_copy_as_of_what_is_old(void **state)
{
    play_copies((struct mechanism){0}, (struct times){.load = 200, .other = 1200, .store = 2200});
    expect_holders(150, 0);
    expect_holders(1150, 1);
    expect_holders(2150, 3);
    expect_holders(2900, 2);
    assert_int_not_equal(as_of(1150, 0), 0);
    assert_int_not_equal(as_of(2150, 0), 0);
    assert_int_not_equal(as_of(2150, 1), 0);
    assert_int_equal(as_of(2900, 1), 0);
    /* a copy that was read after the store contains it */
    play_copies((struct mechanism){0}, (struct times){.store = 200, .other = 1200});
    expect_holders(2150, 2);
    assert_int_not_equal(as_of(2150, 1), 0);
}

static void sum_copies(void *state, uint64_t cycle)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t at = line_at((char)('a' + i));
        tell(state, 0, cycle, p->sharers(p->host, at)[0] << 8 * i);
        tell(state, 1, cycle, p->copy_as_of(p->host, (p->sm + i) % p->sm_count, at));
    }
}

static void what_an_sm_sees_of_others_is_the_same_whatever_is_skipped(void **state)
{
    attach((struct mechanism){.uses = use_ages, .timer_cycles = 20, .on_timer = sum_copies});
    const struct play p = with_blank("abc#Aa_Bb*#cCc");
    expect_same_everywhere(&p);
}

/* ---- miss_as_of ---- */

static bool tells_age;

/* The second load of SM 0 gets the data of SM 1's copy. */
static void fill_from_other(void *state, const struct mech_l1_access *a, uint32_t token,
                            struct mech_miss *answer)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    if (p->sm != 0 || a->line != line || !(p->sharers(p->host, line)[0] & 2)) return;
    *answer = (struct mech_miss){MECH_MISS_FILL, 9};
    if (tells_age) p->miss_as_of(p->host, token, p->copy_as_of(p->host, 1, line));
}

/* SM 1 reads the line after the store, and SM 0 makes a copy of this copy. The new copy has the same age if
 * the mechanism says so, and otherwise counts as older than the store. */
static void data_is_as_old_as_miss_as_of_says(void **state)
{
    for (int tells = 0; tells < 2; tells++) {
        tells_age = tells;
        play_copies((struct mechanism){.take_miss = fill_from_other},
                    (struct times){.store = 200, .other = 1200, .again = 2200});
        expect_holders(2150, 2);
        expect_holders(2900, 3);
        assert_int_not_equal(as_of(2900, 1), 0);
        assert_int_equal(as_of(2900, 0), tells ? as_of(2900, 1) : 0);
    }
    /* a copy of an old copy is old */
    tells_age = true;
    play_copies((struct mechanism){.take_miss = fill_from_other},
                (struct times){.other = 200, .store = 1200, .again = 2200});
    expect_holders(2900, 3);
    assert_int_equal(as_of(2900, 0), 0);
}

static void fill_from_anyone(void *state, const struct mech_l1_access *a, uint32_t token,
                             struct mech_miss *answer)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    const uint64_t others = p->sharers(p->host, a->line)[0] & ~(1ull << p->sm);
    if (!others) return;
    const uint32_t other = (uint32_t)__builtin_ctzll(others);
    const uint64_t age = p->copy_as_of(p->host, other, a->line);
    *answer = (struct mech_miss){MECH_MISS_FILL, 9};
    p->miss_as_of(p->host, token, age);
    tell(state, 2, a->cycle, age);
    tell(state, 3, a->cycle, other);
}

static void copies_of_copies_are_the_same_whatever_is_skipped(void **state)
{
    for (int claims = 0; claims < 2; claims++) {
        attach((struct mechanism){.uses = use_ages,
                                  .timer_cycles = 20,
                                  .claims_lines = claims,
                                  .on_timer = sum_copies,
                                  .take_miss = fill_from_anyone});
        const struct play p = with_blank("abc#Aa_Bb*#cCc");
        expect_same_everywhere(&p);
    }
}

/* ---- sharers alone ---- */

static void sum_sharers(void *state, const struct mech_l1_access *a)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    if (!a->is_local) tell(state, 0, a->cycle, p->sharers(p->host, a->line)[0]);
}

static void sharers_needs_no_ages(void **state)
{
    attach((struct mechanism){.uses = use_sharers, .on_l1_access = sum_sharers});
    const struct play p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(sharers_tells_who_holds_a_line_and_copy_as_of_what_is_old),
        RIG_TEST(what_an_sm_sees_of_others_is_the_same_whatever_is_skipped),
        RIG_TEST(data_is_as_old_as_miss_as_of_says),
        RIG_TEST(copies_of_copies_are_the_same_whatever_is_skipped),
        RIG_TEST(sharers_needs_no_ages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
