/* reference.c: interprets the template of a form, statement by statement, each for all threads of the launch.
 *
 * That order is one that the machine may take, since threads meet only at barriers and in warp-wide
 * instructions. Addresses are numbers of this file's own making: windows for shared and local memory as PTX
 * has them. */
#include "reference.h"

#include "opcode_texture.h"

#include <ctype.h>

enum { VARS_MAX = 128, OPERANDS_MAX = 8, WARP = 32, STATEMENTS_MAX = 16 };
#define SHARED_WINDOW (1ull << 40)
#define LOCAL_WINDOW  (1ull << 41)
#define GLOBAL_BASE   (1ull << 44)
#define WINDOW_BYTES  (1ull << 24)

enum operand_kind { O_VAR, O_IMM, O_SREG, O_LIST, O_ADDR, O_PAIR, O_SINK };

struct operand {
    enum operand_kind kind;
    bool not ;
    /* VAR, ADDR: [0]; LIST, PAIR: all; UINT32_MAX = sink */
    uint32_t var[4];
    uint32_t count;
    /* IMM, or the offset of ADDR */
    uint64_t imm;
    char sreg[24];
    /* video: -$a */
    bool minus;
    /* video: $a.b0 */
    char part[8];
};

struct statement {
    struct ref_op op;
    /* variable or -1 */
    int32_t guard;
    bool guard_not;
    struct operand operand[OPERANDS_MAX];
    uint32_t count;
};

struct machine {
    const struct form *form;
    uint32_t threads, cta_threads;
    /* by letter; each `threads` long */
    uint64_t *var[VARS_MAX];
    /* upper halves of 128-bit variables */
    uint64_t *wide[VARS_MAX];
    bool *carry;
    uint8_t *global, *shared, *local;
    size_t global_bytes;
    uint32_t shared_bytes;
    uint64_t ticks;
};

/* ---- words ---- */

bool ref_has(const struct ref_op *op, const char *word)
{
    for (uint32_t i = 1; i < op->count; i++)
        if (!strcmp(op->word[i], word)) return true;
    return false;
}

const char *ref_last(const struct ref_op *op) { return op->word[op->count - 1]; }

uint32_t ref_type_bits(const char *type)
{
    if (!strcmp(type, "pred")) return 1;
    if (strstr(type, "16x2")) return 32;
    if (!strcmp(type, "tf32")) return 32;
    if (!strcmp(type, "e4m3x2") || !strcmp(type, "e5m2x2")) return 16;
    const char *p = type + strcspn(type, "0123456789");
    if (p == type || !strchr("usbf", *type)) return 0;
    return (uint32_t)atoi(p);
}

static void op_split(struct ref_op *op, const char *text, size_t len)
{
    if (len >= sizeof op->text) len = sizeof op->text - 1;
    memcpy(op->text, text, len);
    op->text[len] = 0;
    op->count = 0;
    for (char *p = op->text; p && op->count < REF_WORDS_MAX;) {
        op->word[op->count++] = p;
        p = strchr(p, '.');
        if (p) *p++ = 0;
    }
}

/* ---- reading a statement ---- */

static const char *skip_space(const char *p)
{
    while (isspace((unsigned char)*p)) p++;
    return p;
}

/* The number of a variable: the letter after '$', or 'A'-based numbers for %q registers. */
static const char *read_var(const char *p, uint32_t *var)
{
    if (*p == '_') {
        *var = UINT32_MAX;
        return p + 1;
    }
    if (*p == '%') { /* %q<number>, 128 bits */
        *var = (uint32_t)(1 + p[2] - '0');
        return p + 3;
    }
    *var = (uint32_t)p[1];
    return p + 2;
}

static const char *read_list(const char *p, struct operand *o)
{
    o->kind = O_LIST;
    for (p = skip_space(p + 1); *p && *p != '}' && o->count < 4; p = skip_space(p)) {
        p = read_var(p, &o->var[o->count++]);
        p = skip_space(p);
        if (*p == ',') p++;
    }
    return *p ? p + 1 : p;
}

