/* profile.h: how long kernels take at warp tuples {N, p} (docs/papers.md), and what was counted of them
 * with all warps and at (1, 1): what a model of Poise is trained on (thesis 5.5.3), and what a map shows. */
#ifndef HEDDLE_PROFILE_H
#define HEDDLE_PROFILE_H

#include "base/arena.h"
#include "base/diag.h"
#include "mech/poise_model.h"

struct profile_point {
    uint32_t n, p;
    uint64_t cycles;
};

/* One launch of a kernel. */
struct profile_kernel {
    const char *workload, *size, *name;
    /* Counted from 1 over the whole program. */
    uint64_t launch;
    /* Resident warps of a scheduler: N and p are at most this. */
    uint32_t warps;
    /* With all warps. */
    uint64_t cycles;
    /* Counted over the whole launch: with all warps, and at (1, 1). */
    struct poise_window all, one;
    /* By n, then by p, each tuple once; the last one is (warps, warps). */
    VEC(struct profile_point) points;
};

struct profile {
    /* With the settings that were changed: "kepler l1.size=32K". */
    const char *machine;
    /* What the runs were made with: job_simulator(). */
    const char *simulator;
    /* The slots of a scheduler: what targets are scaled to (24 in the thesis). */
    uint32_t warps;
    VEC(struct profile_kernel) kernels;
    /* Holds the texts. */
    struct arena arena;
};

void profile_free(struct profile *p);

/* Puts a point in its order. False: the tuple is there already, and stays as it is. */
bool profile_add_point(struct profile_kernel *k, struct profile_point point);
/* NULL: the tuple was not measured. */
const struct profile_point *profile_find(const struct profile_kernel *k, uint32_t n, uint32_t p);
/* Cycles with all warps, by cycles at the point. */
double profile_speedup(const struct profile_kernel *k, const struct profile_point *point);

/* The file (docs/poise.md): a text, so that a profile can be kept beside the model that was made of it. */
void profile_write(const struct profile *p, struct strbuf *out);
/* False with diagnostics that name the line; what was read until then must be freed all the same. */
bool profile_read(struct profile *p, const char *path, const char *text, size_t len, struct diag_list *diags);
bool profile_load(struct profile *p, const char *path, struct diag_list *diags);

/* The largest number of values of a grid: a scheduler has no more warps. */
enum { PROFILE_WARPS_MAX = MECH_BANK_WARPS };

/* Values of N, and of p: 1, 1 + step, ... and `most`. Gives how many. */
uint32_t profile_grid(uint32_t most, uint32_t step, uint32_t values[PROFILE_WARPS_MAX]);

#endif
