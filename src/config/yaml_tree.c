/* yaml_tree.c: libyaml's document copied into nodes of our own. */
#include "config/yaml_tree.h"

#include "base/map.h"

#include <errno.h>
#include <yaml.h>

static char *yaml_read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    struct strbuf s = {0};
    char block[4096];
    for (size_t n; s.len <= YAML_FILE_BYTES_MAX && (n = fread(block, 1, sizeof block, f)) > 0;)
        strbuf_add(&s, block, n);
    const int fault = ferror(f)                     ? EISDIR /* a folder opens but does not read */
                      : s.len > YAML_FILE_BYTES_MAX ? EFBIG
                                                    : 0;
    fclose(f);
    if (fault) {
        strbuf_free(&s);
        errno = fault;
        return NULL;
    }
    *len = s.len;
    return s.data ? s.data : mem_strdup("");
}

static void yaml_copy(struct yaml_tree *t, yaml_document_t *doc, const yaml_node_t *from,
                      struct yaml_node *to, struct diag_list *diags);

static void yaml_copy_list(struct yaml_tree *t, yaml_document_t *doc, const yaml_node_t *from,
                           struct yaml_node *to, struct diag_list *diags)
{
    const yaml_node_item_t *start = from->data.sequence.items.start;
    to->kind = YAML_LIST;
    to->count = (uint32_t)(from->data.sequence.items.top - start);
    struct yaml_node *items = ARENA_ARRAY(&t->arena, struct yaml_node, to->count);
    for (uint32_t i = 0; i < to->count; i++)
        yaml_copy(t, doc, yaml_document_get_node(doc, start[i]), &items[i], diags);
    to->items = items;
}

/* Reports a key that appears twice in a mapping, since one of its values would be lost. */
static void yaml_check_twice(const struct yaml_tree *t, const struct yaml_node *keys, uint32_t count,
                             struct diag_list *diags)
{
    struct map seen = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct yaml_node *first = map_get(&seen, keys[i].text);
        if (first)
            yaml_error(t, &keys[i], diags, NULL, "'%s' appears twice, first in line %d", keys[i].text,
                       first->line);
        else
            map_put(&seen, keys[i].text, (void *)&keys[i]);
    }
    map_free(&seen);
}

static void yaml_copy_map(struct yaml_tree *t, yaml_document_t *doc, const yaml_node_t *from,
                          struct yaml_node *to, struct diag_list *diags)
{
    const yaml_node_pair_t *start = from->data.mapping.pairs.start;
    to->kind = YAML_MAP;
    to->count = (uint32_t)(from->data.mapping.pairs.top - start);
    struct yaml_node *keys = ARENA_ARRAY(&t->arena, struct yaml_node, to->count);
    struct yaml_node *items = ARENA_ARRAY(&t->arena, struct yaml_node, to->count);
    for (uint32_t i = 0; i < to->count; i++) {
        yaml_copy(t, doc, yaml_document_get_node(doc, start[i].key), &keys[i], diags);
        yaml_copy(t, doc, yaml_document_get_node(doc, start[i].value), &items[i], diags);
        if (keys[i].kind != YAML_TEXT) yaml_error(t, &keys[i], diags, NULL, "a name must be plain text");
    }
    yaml_check_twice(t, keys, to->count, diags);
    to->keys = keys;
    to->items = items;
}

static void yaml_copy(struct yaml_tree *t, yaml_document_t *doc, const yaml_node_t *from,
                      struct yaml_node *to, struct diag_list *diags)
{
    to->line = (int)from->start_mark.line + 1;
    to->col = (int)from->start_mark.column + 1;
    to->text = "";
    switch (from->type) {
    case YAML_SEQUENCE_NODE: yaml_copy_list(t, doc, from, to, diags); break;
    case YAML_MAPPING_NODE: yaml_copy_map(t, doc, from, to, diags); break;
    default: to->text = arena_strdup(&t->arena, (const char *)from->data.scalar.value); break;
    }
}

/* Returns what is wrong with an event though it is valid YAML, or NULL. Aliases (*name) are refused: one may
 * point at a node above itself, so that copying would not end. The depth is bounded, since the time of
 * libyaml grows with its square. */
static const char *yaml_event_fault(const yaml_event_t *event, int *depth)
{
    switch (event->type) {
    case YAML_ALIAS_EVENT: return "aliases are not read here: write the value out";
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return ++*depth > YAML_DEPTH_MAX ? "lists and mappings are nested too deeply" : NULL;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: --*depth; return NULL;
    default: return NULL;
    }
}

/* The first fault of this kind; NULL: there is none before the end of the text or of what is valid YAML. */
static const char *yaml_find_fault(const char *text, size_t len, yaml_mark_t *at)
{
    yaml_parser_t parser;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    const char *fault = NULL;
    int depth = 0;
    bool more = true;
    while (more && !fault) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) break;
        fault = yaml_event_fault(&event, &depth);
        more = event.type != YAML_STREAM_END_EVENT;
        *at = event.start_mark;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return fault;
}

