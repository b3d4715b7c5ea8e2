/* test_lab_train.c: which kernels a model is trained on, what it predicts, its errors, its file. */
#include "lab/train.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a profile of kernels whose targets a model gives ---- */

static const struct poise_model truth = {
    .warps = 24,
    .alpha = {500000, 1000000, -1000000, -500000, 800000, -100000, 20000, 2000000},
    .beta = {-300000, 600000, 400000, -200000, -500000, 50000, 30000, 1200000},
};

static uint64_t seed;
static uint64_t draw(uint64_t from, uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return from + (seed >> 33) % (below - from);
}

static struct poise_window window(void)
{
    struct poise_window w = {.accesses = 100000, .loads = 50000};
    w.issued = draw(100000, 800000);
    w.misses = draw(20000, 95000);
    w.intra_warp_hits = draw(0, 100000 - w.misses);
    w.latency_count = w.misses;
    w.latency_sum = w.misses * draw(200, 900);
    return w;
}

/* Slower the farther from (n, p): the target is there. */
static void add_points(struct profile_kernel *k, struct poise_tuple t)
{
    for (uint32_t n = 1; n <= k->warps; n++)
        for (uint32_t p = 1; p <= n; p++) {
            const double dn = (double)n - t.n, dp = (double)p - t.p;
            profile_add_point(k, (struct profile_point){n, p, (uint64_t)(50000 + 400 * (dn * dn + dp * dp))});
        }
    k->cycles = profile_find(k, k->warps, k->warps)->cycles;
}

static struct profile_kernel kernel(const char *workload, const char *name, uint64_t launch, uint32_t warps)
{
    struct profile_kernel k = {
        .workload = workload, .size = "small", .name = name, .launch = launch, .warps = warps};
    int64_t x[POISE_FEATURES];
    k.all = window();
    k.one = window();
    poise_features(&k.all, &k.one, x);
    add_points(&k, poise_predict(&truth, x, warps));
    return k;
}

static const char *const workload_names[] = {"one", "two", "three"};
static const char *const kernel_names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l",
                                           "m", "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x"};

static struct profile make_profile(void)
{
    struct profile p = {.machine = "kepler", .simulator = "0.1.0 abc", .warps = 24};
    seed = 3;
    for (uint32_t i = 0; i < 72; i++)
        vec_push(&p.kernels, kernel(workload_names[i / 24], kernel_names[i % 24], i + 1, 24));
    return p;
}

/* ---- the set ---- */

static void kernels_that_say_little_are_left_out(void **unused)
{
    struct profile p = make_profile();
    struct train_options o = train_defaults;
    const char *excluded[] = {"three"};
    struct train_set t;
    o.excluded = excluded;
    o.excluded_count = 1;
    p.kernels.data[0].cycles = 9999;
    p.kernels.data[1].one.misses = p.kernels.data[1].one.accesses;
    p.kernels.data[2].one.misses = p.kernels.data[2].one.accesses - 1;
    train_select(&t, &p, &o);
    assert_int_equal(t.rows.data[0].use, TRAIN_SHORT);
    assert_int_equal(t.rows.data[1].use, TRAIN_NO_HITS);
    assert_int_not_equal(t.rows.data[2].use, TRAIN_NO_HITS);
    for (uint32_t i = 48; i < 72; i++) assert_int_equal(t.rows.data[i].use, TRAIN_EXCLUDED);
    assert_int_equal(t.counts[TRAIN_EXCLUDED], 24);
    train_free(&t);
    profile_free(&p);
}

/* Cycles with all warps by those of a surface that is flat elsewhere: exactly 1.5%, and a little less. */
static void a_gain_of_one_and_a_half_percent_is_enough(void **unused)
{
    struct profile p = {.machine = "kepler", .simulator = "", .warps = 24};
    for (int i = 0; i < 2; i++) {
        struct profile_kernel k = {.workload = "one", .size = "small", .name = "a", .launch = 1, .warps = 2};
        k.cycles = 101500 - (uint64_t)i;
        k.one.accesses = 10;
        profile_add_point(&k, (struct profile_point){1, 1, 100000});
        profile_add_point(&k, (struct profile_point){2, 1, 100000});
        profile_add_point(&k, (struct profile_point){2, 2, k.cycles});
        vec_push(&p.kernels, k);
    }
    struct train_set t;
    train_select(&t, &p, &train_defaults);
    assert_int_equal(t.rows.data[0].use, TRAIN_KEPT);
    assert_int_equal(t.rows.data[1].use, TRAIN_NO_GAIN);
    train_free(&t);
    profile_free(&p);
}

