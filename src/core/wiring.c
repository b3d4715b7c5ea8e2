/* wiring.c: the components of a machine and the links between them.
 *
 *   SM -> crossbar -> L2 slice -> DRAM channel, and back. Each link has the depth that the machine gives it and a latency of one
 *   cycle of the end that pushes. A slice belongs to one channel: slices are numbered channel by channel (mem/addrmap.h). */
#include "base/hugepage.h"
#include "core/split.h"
#include "core/timed_impl.h"

enum { POOL_START = 4096 };

static tick period(const struct timed_gpu *g, enum gpu_domain d) { return g->clock.domains[d].period; }

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
static struct link **pointers(struct timed_gpu *g, struct link *l, uint32_t count)
{
    struct link **p = ARENA_ARRAY(&g->arena, struct link *, count);
    for (uint32_t i = 0; i < count; i++) p[i] = &l[i];
    return p;
}

static void create_links(struct timed_gpu *g)
{
    const struct machine *m = &g->machine;
    struct gpu_links *l = &g->links;
    l->sm_to_xbar = make_links(g->sm_count, "SM to crossbar", m->gpu_sm_out_queue, period(g, DOMAIN_CORE));
    l->xbar_to_sm = make_links(g->sm_count, "crossbar to SM", m->gpu_sm_in_queue, period(g, DOMAIN_XBAR));
    l->xbar_to_slice =
        make_links(g->slice_count, "L2 access queue", m->l2.access_queue, period(g, DOMAIN_XBAR));
    l->slice_to_xbar =
        make_links(g->slice_count, "L2 response queue", m->l2.response_queue, period(g, DOMAIN_L2));
    l->slice_to_dram = make_links(g->slice_count, "L2 miss queue", m->l2.miss_queue, period(g, DOMAIN_L2));
    l->dram_to_slice = make_links(g->slice_count, "DRAM to L2", m->l2.fill_queue, period(g, DOMAIN_DRAM));
}

/* Atomics take effect at the slice, in the order in which they come there, at the end of the step (units.c). */
static void note_atomic(void *ctx, const struct req *r)
{
    struct unit *u = ctx;
    if (u->atomic_count == u->atomic_cap) {
        u->atomic_cap = MAX(2 * u->atomic_cap, 16u);
        u->atomics = mem_realloc(u->atomics, sizeof *u->atomics * u->atomic_cap);
    }
    u->atomics[u->atomic_count++] = *r;
    u->news = 1;
}

static void create_sms(struct timed_gpu *g)
{
    g->sms = mem_zalloc(sizeof *g->sms * g->sm_count);
    for (uint32_t i = 0; i < g->sm_count; i++) {
        struct sm_setup s = {.machine = &g->machine,
                             .params = &g->machine.sm,
                             .l1 = &g->machine.l1,
                             .index = i,
                             .sm_count = g->sm_count,
                             .clock = &g->clock.domains[DOMAIN_CORE],

                             .pool = &units_sm(g->units, i)->pool,
                             .wake = &units_sm(g->units, i)->wake,
                             .news = &units_sm(g->units, i)->news,
                             .to_xbar = &g->links.sm_to_xbar[i],
                             .from_xbar = &g->links.xbar_to_sm[i],
                             .mechs = g->mechs,
                             .mech_gpu_states = g->mech_gpu_states,
                             .on_cta_done = dispatch_cta_done,
                             .place_of = dispatch_place_of,
                             .ctx = g};
        g->sms[i] = sm_create(&s);
    }
}

static void create_memory(struct timed_gpu *g)
{
    const struct machine *m = &g->machine;
    struct gpu_links *l = &g->links;
    struct clock_domain *clocks = g->clock.domains;
    struct link **from_sm = pointers(g, l->sm_to_xbar, g->sm_count),
                **to_sm = pointers(g, l->xbar_to_sm, g->sm_count);
    struct link **to_slice = pointers(g, l->xbar_to_slice, g->slice_count);
    struct link **from_slice = pointers(g, l->slice_to_xbar, g->slice_count);
    struct link **to_dram = pointers(g, l->slice_to_dram, g->slice_count);
    struct link **from_dram = pointers(g, l->dram_to_slice, g->slice_count);
    g->xbar = xbar_create(&m->xbar, g->sm_count, g->slice_count, &clocks[DOMAIN_XBAR], &g->pool, from_sm,
                          to_slice, from_slice, to_sm);
    g->slices = mem_zalloc(sizeof *g->slices * g->slice_count);
    uint32_t per_channel = g->slice_count / g->channel_count;
    for (uint32_t i = 0; i < g->slice_count; i++) {
        struct unit *unit = units_channel(g->units, i / per_channel);
        g->slices[i] = l2_create(&m->l2, i, &clocks[DOMAIN_L2], &clocks[DOMAIN_CORE], &unit->pool,
                                 to_slice[i], from_slice[i], to_dram[i], from_dram[i]);
        l2_use_map(g->slices[i], addrmap_slice_addr,
                   g->map); /* sets by the address without the slice's bits */
        l2_on_atomic(g->slices[i], note_atomic, unit);
    }
    g->channels = mem_zalloc(sizeof *g->channels * g->channel_count);
    for (uint32_t i = 0; i < g->channel_count; i++) {
        g->channels[i] = dram_create(&m->dram, i, g->map, &clocks[DOMAIN_DRAM], &clocks[DOMAIN_CORE],
                                     &units_channel(g->units, i)->pool, to_dram + i * per_channel,
                                     from_dram + i * per_channel, per_channel);
    }
}

