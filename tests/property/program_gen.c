/* program_gen.c: makes, prints and evaluates random kernels. Loops have a fixed largest trip count, so that
 * every kernel ends. */
#include "program_gen.h"

#include <inttypes.h>
#include <math.h>

enum gen_kind {
    GEN_WORD_OP,
    GEN_LONG_OP,
    GEN_FLOAT_OP,
    GEN_WIDEN,
    GEN_NARROW,
    GEN_SELECT,
    GEN_LOCAL_STORE,
    GEN_LOCAL_LOAD,
    GEN_SHARED,
    GEN_IF,
    GEN_LOOP,
    GEN_BREAK,
    GEN_SWITCH,
    GEN_CALL,
    GEN_RETURN,
    GEN_KIND_COUNT
};

/* Operations by position; the evaluator and the printer each have their own table of what they are. */
enum { GEN_WORD_OPS = 16, GEN_LONG_OPS = 8, GEN_FLOAT_OPS = 4, GEN_CMPS = 6 };

struct gen_stmt {
    enum gen_kind kind;
    uint32_t op, dst, a, b, c; /* variables; b is a constant when b_is_imm */
    bool b_is_imm, guarded;    /* guarded: only where word variable c is odd */
    uint32_t imm;
    uint32_t cmp;
    struct gen_stmt *body[4]; /* then/else, loop body, switch cases */
    struct gen_stmt *next;
};

/* ---- making ---- */

struct gen_maker {
    struct gen_program *p;
    struct rng rng;
    uint32_t left;
    bool in_func;
};

static uint32_t pick(struct gen_maker *m, uint32_t n) { return (uint32_t)rng_below(&m->rng, n); }

static struct gen_stmt *make_list(struct gen_maker *m, int depth, bool in_loop);

static struct gen_stmt *make_stmt(struct gen_maker *m, int depth, bool in_loop)
{
    struct gen_stmt *s = ARENA_NEW(&m->p->arena, struct gen_stmt);
    static const uint8_t weight[GEN_KIND_COUNT] = {30, 8, 8, 4, 4, 5, 4, 4, 3, 9, 6, 3, 3, 4, 1};
    uint32_t roll = pick(m, 96), k = 0;
    while (k + 1 < GEN_KIND_COUNT && roll >= weight[k]) roll -= weight[k++];
    s->kind = (enum gen_kind)k;
    bool nests = k == GEN_IF || k == GEN_LOOP || k == GEN_SWITCH;
    if ((nests && depth <= 0) || (k == GEN_BREAK && !in_loop) || (k == GEN_CALL && m->in_func))
        s->kind = GEN_WORD_OP;
    if (s->kind == GEN_SHARED && m->in_func) s->kind = GEN_WORD_OP;
    s->op = pick(m, s->kind == GEN_LONG_OP    ? GEN_LONG_OPS
                    : s->kind == GEN_FLOAT_OP ? GEN_FLOAT_OPS
                                              : GEN_WORD_OPS);
    uint32_t vars = s->kind == GEN_LONG_OP ? GEN_LONGS : s->kind == GEN_FLOAT_OP ? GEN_FLOATS : GEN_WORDS;
    s->dst = pick(m, vars);
    s->a = pick(m, vars);
    s->b = pick(m, vars);
    s->c = pick(m, GEN_WORDS);
    s->cmp = pick(m, GEN_CMPS);
    s->b_is_imm = pick(m, 3) == 0;
    s->imm = pick(m, 2) ? pick(m, 64) : rng_u32(&m->rng);
    s->guarded = pick(m, 6) == 0;
    switch (s->kind) {
    case GEN_IF:
        s->body[0] = make_list(m, depth - 1, in_loop);
        if (pick(m, 2)) s->body[1] = make_list(m, depth - 1, in_loop);
        break;
    case GEN_LOOP: s->body[0] = make_list(m, depth - 1, true); break;
    case GEN_SWITCH:
        for (int i = 0; i < 4; i++) s->body[i] = make_list(m, depth - 1, in_loop);
        break;
    case GEN_CALL: s->op = pick(m, GEN_FUNCS); break;
    case GEN_WIDEN:
    case GEN_NARROW:
        s->dst = pick(m, s->kind == GEN_WIDEN ? GEN_LONGS : GEN_WORDS);
        s->a = pick(m, s->kind == GEN_WIDEN ? GEN_WORDS : GEN_LONGS);
        break;
    default: break;
    }
    return s;
}

