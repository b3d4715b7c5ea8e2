/* store_impl.h: what the files of the store share. */
#ifndef HEDDLE_STORE_IMPL_H
#define HEDDLE_STORE_IMPL_H

#include "base/json_tree.h"
#include "lab/store.h"

#include <sqlite3.h>

enum {
    STORE_SCHEMA = 1,
    /* "HdSt" */
    STORE_APPLICATION = 0x48645374
};
extern const char store_schema_sql[];

struct store {
    sqlite3 *db;
    char *path;
    /* This process, as the holder of a lease. */
    char *me;
    /* What went wrong in the last call; NULL = nothing. */
    char *error;
    /* The error is of reading or writing the file. */
    bool is_io;
    sqlite3_stmt *stat_of, *kernel_of;
    /* store_kernel.c: the run whose document was read last */
    struct store_kernels *kernels;
};

/* Statements: store_prepare binds one argument a letter of `types`: t text (NULL = null), i int64_t, d
 * double (NaN = null). NULL: the error is in s->error. store_step: SQLITE_ROW or SQLITE_DONE, or the error
 * is kept and -1 returned. */
sqlite3_stmt *store_prepare(struct store *s, const char *sql, const char *types, ...);
int store_step(struct store *s, sqlite3_stmt *q);
/* A statement without rows. */
bool store_exec(struct store *s, const char *sql, const char *types, ...);
/* Only for texts without values. */
bool store_script(struct store *s, const char *sql);
void store_fail(struct store *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
void store_clear_error(struct store *s);
/* Hands it over; never NULL. */
char *store_take_error(struct store *s);

/* store_json.c: the text for others to read. A file that a sweep made is named by its place beside the store,
 * STORE.work/FILE: pages and packs are read elsewhere, where the folders above it mean nothing. */
void store_leave_out_folders(const char *text, struct strbuf *out);

/* store_put.c: the columns of a run that follow from its job, for an INSERT. */
struct store_row_texts {
    struct strbuf identity, settings, mechs, mech_settings, command, machine;
};
bool store_row_texts(struct store *s, const struct lab_job *job, struct store_row_texts *out);
void store_row_texts_free(struct store_row_texts *t);
#define STORE_JOB_COLUMNS                                                                                    \
    "key, identity, simulator, workload, size, machine, settings, mechs, mech_settings, seed, sample, "      \
    "command"
#define STORE_JOB_VALUES "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12"
#define STORE_JOB_TYPES  "tttttttttiit"
#define STORE_JOB_ARGUMENTS(job, t)                                                                          \
    (job)->key, strbuf_text(&(t)->identity), job_simulator(), (job)->workload->name, (job)->size,            \
        strbuf_text(&(t)->machine), strbuf_text(&(t)->settings), strbuf_text(&(t)->mechs),                   \
        strbuf_text(&(t)->mech_settings), (int64_t)(job)->seed, (int64_t)(job)->run.timed.sample_cycles,     \
        strbuf_text(&(t)->command)

/* A row of the table run, as docs/store.md describes it. */
struct store_run {
    const char *key, *identity, *simulator, *workload, *size, *machine, *settings, *mechs, *mech_settings,
        *command;
    int64_t seed, sample, status;
    bool is_done;
    /* NULL where there are none */
    const char *error, *log, *hash, *host;
    double seconds;
    /* 0 = unknown */
    int64_t peak_bytes;
    /* seconds since 1970 */
    int64_t started, finished;
};
/* store_put.c: the run in all tables, within the caller's transaction; of a run that is done its document,
 * too. *is_new is false where the store had it, with the same statistics. False: s->error. */
bool store_put_run(struct store *s, const struct store_run *r, const struct json_node *root, const char *text,
                   size_t len, bool *is_new);

/* store_kernel.c: the run's document, until that of another run is asked for; NULL: it has none, or it cannot
 * be read. */
const struct json_node *store_document_root(struct store *s, const char *key);
void store_kernels_free(struct store *s);

/* store_loads.c, store_tuples.c: members of a run's JSON, each with the comma before it; `tuples` only where
 * Poise ran. */
void store_put_loads(struct store *s, const char *key, struct strbuf *out);
void store_put_tuples(struct store *s, const char *key, struct strbuf *out);

/* store_lease.c */
char *store_this_process(void);
/* heddle_gone(who). */
void store_add_functions(struct store *s);

/* store_document.c: the JSON of --stats in the tables. `run` is run.id; text its whole content. False:
 * s->error. */
bool store_put_document(struct store *s, int64_t run, const struct json_node *root, const char *text,
                        size_t len);
/* What its names mean: a map of names, each with `unit` and `help`; NULL: nothing. */
bool store_put_legend(struct store *s, const struct json_node *legend);

/* Is this what --stats writes? NULL, or what is missing. */
const char *store_check_document(const struct json_node *root);
/* Was the run ended before its end? */
bool store_is_partial(const struct json_node *root);

#endif
