/* parse_init.c: initialisers of variables (PTX ISA 5.4.4): numbers, nested braces as in C, addresses of other
 * symbols.
 *
 * (1) What is not named stays zero. (2) An address becomes a relocation over as many bytes as the element
 * has; the form mask(symbol), which gives one byte of an address, is taken when the bytes of one address
 * follow each other from the lowest on, as compilers write them, and becomes one relocation. Names in
 * addresses are looked up at the end of the module, so that two variables may hold each other's address. */
#include "ptx/parser.h"

#include "base/bits.h"

struct init {
    struct parser *p;
    struct ptx_var *v;
    uint32_t element_bytes;
    /* elements below one step of a level */
    uint64_t stride[PARSE_DIMS_MAX + 2];
    uint32_t levels;
    uint8_t *data;
    uint64_t bytes, bytes_cap;
    /* the first dimension was left open */
    bool grows;
    VEC(struct ptx_reloc) relocs;
};

/* Makes room for an element; false when it lies past the end. */
static bool reach(struct init *in, uint64_t index, const struct token *at)
{
    uint64_t end = (index + 1) * in->element_bytes;
    if (end <= in->bytes) return true;
    if (!in->grows) return parse_error(in->p, at, NULL, "too many values for the variable");
    if (end > PARSE_INIT_BYTES_MAX)
        return parse_error(in->p, at, NULL, "the initialised variable is too large");
    if (end > in->bytes_cap) {
        uint64_t cap = MAX(end, in->bytes_cap * 2);
        in->data = mem_realloc(in->data, cap);
        memset(in->data + in->bytes_cap, 0, cap - in->bytes_cap);
        in->bytes_cap = cap;
    }
    in->bytes = end;
    return true;
}

static void put_bits(struct init *in, uint64_t index, uint64_t bits)
{
    for (uint32_t i = 0; i < MIN(in->element_bytes, 8u); i++)
        in->data[index * in->element_bytes + i] = (uint8_t)(bits >> (8 * i));
}

static double real_value(const struct expr_value *v)
{
    if (!v->is_float) return v->is_unsigned ? (double)v->bits : (double)(int64_t)v->bits;
    if (!v->is_f32) return v->real;
    return (double)f32_of((uint32_t)v->bits);
}

static bool fits(const struct expr_value *v, uint32_t bytes)
{
    if (bytes >= 8) return true;
    int64_t s = (int64_t)v->bits;
    return v->bits >> (8 * bytes) == 0 || (s < 0 && !v->is_unsigned && s >= -(1ll << (8 * bytes - 1)));
}

static bool put_value(struct init *in, uint64_t index, const struct expr_value *v, const struct token *at)
{
    enum ptx_type t = (enum ptx_type)in->v->type;
    if (t == PTX_F32) {
        put_bits(in, index, v->is_f32 ? v->bits : f32_bits((float)real_value(v)));
    } else if (t == PTX_F64) {
        put_bits(in, index, v->is_float && !v->is_f32 ? v->bits : f64_bits(real_value(v)));
    } else if (v->is_float) {
        if (!(t == PTX_B32 && v->is_f32) && !(t == PTX_B64 && !v->is_f32))
            return parse_error(in->p, at, NULL, "a floating-point value does not go into %s",
                               ptx_type_name(t));
        put_bits(in, index, v->bits);
    } else {
        if (!fits(v, in->element_bytes))
            return parse_error(in->p, at, NULL, "the value does not fit into %s", ptx_type_name(t));
        put_bits(in, index, v->bits);
    }
    return true;
}

/* ---- addresses ---- */

struct address {
    struct token name;
    int64_t addend;
    bool generic;
};

/* sym, generic(sym), each with + offset */
static bool parse_symbol_address(struct parser *p, struct address *a)
{
    *a = (struct address){0};
    if (token_is(&p->tok, "generic")) {
        parse_next(p);
        a->generic = true;
        if (!parse_expect(p, '(', "'('")) return false;
    }
    if (!parse_ident(p, &a->name, "a symbol")) return false;
    for (int pass = 0; pass < 2; pass++) {
        bool minus = p->tok.kind == '-';
        if (minus || p->tok.kind == '+') {
            parse_next(p);
            int64_t v;
            if (!parse_int_expr(p, &v, "an offset")) return false;
            a->addend = (int64_t)((uint64_t)a->addend + (minus ? 0 - (uint64_t)v : (uint64_t)v));
        }
        if (pass || !a->generic) break;
        if (!parse_expect(p, ')', "')'")) return false;
    }
    vec_push(&p->reloc_uses, (struct reloc_use){a->name});
    return true;
}

