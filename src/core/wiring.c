/* wiring.c: the components of a machine and the links between them.
 *
 *   SM -> crossbar -> L2 slice -> DRAM channel, and back.
 *   SM -> ring -> SM, where a mechanism uses the ring.
 *
 * Each link has the depth that the machine gives it and a latency of one cycle of the end that pushes. A
 * slice belongs to one channel: slices are numbered channel by channel (mem/addrmap.h). */
#include "core/wiring.h"

#include "base/hugepage.h"
#include "core/machine_check.h"
#include "core/mech/mech_cost.h"
#include "core/sm/uop_table.h"
#include "mem/xbar_ahead.h"

enum { POOL_START = 4096 };

static struct link *make_links(uint32_t count, const char *name, uint32_t depth, tick latency)
{
    struct link *l = mem_zalloc_huge(sizeof *l * count);
    for (uint32_t i = 0; i < count; i++) link_init(&l[i], name, depth, latency, NULL, NULL);
    return l;
}

static void free_links(struct link *l, uint32_t count)
{
    for (uint32_t i = 0; l && i < count; i++) link_free(&l[i]);
    mem_free_huge(l);
}

/* Components keep the arrays that they are given. */
static struct link **pointers(struct wiring *w, struct link *l, uint32_t count)
{
    struct link **p = ARENA_ARRAY(&w->arena, struct link *, count);
    for (uint32_t i = 0; i < count; i++) p[i] = &l[i];
    return p;
}

static void create_links(struct wiring *w, const struct gpu_time *time)
{
    const struct machine *m = w->machine;
    struct gpu_links *l = &w->links;
    l->sm_to_xbar =
        make_links(w->sm_count, "SM to crossbar", m->gpu_sm_out_queue, gpu_time_period(time, DOMAIN_CORE));
    l->xbar_to_sm =
        make_links(w->sm_count, "crossbar to SM", m->gpu_sm_in_queue, gpu_time_period(time, DOMAIN_XBAR));
    l->xbar_to_slice =
        make_links(w->slice_count, "L2 access queue", m->l2.access_queue, gpu_time_period(time, DOMAIN_XBAR));
    l->slice_to_xbar = make_links(w->slice_count, "L2 response queue", m->l2.response_queue,
                                  gpu_time_period(time, DOMAIN_L2));
    l->slice_to_dram =
        make_links(w->slice_count, "L2 miss queue", m->l2.miss_queue, gpu_time_period(time, DOMAIN_L2));
    l->dram_to_slice =
        make_links(w->slice_count, "DRAM to L2", m->l2.fill_queue, gpu_time_period(time, DOMAIN_DRAM));
}

/* The L1 of an SM in cache mode keeps what its warps store to local memory: nothing of it is written
 * through. */
static struct l1_params cache_mode_l1(const struct l1_params *own)
{
    struct l1_params l1 = *own;
    l1.write_local = L1_WRITE_BACK;
    l1.local_write_allocate = true;
    return l1;
}

static const struct l1_params *role_l1(const struct wiring *w, uint32_t sm)
{
    return sm < w->compute_count ? &w->machine->l1 : &w->cache_l1;
}

static void create_sms(struct wiring *w, const struct wiring_setup *setup)
{
    w->cache_l1 = cache_mode_l1(&w->machine->l1);
    w->uops = uop_tables_create(&w->machine->sm);
    w->sms = mem_zalloc(sizeof *w->sms * w->sm_count);
    for (uint32_t i = 0; i < w->sm_count; i++) {
        struct unit *unit = units_sm(w->units, i);
        w->sms[i] = sm_create(&(struct sm_setup){.machine = w->machine,
                                                 .params = &w->machine->sm,
                                                 .l1 = role_l1(w, i),
                                                 .index = i,
                                                 .sm_count = w->sm_count,
                                                 .clock = &setup->time->clock.domains[DOMAIN_CORE],
                                                 .pool = &unit->pool,
                                                 .uops = w->uops,
                                                 .wake = &unit->wake,
                                                 .pending = &unit->pending,
                                                 .to_xbar = &w->links.sm_to_xbar[i],
                                                 .from_xbar = &w->links.xbar_to_sm[i],
                                                 .mechs = w->mechs,
                                                 .mech_gpu = w->mech_gpu,
                                                 .ring = w->ring,
                                                 .sharers = w->sharers,
                                                 .on_cta_done = setup->on_cta_done,
                                                 .on_room = setup->on_room,
                                                 .ctx = setup->ctx});
    }
}

