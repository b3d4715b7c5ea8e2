/* program_gen.c: makes random kernels. Loops have a fixed largest trip count, so that every kernel ends. */
#include "program_stmt.h"

struct gen_maker {
    struct gen_program *p;
    struct rng rng;
    uint32_t left;
    bool in_func;
    /* threads may leave early: then none waits for the others at a barrier */
    bool returns;
};

/* Levels of nesting in the body of the kernel. */
enum { GEN_DEPTH = 4 };

static uint32_t pick(struct gen_maker *m, uint32_t n) { return (uint32_t)rng_below(&m->rng, n); }

static struct gen_stmt *make_list(struct gen_maker *m, int depth, bool in_loop);

static struct gen_stmt *make_stmt(struct gen_maker *m, int depth, bool in_loop)
{
    struct gen_stmt *s = ARENA_NEW(&m->p->arena, struct gen_stmt);
    static const uint8_t weight[GEN_KIND_COUNT] = {30, 8, 8, 4, 4, 5, 4, 4, 4, 9, 6,
                                                   3,  3, 4, 1, 6, 3, 3, 5, 4, 3, 6};
    uint32_t roll = pick(m, 127), k = 0;
    while (k + 1 < GEN_KIND_COUNT && roll >= weight[k]) roll -= weight[k++];
    s->kind = (enum gen_kind)k;
    bool nests = k == GEN_IF || k == GEN_LOOP || k == GEN_SWITCH;
    if ((nests && depth <= 0) || (k == GEN_BREAK && !in_loop) || (k == GEN_CALL && m->in_func))
        s->kind = GEN_WORD_OP;
    if (m->in_func && (s->kind == GEN_SHARED || s->kind >= GEN_GATHER)) s->kind = GEN_WORD_OP;
    if (s->kind == GEN_RETURN && !m->in_func && !m->returns) s->kind = GEN_WORD_OP;
    if (s->kind == GEN_EXCHANGE && (m->returns || depth < GEN_DEPTH)) s->kind = GEN_WORD_OP;
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
    m.in_func = true;
    for (int f = 0; f < GEN_FUNCS; f++) {
        m.left = 20;
        p->func_body[f] = make_list(&m, 2, false);
    }
    m.in_func = false;
    m.returns = pick(&m, 3) == 0;
    m.left = 90;
    p->body = make_list(&m, GEN_DEPTH, false);
    p->block = (const uint32_t[]){32, 48, 100, 160}[pick(&m, 4)];
    p->ctas = 1 + pick(&m, GEN_THREADS_MAX / p->block);
    if (p->ctas > GEN_CTAS_MAX) p->ctas = GEN_CTAS_MAX;
}

void gen_free(struct gen_program *p) { arena_free(&p->arena); }

void gen_fill(const struct gen_program *p, uint32_t *memory)
{
    struct rng rng = {p->seed};
    memset(memory, 0, GEN_MEMORY_WORDS * sizeof *memory);
    for (uint32_t t = 0; t < GEN_THREADS_MAX; t++) memory[GEN_AT_IN + t] = rng_u32(&rng) >> (t % 31);
    for (uint32_t i = 0; i < GEN_TABLE; i++) memory[GEN_AT_TABLE + i] = rng_u32(&rng) >> (i % 29);
}
