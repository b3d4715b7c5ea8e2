/* memory.c: loads, stores, cp.async, prefetch and isspacep.
 *
 * Each width has one loop over lanes; a full warp of 32-bit words side by side is one copy. Bytes are
 * little-endian, as on the device. Asynchronous copies are made at once: an order that the programming model
 * allows. */
#include "emu/memory.h"

#include "emu/fault.h"
#include "emu/ops.h"

static bool reach_inst(struct warp *w, const struct isa_inst *i, uint32_t mask, enum access access,
                       uint32_t bytes, struct reach *r)
{
    struct access_desc d = {.addr = i->src[0],
                            .is_32 = i->flags & ISA_A32,
                            .space = i->mod,
                            .access = (uint8_t)access,
                            .bytes = bytes,
                            .offset = i->imm};
    return memory_reach(w, &d, mask, r);
}

/* A program that waits for another thread reads with .volatile, .acquire or .relaxed. */
static void note_wait(struct warp *w, const struct isa_inst *i)
{
    if (i->flags & ISA_VOLATILE) w->sync_seen = 1;
}

/* Checked when the module is loaded. */
enum { VEC_MAX = 4 };

static uint32_t vec_of(const struct isa_inst *i) { return i->vec ? i->vec : 1; }

/* ---- loads ---- */
#define LOAD_SMALL(NAME, TYPE, CONVERT)                                                                      \
    static void NAME(struct exec *x, const struct isa_inst *i, uint32_t mask)                                \
    {                                                                                                        \
        struct reach r;                                                                                      \
        uint32_t n = vec_of(i);                                                                              \
        note_wait(x->warp, i);                                                                               \
        if (!reach_inst(x->warp, i, mask, ACCESS_LOAD, (uint32_t)sizeof(TYPE) * n, &r)) return;              \
        for (uint32_t v = 0; v < n; v++) {                                                                   \
            if (i->dst[v] == ISA_NONE) continue;                                                             \
            uint32_t *dst = exec_dst(x, i->dst[v]);                                                          \
            FOR_LANES (l, mask) {                                                                            \
                TYPE t;                                                                                      \
                memcpy(&t, reach_lane(&r, l) + v * sizeof t, sizeof t);                                      \
                dst[l] = (uint32_t)(CONVERT)t;                                                               \
            }                                                                                                \
        }                                                                                                    \
    }
LOAD_SMALL(op_ld_u8, uint8_t, uint8_t)
LOAD_SMALL(op_ld_s8, int8_t, int32_t)
LOAD_SMALL(op_ld_u16, uint16_t, uint16_t)
LOAD_SMALL(op_ld_s16, int16_t, int32_t)

static uint32_t get_32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static uint64_t get_64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void load_row_32(uint32_t *dst, const struct reach *r, uint32_t at, uint32_t mask)
{
    if (r->regular) {
        const uint8_t *p = r->base + at;
        if (r->stride == 4) {
            memcpy(dst, p, ISA_LANES * 4);
        } else if (r->stride == 0) {
            uint32_t v = get_32(p);
#pragma GCC unroll 1
            for (uint32_t l = 0; l < ISA_LANES; l++) dst[l] = v;
        } else {
#pragma GCC unroll 1
            for (uint32_t l = 0; l < ISA_LANES; l++) dst[l] = get_32(p + (int64_t)l * r->stride);
        }
        return;
    }
    if (mask == UINT32_MAX)
#pragma GCC unroll 1
        for (uint32_t l = 0; l < ISA_LANES; l++) dst[l] = get_32(r->at[l] + at);
    else
        FOR_LANES (l, mask) dst[l] = get_32(r->at[l] + at);
}

static void op_ld_32(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach r;
    uint32_t n = vec_of(i);
    note_wait(x->warp, i);
    if (!reach_inst(x->warp, i, mask, ACCESS_LOAD, 4 * n, &r)) return;
    for (uint32_t v = 0; v < n; v++)
        if (i->dst[v] != ISA_NONE) load_row_32(exec_dst(x, i->dst[v]), &r, 4 * v, mask);
}

static void op_ld_64(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach r;
    uint32_t n = vec_of(i);
    note_wait(x->warp, i);
    if (!reach_inst(x->warp, i, mask, ACCESS_LOAD, 8 * n, &r)) return;
    for (uint32_t v = 0; v < n; v++) {
        if (i->dst[v] == ISA_NONE) continue;
        uint32_t *dst = exec_dst(x, i->dst[v]);
        if (r.regular)
#pragma GCC unroll 1
            for (uint32_t l = 0; l < ISA_LANES; l++)
                set_row_u64(dst, l, get_64(r.base + (int64_t)l * r.stride + 8 * v));
        else
            FOR_LANES (l, mask) set_row_u64(dst, l, get_64(r.at[l] + 8 * v));
    }
}

/* ---- stores ---- */
#define STORE_SMALL(NAME, TYPE)                                                                              \
    static void NAME(struct exec *x, const struct isa_inst *i, uint32_t mask)                                \
    {                                                                                                        \
        struct reach r;                                                                                      \
        uint32_t n = vec_of(i);                                                                              \
        if (!reach_inst(x->warp, i, mask, ACCESS_STORE, (uint32_t)sizeof(TYPE) * n, &r)) return;             \
        const uint32_t *src[VEC_MAX] = {NULL};                                                               \
        for (uint32_t v = 0; v < n; v++) src[v] = exec_src(x, i->src[1 + v]);                                \
        FOR_LANES (l, mask) {                                                                                \
            uint8_t *p = reach_lane(&r, l);                                                                  \
            for (uint32_t v = 0; v < n; v++) {                                                               \
                TYPE t = (TYPE)src[v][l];                                                                    \
                memcpy(p + v * sizeof t, &t, sizeof t);                                                      \
            }                                                                                                \
        }                                                                                                    \
    }
