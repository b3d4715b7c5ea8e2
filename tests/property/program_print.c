/* program_print.c: a random kernel as PTX. */
#include "program_stmt.h"

#include <inttypes.h>

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

/* %a2 = base + 4 * (w[a] modulo count); count is a power of two. */
static void print_address(struct gen_printer *p, const struct gen_stmt *s, uint32_t count, const char *base)
{
    uint32_t t = ++p->temps;
    strbuf_printf(p->out, "  and.b32 %%t%u, %%w%u, %u;\n  mad.wide.u32 %%a2, %%t%u, 4, %s;\n", t, s->a,
                  count - 1, t, base);
}

static uint32_t print_value(struct gen_printer *p, const struct gen_stmt *s) /* operand b in a register */
{
    strbuf_printf(p->out, "  mov.b32 %%t%u", ++p->temps);
    print_second(p, s);
    strbuf_puts(p->out, ";\n");
    return p->temps;
}

static void print_gather(struct gen_printer *p, const struct gen_stmt *s)
{
    static const char *const loads[] = {"ld.global", "ld.global.cg", "ld.volatile.global", "ld.global.nc"};
    print_address(p, s, GEN_TABLE, "%a6");
    strbuf_printf(p->out, "  %s.u32 %%w%u, [%%a2];\n", loads[s->op & 3], s->dst);
}

static void print_shared(struct gen_printer *p, const struct gen_stmt *s)
{
    switch (s->op & 3) {
    case 0: strbuf_printf(p->out, "  ld.shared.u32 %%w%u, [%%ts+4];\n", s->dst); break;
    case 1: strbuf_printf(p->out, "  st.shared.u32 [%%ts+4], %%w%u;\n", s->a); break;
    case 2: strbuf_printf(p->out, "  atom.shared.add.u32 %%w%u, [%%ts+4], %%w%u;\n", s->dst, s->a); break;
    default: strbuf_printf(p->out, "  atom.shared.exch.b32 %%w%u, [%%ts+4], %%w%u;\n", s->dst, s->a);
    }
}

static void print_cell_atom(struct gen_printer *p, const struct gen_stmt *s)
{
    static const char *const ops[GEN_CELL_OPS] = {"add.u32", "exch.b32", "xor.b32",
                                                  "min.s32", "max.u32",  "cas.b32"};
    uint32_t op = s->op % GEN_CELL_OPS;
    print_address(p, s, GEN_CELLS, "%a8");
    uint32_t value = print_value(p, s);
    strbuf_printf(p->out, "  atom.global.%s %%w%u, [%%a2], ", ops[op], s->dst);
    if (op == GEN_CELL_OPS - 1) strbuf_printf(p->out, "%%w%u, ", s->c);
    strbuf_printf(p->out, "%%t%u;\n", value);
}

static void print_bin(struct gen_printer *p, const struct gen_stmt *s)
{
    static const char *const ops[GEN_BIN_OPS] = {"add.u32", "xor.b32", "max.u32", "min.s32", "or.b32"};
    bool shared = s->kind == GEN_SHARED_BIN;
    uint32_t op = s->op % GEN_BIN_OPS, bins = shared ? GEN_SHARED_BINS : GEN_BINS;
    if (shared) strbuf_puts(p->out, "  mov.u64 %a1, bins;\n");
    print_address(p, s, bins, shared ? "%a1" : "%a7");
    uint32_t value = print_value(p, s);
    strbuf_printf(p->out, "  red.%s.%s [%%a2+%u], %%t%u;\n", shared ? "shared" : "global", ops[op],
                  4 * op * bins, value);
}

/* %ta: the thread in its CTA; %ax: the CTA's part of the exchange. The second barrier keeps the next exchange
 * away. */
