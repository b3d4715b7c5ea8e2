/* cta_manager.c: see cta_manager.h. */
#include "mech/cta_manager.h"

void cta_manager_init(struct cta_manager *c, const struct mech_ports *ports, uint32_t buffer,
                      uint32_t restore_rows)
{
    *c = (struct cta_manager){
        .ports = ports, .buffer = buffer, .restore_rows = restore_rows, .most = UINT32_MAX};
    c->ctas = ports->memory(ports->host, ports->ctas * sizeof *c->ctas);
    c->stack = ports->memory(ports->host, ports->ctas * sizeof *c->stack);
}

static void cta_set(struct cta_manager *c, uint32_t slot, enum cta_state state)
{
    c->count[c->ctas[slot].state]--; /* the count of CTA_NONE wraps around, and is not used */
    c->count[state]++;
    c->ctas[slot].state = state;
}

static void cta_limit(const struct cta_manager *c)
{
    const bool has_inactive = c->count[CTA_LEAVES] || c->count[CTA_OUT];
    c->ports->limit_ctas(c->ports->host, has_inactive ? 0 : c->most);
}

void cta_manager_end(struct cta_manager *c)
{
    c->most = UINT32_MAX;
    cta_limit(c);
}

static bool cta_move(struct cta_manager *c, uint32_t slot, bool is_out)
{
    const struct mech_transfer t = {.cta_slot = slot,
                                    .is_out = is_out,
                                    .drains = true,
                                    .rows = UINT32_MAX,
                                    .buffer = is_out ? c->buffer : c->restore_rows};
    if (!c->ports->cta_registers(c->ports->host, &t)) return false;
    cta_set(c, slot, is_out ? CTA_LEAVES : CTA_COMES);
    return true;
}

/* Brings CTAs back while fewer are active than may be. */
static void cta_balance(struct cta_manager *c)
{
    while (c->stacked && c->count[CTA_ACTIVE] + c->count[CTA_COMES] < c->most) {
        if (!cta_move(c, c->stack[c->stacked - 1], false)) break; /* one is coming back: try again then */
        c->stacked--;
    }
    cta_limit(c);
}

/* The state of a CTA after an event; CTA_STATES: as before. */
static enum cta_state cta_after(enum mech_cta_kind kind)
{
    switch (kind) {
    case MECH_CTA_START:
    case MECH_CTA_REGISTERS_IN:
    case MECH_CTA_UNPARKED: return CTA_ACTIVE;
    case MECH_CTA_END: return CTA_NONE;
    case MECH_CTA_REGISTERS_OUT: return CTA_OUT;
    case MECH_CTA_PARKED: return CTA_PARKED;
    default: return CTA_STATES;
    }
}

bool cta_manager_hears(enum mech_cta_kind kind) { return cta_after(kind) != CTA_STATES; }

void cta_manager_see(struct cta_manager *c, const struct mech_cta *e)
{
    c->ctas[e->cta_slot].rows = e->rows;
    c->ctas[e->cta_slot].last_row = e->last_row;
    cta_set(c, e->cta_slot, cta_after(e->kind));
    if (e->kind == MECH_CTA_REGISTERS_OUT) c->stack[c->stacked++] = e->cta_slot;
    if (e->kind != MECH_CTA_START) cta_balance(c);
}

bool cta_manager_throttle(struct cta_manager *c)
{
    const uint32_t active = c->count[CTA_ACTIVE] + c->count[CTA_COMES];
    if (active < 2) return false;
    for (uint32_t slot = c->ports->ctas; slot-- > 0;) {
        if (c->ctas[slot].state != CTA_ACTIVE || !cta_move(c, slot, true)) continue;
        if (c->most == UINT32_MAX) c->unthrottled = active;
        c->most = active - 1;
        cta_limit(c);
        return true;
    }
    return false;
}

bool cta_manager_release(struct cta_manager *c)
{
    if (c->most == UINT32_MAX) return false;
    if (++c->most >= c->unthrottled) c->most = UINT32_MAX;
    cta_balance(c);
    return true;
}

int64_t cta_manager_last_row(const struct cta_manager *c)
{
    int64_t last = -1;
    for (uint32_t i = 0; i < c->ports->ctas; i++) {
        const struct cta_info *at = &c->ctas[i];
        const bool is_here = at->state == CTA_ACTIVE || at->state == CTA_LEAVES;
        if (is_here && at->rows && (int64_t)at->last_row > last) last = at->last_row;
    }
    return last;
}

static bool cta_has_rows(uint32_t state)
{
    return state == CTA_ACTIVE || state == CTA_LEAVES || state == CTA_COMES;
}

uint32_t cta_manager_rows_here(const struct cta_manager *c)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < c->ports->ctas; i++)
        if (cta_has_rows(c->ctas[i].state)) rows += c->ctas[i].rows;
    return rows;
}
