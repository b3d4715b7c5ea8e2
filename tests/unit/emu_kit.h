/* emu_kit.h: for the tests of the emulator: a small assembler of machine code, a device, a launch.
 *
 * A program is built by emit() calls; operands are R(n), RD(n) (a pair), P(n), NP(n) (negated), and constants
 * made by imm(), imm64(), param(), param64(), env(). Targets are instruction numbers: here() gives the next
 * one. */
#ifndef HEDDLE_EMU_KIT_H
#define HEDDLE_EMU_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"
#include "emu/emu.h"

#define R(n)  ((uint16_t)(n))
#define RD(n) ((uint16_t)(n))
#define P(n)  ((uint16_t)(ISA_KIND_P | (n)))
#define NP(n) ((uint16_t)(ISA_KIND_P | ISA_P_NOT | (n)))

struct kit {
    struct emu_device *device;
    struct emu_module *module;
    VEC(struct isa_inst) insts;
    VEC(struct isa_const) consts;
    VEC(struct isa_func) funcs;
    VEC(uint32_t) targets;
    VEC(struct isa_loc) locs;
    /* sizes that the kernel is to have */
    struct isa_kernel proto;
    uint32_t params[64];
    struct emu_stats stats;
    struct emu_fault fault;
    struct strbuf out, err;
};

static inline const struct emu_limits *kit_limits(void)
{
    static const struct emu_limits limits = {.threads_per_cta_max = 1024,
                                             .grid_max = {2147483647, 65535, 65535},
                                             .block_max = {1024, 1024, 64},
                                             .shared_per_cta_max = 96 << 10,
                                             .regs_per_cta_max = 65536,
                                             .sm_count = 4,
                                             .stack_bytes = 1024,
                                             .heap_bytes = 1 << 16,
                                             .warp_insts_max = 50000000,
                                             .clock_khz = 1000000};
    return &limits;
}

static inline void kit_output(void *ctx, bool is_error, const char *text, size_t len)
{
    struct kit *k = ctx;
    strbuf_add(is_error ? &k->err : &k->out, text, len);
}

static inline void kit_open(struct kit *k)
{
    memset(k, 0, sizeof *k);
    k->device = emu_device_create(kit_limits(), 1ull << 30);
    assert_non_null(k->device);
    emu_device_on_output(k->device, kit_output, k);
    vec_push(&k->consts, (struct isa_const){.kind = ISA_CONST_IMM}); /* row 0 is always zero */
    vec_push(&k->locs, (struct isa_loc){0});
    vec_push(&k->funcs, (struct isa_func){.name = "k", .func_id = 0});
    k->proto.param_bytes = sizeof k->params;
}

static inline void kit_close(struct kit *k)
{
    if (k->module) emu_module_unload(k->device, k->module);
    emu_device_destroy(k->device);
    vec_free(&k->insts);
    vec_free(&k->consts);
    vec_free(&k->funcs);
    vec_free(&k->targets);
    vec_free(&k->locs);
    strbuf_free(&k->out);
    strbuf_free(&k->err);
}

static inline uint16_t kit_const(struct kit *k, uint8_t kind, uint32_t value)
{
    vec_push(&k->consts, (struct isa_const){.kind = kind, .value = value});
    return (uint16_t)(ISA_KIND_C | (k->consts.len - 1));
}
static inline uint16_t imm(struct kit *k, uint32_t v) { return kit_const(k, ISA_CONST_IMM, v); }
static inline uint16_t imm64(struct kit *k, uint64_t v)
{
    uint16_t c = imm(k, (uint32_t)v);
    imm(k, (uint32_t)(v >> 32));
    return c;
}
static inline uint16_t immf(struct kit *k, float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return imm(k, bits);
}
static inline uint16_t param(struct kit *k, uint32_t word) { return kit_const(k, ISA_CONST_PARAM, word * 4); }
static inline uint16_t param64(struct kit *k, uint32_t word)
{
    uint16_t c = param(k, word);
    param(k, word + 1);
    return c;
}
static inline uint16_t env(struct kit *k, uint32_t e) { return kit_const(k, ISA_CONST_ENV, e); }

static inline uint32_t here(const struct kit *k) { return k->insts.len; }

struct operands {
    uint16_t o[ISA_SRC_MAX];
};
#define D(...) ((struct operands){{__VA_ARGS__, ISA_NONE, ISA_NONE, ISA_NONE, ISA_NONE}})
#define S(...) ((struct operands){{__VA_ARGS__}}), (uint32_t)(sizeof((uint16_t[]){__VA_ARGS__}) / 2)
#define NO     ISA_NONE

