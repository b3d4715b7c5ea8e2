/* isa.h: machine code: what lowering makes, the emulator executes and the timing model times.
 *
 * A machine instruction has a fixed size (one cache line). Its operands are 16-bit codes: a register row, a
 * predicate, or a row of the kernel's constant pool, in which immediates, kernel parameters and launch
 * constants sit broadcast to all lanes, so that an operand is always a pointer to 32 words. */
#ifndef HEDDLE_ISA_H
#define HEDDLE_ISA_H

#include "base/arena.h"
#include "base/base.h"

/* clang-format off */
/* ISA_PT is the predicate that is always true. */
enum { ISA_LANES = 32, ISA_REGS_MAX = 255, ISA_PREDS = 7, ISA_PT = 7 };

enum isa_unit { ISA_UNIT_INT, ISA_UNIT_FP32, ISA_UNIT_FP64, ISA_UNIT_HALF, ISA_UNIT_CVT, ISA_UNIT_SFU,
                ISA_UNIT_LSU, ISA_UNIT_TEX, ISA_UNIT_SYNC, ISA_UNIT_CTRL, ISA_UNIT_SYS, ISA_UNIT_COUNT };
/* clang-format on */

/* Flags of an opcode (a row of isa.def). */
enum isa_op_flags {
    /* the first two sources may be swapped */
    ISA_COMM = 1 << 0,
    ISA_LOAD = 1 << 1,
    ISA_STORE = 1 << 2,
    ISA_ATOMIC = 1 << 3,
    /* ends a basic block */
    ISA_BRANCH = 1 << 4,
    /* CTA barrier */
    ISA_BARRIER = 1 << 5,
    /* waits for the lanes that its member mask names */
    ISA_CONV = 1 << 6,
    /* stands for a sequence of instructions on real hardware */
    ISA_SLOW = 1 << 7,
    ISA_SREG = 1 << 8,
    /* reads or changes an mbarrier, in shared memory */
    ISA_MBARRIER = 1 << 9
};

enum isa_op {
#define ISA(name, text, unit, dst, src, flags) ISA_OP_##name,
#include "isa/isa.def"
#undef ISA
    ISA_OP_COUNT
};

struct isa_op_info {
    /* "add.32" */
    const char *name;
    /* operand letters */
    const char *dst, *src;
    uint8_t unit;
    uint16_t flags;
};
extern const struct isa_op_info isa_ops[ISA_OP_COUNT];

/* An instruction that does nothing but write its destinations. The indirect move may fault. */
static inline bool isa_is_arithmetic(uint16_t op)
{
    if (op == ISA_OP_IMOV_32) return false;
    switch (isa_ops[op].unit) {
    case ISA_UNIT_INT:
    case ISA_UNIT_FP32:
    case ISA_UNIT_FP64:
    case ISA_UNIT_HALF:
    case ISA_UNIT_CVT:
    case ISA_UNIT_SFU: return true;
    default: return false;
    }
}

/* clang-format off */
/* Flags of an instruction. */
enum isa_inst_flags {
    /* ISA_NANPROP: min/max.NaN; ISA_A32: the address operand has 32 bits */
    ISA_FTZ = 1 << 0, ISA_SAT = 1 << 1, ISA_RELU = 1 << 2, ISA_NANPROP = 1 << 3,
    ISA_XORSIGN = 1 << 4, ISA_A32 = 1 << 5, ISA_VOLATILE = 1 << 6,
    /* .uni: the program promises that all active lanes agree */
    ISA_UNIFORM = 1 << 7,
    /* a reconvergence point: some branch's reconv is here */
    ISA_JOIN = 1 << 8,
    ISA_OOB = 1 << 9, ISA_SATFINITE = 1 << 10, ISA_NOFTZ = 1 << 11, ISA_ABS = 1 << 12,
    /* ld.global.nc */
    ISA_NC = 1 << 13,
    /* barrier that the whole warp executes together */
    ISA_ALIGNED = 1 << 14,
    /* .acquire, .release, .acq_rel, .sc: orders other accesses of its thread */
    ISA_ORDERED = 1 << 15
};

