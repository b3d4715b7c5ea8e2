/* cmd_run.c: heddle run: starts a CUDA program, or a workload by its name, with Heddle's libcuda and
 * libcudart in front of NVIDIA's.
 *
 * The program is a child of this process and has its terminal, its input and its output; its exit status, or
 * the signal that ended it, is passed on (run_child.h). Settings travel in the environment; libheddle reads
 * them when the program first calls CUDA. A journal holds what the kernels counted, so that the statistics
 * are written whichever way the program ends (cuda/gpu_keep.h). */
#include "cli/run_child.h"
#include "cli/run_flags.h"
#include "cli/workloads.h"
#include "cuda/gpu_keep.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct run_settings {
    struct cli_run run;
    const char *size;
};

/* The program to start. */
struct run_target {
    struct strbuf program;
    VEC(char *) args;
};

/* Where libcuda.so.1 and libcudart.so.* are, seen from this command: lib/heddle where it is installed (in
 * lib itself every CUDA program of the system would find them), lib in the build tree. */
static bool run_library_dir(struct strbuf *out)
{
    static const char *const folders[] = {"../lib/heddle", "../lib"};
    char probe[PATH_MAX + 64];
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        out->len = 0;
        strbuf_printf(out, "%s/%s", cli_self_dir(), folders[i]);
        snprintf(probe, sizeof probe, "%s/libcuda.so.1", strbuf_text(out));
        if (access(probe, R_OK) == 0) return true;
    }
    return false;
}

static void run_environment(const struct run_settings *s, const char *lib_dir)
{
    struct strbuf path = {0};
    const char *old = getenv("LD_LIBRARY_PATH");
    strbuf_puts(&path, lib_dir);
    if (old && *old) strbuf_printf(&path, ":%s", old);
    setenv("LD_LIBRARY_PATH", strbuf_text(&path), 1);
    run_options_to_environment(&s->run.options);
    strbuf_free(&path);
}

bool cli_find_program(const char *name, struct strbuf *out)
{
    if (strchr(name, '/')) {
        strbuf_puts(out, name);
        return access(name, X_OK) == 0;
    }
    const char *path = getenv("PATH");
    for (const char *p = path ? path : ""; *p;) {
        size_t n = strcspn(p, ":");
        out->len = 0;
        strbuf_printf(out, "%.*s/%s", (int)n, p, name);
        if (access(strbuf_text(out), X_OK) == 0) return true;
        p += n + (p[n] == ':');
    }
    return false;
}

/* `heddle run NAME --size small -- more`: the description gives program and arguments; what follows -- is
 * added. */
static bool run_workload(const struct run_settings *s, struct cli_parse *p, int argc, char **argv,
                         struct run_target *out)
{
    struct workload_set set = {0};
    const struct workload *w = cli_find_workload(&set, argc, argv, p->words.items.data[0].arg);
    const struct workload_size *size = w ? cli_find_size(w, s->size) : NULL;
    bool ok = size && cli_check_program(w);
    if (ok) {
        strbuf_puts(&out->program, w->program);
        vec_push(&out->args, mem_strdup(w->program));
        for (uint32_t i = 0; size->args[i]; i++) vec_push(&out->args, mem_strdup(size->args[i]));
        for (int i = p->rest; i < argc; i++) vec_push(&out->args, mem_strdup(argv[i]));
    }
    workloads_free(&set);
    return ok;
}

static bool run_program(const struct run_settings *s, struct cli_parse *p, int argc, char **argv,
                        struct run_target *out)
{
    if (p->rest >= argc) {
        cli_error(argc, argv, argc, 0, 1,
                  "heddle run NAME (heddle list workloads), or heddle run -- ./app ARGS", "nothing to run");
        return false;
    }
    if (s->size) {
        fprintf(stderr, "heddle: error: --size is for workloads: heddle run NAME --size %s\n", s->size);
        return false;
    }
    if (!cli_find_program(argv[p->rest], &out->program)) {
        cli_error(argc, argv, p->rest, 0, (int)strlen(argv[p->rest]), NULL, "cannot run '%s': %s",
                  argv[p->rest], strchr(argv[p->rest], '/') ? strerror(errno) : "not found in PATH");
        return false;
    }
    for (int i = p->rest; i < argc; i++) vec_push(&out->args, mem_strdup(argv[i]));
    return true;
}

