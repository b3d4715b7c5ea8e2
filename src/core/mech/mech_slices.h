/* mech_slices.h: the mechanism that works at the slices of the L2: a state for each slice, for each of its
 * hooks the only place that calls it, and its ports.
 *
 * The window of a slice is a set of lines of device memory that the address map sends to it. Only a
 * privileged launch may touch them (emu.h), and requests of its warps for the window never reach the tags. */
#ifndef HEDDLE_MECH_SLICES_H
#define HEDDLE_MECH_SLICES_H

#include "core/mech/mech_gpu.h"
#include "mem/addrmap.h"
#include "mem/l2_claim.h"
#include "mem/xbar.h"

/* The windows of all slices. */
struct mech_window {
    /* addresses [base, end) are the windows and nothing else; [line - first]: number of the line in its
     * slice's window, and MECH_NO_WINDOW for lines that no warp has */
    uint64_t base, end;
    uint32_t line_bytes;
    const uint32_t *numbers;
    /* [slice][number] -> address */
    uint64_t *const *addresses;
};
#define MECH_NO_WINDOW UINT32_MAX

struct mech_slices_setup {
    const struct mech_set *set;
    struct mech_gpu *gpu;
    struct l2_slice *const *slices;
    const struct addrmap *map;
    uint32_t slice_count, sm_count;
    /* it has a gate for each slice where there are SMs in cache mode; requests that may come when one has
     * closed */
    struct xbar *xbar;
    uint32_t behind_gate;
    /* lines of a slice */
    uint32_t lines, line_bytes;
    tick core_period;
};

struct mech_slices;
/* Returns NULL if no attached mechanism has a state for slices. */
struct mech_slices *mech_slices_create(const struct mech_slices_setup *setup);
void mech_slices_destroy(struct mech_slices *m);
/* What the mechanism has to know of a helper that starts. */
struct mech_slices_helper {
    const struct mech_window *window;
    /* warps of the helper; lines of the window that each of them has */
    uint32_t warps, window_lines;
    /* the last SMs run the helper: of their requests, only those for the window go to the mechanism */
    uint32_t cache_sms;
};
/* The helper is there: the mechanism is asked about every request from now on. False: it failed
 * (mech_gpu_failure). */
bool mech_slices_start(struct mech_slices *m, const struct mech_slices_helper *helper);
/* Roles have changed, and the helper has started again: lines that the slices may not keep begin to leave. */
void mech_slices_drop_lines(struct mech_slices *m);
/* The host has written to a line. */
void mech_slices_host_write(struct mech_slices *m, uint32_t slice, uint64_t line);
/* The helper is about to end: loads of the window are answered. */
void mech_slices_retire(struct mech_slices *m);
/* The mechanism's index in the set; the state of a slice, for statistics. */
uint32_t mech_slices_owner(const struct mech_slices *m);
void *mech_slices_state(const struct mech_slices *m, uint32_t slice);

#endif
