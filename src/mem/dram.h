/* dram.h: one DRAM channel: a bounded request queue, a scheduler (FR-FCFS or FCFS), ranks of banks in groups
 * with row buffers, the timing constraints CCD RRD RCD RAS RP RC CL WL CDLR WR CCDL RTPL FAW RTRS in command
 * clocks, a data bus, and refresh of each rank. */
#ifndef HEDDLE_DRAM_H
#define HEDDLE_DRAM_H

#include "config/param.h"
#include "mem/addrmap.h"
#include "mem/link.h"
#include "mem/req.h"
#include "stats/stat.h"

enum dram_sched { DRAM_FRFCFS, DRAM_FCFS };
/* Which bits of the bank number select its group. */
enum dram_groups { DRAM_GROUPS_LOW, DRAM_GROUPS_HIGH };

struct dram_params {
    /* P_DRAM: the idle latency for every request, without a limit of bandwidth */
    bool infinite;
    /* core cycles: on the way to the queue; in total, at least */
    uint32_t latency, latency_min;
    /* entries */
    uint32_t queue, return_queue;
    /* enum dram_sched */
    uint32_t sched;
    /* writes wait in a queue of their own and go in batches */
    bool write_drain;
    /* entries; start and end of a batch */
    uint32_t write_queue, write_high, write_low;
    /* number in a channel */
    uint32_t banks, ranks;
    /* number in a rank; enum dram_groups */
    uint32_t groups, group_by;
    /* width of the data bus; beats of a burst; beats in a command clock */
    uint32_t bus_bytes, burst, ratio;
    /* reads: one burst for each 32-byte sector, even where a burst holds more */
    bool sector_bursts;
    /* a row command and a column command in one clock */
    bool dual_bus;
    /* command clocks */
    uint32_t tccd, tccdl, trrd, trcd, trcdwr, tras, trp, trc, tcl, twl, tcdlr, twr, trtpl, tfaw, trtrs;
    /* refresh: interval (0 = none), duration */
    uint32_t trefi, trfc;
};
extern const struct param_row dram_rows[];

struct dram_stats {
    /* requests */
    uint64_t reads, writes;
    uint64_t read_bursts, write_bursts;
    uint64_t activates, precharges, refreshes;
    /* 32-byte sectors, among those of all reads and writes, of registers that SMs keep in memory */
    uint64_t context_reads, context_writes;
    /* requests that a bank has taken; those of them that found their row open */
    uint64_t requests, row_hits;
    /* command clocks: all, with work, with data on the bus */
    uint64_t cycles, pending, busy;
    /* sum over requests of the clocks from the tail of the queue to the first column command */
    uint64_t queue_cycles;
    /* command clocks at each level of the queue, as in link.h */
    uint64_t queue_level[LINK_LEVELS];
};
extern const struct stat_row dram_stat_rows[];

/* Bank commands, and commands to a whole rank. */
enum dram_command {
    DRAM_ACTIVATE,
    DRAM_PRECHARGE,
    DRAM_READ,
    DRAM_WRITE,
    DRAM_BANK_COMMANDS,
    DRAM_PRECHARGE_ALL = DRAM_BANK_COMMANDS,
    DRAM_REFRESH,
    DRAM_COMMANDS
};

/* `command` is called for each command that goes to the chips; a command to a rank names the first bank of
 * the rank. Commands of a refresh are reported before their time. */
struct dram_observer {
    void (*command)(void *ctx, uint64_t clock, uint32_t bank, enum dram_command command, uint32_t row);
    void *ctx;
};

struct dram_channel;
/* in[s], out[s]: links of the slices that belong to this channel, s from 0 (the arrays are copied). Reads
 * come back through the link of their slice; the channel frees the request of a write when the write is
 * done. */
struct dram_channel *dram_create(const struct dram_params *p, uint32_t index, const struct addrmap *map,
                                 const struct clock_domain *clock, const struct clock_domain *core,
                                 struct req_pool *pool, struct link **in, struct link **out, uint32_t slices);
/* Checks whether the parameters fit together; false with diagnostics where they do not. */
bool dram_check(const struct dram_params *p, const struct addrmap *map, struct diag_list *diags);
void dram_destroy(struct dram_channel *d);
void dram_observe(struct dram_channel *d, const struct dram_observer *o);
void dram_tick(struct dram_channel *d, tick now);
tick *dram_wake(struct dram_channel *d);
bool dram_idle(const struct dram_channel *d);
/* Brings counts of time (cycles, pending, queue_level) up to now. */
void dram_settle(struct dram_channel *d, tick now);
void *dram_stats(struct dram_channel *d);
/* Returns the 32-byte sectors of all requests of this kind, REQ_READ or REQ_WRITE. */
uint64_t dram_sectors(const struct dram_channel *d, enum req_kind kind);
void dram_explain(const struct dram_channel *d, tick now, struct strbuf *out);
/* Core cycles from an L2 slice's link to the reply, on an idle channel with closed rows: for calibration and
 * tests. */
uint32_t dram_idle_latency(const struct dram_params *p, const struct clock_domain *clock,
                           const struct clock_domain *core);

#endif
