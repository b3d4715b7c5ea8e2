/* timed.c: the interface of the timed GPU. */
#include "core/timed_impl.h"

#include "base/hash.h"
#include "base/hugepage.h"

/* Core cycles of an L2 miss beyond a hit on an idle machine: to the channel, in it, and back. */
static uint32_t idle_miss(const struct timed_gpu *g)
{
    const struct clock_domain *d = g->clock.domains;
    uint64_t core = d[DOMAIN_CORE].period;
    uint64_t links = (d[DOMAIN_L2].period + d[DOMAIN_DRAM].period + core - 1) / core;
    return (uint32_t)(dram_idle_latency(&g->machine.dram, &d[DOMAIN_DRAM], &d[DOMAIN_CORE]) + links);
}

/* A mechanism whose SMs speak to each other within a cycle, or NULL. */
static const char *mech_shares(const struct timed_gpu *g)
{
    for (uint32_t i = 0; i < mech_set_count(g->mechs); i++)
        if (mech_set_at(g->mechs, i)->gpu_state_bytes) return mech_set_at(g->mechs, i)->name;
    return NULL;
}

struct timed_gpu *timed_create(const struct machine *m, struct emu_device *d, const struct timed_options *o,
                               struct diag_list *diags)
{
    struct timed_gpu *g = mem_zalloc_huge(sizeof *g);
    const uint32_t khz[DOMAIN_COUNT] = {m->core_clock_khz, m->xbar_clock_khz, m->l2_clock_khz,
                                        m->dram_clock_khz};
    g->machine = *m;
    machine_apply_ideal(&g->machine);
    g->device = d;
    if (o) g->options = *o;
    g->no_skip = g->options.no_skip;
    g->dispatch.wake = g->busy_since = g->next_sample = TICK_NEVER;
    if (!gpu_clock_init(&g->clock, khz, diags)) {
        timed_destroy(g);
        return NULL;
    }
    core_clock_init(&g->core, &g->clock.domains[DOMAIN_CORE]);
    if (!g->machine.l2.infinite_miss) g->machine.l2.infinite_miss = idle_miss(g);
    if (!wiring_create(g, diags)) {
        timed_destroy(g);
        return NULL;
    }
    const char *shares = mech_shares(g);
    if (g->options.threads > 1 && shares) {
        diag_add(diags, DIAG_WARNING, NULL, 0, 0, 0, NULL,
                 "mechanism '%s' has a state that all SMs share: they run on one thread", shares);
        g->options.threads = 1;
    }
    if (shares) units_talk(g->units);
    if (!units_hire(g->units, g->options.threads)) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "ask for fewer", "the host refuses %u threads",
                 g->options.threads);
        timed_destroy(g);
        return NULL;
    }
    if (g->options.sample_cycles)
        g->next_sample = g->options.sample_cycles * g->clock.domains[DOMAIN_CORE].period;
    streams_init(g);
    snapshot_init(g);
    return g;
}

void timed_destroy(struct timed_gpu *g)
{
    if (!g) return;
    wiring_destroy(g); /* SMs give their CTAs back before their grids are closed */
    dispatch_close(g);
    streams_close(g);
    snapshot_close(g);
    strbuf_free(&g->report);
    mem_free_huge(g);
}

void timed_set_device(struct timed_gpu *g, struct emu_device *d)
{
    assert(!timed_pending(g));
    g->device = d;
}

void gpu_fail(struct timed_gpu *g, enum gpu_end end, enum emu_fault_kind kind, const char *text)
{
    if (g->end != END_NONE) return;
    g->end = end;
    if (text) strbuf_puts(&g->report, text);
    g->fault.kind = kind;
    snprintf(g->fault.message, sizeof g->fault.message, "%s", strbuf_text(&g->report));
    for (uint32_t i = 0; end == END_FAULT && i < g->dispatch.queue.len; i++)
        if (g->dispatch.queue.data[i]->fault.kind == kind) g->fault = g->dispatch.queue.data[i]->fault;
}

void timed_launch(struct timed_gpu *g, const struct emu_launch *l, uint64_t stream)
{
    if (g->end == END_NONE) dispatch_add(g, l, stream);
}

/* What was running when the run ended is recorded as far as it came. */
static void record_partial(struct timed_gpu *g)
{
    for (uint32_t i = 0; i < g->dispatch.queue.len; i++) {
        struct gpu_kernel *k = g->dispatch.queue.data[i];
        if (k->grid && k->before) snapshot_kernel(g, k, true);
    }
}

bool timed_pending(const struct timed_gpu *g) { return g->end == END_NONE && g->streams.pending; }

void timed_copy(struct timed_gpu *g, const struct timed_copy *c, uint64_t stream)
{
    if (g->end == END_NONE)
        streams_add_copy(g, c, stream);
    else if (c->release)
        c->release(c->ctx);
}

uint64_t timed_mark(struct timed_gpu *g, uint64_t stream) { return streams_add_mark(g, stream); }

void timed_wait_mark(struct timed_gpu *g, uint64_t stream, uint64_t mark)
{
    if (g->end == END_NONE) streams_add_wait(g, stream, mark);
}

