/* dram_params.c: the rows of a DRAM channel's parameters and statistics. Defaults are the GDDR5 of the
 * thesis's GTX 480 (Table 3.1); where it gives no value, that of GPGPU-Sim 3.2.2's GTX 480 file. */
#include "mem/dram_bank.h"

/* Enum dram_sched. */
static const char *const sched_names[] = {"fr-fcfs", "fcfs", NULL};
/* Enum dram_groups. */
static const char *const group_names[] = {"low", "high", NULL};

#define CLOCKS(field, def, lo, help)                                                                         \
    PARAM_NUMBER(dram_params, field, "dram." #field, "command clocks", def, lo, 1 << 20, help)

const struct param_row dram_rows[] = {
    PARAM_FLAG(dram_params, infinite, "dram.infinite", "false",
               "ideal DRAM (P_DRAM): every request takes the idle latency, bandwidth has no limit"),
    PARAM_NUMBER(dram_params, latency, "dram.latency", "core cycles", "30", 0, 1 << 16,
                 "fixed way from the L2's miss queue to the DRAM queue"),
    PARAM_NUMBER(dram_params, latency_min, "dram.latency_min", "core cycles", "95", 0, 1 << 16,
                 "no read comes back sooner than this after it has left the L2's miss queue"),
    PARAM_NUMBER(dram_params, queue, "dram.queue", "entries", "16", 1, 1 << 16,
                 "requests that wait for their bank"),
    PARAM_NUMBER(dram_params, return_queue, "dram.return_queue", "entries", "116", 1, 1 << 16,
                 "reads that are being sent or wait for the L2"),
    PARAM_CHOICE(dram_params, sched, "dram.sched", "fr-fcfs", sched_names,
                 "which request goes first: fr-fcfs (open row, then oldest), fcfs (oldest)"),
    PARAM_FLAG(dram_params, write_drain, "dram.write_drain", "false",
               "writes wait in a queue of their own and go in batches"),
    PARAM_NUMBER(dram_params, write_queue, "dram.write_queue", "entries", "32", 1, 1 << 16,
                 "with write_drain: writes that wait"),
    PARAM_NUMBER(dram_params, write_high, "dram.write_high", "entries", "28", 1, 1 << 16,
                 "with write_drain: a batch begins when this many writes wait, or no read does"),
    PARAM_NUMBER(dram_params, write_low, "dram.write_low", "entries", "16", 0, 1 << 16,
                 "with write_drain: a batch ends when at most this many writes wait and there are reads"),
    PARAM_NUMBER(dram_params, banks, "dram.banks", "banks", "16", 1, DRAM_BANKS_MAX, "banks of one channel"),
    PARAM_NUMBER(
        dram_params, ranks, "dram.ranks", "ranks", "1", 1, DRAM_RANKS_MAX,
        "ranks of one channel, which share its banks: the high bits of the bank number name the rank"),
    PARAM_NUMBER(dram_params, groups, "dram.groups", "groups", "4", 1, DRAM_BANKS_MAX,
                 "bank groups of one rank"),
    PARAM_CHOICE(dram_params, group_by, "dram.group_by", "low", group_names,
                 "bits of the bank number that name its group: low, high"),
    PARAM_NUMBER(dram_params, bus_bytes, "dram.bus_bytes", "bytes", "8", 1, 1024,
                 "width of the channel's data bus, all chips together"),
    PARAM_NUMBER(dram_params, burst, "dram.burst", "beats", "8", 1, 64,
                 "beats of data for one column command"),
    PARAM_NUMBER(dram_params, ratio, "dram.ratio", "beats", "4", 1, 16, "beats of data in one command clock"),
    PARAM_FLAG(dram_params, sector_bursts, "dram.sector_bursts", "false",
               "every 32-byte sector that is read takes a burst of its own, as GPGPU-Sim 4 fetches for an L2 "
               "of sectors"),
    PARAM_FLAG(dram_params, dual_bus, "dram.dual_bus", "false",
               "a row and a column command may go in one clock"),
    CLOCKS(tccd, "2", 1, "column command to column command of one rank"),
    CLOCKS(tccdl, "3", 1, "column command to column command in one bank group"),
    CLOCKS(trrd, "6", 1, "activate to activate of another bank of the rank"),
    CLOCKS(trcd, "12", 1, "activate to read"),
    CLOCKS(trcdwr, "0", 0, "activate to write; 0 = trcd - twl - 1"),
    CLOCKS(tras, "28", 1, "activate to precharge"),
    CLOCKS(trp, "12", 1, "precharge to activate"),
    CLOCKS(trc, "40", 1, "activate to activate of one bank"),
    CLOCKS(tcl, "12", 1, "read to its data"),
    CLOCKS(twl, "4", 1, "write to its data"),
    CLOCKS(tcdlr, "5", 0, "end of written data to read of the rank"),
    CLOCKS(twr, "12", 0, "end of written data to precharge"),
    CLOCKS(trtpl, "2", 0, "read to precharge in one bank group"),
    CLOCKS(tfaw, "0", 0, "a rank opens at most four rows in this time; 0 = any number"),
    CLOCKS(trtrs, "1", 0, "end of one rank's data to the data of another"),
    CLOCKS(trefi, "0", 0, "refresh to refresh of a rank; 0 = no refresh"),
    CLOCKS(trfc, "0", 0, "duration of a refresh"),
    {0},
};

const struct stat_row dram_stat_rows[] = {
    STAT_COUNT(dram_stats, reads, "dram.reads", "requests", "reads served (L2 fills)", NULL),
    STAT_COUNT(dram_stats, writes, "dram.writes", "requests", "writes served (L2 write-backs)", NULL),
    STAT_COUNT(dram_stats, read_bursts, "dram.read_bursts", "bursts", "read commands",
               "dram__sectors_read.sum"),
    STAT_COUNT(dram_stats, write_bursts, "dram.write_bursts", "bursts", "write commands",
               "dram__sectors_write.sum"),
    STAT_COUNT(dram_stats, context_reads, "dram.context_reads", "sectors",
               "32-byte sectors read of registers that SMs keep in memory", NULL),
    STAT_COUNT(dram_stats, context_writes, "dram.context_writes", "sectors",
               "32-byte sectors written of registers that SMs keep in memory", NULL),
    STAT_COUNT(dram_stats, activates, "dram.activates", "commands", "rows opened", NULL),
    STAT_COUNT(dram_stats, precharges, "dram.precharges", "commands", "rows closed", NULL),
    STAT_COUNT(dram_stats, refreshes, "dram.refreshes", "commands", "refreshes of a rank", NULL),
    STAT_COUNT(dram_stats, requests, "dram.requests", "requests", "requests that a bank has taken", NULL),
    STAT_COUNT(dram_stats, row_hits, "dram.row_hits", "requests",
               "requests whose row was open when their bank took them", NULL),
    STAT_COUNT(dram_stats, cycles, "dram.cycles", "command clocks", "all clocks, summed over channels",
               "dram__cycles_elapsed.sum"),
    STAT_COUNT(dram_stats, pending, "dram.pending", "command clocks",
               "clocks with a request in the queue, at a bank or on the bus", NULL),
    STAT_COUNT(dram_stats, busy, "dram.busy", "command clocks", "clocks with data on the bus",
               "dram__cycles_active.sum"),
    STAT_COUNT(dram_stats, queue_cycles, "dram.queue_cycles", "command clocks",
               "waiting from the queue's tail to the first column command, summed over requests", NULL),
    STAT_HISTOGRAM(dram_stats, queue_level, "dram.queue_level", LINK_LEVELS, "command clocks",
                   "clocks at each level of the queue while it is not empty: tenths, the last = full"),
    STAT_RATIO(dram_stats, busy, pending, "dram.efficiency", "%", "bus busy, of the clocks with work", NULL),
    STAT_RATIO(dram_stats, busy, cycles, "dram.utilization", "%", "bus busy, of all clocks",
               "dram__throughput.avg.pct_of_peak_sustained_elapsed"),
    STAT_RATIO(dram_stats, row_hits, requests, "dram.row_hit_rate", "%", "requests that found their row open",
               NULL),
    STAT_RATIO(dram_stats, queue_cycles, requests, "dram.queue_latency", "command clocks",
               "average wait from the queue's tail to the first column command", NULL),
    {0},
};

static bool params_error(struct diag_list *diags, const char *text)
{
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "%s", text);
    return false;
}

