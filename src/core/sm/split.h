/* split.h: one array for L1 and shared memory, and how much of it is shared memory while a kernel runs.
 *
 * From Volta on an SM has one array for both, and a launch chooses one of a few sizes of shared memory; the
 * L1 has the rest (CUDA C++ Programming Guide, "Shared Memory" of compute capabilities 7.x to 9.0). Fermi and
 * Kepler have two or three sizes of 64 KB. A machine without sm.shared_sizes has two separate arrays. */
#ifndef HEDDLE_SPLIT_H
#define HEDDLE_SPLIT_H

#include "core/machine.h"
#include "emu/step.h"

enum { SPLIT_SIZES_MAX = 16 };

/* The sizes of shared memory, rising; count 0: it is an array of its own. */
struct split_sizes {
    uint64_t bytes[SPLIT_SIZES_MAX];
    uint32_t count;
};

/* What the choice depends on. */
struct split_launch {
    const struct isa_kernel *kernel;
    /* threads of a CTA */
    uint32_t threads;
    /* shared memory of a CTA, static and dynamic */
    uint64_t shared_bytes;
    /* what the program asks for: emu_launch.shared_wish */
    uint32_t wish;
};

/* The launch of a grid. A cooperative grid has no wish: it may need all the room that there is. */
struct split_launch split_of_grid(const struct emu_grid *g);
/* Reads sm.shared_sizes. False: it is not a rising list of sizes. */
bool split_read(const struct sm_params *p, struct split_sizes *out);
/* Checks that the sizes, sm.shared and l1.size fit together. False with diagnostics. */
bool split_check(const struct machine *m, struct diag_list *diags);
/* Shared memory of an SM while this kernel runs, in bytes. Fixed: sm.shared. Auto: the program's wish,
 * rounded up to the next size that holds a CTA; without one the smallest size that does not lower the number
 * of CTAs on an SM. */
uint64_t split_shared_bytes(const struct machine *m, const struct split_sizes *s,
                            const struct split_launch *l);
/* The same, with the sizes read from the machine. */
uint64_t split_shared_bytes_of(const struct machine *m, const struct split_launch *l);
/* The capacity of the L1 with this size of shared memory. */
uint64_t split_l1_bytes(const struct machine *m, const struct split_sizes *s, uint64_t shared_bytes);

#endif
