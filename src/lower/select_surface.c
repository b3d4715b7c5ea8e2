/* select_surface.c: suld and sust (PTX ISA 9.7.11): unformatted accesses by byte offset and coordinates.
 * The default for accesses outside of the surface is .trap. */
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
    enum isa_op op = (enum isa_op)rows[is_store][bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
    struct mir_inst *i = sel_emit_n(s, op, dst, is_store ? 0 : count, src, is_store ? 4 + count : 4);
    i->mod = ISA_GLOBAL;
    i->mod2 = s->in->m.cache;
    i->vec = (uint8_t)count;
    i->imm = isa_surface(surface_dims(s), sel_has_word(s, PTX_W_A1D) || sel_has_word(s, PTX_W_A2D),
                         sel_has_word(s, PTX_W_CLAMP)  ? ISA_OUTSIDE_CLAMP
                         : sel_has_word(s, PTX_W_ZERO) ? ISA_OUTSIDE_ZERO
                                                       : ISA_OUTSIDE_TRAP);
}
