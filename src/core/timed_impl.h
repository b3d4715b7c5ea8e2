/* timed_impl.h: the timed GPU consists of parts, each with a struct, a header and one file that writes it:
 *
 *   gpu_clock.h  the present time                       wiring.h    components and links
 *   stream.h     whose turn it is; copy.h: copies       dispatch.h  kernels on the machine, CTAs onto SMs
 *   helper.h     the kernel of SMs in cache mode        sampler.h   the time series
 *   units.h      what runs side by side                 roles.h     SMs that change their roles
 *   snapshot.h   statistics at a moment                 records.h   what the run leaves behind
 *   run_end.h    how the run ended                      stuck.h     the watchdog; laws.h: what must hold
 *   loop.h       when the loop goes on                  kept.h      a run of another process
 *
 * The parts do not know this struct. Four files do: timed.c (the interface), loop.c (time), kernel_life.c
 * (what is started, measured and checked when kernels open and end) and kept.c (the run in a journal). Calls
 * go down from these to the parts; results come back. */
#ifndef HEDDLE_TIMED_IMPL_H
#define HEDDLE_TIMED_IMPL_H

#include "core/dispatch.h"
#include "core/helper.h"
#include "core/kept.h"
#include "core/laws.h"
#include "core/loop.h"
#include "core/mech/mech_energy.h"
#include "core/records.h"
#include "core/roles.h"
#include "core/run_end.h"
#include "core/sampler.h"
#include "core/snapshot.h"
#include "core/stream.h"
#include "core/stuck.h"
#include "core/timed.h"
#include "core/wiring.h"

struct timed_gpu {
    /* every step touches the beginning of each of these */
    struct gpu_time time;
    struct wiring wiring;
    struct dispatcher dispatch;
    struct helper helper;
    struct roles roles;
    struct stream_set streams;
    struct sampler sampler;
    struct loop loop;
    struct run_end end;

    struct watchdog watchdog;
    struct snapshots snapshots;
    struct records records;
    struct machine machine;
    struct timed_options options;
    struct emu_device *device;
    /* read where options.energy asks for it: the table, and the rows of mechanisms */
    struct energy_table energy;
    struct mech_energy energy_rows;

    struct kept_run kept;
};

/* ---- kernel_life.c ---- */

/* Runs the dispatcher at an edge of the core clock. */
void kernel_life_tick(struct timed_gpu *g);
/* The machine is empty: the kernel that drained has ended. */
void kernel_life_drained(struct timed_gpu *g);
/* At the end of a step while SMs change their roles: looks whether the machine is empty. */
void kernel_life_look_at_roles(struct timed_gpu *g);
/* Tells the warps of the helper to end. */
void kernel_life_retire_helper(struct timed_gpu *g);
/* The run has ended: records the kernels that were running, as far as they came, and frees them. */
void kernel_life_abandon(struct timed_gpu *g);
void kernel_life_close(struct timed_gpu *g);

#endif
