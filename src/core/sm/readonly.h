/* readonly.h: the small caches of the SM (instructions, constants, textures) and their misses. See
 * readonly.c. */
#ifndef HEDDLE_SM_READONLY_H
#define HEDDLE_SM_READONLY_H

#include "mem/rocache.h"

/* The small caches beside the L1, and the reads of mechanisms, which no cache keeps; RO_COUNT names the
 * L1. */
enum sm_ro { RO_INST, RO_CONST, RO_TEX, RO_SIDE, RO_COUNT };

struct readonly_hot {
    /* misses that are still to be sent */
    uint16_t unsent;
};
struct readonly {
    struct rocache cache[RO_COUNT];
};

struct sm;
struct sm_params;
void readonly_init(struct sm *m, const struct sm_params *p);
void readonly_free(struct sm *m);
bool readonly_idle(const struct sm *m);
/* Empties the caches, but for lines that wait for a fill. */
void readonly_flush(struct sm *m);
/* Asks a cache for an address. MISS: fetch_filled, lsu_filled or sm_mech_filled tells the waiter: a context
 * (instructions), a pending load, a token of a mechanism. */
enum rocache_answer readonly_ask(struct sm *m, enum sm_ro which, uint64_t addr, uint32_t waiter,
                                 uint32_t context, uint32_t pc);
/* The stage of a cycle: sends misses on their way, one of each cache. It does nothing where nothing is
 * unsent. */
void readonly_send(struct sm *m);

#endif
