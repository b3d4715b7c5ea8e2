/* loop.c: time. A step is a moment at which some component has something to do: the components of each
 * domain that has an edge then, and whose wake has come, tick in a fixed order. The next step is at the
 * earliest wake, rounded up to an edge of its domain. With no_skip every component ticks at every edge of
 * its domain, and no SM runs ahead: the result must be the same.
 *
 * (1) No component sees what another does in the same step (mem/link.h, dispatch.c), so the order within a
 *     step does not matter; it is fixed all the same.
 * (2) A wake that lies in the past means the next edge.
 * (3) Samples and timers of mechanisms for the whole GPU happen at their exact cycle, also where no
 *     component has a step then: timers before the SMs run the cycle, samples after. */
#include "core/ahead_window.h"
#include "core/timed_impl.h"

/* Steps between looks at signals, progress and the watchdog: few enough that a run stops soon after a
 * signal, though SMs may run several cycles in a step. */
enum { WATCH_STEPS = 1 << 11 };

/* ---- when ---- */

/* The edge at which a component with this wake ticks; soon: the next edge of its domain. */
static tick next_edge(const struct gpu_time *t, enum gpu_domain d, tick wake, tick soon)
{
    if (wake <= soon) return soon;
    return wake == TICK_NEVER ? TICK_NEVER : clock_edge(&t->clock.domains[d], wake);
}

static tick dispatch_wake(const struct timed_gpu *g) { return MIN(g->dispatch.wake, g->streams.wake); }

static tick next_core(const struct timed_gpu *g, tick soon)
{
    const struct smring *ring = g->wiring.ring;
    const tick wake = MIN(dispatch_wake(g), ring ? smring_wake(ring) : TICK_NEVER);
    if (wake <= soon) return soon;
    return next_edge(&g->time, DOMAIN_CORE, MIN(wake, units_sm_wake(g->wiring.units)), soon);
}

/* Something waits until the machine is empty: a kernel that ends, or SMs that change their roles. */
static bool is_emptying(const struct timed_gpu *g)
{
    return g->dispatch.is_draining || roles_are_changing(&g->roles);
}

/* Channels can wait until the next L2 edge (units.h), except while the machine drains. */
static tick next_memory(const struct timed_gpu *g, tick soon)
{
    const tick l2 = next_edge(&g->time, DOMAIN_L2, units_partition_wake(g->wiring.units), soon);
    return is_emptying(g) ? MIN(l2, units_dram_edge(g->wiring.units)) : l2;
}

/* The earliest time at which a component has something to do; TICK_NEVER = none ever will. A domain whose
 * next edge is later than a time already found is not asked. */
static tick next_step(const struct timed_gpu *g)
{
    const struct gpu_time *t = &g->time;
    tick soon = gpu_time_edge_after(t, DOMAIN_CORE), next = next_core(g, soon);
    soon = gpu_time_edge_after(t, DOMAIN_XBAR);
    if (soon < next) next = MIN(next, next_edge(t, DOMAIN_XBAR, *xbar_wake(g->wiring.xbar), soon));
    soon = gpu_time_edge_after(t, DOMAIN_L2);
    if (soon < next || is_emptying(g)) next = MIN(next, next_memory(g, soon));
    return next;
}

static tick next_edge_of_all(const struct gpu_time *t)
{
    tick next = TICK_NEVER;
    for (int d = 0; d < DOMAIN_COUNT; d++) next = MIN(next, gpu_time_edge_after(t, (enum gpu_domain)d));
    return next;
}

/* ---- samples and timers ---- */

static void find_next_timer(struct timed_gpu *g)
{
    const uint64_t cycle = mech_gpu_next_timer(g->wiring.mech_gpu);
    g->loop.next_gpu_timer =
        cycle == UINT64_MAX ? TICK_NEVER : cycle * gpu_time_period(&g->time, DOMAIN_CORE);
}

static void run_timer(struct timed_gpu *g)
{
    mech_gpu_timer(g->wiring.mech_gpu, gpu_time_cycle(&g->time));
    find_next_timer(g);
    assert(g->loop.next_gpu_timer > g->time.now);
}

