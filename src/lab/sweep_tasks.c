/* sweep_tasks.c: the runs of all plans, each once, longest first, and how long they will take.
 *
 * A run's time is that of earlier runs of the same workload and size, where the store has some; else its
 * warp instructions divided by the speed so far. The speed is that of the runs of this sweep; before the
 * first has ended, of all in the store. */
#define _GNU_SOURCE /* qsort_r */
#include "lab/sweep_impl.h"

#include <math.h>

#define RATE_DEFAULT                                                                                         \
    300000.0             /* warp instructions a second: bfs, small, fermi, on a busy machine of two cores */
#define WORK_DEFAULT 1e6 /* for a size that was not measured */

/* Seconds that runs of a workload took, by "workload size". */
struct earlier {
    double seconds, runs;
};

static bool earlier_row(void *context, int columns, const char *const *values, const char *const *names)
{
    (void)names;
    struct map *all = context;
    if (columns != 4 || !values[0] || !values[1] || !values[2] || !values[3]) return true;
    struct strbuf name = {0};
    struct earlier *e = mem_zalloc(sizeof *e);
    strbuf_printf(&name, "%s %s", values[0], values[1]);
    e->seconds = strtod(values[2], NULL);
    e->runs = strtod(values[3], NULL);
    free(map_get(all, strbuf_text(&name)));
    map_put(all, strbuf_text(&name), e);
    strbuf_free(&name);
    return true;
}

static void load_earlier(struct store *s, struct map *out)
{
    char *error = NULL;
    if (s)
        store_query(s,
                    "SELECT workload, size, sum(seconds), count(*) FROM run WHERE state = 'done' "
                    "AND seconds > 0 GROUP BY workload, size",
                    earlier_row, out, &error);
    free(error); /* a sweep goes on without an estimate */
}

static const char *column_of(const struct plan *p, uint32_t job)
{
    const struct experiment *e = p->experiment;
    for (uint32_t w = 0; w < e->workload_count; w++)
        for (uint32_t c = 0; c < e->column_count; c++)
            if (p->cell[w * e->column_count + c] == job) return e->columns[c].name;
    return "";
}

static double work_of(const struct lab_job *job)
{
    const struct workload_size *s = workload_size(job->workload, job->size);
    return s && s->warp_instructions ? (double)s->warp_instructions : WORK_DEFAULT;
}

static void set_known(struct sweep_run *r, struct sweep_task *t, const struct map *earlier, double *work,
                      double *seconds)
{
    struct strbuf name = {0};
    strbuf_printf(&name, "%s %s", t->job->workload->name, t->job->size);
    const struct earlier *e = map_get(earlier, strbuf_text(&name));
    if (e) {
        t->known = e->seconds / e->runs;
        *work += t->work;
        *seconds += t->known;
    }
    strbuf_free(&name);
}

double sweep_task_seconds(const struct sweep_run *r, const struct sweep_task *t)
{
    assert(t->known > 0 || r->rate > 0);
    return t->known > 0 ? t->known : t->work / r->rate;
}

static int by_seconds(const void *a, const void *b, void *run)
{
    double x = sweep_task_seconds(run, a), y = sweep_task_seconds(run, b);
    if (x != y) return x > y ? -1 : 1;
    return strcmp(((const struct sweep_task *)a)->job->key, ((const struct sweep_task *)b)->job->key);
}

static void add_plan(struct sweep_run *r, const struct plan *p)
{
    for (uint32_t i = 0; i < p->job_count; i++) {
        const struct lab_job *job = &p->jobs[i];
        assert(strlen(job->key) == JOB_KEY_CHARS); /* plan_make() sealed it */
        if (map_get(&r->by_key, job->key)) continue;
        map_put(&r->by_key, job->key, r);
        vec_push(&r->tasks,
                 (struct sweep_task){
                     .job = job, .column = column_of(p, i), .memory = job_memory(job), .work = work_of(job)});
    }
}

void sweep_tasks_make(struct sweep_run *r, const struct plan *plans, uint32_t plan_count)
{
    assert(!r->tasks.len);
    struct map earlier = {0};
    double work = 0, seconds = 0;
    for (uint32_t i = 0; i < plan_count; i++) add_plan(r, &plans[i]);
    load_earlier(r->store, &earlier);
    for (uint32_t i = 0; i < r->tasks.len; i++) set_known(r, &r->tasks.data[i], &earlier, &work, &seconds);
    r->rate = seconds > 0 ? work / seconds : RATE_DEFAULT;
    if (r->tasks.len) qsort_r(r->tasks.data, r->tasks.len, sizeof *r->tasks.data, by_seconds, r);
    for (uint32_t i = 0; i < r->tasks.len; i++)
        map_put(&r->by_key, r->tasks.data[i].job->key, &r->tasks.data[i]);
    for (uint32_t i = 0; i < earlier.entries.len; i++) free(earlier.entries.data[i].value);
    map_free(&earlier);
}

void sweep_tasks_free(struct sweep_run *r)
{
    map_free(&r->by_key);
    vec_free(&r->tasks);
}

void sweep_count(struct sweep_run *r)
{
    memset(r->count, 0, sizeof r->count);
    for (uint32_t i = 0; i < r->tasks.len; i++) {
        assert(r->tasks.data[i].state < ARRAY_LEN(r->count));
        r->count[r->tasks.data[i].state]++;
    }
}

double sweep_seconds_left(const struct sweep_run *r, double now)
{
    double sum = 0, longest = 0;
    for (uint32_t i = 0; i < r->tasks.len; i++) {
        const struct sweep_task *t = &r->tasks.data[i];
        if (t->state == TASK_DONE || t->state == TASK_FAILED) continue;
        double left = sweep_task_seconds(r, t);
        /* a run that takes longer than estimated counts as nearly done */
        if (t->state == TASK_RUNNING && t->start > 0) left = MAX(left - (now - t->start), left * 0.05);
        sum += left;
        longest = MAX(longest, left);
    }
    return MAX(sum / MAX(r->workers, 1u), longest);
}
