/* progress_line.h: the line on a terminal that says how far a run is. */
#ifndef HEDDLE_PROGRESS_LINE_H
#define HEDDLE_PROGRESS_LINE_H

#include "core/timed.h"

struct gpu_progress {
    /* when it was last drawn; warp instructions then */
    uint64_t at_ns, insts;
    /* the kernel shown, and since when */
    uint64_t kernel, kernel_ns;
    bool visible;
};

/* Lets the run draw the line where stderr is a terminal that can redraw one. */
void progress_attach(struct gpu_progress *shown, struct timed_options *o);
void progress_clear(struct gpu_progress *shown);

/* Writes the line, at most `columns` wide: the kernel's name is shortened first. seconds_left < 0:
 * unknown. */
enum { PROGRESS_BYTES = 256 };
void progress_line(const struct timed_progress *p, double insts_per_second, double seconds_left,
                   uint32_t columns, char out[PROGRESS_BYTES]);

#endif