/* ---- the model ---- */

static void a_model_is_learned_from_its_own_predictions(void **unused)
{
    struct profile p = make_profile();
    struct diag_list diags = {0};
    struct train_set t;
    struct train_result r;
    train_select(&t, &p, &train_defaults);
    assert_true(t.counts[TRAIN_KEPT] > 50);
    assert_true(train_fit(&t, &train_defaults, &r, &diags));
    const struct train_errors e = train_measure(&t, &r.model), wrong = train_measure(&t, &poise_published);
    assert_int_equal(e.count, t.counts[TRAIN_KEPT]);
    assert_true(e.n_percent < 5 && e.n_warps < 0.6);
    assert_true(e.p_percent < 10 && e.p_warps < 0.6);
    assert_true(wrong.n_percent > 2 * e.n_percent);
    uint32_t failed;
    const struct train_errors left = train_leave_one_out(&t, &train_defaults, &failed);
    assert_int_equal(failed, 0);
    assert_int_equal(left.count, e.count);
    assert_true(left.n_warps > e.n_warps && left.n_warps < 1);
    train_free(&t);
    profile_free(&p);
}

/* The tuple and all warps, nothing else. */
static void set_target(struct profile_kernel *k, uint32_t n, uint32_t p)
{
    vec_free(&k->points);
    profile_add_point(k, (struct profile_point){n, p, k->cycles / 10});
    profile_add_point(k, (struct profile_point){k->warps, k->warps, k->cycles});
}

/* Half the warps, half the target: scaled, it is the same. */
static void targets_are_scaled_to_the_slots_of_a_scheduler(void **unused)
{
    struct profile whole = make_profile(), half = make_profile();
    struct diag_list diags = {0};
    struct train_set t;
    struct train_result of_whole, of_half;
    for (uint32_t i = 0; i < whole.kernels.len; i++) {
        const uint32_t n = 1 + i % 11, p = 1 + n / 2;
        set_target(&whole.kernels.data[i], 2 * n, 2 * MIN(p, n));
        half.kernels.data[i].warps = 12;
        set_target(&half.kernels.data[i], n, MIN(p, n));
    }
    train_select(&t, &whole, &train_defaults);
    assert_int_equal(t.counts[TRAIN_KEPT], 72);
    assert_true(train_fit(&t, &train_defaults, &of_whole, &diags));
    train_free(&t);
    train_select(&t, &half, &train_defaults);
    assert_true(train_fit(&t, &train_defaults, &of_half, &diags));
    assert_memory_equal(of_whole.model.alpha, of_half.model.alpha, sizeof of_whole.model.alpha);
    assert_memory_equal(of_whole.model.beta, of_half.model.beta, sizeof of_whole.model.beta);
    assert_int_equal(of_half.model.warps, 24);
    train_free(&t);
    profile_free(&half);
    profile_free(&whole);
}

static void too_few_kernels_are_refused_with_the_reasons(void **unused)
{
    struct profile p = make_profile();
    struct diag_list diags = {0};
    struct train_options o = train_defaults;
    struct train_set t;
    struct train_result r;
    o.cycles_min = 1000000000;
    train_select(&t, &p, &o);
    assert_false(train_fit(&t, &o, &r, &diags));
    assert_non_null(strstr(diags.items.data[0].message, "fewer rows than weights"));
    assert_non_null(strstr(diags.items.data[0].hint, "0 kernels are kept, for 8 weights"));
    assert_non_null(strstr(diags.items.data[0].hint, "72 (fewer than 1000000000 cycles)"));
    diag_free(&diags);
    train_free(&t);
    profile_free(&p);
}

