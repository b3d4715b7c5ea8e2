/* ptx.h: a PTX module as read from text: what the parser makes and lowering takes.
 *
 * Terms. A *register* is a virtual register of one function (or of the module); a *symbol* is anything with
 * an address or an entry: variable, function, label, table. Names are resolved and scopes ({ ... }) are
 * flattened by the parser, so that nothing after it looks up text.
 * Invariants, kept by the parser:
 *  (1) Every operand refers to something that exists, and its type class is one that its instruction takes.
 *  (2) Every instruction is one of the legal forms of its opcode (ptx/instr.def). One that Heddle lacks
 *      (lacks.def) marks its function (ptx_func.lack); anything else was an error.
 *  (3) All pointers live as long as the module (its arena).
 * Known from: PTX ISA 9.0. */
#ifndef HEDDLE_PTX_H
#define HEDDLE_PTX_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"

/* clang-format off */
enum ptx_type {
    PTX_NONE,
    PTX_U8, PTX_U16, PTX_U32, PTX_U64,
    PTX_S8, PTX_S16, PTX_S32, PTX_S64,
    PTX_B8, PTX_B16, PTX_B32, PTX_B64, PTX_B128,
    PTX_F16, PTX_F16X2, PTX_BF16, PTX_BF16X2, PTX_TF32, PTX_F32, PTX_F64,
    PTX_E4M3X2, PTX_E5M2X2,
    PTX_U16X2, PTX_S16X2,
    PTX_PRED,
    PTX_TEXREF, PTX_SAMPLERREF, PTX_SURFREF,
    PTX_TYPE_COUNT
};

enum ptx_space {
    /* no space given */
    PTX_SPACE_GENERIC,
    PTX_SPACE_REG, PTX_SPACE_SREG, PTX_SPACE_CONST, PTX_SPACE_GLOBAL, PTX_SPACE_LOCAL,
    /* kernel parameters, function parameters and call arguments */
    PTX_SPACE_PARAM,
    PTX_SPACE_SHARED, PTX_SPACE_TEX
};
/* clang-format on */

/* All opcodes known to the parser, from ptx/instr.def: PTX_OP(name, ...) -> PTX_OP_name. */
enum ptx_op {
    PTX_OP_NONE,
#define PTX_OP(name, ...) PTX_OP_##name,
#include "ptx/instr.def"
#undef PTX_OP
    PTX_OP_COUNT
};

/* The video instructions stand together in instr.def. */
static inline bool ptx_op_is_video(enum ptx_op op) { return op >= PTX_OP_vadd && op <= PTX_OP_vset4; }

/* clang-format off */
enum ptx_cmp {
    PTX_CMP_NONE,
    PTX_CMP_EQ, PTX_CMP_NE, PTX_CMP_LT, PTX_CMP_LE, PTX_CMP_GT, PTX_CMP_GE,
    /* unsigned spellings */
    PTX_CMP_LO, PTX_CMP_LS, PTX_CMP_HI, PTX_CMP_HS,
    /* true on NaN */
    PTX_CMP_EQU, PTX_CMP_NEU, PTX_CMP_LTU, PTX_CMP_LEU, PTX_CMP_GTU, PTX_CMP_GEU,
    PTX_CMP_NUM, PTX_CMP_NAN
};
enum ptx_bool { PTX_BOOL_NONE, PTX_BOOL_AND, PTX_BOOL_OR, PTX_BOOL_XOR };
enum ptx_round {
    PTX_ROUND_NONE,
    /* to a float */
    PTX_RN, PTX_RZ, PTX_RM, PTX_RP, PTX_RNA,
    /* to an integer */
    PTX_RNI, PTX_RZI, PTX_RMI, PTX_RPI
};
/* Mul, mad, dp2a, mul24. */
enum ptx_half { PTX_HALF_NONE, PTX_LO, PTX_HI, PTX_WIDE };
enum ptx_cache { PTX_CACHE_NONE, PTX_CA, PTX_CG, PTX_CS, PTX_LU, PTX_CV, PTX_WB, PTX_WT };
enum ptx_sem {
    PTX_SEM_NONE, PTX_WEAK, PTX_VOLATILE, PTX_RELAXED, PTX_ACQUIRE, PTX_RELEASE, PTX_ACQ_REL, PTX_SC, PTX_MMIO
};
enum ptx_scope { PTX_SCOPE_NONE, PTX_SCOPE_CTA, PTX_SCOPE_CLUSTER, PTX_SCOPE_GPU, PTX_SCOPE_SYS };
enum ptx_atom {
    PTX_ATOM_NONE, PTX_ATOM_AND, PTX_ATOM_OR, PTX_ATOM_XOR, PTX_ATOM_CAS, PTX_ATOM_EXCH, PTX_ATOM_ADD,
    PTX_ATOM_INC, PTX_ATOM_DEC, PTX_ATOM_MIN, PTX_ATOM_MAX,
    /* bar.red.popc */
    PTX_ATOM_POPC
};
/* Words that only one or two opcodes take: shuffle, vote and match modes, funnel direction, prmt modes,
 * texture geometry, testp classes, prefetch levels, barrier and cp.async verbs. The parser stores the word it
 * saw. */
