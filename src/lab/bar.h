/* bar.h: how far a sweep is: on a terminal a bar and a line a worker, drawn over themselves; elsewhere a line
 * from time to time. */
#ifndef HEDDLE_BAR_H
#define HEDDLE_BAR_H

#include "base/strbuf.h"

struct bar {
    bool is_terminal;
    /* Lines that are on the screen now. */
    uint32_t lines;
    /* The time of host_now(). */
    double drawn_at;
    /* The last tenth that was printed, off a terminal. */
    uint32_t told;
    bool began;
};

struct bar_view {
    uint32_t all, done, failed, elsewhere;
    /* The share of the work that is done, 0 to 1. */
    double share;
    /* Seconds; left < 0: not known. */
    double elapsed, left;
    /* "" or a remark such as "3 wait in Slurm's queue". */
    const char *where;
};
/* What one worker does. */
struct bar_worker {
    const char *workload, *size, *column;
    /* Expected 0: not known. */
    double seconds, expected;
};

/* Is it time to draw again? Drawing costs system calls. */
bool bar_due(const struct bar *p, const struct bar_view *v, double now);
void bar_draw(struct bar *p, const struct bar_view *v, const struct bar_worker *workers, uint32_t count,
              double now);
/* Before other output, and at the end. */
void bar_clear(struct bar *p);

/* "0:42", "1:02:03"; "?" below zero. */
void bar_time(double seconds, char out[24]);
/* One frame, without the movement of the cursor: at most `rows` lines, each narrower than `columns`. For
 * tests. */
void bar_frame(const struct bar_view *v, const struct bar_worker *workers, uint32_t count, uint32_t columns,
               uint32_t rows, struct strbuf *out, uint32_t *lines);

#endif