static void take_sample(struct timed_gpu *g)
{
    units_settle(g->wiring.units);
    sampler_take(&g->sampler, &g->snapshots, &g->records);
}

/* Samples and timers that come no later than the next step. */
static void move_through_marks(struct timed_gpu *g, tick next)
{
    for (tick mark; (mark = MIN(g->sampler.next, g->loop.next_gpu_timer)) <= next;) {
        if (g->time.now != mark) gpu_time_move(&g->time, mark);
        if (g->loop.next_gpu_timer == mark) run_timer(g);
        if (g->sampler.next == mark) take_sample(g);
    }
}

/* ---- a step ---- */

/* What the loop runs until. */
struct loop_end {
    enum loop_goal goal;
    const struct gpu_stream *stream;
    uint64_t mark;
};

static bool is_pending(const struct timed_gpu *g, const struct loop_end *e)
{
    switch (e->goal) {
    case GOAL_ALL: return g->streams.pending != 0;
    case GOAL_STREAM: return e->stream->first != NULL;
    case GOAL_MARK: return !streams_has_reached(&g->streams, e->mark);
    case GOAL_HELPER_GONE: return helper_has_ctas(&g->helper);
    }
    UNREACHABLE("a goal of the loop");
}

/* SMs may run ahead while one kernel is on the machine: then nothing is asked of them before it ends.
 * goes_on: the loop does not end with this step. */
static tick find_ahead_end(const struct timed_gpu *g, bool goes_on)
{
    const bool is_allowed =
        goes_on && dispatch_is_alone(&g->dispatch) && !g->dispatch.is_draining && !g->options.no_skip;
    return ahead_end(is_allowed, &(struct ahead_limits){.dispatcher = g->dispatch.wake,
                                                        .streams = g->streams.wake,
                                                        .sample = g->sampler.next,
                                                        .gpu_timer = g->loop.next_gpu_timer});
}

static COLD void find_fault(struct timed_gpu *g)
{
    for (uint32_t i = 0; i < g->dispatch.queue.len; i++) {
        const struct gpu_kernel *k = g->dispatch.queue.data[i];
        if (run_has_ended(&g->end)) return;
        emu_grid_find_fault(k->grid);
        if (k->fault.kind != EMU_OK) run_end_fault(&g->end, &k->fault);
    }
    const struct emu_fault *of_helper = helper_fault(&g->helper);
    if (of_helper && !run_has_ended(&g->end)) run_end_fault(&g->end, of_helper);
}

/* The crossbar runs before the units that it connects; what they send in this step it sees in a later one. */
static void run_step(struct timed_gpu *g, const struct loop_end *e)
{
    const struct wiring *w = &g->wiring;
    const tick now = g->time.now;
    bool goes_on = true;
    if (gpu_time_is_edge(&g->time, DOMAIN_CORE) && dispatch_wake(g) <= now) {
        units_catch_up(w->units);
        kernel_life_tick(g);
        goes_on = is_pending(g, e);
    }
    if (gpu_time_is_edge(&g->time, DOMAIN_XBAR) && (g->options.no_skip || *xbar_wake(w->xbar) <= now)) {
        xbar_tick(w->xbar, now);
        units_hear_xbar(w->units);
    }
    const struct units_step step = {.is_draining = is_emptying(g), .ahead_end = find_ahead_end(g, goes_on)};
    const bool has_fault = units_step(w->units, &step);
    if (UNLIKELY(w->ring != NULL) && gpu_time_is_edge(&g->time, DOMAIN_CORE)) smring_tick(w->ring, now);
    if (g->dispatch.is_draining && wiring_is_idle(&g->wiring)) kernel_life_drained(g);
    if (UNLIKELY(roles_are_changing(&g->roles))) kernel_life_look_at_roles(g);
    if (UNLIKELY(has_fault)) find_fault(g);
}

/* ---- watching ---- */

static struct stuck_view stuck_view_of(const struct timed_gpu *g)
{
    return (struct stuck_view){
        .wiring = &g->wiring, .dispatch = &g->dispatch, .streams = &g->streams, .time = &g->time};
}

