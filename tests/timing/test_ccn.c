/* test_ccn.c: the Cooperative Caching Network (src/mech/ccn.c) and the observer `sharing` on a machine, with
 * latencies, hits and stolen cycles counted on paper. The kernels know their SM: one loads a line early, and
 * another one late. */
#include "timing_kit.h"

#include "base/hash.h"

enum { SMS = 15, LATE = 4000, LINES = 64, LINE_BYTES = 128 };

/* What the reader does when it is late; what the holder does after its load. */
enum { READ_CA, READ_CG, READ_ATOMIC, READ_NOTHING };
enum { HOLD, HOLD_STORE, HOLD_LATE };

#define WAIT(label) label ":\nmov.u32 %c, %clock; setp.lt.u32 %p, %c, %w;\n@%p bra " label ";\n"

/* One lane: SM `holder` loads the word at buf, SM `reader` does when `late` cycles have passed. */
#define MEET                                                                                                 \
    ".visible .entry meet(.param .u64 buf, .param .u64 out, .param .u32 holder, .param .u32 reader,\n"       \
    ".param .u32 hold, .param .u32 read, .param .u32 late)\n{\n"                                             \
    ".reg .u64 %b, %o; .reg .u32 %v, %s, %h, %r, %k, %m, %c, %w; .reg .pred %p;\n"                           \
    "ld.param.u64 %b, [buf]; ld.param.u64 %o, [out]; ld.param.u32 %h, [holder];\n"                           \
    "ld.param.u32 %r, [reader]; ld.param.u32 %k, [hold]; ld.param.u32 %m, [read];\n"                         \
    "ld.param.u32 %w, [late]; mov.u32 %s, %smid;\n"                                                          \
    "mov.u32 %v, 0; setp.eq.u32 %p, %s, %r;\n@%p bra reads;\n"                                               \
    "setp.ne.u32 %p, %s, %h;\n@%p bra done;\n"                                                               \
    "setp.ne.u32 %p, %k, 2;\n@%p bra early;\n" WAIT(                                                         \
        "holder_waits") "early:\n"                                                                           \
                        "ld.global.ca.u32 %v, [%b];\nsetp.ne.u32 %p, %k, 1;\n@%p bra done;\nst.global.u32 "  \
                        "[%b+4], %v;\n"                                                                      \
                        "bra done;\nreads:\n" WAIT(                                                          \
                            "reader_waits") "setp.eq.u32 %p, %m, 3;\n@%p bra done;\n"                        \
                                            "setp.eq.u32 %p, %m, 0;\n@%p bra cached;\nsetp.eq.u32 %p, %m, "  \
                                            "1;\n@%p bra global;\n"                                          \
                                            "atom.global.add.u32 %v, [%b], 0;\nbra done;\n"                  \
                                            "global:\nld.global.cg.u32 %v, [%b];\nbra done;\n"               \
                                            "cached:\nld.global.ca.u32 %v, [%b];\n"                          \
                                            "done:\nadd.u32 %v, %v, 1; mul.wide.u32 %b, %s, 4; add.u64 %o, " \
                                            "%o, %b; st.global.u32 [%o], %v;\n"                              \
                                            "ret;\n}\n"
/* SM 0 loads 32 lines again and again until `end`; after `late` cycles `each` lanes of the others load one
 * line each, from line `at` on. */
