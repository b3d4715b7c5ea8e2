/* dram_bank.c: bank timing of graphics memory (GDDR5), as GPGPU-Sim 3.2.2 models it (dram.cc), with the
 * parameters of the papers' tables; ranks as in DRAMSim2 and Ramulator. All spans are whole command clocks
 * from one command to the other:
 *
 *   of one bank     ACT -> ACT RC        ACT -> PRE RAS       PRE -> ACT RP       ACT -> RD RCD
 *                   ACT -> WR RCDWR (RCD - WL - 1 where the machine does not say)
 *                   RD -> PRE burst      WR -> PRE WL + burst + WR
 *   of one group    RD/WR -> RD/WR CCDL  RD -> PRE RTPL
 *   of one rank     ACT -> ACT RRD       ACT -> fourth ACT after it FAW          RD/WR -> RD/WR CCD
 *                   RD -> WR CL + burst + 2 - WL              WR -> RD WL + burst + CDLR
 *   of the channel  data -> data of another rank RTRS
 *
 * A read's data is on the bus CL clocks after the command, a write's WL clocks, for burst = beats / ratio
 * clocks. Invariants. (1) Data of two column commands never overlap on the bus, whatever CCD is: pin
 * bandwidth is a ceiling. (2) In a clock, one row command and one column command with a dual command bus, one
 * command without; precharge-all and refresh are row commands. (3) Only commands change the state, not the
 * passing of time: asking more often changes nothing. Left out: refresh of single banks, power-down. */
#include "mem/dram_bank.h"

static uint32_t chips_log2(uint32_t v)
{
    uint32_t n = 0;
    while (1u << n < v) n++;
    return n;
}

COLD void dram_chips_init(struct dram_chips *d, const struct dram_params *p)
{
    uint32_t burst = MAX(p->burst / p->ratio, 1), rank_banks = p->banks / p->ranks;
    uint32_t derived = p->trcd > p->twl + 1 ? p->trcd - p->twl - 1 : 1;
    uint32_t shift = p->group_by == DRAM_GROUPS_HIGH ? chips_log2(rank_banks / p->groups) : 0;
    *d = (struct dram_chips){.params = p,
                             .burst_clocks = burst,
                             .rcd_write = p->trcdwr ? p->trcdwr : derived,
                             .rtw = p->tcl + burst + 2 > p->twl ? p->tcl + burst + 2 - p->twl : 1,
                             .wtr = p->twl + burst + p->tcdlr,
                             .wtp = p->twl + burst + p->twr,
                             .rtp = burst,
                             .cl = p->tcl & 0xffffff, /* at most 2^20 */
                             .wl = p->twl,
                             .ccd = p->tccd,
                             .ccdl = p->tccdl,
                             .rrd = p->trrd,
                             .rcd = p->trcd,
                             .ras = p->tras,
                             .rp = p->trp,
                             .rc = p->trc,
                             .rtpl = p->trtpl,
                             .faw = p->tfaw,
                             .dual_bus = p->dual_bus,
                             .has_refresh = p->trefi != 0};
    for (uint32_t i = 0; i < p->banks; i++) {
        uint32_t rank = i / rank_banks, group = i >> shift & (p->groups - 1);
        d->banks[i] = (struct dram_bank){
            .row = DRAM_ROW_NONE, .rank = (uint8_t)rank, .group = (uint8_t)(rank * p->groups + group)};
    }
    for (uint32_t r = 0; r < p->ranks; r++) d->past[r].precharge_all = d->past[r].refresh = UINT64_MAX;
}

uint64_t dram_chips_free_slot(const struct dram_chips *d, uint64_t at)
{
    uint32_t same = 0; /* ranks in sequence whose refresh does not need clock `at` */
    for (uint32_t r = 0; same < d->params->ranks; r = r + 1 == d->params->ranks ? 0 : r + 1) {
        bool taken = at == d->past[r].precharge_all || at == d->past[r].refresh;
        at += taken;
        same = taken ? 0 : same + 1;
    }
    return at;
}

uint64_t dram_chips_earliest(const struct dram_chips *d, uint64_t from, uint32_t bank,
                             enum dram_command command)
{
    const struct dram_bank *b = &d->banks[bank];
    bool is_column = command == DRAM_READ || command == DRAM_WRITE;
    uint64_t at =
        MAX(MAX(from, dram_chips_floor(d, b->rank, command)), dram_chips_bank_floor(d, bank, command));
    bool is_shared = d->has_refresh && !(is_column && d->dual_bus); /* with refreshes */
    return is_shared ? dram_chips_free_slot(d, at) : at;
}

