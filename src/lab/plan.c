/* plan.c: the runs that an experiment needs, each once. */
#include "lab/plan_impl.h"

struct lab_job plan_job_of(const struct plan *p, uint32_t workload, uint32_t column)
{
    const struct experiment *e = p->experiment;
    const struct lab_column *c = &e->columns[column];
    struct lab_job job = {.workload = e->workloads[workload],
                          .size = e->sizes[workload],
                          .seed = e->seed,
                          .run = e->run,
                          .simulator = p->simulator};
    assert(!column_is_choice(c));
    job.run.machine = c->machine;
    job.run.sets = c->sets;
    job.run.mechs = c->mechs;
    job.run.mech_sets = c->mech_sets;
    job.machine = c->resolved;
    return job;
}

uint32_t plan_add_job(struct plan *p, struct map *by_key, const struct lab_job *job)
{
    assert(*job->key); /* it was sealed */
    uintptr_t twin = (uintptr_t)map_get(by_key, job->key);
    if (twin) return (uint32_t)twin - 1;
    p->jobs[p->job_count++] = *job;
    map_put(by_key, job->key, (void *)(uintptr_t)p->job_count);
    return p->job_count - 1;
}

bool plan_make(struct plan *p, const struct experiment *e, const struct simulator *v, struct diag_list *diags)
{
    uint32_t errors = diags->errors, cells = e->workload_count * e->column_count;
    *p = (struct plan){.experiment = e, .simulator = v};
    if (e->study) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "'%s' is a study: its experiments have the runs",
                 e->name);
        return false;
    }
    p->jobs = mem_zalloc(MAX(cells, 1u) * sizeof *p->jobs);
    p->cell = mem_alloc(MAX(cells, 1u) * sizeof *p->cell);
    struct map by_key = {0};
    for (uint32_t i = 0; i < cells && diags->errors == errors; i++) {
        uint32_t workload = i / e->column_count, column = i % e->column_count;
        const struct lab_column *c = &e->columns[column];
        p->cell[i] = column_is_choice(c) ? PLAN_NO_JOB : PLAN_LATER;
        if (column_is_choice(c) || column_is_later(c)) continue;
        struct lab_job job = plan_job_of(p, workload, column);
        if (job_seal(&job, diags)) p->cell[i] = plan_add_job(p, &by_key, &job);
    }
    map_free(&by_key);
    if (diags->errors == errors) return true;
    plan_free(p);
    return false;
}

uint32_t plan_job(const struct plan *p, uint32_t workload, uint32_t column)
{
    const struct experiment *e = p->experiment;
    assert(workload < e->workload_count && column < e->column_count);
    uint32_t job = p->cell[workload * e->column_count + column];
    assert(job == PLAN_NO_JOB || job == PLAN_LATER || job < p->job_count);
    return job;
}

uint32_t plan_later(const struct plan *p)
{
    uint32_t later = 0;
    for (uint32_t i = 0; i < p->experiment->workload_count * p->experiment->column_count; i++)
        later += p->cell[i] == PLAN_LATER;
    return later;
}

void plan_free(struct plan *p)
{
    free(p->jobs);
    free(p->cell);
    arena_free(&p->texts);
    *p = (struct plan){0};
}
