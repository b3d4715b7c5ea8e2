/* run_options.c: the rows, and the conversion of values from text to fields and back. */
#include "core/run_options.h"

#include "base/count.h"
#include "base/vec.h"

#include <inttypes.h>

#define AT(field) offsetof(struct run_options, field)
#define LINES     "\n"

static const char *const format_names[] = {[RUN_FORMAT_TABLE] = "table",
                                           [RUN_FORMAT_JSON] = "json",
                                           [RUN_FORMAT_GPGPUSIM] = "gpgpusim",
                                           [RUN_FORMAT_LOADS] = "loads",
                                           NULL};

const struct run_option run_option_rows[] = {
    {.name = "machine",
     .kind = RUN_STRING,
     .effect = RUN_RESOLVED,
     .offset = AT(machine),
     .fallback = RUN_DEFAULT_MACHINE,
     .flag = "--machine",
     .short_flag = "-m",
     .variable = "HEDDLE_MACHINE",
     .value = "NAME",
     .help = "machine (default " RUN_DEFAULT_MACHINE ") or a .yaml file"},
    {.name = "set",
     .kind = RUN_LIST,
     .effect = RUN_RESOLVED,
     .offset = AT(sets),
     .separators = LINES,
     .flag = "--set",
     .variable = "HEDDLE_SET",
     .value = "KEY=VALUE",
     .help = "change one parameter of the machine; may be repeated"},
    {.name = "mech",
     .kind = RUN_LIST,
     .effect = RUN_RESOLVED,
     .offset = AT(mechs),
     .separators = LINES ",",
     .flag = "--mech",
     .variable = "HEDDLE_MECH",
     .value = "NAME[,NAME]",
     .help = "attach mechanisms: names (heddle list mechanisms) or ./file.so",
     .needs_clock = true},
    {.name = "mech_set",
     .kind = RUN_LIST,
     .effect = RUN_RESOLVED,
     .offset = AT(mech_sets),
     .separators = LINES,
     .flag = "--mech-set",
     .variable = "HEDDLE_MECH_SET",
     .value = "NAME.PARAM=VALUE",
     .help = "change one parameter of a mechanism; may be repeated",
     .needs_clock = true},
    {.name = "maxrregcount",
     .kind = RUN_NUMBER,
     .effect = RUN_CHANGES,
     .offset = AT(registers_max),
     .min = 16,
     .max = 255,
     .flag = "--maxrregcount",
     .variable = "HEDDLE_MAXRREGCOUNT",
     .value = "N",
     .help = "registers per thread, at most; more are spilled"},
    {.name = "functional",
     .kind = RUN_FLAG,
     .effect = RUN_UNTIMED,
     .offset = AT(functional),
     .flag = "--functional",
     .variable = "HEDDLE_FUNCTIONAL",
     .help = "results only, no clock"},
    {.name = "races",
     .kind = RUN_FLAG,
     .effect = RUN_UNTIMED,
     .offset = AT(races),
     .flag = "--races",
     .variable = "HEDDLE_RACES",
     .help = "name accesses that race, with both lines; a functional run"},
    {.name = "no_skip",
     .kind = RUN_FLAG,
     .effect = RUN_SAME,
     .offset = AT(timed.no_skip),
     .flag = "--no-skip",
     .variable = "HEDDLE_NO_SKIP",
     .help = "tick everything in every cycle: slow, same result"},
    {.name = "threads",
     .kind = RUN_NUMBER,
     .effect = RUN_SAME,
     .offset = AT(timed.threads),
     .min = 1,
     .max = 256,
     .flag = "--threads",
     .variable = "HEDDLE_THREADS",
     .value = "N",
     .help = "run the SMs on N threads: same result (docs/threads.md)"},
    {.name = "threads_always",
     .kind = RUN_FLAG,
     .effect = RUN_SAME,
     .offset = AT(timed.threads_always),
     .flag = "--threads-always",
     .variable = "HEDDLE_THREADS_ALWAYS",
     .help = "use all threads in every step, even where it does not pay: for tests"},
    {.name = "sample",
     .kind = RUN_NUMBER64,
     .effect = RUN_CHANGES,
     .offset = AT(timed.sample_cycles),
     .max = UINT32_MAX,
     .flag = "--sample",
     .variable = "HEDDLE_SAMPLE",
     .value = "N",
     .help = "time series: statistics of every N core cycles; 0 = none",
     .needs_clock = true},
    {.name = "stats",
     .kind = RUN_STRING,
     .effect = RUN_SAME,
     .offset = AT(stats),
     .flag = "--stats",
     .variable = "HEDDLE_STATS",
     .value = "FILE",
     .help = "summary into a file (JSON when it ends in .json); 'gpgpusim': in GPGPU-Sim's words"},
    {.name = "timeline",
     .kind = RUN_STRING,
     .effect = RUN_SAME,
     .offset = AT(timeline),
     .flag = "--timeline",
     .variable = "HEDDLE_TIMELINE",
     .value = "FILE",
     .help = "kernels, CTAs and counters over time, for Perfetto",
     .needs_clock = true},
    {.name = "format",
     .kind = RUN_CHOICE,
     .effect = RUN_SAME,
     .offset = AT(format),
     .choices = format_names,
     .flag = "--format",
     .variable = "HEDDLE_FORMAT",
     .value = "NAME",
     .help = "of the summary: table (default), json, gpgpusim or loads (a line for each load)"},
    {.name = "json",
     .kind = RUN_CHOICE,
     .effect = RUN_SAME,
     .offset = AT(format),
     .choices = format_names,
     .flag = "--json",
     .means = "json",
     .help = "results as JSON: --format json"},
    {.name = "energy",
     .kind = RUN_FLAG,
     .effect = RUN_SAME,
     .offset = AT(timed.energy),
     .flag = "--energy",
     .variable = "HEDDLE_ENERGY",
     .help = "joules by part and mean power, by the machine's table",
     .needs_clock = true},
    {.name = "quiet",
     .kind = RUN_FLAG,
     .effect = RUN_SAME,
     .offset = AT(quiet),
     .flag = "--quiet",
     .short_flag = "-q",
     .variable = "HEDDLE_QUIET",
     .help = "no summary"},
    {0}};

