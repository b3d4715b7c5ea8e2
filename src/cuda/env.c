/* env.c: reads the HEDDLE_* variables. */
#include "cuda/env.h"

#include "base/vec.h"

static const char *env_text(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

static bool env_flag(const char *name)
{
    const char *v = env_text(name);
    return v && strcmp(v, "0") != 0;
}

/* The lines of a variable; *text backs them. */
static void env_lines(const char *name, char **text, const char ***out, uint32_t *count)
{
    const char *lines = env_text(name);
    if (!lines) return;
    VEC(const char *) items = {0};
    *text = mem_strdup(lines);
    char *save = NULL;
    for (char *line = strtok_r(*text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (*line) vec_push(&items, line);
    *out = items.data;
    *count = items.len;
}

static bool env_number(const char *name, uint64_t min, uint64_t max, uint64_t *out)
{
    const char *text = env_text(name);
    if (!text) return true;
    char *end = NULL;
    *out = strtoull(text, &end, 10);
    return !*end && *text != '-' && *out >= min && *out <= max;
}

static bool env_format(enum stats_format *out)
{
    static const char *const names[] = {
        [STATS_TABLE] = "table", [STATS_JSON] = "json", [STATS_GPGPUSIM] = "gpgpusim"};
    const char *text = env_text("HEDDLE_FORMAT");
    if (!text) return true;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], text)) continue;
        *out = (enum stats_format)i;
        return true;
    }
    return false;
}

enum { THREADS_MAX = 256 };

bool env_read(struct gpu_env *out, const char **error)
{
    *out = (struct gpu_env){.machine = env_text("HEDDLE_MACHINE"),
                            .stats_path = env_text("HEDDLE_STATS"),
                            .timeline_path = env_text("HEDDLE_TIMELINE"),
                            .quiet = env_flag("HEDDLE_QUIET"),
                            .functional = env_flag("HEDDLE_FUNCTIONAL"),
                            .no_skip = env_flag("HEDDLE_NO_SKIP")};
    if (!out->machine) out->machine = "maxwell";
    env_lines("HEDDLE_SET", &out->text[0], &out->overrides, &out->override_count);
    env_lines("HEDDLE_MECH", &out->text[1], &out->mechs, &out->mech_count);
    env_lines("HEDDLE_MECH_SET", &out->text[2], &out->mech_settings, &out->mech_setting_count);
    uint64_t regs = 0;
    *error = NULL;
    if (!env_number("HEDDLE_MAXRREGCOUNT", 16, 255, &regs))
        *error = "HEDDLE_MAXRREGCOUNT must be a number from 16 to 255";
    else if (!env_number("HEDDLE_SAMPLE", 1, UINT32_MAX, &out->sample_cycles))
        *error = "HEDDLE_SAMPLE must be a number of core cycles, from 1 on";
    else if (!env_number("HEDDLE_THREADS", 1, THREADS_MAX, &out->threads))
        *error = "HEDDLE_THREADS must be a number from 1 to 256";
    else if (!env_format(&out->format))
        *error = "HEDDLE_FORMAT must be table, json or gpgpusim";
    out->regs_max = (uint32_t)regs;
    if (*error) env_free(out);
    return !*error;
}

void env_free(struct gpu_env *e)
{
    free(e->overrides);
    free(e->mechs);
    free(e->mech_settings);
    for (size_t i = 0; i < ARRAY_LEN(e->text); i++) free(e->text[i]);
    *e = (struct gpu_env){0};
}
