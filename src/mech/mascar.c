/* mascar.c: MASCAR, memory-aware scheduling and cache access re-execution (Sethia, Jamshidi, Mahlke,
 * HPCA'15).
 *
 * Saturation (section 4.1). The memory system is *saturated* while the MSHRs or the miss queue of the L1 are
 * within `margin` entries of full; none in use is never saturated.
 *
 * EP, equal priority: while it is not saturated, warps whose next instruction is to memory come first, so
 * that requests start early. MP, memory access priority: while it is saturated, one warp, the *owner*, may
 * miss. It soon has all of its data and can compute, whereas with all warps loading each would lack some.
 * Warps whose next instruction is arithmetic come first, then the owner, then the others: their loads may
 * hit. The owner keeps its right until its next instruction needs one of its own loads, and all of its loads
 * have been taken by the L1; also until it waits at a barrier or ends. Then the head of the re-execution
 * queue becomes the owner; without one, the next warp whose load misses.
 *
 * Cache access re-execution (section 4.2). A load that may not miss, or that the L1 cannot take, leaves the
 * load-store unit for a queue of 32 instructions, one of a warp at most; a hit behind it goes on. The host
 * has the queue (reexec_queue): it offers its head again when the load-store unit has nothing else, or when
 * the queue is full.
 *
 * (1) In MP no load of another warp than the owner misses, but for those that were allowed before. (2) There
 * is no deadlock: when nobody may miss, the misses under way come back and saturation ends. (3) What a warp
 * that has ended left in the queue is let go as the head of the queue, but does not own anything.
 *
 * Open in the paper, chosen here: the margin (1); the order inside each class (round robin; `oldest` is the
 * other). Stores and atomics are not held back. Left out: loads refused in an L1 with a tag pipeline
 * (l1.tag_latency) wait in it. */
#include "mech/cost.h"
#include "mech/warps.h"

enum mascar_order { MASCAR_LRR, MASCAR_OLDEST };
static const char *const mascar_orders[] = {"lrr", "oldest", NULL};

struct mascar_params {
    uint32_t entries, margin, order;
};

/* A warp of the SM, by slot. */
struct mascar_warp {
    bool is_here;
    /* lines of its loads that the L1 has not taken */
    uint32_t lines_left;
    /* the instruction that was sent back (NACK) and not taken since; 0 = none */
    uint64_t nacked;
};

struct mascar {
    const struct mascar_params *params;
    const struct mech_ports *ports;
    bool is_saturated;
    /* MECH_NO_WARP: nobody may miss */
    int owner;
    struct mascar_warp warps[MECH_WARPS_MAX];
    uint32_t nacked_count;
    uint64_t saturated_since;
    uint64_t saturations, saturated_cycles, owners, nacks, retries, hits_under_miss, memory_first,
        compute_first;
};

static const struct param_row mascar_params[] = {
    PARAM_NUMBER(mascar_params, entries, "mascar.entries", "instructions", "32", 1, MECH_WARPS_MAX,
                 "re-execution queue"),
    PARAM_NUMBER(mascar_params, margin, "mascar.margin", "entries", "1", 0, 1024,
                 "saturated: MSHRs or miss queue have at most this many entries free"),
    PARAM_CHOICE(mascar_params, order, "mascar.order", "lrr", mascar_orders,
                 "which of the warps with the same priority issues: lrr = they take turns, oldest"),
    {0},
};

#define COUNT(field, unit, help) STAT_COUNT(mascar, field, "mascar." #field, unit, help, NULL)
static const struct stat_row mascar_stats[] = {
    COUNT(saturations, "times", "times that the memory system became saturated"),
    COUNT(saturated_cycles, "cycles", "cycles of saturation (MP), counted when it ends"),
    COUNT(owners, "warps", "warps that became the owner"),
    COUNT(nacks, "loads", "loads that may not miss and were sent to the re-execution queue"),
    COUNT(retries, "offers", "times that such a load was refused again"),
    COUNT(hits_under_miss, "accesses", "hits of other warps than the owner during saturation"),
    COUNT(memory_first, "picks", "picks of a memory instruction before ready arithmetic (EP)"),
    COUNT(compute_first, "picks", "picks of arithmetic before a ready memory instruction (MP)"),
    {0},
};

