/* late.c: the log of an SM's effects on device memory: see late.h, whose invariants it keeps. */
#include "emu/late.h"

/* Entries at the start: the stores that the schedulers of an SM issue in a cycle. */
enum { LOG_START = 8 };

struct emu_log *emu_log_create(struct event_flag *written)
{
    struct emu_log *log = mem_zalloc(sizeof *log);
    for (int i = 0; i < LOG_START; i++) vec_push(&log->entries, (struct late_entry){.mask = 0});
    log->entries.len = 0;
    log->lo = UINT64_MAX;
    log->written = written;
    return log;
}

void emu_log_destroy(struct emu_log *log)
{
    if (!log) return;
    vec_free(&log->entries);
    free(log);
}

bool emu_log_is_empty(const struct emu_log *log) { return !log->entries.len; }

/* Usually there is room already. An entry is big, and only what its kind needs is written. */
static struct late_entry *entry_new(struct emu_log *log, enum late_kind kind, uint32_t mask)
{
    if (log->entries.len == log->entries.cap) {
        vec_push(&log->entries, (struct late_entry){.mask = 0});
        log->entries.len--;
    }
    struct late_entry *e = &log->entries.data[log->entries.len++];
    e->kind = (uint8_t)kind;
    e->mask = mask;
    event_flag_set(log->written);
    return e;
}

static void widen(struct emu_log *log, const uint8_t *from, const uint8_t *to)
{
    log->lo = MIN(log->lo, (uint64_t)(uintptr_t)from);
    log->hi = MAX(log->hi, (uint64_t)(uintptr_t)to);
}

static void widen_lanes(struct emu_log *log, const struct reach *r, uint32_t mask, uint32_t bytes)
{
    if (r->regular) {
        uint8_t *last = r->base + 31 * r->stride;
        widen(log, MIN(r->base, last), MAX(r->base, last) + bytes);
        return;
    }
    FOR_LANES (l, mask) widen(log, r->at[l], r->at[l] + bytes);
}

void late_store(struct emu_log *log, struct reach *r, uint32_t mask, uint32_t bytes)
{
    assert(bytes <= LATE_LANE_BYTES);
    struct late_entry *e = entry_new(log, LATE_STORE, r->regular ? UINT32_MAX : mask);
    e->bytes = bytes;
    e->regular = r->regular;
    widen_lanes(log, r, mask, bytes);
    if (r->regular) {
        e->base = r->base;
        e->stride = r->stride;
        r->base = e->data;
        r->stride = bytes;
        return;
    }
    FOR_LANES (l, mask) {
        e->at[l] = r->at[l];
        r->at[l] = e->data + l * bytes;
    }
}

void late_atomic(struct emu_log *log, enum late_kind kind, struct deferred_pool *pool, uint32_t record,
                 uint32_t lanes)
{
    struct deferred *d = deferred_at(pool, record);
    struct late_entry *e = entry_new(log, kind, lanes);
    e->pool = pool;
    e->record = record;
    e->fresh = lanes & d->todo & ~d->logged;
    d->logged |= e->fresh;
    FOR_LANES (l, e->fresh) {
        uint8_t *p = (uint8_t *)(uintptr_t)d->addr[l];
        widen(log, p, p + ATOM_BYTES_MAX);
    }
}

bool late_op(struct emu_log *log, struct warp *w, const struct isa_inst *i, uint32_t mask)
{
    switch (i->op) {
    case ISA_OP_PRINTF:
    case ISA_OP_MALLOC:
    case ISA_OP_FREE:
    case ISA_OP_ASSERTFAIL: break;
    default: return false;
    }
    struct late_entry *e = entry_new(log, LATE_OP, mask);
    e->warp = w;
    e->inst = i;
    e->pc = w->leaf->pc;
    return true;
}

/* ---- searching the log ---- */

static uint8_t *store_lane(const struct late_entry *e, uint32_t l)
{
    return e->regular ? e->base + (int64_t)l * e->stride : e->at[l];
}

