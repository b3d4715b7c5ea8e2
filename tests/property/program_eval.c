/* program_eval.c: what a random kernel must leave in memory, statement by statement in plain C. */
#include "program_stmt.h"

#include <math.h>

struct gen_thread {
    const struct gen_program *p;
    /* global */
    uint32_t *memory;
    uint32_t *cells, *shared_bins;
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

static uint32_t eval_bin(uint32_t op, uint32_t old, uint32_t b)
{
    switch (op) {
    case 0: return old + b;
    case 1: return old ^ b;
    case 2: return old > b ? old : b;
    case 3: return (int32_t)old < (int32_t)b ? old : b;
    default: return old | b;
    }
}

static void eval_cell_atom(struct gen_thread *t, const struct gen_stmt *s, uint32_t b)
{
    uint32_t *cell = &t->cells[t->w[s->a] % GEN_CELLS], old = *cell;
    switch (s->op % GEN_CELL_OPS) {
    case 0: *cell = old + b; break;
    case 1: *cell = b; break;
    case 2: *cell = old ^ b; break;
    case 3: *cell = (int32_t)old < (int32_t)b ? old : b; break;
    case 4: *cell = old > b ? old : b; break;
    default: *cell = old == t->w[s->c] ? b : old; break;
    }
    t->w[s->dst] = old;
}

static void eval_shared(struct gen_thread *t, const struct gen_stmt *s)
{
    uint32_t value = t->w[s->a], old = t->shared;
    switch (s->op & 3) {
    case 0: t->w[s->dst] = old; break;
    case 1: t->shared = value; break;
    case 2:
        t->shared = old + value;
        t->w[s->dst] = old;
        break;
    default:
        t->shared = value;
        t->w[s->dst] = old;
        break;
    }
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
    case GEN_SHARED: eval_shared(t, s); return FLOW_ON;
    case GEN_GATHER: t->w[s->dst] = t->memory[GEN_AT_TABLE + t->w[s->a] % GEN_TABLE]; return FLOW_ON;
    case GEN_CELL_STORE: t->cells[t->w[s->a] % GEN_CELLS] = b; return FLOW_ON;
    case GEN_CELL_LOAD: t->w[s->dst] = t->cells[t->w[s->a] % GEN_CELLS]; return FLOW_ON;
    case GEN_CELL_ATOM: eval_cell_atom(t, s, b); return FLOW_ON;
    case GEN_BIN: {
        uint32_t op = s->op % GEN_BIN_OPS, at = GEN_AT_BINS + op * GEN_BINS + t->w[s->a] % GEN_BINS;
        t->memory[at] = eval_bin(op, t->memory[at], b);
        return FLOW_ON;
    }
    case GEN_SHARED_BIN: {
        uint32_t op = s->op % GEN_BIN_OPS, at = op * GEN_SHARED_BINS + t->w[s->a] % GEN_SHARED_BINS;
        t->shared_bins[at] = eval_bin(op, t->shared_bins[at], b);
        return FLOW_ON;
    }
    case GEN_EXCHANGE: break; /* of all threads together: eval_cta */
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

static void thread_begin(struct gen_thread *t, const struct gen_program *p, uint32_t thread, uint32_t *memory)
{
    uint32_t input = memory[GEN_AT_IN + thread];
    *t = (struct gen_thread){.p = p, .memory = memory, .cells = memory + GEN_AT_CELLS + thread * GEN_CELLS};
    for (uint32_t i = 0; i < GEN_WORDS; i++) t->w[i] = i == 0 ? input : i == 1 ? thread : input >> i;
    for (uint32_t i = 0; i < GEN_LONGS; i++) t->l[i] = (uint64_t)input * (i + 1);
    for (uint32_t i = 0; i < GEN_FLOATS; i++) t->f[i] = (float)(int32_t)(thread + i);
}

static void thread_end(const struct gen_thread *t, uint32_t *out)
{
    uint32_t words[GEN_OUT_WORDS], n = 0;
    for (uint32_t i = 0; i < GEN_WORDS; i++) words[n++] = t->w[i];
    for (uint32_t i = 0; i < GEN_LONGS; i++) {
        words[n++] = (uint32_t)t->l[i];
        words[n++] = (uint32_t)(t->l[i] >> 32);
    }
    for (uint32_t i = 0; i < GEN_FLOATS; i++) words[n++] = canonical(t->f[i]);
    for (uint32_t i = 0; i < GEN_LOCALS; i++) words[n++] = t->local[i];
    for (uint32_t i = 0; i < n; i++) out[i * GEN_THREADS_MAX] = words[i];
}

/* Every thread gives w[a] and takes what its partner gave. What went through global memory stays there. */
static void eval_exchange(struct gen_thread *threads, const struct gen_stmt *s, uint32_t first)
{
    uint32_t given[GEN_BLOCK_MAX], block = threads->p->block;
    for (uint32_t i = 0; i < block; i++) given[i] = threads[i].w[s->a];
    for (uint32_t i = 0; i < block; i++) {
        threads[i].w[s->dst] = given[(i + s->imm % GEN_BLOCK_MAX) % block];
        if (s->op & 1) threads->memory[GEN_AT_EXCHANGE + first + i] = given[i];
    }
}

/* Statement by statement, so that an exchange finds all threads at the same place. */
static void eval_cta(const struct gen_program *p, uint32_t cta, uint32_t *memory)
{
    struct gen_thread threads[GEN_BLOCK_MAX];
    bool gone[GEN_BLOCK_MAX] = {false};
    uint32_t first = cta * p->block, shared_bins[GEN_BIN_OPS * GEN_SHARED_BINS] = {0};
    for (uint32_t i = 0; i < p->block; i++) {
        thread_begin(&threads[i], p, first + i, memory);
        threads[i].shared_bins = shared_bins;
    }
    for (const struct gen_stmt *s = p->body; s; s = s->next) {
        if (s->kind == GEN_EXCHANGE) eval_exchange(threads, s, first);
        for (uint32_t i = 0; s->kind != GEN_EXCHANGE && i < p->block; i++)
            if (!gone[i]) gone[i] = eval_stmt(&threads[i], s) != FLOW_ON;
    }
    for (uint32_t i = 0; i < p->block; i++) thread_end(&threads[i], memory + GEN_AT_OUT + first + i);
    memcpy(memory + GEN_AT_SHARED_BINS + cta * ARRAY_LEN(shared_bins), shared_bins, sizeof shared_bins);
}

void gen_evaluate(const struct gen_program *p, uint32_t *memory)
{
    for (uint32_t cta = 0; cta < p->ctas; cta++) eval_cta(p, cta, memory);
}
