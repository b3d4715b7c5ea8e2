/* lower.h: PTX -> machine code. The only header of this folder that others include. */
#ifndef HEDDLE_LOWER_H
#define HEDDLE_LOWER_H

#include "base/diag.h"
#include "base/strbuf.h"
#include "isa/isa.h"
#include "ptx/ptx.h"

struct lower_options {
    /* --maxrregcount; 0 = 255 */
    uint32_t regs_max;
    /* 0 = select and allocate only, 1 = all folding (the default) */
    uint32_t opt_level;
    /* registers per SM, for .minnctapersm; 0 = 65536 */
    uint32_t sm_regs;
    /* keep direct calls as calls (tests) */
    bool no_inline;
    /* A machine instruction for each PTX instruction, so that counts compare with simulators that execute
     * PTX: no folding, no inlining; moves, jumps and parameter loads stay. PTX instructions that need
     * several machine instructions, spills and the saves around calls still come on top. */
    bool one_to_one;
    /* the machine has imov: without it kernels that use it are refused */
    bool indirect_move;
    /* the one entry to lower; NULL = all */
    const char *only;
};

/* Lowers every entry of the module. NULL when the program is wrong, with at least one diagnostic. A kernel
 * that is right but needs something that is not modelled comes without code (isa_kernel.refused). The result
 * owns copies of all that it needs: the PTX module may be freed. */
struct isa_module *lower_module(const struct ptx_module *ptx, const struct lower_options *opts,
                                struct diag_list *diags);

/* A listing: PTX line, machine instruction, live count. */
void lower_disasm(const struct isa_module *m, const struct isa_kernel *k, bool with_ptx, struct strbuf *out);
/* One instruction as text, "@!p0 add.32 r4, r2, 0x10". */
void lower_disasm_inst(const struct isa_kernel *k, uint32_t pc, struct strbuf *out);

#endif
