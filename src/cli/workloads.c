/* workloads.c: finding a workload by its name, and the list of them. */
#include "cli/workloads.h"

#include "cli/list.h"

#include <errno.h>
#include <unistd.h>

/* Beside the command in a build tree; PREFIX/lib/heddle/workloads where it is installed. */
static void programs_dir(struct strbuf *out)
{
    static const char *const folders[] = {"workloads", "../lib/heddle/workloads"};
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        strbuf_free(out);
        strbuf_printf(out, "%s/%s", cli_self_dir(), folders[i]);
        if (!access(strbuf_text(out), X_OK)) return;
    }
}

static bool load_all(struct workload_set *set, struct diag_list *diags)
{
    struct strbuf programs = {0};
    programs_dir(&programs);
    struct workload_places places = {machine_data_dir(), strbuf_text(&programs), getenv("HEDDLE_WORKLOADS")};
    bool ok = workloads_load(set, &places, diags);
    strbuf_free(&programs);
    return ok;
}

bool cli_load_workloads(struct workload_set *set)
{
    struct diag_list diags = {0};
    bool ok = load_all(set, &diags);
    cli_print_diags(&diags);
    diag_free(&diags);
    return ok;
}

static bool is_path(const char *text)
{
    size_t n = strlen(text);
    return n > 5 && !strcmp(text + n - 5, ".yaml");
}

static const struct workload *load_path(struct workload_set *set, const char *path)
{
    struct strbuf programs = {0};
    struct diag_list diags = {0};
    programs_dir(&programs);
    const struct workload *w = workload_load_file(set, path, strbuf_text(&programs), &diags);
    cli_print_diags(&diags);
    diag_free(&diags);
    strbuf_free(&programs);
    return w;
}

static void unknown_workload(const struct workload_set *set, int argc, char **argv, int arg)
{
    VEC(const char *) names = {0};
    char hint[160] = "`heddle list workloads` shows what there is";
    for (uint32_t i = 0; i < set->items.len; i++) vec_push(&names, set->items.data[i].name);
    const char *near = names.len ? diag_nearest(argv[arg], names.data, names.len) : NULL;
    if (near)
        snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    else if (access(argv[arg], X_OK) == 0)
        snprintf(hint, sizeof hint, "to run a program put -- before it: heddle run -- ./app");
    vec_free(&names);
    cli_error(argc, argv, arg, 0, (int)strlen(argv[arg]), hint, "no workload '%s'", argv[arg]);
}

const struct workload *cli_find_workload(struct workload_set *set, int argc, char **argv, int arg)
{
    if (is_path(argv[arg])) return load_path(set, argv[arg]);
    struct diag_list diags = {0};
    load_all(set, &diags);
    const struct workload *w = workload_find(set, argv[arg]);
    if (!w) { /* an error in another description does not stop this one */
        cli_print_diags(&diags);
        unknown_workload(set, argc, argv, arg);
    }
    diag_free(&diags);
    return w;
}

const struct workload_size *cli_find_size(const struct workload *w, const char *size)
{
    if (!size) size = workload_size(w, CLI_DEFAULT_SIZE) ? CLI_DEFAULT_SIZE : w->sizes[0].name;
    const struct workload_size *found = workload_size(w, size);
    if (found) return found;
    fprintf(stderr, "heddle: error: %s has no size '%s'\n  hint: it has", w->name, size);
    for (uint32_t i = 0; i < w->size_count; i++) fprintf(stderr, "%s %s", i ? "," : "", w->sizes[i].name);
    fputc('\n', stderr);
    return NULL;
}

bool cli_check_program(const struct workload *w)
{
    if (access(w->program, X_OK) == 0) return true;
    fprintf(stderr,
            "heddle: error: cannot run %s: %s\n  hint: build everything: cmake --build --preset release\n",
            w->program, strerror(errno));
    return false;
}

/* Instruction counts in three digits: 12.3k, 4.56M. */
static void short_count(uint64_t n, char out[16])
{
    static const char unit[] = " kMGT";
    double v = (double)n;
    int u = 0;
    for (; v >= 999.5 && unit[u + 1]; u++) v /= 1000;
    if (!n)
        snprintf(out, 16, "-");
    else
        snprintf(out, 16, "%.*f%c", u == 0 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2, v, unit[u]);
}

/* The list must fit a terminal. */
static const char *short_paper(const char *paper)
{
    static const char *const names[][2] = {
        {"thesis-ch3", "ch3"}, {"thesis-ch4", "ch4"}, {"thesis-ch5", "ch5"}, {"linebacker", "lb"},
        {"finereg", "fr"},     {"apres", "ap"},       {"morpheus", "mo"}};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strcmp(paper, names[i][0])) return names[i][1];
    return paper;
}

static void print_row(const struct workload *w)
{
    static const char *const shown[] = {"tiny", "small", "paper"};
    printf("%-14s %-11.11s", w->name, w->suite);
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        char count[16];
        const struct workload_size *s = workload_size(w, shown[i]);
        short_count(s ? s->warp_instructions : 0, count);
        printf(" %5s", count);
    }
    printf(" %2u", w->kernel_count);
    for (uint32_t i = 0; i < w->paper_count; i++) {
        const struct workload_paper *p = &w->papers[i];
        printf(" %s%s%s", short_paper(p->paper), *p->class_of ? ":" : "", p->class_of);
    }
    putchar('\n');
}

int cli_list_workloads(void)
{
    struct workload_set set = {0};
    bool ok = cli_load_workloads(&set);
    printf("%-14s %-11s %5s %5s %5s %2s %s\n", "workload", "suite", "tiny", "small", "paper", "kn",
           "papers:class");
    for (uint32_t i = 0; i < set.items.len; i++) print_row(&set.items.data[i]);
    printf("\nWarp instructions of each size; kn: kernels. Papers: chapters of the thesis,\n"
           "lb Linebacker, ap APRES, fr FineReg, mo Morpheus. Classes: lb, ap: S gains from\n"
           "cache, I does not, C computes; fr: S bound by slots, R by registers; mo: M\n"
           "bound by memory, C by computation.\n"
           "`heddle run NAME --size tiny` runs one; --json shows more.\n");
    workloads_free(&set);
    return ok ? CLI_OK : CLI_BAD_INPUT;
}
