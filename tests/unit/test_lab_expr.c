/* Expressions of experiments: what they are worth, and where the errors of a wrong one point. */
#include "lab/expr.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct given {
    const char *name;
    double value;
};
static const struct given values[] = {{"ipc", 3},   {"base.ipc", 2},  {"sm.slots_issued", 40}, {"hist[2]", 7},
                                      {"hist", 28}, {"l1.mshrs", 32}, {"p_inf", 4.9}};

static double value_of(void *context, const struct expr_leaf *leaf)
{
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (!strcmp(values[i].name, leaf->name)) return values[i].value;
    return NAN;
}

static double worth(const char *text)
{
    struct arena arena = {0};
    struct diag_list diags = {0};
    struct diag_source src = {"test", text, strlen(text)};
    struct expr *e = expr_parse(&arena, text, &(struct expr_source){&src, 1, 1, true}, &diags);
    if (!e) fail_msg("%s: %s", text, diags.items.data[0].message);
    double v = expr_eval(e, value_of, NULL);
    arena_free(&arena);
    return v;
}

static void arithmetic_has_the_usual_order(void **state)
{
    assert_true(worth("1 + 2 * 3") == 7);
    assert_true(worth("(1 + 2) * 3") == 9);
    assert_true(worth("7 - 2 - 1") == 4);
    assert_true(worth("12 / 3 / 2") == 2);
    assert_true(worth("2 ^ 3 ^ 2") == 512);
    assert_true(worth("-2 ^ 2") == -4);
    assert_true(worth("2 ^ -1") == 0.5);
    assert_true(worth("2*-3") == -6);
    assert_true(worth(" .5e1+1E-1 ") == 5.1);
}

static void functions_take_lists(void **state)
{
    assert_true(worth("max(1, ipc, 2)") == 3);
    assert_true(worth("min(4, base.ipc * 3)") == 4);
    assert_true(worth("sum(1, 2, 3)") == 6);
    assert_true(worth("abs(-2) + sqrt(9) + log(1) + exp(0)") == 6);
    assert_true(worth("ceil(2.25) + ceil(3) + ceil(-1.5)") == 5);
    assert_true(worth("sum(hist)") == 28);
}

static void names_are_statistics_parameters_and_figures(void **state)
{
    assert_true(worth("ipc / base.ipc - 1") == 0.5);
    assert_true(worth("100 * sm.slots_issued") == 4000);
    assert_true(worth("hist[2]") == 7);
    assert_true(worth("param(l1.mshrs) / 8") == 4);
    assert_true(worth("paper( p_inf )") == 4.9);
}

static void what_is_not_known_makes_the_result_unknown(void **state)
{
    assert_true(isnan(worth("nothing + 1")));
    assert_true(isnan(worth("min(1, nothing)")));
    assert_true(isnan(worth("max(nothing, 1)")));
    assert_true(isnan(worth("nothing ^ 0")));
    assert_true(isnan(worth("1 / 0")));
    assert_true(isnan(worth("0 / (ipc - 3)")));
    assert_true(isnan(worth("sqrt(0 - 1)")));
    assert_true(isnan(worth("log(0)")));
    assert_true(isnan(worth("10 ^ 1000")));
}

struct leaves {
    uint32_t count;
    struct expr_leaf leaf[8];
};

static bool gather(void *context, struct expr_leaf *leaf)
{
    struct leaves *l = context;
    l->leaf[l->count++] = *leaf;
    return strcmp(leaf->name, "refused") != 0;
}

static void leaves_know_what_they_are_and_where(void **state)
{
    struct arena arena = {0};
    struct diag_list diags = {0};
    struct leaves l = {0};
    const char *text = "\"L1+L2\".ipc + 'a b'.param(x.y-z) + sum(h, 1) + base.param(k) + \"a-b.c\"";
    struct diag_source src = {"test", text, strlen(text)};
    struct expr *e = expr_parse(&arena, text, &(struct expr_source){&src, 7, 20, true}, &diags);
    assert_non_null(e);
    assert_true(expr_bind(e, gather, &l));
    assert_int_equal(l.count, 5);
    assert_string_equal(l.leaf[0].owner, "L1+L2");
    assert_string_equal(l.leaf[0].name, "ipc");
    assert_int_equal(l.leaf[0].kind, EXPR_NAME);
    assert_int_equal(l.leaf[0].line, 7);
    assert_int_equal(l.leaf[0].col, 20);
    assert_int_equal(l.leaf[0].len, 11);
    assert_false(l.leaf[0].in_sum);
    assert_int_equal(l.leaf[1].kind, EXPR_PARAM);
    assert_string_equal(l.leaf[1].owner, "a b");
    assert_string_equal(l.leaf[1].name, "x.y-z");
    assert_int_equal(l.leaf[1].col, 34);
    assert_true(l.leaf[2].in_sum);
    assert_string_equal(l.leaf[3].owner, "base");
    assert_string_equal(l.leaf[3].name, "k");
    assert_null(l.leaf[4].owner);
    assert_string_equal(l.leaf[4].name, "a-b.c");
    arena_free(&arena);
}

