/* grid.h: inside the emulator: one launch while it runs. */
#ifndef HEDDLE_EMU_GRID_H
#define HEDDLE_EMU_GRID_H

#include "emu/cta.h"
#include "emu/device.h"

/* What is kept for each machine instruction of the kernel: how often it ran, and where its accesses went
 * last, because an instruction tends to stay in one allocation. */
struct pc_info {
    uint64_t insts;  /* warp instructions */
    uint64_t idle;   /* lanes that did not take part, summed over these */
    uint64_t lo, hi; /* addresses from lo up to hi are known to be valid for this instruction */
};

struct deferred_pool;
struct emu_log;

/* The part of a launch's state that one SM writes, so that several threads can step SMs. A launch that is not
 * stepped has one share. */
struct run_share {
    struct pc_info *pcs;
    uint64_t divergent_branches;
    struct emu_fault *fault;
    struct emu_fault own_fault;     /* where `fault` points when there are several */
    struct deferred_pool *deferred; /* when stepped: global atomics that have not happened yet */
    struct emu_log *log;            /* NULL: writes to memory take effect at once */
};

struct run {
    struct emu_device *device;
    const struct emu_launch *launch;
    const struct isa_kernel *kernel;
    const struct image *image;
    const struct isa_inst *insts;
    exec_fn *const *table;
    struct run_share first;
    struct run_share **shares; /* when stepped by several SMs, by SM; NULL: the SM has had no CTA */
    uint32_t share_count;
    uint32_t *pool;                 /* constant pool: 32 words a row */
    uint32_t (*tids)[3][ISA_LANES]; /* for each warp of a CTA */
    uint32_t threads, warps_per_cta;
    uint64_t id; /* number of the launch, from 1 on */
    uint64_t ctas;
    uint32_t shared_bytes; /* per CTA */
    uint32_t local_bytes;  /* per thread */
    struct emu_fault *fault;
    struct launch_block *block;  /* parameters and workspace in device memory */
    const uint64_t *cycles, *ns; /* what the clocks show; NULL: instructions executed */
    struct races *races;         /* the search for races, or NULL */
    struct idle *idle;           /* the watch that is under way, or NULL */
    struct run *next;            /* list of the device */
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

/* Forgets the ranges of all running grids: memory was freed, and a range may not be valid any more. */
void run_forget_ranges(struct emu_device *d);

#endif
