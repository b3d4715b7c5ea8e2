/* parser.h: what the files of the PTX reader share. Not for other folders: they take ptx.h.
 *
 * Conventions: the current token is the first one of a construct when its parse_ function is called, and the
 * one after it when the function returns true. On an error the function adds a diagnostic and returns false;
 * the reader of statements then continues at the next one. */
#ifndef HEDDLE_PTX_PARSER_H
#define HEDDLE_PTX_PARSER_H

#include "ptx/forms.h"
#include "ptx/lexer.h"
#include "ptx/ptx.h"

enum {
    /* nesting of { } in a body, and of ( ) and unary operators in an expression */
    PARSE_DEPTH_MAX = 128,
    /* operands of an instruction, elements of a vector */
    PARSE_OPERANDS_MAX = 16,
    /* arguments of a call, parameters of a function, targets of a table */
    PARSE_CALL_ARGS_MAX = 4096,
    /* dimensions of an array */
    PARSE_DIMS_MAX = 16,
    /* registers of the array of imov: as many as a thread can have */
    PARSE_ARRAY_MAX = 255,
    /* highest index of .file */
    PARSE_FILES_MAX = 65536,
    /* registers of one %r<n> */
    PARSE_RANGE_MAX = 1 << 28,
    PARSE_WARNINGS_MAX = 8,
};
#define PARSE_VAR_BYTES_MAX   (1ull << 32) /* one variable */
#define PARSE_INIT_BYTES_MAX  (1ull << 30) /* all initialised variables together */
#define PARSE_PARAM_BYTES_MAX 32764u       /* parameters of a kernel, PTX ISA 5.1.6.2 */

enum symbol_kind { SYM_REG, SYM_RANGE, SYM_VAR, SYM_FUNC, SYM_LABEL, SYM_TABLE };

/* The meaning of a name. Registers of a range become symbols of their own when they are first used. */
struct symbol {
    enum symbol_kind kind;
    /* REG, RANGE; a vector register is vec registers in a row */
    uint8_t type, vec;
    /* REG: first register; LABEL, TABLE: index in the function */
    uint32_t index;
    /* RANGE: number of registers */
    uint32_t count;
    /* VAR, FUNC: .extern or a prototype; may still be defined */
    bool is_declared_only;
    struct ptx_var *var;
    struct ptx_func *func;
    int line;
};

/* A use of a label that may be defined further down: the index goes to *slot. */
struct label_use {
    uint32_t *slot;
    struct token name;
};

struct scope {
    /* text -> struct symbol */
    struct map names;
    /* prefix -> struct symbol of kind SYM_RANGE */
    struct map ranges;
    /* Prefix -> lowest number + 1 of a register declared alone, to find doubles with ranges. */
    struct map numbered;
    VEC(struct label_use) label_uses;
    struct scope *parent;
};

/* An address in an initialiser: checked when all names of the module are known. */
struct reloc_use {
    struct token name;
};
struct alias_use {
    struct token alias, target;
};

struct parser {
    struct ptx_module *module;
    struct diag_list *diags;
    struct lexer lexer;
    struct token tok;
    uint32_t errors, warnings;
    /* symbols and spellings, gone after parsing */
    struct arena scratch;
    /* innermost */
    struct scope *scope;
    struct scope *module_scope;
    struct form_table *forms;
    /* "add.s32" -> struct inst_shape */
    struct map spellings;
    /* "%tid" -> row of sreg.def */
    struct map sregs;
    uint64_t init_bytes;
    /* the instruction takes selectors (%r1.b0) and negated registers */
    bool in_video;
    /* the instruction takes a range of registers (%r<8>) */
    bool in_imov;
    /* the .loc in force */
    uint32_t loc;
    VEC(struct ptx_var *) vars;
    VEC(struct ptx_func *) funcs;
    VEC(const char *) files;
    VEC(struct ptx_loc) locs;
    VEC(struct reloc_use) reloc_uses;
    VEC(struct alias_use) aliases;
    /* Of the function being read: */
    struct ptx_func *func;
    VEC(struct ptx_reg) regs;
    VEC(struct ptx_inst) insts;
    VEC(struct ptx_label) labels;
    VEC(struct ptx_table) tables;
    VEC(struct ptx_var *) func_vars;
};

