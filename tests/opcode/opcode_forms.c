/* opcode_forms.c: reading forms.tsv and writing one PTX kernel a form. See opcode_forms.h and the head of
 * forms.tsv. */
#include "opcode_forms.h"

static const struct type_row {
    const char *name;
    const char *reg; /* type of its register */
    const char *mem; /* type with which it is loaded and stored */
    uint32_t bytes;
} types[T_COUNT] = {
    [T_PRED] = {"pred", "pred", "u32", 4},    [T_U8] = {"u8", "u16", "u8", 1},
    [T_S8] = {"s8", "s16", "s8", 1},          [T_B8] = {"b8", "b16", "b8", 1},
    [T_U16] = {"u16", "u16", "u16", 2},       [T_S16] = {"s16", "s16", "u16", 2},
    [T_B16] = {"b16", "b16", "b16", 2},       [T_U32] = {"u32", "u32", "u32", 4},
    [T_S32] = {"s32", "s32", "u32", 4},       [T_B32] = {"b32", "b32", "b32", 4},
    [T_U64] = {"u64", "u64", "u64", 8},       [T_S64] = {"s64", "s64", "u64", 8},
    [T_B64] = {"b64", "b64", "b64", 8},       [T_F16] = {"f16", "b16", "b16", 2},
    [T_BF16] = {"bf16", "b16", "b16", 2},     [T_F16X2] = {"f16x2", "b32", "b32", 4},
    [T_BF16X2] = {"bf16x2", "b32", "b32", 4}, [T_F32] = {"f32", "f32", "f32", 4},
    [T_F64] = {"f64", "f64", "f64", 8},
};

static const char out_letters[] = "defh", in_letters[] = "abcx";

uint32_t form_type_bytes(enum form_type t) { return types[t].bytes; }
const char *form_type_name(enum form_type t) { return types[t].name; }

/* ---- reading ---- */

enum { COLUMNS_MAX = 6, GROUPS_MAX = 8, CHOICES_MAX = 40 };
enum column { COL_FAMILY, COL_CHECK, COL_OUTS, COL_INS, COL_BODY, COL_OPTS };

struct group {
    const char *choice[CHOICES_MAX];
    size_t len[CHOICES_MAX];
    uint32_t count;
};

struct row {
    char *col[COLUMNS_MAX];
    struct group groups[GROUPS_MAX];
    uint32_t group_count, pick[GROUPS_MAX];
    int line;
};

static bool row_add_groups(struct row *r, const char *text)
{
    for (const char *p = strchr(text, '<'); p; p = strchr(p, '<')) {
        /* A register range such as %q<3> is PTX's own. */
        if (p > text && p[-1] >= 'a' && p[-1] <= 'z' && p[1] >= '0' && p[1] <= '9' && p[2] == '>') {
            p += 3;
            continue;
        }
        if (r->group_count == GROUPS_MAX) return false;
        struct group *g = &r->groups[r->group_count++];
        const char *end = strchr(p, '>');
        if (!end) return false;
        for (const char *c = p + 1; c <= end;) {
            const char *stop = c;
            while (stop < end && *stop != '|') stop++;
            if (g->count == CHOICES_MAX) return false;
            g->choice[g->count] = c;
            g->len[g->count++] = (size_t)(stop - c);
            c = stop + 1;
        }
        p = end + 1;
    }
    return true;
}

/* Copies a column with its groups and back references chosen. next = number of its first group. */
static char *row_expand(struct forms *f, const struct row *r, const char *text, uint32_t next)
{
    struct strbuf s = {0};
    for (const char *p = text; *p;) {
        bool range = *p == '<' && p > text && p[-1] >= 'a' && p[-1] <= 'z' && p[1] >= '0' && p[1] <= '9' &&
                     p[2] == '>';
        if (*p == '<' && !range) {
            const struct group *g = &r->groups[next];
            strbuf_add(&s, g->choice[r->pick[next]], g->len[r->pick[next]]);
            next++;
            p = strchr(p, '>') + 1;
        } else if (*p == '\\' && p[1] >= '1' && p[1] <= '8') {
            const struct group *g = &r->groups[p[1] - '1'];
            strbuf_add(&s, g->choice[r->pick[p[1] - '1']], g->len[r->pick[p[1] - '1']]);
            p += 2;
        } else {
            strbuf_putc(&s, *p++);
        }
    }
    char *copy = mem_strdup(strbuf_text(&s));
    strbuf_free(&s);
    vec_push(&f->texts, copy);
    return copy;
}