static struct gen_stmt *make_list(struct gen_maker *m, int depth, bool in_loop)
{
    struct gen_stmt *first = NULL, **at = &first;
    for (uint32_t n = 1 + pick(m, depth > 1 ? 7 : 4); n > 0 && m->left > 0; n--, m->left--) {
        *at = make_stmt(m, depth, in_loop);
        at = &(*at)->next;
    }
    return first;
}

void gen_make(struct gen_program *p, uint64_t seed)
{
    *p = (struct gen_program){.seed = seed};
    struct gen_maker m = {.p = p, .rng = {seed * 77 + 1}, .left = 120};
    m.left = 25;
    m.in_func = true;
    for (int f = 0; f < GEN_FUNCS; f++) {
        m.left = 20;
        p->func_body[f] = make_list(&m, 2, false);
    }
    m.in_func = false;
    m.left = 90;
    p->body = make_list(&m, 4, false);
}

void gen_free(struct gen_program *p) { arena_free(&p->arena); }

/* ---- evaluating ---- */

struct gen_thread {
    const struct gen_program *p;
    uint32_t w[GEN_WORDS], local[GEN_LOCALS], shared;
    uint64_t l[GEN_LONGS];
    float f[GEN_FLOATS];
};

enum gen_flow { FLOW_ON, FLOW_BREAK, FLOW_RETURN };

static uint32_t eval_word(uint32_t op, uint32_t a, uint32_t b, uint32_t c)
{
    switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return a & b;
    case 4: return a | b;
    case 5: return a ^ b;
    case 6: return b > 31 ? 0 : a << b;
    case 7: return b > 31 ? 0 : a >> b;
    case 8: return (int32_t)a < (int32_t)b ? a : b;
    case 9: return a > b ? a : b;
    case 10: return a * b + c;
    case 11: return (uint32_t)((uint64_t)a * b >> 32);
    case 12: return (a & b) ^ (b | c);
    case 13: return (uint32_t)__builtin_popcount(a);
    case 14: return a ? (uint32_t)__builtin_clz(a) : 32;
    default: return (uint32_t)((int32_t)a >> (b > 31 ? 31 : b));
    }
}

static uint64_t eval_long(uint32_t op, uint64_t a, uint64_t b, uint32_t c)
{
    switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return a ^ b;
    case 4: return c > 63 ? 0 : a << c;
    case 5: return c > 63 ? 0 : a >> c;
    case 6: return (uint64_t)c * (uint32_t)b + a;
    default: return a > b ? a : b;
    }
}

static float eval_float(uint32_t op, float a, float b)
{
    switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    default: return fmaf(a, b, 0.5f);
    }
}

static bool eval_cmp(uint32_t cmp, uint32_t a, uint32_t b)
{
    switch (cmp) {
    case 0: return a == b;
    case 1: return a != b;
    case 2: return (int32_t)a < (int32_t)b;
    case 3: return a <= b;
    case 4: return (int32_t)a > (int32_t)b;
    default: return a >= b;
    }
}

static uint32_t canonical(float f) /* floats leave the thread as bits; PTX has one NaN */
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return f != f ? 0x7fffffffu : bits;
}

static enum gen_flow eval_list(struct gen_thread *t, const struct gen_stmt *s);

static uint32_t eval_call(struct gen_thread *t, uint32_t func, uint32_t a, uint32_t b)
{
    struct gen_thread callee = {.p = t->p};
    callee.w[0] = a;
    callee.w[1] = b;
    eval_list(&callee, t->p->func_body[func]);
    uint32_t sum = 0;
    for (int i = 0; i < GEN_WORDS; i++) sum = sum * 31 + callee.w[i];
    return sum;
}

