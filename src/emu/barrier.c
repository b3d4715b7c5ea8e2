/* barrier.c: the sixteen barriers of a CTA: bar.sync, bar.arrive, bar.red, by thread.
 *
 * PTX ISA, "bar, barrier": a barrier completes when the expected number of threads have arrived; without a
 * count all threads of the CTA are expected. Since sm_70 each thread arrives for itself. Threads that have
 * ended are not waited for; in a barrier with a count, which is in whole warps, the ended or missing lanes of
 * a warp that takes part count as arrived. (1) barrier.arrivals is the number of live lanes in
 * barrier.arrived. (2) A barrier that completes is clear again before anyone that waited at it runs. (3)
 * leaf.pc of a waiting leaf is its barrier instruction. */
#include "emu/fault.h"
#include "emu/ops.h"
#include "emu/races.h"

static uint32_t dead_lanes(const struct warp *w) { return ~w->live; }

static uint32_t cta_threads_rounded(const struct cta *c) { return c->warp_count * ISA_LANES; }

/* Arrived threads of a barrier with a count: with the dead lanes of the warps that take part. */
static uint32_t counted(const struct cta *c, const struct barrier *b)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->warp_count; k++)
        if (b->warps >> k & 1) n += lanes_count(b->arrived[k] | dead_lanes(&c->warps[k]));
    return n;
}

void barrier_count(const struct cta *c, uint32_t number, uint32_t *arrived, uint32_t *expected)
{
    const struct barrier *b = &c->barriers[number];
    *arrived = b->expected ? counted(c, b) : b->arrivals;
    *expected = b->expected ? b->expected : c->live_threads;
}

static bool is_complete(const struct cta *c, const struct barrier *b)
{
    return b->expected ? counted(c, b) >= b->expected : b->arrivals >= c->live_threads;
}

static void write_result(struct warp *w, const struct leaf *leaf, const struct barrier *b)
{
    const struct isa_inst *i = &w->run->insts[leaf->pc];
    if (i->op == ISA_OP_BAR_RED_POPC && i->dst[0] != ISA_NONE) {
        uint32_t *dst = exec_dst(&w->x, i->dst[0]);
        FOR_LANES (l, leaf->mask) dst[l] = b->votes_true;
    }
    if (i->op == ISA_OP_BAR_RED_P) {
        bool value = i->mod2 == ISA_ATOM_AND ? b->votes_true == b->votes : b->votes_true != 0;
        exec_set_pred(&w->x, i->dst[0], value ? UINT32_MAX : 0, leaf->mask);
    }
}

static void complete(struct cta *c, uint32_t number)
{
    struct barrier *b = &c->barriers[number];
    uint64_t woken = 0;
    for (uint32_t k = 0; k < c->warp_count; k++) {
        if (!(b->warps >> k & 1)) continue;
        struct warp *w = &c->warps[k];
        b->arrived[k] = 0;
        FOR_LANES (slot, w->leaf_used) {
            struct leaf *leaf = &w->leaves[slot];
            if (leaf->state != LEAF_AT_BARRIER || leaf->barrier != number) continue;
            write_result(w, leaf, b);
            diverge_wake(w, leaf, leaf->pc + 1);
            woken |= 1ull << k;
        }
    }
    c->warps_ready |= woken;
    if (c->races) races_complete(c, number, woken);
    b->warps = 0;
    b->arrivals = b->votes = b->votes_true = 0;
    c->barriers_used &= ~(1u << number);
}

void barrier_exit(struct warp *w, uint32_t mask)
{
    struct cta *c = w->cta;
    FOR_LANES (number, c->barriers_used) {
        struct barrier *b = &c->barriers[number];
        b->arrivals -= lanes_count(b->arrived[w->index] & mask);
        if (is_complete(c, b)) complete(c, number);
    }
}

/* ---- the instructions ---- */

struct request {
    uint32_t number, expected;
    bool has_count;
};

/* Splits off lanes that name other barriers than the first lane: they execute later. False: some were split
 * off. */
static bool agree(struct warp *w, const struct isa_inst *i, uint32_t mask)
{
    const bool has_count = i->src[1] != ISA_NONE;
    if (isa_is_const(i->src[0]) && (!has_count || isa_is_const(i->src[1]))) return true;
    const uint32_t *number = exec_src(&w->x, i->src[0]);
    const uint32_t *count = has_count ? exec_src(&w->x, i->src[1]) : NULL;
    uint32_t first = lane_first(mask), same = 0;
    FOR_LANES (l, mask)
        if (number[l] == number[first] && (!count || count[l] == count[first])) same |= 1u << l;
    if (same == mask) return true;
    struct leaf *leaf = w->leaf;
    struct part parts[3] = {{leaf->pc, same, leaf->depth}, {leaf->pc, mask & ~same, leaf->depth}};
    uint32_t n = 2;
    if (leaf->mask & ~mask) parts[n++] = (struct part){leaf->pc + 1, leaf->mask & ~mask, leaf->depth};
    diverge_split(w, parts, n, leaf->pc + 1, leaf->depth);
    return false;
}

