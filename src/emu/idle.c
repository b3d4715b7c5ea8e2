/* idle.c: see idle.h.
 *
 * A watched run uses a separate table of instructions. In it, loads compare the state of their leaf with an
 * earlier one, and instructions that change more than registers report a change. Invariants. (1) A leaf is
 * *cycling* when all registers and predicates of its lanes are as they were when it last executed the same
 * load, and nothing has changed in between: what follows depends on nothing else. (2) Stores and atomics that
 * leave memory as it was are not changes: a lock that is never free is tried for ever. (3) Instructions that
 * this file does not know end the watch. */
#include "emu/idle.h"

#include "base/hash.h"
#include "emu/fault.h"
#include "emu/memory.h"

/* The last state of a leaf that was kept, and what its load read. A state is kept after 1, 2, 4, ... loads,
 * so that one of them lies in the loop and is seen again whatever the number of loads in it (Brent, "An
 * improved Monte Carlo factorization algorithm", 1980). */
struct sample {
    uint32_t pc, mask;
    uint64_t hash;
    uint32_t loads, keep_at;
    /* it is volatile or atomic: it tells more than other loads what the leaf waits for */
    bool is_sync;
    uint8_t space;
    uint32_t bytes;
    uint64_t address;
    const uint8_t *at;
};

struct idle_warp {
    /* lanes */
    uint32_t cycling;
    /* states of leaves, by their first lane */
    struct sample samples[ISA_LANES];
};

struct idle {
    struct run *run;
    exec_fn *const *plain;
    exec_fn *table[ISA_OP_COUNT];
    bool changed;
    struct idle_warp *warps;
    /* threads of each CTA, when it was last looked at */
    uint32_t *cycling;
};

/* ---- what watched instructions do ---- */

void idle_note_change(struct idle *idle)
{
    idle->changed = true;
    idle->run->table = idle->plain; /* takes effect at the next turn */
}

static uint64_t state_hash(const struct warp *w, uint32_t mask)
{
    uint64_t h = hash_bytes(HASH_SEED, &w->leaf->depth, sizeof w->leaf->depth);
    const uint32_t *rows = w->x.rows[0];
    uint32_t lane[ISA_LANES], count = 0;
    FOR_LANES (l, mask) lane[count++] = l;
    for (uint32_t r = 0; r < w->run->image->reg_rows; r++, rows += ISA_LANES) {
        uint32_t packed[ISA_LANES];
        for (uint32_t n = 0; n < count; n++) packed[n] = rows[lane[n]];
        h = hash_bytes(h, packed, count * sizeof *packed);
    }
    for (uint32_t p = 0; p < ISA_PREDS; p++) {
        uint32_t value = w->pred[p] & mask;
        h = hash_bytes(h, &value, sizeof value);
    }
    for (uint32_t d = 0; d < w->leaf->depth; d++)
        h = hash_bytes(h, w->calls.data[d].ret, sizeof w->calls.data[d].ret);
    return h;
}

static bool is_sync(const struct isa_inst *i)
{
    return i->flags & ISA_VOLATILE || isa_ops[i->op].flags & ISA_ATOMIC;
}

static void keep_sample(struct warp *w, const struct isa_inst *i, const struct access_desc *d, uint32_t lane,
                        const struct reach *r, struct sample *s)
{
    const uint32_t *row = exec_src(&w->x, d->addr);
    uint64_t address = (d->is_32 ? row[lane] : row_u64(row, lane)) + (uint64_t)d->offset;
    *s = (struct sample){.pc = w->leaf->pc,
                         .mask = w->leaf->mask,
                         .hash = state_hash(w, w->leaf->mask),
                         .loads = s->loads,
                         .keep_at = 2 * s->keep_at + 1,
                         .is_sync = is_sync(i),
                         .space = (uint8_t)memory_resolve(w->run, d->space, &address),
                         .bytes = d->bytes,
                         .address = address,
                         .at = reach_lane(r, lane)};
}

