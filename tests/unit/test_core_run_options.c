/* Run options: every row of the table, from text to field and back. */
#include "core/run_options.h"

#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A value that is not the default, as a user would write it. */
static const char *other_value(const struct run_option *row)
{
    switch (row->kind) {
    case RUN_FLAG: return "1";
    case RUN_NUMBER:
    case RUN_NUMBER64: return "20";
    case RUN_STRING: return "fermi";
    case RUN_CHOICE: return row->choices[1];
    case RUN_LIST: return "a=1\nb=2";
    }
    return NULL;
}

static const char *wrong_value(const struct run_option *row)
{
    static const char *const values[] = {[RUN_FLAG] = "maybe", [RUN_NUMBER] = "-1", [RUN_NUMBER64] = "12x",
                                         [RUN_STRING] = "",    [RUN_CHOICE] = "no", [RUN_LIST] = NULL};
    return values[row->kind];
}

static void set(const struct run_option *row, struct run_options *o, const char *text, struct arena *a)
{
    struct strbuf why = {0};
    if (!run_option_set(row, o, text, a, &why)) fail_msg("%s=%s: %s", row->name, text, strbuf_text(&why));
}

/* Both give the same text for every row. */
static void expect_same(const struct run_options *a, const struct run_options *b)
{
    for (const struct run_option *row = run_option_rows; row->name; row++) {
        struct strbuf x = {0}, y = {0};
        assert_int_equal(run_option_format(row, a, &x), run_option_format(row, b, &y));
        assert_string_equal(strbuf_text(&x), strbuf_text(&y));
        strbuf_free(&x);
        strbuf_free(&y);
    }
}

static void clear_environment(void)
{
    struct run_options plain;
    run_options_init(&plain);
    run_options_to_environment(&plain);
}

static void rows_have_names_of_their_own(void **state)
{
    (void)state;
    for (const struct run_option *row = run_option_rows; row->name; row++) {
        assert_true(row->flag && !strncmp(row->flag, "--", 2) && row->help);
        assert_true(!row->variable || !strncmp(row->variable, "HEDDLE_", 7));
        assert_true(row->kind == RUN_FLAG || row->means || row->value);
        for (const struct run_option *k = run_option_rows; k < row; k++) {
            assert_string_not_equal(k->name, row->name);
            assert_string_not_equal(k->flag, row->flag);
            if (k->variable && row->variable) assert_string_not_equal(k->variable, row->variable);
        }
    }
}

static void a_value_survives_the_environment(void **state)
{
    (void)state;
    for (const struct run_option *row = run_option_rows; row->name; row++) {
        struct arena a = {0};
        struct run_options said, read;
        struct strbuf error = {0};
        run_options_init(&said);
        run_options_init(&read);
        set(row, &said, other_value(row), &a);
        run_options_to_environment(&said);
        assert_true(run_options_from_environment(&read, &a, &error));
        expect_same(&said, &read);
        clear_environment();
        if (row->variable) assert_null(getenv(row->variable));
        arena_free(&a);
    }
}

static void a_value_survives_the_command_line(void **state)
{
    (void)state;
    for (const struct run_option *row = run_option_rows; row->name; row++) {
        struct arena a = {0};
        struct run_options said, read;
        const char **words;
        run_options_init(&said);
        run_options_init(&read);
        set(row, &said, other_value(row), &a);
        uint32_t count = run_options_to_words(&said, &a, &words);
        assert_true(count > 0);
        assert_null(words[count]);
        for (uint32_t i = 0; i < count;) {
            const struct run_option *r = run_option_rows;
            while (r->name && strcmp(words[i], r->flag) &&
                   (!r->short_flag || strcmp(words[i], r->short_flag)))
                r++;
            assert_non_null(r->name);
            set(r, &read, r->kind == RUN_FLAG ? "1" : words[i + 1], &a);
            i += r->kind == RUN_FLAG ? 1 : 2;
        }
        expect_same(&said, &read);
        arena_free(&a);
    }
}

static void wrong_values_are_refused_by_name(void **state)
{
    (void)state;
    for (const struct run_option *row = run_option_rows; row->name; row++) {
        struct arena a = {0};
        struct run_options o;
        struct strbuf why = {0}, error = {0};
        if (!wrong_value(row)) continue;
        run_options_init(&o);
        assert_false(run_option_set(row, &o, wrong_value(row), &a, &why));
        assert_non_null(strstr(strbuf_text(&why), "must"));
        if (row->variable && *wrong_value(row)) {
            setenv(row->variable, wrong_value(row), 1);
            assert_false(run_options_from_environment(&o, &a, &error));
            assert_non_null(strstr(strbuf_text(&error), row->variable));
            unsetenv(row->variable);
        }
        strbuf_free(&why);
        strbuf_free(&error);
        arena_free(&a);
    }
}

static void bounds_hold(void **state)
{
    (void)state;
    for (const struct run_option *row = run_option_rows; row->name; row++) {
        struct arena a = {0};
        struct run_options o;
        if (row->kind != RUN_NUMBER && row->kind != RUN_NUMBER64) continue;
        const uint64_t inside[] = {row->min, row->max}, outside[] = {row->min - 1, row->max + 1};
        run_options_init(&o);
        for (int i = 0; i < 2; i++) {
            struct strbuf why = {0};
            assert_true(
                run_option_set(row, &o, arena_printf(&a, "%llu", (unsigned long long)inside[i]), &a, &why));
            assert_false(
                run_option_set(row, &o, arena_printf(&a, "%llu", (unsigned long long)outside[i]), &a, &why));
            strbuf_free(&why);
        }
        arena_free(&a);
    }
}

static void the_timed_gpu_gets_what_was_said(void **state)
{
    (void)state;
    static const char *const said[][2] = {
        {"mech", "lrr,swl"}, {"mech_set", "swl.warps=4"}, {"no_skip", "1"},     {"threads", "3"},
        {"sample", "1K"},    {"timeline", "t.json"},      {"stats", "gpgpusim"}};
    struct arena a = {0};
    struct run_options o;
    run_options_init(&o);
    for (size_t i = 0; i < ARRAY_LEN(said); i++)
        for (const struct run_option *row = run_option_rows; row->name; row++)
            if (!strcmp(row->name, said[i][0])) set(row, &o, said[i][1], &a);
    run_options_complete(&o);
    assert_int_equal(o.timed.mech_count, 2);
    assert_string_equal(o.timed.mechs[1], "swl");
    assert_int_equal(o.timed.mech_setting_count, 1);
    assert_string_equal(o.timed.mech_settings[0], "swl.warps=4");
    assert_true(o.timed.no_skip && o.timed.timeline);
    assert_int_equal(o.timed.threads, 3);
    assert_int_equal(o.timed.sample_cycles, 1024);
    assert_int_equal(o.format, RUN_FORMAT_GPGPUSIM);
    assert_null(o.stats); /* the word names a format, not a file */
    arena_free(&a);
}

static int begin(void **state)
{
    (void)state;
    clear_environment();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_names_of_their_own),
        cmocka_unit_test(a_value_survives_the_environment),
        cmocka_unit_test(a_value_survives_the_command_line),
        cmocka_unit_test(wrong_values_are_refused_by_name),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(the_timed_gpu_gets_what_was_said),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
