/* units_impl.h: the internals of units.h, for units.c (creation and sums), units_step.c (a step) and
 * units_crew.c (threads). */
#ifndef HEDDLE_UNITS_IMPL_H
#define HEDDLE_UNITS_IMPL_H

#include "core/ahead_window.h"
#include "core/crew.h"
#include "core/mech/mech_guard.h"
#include "core/pace.h"
#include "core/sharers.h"
#include "core/sm/sm.h"
#include "core/units.h"
#include "core/wakes.h"
#include "mem/dram.h"
#include "mem/l2.h"
#include "mem/smring.h"
#include "mem/xbar.h"

#include <stdatomic.h>

/* The most requests that a slice can make in one step. */
enum { NEW_PER_SLICE = 16 };
/* A DRAM clock whose period is longer than this many L2 cycles is slow. */
enum { SLOW_DRAM = 4 };

/* The work of a step: written by the caller, read by all workers. With a crew it lies beside the number of
 * the round (crew.h); for up to 64 SMs and 64 partitions both together are one host line. */
struct order {
    tick now;
    /* the edges that come next (wakes.h) */
    tick sm_horizon, partition_horizon;
    /* now is an edge of this domain, and the domain runs */
    bool is_l2, is_dram;
    bool no_skip;
    /* false: the mask is empty */
    bool has_sms, has_partitions;
    /* masks of units that have a turn: they point to the first_ fields, or to a longer array elsewhere */
    uint64_t *sms, *partitions;
    uint64_t first_sms, first_partitions;
    struct sm_window window;
};
static_assert(sizeof(struct order) + sizeof(uint64_t) <= UNITS_LINE,
              "an order and the number of its round are one line");

/* The results of the turns of one word of units (up to 64 SMs, or partitions). */
struct turns {
    /* the earliest wake that one of them asks of the crossbar */
    tick xbar_wake;
    /* mask of units that keep effects for the end of the step */
    uint64_t pending;
    struct wakes_next next;
};

/* Arrays into which a thread writes the times at which units want their next turns. */
struct times {
    tick *sms, *partitions;
};

/* A thread of the crew and its units. */
struct worker {
    /* masks of the units that belong to it */
    _Alignas(UNITS_LINE) const uint64_t *own_sms;
    const uint64_t *own_partitions;
    /* its report: [word] of SMs, then of partitions */
    struct turns *report;
    /* on lines that no other thread writes */
    struct times times;
    /* mask of its partitions that have a turn in this step and were not started, on a host line of its own */
    _Atomic uint64_t *unbegun;
};

/* A slice in its partition; the slices of a partition begin at a cache line. Links lower this wake; the
 * slice's own wake is added after each tick. So the slice itself is not touched to find out when it wakes. */
struct slice_turn {
    tick wake;
    struct l2_slice *slice;
};

struct units {
    /* constant while the machine runs; read by all threads */
    const struct gpu_time *time;
    struct req_pool *pool;
    struct unit *sms, *partitions;
    /* [partition * turn_stride + slice within the partition] */
    struct slice_turn *turns;
    /* slices of a partition, and how many entries of turns a partition takes */
    uint32_t slices_each, turn_stride;
    uint32_t sm_count, partition_count;
    /* words of masks */
    uint32_t sm_words, partition_words;
    /* the most requests that an SM, and a partition, can make in a step */
    uint32_t sm_low, partition_low;
    /* SMs never run ahead */
    bool no_ahead;
    /* edges of DRAM are rare compared with those of the L2 */
    bool is_dram_slow;
    tick core_period;
    struct order *order;
    struct xbar *xbar;
    struct smring *ring;
    struct sharers *sharers;
    /* for steps that the caller does alone */
    struct times times;
    /* workers[0] is the caller */
    struct worker *workers;
    uint32_t worker_count;
    /* NULL: one thread */
    struct crew *crew;
    struct emu_log **logs;
    bool threads_always;
    /* a mechanism has failed in a worker's share; the reason of the first failure */
    atomic_bool has_failed;
    struct mech_failure failure;
    /* used by the caller alone */
    _Alignas(UNITS_LINE) struct wakes sm_wakes, partition_wakes;
    uint32_t sm_note_words, partition_note_words;
    /* one byte for each unit, set by the crossbar's links when they have changed */
    uint64_t *sm_notes, *partition_notes;
    /* masks of units to commit at the end of the step */
    uint64_t *sm_pending, *partition_pending;
    /* mask of SMs that see a message of the ring in this step and have to read it */
    uint64_t *seeing;
    /* the newest time at which an SM had its cycle before the step */
    tick ran_early;
    bool has_pending;
    bool has_fault;
    /* all workers share the current step; false: the caller does all of it */
    bool is_together;
    bool is_coupled;
    /* enough SMs are awake to share their work */
    bool is_crowded;
    /* mask of SMs that have had a turn in the current stretch of cycles, which ends at crowd_end */
    uint64_t *turned;
    tick crowd_end;
    struct ahead_record ahead;
    /* the last step for which units_choose was called */
    tick chosen_at;
    /* average number of SMs awake, times CROWD_SCALE */
    uint32_t crowd;
    struct pace pace;
};

static inline struct slice_turn *slice_turn_of(const struct units *u, uint32_t slice)
{
    return &u->turns[slice / u->slices_each * u->turn_stride + slice % u->slices_each];
}

static inline void mask_add(uint64_t *mask, uint32_t i) { mask[i / 64] |= (uint64_t)1 << (i % 64); }

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

/* Each unit i of a mask, in order. */
#define FOR_MASK(i, mask, words)                                                                             \
    for (uint32_t w_ = 0; w_ < (words); w_++)                                                                \
        for (uint64_t m_ = (mask)[w_], i; m_ && (i = w_ * 64 + (uint32_t)__builtin_ctzll(m_), true);         \
             m_ &= m_ - 1)

/* ---- units_step.c ---- */

/* Does a worker's share of a step. */
void units_work(struct units *u, uint32_t worker);

/* ---- units_ring.c ---- */

/* Gives a turn to SMs that see a message of the ring, whatever their wake; called before wakes_due_all. */
void units_order_ring(struct units *u, struct order *o);

/* ---- units_crew.c ---- */

/* Decides whether this step is done alone or together. */
void units_choose(struct units *u);
/* Stops measuring the host's time until the next step. */
void units_rest(struct units *u);
/* units_work for the crew (crew.h): a failure of a mechanism in it does not leave the round. */
void units_work_guarded(void *units, uint32_t worker);
/* All workers that have units in the order do their share; returns the mask of these workers (crew.h). The
 * failure of a mechanism leaves the step (mech_guard.h). */
uint32_t units_work_together(struct units *u);
/* Begins a worker's share: its partitions can be claimed. */
void units_offer(struct units *u, const struct worker *worker);
/* Returns the next partition of word w for this worker, as a mask of one bit; 0: none is left. */
uint64_t units_claim(struct units *u, const struct worker *worker, uint32_t w);

#endif
