/* timed_impl.h: the inside of the timed GPU, for the files of core/ that make it up:
 *   wiring.c    components and the links between them      loop.c      time: who ticks when
 *   units.c, units_step.c  those that run side by side; wakes.c: when    units_crew.c, crew.c, pace.c: on threads
 *   stream.c    whose turn it is; copy.c: copy engines     dispatch.c  grids, CTAs onto SMs
 *   snapshot.c  statistics of a kernel, a sample, the run  laws.c      what must hold when a kernel has ended
 *   stuck.c     who waits for whom when nothing moves      timed.c     the interface */
#ifndef HEDDLE_TIMED_IMPL_H
#define HEDDLE_TIMED_IMPL_H

#include "base/arena.h"
#include "base/vec.h"
#include "core/gpu_clock.h"
#include "core/occupancy.h"
#include "core/own.h"
#include "core/sm/sm.h"
#include "core/stream.h"
#include "core/timed.h"
#include "core/units.h"
#include "mem/addrmap.h"
#include "mem/dram.h"
#include "mem/l2.h"
#include "mem/xbar.h"

enum kernel_state {
    KERNEL_QUEUED,  /* waits for its turn, or for room */
    KERNEL_RUNNING, /* open, CTAs are started and run */
    KERNEL_DRAINING /* its CTAs are done; alone on the machine, so its stores are waited for */
};

struct gpu_kernel {
    struct emu_launch launch;
    void *params; /* the launch's own copy */
    char *name;
    uint64_t id, stream;
    enum kernel_state state;
    struct emu_grid *grid;
    struct emu_fault fault;
    uint64_t ctas, next_cta, ctas_done;
    tick ready_at; /* first CTA not before */
    uint64_t start_cycle;
    void **before;               /* statistics when it started */
    uint64_t *cta_starts;        /* cycle, by CTA; NULL: not kept */
    struct pc_load_stats *loads; /* taken when its last CTA has ended, before the SMs forget them */
    struct sm_own own;           /* at the same time */
    uint32_t place;              /* of its requests, from 1 */
    struct occupancy fit;        /* of an SM that it has for itself */
    bool overlapped;             /* another kernel was on the machine with it */
};

struct gpu_counts { /* the statistics group "gpu" */
    uint64_t cycles, busy_cycles, kernels, ctas;
    uint64_t copies, copied_bytes, copy_cycles;
};
extern const struct stat_row gpu_stat_rows[];

struct dispatcher {
    VEC(struct gpu_kernel *) queue; /* grids on the machine, in launch order */
    bool draining;                  /* one kernel is left and only waits for its stores */
    uint32_t next_sm;               /* round robin */
    tick wake;
    uint64_t launches;
};

struct gpu_links { /* by SM or slice */
    struct link *sm_to_xbar, *xbar_to_sm, *xbar_to_slice, *slice_to_xbar, *slice_to_dram, *dram_to_slice;
};

/* The statistics groups, in this order; those of mechanisms follow. */
enum { GROUP_SM, GROUP_L1, GROUP_XBAR, GROUP_L2, GROUP_DRAM, GROUP_QUEUE, GROUP_GPU, GROUP_MECH };

enum gpu_end { END_NONE, END_FAULT, END_STUCK, END_LAW, END_INTERRUPTED };

struct timed_gpu {
    /* touched at every step, in a few lines of the host's cache */
    tick now;
    tick edges[DOMAIN_COUNT]; /* the first edge of each domain at or after now */
    struct xbar *xbar;
    struct units *units; /* SMs and memory partitions, side by side */
    enum gpu_end end;    /* why nothing runs any more */
    bool no_skip;
    bool has_fault; /* a warp has met one */
    bool
        runs_ahead; /* SMs may run on before the others (ahead.c): one kernel is here, and nobody asks for anything before it ends */
    struct gpu_clock clock;
    tick next_sample;
    uint64_t steps;
    struct core_clock core;
    struct dispatcher dispatch;
    struct stream_set streams;

