/* inline.c: the call graph of an image, and calls replaced by the body of what they call.
 *
 * nvcc leaves few calls; what it leaves (noinline functions, separately compiled ones) is inlined where the
 * callee is small or called once, because a machine without calls needs no stack and keeps arguments in
 * registers. Functions that a chain of calls can enter again stay real, as does everything once the image has
 * grown to its limit. Invariants. (1) A callee is finished (its own calls inlined) before it is copied. (2)
 * Slots of the call are the callee's IN and RET slots; all else of the callee is renumbered behind the
 * caller's. */
#include "lower/opnd.h"
#include "lower/pass.h"

/* Instructions of a small callee and of the largest image; names of the largest image (registers, labels,
 * slots, tables and calls), which stay when their instructions are cleaned away: functions that do nothing
 * but call each other have next to no instructions however often they are copied. The longest chain of calls
 * that is followed, which bounds Heddle's own recursion. */
enum { INLINE_SMALL = 200, INLINE_IMAGE_MAX = 60000, INLINE_NAMES_MAX = 1 << 20, CALL_CHAIN_MAX = 500 };

struct routine *image_find_routine(struct image *m, const struct ptx_func *f)
{
    for (uint32_t i = 0; i < m->routines.len; i++)
        if (m->routines.data[i]->ptx == f) return m->routines.data[i];
    return NULL;
}

static struct routine *callee_of(struct image *m, const struct routine *u, const struct mir_inst *in)
{
    if (in->op != ISA_OP_CALL) return NULL;
    return image_find_routine(m, u->mir.calls.data[in->target].callee);
}

/* Depth first over the calls; a call into a routine that is still open closes a cycle. What lies deeper than
 * the longest chain that is followed counts as recursive: it stays a real function. */
static void walk_calls(struct image *m, struct routine *u, uint32_t depth)
{
    u->visit = 1;
    for (uint32_t i = 0; i < u->mir.insts.len; i++) {
        struct routine *c = callee_of(m, u, &u->mir.insts.data[i]);
        if (!c) continue;
        c->call_sites++;
        if (c->visit == 1 || depth >= CALL_CHAIN_MAX) c->is_recursive = true;
        if (c->visit == 0 && depth < CALL_CHAIN_MAX) walk_calls(m, c, depth + 1);
    }
    u->visit = 2;
}

void image_mark_calls(struct image *m)
{
    for (uint32_t i = 0; i < m->routines.len; i++)
        if (m->routines.data[i]->visit == 0) walk_calls(m, m->routines.data[i], 0);
}

/* ---- one call ---- */

struct splice {
    struct routine *caller;
    const struct routine *callee;
    uint32_t vreg_base, label_base, table_base, call_base;
    /* the image's */
    struct arena *arena;
    /* callee's slot -> caller's */
    uint32_t *slot_map;
    /* label behind the call */
    uint32_t cont;
};

static uint32_t map_slot(struct splice *s, const struct mir_call *call, uint32_t slot)
{
    struct mir_func *f = &s->caller->mir;
    const struct mir_slot *from = &s->callee->mir.slots.data[slot];
    uint32_t to;
    if (from->kind == MIR_SLOT_IN && from->index < call->arg_count)
        to = call->args[from->index];
    else if (from->kind == MIR_SLOT_RET && from->index < call->ret_count)
        to = call->rets[from->index];
    else
        return mir_new_slot(f, from->kind == MIR_SLOT_SPILL ? MIR_SLOT_SPILL : MIR_SLOT_LOCAL, from->bytes,
                            from->align, from->name);
    assert(to < f->slots.len);
    f->slots.data[to].bytes = MAX(f->slots.data[to].bytes, from->bytes);
    f->slots.data[to].align = MAX(f->slots.data[to].align, from->align);
    return to;
}

