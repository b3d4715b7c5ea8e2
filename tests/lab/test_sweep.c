/* test_sweep.c: the parts of a sweep that need no run: the bar, the folder's files, Slurm's words and notes,
 * children, time left. */
#include "lab/slurm.h"
#include "lab/slurm_files.h"
#include "lab/sweep_impl.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/heddle-test-sweep-XXXXXX";
static const char key[] = "0123456789abcdef0123456789abcdef";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    const char *const argv[] = {"rm", "-rf", folder, NULL};
    char *text;
    int status = child_output(argv, &text);
    free(text);
    return status;
}

/* ---- the bar ---- */

static void time_texts(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {{0, "0:00"}, {59.6, "1:00"}, {61, "1:01"}, {3600, "1:00:00"}, {-1, "?"}};
    char out[24];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bar_time(rows[i].seconds, out);
        assert_string_equal(out, rows[i].text);
    }
}

static void frame_fits(void **state)
{
    (void)state;
    struct bar_view v = {.all = 1234,
                         .done = 56,
                         .failed = 7,
                         .elsewhere = 8,
                         .share = 0.5,
                         .left = 4000,
                         .where = "100 in the queue"};
    struct bar_worker w[40];
    for (size_t i = 0; i < ARRAY_LEN(w); i++)
        w[i] =
            (struct bar_worker){"a-long-name-of-a-workload", "small", "a column with a long name", 100, 300};
    for (uint32_t columns = 2; columns < 200; columns += 7)
        for (uint32_t rows = 1; rows < 60; rows += 5) {
            struct strbuf out = {0};
            uint32_t lines, counted = 0;
            bar_frame(&v, w, ARRAY_LEN(w), columns, rows, &out, &lines);
            for (const char *at = strbuf_text(&out); *at; counted++) {
                size_t n = strcspn(at, "\n");
                assert_true(n < columns);
                assert_int_equal(at[n], '\n');
                at += n + 1;
            }
            assert_int_equal(lines, counted);
            assert_true(lines <= MAX(rows, 1u));
            strbuf_free(&out);
        }
}

static void frame_words(void **state)
{
    (void)state;
    struct bar_view v = {.all = 4, .done = 1, .failed = 1, .share = 0.5, .left = 90, .where = ""};
    struct bar_worker w = {"bfs", "tiny", "base", 5, 10};
    struct strbuf out = {0};
    uint32_t lines;
    bar_frame(&v, &w, 1, 50, 24, &out, &lines);
    assert_string_equal(strbuf_text(&out), "[###########...........] 1/4, 1 failed, left 1:30\n"
                                           "     0:05 of 0:10     bfs             tiny   base\n");
    strbuf_free(&out);
}

static void told_by_tenths(void **state)
{
    (void)state;
    struct bar b = {.began = true, .told = 3, .drawn_at = 100};
    struct bar_view v = {.share = 0.39};
    assert_false(bar_due(&b, &v, 110));
    assert_true(bar_due(&b, &v, 161)); /* a minute */
    v.share = 0.41;
    assert_true(bar_due(&b, &v, 110));
}

/* ---- time left ---- */

static void seconds_left(void **state)
{
    (void)state;
    struct sweep_run r = {.rate = 1000, .workers = 2};
    vec_push(&r.tasks, (struct sweep_task){.known = 10});
    vec_push(&r.tasks, (struct sweep_task){.work = 20000});
    vec_push(&r.tasks, (struct sweep_task){.known = 100, .state = TASK_DONE});
    assert_true(sweep_seconds_left(&r, 0) == 20); /* the longest, not half of the sum */
    r.tasks.data[1].state = TASK_RUNNING;
    r.tasks.data[1].start = 50;
    assert_true(sweep_seconds_left(&r, 65) == 10); /* 10 and 5 on two workers */
    r.workers = 1;
    assert_true(sweep_seconds_left(&r, 65) == 15);
    assert_true(sweep_seconds_left(&r, 500) == 11); /* late: a twentieth is left */
    vec_free(&r.tasks);
}

/* ---- the folder ---- */

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void read_text(const char *name, char *out, size_t size)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", folder, name);
    FILE *f = fopen(strbuf_text(&path), "r");
    assert_non_null(f);
    out[fread(out, 1, size - 1, f)] = 0;
    fclose(f);
    strbuf_free(&path);
}