static const struct energy_row mascar_energy[] = {
    ENERGY_PJ("mascar.queue", "mascar.nacks", COST_LARGE_TABLE_PJ,
              "load that goes into the re-execution queue"),
    ENERGY_PJ("mascar.offers", "mascar.retries", COST_LARGE_TABLE_PJ, "load that is offered again"),
    {0},
};

/* ---- making ---- */

static void mascar_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    enum { LANES = 32, PC_BITS = 32, REGISTER_BITS = 8 };
    const struct mascar_params *p = params;
    const uint64_t warp = cost_index_bits(m->warps);
    mech_cost_add(c, MECH_EACH_SM, "status", m->warps, 2,
                  "warp status table: its next instruction is to memory, it waits for memory");
    mech_cost_add(c, MECH_EACH_SM, "owner", 1, 1 + warp, "the warp that may miss: valid, warp");
    mech_cost_add(c, MECH_EACH_SM, "queue", p->entries,
                  warp + PC_BITS + REGISTER_BITS + LANES * (1 + COST_ADDRESS_BITS),
                  "re-execution queue: warp, PC, destination, lanes and their addresses");
}

static void mascar_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct mascar *m = state;
    m->params = params;
    m->ports = ports;
    m->owner = MECH_NO_WARP;
    ports->reexec_queue(ports->host, m->params->entries);
}

/* ---- saturation ---- */

static bool mascar_is_almost_full(const struct mascar *m, uint32_t used, uint32_t all)
{
    return used && used + m->params->margin >= all;
}

static void mascar_on_l1_level(void *state, const struct mech_l1_level *e)
{
    struct mascar *m = state;
    const bool is_saturated = mascar_is_almost_full(m, e->mshrs_used, e->mshrs) ||
                              mascar_is_almost_full(m, e->queue_used, e->queue);
    if (is_saturated == m->is_saturated) return;
    m->is_saturated = is_saturated;
    m->owner = MECH_NO_WARP;
    if (is_saturated) {
        m->saturations++;
        m->saturated_since = e->cycle;
    } else {
        m->saturated_cycles += e->cycle - m->saturated_since;
    }
}

/* ---- the pick ---- */

static int mascar_choose(const struct mascar *m, const struct mech_sched_view *view, uint64_t warps)
{
    return m->params->order == MASCAR_OLDEST ? warps_least(warps, view->age) : warps_after(warps, view->last);
}

/* The owner, if it is one of these warps of the scheduler. */
static uint64_t mascar_owner_of(const struct mascar *m, const struct mech_sched_view *view, uint64_t warps)
{
    if (m->owner == MECH_NO_WARP || mech_bank(m->owner) != view->bank) return 0;
    return warps & mech_bit(m->owner);
}

static int mascar_pick(void *state, const struct mech_sched_view *view)
{
    struct mascar *m = state;
    const uint64_t memory = view->ready & view->memory_next, compute = view->ready & ~memory;
    if (!memory || !compute) {
        const uint64_t owner = mascar_owner_of(m, view, memory);
        return mascar_choose(m, view, owner ? owner : view->ready);
    }
    m->memory_first += !m->is_saturated;
    m->compute_first += m->is_saturated;
    return mascar_choose(m, view, m->is_saturated ? compute : memory);
}

/* ---- the owner ---- */

/* Its next instruction needs one of its loads, and the L1 has taken all of them. */
static bool mascar_owner_is_done(const struct mascar *m)
{
    if (m->warps[m->owner].lines_left) return false;
    return m->ports->memory_wait(m->ports->host, mech_bank(m->owner)) & mech_bit(m->owner);
}

static void mascar_own(struct mascar *m, int warp)
{
    m->owner = warp;
    m->owners++;
}

/* Is this load the head of the re-execution queue, or is the queue empty? */
static bool mascar_is_head(const struct mascar *m, const struct mech_l1_access *a)
{
    return !m->nacked_count || m->warps[a->warp].nacked == a->id;
}

static void mascar_nack(struct mascar *m, const struct mech_l1_access *a)
{
    struct mascar_warp *w = &m->warps[a->warp];
    if (w->nacked) {
        m->retries++;
        return;
    }
    w->nacked = a->id;
    m->nacked_count++;
    m->nacks++;
}

