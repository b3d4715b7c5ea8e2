/* sm.h: one streaming multiprocessor on the core clock: warp slots, fetch, instruction buffers, scoreboard, schedulers, operand collectors,
 * pipelines, load-store unit, shared memory, small caches, L1. */
#ifndef HEDDLE_SM_H
#define HEDDLE_SM_H

#include "core/mech/mech_host.h"
#include "core/sm/sm_params.h" /* sm_rows */
#include "core/sm/sm_stats.h"  /* sm_stat_rows, enum issue_slot */
#include "emu/step.h"
#include "mem/l1.h"

struct machine; /* core/machine.h: the residency limits */
struct xbar;

struct sm;
struct sm_setup {
    const struct machine *machine;
    const struct sm_params *params;
    const struct l1_params *l1;
    uint32_t index, sm_count;
    const struct clock_domain *clock;
    struct req_pool *pool;
    struct link *to_xbar, *from_xbar;
    /* where it says when it next has something to do; NULL: in itself */
    tick *wake;
    /* set to 1 when a CTA has ended (sm_end_ctas), a warp has faulted or there is room for more CTAs; NULL: nobody looks */
    uint8_t *has_pending;
    struct mech_set *mechs;
    struct mech_gpu *mech_gpu;
    /* all warps of a CTA have ended, and it left the SM */
    void (*on_cta_done)(void *ctx, uint32_t sm, struct cta *cta, struct emu_grid *grid);
    /* a mechanism lets more CTAs onto the SM than before; may be NULL */
    void (*on_room)(void *ctx);
    /* whose requests these are (mem/req.h); NULL: nobody's */
    uint32_t (*owner_slot)(void *ctx, const struct emu_grid *grid);
    void *ctx;
    /* for tests: contexts are handed out from the highest number down, so that they differ from slots */
    bool contexts_from_top;
    /* for tests: each scheduler has a bank of slots, as with more than 64 warps, though one bank would hold them all */
    bool bank_by_scheduler;
};
/* What the rows' bounds cannot say of residency. False with diagnostics. */
bool residency_check(const struct machine *machine, struct diag_list *diags);
struct sm *sm_create(const struct sm_setup *s);
void sm_destroy(struct sm *m);
void sm_abandon(struct sm *m); /* closes its CTAs: it will not run again */

/* Occupancy: does one more CTA of this grid fit (threads, warps, CTA slots, registers by allocation unit, shared memory)? */
bool sm_fits(const struct sm *m, const struct emu_grid *g);
/* A grid that comes to the machine: told to every SM after its cycle at this time, before the first CTA of the grid. */
struct sm_launch_info {
    const char *name;
    uint64_t launch;
    uint32_t grid[3], block[3];
    uint32_t registers;
    uint64_t shared_bytes;
    uint32_t ctas_per_sm;
};
void sm_launch(struct sm *m, tick now, const struct sm_launch_info *info);
bool sm_start_cta(struct sm *m, tick now, struct emu_grid *g,
                  uint64_t linear); /* false: the emulator faulted */
/* What a grid did on an SM, of the events that have an owner (core/owned_stats.h). */
struct sm_own {
    struct sm_stats sm;
    struct l1_stats l1;
};
const struct sm_own *sm_own(struct sm *m, const struct emu_grid *g); /* NULL: it had no CTA here */
void sm_grid_end(struct sm *m, uint64_t grid_id);                    /* it will start no CTA any more */
/* NULL: no CTA of the grid is here, and what is handed out is what the CTAs here have. Else what is wrong. */
const char *sm_leaks(const struct sm *m, const struct emu_grid *g);
void sm_tick(struct sm *m, tick now);
/* The same in two parts, for SMs that run side by side: sm_cycle touches nothing that others share, sm_end_ctas does. */
void sm_cycle(struct sm *m, tick now);
void sm_end_ctas(struct sm *m);
/* Until when an SM may run on by itself after its cycle (ahead.c). */
struct sm_window {
    tick end;  /* not so far; not after the present cycle: not at all */
    tick edge; /* the crossbar's next one */
};
enum { SM_REQUESTS_MAX = 16 }; /* that an SM makes in a cycle */
void sm_run_ahead(struct sm *m, const struct sm_window *w, const struct xbar *xbar);
bool sm_awaits_step(const struct sm *m); /* it is in a cycle whose step is to come, and has not ended it */
tick *sm_wake(struct sm *m);             /* set by sm_tick to the next time it has something to do */
tick sm_heard(struct sm *m);             /* a reply was pushed: its wake, lowered to when that can be taken */
bool sm_idle(const struct sm *m);        /* no CTA, no request under way */
bool sm_faulted(const struct sm *m);
bool sm_sleeps(const struct sm *m); /* a warp is in nanosleep and will go on by itself */
/* A deferred atomic of this SM takes effect at L2 (called by the slice's hook). */
void sm_apply_atomic(struct sm *m, const struct req *r);
void sm_settle(struct sm *m,
               tick now); /* charges the cycles slept so far to their cause, for statistics at this moment */
void sm_kernel_end(struct sm *m, tick now); /* flushes the L1 where the machine says so */
void *sm_stats(struct sm *m);
void *sm_l1_stats(struct sm *m);
void *sm_mech_state(struct sm *m,
                    uint32_t mechanism); /* its state on this SM: what its statistic rows point into */
const struct mech_counters *
sm_mech_counters(struct sm *m); /* what mechanisms are told, since the kernel began */
uint32_t sm_ctas(const struct sm *m);
uint64_t sm_registers_used(const struct sm *m);
/* The load at pc of a grid that had CTAs here; NULL: it had none. Valid until sm_kernel_end. */
const struct pc_load_stats *sm_pc_load(const struct sm *m, const struct emu_grid *g, uint32_t pc);
void sm_explain(const struct sm *m, tick now, struct strbuf *out); /* which warp waits for what, with ages */

#endif
