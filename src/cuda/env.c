/* env.c: reads the HEDDLE_* variables. */
#include "cuda/env.h"

#include "base/vec.h"

static const char *env_text(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

static void split_lines(struct gpu_env *e, const char *lines)
{
    VEC(const char *) items = {0};
    e->text = mem_strdup(lines);
    char *save = NULL;
    for (char *line = strtok_r(e->text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (*line) vec_push(&items, line);
    e->overrides = items.data;
    e->override_count = items.len;
}

bool env_read(struct gpu_env *out, const char **error)
{
    *out = (struct gpu_env){.machine = env_text("HEDDLE_MACHINE"), .stats_path = env_text("HEDDLE_STATS")};
    if (!out->machine) out->machine = "maxwell";
    const char *quiet = env_text("HEDDLE_QUIET"), *set = env_text("HEDDLE_SET"),
               *regs = env_text("HEDDLE_MAXRREGCOUNT");
    out->quiet = quiet && strcmp(quiet, "0") != 0;
    if (set) split_lines(out, set);
    if (regs) {
        char *end = NULL;
        unsigned long n = strtoul(regs, &end, 10);
        if (*end || n < 16 || n > 255) {
            *error = "HEDDLE_MAXRREGCOUNT must be a number from 16 to 255";
            env_free(out);
            return false;
        }
        out->regs_max = (uint32_t)n;
    }
    return true;
}

void env_free(struct gpu_env *e)
{
    free(e->overrides);
    free(e->text);
    *e = (struct gpu_env){0};
}
