/* uop_table.c: see uop_table.h. Few grids are on a machine at once, so a list of them is enough. */
#include "core/sm/uop_table.h"

struct uop_table {
    uint64_t grid;
    struct uop *uops;
    /* SMs that have taken and not dropped it */
    uint32_t users;
};

struct uop_tables {
    const struct sm_params *params;
    struct uop_table *list;
    uint32_t count;
};

struct uop_tables *uop_tables_create(const struct sm_params *p)
{
    struct uop_tables *t = mem_zalloc(sizeof *t);
    t->params = p;
    return t;
}

void uop_tables_destroy(struct uop_tables *t)
{
    if (!t) return;
    assert(!t->count);
    free(t->list);
    free(t);
}

static struct uop_table *add(struct uop_tables *t, uint64_t grid, const struct isa_kernel *k)
{
    t->list = mem_realloc(t->list, (t->count + 1) * sizeof *t->list);
    struct uop_table *table = &t->list[t->count++];
    *table = (struct uop_table){.grid = grid, .uops = mem_zalloc_lines(k->inst_count * sizeof *table->uops)};
    for (uint32_t pc = 0; pc < k->inst_count; pc++) uop_decode(t->params, &k->insts[pc], &table->uops[pc]);
    return table;
}

const struct uop *uop_table_take(struct uop_tables *t, uint64_t grid, const struct isa_kernel *k)
{
    struct uop_table *table = NULL;
    for (uint32_t i = 0; i < t->count && !table; i++)
        if (t->list[i].grid == grid) table = &t->list[i];
    if (!table) table = add(t, grid, k);
    table->users++;
    return table->uops;
}

void uop_table_drop(struct uop_tables *t, const struct uop *uops)
{
    uint32_t i = 0;
    while (t->list[i].uops != uops) i++;
    if (--t->list[i].users) return;
    free(t->list[i].uops);
    t->list[i] = t->list[--t->count];
}
