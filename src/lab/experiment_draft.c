/* experiment_draft.c: what a column of an experiment sets: `like`, `machine`, `set`, `mech`, `mech_set`;
 * tried on the machine.
 *
 * (1) Every setting is tried on the machine when the file is read, so that a typo is found before any run.
 * (2) The settings of a column are in the order of their names, however they were written.
 * (3) A draft holds the column's own settings. Those of the experiment join them when the column is made, so
 * that `like` compares what columns set themselves. */
#include "lab/experiment_read.h"

#include "core/machine.h"
#include "core/mech/mech_set.h"

struct column_draft {
    /* the column's name */
    const struct yaml_node *at;
    const char *machine;
    const struct yaml_node *machine_at;
    setting_list sets, mech_sets;
    VEC(const struct yaml_node *) mechs;
};

/* ---- drafts ---- */

static struct column_draft *draft_new(struct experiment_reading *r, const struct yaml_node *at)
{
    struct column_draft *d = ARENA_NEW(&r->e->arena, struct column_draft);
    *d = (struct column_draft){.at = at, .machine = r->e->machine};
    d->machine_at = yaml_get(r->e->file.root, "machine");
    if (!d->machine_at) d->machine_at = at;
    return d;
}

void draft_free(struct column_draft *d)
{
    if (!d) return;
    vec_free(&d->sets);
    vec_free(&d->mech_sets);
    vec_free(&d->mechs);
}

struct column_draft *draft_copy(struct experiment_reading *r, const struct column_draft *from)
{
    struct column_draft *d = draft_new(r, from->at);
    d->machine = from->machine;
    d->machine_at = from->machine_at;
    for (uint32_t i = 0; i < from->sets.len; i++) vec_push(&d->sets, from->sets.data[i]);
    for (uint32_t i = 0; i < from->mech_sets.len; i++) vec_push(&d->mech_sets, from->mech_sets.data[i]);
    for (uint32_t i = 0; i < from->mechs.len; i++) vec_push(&d->mechs, from->mechs.data[i]);
    return d;
}

static struct setting *setting_find(struct setting *list, uint32_t count, const char *key)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(list[i].key, key)) return &list[i];
    return NULL;
}

/* The later one wins. */
#define settings_put(list, s)                                                                                \
    do {                                                                                                     \
        struct setting *old_ = setting_find((list)->data, (list)->len, (s).key);                             \
        if (old_)                                                                                            \
            *old_ = (s);                                                                                     \
        else                                                                                                 \
            vec_push((list), (s));                                                                           \
    } while (0)

static void draft_add_mech(struct column_draft *d, const struct yaml_node *name)
{
    for (uint32_t i = 0; i < d->mechs.len; i++)
        if (!strcmp(d->mechs.data[i]->text, name->text)) return;
    vec_push(&d->mechs, name);
}

/* ---- like: the settings of other columns, joined ---- */

static bool like_clashes(struct experiment_reading *r, const struct yaml_node *at, struct setting *have,
                         uint32_t count, const struct setting *s)
{
    const struct setting *old = setting_find(have, count, s->key);
    if (!old || !strcmp(old->value, s->value)) return false;
    yaml_error(&r->e->file, at, r->diags, "set it in this column instead",
               "'%s' sets %s to %s, and a column before it to %s", at->text, s->key, s->value, old->value);
    return true;
}

static bool like_join(struct experiment_reading *r, struct column_draft *d, const struct yaml_node *at,
                      bool first)
{
    uint32_t column = experiment_column(r, at);
    const struct column_draft *from = column == UINT32_MAX ? NULL : r->drafts.data[column];
    if (column != UINT32_MAX && !from)
        yaml_error(&r->e->file, at, r->diags, NULL, "'%s' is a choice among columns: it has no settings",
                   at->text);
    if (!from) return false;
    if (!first && strcmp(d->machine, from->machine)) {
        yaml_error(&r->e->file, at, r->diags, NULL, "'%s' is on machine '%s', the column before it on '%s'",
                   at->text, from->machine, d->machine);
        return false;
    }
    d->machine = from->machine;
    d->machine_at = from->machine_at;
    bool ok = true;
    for (uint32_t i = 0; ok && i < from->sets.len; i++) {
        ok = !like_clashes(r, at, d->sets.data, d->sets.len, &from->sets.data[i]);
        settings_put(&d->sets, from->sets.data[i]);
    }
    for (uint32_t i = 0; ok && i < from->mech_sets.len; i++) {
        ok = !like_clashes(r, at, d->mech_sets.data, d->mech_sets.len, &from->mech_sets.data[i]);
        settings_put(&d->mech_sets, from->mech_sets.data[i]);
    }
    for (uint32_t i = 0; ok && i < from->mechs.len; i++) draft_add_mech(d, from->mechs.data[i]);
    return ok;
}

