/* output.c: see output.h. */
#define _GNU_SOURCE /* fopencookie */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- SIGXFSZ ---- */

static void hold_signal(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &set, before);
}

/* Removes the pending signal of a failed write before it can be delivered. */
static void release_signal(const sigset_t *before)
{
    const struct timespec at_once = {0};
    int error = errno;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    if (!sigismember(before, SIGXFSZ))
        while (sigtimedwait(&set, NULL, &at_once) < 0 && errno == EINTR) {}
    sigprocmask(SIG_SETMASK, before, NULL);
    errno = error;
}

/* ---- opening ---- */

static bool is_same_file(const struct stat *a, int fd)
{
    struct stat b;
    return !fstat(fd, &b) && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

/* Is the file one that cannot be replaced by another file of its name (a device, a pipe)? */
static bool is_written_directly(const char *path)
{
    struct stat st;
    if (stat(path, &st)) return false;
    return !S_ISREG(st.st_mode) || is_same_file(&st, STDOUT_FILENO) || is_same_file(&st, STDERR_FILENO);
}

/* The file beside `target`; that of an ended process with our number is replaced. */
static int open_fresh(const char *target, char **name)
{
    enum { FLAGS = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC };
    struct strbuf text = {0};
    struct stat st;
    strbuf_printf(&text, "%s.%ld.new", target, (long)getpid());
    int fd = open(text.data, FLAGS, 0666);
    if (fd < 0 && errno == EEXIST && !unlink(text.data)) fd = open(text.data, FLAGS, 0666);
    if (fd >= 0 && !stat(target, &st)) fchmod(fd, st.st_mode & 07777);
    *name = text.data;
    return fd;
}

/* Where a path leads, past links, also past one to a file that is not there yet. */
static char *follow_links(const char *path, int depth)
{
    enum { DEPTH_MAX = 8 };
    char link[PATH_MAX], *real = realpath(path, NULL);
    ssize_t n = real || depth == DEPTH_MAX ? -1 : readlink(path, link, sizeof link - 1);
    if (n < 0) return real ? real : mem_strdup(path);
    const char *slash = strrchr(path, '/');
    struct strbuf next = {0};
    link[n] = 0;
    if (link[0] != '/' && slash) strbuf_add(&next, path, (size_t)(slash + 1 - path));
    strbuf_puts(&next, link);
    char *end = follow_links(next.data, depth + 1);
    strbuf_free(&next);
    return end;
}

static int open_part(struct output *o, const char *path)
{
    if (is_written_directly(path)) return open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    o->target = follow_links(path, 0);
    if (!access(o->target, F_OK) && access(o->target, W_OK)) return -1;
    return open_fresh(o->target, &o->fresh);
}

/* A stream would forget why a write failed. */
static ssize_t write_part(void *cookie, const char *data, size_t bytes)
{
    struct output *o = cookie;
    for (size_t done = 0; done < bytes && !o->error;) {
        ssize_t n = write(o->fd, data + done, bytes - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            o->error = errno;
    }
    return o->error ? 0 : (ssize_t)bytes;
}

static int close_part(void *cookie) { return close(((struct output *)cookie)->fd); }

static void forget(struct output *o)
{
    int error = errno;
    if (o->fresh) unlink(o->fresh);
    free(o->fresh);
    free(o->target);
    *o = (struct output){0};
    errno = error;
}

bool output_open(struct output *o, const char *path)
{
    *o = (struct output){0};
    o->fd = open_part(o, path);
    if (o->fd >= 0)
        o->file = fopencookie(o, "w", (cookie_io_functions_t){.write = write_part, .close = close_part});
    if (!o->file) {
        forget(o);
        return false;
    }
    hold_signal(&o->mask);
    return true;
}

/* ---- closing ---- */

bool output_close(struct output *o)
{
    assert(o->file);
    if (fclose(o->file) && !o->error) o->error = errno;
    release_signal(&o->mask);
    if (!o->error && o->fresh) {
        if (rename(o->fresh, o->target)) {
            o->error = errno;
        } else {
            free(o->fresh);
            o->fresh = NULL;
        }
    }
    const int error = o->error;
    forget(o);
    errno = error;
    return !error;
}

bool output_sync(struct output *o)
{
    if (!fflush(o->file) && fsync(o->fd) && !o->error) o->error = errno;
    return output_close(o);
}

void output_drop(struct output *o)
{
    assert(o->file);
    fclose(o->file);
    release_signal(&o->mask);
    forget(o);
}

/* ---- in one call ---- */

bool output_text(const char *path, const struct strbuf *text)
{
    struct output o;
    if (!output_open(&o, path)) return false;
    fwrite(strbuf_text(text), 1, text->len, o.file);
    return output_close(&o);
}

bool output_check(const char *path)
{
    struct output o;
    if (is_written_directly(path)) return !access(path, W_OK);
    if (!output_open(&o, path)) return false;
    output_drop(&o);
    return true;
}

bool output_flush(FILE *f)
{
    errno = 0;
    bool failed_before = ferror(f);
    return !fflush(f) && !failed_before;
}

bool output_print(FILE *f, const struct strbuf *text)
{
    sigset_t mask;
    hold_signal(&mask);
    fputs(strbuf_text(text), f);
    bool ok = output_flush(f);
    release_signal(&mask);
    return ok;
}
