/* Energy: each event is linear, a machine that does nothing costs watts times time, parts add up, and a bad
 * table is refused with its place. The events of a kernel are counted by hand in tests/cli/energy.sh. */
#include "energy/energy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a run made by hand ---- */

struct made_stat {
    const char *name;
    double value;
};

struct made_run {
    struct made_stat stats[16];
    uint32_t count;
};

static double made_value(void *context, const char *name)
{
    const struct made_run *r = context;
    for (uint32_t i = 0; i < r->count; i++)
        if (!strcmp(r->stats[i].name, name)) return r->stats[i].value;
    return 0;
}

static struct energy_source source_of(struct made_run *r)
{
    return (struct energy_source){.value = made_value,
                                  .context = r,
                                  .core_khz = 1400000,
                                  .sms = 15,
                                  .request_flit = 32,
                                  .reply_flit = 64,
                                  .burst_bytes = 64};
}

static const char *const known_rows[] = {"one.reads", "one.tags", "morpheus.filters", "morpheus.status",
                                         "morpheus.buffers"};
static const struct energy_place place = {HEDDLE_SOURCE_DIR, known_rows, ARRAY_LEN(known_rows)};

static void load(struct energy_table *t, const char *name)
{
    struct diag_list d = {0};
    assert_true(energy_load(t, name, &place, &d));
    diag_free(&d);
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)); }

/* ---- tests ---- */

/* One second of a machine without a warp: 11 W, 15 SMs of 1.59 W, and McPAT's leakage. */
static void test_idle(void **state)
{
    struct energy_table t;
    struct energy_sum e;
    struct made_run r = {{{"gpu.cycles", 1.4e9}, {"sm.cycles", 15 * 1.4e9}, {"sm.slots", 30 * 1.4e9}}, 3};
    const struct energy_source s = source_of(&r);
    load(&t, "gpuwattch");
    energy_of(&t, &s, &e);
    assert_true(near(e.seconds, 1));
    assert_true(near(e.joules[ENERGY_ALWAYS], 11 + 15 * 1.59));
    assert_true(near(e.joules[ENERGY_LEAKAGE], 35.6));
    assert_true(near(energy_total(&e, false), 11 + 15 * 1.59));
    assert_true(near(energy_total(&e, true), 11 + 15 * 1.59 + 35.6));
}

/* The pipelines' share follows the slots that issue, up to 0.8. */
static void test_duty(void **state)
{
    struct energy_table t;
    struct energy_sum e;
    struct made_run r = {{{"gpu.cycles", 1.4e9},
                          {"sm.cycles", 15 * 1.4e9},
                          {"sm.active_cycles", 15 * 1.4e9},
                          {"sm.slots", 100},
                          {"sm.slots_issued", 50}},
                         5};
    const struct energy_source s = source_of(&r);
    load(&t, "gpuwattch");
    energy_of(&t, &s, &e);
    assert_true(near(e.joules[ENERGY_ALWAYS], 11 + 0.5 * 25.46));
    r.stats[4].value = 90;
    energy_of(&t, &s, &e);
    assert_true(near(e.joules[ENERGY_ALWAYS], 11 + 0.8 * 25.46));
}

/* Events that one statistic counts, on paper: the pJ of the row, and how many events a thousand of it are.
 * Every event has a row. GPUWattch's `tex` is nothing: 4.451 is AccelWattch's. */
