/* finereg_live.c: which registers of a stalled CTA FineReg (finereg.c) has to save: the union over all PCs at
 * which parts of each warp go on, from the vectors of the instructions there. */
#include "mech/finereg.h"

/* PCs of a warp that are looked up; a warp whose lanes and callers have more keeps all registers. */
enum { PCS = 128 };

uint32_t finereg_warp_rows(const struct finereg *f, uint32_t cta)
{
    return f->table.ctas[cta].rows / f->table.ctas[cta].warps;
}

/* Adds registers to those that the warp of the cursor keeps. */
static void finereg_keep(struct finereg_switch *s, const uint64_t *live)
{
    for (int i = 0; i < MECH_REGISTER_WORDS; i++) {
        uint64_t *kept = &s->kept[s->warp][i];
        s->rows += (uint32_t)__builtin_popcountll(live[i] & ~*kept);
        *kept |= live[i];
    }
}

/* All registers of a warp of the CTA that leaves. */
static void finereg_keep_all(const struct finereg *f, struct finereg_switch *s)
{
    uint64_t all[MECH_REGISTER_WORDS] = {0};
    for (uint32_t r = 0; r < finereg_warp_rows(f, s->out); r++) all[r / 64] |= 1ull << r % 64;
    finereg_keep(s, all);
}

bool finereg_find_live(struct finereg *f, uint64_t cycle, bool has_come)
{
    struct finereg_switch *s = &f->now;
    uint32_t pcs[PCS];
    for (; s->warp < f->table.ctas[s->out].warps; s->warp++, s->next = 0) {
        const uint32_t count = f->ports->warp_pcs(f->ports->host, s->out, s->warp, pcs, PCS);
        if (count > PCS) finereg_keep_all(f, s);
        for (; s->next < count && count <= PCS; s->next++, has_come = false) {
            const enum vector_answer a =
                has_come ? VECTOR_HERE : vectors_lookup(&f->vectors, s->out, pcs[s->next]);
            if (a == VECTOR_RETRY) f->ports->set_timer(f->ports->host, cycle, 1);
            if (a != VECTOR_HERE) return false;
            finereg_keep(s, f->ports->cta_live(f->ports->host, s->out, pcs[s->next]));
        }
    }
    return true;
}
