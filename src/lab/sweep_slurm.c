/* sweep_slurm.c: the runs on a cluster. This process, the head, submits job arrays, looks into the folder
 * for what their tasks left, and asks Slurm what became of the others.
 *
 * (1) Every array is recorded in slurm.jobs before sbatch is called, and its name is its token: a head that
 * is killed at any moment finds it again, and submits nothing twice. Several heads may share a folder. (2) A
 * run is over when its KEY.end is in the store, whatever Slurm says. Only a task that Slurm has given up
 * without one is submitted again, SUBMITS_MAX times in all. (3) A file may be seen late on a network's file
 * system: a task that came to its end has GRACE_SECONDS for it. */
#include "lab/slurm_head.h"

#include <unistd.h>

enum { SUBMITS_MAX = 4 };
#define PAUSE_SECONDS  0.25
#define LOOK_SECONDS   1.0 /* into the folder */
#define ASK_MIN        1.0 /* Slurm; less and less often as time goes by */
#define ASK_MAX        15.0
#define GRACE_SECONDS  60.0
#define REFUSE_SECONDS 60.0 /* until a refused submission is tried again */

PRINTF_LIKE(2, 3) static void say(struct slurm_head *h, const char *fmt, ...)
{
    va_list ap;
    bar_clear(&h->r->bar);
    va_start(ap, fmt);
    fputs("heddle: ", stderr);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
}

static bool submit(struct slurm_head *h)
{
    struct sweep_run *r = h->r;
    sweep_count(r);
    if (!r->count[TASK_WAITING]) return true;
    if (h->refused_at > 0 && host_now() - h->refused_at < REFUSE_SECONDS) return true;
    int lock = sweep_lock(r->o->folder);
    if (lock < 0) return false;
    char *error = NULL;
    bool ok = slurm_submit_all(h, &error);
    close(lock);
    h->refused_at = 0;
    if (!ok) {
        sweep_count(r);
        h->refused_at = host_now();
        say(h, "%s: sbatch: %s\n", r->count[TASK_RUNNING] ? "warning" : "error", error ? error : "failed");
        if (r->count[TASK_RUNNING])
            ok = true; /* a limit on jobs, perhaps: when some have ended there is room */
    }
    free(error);
    return ok;
}

/* ---- what became of them ---- */

static void look_into_folder(struct slurm_head *h)
{
    struct map ends = {0};
    sweep_find_ends(h->r->o->folder, &ends);
    for (uint32_t i = 0; i < ends.entries.len && !h->r->broken; i++) {
        struct sweep_task *t = map_get(&h->r->by_key, ends.entries.data[i].key);
        if (t && t->state == TASK_RUNNING) sweep_end_task(h->r, t);
    }
    map_free(&ends);
}

/* The reason goes where a run's own error would be, with what its script printed. */
static void fail(struct slurm_head *h, struct sweep_task *t, const char *why)
{
    const struct slurm_array *a = &h->arrays.items.data[t->array];
    const char *folder = h->r->o->folder;
    struct strbuf path = {0};
    char suffix[32], line[512];
    snprintf(suffix, sizeof suffix, "-%u.out", t->index);
    slurm_path(&path, folder, a->token, suffix);
    sweep_append_log(folder, t->job->key, "heddle: error: Slurm: task %s_%u: %s; submitted %u times\n",
                     a->job, t->index, why, t->tries);
    FILE *f = fopen(strbuf_text(&path), "r");
    while (f && fgets(line, sizeof line, f)) sweep_append_log(folder, t->job->key, "%s", line);
    if (f) fclose(f);
    strbuf_free(&path);
    struct lab_child_end end = {.status = 1};
    if (sweep_write_end(folder, t->job->key, "", &end))
        sweep_end_task(h->r, t);
    else
        h->r->broken = true;
}

static void lost(struct slurm_head *h, struct sweep_task *t, const char *why)
{
    if (sweep_has_end(h->r->o->folder, t->job->key)) return; /* it will be seen at the next look */
    const struct slurm_array *a = &h->arrays.items.data[t->array];
    if (t->tries >= SUBMITS_MAX) {
        fail(h, t, why);
        return;
    }
    say(h, "%s %s, %s: Slurm task %s_%u: %s; submitting it again\n", t->job->workload->name, t->job->size,
        t->column, a->job, t->index, why);
    t->state = TASK_WAITING;
    t->start = t->missing_since = 0;
}

static void judge(struct slurm_head *h, struct sweep_task *t, double now)
{
    const struct slurm_array *a = &h->arrays.items.data[t->array];
    char name[64];
    slurm_name(a, name);
    const struct slurm_task_state *s = slurm_find(&h->answer, name, t->index);
    switch (s ? s->state : SLURM_GONE) {
    case SLURM_QUEUED: t->start = t->missing_since = 0; return;
    case SLURM_RUNNING:
        if (t->start <= 0) t->start = now;
        t->missing_since = 0;
        return;
    case SLURM_LOST: lost(h, t, s->text); return;
    case SLURM_GONE:
        if (!*a->job) { /* it was recorded, but the head was killed before it called sbatch */
            t->state = TASK_WAITING;
            t->tries--;
            return;
        }
        break;
    case SLURM_ENDED: break;
    }
    if (t->missing_since <= 0) t->missing_since = now;
    if (now - t->missing_since > GRACE_SECONDS)
        lost(h, t, s ? "it ended without a result" : "Slurm does not know it any more");
}