static void a_refused_name_refuses_the_expression(void **state)
{
    struct arena arena = {0};
    struct diag_list diags = {0};
    struct leaves l = {0};
    struct expr_source where = {NULL, 1, 1, true};
    assert_false(expr_bind(expr_parse(&arena, "refused + good", &where, &diags), gather, &l));
    assert_int_equal(l.count, 2); /* the others are looked at all the same */
    arena_free(&arena);
}

static void refuse(const char *text, int col, int len, const char *words)
{
    struct arena arena = {0};
    struct diag_list diags = {0};
    struct diag_source src = {"test", text, strlen(text)};
    assert_null(expr_parse(&arena, text, &(struct expr_source){&src, 1, 1, true}, &diags));
    assert_int_equal(diags.errors, 1);
    const struct diag *d = &diags.items.data[0];
    if (d->col != col || d->len != len ||
        (!strstr(d->message, words) && !(d->hint && strstr(d->hint, words))))
        fail_msg("'%s': %d+%d %s (%s)", text, d->col, d->len, d->message, d->hint ? d->hint : "");
    diag_free(&diags);
    arena_free(&arena);
}

static void wrong_expressions_are_refused_at_their_place(void **state)
{
    refuse("", 1, 1, "ends where");
    refuse("1 +", 4, 1, "ends where");
    refuse("1 + * 2", 5, 1, "before '*'");
    refuse("1 2", 3, 1, "expected an operator before '2'");
    refuse("(1 + 2", 1, 1, "never closed");
    refuse("(1 + 2]", 7, 1, "expected ')' before ']'");
    refuse("maxx(1, 2)", 1, 4, "did you mean 'max'");
    refuse("frobnicate(1)", 1, 10, "there are min, max");
    refuse("abs(1, 2)", 1, 3, "at most 1 value");
    refuse("1 + hist[x]", 9, 1, "bin's number");
    refuse("hist[3", 5, 1, "']' is missing");
    refuse("param()", 7, 1, "name is missing");
    refuse("param(a", 6, 1, "never closed");
    refuse("\"L1", 1, 1, "never closed");
    refuse("1 + \"L1\"", 5, 4, "'.' and a statistic");
    refuse("\"L1\".max(1)", 1, 8, "another column's");
    refuse("16a", 1, 3, "put quotes");
    refuse("$", 1, 1, "before '$'");
}

static void hostile_expressions_do_not_use_up_the_stack(void **state)
{
    struct strbuf deep = {0}, chain = {0}, minus = {0};
    for (int i = 0; i < 100000; i++) strbuf_putc(&deep, '(');
    for (int i = 0; i < 100000; i++) strbuf_puts(&chain, "1+");
    for (int i = 0; i < 100000; i++) strbuf_putc(&minus, '-');
    refuse(strbuf_text(&deep), 101, 1, "nested too deeply");
    refuse(strbuf_text(&minus), 101, 1, "nested too deeply");
    struct arena arena = {0};
    struct diag_list diags = {0};
    assert_null(expr_parse(&arena, strbuf_text(&chain), &(struct expr_source){NULL, 1, 1, true}, &diags));
    assert_non_null(strstr(diags.items.data[0].message, "too long"));
    arena_free(&arena);
    diag_free(&diags);
    strbuf_free(&deep);
    strbuf_free(&chain);
    strbuf_free(&minus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_has_the_usual_order),
        cmocka_unit_test(functions_take_lists),
        cmocka_unit_test(names_are_statistics_parameters_and_figures),
        cmocka_unit_test(what_is_not_known_makes_the_result_unknown),
        cmocka_unit_test(leaves_know_what_they_are_and_where),
        cmocka_unit_test(a_refused_name_refuses_the_expression),
        cmocka_unit_test(wrong_expressions_are_refused_at_their_place),
        cmocka_unit_test(hostile_expressions_do_not_use_up_the_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