static void join_links(struct timed_gpu *g)
{
    struct gpu_links *l = &g->links;
    for (uint32_t i = 0; i < g->sm_count; i++)
        units_join_sm(g->units, i, &l->sm_to_xbar[i], &l->xbar_to_sm[i]);
    for (uint32_t i = 0; i < g->slice_count; i++) {
        units_join_slice(g->units, i, &l->xbar_to_slice[i], &l->slice_to_xbar[i]);
        units_join_channel(g->units, i, &l->slice_to_dram[i], &l->dram_to_slice[i]);
    }
    xbar_take_notes(g->xbar);
}

bool wiring_create(struct timed_gpu *g, struct diag_list *diags)
{
    const struct timed_options *o = &g->options;
    g->sm_count = g->machine.sm_count;
    g->map = addrmap_create(&g->machine.addrmap, diags);
    g->mechs = mech_set_create_for(g->machine.scheduler, o->mechs, o->mech_count, o->mech_settings,
                                   o->mech_setting_count, diags);
    bool ok = l1_params_check(&g->machine.l1, diags);
    ok = sm_params_check(&g->machine.sm, diags) && ok;
    ok = split_check(&g->machine, diags) && ok;
    ok = l2_check(&g->machine.l2, diags) && ok;
    if (!g->map || !g->mechs || !dram_check(&g->machine.dram, g->map, diags) || !ok) return false;
    g->slice_count = addrmap_slices(g->map);
    g->channel_count = addrmap_channels(g->map);
    g->mech_gpu_states = mech_gpu_create(g->mechs);
    req_pool_init(&g->pool, POOL_START);
    g->pool.map = g->map;
    g->units = units_create(g);
    create_links(g);
    create_sms(g);
    create_memory(g);
    join_links(g);
    units_commit_all(g); /* each has its part of the pool */
    return true;
}

void wiring_destroy(struct timed_gpu *g)
{
    for (uint32_t i = 0; g->sms && i < g->sm_count; i++) sm_destroy(g->sms[i]);
    for (uint32_t i = 0; g->slices && i < g->slice_count; i++) l2_destroy(g->slices[i]);
    for (uint32_t i = 0; g->channels && i < g->channel_count; i++) dram_destroy(g->channels[i]);
    if (g->xbar) xbar_destroy(g->xbar);
    free(g->sms);
    free(g->slices);
    free(g->channels);
    struct gpu_links *l = &g->links;
    free_links(l->sm_to_xbar, g->sm_count);
    free_links(l->xbar_to_sm, g->sm_count);
    free_links(l->xbar_to_slice, g->slice_count);
    free_links(l->slice_to_xbar, g->slice_count);
    free_links(l->slice_to_dram, g->slice_count);
    free_links(l->dram_to_slice, g->slice_count);
    if (g->mechs) mech_gpu_destroy(g->mechs, g->mech_gpu_states);
    if (g->mechs) mech_set_destroy(g->mechs);
    if (g->map) addrmap_destroy(g->map);
    units_destroy(g->units);
    if (g->pool.items) req_pool_free(&g->pool);
    arena_free(&g->arena);
}

/* Units in one row: SMs, then slices, then channels. */
static bool unit_idle(const struct timed_gpu *g, uint32_t i)
{
    if (i < g->sm_count) return sm_idle(g->sms[i]);
    i -= g->sm_count;
    return i < g->slice_count ? l2_idle(g->slices[i]) : dram_idle(g->channels[i - g->slice_count]);
}

/* Asked in every step of a drain: one that was busy is so for a while, and is asked first. */
bool wiring_idle(struct timed_gpu *g)
{
    const uint32_t count = g->sm_count + g->slice_count + g->channel_count;
    if (!xbar_idle(g->xbar) || !unit_idle(g, g->busy_unit)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (unit_idle(g, i)) continue;
        g->busy_unit = i;
        return false;
    }
    return !units_requests_live(g);
}
