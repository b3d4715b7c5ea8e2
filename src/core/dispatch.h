/* dispatch.h: the dispatcher: which kernels are on the machine, and which SM gets the next CTA.
 *
 * It decides and counts; it does not move time. The loop calls it, runs the SMs, takes snapshots and
 * checks laws at the moments that the dispatcher names (kernel_life.c). See dispatch.c for its rules. */
#ifndef HEDDLE_DISPATCH_H
#define HEDDLE_DISPATCH_H

#include "base/vec.h"
#include "core/gpu_clock.h"
#include "core/gpu_kernel.h"

struct records;

/* All that the dispatcher may ask. */
struct dispatch_setup {
    const struct machine *machine;
    const struct gpu_time *time;
    struct sm *const *sms;
    /* SMs that get CTAs at present; SMs that are never in cache mode; all SMs of the machine */
    uint32_t sm_count, sm_least, sm_all;
    /* [SM]: effects on device memory (emu/step.h) */
    struct emu_log *const *logs;
    /* where CTAs that have ended are recorded */
    struct records *records;
};

/* For the statistics group "gpu". */
struct dispatch_counts {
    uint64_t kernels, ctas, busy_cycles;
};

/* Written by dispatch.c alone. */
struct dispatcher {
    /* when it next has something to do */
    tick wake;
    /* the only kernel left waits for its stores */
    bool is_draining;
    /* grids on the machine, in launch order */
    VEC(struct gpu_kernel *) queue;
    /* the SM that is asked first: round robin */
    uint32_t next_sm;
    uint64_t launches;
    struct dispatch_counts counts;
    /* since when kernels have been on the machine; TICK_NEVER: none is */
    tick busy_since;
    struct dispatch_setup setup;
};

void dispatch_init(struct dispatcher *d, const struct dispatch_setup *setup);
/* Frees kernels that were not removed. Their snapshots are freed already. */
void dispatch_close(struct dispatcher *d);
/* The run is over: closes all grids, so that modules may be unloaded. */
void dispatch_abandon(struct dispatcher *d);

/* Makes a kernel of a launch and numbers it; the kernel is not queued yet. */
struct gpu_kernel *dispatch_new_kernel(struct dispatcher *d, const struct emu_launch *l, uint64_t stream);

/* The first `sm_count` SMs get CTAs from now on. No kernel is on the machine. */
void dispatch_set_sms(struct dispatcher *d, uint32_t sm_count);

/* ---- a tick, in this order ---- */

void dispatch_begin_tick(struct dispatcher *d);
/* The first kernel at position *at or behind it in the queue whose CTAs have all ended; NULL: none. Sets
 * *at to where to look next: kernels that end while others are being removed are found in the next tick. */
struct gpu_kernel *dispatch_find_finished(struct dispatcher *d, uint32_t *at);
static inline bool dispatch_is_alone(const struct dispatcher *d) { return d->queue.len == 1; }
/* The kernel is alone and its CTAs have ended: the machine waits for its stores. */
void dispatch_drain(struct dispatcher *d, struct gpu_kernel *k);
/* The kernel that drains. */
struct gpu_kernel *dispatch_draining(const struct dispatcher *d);
/* A kernel has ended: counts it. Then, when its statistics have been taken, removes it from the queue. */
void dispatch_count_end(struct dispatcher *d, const struct gpu_kernel *k);
/* Between these two: sets *stats to what the emulator counted; NULL: the caller does not need it. */
void dispatch_close_grid(struct gpu_kernel *k, struct emu_stats *stats);
void dispatch_remove(struct dispatcher *d, const struct gpu_kernel *k);

/* Is there room for one more grid? */
bool dispatch_may_open(const struct dispatcher *d, const struct gpu_kernel *k);
/* Puts a kernel on the machine. False: it is refused, and the fault says why. */
bool dispatch_open(struct dispatcher *d, struct gpu_kernel *k, struct emu_device *device,
                   struct emu_fault *fault);

/* A walk over all SMs: one CTA for each SM that has room. */
struct dispatch_walk {
    uint32_t first, looked, started, limit;
    /* the SM that gets a CTA, and whose */
    uint32_t sm;
    struct gpu_kernel *kernel;
};
struct dispatch_walk dispatch_begin_walk(const struct dispatcher *d);
/* Chooses the next SM and the kernel that it gets a CTA of. False: the walk is over. */
bool dispatch_choose(const struct dispatcher *d, struct dispatch_walk *w);
/* Does the CTA still fit, after the cycle of its SM? A mechanism may have given its room away in it. */
bool dispatch_still_fits(const struct dispatcher *d, const struct dispatch_walk *w);
/* Starts the CTA that was chosen. The SM has already run its cycle at this time. False: the emulator
 * faulted. */
bool dispatch_start(struct dispatcher *d, struct dispatch_walk *w, struct emu_fault *fault);
void dispatch_end_tick(struct dispatcher *d, bool has_started);

/* ---- what SMs tell, when the loop has them end their CTAs (sm_end_ctas) ---- */

/* All warps of a CTA have ended and it has left its SM. */
void dispatch_cta_done(void *dispatcher, uint32_t sm, struct cta *cta, struct emu_grid *grid);
/* An SM has more room than before. */
void dispatch_look(void *dispatcher);

/* ---- what others ask ---- */

uint64_t dispatch_busy_cycles(const struct dispatcher *d);
/* State of each kernel, for the report of a stuck machine. */
void dispatch_explain(const struct dispatcher *d, struct strbuf *out);

#endif