static void test_each_event(void **state)
{
    static const struct {
        const char *stat;
        enum energy_part part;
        double picojoules;
    } rows[] = {
        {"sm.warp_insts", ENERGY_FRONT, 3.614},
        {"sm.insts_sfu", ENERGY_FRONT, 54.89},
        {"sm.fetches", ENERGY_FRONT, 63.43},
        {"sm.icache_misses", ENERGY_FRONT, 2169 - 63.43},
        {"sm.register_reads", ENERGY_REGISTERS, 16 * 7.267},
        {"sm.register_read_lanes", ENERGY_REGISTERS, 0.5 * 7.267},
        {"sm.register_writes", ENERGY_REGISTERS, 16 * 5.986},
        {"sm.other_operands", ENERGY_REGISTERS, 16 * 53.01},
        {"sm.lanes_int", ENERGY_UNITS, 67.4},
        {"sm.lanes_int_mul", ENERGY_UNITS, 213},
        {"sm.lanes_int_div", ENERGY_UNITS, 1934},
        {"sm.lanes_fp", ENERGY_UNITS, 29.58},
        {"sm.lanes_fp_mul", ENERGY_UNITS, 53.2},
        {"sm.lanes_fp_div", ENERGY_UNITS, 1420},
        {"sm.lanes_dp", ENERGY_UNITS, 29.58},
        {"sm.lanes_dp_mul", ENERGY_UNITS, 53.2},
        {"sm.lanes_dp_div", ENERGY_UNITS, 1420},
        {"sm.lanes_sqrt", ENERGY_UNITS, 1209},
        {"sm.lanes_log", ENERGY_UNITS, 1692},
        {"sm.lanes_exp", ENERGY_UNITS, 1692},
        {"sm.lanes_sin", ENERGY_UNITS, 580},
        {"sm.lanes_tex", ENERGY_UNITS, 4.451},
        {"sm.shared", ENERGY_SHARED, 2119},
        {"sm.shared_conflicts", ENERGY_SHARED, 2119},
        {"sm.const_accesses", ENERGY_CACHES, 1467},
        {"sm.const_misses", ENERGY_CACHES, 1113 - 1467},
        {"sm.tex_accesses", ENERGY_CACHES, 1353},
        {"sm.tex_misses", ENERGY_CACHES, 2225 - 1353},
        {"l1.load_hits", ENERGY_L1, 2935},
        {"l1.load_misses", ENERGY_L1, 2225},
        {"l1.global_store_hits", ENERGY_L1, 220.1},
        {"l1.local_store_hits", ENERGY_L1, 220.1},
        {"l1.global_store_misses", ENERGY_L1, 2604},
        {"xbar.request_flits", ENERGY_XBAR, 32 * 60.59},
        {"xbar.reply_flits", ENERGY_XBAR, 64 * 60.59},
        {"l2.hits", ENERGY_L2, 2805},
        {"l2.write_hits", ENERGY_L2, 13850 - 2805},
        {"l2.misses", ENERGY_L2, 102},
        {"l2.write_misses", ENERGY_L2, 15020 - 102},
        {"dram.read_bursts", ENERGY_DRAM, 64 * 421.1},
        {"dram.write_bursts", ENERGY_DRAM, 64 * 247.8},
        {"dram.activates", ENERGY_DRAM, 4232},
    };
    bool has_row[ENERGY_EVENTS] = {0};
    struct energy_table t;
    load(&t, "gpuwattch");
    t.picojoules[ENERGY_TEX] = 4.451;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (double n = 1000; n <= 3000; n += 1000) {
            struct energy_sum e;
            struct made_run r = {{{rows[i].stat, n}}, 1};
            const struct energy_source s = source_of(&r);
            energy_of(&t, &s, &e);
            if (!near(e.joules[rows[i].part], n * rows[i].picojoules * 1e-12)) fail_msg("%s", rows[i].stat);
            if (!near(energy_total(&e, true), e.joules[rows[i].part])) fail_msg("%s: others", rows[i].stat);
            for (enum energy_event v = 0; v < ENERGY_EVENTS; v++) has_row[v] |= energy_events(&t, &s, v) > 0;
        }
    for (enum energy_event v = 0; v < ENERGY_EVENTS; v++)
        if (!has_row[v]) fail_msg("no row counts '%s'", energy_event_names[v]);
}

/* A table that counts by sector: 100 loads of 300 sectors, of which 40 loads hit, are 120 events. */
static void test_sectors(void **state)
{
    struct energy_table t;
    struct made_run r = {{{"sm.load_transactions", 100}, {"sm.load_sectors", 300}, {"l1.load_hits", 40}}, 3};
    const struct energy_source s = source_of(&r);
    load(&t, "accelwattch");
    assert_true(near(energy_events(&t, &s, ENERGY_L1_READ_HIT), 120));
    t.by_sector = false;
    assert_true(near(energy_events(&t, &s, ENERGY_L1_READ_HIT), 40));
}

