/* gpgpusim_map.c: from the options of GPGPU-Sim to the parameters of a machine: the table, and the walk
 * over it.
 *
 * Where no file names an option, GPGPU-Sim's own default counts (version 4.2's; 3.2's are the same where
 * it has the option), not Heddle's, so that the machine is the configured one. Rows are walked in their
 * order and a later row wins, so that the latencies of trace.config, which are for machine code, stand
 * over those for PTX. */
#include "config/gpgpusim_map.h"

#include <ctype.h>
#include <errno.h>

struct gmap_row {
    const char *name;
    /* NULL: no parameter; with `key` as the reason, or nothing about the machine when key is NULL */
    gmap_fn *map;
    /* parameter, or prefix of several */
    const char *key;
    /* GPGPU-Sim's default; NULL: nothing is set when no file names the option. Without a parameter: the
     * value with which it says what Heddle does anyway. */
    const char *init;
};

#define NUMBER(name, key, init)                                                                              \
    {                                                                                                        \
        name, gmap_number, key, init                                                                         \
    }
#define LEFT(name, same, why)                                                                                \
    {                                                                                                        \
        name, NULL, why, same                                                                                \
    }
#define NONE(name)                                                                                           \
    {                                                                                                        \
        name, NULL, NULL, NULL                                                                               \
    }

