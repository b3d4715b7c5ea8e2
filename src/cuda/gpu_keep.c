/* gpu_keep.c: see gpu_keep.h. */
#define _GNU_SOURCE /* syscall */
#include "cuda/gpu_keep.h"

#include "core/kept.h"
#include "cuda/gpu_timed.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Between two commits during one call of the program that runs many kernels. */
enum { COMMIT_NS = 20000000 };
enum keep_kind { KEEP_LAUNCH };

struct gpu_keep {
    struct journal journal;
    /* The process that writes; a child of it does not. */
    pid_t writer;
    /* NULL in a functional run. */
    struct kept *kept;
    uint64_t committed_ns;
};

/* A launch of a functional run; the kernel's name follows. */
struct keep_launch {
    struct emu_stats emu;
    uint64_t wall_ns, sim_ns;
};

struct keep_state {
    uint64_t copied_bytes;
};

static struct gpu_keep *writing(const struct gpu *g)
{
    return g->keep && g->keep->writer == getpid() ? g->keep : NULL;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the end of `heddle run` ---- */

struct keeper {
    int pidfd;
    const struct journal_head *head;
};

/* Ends this process when `heddle run` is killed, since its results would be lost. */
static void *watch_keeper(void *arg)
{
    struct keeper k = *(struct keeper *)arg;
    struct pollfd p = {.fd = k.pidfd, .events = POLLIN};
    free(arg);
    while (poll(&p, 1, -1) < 0 && errno == EINTR) {}
    if (p.revents & POLLIN && !atomic_load(&k.head->keeper_left)) kill(getpid(), SIGKILL);
    close(k.pidfd);
    return NULL;
}

/* The thread takes no signal of the program's. */
static void start_watch(const struct journal *j, const char *path)
{
    long keeper = strtol(path + strlen("/proc/"), NULL, 10);
    int pidfd = (int)syscall(SYS_pidfd_open, keeper, 0);
    if (pidfd < 0) return; /* an old kernel */
    struct keeper *k = mem_alloc(sizeof *k);
    *k = (struct keeper){pidfd, j->head};
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = !pthread_create(&thread, NULL, watch_keeper, k);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        pthread_detach(thread);
        return;
    }
    close(pidfd);
    free(k);
}

/* ---- in the program ---- */

void gpu_keep_open(struct gpu *g)
{
    const char *path = getenv(GPU_KEEP_VARIABLE);
    if (!path || !*path) return;
    struct gpu_keep *k = mem_zalloc(sizeof *k);
    bool joined = journal_join(&k->journal, path);
    int error = errno;
    if (k->journal.head) start_watch(&k->journal, path);
    if (joined) {
        k->writer = getpid();
        g->keep = k;
        gpu_keep_begin(g);
        return;
    }
    /* EAGAIN: another program of the same run is the one whose statistics are kept. ENOENT: `heddle run`
     * has left. */
    if (error != EAGAIN && error != EACCES && error != ENOENT)
        gpu_complain("a sudden end of the program will lose its statistics: %s: %s", path, strerror(error));
    free(k);
}

/* From here on a sudden end loses the statistics. */
static void give_up(struct gpu *g)
{
    gpu_complain("a sudden end of the program will lose its statistics: %s", strerror(errno));
    kept_destroy(g->keep->kept);
    journal_close(&g->keep->journal);
    free(g->keep);
    g->keep = NULL;
}

static bool commit(const struct gpu *g, struct gpu_keep *k)
{
    const struct keep_state state = {.copied_bytes = g->stats.copied_bytes};
    k->committed_ns = now_ns();
    return k->kept ? kept_update(k->kept) : journal_commit(&k->journal, &state);
}

void gpu_keep_begin(struct gpu *g)
{
    struct gpu_keep *k = writing(g);
    if (!k) return;
    kept_destroy(k->kept);
    k->kept = NULL;
    if (g->timed)
        k->kept = kept_create(g->timed, &k->journal, g->options.format == RUN_FORMAT_GPGPUSIM);
    else
        journal_begin(&k->journal, sizeof(struct keep_state));
    gpu_keep_update(g);
}