/* A load is about to execute. */
static void take_sample(struct warp *w, const struct isa_inst *i, const struct access_desc *d, uint32_t mask,
                        const struct reach *r)
{
    struct idle_warp *seen = &w->run->idle->warps[w->watch];
    const struct leaf *leaf = w->leaf;
    struct sample *s = &seen->samples[lane_first(leaf->mask)];
    if (s->is_sync && !is_sync(i)) return;
    if (s->loads && s->pc == leaf->pc && s->mask == leaf->mask && s->hash == state_hash(w, leaf->mask))
        seen->cycling |= leaf->mask;
    else if (s->loads >= s->keep_at || (is_sync(i) && !s->is_sync))
        keep_sample(w, i, d, lane_first(mask), r, s);
    s->loads++;
}

static bool host_writes(struct warp *w, const struct reach *r, uint32_t mask)
{
    FOR_LANES (l, mask & r->global) {
        const struct space_alloc *a =
            space_find(w->run->device->space, (uint64_t)(uintptr_t)reach_lane(r, l));
        if (a && (a->kind == SPACE_MANAGED || a->kind == SPACE_HOST || a->kind == SPACE_REGISTERED))
            return true;
    }
    return false;
}

/* Loads, stores and atomics. */
static void op_access(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    enum { LANE_BYTES_MAX = 32 };
    struct warp *w = x->warp;
    struct idle *idle = w->run->idle;
    struct access_desc d;
    struct reach r;
    uint8_t before[ISA_LANES][LANE_BYTES_MAX];
    exec_fn *fn = idle->plain[i->op];
    if (idle->changed || !memory_describe(i, &d) || !memory_reach(w, &d, mask, &r)) {
        fn(x, i, mask);
        return;
    }
    assert(d.bytes <= LANE_BYTES_MAX);
    if (host_writes(w, &r, mask)) idle_note_change(idle);
    if (d.access != ACCESS_STORE) take_sample(w, i, &d, mask, &r);
    if (d.access != ACCESS_LOAD)
        FOR_LANES (l, mask) memcpy(before[l], reach_lane(&r, l), d.bytes);
    fn(x, i, mask);
    if (d.access == ACCESS_LOAD) return;
    FOR_LANES (l, mask)
        if (memcmp(before[l], reach_lane(&r, l), d.bytes) != 0) idle_note_change(idle);
}

static void op_special_register(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct idle *idle = x->warp->run->idle;
    if (i->mod >= ISA_SREG_CLOCK) idle_note_change(idle);
    idle->plain[i->op](x, i, mask);
}

/* A return that ends threads is a change, one of a function is not. */
static void op_return(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct idle *idle = x->warp->run->idle;
    if (!x->warp->leaf->depth) idle_note_change(idle);
    idle->plain[i->op](x, i, mask);
}

static void op_change(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct idle *idle = x->warp->run->idle;
    idle_note_change(idle);
    idle->plain[i->op](x, i, mask);
}

/* Instructions that change nothing but registers and program counters. The forms of shuffles and votes
 * without .sync depend on which lanes happen to be together, but repeat that as well. */
static bool is_quiet(uint16_t op)
{
    if (isa_is_arithmetic(op)) return true;
    switch (op) {
    case ISA_OP_MEMBAR:
    case ISA_OP_NANOSLEEP:
    case ISA_OP_PREFETCH:
    case ISA_OP_TEX:
    case ISA_OP_TXQ:
    case ISA_OP_BRA:
    case ISA_OP_BRX:
    case ISA_OP_CALL:
    case ISA_OP_CALLI:
    case ISA_OP_IMOV_32:
    case ISA_OP_NOP: return true;
    default: return isa_ops[op].flags & ISA_CONV;
    }
}

static exec_fn *watched(uint16_t op, exec_fn *plain)
{
    if (op == ISA_OP_S2R_32 || op == ISA_OP_S2R_64) return op_special_register;
    if (is_quiet(op)) return plain;
    if (op == ISA_OP_RET) return op_return;
    if (op == ISA_OP_CPASYNC || !(isa_ops[op].flags & (ISA_LOAD | ISA_STORE | ISA_ATOMIC))) return op_change;
    return op_access;
}

/* ---- a watch ---- */

