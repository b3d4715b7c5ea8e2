/* experiment_judging.c: what a measure is held against: a threshold, the paper's classes; and the words
 * for its values. */
#include "lab/experiment_read.h"

#include <math.h>

static const char *const *read_words(struct experiment_reading *r, const struct yaml_node *n, uint32_t *count)
{
    const struct yaml_node *items;
    if (!experiment_texts(r, n, &items, count)) return NULL;
    const char **words = ARENA_ARRAY(&r->e->arena, const char *, *count + 1);
    for (uint32_t i = 0; i < *count; i++) words[i] = items[i].text;
    words[*count] = NULL;
    return words;
}

/* {class: S, from: 1.3}; the last one has no `from`. */
static bool read_class(struct experiment_reading *r, const struct yaml_node *n, bool is_last,
                       struct lab_class *c)
{
    static const char *const keys[] = {"class", "from"};
    const struct yaml_node *name = yaml_get(n, "class"), *from = yaml_get(n, "from");
    uint32_t count;
    if (n->kind != YAML_MAP || !name || is_last != !from) {
        yaml_error(&r->e->file, n, r->diags, "for example classes: [{class: S, from: 1.3}, {class: [I, C]}]",
                   is_last ? "the last class takes all that is left: it has a 'class' and no 'from'"
                           : "a class has a 'class' and a 'from'");
        return false;
    }
    experiment_only(r, n, keys, ARRAY_LEN(keys));
    c->from = -INFINITY;
    c->names = read_words(r, name, &count);
    return c->names && (is_last || experiment_number(r, from, &c->from));
}

static void read_classes(struct experiment_reading *r, struct lab_measure *m, const struct yaml_node *n)
{
    if (n->kind != YAML_LIST || n->count < 2 || !*r->e->paper) {
        yaml_error(&r->e->file, n, r->diags, "for example classes: [{class: S, from: 1.3}, {class: I}]",
                   "'classes' is a list of two or more, and the experiment has a 'paper:' that gives them");
        return;
    }
    struct lab_class *classes = ARENA_ARRAY(&r->e->arena, struct lab_class, n->count);
    for (uint32_t i = 0; i < n->count; i++) {
        if (!read_class(r, &n->items[i], i + 1 == n->count, &classes[i])) return;
        if (i && classes[i].from >= classes[i - 1].from) {
            yaml_error(&r->e->file, &n->items[i], r->diags, NULL,
                       "classes go from the largest 'from' to the smallest");
            return;
        }
    }
    m->classes = classes;
    m->class_count = n->count;
}

void experiment_read_judging(struct experiment_reading *r, struct lab_measure *m, const struct yaml_node *n)
{
    const struct yaml_node *threshold = yaml_get(n, "threshold"), *classes = yaml_get(n, "classes"),
                           *words = yaml_get(n, "words");
    if (threshold) experiment_number(r, threshold, &m->threshold);
    if (classes) read_classes(r, m, classes);
    if (words) m->words = read_words(r, words, &m->word_count);
    if (threshold && classes)
        yaml_error(&r->e->file, threshold, r->diags, NULL,
                   "a measure has a 'threshold' or 'classes': each says how it agrees with the paper");
}
