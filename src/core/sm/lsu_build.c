/* lsu_build.c: makes the accesses of a memory instruction from its lanes' addresses: coalesced transactions
 * for global and local memory (mem/coalesce.h), passes for shared memory, distinct words for constants, the
 * lines of all texels for textures. */
#include "core/sm/sm_impl.h"

static uint32_t access_new(struct sm *m)
{
    const uint32_t id = m->lsu.access_free;
    debug_assert(id != SM_NONE);
    m->lsu.access_free = m->memory.accesses[id].next;
    m->memory.access_live++;
    return id;
}

static uint32_t pending_new(struct sm *m)
{
    const uint32_t id = m->lsu.pending_free;
    debug_assert(id != SM_NONE);
    m->lsu.pending_free = m->memory.pendings[id].next;
    m->memory.pending_live++;
    return id;
}

static uint32_t lane_first(uint32_t mask) { return (uint32_t)__builtin_ctz(mask); }

uint64_t lsu_local_base(uint32_t sm, uint32_t sm_count, uint32_t context)
{
    enum { TOGETHER = 64 };
    const uint64_t block = (uint64_t)(context / TOGETHER) * sm_count + sm;
    return SM_LOCAL_BASE + ((block * TOGETHER + context % TOGETHER) << SM_LOCAL_BITS);
}

static uint64_t local_base(const struct sm *m, const struct context *x)
{
    return lsu_local_base(m->setup.index, m->setup.sm_count, x->id);
}

/* Adds the line of an address for a read-only cache, once for each line. Only the L1 looks at the sectors. */
static void add_line(struct lsu_access *a, uint64_t address, uint32_t line_bytes)
{
    uint64_t line = address / line_bytes * line_bytes;
    uint32_t i = 0;
    while (i < a->count && a->txns[i].line != line) i++;
    if (i == a->count) a->txns[a->count++] = (struct coalesce_txn){.line = line};
    a->txns[i].sectors |= 1u << (address - line) / COALESCE_SECTOR_BYTES;
}

/* Distinct words of constants, distinct lines of read-only data, in lane order. */
static void build_read_only(struct lsu_access *a, const struct emu_access *e, uint32_t granule)
{
    for (uint32_t rest = e->mask; rest; rest &= rest - 1) add_line(a, e->addr[lane_first(rest)], granule);
}

/* The lines of all texels that the lanes read: four each where a plane is filtered. A texel lies in one
 * line. */
COLD static void build_texture(struct sm *m, struct context *x, struct lsu_access *a,
                               const struct emu_access *e)
{
    bool is_l1 = m->p->tex_path == READ_PATH_L1;
    uint32_t line_bytes = is_l1 ? m->line_bytes : m->p->tex_line;
    for (uint32_t rest = e->mask; rest; rest &= rest - 1) {
        uint32_t lane = lane_first(rest);
        for (uint32_t k = 0; k < e->texels.count[lane]; k++) add_line(a, e->texels.addr[lane][k], line_bytes);
    }
    a->ro = is_l1 ? RO_COUNT : RO_TEX;
    a->local_from = a->count;
    a->is_texture = true;
    grid_stats(x)->tex_insts++;
    if (!is_l1 || m->setup.l1->sectored) return;
    for (uint32_t i = 0; i < a->count; i++) a->txns[i].sectors = coalesce_line_sectors(line_bytes);
}

static void build_device(struct sm *m, struct context *x, struct lsu_access *a, const struct emu_access *e)
{
    struct coalesce_access c = {.addr = e->addr,
                                .mask = e->mask & ~e->shared_lanes & ~e->local_lanes,
                                .bytes = e->bytes,
                                .line_bytes = m->line_bytes,
                                .sectored = m->setup.l1->sectored,
                                .is_store = e->is_store,
                                .is_atomic = e->is_atomic,
                                .descending = m->p->lsu_descending,
                                .split_atomic = m->p->lsu_split_atomics,
                                .atomic_bytes = m->setup.machine->l2.line};
    if (c.mask) a->count = coalesce_global(&c, a->txns);
    if (UNLIKELY(e->is_late)) {
        assert(a->count == 1); /* a helper loads one line of its window at a time */
        a->txns[0].lanes = e->mask;
    }
    a->local_from = a->count;
    c.mask = e->mask & e->local_lanes;
    if (!c.mask) return;
    if (!a->count) {
        a->count = coalesce_local(&c, local_base(m, x), a->txns);
        return;
    }
    struct coalesce_txn local[COALESCE_TXN_MAX]; /* lanes of both kinds: at most 32 lines of the one, so there
                                                    is room for the other */
    uint32_t count = coalesce_local(&c, local_base(m, x), local);
    assert(a->count + count <= COALESCE_TXN_MAX);
    memcpy(a->txns + a->count, local, count * sizeof *local);
    a->count += count;
}