bool timed_mark_reached(const struct timed_gpu *g, uint64_t mark, uint64_t *ns)
{
    *ns = g->streams.mark_ns.data[mark - 1];
    return *ns != MARK_PENDING;
}

void timed_stream_nonblocking(struct timed_gpu *g, uint64_t stream)
{
    assert(stream);
    streams_get(g, stream)->blocking = false;
}

void timed_stream_end(struct timed_gpu *g, uint64_t stream) { streams_end(g, stream); }

static enum emu_fault_kind run_to(struct timed_gpu *g, enum loop_goal goal, uint64_t which,
                                  struct emu_fault *fault)
{
    bool ended = g->end != END_NONE;
    if (!ended) loop_run(g, goal, which);
    if (!ended && g->end != END_NONE) {
        record_partial(g);
        dispatch_abandon(g); /* modules and memory may be given back from now on */
    }
    if (g->end == END_NONE) return EMU_OK;
    *fault = g->fault;
    return g->fault.kind;
}

enum emu_fault_kind timed_sync(struct timed_gpu *g, uint64_t stream, struct emu_fault *fault)
{
    return run_to(g, stream == UINT64_MAX ? GOAL_ALL : GOAL_STREAM, stream, fault);
}

enum emu_fault_kind timed_sync_mark(struct timed_gpu *g, uint64_t mark, struct emu_fault *fault)
{
    return run_to(g, GOAL_MARK, mark, fault);
}

uint64_t timed_cycles(const struct timed_gpu *g) { return gpu_cycle(g); }
uint64_t timed_now_ns(const struct timed_gpu *g) { return gpu_clock_ns(&g->clock, g->now); }
const struct machine *timed_machine(const struct timed_gpu *g) { return &g->machine; }
bool timed_partial(const struct timed_gpu *g) { return g->end != END_NONE; }
const char *timed_report(const struct timed_gpu *g) { return strbuf_text(&g->report); }
uint32_t timed_kernel_count(const struct timed_gpu *g) { return g->kernels.len; }
const struct timed_kernel *timed_kernel_at(const struct timed_gpu *g, uint32_t i)
{
    return &g->kernels.data[i];
}
const struct emu_stats *timed_kernel_emu(const struct timed_gpu *g, uint32_t i)
{
    return &g->kernel_emu.data[i];
}
uint32_t timed_sample_count(const struct timed_gpu *g) { return g->samples.len; }
const struct timed_sample *timed_sample_at(const struct timed_gpu *g, uint32_t i)
{
    return &g->samples.data[i];
}
uint32_t timed_cta_count(const struct timed_gpu *g) { return g->ctas.len; }
const struct timed_cta *timed_cta_at(const struct timed_gpu *g, uint32_t i) { return &g->ctas.data[i]; }
uint32_t timed_transfer_count(const struct timed_gpu *g) { return g->transfers.len; }
const struct timed_transfer *timed_transfer_at(const struct timed_gpu *g, uint32_t i)
{
    return &g->transfers.data[i];
}
uint32_t timed_sm_count(const struct timed_gpu *g) { return g->sm_count; }
struct sm *timed_sm_at(const struct timed_gpu *g, uint32_t i) { return g->sms[i]; }

void timed_host_copy(struct timed_gpu *g, uint64_t address, uint64_t bytes)
{
    if (!g->machine.gpu_copy_fills_l2 || !bytes) return;
    uint32_t line = g->machine.l2.line;
    uint64_t last = address + bytes - 1;
    for (uint64_t a = address - address % line; a <= last; a += line)
        l2_fill_from_host(g->slices[addrmap_place(g->map, a).slice], a);
}

uint32_t timed_groups(const struct timed_gpu *g, const struct timed_group **out)
{
    *out = g->groups;
    return g->group_count;
}

void **timed_totals(const struct timed_gpu *g) { return snapshot_take(g); }
void timed_free_stats(const struct timed_gpu *g, void **stats) { snapshot_free(g, stats); }

/* Only what rows name: the bytes between them may be anything. */
static uint64_t hash_group(uint64_t h, const struct timed_group *group, const void *stats)
{
    for (const struct stat_row *r = group->rows; r->name; r++)
        if (r->type != STAT_RATIO)
            h = hash_bytes(h, (const char *)stats + r->offset,
                           sizeof(uint64_t) * (r->type == STAT_HIST ? r->length : 1));
    return h;
}

uint64_t timed_hash(const struct timed_gpu *g)
{
    uint64_t h = HASH_SEED;
    for (uint32_t i = 0; i < g->kernels.len; i++) {
        const struct timed_kernel *k = &g->kernels.data[i];
        const uint64_t times[] = {k->id, k->stream, k->start_cycle, k->end_cycle, k->ctas};
        h = hash_bytes(h, times, sizeof times);
        for (uint32_t j = 0; j < g->group_count; j++) h = hash_group(h, &g->groups[j], k->stats[j]);
    }
    void **now = snapshot_take(g);
    for (uint32_t j = 0; j < g->group_count; j++) h = hash_group(h, &g->groups[j], now[j]);
    snapshot_free(g, now);
    return h;
}
