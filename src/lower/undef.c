/* undef.c: vregs that are read and nowhere written. PTX leaves their value open. Here it is 0, so that a
 * faulty program does not depend on the register that the allocator would have found. */
#include "lower/opnd.h"
#include "lower/pass.h"

void routine_zero_undefined(struct routine *u)
{
    bool *written = mem_zalloc(u->mir.vregs.len + 1);
    for (uint32_t i = 0; i < u->mir.insts.len; i++) {
        uint32_t defs[ISA_DST_MAX], n = opnd_defs(&u->mir.insts.data[i], defs);
        for (uint32_t k = 0; k < n; k++) written[defs[k]] = true;
    }
    if (u->fp != MIR_NO_VREG) written[u->fp] = true;
    for (uint32_t i = 0; i < u->mir.insts.len; i++) {
        struct mir_inst *in = &u->mir.insts.data[i];
        for (uint32_t k = 0; k < ISA_SRC_MAX; k++)
            if (in->src[k].kind == MIR_VREG && !written[in->src[k].v])
                in->src[k] = (struct mir_opnd){.kind = MIR_IMM, .negated = in->src[k].negated};
        if (in->guard == MIR_NO_VREG || written[in->guard]) continue;
        bool runs = in->guard_not;
        in->guard = MIR_NO_VREG;
        in->guard_not = false;
        if (!runs) *in = opnd_inst(ISA_OP_NOP, in->loc);
    }
    free(written);
}
