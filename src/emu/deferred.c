/* deferred.c: global atomics between issue and arrival: see deferred.h, whose invariants it keeps. */
#include "emu/late.h"

void deferred_free(struct deferred_pool *p)
{
    vec_free(&p->records);
    *p = (struct deferred_pool){0};
}

static bool is_load(const struct isa_inst *i) { return i->op == ISA_OP_LD_32; }

static uint32_t record_new(struct deferred_pool *p)
{
    uint32_t number = p->free;
    if (number) {
        p->free = deferred_at(p, number)->next;
        return number;
    }
    vec_push(&p->records, (struct deferred){0});
    return (uint32_t)p->records.len;
}

static void warp_append(struct deferred_pool *p, struct warp *w, uint32_t number)
{
    uint32_t *at = &w->deferred_first;
    while (*at) at = &deferred_at(p, *at)->next;
    *at = number;
}

static void warp_remove(struct deferred_pool *p, struct warp *w, uint32_t number)
{
    uint32_t *at = &w->deferred_first;
    while (*at != number) at = &deferred_at(p, *at)->next;
    *at = deferred_at(p, number)->next;
}

/* ---- loads of a privileged launch, which are deferred too ---- */

static uint32_t load_words(const struct isa_inst *i) { return i->vec ? i->vec : 1; }

/* Reads as an atomic does: the bytes in memory, not those that the log of the SM would show a load. */
static bool load_reach(struct warp *w, const struct isa_inst *i, uint32_t mask, struct reach *r)
{
    const struct access_desc d = {.addr = i->src[0],
                                  .is_32 = i->flags & ISA_A32,
                                  .space = i->mod,
                                  .access = ACCESS_ATOMIC,
                                  .bytes = (uint32_t)sizeof(uint32_t) * load_words(i),
                                  .offset = i->imm};
    return memory_reach(w, &d, mask, r);
}

static void load_happens(const struct deferred *d, uint32_t lanes)
{
    if (!d->warp) return;
    for (uint32_t v = 0; v < load_words(d->inst); v++) {
        if (d->inst->dst[v] == ISA_NONE) continue;
        uint32_t *dst = exec_dst(&d->warp->x, d->inst->dst[v]);
        FOR_LANES (l, lanes)
            memcpy(&dst[l], (const uint8_t *)(uintptr_t)d->addr[l] + v * sizeof *dst, sizeof *dst);
    }
}

void deferred_op(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct warp *w = x->warp;
    struct deferred_pool *p = w->share->deferred;
    struct reach r;
    p->last = 0;
    if (!(is_load(i) ? load_reach(w, i, mask, &r) : atomic_reach(w, i, mask, &r))) return;
    uint32_t later = mask & ~r.shared;
    if (r.shared) w->run->table[i->op](x, i, r.shared);
    if (!later) return;
    p->last = record_new(p);
    struct deferred *d = deferred_at(p, p->last);
    d->inst = i;
    d->warp = w;
    d->todo = d->owed = later;
    d->next = d->logged = 0;
    warp_append(p, w, p->last);
    FOR_LANES (l, later) d->addr[l] = (uint64_t)(uintptr_t)reach_lane(&r, l);
    if (is_load(i)) return;
    atomic_operands(x, i, &d->values);
}

/* Makes lanes of a record, in ascending order. */
static void happen(struct deferred *d, uint32_t lanes)
{
    lanes &= d->todo;
    d->todo &= ~lanes;
    d->logged &= ~lanes;
    if (is_load(d->inst)) {
        load_happens(d, lanes);
        return;
    }
    if (atomic_counts(d->inst)) {
        FOR_LANES (c, lanes) atomic_count((uint8_t *)(uintptr_t)d->addr[c], d->values.low[0][c]);
        return;
    }
    FOR_LANES (l, lanes) {
        uint64_t old[2];
        atomic_lane(d->inst, true, (uint8_t *)(uintptr_t)d->addr[l], &d->values, l, old);
        if (d->warp) atomic_result(&d->warp->x, d->inst, l, old);
    }
}

