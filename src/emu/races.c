/* races.c: see races.h.
 *
 * Within a CTA order is kept by vector clocks, one for each warp (Flanagan and Freund, "FastTrack", PLDI'09):
 * clocks[w][v] is the last clock of warp v whose accesses come before what warp w does now. Barriers join
 * them. Across CTAs a *release* is a strong write after a fence, or a write that is .release itself: it
 * stamps its word with a time, and says up to which clocks the accesses of its CTA come before it. A strong
 * read of that word *acquires* the time: what follows comes after all that was released until then.
 * Invariants. (1) What is ordered is never reported. Time is coarser than chains of single releases, so some
 * races are missed in programs that release often. (2) A warp's own clock grows at each barrier and fence, so
 * that accesses after it differ from those before it. */
#include "emu/races.h"

#include "base/hash.h"
#include "emu/fault.h"
#include "emu/memory.h"
#include "emu/shadow.h"

/* A fence of the scope of the CTA orders nothing for other CTAs. */
enum { SCOPE_CTA, SCOPE_GPU, SCOPES };

/* Accesses of a warp up to a clock were released at a time. Both grow along a list. */
struct release {
    uint32_t clock;
    uint64_t time;
};
struct release_list {
    VEC(struct release) items;
};

/* What a CTA released: lists by scope and warp. Stays when the CTA has ended. */
struct race_releases {
    struct release_list *lists;
};

struct race_cta {
    /* [warp][warp] */
    uint32_t *clocks;
    /* [warp][warp]: clocks at the warp's last fence; 0 = none */
    uint32_t *fences[SCOPES];
    /* [barrier][warp]: joined clocks of those that have arrived */
    uint32_t *barriers;
    /* [warp]: a time */
    uint64_t *acquired;
    /* acquired by those that have arrived */
    uint64_t joined[BARRIERS];
};

struct races {
    struct run *run;
    exec_fn *const *plain;
    exec_fn *table[ISA_OP_COUNT];
    struct shadow shadow;
    /* releases so far */
    uint64_t time;
    /* by the number of the CTA */
    VEC(struct race_releases) releases;
};

/* ---- CTAs ---- */

static uint32_t *clocks_of(const struct warp *w)
{
    return w->cta->races->clocks + w->index * w->cta->warp_count;
}

void races_free_cta(struct cta *c)
{
    struct race_cta *r = c->races;
    if (!r) return;
    free(r->clocks);
    for (uint32_t s = 0; s < SCOPES; s++) free(r->fences[s]);
    free(r->barriers);
    free(r->acquired);
    free(r);
    c->races = NULL;
}

void races_begin_cta(struct cta *c)
{
    const uint32_t n = c->warp_count;
    races_free_cta(c);
    struct race_cta *r = c->races = mem_zalloc(sizeof *r);
    r->clocks = mem_zalloc(sizeof *r->clocks * n * n);
    for (uint32_t s = 0; s < SCOPES; s++) r->fences[s] = mem_zalloc(sizeof *r->fences[s] * n * n);
    r->barriers = mem_zalloc(sizeof *r->barriers * BARRIERS * n);
    r->acquired = mem_zalloc(sizeof *r->acquired * n);
    for (uint32_t w = 0; w < n; w++) r->clocks[w * n + w] = 1;
    shadow_clear(&c->run->races->shadow, (uint64_t)(uintptr_t)c->shared, c->run->shared_bytes);
}

static void join(uint32_t *to, const uint32_t *from, uint32_t count)
{
    for (uint32_t v = 0; v < count; v++) to[v] = MAX(to[v], from[v]);
}

/* Raises the warp's clock, so that its later accesses differ from its earlier ones. */
static void advance(struct warp *w) { clocks_of(w)[w->index]++; }

void races_arrive(struct warp *w, uint32_t barrier)
{
    struct race_cta *r = w->cta->races;
    join(r->barriers + barrier * w->cta->warp_count, clocks_of(w), w->cta->warp_count);
    r->joined[barrier] = MAX(r->joined[barrier], r->acquired[w->index]);
    advance(w);
}

