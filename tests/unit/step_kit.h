/* step_kit.h: runs a grid through emu/step.h in a random order: of CTAs becoming resident, of warps, of the
 * moments at which deferred atomics happen and of their lanes. */
#ifndef HEDDLE_STEP_KIT_H
#define HEDDLE_STEP_KIT_H

#include "base/rng.h"
#include "base/vec.h"
#include "emu/step.h"

struct step_owed {
    uint32_t record, lanes;
    /* for the result; NULL: nobody */
    struct warp *waits;
};

struct step_run {
    struct emu_grid *grid;
    struct rng rng;
    bool defer;
    uint32_t resident_max;
    uint64_t next;
    VEC(struct cta *) ctas;
    VEC(struct step_owed) owed;
    uint64_t steps, accesses, deferred;
};

static inline uint32_t step_below(struct step_run *s, uint32_t n) { return rng_u32(&s->rng) % n; }

/* Some lanes of a random record happen. */
static inline void step_apply_one(struct step_run *s)
{
    uint32_t at = step_below(s, (uint32_t)s->owed.len);
    struct step_owed *o = &s->owed.data[at];
    uint32_t lanes = o->lanes & rng_u32(&s->rng);
    if (!lanes) lanes = o->lanes;
    emu_atomic_apply(s->grid, o->record, lanes);
    o->lanes &= ~lanes;
    if (o->lanes) return;
    s->owed.data[at] = s->owed.data[s->owed.len - 1];
    s->owed.len--;
}

static inline bool step_waits(const struct step_run *s, const struct warp *w)
{
    for (uint32_t i = 0; i < s->owed.len; i++)
        if (s->owed.data[i].waits == w) return true;
    return false;
}

static inline bool step_warp(struct step_run *s, struct warp *w)
{
    struct emu_access a;
    if (!emu_warp_step(w, s->defer, &a)) return false;
    s->steps++;
    s->accesses += a.space != ISA_GENERIC;
    if (!a.deferred) return true;
    s->deferred++;
    vec_push(&s->owed,
             (struct step_owed){a.atomic_record, a.mask & ~a.shared_lanes,
                                a.inst->dst[0] != ISA_NONE || a.inst->dst[1] != ISA_NONE ? w : NULL});
    return true;
}

static inline bool step_cta_done(struct cta *c)
{
    for (uint32_t k = 0; k < emu_cta_warps(c); k++)
        if (emu_warp_state(emu_cta_warp(c, k)) != EMU_WARP_DONE) return false;
    return true;
}

static inline bool step_cta_waits(const struct step_run *s, struct cta *c)
{
    for (uint32_t k = 0; k < emu_cta_warps(c); k++)
        if (step_waits(s, emu_cta_warp(c, k))) return true;
    return false;
}

/* One step of a random warp that can take it, or of the memory system. False: a fault. */
static inline bool step_once(struct step_run *s)
{
    uint64_t ctas = emu_grid_ctas(s->grid);
    if (s->next < ctas && (!s->ctas.len || (s->ctas.len < s->resident_max && !step_below(s, 20)))) {
        struct cta *fresh = emu_cta_open(s->grid, s->next++, step_below(s, 4));
        if (!fresh) return false;
        vec_push(&s->ctas, fresh);
    }
    if (s->owed.len && (!step_below(s, 3) || s->owed.len > 64)) step_apply_one(s);
    uint32_t at = step_below(s, (uint32_t)s->ctas.len);
    struct cta *c = s->ctas.data[at];
    struct warp *w = emu_cta_warp(c, step_below(s, emu_cta_warps(c)));
    if (emu_warp_state(w) == EMU_WARP_READY && !step_waits(s, w) && !step_warp(s, w)) return false;
    if (!step_cta_done(c) || step_cta_waits(s, c)) return true;
    emu_cta_close(c);
    s->ctas.data[at] = s->ctas.data[s->ctas.len - 1];
    s->ctas.len--;
    return true;
}

/* The whole grid. resident: CTAs open at a time at most. */
static inline enum emu_fault_kind step_grid(struct emu_device *d, const struct emu_launch *l, uint64_t seed,
                                            bool defer, uint32_t resident, struct emu_stats *stats,
                                            struct emu_fault *fault)
{
    struct step_run s = {.rng = {seed}, .defer = defer, .resident_max = resident};
    s.grid = emu_grid_open(d, l, fault);
    if (!s.grid) return fault->kind;
    bool ok = true;
    while (ok && (s.ctas.len || s.next < emu_grid_ctas(s.grid))) ok = step_once(&s);
    while (ok && s.owed.len) step_apply_one(&s);
    emu_grid_close(s.grid, stats);
    vec_free(&s.ctas);
    vec_free(&s.owed);
    return fault->kind;
}

#endif
