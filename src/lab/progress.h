/* progress.h: how far a sweep is: on a terminal a bar and a line a worker, drawn over themselves; elsewhere a line now and then. */
#ifndef HEDDLE_LAB_PROGRESS_H
#define HEDDLE_LAB_PROGRESS_H

#include "base/strbuf.h"

struct bar {
    bool is_terminal;
    uint32_t lines;  /* on the screen now */
    double drawn_at; /* host_now() */
    uint32_t told;   /* the last tenth that was told, off a terminal */
    bool began;
};

struct bar_view {
    uint32_t all, done, failed, elsewhere;
    double share;         /* of the work, 0 to 1 */
    double elapsed, left; /* seconds; left < 0: not known */
    const char *where;    /* "" or a note such as "3 wait in Slurm's queue" */
};
/* What one worker does. */
struct bar_worker {
    const char *workload, *size, *column;
    double seconds, expected; /* expected 0: not known */
};

/* Is it time to draw again? Drawing costs system calls. */
bool bar_due(const struct bar *p, const struct bar_view *v, double now);
void bar_draw(struct bar *p, const struct bar_view *v, const struct bar_worker *workers, uint32_t count,
              double now);
void bar_clear(struct bar *p); /* before other output, and at the end */

/* "0:42", "1:02:03"; "?" below zero. */
void bar_time(double seconds, char out[24]);
/* One frame, without the movement of the cursor: at most `rows` lines, each narrower than `columns`. For tests. */
void bar_frame(const struct bar_view *v, const struct bar_worker *workers, uint32_t count, uint32_t columns,
               uint32_t rows, struct strbuf *out, uint32_t *lines);

#endif
