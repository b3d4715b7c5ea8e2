/* stuck.h: finds machines that are stuck, and reports who waits for whom.
 *
 * A machine is stuck when work is outstanding and no component will wake by itself, or when it is silent for
 * too long: no instruction is issued, no request is made or answered, no CTA starts and no warp sleeps. Too
 * long is gpu.stuck_cycles of the slowest clock beyond all latencies of the machine together. The
 * report follows the data: kernels, streams, SMs (which warp waits for what), crossbar, L2 slices, DRAM
 * channels, then the links that hold something, each with its age. */
#ifndef HEDDLE_STUCK_H
#define HEDDLE_STUCK_H

#include "core/dispatch.h"
#include "core/run_end.h"
#include "core/stream.h"
#include "core/wiring.h"

/* Written by stuck.c alone. */
struct watchdog {
    /* warp instructions so far, when it last looked */
    uint64_t insts;
    /* a sum that grows with every instruction, request, answer and CTA; the cycle at which it last grew */
    uint64_t mark, cycle;
    /* core cycles for which a machine that works can be silent */
    uint64_t silence_max;
};

void watchdog_init(struct watchdog *d, const struct machine *m, const struct gpu_time *time);

/* What the watchdog looks at. */
struct stuck_view {
    const struct wiring *wiring;
    const struct dispatcher *dispatch;
    const struct stream_set *streams;
    const struct gpu_time *time;
};

/* True: nothing has moved for too long. */
bool stuck_is_silent(struct watchdog *d, const struct stuck_view *v);
/* Ends the run with a report. */
void stuck_end(const struct stuck_view *v, const char *why, struct run_end *end);

#endif
