/* Bars: what is read, what they count, when they are met, how they are printed; and where the errors of a
 * wrong one point. */
#include "experiment_kit.h"

#include "json_check.h"
#include "lab/figure_bars.h"
#include "lab/figure_scores.h"

/* blue: the paper has 1.5 and class S; green: 2.5 and class I; red: nothing */
#define HEAD                                                                                                 \
    "paper: kit\nmachine: fermi\nsize: tiny\nworkloads: [red, blue, green]\n"                                \
    "columns: {base: {}, fast: {set: {l1.mshrs: 128}}, slow: {set: {l1.mshrs: 2}}}\n"                        \
    "measures:\n  speedup: ipc / base.ipc\n"                                                                 \
    "  kind: {value: ipc / base.ipc, classes: [{class: S, from: 1.5}, {class: I}]}\n"                        \
    "  gain: ipc / base.ipc - 1\n"                                                                           \
    "figures:\n  - {id: near, measures: speedup, paper: {fast: gain, slow: gain}}\n"                         \
    "  - {id: class, columns: fast, measures: kind}\n"                                                       \
    "  - {id: again, columns: fast, measures: kind}\n"                                                       \
    "  - {id: claims, measures: gain, mean: arithmetic, claims: [{id: t.fast, column: fast, neutral: 0},\n"  \
    "      {id: t.slow, column: slow, neutral: 0}]}\n"
#define HEAD_LINES 15

struct rig {
    struct experiment e;
    struct plan p;
    struct store store;
    struct diag_list diags;
    struct figure_set figures;
};

/* ipc of `fast` for blue and green, whose base is 1; those that are NAN were not run. `slow` is half of
 * base. */
static void rig_up(struct rig *r, const char *bars, double blue, double green)
{
    static const char *const names[] = {"red", "blue", "green"};
    const double fast[] = {1.9, blue, green};
    char text[4096];
    snprintf(text, sizeof text, "%sbars:\n%s", HEAD, bars);
    *r = (struct rig){0};
    kit_need(&r->e, text);
    assert_true(plan_make(&r->p, &r->e, NULL, &r->diags));
    for (int i = 0; i < 3; i++) {
        kit_put(&r->store, &r->p, names[i], "base", "ipc", 1);
        kit_put(&r->store, &r->p, names[i], "slow", "ipc", 0.5);
        if (!isnan(fast[i])) kit_put(&r->store, &r->p, names[i], "fast", "ipc", fast[i]);
    }
    assert_true(figures_make(&r->figures, &r->p, &r->store, &r->diags));
}

static void rig_down(struct rig *r)
{
    figures_free(&r->figures);
    plan_free(&r->p);
    experiment_free(&r->e);
    diag_free(&r->diags);
}

static struct bar_result judge(const struct rig *r, uint32_t i)
{
    struct bar_result b = {.bar = &r->e.bars[i]};
    bar_add(&b, &r->figures);
    bar_decide(&b);
    return b;
}

static void expect(const char *bar, double blue, double green, uint32_t count, uint32_t of, uint32_t open,
                   enum bar_outcome outcome)
{
    struct rig r;
    rig_up(&r, bar, blue, green);
    const struct bar_result b = judge(&r, 0);
    if (b.count != count || b.of != of || b.open != open || b.outcome != outcome)
        fail_msg("%s: %u of %u, %u open, %s", bar, b.count, b.of, b.open, bar_outcome_text(b.outcome));
    rig_down(&r);
}

#define NEAR_FAST "  - {name: a, count: within a quarter, column: fast, aim: "

static void values_count_within_a_quarter_where_the_paper_has_one(void **state)
{
    expect(NEAR_FAST "2}\n", 1.5, 2.5, 2, 2, 0, BAR_MET);
    expect(NEAR_FAST "2}\n", 1.875, 1.875, 2, 2, 0, BAR_MET); /* a quarter, just */
    expect(NEAR_FAST "2}\n", 1.876, 2.5, 1, 2, 0, BAR_MISSED);
    expect(NEAR_FAST "1}\n", 1.876, 2.5, 1, 2, 0, BAR_MET);
    expect("  - {name: a, count: within a quarter, aim: 2}\n", 1.5, 2.5, 2, 4, 0, BAR_MET); /* slow too */
    expect("  - {name: a, count: within a quarter, measure: speedup, aim: 0}\n", 1, 1, 0, 4, 0, BAR_MET);
}

static void workloads_count_in_the_papers_class(void **state)
{
    const char *bar = "  - {name: a, count: same class, aim: all}\n";
    expect(bar, 1.5, 1.4, 4, 4, 0, BAR_MET); /* two figures of two workloads */
    expect(bar, 1.5, 1.6, 2, 4, 0, BAR_MISSED);
    expect("  - {name: a, count: same class, figure: class, aim: 1/2}\n", 1.5, 1.6, 1, 2, 0, BAR_MET);
}

