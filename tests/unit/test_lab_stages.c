/* test_lab_stages.c: runs that follow from results: conditions of `where`, settings that another column
 * chose, tables of what was best for each launch; and numbers of single launches, over all workloads, and of
 * classes of them. */
#include "figure_rig.h"

#include "json_check.h"

#define TAIL "measures: {ipc: ipc}\nfigures: [{id: f, columns: [base]}]\n"

static void advance(struct rig *r)
{
    if (!plan_advance(&r->p, &r->store, kit_folder, &r->diags))
        fail_msg("%s", r->diags.items.data[0].message);
}

static uint32_t job_at(const struct rig *r, const char *workload, const char *column)
{
    return plan_job(&r->p, kit_workload_at(&r->e, workload), kit_column(&r->e, column));
}

static void put(struct rig *r, const char *workload, const char *column, const char *name, double value)
{
    kit_put(&r->store, &r->p, workload, column, name, value);
}

/* ---- where ---- */

static void where_leaves_combinations_out(void **state)
{
    struct rig r;
    rig_up(&r,
           "machine: kepler\nworkloads: [red]\ncolumns:\n  base: {}\n"
           "  np: {mech: tuple, over: {tuple.n: [1, 2, 4], tuple.p: [1, 2, 4]}, where: tuple.p <= tuple.n}\n"
           "  few: {over: {l1.mshrs: [8, 16, 32]}, where: [l1.mshrs > 8, (l1.mshrs == 16) + 0 != 0]}\n" TAIL);
    assert_int_equal(r.e.column_count, 1 + 6 + 1);
    assert_string_equal(r.e.columns[3].name, "np=2,2");
    assert_string_equal(r.e.columns[7].name, "few=16");
    assert_int_equal(r.p.job_count, 8);
    assert_int_equal(plan_later(&r.p), 0);
    rig_down(&r);
}

static void a_condition_on_a_run_waits_for_it(void **state)
{
    struct rig r;
    rig_up(
        &r,
        "machine: kepler\nworkloads: [red, blue]\ncolumns:\n  base: {}\n"
        "  np: {mech: tuple, over: {tuple.n: [1, 2, 4]}, where: tuple.n <= base.resident.warps / 2}\n" TAIL);
    assert_int_equal(r.p.job_count, 2); /* the two of base */
    assert_int_equal(plan_later(&r.p), 6);
    advance(&r);
    assert_int_equal(r.p.job_count, 2); /* nothing is known */
    put(&r, "red", "base", "resident.warps", 5);
    advance(&r);
    assert_int_equal(r.p.job_count, 4);
    assert_int_equal(job_at(&r, "red", "np=4"), PLAN_NO_JOB);
    assert_string_equal(r.p.jobs[job_at(&r, "red", "np=2")].run.mech_sets[0], "tuple.n=2");
    assert_int_equal(job_at(&r, "blue", "np=1"), PLAN_LATER);
    put(&r, "blue", "base", "resident.warps", 8);
    advance(&r);
    assert_int_equal(r.p.job_count, 7);
    assert_int_equal(plan_later(&r.p), 0);
    rig_down(&r);
}

/* ---- chosen ---- */

static const char pcal_swl[] =
    "machine: kepler\nworkloads: [red, blue]\ncolumns:\n  base: {}\n"
    "  best-swl: {mech: swl, over: {swl.warps: [2, 4, 8]}, best: ipc}\n"
    "  PCAL-SWL: {mech: pcal, mech_set: {pcal.start_n: 'chosen(best-swl, swl.warps)', pcal.window: 1000}}\n"
    "measures: {ipc: ipc, n: param(pcal.start_n)}\n"
    "figures: [{id: f, columns: [PCAL-SWL], measures: [ipc, n]}]\n";