static const struct gmap_row rows[] = {
    NUMBER("-gpgpu_compute_capability_major", "device.cc_major", NULL),
    NUMBER("-gpgpu_compute_capability_minor", "device.cc_minor", NULL),
    {"-gpgpu_clock_domains", gmap_clocks, NULL, "500.0:2000.0:2000.0:2000.0"},
    /* SM */
    {"-gpgpu_n_clusters", gmap_clusters, "sm.count", "10"},
    NONE("-gpgpu_n_cores_per_cluster"), /* in the row above */
    {"-gpgpu_shader_core_pipeline", gmap_residency, NULL, "1024:32"},
    NUMBER("-gpgpu_shader_cta", "sm.ctas", "32"),
    NUMBER("-gpgpu_shader_registers", "sm.registers", "8192"),
    NUMBER("-gpgpu_shmem_size", "sm.shared", "16384"),
    {"-gpgpu_shmem_per_block", gmap_shared_limit, "cta.shared", "49152"},
    NUMBER("-gpgpu_num_sched_per_core", "sm.schedulers", "1"),
    NUMBER("-gpgpu_max_insn_issue_per_warp", "sm.issue_width", "2"),
    NUMBER("-gpgpu_inst_fetch_throughput", "sm.fetch_warps", "1"),
    {"-gpgpu_cache:il1", gmap_rocache, "sm.icache", NULL},
    {"-gpgpu_const_cache:l1", gmap_rocache, "sm.const", NULL},
    {"-gpgpu_tex_cache:l1", gmap_rocache, "sm.tex", NULL},
    {"-gpgpu_perfect_inst_const_cache", gmap_flag, "sm.perfect_icache", "0"},
    NUMBER("-gpgpu_operand_collector_num_units_sp", "sm.sp_collectors", "4"),
    NUMBER("-gpgpu_operand_collector_num_units_int", "sm.int_collectors", "0"),
    NUMBER("-gpgpu_operand_collector_num_units_dp", "sm.dp_collectors", "0"),
    NUMBER("-gpgpu_operand_collector_num_units_sfu", "sm.sfu_collectors", "4"),
    NUMBER("-gpgpu_operand_collector_num_units_mem", "sm.mem_collectors", "2"),
    NUMBER("-gpgpu_operand_collector_num_units_gen", "sm.gen_collectors", "0"),
    {"-gpgpu_enable_specialized_operand_collector", gmap_generic_collectors, NULL, NULL},
    NUMBER("-gpgpu_num_reg_banks", "sm.register_banks", "8"),
    {"-gpgpu_pipeline_widths", gmap_widths, NULL, "1,1,1,1,1,1,1,1,1,1,1,1,1"},
    NUMBER("-gpgpu_num_sp_units", "sm.sp_units", "1"),
    NUMBER("-gpgpu_num_int_units", "sm.int_units", "0"),
    NUMBER("-gpgpu_num_dp_units", "sm.dp_units", "0"),
    NUMBER("-gpgpu_num_sfu_units", "sm.sfu_units", "1"),
    {"-ptx_opcode_latency_int", gmap_latencies, "sm.int_latency", "1,1,19,25,145,32"},
    {"-ptx_opcode_initiation_int", gmap_initiations, "sm.int_interval", "1,1,4,4,32,4"},
    {"-ptx_opcode_latency_fp", gmap_latencies, "sm.fp_latency", "1,1,1,1,30"},
    {"-ptx_opcode_initiation_fp", gmap_initiations, "sm.fp_interval", "1,1,1,1,5"},
    {"-ptx_opcode_latency_dp", gmap_latencies, "sm.dp_latency", "8,8,8,8,335"},
    {"-ptx_opcode_initiation_dp", gmap_initiations, "sm.dp_interval", "8,8,8,8,130"},
    {"-ptx_opcode_latency_sfu", gmap_one_op, "sm.sfu_latency", "8"},
    {"-ptx_opcode_initiation_sfu", gmap_one_op, "sm.sfu_interval", "8"},
    {"-trace_opcode_latency_initiation_int", gmap_trace_unit, "sm.int", NULL},
    {"-trace_opcode_latency_initiation_sp", gmap_trace_unit, "sm.fp", NULL},
    {"-trace_opcode_latency_initiation_dp", gmap_trace_unit, "sm.dp", NULL},
    {"-trace_opcode_latency_initiation_sfu", gmap_trace_unit, "sm.sfu", NULL},
    NUMBER("-gpgpu_shmem_num_banks", "sm.shared_banks", "16"),
    NUMBER("-gpgpu_smem_latency", "sm.shared_latency", "3"),
    /* L1 */
    {"-gpgpu_cache:dl1", gmap_l1, NULL, NULL},
    {"-gpgpu_adaptive_cache_config", gmap_unified, NULL, NULL}, /* stands over dl1 and shmem_size */
    NONE("-gpgpu_unified_l1d_size"),                            /* in the row above */
    {"-gpgpu_shmem_option", NULL, NULL, "0"},                   /* as well */
    NUMBER("-gpgpu_l1_latency", "l1.latency", "1"),
    NUMBER("-gpgpu_l1_banks", "l1.ports", "1"),
    {"-gpgpu_gmem_skip_L1D", gmap_not, "l1.cache_global", "0"},
    {"-gpgpu_flush_l1_cache", gmap_flag, "l1.flush", "0"},
    /* crossbar: BookSim (network_mode 1) or the built-in one (2) */
    {"-icnt_flit_size", gmap_flit, "2", NULL},
    {"-icnt:flit_size", gmap_flit, "1", NULL},
    {"-icnt_in_buffer_limit", gmap_buffers, "2", NULL},
    {"-icnt:vc_buf_size", gmap_buffers, "1", NULL},
    NUMBER("-icnt:num_vcs", "xbar.vcs", NULL),
    NUMBER("-icnt:alloc_iters", "xbar.iterations", NULL),
    {"-icnt:internal_speedup", gmap_speedup, "xbar.input_speedup", NULL},
    NUMBER("-gpgpu_n_cluster_ejection_buffer_size", "xbar.ejection", "8"),
    NUMBER("-gpgpu_n_ldst_response_buffer_size", "gpu.sm_in_queue", "2"),
    /* addresses, L2 */
    NUMBER("-gpgpu_n_mem", "addr.channels", "8"),
    NUMBER("-gpgpu_n_sub_partition_per_mchannel", "addr.slices", "1"),
    {"-gpgpu_mem_addr_mapping", gmap_address_map, "addr.map", NULL},
    {"-gpgpu_memory_partition_indexing", gmap_partition_hash, "addr.hash", "0"},
    {"-gpgpu_cache:dl2", gmap_l2, NULL, NULL},
    {"-gpgpu_dram_partition_queues", gmap_partition_queues, NULL, "8:8:8:8"},
    {"-rop_latency", gmap_rop, "l2.tag_latency", NULL}, /* 3.x */
    {"-gpgpu_l2_rop_latency", gmap_rop, "l2.tag_latency", "85"},
    /* DRAM */
    NUMBER("-dram_latency", "dram.latency", "30"),
    {"-gpgpu_dram_scheduler", gmap_dram_sched, "dram.sched", "1"},
    {"-gpgpu_frfcfs_dram_sched_queue_size", gmap_queue, "dram.queue", "0"},
    {"-gpgpu_dram_return_queue_size", gmap_queue, "dram.return_queue", "0"},
    {"-gpgpu_dram_buswidth", gmap_bus, "dram.bus_bytes", "4"},
    NONE("-gpgpu_n_mem_per_ctrlr"), /* in the row above */
    NUMBER("-gpgpu_dram_burst_length", "dram.burst", "4"),
    NUMBER("-dram_data_command_freq_ratio", "dram.ratio", "2"),
    {"-dram_dual_bus_interface", gmap_flag, "dram.dual_bus", "0"},
    {"-dram_bnkgrp_indexing_policy", gmap_dram_groups, "dram.group_by", "0"},
    {"-gpgpu_dram_timing_opt", gmap_dram_timing, NULL, "4:2:8:12:21:13:34:9:4:5:13:1:0:0"},
    {"-dram_seperate_write_queue_enable", gmap_flag, "dram.write_drain", NULL},
    {"-Seperate_Write_Queue_Enable", gmap_flag, "dram.write_drain", NULL},
    {"-dram_write_queue_size", gmap_write_queue, NULL, NULL},
    {"-Write_Queue_Size", gmap_write_queue, NULL, NULL},
    /* GPU and host */
    NUMBER("-gpgpu_kernel_launch_latency", "gpu.launch_latency", "0"),
    NUMBER("-gpgpu_max_concurrent_kernel", "gpu.kernels", NULL),
    {"-gpgpu_perf_sim_memcpy", gmap_flag, "gpu.copy_fills_l2", "1"},
    NUMBER("-gpgpu_stack_size_limit", "emu.stack", NULL),
    NUMBER("-gpgpu_heap_size_limit", "emu.heap", NULL),
    {"-gpgpu_scheduler", gmap_scheduler, "sm.scheduler", "gto"},
    /* about the machine, and without a parameter */
    LEFT("-gpgpu_registers_per_block", NULL, "a block may use all registers of its SM"),
    LEFT("-gpgpu_TB_launch_latency", "0", "blocks start without one"),
    LEFT("-gpgpu_shmem_sizeDefault", NULL, "a kernel's cache preference chooses among sm.shared_sizes"),
    LEFT("-gpgpu_shmem_size_PrefL1", NULL, "a kernel's cache preference chooses among sm.shared_sizes"),
    LEFT("-gpgpu_shmem_size_PrefShared", NULL, "a kernel's cache preference chooses among sm.shared_sizes"),
    LEFT("-gpgpu_cache:dl1PrefL1", NULL, "a kernel's cache preference chooses among sm.shared_sizes"),
    LEFT("-gpgpu_cache:dl1PrefShared", NULL, "a kernel's cache preference chooses among sm.shared_sizes"),
    LEFT("-gpgpu_l1_cache_write_ratio", "0", "no limit on dirty lines of a set"),
    LEFT("-gpgpu_l2_cache_write_ratio", "0", "no limit on dirty lines of a set"),
    LEFT("-gpgpu_flush_l2_cache", "0", "the L2 is kept between kernels"),
    LEFT("-gpgpu_cache:dl2_texture_only", "0", "the L2 serves everything"),
    LEFT("-gpgpu_dual_issue_diff_exec_units", "0", "issue_width does not look at the kinds of unit"),
    LEFT("-gpgpu_sub_core_model", "0", "schedulers share the units of their SM"),
    LEFT("-gpgpu_reg_file_port_throughput", "1", "a register bank has one port"),
    LEFT("-gpgpu_reg_bank_use_warp_id", "1", "see sm.bank_by_warp"),
    LEFT("-gpgpu_tensor_core_avail", "0", "no tensor cores"),
    LEFT("-gpgpu_num_tensor_core_units", "0", "no tensor cores"),
    LEFT("-ptx_opcode_latency_tesnor", NULL, "no tensor cores"),
    LEFT("-ptx_opcode_latency_tensor", NULL, "no tensor cores"),
    LEFT("-ptx_opcode_initiation_tensor", NULL, "no tensor cores"),
    LEFT("-trace_opcode_latency_initiation_tensor", NULL, "no tensor cores"),
    LEFT("-icnt_out_buffer_limit", NULL, "an output's buffer is xbar.ejection"),
    LEFT("-icnt_arbiter_algo", "1", "the crossbar's arbiter is iSLIP"),
    LEFT("-dram_bnk_indexing_policy", "0", "banks are numbered by the address map"),
    LEFT("-dram_elimnate_rw_turnaround", "0", "the bus always pays for its turnaround"),
    LEFT("-gpgpu_mem_unit_ports", "1", "see sm.lsu_ports"),
    LEFT("-gpgpu_shmem_limited_broadcast", "0", "shared memory broadcasts any word"),
    LEFT("-gpgpu_shmem_warp_parts", "1", "a warp accesses shared memory as a whole"),
    LEFT("-gpgpu_coalesce_arch", NULL, "accesses are coalesced by the line or the sectors of the L1"),
    LEFT("-gpgpu_concurrent_kernel_sm", "1", "grids share an SM whenever there is room"),
    /* in other rows, or nothing about the machine */
    NONE("-network_mode"),
    NONE("-inter_config_file"),
    NONE("-icnt_subnets"),
    NONE("-gpgpu_simd_model"),
    NONE("-gpgpu_mem_address_mask"),
    NONE("-gpgpu_occupancy_sm_number"),
    NONE("-gpgpu_memlatency_stat"),
    NONE("-gpgpu_runtime_stat"),
    NONE("-gpgpu_cflog_interval"),
    NONE("-gpgpu_clock_gated_lanes"),
    NONE("-gpgpu_clock_gated_reg_file"),
    NONE("-gpgpu_runtime_sync_depth_limit"),
    NONE("-gpgpu_runtime_pending_launch_count_limit"),
    NONE("-gpgpu_deadlock_detect"),
    NONE("-gpgpu_max_cycle"),
    NONE("-gpgpu_max_insn"),
    NONE("-gpgpu_max_cta"),
    NONE("-gpgpu_simt_core_sim_order"),
    NONE("-enable_ptx_file_line_stats"),
    NONE("-save_embedded_ptx"),
    {0},
};

