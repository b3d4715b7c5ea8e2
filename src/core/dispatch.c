/* dispatch.c: from launches to CTAs on SMs.
 *
 * Kernels of one stream run in order (stream.c decides whose turn it is); kernels of different streams run
 * together while there is room. The CTA dispatcher goes round the SMs and starts one CTA on each SM that
 * has room, of the oldest grid that fits (GPGPU-Sim's rule, which the papers assume). A cooperative grid
 * starts alone, so that all of its CTAs become resident.
 *
 * (1) The dispatcher acts on core edges. What an SM reports in a cycle counts from the next cycle on.
 * (2) A kernel that is alone ends when its last CTA has left and the memory system is empty; a kernel that
 *     shares the machine ends when its last CTA has left. */
#include "core/dispatch.h"

#include "core/records.h"
#include "core/sm/split.h"

#include <inttypes.h>

/* ---- life ---- */

void dispatch_init(struct dispatcher *d, const struct dispatch_setup *setup)
{
    *d = (struct dispatcher){.wake = TICK_NEVER, .busy_since = TICK_NEVER, .setup = *setup};
}

void dispatch_close_grid(struct gpu_kernel *k, struct emu_stats *stats)
{
    emu_grid_close(k->grid, stats);
    k->grid = NULL;
}

void dispatch_abandon(struct dispatcher *d)
{
    for (uint32_t i = 0; i < d->queue.len; i++) {
        struct gpu_kernel *k = d->queue.data[i];
        if (k->grid) dispatch_close_grid(k, NULL);
    }
}

void dispatch_close(struct dispatcher *d)
{
    dispatch_abandon(d);
    for (uint32_t i = 0; i < d->queue.len; i++) gpu_kernel_free(d->queue.data[i]);
    vec_free(&d->queue);
}

struct gpu_kernel *dispatch_new_kernel(struct dispatcher *d, const struct emu_launch *l, uint64_t stream)
{
    return gpu_kernel_create(l, stream, ++d->launches);
}

void dispatch_set_sms(struct dispatcher *d, uint32_t sm_count)
{
    assert(!d->queue.len && sm_count >= d->setup.sm_least && sm_count <= d->setup.sm_all);
    d->setup.sm_count = sm_count;
    d->next_sm %= sm_count;
}

/* ---- the queue ---- */

static void queue_remove(struct dispatcher *d, const struct gpu_kernel *k)
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

static struct gpu_kernel *queue_find(const struct dispatcher *d, const struct emu_grid *grid)
{
    for (uint32_t i = 0; i < d->queue.len; i++)
        if (d->queue.data[i]->grid == grid) return d->queue.data[i];
    return NULL;
}

/* ---- opening grids ---- */

/* While a cooperative grid has CTAs that are not resident, no other grid may take their room. */
bool dispatch_may_open(const struct dispatcher *d, const struct gpu_kernel *k)
{
    if (d->queue.len >= d->setup.machine->gpu_kernels) return false;
    for (uint32_t i = 0; i < d->queue.len; i++) {
        const struct gpu_kernel *other = d->queue.data[i];
        if (other->launch.cooperative && other->next_cta < other->ctas) return false;
    }
    return !k->launch.cooperative || !d->queue.len;
}

/* Sets k->fit. False: the grid can never run; the fault says why. */
static bool fits_at_all(const struct dispatcher *d, struct gpu_kernel *k, struct emu_fault *fault)
{
    const struct machine *m = d->setup.machine;
    const struct split_launch s = split_of_grid(k->grid);
    k->fit = occupancy_of(m, k->launch.kernel, s.threads, s.shared_bytes, split_shared_bytes_of(m, &s));
    const uint64_t all = (uint64_t)k->fit.ctas * d->setup.sm_least;
    const uint32_t local = emu_grid_local_bytes(k->grid);
    const bool has_local = local <= SM_THREAD_LOCAL_MAX;
    if (k->fit.ctas && has_local && (!k->launch.cooperative || k->ctas <= all)) return true;
    *fault = (struct emu_fault){.kind = EMU_BAD_LAUNCH};
    const int n = snprintf(fault->message, sizeof fault->message,
                           "heddle: kernel '%.400s' cannot be launched: ", k->name);
    char *why = fault->message + n;
    const size_t room = sizeof fault->message - (size_t)n;
    if (!k->fit.ctas)
        snprintf(why, room, "one CTA needs more than an SM has\n");
    else if (!has_local)
        snprintf(why, room, "a thread needs %u bytes of local memory and stack, more than %u\n", local,
                 (uint32_t)SM_THREAD_LOCAL_MAX);
    else
        snprintf(why, room,
                 "cooperative launch of %" PRIu64 " blocks, but only %" PRIu64 " can be resident together\n",
                 k->ctas, all);
    return false;
}

