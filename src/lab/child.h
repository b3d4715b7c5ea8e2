/* child.h: a process of a run: what it prints goes to a file, it is measured, and it does not outlive this
 * process. */
#ifndef HEDDLE_CHILD_H
#define HEDDLE_CHILD_H

#include "base/base.h"

#include <sys/types.h>

struct lab_child {
    pid_t pid;
    /* The time of host_now(). */
    double start;
};

struct lab_child_end {
    /* The exit status; 128 + signal; 127 = it could not be started. */
    int status;
    double seconds;
    uint64_t peak_bytes;
};

/* argv ends in NULL; argv[0] is a path. False with errno. */
bool child_start(struct lab_child *c, const char *const *argv, const char *log);
/* True once it has ended. */
bool child_poll(struct lab_child *c, struct lab_child_end *end);
/* Sleeps until a child ends, a signal comes, or that many seconds have passed. */
void child_pause(double seconds);
/* Ends it with all that it started, and waits for that. */
void child_kill(struct lab_child *c);
/* A program's standard output, and status as of struct lab_child_end. Its standard error goes to the same
 * text. */
int child_output(const char *const *argv, char **text);

#endif