/* Families of options, by the beginning of their names. */
static const struct {
    const char *prefix, *reason;
} families[] = {
    {"-specialized_unit_", "no specialised units"},
    {"-trace_opcode_latency_initiation_spec_op_", "no specialised units"},
    {"-gpgpu_operand_collector_num_units_tensor", "no tensor cores"},
    {"-gpgpu_operand_collector_num_", "collectors have as many ports as they need"},
    {"-icnt:", NULL},
    {"-trace", NULL},
    {"-visualizer", NULL},
    {"-power_", NULL},
    {"-gpuwattch", NULL},
    {"-accelwattch", NULL},
    {"-steady_", NULL},
    {"-hw_perf", NULL},
    {"-gpgpu_ptx_", NULL},
    {"-liveness", NULL},
};

/* How GPGPU-Sim is built, whatever its options say. */
static const struct {
    const char *key, *value, *source;
} fixed[] = {
    {"sm.fetch_width", "2", "GPGPU-Sim: a fetch is 16 bytes"},
    {"sm.ibuffer", "2", "GPGPU-Sim: IBUFFER_SIZE"},
    {"sm.register_unit", "128", "GPGPU-Sim: registers of a thread are rounded up to 4"},
    {"sm.register_partitions", "1", "GPGPU-Sim: the registers of an SM are one file"},
    {"sm.shared_unit", "1", "GPGPU-Sim: shared memory is not rounded"},
    {"sm.collector_reads", "1", "GPGPU-Sim: a collector takes an operand a cycle"},
    {"sm.forwarding", "false", "GPGPU-Sim: the scoreboard is released at the writeback"},
    {"sm.turns_by_cycle", "true", "GPGPU-Sim: the first scheduler is another one in every cycle"},
    {"xbar.header", "8", "GPGPU-Sim: READ_PACKET_SIZE"},
    {"dram.latency_min", "0", "GPGPU-Sim has no such bound"},
    {"dram.trefi", "0", "GPGPU-Sim: no refresh"},
    {"l2.fill_port", "true", "GPGPU-Sim: fills have a port of their own"},
};

