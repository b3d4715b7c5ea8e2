/* gpu_kernel.h: one launch, from the call that queues it to its end.
 *
 * gpu_kernel.c writes what was launched, the dispatcher what it decides and counts, and kernel_life.c
 * `measure`, what the record of the kernel needs. */
#ifndef HEDDLE_GPU_KERNEL_H
#define HEDDLE_GPU_KERNEL_H

#include "base/tick.h"
#include "core/occupancy.h"
#include "core/sm/sm.h"
#include "emu/emu.h"

enum kernel_state {
    /* waits for its turn on its stream, or for room on the machine */
    KERNEL_QUEUED,
    /* its grid is open; CTAs are started and run */
    KERNEL_RUNNING,
    /* its CTAs have ended; it is alone on the machine, which waits until its stores have ended too */
    KERNEL_DRAINING
};

/* Events that have an owner (owned_stats.h). */
struct kernel_owned {
    /* per-PC load table; NULL: the statistics have not been taken */
    struct pc_load_stats *loads;
    struct sm_own events;
};

struct kernel_measure {
    uint64_t start_cycle;
    /* snapshot of all statistics at the start */
    void **before;
    /* the kernel's own events, copied before the SMs reset them */
    struct kernel_owned owned;
};

struct gpu_kernel {
    struct emu_launch launch;
    /* copies that belong to the kernel */
    void *params;
    char *name;
    /* number of the launch, from 1, and the stream that it was given to */
    uint64_t id, stream;
    enum kernel_state state;
    struct emu_grid *grid;
    struct emu_fault fault;
    uint64_t ctas, next_cta, ctas_done;
    /* the first CTA starts at this time at the earliest */
    tick ready_at;
    /* [CTA]: start cycle; NULL: not kept */
    uint64_t *cta_starts;
    /* the slot in which its memory requests are counted (mem/req.h), from 1 */
    uint32_t owner_slot;
    /* how many CTAs fit an SM that has nothing else */
    struct occupancy fit;
    /* another kernel was on the machine at the same time */
    bool overlapped;
    struct kernel_measure measure;
};

/* Copies the launch, its parameters and its name. */
struct gpu_kernel *gpu_kernel_create(const struct emu_launch *l, uint64_t stream, uint64_t id);
/* The kernel's name, which the caller frees. The kernel has none from then on. */
char *gpu_kernel_give_name(struct gpu_kernel *k);
/* The grid is closed already, and the snapshot in `measure` freed. */
void gpu_kernel_free(struct gpu_kernel *k);

#endif
