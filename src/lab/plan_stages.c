/* plan_stages.c: the runs of an experiment that need results of its other runs, or files:
 *
 *     where:            a column has a run of a workload when the conditions hold for the workload
 *     chosen(A, KEY)    a setting is what column A chose for the workload
 *     model(NAME)       a setting is the file of a model that the experiment trained
 *     per: kernel       the run of a table with what was best for each launch
 *
 * Between two calls only the decided cells are kept: the content of the store decides all others. So a sweep
 * that was stopped can go on, and a report finds the same runs as the sweep that made them. */
#include "core/machine.h"
#include "lab/column_param.h"
#include "lab/plan_impl.h"

#include <math.h>

/* What is known of a cell. */
enum outcome { CELL_OPEN, CELL_NONE, CELL_RUN, CELL_ERROR };

static enum outcome try_conditions(struct figure_values *v, uint32_t workload, uint32_t column)
{
    const struct lab_column *c = &v->plan->experiment->columns[column];
    for (uint32_t i = 0; i < c->condition_count; i++) {
        const double value = figure_expr(v, workload, column, c->conditions[i]);
        if (v->open) return CELL_OPEN;
        if (isnan(value) || value == 0) return CELL_NONE;
    }
    return CELL_RUN;
}

/* ---- settings ---- */

/* The settings with KEY=VALUE in place of KEY=chosen(...), or behind them. */
static const char *const *with_setting(struct arena *a, const char *const *sets, const char *key,
                                       const char *value)
{
    const size_t len = strlen(key);
    uint32_t count = 0, at = 0;
    while (sets[count]) count++;
    const char **out = ARENA_ARRAY(a, const char *, count + 2);
    for (uint32_t i = 0; i < count; i++) out[i] = sets[i];
    while (at < count && (strncmp(sets[at], key, len) || sets[at][len] != '=')) at++;
    out[at] = arena_printf(a, "%s=%s", key, value);
    return out;
}

static bool has_setting(const char *const *sets, const char *key)
{
    const size_t len = strlen(key);
    for (; *sets; sets++)
        if (!strncmp(*sets, key, len) && (*sets)[len] == '=') return true;
    return false;
}

static enum outcome put_chosen(struct figure_values *v, uint32_t workload, const struct lab_chosen *chosen,
                               struct arena *a, struct lab_job *job)
{
    const struct experiment *e = v->plan->experiment;
    const uint32_t choice = figure_choice(v, workload, chosen->column);
    if (choice == FIGURE_NO_CHOICE) return v->open ? CELL_OPEN : CELL_NONE;
    struct strbuf value = {0};
    column_param_text(&e->columns[choice], chosen->param, &value);
    if (has_setting(job->run.sets, chosen->key)) {
        job->run.sets = with_setting(a, job->run.sets, chosen->key, strbuf_text(&value));
        job->machine = NULL; /* see put_machine */
    } else {
        job->run.mech_sets = with_setting(a, job->run.mech_sets, chosen->key, strbuf_text(&value));
    }
    strbuf_free(&value);
    return CELL_RUN;
}

/* The machine of a job whose settings were chosen. */
static enum outcome put_machine(struct arena *a, struct lab_job *job, struct diag_list *diags)
{
    struct machine *m = ARENA_NEW(a, struct machine);
    if (!run_options_machine(&job->run, m, diags)) return CELL_ERROR;
    job->machine = m;
    return CELL_RUN;
}

static enum outcome put_model(const struct lab_trained *t, const char *folder, struct plan *p,
                              struct lab_job *job, struct diag_list *diags)
{
    struct strbuf text = {0};
    strbuf_puts(&text, t->model->text);
    const char *path = plan_keep("model", &text, folder, &p->texts, diags);
    strbuf_free(&text);
    if (!path) return CELL_ERROR;
    job->run.mech_sets = with_setting(&p->texts, job->run.mech_sets, t->key, path);
    return CELL_RUN;
}

static enum outcome put_settings(struct figure_values *v, uint32_t workload, uint32_t column,
                                 const char *folder, struct plan *p, struct lab_job *job,
                                 struct diag_list *diags)
{
    const struct lab_column *c = &v->plan->experiment->columns[column];
    enum outcome o = CELL_RUN;
    *job = plan_job_of(p, workload, column);
    for (uint32_t i = 0; i < c->chosen_count && o == CELL_RUN; i++)
        o = put_chosen(v, workload, &c->chosen[i], &p->texts, job);
    if (o == CELL_RUN && !job->machine) o = put_machine(&p->texts, job, diags);
    for (uint32_t i = 0; i < c->trained_count && o == CELL_RUN; i++)
        o = put_model(&c->trained[i], folder, p, job, diags);
    if (o != CELL_RUN || !c->table) return o;
    const char *path = plan_table(v, workload, column, folder, &p->texts, diags);
    if (!path) return v->open ? CELL_OPEN : CELL_ERROR;
    job->run.mech_sets = with_setting(&p->texts, job->run.mech_sets, c->table->key, path);
    return CELL_RUN;
}

/* ---- cells ---- */

static enum outcome advance_cell(struct plan *p, struct figure_values *v, struct map *by_key, uint32_t cell,
                                 const char *folder, struct diag_list *diags)
{
    const uint32_t workload = cell / p->experiment->column_count, column = cell % p->experiment->column_count;
    struct lab_job job;
    v->open = false;
    enum outcome o = try_conditions(v, workload, column);
    if (o == CELL_RUN) o = put_settings(v, workload, column, folder, p, &job, diags);
    if (o == CELL_NONE) p->cell[cell] = PLAN_NO_JOB;
    if (o != CELL_RUN) return o;
    if (!job_seal(&job, diags)) return CELL_ERROR;
    p->cell[cell] = plan_add_job(p, by_key, &job);
    return CELL_RUN;
}

/* One look at all cells; *changed: some were decided. */
static bool pass(struct plan *p, struct store *s, const char *folder, struct map *by_key, bool *changed,
                 struct diag_list *diags)
{
    struct figure_values v;
    bool ok = true;
    figure_values_open(&v, p, s);
    *changed = false;
    for (uint32_t i = 0; i < p->experiment->workload_count * p->experiment->column_count && ok; i++) {
        if (p->cell[i] != PLAN_LATER) continue;
        const enum outcome o = advance_cell(p, &v, by_key, i, folder, diags);
        ok = o != CELL_ERROR;
        *changed = *changed || o == CELL_NONE || o == CELL_RUN;
    }
    if (v.error) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "the store cannot be read: %s", v.error);
        ok = false;
    }
    figure_values_close(&v);
    return ok;
}

bool plan_advance(struct plan *p, struct store *s, const char *folder, struct diag_list *diags)
{
    struct map by_key = {0};
    bool changed = plan_later(p) > 0, ok = true;
    for (uint32_t i = 0; i < p->job_count; i++) map_put(&by_key, p->jobs[i].key, (void *)(uintptr_t)(i + 1));
    while (ok && changed) ok = pass(p, s, folder, &by_key, &changed, diags);
    map_free(&by_key);
    return ok;
}
