/* Descriptions of workloads: what is read, and where the errors of a wrong one point. */
#include "lab/workload.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int make_folder(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/heddle-workloads-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* Writes `text` as the description of workload `name` below the folder's workloads/; returns its path. */
static const char *describe(const char *name, const char *text)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/workloads", folder);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/workloads/%s", folder, name);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/workloads/%s/workload.yaml", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static const char good[] = "name: bfs\n"
                           "suite: Rodinia\n"
                           "summary: levels\n"
                           "kernels: [one, two]\n"
                           "sizes:\n"
                           "  tiny: {input: 64 nodes, warp_instructions: 1234}\n"
                           "  own: {args: --n 7}\n"
                           "  list: {args: [-a, b c]}\n"
                           "papers:\n"
                           "  thesis-ch3: {p_inf: 2.84, p_dram: 1}\n"
                           "  apres: {as: BFS, class: S, loads: [[0.5, 0.25, 0.75, -64, 0.125]]}\n";

static void a_description_is_read(void **state)
{
    struct workload_set set = {0};
    struct diag_list diags = {0};
    const struct workload *w = workload_load_file(&set, describe("bfs", good), "/bin", &diags);
    assert_non_null(w);
    assert_string_equal(w->program, "/bin/bfs");
    assert_int_equal(w->kernel_count, 2);
    assert_string_equal(w->kernels[1], "two");
    assert_int_equal(workload_size(w, "tiny")->warp_instructions, 1234);
    assert_string_equal(workload_size(w, "tiny")->args[1], "tiny");
    assert_string_equal(workload_size(w, "own")->args[0], "--n");
    assert_string_equal(workload_size(w, "own")->args[1], "7");
    assert_null(workload_size(w, "own")->args[2]);
    assert_string_equal(workload_size(w, "list")->args[1], "b c");
    assert_null(workload_size(w, "huge"));
    assert_true(workload_figure(w, "thesis-ch3", "p_inf") == 2.84);
    assert_true(isnan(workload_figure(w, "thesis-ch3", "p_max")));
    assert_true(isnan(workload_figure(w, "thesis-ch9", "p_inf")));
    const struct workload_paper *p = workload_paper(w, "apres");
    assert_string_equal(p->as, "BFS");
    assert_string_equal(p->class_of, "S");
    assert_int_equal(p->load_count, 1);
    assert_true(p->loads[0].stride == -64 && p->loads[0].stride_share == 0.125);
    workloads_free(&set);
}

static void a_program_of_ones_own_is_beside_its_description(void **state)
{
    struct workload_set set = {0};
    struct diag_list diags = {0};
    const struct workload *w = workload_load_file(
        &set, describe("own", "name: own\nprogram: build/own\nsizes: {s: {}}\n"), "/bin", &diags);
    assert_non_null(w);
    char want[256];
    snprintf(want, sizeof want, "%s/workloads/own/build/own", folder);
    assert_string_equal(w->program, want);
    workloads_free(&set);
}

/* The description must be refused, at this position, with these words. */
static void refuse(const char *text, int line, int col, const char *words)
{
    struct workload_set set = {0};
    struct diag_list diags = {0};
    assert_null(workload_load_file(&set, describe("bad", text), "/bin", &diags));
    assert_true(diags.errors > 0);
    const struct diag *d = &diags.items.data[0];
    if (d->line != line || d->col != col ||
        (!strstr(d->message, words) && !(d->hint && strstr(d->hint, words))))
        fail_msg("%d:%d %s (%s)", d->line, d->col, d->message, d->hint ? d->hint : "");
    assert_int_equal(set.items.len, 0);
    diag_free(&diags);
    workloads_free(&set);
}

static void wrong_descriptions_are_refused_at_their_place(void **state)
{
    refuse("name: x\n", 1, 1, "sizes");
    refuse("nmae: x\nsizes: {a: {}}\n", 1, 1, "did you mean 'name'");
    refuse("name: x\nsizes: {a: {imput: 3}}\n", 2, 13, "did you mean 'input'");
    refuse("name: x\nsizes: {a: {warp_instructions: many}}\n", 2, 32, "whole number");
    refuse("name: x\nsizes: {a: {}}\nkernels: one\n", 3, 10, "list");
    refuse("name: x\nsizes: {a: {}}\npapers:\n  apres: {loads: [[1, 2]]}\n", 4, 19, "five numbers");
    refuse("name: [\n", 2, 1, "not valid YAML");
    refuse("- a\n- b\n", 1, 1, "mapping");
    refuse("name: &a x\nsuite: *a\nsizes: {a: {}}\n", 2, 8, "aliases");
    refuse("name: x\nsizes: {a: {}}\n? [a]\n: b\n", 3, 3, "plain text");
}

static void one_wrong_description_does_not_hide_the_others(void **state)
{
    struct workload_set set = {0};
    struct diag_list diags = {0};
    describe("bfs", good);
    describe("bad", "name: bad\n");
    describe("own", "name: own\nsizes: {s: {}}\n");
    assert_false(workloads_load(&set, &(struct workload_places){folder, "/bin", NULL}, &diags));
    assert_int_equal(diags.errors, 1);
    assert_int_equal(set.items.len, 2);
    assert_non_null(workload_find(&set, "bfs"));
    assert_null(workload_find(&set, "bad"));
    diag_free(&diags);
    workloads_free(&set);
}

static void two_of_one_name_are_refused(void **state)
{
    struct workload_set set = {0};
    struct diag_list diags = {0};
    describe("bad", "name: bad\nsizes: {s: {}}\n");
    char more[128];
    snprintf(more, sizeof more, "%s/workloads/bfs/workload.yaml", folder);
    assert_false(workloads_load(&set, &(struct workload_places){folder, "/bin", more}, &diags));
    assert_int_equal(diags.errors, 1);
    assert_non_null(strstr(diags.items.data[0].message, "already described"));
    diag_free(&diags);
    workloads_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_description_is_read),
        cmocka_unit_test(a_program_of_ones_own_is_beside_its_description),
        cmocka_unit_test(wrong_descriptions_are_refused_at_their_place),
        cmocka_unit_test(one_wrong_description_does_not_hide_the_others),
        cmocka_unit_test(two_of_one_name_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