void races_complete(struct cta *c, uint32_t barrier, uint64_t warps)
{
    struct race_cta *r = c->races;
    uint32_t *joined = r->barriers + barrier * c->warp_count;
    for (uint32_t k = 0; k < c->warp_count; k++) /* ended threads count as arrived */
        if (!c->warps[k].live) join(joined, r->clocks + k * c->warp_count, c->warp_count);
    for (uint32_t k = 0; k < c->warp_count; k++) {
        if (!(warps >> k & 1)) continue;
        join(r->clocks + k * c->warp_count, joined, c->warp_count);
        r->acquired[k] = MAX(r->acquired[k], r->joined[barrier]);
    }
    memset(joined, 0, sizeof *joined * c->warp_count);
    r->joined[barrier] = 0;
}

/* ---- release and acquire ---- */

static void note_fence(struct warp *w, bool is_wide)
{
    struct race_cta *r = w->cta->races;
    const uint32_t n = w->cta->warp_count;
    for (uint32_t s = SCOPE_CTA; s <= (is_wide ? SCOPE_GPU : SCOPE_CTA); s++)
        memcpy(r->fences[s] + w->index * n, clocks_of(w), sizeof *r->clocks * n);
    advance(w);
}

static struct release_list *lists_of(struct races *s, uint64_t cta)
{
    while (s->releases.len <= cta) vec_push(&s->releases, (struct race_releases){0});
    struct race_releases *r = &s->releases.data[cta];
    if (!r->lists) r->lists = mem_zalloc(sizeof *r->lists * SCOPES * s->run->warps_per_cta);
    return r->lists;
}

static void note_release(struct races *s, struct warp *w, uint64_t address)
{
    const uint32_t n = w->cta->warp_count;
    if (!w->cta->races->fences[SCOPE_CTA][w->index * n + w->index]) return; /* no fence yet */
    struct release_list *lists = lists_of(s, w->cta->linear);
    *shadow_released(&s->shadow, address) = ++s->time;
    for (uint32_t scope = 0; scope < SCOPES; scope++)
        for (uint32_t v = 0; v < n; v++) {
            uint32_t clock = w->cta->races->fences[scope][w->index * n + v];
            struct release_list *l = &lists[scope * n + v];
            if (!clock || (l->items.len && l->items.data[l->items.len - 1].clock >= clock)) continue;
            vec_push(&l->items, (struct release){clock, s->time});
        }
}

static void note_acquire(struct races *s, struct warp *w, uint64_t address)
{
    uint64_t *acquired = &w->cta->races->acquired[w->index];
    *acquired = MAX(*acquired, *shadow_released(&s->shadow, address));
}

/* When the accesses of a list's warp up to a clock were first released; UINT64_MAX: not yet. */
static uint64_t release_time(const struct release_list *l, uint32_t clock)
{
    uint32_t lo = 0, hi = l->items.len;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (l->items.data[mid].clock < clock)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < l->items.len ? l->items.data[lo].time : UINT64_MAX;
}

/* Does the access come before what the warp does next? */
static bool is_before(struct races *s, const struct shadow_access *a, struct warp *w)
{
    const uint32_t n = w->cta->warp_count;
    uint64_t cta = (a->warp - 1) / n;
    uint32_t v = (uint32_t)((a->warp - 1) % n);
    bool is_near = cta == w->cta->linear;
    if (is_near && clocks_of(w)[v] >= a->clock) return true;
    if (cta >= s->releases.len || !s->releases.data[cta].lists) return false;
    const struct release_list *lists = s->releases.data[cta].lists;
    uint64_t acquired = w->cta->races->acquired[w->index];
    return release_time(&lists[SCOPE_GPU * n + v], a->clock) <= acquired ||
           (is_near && release_time(&lists[SCOPE_CTA * n + v], a->clock) <= acquired);
}

/* ---- the report ---- */

static const char *kind_name(const struct races *s, const struct shadow_access *a)
{
    if (isa_ops[s->run->insts[a->pc].op].flags & ISA_ATOMIC) return "atomic";
    return a->kind & ACCESS_WRITES ? "write" : "read";
}

static void describe(const struct races *s, const struct shadow_access *a, struct strbuf *out)
{
    const struct run *r = s->run;
    const uint32_t *grid = r->launch->grid;
    uint64_t cta = (a->warp - 1) / r->warps_per_cta;
    const uint32_t(*tid)[ISA_LANES] = (const uint32_t(*)[ISA_LANES])r->tids[(a->warp - 1) % r->warps_per_cta];
    strbuf_printf(out, "  %s at ", kind_name(s, a));
    fault_place(r->kernel, a->pc, out);
    strbuf_printf(out, ", CTA (%u,%u,%u), thread (%u,%u,%u)\n", (uint32_t)(cta % grid[0]),
                  (uint32_t)(cta / grid[0] % grid[1]), (uint32_t)(cta / grid[0] / grid[1]), tid[0][a->lane],
                  tid[1][a->lane], tid[2][a->lane]);
}

