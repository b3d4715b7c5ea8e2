/* Figures: values and means from the runs, the choice of an oracle, verdicts on claims, tables and JSON. */
#include "figure_rig.h"

#include "json_check.h"
#include "mem/link.h"

static const char gains[] =
    "title: gains \"quoted\"\npaper: kit\nmachine: fermi\nsize: tiny\nworkloads: [red, blue]\n"
    "columns:\n  base: {}\n  fast: {set: {l1.mshrs: 128}}\n  slow: {set: {l1.mshrs: 2}}\n  near: {set: "
    "{l1.mshrs: 129}}\n"
    "measures:\n  speedup: ipc / base.ipc\n  gain: {value: speedup - 1, title: IPC gain}\n"
    "  entries: param(l1.mshrs) - base.param(l1.mshrs)\n  level: 'dram.queue_level[1] / "
    "sum(dram.queue_level)'\n"
    "figures:\n  - {id: f1, draw: bars, columns: [fast, slow, near], measures: gain, mean: arithmetic, "
    "percent: true, claims: [\n"
    "      {id: t.fast, column: fast, neutral: 0}, {id: t.slow, column: slow, neutral: 0}, {id: t.near, "
    "column: near},\n"
    "      {id: t.fast.red, column: fast, workload: red}]}\n"
    "  - {id: f2, columns: base, measures: level}\n"
    "  - {id: f3, columns: fast, measures: [speedup, entries], mean: geometric, paper: {fast: gain}}\n";

static void put_gains(struct rig *r)
{
    static const struct {
        const char *workload, *column;
        double ipc;
    } runs[] = {{"red", "base", 2},  {"red", "fast", 3.4},  {"red", "slow", 1.6},  {"red", "near", 3.6},
                {"blue", "base", 1}, {"blue", "fast", 1.2}, {"blue", "slow", 0.7}, {"blue", "near", 1}};
    for (size_t i = 0; i < ARRAY_LEN(runs); i++)
        kit_put(&r->store, &r->p, runs[i].workload, runs[i].column, "ipc", runs[i].ipc);
}

static const struct figure_cell *cell(const struct figure_data *d, uint32_t workload, uint32_t column,
                                      uint32_t measure)
{
    for (uint32_t i = 0; i < d->cell_count; i++)
        if (d->cells[i].workload == workload && d->cells[i].column == column &&
            d->cells[i].measure == measure)
            return &d->cells[i];
    fail_msg("no cell %u %u %u", workload, column, measure);
    return NULL;
}

static void cells_hold_measures_and_their_mean(void **state)
{
    struct rig r;
    struct figure_data d;
    rig_up(&r, gains);
    put_gains(&r);
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_int_equal(d.cell_count, 9);
    assert_int_equal(d.missing, 0);
    assert_true(is_near(cell(&d, 0, 1, 1)->value, 0.7));
    assert_true(is_near(cell(&d, 1, 2, 1)->value, -0.3));
    assert_true(is_near(cell(&d, FIGURE_MEAN, 1, 1)->value, 0.45));
    figure_free(&d);
    assert_true(figure_make(&d, &r.p, &r.e.figures[2], &r.store, &r.diags));
    assert_true(is_near(cell(&d, FIGURE_MEAN, 1, 0)->value, sqrt(1.7 * 1.2)));
    assert_true(cell(&d, 0, 1, 2)->value == 128 - 32);
    assert_true(isnan(cell(&d, 0, 1, 0)->paper)); /* the paper has no red */
    assert_true(cell(&d, 1, 1, 0)->paper == 1.5);
    figure_free(&d);
    rig_down(&r);
}

static void a_missing_run_leaves_its_mean_open(void **state)
{
    struct rig r;
    struct figure_data d;
    rig_up(&r, gains);
    put_gains(&r);
    r.store.count -= 3; /* blue: fast, slow and near */
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_int_equal(d.missing, 3);
    assert_true(is_near(cell(&d, 0, 1, 1)->value, 0.7));
    assert_true(isnan(cell(&d, 1, 1, 1)->value));
    assert_true(isnan(cell(&d, FIGURE_MEAN, 1, 1)->value));
    assert_int_equal(d.claims[0].verdict, VERDICT_OPEN);
    assert_false(d.claims[0].sign);
    assert_int_equal(d.claims[3].verdict, VERDICT_REPRODUCED); /* red alone */
    figure_free(&d);
    r.store.count -= 1; /* the baseline of blue: each of its columns needs it, it is missing once */
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_int_equal(d.missing, 4);
    figure_free(&d);
    rig_down(&r);
}