static void a_setting_is_what_another_column_chose(void **state)
{
    struct rig r;
    struct figure_data d;
    rig_up(&r, pcal_swl);
    assert_int_equal(r.p.job_count, 8);
    assert_int_equal(job_at(&r, "red", "PCAL-SWL"), PLAN_LATER);
    put(&r, "red", "best-swl=2", "ipc", 1);
    put(&r, "red", "best-swl=4", "ipc", 3);
    advance(&r);
    assert_int_equal(job_at(&r, "red", "PCAL-SWL"), PLAN_LATER); /* 8 might be better */
    put(&r, "red", "best-swl=8", "ipc", 2);
    advance(&r);
    const uint32_t job = job_at(&r, "red", "PCAL-SWL");
    assert_int_equal(job, 8);
    assert_string_equal(r.p.jobs[job].run.mech_sets[0], "pcal.start_n=4");
    assert_string_equal(r.p.jobs[job].run.mech_sets[1], "pcal.window=1000");
    assert_null(r.p.jobs[job].run.mech_sets[2]);
    assert_int_equal(job_at(&r, "blue", "PCAL-SWL"), PLAN_LATER);
    put(&r, "red", "PCAL-SWL", "ipc", 5);
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_true(d.cells[0].value == 5 && d.cells[1].value == 4);
    assert_true(isnan(d.cells[2].value) && isnan(d.cells[3].value));
    assert_int_equal(d.missing, 4); /* blue: three limits, and the run that waits for them */
    struct strbuf json = {0};
    struct figure_set set = {.plan = &r.p, .figures = &d, .count = 1};
    experiment_json(&set, &json);
    assert_true(json_is_valid(strbuf_text(&json)));
    strbuf_free(&json);
    figure_free(&d);
    rig_down(&r);
}

/* A report, which has another plan, finds the run that the sweep made. */
static void what_is_in_the_store_decides(void **state)
{
    struct rig r, again;
    rig_up(&r, pcal_swl);
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"best-swl=2", "best-swl=4", "best-swl=8"};
        put(&r, "blue", names[i], "ipc", 9 - i);
    }
    advance(&r);
    rig_up(&again, pcal_swl);
    again.store = r.store;
    advance(&again);
    assert_string_equal(r.p.jobs[job_at(&r, "blue", "PCAL-SWL")].key,
                        again.p.jobs[job_at(&again, "blue", "PCAL-SWL")].key);
    assert_string_equal(again.p.jobs[job_at(&again, "blue", "PCAL-SWL")].run.mech_sets[0], "pcal.start_n=2");
    rig_down(&again);
    rig_down(&r);
}

/* ---- per: kernel ---- */

static const char static_best[] =
    "machine: kepler\nworkloads: [red]\ncolumns:\n  base: {}\n"
    "  np: {mech: tuple, over: {tuple.n: [1, 2], tuple.p: [1, 2]}, where: tuple.p <= tuple.n}\n"
    "  Static-Best: {of: np, best: -cycles, per: kernel, mech: tuple, into: {tuple.file: [tuple.n, "
    "tuple.p]}}\n"
    "measures: {cycles: cycles, third: \"kernel(3).cycles\", even: \"kernel('even', 1).cycles\"}\n"
    "figures:\n  - {id: f, columns: [Static-Best], measures: [cycles]}\n"
    "  - {id: k, columns: [np], measures: [third, even]}\n"
    "  - {id: m, draw: heatmap, workload: red, kernel: 2, axes: [tuple.n, tuple.p], columns: np, measures: "
    "[cycles]}\n";

static void put_launches(struct rig *r)
{
    static const struct {
        const char *column;
        double cycles[3];
    } runs[] = {{"np=1,1", {50, 20, 70}}, {"np=2,1", {40, 30, 70}}, {"np=2,2", {60, 10, 90}}};
    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        static const char *const names[] = {"kernel(1).cycles", "kernel(2).cycles", "kernel(3).cycles"};
        put(r, "red", runs[i].column, "launches", 3);
        for (int k = 0; k < 3; k++) put(r, "red", runs[i].column, names[k], runs[i].cycles[k]);
    }
}

static void each_launch_gets_what_was_best_for_it(void **state)
{
    struct rig r;
    char text[512] = "", path[256];
    rig_up(&r, static_best);
    assert_int_equal(plan_later(&r.p), 1);
    put_launches(&r);
    advance(&r);
    const struct lab_job *job = &r.p.jobs[job_at(&r, "red", "Static-Best")];
    assert_string_equal(job->run.mechs[0], "tuple");
    assert_int_equal(strncmp(job->run.mech_sets[0], "tuple.file=", 11), 0);
    snprintf(path, sizeof path, "%s", job->run.mech_sets[0] + 11);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    /* of equal ones the first: launch 3 */
    assert_string_equal(text, "# Static-Best of red, small: KERNEL LAUNCH tuple.n tuple.p\n"
                              "odd 1 2 1\neven 2 2 2\nodd 3 1 1\n");
    rig_down(&r);
}