static bool read_like(struct experiment_reading *r, struct column_draft *d, const struct yaml_node *n)
{
    const struct yaml_node *items;
    uint32_t count;
    if (!n) return true;
    bool ok = experiment_texts(r, n, &items, &count);
    for (uint32_t i = 0; ok && i < count; i++) ok = like_join(r, d, &items[i], i == 0);
    return ok;
}

/* ---- a column's own settings ---- */

/* A mapping of parameters to values, added to `out`. */
static bool read_settings(struct experiment_reading *r, const struct yaml_node *n, const char *key,
                          setting_list *out)
{
    if (!n) return true;
    if (n->kind != YAML_MAP) {
        yaml_error(&r->e->file, n, r->diags,
                   !strcmp(key, "mech_set") ? "for example mech_set: {swl.warps: 4}"
                                            : "for example set: {l1.mshrs: 128}",
                   "'%s' is a mapping of parameters to values", key);
        return false;
    }
    for (uint32_t i = 0; i < n->count; i++) {
        const struct yaml_node *name = &n->keys[i], *value = &n->items[i];
        struct setting s = {name->text, value->text, name, value};
        if (value->kind != YAML_TEXT) {
            yaml_error(&r->e->file, value, r->diags, "several values: over: {KEY: [...]}",
                       "a parameter takes one value");
            return false;
        }
        settings_put(out, s);
    }
    return true;
}

static bool read_mechs(struct experiment_reading *r, struct column_draft *d, const struct yaml_node *n)
{
    const struct yaml_node *items;
    uint32_t count;
    if (!n) return true;
    if (!experiment_texts(r, n, &items, &count)) return false;
    for (uint32_t i = 0; i < count; i++) draft_add_mech(d, &items[i]);
    return true;
}

static bool read_machine(struct experiment_reading *r, struct column_draft *d, const struct yaml_node *n)
{
    if (!n) return true;
    if (n->kind != YAML_TEXT || !*n->text) {
        yaml_error(&r->e->file, n, r->diags, "`heddle list machines` shows them",
                   "'machine' takes the name of a machine");
        return false;
    }
    d->machine = n->text;
    d->machine_at = n;
    return true;
}

/* ---- a draft tried on the machine ---- */

/* Settings that other columns decide go to the column; to be tried, they get the value that they may have. */
static bool take_chosen(struct experiment_reading *r, setting_list *list, struct lab_chosen *chosen,
                        uint32_t *count)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < list->len; i++) {
        struct setting *s = &list->data[i];
        if (chosen_is(s->value)) ok = chosen_read(r, s, &chosen[(*count)++], &s->value);
    }
    return ok;
}

/* Files of models go to the column; there is no file yet with which they could be tried. */
static bool take_trained(struct experiment_reading *r, setting_list *list, struct lab_column *c,
                         setting_list *taken)
{
    struct lab_trained *trained = ARENA_ARRAY(&r->e->arena, struct lab_trained, list->len);
    uint32_t kept = 0;
    bool ok = true;
    for (uint32_t i = 0; i < list->len; i++) {
        const struct setting s = list->data[i];
        if (!model_is(s.value)) {
            list->data[kept++] = s;
            continue;
        }
        ok = ok && model_read(r, &s, &trained[c->trained_count++]);
        vec_push(taken, s);
    }
    list->len = kept;
    c->trained = trained;
    return ok;
}

/* The machine as its file has it. The newest one is kept, since neighbouring columns usually have the same
 * machine. */
