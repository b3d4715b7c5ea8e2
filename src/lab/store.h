/* store.h: results of runs, in one SQLite file (docs/store.md has the schema). Several processes may use
 * it at once. */
#ifndef HEDDLE_STORE_H
#define HEDDLE_STORE_H

#include "lab/job.h"

struct store;

enum store_state {
    /* This run was not made. */
    STORE_ABSENT,
    /* A process is making it: the lease is fresh. */
    STORE_RUNNING,
    STORE_DONE,
    /* It was made and ended with an error, which is kept. */
    STORE_FAILED
};

/* Opens or makes the file. NULL with an error in words in *error (to be freed): not a store, of a newer
 * schema, not writable. errno is EIO where the file could not be read or written, else 0. */
struct store *store_open(const char *path, bool may_write, char **error);
void store_close(struct store *s);
/* Why the last store_state, store_take, store_hold, store_give_up or store_stat could not be done; NULL =
 * it could. */
const char *store_error(const struct store *s);

enum store_state store_state(struct store *s, const char *key);
/* Takes a run for this process (`who` NULL) or for a batch job of that name, unless another has it. The
 * lease runs out after `seconds` without store_hold(), and at once when the process that took it for
 * itself is gone from this machine. True: it is ours. A failed run can be taken again; a done one cannot. */
bool store_take(struct store *s, const struct lab_job *job, const char *who, uint32_t seconds);
void store_hold(struct store *s, const char *key, const char *who, uint32_t seconds);
/* The run was not made: gives the lease back, as if it had never been taken. */
void store_give_up(struct store *s, const char *key, const char *who);

/* The outcome of a run. */
struct store_outcome {
    /* Exit status; 128 + signal. */
    int status;
    /* Path of the JSON file; may be missing when status is not 0. */
    const char *stats;
    /* Path of what it printed; its tail is the error of a failed run. */
    const char *log;
    /* Host time. */
    double seconds;
    /* Host memory; 0 = unknown. */
    uint64_t peak_bytes;
    const char *host;
};
/* All or nothing, in one transaction. A run that is done stays as it is; one of the same key with other
 * statistics is an error. A run with status 0 whose JSON cannot be read is a failed one. False: the store
 * could not be written. */
bool store_put(struct store *s, const struct lab_job *job, const struct store_outcome *o, char **error);
/* Is this a whole JSON file? */
bool store_can_read(const char *path);

/* A statistic of the whole run, such as "l1.aml", "ipc", "cycles", "host.seconds"; a histogram's bin is
 * "dram.queue_level[3]". NAN: the run does not have it. */
double store_stat(struct store *s, const char *key, const char *name);
/* The same of one launch of the run, by its number. NAN: there is no such launch, or it does not have it. */
double store_kernel_stat(struct store *s, const char *key, uint64_t launch, const char *name);
/* The number of the `nth` launch of a kernel, from 1; 0: there is none. */
uint64_t store_kernel_launch(struct store *s, const char *key, const char *kernel, uint32_t nth);
/* Calls back for each launch, in the order of their numbers. False: the store cannot be read. */
typedef void (*store_launch)(void *context, uint64_t launch, const char *kernel);
bool store_kernels(struct store *s, const char *key, store_launch tell, void *context);
/* The JSON that --stats left, but for its legend. False: no such run, or it has none. */
bool store_document(struct store *s, const char *key, struct strbuf *out);
/* A run for the report, as a JSON object (docs/store.md): identity, state, error, command, statistics, stall
 * stack, kernels, loads, time series. STORE_BRIEF: the identity without the simulator, cycles and IPC, and
 * what figures draw; a thirtieth of the bytes. False: no such run. */
enum store_detail { STORE_WHOLE, STORE_BRIEF };
bool store_run_json(struct store *s, const char *key, enum store_detail detail, struct strbuf *out);

/* Any SELECT; rows as they come. False with the error in words. */
typedef bool (*store_row)(void *context, int columns, const char *const *values, const char *const *names);
bool store_query(struct store *s, const char *sql, store_row row, void *context, char **error);

#endif