static struct ptx_reloc make_reloc(struct init *in, uint64_t index, uint32_t bytes, const struct address *a)
{
    return (struct ptx_reloc){.offset = (uint32_t)(index * in->element_bytes),
                              .bytes = bytes,
                              .symbol = parse_text(in->p, &a->name),
                              .addend = a->addend,
                              .generic = a->generic};
}

static bool put_address(struct init *in, uint64_t index, const struct token *at)
{
    struct address a;
    if (!parse_symbol_address(in->p, &a)) return false;
    if (in->element_bytes != 4 && in->element_bytes != 8)
        return parse_error(in->p, at, NULL, "an address does not go into %s",
                           ptx_type_name((enum ptx_type)in->v->type));
    if (in->v->type == PTX_F32 || in->v->type == PTX_F64)
        return parse_error(in->p, at, NULL, "an address does not go into a floating-point variable");
    vec_push(&in->relocs, make_reloc(in, index, in->element_bytes, &a));
    return true;
}

/* 0xFF00(sym): byte 1 of the address, in an element of one byte */
static bool put_address_byte(struct init *in, uint64_t index, uint64_t mask, const struct token *at)
{
    struct parser *p = in->p;
    struct address a;
    if (!parse_expect(p, '(', "'('") || !parse_symbol_address(p, &a) || !parse_expect(p, ')', "')'"))
        return false;
    uint32_t byte = 0;
    while (byte < 8 && mask != 0xffull << (8 * byte)) byte++;
    if (byte == 8 || in->element_bytes != 1)
        return parse_error(p, at, NULL, "a mask selects one byte of an address and goes into a byte");
    if (!byte) {
        vec_push(&in->relocs, make_reloc(in, index, 1, &a));
        return true;
    }
    struct ptx_reloc *last = in->relocs.len ? &in->relocs.data[in->relocs.len - 1] : NULL;
    bool follows = last && last->bytes == byte && last->offset + byte == index && last->addend == a.addend &&
                   last->generic == a.generic && strlen(last->symbol) == a.name.len &&
                   !memcmp(last->symbol, a.name.text, a.name.len);
    if (!follows)
        return parse_error(p, at, "start with 0xFF(symbol) and go up byte by byte",
                           "bytes of an address must follow each other");
    last->bytes++;
    return true;
}

static bool parse_element_value(struct init *in, uint64_t index)
{
    struct parser *p = in->p;
    struct token at = p->tok;
    if (!reach(in, index, &at)) return false;
    if (at.kind == TOK_IDENT && !token_is(&at, "WARP_SZ")) return put_address(in, index, &at);
    struct expr_value v;
    if (!parse_expr(p, &v)) return false;
    if (p->tok.kind == '(' && !v.is_float) return put_address_byte(in, index, v.bits, &at);
    return put_value(in, index, &v, &at);
}

/* One brace list of a level, whose part of the variable is [first, first + room) in elements. */
static bool parse_braces(struct init *in, uint32_t level, uint64_t first, uint64_t room)
{
    struct parser *p = in->p;
    uint64_t at = 0, step = in->stride[level];
    parse_next(p);
    while (p->tok.kind != '}') {
        if (p->tok.kind == '{') {
            if (level + 1 >= in->levels)
                return parse_error(p, &p->tok, NULL, "more braces than the array has dimensions");
            at = round_up_u64(at, step);
            if (at >= room) return parse_error(p, &p->tok, NULL, "too many values for the variable");
            if (!parse_braces(in, level + 1, first + at, step)) return false;
            at += step;
        } else {
            if (at >= room) return parse_error(p, &p->tok, NULL, "too many values for the variable");
            if (!parse_element_value(in, first + at)) return false;
            at++;
        }
        if (!parse_accept(p, ',')) break;
    }
    return parse_expect(p, '}', "'}' after the values");
}

/* = { addr_mode_0 = wrap, ... } of a sampler: read and left alone. */
static bool skip_braces(struct parser *p)
{
    if (!parse_expect(p, '{', "'{'")) return false;
    for (int depth = 1; depth;) {
        if (p->tok.kind == TOK_END) return parse_error(p, &p->tok, NULL, "'{' is not closed");
        depth += (p->tok.kind == '{') - (p->tok.kind == '}');
        parse_next(p);
    }
    return true;
}

