/* registers.c: see registers.h. */
#include "core/sm/registers.h"

#include "base/bitset.h"

enum { LANES = 32 };

void registers_init(struct register_file *f, uint32_t registers)
{
    *f = (struct register_file){.rows = registers / LANES};
    f->words = bitset_words(f->rows);
    f->owned = mem_zalloc(f->words * sizeof *f->owned);
    f->kept = mem_zalloc(f->words * sizeof *f->kept);
    f->lent = mem_zalloc(f->words * sizeof *f->lent);
}

void registers_free(struct register_file *f)
{
    free(f->owned);
    free(f->kept);
    free(f->lent);
}

/* ---- gaps ---- */

/* The first row at or above `row` that is taken (it holds registers or is in `other`) or, with is_taken
 * false, that is not; f->rows: there is none. */
static uint32_t next_row(const struct register_file *f, const uint64_t *other, uint32_t row, bool is_taken)
{
    const uint64_t flip = is_taken ? 0 : UINT64_MAX;
    uint64_t from = UINT64_MAX << row % 64;
    for (uint32_t i = row / 64; i < f->words; i++, from = UINT64_MAX) {
        const uint64_t found = ((f->owned[i] | f->kept[i] | (other ? other[i] : 0)) ^ flip) & from;
        if (found) return MIN(64 * i + (uint32_t)__builtin_ctzll(found), f->rows);
    }
    return f->rows;
}

/* The first row of the lowest gap of at least `rows` rows between `from` and `below`; `below`: there is
 * none. */
static uint32_t find_gap(const struct register_file *f, const uint64_t *other, uint32_t from, uint32_t below,
                         uint32_t rows)
{
    for (uint32_t row = from; row < below;) {
        const uint32_t first = next_row(f, other, row, false);
        const uint32_t end = MIN(next_row(f, other, first, true), below);
        if (first < below && end - first >= rows) return first;
        row = end;
    }
    return below;
}

static bool holds_registers(const struct register_file *f, uint32_t row)
{
    return bitset_has(f->owned, row) || bitset_has(f->kept, row);
}

uint32_t registers_room(const struct register_file *f, uint32_t below)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i * 64 < below; i++) {
        const uint64_t rows = below - i * 64 < 64 ? (1ull << below % 64) - 1 : UINT64_MAX;
        room += (uint32_t)__builtin_popcountll(~(f->owned[i] | f->kept[i]) & rows);
    }
    return room;
}

/* ---- rows for registers ---- */

static void own_row(struct register_file *f, uint64_t *set, uint32_t row)
{
    bitset_add(f->owned, row);
    bitset_add(set, row);
}

static void take_back_row(struct register_file *f, uint32_t row)
{
    bitset_del(f->lent, row);
    f->lent_count--;
}

/* Takes back the rows of `set` that were lent, and calls `lost` for each run of them. */
static void take_back(struct register_file *f, const uint64_t *set, registers_lost_fn *lost, void *ctx)
{
    for (uint32_t row = 0; f->lent_count && row < f->rows; row++) {
        const uint32_t first = row;
        for (; row < f->rows && bitset_has(set, row) && bitset_has(f->lent, row); row++)
            take_back_row(f, row);
        if (row > first && lost) lost(ctx, first, row - first);
    }
}

void registers_own(struct register_file *f, uint32_t below, uint32_t rows, uint64_t *set,
                   registers_lost_fn *lost, void *ctx)
{
    memset(set, 0, f->words * sizeof *set);
    const uint32_t first = find_gap(f, NULL, 0, below, rows);
    if (first < below || !rows) {
        for (uint32_t i = 0; i < rows; i++) own_row(f, set, first + i);
    } else {
        for (uint32_t row = 0; rows; row++) {
            assert(row < below); /* the occupancy rule has checked that there are enough */
            if (holds_registers(f, row)) continue;
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

bool registers_keep(struct register_file *f, uint32_t row, registers_lost_fn *lost, void *ctx)
{
    if (holds_registers(f, row)) return false;
    bitset_add(f->kept, row);
    f->kept_count++;
    if (!bitset_has(f->lent, row)) return true;
    take_back_row(f, row);
    if (lost) lost(ctx, row, 1);
    return true;
}

bool registers_release(struct register_file *f, uint32_t row)
{
    if (!bitset_has(f->kept, row)) return false;
    bitset_del(f->kept, row);
    f->kept_count--;
    return true;
}

/* ---- rows for anything else ---- */

bool registers_take(struct register_file *f, uint32_t from, uint32_t rows, uint32_t *first)
{
    const uint32_t row = rows ? find_gap(f, f->lent, from, f->rows, rows) : f->rows;
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

bool registers_is_lent(const struct register_file *f, uint32_t row) { return bitset_has(f->lent, row); }

bool registers_have_one_owner(const struct register_file *f)
{
    for (uint32_t i = 0; i < f->words; i++)
        if ((f->owned[i] & f->kept[i]) | (f->owned[i] & f->lent[i]) | (f->kept[i] & f->lent[i])) return false;
    return true;
}
