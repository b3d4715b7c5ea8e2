/* slurm_submit.c: from waiting tasks to job arrays, each recorded in slurm.jobs before sbatch is called. */
#include "base/output.h"
#include "lab/slurm_head.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

static bool is_open(const struct sweep_task *t) { return t->state != TASK_DONE && t->state != TASK_FAILED; }

/* Takes tasks of arrays that this process does not know: of an earlier process of this sweep, or of another
 * head. If several arrays have a run, the newest counts. */
void slurm_attach(struct slurm_head *h)
{
    slurm_arrays_read(&h->arrays, h->r->o->folder);
    for (; h->attached < h->arrays.items.len; h->attached++) {
        const struct slurm_array *a = &h->arrays.items.data[h->attached];
        for (uint32_t i = 0; i < a->keys.len; i++) {
            struct sweep_task *t = map_get(&h->r->by_key, a->keys.data[i]);
            if (!t || !is_open(t)) continue;
            if (t->state != TASK_RUNNING && !sweep_claim(h->r, t)) continue;
            t->array = h->attached;
            t->index = i + 1;
            t->start = t->missing_since = 0;
            t->tries++;
        }
    }
}

static void new_token(struct slurm_head *h, char out[48])
{
    time_t now = time(NULL);
    struct tm tm;
    localtime_r(&now, &tm);
    size_t n = strftime(out, 24, "%Y%m%d-%H%M%S", &tm);
    snprintf(out + n, 48 - n, "-%ld-%u", (long)getpid(), h->made++);
}

static bool add_task_line(FILE *f, const struct slurm_head *h, const struct sweep_task *t, const char *token)
{
    struct strbuf part = {0}, suffix = {0};
    const struct sweep_options *o = h->r->o;
    strbuf_printf(&suffix, ".%s.part.json", token);
    sweep_path(&part, o->folder, t->job->key, strbuf_text(&suffix));
    struct arena words = {0};
    const char **argv = job_argv(t->job, o->heddle, strbuf_text(&part), &words);
    bool ok = fprintf(f, "%s\t%s", t->job->key, strbuf_text(&part)) > 0;
    for (uint32_t i = 0; argv[i] && ok; i++)
        ok = !strpbrk(argv[i], "\t\n") && fprintf(f, "\t%s", argv[i]) > 0;
    ok = fputc('\n', f) != EOF && ok;
    arena_free(&words);
    strbuf_free(&part);
    strbuf_free(&suffix);
    return ok;
}

/* 'text', for a shell */
static void put_quoted(FILE *f, const char *text)
{
    fputc('\'', f);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", f);
        else
            fputc(*text, f);
    fputc('\'', f);
}

static bool write_list(const struct slurm_head *h, struct sweep_task *const *tasks, uint32_t count,
                       const char *token, const char *path)
{
    struct output out;
    bool ok = output_open(&out, path);
    for (uint32_t i = 0; i < count && ok; i++) {
        ok = add_task_line(out.file, h, tasks[i], token);
        if (!ok) output_drop(&out);
    }
    return ok && output_close(&out);
}

static bool write_script(const char *heddle, const char *list, const char *path)
{
    struct output out;
    if (!output_open(&out, path)) return false;
    fputs("#!/bin/sh\n# Written by `heddle sweep --slurm`: task N makes the run of line N of the "
          "list.\nexec ",
          out.file);
    put_quoted(out.file, heddle);
    fputs(" sweep --task ", out.file);
    put_quoted(out.file, list);
    fputc('\n', out.file);
    return output_close(&out);
}

static bool write_files(const struct slurm_head *h, struct sweep_task *const *tasks, uint32_t count,
                        const char *token)
{
    struct strbuf list = {0}, script = {0};
    const struct sweep_options *o = h->r->o;
    slurm_path(&list, o->folder, token, ".list");
    slurm_path(&script, o->folder, token, ".sh");
    bool ok = write_list(h, tasks, count, token, strbuf_text(&list)) &&
              write_script(o->heddle, strbuf_text(&list), strbuf_text(&script));
    strbuf_free(&list);
    strbuf_free(&script);
    return ok;
}

/* One array of these tasks, which are ours. */
static bool submit_array(struct slurm_head *h, struct sweep_task *const *tasks, uint32_t count, char **error)
{
    const struct sweep_options *o = h->r->o;
    struct slurm_array a = {0};
    char name[64], job[24];
    uint64_t memory = 0;
    new_token(h, a.token);
    slurm_name(&a, name);
    for (uint32_t i = 0; i < count; i++) {
        memory = MAX(memory, tasks[i]->memory);
        sweep_clear(o->folder, tasks[i]->job->key);
    }
    if (!write_files(h, tasks, count, a.token) || !slurm_arrays_note(o->folder, a.token, "")) {
        *error = mem_strdup(strerror(errno));
        return false;
    }
    struct strbuf script = {0}, output = {0};
    slurm_path(&script, o->folder, a.token, ".sh");
    slurm_path(&output, o->folder, a.token, "-%a.out");
    struct slurm_request q = {.name = name,
                              .script = strbuf_text(&script),
                              .output = strbuf_text(&output),
                              .tasks = count,
                              .at_a_time = o->workers,
                              .memory_bytes = memory,
                              .options = o->slurm_options};
    bool ok = slurm_submit(&q, job, error);
    if (ok)
        slurm_arrays_note(o->folder, a.token, job);
    else
        slurm_arrays_drop(&a, o->folder);
    strbuf_free(&script);
    strbuf_free(&output);
    return ok;
}

static void give_back(struct slurm_head *h, struct sweep_task *const *tasks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        store_give_up(h->r->store, tasks[i]->job->key, h->r->who);
        tasks[i]->state = TASK_WAITING;
    }
}

/* Under the lock: what others have submitted meanwhile is not submitted again. */
bool slurm_submit_all(struct slurm_head *h, char **error)
{
    struct sweep_run *r = h->r;
    VEC(struct sweep_task *) mine = {0};
    bool ok = true;
    slurm_attach(h);
    for (uint32_t i = 0; i < r->tasks.len && !r->broken; i++) {
        struct sweep_task *t = &r->tasks.data[i];
        if (t->state == TASK_WAITING && sweep_claim(r, t)) vec_push(&mine, t);
    }
    for (uint32_t i = 0; i < mine.len; i += h->array_max) {
        uint32_t count = MIN(mine.len - i, h->array_max);
        ok = submit_array(h, mine.data + i, count, error);
        if (!ok) {
            give_back(h, mine.data + i, mine.len - i);
            break;
        }
    }
    slurm_attach(h);
    vec_free(&mine);
    return ok;
}
