/* slurm_task.c: what a task of a job array does on its node. The store is not touched: the folder may be
 * on a network's file system, where SQLite's files are not safe. */
#include "lab/slurm.h"

#include "lab/sweep_impl.h"

#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <unistd.h>

/* Line `index` (from 1) of a file, without its end; NULL: no such file or line. To be freed. */
static char *read_line(const char *path, unsigned long index)
{
    assert(index);
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    ssize_t n = -1;
    for (unsigned long i = 0; f && i < index; i++)
        if ((n = getline(&line, &cap, f)) < 0) break;
    if (f) fclose(f);
    if (n < 0) {
        free(line);
        return NULL;
    }
    if (n && line[n - 1] == '\n') line[n - 1] = 0;
    return line;
}

/* Was it Slurm that ended the run? A task that is cancelled or out of time has its processes ended one
 * after the other, perhaps the run first: that is not a result of the run. When the kernel took the run for
 * its memory, this process stays. */
static bool is_slurms_end(const struct lab_child_end *end)
{
    enum { FROM_SIGNAL = 128, WAIT_SECONDS = 2 };
    int signal = end->status - FROM_SIGNAL;
    if (signal == SIGKILL) sleep(WAIT_SECONDS);
    return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGXCPU;
}

static int make_run(const char *folder, const char *key, const char *part, const char *const *argv)
{
    struct strbuf log = {0};
    struct lab_child child;
    struct lab_child_end end = {0};
    sweep_path(&log, folder, key, ".log");
    bool ok = child_start(&child, argv, strbuf_text(&log));
    if (ok) {
        while (!child_poll(&child, &end)) child_pause(1);
        if (is_slurms_end(&end)) {
            fprintf(stderr, "heddle: error: %s: the run was ended by signal %d\n", key, end.status - 128);
            strbuf_free(&log);
            return 1; /* the head submits it again */
        }
        ok = sweep_write_end(folder, key, part, &end);
    }
    if (!ok) fprintf(stderr, "heddle: error: %s: %s\n", key, strerror(errno));
    strbuf_free(&log);
    return ok ? 0 : 1;
}

int slurm_task(const char *list)
{
    const char *id = getenv("SLURM_ARRAY_TASK_ID");
    unsigned long index = id ? strtoul(id, NULL, 10) : 0;
    char *line = index ? read_line(list, index) : NULL, *save = NULL;
    if (!line) {
        fprintf(stderr,
                "heddle: error: no run for task '%s' in %s\n  hint: --task is what the jobs of `heddle sweep "
                "--slurm` start\n",
                id ? id : "", list);
        return 2;
    }
    VEC(const char *) words = {0};
    for (char *w = strtok_r(line, "\t", &save); w; w = strtok_r(NULL, "\t", &save)) vec_push(&words, w);
    vec_push(&words, NULL);
    char *copy = mem_strdup(list);
    int status = 2;
    if (words.len >= 4 && strlen(words.data[0]) == JOB_KEY_CHARS)
        status = make_run(dirname(copy), words.data[0], words.data[1], words.data + 2);
    else
        fprintf(stderr, "heddle: error: %s: line %lu does not name a run\n", list, index);
    free(copy);
    vec_free(&words);
    free(line);
    return status;
}
