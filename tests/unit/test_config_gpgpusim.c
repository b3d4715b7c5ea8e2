/* test_config_gpgpusim.c: GPGPU-Sim's configuration files become machines: words, cache strings of both
 * generations, maps, clocks, schedulers, DRAM timings, and errors at their positions. */
#include "config/gpgpusim.h"
#include "core/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

struct rig {
    struct gpgpusim_import im;
    struct machine m;
    struct diag_list diags;
    bool ok;
};

static void import(struct rig *r, const char *text)
{
    memset(r, 0, sizeof *r);
    params_set_defaults(machine_groups, &r->m);
    const struct config_target target = {machine_groups, &r->m, machine_data_dir()};
    r->ok =
        gpgpusim_read_text(&r->im, "a.config", text, &r->diags) && gpgpusim_map(&r->im, &target, &r->diags);
}

static void done(struct rig *r)
{
    gpgpusim_free(&r->im);
    diag_free(&r->diags);
}

static const struct gpgpusim_setting *setting(const struct rig *r, const char *key)
{
    for (uint32_t i = 0; i < r->im.settings.len; i++)
        if (!strcmp(r->im.settings.data[i].key, key)) return &r->im.settings.data[i];
    fail_msg("%s is not set", key);
    return NULL;
}

static bool is_left(const struct rig *r, const char *part)
{
    for (uint32_t i = 0; i < r->im.left.len; i++)
        if (strstr(r->im.left.data[i].option, part)) return true;
    return false;
}

static void expect_error(const char *text, int line, int col, const char *part)
{
    struct rig r;
    import(&r, text);
    assert_false(r.ok);
    assert_int_equal(r.diags.errors, 1);
    const struct diag *d = &r.diags.items.data[0];
    assert_string_equal(d->file, "a.config");
    assert_int_equal(d->line, line);
    assert_int_equal(d->col, col);
    if (!strstr(d->message, part)) fail_msg("'%s' does not say '%s'", d->message, part);
    done(&r);
}

static void line_ends_are_spaces_and_comments_end_with_their_line(void **state)
{
    struct rig r;
    import(&r, "# -gpgpu_shader_cta 3\n-gpgpu_shader_cta\n   7 # not 9\n-gpgpu_l1_latency 20#40\n"
               "-gpgpu_dram_timing_opt \"nbk=8:CCD=2:  # a word\n   RCD=13 \"");
    assert_true(r.ok);
    assert_int_equal(r.m.sm_ctas, 7);
    assert_int_equal(r.m.l1.latency, 20);
    assert_int_equal(r.m.dram.banks, 8);
    assert_int_equal(r.m.dram.trcd, 13);
    done(&r);
}

static void the_last_value_of_an_option_wins_over_all_files(void **state)
{
    struct rig r;
    import(&r, "-gpgpu_shader_cta 3 -gpgpu_shader_cta 5");
    assert_int_equal(r.m.sm_ctas, 5);
    assert_true(gpgpusim_read_text(&r.im, "b.config", "-gpgpu_shader_cta 6", &r.diags));
    const struct config_target target = {machine_groups, &r.m, machine_data_dir()};
    assert_true(gpgpusim_map(&r.im, &target, &r.diags));
    assert_int_equal(r.m.sm_ctas, 6);
    assert_string_equal(setting(&r, "sm.ctas")->value, "6");
    done(&r);
}

static void an_option_that_no_file_names_has_gpgpusims_default(void **state)
{
    struct rig r;
    import(&r, "-gpgpu_n_clusters 4 -gpgpu_n_cores_per_cluster 3");
    assert_int_equal(r.m.sm_count, 12);
    assert_int_equal(r.m.sm_registers, 8192);
    assert_non_null(
        strstr(setting(&r, "sm.registers")->source, "-gpgpu_shader_registers 8192 (its default)"));
    done(&r);
}

static void an_empty_file_is_gpgpusims_default_machine(void **state)
{
    struct rig r;
    import(&r, "# nothing\n");
    assert_true(r.ok);
    assert_int_equal(r.diags.items.len, 0);
    assert_int_equal(r.m.sm_count, 10);
    assert_int_equal(r.m.sm_register_unit, 128); /* a thread's registers in fours, in one file */
    assert_int_equal(r.m.sm_register_partitions, 1);
    assert_int_equal(r.m.sm_shared_unit, 1);
    done(&r);
}

