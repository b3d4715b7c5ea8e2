/* output.c: see output.h. */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
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

/* Takes the signal of a failed write away before it can be delivered. */
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

/* What cannot be replaced by another file of its name. */
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

static int open_part(struct output *o, const char *path)
{
    if (is_written_directly(path)) return open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    o->target = realpath(path, NULL); /* a link stays one */
    if (!o->target) o->target = mem_strdup(path);
    if (!access(o->target, F_OK) && access(o->target, W_OK)) return -1;
    return open_fresh(o->target, &o->fresh);
}

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
    int fd = open_part(o, path);
    if (fd >= 0) o->file = fdopen(fd, "wb");
    if (!o->file) {
        forget(o);
        return false;
    }
    hold_signal(&o->mask);
    return true;
}

/* ---- closing ---- */

bool output_flush(FILE *f)
{
    errno = 0;
    bool failed_before = ferror(f);
    return !fflush(f) && !failed_before;
}

bool output_close(struct output *o)
{
    assert(o->file);
    bool ok = output_flush(o->file);
    int error = ok ? 0 : errno ? errno : EIO;
    if (fclose(o->file) && ok) {
        ok = false;
        error = errno;
    }
    release_signal(&o->mask);
    if (ok && o->fresh && rename(o->fresh, o->target)) {
        ok = false;
        error = errno;
    } else if (ok) {
        free(o->fresh);
        o->fresh = NULL;
    }
    forget(o);
    errno = error;
    return ok;
}

bool output_sync(struct output *o)
{
    if (!fflush(o->file) && !fsync(fileno(o->file))) return output_close(o);
    output_drop(o);
    return false;
}

void output_drop(struct output *o)
{
    assert(o->file);
    fclose(o->file);
    release_signal(&o->mask);
    forget(o);
}

bool output_text(const char *path, const struct strbuf *text)
{
    struct output o;
    if (!output_open(&o, path)) return false;
    bool ok = fwrite(strbuf_text(text), 1, text->len, o.file) == text->len;
    int error = errno;
    if (output_close(&o)) return ok;
    if (!ok) errno = error;
    return false;
}

bool output_check(const char *path)
{
    struct output o;
    if (is_written_directly(path)) return !access(path, W_OK);
    if (!output_open(&o, path)) return false;
    output_drop(&o);
    return true;
}