static void the_file_is_read_as_the_model_it_was_written_of(void **unused)
{
    struct profile p = make_profile();
    struct diag_list diags = {0};
    struct train_set t;
    struct train_result r;
    struct strbuf text = {0};
    struct poise_model again;
    char path[] = "/tmp/heddle-train-XXXXXX", reason[MECH_REASON_BYTES] = "";
    train_select(&t, &p, &train_defaults);
    assert_true(train_fit(&t, &train_defaults, &r, &diags));
    const struct train_report report = {.set = &t,
                                        .options = &train_defaults,
                                        .result = &r,
                                        .training = train_measure(&t, &r.model),
                                        .left_out = {.count = 5},
                                        .has_left_out = true,
                                        .left_out_failed = 1};
    train_write(&report, &text);
    const int fd = mkstemp(path);
    assert_true(write(fd, strbuf_text(&text), text.len) == (ssize_t)text.len);
    close(fd);
    if (!poise_model_read(&again, path, reason)) fail_msg("%s", reason);
    unlink(path);
    assert_int_equal(again.warps, 24);
    assert_memory_equal(again.alpha, r.model.alpha, sizeof again.alpha);
    assert_memory_equal(again.beta, r.model.beta, sizeof again.beta);
    assert_non_null(strstr(strbuf_text(&text), "machine kepler\n"));
    assert_non_null(strstr(strbuf_text(&text), "about simulator 0.1.0 abc\n"));
    assert_non_null(strstr(strbuf_text(&text), "about trained on two, small: "));
    assert_non_null(strstr(strbuf_text(&text), "about error of training: N "));
    strbuf_free(&text);
    train_free(&t);
    profile_free(&p);
}

/* ---- training and evaluation ---- */

static void load_workload(struct workload_set *w, const char *folder, const char *name, const char *papers)
{
    struct diag_list diags = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/%s.yaml", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "name: %s\nsuite: Kit\nsizes: {small: {}}\npapers: {%s}\n", name, papers);
    fclose(f);
    assert_non_null(workload_load_file(w, path, "/bin", &diags));
    unlink(path);
}

static void an_evaluation_workload_must_not_be_trained_on(void **unused)
{
    struct profile p = make_profile();
    struct workload_set w = {0};
    struct diag_list diags = {0};
    struct train_options o = train_defaults;
    const char *excluded[] = {"two"};
    struct train_set t;
    char folder[] = "/tmp/heddle-train-XXXXXX";
    assert_non_null(mkdtemp(folder));
    load_workload(&w, folder, "one", "thesis-ch5: {p_best: 2, training: true}");
    load_workload(&w, folder, "two", "thesis-ch5: {p_best: 2}");
    rmdir(folder);
    train_select(&t, &p, &o);
    assert_false(train_check_evaluation(&t, &w, &diags)); /* three is the user's own */
    assert_int_equal(diags.items.len, 1);
    assert_non_null(strstr(diags.items.data[0].message, "two is in the evaluation set"));
    assert_non_null(strstr(diags.items.data[0].hint, "--exclude two"));
    diag_free(&diags);
    train_free(&t);
    o.excluded = excluded;
    o.excluded_count = 1;
    train_select(&t, &p, &o);
    assert_true(train_check_evaluation(&t, &w, &diags));
    train_free(&t);
    workloads_free(&w);
    profile_free(&p);
}

static void a_model_is_not_measured_on_what_it_was_trained_on(void **unused)
{
    struct profile p = make_profile();
    struct diag_list diags = {0};
    struct train_options first = train_defaults, rest = train_defaults;
    const char *not_first[] = {"two", "three"}, *not_rest[] = {"one"};
    struct train_set t, same, other;
    first.excluded = not_first;
    first.excluded_count = 2;
    rest.excluded = not_rest;
    rest.excluded_count = 1;
    train_select(&t, &p, &first);
    train_select(&same, &p, &train_defaults);
    train_select(&other, &p, &rest);
    assert_true(train_check_overlap(&t, &other, &diags));
    assert_false(train_check_overlap(&t, &same, &diags));
    assert_int_equal(diags.items.len, 1);
    assert_non_null(strstr(diags.items.data[0].message, "one is in the training set"));
    diag_free(&diags);
    train_free(&t);
    train_free(&same);
    train_free(&other);
    profile_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_say_little_are_left_out),
        cmocka_unit_test(a_gain_of_one_and_a_half_percent_is_enough),
        cmocka_unit_test(a_model_is_learned_from_its_own_predictions),
        cmocka_unit_test(targets_are_scaled_to_the_slots_of_a_scheduler),
        cmocka_unit_test(too_few_kernels_are_refused_with_the_reasons),
        cmocka_unit_test(the_file_is_read_as_the_model_it_was_written_of),
        cmocka_unit_test(an_evaluation_workload_must_not_be_trained_on),
        cmocka_unit_test(a_model_is_not_measured_on_what_it_was_trained_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
