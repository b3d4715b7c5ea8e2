/* cmd_train.c: heddle train: a model of Poise from profiles. */
#include "cli/profiling.h"
#include "cli/workloads.h"
#include "lab/train.h"

#include <math.h>

struct train_settings {
    const char *output, *evaluate, *dispersion, *gain;
    struct cli_list exclude, without;
    uint64_t cycles;
    bool leave_one_out;
};

/* Profiles that were read, and all their kernels as one. */
struct train_input {
    VEC(struct profile) files;
    struct profile joined;
    VEC(const char *) excluded;
    struct train_options options;
    struct arena arena;
};

static void input_free(struct train_input *in)
{
    for (uint32_t i = 0; i < in->files.len; i++) profile_free(&in->files.data[i]);
    vec_free(&in->files);
    vec_free(&in->joined.kernels); /* the texts belong to the files */
    vec_free(&in->excluded);
    arena_free(&in->arena);
}

/* ---- profiles ---- */

/* Refuses profiles of different machines for one model. */
static bool join(struct train_input *in, const struct profile *p, const char *path, struct diag_list *diags)
{
    if (!in->joined.machine) {
        in->joined.machine = p->machine;
        in->joined.simulator = p->simulator;
        in->joined.warps = p->warps;
    }
    if (strcmp(in->joined.machine, p->machine) || in->joined.warps != p->warps) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "a model is of one machine",
                 "%s is a profile of '%s', the one before it of '%s'", path, p->machine, in->joined.machine);
        return false;
    }
    if (strcmp(in->joined.simulator, p->simulator))
        diag_add(diags, DIAG_WARNING, NULL, 0, 0, 0, "the model names the first one's",
                 "%s was made by another version of the simulator than the profile before it", path);
    for (uint32_t i = 0; i < p->kernels.len; i++) vec_push(&in->joined.kernels, p->kernels.data[i]);
    return true;
}

static bool read_profiles(struct train_input *in, const struct cli_list *words, struct diag_list *diags)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < words->items.len; i++) {
        struct profile p;
        ok = profile_load(&p, words->items.data[i].text, diags);
        vec_push(&in->files, p);
        ok = ok && join(in, &in->files.data[in->files.len - 1], words->items.data[i].text, diags);
    }
    return ok;
}

/* ---- options ---- */

static bool read_share(int argc, char **argv, const char *name, const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (*text && !*end && isfinite(*out) && *out >= 0) return true;
    cli_error(argc, argv, argc, 0, 1, NULL, "%s takes a number from 0 on, not '%s'", name, text);
    return false;
}

