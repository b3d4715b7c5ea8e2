/* Any bytes as JSON: refused with a position, or a tree whose nodes lie within the text. */
#include "base/json_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct json_node *n, size_t size)
{
    if (n->start >= n->end || n->end > size) abort();
    for (uint32_t i = 0; (n->kind == JSON_LIST || n->kind == JSON_MAP) && i < n->count; i++) {
        if ((n->kind == JSON_MAP) != (n->items[i].key != NULL)) abort();
        if (n->items[i].start < n->start || n->items[i].end > n->end) abort();
        walk(&n->items[i], size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_tree tree;
    struct diag_list diags = {0};
    bool ok = json_tree_parse(&tree, "fuzz.json", (const char *)data, size, &diags);
    if (ok != (tree.root != NULL) || ok != !diags.errors) abort();
    if (ok) walk(tree.root, size);
    diag_free(&diags);
    json_tree_free(&tree);
    return 0;
}
