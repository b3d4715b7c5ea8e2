/* tuple_map.c: see tuple_map.h. */
#include "lab/tuple_map.h"

#include <math.h>

const char *const map_kind_names[MAP_KINDS] = {"predict", "visit", "settle"};

void tuple_map_free(struct tuple_map *m)
{
    vec_free(&m->tuples);
    vec_free(&m->path);
    vec_free(&m->epochs);
}

/* The tuple, made where it is not there yet. */
static struct map_tuple *tuple_at(struct tuple_map *m, uint32_t n, uint32_t p)
{
    uint32_t at = 0;
    while (at < m->tuples.len &&
           (m->tuples.data[at].n < n || (m->tuples.data[at].n == n && m->tuples.data[at].p < p)))
        at++;
    if (at < m->tuples.len && m->tuples.data[at].n == n && m->tuples.data[at].p == p)
        return &m->tuples.data[at];
    vec_push(&m->tuples, (struct map_tuple){0});
    for (uint32_t i = m->tuples.len - 1; i > at; i--) m->tuples.data[i] = m->tuples.data[i - 1];
    m->tuples.data[at] = (struct map_tuple){.n = n, .p = p, .speedup = NAN};
    return &m->tuples.data[at];
}

/* ---- speed ---- */

/* A launch of fewer warps runs as at its own largest tuple. NULL: it was not measured. */
static const struct profile_point *point_at(const struct profile_kernel *k, const struct map_tuple *t)
{
    const uint32_t n = MIN(t->n, k->warps);
    return profile_find(k, n, MIN(t->p, n));
}

/* Was it measured at all tuples of the map? */
static bool is_whole(const struct tuple_map *m, const struct profile_kernel *k)
{
    for (uint32_t i = 0; i < m->tuples.len; i++)
        if (!point_at(k, &m->tuples.data[i])) return false;
    return true;
}

/* The tuples of the launches with the most warps. */
static void make_grid(struct tuple_map *m, const struct profile *p)
{
    for (uint32_t i = 0; i < p->kernels.len; i++) m->warps = MAX(m->warps, p->kernels.data[i].warps);
    for (uint32_t i = 0; i < p->kernels.len; i++) {
        const struct profile_kernel *k = &p->kernels.data[i];
        for (uint32_t j = 0; k->warps == m->warps && j < k->points.len; j++)
            tuple_at(m, k->points.data[j].n, k->points.data[j].p);
    }
}

static void sum_launches(struct tuple_map *m, const struct profile *p)
{
    uint64_t *here = mem_zalloc(MAX(m->tuples.len, 1u) * sizeof *here);
    for (uint32_t i = 0; i < p->kernels.len; i++) {
        const struct profile_kernel *k = &p->kernels.data[i];
        if (!is_whole(m, k)) {
            m->left_out++;
            continue;
        }
        m->launches++;
        m->cycles += k->cycles;
        for (uint32_t t = 0; t < m->tuples.len; t++) here[t] += point_at(k, &m->tuples.data[t])->cycles;
    }
    for (uint32_t t = 0; t < m->tuples.len; t++)
        if (here[t]) m->tuples.data[t].speedup = (double)m->cycles / (double)here[t];
    free(here);
}

void tuple_map_make(struct tuple_map *m, const struct profile *p)
{
    assert(p->kernels.len);
    *m = (struct tuple_map){.workload = p->kernels.data[0].workload,
                            .size = p->kernels.data[0].size,
                            .machine = p->machine,
                            .poise_speedup = NAN};
    make_grid(m, p);
    sum_launches(m, p);
}

const struct map_tuple *tuple_map_fastest(const struct tuple_map *m)
{
    const struct map_tuple *best = NULL;
    for (uint32_t i = 0; i < m->tuples.len; i++) {
        const struct map_tuple *t = &m->tuples.data[i];
        if (!isnan(t->speedup) && (!best || t->speedup > best->speedup)) best = t;
    }
    return best;
}

/* ---- Poise ---- */

static uint64_t whole(const struct json_node *map, const char *key)
{
    const struct json_node *n = json_get(map, key);
    return n && n->kind == JSON_NUMBER && n->is_integer && n->integer > 0 ? (uint64_t)n->integer : 0;
}

static const struct profile_kernel *launch_of(const struct profile *p, const struct json_node *kernel)
{
    for (uint32_t i = 0; i < p->kernels.len; i++)
        if (p->kernels.data[i].launch == whole(kernel, "id") &&
            !strcmp(p->kernels.data[i].name, json_get_text(kernel, "name", "")))
            return &p->kernels.data[i];
    return NULL;
}

/* The launch in which a cycle lies; NULL: it is not in the profile. */
static const struct profile_kernel *launch_at(const struct profile *p, const struct json_node *kernels,
                                              uint64_t cycle)
{
    for (uint32_t i = 0; i < kernels->count; i++) {
        const struct json_node *k = &kernels->items[i];
        if (cycle >= whole(k, "start_cycle") && cycle <= whole(k, "end_cycle")) return launch_of(p, k);
    }
    return NULL;
}

static void add_note(struct tuple_map *m, const struct profile_kernel *launch, const struct json_node *note,
                     enum map_kind kind)
{
    const struct map_step s = {.cycle = whole(note, "cycle"),
                               .launch = launch,
                               .sm = (uint32_t)whole(note, "sm"),
                               .n = (uint32_t)whole(note, "a"),
                               .p = (uint32_t)whole(note, "b"),
                               .kind = kind};
    struct map_tuple *t = tuple_at(m, s.n, s.p);
    t->predicted += kind == MAP_PREDICT;
    t->visited += kind == MAP_VISIT;
    t->settled += kind == MAP_SETTLE;
    vec_push(&m->path, s);
}

static void add_notes(struct tuple_map *m, const struct profile *p, const struct json_node *run,
                      const struct json_node *kernels)
{
    const struct json_node *notes = json_get(run, "events");
    m->dropped = whole(run, "events_dropped");
    for (uint32_t i = 0; notes && notes->kind == JSON_LIST && i < notes->count; i++) {
        const struct json_node *note = &notes->items[i];
        const char *kind = json_get_text(note, "kind", "");
        const struct profile_kernel *launch = launch_at(p, kernels, whole(note, "cycle"));
        if (strcmp(json_get_text(note, "mechanism", ""), "poise") || !launch) continue;
        for (int k = 0; k < MAP_KINDS; k++)
            if (!strcmp(kind, map_kind_names[k])) add_note(m, launch, note, (enum map_kind)k);
    }
}

void tuple_map_add_poise(struct tuple_map *m, const struct profile *p, const struct json_node *run)
{
    const struct json_node *kernels = json_get(run, "kernels");
    uint64_t all = 0, here = 0;
    if (!kernels || kernels->kind != JSON_LIST) return;
    for (uint32_t i = 0; i < kernels->count; i++) {
        const struct profile_kernel *k = launch_of(p, &kernels->items[i]);
        if (!k) continue;
        all += k->cycles;
        here += whole(&kernels->items[i], "cycles");
    }
    if (here) m->poise_speedup = (double)all / (double)here;
    add_notes(m, p, run, kernels);
    tuple_map_regret(m);
}