static void create_memory(struct wiring *w, const struct clock_domain *clocks)
{
    const struct machine *m = w->machine;
    struct gpu_links *l = &w->links;
    struct link **from_sm = pointers(w, l->sm_to_xbar, w->sm_count);
    struct link **to_sm = pointers(w, l->xbar_to_sm, w->sm_count);
    struct link **to_slice = pointers(w, l->xbar_to_slice, w->slice_count);
    struct link **from_slice = pointers(w, l->slice_to_xbar, w->slice_count);
    struct link **to_dram = pointers(w, l->slice_to_dram, w->slice_count);
    struct link **from_dram = pointers(w, l->dram_to_slice, w->slice_count);
    struct xbar_params xbar = m->xbar;
    if (w->cache_most) xbar.gated_sms = w->compute_count;
    w->xbar = xbar_create(&xbar, w->sm_count, w->slice_count, &clocks[DOMAIN_XBAR], &w->pool, from_sm,
                          to_slice, from_slice, to_sm);
    w->slices = mem_zalloc(sizeof *w->slices * w->slice_count);
    uint32_t per_channel = w->slice_count / w->channel_count;
    for (uint32_t i = 0; i < w->slice_count; i++) {
        struct unit *unit = units_partition(w->units, i / per_channel);
        w->slices[i] = l2_create(&m->l2, i, &clocks[DOMAIN_L2], &clocks[DOMAIN_CORE], &unit->pool,
                                 to_slice[i], from_slice[i], to_dram[i], from_dram[i]);
        /* the set comes from the address without the slice's bits */
        l2_use_map(w->slices[i], addrmap_slice_addr, w->map);
        l2_on_atomic(w->slices[i], units_keep_effect, unit);
        if (w->dates_copies) l2_on_write(w->slices[i], units_keep_effect, unit);
    }
    w->channels = mem_zalloc(sizeof *w->channels * w->channel_count);
    for (uint32_t i = 0; i < w->channel_count; i++) {
        w->channels[i] = dram_create(&m->dram, i, w->map, &clocks[DOMAIN_DRAM], &clocks[DOMAIN_CORE],
                                     &units_partition(w->units, i)->pool, to_dram + i * per_channel,
                                     from_dram + i * per_channel, per_channel);
    }
}

static void join_links(struct wiring *w)
{
    struct gpu_links *l = &w->links;
    const uint32_t per_channel = w->slice_count / w->channel_count;
    units_join_xbar(w->units, w->xbar);
    for (uint32_t i = 0; i < w->sm_count; i++)
        units_join_sm(w->units, i, w->sms[i], &l->sm_to_xbar[i], &l->xbar_to_sm[i]);
    for (uint32_t i = 0; i < w->slice_count; i++) {
        units_join_slice(w->units, i, w->slices[i], &l->xbar_to_slice[i], &l->slice_to_xbar[i]);
        units_join_channel(w->units, i, w->channels[i / per_channel], &l->slice_to_dram[i],
                           &l->dram_to_slice[i]);
    }
    xbar_take_notes(w->xbar);
}

/* Reads the address map and the mechanisms. False: something is wrong with these or with the machine's
 * parameters. */
static bool check(struct wiring *w, const struct timed_options *o, struct diag_list *diags)
{
    const struct machine *m = w->machine;
    const bool fits = machine_check(m, diags);
    w->mechs = mech_set_create_for(m->scheduler, o->mechs, o->mech_count, o->mech_settings,
                                   o->mech_setting_count, diags);
    if (fits) w->map = addrmap_create(&m->addrmap, diags);
    return w->map && w->mechs;
}