/* Clocks from a refresh to the end of the first write of a row, whatever commands came before. */
static uint32_t row_clocks(const struct dram_params *p)
{
    return p->trrd + p->tfaw + MAX(p->trcd, p->trcdwr) + 2 * p->trc + p->trp + p->twl + p->twr + p->burst;
}

bool dram_check(const struct dram_params *p, const struct addrmap *map, struct diag_list *diags)
{
    bool ok = true;
    if (!is_pow2_u64(p->banks) || !is_pow2_u64(p->groups) || !is_pow2_u64(p->ranks) ||
        (uint64_t)p->groups * p->ranks > p->banks)
        ok = params_error(diags, "dram.banks, dram.ranks and dram.groups must be powers of two, no more "
                                 "groups in a rank than banks");
    if (!is_pow2_u64((uint64_t)p->bus_bytes * p->burst))
        ok = params_error(diags, "dram.bus_bytes * dram.burst must be a power of two");
    if (p->burst % p->ratio)
        ok = params_error(diags,
                          "dram.burst must be a whole number of command clocks (a multiple of dram.ratio)");
    if (addrmap_banks(map) > p->banks) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "as many B letters as bits of dram.banks, or fewer",
                 "addr.map names %u banks, dram.banks is %u", addrmap_banks(map), p->banks);
        ok = false;
    }
    if (p->write_drain && (p->write_low >= p->write_high || p->write_high > p->write_queue))
        ok = params_error(diags, "dram.write_low < dram.write_high <= dram.write_queue does not hold");
    if (p->write_drain && p->sched == DRAM_FCFS)
        ok = params_error(diags, "dram.write_drain needs dram.sched: fr-fcfs");
    if (p->trefi && p->trefi < p->trfc + row_clocks(p))
        ok = params_error(diags,
                          "dram.trefi is too short for dram.trfc and for a row that is opened, used and "
                          "closed: the memory would do nothing but refresh");
    return ok;
}