/* Counts what the module's initialisers hold in memory. */
static bool take_bytes(struct parser *p, uint64_t bytes, const struct token *at)
{
    if (bytes > PARSE_INIT_BYTES_MAX - p->init_bytes)
        return parse_error(p, at, NULL, "the initialised variables of a module have at most 2^30 bytes");
    p->init_bytes += bytes;
    return true;
}

static bool start(struct init *in, const struct array_dims *dims, const struct token *at)
{
    struct ptx_var *v = in->v;
    uint64_t all[PARSE_DIMS_MAX + 1];
    in->levels = dims->count;
    memcpy(all, dims->len, sizeof all[0] * dims->count);
    if (v->vec) all[in->levels++] = v->vec;
    in->stride[in->levels ? in->levels - 1 : 0] = 1;
    for (uint32_t i = in->levels; i-- > 1;) in->stride[i - 1] = in->stride[i] * all[i];
    in->element_bytes = ptx_type_bytes((enum ptx_type)v->type);
    in->grows = v->is_unsized;
    if (in->grows && !in->stride[0]) return parse_error(in->p, at, NULL, "the array has no elements");
    if (in->grows) return true;
    if (!take_bytes(in->p, v->bytes, at)) return false;
    in->bytes = v->bytes;
    in->data = arena_alloc(&in->p->module->arena, in->bytes);
    return true;
}

static bool finish_open_array(struct init *in, struct array_dims *dims, const struct token *at)
{
    struct parser *p = in->p;
    uint64_t row = in->stride[0] * in->element_bytes, bytes = round_up_u64(in->bytes, row);
    dims->len[0] = bytes / row;
    if (!take_bytes(p, bytes, at)) return false;
    in->v->bytes = bytes;
    in->v->is_unsized = false;
    in->v->init = arena_alloc(&p->module->arena, bytes);
    if (in->bytes) memcpy(in->v->init, in->data, in->bytes);
    return true;
}

static bool check_space(struct parser *p, const struct token *at, const struct ptx_var *v)
{
    if (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST) {
        if (!v->is_extern) return true;
        return parse_error(p, at, NULL, "an .extern variable cannot be initialised here");
    }
    return parse_error(p, at, NULL, "only .global and .const variables can be initialised");
}

bool parse_initialiser(struct parser *p, struct ptx_var *v, struct array_dims *dims)
{
    struct token at = p->tok;
    struct init in = {.p = p, .v = v};
    parse_next(p);
    if (!check_space(p, &at, v)) return false;
    if (v->type >= PTX_TEXREF) return skip_braces(p);
    if (v->type == PTX_B128 || v->type == PTX_F16 || v->type == PTX_F16X2)
        return parse_error(p, &at, "declare it as .b16, .b32 or .b64", "%s variables cannot be initialised",
                           ptx_type_name((enum ptx_type)v->type));
    if (!start(&in, dims, &at)) return false;
    bool ok;
    if (p->tok.kind == '{' && in.levels)
        ok = parse_braces(&in, 0, 0, in.grows ? UINT64_MAX : in.bytes / MAX(in.element_bytes, 1u));
    else if (in.levels)
        ok = parse_expect(p, '{', "'{': the variable is an array");
    else if (p->tok.kind == '{') /* a scalar may have braces too */
        ok = (parse_next(p), parse_element_value(&in, 0)) && parse_expect(p, '}', "'}'");
    else
        ok = parse_element_value(&in, 0);
    if (ok && in.grows) ok = finish_open_array(&in, dims, &at);
    if (ok && !in.grows) v->init = in.data;
    if (ok) PARSE_KEEP(p, in.relocs, v->relocs, v->reloc_count);
    if (in.grows) free(in.data);
    vec_free(&in.relocs);
    return ok;
}

void check_relocs(struct parser *p)
{
    for (uint32_t i = 0; i < p->reloc_uses.len && !parse_stopped(p); i++) {
        const struct token *name = &p->reloc_uses.data[i].name;
        struct symbol *s = map_get_n(&p->module_scope->names, name->text, name->len);
        if (!s) scope_undefined(p, name, "symbol");
    }
}
