/* params_values.c: each number at its least and its greatest value, each name and flag at all of theirs. */
#include "property/params_values.h"

#include "core/machine.h"

#include <stdio.h>

static const char *const hiding[] = {
    "ideal.memory=dram",  "ideal.memory=infinite",  "ideal.memory=perfect",      "l1.perfect=true",
    "l2.perfect=true",    "l1.cache_global=false",  "l2.infinite=true",          "xbar.infinite=true",
    "dram.infinite=true", "sm.perfect_icache=true", "sm.operand_collector=false"};
static const char *const large[] = {"sm.count=1024", "addr.channels=1024", "l1.size=1073741824",
                                    "clock.core=1"};

static bool is_one_of(const char *const *list, size_t count, const char *text)
{
    while (count && strcmp(list[count - 1], text) != 0) count--;
    return count > 0;
}

static void add_value(struct values *v, const struct param_row *row, const char *text)
{
    struct value new = {.param = v->params};
    snprintf(new.text, sizeof new.text, "%s=%s", row->name, text);
    new.hides = is_one_of(hiding, ARRAY_LEN(hiding), new.text);
    new.is_large = is_one_of(large, ARRAY_LEN(large), new.text);
    vec_push(&v->list, new);
}

static void add_bound(struct values *v, const struct param_row *row, uint64_t bound)
{
    char text[32];
    if (row->type == PARAM_FRACTION)
        snprintf(text, sizeof text, "%llu.%03llu", (unsigned long long)bound / 1000,
                 (unsigned long long)bound % 1000);
    else
        snprintf(text, sizeof text, "%llu", (unsigned long long)bound);
    add_value(v, row, text);
}

/* Texts have no bounds: some that mean something. */
static void add_texts(struct values *v, const struct param_row *row)
{
    static const char *const known[][2] = {
        {"addr.map", "dramid@5;RCS"},     {"addr.map", "dramid@32;RRRRRRRR.BBBBBBCC.CCCSSSSS"},
        {"sm.scheduler", "lrr"},          {"sm.scheduler", "two-level"},
        {"sm.shared_sizes", "0,8,16,32"}, {"sm.shared_sizes", "48"}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(known[i][0], row->name) == 0) add_value(v, row, known[i][1]);
}

static void add_values(struct values *v, const struct param_row *row)
{
    switch (row->type) {
    case PARAM_FLAG:
        add_value(v, row, "false");
        add_value(v, row, "true");
        break;
    case PARAM_CHOICE:
        for (const char *const *c = row->choices; *c; c++) add_value(v, row, *c);
        break;
    case PARAM_STRING: add_texts(v, row); break;
    case PARAM_PATH: break;
    default:
        add_bound(v, row, row->min);
        add_bound(v, row, row->max);
        break;
    }
    v->params++;
}

void values_find(struct values *v)
{
    *v = (struct values){0};
    for (const struct param_group *g = machine_groups; g->rows; g++)
        for (const struct param_row *row = g->rows; row->name; row++) add_values(v, row);
    size_t left = ARRAY_LEN(hiding) + ARRAY_LEN(large); /* every name of these lists is a value */
    for (size_t i = 0; i < v->list.len; i++) left -= v->list.data[i].hides + v->list.data[i].is_large;
    assert(left == 0);
}
