/* finereg_move.c: the rows of a switch on their way, one each way and cycle (V-E, Figure 11): live registers
 * of the CTA that leaves go to free entries of the PCRF, and those of the CTA that comes follow their chain
 * back into the ACRF. */
#include "mech/finereg.h"

/* ---- entries over time ---- */

void finereg_count_rows(struct finereg *f, uint64_t cycle)
{
    if (cycle <= f->rows_counted_to) return;
    f->row_cycles += (cycle - f->rows_counted_to) * (f->pcrf.entries - f->pcrf.free);
    f->rows_counted_to = cycle;
}

/* ---- the rows of a switch ---- */

/* The next register of the CTA that leaves; false: there is none. */
static bool finereg_next_row(struct finereg_switch *s, uint32_t warps)
{
    for (; s->warp < warps; s->warp++, s->next = 0)
        for (; s->next < MECH_REGISTER_WORDS * 64; s->next++)
            if (s->kept[s->warp][s->next / 64] >> s->next % 64 & 1) return true;
    return false;
}

/* True: the row has its bank of the ACRF in this cycle. */
static bool finereg_has_bank(struct finereg *f, uint32_t cta, uint32_t warp, uint32_t reg, bool is_write)
{
    const struct cta_entry *c = &f->table.ctas[cta];
    const uint32_t row = c->first_row + (warp * finereg_warp_rows(f, cta) + reg) % c->rows;
    const bool is_free = f->ports->bank_access(f->ports->host, row % f->ports->register_rows, is_write);
    f->conflicts += !is_free;
    return is_free;
}

/* The row of the register file that an entry of the PCRF is; registers come into it, have left it. */
static uint32_t finereg_row_of(const struct finereg *f, uint32_t entry)
{
    return finereg_acrf_rows(f->params) + entry;
}
static bool finereg_keeps(const struct finereg *f, uint32_t entry)
{
    return f->params->unified || f->ports->registers_keep(f->ports->host, finereg_row_of(f, entry));
}
static void finereg_releases(const struct finereg *f, uint32_t entry)
{
    if (!f->params->unified) f->ports->registers_release(f->ports->host, finereg_row_of(f, entry));
}

/* The next row of the CTA that comes, to where the other's rows were. */
static void finereg_row_in(struct finereg *f)
{
    const struct finereg_switch *s = &f->now;
    const struct pcrf_tag t = pcrf_first(&f->pcrf, s->in);
    if (!finereg_has_bank(f, s->out == MECH_NO_CTA ? s->in : s->out, t.warp, t.reg, true)) return;
    finereg_releases(f, pcrf_head(&f->pcrf, s->in));
    pcrf_take(&f->pcrf, s->in);
    f->rows_in++;
}

/* The next row of the CTA that leaves. An entry whose row a cooperative grid has is waited for. */
static void finereg_row_out(struct finereg *f)
{
    struct finereg_switch *s = &f->now;
    if (!f->pcrf.free || !finereg_has_bank(f, s->out, s->warp, s->next, false)) return;
    if (!finereg_keeps(f, pcrf_next(&f->pcrf))) return;
    pcrf_append(&f->pcrf, s->out, s->warp, s->next++);
    f->rows_out++;
}

void finereg_move_rows(struct finereg *f, uint64_t cycle)
{
    struct finereg_switch *s = &f->now;
    finereg_count_rows(f, cycle);
    const bool is_coming = s->in != MECH_NO_CTA && f->pcrf.chains[s->in].count;
    if (is_coming) finereg_row_in(f);
    const bool is_leaving = s->out != MECH_NO_CTA && finereg_next_row(s, f->table.ctas[s->out].warps);
    if (is_leaving) finereg_row_out(f);
    if (f->pcrf.entries - f->pcrf.free > f->pcrf_max) f->pcrf_max = f->pcrf.entries - f->pcrf.free;
    if (!is_coming && !is_leaving && s->rows_at == UINT64_MAX)
        s->rows_at = cycle + f->params->access_cycles - 2;
}
