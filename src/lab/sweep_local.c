/* sweep_local.c: the runs on this machine: a process each, as many as there are cores, fewer where memory
 * would not do. */
#include "lab/sweep_impl.h"

#include <errno.h>
#include <unistd.h>

#define PAUSE_SECONDS 0.25

struct worker {
    struct lab_child child;
    struct sweep_task *task;
    /* the name of the statistics' file until the run has succeeded */
    char *part;
};

struct local {
    struct sweep_run *r;
    /* those that run */
    VEC(struct worker) workers;
    struct sweep_memory memory;
};

uint64_t sweep_budget(uint64_t free_bytes)
{
    return free_bytes - free_bytes / 10; /* the rest is left for other processes */
}

bool sweep_fits(const struct sweep_memory *m, uint32_t runs, uint64_t needs, uint64_t free_now)
{
    if (!runs) return true;
    return needs <= free_now && m->used <= m->budget && needs <= m->budget - m->used;
}

static bool fits(const struct local *l, const struct sweep_task *t)
{
    return sweep_fits(&l->memory, l->workers.len, t->memory, host_free_bytes());
}

static bool start_run(struct local *l, struct sweep_task *t)
{
    const struct sweep_options *o = l->r->o;
    assert(t->state == TASK_RUNNING && l->workers.len < l->r->workers);
    struct strbuf part = {0}, log = {0};
    char suffix[48];
    snprintf(suffix, sizeof suffix, ".%ld.part.json", (long)getpid());
    sweep_clear(o->folder, t->job->key);
    sweep_path(&part, o->folder, t->job->key, suffix);
    sweep_path(&log, o->folder, t->job->key, ".log");
    struct worker w = {.task = t, .part = mem_strdup(strbuf_text(&part))};
    struct arena words = {0};
    const char **argv = job_argv(t->job, o->heddle, w.part, &words);
    bool ok = child_start(&w.child, argv, strbuf_text(&log));
    if (ok) {
        t->start = w.child.start;
        l->memory.used += t->memory;
        vec_push(&l->workers, w);
    } else {
        bar_clear(&l->r->bar);
        fprintf(stderr, "heddle: error: cannot start a run: %s\n", strerror(errno));
        store_give_up(l->r->store, t->job->key, l->r->who);
        t->state = TASK_WAITING;
        free(w.part);
    }
    arena_free(&words);
    strbuf_free(&part);
    strbuf_free(&log);
    return ok;
}

static bool fill(struct local *l)
{
    struct sweep_run *r = l->r;
    for (uint32_t i = 0; i < r->tasks.len && l->workers.len < r->workers && !r->broken; i++) {
        struct sweep_task *t = &r->tasks.data[i];
        if (t->state == TASK_WAITING && fits(l, t) && sweep_claim(r, t) && !start_run(l, t)) return false;
    }
    return true;
}

static void end_run(struct local *l, uint32_t i, const struct lab_child_end *end)
{
    struct worker w = l->workers.data[i];
    l->workers.data[i] = l->workers.data[--l->workers.len];
    assert(l->memory.used >= w.task->memory); /* start_run() added it */
    l->memory.used -= w.task->memory;
    if (sweep_write_end(l->r->o->folder, w.task->job->key, w.part, end)) {
        sweep_end_task(l->r, w.task);
    } else {
        fprintf(stderr, "heddle: error: cannot write into %s: %s\n", l->r->o->folder, strerror(errno));
        store_give_up(l->r->store, w.task->job->key, l->r->who);
        l->r->broken = true;
    }
    free(w.part);
}

static void reap(struct local *l)
{
    for (uint32_t i = l->workers.len; i-- > 0;) {
        struct lab_child_end end;
        if (child_poll(&l->workers.data[i].child, &end)) end_run(l, i, &end);
    }
}

static void end_all(struct local *l)
{
    for (uint32_t i = 0; i < l->workers.len; i++) {
        struct worker *w = &l->workers.data[i];
        child_kill(&w->child);
        unlink(w->part);
        sweep_clear(l->r->o->folder, w->task->job->key);
        store_give_up(l->r->store, w->task->job->key, l->r->who);
        w->task->state = TASK_WAITING;
        free(w->part);
    }
    l->workers.len = 0;
}

bool sweep_local(struct sweep_run *r)
{
    struct local l = {.r = r, .memory.budget = sweep_budget(host_free_bytes())};
    bool ok = true;
    while (ok && !r->broken && !*r->o->stop) {
        ok = fill(&l);
        sweep_count(r);
        if (!l.workers.len && !r->count[TASK_ELSEWHERE] && !r->count[TASK_WAITING]) break;
        sweep_keep(r);
        child_pause(PAUSE_SECONDS);
        reap(&l);
    }
    end_all(&l);
    vec_free(&l.workers);
    return ok;
}
