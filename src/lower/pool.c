/* pool.c: rows by content, through two open-addressed tables that are larger than any pool. */
#include "lower/pool.h"

#include "base/hash.h"

enum { POOL_SLOTS = 4 * (ISA_POOL_MAX + 1) };

static bool same(const struct isa_const *a, const struct isa_const *b)
{
    return a->kind == b->kind && a->value == b->value && a->addend == b->addend;
}

static uint64_t hash_row(const struct isa_const *c)
{
    return hash_mix(hash_mix((uint64_t)c->kind << 32 | c->value) ^ (uint64_t)c->addend);
}

void pool_open(struct pool *p)
{
    *p = (struct pool){.slot_count = POOL_SLOTS};
    p->slots = mem_zalloc(sizeof *p->slots * POOL_SLOTS);
    p->pair_slots = mem_zalloc(sizeof *p->pair_slots * POOL_SLOTS);
    pool_word(p, (struct isa_const){.kind = ISA_CONST_IMM});
}

void pool_close(struct pool *p)
{
    vec_free(&p->rows);
    free(p->slots);
    free(p->pair_slots);
}

/* Past its limit the pool hands out row 0; the caller sees rows.len and refuses the kernel. */
static bool is_full(const struct pool *p) { return p->rows.len > ISA_POOL_MAX; }

static void note_row(struct pool *p, uint32_t row)
{
    uint64_t h = hash_row(&p->rows.data[row]) % p->slot_count;
    for (; p->slots[h]; h = (h + 1) % p->slot_count)
        if (same(&p->rows.data[p->slots[h] - 1], &p->rows.data[row])) return;
    p->slots[h] = row + 1;
}

uint32_t pool_word(struct pool *p, struct isa_const c)
{
    uint64_t h = hash_row(&c) % p->slot_count;
    for (; p->slots[h]; h = (h + 1) % p->slot_count)
        if (same(&p->rows.data[p->slots[h] - 1], &c)) return p->slots[h] - 1;
    if (is_full(p)) return 0;
    vec_push(&p->rows, c);
    p->slots[h] = p->rows.len;
    return p->rows.len - 1;
}

uint32_t pool_pair(struct pool *p, struct isa_const low, struct isa_const high)
{
    uint64_t h = hash_mix(hash_row(&low) * 3 + hash_row(&high)) % p->slot_count;
    for (; p->pair_slots[h]; h = (h + 1) % p->slot_count) {
        uint32_t row = p->pair_slots[h] - 1;
        if (same(&p->rows.data[row], &low) && same(&p->rows.data[row + 1], &high)) return row;
    }
    if (is_full(p)) return 0;
    uint32_t row = p->rows.len;
    assert(row);                                      /* pool_open made row 0 */
    bool extend = same(&p->rows.data[row - 1], &low); /* the last row may already be the low word */
    if (extend)
        row--;
    else
        vec_push(&p->rows, low);
    vec_push(&p->rows, high);
    p->pair_slots[h] = row + 1;
    note_row(p, row);
    note_row(p, row + 1);
    return row;
}