static void a_store_that_cannot_be_read_is_an_error(void **state)
{
    struct rig r;
    struct figure_data d;
    struct figure_set set;
    rig_up(&r, gains);
    put_gains(&r);
    r.store.error = "disk on fire";
    assert_false(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_false(figures_make(&set, &r.p, &r.store, &r.diags));
    assert_non_null(strstr(r.diags.items.data[0].message, "disk on fire"));
    rig_down(&r);
}

static void a_measure_without_a_value_is_left_out_of_the_mean(void **state)
{
    struct rig r;
    rig_up(&r, "machine: fermi\nworkloads: [red, blue]\ncolumns: {base: {}}\nmeasures: {rate: l1.hits / "
               "l1.accesses}\n"
               "figures: [{id: f, mean: arithmetic}]\n");
    kit_put(&r.store, &r.p, "red", "base", "l1.hits", 1);
    kit_put(&r.store, &r.p, "red", "base", "l1.accesses", 4);
    kit_put(&r.store, &r.p, "blue", "base", "l1.hits", 0);
    kit_put(&r.store, &r.p, "blue", "base", "l1.accesses", 0);
    struct figure_data d;
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_int_equal(d.missing, 0);
    assert_true(isnan(d.cells[1].value));
    assert_true(d.cells[2].value == 0.25);
    figure_free(&d);
    rig_down(&r);
}

static void histograms_have_bins_and_sums(void **state)
{
    struct rig r;
    struct figure_data d;
    rig_up(&r, gains);
    kit_put(&r.store, &r.p, "red", "base", "dram.queue_level[0]", 6);
    kit_put(&r.store, &r.p, "red", "base", "dram.queue_level[1]", 2);
    assert_true(figure_make(&d, &r.p, &r.e.figures[1], &r.store, &r.diags));
    assert_true(isnan(d.cells[0].value)); /* the other bins are not in this table */
    assert_int_equal(d.missing, 1);       /* blue */
    figure_free(&d);
    char names[LINK_LEVELS][32];
    for (uint32_t i = 2; i < LINK_LEVELS; i++) {
        snprintf(names[i], sizeof names[i], "dram.queue_level[%u]", i);
        kit_put(&r.store, &r.p, "red", "base", names[i], 0);
    }
    assert_true(figure_make(&d, &r.p, &r.e.figures[1], &r.store, &r.diags));
    assert_true(d.cells[0].value == 0.25);
    figure_free(&d);
    rig_down(&r);
}

static void means_are_the_three(void **state)
{
    const double v[] = {1, 2, 4}, signs[] = {1, -1};
    assert_true(is_near(mean_of(MEAN_ARITHMETIC, v, 3), 7.0 / 3));
    assert_true(is_near(mean_of(MEAN_GEOMETRIC, v, 3), 2));
    assert_true(is_near(mean_of(MEAN_HARMONIC, v, 3), 3 / 1.75));
    assert_true(isnan(mean_of(MEAN_GEOMETRIC, signs, 2)));
    assert_true(isnan(mean_of(MEAN_HARMONIC, signs, 2)));
    assert_true(isnan(mean_of(MEAN_ARITHMETIC, v, 0)));
    const double won[] = {3, -0.5, 0.125}, lost[] = {3, -1};
    assert_true(is_near(mean_of(MEAN_GAINS, won, 3), cbrt(4 * 0.5 * 1.125) - 1));
    assert_true(isnan(mean_of(MEAN_GAINS, lost, 2)));
}

static const char oracle[] =
    "machine: fermi\nworkloads: [red, blue]\ncolumns:\n  base: {}\n"
    "  best: {mech: swl, over: {swl.warps: [2, 4, 8]}, best: ipc}\n"
    "measures: {gain: ipc / base.ipc, warps: param(swl.warps), hidden: best.ipc}\n"
    "figures: [{id: f, measures: [gain, warps]}, {id: g, columns: base, measures: hidden}]\n";

static void an_oracle_takes_the_best_of_each_workload(void **state)
{
    struct rig r;
    struct figure_data d;
    rig_up(&r, oracle);
    const char *const names[] = {"base", "best=2", "best=4", "best=8"};
    const double red[] = {1, 2, 3, 3}, blue[] = {2, 5, 4, 3};
    for (int i = 0; i < 4; i++) {
        kit_put(&r.store, &r.p, "red", names[i], "ipc", red[i]);
        kit_put(&r.store, &r.p, "blue", names[i], "ipc", blue[i]);
    }
    uint32_t best = kit_column(&r.e, "best");
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_true(cell(&d, 0, best, 0)->value == 3);
    assert_int_equal(cell(&d, 0, best, 0)->chosen, kit_column(&r.e, "best=4")); /* of equals the first */
    assert_true(cell(&d, 0, best, 1)->value == 4);
    assert_true(cell(&d, 1, best, 0)->value == 2.5);
    assert_int_equal(cell(&d, 1, best, 0)->chosen, kit_column(&r.e, "best=2"));
    struct strbuf table = {0};
    figure_print_table(&r.p, &d, 80, &table);
    assert_non_null(strstr(strbuf_text(&table), "3.000 (4)"));
    strbuf_free(&table);
    figure_free(&d);
    assert_true(figure_make(&d, &r.p, &r.e.figures[1], &r.store, &r.diags));
    assert_true(d.cells[0].value == 3 && d.cells[1].value == 5);
    figure_free(&d);
    r.store.count--; /* one of blue's choices: it might have been the best */
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_true(cell(&d, 0, best, 0)->value == 3);
    assert_true(isnan(cell(&d, 1, best, 0)->value));
    assert_int_equal(cell(&d, 1, best, 0)->chosen, best);
    assert_int_equal(d.missing, 1);
    figure_free(&d);
    rig_down(&r);
}

/* Red's best has failed, of blue all have. */
static void put_failures(struct rig *r)
{
    kit_put(&r->store, &r->p, "red", "base", "ipc", 1);
    kit_put(&r->store, &r->p, "red", "best=2", "ipc", 2);
    kit_put(&r->store, &r->p, "red", "best=4", "failed", 9);
    kit_put(&r->store, &r->p, "blue", "base", "ipc", 1);
    kit_put(&r->store, &r->p, "blue", "best=2", "failed", 9);
    kit_put(&r->store, &r->p, "blue", "best=4", "failed", 9);
}

static void a_run_that_failed_is_skipped_where_the_choice_says_so(void **state)
{
    static const char text[] =
        "machine: fermi\nworkloads: [red, blue]\ncolumns:\n  base: {}\n"
        "  best: {mech: swl, over: {swl.warps: [2, 4]}, best: ipc%s}\n"
        "measures: {gain: ipc / base.ipc}\nfigures: [{id: f, measures: gain, mean: arithmetic}]\n";
    for (int skips = 0; skips < 2; skips++) {
        char experiment[sizeof text + 20];
        struct rig r;
        struct figure_data d;
        snprintf(experiment, sizeof experiment, text, skips ? ", skip: failed" : "");
        rig_up(&r, experiment);
        put_failures(&r);
        const uint32_t best = kit_column(&r.e, "best");
        assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
        if (skips)
            assert_true(cell(&d, 0, best, 0)->value == 2);
        else
            assert_true(isnan(cell(&d, 0, best, 0)->value));
        assert_true(isnan(cell(&d, 1, best, 0)->value));
        assert_true(isnan(cell(&d, FIGURE_MEAN, best, 0)->value)); /* without blue */
        figure_free(&d);
        rig_down(&r);
    }
}

static void parameters_alone_need_no_workload(void **state)
{
    struct rig r;
    struct figure_data d;
    rig_up(&r, "machine: fermi\ncolumns: {base: {}, more: {set: {l1.mshrs: 48}}}\n"
               "measures: {bytes: (param(l1.mshrs) - base.param(l1.mshrs)) * 8}\nfigures: [{id: f, claims: "
               "[{id: t.fast}]}]\n");
    assert_int_equal(r.p.job_count, 0);
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_int_equal(d.cell_count, 1);
    assert_true(d.cells[0].value == 128);
    assert_true(d.claims[0].ours == 128);
    assert_int_equal(d.missing, 0);
    figure_free(&d);
    rig_down(&r);
}

/* ---- verdicts ---- */

struct judged {
    double paper, ours, neutral;
    const char *workload;
    uint32_t column, measure;
    enum verdict want;
};

static void judge(enum figure_kind kind, const struct judged *j, uint32_t count)
{
    struct lab_figure f = {.kind = kind};
    struct lab_claim claims[8];
    struct figure_claim out[8];
    for (uint32_t i = 0; i < count; i++) {
        claims[i] = (struct lab_claim){.id = "",
                                       .workload = j[i].workload,
                                       .column = j[i].column,
                                       .measure = j[i].measure,
                                       .neutral = j[i].neutral};
        out[i] = (struct figure_claim){.claim = &claims[i], .paper = j[i].paper, .ours = j[i].ours};
    }
    claims_judge(&f, out, count);
    for (uint32_t i = 0; i < count; i++)
        if (out[i].verdict != j[i].want)
            fail_msg("claim %u: %s (sign %d, order %d)", i, verdict_text(out[i].verdict), out[i].sign,
                     out[i].order);
}

static void a_verdict_needs_sign_order_and_value(void **state)
{
    judge(FIGURE_BARS, (struct judged[]){{0.4, 0.31, 0, NULL, 0, 0, VERDICT_REPRODUCED}},
          1); /* hardly a quarter less */
    judge(FIGURE_BARS, (struct judged[]){{0.4, 0.29, 0, NULL, 0, 0, VERDICT_TREND}}, 1);
    judge(FIGURE_BARS, (struct judged[]){{0.4, -0.01, 0, NULL, 0, 0, VERDICT_NOT}}, 1);
    judge(FIGURE_BARS, (struct judged[]){{0.4, -0.01, NAN, NULL, 0, 0, VERDICT_TREND}},
          1); /* no sign to be wrong */
    judge(FIGURE_BARS, (struct judged[]){{1.2, 0.99, 1, NULL, 0, 0, VERDICT_NOT}}, 1);
    judge(FIGURE_BARS, (struct judged[]){{0.8, 0.99, 1, NULL, 0, 0, VERDICT_REPRODUCED}}, 1);
    judge(FIGURE_BARS, (struct judged[]){{1.0, 1.01, 1, NULL, 0, 0, VERDICT_REPRODUCED}},
          1); /* the paper says: no change */
    judge(FIGURE_BARS, (struct judged[]){{1.0, 1.05, 1, NULL, 0, 0, VERDICT_NOT}}, 1);
    judge(FIGURE_BARS, (struct judged[]){{0.4, NAN, 0, NULL, 0, 0, VERDICT_OPEN}}, 1);
}

/* An excused claim has no value, marks no cell and says why; one whose measure gives 0 / 0 is not open. */
static void what_cannot_be_compared_has_no_verdict(void **state)
{
    struct rig r;
    struct figure_data d;
    struct strbuf out = {0};
    rig_up(&r, "paper: kit\nmachine: fermi\nsize: tiny\nworkloads: [red]\ncolumns: {base: {}}\n"
               "measures: {none: 0 / (ipc - ipc), ipc: ipc}\n"
               "figures:\n  - {id: f, measures: [none, ipc], mean: arithmetic, claims: [\n"
               "      {id: t.fast, not_comparable: an input}, {id: t.slow, column: base, measure: none},\n"
               "      {id: t.near, column: base, measure: ipc}]}\n");
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_int_equal(d.claims[0].verdict, VERDICT_INCOMPARABLE);
    assert_int_equal(d.claims[1].verdict, VERDICT_OPEN);
    figure_free(&d);
    kit_put(&r.store, &r.p, "red", "base", "ipc", 0.5);
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_int_equal(d.claims[0].verdict, VERDICT_INCOMPARABLE);
    assert_true(isnan(d.claims[0].ours) && d.claims[0].paper == 0.5);
    assert_int_equal(d.claims[1].verdict, VERDICT_INCOMPARABLE);
    assert_int_equal(d.claims[2].verdict, VERDICT_REPRODUCED);
    assert_true(cell(&d, FIGURE_MEAN, 0, 1)->paper == 0.505);
    figure_print_claims(&d, 80, &out);
    assert_non_null(strstr(strbuf_text(&out), "t.fast is not comparable: an input\n"));
    assert_non_null(strstr(strbuf_text(&out), "t.slow is not comparable: the runs give it no value\n"));
    figure_free(&d);
    struct figure_set set;
    assert_true(figures_make(&set, &r.p, &r.store, &r.diags));
    out.len = 0;
    experiment_json(&set, &out);
    assert_true(json_is_valid(strbuf_text(&out)));
    assert_non_null(strstr(strbuf_text(&out), "\"column\":null,\"measure\":null"));
    assert_non_null(strstr(strbuf_text(&out), "\"verdict\":\"not comparable\",\"note\":\"an input\""));
    figures_free(&set);
    strbuf_free(&out);
    rig_down(&r);
}

/* A bound holds or not, however far away ours is; it has no order beside the claim that comes last. */
static void a_bound_is_held_on_its_side(void **state)
{
    static const struct {
        enum claim_relation relation;
        double paper, ours;
        enum verdict want;
    } bounds[] = {{CLAIM_ABOVE, 0.15, 0.9, VERDICT_REPRODUCED}, {CLAIM_ABOVE, 0.15, 0.14, VERDICT_NOT},
                  {CLAIM_BELOW, 0, -0.1, VERDICT_REPRODUCED},   {CLAIM_BELOW, 0, 0, VERDICT_NOT},
                  {CLAIM_BELOW, 0, NAN, VERDICT_OPEN},          {CLAIM_ABOUT, 0.2, 0.2, VERDICT_REPRODUCED}};
    struct lab_figure f = {.kind = FIGURE_BARS};
    struct lab_claim claims[ARRAY_LEN(bounds)];
    struct figure_claim out[ARRAY_LEN(bounds)];
    for (uint32_t i = 0; i < ARRAY_LEN(bounds); i++) {
        claims[i] = (struct lab_claim){.id = "", .column = i, .neutral = NAN, .relation = bounds[i].relation};
        out[i] = (struct figure_claim){.claim = &claims[i], .paper = bounds[i].paper, .ours = bounds[i].ours};
    }
    claims_judge(&f, out, ARRAY_LEN(bounds));
    for (uint32_t i = 0; i < ARRAY_LEN(bounds); i++) assert_int_equal(out[i].verdict, bounds[i].want);
}

static void order_is_among_comparable_claims(void **state)
{
    /* two means of one measure, the wrong way round; the third is far above both */
    judge(FIGURE_BARS,
          (struct judged[]){{0.50, 0.45, 0, NULL, 0, 0, VERDICT_NOT},
                            {0.40, 0.46, 0, NULL, 1, 0, VERDICT_NOT},
                            {0.9, 0.9, 0, NULL, 2, 0, VERDICT_REPRODUCED}},
          3);
    /* the paper's own tie has no order */
    judge(FIGURE_BARS,
          (struct judged[]){{0.500, 0.45, 0, NULL, 0, 0, VERDICT_REPRODUCED},
                            {0.505, 0.44, 0, NULL, 1, 0, VERDICT_REPRODUCED}},
          2);
    /* other measures are not compared, parts of a stack are */
    struct judged parts[] = {{0.5, 0.45, NAN, NULL, 0, 0, VERDICT_REPRODUCED},
                             {0.4, 0.46, NAN, NULL, 0, 1, VERDICT_REPRODUCED}};
    judge(FIGURE_BARS, parts, 2);
    parts[0].want = parts[1].want = VERDICT_NOT;
    judge(FIGURE_STACKED, parts, 2);
    /* neither are a mean and a workload, nor two workloads under different columns; two workloads under one
     * column are */
    struct judged mixed[] = {{0.50, 0.45, 0, NULL, 0, 0, VERDICT_REPRODUCED},
                             {0.40, 0.46, 0, "red", 0, 0, VERDICT_REPRODUCED},
                             {0.50, 0.45, 0, "blue", 1, 0, VERDICT_REPRODUCED}};
    judge(FIGURE_BARS, mixed, 3);
    mixed[2].column = 0;
    mixed[1].want = mixed[2].want = VERDICT_NOT;
    judge(FIGURE_BARS, mixed, 3);
    /* what is open has no order yet */
    judge(FIGURE_BARS,
          (struct judged[]){{0.50, 0.45, 0, NULL, 0, 0, VERDICT_REPRODUCED},
                            {0.40, NAN, 0, NULL, 1, 0, VERDICT_OPEN}},
          2);
}

static void claims_are_filled_in_from_the_runs(void **state)
{
    struct rig r;
    struct figure_data d;
    rig_up(&r, gains);
    put_gains(&r);
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_int_equal(d.claim_count, 4);
    assert_string_equal(d.claims[0].note, "a note");
    assert_true(d.claims[0].paper == 0.5 && is_near(d.claims[0].ours, 0.45));
    assert_int_equal(d.claims[0].verdict, VERDICT_REPRODUCED);
    assert_int_equal(d.claims[1].verdict, VERDICT_REPRODUCED); /* -0.25 against -0.2 */
    assert_int_equal(d.claims[2].verdict, VERDICT_REPRODUCED); /* 0.4 against 0.505 */
    assert_true(is_near(d.claims[3].ours, 0.7));
    figure_free(&d);
    rig_down(&r);
}

/* ---- what is shown ---- */

static void expect_width(const char *text, size_t width)
{
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        if (len > width) fail_msg("wider than %zu:\n%s", width, text);
        line += len + (line[len] == '\n');
    }
}

