/* fetch.h: instruction fetch, decode and the instruction buffers of the warps. See fetch.c. */
#ifndef HEDDLE_SM_FETCH_H
#define HEDDLE_SM_FETCH_H

#include "core/sm/context.h"
#include "core/sm/sm_params.h"

/* What every cycle looks at. */
struct fetch_hot {
    /* there may be warps that lack instructions */
    bool wants;
    /* warps whose instructions are between fetch and decode */
    uint8_t count;
};
/* Instructions that a warp has fetched: the first PC, and how many; 0: the warp has branched meanwhile. */
struct fetch_latch {
    uint32_t context, pc, count;
};
struct fetch {
    /* instructions between fetch and decode, at most one latch of a context: SM_FETCH_WARPS_MAX */
    struct fetch_latch *latches;
    /* the slot that fetched last */
    uint32_t last;
    bool past_branch;
    /* instructions that one access brings, at most */
    uint8_t width;
    /* stalls in a row with nothing changed between them */
    uint16_t stalls;
};
struct fetch_cold {
    /* the newest stall: its cycle, and the slots whose turn it could be */
    struct fetch_stall {
        uint64_t cycle;
        uint64_t slots[SM_BANKS_MAX];
    } stall;
    /* what fetch.latches points to */
    struct fetch_latch latches[SM_FETCH_WARPS_MAX];
};

struct sm;
struct sm_params;
void fetch_init(struct sm *m, const struct sm_params *p);
/* The stages of a cycle. */
void fetch_decode(struct sm *m);
void fetch_cycle(struct sm *m);
/* A new warp in a slot: its buffer is empty. fetch_begin follows when its first instruction is known. */
void fetch_clear(struct sm *m, struct context *x);
void fetch_begin(struct context *x);
/* The next instruction of a warp is known: does the buffer begin with it? */
void fetch_check(struct sm *m, struct context *x);
/* A warp has no next instruction: it waits, and fetches again when it has one; it has ended. */
void fetch_wait(struct sm *m, struct context *x);
void fetch_end(struct sm *m, struct context *x);
/* The warp loses its slot, and the content of its buffer; has a slot again. */
void fetch_out(struct sm *m, struct context *x);
void fetch_in(struct sm *m, struct context *x);
/* The first instruction of the buffer has issued. */
void fetch_consume(struct sm *m, struct context *x);
/* Empties the buffers of warps that fetched past a branch. */
void fetch_correct(struct sm *m);
/* The line that these contexts of an SM missed has come. */
void fetch_filled(void *sm, const uint32_t *contexts, uint32_t count);

#endif
