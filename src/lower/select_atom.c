/* select_atom.c: atom, red, tex and txq (PTX ISA 9.7.10, 9.7.13).
 *
 * A vector atomic is atomic for each element alone, so it is one machine atomic for each element. A texture
 * is named by a handle of 64 bits: a texture object, or what the runtime puts into a texture reference. */
#include "lower/select.h"

static_assert(ISA_ATOM_MAX - ISA_ATOM_AND == PTX_ATOM_MAX - PTX_ATOM_AND,
              "atomic operations are in the same order");

static void sel_set_atom(struct sel *s, struct mir_inst *i, const struct sel_addr *a, int64_t offset)
{
    const struct ptx_mods *m = &s->in->m;
    i->type = sel_isa_type(sel_type(s));
    i->mod = a->space;
    i->mod2 = (uint8_t)(m->atom - PTX_ATOM_AND + ISA_ATOM_AND);
    i->imm = a->offset + offset;
    i->flags = (uint16_t)(a->flags | (m->noftz ? ISA_NOFTZ : 0) | (sel_sem_flags(m) & ISA_ORDERED));
}

static void sel_atom_128(struct sel *s, const struct sel_addr *a, const struct ptx_operand *dst,
                         uint32_t first)
{
    struct mir_opnd d[2], src[5] = {a->base};
    bool is_cas = s->in->m.atom == PTX_ATOM_CAS;
    sel_dst_128(s, dst, d);
    sel_src_128(s, &s->in->ops[first], src + 1);
    if (is_cas) sel_src_128(s, &s->in->ops[first + 1], src + 3);
    sel_set_atom(s, sel_emit_n(s, ISA_OP_ATOM_128, d, 2, src, is_cas ? 5 : 3), a, 0);
}

static void sel_atom_one(struct sel *s, const struct sel_addr *a, struct mir_opnd dst,
                         const struct ptx_operand *b, const struct ptx_operand *c, int64_t offset)
{
    enum ptx_type t = sel_type(s);
    uint32_t bytes = ptx_type_bytes(t);
    enum isa_op op = bytes == 8 ? ISA_OP_ATOM_64 : bytes == 4 ? ISA_OP_ATOM_32 : ISA_OP_ATOM_16;
    struct mir_opnd src[3] = {a->base, sel_src(s, b, t), c ? sel_src(s, c, t) : mir_none()};
    sel_set_atom(s, sel_emit_n(s, op, &dst, 1, src, c ? 3 : 2), a, offset);
}

/* Results go through temporaries: a register may be a result of one element and an operand of the next. */
static void sel_atom_vector(struct sel *s, const struct sel_addr *a, const struct ptx_operand *dst,
                            const struct ptx_operand *b)
{
    uint32_t bytes = ptx_type_bytes(sel_type(s)), count = b->sub_count;
    enum mir_class cls = sel_class(sel_type(s));
    struct mir_opnd old[8];
    if (count > ARRAY_LEN(old) || (dst && (dst->kind != PTX_O_VECTOR || dst->sub_count != count))) {
        sel_unsupported(s, NULL);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        old[i] = dst && dst->sub[i].kind != PTX_O_SINK ? sel_temp(s, cls) : mir_none();
        sel_atom_one(s, a, old[i], &b->sub[i], NULL, (int64_t)i * bytes);
    }
    for (uint32_t i = 0; i < count; i++)
        if (old[i].kind != MIR_NONE) sel_move(s, sel_dst(s, &dst->sub[i], cls), old[i], cls);
}

void sel_atom(struct sel *s)
{
    bool is_red = s->in->op == PTX_OP_red;
    uint32_t at = is_red ? 0 : 1; /* the address */
    const struct ptx_operand *ops = s->in->ops, *dst = is_red ? NULL : &ops[0], *b = &ops[at + 1];
    struct sel_addr a;
    if (s->in->m.atom == PTX_ATOM_NONE || s->in->m.atom > PTX_ATOM_MAX || s->in->op_count < at + 2) {
        sel_unsupported(s, NULL);
        return;
    }
    if (!sel_address(s, &ops[at], (enum ptx_space)s->in->m.space, &a)) return;
    if (a.space != ISA_GENERIC && a.space != ISA_GLOBAL && a.space != ISA_SHARED) {
        sel_error(s, NULL, "atomics need global, shared or generic memory");
        return;
    }
    enum ptx_type t = sel_type(s);
    bool is_cas = s->in->m.atom == PTX_ATOM_CAS;
    if (is_cas && s->in->op_count < at + 3) {
        sel_unsupported(s, NULL);
    } else if (t == PTX_B128) {
        static const struct ptx_operand sink = {.kind = PTX_O_SINK};
        sel_atom_128(s, &a, dst ? dst : &sink, at + 1);
    } else if (b->kind == PTX_O_VECTOR) {
        sel_atom_vector(s, &a, dst, b);
    } else {
        sel_atom_one(s, &a, dst ? sel_dst(s, dst, sel_class(t)) : mir_none(), b, is_cas ? &ops[at + 2] : NULL,
                     0);
    }
}

