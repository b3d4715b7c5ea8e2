/* tuple_map_draw.c: a map of warp tuples as a table for a terminal, and as JSON. */
#include "lab/tuple_map.h"
#include "stats/json.h"

#include <inttypes.h>
#include <math.h>

/* ---- the table ---- */

/* The values of N and of p that were measured. */
struct grid_axis {
    uint32_t values[PROFILE_WARPS_MAX], count;
};

static struct grid_axis axis_of(const struct tuple_map *m, bool is_p)
{
    struct grid_axis a = {0};
    for (uint32_t v = 1; v <= PROFILE_WARPS_MAX; v++)
        for (uint32_t i = 0; i < m->tuples.len; i++) {
            const struct map_tuple *t = &m->tuples.data[i];
            if (isnan(t->speedup) || (is_p ? t->p : t->n) != v) continue;
            a.values[a.count++] = v;
            break;
        }
    return a;
}

/* A tuple of Poise between two values of the grid is marked at the nearer one. */
static uint32_t nearest(const struct grid_axis *a, uint32_t value)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < a->count; i++)
        if (abs((int)a->values[i] - (int)value) < abs((int)a->values[best] - (int)value)) best = i;
    return a->values[best];
}

struct cell_marks {
    const struct map_tuple *tuple;
    bool is_predicted, is_settled;
};

static struct cell_marks marks_at(const struct tuple_map *m, const struct grid_axis *n_axis,
                                  const struct grid_axis *p_axis, uint32_t n, uint32_t p)
{
    struct cell_marks c = {0};
    for (uint32_t i = 0; i < m->tuples.len; i++) {
        const struct map_tuple *t = &m->tuples.data[i];
        if (t->n == n && t->p == p && !isnan(t->speedup)) c.tuple = t;
        if (nearest(n_axis, t->n) != n || nearest(p_axis, t->p) != p) continue;
        c.is_predicted |= t->predicted != 0;
        c.is_settled |= t->settled != 0;
    }
    return c;
}

/* "112*+#": the percent, fastest, predicted, settled. */
static void put_cell(const struct tuple_map *m, const struct cell_marks *c, struct strbuf *out)
{
    if (!c->tuple)
        strbuf_puts(out, "     .");
    else
        strbuf_printf(out, " %5.0f", 100 * c->tuple->speedup);
    strbuf_putc(out, c->tuple && c->tuple == tuple_map_fastest(m) ? '*' : ' ');
    strbuf_putc(out, c->is_predicted ? c->is_settled ? '@' : '+' : c->is_settled ? '#' : ' ');
}

static void put_table(const struct tuple_map *m, struct strbuf *out)
{
    const struct grid_axis n_axis = axis_of(m, false), p_axis = axis_of(m, true);
    strbuf_puts(out, "   p |\n");
    for (uint32_t i = p_axis.count; i-- > 0;) {
        const uint32_t p = p_axis.values[i];
        strbuf_printf(out, "%4u |", p);
        for (uint32_t k = 0; k < n_axis.count; k++) {
            const struct cell_marks c = marks_at(m, &n_axis, &p_axis, n_axis.values[k], p);
            if (p > n_axis.values[k])
                strbuf_puts(out, "        ");
            else
                put_cell(m, &c, out);
        }
        strbuf_putc(out, '\n');
    }
    strbuf_puts(out, "   N  ");
    for (uint32_t k = 0; k < n_axis.count; k++) strbuf_printf(out, " %5u  ", n_axis.values[k]);
    strbuf_putc(out, '\n');
}

/* ---- what Poise did ---- */

static uint64_t count_at(const struct map_tuple *t, enum map_kind kind)
{
    return kind == MAP_PREDICT ? t->predicted : kind == MAP_VISIT ? t->visited : t->settled;
}

/* The tuples of a kind, the most frequent ones first. */
static void put_frequent(const struct tuple_map *m, enum map_kind kind, const char *what, struct strbuf *out)
{
    enum { SHOWN = 5 };
    uint64_t sum = 0, before = UINT64_MAX;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < m->tuples.len; i++) sum += count_at(&m->tuples.data[i], kind);
    if (!sum) return;
    strbuf_printf(out, "%-10s", what);
    while (shown < SHOWN) {
        uint64_t next = 0;
        for (uint32_t i = 0; i < m->tuples.len; i++) {
            const uint64_t count = count_at(&m->tuples.data[i], kind);
            if (count < before && count > next) next = count;
        }
        if (!next) break;
        for (uint32_t i = 0; i < m->tuples.len && shown < SHOWN; i++)
            if (count_at(&m->tuples.data[i], kind) == next) {
                strbuf_printf(out, "%s(%u, %u) %.0f%%", shown++ ? ", " : "", m->tuples.data[i].n,
                              m->tuples.data[i].p, 100 * (double)next / (double)sum);
            }
        before = next;
    }
    strbuf_printf(out, "; %" PRIu64 " in all\n", sum);
}

/* The first epoch of the first SM that has one, as a path. */
static void put_first_path(const struct tuple_map *m, struct strbuf *out)
{
    const uint32_t sm = m->path.data[0].sm;
    const char *const words[MAP_KINDS] = {"predicted", "then", "settled at"};
    strbuf_printf(out, "SM %u, first epoch:", sm);
    for (uint32_t i = 0, predictions = 0; i < m->path.len; i++) {
        const struct map_step *s = &m->path.data[i];
        if (s->sm != sm) continue;
        predictions += s->kind == MAP_PREDICT;
        if (predictions > 1) break;
        strbuf_printf(out, " %s (%u, %u)", words[s->kind], s->n, s->p);
        if (s->kind == MAP_SETTLE) break;
    }
    strbuf_putc(out, '\n');
}

