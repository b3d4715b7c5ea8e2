/* Experiments: what is read, what `like`, `over` and `best` make of a column, and where the errors of a wrong
 * file point. */
#include "experiment_kit.h"

#include "core/machine.h"
#include "lab/expr.h"

#define TAIL "measures: {ipc: ipc}\nfigures: [{id: f}]\n"

static void a_whole_experiment_is_read(void **state)
{
    struct experiment e;
    kit_need(&e,
             "title: gains\nabout: all of it\npaper: kit\nmachine: fermi\nsize: tiny\nseed: 7\nsample: 1000\n"
             "workloads: [red, {name: blue, size: large}]\n"
             "columns:\n  base: {}\n  fast: {set: {l1.mshrs: 128, l1.miss_queue: 32}}\n  gto: {mech: gto}\n"
             "measures:\n  ipc: ipc\n  gain: {value: ipc / base.ipc - 1, title: IPC gain, unit: x}\n"
             "figures:\n  - id: fig1\n    title: one\n    where: thesis, Figure 1\n    draw: lines\n    "
             "columns: [fast]\n"
             "    measures: [gain]\n    mean: harmonic\n    percent: true\n    x: size\n    y: gain\n    "
             "note: see\n"
             "    claims:\n      - {id: t.fast, neutral: 0}\n      - {id: t.fast.red, column: fast, measure: "
             "gain, workload: red}\n");
    assert_string_equal(e.name, "test");
    assert_string_equal(e.title, "gains");
    assert_int_equal(e.seed, 7);
    assert_int_equal(e.run.timed.sample_cycles, 1000);
    assert_int_equal(e.workload_count, 2);
    assert_string_equal(e.workloads[0]->name, "red");
    assert_string_equal(e.sizes[0], "tiny");
    assert_string_equal(e.sizes[1], "large");
    assert_int_equal(e.column_count, 3);
    assert_string_equal(e.columns[1].sets[0], "l1.miss_queue=32"); /* in the order of their names */
    assert_string_equal(e.columns[1].sets[1], "l1.mshrs=128");
    assert_null(e.columns[1].sets[2]);
    assert_string_equal(e.columns[2].mechs[0], "gto");
    assert_int_equal(e.columns[1].resolved->l1.mshrs, 128);
    assert_int_equal(e.baseline, 0);
    assert_string_equal(e.measures[1].title, "IPC gain");
    const struct lab_figure *f = &e.figures[0];
    assert_int_equal(f->kind, FIGURE_LINES);
    assert_int_equal(f->mean, MEAN_HARMONIC);
    assert_true(f->percent);
    assert_int_equal(f->column_count, 1);
    assert_int_equal(f->columns[0], 1);
    assert_int_equal(f->claim_count, 2);
    assert_int_equal(f->claims[0].column, 1);
    assert_true(f->claims[0].neutral == 0 && f->claims[0].fact->value == 0.5);
    assert_string_equal(f->claims[1].workload, "red");
    assert_true(isnan(f->claims[1].neutral));
    experiment_free(&e);
}

static void what_is_left_out_has_a_default(void **state)
{
    struct experiment e;
    kit_need(&e, "machine: fermi\nworkloads: [red]\ncolumns:\n  base:\n  one: {}\n  two: {}\n" TAIL);
    assert_string_equal(e.title, "test");
    assert_string_equal(e.sizes[0], "small");
    assert_int_equal(e.figures[0].column_count, 2); /* all but the baseline */
    assert_int_equal(e.figures[0].columns[0], 1);
    assert_int_equal(e.figures[0].kind, FIGURE_BARS);
    assert_int_equal(e.figures[0].mean, MEAN_NONE);
    experiment_free(&e);
    kit_need(&e, "machine: fermi\nworkloads: [red]\ncolumns: {base: {}}\n" TAIL);
    assert_int_equal(e.figures[0].column_count, 1); /* the baseline, when there is nothing else */
    experiment_free(&e);
}

