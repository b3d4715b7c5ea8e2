/* fuzz_lower.c: any text is read as PTX and, where that succeeds, lowered with options that the first two
 * bytes choose; the listing is made too. Nothing may crash, and what comes out keeps to the invariants of
 * isa.h. */
#include "lower/lower.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_kernel(const struct isa_kernel *k, const struct lower_options *o)
{
    if (k->reg_count > ISA_REGS_MAX || k->pred_count > ISA_PREDS || k->const_count > ISA_POOL_MAX + 2u)
        abort();
    if (o->regs_max >= 16 && k->reg_count > o->regs_max) abort();
    for (uint32_t pc = 0; pc < k->inst_count; pc++) {
        const struct isa_inst *i = &k->insts[pc];
        if (i->op >= ISA_OP_COUNT || i->live > k->reg_count || i->loc >= k->loc_count) abort();
        if (i->reconv != ISA_NO_RECONV &&
            (i->reconv >= k->inst_count || !(k->insts[i->reconv].flags & ISA_JOIN)))
            abort();
        if ((i->op == ISA_OP_BRA || i->op == ISA_OP_CALL) && i->target >= k->inst_count) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    struct lower_options o = {.opt_level = data[0] & 1,
                              .no_inline = data[0] & 2,
                              .one_to_one = data[0] & 8,
                              .indirect_move = data[0] & 16};
    o.regs_max = data[1] % 3 == 0 ? 0 : 8 + data[1] % 64u;
    struct diag_list diags = {0};
    struct ptx_module *ptx = ptx_parse("fuzz.ptx", (const char *)data + 2, size - 2, &diags);
    struct isa_module *m = ptx ? lower_module(ptx, &o, &diags) : NULL;
    if (!m && !diags.errors) abort(); /* refused, but nobody says why */
    ptx_module_free(ptx);             /* the module must not need it any more */
    for (uint32_t i = 0; m && i < m->kernel_count; i++) {
        struct strbuf text = {0};
        check_kernel(m->kernels[i], &o);
        lower_disasm(m, m->kernels[i], data[0] & 4, &text);
        strbuf_free(&text);
    }
    isa_module_free(m);
    diag_free(&diags);
    return 0;
}
