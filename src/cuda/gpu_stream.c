/* gpu_stream.c: streams and events.
 *
 * Functional: all work is already done, so waiting ends at once and an event is the present time. Timed: an
 * event is a mark on its stream (core/stream.c), and waiting for it runs the machine until then. Times of
 * events are the machine's, plus what copies cost at gpu_time.c's fixed bandwidth where copies are not
 * modelled (copy.timed), so that a program that times its copies does not divide by zero. */
#include "cuda/gpu_timed.h"

/* 1 and 2 are the names of the legacy and the per-thread default stream. */
enum { STREAM_FIRST = 3 };

static uint64_t new_id(struct gpu *g) { return STREAM_FIRST + g->stream_ids++; }

uint64_t gpu_stream_new(struct gpu *g, const void *handle, bool nonblocking)
{
    gpu_lock();
    struct gpu_stream_name n = {.handle = handle, .id = new_id(g)};
    vec_push(&g->streams, n);
    if (g->timed && nonblocking) timed_stream_nonblocking(g->timed, n.id);
    gpu_unlock();
    return n.id;
}

void gpu_stream_end(struct gpu *g, const void *handle)
{
    gpu_lock();
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->streams.len; i++) {
        if (g->streams.data[i].handle != handle)
            g->streams.data[n++] = g->streams.data[i];
        else if (g->timed)
            timed_stream_end(g->timed, g->streams.data[i].id);
    }
    g->streams.len = n;
    gpu_unlock();
}

bool gpu_stream_find(const struct gpu *g, const void *handle, uint64_t *id)
{
    bool found = false;
    gpu_lock();
    for (uint32_t i = 0; i < g->streams.len && !found; i++) {
        found = g->streams.data[i].handle == handle;
        if (found) *id = g->streams.data[i].id;
    }
    gpu_unlock();
    return found;
}

uint64_t gpu_stream_per_thread(struct gpu *g)
{
    static _Thread_local uint64_t mine;
    if (!mine) {
        gpu_lock();
        mine = new_id(g);
        gpu_unlock();
    }
    return mine;
}

enum gpu_status gpu_stream_sync(struct gpu *g, uint64_t stream)
{
    gpu_lock();
    enum gpu_status status = g->sticky;
    /* The default stream waits for all blocking ones, so its end is where a new piece of work would begin. */
    if (g->timed && status == GPU_OK)
        status = stream ? gpu_timed_run(g, GPU_STREAM, stream)
                        : gpu_timed_run(g, GPU_MARK, timed_mark(g->timed, 0));
    gpu_unlock();
    return status;
}

/* ---- events ---- */

/* An event of another generation: the device was reset, and what was recorded has ended with it. */
static bool is_pending(const struct gpu *g, const struct gpu_event *e)
{
    uint64_t ns;
    return g->timed && e->recorded && e->mark && e->generation == g->generation &&
           !timed_mark_reached(g->timed, e->mark, &ns);
}

enum gpu_status gpu_event_record(struct gpu *g, struct gpu_event *e, uint64_t stream)
{
    gpu_lock();
    enum gpu_status status = g->sticky;
    if (status == GPU_OK) {
        *e = (struct gpu_event){.recorded = true, .generation = g->generation};
        if (g->timed)
            e->mark = timed_mark(g->timed, stream);
        else
            e->time_ns = gpu_now_ns(g);
        e->copies_ns = gpu_copies_ns(g);
    }
    gpu_unlock();
    return status;
}

enum gpu_status gpu_event_sync(struct gpu *g, struct gpu_event *e)
{
    gpu_lock();
    enum gpu_status status = is_pending(g, e) ? gpu_timed_run(g, GPU_MARK, e->mark) : g->sticky;
    gpu_unlock();
    return status;
}

enum gpu_status gpu_stream_wait_event(struct gpu *g, uint64_t stream, const struct gpu_event *e)
{
    gpu_lock();
    if (g->sticky == GPU_OK && is_pending(g, e)) timed_wait_mark(g->timed, stream, e->mark);
    gpu_unlock();
    return g->sticky;
}

static uint64_t time_of(const struct gpu *g, const struct gpu_event *e)
{
    uint64_t ns = e->time_ns;
    if (g->timed && e->mark && e->generation == g->generation && timed_mark_reached(g->timed, e->mark, &ns))
        ns += e->copies_ns;
    return ns;
}

enum gpu_status gpu_event_elapsed(struct gpu *g, struct gpu_event *start, struct gpu_event *end, float *ms)
{
    gpu_lock();
    enum gpu_status status = g->sticky;
    if (status == GPU_OK && (is_pending(g, start) || is_pending(g, end))) status = GPU_NOT_READY;
    if (status == GPU_OK) *ms = (float)((double)(int64_t)(time_of(g, end) - time_of(g, start)) * 1e-6);
    gpu_unlock();
    return status;
}
