/* fold_combine.c: an instruction together with the ones that make its sources: offsets move into memory
 * instructions, products and shifts into the additions that use them, conversions into wide products. */
#include "lower/fold.h"

/* Offsets that a real machine's memory instruction can hold: 24 bits with sign. */
enum { OFFSET_MAX = 1 << 23 };

/* The instruction that computes source k, when that is its only definition and it is known here. */
static struct mir_inst *maker(struct fold *z, const struct mir_inst *in, uint32_t k, uint32_t at,
                              uint32_t *place)
{
    if (in->src[k].kind != MIR_VREG) return NULL;
    *place = fold_def(z, in->src[k].v, at);
    return *place == CFG_NONE ? NULL : &z->f->insts.data[*place];
}

/* The same, when nothing else reads its result: it then goes away, and no work moves into a loop. */
static struct mir_inst *own_maker(struct fold *z, const struct mir_inst *in, uint32_t k, uint32_t at,
                                  uint32_t *place)
{
    struct mir_inst *m = maker(z, in, k, at, place);
    if (!m || z->use_count[in->src[k].v] != 1 || z->g->block_of[*place] != z->block || m->flags) return NULL;
    return m;
}

static bool takes_offset(const struct mir_inst *in)
{
    return opnd_access_bytes(in) || in->op == ISA_OP_PREFETCH || in->op == ISA_OP_ATOM_16 ||
           in->op == ISA_OP_ATOM_32 || in->op == ISA_OP_ATOM_64 || in->op == ISA_OP_ATOM_128 ||
           in->op == ISA_OP_CPASYNC;
}

static bool fold_offset(struct fold *z, uint32_t at)
{
    struct mir_inst *in = &z->f->insts.data[at];
    uint32_t d;
    if (!takes_offset(in)) return false;
    const struct mir_inst *m = maker(z, in, 0, at, &d);
    bool narrow = in->flags & ISA_A32;
    if (!m || (m->op != ISA_OP_ADD_64 && m->op != ISA_OP_ADD_32) || !fold_is_imm(&m->src[1])) return false;
    int64_t step = narrow ? (int64_t)(int32_t)m->src[1].imm : m->src[1].imm;
    if (step <= -OFFSET_MAX || step >= OFFSET_MAX || in->imm + step <= -OFFSET_MAX ||
        in->imm + step >= OFFSET_MAX)
        return false;
    if (!fold_is_stable(z, &m->src[0], d, at)) return false;
    in->imm += step;
    fold_set_src(z, in, 0, m->src[0]);
    return true;
}

/* Shared and local addresses are small: 32 bits of them are enough. Frame addresses in generic space are
 * local ones. */
static bool narrow_address(struct fold *z, uint32_t at)
{
    struct mir_inst *in = &z->f->insts.data[at];
    if (!opnd_access_bytes(in) || in->flags & ISA_A32) return false;
    struct mir_opnd *a = &in->src[0];
    if (in->mod == ISA_GENERIC && a->kind == MIR_SLOT && a->imm >= (int64_t)ISA_LOCAL_WINDOW) {
        a->imm -= (int64_t)ISA_LOCAL_WINDOW;
        in->mod = ISA_LOCAL;
        in->flags |= ISA_A32;
        return true;
    }
    if (in->mod != ISA_LOCAL && in->mod != ISA_SHARED) return false;
    if ((a->kind == MIR_SLOT || a->kind == MIR_DYNSMEM || a->kind == MIR_IMM) && a->imm >= 0 &&
        a->imm <= INT32_MAX) {
        in->flags |= ISA_A32;
        return true;
    }
    uint32_t d;
    const struct mir_inst *m = maker(z, in, 0, at, &d);
    if (!m || m->op != ISA_OP_CVT_U64_U32 || in->imm < 0 || !fold_is_stable(z, &m->src[0], d, at))
        return false;
    in->flags |= ISA_A32;
    fold_set_src(z, in, 0, m->src[0]);
    return true;
}

