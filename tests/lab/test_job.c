/* A run's key: what changes it, and what does not. */
#include "lab_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static char program[] = "/tmp/heddle-job-XXXXXX";

static void write_program(const char *bytes)
{
    FILE *f = fopen(program, "w");
    assert_non_null(f);
    fputs(bytes, f);
    fclose(f);
}

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(program);
    if (fd < 0) return -1;
    close(fd);
    write_program("one");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(program);
}

static struct lab_job sealed(struct lab_job job)
{
    assert_true(kit_seal(&job));
    assert_int_equal(strlen(job.key), JOB_KEY_CHARS);
    return job;
}

#define LIST(...)                                                                                            \
    (const char *const[]) { __VA_ARGS__, NULL }

static void everything_that_matters_changes_the_key(void **state)
{
    (void)state;
    struct workload w = kit_workload("bfs", program), other = kit_workload("cfd", program);
    struct lab_job jobs[12];
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) jobs[i] = kit_job(&w, 0);
    jobs[1].workload = &other;
    jobs[2].size = "small";
    jobs[3].run.machine = "kepler";
    jobs[4].run.sets = LIST("l1.mshrs=128");
    jobs[5].run.sets = LIST("l1.mshrs=129");
    jobs[6].run.mechs = LIST("lrr");
    jobs[7].run.mechs = LIST("swl");
    jobs[8].run.mechs = LIST("swl");
    jobs[8].run.mech_sets = LIST("swl.warps=3");
    jobs[9].seed = 2;
    jobs[10].run.timed.sample_cycles = 1000;
    jobs[11].run.sets =
        LIST("sm.scheduler=lrr"); /* lrr as --mech is another machine: same policy, another sm.scheduler */
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
        jobs[i] = sealed(jobs[i]);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(jobs[i].key, jobs[k].key);
    }
    write_program("two");
    assert_string_not_equal(sealed(jobs[0]).key, jobs[0].key);
    write_program("one");
    assert_string_equal(sealed(jobs[0]).key, jobs[0].key);
}

static void spelling_does_not_change_the_key(void **state)
{
    (void)state;
    struct workload w = kit_workload("bfs", program);
    struct lab_job a = kit_job(&w, 0), b = kit_job(&w, 0), plain = sealed(kit_job(&w, 0));
    a.run.sets = LIST("l1.size=32K", "l1.mshrs=128");
    b.run.sets = LIST("l1.mshrs=128", "l1.size=16K", "l1.size=32768");
    assert_string_equal(sealed(a).key, sealed(b).key);
    a.run.sets = LIST("l1.size=16K"); /* what the machine has anyway */
    assert_string_equal(sealed(a).key, plain.key);
    a = kit_job(&w, 0);
    a.run.machine = HEDDLE_SOURCE_DIR "/machines/fermi.yaml";
    assert_string_equal(sealed(a).key, plain.key);
    a = kit_job(&w, 0);
    a.run.mechs =
        LIST("gto"); /* fermi's own scheduler may be another: only the same policy has the same key */
    struct strbuf text = {0};
    struct diag_list diags = {0};
    assert_true(job_identity(&plain, &text, &diags));
    bool own_is_gto = strstr(strbuf_text(&text), "mechanism: gto\n") != NULL;
    assert_int_equal(!strcmp(sealed(a).key, plain.key), own_is_gto);
    strbuf_free(&text);
}

static void the_identity_names_every_parameter_once(void **state)
{
    (void)state;
    struct workload w = kit_workload("bfs", program);
    struct lab_job job = kit_job(&w, 7);
    job.run.sets = LIST("l1.mshrs=77");
    struct strbuf text = {0};
    struct diag_list diags = {0};
    assert_true(job_identity(&job, &text, &diags));
    static const char *const lines[] = {
        "\nworkload: bfs\n",        "\nsize: tiny\n",     "\nargument: tiny\n", "\nseed: 7\n",
        "\nmachine l1.mshrs: 77\n", "\nmachine: fermi\n", "\nmachine dram.",    "\nprogram: "};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        const char *found = strstr(strbuf_text(&text), lines[i]);
        assert_non_null(found);
        if (strchr(lines[i] + 1, '\n')) assert_null(strstr(found + 1, lines[i]));
    }
    assert_null(strstr(strbuf_text(&text), program)); /* bytes count, not paths */
    strbuf_free(&text);
}

