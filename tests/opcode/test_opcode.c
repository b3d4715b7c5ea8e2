/* test_opcode.c: every instruction form in Heddle, against values recorded on a real GPU and against a reference
 * written from the manual. Three opinions: the test also fails when the reference and silicon disagree on something
 * that exceptions.tsv does not name.
 *
 *   test_opcode [-0] [-v] [DATA [PART]]
 * DATA = the folder with forms.tsv, exceptions.tsv and silicon.zst; PART = only forms whose name holds this text;
 * -0 = lowering without optimisation; -v = also the largest error of every approximate form. */
#include "judge.h"
#include "reference.h"
#include "run_heddle.h"
#include "silicon.h"
#include "values.h"

#include "base/hash.h"

enum { CELLS_MAX = 4096 * FORM_OPERANDS_MAX };

struct test {
    struct forms forms;
    struct silicon silicon;
    struct exceptions exceptions;
    struct heddle heddle;
    uint32_t opt_level;
    bool verbose;
    uint32_t passed, failed, refused, unrecorded, disputed, no_reference;
    uint64_t tuples;
    struct map family_failures; /* family -> count + 1 */
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
    if (rule != RULE_NONE && rule != RULE_NAN_SOURCE) return;
    struct verdict v = judge_form(f, rule, in, reference, silicon, NULL);
    if (!v.wrong) return;
    report_wrong(f, "DISPUTED (the reference is shown as got)", &v, in, reference, silicon, NULL);
    t->disputed++;
}

static void run_form(struct test *t, const struct form *f)
{
    static uint64_t in[CELLS_MAX], got[CELLS_MAX], silicon[CELLS_MAX], reference[CELLS_MAX];
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
    if (known) check_reference(t, f, rule, in, reference, silicon);
    else t->no_reference++;
    struct strbuf error = {0};
    if (!heddle_run(&t->heddle, f, t->opt_level, in, got, &error)) {
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

int main(int argc, char **argv)
{
    struct test t = {.opt_level = 1};
    const char *folder = OPCODE_DATA, *part = "";
    int plain = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-0")) t.opt_level = 0;
        else if (!strcmp(argv[i], "-v")) t.verbose = true;
        else if (plain++ == 0) folder = argv[i];
        else part = argv[i];
    }
    struct strbuf error = {0};
    if (!open_all(&t, folder, &error)) {
        fprintf(stderr, "%s", strbuf_text(&error));
        strbuf_free(&error);
        close_all(&t);
        return 2;
    }
    for (uint32_t i = 0; i < t.forms.list.len; i++)
        if (strstr(t.forms.list.data[i].name, part)) run_form(&t, &t.forms.list.data[i]);
    for (uint32_t i = 0; i < t.family_failures.entries.len; i++)
        printf("family %s: %u forms failed\n", t.family_failures.entries.data[i].key,
               (unsigned)(uintptr_t)t.family_failures.entries.data[i].value);
    printf("%s\n%u forms right, %u wrong, %u refused, %u not recorded; reference: %u disputed, %u without; %llu tuples\n",
           t.silicon.origin, t.passed, t.failed, t.refused, t.unrecorded, t.disputed, t.no_reference,
           (unsigned long long)t.tuples);
    bool ok = t.passed && !t.failed && !t.refused && !t.unrecorded && !t.disputed;
    close_all(&t);
    return ok ? 0 : 1;
}