static void tables_fit_the_terminal(void **state)
{
    struct rig r;
    struct figure_data d;
    struct strbuf wide = {0}, thin = {0}, claims = {0}, thin_claims = {0};
    rig_up(&r, gains);
    put_gains(&r);
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    figure_print_table(&r.p, &d, 80, &wide);
    assert_string_equal(strbuf_text(&wide), "workload   fast    slow   near\n"
                                            "red       70.0%  -20.0%  80.0%\n"
                                            "blue      20.0%  -30.0%   0.0%\n"
                                            "mean      45.0%  -25.0%  40.0%\n");
    figure_print_table(&r.p, &d, 24, &thin);
    assert_string_equal(strbuf_text(&thin), "workload   fast    slow\n"
                                            "red       70.0%  -20.0%\n"
                                            "blue      20.0%  -30.0%\n"
                                            "mean      45.0%  -25.0%\n"
                                            "\n"
                                            "workload   near\n"
                                            "red       80.0%\n"
                                            "blue       0.0%\n"
                                            "mean      40.0%\n");
    figure_print_claims(&d, 120, &claims);
    assert_non_null(strstr(strbuf_text(&claims), "t.slow      IPC gain, mean  -20.0%  -25.0%  reproduced\n"));
    figure_print_claims(&d, 52, &thin_claims);
    expect_width(strbuf_text(&thin_claims), 52);
    assert_non_null(strstr(strbuf_text(&thin_claims), "t.fast.red"));
    strbuf_free(&wide);
    strbuf_free(&thin);
    strbuf_free(&claims);
    strbuf_free(&thin_claims);
    figure_free(&d);
    rig_down(&r);
}

