/* execute.h: the way of an instruction from issue through operand collectors and units to writeback. See
 * execute.c. */
#ifndef HEDDLE_SM_EXECUTE_H
#define HEDDLE_SM_EXECUTE_H

#include "core/sm/collector.h"
#include "core/sm/context.h"
#include "core/sm/pipes.h"

struct execute_hot {
    /* instructions in the collectors may move in this cycle; did move in this cycle */
    bool collects, moved;
    /* the collectors wait for room in the load-store unit's queue */
    bool awaits_queue;
    bool has_collector;
};

/* A cycle begins: nothing has moved. */
static inline void execute_begin(struct execute_hot *e) { e->moved = false; }

/* An instruction between issue and writeback (arithmetic) or the load-store unit (memory). */
struct flight {
    const struct uop *op;
    uint32_t context;
    /* its access at the load-store unit; SM_NONE: arithmetic */
    uint32_t access;
    /* free list */
    uint32_t next;
    /* imov: the register of its array that it reads */
    uint32_t indirect;
};

struct execute {
    struct flight *flights;
    uint32_t flight_free;
    bool forwards;
};

struct sm;
struct sm_params;
void execute_init(struct sm *m, const struct sm_params *p);
void execute_free(struct sm *m);
/* Is there room for an instruction of a class? */
bool execute_has_room(const struct sm *m, enum sm_class c);
/* Sends an issued instruction to its unit; access: its access at the load-store unit, or SM_NONE; indirect:
 * the register that an indirect move reads after the others. */
void execute_start(struct sm *m, struct context *x, const struct uop *u, uint32_t access, uint32_t indirect);
/* The stages of a cycle: collectors to units; results to the scoreboard. */
void execute_cycle(struct sm *m);
void execute_write_results(struct sm *m);

#endif
