/* profile.c: see profile.h. */
#include "lab/profile.h"

void profile_free(struct profile *p)
{
    for (uint32_t i = 0; i < p->kernels.len; i++) vec_free(&p->kernels.data[i].points);
    vec_free(&p->kernels);
    arena_free(&p->arena);
    *p = (struct profile){0};
}

static bool is_before(const struct profile_point *at, uint32_t n, uint32_t p)
{
    return at->n < n || (at->n == n && at->p < p);
}

/* The position of a tuple, or the one where it would be inserted. */
static uint32_t position(const struct profile_kernel *k, uint32_t n, uint32_t p)
{
    uint32_t low = 0, high = k->points.len;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (is_before(&k->points.data[middle], n, p))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct profile_point *profile_find(const struct profile_kernel *k, uint32_t n, uint32_t p)
{
    const uint32_t i = position(k, n, p);
    if (i == k->points.len) return NULL;
    const struct profile_point *at = &k->points.data[i];
    return at->n == n && at->p == p ? at : NULL;
}

bool profile_add_point(struct profile_kernel *k, struct profile_point point)
{
    assert(point.p && point.p <= point.n && point.n <= PROFILE_WARPS_MAX);
    const uint32_t at = position(k, point.n, point.p);
    if (profile_find(k, point.n, point.p)) return false;
    vec_push(&k->points, point);
    for (uint32_t i = k->points.len - 1; i > at; i--) k->points.data[i] = k->points.data[i - 1];
    k->points.data[at] = point;
    return true;
}

double profile_speedup(const struct profile_kernel *k, const struct profile_point *point)
{
    return (double)k->cycles / (double)MAX(point->cycles, 1u);
}

uint32_t profile_grid(uint32_t most, uint32_t step, uint32_t values[PROFILE_WARPS_MAX])
{
    uint32_t count = 0;
    assert(most && most <= PROFILE_WARPS_MAX && step);
    for (uint32_t v = 1; v < most; v += step) values[count++] = v;
    values[count++] = most;
    return count;
}