static void expect_at(const struct strbuf *json, const char *path, const char *want)
{
    const char *at = json_at(strbuf_text(json), path);
    if (!at || strncmp(at, want, strlen(want)))
        fail_msg("%s is not %s but %.40s", path, want, at ? at : "(absent)");
}

static void expect_none_at(const struct strbuf *json, const char *path)
{
    const char *at = json_at(strbuf_text(json), path);
    if (at) fail_msg("%s is %.40s", path, at);
}

static void an_experiment_is_valid_json(void **state)
{
    struct rig r;
    struct figure_set set;
    struct strbuf out = {0};
    rig_up(&r, gains);
    put_gains(&r);
    assert_true(figures_make(&set, &r.p, &r.store, &r.diags));
    experiment_json(&set, &out);
    figures_free(&set);
    assert_true(json_is_valid(strbuf_text(&out)));
    expect_at(&out, "title", "\"gains \\\"quoted\\\"\"");
    expect_at(&out, "workloads/1/as", "\"BL\"");
    expect_at(&out, "workloads/0/as", "\"red\"");
    expect_at(&out, "columns/1/settings/0", "\"l1.mshrs=128\"");
    expect_at(&out, "columns/1/x", "null");
    expect_at(&out, "figures/0/id", "\"f1\"");
    expect_at(&out, "figures/0/percent", "true");
    expect_at(&out, "figures/0/x/numeric", "false");
    expect_at(&out, "figures/0/mean", "\"arithmetic\"");
    expect_at(&out, "figures/1/mean", "null");
    expect_at(&out, "figures/0/columns/2", "\"near\"");
    expect_at(&out, "figures/0/measures/0/title", "\"IPC gain\"");
    expect_at(&out, "figures/0/cells/0/value", "0.7,");
    expect_at(&out, "figures/0/cells/0/paper", "0.8,");
    expect_none_at(&out, "figures/0/cells/0/chosen");
    expect_none_at(&out, "figures/0/cells/6/workload");
    expect_none_at(&out, "figures/0/cells/6/run");
    expect_at(&out, "figures/0/cells/6/paper", "0.5}");
    expect_at(&out, "figures/0/claims/1/verdict", "\"reproduced\"");
    expect_at(&out, "figures/0/claims/1/difference", "-0.05,");
    expect_at(&out, "figures/0/claims/3/workload", "\"red\"");
    expect_at(&out, "figures/0/missing", "0");
    expect_at(&out, "figures/1/cells/0/value", "null");
    expect_at(&out, "command", "\"heddle reproduce /tmp/");
    strbuf_free(&out);
    rig_down(&r);
}

