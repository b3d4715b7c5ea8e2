/* timeline.c: Chrome trace events ("Trace Event Format", the JSON object form).
 *
 * Processes: 1 = kernels (thread = stream), 2 = counters, 10 + n = SM n (thread = a lane; TID_NOTES + m =
 * notes of mechanism m). "X" events of one thread must nest, and CTAs of one SM overlap: each CTA takes
 * the lowest lane that is free when it starts, as the hardware takes a CTA slot. Time stamps are
 * microseconds of simulated time. */
#include "trace/timeline.h"

#include "base/vec.h"
#include "stats/json.h"

#include <stdlib.h>

enum { PID_KERNELS = 1, PID_COUNTERS = 2, PID_SM = 10, TID_NOTES = 1 << 16 };

struct timeline {
    const struct stats_view *v;
    struct strbuf *out;
    /* an event has been written */
    bool any;
    /* see kernel_name */
    const struct timed_kernel *last;
};

static double cycles_to_us(const struct timeline *t, uint64_t cycles)
{
    uint32_t khz = t->v->machine.core_khz;
    return (double)cycles * 1000.0 / (double)(khz ? khz : 1000000u);
}

static void event_begin(struct timeline *t)
{
    strbuf_puts(t->out, t->any ? ",\n" : "\n");
    t->any = true;
}

static void name_track(struct timeline *t, const char *what, uint64_t pid, uint64_t tid, const char *name)
{
    event_begin(t);
    strbuf_printf(t->out, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%llu,\"tid\":%llu,\"args\":{\"name\":", what,
                  (unsigned long long)pid, (unsigned long long)tid);
    json_string(t->out, name);
    strbuf_puts(t->out, "}}");
}

/* An "X" event, open at its args: the caller writes them and closes both braces. */
static void slice_begin(struct timeline *t, const char *name, uint64_t pid, uint64_t tid, uint64_t start,
                        uint64_t end)
{
    event_begin(t);
    strbuf_puts(t->out, "{\"ph\":\"X\",\"name\":");
    json_string(t->out, name);
    strbuf_printf(t->out, ",\"pid\":%llu,\"tid\":%llu,\"ts\":%.6f,\"dur\":%.6f,\"args\":{",
                  (unsigned long long)pid, (unsigned long long)tid, cycles_to_us(t, start),
                  cycles_to_us(t, end - start));
    strbuf_printf(t->out, "\"start_cycle\":%llu,\"cycles\":%llu", (unsigned long long)start,
                  (unsigned long long)(end - start));
}

static void counter(struct timeline *t, const char *name, uint64_t cycle, double value)
{
    event_begin(t);
    strbuf_printf(t->out, "{\"ph\":\"C\",\"name\":\"%s\",\"pid\":%d,\"ts\":%.6f,\"args\":{\"value\":", name,
                  PID_COUNTERS, cycles_to_us(t, cycle));
    json_number(t->out, value);
    strbuf_puts(t->out, "}}");
}

static bool stream_named_before(const struct stats_view *v, uint32_t kernel)
{
    for (uint32_t i = 0; i < kernel; i++)
        if (v->kernels[i]->stream == v->kernels[kernel]->stream) return true;
    return false;
}

static void print_kernels(struct timeline *t)
{
    if (!t->v->kernel_count) return;
    name_track(t, "process_name", PID_KERNELS, 0, "kernels");
    for (uint32_t i = 0; i < t->v->kernel_count; i++) {
        const struct timed_kernel *k = t->v->kernels[i];
        if (!stream_named_before(t->v, i)) {
            char name[40];
            snprintf(name, sizeof name, "stream %llu", (unsigned long long)k->stream);
            name_track(t, "thread_name", PID_KERNELS, k->stream, name);
        }
        slice_begin(t, k->name, PID_KERNELS, k->stream, k->start_cycle, k->end_cycle);
        strbuf_printf(t->out, ",\"id\":%llu,\"ctas\":%llu,\"ipc\":", (unsigned long long)k->id,
                      (unsigned long long)k->ctas);
        json_number(t->out, view_per_cycle(t->v, k, STATS_SM_WARP_INSTS));
        strbuf_puts(t->out, "}}");
    }
}

