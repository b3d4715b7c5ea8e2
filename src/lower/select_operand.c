/* select_operand.c: PTX operands -> MIR operands: registers, immediates, addresses of variables as values;
 * and the emission of the regular instructions, whose operands follow from their type. */
#include "lower/select.h"

#include "base/bits.h"

bool sel_has_op(const struct sel *s, uint32_t i) { return i < s->in->op_count; }

uint32_t sel_reg_bytes(const struct sel *s, const struct ptx_operand *o)
{
    return o->kind == PTX_O_REG ? ptx_type_bytes((enum ptx_type)s->f->regs[o->reg].type) : 0;
}

/* Rounds to nearest even into a format of the given exponent and fraction bits. The value is exact in a
 * double, so this is one rounding. */
static uint64_t sel_round_bits(double value, int exp_bits, int frac_bits)
{
    uint64_t b = f64_bits(value);
    uint64_t sign = (b >> 63) << (exp_bits + frac_bits);
    int exp = (int)(b >> 52 & 0x7ff);
    uint64_t frac = b & ((1ull << 52) - 1);
    uint64_t exp_max = (1ull << exp_bits) - 1;
    if (exp == 0x7ff) /* infinity or NaN: NaN stays NaN */
        return sign | exp_max << frac_bits | (frac ? (1ull << frac_bits) - 1 : 0);
    int bias = (1 << (exp_bits - 1)) - 1;
    int e = exp - 1023 + bias;
    uint64_t sig = exp ? frac | 1ull << 52 : frac; /* doubles below 2^-1022 vanish in every smaller format */
    int shift = 52 - frac_bits + (e < 1 ? 1 - e : 0);
    if (shift > 54) return sign;
    uint64_t kept = sig >> shift, rest = sig & ((1ull << shift) - 1), half = 1ull << (shift - 1);
    if (rest > half || (rest == half && (kept & 1))) kept++;
    /* kept holds the implicit one for normal numbers: adding it to the exponent below carries rightly. */
    uint64_t out = e < 1 ? kept : ((uint64_t)(e - 1) << frac_bits) + kept;
    return sign | MIN(out, exp_max << frac_bits);
}

uint64_t sel_float_bits(double value, enum ptx_type t)
{
    switch (t) {
    case PTX_F16: return sel_round_bits(value, 5, 10);
    case PTX_BF16: return sel_round_bits(value, 8, 7);
    case PTX_F64:
    case PTX_B64:
    case PTX_U64:
    case PTX_S64: return f64_bits(value);
    default: return sel_round_bits(value, 8, 23);
    }
}

static struct mir_opnd sel_int_imm(int64_t value, enum ptx_type t)
{
    if (t == PTX_PRED) return mir_imm(value != 0);
    uint32_t bytes = ptx_type_bytes(t);
    if (bytes < 8) value &= (int64_t)((1ull << 8 * bytes) - 1);
    return mir_imm(value);
}

static struct mir_opnd sel_f32_imm(int64_t bits, enum ptx_type t)
{
    if (t != PTX_F64 && t != PTX_F16 && t != PTX_BF16) return sel_int_imm(bits, t);
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return mir_imm((int64_t)sel_float_bits((double)value, t));
}

static struct mir_opnd sel_bad_operand(struct sel *s, const struct ptx_operand *o, const char *what)
{
    diag_add(s->prog->diags, DIAG_ERROR, &s->prog->ptx->source, o->line ? o->line : s->in->line,
             o->line ? o->col : s->in->col, MAX(o->len, 1), NULL, "%s", what);
    s->failed = true;
    return mir_imm(0);
}

static struct mir_opnd sel_reg_src(struct sel *s, const struct ptx_operand *o, enum ptx_type t)
{
    enum ptx_type have = (enum ptx_type)s->f->regs[o->reg].type;
    struct mir_opnd v = mir_vreg(s->vregs[o->reg]);
    enum mir_class from = sel_class(have), to = sel_class(t);
    v.negated = o->negated;
    if (from == to) return v;
    if (from == MIR_D && to == MIR_R) { /* the low word */
        struct mir_opnd low = sel_temp(s, MIR_R);
        sel_emit(s, ISA_OP_UNPACK_64_32, low, v);
        return low;
    }
    return sel_bad_operand(s, o, "register is too narrow for the instruction");
}

