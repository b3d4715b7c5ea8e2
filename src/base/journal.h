/* journal.h: results of a process in memory that another process holds, so that they survive the end of the
 * first one, however it ends.
 *
 * The keeper makes the journal and starts the writer, which finds it by a path. The writer adds records and
 * commits them together with a state, a block of bytes that is replaced by every commit.
 * (1) A reader sees the last commit, whole: records up to it, and its state. There are two copies of the
 * state; one store in shared memory says which is valid. (2) One process writes at a time, and the next
 * one may begin when it has ended. (3) Records are bytes: writer and reader are of the same build. */
#ifndef HEDDLE_JOURNAL_H
#define HEDDLE_JOURNAL_H

#include "base/strbuf.h"

#include <stdatomic.h>
#include <sys/types.h>

/* In shared memory: the beginning of the file. */
struct journal_head {
    uint64_t magic;
    /* The process that writes, or wrote last; 0 = none yet. */
    _Atomic int32_t writer;
    /* Which copy of the state is valid: 1 or 2; 0 = nothing was committed. */
    _Atomic uint32_t valid;
    /* Written by the writer, for the keeper: there is work that was begun and not committed; all is done,
     * and nobody needs the journal. */
    _Atomic uint32_t is_pending, is_done;
    /* Written by the keeper: it ended as it should, and the writer may go on without it. */
    _Atomic uint32_t keeper_left;
    /* Bytes of a state. */
    uint64_t state_bytes;
};

struct journal {
    int fd;
    struct journal_head *head;
    /* Records since the last commit, and bytes of records in the file. */
    struct strbuf fresh;
    uint64_t record_bytes;
    /* Bytes that a file may have (ulimit -f). */
    uint64_t bytes_max;
};

/* ---- the keeper ---- */

/* False with errno. */
bool journal_make(struct journal *j);
/* Where the writer finds it. */
void journal_path(const struct journal *j, struct strbuf *out);
/* The writer has ended; what it committed belongs to the caller. */
bool journal_seize(struct journal *j);
void journal_close(struct journal *j);

/* ---- the writer ---- */

/* False with errno; EAGAIN: another process writes. The head can be read in that case too. */
bool journal_join(struct journal *j, const char *path);
/* Forgets all records; states have this size from now on. */
void journal_begin(struct journal *j, size_t state_bytes);
void journal_add(struct journal *j, uint32_t kind, const void *data, size_t bytes);
/* False with errno: the journal stays at the commit before. */
bool journal_commit(struct journal *j, const void *state);

/* ---- reading ---- */

struct journal_view {
    const char *map;
    size_t map_bytes;
    const void *state;
    size_t state_bytes;
    const char *next, *end;
};

/* False: nothing was committed. */
bool journal_view_open(struct journal_view *v, const struct journal *j);
/* The next record; false: there are no more. */
bool journal_view_next(struct journal_view *v, uint32_t *kind, const void **data, size_t *bytes);
void journal_view_close(struct journal_view *v);

#endif
