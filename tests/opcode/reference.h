/* reference.h: a second opinion: what the PTX manual says that a form gives.
 *
 * Written from the manual's pseudo-code and rules, with wide integers and MPFR, and sharing nothing with
 * src/: the statements of a form's template are interpreted one after another, each for all threads of the
 * launch. */
#ifndef OPCODE_REFERENCE_H
#define OPCODE_REFERENCE_H

#include "opcode_forms.h"

enum { REF_WORDS_MAX = 12, REF_SOURCES_MAX = 5 };

/* The words of an opcode between its dots: op.word[0] = "add". */
struct ref_op {
    char text[96];
    const char *word[REF_WORDS_MAX];
    uint32_t count;
};

bool ref_has(const struct ref_op *op, const char *word);
/* the type, in most opcodes */
const char *ref_last(const struct ref_op *op);
/* The width of a type word in bits: 32 for "u32" and "f16x2"; 1 for "pred"; 0 when it is not a type. */
uint32_t ref_type_bits(const char *type);

struct ref_args {
    /* zero-extended bits; predicates 0 or 1 */
    uint64_t src[REF_SOURCES_MAX];
    uint32_t count;
    uint64_t dst[4];
    /* the condition code, in and out */
    bool carry;
};

/* One thread's arithmetic. False: no opinion on this opcode. */
bool ref_eval_int(const struct ref_op *op, struct ref_args *a);
bool ref_eval_float(const struct ref_op *op, struct ref_args *a);
bool ref_eval_cvt(const struct ref_op *op, struct ref_args *a);
/* one of the above */
bool ref_eval(const struct ref_op *op, struct ref_args *a);

/* The atomic operation op.type: the new value of a cell that holds `old`. False: no opinion. in_global:
 * floating-point sums are made by the memory system, which has its own ways with subnormals and NaNs. */
bool ref_atomic(const char *op, const char *type, uint64_t old, uint64_t b, uint64_t c, bool in_global,
                uint64_t *value);

/* A video instruction of one thread: operands a, b, c in src; part and minus by position in the instruction,
 * the destination first. */
struct ref_video {
    uint64_t src[3];
    /* "b0", "h10"; empty: the default */
    char part[4][8];
    bool minus[4];
    uint64_t dst;
};
bool ref_is_video(const char *name);
void ref_video(const struct ref_op *op, struct ref_video *v);

/* Texture fetch, one thread: four result words. */
bool ref_texture(const struct ref_op *op, const char *description, const uint64_t *coords, uint64_t *out);

/* Fills out[k * n + i] for the whole form. False: no opinion on some statement of it. */
bool reference_run(const struct form *f, const uint64_t *in, uint64_t *out);

#endif