/* blue: the paper has 1.5 and class S; green: 2.5 and class I; red: nothing */
static const char judged[] =
    "paper: kit\nmachine: fermi\nsize: tiny\nworkloads: [red, blue, green]\n"
    "columns:\n  base: {}\n  fast: {set: {l1.mshrs: 128}}\n"
    "measures:\n  speedup: {value: ipc / base.ipc, threshold: 2}\n"
    "  kind: {value: ipc / base.ipc, classes: [{class: S, from: 1.5}, {class: [C, I]}]}\n"
    "  limit: {value: longest.limit, words: [warps, threads, ctas, registers, shared]}\n"
    "figures:\n  - {id: f, title: F, where: \"Kit, Table 1\", note: A note., measures: speedup, draw: table, "
    "digits: 2, paper: {fast: gain}}\n"
    "  - {id: g, measures: [kind, limit], paper: {limit: load2.stride}}\n";

static void put_judged(struct rig *r, double red, double blue, double green)
{
    const char *const names[] = {"red", "blue", "green"};
    const double values[] = {red, blue, green};
    for (int i = 0; i < 3; i++) {
        kit_put(&r->store, &r->p, names[i], "base", "ipc", 1);
        if (!isnan(values[i])) kit_put(&r->store, &r->p, names[i], "fast", "ipc", values[i]);
        if (!isnan(values[i])) kit_put(&r->store, &r->p, names[i], "fast", "longest.limit", i + 2);
    }
}

