/* timed_options.c: from the command line to the timed GPU, directly or by way of the environment. */
#include "cli/timed_options.h"

#include "core/mech/mech_set.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

bool cli_timed_is_gpgpusim(const struct cli_timed *t) { return t->stats && !strcmp(t->stats, "gpgpusim"); }

void cli_timed_texts(const struct cli_timed *t, struct cli_timed_texts *out)
{
    *out = (struct cli_timed_texts){0};
    for (uint32_t i = 0; i < t->mechs.items.len; i++) {
        char *list = mem_strdup(t->mechs.items.data[i].text), *save = NULL;
        vec_push(&out->owned, list);
        for (char *name = strtok_r(list, ",", &save); name; name = strtok_r(NULL, ",", &save))
            vec_push(&out->mechs, name);
    }
    for (uint32_t i = 0; i < t->mech_sets.items.len; i++)
        vec_push(&out->settings, t->mech_sets.items.data[i].text);
}

void cli_timed_free(struct cli_timed *t, struct cli_timed_texts *texts)
{
    vec_free(&t->mechs.items);
    vec_free(&t->mech_sets.items);
    if (!texts) return;
    for (uint32_t i = 0; i < texts->owned.len; i++) free(texts->owned.data[i]);
    vec_free(&texts->owned);
    vec_free(&texts->mechs);
    vec_free(&texts->settings);
}

static void set_lines(const char *name, const char *const *lines, uint32_t count)
{
    struct strbuf text = {0};
    for (uint32_t i = 0; i < count; i++) strbuf_printf(&text, "%s\n", lines[i]);
    if (text.len) setenv(name, strbuf_text(&text), 1);
    strbuf_free(&text);
}

void cli_timed_environment(const struct cli_timed *t)
{
    struct cli_timed_texts texts;
    struct cli_timed none = {0};
    cli_timed_texts(t, &texts);
    set_lines("HEDDLE_MECH", texts.mechs.data, texts.mechs.len);
    set_lines("HEDDLE_MECH_SET", texts.settings.data, texts.settings.len);
    cli_timed_free(&none, &texts);
    setenv("HEDDLE_FUNCTIONAL", t->functional ? "1" : "0", 1);
    if (t->no_skip) setenv("HEDDLE_NO_SKIP", "1", 1);
    if (t->quiet) setenv("HEDDLE_QUIET", "1", 1);
    if (t->timeline) setenv("HEDDLE_TIMELINE", t->timeline, 1);
    if (t->json) setenv("HEDDLE_FORMAT", "json", 1);
    if (cli_timed_is_gpgpusim(t))
        setenv("HEDDLE_FORMAT", "gpgpusim", 1);
    else if (t->stats)
        setenv("HEDDLE_STATS", t->stats, 1);
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, t->sample);
    if (t->sample) setenv("HEDDLE_SAMPLE", number, 1);
    snprintf(number, sizeof number, "%" PRIu64, t->threads);
    if (t->threads) setenv("HEDDLE_THREADS", number, 1);
}

/* Hours of simulation must not end with a file that cannot be written. */
static bool can_write(const char *option, const char *path)
{
    if (!path) return true;
    bool existed = !access(path, F_OK);
    FILE *f = fopen(path, "a");
    if (f) {
        fclose(f);
        if (!existed) unlink(path);
        return true;
    }
    fprintf(stderr, "heddle: error: %s: cannot write %s: %s\n", option, path, strerror(errno));
    return false;
}

bool cli_timed_can_write(const struct cli_timed *t)
{
    return can_write("--stats", cli_timed_is_gpgpusim(t) ? NULL : t->stats) &&
           can_write("--timeline", t->timeline);
}

bool cli_timed_check(const struct cli_timed *t)
{
    struct cli_timed_texts texts;
    struct cli_timed none = {0};
    struct diag_list diags = {0};
    cli_timed_texts(t, &texts);
    struct mech_set *set =
        mech_set_create(texts.mechs.data, texts.mechs.len, texts.settings.data, texts.settings.len, &diags);
    bool ok = set && !diags.errors;
    if (set) mech_set_destroy(set);
    cli_print_diags(&diags);
    diag_free(&diags);
    cli_timed_free(&none, &texts);
    return ok;
}
