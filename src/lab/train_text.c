/* train_text.c: a trained model as a file, and beside the published one on a terminal. */
#include "lab/train.h"

#include <math.h>

/* Table 5.3. o: with all warps; ': at (1, 1); h: hit rate, m: miss rate, eta: intra-warp hit rate, L: latency
 * of a miss, I_n: instructions for each load. */
static const char *const feature_names[POISE_FEATURES] = {
    "h_o", "h'", "eta_o", "eta'", "(eta' - eta_o)^2", "I_n (eta' - eta_o)^2", "(L'm' - m_o L_o)^2 / 10^5",
    "1"};

static double weight(int64_t millionths) { return (double)millionths / POISE_WEIGHT_ONE; }

/* ---- where it comes from ---- */

static bool is_first_of_workload(const struct train_set *t, uint32_t row)
{
    for (uint32_t i = 0; i < row; i++)
        if (!strcmp(t->rows.data[i].kernel->workload, t->rows.data[row].kernel->workload) &&
            !strcmp(t->rows.data[i].kernel->size, t->rows.data[row].kernel->size))
            return false;
    return t->rows.data[row].use != TRAIN_EXCLUDED;
}

/* A line for each workload: the kernels, and how many of their launches are used. */
static void put_workload(const struct train_set *t, uint32_t first, const char *begin, struct strbuf *out)
{
    const struct profile_kernel *of = t->rows.data[first].kernel;
    uint32_t all = 0, kept = 0;
    for (uint32_t i = first; i < t->rows.len; i++) {
        const struct train_row *row = &t->rows.data[i];
        if (strcmp(row->kernel->workload, of->workload) || strcmp(row->kernel->size, of->size)) continue;
        all++;
        kept += row->use == TRAIN_KEPT;
    }
    strbuf_printf(out, "%s%s, %s: %u of %u launches\n", begin, of->workload, of->size, kept, all);
}

static void put_workloads(const struct train_set *t, const char *begin, struct strbuf *out)
{
    for (uint32_t i = 0; i < t->rows.len; i++)
        if (is_first_of_workload(t, i)) put_workload(t, i, begin, out);
}

static void put_kernels(const struct train_set *t, struct strbuf *out)
{
    for (uint32_t i = 0; i < t->rows.len; i++) {
        const struct train_row *row = &t->rows.data[i];
        const struct profile_kernel *k = row->kernel;
        if (row->use != TRAIN_KEPT) continue;
        strbuf_printf(out, "about kernel %s %llu %.80s: (%u, %u) of %u warps, speed-up %.3f\n", k->workload,
                      (unsigned long long)k->launch, k->name, row->target->n, row->target->p, k->warps,
                      profile_speedup(k, row->target));
    }
}

static void put_left_out(const struct train_report *r, const char *begin, struct strbuf *out)
{
    char text[64];
    for (int use = TRAIN_EXCLUDED; use < TRAIN_USES; use++) {
        if (!r->set->counts[use]) continue;
        train_use_text((enum train_use)use, r->options, text);
        strbuf_printf(out, "%sleft out: %u (%s)\n", begin, r->set->counts[use], text);
    }
}

static void put_errors(const char *begin, const char *of, const struct train_errors *e, struct strbuf *out)
{
    strbuf_printf(out, "%serror of %s: N %.1f%% (%.2f warps), p %.1f%% (%.2f warps); %u launches\n", begin,
                  of, e->n_percent, e->n_warps, e->p_percent, e->p_warps, e->count);
}

static void put_all_errors(const struct train_report *r, const char *begin, struct strbuf *out)
{
    put_errors(begin, "training", &r->training, out);
    if (!r->has_left_out) return;
    put_errors(begin, "kernels left out one by one", &r->left_out, out);
    if (r->left_out_failed)
        strbuf_printf(out, "%swithout %u kernel%s there is no model: not counted\n", begin,
                      r->left_out_failed, r->left_out_failed == 1 ? "" : "s");
}

/* ---- the file ---- */

static void put_weights(const char *name, const int64_t weights[POISE_FEATURES], struct strbuf *out)
{
    strbuf_puts(out, name);
    for (int i = 0; i < POISE_FEATURES; i++) strbuf_printf(out, " %.6f", weight(weights[i]));
    strbuf_putc(out, '\n');
}

void train_write(const struct train_report *r, struct strbuf *out)
{
    const struct profile *p = r->set->profile;
    strbuf_printf(out, "poise-model 1\nmachine %s\nwarps %u\n", p->machine, r->result->model.warps);
    for (int i = 0; i < POISE_FEATURES; i++)
        strbuf_printf(out, "about feature %d: %s\n", i + 1, feature_names[i]);
    put_weights("alpha", r->result->model.alpha, out);
    put_weights("beta", r->result->model.beta, out);
    strbuf_printf(out, "about simulator %s\n", p->simulator);
    put_workloads(r->set, "about trained on ", out);
    put_left_out(r, "about ", out);
    strbuf_printf(out, "about dispersion %.6g for N, %.6g for p\n", r->result->n.dispersion,
                  r->result->p.dispersion);
    put_all_errors(r, "about ", out);
    put_kernels(r->set, out);
}

/* ---- the terminal ---- */

void train_print(const struct train_report *r, struct strbuf *out)
{
    const struct poise_model *m = &r->result->model;
    put_workloads(r->set, "trained on ", out);
    put_left_out(r, "", out);
    strbuf_printf(out, "\n%-27s %12s %12s %12s %12s\n", "feature", "alpha (N)", "published", "beta (p)",
                  "published");
    for (int i = 0; i < POISE_FEATURES; i++)
        strbuf_printf(out, "%-27s %12.6f %12.6f %12.6f %12.6f\n", feature_names[i], weight(m->alpha[i]),
                      weight(poise_published.alpha[i]), weight(m->beta[i]), weight(poise_published.beta[i]));
    strbuf_printf(out, "\ndispersion %.6g for N, %.6g for p; %u and %u iterations\n", r->result->n.dispersion,
                  r->result->p.dispersion, r->result->n.iterations, r->result->p.iterations);
    put_all_errors(r, "", out);
}