static inline struct isa_inst *emit(struct kit *k, enum isa_op op, struct operands d, struct operands s,
                                    uint32_t sources)
{
    struct isa_inst i = {.op = (uint16_t)op, .guard = ISA_PT, .reconv = ISA_NO_RECONV, .vec = 1};
    for (uint32_t n = 0; n < ISA_DST_MAX; n++) i.dst[n] = d.o[n];
    for (uint32_t n = 0; n < ISA_SRC_MAX; n++) i.src[n] = n < sources ? s.o[n] : ISA_NONE;
    vec_push(&k->locs, (struct isa_loc){.ptx_line = k->insts.len + 100});
    i.loc = k->locs.len - 1;
    vec_push(&k->insts, i);
    return &k->insts.data[k->insts.len - 1];
}
/* @p bra target; reconv as given. */
static inline uint32_t bra(struct kit *k, uint8_t guard, uint32_t target, uint32_t reconv)
{
    struct isa_inst *i = emit(k, ISA_OP_BRA, D(NO), S(NO));
    i->guard = guard;
    i->target = target;
    i->reconv = reconv;
    return here(k) - 1;
}
static inline void patch(struct kit *k, uint32_t at, uint32_t target, uint32_t reconv)
{
    k->insts.data[at].target = target;
    k->insts.data[at].reconv = reconv;
}
static inline void exit_(struct kit *k) { emit(k, ISA_OP_EXIT, D(NO), S(NO)); }
static inline void setp(struct kit *k, enum isa_cmp cmp, uint32_t p, uint16_t a, uint16_t b)
{
    emit(k, ISA_OP_SETP_U32, D(P(p), NO), S(a, b))->mod = (uint8_t)cmp;
}
static inline void s2r(struct kit *k, uint16_t dst, enum isa_sreg sreg, uint8_t component)
{
    struct isa_inst *i = emit(k, ISA_OP_S2R_32, D(dst), S(NO));
    i->mod = (uint8_t)sreg;
    i->mod2 = component;
}
/* r[pair] = base + 4 * index register; uses pair r[tmp]. */
static inline void index_word(struct kit *k, uint16_t pair, uint16_t base, uint16_t index, uint32_t bytes)
{
    emit(k, ISA_OP_MUL_WIDE_U32, D(pair), S(index, imm(k, bytes)));
    emit(k, ISA_OP_ADD_64, D(pair), S(pair, base));
}
static inline struct isa_inst *ld32(struct kit *k, uint16_t dst, uint16_t addr, enum isa_space space)
{
    struct isa_inst *i = emit(k, ISA_OP_LD_32, D(dst), S(addr));
    i->mod = (uint8_t)space;
    return i;
}
static inline struct isa_inst *st32(struct kit *k, uint16_t addr, uint16_t value, enum isa_space space)
{
    struct isa_inst *i = emit(k, ISA_OP_ST_32, D(NO), S(addr, value));
    i->mod = (uint8_t)space;
    return i;
}

/* Makes the module. Programs may be built again afterwards for another module. */
static inline const struct isa_kernel *kit_load(struct kit *k)
{
    struct isa_module seed = {0}, *m = ARENA_NEW(&seed.arena, struct isa_module);
    struct isa_kernel *kernel = ARENA_NEW(&seed.arena, struct isa_kernel);
    *kernel = k->proto;
    kernel->name = "k";
    kernel->ptx_name = "t.ptx";
#define KIT_COPY(to, from)                                                                                   \
    kernel->to = ARENA_ARRAY(&seed.arena, __typeof__(*kernel->to), (from).len + 1);                          \
    if ((from).len) memcpy(kernel->to, (from).data, (from).len * sizeof *kernel->to)
    KIT_COPY(insts, k->insts);
    KIT_COPY(consts, k->consts);
    KIT_COPY(funcs, k->funcs);
    KIT_COPY(branch_targets, k->targets);
    KIT_COPY(locs, k->locs);
    kernel->inst_count = k->insts.len;
    kernel->const_count = k->consts.len;
    kernel->func_count = k->funcs.len;
    kernel->branch_target_count = k->targets.len;
    kernel->loc_count = k->locs.len;
    if (!kernel->reg_count) kernel->reg_count = 32;
    if (!kernel->shared_dynamic_offset) kernel->shared_dynamic_offset = kernel->shared_bytes;
    seed.name = "t.ptx";
    seed.kernels = ARENA_ARRAY(&seed.arena, struct isa_kernel *, 1);
    seed.kernels[0] = kernel;
    seed.kernel_count = 1;
    *m = seed;
    struct diag_list diags = {0};
    if (k->module) emu_module_unload(k->device, k->module);
    k->module = emu_module_load(k->device, m, NULL, NULL, &diags);
    if (!k->module) {
        struct strbuf text = {0};
        diag_render(&diags, &text);
        fail_msg("%s", strbuf_text(&text));
    }
    diag_free(&diags);
    return kernel;
}

static inline enum emu_fault_kind kit_launch(struct kit *k, uint32_t grid, uint32_t block, bool cooperative)
{
    if (!k->module) kit_load(k);
    struct emu_launch l = {.module = k->module,
                           .kernel = emu_find_kernel(k->module, "k"),
                           .grid = {grid, 1, 1},
                           .block = {block, 1, 1},
                           .params = k->params,
                           .cooperative = cooperative};
    return emu_run(k->device, &l, &k->stats, &k->fault);
}
static inline void kit_run(struct kit *k, uint32_t grid, uint32_t block)
{
    enum emu_fault_kind kind = kit_launch(k, grid, block, false);
    if (kind != EMU_OK) fail_msg("%s", k->fault.message);
}

/* A zeroed buffer of words; its address goes to parameter words `word` and `word` + 1. */
static inline uint32_t *kit_buffer(struct kit *k, uint32_t words, uint32_t word)
{
    char label[32];
    snprintf(label, sizeof label, "cudaMalloc #%u", word / 2 + 1);
    uint64_t at = space_alloc(emu_device_space(k->device), words * 4ull, 256, SPACE_DEVICE, label);
    assert_true(at != 0);
    memset((void *)(uintptr_t)at, 0, words * 4ull);
    k->params[word] = (uint32_t)at;
    k->params[word + 1] = (uint32_t)(at >> 32);
    return (uint32_t *)(uintptr_t)at;
}

#endif
