/* test_experiment.c STATS: an experiment from its file to its figure, with real keys and a real store; and
 * every statistic that an experiment may name is one that the store has. STATS is the JSON of a run. */
#include "base/map.h"
#include "core/stat_tables.h"
#include "lab/experiment_read.h"
#include "lab/figure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static const char *stats_path;
static char folder[64];

static void write_file(const char *name, const char *text, char path[128])
{
    snprintf(path, 128, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const char text[] =
    "machine: fermi\nsize: tiny\nworkloads: [one, two]\n"
    "columns: {base: {}, more: {set: {l1.mshrs: 64}}, same: {}}\n"
    "measures:\n  ratio: ipc / base.ipc\n  levels: sum(queue.l2_access_level) / queue.l2_access_used\n"
    "  mshrs: param(l1.mshrs)\n"
    "figures: [{id: f, measures: [ratio, levels, mshrs], mean: geometric}]\n";

struct rig {
    struct workload_set workloads;
    struct experiment e;
    struct plan p;
    struct store *store;
    struct diag_list diags;
};

static void rig_up(struct rig *r)
{
    char path[128], *error = NULL;
    *r = (struct rig){0};
    write_file("one.yaml", "name: one\nprogram: /bin/true\nsizes: {tiny: {}}\n", path);
    assert_non_null(workload_load_file(&r->workloads, path, "/bin", &r->diags));
    write_file("two.yaml", "name: two\nprogram: /bin/false\nsizes: {tiny: {}}\n", path);
    assert_non_null(workload_load_file(&r->workloads, path, "/bin", &r->diags));
    write_file("test.yaml", text, path);
    bool ok =
        experiment_load(&r->e, path, &r->workloads, &r->diags) && plan_make(&r->p, &r->e, NULL, &r->diags);
    if (!ok) fail_msg("%s", r->diags.items.data[0].message);
    snprintf(path, sizeof path, "%s/store.db", folder);
    r->store = store_open(path, true, &error);
    if (!r->store) fail_msg("%s", error);
}

static void rig_down(struct rig *r)
{
    store_close(r->store);
    plan_free(&r->p);
    experiment_free(&r->e);
    workloads_free(&r->workloads);
    diag_free(&r->diags);
}

static void put(struct rig *r, uint32_t job)
{
    char *error = NULL;
    struct store_outcome o = {
        .stats = stats_path, .log = "/dev/null", .seconds = 1.5, .peak_bytes = 1 << 20, .host = "here"};
    if (!store_put(r->store, &r->p.jobs[job], &o, &error)) fail_msg("%s", error);
}

static void an_experiment_becomes_a_figure(void **state)
{
    struct rig r;
    struct figure_data d;
    rig_up(&r);
    assert_int_equal(r.p.job_count, 4); /* `same` is `base` */
    for (uint32_t i = 0; i < 3; i++) put(&r, i);
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], r.store, &r.diags));
    assert_int_equal(d.missing, 1);
    assert_true(d.cells[0].value == 1 && d.cells[2].value == 64);
    figure_free(&d);
    put(&r, 3);
    assert_true(figure_make(&d, &r.p, &r.e.figures[0], r.store, &r.diags));
    assert_int_equal(d.missing, 0);
    for (uint32_t i = 0; i < d.cell_count; i++) assert_false(isnan(d.cells[i].value));
    assert_true(fabs(d.cells[1].value - 1) < 1e-12); /* the levels of a queue are all of its time in use */
    figure_free(&d);
    rig_down(&r);
}

static void expect_stat(struct rig *r, const char *name)
{
    if (isnan(store_stat(r->store, r->p.jobs[0].key, name))) fail_msg("the store does not have '%s'", name);
}

