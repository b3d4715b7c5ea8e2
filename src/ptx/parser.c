/* parser.c: what all files of the PTX parser use: the current token, errors, names and scopes.
 *
 * (1) After DIAG_ERRORS_MAX errors the text reads as if it ended: every loop stops. (2) A name is looked for
 * from the innermost scope outwards; in each, single names before register ranges. (3) A label may be used
 * before its definition: uses wait in their scope and move outwards when it closes, so that they refer to the
 * innermost visible label. */
#include "ptx/parser.h"

bool parse_stopped(const struct parser *p) { return p->errors >= DIAG_ERRORS_MAX; }

static void add_diag(struct parser *p, enum diag_level level, const struct token *at, const char *hint,
                     const char *fmt, va_list ap)
{
    diag_vadd(p->diags, level, &p->module->source, at->line, at->col, (int)MAX(at->len, 1u), hint, fmt, ap);
}

bool parse_error(struct parser *p, const struct token *at, const char *hint, const char *fmt, ...)
{
    if (parse_stopped(p)) return false;
    p->errors++;
    va_list ap;
    va_start(ap, fmt);
    add_diag(p, DIAG_ERROR, at, hint, fmt, ap);
    va_end(ap);
    return false;
}

bool parse_lack(struct parser *p, struct ptx_func *f, const struct token *at, const char *hint,
                const char *fmt, ...)
{
    if (f->lack) return false;
    struct strbuf text = {0};
    va_list ap;
    va_start(ap, fmt);
    strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    struct ptx_lack *lack = ARENA_NEW(&p->module->arena, struct ptx_lack);
    *lack = (struct ptx_lack){.message = arena_strdup(&p->module->arena, strbuf_text(&text)),
                              .hint = hint,
                              .line = at->line,
                              .col = at->col,
                              .len = (int)MAX(at->len, 1u)};
    f->lack = lack;
    strbuf_free(&text);
    return false;
}

/* Each diagnostic searches its line from the start of the text: a few warnings are enough. */
void parse_warning(struct parser *p, const struct token *at, const char *fmt, ...)
{
    if (p->warnings++ >= PARSE_WARNINGS_MAX) return;
    va_list ap;
    va_start(ap, fmt);
    add_diag(p, DIAG_WARNING, at, NULL, fmt, ap);
    va_end(ap);
}

void parse_next(struct parser *p)
{
    for (;;) {
        lexer_next(&p->lexer, &p->tok);
        if (p->tok.kind != TOK_BAD) break;
        parse_error(p, &p->tok, NULL, "%s", p->tok.error);
        if (parse_stopped(p)) break;
    }
    if (parse_stopped(p)) p->tok.kind = TOK_END;
}

/* A token as an error message names it. */
const char *token_name(const struct token *t, char *buffer, size_t size)
{
    if (t->kind == TOK_END)
        snprintf(buffer, size, "the end of the text");
    else
        snprintf(buffer, size, "'%.*s'", (int)MIN(t->len, 60u), t->text);
    return buffer;
}

bool parse_accept(struct parser *p, int kind)
{
    if (p->tok.kind != kind) return false;
    parse_next(p);
    return true;
}

bool parse_expect(struct parser *p, int kind, const char *what)
{
    char name[80];
    if (parse_accept(p, kind)) return true;
    return parse_error(p, &p->tok, NULL, "expected %s, found %s", what,
                       token_name(&p->tok, name, sizeof name));
}

bool parse_ident(struct parser *p, struct token *out, const char *what)
{
    *out = p->tok;
    return parse_expect(p, TOK_IDENT, what);
}

const char *parse_text(struct parser *p, const struct token *t)
{
    return arena_strndup(&p->module->arena, t->text, t->len);
}

/* ---- scopes ---- */

void scope_push(struct parser *p)
{
    struct scope *s = mem_zalloc(sizeof *s);
    s->parent = p->scope;
    p->scope = s;
}

