/* test_lab_models.c: models that an experiment trains: their weights as numbers, their files as settings. */
#include "figure_rig.h"

#include "lab/train.h"

#define PROFILE "models/poise-kepler.profile"
#define MODELS  "models: {all: {profile: " PROFILE "}, no-x6: {profile: " PROFILE ", without: [x6]}}\n"
#define TOP     "machine: kepler\nworkloads: [red]\n"
#define TAIL    "measures: {ipc: ipc}\nfigures: [{id: f, columns: [base]}]\n"

static void assert_same_model(const struct poise_model *a, const struct poise_model *b)
{
    assert_int_equal(a->warps, b->warps);
    assert_memory_equal(a->alpha, b->alpha, sizeof a->alpha);
    assert_memory_equal(a->beta, b->beta, sizeof a->beta);
}

/* models/poise-kepler.model is what `heddle train` made of the same profile. */
static void weights_are_those_of_the_model(void **state)
{
    struct rig r;
    struct figure_data d;
    char path[512], reason[MECH_REASON_BYTES];
    struct poise_model shipped;
    rig_up(&r, TOP MODELS
           "columns: {base: {}}\n"
           "measures: {a: weight(all.alpha.x1), b: weight(all.beta.x8), none: weight(no-x6.alpha.x6)}\n"
           "figures: [{id: f, columns: [base], measures: [a, b, none]}]\n");
    snprintf(path, sizeof path, "%s/models/poise-kepler.model", machine_data_dir());
    if (!poise_model_read(&shipped, path, reason)) fail_msg("%s", reason);
    assert_int_equal(r.e.model_count, 2);
    assert_same_model(&r.e.models[0].weights, &shipped);
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], &r.store, &r.diags));
    assert_true(is_near(d.cells[0].value, (double)shipped.alpha[0] / POISE_WEIGHT_ONE));
    assert_true(is_near(d.cells[1].value, (double)shipped.beta[7] / POISE_WEIGHT_ONE));
    assert_true(d.cells[2].value == 0);
    figure_free(&d);
    rig_down(&r);
}

/* The regression of seven columns, made here without train.c, has the other weights. */
static void a_model_without_a_feature_is_fitted_to_the_others(void **state)
{
    struct rig r;
    struct profile p;
    struct train_set t;
    struct negbin_fit fit;
    char path[512];
    rig_up(&r, TOP MODELS "columns: {base: {}}\n" TAIL);
    snprintf(path, sizeof path, "%s/%s", machine_data_dir(), PROFILE);
    assert_true(profile_load(&p, path, &r.diags));
    train_select(&t, &p, &train_defaults);
    double x[7 * 64], y[64];
    uint32_t rows = 0;
    for (uint32_t i = 0; i < t.rows.len; i++) {
        const struct train_row *row = &t.rows.data[i];
        if (row->use != TRAIN_KEPT) continue;
        assert_in_range(rows, 0, 63);
        for (int k = 0, column = 0; k < POISE_FEATURES; k++)
            if (k != 5) x[rows * 7 + column++] = ldexp((double)row->features[k], -POISE_FEATURE_BITS);
        y[rows++] = 24.0 / row->kernel->warps * row->target->n;
    }
    const struct negbin_data d = {.x = x, .y = y, .rows = rows, .columns = 7};
    assert_null(negbin_fit(&d, 1, &fit));
    const int64_t *alpha = r.e.models[1].weights.alpha;
    for (int k = 0, column = 0; k < POISE_FEATURES; k++)
        if (k != 5) assert_int_equal(alpha[k], llround(fit.weights[column++] * POISE_WEIGHT_ONE));
    assert_int_equal(alpha[5], 0);
    assert_int_not_equal(alpha[0], r.e.models[0].weights.alpha[0]);
    train_free(&t);
    profile_free(&p);
    rig_down(&r);
}

static void a_column_gets_the_file_of_its_model(void **state)
{
    struct rig r;
    struct poise_model read;
    char reason[MECH_REASON_BYTES];
    const char *key = "poise.model=";
    rig_up(&r, TOP MODELS "columns: {base: {}, p: {mech: poise, mech_set: {poise.model: model(no-x6), "
                          "poise.stride_n: 0}}}\n" TAIL);
    const uint32_t column = kit_column(&r.e, "p");
    assert_int_equal(plan_job(&r.p, 0, column), PLAN_LATER);
    assert_true(plan_advance(&r.p, &r.store, kit_folder, &r.diags));
    const struct lab_job *job = &r.p.jobs[plan_job(&r.p, 0, column)];
    const char *setting = job->run.mech_sets[0];
    assert_memory_equal(setting, key, strlen(key));
    assert_string_equal(job->run.mech_sets[1], "poise.stride_n=0");
    if (!poise_model_read(&read, setting + strlen(key), reason)) fail_msg("%s", reason);
    assert_same_model(&read, &r.e.models[1].weights);
    rig_down(&r);
}

static void refuse(const char *text, int line, const char *words)
{
    struct experiment e;
    struct diag_list diags = {0};
    if (kit_load(&e, text, &diags)) fail_msg("was not refused (%s):\n%s", words, text);
    const struct diag *d = &diags.items.data[0];
    if (d->line != line || (!strstr(d->message, words) && !(d->hint && strstr(d->hint, words))))
        fail_msg("%s: %d:%d %s (%s)", words, d->line, d->col, d->message, d->hint ? d->hint : "");
    diag_free(&diags);
    experiment_free(&e);
}

static void wrong_models_are_refused_at_their_place(void **state)
{
#define BASE "columns: {base: {}}\n" TAIL
    refuse(TOP "models: [all]\n" BASE, 3, "a mapping of names");
    refuse(TOP "models: {all: {}}\n" BASE, 3, "names no profile");
    refuse(TOP "models: {all: {profile: models/no.profile}}\n" BASE, 3, "no.profile");
    refuse(TOP "models: {all: {profile: " PROFILE ", without: [x8]}}\n" BASE, 3, "no feature is called 'x8'");
    refuse(TOP "models: {all: {profile: " PROFILE ", with: [x1]}}\n" BASE, 3, "with");
    refuse(TOP MODELS "columns: {p: {mech: poise, mech_set: {poise.model: model(al)}}}\n" TAIL, 4,
           "names no model");
    refuse(TOP MODELS "columns: {p: {mech: poise, mech_set: {poise.stride_n: model(all)}}}\n" TAIL, 4,
           "names a file");
    refuse(TOP MODELS "columns: {base: {}}\nmeasures: {a: weight(all.alpha.x9)}\n", 5, "not a weight");
    refuse(TOP MODELS "columns: {base: {}}\nmeasures: {a: weight(al.alpha.x1)}\n", 5, "not a weight");
    refuse(TOP MODELS "columns: {base: {}}\nmeasures: {a: weight(all)}\n", 5, "not a weight");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_those_of_the_model),
        cmocka_unit_test(a_model_without_a_feature_is_fitted_to_the_others),
        cmocka_unit_test(a_column_gets_the_file_of_its_model),
        cmocka_unit_test(wrong_models_are_refused_at_their_place),
    };
    return cmocka_run_group_tests(tests, kit_setup, kit_teardown);
}
