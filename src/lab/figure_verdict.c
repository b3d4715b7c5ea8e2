/* figure_verdict.c: does a claim of a paper hold here?
 *
 * Sign: ours lies on the same side of the neutral value as the paper's. Order: beside every other claim of
 * the figure that it can be compared with, ours is larger where the paper's is larger; the paper's own
 * ties (within TIE) count as holding. Value: within a quarter of the paper's. Claims can be compared when
 * they are of one measure (or parts of one stack) and of the same workload, or of the same column for
 * different workloads. A mean and a single workload are not compared. Where the paper gives a bound
 * (relation), it holds when ours lies beyond it, and is compared with nothing. A claim with an excuse is not
 * comparable, and neither is one for which our runs give no value. */
#include "lab/figure_impl.h"

#include <math.h>

#define CLAIM_TIE 0.02

static bool is_tie(double a, double b) { return fabs(a - b) <= CLAIM_TIE * MAX(fabs(a), fabs(b)); }

/* Is our value beyond the paper's bound? */
static bool bound_holds(const struct figure_claim *c)
{
    return c->claim->relation == CLAIM_ABOVE ? c->ours > c->paper : c->ours < c->paper;
}

static bool sign_holds(const struct figure_claim *c)
{
    if (c->claim->relation != CLAIM_ABOUT) return bound_holds(c);
    double neutral = c->claim->neutral;
    if (isnan(neutral)) return true;
    double paper = c->paper - neutral, ours = c->ours - neutral;
    if (paper == 0) return fabs(ours) <= CLAIM_TIE * MAX(fabs(neutral), 1); /* "no change" */
    return paper > 0 ? ours > 0 : ours < 0;
}

static bool is_comparable(const struct lab_figure *f, const struct lab_claim *a, const struct lab_claim *b)
{
    if (a->relation != CLAIM_ABOUT || b->relation != CLAIM_ABOUT) return false;
    if (f->kind != FIGURE_STACKED && a->measure != b->measure) return false;
    if (a->mean != b->mean) return false;
    bool both_means =
        !a->workload && !b->workload &&
        (a->class_of == b->class_of ||
         (a->class_of && b->class_of && (a->column == b->column || !strcmp(a->class_of, b->class_of))));
    bool both_single = a->workload && b->workload;
    return both_means || (both_single && (!strcmp(a->workload, b->workload) || a->column == b->column));
}

static bool order_holds(const struct lab_figure *f, const struct figure_claim *claims, uint32_t count,
                        uint32_t i)
{
    const struct figure_claim *a = &claims[i];
    for (uint32_t k = 0; k < count; k++) {
        const struct figure_claim *b = &claims[k];
        if (k == i || isnan(b->ours) || !is_comparable(f, a->claim, b->claim) || is_tie(a->paper, b->paper))
            continue;
        if ((a->paper > b->paper) != (a->ours > b->ours)) return false;
    }
    return true;
}

static enum verdict verdict_of(const struct figure_claim *c)
{
    if (c->claim->excuse || c->has_none) return VERDICT_INCOMPARABLE;
    if (isnan(c->ours)) return VERDICT_OPEN;
    if (!c->sign || !c->order) return VERDICT_NOT;
    if (c->claim->relation != CLAIM_ABOUT) return VERDICT_REPRODUCED;
    return value_is_near(c->ours, c->paper) ? VERDICT_REPRODUCED : VERDICT_TREND;
}

void claims_judge(const struct lab_figure *f, struct figure_claim *claims, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bool known = !isnan(claims[i].ours);
        claims[i].sign = known && sign_holds(&claims[i]);
        claims[i].order = known && order_holds(f, claims, count, i);
        claims[i].verdict = verdict_of(&claims[i]);
    }
}

const char *verdict_text(enum verdict v)
{
    assert(v < VERDICTS);
    static const char *const texts[] = {[VERDICT_OPEN] = "open",
                                        [VERDICT_REPRODUCED] = "reproduced",
                                        [VERDICT_TREND] = "trend only",
                                        [VERDICT_NOT] = "not reproduced",
                                        [VERDICT_INCOMPARABLE] = "not comparable"};
    return texts[v];
}