enum isa_round { ISA_RN, ISA_RZ, ISA_RM, ISA_RP, ISA_RNA, ISA_RNI, ISA_RZI, ISA_RMI, ISA_RPI };
enum isa_cmp { ISA_EQ, ISA_NE, ISA_LT, ISA_LE, ISA_GT, ISA_GE, ISA_EQU, ISA_NEU, ISA_LTU, ISA_LEU, ISA_GTU,
               ISA_GEU, ISA_NUM, ISA_NAN };
enum isa_bool { ISA_BOOL_NONE, ISA_BOOL_AND, ISA_BOOL_OR, ISA_BOOL_XOR };
enum isa_type { ISA_TYPE_NONE, ISA_U8, ISA_S8, ISA_U16, ISA_S16, ISA_U32, ISA_S32, ISA_U64, ISA_S64,
                ISA_F16, ISA_BF16, ISA_F16X2, ISA_BF16X2, ISA_F32, ISA_F64, ISA_B128 };
enum isa_space { ISA_GENERIC, ISA_GLOBAL, ISA_SHARED, ISA_LOCAL, ISA_CONST, ISA_PARAM, ISA_SPACE_COUNT };
enum isa_cache { ISA_CACHE_NONE, ISA_CA, ISA_CG, ISA_CS, ISA_LU, ISA_CV, ISA_WB, ISA_WT };
enum isa_scope { ISA_SCOPE_CTA, ISA_SCOPE_GPU, ISA_SCOPE_SYS };
enum isa_atom { ISA_ATOM_AND, ISA_ATOM_OR, ISA_ATOM_XOR, ISA_ATOM_CAS, ISA_ATOM_EXCH, ISA_ATOM_ADD,
                ISA_ATOM_INC, ISA_ATOM_DEC, ISA_ATOM_MIN, ISA_ATOM_MAX };
enum isa_shfl { ISA_SHFL_UP, ISA_SHFL_DOWN, ISA_SHFL_BFLY, ISA_SHFL_IDX };
/* In inst.mod. NOSYNC: the form of SHFL, VOTE, BALLOT without .sync. UNMASKED: never in a kernel's code; the
 * emulator's copy of an instruction whose member mask does not count (emu/sync.c). */
enum { ISA_NOSYNC = 0x80, ISA_UNMASKED = 0x40, ISA_WARP_MODE = 0x3f };
/* LEVEL: coordinates, then lod; GRAD: coordinates, d/dx, d/dy. */
enum isa_mip { ISA_MIP_NONE, ISA_MIP_LEVEL, ISA_MIP_GRAD };
/* In inst.mod of TEX: the first source after the handle is a layer; three coordinates are a direction. */
enum { ISA_TEX_DIMS = 0x0f, ISA_TEX_LAYERED = 0x10, ISA_TEX_CUBE = 0x20 };
/* What a surface access does outside of the surface: it faults, moves to the nearest texel, or reads zeros
 * and writes nothing. */
enum isa_outside { ISA_OUTSIDE_TRAP, ISA_OUTSIDE_CLAMP, ISA_OUTSIDE_ZERO };
enum isa_vote { ISA_VOTE_ALL, ISA_VOTE_ANY, ISA_VOTE_UNI };
enum isa_prmt { ISA_PRMT_INDEX, ISA_PRMT_F4E, ISA_PRMT_B4E, ISA_PRMT_RC8, ISA_PRMT_ECL, ISA_PRMT_ECR,
                ISA_PRMT_RC16 };
enum isa_testp { ISA_TESTP_FINITE, ISA_TESTP_INFINITE, ISA_TESTP_NUMBER, ISA_TESTP_NOTANUMBER,
                 ISA_TESTP_NORMAL, ISA_TESTP_SUBNORMAL };
