/* sm_events.c: what happens in the SM and its L1, told to mechanisms. */
#include "core/sharers.h"
#include "core/sm/sm_impl.h"

#include "base/bitset.h"

/* ---- the pipeline ---- */

/* The set of registers that an instruction reads. It comes from the list of reads, since both sets of the
 * decoder contain the registers that are written. */
static void reads_of(const struct uop *u, const struct emu_access *e, uint64_t set[REG_WORDS])
{
    memset(set, 0, sizeof(uint64_t) * REG_WORDS);
    for (uint32_t i = 0; i < u->read_count; i++) bitset_add(set, u->reads[i]);
    if (u->flags & UOP_INDIRECT) bitset_add(set, e->indirect);
}

COLD void sm_mech_issue(struct sm *m, const struct context *x, uint32_t scheduler, const struct uop *u,
                        const struct emu_access *e, uint32_t access)
{
    const struct lsu_access *a = access == SM_NONE ? NULL : &m->memory.accesses[access];
    const bool is_device = a && a->ro == RO_COUNT && !a->is_texture;
    uint64_t reads[REG_WORDS], writes[REG_WORDS];
    reads_of(u, e, reads);
    for (uint32_t i = 0; i < REG_WORDS; i++) writes[i] = u->registers[i].def;
    mech_on_issue(m->mech, &(struct mech_issue){.cycle = m->sleep.cycle,
                                                .id = a ? a->ask.id : 0,
                                                .warp = x->slot,
                                                .pc = e->pc,
                                                .is_load = (u->flags & UOP_LOAD) != 0,
                                                .is_store = (u->flags & UOP_STORE) != 0,
                                                .is_global = e->mask && e->space == ISA_GLOBAL,
                                                .is_local = is_device && a->local_from < a->count,
                                                .scheduler = scheduler,
                                                .lanes = e->mask,
                                                .l1_lines = a && a->ro == RO_COUNT ? a->count : 0,
                                                .launch = x->launch,
                                                .reads = reads,
                                                .writes = writes});
}

COLD void sm_mech_next(struct sm *m, const struct context *x)
{
    mech_on_next(m->mech, &(struct mech_next){.cycle = m->sleep.cycle,
                                              .warp = x->slot,
                                              .pc = x->next_pc,
                                              .live = x->program->kernel->live[x->next_pc].bits});
}

COLD void sm_mech_barrier(struct sm *m, uint32_t bank, uint64_t warps, bool is_wait)
{
    mech_on_barrier(m->mech, &(struct mech_barrier){
                                 .cycle = m->sleep.cycle, .bank = bank, .warps = warps, .is_wait = is_wait});
}

COLD void sm_mech_rows_lost(void *sm, uint32_t first, uint32_t rows)
{
    struct sm *m = sm;
    mech_on_rows_lost(m->mech,
                      &(struct mech_rows_lost){.cycle = m->sleep.cycle, .first = first, .rows = rows});
}

/* A vote in on_cta counts from the next cycle on, so the SM wakes for that cycle. */
COLD void sm_mech_cta(struct sm *m, uint32_t cta, enum mech_cta_kind kind)
{
    if (!m->mech->has_cta) return;
    const struct residency *r = &m->residency;
    const struct sm_cta *c = &r->ctas[cta];
    struct mech_cta e = {.cycle = m->sleep.cycle,
                         .kind = kind,
                         .cta_slot = cta,
                         .cta = c->linear,
                         .rows = c->registers / ISA_LANES,
                         .warps = c->warps,
                         .results = m->swaps.ctas[cta].results};
    e.first_row = bitset_next(c->rows, r->file.rows, 0);
    for (uint32_t row = e.first_row; row < r->file.rows; row = bitset_next(c->rows, r->file.rows, row + 1))
        e.last_row = row;
    mech_on_cta(m->mech, &e);
    sleep_disturb(m);
    sleep_wake_at(&m->sleep, clock_after(&m->clock, m->sleep.now, 1));
}

COLD void sm_mech_filled(void *sm, const uint32_t *tokens, uint32_t count)
{
    struct sm *m = sm;
    for (uint32_t i = 0; i < count; i++) mech_on_memory_read(m->mech, m->sleep.cycle, tokens[i]);
    sleep_changed(&m->sleep);
}

/* ---- accesses of the L1 ---- */

/* The slot of a warp; if it has none, the last one that it had. */
static int slot_of(const struct sm *m, uint32_t context) { return context_at(&m->state, context)->last_slot; }

