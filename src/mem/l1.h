/* l1.h: the L1 data cache of one SM, with the coalesced accesses of the load-store unit above and the
 * crossbar below.
 *
 * The LSU offers one transaction at a time (a line and its sectors); the cache answers at once whether it
 * took it. A load that it took is reported done later (l1_next_done) with the token that came with it. A
 * refusal names its cause, and the transaction is offered again. Policies (write-evict or write-back for
 * local, allocate on miss or on fill, sectors, index, MSHRs, miss queue) are parameters. */
#ifndef HEDDLE_L1_H
#define HEDDLE_L1_H

#include "config/param.h"
#include "mem/cache.h"
#include "mem/link.h"
#include "mem/req.h"
#include "stats/stat.h"

enum l1_write_global {
    /* write through, the line is dropped on a hit */
    L1_WRITE_EVICT,
    /* write through, kept */
    L1_WRITE_UPDATE
};
enum l1_write_local { L1_WRITE_BACK, L1_WRITE_THROUGH /* local stores are treated as global ones */ };
enum l1_allocate { L1_ALLOCATE_ON_MISS, L1_ALLOCATE_ON_FILL };
enum l1_prefetch_priority { L1_PREFETCH_LOW, L1_PREFETCH_ALTERNATE };

struct l1_params {
    /* any value: sets = size / (line * ways), at least one; fewer ways when they do not fit */
    uint64_t size;
    uint32_t ways, line;
    bool sectored;
    /* enum cache_index, cache_replace */
    uint32_t index, replacement;
    uint32_t mshrs, merges, miss_queue, latency, tag_latency, ports, read_places;
    /* enums above */
    uint32_t write_global, write_local, allocate;
    /* flush: at the end of a kernel; the SM reads it */
    bool mshr_until_taken, local_write_allocate, cache_global, flush;
    bool perfect;
    uint32_t fixed_miss_latency;
    /* cycles: a reply is taken a whole number of these after its request; 0 = at once */
    uint32_t reply_step;
    /* enum l1_prefetch_priority; read by the SM */
    uint32_t prefetch_priority;
};
extern const struct param_row l1_rows[];
extern const struct stat_row l1_stat_rows[];
/* Loads that can wait: those merged into MSHRs, and as many that bypass them as the miss queue is deep. */
uint32_t l1_loads_max(const struct l1_params *p);

enum l1_type {
    L1_GLOBAL_LOAD,
    L1_GLOBAL_STORE,
    L1_LOCAL_LOAD,
    L1_LOCAL_STORE,
    L1_ATOMIC,
    /* texture, constant */
    L1_OTHER,
    L1_TYPES
};
enum { L1_LATENCY_BUCKETS = 64, L1_LATENCY_BUCKET_CYCLES = 32 };

/* An access is counted once, when it is taken: accesses = hits + pending + misses, for each type. Bypassing
 * loads and prefetches are counted apart. What can be added up is, by l1_stats_derive; what is counted with
 * each other lies together. */
struct l1_stats {
    /* intra_warp_hits, inter_warp_hits: of loads */
    uint64_t hits[L1_TYPES], intra_warp_hits, inter_warp_hits;
    uint64_t misses[L1_TYPES], replaced_misses, evictions;
    /* fails: cycles in which an access was refused; their sum is stall_cycles */
    uint64_t fails[L1_TYPES], stall_mshr, stall_cycles;
    uint64_t pending[L1_TYPES], stall_line, stall_queue;
    /* l2_hit: reads that hit in the L2 */
    uint64_t requests_read, fills, replies, miss_latency_sum, l2_hit_latency_sum, l2_hit_latency_count;
    /* loads that missed or merged, from then to their data; how many got it */
    uint64_t demand_wait_sum, demand_waits;
    uint64_t miss_latency[L1_LATENCY_BUCKETS];
    /* with replaced_misses: causes of the misses that allocate or read; their sum is reads_missed */
    uint64_t cold_misses, sector_misses;
    /* loads that hit when the load before them missed or merged */
    uint64_t hit_after_miss;
    uint64_t stall_port, stall_held, stall_stolen, bypassed, other_requests, requests_write, requests_atomic;
    /* rules: l1_prefetch.c */
    uint64_t prefetch_offered, prefetch_issued, prefetch_redundant, prefetch_dropped, prefetch_useful,
        prefetch_late, prefetch_unused, prefetch_early, prefetch_useless;
    uint64_t write_backs, write_evictions, fills_not_kept, flushes, resizes, taken_hits;
    uint64_t mshr_max;
    /* sums */
    uint64_t accesses[L1_TYPES], total_accesses, total_hits, total_pending, total_misses;
    uint64_t load_accesses, load_misses, load_hits, load_pending, hit_after_hit, reads_missed,
        miss_latency_count;
    uint64_t prefetch_correct, prefetch_covered, prefetch_coverable;
};
/* the sums of what is counted up to now */
void l1_stats_derive(struct l1_stats *s);

