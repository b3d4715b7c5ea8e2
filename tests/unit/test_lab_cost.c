/* cost() in expressions: bytes that the mechanisms of a column store, without a run; and where the errors of
 * a wrong one point. */
#include "figure_rig.h"

#define TOP                                                                                                  \
    "machine: maxwell\n"                                                                                     \
    "columns: {base: {}, LB: {mech: linebacker}, small: {mech: linebacker, mech_set: "                       \
    "{linebacker.partitions: 2}}, PCAL: {mech: pcal}, bad: {mech: linebacker, set: {l1.line: 64}}}\n"
#define FIGURE "figures: [{id: f}]\n"

/* The value of the first measure for a column. */
static double value_of(const char *measures, const char *column)
{
    struct rig r;
    struct figure_values v;
    char text[1024];
    snprintf(text, sizeof text, TOP "measures: {%s}\n" FIGURE, measures);
    rig_up(&r, text);
    assert_int_equal(r.p.job_count, 0);
    figure_values_open(&v, &r.p, &r.store);
    const double value = figure_value(&v, FIGURE_MEAN, kit_column(&r.e, column), 0, NULL);
    figure_values_close(&v);
    rig_down(&r);
    return value;
}

/* Linebacker's section 4.2: 6230.75 bytes of an SM, of which the tag table has 1536 entries of 24 bits. */
static void storage_of_a_column(void **state)
{
    assert_true(value_of("a: cost(linebacker)", "LB") == 6230.75);
    assert_true(value_of("a: cost(linebacker.vtt)", "LB") == 4608);
    /* 384 entries of 1 + 18 + 3 bits */
    assert_true(value_of("a: cost(linebacker.vtt)", "small") == 384 * 22 / 8);
    assert_true(value_of("a: LB.cost(linebacker.vtt) - cost(linebacker.vtt)", "small") == 4608 - 1056);
    assert_true(value_of("a: '\"LB\".cost(linebacker.lm)'", "base") == 392);
    assert_true(value_of("a: cost(pcal.tuple)", "PCAL") == 1.5);
}

static void a_column_without_the_mechanism_has_no_value(void **state)
{
    assert_true(isnan(value_of("a: cost(linebacker)", "base")));
    assert_true(isnan(value_of("a: cost(linebacker)", "bad")));
}

static void refuse(const char *text, int line, int col, const char *message)
{
    struct experiment e = {0};
    struct diag_list diags = {0};
    struct strbuf out = {0};
    assert_false(kit_load(&e, text, &diags));
    diag_render(&diags, &out);
    if (!strstr(strbuf_text(&out), message) || diags.items.data[0].line != line ||
        diags.items.data[0].col != col)
        fail_msg("wanted %d:%d '%s':\n%s", line, col, message, strbuf_text(&out));
    strbuf_free(&out);
    diag_free(&diags);
    experiment_free(&e);
}

static void wrong_names_are_refused_at_their_place(void **state)
{
    refuse(TOP "measures: {a: 1 + cost(linebaker)}\n" FIGURE, 3, 19, "no column has a mechanism 'linebaker'");
    refuse(TOP "measures: {a: cost(linebacker.vt)}\n" FIGURE, 3, 15, "stores nothing that is called 'vt'");
    refuse(TOP "measures: {a: cost(linebacker.vt)}\n" FIGURE, 3, 15, "linebacker stores hpc, lm, ipc");
    refuse(TOP "measures: {a: cost(pcal)}\n" FIGURE, 3, 15, "name a part");
    refuse(TOP "measures: {a: cost(gto)}\n" FIGURE, 3, 15, "'gto' declares no storage");
    refuse(TOP "measures: {a: cost()}\n" FIGURE, 3, 20, "a name is missing");
    refuse(TOP "measures: {a: LBB.cost(linebacker)}\n" FIGURE, 3, 15, "no column is called 'LBB'");
    refuse("machine: maxwell\ncolumns: {bad: {mech: linebacker, set: {l1.line: 64}}}\n"
           "measures: {a: cost(linebacker)}\n" FIGURE,
           3, 15, "l1.line is 64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storage_of_a_column),
        cmocka_unit_test(a_column_without_the_mechanism_has_no_value),
        cmocka_unit_test(wrong_names_are_refused_at_their_place),
    };
    return cmocka_run_group_tests(tests, kit_setup, kit_teardown);
}
