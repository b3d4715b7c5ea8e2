/* helper_compile.c: see helper_compile.h. */
#include "cuda/helper_compile.h"

#include "lower/lower.h"

struct isa_module *helper_compile(const struct machine *m, const char *name, const char *ptx,
                                  uint32_t registers_max, struct diag_list *diags)
{
    const struct lower_options options = {.opt_level = 1,
                                          .sm_regs = m->sm_registers,
                                          .regs_max = registers_max,
                                          .indirect_move = m->sm_indirect_move};
    struct ptx_module *parsed = ptx_parse(name, ptx, strlen(ptx), diags);
    struct isa_module *isa = parsed ? lower_module(parsed, &options, diags) : NULL;
    if (parsed) ptx_module_free(parsed);
    return isa;
}
