/* mshr.h: miss-status holding registers: which lines are on their way, and who waits for them.
 *
 * An entry stands for one line, with the requests that wait for it as a chain of ids. The chain's next-fields
 * are the owner's: it keeps head, tail and merged (requests in the chain, the first one included) itself.
 * Entries are found by hashing, so that a file of any size costs the same; an entry whose line in the tags
 * names it need not be listed there. */
#ifndef HEDDLE_MSHR_H
#define HEDDLE_MSHR_H

#include "base/tick.h"

#define MSHR_NONE UINT32_MAX

/* One cache line of the host, with what its owner knows of the miss. */
struct mshr_entry {
    _Alignas(HOST_LINE) uint64_t addr;
    /* sectors that are still to come */
    uint32_t sectors;
    uint32_t head, tail, merged;
    bool used;
    /* mshr_find finds it */
    bool is_listed;
    /* ---- the owner's: the L1 alone keeps them ---- */

    /* the line may stay when it comes */
    bool may_keep;
    /* no load has asked for it yet */
    bool is_prefetch;
    /* a store has written to the line meanwhile: the fill must not stay */
    bool doomed;
    uint16_t warp;
    uint32_t pc;
    /* reserved for it, or CACHE_NO_LINE */
    uint32_t line;
    tick born;
    /* PC and warp of the newest load that waits for it */
    uint32_t last_pc;
    uint16_t last_warp;
    /* launch number of the first load's warp */
    uint32_t launch;
};
_Static_assert(sizeof(struct mshr_entry) == HOST_LINE, "an entry is one cache line of the host");

struct mshr {
    struct mshr_entry *entries;
    uint32_t count, merge_max, used;
    /* statistic: the most in use at once */
    uint32_t used_max;
    /* open addressing: entry or MSHR_NONE */
    uint32_t *slots, slot_mask;
    /* 64 - log2 of the slots */
    uint32_t slot_shift;
    /* stack of free entries: free[0 .. count-used-1] */
    uint32_t *free;
};

void mshr_init(struct mshr *m, uint32_t entries, uint32_t merge_max);
void mshr_free(struct mshr *m);
void mshr_clear(struct mshr *m);
/* A listed entry, or MSHR_NONE. */
uint32_t mshr_find(const struct mshr *m, uint64_t addr);
/* An entry that is not listed is listed from now on. */
void mshr_list(struct mshr *m, uint32_t entry);
/* A listed entry leaves the list. */
void mshr_unlist(struct mshr *m, uint32_t entry);
/* mshr_take_unlisted, and mshr_list. */
uint32_t mshr_take(struct mshr *m, uint64_t addr, uint32_t sectors);

static inline bool mshr_can_merge(const struct mshr *m, uint32_t entry)
{
    return m->entries[entry].merged < m->merge_max;
}

static inline bool mshr_has_room(const struct mshr *m) { return m->used < m->count; }

/* The entry that the next mshr_take_unlisted gives. Only with room. */
static inline uint32_t mshr_next(const struct mshr *m) { return m->free[m->count - m->used - 1]; }

/* A new entry with an empty chain (merged 0, head and tail MSHR_NONE), not listed. Only with room, and when
 * no entry of this address is in use. */
static inline uint32_t mshr_take_unlisted(struct mshr *m, uint64_t addr, uint32_t sectors)
{
    debug_assert(mshr_has_room(m));
    uint32_t entry = m->free[m->count - ++m->used];
    m->used_max = MAX(m->used_max, m->used);
    m->entries[entry] = (struct mshr_entry){
        .addr = addr, .sectors = sectors, .head = MSHR_NONE, .tail = MSHR_NONE, .used = true};
    return entry;
}

static inline void mshr_release(struct mshr *m, uint32_t entry)
{
    debug_assert(m->entries[entry].used);
    if (m->entries[entry].is_listed) mshr_unlist(m, entry);
    m->entries[entry].used = false;
    m->free[m->count - m->used--] = entry;
}

#endif
