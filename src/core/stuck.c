/* stuck.c: see stuck.h. */
#include "core/stuck.h"

#include <inttypes.h>

static void explain_link(const struct stuck_view *v, const struct link *l, uint32_t index, struct strbuf *out)
{
    if (!l->count) return;
    const struct req_pool *pool = &v->wiring->pool;
    const uint32_t id = l->head_value;
    const struct req *r = id < pool->cap ? &pool->items[id] : NULL;
    strbuf_printf(out, "  link %s %u: %u of %u", l->name, index, l->count, l->capacity);
    if (r)
        strbuf_printf(out, ", head request %u of SM %u warp %u, line 0x%" PRIx64 ", %" PRIu64 " cycles old",
                      id, r->sm, r->warp, r->addr,
                      (uint64_t)((v->time->now - r->born) / gpu_time_period(v->time, DOMAIN_CORE)));
    strbuf_putc(out, '\n');
}

static void explain_links(const struct stuck_view *v, struct strbuf *out)
{
    const struct wiring *w = v->wiring;
    const struct gpu_links *l = &w->links;
    for (uint32_t i = 0; i < w->sm_count; i++) {
        explain_link(v, &l->sm_to_xbar[i], i, out);
        explain_link(v, &l->xbar_to_sm[i], i, out);
    }
    for (uint32_t i = 0; i < w->slice_count; i++) {
        explain_link(v, &l->xbar_to_slice[i], i, out);
        explain_link(v, &l->slice_to_dram[i], i, out);
        explain_link(v, &l->dram_to_slice[i], i, out);
        explain_link(v, &l->slice_to_xbar[i], i, out);
    }
}

static void explain_components(const struct wiring *w, tick now, struct strbuf *out)
{
    for (uint32_t i = 0; i < w->sm_count; i++)
        if (!sm_idle(w->sms[i])) sm_explain(w->sms[i], now, out);
    if (!xbar_idle(w->xbar)) xbar_explain(w->xbar, now, out);
    if (w->ring) smring_explain(w->ring, now, out);
    for (uint32_t i = 0; i < w->slice_count; i++)
        if (!l2_idle(w->slices[i])) l2_explain(w->slices[i], now, out);
    for (uint32_t i = 0; i < w->channel_count; i++)
        if (!dram_idle(w->channels[i])) dram_explain(w->channels[i], now, out);
}

void stuck_end(const struct stuck_view *v, const char *why, struct run_end *end)
{
    struct strbuf out = {0};
    const struct units *units = v->wiring->units;
    strbuf_printf(&out, "heddle: the machine is stuck at cycle %" PRIu64 ": %s\n", gpu_time_cycle(v->time),
                  why);
    dispatch_explain(v->dispatch, &out);
    streams_explain(v->streams, &out);
    explain_components(v->wiring, v->time->now, &out);
    explain_links(v, &out);
    strbuf_printf(&out, "  requests: %" PRIu64 " made, %u under way\n", units_requests_made(units),
                  units_requests_live(units));
    run_end_set(end, END_STUCK, EMU_DEADLOCK, strbuf_text(&out));
    strbuf_free(&out);
}

/* ---- silence ---- */

/* DRAM bursts of one line of the L2: latencies in command clocks may pass once for each. */
static uint64_t bursts_of_line(const struct machine *m)
{
    return MAX(m->l2.line / MAX(m->dram.bus_bytes * m->dram.burst, 1u), 1u);
}

/* Ticks for which a parameter of this unit stands when its value is 1; 0: it is not a time. */
static tick unit_ticks(const struct machine *m, const struct gpu_time *t, const char *unit)
{
    if (strcmp(unit, "cycles") == 0 || strcmp(unit, "core cycles") == 0)
        return gpu_time_period(t, DOMAIN_CORE);
    if (strcmp(unit, "crossbar cycles") == 0) return gpu_time_period(t, DOMAIN_XBAR);
    if (strcmp(unit, "L2 cycles") == 0) return gpu_time_period(t, DOMAIN_L2);
    return strcmp(unit, "command clocks") == 0 ? bursts_of_line(m) * gpu_time_period(t, DOMAIN_DRAM) : 0;
}

/* The sum of all latencies in the machine's tables: no request and no instruction takes longer by itself. */
static tick all_latencies(const struct machine *m, const struct gpu_time *t)
{
    tick sum = 0;
    for (const struct param_group *g = machine_groups; g->rows; g++)
        for (const struct param_row *r = g->rows; r->name; r++) {
            if (r->type != PARAM_NUMBER) continue;
            const uint32_t *value = (const void *)((const char *)m + g->offset + r->offset);
            sum += *value * unit_ticks(m, t, r->unit);
        }
    return sum;
}

void watchdog_init(struct watchdog *d, const struct machine *m, const struct gpu_time *time)
{
    const tick core = gpu_time_period(time, DOMAIN_CORE);
    tick slowest = core, limit;
    for (int i = 0; i < DOMAIN_COUNT; i++) slowest = MAX(slowest, gpu_time_period(time, (enum gpu_domain)i));
    *d = (struct watchdog){.silence_max = UINT64_MAX};
    if (!__builtin_mul_overflow(m->gpu_stuck_cycles, slowest, &limit) &&
        !__builtin_add_overflow(limit, all_latencies(m, time), &limit))
        d->silence_max = limit / core;
}

bool stuck_is_silent(struct watchdog *d, const struct stuck_view *v)
{
    const struct wiring *w = v->wiring;
    const uint64_t cycle = gpu_time_cycle(v->time);
    bool sleeps = false;
    d->insts = 0;
    for (uint32_t i = 0; i < w->sm_count; i++) {
        d->insts += ((const struct sm_stats *)sm_stats(w->sms[i]))->warp_insts;
        sleeps |= sm_sleeps(w->sms[i]);
    }
    const uint64_t made = units_requests_made(w->units), answered = made - units_requests_live(w->units);
    const uint64_t mark = made + answered + v->dispatch->counts.ctas + d->insts;
    const bool is_idle = !v->dispatch->queue.len || streams_copy_end(v->streams) != TICK_NEVER;
    if (mark != d->mark || sleeps || is_idle) {
        d->mark = mark;
        d->cycle = cycle;
    }
    return cycle - d->cycle > d->silence_max;
}
