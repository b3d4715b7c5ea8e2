/* call.c: calls that are not inlined.
 *
 * The convention (Heddle's own; the real one is not published). The caller saves all registers. R1 holds the
 * frame pointer: the byte offset of the running function's frame in the thread's local memory. Arguments and
 * results lie in memory right below the callee's frame, the results first, each at its own alignment:
 *
 *     caller's frame                       callee's frame
 *     | variables, spills |  results, arguments | ...
 *     ^ caller's R1                              ^ callee's R1 = caller's R1 + caller's frame bytes
 *
 * The entry's frame begins at 0, so the entry itself uses constants and sets R1 once, to its own frame's end.
 * Invariants. (1) Frames and argument areas are multiples of the image's frame alignment. (2) R1 is the same
 * after a call as before. (3) A function has one RET, so that lanes that part inside it meet again before
 * they return. */
#include "base/bitset.h"
#include "lower/liveness.h"
#include "lower/opnd.h"
#include "lower/pass.h"

typedef VEC(struct mir_inst) inst_vec;

static void take_insts(struct routine *u, inst_vec *out)
{
    vec_free(&u->mir.insts);
    u->mir.insts.data = out->data;
    u->mir.insts.len = out->len;
    u->mir.insts.cap = out->cap;
}

static bool is_call(const struct mir_inst *in) { return in->op == ISA_OP_CALL || in->op == ISA_OP_CALLI; }

static uint32_t slot_align(const struct mir_slot *s) { return s->align ? s->align : 1; }

uint32_t call_area(const struct mir_slot *slots, const uint32_t *rets, uint32_t ret_count,
                   const uint32_t *args, uint32_t arg_count, uint32_t *offsets)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < ret_count + arg_count; i++) {
        const struct mir_slot *s = &slots[i < ret_count ? rets[i] : args[i - ret_count]];
        at = round_up_u64(at, slot_align(s));
        offsets[i] = (uint32_t)at;
        at += s->bytes;
    }
    return (uint32_t)round_up_u64(at, 16);
}

/* ---- arguments ---- */

/* Moves the bytes of a slot to (store) or from (load) the area, in the pieces in which the function accesses
 * the slot, so that the slot itself can still be promoted. */
struct copier {
    struct routine *u;
    inst_vec *out;
    uint32_t slot, area_slot, area_offset, loc;
    bool to_area;
};

static void copy_piece(struct copier *c, uint32_t offset, uint32_t bytes)
{
    static const uint16_t load_op[9] = {
        [1] = ISA_OP_LD_U8, [2] = ISA_OP_LD_U16, [4] = ISA_OP_LD_32, [8] = ISA_OP_LD_64};
    static const uint16_t store_op[9] = {
        [1] = ISA_OP_ST_8, [2] = ISA_OP_ST_16, [4] = ISA_OP_ST_32, [8] = ISA_OP_ST_64};
    struct mir_opnd own = {.kind = MIR_SLOT, .v = c->slot, .imm = offset};
    struct mir_opnd area = {.kind = MIR_SLOT, .v = c->area_slot, .imm = (int64_t)c->area_offset + offset};
    struct mir_opnd value = mir_vreg(mir_new_vreg(&c->u->mir, bytes == 8 ? MIR_D : MIR_R));
    struct mir_inst ld = opnd_inst(load_op[bytes], c->loc), st = opnd_inst(store_op[bytes], c->loc);
    ld.mod = st.mod = ISA_LOCAL;
    ld.vec = st.vec = 1;
    ld.flags = st.flags = ISA_A32;
    ld.dst[0] = value;
    ld.src[0] = c->to_area ? own : area;
    st.src[0] = c->to_area ? area : own;
    st.src[1] = value;
    vec_push(c->out, ld);
    vec_push(c->out, st);
}

/* Finds the pieces in which the other instructions of the function access the slot; false when that is
 * unknown. */
