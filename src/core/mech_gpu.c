/* mech_gpu.c: see mech_gpu.h. */
#include "core/mech_gpu.h"

struct mech_gpu {
    const struct mech_set *set;
    void **states;
    /* core cycle of the next timer */
    uint64_t next;
};

static uint32_t timer_period(const struct mechanism *m) { return m->on_gpu_timer ? m->gpu_timer_cycles : 0; }

/* The first cycle after `cycle` at which a timer is due: each is due at the multiples of its period. */
static uint64_t find_next(const struct mech_gpu *g, uint64_t cycle)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < mech_set_count(g->set); i++) {
        const uint32_t period = timer_period(mech_set_at(g->set, i));
        if (period) next = MIN(next, (cycle / period + 1) * period);
    }
    return next;
}

struct mech_gpu *mech_gpu_open(const struct mech_set *set)
{
    struct mech_gpu *g = mem_zalloc(sizeof *g);
    g->set = set;
    g->states = mech_gpu_create(set);
    g->next = find_next(g, 0);
    return g;
}

void mech_gpu_close(struct mech_gpu *g)
{
    if (!g) return;
    mech_gpu_destroy(g->set, g->states);
    free(g);
}

void *const *mech_gpu_states(const struct mech_gpu *g) { return g->states; }

uint64_t mech_gpu_next_timer(const struct mech_gpu *g) { return g->next; }

void mech_gpu_timer(struct mech_gpu *g, uint64_t cycle)
{
    assert(cycle == g->next);
    for (uint32_t i = 0; i < mech_set_count(g->set); i++) {
        const struct mechanism *m = mech_set_at(g->set, i);
        const uint32_t period = timer_period(m);
        if (period && cycle % period == 0) m->on_gpu_timer(g->states[i], cycle);
    }
    g->next = find_next(g, cycle);
}

const char *mech_gpu_shares(const struct mech_gpu *g)
{
    for (uint32_t i = 0; i < mech_set_count(g->set); i++) {
        const struct mechanism *m = mech_set_at(g->set, i);
        if (m->gpu_state_bytes && !timer_period(m)) return m->name;
    }
    return NULL;
}
