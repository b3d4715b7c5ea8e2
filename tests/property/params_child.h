/* params_child.h: work that may crash or hang, in a child process. */
#ifndef HEDDLE_PARAMS_CHILD_H
#define HEDDLE_PARAMS_CHILD_H

#include <stdint.h>

/* Failures that are shown. */
enum { CHILD_FAILURES_MAX = 20 };

enum child_end { CHILD_DONE, CHILD_WRONG, CHILD_CRASHED, CHILD_HANGS };

/* Runs work in a child process, which ends by itself with _exit(1) where a row is wrong. */
enum child_end child_run(void (*work)(void *ctx), void *ctx);
const char *child_end_name(enum child_end how);
/* In the child, before each row: one that takes more processor time ends the child: it hangs. */
void child_begin_row(uint32_t seconds);

#endif