/* True: this pair of instructions has not been reported yet. */
static bool is_first(const struct races *s, uint32_t a, uint32_t b)
{
    struct emu_device *d = s->run->device;
    const struct isa_kernel *k = s->run->kernel;
    uint32_t pcs[2] = {MIN(a, b), MAX(a, b)};
    uint64_t key = hash_bytes(hash_text(k->name), pcs, sizeof pcs);
    if (k->ptx_name) key = hash_bytes(key, k->ptx_name, strlen(k->ptx_name));
    for (uint32_t i = 0; i < d->races.len; i++)
        if (d->races.data[i] == key) return false;
    vec_push(&d->races, key);
    return true;
}

static void report(struct races *s, struct warp *w, const struct shadow_access *old,
                   const struct shadow_access *now, uint64_t address, uint32_t bytes)
{
    struct strbuf text = {0};
    const uint64_t shared = (uint64_t)(uintptr_t)w->cta->shared;
    bool is_shared = address - shared < s->run->shared_bytes;
    if (!is_first(s, old->pc, now->pc)) return;
    strbuf_printf(&text, "heddle: kernel '%s': race on %u byte%s of %s memory at 0x%llx",
                  s->run->kernel->name, bytes, bytes == 1 ? "" : "s", is_shared ? "shared" : "global",
                  (unsigned long long)(is_shared ? address - shared : address));
    if (!is_shared) {
        strbuf_puts(&text, ", ");
        space_explain(s->run->device->space, address, &text);
    }
    strbuf_putc(&text, '\n');
    describe(s, old, &text);
    describe(s, now, &text);
    device_write(s->run->device, true, strbuf_text(&text), text.len);
    strbuf_free(&text);
}

void emu_race_summary(uint64_t pairs, struct strbuf *out)
{
    if (!pairs)
        strbuf_puts(out, "heddle: no races found\n");
    else
        strbuf_printf(out, "heddle: %llu race%s found: pairs of instructions without an order\n",
                      (unsigned long long)pairs, pairs == 1 ? "" : "s");
}

/* ---- accesses ---- */

static bool conflict(const struct shadow_access *old, const struct shadow_access *now)
{
    return old->warp && old->warp != now->warp && (old->kind | now->kind) & ACCESS_WRITES &&
           !(old->kind & now->kind & ACCESS_STRONG);
}

static void check_cell(struct races *s, struct warp *w, const struct shadow_cell *c,
                       const struct shadow_access *now, uint64_t address, uint32_t bytes)
{
    const struct shadow_access *const old[] = {&c->writes.of[0], &c->writes.of[1], &c->reads.of[0],
                                               &c->reads.of[1]};
    for (uint32_t i = 0; i < ARRAY_LEN(old); i++) {
        if (!conflict(old[i], now) || is_before(s, old[i], w)) continue;
        report(s, w, old[i], now, address, bytes);
        return;
    }
}

static void note_lane(struct races *s, struct warp *w, const struct shadow_access *now, uint64_t address,
                      uint32_t bytes)
{
    for (uint32_t at = 0, step; at < bytes; at += step) {
        struct shadow_cell *c = shadow_at(&s->shadow, address + at, bytes - at, &step);
        check_cell(s, w, c, now, address + at, MIN(step, bytes - at));
        shadow_add(&s->shadow, c, now);
    }
}

static uint8_t kind_of(const struct isa_inst *i, enum access access, bool is_shared)
{
    /* Old programs use .volatile to keep values of shared memory out of registers; it orders nothing. */
    bool is_strong =
        access == ACCESS_ATOMIC || i->flags & ISA_ORDERED || (i->flags & ISA_VOLATILE && !is_shared);
    return (uint8_t)((access == ACCESS_LOAD ? 0 : ACCESS_WRITES) | (is_strong ? ACCESS_STRONG : 0));
}

/* Is it an access by which threads may wait for each other? */
static bool is_flag(const struct isa_inst *i, enum access access)
{
    return access == ACCESS_ATOMIC || i->flags & ISA_VOLATILE;
}

