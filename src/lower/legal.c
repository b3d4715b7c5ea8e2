/* legal.c: operands as a real machine can encode them.
 *
 * Heddle's own instructions take a constant in any place. NVIDIA's take one per instruction (a constant-bank
 * word or an immediate); memory instructions take their address and data from registers, except for absolute
 * shared and frame addresses; zero is free everywhere (RZ). All other cases cost compilers moves and
 * registers, so lowering spends them too: register and instruction counts are then those of silicon. Within a
 * block one move serves all uses. Known from: SASS listings of nvdisasm (for example "MOV R5, 0x4; IMAD.WIDE
 * R2, R0, R5, c[0x0][0x160]"). */
#include "lower/opnd.h"
#include "lower/pass.h"

enum { HELD_MAX = 32 };

struct held {
    struct mir_opnd value;
    uint8_t cls;
    uint32_t vreg;
};

struct legal {
    struct routine *u;
    VEC(struct mir_inst) out;
    /* constants that already are in a register, in this block */
    struct held held[HELD_MAX];
    uint32_t held_count;
};

static bool is_free(const struct mir_inst *in, uint32_t k)
{
    const struct mir_opnd *o = &in->src[k];
    if (!opnd_is_const(o) || opnd_src_class(in, k) == MIR_P) return true;
    if (o->kind == MIR_IMM && o->imm == 0) return true;
    return false;
}

/* Number of constants that the instruction can hold. */
static uint32_t allowance(const struct mir_inst *in)
{
    if (in->array) return 0; /* the index is read out of a register */
    switch (isa_ops[in->op].unit) {
    case ISA_UNIT_LSU:
    case ISA_UNIT_SYS: return 0;
    case ISA_UNIT_TEX: return 1; /* the handle */
    case ISA_UNIT_SYNC:
    case ISA_UNIT_CTRL: return ISA_SRC_MAX; /* barrier numbers, lanes, masks are fields of the instruction */
    default: return 1;
    }
}

static bool is_absolute(const struct mir_inst *in, uint32_t k)
{
    return k == 0 && opnd_is_address(in, 0) && in->flags & ISA_A32;
}

static struct mir_opnd in_register(struct legal *l, const struct mir_inst *in, uint32_t k)
{
    struct mir_opnd o = in->src[k];
    uint8_t cls = opnd_src_class(in, k);
    for (uint32_t i = 0; i < l->held_count; i++) {
        const struct held *h = &l->held[i];
        if (h->cls == cls && h->value.kind == o.kind && h->value.v == o.v && h->value.imm == o.imm)
            return mir_vreg(h->vreg);
    }
    struct mir_inst mv = opnd_inst(opnd_move_op(cls), in->loc);
    mv.dst[0] = mir_vreg(mir_new_vreg(&l->u->mir, cls));
    mv.src[0] = o;
    vec_push(&l->out, mv);
    if (l->held_count < HELD_MAX) l->held[l->held_count++] = (struct held){o, cls, mv.dst[0].v};
    return mv.dst[0];
}

static void legalise(struct legal *l, struct mir_inst in)
{
    uint32_t left = in.op < ISA_OP_COUNT ? allowance(&in) : ISA_SRC_MAX;
    if (opnd_is_move(&in)) left = 1;
    /* From the right: in a multiply-add the addend stays a constant. */
    for (uint32_t k = ISA_SRC_MAX; k-- > 0 && in.op < ISA_OP_COUNT;) {
        if (in.src[k].kind == MIR_NONE || is_free(&in, k) || is_absolute(&in, k)) continue;
        if (left) {
            left--;
            continue;
        }
        in.src[k] = in_register(l, &in, k);
    }
    vec_push(&l->out, in);
    if (opnd_ends_block(&in) || in.op == MIR_OP_LABEL || in.op == ISA_OP_CALL || in.op == ISA_OP_CALLI)
        l->held_count = 0;
}

void routine_legalise(struct routine *u)
{
    struct legal l = {.u = u};
    for (uint32_t i = 0; i < u->mir.insts.len; i++) legalise(&l, u->mir.insts.data[i]);
    vec_free(&u->mir.insts);
    u->mir.insts.data = l.out.data;
    u->mir.insts.len = l.out.len;
    u->mir.insts.cap = l.out.cap;
}
