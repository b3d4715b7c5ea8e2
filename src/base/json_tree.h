/* json_tree.h: a JSON text (RFC 8259) as a tree. Made for files of many megabytes of numbers: one pass, one
 * allocation for each container. */
#ifndef HEDDLE_JSON_TREE_H
#define HEDDLE_JSON_TREE_H

#include "base/arena.h"
#include "base/diag.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_MAP };

struct json_node {
    enum json_kind kind;
    /* JSON_NUMBER: written without point or exponent, and fits `integer` */
    bool is_integer;
    /* items */
    uint32_t count;
    /* its name in the map around it; NULL in a list */
    const char *key;
    union {
        /* JSON_TEXT, unescaped */
        const char *text;
        /* JSON_NUMBER; JSON_BOOL: 0 or 1 */
        double number;
        /* JSON_LIST, JSON_MAP */
        const struct json_node *items;
    };
    int64_t integer;
    /* its bytes in the text: [start, end) */
    size_t start, end;
};

struct json_tree {
    /* for diagnostics; the text must outlive the tree */
    struct diag_source src;
    struct arena arena;
    const struct json_node *root;
};

enum { JSON_DEPTH_MAX = 64 };

/* `name` is what errors call the text. Returns false with one diagnostic, at the first error. */
bool json_tree_parse(struct json_tree *t, const char *name, const char *text, size_t len,
                     struct diag_list *diags);
void json_tree_free(struct json_tree *t);

/* Returns the first member of that name, or NULL; NULL also where `map` is NULL or not a map. */
const struct json_node *json_get(const struct json_node *map, const char *key);
/* The member's value, or `absent` where there is none or it is of another kind. */
double json_get_number(const struct json_node *map, const char *key, double absent);
const char *json_get_text(const struct json_node *map, const char *key, const char *absent);

#endif