static void ends(void **state)
{
    (void)state;
    struct strbuf part = {0}, path = {0}, name = {0};
    char text[256];
    sweep_path(&part, folder, key, ".part.json");
    sweep_path(&path, folder, key, ".json");
    strbuf_printf(&name, "%s.end", key);
    write_text(strbuf_text(&part), "{}");
    struct lab_child_end end = {.status = 0, .seconds = 1.5, .peak_bytes = 4096};
    assert_false(sweep_has_end(folder, key));
    assert_true(sweep_write_end(folder, key, strbuf_text(&part), &end));
    assert_true(sweep_has_end(folder, key));
    assert_int_equal(access(strbuf_text(&path), F_OK), 0);
    assert_int_not_equal(access(strbuf_text(&part), F_OK), 0);
    read_text(strbuf_text(&name), text, sizeof text);
    assert_memory_equal(text, "0 1.500 4096 ", 13);
    struct map keys = {0};
    sweep_find_ends(folder, &keys);
    assert_int_equal(keys.entries.len, 1);
    assert_string_equal(keys.entries.data[0].key, key);
    map_free(&keys);
    sweep_clear(folder, key);
    assert_false(sweep_has_end(folder, key));
    assert_int_not_equal(access(strbuf_text(&path), F_OK), 0);

    /* no statistics: a failure, with words */
    assert_true(sweep_write_end(folder, key, strbuf_text(&part), &end));
    read_text(strbuf_text(&name), text, sizeof text);
    assert_memory_equal(text, "1 ", 2);
    /* a signal: the partial file goes */
    write_text(strbuf_text(&part), "{");
    end.status = 137;
    assert_true(sweep_write_end(folder, key, strbuf_text(&part), &end));
    assert_int_not_equal(access(strbuf_text(&part), F_OK), 0);
    name.len = 0;
    strbuf_printf(&name, "%s.log", key);
    read_text(strbuf_text(&name), text, sizeof text);
    assert_non_null(strstr(text, "left no statistics"));
    assert_non_null(strstr(text, "signal 9"));
    sweep_clear(folder, key);
    strbuf_free(&part);
    strbuf_free(&path);
    strbuf_free(&name);
}

/* ---- Slurm ---- */

static void slurm_words(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum slurm_state state;
    } rows[] = {{"PENDING", SLURM_QUEUED},     {"RUNNING", SLURM_RUNNING},  {"COMPLETING", SLURM_RUNNING},
                {"COMPLETED", SLURM_ENDED},    {"CANCELLED", SLURM_LOST},   {"CANCELLED by 1000", SLURM_LOST},
                {"CANCELLED+", SLURM_LOST},    {"TIMEOUT", SLURM_LOST},     {"NODE_FAIL", SLURM_LOST},
                {"PREEMPTED", SLURM_LOST},     {"REQUEUED", SLURM_QUEUED},  {"FAILED", SLURM_LOST},
                {"OUT_OF_MEMORY", SLURM_LOST}, {"SUSPENDED", SLURM_RUNNING}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(slurm_state_of(rows[i].text), rows[i].state);
}

static void slurm_notes(void **state)
{
    (void)state;
    struct slurm_arrays a = {0}, b = {0};
    struct strbuf path = {0};
    slurm_path(&path, folder, "one", ".list");
    write_text(strbuf_text(&path), "aaaa\tp\theddle\nbbbb\tp\theddle\n");
    assert_true(slurm_arrays_note(folder, "one", ""));
    slurm_arrays_read(&a, folder);
    assert_int_equal(a.items.len, 1);
    assert_string_equal(a.items.data[0].job, "");
    assert_true(slurm_arrays_note(folder, "one", "17"));
    assert_true(slurm_arrays_note(folder, "two", "18"));
    slurm_arrays_read(&a, folder); /* adds what is new, fills in what is known */
    assert_int_equal(a.items.len, 2);
    assert_string_equal(a.items.data[0].job, "17");
    assert_int_equal(a.items.data[0].keys.len, 2);
    assert_string_equal(a.items.data[0].keys.data[1], "bbbb");
    slurm_arrays_drop(&a.items.data[0], folder);
    assert_int_not_equal(access(strbuf_text(&path), F_OK), 0);
    slurm_arrays_read(&b, folder);
    assert_int_equal(b.items.len, 1);
    assert_string_equal(b.items.data[0].token, "two");
    slurm_arrays_drop(&b.items.data[0], folder);
    path.len = 0;
    strbuf_printf(&path, "%s/slurm.jobs", folder);
    assert_int_not_equal(access(strbuf_text(&path), F_OK), 0);
    slurm_arrays_free(&a);
    slurm_arrays_free(&b);
    strbuf_free(&path);
}

static void bad_task(void **state)
{
    (void)state;
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/bad.list", folder);
    write_text(strbuf_text(&path), "nonsense\n");
    unsetenv("SLURM_ARRAY_TASK_ID");
    assert_int_equal(slurm_task(strbuf_text(&path)), 2);
    setenv("SLURM_ARRAY_TASK_ID", "1", 1);
    assert_int_equal(slurm_task(strbuf_text(&path)), 2);
    setenv("SLURM_ARRAY_TASK_ID", "2", 1);
    assert_int_equal(slurm_task(strbuf_text(&path)), 2);
    strbuf_free(&path);
}

