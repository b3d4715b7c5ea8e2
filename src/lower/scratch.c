/* scratch.c: registers that a kernel takes beyond those that hold its values.
 *
 * Heddle divides in one instruction; silicon needs a sequence of them, with temporaries. They count where
 * they would be: on top of what is live around such an instruction. The numbers are measured: ptxas 13.0 for
 * sm_75, a kernel with the operation less the same kernel with an addition instead. Two more were measured
 * in the same way, and are added because occupancy depends on them:
 *  - from Volta on every kernel has 2 registers more than its highest register says (an empty kernel has 4:
 * R0, the frame pointer R1, and these two);
 *  - code that calls (functions, printf, malloc) has at least 24: the calling convention owns R0 to R23. */
#include "base/bitset.h"
#include "lower/liveness.h"
#include "lower/opnd.h"
#include "lower/pass.h"

enum { CALL_REGS_MIN = 24, THREAD_STATE_REGS = 2, THREAD_STATE_SM = 70 };

static uint32_t scratch_of(uint16_t op)
{
    switch (op) {
    case ISA_OP_DIV_F32: return 8;
    case ISA_OP_RCP_F32: return 6;
    case ISA_OP_SQRT_F32: return 4;
    case ISA_OP_DIV_F64: return 14;
    case ISA_OP_RCP_F64: return 4;
    case ISA_OP_SQRT_F64: return 10;
    case ISA_OP_DIV_S32:
    case ISA_OP_REM_S32:
    case ISA_OP_DIV_S16:
    case ISA_OP_DIV_U16:
    case ISA_OP_REM_S16: return 4;
    case ISA_OP_REM_U16: return 3;
    case ISA_OP_DIV_U32:
    case ISA_OP_REM_U32: return 2;
    case ISA_OP_DIV_S64: return 12;
    case ISA_OP_DIV_U64:
    case ISA_OP_REM_S64: return 10;
    case ISA_OP_REM_U64: return 8;
    default: return 0;
    }
}

static void occupy(const struct routine *u, uint64_t *taken, uint32_t v)
{
    uint8_t cls = u->mir.vregs.data[v].cls;
    if (cls == MIR_P) return;
    bitset_add(taken, u->phys[v]);
    if (cls == MIR_D) bitset_add(taken, u->phys[v] + 1u);
}

/* Highest register + 1 when `need` free ones are taken beside those that live around the instruction. */
static uint32_t top_with(const struct routine *u, const struct live_walk *behind, const struct mir_inst *in,
                         uint32_t need)
{
    uint64_t taken[(ISA_REGS_MAX + 64) / 64 + 1] = {0};
    uint32_t regs[OPND_USES_MAX], n = opnd_uses(in, regs), r = 0;
    bitset_add(taken, REG_FRAME);
    for (uint32_t k = 0; k < n; k++) occupy(u, taken, regs[k]);
    for (uint32_t k = 0; k < behind->count; k++) occupy(u, taken, behind->items[k]);
    for (uint32_t k = 0; k < ISA_DST_MAX; k++)
        if (in->dst[k].kind == MIR_VREG) occupy(u, taken, in->dst[k].v);
    for (; need && r < ISA_REGS_MAX; r++) need -= !bitset_has(taken, r);
    return r;
}

void routine_count_scratch(struct image *m, struct routine *u)
{
    struct cfg g;
    struct liveness lv;
    struct live_walk w;
    cfg_build(&u->mir, &g);
    liveness_build(&u->mir, &g, &lv);
    live_walk_open(&w, &lv, 0);
    for (uint32_t b = 0; b < g.count; b++) {
        live_walk_restart(&w, &lv, b);
        for (uint32_t i = g.blocks[b].end; i-- > g.blocks[b].first;) {
            const struct mir_inst *in = &u->mir.insts.data[i];
            uint32_t need = scratch_of(in->op);
            if (need) u->reg_count = MAX(u->reg_count, MIN(top_with(u, &w, in, need), m->regs_limit));
            if (in->op < ISA_OP_COUNT && isa_ops[in->op].unit == ISA_UNIT_SYS) m->calls_runtime = true;
            live_walk_step(&w, in);
        }
    }
    live_walk_close(&w);
    liveness_free(&lv);
    cfg_free(&g);
}

uint32_t image_thread_regs(const struct image *m)
{
    return m->ptx->target_sm >= THREAD_STATE_SM ? THREAD_STATE_REGS : 0;
}

uint32_t image_reg_count(const struct image *m, uint32_t highest)
{
    uint32_t count = MAX(highest, 1u) + image_thread_regs(m);
    if (m->uses_stack || m->calls_runtime) count = MAX(count, MIN((uint32_t)CALL_REGS_MIN, m->regs_limit));
    return MIN(count, (uint32_t)ISA_REGS_MAX);
}