/* Workloads of the profiles, by their names; several with commas. */
static bool read_excluded(struct train_input *in, int argc, char **argv, const struct cli_list *list)
{
    for (uint32_t i = 0; i < list->items.len; i++) {
        char *save = NULL, *text = arena_strdup(&in->arena, list->items.data[i].text);
        for (char *name = strtok_r(text, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
            bool is_there = false;
            for (uint32_t k = 0; k < in->joined.kernels.len; k++)
                is_there = is_there || !strcmp(in->joined.kernels.data[k].workload, name);
            if (!is_there) {
                cli_error(argc, argv, list->items.data[i].arg, 0, (int)strlen(argv[list->items.data[i].arg]),
                          NULL, "the profile has no kernel of '%s'", name);
                return false;
            }
            vec_push(&in->excluded, name);
        }
    }
    in->options.excluded = in->excluded.data;
    in->options.excluded_count = in->excluded.len;
    return true;
}

/* Features of Table 5.3; several with commas. */
static bool read_without(struct train_input *in, int argc, char **argv, const struct cli_list *list)
{
    for (uint32_t i = 0; i < list->items.len; i++) {
        char *save = NULL, *text = arena_strdup(&in->arena, list->items.data[i].text);
        for (char *name = strtok_r(text, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
            const uint32_t feature = train_feature(name);
            if (feature >= POISE_FEATURES - 1) {
                cli_error(argc, argv, list->items.data[i].arg, 0, (int)strlen(argv[list->items.data[i].arg]),
                          "x1 to x7, as in Table 5.3 of the thesis", "no feature is called '%s'", name);
                return false;
            }
            in->options.without |= 1u << feature;
        }
    }
    return true;
}

static bool read_options(struct train_input *in, int argc, char **argv, const struct train_settings *s)
{
    in->options = train_defaults;
    in->options.cycles_min = s->cycles;
    if (s->gain) {
        if (!read_share(argc, argv, "--gain", s->gain, &in->options.gain_min)) return false;
        in->options.gain_min /= 100;
    }
    if (s->dispersion && !strcmp(s->dispersion, "ml"))
        in->options.dispersion = -1;
    else if (s->dispersion && !read_share(argc, argv, "--dispersion", s->dispersion, &in->options.dispersion))
        return false;
    return read_excluded(in, argc, argv, &s->exclude) && read_without(in, argc, argv, &s->without);
}

/* ---- the model ---- */

static bool may_train(const struct train_set *set, struct diag_list *diags)
{
    struct workload_set workloads = {0};
    const bool ok = cli_load_workloads(&workloads) && train_check_evaluation(set, &workloads, diags);
    workloads_free(&workloads);
    return ok;
}

static void print_evaluation(const char *of, const struct train_errors *e)
{
    printf("  %-22s N %5.1f%% (%.2f warps), p %5.1f%% (%.2f warps)\n", of, e->n_percent, e->n_warps,
           e->p_percent, e->p_warps);
}

/* Tests the model on kernels that it was not trained on. */
static bool evaluate(const char *path, const struct train_set *trained, const struct train_options *options,
                     const struct train_result *result, struct diag_list *diags)
{
    struct profile p;
    struct train_set set = {0};
    struct train_options all = *options;
    all.excluded_count = 0;
    bool ok = profile_load(&p, path, diags);
    if (ok) {
        train_select(&set, &p, &all);
        ok = train_check_overlap(trained, &set, diags);
    }
    if (ok) {
        const struct train_errors ours = train_measure(&set, &result->model);
        const struct train_errors published = train_measure(&set, &poise_published);
        printf("\nmean error of predictions, %u launches of %s\n", ours.count, path);
        print_evaluation("this model", &ours);
        print_evaluation("the published weights", &published);
        puts("  thesis, 5.7.2          N    16%, p    26%");
    }
    train_free(&set);
    profile_free(&p);
    return ok;
}

static int write_model(const struct train_settings *s, const struct train_report *r)
{
    struct strbuf table = {0}, text = {0};
    int status = CLI_OK;
    train_print(r, &table);
    fputs(strbuf_text(&table), stdout);
    train_write(r, &text);
    if (s->output) status = cli_write_text(s->output, &text);
    strbuf_free(&table);
    strbuf_free(&text);
    return status;
}

static int train(const struct train_settings *s, const struct train_input *in, struct diag_list *diags)
{
    struct train_set set;
    struct train_result result;
    int status = CLI_BAD_INPUT;
    train_select(&set, &in->joined, &in->options);
    if (may_train(&set, diags) && train_fit(&set, &in->options, &result, diags)) {
        struct train_report r = {.set = &set, .options = &in->options, .result = &result};
        r.training = train_measure(&set, &result.model);
        r.has_left_out = s->leave_one_out;
        if (r.has_left_out) r.left_out = train_leave_one_out(&set, &in->options, &r.left_out_failed);
        status = write_model(s, &r);
        if (s->evaluate && !evaluate(s->evaluate, &set, &in->options, &result, diags)) status = CLI_BAD_INPUT;
    }
    train_free(&set);
    return status;
}

int cli_cmd_train(int argc, char **argv)
{
    struct train_settings s = {.cycles = train_defaults.cycles_min};
    const struct cli_option options[] = {
        {"--output", "-o", CLI_STRING, &s.output, "MODEL",
         "write the model, for --mech-set poise.model=MODEL"},
        {"--exclude", NULL, CLI_LIST, &s.exclude, "A,B", "workloads to leave out"},
        {"--without", NULL, CLI_LIST, &s.without, "x6,x7", "features of Table 5.3 to do without: x1 to x7"},
        {"--leave-one-out", NULL, CLI_FLAG, &s.leave_one_out, NULL,
         "errors of each kernel by a model of the others"},
        {"--evaluate", NULL, CLI_STRING, &s.evaluate, "PROFILE",
         "errors on kernels that were not trained on"},
        {"--gain", NULL, CLI_STRING, &s.gain, "PERCENT", "kernels that gain at least this (default 1.5)"},
        {"--cycles", NULL, CLI_NUMBER64, &s.cycles, "N", "only kernels of at least N cycles (default 10000)"},
        {"--dispersion", NULL, CLI_STRING, &s.dispersion, "X|ml",
         "of the regression (default 1); ml: the likeliest"},
        {0}};
    struct cli_parse p = {.command = cli_command("train"), .options = options};
    struct train_input in = {0};
    struct diag_list diags = {0};
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv))
        status = p.status;
    else if (!p.words.items.len)
        cli_error(argc, argv, argc, 0, 1, "`heddle profile` makes one", "no profile is named");
    else if (read_profiles(&in, &p.words, &diags) && read_options(&in, argc, argv, &s))
        status = train(&s, &in, &diags);
    cli_print_diags(&diags);
    diag_free(&diags);
    input_free(&in);
    vec_free(&p.words.items);
    vec_free(&s.exclude.items);
    vec_free(&s.without.items);
    return status;
}
