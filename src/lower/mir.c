/* mir.c: the small helpers of mir.h: vregs, slots, symbols, the layout of static shared memory. */
#include "lower/mir.h"

uint32_t mir_new_vreg(struct mir_func *f, enum mir_class cls)
{
    assert(cls <= MIR_P);
    vec_push(&f->vregs, (struct mir_vreg){.cls = (uint8_t)cls});
    return f->vregs.len - 1;
}

uint32_t mir_new_slot(struct mir_func *f, enum mir_slot_kind kind, uint32_t bytes, uint32_t align,
                      const char *name)
{
    assert(!align || is_pow2_u64(align));
    vec_push(&f->slots,
             (struct mir_slot){.kind = (uint8_t)kind, .bytes = bytes, .align = align, .name = name});
    return f->slots.len - 1;
}

uint32_t mir_sym(struct mir_prog *prog, const char *name, bool is_func)
{
    for (uint32_t i = 0; i < prog->syms.len; i++)
        if (prog->syms.data[i].is_func == is_func && !strcmp(prog->syms.data[i].name, name)) return i;
    vec_push(&prog->syms, (struct isa_sym){.name = arena_strdup(prog->arena, name), .is_func = is_func});
    return prog->syms.len - 1;
}

uint32_t mir_shared_offset(struct mir_prog *prog, const struct ptx_var *v)
{
    for (uint32_t i = 0; i < prog->shared_vars.len; i++)
        if (prog->shared_vars.data[i] == v) return prog->shared_offsets.data[i];
    uint32_t align = v->align ? v->align : 1;
    uint64_t offset = round_up_u64(prog->shared_bytes, align);
    vec_push(&prog->shared_vars, v);
    vec_push(&prog->shared_offsets, (uint32_t)offset);
    uint64_t end = offset + v->bytes; /* selection refuses what does not fit the shared window */
    prog->shared_bytes = end > UINT32_MAX ? UINT32_MAX : (uint32_t)end;
    prog->shared_align = MAX(prog->shared_align, align);
    return (uint32_t)offset;
}

const char *mir_var_symbol(struct arena *arena, const struct ptx_func *f, const struct ptx_var *v)
{
    uint32_t position = 0, same = 0;
    while (f && position < f->var_count && f->vars[position] != v) position++;
    if (!f || position == f->var_count) return v->name;
    for (uint32_t i = 0; i < f->var_count; i++) same += !strcmp(f->vars[i]->name, v->name);
    if (same == 1) return arena_printf(arena, "%s::%s", f->name, v->name);
    return arena_printf(arena, "%s::%s#%u", f->name, v->name, position);
}

void mir_func_free(struct mir_func *f)
{
    vec_free(&f->insts);
    vec_free(&f->vregs);
    vec_free(&f->slots);
    vec_free(&f->calls);
    vec_free(&f->tables);
    f->label_count = 0;
}
