/* test_shared_rows.c: one mechanism keeps registers in rows of the register file, another borrows the rows
 * that hold none: FineReg and Linebacker together, and each of the two with a mechanism of the test in place
 * of the other.
 *
 * A warp of a script has 16 rows. The L1 is one set of four lines. Linebacker keeps all lines that leave it
 * (VC) in one row: its partitions have one row each. */
#include "script_kit.h"

enum { WARP_ROWS = 16 };
#define UNIT  "sm.register_unit=512"
#define WHOLE "sm.register_partitions=1"

/* A setting NAME=value; eight of them live at a time. */
static const char *setting(const char *name, uint32_t value)
{
    static char text[8][64];
    static uint32_t next;
    char *t = text[next++ % 8];
    snprintf(t, 64, "%s=%u", name, value);
    return t;
}
static const char *rows_of(uint32_t rows) { return setting("sm.registers", rows * 32); }

/* Linebacker beside another mechanism, with one victim row. */
static struct play with_victim_row(const char *script, const char *beside, uint32_t row, uint32_t rows)
{
    return (struct play){.script = script,
                         .mechs = {"linebacker", beside},
                         .settings = {"linebacker.throttle=false", "linebacker.select=false",
                                      "linebacker.ways=1", "linebacker.partitions=1",
                                      setting("linebacker.first_row", row)},
                         .sets = {UNIT, WHOLE, rows_of(rows)}};
}

/* Linebacker beside FineReg, with one victim row. */
static struct play with_finereg(const char *script, uint32_t row, uint32_t acrf, uint32_t pcrf)
{
    struct play p = with_victim_row(script, "finereg", row, acrf + pcrf);
    p.settings[5] = setting("finereg.acrf", acrf * LINE_BYTES);
    p.settings[6] = setting("finereg.pcrf", pcrf * LINE_BYTES);
    return p;
}

/* The run ends with this message. */
static void play_fails(const struct play *p, const char *words)
{
    play_open(p);
    const uint64_t out = rig_alloc(&rig, 4096);
    rig_launch(&rig, "play", p->grid ? p->grid : 1, 32, (const uint64_t[]){script_buf, out}, 0);
    assert_int_not_equal(timed_sync(rig.gpu, UINT64_MAX, &rig.fault), EMU_OK);
    const char *said = timed_report(rig.gpu);
    if (!strstr(said, words)) fail_msg("not '%s' but: %s", words, said);
    play_close();
}

/* ---- rows of the ACRF ---- */

/* CTA 0 is parked when it stalls first, and comes back when CTA 1 has ended. */
struct parker {
    const struct mech_ports *ports;
    bool has_parked;
};

static void parker_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    ((struct parker *)state)->ports = ports;
}
static bool admit_all(void *state, struct mech_admit *a) { return true; }

static void park_the_first(void *state, const struct mech_cta *e)
{
    struct parker *p = state;
    const struct mech_ports *m = p->ports;
    static uint64_t all[4][MECH_REGISTER_WORDS];
    memset(all, 0xff, sizeof all);
    if (e->kind == MECH_CTA_STALLED && e->cta_slot == 0 && !p->has_parked)
        p->has_parked = m->cta_swap(m->host, 0, MECH_NO_CTA, 1);
    if (e->kind == MECH_CTA_OUT) m->cta_park(m->host, 0, all[0]);
    if (e->kind != MECH_CTA_END || e->cta_slot != 1) return;
    assert_true(m->cta_unpark(m->host, 0));
    assert_true(m->cta_swap(m->host, MECH_NO_CTA, 0, 1));
}

/* CTA 0 has rows 0 to 15, CTA 1 rows 16 to 31. Both wait for z; CTA 0 is parked. CTA 1 searches row 0 for a,
 * b, c, d, e and a: d pushes z out of the L1 and e pushes a out, which is then found in the row. Then CTA 0
 * has its rows again, and cannot find a there: it searches nothing.
 *
 * Row 16 is free when CTA 1 has ended. The L1 then holds c, d, e and a; b pushes c out, which is found in the
 * row. */
