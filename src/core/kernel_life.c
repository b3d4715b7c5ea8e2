/* kernel_life.c: the life of a kernel on the machine: it is opened, its CTAs are started, it drains, it ends;
 * before it is opened, SMs may change their roles. The dispatcher, the helper and the roles decide; this file
 * runs the SMs, settles the components, takes snapshots, checks the laws and writes records when they ask for
 * it.
 *
 * (1) Before statistics are read, all components have settled.
 * (2) An SM runs its cycle before a CTA is started on it in that cycle, whether the SM was awake or not: the
 *     CTA takes part from the next cycle on. */
#include "base/hash.h"
#include "core/owned_stats.h"
#include "core/timed_impl.h"

static uint64_t cycle_now(const struct timed_gpu *g) { return gpu_time_cycle(&g->time); }

static void free_before(struct timed_gpu *g, struct gpu_kernel *k)
{
    snapshot_free(k->measure.before, g->snapshots.group_count);
    k->measure.before = NULL;
}

/* ---- records ---- */

/* Sums the owned events of the kernel; called once for each kernel. */
static void take_owned(struct timed_gpu *g, struct gpu_kernel *k)
{
    assert(!k->measure.owned.loads);
    k->measure.owned = owned_sum(&g->wiring, k);
}

/* The statistics of a kernel up to now. Takes its owned events, unless that is done already. */
static void **kernel_stats(struct timed_gpu *g, struct gpu_kernel *k, bool is_partial)
{
    void **stats = snapshot_since(&g->snapshots, k->measure.before);
    if (!k->measure.owned.loads) take_owned(g, k);
    if (k->overlapped)
        owned_replace(stats, &k->measure.owned.events);
    else if (!is_partial)
        laws_check_alone(k, stats, cycle_now(g), &g->end);
    return stats;
}

/* Moves name, load table and statistics to the record. */
static void record_kernel(struct timed_gpu *g, struct gpu_kernel *k, bool is_partial)
{
    const struct emu_launch *l = &k->launch;
    struct timed_kernel t = {.id = k->id,
                             .stream = k->stream,
                             .start_cycle = k->measure.start_cycle,
                             .end_cycle = cycle_now(g),
                             .registers = l->kernel->reg_count,
                             .shared_bytes = emu_grid_shared_bytes(k->grid),
                             .ctas = k->ctas_done,
                             .ctas_per_sm = k->fit.ctas,
                             .limit = k->fit.limit,
                             .requests = units_owner(g->wiring.units, k->owner_slot).made,
                             .overlapped = k->overlapped,
                             .partial = is_partial,
                             .stats = kernel_stats(g, k, is_partial),
                             .load_count = l->kernel->inst_count};
    memcpy(t.grid, l->grid, sizeof t.grid);
    memcpy(t.block, l->block, sizeof t.block);
    t.name = gpu_kernel_give_name(k);
    t.loads = k->measure.owned.loads;
    k->measure.owned.loads = NULL;
    struct emu_stats emu = {0};
    if (!is_partial) dispatch_close_grid(k, &emu); /* else its CTAs are still on the SMs */
    records_add_kernel(&g->records, &t, &emu);
}

/* ---- SMs in cache mode ---- */

/* Prepares the SM for a CTA: it runs its cycle first, if it has not yet. */
static void prepare_sm(struct timed_gpu *g, uint32_t sm)
{
    units_run_sm(g->wiring.units, sm);
    units_wake_sm(g->wiring.units, sm);
}

/* Starts the helper, if there is one and it does not run. False: the fault says why it cannot start. */
static bool start_helper(struct timed_gpu *g, struct emu_fault *fault)
{
    const struct helper *h = &g->helper;
    struct helper_walk w = {0};
    if (!helper_is_wanted(h)) return true;
    if (!helper_open(&g->helper, g->device, fault)) return false;
    while (helper_choose(h, &w)) {
        prepare_sm(g, w.sm);
        if (!helper_start_cta(h, &w, fault)) return false;
    }
    wiring_set_helper(&g->wiring, helper_loads(h));
    return true;
}

void kernel_life_retire_helper(struct timed_gpu *g)
{
    helper_retire(&g->helper);
    units_wake_slices(g->wiring.units);
    wiring_set_helper(&g->wiring, 0);
}