static bool is_alive(const struct slurm_head *h, uint32_t array)
{
    char name[64];
    slurm_name(&h->arrays.items.data[array], name);
    for (uint32_t i = 0; i < h->answer.tasks.len; i++) {
        const struct slurm_task_state *s = &h->answer.tasks.data[i];
        if (!strcmp(s->name, name) && (s->state == SLURM_QUEUED || s->state == SLURM_RUNNING)) return true;
    }
    for (uint32_t i = 0; i < h->r->tasks.len; i++) {
        const struct sweep_task *t = &h->r->tasks.data[i];
        if (t->state == TASK_RUNNING && t->array == array) return true;
    }
    return false;
}

static void retire(struct slurm_head *h)
{
    for (uint32_t i = 0; i < h->arrays.items.len; i++) {
        struct slurm_array *a = &h->arrays.items.data[i];
        if (a->over || is_alive(h, i)) continue;
        int lock = sweep_lock(h->r->o->folder);
        if (lock < 0) return;
        slurm_arrays_drop(a, h->r->o->folder);
        close(lock);
        a->over = true;
    }
}

/* Is one of our tasks missing from squeue? */
static bool misses_some(const struct slurm_head *h)
{
    for (uint32_t i = 0; i < h->r->tasks.len; i++) {
        const struct sweep_task *t = &h->r->tasks.data[i];
        char name[64];
        if (t->state != TASK_RUNNING) continue;
        slurm_name(&h->arrays.items.data[t->array], name);
        if (!slurm_find(&h->answer, name, t->index)) return true;
    }
    return false;
}

static bool ask(struct slurm_head *h)
{
    struct strbuf names = {0};
    char name[64], *error = NULL;
    for (uint32_t i = 0; i < h->arrays.items.len; i++) {
        if (h->arrays.items.data[i].over) continue;
        slurm_name(&h->arrays.items.data[i], name);
        strbuf_printf(&names, "%s%s", names.len ? "," : "", name);
    }
    bool ok = !names.len || slurm_ask(strbuf_text(&names), &h->answer, &error);
    if (ok && names.len && !h->has_no_accounting && misses_some(h))
        h->has_no_accounting = !slurm_ask_accounting(strbuf_text(&names), &h->answer);
    if (!ok && !h->is_silent)
        say(h, "warning: squeue: %s; its jobs are waited for\n", error ? error : "no answer");
    h->is_silent = !ok;
    strbuf_free(&names);
    free(error);
    return ok;
}

static void follow(struct slurm_head *h)
{
    struct sweep_run *r = h->r;
    uint32_t running = 0;
    double now = host_now(), pause = (now - r->start) / 20;
    pause = MIN(MAX(pause, ASK_MIN), ASK_MAX);
    if (now - h->looked_at >= LOOK_SECONDS) {
        look_into_folder(h);
        h->looked_at = now;
    }
    if (now - h->asked_at < pause) return;
    h->asked_at = now;
    if (!ask(h)) return;
    for (uint32_t i = 0; i < r->tasks.len; i++)
        if (r->tasks.data[i].state == TASK_RUNNING) judge(h, &r->tasks.data[i], now);
    for (uint32_t i = 0; i < r->tasks.len; i++)
        running += r->tasks.data[i].state == TASK_RUNNING && r->tasks.data[i].start > 0;
    r->workers = MAX(running, 1u);
    retire(h);
}

static void say_how_to_go_on(struct slurm_head *h)
{
    struct strbuf jobs = {0};
    sweep_count(h->r);
    for (uint32_t i = 0; i < h->arrays.items.len; i++)
        if (!h->arrays.items.data[i].over && is_alive(h, i))
            strbuf_printf(&jobs, " %s", h->arrays.items.data[i].job);
    if (h->r->count[TASK_RUNNING])
        say(h, "%u runs are Slurm's: the same command gathers them; scancel%s ends them\n",
            h->r->count[TASK_RUNNING], strbuf_text(&jobs));
    strbuf_free(&jobs);
}

static bool begin(struct slurm_head *h)
{
    char *error = NULL;
    int lock = sweep_lock(h->r->o->folder);
    if (lock < 0) return false;
    slurm_attach(h);
    close(lock);
    h->array_max = slurm_array_max(&error);
    if (!h->array_max)
        fprintf(stderr,
                "heddle: error: Slurm does not answer: %s\n  hint: --slurm is for a machine with Slurm's "
                "commands; without it the runs are made here\n",
                error ? error : "");
    free(error);
    return h->array_max > 0;
}

bool sweep_slurm(struct sweep_run *r)
{
    struct slurm_head h = {.r = r};
    bool ok = begin(&h);
    while (ok && !r->broken) {
        ok = submit(&h);
        sweep_count(r);
        if (!r->count[TASK_RUNNING] && !r->count[TASK_ELSEWHERE] && !r->count[TASK_WAITING]) break;
        if (*r->o->stop || r->o->slurm == SWEEP_SLURM_DETACH) {
            say_how_to_go_on(&h);
            break;
        }
        sweep_keep(r);
        child_pause(PAUSE_SECONDS);
        follow(&h);
    }
    if (ok && !*r->o->stop && r->o->slurm != SWEEP_SLURM_DETACH && ask(&h)) retire(&h);
    slurm_arrays_free(&h.arrays);
    vec_free(&h.answer.tasks);
    return ok;
}
