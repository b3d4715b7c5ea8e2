/* stream.c: which work may begin now: the order of CUDA's streams.
 *
 * A stream is a list of work: kernels, copies, marks (an event is recorded) and waits for marks. Only the
 * first piece of a stream is ever under way. Stream 0 is the legacy default stream: it waits for what
 * blocking streams were given before, and they wait for what it was given before; non-blocking streams and
 * stream 0 do not wait for each other.
 *
 * (1) `order` rises with every piece, and no piece waits for one of higher order: streams alone can never
 *     deadlock.
 * (2) Marks, waits and copies that take no time happen when their turn comes. A copy that takes time also
 *     waits until its engine is free; the oldest goes first. A copy's data moves when it ends, so nothing
 *     sees the data before.
 * (3) Kernels are taken by the dispatcher at an edge of the core; copies end on edges of the core as well. */
#include "core/stream.h"

#include "core/copy.h"
#include "core/gpu_kernel.h"
#include "core/records.h"

#include <inttypes.h>

enum work_kind { WORK_KERNEL, WORK_COPY, WORK_MARK, WORK_WAIT };

struct gpu_work {
    enum work_kind kind;
    /* a kernel is on the machine, or a copy on an engine */
    bool begun;
    /* number of the piece among all work that the machine was given */
    uint64_t order;
    /* the next piece of work of its stream */
    struct gpu_work *next;
    struct gpu_kernel *kernel;
    struct timed_copy copy;
    /* the mark to set, or to wait for */
    uint64_t mark;
    /* when a copy began and ends */
    tick begin, end;
    /* id of its stream */
    uint64_t stream;
};

/* ---- life ---- */

struct gpu_stream *streams_get(struct stream_set *set, uint64_t id)
{
    for (uint32_t i = 0; i < set->all.len; i++)
        if (set->all.data[i]->id == id) return set->all.data[i];
    struct gpu_stream *s = mem_zalloc(sizeof *s);
    s->id = id;
    s->blocking = true;
    vec_push(&set->all, s);
    return s;
}

void streams_init(struct stream_set *set, const struct stream_setup *setup)
{
    *set = (struct stream_set){.wake = TICK_NEVER, .setup = *setup};
    streams_get(set, 0);
}

void streams_unblock(struct stream_set *set, uint64_t id)
{
    assert(id);
    streams_get(set, id)->blocking = false;
}

static void forget(struct stream_set *set, struct gpu_stream *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < set->all.len; i++)
        if (set->all.data[i] != s) set->all.data[n++] = set->all.data[i];
    set->all.len = n;
    free(s);
}

void streams_end(struct stream_set *set, uint64_t id)
{
    struct gpu_stream *s = streams_get(set, id);
    assert(id);
    if (s->first)
        s->ended = true;
    else
        forget(set, s);
}

static void work_free(struct gpu_work *w)
{
    if (w->kind == WORK_COPY && w->copy.release) w->copy.release(w->copy.ctx);
    free(w);
}

void streams_close(struct stream_set *set)
{
    for (uint32_t i = 0; i < set->all.len; i++) {
        for (struct gpu_work *w = set->all.data[i]->first, *next; w; w = next) {
            next = w->next;
            /* a kernel that has begun belongs to the dispatcher */
            if (w->kind == WORK_KERNEL && !w->begun) gpu_kernel_free(w->kernel);
            work_free(w);
        }
        free(set->all.data[i]);
    }
    vec_free(&set->all);
    vec_free(&set->mark_ns);
}

/* ---- turns ---- */

static bool before(const struct gpu_work *w, uint64_t order) { return w && w->order < order; }

/* Has all work ended that the first piece of a stream must wait for? */
static bool turn_has_come(const struct stream_set *set, const struct gpu_stream *s)
{
    const struct gpu_work *w = s->first;
    if (w->kind == WORK_WAIT && !streams_has_reached(set, w->mark)) return false;
    if (!s->blocking) return true;
    if (s->id) return !before(set->all.data[0]->first, w->order);
    for (uint32_t i = 1; i < set->all.len; i++)
        if (set->all.data[i]->blocking && before(set->all.data[i]->first, w->order)) return false;
    return true;
}

static bool engine_is_free(const struct stream_set *set, const struct timed_copy *c)
{
    return !copy_cycles(set->setup.machine, c) || !set->engine[copy_engine(set->setup.machine, c->kind)];
}

/* The stream with the oldest first piece that can begin now: a kernel, or anything else. */
static struct gpu_stream *oldest_ready(const struct stream_set *set, bool kernels)
{
    struct gpu_stream *oldest = NULL;
    for (uint32_t i = 0; i < set->all.len; i++) {
        struct gpu_stream *s = set->all.data[i];
        const struct gpu_work *w = s->first;
        if (!w || w->begun || (w->kind == WORK_KERNEL) != kernels) continue;
        if (oldest && oldest->first->order < w->order) continue;
        if (!turn_has_come(set, s) || (w->kind == WORK_COPY && !engine_is_free(set, &w->copy))) continue;
        oldest = s;
    }
    return oldest;
}

static void end_first(struct stream_set *set, struct gpu_stream *s)
{
    struct gpu_work *w = s->first;
    s->first = w->next;
    if (!s->first) s->last = NULL;
    set->pending--;
    work_free(w);
    if (!s->first && s->ended) forget(set, s);
}

