/* test_morpheus.c: SMs in cache mode, their helper kernel and the controllers of slices (src/core/helper.c,
 * src/core/mech/mech_slices.c, src/mech/morpheus.c). The machine has one slice, and one warp in cache mode
 * unless a test says otherwise, so that all lines of the extended LLC are in one set. */
#include "morpheus_kit.h"

#include "core/sm/sm.h"

/* ---- address separation ---- */

/* Of 8 + 32 lines the slice has 8. */
static void shares_are_in_proportion_to_capacity(void **state)
{
    assert_in_range(extended_count, LINES * 32 / 40 - 2, LINES * 32 / 40 + 2);
}

/* ---- reads ---- */

static void a_miss_is_answered_by_dram_then_inserted_then_hit(void **state)
{
    open_run(&(struct morpheus_run){0});
    load_own();
    load(0);
    assert_int_equal(stat_of("morpheus.predicted_misses"), 1);
    assert_int_equal(stat_of("morpheus.inserts"), 1);
    assert_int_equal(stat_of("morpheus.hits"), 0);
    assert_int_equal(stat_of("dram.reads"), 1);
    assert_int_equal(stat_of("l2.global_accesses"), 0);
    const uint64_t miss = stat_of("sm.load_cycles");
    load(0);
    assert_int_equal(stat_of("morpheus.hits"), 1);
    assert_int_equal(stat_of("morpheus.inserts"), 0);
    assert_int_equal(stat_of("dram.reads"), 0);
    assert_int_equal(stat_of("morpheus.queue_cycles"), 0);
    assert_true(stat_of("sm.load_cycles") > stat_of("morpheus.read_cycles"));
    /* the way through the crossbar and the slice's pipeline twice, and the kernel: no constant makes it */
    assert_true(stat_of("morpheus.service_cycles") > 100);
    assert_true(miss > 0);
    rig_run(&rig, "touch", 1, 1, (const uint64_t[]){line_at(0) + 12, LOAD, out});
    assert_int_equal(*(uint32_t *)(uintptr_t)out, extended[0] * (LINE_BYTES / 4) + 3);
}

static void the_33rd_block_replaces_the_one_used_longest_ago(void **state)
{
    open_run(&(struct morpheus_run){0});
    for (uint32_t i = 0; i < BLOCKS; i++) assert_false(hits(i));
    assert_true(hits(0));
    assert_false(hits(BLOCKS));
    for (uint32_t i = 2; i < BLOCKS; i++) assert_true(hits(i));
    assert_true(hits(0));
    assert_true(hits(BLOCKS));
    assert_false(hits(1));
    assert_int_equal(stat_of("morpheus.false_negatives") + stat_of("morpheus.false_hits"), 0);
}

static void without_a_predictor_a_miss_is_looked_up(void **state)
{
    open_run(&(struct morpheus_run){.settings = {"morpheus.predictor=none"}});
    assert_false(hits(0));
    assert_int_equal(stat_of("morpheus.false_hits"), 1);
    assert_int_equal(stat_of("morpheus.inserts"), 1);
    const uint64_t looked_up = stat_of("sm.load_cycles");
    assert_true(hits(0));
    rig_close(&rig);
    open_run(&(struct morpheus_run){0});
    assert_false(hits(0));
    assert_true(looked_up > stat_of("sm.load_cycles") + stat_of("morpheus.service") / 2);
}

/* ---- writes ---- */

static void a_dirty_victim_is_written_to_dram_once(void **state)
{
    open_run(&(struct morpheus_run){0});
    load_own();
    touch(line_at(0), STORE); /* of four bytes: the line is fetched and merged */
    assert_int_equal(stat_of("dram.reads"), 1);
    assert_int_equal(stat_of("morpheus.inserts"), 1);
    for (uint32_t i = 1; i < BLOCKS; i++) load(i);
    assert_int_equal(stat_of("dram.writes"), 0);
    load(BLOCKS);
    assert_int_equal(stat_of("morpheus.dirty_evictions"), 1);
    assert_int_equal(stat_of("dram.writes"), 1);
    assert_int_equal(stat_of("l2.global_accesses"), 0);
    load(BLOCKS + 1);
    assert_int_equal(stat_of("morpheus.dirty_evictions"), 0);
    assert_int_equal(stat_of("dram.writes"), 0);
}