static bool parse_operands(const char *text, struct form_operand *ops, uint32_t *count)
{
    *count = 0;
    for (const char *p = text; *p;) {
        size_t len = strcspn(p, " "), name_len = strcspn(p, ": ");
        if (*count == FORM_OPERANDS_MAX || len == 0) return false;
        struct form_operand *o = &ops[(*count)++];
        *o = (struct form_operand){.type = T_COUNT};
        for (int t = 0; t < T_COUNT; t++)
            if (strlen(types[t].name) == name_len && !memcmp(types[t].name, p, name_len))
                o->type = (uint8_t)t;
        if (o->type == T_COUNT) return false;
        if (name_len < len) {
            size_t class_len = len - name_len - 1;
            if (class_len >= sizeof o->class_) return false;
            memcpy(o->class_, p + name_len + 1, class_len);
        }
        p += len;
        while (*p == ' ') p++;
    }
    return true;
}

static void form_set_launch(struct form *f)
{
    if (f->geo) {
        memcpy(f->block, (uint32_t[3]){16, 4, 2}, sizeof f->block);
        memcpy(f->grid, (uint32_t[3]){2, 1, 2}, sizeof f->grid);
        f->n = 512;
        return;
    }
    uint32_t cta = MIN(f->n, (uint32_t)FORM_CTA_THREADS_MAX);
    memcpy(f->block, (uint32_t[3]){cta, 1, 1}, sizeof f->block);
    memcpy(f->grid, (uint32_t[3]){f->n / cta, 1, 1}, sizeof f->grid);
}

static bool form_parse_options(struct form *f, const char *opts)
{
    f->n = f->in_count == 1 ? 512 : 1024;
    if (!*opts) { /* the defaults */
    } else if (!strncmp(opts, "n=", 2)) {
        f->n = (uint32_t)strtoul(opts + 2, NULL, 10);
    } else if (!strncmp(opts, "tex=", 4)) {
        f->tex = opts + 4;
        f->n = 512;
    } else if (!strcmp(opts, "geo")) {
        f->geo = true;
    } else {
        return false;
    }
    if (f->n == 0 || f->n % 32 || (f->n > FORM_CTA_THREADS_MAX && f->n % FORM_CTA_THREADS_MAX)) return false;
    form_set_launch(f);
    return true;
}

/* A template with no '$' is one instruction with all operands. */
static const char *form_complete_body(struct forms *fs, const struct form *f, char *body)
{
    if (strchr(body, '$')) return body;
    struct strbuf s = {0};
    strbuf_puts(&s, body);
    const char *sep = " ";
    for (uint32_t i = 0; i < f->out_count; i++, sep = ", ") strbuf_printf(&s, "%s$%c", sep, out_letters[i]);
    for (uint32_t i = 0; i < f->in_count; i++, sep = ", ") strbuf_printf(&s, "%s$%c", sep, in_letters[i]);
    strbuf_puts(&s, ";");
    char *copy = mem_strdup(strbuf_text(&s));
    strbuf_free(&s);
    vec_push(&fs->texts, copy);
    return copy;
}

static bool row_emit_form(struct forms *fs, const struct row *r, struct strbuf *error)
{
    struct form f = {.line = r->line};
    uint32_t body_groups = 0;
    struct row probe = {0};
    row_add_groups(&probe, r->col[COL_BODY]);
    body_groups = probe.group_count;
    f.family = row_expand(fs, r, r->col[COL_FAMILY], 0);
    f.check = row_expand(fs, r, r->col[COL_CHECK], 0);
    char *outs = row_expand(fs, r, r->col[COL_OUTS], 0);
    char *ins = row_expand(fs, r, r->col[COL_INS], 0);
    char *body = row_expand(fs, r, r->col[COL_BODY], 0);
    char *opts = row_expand(fs, r, r->col[COL_OPTS], body_groups);
    f.ins_text = ins;
    if (!parse_operands(outs, f.outs, &f.out_count) || !parse_operands(ins, f.ins, &f.in_count) ||
        !form_parse_options(&f, opts)) {
        strbuf_printf(error, "forms.tsv:%d: bad operands or options: '%s' '%s' '%s'\n", r->line, outs, ins,
                      opts);
        return false;
    }
    f.body = form_complete_body(fs, &f, body);
    struct strbuf name = {0};
    strbuf_puts(&name, body);
    /* The same instruction may appear with registers of several widths, or several textures. */
    if (f.tex) strbuf_printf(&name, " tex=%s", f.tex);
    strbuf_printf(&name, " (%s <- %s)", outs, ins);
    char *copy = mem_strdup(strbuf_text(&name));
    strbuf_free(&name);
    vec_push(&fs->texts, copy);
    f.name = copy;
    vec_push(&fs->list, f);
    return true;
}

