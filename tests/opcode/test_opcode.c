/* test_opcode.c: every instruction form in Heddle, against values recorded on a real GPU and against a
 * reference written from the manual. Three opinions: the test also fails when the reference and silicon
 * disagree on something that exceptions.tsv does not name.
 *
 *   test_opcode [-0] [-c] [-v] [DATA [PART]]
 * DATA = the folder with forms.tsv, exceptions.tsv and silicon.zst; PART = only forms whose name holds this
 * text; -0 = lowering without optimisation; -c = some tuples of every form with constant operands, which
 * lowering folds; -v = also the largest error of every approximate form. */
#include "judge.h"
#include "reference.h"
#include "run_heddle.h"
#include "silicon.h"
#include "values.h"

#include "../sanitized.h"
#include "base/hash.h"

/* PICKS: tuples of a form that are tried as constants. */
enum { CELLS_MAX = 4096 * FORM_OPERANDS_MAX, PICKS = IS_SANITIZED ? 5 : 16 };

struct test {
    struct forms forms;
    struct silicon silicon;
    struct exceptions exceptions;
    struct heddle heddle;
    uint32_t opt_level;
    bool verbose, constants;
    uint32_t passed, failed, refused, unrecorded, disputed, no_reference;
    uint64_t tuples;
    /* family -> count + 1 */
    struct map family_failures;
};

static void report_wrong(const struct form *f, const char *what, const struct verdict *v, const uint64_t *in,
                         const uint64_t *got, const uint64_t *silicon, const uint64_t *reference)
{
    struct strbuf text = {0};
    for (uint32_t i = 0; i < MIN(v->wrong, (uint32_t)ARRAY_LEN(v->first)); i++)
        judge_describe(f, v->first[i], in, got, silicon, reference, &text);
    printf("%s: %s: %u of %u tuples\n%s", what, f->name, v->wrong, f->n, strbuf_text(&text));
    strbuf_free(&text);
}

static void count_failure(struct test *t, const struct form *f)
{
    uintptr_t n = (uintptr_t)map_get(&t->family_failures, f->family);
    map_put(&t->family_failures, f->family, (void *)(n + 1));
}

/* Reference against silicon: both are data here, so this only fails when one of the two was changed. */
static void check_reference(struct test *t, const struct form *f, enum rule rule, const uint64_t *in,
                            const uint64_t *reference, const uint64_t *silicon)
{
    if (rule == RULE_EITHER) return;
    struct verdict v = judge_form(f, rule, in, reference, silicon, NULL);
    if (!v.wrong) return;
    report_wrong(f, "DISPUTED (the reference is shown as got)", &v, in, reference, silicon, NULL);
    t->disputed++;
}

static bool run_plain(struct test *t, const struct form *f, const uint64_t *in, uint64_t *got,
                      struct strbuf *error)
{
    struct strbuf ptx = {0};
    form_emit_header(&ptx);
    form_emit_kernel(&ptx, f, "form");
    struct heddle_job job = {.ptx = strbuf_text(&ptx),
                             .ptx_len = ptx.len,
                             .in_cells = (size_t)f->in_count * f->n,
                             .out_cells = (size_t)f->out_count * f->n,
                             .tex = f->tex,
                             .opt_level = t->opt_level};
    memcpy(job.grid, f->grid, sizeof job.grid);
    memcpy(job.block, f->block, sizeof job.block);
    bool ok = heddle_run(&t->heddle, &job, in, got, error);
    strbuf_free(&ptx);
    return ok;
}

/* Puts the chosen tuples, FORM_VARIANTS times each, instead of all. */
static void pick_cells(const struct form *f, uint32_t columns, const uint32_t *picks, uint64_t *cells)
{
    static uint64_t copy[PICKS * FORM_VARIANTS * FORM_OPERANDS_MAX];
    for (uint32_t k = 0; k < columns; k++)
        for (uint32_t s = 0; s < PICKS * FORM_VARIANTS; s++)
            copy[k * PICKS * FORM_VARIANTS + s] = cells[(size_t)k * f->n + picks[s / FORM_VARIANTS]];
    memcpy(cells, copy, sizeof(uint64_t) * columns * PICKS * FORM_VARIANTS);
}

/* Runs the form with constant operands. *f becomes the form of the picked tuples, and so do the cells. */
static bool run_constant(struct test *t, struct form *f, uint64_t *in, uint64_t *got, uint64_t *silicon,
                         uint64_t *reference, struct strbuf *error)
{
    uint32_t picks[PICKS];
    for (uint32_t i = 0; i < PICKS; i++)
        picks[i] = (uint32_t)(((uint64_t)i * f->n + f->n / 3) / PICKS + 5 * i) % f->n;
    struct strbuf ptx = {0};
    form_emit_header(&ptx);
    form_emit_constant_kernel(&ptx, f, "form", in, picks, PICKS);
    struct heddle_job job = {.ptx = strbuf_text(&ptx),
                             .ptx_len = ptx.len,
                             .grid = {1, 1, 1},
                             .block = {32, 1, 1},
                             .in_cells = (size_t)f->in_count * f->n,
                             .out_cells = (size_t)f->out_count * PICKS * FORM_VARIANTS,
                             .opt_level = t->opt_level};
    bool ok = heddle_run(&t->heddle, &job, in, got, error);
    strbuf_free(&ptx);
    pick_cells(f, f->in_count, picks, in);
    pick_cells(f, f->out_count, picks, silicon);
    pick_cells(f, f->out_count, picks, reference);
    f->n = PICKS * FORM_VARIANTS;
    return ok;
}

