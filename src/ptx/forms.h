/* forms.h: from the dotted words of an instruction to its modifiers and to the operands that it takes. */
#ifndef HEDDLE_PTX_FORMS_H
#define HEDDLE_PTX_FORMS_H

#include "ptx/ptx.h"

enum { FORM_WORDS_MAX = 16, FORM_OPERANDS_MAX = 8, FORM_CHOICES_MAX = 3 };

/* One operand as a form of instr.def describes it, with its type filled in from the instruction. */
struct operand_rule {
    /* letter of instr.def; '@': checked by check_special.c */
    char role;
    /* enum ptx_type */
    uint8_t type;
    /* mods.vec of them */
    bool is_vector;
    /* may be left out */
    bool is_optional;
    /* d|p */
    bool pair_allowed;
    bool pair_needed;
};

struct operand_rules {
    struct operand_rule rule[FORM_OPERANDS_MAX];
    uint8_t count, needed;
};

/* The meaning of a spelling: the same for all instructions that are spelled like this. */
struct inst_shape {
    enum ptx_op op;
    struct ptx_mods mods;
    /* forms that differ in operands alone */
    struct operand_rules choices[FORM_CHOICES_MAX];
    uint8_t choice_count;
};

struct word_ref {
    const char *text;
    uint32_t len;
};

/* Why a spelling is not legal. */
struct form_error {
    /* index of the word at fault, UINT32_MAX: the whole instruction */
    uint32_t word;
    char message[200];
    char hint[300];
};

/* instr.def and words.def, made ready for lookups. */
struct form_table;
struct form_table *form_table_new(void);
void form_table_free(struct form_table *t);
/* PTX_OP_NONE when there is none. */
enum ptx_op form_find_op(const struct form_table *t, const char *text, size_t len);
const char *form_nearest_op(const char *text);
/* Why Heddle lacks the instruction; NULL when it is not one that PTX has. */
const char *form_why_lacking(const struct word_ref *op, const struct word_ref *words, uint32_t count);
bool form_match(const struct form_table *t, enum ptx_op op, const struct word_ref *words, uint32_t count,
                struct inst_shape *out, struct form_error *err);
/* .u32 -> PTX_U32; PTX_NONE when the text (without its dot) is not a type. */
enum ptx_type form_type_of(const char *text, size_t len);

#endif
