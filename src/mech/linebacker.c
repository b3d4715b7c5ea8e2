/* linebacker.c: Linebacker (Oh et al., ISCA'19): idle registers keep lines that left the L1, for the loads
 * that find their lines again. Its parts: the Load Monitor (load_monitor.c), the Victim Tag Table (vtt.c),
 * the CTA manager (cta_manager.c); here is what joins them, in the order of the paper.
 *
 * A kernel begins with monitoring (3.2): in windows of 50,000 cycles the monitor counts, load by load, hits
 * in the L1 or in the tag table, which holds tags of all lines that left the L1 and no data; the machine
 * runs as without Linebacker. When two windows agree on the hot loads, the lines that these touched last go
 * into idle rows of the register file when they leave the L1. One CTA is throttled: its registers go to
 * memory, and its rows become idle. In each later window one more is, or one comes back, by how the IPC
 * changed. Parameter `select` off: all lines, from the kernel's first cycle on (the paper's Victim Caching);
 * `throttle` off: rows that no CTA could have (Selective Victim Caching).
 *
 * (1) A line lies in the L1 or in a row, never in both. It is never dirty: stores and atomics drop it. (2) A
 * partition is on while its first row lies above the last row of all CTAs whose registers are here. Beside a
 * mechanism that keeps registers in other rows (FineReg) there are registers above that row and free rows
 * below it: there a partition is on while none of its rows holds registers. (3) A hit takes no line of the
 * L1.
 *
 * Open in the paper, and here: a miss pays the whole search before it goes on to the L2, and one search
 * starts a cycle; a load that merges with a miss counts as a hit; a hit answers after the L1's own latency,
 * the search, and a cycle for its bank, or two where that is taken; a write waits for its bank in a buffer;
 * partitions are compared with the last row (LRN) when a CTA starts, leaves or is back. Local memory and
 * partly filled lines stay out. */
#include "mech/linebacker.h"

static const char *const linebacker_notes[] = {"monitor", "choose", "off", "throttle", "release", NULL};
enum linebacker_note { NOTE_MONITOR, NOTE_CHOOSE, NOTE_OFF, NOTE_THROTTLE, NOTE_RELEASE };

static void linebacker_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct linebacker *l = state;
    l->params = params;
    l->ports = ports;
    vtt_init(&l->vtt, ports, l->params->ways,
             linebacker_partitions(l->params, ports->l1_sets, ports->register_rows));
    cta_manager_init(&l->ctas, ports, l->params->buffer, l->params->restore_rows);
}

/* ---- partitions (4.1) ---- */

static uint32_t linebacker_all(const struct linebacker *l)
{
    return (uint32_t)((1ull << l->vtt.partitions) - 1);
}
static uint32_t linebacker_first(const struct linebacker *l, uint32_t partition)
{
    return l->params->first_row + partition * vtt_partition_rows(&l->vtt);
}

static bool linebacker_wants(const struct linebacker *l, uint32_t partition)
{
    const uint32_t first = linebacker_first(l, partition);
    if (l->phase != LB_CACHES) return false;
    if (!l->ports->others_keep_rows && (int64_t)first <= cta_manager_last_row(&l->ctas)) return false;
    return l->params->rows == ROWS_IDLE || first + vtt_partition_rows(&l->vtt) <= l->rows_seen;
}

/* Idle rows from one change to the next (Figures 9 and 10). */
static void linebacker_count_rows(struct linebacker *l, uint64_t cycle)
{
    if (cycle <= l->counted_to) return;
    const uint64_t passed = cycle - l->counted_to;
    const uint32_t here = cta_manager_rows_here(&l->ctas);
    l->counted_to = cycle;
    if (!here) return;
    l->active_cycles += passed;
    l->idle_static += passed * (l->ports->register_rows - l->rows_seen);
    if (cta_manager_throttles(&l->ctas)) l->idle_dynamic += passed * (l->rows_seen - here);
    if (l->phase == LB_CACHES)
        l->used_rows += passed * (uint64_t)__builtin_popcount(l->vtt.on) * vtt_partition_rows(&l->vtt);
}