static struct mir_opnd sel_func_address(struct sel *s, const struct ptx_operand *o, enum ptx_type t)
{
    const struct ptx_func *f = o->func;
    if (!f->has_body) f = ptx_find_func(s->prog->ptx, f->name);
    if (sel_class(t) != MIR_D) return sel_bad_operand(s, o, "a function's address has 64 bits");
    if (!f || !f->has_body) return sel_bad_operand(s, o, "the function is declared but not defined");
    return (struct mir_opnd){.kind = MIR_SYM, .v = mir_sym(s->prog, f->name, true)};
}

struct mir_opnd sel_src(struct sel *s, const struct ptx_operand *o, enum ptx_type t)
{
    switch (o->kind) {
    case PTX_O_REG: return sel_reg_src(s, o, t);
    case PTX_O_INT: return sel_int_imm(o->imm, t);
    case PTX_O_FLOAT: return mir_imm((int64_t)sel_float_bits(o->imm_f64, t));
    case PTX_O_F32BITS: return sel_f32_imm(o->imm, t);
    case PTX_O_SREG: return sel_sreg(s, o, t);
    case PTX_O_VAR: return sel_var_address(s, o->var, o->imm, sel_class(t));
    case PTX_O_FUNC: return sel_func_address(s, o, t);
    default: return sel_bad_operand(s, o, "operand is not a value");
    }
}

struct mir_opnd sel_dst(struct sel *s, const struct ptx_operand *o, enum mir_class cls)
{
    if (o->kind == PTX_O_SINK) return mir_none();
    if (o->kind != PTX_O_REG) return sel_bad_operand(s, o, "destination is not a register");
    if (sel_class((enum ptx_type)s->f->regs[o->reg].type) != cls)
        return sel_bad_operand(s, o, "destination register has the wrong size");
    return mir_vreg(s->vregs[o->reg]);
}

void sel_dst_pair(struct sel *s, const struct ptx_operand *o, enum mir_class cls, struct mir_opnd out[2])
{
    bool is_pair = o->kind == PTX_O_PAIR && o->sub_count == 2;
    out[0] = sel_dst(s, is_pair ? &o->sub[0] : o, cls);
    out[1] = is_pair ? sel_dst(s, &o->sub[1], MIR_P) : mir_none();
}

static bool sel_is_128(struct sel *s, const struct ptx_operand *o)
{
    if (o->kind == PTX_O_REG && s->f->regs[o->reg].type == PTX_B128) return true;
    sel_bad_operand(s, o, "operand is not a 128-bit register");
    return false;
}

void sel_src_128(struct sel *s, const struct ptx_operand *o, struct mir_opnd out[2])
{
    out[0] = out[1] = mir_imm(0);
    if (!sel_is_128(s, o)) return;
    out[0] = mir_vreg(s->vregs[o->reg]);
    out[1] = mir_vreg(s->vregs[o->reg] + 1);
}

void sel_dst_128(struct sel *s, const struct ptx_operand *o, struct mir_opnd out[2])
{
    out[0] = out[1] = mir_none();
    if (o->kind != PTX_O_SINK) sel_src_128(s, o, out);
}