static const char *read_address(const char *p, struct operand *o)
{
    o->kind = O_ADDR;
    p = read_var(skip_space(p + 1), &o->var[0]);
    if (*p == '+') o->imm = strtoull(p + 1, (char **)(uintptr_t)&p, 0);
    p = skip_space(p);
    if (*p == ',') { /* a texture and its coordinates */
        struct operand coords = {0};
        p = read_list(skip_space(p + 1), &coords);
        memcpy(o->var, coords.var, sizeof o->var);
        o->count = coords.count;
    }
    p += strcspn(p, "]");
    return *p ? p + 1 : p;
}

static const char *read_operand(const char *p, struct operand *o)
{
    p = skip_space(p);
    *o = (struct operand){0};
    if (*p == '!') {
        o->not = true;
        p++;
    }
    if (*p == '-' && p[1] == '$') {
        o->minus = true;
        p++;
    }
    if (*p == '{') return read_list(p, o);
    if (*p == '[') return read_address(p, o);
    if (*p == '_' || *p == '$' || (*p == '%' && p[1] == 'q')) {
        o->kind = *p == '_' ? O_SINK : O_VAR;
        o->count = 1;
        p = read_var(p, &o->var[0]);
        if (*p == '|') {
            o->kind = O_PAIR;
            o->count = 2;
            p = read_var(p + 1, &o->var[1]);
        }
        if (*p == '.') {
            size_t len = strcspn(p, ",; ");
            snprintf(o->part, sizeof o->part, "%.*s", (int)len - 1, p + 1);
            p += len;
        }
        return p;
    }
    if (*p == '%') {
        size_t len = strcspn(p, ",; ");
        if (len >= sizeof o->sreg) len = sizeof o->sreg - 1;
        o->kind = O_SREG;
        memcpy(o->sreg, p + 1, len - 1);
        return p + len;
    }
    o->kind = O_IMM;
    bool minus = *p == '-';
    char *end;
    o->imm = strtoull(p + minus, &end, 0);
    if (minus) o->imm = -o->imm;
    return end > p + minus ? end : p + strcspn(p, ",;");
}

static const char *read_statement(const char *p, struct statement *s)
{
    *s = (struct statement){.guard = -1};
    p = skip_space(p);
    if (*p == '@') {
        s->guard_not = p[1] == '!';
        p += 1 + s->guard_not;
        s->guard = p[1];
        p = skip_space(p + 2);
    }
    size_t len = strcspn(p, " ;");
    op_split(&s->op, p, len);
    p = skip_space(p + len);
    while (*p && *p != ';' && s->count < OPERANDS_MAX) {
        p = skip_space(read_operand(p, &s->operand[s->count++]));
        if (*p == ',') p++;
    }
    p += strcspn(p, ";");
    return *p ? p + 1 : p;
}

/* ---- threads, special registers, memory ---- */

static uint64_t *var_row(struct machine *m, uint32_t v)
{
    if (!m->var[v]) m->var[v] = mem_zalloc(sizeof(uint64_t) * m->threads);
    return m->var[v];
}

static uint64_t *wide_row(struct machine *m, uint32_t v)
{
    if (!m->wide[v]) m->wide[v] = mem_zalloc(sizeof(uint64_t) * m->threads);
    return m->wide[v];
}