enum ptx_word {
    PTX_W_NONE,
    /* shfl */
    PTX_W_UP, PTX_W_DOWN, PTX_W_BFLY, PTX_W_IDX,
    /* vote, match */
    PTX_W_ALL, PTX_W_ANY, PTX_W_UNI, PTX_W_BALLOT,
    /* shf, bmsk, szext, shfl */
    PTX_W_L, PTX_W_R, PTX_W_CLAMP, PTX_W_WRAP,
    /* prmt */
    PTX_W_F4E, PTX_W_B4E, PTX_W_RC8, PTX_W_ECL, PTX_W_ECR, PTX_W_RC16,
    /* tex, suld, sust, sured */
    PTX_W_1D, PTX_W_2D, PTX_W_3D, PTX_W_A1D, PTX_W_A2D, PTX_W_CUBE,
    PTX_W_ACUBE,
    /* testp */
    PTX_W_FINITE, PTX_W_INFINITE, PTX_W_NUMBER, PTX_W_NOTANUMBER, PTX_W_NORMAL, PTX_W_SUBNORMAL,
    /* bar, barrier */
    PTX_W_SYNC, PTX_W_ARRIVE, PTX_W_RED, PTX_W_WARP,
    /* prefetch */
    PTX_W_L1, PTX_W_L2, PTX_W_L1U,
    /* cp.async */
    PTX_W_COMMIT_GROUP, PTX_W_WAIT_GROUP, PTX_W_WAIT_ALL,
    /* griddepcontrol */
    PTX_W_WAIT, PTX_W_LAUNCH_DEPENDENTS,
    /* suld, sust, sured clamp modes */
    PTX_W_TRAP, PTX_W_ZERO,
    PTX_W_WIDTH, PTX_W_HEIGHT, PTX_W_DEPTH, PTX_W_CHANNEL_DATA_TYPE, PTX_W_CHANNEL_ORDER,
    /* txq, suq */
    PTX_W_ARRAY_SIZE, PTX_W_NUM_MIPMAP_LEVELS, PTX_W_NUM_SAMPLES, PTX_W_MEMORY_LAYOUT,
    PTX_W_NORMALIZED_COORDS, PTX_W_FILTER_MODE, PTX_W_ADDR_MODE_0, PTX_W_ADDR_MODE_1, PTX_W_ADDR_MODE_2,
    /* tex mip selection */
    PTX_W_LEVEL, PTX_W_GRAD, PTX_W_BASE,
    /* cvt.pack: types narrower than a byte. */
    PTX_W_U4, PTX_W_S4, PTX_W_U2, PTX_W_S2,
    /* vmad */
    PTX_W_SHR7, PTX_W_SHR15,
    /* mbarrier, cp.async.mbarrier.arrive, cp.async.bulk */
    PTX_W_INIT, PTX_W_INVAL, PTX_W_ARRIVE_DROP, PTX_W_EXPECT_TX, PTX_W_COMPLETE_TX, PTX_W_TEST_WAIT,
    PTX_W_TRY_WAIT, PTX_W_PARITY, PTX_W_PENDING_COUNT, PTX_W_NO_COMPLETE, PTX_W_NOINC, PTX_W_READ,
    PTX_W_PREFETCH
};
/* clang-format on */

