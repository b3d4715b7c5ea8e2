/* select_mem.c: loads, stores, address conversions, prefetches and asynchronous copies (PTX ISA 9.7.9).
 *
 * Addresses. A global or constant address is the same number in its space and in generic space; shared,
 * local and parameter addresses count from 0 in their space and are moved into a window of generic space
 * by cvta. The frame of a thread is local memory: a .local variable, an argument of a call and a parameter
 * of a device function are slots. Kernel parameters are rows of the constant pool when their offset is
 * known (and loads need not be counted: lower_options.one_to_one), else loads in ISA_PARAM space.
 *
 * Order. Memory operations of one thread take effect in program order, so acquire and release need no
 * code; they count as volatile, which keeps folding away from them, and are marked for the search for races.
 * Cache operators are kept for the timing model. */
#include "lower/select.h"

static_assert((int)ISA_WT == (int)PTX_WT && (int)ISA_CA == (int)PTX_CA,
              "cache operators are in the same order");

uint16_t sel_sem_flags(const struct ptx_mods *m)
{
    bool is_ordered = m->sem >= PTX_ACQUIRE && m->sem <= PTX_SC;
    return (uint16_t)(m->sem == PTX_SEM_NONE || m->sem == PTX_WEAK ? 0
                      : is_ordered                                 ? ISA_VOLATILE | ISA_ORDERED
                                                                   : ISA_VOLATILE);
}

static uint8_t sel_isa_space(const struct sel *s, enum ptx_space space)
{
    switch (space) {
    case PTX_SPACE_GLOBAL: return ISA_GLOBAL;
    case PTX_SPACE_SHARED: return ISA_SHARED;
    case PTX_SPACE_LOCAL: return ISA_LOCAL;
    case PTX_SPACE_CONST: return ISA_CONST;
    case PTX_SPACE_PARAM:
        return s->f->is_entry ? ISA_PARAM : ISA_LOCAL; /* a function's parameters are slots */
    default: return ISA_GENERIC;
    }
}

static bool sel_is_small_space(uint8_t space)
{
    return space == ISA_SHARED || space == ISA_LOCAL || space == ISA_PARAM;
}

static bool sel_var_base(struct sel *s, const struct ptx_var *v, enum ptx_space space, struct sel_addr *out)
{
    struct sel_var *own = sel_find_var(s, v);
    if (space != PTX_SPACE_GENERIC && space != v->space) {
        sel_error(s, NULL, "'%s' does not lie in the state space of this '%s'", v->name,
                  ptx_op_name(s->in->op));
        return false;
    }
    if (own)
        out->space = own->kind == SEL_KERNEL_PARAM ? ISA_PARAM : ISA_LOCAL;
    else
        out->space = sel_isa_space(s, (enum ptx_space)v->space);
    bool is_small = sel_is_small_space(out->space);
    out->base = sel_var_address(s, v, 0, is_small ? MIR_R : MIR_D);
    if (is_small) out->flags |= ISA_A32;
    return true;
}

static bool sel_reg_base(struct sel *s, const struct ptx_operand *o, struct sel_addr *out)
{
    uint32_t bytes = sel_reg_bytes(s, o);
    if (bytes == 4 && !sel_is_small_space(out->space)) {
        sel_error(s, "build for 64-bit addresses",
                  "a 32-bit register cannot hold an address of this state space");
        return false;
    }
    if (bytes == 4) out->flags |= ISA_A32;
    out->base = sel_src(s, o, bytes == 4 ? PTX_B32 : PTX_B64);
    return true;
}

bool sel_address(struct sel *s, const struct ptx_operand *o, enum ptx_space space, struct sel_addr *out)
{
    *out = (struct sel_addr){.space = sel_isa_space(s, space), .offset = o->imm};
    if (o->kind != PTX_O_ADDR || o->sub_count < 1) {
        sel_error(s, NULL, "'%s' needs an address", ptx_op_name(s->in->op));
        return false;
    }
    const struct ptx_operand *base = &o->sub[0];
    switch (base->kind) {
    case PTX_O_REG: return sel_reg_base(s, base, out);
    case PTX_O_VAR: out->offset += base->imm; return sel_var_base(s, base->var, space, out);
    case PTX_O_INT:
        if (sel_is_small_space(out->space)) out->flags |= ISA_A32;
        out->base = mir_imm(base->imm);
        if (out->flags & ISA_A32) out->base.imm &= 0xffffffff;
        return true;
    default:
        sel_error(s, NULL, "'%s' cannot use this operand as an address", ptx_op_name(s->in->op));
        return false;
    }
}

