/* report_svg.c: figures as files: the page's own drawing code, run by node, on the page's own data. */
#include "lab/report_impl.h"

#include <errno.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* mkdir -p. */
static bool make_folder(const char *path)
{
    char *part = mem_strdup(path);
    for (char *p = part + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        mkdir(part, 0777);
        *p = '/';
    }
    bool ok = mkdir(part, 0777) == 0 || errno == EEXIST;
    free(part);
    return ok;
}

/* Debian's old packages call it nodejs. 0 or errno. */
static int start_node(pid_t *pid, char *const *argv)
{
    int e = posix_spawnp(pid, "node", NULL, NULL, argv, environ);
    return e == ENOENT ? posix_spawnp(pid, "nodejs", NULL, NULL, argv, environ) : e;
}

static bool run_node(const char *script, const char *data, const char *folder, char **error)
{
    pid_t pid;
    int status, e;
    fflush(NULL); /* node prints the names of the files */
    char *argv[] = {"node", (char *)script, (char *)data, (char *)folder, NULL};
    if ((e = start_node(&pid, argv)) != 0)
        return report_fail(
            error, "cannot start node: %s\n  hint: it draws the SVG files; Debian: apt-get install nodejs",
            strerror(e));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    return report_fail(error, "node %s failed; what it printed says why", script);
}

static bool draw_all(const struct report *r, const char *script, const char *folder, char **error)
{
    if (access(script, R_OK))
        return report_fail(error, "cannot read %s: %s\n" REPORT_PAGE_HINT, script, strerror(errno));
    if (!make_folder(folder))
        return report_fail(error, "cannot make the folder %s: %s", folder, strerror(errno));
    struct strbuf data = {0};
    strbuf_printf(&data, "%s/report.json", folder);
    bool ok = report_json(r, data.data, error) && run_node(script, data.data, folder, error);
    unlink(data.data);
    strbuf_free(&data);
    return ok;
}

bool report_svg(const struct report *r, const char *folder, char **error)
{
    struct strbuf script = {0};
    strbuf_printf(&script, "%s/figures.cjs", r->page_dir);
    bool ok = draw_all(r, script.data, folder, error);
    strbuf_free(&script);
    return ok;
}
