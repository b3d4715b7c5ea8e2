/* timed.c: the interface of the timed GPU. */
#include "base/hash.h"
#include "base/hugepage.h"
#include "core/timed_impl.h"

#include <time.h>

/* ---- life ---- */

/* Core cycles that an L2 miss takes beyond a hit on an idle machine: to the channel, in it, and back. */
static uint32_t idle_miss(const struct gpu_time *t, const struct dram_params *dram)
{
    const struct clock_domain *d = t->clock.domains;
    const uint64_t core = d[DOMAIN_CORE].period;
    const uint64_t links = (d[DOMAIN_L2].period + d[DOMAIN_DRAM].period + core - 1) / core;
    return (uint32_t)(dram_idle_latency(dram, &d[DOMAIN_DRAM], &d[DOMAIN_CORE]) + links);
}

static bool init_time(struct timed_gpu *g, struct diag_list *diags)
{
    const struct machine *m = &g->machine;
    const uint32_t khz[DOMAIN_COUNT] = {m->core_clock_khz, m->xbar_clock_khz, m->l2_clock_khz,
                                        m->dram_clock_khz};
    struct gpu_clock clock;
    if (!gpu_clock_init(&clock, khz, diags)) return false;
    gpu_time_init(&g->time, &clock);
    return true;
}

static bool init_wiring(struct timed_gpu *g, struct diag_list *diags)
{
    const struct wiring_setup setup = {.machine = &g->machine,
                                       .time = &g->time,
                                       .options = &g->options,
                                       .on_cta_done = dispatch_cta_done,
                                       .on_room = dispatch_look,
                                       .ctx = &g->dispatch};
    if (!wiring_create(&g->wiring, &setup, diags)) return false;
    const struct mech_failure *failure = mech_gpu_failure(g->wiring.mech_gpu);
    if (failure) diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "%s", failure->text);
    return !failure;
}

static bool init_threads(struct timed_gpu *g, struct diag_list *diags)
{
    uint32_t threads = g->options.threads;
    const char *shares = mech_gpu_shares(g->wiring.mech_gpu);
    if (shares) {
        if (threads > 1)
            diag_add(diags, DIAG_WARNING, NULL, 0, 0, 0, NULL,
                     "mechanism '%s' has a state that all SMs share: they run on one thread", shares);
        threads = 1;
        units_couple(g->wiring.units);
    }
    if (units_hire(g->wiring.units, threads)) return true;
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "ask for fewer", "the host refuses %u threads", threads);
    return false;
}

static void init_rooms(struct timed_gpu *g)
{
    const struct wiring *w = &g->wiring;
    records_init(&g->records, g->options.timeline);
    dispatch_init(&g->dispatch, &(struct dispatch_setup){.machine = &g->machine,
                                                         .time = &g->time,
                                                         .sms = w->sms,
                                                         .sm_count = w->compute_count,
                                                         .sm_least = w->sm_count - w->cache_most,
                                                         .sm_all = w->sm_count,
                                                         .logs = units_logs(w->units),
                                                         .records = &g->records});
    streams_init(&g->streams,
                 &(struct stream_setup){.machine = &g->machine, .time = &g->time, .records = &g->records});
    snapshot_init(&g->snapshots, w, &g->time, &g->dispatch, &g->streams);
    roles_init(&g->roles, w);
    sampler_init(&g->sampler, &g->snapshots, g->options.sample_cycles);
    loop_init(g);
}

static bool init_energy(struct timed_gpu *g, struct diag_list *diags)
{
    if (!g->options.energy) return true;
    mech_energy_gather(&g->energy_rows, g->wiring.mechs);
    if (*g->machine.energy) return mech_energy_load(&g->energy, g->machine.energy, g->wiring.mechs, diags);
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "--set energy=gpuwattch, accelwattch or a .yaml file",
             "machine '%s' names no table of energies", g->machine.name);
    return false;
}

struct timed_gpu *timed_create(const struct machine *m, struct emu_device *d, const struct timed_options *o,
                               struct diag_list *diags)
{
    struct timed_gpu *g = mem_zalloc_huge(sizeof *g);
    g->machine = *m;
    machine_apply_ideal(&g->machine);
    g->device = d;
    if (o) g->options = *o;
    l1_params_warn(&g->machine.l1, diags);
    bool ok = init_time(g, diags);
    if (ok && !g->machine.l2.infinite_miss)
        g->machine.l2.infinite_miss = idle_miss(&g->time, &g->machine.dram);
    ok = ok && init_wiring(g, diags) && init_energy(g, diags) && init_threads(g, diags);
    ok = ok && helper_init(&g->helper, &g->wiring, &g->time, g->options.compile, diags);
    if (ok) {
        init_rooms(g);
        return g;
    }
    timed_destroy(g);
    return NULL;
}

