/* store.c: opening the file, and statements over it.
 *
 * (1) A file that is not ours, or of a newer schema, is never changed. (2) Everything that belongs to one
 * run is written in one transaction: a process that is killed leaves whole runs. (3) Only this folder's
 * code writes; store_query() reads. */
#include "lab/host.h"
#include "lab/store_impl.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { BUSY_MS = 60000 };

/* ---- errors ---- */

void store_clear_error(struct store *s)
{
    free(s->error);
    s->error = NULL;
}

void store_fail(struct store *s, const char *fmt, ...)
{
    struct strbuf text = {0};
    va_list ap;
    va_start(ap, fmt);
    strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    store_clear_error(s);
    s->error = text.data;
}

/* What SQLite says of the last call, and the system where it was asked. */
static void fail_sqlite(struct store *s)
{
    const int code = sqlite3_errcode(s->db), system = sqlite3_system_errno(s->db);
    const bool is_io = code == SQLITE_IOERR || code == SQLITE_FULL || code == SQLITE_CANTOPEN;
    store_fail(s, "%s: %s%s%s", s->path, sqlite3_errmsg(s->db), is_io && system ? ": " : "",
               is_io && system ? strerror(system) : "");
    s->is_io = is_io;
}

char *store_take_error(struct store *s)
{
    char *error = s->error ? s->error : mem_strdup("unknown error");
    s->error = NULL;
    return error;
}

const char *store_error(const struct store *s) { return s->error; }

/* ---- statements ---- */

static void bind_all(sqlite3_stmt *q, const char *types, va_list ap)
{
    for (int i = 0; types[i]; i++) {
        if (types[i] == 't') {
            const char *text = va_arg(ap, const char *);
            if (text)
                sqlite3_bind_text(q, i + 1, text, -1, SQLITE_TRANSIENT);
            else
                sqlite3_bind_null(q, i + 1);
        } else if (types[i] == 'i') {
            sqlite3_bind_int64(q, i + 1, va_arg(ap, int64_t));
        } else {
            double value = va_arg(ap, double);
            if (isnan(value))
                sqlite3_bind_null(q, i + 1);
            else
                sqlite3_bind_double(q, i + 1, value);
        }
    }
}

static sqlite3_stmt *prepare_list(struct store *s, const char *sql, const char *types, va_list ap)
{
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK) {
        fail_sqlite(s);
        return NULL;
    }
    bind_all(q, types, ap);
    return q;
}

sqlite3_stmt *store_prepare(struct store *s, const char *sql, const char *types, ...)
{
    va_list ap;
    va_start(ap, types);
    sqlite3_stmt *q = prepare_list(s, sql, types, ap);
    va_end(ap);
    return q;
}

int store_step(struct store *s, sqlite3_stmt *q)
{
    assert(q);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW || rc == SQLITE_DONE) return rc;
    fail_sqlite(s);
    return -1;
}

bool store_exec(struct store *s, const char *sql, const char *types, ...)
{
    va_list ap;
    va_start(ap, types);
    sqlite3_stmt *q = prepare_list(s, sql, types, ap);
    va_end(ap);
    int rc = q ? store_step(s, q) : -1;
    sqlite3_finalize(q);
    return rc >= 0;
}

bool store_script(struct store *s, const char *sql)
{
    if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK) return true;
    fail_sqlite(s);
    return false;
}

/* ---- opening ---- */

/* One number of the file. False with an error. */
static bool read_number(struct store *s, const char *sql, int64_t *out)
{
    sqlite3_stmt *q = store_prepare(s, sql, "");
    bool ok = q && store_step(s, q) == SQLITE_ROW;
    if (ok) *out = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return ok;
}

enum file_kind { FILE_BAD, FILE_EMPTY, FILE_OURS };

static enum file_kind look_at_file(struct store *s)
{
    int64_t tables, application, schema;
    if (!read_number(s, "SELECT count(*) FROM sqlite_schema", &tables)) {
        if (sqlite3_errcode(s->db) == SQLITE_NOTADB)
            store_fail(s, "%s is not a store: it is not an SQLite file, or its beginning is damaged",
                       s->path);
        return FILE_BAD;
    }
    if (!read_number(s, "PRAGMA application_id", &application) ||
        !read_number(s, "PRAGMA user_version", &schema))
        return FILE_BAD;
    if (!tables && !application) return FILE_EMPTY;
    if (application != STORE_APPLICATION) {
        store_fail(s, "%s is not a store: it is the SQLite file of another program", s->path);
        return FILE_BAD;
    }
    if (schema == STORE_SCHEMA) return FILE_OURS;
    if (schema <= 0)
        store_fail(s, "%s is damaged: it says that its schema is %lld", s->path, (long long)schema);
    else
        store_fail(s, "%s has schema %lld, made by %s Heddle; this one reads schema %d", s->path,
                   (long long)schema, schema > STORE_SCHEMA ? "a newer" : "an older", (int)STORE_SCHEMA);
    return FILE_BAD;
}

