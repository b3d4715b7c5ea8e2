/* sweep_files.c: the folder of a sweep. A run leaves KEY.json and KEY.log, and KEY.end when all of it is
 * there.
 * (1) KEY.end has its name only once it is whole, and comes last: who sees it may read the others.
 * (2) Ends are taken into the store under the folder's lock, so that two sweeps do not take the same one.
 * (3) KEY.end goes first when the store has it: what is left without it is of no use, and made again. */
#include "base/output.h"
#include "lab/sweep_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

void sweep_path(struct strbuf *out, const char *folder, const char *key, const char *suffix)
{
    assert(folder && key && suffix);
    out->len = 0;
    strbuf_printf(out, "%s/%s%s", folder, key, suffix);
}

int sweep_lock(const char *folder)
{
    struct strbuf path = {0};
    sweep_path(&path, folder, "lock", "");
    int fd = open(strbuf_text(&path), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    while (fd >= 0 && flock(fd, LOCK_EX)) {
        if (errno == EINTR) continue;
        close(fd);
        fd = -1;
    }
    if (fd < 0) fprintf(stderr, "heddle: error: cannot lock %s: %s\n", strbuf_text(&path), strerror(errno));
    strbuf_free(&path);
    return fd;
}

bool sweep_has_end(const char *folder, const char *key)
{
    struct strbuf path = {0};
    sweep_path(&path, folder, key, ".end");
    bool there = !access(strbuf_text(&path), F_OK);
    strbuf_free(&path);
    return there;
}

void sweep_append_log(const char *folder, const char *key, const char *fmt, ...)
{
    struct strbuf path = {0};
    sweep_path(&path, folder, key, ".log");
    FILE *f = fopen(strbuf_text(&path), "a");
    va_list ap;
    va_start(ap, fmt);
    bool ok = f && vfprintf(f, fmt, ap) >= 0;
    va_end(ap);
    if (f) ok = !fclose(f) && ok;
    if (!ok) fprintf(stderr, "heddle: error: cannot write %s: %s\n", strbuf_text(&path), strerror(errno));
    strbuf_free(&path);
}

void sweep_clear(const char *folder, const char *key)
{
    static const char *const suffixes[] = {".end", ".json", ".log"};
    struct strbuf path = {0};
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        sweep_path(&path, folder, key, suffixes[i]);
        unlink(strbuf_text(&path));
    }
    strbuf_free(&path);
}

static bool write_line(const char *folder, const char *key, const struct lab_child_end *end, int status)
{
    struct strbuf path = {0};
    struct output out;
    char host[HOST_NAME_BYTES];
    host_name(host);
    sweep_path(&path, folder, key, ".end");
    bool ok = output_open(&out, strbuf_text(&path));
    if (ok) {
        fprintf(out.file, "%d %.3f %llu %s\n", status, end->seconds, (unsigned long long)end->peak_bytes,
                host);
        ok = output_sync(&out);
    }
    strbuf_free(&path);
    return ok;
}

bool sweep_write_end(const char *folder, const char *key, const char *part, const struct lab_child_end *end)
{
    struct strbuf path = {0};
    int status = end->status;
    sweep_path(&path, folder, key, ".json");
    if (status > 128)
        sweep_append_log(folder, key, "heddle: error: the run was ended by signal %d (%s)%s\n", status - 128,
                         strsignal(status - 128), status == 137 ? ": is there enough memory?" : "");
    if (status == 0 && rename(part, strbuf_text(&path))) {
        sweep_append_log(folder, key, "heddle: error: the run left no statistics: %s: %s\n", part,
                         strerror(errno));
        status = 1;
    }
    if (status) unlink(part);
    strbuf_free(&path);
    return write_line(folder, key, end, status);
}

static bool read_end(const char *path, struct store_outcome *o, char host[HOST_NAME_BYTES])
{
    FILE *f = fopen(path, "r");
    unsigned long long peak = 0;
    bool ok = f && fscanf(f, "%d %lf %llu %63s", &o->status, &o->seconds, &peak, host) == 4;
    if (f) fclose(f);
    o->peak_bytes = peak;
    o->host = host;
    return ok;
}