static void a_papers_workloads_are_chosen(void **state)
{
    struct experiment e;
    kit_need(&e, "machine: fermi\nworkloads: {paper: kit}\ncolumns: {base: {}}\n" TAIL);
    assert_int_equal(e.workload_count, 2);
    assert_string_equal(e.workloads[0]->name, "blue");
    experiment_free(&e);
    kit_need(&e, "machine: fermi\nworkloads: {paper: kit, order: gain}\ncolumns: {base: {}}\n" TAIL);
    assert_string_equal(e.workloads[0]->name, "green"); /* the larger first */
    experiment_free(&e);
    kit_need(&e, "machine: fermi\nworkloads: {paper: kit, class: S}\ncolumns: {base: {}}\n" TAIL);
    assert_int_equal(e.workload_count, 1);
    experiment_free(&e);
    kit_need(&e, "machine: fermi\nworkloads: {paper: kit, except: [blue]}\ncolumns: {base: {}}\n" TAIL);
    assert_string_equal(e.workloads[0]->name, "green");
    experiment_free(&e);
}

static void like_joins_settings(void **state)
{
    struct experiment e;
    kit_need(&e, "machine: fermi\nworkloads: [red]\ncolumns:\n  a: {set: {l1.mshrs: 128}, mech: swl, "
                 "mech_set: {swl.warps: 4}}\n"
                 "  b: {set: {l2.mshrs: 64}}\n  a+b: {like: [a, b], set: {l1.mshrs: 256}}\n  on: {machine: "
                 "maxwell}\n  on2: {like: on}\n" TAIL);
    const struct lab_column *c = &e.columns[2];
    assert_string_equal(c->sets[0], "l1.mshrs=256"); /* its own wins */
    assert_string_equal(c->sets[1], "l2.mshrs=64");
    assert_null(c->sets[2]);
    assert_string_equal(c->mechs[0], "swl");
    assert_string_equal(c->mech_sets[0], "swl.warps=4");
    assert_string_equal(e.columns[4].machine, "maxwell");
    experiment_free(&e);
}

static void over_makes_a_column_for_each_value(void **state)
{
    struct experiment e;
    kit_need(&e, "machine: fermi\nworkloads: [red]\ncolumns:\n  base: {}\n  m: {over: {l1.mshrs: [8, 16]}}\n"
                 "  s: {over: {l1.size: [16K, 48K]}, label: [small, large], x: [1, 2]}\n"
                 "  n: {mech: swl, over: {swl.warps: [2, 4], l1.mshrs: [8, 16]}}\n"
                 "measures: {ipc: ipc}\nfigures: [{id: f, columns: [m, large, n]}]\n");
    assert_int_equal(e.column_count, 1 + 2 + 2 + 4);
    assert_string_equal(e.columns[1].name, "m=8");
    assert_true(e.columns[2].x == 16);
    assert_string_equal(e.columns[2].sets[0], "l1.mshrs=16");
    assert_string_equal(e.columns[3].name, "small");
    assert_true(e.columns[3].x == 1);
    assert_string_equal(e.columns[4].sets[0], "l1.size=48K");
    assert_string_equal(e.columns[6].name, "n=2,16");
    assert_string_equal(e.columns[6].mech_sets[0], "swl.warps=2");
    assert_true(isnan(e.columns[6].x));
    assert_int_equal(e.figures[0].column_count, 2 + 1 + 4);
    experiment_free(&e);
}

static void best_hides_its_choices(void **state)
{
    struct experiment e;
    kit_need(&e, "machine: fermi\nworkloads: [red]\ncolumns:\n  base: {}\n  best-swl: {mech: swl, over: "
                 "{swl.warps: [2, 4]}, best: ipc}\n"
                 "  either: {of: [base, best-swl=4], best: -cycles}\n" TAIL);
    assert_int_equal(e.column_count, 5);
    assert_true(e.columns[1].hidden && e.columns[2].hidden);
    const struct lab_column *c = &e.columns[3];
    assert_string_equal(c->name, "best-swl");
    assert_int_equal(c->choice_count, 2);
    assert_int_equal(c->choices[1], 2);
    assert_non_null(c->best);
    assert_int_equal(e.columns[4].choice_count, 2);
    assert_int_equal(e.columns[4].choices[0], 0);
    assert_int_equal(e.figures[0].column_count, 2);
    assert_int_equal(e.figures[0].columns[0], 3);
    experiment_free(&e);
}

