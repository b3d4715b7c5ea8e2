/* report.h: experiments as one HTML page, or their figures as SVG files (docs/report.md). */
#ifndef HEDDLE_REPORT_H
#define HEDDLE_REPORT_H

#include "lab/figure.h"

struct report {
    struct store *store;
    const struct figure_set *experiments;
    uint32_t experiment_count;
    /* Has report.html and figures.cjs, which the build makes of web/. */
    const char *page_dir;
    /* The version of Heddle. */
    const char *version;
    /* Version and hash of the simulator that made the runs. */
    const char *simulator;
    /* Include only name, state, cycles and IPC of each run. */
    bool is_brief;
};

/* The page with its data at `path`: whole, or not at all. False with an error in words in *error, to be
 * freed. */
bool report_write(const struct report *r, const char *path, char **error);
/* Every figure as a file in `folder`, which is made where it is missing. Needs node. */
bool report_svg(const struct report *r, const char *folder, char **error);

#endif