static bool stream_has_kernel(const struct stats_view *v, uint64_t stream)
{
    for (uint32_t i = 0; i < v->kernel_count; i++)
        if (v->kernels[i]->stream == stream) return true;
    return false;
}

/* Copies lie on the tracks of their streams, between the kernels. */
static void print_transfers(struct timeline *t)
{
    static const char *const names[] = {[COPY_TO_DEVICE] = "copy to device",
                                        [COPY_TO_HOST] = "copy to host",
                                        [COPY_ON_DEVICE] = "copy on device",
                                        [COPY_ON_HOST] = "copy on host"};
    for (uint32_t i = 0; i < t->v->transfer_count; i++) {
        const struct timed_transfer *c = t->v->transfers[i];
        char name[40];
        snprintf(name, sizeof name, "stream %llu", (unsigned long long)c->stream);
        if (!stream_has_kernel(t->v, c->stream)) name_track(t, "thread_name", PID_KERNELS, c->stream, name);
        slice_begin(t, names[c->kind], PID_KERNELS, c->stream, c->start_cycle, c->end_cycle);
        strbuf_printf(t->out, ",\"bytes\":%llu}}", (unsigned long long)c->bytes);
    }
}

static void name_sm(struct timeline *t, uint32_t sm)
{
    char name[24];
    snprintf(name, sizeof name, "SM %u", sm);
    name_track(t, "process_name", PID_SM + (uint64_t)sm, 0, name);
}

static int cta_compare(const void *a, const void *b)
{
    const struct timed_cta *x = *(const struct timed_cta *const *)a, *y = *(const struct timed_cta *const *)b;
    if (x->sm != y->sm) return x->sm < y->sm ? -1 : 1;
    if (x->start_cycle != y->start_cycle) return x->start_cycle < y->start_cycle ? -1 : 1;
    if (x->kernel != y->kernel) return x->kernel < y->kernel ? -1 : 1;
    return x->cta < y->cta ? -1 : x->cta > y->cta;
}

/* Neighbouring CTAs mostly belong to one kernel: the last answer is kept. */
static const char *kernel_name(struct timeline *t, uint64_t id)
{
    if (t->last && t->last->id == id) return t->last->name;
    for (uint32_t i = 0; i < t->v->kernel_count; i++)
        if (t->v->kernels[i]->id == id) {
            t->last = t->v->kernels[i];
            return t->last->name;
        }
    return "kernel";
}

static void print_cta(struct timeline *t, const struct timed_cta *c, uint32_t lane)
{
    char name[40];
    snprintf(name, sizeof name, "CTA %llu", (unsigned long long)c->cta);
    slice_begin(t, name, PID_SM + (uint64_t)c->sm, lane, c->start_cycle, c->end_cycle);
    strbuf_puts(t->out, ",\"kernel\":");
    json_string(t->out, kernel_name(t, c->kernel));
    strbuf_printf(t->out, ",\"kernel_id\":%llu}}", (unsigned long long)c->kernel);
}

static void print_ctas(struct timeline *t)
{
    uint32_t n = t->v->cta_count;
    if (!n) return;
    const struct timed_cta **ctas = mem_alloc(sizeof(*ctas) * n);
    for (uint32_t i = 0; i < n; i++) ctas[i] = t->v->ctas[i];
    qsort(ctas, n, sizeof *ctas, cta_compare);
    VEC(uint64_t) free_at = {0}; /* by lane of the current SM */
    for (uint32_t i = 0; i < n; i++) {
        const struct timed_cta *c = ctas[i];
        if (!i || ctas[i - 1]->sm != c->sm) {
            name_sm(t, c->sm);
            free_at.len = 0;
        }
        uint32_t lane = 0;
        while (lane < free_at.len && free_at.data[lane] > c->start_cycle) lane++;
        if (lane == free_at.len) vec_push(&free_at, 0);
        free_at.data[lane] = c->end_cycle;
        print_cta(t, c, lane);
    }
    vec_free(&free_at);
    free(ctas);
}