static enum gen_flow eval_loop(struct gen_thread *t, const struct gen_stmt *s)
{
    uint32_t trips = t->w[s->a] & 3;
    for (uint32_t i = 0; i < trips; i++) {
        enum gen_flow f = eval_list(t, s->body[0]);
        if (f == FLOW_RETURN) return f;
        if (f == FLOW_BREAK) break;
    }
    return FLOW_ON;
}

static enum gen_flow eval_stmt(struct gen_thread *t, const struct gen_stmt *s)
{
    uint32_t b = s->b_is_imm ? s->imm : t->w[s->b % GEN_WORDS];
    bool on = !s->guarded || (t->w[s->c] & 1);
    switch (s->kind) {
    case GEN_WORD_OP:
        if (on) t->w[s->dst] = eval_word(s->op, t->w[s->a], b, t->w[s->c]);
        return FLOW_ON;
    case GEN_LONG_OP:
        if (on) t->l[s->dst] = eval_long(s->op, t->l[s->a], t->l[s->b], t->w[s->c]);
        return FLOW_ON;
    case GEN_FLOAT_OP:
        if (on) t->f[s->dst] = eval_float(s->op, t->f[s->a], t->f[s->b]);
        return FLOW_ON;
    case GEN_WIDEN:
        t->l[s->dst] = s->op & 1 ? (uint64_t)(int64_t)(int32_t)t->w[s->a] : t->w[s->a];
        return FLOW_ON;
    case GEN_NARROW: t->w[s->dst] = (uint32_t)(s->op & 1 ? t->l[s->a] >> 32 : t->l[s->a]); return FLOW_ON;
    case GEN_SELECT: t->w[s->dst] = eval_cmp(s->cmp, t->w[s->a], b) ? t->w[s->c] : t->w[s->a]; return FLOW_ON;
    case GEN_LOCAL_STORE: t->local[t->w[s->a] % GEN_LOCALS] = b; return FLOW_ON;
    case GEN_LOCAL_LOAD: t->w[s->dst] = t->local[t->w[s->a] % GEN_LOCALS]; return FLOW_ON;
    case GEN_SHARED:
        if (s->op & 1)
            t->shared = t->w[s->a];
        else
            t->w[s->dst] = t->shared;
        return FLOW_ON;
    case GEN_IF: return eval_list(t, s->body[eval_cmp(s->cmp, t->w[s->a], b) ? 0 : 1]);
    case GEN_LOOP: return eval_loop(t, s);
    case GEN_BREAK: return eval_cmp(s->cmp, t->w[s->a], b) ? FLOW_BREAK : FLOW_ON;
    case GEN_SWITCH: return eval_list(t, s->body[t->w[s->a] & 3]);
    case GEN_CALL: t->w[s->dst] = eval_call(t, s->op, t->w[s->a], b); return FLOW_ON;
    case GEN_RETURN: return eval_cmp(s->cmp, t->w[s->a], b) ? FLOW_RETURN : FLOW_ON;
    case GEN_KIND_COUNT: break;
    }
    UNREACHABLE("statement kind");
}

static enum gen_flow eval_list(struct gen_thread *t, const struct gen_stmt *s)
{
    for (; s; s = s->next) {
        enum gen_flow f = eval_stmt(t, s);
        if (f != FLOW_ON) return f;
    }
    return FLOW_ON;
}

