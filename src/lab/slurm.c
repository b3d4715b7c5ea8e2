/* slurm.c: Slurm's commands, and their answers. */
#include "lab/slurm.h"

#include "lab/child.h"

#include <ctype.h>

enum slurm_state slurm_state_of(const char *text)
{
    static const struct {
        const char *word;
        enum slurm_state state;
    } known[] = {
        {"PENDING", SLURM_QUEUED},     {"REQUEUED", SLURM_QUEUED},      {"REQUEUE_HOLD", SLURM_QUEUED},
        {"REQUEUE_FED", SLURM_QUEUED}, {"RESV_DEL_HOLD", SLURM_QUEUED}, {"SPECIAL_EXIT", SLURM_QUEUED},
        {"RUNNING", SLURM_RUNNING},    {"CONFIGURING", SLURM_RUNNING},  {"COMPLETING", SLURM_RUNNING},
        {"SUSPENDED", SLURM_RUNNING},  {"STOPPED", SLURM_RUNNING},      {"RESIZING", SLURM_RUNNING},
        {"SIGNALING", SLURM_RUNNING},  {"STAGE_OUT", SLURM_RUNNING},    {"COMPLETED", SLURM_ENDED}};
    size_t n = strcspn(text, " +"); /* "CANCELLED by 1000", "CANCELLED+" */
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strlen(known[i].word) == n && !strncmp(text, known[i].word, n)) return known[i].state;
    return SLURM_LOST;
}

static void trim(char *text)
{
    size_t n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1])) text[--n] = 0;
}

uint32_t slurm_array_max(char **error)
{
    static const char *const argv[] = {"scontrol", "show", "config", NULL};
    char *text, *at;
    unsigned long size = 0;
    int status = child_output(argv, &text);
    if (status == 0 && (at = strstr(text, "MaxArraySize")) && (at = strchr(at, '=')))
        size = strtoul(at + 1, NULL, 10);
    if (size < 2) {
        struct strbuf out = {0};
        trim(text);
        strbuf_printf(&out, "scontrol show config: %s",
                      status == 0 ? "this cluster has no job arrays (MaxArraySize)" : text);
        *error = out.data;
    }
    free(text);
    return size < 2 ? 0 : (uint32_t)(size - 1); /* it bounds the index, which may be 0 */
}

bool slurm_submit(const struct slurm_request *q, char job[24], char **error)
{
    char array[64], memory[48];
    struct strbuf name = {0}, output = {0};
    VEC(const char *) argv = {0};
    snprintf(array, sizeof array, q->at_a_time ? "--array=1-%u%%%u" : "--array=1-%u", q->tasks, q->at_a_time);
    snprintf(memory, sizeof memory, "--mem=%lluM", (unsigned long long)(q->memory_bytes >> 20) + 1);
    strbuf_printf(&name, "--job-name=%s", q->name);
    strbuf_printf(&output, "--output=%s", q->output);
    const char *const fixed[] = {"sbatch", "--parsable", strbuf_text(&name),  array,
                                 memory,   "--ntasks=1", "--cpus-per-task=1", strbuf_text(&output)};
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) vec_push(&argv, fixed[i]);
    for (uint32_t i = 0; q->options[i]; i++) vec_push(&argv, q->options[i]);
    vec_push(&argv, q->script);
    vec_push(&argv, NULL);
    char *text, *line;
    int status = child_output(argv.data, &text);
    trim(text);
    line = strrchr(text, '\n'); /* warnings may come before the number */
    line = line ? line + 1 : text;
    size_t digits = strspn(line, "0123456789");
    bool ok = status == 0 && digits && digits < 24;
    if (ok)
        snprintf(job, 24, "%.*s", (int)digits, line);
    else
        *error = mem_strdup(text);
    free(text);
    vec_free(&argv);
    strbuf_free(&name);
    strbuf_free(&output);
    return ok;
}

const struct slurm_task_state *slurm_find(const struct slurm_answer *a, const char *name, unsigned long index)
{
    for (uint32_t i = 0; i < a->tasks.len; i++)
        if (a->tasks.data[i].index == index && !strcmp(a->tasks.data[i].name, name)) return &a->tasks.data[i];
    return NULL;
}

/* "name|job|index|STATE"; sacct: "name|job_index|STATE". States from squeue are kept. */
static void read_answer(char *text, struct slurm_answer *out, bool is_sacct)
{
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        struct slurm_task_state t = {0};
        int n = is_sacct ? sscanf(line, "%63[^|]|%lu_%lu|%31[^|]", t.name, &t.job, &t.index, t.text)
                         : sscanf(line, "%63[^|]|%lu|%lu|%31[^|]", t.name, &t.job, &t.index, t.text);
        if (n != 4) continue;
        t.state = slurm_state_of(t.text);
        if (!slurm_find(out, t.name, t.index)) vec_push(&out->tasks, t);
    }
}

bool slurm_ask(const char *names, struct slurm_answer *out, char **error)
{
    struct strbuf filter = {0};
    char *text;
    out->tasks.len = 0;
    strbuf_printf(&filter, "--name=%s", names);
    const char *const argv[] = {
        "squeue", "--noheader", "--array", "--states=all", strbuf_text(&filter), "--format=%j|%F|%K|%T",
        NULL};
    bool ok = child_output(argv, &text) == 0;
    strbuf_free(&filter);
    if (ok) {
        read_answer(text, out, false);
        free(text);
    } else {
        trim(text);
        *error = text;
    }
    return ok;
}

bool slurm_ask_accounting(const char *names, struct slurm_answer *out)
{
    struct strbuf filter = {0};
    char *text;
    strbuf_printf(&filter, "--name=%s", names);
    /* sacct begins at midnight by default */
    const char *const argv[] = {"sacct",
                                "--noheader",
                                "--parsable2",
                                "--allocations",
                                "--starttime=now-30days",
                                strbuf_text(&filter),
                                "--format=JobName,JobID,State",
                                NULL};
    bool ok = child_output(argv, &text) == 0;
    if (ok) read_answer(text, out, true);
    free(text);
    strbuf_free(&filter);
    return ok;
}
