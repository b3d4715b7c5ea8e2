/* select.h: what the files of instruction selection (select*.c) share; no other file includes it.
 *
 * Terms: a *named* vreg stands for a PTX register (or the condition code); every other one is a *temporary*
 * of the PTX instruction that made it.
 *
 * (1) The last machine instruction of an expansion writes the named vregs; what comes before writes
 * temporaries only, so that a destination may be one of the sources.
 *
 * (2) A guard goes on what writes a named vreg or has an effect beyond its destinations. Arithmetic on
 * temporaries runs unguarded, so that a temporary is never partly defined; a guarded instruction that does
 * write one (a load that is extended afterwards) is preceded by an unguarded clearing of it.
 *
 * (3) 8- and 16-bit values are zero-extended in their R vreg, whatever their sign.
 *
 * (4) An immediate of an R operand is the zero-extended word (or half, or byte) of its type; of a D operand
 * all 64 bits. */
#ifndef HEDDLE_SELECT_H
#define HEDDLE_SELECT_H

#include "lower/mir.h"

/* A variable of the function that lives in the frame, or a kernel parameter. */
struct sel_var {
    const struct ptx_var *var;
    /* enum mir_slot_kind; SEL_KERNEL_PARAM */
    uint8_t kind;
    /* position in the signature */
    uint32_t index;
    /* MIR_NO_VREG until it is used */
    uint32_t slot;
};
enum { SEL_KERNEL_PARAM = 0xff };

struct sel {
    struct mir_prog *prog;
    struct mir_func *out;
    const struct ptx_func *f;
    /* the one being selected; NULL at entry */
    const struct ptx_inst *in;
    /* PTX register -> vreg; a 128-bit register has its low half here, its high half next */
    uint32_t *vregs;
    /* vregs below are named */
    uint32_t named_count;
    /* condition code of extended precision: a P vreg */
    uint32_t cc;
    /* sorted by address */
    struct sel_var *vars;
    uint32_t var_count;
    uint32_t loc;
    bool failed;
};

typedef void sel_fn(struct sel *s);

/* Types as the tables of machine opcodes are laid out: .bN counts as unsigned. */
enum sel_kind {
    SEL_U8,
    SEL_S8,
    SEL_U16,
    SEL_S16,
    SEL_U32,
    SEL_S32,
    SEL_U64,
    SEL_S64,
    SEL_F16,
    SEL_BF16,
    SEL_F32,
    SEL_F64,
    SEL_F16X2,
    SEL_BF16X2,
    SEL_U16X2,
    SEL_S16X2,
    SEL_PRED,
    SEL_OTHER,
    SEL_KINDS
};
/* Machine opcode of each kind; 0 (mov.32, never used so) = none. */
typedef uint16_t sel_ops[SEL_KINDS];