static bool load_machine(struct experiment_reading *r, const char *name, const struct yaml_node *at,
                         struct machine *m)
{
    if (r->machine_name && !strcmp(r->machine_name, name)) {
        *m = *r->machine;
        return true;
    }
    struct diag_list diags = {0};
    const bool ok = machine_load(name, NULL, 0, m, &diags);
    experiment_forward(r, at, &diags);
    diag_free(&diags);
    if (!ok) return false;
    if (!r->machine) r->machine = ARENA_NEW(&r->e->arena, struct machine);
    *r->machine = *m;
    r->machine_name = name;
    return true;
}

static bool try_machine(struct experiment_reading *r, const char *name, const struct yaml_node *at,
                        const setting_list *sets, struct machine *m)
{
    bool ok = load_machine(r, name, at, m);
    for (uint32_t i = 0; ok && i < sets->len; i++) {
        const struct setting *s = &sets->data[i];
        bool known = params_find(machine_groups, s->key, NULL) != NULL; /* is the error in the value? */
        ok = params_set(machine_groups, m, s->key, s->value, &r->e->file.src,
                        (known ? s->value_at : s->key_at)->line, s->key_at->col, s->value_at->col, r->diags);
    }
    return ok;
}

bool draft_check_machine(struct experiment_reading *r)
{
    const struct yaml_node *root = r->e->file.root;
    struct machine *m = mem_alloc(sizeof *m);
    bool ok = read_settings(r, yaml_get(root, "set"), "set", &r->common) &&
              try_machine(r, r->e->machine, yaml_get(root, "machine"), &r->common, m);
    free(m);
    return ok;
}

static const struct mechanism *owner_of(const struct mech_set *set, const char *key)
{
    for (uint32_t i = 0; i < mech_set_count(set); i++) {
        const struct mechanism *m = mech_set_at(set, i);
        if (m->params && param_find(m->params, key)) return m;
    }
    return NULL;
}

static void unknown_parameter(struct experiment_reading *r, const struct mech_set *set,
                              const struct yaml_node *at, const char *of)
{
    VEC(const char *) names = {0};
    for (uint32_t i = 0; i < mech_set_count(set); i++)
        for (const struct param_row *p = mech_set_at(set, i)->params; p && p->name; p++)
            vec_push(&names, p->name);
    const char *near = params_nearest(machine_groups, at->text);
    if (near) vec_push(&names, near);
    experiment_unknown(r, at, of, names.data, names.len,
                       "`heddle list params` and `heddle list mechanisms` show them");
    vec_free(&names);
}

/* Is the value one that the mechanism takes? */
static bool try_mech_setting(struct experiment_reading *r, const struct mech_set *set,
                             const struct setting *s)
{
    const struct mechanism *m = owner_of(set, s->key);
    if (!m) {
        unknown_parameter(r, set, s->key_at, "parameter of an attached mechanism");
        return false;
    }
    void *scratch = mem_zalloc(m->param_bytes);
    bool ok = param_set(m->params, scratch, s->key, s->value, &r->e->file.src, s->value_at->line,
                        s->key_at->col, s->value_at->col, r->diags);
    free(scratch);
    return ok;
}

static struct mech_set *attach(struct experiment_reading *r, const struct column_draft *d,
                               const struct machine *m, const char *const *settings, uint32_t count)
{
    VEC(const char *) names = {0};
    struct diag_list diags = {0};
    for (uint32_t i = 0; i < d->mechs.len; i++) vec_push(&names, d->mechs.data[i]->text);
    struct mech_set *set = mech_set_create_for(m->scheduler, names.data, names.len, settings, count, &diags);
    experiment_forward(r, d->mechs.len ? d->mechs.data[0] : d->at, &diags);
    diag_free(&diags);
    vec_free(&names);
    return set;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct setting *)a)->key, ((const struct setting *)b)->key);
}

/* "key=value" texts in the order of the keys, NULL at the end. */
static const char *const *setting_texts(struct experiment_reading *r, struct setting *list, uint32_t count)
{
    const char **out = ARENA_ARRAY(&r->e->arena, const char *, count + 1);
    if (count) qsort(list, count, sizeof *list, by_key);
    for (uint32_t i = 0; i < count; i++)
        out[i] = arena_printf(&r->e->arena, "%s=%s", list[i].key, list[i].value);
    return out;
}

