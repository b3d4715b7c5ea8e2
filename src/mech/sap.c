/* sap.c: see sap.h. The sections follow the paper's IV-B and figure 9: Prefetch Table, queues, prefetches.
 *
 * (1) Nothing is prefetched for a load whose stride is not the one in its entry. (2) A stride is a whole
 * number: addresses that none explains leave the entry without one. A warp that executes the load again
 * before any other did shows no stride: it only brings the entry up to date. (3) A line is asked for once in
 * a burst: a target whose line the load itself or the target before it wants needs no request. (4) Only warps
 * whose line was asked for are targets. Open in the paper, chosen here: the least recently used entry of the
 * Prefetch Table is replaced; a group larger than the Warp Queue is cut off, the highest slots first. Left
 * out: the time that the adders, the multiplier and the divider take. */
#include "mech/sap.h"

#include <string.h>

void sap_init(struct sap *s, const struct sap_params *params, const struct mech_ports *ports)
{
    s->params = params;
    s->ports = ports;
}

void sap_clear(struct sap *s)
{
    memset(s->pt, 0, sizeof s->pt);
    s->load = (struct sap_load){0};
}

/* Table I: the index of a warp's first thread in the grid, divided by the warp's size. Table II has one byte
 * for it, which holds a slot. */
void sap_on_warp(struct sap *s, const struct mech_warp_event *e)
{
    const bool is_grid = s->params->warp_id == SAP_WARP_GRID;
    if (e->is_start)
        s->number[e->warp] = is_grid ? (int64_t)(e->cta * e->cta_warps + e->index) : e->warp;
    else
        warp_set_remove(&s->load.wq, e->warp);
}

/* ---- the Prefetch Table ---- */

/* The entry of pc, or the one to replace. */
static struct sap_entry *pt_find(struct sap *s, uint32_t pc)
{
    struct sap_entry *oldest = &s->pt[0];
    for (uint32_t i = 0; i < s->params->pt; i++) {
        struct sap_entry *e = &s->pt[i];
        if (e->used && e->pc == pc) return e;
        if (e->used < oldest->used) oldest = e;
    }
    return oldest;
}

/* Takes an execution into the entry. True: it showed the stride that was there. */
static bool pt_train(struct sap *s, struct sap_entry *e, int64_t warp, uint64_t address)
{
    const int64_t warps = warp - e->warp, bytes = (int64_t)(address - e->address);
    e->warp = warp;
    e->address = address;
    if (!warps) return false;
    const bool is_whole = bytes % warps == 0;
    if (is_whole && e->has_stride && bytes / warps == e->stride) {
        s->stats.matches++;
        return true;
    }
    e->has_stride = is_whole;
    e->stride = bytes / warps;
    s->stats.strides_stored += is_whole;
    return false;
}

void sap_begin(struct sap *s, const struct mech_l1_access *a, bool is_trained)
{
    s->load = (struct sap_load){.id = a->id, .pc = a->pc, .warp = s->number[a->warp]};
    if (!is_trained) return;
    struct sap_entry *e = pt_find(s, a->pc);
    s->stats.trained++;
    if (e->used && e->pc == a->pc)
        s->load.is_strided = pt_train(s, e, s->load.warp, a->lane_address);
    else
        *e = (struct sap_entry){.pc = a->pc, .warp = s->load.warp, .address = a->lane_address};
    e->used = ++s->uses;
    s->load.stride = e->stride;
}

/* ---- Warp Queue and Demand Request Queue ---- */

void sap_take_group(struct sap *s, const struct mech_l1_access *a, const struct warp_set *group)
{
    uint32_t room = s->params->wq;
    if (s->load.id != a->id || !s->load.is_strided) return;
    FOR_WARPS(w, group)
    {
        if (w == a->warp || !room) continue;
        warp_set_add(&s->load.wq, w);
        room--;
    }
    s->stats.bursts++;
}

/* The address that a missed request puts into the Demand Request Queue; false: none. */
static bool drq_take(struct sap *s, const struct mech_l1_access *a, uint64_t *address)
{
    const bool is_lowest = s->load.requests == 0;
    if (s->load.id != a->id || s->load.requests >= s->params->drq) return false;
    if (!is_lowest && s->params->requests == SAP_REQUESTS_LOWEST) return false;
    s->load.requests++;
    *address = s->params->requests == SAP_REQUESTS_LOWEST ? a->lane_address : a->line;
    return true;
}

/* ---- prefetches ---- */

/* Asks for the line at an address for a warp. False: the prefetch queue has no room for it. */
static bool sap_ask(struct sap *s, uint64_t address, int warp)
{
    const bool is_taken = s->ports->prefetch(s->ports->host, address, s->load.pc, warp);
    s->stats.asked += is_taken;
    s->stats.refused += !is_taken;
    return is_taken;
}

struct warp_set sap_take_miss(struct sap *s, const struct mech_l1_access *a)
{
    const uint64_t line_mask = ~(uint64_t)(s->ports->line_bytes - 1);
    struct warp_set targets = {0};
    uint64_t address, last_line = a->line;
    if (!drq_take(s, a, &address)) return targets;
    FOR_WARPS(w, &s->load.wq)
    {
        const uint64_t warps = (uint64_t)(s->number[w] - s->load.warp);
        const uint64_t wanted = address + warps * (uint64_t)s->load.stride;
        const uint64_t line = wanted & line_mask;
        const bool is_shared = line == a->line || line == last_line;
        if (!is_shared && !sap_ask(s, wanted, w)) continue;
        s->stats.shared += is_shared;
        last_line = line;
        warp_set_add(&targets, w);
    }
    return targets;
}

void sap_on_prefetch(struct sap *s, const struct mech_prefetch *e)
{
    s->stats.sent += e->outcome == MECH_PREFETCH_SENT;
    s->stats.redundant += e->outcome == MECH_PREFETCH_REDUNDANT;
    s->stats.dropped += e->outcome == MECH_PREFETCH_DROPPED;
}