void gen_evaluate(const struct gen_program *p, uint32_t thread, uint32_t input, uint32_t out[GEN_OUT_WORDS])
{
    struct gen_thread t = {.p = p};
    for (uint32_t i = 0; i < GEN_WORDS; i++) t.w[i] = i == 0 ? input : i == 1 ? thread : input >> i;
    for (uint32_t i = 0; i < GEN_LONGS; i++) t.l[i] = (uint64_t)input * (i + 1);
    for (uint32_t i = 0; i < GEN_FLOATS; i++) t.f[i] = (float)(int32_t)(thread + i);
    eval_list(&t, p->body);
    uint32_t n = 0;
    for (uint32_t i = 0; i < GEN_WORDS; i++) out[n++] = t.w[i];
    for (uint32_t i = 0; i < GEN_LONGS; i++) {
        out[n++] = (uint32_t)t.l[i];
        out[n++] = (uint32_t)(t.l[i] >> 32);
    }
    for (uint32_t i = 0; i < GEN_FLOATS; i++) out[n++] = canonical(t.f[i]);
    for (uint32_t i = 0; i < GEN_LOCALS; i++) out[n++] = t.local[i];
}

/* ---- printing ---- */

struct gen_printer {
    struct strbuf *out;
    uint32_t temps, preds, labels, tables;
    const char *ret_label;
    uint32_t breaks[16];
    int loop_depth;
};

static const char *const word_ptx[GEN_WORD_OPS] = {
    "add.s32", "sub.s32", "mul.lo.s32", "and.b32",    "or.b32",   "xor.b32",  "shl.b32", "shr.u32",
    "min.s32", "max.u32", "mad.lo.s32", "mul.hi.u32", "lop3.b32", "popc.b32", "clz.b32", "shr.s32"};
static const char *const long_ptx[GEN_LONG_OPS] = {"add.s64", "sub.s64", "mul.lo.s64",   "xor.b64",
                                                   "shl.b64", "shr.u64", "mad.wide.u32", "max.u64"};
static const char *const float_ptx[GEN_FLOAT_OPS] = {"add.rn.f32", "sub.rn.f32", "mul.rn.f32", "fma.rn.f32"};
static const char *const cmp_ptx[GEN_CMPS] = {"eq.s32", "ne.s32", "lt.s32", "le.u32", "gt.s32", "ge.u32"};

static void print_list(struct gen_printer *p, const struct gen_stmt *s);

static void print_second(struct gen_printer *p,
                         const struct gen_stmt *s) /* operand b as text, after a comma */
{
    if (s->b_is_imm)
        strbuf_printf(p->out, ", %" PRId32, (int32_t)s->imm);
    else
        strbuf_printf(p->out, ", %%w%u", s->b % GEN_WORDS);
}

static uint32_t print_compare(struct gen_printer *p, const struct gen_stmt *s)
{
    strbuf_printf(p->out, "  setp.%s %%p%u, %%w%u", cmp_ptx[s->cmp], ++p->preds, s->a);
    print_second(p, s);
    strbuf_puts(p->out, ";\n");
    return p->preds;
}

static void print_guard(struct gen_printer *p, const struct gen_stmt *s)
{
    if (!s->guarded) return;
    strbuf_printf(p->out, "  and.b32 %%t%u, %%w%u, 1;\n  setp.eq.s32 %%p%u, %%t%u, 1;\n  @%%p%u",
                  p->temps + 1, s->c, p->preds + 1, p->temps + 1, p->preds + 1);
    p->temps++;
    p->preds++;
}

static void print_word_op(struct gen_printer *p, const struct gen_stmt *s)
{
    print_guard(p, s);
    strbuf_printf(p->out, "  %s %%w%u, %%w%u", word_ptx[s->op], s->dst, s->a);
    if (s->op < 13 || s->op == 15) print_second(p, s);
    if (s->op == 10) strbuf_printf(p->out, ", %%w%u", s->c);
    if (s->op == 12) strbuf_printf(p->out, ", %%w%u, 0x2e", s->c); /* (a & b) ^ (b | c) */
    strbuf_puts(p->out, ";\n");
}

static void print_long_op(struct gen_printer *p, const struct gen_stmt *s)
{
    if (s->op == 6) {
        strbuf_printf(p->out, "  cvt.u32.u64 %%t%u, %%l%u;\n", ++p->temps, s->b);
        uint32_t t = p->temps;
        print_guard(p, s);
        strbuf_printf(p->out, "  mad.wide.u32 %%l%u, %%w%u, %%t%u, %%l%u;\n", s->dst, s->c, t, s->a);
        return;
    }
    print_guard(p, s);
    strbuf_printf(p->out, "  %s %%l%u, %%l%u, ", long_ptx[s->op], s->dst, s->a);
    strbuf_printf(p->out, s->op == 4 || s->op == 5 ? "%%w%u;\n" : "%%l%u;\n",
                  s->op == 4 || s->op == 5 ? s->c : s->b);
}