static void build_shared(struct sm *m, struct context *x, struct lsu_access *a, const struct emu_access *e)
{
    if (!e->shared_lanes) return;
    const struct shared_access s = {.addr = e->addr,
                                    .mask = e->shared_lanes,
                                    .bytes = e->bytes,
                                    .is_atomic = e->is_atomic,
                                    .banks = m->p->shared_banks,
                                    .bank_bytes = m->p->shared_bank_bytes};
    a->passes = coalesce_shared_passes(&s);
    a->has_shared = true;
    grid_stats(x)->shared_insts++;
    m->stats.shared_conflict_cycles += a->passes - 1;
}

static uint32_t sectors_of(const struct lsu_access *a)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < a->count; i++) sum += bits_count(a->txns[i].sectors);
    return sum;
}

static void count_device(const struct sm *m, struct context *x, const struct lsu_access *a)
{
    struct sm_stats *s = grid_stats(x);
    if (!a->count) return;
    if (a->ask.kind == REQ_READ) {
        s->loads++;
        s->load_transactions += a->count;
        if (m->setup.l1->sectored) s->load_sectors += sectors_of(a);
        load_executed(&x->program->loads[a->ask.pc], x->number, a->ask.lane_address, a->count);
    } else if (a->ask.kind == REQ_WRITE) {
        s->stores++;
        s->store_transactions += a->count;
        if (m->setup.l1->sectored) s->store_sectors += sectors_of(a);
    } else {
        s->atomics++;
    }
}

/* One transaction: the part of a range that lies in one line. */
static void bulk_line(const struct sm *m, uint64_t addr, uint64_t end, bool is_store, struct coalesce_txn *t)
{
    const uint64_t line = addr / m->line_bytes * m->line_bytes;
    const uint32_t first = (uint32_t)(addr - line) / COALESCE_SECTOR_BYTES,
                   last = (uint32_t)(end - 1 - line) / COALESCE_SECTOR_BYTES;
    *t = (struct coalesce_txn){.line = line, .sectors = (uint8_t)((2u << last) - (1u << first))};
    if (!is_store && !m->setup.l1->sectored) t->sectors = (uint8_t)sm_line_sectors(m);
    if (!is_store) return;
    t->write_bytes = (uint16_t)((last - first + 1) * COALESCE_SECTOR_BYTES);
    t->partial = end - addr < t->write_bytes;
}

/* The first of the transactions that are left, as many as an access holds. */
COLD static uint32_t bulk_lines(const struct sm *m, struct lsu_bulk *b, struct lsu_access *a)
{
    uint32_t count = 0;
    while (b->at < b->count && count < SM_TXN_MAX) {
        const uint64_t addr = b->range[b->at].addr, end = b->range[b->at].end;
        const uint64_t stop = MIN(addr / m->line_bytes * m->line_bytes + m->line_bytes, end);
        if (addr == end) {
            b->at++;
            continue;
        }
        bulk_line(m, addr, stop, a->ask.kind == REQ_WRITE, &a->txns[count++]);
        b->range[b->at].addr = stop;
    }
    a->local_from = (uint16_t)count;
    return count;
}

COLD uint32_t lsu_bulk_next(struct sm *m, struct lsu_bulk *b, struct lsu_access *a)
{
    const uint32_t count = bulk_lines(m, b, a);
    if (a->ask.kind == REQ_READ) grid_stats(context_at(&m->state, a->ask.warp))->load_transactions += count;
    return count;
}