static bool check_mechs(struct wiring *w, struct diag_list *diags)
{
    const struct mech_machine machine = mech_machine_of(w->machine);
    return mech_gpu_check(w->mech_gpu, &machine, diags);
}

/* Makes what only mechanisms use. */
static void create_meeting_points(struct wiring *w, const struct gpu_time *time)
{
    const uint32_t uses = mech_gpu_uses_all(w->mech_gpu);
    if (uses & MECH_USES_RING)
        w->ring = smring_create(&w->machine->ring, w->sm_count, &time->clock.domains[DOMAIN_CORE]);
    w->dates_copies = uses & MECH_USES_AGES;
    if (uses & (MECH_USES_RING | MECH_USES_SHARERS | MECH_USES_AGES))
        w->sharers = sharers_create(w->sm_count);
    if (w->dates_copies)
        sharers_date_copies(w->sharers, w->machine->l1.line, w->machine->l1.write_global == L1_WRITE_UPDATE);
    units_join_meeting_points(w->units, w->ring, w->sharers);
}

static void create_mech_slices(struct wiring *w, const struct gpu_time *time)
{
    const struct l2_params *l2 = &w->machine->l2;
    w->mech_slices = mech_slices_create(
        &(struct mech_slices_setup){.set = w->mechs,
                                    .gpu = w->mech_gpu,
                                    .slices = w->slices,
                                    .map = w->map,
                                    .slice_count = w->slice_count,
                                    .sm_count = w->sm_count,
                                    .xbar = w->xbar,
                                    .behind_gate = xbar_packets_behind(w->xbar) + l2->access_queue,
                                    .lines = (uint32_t)(l2->slice_size / l2->line),
                                    .line_bytes = l2->line,
                                    .core_period = gpu_time_period(time, DOMAIN_CORE)});
}

bool wiring_create(struct wiring *w, const struct wiring_setup *s, struct diag_list *diags)
{
    *w = (struct wiring){.machine = s->machine, .sm_count = s->machine->sm_count};
    if (!check(w, s->options, diags)) return false;
    w->slice_count = addrmap_slices(w->map);
    w->channel_count = addrmap_channels(w->map);
    w->mech_gpu = mech_gpu_create(w->mechs, w->sm_count);
    if (!check_mechs(w, diags)) return false;
    w->cache_most = mech_gpu_cache_sms(w->mech_gpu);
    w->compute_count = w->sm_count - mech_gpu_chosen_sms(w->mech_gpu);
    req_pool_init(&w->pool, POOL_START);
    w->pool.map = w->map;
    w->units = units_create(&(struct units_setup){.time = s->time,
                                                  .pool = &w->pool,
                                                  .sm_count = w->sm_count,
                                                  .channel_count = w->channel_count,
                                                  .slice_count = w->slice_count,
                                                  .no_skip = s->options->no_skip,
                                                  .threads_always = s->options->threads_always});
    create_links(w, s->time);
    create_meeting_points(w, s->time);
    create_sms(w, s);
    create_memory(w, s->time->clock.domains);
    create_mech_slices(w, s->time);
    join_links(w);
    units_commit_all(w->units); /* each unit gets its share of the pool */
    return true;
}

void wiring_destroy(struct wiring *w)
{
    for (uint32_t i = 0; w->sms && i < w->sm_count; i++) sm_destroy(w->sms[i]);
    uop_tables_destroy(w->uops);
    for (uint32_t i = 0; w->slices && i < w->slice_count; i++) l2_destroy(w->slices[i]);
    for (uint32_t i = 0; w->channels && i < w->channel_count; i++) dram_destroy(w->channels[i]);
    if (w->xbar) xbar_destroy(w->xbar);
    smring_destroy(w->ring);
    sharers_destroy(w->sharers);
    free(w->sms);
    free(w->slices);
    free(w->channels);
    struct gpu_links *l = &w->links;
    free_links(l->sm_to_xbar, w->sm_count);
    free_links(l->xbar_to_sm, w->sm_count);
    free_links(l->xbar_to_slice, w->slice_count);
    free_links(l->slice_to_xbar, w->slice_count);
    free_links(l->slice_to_dram, w->slice_count);
    free_links(l->dram_to_slice, w->slice_count);
    mech_slices_destroy(w->mech_slices);
    mech_gpu_destroy(w->mech_gpu);
    if (w->mechs) mech_set_destroy(w->mechs);
    if (w->map) addrmap_destroy(w->map);
    units_destroy(w->units);
    if (w->pool.items) req_pool_free(&w->pool);
    arena_free(&w->arena);
}

