/* judge.c: see judge.h. Exact forms are compared bit for bit; approximate ones by approx.c; linear texture
 * filtering within one step of its 8-bit weights a dimension. */
#include "judge.h"

#include "approx.h"
#include "opcode_texture.h"

#include <fnmatch.h>
#include <math.h>

/* ---- exceptions ---- */

bool exceptions_read(struct exceptions *e, const char *path, struct strbuf *error)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t cap = 0;
    bool ok = file;
    while (ok && getline(&text, &cap, file) >= 0) {
        if (*text == '#' || *text == '\n') continue;
        char *rule = strchr(text, '\t'), *reason = rule ? strchr(rule + 1, '\t') : NULL;
        ok = reason != NULL;
        if (!ok) break;
        *rule++ = *reason++ = 0;
        ok = !strcmp(rule, "either");
        if (ok) vec_push(&e->list, (struct exception){mem_strdup(text), RULE_EITHER});
    }
    if (!ok)
        strbuf_printf(error, "%s: cannot be read, or a row lacks a column or has an unknown rule\n", path);
    free(text);
    if (file) fclose(file);
    return ok;
}

void exceptions_free(struct exceptions *e)
{
    for (uint32_t i = 0; i < e->list.len; i++) free(e->list.data[i].pattern);
    vec_free(&e->list);
}

enum rule exceptions_find(const struct exceptions *e, const char *name)
{
    for (uint32_t i = 0; i < e->list.len; i++)
        if (!fnmatch(e->list.data[i].pattern, name, 0)) return e->list.data[i].rule;
    return RULE_NONE;
}

/* ---- comparing ---- */

struct tuple {
    const struct form *f;
    uint64_t in[FORM_OPERANDS_MAX], got[FORM_OPERANDS_MAX], silicon[FORM_OPERANDS_MAX],
        reference[FORM_OPERANDS_MAX];
    bool has_reference;
};

static void take(const struct form *f, const uint64_t *cells, uint32_t count, uint32_t i, uint64_t *out)
{
    for (uint32_t k = 0; k < count; k++) out[k] = cells[(size_t)k * f->n + i];
}

static bool exact_ok(const struct tuple *t, enum rule rule)
{
    bool silicon = !memcmp(t->got, t->silicon, sizeof t->got);
    if (silicon) return true;
    return rule == RULE_EITHER && t->has_reference && !memcmp(t->got, t->reference, sizeof t->got);
}

static bool approx_ok(const struct tuple *t, double *worst)
{
    struct approx_report r;
    if (!approx_judge(t->f, t->in, t->got[0], t->silicon[0], &r)) return false;
    *worst = fmax(*worst, r.error);
    return r.verdict == APPROX_OK;
}

static double float_of(uint64_t cell)
{
    uint32_t w = (uint32_t)cell;
    float x;
    memcpy(&x, &w, 4);
    return (double)x;
}

/* What one step of every weight can change: the texels span 16 (floats), 1 (unsigned) or 2 (signed). */
static double texture_tolerance(const struct tex_desc *t)
{
    double span = t->kind == 'f' ? 16 : t->kind == 'u' ? 1 : 2;
    return t->filter == TEX_LINEAR ? span * t->dims / 256 : 0;
}

static bool texture_near(const struct tuple *t, const uint64_t *want, double *worst)
{
    struct tex_desc d;
    if (!memcmp(t->got, want, sizeof t->got)) return true;
    if (t->f->outs[0].type != T_F32 || !tex_parse(t->f->tex, &d)) return false;
    double most = 0;
    for (uint32_t k = 0; k < t->f->out_count; k++)
        most = fmax(most, fabs(float_of(t->got[k]) - float_of(want[k])));
    if (!(most <= texture_tolerance(&d))) return false;
    *worst = fmax(*worst, most);
    return true;
}

static bool tuple_ok(const struct tuple *t, enum rule rule, double *worst)
{
    if (!strcmp(t->f->check, "exact")) return exact_ok(t, rule);
    if (strcmp(t->f->check, "texture")) return approx_ok(t, worst);
    return texture_near(t, t->silicon, worst) ||
           (rule == RULE_EITHER && t->has_reference && texture_near(t, t->reference, worst));
}

static void tuple_fill(struct tuple *t, const struct form *f, uint32_t i, const uint64_t *in,
                       const uint64_t *got, const uint64_t *silicon, const uint64_t *reference)
{
    *t = (struct tuple){.f = f, .has_reference = reference};
    take(f, in, f->in_count, i, t->in);
    take(f, got, f->out_count, i, t->got);
    take(f, silicon, f->out_count, i, t->silicon);
    if (reference) take(f, reference, f->out_count, i, t->reference);
}

struct verdict judge_form(const struct form *f, enum rule rule, const uint64_t *in, const uint64_t *got,
                          const uint64_t *silicon, const uint64_t *reference)
{
    struct verdict v = {0};
    for (uint32_t i = 0; i < f->n; i++) {
        struct tuple t;
        tuple_fill(&t, f, i, in, got, silicon, reference);
        if (tuple_ok(&t, rule, &v.worst)) continue;
        if (v.wrong < ARRAY_LEN(v.first)) v.first[v.wrong] = i;
        v.wrong++;
    }
    return v;
}

static void put_cells(struct strbuf *out, const char *what, const uint64_t *v, const struct form_operand *ops,
                      uint32_t count)
{
    strbuf_puts(out, what);
    for (uint32_t k = 0; k < count; k++)
        strbuf_printf(out, " 0x%0*llx", (int)(2 * form_type_bytes(ops[k].type)), (unsigned long long)v[k]);
}

void judge_describe(const struct form *f, uint32_t i, const uint64_t *in, const uint64_t *got,
                    const uint64_t *silicon, const uint64_t *reference, struct strbuf *out)
{
    struct tuple t;
    tuple_fill(&t, f, i, in, got, silicon, reference);
    strbuf_printf(out, "    [%u]", i);
    put_cells(out, "", t.in, f->ins, f->in_count);
    put_cells(out, " -> got", t.got, f->outs, f->out_count);
    put_cells(out, ", silicon", t.silicon, f->outs, f->out_count);
    if (reference) put_cells(out, ", reference", t.reference, f->outs, f->out_count);
    strbuf_putc(out, '\n');
}
