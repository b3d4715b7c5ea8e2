/* roles.h: SMs that change between computing and caching while a program runs.
 *
 * A mechanism chooses how many SMs are in cache mode (mech_gpu_chosen_sms). Roles change between two
 * launches: when a kernel is to come, the machine is empty, and another number of SMs was chosen. Then
 *
 *   1. the helper retires: its warps send what is dirty to DRAM, and end;
 *   2. when the machine is empty again, SMs get their new roles, and the helper starts on those in cache
 *      mode; lines leave the L2 that the mechanism does not let it keep, dirty ones to DRAM;
 *   3. when the machine is empty once more, but for warps of the helper that wait, the kernel comes.
 *
 * All of this is real traffic and takes real time (helper.change_cycles). Contents do not move: what the
 * helper had is fetched again. A machine on which kernels of several streams always overlap never changes its
 * roles. */
#ifndef HEDDLE_ROLES_H
#define HEDDLE_ROLES_H

#include "core/helper.h"
#include "core/snapshot.h"

struct roles_setup {
    struct wiring *wiring;
    struct helper *helper;
    struct dispatcher *dispatch;
    const struct gpu_time *time;
    struct snapshots *snapshots;
};

enum roles_state { ROLES_SET, ROLES_RETIRING, ROLES_STARTING };

/* Written by roles.c alone. */
struct roles {
    enum roles_state state;
    /* the machine has become empty in this state */
    bool is_empty;
    /* core cycle at which the change began */
    uint64_t since;
    struct roles_setup setup;
};

void roles_init(struct roles *r, const struct roles_setup *setup);
static inline bool roles_are_changing(const struct roles *r) { return r->state != ROLES_SET; }
/* A kernel is to come, and none is on the machine: does each SM have the role that was chosen? If not the
 * change goes on: ask again when the dispatcher wakes. fault->kind is not EMU_OK: the helper could not
 * start. */
bool roles_are_set(struct roles *r, struct emu_device *device, struct emu_fault *fault);
/* At the end of a step while roles are changing: looks whether the machine is empty. */
void roles_look(struct roles *r);

#endif