static bool row_next_pick(struct row *r)
{
    for (uint32_t g = r->group_count; g-- > 0;) {
        if (++r->pick[g] < r->groups[g].count) return true;
        r->pick[g] = 0;
    }
    return false;
}

static bool read_row(struct forms *f, char *text, int line, struct strbuf *error)
{
    struct row r = {.line = line};
    static char empty[] = "";
    for (int c = 0; c < COLUMNS_MAX; c++) r.col[c] = empty;
    int count = 0;
    for (char *p = text; p && count < COLUMNS_MAX;) {
        r.col[count++] = p;
        p = strchr(p, '\t');
        if (p) *p++ = 0;
    }
    if (count <= COL_BODY || !row_add_groups(&r, r.col[COL_BODY]) || !row_add_groups(&r, r.col[COL_OPTS])) {
        strbuf_printf(error, "forms.tsv:%d: a row needs five columns and at most %d groups\n", line,
                      GROUPS_MAX);
        return false;
    }
    do {
        if (!row_emit_form(f, &r, error)) return false;
    } while (row_next_pick(&r));
    return true;
}

bool forms_read(struct forms *f, const char *path, struct strbuf *error)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        strbuf_printf(error, "cannot open %s\n", path);
        return false;
    }
    char *text = NULL;
    size_t cap = 0;
    bool ok = true;
    for (int line = 1; ok && getline(&text, &cap, file) >= 0; line++) {
        text[strcspn(text, "\n")] = 0;
        if (*text && *text != '#') ok = read_row(f, text, line, error);
    }
    free(text);
    fclose(file);
    return ok;
}

void forms_free(struct forms *f)
{
    for (uint32_t i = 0; i < f->texts.len; i++) free(f->texts.data[i]);
    vec_free(&f->texts);
    vec_free(&f->list);
}

/* ---- writing PTX ---- */

void form_emit_header(struct strbuf *out)
{
    strbuf_puts(out, ".version 9.0\n.target sm_90\n.address_size 64\n\n");
}

static bool body_uses(const struct form *f, const char *names)
{
    for (const char *p = strchr(f->body, '$'); p; p = strchr(p + 1, '$'))
        if (p[1] && strchr(names, p[1])) return true;
    return false;
}

/* $m and $M: the cell in the space that the template names. */
static char cell_letter(const struct form *f, char letter)
{
    if (letter != 'm' && letter != 'M') return letter;
    if (strstr(f->body, "shared")) return letter == 'm' ? 's' : 'S';
    if (strstr(f->body, "local")) return 'l';
    return letter == 'm' ? 'g' : 'G';
}

static void emit_body(struct strbuf *out, const struct form *f)
{
    strbuf_puts(out, "    ");
    for (const char *p = f->body; *p; p++) {
        if (*p == '$' && p[1]) {
            strbuf_printf(out, "%%v_%c", cell_letter(f, p[1]));
            p++;
        } else if (*p == ';') {
            strbuf_puts(out, p[1] ? ";\n   " : ";\n");
        } else {
            strbuf_putc(out, *p);
        }
    }
}

