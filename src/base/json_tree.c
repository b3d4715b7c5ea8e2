/* json_tree.c: a recursive descent over the text. The items of a container gather on a stack of the reader's
 * and move to the arena as one array when it ends.
 *
 * (1) Nothing is read beyond text[len - 1]. (2) Every loop takes at least one byte. (3) Depth is bounded by
 * JSON_DEPTH_MAX. */
#include "base/json_tree.h"

#include <errno.h>
#include <math.h>

struct json_reader {
    struct json_tree *tree;
    const char *text;
    size_t at, len;
    VEC(struct json_node) stack;
    /* the text that is being unescaped */
    struct strbuf word;
    struct diag_list *diags;
};

static bool json_value(struct json_reader *r, struct json_node *out, int depth);

static bool json_error(struct json_reader *r, const char *message)
{
    int line = 1, col = 1;
    for (size_t i = 0; i < r->at && i < r->len; i++) {
        col++;
        if (r->text[i] == '\n') line++, col = 1;
    }
    diag_add(r->diags, DIAG_ERROR, &r->tree->src, line, col, 1, NULL, "not valid JSON: %s", message);
    return false;
}

static int json_peek(const struct json_reader *r)
{
    return r->at < r->len ? (unsigned char)r->text[r->at] : -1;
}

static void json_space(struct json_reader *r)
{
    while (r->at < r->len && strchr(" \n\t\r", r->text[r->at]) && r->text[r->at]) r->at++;
}

static bool json_is_digit(int c) { return c >= '0' && c <= '9'; }

/* ---- texts ---- */

static bool json_hex4(struct json_reader *r, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        int c = json_peek(r);
        int digit = json_is_digit(c)       ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return json_error(r, "\\u takes four hexadecimal digits");
        *out = *out << 4 | (uint32_t)digit;
    }
    return true;
}

static void json_put_utf8(struct strbuf *s, uint32_t c)
{
    if (c < 0x80) {
        strbuf_putc(s, (char)c);
        return;
    }
    if (c >= 0x10000) {
        strbuf_putc(s, (char)(0xf0 | c >> 18));
        strbuf_putc(s, (char)(0x80 | (c >> 12 & 0x3f)));
    } else if (c >= 0x800) {
        strbuf_putc(s, (char)(0xe0 | c >> 12));
    }
    if (c >= 0x800)
        strbuf_putc(s, (char)(0x80 | (c >> 6 & 0x3f)));
    else
        strbuf_putc(s, (char)(0xc0 | c >> 6));
    strbuf_putc(s, (char)(0x80 | (c & 0x3f)));
}

/* \uXXXX, after the u; a pair of surrogates is one character. */
static bool json_unicode(struct json_reader *r)
{
    uint32_t c, low;
    if (!json_hex4(r, &c)) return false;
    if (c >= 0xd800 && c < 0xdc00) {
        if (r->len - r->at < 2 || r->text[r->at] != '\\' || r->text[r->at + 1] != 'u')
            return json_error(r, "half of a surrogate pair");
        r->at += 2;
        if (!json_hex4(r, &low)) return false;
        if (low < 0xdc00 || low > 0xdfff) return json_error(r, "half of a surrogate pair");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c >= 0xdc00 && c < 0xe000) {
        return json_error(r, "half of a surrogate pair");
    }
    if (!c) return json_error(r, "a text with a zero character");
    json_put_utf8(&r->word, c);
    return true;
}

static bool json_escape(struct json_reader *r)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    int c = json_peek(r);
    const char *found = c > 0 ? strchr(from, c) : NULL;
    if (!found && c != 'u') return json_error(r, "unknown escape");
    r->at++;
    if (c == 'u') return json_unicode(r);
    strbuf_putc(&r->word, to[found - from]);
    return true;
}

static bool json_text(struct json_reader *r, const char **out)
{
    if (json_peek(r) != '"') return json_error(r, "a text in quotes must stand here");
    r->at++;
    r->word.len = 0;
    for (;;) {
        size_t from = r->at;
        int c;
        while ((c = json_peek(r)) >= 0x20 && c != '"' && c != '\\') r->at++;
        strbuf_add(&r->word, r->text + from, r->at - from);
        if (c < 0x20) return json_error(r, c < 0 ? "the text never ends" : "control character in a text");
        r->at++;
        if (c == '"') break;
        if (!json_escape(r)) return false;
    }
    *out = arena_strndup(&r->tree->arena, strbuf_text(&r->word), r->word.len);
    return true;
}

/* ---- numbers ---- */

static bool json_digits(struct json_reader *r)
{
    if (!json_is_digit(json_peek(r))) return json_error(r, "a digit must stand here");
    while (json_is_digit(json_peek(r))) r->at++;
    return true;
}

/* The digits were checked; strtod needs an end, and the text has none of its own. */
static void json_convert(struct json_reader *r, struct json_node *out, size_t from, bool is_integer)
{
    char small[64];
    size_t len = r->at - from;
    char *digits = len < sizeof small ? small : mem_alloc(len + 1);
    memcpy(digits, r->text + from, len);
    digits[len] = 0;
    out->kind = JSON_NUMBER;
    errno = 0;
    out->integer = is_integer ? strtoll(digits, NULL, 10) : 0;
    out->is_integer = is_integer && !errno;
    out->number = out->is_integer ? (double)out->integer : strtod(digits, NULL);
    if (digits != small) free(digits);
}