static bool copy_by_accesses(struct copier *c, const inst_vec *before)
{
    const struct mir_slot *s = &c->u->mir.slots.data[c->slot];
    uint64_t *done = mem_zalloc(sizeof *done * bitset_words(s->bytes + 1));
    uint8_t *sizes = mem_zalloc(s->bytes + 1);
    bool known = true;
    for (uint32_t i = 0; i < before->len && known; i++) {
        const struct mir_inst *in = &before->data[i];
        for (uint32_t k = 0; k < ISA_SRC_MAX && known; k++) {
            if (in->src[k].kind != MIR_SLOT || in->src[k].v != c->slot) continue;
            uint32_t bytes = opnd_access_bytes(in), count = in->vec ? in->vec : 1;
            int64_t offset = in->src[0].imm + in->imm;
            known =
                k == 0 && bytes && in->mod == ISA_LOCAL && offset >= 0 && offset + bytes * count <= s->bytes;
            for (uint32_t e = 0; known && e < count; e++)
                known = !sizes[offset + e * bytes] || sizes[offset + e * bytes] == bytes,
                sizes[offset + e * bytes] = (uint8_t)bytes;
        }
    }
    for (uint32_t at = 0; at < s->bytes && known; at++) {
        for (uint32_t b = 0; b < sizes[at] && known; b++) {
            known = !bitset_has(done, at + b);
            bitset_add(done, at + b);
        }
        known = known && (!sizes[at] || at % sizes[at] == 0);
    }
    for (uint32_t at = 0; at < s->bytes && known; at++)
        if (sizes[at]) copy_piece(c, at, sizes[at]);
    free(done);
    free(sizes);
    return known;
}

static void copy_slot(struct copier *c, const inst_vec *before)
{
    if (copy_by_accesses(c, before)) return;
    const struct mir_slot s = c->u->mir.slots.data[c->slot];
    uint32_t unit = slot_align(&s) >= 8 ? 8 : slot_align(&s) >= 4 ? 4 : slot_align(&s) >= 2 ? 2 : 1;
    for (uint32_t at = 0; at < s.bytes;) {
        while (at + unit > s.bytes) unit /= 2;
        copy_piece(c, at, unit);
        at += unit;
    }
}

static void place_error(struct image *m, const struct mir_inst *in, const char *fmt, const char *name,
                        uint32_t a, uint32_t b)
{
    int line = in->loc < m->prog.locs.len ? (int)m->prog.locs.data[in->loc].ptx_line : 0;
    diag_add(m->diags, DIAG_ERROR, &m->ptx->source, line, line ? 1 : 0, 1,
             "declare the call's .param variables as the function declares its own", fmt, name, a, b);
}

static bool check_signature(struct image *m, const struct routine *u, const struct mir_inst *in)
{
    const struct mir_call *c = &u->mir.calls.data[in->target];
    if (!c->callee) return true;
    if (c->arg_count != c->callee->param_count || c->ret_count != c->callee->ret_count) {
        place_error(m, in, "call of '%s' with %u arguments and results, the function has %u", c->callee->name,
                    c->arg_count + c->ret_count, c->callee->param_count + c->callee->ret_count);
        return false;
    }
    for (uint32_t i = 0; i < c->arg_count + c->ret_count; i++) {
        bool is_arg = i < c->arg_count;
        uint32_t have = u->mir.slots.data[is_arg ? c->args[i] : c->rets[i - c->arg_count]].bytes;
        uint64_t want = (is_arg ? c->callee->params[i] : c->callee->rets[i - c->arg_count])->bytes;
        if (have == want || !want) continue;
        place_error(m, in, "call of '%s': an argument or result of %u bytes, the function has one of %u",
                    c->callee->name, have, (uint32_t)want);
        return false;
    }
    return true;
}

static void expand_call(struct routine *u, struct mir_inst in, const inst_vec *before, inst_vec *out)
{
    const struct mir_call call = u->mir.calls.data[in.target];
    uint32_t count = call.ret_count + call.arg_count, skip = 0;
    uint32_t *offsets = mem_alloc(sizeof *offsets * (count + 1));
    uint32_t bytes =
        call_area(u->mir.slots.data, call.rets, call.ret_count, call.args, call.arg_count, offsets);
    uint32_t area = mir_new_slot(&u->mir, MIR_SLOT_SPILL, bytes, 16, NULL);
    u->mir.slots.data[area].kind = SLOT_OUT;
    if (opnd_is_guarded(
            &in)) { /* a real call is never guarded: the saves around it must take the same path */
        struct mir_inst around = opnd_inst(ISA_OP_BRA, in.loc);
        around.guard = in.guard;
        around.guard_not = !in.guard_not;
        around.target = skip = u->mir.label_count++;
        vec_push(out, around);
    }
    struct copier c = {.u = u, .out = out, .area_slot = area, .loc = in.loc, .to_area = true};
    for (uint32_t i = 0; i < call.arg_count; i++) {
        c.slot = call.args[i];
        c.area_offset = offsets[call.ret_count + i];
        copy_slot(&c, before);
    }
    bool guarded = opnd_is_guarded(&in);
    in.guard = MIR_NO_VREG;
    in.guard_not = false;
    vec_push(out, in);
    c.to_area = false;
    for (uint32_t i = 0; i < call.ret_count; i++) {
        c.slot = call.rets[i];
        c.area_offset = offsets[i];
        copy_slot(&c, before);
    }
    if (guarded) {
        struct mir_inst label = opnd_inst(MIR_OP_LABEL, in.loc);
        label.target = skip;
        vec_push(out, label);
    }
    free(offsets);
}

