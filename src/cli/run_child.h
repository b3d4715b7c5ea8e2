/* run_child.h: the program of `heddle run` as a child of it: its signals, its end, and what it started. */
#ifndef HEDDLE_RUN_CHILD_H
#define HEDDLE_RUN_CHILD_H

#include "base/base.h"

#include <sys/types.h>
#include <time.h>

struct run_child {
    pid_t pid;
    /* The status from waitpid(), when the program has ended. */
    int wait_status;
    /* A signal that this process was sent; 0 = none. */
    int asked;
    /* The process that started this one, and when the program must have ended if that process is gone; 0 = it
     * is there. */
    pid_t parent;
    time_t deadline;
};

/* Starts the program and waits for its end; argv ends in NULL. Signals that come meanwhile are passed on to
 * the program and all that it started; when one of them ends it, nothing that it started stays. Where the
 * signal says that the process that started us is gone (PR_SET_PDEATHSIG), the program has a few seconds to
 * follow it. False: an error was printed. */
bool run_child(struct run_child *c, const char *program, char *const *argv);
/* Did the program end by itself? */
bool run_child_exited(const struct run_child *c);
/* The exit status for the caller of `heddle run`; where a signal ended the program, it ends this process
 * too, and there is no return. */
int run_child_pass_on(const struct run_child *c, bool failed);

#endif
