/* promote.c: frame slots that never need an address become virtual registers.
 *
 * A slot qualifies when every operand that names it is the address of an LD or ST in local space, at a
 * constant offset inside the slot, and no two accesses overlap without being the same bytes. Each piece
 * (offset, size) gets a vreg: the arguments and results of inlined calls and small .local variables leave
 * memory in this way. Pieces of 1 and 2 bytes are kept zero-extended, so a store narrows and a signed load
 * widens. */
#include "lower/opnd.h"
#include "lower/pass.h"

enum { PIECES_MAX = 256 };

struct piece {
    uint32_t slot;
    int64_t offset;
    uint32_t bytes;
    uint32_t vreg;
};
struct pieces {
    VEC(struct piece) list;
    bool *blocked;
    uint32_t *per_slot;
};

static bool is_slot_access(const struct mir_inst *in)
{
    return opnd_access_bytes(in) && in->mod == ISA_LOCAL && in->src[0].kind == MIR_SLOT &&
           !(in->flags & ISA_VOLATILE);
}

static uint32_t elements(const struct mir_inst *in) { return in->vec ? in->vec : 1; }

static struct piece *find_piece(struct pieces *p, uint32_t slot, int64_t offset, uint32_t bytes)
{
    for (uint32_t i = 0; i < p->list.len; i++) {
        struct piece *q = &p->list.data[i];
        if (q->slot != slot || q->offset >= offset + bytes || offset >= q->offset + q->bytes) continue;
        return q;
    }
    return NULL;
}

static void note_access(struct routine *u, struct pieces *p, const struct mir_inst *in)
{
    uint32_t slot = in->src[0].v, bytes = opnd_access_bytes(in);
    const struct mir_slot *s = &u->mir.slots.data[slot];
    for (uint32_t e = 0; e < elements(in) && !p->blocked[slot]; e++) {
        int64_t offset = in->src[0].imm + in->imm + (int64_t)e * bytes;
        struct piece *q = find_piece(p, slot, offset, bytes);
        if (q && q->offset == offset && q->bytes == bytes) continue;
        if (q || offset < 0 || offset + bytes > s->bytes || p->per_slot[slot] >= PIECES_MAX) {
            p->blocked[slot] = true;
            return;
        }
        p->per_slot[slot]++;
        vec_push(&p->list, (struct piece){slot, offset, bytes, MIR_NO_VREG});
    }
}

/* Real calls pass their arguments in memory: the slots of this function's own signature, and those of a
 * call that stays, cannot be promoted. */
static void block_fixed(struct routine *u, struct pieces *p)
{
    for (uint32_t i = 0; i < u->mir.slots.len; i++) {
        uint8_t kind = u->mir.slots.data[i].kind;
        p->blocked[i] =
            kind == MIR_SLOT_IN || kind == MIR_SLOT_RET || kind == MIR_SLOT_SPILL || kind == SLOT_OUT;
    }
    for (uint32_t i = 0; i < u->mir.insts.len; i++) {
        const struct mir_inst *in = &u->mir.insts.data[i];
        if (in->op != ISA_OP_CALL && in->op != ISA_OP_CALLI) continue;
        const struct mir_call *c = &u->mir.calls.data[in->target];
        for (uint32_t k = 0; k < c->arg_count; k++) p->blocked[c->args[k]] = true;
        for (uint32_t k = 0; k < c->ret_count; k++) p->blocked[c->rets[k]] = true;
    }
}

static void gather(struct routine *u, struct pieces *p)
{
    for (uint32_t i = 0; i < u->mir.insts.len; i++) {
        const struct mir_inst *in = &u->mir.insts.data[i];
        bool access = is_slot_access(in);
        for (uint32_t k = access ? 1 : 0; k < ISA_SRC_MAX; k++)
            if (in->src[k].kind == MIR_SLOT) p->blocked[in->src[k].v] = true;
    }
    for (uint32_t i = 0; i < u->mir.insts.len; i++)
        if (is_slot_access(&u->mir.insts.data[i])) note_access(u, p, &u->mir.insts.data[i]);
}

/* Returns the instruction that replaces one element of a load or store of a piece. */
static struct mir_inst move_piece(const struct mir_inst *in, uint32_t e, const struct piece *q)
{
    struct mir_inst mv = opnd_inst(ISA_OP_MOV_32, in->loc);
    mv.guard = in->guard;
    mv.guard_not = in->guard_not;
    switch (in->op) {
    case ISA_OP_LD_S8: mv.op = ISA_OP_CVT_S32_S8; break;
    case ISA_OP_LD_S16: mv.op = ISA_OP_CVT_S32_S16; break;
    case ISA_OP_ST_8: mv.op = ISA_OP_CVT_U32_U8; break;
    case ISA_OP_ST_16: mv.op = ISA_OP_CVT_U32_U16; break;
    case ISA_OP_LD_64:
    case ISA_OP_ST_64: mv.op = ISA_OP_MOV_64; break;
    default: break;
    }
    mv.dst[0] = opnd_is_load(in) ? in->dst[e] : mir_vreg(q->vreg);
    mv.src[0] = opnd_is_load(in) ? mir_vreg(q->vreg) : in->src[1 + e];
    return mv;
}

static void rewrite(struct routine *u, struct pieces *p)
{
    VEC(struct mir_inst) out = {0};
    for (uint32_t i = 0; i < u->mir.insts.len; i++) {
        const struct mir_inst *in = &u->mir.insts.data[i];
        if (!is_slot_access(in) || p->blocked[in->src[0].v]) {
            vec_push(&out, *in);
            continue;
        }
        uint32_t bytes = opnd_access_bytes(in);
        for (uint32_t e = 0; e < elements(in); e++) {
            if (opnd_is_load(in) && in->dst[e].kind != MIR_VREG) continue;
            struct piece *q =
                find_piece(p, in->src[0].v, in->src[0].imm + in->imm + (int64_t)e * bytes, bytes);
            assert(q && q->bytes == bytes); /* note_access made a piece of it */
            if (q->vreg == MIR_NO_VREG) q->vreg = mir_new_vreg(&u->mir, bytes == 8 ? MIR_D : MIR_R);
            vec_push(&out, move_piece(in, e, q));
        }
    }
    vec_free(&u->mir.insts);
    u->mir.insts.data = out.data;
    u->mir.insts.len = out.len;
    u->mir.insts.cap = out.cap;
}

bool routine_promote_slots(struct routine *u)
{
    if (!u->mir.slots.len) return false;
    struct pieces p = {.blocked = mem_zalloc(u->mir.slots.len),
                       .per_slot = mem_zalloc(sizeof(uint32_t) * u->mir.slots.len)};
    block_fixed(u, &p);
    gather(u, &p);
    bool any = false;
    for (uint32_t i = 0; i < p.list.len; i++) any |= !p.blocked[p.list.data[i].slot];
    if (any) rewrite(u, &p);
    vec_free(&p.list);
    free(p.blocked);
    free(p.per_slot);
    return any;
}
