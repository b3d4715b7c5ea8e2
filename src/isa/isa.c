/* isa.c: the opcode table, read out of isa.def. */
#include "isa/isa.h"

const struct isa_op_info isa_ops[ISA_OP_COUNT] = {
#define ISA(opname, text, u, d, s, f)                                                                        \
    [ISA_OP_##opname] = {.name = text, .dst = d, .src = s, .unit = ISA_UNIT_##u, .flags = f},
#include "isa/isa.def"
#undef ISA
};

void isa_module_free(struct isa_module *m)
{
    if (!m) return;
    struct arena arena = m->arena; /* the module itself lives in it */
    arena_free(&arena);
}