/* ---- fields ---- */

static void *field_of(const struct run_option *row, struct run_options *o) { return (char *)o + row->offset; }

static const void *field_at(const struct run_option *row, const struct run_options *o)
{
    return (const char *)o + row->offset;
}

static const char *const *list_at(const struct run_option *row, const struct run_options *o)
{
    assert(row->kind == RUN_LIST);
    return *(const char *const *const *)field_at(row, o);
}

uint32_t run_list_count(const char *const *list)
{
    uint32_t n = 0;
    while (list[n]) n++;
    return n;
}

void run_option_reset(const struct run_option *row, struct run_options *o)
{
    static const char *const nothing[] = {NULL};
    /* Values of the other kinds begin with 0. */
    assert(row->name && (row->kind == RUN_STRING || !row->fallback));
    void *at = field_of(row, o);
    switch (row->kind) {
    case RUN_FLAG: *(bool *)at = false; return;
    case RUN_NUMBER:
    case RUN_CHOICE: *(uint32_t *)at = 0; return;
    case RUN_NUMBER64: *(uint64_t *)at = 0; return;
    case RUN_STRING: *(const char **)at = row->fallback; return;
    case RUN_LIST: *(const char *const **)at = nothing; return;
    }
    UNREACHABLE("kind of run option");
}

void run_options_init(struct run_options *o)
{
    *o = (struct run_options){0};
    for (const struct run_option *row = run_option_rows; row->name; row++) run_option_reset(row, o);
    run_options_complete(o);
}

/* ---- from text ---- */

static bool set_flag(bool *out, const char *text, struct strbuf *why)
{
    static const char *const words[][2] = {{"0", "1"}, {"false", "true"}, {"no", "yes"}, {"off", "on"}};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        for (int k = 0; k < 2; k++)
            if (!strcmp(text, words[i][k])) {
                *out = k;
                return true;
            }
    strbuf_puts(why, "must be 0 or 1");
    return false;
}

static bool set_number(const struct run_option *row, void *at, const char *text, struct strbuf *why)
{
    uint64_t v;
    if (!count_read(text, strlen(text), &v) || v < row->min || v > row->max) {
        strbuf_printf(why, "must be a whole number from %" PRIu64 " to %" PRIu64, row->min, row->max);
        return false;
    }
    if (row->kind == RUN_NUMBER)
        *(uint32_t *)at = (uint32_t)v;
    else
        *(uint64_t *)at = v;
    return true;
}

static bool set_choice(const struct run_option *row, uint32_t *out, const char *text, struct strbuf *why)
{
    for (uint32_t i = 0; row->choices[i]; i++)
        if (!strcmp(row->choices[i], text)) {
            *out = i;
            return true;
        }
    strbuf_puts(why, "must be ");
    for (uint32_t i = 0; row->choices[i]; i++)
        strbuf_printf(why, "%s%s", !i ? "" : row->choices[i + 1] ? ", " : " or ", row->choices[i]);
    return false;
}

static bool set_text(const char **out, const char *text, struct arena *a, struct strbuf *why)
{
    if (!*text) {
        strbuf_puts(why, "must not be empty");
        return false;
    }
    *out = arena_strdup(a, text);
    return true;
}

static bool add_to_list(const struct run_option *row, struct run_options *o, const char *text,
                        struct arena *a, struct strbuf *why)
{
    if (!text[strspn(text, row->separators)]) {
        strbuf_puts(why, "must not be empty");
        return false;
    }
    const char *const *old = list_at(row, o);
    uint32_t count = run_list_count(old);
    const char **list = ARENA_ARRAY(a, const char *, count + strlen(text) + 1); /* more than there can be */
    memcpy(list, old, count * sizeof *list);
    char *copy = arena_strdup(a, text), *save = NULL;
    for (char *item = strtok_r(copy, row->separators, &save); item;
         item = strtok_r(NULL, row->separators, &save))
        list[count++] = item;
    list[count] = NULL;
    *(const char *const **)field_of(row, o) = list;
    return true;
}

