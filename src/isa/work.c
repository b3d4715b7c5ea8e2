/* work.c: see work.h. Which operations stand apart is what GPUWattch's counters tell apart (GPGPU-Sim 3.2.2):
 * a fused multiply-add counts as an addition there. */
#include "isa/work.h"

#include <string.h>

static bool begins(const struct isa_op_info *op, const char *with)
{
    return strncmp(op->name, with, strlen(with)) == 0;
}

static bool is_division(const struct isa_op_info *op)
{
    return begins(op, "div") || begins(op, "rem") || begins(op, "rcp");
}

static bool is_product(const struct isa_op_info *op)
{
    return begins(op, "mul") || begins(op, "mad") || begins(op, "vmad") || begins(op, "dp");
}

static enum isa_work int_work(const struct isa_op_info *op)
{
    if (is_division(op)) return ISA_WORK_INT_DIV;
    return is_product(op) ? ISA_WORK_INT_MUL : ISA_WORK_INT;
}

static enum isa_work fp_work(const struct isa_op_info *op)
{
    if (is_division(op)) return ISA_WORK_FP_DIV;
    if (begins(op, "sqrt")) return ISA_WORK_SQRT;
    return is_product(op) ? ISA_WORK_FP_MUL : ISA_WORK_FP;
}

static enum isa_work dp_work(const struct isa_op_info *op)
{
    if (is_division(op) || begins(op, "sqrt")) return ISA_WORK_DP_DIV;
    return is_product(op) ? ISA_WORK_DP_MUL : ISA_WORK_DP;
}

static enum isa_work sfu_work(const struct isa_op_info *op)
{
    if (begins(op, "sin") || begins(op, "cos")) return ISA_WORK_SIN;
    if (begins(op, "lg2")) return ISA_WORK_LOG;
    if (begins(op, "ex2") || begins(op, "tanh")) return ISA_WORK_EXP;
    return is_division(op) ? ISA_WORK_FP_DIV : ISA_WORK_SQRT;
}

enum isa_work isa_work(const struct isa_op_info *op)
{
    switch ((enum isa_unit)op->unit) {
    case ISA_UNIT_INT: return int_work(op);
    case ISA_UNIT_CVT: return ISA_WORK_INT;
    case ISA_UNIT_FP32:
    case ISA_UNIT_HALF: return fp_work(op);
    case ISA_UNIT_FP64: return dp_work(op);
    case ISA_UNIT_SFU: return sfu_work(op);
    case ISA_UNIT_TEX: return ISA_WORK_TEX;
    case ISA_UNIT_LSU:
    case ISA_UNIT_SYNC:
    case ISA_UNIT_CTRL:
    case ISA_UNIT_SYS: return ISA_WORK_NONE;
    case ISA_UNIT_COUNT: break;
    }
    UNREACHABLE("a unit that does not exist");
}