static void show_progress(const struct timed_gpu *g)
{
    const struct dispatcher *d = &g->dispatch;
    if (!d->queue.len) return;
    const struct gpu_kernel *k = d->queue.data[0];
    const struct timed_progress p = {.kernel = k->name,
                                     .kernel_id = k->id,
                                     .ctas = k->ctas,
                                     .ctas_done = k->ctas_done,
                                     .cycles = gpu_time_cycle(&g->time),
                                     .warp_insts = g->watchdog.insts,
                                     .kernels_running = d->queue.len,
                                     .kernels_queued = g->streams.kernels - d->queue.len};
    g->options.progress(g->options.progress_ctx, &p);
}

/* Signals, the watchdog, the progress line. */
static void watch(struct timed_gpu *g)
{
    const struct stuck_view view = stuck_view_of(g);
    if (g->options.stop && *g->options.stop)
        run_end_set(&g->end, END_INTERRUPTED, EMU_INTERRUPTED, "heddle: stopped\n");
    if (!run_has_ended(&g->end) && stuck_is_silent(&g->watchdog, &view))
        stuck_end(&view, "no instruction and no request for too long", &g->end);
    if (g->options.progress) show_progress(g);
}

/* ---- the loop ---- */

/* Moves on to the next step. False: there is none, and the run has ended. */
static bool move(struct timed_gpu *g)
{
    tick next = next_step(g);
    if (next == TICK_NEVER) {
        const struct stuck_view view = stuck_view_of(g);
        stuck_end(&view, "no component has anything left to do", &g->end);
        return false;
    }
    if (g->options.no_skip) next = next_edge_of_all(&g->time);
    move_through_marks(g, next);
    if (g->time.now != next) gpu_time_move(&g->time, next);
    return true;
}

void loop_init(struct timed_gpu *g)
{
    find_next_timer(g);
    watchdog_init(&g->watchdog, &g->machine, &g->time);
}

/* The arguments of run_steps, which mech_guard_call passes on. */
struct loop_call {
    struct timed_gpu *gpu;
    const struct loop_end *end;
};

HOT static void run_steps(void *call)
{
    struct timed_gpu *g = ((struct loop_call *)call)->gpu;
    const struct loop_end *e = ((struct loop_call *)call)->end;
    while (!run_has_ended(&g->end) && is_pending(g, e)) {
        if (!move(g)) break;
        run_step(g, e);
        if (++g->loop.steps % WATCH_STEPS == 0) watch(g);
    }
    units_settle(g->wiring.units);
}

static void end_with(struct timed_gpu *g, const struct mech_failure *failure)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "heddle: error: %s\n", failure->text);
    run_end_set(&g->end, END_MECHANISM, EMU_BAD_MECHANISM, strbuf_text(&text));
    strbuf_free(&text);
}

/* A mechanism that fails leaves its SM in the middle of a cycle, so nothing runs afterwards; even the cycles
 * since the SMs last ran are not charged. */
static void run_guarded(struct timed_gpu *g, const struct loop_end *e)
{
    const bool is_foreign = mech_set_has_plugin(g->wiring.mechs);
    const struct mech_failure *before = mech_gpu_failure(g->wiring.mech_gpu); /* since the last run */
    struct mech_failure failure;
    struct loop_call call = {g, e};
    if (before) {
        end_with(g, before);
        return;
    }
    if (is_foreign) mech_guard_arm();
    if (!mech_guard_call(run_steps, &call, &failure)) end_with(g, &failure);
    if (is_foreign) mech_guard_disarm();
}

void loop_run(struct timed_gpu *g, enum loop_goal goal, uint64_t stream_or_mark)
{
    const struct loop_end e = {.goal = goal,
                               .stream =
                                   goal == GOAL_STREAM ? streams_get(&g->streams, stream_or_mark) : NULL,
                               .mark = stream_or_mark};
    fenv_t host; /* the program may round otherwise or flush denormals; results must not depend on it */
    emu_env_enter(&host);
    run_guarded(g, &e);
    emu_env_leave(&host);
}