enum isa_txq { ISA_TXQ_WIDTH, ISA_TXQ_HEIGHT, ISA_TXQ_DEPTH, ISA_TXQ_CHANNEL_TYPE, ISA_TXQ_CHANNEL_ORDER,
               ISA_TXQ_NORMALIZED, ISA_TXQ_FILTER, ISA_TXQ_ADDR0, ISA_TXQ_ADDR1, ISA_TXQ_ADDR2,
               ISA_TXQ_ARRAY_SIZE, ISA_TXQ_LEVELS, ISA_TXQ_SAMPLES, ISA_TXQ_LAYOUT };
/* The video instructions: what is computed, what is done with the result and the third source. */
enum isa_video { ISA_VIDEO_ADD, ISA_VIDEO_SUB, ISA_VIDEO_ABSDIFF, ISA_VIDEO_MIN, ISA_VIDEO_MAX,
                 ISA_VIDEO_AVRG, ISA_VIDEO_SET, ISA_VIDEO_SHL, ISA_VIDEO_SHR };
enum isa_second { ISA_SECOND_NONE, ISA_SECOND_ADD, ISA_SECOND_MIN, ISA_SECOND_MAX, ISA_SECOND_MERGE };
enum { ISA_CLAMP = 0x80 };
enum { ISA_VMAD_MINUS_PRODUCT = 1, ISA_VMAD_MINUS_C = 2, ISA_VMAD_PLUS_ONE = 4 };
/* Selectors of a scalar video instruction: a byte, a half, all. */
enum { ISA_PART_B0, ISA_PART_H0 = 4, ISA_PART_ALL = 6 };
/* Arrivals that an mbarrier counts, at most: the lowest bits of its 64. */
enum { ISA_MBAR_COUNT_MAX = (1 << 20) - 1 };
/* In inst.mod2 of MBAR_ARRIVE. */
enum { ISA_ARRIVE_DROP = 1, ISA_ARRIVE_NO_COMPLETE = 2 };
/* Special registers that differ between threads, warps, CTAs or moments; what is fixed at launch (ntid,
 * nctaid, ...) comes from the constant pool (enum isa_env). */
enum isa_sreg { ISA_SREG_TID, ISA_SREG_CTAID, ISA_SREG_LANEID, ISA_SREG_WARPID, ISA_SREG_SMID,
                ISA_SREG_LANEMASK_EQ, ISA_SREG_LANEMASK_LE, ISA_SREG_LANEMASK_LT, ISA_SREG_LANEMASK_GE,
                ISA_SREG_LANEMASK_GT, ISA_SREG_CLOCK, ISA_SREG_CLOCK_HI, ISA_SREG_CLOCK64,
                ISA_SREG_GLOBALTIMER, ISA_SREG_GLOBALTIMER_LO, ISA_SREG_GLOBALTIMER_HI };
/* Launch constants. ENVREG1 and 2: the grid workspace, high and low word. PARAM_BASE: the generic address of
 * the parameter block, which the launch puts in device memory, for parameters whose address is taken
 * (cvta.param). */
enum isa_env { ISA_ENV_NTID_X, ISA_ENV_NTID_Y, ISA_ENV_NTID_Z, ISA_ENV_NCTAID_X, ISA_ENV_NCTAID_Y,
               ISA_ENV_NCTAID_Z, ISA_ENV_NWARPID, ISA_ENV_NSMID, ISA_ENV_GRIDID_LO, ISA_ENV_GRIDID_HI,
               ISA_ENV_DYNAMIC_SMEM, ISA_ENV_TOTAL_SMEM, ISA_ENV_ENVREG1, ISA_ENV_ENVREG2,
               ISA_ENV_PARAM_BASE_LO, ISA_ENV_PARAM_BASE_HI, ISA_ENV_COUNT };

/* Operand codes. */
enum { ISA_KIND_MASK = 0xc000, ISA_KIND_R = 0x0000, ISA_KIND_P = 0x4000, ISA_KIND_C = 0x8000, ISA_NONE =
       0xffff, ISA_INDEX_MASK = 0x1fff, ISA_P_NOT = 0x2000 };