/* Everything between the dots of one instruction, in order of meaning rather than of spelling. */
struct ptx_mods {
    /* enum ptx_type, as written: add.s32 has 1; cvt.d.s: [0] dst, [1] src; set.cmp.d.s; tex.v4.d.c. */
    uint8_t type[4], type_count;
    /* enum ptx_space of a memory access; for cvta/isspacep the space named */
    uint8_t space;
    uint8_t cmp, boolop, round, half, cache, sem, scope, atom;
    /* enum ptx_word, in the order written */
    uint8_t word[2];
    /* 0 = scalar, 2, 4, 8 */
    uint8_t vec;
    /* to: cvta.to; is_async, bulk: cp.async, cp.async.bulk; shiftamt: reserved; plus_one: vmad.po;
     * formatted: sust.p, sured.p */
    bool ftz, sat, approx, full, cc, uni, nc, to, sync, aligned, relu, nan, abs, xorsign, noftz, satfinite,
        is_async, bulk, is_global_to_shared, shiftamt, oob, plus_one, formatted;
    /* source space of cp.async (.shared.global); second space otherwise 0 */
    uint8_t space2;
};

struct ptx_reg {
    const char *name;
    /* enum ptx_type, as declared */
    uint8_t type;
};

/* A variable's initialiser that holds an address: 8 bytes (or fewer) at offset get symbol + addend. */
struct ptx_reloc {
    uint32_t offset, bytes;
    const char *symbol;
    int64_t addend;
    /* generic(sym): the generic address */
    bool generic;
};

struct ptx_var {
    const char *name;
    /* enum ptx_space: GLOBAL, CONST, SHARED, LOCAL or PARAM */
    uint8_t space;
    /* element type */
    uint8_t type;
    /* 0, 2 or 4 */
    uint8_t vec;
    /* unsized: extern shared x[] */
    bool is_extern, is_visible, is_weak, is_common, is_array, is_unsized;
    uint32_t align;
    /* whole size; 0 when unsized */
    uint64_t bytes;
    /* `bytes` long, or NULL = zeros */
    uint8_t *init;
    struct ptx_reloc *relocs;
    uint32_t reloc_count;
    /* kernel/function parameter: offset in the parameter block, laid out by the ABI rules. */
    uint32_t param_offset;
    int line;
};

struct ptx_func;

enum ptx_operand_kind {
    /* reg; negated for '!%p' */
    PTX_O_REG,
    /* imm: an integer constant, or a constant expression already folded */
    PTX_O_INT,
    /* imm_f64: decimal or 0d...; bits also in imm (as IEEE double) */
    PTX_O_FLOAT,
    /* 0f...: imm holds the 32 bits */
    PTX_O_F32BITS,
    /* sreg, comp */
    PTX_O_SREG,
    /* var [+ imm]: the address of a variable as a value */
    PTX_O_VAR,
    /* func: the address of a function as a value, or the callee */
    PTX_O_FUNC,
    /* label index of the function */
    PTX_O_LABEL,
    /* branchtargets / calltargets / callprototype index of the function */
    PTX_O_TABLE,
    /* [ ... ]: sub[0] is the base (REG, VAR or INT), imm the offset */
    PTX_O_ADDR,
    /* { a, b, ... }: sub */
    PTX_O_VECTOR,
    /* _ */
    PTX_O_SINK,
    /* p|q: sub[0], sub[1] */
    PTX_O_PAIR,
    /* ( a, b, ... ) of a call */
    PTX_O_LIST,
    /* [tex, {coords}] : sub[0] texture (REG or VAR), sub[1] coordinates; sub[2] sampler if given. */
    PTX_O_TEXADDR
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    int line, col, len;
    /* !p; video: -r */
    bool negated;
    /* video: the bytes or halves selected, as written: "b0", "h10"; empty = none */
    char part[6];
    /* sreg or vector component: 0 none, else 'x' 'y' 'z' 'w' */
    uint8_t comp;
    /* index into the function's regs */
    uint32_t reg;
    /* sreg (enum ptx_sreg), label or table index */
    uint32_t index;
    int64_t imm;
    double imm_f64;
    struct ptx_var *var;
    struct ptx_func *func;
    struct ptx_operand *sub;
    uint32_t sub_count;
};