static void rows_of_a_parked_cta_hold_lines_until_it_is_back(void **state)
{
    blank_fill((struct mechanism){.state_bytes = sizeof(struct parker),
                                  .owns = MECH_KEEPS_REGISTERS,
                                  .init = parker_init,
                                  .admit = admit_all,
                                  .on_cta = park_the_first});
    struct play p = with_victim_row("zabcdea", blank_file, 0, 2 * WARP_ROWS);
    p.grid = 2;
    play_and_expect(&p, (struct wanted[]){{"linebacker.hits", 1},
                                          {"linebacker.inserts", 2},
                                          {"linebacker.lookups", 6},
                                          {"l1.requests_read", 6 + 6},
                                          {0}});
    p.settings[4] = "linebacker.first_row=16";
    play_and_expect(&p, (struct wanted[]){{"linebacker.hits", 1},
                                          {"linebacker.inserts", 1},
                                          {"linebacker.lookups", 2},
                                          {"l1.requests_read", 7 + 1},
                                          {0}});
}

/* ---- rows of the PCRF ---- */

/* The CTA has 16 of the 24 rows of the ACRF; nine entries are free. All rows except those of the CTA can hold
 * lines: the fifth line pushes the first out, which is found in a row. */
static void idle_rows_of_both_parts_serve(void **state)
{
    static const struct {
        uint32_t row;
        bool serves;
    } rows[] = {{0, false}, {15, false}, {16, true}, {23, true}, {24, true}, {32, true}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct play p = with_finereg("abcdea", rows[i].row, 24, 9);
        const bool serves = rows[i].serves;
        play_and_expect(&p, (struct wanted[]){{"linebacker.hits", serves},
                                              {"linebacker.inserts", serves},
                                              {"linebacker.lookups", serves ? 6 : 0},
                                              {"l1.requests_read", serves ? 5 : 6},
                                              {0}});
    }
}

/* Keeps registers in row 16 from the first store on; keeper_ends: until the CTA has ended. */
static bool keeper_ends;

static void keeper_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    parker_init(state, gpu_state, params, ports);
    ports->cta_rows(ports->host, WARP_ROWS);
}
static void keep_at_store(void *state, const struct mech_l1_access *e)
{
    struct parker *p = state;
    if (e->is_store && !p->has_parked) p->has_parked = p->ports->registers_keep(p->ports->host, WARP_ROWS);
}
static void release_at_end(void *state, const struct mech_cta *e)
{
    struct parker *p = state;
    assert_true(e->last_row < WARP_ROWS); /* no CTA has a row that is reserved */
    if (e->kind != MECH_CTA_END || !p->has_parked || !keeper_ends) return;
    p->ports->registers_release(p->ports->host, WARP_ROWS);
    p->has_parked = false;
}

static void attach_keeper(bool ends)
{
    keeper_ends = ends;
    blank_fill((struct mechanism){.state_bytes = sizeof(struct parker),
                                  .owns = MECH_KEEPS_REGISTERS,
                                  .init = keeper_init,
                                  .admit = admit_all,
                                  .on_l1_access = keep_at_store,
                                  .on_cta = release_at_end});
}

/* Row 16 holds a, and the second load of a finds it there; then registers come into the row, and the third
 * load goes to memory without a search. */
static void registers_push_a_line_out_of_its_row(void **state)
{
    attach_keeper(true);
    struct play p = with_victim_row("abcdeaZa", blank_file, WARP_ROWS, 2 * WARP_ROWS);
    play_and_expect(&p, (struct wanted[]){{"linebacker.hits", 1},
                                          {"linebacker.inserts", 1},
                                          {"linebacker.lookups", 6},
                                          {"l1.requests_read", 6},
                                          {0}});
    /* The second CTA waits for the rows of the first. The L1 holds c, d, e and a; b pushes c out, which is
     * found in row 16, since that is free until the store. */
    p.grid = 2;
    play_and_expect(&p, (struct wanted[]){{"linebacker.hits", 2},
                                          {"linebacker.inserts", 2},
                                          {"linebacker.lookups", 6 + 2},
                                          {"l1.requests_read", 6 + 1},
                                          {0}});
    p.grid = 1;
    p.script = "abcdeaa";
    play_and_expect(&p, (struct wanted[]){
                            {"linebacker.hits", 2}, {"linebacker.lookups", 7}, {"l1.requests_read", 5}, {0}});
}

