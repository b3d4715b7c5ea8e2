/* b+tree: host side. */
#include "kit/kit.h"

#include <limits.h>

#define ORDER 256
#define FILL                                                                                                 \
    128 /* keys of a leaf, children of an inner node: what splitting leaves behind when keys come in order */
#define RANGE 3000

struct knode {
    int location;
    int indices[ORDER + 1];
    int keys[ORDER + 1];
    bool is_leaf;
    int num_keys;
};
struct tree {
    /* height: steps from the root to a leaf */
    long height, nodes;
    struct knode *knodes;
};

static int ceil_div(int a, int b) { return (a + b - 1) / b; }

/* Keys stand between two guards; what is behind them compares as the upper guard. */
static void node_open(struct knode *node, int location, int keys, bool leaf)
{
    node->location = location;
    node->is_leaf = leaf;
    node->num_keys = keys + 2;
    node->keys[0] = INT_MIN;
    for (int i = keys + 1; i <= ORDER; i++) node->keys[i] = INT_MAX;
}

/* `nodes` nodes of one level from place `first` on, over `below` nodes (or records) from place `first_below`
 * on; `span` keys under each child. Key i is i itself. */
static void level_build(struct knode *knodes, int first, int nodes, int first_below, int below, int span,
                        bool leaf)
{
    for (int n = 0; n < nodes; n++) {
        struct knode *node = &knodes[first + n];
        int from = n * FILL, children = below - from < FILL ? below - from : FILL;
        node_open(node, first + n, leaf ? children : children - 1, leaf);
        for (int c = 0; c < children; c++) {
            int place = leaf ? c + 1 : c; /* an inner node's first child has the lower guard for key */
            node->indices[place] = first_below + from + c;
            if (place) node->keys[place] = (from + c) * span;
        }
    }
}

/* Nodes lie level by level from the root on, as the original's transformation for the GPU leaves them. */
static struct tree tree_build(int records)
{
    int counts[8], levels = 0;
    struct tree tree = {0};
    for (int n = records; levels == 0 || n > 1; levels++)
        tree.nodes += counts[levels] = n = ceil_div(n, FILL);
    tree.height = levels - 1;
    tree.knodes = kit_host(tree.nodes * sizeof *tree.knodes);
    int first = (int)tree.nodes, span = 1, first_below = 0, below = records;
    for (int level = 0; level < levels; level++) {
        first -= counts[level];
        level_build(tree.knodes, first, counts[level], first_below, below, span, level == 0);
        first_below = first;
        below = counts[level];
        span *= FILL;
    }
    return tree;
}

static void ranges_query(const struct tree *tree, CUdeviceptr dknodes, int records, int queries)
{
    int range = records / 2 < RANGE ? records / 2 : RANGE;
    size_t bytes = queries * sizeof(int);
    int *start = kit_host(bytes), *end = kit_host(bytes), *first = kit_host(bytes), *length = kit_host(bytes);
    for (int q = 0; q < queries; q++) {
        start[q] = (int)kit_below((uint32_t)(records - range));
        end[q] = start[q] + range;
    }
    CUdeviceptr curr = kit_zeros(queries * sizeof(long)), offset = kit_zeros(queries * sizeof(long));
    CUdeviceptr last = kit_zeros(queries * sizeof(long)), offset_2 = kit_zeros(queries * sizeof(long));
    CUdeviceptr dstart = kit_upload(start, bytes), dend = kit_upload(end, bytes);
    CUdeviceptr dfirst = kit_zeros(bytes), dlength = kit_zeros(bytes);
    long height = tree->height, nodes = tree->nodes;
    KIT_LAUNCH("findRangeK", KIT_DIM(queries), KIT_DIM(ORDER), 0, height, dknodes, nodes, curr, offset, last,
               offset_2, dstart, dend, dfirst, dlength);
    kit_download(first, dfirst, bytes);
    kit_download(length, dlength, bytes);
    if (!kit_checking()) return;
    for (int q = 0; q < queries; q++) end[q] = end[q] - start[q] + 1; /* record i has key i */
    kit_check_ints("first of range", first, start, queries);
    kit_check_ints("length of range", length, end, queries);
}

static void keys_query(const struct tree *tree, CUdeviceptr dknodes, const int *values, int records,
                       int queries)
{
    size_t bytes = queries * sizeof(int);
    int *keys = kit_ints(queries, 0, records - 1), *answers = kit_host(bytes), *want = kit_host(bytes);
    for (int q = 0; q < queries; q++) answers[q] = -1;
    CUdeviceptr drecords = kit_upload(values, records * sizeof(int)), dkeys = kit_upload(keys, bytes);
    CUdeviceptr curr = kit_zeros(queries * sizeof(long)), offset = kit_zeros(queries * sizeof(long));
    CUdeviceptr danswers = kit_upload(answers, bytes);
    long height = tree->height, nodes = tree->nodes;
    KIT_LAUNCH("findK", KIT_DIM(queries), KIT_DIM(ORDER), 0, height, dknodes, nodes, drecords, curr, offset,
               dkeys, danswers);
    kit_download(answers, danswers, bytes);
    if (!kit_checking()) return;
    for (int q = 0; q < queries; q++) want[q] = values[keys[q]];
    kit_check_ints("answers", answers, want, queries);
}

int main(int argc, char **argv)
{
    kit_open("b+tree", argc, argv);
    int records = (const int[]){20000, 1000000, 1000000}[kit_size()];
    int ranges = (const int[]){30, 3000, 6000}[kit_size()];
    int keys = (const int[]){50, 5000, 10000}[kit_size()];
    struct tree tree = tree_build(records);
    int *values = kit_ints(records, 0, INT_MAX - 1);
    kit_note("%d records, %ld nodes, height %ld", records, tree.nodes, tree.height);

    CUdeviceptr dknodes = kit_upload(tree.knodes, tree.nodes * sizeof *tree.knodes);
    ranges_query(&tree, dknodes, records, ranges);
    keys_query(&tree, dknodes, values, records, keys);
    return kit_close();
}
