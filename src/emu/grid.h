/* grid.h: inside the emulator: one launch while it runs. */
#ifndef HEDDLE_EMU_GRID_H
#define HEDDLE_EMU_GRID_H

#include "emu/cta.h"
#include "emu/emu_device.h"

/* What is kept for each machine instruction of the kernel: how often it ran, and where its accesses went
 * last, because an instruction tends to stay in one allocation. */
struct pc_info {
    /* warp instructions */
    uint64_t insts;
    /* lanes that did not take part, summed over these instructions */
    uint64_t idle;
    /* addresses from lo up to hi are known to be valid for this instruction */
    uint64_t lo, hi;
};

struct deferred_pool;
struct emu_log;

/* The part of a launch's state that one SM writes, so that several threads can step SMs. A launch that is not
 * stepped has one share. */
struct run_share {
    struct pc_info *pcs;
    uint64_t divergent_branches;
    struct emu_fault *fault;
    /* where `fault` points when there are several shares */
    struct emu_fault own_fault;
    /* when stepped: global atomics that have not happened yet */
    struct deferred_pool *deferred;
    /* NULL: writes to memory take effect at once */
    struct emu_log *log;
};

struct run {
    struct emu_device *device;
    const struct emu_launch *launch;
    const struct isa_kernel *kernel;
    const struct image *image;
    const struct isa_inst *insts;
    exec_fn *const *table;
    struct run_share first;
    /* when stepped by several SMs, by SM; NULL: the SM has had no CTA */
    struct run_share **shares;
    uint32_t share_count;
    /* constant pool: 32 words a row */
    uint32_t *pool;
    /* thread numbers, for each warp of a CTA */
    uint32_t (*tids)[3][ISA_LANES];
    uint32_t threads, warps_per_cta;
    /* number of the launch, from 1 on */
    uint64_t id;
    uint64_t ctas;
    /* per CTA */
    uint32_t shared_bytes;
    /* per thread */
    uint32_t local_bytes;
    struct emu_fault *fault;
    /* parameters and workspace in device memory */
    struct launch_block *block;
    /* what the clocks show; NULL: instructions executed */
    const uint64_t *cycles, *ns;
    /* the search for races, or NULL */
    struct races *races;
    /* the watch that is under way, or NULL */
    struct idle *idle;
    /* list of the device */
    struct run *next;
};

/* Threads that one SM holds. */
enum { SM_THREADS = 2048 };
/* Static and dynamic shared memory of a CTA. */
uint64_t launch_shared_bytes(const struct emu_launch *l);
uint64_t launch_ctas(const struct emu_launch *l);
/* CTAs that the whole device holds at a time. */
uint64_t launch_resident_max(const struct emu_limits *lim, const struct emu_launch *l, uint64_t threads);

void run_share_init(const struct run *r, struct run_share *s, struct emu_fault *fault);
/* Opens a launch that emu_check_launch accepted. False: no device memory for its parameters. */
bool run_open(struct run *r, struct emu_device *d, const struct emu_launch *l, struct emu_fault *fault);
void run_close(struct run *r);
void run_add_stats(const struct run *r, uint64_t ctas, struct emu_stats *stats);
enum emu_fault_kind run_refuse(struct emu_fault *fault, const struct isa_kernel *k, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* Forgets the ranges of all running grids: memory was freed, so a range may be invalid. */
void run_forget_ranges(struct emu_device *d);

#endif
