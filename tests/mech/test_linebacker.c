/* test_linebacker.c: Linebacker and its rivals on a machine: hits and bytes counted on paper. */
#include "script_kit.h"

/* ---- a loop over lines ---- */

/* Each warp loads `lines` lines, 32 at a time, again and again, with a barrier after each pass; where
 * `stream` is not 0, it also loads lines that it never loads again. Thread sums go to out. */
static const char loop_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry loop(.param .u64 buf, .param .u64 out, .param .u32 lines, .param .u32 passes,\n"
    "                     .param .u64 stream)\n{\n"
    ".reg .u64 %b, %o, %a, %x, %q; .reg .u32 %v, %s, %t, %c, %n, %i, %l, %p; .reg .pred %r, %z;\n"
    "ld.param.u64 %b, [buf]; ld.param.u64 %o, [out]; ld.param.u32 %n, [lines]; ld.param.u32 %p, [passes];\n"
    "ld.param.u64 %q, [stream]; setp.ne.u64 %z, %q, 0;\n"
    "mov.u32 %t, %tid.x; and.b32 %l, %t, 31; mov.u32 %s, 0; mul.wide.u32 %x, %t, 128; add.u64 %q, %q, %x;\n"
    "again:\nmov.u32 %i, %l;\n"
    "each:\nsetp.ge.u32 %r, %i, %n; mul.wide.u32 %a, %i, 128; add.u64 %a, %b, %a; mov.u32 %v, 0;\n"
    "@!%r ld.global.u32 %v, [%a];\nadd.u32 %s, %s, %v;\n"
    "@%z ld.global.u32 %v, [%q];\n@%z add.u32 %s, %s, %v;\n@%z add.u64 %q, %q, 32768;\n"
    "add.u32 %i, %i, 32; sub.u32 %c, %i, %l; setp.lt.u32 %r, %c, %n;\n@%r bra each;\n"
    "bar.sync 0;\nsub.u32 %p, %p, 1; setp.ne.u32 %r, %p, 0;\n@%r bra again;\n"
    "mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %c, %n, %t;\n"
    "mul.wide.u32 %x, %t, 4; add.u64 %o, %o, %x; st.global.u32 [%o], %s;\nret;\n}\n";

enum { LOOP_LINES = 500, STREAM_BYTES = 48 << 20 };
#define MAXWELL "overlays/maxwell-gpgpusim"

struct loop {
    const char *mechs[SCRIPT_LIST], *settings[SCRIPT_LIST], *sets[SCRIPT_LIST];
    uint32_t lines, passes, grid, block;
    bool streams;
};

/* Opens, runs and checks the sums; the rig stays open. */
static void loop(const struct loop *p)
{
    const uint32_t grid = p->grid ? p->grid : 1, block = p->block ? p->block : 32;
    const char *sets[SCRIPT_LIST + 1] = {"sm.count=1"};
    uint32_t n = 1;
    for (uint32_t i = 0; i < script_count(p->sets); i++) sets[n++] = p->sets[i];
    rig_open(&rig, loop_ptx,
             &(struct rig_options){.machine = MAXWELL,
                                   .sets = sets,
                                   .set_count = n,
                                   .timed = {.mechs = p->mechs,
                                             .mech_count = script_count(p->mechs),
                                             .mech_settings = p->settings,
                                             .mech_setting_count = script_count(p->settings)}});
    const uint64_t buf = rig_alloc(&rig, (uint64_t)p->lines * LINE_BYTES),
                   out = rig_alloc(&rig, 4 * grid * block);
    const uint64_t stream = p->streams ? rig_alloc(&rig, STREAM_BYTES) : 0;
    for (uint32_t i = 0; i < p->lines; i++) *(uint32_t *)(uintptr_t)(buf + i * LINE_BYTES) = i;
    rig_run(&rig, "loop", grid, block, (const uint64_t[]){buf, out, p->lines, p->passes, stream});
    for (uint32_t i = 0; i < grid * block; i++) {
        uint32_t sum = 0;
        for (uint32_t k = i % 32; k < p->lines; k += 32) sum += k;
        assert_int_equal(((uint32_t *)(uintptr_t)out)[i], sum * p->passes);
    }
}

static uint64_t loop_cycles(const struct loop *p)
{
    loop(p);
    const uint64_t cycles = rig_cycles(&rig, 0);
    play_close();
    return cycles;
}

#define SVC                                                                                                  \
    {                                                                                                        \
        "linebacker.throttle=false"                                                                          \
    }
#define VC                                                                                                   \
    {                                                                                                        \
        "linebacker.throttle=false", "linebacker.select=false"                                               \
    }

/* 500 lines do not fit the 384 of the L1, which drops each before it comes again. Once the load is chosen,
 * 116 lines move into rows, and all others stay in the L1. */
static void a_loop_over_500_lines_misses_no_more(void **state)
{
    uint64_t hits[2], found[2], read[2];
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t passes = 60 + 10 * i;
        loop(&(struct loop){.mechs = {"linebacker"}, .settings = SVC, .lines = LOOP_LINES, .passes = passes});
        hits[i] = stat_of("l1.global_load_hits");
        found[i] = stat_of("linebacker.hits");
        read[i] = stat_of("l1.requests_read");
        assert_int_equal(stat_of("linebacker.choices"), 1);
        assert_int_equal(stat_of("linebacker.choice_windows"), 2);
        assert_int_equal(stat_of("linebacker.chosen_loads"), 1);
        assert_int_equal(stat_of("linebacker.inserts"), 116);
        play_close();
    }
    assert_int_equal(hits[1] - hits[0], 10 * 384);
    assert_int_equal(found[1] - found[0], 10 * 116);
    assert_int_equal(read[1], read[0]);
    loop(&(struct loop){.lines = LOOP_LINES, .passes = 60});
    assert_int_equal(stat_of("l1.global_load_hits"), 0);
    play_close();
}

