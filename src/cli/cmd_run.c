/* cmd_run.c: heddle run: starts a CUDA program with Heddle's libcuda and libcudart in front of NVIDIA's.
 *
 * The program takes this process's place (exec), so its output, its input and its exit status pass through
 * untouched. Settings travel in the environment; libheddle reads them when the program first calls CUDA. */
#include "cli/timed_options.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

struct run_settings {
    struct cli_timed timed;
    const char *machine, *maxrregcount;
    struct cli_list sets;
};

/* Where libcuda.so.1 and libcudart.so.* are, seen from this command: lib/heddle where it is installed (in lib itself every CUDA program
 * of the system would find them), lib in the build tree. */
static bool run_library_dir(struct strbuf *out)
{
    static const char *const folders[] = {"../lib/heddle", "../lib"};
    char self[PATH_MAX], probe[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return false;
    self[n] = 0;
    char *slash = strrchr(self, '/');
    *slash = 0;
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        out->len = 0;
        strbuf_printf(out, "%s/%s", self, folders[i]);
        snprintf(probe, sizeof probe, "%s/libcuda.so.1", strbuf_text(out));
        if (access(probe, R_OK) == 0) return true;
    }
    return false;
}

static void run_set_env(const char *name, const char *value)
{
    if (value) setenv(name, value, 1);
}

static void run_environment(const struct run_settings *s, const char *lib_dir)
{
    struct strbuf path = {0}, sets = {0};
    const char *old = getenv("LD_LIBRARY_PATH");
    strbuf_puts(&path, lib_dir);
    if (old && *old) strbuf_printf(&path, ":%s", old);
    setenv("LD_LIBRARY_PATH", strbuf_text(&path), 1);
    for (uint32_t i = 0; i < s->sets.items.len; i++) strbuf_printf(&sets, "%s\n", s->sets.items.data[i].text);
    if (sets.len) setenv("HEDDLE_SET", strbuf_text(&sets), 1);
    run_set_env("HEDDLE_MACHINE", s->machine);
    run_set_env("HEDDLE_MAXRREGCOUNT", s->maxrregcount);
    cli_timed_environment(&s->timed);
    strbuf_free(&path);
    strbuf_free(&sets);
}

/* The file that execvp would take: as named, or found in PATH. */
static bool run_find_program(const char *name, struct strbuf *out)
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

static bool run_check(const struct run_settings *s, struct cli_parse *p, int argc, char **argv,
                      struct strbuf *program)
{
    if (p->words.items.len) {
        struct cli_value w = p->words.items.data[0];
        cli_error(argc, argv, w.arg, 0, (int)strlen(w.text), "put -- before the program: heddle run -- ./app",
                  "'%s' is not an option", w.text);
        return false;
    }
    if (p->rest >= argc) {
        cli_error(argc, argv, argc, 0, 1, "heddle run -- ./app ARGS", "no program to run");
        return false;
    }
    if (!run_find_program(argv[p->rest], program)) {
        cli_error(argc, argv, p->rest, 0, (int)strlen(argv[p->rest]), NULL, "cannot run '%s': %s",
                  argv[p->rest], strchr(argv[p->rest], '/') ? strerror(errno) : "not found in PATH");
        return false;
    }
    struct machine m; /* a wrong machine is told here, before the program has started */
    return cli_load_machine(s->machine, &s->sets, &m) &&
           (s->timed.functional || cli_timed_check(&s->timed)) && cli_timed_can_write(&s->timed);
}

int cli_cmd_run(int argc, char **argv)
{
    struct run_settings s = {0};
    struct cli_option options[] = {{"--machine", "-m", CLI_TEXT, &s.machine, "NAME",
                                    "machine (default " CLI_DEFAULT_MACHINE ") or a .yaml file"},
                                   {"--set", NULL, CLI_LIST, &s.sets, "KEY=VALUE",
                                    "change one parameter of the machine; may be repeated"},
                                   CLI_TIMED_OPTIONS(s.timed),
                                   {"--maxrregcount", NULL, CLI_TEXT, &s.maxrregcount, "N",
                                    "registers per thread, at most; more are spilled"},
                                   {0}};
    struct cli_parse p = {.command = cli_command("run"), .options = options};
    struct strbuf lib_dir = {0}, program = {0};
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv)) {
        status = p.status;
    } else if (!run_check(&s, &p, argc, argv, &program)) {
        status = CLI_BAD_INPUT;
    } else if (!run_library_dir(&lib_dir)) {
        fprintf(stderr,
                "heddle: error: libcuda.so.1 is not in %s\n  hint: build everything: cmake --build --preset "
                "release\n",
                strbuf_text(&lib_dir));
    } else {
        run_environment(&s, strbuf_text(&lib_dir));
        execv(strbuf_text(&program), argv + p.rest);
        fprintf(stderr, "heddle: error: cannot run '%s': %s\n", strbuf_text(&program), strerror(errno));
    }
    strbuf_free(&lib_dir);
    strbuf_free(&program);
    vec_free(&p.words.items);
    vec_free(&s.sets.items);
    cli_timed_free(&s.timed, NULL);
    return status;
}
