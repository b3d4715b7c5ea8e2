/* tree.h: the suffix tree of a reference, made on the host and packed for the device. */
#ifndef MUMMERGPU_TREE_H
#define MUMMERGPU_TREE_H

#include "kit/kit.h"

enum { TREE_ROOT = 1 };

/* Nodes in breadth-first order; 0 stands for none. A leaf has no children. */
struct tree_node {
    /* of the edge that leads to it, in the reference, both included */
    int start, end;
    int parent, suffix, depth, leaves;
    /* A C G T $ */
    int child[5];
};

struct tree {
    /* the root is number 1 */
    int nodes;
    struct tree_node *node;
    /* 16 bytes a node */
    unsigned char *node_pixels, *child_pixels;
};

/* `text` ends with '$', which occurs nowhere else. */
struct tree tree_build(const char *text, int length);

#endif
