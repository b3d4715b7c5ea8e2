/* loop.c: time. A step is one moment at which some component has something to do: the components of each domain that has an
 * edge then, and whose wake has come, tick in a fixed order. The next step is the earliest wake, rounded up to an edge of its
 * domain. With no_skip every component ticks at every edge of its domain: the result must be the same.
 *
 * (1) No component sees what another does in the same step (mem/link.h, dispatch.c), so the order within a step is free; it is
 *     fixed all the same.  (2) A wake that lies in the past counts as the next edge. */
#include "core/timed_impl.h"

/* Steps between looks at signals, progress and the watchdog. In a step each SM may run several cycles (core/ahead.c): with many more steps
 * the progress line stands still, and who stops a run waits. */
enum { WATCH_STEPS = 1 << 11 };

/* The earliest edge of a domain for a component that wakes then; soon: its next edge. */
static tick next_edge(const struct timed_gpu *g, enum gpu_domain d, tick wake, tick soon)
{
    if (wake <= soon) return soon;
    return wake == TICK_NEVER ? TICK_NEVER : clock_edge(&g->clock.domains[d], wake);
}

static tick next_core(const struct timed_gpu *g, tick soon)
{
    tick wake = g->dispatch.wake;
    return next_edge(g, DOMAIN_CORE, wake <= soon ? wake : MIN(wake, units_sm_wake(g)), soon);
}

/* A channel's turn can wait until the next L2 edge (units.h), but for the end of a kernel: that is when the machine is empty. */
static tick next_memory(const struct timed_gpu *g, tick soon)
{
    tick l2 = next_edge(g, DOMAIN_L2, units_part_wake(g), soon);
    return g->dispatch.draining ? MIN(l2, units_dram_edge(g)) : l2;
}

/* The earliest time at which something will happen by itself; TICK_NEVER = never again. A domain whose next edge comes after
 * what was found already is not asked. */
static tick loop_next(const struct timed_gpu *g)
{
    tick soon = loop_edge_after(g, DOMAIN_CORE), next = next_core(g, soon);
    soon = loop_edge_after(g, DOMAIN_XBAR);
    if (soon < next) next = MIN(next, next_edge(g, DOMAIN_XBAR, *xbar_wake(g->xbar), soon));
    soon = loop_edge_after(g, DOMAIN_L2);
    if (soon < next || g->dispatch.draining) next = MIN(next, next_memory(g, soon));
    return next;
}

static tick loop_next_edge(const struct timed_gpu *g)
{
    tick next = TICK_NEVER;
    for (int d = 0; d < DOMAIN_COUNT; d++) next = MIN(next, loop_edge_after(g, (enum gpu_domain)d));
    return next;
}

static void loop_advance(struct timed_gpu *g, tick to)
{
    g->now = to;
    for (int d = 0; d < DOMAIN_COUNT; d++) {
        if (g->edges[d] >= to) continue;
        g->edges[d] += g->clock.domains[d].period;
        if (g->edges[d] < to) g->edges[d] = clock_edge(&g->clock.domains[d], to);
    }
}

/* What loop_run is to see the end of. */
struct loop_end {
    enum loop_goal goal;
    const struct gpu_stream *stream;
    uint64_t mark;
};

static bool loop_pending(const struct timed_gpu *g, const struct loop_end *e)
{
    switch (e->goal) {
    case GOAL_ALL: return g->streams.pending != 0;
    case GOAL_STREAM: return e->stream->first != NULL;
    case GOAL_MARK: return g->streams.mark_ns.data[e->mark - 1] == MARK_PENDING;
    }
    UNREACHABLE("a goal of the loop");
}

