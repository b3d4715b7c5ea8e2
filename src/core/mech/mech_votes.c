/* mech_votes.c: votes of mechanisms, and how they are combined.
 *
 * Votes are kept for each mechanism and combined again when one changes: the result depends on the set of
 * votes, not on the order in which they came or in which mechanisms were attached. */
#include "core/mech/mech_seat.h"

struct mech_votes mech_votes_all(void)
{
    struct mech_votes v = {.cta_limit = UINT32_MAX, .cta_rows = UINT32_MAX, .l1_lines = UINT32_MAX};
    memset(v.masks, 0xff, sizeof v.masks);
    return v;
}

void mech_tell_votes(const struct mech_sm *m)
{
    if (m->setup.ops->votes_changed) m->setup.ops->votes_changed(m->setup.sm);
}

static void combine_mask(struct mech_sm *m, enum mech_mask mask, uint32_t bank)
{
    uint64_t *const combined[MECH_MASK_COUNT] = {&m->masks[bank].issue, &m->masks[bank].memory,
                                                 &m->masks[bank].load};
    uint64_t all = mask == MECH_MASK_ISSUE ? ~m->held[bank] : UINT64_MAX;
    for (uint32_t i = 0; i < m->count; i++) all &= m->seats[i].votes.masks[mask][bank];
    if (*combined[mask] == all) return;
    *combined[mask] = all;
    mech_tell_votes(m);
}

void mech_combine_masks(struct mech_sm *m)
{
    for (int mask = 0; mask < MECH_MASK_COUNT; mask++)
        for (uint32_t bank = 0; bank < MECH_BANKS_MAX; bank++) combine_mask(m, (enum mech_mask)mask, bank);
}

void mech_vote_mask(struct mech_seat *seat, enum mech_mask mask, uint32_t bank, uint64_t warps)
{
    uint64_t *vote = &seat->votes.masks[mask][bank];
    if (*vote == warps) return;
    *vote = warps;
    combine_mask(seat->sm, mask, bank);
}

void mech_hold(struct mech_sm *m, uint32_t bank, uint64_t warps)
{
    m->held[bank] = warps;
    combine_mask(m, MECH_MASK_ISSUE, bank);
}

void mech_combine_limits(struct mech_sm *m)
{
    uint32_t ctas = UINT32_MAX, rows = UINT32_MAX, lines = UINT32_MAX, lines_max = 0, reexec = 0, stall = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct mech_votes *v = &m->seats[i].votes;
        ctas = MIN(ctas, v->cta_limit);
        rows = MIN(rows, v->cta_rows);
        lines = MIN(lines, v->l1_lines);
        lines_max = MAX(lines_max, v->l1_lines_max);
        stall = MAX(stall, v->stall_cycles);
        if (v->reexec_entries) reexec = reexec ? MIN(reexec, v->reexec_entries) : v->reexec_entries;
    }
    if (m->cta_limit != ctas || m->l1_lines != lines) mech_tell_votes(m);
    m->cta_limit = ctas;
    m->cta_rows = rows;
    m->l1_lines = lines;
    m->l1_lines_max = lines_max;
    m->reexec_entries = reexec;
    m->stall_cycles = stall;
}
