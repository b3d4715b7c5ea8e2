/* child.c: start, wait, end. Each child leads a process group of its own: Ctrl-C of the terminal reaches
 * this process alone, which then decides. The kernel sends a signal to a child whose parent is gone; `heddle
 * run` then ends all that it started, so that a killed sweep leaves no process behind. */
#define _GNU_SOURCE /* wait4, environ */
#include "lab/child.h"

#include "base/strbuf.h"
#include "lab/host.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The signal that a child has ended is blocked, except in child_pause(). */
static void hold_signal(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(how, &set, NULL);
}

/* Only the command line determines what a run does; the user's environment may only say where files are
 * found. */
static void drop_settings(void)
{
    static const char *const kept[] = {"HEDDLE_HOME=", "HEDDLE_WORKLOADS="};
    char **to = environ;
    for (char **from = environ; *from; from++) {
        bool keep = strncmp(*from, "HEDDLE_", 7) != 0;
        for (size_t i = 0; i < ARRAY_LEN(kept) && !keep; i++)
            keep = !strncmp(*from, kept[i], strlen(kept[i]));
        if (keep) *to++ = *from;
    }
    *to = NULL;
}

_Noreturn static void become(const char *const *argv, int in, int out, pid_t parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127); /* it ended before the line above */
    hold_signal(SIG_UNBLOCK);
    signal(SIGXFSZ, SIG_DFL);
    drop_settings();
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(127);
    execvp(argv[0], (char *const *)argv);
    fprintf(stderr, "heddle: error: cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

static pid_t launch(const char *const *argv, int out)
{
    pid_t self = getpid();
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    signal(SIGCHLD, SIG_DFL); /* where it is ignored, statuses are lost */
    hold_signal(SIG_BLOCK);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) become(argv, in, out, self);
    if (pid > 0) setpgid(pid, pid); /* called in parent and child, whichever runs first */
    int error = errno;
    if (in >= 0) close(in);
    errno = error;
    return pid;
}

bool child_start(struct lab_child *c, const char *const *argv, const char *log)
{
    assert(argv && argv[0]);
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (out < 0) return false;
    *c = (struct lab_child){.start = host_now(), .pid = launch(argv, out)};
    int error = errno;
    close(out);
    errno = error;
    return c->pid > 0;
}

static int exit_status(int wait_status)
{
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

bool child_poll(struct lab_child *c, struct lab_child_end *end)
{
    assert(c->pid > 0); /* or wait4() would wait for any child */
    int status = 0;
    struct rusage usage = {0};
    pid_t pid = wait4(c->pid, &status, WNOHANG, &usage);
    if (pid == 0 || (pid < 0 && errno == EINTR)) return false;
    *end = (struct lab_child_end){.status = pid < 0 ? 127 : exit_status(status),
                                  .seconds = host_now() - c->start,
                                  .peak_bytes = (uint64_t)usage.ru_maxrss * 1024};
    return true;
}

void child_pause(double seconds)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    double whole = floor(seconds);
    struct timespec t = {(time_t)whole, (long)((seconds - whole) * 1e9)};
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigtimedwait(&set, NULL, &t);
}

void child_kill(struct lab_child *c)
{
    kill(-c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {}
}

int child_output(const char *const *argv, char **text)
{
    int ends[2], status = 0;
    struct strbuf out = {0};
    char part[4096];
    *text = NULL;
    if (pipe2(ends, O_CLOEXEC)) return 127;
    pid_t pid = launch(argv, ends[1]);
    close(ends[1]);
    for (ssize_t n; pid > 0;) {
        n = read(ends[0], part, sizeof part);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        strbuf_add(&out, part, (size_t)n);
    }
    close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    *text = mem_strdup(strbuf_text(&out));
    strbuf_free(&out);
    return pid > 0 ? exit_status(status) : 127;
}