#define CROWD                                                                                                \
    ".visible .entry crowd(.param .u64 buf, .param .u64 out, .param .u32 late, .param .u32 end,\n"           \
    ".param .u32 at, .param .u32 each)\n{\n"                                                                 \
    ".reg .u64 %b, %o, %x; .reg .u32 %v, %s, %l, %c, %w, %e, %a, %t, %n; .reg .pred %p;\n"                   \
    "ld.param.u64 %b, [buf]; ld.param.u64 %o, [out]; ld.param.u32 %w, [late]; ld.param.u32 %e, [end];\n"     \
    "ld.param.u32 %a, [at]; ld.param.u32 %t, [each]; mov.u32 %s, %smid; mov.u32 %n, 0;\n"                    \
    "mov.u32 %l, %laneid; mul.wide.u32 %x, %l, 128; add.u64 %x, %b, %x;\n"                                   \
    "setp.ne.u32 %p, %s, 0;\n@%p bra others;\n"                                                              \
    "again:\nld.global.ca.u32 %v, [%x]; add.u32 %n, %n, %v; mov.u32 %c, %clock;\n"                           \
    "setp.lt.u32 %p, %c, %e;\n@%p bra again;\nbra done;\n"                                                   \
    "others:\nsetp.ge.u32 %p, %l, %t;\n@%p bra done;\n" WAIT(                                                \
        "others_wait") "mul.wide.u32 %b, %a, 128; add.u64 %x, %x, %b;\nld.global.ca.u32 %n, [%x];\n"         \
                       "done:\nmov.u32 %c, %ctaid.x; mov.u32 %a, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 "   \
                       "%c, %c, %a, %t;\n"                                                                   \
                       "mul.wide.u32 %x, %c, 4; add.u64 %o, %o, %x; st.global.u32 [%o], %n;\nret;\n}\n"
/* Every warp loads its own part and what its neighbours load, and in every fourth round stores into it. */
#define SHARE                                                                                                \
    ".visible .entry share(.param .u64 buf, .param .u64 out, .param .u32 rounds)\n{\n"                       \
    ".reg .u64 %b, %o, %x; .reg .u32 %v, %s, %l, %c, %n, %r, %i, %t; .reg .pred %p;\n"                       \
    "ld.param.u64 %b, [buf]; ld.param.u64 %o, [out]; ld.param.u32 %n, [rounds];\n"                           \
    "mov.u32 %s, 0; mov.u32 %r, 0;\n"                                                                        \
    "mov.u32 %c, %ctaid.x; mov.u32 %i, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %c, %i, %t;\n"            \
    "loop:\nmad.lo.u32 %l, %r, 5, %t; mad.lo.u32 %l, %c, 3, %l; and.b32 %l, %l, 63;\n"                       \
    "mul.wide.u32 %x, %l, 128; add.u64 %x, %b, %x;\n"                                                        \
    "ld.global.ca.u32 %v, [%x]; add.u32 %s, %s, %v;\n"                                                       \
    "and.b32 %v, %r, 3; setp.ne.u32 %p, %v, 3;\n@%p bra next;\nst.global.u32 [%x+64], %i;\n"                 \
    "next:\nadd.u32 %r, %r, 1; setp.lt.u32 %p, %r, %n;\n@%p bra loop;\n"                                     \
    "mul.wide.u32 %x, %i, 4; add.u64 %o, %o, %x; st.global.u32 [%o], %s;\nret;\n}\n"
/* Local memory alone. */
#define OWN                                                                                                  \
    ".visible .entry own(.param .u64 out)\n{\n.local .align 4 .b8 mine[64];\n"                               \
    ".reg .u64 %o, %x, %y; .reg .u32 %i, %t; ld.param.u64 %o, [out]; mov.u32 %i, %tid.x;\n"                  \
    "mov.u64 %x, mine; and.b32 %t, %i, 7; mul.wide.u32 %y, %t, 4; add.u64 %x, %x, %y;\n"                     \
    "st.local.u32 [%x], %i; membar.gl; ld.local.u32 %t, [%x];\n"                                             \
    "mul.wide.u32 %y, %i, 4; add.u64 %o, %o, %y; st.global.u32 [%o], %t;\nret;\n}\n"
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n" MEET CROWD SHARE OWN;

/* ---- the run ---- */

static struct rig rig;
static uint64_t buf, out;

struct ccn_run {
    /* of ccn; NULL: basic */
    const char *mode;
    /* NULL: fermi */
    const char *machine;
    const char *sets[8];
    const char *settings[4];
    bool is_plain;
    struct timed_options timed;
};

