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
    bool is_l2;
    tick dram_first, dram_last; /* DRAM edges whose turn it is; none: first > last */
    uint64_t *sms, *parts;      /* masks of those whose time has come */
};

/* A thread's share of the units and what it tells the caller, on lines of its own. */
struct member {
    _Alignas(UNITS_LINE) uint64_t *own_sms, *own_parts; /* masks */
    tick xbar_wake;                                     /* the least of its units in this step */
    bool any_sms, any_parts;                            /* wrote something down */
    uint64_t *sms, *parts;                              /* masks of those that did */
    tick *sm_at, *l2_at, *dram_at; /* [unit]: when they want to run again, of those that did run */
};

struct units {
    struct timed_gpu *gpu;
    uint32_t sm_count, part_count, per_part;     /* SMs; partitions; slices of one */
    uint32_t sm_words, part_words, member_words; /* of masks */
    struct unit *sms, *parts;
    struct emu_log **logs;
    struct wakes sm_wakes, l2_wakes, dram_wakes; /* by SM; by partition, its slices and its channel */
    uint8_t *sm_notes, *part_notes;              /* the crossbar's links: has told it something */
    uint64_t *sm_early, *part_early;             /* masks: ran before their turn in this step */
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

static inline void mask_add(uint64_t *mask, uint32_t i) { mask[i / 64] |= (uint64_t)1 << (i % 64); }

/* Each that is in two masks of so many words, in order. */
#define FOR_BOTH(i, a, b, words)                                                                             \
    for (uint32_t w_ = 0; w_ < (words); w_++)                                                                \
        for (uint64_t m_ = (a)[w_] & (b)[w_], i; m_ && (i = w_ * 64 + (uint32_t)__builtin_ctzll(m_), true);  \
             m_ &= m_ - 1)
#define FOR_MASK(i, a, words) FOR_BOTH(i, a, a, words)

static inline bool mask_meets(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (a[w] & b[w]) return true;
    return false;
}
static inline void mask_clear(uint64_t *mask, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++) mask[w] = 0;
}

void units_work(void *units, uint32_t member); /* a member's part of a step */

#endif
