/* stream.c: what may run now: the order of CUDA's streams.
 *
 * A stream is a list of work: kernels, copies, marks (an event is recorded) and waits for marks. Only its first piece is
 * ever under way. Stream 0 is the legacy default stream: it waits for what blocking streams were given before, and they
 * wait for what it was given before; non-blocking streams know nothing of it.
 *
 * (1) `order` rises with every piece, and no piece waits for one of higher order: streams alone can never deadlock.
 * (2) Marks, waits and copies that take no time happen the moment their turn comes; a copy that takes time when its
 *     engine is free too, the oldest first. A copy's data moves when it ends, so nobody sees it before.
 * (3) Kernels are taken by the dispatcher, at a core edge; what ends there ends on core edges as well. */
#include "core/stream.h"

#include "core/timed_impl.h"

#include <inttypes.h>

/* ---- life ---- */

struct gpu_stream *streams_get(struct timed_gpu *g, uint64_t id)
{
    for (uint32_t i = 0; i < g->streams.all.len; i++)
        if (g->streams.all.data[i]->id == id) return g->streams.all.data[i];
    struct gpu_stream *s = mem_zalloc(sizeof *s);
    s->id = id;
    s->blocking = true;
    vec_push(&g->streams.all, s);
    return s;
}

void streams_init(struct timed_gpu *g) { streams_get(g, 0); }

static void forget(struct timed_gpu *g, struct gpu_stream *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->streams.all.len; i++)
        if (g->streams.all.data[i] != s) g->streams.all.data[n++] = g->streams.all.data[i];
    g->streams.all.len = n;
    free(s);
}

void streams_end(struct timed_gpu *g, uint64_t id)
{
    struct gpu_stream *s = streams_get(g, id);
    assert(id);
    if (s->first)
        s->ended = true;
    else
        forget(g, s);
}

static void work_free(struct gpu_work *w)
{
    if (w->kind == WORK_COPY && w->copy.release) w->copy.release(w->copy.ctx);
    free(w);
}

void streams_close(struct timed_gpu *g)
{
    struct stream_set *set = &g->streams;
    for (uint32_t i = 0; i < set->all.len; i++) {
        for (struct gpu_work *w = set->all.data[i]->first, *next; w; w = next) {
            next = w->next;
            if (w->kind == WORK_KERNEL && !w->begun)
                kernel_free(w->kernel); /* the others are the dispatcher's */
            work_free(w);
        }
        free(set->all.data[i]);
    }
    vec_free(&set->all);
    vec_free(&set->mark_ns);
}

/* ---- turns ---- */

static bool before(const struct gpu_work *w, uint64_t order) { return w && w->order < order; }

/* Has everything ended that the first piece of a stream must wait for? */
static bool turn_has_come(const struct timed_gpu *g, const struct gpu_stream *s)
{
    const struct stream_set *set = &g->streams;
    const struct gpu_work *w = s->first;
    if (w->kind == WORK_WAIT && set->mark_ns.data[w->mark - 1] == MARK_PENDING) return false;
    if (!s->blocking) return true;
    if (s->id) return !before(set->all.data[0]->first, w->order);
    for (uint32_t i = 1; i < set->all.len; i++)
        if (set->all.data[i]->blocking && before(set->all.data[i]->first, w->order)) return false;
    return true;
}

static bool engine_is_free(const struct timed_gpu *g, const struct timed_copy *c)
{
    return !copy_cycles(&g->machine, c) || !g->streams.engine[copy_engine(&g->machine, c->kind)];
}

/* The stream with the oldest first piece that can begin now: a kernel, or anything else. */
static struct gpu_stream *oldest_ready(const struct timed_gpu *g, bool kernels)
{
    struct gpu_stream *oldest = NULL;
    for (uint32_t i = 0; i < g->streams.all.len; i++) {
        struct gpu_stream *s = g->streams.all.data[i];
        const struct gpu_work *w = s->first;
        if (!w || w->begun || (w->kind == WORK_KERNEL) != kernels) continue;
        if (oldest && oldest->first->order < w->order) continue;
        if (!turn_has_come(g, s) || (w->kind == WORK_COPY && !engine_is_free(g, &w->copy))) continue;
        oldest = s;
    }
    return oldest;
}

static void end_first(struct timed_gpu *g, struct gpu_stream *s)
{
    struct gpu_work *w = s->first;
    s->first = w->next;
    if (!s->first) s->last = NULL;
    g->streams.pending--;
    work_free(w);
    if (!s->first && s->ended) forget(g, s);
}

static void note_copy(struct timed_gpu *g, const struct gpu_work *w)
{
    const struct clock_domain *core = &g->clock.domains[DOMAIN_CORE];
    g->counts.copies++;
    g->counts.copied_bytes += w->copy.bytes;
    g->counts.copy_cycles += (w->end - w->begin) / core->period;
    if (!g->options.timeline || w->end == w->begin) return;
    struct timed_transfer t = {.kind = w->copy.kind,
                               .stream = w->stream,
                               .bytes = w->copy.bytes,
                               .start_cycle = w->begin / core->period,
                               .end_cycle = w->end / core->period};
    vec_push(&g->transfers, t);
}

