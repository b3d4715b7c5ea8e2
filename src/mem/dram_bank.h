/* dram_bank.h: the chips of one channel: which rows are open, and the first command clock at which each
 * command may be given. It does not know requests. */
#ifndef HEDDLE_DRAM_BANK_H
#define HEDDLE_DRAM_BANK_H

#include "mem/dram.h"

/* DRAM_WINDOW: number of activates in the window of FAW. */
enum { DRAM_BANKS_MAX = 64, DRAM_RANKS_MAX = 8, DRAM_ROW_NONE = -1, DRAM_WINDOW = 4 };

/* One cache line of the host. */
struct dram_bank {
    /* the open row, or DRAM_ROW_NONE */
    _Alignas(HOST_LINE) int64_t row;
    /* first clock at which the bank allows the command */
    uint64_t activate, precharge, read, write;
    /* numbers among the channel's ranks and groups */
    uint8_t rank, group;
};

/* First clocks that CCDL and RTPL allow. */
struct dram_group {
    uint64_t column, precharge;
};

/* First clocks that RRD and FAW allow; CCD; write-to-read; read-to-write. */
struct dram_rank {
    uint64_t activate, column, read, write;
};

struct dram_rank_past {
    /* FAW: the clock at which the window of each of the newest activates ends */
    uint64_t window[DRAM_WINDOW];
    /* index of the oldest of them */
    uint32_t window_at;
    /* clocks of these commands of the newest refresh */
    uint64_t precharge_all, refresh;
};

/* The first cache line of the host, with the first rank, decides when a command may go; the line after the
 * ranks holds the spans that a command adds. */
struct dram_chips {
    /* first clocks at which the command bus is free */
    _Alignas(HOST_LINE) uint64_t row_bus;
    uint64_t column_bus;
    /* first clock after the last data on the bus */
    uint64_t data_end;
    /* data_rank: the rank of the last data on the bus */
    uint32_t cl : 24, data_rank : 8, wl;
    struct dram_rank ranks[DRAM_RANKS_MAX];
    /* clocks for which one column command occupies the data bus */
    _Alignas(HOST_LINE) uint32_t burst_clocks;
    /* spans computed from the parameters, see dram_bank.c */
    uint32_t rcd_write, rtw, wtr, wtp, rtp;
    /* copies of parameters */
    uint32_t ccd, ccdl, rrd, rcd, ras, rp, rc, rtpl, faw;
    bool dual_bus, has_refresh;
    const struct dram_params *params;
    struct dram_observer observer;
    _Alignas(HOST_LINE) struct dram_group groups[DRAM_BANKS_MAX];
    struct dram_bank banks[DRAM_BANKS_MAX];
    struct dram_rank_past past[DRAM_RANKS_MAX];
};

void dram_chips_init(struct dram_chips *d, const struct dram_params *p);
/* The first clock from `at` on that no command of a refresh occupies; only with has_refresh. */
uint64_t dram_chips_free_slot(const struct dram_chips *d, uint64_t at);
/* The first clock from `from` on at which the command may be given to the bank. */
uint64_t dram_chips_earliest(const struct dram_chips *d, uint64_t from, uint32_t bank,
                             enum dram_command command);
/* Gives the command. Returns the first clock after its data, for a column command. */
uint64_t dram_chips_give(struct dram_chips *d, uint64_t clock, uint32_t bank, enum dram_command command,
                         uint32_t row);
/* Precharges and refreshes all banks of the rank, beginning at `clock` or when they allow it. Returns the
 * number of rows that were open. */
uint32_t dram_chips_refresh(struct dram_chips *d, uint32_t rank, uint64_t clock);

/* The command that a bank needs next to read or write the row. */
static inline enum dram_command dram_chips_next(const struct dram_chips *d, uint32_t bank, uint32_t row,
                                                bool write)
{
    int64_t open = d->banks[bank].row;
    if (open == (int64_t)row) return write ? DRAM_WRITE : DRAM_READ;
    return open == DRAM_ROW_NONE ? DRAM_ACTIVATE : DRAM_PRECHARGE;
}

/* The first clock at which a column command may go so that its data, `delay` clocks later, finds the bus
 * free: data of two column commands never overlap. */
static inline uint64_t dram_chips_bus_free(const struct dram_chips *d, uint32_t rank, uint32_t delay)
{
    uint64_t end = d->data_end;
    if (UNLIKELY(rank != d->data_rank) && end) end += d->params->trtrs;
    return end > delay ? end - delay : 0;
}

/* The first clock at which the rank and the channel allow the command. */
static inline uint64_t dram_chips_floor(const struct dram_chips *d, uint32_t rank, enum dram_command command)
{
    const struct dram_rank *r = &d->ranks[rank];
    uint64_t at = MAX(r->column, d->column_bus);
    switch (command) {
    case DRAM_ACTIVATE: return MAX(r->activate, d->row_bus);
    case DRAM_PRECHARGE: return d->row_bus;
    case DRAM_READ: return MAX(MAX(at, r->read), dram_chips_bus_free(d, rank, d->cl));
    case DRAM_WRITE: return MAX(MAX(at, r->write), dram_chips_bus_free(d, rank, d->wl));
    default: UNREACHABLE("a command of one bank");
    }
}

/* The first clock at which the bank and its group allow the command. */
static inline uint64_t dram_chips_bank_floor(const struct dram_chips *d, uint32_t bank,
                                             enum dram_command command)
{
    const struct dram_bank *b = &d->banks[bank];
    switch (command) {
    case DRAM_ACTIVATE: return b->activate;
    case DRAM_PRECHARGE: return MAX(b->precharge, d->groups[b->group].precharge);
    case DRAM_READ: return MAX(b->read, d->groups[b->group].column);
    case DRAM_WRITE: return MAX(b->write, d->groups[b->group].column);
    default: UNREACHABLE("a command of one bank");
    }
}

#endif
