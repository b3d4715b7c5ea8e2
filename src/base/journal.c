/* journal.c: see journal.h. The file is a page with the head, two copies of the state (each with the number
 * of bytes of records that belong to it), then the records, each with its kind and size. */
#define _GNU_SOURCE /* memfd_create */
#include "base/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOURNAL_MAGIC 0x6c6e6a656c646465ull /* "eddlejnl" */
enum { HEAD_BYTES = 4096, RECORD_ALIGN = 8 };

struct record {
    uint64_t bytes;
    uint32_t kind, reserved;
};

/* ---- where things are ---- */

/* A copy of the state, with the count before it. */
static uint64_t copy_bytes(const struct journal_head *h)
{
    return round_up_u64(sizeof(uint64_t) + h->state_bytes, RECORD_ALIGN);
}

static uint64_t copy_at(const struct journal_head *h, uint32_t copy)
{
    assert(copy == 1 || copy == 2);
    return HEAD_BYTES + (copy - 1) * copy_bytes(h);
}

static uint64_t records_at(const struct journal_head *h) { return HEAD_BYTES + 2 * copy_bytes(h); }

static bool map_head(struct journal *j)
{
    void *at = mmap(NULL, HEAD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, j->fd, 0);
    if (at == MAP_FAILED) return false;
    j->head = at;
    return true;
}

/* ---- the keeper ---- */

bool journal_make(struct journal *j)
{
    *j = (struct journal){.fd = memfd_create("heddle", MFD_CLOEXEC)};
    if (j->fd < 0) return false;
    if (ftruncate(j->fd, HEAD_BYTES) || !map_head(j)) {
        int error = errno;
        journal_close(j);
        errno = error;
        return false;
    }
    j->head->magic = JOURNAL_MAGIC;
    return true;
}

void journal_path(const struct journal *j, struct strbuf *out)
{
    strbuf_printf(out, "/proc/%ld/fd/%d", (long)getpid(), j->fd);
}

/* The lock belongs to the process: it goes when the process ends, and children do not inherit it. */
static bool take_lock(const struct journal *j)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return !fcntl(j->fd, F_SETLK, &l);
}

bool journal_seize(struct journal *j) { return take_lock(j); }

void journal_close(struct journal *j)
{
    if (j->head) munmap(j->head, HEAD_BYTES);
    if (j->fd >= 0) close(j->fd);
    strbuf_free(&j->fresh);
    *j = (struct journal){.fd = -1};
}

/* ---- the writer ---- */

static uint64_t file_limit(void)
{
    struct rlimit l;
    return getrlimit(RLIMIT_FSIZE, &l) || l.rlim_cur == RLIM_INFINITY ? UINT64_MAX : l.rlim_cur;
}

/* The keeper may be gone, and its number another's: nothing is written to a file that is not ours. */
static bool is_journal(int fd)
{
    uint64_t magic = 0;
    return pread(fd, &magic, sizeof magic, 0) == (ssize_t)sizeof magic && magic == JOURNAL_MAGIC;
}

bool journal_join(struct journal *j, const char *path)
{
    *j = (struct journal){.fd = open(path, O_RDWR | O_CLOEXEC), .bytes_max = file_limit()};
    if (j->fd < 0) return false;
    if (!is_journal(j->fd)) {
        journal_close(j);
        errno = ENOENT;
        return false;
    }
    if (!map_head(j) || !take_lock(j)) return false;
    atomic_store(&j->head->writer, (int32_t)getpid());
    return true;
}

void journal_begin(struct journal *j, size_t state_bytes)
{
    struct journal_head *h = j->head;
    atomic_store(&h->valid, 0);
    atomic_store(&h->is_pending, 0);
    atomic_store(&h->is_done, 0);
    h->state_bytes = state_bytes;
    j->record_bytes = 0;
    j->fresh.len = 0;
}

void journal_add(struct journal *j, uint32_t kind, const void *data, size_t bytes)
{
    static const char zeros[RECORD_ALIGN];
    const struct record r = {.bytes = bytes, .kind = kind};
    strbuf_add(&j->fresh, (const char *)&r, sizeof r);
    if (bytes) strbuf_add(&j->fresh, data, bytes);
    strbuf_add(&j->fresh, zeros, round_up_u64(bytes, RECORD_ALIGN) - bytes);
}

static bool write_at(const struct journal *j, const void *data, size_t bytes, uint64_t at)
{
    const char *from = data;
    if (at + bytes > j->bytes_max) { /* the write would end the process */
        errno = EFBIG;
        return false;
    }
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pwrite(j->fd, from + done, bytes - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

bool journal_commit(struct journal *j, const void *state)
{
    struct journal_head *h = j->head;
    const uint32_t copy = atomic_load(&h->valid) == 1 ? 2 : 1;
    const uint64_t record_bytes = j->record_bytes + j->fresh.len;
    if (!write_at(j, strbuf_text(&j->fresh), j->fresh.len, records_at(h) + j->record_bytes) ||
        !write_at(j, &record_bytes, sizeof record_bytes, copy_at(h, copy)) ||
        !write_at(j, state, h->state_bytes, copy_at(h, copy) + sizeof record_bytes))
        return false;
    atomic_store(&h->valid, copy);
    j->record_bytes = record_bytes;
    j->fresh.len = 0;
    return true;
}

/* ---- reading ---- */

bool journal_view_open(struct journal_view *v, const struct journal *j)
{
    const struct journal_head *h = j->head;
    const uint32_t copy = atomic_load(&h->valid);
    struct stat st;
    *v = (struct journal_view){0};
    if (!copy || fstat(j->fd, &st)) return false;
    void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, j->fd, 0);
    if (at == MAP_FAILED) return false;
    uint64_t record_bytes;
    v->map = at;
    v->map_bytes = (size_t)st.st_size;
    memcpy(&record_bytes, v->map + copy_at(h, copy), sizeof record_bytes);
    v->state = v->map + copy_at(h, copy) + sizeof record_bytes;
    v->state_bytes = h->state_bytes;
    /* The file may end where the first record will be. */
    v->next = record_bytes ? v->map + records_at(h) : v->state;
    v->end = v->next + record_bytes;
    assert(v->end <= v->map + v->map_bytes);
    return true;
}

bool journal_view_next(struct journal_view *v, uint32_t *kind, const void **data, size_t *bytes)
{
    struct record r;
    if (v->next >= v->end) return false;
    memcpy(&r, v->next, sizeof r);
    assert(r.bytes <= (size_t)(v->end - v->next) - sizeof r); /* a commit is whole */
    *kind = r.kind;
    *data = v->next + sizeof r;
    *bytes = r.bytes;
    v->next += sizeof r + round_up_u64(r.bytes, RECORD_ALIGN);
    return true;
}

void journal_view_close(struct journal_view *v)
{
    if (v->map) munmap((void *)(uintptr_t)v->map, v->map_bytes);
    *v = (struct journal_view){0};
}
