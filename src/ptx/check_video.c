/* check_video.c: operands of the video instructions (PTX ISA 9.7.17 and 9.7.18, and what ptxas takes).
 *
 * Scalar: d{.dsel}, a{.asel}, b{.bsel}{, c}. A selector of the destination merges the result into c, so it
 * needs c and excludes a second operation. SIMD: d{.mask}, a{.asel}, b{.bsel}, c, all registers; a mask
 * names elements in descending order. vmad: only it takes negated sources, the product or c. */
#include "ptx/check.h"

static uint32_t element_count(enum ptx_op op)
{
    if (op >= PTX_OP_vadd4) return 4;
    return op >= PTX_OP_vadd2 ? 2 : 1;
}

static bool bad_selector(struct checker *c, const struct ptx_operand *o, const char *wanted)
{
    return check_fault(c, o, wanted, "'.%s' does not select anything here", o->part);
}

/* ---- scalar ---- */

static bool check_scalar_selector(struct checker *c, const struct ptx_operand *o)
{
    if (!o->part[0]) return true;
    bool one = !o->part[2] && o->part[1] < (o->part[0] == 'b' ? '4' : '2');
    return one || bad_selector(c, o, "use .b0 to .b3, .h0 or .h1");
}

static bool check_value(struct checker *c, const struct ptx_operand *o)
{
    if (o->kind == PTX_O_INT) return check_constant(c, o, PTX_U32);
    return check_register(c, o, PTX_U32);
}

/* Sources a and b, and c where there is one. */
static bool check_scalar_sources(struct checker *c)
{
    const struct ptx_inst *in = c->inst;
    for (uint32_t i = 1; i < in->op_count; i++) {
        const struct ptx_operand *o = &in->ops[i];
        if (!check_value(c, o)) return false;
        if (i < 3 ? !check_scalar_selector(c, o) : o->part[0] && !bad_selector(c, o, "c is taken whole"))
            return false;
    }
    return true;
}

static bool check_scalar(struct checker *c)
{
    const struct ptx_inst *in = c->inst;
    const struct ptx_operand *d = &in->ops[0];
    bool has_second = in->m.atom != PTX_ATOM_NONE;
    if (!check_count(c, has_second || in->op_count == 4 ? 4 : 3)) return false;
    if (!check_register(c, d, PTX_U32) || !check_scalar_selector(c, d)) return false;
    if (d->part[0] && has_second)
        return check_fault(c, d, NULL, "a second operation and a merge exclude each other");
    if (d->part[0] && in->op_count < 4)
        return check_fault(c, d, "add the operand that the result is merged into", "'%s' lacks an operand",
                           ptx_op_name(in->op));
    return check_scalar_sources(c);
}

/* ---- SIMD ---- */

/* One digit an element, each below the number of elements in a and b together. */
static bool check_simd_selector(struct checker *c, const struct ptx_operand *o, uint32_t n)
{
    if (!o->part[0]) return true;
    bool ok = o->part[0] == (n == 2 ? 'h' : 'b') && strlen(o->part) == n + 1;
    for (uint32_t i = 1; ok && i <= n; i++) ok = o->part[i] < (char)('0' + 2 * n);
    return ok ||
           bad_selector(c, o, n == 2 ? "use .h and two digits 0 to 3" : "use .b and four digits 0 to 7");
}

static bool check_mask(struct checker *c, const struct ptx_operand *o, uint32_t n)
{
    if (!o->part[0]) return true;
    bool ok = o->part[0] == (n == 2 ? 'h' : 'b') && o->part[1] < (char)('0' + n);
    for (uint32_t i = 2; ok && o->part[i]; i++) ok = o->part[i] < o->part[i - 1];
    return ok || bad_selector(c, o, n == 2 ? "use .h0, .h1 or .h10" : "use .b and digits 3 to 0, descending");
}

static bool check_simd(struct checker *c, uint32_t n)
{
    const struct ptx_operand *ops = c->inst->ops;
    if (!check_count(c, 4)) return false;
    for (uint32_t i = 0; i < 4; i++)
        if (!check_register(c, &ops[i], PTX_U32)) return false;
    if (!check_mask(c, &ops[0], n) || !check_simd_selector(c, &ops[1], n) ||
        !check_simd_selector(c, &ops[2], n))
        return false;
    return !ops[3].part[0] || bad_selector(c, &ops[3], "c is taken whole");
}

/* ---- vmad ---- */

static bool check_mad(struct checker *c)
{
    const struct ptx_operand *ops = c->inst->ops;
    if (!check_count(c, 4) || !check_register(c, &ops[0], PTX_U32) || !check_scalar_sources(c)) return false;
    if (ops[0].part[0]) return bad_selector(c, &ops[0], "the destination of vmad is written whole");
    bool product = ops[1].negated != ops[2].negated;
    if (c->inst->m.plus_one && (ops[1].negated || ops[2].negated || ops[3].negated))
        return check_fault(c, &ops[1], NULL, "vmad.po takes no negated operand");
    if (product && ops[3].negated)
        return check_fault(c, &ops[3], NULL, "either the product or c can be negated, not both");
    return true;
}

bool check_video(struct checker *c)
{
    uint32_t n = element_count(c->inst->op);
    if (c->inst->op == PTX_OP_vmad) return check_mad(c);
    for (uint32_t i = 0; i < c->inst->op_count; i++)
        if (c->inst->ops[i].negated)
            return check_fault(c, &c->inst->ops[i], NULL, "only the sources of vmad can be negated");
    return n == 1 ? check_scalar(c) : check_simd(c, n);
}
