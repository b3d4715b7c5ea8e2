/* morpheus_choose.h: how many SMs are in cache mode, chosen while a program runs. See morpheus_choose.c. */
#ifndef HEDDLE_MORPHEUS_CHOOSE_H
#define HEDDLE_MORPHEUS_CHOOSE_H

#include "heddle/mechanism.h"

struct morpheus_params;

/* Kernels that are told apart; launches of one that end a trial at the latest. */
enum { CHOOSE_KERNELS = 16, CHOOSE_LAUNCHES_MAX = 8 };

/* Core cycles and warp instructions of some launches. */
struct choose_pace {
    uint64_t cycles, insts;
};

/* A kernel of the program, with one grid and one shape of blocks. */
struct choose_kernel {
    uint64_t kernel;
    /* core cycles of all its launches */
    uint64_t cycles;
    /* since the trial began; the first one is not measured */
    uint32_t launches;
    struct choose_pace trial, best;
};

struct choose {
    struct choose_kernel kernels[CHOOSE_KERNELS];
    uint32_t kernel_count;
    /* SMs in cache mode: on trial, and the best so far */
    uint32_t trial, best;
    bool has_best, has_stopped;
    /* the next trial is `step` SMs more than the best, or fewer; sides of it that were worse */
    uint32_t step;
    bool is_down;
    uint32_t sides_worse;
    /* of the trial and of the best: command clocks of DRAM, and those with data on the bus */
    uint64_t dram_cycles, dram_busy, best_dram_cycles, best_dram_busy;
};

/* The hook of this name: the state is a struct choose. */
uint32_t choose_sms(void *choice, const void *params, const struct mech_grid_run *ran);
/* Why the parameters do not fit together; NULL: they do. */
const char *choose_refuses(const struct morpheus_params *p);
void choose_cost(const struct morpheus_params *p, struct mech_cost *cost);

#endif
