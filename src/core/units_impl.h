/* units_impl.h: the inside of units.h: units.c has their life and sums, units_step.c a step. */
#ifndef HEDDLE_UNITS_IMPL_H
#define HEDDLE_UNITS_IMPL_H

#include "core/crew.h"
#include "core/timed_impl.h"
#include "core/wakes.h"

enum {
    NEW_PER_SM = 16,   /* requests that an SM makes in a step, at most */
    NEW_PER_SLICE = 16 /* the same for an L2 slice */
};

/* What is to be done in a step: written by the caller, read by all. */
struct order {
    _Alignas(UNITS_LINE) tick now;
    bool is_core, is_l2;
    tick dram_first, dram_last; /* DRAM edges whose turn it is; none: first > last */
    uint64_t *sms, *parts;      /* masks of those whose time has come */
};

/* A thread's share of the units and what it tells the caller, on lines of its own. */
struct member {
    _Alignas(UNITS_LINE) uint32_t sm_from, sm_to, part_from, part_to;
    tick xbar_wake;                /* the least of its units in this step */
    bool any_sms, any_parts;       /* wrote something down */
    uint64_t *sms, *parts;         /* masks of those that did */
    tick *sm_at, *l2_at, *dram_at; /* [unit]: when they want to run again, of those that did run */
};

struct units {
    struct timed_gpu *gpu;
    uint32_t sm_count, part_count, per_part; /* SMs; partitions; slices of one */
    struct unit *sms, *parts;
    struct emu_log **logs;
    struct wakes sm_wakes, l2_wakes, dram_wakes; /* by SM; by partition, its slices and its channel */
    uint8_t *sm_notes, *part_notes;              /* the crossbar's links: has told it something */
    uint64_t *sm_early, *part_early;             /* masks: ran before their turn in this step */
    uint64_t *l2_due;                            /* a mask to work with */
    bool any_early;
    struct order order;
    struct crew *crew; /* NULL: the caller alone */
    uint32_t member_count;
    struct member *members;
    uint64_t *called;  /* mask of members with something to do */
    uint32_t crowd;    /* average number of SMs awake, times CROWD_SCALE */
    bool is_together;  /* the members do their own parts; else the caller does all */
    bool is_talkative; /* SMs wake each other within a cycle (a mechanism with a state that all share) */
    tick dram_first;   /* the first DRAM edge that has not had its turn */
};

static inline bool mask_has(const uint64_t *mask, uint32_t i) { return mask[i / 64] >> (i % 64) & 1; }
static inline void mask_add(uint64_t *mask, uint32_t i) { mask[i / 64] |= (uint64_t)1 << (i % 64); }

/* Is one of [from, to) in the mask? */
static inline bool mask_any(const uint64_t *mask, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i = (i / 64 + 1) * 64) {
        uint64_t word = mask[i / 64] >> (i % 64);
        if (to - i < 64 - i % 64) word &= ((uint64_t)1 << (to - i)) - 1;
        if (word) return true;
    }
    return false;
}

/* Each of [from, to) that is in the mask, in order. */
static inline uint32_t mask_next(const uint64_t *mask, uint32_t from, uint32_t to)
{
    while (from < to) {
        uint64_t word = mask[from / 64] >> (from % 64);
        if (word) return MIN(to, from + (uint32_t)__builtin_ctzll(word));
        from = (from / 64 + 1) * 64;
    }
    return to;
}
#define FOR_MASK(i, mask, from, to)                                                                          \
    for (uint32_t i = mask_next(mask, from, to); i < (to); i = mask_next(mask, i + 1, to))

void units_work(void *units, uint32_t member); /* a member's part of a step */

#endif
