/* experiment_models.c: `models:`: models of Poise that an experiment trains (lab/train.h) from profiles.
 *
 *     models:
 *       all: {profile: models/poise-kepler.profile}
 *       no-x6: {profile: models/poise-kepler.profile, without: [x6]}
 *
 * `poise.model: model(no-x6)` gives one to a column, as a file; weight(all.alpha.x1) is a number of one. */
#include "lab/column_param.h"
#include "lab/experiment_read.h"
#include "lab/train.h"

#include "core/machine.h"
#include "heddle/rows.h"

#include <unistd.h>

#define EXAMPLE "for example models: {all: {profile: models/poise-kepler.profile}}"

/* ---- models: ---- */

/* A file of the data folder, or one beside the experiment. */
static const char *find_profile(struct experiment *e, const char *name)
{
    if (*name == '/') return name;
    const char *slash = strrchr(e->path, '/');
    const char *shared = arena_printf(&e->arena, "%s/%s", machine_data_dir(), name);
    if (!slash || !access(shared, R_OK)) return shared;
    return arena_printf(&e->arena, "%.*s/%s", (int)(slash - e->path), e->path, name);
}

/* x1 to x7: the features of Table 5.3; the eighth is the constant. */
static bool read_without(struct experiment_reading *r, const struct yaml_node *n, uint32_t *features)
{
    const struct yaml_node *items;
    uint32_t count;
    if (!n) return true;
    if (!experiment_texts(r, n, &items, &count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t feature = train_feature(items[i].text);
        if (feature >= POISE_FEATURES - 1) {
            yaml_error(&r->e->file, &items[i], r->diags, "x1 to x7, as in Table 5.3 of the thesis",
                       "no feature is called '%s'", items[i].text);
            return false;
        }
        *features |= 1u << feature;
    }
    return true;
}

static bool train(struct experiment_reading *r, const struct profile *p, const struct train_options *o,
                  struct lab_model *m, struct diag_list *diags)
{
    struct train_set set;
    struct train_result result;
    struct strbuf text = {0};
    train_select(&set, p, o);
    const bool ok = train_check_evaluation(&set, r->workloads, diags) && train_fit(&set, o, &result, diags);
    if (ok) {
        const struct train_report report = {
            .set = &set, .options = o, .result = &result, .training = train_measure(&set, &result.model)};
        train_write(&report, &text);
        m->weights = result.model;
        m->text = arena_strdup(&r->e->arena, strbuf_text(&text));
    }
    strbuf_free(&text);
    train_free(&set);
    return ok;
}

static void read_model(struct experiment_reading *r, const struct yaml_node *at, const struct yaml_node *n,
                       struct lab_model *m)
{
    static const char *const keys[] = {"profile", "without"};
    struct train_options o = train_defaults;
    struct diag_list diags = {0};
    struct profile p;
    const struct yaml_node *profile = n->kind == YAML_MAP ? yaml_get(n, "profile") : NULL;
    m->name = at->text;
    if (!profile || profile->kind != YAML_TEXT) {
        yaml_error(&r->e->file, at, r->diags, EXAMPLE, "model '%s' names no profile", at->text);
        return;
    }
    experiment_only(r, n, keys, ARRAY_LEN(keys));
    if (!read_without(r, yaml_get(n, "without"), &o.without)) return;
    if (profile_load(&p, find_profile(r->e, profile->text), &diags)) train(r, &p, &o, m, &diags);
    experiment_forward(r, profile, &diags);
    profile_free(&p);
    diag_free(&diags);
}

void experiment_read_models(struct experiment_reading *r)
{
    struct experiment *e = r->e;
    const struct yaml_node *n = yaml_get(e->file.root, "models");
    if (!n) return;
    if (n->kind != YAML_MAP) {
        yaml_error(&e->file, n, r->diags, EXAMPLE, "'models' is a mapping of names");
        return;
    }
    e->models = ARENA_ARRAY(&e->arena, struct lab_model, n->count);
    for (uint32_t i = 0; i < n->count; i++)
        read_model(r, &n->keys[i], &n->items[i], &e->models[e->model_count++]);
}

/* ---- who uses them ---- */

static const struct lab_model *find_model(const struct experiment *e, const char *name, size_t len)
{
    for (uint32_t i = 0; i < e->model_count; i++)
        if (strlen(e->models[i].name) == len && !memcmp(e->models[i].name, name, len)) return &e->models[i];
    return NULL;
}

static const char head[] = "model(";

bool model_is(const char *value) { return !strncmp(value, head, sizeof head - 1); }

bool model_read(struct experiment_reading *r, const struct setting *s, struct lab_trained *out)
{
    const char *name = s->value + sizeof head - 1;
    const size_t len = strcspn(name, ")");
    out->key = s->key;
    out->model = name[len] && !name[len + 1] ? find_model(r->e, name, len) : NULL;
    if (out->model) return true;
    yaml_error(&r->e->file, s->value_at, r->diags, "models are named under 'models:'",
               "'%s' names no model of this experiment", s->value);
    return false;
}

bool model_check(struct experiment_reading *r, const struct lab_column *c, const struct setting *s)
{
    const struct param_row *row = column_param_row(c, s->key);
    if (row && row->type == PARAM_PATH) return true;
    yaml_error(&r->e->file, s->key_at, r->diags, "poise.model takes one, with mech: poise",
               "'%s' is not a parameter of this column that names a file", s->key);
    return false;
}

/* NAME.alpha.xI or NAME.beta.xI. */
bool model_weight(const struct experiment *e, const char *name, double *out)
{
    const char *feature = strrchr(name, '.');
    if (!feature) return false;
    const uint32_t i = train_feature(feature + 1);
    const struct {
        const char *word;
        bool is_alpha;
    } rows[] = {{".alpha", true}, {".beta", false}};
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        const size_t len = strlen(rows[k].word), all = (size_t)(feature - name);
        if (i >= POISE_FEATURES || all <= len || memcmp(feature - len, rows[k].word, len)) continue;
        const struct lab_model *m = find_model(e, name, all - len);
        if (!m) continue;
        *out = (double)(rows[k].is_alpha ? m->weights.alpha[i] : m->weights.beta[i]) / POISE_WEIGHT_ONE;
        return true;
    }
    return false;
}
