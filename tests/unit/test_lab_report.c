/* test_lab_report.c: the data comes into the page whole and harmless, or the old page stays. Store and
 * experiments are fakes. */
#include "lab/report.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static bool store_is_broken;

void experiment_json(const struct figure_set *set, struct strbuf *out)
{
    strbuf_printf(out, "{\"name\":\"e%u\",\"note\":\"</script><!--\"}\n", set->plan->job_count);
}

bool store_run_json(struct store *s, const char *key, enum store_detail detail, struct strbuf *out)
{
    if (!strcmp(key, "absent") || store_is_broken) return false;
    strbuf_printf(out, "{\"key\":\"%s\",\"error\":\"<<b>\"%s}", key,
                  detail == STORE_BRIEF ? ",\"brief\":1" : "");
    return true;
}

/* No run has statistics. */
double store_stat(struct store *s, const char *key, const char *name) { return 0.0 / 0.0; }

const char *store_error(const struct store *s) { return store_is_broken ? "the disk is on fire" : NULL; }

/* ---- a folder with a page, and two plans that share a run ---- */

struct fixture {
    char dir[64];
    struct lab_job first[2], second[3];
    struct plan plans[2];
    struct figure_set figures[2];
    struct report report;
    /* What the last writer said, or NULL. */
    char *error;
    /* PATH as the test found it. */
    char *path;
};

static void put(const struct fixture *f, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

/* "" where there is none. */
static const char *get(const struct fixture *f, const char *name)
{
    static char text[4096];
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    FILE *in = fopen(path, "r");
    size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in) fclose(in);
    text[n] = 0;
    return text;
}

static uint32_t file_count(const struct fixture *f)
{
    uint32_t n = 0;
    DIR *d = opendir(f->dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof *f);
    strcpy(f->dir, "/tmp/heddle-report-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    strcpy(f->first[0].key, "b");
    strcpy(f->first[1].key, "a");
    strcpy(f->second[0].key, "a");
    strcpy(f->second[1].key, "absent");
    strcpy(f->second[2].key, "c");
    static const struct experiment nothing;
    f->plans[0] = (struct plan){.experiment = &nothing, .jobs = f->first, .job_count = 2};
    f->plans[1] = (struct plan){.experiment = &nothing, .jobs = f->second, .job_count = 3};
    for (int i = 0; i < 2; i++) f->figures[i] = (struct figure_set){.plan = &f->plans[i]};
    f->path = mem_strdup(getenv("PATH"));
    f->report = (struct report){.experiments = f->figures,
                                .experiment_count = 2,
                                .page_dir = f->dir,
                                .version = "1.2\"3",
                                .simulator = "1.2 ab<"};
    put(f, "report.html", "<html>@HEDDLE-DATA@</html>\n");
    store_is_broken = false;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    DIR *d = opendir(f->dir);
    for (struct dirent *e; (e = readdir(d));) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", f->dir, e->d_name);
        unlink(path);
    }
    closedir(d);
    char drawn[128];
    snprintf(drawn, sizeof drawn, "%s/drawn/svg", f->dir);
    rmdir(drawn);
    *strrchr(drawn, '/') = 0;
    rmdir(drawn);
    assert_int_equal(rmdir(f->dir), 0);
    setenv("PATH", f->path, 1);
    free(f->path);
    free(f->error);
    free(f);
    return 0;
}

/* Both fill f->error, which the teardown frees: a test that fails half-way leaves nothing behind. */
static bool write_page(struct fixture *f, const char *name)
{
    char path[128];
    free(f->error);
    f->error = NULL;
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    return report_write(&f->report, path, &f->error);
}

static bool write_svg(struct fixture *f)
{
    char folder[128];
    free(f->error);
    f->error = NULL;
    snprintf(folder, sizeof folder, "%s/drawn/svg", f->dir);
    return report_svg(&f->report, folder, &f->error);
}

/* ---- the tests ---- */

