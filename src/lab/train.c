/* train.c: see train.h. */
#include "lab/train.h"

#include "base/bitset.h"
#include "lab/profile_score.h"

#include <inttypes.h>
#include <math.h>

const struct train_options train_defaults = {.gain_min = 0.015, .cycles_min = 10000, .dispersion = 1};

/* poise_model_read() takes no larger weights. */
#define WEIGHT_MAX 1000.0

uint32_t train_feature(const char *name)
{
    const bool is_one = name[0] == 'x' && name[1] >= '1' && name[1] < '1' + POISE_FEATURES && !name[2];
    return is_one ? (uint32_t)(name[1] - '1') : POISE_FEATURES;
}

/* ---- the training set ---- */

static bool is_excluded(const struct train_options *o, const char *workload)
{
    for (uint32_t i = 0; i < o->excluded_count; i++)
        if (!strcmp(o->excluded[i], workload)) return true;
    return false;
}

static enum train_use use_of(const struct train_row *row, const struct train_options *o)
{
    const struct profile_kernel *k = row->kernel;
    if (is_excluded(o, k->workload)) return TRAIN_EXCLUDED;
    if (k->cycles < o->cycles_min) return TRAIN_SHORT;
    if (k->one.misses >= k->one.accesses) return TRAIN_NO_HITS;
    if (profile_speedup(k, row->target) < 1 + o->gain_min) return TRAIN_NO_GAIN;
    return TRAIN_KEPT;
}

void train_use_text(enum train_use use, const struct train_options *o, char out[64])
{
    switch (use) {
    case TRAIN_KEPT: snprintf(out, 64, "kept"); return;
    case TRAIN_EXCLUDED: snprintf(out, 64, "excluded"); return;
    case TRAIN_SHORT: snprintf(out, 64, "fewer than %" PRIu64 " cycles", o->cycles_min); return;
    case TRAIN_NO_GAIN: snprintf(out, 64, "gain less than %.3g%%", 100 * o->gain_min); return;
    case TRAIN_NO_HITS: snprintf(out, 64, "no L1 hit at (1, 1)"); return;
    case TRAIN_USES: break;
    }
    UNREACHABLE("no such use");
}

void train_select(struct train_set *t, const struct profile *p, const struct train_options *o)
{
    *t = (struct train_set){.profile = p};
    for (uint32_t i = 0; i < p->kernels.len; i++) {
        struct train_row row = {.kernel = &p->kernels.data[i]};
        row.target = profile_target(row.kernel);
        row.use = use_of(&row, o);
        poise_features(&row.kernel->all, &row.kernel->one, row.features);
        t->counts[row.use]++;
        vec_push(&t->rows, row);
    }
}

void train_free(struct train_set *t) { vec_free(&t->rows); }

/* ---- the regression ---- */

static bool is_same_kernel(const struct profile_kernel *a, const struct profile_kernel *b)
{
    return !strcmp(a->workload, b->workload) && !strcmp(a->name, b->name);
}

/* The rows that a model is fitted to: the kept ones except those of one kernel (NULL: all kept ones). */
struct train_sample {
    double *x, *n, *p;
    uint32_t count, columns;
};

static struct train_sample sample_of(const struct train_set *t, const struct train_options *o,
                                     const struct profile_kernel *without)
{
    const uint32_t room = MAX(t->rows.len, 1u);
    struct train_sample s = {.x = mem_alloc(room * POISE_FEATURES * sizeof *s.x),
                             .n = mem_alloc(room * sizeof *s.n),
                             .p = mem_alloc(room * sizeof *s.p),
                             .columns = POISE_FEATURES - bits_count(o->without)};
    for (uint32_t i = 0; i < t->rows.len; i++) {
        const struct train_row *row = &t->rows.data[i];
        if (row->use != TRAIN_KEPT || (without && is_same_kernel(row->kernel, without))) continue;
        const double scale = (double)t->profile->warps / row->kernel->warps;
        for (uint32_t k = 0, column = 0; k < POISE_FEATURES; k++)
            if (!(o->without >> k & 1))
                s.x[s.count * s.columns + column++] = ldexp((double)row->features[k], -POISE_FEATURE_BITS);
        s.n[s.count] = scale * row->target->n;
        s.p[s.count] = scale * row->target->p;
        s.count++;
    }
    return s;
}

static void sample_free(struct train_sample *s)
{
    free(s->x);
    free(s->n);
    free(s->p);
}

