/* shadow.c: see shadow.h. */
#include "emu/shadow.h"

enum {
    /* bytes of memory that a page stands for */
    PAGE_BITS = 12,
    TABLE_BITS = 18,
    /* addresses of the host's user space */
    ADDRESS_BITS = 48,
    PAGE_BYTES = 1 << PAGE_BITS,
    WORD = 4
};

struct shadow_page {
    /* bytes of a cell: 4 or 1 */
    uint32_t unit;
    /* PAGE_BYTES / unit */
    struct shadow_cell *cells;
    /* by word; NULL: none */
    uint64_t *released;
};

void shadow_open(struct shadow *s, uint32_t cta_warps)
{
    *s = (struct shadow){.cta_warps = cta_warps};
    s->top = mem_zalloc(sizeof *s->top << (ADDRESS_BITS - PAGE_BITS - TABLE_BITS));
}

void shadow_close(struct shadow *s)
{
    for (uint32_t i = 0; i < s->pages.len; i++) {
        free(s->pages.data[i]->cells);
        free(s->pages.data[i]->released);
        free(s->pages.data[i]);
    }
    for (uint32_t i = 0; i < s->tables.len; i++) free(s->tables.data[i]);
    vec_free(&s->pages);
    vec_free(&s->tables);
    free(s->top);
    *s = (struct shadow){0};
}

static struct shadow_page **slot_of(struct shadow *s, uint64_t address)
{
    assert(address >> ADDRESS_BITS == 0);
    struct shadow_page ***table = &s->top[address >> (PAGE_BITS + TABLE_BITS)];
    if (!*table) {
        *table = mem_zalloc(sizeof **table << TABLE_BITS);
        vec_push(&s->tables, *table);
    }
    return &(*table)[address >> PAGE_BITS & ((1u << TABLE_BITS) - 1)];
}

static struct shadow_page *page_of(struct shadow *s, uint64_t address)
{
    struct shadow_page **slot = slot_of(s, address);
    if (*slot) return *slot;
    *slot = mem_zalloc(sizeof **slot);
    (*slot)->unit = WORD;
    (*slot)->cells = mem_zalloc(sizeof *(*slot)->cells * (PAGE_BYTES / WORD));
    vec_push(&s->pages, *slot);
    return *slot;
}

static void split_page(struct shadow_page *p)
{
    struct shadow_cell *bytes = mem_alloc(sizeof *bytes * PAGE_BYTES);
    for (uint32_t i = 0; i < PAGE_BYTES; i++) bytes[i] = p->cells[i / WORD];
    free(p->cells);
    p->cells = bytes;
    p->unit = 1;
}

struct shadow_cell *shadow_at(struct shadow *s, uint64_t address, uint32_t bytes, uint32_t *step)
{
    struct shadow_page *p = page_of(s, address);
    if (bytes < WORD && p->unit == WORD) split_page(p);
    *step = p->unit;
    return &p->cells[(address & (PAGE_BYTES - 1)) / p->unit];
}

uint64_t *shadow_released(struct shadow *s, uint64_t address)
{
    struct shadow_page *p = page_of(s, address);
    if (!p->released) p->released = mem_zalloc(sizeof *p->released * (PAGE_BYTES / WORD));
    return &p->released[(address & (PAGE_BYTES - 1)) / WORD];
}

void shadow_clear(struct shadow *s, uint64_t lo, uint64_t bytes)
{
    for (uint64_t at = lo, end = lo + bytes, next; at < end; at = next) {
        next = MIN((at | (PAGE_BYTES - 1)) + 1, end);
        struct shadow_page *p = *slot_of(s, at);
        if (!p) continue;
        uint64_t first = (at & (PAGE_BYTES - 1)) / p->unit;
        memset(&p->cells[first], 0, sizeof *p->cells * ((next - at + p->unit - 1) / p->unit));
    }
}

static bool same_cta(const struct shadow *s, const struct shadow_access *a, const struct shadow_access *b)
{
    return (a->warp - 1) / s->cta_warps == (b->warp - 1) / s->cta_warps;
}

static void pair_add(const struct shadow *s, struct shadow_pair *p, const struct shadow_access *a)
{
    struct shadow_access *newest = &p->of[0], *other = &p->of[1];
    bool keeps_other = newest->warp == a->warp || (newest->warp && other->warp && other->warp != a->warp &&
                                                   same_cta(s, newest, a) && !same_cta(s, other, a));
    if (!keeps_other) *other = *newest;
    *newest = *a;
}

void shadow_add(const struct shadow *s, struct shadow_cell *c, const struct shadow_access *a)
{
    if (!(a->kind & ACCESS_WRITES))
        pair_add(s, &c->reads, a);
    else if (a->kind & ACCESS_STRONG)
        pair_add(s, &c->writes, a);
    else
        *c = (struct shadow_cell){.writes = {.of = {*a}}};
}
