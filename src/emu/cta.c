/* cta.c: a resident CTA: its warps take turns until all have ended.
 *
 * (1) warps_ready holds the warps that have a leaf that can run; only the warp that runs, or a barrier that
 * completes, changes it. (2) When no warp can run and not all have ended, lanes that wait to meet others of
 * their warp are released first; if there are none, the CTA is in deadlock. */
#include "emu/cta.h"

#include "emu/fault.h"
#include "emu/races.h"

enum {
    /* Instructions of a warp's turn, and of a CTA's turn for each of its warps. Short turns are fair. Long
     * turns are fast: the registers of a warp stay in the host's first-level cache during its turn, and those
     * of a CTA in the second-level cache during the turn of the CTA. */
    WARP_TURN = 128,
    CTA_TURN_PER_WARP = 1024,
    /* rounds in which all warps only wait before other CTAs get their turn */
    SPIN_ROUNDS = 4,
    /* Instructions after which lanes that wait for reconvergence continue alone: for waiting that is not
     * recognised as such. */
    RELEASE_INSTS = 1 << 28
};

/* Registers of a warp. */
static size_t register_bytes(const struct run *run)
{
    return run->image->reg_rows * (ISA_LANES * sizeof(uint32_t));
}

size_t cta_block_bytes(const struct run *run)
{
    size_t per_warp = sizeof(struct warp) + register_bytes(run);
    return (size_t)round_up_u64(run->warps_per_cta * per_warp + MAX(run->shared_bytes, 1u), HOST_LINE);
}

uint64_t cta_bytes(const struct run *run)
{
    uint64_t local = (uint64_t)run->warps_per_cta * ISA_LANES * run->local_bytes;
    return sizeof(struct cta) + cta_block_bytes(run) + local;
}

bool cta_place(struct cta *c, struct run *run, void *block)
{
    uint32_t warps = run->warps_per_cta;
    size_t file_bytes = register_bytes(run);
    *c = (struct cta){.run = run, .warp_count = warps, .warps = block};
    uint8_t *registers = (uint8_t *)(c->warps + warps);
    c->shared = registers + warps * file_bytes;
    if (run->local_bytes) c->local = calloc((size_t)warps * ISA_LANES, run->local_bytes);
    if (run->local_bytes && !c->local) return false;
    for (uint32_t k = 0; k < warps; k++) {
        struct warp *w = &c->warps[k];
        memset(w, 0, offsetof(struct warp, leaves));
        w->run = run;
        w->share = &run->first;
        w->cta = c;
        w->index = k;
        w->x.rows[0] = (uint32_t *)(void *)(registers + k * file_bytes);
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
    free(c->local);
    races_free_cta(c);
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
    c->insts_since_yield = 0;
    c->yields = 0;
    if (c->barriers_used) memset(c->barriers, 0, sizeof c->barriers);
    c->barriers_used = 0;
    clear_memory(c);
    if (r->races) races_begin_cta(c);
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

/* One turn of each warp that can run, in the order of warps. False: the run is over. */
static bool take_turns(struct cta *c, bool *only_spins)
{
    for (uint32_t k = 0; k < c->warp_count; k++)
        if (c->warps_ready >> k & 1 && !take_turn(c, k, only_spins)) return false;
    return true;
}

static enum cta_end give_turn_back(struct cta *c, enum cta_end end)
{
    if (end == CTA_YIELD || c->insts_since_yield >= RELEASE_INSTS) {
        cta_release_waiting(c);
        c->insts_since_yield = 0;
    }
    return end;
}

enum cta_end cta_run(struct cta *c)
{
    uint64_t end = c->insts_since_yield + (uint64_t)CTA_TURN_PER_WARP * c->warp_count;
    for (uint32_t spin_rounds = 0; spin_rounds < SPIN_ROUNDS;) {
        bool only_spins = true;
        if (!take_turns(c, &only_spins)) return CTA_FAULT;
        if (!c->live_threads) {
            c->busy = false;
            return CTA_DONE;
        }
        if (!c->warps_ready && !cta_release_waiting(c)) {
            fault_deadlock(c);
            return CTA_FAULT;
        }
        if (c->insts_since_yield >= end) return give_turn_back(c, CTA_TURN_OVER);
        spin_rounds = only_spins ? spin_rounds + 1 : 0;
    }
    return give_turn_back(c, CTA_YIELD);
}
