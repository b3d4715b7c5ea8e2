/* select_surface.c: suld, sust and sured (PTX ISA 9.7.11): accesses by coordinates, x in bytes (.b) or texels
 * (.p). The default for accesses outside of the surface is .trap.
 *
 * A reduction is two instructions: one finds the address and the lanes that have one, the other is a plain
 * reduction of global memory in these lanes. Of which sign the data of sured.p is, the surface says. */
#include "lower/select.h"

static uint32_t surface_dims(const struct sel *s)
{
    if (sel_has_word(s, PTX_W_1D) || sel_has_word(s, PTX_W_A1D)) return 1;
    return sel_has_word(s, PTX_W_3D) ? 3 : 2;
}

/* The handle; x, y and z or the layer, 0 where the shape has none. */
static bool surface_address(struct sel *s, const struct ptx_operand *at, struct mir_opnd src[4])
{
    bool layered = sel_has_word(s, PTX_W_A1D) || sel_has_word(s, PTX_W_A2D);
    uint32_t dims = surface_dims(s), len = 1;
    src[1] = src[2] = src[3] = mir_imm(0);
    if (!sel_texture_handle(s, &at->sub[0], &src[0])) return false;
    if (!sel_tex_values(s, &at->sub[1], layered, dims, PTX_S32, src, &len)) return false;
    len = 3;
    return !layered || sel_tex_values(s, &at->sub[1], 0, 1, PTX_B32, src, &len);
}

static int64_t surface_shape(const struct sel *s)
{
    return isa_surface(surface_dims(s), sel_has_word(s, PTX_W_A1D) || sel_has_word(s, PTX_W_A2D),
                       s->in->m.formatted,
                       sel_has_word(s, PTX_W_CLAMP)  ? ISA_OUTSIDE_CLAMP
                       : sel_has_word(s, PTX_W_ZERO) ? ISA_OUTSIDE_ZERO
                                                     : ISA_OUTSIDE_TRAP);
}

void sel_surface(struct sel *s)
{
    static const uint16_t rows[2][4] = {{ISA_OP_SULD_8, ISA_OP_SULD_16, ISA_OP_SULD_32, ISA_OP_SULD_64},
                                        {ISA_OP_SUST_8, ISA_OP_SUST_16, ISA_OP_SUST_32, ISA_OP_SUST_64}};
    bool is_store = s->in->op == PTX_OP_sust;
    enum ptx_type t = sel_type(s);
    uint32_t bytes = ptx_type_bytes(t), count = MAX(s->in->m.vec, 1u);
    const struct ptx_operand *value = &s->in->ops[is_store ? 1 : 0];
    struct mir_opnd src[ISA_SRC_MAX], dst[ISA_DST_MAX];
    if (!surface_address(s, &s->in->ops[is_store ? 0 : 1], src)) return;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *o = value->kind == PTX_O_VECTOR ? &value->sub[i] : value;
        if (is_store)
            src[4 + i] = sel_src(s, o, t);
        else
            dst[i] = sel_dst(s, o, sel_class(t));
    }
    enum isa_op op = s->in->m.formatted ? ISA_OP_SUST_P
                                        : (enum isa_op)rows[is_store][bytes == 1   ? 0
                                                                      : bytes == 2 ? 1
                                                                      : bytes == 4 ? 2
                                                                                   : 3];
    struct mir_inst *i = sel_emit_n(s, op, dst, is_store ? 0 : count, src, is_store ? 4 + count : 4);
    i->mod = ISA_GLOBAL;
    i->mod2 = s->in->m.cache;
    i->vec = (uint8_t)count;
    i->imm = surface_shape(s);
}

/* In the lanes of `in` alone: lanes that the instruction's own guard leaves out have no address either. */
static void reduce(struct sel *s, struct mir_opnd at, struct mir_opnd in, struct mir_opnd value,
                   enum ptx_type t)
{
    const struct mir_opnd src[2] = {at, value}, none = mir_none();
    struct mir_inst *i =
        sel_emit_n(s, ptx_type_bytes(t) == 8 ? ISA_OP_ATOM_64 : ISA_OP_ATOM_32, &none, 1, src, 2);
    i->guard = in.v;
    i->guard_not = false;
    i->type = sel_isa_type(t);
    i->mod = ISA_GLOBAL;
    i->mod2 = (uint8_t)(s->in->m.atom - PTX_ATOM_AND + ISA_ATOM_AND);
}

void sel_sured(struct sel *s)
{
    enum ptx_type t = sel_type(s);
    uint32_t bytes = ptx_type_bytes(t);
    bool minmax = s->in->m.atom == PTX_ATOM_MIN || s->in->m.atom == PTX_ATOM_MAX;
    bool by_sign = s->in->m.formatted && minmax;
    struct mir_opnd src[4], dst[3] = {sel_temp(s, MIR_D), sel_temp(s, MIR_P)};
    if (!surface_address(s, &s->in->ops[0], src)) return;
    if (by_sign) dst[2] = sel_temp(s, MIR_P);
    struct mir_inst *i = sel_emit_n(s, ISA_OP_SURED_AT, dst, by_sign ? 3 : 2, src, 4);
    i->vec = (uint8_t)(bytes / 4);
    i->imm = surface_shape(s);
    struct mir_opnd value = sel_src(s, &s->in->ops[1], t);
    if (!by_sign) {
        reduce(s, dst[0], dst[1], value, t);
        return;
    }
    reduce(s, dst[0], dst[1], value, bytes == 8 ? PTX_U64 : PTX_U32);
    reduce(s, dst[0], dst[2], value, bytes == 8 ? PTX_S64 : PTX_S32);
}