/* An ADD together with the product or shift that computes one of its sources. */
static bool fuse_add(struct fold *z, uint32_t at)
{
    struct mir_inst *in = &z->f->insts.data[at];
    bool wide = in->op == ISA_OP_ADD_64;
    if (!wide && in->op != ISA_OP_ADD_32) return false;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t d;
        const struct mir_inst *m = own_maker(z, in, k, at, &d);
        if (!m || !fold_is_stable(z, &m->src[0], d, at) || !fold_is_stable(z, &m->src[1], d, at)) continue;
        struct mir_opnd other = in->src[1 - k], a = m->src[0], b = m->src[1];
        uint16_t op = 0;
        switch (m->op) {
        case ISA_OP_MUL_WIDE_S32: op = wide ? ISA_OP_MAD_WIDE_S32 : 0; break;
        case ISA_OP_MUL_WIDE_U32: op = wide ? ISA_OP_MAD_WIDE_U32 : 0; break;
        case ISA_OP_MUL_LO_32: op = wide ? 0 : ISA_OP_MAD_LO_32; break;
        case ISA_OP_MUL_LO_64: op = wide ? ISA_OP_MAD_LO_64 : 0; break;
        case ISA_OP_SHL_32:
        case ISA_OP_SHL_64:
            if ((m->op == ISA_OP_SHL_64) != wide || !fold_is_imm(&b) || fold_imm(m, 1) >= (wide ? 64u : 32u))
                continue;
            in->op = wide ? ISA_OP_LEA_64 : ISA_OP_LEA_32;
            in->imm = (int64_t)fold_imm(m, 1);
            fold_set_src(z, in, 0, a);
            fold_set_src(z, in, 1, other);
            return true;
        default: break;
        }
        if (!op) continue;
        in->op = op;
        fold_set_src(z, in, 0, a);
        fold_set_src(z, in, 1, b);
        fold_set_src(z, in, 2, other);
        return true;
    }
    return false;
}

/* (x + c1) + c2 */
static bool chain_add(struct fold *z, uint32_t at)
{
    struct mir_inst *in = &z->f->insts.data[at];
    uint32_t d;
    if ((in->op != ISA_OP_ADD_64 && in->op != ISA_OP_ADD_32) || !fold_is_imm(&in->src[1])) return false;
    const struct mir_inst *m = own_maker(z, in, 0, at, &d);
    if (!m || m->op != in->op || !fold_is_imm(&m->src[1]) || !fold_is_stable(z, &m->src[0], d, at))
        return false;
    in->src[1].imm = (int64_t)((uint64_t)in->src[1].imm + (uint64_t)m->src[1].imm);
    fold_set_src(z, in, 0, m->src[0]);
    return true;
}

/* (long)x << k is x *wide 2^k; so is lea with it. */
static bool widen_shift(struct fold *z, uint32_t at)
{
    struct mir_inst *in = &z->f->insts.data[at];
    bool lea = in->op == ISA_OP_LEA_64;
    if (!lea && in->op != ISA_OP_SHL_64) return false;
    if (!lea && !fold_is_imm(&in->src[1])) return false;
    uint64_t shift = lea ? (uint64_t)in->imm : fold_imm(in, 1);
    uint32_t d;
    const struct mir_inst *m = own_maker(z, in, 0, at, &d);
    if (!m || (m->op != ISA_OP_CVT_S64_S32 && m->op != ISA_OP_CVT_U64_U32) || shift > 30) return false;
    if (!fold_is_stable(z, &m->src[0], d, at)) return false;
    bool is_signed = m->op == ISA_OP_CVT_S64_S32;
    struct mir_opnd add = in->src[1];
    in->op = is_signed ? ISA_OP_MUL_WIDE_S32 : ISA_OP_MUL_WIDE_U32;
    fold_set_src(z, in, 0, m->src[0]);
    if (lea) {
        in->op = is_signed ? ISA_OP_MAD_WIDE_S32 : ISA_OP_MAD_WIDE_U32;
        in->imm = 0;
        in->src[2] = add; /* the vreg moves: its use count stays */
    }
    in->src[1] = mir_imm(1ll << shift);
    return true;
}