static const struct gmap_row *find_row(const char *name)
{
    for (const struct gmap_row *r = rows; r->name; r++)
        if (!strcmp(r->name, name)) return r;
    return NULL;
}

const char *gmap_text(struct gmap *g, const char *name)
{
    const struct gpgpusim_option *o = gpgpusim_find(g->im, name);
    const struct gmap_row *r = find_row(name);
    return o ? o->value : r && r->init ? r->init : "1"; /* cores of a cluster, chips of a channel: one */
}

uint64_t gmap_value(struct gmap *g, const char *name) { return strtoull(gmap_text(g, name), NULL, 10); }

static void describe(const struct gpgpusim_option *o, struct strbuf *out)
{
    strbuf_printf(out, "%s %s", o->name, o->value);
    if (o->file == GPGPUSIM_DEFAULT) strbuf_puts(out, " (its default)");
}

void gmap_leave(struct gmap *g, const struct gpgpusim_option *o, const char *fmt, ...)
{
    struct strbuf option = {0}, reason = {0};
    va_list ap;
    va_start(ap, fmt);
    strbuf_vprintf(&reason, fmt, ap);
    va_end(ap);
    describe(o, &option);
    vec_push(&g->im->left, (struct gpgpusim_left){option.data, reason.data});
}

void gmap_error(struct gmap *g, const struct gpgpusim_option *o, size_t at, const char *hint, const char *fmt,
                ...)
{
    assert(o->file !=
           GPGPUSIM_DEFAULT); /* the table's own values are well formed: a test imports an empty file */
    int line, col;
    gpgpusim_place(g->im, o, at, &line, &col);
    va_list ap;
    va_start(ap, fmt);
    diag_vadd(g->diags, DIAG_ERROR, &g->im->files.data[o->file], line, col,
              (int)MAX(strcspn(o->value + at, ":, "), 1u), hint, fmt, ap);
    va_end(ap);
    g->ok = false;
}

