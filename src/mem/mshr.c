/* mshr.c: miss-status holding registers: which lines are on their way. In hardware a small fully associative
 * array (Kroft, ISCA'81); here a hash table of entries with linear probing, at most a quarter full, so that a
 * file of 4096 registers for a limit study costs no more. */
#include "mem/mshr.h"

#include "base/hash.h"
#include "base/hugepage.h"

void mshr_init(struct mshr *m, uint32_t entries, uint32_t merge_max)
{
    assert(entries >= 1 && entries <= 1u << 24 && merge_max >= 1);
    uint32_t slots = 2;
    while (slots < 4 * entries) slots *= 2;
    *m = (struct mshr){.entries = mem_zalloc_huge(sizeof(struct mshr_entry) * entries),
                       .count = entries,
                       .merge_max = merge_max,
                       .slots = mem_zalloc_huge(sizeof(uint32_t) * slots),
                       .slot_mask = slots - 1,
                       .slot_shift = 64 - (uint32_t)__builtin_ctz(slots),
                       .free = mem_zalloc_huge(sizeof(uint32_t) * entries)};
    mshr_clear(m);
}

void mshr_free(struct mshr *m)
{
    mem_free_huge(m->entries);
    mem_free_huge(m->slots);
    mem_free_huge(m->free);
    *m = (struct mshr){0};
}

void mshr_clear(struct mshr *m)
{
    memset(m->entries, 0, sizeof(struct mshr_entry) * m->count);
    for (uint32_t i = 0; i <= m->slot_mask; i++) m->slots[i] = MSHR_NONE;
    for (uint32_t i = 0; i < m->count; i++) m->free[i] = m->count - 1 - i; /* lowest entry on top */
    m->used = 0;
}

static uint32_t mshr_home(const struct mshr *m, uint64_t addr) { return hash_index(addr, m->slot_shift); }

/* The slot that holds addr, or the empty one where it would go. */
static uint32_t mshr_slot(const struct mshr *m, uint64_t addr)
{
    uint32_t s = mshr_home(m, addr);
    while (m->slots[s] != MSHR_NONE && m->entries[m->slots[s]].addr != addr) s = (s + 1) & m->slot_mask;
    return s;
}

uint32_t mshr_find(const struct mshr *m, uint64_t addr)
{
    return m->used ? m->slots[mshr_slot(m, addr)] : MSHR_NONE;
}

void mshr_list(struct mshr *m, uint32_t entry)
{
    uint32_t slot = mshr_slot(m, m->entries[entry].addr);
    assert(m->slots[slot] == MSHR_NONE && !m->entries[entry].is_listed);
    m->slots[slot] = entry;
    m->entries[entry].is_listed = true;
}

uint32_t mshr_take(struct mshr *m, uint64_t addr, uint32_t sectors)
{
    uint32_t entry = mshr_take_unlisted(m, addr, sectors);
    mshr_list(m, entry);
    return entry;
}

/* Empties a slot and moves up what was pushed past it, so that a search still finds an empty slot only at the
 * end of its run. */
static void mshr_empty_slot(struct mshr *m, uint32_t hole)
{
    uint32_t s = hole;
    for (;;) {
        s = (s + 1) & m->slot_mask;
        if (m->slots[s] == MSHR_NONE) break;
        uint32_t home = mshr_home(m, m->entries[m->slots[s]].addr);
        if (((s - home) & m->slot_mask) >= ((s - hole) & m->slot_mask)) {
            m->slots[hole] = m->slots[s];
            hole = s;
        }
    }
    m->slots[hole] = MSHR_NONE;
}

void mshr_unlist(struct mshr *m, uint32_t entry)
{
    mshr_empty_slot(m, mshr_slot(m, m->entries[entry].addr));
    m->entries[entry].is_listed = false;
}