static void values_agree_by_a_threshold(void **state)
{
    static const struct {
        double blue, green;
        enum agreement want_blue, want_green;
    } cases[] = {{1.5, 2.5, AGREEMENT_QUARTER, AGREEMENT_QUARTER},
                 {1.875, 1.875, AGREEMENT_QUARTER, AGREEMENT_QUARTER}, /* a quarter, just */
                 {1.1, 9, AGREEMENT_SIDE, AGREEMENT_SIDE},
                 {2, 1.8, AGREEMENT_NOT, AGREEMENT_NOT},
                 {NAN, 1, AGREEMENT_NONE, AGREEMENT_NOT}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig r;
        struct figure_data d;
        rig_up(&r, judged);
        put_judged(&r, 3, cases[i].blue, cases[i].green);
        assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
        assert_int_equal(cell(&d, 0, 1, 0)->agreement, AGREEMENT_NONE); /* the paper has no red */
        assert_int_equal(cell(&d, 1, 1, 0)->agreement, cases[i].want_blue);
        assert_int_equal(cell(&d, 2, 1, 0)->agreement, cases[i].want_green);
        figure_free(&d);
        rig_down(&r);
    }
}

static void values_agree_by_classes(void **state)
{
    struct rig r;
    struct figure_data d;
    rig_up(&r, judged);
    put_judged(&r, 3, 1.5, 1.6);
    assert_true(figure_make(&d, &r.p, &r.e.figures[1], &r.store, &r.diags));
    const struct figure_cell *red = cell(&d, 0, 1, 1), *blue = cell(&d, 1, 1, 1), *green = cell(&d, 2, 1, 1);
    assert_string_equal(red->class_of, "S");
    assert_null(red->paper_class);
    assert_int_equal(red->agreement, AGREEMENT_NONE);
    assert_int_equal(blue->agreement, AGREEMENT_SAME_CLASS);
    assert_string_equal(green->paper_class, "I");
    assert_int_equal(green->agreement, AGREEMENT_NOT);
    assert_true(isnan(cell(&d, 1, 1, 2)->paper)); /* blue has no loads */
    assert_true(cell(&d, 2, 1, 2)->paper == -64); /* the second load's stride */
    struct strbuf table = {0};
    figure_print_table(&r.p, &d, 80, &table);
    assert_string_equal(strbuf_text(&table), "workload      kind  (paper)               limit  (paper)\n"
                                             "red       3.000: S        -                ctas        -\n"
                                             "blue      1.500: S        S  same     registers        -\n"
                                             "green     1.600: S        I  differs     shared  -64.000\n"
                                             "1 the same, 1 different\n");
    strbuf_free(&table);
    figure_free(&d);
    rig_down(&r);
    rig_up(&r, judged);
    put_judged(&r, 3, NAN, 1.4); /* a class with two names */
    assert_true(figure_make(&d, &r.p, &r.e.figures[1], &r.store, &r.diags));
    assert_string_equal(cell(&d, 2, 1, 1)->class_of, "C");
    assert_int_equal(cell(&d, 2, 1, 1)->agreement, AGREEMENT_SAME_CLASS);
    assert_null(cell(&d, 1, 1, 1)->class_of); /* blue was not run */
    assert_string_equal(cell(&d, 1, 1, 1)->paper_class, "S");
    figure_free(&d);
    rig_down(&r);
}