struct idle *idle_begin(struct run *r, const struct idle_grid *g)
{
    struct idle *idle = mem_zalloc(sizeof *idle);
    idle->run = r;
    idle->plain = r->table;
    idle->warps = mem_zalloc(sizeof *idle->warps * g->count * r->warps_per_cta);
    idle->cycling = mem_zalloc(sizeof *idle->cycling * g->count);
    for (uint32_t op = 0; op < ISA_OP_COUNT; op++) idle->table[op] = watched((uint16_t)op, r->table[op]);
    for (uint32_t c = 0; c < g->count; c++)
        for (uint32_t k = 0; k < r->warps_per_cta; k++) g->ctas[c]->warps[k].watch = c * r->warps_per_cta + k;
    r->table = idle->table;
    r->idle = idle;
    return idle;
}

bool idle_is_over(const struct idle *w) { return w->changed; }

/* Lanes of a warp that wait at a barrier or a member mask, and lanes that wait nowhere but may run. */
static void sort_lanes(const struct warp *w, uint32_t *blocked, uint32_t *ready)
{
    *blocked = *ready = 0;
    FOR_LANES (slot, w->leaf_used) {
        const struct leaf *leaf = &w->leaves[slot];
        *(leaf->state == LEAF_READY ? ready : blocked) |= leaf->mask;
    }
}

/* A warp may have many leaves that wait in turn: the watch goes on as long as more of its lanes are found to
 * cycle. */
void idle_look(struct idle *idle, const struct cta *c)
{
    uint32_t cycling = 0;
    bool runs = false;
    for (uint32_t k = 0; k < c->warp_count; k++) {
        const struct idle_warp *seen = &idle->warps[c->warps[k].watch];
        uint32_t blocked, ready;
        sort_lanes(&c->warps[k], &blocked, &ready);
        runs |= ready & ~seen->cycling;
        cycling += lanes_count(seen->cycling);
    }
    uint32_t *before = &idle->cycling[c->warps[0].watch / c->warp_count];
    if (runs && cycling == *before) idle_note_change(idle);
    *before = cycling;
}

/* Looks at one warp. False: it has lanes that run and are not known to cycle. */
static bool judge_warp(struct idle *idle, struct warp *w, bool *released)
{
    uint32_t blocked, ready, cycling = idle->warps[w->watch].cycling;
    sort_lanes(w, &blocked, &ready);
    if (ready & ~cycling) return false;
    uint32_t arrived = w->live & ~(blocked | ready); /* wait for other lanes to reconverge */
    if (!(arrived & ~cycling) || !diverge_release(w)) return true;
    w->cta->warps_ready |= 1ull << w->index;
    *released = true;
    return true;
}

bool idle_is_stuck(struct idle *idle, const struct idle_grid *g)
{
    bool released = false;
    if (idle->changed) return false;
    for (uint32_t c = 0; c < g->count; c++) {
        if (!g->ctas[c]->busy) continue;
        for (uint32_t k = 0; k < g->ctas[c]->warp_count; k++)
            if (!judge_warp(idle, &g->ctas[c]->warps[k], &released)) return false;
    }
    return !released;
}

/* ---- the report ---- */
enum { EXAMPLES_MAX = 6 };

struct report {
    struct strbuf text;
    uint32_t pcs[EXAMPLES_MAX], count, hidden;
};

/* True: the first group of threads at this instruction, and there is room for it. */
static bool is_first(struct report *p, uint32_t pc)
{
    bool known = false;
    for (uint32_t i = 0; i < p->count; i++) known |= p->pcs[i] == pc;
    if (known || p->count == EXAMPLES_MAX) {
        p->hidden++;
        return false;
    }
    p->pcs[p->count++] = pc;
    return true;
}

static void describe_group(struct warp *w, uint32_t mask, uint32_t pc, struct strbuf *out)
{
    uint32_t t[3], n = lanes_count(mask);
    const uint32_t *id = w->cta->id;
    fault_thread(w, lane_first(mask), t);
    strbuf_printf(out, "  %u thread%s of CTA (%u,%u,%u), first (%u,%u,%u), at ", n, n == 1 ? "" : "s", id[0],
                  id[1], id[2], t[0], t[1], t[2]);
    fault_place(w->run->kernel, pc, out);
}