static bool run_check(struct run_settings *s, struct cli_parse *p, int argc, char **argv,
                      struct run_target *out)
{
    if (p->words.items.len > 1) {
        struct cli_value w = p->words.items.data[1];
        cli_error(argc, argv, w.arg, 0, (int)strlen(w.text),
                  "one workload by its name, or -- and a program with its arguments",
                  "'%s' is one word too many", w.text);
        return false;
    }
    if (p->words.items.len ? !run_workload(s, p, argc, argv, out) : !run_program(s, p, argc, argv, out))
        return false;
    struct machine m;
    return cli_run_finish(&s->run, &m);
}

static void run_target_free(struct run_target *t)
{
    for (uint32_t i = 0; i < t->args.len; i++) free(t->args.data[i]);
    vec_free(&t->args);
    strbuf_free(&t->program);
}

/* Writes the summary if the program ended before it could. */
static bool run_write_rest(const struct run_child *c, struct journal *j, const struct run_options *o)
{
    const struct journal_head *h = j->head;
    const bool is_program = atomic_load(&h->writer) == (int32_t)c->pid;
    const bool is_cut = !run_child_exited(c) || atomic_load(&h->is_pending) || !is_program;
    if (!run_child_exited(c))
        fprintf(stderr, "heddle: the program was ended by signal %d (%s)\n", WTERMSIG(c->wait_status),
                strsignal(WTERMSIG(c->wait_status)));
    return gpu_keep_write_rest(j, o, is_cut);
}

/* False: there is none, and an error was printed. */
static bool run_make_journal(struct journal *j)
{
    struct strbuf path = {0};
    if (!journal_make(j)) {
        fprintf(stderr, "heddle: a sudden end of the program will lose its statistics: %s\n",
                strerror(errno));
        unsetenv(GPU_KEEP_VARIABLE);
        return false;
    }
    journal_path(j, &path);
    setenv(GPU_KEEP_VARIABLE, strbuf_text(&path), 1);
    strbuf_free(&path);
    return true;
}

static int run_start(const struct run_settings *s, struct run_target *t)
{
    struct journal j;
    struct run_child c;
    const bool is_kept = run_make_journal(&j);
    vec_push(&t->args, NULL);
    int status = CLI_FAILED;
    if (run_child(&c, strbuf_text(&t->program), t->args.data)) {
        bool failed = is_kept && gpu_keep_has_rest(&j) && !run_write_rest(&c, &j, &s->run.options);
        if (is_kept) atomic_store(&j.head->keeper_left, 1);
        status = run_child_pass_on(&c, failed);
    }
    if (is_kept) journal_close(&j);
    return status;
}

int cli_cmd_run(int argc, char **argv)
{
    struct run_settings s = {0};
    const struct cli_option own[] = {{"--size", NULL, CLI_STRING, &s.size, "NAME",
                                      "how much work of a workload: tiny, small (default) or paper"},
                                     {0}};
    struct cli_option *options = cli_run_options(&s.run, own);
    struct cli_parse p = {.command = cli_command("run"), .options = options};
    struct strbuf lib_dir = {0};
    struct run_target target = {0};
    int status = CLI_BAD_INPUT;
    if (!cli_run_begin(&s.run)) {
        status = CLI_BAD_INPUT;
    } else if (!cli_parse(&p, argc, argv)) {
        status = p.status;
    } else if (!run_check(&s, &p, argc, argv, &target)) {
        status = CLI_BAD_INPUT;
    } else if (!run_library_dir(&lib_dir)) {
        fprintf(stderr,
                "heddle: error: libcuda.so.1 is not in %s\n  hint: build everything: cmake --build --preset "
                "release\n",
                strbuf_text(&lib_dir));
    } else {
        run_environment(&s, strbuf_text(&lib_dir));
        status = run_start(&s, &target);
    }
    strbuf_free(&lib_dir);
    run_target_free(&target);
    vec_free(&p.words.items);
    cli_run_free(&s.run);
    free(options);
    return status;
}