static void a_store_is_in_the_block(void **state)
{
    open_run(&(struct morpheus_run){0});
    load(0);
    touch(line_at(0) + 40, STORE);
    assert_int_equal(stat_of("morpheus.hits"), 1);
    assert_true(hits(0));
    assert_int_equal(stat_of("morpheus.stale_reads"), 0);
    ((uint32_t *)(uintptr_t)line_at(0))[11] = 99; /* behind its back */
    assert_true(hits(0));
    assert_int_equal(stat_of("morpheus.stale_reads"), 1);
}

/* ---- atomics ---- */

static void atomics_are_made_by_the_helper(void **state)
{
    open_run(&(struct morpheus_run){0});
    load(0);
    const uint32_t before = *(uint32_t *)(uintptr_t)line_at(0);
    rig_run(&rig, "touch", 1, 1, (const uint64_t[]){line_at(0), ATOMIC, out});
    assert_int_equal(stat_of("morpheus.atomics"), 1);
    assert_int_equal(*(uint32_t *)(uintptr_t)out, before);
    assert_int_equal(*(uint32_t *)(uintptr_t)line_at(0), before + 5);
    assert_true(hits(0));
    assert_int_equal(stat_of("morpheus.stale_reads"), 0);
}

/* ---- warps ---- */

static uint64_t queue_cycles_of_pair(uint32_t one, uint32_t two)
{
    rig_run(&rig, "pair", 1, 2, (const uint64_t[]){line_at(one), line_at(two)});
    assert_int_equal(stat_of("morpheus.hits"), 2);
    return stat_of("morpheus.queue_cycles");
}

static void one_warp_serialises_and_two_overlap(void **state)
{
    bool overlapped = false, waited = false;
    open_run(&(struct morpheus_run){0});
    for (uint32_t i = 0; i < 8; i++) load(i);
    for (uint32_t i = 1; i < 8; i++) assert_true(queue_cycles_of_pair(0, i) > 100);
    rig_close(&rig);
    open_run(&(struct morpheus_run){.settings = {"morpheus.warps=2", "morpheus.blocks=16"}});
    for (uint32_t i = 0; i < 8; i++) load(i);
    for (uint32_t i = 1; i < 8; i++) {
        const bool waits = queue_cycles_of_pair(0, i) != 0;
        waited |= waits;
        overlapped |= !waits;
    }
    assert_true(waited && overlapped);
}

static void assert_touches(uint32_t op, uint32_t served, uint32_t joined)
{
    rig_run(&rig, "touch", 3, 1, (const uint64_t[]){line_at(0), op, 0});
    assert_int_equal(stat_of("morpheus.hits"), 3);
    assert_int_equal(stat_of("morpheus.served"), served);
    assert_int_equal(stat_of("morpheus.joined"), joined);
}

/* Three SMs want the same line. A write or atomic that the warp is at can no longer be added to. */
static void requests_for_one_line_are_served_together(void **state)
{
    open_run(&(struct morpheus_run){0});
    load(0);
    assert_touches(LOAD, 1, 2);
    assert_touches(STORE, 2, 1);
    assert_touches(ATOMIC, 2, 1);
    assert_true(hits(0));
    assert_int_equal(stat_of("morpheus.stale_reads"), 0);
    rig_close(&rig);
    open_run(&(struct morpheus_run){.settings = {"morpheus.join=false"}});
    load(0);
    assert_touches(LOAD, 3, 0);
    assert_touches(STORE, 3, 0);
    assert_touches(ATOMIC, 3, 0);
}

static void assert_cold_atomics(const char *predictor, uint32_t served)
{
    open_run(&(struct morpheus_run){.settings = {predictor}, .sets = {"dram.latency=4000"}});
    load_own();
    const uint32_t before = *(uint32_t *)(uintptr_t)line_at(0);
    rig_run(&rig, "touch", 3, 1, (const uint64_t[]){line_at(0), ATOMIC, 0});
    assert_int_equal(*(uint32_t *)(uintptr_t)line_at(0), before + 3 * 5);
    assert_int_equal(stat_of("morpheus.atomics"), 3);
    assert_int_equal(stat_of("morpheus.joined"), 2);
    assert_int_equal(stat_of("morpheus.served"), served);
    assert_true(hits(0));
    assert_int_equal(stat_of("morpheus.stale_reads"), 0);
}

/* DRAM is slower than two turns. Predicted misses wait for the line; then it is inserted, and the first
 * atomic takes the others with it. Without prediction the first is looked up, and then the second with the
 * third: both miss, and the first takes these two with it when the line is there. */
