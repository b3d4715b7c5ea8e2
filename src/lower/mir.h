/* mir.h: the form between PTX and machine code: opcodes of isa.def over virtual registers.
 *
 * Terms. A *vreg* has a class: R (32 bits), D (64 bits) or P (predicate); its number is an index into
 * func->vregs. A *slot* is a piece of the thread's frame (local memory): a .local variable, a call's
 * argument or return value, the function's own parameters and return values when it is really called, or a
 * spilled register. Invariants. (1) Sources and destinations have the class that the opcode's letters
 * demand. (2) A guarded instruction does not kill its destinations. (3) Selection emits labels and
 * branches in program order; blocks come later (cfg.h). (4) An instruction's guard is a P vreg or
 * MIR_NO_VREG. */
#ifndef HEDDLE_MIR_H
#define HEDDLE_MIR_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "isa/isa.h"
#include "ptx/ptx.h"

#define MIR_NO_VREG UINT32_MAX

enum mir_class { MIR_R, MIR_D, MIR_P };

enum mir_kind {
    /* absent */
    MIR_NONE,
    /* v = vreg; negated for predicates */
    MIR_VREG,
    /* imm: a constant of the operand's width (predicate: 0 or 1) */
    MIR_IMM,
    /* kernel parameter word(s) at byte offset imm of the parameter block, constant pool */
    MIR_PARAM,
    /* v = enum isa_env: launch constant; a D operand takes v and v+1 as low and high */
    MIR_ENV,
    /* address of module variable or function: v = index into prog->syms, imm = addend */
    MIR_SYM,
    /* shared offset of dynamic shared memory, plus imm; known when the image is done */
    MIR_DYNSMEM,
    /* address of frame slot v in the local window, plus imm. R: 32 bits, D: 64 bits */
    MIR_SLOT
};

struct mir_opnd {
    uint8_t kind;
    bool negated;
    uint32_t v;
    int64_t imm;
};

struct mir_inst {
    /* enum isa_op, or MIR_OP_LABEL */
    uint16_t op;
    uint16_t flags;
    uint8_t mod, mod2, type, round, vec;
    bool guard_not;
    /* vreg or MIR_NO_VREG */
    uint32_t guard;
    struct mir_opnd dst[ISA_DST_MAX], src[ISA_SRC_MAX];
    int64_t imm;
    /* BRA, LABEL: label; BRX: index into func->tables; CALL, CALLI: into func->calls */
    uint32_t target;
    /* index into prog->locs */
    uint32_t loc;
    /* IMOV: the vregs of its array, imm of them, all of which it reads; two arrays of a function are the same
     * or share no vreg. They get registers in a row, which no other vreg has. NULL otherwise. */
    const uint32_t *array;
};
enum { MIR_OP_LABEL = ISA_OP_COUNT };

struct mir_vreg {
    uint8_t cls;
    bool in_array;
};

enum mir_slot_kind {
    /* .local variable */
    MIR_SLOT_LOCAL,
    /* caller side: an argument or return variable of a call (.param declared in the body) */
    MIR_SLOT_ARG,
    /* callee side: a parameter of this function */
    MIR_SLOT_IN,
    /* callee side: a return value of this function */
    MIR_SLOT_RET,
    /* made by the allocator */
    MIR_SLOT_SPILL
};
struct mir_slot {
    uint8_t kind;
    uint32_t bytes, align;
    /* IN, RET: position in the signature */
    uint32_t index;
    const char *name;
};

struct mir_call {
    /* NULL: indirect, address in src[0] of the CALLI */
    struct ptx_func *callee;
    /* slots of this function, in the order of the signature */
    uint32_t *args, *rets;
    uint32_t arg_count, ret_count;
};

struct mir_table {
    uint32_t *labels;
    uint32_t count;
};

struct mir_func {
    const struct ptx_func *ptx;
    VEC(struct mir_inst) insts;
    VEC(struct mir_vreg) vregs;
    VEC(struct mir_slot) slots;
    VEC(struct mir_call) calls;
    VEC(struct mir_table) tables;
    uint32_t label_count;
    /* lower_options.one_to_one: the machine instructions of a PTX instruction stay */
    bool one_to_one;
};

/* Everything that is shared by the functions of one image. */
struct mir_prog {
    /* where the image's data lives */
    struct arena *arena;
    const struct ptx_module *ptx;
    /* errors of the program: the module is refused */
    struct diag_list *diags;
    /* features that the kernel needs and Heddle does not model: the kernel is refused */
    struct diag_list *lacks;
    /* the kernel that the image is for */
    const struct ptx_func *entry;
    VEC(struct isa_sym) syms;
    /* [0] = unknown */
    VEC(struct isa_loc) locs;
    /* laid out so far */
    VEC(const struct ptx_var *) shared_vars;
    /* of shared_vars[i] */
    VEC(uint32_t) shared_offsets;
    uint32_t shared_bytes, shared_align;
    bool uses_dynamic_shared;
    bool one_to_one;
    /* the machine has IMOV */
    bool indirect_move;
};

/* select.c: PTX instructions of one function -> MIR. False when an instruction is not supported
 * (diagnosed). A kernel's `ret` becomes EXIT; a device function's stays RET. */
bool mir_select(struct mir_prog *prog, const struct ptx_func *f, struct mir_func *out);
void mir_func_free(struct mir_func *f);

uint32_t mir_new_vreg(struct mir_func *f, enum mir_class cls);
uint32_t mir_new_slot(struct mir_func *f, enum mir_slot_kind kind, uint32_t bytes, uint32_t align,
                      const char *name);
/* Finds or adds. */
uint32_t mir_sym(struct mir_prog *prog, const char *name, bool is_func);
/* Lays a sized shared variable out at first use and returns its offset in the CTA's shared memory. An
 * unsized extern array is the start of dynamic shared memory: use an operand of kind MIR_DYNSMEM for it. */
uint32_t mir_shared_offset(struct mir_prog *prog, const struct ptx_var *v);

/* The symbol of a .global or .const variable: its name, or for one declared in the body of a function
 * "function::name" (with "#position" where that body has the name twice), so that it is unique in the
 * module. f may be NULL. */
const char *mir_var_symbol(struct arena *arena, const struct ptx_func *f, const struct ptx_var *v);

/* mir_print.c: a listing, for tests and debugging. */
void mir_print_inst(const struct mir_prog *prog, const struct mir_inst *inst, struct strbuf *out);
void mir_print(const struct mir_prog *prog, const struct mir_func *f, struct strbuf *out);

static inline struct mir_opnd mir_vreg(uint32_t v) { return (struct mir_opnd){.kind = MIR_VREG, .v = v}; }
static inline struct mir_opnd mir_imm(int64_t value)
{
    return (struct mir_opnd){.kind = MIR_IMM, .imm = value};
}
static inline struct mir_opnd mir_none(void) { return (struct mir_opnd){.kind = MIR_NONE}; }

#endif
