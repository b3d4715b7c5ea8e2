/* module.c: lookups by name in a PTX module, names and sizes of types, freeing it. */
#include "ptx/ptx.h"

static const struct {
    const char *name;
    uint8_t bytes;
} type_rows[] = {
    [PTX_NONE] = {"", 0},
    [PTX_U8] = {".u8", 1},
    [PTX_U16] = {".u16", 2},
    [PTX_U32] = {".u32", 4},
    [PTX_U64] = {".u64", 8},
    [PTX_S8] = {".s8", 1},
    [PTX_S16] = {".s16", 2},
    [PTX_S32] = {".s32", 4},
    [PTX_S64] = {".s64", 8},
    [PTX_B8] = {".b8", 1},
    [PTX_B16] = {".b16", 2},
    [PTX_B32] = {".b32", 4},
    [PTX_B64] = {".b64", 8},
    [PTX_B128] = {".b128", 16},
    [PTX_F16] = {".f16", 2},
    [PTX_F16X2] = {".f16x2", 4},
    [PTX_BF16] = {".bf16", 2},
    [PTX_BF16X2] = {".bf16x2", 4},
    [PTX_TF32] = {".tf32", 4},
    [PTX_F32] = {".f32", 4},
    [PTX_F64] = {".f64", 8},
    [PTX_E4M3X2] = {".e4m3x2", 2},
    [PTX_E5M2X2] = {".e5m2x2", 2},
    [PTX_U16X2] = {".u16x2", 4},
    [PTX_S16X2] = {".s16x2", 4},
    [PTX_PRED] = {".pred", 0},
    [PTX_TEXREF] = {".texref", 8}, /* the handle that stands for the object */
    [PTX_SAMPLERREF] = {".samplerref", 8},
    [PTX_SURFREF] = {".surfref", 8},
};

uint32_t ptx_type_bytes(enum ptx_type t) { return (unsigned)t < PTX_TYPE_COUNT ? type_rows[t].bytes : 0; }
const char *ptx_type_name(enum ptx_type t) { return (unsigned)t < PTX_TYPE_COUNT ? type_rows[t].name : ""; }

struct ptx_func *ptx_find_func(const struct ptx_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->func_count; i++)
        if (!strcmp(m->funcs[i]->name, name)) return m->funcs[i];
    return NULL;
}

struct ptx_var *ptx_find_var(const struct ptx_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->var_count; i++)
        if (!strcmp(m->vars[i]->name, name)) return m->vars[i];
    return NULL;
}

void ptx_module_free(struct ptx_module *m)
{
    if (!m) return;
    arena_free(&m->arena);
    free(m);
}