/* Without a hot load the machine runs as without the mechanism, during and after monitoring. */
static void without_a_hot_load_nothing_changes(void **state)
{
    struct loop p = {.lines = 32, .passes = 1, .grid = 64, .block = 256, .streams = true};
    p.lines = 600;
    const uint64_t alone = loop_cycles(&p);
    p.mechs[0] = "linebacker";
    p.settings[0] = "linebacker.window=1000";
    p.settings[1] = "linebacker.threshold=100";
    loop(&p);
    assert_int_equal(rig_cycles(&rig, 0), alone);
    assert_int_equal(stat_of("linebacker.kernels_off"), 1);
    assert_int_equal(stat_of("sm.rows_out"), 0);
    play_close();
}

/* Lines of the stream push lines of the loop out of the L1, but never go into a row. */
static void a_streaming_load_is_not_chosen(void **state)
{
    struct loop p = {.mechs = {"linebacker"}, .settings = SVC, .passes = 60, .streams = true};
    p.lines = LOOP_LINES;
    loop(&p);
    assert_int_equal(stat_of("linebacker.chosen_loads"), 1);
    assert_in_range(stat_of("linebacker.inserts"), 116, LOOP_LINES);
    play_close();
    p.settings[1] = "linebacker.select=false";
    loop(&p);
    assert_true(stat_of("linebacker.inserts") > 10 * LOOP_LINES);
    play_close();
}

static void a_kernel_that_ends_before_two_windows_is_counted(void **state)
{
    loop(&(struct loop){.mechs = {"linebacker"}, .lines = 64, .passes = 2});
    assert_int_equal(stat_of("linebacker.kernels_short"), 1);
    assert_int_equal(stat_of("linebacker.choices"), 0);
    play_close();
}

/* ---- rows and partitions ---- */

/* Registers are allocated in units of this many rows: a warp of a short script has one unit. */
enum { WARP_ROWS = 16 };
#define UNIT "sm.register_unit=512"

/* One set of four lines; partitions of one row each, of which `partitions` lie above the CTA's rows. */
static struct play tiny_vc(const char *script, const char *partitions)
{
    return (struct play){.script = script,
                         .mechs = {"linebacker"},
                         .settings = {"linebacker.throttle=false", "linebacker.select=false",
                                      "linebacker.ways=1", "linebacker.first_row=16", partitions},
                         .sets = {UNIT}};
}

