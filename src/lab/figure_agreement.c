/* figure_agreement.c: how our value of a workload agrees with the paper's.
 *
 * By classes: the same class, or another. By a threshold, from which on a change matters: within a quarter
 * of the paper's value; on the same side of the threshold; or neither. */
#include "lab/figure_impl.h"

#include <math.h>

#define NEAR 0.25

static const struct lab_class *class_of(const struct lab_measure *m, double value)
{
    for (uint32_t i = 0; i < m->class_count; i++)
        if (value >= m->classes[i].from) return &m->classes[i];
    UNREACHABLE("the last class takes everything");
}

static bool has_name(const struct lab_class *c, const char *name)
{
    for (uint32_t i = 0; c->names[i]; i++)
        if (!strcmp(c->names[i], name)) return true;
    return false;
}

static void judge_class(struct figure_cell *c, const struct lab_measure *m, const char *paper_class)
{
    c->paper_class = paper_class && *paper_class ? paper_class : NULL;
    if (isnan(c->value)) return;
    const struct lab_class *ours = class_of(m, c->value);
    c->class_of = ours->names[0];
    if (c->paper_class) c->agreement = has_name(ours, c->paper_class) ? AGREEMENT_SAME_CLASS : AGREEMENT_NOT;
}

bool value_is_near(double ours, double paper) { return fabs(ours - paper) <= NEAR * fabs(paper); }

static enum agreement judge_value(double ours, double paper, double threshold)
{
    if (isnan(ours) || isnan(paper) || isnan(threshold)) return AGREEMENT_NONE;
    if (value_is_near(ours, paper)) return AGREEMENT_QUARTER;
    return (ours >= threshold) == (paper >= threshold) ? AGREEMENT_SIDE : AGREEMENT_NOT;
}

void cell_judge(struct figure_cell *c, const struct experiment *e)
{
    assert(c->workload != FIGURE_MEAN);
    const struct lab_measure *m = &e->measures[c->measure];
    if (m->class_count) {
        const struct workload_paper *p = workload_paper(e->workloads[c->workload], e->paper);
        judge_class(c, m, p ? p->class_of : NULL);
    } else {
        c->agreement = judge_value(c->value, c->paper, m->threshold);
    }
}

const char *agreement_text(enum agreement a)
{
    static const char *const texts[AGREEMENTS] = {[AGREEMENT_NONE] = "",
                                                  [AGREEMENT_SAME_CLASS] = "same",
                                                  [AGREEMENT_QUARTER] = "within a quarter",
                                                  [AGREEMENT_SIDE] = "same side",
                                                  [AGREEMENT_NOT] = "differs"};
    assert(a < AGREEMENTS);
    return texts[a];
}
