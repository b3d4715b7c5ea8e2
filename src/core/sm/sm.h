/* sm.h: one streaming multiprocessor on the core clock: warp slots, fetch, instruction buffers, scoreboard,
 * schedulers, operand collectors, pipelines, load-store unit, shared memory, small caches, L1. */
#ifndef HEDDLE_SM_H
#define HEDDLE_SM_H

#include "base/event_flag.h"
#include "core/mech/mech_host.h"
#include "core/sm/sm_params.h" /* sm_rows */
#include "core/sm/sm_stats.h"  /* sm_stat_rows, enum issue_slot */
#include "emu/step.h"
#include "mem/l1.h"

struct machine;
struct smring;
struct sharers;
struct uop_tables;

/* Bytes of local memory and stack of a thread, at most: those of a warp are a range of addresses. */
enum { SM_THREAD_LOCAL_MAX = 512 << 10 };

struct sm;
struct sm_setup {
    /* the residency limits are the machine's */
    const struct machine *machine;
    const struct sm_params *params;
    const struct l1_params *l1;
    uint32_t index, sm_count;
    const struct clock_domain *clock;
    struct req_pool *pool;
    /* of the machine's SMs */
    struct uop_tables *uops;
    struct link *to_xbar, *from_xbar;
    /* where the SM says when it next has something to do; NULL: in itself */
    tick *wake;
    /* set when a CTA has ended (sm_end_ctas), a warp has faulted or there is room for more CTAs; NULL: nobody
     * looks */
    struct event_flag *pending;
    struct mech_set *mechs;
    struct mech_gpu *mech_gpu;
    /* parts that mechanisms of several SMs share; NULL: no mechanism uses it */
    struct smring *ring;
    struct sharers *sharers;
    /* Observers, called by sm_end_ctas alone, in the order of the SMs: they are told, and answer nothing. A
     * CTA has ended and left the SM. */
    void (*on_cta_done)(void *ctx, uint32_t sm, struct cta *cta, struct emu_grid *grid);
    /* A mechanism lets more CTAs onto the SM than before; may be NULL. */
    void (*on_room)(void *ctx);
    void *ctx;
    /* for tests: contexts are handed out from the highest number down, so that they differ from slots */
    bool contexts_from_top;
    /* for tests: each scheduler has a bank of slots, as with more than 64 warps, though one bank would hold
     * them all */
    bool bank_by_scheduler;
};
/* Checks what the bounds of the rows cannot express about residency. False with diagnostics. */
bool residency_check(const struct machine *machine, struct diag_list *diags);
struct sm *sm_create(const struct sm_setup *s);
void sm_destroy(struct sm *m);
/* Closes the CTAs of an SM that will not run again. */
void sm_abandon(struct sm *m);

/* Occupancy: does one more CTA of this grid fit (threads, warps, CTA slots, registers by allocation unit,
 * shared memory)? */
bool sm_fits(const struct sm *m, const struct emu_grid *g);
/* A grid that comes to the machine. */
struct sm_launch_info {
    const char *name;
    uint64_t launch;
    uint32_t grid[3], block[3];
    uint32_t registers;
    uint64_t shared_bytes;
    uint32_t ctas_per_sm;
    bool cooperative;
};
/* Every SM is told of a grid, after its cycle at this time and before the first CTA of the grid. */
void sm_launch(struct sm *m, tick now, const struct sm_launch_info *info);
/* Starts a CTA, by its number in the grid. It fits. owner: of the grid's requests (mem/req.h); 0: nobody.
 * False: the emulator faulted. */
bool sm_start_cta(struct sm *m, tick now, struct emu_grid *g, uint64_t linear, uint32_t owner);
/* The dispatcher has started a CTA here, or has found none for this SM: are there others that have not
 * started? An SM that has neither got a CTA nor asked for one is not told: it may have run ahead. */
void sm_tell_left(struct sm *m, bool has_started, bool ctas_left);
/* The events of a grid on an SM that have an owner (core/owned_stats.h). */
struct sm_own {
    struct sm_stats sm;
    struct l1_stats l1;
};
/* Adds those of a grid to the sum; nothing, if the grid had no CTA on this SM. */
void sm_own_add(struct sm *m, const struct emu_grid *g, struct sm_own *sum);
/* The grid starts no more CTAs. */
void sm_grid_end(struct sm *m, uint64_t grid_id);
/* Says what is wrong; NULL: no CTA of the grid is left, and the CTAs that are here hold all that is handed
 * out. */
const char *sm_leaks(const struct sm *m, const struct emu_grid *g);
/* One cycle. */
void sm_tick(struct sm *m, tick now);
/* A cycle in two parts, for SMs that run side by side: sm_cycle touches nothing that others share,
 * sm_end_ctas does: it ends the CTAs whose last warps have left and tells the observers. */
void sm_cycle(struct sm *m, tick now);
void sm_end_ctas(struct sm *m);
/* Where sm_tick says when the SM next has something to do. */
tick *sm_wake(struct sm *m);
/* A reply was pushed: the SM wakes when it can be taken, or before. Returns its wake. */
tick sm_heard(struct sm *m);
/* No CTA is here, and no request is under way. */
bool sm_idle(const struct sm *m);
/* Prefetches of mechanisms that have not ended: in the queue, under way, or in the L1 without a load yet. */
uint64_t sm_prefetches_open(const struct sm *m);
/* What its caches have exchanged with the L2, for the laws: sectors that reads asked for, sectors that came,
 * bytes that writes and atomics sent. */
struct sm_traffic {
    uint64_t sectors_asked, sectors_got, bytes_sent;
};
struct sm_traffic sm_traffic(const struct sm *m);
bool sm_faulted(const struct sm *m);
/* A warp is in nanosleep and will go on by itself. */
bool sm_sleeps(const struct sm *m);
/* A deferred atomic of this SM takes effect at L2 (called by the slice's hook). */
void sm_apply_atomic(struct sm *m, const struct req *r);
/* Charges the cycles slept so far to their causes, for statistics at this moment. */
void sm_settle(struct sm *m, tick now);
/* The kernels on this SM have ended. Flushes the L1 where the machine says so. */
void sm_kernel_end(struct sm *m, tick now);
/* Changes the role of an idle SM, and with it the parameters of its L1 (wiring.h). */
void sm_change_role(struct sm *m, tick now, const struct l1_params *l1);
void *sm_stats(struct sm *m);
void *sm_l1_stats(struct sm *m);
/* The state of a mechanism on this SM: its statistic rows point into it. */
void *sm_mech_state(struct sm *m, uint32_t mechanism);
/* The counters that mechanisms are told, since the kernel began. */
const struct mech_counters *sm_mech_counters(struct sm *m);
uint32_t sm_ctas(const struct sm *m);
uint64_t sm_registers_used(const struct sm *m);
/* The load at pc of a grid that had CTAs here; NULL: it had none. Valid until sm_kernel_end. */
const struct pc_load_stats *sm_pc_load(const struct sm *m, const struct emu_grid *g, uint32_t pc);
/* Says which warp waits for what, and for how long. */
void sm_explain(const struct sm *m, tick now, struct strbuf *out);

#endif