static bool overlap(uint64_t a, uint64_t b,
                    uint32_t b_bytes) /* an atomic at a is at most 16 bytes, aligned */
{
    return a - b < b_bytes || b - a < ATOM_BYTES_MAX;
}

void deferred_happen(struct deferred_pool *p, uint32_t number, uint32_t lanes)
{
    happen(deferred_at(p, number), lanes);
}

/* Where several threads step SMs, atomics are made at the end of the cycle. A late load reads what its
 * controller gives it, whatever its own thread does meanwhile. */
static void happen_in_step(const struct warp *w, uint32_t number, uint32_t lanes)
{
    struct deferred_pool *p = w->share->deferred;
    const struct deferred *d = deferred_at(p, number);
    if (is_load(d->inst)) return;
    if (!w->share->log)
        deferred_happen(p, number, lanes);
    else if (lanes & d->todo & ~d->logged)
        late_atomic(w->share->log, LATE_SETTLE, p, number, lanes);
}

void deferred_settle(struct warp *w)
{
    struct deferred_pool *p = w->share->deferred;
    for (uint32_t n = w->deferred_first; n; n = deferred_at(p, n)->next) happen_in_step(w, n, UINT32_MAX);
}

/* Lanes of a record that touch the same bytes as the same lane of an access. */
static uint32_t same_bytes(const struct deferred *d, uint32_t mask, const uint64_t *addr, uint32_t bytes)
{
    uint32_t same = 0;
    FOR_LANES (l, mask & d->todo) same |= (uint32_t)overlap(d->addr[l], addr[l], bytes) << l;
    return same;
}

void deferred_settle_bytes(struct warp *w, uint32_t mask, const uint64_t *addr, uint32_t bytes)
{
    struct deferred_pool *p = w->share->deferred;
    for (uint32_t n = w->deferred_first; n; n = deferred_at(p, n)->next)
        happen_in_step(w, n, same_bytes(deferred_at(p, n), mask, addr, bytes));
}

/* Makes an earlier atomic of the warp on the same bytes. A late load waits: its controller may answer loads
 * of one line in any order. */
static void happen_before(struct deferred *earlier, const struct deferred *d, uint32_t lanes)
{
    if (is_load(earlier->inst)) return;
    happen(earlier, same_bytes(earlier, lanes & d->todo, d->addr, ATOM_BYTES_MAX));
}

void deferred_apply(struct deferred_pool *p, uint32_t number, uint32_t lanes)
{
    struct deferred *d = deferred_at(p, number);
    assert(!(lanes & ~d->owed));
    for (uint32_t n = d->warp ? d->warp->deferred_first : number; n != number; n = deferred_at(p, n)->next)
        happen_before(deferred_at(p, n), d, lanes);
    happen(d, lanes);
    d->owed &= ~lanes;
    if (d->owed) return;
    if (d->warp) warp_remove(p, d->warp, number);
    d->next = p->free;
    p->free = number;
}

void deferred_settle_all(struct deferred_pool *p)
{
    for (uint32_t n = 1; n <= p->records.len; n++) {
        struct deferred *d = deferred_at(p, n);
        for (uint32_t k = d->owed && d->warp ? d->warp->deferred_first : 0; k; k = deferred_at(p, k)->next)
            deferred_happen(p, k, UINT32_MAX); /* those of one warp stay in order */
        happen(d, UINT32_MAX);
        d->owed = 0;
    }
}

void deferred_detach(struct warp *w)
{
    struct deferred_pool *p = w->share->deferred;
    for (uint32_t n = w->deferred_first, next; n; n = next) {
        next = deferred_at(p, n)->next;
        deferred_at(p, n)->warp = NULL;
    }
    w->deferred_first = 0;
}
