/* sm_mech.h: between the SM and its mechanisms: sm_ports.c is what they may do, sm_events.c what they are
 * told. */
#ifndef HEDDLE_SM_SM_MECH_H
#define HEDDLE_SM_SM_MECH_H

#include "core/mech/mech_host.h"
#include "core/sm/context.h"
#include "mem/l1_hooks.h"

struct mech_view {
    /* counters as mechanisms last read them; totals when the kernel began */
    struct mech_counters counters, from;
    /* the replacement policy of the mechanism that has one */
    struct cache_policy policy;
    /* the newest time at which something happened outside of the SM's own cycles: a launch, the end of a
     * kernel */
    tick disturbed;
};

struct sm;
/* sm_mech_create: before the L1 is made; sm_mech_connect: after. */
void sm_mech_create(struct sm *m);
/* Lines that the tags of the L1 need beyond the machine's own. */
uint32_t sm_mech_extra_lines(const struct sm *m);
void sm_mech_connect(struct sm *m);
void sm_mech_free(struct sm *m);
/* sm_mech_disturb: something happens to the SM at this time, up to which it may have slept. sm_mech_now: the
 * time of the event that mechanisms are told. */
void sm_mech_disturb(struct sm *m, tick now);
tick sm_mech_now(const struct sm *m);
/* The SM enters a kernel: counters begin at 0. */
void sm_mech_begin_kernel(struct sm *m);

/* Events. */
void sm_mech_issue(struct sm *m, const struct context *x, uint32_t scheduler, const struct uop *u,
                   const struct emu_access *e, uint32_t access);
void sm_mech_next(struct sm *m, const struct context *x);
void sm_mech_barrier(struct sm *m, uint32_t bank, uint64_t warps, bool is_wait);
void sm_mech_cta(struct sm *m, uint32_t cta, enum mech_cta_kind kind);
/* Reads of the port memory_read have come. */
void sm_mech_filled(void *sm, const uint32_t *tokens, uint32_t count);
void sm_mech_rows_lost(void *sm, uint32_t first, uint32_t rows);
void sm_mech_prefetch(struct sm *m, uint64_t line, uint32_t pc, uint32_t context,
                      enum mech_prefetch_outcome outcome);

#endif