/* ---- select_emit.c: errors, types, emission ---- */
void sel_error(struct sel *s, const char *hint, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The program is right, but needs something that is not modelled: the kernel cannot run. */
void sel_lack(struct sel *s, const char *hint, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* sel_lack: this form of the instruction. */
void sel_unsupported(struct sel *s, const char *hint);

enum sel_kind sel_kind_of(enum ptx_type t);
/* Not for .b128. */
enum mir_class sel_class(enum ptx_type t);
/* Enum isa_type; .bN counts as unsigned. */
uint8_t sel_isa_type(enum ptx_type t);
bool sel_is_signed(enum ptx_type t);
static inline bool sel_has_word(const struct sel *s, enum ptx_word w)
{
    return s->in->m.word[0] == w || s->in->m.word[1] == w;
}
static inline enum ptx_type sel_type(const struct sel *s) { return (enum ptx_type)s->in->m.type[0]; }

/* Ftz, sat, relu, ... */
uint16_t sel_flags(const struct ptx_mods *m);
/* Enum isa_round; none = RN. */
uint8_t sel_round(const struct ptx_mods *m);
/* Enum isa_bool. */
uint8_t sel_bool(const struct ptx_mods *m);
/* Enum isa_cmp (select_logic.c). */
uint8_t sel_cmp(const struct ptx_mods *m);

struct mir_opnd sel_temp(struct sel *s, enum mir_class cls);
/* Appends an instruction and guards it where invariant 2 says so. The pointer holds until the next call. */
struct mir_inst *sel_emit_n(struct sel *s, enum isa_op op, const struct mir_opnd *dst, uint32_t dst_count,
                            const struct mir_opnd *src, uint32_t src_count);
#define sel_emit(s, op, dst, ...)                                                                            \
    sel_emit_n(s, op, (const struct mir_opnd[]){dst}, 1, (const struct mir_opnd[]){__VA_ARGS__},             \
               sizeof((const struct mir_opnd[]){__VA_ARGS__}) / sizeof(struct mir_opnd))
void sel_label(struct sel *s, uint32_t label);
void sel_move(struct sel *s, struct mir_opnd dst, struct mir_opnd src, enum mir_class cls);

/* ---- select_operand.c: operands ---- */
bool sel_has_op(const struct sel *s, uint32_t i);
/* The value of an operand as a source of the type. A wider register gives its low bits. */
struct mir_opnd sel_src(struct sel *s, const struct ptx_operand *o, enum ptx_type t);
/* The register of a destination; `_` gives MIR_NONE. */
struct mir_opnd sel_dst(struct sel *s, const struct ptx_operand *o, enum mir_class cls);
/* `d|p`, or `d` alone (p is then MIR_NONE). */
void sel_dst_pair(struct sel *s, const struct ptx_operand *o, enum mir_class cls, struct mir_opnd out[2]);
/* Width of a register; 0 for a predicate and for an operand that is not a register. */
uint32_t sel_reg_bytes(const struct sel *s, const struct ptx_operand *o);
void sel_src_128(struct sel *s, const struct ptx_operand *o, struct mir_opnd out[2]);
void sel_dst_128(struct sel *s, const struct ptx_operand *o, struct mir_opnd out[2]);
/* The address of a variable as a value. */
struct mir_opnd sel_var_address(struct sel *s, const struct ptx_var *v, int64_t addend, enum mir_class cls);
/* NULL: neither in the frame nor a parameter. */
struct sel_var *sel_find_var(struct sel *s, const struct ptx_var *v);
uint32_t sel_var_slot(struct sel *s, struct sel_var *v);
/* Rounded to the type, nearest even. */
uint64_t sel_float_bits(double value, enum ptx_type t);

/* `src` gives the type of each source: T = instruction's type, W = twice as wide, U = .u32, S = .s32, P =
 * predicate. */
struct mir_inst *sel_regular(struct sel *s, enum isa_op op, const char *src);
/* False: no opcode for the type. */
bool sel_by_kind(struct sel *s, const uint16_t *ops, const char *src);

/* ---- select_cvt.c: widths ---- */
/* The low `bits` of `value` as a value of `to_bits` (8, 16, 32, 64), sign- or zero-extended. value_bits: how
 * many bits of value may be set (64: it is a D operand). May return `value` itself. */
struct mir_opnd sel_extend(struct sel *s, struct mir_opnd value, uint32_t value_bits, uint32_t bits,
                           bool is_signed, uint32_t to_bits);

/* ---- select_move.c ---- */
struct mir_opnd sel_sreg(struct sel *s, const struct ptx_operand *o, enum ptx_type t);

/* ---- select_mem.c ---- */
struct sel_addr {
    struct mir_opnd base;
    int64_t offset;
    /* enum isa_space */
    uint8_t space;
    uint16_t flags;
};
bool sel_address(struct sel *s, const struct ptx_operand *o, enum ptx_space space, struct sel_addr *out);
uint16_t sel_sem_flags(const struct ptx_mods *m);
/* One value between a vreg and a frame slot. */
void sel_slot_load(struct sel *s, struct mir_opnd dst, uint32_t slot, uint32_t bytes);
void sel_slot_store(struct sel *s, uint32_t slot, struct mir_opnd value, uint32_t bytes);

/* ---- the opcodes ---- */

/* Arithmetic, by type. */
sel_fn sel_int, sel_float, sel_half;
sel_fn sel_video;
sel_fn sel_logic, sel_lop3, sel_shift, sel_shf, sel_prmt, sel_set, sel_setp, sel_selp, sel_slct;
sel_fn sel_mov, sel_imov, sel_cvt;
sel_fn sel_ld, sel_st, sel_prefetch, sel_cvta, sel_isspacep, sel_cp, sel_createpolicy, sel_nothing;
sel_fn sel_atom, sel_tex, sel_txq;
sel_fn sel_mbarrier, sel_cp_arrive, sel_cp_bulk;
sel_fn sel_surface, sel_sured;
/* select_atom.c: the handle of a texture or surface, an object in a register or a .global reference. */
bool sel_texture_handle(struct sel *s, const struct ptx_operand *o, struct mir_opnd *handle);
/* Appends `count` values of a vector (or of one register) to src; false: there are fewer, or no room. */
bool sel_tex_values(struct sel *s, const struct ptx_operand *o, uint32_t first, uint32_t count,
                    enum ptx_type t, struct mir_opnd *src, uint32_t *len);
sel_fn sel_bar, sel_fence, sel_shfl, sel_vote, sel_match, sel_redux, sel_elect, sel_activemask, sel_nanosleep;
sel_fn sel_bra, sel_brx, sel_call, sel_ret, sel_exit, sel_trap;
/* register-style parameters. */
void sel_function_entry(struct sel *s);
/* Code that falls off the end returns. */
void sel_function_end(struct sel *s);

#endif
