/* dispatch.c: from launches to CTAs on SMs.
 *
 * Kernels of one stream run in order (stream.c says whose turn it is); kernels of different streams run together while
 * there is room. The CTA dispatcher goes round the SMs and starts one CTA on each SM that has room, of the oldest grid that fits (GPGPU-Sim's rule, which the
 * papers take for granted). A cooperative grid starts alone, so that all of its CTAs become resident.
 *
 * (1) The dispatcher acts on core edges. What an SM tells it in a cycle it sees in the next one.
 * (2) A kernel that is alone ends when its last CTA has left and the memory system is empty; one that has company ends when
 *     its last CTA has left. */
#include "core/timed_impl.h"

#include "core/occupancy.h"
#include "core/sm/split.h"

static tick core_after(const struct timed_gpu *g, tick now, uint32_t cycles)
{
    return clock_after(&g->clock.domains[DOMAIN_CORE], now, cycles);
}

void dispatch_add(struct timed_gpu *g, const struct emu_launch *l, uint64_t stream)
{
    struct gpu_kernel *k = mem_zalloc(sizeof *k);
    k->launch = *l;
    k->name = mem_strdup(l->kernel->name);
    k->id = ++g->dispatch.launches;
    k->stream = stream;
    if (l->kernel->param_bytes) {
        k->params = mem_alloc(l->kernel->param_bytes);
        memcpy(k->params, l->params, l->kernel->param_bytes);
        k->launch.params = k->params;
    }
    streams_add_kernel(g, k, stream);
}

void kernel_free(struct gpu_kernel *k)
{
    free(k->params);
    free(k->cta_starts);
    free(k->name);
    free(k->loads);
    free(k);
}

static void queue_remove(struct dispatcher *d, struct gpu_kernel *k)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->queue.len; i++)
        if (d->queue.data[i] != k) d->queue.data[n++] = d->queue.data[i];
    d->queue.len = n;
}

static void queue_insert(struct dispatcher *d, struct gpu_kernel *k)
{
    vec_push(&d->queue, k);
    uint32_t i = d->queue.len - 1;
    for (; i && d->queue.data[i - 1]->id > k->id; i--) d->queue.data[i] = d->queue.data[i - 1];
    d->queue.data[i] = k;
}

/* The kernel whose stores are waited for, or NULL. */
static struct gpu_kernel *draining_kernel(const struct timed_gpu *g)
{
    for (uint32_t i = 0; i < g->dispatch.queue.len; i++)
        if (g->dispatch.queue.data[i]->state == KERNEL_DRAINING) return g->dispatch.queue.data[i];
    return NULL;
}

/* ---- starting grids ---- */

/* Is there room for one more grid? The CTAs of a cooperative one must all find a place first. */
static bool may_start(const struct timed_gpu *g, const struct gpu_kernel *k)
{
    const struct dispatcher *d = &g->dispatch;
    if (d->queue.len >= g->machine.gpu_kernels) return false;
    for (uint32_t i = 0; i < d->queue.len; i++)
        if (d->queue.data[i]->launch.cooperative && d->queue.data[i]->next_cta < d->queue.data[i]->ctas)
            return false;
    return !k->launch.cooperative || !d->queue.len;
}

static bool fits_at_all(const struct timed_gpu *g, struct gpu_kernel *k, char *why, size_t room)
{
    const struct emu_launch *l = &k->launch;
    struct split_launch s = split_of_grid(k->grid);
    uint64_t shared = split_shared_bytes_of(&g->machine, &s);
    k->fit = occupancy_of(&g->machine, l->kernel, s.threads, s.shared_bytes, shared);
    uint64_t per_sm = k->fit.ctas;
    uint64_t all = per_sm * g->sm_count;
    if (per_sm && (!l->cooperative || k->ctas <= all)) return true;
    if (!per_sm)
        snprintf(why, room, "heddle: kernel '%s' cannot be launched: one CTA needs more than an SM has\n",
                 k->name);
    else
        snprintf(
            why, room,
            "heddle: kernel '%s' cannot be launched: cooperative launch of %llu blocks, but only %llu can be "
            "resident together\n",
            k->name, (unsigned long long)k->ctas, (unsigned long long)all);
    return false;
}