/* lower.one_to_one: the order of the PTX, which a study asks for where the paper's simulator executed it. */
static void settings_of_the_experiment_are_those_of_every_column(void **state)
{
    struct experiment e;
    kit_need(&e, "machine: fermi\nset: {lower.one_to_one: true, l1.mshrs: 48}\nworkloads: [red]\ncolumns:\n"
                 "  base: {}\n  own: {set: {lower.one_to_one: false, l1.ways: 2}}\n  more: {like: own}\n"
                 "  joined: {like: [base, own]}\n  many: {over: {l1.mshrs: [8, 16]}}\n"
                 "  other: {machine: kepler}\n" TAIL);
    static const struct {
        const char *sets[4];
        bool one_to_one;
        uint32_t mshrs;
    } want[] = {{{"l1.mshrs=48", "lower.one_to_one=true"}, true, 48},
                {{"l1.mshrs=48", "l1.ways=2", "lower.one_to_one=false"}, false, 48},
                {{"l1.mshrs=48", "l1.ways=2", "lower.one_to_one=false"}, false, 48},
                {{"l1.mshrs=48", "l1.ways=2", "lower.one_to_one=false"}, false, 48},
                {{"l1.mshrs=8", "lower.one_to_one=true"}, true, 8},
                {{"l1.mshrs=16", "lower.one_to_one=true"}, true, 16},
                {{"l1.mshrs=48", "lower.one_to_one=true"}, true, 48}};
    assert_int_equal(e.column_count, ARRAY_LEN(want));
    for (uint32_t i = 0; i < e.column_count; i++) {
        const struct lab_column *c = &e.columns[i];
        uint32_t k = 0;
        for (; want[i].sets[k]; k++) assert_string_equal(c->sets[k], want[i].sets[k]);
        assert_null(c->sets[k]);
        assert_int_equal(c->resolved->lower_one_to_one, want[i].one_to_one);
        assert_int_equal(c->resolved->l1.mshrs, want[i].mshrs);
    }
    experiment_free(&e);
}

static void a_study_names_others(void **state)
{
    struct experiment e;
    struct diag_list diags = {0};
    char path[128];
    kit_write("one.yaml", "machine: fermi\n");
    snprintf(path, sizeof path, "%s/one.yaml", kit_folder);
    kit_need(&e, "title: all\nstudy: [one]\n");
    assert_string_equal(e.study[0], path);
    assert_null(e.study[1]);
    struct plan p;
    assert_false(plan_make(&p, &e, NULL, &diags));
    assert_non_null(strstr(diags.items.data[0].message, "is a study"));
    diag_free(&diags);
    experiment_free(&e);
}

static void equal_jobs_are_made_once(void **state)
{
    struct experiment e;
    struct diag_list diags = {0};
    struct plan p;
    kit_need(&e, "machine: fermi\nworkloads: [red, blue]\ncolumns:\n  base: {}\n  again: {}\n  m: {set: "
                 "{l1.mshrs: 8}}\n"
                 "  n: {over: {l1.mshrs: [8, 16]}}\n  best: {of: [base, n], best: ipc}\n" TAIL);
    assert_true(plan_make(&p, &e, NULL, &diags));
    assert_int_equal(p.job_count, 6);
    uint32_t blue = e.column_count; /* the second workload's row */
    assert_int_equal(p.cell[0], p.cell[1]);
    assert_int_equal(p.cell[2], p.cell[3]);
    assert_int_not_equal(p.cell[0], p.cell[blue]);
    assert_int_equal(p.cell[5], UINT32_MAX);
    assert_string_equal(p.jobs[p.cell[blue + 4]].run.sets[0], "l1.mshrs=16");
    const struct experiment *both[] = {&e, &e};
    assert_int_equal(plan_count(both, 2), 6);
    plan_free(&p);
    experiment_free(&e);
}

