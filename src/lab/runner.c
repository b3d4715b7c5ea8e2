/* runner.c: child processes, a bounded number at a time. */
#include "lab/runner.h"

#include "base/hash.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "lab/child.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

struct slot {
    struct lab_child child;
    uint32_t run;
};

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

static void partial_path(const struct lab_run *r, struct strbuf *out)
{
    int n = (int)(strlen(r->stats) - strlen(".json"));
    strbuf_printf(out, "%.*s.partial.json", n, r->stats);
}

static bool start(const struct lab_runner *lab, struct lab_run *r, struct slot *s, uint32_t index)
{
    struct strbuf partial = {0};
    VEC(const char *) argv = {0};
    partial_path(r, &partial);
    const char *const fixed[] = {lab->heddle, "run",     r->workload,          "--size", r->size, "-m",
                                 r->machine,  "--stats", strbuf_text(&partial)};
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) vec_push(&argv, fixed[i]);
    for (uint32_t i = 0; r->sets[i]; i++) {
        vec_push(&argv, "--set");
        vec_push(&argv, r->sets[i]);
    }
    vec_push(&argv, NULL);
    s->run = index;
    bool ok = child_start(&s->child, argv.data, r->log);
    vec_free(&argv);
    strbuf_free(&partial);
    return ok;
}

/* A file has its final name only when its run ended well: a killed run leaves nothing that looks like a result. */
static void finish(struct lab_run *r, const struct lab_child_end *end)
{
    struct strbuf partial = {0};
    partial_path(r, &partial);
    r->seconds = end->seconds;
    r->status = end->status;
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

/* Until one has ended at least. */
static void wait_some(const struct lab_runner *lab, struct lab_run *runs, uint32_t count, struct slot *slots,
                      uint32_t *busy, uint32_t *done)
{
    uint32_t before = *busy;
    while (*busy == before) {
        for (uint32_t i = *busy; i-- > 0;) {
            struct lab_child_end end;
            if (!child_poll(&slots[i].child, &end)) continue;
            struct lab_run *r = &runs[slots[i].run];
            finish(r, &end);
            slots[i] = slots[--*busy];
            if (lab->progress) lab->progress(lab->context, ++*done, count, r);
        }
        if (*busy == before) child_pause(1);
    }
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
        if (busy == jobs) wait_some(lab, runs, count, slots, &busy, &done);
        ok = start(lab, &runs[i], &slots[busy], i);
        busy += ok;
    }
    while (busy) wait_some(lab, runs, count, slots, &busy, &done);
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
