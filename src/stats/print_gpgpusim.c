/* print_gpgpusim.c: --stats=gpgpusim: the lines of GPGPU-Sim 4's output that scripts look for, spelled and
 * spaced as there ("partiton", "parallism"; gpu_ipc counts thread instructions). As there, gpu_sim_*,
 * gpu_ipc, gpu_occupancy and L2_BW are those of the kernel, and all other counts run on from kernel to
 * kernel, so that scripts take differences. Lines for which this machine counts nothing are left out rather
 * than printed as 0. */
#include "stats/print.h"

#include <string.h>

enum { SECTOR_BYTES = 32 };

struct gpgpusim {
    const struct stats_view *v;
    struct strbuf *out;
    void **sum;
    /* sum over all kernels so far */
    uint64_t cycles;
    bool is_last;
};

static unsigned long long summed(const struct gpgpusim *p, enum stats_name id)
{
    return view_count(p->v, p->sum, id);
}

static double per(uint64_t n, uint64_t d) { return d ? (double)n / (double)d : 0.0; }

/* Where no count of one kind of access is kept, it is the count of all accesses minus that of writes. */
struct breakdown {
    const char *access;
    enum stats_name total, hit, pending, miss, fail;
};

static const struct breakdown l1_breakdown[] = {
    {"GLOBAL_ACC_R", STATS_L1_GLOBAL_LOADS, STATS_L1_GLOBAL_LOAD_HITS, STATS_L1_GLOBAL_LOAD_PENDING,
     STATS_L1_GLOBAL_LOAD_MISSES, STATS_L1_GLOBAL_LOAD_FAILS},
    {"LOCAL_ACC_R", STATS_L1_LOCAL_LOADS, STATS_L1_LOCAL_LOAD_HITS, STATS_L1_LOCAL_LOAD_PENDING,
     STATS_L1_LOCAL_LOAD_MISSES, STATS_L1_LOCAL_LOAD_FAILS},
    {"GLOBAL_ACC_W", STATS_L1_GLOBAL_STORES, STATS_L1_GLOBAL_STORE_HITS, STATS_L1_GLOBAL_STORE_PENDING,
     STATS_L1_GLOBAL_STORE_MISSES, STATS_L1_GLOBAL_STORE_FAILS},
    {"LOCAL_ACC_W", STATS_L1_LOCAL_STORES, STATS_L1_LOCAL_STORE_HITS, STATS_L1_LOCAL_STORE_PENDING,
     STATS_L1_LOCAL_STORE_MISSES, STATS_L1_LOCAL_STORE_FAILS},
};
static const struct breakdown l2_all_global = {"GLOBAL_ACC_R",         STATS_L2_GLOBAL,
                                               STATS_L2_GLOBAL_HITS,   STATS_L2_GLOBAL_PENDING,
                                               STATS_L2_GLOBAL_MISSES, STATS_L2_GLOBAL_FAILS};
static const struct breakdown l2_global_writes = {"GLOBAL_ACC_W",
                                                  STATS_L2_GLOBAL_WRITES,
                                                  STATS_L2_GLOBAL_WRITE_HITS,
                                                  STATS_L2_GLOBAL_WRITE_PENDING,
                                                  STATS_L2_GLOBAL_WRITE_MISSES,
                                                  STATS_L2_GLOBAL_WRITE_FAILS};

/* Prints each outcome of `all` minus that of `less` (NULL: minus nothing). */
static void print_breakdown(const struct gpgpusim *p, const char *prefix, const struct breakdown *all,
                            const struct breakdown *less)
{
    const struct {
        const char *name;
        enum stats_name all, less;
    } lines[] = {
        {"HIT", all->hit, less ? less->hit : 0},
        {"HIT_RESERVED", all->pending, less ? less->pending : 0},
        {"MISS", all->miss, less ? less->miss : 0},
        {"RESERVATION_FAIL", all->fail, less ? less->fail : 0},
        {"TOTAL_ACCESS", all->total, less ? less->total : 0},
    };
    if (!view_has(p->v, all->total)) return;
    for (uint32_t i = 0; i < ARRAY_LEN(lines); i++)
        strbuf_printf(p->out, "\t%s[%s][%s] = %llu\n", prefix, all->access, lines[i].name,
                      summed(p, lines[i].all) - (less ? summed(p, lines[i].less) : 0));
}