static uint64_t sreg_value(struct machine *m, const char *name, uint32_t thread)
{
    const uint32_t *b = m->form->block, *g = m->form->grid;
    uint32_t t = thread % m->cta_threads, c = thread / m->cta_threads, lane = t % WARP;
    uint32_t tid[3] = {t % b[0], t / b[0] % b[1], t / b[0] / b[1]};
    uint32_t ctaid[3] = {c % g[0], c / g[0] % g[1], c / g[0] / g[1]};
    size_t len = strlen(name);
    uint32_t comp = len > 2 && name[len - 2] == '.' ? (uint32_t)(name[len - 1] - 'x') : 0;
    size_t base = len > 2 && name[len - 2] == '.' ? len - 2 : len;
    struct {
        const char *name;
        uint64_t value;
    } table[] = {
        {"tid", tid[comp]},
        {"ntid", b[comp]},
        {"ctaid", ctaid[comp]},
        {"nctaid", g[comp]},
        {"laneid", lane},
        {"warpid", t / WARP},
        {"lanemask_eq", 1u << lane},
        {"lanemask_lt", (1u << lane) - 1},
        {"lanemask_le", ((1u << lane) - 1) | 1u << lane},
        {"lanemask_ge", ~((1u << lane) - 1)},
        {"lanemask_gt", ~(((1u << lane) - 1) | 1u << lane)},
        {"clusterid", ctaid[comp]},
        {"nclusterid", g[comp]},
        {"cluster_ctaid", 0},
        {"cluster_nctaid", 1},
        {"cluster_ctarank", 0},
        {"cluster_nctarank", 1},
        {"dynamic_smem_size", 0},
        {"clock64", m->ticks++},
        {"nwarpid", 64},
        {"nsmid", 132},
        {"smid", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (strlen(table[i].name) == base && !memcmp(table[i].name, name, base)) return table[i].value;
    return 0;
}

static uint8_t *memory_at(struct machine *m, const struct ref_op *op, uint32_t thread, uint64_t address)
{
    if (ref_has(op, "shared")) address |= SHARED_WINDOW;
    if (ref_has(op, "local")) address |= LOCAL_WINDOW;
    if (address >= GLOBAL_BASE) return m->global + (address - GLOBAL_BASE);
    if (address >= LOCAL_WINDOW)
        return m->local + (size_t)thread * FORM_CELL_BYTES + (address & (WINDOW_BYTES - 1));
    return m->shared + (size_t)(thread / m->cta_threads) * m->shared_bytes + (address & (WINDOW_BYTES - 1));
}

static uint64_t operand_value(struct machine *m, const struct operand *o, uint32_t thread)
{
    switch (o->kind) {
    case O_VAR: return o->not ? !var_row(m, o->var[0])[thread] : var_row(m, o->var[0])[thread];
    case O_SREG: return sreg_value(m, o->sreg, thread);
    case O_ADDR: return var_row(m, o->var[0])[thread] + o->imm;
    default: return o->imm;
    }
}

/* Variables are as wide as their registers; this cuts what does not fit. */
static uint32_t var_bits(const struct machine *m, uint32_t v)
{
    static const uint8_t bytes_to_bits[] = {0, 16, 16, 0, 32, 0, 0, 0, 64};
    const char *outs = "defh", *ins = "abcx", *at;
    if (v && (at = strchr(outs, (int)v)) && at - outs < m->form->out_count)
        return m->form->outs[at - outs].type == T_PRED
                   ? 1
                   : bytes_to_bits[form_type_bytes(m->form->outs[at - outs].type)];
    if (v && (at = strchr(ins, (int)v)) && at - ins < m->form->in_count)
        return m->form->ins[at - ins].type == T_PRED
                   ? 1
                   : bytes_to_bits[form_type_bytes(m->form->ins[at - ins].type)];
    if (v == 'p' || v == 'q') return 1;
    if (v == 'u' || v == 'v' || v == 's' || v == 'S') return 32;
    if (v == 'w' || v == 'y') return 16;
    return 64;
}

static void set_var(struct machine *m, uint32_t v, uint32_t thread, uint64_t value)
{
    if (v == UINT32_MAX) return;
    uint32_t bits = var_bits(m, v);
    var_row(m, v)[thread] = bits == 64 ? value : value & ((1ull << bits) - 1);
}

static bool active(struct machine *m, const struct statement *s, uint32_t thread)
{
    return s->guard < 0 || (var_row(m, (uint32_t)s->guard)[thread] != 0) != s->guard_not;
}

/* ---- memory statements ---- */

/* A value of a type, extended to 64 bits as a load does. */
static uint64_t extend(const char *type, uint64_t value)
{
    uint32_t bits = ref_type_bits(type);
    if (bits >= 64) return value;
    value &= (1ull << bits) - 1;
    if (*type == 's' && value >> (bits - 1)) value |= ~0ull << bits;
    return value;
}

static void exec_load(struct machine *m, const struct statement *s, uint32_t thread)
{
    const struct operand *d = &s->operand[0];
    uint32_t bytes = ref_type_bits(ref_last(&s->op)) / 8;
    const uint8_t *p = memory_at(m, &s->op, thread, operand_value(m, &s->operand[1], thread));
    if (bytes == 16) {
        memcpy(&var_row(m, d->var[0])[thread], p, 8);
        memcpy(&wide_row(m, d->var[0])[thread], p + 8, 8);
        return;
    }
    for (uint32_t i = 0; i < d->count; i++) {
        uint64_t v = 0;
        memcpy(&v, p + (size_t)i * bytes, bytes);
        set_var(m, d->var[i], thread, extend(ref_last(&s->op), v));
    }
}

static void exec_store(struct machine *m, const struct statement *s, uint32_t thread)
{
    const struct operand *v = &s->operand[1];
    uint32_t bytes = ref_type_bits(ref_last(&s->op)) / 8;
    uint8_t *p = memory_at(m, &s->op, thread, operand_value(m, &s->operand[0], thread));
    if (bytes == 16) {
        memcpy(p, &var_row(m, v->var[0])[thread], 8);
        memcpy(p + 8, &wide_row(m, v->var[0])[thread], 8);
        return;
    }
    for (uint32_t i = 0; i < MAX(v->count, 1u); i++) {
        uint64_t value = v->kind == O_LIST ? var_row(m, v->var[i])[thread] : operand_value(m, v, thread);
        memcpy(p + (size_t)i * bytes, &value, bytes);
    }
}

static bool exec_atomic_wide(struct machine *m, const struct statement *s, uint32_t thread)
{
    uint8_t *p = memory_at(m, &s->op, thread, operand_value(m, &s->operand[1], thread));
    uint32_t d = s->operand[0].var[0], b = s->operand[2].var[0];
    uint64_t old[2], value[2] = {var_row(m, b)[thread], wide_row(m, b)[thread]};
    memcpy(old, p, 16);
    if (ref_has(&s->op, "cas")) {
        bool equal = value[0] == old[0] && value[1] == old[1];
        uint32_t c = s->operand[3].var[0];
        value[0] = equal ? var_row(m, c)[thread] : old[0];
        value[1] = equal ? wide_row(m, c)[thread] : old[1];
    }
    memcpy(p, value, 16);
    var_row(m, d)[thread] = old[0];
    wide_row(m, d)[thread] = old[1];
    return true;
}

static bool exec_atomic(struct machine *m, const struct statement *s, uint32_t thread)
{
    static const char *const ops[] = {"and", "or", "xor", "exch", "add", "min", "max", "inc", "dec", "cas"};
    const char *type = ref_last(&s->op), *name = NULL;
    if (!strcmp(type, "b128")) return exec_atomic_wide(m, s, thread);
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (ref_has(&s->op, ops[i])) name = ops[i];
    bool returns = !strcmp(s->op.word[0], "atom");
    const struct operand *address = &s->operand[returns], *b = &s->operand[returns + 1];
    uint32_t bytes = ref_type_bits(type) / 8;
    uint8_t *p = memory_at(m, &s->op, thread, operand_value(m, address, thread));
    uint64_t c = s->count > returns + 2u ? operand_value(m, &s->operand[returns + 2], thread) : 0;
    for (uint32_t i = 0; i < MAX(b->count, 1u); i++) {
        uint64_t old = 0, value,
                 operand = b->kind == O_LIST ? var_row(m, b->var[i])[thread] : operand_value(m, b, thread);
        memcpy(&old, p + (size_t)i * bytes, bytes);
        if (!name || !ref_atomic(name, type, old, operand, c,
                                 p >= m->global && p < m->global + m->global_bytes, &value))
            return false;
        memcpy(p + (size_t)i * bytes, &value, bytes);
        if (returns) set_var(m, s->operand[0].var[i], thread, old);
    }
    return true;
}

static void exec_copy_async(struct machine *m, const struct statement *s, uint32_t thread)
{
    struct ref_op shared = {.word = {"", "shared"}, .count = 2},
                  global = {.word = {"", "global"}, .count = 2};
    uint64_t size = s->operand[2].imm, copied = s->count > 3 ? s->operand[3].imm : size;
    uint8_t *to = memory_at(m, &shared, thread, operand_value(m, &s->operand[0], thread));
    memset(to, 0, size);
    memcpy(to, memory_at(m, &global, thread, operand_value(m, &s->operand[1], thread)), copied);
}

/* ---- moves that pack ---- */

static void exec_mov(struct machine *m, const struct statement *s, uint32_t thread)
{
    const struct operand *d = &s->operand[0], *a = &s->operand[1];
    uint32_t bits = ref_type_bits(ref_last(&s->op));
    if (bits == 128) {
        if (a->kind == O_LIST) {
            var_row(m, d->var[0])[thread] = var_row(m, a->var[0])[thread];
            wide_row(m, d->var[0])[thread] = var_row(m, a->var[1])[thread];
        } else {
            set_var(m, d->var[0], thread, var_row(m, a->var[0])[thread]);
            set_var(m, d->var[1], thread, wide_row(m, a->var[0])[thread]);
        }
        return;
    }
    uint64_t value = 0;
    if (a->kind == O_LIST) {
        uint32_t part = bits / a->count;
        for (uint32_t i = 0; i < a->count; i++)
            value |= (var_row(m, a->var[i])[thread] & ((1ull << part) - 1)) << (i * part);
    } else {
        value = operand_value(m, a, thread);
    }
    uint32_t part = bits / d->count;
    for (uint32_t i = 0; i < d->count; i++)
        set_var(m, d->var[i], thread, d->count == 1 ? value : value >> (i * part) & ((1ull << part) - 1));
}

static void exec_address(struct machine *m, const struct statement *s, uint32_t thread)
{
    uint64_t a = operand_value(m, &s->operand[1], thread);
    uint64_t window = ref_has(&s->op, "shared") ? SHARED_WINDOW : ref_has(&s->op, "local") ? LOCAL_WINDOW : 0;
    if (!strcmp(s->op.word[0], "isspacep")) {
        bool in_window = window ? a >= window && a < window + WINDOW_BYTES : a >= GLOBAL_BASE;
        set_var(m, s->operand[0].var[0], thread, in_window);
    } else {
        set_var(m, s->operand[0].var[0], thread, ref_has(&s->op, "to") ? a - window : a + window);
    }
}

/* ---- statements of one thread ---- */

/* The layers count as the dimension after the last one, cube by cube (as on silicon). */
static uint32_t texture_size(const struct ref_op *op, const struct tex_desc *t)
{
    uint32_t layers = t->is_cube ? t->layers / 6 : t->layers;
    if (ref_has(op, "width")) return t->width;
    if (ref_has(op, "height")) return t->dims > 1 ? t->height : layers ? layers : 1;
    return t->dims > 2 ? t->depth : t->dims == 2 && layers > 1 ? layers : 0;
}

static bool exec_texture(struct machine *m, const struct statement *s, uint32_t thread)
{
    uint64_t coords[4] = {0}, out[4] = {0};
    struct tex_desc t;
    if (!strcmp(s->op.word[0], "txq")) {
        if (!tex_parse(m->form->tex, &t)) return false;
        bool is_there = !ref_has(&s->op, "level") || !operand_value(m, &s->operand[2], thread);
        out[0] = is_there ? texture_size(&s->op, &t) : 0; /* each texture has one level */
        set_var(m, s->operand[0].var[0], thread, out[0]);
        return true;
    }
    for (uint32_t i = 0; i < s->operand[1].count; i++) coords[i] = var_row(m, s->operand[1].var[i])[thread];
    if (!ref_texture(&s->op, m->form->tex, coords, out)) return false;
    for (uint32_t i = 0; i < s->operand[0].count; i++) set_var(m, s->operand[0].var[i], thread, out[i]);
    return true;
}

static bool exec_arithmetic(struct machine *m, const struct statement *s, uint32_t thread)
{
    struct ref_args a = {.carry = m->carry[thread]};
    for (uint32_t i = 1; i < s->count && a.count < REF_SOURCES_MAX; i++)
        a.src[a.count++] = operand_value(m, &s->operand[i], thread);
    if (!ref_eval(&s->op, &a)) return false;
    m->carry[thread] = a.carry;
    for (uint32_t i = 0; i < s->operand[0].count; i++) set_var(m, s->operand[0].var[i], thread, a.dst[i]);
    return true;
}

static void exec_video(struct machine *m, const struct statement *s, uint32_t thread)
{
    struct ref_video v = {0};
    for (uint32_t i = 0; i < s->count && i < ARRAY_LEN(v.part); i++) {
        memcpy(v.part[i], s->operand[i].part, sizeof v.part[i]);
        v.minus[i] = s->operand[i].minus;
        if (i) v.src[i - 1] = operand_value(m, &s->operand[i], thread);
    }
    ref_video(&s->op, &v);
    set_var(m, s->operand[0].var[0], thread, v.dst);
}

static bool exec_thread(struct machine *m, const struct statement *s, uint32_t thread)
{
    const char *op = s->op.word[0];
    if (!strcmp(op, "ld") || !strcmp(op, "ldu"))
        exec_load(m, s, thread);
    else if (!strcmp(op, "st"))
        exec_store(m, s, thread);
    else if (!strcmp(op, "atom") || !strcmp(op, "red"))
        return exec_atomic(m, s, thread);
    else if (!strcmp(op, "mov"))
        exec_mov(m, s, thread);
    else if (!strcmp(op, "cvta") || !strcmp(op, "isspacep"))
        exec_address(m, s, thread);
    else if (!strcmp(op, "tex") || !strcmp(op, "txq"))
        return exec_texture(m, s, thread);
    else if (ref_is_video(op))
        exec_video(m, s, thread);
    else if (!strcmp(op, "cp") && ref_has(&s->op, "bulk"))
        return false;
    else if (!strcmp(op, "cp")) {
        if (s->count >= 3) exec_copy_async(m, s, thread);
    } else
        return exec_arithmetic(m, s, thread);
    return true;
}

/* ---- statements of a whole warp or CTA ---- */

static uint32_t shuffle_lane(const struct ref_op *op, uint32_t lane, uint32_t b, uint32_t c, bool *inside)
{
    /* The manual's pseudo-code of shfl. */
    uint32_t bval = b & 0x1f, cval = c & 0x1f, mask = c >> 8 & 0x1f;
    int32_t max_lane = (int32_t)((lane & mask) | (cval & ~mask)), min_lane = (int32_t)(lane & mask), j;
    if (ref_has(op, "up")) {
        j = (int32_t)lane - (int32_t)bval;
        *inside = j >= max_lane;
    } else {
        j = ref_has(op, "down")   ? (int32_t)(lane + bval)
            : ref_has(op, "bfly") ? (int32_t)(lane ^ bval)
                                  : (int32_t)((uint32_t)min_lane | (bval & ~mask));
        *inside = j <= max_lane;
    }
    return *inside ? (uint32_t)j : lane;
}

static uint64_t reduce(const struct ref_op *op, const uint64_t *v, uint32_t members)
{
    uint64_t total = 0;
    bool first = true;
    for (uint32_t l = 0; l < WARP; l++) {
        if (!(members >> l & 1)) continue;
        if (first)
            total = v[l];
        else
            ref_atomic(op->word[2], ref_last(op), total, v[l], 0, false, &total);
        first = false;
    }
    return total;
}

struct warp_view {
    uint64_t *v;
    uint32_t members;
}; /* values of the first source and the lanes that take part */

static void exec_warp_lane(struct machine *m, const struct statement *s, const struct warp_view *w,
                           uint32_t base, uint32_t l)
{
    const struct ref_op *op = &s->op;
    const struct operand *d = &s->operand[0];
    uint32_t ones = 0, same = 0;
    for (uint32_t k = 0; k < WARP; k++) {
        if (w->members >> k & 1 && w->v[k]) ones |= 1u << k;
        if (w->members >> k & 1 && w->v[k] == w->v[l]) same |= 1u << k;
    }
    if (!strcmp(op->word[0], "shfl")) {
        bool inside;
        uint32_t from = shuffle_lane(op, l, (uint32_t)operand_value(m, &s->operand[2], base + l),
                                     (uint32_t)operand_value(m, &s->operand[3], base + l), &inside);
        set_var(m, d->var[0], base + l, w->v[from]);
        if (d->kind == O_PAIR) set_var(m, d->var[1], base + l, inside);
    } else if (!strcmp(op->word[0], "vote")) {
        uint64_t r = ref_has(op, "ballot") ? ones
                     : ref_has(op, "any")  ? ones != 0
                     : ref_has(op, "all")  ? ones == w->members
                                           : ones == 0 || ones == w->members;
        set_var(m, d->var[0], base + l, r);
    } else if (!strcmp(op->word[0], "match")) {
        bool all = ref_has(op, "all");
        set_var(m, d->var[0], base + l, all ? same == w->members ? w->members : 0 : same);
        if (d->kind == O_PAIR) set_var(m, d->var[1], base + l, same == w->members);
    } else if (!strcmp(op->word[0], "redux")) {
        set_var(m, d->var[0], base + l, reduce(op, w->v, w->members));
    } else if (!strcmp(op->word[0], "elect")) { /* the lowest lane; the manual leaves the choice open */
        uint32_t leader = (uint32_t)__builtin_ctz(w->members);
        set_var(m, d->var[0], base + l, leader);
        set_var(m, d->var[1], base + l, l == leader);
    } else { /* activemask */
        set_var(m, d->var[0], base + l, w->members);
    }
}

static void exec_warp(struct machine *m, const struct statement *s, uint32_t base)
{
    uint64_t v[WARP] = {0};
    struct warp_view w = {.v = v};
    bool has_source = strcmp(s->op.word[0], "activemask") && strcmp(s->op.word[0], "elect");
    for (uint32_t l = 0; l < WARP; l++) {
        if (!active(m, s, base + l)) continue;
        w.members |= 1u << l;
        if (has_source) v[l] = operand_value(m, &s->operand[1], base + l);
    }
    for (uint32_t l = 0; l < WARP; l++)
        if (w.members >> l & 1) exec_warp_lane(m, s, &w, base, l);
}

static void exec_barrier_reduce(struct machine *m, const struct statement *s, uint32_t base)
{
    uint32_t ones = 0;
    for (uint32_t t = 0; t < m->cta_threads; t++) ones += operand_value(m, &s->operand[2], base + t) != 0;
    uint64_t r = ref_has(&s->op, "popc") ? ones : ref_has(&s->op, "and") ? ones == m->cta_threads : ones != 0;
    for (uint32_t t = 0; t < m->cta_threads; t++) set_var(m, s->operand[0].var[0], base + t, r);
}

static bool exec_statement(struct machine *m, const struct statement *s)
{
    static const char *const warp_wide[] = {"shfl", "vote", "match", "redux", "activemask", "elect"};
    static const char *const order_only[] = {"", "membar", "fence",
                                             "barrier"}; /* "": a declaration such as .reg */
    const char *op = s->op.word[0];
    for (size_t i = 0; i < ARRAY_LEN(order_only); i++)
        if (!strcmp(op, order_only[i])) return true;
    if (!strcmp(op, "bar")) {
        for (uint32_t t = 0; ref_has(&s->op, "red") && t < m->threads; t += m->cta_threads)
            exec_barrier_reduce(m, s, t);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(warp_wide); i++)
        if (!strcmp(op, warp_wide[i])) {
            for (uint32_t t = 0; t < m->threads; t += WARP) exec_warp(m, s, t);
            return true;
        }
    for (uint32_t t = 0; t < m->threads; t++)
        if (active(m, s, t) && !exec_thread(m, s, t)) return false;
    return true;
}

/* ---- a form ---- */

static void machine_init(struct machine *m, const struct form *f, const uint64_t *in)
{
    *m = (struct machine){.form = f,
                          .threads = f->n,
                          .cta_threads = f->block[0] * f->block[1] * f->block[2],
                          .shared_bytes = FORM_CELL_BYTES * (FORM_CTA_THREADS_MAX + 1)};
    uint32_t ctas = m->threads / m->cta_threads;
    m->carry = mem_zalloc(m->threads);
    m->global_bytes = 4096 + (size_t)m->threads * FORM_CELL_BYTES;
    m->global = mem_zalloc(m->global_bytes);
    m->shared = mem_zalloc((size_t)ctas * m->shared_bytes);
    m->local = mem_zalloc((size_t)m->threads * FORM_CELL_BYTES);
    for (uint32_t k = 0; k < f->in_count; k++)
        memcpy(var_row(m, (uint32_t) "abcx"[k]), in + (size_t)k * f->n, sizeof(uint64_t) * f->n);
    bool shared = strstr(f->body, "shared"), local = !shared && strstr(f->body, "local");
    for (uint32_t t = 0; t < m->threads; t++) {
        uint32_t cta = t / m->cta_threads;
        var_row(m, 'g')[t] = GLOBAL_BASE + 4096 + (uint64_t)t * FORM_CELL_BYTES;
        var_row(m, 'G')[t] = GLOBAL_BASE + (uint64_t)cta * FORM_CELL_BYTES;
        var_row(m, 's')[t] = FORM_CELL_BYTES + (uint64_t)(t % m->cta_threads) * FORM_CELL_BYTES;
        var_row(m, 'S')[t] = var_row(m, 'l')[t] = 0;
        var_row(m, 'm')[t] = var_row(m, shared ? 's' : local ? 'l' : 'g')[t];
        var_row(m, 'M')[t] = var_row(m, shared ? 'S' : 'G')[t];
    }
}

static void machine_free(struct machine *m)
{
    for (int v = 0; v < VARS_MAX; v++) {
        free(m->var[v]);
        free(m->wide[v]);
    }
    free(m->carry);
    free(m->global);
    free(m->shared);
    free(m->local);
}

bool ref_eval(const struct ref_op *op, struct ref_args *a)
{
    if (!strcmp(op->word[0], "cvt")) return ref_eval_cvt(op, a);
    return ref_eval_int(op, a) || ref_eval_float(op, a);
}

bool reference_run(const struct form *f, const uint64_t *in, uint64_t *out)
{
    struct machine m;
    machine_init(&m, f, in);
    bool ok = true;
    for (const char *p = f->body; ok && *skip_space(p);) {
        struct statement *s = mem_alloc(sizeof *s);
        p = read_statement(p, s);
        ok = exec_statement(&m, s);
        free(s);
    }
    for (uint32_t k = 0; ok && k < f->out_count; k++) {
        uint32_t bytes = form_type_bytes(f->outs[k].type);
        const uint64_t *row = var_row(&m, (uint32_t) "defh"[k]);
        for (uint32_t i = 0; i < f->n; i++)
            out[(size_t)k * f->n + i] = bytes == 8 ? row[i] : row[i] & ((1ull << bytes * 8) - 1);
    }
    machine_free(&m);
    return ok;
}