static void cache_strings_of_both_generations_say_the_same(void **state)
{
    static const char *const texts[] = {
        "-gpgpu_cache:dl1 N:32:128:6,L:L:m:N:H,A:48:9,7 -gpgpu_cache:dl2 N:64:128:8,L:B:m:W:L,A:33:4,4:0,64",
        "-gpgpu_cache:dl1 32:128:6,L:L:m:N:H,A:48:9,7 -gpgpu_cache:dl2 64:128:8,L:B:m:W:L,A:33:4,4:0,64"};
    for (uint32_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct rig r;
        import(&r, texts[i]);
        assert_true(r.ok);
        assert_int_equal(r.m.l1.size, 24 << 10);
        assert_int_equal(r.m.l1.ways, 6);
        assert_string_equal(setting(&r, "l1.index")->value, "fermi");
        assert_string_equal(setting(&r, "l1.write_global")->value, "evict");
        assert_false(r.m.l1.sectored);
        assert_int_equal(r.m.l1.mshrs, 48);
        assert_int_equal(r.m.l1.merges, 9);
        assert_int_equal(r.m.l1.miss_queue, 7);
        assert_int_equal(r.m.l2.slice_size, 64 << 10);
        assert_int_equal(r.m.l2.port_bytes, 64);
        assert_string_equal(setting(&r, "l2.write_miss")->value, "fetch");
        done(&r);
    }
}

static void sectors_make_bursts_of_their_own_and_lazy_fetch_is_kept(void **state)
{
    struct rig r;
    import(&r, "-gpgpu_cache:dl1 S:4:128:64,L:T:m:L:P,A:512:8,16:0,32 -gpgpu_cache:dl2 "
               "S:32:128:24,L:B:m:L:P,A:192:4,32:0,32");
    assert_true(r.ok && r.m.l1.sectored && r.m.l2.sectored && r.m.dram.sector_bursts);
    assert_string_equal(setting(&r, "l1.write_global")->value, "update");
    assert_string_equal(setting(&r, "l1.index")->value, "ipoly");
    assert_string_equal(setting(&r, "l2.write_miss")->value, "lazy");
    assert_int_equal(r.m.l2.slice_size, 96 << 10);
    done(&r);
}

static void clocks_are_megahertz_with_a_point(void **state)
{
    struct rig r;
    import(&r, "-gpgpu_clock_domains 1132:1132.0:700:3500.5");
    assert_int_equal(r.m.core_clock_khz, 1132000);
    assert_int_equal(r.m.l2_clock_khz, 700000);
    assert_int_equal(r.m.dram_clock_khz, 3500500);
    done(&r);
}

static void the_address_map_loses_its_leading_zeros_and_channel_letters_are_left(void **state)
{
    struct rig r;
    import(&r, "-gpgpu_mem_addr_mapping "
               "dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCB.CCCSSSSS");
    assert_string_equal(r.m.addrmap.mask, "dramid@8;0000RRRR.RRRRRRRR.RBBBCCCB.CCCSSSSS");
    done(&r);
    import(&r, "-gpgpu_mem_addr_mapping 00000000.RRRRRRRR.DDBBCCCC.CCSSSSSS");
    assert_true(r.ok && is_left(&r, "-gpgpu_mem_addr_mapping"));
    done(&r);
}

static void schedulers_are_found_by_their_words_in_gpgpusims_order(void **state)
{
    static const struct {
        const char *text, *scheduler, *mech;
    } rows[] = {{"gto", "gto", NULL},
                {"lrr", "lrr", NULL},
                {"oldest_first", "oldest", NULL},
                {"two_level_active:6:0:1", "two-level", "--mech-set two-level.active=6"},
                {"warp_limiting:2:16", "swl", "--mech-set swl.warps=16"}};
    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct strbuf text = {0};
        struct rig r;
        strbuf_printf(&text, "-gpgpu_scheduler %s", rows[i].text);
        import(&r, strbuf_text(&text));
        assert_string_equal(setting(&r, "sm.scheduler")->value, rows[i].scheduler);
        if (rows[i].mech)
            assert_string_equal(r.im.mech, rows[i].mech);
        else
            assert_null(r.im.mech);
        done(&r);
        strbuf_free(&text);
    }
}

static void dram_timings_come_by_name_or_by_position(void **state)
{
    static const char *const texts[] = {
        "-gpgpu_dram_timing_opt "
        "nbk=8:CCD=2:RRD=6:RCD=11:RAS=28:RP=12:RC=40:CL=13:WL=4:CDLR=5:WR=14:nbkgrp=1:CCDL=0:RTPL=0",
        "-gpgpu_dram_timing_opt 8:2:6:11:28:12:40:13:4:5:14:1:0:0"};
    for (uint32_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct rig r;
        import(&r, texts[i]);
        assert_true(r.ok);
        assert_int_equal(r.m.dram.banks, 8);
        assert_int_equal(r.m.dram.groups, 1);
        assert_int_equal(r.m.dram.trcd, 11);
        assert_int_equal(r.m.dram.tcl, 13);
        assert_int_equal(r.m.dram.twr, 14);
        assert_int_equal(r.m.dram.tccdl, 2); /* no groups: CCD */
        done(&r);
    }
}

