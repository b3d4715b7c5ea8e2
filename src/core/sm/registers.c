/* registers.c: see registers.h. */
#include "core/sm/registers.h"

#include "base/bitset.h"

enum { LANES = 32 };

void registers_init(struct register_file *f, uint32_t registers)
{
    f->rows = registers / LANES;
    f->words = bitset_words(f->rows);
    f->owned = mem_zalloc(f->words * sizeof *f->owned);
    f->lent = mem_zalloc(f->words * sizeof *f->lent);
    f->lent_count = 0;
}

void registers_free(struct register_file *f)
{
    free(f->owned);
    free(f->lent);
}

/* Rows from `row` on that are in neither set, up to `most`. */
static uint32_t gap_length(const struct register_file *f, const uint64_t *other, uint32_t row, uint32_t most)
{
    uint32_t n = 0;
    while (n < most && row + n < f->rows && !bitset_has(f->owned, row + n) &&
           !(other && bitset_has(other, row + n)))
        n++;
    return n;
}

/* The first row of the lowest gap of `rows` rows at or above `from`; f->rows: there is none. */
static uint32_t find_gap(const struct register_file *f, const uint64_t *other, uint32_t from, uint32_t rows)
{
    for (uint32_t row = from; row <= f->rows && rows <= f->rows - row;) {
        const uint32_t length = gap_length(f, other, row, rows);
        if (length == rows) return row;
        row += length + 1;
    }
    return f->rows;
}

static void own_row(struct register_file *f, uint64_t *set, uint32_t row)
{
    bitset_add(f->owned, row);
    bitset_add(set, row);
}

/* Rows of `set` that were lent are taken back, run by run. */
static void take_back(struct register_file *f, const uint64_t *set,
                      void (*lost)(void *ctx, uint32_t first, uint32_t rows), void *ctx)
{
    for (uint32_t row = 0; f->lent_count && row < f->rows; row++) {
        const uint32_t first = row;
        for (; row < f->rows && bitset_has(set, row) && bitset_has(f->lent, row); row++) {
            bitset_del(f->lent, row);
            f->lent_count--;
        }
        if (row > first && lost) lost(ctx, first, row - first);
    }
}

void registers_own(struct register_file *f, uint32_t rows, uint64_t *set,
                   void (*lost)(void *ctx, uint32_t first, uint32_t rows), void *ctx)
{
    memset(set, 0, f->words * sizeof *set);
    uint32_t first = find_gap(f, NULL, 0, rows);
    if (first < f->rows || !rows) {
        for (uint32_t i = 0; i < rows; i++) own_row(f, set, first + i);
    } else {
        for (uint32_t row = 0; rows; row++) {
            assert(row < f->rows); /* the occupancy rule has seen to it that there are enough */
            if (bitset_has(f->owned, row)) continue;
            own_row(f, set, row);
            rows--;
        }
    }
    take_back(f, set, lost, ctx);
}

void registers_disown(struct register_file *f, const uint64_t *set)
{
    for (uint32_t i = 0; i < f->words; i++) {
        assert((f->owned[i] & set[i]) == set[i]);
        f->owned[i] &= ~set[i];
    }
}

bool registers_take(struct register_file *f, uint32_t from, uint32_t rows, uint32_t *first)
{
    const uint32_t row = rows ? find_gap(f, f->lent, from, rows) : f->rows;
    if (row == f->rows) return false;
    for (uint32_t i = 0; i < rows; i++) bitset_add(f->lent, row + i);
    f->lent_count += rows;
    *first = row;
    return true;
}

bool registers_give(struct register_file *f, uint32_t first, uint32_t rows)
{
    if (first > f->rows || rows > f->rows - first) return false;
    for (uint32_t i = 0; i < rows; i++)
        if (!bitset_has(f->lent, first + i)) return false;
    for (uint32_t i = 0; i < rows; i++) bitset_del(f->lent, first + i);
    f->lent_count -= rows;
    return true;
}

uint32_t registers_owned(const struct register_file *f) { return bitset_count(f->owned, f->words); }
