/* load_monitor.c: see load_monitor.h. */
#include "mech/load_monitor.h"

#include <string.h>

void lm_begin(struct load_monitor *m) { memset(m, 0, sizeof *m); }

uint32_t lm_hash(uint32_t pc)
{
    uint32_t hash = 0;
    for (uint32_t address = pc * LM_INST_BYTES; address; address >>= LM_INDEX_BITS)
        hash ^= address & (LM_ENTRIES - 1);
    return hash;
}

void lm_count(struct load_monitor *m, uint32_t pc, bool is_hit)
{
    const uint32_t i = lm_hash(pc);
    *(is_hit ? &m->entries[i].hits : &m->entries[i].misses) += 1;
}

static uint32_t lm_hot(const struct load_monitor *m, uint32_t threshold)
{
    uint32_t hot = 0;
    for (uint32_t i = 0; i < LM_ENTRIES; i++) {
        const uint64_t hits = m->entries[i].hits, all = hits + m->entries[i].misses;
        if (hits * 100 > all * threshold) hot |= 1u << i;
    }
    return hot;
}

enum lm_verdict lm_end_window(struct load_monitor *m, uint32_t threshold, enum lm_agree agree)
{
    m->hot_before = m->hot;
    m->hot = lm_hot(m, threshold);
    memset(m->entries, 0, sizeof m->entries);
    if (++m->windows < 2) return LM_GOES_ON;
    if (!m->hot && !m->hot_before) return LM_NONE;
    if (agree == LM_AGREE_SET && m->hot != m->hot_before) return LM_GOES_ON;
    m->chosen = m->hot & m->hot_before;
    return m->chosen ? LM_CHOSEN : LM_GOES_ON;
}