/* ---- textures ---- */

bool sel_texture_handle(struct sel *s, const struct ptx_operand *o, struct mir_opnd *handle)
{
    if (o->kind == PTX_O_REG && sel_reg_bytes(s, o) == 8) {
        *handle = sel_src(s, o, PTX_U64);
        return true;
    }
    if (o->kind == PTX_O_VAR && o->var->type == PTX_SURFREF) {
        sel_lack(s, "use a surface object (cudaCreateSurfaceObject)",
                 "'%.80s' is a surface reference: CUDA 12 removed them, and nothing can be bound to one",
                 o->var->name);
        return false;
    }
    if (o->kind == PTX_O_VAR && o->var->type == PTX_TEXREF && o->var->space == PTX_SPACE_GLOBAL) {
        /* A texture reference is a variable of eight bytes in which the runtime puts the handle when it is
         * bound. */
        const char *name = mir_var_symbol(s->prog->arena, s->f, o->var);
        struct mir_opnd at = {.kind = MIR_SYM, .v = mir_sym(s->prog, name, false)};
        *handle = sel_temp(s, MIR_D);
        struct mir_inst *load = sel_emit(s, ISA_OP_LD_64, *handle, at);
        load->mod = ISA_GLOBAL;
        load->vec = 1;
        return true;
    }
    sel_lack(s, "use a texture object (cudaCreateTextureObject)",
             "the texture must be a 64-bit handle in a register, or a .global .texref variable");
    return false;
}

static uint32_t sel_tex_dims(const struct sel *s)
{
    if (sel_has_word(s, PTX_W_1D) || sel_has_word(s, PTX_W_A1D)) return 1;
    if (sel_has_word(s, PTX_W_2D) || sel_has_word(s, PTX_W_A2D)) return 2;
    return 3;
}

static bool sel_tex_layered(const struct sel *s)
{
    return sel_has_word(s, PTX_W_A1D) || sel_has_word(s, PTX_W_A2D) || sel_has_word(s, PTX_W_ACUBE);
}

static bool sel_tex_cube(const struct sel *s)
{
    return sel_has_word(s, PTX_W_CUBE) || sel_has_word(s, PTX_W_ACUBE);
}

bool sel_tex_values(struct sel *s, const struct ptx_operand *o, uint32_t first, uint32_t count,
                    enum ptx_type t, struct mir_opnd *src, uint32_t *len)
{
    uint32_t have = o->kind == PTX_O_VECTOR ? o->sub_count : 1, end = first + count;
    if (have < end || *len + count > ISA_SRC_MAX) return false; /* vectors are padded: {x, y, z, ignored} */
    for (uint32_t i = first; i < end; i++)
        src[(*len)++] = sel_src(s, o->kind == PTX_O_VECTOR ? &o->sub[i] : o, t);
    return true;
}

/* d, [handle, {coordinates}] {, lod | , d/dx, d/dy}; 3-D gradients would need more sources than there are. */
static bool sel_tex_sources(struct sel *s, uint32_t dims, enum isa_mip mip, struct mir_opnd *src,
                            uint32_t *len)
{
    const struct ptx_operand *ops = s->in->ops, *where = &ops[1];
    uint32_t extra = mip == ISA_MIP_LEVEL ? 1 : mip == ISA_MIP_GRAD ? 2 : 0;
    if (where->kind != PTX_O_TEXADDR || where->sub_count < 2 || s->in->op_count != 2 + extra) return false;
    if (where->sub_count > 2 && where->sub[2].kind != PTX_O_SINK) return false; /* a sampler of its own */
    uint32_t layered = sel_tex_layered(s);
    if (layered && !sel_tex_values(s, &where->sub[1], 0, 1, PTX_B32, src, len)) return false;
    if (!sel_tex_values(s, &where->sub[1], layered, dims, (enum ptx_type)s->in->m.type[1], src, len))
        return false;
    if (mip == ISA_MIP_LEVEL) return sel_tex_values(s, &ops[2], 0, 1, PTX_F32, src, len);
    if (mip == ISA_MIP_NONE) return true;
    return sel_tex_values(s, &ops[2], 0, dims, PTX_F32, src, len) &&
           sel_tex_values(s, &ops[3], 0, dims, PTX_F32, src, len);
}

/* The sampler gives four floats; halves are made of them, one or two in a register. */
static void sel_tex_halves(struct sel *s, const struct mir_opnd texel[4], const struct mir_opnd *dst,
                           uint32_t count)
{
    bool is_packed = sel_type(s) == PTX_F16X2;
    for (uint32_t i = 0; i < count; i++) {
        if (dst[i].kind == MIR_NONE) continue;
        if (is_packed)
            sel_emit(s, ISA_OP_CVT_F16X2_F32, dst[i], texel[2 * i + 1], texel[2 * i]);
        else
            sel_emit(s, ISA_OP_CVT_F16_F32, dst[i], texel[i]);
    }
}

