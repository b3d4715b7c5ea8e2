/* grid.h: inside the emulator: one launch while it runs. */
#ifndef HEDDLE_EMU_GRID_H
#define HEDDLE_EMU_GRID_H

#include "emu/cta.h"
#include "emu/device.h"

/* What is kept for each machine instruction of the kernel: how often it ran, and where its accesses went
 * last, because an instruction tends to stay in one allocation. */
struct pc_info {
    uint64_t insts;  /* warp instructions */
    uint64_t idle;   /* lanes that did not take part, summed over them */
    uint64_t lo, hi; /* addresses from lo up to hi are good for this instruction */
};

struct deferred_pool;
struct emu_log;

/* What one SM has of a launch, so that SMs can be stepped by several threads; a launch that is not stepped has one. */
struct run_share {
    struct pc_info *pcs;
    uint64_t divergent_branches;
    struct emu_fault *fault;
    struct emu_fault own_fault;     /* where `fault` points when there are several */
    struct deferred_pool *deferred; /* when stepped: global atomics that have not happened yet */
    struct emu_log *log;            /* NULL: what it does to memory happens at once */
};

struct run {
    struct emu_device *device;
    const struct emu_launch *launch;
    const struct isa_kernel *kernel;
    const struct image *image;
    const struct isa_inst *insts;
    exec_fn *const *table;
    struct run_share first;
    struct run_share **shares; /* when stepped by several SMs, by SM; NULL: it has had no CTA */
    uint32_t share_count;
    uint32_t *pool;                 /* constant pool: 32 words a row */
    uint32_t (*tids)[3][ISA_LANES]; /* for each warp of a CTA */
    uint32_t threads, warps_per_cta;
    uint64_t id, ctas;                  /* number of the launch, from 1 on */
    uint32_t shared_bytes, local_bytes; /* of a CTA; of a thread */
    struct emu_fault *fault;
    struct launch_block *block;  /* parameters and workspace in device memory */
    const uint64_t *cycles, *ns; /* what the clocks show; NULL: instructions executed */
    struct run *next;            /* of the device */
};

void run_share_init(const struct run *r, struct run_share *s, struct emu_fault *fault);
/* Takes what a checked launch needs; false: no device memory for its parameters. */
bool run_open(struct run *r, struct emu_device *d, const struct emu_launch *l, struct emu_fault *fault);
void run_close(struct run *r);
void run_add_stats(const struct run *r, uint64_t ctas, struct emu_stats *stats);
enum emu_fault_kind run_refuse(struct emu_fault *fault, const struct isa_kernel *k, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* Memory was freed while grids run: what was good need not be so any more. */
void run_forget_ranges(struct emu_device *d);

#endif
