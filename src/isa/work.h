/* work.h: what each lane of an instruction does, as models of energy tell operations apart. */
#ifndef HEDDLE_ISA_WORK_H
#define HEDDLE_ISA_WORK_H

#include "isa/isa.h"

enum isa_work {
    /* memory, barriers, branches: their energy is that of the parts that they use */
    ISA_WORK_NONE,
    /* additions, logic, comparisons, moves, conversions */
    ISA_WORK_INT,
    ISA_WORK_INT_MUL,
    ISA_WORK_INT_DIV,
    /* additions, fused multiply-adds, comparisons; halves too */
    ISA_WORK_FP,
    ISA_WORK_FP_MUL,
    ISA_WORK_FP_DIV,
    ISA_WORK_DP,
    ISA_WORK_DP_MUL,
    ISA_WORK_DP_DIV,
    ISA_WORK_SQRT,
    ISA_WORK_LOG,
    ISA_WORK_EXP,
    ISA_WORK_SIN,
    ISA_WORK_TEX,
    ISA_WORK_COUNT
};

enum isa_work isa_work(const struct isa_op_info *op);

#endif