static void run_form(struct test *t, const struct form *whole)
{
    static uint64_t in[CELLS_MAX], got[CELLS_MAX], silicon[CELLS_MAX], reference[CELLS_MAX];
    struct form copy = *whole, *f = &copy;
    values_fill(f, in);
    uint64_t in_hash = hash_bytes(HASH_SEED, in, (size_t)f->in_count * f->n * 8);
    enum silicon_answer answer = silicon_find(&t->silicon, f, in_hash, silicon);
    if (answer != SILICON_FOUND) {
        printf("NOT RECORDED%s: %s\n", answer == SILICON_STALE ? " WITH THESE OPERANDS" : "", f->name);
        t->unrecorded++;
        return;
    }
    enum rule rule = exceptions_find(&t->exceptions, f->name);
    bool known = reference_run(f, in, reference);
    if (known)
        check_reference(t, f, rule, in, reference, silicon);
    else
        t->no_reference++;
    struct strbuf error = {0};
    bool ran = t->constants ? run_constant(t, f, in, got, silicon, reference, &error)
                            : run_plain(t, f, in, got, &error);
    if (!ran) {
        printf("REFUSED: %s\n%s", f->name, strbuf_text(&error));
        t->refused++;
        count_failure(t, f);
        strbuf_free(&error);
        return;
    }
    strbuf_free(&error);
    struct verdict v = judge_form(f, rule, in, got, silicon, known ? reference : NULL);
    if (t->verbose && v.worst > 0) printf("worst %.4f: %s\n", v.worst, f->name);
    t->tuples += f->n;
    if (v.wrong) {
        report_wrong(f, "WRONG", &v, in, got, silicon, known ? reference : NULL);
        t->failed++;
        count_failure(t, f);
    } else {
        t->passed++;
    }
}

static bool open_all(struct test *t, const char *folder, struct strbuf *error)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/forms.tsv", folder);
    bool ok = forms_read(&t->forms, strbuf_text(&path), error);
    path.len = 0;
    strbuf_printf(&path, "%s/exceptions.tsv", folder);
    ok = ok && exceptions_read(&t->exceptions, strbuf_text(&path), error);
    path.len = 0;
    strbuf_printf(&path, "%s/silicon.zst", folder);
    ok = ok && silicon_open(&t->silicon, strbuf_text(&path), error);
    strbuf_free(&path);
    if (ok && !heddle_open(&t->heddle)) {
        strbuf_puts(error, "the device cannot be made\n");
        ok = false;
    }
    return ok;
}

static void close_all(struct test *t)
{
    heddle_close(&t->heddle);
    silicon_close(&t->silicon);
    exceptions_free(&t->exceptions);
    forms_free(&t->forms);
    map_free(&t->family_failures);
}

/* All forms; under a sanitizer every second one of the other two ways of lowering. */
static bool is_tried(const struct test *t, uint32_t form, const char *part)
{
    const struct form *f = &t->forms.list.data[form];
    if (IS_SANITIZED && (t->constants || !t->opt_level) && form % 2) return false;
    return strstr(f->name, part) && (!t->constants || form_can_be_constant(f));
}

int main(int argc, char **argv)
{
    struct test t = {.opt_level = 1};
    const char *folder = OPCODE_DATA, *part = "";
    int plain = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-0"))
            t.opt_level = 0;
        else if (!strcmp(argv[i], "-c"))
            t.constants = true;
        else if (!strcmp(argv[i], "-v"))
            t.verbose = true;
        else if (plain++ == 0)
            folder = argv[i];
        else
            part = argv[i];
    }
    struct strbuf error = {0};
    if (!open_all(&t, folder, &error)) {
        fprintf(stderr, "%s", strbuf_text(&error));
        strbuf_free(&error);
        close_all(&t);
        return 2;
    }
    for (uint32_t i = 0; i < t.forms.list.len; i++)
        if (is_tried(&t, i, part)) run_form(&t, &t.forms.list.data[i]);
    for (uint32_t i = 0; i < t.family_failures.entries.len; i++)
        printf("family %s: %u forms failed\n", t.family_failures.entries.data[i].key,
               (unsigned)(uintptr_t)t.family_failures.entries.data[i].value);
    printf("%s\n%u forms right, %u wrong, %u refused, %u not recorded; reference: %u disputed, %u without; "
           "%llu tuples\n",
           t.silicon.origin, t.passed, t.failed, t.refused, t.unrecorded, t.disputed, t.no_reference,
           (unsigned long long)t.tuples);
    bool ok = t.passed && !t.failed && !t.refused && !t.unrecorded && !t.disputed;
    close_all(&t);
    return ok ? 0 : 1;
}