static void a_table_that_cannot_be_kept_is_an_error(void **state)
{
    struct rig r;
    rig_up(&r, static_best);
    put_launches(&r);
    assert_false(plan_advance(&r.p, &r.store, "/nowhere/at/all", &r.diags));
    assert_non_null(strstr(r.diags.items.data[0].message, "cannot write /nowhere/at/all/table-"));
    rig_down(&r);
}

static void launches_have_numbers_of_their_own(void **state)
{
    struct rig r;
    struct figure_data d;
    rig_up(&r, static_best);
    put_launches(&r);
    assert_true(figure_make(&d, &r.p, &r.e.figures[1], &r.store, &r.diags));
    assert_true(d.cells[0].value == 70 && d.cells[1].value == 20); /* np=1,1 */
    assert_true(d.cells[4].value == 90 && d.cells[5].value == 10); /* np=2,2 */
    figure_free(&d);
    rig_down(&r);
}

/* ---- maps ---- */

static void a_map_stands_on_its_two_axes(void **state)
{
    struct rig r;
    struct figure_data d;
    rig_up(&r, static_best);
    put_launches(&r);
    assert_true(figure_make(&d, &r.p, &r.e.figures[2], &r.store, &r.diags));
    assert_int_equal(d.cell_count, 3);
    struct strbuf out = {0};
    figure_print_table(&r.p, &d, 80, &out);
    assert_string_equal(strbuf_text(&out), "tuple.p / tuple.n       1       2\n"
                                           "                2          10.000\n"
                                           "                1  20.000  30.000\n");
    strbuf_free(&out);
    struct figure_set set = {.plan = &r.p, .figures = &d, .count = 1};
    experiment_json(&set, &out);
    assert_true(json_is_valid(strbuf_text(&out)));
    assert_non_null(
        strstr(strbuf_text(&out), "\"axes\":[\"tuple.n\",\"tuple.p\"],\"places\":[[1,1],[2,1],[2,2]]"));
    strbuf_free(&out);
    figure_free(&d);
    rig_down(&r);
}

/* ---- over workloads, and classes of them ---- */

static const char over[] = "paper: kit\nmachine: fermi\nworkloads: [red, blue, green]\ncolumns: {base: {}, "
                           "fast: {set: {l1.mshrs: 64}}}\n"
                           "measures:\n  speedup: ipc / base.ipc\n  x: l1.hits\n  r: 'pearson(speedup, x)'\n"
                           "  error: 'mape(x, speedup)'\n  gain: harmonic(fast.speedup) - "
                           "smallest(fast.speedup)\n  twice: 2 * gain\n"
                           "figures:\n  - {id: a, columns: fast, measures: [r, error, gain, twice], claims: "
                           "[{id: t.fast, measure: gain}]}\n"
                           "  - {id: b, columns: fast, measures: speedup, mean: arithmetic, classes: [S, I], "
                           "claims: [{id: t.slow, class: "
                           "S}, {id: t.near, mean: largest}]}\n";

static void put_over(struct rig *r)
{
    static const struct {
        const char *workload;
        double ipc, hits;
    } runs[] = {{"red", 2, 2}, {"blue", 4, 3}, {"green", 8, 5}};
    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        put(r, runs[i].workload, "base", "ipc", 1);
        put(r, runs[i].workload, "fast", "ipc", runs[i].ipc);
        put(r, runs[i].workload, "fast", "l1.hits", runs[i].hits);
    }
}