static uint32_t length(const char *const *list, uint32_t max)
{
    uint32_t n = 0;
    while (n < max && list[n]) n++;
    return n;
}

static void open_run(const struct ccn_run *r)
{
    static const char *const ccn = "ccn";
    char mode[32];
    snprintf(mode, sizeof mode, "ccn.mode=%s", r->mode ? r->mode : "basic");
    const char *settings[8] = {mode};
    uint32_t n = length(r->settings, 4);
    memcpy(settings + 1, r->settings, n * sizeof *settings);
    struct rig_options o = {
        .machine = r->machine, .sets = r->sets, .set_count = length(r->sets, 8), .timed = r->timed};
    if (!o.timed.mech_count && !r->is_plain) {
        o.timed.mechs = &ccn;
        o.timed.mech_count = 1;
        o.timed.mech_settings = settings;
        o.timed.mech_setting_count = n + 1;
    }
    rig_open(&rig, ptx, &o);
    buf = rig_alloc(&rig, LINES * LINE_BYTES);
    out = rig_alloc(&rig, 1 << 16);
    for (uint32_t i = 0; i < LINES; i++) *(uint32_t *)(uintptr_t)(buf + i * LINE_BYTES) = i + 1;
}

static uint64_t stat_at(uint32_t kernel, const char *name) { return (uint64_t)rig_stat(&rig, kernel, name); }
static uint64_t stat_of(const char *name) { return stat_at(0, name); }

static void meet(uint32_t holder, uint32_t reader, uint32_t hold, uint32_t read, uint32_t late)
{
    rig_run(&rig, "meet", SMS, 1, (const uint64_t[]){buf, out, holder, reader, hold, read, late});
}

/* ---- latency ---- */

/* From a miss: a cycle in the CCN buffer, one in the request queue, k hops; one in the response queue of the
 * holder, k hops back of four flits each. The holder's own request comes round before. */
static void a_remote_hit_takes_its_hops_and_three_cycles(void **state)
{
    static const char *const links[] = {"ring.latency=1", "ring.latency=3", "ring.latency=5"};
    for (uint32_t i = 0; i < ARRAY_LEN(links); i++)
        for (uint32_t k = 1; k < SMS; k += 1 + i) {
            const uint32_t link = 1 + 2 * i;
            open_run(&(struct ccn_run){.sets = {links[i]}});
            meet(k, 0, HOLD, READ_CA, LATE);
            assert_int_equal(((uint32_t *)(uintptr_t)out)[0], 2);
            assert_int_equal(stat_of("ccn.hits"), 1);
            assert_int_equal(stat_of("ccn.reuse_cycles"), 3 + k * link + k * (link + 3));
            assert_int_equal(stat_of("ccn.hops"), 2 * k);
            assert_int_equal(stat_of("ccn.returned"), 1);
            assert_int_equal(stat_of("ccn.overhead_cycles"), 2 + SMS * link);
            assert_int_equal(stat_of("l1.requests_read"), 1);
            rig_close(&rig);
        }
}

/* A miss that nobody answers is sent on in the first part of its cycle and leaves at once; an ordinary one
 * leaves in the cycle after. */
static void a_miss_that_nobody_answers_takes_the_way_round(void **state)
{
    static const char *const links[] = {"ring.latency=1", "ring.latency=3", "ring.latency=5"};
    for (uint32_t i = 0; i < ARRAY_LEN(links); i++) {
        uint64_t latency[2];
        for (uint32_t k = 0; k < 2; k++) {
            open_run(&(struct ccn_run){.sets = {links[i]}, .is_plain = k == 0});
            meet(SMS, 0, HOLD, READ_CA, LATE);
            latency[k] = stat_of("l1.miss_latency_sum");
            rig_close(&rig);
        }
        assert_int_equal(latency[1], latency[0] + SMS * (1 + 2 * i) + 1);
    }
}

/* ---- what is found ---- */

