/* units_impl.h: the inside of units.h: units.c has their life and sums, units_step.c a step, units_crew.c its threads. */
#ifndef HEDDLE_UNITS_IMPL_H
#define HEDDLE_UNITS_IMPL_H

#include "core/crew.h"
#include "core/pace.h"
#include "core/timed_impl.h"
#include "core/wakes.h"

#include <stdatomic.h>

enum {
    NEW_PER_SM = SM_REQUESTS_MAX,
    NEW_PER_SLICE = 16 /* the same for an L2 slice */
};

/* What is to be done in a step: written by the caller, read by all. */
struct order {
    _Alignas(UNITS_LINE) tick now;
    tick dram_first;       /* DRAM edges before now whose turn it is begin here */
    bool is_l2, is_dram;   /* now is an edge of theirs that has its turn */
    uint64_t *sms, *parts; /* masks of those whose time has come */
    struct sm_window window;
};

/* What comes of the turns of one word of units, SMs or partitions. */
struct turns {
    struct wakes_news wakes;
    uint64_t news;  /* mask of those that left something for the end of the step */
    tick xbar_wake; /* the least of theirs */
};

/* A thread's share of the units and what it tells the caller, on lines of its own. */
struct member {
    _Alignas(UNITS_LINE) const uint64_t *own_sms; /* mask */
    const uint64_t *own_parts;
    struct turns *turns; /* [word]: of SMs, then of partitions */
};

/* A slice in its partition: those of a partition begin at a line of the host's cache. Its links lower this wake, not the slice's own, which
 * is added after each tick: so who looks when a slice wakes need not touch it. */
struct slice_turn {
    tick wake;
    struct l2_slice *slice;
};

struct units {
    struct timed_gpu *gpu;
    struct unit *sms, *parts;
    struct slice_turn *turns;                    /* [part * turn_stride + slice of it] */
    uint32_t per_part, turn_stride;              /* slices of a partition */
    uint32_t sm_count, part_count;               /* SMs; partitions */
    uint32_t sm_words, part_words, member_words; /* of masks */
    uint32_t sm_note_words, part_note_words;
    uint64_t *sm_notes, *part_notes; /* a byte each: the crossbar's links have told it something */
    struct wakes sm_wakes, part_wakes;
    uint64_t *sm_news, *part_news; /* masks: the end of the step has to see to them */
    bool has_news;
    bool is_together;     /* the members do their own parts; else the caller does all */
    bool is_talkative;    /* SMs wake each other within a cycle (a mechanism with a state that all share) */
    tick dram_first;      /* the first DRAM edge that has not had its turn */
    tick window_end;      /* of the window that SMs are in */
    struct member *alone; /* the caller, who does all */
    struct crew *crew;    /* NULL: nobody else */
    struct order order;
    uint32_t member_count;
    struct member *members; /* of the crew, the caller is the first */
    uint64_t *called;       /* mask of members with something to do */
    uint32_t crowd;         /* average number of SMs awake, times CROWD_SCALE */
    bool is_crowded;        /* enough of them to call the others */
    struct pace pace;       /* does it pay? */
    _Atomic uint64_t *open; /* mask of partitions whose turn nobody has begun */
    struct emu_log **logs;
};

static inline struct slice_turn *slice_turn_of(const struct units *u, uint32_t slice)
{
    return &u->turns[slice / u->per_part * u->turn_stride + slice % u->per_part];
}

static inline void mask_add(uint64_t *mask, uint32_t i) { mask[i / 64] |= (uint64_t)1 << (i % 64); }

/* Each that is in two masks of so many words, in order. */
#define FOR_BOTH(i, a, b, words)                                                                             \
    for (uint32_t w_ = 0; w_ < (words); w_++)                                                                \
        for (uint64_t m_ = (a)[w_] & (b)[w_], i; m_ && (i = w_ * 64 + (uint32_t)__builtin_ctzll(m_), true);  \
             m_ &= m_ - 1)
#define FOR_MASK(i, a, words) FOR_BOTH(i, a, a, words)

/* Each of `words` words of eight notes that has one; it is torn off. A note is a byte, 0 or 1. */
#define FOR_NOTES(i, notes, words)                                                                           \
    for (uint64_t w_ = 0, m_, i; w_ < (words); w_++)                                                         \
        for (m_ = (notes)[w_], (notes)[w_] = 0;                                                              \
             m_ && (i = 8 * w_ + (uint32_t)__builtin_ctzll(m_) / 8, true); m_ &= m_ - 1)

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

/* units_crew.c */
void units_choose(struct units *u); /* alone or together, from now on */
void units_rest(struct units *u);   /* what comes next is no step */
void units_call(struct units *u);   /* all members do their parts of the step */
/* The next partition of word w for a member, as a mask of one; 0: there is none. */
uint64_t units_claim(struct units *u, const struct member *m, uint32_t w);

#endif