static void atomics_that_miss_are_served_together(void **state)
{
    assert_cold_atomics("morpheus.predictor=bloom", 2);
    rig_close(&rig);
    assert_cold_atomics("morpheus.predictor=none", 4);
}

/* ---- lines that are not inserted ---- */

/* The warp is at an atomic, which takes two trips, and an insertion waits behind it, when the third line is
 * asked for. */
static void touch_later(const char *l1, const char *l2, uint32_t op)
{
    open_run(&(struct morpheus_run){.settings = {"morpheus.inserts=1", "morpheus.predictor=perfect"},
                                    .sets = {"l2.tag_latency=2000", l1, l2}});
    load(0);
    rig_run(&rig, "later", 1, 1, (const uint64_t[]){line_at(0), line_at(1), line_at(2), op});
    assert_int_equal(stat_of("morpheus.inserts"), 1);
    assert_int_equal(stat_of("morpheus.bypasses"), 1);
    assert_int_equal(stat_of("dram.reads"), op == LOAD ? 2 : 1);
    assert_int_equal(stat_of("dram.writes"), op == LOAD ? 0 : 1);
}

/* Bursts of 64 bytes: one for a sector, two for a line. */
static void what_is_not_inserted_is_read_and_written_by_sectors(void **state)
{
    touch_later("l1.sectored=true", "l2.sectored=true", STORE);
    assert_int_equal(stat_of("dram.write_bursts"), 1);
    rig_close(&rig);
    touch_later("l1.sectored=true", "l2.sectored=true", LOAD);
    assert_int_equal(stat_of("dram.read_bursts"), 3);
    rig_close(&rig);
    touch_later("l1.sectored=false", "l2.sectored=false", STORE);
    assert_int_equal(stat_of("dram.write_bursts"), 2);
    rig_close(&rig);
    touch_later("l1.sectored=false", "l2.sectored=false", LOAD);
    assert_int_equal(stat_of("dram.read_bursts"), 4);
}

/* ---- whole runs ---- */

static void at_the_end_blocks_are_what_memory_is(void **state)
{
    static const char *const predictor[] = {"morpheus.predictor=perfect", "morpheus.predictor=none",
                                            "morpheus.predictor=bloom"};
    for (uint32_t i = 0; i < 3; i++) {
        open_run(&(struct morpheus_run){
            .settings = {"morpheus.warps=6", "morpheus.blocks=16", "morpheus.inserts=4", predictor[i]}});
        run_mix();
        assert_true(stat_of("morpheus.atomics") > 100 && stat_of("morpheus.dirty_evictions") > 0);
        assert_true(stat_of("morpheus.bypasses") > 0);
        assert_int_equal(stat_of("morpheus.swaps") > 0, i == 2);
        const struct blocks blocks = look_at_blocks();
        assert_int_equal(blocks.there, blocks_of_sets());
        assert_int_equal(blocks.stale, 0);
        check_mix();
        rig_close(&rig);
    }
}

/* What the others rely on: a word of one block that memory has otherwise is found. */
static void a_block_that_is_not_what_memory_is_counts(void **state)
{
    open_run(&(struct morpheus_run){0});
    for (uint32_t i = 0; i < 12; i++) touch(line_at(i) + 4 * i, i % 2 ? LOAD : STORE);
    assert_int_equal(look_at_blocks().stale, 0);
    for (uint32_t i = 0; i < 12; i++) {
        ((uint32_t *)(uintptr_t)line_at(i))[31]++;
        const struct blocks blocks = look_at_blocks();
        assert_int_equal(blocks.there, 12);
        assert_int_equal(blocks.stale, i + 1);
    }
}

/* The filters of the set lose what it has. */
static void a_false_negative_ends_the_run(void **state)
{
    open_run(&(struct morpheus_run){0});
    load(0);
    morpheus_filter_clear(&controller(0)->filter, 0);
    rig_launch(&rig, "touch", 1, 1, (const uint64_t[]){line_at(0), LOAD, 0}, 0);
    assert_int_equal(timed_sync(rig.gpu, UINT64_MAX, &rig.fault), EMU_BAD_MECHANISM);
    assert_non_null(strstr(timed_report(rig.gpu), "mechanism 'morpheus', refuse in take_request, cycle "));
    assert_non_null(strstr(timed_report(rig.gpu), "a law is broken: line 0x"));
}

