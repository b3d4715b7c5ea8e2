/* units_ring.c: which SMs have a turn because of the ring between SMs. */
#include "core/units_impl.h"

/* Most messages of the ring ask for a line that the next SM does not hold: they pass the SM, and it sleeps
 * on. While notes are open, or where an SM has had this cycle already, the table does not show what the L1s
 * held when the cycle began; SMs then look themselves. */
static void pass_non_holders(struct units *u, tick now, uint64_t *seeing)
{
    if (u->ran_early == now || !sharers_is_settled(u->sharers)) return;
    FOR_MASK(i, seeing, u->sm_words)
    {
        const uint32_t sm = (uint32_t)i;
        const struct smring_message *m = smring_asks(u->ring, sm, SMRING_REQUEST, now);
        if (!m || sharers_of(u->sharers, m->words[0])[sm / 64] >> sm % 64 & 1) continue;
        smring_let_pass(u->ring, sm, SMRING_REQUEST);
        seeing[sm / 64] &= ~((uint64_t)1 << sm % 64);
    }
}

void units_order_ring(struct units *u, struct order *o)
{
    uint64_t *seeing = u->seeing;
    mask_clear(seeing, u->sm_words);
    if (!smring_find_seeing(u->ring, o->now, seeing)) return;
    pass_non_holders(u, o->now, seeing);
    for (uint32_t k = 0; k < u->sm_words; k++) {
        wakes_withdraw(&u->sm_wakes, k, seeing[k]);
        o->sms[k] |= seeing[k];
        o->has_sms |= seeing[k] != 0;
    }
}