/* one coalesced transaction; a line of the host's cache */
struct l1_txn {
    /* line address (device address space; local memory already interleaved) */
    uint64_t addr;
    /* of the line */
    uint32_t sectors;
    /* stores and atomics: bytes of data */
    uint32_t write_bytes;
    /* store does not cover its sectors */
    bool partial;
    /* enum req_kind, req_class */
    uint8_t kind, cls;
    /* .cg, volatile: goes to L2 */
    bool bypass;
    bool is_prefetch;
    /* of its instruction's transactions, for observers; as is lane_address */
    bool is_first;
    uint16_t warp;
    /* of its request, see req.h */
    uint16_t owner;
    /* given back when the data is there (loads and atomics); UINT32_MAX = nobody waits */
    uint32_t token;
    /* counts it; NULL = the L1 does */
    struct l1_stats *own;
    uint32_t pc;
    /* number of the warp's launch, its low bits: who owns a line, though slots are reused */
    uint32_t launch;
    /* of the first lane */
    uint64_t lane_address;
    /* the SM's, for observers: ties what they see to the issue of the instruction */
    uint64_t id;
};
_Static_assert(sizeof(struct l1_txn) == HOST_LINE, "a transaction is a line of the host's cache");

enum l1_answer {
    L1_HIT,
    L1_MISS,
    /* merged with a miss under way */
    L1_PENDING,
    /* store, atomic, bypass: on its way */
    L1_SENT,
    /* into the pipeline: on_access says what became of it */
    L1_TAKEN,
    L1_STALL_LINE,
    L1_STALL_MSHR,
    /* back pressure from below */
    L1_STALL_QUEUE,
    L1_STALL_PORT,
    /* a mechanism holds it back (hooks.may_miss) */
    L1_STALL_HELD,
    /* a mechanism took its port (l1_read) */
    L1_STALL_STOLEN
};

struct l1;
struct sm_port;

/* What the rows' bounds cannot say (a line that is a power of two ...). False with diagnostics. */
bool l1_params_check(const struct l1_params *p, struct diag_list *diags);
/* What they do not do, though one may think so: warnings. */
void l1_params_warn(const struct l1_params *p, struct diag_list *diags);
struct l1_setup {
    const struct l1_params *params;
    uint32_t sm;
    const struct clock_domain *clock;
    struct req_pool *pool;
    struct sm_port *port;
    /* lowered when a flush or a new capacity leaves something to do */
    tick *sm_wake;
    /* that the tags have beyond l1.size, in whole ways: l1_resize may grow to them */
    uint32_t extra_lines;
};
struct l1 *l1_create(const struct l1_setup *s);
void l1_destroy(struct l1 *c);

/* Once a core cycle, before accesses, in this order:
 *   l1_begin_tick;
 *   the port takes a reply (sm_port_receive);
 *   l1_take_own: what an ideal L1 answers itself; true: l1_tick has something to do;
 *   the port sends a request (sm_port_forward);
 *   l1_tick, where it has: the pipeline, delayed misses, a flush.
 * l1_has_acknowledged: l1_writes_pending may have changed in this cycle. */
void l1_begin_tick(struct l1 *c, tick now);
bool l1_take_own(struct l1 *c, tick now);
void l1_tick(struct l1 *c, tick now);
bool l1_has_acknowledged(const struct l1 *c);
enum l1_answer l1_access(struct l1 *c, tick now, const struct l1_txn *t);
/* Pops one load that is done. */
bool l1_next_done(struct l1 *c, tick now, uint32_t *token);
/* When it has one; TICK_NEVER: none is done. */
tick l1_next_done_at(const struct l1 *c);
/* Stores and atomics of a warp slot that have not been acknowledged yet: what a memory fence waits for. */
uint32_t l1_writes_pending(const struct l1 *c, uint32_t warp);

enum l1_prefetch_room {
    /* it would be taken now, as far as the L1 alone knows */
    L1_PREFETCH_FITS,
    /* there is no port left in this cycle */
    L1_PREFETCH_NO_PORT,
    /* no line, MSHR or slot of a queue is free: the same until the L1 ticks or takes something */
    L1_PREFETCH_WAITS
};
/* What an offer of this line as a prefetch would find. Changes nothing. */
enum l1_prefetch_room l1_prefetch_room(struct l1 *c, tick now, uint64_t addr);
/* It took an access in this cycle. */
bool l1_has_taken(const struct l1 *c, tick now);
/* Prefetches that were offered and have not ended (l1_prefetch.c). */
uint64_t l1_prefetches_open(const struct l1 *c);

/* The kernel's last load has come; l1_flush says so too. */
void l1_kernel_end(struct l1 *c);
/* At kernel end: invalidates, writes dirty lines back. */
void l1_flush(struct l1 *c, tick now);
/* The SM has another role, and keeps local memory as these parameters say from now on. The L1 is idle: what
 * it holds is forgotten. */
void l1_change_role(struct l1 *c, tick now, const struct l1_params *p);
/* Sets the capacity, in whole ways, one at least, l1.size and the extra lines at most; the answer is what it
 * is now. Rules: l1_resize.c. */
uint64_t l1_resize(struct l1 *c, tick now, uint64_t bytes);
/* Bytes. */
uint64_t l1_capacity(const struct l1 *c);

/* Another client of the port has put a request into the miss queue, or one of its requests has left it. */
void l1_queue_changed(struct l1 *c, tick now);

/* Accesses are on their way to the tags (l1.tag_latency). */
bool l1_has_waiting(const struct l1 *c);
/* No MSHR, queue or pending write-back is in use. */
bool l1_idle(const struct l1 *c);
/* struct l1_stats; sums are those of this moment. */
void *l1_stats(struct l1 *c);
/* What is outstanding, oldest first. */
void l1_explain(const struct l1 *c, tick now, struct strbuf *out);

#endif