bool run_option_set(const struct run_option *row, struct run_options *o, const char *text, struct arena *a,
                    struct strbuf *why)
{
    assert(row->name && text);
    void *at = field_of(row, o);
    switch (row->kind) {
    case RUN_FLAG: return set_flag(at, text, why);
    case RUN_NUMBER:
    case RUN_NUMBER64: return set_number(row, at, text, why);
    case RUN_STRING: return set_text(at, text, a, why);
    case RUN_CHOICE: return set_choice(row, at, text, why);
    case RUN_LIST: return add_to_list(row, o, text, a, why);
    }
    UNREACHABLE("kind of run option");
}

/* ---- to text ---- */

static bool format_number(uint64_t v, struct strbuf *out)
{
    if (v) strbuf_printf(out, "%" PRIu64, v);
    return v != 0;
}

static bool format_text(const struct run_option *row, const char *text, struct strbuf *out)
{
    if (!text || (row->fallback && !strcmp(row->fallback, text))) return false;
    strbuf_puts(out, text);
    return true;
}

static bool format_list(const struct run_option *row, const char *const *list, struct strbuf *out)
{
    for (uint32_t i = 0; list[i]; i++) {
        if (i) strbuf_putc(out, row->separators[0]);
        strbuf_puts(out, list[i]);
    }
    return list[0] != NULL;
}

bool run_option_format(const struct run_option *row, const struct run_options *o, struct strbuf *out)
{
    const void *at = field_at(row, o);
    switch (row->kind) {
    case RUN_FLAG: return format_number(*(const bool *)at, out);
    case RUN_NUMBER: return format_number(*(const uint32_t *)at, out);
    case RUN_NUMBER64: return format_number(*(const uint64_t *)at, out);
    case RUN_STRING: return format_text(row, *(const char *const *)at, out);
    case RUN_CHOICE:
        return *(const uint32_t *)at && format_text(row, row->choices[*(const uint32_t *)at], out);
    case RUN_LIST: return format_list(row, list_at(row, o), out);
    }
    UNREACHABLE("kind of run option");
}

/* ---- the environment ---- */

bool run_options_from_environment(struct run_options *o, struct arena *a, struct strbuf *error)
{
    for (const struct run_option *row = run_option_rows; row->name; row++) {
        const char *text = row->variable ? getenv(row->variable) : NULL;
        struct strbuf why = {0};
        if (!text || !*text) continue;
        run_option_reset(row, o);
        bool ok = run_option_set(row, o, text, a, &why);
        if (!ok) strbuf_printf(error, "%s %s, got '%s'", row->variable, strbuf_text(&why), text);
        strbuf_free(&why);
        if (!ok) return false;
    }
    run_options_complete(o);
    return true;
}

void run_options_to_environment(const struct run_options *o)
{
    struct strbuf text = {0};
    for (const struct run_option *row = run_option_rows; row->name; row++) {
        if (!row->variable) continue;
        text.len = 0;
        if (run_option_format(row, o, &text))
            setenv(row->variable, strbuf_text(&text), 1);
        else
            unsetenv(row->variable);
    }
    strbuf_free(&text);
}

/* ---- the command line ---- */

uint32_t run_options_to_words(const struct run_options *o, struct arena *a, const char ***words)
{
    VEC(const char *) all = {0};
    struct strbuf text = {0};
    for (const struct run_option *row = run_option_rows; row->name; row++) {
        text.len = 0;
        if (!row->variable || !run_option_format(row, o, &text)) continue;
        const char *const *list = row->kind == RUN_LIST ? list_at(row, o) : NULL;
        uint32_t count = list ? run_list_count(list) : 1;
        for (uint32_t i = 0; i < count; i++) {
            vec_push(&all, row->short_flag ? row->short_flag : row->flag);
            if (row->kind != RUN_FLAG) vec_push(&all, list ? list[i] : arena_strdup(a, strbuf_text(&text)));
        }
    }
    uint32_t count = all.len;
    *words = ARENA_ARRAY(a, const char *, count + 1);
    if (count) memcpy(*words, all.data, count * sizeof **words);
    vec_free(&all);
    strbuf_free(&text);
    return count;
}

bool run_options_machine(const struct run_options *o, struct machine *out, struct diag_list *diags)
{
    return machine_load(o->machine, o->sets, run_list_count(o->sets), out, diags);
}

bool run_options_has_clock(const struct run_options *o) { return !o->functional && !o->races; }

void run_options_complete(struct run_options *o)
{
    if (o->stats && !strcmp(o->stats, format_names[RUN_FORMAT_GPGPUSIM])) {
        o->format = RUN_FORMAT_GPGPUSIM;
        o->stats = NULL;
    }
    o->timed.mechs = o->mechs;
    o->timed.mech_count = run_list_count(o->mechs);
    o->timed.mech_settings = o->mech_sets;
    o->timed.mech_setting_count = run_list_count(o->mech_sets);
    o->timed.timeline = o->timeline != NULL;
}