static uint32_t free_place(const struct timed_gpu *g)
{
    for (uint32_t place = 1;; place++) {
        bool taken = false;
        for (uint32_t i = 0; i < g->dispatch.queue.len; i++)
            taken |= g->dispatch.queue.data[i]->place == place;
        if (!taken) return place;
    }
}

/* False: refused, the run ends. */
static bool kernel_open(struct timed_gpu *g, struct gpu_kernel *k, tick now)
{
    char why[512];
    streams_kernel_began(g, k);
    queue_insert(&g->dispatch, k);
    k->grid = emu_grid_open(g->device, &k->launch, &k->fault);
    if (!k->grid) {
        gpu_fail(g, END_FAULT, k->fault.kind, k->fault.message);
        return false;
    }
    k->ctas = emu_grid_ctas(k->grid);
    emu_grid_share(k->grid, units_logs(g->units), g->sm_count);
    emu_grid_clock(k->grid, &g->core.cycle, &g->core.ns);
    if (!fits_at_all(g, k, why, sizeof why)) {
        gpu_fail(g, END_FAULT, EMU_BAD_LAUNCH, why);
        return false;
    }
    if (g->dispatch.queue.len == 1) g->busy_since = now;
    if (g->options.timeline) k->cta_starts = mem_zalloc(sizeof *k->cta_starts * k->ctas);
    k->state = KERNEL_RUNNING;
    k->place = free_place(g);
    units_owner_clear(g, k->place);
    for (uint32_t i = 0; g->dispatch.queue.len > 1 && i < g->dispatch.queue.len; i++)
        g->dispatch.queue.data[i]->overlapped = true;
    k->ready_at = core_after(g, now, g->machine.gpu_launch_latency);
    k->start_cycle = gpu_cycle(g);
    loop_settle(g);
    k->before = snapshot_take(g);
    return true;
}

/* ---- ending grids ---- */

static void kernel_end(struct timed_gpu *g, struct gpu_kernel *k)
{
    struct dispatcher *d = &g->dispatch;
    g->counts.kernels++;
    if (k->state == KERNEL_DRAINING) d->draining = false;
    const uint64_t grid = emu_grid_id(k->grid); /* the snapshot closes it */
    laws_check_kernel(g, k);
    snapshot_kernel(g, k, false);
    for (uint32_t i = 0; i < g->sm_count; i++) sm_grid_end(g->sms[i], grid);
    snapshot_free(g, k->before);
    k->before = NULL;
    queue_remove(d, k);
    streams_kernel_ended(g, k);
    kernel_free(k);
    if (!d->queue.len) {
        g->counts.busy_cycles += (g->now - g->busy_since) / g->clock.domains[DOMAIN_CORE].period;
        g->busy_since = TICK_NEVER;
    }
    wake_at(&d->wake, core_after(g, clock_edge(&g->clock.domains[DOMAIN_CORE], g->now), 1));
}

static void end_finished(struct timed_gpu *g, tick now)
{
    struct dispatcher *d = &g->dispatch;
    for (uint32_t i = 0; i < d->queue.len;) {
        struct gpu_kernel *k = d->queue.data[i];
        bool finished = k->ctas_done == k->ctas;
        if (finished && d->queue.len > 1) {
            kernel_end(g, k);
            continue;
        }
        i++;
        if (!finished || k->state == KERNEL_DRAINING) continue;
        k->state = KERNEL_DRAINING;
        d->draining = true;
        snapshot_own(g, k); /* the SMs forget it at the end of a kernel */
        for (uint32_t s = 0; s < g->sm_count; s++) sm_kernel_end(g->sms[s], now);
        units_tell_all(g);
    }
}

void dispatch_drained(struct timed_gpu *g)
{
    struct gpu_kernel *k = draining_kernel(g);
    assert(k);
    loop_settle(g);
    laws_check(g);
    if (g->end == END_NONE) kernel_end(g, k);
}

/* ---- CTAs ---- */

void dispatch_cta_done(void *gpu, uint32_t sm, struct cta *cta, struct emu_grid *grid)
{
    struct timed_gpu *g = gpu;
    struct dispatcher *d = &g->dispatch;
    g->counts.ctas++;
    for (uint32_t i = 0; i < d->queue.len; i++) {
        struct gpu_kernel *k = d->queue.data[i];
        if (k->grid != grid) continue;
        k->ctas_done++;
        if (!k->cta_starts) continue;
        struct timed_cta t = {
            .sm = sm, .kernel = k->id, .cta = emu_cta_linear(cta), .end_cycle = gpu_cycle(g)};
        t.start_cycle = k->cta_starts[t.cta];
        vec_push(&g->ctas, t);
    }
    wake_at(&d->wake, core_after(g, g->now, 1));
}