/* The holder misses, and the reader does if it looks into its L1. */
static uint64_t hits_of(const char *mode, uint32_t hold, uint32_t read)
{
    open_run(&(struct ccn_run){.mode = mode});
    meet(4, 0, hold, read, LATE);
    const uint64_t hits = stat_of("ccn.hits"), misses = stat_of("ccn.misses");
    assert_int_equal(misses, read == READ_CA ? 2 : 1);
    if (!mode) assert_int_equal(stat_of("ccn.injected"), misses);
    if (!mode) assert_int_equal(stat_of("ccn.returned") + hits, misses);
    rig_close(&rig);
    return hits;
}

static void a_line_is_found_while_it_is_valid(void **state)
{
    static const char *const modes[] = {NULL, "ideal"};
    for (uint32_t i = 0; i < ARRAY_LEN(modes); i++) {
        assert_int_equal(hits_of(modes[i], HOLD, READ_CA), 1);
        assert_int_equal(hits_of(modes[i], HOLD_STORE, READ_CA), 0); /* write-evict */
        assert_int_equal(hits_of(modes[i], HOLD_LATE, READ_CA), 0);  /* both miss at once: pending */
    }
}

/* Of a line with sectors the holder has the one that is wanted, and not the others. */
static void a_line_in_part_is_not_found(void **state)
{
    static const char *const modes[] = {NULL, "ideal"};
    for (uint32_t i = 0; i < ARRAY_LEN(modes); i++) {
        open_run(&(struct ccn_run){.mode = modes[i], .machine = "rtx3080"});
        meet(4, 0, HOLD, READ_CA, LATE);
        assert_int_equal(stat_of("ccn.misses"), 2);
        assert_int_equal(stat_of("ccn.hits"), 0);
        rig_close(&rig);
    }
}

static void loads_past_the_l1_and_atomics_do_not_enter(void **state)
{
    assert_int_equal(hits_of(NULL, HOLD, READ_CG), 0);
    assert_int_equal(hits_of(NULL, HOLD, READ_ATOMIC), 0);
}

static void nor_does_local_memory(void **state)
{
    open_run(&(struct ccn_run){.sets = {"l1.local_write_allocate=false"}});
    rig_run(&rig, "own", SMS, 64, (const uint64_t[]){out});
    assert_true(stat_of("l1.local_load_misses") > 0);
    assert_int_equal(stat_of("ccn.misses"), 0);
    rig_close(&rig);
}

static void a_flush_at_the_end_of_a_kernel_is_seen(void **state)
{
    static const char *const flush[] = {"l1.flush=true", "l1.flush=false"};
    for (uint32_t i = 0; i < 2 * ARRAY_LEN(flush); i++) {
        open_run(&(struct ccn_run){.mode = i < 2 ? NULL : "ideal", .sets = {flush[i % 2]}});
        meet(4, SMS, HOLD, READ_CA, 0);
        meet(SMS, 0, HOLD, READ_CA, 0);
        assert_int_equal(stat_at(1, "ccn.misses"), 1);
        assert_int_equal(stat_at(1, "ccn.hits"), i % 2);
        rig_close(&rig);
    }
}

/* ---- what it costs the holder ---- */

/* SM 0 keeps its L1 busy in every cycle with hits of eight warps. The line that SM 1 and the others want is
 * one of them, or nobody's. */
static void a_remote_hit_takes_a_cycle_of_the_l1_and_a_remote_miss_none(void **state)
{
    open_run(&(struct ccn_run){.sets = {"sm.count=2"}});
    rig_run(&rig, "crowd", 2, 256, (const uint64_t[]){buf, out, 3000, LATE, 0, 1});
    assert_int_equal(stat_of("ccn.answered"), 1);
    assert_int_equal(stat_of("ccn.stolen"), 1);
    assert_int_equal(stat_of("l1.stall_stolen"), 1);
    rig_close(&rig);
    open_run(&(struct ccn_run){.sets = {"sm.count=2"}});
    rig_run(&rig, "crowd", 2, 256, (const uint64_t[]){buf, out, 3000, LATE, 40, 1});
    assert_int_equal(stat_of("ccn.answered"), 0);
    assert_int_equal(stat_of("l1.stall_stolen"), 0);
    rig_close(&rig);
}