static void sel_set_access(struct sel *s, struct mir_inst *i, const struct sel_addr *a, uint32_t vec)
{
    i->mod = a->space;
    i->mod2 = s->in->m.cache;
    i->imm = a->offset;
    i->vec = (uint8_t)vec;
    i->flags = a->flags | sel_sem_flags(&s->in->m);
}

/* ---- frame slots ---- */

static struct mir_inst *sel_slot_access(struct mir_inst *i)
{
    i->mod = ISA_LOCAL;
    i->flags = ISA_A32;
    return i;
}

void sel_slot_load(struct sel *s, struct mir_opnd dst, uint32_t slot, uint32_t bytes)
{
    enum isa_op op = bytes == 1   ? ISA_OP_LD_U8
                     : bytes == 2 ? ISA_OP_LD_U16
                     : bytes == 4 ? ISA_OP_LD_32
                                  : ISA_OP_LD_64;
    struct mir_opnd base = {.kind = MIR_SLOT, .v = slot};
    sel_slot_access(sel_emit(s, op, dst, base));
}

void sel_slot_store(struct sel *s, uint32_t slot, struct mir_opnd value, uint32_t bytes)
{
    enum isa_op op = bytes == 1   ? ISA_OP_ST_8
                     : bytes == 2 ? ISA_OP_ST_16
                     : bytes == 4 ? ISA_OP_ST_32
                                  : ISA_OP_ST_64;
    struct mir_opnd src[2] = {{.kind = MIR_SLOT, .v = slot}, value};
    sel_slot_access(sel_emit_n(s, op, NULL, 0, src, 2));
}

/* ---- loads ---- */

/* One PTX load: count values of type t. */
struct load {
    enum ptx_type t;
    uint32_t count, bytes;
    /* count of them */
    const struct ptx_operand *dst;
    /* some small value is wanted sign-extended to 32 bits */
    bool is_wide;
};

static uint32_t sel_dst_bits(const struct sel *s, const struct ptx_operand *o)
{
    return 8 * sel_reg_bytes(s, o);
}

static bool sel_load_begin(struct sel *s, struct load *l)
{
    const struct ptx_operand *d = &s->in->ops[0];
    l->t = sel_type(s);
    l->bytes = ptx_type_bytes(l->t);
    l->count = d->kind == PTX_O_VECTOR ? d->sub_count : 1;
    l->dst = d->kind == PTX_O_VECTOR ? d->sub : d;
    l->is_wide = false;
    for (uint32_t i = 0; i < l->count; i++)
        l->is_wide |= sel_is_signed(l->t) && sel_dst_bits(s, &l->dst[i]) > 8 * l->bytes;
    return l->count == 1 || l->count == 2 || l->count == 4;
}

/* Where element i is loaded to: the register itself, or a temporary that sel_load_end widens or narrows. */
static struct mir_opnd sel_load_target(struct sel *s, const struct load *l, uint32_t i)
{
    const struct ptx_operand *o = &l->dst[i];
    if (o->kind == PTX_O_SINK) return mir_none();
    uint32_t reg_bits = sel_dst_bits(s, o);
    bool is_direct =
        l->bytes == 8 ? reg_bits == 64 : reg_bits <= 32 && !(l->is_wide && l->bytes < 4 && reg_bits < 32);
    if (is_direct) return sel_dst(s, o, l->bytes == 8 ? MIR_D : MIR_R);
    return sel_temp(s, l->bytes == 8 ? MIR_D : MIR_R);
}