static void claims_count_by_their_verdict(void **state)
{
    /* t.fast is 0.5, t.slow -0.2: ours are the means of fast and -0.5 */
    const char *made = "  - {name: a, count: reproduced, aim: 1}\n";
    expect(made, 1.2, 1.4, 1, 2, 0, BAR_MET); /* 1.9, 1.2, 1.4: a mean of +0.5 */
    expect(made, 9, 9, 0, 2, 0, BAR_MISSED);
    expect("  - {name: a, count: reproduced, column: slow, aim: 1}\n", 1.2, 1.4, 0, 1, 0, BAR_MISSED);
    expect("  - {name: a, count: not reproduced, at_most: 0}\n", 1.2, 1.4, 0, 2, 0, BAR_MET);
    expect("  - {name: a, count: not reproduced, at_most: 0}\n", 0.1, 0.1, 1, 2, 0, BAR_MISSED); /* sign */
}

static void a_bar_is_open_while_a_run_could_decide_it(void **state)
{
    expect(NEAR_FAST "2}\n", NAN, 2.5, 1, 2, 1, BAR_OPEN);
    expect(NEAR_FAST "1}\n", NAN, 2.5, 1, 2, 1, BAR_MET);
    expect(NEAR_FAST "2}\n", NAN, 9, 0, 2, 1, BAR_MISSED);
    expect(NEAR_FAST "3}\n", 1.5, 2.5, 2, 2, 0, BAR_OPEN); /* fewer workloads than the aim */
    expect("  - {name: a, count: same class, aim: all}\n", NAN, 1.4, 2, 4, 2, BAR_OPEN);
    expect("  - {name: a, count: not reproduced, at_most: 0}\n", NAN, 1.4, 0, 2, 1, BAR_OPEN);
    expect("  - {name: a, count: not reproduced, at_most: 1}\n", NAN, 1.4, 0, 2, 1, BAR_MET);
}

static void a_share_is_rounded_up(void **state)
{
    const char *bar = "  - {name: a, count: within a quarter, aim: 1/3}\n"; /* of 4: 2 */
    expect(bar, 1.5, 9, 1, 4, 0, BAR_MISSED);
    expect(bar, 1.5, 2.5, 2, 4, 0, BAR_MET);
}

static void bars_are_printed(void **state)
{
    struct rig r;
    struct strbuf out = {0};
    rig_up(&r,
           NEAR_FAST "2}\n  - {name: \"classes | S\", count: same class, aim: all}\n"
                     "  - {name: claims, count: not reproduced, at_most: 5}\n",
           1.5, 9);
    const struct bar_result bars[] = {judge(&r, 0), judge(&r, 1), judge(&r, 2)};
    bars_print_table(bars, 3, 80, &out);
    assert_string_equal(strbuf_text(&out), "bar          count  of        aim  outcome\n"
                                           "a                1   2          2  missed\n"
                                           "classes | S      2   4        all  missed\n"
                                           "claims           0   2  at most 5  met\n");
    out.len = 0;
    bars_print_markdown(bars, 3, &out);
    assert_string_equal(strbuf_text(&out), "\n## Bars\n\n| bar | count | of | aim | outcome |\n"
                                           "|---|--:|--:|--:|---|\n| a | 1 | 2 | 2 | missed |\n"
                                           "| classes \\| S | 2 | 4 | all | missed |\n"
                                           "| claims | 0 | 2 | at most 5 | met |\n");
    out.len = 0;
    bars_json(bars, 3, &out);
    assert_true(json_is_valid(strbuf_text(&out)));
    assert_non_null(strstr(strbuf_text(&out),
                           "{\"name\": \"a\", \"counts\": \"within a quarter\", \"count\": 1, \"of\": 2, "
                           "\"open\": 0, \"aim\": \"2\", \"outcome\": \"missed\"}"));
    assert_non_null(strstr(strbuf_text(&out), "\"at_most\": \"5\", \"outcome\": \"met\"}"));
    strbuf_free(&out);
    rig_down(&r);
}

/* ---- the scoreboard ---- */

/* t.fast is reproduced, t.slow has the right sign; a second experiment of the same paper repeats both. */
static void each_claim_of_a_paper_counts_once(void **state)
{
    struct rig r, again, missing;
    struct scoreboard b = {0};
    struct strbuf out = {0};
    const char *bars = "  - {name: a, count: reproduced, aim: 1}\n";
    rig_up(&r, bars, 1.2, 1.4);
    rig_up(&again, bars, 9, 9);
    rig_up(&missing, bars, NAN, 1.4);
    missing.e.paper = "other";
    scores_add(&b, &r.figures);
    scores_add(&b, &again.figures);
    scores_add(&b, &missing.figures);
    scores_print_table(&b, 80, &out);
    assert_string_equal(strbuf_text(&out),
                        "paper  claims  reproduced  trend only  not  not comparable  open\n"
                        "kit         2           1           1    0               0     0\n"
                        "other       2           0           1    0               0     1\n"
                        "all         4           1           2    0               0     1\n");
    out.len = 0;
    scores_print_markdown(&b, &out);
    assert_non_null(strstr(strbuf_text(&out), "| kit | 2 | 1 | 1 | 0 | 0 | 0 |\n"));
    out.len = 0;
    scores_json(&b, &out);
    assert_true(json_is_valid(strbuf_text(&out)));
    assert_non_null(strstr(strbuf_text(&out),
                           "{\"paper\": \"other\", \"claims\": 2, \"reproduced\": 0, "
                           "\"trend_only\": 1, \"not\": 0, \"not_comparable\": 0, \"open\": 1}"));
    strbuf_free(&out);
    scores_free(&b);
    rig_down(&r);
    rig_down(&again);
    rig_down(&missing);
}