static void settle_label(struct parser *p, struct scope *s, const struct label_use *use)
{
    struct symbol *sym = map_get_n(&s->names, use->name.text, use->name.len);
    if (sym && sym->kind == SYM_LABEL) {
        *use->slot = sym->index;
    } else if (s->parent && s->parent != p->module_scope) {
        vec_push(&s->parent->label_uses, *use);
    } else {
        char hint[120], name[80];
        parse_error(p, &use->name, scope_nearest(p, &use->name, hint, sizeof hint), "label %s is not defined",
                    token_name(&use->name, name, sizeof name));
    }
}

void scope_pop(struct parser *p)
{
    struct scope *s = p->scope;
    for (uint32_t i = 0; i < s->label_uses.len; i++) settle_label(p, s, &s->label_uses.data[i]);
    p->scope = s->parent;
    vec_free(&s->label_uses);
    map_free(&s->names);
    map_free(&s->ranges);
    map_free(&s->numbered);
    free(s);
}

/* Splits %r12 into its prefix and number; false when it does not end in a plain number below 2^28. */
static bool split_number(const struct token *name, struct token *prefix, uint32_t *number)
{
    uint32_t at = name->len;
    while (at > 0 && name->text[at - 1] >= '0' && name->text[at - 1] <= '9') at--;
    uint32_t digits = name->len - at;
    if (!digits || digits > 9 || !at || (digits > 1 && name->text[at] == '0')) return false;
    *number = 0;
    for (uint32_t i = at; i < name->len; i++) *number = *number * 10 + (uint32_t)(name->text[i] - '0');
    *prefix = *name;
    prefix->len = at;
    return *number < PARSE_RANGE_MAX;
}

static struct symbol *new_symbol(struct parser *p, enum symbol_kind kind, int line)
{
    struct symbol *s = ARENA_NEW(&p->scratch, struct symbol);
    s->kind = kind;
    s->line = line;
    return s;
}

static void put(struct parser *p, struct map *map, const struct token *name, void *value)
{
    (void)p;
    char small[64], *key = name->len < sizeof small ? small : mem_alloc((size_t)name->len + 1);
    memcpy(key, name->text, name->len);
    key[name->len] = 0;
    map_put(map, key, value);
    if (key != small) free(key);
}

uint32_t scope_new_regs(struct parser *p, const char *name, uint8_t type, uint8_t vec)
{
    uint32_t first = p->regs.len;
    for (int i = 0; i < MAX(vec, 1); i++) {
        const char *text = vec ? arena_printf(&p->module->arena, "%s.%c", name, "xyzw"[i]) : name;
        vec_push(&p->regs, (struct ptx_reg){text, type});
    }
    return first;
}

static struct symbol *use_range(struct parser *p, struct scope *s, const struct token *name)
{
    struct token prefix;
    uint32_t number;
    if (!s->ranges.entries.len || !split_number(name, &prefix, &number)) return NULL;
    struct symbol *range = map_get_n(&s->ranges, prefix.text, prefix.len);
    if (!range || number >= range->count) return NULL;
    struct symbol *reg = new_symbol(p, SYM_REG, range->line);
    reg->type = range->type;
    reg->vec = range->vec;
    reg->index = scope_new_regs(p, parse_text(p, name), reg->type, reg->vec);
    put(p, &s->names, name, reg);
    return reg;
}

static struct symbol *find_in(struct parser *p, struct scope *s, const struct token *name)
{
    struct symbol *sym = map_get_n(&s->names, name->text, name->len);
    return sym ? sym : use_range(p, s, name);
}

struct symbol *scope_find(struct parser *p, const struct token *name)
{
    for (struct scope *s = p->scope; s; s = s->parent) {
        struct symbol *sym = find_in(p, s, name);
        if (sym) return sym;
    }
    return NULL;
}

struct symbol *scope_find_here(struct parser *p, const struct token *name)
{
    return map_get_n(&p->scope->names, name->text, name->len);
}