static void print_gpu(const struct gpgpusim *p, const struct timed_kernel *k)
{
    const struct stats_view *v = p->v;
    unsigned long long insts = view_count(v, k->stats, STATS_SM_THREAD_INSTS),
                       all = summed(p, STATS_SM_THREAD_INSTS);
    strbuf_printf(p->out, "kernel_name = %s \n", k->name);
    strbuf_printf(p->out, "kernel_launch_uid = %llu \n", (unsigned long long)k->id);
    strbuf_printf(p->out, "kernel_stream_id = %llu\n", (unsigned long long)k->stream);
    strbuf_printf(p->out, "gpu_sim_cycle = %llu\n", (unsigned long long)kernel_cycles(k));
    strbuf_printf(p->out, "gpu_sim_insn = %llu\n", insts);
    strbuf_printf(p->out, "gpu_ipc = %12.4f\n", per(insts, kernel_cycles(k)));
    strbuf_printf(p->out, "gpu_tot_sim_cycle = %llu\n", (unsigned long long)p->cycles);
    strbuf_printf(p->out, "gpu_tot_sim_insn = %llu\n", all);
    strbuf_printf(p->out, "gpu_tot_ipc = %12.4f\n", per(all, p->cycles));
    strbuf_printf(p->out, "gpu_tot_issued_cta = %llu\n", summed(p, STATS_GPU_CTAS));
    strbuf_printf(p->out, "gpu_occupancy = %.4f%% \n",
                  100 * view_ratio(v, k->stats, STATS_SM_WARP_CYCLES, STATS_SM_WARP_SLOT_CYCLES));
    strbuf_printf(p->out, "gpu_tot_occupancy = %.4f%% \n",
                  100 * view_ratio(v, p->sum, STATS_SM_WARP_CYCLES, STATS_SM_WARP_SLOT_CYCLES));
}

/* Requests that reach L2 in a cycle, and the bytes of the replies. GPGPU-Sim counts 32-byte pieces of reads
 * there. */
static void print_partitions(const struct gpgpusim *p, const struct timed_kernel *k)
{
    const struct stats_view *v = p->v;
    double seconds = v->machine.core_khz ? 1e-3 / v->machine.core_khz : 0; /* per cycle */
    unsigned long long bytes = view_count(v, k->stats, STATS_L2_REPLY_SECTORS) * SECTOR_BYTES;
    unsigned long long bytes_all = summed(p, STATS_L2_REPLY_SECTORS) * SECTOR_BYTES;
    strbuf_printf(p->out, "gpu_stall_dramfull = %llu\n", summed(p, STATS_L2_STALL_DRAM));
    strbuf_printf(p->out, "gpu_stall_icnt2sh    = %llu\n", summed(p, STATS_L2_STALL_ICNT));
    strbuf_printf(p->out, "partiton_level_parallism = %12.4f\n", view_per_cycle(v, k, STATS_L2_ACCESSES));
    strbuf_printf(p->out, "partiton_level_parallism_total  = %12.4f\n",
                  per(summed(p, STATS_L2_ACCESSES), p->cycles));
    strbuf_printf(p->out, "L2_BW  = %12.4f GB/Sec\n",
                  seconds > 0 ? per(bytes, kernel_cycles(k)) / seconds / 1e9 : 0.0);
    strbuf_printf(p->out, "L2_BW_total  = %12.4f GB/Sec\n",
                  seconds > 0 ? per(bytes_all, p->cycles) / seconds / 1e9 : 0.0);
    strbuf_printf(p->out, "gpu_total_sim_rate=%.0f\n\n",
                  v->host_seconds > 0 ? (double)summed(p, STATS_SM_THREAD_INSTS) / v->host_seconds : 0.0);
}