/* A key that stands already gets the new value. */
static void keep_setting(struct gpgpusim_import *im, const char *key, const char *value, const char *source)
{
    for (uint32_t i = 0; i < im->settings.len; i++) {
        struct gpgpusim_setting *s = &im->settings.data[i];
        if (strcmp(s->key, key)) continue;
        free(s->value);
        free(s->source);
        s->value = mem_strdup(value);
        s->source = mem_strdup(source);
        return;
    }
    vec_push(&im->settings,
             (struct gpgpusim_setting){mem_strdup(key), mem_strdup(value), mem_strdup(source)});
}

bool gmap_set(struct gmap *g, struct gpgpusim_option *o, const char *key, const char *more, const char *fmt,
              ...)
{
    struct strbuf value = {0}, source = {0};
    va_list ap;
    va_start(ap, fmt);
    strbuf_vprintf(&value, fmt, ap);
    va_end(ap);
    struct diag_list tried = {0};
    bool ok =
        params_set(g->target->groups, g->target->object, key, strbuf_text(&value), NULL, 0, 0, 0, &tried);
    describe(o, &source);
    if (more) strbuf_printf(&source, "; %s", more);
    if (ok)
        keep_setting(g->im, key, strbuf_text(&value), strbuf_text(&source));
    else
        gmap_leave(g, o, "%s", tried.items.data[0].message);
    diag_free(&tried);
    strbuf_free(&value);
    strbuf_free(&source);
    return ok;
}

