/* tuple_map.h: how fast a program is at warp tuples {N, p}, and Poise's path over them (thesis, Figures 5.2a
 * and 5.15). */
#ifndef HEDDLE_TUPLE_MAP_H
#define HEDDLE_TUPLE_MAP_H

#include "base/json_tree.h"
#include "lab/profile.h"

struct map_tuple {
    uint32_t n, p;
    /* Cycles of all launches with all warps, by those at the tuple; NAN: not measured. */
    double speedup;
    /* How often Poise predicted, measured and settled at it, over all SMs and epochs. */
    uint64_t predicted, visited, settled;
};

enum map_kind { MAP_PREDICT, MAP_VISIT, MAP_SETTLE, MAP_KINDS };
extern const char *const map_kind_names[MAP_KINDS];

/* A note of Poise, and the launch in which it was made. */
struct map_step {
    uint64_t cycle;
    const struct profile_kernel *launch;
    uint32_t sm, n, p;
    enum map_kind kind;
};

/* An epoch of a launch, over all SMs: how many predicted and settled, and the mean regret of their tuples
 * (tuple_regret.c). */
struct map_epoch {
    const struct profile_kernel *launch;
    uint32_t epoch, predictions, settlements;
    double predicted, settled;
};

struct tuple_map {
    const char *workload, *size, *machine;
    /* Warps of the scheduler that has most; launches that count, and those that some run did not have. */
    uint32_t warps, launches, left_out;
    /* Cycles of the launches that count, with all warps. */
    uint64_t cycles;
    /* By n, then by p: tuples of the grid, and others at which Poise was. */
    VEC(struct map_tuple) tuples;
    /* In their order. `dropped`: notes that the run did not keep. */
    VEC(struct map_step) path;
    uint64_t dropped;
    /* In the order in which the first SM came to them. */
    VEC(struct map_epoch) epochs;
    /* Speed of these launches under Poise; NAN: it did not run. */
    double poise_speedup;
};

/* The launches of a profile together, each at its own tuple where it has fewer warps. */
void tuple_map_make(struct tuple_map *m, const struct profile *p);
/* Adds to the map what a run with Poise (its summary) did in these launches. */
void tuple_map_add_poise(struct tuple_map *m, const struct profile *p, const struct json_node *run);
void tuple_map_free(struct tuple_map *m);
/* Regret by epoch, from the path; and of one tuple of a launch. */
void tuple_map_regret(struct tuple_map *m);
double tuple_regret(const struct profile_kernel *k, uint32_t n, uint32_t p);
/* The fastest tuple; of equals the first. NULL: no launch was in all runs. */
const struct map_tuple *tuple_map_fastest(const struct tuple_map *m);

/* ---- pictures (tuple_map_draw.c, tuple_map_svg.c) ---- */

/* For a terminal: a table of percents, its marks, and what Poise did. */
void tuple_map_print(const struct tuple_map *m, struct strbuf *out);
void tuple_map_json(const struct tuple_map *m, struct strbuf *out);
/* Circles as in Figure 5.15: green gains, red loses; + where Poise predicted, a ring where it settled. */
void tuple_map_svg(const struct tuple_map *m, struct strbuf *out);

#endif