/* A comparison of a predicate that was turned into a number. */
static bool see_through_number(struct fold *z, uint32_t at)
{
    struct mir_inst *in = &z->f->insts.data[at];
    bool compares = (in->op == ISA_OP_SETP_U32 || in->op == ISA_OP_SETP_S32) && in->mod2 == ISA_BOOL_NONE &&
                    (in->mod == ISA_EQ || in->mod == ISA_NE) && in->dst[1].kind == MIR_NONE &&
                    fold_is_imm(&in->src[1]) && fold_imm(in, 1) == 0;
    if (!compares && in->op != ISA_OP_R2P) return false;
    uint32_t d;
    const struct mir_inst *m = maker(z, in, 0, at, &d);
    if (!m) return false;
    struct mir_opnd p;
    if (m->op == ISA_OP_P2R) {
        p = m->src[0];
    } else if (m->op == ISA_OP_SEL_32 && fold_is_imm(&m->src[0]) && fold_is_imm(&m->src[1]) &&
               fold_imm(m, 0) != 0 && fold_imm(m, 1) == 0) {
        p = m->src[2];
    } else {
        return false;
    }
    if (!fold_is_stable(z, &p, d, at)) return false;
    if (compares && in->mod == ISA_EQ) p.negated = !p.negated;
    fold_to_move(z, in, p);
    return true;
}

/* Narrowing of a value that is narrow already. */
static bool idle_narrowing(struct fold *z, uint32_t at)
{
    struct mir_inst *in = &z->f->insts.data[at];
    bool to8 = in->op == ISA_OP_CVT_U32_U8 || in->op == ISA_OP_CVT_U16_U8;
    if (!to8 && in->op != ISA_OP_CVT_U32_U16 && in->op != ISA_OP_CVT_U16_U16) return false;
    uint32_t d;
    const struct mir_inst *m = maker(z, in, 0, at, &d);
    if (!m || in->flags & ISA_SAT) return false;
    bool is8 = m->op == ISA_OP_LD_U8 || m->op == ISA_OP_CVT_U32_U8;
    bool is16 = m->op == ISA_OP_LD_U16 || m->op == ISA_OP_CVT_U32_U16;
    if (!is8 && (!is16 || to8)) return false;
    fold_to_move(z, in, in->src[0]);
    return true;
}

/* The halves of a pair that was put together from known parts. */
static bool unpack_packed(struct fold *z, uint32_t at)
{
    struct mir_inst *in = &z->f->insts.data[at];
    uint32_t d;
    bool low = in->op == ISA_OP_CVT_U32_U64 || in->op == ISA_OP_CVT_S32_S64 || in->op == ISA_OP_CVT_U32_S64 ||
               in->op == ISA_OP_CVT_S32_U64;
    bool unpack =
        in->op == ISA_OP_UNPACK_64_32 && (in->dst[0].kind == MIR_NONE || in->dst[1].kind == MIR_NONE);
    if ((!low && !unpack) || in->flags & ISA_SAT) return false;
    const struct mir_inst *m = maker(z, in, 0, at, &d);
    uint32_t half = unpack && in->dst[0].kind == MIR_NONE;
    if (!m || in->dst[half].kind != MIR_VREG) return false;
    bool widened = m->op == ISA_OP_CVT_U64_U32 || m->op == ISA_OP_CVT_S64_S32;
    if (m->op != ISA_OP_PACK_64_32 && !(widened && half == 0)) return false;
    if (!fold_is_stable(z, &m->src[half], d, at)) return false;
    if (half) {
        in->dst[0] = in->dst[1];
        in->dst[1] = mir_none();
    }
    fold_to_move(z, in, m->src[half]);
    return true;
}

bool fold_combine(struct fold *z, uint32_t at)
{
    return fold_offset(z, at) || narrow_address(z, at) || chain_add(z, at) || widen_shift(z, at) ||
           fuse_add(z, at) || see_through_number(z, at) || idle_narrowing(z, at) || unpack_packed(z, at);
}