static bool json_read_number(struct json_reader *r, struct json_node *out)
{
    size_t from = r->at;
    bool is_integer = true;
    if (json_peek(r) == '-') r->at++;
    if (json_peek(r) == '0' && r->at + 1 < r->len && json_is_digit(r->text[r->at + 1]))
        return json_error(r, "a number does not begin with 0");
    if (!json_digits(r)) return false;
    if (json_peek(r) == '.') {
        is_integer = false;
        r->at++;
        if (!json_digits(r)) return false;
    }
    if (json_peek(r) == 'e' || json_peek(r) == 'E') {
        is_integer = false;
        r->at++;
        if (json_peek(r) == '+' || json_peek(r) == '-') r->at++;
        if (!json_digits(r)) return false;
    }
    json_convert(r, out, from, is_integer);
    return isfinite(out->number) || json_error(r, "a number beyond all bounds");
}

/* ---- containers ---- */

static bool json_member(struct json_reader *r, bool is_map, int depth)
{
    struct json_node n = {0};
    json_space(r);
    if (is_map) {
        if (!json_text(r, &n.key)) return false;
        json_space(r);
        if (json_peek(r) != ':') return json_error(r, "':' must stand here");
        r->at++;
    }
    if (!json_value(r, &n, depth)) return false;
    vec_push(&r->stack, n);
    return true;
}

static bool json_container(struct json_reader *r, struct json_node *out, int depth)
{
    bool is_map = r->text[r->at] == '{';
    int close = is_map ? '}' : ']';
    uint32_t base = r->stack.len;
    if (depth >= JSON_DEPTH_MAX) return json_error(r, "too many levels");
    r->at++;
    json_space(r);
    bool more = json_peek(r) != close;
    while (more) {
        if (!json_member(r, is_map, depth + 1)) return false;
        json_space(r);
        more = json_peek(r) == ',';
        if (more) r->at++;
    }
    if (json_peek(r) != close)
        return json_error(r, is_map ? "',' or '}' must stand here" : "',' or ']' must stand here");
    r->at++;
    out->kind = is_map ? JSON_MAP : JSON_LIST;
    out->count = r->stack.len - base;
    struct json_node *items = ARENA_ARRAY(&r->tree->arena, struct json_node, out->count);
    if (out->count) memcpy(items, r->stack.data + base, out->count * sizeof *items);
    out->items = items;
    r->stack.len = base;
    return true;
}

static bool json_word(struct json_reader *r, struct json_node *out)
{
    static const struct {
        const char *word;
        enum json_kind kind;
        double number;
    } words[] = {{"true", JSON_BOOL, 1}, {"false", JSON_BOOL, 0}, {"null", JSON_NULL, 0}};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t n = strlen(words[i].word);
        if (r->len - r->at < n || strncmp(r->text + r->at, words[i].word, n)) continue;
        r->at += n;
        out->kind = words[i].kind;
        out->number = words[i].number;
        return true;
    }
    return json_error(r, "a value must stand here");
}

static bool json_value(struct json_reader *r, struct json_node *out, int depth)
{
    json_space(r);
    out->start = r->at;
    int c = json_peek(r);
    bool ok;
    if (c == '{' || c == '[') {
        ok = json_container(r, out, depth);
    } else if (c == '"') {
        out->kind = JSON_TEXT;
        ok = json_text(r, &out->text);
    } else if (c == '-' || json_is_digit(c)) {
        ok = json_read_number(r, out);
    } else {
        ok = json_word(r, out);
    }
    out->end = r->at;
    return ok;
}

bool json_tree_parse(struct json_tree *t, const char *name, const char *text, size_t len,
                     struct diag_list *diags)
{
    *t = (struct json_tree){.src = {.file = name, .text = text, .len = len}};
    struct json_reader r = {.tree = t, .text = text, .len = len, .diags = diags};
    struct json_node *root = ARENA_NEW(&t->arena, struct json_node);
    bool ok = json_value(&r, root, 0);
    json_space(&r);
    if (ok && r.at < len) ok = json_error(&r, "text after the end");
    if (ok) t->root = root;
    vec_free(&r.stack);
    strbuf_free(&r.word);
    return ok;
}

void json_tree_free(struct json_tree *t)
{
    arena_free(&t->arena);
    t->root = NULL;
}

/* ---- looking into it ---- */

const struct json_node *json_get(const struct json_node *map, const char *key)
{
    if (!map || map->kind != JSON_MAP) return NULL;
    for (uint32_t i = 0; i < map->count; i++)
        if (!strcmp(map->items[i].key, key)) return &map->items[i];
    return NULL;
}

double json_get_number(const struct json_node *map, const char *key, double absent)
{
    const struct json_node *n = json_get(map, key);
    return n && (n->kind == JSON_NUMBER || n->kind == JSON_BOOL) ? n->number : absent;
}

const char *json_get_text(const struct json_node *map, const char *key, const char *absent)
{
    const struct json_node *n = json_get(map, key);
    return n && n->kind == JSON_TEXT ? n->text : absent;
}