void timed_destroy(struct timed_gpu *g)
{
    if (!g) return;
    wiring_destroy(&g->wiring); /* SMs close their CTAs before their grids are closed */
    kernel_life_close(g);
    helper_free(&g->helper);
    streams_close(&g->streams);
    sampler_close(&g->sampler, g->snapshots.group_count);
    records_free(&g->records, g->snapshots.group_count);
    snapshot_close(&g->snapshots);
    run_end_free(&g->end);
    kept_run_free(&g->kept);
    mech_energy_free(&g->energy_rows);
    mem_free_huge(g);
}

void timed_leave_device(struct timed_gpu *g)
{
    assert(!timed_pending(g));
    if (!helper_is_running(&g->helper) || run_has_ended(&g->end)) return;
    kernel_life_retire_helper(g);
    loop_run(g, GOAL_HELPER_GONE, 0);
    helper_close(&g->helper);
}

void timed_set_device(struct timed_gpu *g, struct emu_device *d)
{
    assert(!timed_pending(g));
    g->device = d;
}

const struct energy_table *timed_energy(const struct timed_gpu *g)
{
    return g->options.energy ? &g->energy : NULL;
}

uint32_t timed_energy_rows(const struct timed_gpu *g, const struct energy_row *const **rows)
{
    *rows = g->energy_rows.rows;
    return g->energy_rows.count;
}

/* ---- work ---- */

void timed_launch(struct timed_gpu *g, const struct emu_launch *l, uint64_t stream)
{
    if (run_has_ended(&g->end)) return;
    streams_add_kernel(&g->streams, dispatch_new_kernel(&g->dispatch, l, stream));
}

/* If a mechanism fails between two runs, the next run reports it. */
bool timed_pending(const struct timed_gpu *g)
{
    return !run_has_ended(&g->end) && (g->streams.pending || mech_gpu_failure(g->wiring.mech_gpu));
}

void timed_copy(struct timed_gpu *g, const struct timed_copy *c, uint64_t stream)
{
    if (!run_has_ended(&g->end))
        streams_add_copy(&g->streams, c, stream);
    else if (c->release)
        c->release(c->ctx);
}

uint64_t timed_mark(struct timed_gpu *g, uint64_t stream) { return streams_add_mark(&g->streams, stream); }

void timed_wait_mark(struct timed_gpu *g, uint64_t stream, uint64_t mark)
{
    if (!run_has_ended(&g->end)) streams_add_wait(&g->streams, stream, mark);
}

bool timed_mark_reached(const struct timed_gpu *g, uint64_t mark, uint64_t *ns)
{
    *ns = g->streams.mark_ns.data[mark - 1];
    return streams_has_reached(&g->streams, mark);
}

void timed_stream_nonblocking(struct timed_gpu *g, uint64_t stream) { streams_unblock(&g->streams, stream); }
void timed_stream_end(struct timed_gpu *g, uint64_t stream) { streams_end(&g->streams, stream); }

static enum emu_fault_kind run_to(struct timed_gpu *g, enum loop_goal goal, uint64_t stream_or_mark,
                                  struct emu_fault *fault)
{
    if (!run_has_ended(&g->end)) {
        loop_run(g, goal, stream_or_mark);
        if (!run_has_ended(&g->end)) return EMU_OK;
        kernel_life_abandon(g); /* modules and memory may be freed from now on */
    }
    *fault = g->end.fault;
    return fault->kind;
}

enum emu_fault_kind timed_sync(struct timed_gpu *g, uint64_t stream, struct emu_fault *fault)
{
    return run_to(g, stream == UINT64_MAX ? GOAL_ALL : GOAL_STREAM, stream, fault);
}

enum emu_fault_kind timed_sync_mark(struct timed_gpu *g, uint64_t mark, struct emu_fault *fault)
{
    return run_to(g, GOAL_MARK, mark, fault);
}

struct host_write {
    struct timed_gpu *gpu;
    uint64_t address, bytes;
};

static void tell_host_write(void *write)
{
    const struct host_write *w = write;
    wiring_host_write(&w->gpu->wiring, w->gpu->time.now, w->address, w->bytes);
}

/* Tells the mechanism at the slices, which may fail: during a run, or before the next one. */
static void host_write(struct timed_gpu *g, uint64_t address, uint64_t bytes)
{
    struct mech_gpu *mechs = g->wiring.mech_gpu;
    mech_gpu_try(mechs, tell_host_write, &(struct host_write){g, address, bytes});
    if (mech_gpu_failure(mechs) && mech_thread.guard) mech_guard_leave(mech_gpu_failure(mechs));
}

