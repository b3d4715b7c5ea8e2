/* l2.h: one slice of the L2 cache: access queue (the link from the crossbar) -> fixed pipeline latency -> tags -> hit: data port, response
 * queue (the link to the crossbar); miss: MSHR, miss queue (the link to DRAM) -> fill. Write-back, write-allocate; partial writes; atomics
 * are performed here, in arrival order (the callback), and return their value. */
#ifndef HEDDLE_L2_H
#define HEDDLE_L2_H

#include "config/param.h"
#include "mem/cache.h"
#include "mem/link.h"
#include "mem/req.h"
#include "stats/stat.h"

enum l2_write_miss {
    L2_FETCH_ON_WRITE, /* every write miss fetches what it writes to */
    L2_LAZY_FETCH,     /* none does; what was written in part is fetched when it is read */
    L2_FETCH_PARTIAL   /* sectors written as a whole are not fetched, the others are */
};

struct l2_params {
    uint64_t slice_size;     /* bytes */
    uint32_t ways, line;     /* line: bytes */
    uint32_t index, replace; /* enum cache_index, cache_replace */
    bool sectored;
    uint32_t mshrs, merges;
    uint32_t access_queue, response_queue, miss_queue,
        fill_queue;         /* depths of the four links; the GPU makes them */
    uint32_t latency;       /* core cycles from the access queue to the tags */
    uint32_t pipeline;      /* requests in that time; 0 = one an L2 cycle */
    bool late_queue;        /* the access queue lies behind the latency */
    uint32_t port_bytes;    /* a L2 cycle */
    bool fill_port;         /* fills have a port of their own */
    bool wait_for_all;      /* an access waits for what any access may need */
    uint32_t write_miss;    /* enum l2_write_miss */
    uint32_t atomic_cycles; /* L2 cycles that the atomic unit is busy with a request */
    bool infinite;
    uint32_t infinite_miss; /* core cycles that a miss takes longer than a hit then */
    bool perfect;
};
extern const struct param_row l2_rows[];
extern const struct stat_row l2_stat_rows[];

/* Why the head of the access queue could not go on in a cycle (thesis, Figure 3.8): exactly one. */
enum l2_stall { L2_STALL_ICNT, L2_STALL_DRAM, L2_STALL_PORT, L2_STALL_LINE, L2_STALL_MSHR, L2_STALL_COUNT };

struct l2_class_stats {
    uint64_t accesses, hits, pending_hits, misses, fails;
};

struct l2_stats {
    struct l2_class_stats all, cls[REQ_CLASS_COUNT], global_writes; /* cls: reads, writes and atomics */
    uint64_t reads, writes, atomics, read_sectors, sector_misses, write_allocs;
    uint64_t fetches, fetched_sectors, writebacks, written_sectors, flushed_lines;
    uint64_t stall[L2_STALL_COUNT]; /* L2 cycles */
    uint64_t port_busy_cycles, port_read_cycles, port_write_cycles, port_fill_cycles, port_evict_cycles;
    uint64_t replies, hit_latency,
        hits_timed; /* hit_latency: core cycles from the access queue's end to the reply, of reads */
    uint64_t mshr_max;
};

/* What is wrong with the parameters taken together; false with diagnostics. */
bool l2_check(const struct l2_params *p, struct diag_list *diags);

struct l2_slice;
/* to_dram / from_dram carry request ids that the slice makes (REQ_READ fills, REQ_WRITE write-backs) on the DRAM side; from_dram returns reads. */
struct l2_slice *l2_create(const struct l2_params *p, uint32_t index, const struct clock_domain *clock,
                           const struct clock_domain *core, struct req_pool *pool, struct link *in,
                           struct link *out, struct link *to_dram, struct link *from_dram);
void l2_destroy(struct l2_slice *s);
/* From a device address to one within the slice, which chooses the set (addrmap_slice_addr); without it the two are the same. */
void l2_use_map(struct l2_slice *s, uint64_t (*to_local)(const void *ctx, uint64_t addr), const void *ctx);
/* Called when an atomic takes effect: token is the asker's. */
void l2_on_atomic(struct l2_slice *s, void (*apply)(void *ctx, const struct req *r), void *ctx);
void l2_tick(struct l2_slice *s, tick now);
tick *l2_wake(struct l2_slice *s);
bool l2_idle(const struct l2_slice *s);
void l2_fill_from_host(
    struct l2_slice *s,
    uint64_t line_addr); /* a host copy leaves the line in L2 (where the machine says so) */
void l2_flush(struct l2_slice *s);
void *l2_stats(struct l2_slice *s);
/* Charges a stall that is still going on, up to now: before the statistics are read in the middle of a run. */
void l2_settle(struct l2_slice *s, tick now);
/* The most requests that a slice has made and not yet seen the end of, without those inside DRAM. */
uint32_t l2_requests_max(const struct l2_params *p);
static inline uint32_t l2_sets(const struct l2_params *p)
{
    return (uint32_t)(p->slice_size / ((uint64_t)p->ways * p->line));
}
void l2_explain(const struct l2_slice *s, tick now, struct strbuf *out);

#endif
