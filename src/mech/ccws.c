/* ccws.c: cache-conscious wavefront scheduling (Rogers, O'Connor, Aamodt, MICRO'12): holds back the loads of
 * some warps while others lose locality of their own in the L1. A modifier: the policy beside it orders the
 * warps that may issue; the paper's is `gto`.
 *
 * Lost locality detector (section 3.2). Each line of the L1 records the warp that brought it. When a miss
 * replaces the line, its tag goes into the *victim tag array* of that warp, 16 tags in sets of 8, first in
 * first out. A load that misses probes the array of its own warp: a hit there is locality that the warp had
 * and lost to others. Stores and atomics drop their line's tag from all arrays.
 *
 * Lost locality scores (section 3.3.1). A warp's score (LLS) starts at `base`. A hit in its array sets it to
 *     hits * K * cutoff / issued,   at least base,
 * where hits and issued count the victim tag hits and the instructions of all warps that are here now, and
 * cutoff = warps here * base. Above the base it falls by one a cycle. When a warp ends, its score and what it
 * added to hits and issued go with it.
 *
 * Gate (section 3.3). Warps are sorted by score, highest first, equal ones by slot; those whose scores add up
 * to the cutoff, the one that crosses it included, may issue loads. The others may issue all but loads from
 * global and local memory. Without lost locality all scores are the base, and their sum is the cutoff.
 *
 * (1) A score is kept as the cycle at which it is back at the base: all scores above it fall together, so
 * their order changes only when a hit or that cycle comes. (2) With time alone the gate changes at cycles
 * that can be computed (ccws_next_change). (3) A tag is in an array once. A hit leaves it there, and an
 * eviction of a line whose tag is there does not renew it (so the authors' code, tgrogers/ccws-2012). (4)
 * Quotients are rounded down. (5) Scores fall, so a warp that others wait for at a barrier gets its turn.
 *
 * Open in the paper, chosen here: one detector and one gate for an SM, as in the authors' code; lines of a
 * warp that has ended go nowhere; a prefetched line that no load used was not the warp's to lose. Left out:
 * the authors' base_vc, which the cap on the score makes meaningless. */
#include "mech/ccws.h"

#include <stdio.h>

#include "mech/cost.h"
#include "mech/warps.h"

static const struct param_row ccws_params[] = {
    PARAM_NUMBER(ccws_params, tags, "ccws.tags", "tags", "16", 1, 4096,
                 "entries of the victim tag array of each warp"),
    PARAM_NUMBER(ccws_params, ways, "ccws.ways", "tags", "8", 1, 4096,
                 "entries of each of its sets; must divide ccws.tags"),
    PARAM_NUMBER(ccws_params, base, "ccws.base", "points", "100", 1, 10000,
                 "score of a warp that has lost no locality"),
    PARAM_NUMBER(ccws_params, k, "ccws.k", "", "8", 1, 1024,
                 "K_THROTTLE: how much a hit in a victim tag array throttles (paper: 8 of 1 to 128)"),
    {0},
};

#define COUNT(field, name, unit, help) STAT_COUNT(ccws, field, "ccws." name, unit, help, NULL)
static const struct stat_row ccws_stats[] = {
    COUNT(inserts, "vta_inserts", "tags", "tags of replaced lines that went into a victim tag array"),
    COUNT(probes, "vta_probes", "misses", "misses of loads that probed the array of their warp"),
    COUNT(vta_hits, "vta_hits", "misses", "probes that found the tag: locality that was lost"),
    COUNT(invalidations, "vta_invalidations", "tags", "tags that a store or atomic dropped"),
    COUNT(changes, "gate_changes", "changes", "changes of the set of warps whose loads are held back"),
    COUNT(gated_cycles, "gated_cycles", "warp cycles",
          "cycles, for each warp, in which its loads were held back"),
    STAT_LARGEST(ccws, score_max, "ccws.score_max", "points", "highest score that a warp was set to"),
    {0},
};

static const struct energy_row ccws_energy[] = {
    ENERGY_PJ("ccws.probes", "ccws.vta_probes", COST_LARGE_TABLE_PJ, "search of a victim tag array"),
    ENERGY_PJ("ccws.inserts", "ccws.vta_inserts", COST_LARGE_TABLE_PJ,
              "tag that comes into a victim tag array"),
    {0},
};

/* ---- making ---- */