/* AccelWattch: what leaks depends on the units in use and on the lanes. Of 15 SMs half are active, of a chip
 * that had 80. */
static void test_static(void **state)
{
    struct energy_table t;
    struct energy_sum e;
    struct made_run r = {{{"gpu.cycles", 1.4e9},
                          {"sm.cycles", 1000},
                          {"sm.active_cycles", 500},
                          {"sm.warp_insts", 10},
                          {"sm.thread_insts", 160},
                          {"sm.lanes_fp", 160},
                          {"sm.lanes_dp", 0}},
                         7};
    const struct energy_source s = source_of(&r);
    load(&t, "accelwattch");
    energy_of(&t, &s, &e);
    assert_true(near(e.joules[ENERGY_LEAKAGE], 7.5 / 80 * (18.618 + 15 * 0.6452)));
    r.stats[6].value = 1;
    energy_of(&t, &s, &e);
    assert_true(near(e.joules[ENERGY_LEAKAGE], 7.5 / 80 * (19.1 + 15 * 0.7269)));
}

/* A machine pays for the SMs that it has, not for a chip: 10 SMs that all work leak 10 / 80 of 18.618 W and
 * 31 lanes of 0.6452 W, which is 4.827 W; 68 leak 32.826 W. Half of them at work leak half, and the others
 * are idle. */
static void test_static_of_sms(void **state)
{
    static const struct {
        uint32_t sms;
        double active, leakage, always;
    } rows[] = {{10, 1, 4.8274, 32.33},
                {68, 1, 32.82632, 32.33},
                {68, 0.5, 16.41316, 32.33 + 34 * 0.2828},
                {80, 1, 38.6192, 32.33},
                {132, 1, 63.72168, 32.33}};
    struct energy_table t;
    load(&t, "accelwattch");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct energy_sum e;
        struct made_run r = {{{"gpu.cycles", 1.4e9},
                              {"sm.cycles", rows[i].sms * 1.4e9},
                              {"sm.active_cycles", rows[i].active * rows[i].sms * 1.4e9},
                              {"sm.warp_insts", 1},
                              {"sm.thread_insts", 32},
                              {"sm.lanes_fp", 32}},
                             6};
        struct energy_source s = source_of(&r);
        s.sms = rows[i].sms;
        energy_of(&t, &s, &e);
        assert_true(near(e.joules[ENERGY_LEAKAGE], rows[i].leakage));
        assert_true(near(e.joules[ENERGY_ALWAYS], rows[i].always));
    }
}

/* SMs in cache mode leak by the helper kernel's own units and lanes: of 68 SMs, 17 are in cache mode with
 * integers on 11 lanes, 17 / 80 * (15.29 + 10 * 0.5862) = 4.4948 W; 51 run doubles on all lanes, 51 / 80 *
 * (19.1 + 31 * 0.7269) = 26.54161125 W, in half of their time. The other half is idle: 25.5 SMs. */
static void test_static_in_cache_mode(void **state)
{
    struct energy_table t;
    struct energy_sum e;
    struct made_run r = {{{"gpu.cycles", 1.4e9},
                          {"sm.cycles", 51 * 1.4e9},
                          {"sm.active_cycles", 25.5 * 1.4e9},
                          {"sm.warp_insts", 10},
                          {"sm.thread_insts", 320},
                          {"sm.lanes_dp", 320},
                          {"helper.cycles", 17 * 1.4e9},
                          {"helper.warp_insts", 10},
                          {"helper.thread_insts", 110},
                          {"helper.lanes_int", 110}},
                         10};
    struct energy_source s = source_of(&r);
    s.sms = 68;
    load(&t, "accelwattch");
    energy_of(&t, &s, &e);
    assert_true(near(e.joules[ENERGY_LEAKAGE], 4.4948 + 0.5 * 26.54161125));
    assert_true(near(e.joules[ENERGY_ALWAYS], 32.33 + 25.5 * 0.2828));
}

