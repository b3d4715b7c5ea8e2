/* gate.h: what the mechanism of gate.c keeps for the whole GPU, for test_gpu_timer.c to look at. */
#ifndef HEDDLE_GATE_H
#define HEDDLE_GATE_H

#include <stdint.h>

enum { GATE_SMS_MAX = 256 };

struct gate_gpu {
    /* [SM]: written by that SM alone */
    uint64_t accesses[GATE_SMS_MAX];
    /* written by the timer alone */
    uint64_t calls, last_cycle, decision;
};

#endif