/* Three rounds over six lines: a goes into the first partition, b into the second, where two rounds find
 * them. The first load of each line searches both partitions. */
static void a_search_takes_its_time_partition_by_partition(void **state)
{
    uint64_t cycles[2];
    static const char *const latencies[] = {"linebacker.vp_latency=3", "linebacker.vp_latency=13"};
    for (size_t i = 0; i < ARRAY_LEN(latencies); i++) {
        struct play p = tiny_vc("abcdef abcdef abcdef", "linebacker.partitions=2");
        p.settings[5] = latencies[i];
        play(&p);
        expect_stats((struct wanted[]){{"linebacker.hits", 4},
                                       {"linebacker.lookups", 10},
                                       {"linebacker.inserts", 2},
                                       {"linebacker.search_cycles", (6 * 2 + 2 * (1 + 2)) * (i ? 13u : 3u)},
                                       {0}});
        cycles[i] = rig_cycles(&rig, 0) - stat_of("linebacker.conflicts");
        play_close();
    }
    assert_int_equal(cycles[1] - cycles[0], (6 * 2 + 2 * (1 + 2)) * 10);
}

/* For each load, in order: the cycle of its access to the L1, and of the issue that needs its value. */
static struct {
    uint64_t id, writes, access, use;
} timed_loads[32];
static uint32_t timed_count;

static void time_issue(void *state, const struct mech_issue *e)
{
    const uint32_t i = timed_count - 1;
    if (timed_count && !timed_loads[i].use && e->reads[0] & timed_loads[i].writes)
        timed_loads[i].use = e->cycle;
    if (!e->is_load || !e->is_global) return;
    assert_true(timed_count < ARRAY_LEN(timed_loads));
    timed_loads[timed_count].id = e->id;
    timed_loads[timed_count++].writes = e->writes[0];
}
static void time_access(void *state, const struct mech_l1_access *e)
{
    for (uint32_t i = 0; i < timed_count; i++)
        if (timed_loads[i].id == e->id) timed_loads[i].access = e->cycle;
}

/* A load that hits the L1 has its value l1.latency after the access, less the time before it at the tags. A
 * load that hits a row has its value later: by a search of the partitions up to that of its line, and a
 * cycle for the bank of the row. The second round finds a in the first partition, b in the second and c in
 * the L1. */
static void a_hit_in_registers_takes_the_l1_the_search_and_a_bank(void **state)
{
    static const struct {
        uint32_t latency, tag_latency, vp_latency;
    } rows[] = {{40, 0, 3}, {40, 0, 13}, {60, 0, 3}, {60, 0, 0}, {60, 8, 3}};
    enum { SECOND_ROUND = 6 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char latency[32], tag_latency[32], vp_latency[32];
        snprintf(latency, sizeof latency, "l1.latency=%u", rows[i].latency);
        snprintf(tag_latency, sizeof tag_latency, "l1.tag_latency=%u", rows[i].tag_latency);
        snprintf(vp_latency, sizeof vp_latency, "linebacker.vp_latency=%u", rows[i].vp_latency);
        struct play p = tiny_vc("abcdef abc", "linebacker.partitions=2");
        p.mechs[1] = blank_file;
        p.settings[5] = vp_latency;
        p.sets[1] = latency;
        p.sets[2] = tag_latency;
        timed_count = 0;
        memset(timed_loads, 0, sizeof timed_loads);
        blank_fill((struct mechanism){.on_issue = time_issue, .on_l1_access = time_access});
        play(&p);
        expect_stats((struct wanted[]){
            {"linebacker.hits", 2}, {"l1.global_load_hits", 1}, {"linebacker.conflicts", 0}, {0}});
        assert_int_equal(timed_count, SECOND_ROUND + 3);
        const uint32_t l1 = rows[i].latency - rows[i].tag_latency;
        const uint64_t wanted[] = {l1 + rows[i].vp_latency * 1 + 1, l1 + rows[i].vp_latency * 2 + 1, l1};
        for (uint32_t k = 0; k < ARRAY_LEN(wanted); k++)
            assert_int_equal(timed_loads[SECOND_ROUND + k].use - timed_loads[SECOND_ROUND + k].access,
                             wanted[k]);
        play_close();
    }
}