/* The crossbar comes before what it joins: what they tell it in this step it learns at the end of it (units.h). */
static void loop_step(struct timed_gpu *g, const struct loop_end *e)
{
    const tick now = g->now;
    if (g->edges[DOMAIN_CORE] == now) {
        core_clock_set(&g->core, now);
        if (g->dispatch.wake <= now) {
            units_catch_up(g);
            dispatch_tick(g, now);
        }
    }
    if (g->edges[DOMAIN_XBAR] == now && (g->no_skip || *xbar_wake(g->xbar) <= now)) {
        xbar_tick(g->xbar, now);
        units_hear(g);
    }
    g->runs_ahead = g->dispatch.queue.len == 1 && !g->dispatch.draining && !g->no_skip && loop_pending(g, e);
    units_step(g);
    if (g->dispatch.draining && wiring_idle(g)) dispatch_drained(g);
}

/* Charges what sleeping components have not charged yet. */
void loop_settle(struct timed_gpu *g)
{
    for (uint32_t i = 0; i < g->sm_count; i++) sm_settle(g->sms[i], g->now);
    for (uint32_t i = 0; i < g->slice_count; i++) l2_settle(g->slices[i], g->now);
    for (uint32_t i = 0; i < g->channel_count; i++) dram_settle(g->channels[i], g->now);
    units_commit_all(g);
}

static void loop_find_fault(struct timed_gpu *g)
{
    if (!g->has_fault) return;
    for (uint32_t i = 0; i < g->dispatch.queue.len && g->end == END_NONE; i++) {
        const struct gpu_kernel *k = g->dispatch.queue.data[i];
        emu_grid_find_fault(k->grid);
        if (k->fault.kind != EMU_OK) gpu_fail(g, END_FAULT, k->fault.kind, k->fault.message);
    }
}

static void loop_tell(struct timed_gpu *g)
{
    const struct dispatcher *d = &g->dispatch;
    if (!d->queue.len) return;
    const struct gpu_kernel *k = d->queue.data[0];
    struct timed_progress p = {.kernel = k->name,
                               .kernel_id = k->id,
                               .ctas = k->ctas,
                               .ctas_done = k->ctas_done,
                               .cycles = gpu_cycle(g),
                               .warp_insts = g->progress_insts,
                               .kernels_running = d->queue.len,
                               .kernels_queued = g->streams.kernels - d->queue.len};
    g->options.progress(g->options.progress_ctx, &p);
}

/* Now and then: signals, the watchdog, the progress line. */
static void loop_watch(struct timed_gpu *g)
{
    if (g->options.stop && *g->options.stop)
        gpu_fail(g, END_INTERRUPTED, EMU_INTERRUPTED, "heddle: stopped\n");
    if (g->end == END_NONE && stuck_no_progress(g))
        stuck_report(g, "no instruction and no request for too long");
    if (g->options.progress) loop_tell(g);
}

/* Where time goes next; samples are taken at their exact cycle. */
static bool loop_move(struct timed_gpu *g)
{
    tick next = loop_next(g);
    if (next == TICK_NEVER) {
        stuck_report(g, "nothing will ever happen again");
        return false;
    }
    if (g->no_skip) next = loop_next_edge(g);
    while (g->next_sample <= next) {
        loop_advance(g, g->next_sample);
        core_clock_set(&g->core, g->now); /* SMs have this cycle before the sample is taken */
        units_catch_up(g);
        snapshot_sample(g);
        g->next_sample += g->options.sample_cycles * g->clock.domains[DOMAIN_CORE].period;
    }
    if (g->now != next) loop_advance(g, next);
    return true;
}

void loop_run(struct timed_gpu *g, enum loop_goal goal, uint64_t which)
{
    const struct loop_end e = {
        .goal = goal, .stream = goal == GOAL_STREAM ? streams_get(g, which) : NULL, .mark = which};
    fenv_t host; /* the program around us may round otherwise or flush denormals: results must not know */
    emu_env_enter(&host);
    while (g->end == END_NONE && loop_pending(g, &e)) {
        if (!loop_move(g)) break;
        loop_step(g, &e);
        loop_find_fault(g);
        if (++g->steps % WATCH_STEPS == 0) loop_watch(g);
    }
    emu_env_leave(&host);
    loop_settle(g);
}
