/* test_mech_poise.c: Poise's windows, prediction and search, on an SM whose speed is a function of the tuple;
 * its arithmetic beside that of the C library; its model files. */
#include "mech_kit.h"

#include "mech/poise_model.h"
#include "mech/warp_tuple.h"

#include <math.h>
#include <unistd.h>

/* ---- arithmetic ---- */

static int64_t fixed(double x) { return (int64_t)llround(x * (1 << POISE_FEATURE_BITS)); }

static void the_exponential_is_that_of_the_library(void **unused)
{
    for (int i = -6000; i <= 12000; i++) {
        const double x = i / 1000.0, want = exp(x);
        const double got = (double)poise_exp(fixed(x)) / (1 << POISE_FEATURE_BITS);
        const double error = want / (1 << 18) + 1.0 / (1 << POISE_FEATURE_BITS);
        if (fabs(got - want) > error) fail_msg("e^%g: %.9g instead of %.9g", x, got, want);
    }
    assert_int_equal(poise_exp(fixed(40)), POISE_EXP_MAX);
    assert_int_equal(poise_exp(fixed(-40)), 0);
}

/* Equation 5.13 in floating point, with the weights of Table 5.3. */
static double linked(const int64_t w[POISE_FEATURES], const double x[POISE_FEATURES])
{
    double sum = 0;
    for (int i = 0; i < POISE_FEATURES; i++) sum += (double)w[i] / POISE_WEIGHT_ONE * x[i];
    return exp(sum);
}

/* 1000 accesses: with all warps 200 hit, 100 of them their own warp's lines, and a miss takes 500 cycles;
 * with one warp 600, 600 and 300. 5 instructions for each load. */
static const struct poise_window all_warps = {5000, 1000, 1000, 800, 100, 400000, 800};
static const struct poise_window one_warp = {500, 100, 1000, 400, 600, 120000, 400};

static void features_are_those_of_table_5_3(void **unused)
{
    const double want[POISE_FEATURES] = {
        0.2, 0.6, 0.1, 0.6, 0.25, 5 * 0.25, (300 * 0.4 - 0.8 * 500) * (300 * 0.4 - 0.8 * 500) / 1e5, 1};
    int64_t x[POISE_FEATURES];
    poise_features(&all_warps, &one_warp, x);
    for (int i = 0; i < POISE_FEATURES; i++)
        if (llabs(x[i] - fixed(want[i])) > 4) fail_msg("x%d is %lld", i + 1, (long long)x[i]);
}

static void the_published_weights_predict_what_they_say(void **unused)
{
    const double x[POISE_FEATURES] = {0.2, 0.6, 0.1, 0.6, 0.25, 1.25, 0.784, 1};
    int64_t features[POISE_FEATURES];
    const double n = linked(poise_published.alpha, x), p = linked(poise_published.beta, x);
    assert_true(n > 0.4 && n < 0.5 && p > 5.5 && p < 5.6);
    poise_features(&all_warps, &one_warp, features);
    struct poise_tuple t = poise_predict(&poise_published, features, 24);
    assert_int_equal(t.n, 1);
    assert_int_equal(t.p, 1); /* p <= N */
}

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % below;
}

/* A whole number of warps, unless the value lies so near to a half that rounding may go either way. */
static bool rounds_to(double value, double most, uint32_t got)
{
    const double n = value < 1 ? 1 : value > most ? most : value;
    return fabs(n - got) < 0.501;
}

static void random_windows_predict_as_floating_point_does(void **unused)
{
    uint64_t seed = 7, between = 0;
    for (int i = 0; i < 2000; i++) {
        struct poise_window w[2];
        double rate[2], own[2], wait[2], x[POISE_FEATURES];
        int64_t features[POISE_FEATURES];
        for (int k = 0; k < 2; k++) {
            const uint64_t accesses = 1 + draw(&seed, 5000), misses = draw(&seed, accesses + 1);
            const uint64_t intra = draw(&seed, accesses - misses + 1), latency = 100 + draw(&seed, 900);
            w[k] = (struct poise_window){1000 + draw(&seed, 20000), 1000,  accesses, misses, intra,
                                         latency * misses,          misses};
            rate[k] = (double)misses / (double)accesses;
            own[k] = (double)intra / (double)accesses;
            wait[k] = misses ? rate[k] * (double)latency : 0;
        }
        const double gained = (own[1] - own[0]) * (own[1] - own[0]);
        const double values[] = {1 - rate[0],
                                 1 - rate[1],
                                 own[0],
                                 own[1],
                                 gained,
                                 (double)w[0].issued / 1000 * gained,
                                 (wait[1] - wait[0]) * (wait[1] - wait[0]) / 1e5,
                                 1};
        memcpy(x, values, sizeof x);
        poise_features(&w[0], &w[1], features);
        const struct poise_tuple t = poise_predict(&poise_published, features, 24);
        const double n = linked(poise_published.alpha, x), p = linked(poise_published.beta, x);
        if (!rounds_to(n, 24, t.n) || !rounds_to(p, t.n, t.p))
            fail_msg("(%u, %u) for %.6f and %.6f", t.n, t.p, n, p);
        between += t.n > 1 && t.n < 24;
    }
    assert_true(between > 200);
}