static void print_local_address(struct gen_printer *p, const struct gen_stmt *s)
{
    strbuf_printf(p->out,
                  "  and.b32 %%t%u, %%w%u, %d;\n  mul.wide.u32 %%a0, %%t%u, 4;\n  mov.u64 %%a1, store;\n  "
                  "add.s64 %%a2, %%a1, %%a0;\n",
                  p->temps + 1, s->a, GEN_LOCALS - 1, p->temps + 1);
    p->temps++;
}

static uint32_t take_labels(struct gen_printer *p, uint32_t n)
{
    p->labels += n;
    return p->labels - n;
}

static void print_if(struct gen_printer *p, const struct gen_stmt *s)
{
    uint32_t label = take_labels(p, 2), cond = print_compare(p, s);
    strbuf_printf(p->out, "  @!%%p%u bra L%u;\n", cond, label);
    print_list(p, s->body[0]);
    if (s->body[1]) strbuf_printf(p->out, "  bra.uni L%u;\n", label + 1);
    strbuf_printf(p->out, "L%u:\n", label);
    print_list(p, s->body[1]);
    if (s->body[1]) strbuf_printf(p->out, "L%u:\n", label + 1);
}

static void print_loop(struct gen_printer *p, const struct gen_stmt *s)
{
    uint32_t label = take_labels(p, 2), count = p->temps += 2; /* count-1: trips left */
    strbuf_printf(p->out,
                  "  and.b32 %%t%u, %%w%u, 3;\nL%u:\n  setp.eq.s32 %%p%u, %%t%u, 0;\n  @%%p%u bra L%u;\n",
                  count - 1, s->a, label, p->preds + 1, count - 1, p->preds + 1, label + 1);
    p->preds++;
    p->breaks[++p->loop_depth] = label + 1;
    print_list(p, s->body[0]);
    p->loop_depth--;
    strbuf_printf(p->out, "  add.s32 %%t%u, %%t%u, -1;\n  bra L%u;\nL%u:\n", count - 1, count - 1, label,
                  label + 1);
}

static void print_switch(struct gen_printer *p, const struct gen_stmt *s)
{
    uint32_t label = take_labels(p, 5), t = ++p->temps, table = ++p->tables;
    strbuf_printf(
        p->out,
        "  and.b32 %%t%u, %%w%u, 3;\n  ts%u: .branchtargets L%u, L%u, L%u, L%u;\n  brx.idx %%t%u, ts%u;\n", t,
        s->a, table, label, label + 1, label + 2, label + 3, t, table);
    for (uint32_t i = 0; i < 4; i++) {
        strbuf_printf(p->out, "L%u:\n", label + i);
        print_list(p, s->body[i]);
        if (i < 3) strbuf_printf(p->out, "  bra L%u;\n", label + 4);
    }
    strbuf_printf(p->out, "L%u:\n", label + 4);
}

static void print_call(struct gen_printer *p, const struct gen_stmt *s)
{
    strbuf_printf(p->out,
                  "  {\n  .param .b32 pa;\n  .param .b32 pb;\n  .param .b32 pr;\n  st.param.b32 [pa], "
                  "%%w%u;\n  mov.b32 %%t%u",
                  s->a, ++p->temps);
    print_second(p, s);
    strbuf_printf(
        p->out,
        ";\n  st.param.b32 [pb], %%t%u;\n  call (pr), f%u, (pa, pb);\n  ld.param.b32 %%w%u, [pr];\n  }\n",
        p->temps, s->op, s->dst);
}