static void an_experiment_can_be_narrowed(void **state)
{
    struct experiment e;
    struct diag_list diags = {0};
    const char *const wrong[] = {"bleu"}, *const right[] = {"blue"};
    kit_need(&e, "machine: fermi\nworkloads: [red, blue]\ncolumns: {base: {}}\n" TAIL);
    assert_false(experiment_narrow(&e, wrong, 1, NULL, &diags));
    assert_non_null(strstr(diags.items.data[0].hint, "did you mean 'blue'"));
    assert_int_equal(e.workload_count, 2);
    assert_false(experiment_narrow(&e, NULL, 0, "huge", &diags));
    assert_true(experiment_narrow(&e, right, 1, "tiny", &diags));
    assert_int_equal(e.workload_count, 1);
    assert_string_equal(e.workloads[0]->name, "blue");
    assert_string_equal(e.sizes[0], "tiny");
    diag_free(&diags);
    experiment_free(&e);
}

/* ---- errors ---- */

static void a_wrong_machine_is_told_once(void **state)
{
    struct experiment e;
    struct diag_list diags = {0};
    assert_false(
        kit_load(&e, "machine: fremi\nworkloads: [red]\ncolumns: {a: {}, b: {}, c: {}}\n" TAIL, &diags));
    assert_int_equal(diags.errors, 1);
    diag_free(&diags);
    experiment_free(&e);
}

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

static void a_wrong_top_is_refused_at_its_place(void **state)
{
    refuse("mashine: fermi\n", 1, 1, "did you mean 'machine'");
    refuse("machine: fermi\nsize: tiny\nmachine: fermi\n", 3, 1, "'machine' appears twice");
    refuse("title: x\n", 1, 1, "must name a machine");
    refuse("machine: fermi\nseed: many\n", 2, 7, "whole number");
    refuse("- a\n", 1, 1, "mapping");
    refuse("title: x\nstudy: [nowhere-at-all]\n", 2, 9, "no experiment is called");
    refuse("study: [a]\nmachine: fermi\n", 2, 1, "unknown key 'machine'");
    refuse("machine: fermi\nworkloads: [rde]\ncolumns: {b: {}}\n" TAIL, 2, 13, "did you mean 'red'");
    refuse("machine: fermi\nset: {l1.mshr: 8}\nworkloads: [red]\ncolumns: {b: {}, c: {}}\n" TAIL, 2, 7,
           "did you mean 'l1.mshrs'");
    refuse("machine: fermi\nset: [8]\nworkloads: [red]\ncolumns: {b: {}}\n" TAIL, 2, 6, "'set' is a mapping");
    refuse("machine: fermi\nworkloads: [red, red]\ncolumns: {b: {}}\n" TAIL, 2, 18, "twice");
    refuse("machine: fermi\nworkloads: [{name: red, size: huge}]\ncolumns: {b: {}}\n" TAIL, 2, 20,
           "it has tiny, small, large");
    refuse("machine: fermi\nworkloads: {paper: kti}\ncolumns: {b: {}}\n" TAIL, 2, 20, "did you mean 'kit'");
    refuse("paper: kti\nmachine: fermi\nworkloads: [red]\ncolumns: {b: {}}\n" TAIL, 1, 8,
           "did you mean 'kit'");
    refuse("machine: fermi\nworkloads: {class: S}\ncolumns: {b: {}}\n" TAIL, 2, 12,
           "needs a list, or a paper");
    refuse("machine: fermi\nworkloads: {paper: kit, class: Z}\ncolumns: {b: {}}\n" TAIL, 2, 12,
           "no workload is left");
}

#define TOP "machine: fermi\nworkloads: [red]\n"