/* A write-ahead log needs memory that all processes share, which file systems of a network do not give. */
static bool is_on_network(const char *path)
{
    static const long network[] = {0x6969 /* NFS */,
                                   0xff534d42 /* CIFS */,
                                   (long)0xfe534d42 /* SMB2 */,
                                   0x0bd00bd0 /* Lustre */,
                                   0x47504653 /* GPFS */,
                                   0x19830326 /* BeeGFS */,
                                   0x00c36400 /* Ceph */,
                                   0x5346414f /* AFS */,
                                   0x65735546 /* FUSE */,
                                   0x01021997 /* 9P */,
                                   0x7461636f /* OCFS2 */};
    struct statfs fs;
    if (statfs(path, &fs)) return false;
    for (size_t i = 0; i < ARRAY_LEN(network); i++)
        if (((unsigned long)fs.f_type & 0xffffffff) == ((unsigned long)network[i] & 0xffffffff)) return true;
    return false;
}

static bool make_tables(struct store *s)
{
    char pragmas[96];
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
             STORE_APPLICATION, STORE_SCHEMA);
    if (!store_script(s, "BEGIN IMMEDIATE")) return false;
    enum file_kind kind = look_at_file(s); /* another process may have made it meanwhile */
    bool ok = kind == FILE_OURS ||
              (kind == FILE_EMPTY && store_script(s, store_schema_sql) && store_script(s, pragmas));
    if (ok) return store_script(s, "COMMIT");
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

/* When two processes make a store at the same moment, one of them finds the file busy at once, without
 * SQLite's usual wait: each holds what the other needs. */
static bool set_journal(struct store *s, const char *sql)
{
    enum { PAUSE_MS = 10 };
    double end = host_now() + BUSY_MS / 1000.0;
    while (sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_BUSY && host_now() < end)
        sqlite3_sleep(PAUSE_MS);
    return store_script(s, sql);
}

static bool set_up(struct store *s, bool may_write)
{
    enum file_kind kind = look_at_file(s);
    if (kind == FILE_BAD) return false;
    if (!may_write) {
        if (kind == FILE_EMPTY) store_fail(s, "%s is not a store: it is empty", s->path);
        return kind == FILE_OURS;
    }
    bool shared = is_on_network(s->path);
    /* In a log, NORMAL loses at most the last runs when the power fails; a killed process loses nothing
     * either way. */
    if (!set_journal(s, shared ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL") ||
        !store_script(s, shared ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL"))
        return false;
    return (kind == FILE_OURS || make_tables(s)) && store_script(s, "PRAGMA foreign_keys = ON");
}

static bool open_file(struct store *s, bool may_write)
{
    struct stat st;
    if (stat(s->path, &st)) {
        if (!may_write || errno != ENOENT) {
            store_fail(s, "cannot open %s: %s", s->path, strerror(errno));
            return false;
        }
    } else if (!S_ISREG(st.st_mode)) {
        store_fail(s, "%s is not a store: it is not a plain file", s->path);
        return false;
    } else if (may_write && access(s->path, W_OK)) {
        store_fail(s, "cannot write %s: %s", s->path, strerror(errno));
        return false;
    }
    int flags = may_write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    if (sqlite3_open_v2(s->path, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK) return true;
    store_fail(s, "cannot open %s: %s", s->path, s->db ? sqlite3_errmsg(s->db) : "no memory");
    return false;
}

struct store *store_open(const char *path, bool may_write, char **error)
{
    struct store *s = mem_zalloc(sizeof *s);
    s->path = mem_strdup(path);
    s->me = store_this_process();
    bool ok = open_file(s, may_write);
    if (ok) {
        sqlite3_busy_timeout(s->db, BUSY_MS);
        store_add_functions(s);
        ok = set_up(s, may_write);
    }
    if (ok) return s;
    *error = store_take_error(s);
    const bool is_io = s->is_io;
    store_close(s);
    errno = is_io ? EIO : 0;
    return NULL;
}

void store_close(struct store *s)
{
    if (!s) return;
    sqlite3_finalize(s->stat_of);
    sqlite3_finalize(s->kernel_of);
    store_kernels_free(s);
    sqlite3_close(s->db);
    free(s->path);
    free(s->me);
    free(s->error);
    free(s);
}