/* ids: accesses, misses, and where they are counted pending hits and reservation fails (count 4 instead of
 * 2). */
static void print_cache_totals(const struct gpgpusim *p, const char *prefix, const enum stats_name *ids,
                               uint32_t count)
{
    static const char *const names[] = {"accesses", "misses", "pending_hits", "reservation_fails"};
    for (uint32_t i = 0; i < count; i++) {
        strbuf_printf(p->out, "%s_total_cache_%s = %llu\n", prefix, names[i], summed(p, ids[i]));
        if (i == 1 && summed(p, ids[0]))
            strbuf_printf(p->out, "%s_total_cache_miss_rate = %.4f\n", prefix,
                          per(summed(p, ids[1]), summed(p, ids[0])));
    }
}

/* A line for each cache of a kind: after the last kernel, when each has its count of the whole run. */
static void print_instances(const struct gpgpusim *p, const char *name, void *const *caches, uint32_t count,
                            const enum stats_name ids[4])
{
    for (uint32_t i = 0; p->is_last && i < count; i++) {
        unsigned long long n[4];
        for (uint32_t j = 0; j < 4; j++) n[j] = view_count_in(p->v, caches[i], ids[j]);
        strbuf_printf(p->out,
                      "%s[%u]: Access = %llu, Miss = %llu, Miss_rate = %.3f, Pending_hits = %llu, "
                      "Reservation_fails = %llu\n",
                      name, i, n[0], n[1], per(n[1], n[0]), n[2], n[3]);
    }
}

static void print_core_caches(const struct gpgpusim *p)
{
    static const enum stats_name l1[] = {STATS_L1_ACCESSES, STATS_L1_MISSES, STATS_L1_PENDING,
                                         STATS_L1_STALLS};
    static const enum stats_name l1i[] = {STATS_SM_FETCHES, STATS_SM_ICACHE_MISSES};
    static const enum stats_name l1c[] = {STATS_SM_CONST_ACCESSES, STATS_SM_CONST_MISSES};
    static const enum stats_name l1t[] = {STATS_SM_TEX_ACCESSES, STATS_SM_TEX_MISSES};
    strbuf_puts(p->out, "L1I_cache:\n");
    print_cache_totals(p, "\tL1I", l1i, ARRAY_LEN(l1i));
    strbuf_puts(p->out, "L1D_cache:\n");
    print_instances(p, "\tL1D_cache_core", p->v->l1s, p->v->l1_count, l1);
    print_cache_totals(p, "\tL1D", l1, ARRAY_LEN(l1));
    strbuf_puts(p->out, "L1C_cache:\n");
    print_cache_totals(p, "\tL1C", l1c, ARRAY_LEN(l1c));
    strbuf_puts(p->out, "L1T_cache:\n");
    print_cache_totals(p, "\tL1T", l1t, ARRAY_LEN(l1t));
    strbuf_puts(p->out, "\nTotal_core_cache_stats:\n");
    for (uint32_t i = 0; i < ARRAY_LEN(l1_breakdown); i++)
        print_breakdown(p, "Total_core_cache_stats_breakdown", &l1_breakdown[i], NULL);
}

static void print_core(const struct gpgpusim *p)
{
    unsigned long long stalled = summed(p, STATS_SM_STR_MEM) + summed(p, STATS_SM_STR_ALU);
    unsigned long long data = summed(p, STATS_SM_DATA_MEM) + summed(p, STATS_SM_DATA_ALU);
    unsigned long long idle = summed(p, STATS_SM_IDLE) + summed(p, STATS_SM_FETCH) +
                              summed(p, STATS_SM_BARRIER) + summed(p, STATS_SM_HELD);
    strbuf_printf(p->out, "\ngpgpu_n_tot_thrd_icount = %llu\n", summed(p, STATS_SM_THREAD_INSTS));
    strbuf_printf(p->out, "gpgpu_n_tot_w_icount = %llu\n", summed(p, STATS_SM_WARP_INSTS));
    strbuf_printf(p->out, "gpgpu_n_stall_shd_mem = %llu\n",
                  summed(p, STATS_L1_STALLS) + summed(p, STATS_SM_SHARED_CONFLICTS));
    strbuf_printf(p->out, "gpgpu_n_load_insn  = %llu\n", summed(p, STATS_SM_LOADS));
    strbuf_printf(p->out, "gpgpu_n_store_insn = %llu\n", summed(p, STATS_SM_STORES));
    strbuf_printf(p->out, "gpgpu_n_shmem_bkconflict = %llu\n", summed(p, STATS_SM_SHARED_CONFLICTS));
    strbuf_printf(p->out, "Warp Occupancy Distribution:\nStall:%llu\tW0_Idle:%llu\tW0_Scoreboard:%llu\n",
                  stalled, idle, data);
}