static void wrong_columns_are_refused_at_their_place(void **state)
{
    refuse(TOP TAIL, 1, 1, "'columns' must name at least one");
    refuse("machine: fremi\nworkloads: [red]\ncolumns: {b: {}}\n" TAIL, 1, 10, "did you mean 'fermi'");
    refuse(TOP "columns: {b: {machine: maxwel}}\n" TAIL, 3, 24, "did you mean 'maxwell'");
    refuse(TOP "columns: {b: {sets: {}}}\n" TAIL, 3, 15, "did you mean 'set'");
    refuse(TOP "columns: {b: [1]}\n" TAIL, 3, 14, "a column is a mapping");
    refuse(TOP "columns: {b: {}, b: {}}\n" TAIL, 3, 18, "'b' appears twice");
    refuse(TOP "columns: {b: {set: {l1.mshr: 8}}}\n" TAIL, 3, 21, "did you mean 'l1.mshrs'");
    refuse(TOP "columns: {b: {set: {l1.mshrs: few}}}\n" TAIL, 3, 31, "whole number");
    refuse(TOP "columns: {b: {set: {l1.mshrs: 8, l1.mshrs: 9}}}\n" TAIL, 3, 34, "'l1.mshrs' appears twice");
    refuse(TOP "columns: {b: {set: 8}}\n" TAIL, 3, 20, "mapping of parameters");
    refuse(TOP "columns: {b: {mech: got}}\n" TAIL, 3, 21, "did you mean 'gto'");
    refuse(TOP "columns: {b: {mech: swl, mech_set: {swl.warp: 4}}}\n" TAIL, 3, 37,
           "did you mean 'swl.warps'");
    refuse(TOP "columns: {b: {mech: swl, mech_set: {swl.warps: 0}}}\n" TAIL, 3, 48, "whole number");
    refuse(TOP "columns: {b: {mech_set: {swl.warps: 4}}}\n" TAIL, 3, 26,
           "parameter of an attached mechanism");
    refuse(TOP "columns: {b: {like: c}, c: {}}\n" TAIL, 3, 21, "no column is called 'c'");
    refuse(TOP "columns: {a: {set: {l1.mshrs: 8}}, b: {set: {l1.mshrs: 9}}, c: {like: [a, b]}}\n" TAIL, 3, 75,
           "sets l1.mshrs to 9");
    refuse(TOP "columns: {a: {}, b: {machine: maxwell}, c: {like: [a, b]}}\n" TAIL, 3, 55,
           "on machine 'maxwell'");
    refuse(TOP "columns: {a: {over: {l1.mshrs: [8, 9]}}, c: {like: a}}\n" TAIL, 3, 52,
           "stands for 2 columns");
    refuse(TOP "columns: {a: {over: {l1.mshrs: 8}}}\n" TAIL, 3, 32, "takes a list of values");
    refuse(TOP "columns: {a: {over: {l1.mshr: [8]}}}\n" TAIL, 3, 22, "did you mean 'l1.mshrs'");
    refuse(TOP "columns: {a: {over: {l1.mshrs: [8, no]}}}\n" TAIL, 3, 36, "whole number");
    refuse(TOP "columns: {a: {over: {l1.mshrs: [8, 9]}, label: [x]}}\n" TAIL, 3, 48, "list of 2");
    refuse(TOP "columns: {a: {over: {l1.mshrs: [8, 9]}, label: [x, x]}}\n" TAIL, 3, 52,
           "there is a column 'x' already");
    refuse(TOP "columns: {a: {over: {l1.mshrs: [8]}, x: [y]}}\n" TAIL, 3, 42, "a number is needed");
    refuse(TOP "columns: {a: {label: z}}\n" TAIL, 3, 22, "belongs to 'over'");
    refuse(TOP "columns: {a: {best: ipc}}\n" TAIL, 3, 21, "needs columns to choose from");
    refuse(TOP "columns: {a: {}, b: {of: [a]}}\n" TAIL, 3, 18, "needs 'best'");
    refuse(TOP "columns: {a: {skip: failed}}\n" TAIL, 3, 21, "'skip' needs 'best'");
    refuse(TOP "columns: {a: {}, b: {of: [a], best: ipc, skip: slow}}\n" TAIL, 3, 48, "failed");
    refuse(TOP "columns: {a: {}, b: {of: [c], best: ipc}}\n" TAIL, 3, 27, "no column is called 'c'");
    refuse(TOP "columns: {a: {}, b: {of: a, best: ipc}, c: {of: b, best: ipc}}\n" TAIL, 3, 49,
           "itself the best of several");
    refuse(TOP "columns: {a: {}, b: {of: a, best: b.ipc}}\n" TAIL, 3, 35, "itself the best of several");
    refuse(TOP "columns: {a: {}, b: {of: a, best: ipcc}}\n" TAIL, 3, 35, "did you mean 'ipc'");
    refuse(TOP "baseline: bass\ncolumns: {base: {}}\n" TAIL, 3, 11, "did you mean 'base'");
}

