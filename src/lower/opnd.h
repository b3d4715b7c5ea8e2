/* opnd.h: what an MIR instruction reads and writes, and what may be done with it, read out of the rows of
 * isa.def. */
#ifndef HEDDLE_OPND_H
#define HEDDLE_OPND_H

#include "lower/mir.h"

enum { OPND_ABSENT = 0xff, OPND_USES_MAX = ISA_SRC_MAX + 1 + ISA_REGS_MAX };

/* Class (enum mir_class) that destination or source i must have, or OPND_ABSENT where the opcode has no such
 * operand. */
uint8_t opnd_dst_class(const struct mir_inst *in, uint32_t i);
uint8_t opnd_src_class(const struct mir_inst *in, uint32_t i);

/* Vregs read (the guard and an array among them) and written; the count is returned. The same vreg may come
 * twice. */
uint32_t opnd_uses(const struct mir_inst *in, uint32_t uses[OPND_USES_MAX]);
uint32_t opnd_defs(const struct mir_inst *in, uint32_t defs[ISA_DST_MAX]);

/* True when the result depends on the sources alone: the same sources give the same result everywhere. */
bool opnd_is_pure(const struct mir_inst *in);
/* True when the instruction must stay even if nobody reads what it writes. */
bool opnd_has_effect(const struct mir_inst *in);
/* True for what may leave the straight line: BRA, BRX, EXIT, RET (with or without guard). */
bool opnd_ends_block(const struct mir_inst *in);
/* True when control never goes on to the next instruction. */
bool opnd_never_falls(const struct mir_inst *in);
static inline bool opnd_is_guarded(const struct mir_inst *in) { return in->guard != MIR_NO_VREG; }
/* MOV_32, MOV_64 or MOV_P. */
static inline bool opnd_is_move(const struct mir_inst *in)
{
    return in->op == ISA_OP_MOV_32 || in->op == ISA_OP_MOV_64 || in->op == ISA_OP_MOV_P;
}
static inline uint16_t opnd_move_op(uint8_t cls)
{
    return cls == MIR_R ? ISA_OP_MOV_32 : cls == MIR_D ? ISA_OP_MOV_64 : ISA_OP_MOV_P;
}
/* A source that is the same for all lanes and all times of a launch: a row of the constant pool. */
static inline bool opnd_is_const(const struct mir_opnd *o) { return o->kind >= MIR_IMM; }
/* LD_* or ST_*: bytes of one element; 0 for anything else. */
uint32_t opnd_access_bytes(const struct mir_inst *in);
static inline bool opnd_is_load(const struct mir_inst *in)
{
    return in->op >= ISA_OP_LD_U8 && in->op <= ISA_OP_LD_64;
}
static inline bool opnd_is_store(const struct mir_inst *in)
{
    return in->op >= ISA_OP_ST_8 && in->op <= ISA_OP_ST_64;
}
/* Sources that are addresses: the first, for cp.async also the second. */
bool opnd_is_address(const struct mir_inst *in, uint32_t i);

/* An instruction without operands, guard or flags. */
struct mir_inst opnd_inst(uint16_t op, uint32_t loc);

#endif
