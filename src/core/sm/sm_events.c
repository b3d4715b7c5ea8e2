/* sm_events.c: what happens in the SM and its L1, told to mechanisms; and what is counted of each access whether or not there are any. */
#include "core/sm/sm_impl.h"

/* ---- the pipeline ---- */

/* The registers of an instruction as sets; what it writes is in both of the decoder's sets, so what it reads comes from its list. */
static void reads_of(const struct uop *u, uint64_t set[REG_WORDS])
{
    memset(set, 0, sizeof(uint64_t) * REG_WORDS);
    for (uint32_t i = 0; i < u->read_count; i++) set[u->reads[i] / 64] |= 1ull << u->reads[i] % 64;
}

void sm_mech_issue(struct sm *m, const struct context *x, uint32_t scheduler, const struct uop *u,
                   const struct emu_access *e, uint32_t access)
{
    const struct lsu_access *a = access == SM_NONE ? NULL : &m->memory.accesses[access];
    const bool is_device = a && a->ro == RO_COUNT && !a->is_texture;
    uint64_t reads[REG_WORDS];
    reads_of(u, reads);
    mech_on_issue(m->mech, &(struct mech_issue){.cycle = m->sleep.cycle,
                                                .id = m->memory.issue_id,
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
                                                .writes = u->def});
}

void sm_mech_next(struct sm *m, const struct context *x)
{
    mech_on_next(m->mech, &(struct mech_next){.cycle = m->sleep.cycle,
                                              .warp = x->slot,
                                              .pc = x->next_pc,
                                              .live = x->program->kernel->live[x->next_pc].bits});
}

void sm_mech_barrier(struct sm *m, uint32_t bank, uint64_t warps, bool is_wait)
{
    mech_on_barrier(m->mech, &(struct mech_barrier){
                                 .cycle = m->sleep.cycle, .bank = bank, .warps = warps, .is_wait = is_wait});
}

void sm_mech_rows_lost(void *sm, uint32_t first, uint32_t rows)
{
    struct sm *m = sm;
    mech_on_rows_lost(m->mech,
                      &(struct mech_rows_lost){.cycle = m->sleep.cycle, .first = first, .rows = rows});
}

/* ---- the L1 ---- */

static struct mech_l1_access access_of(const struct sm *m, const struct l1_txn *t)
{
    return (struct mech_l1_access){.cycle = m->sleep.cycle,
                                   .warp = context_at(&m->residency, t->warp)->slot,
                                   .pc = t->pc,
                                   .line = t->addr,
                                   .is_store = t->kind != REQ_READ,
                                   .is_first_line = t->is_first,
                                   .is_prefetch = t->is_prefetch,
                                   .outcome = MECH_L1_MISS,
                                   .lane_address = t->lane_address};
}

static bool see_may_allocate(void *ctx, const struct l1_txn *t)
{
    struct sm *m = ctx;
    struct mech_l1_access e = access_of(m, t);
    return mech_may_allocate(m->mech, &e);
}

static bool is_of_program(const struct l1_txn *t) { return t->cls == REQ_GLOBAL || t->cls == REQ_LOCAL; }

static void count_access(void *ctx, tick now, const struct l1_txn *t, enum l1_answer a, bool intra_warp)
{
    struct sm *m = ctx;
    (void)now;
    if (t->is_prefetch || !is_of_program(t)) return;
    m->seen.by_answer[a]++;
    m->seen.intra_warp += intra_warp;
    if (t->kind == REQ_READ) load_accessed(t->load, t->addr >> m->seen.line_shift, a == L1_MISS);
}

static void see_access(void *ctx, tick now, const struct l1_txn *t, enum l1_answer a, bool intra_warp)
{
    static const uint8_t outcomes[] = {[L1_HIT] = MECH_L1_HIT,
                                       [L1_PENDING] = MECH_L1_PENDING,
                                       [L1_MISS] = MECH_L1_MISS,
                                       [L1_SENT] = MECH_L1_SENT};
    struct sm *m = ctx;
    if (!is_of_program(t)) return;
    count_access(m, now, t, a, intra_warp);
    struct mech_l1_access e = access_of(m, t);
    e.outcome = (enum mech_l1_outcome)outcomes[a];
    e.intra_warp = intra_warp;
    mech_on_l1_access(m->mech, &e);
}

static void see_evict(void *ctx, tick now, const struct cache_line *line)
{
    struct sm *m = ctx;
    (void)now;
    mech_on_l1_evict(m->mech, &(struct mech_l1_evict){.cycle = m->sleep.cycle,
                                                      .line = line->addr,
                                                      .owner_warp = line->owner_warp,
                                                      .owner_pc = line->owner_pc,
                                                      .was_prefetch = line->is_prefetch,
                                                      .was_used = !line->is_prefetch});
}

static void see_fill(void *ctx, tick now, uint64_t line, tick latency, bool is_prefetch)
{
    struct sm *m = ctx;
    (void)now;
    mech_on_l1_fill(m->mech,
                    &(struct mech_l1_fill){.cycle = m->sleep.cycle,
                                           .line = line,
                                           .latency_cycles = (uint32_t)clock_cycles(&m->clock, latency),
                                           .is_prefetch = is_prefetch});
}

static void make_atomic(void *ctx, const struct req *r) { lsu_log_atomic(ctx, r); }

struct l1_hooks sm_mech_l1_hooks(struct sm *m)
{
    return (struct l1_hooks){.ctx = m,
                             .may_allocate = m->mech->has_allocate ? see_may_allocate : NULL,
                             .on_access = m->mech->has_access ? see_access : count_access,
                             .on_evict = m->mech->has_evict ? see_evict : NULL,
                             .on_fill = m->mech->has_fill ? see_fill : NULL,
                             .on_atomic = make_atomic};
}