static void print_stmt(struct gen_printer *p, const struct gen_stmt *s)
{
    switch (s->kind) {
    case GEN_WORD_OP: print_word_op(p, s); break;
    case GEN_LONG_OP: print_long_op(p, s); break;
    case GEN_FLOAT_OP:
        print_guard(p, s);
        strbuf_printf(p->out, "  %s %%f%u, %%f%u, %%f%u%s;\n", float_ptx[s->op], s->dst, s->a, s->b,
                      s->op == 3 ? ", 0f3F000000" : "");
        break;
    case GEN_WIDEN:
        strbuf_printf(p->out, "  cvt.%s %%l%u, %%w%u;\n", s->op & 1 ? "s64.s32" : "u64.u32", s->dst, s->a);
        break;
    case GEN_NARROW:
        if (s->op & 1)
            strbuf_printf(p->out, "  mov.b64 {_, %%w%u}, %%l%u;\n", s->dst, s->a);
        else
            strbuf_printf(p->out, "  cvt.u32.u64 %%w%u, %%l%u;\n", s->dst, s->a);
        break;
    case GEN_SELECT: {
        uint32_t cond = print_compare(p, s);
        strbuf_printf(p->out, "  selp.b32 %%w%u, %%w%u, %%w%u, %%p%u;\n", s->dst, s->c, s->a, cond);
        break;
    }
    case GEN_LOCAL_STORE:
        print_local_address(p, s);
        strbuf_printf(p->out, "  mov.b32 %%t%u", ++p->temps);
        print_second(p, s);
        strbuf_printf(p->out, ";\n  st.local.u32 [%%a2], %%t%u;\n", p->temps);
        break;
    case GEN_LOCAL_LOAD:
        print_local_address(p, s);
        strbuf_printf(p->out, "  ld.local.u32 %%w%u, [%%a2];\n", s->dst);
        break;
    case GEN_SHARED:
        strbuf_printf(p->out,
                      s->op & 1 ? "  st.shared.u32 [%%ts+4], %%w%u;\n" : "  ld.shared.u32 %%w%u, [%%ts+4];\n",
                      s->op & 1 ? s->a : s->dst);
        break;
    case GEN_IF: print_if(p, s); break;
    case GEN_LOOP: print_loop(p, s); break;
    case GEN_BREAK: {
        uint32_t cond = print_compare(p, s);
        strbuf_printf(p->out, "  @%%p%u bra L%u;\n", cond, p->breaks[p->loop_depth]);
        break;
    }
    case GEN_SWITCH: print_switch(p, s); break;
    case GEN_CALL: print_call(p, s); break;
    case GEN_RETURN: {
        uint32_t cond = print_compare(p, s);
        strbuf_printf(p->out, "  @%%p%u bra %s;\n", cond, p->ret_label);
        break;
    }
    case GEN_KIND_COUNT: break;
    }
}

static void print_list(struct gen_printer *p, const struct gen_stmt *s)
{
    for (; s; s = s->next) print_stmt(p, s);
}

static const char gen_registers[] =
    "  .reg .b32 %w<10>;\n  .reg .b32 %t<400>;\n  .reg .b32 %ts;\n  .reg .b64 %l<4>;\n  .reg .b64 %a<8>;\n"
    "  .reg .f32 %f<3>;\n  .reg .pred %p<400>;\n  .local .align 4 .b8 store[32];\n";

static void print_zero_locals(struct strbuf *out)
{
    for (int i = 0; i < GEN_LOCALS; i++) strbuf_printf(out, "  st.local.u32 [store+%d], 0;\n", 4 * i);
}

