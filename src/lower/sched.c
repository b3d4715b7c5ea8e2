/* sched.c: the order of instructions within a block.
 *
 * PTX has no schedule: its assembler makes one, so that loads go out early and their latency is hidden by
 * independent work, at the price of registers. This is a list scheduler: among the instructions whose
 * operands are ready, the one with the longest path (in cycles) to the end of the block goes first; once
 * as many registers are live as the routine may spend, the one that frees most goes first instead.
 * Invariants. (1) Register dependences hold, guards and half-written (guarded) destinations included. (2)
 * Memory keeps its order wherever two accesses may touch the same bytes and one writes; effects (barriers,
 * atomics, services) keep theirs. (3) Nothing moves across a read of a clock, a barrier, a call or a
 * fence, nor out of its block. Left out: moves between blocks, software pipelining, unrolling. */
#include "lower/liveness.h"
#include "lower/opnd.h"
#include "lower/pass.h"

enum {
    /* instructions that are ordered together */
    REGION_MAX = 320,
    /* cycles, as on Volta and later: Jia et al., "Dissecting the NVIDIA Volta GPU" (2018) */
    LATENCY_ALU = 5,
    LATENCY_SFU = 20,
    LATENCY_WIDE = 8,
    LATENCY_SHARED = 24,
    LATENCY_MEMORY = 200,
    /* registers that a schedule may fill: with 40, 48 warps still fit an SM of 65,536 */
    REGS_TARGET = 40
};

struct node {
    /* chain in edges */
    uint32_t first_succ;
    /* predecessors not yet placed */
    uint32_t waits;
    /* cycle */
    uint32_t ready_at;
    /* cycles to the end of the region, on the longest path */
    uint32_t path;
    bool placed;
};
struct edge {
    uint32_t to, next, latency;
};
struct reader {
    uint32_t node, next;
};

struct sched {
    struct routine *u;
    struct node nodes[REGION_MAX];
    VEC(struct edge) edges;
    /* the region: instructions [first, first + count) */
    uint32_t first, count;
    /* vreg -> node + 1 of its last writer in the region */
    uint32_t *last_def;
    /* vreg -> chain of readers since then */
    uint32_t *readers_head;
    VEC(struct reader) readers;
    /* vregs to reset behind the region */
    uint32_t *touched, touched_count;
    /* vreg -> reads still to be placed in the region */
    uint32_t *uses_left;
    /* vreg is live behind the region */
    bool *lives_on;
    /* vreg is live at the current point of the schedule */
    bool *live;
    uint32_t target;
};

/* ---- what keeps order ---- */

static bool is_fence(const struct mir_inst *in)
{
    if (in->op == MIR_OP_LABEL || opnd_ends_block(in)) return true;
    const struct isa_op_info *row = &isa_ops[in->op];
    if (in->op == ISA_OP_CALL || in->op == ISA_OP_CALLI || row->unit == ISA_UNIT_SYS ||
        row->flags & (ISA_BARRIER | ISA_MBARRIER))
        return true;
    if (row->flags & ISA_SREG) return !opnd_is_pure(in);
    return in->op == ISA_OP_MEMBAR || in->op == ISA_OP_TRAP || in->op == ISA_OP_NANOSLEEP ||
           in->op == ISA_OP_WARPSYNC || in->op == ISA_OP_CPASYNC_COMMIT || in->op == ISA_OP_CPASYNC_WAIT ||
           in->op == ISA_OP_ACTIVEMASK;
}

static bool touches_memory(const struct mir_inst *in)
{
    return isa_ops[in->op].flags & (ISA_LOAD | ISA_STORE | ISA_ATOMIC) && in->op != ISA_OP_TEX;
}

static bool writes_memory(const struct mir_inst *in)
{
    return isa_ops[in->op].flags & (ISA_STORE | ISA_ATOMIC) || in->op == ISA_OP_CPASYNC ||
           in->flags & ISA_VOLATILE;
}

static bool reads_only_fixed(const struct mir_inst *in)
{
    return opnd_is_load(in) && (in->mod == ISA_CONST || in->mod == ISA_PARAM || in->flags & ISA_NC);
}