static void print_below(const struct gpgpusim *p)
{
    static const enum stats_name l2[] = {STATS_L2_ACCESSES, STATS_L2_MISSES, STATS_L2_PENDING,
                                         STATS_L2_FAILS};
    strbuf_printf(p->out, "total dram reads = %llu\n", summed(p, STATS_DRAM_READ_BURSTS));
    strbuf_printf(p->out, "total dram writes = %llu\n", summed(p, STATS_DRAM_WRITE_BURSTS));
    strbuf_puts(p->out, "\n========= L2 cache stats =========\n");
    print_instances(p, "L2_cache_bank", p->v->l2s, p->v->l2_count, l2);
    print_cache_totals(p, "L2", l2, ARRAY_LEN(l2));
    strbuf_puts(p->out, "L2_total_cache_breakdown:\n");
    print_breakdown(p, "L2_cache_stats_breakdown", &l2_all_global, &l2_global_writes);
    print_breakdown(p, "L2_cache_stats_breakdown", &l2_global_writes, NULL);
    strbuf_printf(p->out, "\nicnt_total_pkts_mem_to_simt=%llu\n", summed(p, STATS_XBAR_REPLY_PACKETS));
    strbuf_printf(p->out, "icnt_total_pkts_simt_to_mem=%llu\n", summed(p, STATS_XBAR_REQUEST_PACKETS));
}

/* The whole seconds that GPGPU-Sim works with, at least one. */
static void print_rates(const struct gpgpusim *p)
{
    unsigned long long s = p->v->host_seconds < 1 ? 1 : (unsigned long long)p->v->host_seconds;
    unsigned long long cycles = p->cycles / s;
    strbuf_printf(p->out, "\n\ngpgpu_simulation_time = %llu days, %llu hrs, %llu min, %llu sec (%llu sec)\n",
                  s / 86400, s / 3600 % 24, s / 60 % 60, s % 60, s);
    strbuf_printf(p->out, "gpgpu_simulation_rate = %llu (inst/sec)\n", summed(p, STATS_SM_THREAD_INSTS) / s);
    strbuf_printf(p->out, "gpgpu_simulation_rate = %llu (cycle/sec)\n", cycles);
    strbuf_printf(p->out, "gpgpu_silicon_slowdown = %llux\n",
                  cycles ? (unsigned long long)p->v->machine.core_khz * 1000 / cycles : 0);
}

void view_print_gpgpusim(const struct stats_view *v, struct strbuf *out)
{
    struct gpgpusim p = {.v = v, .out = out, .sum = view_zeros(v)};
    for (uint32_t i = 0; i < v->kernel_count; i++) {
        const struct timed_kernel *k = v->kernels[i];
        view_add(v, p.sum, k->stats);
        p.is_last = i + 1 == v->kernel_count;
        p.cycles += kernel_cycles(k);
        print_gpu(&p, k);
        print_partitions(&p, k);
        print_core_caches(&p);
        print_core(&p);
        print_below(&p);
        print_rates(&p);
    }
    if (!v->partial)
        strbuf_puts(out, "GPGPU-Sim: *** exit detected ***\n"); /* scripts recognise a complete run by this */
    view_free_stats(v, p.sum);
}
