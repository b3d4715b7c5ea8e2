/* opcode_forms.h: the instruction forms of the opcode tests, read from forms.tsv, and the PTX kernel of each.
 *
 * The recorder (which runs on a real GPU) and the test (which runs Heddle) both take the forms, the operands
 * and the kernels from here, so that they agree by construction. A kernel has the parameters in, out, scratch
 * and texture. Operand k of tuple i is the 8-byte cell in[k * n + i]; destination k of tuple i goes to the
 * 8-byte cell out[k * n + i], zero-extended. Thread i of the launch does tuple i. */
#ifndef OPCODE_FORMS_H
#define OPCODE_FORMS_H

#include "base/strbuf.h"
#include "base/vec.h"

enum { FORM_OPERANDS_MAX = 4, FORM_CELL_BYTES = 32, FORM_CTA_THREADS_MAX = 512 };

enum form_type {
    T_PRED,
    T_U8,
    T_S8,
    T_B8,
    T_U16,
    T_S16,
    T_B16,
    T_U32,
    T_S32,
    T_B32,
    T_U64,
    T_S64,
    T_B64,
    T_F16,
    T_BF16,
    T_F16X2,
    T_BF16X2,
    T_F32,
    T_F64,
    T_COUNT
};

struct form_operand {
    /* enum form_type */
    uint8_t type;
    /* class of values; empty = all kinds */
    char class_[8];
};

struct form {
    /* the template with its groups chosen (and the texture): unique */
    const char *name;
    /* of the row */
    const char *family;
    /* "exact", "texture" or the name of an error bound */
    const char *check;
    /* PTX text with $ names */
    const char *body;
    /* description of the texture, or NULL */
    const char *tex;
    /* the sources as written: forms that share them share their operand values */
    const char *ins_text;
    struct form_operand outs[FORM_OPERANDS_MAX], ins[FORM_OPERANDS_MAX];
    uint32_t out_count, in_count;
    /* tuples, a multiple of 32 */
    uint32_t n;
    uint32_t grid[3], block[3];
    bool geo;
    /* of forms.tsv */
    int line;
};

struct forms {
    VEC(struct form) list;
    /* owns the strings */
    VEC(char *) texts;
};

/* Reads and expands the table. False with a message in error when it cannot. */
bool forms_read(struct forms *f, const char *path, struct strbuf *error);
void forms_free(struct forms *f);

/* as stored by the kernel: 4 for a predicate */
uint32_t form_type_bytes(enum form_type t);
/* "u32" */
const char *form_type_name(enum form_type t);

void form_emit_header(struct strbuf *out);
/* One kernel of the given name. */
void form_emit_kernel(struct strbuf *out, const struct form *f, const char *kernel);

/* A kernel with constants for operands, so that a compiler may fold: each of `count` tuples three times, with
 * all sources constant, all but the first, and all but the last. Result 3 * t + variant of tuple picks[t]
 * goes to cell out[k * 3 * count + 3 * t + variant]. in = the operand cells. One warp does it. */
enum { FORM_VARIANTS = 3 };
bool form_can_be_constant(const struct form *f);
void form_emit_constant_kernel(struct strbuf *out, const struct form *f, const char *kernel,
                               const uint64_t *in, const uint32_t *picks, uint32_t count);

#endif