/* ---- the law ---- */

static void rows_that_nobody_releases_are_found(void **state)
{
    attach_keeper(false);
    const struct play p = with_victim_row("ab", blank_file, WARP_ROWS, 2 * WARP_ROWS);
    play_fails(&p, "rows that a mechanism keeps registers in leaked");
}

/* A borrower that goes on using a row after a CTA has taken it: row 16 is free until the second CTA
 * starts. */
static void borrow_at_start(void *state, bool is_start)
{
    const struct parker *p = state;
    uint32_t first;
    if (is_start) assert_true(p->ports->registers_take(p->ports->host, WARP_ROWS, 1, &first));
}
static void use_row(void *state, const struct mech_l1_access *e)
{
    const struct parker *p = state;
    p->ports->bank_access(p->ports->host, WARP_ROWS, true);
}

static void a_line_in_a_row_of_registers_ends_the_run(void **state)
{
    blank_fill((struct mechanism){.state_bytes = sizeof(struct parker),
                                  .owns = MECH_OWNS_REGISTERS,
                                  .init = parker_init,
                                  .on_kernel = borrow_at_start,
                                  .on_l1_access = use_row});
    struct play p = {.script = "abc", .mechs = {blank_file}, .sets = {UNIT, WHOLE, rows_of(2 * WARP_ROWS)}};
    play(&p);
    play_close();
    p.grid = 2;
    play_fails(&p, "bank_access in on_l1_access, SM 0");
    p.mechs[1] = "finereg"; /* the second CTA does not get the row, but the PCRF does */
    p.settings[0] = setting("finereg.acrf", WARP_ROWS * LINE_BYTES);
    p.settings[1] = setting("finereg.pcrf", WARP_ROWS * LINE_BYTES);
    p.script = "#a#a#a";
    p.grid = 4;
    play_fails(&p, "row 16, which it has not taken");
}

/* ---- both ---- */

/* A CTA has 32 rows: two fit the ACRF, rows 0 to 63. Entries of the PCRF, from row 64 on, compete with lines,
 * in rows 66 to 73. */
static struct play busy(const char *script, const char *borrower)
{
    struct play p = with_finereg(script, 66, 64, 64);
    p.mechs[0] = borrower;
    p.settings[3] = "linebacker.partitions=8";
    p.grid = 8;
    p.block = 64;
    if (strcmp(borrower, "linebacker")) {
        p.settings[0] = p.settings[5];
        p.settings[1] = p.settings[6];
        memset(&p.settings[2], 0, sizeof p.settings - 2 * sizeof *p.settings);
    }
    return p;
}

static void programs_compute_what_they_should(void **state)
{
    static const char *const scripts[] = {"ab#_cA*dabcdef", "#_#_#abcdeabcde", "!abcdea#",
                                          "aBcDeF*_#abcdefabcdef"};
    static const char *const borrowers[] = {"linebacker", "victim"};
    for (size_t i = 0; i < ARRAY_LEN(scripts) * ARRAY_LEN(borrowers); i++) {
        const char *borrower = borrowers[i % 2];
        const struct play p = busy(scripts[i / 2], borrower);
        play(&p);
        assert_true(stat_of("finereg.rows_out") > 0);
        assert_true(stat_of(i % 2 ? "victim.inserts" : "linebacker.inserts") > 0);
        play_close();
    }
}

/* CTAs of two kernels, of 32 and 48 rows: the ACRF has room for two small ones or a large one. */
static uint32_t cta_events;
static void stay_in_the_acrf(void *state, const struct mech_cta *e)
{
    assert_true(e->last_row < 64);
    cta_events += e->kind == MECH_CTA_UNPARKED;
}