static void predictions_are_scaled_to_the_warps_that_are_there(void **unused)
{
    /* ln N = ln 12, ln p = ln 6, whatever the features are */
    struct poise_model m = {.warps = 24};
    m.alpha[POISE_FEATURES - 1] = (int64_t)llround(log(12) * POISE_WEIGHT_ONE);
    m.beta[POISE_FEATURES - 1] = (int64_t)llround(log(6) * POISE_WEIGHT_ONE);
    int64_t x[POISE_FEATURES] = {0};
    x[POISE_FEATURES - 1] = 1 << POISE_FEATURE_BITS;
    static const struct {
        uint32_t warps, n, p;
    } rows[] = {{24, 12, 6}, {8, 4, 2}, {16, 8, 4}, {2, 1, 1}, {1, 1, 1}, {0, 1, 1}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct poise_tuple t = poise_predict(&m, x, rows[i].warps);
        assert_int_equal(t.n, rows[i].n);
        assert_int_equal(t.p, rows[i].p);
    }
}

/* ---- the state machine ---- */

struct bench {
    struct mech_kit k;
    /* instructions in 1000 cycles at a tuple */
    uint64_t (*speed)(uint32_t n, uint32_t p);
    uint32_t instructions_per_load;
    uint64_t now;
    /* the tuples since the beginning, and the cycles at which they began */
    struct {
        uint64_t cycle;
        uint32_t n, p;
    } path[64];
    uint32_t steps;
};

static const struct warp_tuple *tuple_of(const struct bench *b) { return b->k.sm->states[0]; }

static void note_tuple(struct bench *b)
{
    const struct warp_tuple *t = tuple_of(b);
    if (b->steps && b->path[b->steps - 1].n == t->n && b->path[b->steps - 1].p == t->p) return;
    assert_true(b->steps < ARRAY_LEN(b->path));
    b->path[b->steps].cycle = b->now;
    b->path[b->steps].n = t->n;
    b->path[b->steps++].p = t->p;
}

/* A kernel with 24 warps for the scheduler begins at `cycle`. */
static void begin_kernel(struct bench *b, uint64_t cycle)
{
    b->k.cycle = b->now = cycle;
    b->k.counters = (struct mech_counters){0};
    b->steps = 0;
    mech_on_kernel(b->k.sm, true);
    for (int w = 0; w < 24; w++) kit_start(&b->k, w);
    note_tuple(b);
}

static void open_bench(struct bench *b, const char *settings)
{
    *b = (struct bench){.instructions_per_load = 5};
    kit_open(&b->k, "poise", settings, 1);
}

static void spend(struct bench *b, uint64_t cycles)
{
    struct mech_counters *c = &b->k.counters;
    const struct warp_tuple *t = tuple_of(b);
    const uint64_t issued = b->speed ? b->speed(t->n, t->p) * cycles / 1000 : cycles;
    c->cycles += cycles;
    c->issued += issued;
    c->loads += issued / b->instructions_per_load;
    c->load_accesses += cycles;
    c->load_misses += cycles / 2;
    b->now += cycles;
    b->k.cycle = b->now;
}

static void run_until(struct bench *b, uint64_t end)
{
    while (b->k.sm->next_timer <= end) {
        spend(b, b->k.sm->next_timer - b->now);
        mech_on_timer(b->k.sm, b->now);
        note_tuple(b);
    }
    spend(b, end - b->now);
}

