/* cta.c: a resident CTA: its warps take turns until all have ended.
 *
 * (1) warps_ready holds the warps that have a leaf that can run; only the warp that runs, or a barrier that
 * completes, changes it. (2) When no warp can run and not all have ended, lanes that wait to meet others of
 * their warp are released first; if there are none, nothing will ever happen again: a deadlock. */
#include "emu/cta.h"

#include "emu/fault.h"

enum {
    WARP_TURN = 16384, /* instructions of a turn: long, so that the registers stay in the host's cache */
    SPIN_ROUNDS = 4,   /* rounds in which all warps only wait before other CTAs get their turn */
    CTA_TURN_INSTS = 1 << 28 /* a turn ends after these too: waiting that is not recognised as such */
};

bool cta_create(struct cta *c, struct run *run)
{
    uint32_t warps = run->warps_per_cta;
    size_t row_bytes = ISA_LANES * sizeof(uint32_t);
    size_t file_bytes = run->image->reg_rows * row_bytes;
    *c = (struct cta){.run = run, .warp_count = warps};
    c->warps = mem_zalloc_lines(sizeof *c->warps * warps);
    c->registers = aligned_alloc(128, round_up_u64(file_bytes * warps, 128));
    c->shared = aligned_alloc(128, round_up_u64(MAX(run->shared_bytes, 1u), 128));
    if (run->local_bytes) c->local = calloc((size_t)warps * ISA_LANES, run->local_bytes);
    if (!c->registers || !c->shared || (run->local_bytes && !c->local)) {
        cta_free(c);
        return false;
    }
    for (uint32_t k = 0; k < warps; k++) {
        struct warp *w = &c->warps[k];
        w->run = run;
        w->share = &run->first;
        w->cta = c;
        w->index = k;
        w->x.rows[0] = c->registers + k * (file_bytes / sizeof(uint32_t));
        w->x.rows[1] = run->pool;
        w->tid = (const uint32_t(*)[ISA_LANES])run->tids[k];
        w->local = c->local + (size_t)k * ISA_LANES * run->local_bytes;
    }
    return true;
}

void cta_free(struct cta *c)
{
    for (uint32_t k = 0; c->warps && k < c->warp_count; k++) {
        vec_free(&c->warps[k].calls);
        vec_free(&c->warps[k].arrivals);
    }
    free(c->warps);
    free(c->registers);
    free(c->shared);
    free(c->local);
    *c = (struct cta){0};
}

/* Memory begins as zeros, so that a program that reads what it never wrote does the same in every run. The
 * stack beyond the frame is left as it is. */
static void clear_memory(struct cta *c)
{
    const struct run *r = c->run;
    memset(c->shared, 0, r->shared_bytes);
    uint32_t frame = MIN(r->kernel->frame_bytes, r->local_bytes);
    if (!frame) return;
    for (size_t t = 0; t < (size_t)r->warps_per_cta * ISA_LANES; t++)
        memset(c->local + t * r->local_bytes, 0, frame);
}

void cta_start(struct cta *c, uint64_t linear)
{
    const struct run *r = c->run;
    const uint32_t *grid = r->launch->grid;
    c->linear = linear;
    c->id[0] = (uint32_t)(linear % grid[0]);
    c->id[1] = (uint32_t)(linear / grid[0] % grid[1]);
    c->id[2] = (uint32_t)(linear / grid[0] / grid[1]);
    c->sm = (uint32_t)(linear % MAX(r->device->limits.sm_count, 1u));
    c->busy = true;
    c->live_threads = r->threads;
    c->warps_ready = c->warp_count == 64 ? UINT64_MAX : (1ull << c->warp_count) - 1;
    c->warps_done = 0;
    c->spin_rounds = 0;
    c->insts_since_yield = 0;
    c->yields = 0;
    if (c->barriers_used) memset(c->barriers, 0, sizeof c->barriers);
    c->barriers_used = 0;
    clear_memory(c);
    for (uint32_t k = 0; k < c->warp_count; k++) {
        uint32_t lanes = MIN(r->threads - k * ISA_LANES, (uint32_t)ISA_LANES);
        warp_start(&c->warps[k], lanes == ISA_LANES ? UINT32_MAX : (1u << lanes) - 1);
    }
}

bool cta_release_waiting(struct cta *c)
{
    bool any = false;
    for (uint32_t k = 0; k < c->warp_count; k++) {
        if ((c->warps_ready | c->warps_done) >> k & 1) continue;
        if (!diverge_release(&c->warps[k])) continue;
        c->warps_ready |= 1ull << k;
        any = true;
    }
    return any;
}

bool cta_past_limit(struct cta *c, struct warp *w)
{
    uint64_t max = c->run->device->limits.warp_insts_max;
    if (!max || w->insts < max || !w->live) return false;
    if (!w->leaf) diverge_pick(w);
    if (!w->leaf) return false;
    fault_raise(w, lane_first(w->leaf->mask), EMU_ENDLESS,
                "endless loop? a warp has executed %llu instructions, the limit of one warp",
                (unsigned long long)max);
    return true;
}

/* One turn of warp k. False: the run is over. */
static bool take_turn(struct cta *c, uint32_t k, bool *only_spins)
{
    struct warp *w = &c->warps[k];
    uint64_t max = c->run->device->limits.warp_insts_max;
    uint64_t budget = max ? MIN((uint64_t)WARP_TURN, max - w->insts) : WARP_TURN;
    uint64_t before = w->insts;
    enum warp_end end = warp_run(w, budget);
    c->run->device->insts += w->insts - before;
    c->insts_since_yield += w->insts - before;
    if (end == WARP_FAULT) return false;
    if (end != WARP_SPINS) *only_spins = false;
    if (end == WARP_DONE) c->warps_done |= 1ull << k;
    if (!w->leaf_ready)
        c->warps_ready &= ~(1ull << k);
    else
        c->warps_ready |= 1ull << k;
    return !cta_past_limit(c, w);
}

enum cta_end cta_run(struct cta *c)
{
    c->spin_rounds = 0;
    c->insts_since_yield = 0;
    for (;;) {
        bool only_spins = true;
        for (uint32_t k = 0; k < c->warp_count; k++) {
            if (!(c->warps_ready >> k & 1)) continue;
            if (!take_turn(c, k, &only_spins)) return CTA_FAULT;
        }
        if (!c->live_threads) {
            c->busy = false;
            return CTA_DONE;
        }
        if (!c->warps_ready && !cta_release_waiting(c)) {
            fault_deadlock(c);
            return CTA_FAULT;
        }
        c->spin_rounds = only_spins ? c->spin_rounds + 1 : 0;
        if (c->spin_rounds >= SPIN_ROUNDS || c->insts_since_yield >= CTA_TURN_INSTS) {
            cta_release_waiting(c);
            return CTA_YIELD;
        }
    }
}