struct sel_var *sel_find_var(struct sel *s, const struct ptx_var *v)
{
    uint32_t lo = 0, hi = s->var_count;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (s->vars[mid].var == v) return &s->vars[mid];
        if ((uintptr_t)s->vars[mid].var < (uintptr_t)v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

uint32_t sel_var_slot(struct sel *s, struct sel_var *v)
{
    if (v->slot == MIR_NO_VREG) {
        uint64_t bytes = v->var->type == PTX_PRED ? 4 : v->var->bytes; /* a register parameter */
        if (bytes > ISA_WINDOW_BYTES) {
            sel_error(s, NULL, "'%s' of %llu bytes does not fit into local memory", v->var->name,
                      (unsigned long long)bytes);
            bytes = 0;
        }
        v->slot = mir_new_slot(s->out, (enum mir_slot_kind)v->kind, (uint32_t)bytes, MAX(v->var->align, 1u),
                               arena_strdup(s->prog->arena, v->var->name));
        s->out->slots.data[v->slot].index = v->index;
    }
    return v->slot;
}

static struct mir_opnd sel_shared_address(struct sel *s, const struct ptx_var *v, int64_t addend)
{
    if (v->is_unsized) {
        s->prog->uses_dynamic_shared = true;
        return (struct mir_opnd){.kind = MIR_DYNSMEM, .imm = addend};
    }
    if (v->bytes > ISA_WINDOW_BYTES || mir_shared_offset(s->prog, v) + v->bytes > ISA_WINDOW_BYTES) {
        sel_error(s, NULL, "shared variable '%s' does not fit into shared memory", v->name);
        return mir_imm(0);
    }
    return mir_imm((int64_t)mir_shared_offset(s->prog, v) + addend);
}

struct mir_opnd sel_var_address(struct sel *s, const struct ptx_var *v, int64_t addend, enum mir_class cls)
{
    struct sel_var *own = sel_find_var(s, v);
    struct mir_opnd a;
    if (own && own->kind == SEL_KERNEL_PARAM) {
        a = mir_imm((int64_t)v->param_offset + addend);
    } else if (own) {
        a = (struct mir_opnd){.kind = MIR_SLOT, .v = sel_var_slot(s, own), .imm = addend};
    } else if (v->space == PTX_SPACE_SHARED) {
        a = sel_shared_address(s, v, addend);
    } else if (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST) {
        if (v->type == PTX_TEXREF || v->type == PTX_SAMPLERREF || v->type == PTX_SURFREF) {
            sel_lack(s, "use a texture object (cudaCreateTextureObject)",
                     "texture, sampler and surface references such as '%s' are not supported", v->name);
            return mir_imm(0);
        }
        if (cls != MIR_D) {
            sel_error(s, "build for 64-bit addresses", "the address of '%s' needs 64 bits", v->name);
            return mir_imm(0);
        }
        const char *name = mir_var_symbol(s->prog->arena, s->f, v);
        return (struct mir_opnd){.kind = MIR_SYM, .v = mir_sym(s->prog, name, false), .imm = addend};
    } else {
        sel_error(s, NULL, "'%s' has no address here", v->name);
        return mir_imm(0);
    }
    if (a.kind == MIR_IMM && cls == MIR_R) a.imm &= 0xffffffff;
    return a;
}

static enum ptx_type sel_pattern_type(struct sel *s, char letter)
{
    switch (letter) {
    case 'T': return sel_type(s);
    case 'W': return ptx_type_bytes(sel_type(s)) == 2 ? PTX_B32 : PTX_B64;
    case 'U': return PTX_U32;
    case 'S': return PTX_S32;
    case 'P': return PTX_PRED;
    default: UNREACHABLE("letter of a source pattern");
    }
}

static enum mir_class sel_letter_class(char letter)
{
    return letter == 'd' ? MIR_D : letter == 'p' ? MIR_P : MIR_R;
}

struct mir_inst *sel_regular(struct sel *s, enum isa_op op, const char *src)
{
    struct mir_opnd sources[ISA_SRC_MAX];
    uint32_t count = (uint32_t)strlen(src);
    bool has_all = s->in->op_count > count;
    if (!has_all) sel_error(s, NULL, "'%s' has too few operands", ptx_op_name(s->in->op));
    for (uint32_t i = 0; i < count; i++)
        sources[i] = has_all ? sel_src(s, &s->in->ops[i + 1], sel_pattern_type(s, src[i])) : mir_imm(0);
    struct mir_opnd dst =
        s->in->op_count ? sel_dst(s, &s->in->ops[0], sel_letter_class(isa_ops[op].dst[0])) : mir_none();
    struct mir_inst *i = sel_emit_n(s, op, &dst, 1, sources, count);
    i->flags = sel_flags(&s->in->m);
    i->round = sel_round(&s->in->m);
    return i;
}

bool sel_by_kind(struct sel *s, const uint16_t *ops, const char *src)
{
    uint16_t op = ops[sel_kind_of(sel_type(s))];
    if (!op) return false;
    sel_regular(s, (enum isa_op)op, src);
    return true;
}
