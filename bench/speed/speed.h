/* speed.h: a kernel of the speed bench: its data, its launch, and the check against the CPU. */
#ifndef HEDDLE_BENCH_SPEED_H
#define HEDDLE_BENCH_SPEED_H

#include "kit/kit.h"

struct speed_kernel {
    const char *name;
    /* how much, by kit_size(): each ten times the one before */
    int work[3];
    void (*prepare)(int work);
    /* what the clock sees */
    void (*launch)(void);
    void (*check)(void);
};

extern const struct speed_kernel speed_kernels[];
extern const unsigned speed_kernel_count;

/* the program's own data: host and device buffers made so far */
size_t speed_own_bytes(void);

#endif
