/* l1.h: the L1 data cache of one SM, between the load-store unit, which coalesces accesses, and the crossbar.
 *
 * The LSU offers one transaction at a time (a line and its sectors); the cache says at once whether it took
 * the transaction. When a load that it took is done, l1_next_done returns the token that came with the load.
 * A refusal names its cause, and the LSU offers the transaction again. Policies (write-evict or write-back
 * for local, allocate on miss or on fill, sectors, index, MSHRs, miss queue) are parameters. */
#ifndef HEDDLE_L1_H
#define HEDDLE_L1_H

#include "mem/cache.h"
#include "mem/l1_rows.h"
#include "mem/link.h"
#include "mem/req.h"

/* Warps of an SM that may have accesses under way: contexts, not slots. */
enum { L1_WARPS_MAX = 512 };
/* In l1_txn.token: nobody waits. */
#define L1_NO_TOKEN UINT32_MAX

/* one coalesced transaction; a line of the host's cache */
struct l1_txn {
    /* line address (device address space; local memory already interleaved) */
    uint64_t addr;
    /* sectors of the line that are read or written */
    uint32_t sectors;
    /* stores and atomics: bytes of data */
    uint32_t write_bytes;
    /* the store does not cover all bytes of its sectors */
    bool partial;
    /* enum req_kind, req_class */
    uint8_t kind, cls;
    /* .cg, volatile: goes to the L2 */
    bool bypass;
    bool is_prefetch;
    /* the first transaction of its instruction; for observers, like lane_address */
    bool is_first;
    uint16_t warp;
    /* the owner of its request, see req.h */
    uint16_t owner;
    /* given back when the data is there (loads and atomics), or L1_NO_TOKEN */
    uint32_t token;
    /* statistics that count it; NULL = the L1's own */
    struct l1_stats *own;
    uint32_t pc;
    /* low bits of the warp's launch number, which names the owner of a line, since slots are reused */
    uint32_t launch;
    /* the address of the first lane */
    uint64_t lane_address;
    /* number that the SM gives the instruction; observers use it to find the issue of this access */
    uint64_t id;
};
_Static_assert(sizeof(struct l1_txn) == HOST_LINE, "a transaction is a line of the host's cache");

enum l1_answer {
    L1_HIT,
    L1_MISS,
    /* merged with a miss that is under way */
    L1_PENDING,
    /* a store, an atomic or a bypassing load is on its way */
    L1_SENT,
    /* in the pipeline to the tags: on_access reports the outcome */
    L1_TAKEN,
    L1_STALL_LINE,
    L1_STALL_MSHR,
    /* the miss queue is full */
    L1_STALL_QUEUE,
    L1_STALL_PORT,
    /* a mechanism holds the load back (hooks.may_miss) */
    L1_STALL_HELD,
    /* a mechanism took the port (l1_read) */
    L1_STALL_STOLEN
};
static inline bool l1_is_stall(enum l1_answer a) { return a >= L1_STALL_LINE; }

struct l1;
struct sm_port;

struct l1_setup {
    const struct l1_params *params;
    uint32_t sm;
    const struct clock_domain *clock;
    struct req_pool *pool;
    struct sm_port *port;
    /* lines of the tags beyond l1.size, in whole ways: l1_resize may use them */
    uint32_t extra_lines;
};
struct l1 *l1_create(const struct l1_setup *s);
void l1_destroy(struct l1 *c);

/* Called once a core cycle, before accesses, in this order:
 *   l1_begin_tick;
 *   the port takes a reply (sm_port_receive);
 *   l1_take_own: takes what an ideal L1 answers itself; true: l1_tick has something to do;
 *   the port sends a request (sm_port_forward);
 *   l1_tick, where it has something to do: the pipeline, delayed misses, a flush. */
void l1_begin_tick(struct l1 *c, tick now);
bool l1_take_own(struct l1 *c, tick now);
void l1_tick(struct l1 *c, tick now);
enum l1_answer l1_access(struct l1 *c, tick now, const struct l1_txn *t);
/* Pops one load that is done. */
bool l1_next_done(struct l1 *c, tick now, uint32_t *token);
/* Returns how many stores and atomics of a context have not been acknowledged: a memory fence waits for
 * them. */
uint32_t l1_writes_pending(const struct l1 *c, uint32_t warp);

/* At kernel end: invalidates, writes dirty lines back. After it, as after l1_resize (l1_resize.h), l1_wake
 * (l1_sleep.h) says when there is something to do. */
void l1_flush(struct l1 *c, tick now);

/* Accesses are on their way to the tags (l1.tag_latency). */
bool l1_has_waiting(const struct l1 *c);
/* No MSHR, queue or pending write-back is in use. */
bool l1_idle(const struct l1 *c);
/* Returns a struct l1_stats, with the sums brought up to date. */
void *l1_stats(struct l1 *c);
/* Writes what is outstanding, oldest first. */
void l1_explain(const struct l1 *c, tick now, struct strbuf *out);

#endif
