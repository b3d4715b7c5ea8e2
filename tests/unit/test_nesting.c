/* test_nesting.c: what is nested too deeply is refused, at the place where it gets too deep, before it takes
 * time or stack: YAML, JSON, expressions of PTX and of experiments. */
#define _GNU_SOURCE /* memfd_create */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/json_tree.h"
#include "config/yaml_tree.h"
#include "lab/expr.h"
#include "ptx/ptx.h"

#include <sys/mman.h>
#include <unistd.h>

enum { DEEP = 100000 };

/* `before`, DEEP times `level`, `after`. */
static struct strbuf nested(const char *before, const char *level, const char *after)
{
    struct strbuf s = {0};
    strbuf_puts(&s, before);
    for (int i = 0; i < DEEP; i++) strbuf_puts(&s, level);
    strbuf_puts(&s, after);
    return s;
}

/* One error, with these words, at this column of line 1. */
static void expect_error(struct diag_list *diags, const char *words, int col)
{
    assert_int_equal(diags->errors, 1);
    assert_non_null(strstr(diags->items.data[0].message, words));
    assert_int_equal(diags->items.data[0].line, 1);
    assert_int_equal(diags->items.data[0].col, col);
    diag_free(diags);
}

static bool load_yaml(const char *text, struct yaml_tree *tree, struct diag_list *diags)
{
    char path[64];
    const size_t len = strlen(text);
    const int fd = memfd_create("nested", 0);
    assert_true(fd >= 0 && write(fd, text, len) == (ssize_t)len);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const bool ok = yaml_tree_load(tree, path, "", diags);
    close(fd);
    return ok;
}

static void yaml_has_a_hundred_levels(void **state)
{
    (void)state;
    static const struct {
        const char *before, *level;
        int col;
    } cases[] = {{"a: ", "[", 103}, {"", "{", 101}, {"", "- ", 201}, {"", "? ", 201}, {"[{a: [", "[", 104}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct strbuf text = nested(cases[i].before, cases[i].level, "");
        struct yaml_tree tree;
        struct diag_list diags = {0};
        assert_false(load_yaml(strbuf_text(&text), &tree, &diags));
        expect_error(&diags, "nested too deeply", cases[i].col);
        yaml_tree_free(&tree);
        strbuf_free(&text);
    }
}

static void yaml_of_few_levels_is_read(void **state)
{
    (void)state;
    struct strbuf text = {0};
    struct yaml_tree tree;
    struct diag_list diags = {0};
    strbuf_puts(&text, "a: ");
    for (int i = 0; i < YAML_DEPTH_MAX - 1; i++) strbuf_putc(&text, '[');
    for (int i = 0; i < YAML_DEPTH_MAX - 1; i++) strbuf_putc(&text, ']');
    strbuf_puts(&text, "\nb: [[], [[]], {c: []}]\n");
    assert_true(load_yaml(strbuf_text(&text), &tree, &diags));
    assert_int_equal(yaml_get(tree.root, "b")->count, 3);
    yaml_tree_free(&tree);
    strbuf_free(&text);
}

static void json_has_sixty_four_levels(void **state)
{
    (void)state;
    static const char *const levels[] = {"[", "{\"a\":", "[{\"a\":"};
    static const int cols[] = {65, 5 * 64 + 1, 6 * 32 + 1};
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        struct strbuf text = nested("", levels[i], "");
        struct json_tree tree;
        struct diag_list diags = {0};
        assert_false(json_tree_parse(&tree, "t.json", strbuf_text(&text), text.len, &diags));
        expect_error(&diags, "too many levels", cols[i]);
        json_tree_free(&tree);
        strbuf_free(&text);
    }
}

static void expressions_of_ptx_are_bounded(void **state)
{
    (void)state;
    static const char *const levels[] = {"(", "-", "~", "1+(", "1?1:", "(.s64)"};
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        struct strbuf text =
            nested(".version 7.0\n.target sm_60\n.address_size 64\n.global .b32 x = ", levels[i], "1;\n");
        struct diag_list diags = {0};
        assert_null(ptx_parse("t.ptx", strbuf_text(&text), text.len, &diags));
        assert_true(diags.errors > 0);
        assert_non_null(strstr(diags.items.data[0].message, "nested too deeply"));
        diag_free(&diags);
        strbuf_free(&text);
    }
}

static void expressions_of_experiments_are_bounded(void **state)
{
    (void)state;
    static const char *const levels[] = {"(", "-", "max(1,"};
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        struct strbuf text = nested("", levels[i], "1");
        struct arena arena = {0};
        struct diag_list diags = {0};
        const struct diag_source src = {"t", strbuf_text(&text), text.len};
        const struct expr_source where = {&src, 1, 1, true};
        assert_null(expr_parse(&arena, strbuf_text(&text), &where, &diags));
        assert_int_equal(diags.errors, 1);
        assert_non_null(strstr(diags.items.data[0].message, "nested too deeply"));
        diag_free(&diags);
        arena_free(&arena);
        strbuf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yaml_has_a_hundred_levels), cmocka_unit_test(yaml_of_few_levels_is_read),
        cmocka_unit_test(json_has_sixty_four_levels), cmocka_unit_test(expressions_of_ptx_are_bounded),
        cmocka_unit_test(expressions_of_experiments_are_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