static struct mech_l1_access access_of(const struct sm *m, const struct l1_txn *t)
{
    const struct context *x = context_at(&m->state, t->warp);
    return (struct mech_l1_access){.cycle = m->sleep.cycle,
                                   .id = t->id,
                                   .warp = slot_of(m, t->warp),
                                   .pc = t->pc,
                                   .line = t->addr,
                                   .sectors = t->sectors,
                                   .is_first_line = t->is_first,
                                   .is_store = t->kind == REQ_WRITE,
                                   .is_atomic = t->kind == REQ_ATOMIC,
                                   .is_local = t->cls == REQ_LOCAL,
                                   .is_prefetch = t->is_prefetch,
                                   .outcome = MECH_L1_MISS,
                                   .lane_address = t->lane_address,
                                   .launch = x->launch};
}

static void see_access(void *ctx, tick now, const struct l1_txn *t, const struct l1_result *r)
{
    static const uint8_t outcomes[] = {[L1_HIT] = MECH_L1_HIT,
                                       [L1_PENDING] = MECH_L1_PENDING,
                                       [L1_MISS] = MECH_L1_MISS,
                                       [L1_SENT] = MECH_L1_SENT};
    struct sm *m = ctx;
    if (!load_is_of_program(t)) return;
    load_on_access(m, now, t, r);
    struct mech_l1_access e = access_of(m, t);
    e.outcome = (enum mech_l1_outcome)outcomes[r->answer];
    e.intra_warp = r->intra_warp;
    e.is_first_use = r->is_first_use;
    if (m->mech->l1_lines_max && r->answer == L1_HIT) e.is_extra = l1_line_is_extra(m->l1, t->addr);
    mech_on_l1_access(m->mech, &e);
}

/* Mechanisms decide on global and local memory; textures that go through the L1 take its ordinary way. */
static bool see_may_allocate(void *ctx, const struct l1_txn *t)
{
    struct sm *m = ctx;
    const struct mech_l1_access e = access_of(m, t);
    return !load_is_of_program(t) || mech_may_allocate(m->mech, &e);
}

static bool see_may_miss(void *ctx, const struct l1_txn *t)
{
    struct sm *m = ctx;
    const struct mech_l1_access e = access_of(m, t);
    return !load_is_of_program(t) || t->is_prefetch || mech_may_miss(m->mech, &e);
}

static void see_take_miss(void *ctx, tick now, const struct l1_txn *t, uint32_t entry,
                          struct l1_take_answer *a)
{
    static const uint8_t takes[] = {[MECH_MISS_PASS] = L1_TAKE_PASS,
                                    [MECH_MISS_HIT] = L1_TAKE_HIT,
                                    [MECH_MISS_CLAIM] = L1_TAKE_CLAIM,
                                    [MECH_MISS_FILL] = L1_TAKE_FILL};
    struct sm *m = ctx;
    *a = (struct l1_take_answer){.take = L1_TAKE_PASS};
    if (!load_is_of_program(t)) return;
    const struct mech_l1_access e = access_of(m, t);
    const struct mech_miss got = mech_take_miss(m->mech, &e, entry);
    *a = (struct l1_take_answer){.take = (enum l1_take)takes[got.answer], .cycles = got.cycles};
}

static uint32_t see_extra_hit(void *ctx, uint32_t set, uint32_t way)
{
    return mech_extra_hit(((struct sm *)ctx)->mech, set, way);
}

/* ---- lines of the L1 ---- */

/* Tells the table of sharers of a line. Lines of local memory are never shared. */
static void note_sharer(struct sm *m, uint64_t line, enum sharers_part holds, tick as_of)
{
    if (m->setup.sharers && line < SM_LOCAL_BASE)
        sharers_note(m->setup.sharers, m->setup.index, line, holds, as_of);
}

static void see_evict(void *ctx, tick now, const struct l1_eviction *v)
{
    static const uint8_t causes[] = {[L1_EVICT_REPLACED] = MECH_EVICT_REPLACED,
                                     [L1_EVICT_STORE] = MECH_EVICT_STORE,
                                     [L1_EVICT_FLUSH] = MECH_EVICT_FLUSH,
                                     [L1_EVICT_RESIZE] = MECH_EVICT_RESIZE};
    struct sm *m = ctx;
    note_sharer(m, v->line, SHARERS_NONE, 0);
    mech_on_l1_evict(m->mech, &(struct mech_l1_evict){.cycle = sm_mech_now(m) / m->clock.period,
                                                      .line = v->line,
                                                      .sectors = v->sectors,
                                                      .cause = (enum mech_evict_cause)causes[v->cause],
                                                      .owner_warp = slot_of(m, v->owner_warp),
                                                      .last_warp = slot_of(m, v->last_warp),
                                                      .owner_pc = v->owner_pc,
                                                      .last_pc = v->last_pc,
                                                      .owner_launch = v->owner_launch,
                                                      .was_prefetch = v->is_unused_prefetch,
                                                      .was_used = !v->is_unused_prefetch,
                                                      .is_local = v->line >= SM_LOCAL_BASE});
}

