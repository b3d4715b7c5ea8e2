/* docs.c: docs/statistics.md: how to read the output, and every statistic with unit, meaning and nearest
 * Nsight Compute metric. */
#include "stats/catalog.h"

static const char intro[] =
    "# Statistics\n"
    "\n"
    "This page is written by `heddle list stats --markdown`; a test keeps it up to date. `heddle "
    "explain\n"
    "NAME` shows one statistic or parameter.\n"
    "\n"
    "A statistic is a row of a table in the file that counts it. Its name begins with the component.\n"
    "Counts are summed over the instances of a component (all SMs, all slices, all channels). What a\n"
    "kernel did is the difference of two snapshots.\n"
    "\n"
    "When kernels run at the same time (`overlapped` in the JSON, a line in the table), events that "
    "have\n"
    "an owner are counted for their kernel only: instructions, loads, stores and atomics, accesses to\n"
    "the L1 and their outcomes, latencies of loads, CTAs, warps, and the per-PC loads. The legend of "
    "the\n"
    "JSON marks these rows with `own`. All others are those of the whole machine between the kernel's\n"
    "first and last cycle: cycles, issue slots, occupancy, stalls, evictions, crossbar, L2, DRAM. The\n"
    "total counts each event once. A check after each kernel that ran alone compares its own events "
    "with\n"
    "the machine's.\n"
    "\n"
    "## The table\n"
    "\n"
    "`heddle run` prints a block for each kernel and one for the run; from nine launches on, a line for\n"
    "each kernel name and one block for the run.\n"
    "\n"
    "| line | meaning |\n"
    "|---|---|\n"
    "| cycles | core cycles from the launch to the end of the last CTA and its stores; simulated time |\n"
    "| CTAs an SM | how many fit, and what bounds them: warps, threads, ctas (slots), registers or "
    "shared memory |\n"
    "| ran together | other kernels were on the machine at the same time: says which lines are only "
    "this kernel's |\n"
    "| warp insts | warp instructions issued; IPC: per core cycle of the whole GPU; active lanes: of "
    "32 |\n"
    "| of threads | instructions and IPC counted in threads: what GPGPU-Sim calls `gpu_ipc` |\n"
    "| occupancy | resident warps in cycles with any, of the warp slots; registers allocated, of the "
    "register file |\n"
    "| issue slots | each scheduler's slot in each cycle is issued or lost to exactly one cause: the "
    "eight add up to 100 |\n"
    "| L1 access, L2 access | accesses that were taken: hit, pending hit (merged with an earlier "
    "miss), miss. AML: average memory latency, core cycles from an L1 miss to its fill. AHL: that "
    "latency for misses that hit in the L2 |\n"
    "| L1 stalls | cycles in which the L1 refused the next access, each with exactly one cause: no "
    "replaceable line, no MSHR or merge, back pressure from L2, port |\n"
    "| L2 stalls | L2 cycles in which the head of an access queue could not continue: back pressure "
    "from the crossbar (bp-ICNT) or from DRAM (bp-DRAM), data port, cache line, MSHR |\n"
    "| DRAM bus | busy: of all command clocks; efficiency: of those with work pending |\n"
    "| queues full | of their usage lifetime, the time with at least one entry |\n"
    "| loads | the loads with the most references: share of all references, lines that an execution "
    "touches, #L/#R: different lines per reference (the miss rate of an infinite L1), L1 miss rate, "
    "the most common stride between warps in bytes and its share of the pairs (APRES, Table I) |\n";

static const char formats[] =
    "\n"
    "## JSON\n"
    "\n"
    "`--json` writes one object. New keys may be added; `schema` is raised when one changes its "
    "meaning.\n"
    "\n"
    "| key | value |\n"
    "|---|---|\n"
    "| `schema` | 1 |\n"
    "| `machine` | `name`, `sms`, `warps_per_sm`, and the clocks in kHz: `core_khz`, `xbar_khz`, "
    "`l2_khz`, `dram_khz`; bytes of a flit (`request_flit`, `reply_flit`) and of a burst (`burst_bytes`) |\n"
    "| `partial` | true when the run was stopped early |\n"
    "| `hash` | of all cycle counts and statistics: equal for equal runs |\n"
    "| `kernels` | array, in the order in which kernels ended: `id`, `name`, `stream`, `grid`, "
    "`block`, `registers`, `shared_bytes`, `ctas`, `requests` (made by its loads, stores and atomics),"
    " `partial`, `overlapped`, `start_cycle`, `end_cycle`, `cycles`, `ipc`, `thread_ipc`, `stats`, "
    "`loads` |\n"
    "| `kernels[].stats` | an object for each group, in it every row by name: a count is an integer, a"
    " ratio a number, a histogram an array |\n"
    "| `kernels[].loads` | per-PC loads: `pc`, `executions`, `lines`, `share`, `lines_per_load`, "
    "`miss_rate`, `merge_rate`, `unique_share`, `stride`, `stride_share` (shares and rates from 0 to 1); "
    "`class` (`reused`, `thrashed`, `strided`, `irregular`: below); `evicted`: lines that it brought and "
    "that "
    "a miss of a load replaced, most often, in `evictor_share` of them, of that at `evictor_pc`; "
    "`prefetches` "
    "sent for it, of which its accesses found `prefetch_useful` lines here and `prefetch_late` on their way; "
    "`ptx_line`, `cuda_line` (0: not known) |\n"
    "| `total` | `start_cycle`, `end_cycle`, `cycles`, `ipc`, `thread_ipc`, `stats` of the run |\n"
    "| `samples` | with `--sample N`: `start_cycle`, `end_cycle`, `ipc`, `stats` of each interval of N"
    " core cycles |\n"
    "| `kernels[].energy`, `total.energy` | with `--energy`: `table`, `joules` by part, `mechanisms` (joules "
    "of their rows, which the parts contain), `helper` (joules of the instructions of SMs in cache mode, "
    "which "
    "the parts contain), `total`, `without_leakage`, `watts` |\n"
    "| `events` | what mechanisms wrote down, where they did: `cycle`, `sm`, `mechanism`, `kind`, and two "
    "numbers `a` and `b` that mean what the kind says; in order of cycle and SM |\n"
    "| `events_dropped` | where more were written than are kept (65536 of one mechanism on one SM): how many "
    "more |\n"
    "| `legend` | `unit`, `help` and (where there is one) `ncu` of every row; `own` where it counts "
    "only this kernel's events |\n"
    "\n";

