/* step.c: the emulator one instruction at a time: see step.h.
 *
 * The loop of emu_run is not used and not slowed down: an access is described from its operands, then
 * executed by the same function as there. (1) Between steps each warp is settled: w->leaf is the leaf that
 * runs next, NULL when none can; cta.warps_ready says the same. (2) Nothing here depends on the order of
 * steps but what the program itself makes depend on it. */
#include "emu/step.h"

#include "emu/fault.h"
#include "emu/late.h"
#include "emu/surface.h"

enum {
    /* Times that each warp only waited before lanes that wait for reconvergence continue alone: eight times
     * as many as in cta.c, because turns are an eighth as long (warp.c). */
    YIELDS_RELEASE = 32,
    /* Instructions after which they do so too, for waiting that is not recognised as such, as in cta.c. */
    RELEASE_INSTS = 1 << 28
};

/* A record's number contains the SM that owns it. */
enum { SHARE_SHIFT = 20, SHARES_MAX = 1 << 12, RECORD_MASK = (1 << SHARE_SHIFT) - 1 };

struct emu_grid {
    /* first: a warp's run is its grid */
    struct run run;
    struct emu_launch launch;
    struct deferred_pool deferred;
    /* by SM; NULL: not shared */
    struct emu_log *const *logs;
    struct cta *open, *spare;
    uint64_t opened;
};

static struct emu_grid *grid_of(const struct run *r) { return (struct emu_grid *)r; }

/* ---- grids ---- */
struct emu_grid *emu_grid_open(struct emu_device *d, const struct emu_launch *l, struct emu_fault *fault)
{
    *fault = (struct emu_fault){.kind = EMU_OK};
    if (emu_check_launch(d, l, fault) != EMU_OK) return NULL;
    struct emu_grid *g = mem_zalloc(sizeof *g);
    g->launch = *l;
    if (!run_open(&g->run, d, &g->launch, fault)) {
        free(g);
        return NULL;
    }
    g->launch.params = (const void *)(uintptr_t)g->run.block->param_address;
    g->run.first.deferred = &g->deferred;
    return g;
}

static void shares_free(struct emu_grid *g)
{
    for (uint32_t i = 0; i < g->run.share_count; i++) {
        struct run_share *s = g->run.shares[i];
        if (!s) continue;
        deferred_free(s->deferred);
        free(s->deferred);
        free(s->pcs);
        free(s);
    }
    free(g->run.shares);
    g->run.share_count = 0;
}

void emu_grid_share(struct emu_grid *g, struct emu_log *const *logs, uint32_t sm_count)
{
    assert(!g->opened && sm_count < SHARES_MAX);
    g->logs = logs;
    g->run.shares = mem_zalloc(sizeof *g->run.shares * sm_count);
    g->run.share_count = sm_count;
}

static struct run_share *share_of(struct emu_grid *g, uint32_t sm)
{
    if (!g->logs) return &g->run.first;
    struct run_share *s = g->run.shares[sm];
    if (s) return s;
    s = g->run.shares[sm] = mem_alloc(sizeof *s);
    run_share_init(&g->run, s, &s->own_fault);
    s->deferred = mem_zalloc(sizeof *s->deferred);
    s->deferred->share = sm << SHARE_SHIFT;
    s->log = g->logs[sm];
    return s;
}

void emu_grid_find_fault(struct emu_grid *g)
{
    for (uint32_t i = 0; i < g->run.share_count && g->run.fault->kind == EMU_OK; i++)
        if (g->run.shares[i] && g->run.shares[i]->own_fault.kind != EMU_OK)
            *g->run.fault = g->run.shares[i]->own_fault;
}

void emu_grid_close(struct emu_grid *g, struct emu_stats *stats)
{
    deferred_settle_all(&g->deferred);
    for (uint32_t i = 0; i < g->run.share_count; i++)
        if (g->run.shares[i]) deferred_settle_all(g->run.shares[i]->deferred);
    while (g->open) emu_cta_close(g->open);
    for (struct cta *c = g->spare, *next; c; c = next) {
        next = c->next;
        void *block = c->warps;
        cta_free(c);
        free(block);
        free(c);
    }
    if (stats) run_add_stats(&g->run, g->opened, stats);
    deferred_free(&g->deferred);
    shares_free(g);
    run_close(&g->run);
    free(g);
}

const struct emu_launch *emu_grid_launch(const struct emu_grid *g) { return &g->launch; }
uint64_t emu_grid_id(const struct emu_grid *g) { return g->run.id; }

