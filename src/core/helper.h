/* helper.h: the kernel that a mechanism runs on the SMs in cache mode.
 *
 * It is made of PTX that the mechanism brings, lowered as every kernel is, and runs through the ordinary
 * pipeline: from the first launch of the program on, until the device is reset or the run ends. It is in no
 * queue of the dispatcher and has no record. Its warps talk to the slices of the L2 by loads and stores of
 * lines that only they may touch, the windows (mech/mech_slices.h); a load of the window is answered when
 * there is work, so SMs whose warps all wait sleep.
 *
 * Its first parameter, the only one, is the address of a table: the addresses of each warp's window lines, 8
 * bytes each, by the number of the warp in the grid. */
#ifndef HEDDLE_HELPER_H
#define HEDDLE_HELPER_H

#include "core/wiring.h"

typedef struct isa_module *helper_compiler(const struct machine *m, const char *name, const char *ptx,
                                           uint32_t registers_max, struct diag_list *diags);

/* Written by helper.c alone. */
struct helper {
    struct wiring *wiring;
    const struct gpu_time *time;
    helper_compiler *compile;
    /* NULL: no mechanism has one, or no SM is in cache mode */
    const struct mechanism *mech;
    struct mech_helper wants;
    char *ptx;
    /* CTAs on each SM, and their warps */
    uint32_t ctas_each, warps_each;
    /* while it runs */
    struct emu_device *device;
    struct emu_module *module;
    struct emu_grid *grid;
    struct emu_fault fault;
    struct mech_window window;
    uint32_t *window_numbers;
    uint64_t **window_addresses;
    uint64_t table;
};

/* Lowers the kernel and checks that it fits an SM. False with diagnostics. */
bool helper_init(struct helper *h, struct wiring *w, const struct gpu_time *time, helper_compiler *compile,
                 struct diag_list *diags);
/* Starts it, unless it runs or there is none. False: the fault says why it cannot. */
bool helper_start(struct helper *h, struct emu_device *device, struct emu_fault *fault);
static inline bool helper_is_running(const struct helper *h) { return h->grid != NULL; }
/* The fault of one of its warps; NULL: there is none. */
const struct emu_fault *helper_fault(struct helper *h);
/* Are CTAs of it on SMs? */
bool helper_has_ctas(const struct helper *h);
/* Its CTAs have ended, or will never run again: gives back what it has of the device. */
void helper_close(struct helper *h);
void helper_free(struct helper *h);

#endif
