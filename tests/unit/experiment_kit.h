/* experiment_kit.h: experiments in a folder of their own, three workloads, and a store that is a table of
 * numbers. */
#ifndef HEDDLE_EXPERIMENT_KIT_H
#define HEDDLE_EXPERIMENT_KIT_H

#include "base/hash.h"
#include "lab/figure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- files ---- */

static char kit_folder[64];
static struct workload_set kit_workloads;

static void kit_write(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", kit_folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const char kit_claims[] = "# id\tpaper\twhere\tmetric\tbaseline\tsystem\tvalue\tnote\n"
                                 "t.fast\tthesis\tFig 1\tIPC gain, mean\tbase\tfast\t0.5\ta note\n"
                                 "t.slow\tthesis\tFig 1\tIPC gain, mean\tbase\tslow\t-0.2\n"
                                 "t.near\tthesis\tFig 1\tIPC gain, mean\tbase\tnear\t0.505\n"
                                 "t.fast.red\tthesis\tFig 1\tIPC gain, red\tbase\tfast\t0.8\n";

static void kit_workload(const char *name, const char *papers)
{
    char path[128], text[512];
    snprintf(path, sizeof path, "workloads/%s.yaml", name);
    snprintf(text, sizeof text,
             "name: %s\nsuite: Kit\nsizes: {tiny: {}, small: {}, large: {}}\npapers: {%s}\n", name, papers);
    kit_write(path, text);
    struct diag_list diags = {0};
    snprintf(path, sizeof path, "%s/workloads/%s.yaml", kit_folder, name);
    assert_non_null(workload_load_file(&kit_workloads, path, "/bin", &diags));
}

static int kit_setup(void **state)
{
    char path[128];
    snprintf(kit_folder, sizeof kit_folder, "/tmp/heddle-experiment-XXXXXX");
    if (!mkdtemp(kit_folder)) return -1;
    snprintf(path, sizeof path, "%s/workloads", kit_folder);
    mkdir(path, 0755);
    kit_write("claims.tsv", kit_claims);
    kit_workload("blue", "kit: {as: BL, class: S, gain: 1.5}");
    kit_workload("green",
                 "kit: {class: I, gain: 2.5, loads: [[0.5, 0.1, 0.9, 128, 0.7], [0.3, 1, 1, -64, 0.2]]}");
    kit_workload("red", "other: {}");
    return 0;
}

static int kit_teardown(void **state)
{
    char command[128];
    workloads_free(&kit_workloads);
    snprintf(command, sizeof command, "rm -r %s", kit_folder);
    return system(command);
}

static bool kit_load(struct experiment *e, const char *text, struct diag_list *diags)
{
    char path[128];
    kit_write("test.yaml", text);
    snprintf(path, sizeof path, "%s/test.yaml", kit_folder);
    return experiment_load(e, path, &kit_workloads, diags);
}

/* An experiment that must be right. */
static void kit_need(struct experiment *e, const char *text)
{
    struct diag_list diags = {0};
    if (kit_load(e, text, &diags)) return;
    struct strbuf out = {0};
    diag_render(&diags, &out);
    fail_msg("%s", strbuf_text(&out));
}

/* ---- jobs and a store: links instead of the real ones ---- */

/* A job's key is a hash of what it says. */
bool job_seal(struct lab_job *job, struct diag_list *diags)
{
    struct strbuf s = {0};
    strbuf_printf(&s, "%s %s %s", job->workload->name, job->size, job->run.machine);
    for (const char *const *t = job->run.sets; *t; t++) strbuf_printf(&s, " %s", *t);
    for (const char *const *t = job->run.mechs; *t; t++) strbuf_printf(&s, " +%s", *t);
    for (const char *const *t = job->run.mech_sets; *t; t++) strbuf_printf(&s, " %s", *t);
    snprintf(job->key, sizeof job->key, "%016llx%016llx", (unsigned long long)hash_text(strbuf_text(&s)),
             (unsigned long long)s.len);
    strbuf_free(&s);
    return true;
}

struct kit_number {
    char key[JOB_KEY_CHARS + 1];
    const char *name;
    double value;
};
struct store {
    struct kit_number numbers[256];
    uint32_t count;
    const char *error;
};

const char *store_error(const struct store *s) { return s->error; }

/* A run whose number has the name "failed" did. */
enum store_state store_state(struct store *s, const char *key)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!strcmp(s->numbers[i].key, key))
            return strcmp(s->numbers[i].name, "failed") != 0 ? STORE_DONE : STORE_FAILED;
    return STORE_ABSENT;
}

double store_stat(struct store *s, const char *key, const char *name)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!strcmp(s->numbers[i].key, key) && !strcmp(s->numbers[i].name, name)) return s->numbers[i].value;
    return NAN;
}

/* A launch's number is that of the run by the name "kernel(3).cycles"; launch 2 of `even` is number 4. */
double store_kernel_stat(struct store *s, const char *key, uint64_t launch, const char *name)
{
    char whole[128];
    snprintf(whole, sizeof whole, "kernel(%llu).%s", (unsigned long long)launch, name);
    return store_stat(s, key, whole);
}

uint64_t store_kernel_launch(struct store *s, const char *key, const char *kernel, uint32_t nth)
{
    return !strcmp(kernel, "even") ? 2 * nth : !strcmp(kernel, "odd") ? 2 * nth - 1 : 0;
}

/* As many as the run's number "launches" says. */
bool store_kernels(struct store *s, const char *key, store_launch tell, void *context)
{
    const double count = store_stat(s, key, "launches");
    for (uint64_t i = 1; i <= count; i++) tell(context, i, i % 2 ? "odd" : "even");
    return true;
}

static inline uint32_t kit_workload_at(const struct experiment *e, const char *name)
{
    for (uint32_t i = 0; i < e->workload_count; i++)
        if (!strcmp(e->workloads[i]->name, name)) return i;
    fail_msg("no workload %s", name);
    return 0;
}

static inline uint32_t kit_column(const struct experiment *e, const char *name)
{
    for (uint32_t i = 0; i < e->column_count; i++)
        if (!strcmp(e->columns[i].name, name)) return i;
    fail_msg("no column %s", name);
    return 0;
}

/* What the run of a workload and a column left behind. */
static inline void kit_put(struct store *s, const struct plan *p, const char *workload, const char *column,
                           const char *name, double value)
{
    const struct experiment *e = p->experiment;
    uint32_t job = p->cell[kit_workload_at(e, workload) * e->column_count + kit_column(e, column)];
    struct kit_number *n = &s->numbers[s->count++];
    memcpy(n->key, p->jobs[job].key, sizeof n->key);
    n->name = name;
    n->value = value;
}

#endif