static void threads_and_skipping_change_nothing(void **state)
{
    check_hashes(
        (struct morpheus_run){.settings = {"morpheus.cache_sms=2", "morpheus.warps=6", "morpheus.blocks=16"},
                              .sets = {"addr.channels=2", "addr.slices=2"}},
        64, NULL);
}

/* Every queue of the machine has one place or two: steps are short, and many threads take long. */
static void so_it_is_on_a_squeezed_machine(void **state)
{
    check_hashes(
        (struct morpheus_run){.machine = HEDDLE_SOURCE_DIR "/tests/timing/squeeze.yaml",
                              .settings = {"morpheus.cache_sms=2", "morpheus.warps=1", "morpheus.blocks=16",
                                           "morpheus.queue=1", "morpheus.mshrs=1", "morpheus.inserts=1"},
                              .sets = {"addr.channels=2", "addr.slices=2"}},
        3, NULL);
}

/* ---- no SM in cache mode ---- */

/* The statistics of a plain machine, row by row, and its cycles. */
static void without_cache_sms_the_machine_is_the_same(void **state)
{
    static uint64_t plain[2048];
    for (uint32_t run = 0; run < 2; run++) {
        const struct timed_group *groups;
        uint32_t n = 0;
        open_run(&(struct morpheus_run){.is_plain = !run, .settings = {"morpheus.cache_sms=0"}});
        run_mix();
        assert_int_equal(timed_compute_sms(rig.gpu), 4);
        timed_groups(rig.gpu, &groups);
        for (uint32_t g = 0; g < 7; g++)
            for (const struct stat_row *row = groups[g].rows; row->name; row++, n++) {
                const double value = stat_value(row, timed_kernel_at(rig.gpu, 1)->stats[g]);
                if (run) assert_int_equal(plain[n], (uint64_t)(value * 1000));
                plain[n] = (uint64_t)(value * 1000);
            }
        assert_true(n > 200 && n < ARRAY_LEN(plain));
        rig_close(&rig);
    }
}

/* ---- roles ---- */

static void the_program_gets_no_sm_in_cache_mode(void **state)
{
    open_run(&(struct morpheus_run){.settings = {"morpheus.cache_sms=3"}});
    assert_int_equal(timed_compute_sms(rig.gpu), 1);
    run_mix();
    assert_int_equal(stat_of("gpu.ctas"), CTAS);
    assert_int_equal(((const struct sm_stats *)sm_stats(timed_sm_at(rig.gpu, 0)))->ctas, 2 * CTAS);
    /* what the helper issues is counted apart */
    assert_true(stat_of("helper.warp_insts") > 1000);
    assert_int_equal(stat_of("sm.warp_insts"), timed_kernel_emu(rig.gpu, 1)->warp_insts);
}

/* Eight CTAs fit the one SM that is left. */
static void cooperative_grids_count_with_the_other_sms(void **state)
{
    const uint64_t params[] = {0, 0, 0};
    open_run(&(struct morpheus_run){.settings = {"morpheus.cache_sms=3"}});
    const struct emu_launch l = {.module = rig.module,
                                 .kernel = emu_find_kernel(rig.module, "touch"),
                                 .grid = {9, 1, 1},
                                 .block = {32, 1, 1},
                                 .params = params,
                                 .cooperative = true};
    timed_launch(rig.gpu, &l, 0);
    assert_int_equal(timed_sync(rig.gpu, UINT64_MAX, &rig.fault), EMU_BAD_LAUNCH);
    assert_non_null(strstr(timed_report(rig.gpu), "9 blocks, but only 8 can be resident together"));
}

static void an_idle_helper_sleeps(void **state)
{
    open_run(&(struct morpheus_run){0});
    load(0);
    const uint64_t insts = stat_of("helper.warp_insts");
    load_own();
    assert_true(insts > 0);
    assert_int_equal(stat_of("helper.warp_insts"), 0);
}

/* ---- the host ---- */

/* write: timed_host_copy or timed_host_fill. */
static void check_host_write(void write(struct timed_gpu *g, uint64_t address, uint64_t bytes))
{
    open_run(&(struct morpheus_run){0});
    load(0);
    assert_true(hits(0));
    *(uint32_t *)(uintptr_t)line_at(0) = 1234;
    write(rig.gpu, line_at(0), 4);
    assert_false(hits(0));
    assert_int_equal(stat_of("morpheus.false_negatives"), 0); /* the helper has forgotten it too */
    assert_true(hits(0));
    assert_int_equal(stat_of("morpheus.stale_reads"), 0);
}

