/* test_numbers_load.c: bandwidth under load: each level comes near the ceiling that follows from the
 * configuration and never passes it, and latency never falls below that of an idle machine. The loads are
 * those of bench/latency.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../bench/latency.h"
#include "../sanitized.h"

/* At file scope: the teardown may need it. */
static struct latency_rig rig;

static int close_rig(void **state)
{
    latency_close(&rig);
    memset(&rig, 0, sizeof rig);
    return 0;
}

#define LOAD_TEST(name) cmocka_unit_test_teardown(name, close_rig)

static struct latency_ceilings open_with(const char *const *sets, uint32_t count)
{
    struct diag_list d = {0};
    assert_true(latency_open(&rig, "fermi", sets, count, &d));
    diag_free(&d);
    return latency_ceilings(&rig.machine);
}

static struct latency_point measure(struct latency_load load, uint32_t rounds)
{
    struct latency_point p;
    assert_true(latency_measure(&rig, &load, rounds, &p));
    return p;
}

/* The best of a few loads, since past the knee queues may cost a little; the middle one is near the knee. */
static double best_of(enum latency_level level, uint32_t sms, const char *what, double ceiling)
{
    double best = 0;
    for (uint32_t warps = 8; warps <= (IS_SANITIZED ? 16 : 32); warps *= 2) {
        struct latency_point p =
            measure((struct latency_load){level, true, sms, warps}, level == LATENCY_L1 ? 200 : 24);
        print_message("%s: %2u warps an SM, %6.1f of %.1f GB/s, latency %.0f\n", what, warps, p.gbs, ceiling,
                      p.aml);
        assert_true(p.gbs <= ceiling);
        best = p.gbs > best ? p.gbs : best;
    }
    return best;
}

static void l1_hits_reach_85_percent_of_the_port(void **state)
{
    const char *sets[] = {"sm.mem_collectors=8", "sm.mem_width=2",
                          "sm.lsu_queue=32"}; /* nothing before the port is narrower */
    struct latency_ceilings c = open_with(sets, 3);
    assert_true(best_of(LATENCY_L1, rig.machine.sm_count, "L1", c.l1) >= 0.85 * c.l1);
}

static void streaming_reads_reach_85_percent_of_the_l2_ports(void **state)
{
    const char *sets[] = {"xbar.reply_flit=136"}; /* a line in one flit: the ports are the bottleneck */
    struct latency_ceilings c = open_with(sets, 1);
    assert_true(c.l2_port < c.xbar_reply);
    assert_true(best_of(LATENCY_L2, rig.machine.sm_count, "L2 ports", c.l2_port) >= 0.85 * c.l2_port);
}

/* Few SMs: their own inputs from the crossbar are the bottleneck. */
static void streaming_reads_reach_85_percent_of_the_crossbar_into_sms(void **state)
{
    struct latency_ceilings c = open_with(NULL, 0);
    double one = c.xbar_reply / (rig.machine.addrmap.channels * rig.machine.addrmap.slices);
    assert_true(best_of(LATENCY_L2, 6, "crossbar to 6 SMs", 6 * one) >= 0.85 * 6 * one);
}

/* All SMs: the slices' outputs are the bottleneck. */
static void streaming_reads_reach_85_percent_of_the_crossbar_out_of_slices(void **state)
{
    struct latency_ceilings c = open_with(NULL, 0);
    assert_true(best_of(LATENCY_L2, rig.machine.sm_count, "crossbar", c.xbar_reply) >= 0.85 * c.xbar_reply);
}

/* With one virtual channel and no speedup of the outputs a reply waits behind one for another SM
 * (head-of-line blocking), and the slices' outputs stay well below their ceiling. More channels, and nothing
 * else, give it back. */
static void head_of_line_blocking_costs_a_quarter_of_the_crossbar(void **state)
{
    const char *one[] = {"xbar.output_speedup=1"}, *sixteen[] = {"xbar.output_speedup=1", "xbar.vcs=16"};
    struct latency_ceilings c = open_with(one, 1);
    double best = best_of(LATENCY_L2, rig.machine.sm_count, "crossbar, 1 channel", c.xbar_reply);
    assert_true(best >= 0.65 * c.xbar_reply && best < 0.85 * c.xbar_reply);
    close_rig(NULL);
    open_with(sixteen, 2);
    best = best_of(LATENCY_L2, rig.machine.sm_count, "crossbar, 16 channels", c.xbar_reply);
    assert_true(best >= 0.85 * c.xbar_reply);
}

/* The thesis's finding (3.4.2): where a line takes more flits than cycles on the data port, what stalls the
 * slices is the crossbar; where it takes fewer, it is not. With 32 bytes, as configured, it is five against
 * four. */
