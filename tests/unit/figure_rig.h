/* figure_rig.h: an experiment, its plan and a store that is filled by hand: for the tests of what figures are
 * made of. */
#ifndef HEDDLE_FIGURE_RIG_H
#define HEDDLE_FIGURE_RIG_H

#include "experiment_kit.h"

#include "lab/figure_impl.h"

struct rig {
    struct experiment e;
    struct plan p;
    struct store store;
    struct diag_list diags;
};

static inline void rig_up(struct rig *r, const char *text)
{
    *r = (struct rig){0};
    kit_need(&r->e, text);
    assert_true(plan_make(&r->p, &r->e, NULL, &r->diags));
}

static inline void rig_down(struct rig *r)
{
    plan_free(&r->p);
    experiment_free(&r->e);
    diag_free(&r->diags);
}

static inline bool is_near(double a, double b) { return fabs(a - b) < 1e-12; }

#endif