/* Gives SMs their new roles. What an SM has counted stays with its old role. */
static void assign_roles(struct timed_gpu *g, struct emu_fault *fault)
{
    const struct wiring *w = &g->wiring;
    if (helper_is_running(&g->helper)) helper_pause(&g->helper);
    units_settle(w->units);
    void **before = snapshot_take(&g->snapshots);
    wiring_set_roles(&g->wiring, g->time.now, roles_chosen(&g->roles));
    snapshot_move_roles(&g->snapshots, before);
    dispatch_set_sms(&g->dispatch, w->compute_count);
    if (!start_helper(g, fault)) return;
    mech_slices_drop_lines(w->mech_slices);
    units_wake_slices(w->units);
}

/* Continues a change of roles. True: each SM has the role that was chosen. If the helper could not start,
 * fault->kind is not EMU_OK. */
static bool set_roles(struct timed_gpu *g, struct emu_fault *fault)
{
    fault->kind = EMU_OK;
    if (roles_end(&g->roles)) wiring_count_change(&g->wiring, cycle_now(g) - g->roles.since);
    const enum roles_next next = roles_next(&g->roles, cycle_now(g));
    if (next == ROLES_RETIRE && helper_is_running(&g->helper)) kernel_life_retire_helper(g);
    if (next == ROLES_ASSIGN) assign_roles(g, fault);
    return next == ROLES_NOTHING;
}

void kernel_life_look_at_roles(struct timed_gpu *g)
{
    const struct roles *r = &g->roles;
    if (!roles_await_empty(r) || !wiring_is_idle(&g->wiring)) return;
    if (roles_await_helper(r) && helper_has_ctas(&g->helper)) return;
    roles_found_empty(&g->roles);
    dispatch_look(&g->dispatch);
}

/* ---- opening ---- */

static void tell_sms(struct timed_gpu *g, const struct gpu_kernel *k)
{
    const struct emu_launch *l = &k->launch;
    struct sm_launch_info info = {.name = k->name,
                                  .launch = k->id,
                                  .registers = l->kernel->reg_count,
                                  .shared_bytes = emu_grid_shared_bytes(k->grid),
                                  .ctas_per_sm = k->fit.ctas,
                                  .cooperative = l->cooperative};
    memcpy(info.grid, l->grid, sizeof info.grid);
    memcpy(info.block, l->block, sizeof info.block);
    for (uint32_t i = 0; i < g->wiring.compute_count; i++) sm_launch(g->wiring.sms[i], g->time.now, &info);
    units_look_at_all(g->wiring.units);
}

static void open_kernel(struct timed_gpu *g, struct gpu_kernel *k)
{
    struct emu_fault fault;
    streams_kernel_began(&g->streams, k);
    if (!start_helper(g, &fault) || !dispatch_open(&g->dispatch, k, g->device, &fault)) {
        run_end_fault(&g->end, &fault);
        return;
    }
    units_clear_owner(g->wiring.units, k->owner_slot);
    units_settle(g->wiring.units);
    k->measure.start_cycle = cycle_now(g);
    k->measure.before = snapshot_take(&g->snapshots);
    tell_sms(g, k);
}

/* On an empty machine SMs may have to change their roles first. */
static bool may_open(struct timed_gpu *g, const struct gpu_kernel *k)
{
    struct emu_fault fault;
    if (!dispatch_may_open(&g->dispatch, k)) return false;
    if (g->dispatch.queue.len || set_roles(g, &fault)) return true;
    if (fault.kind != EMU_OK) run_end_fault(&g->end, &fault);
    return false;
}

/* ---- ending ---- */

static uint64_t hash_launch(const struct timed_kernel *t)
{
    uint64_t hash = hash_bytes(HASH_SEED, t->name, strlen(t->name));
    hash = hash_bytes(hash, t->grid, sizeof t->grid);
    return hash_bytes(hash, t->block, sizeof t->block);
}