static void view_store(const struct late_entry *e, uint8_t *from, uint8_t *view)
{
    FOR_LANES (l, e->mask) {
        uint8_t *p = store_lane(e, l), *lo = MAX(p, from), *hi = MIN(p + e->bytes, from + LATE_LANE_BYTES);
        if (lo < hi) memcpy(view + (lo - from), e->data + l * e->bytes + (lo - p), (size_t)(hi - lo));
    }
}

/* Atomics are at most 16 bytes and aligned: they lie wholly inside the view or wholly outside. */
static void view_atomics(const struct late_entry *e, uint8_t *from, uint8_t *view)
{
    const struct deferred *d = deferred_at(e->pool, e->record);
    FOR_LANES (l, e->fresh) {
        uint64_t old[2], at = d->addr[l] - (uint64_t)(uintptr_t)from;
        if (at < LATE_LANE_BYTES) atomic_lane(d->inst, true, view + at, &d->values, l, old);
    }
}

static uint8_t *view_of(struct emu_log *log, uint32_t lane, uint8_t *p)
{
    uint8_t *view = log->views[lane], *from = p - ((uintptr_t)p & (LATE_LANE_BYTES - 1));
    memcpy(view, from, LATE_LANE_BYTES);
    for (uint32_t i = 0; i < log->entries.len; i++) {
        const struct late_entry *e = &log->entries.data[i];
        if (e->kind == LATE_STORE)
            view_store(e, from, view);
        else if (e->kind != LATE_OP)
            view_atomics(e, from, view);
    }
    return view + (p - from);
}

static bool touches(const struct emu_log *log, const uint8_t *p, uint32_t bytes)
{
    uint64_t at = (uint64_t)(uintptr_t)p;
    return at < log->hi && at + bytes > log->lo;
}

void late_load(struct emu_log *log, struct reach *r, uint32_t mask, uint32_t bytes)
{
    assert(bytes <= LATE_LANE_BYTES);
    uint32_t seen = 0;
    FOR_LANES (l, mask) seen |= (uint32_t)touches(log, reach_lane(r, l), bytes) << l;
    if (!seen) return;
    if (r->regular)
        FOR_LANES (m, mask) r->at[m] = r->base + (int64_t)m * r->stride;
    r->regular = false;
    FOR_LANES (n, seen) r->at[n] = view_of(log, n, r->at[n]);
}

/* ---- the end of the cycle ---- */

static void apply_store(const struct late_entry *e)
{
    if (e->regular && e->stride == (int64_t)e->bytes) {
        memcpy(e->base, e->data, (size_t)e->bytes * ISA_LANES);
        return;
    }
    FOR_LANES (l, e->mask) memcpy(store_lane(e, l), e->data + l * e->bytes, e->bytes);
}

/* Runs with the warp at that instruction, so that a fault names it. */
static bool apply_op(const struct late_entry *e)
{
    struct warp *w = e->warp;
    struct leaf here = {.pc = e->pc, .mask = e->mask}, *now = w->leaf;
    w->leaf = &here;
    w->run->table[e->inst->op](&w->x, e->inst, e->mask);
    w->leaf = now;
    return w->event != EVENT_FAULT;
}

bool emu_log_apply(struct emu_log *log)
{
    bool ok = true;
    for (uint32_t i = 0; i < log->entries.len; i++) {
        const struct late_entry *e = &log->entries.data[i];
        switch ((enum late_kind)e->kind) {
        case LATE_STORE: apply_store(e); break;
        case LATE_SETTLE: deferred_happen(e->pool, e->record, e->mask); break;
        case LATE_APPLY: deferred_apply(e->pool, e->record, e->mask); break;
        case LATE_OP: ok = apply_op(e) && ok; break;
        }
    }
    log->entries.len = 0;
    log->lo = UINT64_MAX;
    log->hi = 0;
    return ok;
}
