/* gpu_kernel.h: one launch, from the call that queues it to its end.
 *
 * The dispatcher writes what it decides and counts; kernel_life.c writes `measure`, what it notes for the
 * record of the kernel. */
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

struct kernel_measure {
    uint64_t start_cycle;
    /* snapshot of all statistics at the start */
    void **before;
    /* per-PC load table and owned events (owned_stats.h): taken before the SMs forget them */
    struct pc_load_stats *loads;
    struct sm_own own;
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
/* The grid is closed already, and the snapshot in `measure` freed. */
void gpu_kernel_free(struct gpu_kernel *k);

#endif