bool emu_grid_has_memory(const struct emu_grid *g, uint64_t address)
{
    const struct space_alloc *a = space_find(g->run.device->space, address);
    return a && a->kind != SPACE_HEAP && a->kind != SPACE_WINDOW;
}

uint64_t emu_grid_ctas(const struct emu_grid *g) { return g->run.ctas; }
uint32_t emu_grid_shared_bytes(const struct emu_grid *g) { return g->run.shared_bytes; }
uint32_t emu_grid_local_bytes(const struct emu_grid *g) { return g->run.local_bytes; }

void emu_grid_clock(struct emu_grid *g, const uint64_t *cycles, const uint64_t *ns)
{
    g->run.cycles = cycles;
    g->run.ns = ns;
}

/* ---- CTAs ---- */
static struct cta *cta_take(struct emu_grid *g)
{
    struct cta *c = g->spare;
    if (c) {
        g->spare = c->next;
        return c;
    }
    c = mem_zalloc(sizeof *c);
    void *block = aligned_alloc(HOST_LINE, cta_block_bytes(&g->run));
    if (block && cta_place(c, &g->run, block)) return c;
    free(block);
    free(c);
    run_refuse(g->run.fault, g->run.kernel, "the host has no memory for one more resident block");
    return NULL;
}

struct cta *emu_cta_open(struct emu_grid *g, uint64_t linear, uint32_t sm)
{
    assert(linear < g->run.ctas);
    struct cta *c = cta_take(g);
    if (!c) return NULL;
    cta_start(c, linear);
    c->sm = sm;
    struct run_share *share = share_of(g, sm);
    for (uint32_t k = 0; k < c->warp_count; k++) c->warps[k].share = share;
    c->next = g->open;
    g->open = c;
    g->opened++;
    return c;
}

void emu_cta_close(struct cta *c)
{
    struct emu_grid *g = grid_of(c->run);
    struct cta **at = &g->open;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    for (uint32_t k = 0; k < c->warp_count; k++) deferred_detach(&c->warps[k]);
    c->busy = false;
    c->next = g->spare;
    g->spare = c;
}

uint64_t emu_cta_linear(const struct cta *c) { return c->linear; }
uint32_t emu_cta_warps(const struct cta *c) { return c->warp_count; }
struct warp *emu_cta_warp(struct cta *c, uint32_t index) { return &c->warps[index]; }

/* ---- warps ---- */
uint64_t emu_warp_insts(const struct warp *w) { return w->insts; }

enum emu_warp_state emu_warp_state(const struct warp *w)
{
    if (w->leaf) return EMU_WARP_READY;
    if (!w->live) return EMU_WARP_DONE;
    FOR_LANES (slot, w->leaf_used)
        if (w->leaves[slot].state == LEAF_AT_BARRIER) return EMU_WARP_AT_BARRIER;
    return EMU_WARP_AT_SYNC;
}

static void add_pc(uint32_t pc, uint32_t *pcs, uint32_t max, uint32_t *count)
{
    for (uint32_t i = 0; i < MIN(*count, max); i++)
        if (pcs[i] == pc) return;
    if (*count < max) pcs[*count] = pc;
    ++*count;
}

/* Where lanes at this depth go back to. */
static void add_callers(const struct warp *w, uint32_t mask, uint32_t depth, uint32_t *pcs, uint32_t max,
                        uint32_t *count)
{
    for (uint32_t d = 0; d < depth; d++)
        FOR_LANES (l, mask) add_pc(w->calls.data[d].ret[l], pcs, max, count);
}

uint32_t emu_warp_pcs(const struct warp *w, uint32_t *pcs, uint32_t max)
{
    uint32_t count = 0;
    FOR_LANES (slot, w->leaf_used) {
        const struct leaf *leaf = &w->leaves[slot];
        add_pc(leaf->pc, pcs, max, &count);
        add_callers(w, leaf->mask, leaf->depth, pcs, max, &count);
    }
    for (uint64_t rest = w->node_used; rest; rest &= rest - 1) {
        const struct node *node = &w->nodes[__builtin_ctzll(rest)];
        if (!node->arrived) continue;
        add_pc(node->reconv, pcs, max, &count);
        add_callers(w, node->arrived, node->depth, pcs, max, &count);
    }
    return count;
}

void emu_warp_lose(struct warp *w, const isa_live_set *kept)
{
    /* as an address LOST faults, as a float it is not a number */
    enum { LOST = 0x7fdead01 };
    for (uint32_t r = 0; r < w->run->kernel->reg_count; r++) {
        if (kept->bits[r / 64] >> r % 64 & 1) continue;
        uint32_t *row = exec_dst(&w->x, (uint16_t)r);
        for (uint32_t l = 0; l < ISA_LANES; l++) row[l] = LOST;
    }
}

