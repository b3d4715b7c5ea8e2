/* sm_mech.h: between the SM and its mechanisms: sm_ports.c is what they may do, sm_events.c what they are told. */
#ifndef HEDDLE_SM_SM_MECH_H
#define HEDDLE_SM_SM_MECH_H

#include "core/mech/mech_host.h"
#include "core/sm/context.h"
#include "mem/l1.h"

/* Accesses to global and local memory, for the counters of mechanisms. */
struct mech_seen {
    uint64_t by_answer[L1_TAKEN], intra_warp;
    uint32_t line_shift;
};
struct mech_view {
    /* as they were last asked for; totals when the kernel began */
    struct mech_counters counters, from;
};

struct sm;
/* Before the L1 is made; when it is there. */
void sm_mech_create(struct sm *m);
void sm_mech_connect(struct sm *m);
void sm_mech_free(struct sm *m);
/* The SM enters a kernel: counters begin at 0. */
void sm_mech_begin_kernel(struct sm *m);

/* Events. */
void sm_mech_issue(struct sm *m, const struct context *x, uint32_t scheduler, const struct uop *u,
                   const struct emu_access *e, uint32_t access);
void sm_mech_next(struct sm *m, const struct context *x);
void sm_mech_barrier(struct sm *m, uint32_t bank, uint64_t warps, bool is_wait);
void sm_mech_rows_lost(void *sm, uint32_t first, uint32_t rows);
/* The hooks of the L1. */
struct l1_hooks sm_mech_l1_hooks(struct sm *m);

#endif