static void stores_atomics_and_the_end_of_a_kernel_drop_a_line(void **state)
{
    struct play p = tiny_vc("abcde A a", "linebacker.partitions=8");
    play_and_expect(&p, (struct wanted[]){{"linebacker.invalidations", 1}, {"linebacker.hits", 0}, {0}});
    p.script = "abcde * a";
    play_and_expect(&p, (struct wanted[]){{"linebacker.invalidations", 1}, {"linebacker.hits", 0}, {0}});
    p.script = "abcde a";
    play_and_expect(&p, (struct wanted[]){{"linebacker.invalidations", 0}, {"linebacker.hits", 1}, {0}});
    p.sets[1] = "l1.flush=false";
    play(&p);
    rig_run(&rig, "play", 1, 32, (const uint64_t[]){script_buf, rig_alloc(&rig, 128)});
    assert_int_equal(rig_stat(&rig, 1, "linebacker.hits"), 1); /* its own line: e pushed a out again */
    play_close();
}

/* A partition of 192 rows is in use where as many rows lie above the last row of the CTA. */
static void a_partition_needs_all_of_its_rows(void **state)
{
    static const struct {
        const char *first_row, *registers;
        bool is_on;
    } rows[] = {{"linebacker.first_row=16", "sm.registers=6656", true},   /* 16 + 192 rows */
                {"linebacker.first_row=15", "sm.registers=6624", false}}; /* 15 + 192 */
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        play(&(struct play){
            .script = "ab",
            .mechs = {"linebacker"},
            .settings = {"linebacker.throttle=false", "linebacker.select=false", rows[i].first_row},
            .sets = {"sm.count=1", "l1.size=48K", "l1.ways=8", UNIT, "sm.register_unit=512",
                     rows[i].registers}});
        assert_int_equal(stat_of("linebacker.used_rows") > 0, rows[i].is_on);
        assert_true(stat_of("linebacker.active_cycles") > 0);
        play_close();
    }
}

/* ---- throttling ---- */

static struct {
    struct mech_cta events[64];
    uint32_t count;
    bool is_out[8];
    uint64_t issued_while_out;
} seen;

static void see_cta(void *state, const struct mech_cta *e)
{
    if (seen.count < ARRAY_LEN(seen.events)) seen.events[seen.count++] = *e;
    if (e->kind == MECH_CTA_REGISTERS_OUT) seen.is_out[e->cta_slot] = true;
    if (e->kind == MECH_CTA_REGISTERS_IN) seen.is_out[e->cta_slot] = false;
}
/* CTAs of eight warps, in consecutive slots. */
static void see_issue(void *state, const struct mech_issue *e)
{
    seen.issued_while_out += seen.is_out[e->warp / 8];
}

/* Four CTAs that go over the same 700 lines: the load is hot, and the CTA in the largest slot is throttled.
 * All of its registers leave and come back. */
static void a_throttled_cta_keeps_its_registers_in_memory(void **state)
{
    memset(&seen, 0, sizeof seen);
    blank_fill((struct mechanism){.on_cta = see_cta, .on_issue = see_issue});
    loop(&(struct loop){.mechs = {"linebacker", blank_file},
                        .settings = {"linebacker.window=5000"},
                        .sets = {"sm.ctas=4"},
                        .lines = 700,
                        .passes = 20,
                        .grid = 12,
                        .block = 256});
    const struct mech_cta *out = NULL;
    for (uint32_t i = 0; i < seen.count && !out; i++)
        if (seen.events[i].kind == MECH_CTA_REGISTERS_OUT) out = &seen.events[i];
    assert_non_null(out);
    assert_int_equal(out->cta_slot, 3);
    assert_int_equal(seen.issued_while_out, 0);
    assert_true(stat_of("linebacker.throttles") > 0);
    assert_int_equal(stat_of("sm.rows_out"), stat_of("linebacker.throttles") * out->rows);
    assert_int_equal(stat_of("sm.rows_in"), stat_of("sm.rows_out"));
    assert_int_equal(stat_of("l2.context_accesses"), 2 * stat_of("sm.rows_out"));
    assert_true(stat_of("linebacker.idle_dynamic") > 0);
    play_close();
}