void wiring_set_helper(struct wiring *w, uint32_t loads) { w->helper_loads = loads; }

void wiring_set_roles(struct wiring *w, tick now, uint32_t cache_sms)
{
    const uint32_t before = w->compute_count, after = w->sm_count - cache_sms;
    assert(cache_sms <= w->cache_most && !w->helper_loads);
    w->compute_count = after;
    xbar_set_gated(w->xbar, after);
    for (uint32_t i = MIN(before, after); i < w->sm_count; i++) sm_change_role(w->sms[i], now, role_l1(w, i));
    units_look_at_all(w->units);
}

void wiring_count_change(struct wiring *w, uint64_t cycles)
{
    w->role_counts.changes++;
    w->role_counts.cycles += cycles;
}

/* Components are numbered in one sequence: SMs, slices, channels. SMs of the helper count as idle when its
 * warps wait for work, which slices and pool tell. */
static bool component_is_idle(const struct wiring *w, uint32_t i)
{
    if (i < w->sm_count) return i >= w->compute_count || sm_idle(w->sms[i]);
    i -= w->sm_count;
    return i < w->slice_count ? l2_idle(w->slices[i]) : dram_idle(w->channels[i - w->slice_count]);
}

/* Loads of a helper's warps that wait for work. */
static uint32_t parked(const struct wiring *w)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; w->helper_loads && i < w->slice_count; i++) sum += l2_parked(w->slices[i]);
    return sum;
}

/* Called in every step of a drain. A component that was busy is likely to be still busy, so it is asked
 * first. */
bool wiring_is_idle(struct wiring *w)
{
    const uint32_t count = w->sm_count + w->slice_count + w->channel_count;
    if (w->ring && !smring_idle(w->ring)) return false;
    if (!xbar_idle(w->xbar) || !component_is_idle(w, w->busy)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (component_is_idle(w, i)) continue;
        w->busy = i;
        return false;
    }
    return units_requests_live(w->units) == w->helper_loads && parked(w) == w->helper_loads;
}

static void date_host_write(struct wiring *w, tick now, uint64_t address, uint64_t last)
{
    const uint64_t line = w->machine->l1.line;
    for (uint64_t a = address - address % line; a <= last; a += line)
        sharers_store(w->sharers, SHARERS_HOST, a, now);
}

static void tell_host_write(struct wiring *w, uint64_t address, uint64_t last)
{
    const uint64_t line = w->machine->l2.line;
    for (uint64_t a = address - address % line; a <= last; a += line)
        mech_slices_host_write(w->mech_slices, addrmap_place(w->map, a).slice, a);
}

void wiring_host_write(struct wiring *w, tick now, uint64_t address, uint64_t bytes)
{
    if (!bytes) return;
    if (w->dates_copies) date_host_write(w, now, address, address + bytes - 1);
    if (w->mech_slices) tell_host_write(w, address, address + bytes - 1);
}

void wiring_host_copy(struct wiring *w, uint64_t address, uint64_t bytes)
{
    const uint64_t line = w->machine->l2.line, last = address + bytes - 1;
    if (!bytes || !w->machine->gpu_copy_fills_l2) return;
    for (uint64_t a = address - address % line; a <= last; a += line)
        l2_fill_from_host(w->slices[addrmap_place(w->map, a).slice], a);
}

void wiring_abandon(struct wiring *w)
{
    for (uint32_t i = 0; i < w->sm_count; i++) sm_abandon(w->sms[i]);
}