#define COLUMNS TOP "columns: {base: {}, L1+L2: {}, text: {}}\n"
#define FIGURE  "figures: [{id: f}]\n"

static void wrong_measures_are_refused_at_their_place(void **state)
{
    refuse(COLUMNS FIGURE, 1, 1, "'measures' must name at least one");
    refuse(COLUMNS "measures: {a: sm.slots_isued}\n" FIGURE, 4, 15, "did you mean 'sm.slots_issued'");
    refuse(COLUMNS "measures: {a: 1 + bass.ipc}\n" FIGURE, 4, 19, "no statistic or measure");
    refuse(COLUMNS "measures: {a: base.ipcc}\n" FIGURE, 4, 15, "did you mean 'ipc'");
    refuse(COLUMNS "measures: {a: '\"L1+L3\".ipc'}\n" FIGURE, 4, 16, "did you mean 'L1+L2'");
    refuse(COLUMNS "measures: {a: (1 + ipc}\n" FIGURE, 4, 15, "never closed");
    refuse(COLUMNS "measures: {a: {valeu: 1}}\n" FIGURE, 4, 16, "did you mean 'value'");
    refuse(COLUMNS "measures: {a: {value: max(ipc, 1)}}\n" FIGURE, 4, 32, "needs quotes");
    refuse(COLUMNS "measures: {a: {title: 1}}\n" FIGURE, 4, 12, "has no value");
    refuse(COLUMNS "measures: {a: ipc, a: ipc}\n" FIGURE, 4, 20, "'a' appears twice");
    refuse(COLUMNS "measures: {a: b, b: ipc}\n" FIGURE, 4, 15, "no statistic or measure is called 'b'");
    refuse(COLUMNS "measures: {a: param(l1.mshr)}\n" FIGURE, 4, 15, "did you mean 'l1.mshrs'");
    refuse(COLUMNS "measures: {a: param(device.name)}\n" FIGURE, 4, 15, "is a text");
    refuse(COLUMNS "measures: {a: paper(p_inf)}\n" FIGURE, 4, 15, "needs 'paper:'");
    refuse(COLUMNS "measures: {a: 'ipc[1]'}\n" FIGURE, 4, 16, "is not a histogram");
    refuse(COLUMNS "measures: {a: dram.queue_level}\n" FIGURE, 4, 15, "is a histogram");
    refuse(COLUMNS "measures: {a: 'dram.queue_level[99999]'}\n" FIGURE, 4, 16, "has bins 0 to");
    refuse(COLUMNS "measures:\n  a: >\n    ipc\n    + nonsense.of\n" FIGURE, 5, 6, "no statistic");
    refuse("paper: kit\nmachine: fermi\nworkloads: [blue]\ncolumns: {b: {}}\nmeasures: {a: "
           "paper(gian)}\n" FIGURE,
           5, 15, "did you mean 'gain'");
}

#define MEASURES COLUMNS "measures: {ipc: ipc, c: cycles}\n"