static enum mech_fit ccws_check(const void *params, const struct mech_machine *machine, char *reason)
{
    const struct ccws_params *p = params;
    if (p->tags % p->ways == 0) return MECH_FITS;
    snprintf(reason, MECH_REASON_BYTES, "ccws.tags is %u, which is not a multiple of ccws.ways, %u", p->tags,
             p->ways);
    return MECH_MISFIT;
}

void ccws_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    enum { COUNTER_BITS = 32 };
    const struct ccws_params *p = params;
    const uint64_t sets = p->tags / p->ways;
    const uint64_t tag = COST_ADDRESS_BITS - cost_index_bits(m->line_bytes) - cost_index_bits(sets);
    mech_cost_add(c, MECH_EACH_SM, "vta", (uint64_t)m->warps * p->tags, 1 + tag,
                  "victim tag arrays: valid, tag");
    mech_cost_add(c, MECH_EACH_SM, "vta_order", m->warps * sets, cost_index_bits(p->ways),
                  "which tag of a set of these is the oldest");
    mech_cost_add(c, MECH_EACH_SM, "owners", (uint64_t)m->l1_sets * m->l1_ways, cost_index_bits(m->warps),
                  "the warp that brought each line of the L1");
    mech_cost_add(c, MECH_EACH_SM, "scores", m->warps, 3 * COUNTER_BITS,
                  "of each warp its score, hits in its tags and instructions");
    mech_cost_add(c, MECH_EACH_SM, "sums", 2, COUNTER_BITS, "hits and instructions of all warps");
}

/* Slots are numbered in banks: a bank may have fewer warps than numbers. */
static uint32_t ccws_slots(const struct ccws *c) { return c->ports->banks * MECH_BANK_WARPS; }

void ccws_init(struct ccws *c, const struct ccws_params *params, const struct mech_ports *ports)
{
    c->params = params;
    c->ports = ports;
    c->sets = c->params->tags / c->params->ways;
    c->tags = ports->memory(ports->host, (size_t)ccws_slots(c) * c->params->tags * sizeof *c->tags);
}

/* ---- victim tag arrays ---- */

/* Lines are aligned, so that a tag is never 0. */
static uint64_t ccws_tag(uint64_t line) { return line | 1; }

/* The set of a line in the array of a warp. */
static uint64_t *ccws_set(const struct ccws *c, uint32_t warp, uint64_t line)
{
    const uint32_t set = (uint32_t)(line / c->ports->line_bytes % c->sets);
    return &c->tags[(size_t)warp * c->params->tags + (size_t)set * c->params->ways];
}

/* The way of a tag in a set; ways: it is not there. An empty way ends the set. */
static uint32_t ccws_find(const struct ccws *c, const uint64_t *set, uint64_t tag)
{
    uint32_t way = 0;
    while (way < c->params->ways && set[way] && set[way] != tag) way++;
    return way < c->params->ways && set[way] ? way : c->params->ways;
}

static void ccws_remove(const struct ccws *c, uint64_t *set, uint32_t way)
{
    for (; way + 1 < c->params->ways; way++) set[way] = set[way + 1];
    set[c->params->ways - 1] = 0;
}

static void ccws_insert(struct ccws *c, uint64_t *set, uint64_t tag)
{
    if (ccws_find(c, set, tag) < c->params->ways) return;
    if (set[c->params->ways - 1]) ccws_remove(c, set, 0);
    uint32_t way = 0;
    while (set[way]) way++;
    set[way] = tag;
    c->inserts++;
}

static void ccws_invalidate(struct ccws *c, uint64_t line)
{
    const uint64_t tag = ccws_tag(line);
    for (uint32_t warp = 0; warp < ccws_slots(c); warp++) {
        uint64_t *set = ccws_set(c, warp, line);
        const uint32_t way = ccws_find(c, set, tag);
        if (way == c->params->ways) continue;
        ccws_remove(c, set, way);
        c->invalidations++;
    }
}

/* ---- scores ---- */

static uint64_t ccws_cutoff(const struct ccws *c)
{
    return c->here_count ? c->here_count * c->params->base : 1;
}

static void ccws_unrank(struct ccws *c, uint32_t warp)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->ranked_count; i++)
        if (c->ranked[i] != warp) c->ranked[kept++] = c->ranked[i];
    c->ranked_count = kept;
}

static bool ccws_is_before(const struct ccws *c, uint32_t a, uint32_t b)
{
    const uint64_t x = c->warps[a].back_at, y = c->warps[b].back_at;
    return x != y ? x > y : a < b;
}