static void narrow_reply_flits_stall_the_slices_by_back_pressure(void **state)
{
    static const char *const flits[] = {"xbar.reply_flit=16", "xbar.reply_flit=32", "xbar.reply_flit=68"};
    double icnt[3], port[3];
    for (uint32_t i = 0; i < 3; i++) {
        open_with(&flits[i], 1);
        measure((struct latency_load){LATENCY_L2, true, rig.machine.sm_count, 32}, 24);
        icnt[i] = latency_stat(&rig, "l2.stall_icnt"), port[i] = latency_stat(&rig, "l2.stall_port");
        close_rig(NULL);
    }
    assert_true(icnt[0] > port[0]);
    assert_true(icnt[1] > port[1]);
    assert_true(icnt[2] < port[2] / 10);
}

/* 48 warps are more than an SM has entries for loads. Its schedulers share them evenly, else some warps would
 * run ahead, spread the reads over more rows of DRAM, and end before the others. */
static double share_of_48_warps(void)
{
    double all = measure((struct latency_load){LATENCY_DRAM, true, rig.machine.sm_count, 32}, 24).gbs;
    double more = measure((struct latency_load){LATENCY_DRAM, true, rig.machine.sm_count, 48}, 24).gbs;
    print_message("DRAM: 32 warps %.1f, 48 warps %.1f GB/s\n", all, more);
    return more / all;
}

/* The SM's part is told apart from that of the slices: those that close early mix the warps' reads, too. */
static void warps_that_wait_for_the_load_store_unit_cost_little(void **state)
{
    static const char *const open_slices[] = {"l2.late_queue=false"};
    open_with(open_slices, 1);
    assert_true(share_of_48_warps() >= 0.95);
    close_rig(NULL);
    open_with(NULL, 0);
    assert_true(share_of_48_warps() >= 0.93);
}

static void streaming_reads_reach_85_percent_of_the_dram_pins(void **state)
{
    struct latency_ceilings c = open_with(NULL, 0);
    assert_true(best_of(LATENCY_DRAM, rig.machine.sm_count, "DRAM", c.dram) >= 0.85 * c.dram);
}

static void load_never_makes_a_level_faster_than_idle(void **state)
{
    open_with(NULL, 0);
    for (enum latency_level level = LATENCY_L2; level <= LATENCY_DRAM; level++) {
        double idle = measure((struct latency_load){level, false, 1, 1}, 20).aml, before = idle;
        for (uint32_t warps = 2; warps <= 32; warps *= 4) {
            struct latency_point p =
                measure((struct latency_load){level, false, rig.machine.sm_count, warps}, 16);
            print_message("%s, random: %2u warps an SM, %6.1f GB/s, latency %.1f, idle %.1f\n",
                          level == LATENCY_L2 ? "L2" : "DRAM", warps, p.gbs, p.aml, idle);
            assert_true(p.aml >= before - 1);
            before = p.aml;
        }
    }
}

static void a_slower_l2_never_speeds_a_chase_up(void **state)
{
    static const char *const settings[] = {"l2.tag_latency=40", "l2.tag_latency=80", "l2.tag_latency=160",
                                           "l2.tag_latency=320"};
    double before[LATENCY_LEVELS] = {0};
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        open_with(&settings[i], 1);
        for (enum latency_level level = LATENCY_L2; level <= LATENCY_DRAM; level++) {
            double step = measure((struct latency_load){level, false, 1, 1}, 20).step;
            if (i)
                assert_true(step >= before[level] + (40 << (i - 1)) - 3); /* and by as much as it is slower */
            before[level] = step;
        }
        close_rig(NULL);
    }
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 1);
    const struct CMUnitTest tests[] = {
        LOAD_TEST(l1_hits_reach_85_percent_of_the_port),
        LOAD_TEST(streaming_reads_reach_85_percent_of_the_l2_ports),
        LOAD_TEST(streaming_reads_reach_85_percent_of_the_crossbar_into_sms),
        LOAD_TEST(streaming_reads_reach_85_percent_of_the_crossbar_out_of_slices),
        LOAD_TEST(head_of_line_blocking_costs_a_quarter_of_the_crossbar),
        LOAD_TEST(narrow_reply_flits_stall_the_slices_by_back_pressure),
        LOAD_TEST(warps_that_wait_for_the_load_store_unit_cost_little),
        LOAD_TEST(streaming_reads_reach_85_percent_of_the_dram_pins),
        LOAD_TEST(load_never_makes_a_level_faster_than_idle),
        LOAD_TEST(a_slower_l2_never_speeds_a_chase_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
