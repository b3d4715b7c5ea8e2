/* lsu_build.c: from what a memory instruction did to what the caches will be asked: coalesced transactions
 * for global and local memory (mem/coalesce.h), passes for shared memory, distinct words for constants, lines
 * for textures. */
#include "core/sm_impl.h"

static uint32_t access_new(struct sm *m)
{
    uint32_t id = m->access_free;
    assert(id != SM_NONE);
    m->access_free = m->accesses[id].next;
    m->access_live++;
    return id;
}

static uint32_t pending_new(struct sm *m)
{
    uint32_t id = m->pending_free;
    assert(id != SM_NONE);
    m->pending_free = m->pendings[id].next;
    m->pending_live++;
    return id;
}

static uint32_t lane_first(uint32_t mask) { return (uint32_t)__builtin_ctz(mask); }

static uint64_t local_base(const struct sm *m, uint32_t w)
{
    return SM_LOCAL_BASE + ((uint64_t)(m->setup.index * SM_WARPS_MAX + w) << SM_LOCAL_BITS);
}

/* Distinct granules (words of constants, lines of textures), in lane order. */
static void build_read_only(struct sm_access *a, const struct emu_access *e, uint32_t granule)
{
    for (uint32_t rest = e->mask; rest; rest &= rest - 1) {
        uint64_t line = e->addr[lane_first(rest)] / granule * granule;
        uint32_t i = 0;
        while (i < a->count && a->txns[i].line != line) i++;
        if (i == a->count) a->txns[a->count++] = (struct coalesce_txn){.line = line};
    }
}

static void build_device(struct sm *m, struct sm_access *a, const struct emu_access *e, uint32_t w)
{
    struct coalesce_access c = {.addr = e->addr,
                                .mask = e->mask & ~e->shared_lanes & ~e->local_lanes,
                                .bytes = e->bytes,
                                .line_bytes = m->line_bytes,
                                .sectored = m->setup.l1->sectored,
                                .is_store = e->is_store,
                                .is_atomic = e->is_atomic,
                                .descending = m->p->lsu_descending,
                                .split_atomic = m->p->lsu_split_atomics};
    if (c.mask) a->count = coalesce_global(&c, a->txns);
    a->local_from = a->count;
    c.mask = e->mask & e->local_lanes;
    if (!c.mask) return;
    if (!a->count) {
        a->count = coalesce_local(&c, local_base(m, w), a->txns);
        return;
    }
    struct coalesce_txn local[COALESCE_TXN_MAX]; /* lanes of both kinds: at most 32 lines of the one, so there
                                                    is room for the other */
    uint32_t count = coalesce_local(&c, local_base(m, w), local);
    assert(a->count + count <= COALESCE_TXN_MAX);
    memcpy(a->txns + a->count, local, count * sizeof *local);
    a->count += count;
}

static void build_shared(struct sm *m, struct sm_access *a, const struct emu_access *e)
{
    if (!e->shared_lanes) return;
    a->passes = coalesce_shared_passes(e->addr, e->shared_lanes, e->bytes, e->is_atomic);
    a->has_shared = true;
    m->stats.shared_insts++;
    m->stats.shared_conflict_cycles += a->passes - 1;
}

static void count_device(struct sm *m, const struct sm_access *a, const struct emu_access *e)
{
    if (!a->count) return;
    m->stats.loads += a->kind == REQ_READ;
    m->stats.stores += a->kind == REQ_WRITE;
    m->stats.atomics += a->kind == REQ_ATOMIC;
    m->counters.loads += a->kind == REQ_READ;
    if (a->kind != REQ_READ) return;
    m->stats.load_transactions += a->count;
    lsu_note_load(m, a->warp, a->pc, a->lane_address, a->count);
}

static bool goes_past_l1(const struct isa_inst *i)
{
    if (i->op == ISA_OP_PREFETCH) return i->mod2 == 2;
    return i->flags & ISA_VOLATILE || i->mod2 == ISA_CG || i->mod2 == ISA_CV;
}

static void build_memory(struct sm *m, struct sm_access *a, const struct emu_access *e)
{
    if (!e->mask || e->space == ISA_GENERIC) {
        if (!e->is_texture || !e->mask) return;
    }
    a->lane_address = e->addr[lane_first(e->mask)];
    if (e->is_texture) {
        a->ro = RO_TEX;
        build_read_only(a, e, m->p->tex_line);
        m->stats.tex_insts++;
    } else if (e->space == ISA_CONST || e->space == ISA_PARAM) {
        a->ro = RO_CONST;
        build_read_only(a, e, 4);
        m->stats.const_insts++;
    } else {
        a->bypass = e->inst->op != ISA_OP_CPASYNC && !e->is_atomic && goes_past_l1(e->inst);
        build_device(m, a, e, a->warp);
        build_shared(m, a, e);
        count_device(m, a, e);
    }
}

uint32_t lsu_build(struct sm *m, uint32_t w, const struct uop *u, const struct emu_access *e)
{
    uint32_t id = access_new(m);
    struct sm_access *a = &m->accesses[id];
    a->count = a->done = a->local_from = a->passes = 0;
    a->latest = 0;
    a->warp = w;
    a->pc = e->pc;
    a->lane_address = 0;
    a->kind = e->is_atomic ? REQ_ATOMIC : e->is_store ? REQ_WRITE : REQ_READ;
    a->ro = RO_COUNT;
    a->bypass = a->has_shared = false;
    build_memory(m, a, e);
    a->pending = pending_new(m);
    struct sm_warp *s = &m->warps[w];
    bool is_device = a->count && a->ro == RO_COUNT;
    m->pendings[a->pending] = (struct sm_pending){.op = u,
                                                  .warp = w,
                                                  .left = 1, /* until it has left the load-store unit */
                                                  .issued = m->cycle,
                                                  .grid = m->ctas[s->cta].grid,
                                                  .record = e->deferred ? e->atomic_record : SM_NONE,
                                                  .group = s->group,
                                                  .is_timed = is_device && a->kind == REQ_READ};
    s->memory++;
    if (u->flags & UOP_ASYNC) s->groups[s->group % ASYNC_GROUPS]++;
    return id;
}

/* APRES Table I: the difference of addresses of successive executions by different warps, divided by the
 * difference of the warps. The most frequent strides are kept; a new one takes the place of the rarest and
 * its count (space-saving, Metwally et al., ICDT'05). */
void lsu_note_load(struct sm *m, uint32_t w, uint32_t pc, uint64_t address, uint32_t lines)
{
    struct sm_program *p = m->warps[w].program;
    struct pc_load_stats *s = &p->loads[pc];
    struct pc_last *last = &p->last[pc];
    uint64_t number = m->warps[w].number;
    s->executions++;
    s->lines += lines;
    if (last->valid && last->warp != number) {
        int64_t stride = (int64_t)(address - last->address) / (int64_t)(number - last->warp);
        uint32_t at = 0, least = 0;
        while (at < PC_STRIDES && !(s->stride_count[at] && s->stride[at] == stride)) {
            if (s->stride_count[at] < s->stride_count[least]) least = at;
            at++;
        }
        if (at == PC_STRIDES) at = least;
        s->stride[at] = stride;
        s->stride_count[at]++;
        s->strides++;
    }
    *last = (struct pc_last){.address = address, .warp = number, .valid = true};
}