/* Sets a score that is above the base. */
static void ccws_rank(struct ccws *c, uint32_t warp, uint64_t back_at)
{
    uint32_t i = c->ranked_count++;
    c->warps[warp].back_at = back_at;
    for (; i && ccws_is_before(c, warp, c->ranked[i - 1]); i--) c->ranked[i] = c->ranked[i - 1];
    c->ranked[i] = (uint16_t)warp;
}

/* The warp has lost locality: its score becomes LLDS of the paper. */
static void ccws_score(struct ccws *c, uint32_t warp, uint64_t now)
{
    struct ccws_warp *w = &c->warps[warp];
    w->hits++;
    c->hits++;
    c->vta_hits++;
    const uint64_t score = c->hits * c->params->k * ccws_cutoff(c) / (c->issued ? c->issued : 1);
    ccws_unrank(c, warp);
    if (score > c->params->base) ccws_rank(c, warp, now + score - c->params->base);
    if (score > c->score_max) c->score_max = score;
}

/* ---- the gate ---- */

/* The prefix of warps whose loads may issue: how many warps of `ranked` it has, and the sum of all its
 * scores, which has reached the cutoff. */
struct ccws_prefix {
    uint32_t ranked;
    uint64_t sum;
};

static void ccws_let(uint64_t gated[], uint32_t warp) { gated[warp / 64] &= ~((uint64_t)1 << warp % 64); }

/* Warps at the base come behind the ranked ones, in the order of slots: as many as the sum lacks. */
static void ccws_let_base(const struct ccws *c, struct ccws_prefix *p, uint64_t gated[])
{
    for (uint32_t bank = 0; bank < c->ports->banks; bank++)
        while (p->sum < ccws_cutoff(c) && gated[bank]) {
            gated[bank] &= gated[bank] - 1;
            p->sum += c->params->base;
        }
}

/* Finds the warps that are held back: all that are here but the prefix. */
static struct ccws_prefix ccws_split(const struct ccws *c, uint64_t now, uint64_t gated[])
{
    struct ccws_prefix p = {0};
    for (uint32_t bank = 0; bank < c->ports->banks; bank++) gated[bank] = c->here[bank];
    while (p.ranked < c->ranked_count && p.sum < ccws_cutoff(c)) {
        const uint32_t warp = c->ranked[p.ranked++];
        p.sum += c->params->base + c->warps[warp].back_at - now;
        ccws_let(gated, warp);
    }
    if (p.sum < ccws_cutoff(c)) ccws_let_base(c, &p, gated);
    return p;
}

/* Cycles until falling scores let another warp in: the sum falls below the cutoff, or the lowest ranked warp
 * is back at the base, where slots decide. 0: no warp is held back. */
static uint32_t ccws_next_change(const struct ccws *c, const struct ccws_prefix *p, uint64_t now)
{
    if (!c->gated_count) return 0;
    const uint64_t falls = (p->sum - ccws_cutoff(c)) / p->ranked + 1;
    const uint64_t back = c->warps[c->ranked[c->ranked_count - 1]].back_at - now;
    const uint64_t next = falls < back ? falls : back;
    return next < UINT32_MAX ? (uint32_t)next : UINT32_MAX;
}

/* Votes, where the gate has changed. */
static void ccws_vote(struct ccws *c, const uint64_t gated[], uint64_t now)
{
    bool is_changed = false;
    c->gated_cycles += c->gated_count * (now - c->gated_since);
    c->gated_since = now;
    c->gated_count = 0;
    for (uint32_t bank = 0; bank < c->ports->banks; bank++) {
        c->gated_count += (uint64_t)warps_count(gated[bank]);
        if (gated[bank] == c->gated[bank]) continue;
        is_changed = true;
        c->gated[bank] = gated[bank];
        c->ports->allow_load(c->ports->host, bank, ~gated[bank]);
    }
    c->changes += is_changed;
}

void ccws_gate(struct ccws *c, uint64_t now)
{
    uint64_t gated[MECH_BANKS_MAX];
    while (c->ranked_count && c->warps[c->ranked[c->ranked_count - 1]].back_at <= now) c->ranked_count--;
    const bool was_gated = c->gated_count;
    if (!c->ranked_count && !was_gated) return;
    const struct ccws_prefix p = ccws_split(c, now, gated);
    ccws_vote(c, gated, now);
    const uint32_t change = ccws_next_change(c, &p, now);
    c->next = change ? now + change : 0;
}

void ccws_forget(struct ccws *c, uint64_t now)
{
    c->ranked_count = 0;
    ccws_gate(c, now);
    mech_assert(!c->gated_count && !c->next);
}

