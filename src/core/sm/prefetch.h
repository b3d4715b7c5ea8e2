/* prefetch.h: lines that mechanisms ask for, and their way into the L1. See prefetch.c. */
#ifndef HEDDLE_SM_PREFETCH_H
#define HEDDLE_SM_PREFETCH_H

#include "base/base.h"
#include "base/tick.h"
#include "mem/ring.h"

union prefetch_hot {
    struct {
        /* prefetches in the queue: the count of prefetch.queue */
        uint16_t count : 15;
        /* the next cycle may not be slept through */
        uint16_t is_busy : 1;
    };
    /* not 0: one of these is set */
    uint16_t has_work;
};
struct prefetch_entry {
    uint64_t line;
    uint32_t pc, context;
};
RING_TYPE(prefetch_queue, struct prefetch_entry)

struct prefetch {
    struct prefetch_queue queue;
    /* l1.prefetch_priority is alternate */
    bool alternates;
    /* it is their turn, before loads and stores */
    bool is_first;
    /* when the L1 took the newest one */
    tick sent;
};

struct sm;
struct sm_params;
void prefetch_init(struct sm *m, const struct sm_params *p);
void prefetch_free(struct sm *m);
/* False: the address is in no allocation. */
bool prefetch_ask(struct sm *m, uint64_t address, uint32_t pc, uint32_t context);
/* The stages of a cycle: before the load-store unit serves its queue, and after it. They do nothing where
 * `has_work` is 0. */
void prefetch_before(struct sm *m);
void prefetch_after(struct sm *m);
/* The kernel has ended: drops what is in the queue. */
void prefetch_clear(struct sm *m);

#endif