/* True when two accesses surely share no byte. */
static bool are_apart(const struct mir_inst *a, const struct mir_inst *b)
{
    if (reads_only_fixed(a) || reads_only_fixed(b)) return true;
    /* Volatile, acquire, release: other threads see the order, so it stays, whatever the addresses. */
    if ((a->flags | b->flags) & ISA_VOLATILE) return false;
    uint32_t na = opnd_access_bytes(a), nb = opnd_access_bytes(b);
    if (!na || !nb) return false;
    if (a->mod != b->mod && a->mod != ISA_GENERIC && b->mod != ISA_GENERIC) return true;
    const struct mir_opnd *x = &a->src[0], *y = &b->src[0];
    if (a->mod != b->mod || x->kind != y->kind || x->v != y->v) {
        bool slots = x->kind == MIR_SLOT && y->kind == MIR_SLOT && a->mod == ISA_LOCAL && b->mod == ISA_LOCAL;
        return slots && x->v != y->v;
    }
    uint64_t from_a = (uint64_t)a->imm, from_b = (uint64_t)b->imm;
    if (x->kind == MIR_PARAM ||
        x->kind == MIR_ENV) { /* the operand's number is an index into a table, not an address */
        if (x->imm != y->imm) return false;
    } else if (x->kind != MIR_VREG) { /* for equal vregs base_changes checks writes in between */
        from_a += (uint64_t)x->imm;
        from_b += (uint64_t)y->imm;
    }
    uint64_t forth = from_b - from_a, back = from_a - from_b; /* addresses go around */
    if ((a->flags | b->flags) & ISA_A32) forth = (uint32_t)forth, back = (uint32_t)back;
    return forth >= (uint64_t)na * MAX(a->vec, 1) && back >= (uint64_t)nb * MAX(b->vec, 1);
}

static uint32_t latency(const struct mir_inst *in)
{
    const struct isa_op_info *row = &isa_ops[in->op];
    if (row->flags & ISA_LOAD || row->flags & ISA_ATOMIC)
        return in->mod == ISA_SHARED && in->op != ISA_OP_TEX ? LATENCY_SHARED : LATENCY_MEMORY;
    if (row->unit == ISA_UNIT_SFU || row->flags & (ISA_SLOW | ISA_SREG) || row->unit == ISA_UNIT_SYNC)
        return LATENCY_SFU;
    if (row->unit == ISA_UNIT_FP64 || row->unit == ISA_UNIT_CVT) return LATENCY_WIDE;
    return LATENCY_ALU;
}

/* ---- the graph of a region ---- */

static struct mir_inst *inst_at(const struct sched *s, uint32_t n)
{
    return &s->u->mir.insts.data[s->first + n];
}

static void add_edge(struct sched *s, uint32_t from, uint32_t to, uint32_t cycles)
{
    if (from == to) return;
    vec_push(&s->edges, (struct edge){to, s->nodes[from].first_succ, cycles});
    s->nodes[from].first_succ = s->edges.len - 1;
    s->nodes[to].waits++;
}

static void touch(struct sched *s, uint32_t v)
{
    if (s->last_def[v] || s->readers_head[v] != CFG_NONE || s->uses_left[v]) return;
    s->touched[s->touched_count++] = v;
}

static void note_read(struct sched *s, uint32_t n, uint32_t v)
{
    touch(s, v);
    if (s->last_def[v]) add_edge(s, s->last_def[v] - 1, n, latency(inst_at(s, s->last_def[v] - 1)));
    vec_push(&s->readers, (struct reader){n, s->readers_head[v]});
    s->readers_head[v] = s->readers.len - 1;
    s->uses_left[v]++;
}

static void note_write(struct sched *s, uint32_t n, uint32_t v)
{
    touch(s, v);
    if (s->last_def[v]) add_edge(s, s->last_def[v] - 1, n, 1);
    for (uint32_t r = s->readers_head[v]; r != CFG_NONE; r = s->readers.data[r].next)
        add_edge(s, s->readers.data[r].node, n, 0);
    s->readers_head[v] = CFG_NONE;
    s->last_def[v] = n + 1;
}

/* True when the address base of `a` is written at node `from` or later: then equal bases are not equal
 * addresses. The writes of the node under work are not recorded yet. */
static bool base_changes(const struct sched *s, const struct mir_inst *a, uint32_t from)
{
    return a->src[0].kind == MIR_VREG && s->last_def[a->src[0].v] > from;
}

