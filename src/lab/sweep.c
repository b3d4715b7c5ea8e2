/* sweep.c: the common part of sweeps: runs that exist already, leases, progress, the end. sweep_local.c and
 * sweep_slurm.c make the runs.
 *
 * A run belongs to the sweep that holds its lease in the store. (1) A lease is held again four times
 * before it would run out. (2) What another sweep makes is looked at now and then: when its lease has
 * ended without a result, the run is made here. */
#include "lab/sweep_impl.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEASE_SECONDS = 60, LEASE_SLURM_SECONDS = 3600 };
#define LOOK_SECONDS 2.0

static void task_over(struct sweep_task *t, enum task_state state, bool had)
{
    assert(state == TASK_DONE || state == TASK_FAILED);
    t->state = state;
    t->had = had;
}

/* Reads the state of a run that another sweep has from the store. */
static void look_up(struct sweep_run *r, struct sweep_task *t, bool had)
{
    switch (store_state(r->store, t->job->key)) {
    case STORE_DONE: task_over(t, TASK_DONE, had); break;
    case STORE_FAILED: task_over(t, TASK_FAILED, had); break;
    case STORE_RUNNING: t->state = TASK_ELSEWHERE; break;
    case STORE_ABSENT: t->state = TASK_WAITING; break;
    }
}

bool sweep_claim(struct sweep_run *r, struct sweep_task *t)
{
    assert(t->state != TASK_RUNNING && r->lease_seconds);
    bool ours = store_take(r->store, t->job, r->who, r->lease_seconds);
    const char *error = ours ? NULL : store_error(r->store);
    if (ours) {
        t->state = TASK_RUNNING;
    } else if (error) {
        bar_clear(&r->bar);
        fprintf(stderr, "heddle: error: the store: %s\n", error);
        r->broken = true;
    } else {
        look_up(r, t, false);
    }
    return ours;
}

static void hold_leases(struct sweep_run *r)
{
    for (uint32_t i = 0; i < r->tasks.len; i++) {
        const struct sweep_task *t = &r->tasks.data[i];
        if (t->state == TASK_RUNNING) store_hold(r->store, t->job->key, r->who, r->lease_seconds);
    }
}

static void show(struct sweep_run *r, double now)
{
    enum { SHOWN_MAX = 256 };
    struct bar_worker workers[SHOWN_MAX];
    uint32_t count = 0, queued = 0;
    double all = 0, left = 0;
    char where[64] = "";
    for (uint32_t i = 0; i < r->tasks.len; i++) {
        const struct sweep_task *t = &r->tasks.data[i];
        double seconds = sweep_task_seconds(r, t);
        if (t->had) continue;
        all += seconds;
        if (t->state != TASK_DONE && t->state != TASK_FAILED) left += seconds;
        if (t->state != TASK_RUNNING) continue;
        if (t->start <= 0) {
            queued++;
            continue;
        }
        left -= MIN(now - t->start, 0.95 * seconds);
        if (count < SHOWN_MAX)
            workers[count++] =
                (struct bar_worker){t->job->workload->name, t->job->size, t->column, now - t->start, seconds};
    }
    if (queued) snprintf(where, sizeof where, "%u in the queue", queued);
    sweep_count(r);
    struct bar_view v = {.all = r->tasks.len,
                         .done = r->count[TASK_DONE] + r->count[TASK_FAILED],
                         .failed = r->count[TASK_FAILED],
                         .elsewhere = r->count[TASK_ELSEWHERE],
                         .share = all > 0 ? 1 - left / all : 1,
                         .elapsed = now - r->start,
                         .left = sweep_seconds_left(r, now),
                         .where = where};
    if (bar_due(&r->bar, &v, now)) bar_draw(&r->bar, &v, workers, count, now);
}

void sweep_keep(struct sweep_run *r)
{
    double now = host_now();
    if (now - r->held_at >= r->lease_seconds / 4.0) {
        hold_leases(r);
        r->held_at = now;
    }
    if (now - r->looked_at >= LOOK_SECONDS) {
        for (uint32_t i = 0; i < r->tasks.len; i++)
            if (r->tasks.data[i].state == TASK_ELSEWHERE) look_up(r, &r->tasks.data[i], false);
        r->looked_at = now;
    }
    show(r, now);
}

