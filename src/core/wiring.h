/* wiring.h: the components of a machine and the links between them. See wiring.c. */
#ifndef HEDDLE_WIRING_H
#define HEDDLE_WIRING_H

#include "base/arena.h"
#include "core/gpu_clock.h"
#include "core/mech/mech_gpu.h"
#include "core/mech/mech_slices.h"
#include "core/sharers.h"
#include "core/sm/sm.h"
#include "core/timed.h"
#include "core/units.h"
#include "mem/dram.h"
#include "mem/l2.h"
#include "mem/smring.h"
#include "mem/xbar.h"

/* By SM or by slice. */
struct gpu_links {
    struct link *sm_to_xbar, *xbar_to_sm, *xbar_to_slice, *slice_to_xbar, *slice_to_dram, *dram_to_slice;
};

/* Written by wiring.c alone, when the machine is made; only `busy`, `helper_loads`, `compute_count` and
 * `role_counts` change afterwards. */
struct wiring {
    struct xbar *xbar;
    /* NULL: no mechanism uses it */
    struct smring *ring;
    struct sharers *sharers;
    /* a mechanism asks how old copies in the L1s are */
    bool dates_copies;
    /* SMs and memory partitions, which run side by side */
    struct units *units;
    /* the instructions of grids, for all SMs */
    struct uop_tables *uops;
    struct sm **sms;
    struct l2_slice **slices;
    struct dram_channel **channels;
    uint32_t sm_count, slice_count, channel_count;
    /* SMs from here on are in cache mode: they run a mechanism's helper kernel, and no CTA of the program */
    uint32_t compute_count;
    /* the most SMs that may be in cache mode */
    uint32_t cache_most;
    /* changes of roles, and the core cycles that they took */
    struct {
        uint64_t changes, cycles;
    } role_counts;
    /* parameters of their L1s */
    struct l1_params cache_l1;
    /* loads of the window that the helper's warps on these SMs have under way while the machine is idle */
    uint32_t helper_loads;
    /* the component that was not idle when wiring_is_idle last asked */
    uint32_t busy;
    const struct machine *machine;
    struct addrmap *map;
    struct mech_set *mechs;
    struct mech_gpu *mech_gpu;
    /* NULL: no mechanism works at the slices */
    struct mech_slices *mech_slices;
    struct gpu_links links;
    /* memory requests of the whole machine; units have shares of it */
    struct req_pool pool;
    /* arrays that live as long as the machine */
    struct arena arena;
};

struct wiring_setup {
    const struct machine *machine;
    const struct gpu_time *time;
    const struct timed_options *options;
    /* of every SM: see sm_setup */
    void (*on_cta_done)(void *ctx, uint32_t sm, struct cta *cta, struct emu_grid *grid);
    void (*on_room)(void *ctx);
    void *ctx;
};

/* False with diagnostics: the machine's parameters or its mechanisms are wrong. Call wiring_destroy in any
 * case. */
bool wiring_create(struct wiring *w, const struct wiring_setup *s, struct diag_list *diags);
void wiring_destroy(struct wiring *w);

/* From now on the helper's warps have this many loads of the window under way while the machine is idle. */
void wiring_set_helper(struct wiring *w, uint32_t loads);
/* The last `cache_sms` SMs are in cache mode from now on. The machine is idle, and has no helper. */
void wiring_set_roles(struct wiring *w, tick now, uint32_t cache_sms);
/* Counts a change of roles that took this many core cycles. */
void wiring_count_change(struct wiring *w, uint64_t cycles);
/* The machine has no CTA and no request, except those of a helper that waits for work. */
bool wiring_is_idle(struct wiring *w);
/* The host has written these bytes, by a copy or a fill: copies of them in L1s are old, and a mechanism at
 * the slices hears of every line. */
void wiring_host_write(struct wiring *w, tick now, uint64_t address, uint64_t bytes);
/* A copy from the host has brought these bytes: they are in L2 afterwards, where the machine says so. */
void wiring_host_copy(struct wiring *w, uint64_t address, uint64_t bytes);
/* The run is over: SMs close their CTAs. */
void wiring_abandon(struct wiring *w);

#endif