static void sel_load_end(struct sel *s, const struct load *l, uint32_t i, struct mir_opnd value)
{
    if (value.kind != MIR_VREG || value.v < s->named_count) return;
    uint32_t reg_bits = sel_dst_bits(s, &l->dst[i]);
    if (reg_bits == 64 && l->bytes < 8) {
        struct mir_opnd dst = sel_dst(s, &l->dst[i], MIR_D);
        if (sel_is_signed(l->t))
            sel_emit(s, ISA_OP_CVT_S64_S32, dst, value);
        else
            sel_emit(s, ISA_OP_PACK_64_32, dst, value, mir_imm(0));
    } else if (l->bytes < 8) {
        sel_emit(s, ISA_OP_AND_32, sel_dst(s, &l->dst[i], MIR_R), value,
                 mir_imm(reg_bits == 8 ? 0xff : 0xffff));
    } else {
        sel_dst(s, &l->dst[i], MIR_D); /* names the mistake */
    }
}

static enum isa_op sel_load_op(const struct load *l)
{
    switch (l->bytes) {
    case 1: return l->is_wide ? ISA_OP_LD_S8 : ISA_OP_LD_U8;
    case 2: return l->is_wide ? ISA_OP_LD_S16 : ISA_OP_LD_U16;
    case 4: return ISA_OP_LD_32;
    default: return ISA_OP_LD_64;
    }
}

static void sel_load_memory(struct sel *s, const struct load *l, const struct sel_addr *a)
{
    struct mir_opnd dst[4] = {{0}};
    for (uint32_t i = 0; i < l->count; i++) dst[i] = sel_load_target(s, l, i);
    struct mir_inst *inst = sel_emit_n(s, sel_load_op(l), dst, l->count, &a->base, 1);
    sel_set_access(s, inst, a, l->count);
    if (s->in->m.nc) inst->flags |= ISA_NC;
    for (uint32_t i = 0; i < l->count; i++) sel_load_end(s, l, i, dst[i]);
}

static void sel_load_128(struct sel *s, const struct sel_addr *a)
{
    struct mir_opnd dst[2];
    sel_dst_128(s, &s->in->ops[0], dst);
    struct mir_inst *inst = sel_emit_n(s, ISA_OP_LD_64, dst, 2, &a->base, 1);
    sel_set_access(s, inst, a, 2);
    if (s->in->m.nc) inst->flags |= ISA_NC;
}

/* ---- kernel parameters at a known offset: rows of the constant pool ---- */

static struct mir_opnd sel_param(int64_t offset)
{
    return (struct mir_opnd){.kind = MIR_PARAM, .imm = offset};
}

/* The 32 bits at any byte offset; offset + bytes lies inside the block. */
static void sel_param_word(struct sel *s, struct mir_opnd dst, int64_t offset, uint32_t bytes, bool is_signed)
{
    uint32_t shift = 8 * (offset & 3);
    struct mir_opnd low = sel_param(offset & ~3ll);
    if (bytes == 4 && !shift) {
        sel_emit(s, ISA_OP_MOV_32, dst, low);
        return;
    }
    if (shift + 8 * bytes > 32) { /* lies in two words */
        struct mir_opnd t = bytes == 4 ? dst : sel_temp(s, MIR_R);
        sel_emit(s, ISA_OP_SHF_R, t, low, sel_param((offset & ~3ll) + 4), mir_imm(shift));
        if (bytes == 4) return;
        low = t;
        shift = 0;
    }
    sel_emit(s, is_signed ? ISA_OP_BFE_S32 : ISA_OP_BFE_U32, dst, low, mir_imm(shift), mir_imm(8 * bytes));
}

static void sel_param_double(struct sel *s, struct mir_opnd dst, int64_t offset)
{
    if (!(offset & 3)) {
        sel_emit(s, ISA_OP_MOV_64, dst, sel_param(offset));
        return;
    }
    struct mir_opnd low = sel_temp(s, MIR_R), high = sel_temp(s, MIR_R);
    sel_param_word(s, low, offset, 4, false);
    sel_param_word(s, high, offset + 4, 4, false);
    sel_emit(s, ISA_OP_PACK_64_32, dst, low, high);
}