static void measures_over_all_workloads_have_one_row(void **state)
{
    struct rig r;
    struct figure_data d;
    rig_up(&r, over);
    put_over(&r);
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_int_equal(d.cell_count, 4);
    /* x 2 3 5 and speed-ups 2 4 8: deviations -4/3 -1/3 5/3 and -8/3 -2/3 10/3, one twice the other */
    assert_true(fabs(d.cells[0].value - 1) < 1e-12);
    assert_true(is_near(d.cells[1].value, (0.0 / 2 + 1.0 / 4 + 3.0 / 8) / 3));
    const double gain = 3 / (1 / 2.0 + 1 / 4.0 + 1 / 8.0) - 2;
    assert_true(is_near(d.cells[2].value, gain));
    assert_true(is_near(d.cells[3].value, 2 * gain));
    assert_true(is_near(d.claims[0].ours, gain));
    figure_free(&d);
    r.store.count -= 2; /* green has no ipc with fast */
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_true(isnan(d.cells[0].value) && isnan(d.claims[0].ours));
    assert_int_equal(d.claims[0].verdict, VERDICT_OPEN);
    figure_free(&d);
    rig_down(&r);
}

static void classes_have_means_and_claims(void **state)
{
    struct rig r;
    struct figure_data d;
    rig_up(&r, over);
    put_over(&r);
    assert_true(figure_make(&d, &r.p, &r.e.figures[1], &r.store, &r.diags));
    assert_int_equal(d.cell_count, 3 + 2 + 1);
    assert_string_equal(d.cells[3].class_mean, "S");
    assert_true(d.cells[3].value == 4 && d.cells[3].paper == -0.2); /* blue */
    assert_true(d.cells[4].value == 8 && isnan(d.cells[4].paper));  /* green */
    assert_true(is_near(d.cells[5].value, 14.0 / 3) && isnan(d.cells[5].paper));
    assert_true(d.claims[0].ours == 4 && d.claims[1].ours == 8);
    struct strbuf out = {0};
    figure_print_table(&r.p, &d, 80, &out);
    assert_non_null(strstr(strbuf_text(&out), "\nmean of I  8.000\nmean       4.667\n"));
    strbuf_free(&out);
    figure_free(&d);
    rig_down(&r);
}

static void a_measure_may_ask_another_workload(void **state)
{
    struct rig r;
    struct figure_data d;
    const char *const kept[] = {"red", "green"};
    rig_up(&r, "machine: fermi\nworkloads: [red, blue, green]\ncolumns: {base: {}}\n"
               "measures: {less: \"ipc - at('blue', ipc)\"}\nfigures: [{id: f}]\n");
    put(&r, "red", "base", "ipc", 5);
    put(&r, "blue", "base", "ipc", 3);
    put(&r, "green", "base", "ipc", 1);
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_true(d.cells[0].value == 2 && d.cells[1].value == 0 && d.cells[2].value == -2);
    figure_free(&d);
    plan_free(&r.p);
    assert_true(experiment_narrow(&r.e, kept, 2, NULL, &r.diags));
    assert_true(plan_make(&r.p, &r.e, NULL, &r.diags));
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_true(isnan(d.cells[0].value)); /* blue was left out */
    figure_free(&d);
    rig_down(&r);
}

/* Thesis 5.5.3: the peak at (2, 2) has a cliff beside it; (3, 3) is the safer point. */
static void the_score_of_a_point_is_that_of_its_neighbourhood(void **state)
{
    static const double speed[3][3] = {{0.5, 0, 0}, {0.5, 1.2, 0}, {1.1, 1.1, 1.1}}; /* [n][p] */
    struct rig r;
    struct figure_data d;
    rig_up(&r,
           "machine: kepler\nworkloads: [red]\ncolumns:\n"
           "  np: {mech: tuple, over: {tuple.n: [1, 2, 3], tuple.p: [1, 2, 3]}, where: tuple.p <= tuple.n}\n"
           "  peak: {of: np, best: ipc}\n  target: {of: np, best: near(ipc)}\n"
           "measures: {n: param(tuple.n), p: param(tuple.p), ipc: ipc, score: near(ipc)}\n"
           "figures: [{id: f, columns: [peak, target], measures: [n, p, ipc, score]}]\n");
    for (int n = 0; n < 3; n++)
        for (int p = 0; p <= n; p++) {
            char name[16];
            snprintf(name, sizeof name, "np=%d,%d", n + 1, p + 1);
            put(&r, "red", name, "ipc", speed[n][p]);
        }
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_true(d.cells[0].value == 2 && d.cells[1].value == 2 && is_near(d.cells[2].value, 1.2));
    const double peak = 1.2 + 0.5 * (0.5 + 1.1) + 0.25 * (0.5 + 1.1 + 1.1);
    assert_true(is_near(d.cells[3].value, peak / (1 + 2 * 0.5 + 3 * 0.25)));
    assert_true(d.cells[4].value == 3 && d.cells[5].value == 3 && is_near(d.cells[6].value, 1.1));
    assert_true(is_near(d.cells[7].value, (1.1 + 0.5 * 1.1 + 0.25 * 1.2) / 1.75));
    figure_free(&d);
    rig_down(&r);
}