static void print_func(const struct gen_program *p, uint32_t f, struct strbuf *out)
{
    struct gen_printer g = {.out = out, .ret_label = "DONE"};
    strbuf_printf(out, ".func (.param .b32 ret) f%u(.param .b32 a, .param .b32 b)\n{\n%s", f, gen_registers);
    strbuf_puts(out, "  ld.param.b32 %w0, [a];\n  ld.param.b32 %w1, [b];\n");
    for (int i = 2; i < GEN_WORDS; i++) strbuf_printf(out, "  mov.u32 %%w%d, 0;\n", i);
    for (int i = 0; i < GEN_LONGS; i++) strbuf_printf(out, "  mov.u64 %%l%d, 0;\n", i);
    for (int i = 0; i < GEN_FLOATS; i++) strbuf_printf(out, "  mov.f32 %%f%d, 0f00000000;\n", i);
    print_zero_locals(out);
    print_list(&g, p->func_body[f]);
    strbuf_puts(out, "DONE:\n  mov.u32 %t0, 0;\n");
    for (int i = 0; i < GEN_WORDS; i++) strbuf_printf(out, "  mad.lo.s32 %%t0, %%t0, 31, %%w%d;\n", i);
    strbuf_puts(out, "  st.param.b32 [ret], %t0;\n  ret;\n}\n");
}

static void print_results(struct strbuf *out)
{
    int n = 0;
    strbuf_puts(out, "DONE:\n");
    for (int i = 0; i < GEN_WORDS; i++) strbuf_printf(out, "  st.global.u32 [%%a5+%d], %%w%d;\n", 4 * n++, i);
    for (int i = 0; i < GEN_LONGS; i++, n += 2)
        strbuf_printf(out,
                      "  mov.b64 {%%t0, %%t%d}, %%l%d;\n  st.global.u32 [%%a5+%d], %%t0;\n  st.global.u32 "
                      "[%%a5+%d], %%t%d;\n",
                      390 + i, i, 4 * n, 4 * n + 4, 390 + i);
    for (int i = 0; i < GEN_FLOATS; i++)
        strbuf_printf(out, "  st.global.f32 [%%a5+%d], %%f%d;\n", 4 * n++, i);
    for (int i = 0; i < GEN_LOCALS; i++)
        strbuf_printf(out, "  ld.local.u32 %%t0, [store+%d];\n  st.global.u32 [%%a5+%d], %%t0;\n", 4 * i,
                      4 * n++);
    strbuf_puts(out, "  ret;\n}\n");
}

void gen_print_ptx(const struct gen_program *p, struct strbuf *out)
{
    struct gen_printer g = {.out = out, .ret_label = "DONE"};
    strbuf_puts(out, ".version 7.0\n.target sm_75\n.address_size 64\n");
    for (uint32_t f = 0; f < GEN_FUNCS; f++) print_func(p, f, out);
    strbuf_printf(
        out, ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n%s  .shared .align 4 .b8 cells[4100];\n",
        gen_registers);
    strbuf_puts(out,
                "  mov.u32 %t0, %ntid.x;\n  mov.u32 %t1, %ctaid.x;\n  mov.u32 %t2, %tid.x;\n  mad.lo.s32 "
                "%w1, %t0, %t1, %t2;\n"
                "  ld.param.u64 %a3, [in];\n  ld.param.u64 %a4, [out];\n  mad.wide.u32 %a3, %w1, 4, %a3;\n");
    strbuf_printf(out, "  mad.wide.u32 %%a5, %%w1, %d, %%a4;\n  ld.global.u32 %%w0, [%%a3];\n",
                  4 * GEN_OUT_WORDS);
    strbuf_puts(out, "  mov.u32 %ts, cells;\n  mad.lo.u32 %ts, %t2, 4, %ts;\n  st.shared.u32 [%ts+4], 0;\n");
    for (int i = 2; i < GEN_WORDS; i++) strbuf_printf(out, "  shr.u32 %%w%d, %%w0, %d;\n", i, i);
    for (int i = 0; i < GEN_LONGS; i++) strbuf_printf(out, "  mul.wide.u32 %%l%d, %%w0, %d;\n", i, i + 1);
    for (int i = 0; i < GEN_FLOATS; i++)
        strbuf_printf(out, "  add.s32 %%t3, %%w1, %d;\n  cvt.rn.f32.s32 %%f%d, %%t3;\n", i, i);
    print_zero_locals(out);
    g.temps = 10;
    print_list(&g, p->body);
    print_results(out);
}
