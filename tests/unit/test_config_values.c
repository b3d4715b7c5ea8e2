/* test_config_values.c: parameters of each kind from text and back, and what is said of a value that is
 * wrong. */
#include "config/param.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <unistd.h>

struct values {
    bool flag;
    uint32_t number, choice, fraction;
    uint64_t big, size;
    char text[PARAM_STRING_BYTES], file[PARAM_PATH_BYTES];
};

static const char *const names[] = {"first", "second", NULL};
static const struct param_row rows[] = {
    PARAM_FLAG(values, flag, "v.flag", "true", "a flag"),
    PARAM_NUMBER(values, number, "v.number", "", "7", 2, 9, "a number"),
    PARAM_NUMBER64(values, big, "v.big", "", "10000000000", 0, UINT64_MAX, "a big number"),
    PARAM_SIZE(values, size, "v.size", "16K", 1, 1 << 20, "a size"),
    PARAM_CHOICE(values, choice, "v.choice", "second", names, "a choice"),
    PARAM_STRING(values, text, "v.text", "", "words", "a text"),
    PARAM_PATH(values, file, "v.file", "a file"),
    PARAM_FRACTION(values, fraction, "v.fraction", "", "0.05", 5, 1500, "a fraction"),
    {0},
};

static bool set(struct values *v, const char *name, const char *text, struct strbuf *errors)
{
    struct strbuf line = {0};
    strbuf_printf(&line, "%s: %s", name, text);
    const struct diag_source src = {"test.yaml", strbuf_text(&line), line.len};
    struct diag_list d = {0};
    bool ok = param_set(rows, v, name, text, &src, 1, 1, (int)strlen(name) + 3, &d);
    diag_render(&d, errors);
    diag_free(&d);
    strbuf_free(&line);
    return ok;
}

static void expect(const char *name, const char *text, const char *printed)
{
    struct values v = {0};
    struct strbuf out = {0};
    param_set_defaults(rows, &v);
    if (!set(&v, name, text, &out)) fail_msg("%s", strbuf_text(&out));
    param_format(param_find(rows, name), &v, &out);
    assert_string_equal(strbuf_text(&out), printed);
    strbuf_free(&out);
}

/* The value stays as it was, and the error points at it. */
static void expect_error(const char *name, const char *text, const char *message)
{
    struct values v, before;
    struct strbuf out = {0}, place = {0};
    memset(&v, 0, sizeof v);
    param_set_defaults(rows, &v);
    memcpy(&before, &v, sizeof v);
    assert_false(set(&v, name, text, &out));
    assert_memory_equal(&v, &before, sizeof v);
    strbuf_printf(&place, "test.yaml:1:%zu: error: %s must be ", strlen(name) + 3, name);
    if (!strstr(strbuf_text(&out), message) || !strstr(strbuf_text(&out), strbuf_text(&place)))
        fail_msg("'%s' and '%s' are not both in:\n%s", strbuf_text(&place), message, strbuf_text(&out));
    assert_non_null(strchr(strbuf_text(&out), '^'));
    strbuf_free(&out);
    strbuf_free(&place);
}

static void values_print_as_they_are_read(void **state)
{
    expect("v.flag", "false", "false");
    expect("v.number", "0x9", "9");
    expect("v.big", "18446744073709551615", "18446744073709551615");
    expect("v.size", "1024", "1K");
    expect("v.choice", "first", "first");
    expect("v.text", "", "");
    expect("v.fraction", "0.05", "0.05");
    expect("v.fraction", "1.5", "1.5");
    expect("v.fraction", "1", "1");
    expect("v.fraction", "1.000", "1");
    expect("v.fraction", "0.005", "0.005");
    expect("v.fraction", "00.120", "0.12");
}

static void a_fraction_is_kept_in_thousandths(void **state)
{
    struct values v = {0};
    struct strbuf out = {0};
    param_set_defaults(rows, &v);
    assert_int_equal(v.fraction, 50);
    assert_true(set(&v, "v.fraction", "1.234", &out));
    assert_int_equal(v.fraction, 1234);
    strbuf_free(&out);
}

static void wrong_values_are_refused(void **state)
{
    expect_error("v.flag", "yes", "true or false, got 'yes'");
    expect_error("v.number", "1", "a whole number from 2 to 9, got '1'");
    expect_error("v.number", "5K", "a whole number from 2 to 9, got '5K'");
    expect_error("v.size", "2M", "(K, M and G may follow), got '2M'");
    expect_error("v.choice", "third", "one of first, second, got 'third'");
    static const char *const bad[] = {
        "0.004", "1.501", "0.0500", "1.",  ".5",  "",    "-1",
        "1e-1",  "0,5",   "1.5x",   "1.x", "x.1", "0x1", "100000000000000000000"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        expect_error("v.fraction", bad[i], "a number from 0.005 to 1.5 with at most three decimals, got");
    char text[PARAM_PATH_BYTES + 1];
    memset(text, 'a', sizeof text);
    text[PARAM_STRING_BYTES] = 0;
    expect_error("v.text", text, "at most 63 characters");
}

static void a_file_must_be_readable(void **state)
{
    char path[] = "/tmp/heddle-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    expect("v.file", path, path);
    expect("v.file", "", "");
    unlink(path);
    expect_error("v.file", path,
                 "a file that can be read (No such file or directory), got '/tmp/heddle-test-");
    expect_error("v.file", "/tmp", "a file that can be read (Is a directory), got '/tmp'");
    char deep[PARAM_PATH_BYTES + 16] = "/"; /* a path that opens, but is too long */
    while (strlen(deep) < PARAM_PATH_BYTES) strcat(deep, "./");
    strcat(deep, "dev/null");
    expect_error("v.file", deep, "at most 255 characters");
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void the_hash_of_a_file_is_that_of_its_content(void **state)
{
    char path[] = "/tmp/heddle-test-XXXXXX", hex[3][HASH128_CHARS + 1], wanted[HASH128_CHARS + 1];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    const struct param_row *row = param_find(rows, "v.file");
    struct values v = {0};
    struct strbuf out = {0};
    assert_true(param_file_hash(row, &v, hex[0]));
    assert_string_equal(hex[0], "");
    assert_true(set(&v, "v.file", path, &out));
    write_file(path, "one\n");
    assert_true(param_file_hash(row, &v, hex[0]));
    write_file(path, "two\n");
    assert_true(param_file_hash(row, &v, hex[1]));
    write_file(path, "one\n");
    assert_true(param_file_hash(row, &v, hex[2]));
    assert_string_not_equal(hex[0], hex[1]);
    assert_string_equal(hex[0], hex[2]);
    hash128_hex(hash128_bytes("one\n", 4), wanted);
    assert_string_equal(hex[0], wanted);
    unlink(path);
    assert_false(param_file_hash(row, &v, hex[0]));
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_print_as_they_are_read),
        cmocka_unit_test(a_fraction_is_kept_in_thousandths),
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(a_file_must_be_readable),
        cmocka_unit_test(the_hash_of_a_file_is_that_of_its_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