static void describe_sample(struct warp *w, const struct sample *s, struct report *p)
{
    static const char *const spaces[] = {[ISA_GLOBAL] = "global",
                                         [ISA_SHARED] = "shared",
                                         [ISA_LOCAL] = "local",
                                         [ISA_CONST] = "constant",
                                         [ISA_PARAM] = "parameter"};
    if (!is_first(p, s->pc)) return;
    uint64_t value = 0;
    memcpy(&value, s->at, MIN(s->bytes, (uint32_t)sizeof value));
    describe_group(w, s->mask, s->pc, &p->text);
    strbuf_printf(&p->text, ", read %u byte%s of %s memory at 0x%llx again and again: always 0x%llx\n",
                  s->bytes, s->bytes == 1 ? "" : "s", spaces[s->space], (unsigned long long)s->address,
                  (unsigned long long)value);
}

static void describe_readers(struct idle *idle, struct warp *w, struct report *p)
{
    const struct idle_warp *seen = &idle->warps[w->watch];
    for (uint32_t l = 0; l < ISA_LANES; l++)
        if (seen->samples[l].loads && seen->samples[l].mask & seen->cycling)
            describe_sample(w, &seen->samples[l], p);
}

static void describe_blocked(struct idle *idle, struct warp *w, struct report *p)
{
    FOR_LANES (slot, w->leaf_used) {
        const struct leaf *leaf = &w->leaves[slot];
        if (leaf->state == LEAF_READY || !is_first(p, leaf->pc)) continue;
        describe_group(w, leaf->mask, leaf->pc, &p->text);
        if (leaf->state == LEAF_AT_BARRIER)
            strbuf_printf(&p->text, ", wait at barrier %u\n", leaf->barrier);
        else
            strbuf_printf(&p->text, ", wait for lanes 0x%08x\n", sync_missing(w, leaf));
    }
}

static void describe_all(struct idle *idle, const struct idle_grid *g, struct report *p,
                         void (*describe)(struct idle *, struct warp *, struct report *))
{
    for (uint32_t c = 0; c < g->count; c++)
        for (uint32_t k = 0; g->ctas[c]->busy && k < g->ctas[c]->warp_count; k++)
            describe(idle, &g->ctas[c]->warps[k], p);
}

/* The first group of threads that waits by reading memory: the fault names it. */
static const struct sample *first_reader(struct idle *idle, const struct idle_grid *g, struct warp **at)
{
    for (uint32_t c = 0; c < g->count; c++)
        for (uint32_t k = 0; g->ctas[c]->busy && k < g->ctas[c]->warp_count; k++) {
            struct warp *w = *at = &g->ctas[c]->warps[k];
            const struct idle_warp *seen = &idle->warps[w->watch];
            for (uint32_t l = 0; l < ISA_LANES; l++)
                if (seen->samples[l].loads && seen->samples[l].mask & seen->cycling) return &seen->samples[l];
        }
    UNREACHABLE("a stuck grid in which no thread reads");
}

void idle_report(struct idle *idle, const struct idle_grid *g)
{
    struct report p = {0};
    uint32_t resident = 0;
    struct warp *at;
    const struct sample *first = first_reader(idle, g, &at);
    for (uint32_t c = 0; c < g->count; c++) resident += g->ctas[c]->busy;
    strbuf_printf(&p.text, "heddle: kernel '%s': deadlock of the grid: %s\n", idle->run->kernel->name,
                  "its threads wait for something that none of them will ever write");
    strbuf_printf(&p.text, "  %u CTA%s resident, %llu cannot start before one of them ends\n", resident,
                  resident == 1 ? "" : "s", (unsigned long long)g->waiting);
    describe_all(idle, g, &p, describe_readers);
    describe_all(idle, g, &p, describe_blocked);
    if (p.hidden)
        strbuf_printf(&p.text, "  and %u more group%s of threads at these or other places\n", p.hidden,
                      p.hidden == 1 ? "" : "s");
    fault_report(at, lane_first(first->mask), EMU_DEADLOCK, first->pc, strbuf_text(&p.text));
    strbuf_free(&p.text);
}

void idle_end(struct idle *idle)
{
    idle->run->table = idle->plain;
    idle->run->idle = NULL;
    free(idle->warps);
    free(idle->cycling);
    free(idle);
}