static void note_access(struct races *s, struct warp *w, const struct isa_inst *i, enum access access,
                        uint32_t mask, const struct reach *r, uint32_t bytes)
{
    struct shadow_access now = {.warp = w->cta->linear * w->cta->warp_count + w->index + 1,
                                .pc = w->leaf->pc};
    bool syncs = is_flag(i, access), releases = syncs && access != ACCESS_LOAD;
    if (releases && i->flags & ISA_ORDERED) note_fence(w, true);
    /* A write that releases is itself among the released accesses. */
    const uint32_t n = w->cta->warp_count, fence = w->cta->races->fences[SCOPE_CTA][w->index * n + w->index];
    now.clock = releases && fence ? fence : clocks_of(w)[w->index];
    FOR_LANES (l, mask & (r->shared | r->global)) {
        uint64_t address = (uint64_t)(uintptr_t)reach_lane(r, l);
        now.lane = l & (ISA_LANES - 1);
        now.kind = kind_of(i, access, r->shared >> l & 1) & 3;
        if (syncs && access != ACCESS_STORE) note_acquire(s, w, address);
        note_lane(s, w, &now, address, bytes);
        if (releases) note_release(s, w, address);
    }
}

/* ---- instructions ---- */

static void op_access(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct races *s = x->warp->run->races;
    struct access_desc d;
    struct reach r;
    if (!memory_describe(i, &d)) UNREACHABLE("an access without an address");
    if (!memory_reach(x->warp, &d, mask, &r)) return; /* a fault was raised */
    note_access(s, x->warp, i, (enum access)d.access, mask, &r, d.bytes);
    s->plain[i->op](x, i, mask);
}

/* Reads device memory in the lanes that copy something, writes shared memory. */
static void op_cpasync(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct races *s = x->warp->run->races;
    const uint32_t *wanted = i->src[2] == ISA_NONE ? NULL : exec_src(x, i->src[2]);
    struct access_desc from, to = {.addr = i->src[0],
                                   .is_32 = i->flags & ISA_A32,
                                   .space = ISA_SHARED,
                                   .access = ACCESS_STORE,
                                   .bytes = i->vec,
                                   .offset = i->imm};
    uint32_t readers = 0;
    struct reach r;
    FOR_LANES (l, mask)
        if (!wanted || wanted[l]) readers |= 1u << l;
    if (readers && memory_describe(i, &from)) {
        if (!memory_reach(x->warp, &from, readers, &r)) return;
        note_access(s, x->warp, i, ACCESS_LOAD, readers, &r, from.bytes);
    }
    if (!memory_reach(x->warp, &to, mask, &r)) return;
    note_access(s, x->warp, i, ACCESS_STORE, mask, &r, to.bytes);
    s->plain[i->op](x, i, mask);
}

static void op_fence(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    note_fence(x->warp, i->mod != ISA_SCOPE_CTA);
    x->warp->run->races->plain[i->op](x, i, mask);
}

/* An arrival releases what its thread did before, a test acquires what was released. */
static void op_mbarrier(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    note_fence(x->warp, false);
    op_access(x, i, mask);
}

/* Textures, surfaces and bulk copies are not checked. */
static exec_fn *searched(uint16_t op, exec_fn *plain)
{
    const struct isa_inst i = {.op = op};
    const uint16_t flags = isa_ops[op].flags;
    if (op == ISA_OP_CPASYNC) return op_cpasync;
    if (op == ISA_OP_MEMBAR) return op_fence;
    if (flags & ISA_MBARRIER) return op_mbarrier;
    if (op == ISA_OP_TEX || memory_is_bulk(&i) || surface_is_access(&i)) return plain;
    return flags & (ISA_LOAD | ISA_STORE | ISA_ATOMIC) ? op_access : plain;
}

struct races *races_open(struct run *r)
{
    struct races *s = mem_zalloc(sizeof *s);
    s->run = r;
    s->plain = r->table;
    for (uint32_t op = 0; op < ISA_OP_COUNT; op++) s->table[op] = searched((uint16_t)op, r->table[op]);
    shadow_open(&s->shadow, r->warps_per_cta);
    r->table = s->table;
    return s;
}

void races_close(struct races *s)
{
    for (uint32_t c = 0; c < s->releases.len; c++) {
        struct release_list *lists = s->releases.data[c].lists;
        for (uint32_t n = 0; lists && n < SCOPES * s->run->warps_per_cta; n++) vec_free(&lists[n].items);
        free(lists);
    }
    vec_free(&s->releases);
    shadow_close(&s->shadow);
    s->run->table = s->plain;
    free(s);
}