/* Takes the rows of partitions that may be on, if all of them are free, and gives those of others back. */
static void linebacker_set_partitions(struct linebacker *l)
{
    const struct mech_ports *m = l->ports;
    const uint32_t rows = vtt_partition_rows(&l->vtt);
    uint32_t on = l->phase == LB_CACHES ? l->vtt.on : 0, got;
    for (uint32_t p = 0; p < l->vtt.partitions; p++) {
        const uint32_t first = linebacker_first(l, p), bit = 1u << p;
        const bool wants = linebacker_wants(l, p);
        if (!wants && on & bit) {
            m->registers_give(m->host, first, rows);
            on &= ~bit;
        } else if (wants && !(on & bit) && m->registers_take(m->host, first, rows, &got)) {
            if (got == first)
                on |= bit;
            else
                m->registers_give(m->host, got, rows);
        }
    }
    vtt_turn(&l->vtt, on);
}

static void linebacker_on_rows_lost(void *state, const struct mech_rows_lost *e)
{
    struct linebacker *l = state;
    const struct mech_ports *m = l->ports;
    linebacker_count_rows(l, e->cycle);
    for (uint32_t p = 0; p < l->vtt.partitions; p++) {
        const uint32_t first = linebacker_first(l, p), end = first + vtt_partition_rows(&l->vtt);
        const uint32_t lost_end = e->first + e->rows;
        if (!(l->vtt.on >> p & 1) || e->first >= end || lost_end <= first) continue;
        if (e->first > first) m->registers_give(m->host, first, e->first - first);
        if (lost_end < end) m->registers_give(m->host, lost_end, end - lost_end);
        vtt_turn(&l->vtt, l->vtt.on & ~(1u << p));
    }
}

/* ---- kernels and windows (3.2) ---- */

static void linebacker_enter(struct linebacker *l, enum linebacker_phase phase)
{
    if (l->phase == LB_CACHES) { /* all rows go */
        l->phase = LB_OFF;
        vtt_clear(&l->vtt);
        for (uint32_t p = 0; p < l->vtt.partitions; p++)
            if (l->vtt.on >> p & 1)
                l->ports->registers_give(l->ports->host, linebacker_first(l, p), vtt_partition_rows(&l->vtt));
    }
    vtt_turn(&l->vtt, 0);
    l->phase = phase;
    if (phase == LB_MONITORS) vtt_turn(&l->vtt, linebacker_all(l));
}

static void linebacker_on_launch(void *state, const struct mech_launch *e)
{
    struct linebacker *l = state;
    l->may_throttle = l->params->throttle && !e->is_cooperative;
    l->kernels_cooperative += l->params->throttle && e->is_cooperative;
}

static void linebacker_on_kernel(void *state, bool is_start)
{
    struct linebacker *l = state;
    l->is_fresh = is_start;
    if (is_start) return;
    l->kernels_short += l->monitor.windows < 2 && l->params->select;
    linebacker_enter(l, LB_OFF);
    cta_manager_end(&l->ctas);
    l->ports->set_timer(l->ports->host, 0, 0);
}

/* The first CTA is here. */
static void linebacker_begin(struct linebacker *l, uint64_t cycle)
{
    l->is_fresh = false;
    l->rows_seen = 0;
    l->counted_to = cycle;
    l->issued = l->ports->counters(l->ports->host)->issued;
    lm_begin(&l->monitor);
    linebacker_enter(l, l->params->select ? LB_MONITORS : LB_CACHES);
    l->ports->set_timer(l->ports->host, cycle, l->params->window);
    l->ports->note(l->ports->host, cycle, NOTE_MONITOR, l->ports->sm, l->may_throttle);
}

/* Rows have come free since it looked last: a CTA starts, leaves or is back. */
static void linebacker_look(struct linebacker *l)
{
    if (l->phase == LB_CACHES && !cta_manager_restores(&l->ctas)) linebacker_set_partitions(l);
}