static void put_percent(uint32_t count, double regret, struct strbuf *out)
{
    if (count)
        strbuf_printf(out, " %9.1f%%", 100 * regret);
    else
        strbuf_printf(out, " %10s", "-");
}

/* The first epochs; JSON has all. */
static void put_regret(const struct tuple_map *m, struct strbuf *out)
{
    enum { SHOWN = 12 };
    if (!m->epochs.len) return;
    strbuf_puts(out, "\nregret against the best static tuple of the launch, mean of the SMs\n");
    strbuf_printf(out, "%6s %6s %10s %10s  %s\n", "launch", "epoch", "predicted", "settled", "kernel");
    for (uint32_t i = 0; i < MIN(m->epochs.len, (uint32_t)SHOWN); i++) {
        const struct map_epoch *e = &m->epochs.data[i];
        strbuf_printf(out, "%6" PRIu64 " %6u", e->launch->launch, e->epoch);
        put_percent(e->predictions, e->predicted, out);
        put_percent(e->settlements, e->settled, out);
        strbuf_printf(out, "  %.40s\n", e->launch->name);
    }
    if (m->epochs.len > SHOWN) strbuf_printf(out, "and %u more epochs (--json)\n", m->epochs.len - SHOWN);
}

static void put_poise(const struct tuple_map *m, struct strbuf *out)
{
    if (isnan(m->poise_speedup)) return;
    strbuf_printf(out, "Poise      %.3f\n", m->poise_speedup);
    if (!m->path.len) {
        strbuf_puts(out, "           no prediction: the launches are too short, or bound by computation\n");
        return;
    }
    put_frequent(m, MAP_PREDICT, "predicted", out);
    put_frequent(m, MAP_SETTLE, "settled", out);
    put_first_path(m, out);
    if (m->dropped) strbuf_printf(out, "%" PRIu64 " more notes were not kept\n", m->dropped);
    put_regret(m, out);
}

void tuple_map_print(const struct tuple_map *m, struct strbuf *out)
{
    const struct map_tuple *fastest = tuple_map_fastest(m);
    strbuf_printf(
        out, "%s, %s, on %s: speed in %% of that with all %u warps; %u launch%s, %" PRIu64 " cycles\n",
        m->workload, m->size, m->machine, m->warps, m->launches, m->launches == 1 ? "" : "es", m->cycles);
    if (m->left_out)
        strbuf_printf(out, "%u launch%s left out: not in all runs\n", m->left_out,
                      m->left_out == 1 ? " is" : "es are");
    if (!fastest) return;
    strbuf_putc(out, '\n');
    put_table(m, out);
    strbuf_puts(out, "* fastest  + Poise predicted  # settled  @ both\n\n");
    strbuf_printf(out, "fastest    %.3f at (%u, %u)\n", fastest->speedup, fastest->n, fastest->p);
    put_poise(m, out);
}

/* ---- JSON ---- */

static void put_field(const char *key, const char *text, struct strbuf *out)
{
    strbuf_printf(out, "\"%s\": ", key);
    json_string(out, text);
    strbuf_puts(out, ", ");
}

/* NAN for epochs that no SM reached. */
static void put_epochs(const struct tuple_map *m, struct strbuf *out)
{
    strbuf_puts(out, "],\n \"epochs\": [");
    for (uint32_t i = 0; i < m->epochs.len; i++) {
        const struct map_epoch *e = &m->epochs.data[i];
        strbuf_printf(out, "%s\n  {\"launch\": %" PRIu64 ", \"kernel\": ", i ? "," : "", e->launch->launch);
        json_string(out, e->launch->name);
        strbuf_printf(out, ", \"epoch\": %u, \"predicted_regret\": ", e->epoch);
        json_number(out, e->predictions ? e->predicted : NAN);
        strbuf_puts(out, ", \"settled_regret\": ");
        json_number(out, e->settlements ? e->settled : NAN);
        strbuf_putc(out, '}');
    }
}

void tuple_map_json(const struct tuple_map *m, struct strbuf *out)
{
    strbuf_putc(out, '{');
    put_field("workload", m->workload, out);
    put_field("size", m->size, out);
    put_field("machine", m->machine, out);
    strbuf_printf(out,
                  "\"warps\": %u, \"launches\": %u, \"left_out\": %u, \"cycles\": %" PRIu64
                  ", \"poise_speedup\": ",
                  m->warps, m->launches, m->left_out, m->cycles);
    json_number(out, m->poise_speedup);
    strbuf_puts(out, ",\n \"tuples\": [");
    for (uint32_t i = 0; i < m->tuples.len; i++) {
        const struct map_tuple *t = &m->tuples.data[i];
        strbuf_printf(out, "%s\n  {\"n\": %u, \"p\": %u, \"speedup\": ", i ? "," : "", t->n, t->p);
        json_number(out, t->speedup);
        strbuf_printf(out,
                      ", \"predicted\": %" PRIu64 ", \"visited\": %" PRIu64 ", \"settled\": %" PRIu64 "}",
                      t->predicted, t->visited, t->settled);
    }
    strbuf_puts(out, "],\n \"path\": [");
    for (uint32_t i = 0; i < m->path.len; i++) {
        const struct map_step *s = &m->path.data[i];
        strbuf_printf(out,
                      "%s\n  {\"cycle\": %" PRIu64 ", \"sm\": %u, \"kind\": \"%s\", \"n\": %u, \"p\": %u}",
                      i ? "," : "", s->cycle, s->sm, map_kind_names[s->kind], s->n, s->p);
    }
    put_epochs(m, out);
    strbuf_printf(out, "], \"path_dropped\": %" PRIu64 "}\n", m->dropped);
}
