/* store_lease.c: who makes which run. A lease ends by time, or, where a process of this machine took it
 * for itself, with that process. */
#include "lab/store_impl.h"

#include <inttypes.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

/* ---- processes ---- */

/* Clock ticks since boot at which the process began: a process with the same number and another start is
 * another process. 0 = there is none. */
static uint64_t process_start(long pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    const char *p = strrchr(text, ')');       /* the name may hold anything; the state follows it */
    if (!p || !p[1] || p[2] == 'Z') return 0; /* a zombie will not finish its runs */
    /* fields of proc(5) */
    enum { STATE = 3, START = 22 };
    for (int field = STATE - 1; field < START && p; field++) p = strchr(p + 1, ' ');
    return p ? strtoull(p + 1, NULL, 10) : 0;
}

/* The machine, and the name space that its process numbers belong to: containers may share a host's name. */
static void this_place(struct strbuf *out)
{
    char host[HOST_NAME_MAX + 1] = "?", space[64] = "";
    gethostname(host, sizeof host - 1);
    ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[n > 0 ? n : 0] = 0;
    strbuf_printf(out, "%s %s", host, *space ? space : "pid:[?]");
}

char *store_this_process(void)
{
    struct strbuf text = {0};
    long pid = (long)getpid();
    strbuf_printf(&text, "process %ld %" PRIu64 " ", pid, process_start(pid));
    this_place(&text);
    return text.data;
}

static bool is_gone(const char *who)
{
    long pid;
    uint64_t start;
    int at = 0;
    if (!who || sscanf(who, "process %ld %" SCNu64 " %n", &pid, &start, &at) < 2 || !at) return false;
    struct strbuf place = {0};
    this_place(&place);
    bool here = !strcmp(who + at, strbuf_text(&place));
    strbuf_free(&place);
    return here && process_start(pid) != start;
}

static void sql_gone(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    sqlite3_result_int(context, is_gone((const char *)sqlite3_value_text(values[0])));
}

void store_add_functions(struct store *s)
{
    sqlite3_create_function(s->db, "heddle_gone", 1, SQLITE_UTF8, NULL, sql_gone, NULL, NULL);
}

/* ---- leases ---- */

enum store_state store_state(struct store *s, const char *key)
{
    static const struct {
        const char *text;
        enum store_state state;
    } states[] = {
        {"done", STORE_DONE}, {"failed", STORE_FAILED}, {"running", STORE_RUNNING}, {"", STORE_ABSENT}};
    store_clear_error(s);
    sqlite3_stmt *q = store_prepare(
        s,
        "SELECT CASE WHEN state <> 'running' OR (lease >= ?2 AND NOT heddle_gone(who)) THEN state"
        " WHEN finished IS NOT NULL THEN 'failed' ELSE '' END FROM run WHERE key = ?1",
        "ti", key, (int64_t)time(NULL));
    enum store_state state = STORE_ABSENT;
    if (q && store_step(s, q) == SQLITE_ROW)
        for (size_t i = 0; i < ARRAY_LEN(states); i++)
            if (!strcmp((const char *)sqlite3_column_text(q, 0), states[i].text)) state = states[i].state;
    sqlite3_finalize(q);
    return state;
}

/* Can the run be taken? It has failed, or its lease is old, ours already, or of a process that is gone. */
#define TAKE_SQL                                                                                             \
    "INSERT INTO run(" STORE_JOB_COLUMNS ", state, who, lease, started)"                                     \
    " VALUES(" STORE_JOB_VALUES ", 'running', ?13, ?14, ?15)"                                                \
    " ON CONFLICT(key) DO UPDATE SET state = 'running', who = excluded.who, lease = excluded.lease,"         \
    " started = excluded.started WHERE run.state = 'failed' OR (run.state = 'running' AND"                   \
    " (run.lease < excluded.started OR run.who = excluded.who OR heddle_gone(run.who)))"

/* One statement: when two processes take the run at the same time, the second finds the lease of the
 * first. */
bool store_take(struct store *s, const struct lab_job *job, const char *who, uint32_t seconds)
{
    assert(strlen(job->key) == JOB_KEY_CHARS && seconds);
    store_clear_error(s);
    struct store_row_texts t;
    int64_t now = (int64_t)time(NULL);
    bool ok = store_row_texts(s, job, &t) &&
              store_exec(s, TAKE_SQL, STORE_JOB_TYPES "tii", STORE_JOB_ARGUMENTS(job, &t), who ? who : s->me,
                         now + (int64_t)seconds, now);
    store_row_texts_free(&t);
    return ok && sqlite3_changes(s->db) > 0;
}

void store_hold(struct store *s, const char *key, const char *who, uint32_t seconds)
{
    assert(seconds);
    store_clear_error(s);
    store_exec(s, "UPDATE run SET lease = ?3 WHERE key = ?1 AND who = ?2 AND state = 'running'", "tti", key,
               who ? who : s->me, (int64_t)time(NULL) + (int64_t)seconds);
}

void store_give_up(struct store *s, const char *key, const char *who)
{
    store_clear_error(s);
    const char *by = who ? who : s->me;
    /* A run that had failed before the lease is marked as failed again; any other run is removed. */
    if (store_exec(s,
                   "UPDATE run SET state = 'failed', who = NULL, lease = NULL WHERE key = ?1 AND who = ?2"
                   " AND state = 'running' AND finished IS NOT NULL",
                   "tt", key, by))
        store_exec(s, "DELETE FROM run WHERE key = ?1 AND who = ?2 AND state = 'running'", "tt", key, by);
}