/* A table with a base has the rows of the base, and its own in place of two of them. */
static void test_base(void **state)
{
    struct energy_table hbm, gddr;
    load(&hbm, "accelwattch");
    load(&gddr, "accelwattch-gddr6x");
    assert_true(gddr.by_sector);
    assert_true(gddr.picojoules[ENERGY_DRAM_READ_BYTE] == 58);
    assert_true(gddr.picojoules[ENERGY_DECODE] == hbm.picojoules[ENERGY_DECODE]);
    assert_true(gddr.mixes[MIX_TEX].lane == hbm.mixes[MIX_TEX].lane);
    assert_int_equal(gddr.static_sms, 80);
    assert_string_equal(gddr.name, "accelwattch-gddr6x");
}

/* ---- rows of mechanisms ---- */

/* Picojoules go to the part of the mechanisms, rows like an event to the part of that event; a table may
 * override both. Twice as many events cost twice as much. */
static void test_rows(void **state)
{
    static const struct energy_row reads = ENERGY_LIKE("one.reads", "one.hits", 32, "register_read", ""),
                                   tags = ENERGY_PJ("one.tags", "l1.load_accesses", 2.05, "");
    const struct energy_row *const rows[] = {&reads, &tags};
    struct energy_table t;
    struct energy_sum e;
    load(&t, "gpuwattch");
    for (double n = 1000; n <= 2000; n += 1000) {
        struct made_run r = {{{"one.hits", n}, {"l1.load_accesses", 3 * n}}, 2};
        struct energy_source s = source_of(&r);
        s.rows = rows, s.row_count = 2;
        t.own_count = 0;
        energy_of(&t, &s, &e);
        assert_true(near(e.joules[ENERGY_REGISTERS], n * 32 * 7.267e-12));
        assert_true(near(e.joules[ENERGY_MECHANISMS], 3 * n * 2.05e-12));
        assert_true(near(energy_total(&e, true), e.joules[ENERGY_REGISTERS] + e.joules[ENERGY_MECHANISMS]));
        assert_true(near(energy_row_joules(&t, &s, &tags), e.joules[ENERGY_MECHANISMS]));
        t.own[0] = (struct energy_own){"one.reads", 100};
        t.own_count = 1;
        energy_of(&t, &s, &e);
        assert_true(near(e.joules[ENERGY_REGISTERS], n * 100e-12));
    }
}

static void load_text(struct energy_table *t, const char *text)
{
    char path[] = "/tmp/heddle-energy-XXXXXX.yaml";
    const int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    load(t, path);
    unlink(path);
}

static void test_own_rows(void **state)
{
    struct energy_table t;
    load_text(&t, "base: gpuwattch\nmechanisms: {one.tags: 7.5, one.reads: 0}\n");
    assert_int_equal(t.own_count, 2);
    assert_string_equal(t.own[0].name, "one.tags");
    assert_true(t.own[0].picojoules == 7.5);
    assert_true(t.own[1].picojoules == 0);
}

/* Storage without a published energy: 50 pJ for 256 bits out of 8 KiB, by the root of the capacity and by the
 * bits. A slice of `rtx3080` serves up to 62 sets, each with two filters of 256 bits, a row of 40 bits and a
 * line, and has 128 slots of 48 bits. */
static double sram_picojoules(double bits, double bytes) { return 50 * bits / 256 * sqrt(bytes / 8192); }

static void test_morpheus_rows(void **state)
{
    static const char *const tables[] = {"accelwattch", "accelwattch-gddr6x"};
    const struct energy_own rows[] = {
        {"morpheus.filters", 3 * sram_picojoules(256, 62 * 2 * 32)},
        {"morpheus.status", sram_picojoules(40, 62 * 5) + sram_picojoules(48, 128 * 6)},
        {"morpheus.buffers", sram_picojoules(256, 62 * 128)}};
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct energy_table t;
        load(&t, tables[i]);
        assert_int_equal(t.own_count, ARRAY_LEN(rows));
        for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
            assert_string_equal(t.own[k].name, rows[k].name);
            assert_true(fabs(t.own[k].picojoules / rows[k].picojoules - 1) < 1e-3);
        }
    }
}

/* ---- bad tables ---- */