void sweep_end_task(struct sweep_run *r, struct sweep_task *t)
{
    assert(t->state == TASK_RUNNING); /* its lease is ours */
    int status = 0, taken = 0, lock = sweep_lock(r->o->folder);
    if (lock >= 0) {
        taken = sweep_take_end(r->store, t->job, r->o->folder, &status, &t->seconds);
        close(lock);
    }
    if (lock < 0 || taken < 0) {
        r->broken = true; /* KEY.end stays: the next sweep takes it */
        return;
    }
    look_up(r, t, false);
    t->made = true; /* also if another sweep of this folder has gathered it */
    if (taken && t->state == TASK_DONE) {
        r->work_done += t->work;
        r->seconds_done += t->seconds;
        if (r->seconds_done > 0) r->rate = r->work_done / r->seconds_done;
    }
}

/* Marks the runs that the store has at the start. A failed run counts as done, unless failed runs are to be
 * made again. */
static void look_at_store(struct sweep_run *r)
{
    for (uint32_t i = 0; i < r->tasks.len; i++) {
        struct sweep_task *t = &r->tasks.data[i];
        look_up(r, t, true);
        if (t->state == TASK_FAILED && r->o->again) t->state = TASK_WAITING;
        if (t->state == TASK_WAITING || t->state == TASK_ELSEWHERE) t->had = false;
    }
}

static bool make_folder(const char *folder)
{
    if (!mkdir(folder, 0755) || errno == EEXIST) return true;
    fprintf(stderr, "heddle: error: cannot make the folder %s: %s\n", folder, strerror(errno));
    return false;
}

static void set_who(struct sweep_run *r)
{
    if (r->o->slurm) { /* a head that starts again is the same one to the store: its jobs still run */
        char *path = realpath(r->o->folder, NULL);
        struct strbuf who = {0};
        strbuf_printf(&who, "slurm:%s", path ? path : r->o->folder);
        r->who = who.data;
        free(path);
    }
    r->lease_seconds = r->o->slurm ? LEASE_SLURM_SECONDS : LEASE_SECONDS;
}

static void sum_up(struct sweep_run *r, struct sweep_result *out)
{
    sweep_count(r);
    *out = (struct sweep_result){.failed = r->count[TASK_FAILED], .seconds = host_now() - r->start};
    for (uint32_t i = 0; i < r->tasks.len; i++) {
        const struct sweep_task *t = &r->tasks.data[i];
        out->had += t->had && t->state == TASK_DONE;
        out->made += t->made && t->state == TASK_DONE;
        out->elsewhere += t->state == TASK_ELSEWHERE || (t->state == TASK_DONE && !t->made && !t->had);
    }
    assert(out->had + out->made + out->failed + out->elsewhere <= r->tasks.len); /* each run counts once */
}

bool sweep(struct store *s, const struct plan *plans, uint32_t plan_count, const struct sweep_options *o,
           struct sweep_result *out)
{
    assert(s && o->heddle && o->folder && o->slurm_options);
    struct sweep_run r = {.store = s, .o = o, .start = host_now(), .bar = {.is_terminal = o->is_terminal}};
    uint32_t gathered;
    *out = (struct sweep_result){0};
    if (!make_folder(o->folder) || !sweep_gather(s, plans, plan_count, o->folder, &gathered)) return false;
    set_who(&r);
    r.workers = o->workers ? o->workers : host_cores();
    sweep_tasks_make(&r, plans, plan_count);
    look_at_store(&r);
    sweep_count(&r);
    bool ok = true;
    if (r.count[TASK_WAITING] + r.count[TASK_ELSEWHERE]) ok = o->slurm ? sweep_slurm(&r) : sweep_local(&r);
    bar_clear(&r.bar);
    sum_up(&r, out);
    sweep_tasks_free(&r);
    free(r.who);
    return ok && !r.broken;
}
