/* json_tree.h: a JSON text (RFC 8259) as a tree. Made for files of many megabytes of numbers: one pass, one allocation a container. */
#ifndef HEDDLE_JSON_TREE_H
#define HEDDLE_JSON_TREE_H

#include "base/arena.h"
#include "base/diag.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_MAP };

struct json_node {
    enum json_kind kind;
    bool is_integer; /* JSON_NUMBER: written without point and exponent, and fits `integer` */
    uint32_t count;  /* of items */
    const char *key; /* its name in the map around it; NULL in a list */
    union {
        const char *text;              /* JSON_TEXT, unescaped */
        double number;                 /* JSON_NUMBER; JSON_BOOL: 0 or 1 */
        const struct json_node *items; /* JSON_LIST, JSON_MAP */
    };
    int64_t integer;
    size_t start, end; /* bytes of the text that it takes: [start, end) */
};

struct json_tree {
    struct diag_source src; /* the text must outlive the tree: diagnostics only */
    struct arena arena;
    const struct json_node *root;
};

enum { JSON_DEPTH_MAX = 64 };

/* `name` is what errors call the text. False with one diagnostic at the place of the first error. */
bool json_tree_parse(struct json_tree *t, const char *name, const char *text, size_t len,
                     struct diag_list *diags);
void json_tree_free(struct json_tree *t);

/* The member of that name (of several the first), or NULL; NULL also where `map` is NULL or no map. */
const struct json_node *json_get(const struct json_node *map, const char *key);
/* The member's value; absent or of another kind: the default. */
double json_get_number(const struct json_node *map, const char *key, double absent);
const char *json_get_text(const struct json_node *map, const char *key, const char *absent);

#endif