uint32_t dispatch_place_of(void *gpu, const struct emu_grid *grid)
{
    const struct dispatcher *d = &((struct timed_gpu *)gpu)->dispatch;
    for (uint32_t i = 0; i < d->queue.len; i++)
        if (d->queue.data[i]->grid == grid) return d->queue.data[i]->place;
    return 0; /* a test that starts CTAs by hand */
}

/* The oldest grid that has a CTA left which fits this SM. */
static struct gpu_kernel *kernel_for(const struct timed_gpu *g, uint32_t sm, tick now)
{
    const struct dispatcher *d = &g->dispatch;
    for (uint32_t i = 0; i < d->queue.len; i++) {
        struct gpu_kernel *k = d->queue.data[i];
        if (k->state == KERNEL_RUNNING && k->ready_at <= now && k->next_cta < k->ctas &&
            sm_fits(g->sms[sm], k->grid))
            return k;
    }
    return NULL;
}

static uint32_t start_ctas(struct timed_gpu *g, tick now)
{
    struct dispatcher *d = &g->dispatch;
    uint32_t limit = g->machine.gpu_ctas_per_cycle ? g->machine.gpu_ctas_per_cycle : g->sm_count;
    uint32_t started = 0, first = d->next_sm;
    for (uint32_t i = 0; i < g->sm_count && started < limit; i++) {
        uint32_t sm = (first + i) % g->sm_count;
        struct gpu_kernel *k = kernel_for(g, sm, now);
        if (!k) continue;
        if (!sm_start_cta(g->sms[sm], now, k->grid, k->next_cta)) {
            gpu_fail(g, END_FAULT, k->fault.kind ? k->fault.kind : EMU_BAD_LAUNCH, k->fault.message);
            return started;
        }
        units_tell_sm(g, sm);
        if (k->cta_starts) k->cta_starts[k->next_cta] = gpu_cycle(g);
        k->next_cta++;
        started++;
        d->next_sm = (sm + 1) % g->sm_count;
    }
    return started;
}

/* When the dispatcher next has something to do by itself. */
static tick next_wake(const struct timed_gpu *g, tick now, bool started)
{
    tick wake = streams_wake(g);
    if (started) wake_at(&wake, core_after(g, now, 1));
    for (uint32_t i = 0; i < g->dispatch.queue.len; i++) {
        const struct gpu_kernel *k = g->dispatch.queue.data[i];
        if (k->state == KERNEL_RUNNING && k->ready_at > now) wake_at(&wake, k->ready_at);
    }
    return wake;
}

void dispatch_tick(struct timed_gpu *g, tick now)
{
    struct dispatcher *d = &g->dispatch;
    d->wake = TICK_NEVER;
    streams_tick(g, now);
    end_finished(g, now);
    for (struct gpu_kernel *k; g->end == END_NONE && (k = streams_next_kernel(g)) && may_start(g, k);)
        kernel_open(g, k, now);
    bool started = g->end == END_NONE && start_ctas(g, now) > 0;
    wake_at(&d->wake, next_wake(g, now, started));
}

void dispatch_abandon(struct timed_gpu *g)
{
    for (uint32_t i = 0; i < g->sm_count; i++) sm_abandon(g->sms[i]);
    for (uint32_t i = 0; i < g->dispatch.queue.len; i++) {
        struct gpu_kernel *k = g->dispatch.queue.data[i];
        if (k->grid) emu_grid_close(k->grid, NULL);
        k->grid = NULL;
    }
}

void dispatch_close(struct timed_gpu *g)
{
    struct dispatcher *d = &g->dispatch;
    for (uint32_t i = 0; i < d->queue.len; i++) {
        struct gpu_kernel *k = d->queue.data[i];
        if (k->grid) emu_grid_close(k->grid, NULL);
        snapshot_free(g, k->before);
        kernel_free(k);
    }
    vec_free(&d->queue);
}
