/* cost() and energy() in expressions: bytes that the mechanisms of a column store, without a run; joules of a
 * run, from its statistics and the table of its machine; and where the errors of a wrong one point. */
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

/* ---- energy ---- */

#define RUNS                                                                                                 \
    "machine: fermi\nsize: tiny\nworkloads: [red]\n"                                                         \
    "columns: {base: {}, VC: {mech: victim}, own: {set: {energy: accelwattch}}, none: {set: {energy: "       \
    "''}}}\n"

/* One second on each: 1000 hits of the L1 and 10 lookups of the victim cache. */
static double joules(const char *measure, const char *column)
{
    static const char *const columns[] = {"base", "VC", "own", "none"};
    struct rig r;
    struct figure_values v;
    char text[1024];
    snprintf(text, sizeof text, RUNS "measures: {a: %s}\n" FIGURE, measure);
    rig_up(&r, text);
    for (uint32_t i = 0; i < ARRAY_LEN(columns); i++) {
        kit_put(&r.store, &r.p, "red", columns[i], "gpu.cycles", 1.4e9);
        kit_put(&r.store, &r.p, "red", columns[i], "l1.load_hits", 1000);
    }
    kit_put(&r.store, &r.p, "red", "VC", "victim.lookups", 10);
    figure_values_open(&v, &r.p, &r.store);
    const double value = figure_value(&v, 0, kit_column(&r.e, column), 0, NULL);
    figure_values_close(&v);
    rig_down(&r);
    return value;
}

static bool about(double a, double b) { return fabs(a - b) <= 1e-8 * fabs(b); }

/* GPUWattch: a hit is 2935 pJ, 11 W are always on, 15 idle SMs of 1.59 W, 35.6 W leak. */
static void energy_of_a_run(void **state)
{
    const double hits = 1000 * 2935e-12, always = 11 + 15 * 1.59, leak = 35.6;
    assert_true(about(joules("energy(seconds)", "base"), 1));
    assert_true(about(joules("energy(l1)", "base"), hits));
    assert_true(about(joules("energy(always)", "base"), always));
    assert_true(about(joules("energy(events)", "base"), hits));
    assert_true(about(joules("energy(without_leakage)", "base"), hits + always));
    assert_true(about(joules("energy(total)", "base"), hits + always + leak));
    assert_true(about(joules("energy(events) - base.energy(events)", "VC"), 10 * 2e-12));
    assert_true(joules("energy(l1) / base.energy(l1)", "own") < 0.2);
}

/* A machine that another column decides: the SMs that it has pay, not those of the first choice. */
static void energy_of_a_run_whose_machine_was_chosen(void **state)
{
    struct rig r;
    struct figure_values v;
    rig_up(&r, "machine: fermi\nsize: tiny\nworkloads: [red]\ncolumns:\n"
               "  best: {over: {sm.count: [5, 10, 15]}, best: ipc}\n"
               "  IBL: {set: {sm.count: 'chosen(best, sm.count)', l1.mshrs: 16}}\n"
               "measures: {a: energy(always), ipc: ipc}\n"
               "figures: [{id: f, columns: [IBL], measures: [a]}]\n");
    kit_put(&r.store, &r.p, "red", "best=5", "ipc", 1);
    kit_put(&r.store, &r.p, "red", "best=10", "ipc", 3);
    kit_put(&r.store, &r.p, "red", "best=15", "ipc", 2);
    assert_true(plan_advance(&r.p, &r.store, kit_folder, &r.diags));
    kit_put(&r.store, &r.p, "red", "IBL", "gpu.cycles", 1.4e9);
    figure_values_open(&v, &r.p, &r.store);
    assert_true(about(figure_value(&v, 0, kit_column(&r.e, "IBL"), 0, NULL), 11 + 10 * 1.59));
    figure_values_close(&v);
    rig_down(&r);
}

static void rows_of_mechanisms(void **state)
{
    assert_true(about(joules("energy(victim.tags)", "VC"), 10 * 2e-12));
    assert_true(about(joules("energy(victim)", "VC"), 10 * 2e-12));
    assert_true(about(joules("VC.energy(mechanisms)", "base"), 10 * 2e-12));
    assert_true(joules("energy(mechanisms)", "base") == 0);
    assert_true(isnan(joules("energy(victim.tags)", "base")));
}

static void a_machine_without_a_table_has_no_energy(void **state)
{
    assert_true(isnan(joules("energy(total)", "none")));
}

static void a_run_that_is_not_there_has_no_energy(void **state)
{
    struct rig r;
    struct figure_values v;
    rig_up(&r, RUNS "measures: {a: energy(total)}\n" FIGURE);
    figure_values_open(&v, &r.p, &r.store);
    assert_true(isnan(figure_value(&v, 0, 0, 0, NULL)));
    assert_true(v.open);
    figure_values_close(&v);
    rig_down(&r);
}

/* ---- errors ---- */

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
    refuse(TOP "measures: {a: cost(linebacker.vt)}\n" FIGURE, 3, 15, "stores nothing called 'vt'");
    refuse(TOP "measures: {a: cost(linebacker.vt)}\n" FIGURE, 3, 15, "linebacker stores hpc, lm, ipc");
    refuse(TOP "measures: {a: cost(pcal)}\n" FIGURE, 3, 15, "name a part");
    refuse(TOP "measures: {a: cost(gto)}\n" FIGURE, 3, 15, "'gto' declares no storage");
    refuse(TOP "measures: {a: cost()}\n" FIGURE, 3, 20, "a name is missing");
    refuse(TOP "measures: {a: LBB.cost(linebacker)}\n" FIGURE, 3, 15, "no column is called 'LBB'");
    refuse("machine: maxwell\ncolumns: {bad: {mech: linebacker, set: {l1.line: 64}}}\n"
           "measures: {a: cost(linebacker)}\n" FIGURE,
           3, 15, "l1.line is 64");
}

static void wrong_energies_are_refused_at_their_place(void **state)
{
    refuse(RUNS "measures: {a: 2 * energy(totl)}\n" FIGURE, 5, 19, "did you mean 'total'");
    refuse(RUNS "measures: {a: energy(victim.tag)}\n" FIGURE, 5, 15, "is called 'victim.tag'");
    refuse(RUNS "measures: {a: energy(linebacker.vtt)}\n" FIGURE, 5, 15, "is called 'linebacker.vtt'");
    refuse(RUNS "measures: {a: energy()}\n" FIGURE, 5, 22, "a name is missing");
    refuse("machine: fermi\nset: {energy: ''}\nsize: tiny\nworkloads: [red]\ncolumns: {base: {}}\n"
           "measures: {a: energy(total)}\n" FIGURE,
           6, 15, "no column's machine names a table");
    refuse("machine: fermi\nset: {energy: gpuwatch}\nsize: tiny\nworkloads: [red]\ncolumns: {base: {}}\n"
           "measures: {a: energy(total)}\n" FIGURE,
           6, 15, "no table of energies 'gpuwatch'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_of_a_run),
        cmocka_unit_test(energy_of_a_run_whose_machine_was_chosen),
        cmocka_unit_test(rows_of_mechanisms),
        cmocka_unit_test(a_machine_without_a_table_has_no_energy),
        cmocka_unit_test(a_run_that_is_not_there_has_no_energy),
        cmocka_unit_test(wrong_energies_are_refused_at_their_place),
        cmocka_unit_test(storage_of_a_column),
        cmocka_unit_test(a_column_without_the_mechanism_has_no_value),
        cmocka_unit_test(wrong_names_are_refused_at_their_place),
    };
    return cmocka_run_group_tests(tests, kit_setup, kit_teardown);
}