/* cp.async.bulk asks for whole lines, as a copy engine does. Its writes to shared memory take no pass of the
 * load-store unit. */
COLD static void build_bulk(struct sm *m, struct context *x, struct lsu_access *a, const struct emu_access *e)
{
    struct lsu_bulk *b = &m->memory.bulks[a - m->memory.accesses];
    b->count = b->at = 0;
    for (uint32_t rest = e->mask; rest; rest &= rest - 1) {
        const uint32_t l = lane_first(rest);
        b->range[b->count].addr = e->addr[l];
        b->range[b->count++].end = e->addr[l] + e->bulk_bytes[l];
    }
    a->is_bulk = true;
    a->count = (uint16_t)bulk_lines(m, b, a);
    count_device(m, x, a);
}

static bool goes_past_l1(const struct isa_inst *i)
{
    if (i->op == ISA_OP_PREFETCH) return i->mod2 == 2;
    return i->flags & ISA_VOLATILE || i->mod2 == ISA_CG || i->mod2 == ISA_CV;
}

/* Is it an ld.global.nc, on a machine that reads these through the texture cache? */
static bool goes_to_read_only_cache(const struct sm *m, const struct emu_access *e)
{
    return m->p->nc_path == READ_PATH_TEX && e->inst->flags & ISA_NC && e->space == ISA_GLOBAL &&
           !(e->shared_lanes | e->local_lanes);
}

static void build_memory(struct sm *m, struct context *x, struct lsu_access *a, const struct emu_access *e)
{
    if (!e->mask || e->space == ISA_GENERIC) {
        if (!e->is_texture || !e->mask) return;
    }
    a->ask.lane_address = e->addr[lane_first(e->mask)];
    if (e->is_texture) {
        build_texture(m, x, a, e);
    } else if (UNLIKELY(e->is_bulk)) {
        build_bulk(m, x, a, e);
    } else if (goes_to_read_only_cache(m, e)) {
        a->ro = RO_TEX;
        build_read_only(a, e, m->p->tex_line);
        count_device(m, x, a);
    } else if (e->space == ISA_CONST || e->space == ISA_PARAM) {
        a->ro = RO_CONST;
        build_read_only(a, e, 4);
        grid_stats(x)->const_insts++;
    } else {
        a->ask.bypass = e->inst->op != ISA_OP_CPASYNC && !e->is_atomic && goes_past_l1(e->inst);
        build_device(m, x, a, e);
        build_shared(m, x, a, e);
        count_device(m, x, a);
    }
}

uint32_t lsu_build(struct sm *m, struct context *x, const struct uop *u, const struct emu_access *e)
{
    const uint32_t id = access_new(m), context = x->id;
    struct lsu_access *a = &m->memory.accesses[id];
    a->ask = (struct l1_txn){.kind = e->is_atomic || e->is_late ? REQ_ATOMIC
                                     : e->is_store              ? REQ_WRITE
                                                                : REQ_READ,
                             .cls = e->is_texture ? REQ_TEX : REQ_GLOBAL,
                             .warp = (uint16_t)context,
                             .launch = (uint32_t)x->launch,
                             .owner = x->program->owner,
                             .own = &x->program->own.l1,
                             .pc = e->pc,
                             .id = ++m->memory.issue_id};
    a->count = a->done = a->local_from = a->passes = 0;
    a->ro = RO_COUNT;
    a->has_shared = a->is_texture = a->is_bulk = false;
    build_memory(m, x, a, e);
    a->pending = pending_new(m);
    a->ask.token = a->ask.kind == REQ_WRITE ? L1_NO_TOKEN : a->pending; /* TOKEN_LOAD */
    const bool is_device = a->count && a->ro != RO_CONST && !a->is_texture;
    m->memory.pendings[a->pending] =
        (struct lsu_pending){.op = u,
                             .context = (uint16_t)context,
                             .left = 1, /* until it has left the load-store unit */
                             .issued = m->sleep.cycle,
                             .record = e->deferred ? e->atomic_record : SM_NONE,
                             .group = board_memory(x, u),
                             .is_timed = is_device && a->ask.kind == REQ_READ && !a->is_bulk};
    return id;
}