static void see_fill(void *ctx, tick now, const struct l1_fill_event *f)
{
    struct sm *m = ctx;
    const bool is_whole = f->kept && l1_probe(m->l1, f->line, sm_line_sectors(m));
    if (f->kept) note_sharer(m, f->line, is_whole ? SHARERS_ALL : SHARERS_SOME, f->as_of);
    mech_on_l1_fill(m->mech,
                    &(struct mech_l1_fill){.cycle = m->sleep.cycle,
                                           .line = f->line,
                                           .latency_cycles = (uint32_t)clock_cycles(&m->clock, f->latency),
                                           .is_prefetch = f->is_prefetch,
                                           .is_local = f->is_local,
                                           .kept = f->kept,
                                           .is_extra = f->kept && m->mech->l1_lines_max &&
                                                       l1_line_is_extra(m->l1, f->line)});
}

static void see_level(void *ctx, tick now, uint32_t mshrs_used, uint32_t mshrs, uint32_t queue_used,
                      uint32_t queue)
{
    struct sm *m = ctx;
    mech_on_l1_level(m->mech, &(struct mech_l1_level){.cycle = m->sleep.cycle,
                                                      .mshrs_used = mshrs_used,
                                                      .mshrs = mshrs,
                                                      .queue_used = queue_used,
                                                      .queue = queue});
}

static void see_prefetch(void *ctx, tick now, const struct l1_txn *t, enum l1_prefetch_outcome outcome)
{
    static const uint8_t outcomes[] = {[L1_PREFETCH_SENT] = MECH_PREFETCH_SENT,
                                       [L1_PREFETCH_REDUNDANT] = MECH_PREFETCH_REDUNDANT,
                                       [L1_PREFETCH_DROPPED] = MECH_PREFETCH_DROPPED};
    struct sm *m = ctx;
    const struct sm_program *p = context_at(&m->state, t->warp)->program;
    if (outcome == L1_PREFETCH_SENT && p && t->pc < p->inst_count) load_prefetched(&p->loads[t->pc]);
    sm_mech_prefetch(m, t->addr, t->pc, t->warp, (enum mech_prefetch_outcome)outcomes[outcome]);
}

COLD void sm_mech_prefetch(struct sm *m, uint64_t line, uint32_t pc, uint32_t context,
                           enum mech_prefetch_outcome outcome)
{
    if (!m->mech->has_prefetch) return;
    mech_on_prefetch(m->mech, &(struct mech_prefetch){.cycle = sm_mech_now(m) / m->clock.period,
                                                      .line = line,
                                                      .pc = pc,
                                                      .warp = slot_of(m, context),
                                                      .outcome = outcome});
}

/* ---- replacement ---- */

static void line_touched(void *ctx, uint32_t set, uint32_t way)
{
    mech_line_touched(((struct sm *)ctx)->mech, set, way);
}

static void line_inserted(void *ctx, uint32_t set, uint32_t way, uint64_t addr)
{
    mech_line_inserted(((struct sm *)ctx)->mech, set, way);
}

static uint32_t victim(void *ctx, const struct cache_set_view *v)
{
    const struct sm *m = ctx;
    return mech_victim(m->mech,
                       &(struct mech_victim_view){
                           .set = v->set, .ways = v->ways, .candidates = v->replaceable, .line = v->addr});
}

/* ---- connection ---- */

static void make_atomic(void *ctx, const struct req *r) { lsu_log_atomic(ctx, r); }

void sm_mech_connect(struct sm *m)
{
    const struct mech_sm *h = m->mech;
    const struct cache_policy policy = {
        .ctx = m, .on_touch = line_touched, .on_insert = line_inserted, .victim = victim};
    m->mech_view.policy = policy;
    l1_hook(m->l1, &(struct l1_hooks){.ctx = m,
                                      .may_allocate = h->has_allocate ? see_may_allocate : NULL,
                                      .may_miss = h->has_may_miss ? see_may_miss : NULL,
                                      .claims_lines = h->claims_lines,
                                      .take_miss = h->has_take_miss ? see_take_miss : NULL,
                                      .extra_hit = h->has_extra_hit ? see_extra_hit : NULL,
                                      .on_access = h->has_access ? see_access : load_on_access,
                                      .on_evict = h->has_evict || m->setup.sharers ? see_evict : NULL,
                                      .on_fill = h->has_fill || m->setup.sharers ? see_fill : NULL,
                                      .on_level = h->has_level ? see_level : NULL,
                                      .on_prefetch = see_prefetch,
                                      .on_atomic = make_atomic,
                                      .policy = h->has_victim ? &m->mech_view.policy : NULL});
}
