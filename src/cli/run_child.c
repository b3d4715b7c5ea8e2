/* run_child.c: see run_child.h.
 *
 * The program stays in our process group: what a terminal sends (Ctrl-C, Ctrl-Z, a closed window) reaches
 * both, and we only wait. What is sent to this process alone (kill, timeout, a batch system) is passed on.
 * Orphans of a script become our children (PR_SET_CHILD_SUBREAPER), so that they can be found. If this
 * process is killed, the kernel ends the program, and the CUDA library the programs of a script
 * (cuda/gpu_keep.c). */
#define _GNU_SOURCE /* sigwaitinfo, sigtimedwait */
#include "cli/run_child.h"

#include "base/vec.h"
#include "cli/cli.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- what the program started ---- */

struct process {
    pid_t pid, parent;
    bool is_ours;
};
struct process_list {
    VEC(struct process) items;
};

/* /proc/PID/stat: "PID (name) state parent ..."; the name may hold anything. */
static pid_t parent_of(const char *pid)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
    if (f) fclose(f);
    line[n] = 0;
    const char *end = strrchr(line, ')');
    int parent = 0;
    return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

static void list_processes(struct process_list *out)
{
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));)
        if (isdigit((unsigned char)e->d_name[0]))
            vec_push(&out->items, (struct process){(pid_t)atoi(e->d_name), parent_of(e->d_name), false});
    if (d) closedir(d);
}

static bool is_ours(const struct process_list *l, pid_t pid)
{
    if (pid == getpid()) return true;
    for (uint32_t i = 0; i < l->items.len; i++)
        if (l->items.data[i].pid == pid) return l->items.data[i].is_ours;
    return false;
}

/* Marks children, then theirs, until nothing is added. */
static void mark_ours(struct process_list *l)
{
    for (bool added = true; added;) {
        added = false;
        for (uint32_t i = 0; i < l->items.len; i++) {
            struct process *p = &l->items.data[i];
            if (p->is_ours || !is_ours(l, p->parent)) continue;
            p->is_ours = added = true;
        }
    }
}

/* To everything that this process started, directly or not. */
static void signal_all(int number)
{
    struct process_list l = {0};
    list_processes(&l);
    mark_ours(&l);
    for (uint32_t i = 0; i < l.items.len; i++)
        if (l.items.data[i].is_ours) kill(l.items.data[i].pid, number);
    vec_free(&l.items);
}

/* ---- signals ---- */

/* What is passed on, and the end of a child. */
static void make_set(sigset_t *set)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD};
    sigemptyset(set);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) sigaddset(set, numbers[i]);
}

/* Takes in who has ended. True: the program is among them. */
static bool reap(struct run_child *c)
{
    int status;
    bool over = false;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid != c->pid) continue;
        c->wait_status = status;
        over = true;
    }
    return over;
}

enum { PATIENCE_SECONDS = 5 };

static void on_signal(struct run_child *c, int number, const siginfo_t *info)
{
    c->asked = number;
    if (info->si_code <= 0) signal_all(number); /* a process sent it; a terminal sends to the group */
    if (info->si_pid == c->parent && getppid() != c->parent) c->deadline = time(NULL) + PATIENCE_SECONDS;
}

static void wait_for_end(struct run_child *c, const sigset_t *set)
{
    const struct timespec second = {.tv_sec = 1};
    while (!reap(c)) {
        siginfo_t info;
        int number = c->deadline ? sigtimedwait(set, &info, &second) : sigwaitinfo(set, &info);
        if (number > 0 && number != SIGCHLD) on_signal(c, number, &info);
        if (c->deadline && time(NULL) > c->deadline) signal_all(SIGKILL);
    }
}

/* The program was ended; its children get the same signal, and a while to follow it. */
static void end_rest(int number, const sigset_t *set)
{
    const time_t end = time(NULL) + PATIENCE_SECONDS;
    const struct timespec pause = {.tv_nsec = 100000000};
    for (bool is_late = false;; is_late = time(NULL) > end) {
        while (waitpid(-1, NULL, WNOHANG) > 0) {}
        if (waitpid(-1, NULL, WNOHANG) < 0) return; /* there are none */
        signal_all(is_late ? SIGKILL : number);
        sigtimedwait(set, NULL, &pause);
    }
}

/* ---- life ---- */

_Noreturn static void become(const char *program, char *const *argv, const sigset_t *mask, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(CLI_FAILED); /* it ended before the line above */
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execv(program, argv);
    fprintf(stderr, "heddle: error: cannot run '%s': %s\n", program, strerror(errno));
    _exit(CLI_BAD_INPUT);
}

bool run_child(struct run_child *c, const char *program, char *const *argv)
{
    sigset_t set, before;
    const pid_t self = getpid();
    *c = (struct run_child){.parent = getppid()};
    make_set(&set);
    signal(SIGCHLD, SIG_DFL); /* where it is ignored, statuses are lost */
    sigprocmask(SIG_BLOCK, &set, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(NULL);
    c->pid = fork();
    if (c->pid == 0) become(program, argv, &before, self);
    if (c->pid < 0) {
        fprintf(stderr, "heddle: error: cannot start a process: %s\n", strerror(errno));
        return false;
    }
    wait_for_end(c, &set);
    if (c->asked || WIFSIGNALED(c->wait_status))
        end_rest(WIFSIGNALED(c->wait_status) ? WTERMSIG(c->wait_status) : c->asked, &set);
    return true;
}

bool run_child_exited(const struct run_child *c) { return WIFEXITED(c->wait_status); }

int run_child_pass_on(const struct run_child *c, bool failed)
{
    if (WIFEXITED(c->wait_status)) {
        int status = WEXITSTATUS(c->wait_status);
        return status == CLI_OK && failed ? CLI_FAILED : status;
    }
    const int number = WTERMSIG(c->wait_status);
    const struct rlimit no_core = {0, 0}; /* the program has left its own */
    sigset_t set;
    setrlimit(RLIMIT_CORE, &no_core);
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    fflush(NULL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    return 128 + number;
}
