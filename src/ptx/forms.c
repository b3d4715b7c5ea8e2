/* forms.c: matches the words of an instruction against the forms of instr.def.
 *
 * A form is read from its text each time a new spelling is met; the parser keeps the result per spelling, so
 * that a module pays once for each distinct one. (1) Each element of a form takes at most one word; types are
 * taken in order, other words in any order. (2) The first form that takes all words, with no required element
 * left, wins; later forms that take them too are kept as further choices of operands. */
#include "ptx/forms.h"

enum form_field {
    FIELD_NONE,
    FIELD_TYPE,
    FIELD_SPACE,
    FIELD_SPACE2,
    FIELD_CMP,
    FIELD_BOOL,
    FIELD_ATOM,
    FIELD_ROUND,
    FIELD_HALF,
    FIELD_CACHE,
    FIELD_SEM,
    FIELD_SCOPE,
    FIELD_VEC,
    FIELD_FLAG,
    FIELD_WORD,
    FIELD_L1U,
    FIELD_SKIP,
    FIELD_HINT
};

struct word_row {
    const char *text;
    uint8_t field, value;
};
static const struct word_row word_rows[] = {
#define PTX_WORD(field, text, value) {text, FIELD_##field, value},
#include "ptx/words.def"
#undef PTX_WORD
};

struct class_row {
    const char *name;
    uint8_t field;
    const char *words;
};
static const struct class_row class_rows[] = {
#define PTX_CLASS(name, field, words) {#name, FIELD_##field, words},
#include "ptx/words.def"
#undef PTX_CLASS
};

static const char *const *const op_forms[] = {
    NULL,
#define PTX_OP(name, ...) (const char *const[]){__VA_ARGS__, NULL},
#include "ptx/instr.def"
#undef PTX_OP
};

static const char *const op_names[] = {
    "",
#define PTX_OP(name, ...) #name,
#include "ptx/instr.def"
#undef PTX_OP
};

static const struct {
    const char *op, *word, *why;
} lacking[] = {
#define PTX_LACKS(op, word, why) {op, word, why},
#include "ptx/lacks.def"
#undef PTX_LACKS
};

static bool same(const char *text, size_t len, const char *other)
{
    return strlen(other) == len && !memcmp(text, other, len);
}

const char *ptx_op_name(enum ptx_op op) { return op_names[op]; }

const char *form_nearest_op(const char *text) { return diag_nearest(text, op_names + 1, PTX_OP_COUNT - 1); }

const char *form_why_lacking(const struct word_ref *op, const struct word_ref *words, uint32_t count)
{
    for (size_t i = 0; i < ARRAY_LEN(lacking); i++) {
        if (!same(op->text, op->len, lacking[i].op)) continue;
        if (!lacking[i].word[0]) return lacking[i].why;
        for (uint32_t w = 0; w < count; w++)
            if (same(words[w].text, words[w].len, lacking[i].word)) return lacking[i].why;
    }
    return NULL;
}

enum ptx_type form_type_of(const char *text, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(word_rows) && word_rows[i].field == FIELD_TYPE; i++)
        if (same(text, len, word_rows[i].text)) return (enum ptx_type)word_rows[i].value;
    return PTX_NONE;
}

/* ---- the tables, made ready for lookups ---- */

enum { MASK_WORDS = (ARRAY_LEN(word_rows) + 63) / 64 };

/* A set of rows of word_rows. */
struct row_mask {
    uint64_t bits[MASK_WORDS];
};

struct form_table {
    /* text -> its first row */
    struct map words;
    /* name -> row of class_rows */
    struct map classes;
    /* name -> entry of op_names */
    struct map ops;
    /* the next row with the same text */
    const struct word_row *next[ARRAY_LEN(word_rows)];
    struct row_mask class_mask[ARRAY_LEN(class_rows)];
};

static uint32_t row_index(const struct word_row *r) { return (uint32_t)(r - word_rows); }

/* The next piece of a list up to the separator; false at its end. */
static bool next_piece(const char **at, const char *end, char separator, const char **piece, size_t *len)
{
    while (*at < end && (**at == separator || **at == ' ')) (*at)++;
    if (*at == end) return false;
    *piece = *at;
    while (*at < end && **at != separator && **at != ' ') (*at)++;
    *len = (size_t)(*at - *piece);
    return true;
}

