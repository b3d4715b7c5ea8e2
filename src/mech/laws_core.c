/* laws_core.c: see laws_core.h. The sections are those of the paper's IV-A: queue, Last Load Table, Warp
 * Group Table, feedback.
 *
 * (1) The pick is the first ready warp of the queue; picking moves nothing. The queue is of the whole SM,
 * also where that has several schedulers: each looks at its own warps. (2) A group holds resident warps
 * alone: a warp that ends leaves the queue, the tables and all groups, and the next warp of its slot starts
 * at the tail with an empty LLPC (with start=slot an ended warp leaves its place to the next one). (3) Each
 * entry of the Warp Group Table is freed by the L1's answer to its load; a load without one takes no entry,
 * and one that bypasses the L1 frees it without moving anything. (4) A group keeps its order when it moves,
 * or has that of the Warp Group Table's bits (order=warp). (5) A load that merges with a miss under way is a
 * miss: so the L1 of GPGPU-Sim 3.2.2 answers it (data_cache::rd_miss_base), and so Table I counts it, where
 * loads that touch 0.58 different lines a reference miss in 0.96 to 1.0. */
#include "mech/laws_core.h"

#include <stdio.h>
#include <string.h>

/* LLPC of a warp without a load so far, and of a slot without a warp; no load has such a PC. */
#define LLPC_EMPTY   UINT32_MAX
#define LLPC_NO_WARP (UINT32_MAX - 1)

const char *const laws_full_names[] = {"none", "replace", NULL};
const char *const laws_empty_names[] = {"match", "alone", NULL};
const char *const laws_answer_names[] = {"first", "all", NULL};
const char *const laws_pending_names[] = {"miss", "hit", NULL};
const char *const laws_order_names[] = {"kept", "warp", NULL};
const char *const laws_hit_moves_names[] = {"group", "others", NULL};
const char *const laws_start_names[] = {"tail", "slot", NULL};
const char *const laws_heads_names[] = {"all", "first", NULL};

void laws_init(struct laws *l, const struct laws_params *params)
{
    l->params = params;
    l->queue.is_by_warp = params->order == LAWS_ORDER_WARP;
    for (int w = 0; w < MECH_WARPS_MAX; w++) l->llpc[w] = LLPC_NO_WARP;
}

/* ---- the scheduling queue ---- */

static void queue_number(struct laws_queue *q)
{
    for (uint32_t i = 0; i < q->count; i++) q->position[q->slots[i]] = i;
}

static bool queue_has(const struct laws_queue *q, int warp)
{
    return q->position[warp] < q->count && q->slots[q->position[warp]] == warp;
}

static void queue_append(struct laws_queue *q, int warp)
{
    mech_assert(q->count < MECH_WARPS_MAX);
    q->position[warp] = q->count;
    q->slots[q->count++] = (uint16_t)warp;
}

/* Takes the warps of the set, which are in the queue, out of it, in the order that they shall have; returns
 * how many they were. */
static uint32_t queue_take(struct laws_queue *q, const struct warp_set *set, uint16_t *taken)
{
    uint32_t n = 0, kept = 0;
    for (uint32_t i = 0; i < q->count; i++) {
        const uint16_t slot = q->slots[i];
        if (warp_set_has(set, slot))
            taken[n++] = slot;
        else
            q->slots[kept++] = slot;
    }
    q->count = kept;
    if (!q->is_by_warp) return n;
    n = 0;
    FOR_WARPS(w, set) taken[n++] = (uint16_t)w;
    return n;
}

static void queue_remove(struct laws_queue *q, int warp)
{
    struct warp_set one = {0};
    uint16_t taken[MECH_WARPS_MAX];
    warp_set_add(&one, warp);
    queue_take(q, &one, taken);
    queue_number(q);
}

static uint32_t queue_to_tail(struct laws_queue *q, const struct warp_set *set)
{
    uint16_t taken[MECH_WARPS_MAX];
    const uint32_t n = queue_take(q, set, taken);
    memcpy(&q->slots[q->count], taken, n * sizeof *taken);
    q->count += n;
    queue_number(q);
    return n;
}

static uint32_t queue_to_head(struct laws_queue *q, const struct warp_set *set)
{
    uint16_t taken[MECH_WARPS_MAX];
    const uint32_t n = queue_take(q, set, taken);
    memmove(&q->slots[n], q->slots, q->count * sizeof *q->slots);
    memcpy(q->slots, taken, n * sizeof *taken);
    q->count += n;
    queue_number(q);
    return n;
}

int laws_pick(void *laws, const struct mech_sched_view *view)
{
    const struct laws *l = laws;
    return warps_least(view->ready, &l->queue.position[view->bank * MECH_BANK_WARPS]);
}

void laws_prioritize(struct laws *l, const struct warp_set *warps)
{
    l->stats.promotions += queue_to_head(&l->queue, warps);
}

void laws_on_warp(void *laws, const struct mech_warp_event *e)
{
    struct laws *l = laws;
    if (e->is_start) {
        l->llpc[e->warp] = LLPC_EMPTY;
        if (!queue_has(&l->queue, e->warp)) queue_append(&l->queue, e->warp);
        return;
    }
    l->llpc[e->warp] = LLPC_NO_WARP;
    if (l->params->start == LAWS_START_TAIL) queue_remove(&l->queue, e->warp);
    for (uint32_t i = 0; i < l->params->wgt; i++) warp_set_remove(&l->wgt[i].warps, e->warp);
}