static bool in_range_here(struct parser *p, const struct token *name)
{
    struct token prefix;
    uint32_t number;
    if (!split_number(name, &prefix, &number)) return false;
    struct symbol *range = map_get_n(&p->scope->ranges, prefix.text, prefix.len);
    return range && number < range->count;
}

static bool duplicate(struct parser *p, const struct token *name, const struct symbol *old)
{
    char text[80], hint[60];
    snprintf(hint, sizeof hint, "first defined at line %d", old ? old->line : 0);
    return parse_error(p, name, old ? hint : NULL, "%s is already defined in this scope",
                       token_name(name, text, sizeof text));
}

struct symbol *scope_add(struct parser *p, const struct token *name, enum symbol_kind kind)
{
    struct symbol *old = scope_find_here(p, name);
    if (old || in_range_here(p, name)) {
        duplicate(p, name, old);
        return NULL;
    }
    struct symbol *s = new_symbol(p, kind, name->line);
    put(p, &p->scope->names, name, s);
    struct token prefix;
    uint32_t number;
    if (kind == SYM_REG && split_number(name, &prefix, &number)) {
        uintptr_t lowest = (uintptr_t)map_get_n(&p->scope->numbered, prefix.text, prefix.len);
        if (!lowest || number + 1 < lowest)
            put(p, &p->scope->numbered, &prefix, (void *)((uintptr_t)number + 1));
    }
    return s;
}

bool scope_add_range(struct parser *p, const struct token *prefix, uint8_t type, uint8_t vec, uint32_t count)
{
    struct symbol *old = map_get_n(&p->scope->ranges, prefix->text, prefix->len);
    uintptr_t lowest = (uintptr_t)map_get_n(&p->scope->numbered, prefix->text, prefix->len);
    if (old || (lowest && lowest <= count)) return duplicate(p, prefix, old);
    struct symbol *s = new_symbol(p, SYM_RANGE, prefix->line);
    s->type = type;
    s->vec = vec;
    s->count = count;
    put(p, &p->scope->ranges, prefix, s);
    return true;
}

/* ---- hints for names that do not exist ---- */

/* A register past the end of its range is the likeliest mistake. */
static const char *range_hint(struct parser *p, const struct token *name, char *buffer, size_t size)
{
    struct token prefix;
    uint32_t number;
    if (!split_number(name, &prefix, &number)) return NULL;
    for (struct scope *s = p->scope; s; s = s->parent) {
        struct symbol *r = map_get_n(&s->ranges, prefix.text, prefix.len);
        if (!r) continue;
        snprintf(buffer, size, "%.*s<%u> ends at %u", (int)MIN(prefix.len, 40u), prefix.text, r->count,
                 r->count ? r->count - 1 : 0);
        return buffer;
    }
    return NULL;
}

const char *scope_nearest(struct parser *p, const struct token *name, char *buffer, size_t size)
{
    enum { NAMES_MAX = 4096 };
    if (name->len > 60) return NULL;
    const char *hint = range_hint(p, name, buffer, size);
    if (hint) return hint;
    const char **names = mem_alloc(sizeof *names * NAMES_MAX);
    size_t n = 0;
    for (struct scope *s = p->scope; s; s = s->parent)
        for (uint32_t i = 0; i < s->names.entries.len && n < NAMES_MAX; i++)
            names[n++] = s->names.entries.data[i].key;
    for (uint32_t i = 0; i < p->sregs.entries.len && n < NAMES_MAX; i++)
        names[n++] = p->sregs.entries.data[i].key;
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)name->len, name->text);
    const char *near = diag_nearest(text, names, n);
    if (near) snprintf(buffer, size, "did you mean '%.60s'?", near);
    free(names);
    return near ? buffer : NULL;
}

bool scope_undefined(struct parser *p, const struct token *name, const char *what)
{
    char hint[120], text[80];
    if (parse_stopped(p)) return false;
    return parse_error(p, name, scope_nearest(p, name, hint, sizeof hint), "%s %s is not defined", what,
                       token_name(name, text, sizeof text));
}