/* ---- wrong ones ---- */

static void refuse_text(const char *text, int line, int col, const char *words)
{
    struct experiment e;
    struct diag_list diags = {0};
    if (kit_load(&e, text, &diags)) fail_msg("was not refused (%s):\n%s", words, text);
    const struct diag *d = &diags.items.data[0];
    if (d->line != line || d->col != col ||
        !(strstr(d->message, words) || (d->hint && strstr(d->hint, words))))
        fail_msg("%d:%d: %s (%s), not %d:%d: %s", d->line, d->col, d->message, d->hint ? d->hint : "", line,
                 col, words);
    experiment_free(&e);
    diag_free(&diags);
}

static void refuse(const char *bars, int line, int col, const char *words)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s", HEAD, bars);
    refuse_text(text, HEAD_LINES + line, col, words);
}

static void wrong_bars_are_refused_at_their_place(void **state)
{
    refuse("bars: 7\n", 1, 7, "takes a list");
    refuse("bars: [7]\n", 1, 8, "a bar is a mapping");
    refuse("bars:\n  - {count: same class, aim: 1}\n", 2, 5, "with a 'name'");
    refuse("bars:\n  - {name: a, count: most, aim: 1}\n", 2, 22, "one of same class, within a quarter");
    refuse("bars:\n  - {name: a, count: same class}\n", 2, 5, "needs an 'aim' or an 'at_most'");
    refuse("bars:\n  - {name: a, count: same class, aim: 1, at_most: 2}\n", 2, 39, "one of them");
    refuse("bars:\n  - {name: a, count: same class, aim: many}\n", 2, 39, "a number, a share or 'all'");
    refuse("bars:\n  - {name: a, count: same class, aim: 3/2}\n", 2, 39, "a number, a share or 'all'");
    refuse("bars:\n  - {name: a, count: same class, aim: -1}\n", 2, 39, "a number, a share or 'all'");
    refuse("bars:\n  - {name: a, count: same class, aim: 1/0}\n", 2, 39, "for example aim: 16");
    refuse("bars:\n  - {name: a, count: same class, at_most: all}\n", 2, 43, "'at_most' is a number");
    refuse("bars:\n  - {name: a, count: same class, aim: 1, figure: clas}\n", 2, 50, "did you mean 'class'");
    refuse("bars:\n  - {name: a, count: same class, aim: 1, column: fats}\n", 2, 50, "did you mean 'fast'");
    refuse("bars:\n  - {name: a, count: same class, aim: 1, measure: kin}\n", 2, 51, "did you mean 'kind'");
    refuse("bars:\n  - {name: a, count: same class, aim: 1, measur: kind}\n", 2, 42, "did you mean 'me");
}

static void a_bar_that_counts_nothing_is_refused(void **state)
{
    refuse("bars:\n  - {name: a, count: same class, aim: 1, figure: near}\n", 2, 5, "has nothing to count");
    refuse("bars:\n  - {name: a, count: same class, aim: 1, column: slow}\n", 2, 5, "needs 'classes:'");
    refuse("bars:\n  - {name: a, count: within a quarter, aim: 1, figure: class}\n", 2, 5, "under 'paper:'");
    refuse("bars:\n  - {name: a, count: reproduced, aim: 1, measure: kind}\n", 2, 5, "under 'claims:'");
}

static void a_study_has_bars_over_all_its_figures(void **state)
{
    struct experiment e;
    kit_write("one.yaml", HEAD);
    kit_need(&e, "study: [one]\nbars: [{name: all claims, count: reproduced, aim: 30}]\n");
    assert_int_equal(e.bar_count, 1);
    assert_int_equal(e.bars[0].figure, BAR_ALL);
    assert_int_equal(e.bars[0].aim, 30);
    experiment_free(&e);
    refuse_text("study: [one]\nbars: [{name: a, count: reproduced, aim: 1, column: fast}]\n", 2, 45,
                "unknown key 'column'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_count_within_a_quarter_where_the_paper_has_one),
        cmocka_unit_test(workloads_count_in_the_papers_class),
        cmocka_unit_test(claims_count_by_their_verdict),
        cmocka_unit_test(a_bar_is_open_while_a_run_could_decide_it),
        cmocka_unit_test(a_share_is_rounded_up),
        cmocka_unit_test(bars_are_printed),
        cmocka_unit_test(each_claim_of_a_paper_counts_once),
        cmocka_unit_test(wrong_bars_are_refused_at_their_place),
        cmocka_unit_test(a_bar_that_counts_nothing_is_refused),
        cmocka_unit_test(a_study_has_bars_over_all_its_figures),
    };
    return cmocka_run_group_tests(tests, kit_setup, kit_teardown);
}