const struct isa_inst *emu_warp_peek(struct warp *w, uint32_t *pc, uint32_t *mask)
{
    debug_assert(w->leaf);
    *pc = w->leaf->pc;
    *mask = w->leaf->mask;
    return w->run->insts + w->leaf->pc;
}

void emu_warp_expect(const struct warp *w, const uint8_t *registers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *row = exec_dst(&w->x, registers[i]);
        __builtin_prefetch(row);
        __builtin_prefetch(row + ISA_LANES / 2);
    }
}

/* Addresses of global memory are the host's. Lanes that read side by side touch few lines of the host. */
void emu_warp_expect_load(const struct warp *w)
{
    const struct isa_inst *i = w->run->insts + w->leaf->pc;
    const uint32_t mask = w->leaf->mask & warp_guard(w, i);
    struct access_desc d;
    if (!mask || !memory_describe(i, &d) || d.is_32) return;
    if (d.space != ISA_GLOBAL && d.space != ISA_GENERIC) return;
    const uint32_t *row = exec_src(&w->x, d.addr);
    const uint64_t offset = (uint64_t)d.offset, first = row_u64(row, lane_first(mask)) + offset,
                   last = row_u64(row, lane_last(mask)) + offset;
    __builtin_prefetch((const void *)first);
    __builtin_prefetch((const void *)last);
    if (last - first < 2 * HOST_LINE) return;
    FOR_LANES (l, mask) __builtin_prefetch((const void *)(row_u64(row, l) + offset));
}

/* ---- what an instruction accesses ---- */
/* Is the address in memory of the program, and not in a controller's window? */
static bool is_memory(const struct emu_device *d, uint64_t address)
{
    const struct space_alloc *a = space_find(d->space, address);
    return a && a->kind != SPACE_WINDOW;
}

/* Lanes of cp.async that copy nothing read nothing; prefetches of an address outside of memory do nothing. */
static bool lane_reads(struct warp *w, const struct isa_inst *i, uint32_t lane, enum isa_space space,
                       uint64_t address)
{
    if (i->op == ISA_OP_CPASYNC) return i->src[2] == ISA_NONE || exec_src(&w->x, i->src[2])[lane];
    if (i->op == ISA_OP_PREFETCH) return space == ISA_GLOBAL && is_memory(w->run->device, address);
    return true;
}

/* All lanes are in one space that is known beforehand, and all of mask access it. */
static bool is_plain(const struct isa_inst *i, const struct access_desc *d)
{
    return d->space != ISA_GENERIC && d->space != ISA_PARAM && i->op != ISA_OP_CPASYNC &&
           i->op != ISA_OP_PREFETCH;
}

/* Lanes outside of mask get an address too, which is not used: without a test for each lane this is vector
 * code. */
static void record_plain(const uint32_t *row, const struct access_desc *d, struct emu_access *out)
{
    uint64_t offset = (uint64_t)d->offset;
#pragma GCC unroll 1
    for (uint32_t l = 0; l < ISA_LANES; l++) out->addr[l] = (d->is_32 ? row[l] : row_u64(row, l)) + offset;
    out->space = d->space;
    if (d->space == ISA_SHARED) out->shared_lanes = out->mask;
    if (d->space == ISA_LOCAL) out->local_lanes = out->mask;
}

static uint32_t record_lanes(struct warp *w, const struct isa_inst *i, const struct access_desc *d,
                             struct emu_access *out)
{
    const uint32_t *row = exec_src(&w->x, d->addr);
    uint32_t reads = 0;
    FOR_LANES (l, out->mask) {
        uint64_t address = (d->is_32 ? row[l] : row_u64(row, l)) + (uint64_t)d->offset;
        enum isa_space space = memory_resolve(w->run, d->space, &address);
        if (!lane_reads(w, i, l, space, address)) continue;
        if (!reads) out->space = (uint8_t)space;
        reads |= 1u << l;
        if (space == ISA_SHARED) out->shared_lanes |= 1u << l;
        if (space == ISA_LOCAL) out->local_lanes |= 1u << l;
        out->addr[l] = address;
    }
    return reads;
}

static void record(struct warp *w, const struct isa_inst *i, const struct access_desc *d,
                   struct emu_access *out)
{
    uint16_t flags = isa_ops[i->op].flags;
    if (is_plain(i, d))
        record_plain(exec_src(&w->x, d->addr), d, out);
    else
        out->mask = record_lanes(w, i, d, out);
    out->bytes = (uint8_t)d->bytes;
    out->is_store = flags & ISA_STORE;
    out->is_atomic = flags & (ISA_ATOMIC | ISA_MBARRIER); /* an mbarrier is changed as by a shared atomic */
    out->is_prefetch = i->op == ISA_OP_PREFETCH;
}