static void the_store_has_what_experiments_may_name(void **state)
{
    static const char *const own[] = {"cycles", "ipc", "thread_ipc", "host.seconds", "host.peak_bytes"};
    struct rig r;
    struct map known = {0};
    struct stats_table t;
    uint32_t counted = 0;
    rig_up(&r);
    put(&r, 0);
    experiment_stats(&known);
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        assert_non_null(map_get(&known, own[i]));
        expect_stat(&r, own[i]);
    }
    for (uint32_t i = 0; machine_stats_at(i, &t); i++)
        for (const struct stat_row *row = t.rows; row->name && strcmp(t.where, "src/mech"); row++) {
            char name[128];
            snprintf(name, sizeof name, row->type == STAT_HISTOGRAM ? "%s[%u]" : "%s", row->name,
                     row->length - 1);
            assert_non_null(map_get(&known, row->name));
            const bool is_here = row->type != STAT_RATIO &&   /* it may be 0 / 0 here */
                                 strncmp(name, "helper.", 7); /* no SM is in cache mode */
            if (is_here) expect_stat(&r, name);
            counted++;
        }
    assert_true(counted > 100);
    map_free(&known);
    rig_down(&r);
}

static int make_folder(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/heddle-figure-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* ---- sizes that papers choose ---- */

static void load_sized(struct workload_set *set, struct diag_list *diags)
{
    char path[128];
    write_file("a.yaml",
               "name: a\nprogram: /bin/true\nsizes: {tiny: {}, small: {}, fill: {}}\n"
               "papers: {p: {size: fill}, q: {}}\n",
               path);
    assert_non_null(workload_load_file(set, path, "/bin", diags));
    write_file("b.yaml",
               "name: b\nprogram: /bin/true\nsizes: {tiny: {}, small: {}}\npapers: {p: {}, q: {}}\n", path);
    assert_non_null(workload_load_file(set, path, "/bin", diags));
}

static void a_paper_chooses_the_size_of_each_workload(void **state)
{
    static const struct {
        const char *head, *paper, *size_of_a, *size_of_b;
    } rows[] = {
        {"", "p", "fill", "small"}, {"", "q", "small", "small"}, {"size: tiny\n", "p", "tiny", "tiny"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct workload_set set = {0};
        struct diag_list diags = {0};
        struct experiment e;
        char path[128], file[256];
        load_sized(&set, &diags);
        snprintf(file, sizeof file,
                 "machine: fermi\n%sworkloads: {paper: %s}\ncolumns: {base: {}}\n"
                 "measures: {c: cycles}\nfigures: [{id: f, measures: [c]}]\n",
                 rows[i].head, rows[i].paper);
        write_file("sized.yaml", file, path);
        assert_true(experiment_load(&e, path, &set, &diags));
        assert_string_equal(e.sizes[0], rows[i].size_of_a);
        assert_string_equal(e.sizes[1], rows[i].size_of_b);
        experiment_free(&e);
        workloads_free(&set);
        diag_free(&diags);
    }
}

static void a_paper_cannot_choose_a_size_that_is_not_there(void **state)
{
    struct workload_set set = {0};
    struct diag_list diags = {0};
    char path[128];
    write_file("c.yaml", "name: c\nprogram: /bin/true\nsizes: {tiny: {}}\npapers: {p: {size: fill}}\n", path);
    assert_null(workload_load_file(&set, path, "/bin", &diags));
    assert_int_equal(diags.items.len, 1);
    assert_string_equal(diags.items.data[0].message, "workload 'c' has no size 'fill'");
    assert_int_equal(diags.items.data[0].line, 4);
    workloads_free(&set);
    diag_free(&diags);
}

/* ---- the experiments of the data folder ---- */

/* What `all` reaches: experiments by name, and the ids of the claims that they name. */
struct reach {
    struct workload_set workloads;
    struct map experiments, claims;
};

static void reach_all(struct reach *r, const char *name)
{
    struct diag_list diags = {0};
    struct experiment e = {0};
    if (map_get(&r->experiments, name)) return;
    map_put(&r->experiments, name, r);
    if (!experiment_load(&e, name, &r->workloads, &diags))
        fail_msg("%s: %s", name, diags.items.data[0].message);
    for (uint32_t i = 0; e.study && e.study[i]; i++) reach_all(r, e.study[i]);
    for (uint32_t f = 0; f < e.figure_count; f++)
        for (uint32_t i = 0; i < e.figures[f].claim_count; i++)
            map_put(&r->claims, e.figures[f].claims[i].id, r);
    experiment_free(&e);
    diag_free(&diags);
}

static void reach_up(struct reach *r)
{
    struct diag_list diags = {0};
    *r = (struct reach){0};
    const struct workload_places places = {machine_data_dir(), "/bin", NULL};
    assert_true(workloads_load(&r->workloads, &places, &diags));
    reach_all(r, "all");
    diag_free(&diags);
}

static void reach_down(struct reach *r)
{
    workloads_free(&r->workloads);
    map_free(&r->experiments);
    map_free(&r->claims);
}

/* Every line of claims.tsv is compared in a figure of `all`, or a figure says why it is not comparable. */
static void every_claim_has_its_figure(void **state)
{
    struct reach r;
    struct claim_set claims = {0};
    struct diag_list diags = {0};
    uint32_t lacking = 0;
    reach_up(&r);
    assert_true(claims_load(&claims, HEDDLE_SOURCE_DIR "/experiments/claims.tsv", &diags));
    for (uint32_t i = 0; i < claims.items.len; i++) {
        if (map_get(&r.claims, claims.items.data[i].id)) continue;
        print_error("no figure has the claim %s\n", claims.items.data[i].id);
        lacking++;
    }
    assert_int_equal(lacking, 0);
    assert_true(claims.items.len > 700);
    claims_free(&claims);
    diag_free(&diags);
    reach_down(&r);
}

/* `all` is every study: nothing is left out but what shows the tool itself, or a part of a study quickly. */
static void all_reaches_every_study(void **state)
{
    static const char *const others[] = {"demo", "example", "morpheus-quick"};
    struct reach r;
    struct arena arena = {0};
    const char **names;
    uint32_t count = experiment_names(&arena, &names), left_out = 0;
    reach_up(&r);
    for (uint32_t i = 0; i < count; i++) {
        bool is_other = false;
        for (size_t k = 0; k < ARRAY_LEN(others); k++) is_other = is_other || !strcmp(names[i], others[k]);
        if (is_other != (map_get(&r.experiments, names[i]) != NULL)) continue;
        print_error("%s %s\n", names[i], is_other ? "is in all" : "is not in all");
        left_out++;
    }
    assert_int_equal(left_out, 0);
    arena_free(&arena);
    reach_down(&r);
}

static char *read_whole(const char *path)
{
    struct strbuf out = {0};
    char block[4096];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) strbuf_add(&out, block, n);
    fclose(f);
    return out.data;
}

/* Papers seldom say whether leakage is in their energies: whoever sums them up shows both sums, and
 * beside claims the parts. */
static void energies_are_shown_with_and_without_leakage(void **state)
{
    struct arena arena = {0};
    const char **names;
    uint32_t count = experiment_names(&arena, &names), studies = 0;
    for (uint32_t i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/experiments/%s.yaml", machine_data_dir(), names[i]);
        char *content = read_whole(path);
        if (strstr(content, "energy(total)")) {
            if (!strstr(content, "energy(without_leakage)"))
                fail_msg("%s has energies with leakage alone", names[i]);
            if (strstr(content, "claims:") && !strstr(content, "draw: stacked"))
                fail_msg("%s has claims of energy, and no energy by part", names[i]);
            studies++;
        }
        free(content);
    }
    assert_true(studies >= 5);
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_experiment_becomes_a_figure),
        cmocka_unit_test(the_store_has_what_experiments_may_name),
        cmocka_unit_test(a_paper_chooses_the_size_of_each_workload),
        cmocka_unit_test(a_paper_cannot_choose_a_size_that_is_not_there),
        cmocka_unit_test(every_claim_has_its_figure),
        cmocka_unit_test(all_reaches_every_study),
        cmocka_unit_test(energies_are_shown_with_and_without_leakage),
    };
    if (argc != 2) return 2;
    stats_path = argv[1];
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
