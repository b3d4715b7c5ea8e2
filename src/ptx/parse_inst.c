/* parse_inst.c: one instruction: its spelling, its operands. What each spelling means is computed once for
 * each module. */
#include "ptx/parser.h"

struct spelling {
    /* the opcode with its modifiers, without spaces */
    const char *text;
    size_t len;
    struct word_ref words[FORM_WORDS_MAX];
    struct token at[FORM_WORDS_MAX];
    uint32_t count;
    /* where it was written with spaces */
    char joined[256];
};

/* Takes the .words after the opcode. They nearly always touch: then the text itself is the key. */
static bool read_words(struct parser *p, const struct token *op, struct spelling *s)
{
    bool spaced = false;
    s->text = op->text;
    s->len = op->len;
    s->count = 0;
    while (p->tok.kind == TOK_DOT) {
        if (s->count == FORM_WORDS_MAX)
            return parse_error(p, &p->tok, NULL, "an instruction has at most %d modifiers", FORM_WORDS_MAX);
        spaced |= p->tok.text != op->text + s->len;
        s->at[s->count] = p->tok;
        s->words[s->count++] = (struct word_ref){p->tok.text + 1, p->tok.len - 1};
        s->len += p->tok.len;
        parse_next(p);
    }
    if (!spaced) return true;
    if (s->len > sizeof s->joined) return parse_error(p, op, NULL, "the instruction's name is too long");
    memcpy(s->joined, op->text, op->len);
    size_t at = op->len;
    for (uint32_t i = 0; i < s->count; i++) {
        memcpy(s->joined + at, s->at[i].text, s->at[i].len);
        at += s->at[i].len;
    }
    s->text = s->joined;
    return true;
}

static struct token whole_name(const struct token *op, const struct spelling *s)
{
    struct token t = *op;
    t.len = (uint32_t)MIN(s->len, 200u);
    return t;
}

static bool not_supported(struct parser *p, const struct token *op, const struct spelling *s, const char *why)
{
    struct token at = whole_name(op, s);
    return parse_lack(p, p->func, &at, why, "instruction '%.*s' is not supported", (int)MIN(s->len, 80u),
                      s->text);
}

static bool unknown_op(struct parser *p, const struct token *op)
{
    char text[80], hint[100];
    snprintf(text, sizeof text, "%.*s", (int)MIN(op->len, 60u), op->text);
    const char *near = form_nearest_op(text);
    if (near) snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    return parse_error(p, op, near ? hint : NULL, "unknown instruction '%s'", text);
}

static const struct inst_shape *new_shape(struct parser *p, const struct token *op, const struct spelling *s)
{
    struct word_ref name = {op->text, op->len};
    enum ptx_op id = form_find_op(p->forms, op->text, op->len);
    const char *why = form_why_lacking(&name, s->words, s->count);
    if (why) return not_supported(p, op, s, why), NULL;
    if (id == PTX_OP_NONE) return unknown_op(p, op), NULL;
    struct inst_shape *shape = ARENA_NEW(&p->scratch, struct inst_shape);
    struct form_error err;
    if (!form_match(p->forms, id, s->words, s->count, shape, &err)) {
        struct token at = err.word == UINT32_MAX ? whole_name(op, s) : s->at[err.word];
        parse_error(p, &at, err.hint[0] ? err.hint : NULL, "%s", err.message);
        return NULL;
    }
    char *key = arena_strndup(&p->scratch, s->text, s->len);
    map_put(&p->spellings, key, shape);
    return shape;
}

static bool parse_operands(struct parser *p, struct ptx_operand *ops, uint32_t *count, bool label_first)
{
    *count = 0;
    if (p->tok.kind == ';') return true;
    do {
        if (*count == PARSE_OPERANDS_MAX) return parse_error(p, &p->tok, NULL, "too many operands");
        if (!parse_operand(p, &ops[*count], label_first && !*count)) return false;
        (*count)++;
    } while (parse_accept(p, ','));
    return true;
}

bool parse_instruction(struct parser *p, const struct token *first, int32_t guard, bool guard_not)
{
    struct spelling s;
    struct ptx_operand ops[PARSE_OPERANDS_MAX];
    uint32_t count = 4;
    if (!read_words(p, first, &s)) return false;
    const struct inst_shape *shape = map_get_n(&p->spellings, s.text, s.len);
    if (!shape) shape = new_shape(p, first, &s);
    if (!shape) return false;
    bool is_call = shape->op == PTX_OP_call;
    p->in_video = ptx_op_is_video(shape->op);
    p->in_imov = shape->op == PTX_OP_imov;
    struct token label = p->tok;
    if (is_call ? !parse_call_operands(p, ops) : !parse_operands(p, ops, &count, shape->op == PTX_OP_bra))
        return false;
    if (!parse_expect(p, ';', "';' after the instruction")) return false;
    struct ptx_inst inst = {
        .op = shape->op, .m = shape->mods, .guard = guard, .guard_not = guard_not, .op_count = count};
    inst.line = first->line;
    inst.col = first->col;
    inst.loc = p->loc;
    inst.ops = ARENA_ARRAY(&p->module->arena, struct ptx_operand, count);
    memcpy(inst.ops, ops, sizeof ops[0] * count);
    struct token at = whole_name(first, &s);
    /* The error was reported; the next instruction starts here. */
    if (!check_operands(p, shape, &inst, &at)) return true;
    if (inst.op == PTX_OP_bra) vec_push(&p->scope->label_uses, (struct label_use){&inst.ops[0].index, label});
    vec_push(&p->insts, inst);
    return true;
}
