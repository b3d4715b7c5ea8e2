/* helper.h: the kernel that a mechanism runs on the SMs in cache mode.
 *
 * It is made of PTX that the mechanism brings, lowered as every kernel is, and runs through the ordinary
 * pipeline: from the first launch of the program on, until the device is reset or the run ends. Between two
 * launches it may move to other SMs (roles.h). It is in no queue of the dispatcher and has no record. Its
 * warps talk to the slices of the L2 by loads and stores of lines that only they may touch, the windows
 * (mech/mech_slices.h); a load of the window is answered when there is work, so SMs whose warps all wait
 * sleep.
 *
 * It has up to three parts, all of which are resident on each of these SMs: each is a grid with its own
 * registers, shared memory and local memory. The only parameter of a part is the address of a table: the
 * addresses of each warp's window lines, 8 bytes each, by the number of the warp in the grid. Local memory of
 * a helper stays in the L1: helper_fit.c refuses what does not fit there.
 *
 * helper.c decides what runs where; kernel_life.c runs the SMs and starts the helper. */
#ifndef HEDDLE_HELPER_H
#define HEDDLE_HELPER_H

#include "core/helper_fit.h"
#include "core/wiring.h"

/* A part of it that runs. */
struct helper_grid {
    struct emu_grid *grid;
    struct emu_fault fault;
    /* CTAs on each SM */
    uint32_t ctas_each;
    /* the fault's message says where it is */
    bool is_told;
};

/* Written by helper.c alone. */
struct helper {
    const struct wiring *wiring;
    const struct gpu_time *time;
    helper_compiler *compile;
    /* NULL: no mechanism has one, or no SM may be in cache mode */
    const struct mechanism *mech;
    struct mech_helper wants;
    char *ptx;
    /* while it runs: with no SM in cache mode it has no warps */
    bool is_running;
    struct emu_device *device;
    struct emu_module *module;
    struct helper_grid grids[MECH_HELPER_PARTS];
    struct mech_window window;
    uint32_t *window_numbers;
    uint64_t **window_addresses;
    uint64_t table;
};

/* Lowers the kernel and checks that it fits an SM. False with diagnostics. */
bool helper_init(struct helper *h, const struct wiring *w, const struct gpu_time *time,
                 helper_compiler *compile, struct diag_list *diags);
static inline bool helper_is_running(const struct helper *h) { return h->is_running; }
/* A mechanism has a helper, and it does not run. */
static inline bool helper_is_wanted(const struct helper *h) { return h->mech && !h->is_running; }
/* Opens the grids of the helper; its CTAs are started one after another. False: the fault says why it cannot
 * start. */
bool helper_open(struct helper *h, struct emu_device *device, struct emu_fault *fault);
/* The position in a walk over its CTAs, which begins at {0}. */
struct helper_walk {
    uint32_t part, next;
    /* the CTA that is to be started, and the SM */
    uint32_t cta, sm;
};
/* Names the next CTA. False: all have started. */
bool helper_choose(const struct helper *h, struct helper_walk *w);
/* Starts that CTA. The SM has already run its cycle at this time. False: the fault says why it cannot. */
bool helper_start_cta(const struct helper *h, const struct helper_walk *w, struct emu_fault *fault);
/* Loads of the window that its warps have under way when all of them wait for work. */
uint32_t helper_loads(const struct helper *h);
/* The fault of one of its warps; NULL: there is none. */
const struct emu_fault *helper_fault(struct helper *h);
/* Are CTAs of it on SMs? */
bool helper_has_ctas(const struct helper *h);
/* Tells its warps to end: the slices answer their loads of the window. */
void helper_retire(const struct helper *h);
/* All warps have ended; the helper may start again on other SMs. */
void helper_pause(struct helper *h);
/* Its CTAs have ended, or the run has: frees its memory on the device. */
void helper_close(struct helper *h);
void helper_free(struct helper *h);

#endif