static bool mascar_may_miss(void *state, const struct mech_l1_access *a)
{
    struct mascar *m = state;
    if (!m->is_saturated) return true;
    if (m->owner != MECH_NO_WARP && mascar_owner_is_done(m)) m->owner = MECH_NO_WARP;
    if (m->owner == MECH_NO_WARP && mascar_is_head(m, a)) {
        if (!m->warps[a->warp].is_here) return true;
        mascar_own(m, a->warp);
    }
    if (m->owner == a->warp) return true;
    mascar_nack(m, a);
    return false;
}

/* The owner may go on, others may not, until it is done. One that was not refused before may change more. */
static enum mech_hold mascar_holds(void *state, int warp)
{
    const struct mascar *m = state;
    if (!m->is_saturated) return MECH_HOLD_NO;
    if (m->owner == MECH_NO_WARP || mascar_owner_is_done(m)) return MECH_HOLD_UNKNOWN;
    if (m->owner == warp) return MECH_HOLD_NO;
    return m->warps[warp].nacked ? MECH_HOLD_YES : MECH_HOLD_UNKNOWN;
}

/* ---- events ---- */

static void mascar_on_held(void *state, uint64_t offers)
{
    struct mascar *m = state;
    m->retries += offers;
}

static void mascar_on_issue(void *state, const struct mech_issue *e)
{
    struct mascar *m = state;
    if (e->is_load && (e->is_global || e->is_local)) m->warps[e->warp].lines_left += e->l1_lines;
}

static void mascar_on_l1_access(void *state, const struct mech_l1_access *a)
{
    struct mascar *m = state;
    struct mascar_warp *w = &m->warps[a->warp];
    if (a->is_prefetch || a->is_store || a->is_atomic) return;
    if (w->lines_left) w->lines_left--; /* a bulk copy has more than it began with */
    if (w->nacked == a->id) {
        w->nacked = 0;
        m->nacked_count--;
    }
    m->hits_under_miss += m->is_saturated && a->outcome == MECH_L1_HIT && a->warp != m->owner;
}

static void mascar_on_barrier(void *state, const struct mech_barrier *e)
{
    struct mascar *m = state;
    if (m->owner == MECH_NO_WARP || mech_bank(m->owner) != e->bank) return;
    if (e->is_wait && e->warps & mech_bit(m->owner)) m->owner = MECH_NO_WARP;
}

static void mascar_on_warp(void *state, const struct mech_warp_event *e)
{
    struct mascar *m = state;
    struct mascar_warp *w = &m->warps[e->warp];
    if (m->owner == e->warp) m->owner = MECH_NO_WARP;
    w->is_here = e->is_start;
    if (e->is_start) w->lines_left = 0;
}

/* Forgets what a kernel that faulted has left. */
static void mascar_on_kernel(void *state, bool is_start)
{
    struct mascar *m = state;
    if (!is_start) return;
    m->owner = MECH_NO_WARP;
    m->nacked_count = 0;
    for (uint32_t i = 0; i < MECH_WARPS_MAX; i++) m->warps[i] = (struct mascar_warp){0};
}

const struct mechanism mechanism_mascar = {
    .api = HEDDLE_MECHANISM_API,
    .name = "mascar",
    .summary = "memory-aware: one warp may miss while memory is saturated, others hit under it",
    .paper = "Sethia et al., HPCA'15; as compared in APRES, ISCA'16 (section III-C)",
    .params = mascar_params,
    .param_bytes = sizeof(struct mascar_params),
    .stats = mascar_stats,
    .energy = mascar_energy,
    .state_bytes = sizeof(struct mascar),
    .cost = mascar_cost,
    .init = mascar_init,
    .on_kernel = mascar_on_kernel,
    .pick = mascar_pick,
    .may_miss = mascar_may_miss,
    .holds = mascar_holds,
    .on_held = mascar_on_held,
    .on_warp = mascar_on_warp,
    .on_issue = mascar_on_issue,
    .on_barrier = mascar_on_barrier,
    .on_l1_access = mascar_on_l1_access,
    .on_l1_level = mascar_on_l1_level,
};
