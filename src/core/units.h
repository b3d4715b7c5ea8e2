/* units.h: the components that run side by side within a step, on one thread or several.
 *
 * A *unit* is an SM, or a memory partition: a DRAM channel with its L2 slices. Units share no link: SMs and
 * slices meet only in the crossbar, which runs when no unit does. Each unit has its own share of what all
 * units use (memory requests, the wake of the crossbar). What it does to others (effects on device memory,
 * CTAs that end, atomics at the L2) it keeps until the end of the step, when it is committed unit after unit,
 * SMs first. So the result depends neither on the number of threads nor on how units are divided among them:
 * a run on one thread works in the same way.
 *
 *   step:  dispatcher | crossbar | units, on all workers of the crew | commit      (| = nothing else runs)
 *
 * An SM that no other component can influence may run several cycles in one step (ahead_window.h).
 *
 * The edges of DRAM need no steps of their own: a channel exchanges data only with its slices, which move at
 * edges of the L2, and it knows how long they cannot see what it does (mem/dram_sleep.h). So the channel runs
 * all of its edges up to now together, in order, when a slice has a turn, when its effects may be seen, or
 * when units_catch_up is called. */
#ifndef HEDDLE_UNITS_H
#define HEDDLE_UNITS_H

#include "base/event_flag.h"
#include "core/gpu_clock.h"
#include "mem/req.h"

struct units;
struct link;
struct sm;
struct xbar;
struct l2_slice;
struct dram_channel;
struct smring;
struct sharers;
struct emu_log;

enum { UNITS_LINE = 128 };

/* The state of one unit. The fields that every turn touches are one cache line of the host, which ends before
 * pool.made. */
struct unit {
    /* when the SM, or the channel, next has something to do */
    _Alignas(UNITS_LINE) tick wake;
    /* the wake that its links ask of the crossbar; added to the crossbar's wake after the turn */
    tick xbar_wake;
    union {
        struct sm *sm;
        struct dram_channel *channel;
    };
    /* it keeps effects for the end of the step: set by the SM and its emulator, or by units_keep_effect;
     * cleared when that is committed. An SM that is ahead of the step takes it back until then (ahead.c) */
    struct event_flag pending;
    struct req_pool pool;
    /* partitions: atomics that took effect at a slice in this step, and writes where another part asks for
     * them */
    struct req *effects;
    uint32_t effect_count, effect_cap;
};
_Static_assert(offsetof(struct unit, pool.made) == HOST_LINE,
               "a turn of a unit touches one cache line of it");

struct units_setup {
    const struct gpu_time *time;
    struct req_pool *pool;
    uint32_t sm_count, channel_count, slice_count;
    /* every unit has a turn at each of its edges */
    bool no_skip;
    /* use all threads even where they do not make the run faster */
    bool threads_always;
};

/* ---- creation: units first, since components keep pointers into them; then components; then threads ---- */

struct units *units_create(const struct units_setup *setup);
void units_destroy(struct units *u);
struct unit *units_sm(struct units *u, uint32_t sm);
struct unit *units_partition(struct units *u, uint32_t channel);
/* [SM] */
struct emu_log *const *units_logs(const struct units *u);
/* Connects components and their links. The crossbar comes first. */
void units_join_xbar(struct units *u, struct xbar *xbar);
void units_join_sm(struct units *u, uint32_t index, struct sm *sm, struct link *to_xbar,
                   struct link *from_xbar);
void units_join_slice(struct units *u, uint32_t index, struct l2_slice *slice, struct link *from_xbar,
                      struct link *to_xbar);
void units_join_channel(struct units *u, uint32_t slice, struct dram_channel *channel,
                        struct link *to_channel, struct link *from_channel);
/* Connects the parts in which SMs meet beside the crossbar; NULL: there are none. With such a part no SM runs
 * ahead. */
void units_join_meeting_points(struct units *u, struct smring *ring, struct sharers *sharers);
/* SMs may wake each other within a cycle: they run on one thread, and no SM runs ahead. */
void units_couple(struct units *u);
/* False: the host refuses the threads. */
bool units_hire(struct units *u, uint32_t threads);

/* ---- time ---- */

/* The latest time at which an SM or a partition has to have its next turn. */
tick units_sm_wake(const struct units *u);
tick units_partition_wake(const struct units *u);
/* The next edge of DRAM at which a channel has something to do, or TICK_NEVER. */
tick units_dram_edge(const struct units *u);

/* What the loop knows about a step. */
struct units_step {
    /* the machine drains: each DRAM edge has a step of its own, because the machine may become empty at any
     * of them */
    bool is_draining;
    /* SMs may run ahead to cycles before this time; 0: they may not */
    tick ahead_end;
};
/* Runs the units whose time has come, then commits what they kept. True: a warp has faulted, in this step or
 * before. */
bool units_step(struct units *u, const struct units_step *step);
/* The crossbar has run: wakes the units that it sent something to, or made room for. */
void units_hear_xbar(struct units *u);
/* Runs all edges of DRAM before now. To be called before channels are read. */
void units_catch_up(struct units *u);

/* ---- what the loop does to units outside of a step ---- */

/* Runs the SM's cycle now, before the others, because it is about to be given something. */
void units_run_sm(struct units *u, uint32_t sm);
/* The SM was given something, and is to have a turn now. */
void units_wake_sm(struct units *u, uint32_t sm);
/* All SMs were changed: the step looks at all units. */
void units_look_at_all(struct units *u);
/* Commits what units keep, outside of a step, and reads their wakes. */
void units_commit_all(struct units *u);
/* Charges all cycles up to now to their causes, also in units that sleep. If now is an edge of the core,
 * every SM has had its cycle afterwards. Needed before statistics are read. */
void units_settle(struct units *u);
/* Slices were changed outside of their ticks: all of them tick. */
void units_wake_slices(struct units *u);
/* For l2_on_atomic and l2_on_write: the request changes memory at the end of the step. */
void units_keep_effect(void *unit, const struct req *r);

/* ---- sums over the shares of the pool ---- */

uint32_t units_requests_live(const struct units *u);
uint64_t units_requests_made(const struct units *u);
struct req_owner units_owner(const struct units *u, uint32_t slot);
void units_clear_owner(struct units *u, uint32_t slot);

#endif
