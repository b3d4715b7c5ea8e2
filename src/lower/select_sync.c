/* select_sync.c: barriers, fences and what the lanes of a warp do together (PTX ISA 9.7.13; shfl in
 * 9.7.9).
 *
 * Forms without .sync (before sm_70) take the lanes that happen to be active: ISA_NOSYNC. `bar` is a
 * `barrier` for which the program promises that a warp executes it together (.aligned). A cluster is one
 * CTA, so its scope is the CTA's. */
#include "lower/select.h"

static struct mir_opnd sel_optional(struct sel *s, uint32_t i, enum ptx_type t)
{
    return sel_has_op(s, i) ? sel_src(s, &s->in->ops[i], t) : mir_none();
}

static uint16_t sel_aligned(const struct sel *s)
{
    return s->in->op == PTX_OP_bar || s->in->m.aligned ? ISA_ALIGNED : 0;
}

/* bar.red.op.type d, a{, b}, {!}c */
static void sel_bar_red(struct sel *s)
{
    bool is_popc = s->in->m.atom == PTX_ATOM_POPC;
    uint32_t last = s->in->op_count - 1;
    if (s->in->op_count < 3) {
        sel_unsupported(s, NULL);
        return;
    }
    struct mir_opnd src[3] = {sel_src(s, &s->in->ops[1], PTX_U32),
                              last > 2 ? sel_src(s, &s->in->ops[2], PTX_U32) : mir_none(),
                              sel_src(s, &s->in->ops[last], PTX_PRED)};
    struct mir_opnd dst = sel_dst(s, &s->in->ops[0], is_popc ? MIR_R : MIR_P);
    struct mir_inst *i = sel_emit_n(s, is_popc ? ISA_OP_BAR_RED_POPC : ISA_OP_BAR_RED_P, &dst, 1, src, 3);
    i->mod2 = s->in->m.atom == PTX_ATOM_OR ? ISA_ATOM_OR : ISA_ATOM_AND;
    i->flags = sel_aligned(s);
}

void sel_bar(struct sel *s)
{
    if (sel_has_word(s, PTX_W_WARP)) {
        struct mir_opnd mask = sel_optional(s, 0, PTX_B32);
        sel_emit_n(s, ISA_OP_WARPSYNC, NULL, 0, &mask, 1);
    } else if (sel_has_word(s, PTX_W_RED)) {
        sel_bar_red(s);
    } else {
        struct mir_opnd src[2] = {sel_has_op(s, 0) ? sel_src(s, &s->in->ops[0], PTX_U32) : mir_imm(0),
                                  sel_optional(s, 1, PTX_U32)};
        bool is_arrive = sel_has_word(s, PTX_W_ARRIVE);
        sel_emit_n(s, is_arrive ? ISA_OP_BAR_ARRIVE : ISA_OP_BAR_SYNC, NULL, 0, src, 2)->flags =
            sel_aligned(s);
    }
}

/* membar and fence; the proxy fences order what happens in order here anyway. */
void sel_fence(struct sel *s)
{
    uint8_t scope = s->in->m.scope;
    sel_emit_n(s, ISA_OP_MEMBAR, NULL, 0, NULL, 0)->mod = (uint8_t)(scope == PTX_SCOPE_GPU   ? ISA_SCOPE_GPU
                                                                    : scope == PTX_SCOPE_SYS ? ISA_SCOPE_SYS
                                                                                             : ISA_SCOPE_CTA);
}

/* The member mask, which only the .sync forms have. */
static struct mir_opnd sel_members(struct sel *s, uint32_t i)
{
    return s->in->m.sync && sel_has_op(s, i) ? sel_src(s, &s->in->ops[i], PTX_B32) : mir_imm(0xffffffff);
}

static uint8_t sel_nosync(const struct sel *s) { return s->in->m.sync ? 0 : ISA_NOSYNC; }