/* Fourteen SMs want 32 lines of SM 0 at once: its response queue is full, and requests wait for it. */
static void a_full_response_queue_holds_requests_back(void **state)
{
    open_run(&(struct ccn_run){.sets = {"ring.queue=2"}});
    rig_run(&rig, "crowd", SMS, 64, (const uint64_t[]){buf, out, 3000, 3500, 0, 32});
    assert_true(stat_of("ccn.held") > 0);
    assert_true(stat_of("ccn.direct_full") > 0);
    assert_int_equal(stat_of("ccn.misses"), stat_of("ccn.injected") + stat_of("ccn.direct_full"));
    assert_int_equal(stat_of("ccn.injected"), stat_of("ccn.hits") + stat_of("ccn.returned"));
    assert_int_equal(stat_of("ccn.answered"), stat_of("ccn.hits"));
    assert_int_equal(stat_of("ring.request_taken"), stat_of("ccn.injected"));
    rig_close(&rig);
}

/* ---- ideal ---- */

static void ideal_hits_take_what_they_are_told(void **state)
{
    static const char *const latencies[] = {"ccn.latency=0", "ccn.latency=80"};
    static const uint64_t cycles[] = {1, 80};
    for (uint32_t i = 0; i < ARRAY_LEN(latencies); i++) {
        open_run(&(struct ccn_run){.mode = "ideal", .settings = {latencies[i]}});
        meet(4, 0, HOLD, READ_CA, LATE);
        const uint64_t l2 = stat_of("l1.miss_latency_sum") - cycles[i];
        assert_int_equal(stat_of("ccn.hits"), 1);
        assert_int_equal(stat_of("l1.requests_read"), 1);
        rig_close(&rig);
        open_run(&(struct ccn_run){.is_plain = true});
        meet(4, 0, HOLD, READ_NOTHING, LATE);
        assert_int_equal(stat_of("l1.miss_latency_sum"), l2); /* the holder's */
        rig_close(&rig);
    }
}

static void a_cluster_shares_within_itself(void **state)
{
    static const struct {
        const char *cluster;
        uint32_t holder, hits;
    } rows[] = {
        {"ccn.cluster=3", 2, 1}, {"ccn.cluster=3", 3, 0}, {"ccn.cluster=5", 4, 1}, {"ccn.cluster=5", 14, 0}};
    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
        open_run(&(struct ccn_run){.mode = "ideal", .settings = {rows[i].cluster}});
        meet(rows[i].holder, 0, HOLD, READ_CA, LATE);
        assert_int_equal(stat_of("ccn.hits"), rows[i].hits);
        rig_close(&rig);
    }
}

/* ---- the observer ---- */

static uint64_t cell(uint32_t i)
{
    const struct timed_group *groups;
    const uint32_t n = timed_groups(rig.gpu, &groups);
    for (uint32_t g = 0; g < n; g++)
        for (const struct stat_row *row = groups[g].rows; row->name; row++)
            if (!strcmp(row->name, "sharing.matrix"))
                return ((const uint64_t *)(const void *)((const char *)timed_kernel_at(rig.gpu, 0)->stats[g] +
                                                         row->offset))[i];
    fail();
    return 0;
}