/* ---- errors ---- */

static void refuse(const char *text, int line, int col, const char *words)
{
    struct experiment e;
    struct diag_list diags = {0};
    if (kit_load(&e, text, &diags)) fail_msg("was not refused (%s):\n%s", words, text);
    const struct diag *d = &diags.items.data[0];
    if (d->line != line || d->col != col ||
        (!strstr(d->message, words) && !(d->hint && strstr(d->hint, words))))
        fail_msg("%s: %d:%d %s (%s)", words, d->line, d->col, d->message, d->hint ? d->hint : "");
    diag_free(&diags);
    experiment_free(&e);
}

#define TOP   "machine: kepler\nworkloads: [red, blue]\n"
#define TUPLE "columns: {base: {}, a: {mech: tuple, over: {tuple.n: [1, 2]}, where: "
#define SWL                                                                                                  \
    "columns: {base: {}, s: {mech: swl, over: {swl.warps: [1, 2]}, best: ipc}, p: {mech: pcal, mech_set: "

static void wrong_conditions_are_refused_at_their_place(void **state)
{
    refuse(TOP TUPLE "tuple.q < 2}}\n" TAIL, 3, 70, "no statistic is called 'tuple.q'");
    refuse(TOP TUPLE "tuple.n > 2}}\n" TAIL, 3, 70, "leaves no column");
    refuse(TOP TUPLE "ipc > 2}}\n" TAIL, 3, 70, "the run that the condition decides about");
    refuse(TOP TUPLE "tuple.n <}}\n" TAIL, 3, 79, "the expression ends");
    refuse(TOP TUPLE "1, label: [x, y]}}\n" TAIL, 3, 80, "do not go with 'where'");
    refuse(TOP "columns: {a: {where: 1}}\n" TAIL, 3, 22, "'where' belongs to 'over'");
    refuse(TOP "columns: {a: {over: {l1.index: [linear]}, where: l1.index < 2}}\n" TAIL, 3, 50,
           "has no value");
}

static void wrong_choices_are_refused_at_their_place(void **state)
{
    refuse(TOP SWL "{pcal.start_n: 'chosen(q, swl.warps)'}}}\n" TAIL, 3, 116, "no column is called 'q'");
    refuse(TOP SWL "{pcal.start_n: 'chosen(base, swl.warps)'}}}\n" TAIL, 3, 116, "chooses nothing");
    refuse(TOP SWL "{pcal.start_n: 'chosen(s, swl.warp)'}}}\n" TAIL, 3, 116, "no parameter 'swl.warp'");
    refuse(TOP SWL "{pcal.start_n: 'chosen(s)'}}}\n" TAIL, 3, 116,
           "takes a column with 'best', and a parameter");
    refuse(TOP SWL "{pcal.begin: 'chosen(s, swl.warps)'}}}\n" TAIL, 3, 102,
           "parameter of an attached mechanism");
}

#define OF   "columns: {base: {}, a: {mech: tuple, over: {tuple.n: [1, 2]}}, b: {of: a"
#define NP   OF ", best: ipc, per: kernel"
#define INTO ", into: {tuple.file: [tuple.n]}}}\n"

static void wrong_tables_are_refused_at_their_place(void **state)
{
    refuse(TOP NP ", mech: tuple}}\n" TAIL, 3, 64, "'into' names the parameter");
    refuse(TOP NP INTO TAIL, 3, 106, "not a parameter of this column that names a file");
    refuse(TOP NP ", mech: tuple, into: {tuple.p: [tuple.n]}}}\n" TAIL, 3, 119, "names a file");
    refuse(TOP NP ", mech: tuple, into: {tuple.file: [swl.warps]}}}\n" TAIL, 3, 131,
           "has no parameter 'swl.warps'");
    refuse(TOP "columns: {a: {}, b: {of: a, best: ipc, mech: swl}}\n" TAIL, 3, 40, "unknown key 'mech'");
    refuse(TOP "columns: {a: {}, b: {of: a, best: ipc, per: block}}\n" TAIL, 3, 45,
           "one of workload, kernel");
}

