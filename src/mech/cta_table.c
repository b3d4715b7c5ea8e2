/* cta_table.c: see cta_table.h. */
#include "mech/cta_table.h"

void cta_table_init(struct cta_table *t, const struct mech_ports *ports)
{
    t->slots = ports->ctas;
    t->ctas = ports->memory(ports->host, t->slots * sizeof *t->ctas);
}

static void count(struct cta_table *t, uint64_t cycle)
{
    const uint64_t cycles = cycle > t->counted_to ? cycle - t->counted_to : 0;
    t->counted_to += cycles;
    if (!t->active && !t->inactive) return;
    t->counts.cycles += cycles;
    t->counts.active_cycles += t->active * cycles;
    t->counts.inactive_cycles += t->inactive * cycles;
}

static void set_active(struct cta_table *t, struct cta_entry *c, bool is_active)
{
    if (c->is_active == is_active) return;
    c->is_active = is_active;
    t->active += is_active ? 1u : -1u;
    t->inactive += is_active ? -1u : 1u;
}

static void start(struct cta_table *t, const struct mech_cta *e)
{
    t->ctas[e->cta_slot] = (struct cta_entry){.is_used = true,
                                              .is_active = true,
                                              .warps = e->warps,
                                              .rows = e->rows,
                                              .first_row = e->first_row,
                                              .age = t->started++};
    t->active++;
    if (t->active + t->inactive > t->counts.resident_max) t->counts.resident_max = t->active + t->inactive;
}

void cta_table_hear(struct cta_table *t, const struct mech_cta *e)
{
    struct cta_entry *c = &t->ctas[e->cta_slot];
    count(t, e->cycle);
    switch (e->kind) {
    case MECH_CTA_START: start(t, e); break;
    case MECH_CTA_END:
        set_active(t, c, true);
        t->active--;
        c->is_used = false;
        break;
    case MECH_CTA_STALLED:
        c->is_stalled = true;
        t->counts.stalls++;
        break;
    case MECH_CTA_READY: /* one that starts without slots is ready at once */
        set_active(t, c, false);
        c->is_ready = true;
        break;
    case MECH_CTA_OUT:
        set_active(t, c, false);
        c->is_stalled = false;
        t->counts.swaps++;
        break;
    case MECH_CTA_IN:
        set_active(t, c, true);
        c->is_ready = false;
        break;
    case MECH_CTA_RESUMED: c->is_stalled = false; break;
    case MECH_CTA_REGISTERS_OUT:
    case MECH_CTA_PARKED:
    case MECH_CTA_UNPARKED: break;
    case MECH_CTA_REGISTERS_IN: c->first_row = e->first_row; break;
    }
    c->since = e->cycle;
}

uint32_t cta_table_ready(const struct cta_table *t)
{
    uint32_t best = MECH_NO_CTA;
    for (uint32_t i = 0; i < t->slots; i++) {
        const struct cta_entry *c = &t->ctas[i];
        if (c->is_used && !c->is_active && c->is_ready && (best == MECH_NO_CTA || c->age < t->ctas[best].age))
            best = i;
    }
    return best;
}

uint32_t cta_table_stalled(const struct cta_table *t)
{
    uint32_t best = MECH_NO_CTA;
    for (uint32_t i = 0; i < t->slots; i++) {
        const struct cta_entry *c = &t->ctas[i];
        if (c->is_used && c->is_active && c->is_stalled &&
            (best == MECH_NO_CTA || c->since < t->ctas[best].since))
            best = i;
    }
    return best;
}