static void a_host_copy_empties_the_sets_that_it_writes_to(void **state)
{
    check_host_write(timed_host_copy);
}

static void a_host_fill_does_so_too(void **state) { check_host_write(timed_host_fill); }

static void after_a_reset_the_helper_starts_again(void **state)
{
    open_run(&(struct morpheus_run){0});
    load(0);
    timed_leave_device(rig.gpu);
    timed_set_device(rig.gpu, rig.device);
    assert_false(hits(0));
    assert_true(hits(0));
}

/* ---- what is refused ---- */

static uint64_t find_window(void)
{
    struct space *space = emu_device_space(rig.device);
    for (uint64_t at = buf; at < buf + (64u << 20); at += 256) {
        const struct space_alloc *a = space_find(space, at);
        if (a && a->kind == SPACE_WINDOW) return at;
    }
    fail_msg("no window");
    return 0;
}

static void a_program_that_touches_the_window_faults(void **state)
{
    open_run(&(struct morpheus_run){0});
    load(0);
    rig_launch(&rig, "touch", 1, 1, (const uint64_t[]){find_window(), LOAD, 0}, 0);
    assert_int_equal(timed_sync(rig.gpu, UINT64_MAX, &rig.fault), EMU_OUT_OF_BOUNDS);
    assert_non_null(strstr(timed_report(rig.gpu), "window"));
}

static void check_refused(const char *setting, const char *why)
{
    static const char *const morpheus = "morpheus";
    const char *settings[] = {one_set[0], one_set[1], one_set[2], one_set[3], setting};
    struct machine m;
    struct diag_list d = {0};
    struct strbuf text = {0};
    machine_load("fermi", small, 1, &m, &d);
    rig_show(&d);
    const struct timed_options o = {.mechs = &morpheus,
                                    .mech_count = 1,
                                    .mech_settings = settings,
                                    .mech_setting_count = ARRAY_LEN(settings),
                                    .compile = helper_compile};
    assert_null(timed_create(&m, NULL, &o, &d));
    diag_render(&d, &text);
    if (!strstr(strbuf_text(&text), why)) fail_msg("'%s' is not in: %s", why, strbuf_text(&text));
    strbuf_free(&text);
    diag_free(&d);
}

static void what_does_not_fit_is_refused(void **state)
{
    check_refused("morpheus.cache_sms=4", "at most 75% of the SMs, 3 of 4");
    check_refused("morpheus.warps=49", "an SM has 48 warps");
    check_refused("morpheus.warps=48", "more than the 20 registers that a thread of 48 warps can have");
    check_refused("morpheus.blocks=257", "morpheus.blocks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(shares_are_in_proportion_to_capacity),
        RIG_TEST(a_miss_is_answered_by_dram_then_inserted_then_hit),
        RIG_TEST(the_33rd_block_replaces_the_one_used_longest_ago),
        RIG_TEST(without_a_predictor_a_miss_is_looked_up),
        RIG_TEST(a_dirty_victim_is_written_to_dram_once),
        RIG_TEST(a_store_is_in_the_block),
        RIG_TEST(atomics_are_made_by_the_helper),
        RIG_TEST(one_warp_serialises_and_two_overlap),
        RIG_TEST(requests_for_one_line_are_served_together),
        RIG_TEST(atomics_that_miss_are_served_together),
        RIG_TEST(at_the_end_blocks_are_what_memory_is),
        RIG_TEST(a_block_that_is_not_what_memory_is_counts),
        RIG_TEST(a_false_negative_ends_the_run),
        RIG_TEST(threads_and_skipping_change_nothing),
        RIG_TEST(what_is_not_inserted_is_read_and_written_by_sectors),
        RIG_TEST(so_it_is_on_a_squeezed_machine),
        RIG_TEST(without_cache_sms_the_machine_is_the_same),
        RIG_TEST(the_program_gets_no_sm_in_cache_mode),
        RIG_TEST(cooperative_grids_count_with_the_other_sms),
        RIG_TEST(an_idle_helper_sleeps),
        RIG_TEST(a_host_copy_empties_the_sets_that_it_writes_to),
        RIG_TEST(a_host_fill_does_so_too),
        RIG_TEST(after_a_reset_the_helper_starts_again),
        RIG_TEST(a_program_that_touches_the_window_faults),
        RIG_TEST(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, find_lines, NULL);
}
