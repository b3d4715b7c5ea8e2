/* The JSON reader: values, positions of errors, bounds. */
#include "base/json_tree.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct json_tree tree;

static const struct json_node *parse(const char *text)
{
    struct diag_list diags = {0};
    if (!json_tree_parse(&tree, "t.json", text, strlen(text), &diags)) fail_msg("refused: %s", text);
    return tree.root;
}

static void values_are_read(void **state)
{
    (void)state;
    const struct json_node *root =
        parse(" {\"a\": [1, -2.5e3, true, null, \"x\\ny\\u00e9\\ud83d\\ude00\"], \"b\": {}, \"a\": 7} ");
    const struct json_node *a = json_get(root, "a");
    assert_int_equal(root->kind, JSON_MAP);
    assert_int_equal(root->count, 3);
    assert_int_equal(a->kind, JSON_LIST);
    assert_int_equal(a->count, 5);
    assert_true(a->items[0].is_integer && a->items[0].integer == 1 && a->items[0].number == 1);
    assert_true(!a->items[1].is_integer && a->items[1].number == -2500);
    assert_true(a->items[2].kind == JSON_BOOL && a->items[2].number == 1);
    assert_int_equal(a->items[3].kind, JSON_NULL);
    assert_string_equal(a->items[4].text, "x\ny\xc3\xa9\xf0\x9f\x98\x80");
    assert_int_equal(json_get(root, "b")->count, 0);
    assert_null(json_get(root, "c"));
    assert_null(json_get(a, "c"));
    assert_null(json_get(NULL, "c"));
    json_tree_free(&tree);
}

static void members_by_kind(void **state)
{
    (void)state;
    const struct json_node *root = parse("{\"n\": 3.5, \"t\": \"text\", \"b\": false}");
    assert_true(json_get_number(root, "n", 1) == 3.5);
    assert_true(json_get_number(root, "b", 1) == 0);
    assert_true(json_get_number(root, "t", 1) == 1);
    assert_string_equal(json_get_text(root, "t", "none"), "text");
    assert_string_equal(json_get_text(root, "n", "none"), "none");
    json_tree_free(&tree);
}

static void large_integers_stay_exact(void **state)
{
    (void)state;
    const struct json_node *root = parse("[9223372036854775807, -9223372036854775808, 18446744073709551615]");
    assert_true(root->items[0].is_integer && root->items[0].integer == INT64_MAX);
    assert_true(root->items[1].is_integer && root->items[1].integer == INT64_MIN);
    assert_true(!root->items[2].is_integer && root->items[2].number == 18446744073709551615.0);
    json_tree_free(&tree);
}

static void nodes_know_their_bytes(void **state)
{
    (void)state;
    static const char text[] = "{\"a\": 1, \"grid\": [8, 1,2] , \"c\": \"d\"}";
    const struct json_node *root = parse(text), *grid = json_get(root, "grid"), *c = json_get(root, "c");
    assert_int_equal(grid->end - grid->start, 8);
    assert_memory_equal(text + grid->start, "[8, 1,2]", 8);
    assert_memory_equal(text + c->start, "\"d\"", c->end - c->start);
    assert_int_equal(root->end, sizeof text - 1);
    json_tree_free(&tree);
}

static void errors_have_a_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line, col;
        const char *says;
    } cases[] = {
        {"", 1, 1, "a value must"},
        {"{\"a\": 1,\n  \"b\": }", 2, 8, "a value must"},
        {"{\"a\" 1}", 1, 6, "':' must"},
        {"{a: 1}", 1, 2, "in quotes"},
        {"{\"a\": 1,}", 1, 9, "in quotes"},
        {"[1, 2", 1, 6, "',' or ']'"},
        {"[1 2]", 1, 4, "',' or ']'"},
        {"{\"a\": 1", 1, 8, "',' or '}'"},
        {"[01]", 1, 2, "does not begin with 0"},
        {"[1.]", 1, 4, "a digit"},
        {"[1e]", 1, 4, "a digit"},
        {"[-]", 1, 3, "a digit"},
        {"[1e999]", 1, 7, "beyond all bounds"},
        {"[tru]", 1, 2, "a value must"},
        {"\"abc", 1, 5, "never ends"},
        {"\"a\nb\"", 1, 3, "control character"},
        {"\"\\q\"", 1, 3, "unknown escape"},
        {"\"\\u12g4\"", 1, 6, "four hexadecimal"},
        {"\"\\ud800x\"", 1, 8, "surrogate"},
        {"\"\\udc00\"", 1, 8, "surrogate"},
        {"\"\\u0000\"", 1, 8, "zero character"},
        {"[1] x", 1, 5, "after the end"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct diag_list diags = {0};
        assert_false(json_tree_parse(&tree, "t.json", cases[i].text, strlen(cases[i].text), &diags));
        assert_int_equal(diags.errors, 1);
        const struct diag *d = &diags.items.data[0];
        if (d->line != cases[i].line || d->col != cases[i].col || !strstr(d->message, cases[i].says))
            fail_msg("%s: got %d:%d %s", cases[i].text, d->line, d->col, d->message);
        diag_free(&diags);
        json_tree_free(&tree);
    }
}

static void depth_is_bounded(void **state)
{
    (void)state;
    struct strbuf text = {0};
    struct diag_list diags = {0};
    for (int i = 0; i < 100000; i++) strbuf_putc(&text, '[');
    assert_false(json_tree_parse(&tree, "t.json", text.data, text.len, &diags));
    assert_non_null(strstr(diags.items.data[0].message, "too many levels"));
    diag_free(&diags);
    json_tree_free(&tree);
    strbuf_free(&text);
}

/* Every beginning of a text ends in an error, and nothing behind its end is read (the sanitizers watch). */
static void every_prefix_is_refused(void **state)
{
    (void)state;
    static const char text[] = "{\"a\": [1, -2.5e3, true, \"x\\u00e9\"], \"b\": {\"c\": null}}";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        char *copy = mem_alloc(n ? n : 1);
        struct diag_list diags = {0};
        memcpy(copy, text, n);
        assert_false(json_tree_parse(&tree, "t.json", copy, n, &diags));
        diag_free(&diags);
        json_tree_free(&tree);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read),           cmocka_unit_test(members_by_kind),
        cmocka_unit_test(large_integers_stay_exact), cmocka_unit_test(nodes_know_their_bytes),
        cmocka_unit_test(errors_have_a_place),       cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(every_prefix_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