/* The registers of three CTAs fill the file except for 100 rows; with one of them out there is room for
 * lines, from the last acknowledgement on. */
static void rows_of_a_throttled_cta_hold_lines(void **state)
{
    struct loop p = {.mechs = {"linebacker"},
                     .settings = {"linebacker.window=5000"},
                     .sets = {"sm.ctas=3", UNIT, "sm.registers=27776"}, /* 3 * 8 * 32 + 100 rows */
                     .lines = LOOP_LINES,
                     .passes = 20,
                     .grid = 3,
                     .block = 256};
    loop(&p);
    assert_true(stat_of("linebacker.inserts") > 0 && stat_of("linebacker.hits") > 0);
    play_close();
    p.settings[1] = "linebacker.throttle=false";
    loop(&p);
    assert_int_equal(stat_of("linebacker.choices"), 1);
    assert_int_equal(stat_of("linebacker.inserts"), 0);
    play_close();
}

/* ---- rivals ---- */

static void cacheext_gives_the_l1_what_no_cta_can_have(void **state)
{
    /* one CTA of 32 rows: 2016 rows are left, 42 ways of 48 lines */
    loop(&(struct loop){
        .mechs = {"cacheext"}, .sets = {"sm.ctas=1", UNIT}, .lines = LOOP_LINES, .passes = 10});
    assert_int_equal(stat_of("cacheext.lines"), 42 * 48);
    assert_int_equal(stat_of("l1.requests_read"), LOOP_LINES);
    play_close();
    loop(&(struct loop){
        .mechs = {"cacheext"},
        .sets = {"sm.ctas=1", UNIT, "sm.registers=2016"}, /* 63 rows: 31 are idle, not enough for a way */
        .lines = LOOP_LINES,
        .passes = 10});
    assert_int_equal(stat_of("cacheext.lines"), 0);
    assert_int_equal(stat_of("l1.global_load_hits"), 0);
    play_close();
    /* 32 CTAs fit: 1024 rows are left, 21 ways; with a limit of one CTA it is 42 ways again */
    loop(&(struct loop){.mechs = {"cacheext"}, .sets = {UNIT}, .lines = LOOP_LINES, .passes = 10});
    assert_int_equal(stat_of("cacheext.lines"), 21 * 48);
    play_close();
    loop(&(struct loop){.mechs = {"cacheext", "swl"},
                        .settings = {"cacheext.ctas=1", "swl.ctas=1"},
                        .sets = {UNIT},
                        .lines = LOOP_LINES,
                        .passes = 10});
    assert_int_equal(stat_of("cacheext.lines"), 42 * 48);
    play_close();
}

static void cerf_hits_in_rows_and_takes_their_banks(void **state)
{
    struct loop p = {.mechs = {"cerf"}, .settings = {"cerf.idle=0"}, .lines = LOOP_LINES, .passes = 10};
    p.sets[0] = UNIT;
    loop(&p);
    assert_int_equal(stat_of("l1.requests_read"), LOOP_LINES);
    assert_int_equal(stat_of("cerf.reads"), 9 * 116);
    assert_int_equal(stat_of("cerf.writes"), 116);
    assert_int_equal(stat_of("cerf.hits"), 9 * LOOP_LINES);
    assert_int_equal(stat_of("sm.lent_accesses"), 10 * LOOP_LINES); /* registers and lines are in one store */
    play_close();
}

static void loads_sees_what_is_reused_and_what_streams(void **state)
{
    loop(&(struct loop){.mechs = {"loads"},
                        .settings = {"loads.window=10000000"},
                        .lines = 96,
                        .passes = 10,
                        .streams = true});
    expect_stats((struct wanted[]){{"loads.windows", 1},
                                   {"loads.reused_lines", 96},
                                   {"loads.own_lines", 96},
                                   {"loads.streaming_lines", 10 * 3 * 32},
                                   {"loads.streaming_loads", 1},
                                   {"loads.overflows", 0},
                                   {"loads.loads", 2},
                                   {0}});
    play_close();
}