static void open_splice(struct splice *s, const struct mir_call *call)
{
    struct mir_func *to = &s->caller->mir;
    const struct mir_func *from = &s->callee->mir;
    s->vreg_base = to->vregs.len;
    s->label_base = to->label_count;
    s->table_base = to->tables.len;
    s->call_base = to->calls.len;
    s->slot_map = mem_alloc(sizeof *s->slot_map * (from->slots.len + 1));
    for (uint32_t i = 0; i < from->slots.len; i++) s->slot_map[i] = map_slot(s, call, i);
    for (uint32_t i = 0; i < from->vregs.len; i++) vec_push(&to->vregs, from->vregs.data[i]);
    to->label_count += from->label_count;
    s->cont = to->label_count++;
}

/* Tables and call records live in the image's arena, as selection left them. */
static void copy_side_tables(struct splice *s)
{
    struct arena *arena = s->arena;
    struct mir_func *to = &s->caller->mir;
    const struct mir_func *from = &s->callee->mir;
    for (uint32_t i = 0; i < from->tables.len; i++) {
        struct mir_table t = {.count = from->tables.data[i].count};
        t.labels = ARENA_ARRAY(arena, uint32_t, t.count + 1);
        for (uint32_t k = 0; k < t.count; k++) t.labels[k] = from->tables.data[i].labels[k] + s->label_base;
        vec_push(&to->tables, t);
    }
    for (uint32_t i = 0; i < from->calls.len; i++) {
        struct mir_call c = from->calls.data[i];
        uint32_t *args = ARENA_ARRAY(arena, uint32_t, c.arg_count + 1),
                 *rets = ARENA_ARRAY(arena, uint32_t, c.ret_count + 1);
        for (uint32_t k = 0; k < c.arg_count; k++) args[k] = s->slot_map[c.args[k]];
        for (uint32_t k = 0; k < c.ret_count; k++) rets[k] = s->slot_map[c.rets[k]];
        c.args = args;
        c.rets = rets;
        vec_push(&to->calls, c);
    }
}

static void map_operand(const struct splice *s, struct mir_opnd *o)
{
    if (o->kind == MIR_VREG) o->v += s->vreg_base;
    if (o->kind == MIR_SLOT) o->v = s->slot_map[o->v];
}

static const uint32_t *map_array(const struct splice *s, const struct mir_inst *in)
{
    uint32_t *array = ARENA_ARRAY(s->arena, uint32_t, in->imm);
    for (int64_t i = 0; i < in->imm; i++) array[i] = in->array[i] + s->vreg_base;
    return array;
}

static struct mir_inst map_inst(const struct splice *s, struct mir_inst in)
{
    if (in.array) in.array = map_array(s, &in);
    for (uint32_t i = 0; i < ISA_DST_MAX; i++) map_operand(s, &in.dst[i]);
    for (uint32_t i = 0; i < ISA_SRC_MAX; i++) map_operand(s, &in.src[i]);
    if (in.guard != MIR_NO_VREG) in.guard += s->vreg_base;
    if (in.op == ISA_OP_BRA || in.op == MIR_OP_LABEL) in.target += s->label_base;
    if (in.op == ISA_OP_BRX) in.target += s->table_base;
    if (in.op == ISA_OP_CALL || in.op == ISA_OP_CALLI) in.target += s->call_base;
    if (in.op == ISA_OP_RET) {
        in.op = ISA_OP_BRA;
        in.target = s->cont;
    }
    return in;
}

typedef VEC(struct mir_inst) inst_vec;

static void splice_call(struct image *m, struct routine *u, const struct routine *callee,
                        const struct mir_inst *at, inst_vec *out)
{
    assert(callee != u && callee->visit == 4); /* invariant 1 */
    assert(at->target < u->mir.calls.len);
    struct splice s = {.caller = u, .callee = callee, .arena = m->prog.arena};
    struct mir_call call = u->mir.calls.data[at->target];
    open_splice(&s, &call);
    copy_side_tables(&s);
    if (opnd_is_guarded(at)) {
        struct mir_inst skip = opnd_inst(ISA_OP_BRA, at->loc);
        skip.guard = at->guard;
        skip.guard_not = !at->guard_not;
        skip.target = s.cont;
        vec_push(out, skip);
    }
    for (uint32_t i = 0; i < callee->mir.insts.len; i++)
        vec_push(out, map_inst(&s, callee->mir.insts.data[i]));
    struct mir_inst label = opnd_inst(MIR_OP_LABEL, at->loc);
    label.target = s.cont;
    vec_push(out, label);
    free(s.slot_map);
}