static void a_figure_is_a_section_of_a_page(void **state)
{
    struct rig r;
    struct figure_data d;
    struct strbuf out = {0};
    rig_up(&r, judged);
    put_judged(&r, NAN, 1.6, 1.8);
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    figure_print_markdown(&r.p, &d, &out);
    assert_string_equal(strbuf_text(&out),
                        "\n## F (Kit, Table 1)\n\nA note.\n\n"
                        "`test`, size `tiny`. fast: machine `fermi`, `l1.mshrs=128`.\n\n"
                        "| workload | fast | (paper) |  |\n|---|--:|--:|---|\n"
                        "| red | - | - |  |\n| blue | 1.60 | 1.50 | within a quarter |\n"
                        "| green | 1.80 | 2.50 | **differs** |\n\n"
                        "1 run is missing or failed.\n\n1 within a quarter, 1 different.\n");
    strbuf_free(&out);
    figure_free(&d);
    rig_down(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_hold_measures_and_their_mean),
        cmocka_unit_test(a_missing_run_leaves_its_mean_open),
        cmocka_unit_test(a_store_that_cannot_be_read_is_an_error),
        cmocka_unit_test(a_measure_without_a_value_is_left_out_of_the_mean),
        cmocka_unit_test(histograms_have_bins_and_sums),
        cmocka_unit_test(means_are_the_three),
        cmocka_unit_test(an_oracle_takes_the_best_of_each_workload),
        cmocka_unit_test(a_run_that_failed_is_skipped_where_the_choice_says_so),
        cmocka_unit_test(parameters_alone_need_no_workload),
        cmocka_unit_test(a_verdict_needs_sign_order_and_value),
        cmocka_unit_test(what_cannot_be_compared_has_no_verdict),
        cmocka_unit_test(a_bound_is_held_on_its_side),
        cmocka_unit_test(order_is_among_comparable_claims),
        cmocka_unit_test(claims_are_filled_in_from_the_runs),
        cmocka_unit_test(tables_fit_the_terminal),
        cmocka_unit_test(values_agree_by_a_threshold),
        cmocka_unit_test(values_agree_by_classes),
        cmocka_unit_test(a_figure_is_a_section_of_a_page),
        cmocka_unit_test(an_experiment_is_valid_json),
    };
    return cmocka_run_group_tests(tests, kit_setup, kit_teardown);
}