/* ---- children ---- */

static struct lab_child_end run_shell(const char *command)
{
    struct lab_child c;
    struct lab_child_end end;
    struct strbuf log = {0};
    const char *const argv[] = {"sh", "-c", command, NULL};
    strbuf_printf(&log, "%s/child.log", folder);
    assert_true(child_start(&c, argv, strbuf_text(&log)));
    while (!child_poll(&c, &end)) child_pause(5);
    strbuf_free(&log);
    return end;
}

static void children(void **state)
{
    (void)state;
    char text[256];
    struct lab_child_end end = run_shell("echo to the log; exit 3");
    assert_int_equal(end.status, 3);
    assert_true(end.peak_bytes > 0);
    read_text("child.log", text, sizeof text);
    assert_string_equal(text, "to the log\n");
    assert_int_equal(run_shell("kill -9 $$").status, 137);
    setenv("HEDDLE_SET", "sm.count=1", 1);
    setenv("HEDDLE_WORKLOADS", "here", 1);
    run_shell("echo $HEDDLE_SET:$HEDDLE_WORKLOADS");
    read_text("child.log", text, sizeof text);
    assert_string_equal(text, ":here\n"); /* the command line alone says what a run does */
    char *out;
    const char *const missing[] = {"/nowhere/at/all", NULL};
    assert_int_equal(child_output(missing, &out), 127);
    assert_non_null(strstr(out, "cannot run /nowhere/at/all"));
    free(out);
}

static void child_and_its_own(void **state)
{
    (void)state;
    struct lab_child c;
    char text[256];
    struct strbuf log = {0};
    const char *const argv[] = {"sh", "-c", "sleep 100 & echo $!; wait", NULL};
    strbuf_printf(&log, "%s/child.log", folder);
    assert_true(child_start(&c, argv, strbuf_text(&log)));
    do {
        child_pause(0.05);
        read_text("child.log", text, sizeof text);
    } while (!strchr(text, '\n'));
    child_kill(&c);
    struct strbuf path = {0};
    strbuf_printf(&path, "/proc/%ld/cmdline", strtol(text, NULL, 10));
    for (int i = 0; i < 200; i++) { /* a zombie has no command line, whichever process adopts it */
        FILE *f = fopen(strbuf_text(&path), "r");
        int c0 = f ? fgetc(f) : EOF;
        if (f) fclose(f);
        if (c0 == EOF) break;
        assert_int_not_equal(i, 199);
        child_pause(0.05);
    }
    strbuf_free(&path);
    strbuf_free(&log);
}

/* Runs at a time by memory, with numbers of no real machine. */
static void memory_limits_runs(void **state)
{
    (void)state;
    const uint64_t gib = 1ull << 30;
    struct sweep_memory m = {.budget = sweep_budget(10 * gib)};
    assert_true(m.budget == 9 * gib);
    assert_true(sweep_fits(&m, 0, 100 * gib, 0)); /* one always runs */
    uint32_t runs = 0;
    for (; runs < 100 && sweep_fits(&m, runs, 2 * gib, 10 * gib - m.used); runs++) m.used += 2 * gib;
    assert_int_equal(runs, 4);                       /* a fifth would pass nine tenths */
    assert_true(sweep_fits(&m, runs, gib, 2 * gib)); /* a smaller one has room: up to the budget itself */
    assert_false(sweep_fits(&m, runs, gib + 1, 2 * gib));
    assert_false(sweep_fits(&m, runs, gib, gib - 1)); /* others took what was free */
    m.used = 12 * gib;                                /* the first alone was above it */
    assert_false(sweep_fits(&m, 1, 1, 10 * gib));
    assert_false(sweep_fits(&(struct sweep_memory){gib, gib}, 1, UINT64_MAX, UINT64_MAX));
}

static void host(void **state)
{
    (void)state;
    assert_true(host_cores() >= 1);
    assert_true(host_cores() <= (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(host_free_bytes() > 0);
    assert_true(host_free_bytes() <= (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(time_texts),        cmocka_unit_test(frame_fits),
                                       cmocka_unit_test(frame_words),       cmocka_unit_test(told_by_tenths),
                                       cmocka_unit_test(seconds_left),      cmocka_unit_test(ends),
                                       cmocka_unit_test(slurm_words),       cmocka_unit_test(slurm_notes),
                                       cmocka_unit_test(bad_task),          cmocka_unit_test(children),
                                       cmocka_unit_test(child_and_its_own), cmocka_unit_test(host),
                                       cmocka_unit_test(memory_limits_runs)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