static void note_memory(struct sched *s, uint32_t n)
{
    const struct mir_inst *in = inst_at(s, n);
    bool effect = opnd_has_effect(in) && !opnd_access_bytes(in);
    bool memory = touches_memory(in);
    if (!memory && !effect) return;
    for (uint32_t p = 0; p < n; p++) {
        const struct mir_inst *before = inst_at(s, p);
        bool both_effects = effect && opnd_has_effect(before) && !opnd_access_bytes(before);
        bool conflict = memory && touches_memory(before) && (writes_memory(in) || writes_memory(before)) &&
                        (!are_apart(before, in) || base_changes(s, before, p));
        if (both_effects || conflict) add_edge(s, p, n, 1);
    }
}

static void build_graph(struct sched *s)
{
    s->edges.len = 0;
    s->readers.len = 0;
    for (uint32_t n = 0; n < s->count; n++) s->nodes[n] = (struct node){.first_succ = CFG_NONE};
    for (uint32_t n = 0; n < s->count; n++) {
        const struct mir_inst *in = inst_at(s, n);
        uint32_t uses[OPND_USES_MAX], defs[ISA_DST_MAX], nu = opnd_uses(in, uses), nd = opnd_defs(in, defs);
        for (uint32_t k = 0; k < nu; k++) note_read(s, n, uses[k]);
        note_memory(s, n);
        for (uint32_t k = 0; k < nd; k++) note_write(s, n, defs[k]);
    }
    for (uint32_t n = s->count; n-- > 0;) { /* edges go forward, so one walk back is enough */
        uint32_t own = latency(inst_at(s, n)) / 8 + 1;
        s->nodes[n].path = own;
        for (uint32_t e = s->nodes[n].first_succ; e != CFG_NONE; e = s->edges.data[e].next)
            s->nodes[n].path =
                MAX(s->nodes[n].path, s->nodes[s->edges.data[e].to].path + MAX(s->edges.data[e].latency, 1u));
    }
}

/* ---- pressure ---- */

static uint32_t size_of(const struct sched *s, uint32_t v)
{
    const struct mir_vreg *r = &s->u->mir.vregs.data[v];
    return r->cls == MIR_P || r->in_array ? 0 : r->cls == MIR_D ? 2 : 1; /* an array has its own registers */
}

/* Registers that placing n takes, less those that it frees. */
static int32_t pressure_step(const struct sched *s, uint32_t n)
{
    const struct mir_inst *in = inst_at(s, n);
    uint32_t uses[OPND_USES_MAX], defs[ISA_DST_MAX], nu = opnd_uses(in, uses), nd = opnd_defs(in, defs);
    int32_t step = 0;
    for (uint32_t k = 0; k < nd; k++)
        if (!s->live[defs[k]]) step += (int32_t)size_of(s, defs[k]);
    for (uint32_t k = 0; k < nu; k++) {
        uint32_t times = 0;
        for (uint32_t i = 0; i < nu; i++) times += uses[i] == uses[k];
        bool repeated = false;
        for (uint32_t i = 0; i < k; i++) repeated |= uses[i] == uses[k];
        if (!repeated && !s->lives_on[uses[k]] && s->uses_left[uses[k]] == times)
            step -= (int32_t)size_of(s, uses[k]);
    }
    return step;
}

static void place(struct sched *s, uint32_t n, uint32_t cycle, int32_t *pressure)
{
    const struct mir_inst *in = inst_at(s, n);
    uint32_t uses[OPND_USES_MAX], defs[ISA_DST_MAX], nu = opnd_uses(in, uses), nd = opnd_defs(in, defs);
    *pressure += pressure_step(s, n);
    s->nodes[n].placed = true;
    for (uint32_t k = 0; k < nu; k++) assert(s->uses_left[uses[k]]);
    for (uint32_t k = 0; k < nu; k++)
        if (--s->uses_left[uses[k]] == 0 && !s->lives_on[uses[k]]) s->live[uses[k]] = false;
    for (uint32_t k = 0; k < nd; k++) s->live[defs[k]] = true;
    for (uint32_t e = s->nodes[n].first_succ; e != CFG_NONE; e = s->edges.data[e].next) {
        struct node *to = &s->nodes[s->edges.data[e].to];
        assert(to->waits && !to->placed);
        to->waits--;
        to->ready_at = MAX(to->ready_at, cycle + s->edges.data[e].latency);
    }
}

/* ---- the choice ---- */