/* Weights in millionths, as the machine has them; 0 for features that the fit left out. */
static const char *round_weights(const struct negbin_fit *fit, uint32_t without,
                                 int64_t weights[POISE_FEATURES])
{
    for (uint32_t i = 0, column = 0; i < POISE_FEATURES; i++) {
        weights[i] = 0;
        if (without >> i & 1) continue;
        const double weight = fit->weights[column++];
        if (!(fabs(weight) <= WEIGHT_MAX)) return "a weight is beyond 1000: the data do not bound it";
        weights[i] = llround(weight * POISE_WEIGHT_ONE);
    }
    return NULL;
}

static const char *fit_one(const struct train_sample *s, const double *y, const struct train_options *o,
                           struct negbin_fit *fit, int64_t weights[POISE_FEATURES])
{
    const struct negbin_data d = {.x = s->x, .y = y, .rows = s->count, .columns = s->columns};
    const char *wrong =
        o->dispersion < 0 ? negbin_fit_likeliest(&d, fit) : negbin_fit(&d, o->dispersion, fit);
    return wrong ? wrong : round_weights(fit, o->without, weights);
}

/* NULL, or what is wrong. */
static const char *fit_without(const struct train_set *t, const struct train_options *o,
                               const struct profile_kernel *without, struct train_result *out)
{
    struct train_sample s = sample_of(t, o, without);
    *out = (struct train_result){.model.warps = t->profile->warps};
    const char *wrong = fit_one(&s, s.n, o, &out->n, out->model.alpha);
    if (!wrong) wrong = fit_one(&s, s.p, o, &out->p, out->model.beta);
    sample_free(&s);
    return wrong;
}

bool train_fit(const struct train_set *t, const struct train_options *o, struct train_result *out,
               struct diag_list *diags)
{
    struct strbuf hint = {0};
    char text[64];
    const char *wrong = fit_without(t, o, NULL, out);
    if (!wrong) return true;
    strbuf_printf(&hint, "%u kernels are kept, for %d weights", t->counts[TRAIN_KEPT], POISE_FEATURES);
    for (int use = TRAIN_EXCLUDED; use < TRAIN_USES; use++) {
        if (!t->counts[use]) continue;
        train_use_text((enum train_use)use, o, text);
        strbuf_printf(&hint, "; left out: %u (%s)", t->counts[use], text);
    }
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, strbuf_text(&hint), "no model can be trained: %s", wrong);
    strbuf_free(&hint);
    return false;
}

/* ---- errors ---- */

static void add_error(struct train_errors *e, const struct train_row *row, const struct poise_model *m)
{
    const struct poise_tuple got = poise_predict(m, row->features, row->kernel->warps);
    const double n = fabs((double)got.n - row->target->n), p = fabs((double)got.p - row->target->p);
    e->count++;
    e->n_warps += n;
    e->p_warps += p;
    e->n_percent += 100 * n / row->target->n;
    e->p_percent += 100 * p / row->target->p;
}

static struct train_errors mean_errors(struct train_errors e)
{
    const double count = MAX(e.count, 1u);
    return (struct train_errors){e.count, e.n_percent / count, e.p_percent / count, e.n_warps / count,
                                 e.p_warps / count};
}

struct train_errors train_measure(const struct train_set *t, const struct poise_model *m)
{
    struct train_errors e = {0};
    for (uint32_t i = 0; i < t->rows.len; i++)
        if (t->rows.data[i].use == TRAIN_KEPT) add_error(&e, &t->rows.data[i], m);
    return mean_errors(e);
}

/* Does a kept row above have the same kernel? */
static bool is_repeated(const struct train_set *t, uint32_t row)
{
    for (uint32_t i = 0; i < row; i++)
        if (t->rows.data[i].use == TRAIN_KEPT &&
            is_same_kernel(t->rows.data[i].kernel, t->rows.data[row].kernel))
            return true;
    return false;
}

struct train_errors train_leave_one_out(const struct train_set *t, const struct train_options *o,
                                        uint32_t *failed)
{
    struct train_errors e = {0};
    *failed = 0;
    for (uint32_t i = 0; i < t->rows.len; i++) {
        const struct profile_kernel *left = t->rows.data[i].kernel;
        struct train_result r;
        if (t->rows.data[i].use != TRAIN_KEPT || is_repeated(t, i)) continue;
        if (fit_without(t, o, left, &r)) {
            (*failed)++;
            continue;
        }
        for (uint32_t k = i; k < t->rows.len; k++)
            if (t->rows.data[k].use == TRAIN_KEPT && is_same_kernel(t->rows.data[k].kernel, left))
                add_error(&e, &t->rows.data[k], &r.model);
    }
    return mean_errors(e);
}