    uint32_t sm_count, slice_count, channel_count;
    struct sm **sms;
    struct l2_slice **slices;
    struct dram_channel **channels;
    uint32_t busy_unit; /* the one that was not idle when last asked */
    struct machine machine;
    struct timed_options options;
    struct emu_device *device;
    struct addrmap *map;
    struct req_pool pool;
    struct gpu_links links;
    struct arena arena; /* what lives as long as the GPU */
    struct mech_set *mechs;
    struct mech_gpu *mech_gpu;

    struct gpu_counts counts;
    tick busy_since; /* start of the present time with kernels running; TICK_NEVER = none */
    uint32_t group_count;
    struct timed_group *groups;
    VEC(struct timed_kernel) kernels;
    VEC(struct emu_stats) kernel_emu; /* of each of them */
    VEC(struct timed_sample) samples;
    VEC(struct timed_cta) ctas;
    VEC(struct timed_transfer) transfers;
    void **sample_before;

    struct emu_fault fault;
    struct strbuf report;
    uint64_t progress_mark, progress_cycle, progress_insts; /* see stuck.c */
};

static inline uint64_t gpu_cycle(const struct timed_gpu *g)
{
    return g->now / g->clock.domains[DOMAIN_CORE].period;
}

/* The first edge of a domain after now. */
static inline tick loop_edge_after(const struct timed_gpu *g, enum gpu_domain d)
{
    return g->edges[d] > g->now ? g->edges[d] : g->edges[d] + g->clock.domains[d].period;
}

/* wiring.c */
bool wiring_create(struct timed_gpu *g, struct diag_list *diags);
void wiring_destroy(struct timed_gpu *g);
bool wiring_idle(struct timed_gpu *g); /* no request, no CTA anywhere */

/* dispatch.c */
void dispatch_add(struct timed_gpu *g, const struct emu_launch *l, uint64_t stream);
void dispatch_tick(struct timed_gpu *g, tick now);
void dispatch_cta_done(void *gpu, uint32_t sm, struct cta *cta, struct emu_grid *grid);
uint32_t dispatch_place_of(void *gpu, const struct emu_grid *grid);
void dispatch_drained(struct timed_gpu *g); /* the machine is empty: ends the kernel that waited for it */
void dispatch_close(struct timed_gpu *g);
void dispatch_abandon(struct timed_gpu *g); /* nothing will run again: grids and modules are let go */
void kernel_free(struct gpu_kernel *k);

/* loop.c */
enum loop_goal { GOAL_ALL, GOAL_STREAM, GOAL_MARK };
void loop_run(struct timed_gpu *g, enum loop_goal goal, uint64_t which); /* stream or mark */
void loop_settle(struct timed_gpu *g);

/* snapshot.c */
void snapshot_init(struct timed_gpu *g);
void **snapshot_take(
    const struct timed_gpu *g); /* one struct for each group, summed over instances; loop_settle first */
void snapshot_free(const struct timed_gpu *g, void **s);
void snapshot_subtract(const struct timed_gpu *g, void **s, void **before);
void snapshot_kernel(struct timed_gpu *g, struct gpu_kernel *k, bool partial);
void snapshot_own(const struct timed_gpu *g, struct gpu_kernel *k);
void snapshot_sample(struct timed_gpu *g);
void snapshot_close(struct timed_gpu *g);

/* laws.c, stuck.c: end the run (g->end, g->fault, g->report) when they find something. */
void laws_check(struct timed_gpu *g);                                    /* the machine is empty */
void laws_check_kernel(struct timed_gpu *g, const struct gpu_kernel *k); /* its last CTA has left */
void laws_check_alone(struct timed_gpu *g, const struct gpu_kernel *k, void *const *stats);
void stuck_report(struct timed_gpu *g, const char *why);
bool stuck_no_progress(struct timed_gpu *g); /* nothing has been issued or asked for too long */
void gpu_fail(struct timed_gpu *g, enum gpu_end end, enum emu_fault_kind kind, const char *text);

#endif