static void linebacker_on_cta(void *state, const struct mech_cta *e)
{
    struct linebacker *l = state;
    if (l->is_fresh && e->kind == MECH_CTA_START) linebacker_begin(l, e->cycle);
    linebacker_count_rows(l, e->cycle);
    if (e->kind == MECH_CTA_IN) linebacker_look(l); /* rows that kept its registers are free */
    if (!cta_manager_hears(e->kind)) return;
    cta_manager_see(&l->ctas, e);
    l->manager_accesses++;
    if (e->kind == MECH_CTA_REGISTERS_OUT) l->rows_out += e->rows;
    if (e->kind == MECH_CTA_REGISTERS_IN) l->rows_in += e->rows;
    if (e->kind == MECH_CTA_START && e->last_row >= l->rows_seen) l->rows_seen = e->last_row + 1;
    if (e->kind != MECH_CTA_END) linebacker_look(l);
}

static void linebacker_throttle(struct linebacker *l, uint64_t cycle)
{
    if (!l->may_throttle) return;
    if (!cta_manager_throttle(&l->ctas)) {
        l->refusals++;
        return;
    }
    l->throttles++;
    l->ports->note(l->ports->host, cycle, NOTE_THROTTLE, l->ctas.most, 0);
}

/* Equation 1, as whole numbers: IPC_Var above the upper or below the lower bound. */
static void linebacker_judge(struct linebacker *l, uint64_t cycle, uint64_t before, uint64_t now)
{
    const struct linebacker_params *p = l->params;
    l->manager_accesses++;
    if (now * 100 > before * (100 + p->upper)) {
        linebacker_throttle(l, cycle);
    } else if (now * 100 < before * (100 - p->lower) && cta_manager_release(&l->ctas)) {
        l->releases++;
        l->ports->note(l->ports->host, cycle, NOTE_RELEASE, l->ctas.most, 0);
    }
}

static void linebacker_end_monitoring(struct linebacker *l, uint64_t cycle)
{
    const enum lm_verdict v =
        lm_end_window(&l->monitor, l->params->threshold, (enum lm_agree)l->params->agree);
    if (v == LM_GOES_ON) return;
    linebacker_enter(l, v == LM_CHOSEN ? LB_CACHES : LB_OFF);
    l->ports->note(l->ports->host, cycle, v == LM_CHOSEN ? NOTE_CHOOSE : NOTE_OFF, l->monitor.chosen,
                   l->monitor.windows);
    l->kernels_off += v == LM_NONE;
    if (v == LM_NONE) return;
    l->choices++;
    l->choice_windows += l->monitor.windows;
    l->chosen_loads += (uint64_t)__builtin_popcount(l->monitor.chosen);
    linebacker_set_partitions(l);
    linebacker_throttle(l, cycle);
}

static void linebacker_on_timer(void *state, uint64_t cycle)
{
    struct linebacker *l = state;
    const uint64_t issued = l->ports->counters(l->ports->host)->issued;
    const uint64_t before = l->window_insts, now = issued - l->issued;
    l->issued = issued;
    l->window_insts = now;
    l->windows++;
    linebacker_count_rows(l, cycle);
    if (l->phase == LB_MONITORS)
        linebacker_end_monitoring(l, cycle);
    else if (l->phase == LB_CACHES && l->may_throttle)
        linebacker_judge(l, cycle, before, now);
}

/* ---- lines (3.2, 4) ---- */

static uint32_t linebacker_set_of(const struct linebacker *l, uint64_t line)
{
    return l->ports->l1_set(l->ports->host, line);
}

/* Cycles that the access to a row takes: one, and one more where its bank is taken. */
static uint32_t linebacker_access(struct linebacker *l, uint32_t set, uint32_t entry, bool is_write)
{
    const uint32_t row = l->params->first_row + vtt_row(&l->vtt, set, entry);
    if (l->ports->bank_access(l->ports->host, row, is_write)) return 1;
    l->conflicts++;
    return 2;
}

/* The entry of a line in the tag table; VTT_NONE: it is not there. */
static uint32_t linebacker_find(struct linebacker *l, uint32_t set, uint64_t line)
{
    const uint32_t entry = vtt_find(&l->vtt, set, line);
    l->vtt_accesses += vtt_searched(&l->vtt, entry);
    return entry;
}

static void linebacker_monitor(struct linebacker *l, uint32_t pc, bool is_hit)
{
    lm_count(&l->monitor, pc, is_hit);
    l->lm_accesses++;
}