bool routine_expand_calls(struct image *m, struct routine *u)
{
    bool ok = true, any = false;
    for (uint32_t i = 0; i < u->mir.insts.len; i++) {
        if (!is_call(&u->mir.insts.data[i])) continue;
        any = true;
        ok &= check_signature(m, u, &u->mir.insts.data[i]);
    }
    if (!ok || !any) return ok;
    inst_vec before = {u->mir.insts.data, u->mir.insts.len, u->mir.insts.cap}, out = {0};
    for (uint32_t i = 0; i < before.len; i++) {
        if (is_call(&before.data[i]))
            expand_call(u, before.data[i], &before, &out);
        else
            vec_push(&out, before.data[i]);
    }
    for (uint32_t i = 0; i < u->mir.calls.len; i++)
        u->mir.calls.data[i].arg_count = u->mir.calls.data[i].ret_count = 0;
    take_insts(u, &out);
    return true;
}

void routine_single_return(struct routine *u)
{
    uint32_t returns = 0, loc = 0;
    for (uint32_t i = 0; i < u->mir.insts.len; i++)
        if (u->mir.insts.data[i].op == ISA_OP_RET) {
            returns += 1 + opnd_is_guarded(&u->mir.insts.data[i]);
            loc = u->mir.insts.data[i].loc;
        }
    if (returns <= 1) return;
    uint32_t label = u->mir.label_count++;
    for (uint32_t i = 0; i < u->mir.insts.len; i++) {
        struct mir_inst *in = &u->mir.insts.data[i];
        if (in->op != ISA_OP_RET) continue;
        in->op = ISA_OP_BRA;
        in->target = label;
    }
    struct mir_inst l = opnd_inst(MIR_OP_LABEL, loc);
    l.target = label;
    vec_push(&u->mir.insts, l);
    vec_push(&u->mir.insts, opnd_inst(ISA_OP_RET, loc));
}

/* ---- values live across a call ---- */

static void push_save(struct routine *u, inst_vec *out, uint32_t v, uint32_t slot, bool is_store,
                      uint32_t loc)
{
    uint8_t cls = u->mir.vregs.data[v].cls;
    struct mir_opnd value = mir_vreg(cls == MIR_P ? mir_new_vreg(&u->mir, MIR_R) : v);
    struct mir_inst mem = opnd_inst(is_store ? ISA_OP_ST_32 : ISA_OP_LD_32, loc);
    if (cls == MIR_D) mem.op = is_store ? ISA_OP_ST_64 : ISA_OP_LD_64;
    mem.mod = ISA_LOCAL;
    mem.vec = 1;
    mem.flags = ISA_A32;
    mem.src[0] = (struct mir_opnd){.kind = MIR_SLOT, .v = slot};
    if (is_store)
        mem.src[1] = value;
    else
        mem.dst[0] = value;
    struct mir_inst bridge = opnd_inst(is_store ? ISA_OP_P2R : ISA_OP_R2P, loc);
    bridge.dst[0] = is_store ? value : mir_vreg(v);
    bridge.src[0] = is_store ? mir_vreg(v) : value;
    if (cls == MIR_P && is_store) vec_push(out, bridge);
    vec_push(out, mem);
    if (cls == MIR_P && !is_store) vec_push(out, bridge);
}

static void push_frame_step(struct routine *u, inst_vec *out, uint16_t op, uint32_t end_slot, uint32_t loc)
{
    struct mir_inst in = opnd_inst(op, loc);
    in.dst[0] = in.src[0] = mir_vreg(u->fp);
    in.src[1] = (struct mir_opnd){.kind = MIR_SLOT, .v = end_slot};
    vec_push(out, in);
}

