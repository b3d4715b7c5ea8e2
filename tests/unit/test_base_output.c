/* test_base_output.c: files that are complete or not there, and journals that survive their writer. */
#include "base/journal.h"
#include "base/output.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- files ---- */

static char folder[] = "/tmp/heddle-output-XXXXXX";
static char path[64];

static int enter(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails where something was left */
}

static void write_text(const char *text)
{
    struct strbuf s = {0};
    strbuf_puts(&s, text);
    assert_true(output_text(path, &s));
    strbuf_free(&s);
}

static void expect_text(const char *text)
{
    char got[256] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(got, 1, sizeof got - 1, f) == strlen(text));
    fclose(f);
    assert_string_equal(got, text);
}

static void a_file_changes_when_it_is_complete(void **state)
{
    (void)state;
    struct output o;
    write_text("old");
    assert_int_equal(chmod(path, 0640), 0);
    assert_true(output_open(&o, path));
    fputs("new", o.file);
    fflush(o.file);
    expect_text("old");
    assert_true(output_close(&o));
    expect_text("new");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void what_is_given_up_was_never_there(void **state)
{
    (void)state;
    struct output o;
    write_text("old");
    assert_true(output_open(&o, path));
    fputs("new", o.file);
    output_drop(&o);
    expect_text("old");
}

/* Many buffers past the first failure, and the reason is still the first one's. */
static void a_full_device_is_an_error(void **state)
{
    (void)state;
    struct output o;
    struct stat st;
    if (stat("/dev/full", &st) || !S_ISCHR(st.st_mode)) skip();
    unlink(path);
    assert_int_equal(symlink("/dev/full", path), 0); /* a fault that replaces files replaces the link */
    assert_true(output_open(&o, path));
    for (int i = 0; i < 100000; i++) fputs("0123456789", o.file);
    errno = 0;
    assert_false(output_close(&o));
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    unlink(path);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

static void the_limit_of_the_process_is_an_error_without_a_signal(void **state)
{
    (void)state;
    struct rlimit before, small;
    struct output o;
    write_text("old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){.rlim_cur = 1000, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, count_signal);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_true(output_open(&o, path));
    for (int i = 0; i < 10000; i++) fputs("0123456789", o.file);
    bool ok = output_close(&o);
    int error = errno;
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_false(ok);
    assert_int_equal(error, EFBIG);
    assert_int_equal(signals, 0);
    expect_text("old");
}

/* ---- journals ---- */

enum { STATE_BYTES = 24 };

/* A record and a state for each number up to the last. */
static void commit_up_to(struct journal *j, uint64_t last)
{
    journal_begin(j, STATE_BYTES);
    for (uint64_t i = 1; i <= last; i++) {
        const uint64_t state[STATE_BYTES / 8] = {i, i * i, ~i};
        char text[32];
        journal_add(j, (uint32_t)i, text, (size_t)snprintf(text, sizeof text, "%*s", (int)(i % 13), "x"));
        assert_true(journal_commit(j, state));
    }
}

static void expect_up_to(const struct journal *j, uint64_t last)
{
    struct journal_view v;
    uint32_t kind;
    const void *data;
    size_t bytes;
    uint64_t state[STATE_BYTES / 8];
    assert_true(journal_view_open(&v, j));
    assert_int_equal(v.state_bytes, STATE_BYTES);
    memcpy(state, v.state, sizeof state);
    assert_true(state[0] == last && state[1] == last * last && state[2] == ~last);
    for (uint64_t i = 1; i <= last; i++) {
        assert_true(journal_view_next(&v, &kind, &data, &bytes));
        assert_int_equal(kind, i);
        assert_int_equal(bytes, MAX(i % 13, 1u));
        assert_int_equal(((const char *)data)[bytes - 1], 'x');
    }
    assert_false(journal_view_next(&v, &kind, &data, &bytes));
    journal_view_close(&v);
}

static void a_reader_sees_the_last_commit(void **state)
{
    (void)state;
    struct journal keeper, writer;
    struct strbuf where = {0};
    struct journal_view v;
    assert_true(journal_make(&keeper));
    journal_path(&keeper, &where);
    assert_false(journal_view_open(&v, &keeper)); /* nothing is there */
    pid_t pid = fork();
    if (pid == 0) {
        if (!journal_join(&writer, strbuf_text(&where))) _exit(1);
        commit_up_to(&writer, 50);
        journal_add(&writer, 99, "not committed", 13);
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(atomic_load(&keeper.head->writer), pid);
    expect_up_to(&keeper, 50);
    strbuf_free(&where);
    journal_close(&keeper);
}

/* The first commit of a program that ends early has a state alone. */
static void a_commit_may_have_no_record(void **state)
{
    (void)state;
    struct journal keeper, writer;
    struct strbuf where = {0};
    struct journal_view v;
    uint32_t kind;
    const void *data;
    size_t bytes;
    assert_true(journal_make(&keeper));
    journal_path(&keeper, &where);
    assert_true(journal_join(&writer, strbuf_text(&where)));
    journal_begin(&writer, STATE_BYTES);
    for (uint64_t i = 1; i <= 2; i++) {
        const uint64_t commit[STATE_BYTES / 8] = {i};
        assert_true(journal_commit(&writer, commit));
        assert_true(journal_view_open(&v, &keeper));
        assert_memory_equal(v.state, commit, sizeof commit);
        assert_false(journal_view_next(&v, &kind, &data, &bytes));
        journal_view_close(&v);
    }
    journal_close(&writer);
    strbuf_free(&where);
    journal_close(&keeper);
}

/* Killed at any moment of its commits: the state and the records are of the same one. */
static void a_torn_commit_is_never_seen(void **state)
{
    (void)state;
    struct journal keeper, writer;
    struct strbuf where = {0};
    assert_true(journal_make(&keeper));
    journal_path(&keeper, &where);
    for (int round = 0; round < 30; round++) {
        pid_t pid = fork();
        if (pid == 0) {
            if (journal_join(&writer, strbuf_text(&where))) commit_up_to(&writer, 10000000);
            _exit(1);
        }
        usleep(2000 + 311 * (useconds_t)round);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        struct journal_view v;
        if (!journal_view_open(&v, &keeper)) continue;
        uint64_t last;
        memcpy(&last, v.state, sizeof last);
        journal_view_close(&v);
        expect_up_to(&keeper, last);
    }
    strbuf_free(&where);
    journal_close(&keeper);
}

static void one_process_writes_at_a_time(void **state)
{
    (void)state;
    struct journal keeper, writer;
    struct strbuf where = {0};
    int ready[2];
    char byte;
    assert_true(journal_make(&keeper));
    journal_path(&keeper, &where);
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        bool ok = journal_join(&writer, strbuf_text(&where)) && write(ready[1], "", 1) == 1;
        if (ok) pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_false(journal_seize(&keeper));
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(journal_seize(&keeper));
    close(ready[0]);
    close(ready[1]);
    strbuf_free(&where);
    journal_close(&keeper);
}

static void another_file_is_not_a_journal(void **state)
{
    (void)state;
    struct journal j;
    write_text("somebody else's text, which must not change");
    assert_false(journal_join(&j, path));
    expect_text("somebody else's text, which must not change");
}

static void control_characters_become_visible(void **state)
{
    (void)state;
    static const char text[] = "a\033[31mb\tc\nd\x7f\a\xc2\x9b"
                               "e\xc3\xa4";
    struct strbuf s = {0};
    strbuf_visible(&s, text, sizeof text - 1);
    assert_string_equal(strbuf_text(&s), "a^[[31mb\tc\nd^?^G\\u009be\xc3\xa4");
    strbuf_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_changes_when_it_is_complete),
        cmocka_unit_test(what_is_given_up_was_never_there),
        cmocka_unit_test(a_full_device_is_an_error),
        cmocka_unit_test(the_limit_of_the_process_is_an_error_without_a_signal),
        cmocka_unit_test(a_reader_sees_the_last_commit),
        cmocka_unit_test(a_commit_may_have_no_record),
        cmocka_unit_test(a_torn_commit_is_never_seen),
        cmocka_unit_test(one_process_writes_at_a_time),
        cmocka_unit_test(another_file_is_not_a_journal),
        cmocka_unit_test(control_characters_become_visible),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