#define COLUMNS                                                                                              \
    "paper: kit\n" TOP                                                                                       \
    "columns: {base: {}, a: {mech: tuple, over: {tuple.n: [1, 2]}}}\nmeasures: {ipc: ipc}\n"

static void wrong_figures_are_refused_at_their_place(void **state)
{
    refuse(COLUMNS "figures: [{id: f, workload: rde}]\n", 6, 29, "did you mean 'red'");
    refuse(COLUMNS "figures: [{id: f, kernel: 3}]\n", 6, 27, "launch of the figure's 'workload'");
    refuse(COLUMNS "figures: [{id: f, workload: red, kernel: [a, b]}]\n", 6, 42, "launch of the figure's");
    refuse(COLUMNS "figures: [{id: f, axes: [tuple.n, tuple.p]}]\n", 6, 25, "'axes' are two parameters");
    refuse(COLUMNS "figures: [{id: f, draw: heatmap, workload: red, columns: [base, a], axes: [tuple.n, "
                   "tuple.p]}]\n",
           6, 76, "column 'base' has no parameter 'tuple.n'");
    refuse(COLUMNS "figures: [{id: f, mean: geometric, classes: [T]}]\n", 6, 46,
           "no class of these workloads");
    refuse(COLUMNS "figures: [{id: f, classes: [S]}]\n", 6, 28, "the figure must say which");
    refuse(COLUMNS
           "figures: [{id: f, columns: base, claims: [{id: t.fast, workload: red, mean: largest}]}]\n",
           6, 43, "about a workload or about a mean");
    refuse(COLUMNS "figures: [{id: f, columns: base, claims: [{id: t.fast, mean: median}]}]\n", 6, 62,
           "'mean' cannot be 'median'");
    refuse("machine: fermi\nworkloads: [red]\ncolumns: {b: {}}\nmeasures: {a: \"kernel(0).cycles\"}\n", 4, 23,
           "numbered from 1");
    refuse("machine: fermi\nworkloads: [red]\ncolumns: {b: {}}\nmeasures: {a: \"kernel(1).host.seconds\"}\n",
           4, 16, "a number of the whole run");
    refuse("machine: fermi\nworkloads: [red]\ncolumns: {b: {}}\nmeasures: {a: pearson(ipc)}\n", 4, 15,
           "pearson takes 2 values");
    refuse("machine: fermi\nworkloads: [red]\ncolumns: {b: {}}\nmeasures: {a: \"at('rde', ipc)\"}\n", 4, 16,
           "did you mean 'red'");
    refuse("machine: fermi\nworkloads: [red]\ncolumns: {b: {}}\nmeasures: {a: at(red)}\n", 4, 15,
           "in quotes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_leaves_combinations_out),
        cmocka_unit_test(a_condition_on_a_run_waits_for_it),
        cmocka_unit_test(a_setting_is_what_another_column_chose),
        cmocka_unit_test(what_is_in_the_store_decides),
        cmocka_unit_test(each_launch_gets_what_was_best_for_it),
        cmocka_unit_test(a_table_that_cannot_be_kept_is_an_error),
        cmocka_unit_test(launches_have_numbers_of_their_own),
        cmocka_unit_test(a_map_stands_on_its_two_axes),
        cmocka_unit_test(measures_over_all_workloads_have_one_row),
        cmocka_unit_test(classes_have_means_and_claims),
        cmocka_unit_test(a_measure_may_ask_another_workload),
        cmocka_unit_test(the_score_of_a_point_is_that_of_its_neighbourhood),
        cmocka_unit_test(wrong_conditions_are_refused_at_their_place),
        cmocka_unit_test(wrong_choices_are_refused_at_their_place),
        cmocka_unit_test(wrong_tables_are_refused_at_their_place),
        cmocka_unit_test(wrong_figures_are_refused_at_their_place),
    };
    return cmocka_run_group_tests(tests, kit_setup, kit_teardown);
}