static uint32_t free_owner_slot(const struct dispatcher *d)
{
    for (uint32_t slot = 1;; slot++) {
        bool is_taken = false;
        for (uint32_t i = 0; i < d->queue.len; i++) is_taken |= d->queue.data[i]->owner_slot == slot;
        if (!is_taken) return slot;
    }
}

static bool open_grid(const struct dispatcher *d, struct gpu_kernel *k, struct emu_device *device,
                      struct emu_fault *fault)
{
    const struct core_clock *core = &d->setup.time->core;
    k->grid = emu_grid_open(device, &k->launch, &k->fault);
    if (!k->grid) {
        *fault = k->fault;
        return false;
    }
    k->ctas = emu_grid_ctas(k->grid);
    emu_grid_share(k->grid, d->setup.logs, d->setup.sm_all);
    emu_grid_clock(k->grid, &core->cycle, &core->ns);
    return fits_at_all(d, k, fault);
}

bool dispatch_open(struct dispatcher *d, struct gpu_kernel *k, struct emu_device *device,
                   struct emu_fault *fault)
{
    assert(dispatch_may_open(d, k));
    queue_insert(d, k);
    if (!open_grid(d, k, device, fault)) return false;
    if (d->queue.len == 1) d->busy_since = d->setup.time->now;
    if (d->setup.records->has_timeline) k->cta_starts = mem_zalloc(sizeof *k->cta_starts * k->ctas);
    k->state = KERNEL_RUNNING;
    k->owner_slot = free_owner_slot(d);
    for (uint32_t i = 0; d->queue.len > 1 && i < d->queue.len; i++) d->queue.data[i]->overlapped = true;
    k->ready_at = gpu_time_after_cycles(d->setup.time, d->setup.machine->gpu_launch_latency);
    return true;
}

/* ---- ending grids ---- */

struct gpu_kernel *dispatch_find_finished(struct dispatcher *d, uint32_t *at)
{
    for (; *at < d->queue.len; ++*at) {
        struct gpu_kernel *k = d->queue.data[*at];
        if (k->ctas_done < k->ctas) continue;
        if (!dispatch_is_alone(d)) return k; /* it will be removed, and the next one takes its position */
        if (k->state == KERNEL_DRAINING) continue;
        ++*at;
        return k;
    }
    return NULL;
}

void dispatch_drain(struct dispatcher *d, struct gpu_kernel *k)
{
    assert(dispatch_is_alone(d) && k->state == KERNEL_RUNNING && k->ctas_done == k->ctas);
    k->state = KERNEL_DRAINING;
    d->is_draining = true;
}

struct gpu_kernel *dispatch_draining(const struct dispatcher *d)
{
    for (uint32_t i = 0; i < d->queue.len; i++)
        if (d->queue.data[i]->state == KERNEL_DRAINING) return d->queue.data[i];
    UNREACHABLE("no kernel drains");
}

void dispatch_count_end(struct dispatcher *d, const struct gpu_kernel *k)
{
    d->counts.kernels++;
    if (k->state == KERNEL_DRAINING) d->is_draining = false;
}

uint64_t dispatch_busy_cycles(const struct dispatcher *d)
{
    const struct gpu_time *t = d->setup.time;
    if (d->busy_since == TICK_NEVER) return d->counts.busy_cycles;
    return d->counts.busy_cycles + (t->now - d->busy_since) / gpu_time_period(t, DOMAIN_CORE);
}

void dispatch_remove(struct dispatcher *d, const struct gpu_kernel *k)
{
    queue_remove(d, k);
    if (!d->queue.len) {
        d->counts.busy_cycles = dispatch_busy_cycles(d);
        d->busy_since = TICK_NEVER;
    }
    wake_at(&d->wake, gpu_time_after_cycles(d->setup.time, 1));
}

/* ---- CTAs ---- */

