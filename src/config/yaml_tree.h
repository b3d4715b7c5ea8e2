/* yaml_tree.h: a YAML file as a tree whose every node knows its line and column, so that its reader can
 * show an error there. */
#ifndef HEDDLE_YAML_TREE_H
#define HEDDLE_YAML_TREE_H

#include "base/arena.h"
#include "base/diag.h"

/* Levels of lists and mappings that are read; files of ours have six. */
enum { YAML_DEPTH_MAX = 100 };
/* Bytes of a file that is read: a device may have no end. */
enum { YAML_FILE_BYTES_MAX = 64 << 20 };

enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    /* from 1 */
    int line, col;
    /* YAML_TEXT: as written, without quotes; "" otherwise */
    const char *text;
    /* of items */
    uint32_t count;
    /* YAML_MAP: count of them, each a YAML_TEXT */
    const struct yaml_node *keys;
    /* values of the map or members of the list */
    const struct yaml_node *items;
};

struct yaml_tree {
    struct diag_source src;
    struct arena arena;
    char *path, *content;
    const struct yaml_node *root;
};

/* False with diagnostics: not YAML, aliases, too many levels, a key that is not a plain text or appears twice
 * in its mapping, or a top level that is not a mapping. `hint` says what such a file looks like. A file that
 * cannot be read is false with errno set and no diagnostic: the caller knows what it stands for. The tree is
 * to be freed in any case. */
bool yaml_tree_load(struct yaml_tree *t, const char *path, const char *hint, struct diag_list *diags);
/* A text instead of a file; errors call it `name`. */
bool yaml_tree_read(struct yaml_tree *t, const char *name, const char *text, const char *hint,
                    struct diag_list *diags);
void yaml_tree_free(struct yaml_tree *t);

/* The value of a key, or NULL. */
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);
void yaml_error(const struct yaml_tree *t, const struct yaml_node *at, struct diag_list *diags,
                const char *hint, const char *fmt, ...) PRINTF_LIKE(5, 6);
/* Every key of the map must be one of `known`; an error at each other one names the nearest. */
void yaml_only(const struct yaml_tree *t, const struct yaml_node *map, const char *const *known, size_t count,
               struct diag_list *diags);
/* Texts and numbers of a map by key; absent: the default, silently. Of the wrong kind: an error at its
 * position. */
const char *yaml_text(const struct yaml_tree *t, const struct yaml_node *map, const char *key,
                      const char *absent, struct diag_list *diags);
uint64_t yaml_count(const struct yaml_tree *t, const struct yaml_node *map, const char *key, uint64_t absent,
                    struct diag_list *diags);

#endif