uint64_t ccws_gated_cycles(const struct ccws *c, uint64_t now)
{
    return c->gated_cycles + c->gated_count * (now - c->gated_since);
}

/* ---- events ---- */

void ccws_on_warp(struct ccws *c, const struct mech_warp_event *e)
{
    const uint32_t warp = (uint32_t)e->warp;
    struct ccws_warp *w = &c->warps[warp];
    if (w->is_here) {
        c->hits -= w->hits;
        c->issued -= w->issued;
        c->here_count--;
        ccws_unrank(c, warp);
    }
    *w = (struct ccws_warp){.launch = e->launch, .is_here = e->is_start};
    c->here_count += e->is_start;
    c->here[mech_bank(e->warp)] &= ~mech_bit(e->warp);
    if (e->is_start) c->here[mech_bank(e->warp)] |= mech_bit(e->warp);
    uint64_t *tags = &c->tags[(size_t)warp * c->params->tags];
    for (uint32_t i = 0; i < c->params->tags; i++) tags[i] = 0;
    ccws_gate(c, e->cycle);
}

void ccws_on_issue(struct ccws *c, const struct mech_issue *e)
{
    c->warps[e->warp].issued++;
    c->issued++;
}

static bool ccws_is_of(const struct ccws *c, int warp, uint64_t launch)
{
    return c->warps[warp].is_here && c->warps[warp].launch == launch;
}

void ccws_on_l1_evict(struct ccws *c, const struct mech_l1_evict *e)
{
    if (e->cause != MECH_EVICT_REPLACED || !e->was_used) return;
    if (!ccws_is_of(c, e->owner_warp, e->owner_launch)) return;
    ccws_insert(c, ccws_set(c, (uint32_t)e->owner_warp, e->line), ccws_tag(e->line));
}

void ccws_on_l1_access(struct ccws *c, const struct mech_l1_access *a)
{
    if (a->is_store || a->is_atomic) {
        ccws_invalidate(c, a->line);
        return;
    }
    if (a->is_prefetch || a->outcome != MECH_L1_MISS || !ccws_is_of(c, a->warp, a->launch)) return;
    const uint32_t warp = (uint32_t)a->warp;
    c->probes++;
    if (ccws_find(c, ccws_set(c, warp, a->line), ccws_tag(a->line)) == c->params->ways) return;
    ccws_score(c, warp, a->cycle);
    ccws_gate(c, a->cycle);
}

/* ---- the mechanism ---- */

static void init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    ccws_init(state, params, ports);
}

/* The timer follows the gate. `before`: when it was due before the event. */
static void set_timer(struct ccws *c, uint64_t now, uint64_t before)
{
    if (c->next == before) return;
    c->ports->set_timer(c->ports->host, now, c->next ? (uint32_t)(c->next - now) : 0);
}

static void on_warp(void *state, const struct mech_warp_event *e)
{
    struct ccws *c = state;
    const uint64_t before = c->next;
    ccws_on_warp(c, e);
    set_timer(c, e->cycle, before);
}

static void on_issue(void *state, const struct mech_issue *e) { ccws_on_issue(state, e); }

static void on_l1_evict(void *state, const struct mech_l1_evict *e) { ccws_on_l1_evict(state, e); }

static void on_l1_access(void *state, const struct mech_l1_access *a)
{
    struct ccws *c = state;
    const uint64_t before = c->next;
    ccws_on_l1_access(c, a);
    set_timer(c, a->cycle, before);
}

static void on_timer(void *state, uint64_t cycle)
{
    struct ccws *c = state;
    const uint64_t before = c->next;
    ccws_gate(c, cycle);
    set_timer(c, cycle, before);
}

const struct mechanism mechanism_ccws = {
    .api = HEDDLE_MECHANISM_API,
    .name = "ccws",
    .summary = "cache-conscious: holds back loads while other warps lose locality",
    .paper = "Rogers et al., MICRO'12; as compared in APRES, ISCA'16",
    .params = ccws_params,
    .param_bytes = sizeof(struct ccws_params),
    .stats = ccws_stats,
    .energy = ccws_energy,
    .state_bytes = sizeof(struct ccws),
    .check = ccws_check,
    .cost = ccws_cost,
    .init = init,
    .on_warp = on_warp,
    .on_issue = on_issue,
    .on_l1_access = on_l1_access,
    .on_l1_evict = on_l1_evict,
    .on_timer = on_timer,
};