/* When the oldest of the newest four activates leaves the window of FAW, the next activate may go. */
static uint64_t chips_slide_window(struct dram_rank_past *r, uint64_t over)
{
    r->window[r->window_at] = over;
    r->window_at = r->window_at + 1 == DRAM_WINDOW ? 0 : r->window_at + 1;
    return r->window[r->window_at];
}

static void chips_activate(struct dram_chips *d, uint64_t clock, struct dram_bank *b, uint32_t row)
{
    assert(b->row == DRAM_ROW_NONE);
    b->row = row;
    b->read = clock + d->rcd;
    b->write = clock + d->rcd_write;
    b->precharge = clock + d->ras;
    b->activate = clock + d->rc;
    d->ranks[b->rank].activate = clock + d->rrd;
    if (!d->faw) return;
    uint64_t opens = chips_slide_window(&d->past[b->rank], clock + d->faw);
    d->ranks[b->rank].activate = MAX(d->ranks[b->rank].activate, opens);
}

static void chips_precharge(struct dram_chips *d, uint64_t clock, struct dram_bank *b)
{
    assert(b->row != DRAM_ROW_NONE);
    b->row = DRAM_ROW_NONE;
    b->activate = MAX(b->activate, clock + d->rp);
}

static uint64_t chips_column(struct dram_chips *d, uint64_t clock, uint32_t bank, bool write)
{
    struct dram_bank *b = &d->banks[bank];
    struct dram_rank *r = &d->ranks[b->rank];
    struct dram_group *g = &d->groups[b->group];
    uint64_t start = clock + (write ? d->wl : d->cl);
    assert(start >= d->data_end); /* invariant 1 */
    d->data_end = start + d->burst_clocks;
    d->data_rank = b->rank;
    r->column = clock + d->ccd;
    g->column = clock + d->ccdl;
    if (write) {
        r->read = MAX(r->read, clock + d->wtr);
        b->precharge = MAX(b->precharge, clock + d->wtp);
    } else {
        r->write = MAX(r->write, clock + d->rtw);
        b->precharge = MAX(b->precharge, clock + d->rtp);
        g->precharge = clock + d->rtpl;
    }
    return d->data_end;
}

static inline void chips_tell(const struct dram_chips *d, uint64_t clock, uint32_t bank,
                              enum dram_command command, uint32_t row)
{
    if (UNLIKELY(d->observer.command != NULL))
        d->observer.command(d->observer.ctx, clock, bank, command, row);
}

uint64_t dram_chips_give(struct dram_chips *d, uint64_t clock, uint32_t bank, enum dram_command command,
                         uint32_t row)
{
    debug_assert(clock == dram_chips_earliest(d, clock, bank, command));
    bool is_column = command == DRAM_READ || command == DRAM_WRITE;
    if (is_column || !d->dual_bus) d->column_bus = clock + 1; /* invariant 2 */
    if (!is_column || !d->dual_bus) d->row_bus = clock + 1;
    chips_tell(d, clock, bank, command, row);
    switch (command) {
    case DRAM_ACTIVATE: chips_activate(d, clock, &d->banks[bank], row); return 0;
    case DRAM_PRECHARGE: chips_precharge(d, clock, &d->banks[bank]); return 0;
    case DRAM_READ:
    case DRAM_WRITE: return chips_column(d, clock, bank, command == DRAM_WRITE);
    default: UNREACHABLE("a command of one bank");
    }
}

/* Commands of a refresh take their clocks on the bus before their time has come: until then its rank gets no
 * other command. */
COLD uint32_t dram_chips_refresh(struct dram_chips *d, uint32_t rank, uint64_t clock)
{
    const struct dram_params *p = d->params;
    struct dram_rank_past *r = &d->past[rank];
    uint32_t open = 0, first = rank * (p->banks / p->ranks), last = first + p->banks / p->ranks;
    uint64_t start = MAX(clock, d->row_bus);
    for (uint32_t i = first; i < last; i++) {
        if (d->banks[i].row == DRAM_ROW_NONE) continue;
        open++;
        start = MAX(start, dram_chips_earliest(d, clock, i, DRAM_PRECHARGE));
    }
    if (open) {
        r->precharge_all = start = dram_chips_free_slot(d, start);
        chips_tell(d, start, first, DRAM_PRECHARGE_ALL, 0);
    }
    uint64_t refresh = start + (open ? p->trp : 0);
    for (uint32_t i = first; i < last; i++) refresh = MAX(refresh, d->banks[i].activate); /* RC, RP */
    r->refresh = refresh = dram_chips_free_slot(d, refresh);
    chips_tell(d, refresh, first, DRAM_REFRESH, 0);
    for (uint32_t i = first; i < last; i++) {
        d->banks[i].row = DRAM_ROW_NONE;
        d->banks[i].activate = refresh + p->trfc;
    }
    return open;
}
