/* l2.h: one slice of the L2 cache. A request goes through the access queue (the link from the crossbar), a
 * pipeline of fixed latency, and the tags. A hit goes on to the data port and the response queue (the link to
 * the crossbar); a miss takes an MSHR and goes to the miss queue (the link to DRAM), until its fill comes.
 * Write-back, write-allocate, with partial writes. Atomics are performed here, in the order of arrival (the
 * callback), and return their value. */
#ifndef HEDDLE_L2_H
#define HEDDLE_L2_H

#include "config/param.h"
#include "mem/cache.h"
#include "mem/link.h"
#include "mem/req.h"
#include "stats/stat.h"

enum l2_write_miss {
    /* every write miss fetches the sectors that it writes to */
    L2_FETCH_ON_WRITE,
    /* no write miss fetches; a sector that was written in part is fetched when it is read */
    L2_LAZY_FETCH,
    /* a sector that is written completely is not fetched, other sectors are */
    L2_FETCH_PARTIAL
};

struct l2_params {
    /* bytes */
    uint64_t slice_size;
    uint32_t ways;
    /* bytes */
    uint32_t line;
    /* enum cache_index, enum cache_replace */
    uint32_t index, replacement;
    bool sectored;
    uint32_t mshrs, merges;
    /* depths of the four links, which the GPU creates */
    uint32_t access_queue, response_queue, miss_queue, fill_queue;
    /* core cycles from the access queue to the tags */
    uint32_t tag_latency;
    /* requests that may be under way in that time; 0 = one for each L2 cycle */
    uint32_t pipeline;
    /* the access queue is behind the latency */
    bool late_queue;
    /* bytes that the data port moves in an L2 cycle */
    uint32_t port_bytes;
    /* fills have a port of their own */
    bool fill_port;
    /* an access waits for everything that any access may need */
    bool wait_for_all;
    /* enum l2_write_miss */
    uint32_t write_miss;
    /* L2 cycles for which a request occupies the atomic unit */
    uint32_t atomic_cycles;
    bool infinite;
    /* core cycles by which a miss takes longer than a hit in an infinite slice */
    uint32_t infinite_miss;
    bool perfect;
};
extern const struct param_row l2_rows[];
extern const struct stat_row l2_stat_rows[];

/* Why the request at the tags could not go on in a cycle (thesis, Figure 3.8): exactly one cause. */
enum l2_stall {
    L2_STALL_ICNT,
    L2_STALL_DRAM,
    L2_STALL_PORT,
    L2_STALL_LINE,
    L2_STALL_MSHR,
    /* the mechanism that takes the request has no room (l2_claim.h) */
    L2_STALL_CLAIM,
    L2_STALL_COUNT,
    /* the request could go on */
    L2_GOES_ON = L2_STALL_COUNT
};

struct l2_class_stats {
    uint64_t accesses, hits, pending_hits, misses, fails;
};

struct l2_stats {
    /* cls: reads, writes and atomics */
    struct l2_class_stats all, cls[REQ_CLASS_COUNT], all_writes, global_writes;
    uint64_t reads, writes, atomics, read_sectors, sector_misses, write_allocs;
    uint64_t fetches, fetched_sectors, writebacks, written_sectors, flushed_lines;
    /* L2 cycles */
    uint64_t stall[L2_STALL_COUNT];
    uint64_t port_busy_cycles, port_read_cycles, port_write_cycles, port_fill_cycles, port_evict_cycles;
    uint64_t replies;
    /* core cycles from the end of the access queue to the reply, summed over reads that hit; number of these
     * reads */
    uint64_t hit_latency, hits_timed;
    uint64_t mshr_max;
};

/* Checks whether the parameters fit together; false with diagnostics where they do not. */
bool l2_check(const struct l2_params *p, struct diag_list *diags);

struct l2_slice;
/* in, out: links from and to the crossbar. to_dram carries requests that the slice makes: REQ_READ for fills,
 * REQ_WRITE for write-backs; from_dram returns the reads. */
struct l2_slice *l2_create(const struct l2_params *p, uint32_t index, const struct clock_domain *clock,
                           const struct clock_domain *core, struct req_pool *pool, struct link *in,
                           struct link *out, struct link *to_dram, struct link *from_dram);
void l2_destroy(struct l2_slice *s);
/* to_local converts a device address into the address within the slice, which selects the set
 * (addrmap_slice_addr). Without it both addresses are the same. */
void l2_use_map(struct l2_slice *s, uint64_t (*to_local)(const void *ctx, uint64_t addr), const void *ctx);
/* apply is called when an atomic takes effect; the request's token is the sender's. */
void l2_on_atomic(struct l2_slice *s, void (*apply)(void *ctx, const struct req *r), void *ctx);
/* wrote is called when the slice has taken a write, in the order in which it accepts requests for a line; may
 * be NULL. */
void l2_on_write(struct l2_slice *s, void (*wrote)(void *ctx, const struct req *r), void *ctx);
void l2_tick(struct l2_slice *s, tick now);
tick *l2_wake(struct l2_slice *s);
bool l2_idle(const struct l2_slice *s);
/* A host copy leaves the line in L2 (gpu.copy_fills_l2). */
void l2_fill_from_host(struct l2_slice *s, uint64_t line_addr);
void l2_flush(struct l2_slice *s);
void *l2_stats(struct l2_slice *s);
/* Returns the bytes of data that writes and atomics have brought to the slice. */
uint64_t l2_taken_bytes(const struct l2_slice *s);
/* Charges a stall that still lasts, up to now: called before statistics are read during a run. */
void l2_settle(struct l2_slice *s, tick now);
/* The most requests that a slice has made and that have not ended, without those inside DRAM. */
uint32_t l2_requests_max(const struct l2_params *p);
/* Says what waits for what, for the report of a stuck machine. */
void l2_explain(const struct l2_slice *s, tick now, struct strbuf *out);
static inline uint32_t l2_sets(const struct l2_params *p)
{
    return (uint32_t)(p->slice_size / ((uint64_t)p->ways * p->line));
}

#endif
