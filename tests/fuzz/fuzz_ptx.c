/* fuzz_ptx.c: any bytes at all into the PTX reader: it says what is wrong, or gives a module that can be
 * walked. */
#include "ptx/ptx.h"

static uint64_t walk_operand(const struct ptx_func *f, const struct ptx_operand *o)
{
    uint64_t sum = (uint64_t)o->kind;
    if (o->kind == PTX_O_REG) sum += f->regs[o->reg].type;
    if (o->kind == PTX_O_VAR) sum += o->var->bytes;
    if (o->kind == PTX_O_FUNC) sum += o->func->param_count;
    if (o->kind == PTX_O_LABEL) sum += f->labels[o->index].inst;
    if (o->kind == PTX_O_TABLE) sum += f->tables[o->index].count;
    for (uint32_t i = 0; i < o->sub_count; i++) sum += walk_operand(f, &o->sub[i]);
    return sum;
}

static uint64_t walk_func(const struct ptx_module *m, const struct ptx_func *f)
{
    uint64_t sum = strlen(f->name);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *in = &f->insts[i];
        sum += (uint64_t)in->m.type[0] + m->locs[in->loc].line;
        if (in->guard >= 0) sum += f->regs[in->guard].type;
        for (uint32_t o = 0; o < in->op_count; o++) sum += walk_operand(f, &in->ops[o]);
    }
    for (uint32_t i = 0; i < f->label_count; i++) assert(f->labels[i].inst <= f->inst_count);
    for (uint32_t i = 0; i < f->param_count; i++) assert(f->params[i]->param_offset <= f->param_bytes);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag_list diags = {0};
    struct ptx_module *m = ptx_parse("fuzz.ptx", (const char *)data, size, &diags);
    assert((m != NULL) == (diags.errors == 0));
    uint64_t sum = 0;
    for (uint32_t i = 0; m && i < m->func_count; i++) sum += walk_func(m, m->funcs[i]);
    for (uint32_t i = 0; m && i < m->var_count; i++)
        if (m->vars[i]->init && m->vars[i]->bytes) sum += m->vars[i]->init[m->vars[i]->bytes - 1];
    volatile uint64_t keep = sum;
    (void)keep;
    ptx_module_free(m);
    struct strbuf text = {0};
    diag_render(&diags, &text);
    strbuf_free(&text);
    diag_free(&diags);
    return 0;
}