void timed_host_copy(struct timed_gpu *g, uint64_t address, uint64_t bytes)
{
    wiring_host_copy(&g->wiring, address, bytes);
    host_write(g, address, bytes);
}

void timed_host_fill(struct timed_gpu *g, uint64_t address, uint64_t bytes) { host_write(g, address, bytes); }

/* ---- results ---- */

uint64_t timed_cycles(const struct timed_gpu *g) { return gpu_time_cycle(&g->time); }
uint64_t timed_now_ns(const struct timed_gpu *g) { return gpu_time_ns(&g->time); }
const struct machine *timed_machine(const struct timed_gpu *g) { return &g->machine; }
bool timed_partial(const struct timed_gpu *g) { return run_has_ended(&g->end); }
const char *timed_report(const struct timed_gpu *g) { return strbuf_text(&g->end.report); }

double timed_host_seconds(const struct timed_gpu *g)
{
    struct timespec t;
    if (g->kept.host_seconds > 0) return g->kept.host_seconds;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t)) return 0;
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint32_t timed_kernel_count(const struct timed_gpu *g) { return g->records.kernels.len; }
const struct timed_kernel *timed_kernel_at(const struct timed_gpu *g, uint32_t i)
{
    return &g->records.kernels.data[i];
}
const struct emu_stats *timed_kernel_emu(const struct timed_gpu *g, uint32_t i)
{
    return &g->records.kernel_emu.data[i];
}
bool timed_has_samples(const struct timed_gpu *g) { return g->options.sample_cycles != 0; }
uint32_t timed_sample_count(const struct timed_gpu *g) { return g->records.samples.len; }
const struct timed_sample *timed_sample_at(const struct timed_gpu *g, uint32_t i)
{
    return &g->records.samples.data[i];
}
uint32_t timed_cta_count(const struct timed_gpu *g) { return g->records.ctas.len; }
const struct timed_cta *timed_cta_at(const struct timed_gpu *g, uint32_t i)
{
    return &g->records.ctas.data[i];
}
uint32_t timed_transfer_count(const struct timed_gpu *g) { return g->records.transfers.len; }
const struct timed_transfer *timed_transfer_at(const struct timed_gpu *g, uint32_t i)
{
    return &g->records.transfers.data[i];
}

uint32_t timed_compute_sms(const struct timed_gpu *g) { return g->wiring.sm_count - g->wiring.cache_most; }
uint32_t timed_sm_count(const struct timed_gpu *g) { return g->wiring.sm_count; }
struct sm *timed_sm_at(const struct timed_gpu *g, uint32_t i) { return g->wiring.sms[i]; }
uint32_t timed_slice_count(const struct timed_gpu *g) { return g->wiring.slice_count; }
void *timed_l1_stats(const struct timed_gpu *g, uint32_t i)
{
    return g->kept.l1s ? g->kept.l1s[i] : sm_l1_stats(g->wiring.sms[i]);
}
void *timed_slice_stats(const struct timed_gpu *g, uint32_t i)
{
    return g->kept.l2s ? g->kept.l2s[i] : l2_stats(g->wiring.slices[i]);
}

uint32_t timed_groups(const struct timed_gpu *g, const struct timed_group **out)
{
    *out = g->snapshots.groups;
    return g->snapshots.group_count;
}

void **timed_totals(const struct timed_gpu *g) { return snapshot_take(&g->snapshots); }

void timed_free_stats(const struct timed_gpu *g, void **stats)
{
    snapshot_free(stats, g->snapshots.group_count);
}

uint64_t timed_hash(const struct timed_gpu *g)
{
    uint64_t h = HASH_SEED;
    for (uint32_t i = 0; i < g->records.kernels.len; i++) {
        const struct timed_kernel *k = &g->records.kernels.data[i];
        const uint64_t times[] = {k->id, k->stream, k->start_cycle, k->end_cycle, k->ctas};
        h = hash_bytes(h, times, sizeof times);
        h = snapshot_hash(&g->snapshots, h, k->stats);
    }
    void **now = snapshot_take(&g->snapshots);
    h = snapshot_hash(&g->snapshots, h, now);
    timed_free_stats(g, now);
    return h;
}

struct timed_note *timed_notes(const struct timed_gpu *g, uint32_t *count, uint64_t *dropped)
{
    return mech_gpu_merge_notes(g->wiring.mech_gpu, count, dropped);
}
