/* dram_bank.c: bank timing of graphics memory (GDDR5), as GPGPU-Sim 3.2.2 models it (dram.cc) and the papers'
 * tables parameterise it. All spans are whole command clocks from one command to the other:
 *
 *   ACT -> ACT other bank RRD         ACT -> ACT same bank RC           ACT -> PRE RAS        PRE -> ACT RP
 *   ACT -> RD RCD                     ACT -> WR RCDWR (RCD - WL - 1 where the machine does not say)
 *   RD/WR -> RD/WR CCD, in one bank group CCDL
 *   RD -> WR CL + burst + 2 - WL      WR -> RD WL + burst + CDLR
 *   RD -> PRE burst, group RTPL       WR -> PRE WL + burst + WR
 *
 * A read's data is on the bus CL clocks after the command, a write's WL clocks, for burst = beats / ratio
 * clocks. Invariants. (1) Data of two column commands never overlap on the bus, whatever CCD says: pin
 * bandwidth is a ceiling. (2) One row command and one column command a clock with a dual command bus, one of
 * either without. (3) State changes only by commands, never by the passing of time: asking more often changes
 * nothing. Left out: four-activate windows, per-bank refresh, power-down, ranks. */
#include "mem/dram_bank.h"

static uint32_t chips_log2(uint32_t v)
{
    uint32_t n = 0;
    while (1u << n < v) n++;
    return n;
}

void dram_chips_init(struct dram_chips *d, const struct dram_params *p)
{
    uint32_t burst = MAX(p->burst / p->ratio, 1);
    uint32_t derived = p->trcd > p->twl + 1 ? p->trcd - p->twl - 1 : 1;
    *d = (struct dram_chips){.params = p,
                             .burst_clocks = burst,
                             .rcd_write = p->trcdwr ? p->trcdwr : derived,
                             .rtw = p->tcl + burst + 2 > p->twl ? p->tcl + burst + 2 - p->twl : 1,
                             .wtr = p->twl + burst + p->tcdlr,
                             .wtp = p->twl + burst + p->twr,
                             .rtp = burst,
                             .group_shift =
                                 p->group_by == DRAM_GROUPS_HIGH ? chips_log2(p->banks / p->groups) : 0,
                             .group_mask = p->groups - 1};
    for (uint32_t i = 0; i < DRAM_BANKS_MAX; i++) d->banks[i].row = DRAM_ROW_NONE;
}

static inline uint32_t chips_group(const struct dram_chips *d, uint32_t bank)
{
    return bank >> d->group_shift & d->group_mask;
}

/* The clock from which on data that comes `delay` clocks after its command finds the bus free (invariant 1).
 */
static inline uint64_t chips_bus_free(const struct dram_chips *d, uint32_t delay)
{
    return d->data_end > delay ? d->data_end - delay : 0;
}

static uint64_t chips_earliest_column(const struct dram_chips *d, uint32_t bank, bool write)
{
    const struct dram_bank *b = &d->banks[bank];
    uint64_t at = MAX(d->column, d->groups[chips_group(d, bank)].column);
    at = MAX(at, d->column_bus);
    at = MAX(at, write ? MAX(b->write, d->write) : MAX(b->read, d->read));
    uint64_t bus = chips_bus_free(d, write ? d->params->twl : d->params->tcl);
    return MAX(at, bus);
}

uint64_t dram_chips_earliest(const struct dram_chips *d, uint32_t bank, enum dram_command command)
{
    const struct dram_bank *b = &d->banks[bank];
    uint64_t at;
    switch (command) {
    case DRAM_ACTIVATE: at = MAX(b->activate, d->activate); break;
    case DRAM_PRECHARGE: at = MAX(b->precharge, d->groups[chips_group(d, bank)].precharge); break;
    case DRAM_READ: return chips_earliest_column(d, bank, false);
    case DRAM_WRITE: return chips_earliest_column(d, bank, true);
    default: UNREACHABLE("DRAM command");
    }
    return MAX(at, d->row_bus);
}

static void chips_activate(struct dram_chips *d, uint64_t clock, struct dram_bank *b, uint32_t row)
{
    const struct dram_params *p = d->params;
    assert(b->row == DRAM_ROW_NONE);
    b->row = row;
    b->read = clock + p->trcd;
    b->write = clock + d->rcd_write;
    b->precharge = clock + p->tras;
    b->activate = clock + p->trc;
    d->activate = clock + p->trrd;
}

static void chips_precharge(struct dram_chips *d, uint64_t clock, struct dram_bank *b)
{
    assert(b->row != DRAM_ROW_NONE);
    b->row = DRAM_ROW_NONE;
    b->activate = MAX(b->activate, clock + d->params->trp);
}

static uint64_t chips_column(struct dram_chips *d, uint64_t clock, uint32_t bank, bool write)
{
    const struct dram_params *p = d->params;
    struct dram_bank *b = &d->banks[bank];
    struct dram_group *g = &d->groups[chips_group(d, bank)];
    uint64_t start = clock + (write ? p->twl : p->tcl);
    assert(start >= d->data_end); /* invariant 1 */
    d->data_end = start + d->burst_clocks;
    d->column = clock + p->tccd;
    g->column = clock + p->tccdl;
    if (write) {
        d->read = MAX(d->read, clock + d->wtr);
        b->precharge = MAX(b->precharge, clock + d->wtp);
    } else {
        d->write = MAX(d->write, clock + d->rtw);
        b->precharge = MAX(b->precharge, clock + d->rtp);
        g->precharge = clock + p->trtpl;
    }
    return d->data_end;
}

uint64_t dram_chips_give(struct dram_chips *d, uint64_t clock, uint32_t bank, enum dram_command command,
                         uint32_t row)
{
    assert(clock >= dram_chips_earliest(d, bank, command));
    bool is_column = command == DRAM_READ || command == DRAM_WRITE;
    if (is_column || !d->params->dual_bus) d->column_bus = clock + 1; /* invariant 2 */
    if (!is_column || !d->params->dual_bus) d->row_bus = clock + 1;
    switch (command) {
    case DRAM_ACTIVATE: chips_activate(d, clock, &d->banks[bank], row); return 0;
    case DRAM_PRECHARGE: chips_precharge(d, clock, &d->banks[bank]); return 0;
    case DRAM_READ:
    case DRAM_WRITE: return chips_column(d, clock, bank, command == DRAM_WRITE);
    }
    UNREACHABLE("DRAM command");
}

uint32_t dram_chips_refresh(struct dram_chips *d, uint64_t clock)
{
    const struct dram_params *p = d->params;
    uint32_t open = 0;
    uint64_t start = MAX(clock, d->row_bus);
    for (uint32_t i = 0; i < p->banks; i++) {
        if (d->banks[i].row == DRAM_ROW_NONE) continue;
        open++;
        start = MAX(start, dram_chips_earliest(d, i, DRAM_PRECHARGE));
    }
    uint64_t refresh = start + (open ? p->trp : 0);
    for (uint32_t i = 0; i < p->banks;
         i++) /* a bank that was precharged lately is ready for the refresh later */
        if (d->banks[i].row == DRAM_ROW_NONE) refresh = MAX(refresh, d->banks[i].activate);
    for (uint32_t i = 0; i < p->banks; i++) {
        d->banks[i].row = DRAM_ROW_NONE;
        d->banks[i].activate = refresh + p->trfc;
    }
    d->row_bus = MAX(d->row_bus, refresh + 1);
    d->column_bus = MAX(d->column_bus, refresh + 1);
    return open;
}