static void each_run_once_and_no_less_than_sign(void **state)
{
    struct fixture *f = *state;
    assert_true(write_page(f, "out.html"));
    assert_null(f->error);
    assert_string_equal(
        get(f, "out.html"),
        "<html>{\"schema\":1,\"heddle\":\"1.2\\\"3\",\"simulator\":\"1.2 ab\\u003c\",\"experiments\":[\n"
        "{\"name\":\"e2\",\"note\":\"\\u003c/script>\\u003c!--\"}\n,\n"
        "{\"name\":\"e3\",\"note\":\"\\u003c/script>\\u003c!--\"}\n"
        "],\"runs\":[\n"
        "{\"key\":\"a\",\"error\":\"\\u003c\\u003cb>\"},\n{\"key\":\"b\",\"error\":\"\\u003c\\u003cb>\"},\n"
        "{\"key\":\"c\",\"error\":\"\\u003c\\u003cb>\"}]}\n</html>\n");
    assert_int_equal(file_count(f), 2);
}

static void a_brief_page_says_so_and_asks_for_brief_runs(void **state)
{
    struct fixture *f = *state;
    f->report.is_brief = true;
    assert_true(write_page(f, "out.html"));
    assert_non_null(strstr(get(f, "out.html"), "\"1.2 ab\\u003c\",\"brief\":true,\"experiments\""));
    assert_non_null(
        strstr(get(f, "out.html"), "{\"key\":\"c\",\"error\":\"\\u003c\\u003cb>\",\"brief\":1}]}"));
}

static void the_old_page_stays_when_something_is_wrong(void **state)
{
    struct fixture *f = *state;
    put(f, "out.html", "old");
    store_is_broken = true;
    assert_false(write_page(f, "out.html"));
    assert_string_equal(f->error, "run a: the disk is on fire");
    assert_string_equal(get(f, "out.html"), "old");
    assert_int_equal(file_count(f), 2);
}

static void an_unbuilt_page_is_told_with_the_way_to_get_it(void **state)
{
    struct fixture *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/report.html", f->dir);
    unlink(path);
    assert_false(write_page(f, "out.html"));
    assert_non_null(strstr(f->error, "report.html: No such file"));
    assert_non_null(strstr(f->error, "--target report_page"));
    put(f, "report.html", "<html>no place</html>");
    assert_false(write_page(f, "out.html"));
    assert_non_null(strstr(f->error, "@HEDDLE-DATA@"));
    assert_int_equal(file_count(f), 1);
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    struct fixture *f = *state;
    assert_false(write_page(f, "nowhere/out.html"));
    assert_non_null(strstr(f->error, "cannot write"));
}

static void pictures_need_their_script_and_node(void **state)
{
    struct fixture *f = *state;
    assert_false(write_svg(f));
    assert_non_null(strstr(f->error, "figures.cjs"));
    assert_non_null(strstr(f->error, "--target report_page"));
    put(f, "figures.cjs", "process.exit(3)");
    setenv("PATH", f->dir, 1);
    assert_false(write_svg(f));
    assert_non_null(strstr(f->error, "cannot start node"));
    setenv("PATH", f->path, 1);
    assert_string_equal(get(f, "drawn/svg/report.json"), ""); /* does not stay behind */
}

/* A program that stands in for node: what it is called with, and that the data is there. */
static void node_gets_script_data_and_folder(void **state)
{
    struct fixture *f = *state;
    char node[128], wanted[300];
    put(f, "figures.cjs", "");
    put(f, "node",
        "#!/bin/sh\nd=${0%/*}\necho \"$1 $3\" >\"$d/called\"\nexec 3<\"$2\"\nread -r line <&3\necho "
        "\"$line\" >>\"$d/called\"\n");
    snprintf(node, sizeof node, "%s/node", f->dir);
    chmod(node, 0755);
    setenv("PATH", f->dir, 1);
    bool ok = write_svg(f);
    setenv("PATH", f->path, 1);
    assert_true(ok);
    snprintf(wanted, sizeof wanted,
             "%s/figures.cjs %s/drawn/svg\n{\"schema\":1,\"heddle\":\"1.2\\\"3\",\"simulator\":\"1.2 "
             "ab\\u003c\",\"experiments\":[\n",
             f->dir, f->dir);
    assert_string_equal(get(f, "called"), wanted);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_run_once_and_no_less_than_sign),
        TEST(a_brief_page_says_so_and_asks_for_brief_runs),
        TEST(the_old_page_stays_when_something_is_wrong),
        TEST(an_unbuilt_page_is_told_with_the_way_to_get_it),
        TEST(a_folder_that_is_not_there_is_an_error),
        TEST(pictures_need_their_script_and_node),
        TEST(node_gets_script_data_and_folder),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