static void print_exchange(struct gen_printer *p, const struct gen_stmt *s)
{
    uint32_t t = p->temps += 2;
    const char *space = s->op & 1 ? "global" : "shared", *base = s->op & 1 ? "%ax" : "%ay";
    strbuf_printf(p->out,
                  "  mad.wide.u32 %%a2, %%ta, 4, %s;\n  st.%s.u32 [%%a2], %%w%u;\n  bar.sync 0;\n"
                  "  mov.u32 %%t%u, %%ntid.x;\n  add.u32 %%t%u, %%ta, %u;\n  rem.u32 %%t%u, %%t%u, %%t%u;\n"
                  "  mad.wide.u32 %%a2, %%t%u, 4, %s;\n  ld.%s.u32 %%w%u, [%%a2];\n  bar.sync 0;\n",
                  base, space, s->a, t, t - 1, s->imm % GEN_BLOCK_MAX, t - 1, t - 1, t, t - 1, base, space,
                  s->dst);
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
        strbuf_puts(p->out, "  mov.u64 %a1, store;\n");
        print_address(p, s, GEN_LOCALS, "%a1");
        strbuf_printf(p->out, "  st.local.u32 [%%a2], %%t%u;\n", print_value(p, s));
        break;
    case GEN_LOCAL_LOAD:
        strbuf_puts(p->out, "  mov.u64 %a1, store;\n");
        print_address(p, s, GEN_LOCALS, "%a1");
        strbuf_printf(p->out, "  ld.local.u32 %%w%u, [%%a2];\n", s->dst);
        break;
    case GEN_SHARED: print_shared(p, s); break;
    case GEN_GATHER: print_gather(p, s); break;
    case GEN_CELL_STORE:
        print_address(p, s, GEN_CELLS, "%a8");
        strbuf_printf(p->out, "  st.global.u32 [%%a2], %%t%u;\n", print_value(p, s));
        break;
    case GEN_CELL_LOAD:
        print_address(p, s, GEN_CELLS, "%a8");
        strbuf_printf(p->out, "  ld.global.u32 %%w%u, [%%a2];\n", s->dst);
        break;
    case GEN_CELL_ATOM: print_cell_atom(p, s); break;
    case GEN_BIN:
    case GEN_SHARED_BIN: print_bin(p, s); break;
    case GEN_EXCHANGE: print_exchange(p, s); break;
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
    "  .reg .b32 %w<10>;\n  .reg .b32 %t<400>;\n  .reg .b32 %ts;\n  .reg .b64 %l<4>;\n  .reg .b64 %a<16>;\n"
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

static uint32_t result_at(uint32_t word) { return 4 * word * GEN_THREADS_MAX; }

static void print_results(struct strbuf *out)
{
    uint32_t n = 0;
    strbuf_puts(out, "DONE:\n");
    for (int i = 0; i < GEN_WORDS; i++)
        strbuf_printf(out, "  st.global.u32 [%%a5+%u], %%w%d;\n", result_at(n++), i);
    for (int i = 0; i < GEN_LONGS; i++, n += 2)
        strbuf_printf(out,
                      "  mov.b64 {%%t0, %%t%d}, %%l%d;\n  st.global.u32 [%%a5+%u], %%t0;\n  st.global.u32 "
                      "[%%a5+%u], %%t%d;\n",
                      390 + i, i, result_at(n), result_at(n + 1), 390 + i);
    for (int i = 0; i < GEN_FLOATS; i++)
        strbuf_printf(out, "  st.global.f32 [%%a5+%u], %%f%d;\n", result_at(n++), i);
    for (int i = 0; i < GEN_LOCALS; i++)
        strbuf_printf(out, "  ld.local.u32 %%t0, [store+%d];\n  st.global.u32 [%%a5+%u], %%t0;\n", 4 * i,
                      result_at(n++));
    /* The first threads carry the shared bins out, when all are done with them. */
    strbuf_printf(
        out,
        "  bar.sync 0;\n  mov.u32 %%t0, %%ta;\nBINS:\n  setp.ge.u32 %%p0, %%t0, %d;\n  @%%p0 bra LEAVE;\n"
        "  mul.wide.u32 %%a2, %%t0, 4;\n  mov.u64 %%a1, bins;\n  add.s64 %%a0, %%a1, %%a2;\n"
        "  ld.shared.u32 %%t1, [%%a0];\n  add.s64 %%a0, %%a9, %%a2;\n  st.global.u32 [%%a0], %%t1;\n"
        "  mov.u32 %%t1, %%ntid.x;\n  add.u32 %%t0, %%t0, %%t1;\n  bra BINS;\nLEAVE:\n  ret;\n}\n",
        GEN_BIN_OPS * GEN_SHARED_BINS);
}

/* The pointers: a3 input, a5 results, a6 table, a7 bins, a8 cells, a9 where shared bins go, ax and ay
 * exchange. */
static void print_start(struct strbuf *out)
{
    static const struct {
        const char *reg, *index;
        uint32_t at, words;
    } pointers[] = {{"%a3", "%w1", GEN_AT_IN, 1},
                    {"%a5", "%w1", GEN_AT_OUT, 1},
                    {"%a6", NULL, GEN_AT_TABLE, 0},
                    {"%a7", NULL, GEN_AT_BINS, 0},
                    {"%a8", "%w1", GEN_AT_CELLS, GEN_CELLS},
                    {"%a9", "%t1", GEN_AT_SHARED_BINS, GEN_BIN_OPS * GEN_SHARED_BINS},
                    {"%ax", "%t4", GEN_AT_EXCHANGE, 1}};
    strbuf_puts(out,
                "  mov.u32 %t0, %ntid.x;\n  mov.u32 %t1, %ctaid.x;\n  mov.u32 %ta, %tid.x;\n"
                "  mul.lo.u32 %t4, %t0, %t1;\n  add.u32 %w1, %t4, %ta;\n  ld.param.u64 %a4, [memory];\n");
    for (size_t i = 0; i < ARRAY_LEN(pointers); i++) {
        strbuf_printf(out, "  add.s64 %s, %%a4, %u;\n", pointers[i].reg, 4 * pointers[i].at);
        if (pointers[i].index)
            strbuf_printf(out, "  mad.wide.u32 %s, %s, %u, %s;\n", pointers[i].reg, pointers[i].index,
                          4 * pointers[i].words, pointers[i].reg);
    }
    strbuf_puts(out, "  ld.global.u32 %w0, [%a3];\n  mov.u64 %ay, given;\n");
    strbuf_puts(out, "  mov.u32 %ts, cells;\n  mad.lo.u32 %ts, %ta, 4, %ts;\n  st.shared.u32 [%ts+4], 0;\n");
    /* All shared bins start at zero before anybody counts. */
    strbuf_printf(
        out,
        "  mov.u32 %%t0, %%ta;\nCLEAR:\n  setp.ge.u32 %%p0, %%t0, %d;\n  @%%p0 bra BEGIN;\n  mov.u64 %%a1, "
        "bins;\n  mad.wide.u32 %%a1, %%t0, 4, %%a1;\n  st.shared.u32 [%%a1], 0;\n  mov.u32 %%t1, "
        "%%ntid.x;\n  add.u32 %%t0, %%t0, %%t1;\n  bra CLEAR;\nBEGIN:\n  bar.sync 0;\n",
        GEN_BIN_OPS * GEN_SHARED_BINS);
    for (int i = 2; i < GEN_WORDS; i++) strbuf_printf(out, "  shr.u32 %%w%d, %%w0, %d;\n", i, i);
    for (int i = 0; i < GEN_LONGS; i++) strbuf_printf(out, "  mul.wide.u32 %%l%d, %%w0, %d;\n", i, i + 1);
    for (int i = 0; i < GEN_FLOATS; i++)
        strbuf_printf(out, "  add.s32 %%t3, %%w1, %d;\n  cvt.rn.f32.s32 %%f%d, %%t3;\n", i, i);
    print_zero_locals(out);
}

void gen_print_ptx(const struct gen_program *p, struct strbuf *out)
{
    struct gen_printer g = {.out = out, .ret_label = "DONE", .temps = 10};
    strbuf_puts(out, ".version 7.0\n.target sm_75\n.address_size 64\n");
    for (uint32_t f = 0; f < GEN_FUNCS; f++) print_func(p, f, out);
    strbuf_printf(out,
                  ".visible .entry k(.param .u64 memory)\n{\n%s  .reg .b32 %%ta;\n  .reg .b64 %%ax, %%ay;\n"
                  "  .shared .align 4 .b8 cells[%d];\n  .shared .align 4 .b8 given[%d];\n"
                  "  .shared .align 4 .b8 bins[%d];\n",
                  gen_registers, 4 * GEN_BLOCK_MAX + 4, 4 * GEN_BLOCK_MAX, 4 * GEN_BIN_OPS * GEN_SHARED_BINS);
    print_start(out);
    print_list(&g, p->body);
    print_results(out);
}