static void sharing_knows_who_holds_what_and_changes_nothing(void **state)
{
    static const char *const sharing = "sharing";
    uint64_t cycles[2];
    open_run(&(struct ccn_run){.timed = {.mechs = &sharing, .mech_count = 1}});
    meet(4, 2, HOLD, READ_CA, LATE);
    assert_int_equal(stat_of("sharing.misses"), 2);
    assert_int_equal(stat_of("sharing.shared"), 1);
    for (uint32_t i = 0; i < 32 * 32; i++) assert_int_equal(cell(i), i == 2 * 32 + 4);
    rig_close(&rig);
    for (uint32_t i = 0; i < 2; i++) {
        open_run(&(struct ccn_run){.is_plain = !i, .timed = {.mechs = &sharing, .mech_count = i}});
        rig_run(&rig, "share", 2 * SMS, 96, (const uint64_t[]){buf, out, 20});
        cycles[i] = rig_cycles(&rig, 0);
        if (i) assert_true(stat_of("sharing.shared") > 0);
        for (uint32_t k = 0; i && k < 32; k++) assert_int_equal(cell(33 * k), 0);
        rig_close(&rig);
    }
    assert_int_equal(cycles[0], cycles[1]);
}

/* ---- one result ---- */

/* Under a sanitizer a third of the loads. */
static void launch_three(void)
{
    enum {
        FIRST = IS_SANITIZED ? SMS : 2 * SMS,
        WIDE = IS_SANITIZED ? 64 : 96,
        NARROW = IS_SANITIZED ? 32 : 64
    };
    rig_launch(&rig, "share", FIRST, WIDE, (const uint64_t[]){buf, out, 8}, 0);
    rig_launch(&rig, "share", SMS, NARROW, (const uint64_t[]){buf, out + 32768, 6}, 3);
    rig_launch(&rig, "share", SMS, NARROW, (const uint64_t[]){buf, out + 49152, 6}, 4); /* together with it */
}

static uint64_t hash_of(const struct ccn_run *base, uint32_t threads, bool no_skip, uint32_t sample)
{
    struct ccn_run r = *base;
    r.timed.threads = threads;
    r.timed.threads_always = threads > 1;
    r.timed.no_skip = no_skip;
    r.timed.sample_cycles = sample;
    open_run(&r);
    if (r.machine)
        rig_launch(&rig, "share", SMS, 32, (const uint64_t[]){buf, out, 5}, 0);
    else
        launch_three();
    rig_sync(&rig);
    for (uint32_t k = 0; !r.machine && !r.timed.mech_count && k < 3; k++)
        assert_true(stat_at(k, "ccn.hits") > 0);
    uint64_t hash = timed_hash(rig.gpu);
    hash = hash_bytes(hash, (const void *)(uintptr_t)out, 1 << 16);
    rig_close(&rig);
    return hash;
}

/* With samples SMs have some cycles before their step. */
static void expect_same(const struct ccn_run *r)
{
    static const uint32_t threads[] = {2, 3, 8, 64};
    const uint64_t one = hash_of(r, 1, false, 0);
    for (uint32_t i = 0; !IS_SANITIZED && i < ARRAY_LEN(threads); i++)
        assert_int_equal(hash_of(r, threads[i], false, 0), one);
    if (!IS_SANITIZED) assert_int_equal(hash_of(r, 1, true, 0), one);
    assert_int_equal(hash_of(r, 3, true, 0), one);
    assert_int_equal(hash_of(r, IS_SANITIZED ? 3 : 1, false, 7), one);
}

static void every_way_to_run_it_gives_the_same_result(void **state)
{
    static const char *const sharing = "sharing";
    expect_same(&(struct ccn_run){.sets = {"ring.queue=2", "ring.request_buffer=2"}});
    expect_same(&(struct ccn_run){.sets = {"ring.latency=3", "ring.response_buffer=1"}});
    expect_same(&(struct ccn_run){.mode = "throttled",
                                  .settings = {"ccn.sample=300", "ccn.period=1000", "ccn.hit_min=0.3"}});
    expect_same(&(struct ccn_run){.mode = "ideal", .settings = {"ccn.latency=20"}});
    expect_same(&(struct ccn_run){.timed = {.mechs = &sharing, .mech_count = 1}});
}