/* clang-format on */

static inline bool isa_is_reg(uint16_t o) { return (o & ISA_KIND_MASK) == ISA_KIND_R; }
static inline bool isa_is_pred(uint16_t o) { return (o & ISA_KIND_MASK) == ISA_KIND_P; }
static inline bool isa_is_const(uint16_t o) { return (o & ISA_KIND_MASK) == ISA_KIND_C; }
static inline uint32_t isa_index(uint16_t o) { return o & ISA_INDEX_MASK; }

enum { ISA_GUARD_NOT = 0x80, ISA_DST_MAX = 4, ISA_SRC_MAX = 8, ISA_POOL_MAX = 0x1fff };

struct isa_inst {
    /* enum isa_op */
    uint16_t op;
    /* enum isa_inst_flags */
    uint16_t flags;
    /* predicate index, ISA_PT = always; | ISA_GUARD_NOT */
    uint8_t guard;
    uint8_t mod, mod2, type, round, vec;
    uint16_t dst[ISA_DST_MAX];
    uint16_t src[ISA_SRC_MAX];
    int64_t imm;
    /* branch: instruction index */
    uint32_t target;
    /* branch: instruction index where its paths meet again; ISA_NO_RECONV = at exit only */
    uint32_t reconv;
    /* index into kernel.locs */
    uint32_t loc;
    /* registers live before it (32-bit rows), for tables and mechanisms */
    uint32_t live;
};
#define ISA_NO_RECONV UINT32_MAX

/* An indirect move takes its index from these low bits of a register (Morpheus, section 4.3.2). */
enum { ISA_INDIRECT_MASK = 0xff };

/* The immediate of a surface access: x counts texels, and a texel is accessed. */
enum { ISA_SURFACE_FORMATTED = 0x40 };
static inline int64_t isa_surface(uint32_t dims, bool is_layered, bool is_formatted, enum isa_outside outside)
{
    return (int64_t)(dims | (is_layered ? ISA_TEX_LAYERED : 0u) |
                     (is_formatted ? ISA_SURFACE_FORMATTED : 0u) | (uint32_t)outside << 8);
}
static inline uint32_t isa_surface_dims(const struct isa_inst *i) { return i->imm & ISA_TEX_DIMS; }
static inline bool isa_surface_layered(const struct isa_inst *i) { return i->imm & ISA_TEX_LAYERED; }
static inline bool isa_surface_formatted(const struct isa_inst *i) { return i->imm & ISA_SURFACE_FORMATTED; }
static inline enum isa_outside isa_surface_outside(const struct isa_inst *i)
{
    return (enum isa_outside)(i->imm >> 8 & 3);
}

/* The immediate of a video instruction: four bits for each selected element, the lowest element first. */
static inline int64_t isa_selectors(uint32_t a, uint32_t b, uint32_t dst, uint32_t cmp)
{
    return (int64_t)((uint64_t)cmp << 48 | (uint64_t)dst << 32 | (uint64_t)b << 16 | a);
}
static inline uint32_t isa_selected_a(const struct isa_inst *i) { return (uint32_t)i->imm & 0xffff; }
static inline uint32_t isa_selected_b(const struct isa_inst *i) { return (uint32_t)i->imm >> 16; }
static inline uint32_t isa_selected_dst(const struct isa_inst *i) { return i->imm >> 32 & 0xffff; }
static inline uint32_t isa_selected_cmp(const struct isa_inst *i) { return i->imm >> 48 & 0xf; }

enum isa_const_kind { ISA_CONST_IMM, ISA_CONST_PARAM, ISA_CONST_ENV, ISA_CONST_SYM_LO, ISA_CONST_SYM_HI };
/* One row of the constant pool: 32 bits, the same for all lanes. */
struct isa_const {
    uint8_t kind;
    /* IMM: the word; PARAM: byte offset in the parameter block; ENV: enum isa_env; SYM: index into
     * kernel.syms. */
    uint32_t value;
    /* SYM */
    int64_t addend;
};