/* %i = number of the thread in the launch. */
static void emit_index(struct strbuf *out, const struct form *f)
{
    strbuf_puts(out, "    mov.u32 %i, %tid.x;\n    mov.u32 %j, %ctaid.x;\n    mov.u32 %k, %ntid.x;\n");
    if (f->geo) {
        strbuf_puts(
            out,
            "    mov.u32 %m, %tid.z;\n    mov.u32 %o, %ntid.y;\n    mov.u32 %s, %tid.y;\n"
            "    mad.lo.u32 %m, %m, %o, %s;\n    mad.lo.u32 %i, %m, %k, %i;\n"
            "    mul.lo.u32 %k, %k, %o;\n    mov.u32 %o, %ntid.z;\n    mul.lo.u32 %k, %k, %o;\n"
            "    mov.u32 %m, %ctaid.z;\n    mov.u32 %o, %nctaid.y;\n    mov.u32 %s, %ctaid.y;\n"
            "    mad.lo.u32 %m, %m, %o, %s;\n    mov.u32 %o, %nctaid.x;\n    mad.lo.u32 %j, %m, %o, %j;\n");
    }
    strbuf_puts(out, "    mad.lo.u32 %i, %j, %k, %i;\n    mul.wide.u32 %off, %i, 8;\n");
}

static void emit_cells(struct strbuf *out, const struct form *f)
{
    bool own_global = body_uses(f, "g") || (body_uses(f, "m") && cell_letter(f, 'm') == 'g');
    bool common_global = body_uses(f, "G") || (body_uses(f, "M") && cell_letter(f, 'M') == 'G');
    bool shared = body_uses(f, "sS") || (body_uses(f, "mM") && cell_letter(f, 'm') == 's');
    bool local = body_uses(f, "l") || (body_uses(f, "m") && cell_letter(f, 'm') == 'l');
    if (own_global || common_global) {
        strbuf_puts(
            out,
            "    ld.param.u64 %v_G, [scratch];\n    cvta.to.global.u64 %v_G, %v_G;\n"
            "    mul.wide.u32 %v_g, %i, 32;\n    add.u64 %v_g, %v_g, %v_G;\n    add.u64 %v_g, %v_g, 4096;\n"
            "    mul.wide.u32 %at, %j, 32;\n    add.u64 %v_G, %v_G, %at;\n");
    }
    if (shared) {
        strbuf_printf(out, "    .shared .align 32 .b8 cells[%u];\n",
                      FORM_CELL_BYTES * (FORM_CTA_THREADS_MAX + 1));
        strbuf_puts(out,
                    "    mov.u32 %v_S, cells;\n    mov.u32 %v_s, %tid.x;\n    mul.lo.u32 %v_s, %v_s, 32;\n"
                    "    add.u32 %v_s, %v_s, %v_S;\n    add.u32 %v_s, %v_s, 32;\n");
    }
    if (local) {
        strbuf_printf(out, "    .local .align 32 .b8 own[%d];\n    mov.u64 %%v_l, own;\n", FORM_CELL_BYTES);
    }
    if (body_uses(f, "t")) strbuf_puts(out, "    ld.param.u64 %v_t, [texture];\n");
}

static void emit_load(struct strbuf *out, const struct form *f, uint32_t k, uint64_t offset)
{
    const struct type_row *t = &types[f->ins[k].type];
    char c = in_letters[k];
    if (f->ins[k].type == T_PRED)
        strbuf_printf(out, "    ld.global.u32 %%k, [%%in+%llu];\n    setp.ne.u32 %%v_%c, %%k, 0;\n",
                      (unsigned long long)offset, c);
    else
        strbuf_printf(out, "    ld.global.%s %%v_%c, [%%in+%llu];\n", t->mem, c, (unsigned long long)offset);
}

static void emit_store(struct strbuf *out, const struct form *f, uint32_t k, uint64_t offset)
{
    const struct type_row *t = &types[f->outs[k].type];
    char c = out_letters[k];
    if (f->outs[k].type == T_PRED)
        strbuf_printf(out, "    selp.u32 %%k, 1, 0, %%v_%c;\n    st.global.u32 [%%out+%llu], %%k;\n", c,
                      (unsigned long long)offset);
    else
        strbuf_printf(out, "    st.global.%s [%%out+%llu], %%v_%c;\n", t->mem, (unsigned long long)offset, c);
}