/* The kernel of the newest record ran alone: mechanisms may choose other roles for the next one. */
static void tell_mechanisms(struct timed_gpu *g)
{
    const struct timed_kernel *t = &g->records.kernels.data[g->records.kernels.len - 1];
    if (t->overlapped) return;
    const struct wiring *w = &g->wiring;
    const struct dram_stats *dram = t->stats[GROUP_DRAM];
    mech_gpu_grid_ran(
        w->mech_gpu, cycle_now(g),
        &(struct mech_grid_run){.kernel = hash_launch(t),
                                .cache_sms = w->sm_count - w->compute_count,
                                .cycles = t->end_cycle - t->start_cycle,
                                .warp_insts = ((const struct sm_stats *)t->stats[GROUP_SM])->warp_insts,
                                .dram_cycles = dram->cycles,
                                .dram_busy = dram->busy});
}

/* All components have settled. */
static void end_kernel(struct timed_gpu *g, struct gpu_kernel *k)
{
    const uint64_t grid = emu_grid_id(k->grid); /* the record closes the grid */
    dispatch_count_end(&g->dispatch, k);
    laws_check_kernel(&g->wiring, k, cycle_now(g), &g->end);
    record_kernel(g, k, false);
    if (g->wiring.cache_most) tell_mechanisms(g);
    for (uint32_t i = 0; i < g->wiring.sm_count; i++) sm_grid_end(g->wiring.sms[i], grid);
    free_before(g, k);
    dispatch_remove(&g->dispatch, k);
    streams_kernel_ended(&g->streams, k);
    gpu_kernel_free(k);
    if (g->options.kernel_ended) g->options.kernel_ended(g->options.kernel_ended_ctx);
}

static void begin_drain(struct timed_gpu *g, struct gpu_kernel *k)
{
    dispatch_drain(&g->dispatch, k);
    take_owned(g, k); /* SMs reset it at the end of a kernel */
    for (uint32_t i = 0; i < g->wiring.compute_count; i++) sm_kernel_end(g->wiring.sms[i], g->time.now);
    units_look_at_all(g->wiring.units);
}

static void end_finished(struct timed_gpu *g)
{
    uint32_t at = 0;
    for (struct gpu_kernel *k; (k = dispatch_find_finished(&g->dispatch, &at));) {
        if (dispatch_is_alone(&g->dispatch)) {
            begin_drain(g, k);
            continue;
        }
        units_settle(g->wiring.units);
        end_kernel(g, k);
    }
}

void kernel_life_drained(struct timed_gpu *g)
{
    units_settle(g->wiring.units);
    laws_check_empty(&g->wiring, cycle_now(g), &g->end);
    if (!run_has_ended(&g->end)) end_kernel(g, dispatch_draining(&g->dispatch));
}

/* ---- the dispatcher's turn ---- */

/* True: at least one CTA has started. */
static bool start_ctas(struct timed_gpu *g)
{
    struct dispatch_walk w = dispatch_begin_walk(&g->dispatch);
    while (dispatch_choose(&g->dispatch, &w)) {
        struct emu_fault fault;
        prepare_sm(g, w.sm);
        if (!dispatch_still_fits(&g->dispatch, &w)) continue;
        if (!dispatch_start(&g->dispatch, &w, &fault)) {
            run_end_fault(&g->end, &fault);
            break;
        }
    }
    return w.started > 0;
}

void kernel_life_tick(struct timed_gpu *g)
{
    struct gpu_kernel *k;
    dispatch_begin_tick(&g->dispatch);
    streams_tick(&g->streams);
    end_finished(g);
    while (!run_has_ended(&g->end) && (k = streams_next_kernel(&g->streams)) && may_open(g, k))
        open_kernel(g, k);
    const bool has_started = !run_has_ended(&g->end) && start_ctas(g);
    dispatch_end_tick(&g->dispatch, has_started);
}

/* ---- the end of the run ---- */

void kernel_life_abandon(struct timed_gpu *g)
{
    for (uint32_t i = 0; i < g->dispatch.queue.len; i++) {
        struct gpu_kernel *k = g->dispatch.queue.data[i];
        if (k->grid && k->measure.before) record_kernel(g, k, true);
    }
    wiring_abandon(&g->wiring);
    dispatch_abandon(&g->dispatch);
    wiring_set_helper(&g->wiring, 0);
    helper_close(&g->helper);
}

void kernel_life_close(struct timed_gpu *g)
{
    for (uint32_t i = 0; i < g->dispatch.queue.len; i++) free_before(g, g->dispatch.queue.data[i]);
    dispatch_close(&g->dispatch);
}
