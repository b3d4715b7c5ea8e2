/* sap.c: see sap.h. The sections follow the paper's IV-B and figure 9: Prefetch Table, queues, prefetches.
 *
 * (1) Nothing is prefetched for a load whose stride is not the one in its entry. (2) A stride is a whole
 * number: addresses that none explains leave the entry without one. A warp that executes the load again
 * before any other did shows no stride: it only brings the entry up to date. (3) A line is asked for once in
 * a burst: a target whose line the load itself or the target before it wants needs no request. (4) Only warps
 * whose line was asked for are targets. (5) The two queues have room for one load (Table II): SAP asks for
 * one line at a time, and what a burst has not asked for when the next group comes is forgotten. With
 * sap_pace `all` the SM's prefetch queue takes a burst whole. Open in the paper, chosen here: the least
 * recently used entry of the Prefetch Table is replaced; a group larger than the Warp Queue is cut off, the
 * highest slots first; the subset of the group that is prefetched for (IV-A) is the warps of the same CTA.
 * Left out: the time that the adders, the multiplier and the divider take. */
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
    s->burst = (struct sap_burst){0};
    s->is_asking = false;
}

/* Table I: the index of a warp's first thread in the grid, divided by the warp's size. Table II has one byte
 * for it, which holds a slot. */
void sap_on_warp(struct sap *s, const struct mech_warp_event *e)
{
    const bool is_grid = s->params->warp_id == SAP_WARP_GRID;
    warp_set_remove(&s->burst.wq, e->warp);
    warp_set_remove(&s->burst.targets, e->warp);
    if (!e->is_start) return;
    s->number[e->warp] = is_grid ? (int64_t)(e->cta * e->cta_warps + e->index) : e->warp;
    s->cta_slot[e->warp] = e->cta_slot;
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

static bool burst_is_done(const struct sap_burst *b)
{
    return b->done == b->requests || warp_set_next(&b->wq, 0) == MECH_NO_WARP;
}

/* A stride predicts the loads of warps of the same CTA. Other CTAs on the SM are several CTAs further in the
 * grid, where the stride does not hold. */
static bool sap_is_target(const struct sap *s, int head, int warp)
{
    return s->params->targets == SAP_TARGETS_GROUP || s->cta_slot[warp] == s->cta_slot[head];
}

void sap_take_group(struct sap *s, const struct mech_l1_access *a, const struct warp_set *group)
{
    uint32_t room = s->params->wq;
    struct sap_burst *b = &s->burst;
    s->stats.cut += !burst_is_done(b);
    b->load = s->load;
    b->wq = b->targets = (struct warp_set){0};
    b->requests = b->done = 0;
    b->next_warp = 0;
    if (s->load.id != a->id || !s->load.is_strided) return;
    FOR_WARPS(w, group)
    {
        if (w == a->warp || !room || !sap_is_target(s, a->warp, w)) continue;
        warp_set_add(&b->wq, w);
        room--;
    }
    s->stats.bursts++;
}

void sap_take_miss(struct sap *s, const struct mech_l1_access *a)
{
    struct sap_burst *b = &s->burst;
    const bool is_lowest = s->params->requests == SAP_REQUESTS_LOWEST;
    if (b->load.id != a->id || b->requests == s->params->drq || (is_lowest && b->requests)) return;
    if (!b->requests) b->last_line = a->line;
    b->drq[b->requests++] = is_lowest ? a->lane_address : a->line;
}

/* ---- prefetches ---- */

/* Asks for the line at an address for a warp. False: the SM refuses it. */
static bool sap_ask(struct sap *s, uint64_t address, int warp)
{
    s->is_asking = true;
    const bool is_taken = s->ports->prefetch(s->ports->host, address, s->burst.load.pc, warp);
    s->is_asking &= is_taken;
    s->stats.asked += is_taken;
    s->stats.refused += !is_taken;
    return is_taken;
}

/* The next warp of the Warp Queue, for the oldest request. True: it is a target. */
static bool burst_step(struct sap *s, int warp)
{
    const uint64_t line_mask = ~(uint64_t)(s->ports->line_bytes - 1);
    struct sap_burst *b = &s->burst;
    const uint64_t own = b->drq[b->done], warps = (uint64_t)(s->number[warp] - b->load.warp);
    const uint64_t wanted = own + warps * (uint64_t)b->load.stride, line = wanted & line_mask;
    const bool is_shared = line == (own & line_mask) || line == b->last_line;
    if (!is_shared && !sap_ask(s, wanted, warp)) return false;
    s->stats.shared += is_shared;
    b->last_line = line;
    warp_set_add(&b->targets, warp);
    return true;
}

static bool sap_may_ask(const struct sap *s) { return !s->is_asking || s->params->pace == SAP_PACE_ALL; }

bool sap_work(struct sap *s)
{
    struct sap_burst *b = &s->burst;
    bool has_more = false;
    if (s->is_working) return false;
    s->is_working = true;
    while (b->done < b->requests && sap_may_ask(s)) {
        const int warp = warp_set_next(&b->wq, b->next_warp);
        if (warp == MECH_NO_WARP) {
            b->done++;
            b->next_warp = 0;
            continue;
        }
        b->next_warp = warp + 1;
        has_more |= burst_step(s, warp);
    }
    s->is_working = false;
    return has_more;
}

const struct warp_set *sap_targets(const struct sap *s) { return &s->burst.targets; }

void sap_on_load(struct sap *s, int warp) { warp_set_remove(&s->burst.targets, warp); }

void sap_on_prefetch(struct sap *s, const struct mech_prefetch *e)
{
    s->is_asking = false;
    s->stats.sent += e->outcome == MECH_PREFETCH_SENT;
    s->stats.redundant += e->outcome == MECH_PREFETCH_REDUNDANT;
    s->stats.dropped += e->outcome == MECH_PREFETCH_DROPPED;
}