static void expect_error(const char *text, int line, const char *message)
{
    char path[] = "/tmp/heddle-energy-XXXXXX.yaml";
    const int fd = mkstemps(path, 5);
    struct energy_table t;
    struct diag_list d = {0};
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    assert_false(energy_load(&t, path, &place, &d));
    if (!strstr(d.items.data[0].message, message) || d.items.data[0].line != line)
        fail_msg("line %d: %s", d.items.data[0].line, d.items.data[0].message);
    diag_free(&d);
    unlink(path);
}

static void test_bad_tables(void **state)
{
    struct energy_table t;
    struct diag_list d = {0};
    assert_false(energy_load(&t, "gpuwatch", &place, &d));
    assert_non_null(strstr(d.items.data[0].message, "no table of energies 'gpuwatch'"));
    diag_free(&d);
    expect_error("base: gpuwattch\npicojoules:\n  fp: -1\n", 3, "at least 0");
    expect_error("base: gpuwattch\npicojoules:\n  fp: much\n", 3, "must be a number");
    expect_error("base: gpuwattch\npicojoules:\n  fpp: 1\n", 3, "fpp");
    expect_error("base: gpuwattch\nwatts: 11\n", 2, "must be a mapping");
    expect_error("base: accelwattch\nstatic:\n  int: [1]\n", 3, "first lane");
    expect_error("base: accelwattch\nstatic:\n  sms: 0\n", 3, "whole number of SMs");
    expect_error("base: accelwattch\nstatic:\n  sms: -80\n", 3, "whole number of SMs");
    expect_error("base: accelwattch\nstatic:\n  sms: 80.5\n", 3, "whole number of SMs");
    expect_error("base: accelwattch\nstatic:\n  sms: many\n", 3, "whole number of SMs");
    expect_error("base: accelwattch\nstatic:\n  sms: [80]\n", 3, "whole number of SMs");
    expect_error("base: accelwattch\nstatic:\n  sm: 80\n", 3, "unknown key 'sm'");
    expect_error("base: gpuwattch\nstatic:\n  int: [1, 1]\n  fp: [1, 1]\n  dp: [1, 1]\n  sfu: [1, 1]\n"
                 "  tex: [1, 1]\n  other: [1, 1]\n",
                 3, "has no row 'sms'");
    expect_error("base: gpuwattch\nstatic:\n  sms: 80\n", 3, "has no row 'int'");
    expect_error("base: gpuwattch\nby_sector: perhaps\n", 2, "true or false");
    expect_error("picojoules:\n  decode: 1\n", 2, "has no row 'schedule'");
    expect_error("base: gpuwattch\nmechanisms:\n  one.tags: 1\n  one.tag: 2\n", 4, "one.tag");
    expect_error("base: gpuwattch\nmechanisms:\n  one.tags: -1\n", 3, "at least 0");
    expect_error("base: gpuwattch\nmechanisms:\n  one.tags:\n", 3, "must be a number of picojoules");
    expect_error("base: gpuwattch\nmechanisms: [1]\n", 2, "must be a mapping");
    expect_error("base: gpuwattch\npicojoules:\n  fp: 1\n  int: 1\n  fp: 2\n", 5, "'fp' appears twice");
    expect_error("base: gpuwattch\npicojoules: {fp: 1, fp: 1}\n", 2, "first in line 2");
    expect_error("base: gpuwattch\nwatts:\n  constant: 1\n  constant: 1\n", 4, "'constant' appears twice");
    expect_error("base: accelwattch\nstatic:\n  sms: 80\n  sms: 80\n", 4, "'sms' appears twice");
    expect_error("base: gpuwattch\nmechanisms:\n  one.tags: 1\n  one.tags: 2\n", 4, "appears twice");
    expect_error("base: gpuwattch\nabout: mine\nbase: gpuwattch\n", 3, "'base' appears twice");
    expect_error("about: mine\nbase: nobody\n", 2, "no table of energies 'nobody'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_duty),
        cmocka_unit_test(test_each_event),
        cmocka_unit_test(test_sectors),
        cmocka_unit_test(test_static),
        cmocka_unit_test(test_static_of_sms),
        cmocka_unit_test(test_static_in_cache_mode),
        cmocka_unit_test(test_base),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_own_rows),
        cmocka_unit_test(test_morpheus_rows),
        cmocka_unit_test(test_bad_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