/* Adds the row of a word that has the field; FIELD_NONE: the first row. Returns its field. */
static uint8_t mask_add(const struct form_table *t, struct row_mask *m, const char *text, size_t len,
                        uint8_t field)
{
    const struct word_row *r = map_get_n(&t->words, text, len);
    while (r && field != FIELD_NONE && r->field != field) r = t->next[row_index(r)];
    if (!r) UNREACHABLE("instr.def or words.def names a word that words.def does not have");
    m->bits[row_index(r) / 64] |= 1ull << (row_index(r) % 64);
    return r->field;
}

struct form_table *form_table_new(void)
{
    struct form_table *t = mem_zalloc(sizeof *t);
    for (size_t i = ARRAY_LEN(word_rows); i-- > 0;) {
        t->next[i] = map_get(&t->words, word_rows[i].text);
        map_put(&t->words, word_rows[i].text, (void *)&word_rows[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(class_rows); i++) {
        const char *at = class_rows[i].words, *end = at + strlen(at), *word;
        size_t len;
        map_put(&t->classes, class_rows[i].name, (void *)&class_rows[i]);
        while (next_piece(&at, end, ' ', &word, &len))
            mask_add(t, &t->class_mask[i], word, len, class_rows[i].field);
    }
    for (int i = 1; i < PTX_OP_COUNT; i++) map_put(&t->ops, op_names[i], (void *)&op_names[i]);
    return t;
}

void form_table_free(struct form_table *t)
{
    map_free(&t->words);
    map_free(&t->classes);
    map_free(&t->ops);
    free(t);
}

enum ptx_op form_find_op(const struct form_table *t, const char *text, size_t len)
{
    const char *const *name = map_get_n(&t->ops, text, len);
    return name ? (enum ptx_op)(name - op_names) : PTX_OP_NONE;
}

/* ---- the modifiers of one form ---- */

struct element {
    /* the words that it takes */
    struct row_mask mask;
    uint8_t field;
    bool optional, filled;
};

struct form_state {
    struct element element[FORM_WORDS_MAX];
    uint32_t count;
};

static struct element read_element(const struct form_table *t, const char *text, size_t len)
{
    struct element e = {.field = FIELD_NONE};
    const char *at = text, *alt;
    if (text[len - 1] == '?') {
        e.optional = true;
        len--;
    }
    const char *end = text + len;
    while (next_piece(&at, end, '|', &alt, &len)) {
        const struct class_row *c = map_get_n(&t->classes, alt, len);
        if (!c) {
            e.field = mask_add(t, &e.mask, alt, len, e.field);
            continue;
        }
        e.field = c->field;
        for (int i = 0; i < MASK_WORDS; i++) e.mask.bits[i] |= t->class_mask[c - class_rows].bits[i];
    }
    return e;
}

static void read_elements(const struct form_table *t, const char *form, struct form_state *out)
{
    const char *end = strchr(form, ';'), *at = form, *piece;
    size_t len;
    out->count = 0;
    while (next_piece(&at, end, ' ', &piece, &len)) out->element[out->count++] = read_element(t, piece, len);
}

/* The row, out of those with the word's text, that the element takes. */
static const struct word_row *element_takes(const struct form_table *t, const struct element *e,
                                            const struct word_row *r)
{
    for (; r; r = t->next[row_index(r)])
        if (e->mask.bits[row_index(r) / 64] >> (row_index(r) % 64) & 1) return r;
    return NULL;
}

static struct element *find_element(const struct form_table *t, struct form_state *s,
                                    const struct word_row *first, const struct word_row **row)
{
    for (uint32_t i = 0; i < s->count; i++) {
        struct element *e = &s->element[i];
        if (e->filled) continue;
        *row = element_takes(t, e, first);
        if (*row) return e;
        if (e->field == FIELD_TYPE && !e->optional && first && first->field == FIELD_TYPE) return NULL;
    }
    return NULL;
}

static void store_word(struct ptx_mods *m, const struct word_row *row, bool *hint)
{
    switch ((enum form_field)row->field) {
    case FIELD_TYPE: m->type[m->type_count++] = row->value; break;
    case FIELD_SPACE: m->space = row->value; break;
    case FIELD_SPACE2: m->space2 = row->value; break;
    case FIELD_CMP: m->cmp = row->value; break;
    case FIELD_BOOL: m->boolop = row->value; break;
    case FIELD_ATOM: m->atom = row->value; break;
    case FIELD_ROUND: m->round = row->value; break;
    case FIELD_HALF: m->half = row->value; break;
    case FIELD_CACHE: m->cache = row->value; break;
    case FIELD_SEM: m->sem = row->value; break;
    case FIELD_SCOPE: m->scope = row->value; break;
    case FIELD_VEC: m->vec = row->value; break;
    case FIELD_FLAG: *(bool *)((char *)m + row->value) = true; break;
    case FIELD_WORD:
    case FIELD_L1U: m->word[m->word[0] ? 1 : 0] = row->value; break;
    case FIELD_HINT: *hint = true; break;
    case FIELD_SKIP:
    case FIELD_NONE: break;
    }
}

struct match {
    struct ptx_mods mods;
    bool hint;
    /* words before the first that no element took */
    uint32_t taken;
    /* a required element has no word */
    bool missing;
};

static void match_form(const struct form_table *t, struct form_state *s, const struct word_ref *words,
                       uint32_t count, struct match *out)
{
    *out = (struct match){0};
    for (uint32_t i = 0; i < count; i++) {
        const struct word_row *row = NULL;
        const struct word_row *first = map_get_n(&t->words, words[i].text, words[i].len);
        struct element *e = find_element(t, s, first, &row);
        if (!e) return;
        e->filled = true;
        out->taken++;
        store_word(&out->mods, row, &out->hint);
    }
    for (uint32_t i = 0; i < s->count; i++) out->missing |= !s->element[i].filled && !s->element[i].optional;
}

/* ---- the operands of one form ---- */

static enum ptx_type wide_type(enum ptx_type t)
{
    switch (t) {
    case PTX_U16: return PTX_U32;
    case PTX_S16: return PTX_S32;
    case PTX_U32: return PTX_U64;
    case PTX_S32: return PTX_S64;
    default: UNREACHABLE("no double-width type");
    }
}

static enum ptx_type rule_type(const char *text, size_t len, const struct ptx_mods *m)
{
    if (!len) return PTX_NONE;
    if (len == 1 && text[0] >= '0' && text[0] <= '3') return (enum ptx_type)m->type[text[0] - '0'];
    if (len == 1 && text[0] == 'w') return wide_type((enum ptx_type)m->type[0]);
    enum ptx_type t = form_type_of(text, len);
    if (t == PTX_NONE) UNREACHABLE("instr.def names an unknown operand type");
    return t;
}

static struct operand_rule read_rule(const char *text, size_t len, const struct ptx_mods *m)
{
    struct operand_rule r = {.role = text[0]};
    if (r.role == '@') return r;
    size_t stop = strcspn(text + 1, "*?+| ") + 1;
    stop = MIN(stop, len);
    r.type = (uint8_t)rule_type(text + 1, stop - 1, m);
    for (size_t i = stop; i < len; i++) {
        r.is_vector |= text[i] == '*';
        r.is_optional |= text[i] == '?';
        r.pair_allowed |= text[i] == '+' || text[i] == '|';
        r.pair_needed |= text[i] == '|';
    }
    return r;
}

static void read_rules(const char *form, const struct match *match, struct operand_rules *out)
{
    const char *at = strchr(form, ';') + 1, *end = form + strlen(form), *piece;
    size_t len;
    *out = (struct operand_rules){0};
    while (next_piece(&at, end, ' ', &piece, &len)) {
        struct operand_rule r = read_rule(piece, len, &match->mods);
        if (r.role == 'c' && !match->hint) continue;
        if (r.role == 'Q' && !match->mods.boolop) continue;
        if (r.is_vector && !match->mods.vec) r.is_vector = false;
        out->needed += !r.is_optional;
        out->rule[out->count++] = r;
    }
}

/* ---- a whole opcode ---- */

/* A vector access moves at most 16 bytes before sm_100. */
static bool vector_too_wide(enum ptx_op op, const struct ptx_mods *m)
{
    if (!m->vec || (op != PTX_OP_ld && op != PTX_OP_st && op != PTX_OP_ldu)) return false;
    return m->vec * ptx_type_bytes((enum ptx_type)m->type[0]) > 16;
}

static bool mask_has(const struct row_mask *m, size_t row) { return m->bits[row / 64] >> (row % 64) & 1; }

static void mask_join(struct row_mask *m, const struct row_mask *other)
{
    for (int i = 0; i < MASK_WORDS; i++) m->bits[i] |= other->bits[i];
}

/* All words that some form of the opcode takes. */
static struct row_mask op_words(const struct form_table *t, enum ptx_op op)
{
    struct row_mask all = {0};
    struct form_state s;
    for (const char *const *form = op_forms[op]; *form; form++) {
        read_elements(t, *form, &s);
        for (uint32_t i = 0; i < s.count; i++) mask_join(&all, &s.element[i].mask);
    }
    return all;
}

static bool mask_has_text(const struct form_table *t, const struct row_mask *m, const struct word_row *r)
{
    for (; r; r = t->next[row_index(r)])
        if (mask_has(m, row_index(r))) return true;
    return false;
}

static const char *nearest_word(const struct row_mask *m, const char *text)
{
    const char *names[ARRAY_LEN(word_rows)];
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(word_rows); i++)
        if (mask_has(m, i)) names[n++] = word_rows[i].text;
    return diag_nearest(text, names, n);
}

/* ".rn .rz .rm .rp" */
static void describe_mask(const struct row_mask *m, char *out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < ARRAY_LEN(word_rows); i++) {
        if (!mask_has(m, i) || used + strlen(word_rows[i].text) + 3 > size) continue;
        used += (size_t)snprintf(out + used, size - used, "%s.%s", used ? " " : "", word_rows[i].text);
    }
}