/* ---- what does not fit ---- */

/* A machine with these parameters and mechanisms is refused with this message. */
static void refused(const char *mech, const char *beside, const char *setting, const char *set,
                    const char *words)
{
    const char *const mechs[] = {mech, beside}, *const settings[] = {setting}, *const sets[] = {set};
    struct diag_list d = {0};
    struct strbuf said = {0};
    static struct machine machine;
    assert_true(machine_load(MAXWELL, sets, set ? 1 : 0, &machine, &d));
    const struct emu_limits limits = limits_from_machine(&machine);
    struct emu_device *device = emu_device_create(&limits, 1 << 20);
    const struct timed_options o = {.mechs = mechs,
                                    .mech_count = beside ? 2 : 1,
                                    .mech_settings = settings,
                                    .mech_setting_count = setting ? 1 : 0};
    assert_null(timed_create(&machine, device, &o, &d));
    diag_render(&d, &said);
    if (!strstr(strbuf_text(&said), words)) fail_msg("not '%s' but: %s", words, strbuf_text(&said));
    strbuf_free(&said);
    diag_free(&d);
    emu_device_destroy(device);
}

static void what_does_not_fit_is_refused(void **state)
{
    refused("linebacker", NULL, NULL, "l1.line=64", "l1.line is 64; a row of registers holds a line of 128");
    refused("linebacker", NULL, NULL, "sm.registers=22496", /* 703 rows */
            "the register file has 703 rows, and one partition of 48 sets needs linebacker.first_row + 192 = "
            "704");
    refused("linebacker", NULL, "linebacker.select=false", NULL,
            "linebacker.throttle needs linebacker.select");
    refused("linebacker", "cerf", NULL, NULL, "'linebacker' and 'cerf' both own");
    refused("loads", NULL, "loads.lines=100", NULL, "loads.lines must be a power of two");
    refused("linebacker", NULL, "linebacker.ways=0", NULL, "linebacker.ways");
}

/* ---- the same result ---- */

static void runs_are_the_same_whatever_is_skipped(void **state)
{
    static const char script[] = "abcdef#ABa_*bc#def_#abcdef#abc_#def";
    static const struct {
        const char *mechs[2], *settings[6];
    } rows[] = {
        {{"linebacker"},
         {"linebacker.window=200", "linebacker.first_row=16", "linebacker.ways=1", "linebacker.agree=load"}},
        {{"linebacker"},
         {"linebacker.throttle=false", "linebacker.select=false", "linebacker.first_row=16",
          "linebacker.ways=2"}},
        {{"cerf"}, {"cerf.period=150", "cerf.idle=100"}},
        {{"cacheext", "loads"}, {"loads.window=300"}}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct play p = {.script = script, .sets = {UNIT}, .grid = 12};
        memcpy(p.mechs, rows[i].mechs, sizeof rows[i].mechs);
        memcpy(p.settings, rows[i].settings, sizeof rows[i].settings);
        expect_same_everywhere(&p);
    }
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_loop_over_500_lines_misses_no_more),
        RIG_TEST(without_a_hot_load_nothing_changes),
        RIG_TEST(a_streaming_load_is_not_chosen),
        RIG_TEST(a_kernel_that_ends_before_two_windows_is_counted),
        RIG_TEST(a_search_takes_its_time_partition_by_partition),
        RIG_TEST(a_hit_in_registers_takes_the_l1_the_search_and_a_bank),
        RIG_TEST(stores_atomics_and_the_end_of_a_kernel_drop_a_line),
        RIG_TEST(a_partition_needs_all_of_its_rows),
        RIG_TEST(a_throttled_cta_keeps_its_registers_in_memory),
        RIG_TEST(rows_of_a_throttled_cta_hold_lines),
        RIG_TEST(cacheext_gives_the_l1_what_no_cta_can_have),
        RIG_TEST(cerf_hits_in_rows_and_takes_their_banks),
        RIG_TEST(loads_sees_what_is_reused_and_what_streams),
        RIG_TEST(what_does_not_fit_is_refused),
        RIG_TEST(runs_are_the_same_whatever_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