static const char *const *mech_texts(struct experiment_reading *r, const struct column_draft *d)
{
    const char **out = ARENA_ARRAY(&r->e->arena, const char *, d->mechs.len + 1);
    for (uint32_t i = 0; i < d->mechs.len; i++) out[i] = d->mechs.data[i]->text;
    return out;
}

struct column_draft *draft_read(struct experiment_reading *r, const struct yaml_node *at,
                                const struct yaml_node *n)
{
    struct column_draft *d = draft_new(r, at);
    if (n->kind != YAML_MAP) return d; /* `base:` without a value */
    if (read_like(r, d, yaml_get(n, "like")) && read_machine(r, d, yaml_get(n, "machine")) &&
        read_settings(r, yaml_get(n, "set"), "set", &d->sets) && read_mechs(r, d, yaml_get(n, "mech")) &&
        read_settings(r, yaml_get(n, "mech_set"), "mech_set", &d->mech_sets))
        return d;
    draft_free(d);
    return NULL;
}

void draft_put(struct column_draft *d, const struct yaml_node *key, const struct yaml_node *value)
{
    assert(key->kind == YAML_TEXT && value->kind == YAML_TEXT);
    struct setting s = {key->text, value->text, key, value};
    if (params_find(machine_groups, key->text, NULL))
        settings_put(&d->sets, s);
    else
        settings_put(&d->mech_sets, s);
}

/* Both lists, of which the second wins. */
static setting_list joined(const setting_list *a, const setting_list *b)
{
    setting_list all = {0};
    for (uint32_t i = 0; i < a->len; i++) vec_push(&all, a->data[i]);
    for (uint32_t i = 0; i < b->len; i++) settings_put(&all, b->data[i]);
    return all;
}

/* The mechanisms with their settings; NULL with errors at the settings that they refuse. */
static struct mech_set *try_mechs(struct experiment_reading *r, const struct column_draft *d,
                                  const struct machine *m, setting_list *settings)
{
    struct mech_set *set = attach(r, d, m, NULL, 0);
    bool ok = set != NULL;
    for (uint32_t i = 0; ok && i < settings->len; i++) ok = try_mech_setting(r, set, &settings->data[i]);
    mech_set_destroy(set);
    return ok ? attach(r, d, m, setting_texts(r, settings->data, settings->len), settings->len) : NULL;
}

bool draft_finish(struct experiment_reading *r, struct column_draft *d, struct lab_column *c)
{
    struct machine *m = ARENA_NEW(&r->e->arena, struct machine);
    setting_list none = {0}, files = {0}, sets = joined(&r->common, &d->sets),
                 mech_sets = joined(&none, &d->mech_sets);
    struct lab_chosen *chosen = ARENA_ARRAY(&r->e->arena, struct lab_chosen, sets.len + mech_sets.len);
    c->machine = d->machine;
    c->sets = setting_texts(r, sets.data, sets.len);
    c->mech_sets = setting_texts(r, mech_sets.data, mech_sets.len);
    c->mechs = mech_texts(r, d);
    c->resolved = m;
    c->chosen = chosen;
    if (take_chosen(r, &sets, chosen, &c->chosen_count) &&
        take_chosen(r, &mech_sets, chosen, &c->chosen_count) && take_trained(r, &mech_sets, c, &files) &&
        try_machine(r, d->machine, d->machine_at, &sets, m))
        c->attached = try_mechs(r, d, m, &mech_sets);
    bool ok = c->attached != NULL;
    for (uint32_t i = 0; ok && i < files.len; i++) ok = model_check(r, c, &files.data[i]);
    vec_free(&files);
    vec_free(&sets);
    vec_free(&mech_sets);
    for (uint32_t i = 0; c->attached && i < mech_set_count(c->attached); i++)
        experiment_add_stats(&r->stats, mech_set_at(c->attached, i)->stats);
    vec_push(&r->columns, *c);
    vec_push(&r->drafts, d);
    return ok;
}