static uint32_t pick(const struct sched *s, uint32_t cycle, int32_t pressure)
{
    uint32_t best = CFG_NONE;
    bool tight = pressure >= (int32_t)s->target;
    int32_t best_step = 0;
    for (uint32_t n = 0; n < s->count; n++) {
        const struct node *c = &s->nodes[n];
        if (c->placed || c->waits) continue;
        if (tight) {
            int32_t step = pressure_step(s, n);
            if (best == CFG_NONE || step < best_step) best = n, best_step = step;
            continue;
        }
        if (best == CFG_NONE) {
            best = n;
            continue;
        }
        const struct node *b = &s->nodes[best];
        bool now = c->ready_at <= cycle, best_now = b->ready_at <= cycle;
        if (now != best_now ? now : now ? c->path > b->path : c->ready_at < b->ready_at) best = n;
    }
    return best;
}

static void schedule_region(struct sched *s, int32_t pressure)
{
    struct mir_inst *order = mem_alloc(sizeof *order * s->count);
    build_graph(s);
    uint32_t cycle = 0;
    for (uint32_t k = 0; k < s->count; k++) {
        uint32_t n = pick(s, cycle, pressure);
        assert(n != CFG_NONE); /* edges go forward, so some node waits for nothing */
        cycle = MAX(cycle, s->nodes[n].ready_at);
        order[k] = *inst_at(s, n);
        place(s, n, cycle, &pressure);
        cycle++;
    }
    memcpy(inst_at(s, 0), order, sizeof *order * s->count);
    free(order);
    for (uint32_t i = 0; i < s->touched_count; i++) {
        uint32_t v = s->touched[i];
        s->last_def[v] = s->uses_left[v] = 0;
        s->readers_head[v] = CFG_NONE;
    }
    s->touched_count = 0;
}

/* ---- blocks ---- */

/* Schedules the regions of a block from its end: the walk knows what is live behind each. */
static void schedule_block(struct sched *s, const struct liveness *lv, struct live_walk *w, uint32_t b)
{
    const struct cfg_block *blk = &lv->cfg->blocks[b];
    struct mir_inst *insts = s->u->mir.insts.data;
    live_walk_restart(w, lv, b);
    for (uint32_t end = blk->end; end > blk->first;) {
        if (is_fence(&insts[end - 1])) {
            live_walk_step(w, &insts[--end]);
            continue;
        }
        uint32_t first = end;
        while (first > blk->first && end - first < REGION_MAX && !is_fence(&insts[first - 1])) first--;
        s->first = first;
        s->count = end - first;
        for (uint32_t k = 0; k < w->count; k++) s->lives_on[w->items[k]] = true;
        uint32_t *behind = mem_alloc(sizeof *behind * (w->count + 1)), behind_count = w->count;
        memcpy(behind, w->items, sizeof *behind * w->count);
        for (uint32_t i = end; i-- > first;) live_walk_step(w, &insts[i]);
        int32_t pressure = 0;
        for (uint32_t k = 0; k < w->count; k++) {
            s->live[w->items[k]] = true;
            pressure += (int32_t)size_of(s, w->items[k]);
        }
        if (s->count > 2) schedule_region(s, pressure);
        for (uint32_t k = 0; k < behind_count; k++) s->lives_on[behind[k]] = false;
        memset(s->live, 0, s->u->mir.vregs.len);
        free(behind);
        end = first;
    }
}

void routine_schedule(struct routine *u, uint32_t regs_limit)
{
    uint32_t n = u->mir.vregs.len + 1;
    struct cfg g;
    struct liveness lv;
    struct live_walk w;
    cfg_build(&u->mir, &g);
    liveness_build(&u->mir, &g, &lv);
    struct sched *s = mem_zalloc(sizeof *s);
    s->u = u;
    s->last_def = mem_zalloc(sizeof *s->last_def * n);
    s->readers_head = mem_alloc(sizeof *s->readers_head * n);
    s->touched = mem_alloc(sizeof *s->touched * n);
    s->uses_left = mem_zalloc(sizeof *s->uses_left * n);
    s->lives_on = mem_zalloc(n);
    s->live = mem_zalloc(n);
    for (uint32_t v = 0; v < n; v++) s->readers_head[v] = CFG_NONE;
    s->target = regs_limit > 8 ? MIN(regs_limit - 6, (uint32_t)REGS_TARGET) : regs_limit;
    live_walk_open(&w, &lv, 0);
    for (uint32_t b = 0; b < g.count; b++) schedule_block(s, &lv, &w, b);
    live_walk_close(&w);
    free(s->last_def);
    free(s->readers_head);
    free(s->touched);
    free(s->uses_left);
    free(s->lives_on);
    free(s->live);
    vec_free(&s->edges);
    vec_free(&s->readers);
    free(s);
    liveness_free(&lv);
    cfg_free(&g);
}