static void wrong_figures_are_refused_at_their_place(void **state)
{
    refuse(MEASURES, 1, 1, "'figures' must be a list");
    refuse(MEASURES "figures: [x]\n", 5, 11, "a figure is a mapping");
    refuse(MEASURES "figures: [{id: f, darw: bars}]\n", 5, 19, "did you mean 'draw'");
    refuse(MEASURES "figures: [{id: f, draw: pie, measures: c}]\n", 5, 25, "one of bars, stacked");
    refuse(MEASURES "figures: [{id: f, mean: average, measures: c}]\n", 5, 25, "arithmetic");
    refuse(MEASURES "figures: [{id: f, percent: maybe, measures: c}]\n", 5, 28, "'percent' cannot be");
    refuse(MEASURES "figures: [{id: f}]\n", 5, 11, "must say which measures");
    refuse(MEASURES "figures: [{id: f, measures: [icp]}]\n", 5, 30, "did you mean 'ipc'");
    refuse(MEASURES "figures: [{id: f, columns: [L1+L3], measures: c}]\n", 5, 29, "did you mean 'L1+L2'");
    refuse(MEASURES "figures: [{id: f, columns: [text, text], measures: c}]\n", 5, 35, "named twice");
    refuse(MEASURES "figures: [{id: f, measures: c}, {id: f, measures: c}]\n", 5, 38, "a figure 'f' already");
    refuse(MEASURES "figures: [{id: f, measures: c, paper: {base: gain}}]\n", 5, 39, "paper");
    refuse(MEASURES "figures: [{id: f, measures: c, claims: t.fast}]\n", 5, 40, "'claims' takes a list");
    refuse(MEASURES "figures: [{id: f, measures: c, claims: [t.fast]}]\n", 5, 41, "mapping with an id");
    refuse(MEASURES
           "figures: [{id: f, measures: c, mean: arithmetic, claims: [{id: t.fats, column: base}]}]\n",
           5, 64, "did you mean 't.fast'");
    refuse(MEASURES "figures: [{id: f, measures: c, mean: arithmetic, claims: [{id: t.fast}]}]\n", 5, 59,
           "which column");
    refuse(MEASURES
           "figures: [{id: f, measures: [c, ipc], mean: arithmetic, claims: [{id: t.fast, column: base}]}]\n",
           5, 66, "which measure");
    refuse(MEASURES "figures: [{id: f, measures: c, claims: [{id: t.fast, column: base}]}]\n", 5, 41,
           "about a mean");
    refuse(MEASURES "figures: [{id: f, measures: c, claims: [{id: t.fast, column: base, workload: rad}]}]\n",
           5, 78, "did you mean 'red'");
    refuse(
        MEASURES
        "figures: [{id: f, measures: c, claims: [{id: t.fast, column: base, workload: red, neutral: no}]}]\n",
        5, 92, "a number is needed");
    refuse(MEASURES "figures: [{id: f, measures: c, claims: "
                    "[{id: t.fast, column: base, workload: red, relation: over}]}]\n",
           5, 93, "above or below");
    refuse(MEASURES "figures: [{id: f, measures: c, claims: "
                    "[{id: t.fast, column: base, workload: red, neutral: 0, relation: above}]}]\n",
           5, 105, "a bound, or a value");
    refuse(MEASURES "figures: [{id: f, measures: c, claims: [{id: t.fast, not_comparable: ''}]}]\n", 5, 70,
           "takes the reason");
    refuse(MEASURES
           "figures: [{id: f, measures: c, claims: [{id: t.fast, not_comparable: no, column: base}]}]\n",
           5, 74, "column");
}

static void wrong_judging_is_refused_at_its_place(void **state)
{
#define JUDGED(text) COLUMNS "measures: {ipc: {value: ipc, " text "}}\nfigures: [{id: f}]\n"
    refuse(JUDGED("threshold: often"), 4, 41, "a number is needed");
    refuse(JUDGED("classes: S"), 4, 39, "'classes' is a list of two or more");
    refuse("paper: kit\n" JUDGED("classes: [{class: S}, {class: I}]"), 5, 40, "a 'class' and a 'from'");
    refuse("paper: kit\n" JUDGED("classes: [{class: S, from: 1}, {class: I, from: 0}]"), 5, 61, "no 'from'");
    refuse("paper: kit\n" JUDGED("classes: [{class: S, from: 1}, {class: M, from: 2}, {class: I}]"), 5, 61,
           "from the largest");
    refuse("paper: kit\n" JUDGED("threshold: 2, classes: [{class: S, from: 1}, {class: I}]"), 5, 41,
           "or 'classes'");
    refuse(COLUMNS "measures: {ipc: {value: ipc, words: [a, {}]}}\nfigures: [{id: f}]\n", 4, 41, "a name");
    refuse(COLUMNS "measures: {ipc: ipc}\nfigures: [{id: f, digits: 9}]\n", 5, 27, "'digits' cannot be");
    refuse("sample: often\n" MEASURES, 1, 9, "'sample' must be a whole number from 0");
    refuse("maxrregcount: 7\n" MEASURES, 1, 15, "'maxrregcount' must be a whole number from 16 to 255");
}

