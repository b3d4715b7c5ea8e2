/* profile_score.c: see profile_score.h. */
#include "lab/profile_score.h"

/* Table 5.5: by distance. */
static const double score_weights[] = {1, 0.5, 0.25};

/* The values of N, or of p, that were profiled. */
struct axis {
    bool has[PROFILE_WARPS_MAX + 1];
};
struct axes {
    struct axis n, p;
};

static uint32_t value_on(const struct profile_point *at, bool is_p) { return is_p ? at->p : at->n; }

static struct axis axis_of(const struct profile_kernel *k, bool is_p)
{
    struct axis a = {0};
    for (uint32_t i = 0; i < k->points.len; i++) a.has[value_on(&k->points.data[i], is_p)] = true;
    return a;
}

/* The value one step from `value`; 0: there is none. */
static uint32_t step_on(const struct axis *a, uint32_t value, int step)
{
    if (!step) return value;
    for (int64_t v = (int64_t)value + step; v > 0 && v <= PROFILE_WARPS_MAX; v += step)
        if (a->has[v]) return (uint32_t)v;
    return 0;
}

static struct axes axes_of(const struct profile_kernel *k)
{
    return (struct axes){.n = axis_of(k, false), .p = axis_of(k, true)};
}

static double score_of(const struct profile_kernel *k, const struct axes *a, const struct profile_point *at)
{
    double sum = 0, weights = 0;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) {
            const uint32_t n = step_on(&a->n, at->n, i), p = step_on(&a->p, at->p, j);
            const struct profile_point *near = n && p ? profile_find(k, n, p) : NULL;
            if (!near) continue;
            const double weight = score_weights[abs(i) + abs(j)];
            sum += weight * profile_speedup(k, near);
            weights += weight;
        }
    return sum / weights;
}

double profile_score(const struct profile_kernel *k, const struct profile_point *at)
{
    const struct axes a = axes_of(k);
    return score_of(k, &a, at);
}

const struct profile_point *profile_target(const struct profile_kernel *k)
{
    const struct axes a = axes_of(k);
    const struct profile_point *best = NULL;
    double best_score = 0;
    for (uint32_t i = 0; i < k->points.len; i++) {
        const double score = score_of(k, &a, &k->points.data[i]);
        if (best && score <= best_score) continue;
        best = &k->points.data[i];
        best_score = score;
    }
    return best;
}

const struct profile_point *profile_fastest(const struct profile_kernel *k)
{
    const struct profile_point *best = NULL;
    for (uint32_t i = 0; i < k->points.len; i++)
        if (!best || k->points.data[i].cycles < best->cycles) best = &k->points.data[i];
    return best;
}