static bool check(struct warp *w, const struct isa_inst *i, uint32_t lane, const struct request *q)
{
    const struct cta *c = w->cta;
    const char *name = isa_ops[i->op].name;
    if (q->number >= BARRIERS) {
        fault_raise(w, lane, EMU_BAD_BARRIER, "%s on barrier %u: a CTA has barriers 0 to 15", name,
                    q->number);
        return false;
    }
    if (q->has_count && (!q->expected || q->expected % ISA_LANES)) {
        fault_raise(w, lane, EMU_BAD_BARRIER, "%s on barrier %u with %u threads: must be a multiple of 32",
                    name, q->number, q->expected);
        return false;
    }
    if (q->has_count && q->expected > cta_threads_rounded(c)) {
        fault_raise(w, lane, EMU_BAD_BARRIER, "%s on barrier %u with %u threads, but the CTA has only %u",
                    name, q->number, q->expected, c->run->threads);
        return false;
    }
    return true;
}

/* A count of all threads of the CTA and no count mean the same. */
static uint32_t normal_count(const struct cta *c, const struct request *q)
{
    return !q->has_count || q->expected == cta_threads_rounded(c) ? 0 : q->expected;
}

/* The lanes of mask arrive; false: a fault. */
static bool arrive(struct warp *w, const struct isa_inst *i, uint32_t mask, uint32_t *number)
{
    struct cta *c = w->cta;
    uint32_t lane = lane_first(mask);
    struct request q = {.number = exec_src(&w->x, i->src[0])[lane], .has_count = i->src[1] != ISA_NONE};
    if (q.has_count) q.expected = exec_src(&w->x, i->src[1])[lane];
    if (!check(w, i, lane, &q)) return false;
    struct barrier *b = &c->barriers[q.number];
    uint32_t expected = normal_count(c, &q);
    if (!(c->barriers_used >> q.number & 1)) {
        b->expected = expected;
        c->barriers_used |= 1u << q.number;
    } else if (b->expected != expected) {
        uint32_t all = cta_threads_rounded(c);
        fault_raise(w, lane, EMU_BAD_BARRIER,
                    "%s on barrier %u with %u threads, while others wait there for %u", isa_ops[i->op].name,
                    q.number, expected ? expected : all, b->expected ? b->expected : all);
        return false;
    }
    if (b->arrived[w->index] & mask) {
        fault_raise(w, lane_first(b->arrived[w->index] & mask), EMU_BAD_BARRIER,
                    "%s on barrier %u by a thread that has arrived there already and not been let go",
                    isa_ops[i->op].name, q.number);
        return false;
    }
    b->arrived[w->index] |= mask;
    b->arrivals += lanes_count(mask);
    b->warps |= 1ull << w->index;
    if (c->races) races_arrive(w, q.number);
    *number = q.number;
    return true;
}

static void op_bar_arrive(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct warp *w = x->warp;
    uint32_t number;
    if (!agree(w, i, mask) || !arrive(w, i, mask, &number)) return;
    if (is_complete(w->cta, &w->cta->barriers[number])) complete(w->cta, number);
}

static void op_bar_wait(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct warp *w = x->warp;
    uint32_t number;
    if (!agree(w, i, mask) || !arrive(w, i, mask, &number)) return;
    struct barrier *b = &w->cta->barriers[number];
    if (i->op == ISA_OP_BAR_RED_P || i->op == ISA_OP_BAR_RED_POPC) {
        b->votes += lanes_count(mask);
        b->votes_true += lanes_count(exec_pred(x, i->src[2]) & mask);
    }
    struct leaf *leaf = w->leaf;
    if (leaf->mask & ~mask) { /* lanes whose guard is false wait behind the barrier */
        const struct part parts[2] = {{leaf->pc, mask, leaf->depth},
                                      {leaf->pc + 1, leaf->mask & ~mask, leaf->depth}};
        diverge_split(w, parts, 2, leaf->pc + 1, leaf->depth);
    }
    w->leaf->barrier = (uint8_t)number;
    diverge_block(w, LEAF_AT_BARRIER);
    if (is_complete(w->cta, b)) complete(w->cta, number);
}

/* Memory operations take effect in order and at once: fences have nothing to do. */
static void op_fence(struct exec *x, const struct isa_inst *i, uint32_t mask) {}

static void op_nanosleep(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct warp *w = x->warp;
    /* The number of rounds of a waiting loop for which one sleep counts. */
    enum { SLEEP_SPINS = 8 };
    w->leaf->patience.spins += SLEEP_SPINS;
    w->leaf->pc++;
    warp_raise(w, EVENT_YIELD);
}

void ops_barrier(exec_fn **table)
{
    table[ISA_OP_BAR_SYNC] = op_bar_wait;
    table[ISA_OP_BAR_RED_P] = op_bar_wait;
    table[ISA_OP_BAR_RED_POPC] = op_bar_wait;
    table[ISA_OP_BAR_ARRIVE] = op_bar_arrive;
    table[ISA_OP_MEMBAR] = op_fence;
    table[ISA_OP_CPASYNC_WAIT] = op_fence;
    table[ISA_OP_NANOSLEEP] = op_nanosleep;
}