/* While monitoring, tags of all lines come in; afterwards those of lines that a chosen load touched last. */
static void linebacker_on_l1_evict(void *state, const struct mech_l1_evict *e)
{
    struct linebacker *l = state;
    const bool is_full = e->sectors + 1 == 1u << MECH_ROW_BYTES / 32;
    if (e->cause == MECH_EVICT_FLUSH) vtt_clear(&l->vtt);
    if (l->phase == LB_OFF || e->cause != MECH_EVICT_REPLACED || e->is_local || !is_full) return;
    if (l->phase == LB_CACHES && l->params->select && !lm_is_chosen(&l->monitor, e->last_pc)) return;
    const uint32_t set = linebacker_set_of(l, e->line), entry = vtt_insert(&l->vtt, set, e->line);
    l->vtt_accesses += entry != VTT_NONE;
    if (l->phase != LB_CACHES || entry == VTT_NONE) return;
    linebacker_access(l, set, entry, true);
    l->inserts++;
}

/* The search begins when the one before has left the first partition's port. */
static uint32_t linebacker_search(struct linebacker *l, uint64_t cycle, uint32_t entry)
{
    const uint64_t begin = cycle > l->searched ? cycle : l->searched + 1;
    const uint32_t cycles = (uint32_t)(begin - cycle) + l->params->vp_latency * vtt_searched(&l->vtt, entry);
    l->searched = begin;
    l->search_cycles += cycles;
    return cycles;
}

static void linebacker_take_miss(void *state, const struct mech_l1_access *a, uint32_t token,
                                 struct mech_miss *answer)
{
    struct linebacker *l = state;
    if (l->phase == LB_OFF || a->is_local || !l->vtt.on) return;
    const uint32_t set = linebacker_set_of(l, a->line), entry = linebacker_find(l, set, a->line);
    if (entry != VTT_NONE) vtt_touch(&l->vtt, set, entry);
    if (l->phase == LB_MONITORS) {
        if (!a->is_prefetch) linebacker_monitor(l, a->pc, entry != VTT_NONE);
        return;
    }
    l->lookups++;
    answer->cycles = linebacker_search(l, a->cycle, entry);
    if (entry == VTT_NONE) return;
    l->hits++;
    answer->answer = MECH_MISS_HIT;
    answer->cycles += l->ports->l1_latency + linebacker_access(l, set, entry, false);
}

static void linebacker_on_l1_access(void *state, const struct mech_l1_access *e)
{
    struct linebacker *l = state;
    if (l->phase == LB_OFF || e->is_local || e->is_prefetch) return;
    if (!e->is_store && !e->is_atomic) {
        const bool is_hit = e->outcome == MECH_L1_HIT || e->outcome == MECH_L1_PENDING;
        if (l->phase == LB_MONITORS && is_hit) linebacker_monitor(l, e->pc, true);
        return;
    }
    const uint32_t set = linebacker_set_of(l, e->line), entry = linebacker_find(l, set, e->line);
    if (entry == VTT_NONE) return;
    vtt_drop(&l->vtt, set, entry);
    l->invalidations += l->phase == LB_CACHES;
}

const struct mechanism mechanism_linebacker = {
    .api = HEDDLE_MECHANISM_API,
    .name = "linebacker",
    .summary = "idle registers keep lines that left the L1, for loads that find them again; CTA throttling",
    .paper = "Oh et al., ISCA'19",
    .params = linebacker_params,
    .param_bytes = sizeof(struct linebacker_params),
    .stats = linebacker_stats,
    .energy = linebacker_energy,
    .state_bytes = sizeof(struct linebacker),
    .owns = MECH_OWNS_REGISTERS,
    .note_names = linebacker_notes,
    .check = linebacker_check,
    .cost = linebacker_cost,
    .init = linebacker_init,
    .on_launch = linebacker_on_launch,
    .on_kernel = linebacker_on_kernel,
    .on_cta = linebacker_on_cta,
    .on_timer = linebacker_on_timer,
    .take_miss = linebacker_take_miss,
    .on_l1_access = linebacker_on_l1_access,
    .on_l1_evict = linebacker_on_l1_evict,
    .on_rows_lost = linebacker_on_rows_lost,
};