static void latencies_of_trace_config_stand_over_those_for_ptx(void **state)
{
    struct rig r;
    import(&r, "-trace_opcode_latency_initiation_int 4,2 -ptx_opcode_latency_int 5,13,6,7,145,32 "
               "-trace_opcode_latency_initiation_sfu 20,8");
    assert_int_equal(r.m.sm.int_latency.add, 4);
    assert_int_equal(r.m.sm.int_latency.max, 4);
    assert_int_equal(r.m.sm.int_interval.mad, 2);
    assert_int_equal(r.m.sm.int_latency.div, 145);
    assert_int_equal(r.m.sm.warp_latency, 32);
    assert_int_equal(r.m.sm.sfu_latency, 20);
    done(&r);
}

static void fetches_of_a_cycle_are_those_of_so_many_warps(void **state)
{
    struct rig r;
    import(&r, "-gpgpu_inst_fetch_throughput 4");
    assert_int_equal(r.m.sm.fetch_warps, 4);
    assert_int_equal(r.m.sm.fetch_width, 2);
    done(&r);
}

static void what_the_machine_cannot_take_is_left_with_the_reason(void **state)
{
    struct rig r;
    import(&r, "-gpgpu_num_sched_per_core 16 -gpgpu_tensor_core_avail 1 -gpgpu_sub_core_model 0 "
               "-specialized_unit_1 1,4,4,4,4,BRA");
    assert_true(r.ok);
    assert_true(is_left(&r, "-gpgpu_num_sched_per_core 16"));
    assert_true(is_left(&r, "-gpgpu_tensor_core_avail"));
    assert_true(is_left(&r, "-specialized_unit_1"));
    assert_false(is_left(&r, "-gpgpu_sub_core_model")); /* off: as here */
    assert_int_equal(r.m.sm.schedulers, 2);
    done(&r);
}

static void an_unknown_option_is_a_warning_at_its_place(void **state)
{
    struct rig r;
    import(&r, "-gpgpu_shader_cta 8\n  -gpgpu_l1_latencie 20");
    assert_true(r.ok);
    assert_int_equal(r.diags.items.len, 1);
    assert_int_equal(r.diags.items.data[0].level, DIAG_WARNING);
    assert_int_equal(r.diags.items.data[0].line, 2);
    assert_int_equal(r.diags.items.data[0].col, 3);
    assert_non_null(strstr(r.diags.items.data[0].hint, "-gpgpu_l1_latency"));
    assert_true(is_left(&r, "-gpgpu_l1_latencie"));
    done(&r);
}

static void errors_name_file_line_and_column(void **state)
{
    expect_error("-gpgpu_cache:dl1 N:32:128,L:L:m:N:H,A:64:8,8", 1, 26, "':' is missing");
    expect_error("\n-gpgpu_cache:dl2 S:64:128:8,L:Q:m:L:L,A:256:4,4", 2, 31, "one of the letters RBTEL");
    expect_error("-gpgpu_shader_cta\n  -gpgpu_n_mem 6", 1, 1, "has no value");
    expect_error("-gpgpu_shader_cta many", 1, 19, "whole number");
    expect_error("-gpgpu_clock_domains 700:700:x:924", 1, 30, "four clocks");
    expect_error("<<<<<<<\n", 1, 1, "is not the value of an option");
    expect_error("-gpgpu_dram_timing_opt \"nbk=16:\nCCD=2", 1, 24, "does not end");
    expect_error("-gpgpu_dram_timing_opt nbk=16:CCD=x", 1, 35, "a number is missing");
    expect_error("-gpgpu_dram_timing_opt \"nbk=16: # banks\n   CCD=x\"", 2, 8, "a number is missing");
    expect_error("-gpgpu_scheduler fifo", 1, 18, "no scheduler");
    expect_error("-gpgpu_shader_core_pipeline 1536:64", 1, 34, "32 threads");
    expect_error("-gpgpu_pipeline_widths 1,2,3,4,5,6,7,8", 1, 24, "7, 11 or 13");
}