static void end_copy(struct timed_gpu *g, struct gpu_stream *s)
{
    s->first->copy.perform(s->first->copy.ctx);
    note_copy(g, s->first);
    end_first(g, s);
}

static void begin_copy(struct timed_gpu *g, struct gpu_stream *s)
{
    struct gpu_work *w = s->first;
    const struct clock_domain *core = &g->clock.domains[DOMAIN_CORE];
    uint64_t cycles = copy_cycles(&g->machine, &w->copy);
    w->begin = w->end = clock_edge(core, g->now);
    if (!cycles) {
        end_copy(g, s);
        return;
    }
    w->begun = true;
    w->end += cycles * core->period;
    g->streams.engine[copy_engine(&g->machine, w->copy.kind)] = w;
    wake_at(&g->dispatch.wake, w->end);
}

/* All that can begin now begins. */
static void advance(struct timed_gpu *g)
{
    for (struct gpu_stream *s; (s = oldest_ready(g, false));) {
        struct gpu_work *w = s->first;
        if (w->kind == WORK_COPY) {
            begin_copy(g, s);
            continue;
        }
        if (w->kind == WORK_MARK) g->streams.mark_ns.data[w->mark - 1] = timed_now_ns(g);
        end_first(g, s);
    }
    if (oldest_ready(g, true)) {
        const struct clock_domain *core = &g->clock.domains[DOMAIN_CORE];
        wake_at(&g->dispatch.wake, clock_after(core, clock_edge(core, g->now), 1));
    }
}

/* ---- giving work ---- */

static struct gpu_work *add(struct timed_gpu *g, enum work_kind kind, uint64_t stream)
{
    struct gpu_stream *s = streams_get(g, stream);
    struct gpu_work *w = mem_zalloc(sizeof *w);
    w->kind = kind;
    w->order = ++g->streams.orders;
    w->stream = stream;
    if (s->last)
        s->last->next = w;
    else
        s->first = w;
    s->last = w;
    g->streams.pending++;
    return w;
}

void streams_add_kernel(struct timed_gpu *g, struct gpu_kernel *k, uint64_t stream)
{
    add(g, WORK_KERNEL, stream)->kernel = k;
    g->streams.kernels++;
    advance(g);
}

void streams_add_copy(struct timed_gpu *g, const struct timed_copy *c, uint64_t stream)
{
    add(g, WORK_COPY, stream)->copy = *c;
    advance(g);
}

uint64_t streams_add_mark(struct timed_gpu *g, uint64_t stream)
{
    vec_push(&g->streams.mark_ns, MARK_PENDING);
    uint64_t mark = g->streams.mark_ns.len;
    add(g, WORK_MARK, stream)->mark = mark;
    advance(g);
    return mark;
}

void streams_add_wait(struct timed_gpu *g, uint64_t stream, uint64_t mark)
{
    add(g, WORK_WAIT, stream)->mark = mark;
    advance(g);
}

/* ---- ends ---- */

struct gpu_kernel *streams_next_kernel(const struct timed_gpu *g)
{
    struct gpu_stream *s = oldest_ready(g, true);
    return s ? s->first->kernel : NULL;
}

void streams_kernel_began(struct timed_gpu *g, const struct gpu_kernel *k)
{
    struct gpu_work *w = streams_get(g, k->stream)->first;
    assert(w && w->kernel == k);
    w->begun = true;
}

void streams_kernel_ended(struct timed_gpu *g, const struct gpu_kernel *k)
{
    struct gpu_stream *s = streams_get(g, k->stream);
    assert(s->first && s->first->kernel == k && s->first->begun);
    g->streams.kernels--;
    end_first(g, s);
    advance(g);
}

void streams_tick(struct timed_gpu *g, tick now)
{
    bool ended = false;
    for (uint32_t i = 0; i < COPY_ENGINES_MAX; i++) {
        struct gpu_work *w = g->streams.engine[i];
        if (!w || w->end > now) continue;
        g->streams.engine[i] = NULL;
        end_copy(g, streams_get(g, w->stream));
        ended = true;
    }
    if (ended) advance(g);
}

tick streams_wake(const struct timed_gpu *g)
{
    tick wake = TICK_NEVER;
    for (uint32_t i = 0; i < COPY_ENGINES_MAX; i++)
        if (g->streams.engine[i]) wake_at(&wake, g->streams.engine[i]->end);
    return wake;
}

void streams_explain(const struct timed_gpu *g, struct strbuf *out)
{
    static const char *const kinds[] = {"kernel", "copy", "event", "wait for an event"};
    for (uint32_t i = 0; i < g->streams.all.len; i++) {
        const struct gpu_stream *s = g->streams.all.data[i];
        const struct gpu_work *w = s->first;
        if (!w || (w->kind == WORK_KERNEL && w->begun)) continue; /* told as a kernel */
        strbuf_printf(out, "  stream %" PRIu64 ": %s %s", s->id, kinds[w->kind],
                      w->begun ? "under way" : "waits for its turn");
        if (w->kind == WORK_KERNEL) strbuf_printf(out, ": '%s'", w->kernel->name);
        strbuf_putc(out, '\n');
    }
}