COLD static void record_texture(const struct warp *w, const struct isa_inst *i, struct emu_access *out)
{
    uint64_t handle = row_u64(exec_src(&w->x, i->src[0]), lane_first(out->mask));
    const struct emu_texture *t = emu_texture_get(w->run->device, handle);
    out->space = ISA_GLOBAL;
    out->is_texture = true;
    out->bytes = t ? (uint8_t)(t->channel_bits / 8u * t->channels) : 0;
    FOR_LANES (l, out->mask) out->addr[l] = t ? t->address : 0;
}

COLD static void record_bulk(const struct warp *w, const struct isa_inst *i, struct emu_access *out)
{
    const uint32_t *address = exec_src(&w->x, i->src[1]), *bytes = exec_src(&w->x, i->src[2]);
    out->space = ISA_GLOBAL;
    out->is_bulk = true;
    out->is_store = i->op == ISA_OP_CPBULK_STORE;
    FOR_LANES (l, out->mask) {
        out->addr[l] = row_u64(address, l);
        out->bulk_bytes[l] = bytes[l];
    }
}

COLD static void record_surface(const struct warp *w, const struct isa_inst *i, struct emu_access *out)
{
    uint32_t first = lane_first(out->mask); /* assumes texels of one size in the surfaces of all lanes */
    out->mask = surface_lanes(w, i, out->mask, out->addr);
    out->space = ISA_GLOBAL;
    out->bytes = (uint8_t)surface_bytes(w, i, first);
    out->is_store = surface_is_store(i);
}

COLD static void first_texels(struct emu_access *out)
{
    FOR_LANES (l, out->mask)
        if (out->texels.count[l]) out->addr[l] = out->texels.addr[l][0];
}

COLD static uint32_t longest_sleep(const struct warp *w, const struct isa_inst *i, uint32_t mask)
{
    const uint32_t *ns = exec_src(&w->x, i->src[0]);
    uint32_t longest = 0;
    FOR_LANES (l, mask) longest = MAX(longest, ns[l]);
    return longest;
}

/* ---- a step ---- */

/* Other threads may read memory once this has been executed. */
static bool orders_memory(const struct isa_inst *i)
{
    return isa_ops[i->op].flags & ISA_BARRIER || i->op == ISA_OP_MEMBAR || i->op == ISA_OP_WARPSYNC ||
           i->op == ISA_OP_FREE || i->op == ISA_OP_TEX || isa_ops[i->op].flags & ISA_MBARRIER ||
           memory_is_bulk(i);
}

static void keep_order(struct warp *w, const struct isa_inst *i, bool defers, const struct emu_access *out)
{
    if (orders_memory(i))
        deferred_settle(w);
    else if (out->space != ISA_GENERIC && !defers)
        deferred_settle_bytes(w, out->mask & ~(out->shared_lanes | out->local_lanes), out->addr, out->bytes);
}

HOT static void settle_warp(struct cta *c, struct warp *w)
{
    uint64_t bit = 1ull << w->index;
    if (warp_settle(w))
        c->warps_ready |= bit;
    else
        c->warps_ready &= ~bit;
    if (!w->live) c->warps_done |= bit;
}

static void settle_woken(struct cta *c)
{
    for (uint64_t rest = c->warps_ready; rest; rest &= rest - 1) {
        struct warp *w = &c->warps[__builtin_ctzll(rest)];
        if (!w->leaf) settle_warp(c, w);
    }
}

/* Lets lanes that wait for reconvergence continue alone. False: the CTA is in deadlock. */
COLD static bool let_go(struct cta *c)
{
    c->yields = 0;
    c->insts_since_yield = 0;
    while (cta_release_waiting(c)) { /* released lanes may only have reached the next reconvergence point */
        settle_woken(c);
        if (c->warps_ready) break;
    }
    if (c->warps_ready || !c->live_threads) return true;
    fault_deadlock(c);
    return false;
}

/* Reconvergence is given up where the CTA makes no progress otherwise (docs/divergence.md). */
static bool keep_going(struct cta *c)
{
    bool stuck = !c->warps_ready && c->live_threads;
    if (LIKELY(!stuck && c->yields < YIELDS_RELEASE * c->warp_count && c->insts_since_yield < RELEASE_INSTS))
        return true;
    return let_go(c);
}