/* Rewrites block by block; the live sets are those of the code before. */
static void save_block(struct routine *u, const struct liveness *lv, const inst_vec *old, uint32_t b,
                       uint32_t *slot_of, uint32_t end_slot, inst_vec *out)
{
    const struct cfg_block *blk = &lv->cfg->blocks[b];
    /* live_behind: for each call of the block, the vregs live behind it, found on one walk backwards */
    VEC(uint32_t) lists = {0};
    VEC(uint32_t) starts = {0};
    struct live_walk w;
    live_walk_open(&w, lv, b);
    for (uint32_t i = blk->end; i-- > blk->first;) {
        if (is_call(&old->data[i])) {
            vec_push(&starts, lists.len);
            for (uint32_t k = 0; k < w.count; k++) vec_push(&lists, w.items[k]);
        }
        live_walk_step(&w, &old->data[i]);
    }
    live_walk_close(&w);
    uint32_t nth = starts.len;
    for (uint32_t i = blk->first; i < blk->end; i++) {
        const struct mir_inst in = old->data[i];
        if (!is_call(&in)) {
            vec_push(out, in);
            continue;
        }
        nth--;
        uint32_t from = starts.data[nth], to = nth + 1 < starts.len ? starts.data[nth + 1] : lists.len;
        for (uint32_t k = from; k < to; k++) {
            uint32_t v = lists.data[k];
            if (v == u->fp) continue;
            uint32_t bytes = u->mir.vregs.data[v].cls == MIR_D ? 8 : 4;
            if (slot_of[v] == MIR_NO_VREG)
                slot_of[v] = mir_new_slot(&u->mir, MIR_SLOT_SPILL, bytes, bytes, NULL);
            push_save(u, out, v, slot_of[v], true, in.loc);
        }
        if (!u->is_entry) push_frame_step(u, out, ISA_OP_ADD_32, end_slot, in.loc);
        vec_push(out, in);
        if (!u->is_entry) push_frame_step(u, out, ISA_OP_SUB_32, end_slot, in.loc);
        for (uint32_t k = from; k < to; k++)
            if (lists.data[k] != u->fp)
                push_save(u, out, lists.data[k], slot_of[lists.data[k]], false, in.loc);
    }
    vec_free(&lists);
    vec_free(&starts);
}

void routine_save_across_calls(struct routine *u)
{
    bool any = false;
    for (uint32_t i = 0; i < u->mir.insts.len; i++) any |= is_call(&u->mir.insts.data[i]);
    if (!any) return;
    struct cfg g;
    struct liveness lv;
    cfg_build(&u->mir, &g);
    liveness_build(&u->mir, &g, &lv);
    uint32_t vregs = u->mir.vregs.len, *slot_of = mem_alloc(sizeof *slot_of * (vregs + 1));
    for (uint32_t v = 0; v < vregs; v++) slot_of[v] = MIR_NO_VREG;
    uint32_t end_slot = mir_new_slot(&u->mir, MIR_SLOT_SPILL, 0, 16, NULL);
    u->mir.slots.data[end_slot].kind = SLOT_OUT;
    inst_vec old = {u->mir.insts.data, u->mir.insts.len, u->mir.insts.cap}, out = {0};
    if (u->is_entry) {
        struct mir_inst set = opnd_inst(ISA_OP_MOV_32, old.len ? old.data[0].loc : 0);
        set.dst[0] = mir_vreg(u->fp);
        set.src[0] = (struct mir_opnd){.kind = MIR_SLOT, .v = end_slot};
        vec_push(&out, set);
    }
    for (uint32_t b = 0; b < g.count; b++) save_block(u, &lv, &old, b, slot_of, end_slot, &out);
    free(slot_of);
    liveness_free(&lv);
    cfg_free(&g);
    take_insts(u, &out);
}

/* ---- the frame ---- */

static bool is_frame_address(const struct mir_inst *in, uint32_t i)
{
    return i == 0 && opnd_access_bytes(in) && in->mod == ISA_LOCAL && in->flags & ISA_A32;
}

void routine_bind_frame(struct routine *u)
{
    if (u->is_entry) return; /* its frame begins at 0: all offsets are constants */
    inst_vec old = {u->mir.insts.data, u->mir.insts.len, u->mir.insts.cap}, out = {0};
    for (uint32_t i = 0; i < old.len; i++) {
        struct mir_inst in = old.data[i];
        for (uint32_t k = 0; k < ISA_SRC_MAX; k++) {
            if (in.src[k].kind != MIR_SLOT || is_frame_address(&in, k)) continue;
            bool wide = opnd_src_class(&in, k) == MIR_D;
            struct mir_inst base = opnd_inst(ISA_OP_CVT_U64_U32, in.loc),
                            add = opnd_inst(ISA_OP_ADD_32, in.loc);
            add.src[0] = mir_vreg(u->fp);
            if (wide) {
                base.dst[0] = mir_vreg(mir_new_vreg(&u->mir, MIR_D));
                base.src[0] = mir_vreg(u->fp);
                vec_push(&out, base);
                add.op = ISA_OP_ADD_64;
                add.src[0] = base.dst[0];
            }
            add.dst[0] = mir_vreg(mir_new_vreg(&u->mir, wide ? MIR_D : MIR_R));
            add.src[1] = in.src[k];
            vec_push(&out, add);
            in.src[k] = add.dst[0];
        }
        vec_push(&out, in);
    }
    take_insts(u, &out);
}