bool gmap_numbers(struct gmap *g, const struct gpgpusim_option *o, char separator, uint32_t min, uint32_t max,
                  uint64_t *out, uint32_t *count)
{
    const char *p = o->value;
    for (*count = 0; *count < max; p++) {
        while (*p == ' ') p++;
        char *end;
        errno = 0;
        uint64_t v = isdigit((unsigned char)*p) ? strtoull(p, &end, 10) : 0;
        if (!isdigit((unsigned char)*p) || errno) {
            gmap_error(g, o, (size_t)(p - o->value), NULL, "%s: a whole number is missing here", o->name);
            return false;
        }
        out[(*count)++] = v;
        p = end;
        while (*p == ' ') p++;
        if (!*p) break;
        if (*p != separator) {
            gmap_error(g, o, (size_t)(p - o->value), NULL, "%s: '%c' or the end must follow the number",
                       o->name, separator);
            return false;
        }
    }
    if (*count >= min && !*p) return true;
    gmap_error(g, o, 0, NULL, "%s takes %u to %u numbers", o->name, min, max);
    return false;
}

static bool one_number(struct gmap *g, const struct gpgpusim_option *o, uint64_t *out)
{
    uint32_t count;
    return gmap_numbers(g, o, ':', 1, 1, out, &count);
}

void gmap_number(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    uint64_t v;
    if (one_number(g, o, &v)) gmap_set(g, o, key, NULL, "%llu", (unsigned long long)v);
}

void gmap_flag(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    uint64_t v;
    if (one_number(g, o, &v)) gmap_set(g, o, key, NULL, "%s", v ? "true" : "false");
}

void gmap_not(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    uint64_t v;
    if (one_number(g, o, &v)) gmap_set(g, o, key, NULL, "%s", v ? "false" : "true");
}

/* Handles an option that is in no row. */
static void map_rest(struct gmap *g, struct gpgpusim_option *o)
{
    for (uint32_t i = 0; i < ARRAY_LEN(families); i++) {
        if (strncmp(o->name, families[i].prefix, strlen(families[i].prefix))) continue;
        if (families[i].reason) gmap_leave(g, o, "%s", families[i].reason);
        return;
    }
    const char *names[ARRAY_LEN(rows)];
    for (uint32_t i = 0; i + 1 < ARRAY_LEN(rows); i++) names[i] = rows[i].name;
    const char *near = diag_nearest(o->name, names, ARRAY_LEN(rows) - 1);
    char hint[96] = "";
    if (near) snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    diag_add(g->diags, DIAG_WARNING, &g->im->files.data[o->file], o->line, o->col, (int)strlen(o->name),
             near ? hint : NULL, "unknown option '%s'", o->name);
    gmap_leave(g, o, "unknown option");
}

static void map_row(struct gmap *g, const struct gmap_row *r)
{
    struct gpgpusim_option *given = gpgpusim_find(g->im, r->name);
    if (given) given->used = true;
    if (r->map && given) {
        r->map(g, given, r->key);
    } else if (given && r->key) {
        if (!r->init || strcmp(r->init, given->value)) gmap_leave(g, given, "%s", r->key);
    } else if (r->map && r->init && !(r->map == gmap_rop && gpgpusim_find(g->im, "-rop_latency"))) {
        struct gpgpusim_option init = {
            .name = (char *)r->name, .value = (char *)r->init, .file = GPGPUSIM_DEFAULT};
        r->map(g, &init, r->key);
    }
}

static void map_fixed(struct gmap *g)
{
    for (uint32_t i = 0; i < ARRAY_LEN(fixed); i++)
        if (params_set(g->target->groups, g->target->object, fixed[i].key, fixed[i].value, NULL, 0, 0, 0,
                       g->diags))
            keep_setting(g->im, fixed[i].key, fixed[i].value, fixed[i].source);
}

bool gpgpusim_map(struct gpgpusim_import *im, const struct config_target *target, struct diag_list *diags)
{
    struct gmap g = {im, target, diags, true};
    for (const struct gmap_row *r = rows; r->name; r++) map_row(&g, r);
    map_fixed(&g);
    for (uint32_t i = 0; i < im->options.len; i++)
        if (!im->options.data[i].used) map_rest(&g, &im->options.data[i]);
    return g.ok;
}