static const char loads[] =
    "## Loads\n"
    "\n"
    "`--format loads` prints a line for each load instruction, over all launches of its kernel, those with\n"
    "the most references first: where it stands, how it uses the L1, what prefetches did for it, how many "
    "of\n"
    "the lines that it brought were evicted, and by which load most often.\n"
    "\n"
    "| class | rule (APRES, III-B) |\n"
    "|---|---|\n"
    "| `reused` | each line is read twice or more (#L/#R at most 0.5), and at most half of its accesses miss "
    "|\n"
    "| `thrashed` | each line is read twice or more, but more than half of its accesses miss |\n"
    "| `strided` | new lines, and half of the pairs of warps, or more, show the same stride |\n"
    "| `irregular` | all others |\n"
    "\n"
    "`used%` is the accuracy of its prefetches: lines of them that it found, of those sent for it; `late%`\n"
    "of these were still on their way. A line counts for the load that found it.\n"
    "\n"
    "## Time series and timeline\n"
    "\n"
    "`--sample N` keeps what happened in every N core cycles: an array in the JSON, and in `--stats\n"
    "FILE.csv` a line for each interval with a column for each statistic that is one number. "
    "`--timeline\n"
    "FILE` writes Chrome trace events, which https://ui.perfetto.dev opens: kernels by stream with the\n"
    "copies that took time, CTAs by SM, what mechanisms wrote down (a track for each mechanism and SM), "
    "and,\n"
    "with `--sample`, IPC, L1 miss rate, DRAM utilization and, where a mechanism keeps CTAs without slots,\n"
    "the CTAs of an SM: active, pending, and pending with their registers saved elsewhere. Where SMs are in\n"
    "cache mode: how many compute and how many cache, how busy these are, the misses of the L2 slices, the\n"
    "hits of the extended LLC and the length of its request queues.\n"
    "\n"
    "## GPGPU-Sim's names\n"
    "\n"
    "`--stats=gpgpusim` prints, after each kernel, the lines that scripts for GPGPU-Sim look for, with\n"
    "its spelling. As there, `gpu_sim_*`, `gpu_ipc`, `gpu_occupancy` and `L2_BW` are those of the\n"
    "kernel, and all other counts run on from kernel to kernel. The meaning differs in a few lines:\n"
    "`gpu_stall_dramfull` and `gpu_stall_icnt2sh` are L2 cycles lost to bp-DRAM and bp-ICNT; "
    "reservation\n"
    "fails are stalled cycles at the L1 and requests that had to wait at the L2; `total dram reads`\n"
    "counts bursts; `Stall`, `W0_Idle` and `W0_Scoreboard` are structural hazards, slots without an\n"
    "instruction to consider (idle, fetch, barrier) and data hazards. Lines of single caches\n"
    "(`L1D_cache_core[i]`, `L2_cache_bank[i]`) come with the last kernel.\n";

static void docs_cell(const char *text, struct strbuf *out)
{
    for (const char *p = text; *p; p++) {
        if (*p == '|') strbuf_putc(out, '\\');
        strbuf_putc(out, *p);
    }
}

static const char *docs_kind(const struct stat_row *r)
{
    return r->type == STAT_HISTOGRAM ? ", histogram"
           : r->type == STAT_LARGEST ? ", maximum"
           : r->type == STAT_RATIO   ? ", ratio"
                                     : "";
}

void stats_docs(stats_tables *tables, struct strbuf *out)
{
    struct stats_table t;
    strbuf_puts(out, intro);
    strbuf_puts(out, formats);
    strbuf_puts(out, loads);
    for (uint32_t i = 0; tables(i, &t); i++) {
        strbuf_printf(
            out,
            "\n## `%s`: %s\n\n| name | unit | meaning | nearest Nsight Compute metric |\n|---|---|---|---|\n",
            t.group, t.what);
        for (const struct stat_row *r = t.rows; r->name; r++) {
            strbuf_printf(out, "| `%s` | %s%s | ", r->name, *r->unit ? r->unit : "none", docs_kind(r));
            docs_cell(r->help, out);
            strbuf_printf(out, " | %s%s%s |\n", r->ncu ? "`" : "", r->ncu ? r->ncu : "", r->ncu ? "`" : "");
        }
    }
}