/* The lanes of a warp after an instruction, whose turn may be over. False: a fault. */
static bool after_step(struct warp *w, bool yields)
{
    struct cta *c = w->cta;
    c->yields += yields;
    c->insts_since_yield++;
    return keep_going(c) && !cta_past_limit(c, w);
}

static bool wakes_others(const struct isa_inst *i)
{
    return isa_ops[i->op].flags & ISA_BARRIER || i->op == ISA_OP_EXIT || i->op == ISA_OP_RET;
}

static void do_later(struct exec *x, const struct isa_inst *i, uint32_t mask) {}

/* A load whose value is what memory holds when the timing model applies it. */
static bool is_late_load(const struct run *r, const struct isa_inst *i, const struct emu_access *out)
{
    return UNLIKELY(r->launch->privileged) && i->op == ISA_OP_LD_32 && i->flags & ISA_VOLATILE &&
           out->space == ISA_GLOBAL && out->mask;
}

/* Executes an instruction with effects beyond its destination registers. */
static bool step_other(struct warp *w, bool defer_atomics, const struct isa_inst *i, struct emu_access *out)
{
    struct run *r = w->run;
    const uint32_t mask = out->mask;
    struct access_desc d;
    exec_fn *fn = r->table[i->op];
    if (mask && memory_describe(i, &d)) record(w, i, &d, out);
    if (mask && i->op == ISA_OP_TEX) record_texture(w, i, out);
    if (mask && memory_is_bulk(i)) record_bulk(w, i, out);
    if (mask && surface_is_access(i)) record_surface(w, i, out);
    if (i->op == ISA_OP_NANOSLEEP) out->sleep_ns = longest_sleep(w, i, mask);
    if (i->op == ISA_OP_IMOV_32) out->indirect = (uint8_t)(i->src[1] + exec_array_index(&w->x, i, mask));
    out->is_late = defer_atomics && is_late_load(r, i, out);
    bool defers = out->is_late || (out->is_atomic && defer_atomics && out->mask & ~out->shared_lanes &&
                                   isa_ops[i->op].flags & ISA_ATOMIC);
    if (w->deferred_first && mask) keep_order(w, i, defers, out);
    if (defers) {
        fn = deferred_op;
        w->share->deferred->last = 0;
    } else if (mask && w->share->log && late_op(w->share->log, w, i, mask)) {
        fn = do_later;
    }
    w->texels = out->is_texture ? &out->texels : NULL;
    w->defers_arrivals = defer_atomics;
    const uint32_t arrivals = w->arrivals.len;
    bool yields = warp_execute(w, i, mask, fn);
    if (w->event == EVENT_FAULT) return false;
    out->arrives = w->arrivals.len > arrivals;
    if (out->is_texture) first_texels(out);
    if (defers) {
        const struct deferred_pool *p = w->share->deferred;
        out->deferred = p->last != 0;
        out->atomic_record = p->last ? p->share | p->last : 0;
    }
    settle_warp(w->cta, w);
    if (wakes_others(i)) settle_woken(w->cta);
    return after_step(w, yields);
}

bool emu_warp_step(struct warp *w, bool defer_atomics, struct emu_access *out)
{
    debug_assert(w->leaf);
    out->pc = w->leaf->pc;
    const struct isa_inst *i = out->inst = warp_fetch(w, &out->mask);
    out->space = ISA_GENERIC;
    out->is_store = out->is_atomic = out->is_texture = out->is_prefetch = out->deferred = false;
    out->is_bulk = out->is_late = out->arrives = false;
    out->bytes = out->indirect = 0;
    out->shared_lanes = out->local_lanes = out->atomic_record = out->sleep_ns = 0;
    if (!isa_is_arithmetic(i->op)) return step_other(w, defer_atomics, i, out);
    const bool yields = warp_execute(w, i, out->mask, w->run->table[i->op]);
    if (w->event == EVENT_FAULT) return false;
    settle_warp(w->cta, w);
    return after_step(w, yields);
}

static struct deferred_pool *pool_of(struct emu_grid *g, uint32_t record_number)
{
    return g->logs ? g->run.shares[record_number >> SHARE_SHIFT]->deferred : &g->deferred;
}

void emu_atomic_apply(struct emu_grid *g, uint32_t record_number, uint32_t lanes)
{
    deferred_apply(pool_of(g, record_number), record_number & RECORD_MASK, lanes);
}

void emu_atomic_log(struct emu_grid *g, uint32_t record_number, uint32_t lanes)
{
    if (!g->logs)
        emu_atomic_apply(g, record_number, lanes);
    else
        late_atomic(g->logs[record_number >> SHARE_SHIFT], LATE_APPLY, pool_of(g, record_number),
                    record_number & RECORD_MASK, lanes);
}
