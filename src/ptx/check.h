/* check.h: shared by check.c, check_special.c and check_video.c. */
#ifndef HEDDLE_PTX_CHECK_H
#define HEDDLE_PTX_CHECK_H

#include "ptx/parser.h"

/* The instruction being checked. A fault is kept, not reported: another form may still fit. */
struct checker {
    struct parser *p;
    const struct ptx_inst *inst;
    /* where the fault is */
    struct token at;
    char message[200];
    const char *hint;
};

bool check_fault(struct checker *c, const struct ptx_operand *o, const char *hint, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
bool check_type_fits(enum ptx_type reg, enum ptx_type want, bool wider_ok);
bool check_constant(struct checker *c, const struct ptx_operand *o, enum ptx_type want);
bool check_predicate(struct checker *c, const struct ptx_operand *o);
/* Operands of the instruction. */
bool check_count(struct checker *c, uint32_t want);
bool check_register(struct checker *c, const struct ptx_operand *o, enum ptx_type want);
/* check_video.c. */
bool check_video(struct checker *c);
/* .texref or .samplerref, or a handle. */
bool check_texture(struct checker *c, const struct ptx_operand *o, enum ptx_type want);
/* The opcodes with a rule of their own. */
bool check_special(struct checker *c);

#endif