static bool yaml_tree_parse(struct yaml_tree *t, const char *hint, struct diag_list *diags)
{
    yaml_mark_t at;
    const char *fault = yaml_find_fault(t->content, t->src.len, &at);
    if (fault) {
        diag_add(diags, DIAG_ERROR, &t->src, (int)at.line + 1, (int)at.column + 1, 1, NULL, "%s", fault);
        return false;
    }
    yaml_parser_t parser;
    yaml_document_t doc;
    uint32_t errors = diags->errors;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)t->content, t->src.len);
    if (!yaml_parser_load(&parser, &doc)) {
        diag_add(diags, DIAG_ERROR, &t->src, (int)parser.problem_mark.line + 1,
                 (int)parser.problem_mark.column + 1, 1, hint, "not valid YAML: %s",
                 parser.problem ? parser.problem : "unknown problem");
    } else {
        const yaml_node_t *root = yaml_document_get_root_node(&doc);
        if (!root || root->type != YAML_MAPPING_NODE) {
            diag_add(diags, DIAG_ERROR, &t->src, 1, 1, 1, hint, "the file must be a mapping");
        } else {
            struct yaml_node *copy = ARENA_NEW(&t->arena, struct yaml_node);
            yaml_copy(t, &doc, root, copy, diags);
            t->root = copy;
        }
        yaml_document_delete(&doc);
    }
    yaml_parser_delete(&parser);
    return diags->errors == errors;
}

/* t->content is there. */
static bool yaml_tree_named(struct yaml_tree *t, const char *name, const char *hint, struct diag_list *diags)
{
    t->path = mem_strdup(name);
    t->src.file = t->path;
    t->src.text = t->content;
    return yaml_tree_parse(t, hint, diags);
}

bool yaml_tree_load(struct yaml_tree *t, const char *path, const char *hint, struct diag_list *diags)
{
    *t = (struct yaml_tree){0};
    t->content = yaml_read_file(path, &t->src.len);
    return t->content && yaml_tree_named(t, path, hint, diags);
}

bool yaml_tree_read(struct yaml_tree *t, const char *name, const char *text, const char *hint,
                    struct diag_list *diags)
{
    *t = (struct yaml_tree){.content = mem_strdup(text)};
    t->src.len = strlen(text);
    return yaml_tree_named(t, name, hint, diags);
}

void yaml_tree_free(struct yaml_tree *t)
{
    arena_free(&t->arena);
    free(t->path);
    free(t->content);
    *t = (struct yaml_tree){0};
}

const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
    for (uint32_t i = 0; map->kind == YAML_MAP && i < map->count; i++)
        if (!strcmp(map->keys[i].text, key)) return &map->items[i];
    return NULL;
}

void yaml_error(const struct yaml_tree *t, const struct yaml_node *at, struct diag_list *diags,
                const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int len = at->kind == YAML_TEXT && *at->text ? (int)strlen(at->text) : 1;
    diag_vadd(diags, DIAG_ERROR, &t->src, at->line, at->col, len, hint, fmt, ap);
    va_end(ap);
}

void yaml_only(const struct yaml_tree *t, const struct yaml_node *map, const char *const *known, size_t count,
               struct diag_list *diags)
{
    for (uint32_t i = 0; i < map->count; i++) {
        const char *key = map->keys[i].text;
        bool found = false;
        for (size_t k = 0; k < count && !found; k++) found = !strcmp(key, known[k]);
        if (found) continue;
        const char *near = diag_nearest(key, known, count);
        char hint[128] = "";
        if (near) snprintf(hint, sizeof hint, "did you mean '%s'?", near);
        yaml_error(t, &map->keys[i], diags, near ? hint : NULL, "unknown key '%s'", key);
    }
}

const char *yaml_text(const struct yaml_tree *t, const struct yaml_node *map, const char *key,
                      const char *absent, struct diag_list *diags)
{
    const struct yaml_node *n = yaml_get(map, key);
    if (!n) return absent;
    if (n->kind == YAML_TEXT) return n->text;
    yaml_error(t, n, diags, NULL, "'%s' takes one text", key);
    return absent;
}

uint64_t yaml_count(const struct yaml_tree *t, const struct yaml_node *map, const char *key, uint64_t absent,
                    struct diag_list *diags)
{
    const struct yaml_node *n = yaml_get(map, key);
    if (!n) return absent;
    char *end = NULL;
    errno = 0;
    unsigned long long v =
        n->kind == YAML_TEXT && *n->text >= '0' && *n->text <= '9' ? strtoull(n->text, &end, 10) : 0;
    if (end && !*end && !errno) return v;
    yaml_error(t, n, diags, NULL, "'%s' takes a whole number", key);
    return absent;
}
