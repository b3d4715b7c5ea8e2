/* slurm_files.c: slurm.jobs and the files of each array. */
#include "lab/slurm_files.h"

#include "base/output.h"

#include <errno.h>
#include <unistd.h>

void slurm_path(struct strbuf *out, const char *folder, const char *token, const char *suffix)
{
    out->len = 0;
    strbuf_printf(out, "%s/slurm-%s%s", folder, token, suffix);
}

void slurm_name(const struct slurm_array *a, char out[64]) { snprintf(out, 64, "heddle-%s", a->token); }

void slurm_arrays_free(struct slurm_arrays *a)
{
    for (uint32_t i = 0; i < a->items.len; i++) {
        struct slurm_array *s = &a->items.data[i];
        for (uint32_t k = 0; k < s->keys.len; k++) free(s->keys.data[k]);
        vec_free(&s->keys);
    }
    vec_free(&a->items);
}

static void read_keys(struct slurm_array *a, const char *folder)
{
    struct strbuf path = {0};
    slurm_path(&path, folder, a->token, ".list");
    FILE *f = fopen(strbuf_text(&path), "r");
    char *line = NULL;
    size_t cap = 0;
    while (f && getline(&line, &cap, f) >= 0) {
        line[strcspn(line, "\t\n")] = 0;
        vec_push(&a->keys, mem_strdup(line));
    }
    free(line);
    if (f) fclose(f);
    strbuf_free(&path);
}

static struct slurm_array *find(struct slurm_arrays *a, const char *token)
{
    for (uint32_t i = 0; i < a->items.len; i++)
        if (!strcmp(a->items.data[i].token, token)) return &a->items.data[i];
    return NULL;
}

static FILE *open_jobs(const char *folder, const char *mode)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/slurm.jobs", folder);
    FILE *f = fopen(strbuf_text(&path), mode);
    strbuf_free(&path);
    return f;
}

void slurm_arrays_read(struct slurm_arrays *a, const char *folder)
{
    FILE *f = open_jobs(folder, "r");
    char token[48], job[24];
    while (f && fscanf(f, "%47s %23s", token, job) == 2) {
        struct slurm_array *s = find(a, token);
        if (!s) {
            struct slurm_array made = {0};
            snprintf(made.token, sizeof made.token, "%s", token);
            read_keys(&made, folder);
            vec_push(&a->items, made);
            s = &a->items.data[a->items.len - 1];
        }
        snprintf(s->job, sizeof s->job, "%s", strcmp(job, "-") ? job : "");
    }
    if (f) fclose(f);
}

bool slurm_arrays_note(const char *folder, const char *token, const char *job)
{
    FILE *f = open_jobs(folder, "a");
    if (!f) return false;
    bool ok = fprintf(f, "%s %s\n", token, *job ? job : "-") > 0;
    ok = !fflush(f) && !fsync(fileno(f)) && ok;
    return !fclose(f) && ok;
}

static void remove_files(const struct slurm_array *a, const char *folder)
{
    struct strbuf path = {0};
    char suffix[32];
    for (uint32_t i = 1; i <= a->keys.len; i++) {
        snprintf(suffix, sizeof suffix, "-%u.out", i);
        slurm_path(&path, folder, a->token, suffix);
        unlink(strbuf_text(&path));
    }
    slurm_path(&path, folder, a->token, ".sh");
    unlink(strbuf_text(&path));
    slurm_path(&path, folder, a->token, ".list");
    unlink(strbuf_text(&path));
    strbuf_free(&path);
}

void slurm_arrays_drop(const struct slurm_array *a, const char *folder)
{
    struct strbuf path = {0}, rest = {0};
    FILE *in = open_jobs(folder, "r");
    char token[48], job[24];
    strbuf_printf(&path, "%s/slurm.jobs", folder);
    while (in && fscanf(in, "%47s %23s", token, job) == 2)
        if (strcmp(token, a->token)) strbuf_printf(&rest, "%s %s\n", token, job);
    bool ok = in && !ferror(in);
    if (in) fclose(in);
    if (ok && (rest.len ? output_text(strbuf_text(&path), &rest) : !unlink(strbuf_text(&path))))
        remove_files(a, folder);
    strbuf_free(&path);
    strbuf_free(&rest);
}