void gpu_keep_pending(struct gpu *g)
{
    struct gpu_keep *k = writing(g);
    if (k) atomic_store(&k->journal.head->is_pending, 1);
}

void gpu_keep_launch(struct gpu *g, const char *kernel, const struct emu_stats *run, uint64_t wall_ns,
                     uint64_t sim_ns)
{
    struct gpu_keep *k = writing(g);
    if (!k) return;
    const struct keep_launch launch = {.emu = *run, .wall_ns = wall_ns, .sim_ns = sim_ns};
    struct strbuf text = {0};
    strbuf_add(&text, (const char *)&launch, sizeof launch);
    strbuf_puts(&text, kernel);
    journal_add(&k->journal, KEEP_LAUNCH, text.data, text.len);
    strbuf_free(&text);
    gpu_keep_update(g);
}

void gpu_keep_update(struct gpu *g)
{
    struct gpu_keep *k = writing(g);
    if (!k) return;
    if (!commit(g, k))
        give_up(g);
    else
        atomic_store(&k->journal.head->is_pending, g->timed && timed_pending(g->timed));
}

void gpu_keep_kernel_ended(void *gpu)
{
    struct gpu *g = gpu;
    struct gpu_keep *k = writing(g);
    if (k && now_ns() - k->committed_ns >= COMMIT_NS && !commit(g, k)) give_up(g);
}

void gpu_keep_done(struct gpu *g)
{
    struct gpu_keep *k = writing(g);
    if (k) atomic_store(&k->journal.head->is_done, 1);
}

/* ---- in `heddle run` ---- */

bool gpu_keep_has_rest(struct journal *j)
{
    const struct journal_head *h = j->head;
    return journal_seize(j) && atomic_load(&h->valid) && !atomic_load(&h->is_done);
}

static void restore_functional(struct gpu *g, struct journal_view *v)
{
    struct keep_state state;
    uint32_t kind;
    const void *data;
    memcpy(&state, v->state, sizeof state);
    g->stats.copied_bytes = state.copied_bytes;
    for (size_t bytes; journal_view_next(v, &kind, &data, &bytes);) {
        struct keep_launch l;
        assert(kind == KEEP_LAUNCH && bytes >= sizeof l);
        memcpy(&l, data, sizeof l);
        char *name = mem_zalloc(bytes - sizeof l + 1);
        memcpy(name, (const char *)data + sizeof l, bytes - sizeof l);
        gpu_stats_add(g, name, &l.emu, l.wall_ns, l.sim_ns);
        free(name);
    }
}

/* A GPU that holds the run of the journal. */
static bool restore(struct gpu *g, struct journal_view *v)
{
    struct diag_list diags = {0};
    bool ok = run_options_machine(&g->options, &g->machine, &diags);
    diag_free(&diags);
    if (!ok) return false; /* it was read at the start: the file was changed since */
    if (g->options.functional) {
        restore_functional(g, v);
        return true;
    }
    if (!gpu_timed_open(g)) return false;
    kept_restore(g->timed, v, g->is_cut);
    return true;
}

bool gpu_keep_write_rest(struct journal *j, const struct run_options *o, bool partial)
{
    struct gpu *g = mem_zalloc(sizeof *g);
    struct journal_view view;
    g->options = *o;
    g->options.timed.threads = 1;
    g->is_cut = partial;
    bool ok = journal_view_open(&view, j);
    if (ok && !restore(g, &view)) {
        gpu_complain("error: the machine can no longer be made: its statistics are lost");
        ok = false;
    }
    ok = ok && gpu_stats_write(g);
    journal_view_close(&view);
    gpu_stats_free(g);
    if (g->timed) gpu_timed_close(g);
    free(g);
    return ok;
}