/* ---- the image ---- */

static bool signature_fits(const struct routine *callee, const struct mir_call *call)
{
    return call->arg_count == callee->ptx->param_count && call->ret_count == callee->ptx->ret_count;
}

/* The sizes of an image, or of a routine. */
struct bulk {
    uint64_t insts, names;
};

static struct bulk bulk_of(const struct mir_func *f)
{
    return (struct bulk){f->insts.len, (uint64_t)f->vregs.len + f->slots.len + f->tables.len + f->calls.len +
                                           f->label_count};
}

static void bulk_add(struct bulk *to, struct bulk more)
{
    to->insts += more.insts;
    to->names += more.names;
}

static bool worth_inlining(const struct routine *callee, const struct mir_call *call,
                           const struct bulk *image)
{
    if (callee->is_recursive || callee->is_entry || !signature_fits(callee, call)) return false;
    struct bulk grown = *image;
    bulk_add(&grown, bulk_of(&callee->mir));
    if (grown.insts > INLINE_IMAGE_MAX || grown.names > INLINE_NAMES_MAX) return false;
    return callee->mir.insts.len < INLINE_SMALL || callee->call_sites == 1;
}

static void inline_routine(struct image *m, struct routine *u, struct bulk *image, uint32_t depth)
{
    u->visit = 3;
    inst_vec out = {0};
    bool any = false;
    for (uint32_t i = 0; i < u->mir.insts.len; i++) {
        struct mir_inst in = u->mir.insts.data[i];
        struct routine *c = callee_of(m, u, &in);
        if (c && c->visit == 2 && depth < CALL_CHAIN_MAX) inline_routine(m, c, image, depth + 1);
        if (c && c->visit == 4 && worth_inlining(c, &u->mir.calls.data[in.target], image)) {
            bulk_add(image, bulk_of(&c->mir));
            splice_call(m, u, c, &in, &out);
            any = true;
        } else {
            vec_push(&out, in);
        }
    }
    u->visit = 4;
    if (!any) {
        vec_free(&out);
        return;
    }
    vec_free(&u->mir.insts);
    u->mir.insts.data = out.data;
    u->mir.insts.len = out.len;
    u->mir.insts.cap = out.cap;
    cfg_clean(&u->mir, u->is_entry);
}

void image_inline(struct image *m)
{
    struct bulk image = {0};
    for (uint32_t i = 0; i < m->routines.len; i++) bulk_add(&image, bulk_of(&m->routines.data[i]->mir));
    for (uint32_t i = 0; i < m->routines.len; i++)
        if (m->routines.data[i]->visit == 2) inline_routine(m, m->routines.data[i], &image, 0);
}

void image_mark_live(struct image *m)
{
    VEC(struct routine *) work = {0};
    bool indirect = false;
    vec_push(&work, m->routines.data[0]);
    m->routines.data[0]->is_live = true;
    while (work.len) {
        struct routine *u = work.data[--work.len];
        for (uint32_t i = 0; i < u->mir.insts.len; i++) {
            struct routine *c = callee_of(m, u, &u->mir.insts.data[i]);
            if (u->mir.insts.data[i].op == ISA_OP_CALL || u->mir.insts.data[i].op == ISA_OP_CALLI)
                m->uses_stack = true;
            if (c && !c->is_live) {
                c->is_live = true;
                vec_push(&work, c);
            }
            if (u->mir.insts.data[i].op != ISA_OP_CALLI || indirect) continue;
            indirect = true;
            for (uint32_t k = 0; k < m->routines.len; k++) {
                struct routine *t = m->routines.data[k];
                if (!t->address_taken || t->is_live) continue;
                t->is_live = true;
                vec_push(&work, t);
            }
        }
    }
    vec_free(&work);
}