static void only_workloads_of_which_the_paper_says_it(void **state)
{
    struct experiment e;
    kit_need(&e,
             "machine: fermi\nworkloads: {paper: kit, having: load2.miss_rate}\ncolumns: {base: {}}\n" TAIL);
    assert_int_equal(e.workload_count, 1);
    assert_string_equal(e.workloads[0]->name, "green");
    experiment_free(&e);
}

static void claims_are_read_with_their_places(void **state)
{
    struct claim_set set = {0};
    struct diag_list diags = {0};
    char path[128];
    kit_write("bad.tsv", "a\tp\tw\tm\tb\ts\t1.5\tnote\r\n\n# "
                         "no\nb\tp\tw\tm\tb\ts\t0.1/0.2\nc\tp\nb2\tp\tw\tm\tb\ts\t-3\na\tp\tw\tm\tb\ts\t2\n");
    snprintf(path, sizeof path, "%s/bad.tsv", kit_folder);
    assert_false(claims_load(&set, path, &diags));
    assert_int_equal(diags.errors, 3);
    assert_int_equal(diags.items.data[0].line, 4);
    assert_int_equal(diags.items.data[0].col, 13);
    assert_int_equal(diags.items.data[1].line, 5);
    assert_int_equal(diags.items.data[2].line, 7);
    assert_string_equal(claims_find(&set, "a")->note, "note");
    assert_true(claims_find(&set, "b2")->value == -3);
    assert_null(claims_find(&set, "b"));
    diag_free(&diags);
    claims_free(&set);
    assert_true(claims_load(&set, HEDDLE_SOURCE_DIR "/experiments/claims.tsv", &diags));
    assert_true(claims_find(&set, "bw.x4.l1.mm")->value == -0.33);
    claims_free(&set);
}

/* A copy of claims.tsv beside one's own experiment says the same twice; only a contradiction is wrong. */
static void a_claim_may_be_repeated(void **state)
{
    struct claim_set set = {0};
    struct diag_list diags = {0};
    char path[128];
    kit_write("same.tsv", kit_claims);
    snprintf(path, sizeof path, "%s/same.tsv", kit_folder);
    assert_true(claims_load(&set, path, &diags));
    uint32_t count = set.items.len;
    assert_true(claims_load(&set, path, &diags));
    assert_int_equal(set.items.len, count);
    kit_write("same.tsv", "t.fast\tthesis\tFig 1\tIPC gain, mean\tbase\tfast\t0.5\tanother note\n"
                          "t.slow\tthesis\tFig 1\tIPC gain, mean\tbase\tslow\t-0.3\n");
    assert_false(claims_load(&set, path, &diags));
    assert_int_equal(diags.errors, 2);
    assert_int_equal(diags.items.data[1].line, 2);
    assert_true(claims_find(&set, "t.slow")->value == -0.2);
    diag_free(&diags);
    claims_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_experiment_is_read),
        cmocka_unit_test(what_is_left_out_has_a_default),
        cmocka_unit_test(a_papers_workloads_are_chosen),
        cmocka_unit_test(like_joins_settings),
        cmocka_unit_test(over_makes_a_column_for_each_value),
        cmocka_unit_test(best_hides_its_choices),
        cmocka_unit_test(settings_of_the_experiment_are_those_of_every_column),
        cmocka_unit_test(a_study_names_others),
        cmocka_unit_test(equal_jobs_are_made_once),
        cmocka_unit_test(an_experiment_can_be_narrowed),
        cmocka_unit_test(a_wrong_machine_is_told_once),
        cmocka_unit_test(a_wrong_top_is_refused_at_its_place),
        cmocka_unit_test(wrong_columns_are_refused_at_their_place),
        cmocka_unit_test(wrong_measures_are_refused_at_their_place),
        cmocka_unit_test(wrong_figures_are_refused_at_their_place),
        cmocka_unit_test(wrong_judging_is_refused_at_its_place),
        cmocka_unit_test(only_workloads_of_which_the_paper_says_it),
        cmocka_unit_test(claims_are_read_with_their_places),
        cmocka_unit_test(a_claim_may_be_repeated),
    };
    return cmocka_run_group_tests(tests, kit_setup, kit_teardown);
}
