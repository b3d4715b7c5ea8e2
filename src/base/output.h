/* output.h: files that are complete or not there. What is written goes to a file beside the one that was
 * asked for and takes its name when all of it is on the disk; a failed write leaves what was there before.
 * What is not an ordinary file (a device, a pipe, our own standard output) is written directly.
 *
 * (1) Every failure is reported by output_close(), whichever write met it. (2) A file that grows past the
 * limit of the process (ulimit -f) is a failure like a full disk: the signal that comes with it is taken
 * away. */
#ifndef HEDDLE_OUTPUT_H
#define HEDDLE_OUTPUT_H

#include "base/strbuf.h"

#include <signal.h>

struct output {
    /* Write here. The struct stays where it is while the file is open. */
    FILE *file;
    int fd;
    /* errno of the first write that failed; 0 = none. */
    int error;
    /* The name that the complete file gets, and the one that it has until then; NULL: written directly. */
    char *target, *fresh;
    /* SIGXFSZ is blocked while the file is open; this is the mask from before. */
    sigset_t mask;
};

/* False with errno. */
bool output_open(struct output *o, const char *path);
/* False with errno, and no file: something could not be written. */
bool output_close(struct output *o);
/* The same for a file that must survive a power failure. */
bool output_sync(struct output *o);
/* Gives up: nothing was written. */
void output_drop(struct output *o);

/* All three for a text. False with errno. */
bool output_text(const char *path, const struct strbuf *text);
/* Could a file of this name be written? False with errno. Nothing changes. */
bool output_check(const char *path);
/* A text to a stream of the process, flushed. False with errno as below. */
bool output_print(FILE *f, const struct strbuf *text);
/* Flushes a stream; false: this or an earlier write failed. errno is 0 where the reason is not known. */
bool output_flush(FILE *f);

#endif
