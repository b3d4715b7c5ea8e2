/* tuple_regret.c: the cost of Poise's tuples in each of its epochs: the cycles of the launch if it ran at the
 * tuple throughout, divided by those at its best static tuple, minus one. For a tuple that was not measured
 * the nearest one is used. */
#include "lab/tuple_map.h"

static uint32_t distance(const struct profile_point *at, uint32_t n, uint32_t p)
{
    return (uint32_t)(abs((int)at->n - (int)n) + abs((int)at->p - (int)p));
}

double tuple_regret(const struct profile_kernel *k, uint32_t n, uint32_t p)
{
    assert(k->points.len);
    const struct profile_point *best = &k->points.data[0], *here = best;
    for (uint32_t i = 1; i < k->points.len; i++) {
        const struct profile_point *at = &k->points.data[i];
        if (at->cycles < best->cycles) best = at;
        if (distance(at, n, p) < distance(here, n, p)) here = at;
    }
    return (double)here->cycles / (double)best->cycles - 1;
}

/* The epochs of an SM in a launch begin with a prediction each; they are counted from 1. */
static uint32_t epoch_of(const struct tuple_map *m, uint32_t step)
{
    const struct map_step *s = &m->path.data[step];
    uint32_t epoch = 0;
    for (uint32_t i = 0; i <= step; i++) {
        const struct map_step *at = &m->path.data[i];
        epoch += at->kind == MAP_PREDICT && at->sm == s->sm && at->launch == s->launch;
    }
    return epoch;
}

static struct map_epoch *epoch_at(struct tuple_map *m, const struct profile_kernel *launch, uint32_t epoch)
{
    for (uint32_t i = 0; i < m->epochs.len; i++)
        if (m->epochs.data[i].launch == launch && m->epochs.data[i].epoch == epoch) return &m->epochs.data[i];
    vec_push(&m->epochs, (struct map_epoch){.launch = launch, .epoch = epoch});
    return &m->epochs.data[m->epochs.len - 1];
}

static void add_to_mean(double *mean, uint32_t *count, double value) { *mean += (value - *mean) / ++*count; }

void tuple_map_regret(struct tuple_map *m)
{
    for (uint32_t i = 0; i < m->path.len; i++) {
        const struct map_step *s = &m->path.data[i];
        const uint32_t epoch = s->kind == MAP_VISIT ? 0 : epoch_of(m, i);
        if (!epoch) continue; /* the note of its prediction was not kept */
        struct map_epoch *e = epoch_at(m, s->launch, epoch);
        const double regret = tuple_regret(s->launch, s->n, s->p);
        if (s->kind == MAP_PREDICT)
            add_to_mean(&e->predicted, &e->predictions, regret);
        else
            add_to_mean(&e->settled, &e->settlements, regret);
    }
}