static void note_copy(struct stream_set *set, const struct gpu_work *w)
{
    const struct clock_domain *core = &set->setup.time->clock.domains[DOMAIN_CORE];
    set->counts.copies++;
    set->counts.bytes += w->copy.bytes;
    set->counts.cycles += (w->end - w->begin) / core->period;
    if (!set->setup.records->has_timeline || w->end == w->begin) return;
    struct timed_transfer t = {.kind = w->copy.kind,
                               .stream = w->stream,
                               .bytes = w->copy.bytes,
                               .start_cycle = w->begin / core->period,
                               .end_cycle = w->end / core->period};
    records_add_transfer(set->setup.records, &t);
}

static void end_copy(struct stream_set *set, struct gpu_stream *s)
{
    s->first->copy.perform(s->first->copy.ctx);
    note_copy(set, s->first);
    end_first(set, s);
}

static void begin_copy(struct stream_set *set, struct gpu_stream *s)
{
    struct gpu_work *w = s->first;
    const struct clock_domain *core = &set->setup.time->clock.domains[DOMAIN_CORE];
    uint64_t cycles = copy_cycles(set->setup.machine, &w->copy);
    w->begin = w->end = gpu_time_edge_from(set->setup.time, DOMAIN_CORE);
    if (!cycles) {
        end_copy(set, s);
        return;
    }
    w->begun = true;
    w->end += cycles * core->period;
    set->engine[copy_engine(set->setup.machine, w->copy.kind)] = w;
    wake_at(&set->wake, w->end);
}

/* Begins all work that can begin now. */
static void advance(struct stream_set *set)
{
    for (struct gpu_stream *s; (s = oldest_ready(set, false));) {
        struct gpu_work *w = s->first;
        if (w->kind == WORK_COPY) {
            begin_copy(set, s);
            continue;
        }
        if (w->kind == WORK_MARK) set->mark_ns.data[w->mark - 1] = gpu_time_ns(set->setup.time);
        end_first(set, s);
    }
    if (oldest_ready(set, true)) wake_at(&set->wake, gpu_time_after_cycles(set->setup.time, 1));
}

/* ---- giving work ---- */

static struct gpu_work *add(struct stream_set *set, enum work_kind kind, uint64_t stream)
{
    struct gpu_stream *s = streams_get(set, stream);
    struct gpu_work *w = mem_zalloc(sizeof *w);
    w->kind = kind;
    w->order = ++set->orders;
    w->stream = stream;
    if (s->last)
        s->last->next = w;
    else
        s->first = w;
    s->last = w;
    set->pending++;
    return w;
}

void streams_add_kernel(struct stream_set *set, struct gpu_kernel *k)
{
    add(set, WORK_KERNEL, k->stream)->kernel = k;
    set->kernels++;
    advance(set);
}

void streams_add_copy(struct stream_set *set, const struct timed_copy *c, uint64_t stream)
{
    add(set, WORK_COPY, stream)->copy = *c;
    advance(set);
}

uint64_t streams_add_mark(struct stream_set *set, uint64_t stream)
{
    vec_push(&set->mark_ns, MARK_PENDING);
    uint64_t mark = set->mark_ns.len;
    add(set, WORK_MARK, stream)->mark = mark;
    advance(set);
    return mark;
}

void streams_add_wait(struct stream_set *set, uint64_t stream, uint64_t mark)
{
    add(set, WORK_WAIT, stream)->mark = mark;
    advance(set);
}

/* ---- ends ---- */

struct gpu_kernel *streams_next_kernel(const struct stream_set *set)
{
    struct gpu_stream *s = oldest_ready(set, true);
    return s ? s->first->kernel : NULL;
}

void streams_kernel_began(struct stream_set *set, const struct gpu_kernel *k)
{
    struct gpu_work *w = streams_get(set, k->stream)->first;
    assert(w && w->kernel == k);
    w->begun = true;
}

void streams_kernel_ended(struct stream_set *set, const struct gpu_kernel *k)
{
    struct gpu_stream *s = streams_get(set, k->stream);
    assert(s->first && s->first->kernel == k && s->first->begun);
    set->kernels--;
    end_first(set, s);
    advance(set);
}

void streams_tick(struct stream_set *set)
{
    const tick now = set->setup.time->now;
    bool ended = false;
    set->wake = TICK_NEVER;
    for (uint32_t i = 0; i < COPY_ENGINES_MAX; i++) {
        struct gpu_work *w = set->engine[i];
        if (!w || w->end > now) continue;
        set->engine[i] = NULL;
        end_copy(set, streams_get(set, w->stream));
        ended = true;
    }
    if (ended) advance(set);
    wake_at(&set->wake, streams_copy_end(set));
}

tick streams_copy_end(const struct stream_set *set)
{
    tick wake = TICK_NEVER;
    for (uint32_t i = 0; i < COPY_ENGINES_MAX; i++)
        if (set->engine[i]) wake_at(&wake, set->engine[i]->end);
    return wake;
}

void streams_explain(const struct stream_set *set, struct strbuf *out)
{
    static const char *const kinds[] = {"kernel", "copy", "event", "wait for an event"};
    for (uint32_t i = 0; i < set->all.len; i++) {
        const struct gpu_stream *s = set->all.data[i];
        const struct gpu_work *w = s->first;
        if (!w || (w->kind == WORK_KERNEL && w->begun)) continue; /* reported as a kernel */
        strbuf_printf(out, "  stream %" PRIu64 ": %s %s", s->id, kinds[w->kind],
                      w->begun ? "under way" : "waits for its turn");
        if (w->kind == WORK_KERNEL) strbuf_printf(out, ": '%s'", w->kernel->name);
        strbuf_putc(out, '\n');
    }
}