static void emit_head(struct strbuf *out, const char *kernel)
{
    strbuf_printf(
        out,
        ".visible .entry %s(.param .u64 in, .param .u64 out, .param .u64 scratch, .param .u64 texture)\n{\n",
        kernel);
    strbuf_puts(out,
                "    .reg .u32 %i, %j, %k, %m, %o, %s, %v_S, %v_s;\n    .reg .b32 %v_u, %v_v;\n"
                "    .reg .u64 %in, %out, %off, %at, %v_g, %v_G, %v_l, %v_t;\n    .reg .b64 %v_U, %v_V;\n"
                "    .reg .b16 %v_w, %v_y;\n    .reg .pred %v_p, %v_q;\n"
                "    ld.param.u64 %in, [in];\n    cvta.to.global.u64 %in, %in;\n"
                "    ld.param.u64 %out, [out];\n    cvta.to.global.u64 %out, %out;\n");
}

static void emit_operand_regs(struct strbuf *out, const struct form *f)
{
    for (uint32_t k = 0; k < f->out_count; k++)
        strbuf_printf(out, "    .reg .%s %%v_%c;\n", types[f->outs[k].type].reg, out_letters[k]);
    for (uint32_t k = 0; k < f->in_count; k++)
        strbuf_printf(out, "    .reg .%s %%v_%c;\n", types[f->ins[k].type].reg, in_letters[k]);
}

void form_emit_kernel(struct strbuf *out, const struct form *f, const char *kernel)
{
    emit_head(out, kernel);
    emit_operand_regs(out, f);
    emit_index(out, f);
    strbuf_puts(out, "    add.u64 %in, %in, %off;\n    add.u64 %out, %out, %off;\n");
    emit_cells(out, f);
    for (uint32_t k = 0; k < f->in_count; k++) emit_load(out, f, k, (uint64_t)k * f->n * 8);
    emit_body(out, f);
    for (uint32_t k = 0; k < f->out_count; k++) emit_store(out, f, k, (uint64_t)k * f->n * 8);
    strbuf_puts(out, "    ret;\n}\n\n");
}

bool form_can_be_constant(const struct form *f)
{
    static const char *const families[] = {"int", "ext",   "f32",   "f64", "approx", "half",
                                           "cmp", "logic", "shift", "mov", "cvt",    "video"};
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        if (!strcmp(f->family, families[i])) return true;
    return false;
}

static void emit_constant(struct strbuf *out, const struct form *f, uint32_t k, uint64_t value)
{
    char c = in_letters[k];
    unsigned long long v = value;
    switch (f->ins[k].type) {
    case T_PRED: strbuf_printf(out, "    mov.u32 %%k, %llu;\n    setp.ne.u32 %%v_%c, %%k, 0;\n", v, c); break;
    case T_F32: strbuf_printf(out, "    mov.f32 %%v_%c, 0f%08llX;\n", c, v); break;
    case T_F64: strbuf_printf(out, "    mov.f64 %%v_%c, 0d%016llX;\n", c, v); break;
    default: strbuf_printf(out, "    mov.%s %%v_%c, 0x%llxU;\n", types[f->ins[k].type].reg, c, v); break;
    }
}

void form_emit_constant_kernel(struct strbuf *out, const struct form *f, const char *kernel,
                               const uint64_t *in, const uint32_t *picks, uint32_t count)
{
    emit_head(out, kernel);
    for (uint32_t slot = 0; slot < count * FORM_VARIANTS; slot++) {
        uint32_t tuple = picks[slot / FORM_VARIANTS], variant = slot % FORM_VARIANTS;
        uint32_t loaded = variant == 0 ? UINT32_MAX : variant == 1 ? 0 : f->in_count - 1;
        strbuf_puts(out, "    {\n");
        emit_operand_regs(out, f);
        for (uint32_t k = 0; k < f->in_count; k++) {
            if (k == loaded)
                emit_load(out, f, k, ((uint64_t)k * f->n + tuple) * 8);
            else
                emit_constant(out, f, k, in[(size_t)k * f->n + tuple]);
        }
        emit_body(out, f);
        for (uint32_t k = 0; k < f->out_count; k++)
            emit_store(out, f, k, ((uint64_t)k * count * FORM_VARIANTS + slot) * 8);
        strbuf_puts(out, "    }\n");
    }
    strbuf_puts(out, "    ret;\n}\n\n");
}
