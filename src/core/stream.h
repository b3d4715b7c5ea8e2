/* stream.h: streams of the timed GPU: kernels, copies and marks in the order that CUDA gives them. See
 * stream.c. */
#ifndef HEDDLE_STREAM_H
#define HEDDLE_STREAM_H

#include "base/vec.h"
#include "core/gpu_clock.h"
#include "core/timed.h"

struct gpu_kernel;
struct gpu_work;
struct records;

struct gpu_stream {
    uint64_t id;
    /* orders itself with stream 0 */
    bool blocking;
    /* gets no more work: it is freed when its last work has ended */
    bool ended;
    struct gpu_work *first, *last;
};

/* What copies did, for the statistics group "gpu". */
struct copy_counts {
    uint64_t copies, bytes, cycles;
};

struct stream_setup {
    const struct machine *machine;
    const struct gpu_time *time;
    /* where copies that took time are recorded */
    struct records *records;
};

enum { COPY_ENGINES_MAX = 3 };
#define MARK_PENDING UINT64_MAX

/* Written by stream.c alone. */
struct stream_set {
    /* when streams_tick has something to do, or a kernel's turn has come, at the latest */
    tick wake;
    /* pieces of work, and kernels among them, that have not ended */
    uint32_t pending, kernels;
    /* the first is stream 0 */
    VEC(struct gpu_stream *) all;
    /* [mark - 1]: when it was reached, or MARK_PENDING */
    VEC(uint64_t) mark_ns;
    uint64_t orders;
    /* the copy that each engine works on; NULL: none */
    struct gpu_work *engine[COPY_ENGINES_MAX];
    struct copy_counts counts;
    struct stream_setup setup;
};

void streams_init(struct stream_set *s, const struct stream_setup *setup);
void streams_close(struct stream_set *s);

/* The stream is made at its first use. */
struct gpu_stream *streams_get(struct stream_set *s, uint64_t id);
/* The stream no longer orders itself with stream 0. */
void streams_unblock(struct stream_set *s, uint64_t id);
void streams_end(struct stream_set *s, uint64_t id);

/* A kernel that has not begun belongs to its stream. */
void streams_add_kernel(struct stream_set *s, struct gpu_kernel *k);
void streams_add_copy(struct stream_set *s, const struct timed_copy *c, uint64_t stream);
uint64_t streams_add_mark(struct stream_set *s, uint64_t stream);
void streams_add_wait(struct stream_set *s, uint64_t stream, uint64_t mark);

static inline bool streams_has_reached(const struct stream_set *s, uint64_t mark)
{
    return s->mark_ns.data[mark - 1] != MARK_PENDING;
}

/* The oldest launch whose turn has come, or NULL. */
struct gpu_kernel *streams_next_kernel(const struct stream_set *s);
void streams_kernel_began(struct stream_set *s, const struct gpu_kernel *k);
void streams_kernel_ended(struct stream_set *s, const struct gpu_kernel *k);

/* Ends the copies whose time has come. */
void streams_tick(struct stream_set *s);
/* When the next copy ends; TICK_NEVER: none is under way. */
tick streams_copy_end(const struct stream_set *s);
/* Which stream waits for what, for the report of a stuck machine. */
void streams_explain(const struct stream_set *s, struct strbuf *out);

#endif
