/* roles.h: SMs that change between computing and caching while a program runs.
 *
 * A mechanism chooses how many SMs are in cache mode (mech_gpu_chosen_sms). Roles change between two
 * launches: when a kernel waits to start, the machine is empty, and the mechanism has chosen another number.
 * Then
 *
 *   1. the helper retires: its warps send what is dirty to DRAM, and end;
 *   2. when the machine is empty again, SMs get their new roles, and the helper starts on those in cache
 *      mode; lines leave the L2 that the mechanism does not let it keep, dirty ones to DRAM;
 *   3. when the machine is empty once more, but for warps of the helper that wait, the kernel comes.
 *
 * All of this is real traffic and takes real time (helper.change_cycles). Cached lines do not move: the
 * helper fetches them again. A machine on which kernels of several streams always overlap never changes its
 * roles. This file decides what to do next; kernel_life.c does it. */
#ifndef HEDDLE_ROLES_H
#define HEDDLE_ROLES_H

#include "core/wiring.h"

enum roles_state { ROLES_SET, ROLES_RETIRING, ROLES_STARTING };

/* Written by roles.c alone. */
struct roles {
    enum roles_state state;
    /* the machine has become empty in this state */
    bool is_empty;
    /* core cycle at which the change began */
    uint64_t since;
    const struct wiring *wiring;
};

void roles_init(struct roles *r, const struct wiring *w);
static inline bool roles_are_changing(const struct roles *r) { return r->state != ROLES_SET; }
/* The number of SMs in cache mode that mechanisms have chosen. */
uint32_t roles_chosen(const struct roles *r);

/* What to do when a kernel waits to start and none is on the machine. */
enum roles_next {
    /* each SM has the role that was chosen: the kernel may come */
    ROLES_NOTHING,
    /* wait until the machine is empty */
    ROLES_AWAIT,
    /* step 1: retire the helper */
    ROLES_RETIRE,
    /* step 2: give SMs the roles that were chosen, and start the helper */
    ROLES_ASSIGN
};
/* True: a change that began at `since` has ended. Ask it before roles_next. */
bool roles_end(struct roles *r);
/* The caller does at once what it says, and asks again when the dispatcher wakes. */
enum roles_next roles_next(struct roles *r, uint64_t cycle);
/* While roles are changing: does the change wait until the machine is empty, and the helper's CTAs are gone?
 * roles_found_empty: they are. */
static inline bool roles_await_empty(const struct roles *r) { return !r->is_empty; }
static inline bool roles_await_helper(const struct roles *r) { return r->state == ROLES_RETIRING; }
void roles_found_empty(struct roles *r);

#endif