/* ---- the Last Load Table ---- */

/* The warps that are expected to execute the load that this one issues: those with its LLPC, itself among
 * them. */
static struct warp_set llt_search(const struct laws *l, int warp)
{
    const uint32_t llpc = l->llpc[warp];
    struct warp_set found = {0};
    warp_set_add(&found, warp);
    if (llpc == LLPC_EMPTY && l->params->empty_llpc == LAWS_EMPTY_ALONE) return found;
    for (int w = 0; w < (int)l->params->llt; w++)
        if (l->llpc[w] == llpc) warp_set_add(&found, w);
    return found;
}

/* ---- the Warp Group Table ---- */

/* The entry of a load; with 0, a free one. NULL: there is none. */
static struct laws_group *wgt_find(struct laws *l, uint64_t load)
{
    for (uint32_t i = 0; i < l->params->wgt; i++)
        if (l->wgt[i].load == load) return &l->wgt[i];
    return NULL;
}

/* Ids of loads rise. */
static struct laws_group *wgt_oldest(struct laws *l)
{
    struct laws_group *oldest = &l->wgt[0];
    for (uint32_t i = 1; i < l->params->wgt; i++)
        if (l->wgt[i].load < oldest->load) oldest = &l->wgt[i];
    return oldest;
}

static struct laws_group *wgt_take(struct laws *l)
{
    struct laws_group *g = wgt_find(l, 0);
    if (g) return g;
    l->stats.wgt_overflows++;
    return l->params->wgt_full == LAWS_FULL_REPLACE ? wgt_oldest(l) : NULL;
}

/* Does a group that waits for its answer hold the warp? */
static bool wgt_holds(const struct laws *l, int warp)
{
    for (uint32_t i = 0; i < l->params->wgt; i++)
        if (l->wgt[i].load && warp_set_has(&l->wgt[i].warps, warp)) return true;
    return false;
}

static void wgt_make_group(struct laws *l, const struct mech_issue *e)
{
    if (l->params->heads == LAWS_HEADS_FIRST && wgt_holds(l, e->warp)) return;
    struct laws_group *g = wgt_take(l);
    if (!g) return;
    *g = (struct laws_group){.load = e->id, .warps = llt_search(l, e->warp), .lines_left = e->l1_lines};
    l->stats.groups++;
    l->stats.grouped += warp_set_count(&g->warps);
}

/* The group is found by the LLPC that the warp has before this load. */
void laws_on_issue(void *laws, const struct mech_issue *e)
{
    struct laws *l = laws;
    if (!e->is_load || !e->is_global || e->warp >= (int)l->params->llt) return;
    l->stats.loads++;
    if (e->l1_lines)
        wgt_make_group(l, e);
    else
        l->stats.unanswered++;
    l->llpc[e->warp] = e->pc;
}

/* ---- feedback from the load-store unit ---- */

bool laws_is_hit(const struct laws_params *p, enum mech_l1_outcome outcome)
{
    return outcome == MECH_L1_HIT || (outcome == MECH_L1_PENDING && p->pending == LAWS_PENDING_HIT);
}

static enum laws_feedback laws_judge(const struct laws *l, struct laws_group *g,
                                     const struct mech_l1_access *a)
{
    if (!laws_is_hit(l->params, a->outcome)) return LAWS_MISS;
    if (l->params->answer == LAWS_ANSWER_ALL && --g->lines_left) return LAWS_NO_FEEDBACK;
    return LAWS_HIT;
}

enum laws_feedback laws_take_answer(struct laws *l, const struct mech_l1_access *a, struct warp_set *group)
{
    struct laws_group *g = a->id ? wgt_find(l, a->id) : NULL;
    if (!g) return LAWS_NO_FEEDBACK;
    if (a->outcome == MECH_L1_SENT) {
        l->stats.unanswered++;
        g->load = 0;
        return LAWS_NO_FEEDBACK;
    }
    const enum laws_feedback feedback = laws_judge(l, g, a);
    if (feedback == LAWS_NO_FEEDBACK) return feedback;
    *group = g->warps;
    g->load = 0;
    if (feedback == LAWS_HIT) {
        l->stats.hit_groups++;
        if (l->params->hit_moves == LAWS_HIT_MOVES_OTHERS) warp_set_remove(group, a->warp);
        laws_prioritize(l, group);
    } else {
        l->stats.miss_groups++;
        l->stats.demotions += queue_to_tail(&l->queue, group);
    }
    return feedback;
}

/* ---- check ---- */

void laws_cost(const struct laws_params *p, struct mech_cost *c)
{
    enum { PC = 32 };
    mech_cost_add(c, MECH_EACH_SM, "llt", p->llt, PC, "Last Load Table: PC of each warp's last load");
    mech_cost_add(c, MECH_EACH_SM, "wgt", p->wgt, p->llt, "Warp Group Table: a bit for each warp");
}

enum mech_fit laws_check(const struct laws_params *p, const struct mech_machine *m, const char *name,
                         char *reason)
{
    if (p->llt >= m->warps) return MECH_FITS;
    snprintf(reason, MECH_REASON_BYTES,
             "%s.llt is %u, but an SM has %u warps: those in higher slots are never grouped", name,
             (unsigned)p->llt, (unsigned)m->warps);
    return MECH_FITS_POORLY;
}
