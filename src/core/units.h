/* units.h: what can run side by side within a step, on one thread or several.
 *
 * A *unit* is an SM, or a memory partition: a DRAM channel with its L2 slices. Units share no link: SMs and slices meet in the crossbar
 * alone, which runs by itself. What units do share they get a part of (requests, the crossbar's wake), or write down in the
 * step and do at its end, unit after unit, SMs first (effects on device memory, CTAs that end, atomics at L2). So the result does not
 * depend on how the units are shared out among threads, nor on their number: a run on one thread goes the same way.
 *
 *   step:  dispatcher | crossbar | units, all members of the crew | their ends        (| = nothing runs beside it)
 *
 * An SM that nobody can disturb has some of its next cycles in the same turn (core/ahead.c).
 *
 * Between two L2 edges a channel meets nobody but the slices of its partition, which stand still. So its edges need no step of their own:
 * they have their turn together, in order, at the next L2 edge (units_catch_up: at once). */
#ifndef HEDDLE_UNITS_H
#define HEDDLE_UNITS_H

#include "base/tick.h"
#include "mem/req.h"

struct timed_gpu;
struct units;
struct link;
struct sm;
struct dram_channel;

enum { UNITS_LINE = 128 };

/* What a unit has for itself. What every turn looks at is one line of the host's cache; it ends where the pool begins to count. */
struct unit {
    _Alignas(UNITS_LINE) tick wake; /* when the SM, or the channel, next has something to do */
    tick xbar_wake;                 /* its links tell it in place of the crossbar's own */
    union {
        struct sm *sm;
        struct dram_channel *channel;
    };
    uint8_t news; /* it has left something for the end of the step */
    struct req_pool pool;
    struct req *atomics; /* of a partition: that reached a slice in this step */
    uint32_t atomic_count, atomic_cap;
};
_Static_assert(offsetof(struct unit, pool.made) == HOST_LINE,
               "a turn of a unit looks at one line of the host's cache");

/* Units are there before components, which keep pointers into them; threads come last. False: the host has no threads. */
struct units *units_create(struct timed_gpu *g);
bool units_hire(struct units *u, uint32_t threads);
void units_destroy(struct units *u);
struct unit *units_sm(struct units *u, uint32_t sm);
struct unit *units_channel(struct units *u, uint32_t channel);
struct emu_log *const *units_logs(const struct units *u); /* by SM */
/* The components are there. Their links with the crossbar, to and from it, leave word when it has told them something; those between a slice
 * and its channel wake the other end. */
void units_join_sm(struct units *u, uint32_t sm, struct link *to, struct link *from);
void units_join_slice(struct units *u, uint32_t slice, struct link *from, struct link *to);
void units_join_channel(struct units *u, uint32_t slice, struct link *to, struct link *from);
void units_talk(struct units *u); /* SMs wake each other */

/* When something will happen by itself: SMs, partitions; any time up to the next edge for one that comes then. The channels' is an
 * edge of theirs, or TICK_NEVER. */
tick units_sm_wake(const struct timed_gpu *g);
tick units_part_wake(const struct timed_gpu *g);
tick units_dram_edge(const struct timed_gpu *g);

/* The units of this step whose wake has come (all of them with no_skip), then what they wrote down. */
void units_step(struct timed_gpu *g);
/* The crossbar has run: who has heard of it? */
void units_hear(struct timed_gpu *g);
/* The dispatcher has given an SM something to do at g->now. */
void units_tell_sm(struct timed_gpu *g, uint32_t sm);
void units_tell_all(struct timed_gpu *g); /* it has had to do with all of them */
/* What units did outside of units_step, too, and when they want to run now; nobody runs. */
void units_commit_all(struct timed_gpu *g);
/* All edges of DRAM before now have had their turn, as statistics and the dispatcher want it. */
void units_catch_up(struct timed_gpu *g);

/* Sums over all parts of the pool. */
uint32_t units_requests_live(const struct timed_gpu *g);
uint64_t units_requests_made(const struct timed_gpu *g);
struct req_owner units_owner(const struct timed_gpu *g, uint32_t place);
void units_owner_clear(struct timed_gpu *g, uint32_t place);

#endif