/* What the forms that matched the most words still need: the first required element without a word, or, when
 * a type did not fit, the type that belongs there. */
static uint32_t furthest_forms(const struct form_table *t, enum ptx_op op, const struct word_ref *words,
                               uint32_t count, struct row_mask *wanted)
{
    uint32_t furthest = 0;
    struct form_state s;
    struct match m;
    for (const char *const *form = op_forms[op]; *form; form++) {
        read_elements(t, *form, &s);
        match_form(t, &s, words, count, &m);
        if (m.taken > furthest) *wanted = (struct row_mask){0};
        furthest = MAX(furthest, m.taken);
        if (m.taken < furthest) continue;
        for (uint32_t i = 0; i < s.count; i++) {
            const struct element *e = &s.element[i];
            if (e->filled || e->optional || (m.taken < count && e->field != FIELD_TYPE)) continue;
            mask_join(wanted, &e->mask);
            break;
        }
    }
    return furthest;
}

static void explain(const struct form_table *t, enum ptx_op op, const struct word_ref *words, uint32_t count,
                    struct form_error *err)
{
    struct row_mask wanted = {0};
    uint32_t furthest = furthest_forms(t, op, words, count, &wanted);
    const char *name = op_names[op];
    char list[200], text[64];
    describe_mask(&wanted, list, sizeof list);
    *err = (struct form_error){.word = furthest < count ? furthest : UINT32_MAX};
    if (furthest == count) {
        snprintf(err->message, sizeof err->message, "'%s' lacks a modifier here", name);
        snprintf(err->hint, sizeof err->hint, "%s %s", strchr(list, ' ') ? "add one of" : "add", list);
        return;
    }
    const struct word_ref *w = &words[furthest];
    const struct word_row *row = map_get_n(&t->words, w->text, w->len);
    snprintf(text, sizeof text, "%.*s", (int)MIN(w->len, 60u), w->text);
    struct row_mask known = op_words(t, op);
    if (mask_has_text(t, &known, row)) {
        snprintf(err->message, sizeof err->message, "'.%s' does not go with the other modifiers of this '%s'",
                 text, name);
        if (row->field == FIELD_TYPE && list[0]) snprintf(err->hint, sizeof err->hint, "it takes %s", list);
        return;
    }
    snprintf(err->message, sizeof err->message, "'%s' has no modifier '.%s'", name, text);
    const char *near = nearest_word(&known, text);
    if (near) snprintf(err->hint, sizeof err->hint, "did you mean '.%s'?", near);
}

bool form_match(const struct form_table *t, enum ptx_op op, const struct word_ref *words, uint32_t count,
                struct inst_shape *out, struct form_error *err)
{
    struct form_state s;
    struct match m;
    *out = (struct inst_shape){.op = op};
    for (const char *const *form = op_forms[op]; *form && out->choice_count < FORM_CHOICES_MAX; form++) {
        read_elements(t, *form, &s);
        match_form(t, &s, words, count, &m);
        if (m.taken < count || m.missing) continue;
        if (!out->choice_count) out->mods = m.mods;
        read_rules(*form, &m, &out->choices[out->choice_count++]);
    }
    if (!out->choice_count) {
        explain(t, op, words, count, err);
        return false;
    }
    out->mods.is_global_to_shared = op == PTX_OP_cp && out->mods.space2;
    if (vector_too_wide(op, &out->mods)) {
        *err = (struct form_error){.word = UINT32_MAX};
        snprintf(err->message, sizeof err->message, "a vector access moves at most 16 bytes");
        return false;
    }
    return true;
}