static void sel_load_param(struct sel *s, const struct load *l, const struct sel_addr *a)
{
    int64_t offset = a->base.imm + a->offset;
    uint32_t total = l->bytes * l->count;
    if (offset < 0 || offset + total > s->f->param_bytes) {
        sel_error(s, NULL, "parameter bytes %lld to %lld are outside the %u bytes of parameters",
                  (long long)offset, (long long)(offset + total - 1), s->f->param_bytes);
        return;
    }
    if (l->t == PTX_B128) {
        struct mir_opnd dst[2];
        sel_dst_128(s, &l->dst[0], dst);
        for (int i = 0; i < 2; i++) sel_param_double(s, dst[i], offset + 8 * i);
        return;
    }
    for (uint32_t i = 0; i < l->count; i++, offset += l->bytes) {
        struct mir_opnd dst = sel_load_target(s, l, i);
        if (dst.kind == MIR_NONE) continue;
        if (l->bytes == 8)
            sel_param_double(s, dst, offset);
        else
            sel_param_word(s, dst, offset, l->bytes, l->is_wide);
        sel_load_end(s, l, i, dst);
    }
}

void sel_ld(struct sel *s)
{
    struct load l;
    struct sel_addr a;
    if (!sel_load_begin(s, &l)) {
        sel_unsupported(s, NULL);
        return;
    }
    if (!sel_address(s, &s->in->ops[1], (enum ptx_space)s->in->m.space, &a)) return;
    if (a.space == ISA_PARAM && a.base.kind == MIR_IMM && !s->prog->one_to_one)
        sel_load_param(s, &l, &a);
    else if (l.t == PTX_B128 && l.count == 1)
        sel_load_128(s, &a);
    else if (l.t == PTX_B128)
        sel_unsupported(s, NULL);
    else
        sel_load_memory(s, &l, &a);
}

/* ---- stores ---- */

void sel_st(struct sel *s)
{
    const struct ptx_operand *v = &s->in->ops[1];
    enum ptx_type t = sel_type(s);
    uint32_t bytes = ptx_type_bytes(t), count = v->kind == PTX_O_VECTOR ? v->sub_count : 1;
    struct sel_addr a;
    if (count > 4 || (t == PTX_B128 && count != 1)) {
        sel_unsupported(s, NULL);
        return;
    }
    if (!sel_address(s, &s->in->ops[0], (enum ptx_space)s->in->m.space, &a)) return;
    if (a.space == ISA_PARAM || a.space == ISA_CONST) {
        sel_error(s, NULL, "%s cannot be written",
                  a.space == ISA_PARAM ? "kernel parameters" : "constant memory");
        return;
    }
    struct mir_opnd src[5] = {a.base};
    if (t == PTX_B128) {
        sel_src_128(s, v, src + 1);
        count = 2;
    } else {
        for (uint32_t i = 0; i < count; i++)
            src[i + 1] = sel_src(s, v->kind == PTX_O_VECTOR ? &v->sub[i] : v, t);
    }
    enum isa_op op = bytes == 1   ? ISA_OP_ST_8
                     : bytes == 2 ? ISA_OP_ST_16
                     : bytes == 4 ? ISA_OP_ST_32
                                  : ISA_OP_ST_64;
    sel_set_access(s, sel_emit_n(s, op, NULL, 0, src, count + 1), &a, count);
}

/* ---- hints: without effect on values ---- */

void sel_prefetch(struct sel *s)
{
    struct sel_addr a;
    if (!sel_address(s, &s->in->ops[0], (enum ptx_space)s->in->m.space, &a)) return;
    struct mir_inst *i = sel_emit_n(s, ISA_OP_PREFETCH, NULL, 0, &a.base, 1);
    i->mod = a.space;
    i->mod2 = sel_has_word(s, PTX_W_L2) ? 2 : 1;
    i->imm = a.offset;
    i->flags = a.flags;
}

/* A cache policy is an opaque value: nothing reads it. */
void sel_createpolicy(struct sel *s) { sel_move(s, sel_dst(s, &s->in->ops[0], MIR_D), mir_imm(0), MIR_D); }

/* applypriority, discard, griddepcontrol, pmevent: without an effect that a program could see. */
void sel_nothing(struct sel *s) { (void)s; }

/* ---- address conversions ---- */