int sweep_take_end(struct store *s, const struct lab_job *job, const char *folder, int *status,
                   double *seconds)
{
    struct strbuf end = {0}, stats = {0}, log = {0};
    char host[HOST_NAME_BYTES], *error = NULL;
    struct store_outcome o = {0};
    int result = 0;
    sweep_path(&end, folder, job->key, ".end");
    sweep_path(&stats, folder, job->key, ".json");
    sweep_path(&log, folder, job->key, ".log");
    if (read_end(strbuf_text(&end), &o, host)) {
        o.stats = strbuf_text(&stats);
        o.log = strbuf_text(&log);
        result = store_put(s, job, &o, &error) ? 1 : -1;
        if (result > 0)
            sweep_clear(folder, job->key);
        else
            fprintf(stderr, "heddle: error: cannot keep %s: %s\n", strbuf_text(&stats),
                    error ? error : "the store cannot be written");
        *status = o.status;
        *seconds = o.seconds;
    }
    free(error);
    strbuf_free(&end);
    strbuf_free(&stats);
    strbuf_free(&log);
    return result;
}

static const struct lab_job *find_job(const struct plan *plans, uint32_t plan_count, const char *key)
{
    for (uint32_t p = 0; p < plan_count; p++)
        for (uint32_t j = 0; j < plans[p].job_count; j++)
            if (!strcmp(plans[p].jobs[j].key, key)) return &plans[p].jobs[j];
    return NULL;
}

/* Names first, then the files: a folder that changes while it is read may leave names out. Reading it
 * makes a network's file system look again. */
void sweep_find_ends(const char *folder, struct map *keys)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n != JOB_KEY_CHARS + 4 || strcmp(e->d_name + JOB_KEY_CHARS, ".end")) continue;
        char key[JOB_KEY_CHARS + 1];
        memcpy(key, e->d_name, JOB_KEY_CHARS);
        key[JOB_KEY_CHARS] = 0;
        map_put(keys, key, keys);
    }
    if (d) closedir(d);
}

/* ---- what killed sweeps left ---- */

/* The key at the beginning of KEY.something; false: another file's name. */
static bool key_of(const char *name, char key[JOB_KEY_CHARS + 1])
{
    if (strspn(name, "0123456789abcdef") != JOB_KEY_CHARS || name[JOB_KEY_CHARS] != '.') return false;
    memcpy(key, name, JOB_KEY_CHARS);
    key[JOB_KEY_CHARS] = 0;
    return true;
}

/* A run takes its lease before it makes files, so files without a lease are left over. Files of a run with an
 * end are for the store. A head of Slurm may not be running, so its files stay as long as it has jobs. */
static bool is_stale(struct store *s, const char *folder, const char *key)
{
    return !sweep_has_end(folder, key) && store_state(s, key) != STORE_RUNNING;
}

static void remove_stale(struct store *s, const char *folder)
{
    struct strbuf path = {0};
    sweep_path(&path, folder, "slurm.jobs", "");
    DIR *d = access(strbuf_text(&path), F_OK) ? opendir(folder) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        char key[JOB_KEY_CHARS + 1];
        if (!key_of(e->d_name, key) || !is_stale(s, folder, key)) continue;
        sweep_path(&path, folder, e->d_name, "");
        unlink(strbuf_text(&path));
    }
    if (d) closedir(d);
    strbuf_free(&path);
}

/* The statistics of a run that ended well, cut by a failing disk or power supply: the run is made again. */
static bool is_damaged(const char *folder, const char *key)
{
    struct strbuf end = {0}, stats = {0};
    struct store_outcome o = {0};
    char host[HOST_NAME_BYTES];
    sweep_path(&end, folder, key, ".end");
    sweep_path(&stats, folder, key, ".json");
    bool ended = read_end(strbuf_text(&end), &o, host);
    bool damaged = !ended || (o.status == 0 && !store_can_read(strbuf_text(&stats)));
    strbuf_free(&end);
    strbuf_free(&stats);
    return damaged;
}

bool sweep_gather(struct store *s, const struct plan *plans, uint32_t plan_count, const char *folder,
                  uint32_t *gathered)
{
    struct map keys = {0};
    bool ok = true;
    *gathered = 0;
    if (access(folder, F_OK)) return true; /* no sweep began here */
    int lock = sweep_lock(folder);
    if (lock < 0) return false;
    sweep_find_ends(folder, &keys);
    for (uint32_t i = 0; i < keys.entries.len && ok; i++) {
        const struct lab_job *job = find_job(plans, plan_count, keys.entries.data[i].key);
        int status;
        double seconds;
        if (job && is_damaged(folder, job->key)) {
            sweep_clear(folder, job->key);
            continue;
        }
        int taken = job ? sweep_take_end(s, job, folder, &status, &seconds) : 0;
        *gathered += taken > 0;
        ok = taken >= 0;
    }
    if (ok) remove_stale(s, folder);
    close(lock);
    map_free(&keys);
    return ok;
}
