/* select_video.c: the scalar and SIMD video instructions (PTX ISA 9.7.17, 9.7.18). Each becomes one
 * machine instruction, as on the GPUs that have them (scalar: Fermi to Maxwell, SIMD: Kepler); newer ones
 * run a sequence of ordinary instructions instead. */
#include "lower/select.h"

static enum isa_video video_kind(enum ptx_op op)
{
    switch (op) {
    case PTX_OP_vsub:
    case PTX_OP_vsub2:
    case PTX_OP_vsub4: return ISA_VIDEO_SUB;
    case PTX_OP_vabsdiff:
    case PTX_OP_vabsdiff2:
    case PTX_OP_vabsdiff4: return ISA_VIDEO_ABSDIFF;
    case PTX_OP_vmin:
    case PTX_OP_vmin2:
    case PTX_OP_vmin4: return ISA_VIDEO_MIN;
    case PTX_OP_vmax:
    case PTX_OP_vmax2:
    case PTX_OP_vmax4: return ISA_VIDEO_MAX;
    case PTX_OP_vavrg2:
    case PTX_OP_vavrg4: return ISA_VIDEO_AVRG;
    case PTX_OP_vset:
    case PTX_OP_vset2:
    case PTX_OP_vset4: return ISA_VIDEO_SET;
    case PTX_OP_vshl: return ISA_VIDEO_SHL;
    case PTX_OP_vshr: return ISA_VIDEO_SHR;
    default: return ISA_VIDEO_ADD;
    }
}

static uint32_t scalar_part(const char *part)
{
    if (!part[0]) return ISA_PART_ALL;
    return (uint32_t)(part[0] == 'b' ? ISA_PART_B0 : ISA_PART_H0) + (uint32_t)(part[1] - '0');
}

/* ".h32" names the highest element first. */
static uint32_t simd_parts(const char *part, uint32_t usual)
{
    uint32_t parts = 0;
    for (uint32_t i = 1; part[0] && part[i]; i++) parts = parts << 4 | (uint32_t)(part[i] - '0');
    return part[0] ? parts : usual;
}

static uint32_t simd_mask(const char *part, uint32_t elements)
{
    uint32_t mask = 0;
    for (uint32_t i = 1; part[0] && part[i]; i++) mask |= 1u << (part[i] - '0');
    return part[0] ? mask : (1u << elements) - 1;
}

static struct mir_opnd video_source(struct sel *s, uint32_t i)
{
    if (!sel_has_op(s, i)) return mir_imm(0);
    struct ptx_operand plain = s->in->ops[i];
    plain.negated = false; /* vmad.mod has it */
    return sel_src(s, &plain, PTX_U32);
}

static struct mir_inst *video_emit(struct sel *s, enum isa_op op)
{
    struct mir_opnd src[3] = {video_source(s, 1), video_source(s, 2), video_source(s, 3)};
    struct mir_opnd dst = sel_dst(s, &s->in->ops[0], MIR_R);
    struct mir_inst *i = sel_emit_n(s, op, &dst, 1, src, 3);
    const struct ptx_mods *m = &s->in->m;
    bool is_set = m->cmp != PTX_CMP_NONE; /* its result is unsigned and has no type */
    i->type = (uint8_t)((!is_set && m->type[0] == PTX_S32) | (m->type[!is_set] == PTX_S32) << 1 |
                        (m->type[1 + !is_set] == PTX_S32) << 2);
    i->flags = m->sat ? ISA_SAT : 0;
    return i;
}

static uint8_t second_kind(const struct sel *s)
{
    switch ((enum ptx_atom)s->in->m.atom) {
    case PTX_ATOM_ADD: return ISA_SECOND_ADD;
    case PTX_ATOM_MIN: return ISA_SECOND_MIN;
    case PTX_ATOM_MAX: return ISA_SECOND_MAX;
    default: return s->in->ops[0].part[0] ? ISA_SECOND_MERGE : ISA_SECOND_NONE;
    }
}

static void sel_vmad(struct sel *s)
{
    const struct ptx_operand *ops = s->in->ops;
    struct mir_inst *i = video_emit(s, ISA_OP_VMAD);
    i->imm = isa_selectors(scalar_part(ops[1].part), scalar_part(ops[2].part), ISA_PART_ALL, 0);
    i->mod = (uint8_t)((ops[1].negated != ops[2].negated ? ISA_VMAD_MINUS_PRODUCT : 0) |
                       (ops[3].negated ? ISA_VMAD_MINUS_C : 0) | (s->in->m.plus_one ? ISA_VMAD_PLUS_ONE : 0));
    i->mod2 = sel_has_word(s, PTX_W_SHR7) ? 7 : sel_has_word(s, PTX_W_SHR15) ? 15 : 0;
}

static void sel_simd(struct sel *s, enum isa_op op, uint32_t elements)
{
    const struct ptx_operand *ops = s->in->ops;
    struct mir_inst *i = video_emit(s, op);
    uint32_t a = simd_parts(ops[1].part, elements == 2 ? 0x10 : 0x3210),
             b = simd_parts(ops[2].part, elements == 2 ? 0x32 : 0x7654);
    i->mod = (uint8_t)video_kind(s->in->op);
    i->mod2 = s->in->m.atom == PTX_ATOM_ADD ? ISA_SECOND_ADD : ISA_SECOND_MERGE;
    i->imm = isa_selectors(a, b, simd_mask(ops[0].part, elements), sel_cmp(&s->in->m));
}

static void sel_scalar(struct sel *s)
{
    const struct ptx_operand *ops = s->in->ops;
    struct mir_inst *i = video_emit(s, ISA_OP_VIDEO);
    i->mod = (uint8_t)video_kind(s->in->op);
    i->mod2 = second_kind(s) | (sel_has_word(s, PTX_W_CLAMP) ? ISA_CLAMP : 0);
    i->imm = isa_selectors(scalar_part(ops[1].part), scalar_part(ops[2].part), scalar_part(ops[0].part),
                           sel_cmp(&s->in->m));
}

void sel_video(struct sel *s)
{
    if (s->in->op == PTX_OP_vmad)
        sel_vmad(s);
    else if (s->in->op >= PTX_OP_vadd4)
        sel_simd(s, ISA_OP_VIDEO_4, 4);
    else if (s->in->op >= PTX_OP_vadd2)
        sel_simd(s, ISA_OP_VIDEO_2, 2);
    else
        sel_scalar(s);
}