static void wrong_jobs_are_told(void **state)
{
    (void)state;
    struct workload w = kit_workload("bfs", program), gone = kit_workload("bfs", "/nonexistent/bfs");
    struct lab_job jobs[6];
    static const char *const said[] = {"unknown parameter 'l1.msrs'",
                                       "no machine 'fermy'",
                                       "has no size 'huge'",
                                       "cannot read /nonexistent/bfs",
                                       "'gtoo'",
                                       "swl.wraps"};
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) jobs[i] = kit_job(&w, 0);
    jobs[0].run.sets = LIST("l1.msrs=3");
    jobs[1].run.machine = "fermy";
    jobs[2].size = "huge";
    jobs[3].workload = &gone;
    jobs[4].run.mechs = LIST("gtoo");
    jobs[5].run.mechs = LIST("swl");
    jobs[5].run.mech_sets = LIST("swl.wraps=3");
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
        struct diag_list diags = {0};
        struct strbuf text = {0};
        assert_false(job_seal(&jobs[i], &diags));
        diag_render(&diags, &text);
        if (!strstr(strbuf_text(&text), said[i])) fail_msg("no \"%s\" in: %s", said[i], strbuf_text(&text));
        strbuf_free(&text);
        diag_free(&diags);
    }
}

static void commands_can_be_typed(void **state)
{
    (void)state;
    struct workload w = kit_workload("bfs", program);
    struct lab_job job = kit_job(&w, 9);
    job.run.sets = LIST("a=it's", "b=2");
    job.run.mechs = LIST("gto");
    job.run.mech_sets = LIST("gto.x=1");
    job.run.timed.sample_cycles = 100;
    struct strbuf text = {0};
    job_command(&job, &text);
    assert_string_equal(
        strbuf_text(&text),
        "heddle run bfs --size tiny -m fermi --set 'a=it'\\''s' --set b=2 --mech gto --mech-set gto.x=1"
        " --sample 100 -- --seed 9");
    strbuf_free(&text);
    struct arena arena = {0};
    const char **argv = job_argv(&job, "/bin/heddle", "s.json", &arena);
    static const char *const want[] = {"/bin/heddle", "run",        "bfs",     "--size",   "tiny", "-m",
                                       "fermi",       "--set",      "a=it's",  "--set",    "b=2",  "--mech",
                                       "gto",         "--mech-set", "gto.x=1", "--sample", "100",  "--stats",
                                       "s.json",      "--",         "--seed",  "9"};
    for (size_t i = 0; i < ARRAY_LEN(want); i++) assert_string_equal(argv[i], want[i]);
    assert_null(argv[ARRAY_LEN(want)]);
    arena_free(&arena);
}

static void larger_machines_and_sizes_need_more_memory(void **state)
{
    (void)state;
    struct workload w = kit_workload("bfs", program);
    struct lab_job tiny = kit_job(&w, 0), small = kit_job(&w, 0), big = kit_job(&w, 0);
    small.size = "small";
    big.run.machine = "rtx3080";
    assert_true(job_memory(&tiny) < job_memory(&small));
    assert_true(job_memory(&tiny) < job_memory(&big));
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void the_content_of_a_file_parameter_changes_the_key(void **state)
{
    (void)state;
    struct workload w = kit_workload("bfs", program);
    struct lab_job job = kit_job(&w, 0);
    char one[] = "/tmp/heddle-job-1-XXXXXX", two[] = "/tmp/heddle-job-2-XXXXXX", sets[2][64];
    close(mkstemp(one));
    close(mkstemp(two));
    snprintf(sets[0], sizeof sets[0], "every_hook.table=%s", one);
    snprintf(sets[1], sizeof sets[1], "every_hook.table=%s", two);
    job.run.mechs = LIST(HEDDLE_EVERY_HOOK);
    write_text(one, "kernel 3 1\n");
    write_text(two, "kernel 3 1\n");
    const struct lab_job none = sealed(job);
    job.run.mech_sets = LIST(sets[0]);
    const struct lab_job first = sealed(job);
    job.run.mech_sets = LIST(sets[1]);
    assert_string_equal(first.key, sealed(job).key); /* another name, the same content */
    assert_string_not_equal(first.key, none.key);
    write_text(two, "kernel 4 1\n");
    assert_string_not_equal(first.key, sealed(job).key);
    unlink(one);
    unlink(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_that_matters_changes_the_key),
        cmocka_unit_test(spelling_does_not_change_the_key),
        cmocka_unit_test(the_identity_names_every_parameter_once),
        cmocka_unit_test(wrong_jobs_are_told),
        cmocka_unit_test(commands_can_be_typed),
        cmocka_unit_test(the_content_of_a_file_parameter_changes_the_key),
        cmocka_unit_test(larger_machines_and_sizes_need_more_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
