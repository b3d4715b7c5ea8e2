/* stream.h: streams of the timed GPU: kernels, copies and marks in the order that CUDA gives them. See stream.c. */
#ifndef HEDDLE_STREAM_H
#define HEDDLE_STREAM_H

#include "base/vec.h"
#include "core/timed.h"

struct gpu_kernel;

enum work_kind { WORK_KERNEL, WORK_COPY, WORK_MARK, WORK_WAIT };

struct gpu_work {
    enum work_kind kind;
    bool begun;            /* a kernel on the machine, a copy on an engine */
    uint64_t order;        /* of all work that the machine was given: rising */
    struct gpu_work *next; /* of its stream */
    struct gpu_kernel *kernel;
    struct timed_copy copy;
    uint64_t mark;   /* to set, or to wait for */
    tick begin, end; /* of a copy that has begun */
    uint64_t stream; /* id */
};

struct gpu_stream {
    uint64_t id;
    bool blocking; /* orders itself with stream 0 */
    bool ended;    /* forgotten when its last work has ended */
    struct gpu_work *first, *last;
};

enum { COPY_ENGINES_MAX = 3 };

struct stream_set {
    VEC(struct gpu_stream *) all; /* the first is stream 0 */
    uint64_t orders;
    uint32_t pending, kernels;                 /* work, and kernels, that have not ended */
    struct gpu_work *engine[COPY_ENGINES_MAX]; /* the copy that each one is busy with; NULL: free */
    VEC(uint64_t) mark_ns;                     /* by mark - 1: when it was reached, or MARK_PENDING */
};
#define MARK_PENDING UINT64_MAX

struct timed_gpu;
void streams_init(struct timed_gpu *g);
void streams_close(struct timed_gpu *g);
struct gpu_stream *streams_get(struct timed_gpu *g, uint64_t id); /* made at its first use */
void streams_end(struct timed_gpu *g, uint64_t id);
void streams_add_kernel(struct timed_gpu *g, struct gpu_kernel *k, uint64_t stream);
void streams_add_copy(struct timed_gpu *g, const struct timed_copy *c, uint64_t stream);
uint64_t streams_add_mark(struct timed_gpu *g, uint64_t stream);
void streams_add_wait(struct timed_gpu *g, uint64_t stream, uint64_t mark);

/* The oldest launch whose turn has come, or NULL. */
struct gpu_kernel *streams_next_kernel(const struct timed_gpu *g);
void streams_kernel_began(struct timed_gpu *g, const struct gpu_kernel *k);
void streams_kernel_ended(struct timed_gpu *g, const struct gpu_kernel *k);
void streams_tick(struct timed_gpu *g, tick now); /* ends the copies whose time has come */
tick streams_wake(const struct timed_gpu *g);     /* end of the next copy; TICK_NEVER: none is under way */
void streams_explain(const struct timed_gpu *g, struct strbuf *out);

/* copy.c: what a copy costs: core cycles from its begin to its end; 0: no time at all. */
struct machine;
uint64_t copy_cycles(const struct machine *m, const struct timed_copy *c);
uint32_t copy_engine(const struct machine *m, enum timed_copy_kind kind);

#endif