static void kernels_of_two_sizes_share_the_acrf(void **state)
{
    enum { GRID = 6 };
    static const uint32_t blocks[] = {64, 96};
    uint64_t out[2];
    cta_events = 0;
    blank_fill((struct mechanism){.on_cta = stay_in_the_acrf});
    struct play p = busy("#abcdef#abcdef", "linebacker");
    p.mechs[2] = blank_file;
    play_open(&p);
    for (uint32_t i = 0; i < 2; i++) {
        out[i] = rig_alloc(&rig, 4ull * GRID * blocks[i]);
        rig_launch(&rig, "play", GRID, blocks[i], (const uint64_t[]){script_buf, out[i]}, 1 + i);
    }
    rig_sync(&rig);
    for (uint32_t i = 0; i < 2 * GRID * 96; i++) {
        const uint32_t kernel = i / (GRID * 96), thread = i % (GRID * 96);
        if (thread < GRID * blocks[kernel])
            assert_int_equal(((uint32_t *)(uintptr_t)out[kernel])[thread], script_sum(p.script, thread % 32));
    }
    assert_true(cta_events > 0);
    play_close();
}

/* Two CTAs fit the ACRF of 64 rows; the PCRF is the rest of the file. */
static void runs_are_the_same_whatever_is_skipped(void **state)
{
    static const char script[] = "#abcdefabcdefA_*abcdef";
    static const char *const settings[] = {"finereg.acrf=8K",           "finereg.pcrf=120K",
                                           "linebacker.throttle=false", "linebacker.first_row=66",
                                           "linebacker.ways=1",         "linebacker.select=false"};
    struct play p = {
        .script = script, .mechs = {"finereg", "linebacker"}, .sets = {UNIT, WHOLE}, .grid = 12, .block = 64};
    memcpy(p.settings, settings, sizeof settings);
    play(&p);
    assert_true(stat_of("finereg.rows_out") > 0 && stat_of("linebacker.hits") > 0);
    play_close();
    expect_same_everywhere(&p);
    p.settings[5] = "linebacker.window=200";
    p.settings[6] = "linebacker.agree=load";
    expect_same_everywhere(&p);
}

/* ---- combinations that are refused ---- */

static void refused(const char *mech, const char *beside, const char *words)
{
    const char *const mechs[] = {mech, beside};
    struct diag_list d = {0};
    struct strbuf said = {0};
    static struct machine machine;
    assert_true(machine_load("maxwell", NULL, 0, &machine, &d));
    const struct emu_limits limits = limits_from_machine(&machine);
    struct emu_device *device = emu_device_create(&limits, 1 << 20);
    const struct timed_options o = {.mechs = mechs, .mech_count = 2};
    assert_null(timed_create(&machine, device, &o, &d));
    diag_render(&d, &said);
    if (!strstr(strbuf_text(&said), words)) fail_msg("not '%s' but: %s", words, strbuf_text(&said));
    strbuf_free(&said);
    diag_free(&d);
    emu_device_destroy(device);
}

static void two_that_decide_which_ctas_are_active_are_refused(void **state)
{
    refused("finereg", "linebacker",
            "mechanism 'linebacker': it throttles CTAs, and 'finereg' decides which are active: set "
            "linebacker.throttle to false");
    refused("linebacker", "vt", "and 'vt' decides which are active");
    refused("cerf", "finereg", "'cerf' and 'finereg' both use rows of the register file that no CTA owns");
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(rows_of_a_parked_cta_hold_lines_until_it_is_back),
        RIG_TEST(idle_rows_of_both_parts_serve),
        RIG_TEST(registers_push_a_line_out_of_its_row),
        RIG_TEST(rows_that_nobody_releases_are_found),
        RIG_TEST(a_line_in_a_row_of_registers_ends_the_run),
        RIG_TEST(programs_compute_what_they_should),
        RIG_TEST(kernels_of_two_sizes_share_the_acrf),
        RIG_TEST(runs_are_the_same_whatever_is_skipped),
        RIG_TEST(two_that_decide_which_ctas_are_active_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