static void expect_path(const struct bench *b, uint32_t from, const uint32_t (*want)[3], uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (from + i >= b->steps) fail_msg("the path ends after %u tuples", b->steps);
        if (b->path[from + i].cycle != want[i][0] || b->path[from + i].n != want[i][1] ||
            b->path[from + i].p != want[i][2])
            fail_msg("tuple %u is (%u, %u) at cycle %llu", from + i, b->path[from + i].n, b->path[from + i].p,
                     (unsigned long long)b->path[from + i].cycle);
    }
}
#define EXPECT_PATH(b, from, ...)                                                                            \
    do {                                                                                                     \
        static const uint32_t want[][3] = {__VA_ARGS__};                                                     \
        expect_path(b, from, want, ARRAY_LEN(want));                                                         \
    } while (0)

/* A model that predicts (12, 6) of 24 whatever was counted. */
static void write_model(char path[64], const char *text)
{
    strcpy(path, "/tmp/heddle_poise_XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}
static const char twelve_six[] = "poise-model 1\nabout a test\nwarps 24\nalpha 0 0 0 0 0 0 0 2.484907\n"
                                 "beta 0 0 0 0 0 0 0 1.791759\n";

static void open_predicted(struct bench *b, char path[64], const char *settings)
{
    char all[256];
    write_model(path, twelve_six);
    snprintf(all, sizeof all, "poise.model=%s %s", path, settings);
    open_bench(b, all);
}

static uint64_t flat(uint32_t n, uint32_t p) { return 1000; }

static void windows_end_at_their_cycles(void **unused)
{
    struct bench b;
    char path[64];
    open_predicted(&b, path, "");
    b.speed = flat;
    begin_kernel(&b, 1000);
    run_until(&b, 1000 + 199999);
    /* warm-up 2000, counting 10000, twice; then a visit each 6000: nobody is faster, so N and p stay. The
     * strides are 2 and 1 for N, 4, 2 and 1 for p. */
    EXPECT_PATH(&b, 0, {1000, 64, 64}, {13000, 1, 1}, {25000, 12, 6}, {31000, 10, 6}, {37000, 14, 6},
                {43000, 11, 6}, {49000, 13, 6}, {55000, 12, 2}, {61000, 12, 10}, {67000, 12, 4},
                {73000, 12, 8}, {79000, 12, 5}, {85000, 12, 7}, {91000, 12, 6});
    assert_int_equal(b.steps, 14);
    assert_int_equal(kit_stat(&b.k, "poise.visits"), 11);
    assert_int_equal(kit_stat(&b.k, "poise.moves"), 0);
    run_until(&b, 1000 + 200000); /* the next epoch */
    EXPECT_PATH(&b, 14, {201000, 64, 64});
    assert_int_equal(kit_stat(&b.k, "poise.epochs"), 2);
    kit_close(&b.k);
    unlink(path);
}

/* Best at N = 15, p = 3. */
static uint64_t hill(uint32_t n, uint32_t p)
{
    const int dn = (int)n - 15, dp = (int)p - 3;
    return (uint64_t)(2000 - 10 * dn * dn - 7 * dp * dp);
}

static void the_search_climbs_and_then_halves_its_stride(void **unused)
{
    struct bench b;
    char path[64];
    open_predicted(&b, path, "");
    b.speed = hill;
    begin_kernel(&b, 0);
    run_until(&b, 199999);
    /* from (12, 6): 10, 14 -> 14; 12, 16: as fast, so it stays; stride 1: 13, 15 -> 15; 14, 16: no;
     * p: 2 and 10 -> 2; -2 is none, 6: no; stride 2: 0 is none, 4: as fast, stays; stride 1: 1, 3 -> 3;
     * 2, 4: no */
    EXPECT_PATH(&b, 2, {24000, 12, 6}, {30000, 10, 6}, {36000, 14, 6}, {42000, 12, 6}, {48000, 16, 6},
                {54000, 13, 6}, {60000, 15, 6}, {66000, 14, 6}, {72000, 16, 6}, {78000, 15, 2},
                {84000, 15, 10}, {90000, 15, 6}, {96000, 15, 4}, {102000, 15, 1}, {108000, 15, 3},
                {114000, 15, 2}, {120000, 15, 4}, {126000, 15, 3});
    assert_int_equal(b.steps, 20);
    assert_int_equal(kit_stat(&b.k, "poise.moves"), 4);
    assert_int_equal(kit_stat(&b.k, "poise.settled"), 1);
    assert_int_equal(kit_stat(&b.k, "poise.settled_n"), 15);
    assert_int_equal(kit_stat(&b.k, "poise.settled_p"), 3);
    kit_close(&b.k);
    unlink(path);
}

static void without_strides_the_prediction_stays(void **unused)
{
    struct bench b;
    char path[64];
    open_predicted(&b, path, "poise.stride_n=0 poise.stride_p=0");
    b.speed = hill;
    begin_kernel(&b, 0);
    run_until(&b, 199999);
    EXPECT_PATH(&b, 0, {0, 64, 64}, {12000, 1, 1}, {24000, 12, 6});
    assert_int_equal(b.steps, 3);
    assert_int_equal(kit_stat(&b.k, "poise.visits"), 0);
    kit_close(&b.k);
    unlink(path);
}

static void a_kernel_bound_by_computation_keeps_all_warps(void **unused)
{
    struct bench b;
    open_bench(&b, "");
    b.speed = flat;
    b.instructions_per_load = 50;
    begin_kernel(&b, 0);
    run_until(&b, 199999);
    EXPECT_PATH(&b, 0, {0, 64, 64});
    assert_int_equal(b.steps, 1);
    assert_int_equal(kit_stat(&b.k, "poise.cut_off"), 1);
    assert_int_equal(kit_stat(&b.k, "poise.predictions"), 0);
    kit_close(&b.k);
}

static void the_end_of_a_kernel_ends_the_search(void **unused)
{
    struct bench b;
    char path[64];
    open_predicted(&b, path, "");
    b.speed = flat;
    begin_kernel(&b, 0);
    run_until(&b, 40000); /* in the middle of the search */
    for (int w = 0; w < 24; w++) kit_end(&b.k, w);
    mech_on_kernel(b.k.sm, false);
    assert_int_equal(b.k.sm->next_timer, UINT64_MAX);
    begin_kernel(&b, 50000);
    run_until(&b, 75000);
    EXPECT_PATH(&b, 0, {50000, 64, 64}, {62000, 1, 1}, {74000, 12, 6});
    kit_close(&b.k);
    unlink(path);
}

/* A search of 66,000 cycles in an epoch of 40,000: it ends with it, and nothing settles. */
static void the_end_of_an_epoch_ends_the_search(void **unused)
{
    struct bench b;
    char path[64];
    open_predicted(&b, path, "poise.period=40000");
    b.speed = flat;
    begin_kernel(&b, 0);
    run_until(&b, 79999);
    EXPECT_PATH(&b, 0, {0, 64, 64}, {12000, 1, 1}, {24000, 12, 6}, {30000, 10, 6}, {36000, 14, 6},
                {40000, 64, 64}, {52000, 1, 1}, {64000, 12, 6}, {70000, 10, 6}, {76000, 14, 6});
    assert_int_equal(b.steps, 10);
    assert_int_equal(kit_stat(&b.k, "poise.epochs"), 2);
    assert_int_equal(kit_stat(&b.k, "poise.predictions"), 2);
    assert_int_equal(kit_stat(&b.k, "poise.settled"), 0);
    kit_close(&b.k);
    unlink(path);
}

static void without_a_stride_for_n_only_p_is_searched(void **unused)
{
    struct bench b;
    char path[64];
    open_predicted(&b, path, "poise.stride_n=0");
    b.speed = flat;
    begin_kernel(&b, 0);
    run_until(&b, 199999);
    EXPECT_PATH(&b, 2, {24000, 12, 6}, {30000, 12, 2}, {36000, 12, 10}, {42000, 12, 4}, {48000, 12, 8},
                {54000, 12, 5}, {60000, 12, 7}, {66000, 12, 6});
    assert_int_equal(b.steps, 10);
    kit_close(&b.k);
    unlink(path);
}

/* ---- model files ---- */

static void a_model_of_another_machine_warns(void **unused)
{
    static const struct {
        const char *machine, *reason;
    } rows[] = {{"", NULL},
                {"machine kepler\n", NULL},
                {"machine kepler l1.size=32K\n", NULL},
                {"machine ../machines/kepler.yaml\n", NULL},
                {"machine fermi\n", "the model was trained on fermi, the machine is kepler"}};
    const struct mech_machine machine = {.name = "kepler", .warps = 48, .schedulers = 2};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct mech_kit k = {0};
        char path[64], text[256], setting[128], reason[MECH_REASON_BYTES] = "";
        snprintf(text, sizeof text, "poise-model 1\n%s%s", rows[i].machine, strchr(twelve_six, '\n') + 1);
        write_model(path, text);
        snprintf(setting, sizeof setting, "poise.model=%s", path);
        assert_true(kit_try_set(&k, "poise", setting));
        const enum mech_fit fit = mech_set_at(k.set, 0)->check(mech_set_params(k.set, 0), &machine, reason);
        assert_int_equal(fit, rows[i].reason ? MECH_FITS_POORLY : MECH_FITS);
        if (rows[i].reason) assert_string_equal(reason, rows[i].reason);
        mech_set_destroy(k.set);
        unlink(path);
    }
}

static void a_model_file_is_read(void **unused)
{
    char path[64], reason[MECH_REASON_BYTES];
    struct poise_model m;
    write_model(path, "# ours\npoise-model 1\nmachine kepler\nwarps 12\nalpha 1 -2.5 0.000001 3 4 5 6 7\n"
                      "beta 0.1234567 -0 0 0 0 0 0 1000\n");
    assert_true(poise_model_read(&m, path, reason));
    assert_int_equal(m.warps, 12);
    assert_string_equal(m.machine, "kepler");
    assert_int_equal(m.alpha[1], -2500000);
    assert_int_equal(m.alpha[2], 1);
    assert_int_equal(m.beta[0], 123456);
    assert_int_equal(m.beta[7], 1000000000);
    unlink(path);
}

static void a_bad_model_file_is_refused_with_its_line(void **unused)
{
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {"warps 24\n", ":1: a model begins with: poise-model 1"},
        {"poise-model 2\n", ":1: a model begins with: poise-model 1"},
        {"poise-model 1\nwarps 0\n", ":2: warps is a number from 1 to 64"},
        {"poise-model 1\nwarps 24x\n", ":2: warps is a number from 1 to 64"},
        {"poise-model 1\nwarps 24\nalpha 1 2 3\n", ":3: there are fewer than 8 weights"},
        {"poise-model 1\nalpha 1 2 3 4 5 6 7 8 9\n", ":2: there are more than 8 weights"},
        {"poise-model 1\nalpha 1 2 nan 4 5 6 7 8\n", ":2: a weight is a decimal number from -1000 to 1000"},
        {"poise-model 1\nalpha 1 2 1e9 4 5 6 7 8\n", ":2: a weight is a decimal number from -1000 to 1000"},
        {"poise-model 1\nalpha 1 2 1001 4 5 6 7 8\n", ":2: a weight is a decimal number from -1000 to 1000"},
        {"poise-model 1\nalpha 1 2 99999999999999999999 4 5 6 7 8\n",
         ":2: a weight is a decimal number from -1000 to 1000"},
        {"poise-model 1\nwarps 24\nwarps 24\n", ":3: it is there twice"},
        {"poise-model 1\ngamma 1\n", ":2: a line begins with warps, alpha, beta, about or machine"},
        {"poise-model 1\nwarps 24\n", ":2: the file ends without warps, alpha and beta"},
        {"", ":0: the file ends without warps, alpha and beta"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char path[64], reason[MECH_REASON_BYTES];
        struct poise_model m;
        write_model(path, rows[i].text);
        assert_false(poise_model_read(&m, path, reason));
        assert_string_equal(reason + strlen(path), rows[i].reason);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exponential_is_that_of_the_library),
        cmocka_unit_test(features_are_those_of_table_5_3),
        cmocka_unit_test(the_published_weights_predict_what_they_say),
        cmocka_unit_test(random_windows_predict_as_floating_point_does),
        cmocka_unit_test(predictions_are_scaled_to_the_warps_that_are_there),
        cmocka_unit_test(windows_end_at_their_cycles),
        cmocka_unit_test(the_search_climbs_and_then_halves_its_stride),
        cmocka_unit_test(without_strides_the_prediction_stays),
        cmocka_unit_test(a_kernel_bound_by_computation_keeps_all_warps),
        cmocka_unit_test(the_end_of_a_kernel_ends_the_search),
        cmocka_unit_test(the_end_of_an_epoch_ends_the_search),
        cmocka_unit_test(without_a_stride_for_n_only_p_is_searched),
        cmocka_unit_test(a_model_of_another_machine_warns),
        cmocka_unit_test(a_model_file_is_read),
        cmocka_unit_test(a_bad_model_file_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
