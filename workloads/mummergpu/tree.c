/* tree.c: Ukkonen's construction, then breadth-first numbers, parents, depths and the device's pixels. */
#include "tree.h"

struct builder {
    const char *text;
    /* node, edge, along: the active point */
    int length, used, node, edge, along, pending, wants_link;
    struct tree_node *all;
};

static int letter(char c)
{
    switch (c) {
    case 'A': return 0;
    case 'C': return 1;
    case 'G': return 2;
    case 'T': return 3;
    default: return 4;
    }
}

static int add_node(struct builder *b, int start, int end)
{
    b->all[++b->used] = (struct tree_node){.start = start, .end = end};
    return b->used;
}

static void link_to(struct builder *b, int node)
{
    if (b->wants_link) b->all[b->wants_link].suffix = node;
    b->wants_link = node;
}

static void split_edge(struct builder *b, int below, int i)
{
    int start = b->all[below].start, split = add_node(b, start, start + b->along - 1);
    b->all[b->node].child[letter(b->text[start])] = split;
    b->all[split].child[letter(b->text[i])] = add_node(b, i, b->length - 1);
    b->all[below].start = start + b->along;
    b->all[split].child[letter(b->text[start + b->along])] = below;
    link_to(b, split);
}

static void next_suffix(struct builder *b, int i)
{
    b->pending--;
    if (b->node == TREE_ROOT && b->along > 0) {
        b->along--;
        b->edge = i - b->pending + 1;
    } else {
        int suffix = b->all[b->node].suffix;
        b->node = suffix ? suffix : TREE_ROOT;
    }
}

static void extend(struct builder *b, int i)
{
    b->wants_link = 0;
    b->pending++;
    while (b->pending > 0) {
        if (b->along == 0) b->edge = i;
        int below = b->all[b->node].child[letter(b->text[b->edge])];
        if (!below) {
            b->all[b->node].child[letter(b->text[b->edge])] = add_node(b, i, b->length - 1);
            link_to(b, b->node);
        } else {
            int edge_length = b->all[below].end - b->all[below].start + 1;
            if (b->along >= edge_length) {
                b->edge += edge_length;
                b->along -= edge_length;
                b->node = below;
                continue;
            }
            if (b->text[b->all[below].start + b->along] == b->text[i]) {
                b->along++;
                link_to(b, b->node);
                return;
            }
            split_edge(b, below, i);
        }
        next_suffix(b, i);
    }
}

/* Breadth first, so that the nodes that all reads pass lie close together. */
static void number_nodes(struct tree *t, const struct builder *b)
{
    int *old = kit_host((b->used + 2) * sizeof *old), *fresh = kit_host((b->used + 2) * sizeof *fresh), n = 1;
    t->nodes = b->used;
    t->node = kit_host((b->used + 1) * sizeof *t->node);
    old[1] = TREE_ROOT, fresh[TREE_ROOT] = 1;
    for (int i = 1; i <= n; i++) {
        struct tree_node *to = &t->node[i], from = b->all[old[i]];
        to->start = from.start, to->end = from.end;
        to->suffix = from.suffix; /* an old number, till all have new ones */
        for (int c = 0; c < 5; c++) {
            if (!from.child[c]) continue;
            old[++n] = from.child[c], fresh[from.child[c]] = n;
            to->child[c] = n;
            t->node[n].parent = i;
        }
    }
    for (int i = 1; i <= n; i++) t->node[i].suffix = fresh[t->node[i].suffix];
}

static void measure_nodes(struct tree *t)
{
    for (int i = 2; i <= t->nodes; i++) {
        struct tree_node *n = &t->node[i];
        n->depth = t->node[n->parent].depth + n->end - n->start + 1;
    }
    for (int i = t->nodes; i >= 1; i--) {
        struct tree_node *n = &t->node[i];
        if (n->leaves == 0) n->leaves = 1;
        t->node[n->parent].leaves += n->leaves;
    }
}

static void put_number(unsigned char *pixel, int which, int value)
{
    for (int byte = 0; byte < 3; byte++) pixel[3 * which + byte] = (unsigned char)(value >> 8 * byte);
}

static void pack_nodes(struct tree *t, const char *text, int length)
{
    t->node_pixels = kit_host(16 * (size_t)(t->nodes + 1));
    t->child_pixels = kit_host(16 * (size_t)(t->nodes + 1));
    for (int i = 1; i <= t->nodes; i++) {
        const struct tree_node *n = &t->node[i];
        unsigned char *pixel = t->node_pixels + 16 * (size_t)i, *children = t->child_pixels + 16 * (size_t)i;
        bool leaf = n->end == length - 1 && n->leaves == 1 && i != TREE_ROOT;
        const int numbers[5] = {n->parent, n->suffix, n->start, n->end, n->depth};
        for (int k = 0; k < 5; k++) {
            put_number(pixel, k, numbers[k]);
            if (!leaf) put_number(children, k, n->child[k]);
        }
        if (!leaf) continue;
        int suffix =
            length - n->depth; /* where in the text the leaf's suffix begins, and what stands before it */
        put_number(children, 0, suffix);
        children[15] = suffix ? (unsigned char)text[suffix - 1] : 's';
    }
}

struct tree tree_build(const char *text, int length)
{
    struct builder b = {.text = text, .length = length, .node = TREE_ROOT};
    b.all = kit_host((2 * (size_t)length + 2) * sizeof *b.all);
    add_node(&b, 0, -1);
    for (int i = 0; i < length; i++) extend(&b, i);
    struct tree t = {0};
    number_nodes(&t, &b);
    measure_nodes(&t);
    pack_nodes(&t, text, length);
    return t;
}