/* IN and RET slots, in the order of the signature. */
static uint32_t place_signature(struct routine *u)
{
    uint32_t rets = u->ptx->ret_count, args = u->ptx->param_count, count = rets + args;
    uint32_t *list = mem_alloc(sizeof *list * (count + 1) * 2), *offsets = list + count + 1;
    struct mir_slot none = {.bytes = 0, .align = 1};
    uint32_t placeholder = u->mir.slots.len;
    vec_push(&u->mir.slots, none); /* stands for a parameter that the function never touches */
    for (uint32_t i = 0; i < count; i++) list[i] = placeholder;
    for (uint32_t i = 0; i < placeholder; i++) {
        const struct mir_slot *s = &u->mir.slots.data[i];
        if (s->kind == MIR_SLOT_RET && s->index < rets) list[s->index] = i;
        if (s->kind == MIR_SLOT_IN && s->index < args) list[rets + s->index] = i;
    }
    /* Sizes come from the declaration, so that both sides agree even where a slot is missing here. */
    struct mir_slot *shape = mem_zalloc(sizeof *shape * (count + 1));
    uint32_t *order = mem_alloc(sizeof *order * (count + 1));
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_var *v = i < rets ? u->ptx->rets[i] : u->ptx->params[i - rets];
        shape[i] = (struct mir_slot){.bytes = (uint32_t)v->bytes, .align = v->align};
        if (list[i] != placeholder)
            shape[i].align = slot_align(&u->mir.slots.data[list[i]]),
            shape[i].bytes = u->mir.slots.data[list[i]].bytes;
        order[i] = i;
    }
    uint32_t area = call_area(shape, order, rets, order + rets, args, offsets);
    for (uint32_t i = 0; i < count; i++)
        if (list[i] != placeholder) u->slot_offset[list[i]] = (int32_t)offsets[i] - (int32_t)area;
    u->mir.slots.len = placeholder;
    free(list);
    free(shape);
    free(order);
    return area;
}

void routine_layout_frame(struct image *m, struct routine *u)
{
    uint64_t *used = mem_zalloc(sizeof *used * bitset_words(u->mir.slots.len + 1)), at = 0, out_bytes = 0;
    for (uint32_t i = 0; i < u->mir.insts.len; i++)
        for (uint32_t k = 0; k < ISA_SRC_MAX; k++)
            if (u->mir.insts.data[i].src[k].kind == MIR_SLOT) bitset_add(used, u->mir.insts.data[i].src[k].v);
    free(u->slot_offset);
    u->slot_offset = mem_zalloc(sizeof *u->slot_offset * (u->mir.slots.len + 1));
    u->spill_bytes = 0;
    for (uint32_t i = 0; i < u->mir.slots.len; i++) {
        const struct mir_slot *s = &u->mir.slots.data[i];
        if (!bitset_has(used, i)) continue;
        if (s->kind == SLOT_OUT) out_bytes = MAX(out_bytes, s->bytes);
        if (s->kind == SLOT_OUT || s->kind == MIR_SLOT_IN || s->kind == MIR_SLOT_RET) continue;
        at = round_up_u64(at, slot_align(s));
        u->slot_offset[i] = (int32_t)at;
        at += s->bytes;
        if (s->kind == MIR_SLOT_SPILL) u->spill_bytes += s->bytes;
    }
    at =
        m->uses_stack ? round_up_u64(round_up_u64(at, 16) + out_bytes, m->frame_align) : round_up_u64(at, 16);
    u->frame_bytes = (uint32_t)MIN(at, (uint64_t)INT32_MAX);
    for (uint32_t i = 0; i < u->mir.slots.len; i++)
        if (u->mir.slots.data[i].kind == SLOT_OUT)
            u->slot_offset[i] = (int32_t)(u->frame_bytes - u->mir.slots.data[i].bytes);
    if (!u->is_entry) place_signature(u);
    free(used);
}
