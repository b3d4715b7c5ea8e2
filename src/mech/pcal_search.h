/* pcal_search.h: PCAL's search for the tuple {N, p} of the whole GPU (pcal.c): what the SMs measure in a
 * window decides what they run at in the next one.
 *
 * (1) Base: one window at the tuple where the kernel starts, or, where CCWS leads to it, one under CCWS and
 * one at N = p = the warps of a scheduler that it let through, in the mean over SMs. (2) Vote: the SMs try p
 * = 1, 2, 4, ... N in turns for one window. The p whose SMs gain most over their own last windows, in the
 * mean, is the p of all. (3) Climb: N grows by one, window by window, while the way to the L2 is not busy
 * and each step is faster; the step that is not faster is taken back. (4) Hold, until an SM is slower than
 * in its last window by more than a bound: then the vote comes again. An SM that had no warp at some time of
 * a window has no vote in it. */
#ifndef HEDDLE_MECH_PCAL_SEARCH_H
#define HEDDLE_MECH_PCAL_SEARCH_H

#include "heddle/mechanism.h"

enum { PCAL_SMS_MAX = 1024, PCAL_TRIES_MAX = 8, PCAL_HOST_LINE = 64 };
enum pcal_phase { PCAL_CCWS, PCAL_BASE, PCAL_VOTE, PCAL_SETTLE, PCAL_CLIMB, PCAL_HOLD };

/* Thousandths: how busy the way to the L2 may be, what a step has to gain, what an SM may lose. */
struct pcal_bounds {
    uint32_t busy, gain, drop;
};

struct pcal_counts {
    uint64_t votes, steps, steps_back, holds, held_n, held_p;
};

/* What an SM tells at the end of a window; in a line of its own, as several threads write. */
struct pcal_sm {
    _Alignas(PCAL_HOST_LINE) uint64_t issued;
    /* thousandths of the window */
    uint32_t busy;
    bool is_whole;
    /* thousandths of the warps of a scheduler whose loads CCWS let through */
    uint32_t let;
    uint32_t start_n, start_p, warps;
    uint64_t launch;
    /* instructions in the window before; kept by the search */
    uint64_t last;
};

struct pcal_search {
    const struct pcal_bounds *bounds;
    /* a kernel starts with a window of CCWS */
    bool has_ccws;
    uint32_t sm_count;
    enum pcal_phase phase;
    uint32_t n, p;
    /* what the SMs try in a vote */
    uint32_t tries[PCAL_TRIES_MAX], try_count;
    uint64_t launch;
    /* instructions of an SM in a window at this tuple, in the mean */
    uint64_t speed;
    struct pcal_counts counts;
    struct pcal_sm sms[PCAL_SMS_MAX];
};

/* Between two windows, with all SMs at rest. */
void pcal_search_next(struct pcal_search *s);
/* The p of an SM in this window. */
uint32_t pcal_search_p(const struct pcal_search *s, uint32_t sm);

#endif
