/* params_child.c: a child by fork; what it leaves is in memory that both share. */
#include "property/params_child.h"

#include "base/base.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

void child_begin_row(uint32_t seconds)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = seconds}, NULL);
}

enum child_end child_run(void (*work)(void *ctx), void *ctx)
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        work(ctx);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) abort();
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGPROF ? CHILD_HANGS : CHILD_CRASHED;
    return WEXITSTATUS(status) == 0 ? CHILD_DONE : CHILD_WRONG;
}

const char *child_end_name(enum child_end how)
{
    static const char *const names[] = {"done", "wrong", "crashes", "hangs"};
    assert(how < ARRAY_LEN(names));
    return names[how];
}
