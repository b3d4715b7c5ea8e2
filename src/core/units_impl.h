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

/* What is to be done in a step: written by the caller, read by all. With others it lies beside the number of the round (core/crew.h), for
 * up to 64 SMs and partitions in one line. */
struct order {
    tick now;
    tick dram_first;               /* DRAM edges before now whose turn it is begin here */
    tick sm_horizon, part_horizon; /* the edges that come next (core/wakes.h) */
    bool is_l2, is_dram;           /* now is an edge of theirs that has its turn */
    bool no_skip;
    bool has_sms, has_parts; /* there may be some whose time has come; else the masks are empty */
    uint64_t *sms,
        *parts; /* masks of those whose time has come: first_sms, first_parts, or more words than one */
    uint64_t first_sms, first_parts;
    struct sm_window window;
};
static_assert(sizeof(struct order) + sizeof(uint64_t) <= UNITS_LINE,
              "an order and the number of its round are one line");

/* What comes of the turns of one word of units, SMs or partitions. */
struct turns {
    tick xbar_wake; /* the least of theirs */
    uint64_t news;  /* mask of those that left something for the end of the step */
    struct wakes_news wakes;
};

/* Where the units of a thread write when they want their next turn. */
struct times {
    tick *sms, *parts;
};

/* A thread's share of the units. */
struct member {
    _Alignas(UNITS_LINE) const uint64_t *own_sms; /* mask */
    const uint64_t *own_parts;
    struct turns *report;   /* what it tells the caller: [word] of SMs, then of partitions */
    struct times times;     /* on lines of its own */
    _Atomic uint64_t *open; /* mask of its partitions of this step whose turn nobody has begun: on a line that
                               others seldom look at */
};

/* A slice in its partition: those of a partition begin at a line of the host's cache. Its links lower this wake, not the slice's own, which
 * is added after each tick: so who looks when a slice wakes need not touch it. */
struct slice_turn {
    tick wake;
    struct l2_slice *slice;
};

struct units {
    /* as it is made: what all read */
    struct timed_gpu *gpu;
    struct unit *sms, *parts;
    struct slice_turn *turns;       /* [part * turn_stride + slice of it] */
    uint32_t per_part, turn_stride; /* slices of a partition */
    uint32_t sm_count, part_count;  /* SMs; partitions */
    uint32_t sm_words, part_words;  /* of masks */
    uint32_t part_low;              /* requests that a partition makes in a step, at most */
    struct clock_domain dram_clock;
    struct order *order;
    struct xbar *xbar;      /* there with the first unit that is joined */
    struct times times;     /* of who is alone */
    struct member *members; /* of the crew, the caller is the first */
    uint32_t member_count;
    struct crew *crew; /* NULL: nobody else */
    struct emu_log **logs;
    /* the caller's own */
    _Alignas(UNITS_LINE) struct wakes sm_wakes, part_wakes;
    uint32_t sm_note_words, part_note_words;
    uint64_t *sm_notes, *part_notes; /* a byte each: the crossbar's links have told it something */
    uint64_t *sm_news, *part_news;   /* masks: the end of the step has to see to them */
    bool has_news;
    bool is_together;  /* the members do their own parts; else the caller does all */
    bool is_talkative; /* SMs wake each other within a cycle (a mechanism with a state that all share) */
    bool is_crowded;   /* enough SMs awake to call the others */
    tick dram_first;   /* the first DRAM edge that has not had its turn */
    uint64_t *turned;  /* mask of SMs that had a turn before crowd_end */
    tick crowd_end;
    uint64_t runs,
        stops;        /* of SMs that ran ahead while the caller was alone; of these: had to stop on the way */
    tick chosen_at;   /* the newest step in which the crew's way was chosen */
    uint32_t crowd;   /* average number of SMs awake, times CROWD_SCALE */
    struct pace pace; /* does it pay? */
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
/* An SM ran ahead while the caller was alone: did it have to stop on its way? How often they do decides whether those of a crew may. */
void units_count_run(struct units *u, bool has_stopped);
bool units_may_run_ahead(const struct units *u);
void units_choose(struct units *u);   /* alone or together, from now on */
void units_rest(struct units *u);     /* what comes next is no step */
uint32_t units_call(struct units *u); /* all members do their parts of the step; who was called (crew.h) */
void units_open(struct units *u, const struct member *m); /* its partitions can be claimed */
/* The next partition of word w for a member, as a mask of one; 0: there is none. */
uint64_t units_claim(struct units *u, const struct member *m, uint32_t w);

#endif