void sel_shfl(struct sel *s)
{
    static const uint8_t modes[] = {[PTX_W_UP] = ISA_SHFL_UP,
                                    [PTX_W_DOWN] = ISA_SHFL_DOWN,
                                    [PTX_W_BFLY] = ISA_SHFL_BFLY,
                                    [PTX_W_IDX] = ISA_SHFL_IDX};
    const struct ptx_operand *ops = s->in->ops;
    uint8_t word = s->in->m.word[0];
    if (word < PTX_W_UP || word > PTX_W_IDX || s->in->op_count < 4) {
        sel_unsupported(s, NULL);
        return;
    }
    struct mir_opnd dst[2];
    struct mir_opnd src[4] = {sel_src(s, &ops[1], PTX_B32), sel_src(s, &ops[2], PTX_B32),
                              sel_src(s, &ops[3], PTX_B32), sel_members(s, 4)};
    sel_dst_pair(s, &ops[0], MIR_R, dst);
    sel_emit_n(s, ISA_OP_SHFL, dst, 2, src, 4)->mod = modes[word] | sel_nosync(s);
}

void sel_vote(struct sel *s)
{
    bool is_ballot = sel_has_word(s, PTX_W_BALLOT);
    struct mir_opnd src[2] = {sel_src(s, &s->in->ops[1], PTX_PRED), sel_members(s, 2)};
    struct mir_opnd dst = sel_dst(s, &s->in->ops[0], is_ballot ? MIR_R : MIR_P);
    uint8_t mode = is_ballot                    ? 0
                   : sel_has_word(s, PTX_W_ALL) ? ISA_VOTE_ALL
                   : sel_has_word(s, PTX_W_ANY) ? ISA_VOTE_ANY
                                                : ISA_VOTE_UNI;
    sel_emit_n(s, is_ballot ? ISA_OP_BALLOT : ISA_OP_VOTE, &dst, 1, src, 2)->mod = mode | sel_nosync(s);
}

void sel_match(struct sel *s)
{
    enum ptx_type t = sel_type(s);
    bool is_all = sel_has_word(s, PTX_W_ALL), is_wide = sel_class(t) == MIR_D;
    struct mir_opnd src[2] = {sel_src(s, &s->in->ops[1], t), sel_src(s, &s->in->ops[2], PTX_B32)}, dst[2];
    sel_dst_pair(s, &s->in->ops[0], MIR_R, dst);
    enum isa_op op = is_all ? (is_wide ? ISA_OP_MATCH_ALL_64 : ISA_OP_MATCH_ALL_32)
                            : (is_wide ? ISA_OP_MATCH_ANY_64 : ISA_OP_MATCH_ANY_32);
    sel_emit_n(s, op, dst, is_all ? 2 : 1, src, 2);
}

void sel_redux(struct sel *s)
{
    enum ptx_type t = sel_type(s);
    if (s->in->m.atom == PTX_ATOM_NONE || s->in->m.atom > PTX_ATOM_MAX || ptx_type_bytes(t) != 4 ||
        t == PTX_F32) {
        sel_unsupported(s, NULL);
        return;
    }
    struct mir_inst *i = sel_emit(s, ISA_OP_REDUX, sel_dst(s, &s->in->ops[0], MIR_R),
                                  sel_src(s, &s->in->ops[1], t), sel_src(s, &s->in->ops[2], PTX_B32));
    i->mod2 = (uint8_t)(s->in->m.atom - PTX_ATOM_AND + ISA_ATOM_AND);
    i->type = sel_isa_type(t);
}

void sel_elect(struct sel *s)
{
    struct mir_opnd dst[2], mask = sel_src(s, &s->in->ops[1], PTX_B32);
    sel_dst_pair(s, &s->in->ops[0], MIR_R, dst);
    sel_emit_n(s, ISA_OP_ELECT, dst, 2, &mask, 1);
}

void sel_activemask(struct sel *s)
{
    struct mir_opnd dst = sel_dst(s, &s->in->ops[0], MIR_R);
    sel_emit_n(s, ISA_OP_ACTIVEMASK, &dst, 1, NULL, 0);
}

void sel_nanosleep(struct sel *s)
{
    struct mir_opnd t = sel_src(s, &s->in->ops[0], PTX_U32);
    sel_emit_n(s, ISA_OP_NANOSLEEP, NULL, 0, &t, 1);
}
