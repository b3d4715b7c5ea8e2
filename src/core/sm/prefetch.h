/* prefetch.h: lines that mechanisms ask for, and their way into the L1. See prefetch.c. */
#ifndef HEDDLE_SM_PREFETCH_H
#define HEDDLE_SM_PREFETCH_H

#include "base/base.h"

struct prefetch_hot {
    /* prefetches in the queue */
    uint16_t count;
};
struct prefetch {
    /* a ring of `size` entries; head: the oldest */
    struct prefetch_entry {
        uint64_t line;
        uint32_t pc, context;
    } * queue;
    uint32_t head, size;
};

struct sm;
struct sm_params;
void prefetch_init(struct sm *m, const struct sm_params *p);
void prefetch_free(struct sm *m);
/* False: the queue is full. */
bool prefetch_ask(struct sm *m, uint64_t address, uint32_t pc, uint32_t context);
/* Offers the oldest prefetch to the L1. */
void prefetch_send(struct sm *m);
/* Forgets what is in the queue. */
void prefetch_clear(struct sm *m);

#endif
