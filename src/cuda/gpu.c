/* gpu.c: the one GPU of a process: made at the first call, from the environment; the lock; the summary at the
 * end. */
#define _GNU_SOURCE /* recursive mutex initialiser, on_exit */
#include "cuda/gpu.h"

#include "cuda/gpu_impl.h"
#include "cuda/gpu_timed.h"
#include "cuda/limits.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <unistd.h>

/* All state of the process is here. */
static struct gpu *the_gpu;
static atomic_bool runtime_in_use;
static pthread_once_t gpu_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t gpu_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void gpu_lock(void) { pthread_mutex_lock(&gpu_mutex); }
void gpu_unlock(void) { pthread_mutex_unlock(&gpu_mutex); }

void gpu_complain(const char *fmt, ...)
{
    struct strbuf text = {0};
    va_list ap;
    va_start(ap, fmt);
    strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "heddle: %s\n", strbuf_text(&text));
    strbuf_free(&text);
}

void gpu_report(const struct diag_list *diags, struct strbuf *log)
{
    if (!diags->items.len) return;
    struct strbuf text = {0};
    diag_render(diags, &text);
    fputs(strbuf_text(&text), stderr);
    if (log) strbuf_puts(log, strbuf_text(&text));
    strbuf_free(&text);
}

void gpu_say_unsupported(const char *name)
{
    bool is_graph = strstr(name, "Graph") || strstr(name, "Capture");
    is_graph = is_graph && !strstr(name, "Graphics");
    gpu_complain("%s is not supported%s", name,
                 is_graph ? ": CUDA graphs are not modelled; launch the kernels one by one instead" : "");
}

static struct emu_device *make_device(const struct gpu *g)
{
    struct emu_limits limits = limits_from_machine(&g->machine);
    struct emu_device *d = emu_device_create(&limits, g->machine.memory_bytes);
    if (d && g->options.races) emu_device_find_races(d);
    return d;
}

/* The program's exit status, which a summary that could not be written turns into a failure. */
static int exit_status;
static bool summary_failed;

static void note_status(int status, void *unused)
{
    (void)unused;
    exit_status = status;
}

static void gpu_make(void)
{
    struct gpu *g = mem_zalloc(sizeof *g);
    struct diag_list diags = {0};
    struct strbuf error = {0};
    run_options_init(&g->options);
    bool ok = run_options_from_environment(&g->options, &g->option_texts, &error);
    if (!ok) gpu_complain("%s", strbuf_text(&error));
    strbuf_free(&error);
    if (ok && !run_options_machine(&g->options, &g->machine, &diags)) {
        gpu_report(&diags, NULL);
        ok = false;
    }
    diag_free(&diags);
    if (ok) gpu_capability_set(&g->machine);
    if (ok) gpu_note_libraries(g);
    if (ok && !(g->device = make_device(g))) {
        gpu_complain("cannot reserve %llu bytes of address space for device memory",
                     (unsigned long long)g->machine.memory_bytes);
        ok = false;
    }
    if (ok && run_options_has_clock(&g->options) && !gpu_timed_open(g)) ok = false;
    if (ok) {
        the_gpu = g;
        gpu_keep_open(g);
        on_exit(note_status, NULL);
    } else {
        if (g->device) emu_device_destroy(g->device);
        arena_free(&g->option_texts);
        free(g);
    }
}

struct gpu *gpu_get_for_driver(void)
{
    pthread_once(&gpu_once, gpu_make);
    return the_gpu;
}

struct gpu *gpu_get(void)
{
    atomic_store_explicit(&runtime_in_use, true, memory_order_relaxed);
    return gpu_get_for_driver();
}

bool gpu_runtime_in_use(void) { return atomic_load_explicit(&runtime_in_use, memory_order_relaxed); }

struct emu_device *gpu_device(struct gpu *g) { return g->device; }
const struct machine *gpu_machine(const struct gpu *g) { return &g->machine; }
enum gpu_status gpu_sticky(const struct gpu *g) { return g->sticky; }
uint64_t gpu_generation(const struct gpu *g) { return g->generation; }

enum gpu_status gpu_settle(struct gpu *g)
{
    if (!g->timed) return g->sticky;
    gpu_lock();
    enum gpu_status status = gpu_timed_run(g, GPU_ALL, 0);
    gpu_unlock();
    return status;
}

void gpu_reset(struct gpu *g)
{
    gpu_lock();
    gpu_settle(g);
    bool ended = g->timed && timed_partial(g->timed); /* a machine that faulted is not used again */
    if (ended) {                                      /* its kernels still point into their modules */
        if (!gpu_stats_write(g)) summary_failed = true;
        gpu_timed_close(g);
    }
    if (g->timed) timed_leave_device(g->timed);
    for (uint32_t i = 0; i < g->modules.len; i++) {
        emu_module_unload(g->device, g->modules.data[i]->emu);
        g->modules.data[i]->emu = NULL;
    }
    g->modules.len = 0;
    g->streams.len = 0;
    g->races += emu_device_races(g->device);
    emu_device_destroy(g->device);
    g->device = make_device(g);
    if (!g->device) UNREACHABLE("the address space given back a moment ago cannot be reserved again");
    if (g->timed) timed_set_device(g->timed, g->device);
    if (ended && !gpu_timed_open(g))
        UNREACHABLE("the machine that was made a moment ago cannot be made again");
    if (ended) gpu_keep_begin(g);
    g->sticky = GPU_OK;
    g->generation++;
    gpu_unlock();
}

/* Runs after the program's own atexit functions, so that nothing is launched afterwards. */
__attribute__((destructor)) static void gpu_at_exit(void)
{
    if (!the_gpu) return;
    gpu_settle(the_gpu);
    if (!gpu_stats_write(the_gpu)) summary_failed = true;
    gpu_keep_done(the_gpu); /* after a failure too: `heddle run` could not write the file either */
    if (!summary_failed) return;
    fflush(NULL);
    _exit(exit_status ? exit_status : 1);
}