static bool sm_has_cta(const struct stats_view *v, uint32_t sm)
{
    for (uint32_t i = 0; i < v->cta_count; i++)
        if (v->ctas[i]->sm == sm) return true;
    return false;
}

/* By track; the notes of one are in order already. */
static int note_compare(const void *a, const void *b)
{
    const struct timed_note *x = *(const struct timed_note *const *)a,
                            *y = *(const struct timed_note *const *)b;
    if (x->sm != y->sm) return x->sm < y->sm ? -1 : 1;
    if (x->mechanism != y->mechanism) return x->mechanism < y->mechanism ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void print_note(struct timeline *t, const struct timed_note *n)
{
    event_begin(t);
    strbuf_puts(t->out, "{\"ph\":\"i\",\"s\":\"t\",\"name\":");
    json_string(t->out, n->kind);
    strbuf_printf(
        t->out, ",\"pid\":%llu,\"tid\":%u,\"ts\":%.6f,\"args\":{\"cycle\":%llu,\"a\":%llu,\"b\":%llu}}",
        (unsigned long long)(PID_SM + (uint64_t)n->sm), TID_NOTES + n->mechanism, cycles_to_us(t, n->cycle),
        (unsigned long long)n->cycle, (unsigned long long)n->a, (unsigned long long)n->b);
}

static void print_notes(struct timeline *t)
{
    uint32_t count = t->v->note_count;
    if (!count) return;
    const struct timed_note **notes = mem_alloc(sizeof(*notes) * count);
    for (uint32_t i = 0; i < count; i++) notes[i] = &t->v->notes[i];
    qsort(notes, count, sizeof *notes, note_compare);
    for (uint32_t i = 0; i < count; i++) {
        const struct timed_note *n = notes[i], *before = i ? notes[i - 1] : NULL;
        bool is_new_sm = !before || before->sm != n->sm;
        if (is_new_sm && !sm_has_cta(t->v, n->sm)) name_sm(t, n->sm);
        if (is_new_sm || before->mechanism != n->mechanism)
            name_track(t, "thread_name", PID_SM + (uint64_t)n->sm, TID_NOTES + n->mechanism,
                       n->mechanism_name);
        print_note(t, n);
    }
    free(notes);
}

static bool has_pending_ctas(const struct stats_view *v)
{
    for (uint32_t i = 0; i < v->sample_count; i++)
        if (view_ratio(v, v->samples[i]->stats, STATS_SM_PENDING_CTA_CYCLES, STATS_SM_ACTIVE_CYCLES) > 0)
            return true;
    return false;
}

/* CTAs of an SM: with slots, without, and of these without rows of the register file; stats NULL: 0. */
static void print_residency(struct timeline *t, uint64_t cycle, void *const *stats)
{
    double ctas = 0, pending = 0, saved = 0;
    if (stats) {
        ctas = view_ratio(t->v, stats, STATS_SM_CTA_CYCLES, STATS_SM_ACTIVE_CYCLES);
        pending = view_ratio(t->v, stats, STATS_SM_PENDING_CTA_CYCLES, STATS_SM_ACTIVE_CYCLES);
        saved = view_ratio(t->v, stats, STATS_SM_SAVED_CTA_CYCLES, STATS_SM_ACTIVE_CYCLES);
    }
    counter(t, "CTAs of an SM: active", cycle, ctas - pending);
    counter(t, "CTAs of an SM: pending", cycle, pending);
    counter(t, "CTAs of an SM: pending, registers saved", cycle, saved);
}

static bool has_cache_sms(const struct stats_view *v)
{
    for (uint32_t i = 0; i < v->sample_count; i++)
        if (view_value(v, v->samples[i]->stats, "helper.sms") > 0) return true;
    return false;
}

/* SMs by what they do, hit rates of both parts of the LLC and the requests in a controller's queue; sample
 * NULL: 0. A request for data that is on its way hits in neither part. */
static void print_roles(struct timeline *t, uint64_t cycle, const struct timed_sample *sample)
{
    const double cycles = sample ? (double)(sample->end_cycle - sample->start_cycle) : 0;
    static const struct {
        /* of: what the statistic is divided by; NULL: nothing */
        const char *name, *stat, *of;
        /* its unit; a sum over SMs becomes their number */
        double factor;
        bool is_sum;
    } rows[] = {{"SMs: computing", "sm.active_cycles", NULL, 1, true},
                {"SMs: in cache mode", "helper.sms", NULL, 1, false},
                {"SMs in cache mode: busy %", "helper.busy", NULL, 1, false},
                {"LLC hit rate %: slices", "l2.hits", "l2.accesses", 100, false},
                {"LLC hit rate %: extended", "morpheus.hit_share", NULL, 100, false},
                {"request queue of a slice", "morpheus.queue_length", NULL, 1, false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const double of = sample && rows[i].of ? view_value(t->v, sample->stats, rows[i].of)
                          : rows[i].is_sum     ? cycles
                                               : 1;
        const double value = sample ? rows[i].factor * view_value(t->v, sample->stats, rows[i].stat) : 0;
        counter(t, rows[i].name, cycle, of > 0 ? value / of : 0);
    }
}

/* A counter holds its value until the next one: each sample stands at its start, and a last value of 0 ends
 * the track.
 * */
static void print_counters(struct timeline *t)
{
    const struct stats_view *v = t->v;
    if (!v->sample_count) return;
    const bool has_pending = has_pending_ctas(v), has_roles = has_cache_sms(v);
    name_track(t, "process_name", PID_COUNTERS, 0, "counters");
    for (uint32_t i = 0; i < v->sample_count; i++) {
        const struct timed_sample *s = v->samples[i];
        const struct timed_kernel as = {
            .start_cycle = s->start_cycle, .end_cycle = s->end_cycle, .stats = s->stats};
        counter(t, "IPC", s->start_cycle, view_per_cycle(v, &as, STATS_SM_WARP_INSTS));
        counter(t, "L1 miss rate %", s->start_cycle,
                100 * view_ratio(v, s->stats, STATS_L1_MISSES, STATS_L1_ACCESSES));
        counter(t, "DRAM utilization %", s->start_cycle,
                100 * view_ratio(v, s->stats, STATS_DRAM_BUSY, STATS_DRAM_CYCLES));
        if (has_pending) print_residency(t, s->start_cycle, s->stats);
        if (has_roles) print_roles(t, s->start_cycle, s);
    }
    uint64_t end = v->samples[v->sample_count - 1]->end_cycle;
    counter(t, "IPC", end, 0);
    counter(t, "L1 miss rate %", end, 0);
    counter(t, "DRAM utilization %", end, 0);
    if (has_pending) print_residency(t, end, NULL);
    if (has_roles) print_roles(t, end, NULL);
}

void timeline_print(const struct stats_view *v, struct strbuf *out)
{
    struct timeline t = {.v = v, .out = out};
    strbuf_puts(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"machine\":");
    json_string(out, v->machine.name);
    strbuf_printf(out, ",\"partial\":%s", v->partial ? "true" : "false");
    if (v->notes_dropped)
        strbuf_printf(out, ",\"events_dropped\":%llu", (unsigned long long)v->notes_dropped);
    strbuf_puts(out, "},\"traceEvents\":[");
    print_kernels(&t);
    print_transfers(&t);
    print_ctas(&t);
    print_notes(&t);
    print_counters(&t);
    strbuf_puts(out, "\n]}\n");
}