/* What is written can be read back as a machine file, and gives the same machine. */
static void an_adaptive_cache_becomes_one_array_with_shared_memory(void **state)
{
    struct rig r;
    import(&r, "-gpgpu_shmem_size 16384\n-gpgpu_cache:dl1 S:4:128:64,L:T:m:L:L,A:384:48,16:0,32\n"
               "-gpgpu_adaptive_cache_config 1\n-gpgpu_shmem_option "
               "0,8,16,32,64,100\n-gpgpu_unified_l1d_size 128\n");
    assert_true(r.ok);
    assert_int_equal(r.m.l1.size, 128 << 10);
    assert_int_equal(r.m.l1.ways, 256);
    assert_int_equal(r.m.sm_shared_bytes, 100 << 10);
    assert_string_equal(r.m.sm.shared_sizes, "0,8,16,32,64,100");
    assert_false(is_left(&r, "shmem_option"));
    done(&r);
    import(&r, "-gpgpu_shmem_size 16384\n-gpgpu_cache:dl1 S:4:128:64,L:T:m:L:L,A:384:48,16:0,32\n"
               "-gpgpu_adaptive_cache_config 1\n-gpgpu_shmem_option 0,8,128\n-gpgpu_unified_l1d_size 128\n");
    assert_true(r.ok);
    assert_true(is_left(&r, "adaptive_cache_config"));
    assert_int_equal(r.m.l1.size, 32 << 10);
    assert_string_equal(r.m.sm.shared_sizes, "");
    done(&r);
}

static void the_written_file_is_the_imported_machine(void **state)
{
    struct rig r;
    import(&r,
           "-gpgpu_cache:dl1 N:32:128:4,L:L:m:N:H,S:64:8,8 -gpgpu_clock_domains 700.0:700.0:700.0:924.0 "
           "-gpgpu_scheduler lrr\n"
           "-gpgpu_dram_timing_opt 16:2:6:12:28:12:40:12:4:5:12:4:3:2\n"
           "-gpgpu_mem_addr_mapping dramid@8;0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS -gpgpu_tensor_core_avail 1");
    struct strbuf text = {0};
    gpgpusim_write(&r.im, machine_groups, &text);
    assert_non_null(strstr(strbuf_text(&text), "# -gpgpu_cache:dl1 N:32:128:4,L:L:m:N:H,S:64:8,8\n"));
    assert_non_null(strstr(strbuf_text(&text), "#   -gpgpu_tensor_core_avail 1: no tensor cores\n"));
    char path[] = "/tmp/heddle-import-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text.data, text.len), (ssize_t)text.len);
    close(fd);
    struct machine back;
    bool loaded = machine_load(path, NULL, 0, &back, &r.diags);
    unlink(path);
    assert_true(loaded);
    for (const struct param_group *g = machine_groups; g->rows; g++)
        for (const struct param_row *row = g->rows; row->name; row++) {
            struct strbuf a = {0}, b = {0};
            param_format(row, (char *)&r.m + g->offset, &a);
            param_format(row, (char *)&back + g->offset, &b);
            if (strcmp(row->name, "summary")) assert_string_equal(strbuf_text(&a), strbuf_text(&b));
            strbuf_free(&a);
            strbuf_free(&b);
        }
    strbuf_free(&text);
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_ends_are_spaces_and_comments_end_with_their_line),
        cmocka_unit_test(the_last_value_of_an_option_wins_over_all_files),
        cmocka_unit_test(an_option_that_no_file_names_has_gpgpusims_default),
        cmocka_unit_test(an_empty_file_is_gpgpusims_default_machine),
        cmocka_unit_test(cache_strings_of_both_generations_say_the_same),
        cmocka_unit_test(sectors_make_bursts_of_their_own_and_lazy_fetch_is_kept),
        cmocka_unit_test(clocks_are_megahertz_with_a_point),
        cmocka_unit_test(the_address_map_loses_its_leading_zeros_and_channel_letters_are_left),
        cmocka_unit_test(schedulers_are_found_by_their_words_in_gpgpusims_order),
        cmocka_unit_test(dram_timings_come_by_name_or_by_position),
        cmocka_unit_test(latencies_of_trace_config_stand_over_those_for_ptx),
        cmocka_unit_test(fetches_of_a_cycle_are_those_of_so_many_warps),
        cmocka_unit_test(what_the_machine_cannot_take_is_left_with_the_reason),
        cmocka_unit_test(an_unknown_option_is_a_warning_at_its_place),
        cmocka_unit_test(errors_name_file_line_and_column),
        cmocka_unit_test(an_adaptive_cache_becomes_one_array_with_shared_memory),
        cmocka_unit_test(the_written_file_is_the_imported_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