STORE_SMALL(op_st_8, uint8_t)
STORE_SMALL(op_st_16, uint16_t)

static void op_st_32(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach r;
    uint32_t n = vec_of(i);
    if (!reach_inst(x->warp, i, mask, ACCESS_STORE, 4 * n, &r)) return;
    const uint32_t *src[VEC_MAX] = {NULL};
    for (uint32_t v = 0; v < n; v++) src[v] = exec_src(x, i->src[1 + v]);
    if (r.regular && r.stride == 4) {
        memcpy(r.base, src[0], ISA_LANES * 4);
        return;
    }
    FOR_LANES (l, mask) { /* in the order of lanes: where several store to one address the last one wins */
        uint8_t *p = reach_lane(&r, l);
        for (uint32_t v = 0; v < n; v++) memcpy(p + 4 * v, &src[v][l], 4);
    }
}

static void op_st_64(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach r;
    uint32_t n = vec_of(i);
    if (!reach_inst(x->warp, i, mask, ACCESS_STORE, 8 * n, &r)) return;
    const uint32_t *src[VEC_MAX] = {NULL};
    for (uint32_t v = 0; v < n; v++) src[v] = exec_src(x, i->src[1 + v]);
    FOR_LANES (l, mask) {
        uint8_t *p = reach_lane(&r, l);
        for (uint32_t v = 0; v < n; v++) {
            uint64_t value = row_u64(src[v], l);
            memcpy(p + 8 * v, &value, 8);
        }
    }
}

/* ---- others ---- */
static void op_cpasync(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach to, from;
    struct warp *w = x->warp;
    uint32_t bytes = vec_of(i);
    const uint32_t *wanted = i->src[2] == ISA_NONE ? NULL : exec_src(x, i->src[2]);
    struct access_desc d = {.addr = i->src[0],
                            .is_32 = i->flags & ISA_A32,
                            .space = ISA_SHARED,
                            .access = ACCESS_STORE,
                            .bytes = bytes,
                            .offset = i->imm};
    if (!memory_reach(w, &d, mask, &to)) return;
    uint32_t readers = 0; /* lanes that copy nothing may give any address */
    FOR_LANES (l, mask) {
        if (wanted && wanted[l] > bytes) {
            fault_raise(w, l, EMU_OUT_OF_BOUNDS, "cp.async of %u bytes with a source size of %u", bytes,
                        wanted[l]);
            return;
        }
        if (!wanted || wanted[l]) readers |= 1u << l;
    }
    struct access_desc s = {.addr = i->src[1],
                            .space = ISA_GLOBAL,
                            .access = ACCESS_LOAD,
                            .bytes = bytes,
                            .offset = (int32_t)i->target};
    if (readers && !memory_reach(w, &s, readers, &from)) return;
    FOR_LANES (l, mask) {
        uint32_t n = wanted ? wanted[l] : bytes;
        uint8_t *p = reach_lane(&to, l);
        if (n) memcpy(p, reach_lane(&from, l), n);
        memset(p + n, 0, bytes - n);
    }
}

/* There are no caches here; the address of a prefetch never faults. */
static void op_nothing(struct exec *x, const struct isa_inst *i, uint32_t mask) {}

static bool in_space(struct warp *w, uint64_t address, uint8_t space)
{
    bool shared = address - ISA_SHARED_WINDOW < ISA_WINDOW_BYTES,
         local = address - ISA_LOCAL_WINDOW < ISA_WINDOW_BYTES;
    const struct run *r = w->run;
    bool param = address - r->block->param_address < PARAM_BLOCK_MAX;
    switch (space) {
    case ISA_SHARED: return shared;
    case ISA_LOCAL: return local;
    case ISA_PARAM: return param;
    case ISA_CONST: {
        const struct space_alloc *a = shared || local || param ? NULL : space_find(r->device->space, address);
        return a && a->kind == SPACE_CONST;
    }
    default: return !shared && !local && !param && !in_space(w, address, ISA_CONST);
    }
}

static void op_isspacep(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    const uint32_t *src = exec_src(x, i->src[0]);
    uint32_t value = 0;
    FOR_LANES (l, mask) {
        uint64_t address = i->flags & ISA_A32 ? src[l] : row_u64(src, l);
        if (in_space(x->warp, address, i->mod)) value |= 1u << l;
    }
    exec_set_pred(x, i->dst[0], value, mask);
}

void ops_memory(exec_fn **table)
{
    table[ISA_OP_LD_U8] = op_ld_u8;
    table[ISA_OP_LD_S8] = op_ld_s8;
    table[ISA_OP_LD_U16] = op_ld_u16;
    table[ISA_OP_LD_S16] = op_ld_s16;
    table[ISA_OP_LD_32] = op_ld_32;
    table[ISA_OP_LD_64] = op_ld_64;
    table[ISA_OP_ST_8] = op_st_8;
    table[ISA_OP_ST_16] = op_st_16;
    table[ISA_OP_ST_32] = op_st_32;
    table[ISA_OP_ST_64] = op_st_64;
    table[ISA_OP_PREFETCH] = op_nothing;
    table[ISA_OP_CPASYNC] = op_cpasync;
    table[ISA_OP_CPASYNC_COMMIT] = op_nothing;
    table[ISA_OP_ISSPACEP] = op_isspacep;
}
