/* runner.c: child processes, a bounded number at a time. */
#include "lab/runner.h"

#include "base/hash.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct slot {
    pid_t pid;
    uint32_t run;
    double start;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void run_words(const struct lab_run *r, struct strbuf *out)
{
    strbuf_printf(out, "%s %s %s", r->workload, r->size, r->machine);
    for (uint32_t i = 0; r->sets[i]; i++) strbuf_printf(out, " %s", r->sets[i]);
}

/* Names tell what is in a file; the hash keeps runs with long lists of settings apart. */
static void run_paths(const struct lab_runner *lab, struct lab_run *r)
{
    struct strbuf words = {0}, path = {0};
    run_words(r, &words);
    strbuf_printf(&path, "%s/%s-%s-%s-%08x.json", lab->folder, r->workload, r->size, r->machine,
                  (unsigned)hash_text(strbuf_text(&words)));
    for (char *c = path.data + strlen(lab->folder) + 1; *c; c++)
        if (*c == '/') *c = '_'; /* a machine named by its path */
    r->stats = mem_strdup(strbuf_text(&path));
    strbuf_puts(&path, ".log");
    r->log = mem_strdup(strbuf_text(&path));
    r->status = -1;
    strbuf_free(&words);
    strbuf_free(&path);
}

static bool newer(const struct stat *a, const char *than)
{
    struct stat b;
    if (stat(than, &b)) return true;
    return a->st_mtim.tv_sec > b.st_mtim.tv_sec ||
           (a->st_mtim.tv_sec == b.st_mtim.tv_sec && a->st_mtim.tv_nsec > b.st_mtim.tv_nsec);
}

static bool is_current(const struct lab_runner *lab, const struct lab_run *r)
{
    struct stat st;
    if (!lab->reuse || stat(r->stats, &st)) return false;
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", lab->programs, r->workload);
    bool current = newer(&st, strbuf_text(&path));
    path.len = 0;
    strbuf_printf(&path, "%s/../../lib/libheddle.so", lab->programs);
    current = current && newer(&st, strbuf_text(&path));
    strbuf_free(&path);
    return current;
}

_Noreturn static void child(const struct lab_runner *lab, const struct lab_run *r, const char *partial)
{
    VEC(char *) argv = {0};
    const char *const fixed[] = {lab->heddle, "run",      r->workload, "--size", r->size,
                                 "-m",        r->machine, "--stats",   partial};
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) vec_push(&argv, (char *)fixed[i]);
    for (uint32_t i = 0; r->sets[i]; i++) {
        vec_push(&argv, (char *)"--set");
        vec_push(&argv, (char *)r->sets[i]);
    }
    vec_push(&argv, NULL);
    int log = open(r->log, O_WRONLY | O_CREAT | O_TRUNC, 0644), null = open("/dev/null", O_RDONLY);
    if (log < 0 || null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0) _exit(127);
    execv(lab->heddle, argv.data);
    _exit(127);
}

static void partial_path(const struct lab_run *r, struct strbuf *out)
{
    size_t n = strlen(r->stats) - strlen(".json");
    strbuf_add(out, r->stats, n);
    strbuf_puts(out, ".partial.json");
}

static bool start(const struct lab_runner *lab, struct lab_run *r, struct slot *s, uint32_t index)
{
    struct strbuf partial = {0};
    partial_path(r, &partial);
    *s = (struct slot){.run = index, .start = now(), .pid = fork()};
    if (s->pid == 0) child(lab, r, strbuf_text(&partial));
    strbuf_free(&partial);
    return s->pid > 0;
}

/* A file has its final name only when its run ended well: a killed run leaves nothing that looks like a result. */
static void finish(struct lab_run *r, const struct slot *s, int wait_status)
{
    struct strbuf partial = {0};
    partial_path(r, &partial);
    r->seconds = now() - s->start;
    r->status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
    if (r->status == 0 && rename(strbuf_text(&partial), r->stats)) r->status = 1;
    if (r->status) unlink(strbuf_text(&partial));
    strbuf_free(&partial);
}

/* The first equal run, or itself. */
static uint32_t twin_of(const struct lab_run *runs, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (!strcmp(runs[k].stats, runs[i].stats)) return k;
    return i;
}

static bool wait_one(const struct lab_runner *lab, struct lab_run *runs, uint32_t count, struct slot *slots,
                     uint32_t *busy, uint32_t *done)
{
    int status;
    pid_t pid = wait(&status);
    if (pid < 0) return false;
    for (uint32_t i = 0; i < *busy; i++) {
        if (slots[i].pid != pid) continue;
        struct lab_run *r = &runs[slots[i].run];
        finish(r, &slots[i], status);
        slots[i] = slots[--*busy];
        if (lab->progress) lab->progress(lab->context, ++*done, count, r);
    }
    return true;
}

bool lab_run_all(const struct lab_runner *lab, struct lab_run *runs, uint32_t count)
{
    if (mkdir(lab->folder, 0755) && errno != EEXIST) return false;
    uint32_t jobs = MAX(lab->jobs, 1u), busy = 0, done = 0;
    struct slot *slots = mem_alloc(jobs * sizeof *slots);
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) run_paths(lab, &runs[i]);
    for (uint32_t i = 0; i < count && ok; i++) {
        if (twin_of(runs, i) != i || (runs[i].reused = is_current(lab, &runs[i]))) {
            runs[i].status = 0;
            if (lab->progress) lab->progress(lab->context, ++done, count, &runs[i]);
            continue;
        }
        while (ok && busy == jobs) ok = wait_one(lab, runs, count, slots, &busy, &done);
        ok = ok && start(lab, &runs[i], &slots[busy], i);
        busy += ok;
    }
    while (busy && wait_one(lab, runs, count, slots, &busy, &done)) {}
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = twin_of(runs, i);
        runs[i].status = runs[k].status;
    }
    free(slots);
    return ok;
}

void lab_run_free(struct lab_run *runs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(runs[i].stats);
        free(runs[i].log);
    }
}