void dispatch_cta_done(void *dispatcher, uint32_t sm, struct cta *cta, struct emu_grid *grid)
{
    struct dispatcher *d = dispatcher;
    struct gpu_kernel *k = queue_find(d, grid);
    if (!k) return; /* a CTA of a helper, which is not queued */
    assert(k->ctas_done < k->ctas);
    d->counts.ctas++;
    k->ctas_done++;
    if (k->cta_starts) {
        const uint64_t linear = emu_cta_linear(cta);
        records_add_cta(d->setup.records, &(struct timed_cta){.sm = sm,
                                                              .kernel = k->id,
                                                              .cta = linear,
                                                              .start_cycle = k->cta_starts[linear],
                                                              .end_cycle = gpu_time_cycle(d->setup.time)});
    }
    wake_at(&d->wake, gpu_time_after_cycles(d->setup.time, 1));
}

void dispatch_look(void *dispatcher)
{
    struct dispatcher *d = dispatcher;
    wake_at(&d->wake, gpu_time_after_cycles(d->setup.time, 1));
}

/* The oldest grid that has a CTA left which fits this SM. */
static struct gpu_kernel *kernel_for(const struct dispatcher *d, uint32_t sm)
{
    for (uint32_t i = 0; i < d->queue.len; i++) {
        struct gpu_kernel *k = d->queue.data[i];
        if (k->state == KERNEL_RUNNING && k->ready_at <= d->setup.time->now && k->next_cta < k->ctas &&
            sm_fits(d->setup.sms[sm], k->grid))
            return k;
    }
    return NULL;
}

static bool has_ctas_left(const struct dispatcher *d)
{
    for (uint32_t i = 0; i < d->queue.len; i++)
        if (d->queue.data[i]->next_cta < d->queue.data[i]->ctas) return true;
    return false;
}

struct dispatch_walk dispatch_begin_walk(const struct dispatcher *d)
{
    const uint32_t limit = d->setup.machine->gpu_ctas_per_cycle;
    return (struct dispatch_walk){.first = d->next_sm, .limit = limit ? limit : d->setup.sm_count};
}

bool dispatch_choose(const struct dispatcher *d, struct dispatch_walk *w)
{
    while (w->looked < d->setup.sm_count && w->started < w->limit) {
        w->sm = (w->first + w->looked++) % d->setup.sm_count;
        w->kernel = kernel_for(d, w->sm);
        if (w->kernel) return true;
        sm_tell_left(d->setup.sms[w->sm], false, has_ctas_left(d));
    }
    return false;
}

bool dispatch_still_fits(const struct dispatcher *d, const struct dispatch_walk *w)
{
    return sm_fits(d->setup.sms[w->sm], w->kernel->grid);
}

bool dispatch_start(struct dispatcher *d, struct dispatch_walk *w, struct emu_fault *fault)
{
    struct gpu_kernel *k = w->kernel;
    if (!sm_start_cta(d->setup.sms[w->sm], d->setup.time->now, k->grid, k->next_cta, k->owner_slot)) {
        *fault = k->fault;
        if (fault->kind == EMU_OK) fault->kind = EMU_BAD_LAUNCH;
        return false;
    }
    if (k->cta_starts) k->cta_starts[k->next_cta] = gpu_time_cycle(d->setup.time);
    k->next_cta++;
    sm_tell_left(d->setup.sms[w->sm], true, has_ctas_left(d));
    w->started++;
    d->next_sm = (w->sm + 1) % d->setup.sm_count;
    return true;
}

/* ---- when ---- */

void dispatch_begin_tick(struct dispatcher *d) { d->wake = TICK_NEVER; }

void dispatch_end_tick(struct dispatcher *d, bool has_started)
{
    if (has_started) wake_at(&d->wake, gpu_time_after_cycles(d->setup.time, 1));
    for (uint32_t i = 0; i < d->queue.len; i++) {
        const struct gpu_kernel *k = d->queue.data[i];
        if (k->state == KERNEL_RUNNING && k->ready_at > d->setup.time->now) wake_at(&d->wake, k->ready_at);
    }
}

void dispatch_explain(const struct dispatcher *d, struct strbuf *out)
{
    static const char *const states[] = {"queued", "running", "waits for its stores"};
    for (uint32_t i = 0; i < d->queue.len; i++) {
        const struct gpu_kernel *k = d->queue.data[i];
        strbuf_printf(out,
                      "  kernel %" PRIu64 " '%s' of stream %" PRIu64 ": %s, %" PRIu64 " of %" PRIu64
                      " CTAs done, %" PRIu64 " started\n",
                      k->id, k->name, k->stream, states[k->state], k->ctas_done, k->ctas, k->next_cta);
    }
}