void sel_tex(struct sel *s)
{
    const struct ptx_operand *d = &s->in->ops[0];
    uint32_t dims = sel_tex_dims(s), len = 1, count = d->kind == PTX_O_VECTOR ? d->sub_count : 1;
    enum isa_mip mip = sel_has_word(s, PTX_W_LEVEL)  ? ISA_MIP_LEVEL
                       : sel_has_word(s, PTX_W_GRAD) ? ISA_MIP_GRAD
                                                     : ISA_MIP_NONE;
    struct mir_opnd src[ISA_SRC_MAX], dst[ISA_DST_MAX];
    if (s->in->ops[1].kind == PTX_O_TEXADDR && s->in->ops[1].sub_count &&
        !sel_texture_handle(s, &s->in->ops[1].sub[0], &src[0]))
        return;
    if (count > (sel_type(s) == PTX_F16X2 ? 2 : ISA_DST_MAX) || d->kind == PTX_O_PAIR ||
        !sel_tex_sources(s, dims, mip, src, &len)) {
        sel_unsupported(
            s, "offsets, samplers of their own, residency and gradients in three dimensions are not there");
        return;
    }
    bool is_half = sel_type(s) == PTX_F16X2 || sel_type(s) == PTX_F16;
    struct mir_opnd texel[ISA_DST_MAX];
    for (uint32_t i = 0; i < count; i++) dst[i] = sel_dst(s, d->kind == PTX_O_VECTOR ? &d->sub[i] : d, MIR_R);
    for (uint32_t i = 0; is_half && i < ISA_DST_MAX; i++) texel[i] = sel_temp(s, MIR_R);
    struct mir_inst *i =
        sel_emit_n(s, ISA_OP_TEX, is_half ? texel : dst, is_half ? ISA_DST_MAX : count, src, len);
    i->mod =
        (uint8_t)(dims | (sel_tex_layered(s) ? ISA_TEX_LAYERED : 0) | (sel_tex_cube(s) ? ISA_TEX_CUBE : 0));
    i->mod2 = is_half ? (uint8_t)ISA_F32 : sel_isa_type(sel_type(s));
    i->type = sel_isa_type((enum ptx_type)s->in->m.type[1]);
    i->vec = (uint8_t)mip;
    if (is_half) sel_tex_halves(s, texel, dst, count);
}

void sel_txq(struct sel *s)
{
    static const struct {
        uint8_t word, query;
    } queries[] = {
        {PTX_W_WIDTH, ISA_TXQ_WIDTH},
        {PTX_W_HEIGHT, ISA_TXQ_HEIGHT},
        {PTX_W_DEPTH, ISA_TXQ_DEPTH},
        {PTX_W_CHANNEL_DATA_TYPE, ISA_TXQ_CHANNEL_TYPE},
        {PTX_W_CHANNEL_ORDER, ISA_TXQ_CHANNEL_ORDER},
        {PTX_W_NORMALIZED_COORDS, ISA_TXQ_NORMALIZED},
        {PTX_W_FILTER_MODE, ISA_TXQ_FILTER},
        {PTX_W_ADDR_MODE_0, ISA_TXQ_ADDR0},
        {PTX_W_ADDR_MODE_1, ISA_TXQ_ADDR1},
        {PTX_W_ADDR_MODE_2, ISA_TXQ_ADDR2},
        {PTX_W_ARRAY_SIZE, ISA_TXQ_ARRAY_SIZE},
        {PTX_W_NUM_MIPMAP_LEVELS, ISA_TXQ_LEVELS},
        {PTX_W_NUM_SAMPLES, ISA_TXQ_SAMPLES},
        {PTX_W_MEMORY_LAYOUT, ISA_TXQ_LAYOUT},
    };
    const struct ptx_operand *a = &s->in->ops[1];
    bool has_level = sel_has_word(s, PTX_W_LEVEL);
    struct mir_opnd src[2];
    if (a->kind == PTX_O_ADDR && a->sub_count) a = &a->sub[0];
    if (!sel_texture_handle(s, a, &src[0])) return;
    if (has_level) src[1] = sel_src(s, &s->in->ops[2], PTX_U32);
    for (size_t q = 0; q < ARRAY_LEN(queries); q++) {
        if (!sel_has_word(s, (enum ptx_word)queries[q].word)) continue;
        const struct mir_opnd dst = sel_dst(s, &s->in->ops[0], MIR_R);
        sel_emit_n(s, ISA_OP_TXQ, &dst, 1, src, has_level ? 2 : 1)->mod = queries[q].query;
        return;
    }
    sel_unsupported(s, NULL);
}
