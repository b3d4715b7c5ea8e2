/* is_json.c: exits with 0 when standard input is one JSON list with at least one element, else says why
 * not. */
#include "base/json_tree.h"

int main(void)
{
    struct strbuf text = {0}, message = {0};
    struct diag_list diags = {0};
    struct json_tree tree = {0};
    char block[1 << 14];
    for (size_t n; (n = fread(block, 1, sizeof block, stdin)) > 0;) strbuf_add(&text, block, n);
    bool ok = json_tree_parse(&tree, "standard input", strbuf_text(&text), text.len, &diags);
    diag_render(&diags, &message);
    fputs(strbuf_text(&message), stderr);
    if (ok && (tree.root->kind != JSON_LIST || !tree.root->count)) {
        fputs("this is not a list with elements\n", stderr);
        ok = false;
    }
    json_tree_free(&tree);
    diag_free(&diags);
    strbuf_free(&text);
    strbuf_free(&message);
    return ok ? 0 : 1;
}
