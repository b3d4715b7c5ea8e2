/* said_kit.h: what is written to stderr between two calls, for tests of messages. */
#ifndef HEDDLE_SAID_KIT_H
#define HEDDLE_SAID_KIT_H

#include "base/strbuf.h"

#include <stdio.h>
#include <unistd.h>

static int said_saved = -1;
static FILE *said_file;

static inline void said_begin(void)
{
    fflush(stderr);
    said_saved = dup(2);
    said_file = tmpfile();
    assert_true(said_saved >= 0 && said_file && dup2(fileno(said_file), 2) == 2);
}

static inline void said_end(struct strbuf *out)
{
    char piece[4096];
    fflush(stderr);
    dup2(said_saved, 2);
    close(said_saved);
    rewind(said_file);
    for (size_t n; (n = fread(piece, 1, sizeof piece, said_file)) > 0;) strbuf_add(out, piece, n);
    fclose(said_file);
}

#endif
