/* view.c: what the printers ask of a view. */
#include "stats/view.h"

#include <stdlib.h>
#include <string.h>

const char *const stats_names[STATS_NAME_COUNT] = {
#define STATS_NAME(id, name) name,
#include "stats/names.def"
#undef STATS_NAME
};

void view_resolve(struct stats_view *v)
{
    memset(v->known, 0, sizeof v->known);
    for (uint32_t g = 0; g < v->group_count; g++)
        for (const struct stat_row *r = v->groups[g].rows; r && r->name; r++)
            for (uint32_t i = 0; i < STATS_NAME_COUNT; i++)
                if (!v->known[i].row && !strcmp(stats_names[i], r->name)) {
                    v->known[i].row = r;
                    v->known[i].group = g;
                }
}

void view_add_rest(struct stats_view *v)
{
    uint64_t begin = v->sample_count ? v->samples[v->sample_count - 1]->end_cycle : 0;
    if (v->total.end_cycle <= begin) return;
    v->rest =
        (struct timed_sample){.start_cycle = begin, .end_cycle = v->total.end_cycle, .stats = view_zeros(v)};
    view_add(v, v->rest.stats, v->total.stats);
    for (uint32_t i = 0; i < v->sample_count; i++)
        for (uint32_t g = 0; g < v->group_count; g++)
            stat_sub(v->groups[g].rows, v->rest.stats[g], v->samples[i]->stats[g]);
    v->samples[v->sample_count++] = &v->rest;
}

bool view_has(const struct stats_view *v, enum stats_name id) { return v->known[id].row != NULL; }

uint64_t view_count(const struct stats_view *v, void *const *stats, enum stats_name id)
{
    return v->known[id].row ? view_count_in(v, stats[v->known[id].group], id) : 0;
}

uint64_t view_count_in(const struct stats_view *v, const void *group_stats, enum stats_name id)
{
    const struct stat_row *r = v->known[id].row;
    if (!r) return 0;
    if (r->type == STAT_HISTOGRAM) return (uint64_t)stat_value(r, group_stats);
    uint64_t n;
    memcpy(&n, (const char *)group_stats + r->offset, sizeof n);
    return n;
}

double view_ratio(const struct stats_view *v, void *const *stats, enum stats_name num, enum stats_name den)
{
    uint64_t d = view_count(v, stats, den);
    return d ? (double)view_count(v, stats, num) / (double)d : 0.0;
}

double view_last_share(const struct stats_view *v, void *const *stats, enum stats_name id)
{
    const struct stat_row *r = v->known[id].row;
    if (!r || r->type != STAT_HISTOGRAM) return 0.0;
    const char *at = (const char *)stats[v->known[id].group] + r->offset;
    uint64_t last;
    memcpy(&last, at + (r->length - 1) * sizeof last, sizeof last);
    double all = stat_value(r, stats[v->known[id].group]);
    return all > 0 ? (double)last / all : 0.0;
}

double view_per_cycle(const struct stats_view *v, const struct timed_kernel *k, enum stats_name id)
{
    uint64_t cycles = kernel_cycles(k);
    return cycles ? (double)view_count(v, k->stats, id) / (double)cycles : 0.0;
}

void **view_zeros(const struct stats_view *v)
{
    void **s = mem_alloc(sizeof(*s) * (v->group_count + 1));
    for (uint32_t g = 0; g < v->group_count; g++) s[g] = mem_zalloc(v->groups[g].bytes + 1);
    return s;
}

void view_add(const struct stats_view *v, void **dst, void *const *src)
{
    for (uint32_t g = 0; g < v->group_count; g++)
        if (v->groups[g].rows) stat_add(v->groups[g].rows, dst[g], src[g]);
}

void view_free_stats(const struct stats_view *v, void **stats)
{
    for (uint32_t g = 0; g < v->group_count; g++) free(stats[g]);
    free(stats);
}

double view_value(const struct stats_view *v, void *const *stats, const char *name)
{
    for (uint32_t g = 0; g < v->group_count; g++)
        for (const struct stat_row *r = v->groups[g].rows; r && r->name; r++)
            if (!strcmp(r->name, name)) return stat_value(r, stats[g]);
    return 0;
}

struct energy_scope {
    const struct stats_view *view;
    void *const *stats;
};

static double scope_value(void *context, const char *name)
{
    const struct energy_scope *s = context;
    return view_value(s->view, s->stats, name);
}

static struct energy_source source_of(const struct stats_view *v, struct energy_scope *scope)
{
    const struct stats_machine *m = &v->machine;
    return (struct energy_source){.value = scope_value,
                                  .context = scope,
                                  .core_khz = m->core_khz,
                                  .sms = m->sms,
                                  .request_flit = m->request_flit,
                                  .reply_flit = m->reply_flit,
                                  .burst_bytes = m->burst_bytes,
                                  .rows = v->energy_rows,
                                  .row_count = v->energy_row_count};
}

struct energy_sum view_energy(const struct stats_view *v, void *const *stats)
{
    struct energy_scope scope = {v, stats};
    const struct energy_source source = source_of(v, &scope);
    struct energy_sum sum;
    energy_of(v->energy, &source, &sum);
    return sum;
}

double view_row_joules(const struct stats_view *v, void *const *stats, const struct energy_row *row)
{
    struct energy_scope scope = {v, stats};
    const struct energy_source source = source_of(v, &scope);
    return energy_row_joules(v->energy, &source, row);
}