/* parser.c: tokens, errors, scopes */
void parse_next(struct parser *p);
bool parse_accept(struct parser *p, int kind);
bool parse_expect(struct parser *p, int kind, const char *what);
bool parse_ident(struct parser *p, struct token *out, const char *what);
bool parse_error(struct parser *p, const struct token *at, const char *hint, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* Marks a function that uses something which Heddle lacks; only the first is kept. Always false. */
bool parse_lack(struct parser *p, struct ptx_func *f, const struct token *at, const char *hint,
                const char *fmt, ...) PRINTF_LIKE(5, 6);
void parse_warning(struct parser *p, const struct token *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Too many errors. */
bool parse_stopped(const struct parser *p);
const char *token_name(const struct token *t, char *buffer, size_t size);
/* A copy that lives as long as the module. */
const char *parse_text(struct parser *p, const struct token *t);

void scope_push(struct parser *p);
void scope_pop(struct parser *p);
struct symbol *scope_find(struct parser *p, const struct token *name);
struct symbol *scope_find_here(struct parser *p, const struct token *name);
/* NULL: an error was reported. */
struct symbol *scope_add(struct parser *p, const struct token *name, enum symbol_kind kind);
bool scope_add_range(struct parser *p, const struct token *prefix, uint8_t type, uint8_t vec, uint32_t count);
uint32_t scope_new_regs(struct parser *p, const char *name, uint8_t type, uint8_t vec);
/* "did you mean" or NULL. */
const char *scope_nearest(struct parser *p, const struct token *name, char *buffer, size_t size);
bool scope_undefined(struct parser *p, const struct token *name, const char *what);

/* parse_expr.c */
struct expr_value {
    bool is_float, is_f32, is_unsigned;
    uint64_t bits;
    double real;
};
bool parse_expr(struct parser *p, struct expr_value *out);
bool parse_int_expr(struct parser *p, int64_t *out, const char *what);
bool parse_u32(struct parser *p, uint32_t *out, uint32_t max, const char *what);
/* The n of %r<n>: no comparison operators. */
bool parse_range_count(struct parser *p, uint32_t *out);

/* parse_var.c */
/* Everything before the name. */
struct decl {
    uint8_t space, type, vec;
    uint32_t align;
    bool is_extern, is_visible, is_weak, is_common;
};
bool parse_decl_words(struct parser *p, struct decl *d);
bool parse_var_decl(struct parser *p, struct decl d);
bool parse_reg_decl(struct parser *p);
struct array_dims {
    /* outermost first; 0: not given */
    uint64_t len[PARSE_DIMS_MAX + 1];
    uint32_t count;
};
bool parse_declarator(struct parser *p, const struct decl *d, const struct token *name, struct ptx_var *v,
                      struct array_dims *dims);
/* parse_init.c */
bool parse_initialiser(struct parser *p, struct ptx_var *v, struct array_dims *dims);
void check_relocs(struct parser *p);

/* parse_func.c */
bool parse_function(struct parser *p, struct decl d, bool is_entry);
bool parse_param_list(struct parser *p, struct ptx_var ***out, uint32_t *count, uint32_t *bytes,
                      bool is_prototype);
/* parse_body.c */
void parse_body(struct parser *p);
bool parse_loc(struct parser *p);
bool parse_pragma(struct parser *p);
/* parse_inst.c */
bool parse_instruction(struct parser *p, const struct token *first, int32_t guard, bool guard_not);
/* parse_operand.c */
bool parse_operand(struct parser *p, struct ptx_operand *out, bool label_wanted);
bool parse_call_operands(struct parser *p, struct ptx_operand ops[4]);
void operand_place(struct ptx_operand *o, const struct token *t);
struct token operand_token(const struct ptx_operand *o);
struct sreg_row {
    const char *name;
    uint8_t type;
    bool is_vector;
};
/* By enum ptx_sreg. */
extern const struct sreg_row ptx_sreg_rows[];
void ptx_sreg_fill(struct map *m);
/* check.c */
bool check_operands(struct parser *p, const struct inst_shape *shape, struct ptx_inst *inst,
                    const struct token *op);

/* Copies a growing array into the module's arena. */
#define PARSE_KEEP(p, vec, dest, count)                                                                      \
    do {                                                                                                     \
        (dest) = arena_alloc(&(p)->module->arena, sizeof(*(vec).data) * ((vec).len + 1));                    \
        if ((vec).len) memcpy((dest), (vec).data, sizeof(*(vec).data) * (vec).len);                          \
        (count) = (vec).len;                                                                                 \
        (vec).len = 0;                                                                                       \
    } while (0)

#endif