/* A machine on which whatever can jam does; one with sectors, a pipeline before the tags and 68 SMs. */
static void so_does_every_machine(void **state)
{
    static const char *const machines[] = {HEDDLE_SOURCE_DIR "/tests/timing/squeeze.yaml", "rtx3080"};
    static const char *const modes[] = {"basic", "ideal"};
    for (uint32_t i = 0; i < 2 * ARRAY_LEN(machines); i++) {
        const struct ccn_run r = {.mode = modes[i % 2], .machine = machines[i / 2]};
        const uint64_t one = hash_of(&r, 1, false, 0);
        assert_int_equal(hash_of(&r, 3, IS_SANITIZED, 0), one);
        if (!IS_SANITIZED) assert_int_equal(hash_of(&r, 1, true, 0), one);
    }
}

/* ---- bad input ---- */

static void expect_said(const struct ccn_run *r, const char *mechs[2], const char *text)
{
    struct diag_list d = {0};
    struct machine m;
    struct strbuf said = {0};
    assert_true(machine_load("fermi", r->sets, length(r->sets, 8), &m, &d));
    const struct timed_options o = {.mechs = mechs,
                                    .mech_count = length(mechs, 2),
                                    .mech_settings = r->settings,
                                    .mech_setting_count = length(r->settings, 4)};
    struct timed_gpu *gpu = timed_create(&m, NULL, &o, &d);
    diag_render(&d, &said);
    if (!strstr(strbuf_text(&said), text)) fail_msg("not said: %s\nbut: %s", text, strbuf_text(&said));
    timed_destroy(gpu);
    strbuf_free(&said);
    diag_free(&d);
}

static void what_does_not_fit_is_said(void **state)
{
    const char *ccn[2] = {"ccn"}, *two[2] = {"ccn", "victim"};
    expect_said(&(struct ccn_run){.settings = {"ccn.sample=10", "ccn.period=9"}}, ccn,
                "error: mechanism 'ccn': ccn.sample is 10, but an epoch (ccn.period) has 9 instructions");
    expect_said(&(struct ccn_run){.settings = {"ccn.mode=ideal", "ccn.cluster=4"}}, ccn,
                "error: mechanism 'ccn': 15 SMs cannot be divided into clusters of 4 (ccn.cluster)");
    expect_said(&(struct ccn_run){.settings = {"ccn.cluster=3"}}, ccn, "ccn.cluster needs ccn.mode=ideal");
    expect_said(&(struct ccn_run){.settings = {"ccn.hit_min=1.1"}}, ccn, "ccn.hit_min");
    expect_said(&(struct ccn_run){.sets = {"l1.cache_global=false"}}, ccn,
                "error: mechanism 'ccn': l1.cache_global is false");
    expect_said(&(struct ccn_run){.sets = {"sm.count=1"}}, ccn,
                "warning: mechanism 'ccn': a single SM has no other SM to share with");
    expect_said(&(struct ccn_run){0}, two, "'ccn' and 'victim' both decide what becomes of a miss");
    struct diag_list d = {0};
    struct machine m;
    const char *const short_queue = "ring.queue=1";
    assert_false(machine_load("fermi", &short_queue, 1, &m, &d));
    diag_free(&d);
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_remote_hit_takes_its_hops_and_three_cycles),
        RIG_TEST(a_miss_that_nobody_answers_takes_the_way_round),
        RIG_TEST(a_line_is_found_while_it_is_valid),
        RIG_TEST(a_line_in_part_is_not_found),
        RIG_TEST(loads_past_the_l1_and_atomics_do_not_enter),
        RIG_TEST(nor_does_local_memory),
        RIG_TEST(a_flush_at_the_end_of_a_kernel_is_seen),
        RIG_TEST(a_remote_hit_takes_a_cycle_of_the_l1_and_a_remote_miss_none),
        RIG_TEST(a_full_response_queue_holds_requests_back),
        RIG_TEST(ideal_hits_take_what_they_are_told),
        RIG_TEST(a_cluster_shares_within_itself),
        RIG_TEST(sharing_knows_who_holds_what_and_changes_nothing),
        RIG_TEST(every_way_to_run_it_gives_the_same_result),
        RIG_TEST(so_does_every_machine),
        RIG_TEST(what_does_not_fit_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