void sel_cvta(struct sel *s)
{
    const struct ptx_mods *m = &s->in->m;
    if (ptx_type_bytes(sel_type(s)) != 8) {
        sel_error(s, "build for 64-bit addresses", "32-bit generic addresses are not supported");
        return;
    }
    struct mir_opnd v = sel_src(s, &s->in->ops[1], PTX_U64), dst = sel_dst(s, &s->in->ops[0], MIR_D);
    enum isa_op op = m->to ? ISA_OP_SUB_64 : ISA_OP_ADD_64;
    switch (sel_isa_space(s, (enum ptx_space)m->space)) {
    case ISA_SHARED: sel_emit(s, op, dst, v, mir_imm((int64_t)ISA_SHARED_WINDOW)); break;
    case ISA_LOCAL: sel_emit(s, op, dst, v, mir_imm((int64_t)ISA_LOCAL_WINDOW)); break;
    case ISA_PARAM:
        sel_emit(s, op, dst, v, (struct mir_opnd){.kind = MIR_ENV, .v = ISA_ENV_PARAM_BASE_LO});
        break;
    default: sel_move(s, dst, v, MIR_D); break;
    }
}

void sel_isspacep(struct sel *s)
{
    enum ptx_space space = (enum ptx_space)s->in->m.space;
    struct mir_inst *i =
        sel_emit(s, ISA_OP_ISSPACEP, sel_dst(s, &s->in->ops[0], MIR_P), sel_src(s, &s->in->ops[1], PTX_U64));
    i->mod = space == PTX_SPACE_PARAM ? (uint8_t)ISA_PARAM : sel_isa_space(s, space);
}

/* ---- cp.async ---- */

/* Bytes that are copied; the rest of the destination is filled with zeros. */
static struct mir_opnd sel_copy_bytes(struct sel *s, uint32_t size)
{
    struct mir_opnd bytes = mir_none();
    for (uint32_t i = 3; i < s->in->op_count; i++) {
        const struct ptx_operand *o = &s->in->ops[i];
        if (sel_reg_bytes(s, o) == 8) continue; /* a cache policy */
        if (o->kind != PTX_O_REG || s->f->regs[o->reg].type != PTX_PRED) {
            bytes = sel_src(s, o, PTX_U32);
            continue;
        }
        struct mir_opnd t = sel_temp(s, MIR_R), all = bytes.kind == MIR_NONE ? mir_imm(size) : bytes;
        sel_emit(s, ISA_OP_SEL_32, t, mir_imm(0), all, sel_src(s, o, PTX_PRED)); /* ignore-src */
        bytes = t;
    }
    return bytes;
}

static void sel_copy(struct sel *s)
{
    struct sel_addr to, from;
    uint32_t size = (uint32_t)s->in->ops[2].imm;
    if (!sel_address(s, &s->in->ops[0], PTX_SPACE_SHARED, &to)) return;
    if (!sel_address(s, &s->in->ops[1], PTX_SPACE_GLOBAL, &from)) return;
    if (size != 4 && size != 8 && size != 16) {
        sel_error(s, NULL, "cp.async copies 4, 8 or 16 bytes, not %u", size);
        return;
    }
    if (from.offset != (int32_t)from.offset) {
        struct mir_opnd t = sel_temp(s, MIR_D);
        sel_emit(s, ISA_OP_ADD_64, t, from.base, mir_imm(from.offset));
        from.base = t;
        from.offset = 0;
    }
    struct mir_opnd src[3] = {to.base, from.base, sel_copy_bytes(s, size)};
    struct mir_inst *i = sel_emit_n(s, ISA_OP_CPASYNC, NULL, 0, src, 3);
    i->mod2 = s->in->m.cache;
    i->flags = to.flags & ISA_A32;
    i->vec = (uint8_t)size;
    i->imm = to.offset;
    i->target = (uint32_t)(int32_t)from.offset;
}

void sel_cp(struct sel *s)
{
    if (s->in->m.bulk) {
        sel_cp_bulk(s);
    } else if (sel_has_word(s, PTX_W_ARRIVE)) {
        sel_cp_arrive(s);
    } else if (sel_has_word(s, PTX_W_COMMIT_GROUP)) {
        sel_emit_n(s, ISA_OP_CPASYNC_COMMIT, NULL, 0, NULL, 0);
    } else if (sel_has_word(s, PTX_W_WAIT_GROUP) || sel_has_word(s, PTX_W_WAIT_ALL)) {
        int64_t groups = sel_has_word(s, PTX_W_WAIT_ALL) ? -1 : s->in->ops[0].imm;
        sel_emit_n(s, ISA_OP_CPASYNC_WAIT, NULL, 0, NULL, 0)->imm = groups;
    } else {
        sel_copy(s);
    }
}