/* A module variable or function whose address the code uses. */
struct isa_sym {
    const char *name;
    bool is_func;
};

struct isa_loc {
    uint32_t ptx_line;
    uint32_t cuda_line;
    /* NULL = unknown */
    const char *cuda_file;
};

struct isa_param {
    const char *name;
    uint32_t offset, bytes, align;
};

struct isa_func {
    const char *name;
    uint32_t func_id;
    uint32_t pc;
    uint32_t frame_bytes;
};

/* A set of registers 0..254. */
typedef struct {
    uint64_t bits[4];
} isa_live_set;

/* Why a kernel cannot run: it uses something of PTX that is not modelled. */
struct isa_refusal {
    /* in a few words: "tensor cores are not modelled" */
    const char *need;
    /* the diagnostic with its place, rendered */
    const char *text;
};

/* One launchable image: the entry and every function that it can reach. */
struct isa_kernel {
    const char *name;
    /* file name of the PTX, for errors */
    const char *ptx_name;
    /* entry at 0; 64-byte aligned */
    struct isa_inst *insts;
    uint32_t inst_count;
    /* live set before each instruction */
    isa_live_set *live;
    /* pool; row 0 is always the immediate 0 */
    struct isa_const *consts;
    uint32_t const_count;
    struct isa_sym *syms;
    uint32_t sym_count;
    struct isa_loc *locs;
    uint32_t loc_count;
    /* tables of BRX */
    uint32_t *branch_targets;
    uint32_t branch_target_count;
    /* [0] = the entry itself */
    struct isa_func *funcs;
    uint32_t func_count;
    struct isa_param *params;
    uint32_t param_count, param_bytes;
    /* 32-bit registers per thread, for occupancy */
    uint32_t reg_count;
    uint32_t pred_count;
    /* local memory used by the allocator, per thread */
    uint32_t spill_bytes;
    /* local memory of the entry's frame, spills included */
    uint32_t frame_bytes;
    /* has real calls: needs stack beyond the frame */
    bool uses_stack;
    /* static shared memory; dynamic begins at shared_dynamic_offset */
    uint32_t shared_bytes;
    uint32_t shared_dynamic_offset;
    uint32_t maxntid[3], reqntid[3], minnctapersm;
    /* NULL: it can run. Otherwise it has a signature and no code. */
    const struct isa_refusal *refused;
};

/* A module variable in device memory. */
struct isa_var {
    const char *name;
    /* .const bank */
    bool is_const;
    bool is_extern, is_visible;
    uint64_t bytes, align;
    /* NULL = zeros */
    const uint8_t *init;
    struct isa_reloc {
        uint64_t offset;
        uint32_t bytes;
        const char *symbol;
        int64_t addend;
    } * relocs;
    uint32_t reloc_count;
};

struct isa_module {
    struct arena arena;
    /* as errors call it */
    const char *name;
    struct isa_kernel **kernels;
    uint32_t kernel_count;
    struct isa_var *vars;
    uint32_t var_count;
    /* func_id -> name, for function pointers: value = ISA_FUNC_BASE + 16 * func_id. */
    const char **func_names;
    uint32_t func_count;
    /* kept for errors and disassembly */
    const char *ptx_text;
    size_t ptx_len;
    /* 75; 90 = 9.0 */
    uint32_t target_sm, ptx_version;
};
#define ISA_FUNC_BASE 0x1000u

void isa_module_free(struct isa_module *m);

/* Generic-address windows. Global addresses are host addresses of the reserved range and lie outside both. */
#define ISA_SHARED_WINDOW 0x0000010000000000ull /* 16 MB from here: the CTA's shared memory */
#define ISA_LOCAL_WINDOW  0x0000020000000000ull /* 16 MB from here: the thread's local memory */
#define ISA_WINDOW_BYTES  0x0000000001000000ull

#endif