/* Special registers, from ptx/sreg.def: PTX_SREG(name, "text", type, is_vector). */
enum ptx_sreg {
    PTX_SREG_NONE,
#define PTX_SREG(name, ...) PTX_SREG_##name,
#include "ptx/sreg.def"
#undef PTX_SREG
    PTX_SREG_COUNT
};

struct ptx_inst {
    enum ptx_op op;
    struct ptx_mods m;
    /* register index of @p, or -1 */
    int32_t guard;
    /* @!p */
    bool guard_not;
    /* in the order written: destination first */
    struct ptx_operand *ops;
    uint32_t op_count;
    /* of the opcode in the PTX text */
    int line, col;
    /* index into module->locs of the .loc in force; 0 = none */
    uint32_t loc;
};
/* call: ops = [LIST returns]? , FUNC or REG callee, [LIST args]?, [TABLE prototype or targets]?. The parser
 * always stores four operands for a call: ops[0] LIST (maybe empty), ops[1] callee, ops[2] LIST (maybe
 * empty), ops[3] TABLE or SINK. */

/* .branchtargets, .calltargets, .callprototype. */
struct ptx_table {
    const char *name;
    enum { PTX_TABLE_BRANCH, PTX_TABLE_CALL, PTX_TABLE_PROTO } kind;
    /* BRANCH: label indices */
    uint32_t *labels;
    /* CALL */
    struct ptx_func **funcs;
    uint32_t count;
    /* PROTO: shapes only */
    struct ptx_var **rets, **params;
    uint32_t ret_count, param_count;
};

struct ptx_label {
    const char *name;
    /* index of the instruction that it stands before */
    uint32_t inst;
    int line;
};

/* Something that PTX has and Heddle does not model. */
struct ptx_lack {
    const char *message, *hint;
    int line, col, len;
};

struct ptx_func {
    const char *name;
    bool is_entry, is_extern, is_visible, is_weak, has_body, noreturn;
    /* Space PARAM, param_offset set; register parameters (old style) appear as vars too. */
    struct ptx_var **params;
    uint32_t param_count, param_bytes;
    struct ptx_var **rets;
    uint32_t ret_count;
    /* .local, .shared, .const, .global and call-argument .param variables declared in the body. */
    struct ptx_var **vars;
    uint32_t var_count;
    struct ptx_reg *regs;
    uint32_t reg_count;
    struct ptx_inst *insts;
    uint32_t inst_count;
    struct ptx_label *labels;
    uint32_t label_count;
    struct ptx_table *tables;
    uint32_t table_count;
    /* 0 = not given */
    uint32_t maxntid[3], reqntid[3], minnctapersm, maxnreg, maxnctapersm;
    /* The first thing in it that Heddle lacks, or NULL. The instruction is left out of insts: such a function
     * is read and named, but cannot be lowered. */
    struct ptx_lack *lack;
    int line;
};

struct ptx_loc {
    /* index into module->files */
    uint32_t file;
    uint32_t line, col;
};

struct ptx_module {
    struct arena arena;
    /* name and text; the text is copied into the arena */
    struct diag_source source;
    uint32_t version_major, version_minor;
    /* 75 for sm_75, 90 for sm_90a */
    uint32_t target_sm;
    /* as written */
    const char *target;
    /* 32 or 64; only 64 is accepted for kernels with pointers */
    uint32_t address_bits;
    /* module-scope variables */
    struct ptx_var **vars;
    uint32_t var_count;
    struct ptx_func **funcs;
    uint32_t func_count;
    /* .file table; [0] unused */
    const char **files;
    uint32_t file_count;
    /* [0] = none */
    struct ptx_loc *locs;
    uint32_t loc_count;
};

/* Reads a module. Returns NULL when there was an error; diags then holds at least one. `name` is what errors
 * call the text. text need not end in a zero byte. */
struct ptx_module *ptx_parse(const char *name, const char *text, size_t len, struct diag_list *diags);
void ptx_module_free(struct ptx_module *m);

struct ptx_func *ptx_find_func(const struct ptx_module *m, const char *name);
struct ptx_var *ptx_find_var(const struct ptx_module *m, const char *name);
/* 0 for pred. */
uint32_t ptx_type_bytes(enum ptx_type t);
/* ".s32". */
const char *ptx_type_name(enum ptx_type t);
/* "add". */
const char *ptx_op_name(enum ptx_op op);

#endif
